# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import composite, op
from mycel.ops.common import promoted
from mycel.ops.math.arithmetic import add, mul
from mycel.ops.math.lengths import distance
from mycel.ops.math.reduction import reduce_sum


def _fit(x, y, x_axis=-1, y_axis=-2):
    """Raise unless the axes that are summed over have one length."""
    left, right = x.shape[x_axis], y.shape[y_axis if y.ndim > 1 else 0]
    if left != right:
        raise ValueError(
            f"The lengths summed over differ: {left} in {x.shape} and {right} in {y.shape}."
        )


def _same_dtype(x, y):
    if x.dtype != y.dtype:
        raise TypeError(
            f"Both matrices must have one element type, but {x.dtype} and {y.dtype} were given; "
            f"convert one with `.astype(...)`."
        )


@op(
    "ops.matmul(input=x, other=y)",
    "Tensor.matmul(x, tensor2=y)",
    "Tensor.__matmul__(x, y)",
    "Tensor.__rmatmul__(y, x)",
    "Tensor.__imatmul__(x, y)",
    "mint.matmul(input=x, other=y)",
)
def matmul(x, y):
    """The matrix product: [..., N, K] by [..., K, M] gives [..., N, M].

    Args:
        x: a Tensor; one dimension stands for a row.
        y: a Tensor of the same element type; one dimension stands for a column. Leading dimensions
            are broadcast.

    Raises:
        TypeError: the element types differ.
        ValueError: the inner lengths differ, or an operand has no dimensions.

    Example:
        >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]) @ Tensor([1.0, 10.0]))
        [21. 43.]
    """
    _same_dtype(x, y)
    if not x.ndim or not y.ndim:
        raise ValueError(f"Both operands need a dimension, but {x.ndim} and {y.ndim} were given.")
    _fit(x, y)
    return jnp.matmul(x, y)


@op("MatMul(transpose_a=transpose_a, transpose_b=transpose_b)(input=x, mat2=y)")
def mat_mul(x, y, *, transpose_a=False, transpose_b=False):
    """The product of two matrices, each of which may be transposed first.

    Args:
        x: [N, K], or [K, N] with `transpose_a`.
        y: [K, M], or [M, K] with `transpose_b`, of the same element type.
        transpose_a: whether `x` is transposed; False by default.
        transpose_b: whether `y` is transposed; False by default.

    Raises:
        TypeError: the element types differ.
        ValueError: an operand does not have two dimensions, or the inner lengths differ.

    Example:
        >>> print(ops.MatMul(transpose_b=True)(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
        [[11.]]
    """
    _same_dtype(x, y)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError(f"Both operands must have 2 dimensions, but have {x.ndim} and {y.ndim}.")
    left, right = 0 if transpose_a else 1, 1 if transpose_b else 0
    _fit(x, y, left, right)
    return lax.dot_general(x, y, (((left,), (right,)), ((), ())))


@op("BatchMatMul(transpose_a=transpose_a, transpose_b=transpose_b)(x, y)")
def batch_mat_mul(x, y, *, transpose_a=False, transpose_b=False):
    """The products of two batches of matrices, each of which may be transposed first.

    Args:
        x: [..., N, K], or [..., K, N] with `transpose_a`.
        y: [..., K, M], or [..., M, K] with `transpose_b`, of the same element type; leading
            dimensions are broadcast.
        transpose_a: whether the matrices of `x` are transposed; False by default.
        transpose_b: whether the matrices of `y` are transposed; False by default.

    Raises:
        TypeError: the element types differ.
        ValueError: an operand has fewer than two dimensions, or lengths do not fit.

    Example:
        >>> ops.BatchMatMul()(ops.ones((5, 2, 3)), ops.ones((5, 3, 4))).shape
        (5, 2, 4)
    """
    _same_dtype(x, y)
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(
            f"Both operands need 2 dimensions or more, but have {x.ndim} and {y.ndim}."
        )
    left = jnp.swapaxes(x, -1, -2) if transpose_a else x
    right = jnp.swapaxes(y, -1, -2) if transpose_b else y
    try:
        np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ValueError(f"The batches of {x.shape} and {y.shape} do not go together.") from None
    return jnp.matmul(left, right)


