# SPDX-License-Identifier: Apache-2.0
"""Operators that change Parameters in place: what optimisers of users are made of.

Each returns the new values, and gives them to the handles it was called with.
"""

from __future__ import annotations

from mycel.kernel.base.dtypes import float32, float64
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve, update
from mycel.kernel.spell import composite
from mycel.ops.update import rules


def updated(handles, made):
    """Give the new values to the handles; plain Tensors of them."""
    several = isinstance(made, tuple)
    for handle, tensor in zip(handles, made if several else (made,), strict=True):
        if not isinstance(handle, Tensor):
            expected = "a Parameter or a Tensor"
            raise wrong(TypeError, "What is updated", expected, type(handle).__name__)
        update(handle, tensor)
    return made


def settings_for(target, *values):
    """Rates and their like as Tensors without dimensions, not in the half precision of `target`."""
    if not isinstance(target, Tensor):
        expected = "a Parameter or a Tensor"
        raise wrong(TypeError, "What is updated", expected, type(target).__name__)
    kind = float64 if target.dtype is float64 else float32
    return [_setting(value, kind) for value in values]


def _setting(value, kind):
    if isinstance(value, Tensor):
        return value.reshape(()) if value.ndim else value
    return Tensor(value, kind)


def _moved(variable, value, sign: int, what: str):
    if not isinstance(variable, Tensor):
        expected = "a Parameter or a Tensor"
        raise wrong(TypeError, f"{what}: variable", expected, type(variable).__name__)
    if isinstance(value, Tensor) and value.shape != variable.shape:
        raise wrong(ValueError, f"{what}: value", f"of shape {variable.shape}", value.shape)
    made = variable + value if sign > 0 else variable - value
    update(variable, made if made.dtype is variable.dtype else made.astype(variable.dtype))
    return new_tensor(resolve(variable))


@composite("ops.assign_add(variable, value)", "AssignAdd()(variable, value)")
def assign_add(variable, value):
    """Add to a Parameter in place: a number, or a Tensor of its shape.

    Returns:
        The new value, a Tensor.

    Raises:
        ValueError: a Tensor of another shape.
        TypeError: `variable` is neither a Parameter nor a Tensor.

    Example:
        >>> p = Parameter(Tensor([1.0, 2.0]), name="p")
        >>> print(ops.assign_add(p, Tensor([1.0, 1.0])), p.asnumpy())
        [2. 3.] [2. 3.]
    """
    return _moved(variable, value, 1, "assign_add")


@composite("ops.assign_sub(variable, value)", "AssignSub()(variable, value)")
def assign_sub(variable, value):
    """Subtract from a Parameter in place: a number, or a Tensor of its shape.

    Returns:
        The new value, a Tensor.

    Raises:
        ValueError: a Tensor of another shape.
        TypeError: `variable` is neither a Parameter nor a Tensor.

    Example:
        >>> p = Parameter(Tensor([1.0, 2.0]), name="p")
        >>> print(ops.assign_sub(p, Tensor([1.0, 1.0])), p.asnumpy())
        [0. 1.] [0. 1.]
    """
    return _moved(variable, value, -1, "assign_sub")


