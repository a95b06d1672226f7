# SPDX-License-Identifier: Apache-2.0
"""Steps divided by the size of past gradients: RMSProp, Adagrad, Adadelta, FTRL, AdaFactor."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.ops.update.descent_rules import proximal
from mycel.ops.update.rule import moving_mean, rule


@rule
def root_mean_square(
    parameter, square, moment, gradient, rate, forget, momentum, epsilon, mean=None
):
    """RMSProp: (parameter, mean square, moment), and the mean gradient if it is centred.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.root_mean_square(one, one, one * 0, one, 0.5, 0.5, 0.0, 0.0)[0])
        [0.5]
    """
    squares = moving_mean(square, jnp.square(gradient), forget)
    means = () if mean is None else (moving_mean(mean, gradient, forget),)
    spread = squares - jnp.square(means[0]) if means else squares
    step = momentum * moment + rate * gradient / jnp.sqrt(spread + epsilon)
    return parameter - step, squares, step, *means


@rule
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
    *,
    centered=False,
    moving=False,
):
    """RMSprop with epsilon beside the root: (parameter, mean square, mean, moment).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.root_mean_square_beside(one, one, one, one, one, 0.5, 0.5, 0.0, 0.0)[0])
        [0.5]
    """
    squares = moving_mean(square, jnp.square(gradient), forget)
    means = moving_mean(mean, gradient, forget) if centered else mean
    spread = squares - jnp.square(means) if centered else squares
    way = gradient / (jnp.sqrt(spread) + epsilon)
    step = momentum * moment + way if moving else moment
    return parameter - rate * (step if moving else way), squares, means, step


@rule
def adagrad(parameter, squares, gradient, rate, *, update=True, shifted=True):
    """squares += gradient²; parameter - rate · gradient / √(squares + 1e-8).

    MindSpore's documents leave 1e-8 out; its kernel has it, so that no gradient is no step. That of
    sparse gradients has not: `shifted=False`.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.adagrad(one, one * 3, one, 0.5))
        [0.75] [4.]
    """
    sums = squares + jnp.square(gradient) if update else squares
    shift = jnp.asarray(1e-8 if shifted else 0, sums.dtype)
    return parameter - rate * gradient / jnp.sqrt(sums + shift), sums


@rule
def adagrad_beside(parameter, squares, gradient, rate, epsilon, *, update=True):
    """Adagrad with epsilon beside the root: (parameter, sum of squares).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.adagrad_beside(one, one * 3, one, 0.5, 2.0))
        [0.875] [4.]
    """
    sums = squares + jnp.square(gradient) if update else squares
    return parameter - rate * gradient / (jnp.sqrt(sums) + epsilon), sums


@rule
def adadelta(parameter, squares, updates, gradient, rate, forget, epsilon):
    """Adadelta: (parameter, mean square of gradients, mean square of steps).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.adadelta(one, one, one, one, 0.5, 0.5, 0.0)[0])
        [0.5]
    """
    square = moving_mean(squares, jnp.square(gradient), forget)
    step = jnp.sqrt(updates + epsilon) / jnp.sqrt(square + epsilon) * gradient
    return parameter - rate * step, square, moving_mean(updates, jnp.square(step), forget)


@rule
def ftrl(parameter, squares, linear, gradient, rate, l1, l2, power):
    """Follow the regularised leader: (parameter, sum of squares, linear coefficient).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(rules.ftrl(one, one * 0, one * 0, one, 1.0, 0.0, 0.0, -0.5)[0])
        [0.]
    """
    sums = squares + jnp.square(gradient)
    weight = jnp.power(sums, -power)
    coefficient = linear + gradient - (weight - jnp.power(squares, -power)) / rate * parameter
    chosen = (jnp.sign(coefficient) * l1 - coefficient) / (weight / rate + 2 * l2)
    return jnp.where(jnp.abs(coefficient) > l1, chosen, 0), sums, coefficient


@rule
def proximal_adagrad(parameter, squares, gradient, rate, l1, l2):
    """Adagrad with a proximal step: (parameter, sum of squares).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.proximal_adagrad(one, one * 3, one, 0.5, 1.0, 0.0))
        [0.5] [4.]
    """
    sums = squares + jnp.square(gradient)
    # MindSpore writes the plain rate at the norms; its kernels, and TensorFlow's, use this one.
    rate = rate / jnp.sqrt(sums)
    return proximal(parameter - rate * gradient, rate, l1, l2), sums


@rule
def dual_averaging(parameter, sums, squares, gradient, rate, l1, l2, step):
    """Adagrad by dual averaging: (parameter, sum of gradients, sum of squares).

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> print(*rules.dual_averaging(one, one, one * 3, one, 0.5, 0.0, 0.0, 1))
        [-0.5] [2.] [4.]
    """
    total, square = sums + gradient, squares + jnp.square(gradient)
    cut = jnp.sign(total) * jnp.maximum(jnp.abs(total) - l1 * step, 0)
    total_cut = jnp.where(l1 > 0, cut, total)
    return -rate * total_cut / (l2 * step * rate + jnp.sqrt(square)), total, square


def _root_mean(x):
    return jnp.sqrt(jnp.mean(jnp.square(x)))


@rule
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
    shrink,
    mean=None,
    *,
    scaled=True,
):
    """AdaFactor: (parameter, mean squares of rows, of columns, of elements), and the mean step.

    Parameters of two or more dimensions keep the squares of rows and columns, others of elements.
    `shrink`, times the step, is the part of the Parameter that is taken away.

    Example:
        >>> from mycel.ops.update import rules
        >>> one = Tensor([1.0])
        >>> settings = 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
        >>> print(rules.factored(one, one, one, one, one, *settings, scaled=False)[0])
        [0.5]
    """
    gradient, wide = gradient.astype(np.float32), parameter.astype(np.float32)
    step = rate * jnp.maximum(least, _root_mean(wide)) if scaled else rate
    square = jnp.square(gradient) + smallest
    if gradient.ndim > 1:
        rows = moving_mean(rows, square.mean(-1), forget)
        columns = moving_mean(columns, square.mean(-2), forget)
        by_row = 1 / jnp.sqrt(rows / rows.mean(-1, keepdims=True))
        way = by_row[..., None] / jnp.sqrt(columns)[..., None, :] * gradient
    else:
        squares = moving_mean(squares, square, forget)
        way = gradient / jnp.sqrt(squares)
    way = way / jnp.maximum(1, _root_mean(way) / limit) * step
    if mean is not None:
        way = moving_mean(mean, way, beta)
    made = wide - shrink * step * wide - way, rows, columns, squares
    return made if mean is None else (*made, way)