@op("ops.bmm(input_x=x, mat2=y)", "Tensor.bmm(x, mat2=y)")
def bmm(x, y):
    """The products of two batches of matrices; nothing is broadcast, as in MindSpore.

    Args:
        x: [..., N, K].
        y: [..., K, M], of the same element type and with the same leading dimensions.

    Raises:
        TypeError: the element types differ.
        ValueError: an operand has fewer than two dimensions, or lengths do not fit.

    Example:
        >>> ops.bmm(ops.ones((5, 2, 3)), ops.ones((5, 3, 4))).shape
        (5, 2, 4)
    """
    if x.shape[:-2] != y.shape[:-2]:
        raise ValueError(
            f"The batches of {x.shape} and {y.shape} differ; `ops.matmul` broadcasts them."
        )
    return batch_mat_mul.definition.function(x, y)


@op("mint.bmm(input=x, mat2=y)")
def mint_bmm(x, y):
    """As `ops.bmm`, for [B, N, K] and [B, K, M] alone.

    Raises:
        TypeError: the element types differ.
        ValueError: an operand does not have three dimensions, or lengths do not fit.

    Example:
        >>> ms.mint.bmm(ops.ones((5, 2, 3)), ops.ones((5, 3, 4))).shape
        (5, 2, 4)
    """
    if x.ndim != 3 or y.ndim != 3:
        raise ValueError(
            f"Both operands must have 3 dimensions, but have {x.ndim} and {y.ndim}; "
            "`mint.matmul` takes others."
        )
    return bmm.definition.function(x, y)