@composite(
    "Adam(use_locking=False, use_nesterov=False)"
    "(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient)"
)
def apply_adam(
    var,
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    gradient,
    use_locking=False,
    use_nesterov=False,
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adam: (var, m, v), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        beta2_power: beta2 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        gradient: the gradient, of the shape of `var`.
        use_locking: no effect.
        use_nesterov: look one step ahead with the mean; False by default.

    Example:
        >>> w, m, v = (Parameter(Tensor([1.0]), name=name) for name in "wmv")
        >>> done = ops.Adam()(w, m, v, 0.5, 0.5, 0.25, 0.5, 0.5, 0.0, Tensor([1.0]))
        >>> print(w.asnumpy().round(4))
        [0.6464]
    """
    settings = settings_for(var, lr, beta1_power, beta2_power, beta1, beta2, epsilon)
    return updated((var, m, v), rules.adam(var, m, v, gradient, *settings, nesterov=use_nesterov))


@composite(
    "AdamNoUpdateParam(use_locking=False, use_nesterov=False)"
    "(m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient)"
)
def apply_adam_step(
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    gradient,
    use_locking=False,
    use_nesterov=False,
):
    """What a step of Adam adds to a Parameter; m and v change in place.

    Args:
        m: the mean of the gradients, of any shape; changed in place.
        v: the mean of their squares, of the shape of `m`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        beta2_power: beta2 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        gradient: the gradient, of the shape of `m`.
        use_locking: no effect.
        use_nesterov: look one step ahead with the mean; False by default.

    Example:
        >>> m, v = (Parameter(Tensor([1.0]), name=name) for name in "mv")
        >>> step = ops.AdamNoUpdateParam()(m, v, 0.5, 0.5, 0.25, 0.5, 0.5, 0.0, Tensor([1.0]))
        >>> print(step.asnumpy().round(4))
        [-0.3536]
    """
    settings = settings_for(m, lr, beta1_power, beta2_power, beta1, beta2, epsilon)
    made = rules.adam(m * 0, m, v, gradient, *settings, nesterov=use_nesterov)
    updated((m, v), made[1:])
    return made[0]


@composite(
    "AdamWeightDecay(use_locking=False)(var, m, v, lr, beta1, beta2, epsilon, decay, gradient)"
)
def apply_adam_weight_decay(
    var, m, v, lr, beta1, beta2, epsilon, decay, gradient, use_locking=False
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adam without correction of the start, the decay beside it: (var, m, v).

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        decay: this part of `var` is added to the step.
        gradient: the gradient, of the shape of `var`.
        use_locking: no effect.

    Example:
        >>> w, m, v = (Parameter(Tensor([1.0]), name=name) for name in "wmv")
        >>> done = ops.AdamWeightDecay()(w, m, v, 0.5, 0.5, 0.5, 0.0, 0.5, Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.25]
    """
    settings = settings_for(var, lr, beta1, beta2, epsilon, decay)
    return updated((var, m, v), rules.adam_weight_decay(var, m, v, gradient, *settings))


@composite(
    "FusedCastAdamWeightDecay(use_locking=False)"
    "(var, m, v, lr, beta1, beta2, epsilon, decay, gradient, global_norm)"
)
def apply_adam_weight_decay_scaled(
    var, m, v, lr, beta1, beta2, epsilon, decay, gradient, global_norm=1.0, use_locking=False
) -> tuple[Tensor, Tensor, Tensor]:
    """AdamWeightDecay of the gradient divided by `global_norm`, computed in Float32.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        decay: this part of `var` is added to the step.
        gradient: the gradient, of the shape of `var`.
        global_norm: a number that the gradient is divided by; 1 by default.
        use_locking: no effect.

    Example:
        >>> w = Parameter(Tensor([1.0], ms.float16), name="w")
        >>> m, v = (Parameter(Tensor([1.0]), name=name) for name in "mv")
        >>> gradient = Tensor([2.0], ms.float16)
        >>> done = ops.FusedCastAdamWeightDecay()(w, m, v, 0.5, 0.5, 0.5, 0.0, 0.5, gradient, 2.0)
        >>> print(w.asnumpy())
        [0.25]
    """
    *settings, norm = settings_for(m, lr, beta1, beta2, epsilon, decay, global_norm)
    gradient = gradient.astype(float32) / norm
    return updated((var, m, v), rules.adam_weight_decay(var, m, v, gradient, *settings))


def _amsgrad(var, m, v, vhat, power1, power2, lr, beta1, beta2, epsilon, grad):
    settings = settings_for(var, lr, power1, power2, beta1, beta2, epsilon)
    return updated((var, m, v, vhat), rules.adam(var, m, v, grad, *settings, largest=vhat))


@composite(
    "ApplyAdamWithAmsgrad(beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False)"
    "(var, m, v, vhat, beta1_power, beta2_power, lr, grad)"
)
def apply_adam_with_amsgrad(
    var,
    m,
    v,
    vhat,
    beta1_power,
    beta2_power,
    lr,
    grad,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-08,
    use_locking=False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One step of Adam by the largest mean square so far: (var, m, v, vhat), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        vhat: the largest mean of squares so far, of the shape of `var`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        beta2_power: beta2 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        grad: the gradient, of the shape of `var`.
        beta1: how slowly the mean follows; 0.9 by default.
        beta2: how slowly the mean square follows; 0.999 by default.
        epsilon: a number added to the root; 1e-8 by default.
        use_locking: no effect.

    Example:
        >>> w, m, v, top = (Parameter(Tensor([1.0]), name=name) for name in "wmvt")
        >>> done = ops.ApplyAdamWithAmsgrad()(w, m, v, top, 0.5, 0.5, 0.25, Tensor([1.0]))
        >>> print(w.asnumpy().round(4))
        [0.6464]
    """
    return _amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)


@composite(
    "ApplyAdamWithAmsgradV2(use_locking=False)"
    "(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)"
)
def apply_adam_with_amsgrad_settings(
    var,
    m,
    v,
    vhat,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    grad,
    use_locking=False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """ApplyAdamWithAmsgrad whose betas and epsilon are inputs.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        vhat: the largest mean of squares so far, of the shape of `var`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        beta2_power: beta2 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        grad: the gradient, of the shape of `var`.
        use_locking: no effect.

    Example:
        >>> w, m, v, top = (Parameter(Tensor([1.0]), name=name) for name in "wmvt")
        >>> done = ops.ApplyAdamWithAmsgradV2()(
        ...     w, m, v, top, 0.5, 0.5, 0.25, 0.5, 0.5, 0.0, Tensor([1.0]))
        >>> print(w.asnumpy().round(4))
        [0.6464]
    """
    return _amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)


@composite("ApplyAdaMax()(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad)")
def apply_ada_max(
    var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of AdaMax: (var, m, v), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the largest gradient, which fades, of the shape of `var`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the largest one fades, a number from 0 to 1.
        epsilon: a number added to the largest one.
        grad: the gradient, of the shape of `var`.

    Example:
        >>> w, m, v = (Parameter(Tensor([1.0]), name=name) for name in "wmv")
        >>> done = ops.ApplyAdaMax()(w, m, v, 0.5, 0.25, 0.5, 0.5, 0.0, Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.5]
    """
    settings = settings_for(var, lr, beta1_power, beta1, beta2, epsilon)
    return updated((var, m, v), rules.ada_max(var, m, v, grad, *settings))


@composite("ApplyAdadelta()(var, accum, accum_update, lr, rho, epsilon, grad)")
def apply_adadelta(
    var, accum, accum_update, lr, rho, epsilon, grad
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adadelta: (var, accum, accum_update), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        accum: the mean of squared gradients, of the shape of `var`; changed in place.
        accum_update: the mean of squared steps, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        rho: how slowly both means follow, a number from 0 to 1.
        epsilon: a number added under the roots.
        grad: the gradient, of the shape of `var`.

    Example:
        >>> w, a, u = (Parameter(Tensor([1.0]), name=name) for name in "wau")
        >>> done = ops.ApplyAdadelta()(w, a, u, 0.5, 0.5, 0.0, Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.5]
    """
    settings = settings_for(var, lr, rho, epsilon)
    handles = var, accum, accum_update
    return updated(handles, rules.adadelta(*handles, grad, *settings))


@composite("ApplyAdagrad(update_slots=True)(var, accum, lr, grad)")
def apply_adagrad(var, accum, lr, grad, update_slots=True) -> tuple[Tensor, Tensor]:
    """One step of Adagrad: (var, accum), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        grad: the gradient, of the shape of `var`.
        update_slots: whether squares are added to `accum`; True by default.

    Example:
        >>> w, a = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([3.0]), name="a")
        >>> print(*ops.ApplyAdagrad()(w, a, 0.5, Tensor([1.0])))
        [0.75] [4.]
    """
    made = rules.adagrad(var, accum, grad, *settings_for(var, lr), update=update_slots)
    return updated((var, accum), made)


@composite("ApplyAdagradV2(epsilon, update_slots=True)(var, accum, lr, grad)")
def apply_adagrad_shifted(
    var, accum, lr, grad, epsilon, update_slots=True
) -> tuple[Tensor, Tensor]:
    """One step of Adagrad with epsilon beside the root: (var, accum), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        grad: the gradient, of the shape of `var`.
        epsilon: a number added to the root.
        update_slots: whether squares are added to `accum`; True by default.

    Example:
        >>> w, a = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([3.0]), name="a")
        >>> print(*ops.ApplyAdagradV2(2.0)(w, a, 0.5, Tensor([1.0])))
        [0.875] [4.]
    """
    settings = settings_for(var, lr, epsilon)
    made = rules.adagrad_beside(var, accum, grad, *settings, update=update_slots)
    return updated((var, accum), made)


@composite(
    "ApplyAdagradDA(use_locking=False)"
    "(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step)"
)
def apply_adagrad_dual(
    var,
    gradient_accumulator,
    gradient_squared_accumulator,
    grad,
    lr,
    l1,
    l2,
    global_step,
    use_locking=False,
) -> Tensor:
    """One step of Adagrad by dual averaging: var, changed in place with both sums.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        gradient_accumulator: the sum of gradients, of the shape of `var`; changed in place.
        gradient_squared_accumulator: the sum of their squares, of the shape of `var`; changed
            in place.
        grad: the gradient, of the shape of `var`.
        lr: the learning rate, a number or a Tensor without dimensions.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        global_step: the number of the step, from 1.
        use_locking: no effect.

    Example:
        >>> w, s, q = (Parameter(Tensor([1.0]), name=name) for name in "wsq")
        >>> print(ops.ApplyAdagradDA()(w, s, q, Tensor([0.0]), 0.5, 0.0, 0.0, 1))
        [-0.5]
    """
    settings = settings_for(var, lr, l1, l2, global_step)
    handles = var, gradient_accumulator, gradient_squared_accumulator
    return updated(handles, rules.dual_averaging(*handles, grad, *settings))[0]


@composite("ApplyAddSign()(var, m, lr, alpha, sign_decay, beta, grad)")
def apply_add_sign(var, m, lr, alpha, sign_decay, beta, grad) -> tuple[Tensor, Tensor]:
    """One step of AddSign: (var, m), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        alpha: what the agreement of signs is added to, a number.
        sign_decay: what the agreement is multiplied by, a number.
        beta: how slowly the mean follows, a number from 0 to 1.
        grad: the gradient, of the shape of `var`.

    Example:
        >>> w, m = (Parameter(Tensor([1.0]), name=name) for name in "wm")
        >>> print(*ops.ApplyAddSign()(w, m, 0.25, 1.0, 1.0, 0.5, Tensor([1.0])))
        [0.5] [1.]
    """
    settings = settings_for(var, lr, alpha, sign_decay, beta)
    return updated((var, m), rules.sign_agreement(var, m, grad, *settings, exponential=False))


@composite("ApplyPowerSign()(var, m, lr, logbase, sign_decay, beta, grad)")
def apply_power_sign(var, m, lr, logbase, sign_decay, beta, grad) -> tuple[Tensor, Tensor]:
    """One step of PowerSign: (var, m), changed in place.

    Args:
        var: a Parameter or Tensor of any shape; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        logbase: the logarithm of the base of the power, a number.
        sign_decay: what the agreement of signs is multiplied by, a number.
        beta: how slowly the mean follows, a number from 0 to 1.
        grad: the gradient, of the shape of `var`.

    Example:
        >>> w, m = (Parameter(Tensor([1.0]), name=name) for name in "wm")
        >>> print(*ops.ApplyPowerSign()(w, m, 0.25, 0.0, 1.0, 0.5, Tensor([1.0])))
        [0.75] [1.]
    """
    settings = settings_for(var, lr, logbase, sign_decay, beta)
    return updated((var, m), rules.sign_agreement(var, m, grad, *settings, exponential=True))
