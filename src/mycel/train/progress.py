# SPDX-License-Identifier: Apache-2.0
"""How far a training or an evaluation is, on stderr: a bar on a terminal, in a log a line for each
epoch."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.tensor import Tensor

# Set to 0 in the environment it turns bars and lines off.
VARIABLE = "MYCEL_PROGRESS"
# After so many seconds a bar shows another loss: Python waits for what it shows.
SECONDS = 0.5


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
        self.values = {"loss": loss_of(outputs), **metrics}
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


def _listed(values: Mapping[str, Any]) -> str:
    """Names with values, of numbers four digits."""
    there = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{name} {_short(value)}" for name, value in there.items())


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


@contextlib.contextmanager
def _bar(what: str, total: int | None) -> Iterator[Callable]:
    # Not before it is needed: it would take a part of the time of the import.
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(20),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(elapsed_when_finished=True),
        bars.TextColumn("{task.fields[told]}", markup=False),
    )
    console = Console(file=sys.stderr)
    # What is printed goes above the bar where both are on the terminal, else where it belongs.
    shared = sys.stdout.isatty()
    values: dict[str, Any] = {}
    shown = -SECONDS
    with bars.Progress(*columns, console=console, redirect_stdout=shared) as bar:
        task = bar.add_task(what, total=total, told="")

        def move(
            advance: int = 0,
            what: str | None = None,
            total: int | None = None,
            outputs: Any = None,
            epoch: Epoch | None = None,
        ) -> None:
            nonlocal shown
            if epoch is not None:
                values.update(epoch.values)
            elif outputs is not None and time.monotonic() - shown >= SECONDS:
                shown = time.monotonic()
                values["loss"] = loss_of(outputs)
            changes = {"description": what, "total": total}
            changes = {name: value for name, value in changes.items() if value}
            bar.update(task, advance=advance, told=_listed(values), **changes)

        yield move
