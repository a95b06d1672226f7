# SPDX-License-Identifier: Apache-2.0
"""Reading images and volumes at positions that are computed."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import composite, op
from mycel.ops.common import quotient

METHODS = ("bilinear", "nearest", "bicubic")
OUTSIDE = ("zeros", "border", "reflection")
SLOPE = -0.75  # of the cubic curve at distance 1


@op()
def grid_samples(x, grid, *, mode, padding_mode, align_corners):
    """x [N, C, *space] read at the positions `grid` [N, *places, dimensions of space].

    Example:
        >>> from mycel.ops.nn.sampling import grid_samples
        >>> x, middle = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[0.0, 0.0]]]])
        >>> print(grid_samples(x, middle, "bilinear", "zeros", True))
        [[[[2.5]]]]
    """
    _check(x, grid, mode, padding_mode)
    wide = np.promote_types(np.float32, np.promote_types(x.dtype, grid.dtype))
    lengths = x.shape[2:]
    places = grid.reshape(grid.shape[0], -1, len(lengths)).astype(wide)
    # The last number of a position is that of the first dimension of space.
    places = [places[..., -1 - i] for i in range(len(lengths))]
    places = [_in_elements(p, n, align_corners) for p, n in zip(places, lengths, strict=True)]
    if mode != "bicubic":
        parts = zip(places, lengths, strict=True)
        places = [_brought_inside(p, n, padding_mode, align_corners) for p, n in parts]
    taps = []
    for place, n in zip(places, lengths, strict=True):
        found = TAPS[mode](place)
        if mode == "bicubic":
            found = [(_brought_inside(p, n, padding_mode, align_corners), w) for p, w in found]
        taps.append(found)
    flat = x.reshape(*x.shape[:2], -1).astype(wide)
    parts = (_read(flat, lengths, chosen) for chosen in itertools.product(*taps))
    total = sum(parts, jnp.zeros((), wide))
    return total.reshape(*x.shape[:2], *grid.shape[1:-1]).astype(x.dtype)


def _check(x, grid, mode, padding_mode):
    if mode not in METHODS or padding_mode not in OUTSIDE:
        raise ValueError(
            f"mode must be one of {METHODS} and padding_mode one of {OUTSIDE}, not {mode!r} and "
            f"{padding_mode!r}."
        )
    if x.ndim not in (4, 5) or (mode == "bicubic" and x.ndim == 5):
        raise ValueError(f"mode {mode!r} does not read from a Tensor {x.shape}.")
    if grid.ndim != x.ndim or grid.shape[-1] != x.ndim - 2 or grid.shape[0] != x.shape[0]:
        raise ValueError(
            f"A grid for x {x.shape} is ({x.shape[0]}, …, {x.ndim - 2}) of {x.ndim} dimensions, "
            f"not {grid.shape}."
        )


def _in_elements(place, length, align_corners):
    """-1 … 1 as positions among the elements."""
    if align_corners:
        return (place + 1) * ((length - 1) / 2)
    return ((place + 1) * length - 1) / 2


def _brought_inside(place, length, padding_mode, align_corners):
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        low, span = (0.0, length - 1.0) if align_corners else (-0.5, float(length))
        if span == 0:
            return jnp.zeros_like(place)
        away = jnp.abs(place - low)
        extra, turns = jnp.fmod(away, span), jnp.floor(quotient(away, span))
        place = jnp.where(turns % 2 == 0, extra + low, span - extra + low)
    inside = (place > 0) & (place < length - 1)
    # At the edge and outside nothing depends on the position.
    return jnp.where(inside, place, lax.stop_gradient(jnp.clip(place, 0, length - 1)))


def _linear_taps(place):
    low = lax.stop_gradient(jnp.floor(place))
    return [(low, 1 - (place - low)), (low + 1, place - low)]


def _nearest_taps(place):
    return [(lax.stop_gradient(jnp.round(place)), jnp.ones_like(place))]


def _cubic_taps(place):
    low = lax.stop_gradient(jnp.floor(place))
    away = place - low
    return [(low + i, _cubic_weight(jnp.abs(away - i), i)) for i in (-1, 0, 1, 2)]


def _cubic_weight(distance, offset):
    if offset in (0, 1):
        return ((SLOPE + 2) * distance - (SLOPE + 3)) * distance**2 + 1
    return ((distance - 5) * distance + 8) * distance * SLOPE - 4 * SLOPE


TAPS = {"bilinear": _linear_taps, "nearest": _nearest_taps, "bicubic": _cubic_taps}


def _read(flat, lengths, chosen):
    """What one corner around every position gives: its element times its weight, 0 if outside."""
    index, weight, there = 0, 1, True
    for (place, share), n in zip(chosen, lengths, strict=True):
        there &= (place >= 0) & (place <= n - 1)
        index = index * n + jnp.clip(place, 0, n - 1).astype(np.int32)
        weight = weight * share
    read = jax.vmap(lambda image, at: image.at[:, at].get(mode="promise_in_bounds"))(flat, index)
    return read * jnp.where(there, weight, 0)[:, None]


@composite(
    "ops.grid_sample(input=x, grid=grid, mode='bilinear', padding_mode='zeros',"
    " align_corners=None)",
    "mint.nn.functional.grid_sample(input=x, grid=grid, mode='bilinear', padding_mode='zeros',"
    " align_corners=None)",
    "GridSampler2D(interpolation_mode=(mode, 'bilinear'), padding_mode='zeros',"
    " align_corners=False)(input_x=x, grid=grid)",
    "GridSampler3D(interpolation_mode=(mode, 'bilinear'), padding_mode='zeros',"
    " align_corners=False)(input_x=x, grid=grid)",
)
def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """x [N, C, H, W] or [N, C, D, H, W] read at the positions of `grid` [N, *places, 2 or 3].

    Args:
        x: [N, C, H, W] or [N, C, D, H, W].
        grid: [N, *places, 2 or 3]: positions (x, y) or (x, y, z) from -1 to 1, from left to right,
            top to bottom and front to back.
        mode: 'bilinear', 'nearest' or 'bicubic' (only for four dimensions).
        padding_mode: what lies outside: 'zeros', the 'border', or the mirror ('reflection').
        align_corners: -1 and 1 are the middles of the outermost elements, not their edges.

    Raises:
        ValueError: the mode is unknown, or the shapes do not fit together.

    Example:
        >>> x, middle = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[0.0, 0.0]]]])
        >>> print(ops.grid_sample(x, middle))
        [[[[2.5]]]]
    """
    return grid_samples(x, grid, mode, padding_mode, bool(align_corners))


@op()
def affine_points(theta, *, size, align_corners):
    """The positions of each element after an affine map; see `affine_grid`.

    Example:
        >>> from mycel.ops.nn.sampling import affine_points
        >>> print(affine_points(Tensor([[[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), True))
        [[[[-2.  0.]
           [ 2.  0.]]]]
    """
    space = len(size) - 2
    if theta.shape != (size[0], space, space + 1) or space not in (2, 3):
        raise ValueError(
            f"theta for a size {size} is ({size[0]}, {space}, {space + 1}), not {theta.shape}."
        )
    lines = []
    for n in size[2:]:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    points = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*reversed(points), np.ones(tuple(size[2:]))], -1)
    return jnp.einsum(
        "...k,njk->n...j", jnp.array(base, theta.dtype), theta, precision=lax.Precision.HIGHEST
    )


@composite(
    "ops.affine_grid(theta=theta, size=size, align_corners=False)",
    "AffineGrid(align_corners=False)(theta=theta, size=size)",
)
def affine_grid(theta, size, align_corners=False):
    """A grid for `grid_sample`: the positions of the elements of a result, mapped by `theta`.

    Args:
        theta: [N, 2, 3], or [N, 3, 4] for volumes: matrices with the translation last.
        size: the shape (N, C, H, W) or (N, C, D, H, W) of the result.
        align_corners: as for `grid_sample`.

    Raises:
        ValueError: the size does not fit theta.

    Example:
        >>> print(ops.affine_grid(Tensor([[[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), True))
        [[[[-2.  0.]
           [ 2.  0.]]]]
    """
    size = size.asnumpy().tolist() if hasattr(size, "asnumpy") else size
    return affine_points(theta, tuple(size), bool(align_corners))
