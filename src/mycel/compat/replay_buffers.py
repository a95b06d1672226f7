# SPDX-License-Identifier: Apache-2.0
"""The operators of a replay buffer, which MindSpore had up to 2.7 and mindspore_rl is written with.

A buffer is a list of Parameters with the capacity as their first dimension, with two Int32
Parameters beside it: `count`, how many rows hold anything, and `head`, where the oldest is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycel.kernel.base.dtypes import as_dtype, float32, int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.ops.array.copying import assign
from mycel.ops.array.creation import arange
from mycel.ops.random.drawing import draw_integers, draw_key, draw_uniform
from mycel.ops.user.custom import Custom

TOO_FEW = (
    "BufferSample: {wanted} rows are wanted of a buffer that holds {count}. Append more rows "
    "before it is sampled."
)
OUT_OF_RANGE = (
    "BufferGetItem: index {index} is out of range for a buffer that holds {count} rows: "
    "it goes from {lowest} to {highest}."
)


class _OfBuffer(Primitive):
    """What the three have: the capacity, and the shape and the element type of a row's parts."""

    def __init__(self, capacity, buffer_shape, buffer_dtype):
        name = type(self).__name__
        super().__init__(name)
        if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
            raise wrong(ValueError, f"{name}: capacity", "an integer from 1", repr(capacity))
        if not isinstance(buffer_shape, (tuple, list)):
            raise wrong(TypeError, f"{name}: buffer_shape", "a tuple", repr(buffer_shape))
        if len(buffer_shape) != len(buffer_dtype):
            actual = f"{len(buffer_dtype)} types for {len(buffer_shape)} shapes"
            raise wrong(ValueError, f"{name}: buffer_dtype", "a type for each shape", actual)
        self.capacity = capacity
        self.shapes = [tuple(shape) for shape in buffer_shape]
        self.types = [as_dtype(kind) for kind in buffer_dtype]

    def _check(self, data: Sequence[Any]) -> None:
        """The buffer is the one that was declared."""
        found = [(tuple(part.shape), part.dtype) for part in data]
        shapes = [(self.capacity, *shape) for shape in self.shapes]
        declared = list(zip(shapes, self.types, strict=True))
        if found != declared:
            raise wrong(ValueError, f"{self.name}: the buffer", str(declared), str(found))


class BufferAppend(_OfBuffer):
    """Put a row behind the newest, in place; a full buffer gives up its oldest.

    Args:
        capacity: how many rows there is room for.
        buffer_shape, buffer_dtype: the shape and the element type of each part of a row.

    Inputs: `data`, the Parameters, each [capacity, *shape]; `exp`, the parts of a row, each
    [*shape], or of B rows, [B, *shape]; `count` and `head`, Int32 Parameters.

    Returns:
        An Int32 Tensor, 0.

    Raises:
        ValueError: the buffer or the row is another than was declared, or B exceeds the capacity.
        TypeError: a part of the row has another element type than the buffer.

    Source: MindSpore's `ops.BufferAppend`.

    Example:
        >>> from mycel.compat.replay_buffers import BufferAppend
        >>> states = Parameter(ops.zeros((2, 3)), name="states")
        >>> count = Parameter(Tensor(0, ms.int32), name="count")
        >>> head = Parameter(Tensor(0, ms.int32), name="head")
        >>> append = BufferAppend(2, [(3,)], [ms.float32])
        >>> for n in range(3):
        ...     _ = append([states], [Tensor([n, n, n], ms.float32)], count, head)
        >>> print(states.asnumpy().tolist(), count.asnumpy(), head.asnumpy())
        [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]] 2 1
    """

    def __call__(self, data, exp, count, head):
        self._check(data)
        rows = self._rows(exp)
        places = (head + count + arange(rows).astype(int32)) % self.capacity
        for part, new in zip(data, exp, strict=True):
            part[places] = new.reshape((rows, *part.shape[1:]))
        held = count + rows
        assign(head, (head + (held - self.capacity).clip(0)) % self.capacity)
        assign(count, held.clip(None, self.capacity))
        return Tensor(0, int32)

    def _rows(self, exp) -> int:
        """How many rows are given: one, or as many as each part has in front."""
        found = [(tuple(part.shape), part.dtype) for part in exp]
        if [kind for _, kind in found] != self.types:
            actual = str([kind for _, kind in found])
            raise wrong(TypeError, "BufferAppend: the types of exp", str(self.types), actual)
        shapes = [shape for shape, _ in found]
        if shapes == self.shapes:
            return 1
        rows = shapes[0][0] if shapes[0] else 0
        if shapes != [(rows, *shape) for shape in self.shapes] or not 0 < rows <= self.capacity:
            expected = f"{self.shapes}, or up to {self.capacity} such rows in front"
            raise wrong(ValueError, "BufferAppend: the shapes of exp", expected, str(shapes))
        return rows


