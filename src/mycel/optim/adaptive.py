# SPDX-License-Identifier: Apache-2.0
"""RMSProp and Adagrad: steps divided by the size of past gradients."""

from __future__ import annotations

from mycel.base.dtypes import float32
from mycel.nn.checks import boolean, number
from mycel.optim import rules
from mycel.optim.optimizer import Optimizer
from mycel.optim.together import Together
from mycel.record.tensor import Tensor


class RMSProp(Optimizer):
    """Steps by the gradient over the root of its mean square.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        decay: how slowly the mean square follows the gradients.
        momentum: how much of the last step goes on.
        epsilon: added under the root.
        centered: divide by the spread around the mean gradient instead.

    Raises:
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.RMSProp`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.RMSProp([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [1.]
    """

    def __init__(
        self,
        params,
        learning_rate=0.1,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        number(decay, "RMSProp: decay", "of at least 0", lambda n: n >= 0)
        number(momentum, "RMSProp: momentum", "of at least 0", lambda n: n >= 0)
        number(epsilon, "RMSProp: epsilon", "above 0", lambda n: n > 0)
        boolean(use_locking, "RMSProp: use_locking")
        self.centered = boolean(centered, "RMSProp: centered")
        self.decay = Tensor(decay, float32)
        self.momentum = Tensor(momentum, float32)
        self.epsilon = Tensor(epsilon, float32)
        self.params = self.parameters
        self.ms = self.states("mean_square", 1.0)
        self.moment = self.states("moment")
        if centered:
            self.mg = self.states("mean_grad")

    def construct(self, gradients):
        """Take one step; True."""
        step = Together()
        for n, parameter, gradient, rate, decay, scale in self._begin(gradients):
            handles = [parameter, self.ms[n], self.moment[n]]
            mean = self.mg[n] if self.centered else None
            settings = self.decay, self.momentum, self.epsilon, mean, decay, scale
            inputs = (*handles, gradient, rate, *settings)
            if mean is not None:
                handles.append(mean)
            step.add(rules.root_mean_square, handles, inputs, self._centralized[n])
        step.take()
        return self._done


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of all its squares.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        accum: what the sum of squares starts from.
        update_slots: whether squares are added.

    Raises:
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.Adagrad`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.Adagrad([w], accum=3.0, learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.75]
    """

    def __init__(
        self,
        params,
        accum=0.1,
        learning_rate=0.001,
        update_slots=True,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        number(accum, "Adagrad: accum", "of at least 0", lambda n: n >= 0)
        self.update_slots = boolean(update_slots, "Adagrad: update_slots")
        self.accum = self.states("accum", accum)

    def construct(self, gradients):
        """Take one step; True."""
        step = Together()
        for n, parameter, gradient, rate, decay, scale in self._begin(gradients):
            handles = (parameter, self.accum[n])
            inputs = (*handles, gradient, rate, decay, scale)
            step.add(rules.adagrad, handles, inputs, self.update_slots, self._centralized[n])
        step.take()
        return self._done
