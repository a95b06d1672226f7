# SPDX-License-Identifier: Apache-2.0
"""How far a training or an evaluation is: a bar on a terminal, a display that changes in a
notebook, in a log a line for each epoch. All but the notebook's goes to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mycel.kernel.base.cell import of_base
from mycel.kernel.base.places import shell
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.tensor import Tensor
from mycel.report import html

# Set to 0 in the environment it turns bars and lines off.
VARIABLE = "MYCEL_PROGRESS"
# After so many seconds a bar shows another loss: Python waits for what it shows.
SECONDS = 0.5
# Columns of a terminal that has room for more than numbers.
WIDE = 72


@contextlib.contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable]:
    """A function that moves the bar: `advance` by a number of steps, `what` for another title,
    `outputs` of the last step to show its loss; and `epoch`, an Epoch that has ended.

    Example:
        >>> from mycel.train.progress import progress
        >>> with progress("training", 10) as move:
        ...     move(advance=1)
    """
    if os.environ.get(VARIABLE) == "0":
        yield _nothing
    elif getattr(shell(), "kernel", None) is not None:
        with _below_the_cell(what, total) as move:
            yield move
    elif not sys.stderr.isatty():
        yield _write
    else:
        with _bar(what, total) as move:
            yield move


def shows(move: Callable) -> bool:
    """Whether a function of `progress` shows anything.

    Example:
        >>> from mycel.train.progress import progress, shows
        >>> with progress("training", 10) as move:
        ...     shows(move)
        True
    """
    return move is not _nothing


class Epoch:
    """An epoch that has ended, as text: its number, the last loss, metrics, and how long it took.

    Args:
        number, epochs: which it is, and of how many.
        outputs: what its last step returned.
        metrics: of the evaluation after it, by name.
        seconds, steps: how long it took, and how many steps it had.

    Example:
        >>> from mycel.train.progress import Epoch
        >>> print(Epoch(1, 3, Tensor(0.25), {"accuracy": 0.5}, 1.5, 8))
        epoch 1/3: loss 0.25, accuracy 0.5 (8 steps, 1.5 s)
    """

    def __init__(self, number: int, epochs: int, outputs, metrics: Mapping, seconds, steps: int):
        self.title = f"epoch {number}/{epochs}"
        self.values = _texts({"loss": loss_of(outputs), **metrics})
        self.time = f"{steps} steps, {seconds:.1f} s"

    def __str__(self):
        return f"{self.title}: {_listed(self.values)} ({self.time})"


def loss_of(outputs) -> float | None:
    """The loss of what a step returned: the mean of its first Tensor; None if it has no real one.

    Example:
        >>> from mycel.train.progress import loss_of
        >>> loss_of((Tensor([1.0, 2.0]), Tensor(False))), loss_of("text")
        (1.5, None)
    """
    first = next(iter(tree_leaves(outputs)), None)
    if not isinstance(first, Tensor) or not first.size or not first.dtype.is_floating:
        return None
    return float(np.mean(first.asnumpy()))


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values as text, of numbers four digits, but for None."""
    return {name: _short(value) for name, value in values.items() if value is not None}


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _short(value) -> str:
    if isinstance(value, Tensor):
        value = value.asnumpy()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    number = isinstance(value, (float, np.floating))
    return f"{value:.4g}" if number else " ".join(str(value).split())


def _nothing(**changes) -> None:
    """Takes what a bar would show."""


def _write(epoch: Epoch | None = None, **changes) -> None:
    """A line for an epoch, where no terminal is."""
    if epoch is not None:
        print(epoch, file=sys.stderr, flush=True)


class _Display:
    """What is shown of a training: how far it is, and the last values.

    Attributes:
        title: what runs; `done` of `total` steps, which is None while unknown.
        values: the loss and the metrics, as text, by name.
        epochs: those that have ended.
    """

    def __init__(self, title: str, total: int | None):
        self.title, self.total, self.done = title, total, 0
        self.values: dict[str, str] = {}
        self.epochs: list[Epoch] = []
        self._looked = -SECONDS

    def move(
        self,
        advance: int = 0,
        what: str | None = None,
        total: int | None = None,
        outputs: Any = None,
        epoch: Epoch | None = None,
    ) -> None:
        """Take what has happened, and show it; see `progress`."""
        self.done += advance
        self.title, self.total = what or self.title, total or self.total
        due = time.monotonic() - self._looked >= SECONDS
        if epoch is not None:
            self.values.update(epoch.values)
            self.epochs.append(epoch)
        elif outputs is not None and due:
            self.values |= _texts({"loss": loss_of(outputs)})
        if due and advance:
            self._looked = time.monotonic()  # Python may have waited for the loss
        self.show(due or epoch is not None)

    def show(self, due: bool) -> None:
        """Show it as it is now; `due` says that half a second has gone or an epoch has ended."""
        raise of_base(self)


class _OnTerminal(_Display):
    """On a terminal."""

    def __init__(self, title: str, total: int | None, bar):
        super().__init__(title, total)
        self.bar = bar
        self.task = bar.add_task(title, total=total, told="")

    def show(self, due: bool) -> None:
        told = _listed(self.values)
        changes = {"description": self.title, "total": self.total, "told": told}
        self.bar.update(self.task, completed=self.done, **changes)


class _InNotebook(_Display):
    """Below a cell of a notebook, where one display changes all the while."""

    def __init__(self, title: str, total: int | None):
        super().__init__(title, total)
        self.began = time.monotonic()
        self.handle = sys.modules["IPython.display"].display(self, display_id=True)

    def show(self, due: bool) -> None:
        if due:
            self.handle.update(self)

    def __repr__(self):
        count = f"{self.done}/{'?' if self.total is None else self.total}"
        text = f"{self.title} {count} {_clock(time.monotonic() - self.began)}"
        values = _listed(self.values)
        return "\n".join([*map(str, self.epochs), f"{text} {values}".rstrip()])

    def _repr_html_(self) -> str:
        parts = []
        if self.epochs:
            heads = list(dict.fromkeys(name for one in self.epochs for name in one.values))
            rows = [
                (one.title, *(one.values.get(name, "") for name in heads), one.time)
                for one in self.epochs
            ]
            parts.append(html.table(("", *heads, ""), rows))
        length = "" if self.total is None else f" value='{self.done}' max='{self.total}'"
        *_, text = repr(self).split("\n")
        return html.box(*parts, f"<progress{length}></progress> {html.escape(text)}")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


@contextlib.contextmanager
def _below_the_cell(what: str, total: int | None) -> Iterator[Callable]:
    shown = _InNotebook(what, total)
    try:
        yield shown.move
    finally:
        shown.show(True)


@contextlib.contextmanager
def _bar(what: str, total: int | None) -> Iterator[Callable]:
    # Not before it is needed: it would take a part of the time of the import.
    from rich import progress as bars
    from rich.console import Console
    from rich.table import Column

    console = Console(file=sys.stderr)
    columns = [
        bars.TextColumn("{task.description}"),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(elapsed_when_finished=True),
        # It alone is wrapped where there is no room.
        bars.TextColumn("{task.fields[told]}", markup=False, table_column=Column()),
    ]
    if console.width >= WIDE:
        columns.insert(1, bars.BarColumn(20))
    # What is printed goes above the bar where both are on the terminal, else where it belongs.
    shared = sys.stdout.isatty()
    with bars.Progress(*columns, console=console, redirect_stdout=shared) as bar:
        yield _OnTerminal(what, total, bar).move
