# SPDX-License-Identifier: Apache-2.0
"""Optimisers as PyTorch has them: Adam, AdamW and SGD with `param_groups`."""

from __future__ import annotations

from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean
from mycel.ops.update import rules
from mycel.optim.fused_update import Formula
from mycel.optim.optimizer import new_states
from mycel.optim.param_groups.adam import ByMoments as _ByMoments
from mycel.optim.param_groups.descent import check_momentum
from mycel.optim.param_groups.optimizer import Optimizer, not_negative


class Adam(_ByMoments):
    """Steps by the mean gradient over the root of its mean square, both corrected for the start.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        betas: how slowly the mean and the mean square follow the gradients.
        eps: added to the corrected root.
        weight_decay: this part of each Parameter is added to its gradient.
        amsgrad: divide by the largest mean square so far.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.mint.optim.Adam`, PyTorch's `torch.optim.Adam`.

    Example:
        >>> from mycel.mint import optim
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = optim.Adam([w], lr=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy())
        True [0.5 1.5]
    """

    _rule = staticmethod(rules.adam_corrected)
    _counter = "state_step"
    _decoupled = False
    _first_step = 0.0

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        amsgrad=False,
        *,
        maximize=False,
    ):
        name = type(self).__name__
        boolean(amsgrad, f"{name}: amsgrad")
        boolean(maximize, f"{name}: maximize")
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad=amsgrad, maximize=maximize)

    def _set_states(self) -> None:
        self._add_states("exp_avg", "exp_avg")
        self._add_states("exp_avg_sq", "exp_avg_sq")
        self.state_step = Parameter(Tensor([self._first_step], float32), name="state_step")

    def add_param_group(self, param_group) -> None:
        """Add Parameters with settings of their own; see `Optimizer`."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        if group["amsgrad"]:
            states = new_states(group["params"], "max_exp_avg_sq", 0.0)
            group["max_exp_avg_sq"] = ParameterTuple(states)

    def construct(self, gradients):
        """Take one step; True."""
        step = self._count(self.state_step)
        # AdamW's counter is one behind, as MindSpore's checkpoints have it.
        return self._step(gradients, step - self._first_step if self._first_step else step)

    def _formula(self, group, members, step):
        largest = group["max_exp_avg_sq"] if group["amsgrad"] else None
        formula = super()._formula(group, members, step)
        return formula._replace(choices=(self._decoupled,), last=largest)


class AdamW(Adam):
    """Adam with the weight decay taken from the Parameters themselves.

    Args and errors are those of Adam; `weight_decay` times the rate is taken away.

    Source: MindSpore's `mindspore.mint.optim.AdamW`, PyTorch's `torch.optim.AdamW`.

    Example:
        >>> from mycel.mint import optim
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = optim.AdamW([w], lr=0.5, weight_decay=1.0)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [0.5]
    """

    _decoupled = True
    _first_step = -1.0

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """AdamW under its name for one kernel; every optimiser here is one.

    Source: MindSpore's `mindspore.mint.optim.FusedAdamW`.

    Example:
        >>> from mycel.mint import optim
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = optim.FusedAdamW([w], lr=0.5, weight_decay=1.0)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [0.5]
    """


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

    Source: MindSpore's `mindspore.mint.optim.SGD`, PyTorch's `torch.optim.SGD`.

    Example:
        >>> from mycel.mint import optim
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = optim.SGD([w], lr=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy())
        True [0.5 1.5]
    """

    def __init__(
        self,
        params,
        lr,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
    ):
        not_negative(lr, "SGD: lr")
        check_momentum("SGD", momentum, dampening, nesterov)
        boolean(maximize, "SGD: maximize")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self._add_states("momentum_buf", "momentum_buf")
        self.step_t = Parameter(Tensor(0, int32), name="step_t")

    def construct(self, gradients):
        """Take one step; True."""
        return self._step(gradients, self._count(self.step_t))

    def _formula(self, group, members, step):
        if not group["momentum"]:
            return Formula(rules.descend)
        settings = step, *self._settings(group, "momentum", "dampening")
        states, choices = (self.momentum_buf[members],), (group["nesterov"],)
        return Formula(rules.momentum_of_step, states, settings, choices)


__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]
