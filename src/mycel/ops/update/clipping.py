# SPDX-License-Identifier: Apache-2.0
"""Gradients kept in bounds: scaled to a norm that all of them share, and tested for overflow."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.math.lengths import length, root


@op()
def scale_to_global_norm(limit, *tensors):
    """All arrays times limit / max(limit, their common norm), in their own types."""
    total = sum(jnp.sum(jnp.square(x.astype(np.float32))) for x in tensors)
    limit = limit.astype(np.float32)
    norm = root(total)
    factor = limit / jnp.maximum(norm, limit)
    return tuple(_scaled(x, factor) for x in tensors)


def _scaled(x, factor):
    return (x.astype(np.float32) * factor).astype(x.dtype)


@op()
def scale_to_norm(limit, *tensors, order):
    """All arrays times the smaller of 1 and limit / their common norm; and that norm."""
    lengths = [length(x.astype(np.float32).reshape(-1), order, -1) for x in tensors]
    norm = length(jnp.stack(lengths), order, -1)
    factor = jnp.minimum(limit.astype(np.float32) / (norm + np.float32(1e-6)), 1)
    reals = [x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(np.float32) for x in tensors]
    return (*(_scaled(x, factor) for x in reals), norm)


@composite("ops.clip_by_global_norm(x, clip_norm=1.0, use_norm=None)")
def clip_by_global_norm(x, clip_norm=1.0, use_norm=None) -> tuple[Tensor, ...]:
    """Tensors scaled together, so that the norm over all of them is at most clip_norm.

    Args:
        x: a tuple or list of Tensors, or one.
        clip_norm: the largest norm, a number above 0 or a Tensor.
        use_norm: only None.

    Returns:
        A tuple of Tensors in their own types; one Tensor for one.

    Raises:
        ValueError: `clip_norm` is not above 0, or `use_norm` is given.
        TypeError: other things than Tensors.

    Example:
        >>> print(ops.clip_by_global_norm((Tensor([3.0]), Tensor([4.0])), 1.0)[1])
        [0.8]
    """
    if use_norm is not None:
        raise wrong(ValueError, "clip_by_global_norm: use_norm", "None", repr(use_norm))
    if not isinstance(clip_norm, Tensor) and not clip_norm > 0:
        raise wrong(ValueError, "clip_by_global_norm: clip_norm", "above 0", clip_norm)
    tensors = _tensors(x, "clip_by_global_norm: x")
    made = scale_to_global_norm(_limit(clip_norm), tensors)
    return made[0] if isinstance(x, Tensor) else made


@composite("ops.clip_by_norm(x, max_norm, norm_type=2.0, error_if_nonfinite=False)")
def clip_by_norm(x, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Tensors scaled together, so that their common norm of an order is at most max_norm.

    Args:
        x: a Tensor, or a tuple or list of them.
        max_norm: the largest norm, a number or a Tensor.
        norm_type: the order; infinity compares the largest elements.
        error_if_nonfinite: raise if the norm is infinite or no number, at the price of waiting.

    Returns:
        A Tensor, or a tuple of them; Float32 for integers.

    Raises:
        RuntimeError: the norm is not finite, with `error_if_nonfinite`.
        TypeError: other things than Tensors.

    Example:
        >>> print(ops.clip_by_norm(Tensor([3.0, 4.0]), 10.0))
        [3. 4.]
    """
    *made, norm = scale_to_norm(
        _limit(max_norm), _tensors(x, "clip_by_norm: x"), order=float(norm_type)
    )
    if error_if_nonfinite:
        _check_finite(norm, "clip_by_norm")
    return made[0] if isinstance(x, Tensor) else tuple(made)


def _check_finite(norm: Tensor, what: str) -> None:
    if not np.isfinite(float(norm)):
        raise wrong(RuntimeError, f"{what}: the norm over all Tensors", "finite", float(norm))


def _limit(value) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(float(value))


def _tensors(x, what: str) -> tuple[Tensor, ...]:
    found = (x,) if isinstance(x, Tensor) else x
    if not isinstance(found, (tuple, list)) or not all(isinstance(t, Tensor) for t in found):
        raise wrong(TypeError, what, "a Tensor, or a tuple or list of them", f"{x!r:.60}")
    return tuple(found)


@op("FloatStatus()(x)")
def float_status(x):
    """Whether a Tensor has an infinite element or one that is no number: [1.0] or [0.0].

    Example:
        >>> print(ops.FloatStatus()(Tensor([1.0, float("inf")])))
        [1.]
    """
    return (~jnp.isfinite(x).all()).astype(np.float32).reshape(1)
