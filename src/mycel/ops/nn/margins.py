# SPDX-License-Identifier: Apache-2.0
"""Losses by margins: pairs, triplets and labels that should lie apart, and likelihoods."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.spell import op
from mycel.ops.common import as_float, promoted, sum_of
from mycel.ops.math import lengths
from mycel.ops.nn.loss import CLASS, reduced


def _number(value, x):
    return jnp.array(value, x.dtype)


def _above_zero(x, at_zero=0.0):
    """max(x, 0), with one or another derivative at 0; MindSpore's losses have each their own."""
    if not at_zero:
        return jax.nn.relu(x)
    slope = jnp.where(x > 0, 1, jnp.where(x == 0, at_zero, 0)).astype(x.dtype)
    # A factor of 0 would turn infinity into NaN.
    return jnp.where(x < 0, jnp.zeros((), x.dtype), x * slope)


@op("ops.margin_ranking_loss(input1=x, input2=y, target=target, margin=margin,"
    " reduction=reduction)")  # fmt: skip
def margin_ranking_loss(x, y, target, *, margin=0.0, reduction="mean"):
    """max(0, margin - target · (x - y)): x should be the larger one where the target is 1.

    Args:
        x: a Tensor.
        y: a Tensor; the shapes are broadcast.
        target: 1 or -1, in a shape that goes together with theirs by broadcasting.
        margin: by how much one should exceed the other, 0 by default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> print(ops.margin_ranking_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """
    x, y = map(as_float, promoted(x, y))
    target = target.astype(x.dtype)
    return reduced(_above_zero(_number(margin, x) - target * (x - y), 1.0), reduction)


@op("ops.soft_margin_loss(input=x, target=target, reduction=reduction)",
    "mint.nn.functional.soft_margin_loss(input=x, target=target, reduction=reduction)",
    "SoftMarginLoss(reduction=reduction)(input=x, target=target)")  # fmt: skip
def soft_margin_loss(x, target, *, reduction="mean"):
    """log(1 + exp(-target · x)), for two classes.

    Args:
        x: any shape; integers are taken as Float32.
        target: 1 or -1, in the shape of `x`.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the shapes differ, or the reduction is unknown.

    Example:
        >>> print(ops.soft_margin_loss(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """
    if x.shape != target.shape:
        raise ValueError(f"x {x.shape} and target {target.shape} must have one shape.")
    x = as_float(x)
    return reduced(-jax.nn.log_sigmoid(target.astype(x.dtype) * x), reduction)


@op("ops.multi_margin_loss(input=x, target=target, p=(power, 1), margin=(margin, 1),"
    " weight=weight, reduction=reduction)",
    "MultiMarginLoss(p=(power, 1), margin=margin, reduction=reduction)(x, target, weight)",
    indices=lambda x, target, *_, **__: [Bounds(1, 0, x.shape[1], what=CLASS)],
)  # fmt: skip
def multi_margin_loss(x, target, weight=None, *, power=1, margin=1.0, reduction="mean"):
    """How far each class comes within a margin of the right one: max(0, margin - x[t] + x[i])^p.

    Args:
        x: [N, C].
        target: class numbers, [N].
        weight: a factor for each right class, [C].
        power: 1 or 2. The sum over the other classes is divided by C.
        margin: by how much the right class should exceed the others, 1 by default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: p is neither 1 nor 2, or the shapes do not fit together.

    Example:
        >>> print(ops.multi_margin_loss(Tensor([[1.0, 0.5]]), Tensor([0])))
        0.25
    """
    if power not in (1, 2):
        raise ValueError(f"The p of multi_margin_loss must be 1 or 2, not {power!r}.")
    if x.ndim != 2 or target.shape != x.shape[:1]:
        raise ValueError(
            f"There is one class number for each row of {x.shape}: not {target.shape}."
        )
    if weight is not None and weight.shape != x.shape[1:]:
        raise ValueError(f"There is one weight for each class of {x.shape}: not {weight.shape}.")
    target = target.astype(np.int32)[:, None]
    here = lax.broadcasted_iota(np.int32, x.shape, 1) == target
    right = sum_of(jnp.where(here, x, 0), 1, keepdims=True, dtype=x.dtype)
    near = _above_zero(_number(margin, x) - right + x)
    near = near if power == 1 else near * near
    if weight is not None:
        near = near * weight.astype(x.dtype)[target]
    losses = sum_of(jnp.where(here, 0, near), 1, dtype=x.dtype) / _number(x.shape[1], x)
    return reduced(losses, reduction)


