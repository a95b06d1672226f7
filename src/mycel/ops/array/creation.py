# SPDX-License-Identifier: Apache-2.0
"""New Tensors: filled with one value, counting, spaced. Sizes are static, values are inputs."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import DType, as_dtype, float32, int64
from mycel.kernel.record.data import LARGEST, check_fits
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.math.powers import pow


def as_size(size) -> tuple[int, ...]:
    """A shape given as a number, as numbers or as a Tensor of them.

    Raises:
        TypeError: a length is not an integer.
        ValueError: a length is negative.
    """
    if isinstance(size, Tensor):
        size = size.tolist()
    lengths = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    sizes = []
    for length in lengths:
        if isinstance(length, (bool, float, str)) or not hasattr(length, "__index__"):
            raise TypeError(f"A length must be an integer, but {length!r} was given in {size!r}.")
        sizes.append(length.__index__())
    if any(length < 0 for length in sizes):
        raise ValueError(f"Lengths must not be negative, but {size!r} was given.")
    return tuple(sizes)


@op()
def filled(value, *, shape, dtype):
    """One value everywhere; what `full` and its like record."""
    return jnp.full(shape, value, np.dtype(jnp.dtype(dtype)))


@op()
def constant(*, shape, dtype, value):
    """A written-down value everywhere; what `zeros` and `ones` record."""
    return jnp.full(shape, value, np.dtype(jnp.dtype(dtype)))


def _element(dtype, otherwise: DType) -> str:
    return (otherwise if dtype is None else as_dtype(dtype)).name


@composite(
    "ops.zeros(size, dtype=dtype)", "Zeros()(size, dtype=dtype)", "mint.zeros(size, dtype=dtype)"
)
def zeros(size, dtype=None):
    """Zeros in a shape.

    Args:
        size: the shape: a number, a sequence of numbers or a Tensor of them.
        dtype: the element type; None for Float32.

    Raises:
        TypeError: a length is not an integer.
        ValueError: a length is negative.

    Example:
        >>> ops.zeros((2, 3), mycel.int32).shape
        (2, 3)
    """
    return constant(as_size(size), _element(dtype, float32), 0)


@composite(
    "ops.ones(shape, dtype=dtype)",
    "Ones()(shape, dtype=dtype)",
    "mint.ones(size=shape, dtype=dtype)",
)
def ones(shape, dtype=None):
    """Ones in a shape.

    Args:
        shape: a number, a sequence of numbers or a Tensor of them.
        dtype: the element type; None for Float32.

    Raises:
        TypeError: a length is not an integer.
        ValueError: a length is negative.

    Example:
        >>> print(ops.ones(2))
        [1. 1.]
    """
    return constant(as_size(shape), _element(dtype, float32), 1)


@composite("mint.empty(*lengths, dtype=dtype, device=device, pin_memory=pin_memory, size=size)")
def empty(lengths=(), dtype=None, device=None, pin_memory=False, size=None):
    """A Tensor of this shape whose values mean nothing (here: zeros).

    Args:
        lengths: the shape: numbers one after another, or one sequence or Tensor of them.
        dtype: the element type; None for Float32.
        device, pin_memory: no effect.
        size: all of them, by keyword.

    Example:
        >>> mint.empty(2, 3).shape
        (2, 3)
    """
    del device, pin_memory  # XLA places arrays itself.
    return zeros(lengths if size is None else size, dtype)


def _number_kind(value) -> DType:
    """The type a number has by itself."""
    if isinstance(value, Tensor):
        return value.dtype
    return as_dtype(type(value)) if isinstance(value, (bool, int, float, complex)) else float32


@composite("ops.full(size, fill_value, dtype=dtype)")
def full(size, fill_value, dtype=None):
    """One value in a shape.

    Args:
        size: the shape: a tuple or list of numbers.
        fill_value: a number, or a Tensor without dimensions; it may vary without recompiling.
        dtype: the element type; None for Int64.

    Raises:
        TypeError: `size` is not a tuple or list, or `fill_value` not a number.

    Example:
        >>> print(ops.full((2,), 3, dtype=mycel.float32))
        [3. 3.]
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"The size must be a tuple or list of integers, but {size!r} was given.")
    return fill(dtype or int64, size, fill_value)


@composite("mint.full(size, fill_value, dtype=dtype)")
def mint_full(size, fill_value, dtype=None):
    """One value in a shape.

    Args:
        size: the shape: a number, a sequence of numbers or a Tensor of them.
        fill_value: a number, or a Tensor without dimensions.
        dtype: the element type; None for that of `fill_value`.

    Example:
        >>> print(mint.full((2,), 1.5))
        [1.5 1.5]
    """
    return fill(dtype or _number_kind(fill_value), size, fill_value)


