# SPDX-License-Identifier: Apache-2.0
"""The formulas of updates: pure functions, each one recorded node for one Parameter.

Every rule takes arrays and returns the new ones in the same order. What varies from step to step
(rates, powers) and what a program may change (momentum, decay) are inputs, so changing them never
compiles anything; only choices of formula are static. Optimisers and the Primitive classes of
`ops.updates` share them.
"""

from __future__ import annotations

import jax.numpy as jnp

from mycel.kernel.spell import op


def prepared(gradient, parameter, decay, scale, centralize):
    """The gradient with weight decay added, centred, and multiplied by `scale`, in that order."""
    if decay is not None:
        gradient = gradient + parameter * decay
    if centralize and gradient.ndim > 1:
        gradient = gradient - gradient.mean(tuple(range(1, gradient.ndim)), keepdims=True)
    return gradient if scale is None else gradient * scale


def like(old, new):
    """The new values in the element type of the old ones."""
    return new.astype(old.dtype)


@op()
def gradient_with_decay(gradient, parameter, decay):
    """gradient + decay · parameter.

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> print(rules.gradient_with_decay(Tensor([1.0]), Tensor([2.0]), 0.5))
        [2.]
    """
    return like(gradient, prepared(gradient, parameter, decay, None, False))


@op()
def centered(gradient):
    """A gradient of two or more dimensions less its mean over all but the first.

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> print(rules.centered(Tensor([[1.0, 3.0]])))
        [[-1.  1.]]
    """
    return prepared(gradient, None, None, None, True)


