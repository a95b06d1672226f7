# SPDX-License-Identifier: Apache-2.0
"""Dropout, embeddings, one-hot codes and padding."""

from __future__ import annotations

import numpy as np

from mycel import ops
from mycel.init import initializer
from mycel.kernel.base.dtypes import as_dtype, float32, int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, is_number, number, one_of, positive_integer
from mycel.nn.layers.inside import Beside, Inside


class Dropout(Cell):
    """In training, put a random share of x to 0 and enlarge the rest; in prediction x as it is.

    Args:
        keep_prob: the share that stays, above 0 and up to 1; counts only without `p`.
        p: the share put to 0, from 0 and below 1.
        dtype: accepted for older programs.

    Raises:
        TypeError: an argument is not a number.
        ValueError: a number is out of range.

    Source: MindSpore's `mindspore.nn.Dropout`.

    Example:
        >>> print(nn.Dropout(p=0.5)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    dropout = Inside(lambda cell: ops.Dropout(cell.keep_prob if cell.p is None else 1.0 - cell.p))

    def __init__(self, keep_prob=0.5, p=None, dtype=float32):
        super().__init__()
        del dtype
        if p is None:
            older("nn.Dropout(keep_prob=...)", "nn.Dropout(p=1 - keep_prob)")
            if not isinstance(keep_prob, float):
                actual = f"{type(keep_prob).__name__} {keep_prob!r}"
                raise wrong(TypeError, "Dropout.keep_prob", "a float", actual)
            in_range = "above 0 and up to 1"
            number(keep_prob, "Dropout.keep_prob", in_range, lambda n: 0 < n <= 1)
        else:
            number(p, "Dropout.p", "from 0 and below 1", lambda n: 0 <= n < 1)
        self.p = p
        self.keep_prob = keep_prob

    def construct(self, x) -> Tensor:
        """x, in training with holes."""
        share = 1.0 - self.keep_prob if self.p is None else self.p
        if not self.training or share == 0:
            return x
        return ops.dropout(x, share, True)

    def extend_repr(self) -> str:
        """The share."""
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class Dropout2d(Cell):
    """In training, put a random share of whole channels of (N, C, H, W) to 0.

    Args:
        p: the share, from 0 to 1.

    Raises:
        ValueError: a number is out of range.

    Source: MindSpore's `mindspore.nn.Dropout2d`.

    Example:
        >>> nn.Dropout2d()(ops.ones((1, 2, 2, 2))).shape
        (1, 2, 2, 2)
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = number(p, "Dropout2d.p", "from 0 to 1", lambda n: 0 <= n <= 1)
        self.keep_prob = 1.0 - p

    def construct(self, x) -> Tensor:
        """x, in training with empty channels."""
        if not self.training or self.p == 0:
            return x
        return ops.dropout2d(x, self.p, True)

    def extend_repr(self) -> str:
        """The share."""
        return f"p={self.p}"


def _by_steps(cell: Embedding, ids) -> Tensor:
    """What `Embedding` computes, an operator at a time: as MindSpore's, of ids in a row."""
    flat = ids.reshape(-1)
    if cell.use_one_hot:
        one, zero = Tensor(1.0, cell.dtype), Tensor(0.0, cell.dtype)
        rows = cell.array_mul(cell.one_hot(flat, cell.vocab_size, one, zero), cell.embedding_table)
    else:
        rows = cell.gather(cell.embedding_table, flat, 0)
    return rows.reshape(*ids.shape, -1)


class Embedding(Cell):
    """A row of a trained table for each number: (…) to (…, embedding_size).

    Args:
        vocab_size, embedding_size: rows and columns of the table.
        use_one_hot: look up by a matrix product instead.
        embedding_table: an initialiser, its name, a number or a Tensor.
        dtype: the element type of the table.
        padding_idx: the number of a row that starts as zeros.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size is not positive, or `padding_idx` is out of range.

    Source: MindSpore's `mindspore.nn.Embedding`.

    Example:
        >>> layer = nn.Embedding(3, 2, embedding_table=Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
        >>> print(layer(Tensor([2, 0], mycel.int32)))
        [[4. 5.]
         [0. 1.]]
    """

    gather = Inside(lambda cell: ops.Gather(), _by_steps)
    one_hot = Inside(lambda cell: ops.OneHot(), _by_steps)
    array_mul = Inside(lambda cell: ops.MatMul(), _by_steps)
    # Nothing computes with it, in MindSpore neither; programs divide it.
    expand = Inside(lambda cell: ops.ExpandDims(), _by_steps)
    get_shp = Beside(lambda cell: ops.Shape())
    reshape = Beside(lambda cell: ops.Reshape())
    reshape_flat = Beside(lambda cell: ops.Reshape())
    shp_flat = (-1,)
    on_value = Beside(lambda cell: Tensor(1.0, cell.dtype))
    off_value = Beside(lambda cell: Tensor(0.0, cell.dtype))

    def __init__(
        self,
        vocab_size,
        embedding_size,
        use_one_hot=False,
        embedding_table="normal",
        dtype=float32,
        padding_idx=None,
    ):
        super().__init__()
        self.vocab_size = positive_integer(vocab_size, "Embedding.vocab_size")
        self.embedding_size = positive_integer(embedding_size, "Embedding.embedding_size")
        self.use_one_hot = boolean(use_one_hot, "Embedding.use_one_hot")
        self.dtype = as_dtype(dtype)
        self.padding_idx = padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), self.dtype)
        if padding_idx is not None:
            table = Tensor(self._with_empty_row(table, padding_idx))
        self.embedding_table = Parameter(table, name="embedding_table")

    def _with_empty_row(self, table, row) -> np.ndarray:
        if not is_integer(row) or not 0 <= row < self.vocab_size:
            kind = ValueError if is_number(row) else TypeError
            raise wrong(kind, "Embedding.padding_idx", f"from 0 to {self.vocab_size - 1}", row)
        values = table.asnumpy()
        values[row] = 0
        return values

    def construct(self, ids) -> Tensor:
        """The rows of the numbers `ids`."""
        if not self.use_one_hot:
            return ops.gather(self.embedding_table, ids, 0)
        one, zero = Tensor(1.0, self.dtype), Tensor(0.0, self.dtype)
        return ops.matmul(ops.one_hot(ids, self.vocab_size, one, zero), self.embedding_table)

    def extend_repr(self) -> str:
        """What the layer was made with, and its table."""
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"use_one_hot={self.use_one_hot}, embedding_table={self.embedding_table}, "
            f"dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


