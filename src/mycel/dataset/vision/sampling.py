# SPDX-License-Identifier: Apache-2.0
"""Values between the pixels of an array: resizing and warping as OpenCV does them.

There is no smoothing before an image is made smaller (only AREA averages). 8-bit images are
computed in the integers OpenCV uses, so that results are equal to the grey level.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from mycel.dataset.vision import opencv
from mycel.dataset.vision.names import Inter
from mycel.dataset.vision.operation import saturate
from mycel.dataset.vision.pillow import from_array, resampling
from mycel.kernel.base.errors import wrong

_CUBIC = -0.75
# Weights of 8-bit images are multiples of 1/2048; places of warped pixels multiples of 1/32.
_SCALE = 2048
_STEPS = 32


def resize(array: np.ndarray, size: tuple[int, int], interpolation: Inter) -> np.ndarray:
    """An array (H, W) or (H, W, C) with another height and width.

    Raises:
        TypeError: the interpolation is for PIL images only.
    """
    if interpolation is Inter.ANTIALIAS:
        expected = "NEAREST, LINEAR, CUBIC, AREA or PILCUBIC for an array"
        raise wrong(TypeError, "The interpolation", expected, interpolation.name)
    if array.shape[:2] == tuple(size):
        return array.copy()
    if interpolation is Inter.PILCUBIC:
        return _as_pillow(array, size)
    if opencv.fits(array, interpolation):
        library = opencv.resize_as(_resized)
        if library is not None:
            return library(array, size, interpolation)
    return _resized(array, size, interpolation)


def _resized(array: np.ndarray, size: tuple[int, int], interpolation: Inter) -> np.ndarray:
    height, width = array.shape[:2]
    if interpolation is Inter.NEAREST:
        rows, columns = _nearest(height, size[0]), _nearest(width, size[1])
        return array[rows[:, None], columns]
    if interpolation is Inter.AREA and height >= size[0] and width >= size[1]:
        return _averaged(array, size)
    vertical = _taps(height, size[0], interpolation)
    horizontal = _taps(width, size[1], interpolation)
    return _weighted(array, vertical, horizontal, interpolation)


def _as_pillow(array: np.ndarray, size) -> np.ndarray:
    if array.dtype != np.uint8:
        raise wrong(RuntimeError, "An array for PILCUBIC", "of type uint8", str(array.dtype))
    image = from_array(array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array)
    resized = np.asarray(image.resize(size[::-1], resampling(Inter.BICUBIC, "Resize")))
    return resized.reshape(*size, *array.shape[2:])


def _nearest(length: int, wanted: int) -> np.ndarray:
    places = np.floor(np.arange(wanted) * _scale(length, wanted))
    return np.minimum(places.astype(int), length - 1)


def _scale(length: int, wanted: int) -> float:
    """Old pixels per new one; rounded twice, as in OpenCV, which decides between neighbours."""
    return 1 / (wanted / length)


def _taps(length: int, wanted: int, interpolation: Inter) -> tuple[np.ndarray, np.ndarray]:
    """For each new pixel the old ones it is made of, and their weights."""
    scale = _scale(length, wanted)
    index = np.arange(wanted)
    if interpolation is Inter.AREA:
        base = np.floor(index * scale)
        place = (index + 1 - (base + 1) / scale).astype(np.float32)
        part = np.where(place <= 0, 0, place - np.floor(place))
    else:
        place = ((index + 0.5) * scale - 0.5).astype(np.float32)
        base = np.floor(place)
        part = place - base
    base = base.astype(int)
    if interpolation is Inter.BICUBIC:
        offsets, weights = np.arange(-1, 3), _cubic_weights(part)
    else:
        offsets, weights = np.arange(2), np.stack([1 - part, part], -1)
    return np.clip(base[:, None] + offsets, 0, length - 1), weights.astype(np.float32)


def _cubic_weights(part: np.ndarray) -> np.ndarray:
    """Weights of the four pixels around a place that is `part` behind the second."""

    def near(x):
        return ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1

    def far(x):
        return ((_CUBIC * x - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC

    weights = [far(part + 1), near(part), near(1 - part)]
    return np.stack([*weights, 1 - sum(weights)], -1)


def _weighted(array: np.ndarray, vertical, horizontal, interpolation: Inter) -> np.ndarray:
    (rows, down), (columns, right) = vertical, horizontal
    channels = math.prod(array.shape[2:])
    shape = (len(rows), len(columns), *array.shape[2:])
    # Lines as flat rows of numbers, of which only those are computed that are looked at.
    needed, rows = np.unique(rows, return_inverse=True)
    lines = array.reshape(len(array), -1)[needed]
    rows = rows.reshape(down.shape)
    columns = (columns[..., None] * channels + np.arange(channels)).swapaxes(1, 2)
    columns, right = columns.reshape(-1, right.shape[1]), np.repeat(right, channels, 0)
    if array.dtype != np.uint8:
        kind = np.float64 if array.dtype == np.float64 else np.float32
        wide = _summed(lines, 1, columns, right.astype(kind))
        high = _summed(wide, 0, rows, down.astype(kind)[..., None])
        return saturate(high, array.dtype).reshape(shape)
    down, right = (np.rint(w * _SCALE).astype(np.int32) for w in (down, right))
    # By way of uint32: NumPy converts bytes to it ten times as fast as to int32.
    wide = _summed(lines.astype(np.uint32).view(np.int32), 1, columns, right)
    if interpolation is Inter.BICUBIC:
        high = _summed(wide.astype(np.int64), 0, rows, down[..., None])
        return np.clip((high + (1 << 21)) >> 22, 0, 255).astype(np.uint8).reshape(shape)
    wide >>= 4
    high = _summed(wide, 0, rows, down[..., None], shift=16)
    high += 2
    high >>= 2
    return high.astype(np.uint8).reshape(shape)


def _summed(values: np.ndarray, axis: int, places, weights, shift: int = 0) -> np.ndarray:
    """The sum over taps of values at places, times weights, each shifted to the right."""
    total = None
    for tap in range(places.shape[1]):
        part = values.take(places[:, tap], axis) * weights[:, tap]
        if shift:
            part >>= shift
        total = part if total is None else np.add(total, part, out=total)
    return np.asarray(total)


def _averaged(array: np.ndarray, size) -> np.ndarray:
    factors = [have // new for have, new in zip(array.shape, size, strict=False)]
    if (size[0] * factors[0], size[1] * factors[1]) == array.shape[:2]:
        blocks = array.reshape(size[0], factors[0], size[1], factors[1], *array.shape[2:])
        share = np.float32(1 / math.prod(factors))
        return saturate(blocks.sum((1, 3), np.float64).astype(np.float32) * share, array.dtype)
    down, right = _shares(array.shape[0], size[0]), _shares(array.shape[1], size[1])
    mixed = np.einsum("ih,jw,hw...->ij...", down, right, array.astype(np.float64))
    return saturate(mixed, array.dtype)


@functools.lru_cache(64)
def _shares(length: int, wanted: int) -> np.ndarray:
    """How much of each new pixel lies on each old one."""
    edges = np.arange(wanted + 1) * (length / wanted)
    old = np.arange(length)
    over = np.minimum(edges[1:, None], old + 1) - np.maximum(edges[:-1, None], old)
    return np.maximum(over, 0) * (wanted / length)


def warp_affine(array, matrix, size, interpolation: Inter, fill) -> np.ndarray:
    """Pixels of a new image fetched from `matrix @ (x, y, 1)` of the old one.

    Args:
        array: (H, W) or (H, W, C).
        matrix: two rows of three numbers; from new places to old ones.
        size: height and width of the new image.
        fill: what stands outside of the old image, a number or one per channel.
    """
    bits = 10
    (a, b, c), (d, e, f) = matrix
    x, y = np.arange(size[1]), np.arange(size[0])
    half = 1 << (bits - 1) if interpolation is Inter.NEAREST else (1 << bits) // _STEPS // 2
    across = [np.rint(k * x * (1 << bits)).astype(np.int64) for k in (a, d)]
    along = [
        np.rint((k * y + m) * (1 << bits)).astype(np.int64) + half for k, m in ((b, c), (e, f))
    ]
    places = [(u[None, :] + v[:, None]) for u, v in zip(across, along, strict=True)]
    if interpolation is Inter.NEAREST:
        return _fetch(array, places[0] >> bits, places[1] >> bits, fill)
    x, y = (place >> (bits - 5) for place in places)
    return _between(array, x, y, interpolation, fill)


def warp_perspective(array, matrix, size, interpolation: Inter, fill) -> np.ndarray:
    """Pixels of a new image fetched from the old one through a 3x3 matrix."""
    y, x = np.mgrid[: size[0], : size[1]].astype(np.float64)
    u, v, w = np.einsum("ij,jhw->ihw", matrix, np.stack([x, y, np.ones_like(x)]))
    scale = np.divide(1.0, w, out=np.zeros_like(w), where=w != 0)
    if interpolation is Inter.NEAREST:
        x, y = (np.rint(k * scale).astype(np.int64) for k in (u, v))
        return _fetch(array, x, y, fill)
    x, y = (np.rint(k * scale * _STEPS).astype(np.int64) for k in (u, v))
    return _between(array, x, y, interpolation, fill)


def _fetch(array, x, y, fill) -> np.ndarray:
    inside = (x >= 0) & (x < array.shape[1]) & (y >= 0) & (y < array.shape[0])
    found = array[np.where(inside, y, 0), np.where(inside, x, 0)]
    if array.ndim == 3:
        inside = inside[..., None]
    return np.where(inside, found, _fill_of(array, fill))


def _fill_of(array: np.ndarray, fill) -> np.ndarray:
    """The fill value in the array's type: one number, or one per channel."""
    values = np.atleast_1d(np.asarray(fill, np.float64))
    channels = array.shape[2] if array.ndim == 3 else 1
    if values.size > 1:
        values = np.resize(values, max(channels, values.size))[:channels]
        if channels > 3:
            values[3:] = 0
    return saturate(values, array.dtype)


def _between(array, x, y, interpolation: Inter, fill) -> np.ndarray:
    """Values at places given in steps of 1/32 pixel."""
    if interpolation is Inter.BICUBIC:
        offsets = np.arange(-1, 3)
        table = _cubic_weights(np.arange(_STEPS) / _STEPS)
    else:
        offsets = np.arange(2)
        table = np.stack([1 - np.arange(_STEPS) / _STEPS, np.arange(_STEPS) / _STEPS], -1)
    right, down = table[x % _STEPS], table[y % _STEPS]
    column, row = x // _STEPS, y // _STEPS
    total = 0.0
    for i, dy in enumerate(offsets):
        for j, dx in enumerate(offsets):
            weight = down[..., i] * right[..., j]
            if array.ndim == 3:
                weight = weight[..., None]
            total = total + weight * _fetch(array, column + dx, row + dy, fill)
    if array.dtype == np.uint8:
        # OpenCV rounds halves up here.
        return np.clip(np.floor(total + 0.5), 0, 255).astype(np.uint8)
    return saturate(np.asarray(total), array.dtype)
