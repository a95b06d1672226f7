# SPDX-License-Identifier: Apache-2.0
"""Differences of neighbours, slopes and areas; polynomials as vectors of coefficients."""

from __future__ import annotations

import math
from typing import Any

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, float64
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.arithmetic import add, divide, multiply, remainder
from mycel.numpy.convert import as_real, as_tensor, axes_of, axis_of, meeting_type
from mycel.numpy.layout import concatenate
from mycel.numpy.reduction import cumsum
from mycel.numpy.signal import convolve


def _cut(x, axis, start, end):
    """The slices of x along `axis` from `start` to before `end`."""
    return x[(slice(None),) * axis + (slice(start, end),)]


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The differences of neighbours along an axis, taken n times.

    Args:
        prepend, append: numbers in front of the first and behind the last element.

    Example:
        >>> print(ms.numpy.diff(Tensor([1, 4, 9])))
        [3 5]
    """
    a = as_tensor(a, "a")
    axis = axis_of(axis, a.ndim)
    if isinstance(n, bool) or not isinstance(n, int):
        raise errors.wrong(TypeError, "n", "an integer", repr(n))
    edge = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    before, behind = ([] if p is None else [_edge(p, a, edge)] for p in (prepend, append))
    if before or behind:
        a = concatenate((*before, a, *behind), axis)
    if not 0 <= n < a.shape[axis]:
        raise errors.wrong(ValueError, "n", f"from 0 to {a.shape[axis] - 1}", n)
    return ops.diff(a, n, axis)


def _edge(value, a, shape):
    value = as_tensor(value, "prepend or append")
    return value if value.ndim == a.ndim else ops.broadcast_to(value, shape)


def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of all neighbouring elements, with what is to stand at both ends.

    Example:
        >>> print(ms.numpy.ediff1d(Tensor([1, 4, 9]), to_end=0))
        [3 5 0]
    """
    ary = ops.reshape(as_tensor(ary, "ary"), (-1,))
    ends = [
        [] if end is None else [ops.cast(ops.reshape(as_tensor(end), (-1,)), ary.dtype)]
        for end in (to_begin, to_end)
    ]
    return concatenate((*ends[0], diff(ary), *ends[1]))


def gradient(f, *varargs, axis=None, edge_order=1) -> Any:
    """The slope along each dimension: central differences, and simple ones at the edges.

    Args:
        varargs: the distance of neighbours, one number for all dimensions or one for each.

    Returns:
        A Tensor for one dimension, a list for several; Float32, of Float64 Float64.

    Example:
        >>> print(ms.numpy.gradient(Tensor([1.0, 4.0, 9.0])))
        [3. 4. 5.]
    """
    if edge_order != 1:
        raise errors.wrong(NotImplementedError, "edge_order", "1", edge_order)
    f = as_tensor(f, "f")
    f = ops.cast(f, float64 if f.dtype is float64 else float32)
    axes = axes_of(axis, f.ndim)
    spaces = varargs * len(axes) if len(varargs) == 1 else varargs or (1,) * len(axes)
    if len(spaces) != len(axes):
        raise errors.wrong(TypeError, "varargs", f"one number or {len(axes)}", len(varargs))
    slopes = [_slope(f, one, space) for one, space in zip(axes, spaces, strict=True)]
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(f, axis, space):
    if f.shape[axis] < 2:
        raise errors.wrong(ValueError, "f", "two elements long in each dimension", f.shape)
    if isinstance(space, Tensor) and space.ndim:
        raise errors.wrong(NotImplementedError, "A distance", "a number", f"shape {space.shape}")
    steps = ops.diff(f, 1, axis)
    middle = ops.mul(ops.add(_cut(steps, axis, None, -1), _cut(steps, axis, 1, None)), 0.5)
    first, last = _cut(steps, axis, None, 1), _cut(steps, axis, -1, None)
    return ops.true_divide(ops.concat((first, middle, last), axis), space)


def trapz(y, x=None, dx=1.0, axis=-1):
    """The area below a line of points: Float32, of Float16 Float16.

    Args:
        x: where the points are; without it they are `dx` apart.

    Example:
        >>> print(ms.numpy.trapz(Tensor([1.0, 2.0, 3.0])))
        4.0
    """
    y = as_tensor(y, "y")
    axis = axis_of(axis, y.ndim)
    y = y if y.dtype.name == "float16" else ops.cast(y, float32)
    return ops.trapz(y, None if x is None else as_tensor(x, "x"), dx=dx, dim=axis)


