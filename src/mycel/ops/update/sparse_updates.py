# SPDX-License-Identifier: Apache-2.0
"""Operators that change some rows of Parameters in place, those that indices name.

What a name begins with Fused adds gradients of one row first; the others expect each row once.
"""

from __future__ import annotations

import jax.numpy as jnp

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.common import as_wide
from mycel.ops.update import rules
from mycel.ops.update.updates import settings_for, updated


def _in_rows(x, indices):
    return [Bounds(1, 0, x.shape[0])]


def _of_rows(gradient, indices, *, rows):
    return [Bounds(1, 0, rows)]


@op(indices=_in_rows)
def rows_of(x, indices):
    """The rows of an array that indices name."""
    return x[indices]


@op(indices=lambda x, rows, indices: [Bounds(2, 0, x.shape[0])])
def with_rows(x, rows, indices):
    """An array with other rows where indices say."""
    return x.at[indices].set(rows.astype(x.dtype))


@op(indices=_of_rows)
def rows_together(gradient, indices, *, rows):
    """For each row of a gradient the sum over all rows of its index."""
    return spread_rows.definition.function(gradient, indices, rows=rows)[indices]


@op(indices=_of_rows)
def spread_rows(gradient, indices, *, rows):
    """The gradient of a whole array, of which only the rows at indices are not 0."""
    wide = as_wide(gradient)
    whole = jnp.zeros((rows, *gradient.shape[1:]), wide.dtype).at[indices].add(wide)
    return whole.astype(gradient.dtype)


def _at_rows(rule, handles, gradient, indices, settings, together=False, **choices):
    """Apply a rule to rows of the handles, and put them back."""
    if together:
        gradient = rows_together(gradient, indices, handles[0].shape[0])
    parts = [rows_of(handle, indices) for handle in handles]
    made = rule(*parts, gradient, *settings, **choices)
    pairs = zip(handles, made, strict=True)
    return updated(handles, tuple(with_rows(handle, rows, indices) for handle, rows in pairs))


@composite(
    "FusedSparseAdam(use_locking=False, use_nesterov=False)"
    "(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, indices)"
)
def apply_sparse_adam(
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
    indices,
    use_locking=False,
    use_nesterov=False,
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adam by a gradient that is 0 but for some rows: (var, m, v); all rows move.

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        beta2_power: beta2 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        gradient: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0]; rows of one index are added up.
        use_locking: no effect.
        use_nesterov: look one step ahead with the mean; False by default.

    Example:
        >>> w, m, v = (Parameter(Tensor([[1.0], [1.0]]), name=name) for name in "wmv")
        >>> settings = 0.5, 0.5, 0.25, 0.5, 0.5, 0.0
        >>> done = ops.FusedSparseAdam()(w, m, v, *settings, Tensor([[1.0]]), Tensor([1]))
        >>> print(m.asnumpy().reshape(-1))
        [0.5 1. ]
    """
    settings = settings_for(var, lr, beta1_power, beta2_power, beta1, beta2, epsilon)
    whole = spread_rows(gradient, indices, var.shape[0])
    return updated((var, m, v), rules.adam(var, m, v, whole, *settings, nesterov=use_nesterov))


@composite(
    "FusedSparseLazyAdam(use_locking=False, use_nesterov=False)"
    "(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, indices)"
)
def apply_lazy_adam(
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
    indices,
    use_locking=False,
    use_nesterov=False,
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adam for some rows: (var, m, v), whose other rows stay as they are.

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        m: the mean of the gradients, of the shape of `var`; changed in place.
        v: the mean of their squares, of the shape of `var`; changed in place.
        beta1_power: beta1 to the power of the number of the step, from 1.
        beta2_power: beta2 to the power of the number of the step, from 1.
        lr: the learning rate, a number or a Tensor without dimensions.
        beta1: how slowly the mean follows, a number from 0 to 1.
        beta2: how slowly the mean square follows, a number from 0 to 1.
        epsilon: a number added to the root.
        gradient: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0]; rows of one index are added up.
        use_locking: no effect.
        use_nesterov: look one step ahead with the mean; False by default.

    Example:
        >>> w, m, v = (Parameter(Tensor([[1.0], [1.0]]), name=name) for name in "wmv")
        >>> settings = 0.5, 0.5, 0.25, 0.5, 0.5, 0.0
        >>> done = ops.FusedSparseLazyAdam()(w, m, v, *settings, Tensor([[3.0]]), Tensor([1]))
        >>> print(m.asnumpy().reshape(-1))
        [1. 2.]
    """
    settings = settings_for(var, lr, beta1_power, beta2_power, beta1, beta2, epsilon)
    handles = var, m, v
    return _at_rows(rules.adam, handles, gradient, indices, settings, True, nesterov=use_nesterov)


