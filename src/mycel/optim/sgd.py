# SPDX-License-Identifier: Apache-2.0
"""SGD: stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, number
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import Formula
from mycel.optim.optimizer import Optimizer


class SGD(Optimizer):
    """parameter - learning_rate · gradient, with momentum, dampening and Nesterov's look ahead.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        momentum: how much of the last step goes on; the formula without it is used if it is 0 here.
        dampening: how much less of the gradient counts from the second step on.

    Raises:
        ValueError: a number out of range; `nesterov` without momentum or with dampening.

    Source: MindSpore's `mindspore.nn.SGD`.

    Example:
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = nn.SGD([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy())
        True [0.5 1.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate=0.1,
        momentum=0.0,
        dampening=0.0,
        weight_decay=0.0,
        nesterov=False,
        loss_scale=1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        number(momentum, "SGD: momentum", "of at least 0", lambda n: n >= 0)
        self.dampening = number(dampening, "SGD: dampening", "of at least 0", lambda n: n >= 0)
        self.nesterov = boolean(nesterov, "SGD: nesterov")
        if nesterov and (momentum <= 0 or dampening != 0):
            expected = "used with momentum above 0 and dampening 0"
            actual = f"momentum={momentum}, dampening={dampening}"
            raise wrong(ValueError, "SGD: nesterov", expected, actual)
        self._with_momentum = momentum > 0
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.accum = self.states("accum")
        self.stat = self.states("stat", 1.0)

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        if not self._with_momentum:
            return self._step(gradients, Formula(rules.descend))
        choices = self.dampening, self.nesterov
        states = self.accum, self.stat
        return self._step(gradients, Formula(rules.stochastic, states, (self.momentum,), choices))
