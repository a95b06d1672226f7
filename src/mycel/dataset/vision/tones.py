# SPDX-License-Identifier: Apache-2.0
"""Brightness, contrast, colour and sharpness of arrays: the formulas, without arguments to check.

Each takes uint8 (or where said float) arrays (H, W, 3) or (H, W) and returns one of the same type.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mycel.dataset.vision.operation import check_image, saturate
from mycel.kernel.base.errors import wrong

# Red, green and blue in grey, in parts of 2**15.
_GREY = np.array([9798, 19235, 3735], np.int64)


def colour_image(array: np.ndarray, name: str) -> np.ndarray:
    """The array, if it is an image with three channels.

    Raises:
        RuntimeError: it is not an image of three channels.
    """
    if array.ndim != 3 or array.shape[2] != 3:
        expected = "of shape (H, W, 3)"
        raise wrong(RuntimeError, f"The input of {name}", expected, f"{array.shape}")
    return array


def bytes_image(array: np.ndarray, name: str) -> np.ndarray:
    """The array, if it is an image of type uint8.

    Raises:
        RuntimeError: it is not an image of type uint8.
    """
    check_image(array, name)
    if array.dtype != np.uint8:
        raise wrong(RuntimeError, f"The input of {name}", "of type uint8", str(array.dtype))
    return array


def grey(array: np.ndarray) -> np.ndarray:
    """Grey levels of red, green and blue, (H, W)."""
    if array.dtype == np.uint8:
        return ((array.astype(np.int64) @ _GREY + (1 << 14)) >> 15).astype(np.uint8)
    weights = np.array([0.299, 0.587, 0.114], np.result_type(array.dtype, np.float32))
    return saturate(array[..., :3] @ weights, array.dtype)


def brightened(array: np.ndarray, factor: float) -> np.ndarray:
    """Every value times a factor."""
    return saturate(array.astype(np.float32) * np.float32(factor), array.dtype)


def contrasted(array: np.ndarray, factor: float) -> np.ndarray:
    """Values further from (or nearer to) the mean grey level by a factor."""
    mean = grey(array).mean(dtype=np.float64)
    if array.dtype.kind != "f":
        mean = int(mean + 0.5)
    mean = np.float32(mean)
    values = array.astype(np.float32) * np.float32(factor) + mean * np.float32(1 - factor)
    return saturate(values, array.dtype)


def saturated(array: np.ndarray, factor: float) -> np.ndarray:
    """Values further from (or nearer to) their own grey level by a factor."""
    own = grey(array)[..., None].astype(np.float32)
    values = array.astype(np.float32) * np.float32(factor) + own * np.float32(1 - factor)
    return saturate(values, array.dtype)


def hue_shifted(array: np.ndarray, factor: float) -> np.ndarray:
    """Hues turned by a part of the circle."""
    hue, saturation, value = to_hsv(bytes_image(array, "a shift of hues"))
    return from_hsv((hue + int(factor * 255)) % 256, saturation, value, array.dtype)


def to_hsv(array: np.ndarray):
    """Hue in 256 steps, saturation and value from 0 to 255, rounded as bytes are."""
    red, green, blue = np.moveaxis(array.astype(np.int64), 2, 0)
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    ahead = np.where(
        value == red,
        green - blue,
        np.where(value == green, blue - red + 2 * spread, red - green + 4 * spread),
    )
    # Quotients are products with inverses of 12 bits, as OpenCV has them.
    inverse = np.rint((256 << 12) / np.maximum(6 * spread, 1)).astype(np.int64) * (spread > 0)
    hue = (ahead * inverse + (1 << 11)) >> 12
    inverse = np.rint((255 << 12) / np.maximum(value, 1)).astype(np.int64) * (value > 0)
    return hue % 256, (spread * inverse + (1 << 11)) >> 12, value


def from_hsv(hue, saturation, value, dtype) -> np.ndarray:
    """Red, green and blue of what `to_hsv` gives."""
    # OpenCV has 256 steps on the way there and 255 on the way back.
    hue = hue * 6 / 255 % 6
    sector = np.floor(hue).astype(int)
    part, saturation = hue - sector, saturation / 255
    p, q = value * (1 - saturation), value * (1 - saturation * part)
    t = value * (1 - saturation * (1 - part))
    tables = np.stack([value, t, p, q])
    order = np.array([[0, 1, 2], [3, 0, 2], [2, 0, 1], [2, 3, 0], [1, 2, 0], [0, 2, 3]])
    chosen = order[sector % 6]
    return saturate(np.take_along_axis(np.moveaxis(tables, 0, -1), chosen, -1), dtype)


def sharpened(array: np.ndarray, factor: float) -> np.ndarray:
    """Values further from (or nearer to) a smoothed image by a factor; the border is kept."""
    wide = array.astype(np.float32)
    smooth = wide.copy()
    if min(array.shape[:2]) > 2:
        height, width = array.shape[0] - 2, array.shape[1] - 2
        total = np.zeros_like(wide[1:-1, 1:-1])
        for i, j in np.ndindex(3, 3):
            weight = 5 if (i, j) == (1, 1) else 1
            total = total + weight * wide[i : i + height, j : j + width]
        smooth[1:-1, 1:-1] = saturate(total / np.float32(13), array.dtype)
    return saturate(wide * np.float32(factor) + smooth * np.float32(1 - factor), array.dtype)


def auto_contrasted(array: np.ndarray, cutoff: float, ignore) -> np.ndarray:
    """Each channel stretched so that it reaches from 0 to 255.

    Args:
        array: uint8.
        cutoff: how many per cent of the darkest and of the brightest pixels do not count.
        ignore: values that do not count.
    """
    return _per_channel(array, lambda channel: _stretched(channel, cutoff, ignore))


def _per_channel(array: np.ndarray, table_of) -> np.ndarray:
    if array.ndim == 2:
        return table_of(array)[array]
    parts = [table_of(array[..., c])[array[..., c]] for c in range(array.shape[2])]
    return np.stack(parts, -1)


def _stretched(channel: np.ndarray, cutoff: float, ignore) -> np.ndarray:
    counts = np.bincount(channel.ravel(), minlength=256)
    counts[list(ignore)] = 0
    left_out = int(counts.sum() * cutoff // 100)
    for indices in (range(256), range(255, -1, -1)):
        rest = left_out
        for index in indices:
            dropped = min(rest, int(counts[index]))
            counts[index] -= dropped
            rest -= dropped
            if not rest:
                break
    present = np.flatnonzero(counts)
    if not present.size or present[-1] <= present[0]:
        return np.arange(256, dtype=np.uint8)
    low, high = np.float32(present[0]), np.float32(present[-1])
    scale = np.float32(255) / (high - low)
    values = np.arange(256, dtype=np.float32) * scale - low * scale
    return np.clip(values, 0, 255).astype(np.uint8)


def equalized(array: np.ndarray) -> np.ndarray:
    """Each channel of a uint8 array with all grey levels about equally frequent."""
    return _per_channel(array, _spread)


def _spread(channel: np.ndarray) -> np.ndarray:
    counts = np.bincount(channel.ravel(), minlength=256)
    first = np.flatnonzero(counts)[0]
    below = np.cumsum(counts) - counts[first]
    if not below[-1]:
        return np.arange(256, dtype=np.uint8)
    below[: first + 1] = 0
    return saturate(below * np.float32(255 / below[-1]), np.uint8)


def solarized(array: np.ndarray, low, high) -> np.ndarray:
    """Values within two limits are inverted; where both are the same, those from it on."""
    chosen = array >= low if low == high else (array >= low) & (array <= high)
    return np.where(chosen, np.array(255, array.dtype) - array, array)


def posterized(array: np.ndarray, bits: int) -> np.ndarray:
    """Only so many of the highest bits are kept."""
    return array & np.uint8((0xFF << (8 - bits)) & 0xFF)


def blurred(array: np.ndarray, kernel: tuple, sigma: tuple) -> np.ndarray:
    """Smoothed by a Gaussian of (width, height) pixels; the border is mirrored."""
    values = array.astype(np.float64)
    for axis, length, spread in ((1, kernel[0], sigma[0]), (0, kernel[1], sigma[1])):
        weights = _gaussian(length, spread)
        if array.dtype == np.uint8:
            weights = _in_bytes(weights)
        half = length // 2
        widths = [(half, half) if a == axis else (0, 0) for a in range(array.ndim)]
        mode: Literal["reflect", "edge"] = "reflect" if array.shape[axis] > 1 else "edge"
        beyond = np.pad(values, np.array(widths), mode)
        windows = np.lib.stride_tricks.sliding_window_view(beyond, length, axis)
        values = windows @ weights
    if array.dtype == np.uint8:
        values = np.floor(values + 0.5)
    return saturate(values, array.dtype)


def _gaussian(length: int, spread: float) -> np.ndarray:
    spread = spread or ((length - 1) * 0.5 - 1) * 0.3 + 0.8
    weights = np.exp(-((np.arange(length) - (length - 1) / 2) ** 2) / (2 * spread**2))
    return weights / weights.sum()


def _in_bytes(weights: np.ndarray) -> np.ndarray:
    """Weights in parts of 256; what one is rounded by is carried on to the next."""
    rounded, over = np.zeros(weights.size), 0.0
    for index in range(weights.size // 2):
        exact = weights[index] * 256 + over
        rounded[index] = rounded[-1 - index] = np.rint(exact)
        over = exact - rounded[index]
    rounded[weights.size // 2] = 256 - rounded.sum()
    return rounded / 256