@op("ops.mm(input=x, mat2=y)", "Tensor.mm(x, mat2=y)", "mint.mm(input=x, mat2=y)")
def mm(x, y):
    """The product of two matrices of two dimensions.

    Example:
        >>> print(ops.mm(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    return mat_mul.definition.function(x, y)


@op("ops.mv(mat=x, vec=y)", "mint.mv(input=x, vec=y)")
def mv(x, y):
    """The product of a matrix (n, m) and a vector (m).

    Example:
        >>> print(ops.mv(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])))
        [11.]
    """
    return matmul.definition.function(x, y)


@op("ops.dot(input=x, other=y)")
def dot(x, y):
    """The sum of products over the last axis of x and the last but one of y.

    Args:
        x: [..., K], two dimensions or more.
        y: [..., K, M], of the same element type; the result is [*x.shape[:-1], *y.shape[:-2], M].

    Raises:
        ValueError: an operand has fewer than two dimensions.

    Example:
        >>> ops.dot(ops.ones((2, 3)), ops.ones((5, 3, 4))).shape
        (2, 5, 4)
    """
    _same_dtype(x, y)
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(
            f"Both operands need 2 dimensions or more, but have {x.ndim} and {y.ndim}."
        )
    return jnp.dot(x, y)


@op("Tensor.dot(x, other=y)", "mint.dot(input=x, other=y)")
def vector_dot(x, y):
    """The sum of the products of two vectors; of tables, as `ops.dot`.

    Example:
        >>> print(mint.dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    _same_dtype(x, y)
    return jnp.dot(x, y)


@op("ops.inner(input=x, other=y)", "Tensor.inner(x, other=y)", "mint.inner(input=x, other=y)")
def inner(x, y):
    """The sum of products over the last axis of both.

    Example:
        >>> print(ops.inner(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
        [[11.]]
    """
    return jnp.inner(*promoted(x, y))


@op(
    "ops.outer(input=x, vec2=y)",
    "ops.ger(input=x, vec2=y)",
    "Ger()(x, y)",
    "Tensor.outer(x, vec2=y)",
    "Tensor.ger(x, vec2=y)",
    "mint.outer(input=x, vec2=y)",
)
def outer(x, y):
    """All products of an element of x and an element of y: (n) and (m) give (n, m).

    A Tensor without dimensions is taken as a vector of one element.

    Raises:
        ValueError: an operand has more than one dimension.

    Example:
        >>> print(ops.outer(Tensor([1, 2]), Tensor([3, 4])))
        [[3 4]
         [6 8]]
    """
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError(
            f"Both operands must be vectors, but have {x.ndim} and {y.ndim} dimensions."
        )
    x, y = promoted(x, y)
    return x.reshape(-1, 1) * y.reshape(1, -1)


@op("ops.tensor_dot(x1=x, x2=y, axes=axes)")
def tensor_dot(x, y, *, axes):
    """The sum of products over pairs of axes.

    Args:
        x: a Tensor.
        y: a Tensor of the same element type.
        axes: how many last axes of x meet as many first ones of y; or two sequences of axes.

    Raises:
        ValueError: the lengths of a pair differ.

    Example:
        >>> print(ops.tensor_dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 1))
        11.0
    """
    x, y = promoted(x, y)
    return jnp.tensordot(x, y, axes)


@op("Einsum(equation=equation)(x=operands)")
def einsum_primitive(*operands, equation):
    """`ops.einsum` of a tuple of Tensors.

    Example:
        >>> print(ops.Einsum("i,i->")((Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))))
        11.0
    """
    return jnp.einsum(equation, *operands)


@composite("ops.einsum(equation, *operands)", "mint.einsum(equation, *operands)")
def einsum(equation, operands):
    """Sums of products written with one letter per axis: "ij,jk->ik" is the product of matrices.

    Raises:
        ValueError: the subscripts do not fit the shapes.

    Example:
        >>> print(ops.einsum("ij,jk->ik", Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    given = operands if isinstance(operands, (tuple, list)) else (operands,)
    return einsum_primitive(tuple(given), equation)


def _scaled_sum(x, product, beta, alpha):
    """beta · x + alpha · product; a factor of 1 costs nothing."""
    left = x if beta == 1 else mul(x, beta)
    return add(left, product if alpha == 1 else mul(product, alpha))


@composite(
    "ops.addmm(input=x, mat1=a, mat2=b, beta=beta, alpha=alpha)",
    "Tensor.addmm(x, mat1=a, mat2=b, beta=beta, alpha=alpha)",
    "mint.addmm(input=x, mat1=a, mat2=b, beta=beta, alpha=alpha)",
    "Tensor.addmm_(x, mat1=a, mat2=b, beta=beta, alpha=alpha) -> x",
)
def addmm(x, a, b, beta=1, alpha=1):
    """beta · x + alpha · (a @ b), for matrices.

    Args:
        x: what broadcasts to [N, M].
        a: [N, K].
        b: [K, M].
        beta: the factor of `x`, a number; 1 by default.
        alpha: the factor of the product, a number; 1 by default.

    Example:
        >>> print(ops.addmm(Tensor([[1.0]]), Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), beta=2))
        [[13.]]
        >>> print(Tensor([[1.0]]).addmm_(Tensor([[2.0]]), Tensor([[3.0]]), alpha=10))
        [[61.]]
    """
    return _scaled_sum(x, mm(a, b), beta, alpha)


@composite(
    "ops.addmv(input=x, mat=a, vec=b, beta=beta, alpha=alpha)",
    "Tensor.addmv(x, mat=a, vec=b, beta=beta, alpha=alpha)",
    "mint.addmv(input=x, mat=a, vec=b, beta=beta, alpha=alpha)",
)
def addmv(x, a, b, beta=1, alpha=1):
    """beta · x + alpha · (a @ b), for a matrix and a vector.

    Args:
        x: what broadcasts to [N].
        a: [N, K].
        b: [K].
        beta: the factor of `x`, a number; 1 by default.
        alpha: the factor of the product, a number; 1 by default.

    Example:
        >>> print(ops.addmv(Tensor([1.0]), Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])))
        [12.]
    """
    return _scaled_sum(x, mv(a, b), beta, alpha)


@composite(
    "ops.baddbmm(input=x, batch1=a, batch2=b, beta=beta, alpha=alpha)",
    "Tensor.baddbmm(x, batch1=a, batch2=b, beta=beta, alpha=alpha)",
    "mint.baddbmm(input=x, batch1=a, batch2=b, beta=beta, alpha=alpha) with three=True",
)
def baddbmm(x, a, b, beta=1, alpha=1, three=False):
    """beta · x + alpha · (a @ b), for batches of matrices.

    Args:
        x: what broadcasts to [B, N, M].
        a: [B, N, K].
        b: [B, K, M].
        beta: the factor of `x`, a number; 1 by default.
        alpha: the factor of the products, a number; 1 by default.

    Example:
        >>> ops.baddbmm(ops.ones((5, 2, 4)), ops.ones((5, 2, 3)), ops.ones((5, 3, 4))).shape
        (5, 2, 4)
    """
    return _scaled_sum(x, mint_bmm(a, b) if three else bmm(a, b), beta, alpha)


@composite(
    "ops.addbmm(input=x, batch1=a, batch2=b, beta=beta, alpha=alpha)",
    "Tensor.addbmm(x, batch1=a, batch2=b, beta=beta, alpha=alpha)",
    "mint.addbmm(input=x, batch1=a, batch2=b, beta=beta, alpha=alpha) with three=True",
)
def addbmm(x, a, b, beta=1, alpha=1, three=False):
    """beta · x + alpha · the sum over the batch of (a @ b).

    Args:
        x: what broadcasts to [N, M].
        a: [B, N, K].
        b: [B, K, M].
        beta: the factor of `x`, a number; 1 by default.
        alpha: the factor of the sum of the products, a number; 1 by default.

    Example:
        >>> ops.addbmm(ops.ones((2, 4)), ops.ones((5, 2, 3)), ops.ones((5, 3, 4))).shape
        (2, 4)
    """
    products = mint_bmm(a, b) if three else bmm(a, b)
    return _scaled_sum(x, reduce_sum(products, 0), beta, alpha)


@composite(
    "ops.addr(x, vec1=a, vec2=b, beta=beta, alpha=alpha)",
    "Tensor.addr(x, vec1=a, vec2=b, beta=beta, alpha=alpha)",
    "mint.addr_(input=x, vec1=a, vec2=b, beta=beta, alpha=alpha) -> x",
)
def addr(x, a, b, beta=1, alpha=1):
    """beta · x + alpha · outer(a, b).

    Args:
        x: what broadcasts to [N, M].
        a: [N].
        b: [M].
        beta: the factor of `x`, a number; 1 by default.
        alpha: the factor of the product, a number; 1 by default.

    Example:
        >>> print(ops.addr(Tensor([[1.0]]), Tensor([2.0]), Tensor([3.0])))
        [[7.]]
        >>> print(mint.addr_(Tensor([[1.0]]), Tensor([2.0]), Tensor([3.0])))
        [[7.]]
    """
    return _scaled_sum(x, outer(a, b), beta, alpha)


@op("ops.kron(input=x, other=y)")
def kron(x, y):
    """The Kronecker product: each element of x times the whole of y.

    Example:
        >>> print(ops.kron(Tensor([[1, 2]]), Tensor([[1, 10]])))
        [[ 1 10  2 20]]
    """
    return jnp.kron(*promoted(x, y))


@op(
    "ops.cross(input=x, other=y, dim=dim)",
    "Cross(dim=dim)(input=x, other=y)",
    "Tensor.cross(x, other=y, dim=dim)",
    "mint.cross(input=x, other=y, dim=dim)",
)
def cross(x, y, *, dim=None):
    """The cross product of vectors of length 3.

    Args:
        x: any shape with a dimension of length 3.
        y: of the same shape, or one that is repeated to it.
        dim: the dimension of the vectors; None for the first one of length 3.

    Raises:
        ValueError: no axis has length 3.

    Example:
        >>> print(ops.cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
    x, y = jnp.broadcast_arrays(*promoted(x, y))
    axis = dim if dim is not None else (*x.shape, 3).index(3)
    if not -x.ndim <= axis < x.ndim or x.shape[axis] != 3:
        raise ValueError(f"A cross product needs an axis of length 3, but the shape is {x.shape}.")
    return jnp.cross(x, y, axis=axis)


@op("ops.matrix_power(input=x, n=n)", "MatrixPower(n=n)(x)", "Tensor.matrix_power(x, n)")
def matrix_power(x, *, n):
    """A square matrix multiplied n times by itself; a negative n inverts it.

    Example:
        >>> print(ops.matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 3))
        [[1. 3.]
         [0. 1.]]
    """
    return jnp.linalg.matrix_power(x, n)


@op(
    "ops.dense(input=x, weight=weight, bias=bias)",
    "Dense()(input=x, weight=weight, bias=bias)",
    "mint.nn.functional.linear(input=x, weight=weight, bias=bias)",
)
def dense(x, weight, bias=None):
    """The linear map x @ weight.T + bias.

    Args:
        x: [..., K].
        weight: [M, K] or [K], of the same element type; the result is [..., M] or [...].
        bias: what broadcasts to the result, as [M]; None, the default, for none.

    Raises:
        TypeError: the element types differ.
        ValueError: the last length of x and that of the weight differ.

    Example:
        >>> print(ops.dense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), Tensor([10.0])))
        [[21.]]
    """
    _same_dtype(x, weight)
    _fit(x, weight, -1, -1)
    made = lax.dot_general(x, weight, (((x.ndim - 1,), (weight.ndim - 1,)), ((), ())))
    return made if bias is None else made + bias.astype(made.dtype)


@op("ops.cdist(x1=x, x2=y, p=order)", "Cdist(p=order)(x1=x, x2=y)")
def cdist(x, y, *, order=2.0):
    """The distances of all rows of x from all rows of y.

    Args:
        x: [..., N, K].
        y: [..., M, K]; the result is [..., N, M].
        order: the p of the p-norm that measures them, a number from 0, 2 by default; it may be
            infinite.

    Raises:
        ValueError: the lengths of the rows differ.

    Example:
        >>> print(ops.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])))
        [[5.]]
    """
    _fit(x, y, -1, -1)
    if order < 0:
        raise ValueError(f"The p of cdist must not be negative, but {order} was given.")
    return distance(x[..., :, None, :] - y[..., None, :, :], order).astype(x.dtype)
