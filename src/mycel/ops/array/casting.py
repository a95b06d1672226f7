# SPDX-License-Identifier: Apache-2.0
"""The same values in another element type."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import dtypes as types
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.trees import tree_map
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.spell import composite, op


@op(rearranges=True)
def convert(x, *, dtype):
    """x in the element type of this name; what `cast` records."""
    target = jnp.dtype(dtype)
    if target.kind in "iu" and x.dtype.kind in "fV":
        return _whole(x, target)
    return x.astype(target)


def _whole(x, target):
    """Real numbers as integers: those out of range wrap as they do on a processor."""
    small = target.itemsize < 4 or target == np.int32
    wide = np.iinfo(np.int32 if small else np.int64)
    # A processor answers with its smallest integer beyond the range of its registers.
    inside = (x >= float(wide.min)) & (x < -float(wide.min))
    whole = jnp.where(inside, x, 0).astype(wide.dtype)
    return jnp.where(inside, whole, wide.min).astype(target)


@composite("ops.cast(input=x, dtype=dtype)", "Cast()(input_x=x, dtype=dtype)")
def cast(x, dtype):
    """x in another element type; a Tensor that has it already is returned as it is.

    Real numbers are truncated towards zero on becoming integers; zero is False, all else True.

    Raises:
        TypeError: `dtype` is not an element type.

    Example:
        >>> ops.cast(Tensor([1.5, -1.5]), mycel.int32)
        Tensor(shape=[2], dtype=Int32, value= [ 1, -1])
    """
    if dtype is None:
        raise TypeError("An element type is needed, such as mycel.float32, but None was given.")
    target = as_dtype(dtype)
    if not isinstance(x, Tensor):
        x = Tensor(x)
    if x.dtype is target:
        return x
    return convert(x, target.name)


_AS_IN_NUMPY = {
    float: types.float64,
    **dict.fromkeys(("float", "float_"), types.float64),
    **dict.fromkeys(("int", "int_"), types.int64),
}


@composite("Tensor.astype(x, dtype, copy=copy)")
def astype(x, dtype, copy=True):
    """x in another element type.

    Args:
        x: any shape.
        dtype: a DType, a NumPy dtype, a Python type or a name; Python's own `float` and "float"
            mean Float64, `int` and "int" Int64, as in NumPy.
        copy: whether to make a new Tensor even if `x` has this type already.

    Raises:
        TypeError: `dtype` is not an element type.

    Example:
        >>> Tensor([1.5, -1.5]).astype("int32")
        Tensor(shape=[2], dtype=Int32, value= [ 1, -1])
    """
    dtype = _AS_IN_NUMPY.get(dtype, dtype) if isinstance(dtype, (str, type)) else dtype
    result = cast(x, dtype)
    return new_tensor(resolve(result)) if result is x and copy else result


@composite("Tensor.type(x, dtype)")
def to_type(x, dtype=None) -> Any:
    """The name of the element type of x, or x in another one.

    Example:
        >>> Tensor([1.5]).type()
        'Float32'
    """
    return str(x.dtype) if dtype is None else astype(x, dtype)


@composite("ops.type_as(input=x, other=other)", "Tensor.type_as(x, other)")
def type_as(x, other):
    """x in the element type of another Tensor.

    Example:
        >>> Tensor([1.5]).type_as(Tensor([1]))
        Tensor(shape=[1], dtype=Int64, value= [1])
    """
    return cast(x, other.dtype)


@composite("Tensor.bool(x)")
def to_bool(x):
    """x as Bool.

    Example:
        >>> Tensor([1.5, 0.0]).bool()
        Tensor(shape=[2], dtype=Bool, value= [ True, False])
    """
    return astype(x, types.bool_)


@composite("Tensor.byte(x)")
def to_uint8(x):
    """x as UInt8.

    Example:
        >>> Tensor([1.5, 0.0]).byte()
        Tensor(shape=[2], dtype=UInt8, value= [1, 0])
    """
    return astype(x, types.uint8)


@composite("Tensor.short(x)")
def to_int16(x):
    """x as Int16.

    Example:
        >>> Tensor([1.5, 0.0]).short()
        Tensor(shape=[2], dtype=Int16, value= [1, 0])
    """
    return astype(x, types.int16)


@composite("Tensor.int(x)")
def to_int32(x):
    """x as Int32.

    Example:
        >>> Tensor([1.5, 0.0]).int()
        Tensor(shape=[2], dtype=Int32, value= [1, 0])
    """
    return astype(x, types.int32)


@composite("Tensor.long(x)")
def to_int64(x):
    """x as Int64.

    Example:
        >>> Tensor([1.5, 0.0]).long()
        Tensor(shape=[2], dtype=Int64, value= [1, 0])
    """
    return astype(x, types.int64)


@composite("Tensor.half(x)")
def to_float16(x):
    """x as Float16.

    Example:
        >>> Tensor([1.5, 0.0]).half()
        Tensor(shape=[2], dtype=Float16, value= [ 1.5000e+00,  0.0000e+00])
    """
    return astype(x, types.float16)


@composite("Tensor.bfloat16(x)")
def to_bfloat16(x):
    """x as BFloat16.

    Example:
        >>> Tensor([1.5, 0.0]).bfloat16()
        Tensor(shape=[2], dtype=BFloat16, value= [1.5,   0])
    """
    return astype(x, types.bfloat16)


@composite("Tensor.float(x)")
def to_float32(x):
    """x as Float32.

    Example:
        >>> Tensor([1.5, 0.0]).float()
        Tensor(shape=[2], dtype=Float32, value= [ 1.50000000e+00,  0.00000000e+00])
    """
    return astype(x, types.float32)


@composite("Tensor.double(x)")
def to_float64(x):
    """x as Float64.

    Example:
        >>> Tensor([1.5, 0.0]).double()
        Tensor(shape=[2], dtype=Float64, value= [ 1.50000000e+00,  0.00000000e+00])
    """
    return astype(x, types.float64)


@composite("ops.is_floating_point(input=x)", "Tensor.is_floating_point(x)")
def is_floating_point(x) -> bool:
    """Whether x holds real numbers.

    Example:
        >>> ops.is_floating_point(Tensor([1.0]))
        True
    """
    return x.dtype.is_floating


@composite("ops.is_complex(input=x)", "Tensor.is_complex(x)")
def is_complex(x) -> bool:
    """Whether x holds complex numbers.

    Example:
        >>> ops.is_complex(Tensor([1.0]))
        False
    """
    return x.dtype.is_inexact and not x.dtype.is_floating


@composite("Tensor.is_signed(x)")
def is_signed(x) -> bool:
    """Whether the element type of x has negative numbers.

    Example:
        >>> Tensor([1], mycel.uint8).is_signed()
        False
    """
    return x.dtype.numpy.kind not in "bu"


def mixed_precision_cast(dst_dtype: Any, x: Any) -> Any:
    """The real Tensors of nested tuples in another element type; other things as they are.

    Source: MindSpore's `mindspore.ops.mixed_precision_cast`.

    Example:
        >>> half, count = ops.mixed_precision_cast(mycel.float16, (Tensor(1.0), Tensor(2)))
        >>> half.dtype, count.dtype
        (mindspore.float16, mindspore.int64)
    """
    target = as_dtype(dst_dtype)

    def converted(leaf):
        is_real = isinstance(leaf, Tensor) and leaf.dtype.name.startswith(("float", "bfloat"))
        return leaf.astype(target) if is_real else leaf

    return tree_map(converted, x)
