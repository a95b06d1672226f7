# SPDX-License-Identifier: Apache-2.0
"""Processes that a program starts with `multiprocessing`: `import mindspore` means mycel there too.

A process that is spawned imports the program again before it does anything else, and so needs the
alias before that. It first unpickles a dictionary about its parent: the alias is put in there.
"""

from __future__ import annotations

import multiprocessing.forkserver
import multiprocessing.spawn

from mycel.compat.alias import install_as_mindspore


class _Installs:
    """Whoever unpickles this has the alias."""

    def __reduce__(self):
        return (install_as_mindspore, ())


def let_children_import_mindspore() -> None:
    """From now on a process that `multiprocessing` spawns has the alias before anything else.

    Example:
        >>> import multiprocessing.spawn
        >>> from mycel.cli.children import let_children_import_mindspore
        >>> before = multiprocessing.spawn.get_preparation_data
        >>> let_children_import_mindspore()
        >>> "mycel" in multiprocessing.spawn.get_preparation_data("worker")
        True
        >>> multiprocessing.spawn.get_preparation_data = before
    """
    known = multiprocessing.spawn.get_preparation_data

    def preparation(name: str) -> dict:
        return {**known(name), "mycel": _Installs()}

    multiprocessing.spawn.get_preparation_data = preparation
    # Its server would import the program without the alias.
    multiprocessing.forkserver.set_forkserver_preload([])
