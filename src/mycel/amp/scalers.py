# SPDX-License-Identifier: Apache-2.0
"""Loss scalers for training steps of one's own: scale the loss, unscale the gradients, adjust."""

from __future__ import annotations

from abc import ABC, abstractmethod

import jax.numpy as jnp
import numpy as np

from mycel import ops
from mycel.amp.managers import initial_scale
from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.base.trees import tree_exchange, tree_leaves
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import op
from mycel.nn.checks import positive_integer
from mycel.nn.loss_scale import divided, multiplied, overflows


def all_finite(inputs, status=None) -> Tensor:
    """Whether all elements of some Tensors are finite, as a Bool Tensor without dimensions.

    Args:
        inputs: Tensors in a tuple or list, such as gradients; integers always are finite.
        status: what `init_status` gave in older programs; nothing depends on it.

    Source: MindSpore's `mindspore.amp.all_finite`.

    Example:
        >>> print(ms.amp.all_finite((Tensor([1.0, np.inf]), Tensor([1.0]))))
        False
    """
    del status
    return ops.logical_not(overflows(_tensors(inputs)))


def init_status() -> Tensor:
    """A status for `all_finite`, as older programs make one; nothing depends on it.

    Source: `mindspore.amp.init_status` of MindSpore 2.0.

    Example:
        >>> print(ms.amp.init_status())
        [0. 0. 0. 0. 0. 0. 0. 0.]
    """
    return Tensor(np.zeros(8, np.float32))


def _tensors(tree) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _each(rule, scale: Tensor, tree):
    """A tree whose Tensors a rule has changed, all of them in one recorded operator."""
    if isinstance(tree, ParameterTuple):
        tree = tuple(tree)  # what comes out are Tensors
    tensors = _tensors(tree)
    changed = iter(rule(scale, tensors)) if tensors else iter(())
    return tree_exchange(lambda leaf: next(changed) if isinstance(leaf, Tensor) else leaf, tree)


def scaled(scale_value, inputs):
    """Tensors times a scale.

    Args:
        scale_value: the scale, a Tensor of one number.
        inputs: a Tensor, or a tuple or list of them.

    Source: MindSpore's `mindspore.amp._grad_scale_map`.

    Example:
        >>> from mycel.amp.scalers import scaled
        >>> print(scaled(Tensor(4.0), Tensor([2.0])))
        [8.]
    """
    return _each(multiplied, scale_value, inputs)


def unscaled(scale_value, inputs):
    """Tensors divided by a scale.

    Args:
        scale_value: the scale, a Tensor of one number.
        inputs: a Tensor, or a tuple or list of them.

    Source: MindSpore's `mindspore.amp._grad_unscale_map`.

    Example:
        >>> from mycel.amp.scalers import unscaled
        >>> print(unscaled(Tensor(4.0), Tensor([2.0])))
        [0.5]
    """
    return _each(divided, scale_value, inputs)


class LossScaler(ABC):
    """The base of loss scalers: subclasses write `scale`, `unscale` and `adjust`.

    Source: MindSpore's `mindspore.amp.LossScaler`.

    Example:
        >>> class Doubling(ms.amp.LossScaler):
        ...     def scale(self, inputs):
        ...         return inputs * 2
        ...     def unscale(self, inputs):
        ...         return tuple(gradient / 2 for gradient in inputs)
        ...     def adjust(self, grads_finite):
        ...         return False
        >>> print(Doubling().scale(Tensor(3.0)))
        6.0
    """

    @abstractmethod
    def scale(self, inputs):
        """A loss, or a tuple of Tensors, times the scale."""

    @abstractmethod
    def unscale(self, inputs):
        """Gradients divided by the scale."""

    @abstractmethod
    def adjust(self, grads_finite):
        """Change the scale according to whether the gradients were finite."""


class StaticLossScaler(LossScaler):
    """A loss scale that stays what it is.

    Args:
        scale_value: a number of at least 1.

    Raises:
        TypeError, ValueError: not a number, or one below 1.

    Source: MindSpore's `mindspore.amp.StaticLossScaler`.

    Example:
        >>> scaler = ms.amp.StaticLossScaler(1024)
        >>> print(scaler.scale(Tensor([1.0])), scaler.unscale((Tensor([2048.0]),))[0])
        [1024.] [2.]
    """

    def __init__(self, scale_value):
        value = initial_scale(scale_value, f"{type(self).__name__}: scale_value")
        self.scale_value = Parameter(Tensor(value, float32), name="scale_value")

    def scale(self, inputs):
        """A loss, or a tuple of Tensors, times the scale, in its own element type."""
        return _each(multiplied, self.scale_value, inputs)

    def unscale(self, inputs):
        """Gradients divided by the scale, in their own element types."""
        return _each(divided, self.scale_value, inputs)

    def adjust(self, grads_finite) -> bool:
        """False: the scale stays."""
        return False


class DynamicLossScaler(LossScaler):
    """A loss scale that falls when gradients are not finite, and grows after steps when they are.

    Args:
        scale_value: what it begins with, at least 1.
        scale_factor: what it is multiplied and divided by, a positive integer.
        scale_window: how many steps with finite gradients make it grow.

    Raises:
        TypeError, ValueError: one of them is out of range.

    Source: MindSpore's `mindspore.amp.DynamicLossScaler`.

    Example:
        >>> scaler = ms.amp.DynamicLossScaler(1024, scale_factor=2, scale_window=1)
        >>> gradients = scaler.unscale((Tensor([np.inf, 1.0]),))
        >>> scaler.adjust(ms.amp.all_finite(gradients))
        True
        >>> print(scaler.scale_value.asnumpy())
        512.0
    """

    def __init__(self, scale_value, scale_factor, scale_window):
        name = type(self).__name__
        value = initial_scale(scale_value, f"{name}: scale_value")
        self.scale_value = Parameter(Tensor(value, float32), name="scale_value")
        self.scale_window = positive_integer(scale_window, f"{name}: scale_window")
        self.scale_factor = positive_integer(scale_factor, f"{name}: scale_factor")
        self.counter = Parameter(Tensor(0, int32), name="counter")

    def scale(self, inputs):
        """A loss, or a tuple of Tensors, times the scale, in its own element type."""
        return _each(multiplied, self.scale_value, inputs)

    def unscale(self, inputs):
        """Gradients divided by the scale, in their own element types."""
        return _each(divided, self.scale_value, inputs)

    def adjust(self, grads_finite) -> bool:
        """Change the scale; True, as there is a scale to change.

        Args:
            grads_finite: what `all_finite` says of the gradients.
        """
        scale, counter = adjusted(
            self.scale_value, self.counter, grads_finite, self.scale_factor, self.scale_window
        )
        update(self.scale_value, scale)
        update(self.counter, counter)
        return True


@op()
def adjusted(scale, counter, finite, factor, window):
    """The scale and the count of finite steps behind a step.

    Example:
        >>> from mycel.amp.scalers import adjusted
        >>> for value in adjusted(Tensor(8.0), Tensor(1), Tensor(True), 2, 2):
        ...     print(value)
        16.0
        0
    """
    finite = finite.astype(jnp.bool_).reshape(())
    factor, window = factor.astype(scale.dtype), window.astype(counter.dtype)
    one = np.ones((), counter.dtype)
    larger = scale * factor
    grows = (counter == window - one) & jnp.isfinite(larger)
    smaller = jnp.maximum(scale / factor, np.ones((), scale.dtype))
    following = jnp.where(finite, jnp.where(grows, larger, scale), smaller)
    return following, jnp.where(finite, (counter + one) % window, np.zeros((), counter.dtype))
