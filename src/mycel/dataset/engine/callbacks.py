# SPDX-License-Identifier: Apache-2.0
"""Callbacks of `map`: functions of your own between the rows of a data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mycel.dataset.engine.machinery import Row, Steps
from mycel.dataset.engine.session import Run
from mycel.kernel.base.errors import wrong


class DSRunContext(NamedTuple):
    """Where a data set is: what callbacks are given. Epochs and steps count from 1."""

    cur_epoch_num: int = 0
    cur_step_num: int = 0
    cur_step_num_in_epoch: int = 0


class DSCallback:
    """What `Dataset.map(callbacks=...)` calls between rows; a subclass has some of the methods.

    Rows are read ahead of the program that goes through them, so calls come before it has them.
    They come one after the other, in the order of the rows.

    Args:
        step_size: the methods of steps are called for the first of so many rows; 1 by default.

    Raises:
        TypeError: the step size is not an integer.
        ValueError: it is below 1.

    Example:
        >>> class Count(ds.DSCallback):
        ...     def ds_epoch_end(self, ds_run_context):
        ...         print("rows:", ds_run_context.cur_step_num_in_epoch)
        >>> data = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
        >>> data = data.map(lambda x: x + 1, "x", callbacks=Count())
        >>> rows = [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1)]
        rows: 3
        >>> rows
        [2, 3, 4]
    """

    def __init__(self, step_size=1):
        if isinstance(step_size, bool) or not isinstance(step_size, int):
            raise wrong(TypeError, "DSCallback: step_size", "an integer", repr(step_size))
        if step_size < 1:
            raise wrong(ValueError, "DSCallback: step_size", "at least 1", step_size)
        self.step_size = step_size

    def ds_begin(self, ds_run_context) -> None:
        """Called before the first row of all."""

    def ds_epoch_begin(self, ds_run_context) -> None:
        """Called before the first row of each epoch."""

    def ds_epoch_end(self, ds_run_context) -> None:
        """Called behind the last row of each epoch."""

    def ds_step_begin(self, ds_run_context) -> None:
        """Called before a row is made."""

    def ds_step_end(self, ds_run_context) -> None:
        """Called when a row has been made."""


def checked_callbacks(callbacks) -> list[DSCallback]:
    """One callback or a list of them as a list.

    Raises:
        TypeError: something else.
    """
    found = callbacks if isinstance(callbacks, list) else [callbacks] if callbacks else []
    for each in found:
        if not isinstance(each, DSCallback):
            expected = "a DSCallback or a list of them"
            raise wrong(TypeError, "map: callbacks", expected, f"{type(each).__name__} {each!r}")
    return found


class CalledBack(Steps):
    """Rows changed one after the other, with callbacks between them."""

    def __init__(self, callbacks: list, change: Callable, run: Run, place: int, parent):
        self._callbacks, self._change, self._run, self._parent = callbacks, change, run, parent
        self._place = place
        self._number = 0
        self._ended = False

    def _where(self) -> DSRunContext:
        return DSRunContext(*self._run.session.reached.get(self._place, ()))

    def _call(self, method: str, step: int | None = None) -> None:
        for callback in self._callbacks:
            if step is None or step % callback.step_size == 0:
                getattr(callback, method)(self._where())

    def _begin(self) -> None:
        reached = self._run.session.reached
        if self._place not in reached:
            self._call("ds_begin")
        if self._run.first:
            reached[self._place] = DSRunContext(self._run.epoch + 1, self._where().cur_step_num, 0)
            self._call("ds_epoch_begin")

    def __next__(self) -> Row:
        if self._number == 0 and not self._ended:
            self._begin()
        try:
            row = next(self._parent)
        except StopIteration:
            if self._run.last and not self._ended:
                self._call("ds_epoch_end")
            self._ended = True
            raise
        epoch, total, step = self._where()
        self._run.session.reached[self._place] = DSRunContext(epoch, total + 1, step + 1)
        self._call("ds_step_begin", step)
        row = self._change(self._number, row)
        self._number += 1
        self._call("ds_step_end", step)
        return row

    def get_state(self) -> dict:
        reached = list(self._where())
        return {"number": self._number, "reached": reached, "parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._number = state["number"]
        self._run.session.reached[self._place] = DSRunContext(*state["reached"])
        self._parent.set_state(state["parent"])