@composite("ops.fill(type=dtype, shape=shape, value=value)", "Fill()(dtype, dims=shape, x=value)")
def fill(dtype, shape, value):
    """One value in a shape and an element type.

    Args:
        dtype: the element type; None for that of `value`.
        shape: a number, a sequence of numbers or a Tensor of them.
        value: a number, or a Tensor without dimensions.

    Raises:
        TypeError: `value` is not a number.

    Example:
        >>> print(ops.fill(mycel.int32, (2,), 1.7))
        [1 1]
    """
    if not isinstance(value, (bool, int, float, complex, Tensor, np.generic)):
        raise TypeError(f"The value must be a number, but {value!r} was given.")
    element = _element(dtype, _number_kind(value))
    if isinstance(value, int):
        check_fits(value, as_dtype(element))
        if value > LARGEST:  # a number of Python is an Int64
            value = np.uint64(value)
    return filled(value, as_size(shape), element)


@composite("FillV2()(shape, value)")
def fill_like_value(shape, value):
    """A Tensor without dimensions repeated in a shape.

    Example:
        >>> print(ops.FillV2()((2,), Tensor(1.5)))
        [1.5 1.5]
    """
    return fill(None, shape, value)


@composite(
    "ops.zeros_like(input=x, dtype=dtype)",
    "ZerosLike()(x)",
    "mint.zeros_like(input=x, dtype=dtype)",
)
def zeros_like(x, dtype=None):
    """Zeros in the shape and element type of x.

    Example:
        >>> print(ops.zeros_like(Tensor([1, 2])))
        [0 0]
    """
    return constant(x.shape, _element(dtype, x.dtype), 0)


@composite(
    "ops.ones_like(input=x, dtype=dtype)",
    "OnesLike()(x)",
    "mint.ones_like(input=x, dtype=dtype)",
)
def ones_like(x, dtype=None):
    """Ones in the shape and element type of x.

    Example:
        >>> print(ops.ones_like(Tensor([1, 2])))
        [1 1]
    """
    return constant(x.shape, _element(dtype, x.dtype), 1)


@composite(
    "ops.full_like(input=x, fill_value=value, dtype=dtype)",
    "mint.full_like(input=x, fill_value=value, dtype=dtype)",
)
def full_like(x, value, dtype=None):
    """One value in the shape of x.

    Args:
        x: any shape.
        value: a number, or a Tensor without dimensions.
        dtype: the element type; None for that of `x`.

    Example:
        >>> print(ops.full_like(Tensor([1, 2]), 7))
        [7 7]
    """
    return fill(dtype or x.dtype, x.shape, value)


@composite("mint.empty_like(input=x, dtype=dtype, device=device, pin_memory=pin_memory)")
def empty_like(x, dtype=None, device=None, pin_memory=False):
    """A Tensor of the shape of x whose values mean nothing (here: zeros).

    Args:
        x: any shape.
        dtype: the element type; None for that of `x`.
        device, pin_memory: no effect.

    Example:
        >>> mint.empty_like(Tensor([1, 2])).shape
        (2,)
    """
    del device, pin_memory  # XLA places arrays itself.
    return zeros_like(x, dtype)


@composite("Tensor.fill(x, value)", "ops.fills(x, value)", "Tensor.fills(x, value)")
def fill_method(x, value):
    """A Tensor like x, filled with one value.

    Example:
        >>> print(Tensor([1, 2]).fill(7))
        [7 7]
    """
    return full_like(x, value)


@composite("Tensor.new_zeros(x, size, dtype=dtype)")
def new_zeros(x, size, dtype=None):
    """Zeros in a shape.

    Args:
        x: any shape; only its element type counts.
        size: the shape: a number, a sequence of numbers or a Tensor of them.
        dtype: the element type; None for that of `x`.

    Example:
        >>> print(Tensor([1, 2]).new_zeros(3))
        [0 0 0]
    """
    return zeros(size, dtype or x.dtype)


@composite("Tensor.new_ones(x, size, dtype=dtype)")
def new_ones(x, size, dtype=None):
    """Ones in a shape.

    Args:
        x: any shape; only its element type counts.
        size: the shape: a number, a sequence of numbers or a Tensor of them.
        dtype: the element type; None for that of `x`.

    Example:
        >>> print(Tensor([1, 2]).new_ones(3))
        [1 1 1]
    """
    return ones(size, dtype or x.dtype)


