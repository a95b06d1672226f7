# SPDX-License-Identifier: Apache-2.0
"""Momentum: gradient descent that keeps going."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.dtypes import float32
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import Formula
from mycel.optim.optimizer import Optimizer, floating


class Momentum(Optimizer):
    """moment = momentum · moment + gradient; parameter - learning_rate · moment.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        momentum: how much of the last moment stays.
        use_nesterov: step by gradient + momentum · moment instead.

    Raises:
        TypeError: `momentum` is not a float.
        ValueError: `momentum` is negative.

    Source: MindSpore's `mindspore.nn.Momentum`.

    Example:
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = nn.Momentum([w], learning_rate=0.5, momentum=0.9)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy())
        True [0.5 1.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate,
        momentum,
        weight_decay=0.0,
        loss_scale=1.0,
        use_nesterov=False,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        floating(momentum, "Momentum: momentum", "of at least 0", lambda n: n >= 0)
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.params = self.parameters
        self.use_nesterov = boolean(use_nesterov, "Momentum: use_nesterov")
        self.moments = self.states("moments")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        settings, choices = (self.momentum,), (self.use_nesterov,)
        return self._step(gradients, Formula(rules.momentum, (self.moments,), settings, choices))
