# SPDX-License-Identifier: Apache-2.0
"""The pipelines of `python -m bench.data` written by hand with grain, NumPy and Pillow."""

from __future__ import annotations

import csv
from collections.abc import Callable

import grain
import numpy as np
from PIL import Image

from bench.data_files import DEVIATION, MEAN, SIDE, WORK, WORKERS, folder, seen, tokens_of

VARIANTS = ("2 workers",)


def settings() -> str:
    """What is measured."""
    return f"grain {getattr(grain, '__version__', '')}".strip()


class _Image:
    """A picture of the folder, cropped and flipped by chance and normalised."""

    def __init__(self):
        self.paths = sorted((folder() / "images").rglob("*.jpg"))
        self.mean = np.array(MEAN, np.float32)[:, None, None]
        self.deviation = np.array(DEVIATION, np.float32)[:, None, None]

    def __call__(self, number: int, draw: np.random.Generator) -> tuple:
        path = self.paths[number]
        with Image.open(path) as image:
            share = np.sqrt(draw.uniform(0.08, 1) * np.exp(draw.uniform(-0.28, 0.28)))
            width, height = (max(int(side * min(share, 1)), 1) for side in image.size)
            left = int(draw.integers(image.width - width + 1))
            top = int(draw.integers(image.height - height + 1))
            box = (left, top, left + width, top + height)
            bilinear = Image.Resampling.BILINEAR
            pixels = image.convert("RGB").resize((SIDE, SIDE), bilinear, box)
        values = np.asarray(pixels, np.float32).transpose(2, 0, 1) / 255
        values = values[..., ::-1] if draw.random() < 0.5 else values
        return (values - self.mean) / self.deviation, int(path.parent.name)


def _rows(work: str):
    target = folder()
    count = grain.MapDataset.range(WORK[work].rows)
    if work == "images":
        return count.seed(1).random_map(_Image())
    if work == "mnist":
        pixels = np.fromfile(target / "t10k-images-idx3-ubyte", np.uint8)[16:]
        pixels = pixels.reshape(-1, 28, 28, 1)
        labels = np.fromfile(target / "t10k-labels-idx1-ubyte", np.uint8)[8:]
        return count.map(lambda n: (pixels[n] * np.float32(1 / 255), int(labels[n])))
    if work == "csv":
        with open(target / "table.csv", newline="") as file:
            lines = list(csv.reader(file))[1:]
        return count.map(lambda n: (*map(float, lines[n][:4]), int(lines[n][4])))
    if work == "records":
        values = np.load(target / "records.npy", mmap_mode="r")
        labels = np.load(target / "labels.npy", mmap_mode="r")
        return count.map(lambda n: (np.array(values[n]), int(labels[n])))
    texts = (target / "lines.txt").read_text().splitlines()
    return count.map(lambda n: (tokens_of(texts[n]),))


def make(work: str, variant: str) -> Callable[[], list[float]]:
    """A function that goes through one epoch."""
    del variant
    data = _rows(work).batch(WORK[work].batch, drop_remainder=True)
    options = grain.ReadOptions(num_threads=WORKERS, prefetch_buffer_size=2 * WORKERS)

    def epoch() -> list[float]:
        return seen(data.to_iter_dataset(options), work)

    return epoch
