# SPDX-License-Identifier: Apache-2.0
"""Iterators: epoch after epoch, with rows on the device before they are asked for."""

from __future__ import annotations

import weakref

import numpy as np
from jax import Array

from mycel.dataset import config
from mycel.dataset.engine.machinery import Row, Steps
from mycel.dataset.engine.session import Run, Session
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.missing import tell_nearest
from mycel.kernel.base.places import user_place
from mycel.kernel.base.version import __version__
from mycel.kernel.record.data import to_array
from mycel.kernel.record.tensor import Tensor
from mycel.tuning.malloc import keep_freed_memory

NO_MORE = (
    "This iterator was made for {epochs} epoch(s), all of which have been gone through (at "
    "{place}). Make another one, or make it with num_epochs=-1, which sets no limit."
)
OTHER_STATE = (
    "This state was saved of a pipeline with {there} (mycel {version}), but this one has {here}. "
    "A state fits the pipeline that it was saved of."
)
OTHER_PIPELINE = (
    "This state was saved of another pipeline, which has the same columns: {reason}. "
    "A state fits the pipeline that it was saved of; this iterator begins anew."
)
NUMBERS = "biufcV"


class _OnDevice(Steps):
    """Columns of numbers as arrays of the device."""

    def __init__(self, parent):
        self._parent = parent

    def __next__(self) -> Row:
        row = next(self._parent)
        return {name: _placed(value, n) for n, (name, value) in enumerate(row.items())}

    def get_state(self) -> dict:
        return self._parent.get_state()

    def set_state(self, state: dict) -> None:
        self._parent.set_state(state)


