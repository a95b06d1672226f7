# SPDX-License-Identifier: Apache-2.0
"""Descent with groups: SGD, ASGD, Rprop, RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

import numpy as np

from mycel.kernel.base.dtypes import int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, number
from mycel.ops.update import update_rules
from mycel.optim import group_rules, rules
from mycel.optim.grouped import Optimizer, not_negative, positive
from mycel.optim.optimizer import floating, unit_interval, update
from mycel.optim.together import Together


def check_momentum(name: str, momentum, dampening, nesterov) -> None:
    """Raise what is wrong with the momentum of SGD.

    Raises:
        TypeError: not numbers.
        ValueError: out of range, or `nesterov` without momentum or with dampening.
    """
    not_negative(momentum, f"{name}: momentum")
    number(dampening, f"{name}: dampening", "", lambda n: True)
    boolean(nesterov, f"{name}: nesterov")
    if nesterov and (momentum <= 0 or dampening != 0):
        expected = "used with momentum above 0 and dampening 0"
        actual = f"momentum={momentum}, dampening={dampening}"
        raise wrong(ValueError, f"{name}: nesterov", expected, actual)


class SGD(Optimizer):
    """parameter - lr · gradient, with momentum, dampening and Nesterov's look ahead.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        momentum: how much of the last step goes on.
        dampening: how much less of the gradient counts from the second step on.
        weight_decay: this part of each Parameter is added to its gradient.
        nesterov: step by gradient + momentum · moment instead.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range; `nesterov` without momentum or with dampening.

    Source: MindSpore's `mindspore.experimental.optim.SGD`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = experimental.SGD([w], lr=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy())
        True [0.5 1.5]
    """

    def __init__(
        self,
        params,
        lr,
        momentum=0,
        dampening=0,
        weight_decay=0.0,
        nesterov=False,
        *,
        maximize=False,
    ):
        not_negative(lr, "SGD: lr")
        check_momentum("SGD", momentum, dampening, nesterov)
        boolean(maximize, "SGD: maximize")
        settings = {"lr": lr, "momentum": float(momentum), "dampening": float(dampening)}
        settings |= {"weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize}
        super().__init__(params, {**settings, "grad_centralization": False})
        self._add_states("accum", "accum")
        self._add_states("stat", "stat", 1.0)

    def construct(self, gradients):
        """Take one step; True."""
        taken = Together()
        for n, parameter, gradient, rate, decay, group in self._rows(gradients):
            centralize = group["grad_centralization"]
            if not group["momentum"]:
                inputs = (parameter, gradient, rate, decay, None)
                taken.add(update_rules.descend, [parameter], inputs, centralize)
                continue
            handles = parameter, self.accum[n], self.stat[n]
            momentum = self._number(group["momentum"])
            inputs = (*handles, gradient, rate, momentum, decay, None)
            statics = float(group["dampening"]), group["nesterov"], centralize
            taken.add(update_rules.stochastic, handles, inputs, *statics)
        taken.take()
        return True


class ASGD(Optimizer):
    """Gradient descent with a falling rate; the averages of the Parameters are kept beside them.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        lambd: how fast Parameters and the rate fade.
        alpha: the power of the fading of the rate.
        t0: the step from which the average is taken.
        weight_decay: this part of each Parameter is added to its gradient.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.ASGD`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.ASGD([w], lr=0.5, lambd=0.0)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.5]
    """

    def __init__(
        self,
        params,
        lr=0.01,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0.0,
        maximize=False,
    ):
        positive(lr, "ASGD: lr")
        floating(lambd, "ASGD: lambd", "", lambda n: True)
        number(alpha, "ASGD: alpha", "", lambda n: True)
        floating(t0, "ASGD: t0", "", lambda n: True)
        boolean(maximize, "ASGD: maximize")
        settings = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self._add_states("ax", "ax")
        self.step_t = Parameter(Tensor(0, int32), name="step_t")
        # As in MindSpore, checkpoints do not have these.
        self.mu = self._numbers_beside("mu", 1.0)
        self.eta = self._numbers_beside("eta", 0.0)

    def _numbers_beside(self, prefix: str, value: float) -> list[Parameter]:
        named = (f"{prefix}_{parameter.name}" for parameter in self.parameters)
        return [Parameter(np.float32(value), name=name) for name in named]

    def construct(self, gradients):
        """Take one step; True."""
        step, taken = self._count(self.step_t), Together()
        for n, parameter, gradient, rate, decay, group in self._rows(gradients):
            handles = parameter, self.ax[n], self.eta[n], self.mu[n]
            settings = [self._number(group[key]) for key in ("lambd", "alpha", "t0")]
            inputs = (*handles, gradient, rate, step, *settings, decay)
            taken.add(rules.averaged_descent, handles, (*inputs, None), False)
        taken.take()
        return True


class Rprop(Optimizer):
    """Steps of a size that grows while the sign of the gradient stays, and shrinks when it turns.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the size of the first steps of groups without their own, a number or a Tensor.
        etas: what a size shrinks and grows by.
        step_sizes: the smallest and the largest size.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.Rprop`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.Rprop([w], lr=0.5)
        >>> print(optimizer((Tensor([9.0]),)), w.asnumpy())
        True [0.5]
    """

    def __init__(self, params, lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, maximize=False):
        positive(lr, "Rprop: lr")
        unit_interval(etas[0], "Rprop: etas[0]")
        number(etas[1], "Rprop: etas[1]", "above 1", lambda n: n > 1)
        boolean(maximize, "Rprop: maximize")
        settings = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, settings)
        self._add_states("prev", "prev")
        self._add_states("step_size", "step_size")
        self.step_t = Parameter(Tensor(0, int32), name="step_t")

    def construct(self, gradients):
        """Take one step; True."""
        step, taken = self._count(self.step_t), Together()
        for n, parameter, gradient, rate, decay, group in self._rows(gradients):
            handles = parameter, self.prev[n], self.step_size[n]
            values = (*group["etas"], *group["step_sizes"])
            settings = [self._number(float(value)) for value in values]
            inputs = (*handles, gradient, rate, step, *settings, decay, None)
            taken.add(rules.resilient, handles, inputs, False)
        taken.take()
        return True


class RMSprop(Optimizer):
    """Steps by the gradient over the root of its mean square.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        alpha: how slowly the mean square follows the gradients.
        eps: added to the root.
        weight_decay: this part of each Parameter is added to its gradient.
        momentum: how much of the last step goes on.
        centered: divide by the spread around the mean gradient instead.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.RMSprop`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.RMSprop([w], lr=0.5, alpha=0.0)
        >>> print(optimizer((Tensor([4.0]),)), w.asnumpy())
        True [0.5]
    """

    def __init__(
        self,
        params,
        lr=0.01,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0.0,
        momentum=0.0,
        centered=False,
        maximize=False,
    ):
        positive(lr, "RMSprop: lr")
        not_negative(alpha, "RMSprop: alpha")
        positive(eps, "RMSprop: eps")
        not_negative(momentum, "RMSprop: momentum")
        boolean(centered, "RMSprop: centered")
        boolean(maximize, "RMSprop: maximize")
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps}
        settings |= {"centered": centered, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings)
        self._add_states("mean_grad", "mean_grad")
        self._add_states("mean_square", "mean_square")
        self._add_states("moment", "moment")

    def construct(self, gradients):
        """Take one step; True."""
        taken = Together()
        for n, parameter, gradient, rate, decay, group in self._rows(gradients):
            handles = parameter, self.mean_square[n], self.mean_grad[n], self.moment[n]
            settings = [self._number(group[key]) for key in ("alpha", "eps", "momentum")]
            inputs = (*handles, gradient, rate, *settings, decay)
            statics = group["centered"], group["momentum"] > 0
            taken.add(group_rules.root_mean_square_beside, handles, inputs, *statics)
        taken.take()
        return True


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of all its squares.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        lr_decay: how fast the rate falls with the number of steps.
        weight_decay: this part of each Parameter is added to its gradient.
        initial_accumulator_value: what the sum of squares starts from.
        eps: added to the root.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.Adagrad`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.Adagrad([w], lr=0.5)
        >>> print(optimizer((Tensor([4.0]),)), w.asnumpy())
        True [0.5]
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0.0,
        weight_decay=0.0,
        initial_accumulator_value=0.0,
        eps=1e-10,
        *,
        maximize=False,
    ):
        positive(lr, "Adagrad: lr")
        not_negative(lr_decay, "Adagrad: lr_decay")
        not_negative(initial_accumulator_value, "Adagrad: initial_accumulator_value")
        positive(eps, "Adagrad: eps")
        boolean(maximize, "Adagrad: maximize")
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        settings["initial_accumulator_value"] = initial_accumulator_value
        super().__init__(params, {**settings, "maximize": maximize})
        self._add_states("accum", "accum", initial_accumulator_value)
        self.step_t = Parameter(Tensor(0, int32), name="step_t")

    def construct(self, gradients):
        """Take one step; True."""
        taken, before = Together(), self.step_t.value()
        for n, parameter, gradient, rate, decay, group in self._rows(gradients):
            handles = parameter, self.accum[n]
            if group["lr_decay"]:
                rate = rate / (1.0 + before * self._number(group["lr_decay"]))
            inputs = (*handles, gradient, rate, decay, None, self._number(group["eps"]))
            taken.add(update_rules.adagrad, handles, inputs, True, False)
        taken.take()
        update(self.step_t, rules.next_step(self.step_t))
        return True


class Adadelta(Optimizer):
    """Steps by the gradient times the root mean square of past steps over that of gradients.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        rho: how slowly both mean squares follow.
        eps: added under the roots.
        weight_decay: this part of each Parameter is added to its gradient.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.Adadelta`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.Adadelta([w], lr=0.5)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [1.]
    """

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, *, maximize=False):
        positive(lr, "Adadelta: lr")
        number(rho, "Adadelta: rho", "from 0 to 1", lambda n: 0 <= n <= 1)
        positive(eps, "Adadelta: eps")
        boolean(maximize, "Adadelta: maximize")
        settings = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "maximize": maximize})
        self._add_states("accum", "accum")
        self._add_states("accum_update", "accum_update")

    def construct(self, gradients):
        """Take one step; True."""
        taken = Together()
        for n, parameter, gradient, rate, decay, group in self._rows(gradients):
            handles = parameter, self.accum[n], self.accum_update[n]
            settings = self._number(group["rho"]), self._number(group["eps"])
            inputs = (*handles, gradient, rate, *settings, decay, None)
            taken.add(update_rules.adadelta, handles, inputs, False)
        taken.take()
        return True
