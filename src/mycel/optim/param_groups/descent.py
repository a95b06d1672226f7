# SPDX-License-Identifier: Apache-2.0
"""Descent with groups: SGD, ASGD, Rprop, RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from mycel.kernel.base.dtypes import int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, number
from mycel.ops.update import rules
from mycel.optim.fused_update import Formula
from mycel.optim.optimizer import floating, new_numbers, unit_interval
from mycel.optim.param_groups.optimizer import Optimizer, not_negative, positive


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
        return self._step(gradients)

    def _formula(self, group, members, step):
        if not group["momentum"]:
            return Formula(rules.descend)
        states, settings = (
            (self.accum[members], self.stat[members]),
            self._settings(group, "momentum"),
        )
        choices = float(group["dampening"]), group["nesterov"]
        return Formula(rules.stochastic, states, settings, choices)


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
        self.mu = new_numbers(self.parameters, "mu", 1.0)
        self.eta = new_numbers(self.parameters, "eta", 0.0)

    def construct(self, gradients):
        """Take one step; True."""
        return self._step(gradients, self._count(self.step_t))

    def _formula(self, group, members, step):
        states = self.ax[members], self.eta[members], self.mu[members]
        settings = step, *self._settings(group, "lambd", "alpha", "t0")
        return Formula(rules.averaged_descent, states, settings)


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
        return self._step(gradients, self._count(self.step_t))

    def _formula(self, group, members, step):
        values = *group["etas"], *group["step_sizes"]
        states = self.prev[members], self.step_size[members]
        return Formula(rules.resilient, states, (step, *map(self._number, values)))


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
        return self._step(gradients)

    def _formula(self, group, members, step):
        states = self.mean_square[members], self.mean_grad[members], self.moment[members]
        settings = self._settings(group, "alpha", "eps", "momentum")
        choices = group["centered"], group["momentum"] > 0
        return Formula(rules.root_mean_square_beside, states, settings, choices)


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
        done = self._step(gradients, self.step_t)
        self._count(self.step_t)
        return done

    def _rate(self, group, step):
        rate = super()._rate(group, step)
        return rate / (1.0 + step * self._number(group["lr_decay"])) if group["lr_decay"] else rate

    def _formula(self, group, members, step):
        states, settings = (self.accum[members],), self._settings(group, "eps")
        return Formula(rules.adagrad_beside, states, settings, (True,))


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
        return self._step(gradients)

    def _formula(self, group, members, step):
        states = self.accum[members], self.accum_update[members]
        return Formula(rules.adadelta, states, self._settings(group, "rho", "eps"))
