# SPDX-License-Identifier: Apache-2.0
"""Products of vectors and matrices, and their sizes."""

from __future__ import annotations

from math import inf, isinf

import jax.numpy as jnp

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import op
from mycel.numpy.convert import (
    as_real,
    as_tensor,
    axes_of,
    axis_of,
    broadcast_shape,
    meeting_type,
)
from mycel.numpy.declare import binary
from mycel.ops.math.linear import vector_dot


def _met(*values) -> list[Tensor]:
    """Operands in the type they meet in."""
    tensors = [as_tensor(value, "An operand") for value in values]
    meeting = meeting_type(*tensors)
    return [ops.cast(x, meeting) for x in tensors]


def dot(a, b):
    """The sum of the products over the last axis of a and the last but one of b.

    Example:
        >>> print(ms.numpy.dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    a, b = _met(a, b)
    return vector_dot(a, b) if a.ndim and b.ndim else ops.mul(a, b)


def inner(a, b):
    """The sum of the products over the last axis of both.

    Example:
        >>> print(ms.numpy.inner(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
        [[11.]]
    """
    a, b = _met(a, b)
    return ops.inner(a, b) if a.ndim and b.ndim else ops.mul(a, b)


def outer(a, b):
    """All products of an element of a and an element of b.

    Example:
        >>> print(ms.numpy.outer(Tensor([1, 2]), Tensor([3, 4])))
        [[3 4]
         [6 8]]
    """
    a, b = _met(a, b)
    return ops.outer(ops.reshape(a, (-1,)), ops.reshape(b, (-1,)))


matmul = binary("numpy.matmul(x1, x2, dtype=None)", ops.matmul,
    "The product of matrices, broadcast in front.",
    "matmul(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0]))", "[11.]", _met)  # fmt: skip


def tensordot(a, b, axes=2):
    """The sum of products over pairs of axes.

    Args:
        axes: how many last axes of a meet as many first ones of b; or two sequences of axes.

    Example:
        >>> print(ms.numpy.tensordot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 1))
        11.0
    """
    a, b = _met(a, b)
    return ops.tensor_dot(a, b, axes)


kron = binary("numpy.kron(a, b)", ops.kron,
    "Each element of a times the whole of b, laid out as one matrix.",
    "kron(Tensor([1, 2]), Tensor([1, 10]))", "[ 1 10  2 20]", _met)  # fmt: skip


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of two or three elements.

    Args:
        axisa, axisb: where the vectors of a and b lie.
        axisc: where those of the result go; two of two elements give one number.
        axis: all three of them.

    Example:
        >>> print(ms.numpy.cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _met(a, b)
    a = ops.moveaxis(a, axis_of(axisa, a.ndim, "axisa"), -1)
    b = ops.moveaxis(b, axis_of(axisb, b.ndim, "axisb"), -1)
    if not {a.shape[-1], b.shape[-1]} <= {2, 3}:
        shown = f"{a.shape[-1]} and {b.shape[-1]}"
        raise errors.wrong(ValueError, "The vectors of a cross product", "2 or 3 long", shown)
    flat = a.shape[-1] == b.shape[-1] == 2
    shape = (*broadcast_shape(a.shape[:-1], b.shape[:-1]), 3)
    a, b = (ops.broadcast_to(_with_depth(x), shape) for x in (a, b))
    product = ops.cross(a, b, -1)
    if flat:
        return product[..., 2]
    return ops.moveaxis(product, -1, axis_of(axisc, product.ndim, "axisc"))


def _with_depth(x):
    if x.shape[-1] == 3:
        return x
    return ops.concat((x, ops.zeros((*x.shape[:-1], 1), x.dtype)), -1)


@op()
def chained_product(*matrices):
    """The product of matrices in the order that costs least."""
    return jnp.linalg.multi_dot(matrices)


def multi_dot(arrays):
    """The product of several matrices in the order that costs least.

    The first and the last may be vectors: a row and a column.

    Example:
        >>> print(ms.numpy.multi_dot((Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))))
        [[11.]]
    """
    if isinstance(arrays, Tensor):
        arrays = ops.unbind(arrays, 0)
    if len(arrays) < 2:
        raise errors.wrong(ValueError, "arrays", "at least two matrices", len(arrays))
    return chained_product(_met(*arrays))


def matrix_power(a, n):
    """A square matrix multiplied n times by itself; a negative n inverts it.

    Example:
        >>> print(ms.numpy.matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 3))
        [[1. 3.]
         [0. 1.]]
    """
    a = as_tensor(a, "a")
    if isinstance(n, bool) or not isinstance(n, int):
        raise errors.wrong(TypeError, "n", "an integer", repr(n))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise errors.wrong(ValueError, "a", "square matrices", f"shape {a.shape}")
    return ops.matrix_power(a, n)


def norm(x, ord=None, axis=None, keepdims=False):
    """The size of vectors (one axis) or matrices (two axes); of all elements if neither is given.

    Integers and Float16 vectors give Float32.

    Example:
        >>> print(ms.numpy.norm(Tensor([3.0, 4.0])))
        5.0
    """
    x = as_real(x)
    axes = None if axis is None else axes_of(axis, x.ndim)
    vectors = len(axes) == 1 if axes is not None else ord is None or x.ndim == 1
    if vectors and isinstance(ord, str):
        raise errors.wrong(ValueError, "The order of vectors", "a number", repr(ord))
    if vectors and x.dtype.name == "float16":
        x = ops.cast(x, float32)
    over = tuple(range(x.ndim)) if axes is None else axes
    extremes = (inf, -inf) if vectors else (1, -1, inf, -inf)
    if ord in extremes and len(over) == (1 if vectors else 2):
        return _extreme(ops.abs(x), ord, over, keepdims)
    return ops.norm(x, ord, axes, keepdims)


def _extreme(sizes, ord, axes, keepdims):
    """The largest or smallest size of a vector, or sum of sizes along one axis of a matrix; equal
    ones share its derivative, unlike in `ops.norm`."""
    summed, kept = axes[:-1], axes[-1:]
    if summed and isinf(ord):
        summed, kept = kept, summed
    if summed:
        sizes = sizes.sum(summed, keepdims=True)
    chosen = (ops.amax if ord > 0 else ops.amin)(sizes, kept, True)
    return chosen if keepdims else chosen.squeeze(axes)
