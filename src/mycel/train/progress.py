# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr while a network trains or is evaluated; only on a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator

# Set to 0 in the environment it turns progress bars off.
VARIABLE = "MYCEL_PROGRESS"


def _nothing(**changes) -> None:
    """Takes what a bar would show."""


@contextlib.contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable]:
    """A function that moves the bar: `advance` by a number of steps, `what` for another title.

    Example:
        >>> from mycel.train.progress import progress
        >>> with progress("training", 10) as move:
        ...     move(advance=1)
    """
    if not sys.stderr.isatty() or os.environ.get(VARIABLE) == "0":
        yield _nothing
        return
    # Not before it is needed: it would take a part of the time of the import.
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    console = Console(file=sys.stderr)
    # What is printed goes above the bar where both are on the terminal, else where it belongs.
    shared = sys.stdout.isatty()
    with bars.Progress(*columns, console=console, redirect_stdout=shared) as bar:
        task = bar.add_task(what, total=total)

        def move(advance: int = 0, what: str | None = None, total: int | None = None) -> None:
            changes = {"description": what, "total": total}
            bar.update(task, advance=advance, **{k: v for k, v in changes.items() if v})

        yield move
