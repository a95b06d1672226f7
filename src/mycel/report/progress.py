# SPDX-License-Identifier: Apache-2.0
"""A line on standard error for a compilation that takes long: what is being compiled, and where."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
import threading
from collections.abc import Iterator

from mycel.kernel.base.places import Place

# "off" in the environment says nothing, as does "0", which also hides the lines of epochs.
VARIABLE = "MYCEL_PROGRESS"
# After how many seconds a compilation is told of.
PATIENCE = 5.0

LINE = (
    "mycel: compiling {name} ({operators}) since {seconds:g} s, for {place}{source}. This is done "
    "once; {variable}=off hides this line."
)


@contextlib.contextmanager
def told_if_long(name: str, nodes: int, place: Place) -> Iterator[None]:
    """Tell of what this block compiles, once, if it takes longer than `PATIENCE`.

    Args:
        name: what the compilation belongs to: a function, or a Cell.
        nodes: how many operators the program has.
        place: the line of the user's code that runs it.
    """
    if os.environ.get(VARIABLE) in ("0", "off"):
        yield
        return
    timer = threading.Timer(PATIENCE, _tell, (name, nodes, place))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(name: str, nodes: int, place: Place) -> None:
    source = ""
    if place.code is not None:
        text = linecache.getline(place.code.co_filename, place.line).strip()
        source = f": `{text}`" if text else ""
    operators = f"{nodes} operator{'' if nodes == 1 else 's'}"
    told = LINE.format(
        name=name, operators=operators, seconds=PATIENCE, place=place, source=source,
        variable=VARIABLE,
    )  # fmt: skip
    # In one piece, since other threads write too.
    with contextlib.suppress(OSError, ValueError):  # it may be closed
        sys.stderr.write(told + "\n")
        sys.stderr.flush()
