# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors: a few values of a large Tensor, and where they are."""

from __future__ import annotations

from math import prod

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.define.bounds import rows_of
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import op
from mycel.ops.array.casting import cast
from mycel.ops.common import as_wide
from mycel.ops.math import arithmetic
from mycel.report import html

# -- what is recorded ---------------------------------------------------------------------------


@op(indices=lambda places, values, *, shape: [rows_of(0, shape[: places.shape[1]])])
def scattered(places, values, *, shape):
    """A Tensor with values in some places and 0 elsewhere; values of one place are added."""
    at = tuple(places.astype(np.int64).T)
    wide = as_wide(values)
    return jnp.zeros(shape, wide.dtype).at[at].add(wide, mode="drop").astype(values.dtype)


@op(indices=lambda dense, places, *, shape: [rows_of(1, shape[: places.shape[1]])])
def values_at(dense, places, *, shape):
    """The elements in some places of a Tensor that is repeated to a shape, without repeating it."""
    dense = dense.reshape((1,) * (len(shape) - dense.ndim) + dense.shape)
    at = places.astype(np.int64).T
    return dense[tuple(0 * n if size == 1 else n for n, size in zip(at, dense.shape, strict=False))]


@op()
def csr_positions(pointers, columns):
    """The row and the column of each value, from where rows begin."""
    numbers = jnp.arange(columns.shape[0], dtype=pointers.dtype)
    rows = jnp.searchsorted(pointers, numbers, "right") - 1
    return jnp.stack([rows.astype(columns.dtype), columns], -1)


@op()
def csr_pointers(places, values, *, rows):
    """Where rows begin, the columns and the values, in the order of rows."""
    order = jnp.argsort(places[:, 0], stable=True)
    numbers = places[order, 0]
    pointers = jnp.searchsorted(numbers, jnp.arange(rows + 1)).astype(places.dtype)
    return pointers, places[order, 1], values[order]


@op()
def summed_by(values, index, *, count):
    """The sums of the values that have the same number."""
    return jax.ops.segment_sum(as_wide(values), index, count).astype(values.dtype)


@op(indices=lambda places, values, dense, *, rows: [rows_of(0, (rows, dense.shape[0]))])
def product(places, values, dense, *, rows):
    """A matrix of values in some places times a matrix."""
    contributions = as_wide(values[:, None].astype(dense.dtype)) * as_wide(dense)[places[:, 1]]
    return jax.ops.segment_sum(contributions, places[:, 0], rows).astype(dense.dtype)


@op()
def row_softmax(pointers, values):
    """The softmax of the values of each row."""
    numbers = jnp.arange(values.shape[0])
    rows = jnp.searchsorted(pointers, numbers, "right") - 1
    count = pointers.shape[0] - 1
    top = jax.lax.stop_gradient(jax.ops.segment_max(values, rows, count))
    raised = jnp.exp(as_wide(values) - as_wide(top)[rows])
    return (raised / jax.ops.segment_sum(raised, rows, count)[rows]).astype(values.dtype)


# -- what the user holds ------------------------------------------------------------------------


def tensor_of(value, what) -> Tensor:
    """The value itself.

    Raises:
        TypeError: it is not a Tensor.
    """
    if not isinstance(value, Tensor):
        raise errors.wrong(TypeError, what, "a Tensor", type(value).__name__)
    return value


def sizes_of(shape) -> tuple[int, ...]:
    """A shape as Python numbers; that of a Tensor is read.

    Raises:
        TypeError: it is not a sequence of numbers.
    """
    if isinstance(shape, Tensor):
        shape = shape.asnumpy().tolist()
    if not isinstance(shape, (tuple, list)):
        raise errors.wrong(TypeError, "The shape", "a tuple of numbers", type(shape).__name__)
    return tuple(int(n) for n in shape)


