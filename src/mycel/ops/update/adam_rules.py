# SPDX-License-Identifier: Apache-2.0
"""Adam and its relatives: steps by the moving means of gradients and of their squares.

`step` counts from 1; `power1` and `power2` are the betas to the power of it.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.ops.update.rule import count_of, moments, moving_mean, power, rule


def _limited(square, largest):
    """What the step is divided by the root of, and the new states that come behind the moments."""
    if largest is None:
        return square, ()
    limit = jnp.maximum(largest, square)
    return limit, (limit,)


@rule
def adam(
    parameter,
    first,
    second,
    gradient,
    rate,
    power1,
    power2,
    beta1,
    beta2,
    epsilon,
    largest=None,
    *,
    nesterov=False,
):
    """Adam with epsilon beside the uncorrected root: (parameter, moments), and the largest.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> made = rules.adam(one, one * 0, one * 0, one, 0.5, 0.9, 0.999, 0.9, 0.999, 0.0)
        >>> print(made[0])
        [0.5]
    """
    mean, square = moments(first, second, gradient, beta1, beta2)
    rate = rate * jnp.sqrt(1 - power2) / (1 - power1)
    ahead = moving_mean(mean, gradient, beta1) if nesterov else mean
    limit, more = _limited(square, largest)
    return parameter - rate * ahead / (jnp.sqrt(limit) + epsilon), mean, square, *more


@rule
def adam_of_step(
    parameter, first, second, gradient, rate, step, beta1, beta2, epsilon, largest=None
):
    """`adam` that is given the number of the step: (parameter, moments), and the largest.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.adam_of_step(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.9, 0.0)[0])
        [0.5]
    """
    settings = rate, power(beta1, step), power(beta2, step), beta1, beta2, epsilon, largest
    return adam.formula(parameter, first, second, gradient, *settings)


@rule
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
    decay=None,
    largest=None,
    *,
    decoupled=False,
):
    """Adam with epsilon beside the corrected root: (parameter, moments), and the largest.

    `decoupled` takes the decay from the Parameter, as AdamW does.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.adam_corrected(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.9, 0.0)[0])
        [0.5]
    """
    before = parameter
    if decay is not None and decoupled:
        before = parameter * (1 - rate * decay)
    elif decay is not None:
        gradient = gradient + decay * parameter
    mean, square = moments(first, second, gradient, beta1, beta2)
    limit, more = _limited(square, largest)
    size = jnp.sqrt(limit) / jnp.sqrt(1 - power(beta2, step)) + epsilon
    return before - rate / (1 - power(beta1, step)) * mean / size, mean, square, *more


@rule
def adam_weight_decay(parameter, first, second, gradient, rate, beta1, beta2, epsilon, decay=None):
    """Adam without correction of the start, the decay beside the gradient: (parameter, moments).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> made = rules.adam_weight_decay(one, one, one, one, 0.5, 0.5, 0.5, 0.0)
        >>> print(made[0])
        [0.5]
    """
    mean, square = moments(first, second, gradient, beta1, beta2)
    step = mean / (jnp.sqrt(square) + epsilon)
    if decay is not None:
        step = step + decay * parameter
    return parameter - rate * step, mean, square


@rule
def lamb(parameter, first, second, gradient, rate, step, beta1, beta2, epsilon, decay=None):
    """LAMB: (parameter, moments); the step of Adam, as long as the Parameter's norm says.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.lamb(one, one * 0, one * 0, one, 0.5, 1, 0.5, 0.5, 0.0)[0])
        [0.5]
    """
    mean, square = moments(first, second, gradient, beta1, beta2)
    corrected = mean / (1 - power(beta1, step))
    size = jnp.sqrt(square / (1 - power(beta2, step)))
    way = corrected / (size + epsilon)
    if decay is not None:
        way = way + decay * parameter
    length, reach = jnp.linalg.norm(way.reshape(-1)), jnp.linalg.norm(parameter.reshape(-1))
    trust = jnp.where((length > 0) & (reach > 0), reach / jnp.where(length > 0, length, 1), 1)
    return parameter - rate * trust * way, mean, square


@rule
def ada_max(parameter, moment, largest, gradient, rate, power, beta1, beta2, epsilon):
    """AdaMax: (parameter, moment, largest gradient); `power` is beta1 to the number of the step.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.ada_max(one, one * 0, one * 0, one, 0.5, 0.5, 0.5, 0.5, 0.0)[0])
        [0.5]
    """
    mean = moving_mean(moment, gradient, beta1)
    limit = jnp.maximum(beta2 * largest, jnp.abs(gradient))
    return parameter - rate / (1 - power) * mean / (limit + epsilon), mean, limit


@rule
def ada_max_of_step(parameter, moment, largest, gradient, rate, step, beta1, beta2, epsilon):
    """AdaMax with epsilon beside the gradient: (parameter, moment, largest gradient).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.ada_max_of_step(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.9, 0.0)[0])
        [0.5]
    """
    mean = moving_mean(moment, gradient, beta1)
    limit = jnp.maximum(beta2 * largest, jnp.abs(gradient) + epsilon)
    return parameter - rate / (1 - power(beta1, step)) * mean / limit, mean, limit


@rule
def rectified_adam(parameter, first, second, gradient, rate, step, beta1, beta2, epsilon):
    """RAdam: (parameter, moments); the root counts once its spread is known well enough.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.rectified_adam(one, one * 0, one * 0, one, 0.5, 1, 0.9, 0.999, 0.0)[0])
        [0.5]
    """
    mean, square = moments(first, second, gradient, beta1, beta2)
    beta2_power, count = power(beta2, step), count_of(step)
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * count * beta2_power / (1 - beta2_power)
    known = jnp.maximum(length, 5)  # below 5 the other branch is taken
    shares = (known - 4) * (known - 2) * longest, (longest - 4) * (longest - 2) * known
    rectified = jnp.sqrt(shares[0] / shares[1])
    adapted = rectified * jnp.sqrt(1 - beta2_power) / (jnp.sqrt(square) + epsilon)
    corrected = mean / (1 - power(beta1, step))
    return parameter - rate * corrected * jnp.where(length > 5, adapted, 1), mean, square


@rule
def ahead_adam(
    parameter, first, second, product, gradient, rate, step, beta1, beta2, epsilon, fading
):
    """NAdam: (parameter, moments, product of the momenta so far).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> made = rules.ahead_adam(one, one * 0, one * 0, 1.0, one, 0.5, 1, 0.0, 0.9, 0.0, 0.0)
        >>> print(made[0])
        [0.5]
    """
    mean, square = moments(first, second, gradient, beta1, beta2)
    now, later = (
        beta1 * (1 - 0.5 * jnp.power(np.float32(0.96), (step.reshape(()) + n) * fading))
        for n in (0, 1)
    )
    all_now = product * now
    size = jnp.sqrt(square / (1 - power(beta2, step))) + epsilon
    made = parameter - rate * (1 - now) / (1 - all_now) * gradient / size
    made = made - rate * later / (1 - all_now * later) * mean / size
    return made, mean, square, all_now
