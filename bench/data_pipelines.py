# SPDX-License-Identifier: Apache-2.0
"""The pipelines in MindSpore's words, for mycel and for MindSpore."""

from __future__ import annotations

from collections.abc import Callable

from bench.data_files import (
    DEVIATION,
    MEAN,
    SIDE,
    TOKENS,
    WORDS,
    WORK,
    WORKERS,
    folder,
    seen,
)


def make(work: str, ds, vision, text, transforms, framework) -> Callable[[], list[float]]:
    """A function that goes through one epoch of a pipeline, and says what it saw."""
    ds.config.set_seed(1)
    data = _data(work, ds, vision, text, transforms, framework)
    data = data.batch(WORK[work].batch, drop_remainder=True)

    def epoch() -> list[float]:
        return seen(data.create_tuple_iterator(num_epochs=1, output_numpy=True), work)

    return epoch


def _data(work: str, ds, vision, text, transforms, framework):
    target = folder()
    common = {"num_parallel_workers": WORKERS, "shuffle": False}
    if work == "images":
        data = ds.ImageFolderDataset(str(target / "images"), **common)
        pixels = [vision.RandomCropDecodeResize(SIDE), vision.RandomHorizontalFlip()]
        mean, deviation = ([255 * part for part in parts] for parts in (MEAN, DEVIATION))
        pixels += [vision.Normalize(mean, deviation), vision.HWC2CHW()]
        return data.map(pixels, "image", num_parallel_workers=WORKERS)
    if work == "mnist":
        data = ds.MnistDataset(str(target), "test", **common)
        scale = vision.Rescale(1 / 255, 0.0)
        return data.map(scale, "image", num_parallel_workers=WORKERS)
    if work == "csv":
        return ds.CSVDataset(str(target / "table.csv"), column_defaults=[0.0] * 4 + [0], **common)
    if work == "records":
        path = str(target / "records.mindrecord")
        return ds.MindDataset(path, ["x", "label"], **common)
    data = ds.TextFileDataset(str(target / "lines.txt"), **common)
    known = text.Vocab.from_list(["<pad>", *WORDS])
    steps = [text.WhitespaceTokenizer(), text.Lookup(known), transforms.PadEnd([2 * TOKENS], 0)]
    steps += [transforms.Slice(slice(0, TOKENS))]
    return data.map(steps, "text", num_parallel_workers=WORKERS)
