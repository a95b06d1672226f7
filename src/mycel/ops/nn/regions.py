# SPDX-License-Identifier: Apache-2.0
"""Parts of images, brought to one size: regions of interest and crops."""

from __future__ import annotations

import itertools

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.spell import composite, op
from mycel.ops.common import quotient


def _taps(place, length):
    """The two elements beside a position, each with its weight; both at the edge outside."""
    fixed = lax.stop_gradient(place)
    # On a pixel both are the same, and nothing depends on the position.
    low, high = (jnp.clip(turn(fixed), 0, length - 1) for turn in (jnp.floor, jnp.ceil))
    away = place - low
    return ((low, 1 - away), (high, away))


def _between(images, numbers, rows, columns):
    """Images [B, H, W, C] read between their pixels.

    Args:
        numbers: [N], which image.
        rows: [N, h].
        columns: [N, w].
    """
    _, height, width, _ = images.shape
    total = 0
    parts = itertools.product(_taps(rows, height), _taps(columns, width))
    for (row, row_weight), (column, column_weight) in parts:
        at = (
            numbers[:, None, None],
            row.astype(np.int32)[:, :, None],
            column.astype(np.int32)[:, None, :],
        )
        weight = row_weight[:, :, None] * column_weight[:, None, :]
        total = total + images[at] * weight[..., None].astype(images.dtype)
    return total


# -- regions of interest -----------------------------------------------------------------------


def _sampled(starts, sides, bins, counts, sample):
    """The position of one sample in each bin: [N, bins]."""
    size = sides / bins
    first = starts[:, None] + size[:, None] * np.arange(bins, dtype=np.float32)
    return first + (sample + 0.5) * (size / counts)[:, None]


def _inside(place, length):
    """A position brought inside, and whether it was not more than a pixel outside."""
    there = (place >= -1) & (place <= length)
    return jnp.clip(place, 0, length - 1), there


def _counts(sides, bins, sample_num):
    """How many samples lie in a bin, along one side."""
    if sample_num:
        return jnp.full(sides.shape, sample_num, np.float32)
    return jnp.maximum(jnp.floor(quotient(sides, bins)), 1)


@op()
def regions_aligned(x, regions, *, bins, scale, sample_num, most, end):
    """The means of samples in the bins of regions; see `roi_align`.

    Example:
        >>> from mycel.ops.nn.regions import regions_aligned
        >>> x, region = ops.ones((1, 1, 4, 4)), Tensor([[0.0, 0.0, 0.0, 3.0, 3.0]])
        >>> print(regions_aligned(x, region, (1, 1), 1.0, 2, (2, 2), 1).reshape(-1))
        [1.]
    """
    if x.ndim != 4 or regions.ndim != 2 or regions.shape[1] != 5:
        raise ValueError(f"ROIAlign needs [N, C, H, W] and [R, 5], not {x.shape}, {regions.shape}.")
    regions = lax.stop_gradient(regions).astype(np.float32)
    numbers, corners = regions[:, 0].astype(np.int32), regions[:, 1:]
    starts = corners[:, :2] * np.float32(scale)
    sides = (corners[:, 2:] + np.float32(end)) * np.float32(scale) - starts
    if not end:
        sides = jnp.maximum(sides, np.float32(1))
    # Columns are first in a box, rows in a image.
    starts, sides = starts[:, ::-1].T, sides[:, ::-1].T
    counts = [_counts(side, n, sample_num) for side, n in zip(sides, bins, strict=True)]
    images = x.transpose(0, 2, 3, 1)

    def add(total, sample):
        places, there = [], np.float32(1)
        for axis in (0, 1):
            place = _sampled(
                starts[axis], sides[axis], bins[axis], counts[axis], sample[axis].astype(np.float32)
            )
            place, inside = _inside(place, x.shape[2 + axis])
            # With a count of its own, a region has fewer samples than the longest.
            inside &= (sample[axis] < counts[axis])[:, None]
            there = there * jnp.expand_dims(inside, 2 - axis).astype(np.float32)
            places.append(place)
        return total + _between(images, numbers, *places) * there[..., None].astype(x.dtype), None

    samples = np.array(list(np.ndindex(*most)), np.int32).reshape(-1, 2)
    total = jnp.zeros((regions.shape[0], *bins, x.shape[1]), x.dtype)
    total, _ = lax.scan(add, total, samples)
    size = (counts[0] * counts[1])[:, None, None, None]
    return (total / size.astype(x.dtype)).transpose(0, 3, 1, 2)


@composite("ROIAlign(pooled_height=height, pooled_width=width, spatial_scale=scale, sample_num=2,"
           " roi_end_mode=1)(features=x, rois=regions)")  # fmt: skip
