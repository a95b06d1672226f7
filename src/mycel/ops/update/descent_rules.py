# SPDX-License-Identifier: Apache-2.0
"""Descent along the gradient, with momentum, averages, and by signs alone."""

from __future__ import annotations

import jax.numpy as jnp

from mycel.ops.update.rule import count_of, moving_mean, rule


def _step_by(velocity, gradient, momentum, nesterov):
    return gradient + momentum * velocity if nesterov else velocity


@rule
def descend(parameter, gradient, rate):
    """parameter - rate · gradient.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.descend(Tensor([1.0]), Tensor([2.0]), 0.25))
        [0.5]
    """
    return parameter - rate * gradient


@rule
def stochastic(
    parameter,
    accumulated,
    first,
    gradient,
    rate,
    momentum,
    *,
    dampening=0.0,
    nesterov=False,
):
    """SGD with momentum: (parameter, accumulated, first); `first` is 1 until the first step.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.stochastic(one, one * 0, one, one, 0.5, 0.9))
        [0.5] [1.] [0.]
    """
    later = momentum * accumulated + (1 - dampening) * gradient
    velocity = jnp.where(first > 0, gradient, later)
    step = _step_by(velocity, gradient, momentum, nesterov)
    return parameter - rate * step, velocity, jnp.zeros_like(first)


@rule
def momentum_of_step(
    parameter, moment, gradient, rate, step, momentum, dampening, *, nesterov=False
):
    """SGD with momentum, whose first step is not dampened: (parameter, moment).

    `step` counts from 1.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.momentum_of_step(one, one, one, 0.5, 1, 0.5, 0.5))
        [0.5] [1.]
    """
    later = momentum * moment + (1 - dampening) * gradient
    velocity = jnp.where(step.reshape(()) == 1, gradient, later)
    return parameter - rate * _step_by(velocity, gradient, momentum, nesterov), velocity


@rule
def momentum(parameter, moment, gradient, rate, momentum, *, nesterov=False):
    """moment = momentum · moment + gradient; parameter - rate · moment.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.momentum(one, one, one, 0.5, 0.5))
        [0.25] [1.5]
    """
    velocity = momentum * moment + gradient
    return parameter - rate * _step_by(velocity, gradient, momentum, nesterov), velocity


@rule
def keras_momentum(parameter, velocity, gradient, rate, momentum, *, nesterov=False):
    """velocity = momentum · velocity - rate · gradient; parameter + velocity.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.keras_momentum(one, one, one, 0.5, 0.5))
        [1.] [0.]
    """
    later = momentum * velocity - rate * gradient
    step = momentum * later - rate * gradient if nesterov else later
    return parameter + step, later


@rule
def averaged_descent(
    parameter, average, rate_now, weight, gradient, rate, step, fade, power, start
):
    """ASGD: (parameter, average, next rate, next weight of the average); `step` counts from 1.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.averaged_descent(one, one, 0.0, 1.0, one, 0.5, 1, 0.0, 1.0, 9.0)[0])
        [0.5]
    """
    count = count_of(step)
    now = jnp.where(count == 1, rate, rate_now).astype(rate_now.dtype)
    made = parameter * (1 - fade * now) - now * gradient
    mean = jnp.where(weight == 1, made, average + (made - average) * weight)
    later = rate / jnp.power(1 + fade * rate * count, power)
    return made, mean, later, 1 / jnp.maximum(1, count - start)


@rule
def resilient(parameter, previous, size, gradient, rate, step, shrink, grow, lowest, highest):
    """Rprop: (parameter, gradient, step size), by the signs of this gradient and the last.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.resilient(one, one, one, one, 0.25, 1, 0.5, 2.0, 0.0, 9.0)[0])
        [0.5]
    """
    agreed = jnp.sign(gradient * previous)
    size_now = jnp.where(step.reshape(()) == 1, rate, size)
    factor = jnp.where(agreed > 0, grow, jnp.where(agreed < 0, shrink, 1))
    taken = jnp.clip(size_now * factor, lowest, highest)
    kept = jnp.where(agreed < 0, 0, gradient)
    return parameter - jnp.sign(kept) * taken, kept, taken


@rule
def sign_agreement(parameter, moment, gradient, rate, factor, sign_decay, beta, *, exponential):
    """AddSign, or PowerSign if `exponential`: (parameter, moment).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.sign_agreement(one, one, one, 0.25, 1.0, 1.0, 0.5, exponential=False)[0])
        [0.5]
    """
    mean = moving_mean(moment, gradient, beta)
    agreed = sign_decay * jnp.sign(gradient) * jnp.sign(mean)
    size = jnp.exp(factor * agreed) if exponential else factor + agreed
    return parameter - rate * size * gradient, mean


def proximal(moved, rate, l1, l2):
    """The point that pays least for its distance to `moved` and for its norms."""
    return jnp.sign(moved) * jnp.maximum(jnp.abs(moved) - rate * l1, 0) / (1 + rate * l2)


@rule
def proximal_descend(parameter, gradient, rate, l1, l2):
    """A proximal step along the gradient.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.proximal_descend(Tensor([2.0]), Tensor([1.0]), 1.0, 0.5, 0.0))
        [0.5]
    """
    return proximal(parameter - rate * gradient, rate, l1, l2)
