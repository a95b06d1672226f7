# SPDX-License-Identifier: Apache-2.0
"""Functions of sparse Tensors; their methods are in `sparse`."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.define.bounds import rows_of
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.joining import concat
from mycel.ops.array.selection import gather
from mycel.ops.math import arithmetic, elementwise, powers, trigonometry
from mycel.ops.math.quotients import inv
from mycel.ops.nn import activation
from mycel.ops.sparse.sparse_tensors import (
    COOTensor,
    CSRTensor,
    RowTensor,
    csr_positions,
    dense_to_coo,
    dense_to_csr,
    product,
    row_softmax,
    scattered,
    sizes_of,
    values_at,
)


@composite("SparseSlice()(indices, values, shape, start, size)")
def sparse_slice(indices, values, shape, start, size) -> tuple[Tensor, Tensor, Tensor]:
    """A block of a sparse Tensor: (indices, values, shape); all but the values are read.

    Args:
        indices: [N, R], the places of the values.
        values: [N].
        shape: [R], the shape of the whole.
        start: [R], where the block begins.
        size: [R], its lengths; beyond the whole it ends there.

    Example:
        >>> places, values, shape = ops.SparseSlice()(
        ...     Tensor([[0, 1], [1, 2]]), Tensor([5.0, 6.0]), Tensor([3, 4]), Tensor([1, 1]),
        ...     Tensor([2, 2]))
        >>> print(places, values, shape)
        [[0 1]] [6.] [2 2]
    """
    places, whole, first, lengths = (t.asnumpy() for t in (indices, shape, start, size))
    lengths = np.clip(whole - first, 0, lengths)
    inside = ((places >= first) & (places < first + lengths)).all(1)
    kept = Tensor(np.flatnonzero(inside))
    return Tensor(places[inside] - first), gather(values, kept, 0), Tensor(lengths)


@composite("ops.dense_to_sparse_coo(tensor=x)", "Tensor.to_coo(x)")
def dense_to_sparse_coo(x) -> COOTensor:
    """The elements of a matrix that are not 0, as a COOTensor; where they are is read.

    Example:
        >>> print(ops.dense_to_sparse_coo(Tensor([[0, 5], [6, 0]])).values)
        [5 6]
    """
    return dense_to_coo(x)


@composite("ops.dense_to_sparse_csr(tensor=x)", "Tensor.to_csr(x)")
def dense_to_sparse_csr(x) -> CSRTensor:
    """The elements of a matrix that are not 0, as a CSRTensor; where they are is read.

    Example:
        >>> print(ops.dense_to_sparse_csr(Tensor([[0, 5], [6, 0]])).indptr)
        [0 1 2]
    """
    return dense_to_csr(x)


@composite("ops.csr_to_coo(tensor=x)")
def csr_to_coo(x) -> COOTensor:
    """A CSRTensor as a COOTensor.

    Example:
        >>> print(ops.csr_to_coo(Tensor([[0, 5], [6, 0]]).to_csr()).indices)
        [[0 1]
         [1 0]]
    """
    return x.to_coo()


@composite("ops.csr_to_dense(csr_tensor=x)")
def csr_to_dense(x):
    """A CSRTensor as a Tensor.

    Example:
        >>> print(ops.csr_to_dense(Tensor([[0, 5], [6, 0]]).to_csr()))
        [[0 5]
         [6 0]]
    """
    return x.to_dense()


@composite("ops.coo_add(x1=x, x2=y, thresh=thresh)")
def coo_add(x, y, thresh) -> COOTensor:
    """The sum of two COOTensors; it reads where their values stand.

    Args:
        x: a COOTensor.
        y: a COOTensor of the same shape.
        thresh: a number or a Tensor of one; values whose size is less are left out, and 0 leaves
            out none.

    Example:
        >>> x = Tensor([[0, 5], [6, 0]]).to_coo()
        >>> print(ops.coo_add(x, x, Tensor(0)).to_dense())
        [[ 0 10]
         [12  0]]
    """
    return x.add(y, thresh)


@composite("ops.coo_concat(sp_input=parts, concat_dim=axis)")
def coo_concat(parts, axis=0) -> COOTensor:
    """COOTensors joined along a dimension, in order; it reads where their values stand.

    Example:
        >>> x = Tensor([[0, 5]]).to_coo()
        >>> print(ops.coo_concat((x, x)).to_dense())
        [[0 5]
         [0 5]]
    """
    sizes = [part.shape[axis] for part in parts]
    rest = {part.shape[: axis % 2] + part.shape[axis % 2 + 1 :] for part in parts}
    if len(rest) != 1 or not -2 <= axis < 2:
        shapes = ", ".join(str(part.shape) for part in parts)
        raise errors.wrong(ValueError, "The other sizes of what is joined", "equal", shapes)
    moved, before = [], 0
    for part, size in zip(parts, sizes, strict=True):
        step = [0, 0]
        step[axis] = before
        moved.append(part.indices + Tensor(step, part.indices.dtype))
        before += size
    shape = list(parts[0].shape)
    shape[axis] = before
    values = concat([part.values for part in parts])
    return COOTensor(concat(moved), values, tuple(shape)).coalesce()


@composite("ops.csr_add(a, b, alpha, beta)")
def csr_add(a, b, alpha, beta) -> CSRTensor:
    """The sum alpha · a + beta · b of two CSRTensors; it reads where their values stand.

    Args:
        a: a CSRTensor.
        b: a CSRTensor of the same shape.
        alpha: the factor of `a`, a Tensor of one number.
        beta: the factor of `b`, a Tensor of one number.

    Example:
        >>> x = Tensor([[0.0, 5.0], [6.0, 0.0]]).to_csr()
        >>> print(ops.csr_add(x, x, Tensor(1.0), Tensor(2.0)).values)
        [15. 18.]
    """
    return a.add(b, alpha, beta)


@composite("ops.csr_mul(x, y)")
def csr_mul(x, y) -> CSRTensor:
    """The values of a CSRTensor times the elements of a Tensor in their places, or a number.

    Example:
        >>> print(ops.csr_mul(Tensor([[0, 5]]).to_csr(), Tensor([[1, 2]])).values)
        [10]
    """
    return x * y


@composite("ops.csr_div(x, y)")
def csr_div(x, y) -> CSRTensor:
    """The values of a CSRTensor divided by the elements of a Tensor in their places.

    Example:
        >>> print(ops.csr_div(Tensor([[0.0, 5.0]]).to_csr(), Tensor([[1.0, 2.0]])).values)
        [2.5]
    """
    return x / y


@composite("ops.csr_mv(csr_tensor=x, dense=column)")
def csr_mv(x, column):
    """The product of a CSRTensor and a column, (columns, 1).

    Example:
        >>> print(ops.csr_mv(Tensor([[0.0, 5.0]]).to_csr(), Tensor([[1.0], [2.0]])))
        [[10.]]
    """
    return x.mv(column)


@composite(
    "ops.csr_mm(a=x, b=y, trans_a=turn_x, trans_b=turn_y, adjoint_a=adjoint_x, adjoint_b=adjoint_y)"
)
def csr_mm(x, y, turn_x=False, turn_y=False, adjoint_x=False, adjoint_y=False):
    """The product of a CSRTensor and a matrix of either kind.

    Args:
        x: a CSRTensor, [M, K].
        y: a Tensor or a CSRTensor, [K, N].
        turn_x, turn_y, adjoint_x, adjoint_y: exchange the dimensions of a factor first.

    Example:
        >>> print(ops.csr_mm(Tensor([[0.0, 5.0]]).to_csr(), Tensor([[1.0], [2.0]])))
        [[10.]]
    """
    if turn_x or adjoint_x:
        x = _turned(x)
    if turn_y or adjoint_y:
        y = _turned(y) if isinstance(y, CSRTensor) else y.T
    return x.mm(y)


def _turned(x):
    places = x.places().flip((1,))
    return COOTensor(places, x.values, x.shape[::-1]).to_csr()


@composite("ops.csr_reduce_sum(csr_tensor=x, axis=axis)")
def csr_reduce_sum(x, axis):
    """The sums of the rows of a CSRTensor, (rows, 1); `axis` is 1.

    Example:
        >>> print(ops.csr_reduce_sum(Tensor([[2.0, 5.0]]).to_csr(), 1))
        [[7.]]
    """
    return x.sum(axis)


@composite("ops.csr_softmax(logits=x, dtype=dtype)")
def csr_softmax(x, dtype=None) -> CSRTensor:
    """The softmax of the values of each row of a CSRTensor; zeros do not take part.

    Example:
        >>> print(ops.csr_softmax(Tensor([[2.0, 0.0]]).to_csr(), ms.float32).values)
        [1.]
    """
    values = row_softmax(x.indptr, x.values)
    return x.with_values(values if dtype is None else values.astype(dtype))


@composite("ops.csr_gather(indptr, indices, dense, sparse_shape)")
def csr_gather(indptr, indices, dense, sparse_shape):
    """The elements of a Tensor at the positions of the values of a CSRTensor.

    Args:
        indptr: [M + 1], where the values of each row begin, and the last ones end.
        indices: [K], the column of each value.
        dense: [M, N].
        sparse_shape: the shape of `dense`, a tuple.

    Example:
        >>> print(ops.csr_gather(Tensor([0, 1]), Tensor([1]), Tensor([[5, 6]]), (1, 2)))
        [6]
    """
    if tuple(dense.shape) != sizes_of(sparse_shape):
        raise errors.wrong(ValueError, "dense", f"of shape {sparse_shape}", str(dense.shape))
    return values_at(dense, csr_positions(indptr, indices), dense.shape)


@op("SparseTensorDenseMatmul(adjoint_st=turn, adjoint_dt=turn_dense)"
    "(indices=places, values=values, sparse_shape=shape, dense=dense)",
    indices=lambda places, *_, shape, **__: [rows_of(0, shape)])  # fmt: skip
def sparse_tensor_dense_matmul(places, values, dense, *, shape, turn=False, turn_dense=False):
    """The product of a sparse matrix and a matrix.

    Args:
        places: [K, 2], the position of each value.
        values: [K].
        dense: a matrix of the same element type.
        shape: the two lengths of the sparse matrix, a tuple.
        turn, turn_dense: exchange the dimensions of a factor first, and conjugate it.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> multiply = ops.SparseTensorDenseMatmul()
        >>> print(multiply(Tensor([[0, 1]]), Tensor([5.0]), (1, 2), Tensor([[1.0], [2.0]])))
        [[10.]]
    """
    if turn:
        places, values, shape = places[:, ::-1], jnp.conj(values), shape[::-1]
    if turn_dense:
        dense = jnp.conj(dense.T)
    if places.ndim != 2 or places.shape[1] != 2 or dense.ndim != 2 or dense.shape[0] != shape[1]:
        raise ValueError(f"A sparse matrix {shape} does not fit a matrix {dense.shape}.")
    return product.definition.function(places, values, dense, rows=shape[0])


@op("SparseToDense()(indices=places, values=values, sparse_shape=shape)",
    indices=lambda places, *_, shape: [rows_of(0, shape)])  # fmt: skip
def sparse_to_dense(places, values, *, shape):
    """A Tensor with the given values at some positions and 0 elsewhere.

    Args:
        places: [K, D], the position of each value.
        values: [K]; values at one position are added.
        shape: the D lengths of the result, a tuple.

    Example:
        >>> print(ops.SparseToDense()(Tensor([[0, 1]]), Tensor([5]), (1, 2)))
        [[0 5]]
    """
    return scattered.definition.function(places, values, shape=shape)


@op("SparseTensorDenseAdd()(x1_indices=places, x1_values=values, x1_shape=shape, x2=dense)",
    indices=lambda places, *_, shape: [rows_of(0, shape)])  # fmt: skip
def sparse_tensor_dense_add(places, values, dense, *, shape):
    """The sum of a sparse and a dense Tensor.

    Args:
        places: [K, D], the position of each value.
        values: [K], cast to the type of `dense`.
        dense: a Tensor of D dimensions.
        shape: the shape of both, a tuple.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> add = ops.SparseTensorDenseAdd()
        >>> print(add(Tensor([[0, 1]]), Tensor([5]), (1, 2), Tensor([[1, 2]])))
        [[1 7]]
    """
    if tuple(shape) != dense.shape:
        raise ValueError(f"A sparse Tensor {shape} does not fit a Tensor {dense.shape}.")
    return dense + scattered.definition.function(places, values.astype(dense.dtype), shape=shape)


@composite("Coalesce()(x_indices=places, x_values=values, x_shape=shape)")
def coalesce(places, values, shape) -> tuple[Tensor, Tensor, Tensor]:
    """A sparse Tensor with its positions in order, each once, with the sum of its values.

    Args:
        places: [D, K], the position of each value, one in a column.
        values: [K].
        shape: the D lengths of the whole, a Tensor, which is read and returned.

    Example:
        >>> made = ops.Coalesce()(Tensor([[0, 0], [1, 1]]), Tensor([5, 6]), Tensor([2, 2]))
        >>> print(made[1])
        [11]
    """
    made = COOTensor(places.T, values, sizes_of(shape)).coalesce()
    return made.indices.T, made.values, shape


@composite("ops.make_row_tensor(indices, values, dense_shape=shape)")
def make_row_tensor(indices, values, shape) -> RowTensor:
    """A RowTensor: a Tensor of which only some rows are not 0.

    Args:
        indices: [K], the number of each row.
        values: [K, ...], the rows.
        shape: the shape of the whole, a tuple.

    Example:
        >>> ops.make_row_tensor(Tensor([1]), Tensor([[5, 6]]), (3, 2)).shape
        (3, 2)
    """
    return RowTensor(indices, values, shape)


_ELEMENTWISE = {
    "abs": arithmetic.abs,
    "acos": trigonometry.acos,
    "acosh": trigonometry.acosh,
    "asin": trigonometry.asin,
    "asinh": trigonometry.asinh,
    "atan": trigonometry.atan,
    "atanh": trigonometry.atanh,
    "ceil": elementwise.ceil,
    "cos": trigonometry.cos,
    "cosh": trigonometry.cosh,
    "exp": powers.exp,
    "expm1": powers.expm1,
    "floor": elementwise.floor,
    "inv": inv,
    "isfinite": elementwise.isfinite,
    "isinf": elementwise.isinf,
    "isnan": elementwise.isnan,
    "log": powers.log,
    "log1p": powers.log1p,
    "neg": arithmetic.neg,
    "relu": activation.relu,
    "relu6": activation.relu6,
    "round": elementwise.round,
    "sigmoid": activation.sigmoid,
    "sin": trigonometry.sin,
    "sinh": trigonometry.sinh,
    "softsign": activation.softsign,
    "sqrt": powers.sqrt,
    "square": powers.square,
    "tan": trigonometry.tan,
    "tanh": activation.tanh,
}


def _of_values(kind, name, function):
    """`ops.coo_sin` and its like: the function of the values, in the same places."""

    def of_values(x):
        return x.with_values(function(x.values))

    of_values.__name__ = f"{kind}_{name}"
    of_values.__annotations__["return"] = f"{kind.upper()}Tensor"
    of_values.__doc__ = f"""`ops.{name}` of the values of a {kind.upper()}Tensor, where they are.

    Example:
        >>> ops.{kind}_{name}(Tensor([[0.0, 0.5]]).to_{kind}()).shape
        (1, 2)
    """
    composite(f"ops.{kind}_{name}(x)")(of_values)


for _name, _function in _ELEMENTWISE.items():
    _of_values("coo", _name, _function)
    _of_values("csr", _name, _function)
