# SPDX-License-Identifier: Apache-2.0
"""The formulas of the optimisers: pure functions, each one recorded node for one Parameter.

Every rule takes arrays and returns the new ones in the same order. What varies from step to step
(rates, powers) and what a program may change (momentum, decay) are inputs, so changing them never
compiles anything; only choices of formula are static.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.spell import op


def _prepared(gradient, parameter, decay, scale, centralize):
    """The gradient with weight decay added, centred, and multiplied by `scale`, in that order."""
    if decay is not None:
        gradient = gradient + parameter * decay
    if centralize and gradient.ndim > 1:
        gradient = gradient - gradient.mean(tuple(range(1, gradient.ndim)), keepdims=True)
    return gradient if scale is None else gradient * scale


def _like(old, new):
    return new.astype(old.dtype)


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
    """The rate of this step out of a list of them; behind its end the last one.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.take_rate(Tensor([0.5, 0.25]), Tensor([1], mycel.int32)))
        0.25
    """
    return rates[jnp.minimum(step.reshape(()), rates.shape[0] - 1)]


@op()
def gradient_with_decay(gradient, parameter, decay):
    """gradient + decay · parameter.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.gradient_with_decay(Tensor([1.0]), Tensor([2.0]), 0.5))
        [2.]
    """
    return _like(gradient, _prepared(gradient, parameter, decay, None, False))


@op()
def centered(gradient):
    """A gradient of two or more dimensions less its mean over all but the first.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.centered(Tensor([[1.0, 3.0]])))
        [[-1.  1.]]
    """
    return _prepared(gradient, None, None, None, True)


@op()
def descend(parameter, gradient, rate, decay=None, scale=None, *, centralize=False):
    """parameter - rate · gradient.

    Example:
        >>> from mycel.optim import rules
        >>> print(rules.descend(Tensor([1.0]), Tensor([2.0]), 0.25))
        [0.5]
    """
    gradient = _prepared(gradient, parameter, decay, scale, centralize)
    return _like(parameter, parameter - rate * gradient)


@op()
def stochastic(
    parameter,
    accumulated,
    first,
    gradient,
    rate,
    momentum,
    decay=None,
    scale=None,
    *,
    dampening=0.0,
    nesterov=False,
    centralize=False,
):
    """SGD with momentum: (parameter, accumulated, first); `first` is 1 until the first step.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.stochastic(one, one * 0, one, one, 0.5, 0.9))
        [0.5] [1.] [0.]
    """
    gradient = _prepared(gradient, parameter, decay, scale, centralize)
    later = momentum * accumulated + (1 - dampening) * gradient
    velocity = jnp.where(first > 0, gradient, later)
    step = gradient + momentum * velocity if nesterov else velocity
    made = _like(parameter, parameter - rate * step)
    return made, _like(accumulated, velocity), jnp.zeros_like(first)


@op()
def momentum(
    parameter,
    moment,
    gradient,
    rate,
    momentum,
    decay=None,
    scale=None,
    *,
    nesterov=False,
    centralize=False,
):
    """moment = momentum · moment + gradient; parameter - rate · moment.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.momentum(one, one, one, 0.5, 0.5))
        [0.25] [1.5]
    """
    gradient = _prepared(gradient, parameter, decay, scale, centralize)
    velocity = momentum * moment + gradient
    step = gradient + momentum * velocity if nesterov else velocity
    return _like(parameter, parameter - rate * step), _like(moment, velocity)


@op()
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
    decay=None,
    scale=None,
    *,
    nesterov=False,
    centralize=False,
):
    """Adam: (parameter, first moment, second moment), and the largest second moment if given.

    `power1` and `power2` are the betas to the power of the number of this step, from 1.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> made = rules.adam(one, one * 0, one * 0, one, 0.5, 0.9, 0.999, 0.9, 0.999, 0.0)
        >>> print(made[0])
        [0.5]
    """
    gradient = _prepared(gradient, parameter, decay, scale, centralize)
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    rate = rate * jnp.sqrt(1 - power2) / (1 - power1)
    ahead = beta1 * mean + (1 - beta1) * gradient if nesterov else mean
    limit = square if largest is None else jnp.maximum(largest, square)
    made = _like(parameter, parameter - rate * ahead / (jnp.sqrt(limit) + epsilon))
    moments = made, _like(first, mean), _like(second, square)
    return moments if largest is None else (*moments, _like(largest, limit))


@op()
def adam_weight_decay(parameter, first, second, gradient, rate, beta1, beta2, epsilon, decay=None):
    """Adam without correction of the start, the decay beside the gradient: (parameter, moments).

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> made = rules.adam_weight_decay(one, one, one, one, 0.5, 0.5, 0.5, 0.0)
        >>> print(made[0])
        [0.5]
    """
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    step = mean / (jnp.sqrt(square) + epsilon)
    if decay is not None:
        step = step + decay * parameter
    made = _like(parameter, parameter - rate * step)
    return made, _like(first, mean), _like(second, square)


@op()
def root_mean_square(
    parameter,
    square,
    moment,
    gradient,
    rate,
    forget,
    momentum,
    epsilon,
    mean=None,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """RMSProp: (parameter, mean square, moment), and the mean gradient if it is centred.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(rules.root_mean_square(one, one, one * 0, one, 0.5, 0.5, 0.0, 0.0)[0])
        [0.5]
    """
    gradient = _prepared(gradient, parameter, decay, scale, centralize)
    squares = forget * square + (1 - forget) * jnp.square(gradient)
    spread = squares
    if mean is not None:
        means = forget * mean + (1 - forget) * gradient
        spread = squares - jnp.square(means)
    step = momentum * moment + rate * gradient / jnp.sqrt(spread + epsilon)
    made = _like(parameter, parameter - step), _like(square, squares), _like(moment, step)
    return made if mean is None else (*made, _like(mean, means))


@op()
def adagrad(
    parameter, squares, gradient, rate, decay=None, scale=None, *, update=True, centralize=False
):
    """squares += gradient²; parameter - rate · gradient / √squares.

    Example:
        >>> from mycel.optim import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.adagrad(one, one * 3, one, 0.5))
        [0.75] [4.]
    """
    gradient = _prepared(gradient, parameter, decay, scale, centralize)
    sums = squares + jnp.square(gradient) if update else squares
    made = _like(parameter, parameter - rate * gradient / jnp.sqrt(sums))
    return made, _like(squares, sums)