@composite(
    "FusedSparseFtrl(lr, l1, l2, lr_power, use_locking=False)(var, accum, linear, grad, indices)"
)
def apply_fused_sparse_ftrl(
    var, accum, linear, grad, indices, lr, l1, l2, lr_power, use_locking=False
) -> tuple[Tensor, Tensor, Tensor]:
    """One step towards the regularised leader, for some rows: (var, accum, linear).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        linear: the linear coefficients, of the shape of `var`; changed in place.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0]; rows of one index are added up.
        lr: the learning rate, a number.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        lr_power: the power of the sums that divides the rate, of at most 0.
        use_locking: no effect.

    Example:
        >>> w, a, b = (Parameter(Tensor([[1.0], [1.0]]), name=name) for name in "wab")
        >>> update = ops.FusedSparseFtrl(1.0, 0.0, 0.0, -0.5)
        >>> done = update(w, a, b, Tensor([[0.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [ 1. -1.]
    """
    settings = settings_for(var, lr, l1, l2, lr_power)
    return _at_rows(rules.ftrl, (var, accum, linear), grad, indices, settings, True)


@composite(
    "SparseApplyFtrl(lr, l1, l2, lr_power, use_locking=False)(var, accum, linear, grad, indices)"
)
def apply_sparse_ftrl(
    var, accum, linear, grad, indices, lr, l1, l2, lr_power, use_locking=False
) -> tuple[Tensor, Tensor, Tensor]:
    """FusedSparseFtrl for indices that name each row once: (var, accum, linear).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        linear: the linear coefficients, of the shape of `var`; changed in place.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0], each once.
        lr: the learning rate, a number.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        lr_power: the power of the sums that divides the rate, of at most 0.
        use_locking: no effect.

    Example:
        >>> w, a, b = (Parameter(Tensor([[1.0], [1.0]]), name=name) for name in "wab")
        >>> update = ops.SparseApplyFtrl(1.0, 0.0, 0.0, -0.5)
        >>> done = update(w, a, b, Tensor([[0.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [ 1. -1.]
    """
    settings = settings_for(var, lr, l1, l2, lr_power)
    return _at_rows(rules.ftrl, (var, accum, linear), grad, indices, settings)


@composite("FusedSparseProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad, indices)")
def apply_fused_sparse_proximal(
    var, accum, lr, l1, l2, grad, indices, use_locking=False
) -> tuple[Tensor, Tensor]:
    """One step of Adagrad towards 0, for some rows: (var, accum).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0]; rows of one index are added up.
        use_locking: no effect.

    Example:
        >>> w, a = (Parameter(Tensor([[3.0], [3.0]]), name=name) for name in "wa")
        >>> update = ops.FusedSparseProximalAdagrad()
        >>> done = update(w, a, 2.0, 1.0, 0.0, Tensor([[1.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [3. 1.]
    """
    settings = settings_for(var, lr, l1, l2)
    return _at_rows(rules.proximal_adagrad, (var, accum), grad, indices, settings, True)


@composite("SparseApplyProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad, indices)")
def apply_sparse_proximal(
    var, accum, lr, l1, l2, grad, indices, use_locking=False
) -> tuple[Tensor, Tensor]:
    """FusedSparseProximalAdagrad for indices that name each row once: (var, accum).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        l1: the weight of the sum of sizes, a number of at least 0.
        l2: the weight of the sum of squares, a number of at least 0.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0], each once.
        use_locking: no effect.

    Example:
        >>> w, a = (Parameter(Tensor([[3.0], [3.0]]), name=name) for name in "wa")
        >>> update = ops.SparseApplyProximalAdagrad()
        >>> done = update(w, a, 2.0, 1.0, 0.0, Tensor([[1.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [3. 1.]
    """
    settings = settings_for(var, lr, l1, l2)
    return _at_rows(rules.proximal_adagrad, (var, accum), grad, indices, settings)


