# SPDX-License-Identifier: Apache-2.0
"""The files that all frameworks read, and how much of each; Pillow makes the images."""

from __future__ import annotations

import csv
import os
import pathlib
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

# How many threads or processes read, in every framework.
WORKERS = 2
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIDE, TOKENS = 224, 32
WORDS = (
    *("tree", "stone", "river", "cloud", "house", "light"),
    *("water", "bird", "field", "night", "wind", "road"),
)


class Work(NamedTuple):
    """One pipeline.

    Args:
        about: what is done to each row.
        rows: how many there are in an epoch.
        batch: how many make a batch.
    """

    about: str
    rows: int
    batch: int


WORK = {
    "images": Work("JPEG decoded, cropped at random, flipped at random, normalised", 240, 32),
    "mnist": Work("digits scaled to floats", 10000, 64),
    "csv": Work("lines of five numbers", 20000, 256),
    "records": Work("records of 128 floats and a label", 8000, 64),
    "text": Work("lines cut into words, looked up, padded", 20000, 64),
}


def folder() -> pathlib.Path:
    """Where the files are; the parent process says it."""
    return pathlib.Path(os.environ["BENCH_DATA"])


def write(target: pathlib.Path, writer_of_records) -> None:
    """Make all files that are not there yet.

    Args:
        target: the folder.
        writer_of_records: MindRecord's FileWriter.
    """
    target.mkdir(parents=True, exist_ok=True)
    done = target / "done"
    if done.exists():
        return
    draw = np.random.default_rng(0)
    _images(target / "images", draw)
    rows = WORK["mnist"].rows
    digits = draw.integers(0, 256, (rows, 28, 28), np.uint8)
    labels = draw.integers(0, 10, rows).astype(np.uint8)
    head = struct.pack(">4i", 2051, rows, 28, 28)
    (target / "t10k-images-idx3-ubyte").write_bytes(head + digits.tobytes())
    (target / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, rows) + bytes(labels))
    with open(target / "table.csv", "w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow("abcde")
        for number in range(WORK["csv"].rows):
            lines.writerow([*draw.random(4).round(6), number % 10])
    _records(target, draw, writer_of_records)
    lengths = draw.integers(4, 2 * TOKENS, WORK["text"].rows)
    texts = (" ".join(draw.choice(WORDS, length)) for length in lengths)
    (target / "lines.txt").write_text("\n".join(texts) + "\n")
    done.touch()


def _images(target: pathlib.Path, draw: np.random.Generator) -> None:
    from PIL import Image

    for number in range(WORK["images"].rows):
        kind = target / str(number % 3)
        kind.mkdir(parents=True, exist_ok=True)
        small = draw.integers(0, 256, (24, 32, 3), np.uint8)
        # Smooth, so that the files are of a usual size.
        Image.fromarray(small).resize((400, 300), Image.Resampling.BICUBIC).save(
            kind / f"{number}.jpg", quality=90
        )


def _records(target: pathlib.Path, draw: np.random.Generator, writer_of_records) -> None:
    rows = WORK["records"].rows
    values = draw.random((rows, 128)).astype(np.float32)
    labels = np.arange(rows) % 10
    # What has no reader of MindRecord reads the same numbers from NumPy's files.
    np.save(target / "records.npy", values)
    np.save(target / "labels.npy", labels.astype(np.int32))
    writer = writer_of_records(str(target / "records.mindrecord"), 1, overwrite=True)
    kinds = {"x": {"type": "float32", "shape": [128]}, "label": {"type": "int32"}}
    writer.add_schema(kinds)
    made = zip(values, labels.tolist(), strict=True)
    writer.write_raw_data([{"x": value, "label": label} for value, label in made])
    writer.commit()


def tokens_of(line: str) -> np.ndarray:
    """The numbers of the words of a line, padded with zeros or cut off."""
    found = [WORDS.index(word) + 1 for word in line.split()[:TOKENS]]
    return np.array(found + [0] * (TOKENS - len(found)), np.int32)


def seen(rows: Iterable[Sequence], work: str) -> list[float]:
    """Go through an epoch: what is compared between frameworks, sizes and sums.

    Args:
        rows: batches, each with its columns in order.
        work: "images" are changed by chance, so that only their sizes are compared.
    """
    batches, total, first, size = 0, 0.0, 0.0, 0
    for row in rows:
        if not batches:
            size, first = int(np.prod(row[0].shape)), float(row[0].sum())
        total += float(row[-1].sum())
        batches += 1
    return [float(batches), float(size), *((0.0, 0.0) if work == "images" else (total, first))]
