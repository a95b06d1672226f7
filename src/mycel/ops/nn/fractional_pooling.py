# SPDX-License-Identifier: Apache-2.0
"""Pooling over windows of uneven heights and widths, whose ends are drawn."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.random.drawing import as_key, draw_key

KINDS = ("float32", "float64", "int32", "int64")


@op()
def window_ends(key, *, length, windows, pseudo):
    """Where windows begin, and the length last: [windows + 1], Int64; see `FractionalMaxPool`.

    Args:
        length: how many elements there are.
        windows: how many windows there are.
        pseudo: whether lengths follow each other by a rule from one drawn number; otherwise those
            that are needed are put in any order.

    Example:
        >>> from mycel.ops.nn.fractional_pooling import window_ends
        >>> print(window_ends(ops.ones(2, mycel.uint32), 4, 2, False))
        [0 2 4]
    """
    least, more = divmod(length, windows)
    if not more:
        return jnp.arange(windows + 1, dtype=np.int64) * least
    if not pseudo:
        sizes = np.where(np.arange(windows) < more, least + 1, least)
        drawn = jax.random.permutation(as_key(key), jnp.asarray(sizes))
        return jnp.concatenate([jnp.zeros(1, np.int64), jnp.cumsum(drawn).astype(np.int64)])
    ratio = length / windows
    # So that no window is longer than `least + 1` at the beginning, or shorter than `least` behind.
    most = min((least + 2) / ratio - 1, (length + 1 - least) / ratio - (windows - 1), 1.0)
    start = jax.random.uniform(as_key(key), (), np.float64) * most
    inner = jnp.ceil(ratio * (start + np.arange(1, windows))).astype(np.int64) - 1
    ends = [jnp.zeros(1, np.int64), inner, jnp.full(1, length, np.int64)]
    return jnp.concatenate(ends)


def _along(x, ends, axis, reduce, fill, overlapping):
    """Reduce the windows of one dimension; also how many elements each has."""
    length, windows = x.shape[axis], ends.shape[0] - 1
    most = min(length // windows + 2 + overlapping, length)
    places = ends[:-1, None] + np.arange(most)
    last = jnp.minimum(ends[1:] + overlapping, length)[:, None]
    inside = places < last
    taken = jnp.take(x, jnp.minimum(places, length - 1).reshape(-1), axis)
    taken = taken.reshape(*x.shape[:axis], windows, most, *x.shape[axis + 1 :])
    shape = [1] * taken.ndim
    shape[axis : axis + 2] = windows, most
    kept = jnp.where(inside.reshape(shape), taken, fill)
    return reduce(kept, axis + 1), inside.sum(1)


@op()
def windows_largest(x, rows, columns, *, overlapping):
    """The largest element of each window of [N, H, W, C].

    Example:
        >>> from mycel.ops.nn.fractional_pooling import windows_largest
        >>> x = Tensor([[[[1.0], [2.0]], [[4.0], [3.0]]]])
        >>> print(windows_largest(x, Tensor([0, 2]), Tensor([0, 1, 2]), False).asnumpy().ravel())
        [4. 3.]
    """
    least = jnp.finfo(x.dtype).min if jnp.issubdtype(x.dtype, np.floating) else None
    fill = np.iinfo(x.dtype).min if least is None else least
    tall, _ = _along(x, rows, 1, jnp.max, fill, int(overlapping))
    return _along(tall, columns, 2, jnp.max, fill, int(overlapping))[0]


@op()
def windows_average(x, rows, columns, *, overlapping):
    """The mean of each window of [N, H, W, C]; of integers the part before the point.

    Example:
        >>> from mycel.ops.nn.fractional_pooling import windows_average
        >>> x = Tensor([[[[1.0], [2.0]], [[4.0], [3.0]]]])
        >>> print(windows_average(x, Tensor([0, 2]), Tensor([0, 1, 2]), False).asnumpy().ravel())
        [2.5 2.5]
    """
    sums, tall = _along(x, rows, 1, jnp.sum, 0, int(overlapping))
    sums, wide = _along(sums, columns, 2, jnp.sum, 0, int(overlapping))
    counts = (tall[:, None] * wide).reshape(1, len(tall), len(wide), 1).astype(sums.dtype)
    return jax.lax.div(sums, jnp.broadcast_to(counts, sums.shape)).astype(x.dtype)


def _drawn(name, x, pooling_ratio, pseudo_random, deterministic, seed, seed2):
    """Where the windows of both dimensions begin."""
    if x.ndim != 4:
        raise wrong(ValueError, f"{name}: x", "of shape [N, H, W, C]", f"{x.shape}")
    if x.dtype.name not in KINDS:
        raise wrong(TypeError, f"{name}: x", " or ".join(KINDS), x.dtype.name)
    ratios = tuple(pooling_ratio)
    fits = len(ratios) == 4 and ratios[0] == ratios[3] == 1 and min(ratios) >= 1
    if not fits:
        expected = "[1.0, rows, columns, 1.0] of at least 1"
        raise wrong(ValueError, f"{name}: pooling_ratio", expected, f"{pooling_ratio}")
    keys = [draw_key(seed or seed2 or None) for _ in range(2)]
    if deterministic:
        keys = [Tensor(np.array([seed or 1, seed2 + n], np.uint32)) for n in range(2)]
    return tuple(
        window_ends(key, length=n, windows=max(int(n / ratio), 1), pseudo=bool(pseudo_random))
        for key, n, ratio in zip(keys, x.shape[1:3], ratios[1:3], strict=True)
    )


@composite(
    "FractionalMaxPool(pooling_ratio=pooling_ratio, pseudo_random=False, overlapping=False,"
    " deterministic=False, seed=0, seed2=0)(x)"
)
def fractional_max_pool_rows(
    x, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest elements of windows of [N, H, W, C] whose heights and widths are drawn.

    Args:
        x: [N, H, W, C], Float32, Float64, Int32 or Int64.
        pooling_ratio: [1.0, rows, columns, 1.0]: how many times less rows and columns there are in
            the result, rounded down; at least 1.
        pseudo_random: whether sizes follow by a rule from one drawn number, as in Graham's paper on
            this pooling; False, the default, puts them in any order.
        overlapping: whether a window has the first row and column of the next one too; False by
            default.
        deterministic: whether the windows are the same at every call; False by default.
        seed, seed2: integers that make the windows repeat from run to run; 0, the default, for the
            default generator.

    Returns:
        The elements, and where rows and columns of windows begin, Int64, their number last.

    Raises:
        TypeError: the element type is another.
        ValueError: the shape or the ratios are others.

    Source: MindSpore's `ops.FractionalMaxPool`, whose generator is another.

    Example:
        >>> x = ops.arange(16).reshape(1, 4, 4, 1)
        >>> largest, rows, columns = ops.FractionalMaxPool([1.0, 1.5, 1.5, 1.0])(x)
        >>> print(largest.asnumpy().ravel(), rows, columns)
        [ 5  7 13 15] [0 2 4] [0 2 4]
    """
    settings = pooling_ratio, pseudo_random, deterministic, seed, seed2
    rows, columns = _drawn("FractionalMaxPool", x, *settings)
    return windows_largest(x, rows, columns, overlapping=bool(overlapping)), rows, columns


@composite(
    "FractionalAvgPool(pooling_ratio=pooling_ratio, pseudo_random=False, overlapping=False,"
    " deterministic=False, seed=0, seed2=0)(x)"
)
def fractional_average_pool_rows(
    x, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0
) -> tuple[Tensor, Tensor, Tensor]:
    """The means of windows of [N, H, W, C] whose heights and widths are drawn.

    Args:
        x, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2: as in
            `FractionalMaxPool`. Means of integers lose what is behind the point.

    Returns:
        The means, and where rows and columns of windows begin, Int64, their number last.

    Raises:
        TypeError, ValueError: as `FractionalMaxPool`.

    Source: MindSpore's `ops.FractionalAvgPool`, whose generator is another.

    Example:
        >>> x = ops.arange(16).reshape(1, 4, 4, 1)
        >>> print(ops.FractionalAvgPool([1.0, 2.0, 2.0, 1.0])(x)[0].asnumpy().ravel())
        [ 2  4 10 12]
    """
    settings = pooling_ratio, pseudo_random, deterministic, seed, seed2
    rows, columns = _drawn("FractionalAvgPool", x, *settings)
    return windows_average(x, rows, columns, overlapping=bool(overlapping)), rows, columns