@composite(
    "SparseApplyAdagrad(lr, update_slots=True, use_locking=False)(var, accum, grad, indices)"
)
def apply_sparse_adagrad(
    var, accum, grad, indices, lr, update_slots=True, use_locking=False
) -> tuple[Tensor, Tensor]:
    """One step of Adagrad for some rows, each named once: (var, accum).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0], each once.
        lr: the learning rate, a number.
        update_slots: whether squares are added to `accum`; True by default.
        use_locking: no effect.

    Example:
        >>> w, a = (Parameter(Tensor([[3.0], [3.0]]), name=name) for name in "wa")
        >>> done = ops.SparseApplyAdagrad(2.0)(w, a, Tensor([[1.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [3. 2.]
    """
    rate = settings_for(var, lr)
    handles = var, accum
    choices = {"update": update_slots, "shifted": False}
    return _at_rows(rules.adagrad, handles, grad, indices, rate, **choices)


@composite(
    "SparseApplyAdagradV2(lr, epsilon, use_locking=False, update_slots=True)"
    "(var, accum, grad, indices)"
)
def apply_sparse_adagrad_shifted(
    var, accum, grad, indices, lr, epsilon, use_locking=False, update_slots=True
) -> tuple[Tensor, Tensor]:
    """SparseApplyAdagrad with epsilon beside the root: (var, accum).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the sum of squared gradients, of the shape of `var`; changed in place.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0], each once.
        lr: the learning rate, a number.
        epsilon: a number added to the root.
        use_locking: no effect.
        update_slots: whether squares are added to `accum`; True by default.

    Example:
        >>> w, a = (Parameter(Tensor([[3.0], [3.0]]), name=name) for name in "wa")
        >>> done = ops.SparseApplyAdagradV2(2.0, 2.0)(w, a, Tensor([[1.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [3.  2.5]
    """
    settings = settings_for(var, lr, epsilon)
    handles = var, accum
    return _at_rows(rules.adagrad_beside, handles, grad, indices, settings, update=update_slots)


@composite(
    "SparseApplyAdadelta(epsilon, use_locking=False)"
    "(var, accum, accum_update, lr, rho, grad, indices)"
)
def apply_sparse_adadelta(
    var, accum, accum_update, lr, rho, grad, indices, epsilon, use_locking=False
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adadelta for some rows, each named once: (var, accum, accum_update).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        accum: the mean of squared gradients, of the shape of `var`; changed in place.
        accum_update: the mean of squared steps, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        rho: how slowly both means follow, a number from 0 to 1.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0], each once.
        epsilon: a number added under the roots.
        use_locking: no effect.

    Example:
        >>> w, a, u = (Parameter(Tensor([[1.0], [1.0]]), name=name) for name in "wau")
        >>> update = ops.SparseApplyAdadelta(0.0)
        >>> done = update(w, a, u, 0.5, 0.5, Tensor([[1.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [1.  0.5]
    """
    settings = settings_for(var, lr, rho, epsilon)
    return _at_rows(rules.adadelta, (var, accum, accum_update), grad, indices, settings)


@composite(
    "SparseApplyRMSProp(rho, momentum, epsilon, use_locking=False)(var, ms, mom, lr, grad, indices)"
)
def apply_sparse_root_mean_square(
    var, ms, mom, lr, grad, indices, rho, momentum, epsilon, use_locking=False
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of RMSProp for some rows, each named once: (var, ms, mom).

    Args:
        var: a Parameter or Tensor of one or more dimensions; changed in place.
        ms: the mean of squared gradients, of the shape of `var`; changed in place.
        mom: the last step, of the shape of `var`; changed in place.
        lr: the learning rate, a number or a Tensor without dimensions.
        grad: one row for each index, [N, *var.shape[1:]].
        indices: [N], integers from 0 to below var.shape[0], each once.
        rho: how slowly the mean square follows, a number from 0 to 1.
        momentum: how much of the last step goes on, a number of at least 0.
        epsilon: a number added under the root.
        use_locking: no effect.

    Example:
        >>> w, s, m = (Parameter(Tensor([[1.0], [1.0]]), name=name) for name in "wsm")
        >>> update = ops.SparseApplyRMSProp(0.5, 0.0, 0.0)
        >>> done = update(w, s, m, 0.5, Tensor([[1.0]]), Tensor([1]))
        >>> print(w.asnumpy().reshape(-1))
        [1.  0.5]
    """
    settings = settings_for(var, lr, rho, momentum, epsilon)
    return _at_rows(rules.root_mean_square, (var, ms, mom), grad, indices, settings)
