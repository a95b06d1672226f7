# SPDX-License-Identifier: Apache-2.0
"""Losses of differences: squared, absolute, and between the two."""

from __future__ import annotations

import jax.numpy as jnp

from mycel.kernel.spell import op
from mycel.ops.math.lengths import absolute
from mycel.ops.nn.loss import broadcastable, reduced


@op(
    "ops.mse_loss(input=x, target=target, reduction=reduction)",
    "mint.nn.functional.mse_loss(input=x, target=target, reduction=reduction)",
)
def mse_loss(x, target, *, reduction="mean"):
    """The squared differences of x and target, averaged unless `reduction` says otherwise.

    Args:
        x: a Tensor; integers are taken as Float32.
        target: a Tensor whose shape goes together with that of `x` by broadcasting.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the shapes do not fit together, or the reduction is unknown.

    Example:
        >>> print(ops.mse_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        2.0
    """
    x, target = broadcastable(x, target, "mse_loss")
    difference = x - target
    return reduced(difference * difference, reduction)


@op(
    "ops.l1_loss(input=x, target=target, reduction=reduction)",
    "mint.nn.functional.l1_loss(input=x, target=target, reduction=reduction)",
)
def l1_loss(x, target, *, reduction="mean"):
    """The absolute differences of x and target, averaged unless `reduction` says otherwise.

    Args:
        x: a Tensor; integers are taken as Float32.
        target: a Tensor whose shape goes together with that of `x` by broadcasting.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> print(ops.l1_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        1.0
    """
    x, target = broadcastable(x, target, "l1_loss")
    return reduced(absolute(x - target), reduction)


@op(
    "ops.smooth_l1_loss(input=x, target=target, beta=beta, reduction=reduction)",
    "SmoothL1Loss(beta=1.0, reduction='none')(prediction=x, target=target)",
    "mint.nn.functional.smooth_l1_loss(input=x, target=target, reduction='mean', beta=beta)",
)
def smooth_l1_loss(x, target, *, beta=1.0, reduction="none"):
    """d² / (2 · beta) for differences d of x and target below beta, |d| - beta / 2 for others.

    Args:
        x: a Tensor; integers are taken as Float32.
        target: a Tensor whose shape goes together with that of `x` by broadcasting.
        beta: where the square turns into the straight line, 1 by default; 0 gives |d| everywhere.
        reduction: 'mean', 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> print(ops.smooth_l1_loss(Tensor([0.0, 3.0]), Tensor([1.0, 1.0])))
        [0.5 1.5]
    """
    x, target = broadcastable(x, target, "smooth_l1_loss")
    if beta < 0:
        raise ValueError(f"beta must not be negative, but {beta} was given.")
    distance = jnp.abs(x - target)
    if beta == 0:
        return reduced(distance, reduction)
    half, beta = jnp.array(0.5, x.dtype), jnp.array(beta, x.dtype)
    inner = half * distance * distance / beta
    return reduced(jnp.where(distance < beta, inner, distance - half * beta), reduction)


@op("ops.huber_loss(input=x, target=target, reduction=reduction, delta=delta)")
def huber_loss(x, target, *, reduction="mean", delta=1.0):
    """d² / 2 for differences d of x and target up to delta, delta · (|d| - delta / 2) for others.

    Args:
        x: a Tensor; integers are taken as Float32.
        target: a Tensor whose shape goes together with that of `x` by broadcasting.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.
        delta: where the square turns into the straight line, a positive number; 1 by default.

    Raises:
        ValueError: delta is not positive.

    Example:
        >>> print(ops.huber_loss(Tensor([0.0, 3.0]), Tensor([1.0, 1.0]), "none"))
        [0.5 1.5]
    """
    x, target = broadcastable(x, target, "huber_loss")
    if delta <= 0:
        raise ValueError(f"delta must be positive, but {delta} was given.")
    distance = jnp.abs(x - target)
    half, delta = jnp.array(0.5, x.dtype), jnp.array(delta, x.dtype)
    outer = delta * (distance - half * delta)
    return reduced(jnp.where(distance <= delta, half * distance * distance, outer), reduction)