def roi_align(x, regions, height, width, scale, sample_num=2, roi_end_mode=1):
    """Regions of images as bins of one number each: means of samples between pixels.

    Args:
        x: [N, C, H, W].
        regions: the number of the image and the corners x1, y1, x2, y2, [R, 5].
        height, width: how many bins a region has.
        scale: from corners to elements of x.
        sample_num: samples along each side of a bin; 0 takes one for each whole element of x in it,
            by the sizes of the regions, which are read.
        roi_end_mode: 1 counts the last pixel of a region as part of it, 0 does not.

    Returns:
        [R, C, height, width]; samples more than a pixel outside count as zeros.

    Raises:
        ValueError: the shapes do not fit, or `roi_end_mode` is unknown.

    Example:
        >>> x = ops.arange(16.0).reshape(1, 1, 4, 4)
        >>> print(ops.ROIAlign(1, 2, 1.0)(x, Tensor([[0.0, 0.0, 0.0, 2.0, 2.0]])))
        [[[[6.75 8.25]]]]
    """
    if roi_end_mode not in (0, 1):
        raise wrong(ValueError, "ROIAlign.roi_end_mode", "0 or 1", roi_end_mode)
    most = (sample_num, sample_num)
    if not sample_num:
        most = _most_samples(regions.asnumpy(), (height, width), scale, roi_end_mode)
    bins = int(height), int(width)
    return regions_aligned(x, regions, bins, float(scale), sample_num, most, roi_end_mode)


def _most_samples(regions, bins, scale, end):
    sides = (regions[:, 3:] + end - regions[:, 1:3]) * scale
    longest = sides.max(0)[::-1] if len(sides) else (1, 1)
    return tuple(max(int(side / n), 1) for side, n in zip(longest, bins, strict=True))


@op("PSROIPooling(spatial_scale=scale, group_size=group, output_dim=channels)"
    "(features=x, rois=regions)",
    "PsROIPooling(pooled_height=(height, None), pooled_width=(width, None), num_rois=(count, None),"
    " spatial_scale=scale, out_dim=channels, group_size=group)(features=x, rois=regions)",
)  # fmt: skip
def psroi_pooling(x, regions, *, scale, group, channels, height=None, width=None, count=None):
    """Means over the bins of regions, each bin of channels of its own.

    Args:
        x: [N, channels · group², H, W].
        regions: the number of the image and the corners x1, y1, x2, y2, [R, 5], or [N, 5, R].
        scale: the factor that turns corners into positions in `x`.
        group: bins along each side.
        channels: of the result.
        height, width: None, the default, or the number `group`.
        count: None, the default, or the number of regions R.

    Returns:
        [R, channels, group, group]; a bin without elements gives 0.

    Raises:
        ValueError: the shapes do not fit together.

    Source: MindSpore's `ops.operations.nn_ops.PSROIPooling`; the paper of R-FCN.

    Example:
        >>> x, region = ops.ones((1, 4, 4, 4)), Tensor([[0.0, 0.0, 0.0, 3.0, 3.0]])
        >>> ops.PSROIPooling(1.0, 2, 1)(x, region).shape
        (1, 1, 2, 2)
    """
    if regions.ndim == 3:
        regions = regions.transpose(0, 2, 1).reshape(-1, regions.shape[1])
    if x.ndim != 4 or x.shape[1] != channels * group**2 or regions.shape[1:] != (5,):
        raise ValueError(
            f"Pooling of {group}² bins into {channels} channels does not fit x {x.shape} and "
            f"regions {regions.shape}."
        )
    if {height, width} - {None, group} or count not in (None, regions.shape[0]):
        raise ValueError(f"Bins are {group} x {group} here, of {regions.shape[0]} regions.")
    regions = lax.stop_gradient(regions).astype(np.float32)
    scale = np.float32(scale)
    starts = jnp.round(regions[:, 1:3]) * scale
    sides = jnp.maximum((jnp.round(regions[:, 3:]) + 1) * scale - starts, np.float32(0.1))
    bounds = np.arange(group + 1, dtype=np.float32)
    chosen = []
    for axis in (0, 1):
        length, column = x.shape[2 + axis], 1 - axis
        edges = starts[:, column, None] + bounds * (sides[:, column, None] / group)
        first = jnp.clip(jnp.floor(edges[:, :-1]), 0, length)
        last = jnp.clip(jnp.ceil(edges[:, 1:]), 0, length)
        places = np.arange(length, dtype=np.float32)
        inside = (places >= first[..., None]) & (places < last[..., None])
        chosen.append(inside.astype(x.dtype))
    rows, columns = chosen
    parts = x.reshape(x.shape[0], channels, group, group, *x.shape[2:])
    parts = parts[regions[:, 0].astype(np.int32)]
    total = jnp.einsum(
        "rcijhw,rih,rjw->rcij", parts, rows, columns, precision=lax.Precision.HIGHEST
    )
    sizes = rows.sum(-1)[:, None, :, None] * columns.sum(-1)[:, None, None, :]
    return jnp.where(sizes > 0, total / jnp.maximum(sizes, 1), 0).astype(x.dtype)