class BufferGetItem(_OfBuffer):
    """One row of a buffer: 0 is the oldest, -1 the newest.

    Args:
        capacity: how many rows there is room for.
        buffer_shape, buffer_dtype: the shape and the element type of each part of a row.

    Inputs: `data`, `count` and `head` as in BufferAppend; `index`, an integer or a Tensor.

    Returns:
        A tuple of the parts of the row, each [*shape].

    Raises:
        ValueError: the buffer is another than was declared.
        IndexError: the buffer has no such row.

    Source: MindSpore's `ops.BufferGetItem`.

    Example:
        >>> from mycel.compat.replay_buffers import BufferGetItem
        >>> states = Parameter(Tensor([[4.0], [2.0], [3.0]]), name="states")
        >>> count, head = Tensor(3, ms.int32), Tensor(1, ms.int32)
        >>> print(BufferGetItem(3, [(1,)], [ms.float32])([states], count, head, -1)[0])
        [4.]
    """

    def __call__(self, data, count, head, index):
        self._check(data)
        place = _place(count, head, index, np.int32(self.capacity))
        return tuple([part[place] for part in data])


class BufferSample(_OfBuffer):
    """Rows of a buffer at random, with equal chances.

    Args:
        capacity: how many rows there is room for.
        batch_size: how many are drawn, B.
        buffer_shape, buffer_dtype: the shape and the element type of each part of a row.
        seed: where the numbers come from; 0 is the generator of the thread.
        unique: whether all rows of a batch differ.

    Inputs: `data`, `count` and `head` as in BufferAppend.

    Returns:
        A tuple of the parts of the rows, each [B, *shape].

    Raises:
        ValueError: the buffer is another than was declared, B exceeds the capacity, or the buffer
            holds less than B rows.

    Source: MindSpore's `ops.BufferSample`.

    Example:
        >>> from mycel.compat.replay_buffers import BufferSample
        >>> states = Parameter(Tensor([[4.0], [2.0], [0.0]]), name="states")
        >>> count, head = Tensor(2, ms.int32), Tensor(0, ms.int32)
        >>> drawn = BufferSample(3, 2, [(1,)], [ms.float32], unique=True)([states], count, head)
        >>> print(sorted(drawn[0].asnumpy().ravel().tolist()))
        [2.0, 4.0]
    """

    def __init__(self, capacity, batch_size, buffer_shape, buffer_dtype, seed=0, unique=False):
        super().__init__(capacity, buffer_shape, buffer_dtype)
        if not 0 < batch_size <= capacity:
            expected = f"from 1 to the capacity, {capacity}"
            raise wrong(ValueError, "BufferSample: batch_size", expected, repr(batch_size))
        self.batch_size = batch_size
        self.seed = seed
        self.unique = unique

    def __call__(self, data, count, head):
        self._check(data)
        count = _enough(count, np.int32(self.batch_size))
        key = draw_key(self.seed)
        if self.unique:
            order = draw_uniform(key, shape=(self.capacity,), dtype="float32")
            # Rows that hold nothing come last.
            order = order + (arange(self.capacity) >= count).astype(float32)
            chosen = order.argsort()[: self.batch_size].astype(int32)
        else:
            zero = Tensor(0, int32)
            chosen = draw_integers(zero, count, key, shape=(self.batch_size,), dtype="int32")
        places = (head + chosen) % self.capacity
        return tuple([part[places] for part in data])


def _checked_count(count, wanted):
    if count < wanted:
        raise ValueError(TOO_FEW.format(wanted=wanted, count=count))
    return count


def _checked_place(count, head, index, capacity):
    if not -count <= index < count:
        bounds = {"lowest": -count, "highest": count - 1}
        raise IndexError(OUT_OF_RANGE.format(index=index, count=count, **bounds))
    return np.int32((head + index % count) % capacity)


# On the host at every run: how much a buffer holds is no constant of a compiled program.
_enough = Custom(_checked_count, (), int32)
_place = Custom(_checked_place, (), int32)
