# SPDX-License-Identifier: Apache-2.0
"""The overflow status of MindSpore's Ascend devices, as far as it decides a training step.

There a register of the device tells whether any operator overflowed since it was cleared. Here the
gradients are watched instead: from `NPUClearFloatStatus` on, each derivative notes whether one of
its gradients is infinite or no number, which is what the loss scaling that asks for it wants to
know. In compiled code the note is part of the program.
"""

from __future__ import annotations

import functools
import threading

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import current_stream, machine
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import Primitive, composite, op
from mycel.ops.math.elementwise import isfinite, isnan

LENGTH = 8


@op()
def overflowed(before, *arrays):
    """1.0 if it was before, or if an element of a real array is infinite or no number; else 0.0.

    Example:
        >>> from mycel.ops.update.overflow import overflowed
        >>> print(overflowed(Tensor(0.0), (Tensor([np.inf]),)))
        1.0
    """
    real = [array for array in arrays if jnp.issubdtype(array.dtype, jnp.inexact)]
    found = [~jnp.isfinite(array).all() for array in real]
    return functools.reduce(lambda a, b: jnp.where(b, jnp.float32(1), a), found, before)


@op()
def with_first(status, first):
    """The status with its first element set.

    Example:
        >>> from mycel.ops.update.overflow import with_first
        >>> print(with_first(Tensor([0.0, 0.0]), Tensor(1.0)))
        [1. 0.]
    """
    return status.at[0].set(first.astype(status.dtype))


def _new_note() -> Parameter:
    return Parameter(Tensor(0.0), name="overflow", requires_grad=False)


class _Watch(threading.local):
    """What each thread has seen since it cleared the status."""

    def __init__(self):
        self.note: Parameter | None = None

    def clear(self) -> None:
        note = self.note
        if note is None:
            # Met from outside by a call that is being remembered.
            note = self.note = current_stream().unobserved(_new_note)
        update(note, Tensor(0.0))
        machine.on_gradients = _look


_watch = _Watch()


def _look(gradients) -> None:
    """Told of the gradients of each derivative."""
    tensors = tuple([leaf for leaf in tree_leaves(gradients) if isinstance(leaf, Tensor)])
    if _watch.note is not None and tensors:
        update(_watch.note, overflowed(_watch.note, tensors))


class _Status(Primitive):
    """An operator on a status."""

    def __init__(self):
        super().__init__(type(self).__name__)

    def _check(self, status) -> None:
        if not isinstance(status, Tensor):
            expected = "the Tensor that NPUAllocFloatStatus gave"
            raise wrong(TypeError, f"{self.name}: status", expected, type(status).__name__)
        if status.shape != (LENGTH,):
            raise wrong(ValueError, f"{self.name}: status", f"of shape ({LENGTH},)", status.shape)


class NPUAllocFloatStatus(_Status):
    """A status for the two operators below: eight zeros.

    Source: MindSpore's `mindspore.ops.NPUAllocFloatStatus`.

    Example:
        >>> print(ops.NPUAllocFloatStatus()())
        [0. 0. 0. 0. 0. 0. 0. 0.]
    """

    def __call__(self) -> Tensor:
        return Tensor(np.zeros(LENGTH, np.float32))


class NPUClearFloatStatus(_Status):
    """Watch the gradients from here on, until the status is asked for; returns the status.

    Raises:
        TypeError: not a Tensor.
        ValueError: not of eight elements.

    Source: MindSpore's `mindspore.ops.NPUClearFloatStatus`.

    Example:
        >>> status = ops.NPUAllocFloatStatus()()
        >>> cleared = ops.NPUClearFloatStatus()(status)
        >>> gradient = ms.grad(lambda x: 1 / x)(Tensor(0.0))
        >>> found = ops.NPUGetFloatStatus()(status)
        >>> print(status.sum())
        1.0
    """

    def __call__(self, input_x) -> Tensor:
        self._check(input_x)
        _watch.clear()
        return input_x


class NPUGetFloatStatus(_Status):
    """Set the first element of the status, in place, to 1 if a gradient overflowed; returns it.

    Raises:
        TypeError: not a Tensor.
        ValueError: not of eight elements.

    Source: MindSpore's `mindspore.ops.NPUGetFloatStatus`.

    Example:
        >>> status = ops.NPUAllocFloatStatus()()
        >>> cleared = ops.NPUClearFloatStatus()(status)
        >>> gradient = ms.grad(lambda x: 1 / x)(Tensor(2.0))
        >>> print(ops.NPUGetFloatStatus()(status).sum())
        0.0
    """

    def __call__(self, input_x) -> Tensor:
        self._check(input_x)
        # From here on nobody asks: gradients are watched again after the next clearing.
        machine.on_gradients = None
        if _watch.note is not None:
            update(input_x, with_first(input_x, _watch.note))
        return input_x


@composite("CheckNumerics()(x)")
def check_numerics(x):
    """x itself, if no element is NaN or infinite; the values are read.

    Args:
        x: any shape, real.

    Raises:
        RuntimeError: an element is NaN or infinite.
        TypeError: x does not hold real numbers.

    Example:
        >>> print(ops.CheckNumerics()(Tensor([1.0, 2.0])))
        [1. 2.]
    """
    if not x.dtype.is_floating:
        raise wrong(TypeError, "CheckNumerics: x", "of real numbers", x.dtype)
    if not bool(isfinite(x).all()):
        found = "NaN" if bool(isnan(x).any()) else "infinity"
        raise wrong(RuntimeError, "CheckNumerics: x", "finite", f"an element that is {found}")
    return x
