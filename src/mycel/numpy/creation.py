# SPDX-License-Identifier: Apache-2.0
"""New Tensors: from Python data, filled with one value, counting, spaced, random."""

from __future__ import annotations

from typing import Any

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import as_dtype, float32, int32
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import (
    as_tensor,
    axis_of,
    broadcast_shape,
    element,
    in_type,
)
from mycel.ops.array.creation import as_size

_REAL = ("float16", "float32", "float64")
_WHOLE = ("int8", "int16", "int32", "int64")


def array(obj, dtype=None, copy=True, ndmin=0):
    """A Tensor of the data, with at least `ndmin` dimensions; ints give Int32, floats Float32.

    Example:
        >>> print(ms.numpy.array([1, 2], ndmin=2))
        [[1 2]]
    """
    result = asarray(obj, dtype)
    if result.ndim < ndmin:
        result = ops.reshape(result, (1,) * (ndmin - result.ndim) + result.shape)
    return ops.identity(result) if copy and result is obj else result


def asarray(a, dtype=None):
    """The data as a Tensor; a Tensor that has the type already is returned as it is.

    Example:
        >>> ms.numpy.asarray([1.0, 2.0]).dtype
        mindspore.float32
    """
    if dtype is not None and not isinstance(a, (Tensor, list, tuple)):
        return Tensor(a, element(dtype))
    return in_type(as_tensor(a, "a"), dtype)


def asfarray(a, dtype=float32):
    """The data as a Tensor of real numbers: Float32, unless another real type is asked for.

    Example:
        >>> print(ms.numpy.asfarray([1, 2]))
        [1. 2.]
    """
    if dtype is None:
        return asarray(a)
    kind = element(dtype)
    return asarray(a, kind if kind.name in _REAL else float32)


def copy(a):
    """The same values in a Tensor of their own.

    Example:
        >>> print(ms.numpy.copy([1, 2]))
        [1 2]
    """
    return ops.identity(as_tensor(a, "a"))


def zeros(shape, dtype=float32):
    """Zeros in a shape.

    Example:
        >>> print(ms.numpy.zeros((2, 2), ms.int32))
        [[0 0]
         [0 0]]
    """
    return ops.zeros(shape, element(dtype or float32))


def ones(shape, dtype=float32):
    """Ones in a shape.

    Example:
        >>> print(ms.numpy.ones(2))
        [1. 1.]
    """
    return ops.ones(shape, element(dtype or float32))


def empty(shape, dtype=float32):
    """A Tensor of this shape whose values mean nothing (here: zeros).

    Example:
        >>> ms.numpy.empty((2, 3)).shape
        (2, 3)
    """
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None):
    """One value, or what can be broadcast, in a shape; in its own type unless `dtype` is given.

    Example:
        >>> print(ms.numpy.full((2, 2), [1, 2]))
        [[1 2]
         [1 2]]
    """
    if isinstance(fill_value, (bool, int, float)):
        natural = {bool: "bool", int: "int32"}.get(type(fill_value), "float32")
        return ops.fill(element(dtype or natural), shape, fill_value)
    filled = in_type(as_tensor(fill_value, "fill_value"), dtype)
    return ops.broadcast_to(filled, as_size(shape))


def _like(a, dtype, shape):
    """Shape and type of a new Tensor that is made after another."""
    model = as_tensor(a, "a")
    return (model.shape if shape is None or shape in ((), []) else shape), dtype or model.dtype


def zeros_like(a, dtype=None, shape=None):
    """Zeros in the shape and type of another Tensor.

    Example:
        >>> print(ms.numpy.zeros_like(Tensor([1, 2])))
        [0 0]
    """
    return zeros(*_like(a, dtype, shape))


def ones_like(a, dtype=None, shape=None):
    """Ones in the shape and type of another Tensor.

    Example:
        >>> print(ms.numpy.ones_like(Tensor([1.5, 2.5])))
        [1. 1.]
    """
    return ones(*_like(a, dtype, shape))


def empty_like(prototype, dtype=None, shape=None):
    """A Tensor like another whose values mean nothing (here: zeros).

    Example:
        >>> ms.numpy.empty_like(Tensor([1, 2])).dtype
        mindspore.int64
    """
    return zeros(*_like(prototype, dtype, shape))


def full_like(a, fill_value, dtype=None, shape=None):
    """One value in the shape and type of another Tensor.

    Example:
        >>> print(ms.numpy.full_like(Tensor([1, 2]), 7))
        [7 7]
    """
    shape, dtype = _like(a, dtype, shape)
    return full(shape, fill_value, dtype)


def arange(start, stop=None, step=None, dtype=None):
    """Numbers from `start` to before `stop`; of one number alone, from 0 to before it.

    Python integers give Int32, anything else Float32. The values of Tensors are read.

    Example:
        >>> print(ms.numpy.arange(1, 6, 2), ms.numpy.arange(1.5))
        [1 3 5] [0. 1.]
    """
    bounds = [n for n in (start, stop, step) if n is not None]
    whole = all(isinstance(n, int) for n in bounds)
    kind = as_dtype(dtype) if dtype is not None else int32 if whole else float32
    start, stop = (0, start) if stop is None else (start, stop)
    numbers = [n.item() if isinstance(n, Tensor) else n for n in (start, stop, step or 1)]
    if step == 0:
        raise errors.wrong(ValueError, "step", "a number other than 0", step)
    if (numbers[1] - numbers[0]) * numbers[2] <= 0:
        return zeros(0, kind)
    return ops.arange(*numbers, dtype=kind)