def _labelled(x, target):
    """Which classes the labels of each row name: those in front of the first -1."""
    counted = jnp.cumsum(target == -1, 1) == 0
    classes = lax.broadcasted_iota(np.int32, (1, 1, x.shape[1]), 2)
    hits = (target.astype(np.int32)[:, :, None] == classes) & counted[:, :, None]
    return counted, hits.any(1)


def _labels(x, target, **_):
    return [Bounds(1, -1, x.shape[-1], what=CLASS)]


@op(indices=_labels)
def multilabel_margins(x, target, *, reduction):
    """The losses, and which classes are labelled; see `multilabel_margin_loss`.

    Example:
        >>> from mycel.ops.nn.margins import multilabel_margins
        >>> loss, hits = multilabel_margins(Tensor([[1.0, 0.5]]), Tensor([[0, -1]]), "mean")
        >>> print(loss, hits)
        0.25 [[1 0]]
    """
    if x.shape != target.shape or x.ndim not in (1, 2):
        raise ValueError(f"x {x.shape} and target {target.shape} must be [N, C] or [C], alike.")
    rows, labels = jnp.atleast_2d(x), jnp.atleast_2d(target)
    counted, hits = _labelled(rows, labels)
    right = jnp.take_along_axis(rows, jnp.where(counted, labels, 0).astype(np.int32), 1)
    near = _above_zero(_number(1, x) - right[:, :, None] + rows[:, None, :])
    near = jnp.where(counted[:, :, None] & ~hits[:, None, :], near, 0)
    losses = sum_of(near, (1, 2), dtype=x.dtype) / _number(rows.shape[1], x)
    losses = losses if x.ndim == 2 else losses[0]
    return reduced(losses, reduction), hits.astype(np.int32).reshape(x.shape)


@op("ops.multilabel_margin_loss(input=x, target=target, reduction=reduction)", indices=_labels)
def multilabel_margin_loss(x, target, *, reduction="mean"):
    """How far other classes come within 1 of the labelled ones, over the number of classes.

    Args:
        x: [N, C] or [C].
        target: class numbers, of x's shape; from the first -1 on none counts.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the shapes differ, or the reduction is unknown.

    Example:
        >>> print(ops.multilabel_margin_loss(Tensor([[1.0, 0.5]]), Tensor([[0, -1]])))
        0.25
    """
    return multilabel_margins.definition.function(x, target, reduction=reduction)[0]


@op("MultilabelMarginLoss(reduction=reduction)(x, target)", indices=_labels)
def multilabel_margin_with_hits(x, target, *, reduction="mean") -> tuple[Array, Array]:
    """`ops.multilabel_margin_loss`, and which classes are labelled, Int32 of x's shape.

    Args:
        x: [N, C] or [C].
        target: class numbers from 0, in the shape of `x`; those from the first -1 on do not count.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> loss, hits = ops.MultilabelMarginLoss()(Tensor([[1.0, 0.5]]), Tensor([[0, -1]]))
        >>> print(loss, hits)
        0.25 [[1 0]]
    """
    return multilabel_margins.definition.function(x, target, reduction=reduction)


@op("ops.multilabel_soft_margin_loss(input=x, target=target, weight=weight, reduction=reduction)")
def multilabel_soft_margin_loss(x, target, weight=None, *, reduction="mean"):
    """The cross entropy of sigmoid(x) for each class, and its mean over the classes.

    Args:
        x: [N, C].
        target: 1 for a labelled class, else 0.
        weight: a factor for each class.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> print(ops.multilabel_soft_margin_loss(Tensor([[0.0]]), Tensor([[1.0]])))
        0.6931472
    """
    target = target.astype(x.dtype)
    losses = -target * jax.nn.log_sigmoid(x) - (1 - target) * jax.nn.log_sigmoid(-x)
    if weight is not None:
        losses = losses * weight.astype(x.dtype)
    return reduced(jnp.mean(losses, -1, dtype=x.dtype), reduction)


@op("ops.triplet_margin_loss(anchor=x, positive=positive, negative=negative, margin=(margin, 1.0),"
    " p=power, eps=epsilon, swap=swap, reduction=reduction)",
    "TripletMarginLoss(p=power, swap=swap, eps=epsilon, reduction=reduction)"
    "(x=x, positive=positive, negative=negative, margin=margin)",
)  # fmt: skip
def triplet_margin_loss(
    x, positive, negative, margin, *, power=2, epsilon=1e-6, swap=False, reduction="mean"
):
    """max(0, distance to the positive - distance to the negative + margin).

    Args:
        x, positive, negative: [N, D].
        margin: by how much the distance to the negative should exceed the other one, a number.
        power: of the norm of a difference, to each element of which epsilon is added.
        epsilon: what is added to each element of a difference, 1e-6 by default.
        swap: take the distance from positive to negative if that is the smaller one.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the shapes do not broadcast, or the reduction is unknown.

    Example:
        >>> x, near, far = Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]), Tensor([[0.0, 2.0]])
        >>> print(ops.triplet_margin_loss(x, near, far, 1.0, eps=0.0))
        4.0
    """
    x, positive, negative = map(as_float, (x, positive, negative))
    little = _number(epsilon, x)

    def distance(a, b):
        return lengths.distance(a - b + little, float(power))

    away = distance(x, negative)
    if swap:
        away = jnp.minimum(away, distance(positive, negative))
    return reduced(_above_zero(distance(x, positive) - away + margin.astype(x.dtype)), reduction)


