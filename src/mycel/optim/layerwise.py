# SPDX-License-Identifier: Apache-2.0
"""Lamb and LARS: steps as long as the norm of each Parameter says, for large batches."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.nn.checks import boolean
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import Formula, FusedUpdate
from mycel.optim.optimizer import Optimizer, checked_gradients, floating, set_betas


class Lamb(Optimizer):
    """The step of Adam, multiplied by the norm of the Parameter over the norm of the step.

    Args:
        params: Parameters or groups of them; see Optimizer.
        learning_rate, weight_decay: see Optimizer; the decay is added to the step.
        beta1, beta2: how slowly the mean and the mean square follow the gradients.
        eps: added to the root.

    Raises:
        TypeError: an argument of another type.
        ValueError: a number out of range.

    Source: MindSpore's `mindspore.nn.Lamb`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.Lamb([w], learning_rate=0.5)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.5]
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-06, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        set_betas(self, beta1, beta2, eps)
        self.params = self.parameters
        self.moments1 = self.states("lamb_m")
        self.moments2 = self.states("lamb_v")

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        states = self.moments1, self.moments2
        settings = self.global_step, self.beta1, self.beta2, self.eps
        return self._step(gradients, Formula(rules.lamb, states, settings))


def _is_weight(parameter: Parameter) -> bool:
    return "LayerNorm" not in parameter.name and "bias" not in parameter.name


class LARS(Optimizer):
    """Another optimiser, given gradients of which each layer has a scale of its own.

    The scale is coefficient · |weight| / (|gradient| + decay · |weight| + epsilon).

    Args:
        optimizer: takes the steps; its weight decay and loss scale are applied here.
        epsilon: added to the norms.
        coefficient: how far a layer is trusted.
        use_clip: no scale is above the learning rate.
        lars_filter: a function that says which Parameters are scaled.

    Raises:
        TypeError: `optimizer` is none, or an argument of another type.

    Source: MindSpore's `mindspore.nn.LARS`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.LARS(nn.SGD([w], 1.0), epsilon=0.0, coefficient=0.5)
        >>> print(optimizer((Tensor([4.0]),)), w.asnumpy())
        True [0.5]
    """

    @opt_init_args_register
    def __init__(
        self, optimizer, epsilon=1e-05, coefficient=0.001, use_clip=False, lars_filter=_is_weight
    ):
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        if not isinstance(optimizer, Optimizer):
            raise wrong(TypeError, "LARS: optimizer", "an optimiser", type(optimizer).__name__)
        floating(epsilon, "LARS: epsilon", "of at least 0", lambda n: n >= 0)
        floating(coefficient, "LARS: coefficient", "", lambda n: True)
        self.use_clip = boolean(use_clip, "LARS: use_clip")
        self.opt = optimizer
        self.epsilon = Tensor(epsilon, float32)
        self.coefficient = Tensor(coefficient, float32)
        self.learning_rate = Parameter(Tensor(0.0, float32), name="fake_lr")
        self.global_step = optimizer.global_step
        self.parameters = optimizer.parameters
        self.param_length = len(self.parameters)
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        for name in ("is_group", "loss_scale", "need_scale", "reciprocal_scale", "_decays"):
            setattr(self, name, getattr(optimizer, name))
        self.weight_decay, self.decay_flags = optimizer.weight_decay, optimizer.decay_flags
        self.exec_weight_decay = optimizer.exec_weight_decay
        self.dynamic_weight_decay = optimizer.dynamic_weight_decay
        # From here on these are done before the optimiser sees the gradients.
        optimizer.exec_weight_decay = optimizer.dynamic_weight_decay = False
        optimizer.decay_flags = (False,) * self.param_length
        optimizer.need_scale = False

    def construct(self, gradients) -> Any:
        """Take one step of the optimiser by the scaled gradients; what it returns."""
        rates = self.opt.get_lr() if self.use_clip else self.learning_rate
        if not isinstance(rates, tuple):
            rates = (rates,) * self.param_length
        decays = self._decayed_by()
        scale = self.reciprocal_scale if self.need_scale else None
        step, scaled = FusedUpdate(), []
        rows = zip(self.parameters, checked_gradients(self, gradients), strict=True)
        for n, (parameter, gradient) in enumerate(rows):
            # A handle of its own: what the rule gives is assigned to it.
            handle = new_tensor(resolve(gradient))
            scaled.append(handle)
            decay = decays[n] if self.exec_weight_decay and self.decay_flags[n] else None
            inputs = parameter, handle, rates[n], self.epsilon, self.coefficient, decay, scale
            if self.lars_flag[n]:
                step.add(rules.layerwise, [handle], inputs, self.use_clip)
            elif scale is not None:
                scaled[-1] = gradient * scale
        step.record()
        return self.opt(tuple(scaled))
