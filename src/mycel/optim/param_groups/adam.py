# SPDX-License-Identifier: Apache-2.0
"""Adam and its relatives with groups: Adam, AdamW, Adamax, NAdam, RAdam."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.dtypes import int32
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean
from mycel.ops.update import rules
from mycel.optim.fused_update import Formula
from mycel.optim.optimizer import new_numbers
from mycel.optim.param_groups.optimizer import Optimizer, below_one, not_negative, positive


class ByMoments(Optimizer):
    """What the relatives of Adam share: two moments, a counter, and a rule for them."""

    _rule: Any
    _counter = "step_t"
    _second = "exp_avg_sq"

    def __init__(self, params, lr, betas, eps, weight_decay, **more):
        name = type(self).__name__
        not_negative(lr, f"{name}: lr")
        not_negative(eps, f"{name}: eps")
        not_negative(weight_decay, f"{name}: weight_decay")
        settings = {"lr": lr, "betas": below_one(betas, f"{name}: betas"), "eps": eps}
        super().__init__(params, {**settings, "weight_decay": weight_decay, **more})
        self._set_states()

    def _set_states(self) -> None:
        """The counter and both moments, in the order of MindSpore's checkpoints."""
        self._set_counter()
        self._add_states("exp_avg", "exp_avg")
        self._add_states(self._second, self._second)

    def _set_counter(self) -> None:
        setattr(self, self._counter, Parameter(Tensor(0, int32), name=self._counter))

    def construct(self, gradients):
        """Take one step; True."""
        return self._step(gradients, self._count(getattr(self, self._counter)))

    def _formula(self, group, members, step):
        states = self.exp_avg[members], getattr(self, self._second)[members]
        settings = step, *map(self._number, group["betas"]), self._number(group["eps"])
        return Formula(self._rule, states, settings)


class Adam(ByMoments):
    """Steps by the mean gradient over the root of its mean square, both corrected for the start.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        betas: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.
        weight_decay: this part of each Parameter is added to its gradient.
        amsgrad: divide by the largest mean square so far.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.Adam`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = experimental.Adam([w], lr=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy().round(3))
        True [0.5 1.5]
    """

    _counter = "state_step"
    _rule = staticmethod(rules.adam_of_step)
    _choices: tuple = ()

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
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
        for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"):
            self._add_states(name, name)
        self._set_counter()

    def _formula(self, group, members, step):
        largest = self.max_exp_avg_sq[members] if group["amsgrad"] else None
        formula = super()._formula(group, members, step)
        return formula._replace(choices=self._choices, last=largest)


class AdamW(Adam):
    """Adam with the weight decay taken from the Parameters themselves.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        betas: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.
        weight_decay: this part of each Parameter, times the rate, is taken away.
        amsgrad: divide by the largest mean square so far.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.AdamW`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.AdamW([w], lr=0.5, weight_decay=1.0)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [0.5]
    """

    _rule = staticmethod(rules.adam_corrected)
    _choices = (True,)

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0.01,
        amsgrad=False,
        *,
        maximize=False,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class Adamax(ByMoments):
    """Adam by the largest gradient instead of the mean square.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        betas: how slowly the mean follows, and the largest one is forgotten.
        eps: added to the size of gradients.
        weight_decay: this part of each Parameter is added to its gradient.
        maximize: go up instead of down.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.Adamax`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.Adamax([w], lr=0.5)
        >>> print(optimizer((Tensor([4.0]),)), w.asnumpy())
        True [0.5]
    """

    _rule = staticmethod(rules.ada_max_of_step)
    _second = "exp_inf"

    def __init__(
        self, params, lr=0.002, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, *, maximize=False
    ):
        positive(lr, "Adamax: lr")
        positive(eps, "Adamax: eps")
        boolean(maximize, "Adamax: maximize")
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)


class RAdam(ByMoments):
    """Adam that leaves the root out until its spread is known well enough.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        betas: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.
        weight_decay: this part of each Parameter is added to its gradient.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.RAdam`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.RAdam([w], lr=0.5)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.5]
    """

    _rule = staticmethod(rules.rectified_adam)

    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        positive(lr, "RAdam: lr")
        positive(eps, "RAdam: eps")
        super().__init__(params, lr, betas, eps, weight_decay)


class NAdam(ByMoments):
    """Adam that looks one step ahead, with a momentum that grows.

    Args:
        params: Parameters, or groups of them: dictionaries with 'params' and settings.
        lr: the rate of groups without their own, a number or a Tensor; see `param_groups`.
        betas: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.
        weight_decay: this part of each Parameter is added to its gradient.
        momentum_decay: how fast the momentum grows.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.NAdam`.

    Example:
        >>> from mycel.optim import experimental
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = experimental.NAdam([w], lr=0.5, betas=(0.0, 0.9))
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy().round(3))
        True [0.5]
    """

    _rule = staticmethod(rules.ahead_adam)

    def __init__(
        self,
        params,
        lr=0.002,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        momentum_decay=0.004,
    ):
        positive(lr, "NAdam: lr")
        positive(eps, "NAdam: eps")
        not_negative(momentum_decay, "NAdam: momentum_decay")
        super().__init__(params, lr, betas, eps, weight_decay, momentum_decay=momentum_decay)
        # As in MindSpore, checkpoints do not have these.
        self.mu_product = new_numbers(self.parameters, "mu_product", 1.0)

    def _formula(self, group, members, step):
        formula = super()._formula(group, members, step)
        states = *formula.states, self.mu_product[members]
        fading = self._number(group["momentum_decay"])
        return formula._replace(states=states, settings=(*formula.settings, fading))
