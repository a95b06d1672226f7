# SPDX-License-Identifier: Apache-2.0
"""RMSProp, Adagrad, Adadelta, FTRL: steps divided by the size of past gradients."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, number
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import UPDATE, Formula
from mycel.optim.optimizer import Optimizer, floating


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

    @opt_init_args_register
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

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        states, settings = (self.ms, self.moment), (self.decay, self.momentum, self.epsilon)
        mean = self.mg if self.centered else None
        return self._step(gradients, Formula(rules.root_mean_square, states, settings, (), mean))


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

    @opt_init_args_register
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

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        choices = (self.update_slots, True)
        return self._step(gradients, Formula(rules.adagrad, (self.accum,), (), choices))


class Adadelta(Optimizer):
    """Steps by the gradient times the root mean square of past steps over that of gradients.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        rho: how slowly both mean squares follow.
        epsilon: added under the roots.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.Adadelta`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.Adadelta([w], rho=0.0, epsilon=1.0)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [1.]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate=1.0,
        rho=0.9,
        epsilon=1e-6,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        floating(rho, "Adadelta: rho", "from 0 to 1", lambda n: 0 <= n <= 1)
        floating(epsilon, "Adadelta: epsilon", "of at least 0", lambda n: n >= 0)
        self.rho = Tensor(rho, float32)
        self.epsilon = Tensor(epsilon, float32)
        self.accum = self.states("accum")
        self.accum_update = self.states("accum_update")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        states, settings = (self.accum, self.accum_update), (self.rho, self.epsilon)
        return self._step(gradients, Formula(rules.adadelta, states, settings))


class FTRL(Optimizer):
    """Follows the regularised leader: many Parameters become exactly 0.

    In tables of `EmbeddingLookup` with sparse=True, rows whose gradient is zero stay as they are.

    Args:
        params: Parameters or groups of them; see Optimizer.
        initial_accum: what the sums of squares start from.
        learning_rate: one float above 0, for all groups and steps.
        lr_power: the power of the sums that divides the rate, 0 or below.
        l1, l2: the weights of both norms.
        use_locking: accepted.
        loss_scale, weight_decay: see Optimizer; the decay concerns all Parameters.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range, a schedule, or rates of groups.

    Source: MindSpore's `mindspore.nn.FTRL`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.FTRL([w], initial_accum=0.0, learning_rate=1.0)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        initial_accum=0.1,
        learning_rate=0.001,
        lr_power=-0.5,
        l1=0.0,
        l2=0.0,
        use_locking=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            actual = "a schedule or a rate of a group"
            raise wrong(ValueError, "FTRL: learning_rate", "one float for everything", actual)
        floating(learning_rate, "FTRL: learning_rate", "above 0", lambda n: n > 0)
        for name, value in (("initial_accum", initial_accum), ("l1", l1), ("l2", l2)):
            floating(value, f"FTRL: {name}", "of at least 0", lambda n: n >= 0)
        floating(lr_power, "FTRL: lr_power", "of at most 0", lambda n: n <= 0)
        boolean(use_locking, "FTRL: use_locking")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length
        self.l1, self.l2 = Tensor(l1, float32), Tensor(l2, float32)
        self.lr_power = Tensor(lr_power, float32)
        self.moments = self.states("moments", initial_accum)
        self.linear = self.states("linear")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        states, settings = (self.moments, self.linear), (self.l1, self.l2, self.lr_power)
        return self._step(gradients, Formula(rules.ftrl, states, settings, spared=UPDATE))


class ProximalAdagrad(Optimizer):
    """Adagrad that draws Parameters towards 0 by the weights of two norms.

    In tables of `EmbeddingLookup` with sparse=True, rows whose gradient is zero stay as they are.

    Args:
        params: Parameters or groups of them; see Optimizer.
        accum: what the sum of squares starts from.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        l1, l2: the weights of both norms.
        use_locking: accepted.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.ProximalAdagrad`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.ProximalAdagrad([w], accum=3.0, learning_rate=0.5, l1=1.0)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        accum=0.1,
        learning_rate=0.001,
        l1=0.0,
        l2=0.0,
        use_locking=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for name, value in (("accum", accum), ("l1", l1), ("l2", l2)):
            floating(value, f"ProximalAdagrad: {name}", "of at least 0", lambda n: n >= 0)
        boolean(use_locking, "ProximalAdagrad: use_locking")
        self.l1, self.l2 = Tensor(l1, float32), Tensor(l2, float32)
        self.accum = self.states("accum", accum)

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        formula = Formula(rules.proximal_adagrad, (self.accum,), (self.l1, self.l2), spared=UPDATE)
        return self._step(gradients, formula)