class Sparse(tuple):
    """What the kinds of sparse Tensors have in common.

    They are tuples of their parts, so that they pass through `jit` and derivatives as such: the
    machine makes new ones from a list of parts, which need not be Tensors then.
    """

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__
    # NumPy's convention: an array, or a Tensor, on the left leaves the result to these classes.
    __array_ufunc__ = None

    @property
    def indices(self) -> Tensor:
        """Where the values are."""
        return self[-3]

    @property
    def values(self) -> Tensor:
        """The values that are not 0."""
        return self[-2]

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension of the whole."""
        return self[-1]

    @property
    def dtype(self):
        """The element type of the values."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions of the whole."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """Bytes of one value."""
        return self.values.itemsize

    def to_tuple(self) -> tuple:
        """The parts: where the values are, the values, the shape."""
        return tuple(self)

    def with_values(self, values):
        """Other values in the same places."""
        return type(self)([*self[:-2], values, self.shape])

    def astype(self, dtype):
        """The same places with values of another type."""
        return self.with_values(cast(self.values, dtype))

    def abs(self):
        """The same places with the sizes of the values."""
        return self.with_values(arithmetic.abs(self.values))

    def __neg__(self):
        return self.with_values(arithmetic.neg(self.values))

    def _unsupported(self, other):
        return NotImplemented

    # Not those of tuples; a kind that can be added or multiplied has its own.
    __add__ = __mul__ = __rmul__ = _unsupported

    def _repr_html_(self) -> str:
        names, whole = ("indptr", "indices", "values")[4 - len(self) :], prod(self.shape)
        share = f"{self.size:,} values of {whole:,}" + (
            f" ({self.size / whole:.2%})" if whole else ""
        )
        head = html.heading(type(self).__name__, f"{self.dtype}{list(self.shape)}", share)
        parts = [
            part._repr_html_(name) or "" if isinstance(part, Tensor) else ""
            for name, part in zip(names, self[:-1], strict=True)
        ]
        return html.box(html.line(head), *parts)

    def __repr__(self):
        names = ("indptr", "indices", "values")[4 - len(self) :]
        parts = ", ".join(f"{n}={_shown(p)}" for n, p in zip(names, self[:-1], strict=True))
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, {parts})"


def _shown(tensor) -> str:
    """As `repr`, with the numbers as `print` separates them."""
    head, _, numbers = repr(tensor).partition("value=")
    return f"{head}value={numbers.removeprefix(' ').replace(',', '')}"


class COOTensor(Sparse):
    """A matrix, most of which is 0: values, and the row and the column of each.

    Args:
        indices: (count, 2) whole numbers.
        values: (count) numbers.
        shape: the size of the whole, two numbers.
        coo_tensor: another one, instead of all of these.

    Raises:
        TypeError: an argument has another type.
        ValueError: the shapes do not fit together.

    Source: MindSpore's `mindspore.COOTensor`.

    Example:
        >>> x = ms.COOTensor(Tensor([[0, 1], [1, 0]]), Tensor([5, 6]), (2, 2))
        >>> print(x.to_dense())
        [[0 5]
         [6 0]]
    """

    __slots__ = ()

    def __new__(cls, indices=None, values=None, shape=None, coo_tensor=None):
        if isinstance(indices, list) and values is None:
            return tuple.__new__(cls, indices)
        if coo_tensor is not None:
            indices, values, shape = coo_tensor
        indices, values = tensor_of(indices, "indices"), tensor_of(values, "values")
        shape = sizes_of(shape)
        if indices.ndim != 2 or values.ndim != 1 or indices.shape[0] != values.shape[0]:
            wanted, given = "of shapes (count, 2) and (count,)", f"{indices.shape}, {values.shape}"
            raise errors.wrong(ValueError, "indices and values", wanted, given)
        if indices.shape[1] != len(shape) or min(shape) < 1:
            raise errors.wrong(
                ValueError, "The shape", f"{indices.shape[1]} positive numbers", str(shape)
            )
        return tuple.__new__(cls, (indices, values, shape))

    def to_dense(self) -> Tensor:
        """The whole as a Tensor; values of one place are added."""
        return scattered(self.indices, self.values, self.shape)

    def to_csr(self) -> CSRTensor:
        """The same, row by row."""
        return CSRTensor([*csr_pointers(self.indices, self.values, self.shape[0]), self.shape])

    def coalesce(self) -> COOTensor:
        """In order, and with one value for each place; the places are read."""
        places = self.indices.asnumpy()
        kept, which = np.unique(places, axis=0, return_inverse=True)
        index = Tensor(which.reshape(-1).astype(np.int32))
        return COOTensor([Tensor(kept), summed_by(self.values, index, len(kept)), self.shape])

    def add(self, other, thresh) -> COOTensor:
        """The sum with another one, without values smaller than `thresh`; places are read."""
        if other.shape != self.shape:
            raise errors.wrong(ValueError, "The other shape", str(self.shape), str(other.shape))
        made = _together((self, other), self.shape).coalesce()
        least = thresh.asnumpy() if isinstance(thresh, Tensor) else np.asarray(thresh)
        if least <= 0:
            return made
        kept = np.flatnonzero(np.abs(made.values.asnumpy()) >= least)
        indices, values = (part.index_select(0, Tensor(kept)) for part in made[:2])
        return COOTensor([indices, values, self.shape])

    def __add__(self, other):
        if isinstance(other, COOTensor):
            return self.add(other, 0)
        return arithmetic.add(self.to_dense(), other)

    __radd__ = __add__

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return self.with_values(
            arithmetic.mul(self.values, met_in(other, self.indices, self.shape))
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.with_values(
            arithmetic.true_divide(self.values, met_in(other, self.indices, self.shape))
        )


def met_in(other, places, shape):
    """What a sparse Tensor of a shape meets in its places: a number stays one.

    Raises:
        ValueError: the other Tensor does not repeat to that shape.
    """
    if isinstance(other, np.ndarray):
        other = Tensor(other)
    if not isinstance(other, Tensor) or not other.ndim:
        return other
    behind = shape[len(shape) - other.ndim :]
    if other.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(other.shape, behind, strict=True)
    ):
        wanted = f"of shape {shape}, or lengths 1 in it"
        raise errors.wrong(ValueError, "The other Tensor", wanted, str(other.shape))
    return values_at(other, places, shape)