class OneHot(Cell):
    """`on_value` at the place of each number, `off_value` elsewhere: a new dimension `depth` long.

    Source: MindSpore's `mindspore.nn.OneHot`.

    Example:
        >>> print(nn.OneHot(depth=3)(Tensor([2], mycel.int32)))
        [[0. 0. 1.]]
    """

    def __init__(self, axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=float32):
        super().__init__()
        self.axis = axis
        self.depth = depth
        self.dtype = as_dtype(dtype)
        self.on_value = on_value
        self.off_value = off_value
        self._on = Tensor(on_value, self.dtype)
        self._off = Tensor(off_value, self.dtype)

    def construct(self, indices) -> Tensor:
        """The codes of the numbers."""
        return ops.one_hot(indices, self.depth, self._on, self._off, self.axis)


class Pad(Cell):
    """x with more elements around it.

    Args:
        paddings: a pair of numbers (in front, behind) for each dimension.
        mode: 'CONSTANT' (zeros), 'REFLECT' (mirrored without the edge) or 'SYMMETRIC' (with it).

    Raises:
        TypeError: `paddings` is not a tuple of pairs.
        ValueError: the mode is unknown, or there are more than four dimensions.

    Source: MindSpore's `mindspore.nn.Pad`.

    Example:
        >>> print(nn.Pad(((1, 0),))(Tensor([1.0, 2.0])))
        [0. 1. 2.]
    """

    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        pairs = paddings if isinstance(paddings, tuple) else ()
        if not pairs or not all(isinstance(p, (tuple, list)) and len(p) == 2 for p in pairs):
            raise wrong(TypeError, "Pad.paddings", "a tuple of pairs of numbers", repr(paddings))
        if len(paddings) > 4:
            raise wrong(ValueError, "Pad.paddings", "at most four pairs", len(paddings))
        self.mode = one_of(mode, "Pad.mode", ("CONSTANT", "REFLECT", "SYMMETRIC"))
        self.paddings: tuple[tuple[int, int], ...] = paddings

    def construct(self, x) -> Tensor:
        """x, padded."""
        if self.mode == "CONSTANT":
            return ops.pad(x, tuple(n for pair in reversed(self.paddings) for n in pair))
        for axis, (front, behind) in enumerate(self.paddings):
            places = _mirrored(x.shape[axis], front, behind, int(self.mode == "REFLECT"))
            x = ops.gather(x, Tensor(places, int32), axis)
        return x


def _mirrored(length: int, front: int, behind: int, skipped: int) -> list[int]:
    """Which elements stand where, with mirrors at both ends; `skipped` leaves out the edge."""
    if max(front, behind) > length - skipped:
        raise wrong(
            ValueError, "Each of Pad.paddings", f"at most {length - skipped}", (front, behind)
        )
    before = [skipped + n for n in range(front)][::-1]
    after = [length - 1 - skipped - n for n in range(behind)]
    return [*before, *range(length), *after]


class Unflatten(Cell):
    """One dimension as several: (N, C·k) with axis 1 and (C, k) to (N, C, k).

    Source: MindSpore's `mindspore.nn.Unflatten`.

    Example:
        >>> nn.Unflatten(1, (2, 3))(ops.ones((4, 6))).shape
        (4, 2, 3)
    """

    def __init__(self, axis, unflattened_size):
        super().__init__()
        self.axis = axis
        self.unflattened_size = tuple(unflattened_size)

    def construct(self, input_x) -> Tensor:
        """The input in another shape."""
        shape = input_x.shape
        axis = self.axis % len(shape)
        return input_x.reshape((*shape[:axis], *self.unflattened_size, *shape[axis + 1 :]))
