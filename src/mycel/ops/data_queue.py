# SPDX-License-Identifier: Apache-2.0
"""Data queues: `feed_queue` gives one its rows, `GetNext` takes the next row at every call.

In a remembered call a row is an input of the program, as a Parameter is: the call knows a handle
that shows the first, second, … row that waits. Looking at such a handle fetches rows from the
iterator; the site that stands where GetNext was called takes them away.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.places import user_place
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.define.aval import Aval, aval_of
from mycel.kernel.record.data import to_array
from mycel.kernel.record.stream import Stream, demand, local, refuse
from mycel.kernel.record.tensor import Tensor, new_tensor
from mycel.kernel.record.value import Value, value_of
from mycel.kernel.spell.primitive import Primitive

NO_QUEUE = (
    "GetNext at {place}: there is no data queue {name!r}{others}. Feed it before the call: "
    "ops.feed_queue({name!r}, rows), where rows is any iterable of arrays or tuples of arrays."
)
ENDED = (
    "GetNext at {place}: the data queue {name!r} has no row left after {count}. Feed it again with "
    "ops.feed_queue({name!r}, rows); itertools.cycle(rows) never ends."
)
COLUMNS = (
    "GetNext at {place}: a row of the data queue {name!r} has {actual} columns, but {expected} "
    "were declared (output_num)."
)
COLUMN = (
    "GetNext at {place}: column {column} of a row of the data queue {name!r} is {actual}, but "
    "{expected} was declared. {remedy}"
)


def feed_queue(shared_name: str, rows: Iterable[Any] | None) -> None:
    """Give the data queue of this name its rows, which `GetNext` takes one by one.

    Rows that were left are dropped. The iterator runs as if on a thread of its own, on the thread
    that calls `GetNext` and not before it does.

    Args:
        shared_name: the name that `GetNext` is made with.
        rows: an iterable of rows: arrays or Tensors, alone or in tuples. None takes the queue away.

    Raises:
        TypeError: the name is not a string, or the rows cannot be iterated over.

    Example:
        >>> ops.feed_queue("digits", ([np.full((2, 3), n, np.float32), n] for n in range(9)))
        >>> get_next = ops.GetNext([ms.float32, ms.int64], [(2, 3), ()], 2, "digits")
        >>> data, label = get_next()
        >>> data, label = get_next()
        >>> print(label, data.sum())
        1 6.0
    """
    if not isinstance(shared_name, str):
        raise errors.wrong(TypeError, "The name of a data queue", "a string", repr(shared_name))
    if rows is not None and not hasattr(rows, "__iter__") and not hasattr(rows, "__getitem__"):
        actual = f"{type(rows).__name__} {rows!r:.60}"
        raise errors.wrong(TypeError, "The rows of a data queue", "an iterable or None", actual)
    refuse(f"the data queue {shared_name!r} was fed inside", "feed it before the call")
    queues.setdefault(shared_name, Queue(shared_name)).feed(rows)


class GetNext(Primitive):
    """Take the next row of a data queue; each call gives another one, in both modes.

    One output is a Tensor, several are a tuple. In a compiled function the data is an input of the
    program: the call is replayed although it differs each time.

    Args:
        types: the element type of each output.
        shapes: the shape of each; -1 is any length (another length is another program).
        output_num: how many outputs there are.
        shared_name: the name of the queue (see `feed_queue`).

    Raises:
        RuntimeError: there is no such queue, or it has ended.
        TypeError: a column has another element type than was declared.
        ValueError: a row has another number of columns, or a column another shape.

    Source: MindSpore's `mindspore.ops.GetNext`.

    Example:
        >>> ops.feed_queue("numbers", np.array([[1, 2], [3, 4]], np.float32))
        >>> get_next = ops.GetNext([ms.float32], [(2,)], 1, "numbers")
        >>> print(get_next(), get_next())
        [1. 2.] [3. 4.]
    """

    def __init__(self, types, shapes, output_num: int, shared_name: str):
        super().__init__("GetNext")
        for name, given in (("types", types), ("shapes", shapes)):
            if not isinstance(given, (tuple, list)):
                raise errors.wrong(
                    TypeError, f"{name} of GetNext", "a list or a tuple", repr(given)
                )
        if isinstance(output_num, bool) or not isinstance(output_num, int):
            raise errors.wrong(TypeError, "output_num of GetNext", "an integer", repr(output_num))
        if not len(types) == len(shapes) == output_num:
            raise errors.wrong(
                ValueError,
                "output_num of GetNext",
                "the number of types and of shapes",
                f"{output_num} for {len(types)} types and {len(shapes)} shapes",
            )
        self.types = [as_dtype(kind) for kind in types]
        self.shapes = [tuple(shape) for shape in shapes]
        self.output_num = output_num
        self.shared_name = shared_name

    def __call__(self):
        queue = queues.get(self.shared_name)
        if queue is None or queue.rows is None:
            fed = [repr(name) for name, other in queues.items() if other.rows is not None]
            others = f" (there are: {', '.join(sorted(fed))})" if fed else ""
            raise self._error(RuntimeError, NO_QUEUE, others=others)
        row, values = queue.next_row()
        self._check(queue, row)
        tensors = tuple([new_tensor(value) for value in values])
        return tensors[0] if self.output_num == 1 else tensors

    def _check(self, queue: Queue, row: Row) -> None:
        if row.error is not None:
            raise row.error
        if row.avals is None:
            raise self._error(RuntimeError, ENDED, count=queue.count)
        if len(row.avals) != self.output_num:
            actual = len(row.avals)
            raise self._error(ValueError, COLUMNS, actual=actual, expected=self.output_num)
        for column, aval in enumerate(row.avals):
            self._check_column(column, aval)

    def _check_column(self, column: int, actual: Aval) -> None:
        dtype, shape = self.types[column], self.shapes[column]
        same_shape = len(shape) == len(actual.shape) and all(
            wanted in (-1, None, length) for wanted, length in zip(shape, actual.shape, strict=True)
        )
        if same_shape and actual.dtype is dtype:
            return
        if same_shape:
            kind, remedy = TypeError, f"Convert it in the iterator: .astype(np.{dtype.name})."
        else:
            kind, remedy = ValueError, "Declare -1 for a length that varies."
        expected = f"{dtype}{list(shape)}"
        raise self._error(
            kind, COLUMN, column=column, actual=actual, expected=expected, remedy=remedy
        )

    def _error(self, kind, text: str, **words) -> Exception:
        return kind(text.format(place=user_place(3), name=self.shared_name, **words))


class Row:
    """One row: its Values, or the error that the iterator raised, or neither at the end.

    To a remembered call rows are equal if a program for one takes the other.
    """

    __slots__ = ("avals", "error", "expected", "values")

    def __init__(self, values: tuple[Value, ...] | None = None, error: Exception | None = None):
        self.values = values or ()
        self.avals = None if values is None else [value.aval for value in values]
        self.error = error
        # False: in the replay of this call the program ran on another row.
        self.expected = True

    def __eq__(self, other):
        return (
            self.avals is not None
            and self.avals == other.avals
            and self.expected
            and other.expected
        )

    __hash__ = None  # type: ignore[assignment]


class Reader:
    """What one thread has fetched of a queue and not taken, and how far its present call is.

    Attributes:
        waiting: rows that were looked at and not taken.
        shown: by position, the row that a replay ran on.
        capture: the call being remembered, and `position`, the rows it has taken.
    """

    def __init__(self):
        self.waiting: deque[Row] = deque()
        self.shown: dict[int, Row] = {}
        self.capture: object = None
        self.position = 0


class Queue:
    """The rows of one name. It outlives its iterators, so that calls that know it stay known."""

    def __init__(self, name: str):
        self.name = name
        self.rows: Iterator | None = None
        self.count = 0
        self._lock = threading.RLock()
        self._stream = Stream()
        self._readers: dict[int, Reader] = {}
        self._upcoming: dict[tuple, Upcoming] = {}

    def feed(self, rows: Iterable | None) -> None:
        """Start with these rows, or none."""
        with self._lock:
            self.rows = None if rows is None else iter(rows)
            self.count = 0
            for reader in self._readers.values():
                reader.waiting.clear()
                reader.shown.clear()

    def next_row(self) -> tuple[Row, tuple[Value, ...]]:
        """Take a row and its Values, which in a remembered call are inputs of the call."""
        stream = local.stream
        capture = stream.scope.capture
        reader = self._reader()
        if capture is None:
            row = self._pop(reader)
            return row, row.values
        if reader.capture is not capture:
            reader.capture, reader.position = capture, 0
        position = reader.position
        reader.position += 1
        if stream.scope.journal is not None:
            # Within a site the data is made by the site.
            row = self._pop(reader)
            return row, tuple(map(capture.lift, row.values))
        reader.shown.clear()
        row = capture.site(self.take, (position,))
        # The call being remembered keeps the row to compare it, but not its data.
        values, row.values = row.values, ()
        return row, tuple(
            [
                capture.lift(value, self._handle(position, column, value.aval))
                for column, value in enumerate(values)
            ]
        )

    def take(self, position: int) -> Row:
        """Take the row that comes next; the site that runs at every call.

        Nothing is raised here: an error is to come from the line that calls GetNext.
        """
        reader = self._reader()
        row = self._pop(reader)
        row.expected = reader.shown.pop(position, row) is row
        return row

    def _pop(self, reader: Reader) -> Row:
        return reader.waiting.popleft() if reader.waiting else self._fetch()

    def look(self, position: int) -> Row:
        """The row that will be taken after so many others; asked for when a replay begins."""
        reader = self._reader()
        while len(reader.waiting) <= position:
            row = self._fetch()
            if row.avals is None and row.error is None:
                return row
            reader.waiting.append(row)
        row = reader.shown[position] = reader.waiting[position]
        return row

    def _fetch(self) -> Row:
        """Let the iterator go on, outside the record of the call that wants the row."""
        with self._lock:
            if self.rows is None:
                return Row()
            outer, local.stream = local.stream, self._stream
            try:
                row = Row(tuple(map(_column, _columns(next(self.rows)))))
            except StopIteration:
                return Row()
            except Exception as error:
                if came_from_outside(error):
                    raise
                return Row(error=error)
            finally:
                local.stream = outer
            self.count += 1
            return row

    def _reader(self) -> Reader:
        thread = threading.get_ident()
        return self._readers.get(thread) or self._readers.setdefault(thread, Reader())

    def _handle(self, position: int, column: int, aval: Aval) -> Upcoming:
        key = (position, column, aval)
        return self._upcoming.setdefault(key, Upcoming(self, *key))


# Every queue by name.
queues: dict[str, Queue] = {}


def _columns(row) -> tuple:
    if isinstance(row, dict):
        raise TypeError("A row of a data queue must be a tuple, not a dict: tuple(row.values()).")
    return tuple(row) if isinstance(row, (tuple, list)) else (row,)


def _column(data) -> Value:
    if isinstance(data, Tensor):
        return value_of(demand(data._value))
    array = to_array(data, None)
    return Value(array, aval_of(array.shape, array.dtype))


class _Nothing:
    """The array of a row that is not there: no program takes it, and it equals nothing read."""

    def __array__(self, dtype=None, copy=None):
        return np.empty(0, dtype)


class Upcoming(Tensor):
    """A handle on the row that waits at a position: its Value is looked up when it is asked for."""

    __slots__ = ("_aval", "_column", "_position", "_queue")

    def __init__(self, queue: Queue, position: int, column: int, aval: Aval):
        self._queue = queue
        self._position = position
        self._column = column
        self._aval = aval

    @property
    def _value(self) -> Value:
        values = self._queue.look(self._position).values
        if self._column < len(values) and values[self._column].aval is self._aval:
            return values[self._column]
        return Value(_Nothing(), self._aval)
