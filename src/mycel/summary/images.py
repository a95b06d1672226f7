# SPDX-License-Identifier: Apache-2.0
"""A batch of images as one PNG file: pixels from 0 to 255, side by side in rows."""

from __future__ import annotations

import struct
import zlib

import numpy as np

MOST_COLUMNS = 8

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# PNG's own numbers for the kinds of pixels.
_COLOR_KINDS = {1: 0, 3: 2}


def as_pixels(images: np.ndarray) -> np.ndarray:
    """Bytes as they are; numbers from 0 to 1 times 255; others from the least to the greatest.

    NaN becomes black, an infinity the nearer end.
    """
    if images.dtype == np.uint8:
        return images
    values = images.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    if low >= 0.0 and high <= 1.0:
        low, high = 0.0, 1.0
    scaled = (values - low) / ((high - low) or 1.0)
    return np.rint(np.nan_to_num(np.clip(scaled, 0.0, 1.0)) * 255).astype(np.uint8)


def side_by_side(images: np.ndarray) -> np.ndarray:
    """(N, C, H, W) as one image (rows * H, columns * W, C), filled row by row."""
    number, channels, height, width = images.shape
    columns = min(number, MOST_COLUMNS)
    rows = -(-number // columns)
    cells = np.zeros((rows * columns, channels, height, width), images.dtype)
    cells[:number] = images
    cells = cells.reshape(rows, columns, channels, height, width)
    return cells.transpose(0, 3, 1, 4, 2).reshape(rows * height, columns * width, channels)


def as_png(pixels: np.ndarray) -> bytes:
    """The file that shows these bytes of shape (height, width, 1 or 3)."""
    height, width, channels = pixels.shape
    # Every row begins with the number of its filter; 0 means none.
    rows = np.zeros((height, 1 + width * channels), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_KINDS[channels], 0, 0, 0)
    data = zlib.compress(rows.tobytes())
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