@composite("Tensor.new_full(x, size, fill_value, dtype=dtype)")
def new_full(x, size, fill_value, dtype=None):
    """One value in a shape.

    Args:
        x: any shape; only its element type counts.
        size: the shape: a number, a sequence of numbers or a Tensor of them.
        fill_value: a number, or a Tensor without dimensions.
        dtype: the element type; None for that of `x`.

    Example:
        >>> print(Tensor([1, 2]).new_full((3,), 7))
        [7 7 7]
    """
    return fill(dtype or x.dtype, size, fill_value)


@composite("Tensor.new_empty(x, size, dtype=dtype, device=device)")
def new_empty(x, size, dtype=None, device=None):
    """A Tensor of this shape whose values mean nothing (here: zeros).

    Args:
        x: any shape; only its element type counts.
        size: the shape: a number, a sequence of numbers or a Tensor of them.
        dtype: the element type; None for that of `x`.
        device: no effect.

    Example:
        >>> Tensor([1, 2]).new_empty((3,)).shape
        (3,)
    """
    del device  # XLA places arrays itself.
    return zeros(size, dtype or x.dtype)


@op()
def eye_values(*, rows, columns, dtype):
    """Ones on the diagonal; what `eye` records."""
    return jnp.eye(rows, columns, dtype=np.dtype(jnp.dtype(dtype)))


@composite("ops.eye(n, m=m, dtype=dtype)", "Eye()(n, m, dtype)", "mint.eye(n, m=m, dtype=dtype)")
def eye(n, m=None, dtype=None):
    """Ones on the main diagonal of a matrix, zeros elsewhere.

    Args:
        n: the number of rows.
        m: the number of columns; None for `n`.
        dtype: the element type; None for Float32.

    Raises:
        TypeError, ValueError: n or m is not an integer, or negative.

    Example:
        >>> print(ops.eye(2, 3))
        [[1. 0. 0.]
         [0. 1. 0.]]
    """
    rows, columns = as_size((n, n if m is None else m))
    return eye_values(rows, columns, _element(dtype, float32))


@op()
def counted(start, step, *, length, dtype):
    """start, start + step, …; what `arange` records."""
    target = np.dtype(jnp.dtype(dtype))
    exact = target if target.kind in "iufc" else np.dtype(np.float32)
    steps = lax.iota(exact, length) * step.astype(exact)
    return (start.astype(exact) + steps).astype(target)


def _plain(number):
    """The Python number that decides a length; of a Tensor it is read, and guarded."""
    return number.item() if isinstance(number, Tensor) else number


def _count(start, end, step) -> int:
    if step == 0:
        raise ValueError("The step must not be 0.")
    if (end - start) * step < 0:
        raise ValueError(f"Steps of {step} do not lead from {start} to {end}.")
    return math.ceil((end - start) / step)


@composite(
    "ops.arange(start=(start, 0), end=end, step=(step, 1), dtype=dtype)",
    "mint.arange(start=(start, 0), end=end, step=(step, 1), dtype=dtype)",
)
def arange(start=0, end=None, step=1, dtype=None):
    """Evenly spaced numbers from `start` up to, not including, `end`.

    Args:
        start: the first number; without an `end`, the end of numbers from 0. A Tensor is read.
        end: where the numbers stop, itself not among them; None makes `start` the end. A Tensor is
            read.
        step: the distance of neighbours, not 0. A Tensor is read.
        dtype: the element type; None for that of the first Tensor among the three numbers; if none
            is a Tensor, for Float32 where one is a float, else Int64.

    Raises:
        ValueError: the step is 0 or leads away from `end`.

    Example:
        >>> print(ops.arange(1, 6, 2))
        [1 3 5]
    """
    if end is None:
        start, end = 0, start
    bounds = (start, end, step)
    tensors = [n.dtype for n in bounds if isinstance(n, Tensor)]
    real = any(isinstance(n, float) for n in bounds)
    natural = tensors[0] if tensors else float32 if real else int64
    length = _count(*map(_plain, bounds))
    element = _element(dtype, natural)
    if length and isinstance(start, int) and isinstance(step, int):
        for number in (start, start + (length - 1) * step):
            check_fits(number, as_dtype(element))
    return counted(start, step, length, element)


@composite("ops.range(start, end, step, maxlen=maxlen)", "Range(maxlen=maxlen)(start, end, step)")
def range_of(start, end, step, maxlen=1000000):
    """Numbers from `start` to before `end`.

    Args:
        start: the first number. A Tensor is read.
        end: where the numbers stop, itself not among them. A Tensor is read.
        step: the distance of neighbours, not 0. A Tensor is read.
        maxlen: the greatest length allowed.

    Raises:
        ValueError: the step is 0 or leads away from `end`, or there are more than `maxlen`.

    Example:
        >>> print(ops.range(0, 6, 2))
        [0 2 4]
    """
    numbers = arange(start, end, step)
    if numbers.size > maxlen:
        raise ValueError(f"{numbers.size} numbers are more than maxlen={maxlen}.")
    return numbers