def unwrap(p, discont=3.141592653589793, axis=-1):
    """Angles without jumps of more than `discont`: whole turns are added. Integers give Float32.

    Example:
        >>> print(ms.numpy.unwrap(Tensor([0.0, 6.0])))
        [ 0.       -0.283185]
    """
    if not isinstance(discont, (int, float)):
        raise errors.wrong(TypeError, "discont", "a number", repr(discont))
    p = as_tensor(p, "p")
    axis = axis_of(axis, p.ndim)
    steps = as_real(ops.diff(p, 1, axis))
    if steps.dtype.name == "float16":
        steps = ops.cast(steps, float32)
    within = ops.sub(remainder(add(steps, math.pi), 2 * math.pi), math.pi)
    upwards = ops.logical_and(ops.equal(within, -math.pi), ops.greater(steps, 0))
    turns = ops.sub(ops.where(upwards, math.pi, within), steps)
    turns = ops.where(ops.less(ops.abs(steps), discont), 0.0, turns)
    return concatenate((_cut(p, axis, None, 1), add(_cut(p, axis, 1, None), cumsum(turns, axis))),
                       axis)  # fmt: skip


def _coefficients(p) -> Tensor:
    """A polynomial: a vector, the highest power first."""
    p = as_tensor(p, "A polynomial")
    if p.ndim > 1:
        raise errors.wrong(ValueError, "A polynomial", "a vector", f"shape {p.shape}")
    return ops.reshape(p, (-1,))


def polyadd(a1, a2):
    """The sum of two polynomials.

    Example:
        >>> print(ms.numpy.polyadd([1, 2], [9, 5, 4]))
        [9 6 6]
    """
    a1, a2 = _coefficients(a1), _coefficients(a2)
    short, long = (a1, a2) if a1.size < a2.size else (a2, a1)
    if short.size == long.size:
        return add(a1, a2)
    more = long.size - short.size
    return concatenate((long[:more], add(long[more:], short)))


def polysub(a1, a2):
    """The difference of two polynomials.

    Example:
        >>> print(ms.numpy.polysub([2, 10, -2], [3, 10, -4]))
        [-1  0  2]
    """
    return polyadd(a1, ops.neg(_coefficients(a2)))


def polymul(a1, a2):
    """The product of two polynomials.

    Example:
        >>> print(ms.numpy.polymul([3, 1, 2], [2, 5]))
        [ 6 17  9 10]
    """
    return convolve(_coefficients(a1), _coefficients(a2))


def polyval(p, x):
    """A polynomial at the places x, Float32, unless p or x is wider.

    Example:
        >>> print(ms.numpy.polyval([3.0, 0.0, 1.0], 5.0))
        76.0
    """
    p, x = _coefficients(p), as_tensor(x, "x")
    meeting = meeting_type(p, x, Tensor(0.0, float32))
    p, x = ops.cast(p, meeting), ops.cast(x, meeting)
    value = ops.zeros_like(x)
    for i in range(p.size):
        value = ops.add(ops.mul(value, x), p[i])
    return value


def polyder(p, m=1):
    """The derivative of a polynomial, taken m times.

    Example:
        >>> print(ms.numpy.polyder([1, 1, 1, 1]))
        [3 2 1]
    """
    p = _coefficients(p)
    if m < 0:
        raise errors.wrong(ValueError, "m", "0 or more", m)
    if m >= p.size:
        return ops.zeros((0,), float32)
    for _ in range(m):
        p = multiply(p[:-1], list(range(p.size - 1, 0, -1)))
    return p


def polyint(p, m=1, k=None):
    """The integral of a polynomial, taken m times; `k` are the constants, 0 by default.

    Example:
        >>> print(ms.numpy.polyint([3, 2, 1]))
        [1. 1. 1. 0.]
    """
    p = _coefficients(p)
    if m < 0:
        raise errors.wrong(ValueError, "m", "0 or more", m)
    constants = ops.reshape(as_tensor(0 if k is None else k, "k"), (-1,))
    if constants.size not in (1, m):
        raise errors.wrong(ValueError, "k", f"one number or {m}", constants.size)
    for i in range(m):
        constant = constants[i : i + 1] if constants.size > 1 else constants
        p = concatenate((divide(p, list(range(p.size, 0, -1))), constant))
    return p
