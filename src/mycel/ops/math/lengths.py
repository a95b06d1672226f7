# SPDX-License-Identifier: Apache-2.0
"""Lengths of vectors, whose derivatives are finite where the functions have a corner.

Zero is the subgradient of every norm at zero and of the absolute value; JAX's own functions have 1,
NaN or a share of the ties there.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from mycel.ops.common import sum_of


def absolute(x):
    """|x| with the derivative 0 at 0; of complex numbers too."""
    zero = x == 0
    size = jnp.abs(jnp.where(zero, 1, x)) if x.dtype.kind == "c" else jnp.abs(x)
    return jnp.where(zero, jnp.zeros((), size.dtype), size)


def root(x):
    """The square root with the derivative 0 at 0: for sums of squares."""
    there = x != 0
    return jnp.where(there, jnp.sqrt(jnp.where(there, x, 1)), x)


def length(x, order, axis, keepdims=False):
    """The p-norm over an axis or several; its derivative is 0 where it is 0.

    Of the infinite norms the first extreme element counts. Below 1 the derivative is not finite
    beside elements that are 0.
    """
    if order == 0:
        return jnp.sum(x != 0, axis, keepdims=keepdims).astype(absolute(x).dtype)
    if math.isinf(order):
        return _first_extreme(absolute(x), order > 0, axis, keepdims)
    if order == 2:
        return root(_squares(x, axis, keepdims))
    size = absolute(x)
    if order == 1:
        return sum_of(size, axis, keepdims=keepdims, dtype=size.dtype)
    if order < 1:
        # This size does not hide from the derivative that the power has none at 0.
        size = size if x.dtype.kind == "c" else x * lax.stop_gradient(jnp.sign(x))
        return sum_of(size**order, axis, keepdims=keepdims, dtype=size.dtype) ** (1 / order)
    return _rooted(sum_of(_power(size, order), axis, keepdims=keepdims, dtype=size.dtype), order)


def distance(x, order):
    """The p-norm of differences over the last axis; equal elements have no share in its derivative.

    Of the infinite norm all the largest elements count, each as if it were alone.
    """
    if math.isinf(order):
        size = absolute(x)
        most = jnp.max(size, -1, keepdims=True)
        return _all_largest(size, most)
    if order in (0, 1, 2) or order > 1:
        return length(x, order, -1)
    size = absolute(x)
    return _rooted(sum_of(_power(size, order), -1, dtype=size.dtype), order)


def _squares(x, axis, keepdims):
    squared = jnp.real(x * jnp.conj(x)) if x.dtype.kind == "c" else jnp.square(x)
    return sum_of(squared, axis, keepdims=keepdims, dtype=squared.dtype)


def _power(size, order):
    zero = size == 0
    return jnp.where(zero, jnp.zeros((), size.dtype), jnp.where(zero, 1, size) ** order)


def _rooted(total, order):
    there = total != 0
    made = jnp.where(there, total, 1) ** (1 / order)
    return jnp.where(there, made, total).astype(total.dtype)


def _first_extreme(size, largest, axis, keepdims):
    axes = tuple(range(size.ndim)) if axis is None else axis
    axes = tuple(a % size.ndim for a in (axes if isinstance(axes, tuple) else (axes,)))
    kept = [size.shape[a] for a in range(size.ndim) if a not in axes]
    rows = jnp.moveaxis(size, axes, tuple(range(-len(axes), 0))).reshape(*kept, _count(size, axes))
    if rows.shape[-1] == 0:
        if not largest:
            raise ValueError("A norm of order -inf needs at least one element.")
        made = jnp.zeros(kept, size.dtype)
    else:
        place = (jnp.argmax if largest else jnp.argmin)(rows, -1, keepdims=True)
        made = jnp.take_along_axis(rows, place, -1)[..., 0]
    return jnp.expand_dims(made, sorted(axes)) if keepdims else made


def _count(size, axes) -> int:
    return math.prod(size.shape[a] for a in axes)


def _all_largest(size, most):
    """The largest element; its derivative by each element that is as large is 1."""
    tied = jnp.where(size == most, size, jnp.zeros((), size.dtype))
    shares = sum_of(tied - lax.stop_gradient(tied), -1, dtype=size.dtype)
    return lax.stop_gradient(most[..., 0]) + shares


def matrix_length(x, order, axes, keepdims=False):
    """The norm of the matrices in two axes, of an order that `jnp.linalg.norm` takes."""
    if len(axes) == 2 and order == 2:
        values = jnp.linalg.svd(jnp.moveaxis(x, axes, (-2, -1)), compute_uv=False)
        made = jnp.max(values, -1)
        return jnp.expand_dims(made, sorted(axes)) if keepdims else made
    if len(axes) != 2 or order not in ("fro", 1, -1, math.inf, -math.inf):
        return jnp.linalg.norm(x, order, axes, keepdims)
    if order == "fro":
        return length(x, 2, axes, keepdims)
    summed, rest = axes if abs(order) == 1 else axes[::-1]
    totals = jnp.sum(absolute(x), summed, keepdims=True)
    made = _first_extreme(totals, order > 0, rest, True)
    return made if keepdims else jnp.squeeze(made, axes)
