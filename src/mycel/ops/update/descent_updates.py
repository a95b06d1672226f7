# SPDX-License-Identifier: Apache-2.0
"""Operators that change Parameters in place: descent, momentum, mean squares, proximal steps."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite
from mycel.ops.update import rules
from mycel.ops.update.updates import settings_for, updated


@composite("ApplyGradientDescent()(var, alpha, delta)")
def apply_gradient_descent(var, alpha, delta):
    """var - alpha · delta, in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        alpha: the learning rate, a number or a Tensor without dimensions.
        delta: the gradient, of the shape of `var`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> print(ops.ApplyGradientDescent()(w, 0.25, Tensor([2.0])))
        [0.5]
    """
    return updated((var,), rules.descend(var, delta, *settings_for(var, alpha)))


@composite("ApplyProximalGradientDescent()(var, alpha, l1, l2, delta)")
def apply_proximal_gradient_descent(var, alpha, l1, l2, delta):
    """A step along delta and towards 0, by the weights l1 and l2 of its norms; in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        alpha: the learning rate, a number or a Tensor without dimensions.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        delta: the gradient, of the shape of `var`.

    Example:
        >>> w = Parameter(Tensor([2.0]), name="w")
        >>> print(ops.ApplyProximalGradientDescent()(w, 1.0, 0.5, 0.0, Tensor([1.0])))
        [0.5]
    """
    settings = settings_for(var, alpha, l1, l2)
    return updated((var,), rules.proximal_descend(var, delta, *settings))


@composite("ApplyProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad)")
def apply_proximal_adagrad(
    var, accum, lr, l1, l2, grad, use_locking=False
) -> tuple[Tensor, Tensor]:
    """One step of Adagrad towards 0 by the weights l1 and l2: (var, accum), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        grad: the gradient, of the shape of `var`.
        use_locking: no effect.

    Example:
        >>> w, a = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([3.0]), name="a")
        >>> print(*ops.ApplyProximalAdagrad()(w, a, 0.5, 1.0, 0.0, Tensor([1.0])))
        [0.5] [4.]
    """
    settings = settings_for(var, lr, l1, l2)
    return updated((var, accum), rules.proximal_adagrad(var, accum, grad, *settings))


@composite("ApplyFtrl(use_locking=False)(var, accum, linear, grad, lr, l1, l2, lr_power)")
def apply_ftrl(var, accum, linear, grad, lr, l1=0.0, l2=0.0, lr_power=-0.5, use_locking=False):
    """One step towards the regularised leader: var; accum and linear change in place as well.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        linear: the linear coefficients, of the shape of `var`; changed in place.
        grad: the gradient, of the shape of `var`.
        lr: the learning rate, a number or a Tensor without dimensions.
        l1: the weight of the sum of sizes; 0 by default.
        l2: the weight of the sum of squares; 0 by default.
        lr_power: the power of the sums that divides the rate; -0.5 by default.
        use_locking: no effect.

    Example:
        >>> w, a, b = (Parameter(Tensor([1.0]), name=name) for name in "wab")
        >>> print(ops.ApplyFtrl()(w, a, b, Tensor([0.0]), 1.0, 0.0, 0.0, -0.5))
        [-1.]
    """
    settings = settings_for(var, lr, l1, l2, lr_power)
    handles = var, accum, linear
    return updated(handles, rules.ftrl(*handles, grad, *settings))[0]


@composite(
    "ApplyMomentum(use_nesterov=False, use_locking=False, gradient_scale=1.0)"
    "(variable, accumulation, learning_rate, gradient, momentum)"
)
def apply_momentum(
    variable,
    accumulation,
    learning_rate,
    gradient,
    momentum,
    use_nesterov=False,
    use_locking=False,
    gradient_scale=1.0,
):
    """One step of Momentum: the variable, changed in place with its accumulation.

    Args:
        variable: a Parameter or Tensor of any shape; changed in place.
        accumulation: the moment, of the shape of `variable`; changed in place.
        learning_rate: the learning rate, a number or a Tensor without dimensions.
        gradient: the gradient, of the shape of `variable`.
        momentum: how much of the last step goes on, a number of at least 0.
        use_nesterov: step by gradient + momentum · moment; False by default.
        use_locking: no effect.
        gradient_scale: a number that the gradient is multiplied by; 1 by default.

    Example:
        >>> w, v = (Parameter(Tensor([1.0]), name=name) for name in "wv")
        >>> print(ops.ApplyMomentum()(w, v, 0.5, Tensor([1.0]), 0.5), v.asnumpy())
        [0.25] [1.5]
    """
    settings = settings_for(variable, learning_rate, momentum)
    scale = None if gradient_scale == 1.0 else settings_for(variable, gradient_scale)[0]
    handles = variable, accumulation
    made = rules.momentum(*handles, gradient, *settings, scale=scale, nesterov=use_nesterov)
    return updated(handles, made)[0]


@composite(
    "FusedWeightScaleApplyMomentum()"
    "(weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, momentum)"
)
def apply_momentum_with_decay(
    weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, momentum
):
    """One step of Momentum by (gradient + weight_decay · variable) · loss_scale, in place.

    Args:
        weight_decay: this part of `variable` is added to the gradient.
        loss_scale: a number that the gradient is multiplied by.
        variable: a Parameter or Tensor of any shape; changed in place.
        accumulation: the moment, of the shape of `variable`; changed in place.
        learning_rate: the learning rate, a number or a Tensor without dimensions.
        gradient: the gradient, of the shape of `variable`.
        momentum: how much of the last step goes on, a number of at least 0.

    Example:
        >>> w, v = (Parameter(Tensor([1.0]), name=name) for name in "wv")
        >>> step = ops.FusedWeightScaleApplyMomentum()
        >>> print(step(0.5, 2.0, w, v, 0.25, Tensor([0.5]), 0.0), v.asnumpy())
        [0.5] [2.]
    """
    settings = settings_for(variable, learning_rate, momentum, weight_decay, loss_scale)
    handles = variable, accumulation
    return updated(handles, rules.momentum(*handles, gradient, *settings))[0]


@composite(
    "ApplyKerasMomentum(use_locking=False, use_nesterov=False)(var, accum, lr, grad, momentum)"
)
def apply_keras_momentum(
    var, accum, lr, grad, momentum, use_locking=False, use_nesterov=False
) -> tuple[Tensor, Tensor]:
    """One step of momentum that keeps the step itself: (var, accum), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        accum: the last step, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        grad: the gradient, of the shape of `var`.
        momentum: how much of the last step goes on, a number of at least 0.
        use_locking: no effect.
        use_nesterov: step by momentum · accum - lr · grad; False by default.

    Example:
        >>> w, v = (Parameter(Tensor([1.0]), name=name) for name in "wv")
        >>> print(*ops.ApplyKerasMomentum()(w, v, 0.5, Tensor([1.0]), 0.5))
        [1.] [0.]
    """
    settings = settings_for(var, lr, momentum)
    made = rules.keras_momentum(var, accum, grad, *settings, nesterov=use_nesterov)
    return updated((var, accum), made)


@composite(
    "SGD(dampening=0.0, weight_decay=0.0, nesterov=False)"
    "(parameters, gradient, learning_rate, accum, momentum, stat)"
)
def apply_stochastic_descent(
    parameters,
    gradient,
    learning_rate,
    accum,
    momentum,
    stat,
    dampening=0.0,
    weight_decay=0.0,
    nesterov=False,
):
    """One step of SGD with momentum: the parameters, changed in place with accum and stat.

    Args:
        parameters: a Parameter or Tensor of any shape; changed in place.
        gradient: the gradient, of the shape of `parameters`.
        learning_rate: the learning rate, a number or a Tensor without dimensions.
        accum: the moment, of the shape of `parameters`; changed in place.
        momentum: how much of the last step goes on, a number of at least 0.
        stat: 1 until the first step, whose gradient is not dampened; of the shape of `parameters`;
            changed in place.
        dampening: how much less of the gradient counts from the second step on; 0 by default.
        weight_decay: this part of `parameters` is added to the gradient; 0 by default.
        nesterov: step by gradient + momentum · moment; False by default.

    Raises:
        ValueError: `nesterov` with dampening.

    Example:
        >>> w, v, first = (Parameter(Tensor([1.0]), name=name) for name in "wvf")
        >>> print(ops.SGD()(w, Tensor([1.0]), 0.5, v, 0.5, first), first.asnumpy())
        [0.5] [0.]
    """
    if nesterov and dampening != 0:
        raise wrong(ValueError, "SGD: dampening", "0 with nesterov", dampening)
    rate, force, decay = settings_for(parameters, learning_rate, momentum, weight_decay)
    handles = parameters, accum, stat
    inputs = *handles, gradient, rate, force, decay if weight_decay else None
    made = rules.stochastic(*inputs, dampening=float(dampening), nesterov=nesterov)
    return updated(handles, made)[0]


@composite(
    "ApplyRMSProp(use_locking=False)"
    "(var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon)"
)
def apply_root_mean_square(
    var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon, use_locking=False
):
    """One step of RMSProp: var, changed in place with mean_square and moment.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        mean_square: the mean of squared gradients, of the shape of `var`; changed in place.
        moment: the last step, of the shape of `var`; changed in place.
        learning_rate: the learning rate, a number or a Tensor without dimensions.
        grad: the gradient, of the shape of `var`.
        decay: how slowly the mean square follows, a number from 0 to 1.
        momentum: how much of the last step goes on, a number of at least 0.
        epsilon: a number added under the root.
        use_locking: no effect.

    Example:
        >>> w, s, m = (Parameter(Tensor([1.0]), name=name) for name in "wsm")
        >>> print(ops.ApplyRMSProp()(w, s, m, 0.5, Tensor([1.0]), 0.5, 0.0, 0.0))
        [0.5]
    """
    settings = settings_for(var, learning_rate, decay, momentum, epsilon)
    handles = var, mean_square, moment
    return updated(handles, rules.root_mean_square(*handles, grad, *settings))[0]


@composite(
    "ApplyCenteredRMSProp(use_locking=False)"
    "(var, mean_gradient, mean_square, moment, grad, learning_rate, decay, momentum, epsilon)"
)
def apply_centered_root_mean_square(
    var,
    mean_gradient,
    mean_square,
    moment,
    grad,
    learning_rate,
    decay,
    momentum,
    epsilon,
    use_locking=False,
):
    """One step of RMSProp by the spread around the mean gradient: var; all change in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        mean_gradient: the mean of the gradients, of the shape of `var`; changed in place.
        mean_square: the mean of their squares, of the shape of `var`; changed in place.
        moment: the last step, of the shape of `var`; changed in place.
        grad: the gradient, of the shape of `var`.
        learning_rate: the learning rate, a number or a Tensor without dimensions.
        decay: how slowly both means follow, a number from 0 to 1.
        momentum: how much of the last step goes on, a number of at least 0.
        epsilon: a number added under the root.
        use_locking: no effect.

    Example:
        >>> w, g, s, m = (Parameter(Tensor([1.0]), name=name) for name in "wgsm")
        >>> step = ops.ApplyCenteredRMSProp()
        >>> print(step(w, g, s, m, Tensor([1.0]), 0.5, 0.5, 0.0, 1.0))
        [0.5]
    """
    settings = settings_for(var, learning_rate, decay, momentum, epsilon)
    made = rules.root_mean_square(var, mean_square, moment, grad, *settings, mean=mean_gradient)
    return updated((var, mean_square, moment, mean_gradient), made)[0]


@composite(
    "LARSUpdate(epsilon=1e-05, hyperpara=0.001, use_clip=False)"
    "(weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate)"
)
def layerwise_update(
    weight,
    gradient,
    norm_weight,
    norm_gradient,
    weight_decay,
    learning_rate,
    epsilon=1e-05,
    hyperpara=0.001,
    use_clip=False,
):
    """The gradient of a layer, scaled by the trust that the norms of both give; nothing changes.

    Args:
        weight: the Parameter or a Tensor, of any shape.
        gradient: its gradient, of the shape of `weight`.
        norm_weight, norm_gradient: the sums of squares of weight and gradient, without dimensions.
        weight_decay: this part of `weight` is added to the gradient.
        learning_rate: what the trust is divided by, with `use_clip`.
        epsilon: a number added to the norms; 1e-5 by default.
        hyperpara: how far a layer is trusted; 0.001 by default.
        use_clip: no trust is above the learning rate; False by default.

    Example:
        >>> one = Tensor([1.0])
        >>> print(ops.LARSUpdate(0.0, 0.5)(one, one, Tensor(4.0), Tensor(1.0), 0.0, 1.0))
        [1.]
    """
    settings = settings_for(
        weight, norm_weight, norm_gradient, weight_decay, learning_rate, epsilon, hyperpara
    )
    return rules.layerwise_scaled(weight, gradient, *settings, clip=use_clip)
