# SPDX-License-Identifier: Apache-2.0
"""Code that is written as text and compiled: the one place where text becomes Python."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from typing import Any

from mycel.kernel.base.places import PACKAGE, hides_ours


def define(source: str, names: dict[str, Any], title: str, *, shown: bool = True) -> dict[str, Any]:
    """Run a text that defines functions or a class; what it defines.

    Args:
        source: the text.
        names: its globals.
        title: what tracebacks show, within <mycel …>, in place of a file name.
        shown: whether tracebacks and `inspect.getsource` have its lines, which are kept for that.
    """
    filename = f"<mycel {title}>"
    if shown:
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    if "__name__" not in names:  # not those of a module
        names["__tracebackhide__"] = hides_ours
    defined: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), names, defined)
    return defined


def compiled(name: str, source: str, names: dict[str, Any], title: str, place: str) -> Callable:
    """The function or class that a text defines, with a line that says where it comes from.

    Args:
        name: of the function or class.
        source, names, title: as for `define`.
        place: file and line of the declaration.
    """
    header, _, rest = source.partition("\n")
    function = define(f"{header}\n    # defined at {place}\n{rest}", names, title)[name]
    names[name] = function  # It may call itself.
    return function


def defined_at(function) -> str:
    """File and line of a definition."""
    code = inspect.unwrap(function).__code__
    return place_of(code.co_filename, code.co_firstlineno)


def place_of(file: str, line: int) -> str:
    """A file and a line; a file of ours from the package on."""
    if file.startswith(PACKAGE):
        file = f"mycel/{file.removeprefix(PACKAGE)}"
    return f"{file}:{line}"