def _bounds(start, stop, num, endpoint):
    """Where a spacing begins and ends, in one shape, as Float32 unless they are Tensors."""
    if isinstance(num, bool) or not isinstance(num, int):
        raise errors.wrong(TypeError, "num", "an integer", repr(num))
    if num < 1:
        raise errors.wrong(ValueError, "num", "at least 1", num)
    if not isinstance(endpoint, bool):
        raise errors.wrong(TypeError, "endpoint", "True or False", repr(endpoint))
    ends = [n if isinstance(n, Tensor) else asarray(n, float32) for n in (start, stop)]
    shape = broadcast_shape(*(n.shape for n in ends))
    return [n if n.shape == shape else ops.broadcast_to(n, shape) for n in ends]


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`, Float32; on demand also the step.

    Args:
        endpoint: whether `stop` is the last of them.
        axis: where the new dimension goes, if start or stop have dimensions.

    Example:
        >>> print(ms.numpy.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    begin, end = _bounds(start, stop, num, endpoint)
    axis = axis_of(axis, begin.ndim + 1)
    parts = max(num - 1 if endpoint else num, 1)
    step = ops.true_divide(ops.sub(end, begin), parts)
    count = ops.reshape(ops.arange(num, dtype=float32), (num,) + (1,) * (begin.ndim - axis))
    first, each = ops.expand_dims(begin, axis), ops.expand_dims(step, axis)
    numbers = ops.add(first, ops.mul(count, each))
    if endpoint and num > 1:
        # What rounding has left is taken away from the last number.
        last = ops.equal(count, num - 1)
        numbers = ops.where(last, ops.expand_dims(end, axis), numbers)
    numbers = in_type(numbers, dtype or float32)
    if not retstep:
        return numbers
    return numbers, (float("nan") if num == 1 and endpoint else step)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> Any:
    """`base` to the power of `num` evenly spaced numbers from `start` to `stop`, Float32.

    Example:
        >>> print(ms.numpy.logspace(0, 2, 3))
        [  1.  10. 100.]
    """
    if not isinstance(base, (int, float)):
        raise errors.wrong(TypeError, "base", "a number", repr(base))
    powers = linspace(start, stop, num, endpoint, axis=axis)
    return in_type(ops.pow(float(base), powers), dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from `start` to `stop` with one ratio between neighbours, Float32.

    Example:
        >>> print(ms.numpy.geomspace(1, 8, 4))
        [1. 2. 4. 8.]
    """
    begin, end = _bounds(start, stop, num, endpoint)
    axis = axis_of(axis, begin.ndim + 1)
    shares = linspace(0.0, 1.0, num, endpoint)
    shares = ops.reshape(shares, (num,) + (1,) * (begin.ndim - axis))
    ratio = ops.expand_dims(ops.true_divide(end, begin), axis)
    numbers = ops.mul(ops.expand_dims(begin, axis), ops.pow(ratio, shares))
    return in_type(numbers, dtype or float32)


def _drawn_shape(shape) -> tuple[int, ...]:
    if not shape:
        return (1,)
    return as_size(shape[0] if len(shape) == 1 else shape)


def _one_of(dtype, names, function: str):
    kind = element(dtype)
    if kind.name not in names:
        expected = f"one of {', '.join(names)}"
        raise errors.wrong(ValueError, f"The dtype of {function}", expected, dtype)
    return kind


def rand(*shape, dtype=float32):
    """Numbers from 0 to before 1, equally likely; without a shape, one.

    Example:
        >>> ms.numpy.rand(2, 3).shape
        (2, 3)
    """
    return ops.rand(_drawn_shape(shape), dtype=_one_of(dtype, _REAL, "rand"))


def randn(*shape, dtype=float32):
    """Normally distributed numbers of mean 0 and standard deviation 1; without a shape, one.

    Example:
        >>> ms.numpy.randn((2, 3)).shape
        (2, 3)
    """
    return ops.randn(_drawn_shape(shape), dtype=_one_of(dtype, _REAL, "randn"))


def randint(minval, maxval=None, shape=None, dtype=int32):
    """Integers from `minval` to before `maxval`; of one number alone, from 0 to before it.

    Example:
        >>> ms.numpy.randint(5, shape=(2, 3)).dtype
        mindspore.int32
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    for name, number in (("minval", low), ("maxval", high)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise errors.wrong(TypeError, name, "an integer", repr(number))
    if low >= high:
        raise errors.wrong(ValueError, "maxval", f"above {low}", high)
    size = (1,) if shape is None else as_size(shape)
    return ops.randint(low, high, size, dtype=_one_of(dtype, _WHOLE, "randint"))