@op("ops.gaussian_nll_loss(x, target, var=variance, full=full, eps=epsilon, reduction=reduction)")
def gaussian_nll_loss(x, target, variance, *, full=False, epsilon=1e-6, reduction="mean"):
    """The negative log-likelihood of targets under normal distributions.

    Args:
        x: the means; integers are taken as Float32.
        target: a Tensor whose shape goes together with that of `x` by broadcasting.
        variance: of x's shape, or with one number for each row.
        full: count the constant ½ log 2π too.
        epsilon: the least that a variance counts as.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: epsilon is not positive, or the reduction is unknown.

    Example:
        >>> print(ops.gaussian_nll_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """
    if epsilon <= 0:
        raise ValueError(f"The eps of gaussian_nll_loss must be positive, not {epsilon}.")
    x = as_float(x)
    if variance.ndim == x.ndim - 1:
        variance = variance[..., None]
    variance = jnp.maximum(variance.astype(x.dtype), _number(epsilon, x))
    away = x - target
    losses = _number(0.5, x) * (jnp.log(variance) + away * away / variance)
    if full:
        losses = losses + _number(0.5 * math.log(2 * math.pi), x)
    return reduced(losses, reduction)


@op("ops.hinge_embedding_loss(inputs=x, targets=target, margin=margin, reduction=reduction)")
def hinge_embedding_loss(x, target, *, margin=1.0, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1.

    Args:
        x: any shape; integers are taken as Float32.
        target: 1 or -1, in a shape that goes together with that of `x` by broadcasting.
        margin: the distance beyond which nothing is lost where the target is -1; 1 by default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the reduction is unknown.

    Example:
        >>> print(ops.hinge_embedding_loss(Tensor([0.5, 0.25]), Tensor([1, -1]), reduction="sum"))
        1.25
    """
    x = as_float(x)
    none = jnp.zeros((), x.dtype)
    near = jnp.where(target == 1, x, none)
    far = jnp.where(target == -1, _above_zero(_number(margin, x) - x, 0.5), none)
    return reduced(near + far, reduction)


@op("mint.nn.functional.cosine_embedding_loss(input1=x, input2=y, target=target, margin=margin,"
    " reduction=reduction)",
    "ops.cosine_embedding_loss(input1=x, input2=y, target=target, margin=margin,"
    " reduction=reduction)")  # fmt: skip
def cosine_embedding_loss(x, y, target, *, margin=0.0, reduction="mean"):
    """1 - the cosine of the angle where target is 1, max(0, cosine - margin) where it is -1.

    Args:
        x, y: [N, D] or [D].
        target: [N] or a number.
        margin: the cosine up to which nothing is lost where the target is -1, from -1 to 1; 0 by
            default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the margin lies outside of [-1, 1], or the reduction is unknown.

    Example:
        >>> x, y = Tensor([[1.0, 0.0]]), Tensor([[0.0, 4.0]])
        >>> print(ops.cosine_embedding_loss(x, y, Tensor([1])))
        1.0
    """
    if not -1 <= margin <= 1:
        raise ValueError(f"The margin of cosine_embedding_loss must be from -1 to 1, not {margin}.")
    x, y = map(as_float, promoted(x, y))
    least = _number(1e-12, x)
    squares = [sum_of(a * a, -1, dtype=x.dtype) + least for a in (x, y)]
    cosine = sum_of(x * y, -1, dtype=x.dtype) / jnp.sqrt(squares[0] * squares[1])
    apart = _above_zero(cosine - _number(margin, x))
    none = jnp.zeros((), x.dtype)
    losses = jnp.where(target == 1, 1 - cosine, none) + jnp.where(target == -1, apart, none)
    return reduced(losses, reduction)


@op("L2Loss()(input_x=x)")
def l2_loss(x):
    """Half the sum of squares.

    Example:
        >>> print(ops.L2Loss()(Tensor([2.0])))
        2.0
    """
    return sum_of(x * x, dtype=x.dtype) * jnp.array(0.5, x.dtype)