@op()
def descend(parameter, gradient, rate, decay=None, scale=None, *, centralize=False):
    """parameter - rate · gradient.

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> print(rules.descend(Tensor([1.0]), Tensor([2.0]), 0.25))
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    return like(parameter, parameter - rate * gradient)


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
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.stochastic(one, one * 0, one, one, 0.5, 0.9))
        [0.5] [1.] [0.]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    later = momentum * accumulated + (1 - dampening) * gradient
    velocity = jnp.where(first > 0, gradient, later)
    step = gradient + momentum * velocity if nesterov else velocity
    made = like(parameter, parameter - rate * step)
    return made, like(accumulated, velocity), jnp.zeros_like(first)


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
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.momentum(one, one, one, 0.5, 0.5))
        [0.25] [1.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    velocity = momentum * moment + gradient
    step = gradient + momentum * velocity if nesterov else velocity
    return like(parameter, parameter - rate * step), like(moment, velocity)


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
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> made = rules.adam(one, one * 0, one * 0, one, 0.5, 0.9, 0.999, 0.9, 0.999, 0.0)
        >>> print(made[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    mean = beta1 * first + (1 - beta1) * gradient
    square = beta2 * second + (1 - beta2) * jnp.square(gradient)
    rate = rate * jnp.sqrt(1 - power2) / (1 - power1)
    ahead = beta1 * mean + (1 - beta1) * gradient if nesterov else mean
    limit = square if largest is None else jnp.maximum(largest, square)
    made = like(parameter, parameter - rate * ahead / (jnp.sqrt(limit) + epsilon))
    moments = made, like(first, mean), like(second, square)
    return moments if largest is None else (*moments, like(largest, limit))


@op()
def adam_weight_decay(parameter, first, second, gradient, rate, beta1, beta2, epsilon, decay=None):
    """Adam without correction of the start, the decay beside the gradient: (parameter, moments).

    Example:
        >>> from mycel.ops.update import update_rules as rules
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
    made = like(parameter, parameter - rate * step)
    return made, like(first, mean), like(second, square)


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
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.root_mean_square(one, one, one * 0, one, 0.5, 0.5, 0.0, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    squares = forget * square + (1 - forget) * jnp.square(gradient)
    spread = squares
    if mean is not None:
        means = forget * mean + (1 - forget) * gradient
        spread = squares - jnp.square(means)
    step = momentum * moment + rate * gradient / jnp.sqrt(spread + epsilon)
    made = like(parameter, parameter - step), like(square, squares), like(moment, step)
    return made if mean is None else (*made, like(mean, means))


@op()
def adagrad(
    parameter,
    squares,
    gradient,
    rate,
    decay=None,
    scale=None,
    epsilon=None,
    *,
    update=True,
    centralize=False,
):
    """squares += gradient²; parameter - rate · gradient / (√squares + epsilon).

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.adagrad(one, one * 3, one, 0.5))
        [0.75] [4.]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    sums = squares + jnp.square(gradient) if update else squares
    size = jnp.sqrt(sums) if epsilon is None else jnp.sqrt(sums) + epsilon
    return like(parameter, parameter - rate * gradient / size), like(squares, sums)


@op()
def ada_max(
    parameter,
    moment,
    largest,
    gradient,
    rate,
    power,
    beta1,
    beta2,
    epsilon,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """AdaMax: (parameter, moment, largest gradient); `power` is beta1 to the number of the step.

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.ada_max(one, one * 0, one * 0, one, 0.5, 0.5, 0.5, 0.5, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    mean = beta1 * moment + (1 - beta1) * gradient
    limit = jnp.maximum(beta2 * largest, jnp.abs(gradient))
    made = like(parameter, parameter - rate / (1 - power) * mean / (limit + epsilon))
    return made, like(moment, mean), like(largest, limit)


@op()
def adadelta(
    parameter,
    squares,
    updates,
    gradient,
    rate,
    forget,
    epsilon,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """Adadelta: (parameter, mean square of gradients, mean square of steps).

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.adadelta(one, one, one, one, 0.5, 0.5, 0.0)[0])
        [0.5]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    square = forget * squares + (1 - forget) * jnp.square(gradient)
    step = jnp.sqrt(updates + epsilon) / jnp.sqrt(square + epsilon) * gradient
    taken = forget * updates + (1 - forget) * jnp.square(step)
    return like(parameter, parameter - rate * step), like(squares, square), like(updates, taken)


@op()
def ftrl(
    parameter,
    squares,
    linear,
    gradient,
    rate,
    l1,
    l2,
    power,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """Follow the regularised leader: (parameter, sum of squares, linear coefficient).

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.ftrl(one, one * 0, one * 0, one, 1.0, 0.0, 0.0, -0.5)[0])
        [0.]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    sums = squares + jnp.square(gradient)
    weight = jnp.power(sums, -power)
    coefficient = linear + gradient - (weight - jnp.power(squares, -power)) / rate * parameter
    chosen = (jnp.sign(coefficient) * l1 - coefficient) / (weight / rate + 2 * l2)
    made = jnp.where(jnp.abs(coefficient) > l1, chosen, 0)
    return like(parameter, made), like(squares, sums), like(linear, coefficient)


def _proximal(moved, rate, l1, l2):
    """The point that pays least for its distance to `moved` and for its norms."""
    return jnp.sign(moved) * jnp.maximum(jnp.abs(moved) - rate * l1, 0) / (1 + rate * l2)


@op()
def proximal_adagrad(
    parameter,
    squares,
    gradient,
    rate,
    l1,
    l2,
    decay=None,
    scale=None,
    *,
    centralize=False,
):
    """Adagrad with a proximal step: (parameter, sum of squares).

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.proximal_adagrad(one, one * 3, one, 0.5, 1.0, 0.0))
        [0.5] [4.]
    """
    gradient = prepared(gradient, parameter, decay, scale, centralize)
    sums = squares + jnp.square(gradient)
    # MindSpore writes the plain rate at the norms; its kernels, and TensorFlow's, use this one.
    rate = rate / jnp.sqrt(sums)
    moved = parameter - rate * gradient
    return like(parameter, _proximal(moved, rate, l1, l2)), like(squares, sums)


@op()
def proximal_descend(parameter, gradient, rate, l1, l2):
    """A proximal step along the gradient.

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> print(rules.proximal_descend(Tensor([2.0]), Tensor([1.0]), 1.0, 0.5, 0.0))
        [0.5]
    """
    return like(parameter, _proximal(parameter - rate * gradient, rate, l1, l2))


@op()
def dual_averaging(parameter, sums, squares, gradient, rate, l1, l2, step):
    """Adagrad by dual averaging: (parameter, sum of gradients, sum of squares).

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.dual_averaging(one, one, one * 3, one, 0.5, 0.0, 0.0, 1))
        [-0.5] [2.] [4.]
    """
    total, square = sums + gradient, squares + jnp.square(gradient)
    cut = jnp.sign(total) * jnp.maximum(jnp.abs(total) - l1 * step, 0)
    total_cut = jnp.where(l1 > 0, cut, total)
    made = -rate * total_cut / (l2 * step * rate + jnp.sqrt(square))
    return like(parameter, made), like(sums, total), like(squares, square)


@op()
def sign_agreement(parameter, moment, gradient, rate, factor, sign_decay, beta, *, exponential):
    """AddSign, or PowerSign if `exponential`: (parameter, moment).

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.sign_agreement(one, one, one, 0.25, 1.0, 1.0, 0.5, exponential=False)[0])
        [0.5]
    """
    mean = beta * moment + (1 - beta) * gradient
    agreed = sign_decay * jnp.sign(gradient) * jnp.sign(mean)
    size = jnp.exp(factor * agreed) if exponential else factor + agreed
    return like(parameter, parameter - rate * size * gradient), like(moment, mean)


@op()
def keras_momentum(parameter, velocity, gradient, rate, momentum, *, nesterov=False):
    """velocity = momentum · velocity - rate · gradient; parameter + velocity.

    Example:
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(*rules.keras_momentum(one, one, one, 0.5, 0.5))
        [1.] [0.]
    """
    later = momentum * velocity - rate * gradient
    step = momentum * later - rate * gradient if nesterov else later
    return like(parameter, parameter + step), like(velocity, later)


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
        >>> from mycel.ops.update import update_rules as rules
        >>> one = Tensor([1.0])
        >>> print(rules.layerwise_scaled(one, one, 4.0, 1.0, 0.0, 1.0, 0.0, 0.5))
        [1.]
    """
    size = jnp.sqrt(weight_square)
    trust = coefficient * size / (jnp.sqrt(gradient_square) + decay * size + epsilon)
    if clip:
        trust = jnp.clip(trust / rate, 0, 1)
    return like(gradient, trust * (gradient + decay * parameter))
