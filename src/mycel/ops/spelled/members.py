# SPDX-License-Identifier: Apache-2.0
"""What a Tensor tells and keeps beside its values: steps, bytes, hints and hooks."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older
from mycel.kernel.base.structure import changed_everywhere
from mycel.kernel.record.stream import demand, local
from mycel.kernel.record.tensor import Tensor, look, resolve, update
from mycel.kernel.spell import add_member, composite

# -- where the elements lie ----------------------------------------------------------------------


@composite("Tensor.stride")
def stride(x, dim=None) -> Any:
    """How many elements lie from one to the next of a dimension, or of each: in C order.

    What was transposed is laid out anew here, so that it has the steps of its own shape.

    Raises:
        IndexError: there is no such dimension.

    Example:
        >>> x = Tensor([[1, 2, 3], [4, 5, 6]])
        >>> x.stride(), x.stride(0)
        ([3, 1], 3)
    """
    steps = [prod(x.shape[position + 1 :]) for position in range(x.ndim)]
    if dim is None:
        return steps
    if not isinstance(dim, int) or not -x.ndim <= dim < x.ndim:
        raise wrong(IndexError, "stride: dim", f"a dimension of a Tensor {x.shape}", repr(dim))
    return steps[dim]


@composite("Tensor.storage_offset")
def storage_offset(x) -> int:
    """0: every Tensor has memory of its own, also one that was cut from another.

    Example:
        >>> Tensor([1, 2])[1:].storage_offset()
        0
    """
    del x
    return 0


@composite("Tensor.is_shared")
def is_shared(x) -> bool:
    """False: no other process sees the memory.

    Example:
        >>> Tensor([1, 2]).is_shared()
        False
    """
    del x
    return False


@composite("Tensor.is_pinned")
def is_pinned(x) -> bool:
    """False: XLA keeps values where it computes with them.

    Example:
        >>> Tensor([1, 2]).is_pinned()
        False
    """
    del x
    return False


def _is_meta(self) -> bool:
    """False: every Tensor has values."""
    return False


add_member("is_meta", property(_is_meta))


# -- the values as a whole -----------------------------------------------------------------------


@composite("Tensor.get_bytes")
def get_bytes(x) -> bytes:
    """The bytes of the elements in C order, as NumPy's `tobytes` gives them.

    Example:
        >>> Tensor([1, 2], ms.int16).get_bytes().hex()
        '01000200'
    """
    return look(x, "array").tobytes()


def convert_bytes_to_tensor(bytes_data, shape, dtype):
    """A Tensor of bytes that `get_bytes` gave.

    Args:
        bytes_data: the bytes of all elements in C order.
        shape, dtype: of the Tensor.

    Raises:
        ValueError: the number of bytes is not that of the shape.

    Source: MindSpore's `Tensor.convert_bytes_to_tensor`.

    Example:
        >>> x = Tensor([1.5, 2.5])
        >>> print(Tensor.convert_bytes_to_tensor(x.get_bytes(), x.shape, x.dtype))
        [1.5 2.5]
    """
    wanted = as_dtype(dtype)
    needed = prod(shape) * wanted.itemsize
    if len(bytes_data) != needed:
        expected = f"{needed} bytes for {tuple(shape)} of {wanted}"
        raise wrong(ValueError, "convert_bytes_to_tensor: bytes_data", expected, len(bytes_data))
    return Tensor(np.frombuffer(bytes_data, wanted.numpy).reshape(shape))


add_member("convert_bytes_to_tensor", staticmethod(convert_bytes_to_tensor))


@composite("Tensor.assign_value")
def assign_value(x, value):
    """Give a Tensor the values of another, with their shape and element type; returns the Tensor.

    `Parameter.assign_value` keeps the shape and the element type.

    Raises:
        TypeError: not a Tensor.

    Example:
        >>> x = Tensor([1.0, 2.0])
        >>> print(x.assign_value(Tensor([7])) is x, x)
        True [7]
    """
    if not isinstance(value, Tensor):
        raise wrong(TypeError, "assign_value: value", "a Tensor", type(value).__name__)
    if (value.shape, value.dtype) != (x.shape, x.dtype):
        changed_everywhere()  # what is remembered has the former ones
    update(x, value)
    return x


def _wait(x) -> None:
    if local.stream.scope.capture is None:
        demand(resolve(x)).block_until_ready()


@composite("Tensor.data_sync(x, wait=True)")
def data_sync(x, wait=True) -> None:
    """Wait until the values are computed; within a remembered call nothing, as it runs as a whole.

    Args:
        wait: False only starts the computation.

    Example:
        >>> (Tensor([1.0]) + 1).data_sync()
    """
    if wait:
        _wait(x)
    elif local.stream.scope.capture is None:
        demand(resolve(x))


@composite("Tensor.wait_pipeline")
def wait_pipeline(x) -> None:
    """As `data_sync`: wait until the values are computed.

    Example:
        >>> (Tensor([1.0]) + 1).wait_pipeline()
    """
    _wait(x)


# -- names that mean little here -----------------------------------------------------------------


@composite("Tensor.to_tensor(x, slice_index=None, shape=None, opt_shard_group=None)")
def to_tensor(x, slice_index=None, shape=None, opt_shard_group=None):
    """The Tensor itself; an older name of `init_data`.

    Args:
        x: a Parameter or a Tensor.
        slice_index, shape, opt_shard_group: without effect.

    Example:
        >>> print(mycel.init.initializer("ones", 2).to_tensor())
        [1. 1.]
    """
    del slice_index, shape, opt_shard_group
    older("Tensor.to_tensor()", "Tensor.init_data()")
    return x


@composite("Tensor.is_init")
def is_init(x) -> bool:
    """What `set_init_flag` was told; False before."""
    return x._init_flag


@composite("Tensor.set_init_flag")
def set_init_flag(x, flag=False) -> None:
    """Keep a flag for `is_init`, which changes nothing.

    Example:
        >>> x = Tensor([1])
        >>> x.set_init_flag(True)
        >>> x.is_init()
        True
    """
    x._init_flag = flag


@composite("Tensor.flush_from_cache")
def flush_from_cache(x) -> None:
    """Nothing: values are in no cache."""


@composite("Tensor.requires_grad_")
def requires_grad_(x, requires_grad=True):
    """Set `requires_grad` and return the Tensor; only that of a Parameter is looked at.

    Example:
        >>> Parameter(Tensor(1.0), name="w").requires_grad_(False).requires_grad
        False
    """
    x.requires_grad = requires_grad
    return x


# -- hints and hooks -----------------------------------------------------------------------------


def _const_arg(self) -> bool:
    """What `set_const_arg` or `Tensor(..., const_arg=...)` was told; it changes nothing."""
    return self._const_arg


add_member("const_arg", property(_const_arg))


@composite("Tensor.set_const_arg")
def set_const_arg(x, const_arg=True):
    """Keep a hint for `const_arg`, which changes nothing; returns the Tensor.

    Raises:
        TypeError: the argument is not a bool.

    Example:
        >>> Tensor([1]).set_const_arg().const_arg
        True
    """
    if not isinstance(const_arg, bool):
        raise wrong(TypeError, "set_const_arg: const_arg", "True or False", repr(const_arg))
    x.__dict__["_const_arg"] = const_arg
    return x


@composite("Tensor.hooks")
def hooks(x) -> list[Any]:
    """The functions that `register_hook` was given and that were not removed, in a list.

    Example:
        >>> x = Tensor([1.0])
        >>> handle = x.register_hook(print)
        >>> x.hooks()
        [<built-in function print>]
    """
    found = list((getattr(x, "_hooks", None) or {}).values())
    known = (local.stream.scope.hooks or {}).get(id(resolve(x)))
    return found + list(known[1].values() if known else ())
