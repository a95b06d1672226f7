# SPDX-License-Identifier: Apache-2.0
"""ASGD, which averages what it goes through, and Rprop, which looks at signs only."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import ParameterTuple
from mycel.kernel.record.tensor import Tensor
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import Formula
from mycel.optim.optimizer import Optimizer, floating, new_numbers, unit_interval


class ASGD(Optimizer):
    """Gradient descent with a falling rate; the averages of the Parameters are kept beside them.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay: see Optimizer.
        lambd: how fast Parameters and the rate fade.
        alpha: the power of the fading of the rate.
        t0: the step from which the average is taken.

    Raises:
        TypeError: an argument of another type.

    Source: MindSpore's `mindspore.nn.ASGD`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.ASGD([w], learning_rate=0.5, lambd=0.0)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy(), optimizer.ax[0].asnumpy())
        True [0.5] [0.5]
    """

    @opt_init_args_register
    def __init__(
        self, params, learning_rate=0.1, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0.0
    ):
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            floating(value, f"ASGD: {name}", "", lambda n: True)
        self.lambd = Tensor(lambd, float32)
        self.alpha = Tensor(alpha, float32)
        self.t0 = Tensor(t0, float32)
        self.mu = ParameterTuple(new_numbers(self.parameters, "mu", 1.0))
        self.eta = ParameterTuple(new_numbers(self.parameters, "eta", 0.0))
        self.ax = self.states("ax_")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        states = self.ax, self.eta, self.mu
        settings = self.global_step, self.lambd, self.alpha, self.t0
        return self._step(gradients, Formula(rules.averaged_descent, states, settings))


class Rprop(Optimizer):
    """Steps of a size that grows while the sign of the gradient stays, and shrinks when it turns.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate: the size of the first steps; see Optimizer for it and weight_decay.
        etas: what a size shrinks and grows by.
        step_sizes: the smallest and the largest size.

    Raises:
        TypeError: no tuples of floats.
        ValueError: not two of them, or a number out of range.

    Source: MindSpore's `mindspore.nn.Rprop`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.Rprop([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([9.0]),)), w.asnumpy())
        True [0.5]
    """

    @opt_init_args_register
    def __init__(
        self, params, learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0), weight_decay=0.0
    ):
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(value, tuple):
                expected = "a tuple of two floats"
                raise wrong(TypeError, f"Rprop: {name}", expected, type(value).__name__)
            if len(value) != 2:
                raise wrong(ValueError, f"Rprop: {name}", "a tuple of two floats", value)
        unit_interval(etas[0], "Rprop: etas[0]")
        floating(etas[1], "Rprop: etas[1]", "above 1", lambda n: n > 1)
        for n in (0, 1):
            floating(step_sizes[n], f"Rprop: step_sizes[{n}]", "", lambda n: True)
        if step_sizes[0] > step_sizes[1]:
            raise wrong(ValueError, "Rprop: step_sizes", "the smallest before", step_sizes)
        settings = (*etas, *step_sizes)
        self.etaminus, self.etaplus, self.step_size_min, self.step_size_max = (
            Tensor(value, float32) for value in settings
        )
        self.prev = self.states("prev")
        self.step_size = self.states("step_size")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        sizes = self.step_size_min, self.step_size_max
        settings = self.global_step, self.etaminus, self.etaplus, *sizes
        return self._step(
            gradients, Formula(rules.resilient, (self.prev, self.step_size), settings)
        )
