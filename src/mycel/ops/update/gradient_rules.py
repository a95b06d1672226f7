# SPDX-License-Identifier: Apache-2.0
"""What is done to gradients, rates and counters around a step."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.spell import op
from mycel.ops.update.rule import like, prepared


@op()
def gradient_with_decay(gradient, parameter, decay):
    """gradient + decay · parameter.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.gradient_with_decay(Tensor([1.0]), Tensor([2.0]), 0.5))
        [2.]
    """
    return like(gradient, prepared(gradient, parameter, decay, None, False))


@op()
def centered(gradient):
    """A gradient of two or more dimensions less its mean over all but the first.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.centered(Tensor([[1.0, 3.0]])))
        [[-1.  1.]]
    """
    return prepared(gradient, None, None, None, True)


@op()
def next_step(step):
    """The step counter, one further.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.next_step(Tensor([1], mycel.int32)))
        [2]
    """
    return step + np.ones((), step.dtype)


@op()
def take_rate(rates, step):
    """The rate of each step out of a list of them; behind its end the last one.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.take_rate(Tensor([0.5, 0.25]), Tensor([1], mycel.int32)))
        [0.25]
    """
    return rates[jnp.minimum(step, rates.shape[0] - 1)]


@op()
def layerwise_scaled(
    parameter,
    gradient,
    weight_square,
    gradient_square,
    decay,
    rate,
    epsilon,
    coefficient,
    *,
    clip=False,
):
    """LARS: the gradient with decay, times the trust in this layer by its norms.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.layerwise_scaled(one, one, 4.0, 1.0, 0.0, 1.0, 0.0, 0.5))
        [1.]
    """
    squares = weight_square, gradient_square
    return _trusted(parameter, gradient, *squares, decay, rate, epsilon, coefficient, clip)


@op()
def layerwise(
    parameter, gradient, rate, epsilon, coefficient, decay=None, scale=None, *, clip=False
):
    """LARS: the gradient as long as the norms of both say.

    Example:
        >>> from mycel.ops.update import rules
        >>> print(rules.layerwise(Tensor([2.0]), Tensor([4.0]), 1.0, 0.0, 0.5))
        [1.]
    """
    gradient = gradient if scale is None else gradient * scale
    decay = 0.0 if decay is None else decay if scale is None else decay * scale
    squares = [jnp.sum(jnp.square(x.astype(np.float32))) for x in (parameter, gradient)]
    return _trusted(parameter, gradient, *squares, decay, rate, epsilon, coefficient, clip)


def _trusted(parameter, gradient, *settings):
    weight_square, gradient_square, decay, rate, epsilon, coefficient, clip = settings
    size = jnp.sqrt(weight_square)
    trust = coefficient * size / (jnp.sqrt(gradient_square) + decay * size + epsilon)
    if clip:
        trust = jnp.clip(trust / rate, 0, 1)
    return like(gradient, trust * (gradient + decay * parameter))
