# SPDX-License-Identifier: Apache-2.0
"""A Tensor as a notebook shows it: statistics, a small heat map and its first values.

Of a large Tensor a sample is looked at, and said to be one: it costs a few milliseconds at most.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable
from itertools import product

import numpy as np

from mycel.report import html

# More elements than that are sampled, in runs; so many are listed, of longer ones the ends.
MOST_COUNTED = 1 << 20
_RUNS, _RUN = 256, 1024
_LISTED = 64
# The heat map: the most cells and pixels to a side, and how many elements a cell looks at.
_ROWS, _COLUMNS = 48, 96
_PIXELS = 384
_LOOKED_AT = 8
_LEAST_DRAWN, _LEAST_HEIGHT = 4, 12
_IMAGE = "image-rendering:pixelated;margin:.3rem 0;border:1px solid rgba(128,128,128,.35)"
_POSITIVE, _NEGATIVE, _NOT_FINITE = (230, 110, 20), (40, 110, 230), (220, 0, 200)


def tensor_html(array: np.ndarray, dtype=None, name: str = "Tensor", facts: tuple = ()) -> str:
    """A Tensor with its values.

    Args:
        array: the values.
        dtype: the element type as it is written; default: the array's.
        name: what stands in front.
        facts: what else is said of it.
    """
    kind = str(dtype) if dtype is not None else array.dtype.name.capitalize()
    numbers = array.astype(np.float32) if array.dtype.kind == "V" else array
    head = html.line(html.heading(name, f"{kind}{list(array.shape)}", *facts))
    if array.ndim == 0:
        return html.box(head, html.preformatted(str(numbers[()])))
    if not array.size:
        return html.box(head, html.line("no elements"))
    listed = html.preformatted(_listed(numbers))
    if array.size > _LISTED:
        listed = html.folded("values", listed)
    return html.box(head, html.line(_statistics(numbers)), heat_map(numbers), listed)


def parameters_html(parameters: Iterable) -> str:
    """A table of Parameters, without their values."""
    members = list(parameters)
    rows = [
        (p.name, f"{p.dtype}{list(p.shape)}", f"{p.size:,}", "yes" if p.requires_grad else "no")
        for p in members
    ]
    total = f"{sum(p.size for p in members):,} elements"
    head = html.heading("Parameters", f"{len(members):,}", total)
    return html.box(head, html.table(("name", "shape", "elements", "trained"), rows))


def _listed(numbers: np.ndarray) -> str:
    return np.array2string(numbers, precision=4, threshold=_LISTED, edgeitems=2, max_line_width=100)


# -- statistics ----------------------------------------------------------------------------------


def _sample(numbers: np.ndarray) -> np.ndarray:
    """All elements; of many, runs of neighbours from places that lie evenly apart."""
    flat = numbers.reshape(-1)
    if flat.size <= MOST_COUNTED:
        return flat
    starts = [(flat.size - _RUN) * place // (_RUNS - 1) for place in range(_RUNS)]
    return np.concatenate([flat[start : start + _RUN] for start in starts])


def _statistics(numbers: np.ndarray) -> str:
    """In words, as HTML."""
    flat = _sample(numbers)
    sampled = flat.size < numbers.size
    told = [f"of a sample of {flat.size:,} elements of {numbers.size:,}"] * sampled
    if flat.dtype.kind == "b":
        return " · ".join([f"{float(flat.mean()):.1%} True", *told])
    zeros = 1 - np.count_nonzero(flat) / flat.size
    if flat.dtype.kind == "c":
        flat, of = np.abs(flat), " magnitude"
    else:
        of = ""
    wide = flat.astype(np.float64 if flat.dtype.itemsize > 4 else np.float32, copy=False)
    finite = np.isfinite(wide)
    bad = flat.size - int(np.count_nonzero(finite))
    kept = wide if not bad else wide[finite]
    said = []
    if kept.size:
        mean = float(kept.mean(dtype=np.float64))
        numbers_said = {"mean": mean, "std": float(kept.std(dtype=np.float64))}
        numbers_said |= {"min": kept.min(), "max": kept.max()}
        said = [f"{what}{of} {_short(value)}" for what, value in numbers_said.items()]
    said.append(f"{zeros:.1%} zeros")
    if bad:
        nan = int(np.count_nonzero(np.isnan(wide)))
        said.append(f"<b>{nan:,} NaN, {bad - nan:,} infinite</b>")
    return " · ".join([*said, *told])


def _short(number) -> str:
    return f"{float(number):.4g}"


# -- the heat map --------------------------------------------------------------------------------


def heat_map(numbers: np.ndarray) -> str:
    """The last two dimensions as a picture; empty for what is too small to need one."""
    part = numbers[(0,) * (numbers.ndim - 2)] if numbers.ndim > 2 else np.atleast_2d(numbers)
    if part.size < _LEAST_DRAWN:
        return ""
    if part.dtype.kind == "c":
        part = np.abs(part)
    cells = _smaller(part)
    finite = np.isfinite(cells)
    most = float(np.abs(cells[finite]).max()) if finite.any() else 0.0
    side = max(1, min(12, _PIXELS // max(cells.shape)))
    rows, columns = cells.shape
    which = "".join(f"{place}, " for place in (0,) * (numbers.ndim - 2))
    of = f"[{which}:, :], " if which else ""
    about = f"{of}orange is positive, blue is negative, up to ±{_short(most)}"
    about += "" if finite.all() else "; magenta is NaN or infinite"
    image = b64encode(_png(_colours(cells, finite, most))).decode()
    size = f"width='{columns * side}' height='{max(rows * side, _LEAST_HEIGHT)}'"
    source = f"src='data:image/png;base64,{image}'"
    return f"<img alt='heat map: {about}' title='{about}' {size} style='{_IMAGE}' {source}>"


def _smaller(part: np.ndarray) -> np.ndarray:
    """At most so many cells to a side: the means of a few elements of each block."""
    rows, columns = (
        [length * place // shown for place in range(shown)]
        for length, shown in zip(part.shape, np.minimum(part.shape, (_ROWS, _COLUMNS)), strict=True)
    )
    steps = []
    for length, starts in zip(part.shape, (rows, columns), strict=True):
        block = length // len(starts)
        looked_at = min(block, _LOOKED_AT)
        steps.append([block * place // looked_at for place in range(looked_at)])
    total = np.zeros((len(rows), len(columns)))
    with np.errstate(invalid="ignore", over="ignore"):
        for down, right in product(*steps):
            total += part[np.ix_(np.add(rows, down), np.add(columns, right))]
    return total / (len(steps[0]) * len(steps[1]))


def _colours(cells: np.ndarray, finite: np.ndarray, most: float) -> np.ndarray:
    """Red, green, blue and opacity: 0 shows the page behind it."""
    colours = np.empty((*cells.shape, 4), np.uint8)
    colours[..., :3] = np.where(cells[..., None] < 0, _NEGATIVE, _POSITIVE)
    share = np.abs(np.where(finite, cells, 0.0)) / most if most else np.zeros(cells.shape)
    colours[..., 3] = np.round(255 * share)
    colours[~finite] = (*_NOT_FINITE, 255)
    return colours


def _png(colours: np.ndarray) -> bytes:
    """A picture as a PNG file."""
    rows, columns = colours.shape[:2]
    lines = np.zeros((rows, 1 + columns * 4), np.uint8)  # each begins with the filter: none
    lines[:, 1:] = colours.reshape(rows, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checked

    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
