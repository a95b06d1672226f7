# SPDX-License-Identifier: Apache-2.0
"""Tensors and Cells for other libraries: JAX, NumPy, PyTorch and what speaks DLPack."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.stream import current_stream, demand
from mycel.kernel.record.tensor import Tensor, look, new_tensor, resolve
from mycel.kernel.record.value import value_of
from mycel.kernel.spell import add_member

APART = "The elements of this {kind} lie apart in memory: make a copy where they do not, first."
# DLPack's number for the memory of the host.
_HOST = 1


def to_jax(tensor: Tensor) -> jax.Array:
    """The array of a Tensor, without a copy; the other way is `Tensor(array)`.

    Raises:
        TypeError: not a Tensor.

    Example:
        >>> import jax.numpy as jnp
        >>> from mycel.checkpoint import to_jax
        >>> array = to_jax(Tensor([1.0, 2.0]))
        >>> print(Tensor(jnp.exp(array)))
        [2.7182817 7.389056 ]
    """
    if not isinstance(tensor, Tensor):
        raise wrong(TypeError, "to_jax: tensor", "a Tensor", type(tensor).__name__)
    if current_stream().scope.capture is not None:
        look(tensor, "array")  # noted: a replay could not hand it out again
    return demand(resolve(tensor))


def to_dlpack(tensor: Tensor):
    """A DLPack capsule of a Tensor, which shares its memory; who takes it must not write to it.

    Raises:
        TypeError: not a Tensor.

    Source: MindSpore's `mindspore.to_dlpack`.

    Example:
        >>> print(ms.from_dlpack(ms.to_dlpack(Tensor([1.0, 2.0]))))
        [1. 2.]
    """
    return to_jax(tensor).__dlpack__()


def from_dlpack(dlpack: Any) -> Tensor:
    """A Tensor of an array of another library, which shares its memory where that is possible.

    Args:
        dlpack: an array with `__dlpack__` (of PyTorch, CuPy, NumPy, JAX), or a DLPack capsule of
            one in the memory of the host. It must not be written to as long as the Tensor is used.

    Raises:
        TypeError: the argument is neither of these.

    Source: MindSpore's `mindspore.from_dlpack`.

    Example:
        >>> print(ms.from_dlpack(np.array([1.0, 2.0], np.float32)))
        [1. 2.]
    """
    if isinstance(dlpack, Tensor):
        return new_tensor(resolve(dlpack))
    if type(dlpack).__name__ == "PyCapsule":
        dlpack = _Capsule(dlpack)
    elif not hasattr(dlpack, "__dlpack__"):
        expected = "an array with __dlpack__, or a DLPack capsule"
        raise wrong(TypeError, "from_dlpack: dlpack", expected, type(dlpack).__name__)
    if isinstance(dlpack, np.ndarray) and not dlpack.flags.writeable:
        return Tensor(dlpack)  # NumPy does not hand out arrays that may not be written to
    try:
        return new_tensor(value_of(jax.dlpack.from_dlpack(dlpack)))
    except jax.errors.JaxRuntimeError:
        # Elements that lie apart cannot be shared, only copied.
        if isinstance(dlpack, _Capsule) or dlpack.__dlpack_device__()[0] != _HOST:
            raise ValueError(APART.format(kind=type(dlpack).__name__)) from None
        return Tensor(np.from_dlpack(dlpack))


add_member("to_dlpack", to_dlpack)
add_member("from_dlpack", staticmethod(from_dlpack))


class _Capsule:
    """A capsule as an object that hands it out, once."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return (_HOST, 0)
