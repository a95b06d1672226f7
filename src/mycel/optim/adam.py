# SPDX-License-Identifier: Apache-2.0
"""Adam and its relatives: with the decay beside the gradient, by the largest gradient."""

from __future__ import annotations

import inspect
from typing import Any

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.checks import boolean
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import DECAY, UPDATE, Formula
from mycel.optim.optimizer import Optimizer, set_betas
from mycel.report.keywords import no_keyword

# What Adam takes by keyword only.
_MORE = ("use_lazy", "use_offload")


class Adam(Optimizer):
    """Steps by the mean gradient over the root of its mean square, both corrected for the start.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        beta1, beta2: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.
        use_nesterov: look one step ahead with the mean.
        use_amsgrad: divide by the largest mean square so far.
        use_lazy: as LazyAdam for the tables of `EmbeddingLookup`.
        use_locking, use_offload: accepted; they ask for nothing that is needed here.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.Adam`.

    Example:
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = nn.Adam([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy().round(3))
        True [0.5 1.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        eps=1e-08,
        use_locking=False,
        use_nesterov=False,
        weight_decay=0.0,
        loss_scale=1.0,
        use_amsgrad=False,
        **kwargs,
    ):
        for name in kwargs:
            if name not in _MORE:
                known = [*inspect.signature(Adam).parameters][:-1]
                raise TypeError(no_keyword("Adam", name, [*known, *_MORE], user_place()))
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        set_betas(self, beta1, beta2, eps)
        boolean(use_locking, "Adam: use_locking")
        self.use_nesterov = boolean(use_nesterov, "Adam: use_nesterov")
        self.use_amsgrad = boolean(use_amsgrad, "Adam: use_amsgrad")
        for name, value in kwargs.items():
            if boolean(value, f"Adam: {name}") and use_amsgrad:
                raise wrong(ValueError, f"Adam: {name}", "False with use_amsgrad", value)
        self.beta1_power = Parameter(Tensor(1.0, float32), name="beta1_power")
        self.beta2_power = Parameter(Tensor(1.0, float32), name="beta2_power")
        self._spared = UPDATE if kwargs.get("use_lazy") else DECAY
        self.params = self.parameters
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")
        if use_amsgrad:
            self.vhat = self.states("vhat")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        return _step_of_adam(self, gradients, self.vhat if self.use_amsgrad else None)


class AdamWeightDecay(Optimizer):
    """Adam without correction for the start, the weight decay added to the step itself.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay: see Optimizer.
        beta1, beta2: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.AdamWeightDecay`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.AdamWeightDecay([w], learning_rate=0.5, weight_decay=1.0)
        >>> print(optimizer((Tensor([0.0]),)), w.asnumpy())
        True [0.5]
    """

    def __init__(
        self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-06, weight_decay=0.0
    ):
        super().__init__(learning_rate, params, weight_decay)
        set_betas(self, beta1, beta2, eps)
        self.moments1 = self.states("adam_m")
        self.moments2 = self.states("adam_v")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        states, settings = (self.moments1, self.moments2), (self.beta1, self.beta2, self.eps)
        return self._step(gradients, Formula(rules.adam_weight_decay, states, settings))


class LazyAdam(Optimizer):
    """Adam that leaves rows of a table alone which a batch does not look up.

    That concerns the tables of `EmbeddingLookup` with sparse=True: a row whose gradient is zero
    keeps its values and moments, and does not decay. For all other Parameters it is Adam.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        beta1, beta2: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.
        use_locking: accepted.
        use_nesterov: look one step ahead with the mean.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.LazyAdam`.

    Example:
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = nn.LazyAdam([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy().round(3))
        True [0.5 1.5]
    """

    _spared = UPDATE

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        eps=1e-08,
        use_locking=False,
        use_nesterov=False,
        weight_decay=0.0,
        loss_scale=1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        name = type(self).__name__
        set_betas(self, beta1, beta2, eps)
        boolean(use_locking, f"{name}: use_locking")
        self.use_nesterov = boolean(use_nesterov, f"{name}: use_nesterov")
        self.beta1_power = Parameter(Tensor([1.0], float32), name="beta1_power")
        self.beta2_power = Parameter(Tensor([1.0], float32), name="beta2_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        return _step_of_adam(self, gradients)


class AdamOffload(LazyAdam):
    """Adam whose states MindSpore keeps on the host; here they are where the Parameters are.

    Args and errors are those of LazyAdam.

    Source: MindSpore's `mindspore.nn.AdamOffload`.

    Example:
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = nn.AdamOffload([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0, 1.0]),)), w.asnumpy().round(3))
        True [0.5 1.5]
    """

    _spared = DECAY


class AdaMax(Optimizer):
    """Adam by the largest gradient instead of the mean square.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay, loss_scale: see Optimizer.
        beta1, beta2: how slowly the mean follows, and the largest one is forgotten.
        eps: added to the largest one.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.AdaMax`.

    Example:
        >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> optimizer = nn.AdaMax([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0, 4.0]),)), w.asnumpy().round(3))
        True [0.5 1.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        eps=1e-08,
        weight_decay=0.0,
        loss_scale=1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        set_betas(self, beta1, beta2, eps)
        self.beta1_power = Parameter(Tensor([1.0], float32), name="beta1_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        power = _advance(self.beta1_power, self.beta1)
        settings = power, self.beta1, self.beta2, self.eps
        states = self.moment1, self.moment2
        return self._step(gradients, Formula(rules.ada_max, states, settings))


def _advance(power: Parameter, beta: Tensor) -> Tensor:
    """A power of a beta, one further; without dimensions."""
    update(power, power * beta)
    return power.reshape(()) if power.ndim else power


def _step_of_adam(optimizer: Any, gradients, largest=None) -> Tensor:
    """One step of Adam; `largest` are the largest mean squares so far, if they count."""
    power1 = _advance(optimizer.beta1_power, optimizer.beta1)
    power2 = _advance(optimizer.beta2_power, optimizer.beta2)
    states = optimizer.moment1, optimizer.moment2
    settings = power1, power2, optimizer.beta1, optimizer.beta2, optimizer.eps
    choices = (optimizer.use_nesterov,)
    formula = Formula(rules.adam, states, settings, choices, largest, optimizer._spared)
    return optimizer._step(gradients, formula)
