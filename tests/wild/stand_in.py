# SPDX-License-Identifier: Apache-2.0
"""What tutorials download, made up: the layout of each archive, with a few random rows."""

from __future__ import annotations

import pathlib
import pickle
import struct

import numpy as np
from PIL import Image


def make(url: str, path: pathlib.Path) -> None:
    """The stand-in of what `url` brings, below `path` (for one file: at `path`)."""
    name = url.rsplit("/", 1)[-1]
    for ending, maker in MAKERS.items():
        if name.endswith(ending):
            maker(path)
            return
    raise ValueError(f"no stand-in for {url}")


def _picture(path: pathlib.Path, width: int = 96, height: int = 80) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.RandomState(0).randint(0, 256, (height // 8, width // 8, 3)).astype(np.uint8)
    Image.fromarray(values).resize((width, height)).save(path)


def mnist(path: pathlib.Path) -> None:
    """MNIST_Data/train and /test: the four files of digits."""
    for part, prefix, count in (("train", "train", 640), ("test", "t10k", 128)):
        folder = path / "MNIST_Data" / part
        folder.mkdir(parents=True, exist_ok=True)
        random = np.random.RandomState(0)
        pixels = random.randint(0, 256, (count, 28, 28)).astype(np.uint8)
        labels = random.randint(0, 10, count).astype(np.uint8)
        head = struct.pack(">IIII", 2051, count, 28, 28)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
        head = struct.pack(">II", 2049, count)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.tobytes())


def cifar_binary(path: pathlib.Path) -> None:
    """cifar-10-batches-bin: five files for training and one for testing."""
    folder = path / "cifar-10-batches-bin"
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.random.RandomState(0).randint(0, 256, (64, 3073)).astype(np.uint8)
    rows[:, 0] %= 10
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        (folder / name).write_bytes(rows.tobytes())
    (folder / "batches.meta.txt").write_text("\n".join(f"kind{n}" for n in range(10)) + "\n")


def cifar_python(path: pathlib.Path) -> None:
    """cifar-10-batches-py: pickles of the same."""
    folder = path / "cifar-10-batches-py"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(0)
    for name in [*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]:
        rows = {
            b"data": random.randint(0, 256, (64, 3072)).astype(np.uint8),
            b"labels": random.randint(0, 10, 64).tolist(),
            b"filenames": [f"{n}.png".encode() for n in range(64)],
            b"batch_label": name.encode(),
        }
        (folder / name).write_bytes(pickle.dumps(rows))


def folders(root: str, parts: tuple[str, ...], kinds: tuple[str, ...], each: int = 8):
    """A maker of one folder of pictures for each kind."""

    def make_folders(path: pathlib.Path) -> None:
        for part in parts:
            for kind in kinds:
                for number in range(each):
                    _picture(path / root / part / kind / f"{number}.jpg", 128, 128)

    return make_folders


def pairs(path: pathlib.Path) -> None:
    """apple2orange: trainA, trainB, testA and testB."""
    for part in ("trainA", "trainB", "testA", "testB"):
        for number in range(4):
            _picture(path / "CycleGAN_apple2orange" / part / f"{number}.jpg", 64, 64)


def faces(path: pathlib.Path) -> None:
    """Cartoon faces in one folder."""
    for number in range(256):
        _picture(path / "faces" / f"{number}.jpg", 64, 64)


MAKERS = {
    "MNIST_Data.zip": mnist,
    "cifar-10-binary.tar.gz": cifar_binary,
    "cifar-10-python.tar.gz": cifar_python,
    "Canidae_data.zip": folders("data/Canidae", ("train", "val"), ("dogs", "wolves")),
    "vit_imagenet_dataset.zip": folders(
        "dataset", ("train", "val", "infer"), ("n01440764", "n02102040")
    ),
    "faces.zip": faces,
    "CycleGAN_apple2orange.zip": pairs,
    "banana.jpg": lambda path: _picture(path, 356, 200),
    "image_cat.zip": folders("image_cat", ("",), ("cat",)),
    "ImageNetSimilar.tar.gz": folders("ImageNetSimilar", ("train",), ("-1", "0"), 4),
}
