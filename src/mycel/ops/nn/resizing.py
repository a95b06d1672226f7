# SPDX-License-Identifier: Apache-2.0
"""Resizing: nearest elements, linear and cubic interpolation, means of areas.

Each is linear, one dimension after the other, and so is its derivative: a matrix with few numbers
in a row, and that matrix transposed. Both are applied as sums of gathered elements.
"""

from __future__ import annotations

import functools
import operator

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import one_or_more, several
from mycel.ops.common import as_wide

# With more numbers in a row than this (areas, derivatives of a great enlargement) a matrix product
# does the same in less code.
MOST_TAPS = 16

METHODS = {
    "nearest": "nearest",
    "nearest-exact": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
    "area": "area",
}
# The numbers of dimensions that each mode takes, and whether it knows of corners.
RANKS = {
    "nearest": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
    "area": (3, 4, 5),
}
WITH_CORNERS = ("linear", "bilinear", "bicubic", "trilinear")


@op()
def resized(x, *, sizes, method, centers, steps):
    """The last dimensions of x with other lengths.

    Args:
        sizes: the new lengths.
        method: 'nearest', 'linear', 'cubic' (as MindSpore rounds it), 'cubic-exact' or 'area'.
        centers: which positions correspond: 'corners' (first and last elements), 'halves' (the
            middles of elements), or 'edges' (the first elements, and then by `steps`).
        steps: how far to go for one new element; None is the ratio of the lengths.

    Raises:
        TypeError: x holds integers, and the method is not the nearest element.

    Example:
        >>> from mycel.ops.nn.resizing import resized
        >>> print(resized(Tensor([1.0, 3.0]), (3,), "linear", "corners", (None,)))
        [1. 2. 3.]
    """
    if method != "nearest" and not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"Interpolation needs real numbers, not {x.dtype}; use x.astype(...).")
    front = x.ndim - len(sizes)
    return _applied(x, _matrices(x.shape[front:], sizes, method, centers, steps))


@resized.reverse
def _(x, output, cotangent, *, sizes, method, centers, steps):
    front = x.ndim - len(sizes)
    forward = _matrices(x.shape[front:], sizes, method, centers, steps)
    return _applied(cotangent, [matrix.T for matrix in forward])


def _matrices(lengths, sizes, method, centers, steps):
    """For each dimension [size, length]: what every new element takes of the old ones."""
    parts = zip(lengths, sizes, steps, strict=True)
    return [MATRICES[method](n, size, centers, step) for n, size, step in parts]


def _positions(length, size, centers, step, kind: type[np.floating] = np.float64):
    """Where each new element lies among the old ones, in MindSpore's Float32 where that chooses."""
    places = np.arange(size, dtype=kind)
    if centers == "corners":
        return places * kind((length - 1) / (size - 1) if size > 1 else 0)
    step = kind(length / size if step is None else step)
    return places * step if centers == "edges" else (places + kind(0.5)) * step


def _nearest(length, size, centers, step):
    places = _positions(length, size, centers, step, np.float32)
    # Between two corners the upper one is the nearest.
    chosen = np.floor(places + 0.5 if centers == "corners" else places)
    return np.eye(length)[np.minimum(chosen, length - 1).astype(int)]


def _linear(length, size, centers, step):
    places = _positions(length, size, centers, step)
    places = np.maximum(places - 0.5, 0) if centers == "halves" else places
    low = np.minimum(np.floor(places), length - 1)
    return _weighted(length, low, [1 - (places - low), places - low], 0)


def _cubic(length, size, centers, step):
    """As MindSpore has it: fractions of 1/1024, and between middles another slope.

    There what lies outside does not count; elsewhere it is as the outermost elements.
    """
    halves = centers == "halves"
    low, away = _below(length, size, centers, step, np.float32)
    away = np.round(away * 1024) / 1024
    rows = _cubic_rows(length, low, away, -0.5 if halves else -0.75, outside=not halves)
    return rows / rows.sum(1, keepdims=True) if halves else rows


def _cubic_exact(length, size, centers, step):
    return _cubic_rows(length, *_below(length, size, centers, step), -0.75)


