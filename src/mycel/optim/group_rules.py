# SPDX-License-Identifier: Apache-2.0
"""The formulas of optimisers with groups, as PyTorch has them; `step` counts from 1."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.spell import op
from mycel.ops.update import update_rules
from mycel.ops.update.update_rules import like, prepared


def _power(base, step):
    return jnp.power(base, step.astype(np.float32).reshape(()))


@op()
def adam_of_step(
    parameter, first, second, gradient, rate, step, beta1, beta2, epsilon, largest=None, decay=None
):
    """Adam with epsilon beside the uncorrected root: (parameter, moments), and the largest.

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.adam_of_step(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.9, 0.0)[0])
        [0.5]
    """
    powers = _power(beta1, step), _power(beta2, step)
    settings = rate, *powers, beta1, beta2, epsilon, largest, decay
    return update_rules.adam.definition.function(parameter, first, second, gradient, *settings)


@op()
def adam_corrected(
    parameter,
    first,
    second,
    gradient,
    rate,
    step,
    beta1,
    beta2,
    epsilon,
    largest=None,
    decay=None,
    *,
    decoupled=False,
):
    """Adam with epsilon beside the corrected root: (parameter, moments), and the largest.

    `decoupled` takes the decay from the Parameter, as AdamW does.

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.adam_corrected(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.9, 0.0)[0])
        [0.5]
    """
    before = parameter
    if decay is not None:
        if decoupled:
            before = parameter * (1 - rate * decay)
        else:
            gradient = gradient + decay * parameter
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    limit = square if largest is None else jnp.maximum(largest, square)
    size = jnp.sqrt(limit) / jnp.sqrt(1 - _power(beta2, step)) + epsilon
    made = like(parameter, before - rate / (1 - _power(beta1, step)) * mean / size)
    moments = made, like(first, mean), like(second, square)
    return moments if largest is None else (*moments, like(largest, limit))


@op()
def ada_max_of_step(
    parameter, first, largest, gradient, rate, step, beta1, beta2, epsilon, decay=None
):
    """AdaMax: (parameter, moment, largest gradient).

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.ada_max_of_step(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.9, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, None, False)
    mean = beta1 * first + (1 - beta1) * gradient
    limit = jnp.maximum(beta2 * largest, jnp.abs(gradient) + epsilon)
    made = parameter - rate / (1 - _power(beta1, step)) * mean / limit
    return like(parameter, made), like(first, mean), like(largest, limit)


@op()
def rectified_adam(
    parameter, first, second, gradient, rate, step, beta1, beta2, epsilon, decay=None
):
    """RAdam: (parameter, moments); the root counts once its spread is known well enough.

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.rectified_adam(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.999, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, None, False)
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    power, count = _power(beta2, step), step.astype(np.float32).reshape(())
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * count * power / (1 - power)
    known = jnp.maximum(length, 5)  # below 5 the other branch is taken
    shares = (known - 4) * (known - 2) * longest, (longest - 4) * (longest - 2) * known
    rectified = jnp.sqrt(shares[0] / shares[1])
    adapted = rectified * jnp.sqrt(1 - power) / (jnp.sqrt(square) + epsilon)
    corrected = mean / (1 - _power(beta1, step))
    made = parameter - rate * corrected * jnp.where(length > 5, adapted, 1)
    return like(parameter, made), like(first, mean), like(second, square)


@op()
def ahead_adam(
    parameter,
    first,
    second,
    product,
    gradient,
    rate,
    step,
    beta1,
    beta2,
    epsilon,
    fading,
    decay=None,
):
    """NAdam: (parameter, moments, product of the momenta so far).

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> made = rules.ahead_adam(one, one * 0, one * 0, 1.0, one, 0.5, 1, 0.0, 0.9, 0.0, 0.0)
        >>> print(made[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, None, False)
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    now, later = (
        beta1 * (1 - 0.5 * jnp.power(np.float32(0.96), (step.reshape(()) + n) * fading))
        for n in (0, 1)
    )
    all_now = product * now
    size = jnp.sqrt(square / (1 - _power(beta2, step))) + epsilon
    made = parameter - rate * (1 - now) / (1 - all_now) * gradient / size
    made = made - rate * later / (1 - all_now * later) * mean / size
    moments = like(parameter, made), like(first, mean), like(second, square)
    return *moments, like(product, all_now)


@op()
def root_mean_square_beside(
    parameter,
    square,
    mean,
    moment,
    gradient,
    rate,
    forget,
    epsilon,
    momentum,
    decay=None,
    *,
    centered=False,
    moving=False,
):
    """RMSprop with epsilon beside the root: (parameter, mean square, mean, moment).

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.root_mean_square_beside(one, one, one, one, one, 0.5, 0.5, 0.0, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, None, False)
    squares = forget * square + (1 - forget) * jnp.square(gradient)
    means = forget * mean + (1 - forget) * gradient if centered else mean
    spread = squares - jnp.square(means) if centered else squares
    way = gradient / (jnp.sqrt(spread) + epsilon)
    step = momentum * moment + way if moving else moment
    made = like(parameter, parameter - rate * (step if moving else way))
    return made, like(square, squares), like(mean, means), like(moment, step)


@op()
def momentum_of_step(
    parameter, moment, gradient, rate, step, momentum, dampening, decay=None, *, nesterov=False
):
    """SGD with momentum, whose first step is not dampened: (parameter, moment).

    Example:
        >>> from mycel.optim import group_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.momentum_of_step(one, one, one, 0.5, 1, 0.5, 0.5))
        [0.5] [1.]
    """
    gradient = prepared(gradient, parameter, decay, None, False)
    later = momentum * moment + (1 - dampening) * gradient
    velocity = jnp.where(step.reshape(()) == 1, gradient, later)
    way = gradient + momentum * velocity if nesterov else velocity
    return like(parameter, parameter - rate * way), like(moment, velocity)