def _together(parts, shape) -> COOTensor:
    """The values of several sparse Tensors in one."""
    indices, values = (concatenated(tuple(part[position] for part in parts)) for position in (0, 1))
    return COOTensor([indices, values, shape])


@op()
def concatenated(*tensors):
    """Tensors behind each other."""
    return jnp.concatenate([part.astype(tensors[0].dtype) for part in tensors])


class CSRTensor(Sparse):
    """A matrix, most of which is 0: the values row by row, and the column of each.

    Args:
        indptr: where each row begins, and where the last one ends.
        indices: the column of each value.
        values: the values.
        shape: the size of the whole.
        csr_tensor: another one, instead of all of these.

    Raises:
        TypeError: an argument has another type.
        ValueError: the shapes do not fit together.

    Source: MindSpore's `mindspore.CSRTensor`.

    Example:
        >>> x = ms.CSRTensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5, 6]), (2, 2))
        >>> print(x.to_dense())
        [[0 5]
         [6 0]]
    """

    __slots__ = ()

    def __new__(cls, indptr=None, indices=None, values=None, shape=None, csr_tensor=None):
        if isinstance(indptr, list) and indices is None:
            return tuple.__new__(cls, indptr)
        if csr_tensor is not None:
            indptr, indices, values, shape = csr_tensor
        indptr, indices = tensor_of(indptr, "indptr"), tensor_of(indices, "indices")
        values, shape = tensor_of(values, "values"), sizes_of(shape)
        if indices.ndim != 1 or values.shape != indices.shape:
            wanted, given = "vectors of one length", f"{indices.shape}, {values.shape}"
            raise errors.wrong(ValueError, "indices and values", wanted, given)
        if len(shape) != 2 or indptr.shape != (shape[0] + 1,) or min(shape) < 1:
            wanted = f"of two dimensions, with {indptr.size - 1} rows"
            raise errors.wrong(ValueError, "The shape", wanted, str(shape))
        return tuple.__new__(cls, (indptr, indices, values, shape))

    @property
    def indptr(self) -> Tensor:
        """Where each row begins, and where the last one ends."""
        return self[0]

    def places(self) -> Tensor:
        """The row and the column of each value."""
        return csr_positions(self.indptr, self.indices)

    def to_coo(self) -> COOTensor:
        """The same, with a row and a column for each value."""
        return COOTensor([self.places(), self.values, self.shape])

    def to_dense(self) -> Tensor:
        """The whole as a Tensor; values of one place are added."""
        return self.to_coo().to_dense()

    def add(self, b, alpha, beta) -> CSRTensor:
        """alpha times this, plus beta times another one; places are read."""
        if b.shape != self.shape:
            raise errors.wrong(ValueError, "The other shape", str(self.shape), str(b.shape))
        parts = [
            part.to_coo().with_values(arithmetic.mul(part.values, factor))
            for part, factor in ((self, alpha), (b, beta))
        ]
        return _together(parts, self.shape).coalesce().to_csr()

    def mv(self, dense_vector) -> Tensor:
        """The product with a column, (columns, 1)."""
        if dense_vector.shape != (self.shape[1], 1):
            wanted = f"of shape {(self.shape[1], 1)}"
            raise errors.wrong(ValueError, "The column", wanted, str(dense_vector.shape))
        return product(self.places(), self.values, dense_vector, self.shape[0])

    def mm(self, matrix) -> Tensor | CSRTensor:
        """The product with a matrix; with another sparse one it is sparse."""
        if matrix.ndim != 2 or matrix.shape[0] != self.shape[1]:
            wanted = f"a matrix of {self.shape[1]} rows"
            raise errors.wrong(ValueError, "The factor", wanted, str(matrix.shape))
        if isinstance(matrix, CSRTensor):
            made = product(self.places(), self.values, matrix.to_dense(), self.shape[0])
            return dense_to_csr(made)
        return product(self.places(), self.values, matrix, self.shape[0])

    def sum(self, axis) -> Tensor:
        """The sums of the rows, (rows, 1)."""
        if axis not in (1, -1):
            raise errors.wrong(ValueError, "axis", "1, for sums of rows", str(axis))
        return summed_by(self.values, self.places()[:, 0], self.shape[0]).reshape(-1, 1)

    def __add__(self, other):
        return self.add(other, 1, 1) if isinstance(other, CSRTensor) else NotImplemented

    def __sub__(self, other):
        return self.add(other, 1, -1) if isinstance(other, CSRTensor) else NotImplemented

    def __mul__(self, other):
        return self.with_values(
            arithmetic.mul(self.values, met_in(other, self.places(), self.shape))
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.with_values(
            arithmetic.true_divide(self.values, met_in(other, self.places(), self.shape))
        )


def dense_to_coo(x) -> COOTensor:
    """The elements of a matrix that are not 0; where they are is read."""
    if tensor_of(x, "tensor").ndim != 2:
        raise errors.wrong(ValueError, "A sparse Tensor", "a matrix", str(x.shape))
    places = Tensor(np.argwhere(x.asnumpy()).astype(np.int32))
    return COOTensor([places, values_at(x, places, x.shape), x.shape])


def dense_to_csr(x) -> CSRTensor:
    """The elements of a matrix that are not 0, row by row; where they are is read."""
    return dense_to_coo(x).to_csr()


class RowTensor(Sparse):
    """A Tensor, most rows of which are 0: some rows, and their numbers.

    Args:
        indices: the number of each row.
        values: the rows.
        shape: the size of the whole.
        row_tensor: another one, instead of all of these.

    Raises:
        TypeError: an argument has another type.
        ValueError: the shapes do not fit together.

    Source: MindSpore's `mindspore.RowTensor`.

    Example:
        >>> ms.RowTensor(Tensor([1]), Tensor([[5, 6]]), (3, 2)).dense_shape
        (3, 2)
    """

    __slots__ = ()

    def __new__(cls, indices=None, values=None, shape=None, row_tensor=None):
        if isinstance(indices, list) and values is None:
            return tuple.__new__(cls, indices)
        if row_tensor is not None:
            indices, values, shape = row_tensor
        indices, values = tensor_of(indices, "indices"), tensor_of(values, "values")
        shape = sizes_of(shape)
        rows = (*indices.shape, *shape[1:])
        if indices.ndim != 1 or values.shape != rows:
            raise errors.wrong(ValueError, "values", f"of shape {rows}", str(values.shape))
        return tuple.__new__(cls, (indices, values, shape))

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The size of each dimension of the whole."""
        return self.shape

    def to_dense(self) -> Tensor:
        """The whole as a Tensor; rows of one number are added."""
        return scattered(self.indices.reshape(-1, 1), self.values, self.shape)