# -- crops -------------------------------------------------------------------------------------


def _lined_up(low, high, length, size):
    """Corners on the middles of the outermost pixels."""
    first, last = low * (length - 1), high * (length - 1)
    if size == 1:
        return ((first + last) * np.float32(0.5))[:, None]
    step = (last - first) / (size - 1)
    return first[:, None] + step[:, None] * np.arange(size, dtype=np.float32)


def _by_edges(low, high, length, size):
    """Corners on the edges of pixels, as MindSpore rounds them: a box is of whole pixels."""
    first, last = jnp.trunc(low * length), jnp.trunc(high * length)
    count = jnp.maximum(last - first + 1, 1)
    half = np.arange(size, dtype=np.float32) + np.float32(0.5)
    inner = (count / size)[:, None] * half - np.float32(0.5)
    # Beyond the middle of its outermost pixels a box goes on as they are.
    inner = jnp.clip(inner, 0, count[:, None] - 1)
    return jnp.clip(first[:, None] + inner, 0, length - 1)


@op("ops.crop_and_resize(image=x, boxes=boxes, box_indices=numbers, crop_size=size,"
    " method='bilinear', extrapolation_value=outside)",
    "CropAndResize(method='bilinear', extrapolation_value=outside)"
    "(x=x, boxes=boxes, box_indices=numbers, crop_size=size)",
    indices=lambda x, boxes, numbers, **_: [Bounds(2, 0, x.shape[0], what="image number")],
)  # fmt: skip
def crop_and_resize(x, boxes, numbers, *, size, method="bilinear", outside=0.0):
    """Boxes cut out of images and resized to one size.

    Args:
        x: [B, H, W, C].
        boxes: y1, x1, y2, x2, from 0 to 1 in the image, [N, 4]; a box may be upside down, or
            reach outside.
        numbers: the image of each box, [N].
        size: height and width of the result.
        method: 'bilinear' and 'nearest' lay the corners of a box on the middles of pixels,
            'bilinear_v2' takes whole pixels and lays the corners on their edges.
        outside: what a position outside of the image gives.

    Returns:
        Float32, [N, *size, C].

    Raises:
        ValueError: the method is unknown, or the shapes do not fit together.

    Example:
        >>> x, box = ops.arange(4.0).reshape(1, 2, 2, 1), Tensor([[0.0, 0.0, 1.0, 1.0]])
        >>> print(ops.crop_and_resize(x, box, Tensor([0]), (1, 3)).reshape(-1))
        [1.  1.5 2. ]
    """
    if method not in ("bilinear", "nearest", "bilinear_v2"):
        raise ValueError(f"method must be 'bilinear', 'nearest' or 'bilinear_v2', not {method!r}.")
    if x.ndim != 4 or boxes.ndim != 2 or boxes.shape[1] != 4 or numbers.shape != boxes.shape[:1]:
        raise ValueError(
            f"Boxes {boxes.shape} of images {numbers.shape} cannot be cut out of {x.shape}."
        )
    if len(size) != 2 or min(size) < 1:
        raise ValueError(f"crop_size is a height and a width, not {size}.")
    positions = _by_edges if method == "bilinear_v2" else _lined_up
    boxes, images, numbers = boxes.astype(np.float32), x.astype(np.float32), numbers.astype(int)
    rows = positions(boxes[:, 0], boxes[:, 2], x.shape[1], size[0])
    columns = positions(boxes[:, 1], boxes[:, 3], x.shape[2], size[1])
    there = [(p >= 0) & (p <= n - 1) for p, n in ((rows, x.shape[1]), (columns, x.shape[2]))]
    if method == "nearest":
        rows, columns = (lax.stop_gradient(_rounded(places)) for places in (rows, columns))
    cropped = _between(images, numbers, rows, columns)
    inside = (there[0][:, :, None] & there[1][:, None, :])[..., None]
    return jnp.where(inside, cropped, np.float32(outside))


def _rounded(places):
    """Half a pixel goes up."""
    return jnp.floor(places + np.float32(0.5))