@op()
def linspace_values(start, end, *, steps, dtype):
    """Evenly spaced numbers; what `linspace` records."""
    target = np.dtype(jnp.dtype(dtype))
    exact = target if target.kind == "f" else np.dtype(np.float32)
    return jnp.linspace(start.astype(exact), end.astype(exact), steps, dtype=exact).astype(target)


@composite(
    "ops.linspace(start, end, steps)",
    "LinSpace()(start, stop=end, num=steps)",
    "mint.linspace(start, end, steps, dtype=dtype)",
)
def linspace(start, end, steps, dtype=None):
    """`steps` evenly spaced numbers from `start` to `end`, both included.

    Args:
        start: the first number, or a Tensor without dimensions.
        end: the last number, or a Tensor without dimensions.
        steps: how many numbers, from 1. A Tensor is read.
        dtype: the element type; None for that of `start` if it is a Tensor of real numbers, else
            Float32.

    Raises:
        ValueError: fewer than one step.

    Example:
        >>> print(ops.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    count = _plain(steps)
    if count < 1:
        raise ValueError(f"There must be at least one step, but {count} was given.")
    natural = start.dtype if isinstance(start, Tensor) and start.dtype.is_floating else float32
    return linspace_values(start, end, count, _element(dtype, natural))


@composite(
    "ops.logspace(start, end, steps, base=base, dtype=dtype)",
    "LogSpace(steps=(steps, 10), base=base, dtype=dtype)(start, end)",
)
def logspace(start, end, steps, base=10, dtype=float32):
    """`base` to evenly spaced powers from `start` to `end`.

    Args:
        start: the first exponent, a number or a Tensor without dimensions.
        end: the last exponent, a number or a Tensor without dimensions.
        steps: how many numbers, from 1. A Tensor is read.
        base: a number.
        dtype: the element type, a real one.

    Example:
        >>> print(ops.logspace(0, 2, 3))
        [  1.  10. 100.]
    """
    return pow(mint_full((), base, dtype), linspace(start, end, steps, dtype))


@composite(
    "ops.scalar_to_tensor(input_x=number, dtype=dtype)",
    "ScalarToTensor()(x=number, dtype=dtype)",
)
def scalar_to_tensor(number, dtype=float32):
    """A Tensor without dimensions; Float32 unless another `dtype` is given.

    Example:
        >>> ops.scalar_to_tensor(3)
        Tensor(shape=[], dtype=Float32, value= 3)
    """
    return Tensor(number, dtype)


@op()
def triangle_indices(*, rows, columns, offset, upper, dtype):
    """Row and column numbers of a triangle, (2, count)."""
    find = np.triu_indices if upper else np.tril_indices
    return jnp.array(np.stack(find(rows, offset, columns)), np.dtype(jnp.dtype(dtype)))


@composite(
    "ops.tril_indices(row, col, offset=offset, dtype=dtype)",
    "TrilIndices(row, col, offset=offset, dtype=(dtype, 'int32'))()",
)
def tril_indices(row, col, offset=0, dtype=int64):
    """Row and column numbers of the lower triangle of a [row, col] matrix, [2, count].

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: the highest diagonal that belongs to the triangle, counted upwards from the main
            one.
        dtype: the element type, an integer one.

    Example:
        >>> print(ops.tril_indices(2, 2))
        [[0 1 1]
         [0 0 1]]
    """
    return triangle_indices(row, col, offset, False, _element(dtype, int64))


@composite(
    "ops.triu_indices(row, col, offset=offset, dtype=dtype)",
    "TriuIndices(row, col, offset=offset, dtype=(dtype, 'int32'))()",
)
def triu_indices(row, col, offset=0, dtype=int64):
    """Row and column numbers of the upper triangle of a [row, col] matrix, [2, count].

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: the lowest diagonal that belongs to the triangle, counted upwards from the main one.
        dtype: the element type, an integer one.

    Example:
        >>> print(ops.triu_indices(2, 2))
        [[0 0 1]
         [0 1 1]]
    """
    return triangle_indices(row, col, offset, True, _element(dtype, int64))


@op("Fills()(x, value)")
def fills(x, value):
    """A Tensor of the shape and type of x with one number everywhere.

    Example:
        >>> print(ops.Fills()(Tensor([1, 2]), 7))
        [7 7]
    """
    return jnp.full_like(x, value.astype(x.dtype))