def _below(length, size, centers, step, kind: type[np.floating] = np.float64):
    """The old element below each new one, and how far away it is."""
    places = _positions(length, size, centers, step, kind)
    places = places - kind(0.5) if centers == "halves" else places
    low = np.floor(places)
    return low, (places - low).astype(np.float64)


def _cubic_rows(length, low, away, slope, outside=True):
    """Rows of four weights, of the piecewise cubic curve with this slope at distance 1."""
    weights = []
    for offset in (-1, 0, 1, 2):
        distance = abs(away - offset)
        near = ((slope + 2) * distance - (slope + 3)) * distance**2 + 1
        far = ((distance - 5) * distance + 8) * distance * slope - 4 * slope
        weight = np.where(distance <= 1, near, far)
        inside = (low + offset >= 0) & (low + offset < length)
        weights.append(weight if outside else weight * inside)
    return _weighted(length, low, weights, -1)


def _weighted(length, low, weights, offset):
    """Rows with `weights` at the positions from `low + offset`; those outside go to the ends."""
    matrix = np.zeros((len(low), length))
    for number, weight in enumerate(weights):
        place = np.clip(low + offset + number, 0, length - 1).astype(int)
        np.add.at(matrix, (np.arange(len(low)), place), weight)
    return matrix


def _area(length, size, centers, step):
    matrix = np.zeros((size, length))
    for i in range(size):
        start, end = i * length // size, -(-(i + 1) * length // size)
        matrix[i, start:end] = 1 / (end - start)
    return matrix


MATRICES = {
    "nearest": _nearest,
    "linear": _linear,
    "cubic": _cubic,
    "cubic-exact": _cubic_exact,
    "area": _area,
}


def _applied(x, matrices):
    """Each matrix times one of the last dimensions of x; sums of halves in Float32."""
    wide = x.astype(np.float32) if x.dtype.itemsize < 4 and x.dtype.kind in "fV" else x
    for axis, matrix in enumerate(matrices, x.ndim - len(matrices)):
        wide = _times(wide, axis, matrix)
    return wide.astype(x.dtype)


