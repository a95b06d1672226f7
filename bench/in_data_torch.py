# SPDX-License-Identifier: Apache-2.0
"""The pipelines of `python -m bench.data` with PyTorch's DataLoader and torchvision."""

from __future__ import annotations

import csv
from collections.abc import Callable

import numpy as np
import torch
import torchvision
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from bench.data_files import DEVIATION, MEAN, SIDE, WORK, WORKERS, folder, seen, tokens_of

VARIANTS = ("2 workers",)


def settings() -> str:
    """What is measured."""
    return f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}"


class _Rows(Dataset):
    """Rows made by a function of their numbers."""

    def __init__(self, count: int, row: Callable):
        self.count, self.row = count, row

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index):
        return self.row(index)


def _data(work: str):
    target = folder()
    if work == "images":
        steps = [transforms.RandomResizedCrop(SIDE), transforms.RandomHorizontalFlip()]
        steps += [transforms.ToTensor(), transforms.Normalize(MEAN, DEVIATION)]
        images = target / "images"
        return torchvision.datasets.ImageFolder(str(images), transforms.Compose(steps))
    if work == "mnist":
        pixels = np.fromfile(target / "t10k-images-idx3-ubyte", np.uint8)[16:]
        pixels = torch.from_numpy(pixels.reshape(-1, 28, 28, 1))
        labels = np.fromfile(target / "t10k-labels-idx1-ubyte", np.uint8)[8:].astype(np.int64)
        return _Rows(len(pixels), lambda n: (pixels[n].float() / 255, labels[n]))
    if work == "csv":
        with open(target / "table.csv", newline="") as file:
            lines = list(csv.reader(file))[1:]
        return _Rows(len(lines), lambda n: (*map(float, lines[n][:4]), int(lines[n][4])))
    if work == "records":
        values = np.load(target / "records.npy", mmap_mode="r")
        labels = np.load(target / "labels.npy", mmap_mode="r")
        return _Rows(len(values), lambda n: (np.array(values[n]), int(labels[n])))
    texts = (target / "lines.txt").read_text().splitlines()
    return _Rows(len(texts), lambda n: (tokens_of(texts[n]),))


def make(work: str, variant: str) -> Callable[[], list[float]]:
    """A function that goes through one epoch."""
    del variant
    loader = DataLoader(
        _data(work), WORK[work].batch, num_workers=WORKERS, drop_last=True, persistent_workers=True
    )

    def epoch() -> list[float]:
        return seen(loader, work)

    return epoch
