# SPDX-License-Identifier: Apache-2.0
"""The formulas that only optimisers need; those that operators share are `ops.update_rules`."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.spell import op
from mycel.ops.update import update_rules
from mycel.ops.update.update_rules import like, prepared


@op()
def next_step(step):
    """The step counter, one further.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.next_step(Tensor([1], mycel.int32)))
        [2]
    """
    return step + np.ones((), step.dtype)


@op()
def take_rate(rates, step):
    """The rate of each step out of a list of them; behind its end the last one.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.take_rate(Tensor([0.5, 0.25]), Tensor([1], mycel.int32)))
        [0.25]
    """
    return rates[jnp.minimum(step, rates.shape[0] - 1)]


@op()
def lamb(
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
    *,
    centralize=False,
):
    """LAMB: (parameter, moments); the step of Adam, as long as the Parameter's norm says.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(rules.lamb(one, one * 0, one * 0, one, 0.5, 1, 0.5, 0.5, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, None, None, centralize)
    count = step.astype(np.float32).reshape(())
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    corrected = mean / (1 - jnp.power(beta1, count))
    size = jnp.sqrt(square / (1 - jnp.power(beta2, count)))
    way = corrected / (size + epsilon)
    if decay is not None:
        way = way + decay * parameter
    length, reach = jnp.linalg.norm(way.reshape(-1)), jnp.linalg.norm(parameter.reshape(-1))
    trust = jnp.where((length > 0) & (reach > 0), reach / jnp.where(length > 0, length, 1), 1)
    made = like(parameter, parameter - rate * trust * way)
    return made, like(first, mean), like(second, square)


@op()
def layerwise(
    parameter, gradient, rate, epsilon, coefficient, decay=None, scale=None, *, clip=False
):
    """LARS: the gradient as long as the norms of both say.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.layerwise(Tensor([2.0]), Tensor([4.0]), 1.0, 0.0, 0.5))
        [1.]
    """
    gradient = gradient if scale is None else gradient * scale
    decay = 0.0 if decay is None else decay if scale is None else decay * scale
    squares = [jnp.sum(jnp.square(x.astype(np.float32))) for x in (parameter, gradient)]
    settings = *squares, decay, rate, epsilon, coefficient
    scaled = update_rules.layerwise_scaled.definition.function
    return scaled(parameter, gradient, *settings, clip=clip)


@op()
def averaged_descent(
    parameter,
    average,
    rate_now,
    weight,
    gradient,
    rate,
    step,
    fade,
    power,
    start,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """ASGD: (parameter, average, next rate, next weight of the average).

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(rules.averaged_descent(one, one, 0.0, 1.0, one, 0.5, 1, 0.0, 1.0, 9.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    count = step.astype(np.float32).reshape(())
    now = jnp.where(count == 1, rate, rate_now).astype(rate_now.dtype)
    made = parameter * (1 - fade * now) - now * gradient
    mean = jnp.where(weight == 1, made, average + (made - average) * weight)
    later = rate / jnp.power(1 + fade * rate * count, power)
    share = 1 / jnp.maximum(1, count - start)
    return like(parameter, made), like(average, mean), like(rate_now, later), like(weight, share)


@op()
def resilient(
    parameter,
    previous,
    size,
    gradient,
    rate,
    step,
    shrink,
    grow,
    lowest,
    highest,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """Rprop: (parameter, gradient, step size), by the signs of this gradient and the last.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(rules.resilient(one, one, one, one, 0.25, 1, 0.5, 2.0, 0.0, 9.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    agreed = jnp.sign(gradient * previous)
    size_now = jnp.where(step.reshape(()) == 1, rate, size)
    factor = jnp.where(agreed > 0, grow, jnp.where(agreed < 0, shrink, 1))
    taken = jnp.clip(size_now * factor, lowest, highest)
    kept = jnp.where(agreed < 0, 0, gradient)
    made = parameter - jnp.sign(kept) * taken
    return like(parameter, made), like(previous, kept), like(size, taken)


def _root_mean(x):
    return jnp.sqrt(jnp.mean(jnp.square(x)))


@op()
def factored(
    parameter,
    rows,
    columns,
    squares,
    gradient,
    rate,
    forget,
    smallest,
    least,
    limit,
    beta,
    decay,
    mean=None,
    scale=None,
    *,
    scaled=True,
):
    """AdaFactor: (parameter, mean squares of rows, of columns, of elements), and the mean step.

    Parameters of two or more dimensions keep the squares of rows and columns, others of elements.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> settings = 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
        >>> print(rules.factored(one, one, one, one, one, *settings, scaled=False)[0])
        [0.5]
    """
    gradient = gradient.astype(np.float32)
    if scale is not None:
        gradient = gradient * scale
    wide = parameter.astype(np.float32)
    step = rate * jnp.maximum(least, _root_mean(wide)) if scaled else rate
    square = jnp.square(gradient) + smallest
    if gradient.ndim > 1:
        rows_now = forget * rows + (1 - forget) * square.mean(-1)
        columns_now = forget * columns + (1 - forget) * square.mean(-2)
        by_row = 1 / jnp.sqrt(rows_now / rows_now.mean(-1, keepdims=True))
        way = by_row[..., None] / jnp.sqrt(columns_now)[..., None, :] * gradient
        kept = like(rows, rows_now), like(columns, columns_now), squares
    else:
        squares_now = forget * squares + (1 - forget) * square
        way = gradient / jnp.sqrt(squares_now)
        kept = rows, columns, like(squares, squares_now)
    way = way / jnp.maximum(1, _root_mean(way) / limit) * step
    if mean is not None:
        way = beta * mean + (1 - beta) * way
    made = like(parameter, wide - decay * step * wide - way), *kept
    return made if mean is None else (*made, like(mean, way))