def _times(x, axis, matrix):
    rows, columns = matrix.shape
    if rows == columns and (matrix == np.eye(rows)).all():
        return x
    if rows % columns == 0 and (matrix == np.eye(columns).repeat(rows // columns, 0)).all():
        return jnp.repeat(x, rows // columns, axis)
    if columns % rows == 0 and (matrix == np.eye(rows).repeat(columns // rows, 1)).all():
        shape = (*x.shape[:axis], rows, columns // rows, *x.shape[axis + 1 :])
        return x.reshape(shape).sum(axis + 1, x.dtype)
    taps = (matrix != 0).sum(1).max()
    if taps > MOST_TAPS:
        product = jnp.tensordot(
            x, jnp.array(matrix, x.dtype), ((axis,), (1,)), precision=lax.Precision.HIGHEST
        )
        return jnp.moveaxis(product, -1, axis)
    places = np.argsort(matrix == 0, 1, kind="stable")[:, :taps]
    weights = np.take_along_axis(matrix, places, 1)
    shape = [1] * x.ndim
    shape[axis] = rows
    parts = []
    for place, weight in zip(places.T, weights.T, strict=True):
        part = jnp.take(as_wide(x), place, axis, mode="clip").astype(x.dtype)
        if not (weight == 1).all():
            part = part * jnp.array(weight.reshape(shape), x.dtype)
        parts.append(part)
    return functools.reduce(operator.add, parts)


def _numbers(values, what):
    """A tuple of Python numbers, of one or several or a Tensor of them."""
    if hasattr(values, "asnumpy"):
        values = values.asnumpy().tolist()
    values = one_or_more(values)
    if any(isinstance(n, bool) or not isinstance(n, (int, float)) or not n > 0 for n in values):
        raise ValueError(f"{what} must be of positive numbers, not {values}.")
    return values


@composite(
    "ops.interpolate(input=x, size=None, scale_factor=None, mode='nearest', align_corners=None,"
    " recompute_scale_factor=None, roi=None, scales=None, sizes=None,"
    " coordinate_transformation_mode=None)",
    "ops.upsample(input=x, size=None, scale_factor=None, mode='nearest', align_corners=None,"
    " recompute_scale_factor=None)",
)
def interpolate(
    x,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    roi=None,
    scales=None,
    sizes=None,
    coordinate_transformation_mode=None,
):
    """x [N, C, *space], resized along its dimensions of space.

    Args:
        x: [N, C, *space], with one to three dimensions of space.
        size: the new lengths, one number or one for each dimension.
        scale_factor: instead of `size`, by how much to multiply them.
        mode: 'nearest', 'nearest-exact', 'linear' (one dimension of space), 'bilinear', 'bicubic'
            (two), 'trilinear' (three) or 'area' (means).
        align_corners: first and last elements keep their place; else elements are seen as areas,
            and the edges of the outermost ones keep theirs. Not for 'nearest' and 'area'.
        recompute_scale_factor: go by the ratio of the lengths, not by `scale_factor` itself.
        roi, scales, sizes, coordinate_transformation_mode: as MindSpore 1 called them; there the
            mode of coordinates is 'align_corners' (its default), 'half_pixel' or 'asymmetric'.

    Raises:
        ValueError: the mode is unknown or does not fit x, or the sizes are missing, given twice,
            too few, too many or not positive.

    Example:
        >>> x = Tensor([[[1.0, 3.0]]])
        >>> print(ops.interpolate(x, size=3, mode="linear", align_corners=True))
        [[[1. 2. 3.]]]
    """
    if isinstance(mode, (tuple, list)):
        # All by position, in the order of MindSpore 1.
        scales, sizes, coordinate_transformation_mode = scale_factor, mode, align_corners
        size = scale_factor = align_corners = None
        mode, recompute_scale_factor = recompute_scale_factor, None
    if sizes is not None or scales is not None:
        return _interpolate_as_before(x, mode, scales, sizes, coordinate_transformation_mode)
    return _interpolate(x, size, scale_factor, mode, align_corners, recompute_scale_factor, METHODS)


@composite(
    "mint.nn.functional.interpolate(input=x, size=None, scale_factor=None, mode='nearest',"
    " align_corners=None, recompute_scale_factor=None)",
    "mint.nn.functional.upsample(input=x, size=None, scale_factor=None, mode='nearest',"
    " align_corners=None)",
)
def mint_interpolate(
    x,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
):
    """x with other lengths of its dimensions of space; `mint` has one curve for 'bicubic'.

    Args:
        x: [N, C, *space], one to three dimensions of space.
        size: the new lengths, one number or one for each dimension of space; None if `scale_factor`
            is given.
        scale_factor: by how much the lengths are multiplied, one number or one for each dimension;
            None if `size` is given.
        mode: 'nearest' (the default), 'nearest-exact', 'linear' (one dimension of space),
            'bilinear' or 'bicubic' (two), 'trilinear' (three) or 'area' (means).
        align_corners: whether the first and the last elements keep their places; otherwise the
            edges of the outermost ones do. Only for 'linear', 'bilinear', 'bicubic' and
            'trilinear'.
        recompute_scale_factor: whether elements are read by the ratio of the lengths instead of by
            `scale_factor` itself; None, the default, for not.

    Raises:
        ValueError: as `ops.interpolate`.

    Example:
        >>> print(mint.nn.functional.interpolate(Tensor([[[1.0, 3.0]]]), scale_factor=2))
        [[[1. 1. 3. 3.]]]
    """
    methods = METHODS | {"bicubic": "cubic-exact"}
    return _interpolate(x, size, scale_factor, mode, align_corners, recompute_scale_factor, methods)


def _interpolate(x, size, scale_factor, mode, align_corners, recompute, methods):
    if mode not in METHODS:
        raise ValueError(f"mode must be one of {', '.join(map(repr, METHODS))}, not {mode!r}.")
    if align_corners is not None and mode not in WITH_CORNERS:
        raise ValueError(f"align_corners is not for mode {mode!r}.")
    lengths, steps = _lengths(x, mode, size, scale_factor, recompute)
    centers = "corners" if align_corners else "edges" if mode == "nearest" else "halves"
    return resized(x, lengths, methods[mode], centers, steps)


def _lengths(x, mode, size, scale_factor, recompute):
    """The new lengths, and how far to go for each new element."""
    if x.ndim not in RANKS[mode]:
        allowed = " or ".join(map(str, RANKS[mode]))
        raise ValueError(f"mode {mode!r} needs {allowed} dimensions, not {x.shape}.")
    if (size is None) == (scale_factor is None):
        raise ValueError("Give either a size or a scale_factor.")
    old = x.shape[2:]
    if size is not None:
        size = several(_numbers(size, "size"), len(old), "size")
        return tuple(map(int, size)), (None,) * len(old)
    factors = several(_numbers(scale_factor, "scale_factor"), len(old), "scale_factor")
    lengths = tuple(int(n * factor) for n, factor in zip(old, factors, strict=True))
    if min(lengths) < 1:
        raise ValueError(f"A scale_factor of {scale_factor} leaves nothing of {x.shape}.")
    if recompute:
        return lengths, (None,) * len(old)
    return lengths, tuple(1 / factor for factor in factors)


def _interpolate_as_before(x, mode, scales, sizes, coordinates):
    known = {"align_corners": "corners", "half_pixel": "halves", "asymmetric": "edges"}
    coordinates = coordinates or "align_corners"
    if coordinates not in known:
        expected = ", ".join(map(repr, known))
        raise ValueError(f"coordinate_transformation_mode must be one of {expected}.")
    mode = "linear" if mode == "nearest" and x.ndim == 3 else mode
    if mode not in ("linear", "bilinear"):
        raise ValueError(
            f"With `sizes` or `scales` the mode must be 'linear' or 'bilinear', not {mode!r}."
        )
    if scales is not None and len(one_or_more(scales)) == x.ndim:
        scales = scales[2:]
    lengths, steps = _lengths(x, mode, sizes, scales, False)
    return resized(x, lengths, "linear", known[coordinates], steps)


@composite(
    "ResizeNearestNeighbor(size, align_corners=False, half_pixel_centers=False)(input_x=x)"
    " with method='nearest'",
    "ResizeNearestNeighborV2(align_corners=False, half_pixel_centers=False)(image=x, size=size)"
    " with method='nearest'",
    "ResizeBilinear(size, align_corners=False, half_pixel_centers=False)(x) with method='linear'",
    "ResizeBilinearV2(align_corners=False, half_pixel_centers=False)(image=x, size=size)"
    " with method='linear'",
    "ResizeBicubic(align_corners=False, half_pixel_centers=False)(image=x, size=size)"
    " with method='cubic'",
)
def resize_images(x, size, align_corners=False, half_pixel_centers=False, method="nearest"):
    """Images in another size: each pixel is the nearest one, or is computed from those around it.

    From the four around it by the bilinear rule, from sixteen by the bicubic one, as the name says.

    Args:
        x: [N, C, H, W].
        size: the new (H, W), positive integers, as a tuple or as a Tensor, which is read.
        align_corners: whether the corner pixels keep their places; False by default.
        half_pixel_centers: whether positions are counted from the centres of pixels instead of from
            their corners; False by default.

    Raises:
        ValueError: x is not [N, C, H, W], the size is not positive, or both kinds of positions are
            asked for.

    Example:
        >>> print(ops.ResizeNearestNeighbor((1, 4))(Tensor([[[[1.0, 2.0]]]])))
        [[[[1. 1. 2. 2.]]]]
        >>> print(ops.ResizeBilinear((1, 3), align_corners=True)(Tensor([[[[1.0, 2.0]]]])))
        [[[[1.  1.5 2. ]]]]
        >>> print(ops.ResizeBicubic(align_corners=True)(Tensor([[[[1.0, 2.0]]]]), (1, 3)))
        [[[[1.  1.5 2. ]]]]
    """
    if x.ndim != 4:
        raise ValueError(f"Images are [N, C, H, W], not {x.shape}.")
    if align_corners and half_pixel_centers:
        raise ValueError("align_corners and half_pixel_centers cannot both be True.")
    size = tuple(map(int, several(_numbers(size, "size"), 2, "size")))
    centers = "corners" if align_corners else "halves" if half_pixel_centers else "edges"
    return resized(x, size, method, centers, (None, None))


@composite(
    "UpsampleNearest3D()(x, output_size=None, scales=None) with mode='nearest'",
    "UpsampleTrilinear3D(align_corners=False)(x, output_size=None, scales=None)"
    " with mode='trilinear'",
)
def resize_volumes(x, output_size=None, scales=None, align_corners=None, mode="nearest"):
    """Volumes in another size, of the nearest elements or linear between those around.

    Args:
        x: [N, C, D, H, W].
        output_size: the new (D, H, W), positive integers; None if `scales` is given.
        scales: instead, by how much the lengths are multiplied, three numbers; None by default.
        align_corners: whether the corners keep their places; False by default. Only linear.

    Raises:
        ValueError: both sizes are given or none, or x is not [N, C, D, H, W].

    Example:
        >>> print(ops.UpsampleNearest3D()(Tensor([[[[[1.0, 2.0]]]]]), (1, 1, 3)))
        [[[[[1. 1. 2.]]]]]
        >>> print(ops.UpsampleTrilinear3D(True)(Tensor([[[[[1.0, 2.0]]]]]), (1, 1, 3)))
        [[[[[1.  1.5 2. ]]]]]
    """
    if x.ndim != 5:
        raise ValueError(f"Volumes are [N, C, D, H, W], not {x.shape}.")
    return _interpolate(x, output_size, scales, mode, align_corners, None, METHODS)


@op("ResizeArea(align_corners=False)(images=x, size=size)")
def resized_by_area(x, *, size, align_corners=False):
    """Images in another size: each pixel is the mean of what it covers; Float32.

    Args:
        x: [N, H, W, C], any real type.
        size: the new (H, W), positive integers, as a tuple or as a Tensor, which is read.
        align_corners: whether the corner pixels keep their places; False by default.

    Raises:
        ValueError: x has another shape, or the size is not positive.

    Example:
        >>> x = Tensor([[[[2.0], [4.0], [6.0], [8.0]]]])
        >>> print(ops.ResizeArea()(x, (1, 2)).reshape(-1))
        [3. 7.]
    """
    if x.ndim != 4 or len(size) != 2 or min(size) < 1:
        raise ValueError(f"Images are [N, H, W, C] and a size is (H, W), not {x.shape}, {size}.")
    down, across = (
        jnp.array(_covered(n, m, align_corners), np.float32)
        for n, m in zip(x.shape[1:3], size, strict=True)
    )
    return jnp.einsum("ih,nhwc,jw->nijc", down, x.astype(np.float32), across)


def _covered(length: int, size: int, align_corners: bool) -> np.ndarray:
    """How much of each old pixel a new one covers; beyond the last one lies the last one."""
    step = length / size
    if align_corners and size > 1:
        step = (length - 1) / (size - 1)
    begins = np.arange(size)[:, None] * step
    olds = np.arange(length + int(step) + 1)
    shares = np.minimum(begins + step, olds + 1) - np.maximum(begins, olds)
    shares = np.clip(shares, 0, None) / step
    shares[:, length - 1] = shares[:, length - 1 :].sum(1)
    return shares[:, :length]


LINES_UP = {"align_corners": "corners", "half_pixel": "halves", "asymmetric": "edges"}


@composite("ResizeLinear1D(coordinate_transformation_mode='align_corners')(x, size)")
def resize_linear1d(x, size, coordinate_transformation_mode="align_corners"):
    """Lines with another length, read between their elements.

    Args:
        x: [N, C, L].
        size: the new length, a number, a tuple of one or a Tensor, which is read.
        coordinate_transformation_mode: what corresponds: 'align_corners' (first and last elements),
            'half_pixel' (the middles of elements) or 'asymmetric' (first elements).

    Raises:
        ValueError: the mode is unknown, or x does not have three dimensions.

    Example:
        >>> print(ops.ResizeLinear1D()(Tensor([[[1.0, 3.0]]]), (3,)))
        [[[1. 2. 3.]]]
    """
    mode = coordinate_transformation_mode
    if mode not in LINES_UP or x.ndim != 3:
        raise ValueError(
            f"ResizeLinear1D needs [N, C, L] and one of {list(LINES_UP)}, not {x.shape}, {mode!r}."
        )
    size = size.asnumpy().tolist() if hasattr(size, "asnumpy") else size
    size = (size,) if isinstance(size, int) else tuple(size)
    return resized(x, size, "linear", LINES_UP[mode], (None,))