def _placed(value, column: int):
    if isinstance(value, dict):
        return {name: _placed(inner, column) for name, inner in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype.kind not in NUMBERS:
        return value
    if division.batch is not None:
        return division.batch(value, column)
    return to_array(value, None)


class TextColumn(np.ndarray):
    """Texts of a row: a NumPy array that also gives itself by `asnumpy`, as Tensors do."""

    def asnumpy(self) -> np.ndarray:
        """The texts as a plain NumPy array, in the same memory."""
        return self.view(np.ndarray)

    def __repr__(self):
        return repr(self.asnumpy())


def _as_tensor(value, is_column=True):
    if isinstance(value, dict):
        return {name: _as_tensor(inner, is_column=False) for name, inner in value.items()}
    if is_column and isinstance(value, np.ndarray) and value.dtype.kind in "US":
        return value.view(TextColumn)
    return Tensor(value) if isinstance(value, Array) else value


@tell_nearest
class Iterator:
    """An iterator over several epochs: each ends with StopIteration, and then the next one comes.

    Args:
        num_epochs: how many there are; -1 sets no limit.
        output_numpy: rows have NumPy arrays, not Tensors.
        do_copy: accepted; rows are always the caller's own.

    Raises:
        RuntimeError: more epochs are asked for.
    """

    def __init__(self, dataset, num_epochs=-1, output_numpy=False, do_copy=False):
        del do_copy
        what = f"{type(self).__name__}: num_epochs"
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise wrong(TypeError, what, "an integer", repr(num_epochs))
        if num_epochs == 0 or num_epochs < -1:
            raise wrong(RuntimeError, what, "-1 or at least 1", num_epochs)
        if not isinstance(output_numpy, bool):
            what = f"{type(self).__name__}: output_numpy"
            raise wrong(TypeError, what, "True or False", repr(output_numpy))
        # A row is as large as the one before: it gets memory that the system need not zero again.
        keep_freed_memory()
        self.dataset = dataset
        self._columns = dataset.get_col_names()
        self._epochs = num_epochs
        self._numpy = output_numpy
        self._epoch = 0
        self._count = 0
        self._begin_session(Session(dataset))
        if dataset.get_init_step():
            self._skip_steps(dataset.get_init_step())

    def _begin_session(self, session) -> None:
        self._session = session
        self._holder: list[Steps] = []
        self._finalizer = weakref.finalize(self, _close, self._holder, session)

    def _skip_steps(self, steps: int) -> None:
        size = self.dataset.get_dataset_size()
        self._epoch, left = divmod(steps, size)
        for _ in range(left):
            next(self)

    @property
    def _rows(self) -> Steps | None:
        return self._holder[0] if self._holder else None

    def _begin_epoch(self) -> Steps:
        if 0 <= self._epochs <= self._epoch:
            self.stop()
            raise RuntimeError(NO_MORE.format(epochs=self._epochs, place=user_place(3)))
        run = Run(self._session, self._epoch, self._epoch, self._epoch)
        ahead = 0 if self._session.debug else config.settings.ahead
        rows = self.dataset._flow(run).begin(ahead, *([] if self._numpy else [_OnDevice]))
        self._holder[:], self._count = [rows], 0
        return rows

    def __iter__(self):
        return self

    def __next__(self):
        rows = self._begin_epoch() if self._rows is None else self._rows
        try:
            row = next(rows)
        except StopIteration:
            self._end_epoch(rows)
            raise
        self._count += 1
        if not self._numpy:
            row = {name: _as_tensor(value) for name, value in row.items()}
        return self._row(row)

    def _row(self, row: Row):
        return row

    def _end_epoch(self, rows: Steps) -> None:
        self._holder.clear()
        rows.close()
        self._epoch += 1
        if self._epoch == self._epochs:
            self._session.close()

    def get_col_names(self) -> list[str]:
        """The names of the columns.

        Example:
            >>> ds.NumpySlicesDataset({"x": [1]}).create_dict_iterator().get_col_names()
            ['x']
        """
        return list(self._columns)

    def get_state(self) -> dict:
        """Where the iterator is: a dictionary that `json` can save.

        Example:
            >>> import json
            >>> data = ds.NumpySlicesDataset([1, 2, 3, 4]).batch(1)
            >>> iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
            >>> first = next(iterator)
            >>> saved = json.dumps(iterator.get_state())
            >>> rest = [int(row[0][0]) for row in iterator]
            >>> another = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
            >>> another.set_state(json.loads(saved))
            >>> rest == [int(row[0][0]) for row in another]
            True
        """
        inner = None if self._rows is None else self._rows.get_state()
        return {
            "version": __version__,
            "columns": self.get_col_names(),
            "seed": self._session.seed,
            "chosen": self._session.chosen,
            "epoch": self._epoch,
            "count": self._count if self._rows is not None else 0,
            "rows": inner,
        }

    def set_state(self, state: dict) -> None:
        """Go on behind the row that was the last one when `get_state` was called.

        The pipeline must be the one that the state was saved of, in this program or another.

        Raises:
            ValueError: the state has other columns, or rows that are not there.

        Example:
            >>> iterator = ds.NumpySlicesDataset([1, 2]).create_dict_iterator()
            >>> iterator.set_state(iterator.get_state())
        """
        if state.get("columns") != self.get_col_names():
            raise ValueError(
                OTHER_STATE.format(
                    there=f"the columns {state.get('columns')}",
                    here=self.get_col_names(),
                    version=state.get("version"),
                )
            )
        self.stop()
        self._begin_session(Session(self.dataset, state["seed"], state["chosen"]))
        self._epoch = state["epoch"]
        if state["rows"] is not None:
            try:
                self._begin_epoch().set_state(state["rows"])
            except (IndexError, KeyError, TypeError, ValueError) as error:
                self.stop()
                self._begin_session(Session(self.dataset, state["seed"], state["chosen"]))
                raise ValueError(OTHER_PIPELINE.format(reason=error)) from error
            self._count = state["count"]

    def stop(self) -> None:
        """Let go of threads and worker processes.

        Example:
            >>> ds.NumpySlicesDataset([1, 2]).create_dict_iterator().stop()
        """
        self._finalizer()

    release = stop


class DictIterator(Iterator):
    """Rows as dictionaries; made by `Dataset.create_dict_iterator`.

    Example:
        >>> type(ds.NumpySlicesDataset([1]).create_dict_iterator()).__name__
        'DictIterator'
    """


class TupleIterator(Iterator):
    """Rows as lists; made by `Dataset.create_tuple_iterator`.

    Args:
        columns: which columns, in which order; None takes all.
        others: as in `create_dict_iterator`.

    Example:
        >>> type(ds.NumpySlicesDataset([1]).create_tuple_iterator()).__name__
        'TupleIterator'
    """

    def __init__(self, dataset, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        if columns is not None:
            dataset = dataset.project([columns] if isinstance(columns, str) else columns)
        super().__init__(dataset, num_epochs, output_numpy, do_copy)

    def _row(self, row: Row):
        return [row[name] for name in self._columns]


def _close(holder: list, session) -> None:
    session.open_gates()
    while holder:  # nothing keeps them: at the end of a program they could not end any more
        holder.pop().close()
    session.close()
