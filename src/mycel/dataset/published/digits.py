# SPDX-License-Identifier: Apache-2.0
"""Collections of small images that are read at once: digits and letters, house numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from mycel.dataset.engine.dataset import VisionBaseDataset
from mycel.dataset.engine.files import FilesDataset
from mycel.dataset.engine.images import MnistDataset, _ImageSource, folder_of, numbers_of, one_of
from mycel.dataset.engine.machinery import Row
from mycel.dataset.published.folders import UNREADABLE_LINE, AllOf, PartsOf, matlab
from mycel.dataset.samplers import Shuffle
from mycel.kernel.base.errors import wrong


class EMnistDataset(MnistDataset):
    """Handwritten letters and digits in the form and with the columns of MnistDataset.

    Args:
        dataset_dir: has the files as they were published, not compressed.
        name: 'byclass', 'bymerge', 'balanced', 'letters', 'digits' or 'mnist'.
        usage: 'train', 'test' or 'all', which None means too.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or is no such file.

    Example:
        >>> import struct
        >>> folder = getfixture("tmp_path")
        >>> head = struct.pack(">4i", 2051, 1, 28, 28)
        >>> _ = (folder / "emnist-letters-test-images-idx3-ubyte").write_bytes(head + bytes(784))
        >>> head = struct.pack(">2i", 2049, 1)
        >>> _ = (folder / "emnist-letters-test-labels-idx1-ubyte").write_bytes(head + bytes([9]))
        >>> [int(label) for _, label in ds.EMnistDataset(folder, "letters", "test")]
        [9]
    """

    def __init__(
        self,
        dataset_dir,
        name,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        known = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
        split = one_of(name, known, f"{type(self).__name__}: name")
        parts = {part: (f"emnist-{split}-{part}",) for part in ("test", "train")}
        self.files = {**parts, "all": parts["test"] + parts["train"]}
        common = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        super().__init__(dataset_dir, usage, *common)


class QMnistDataset(_ImageSource):
    """Handwritten digits with all that is known of them: `image`, UInt8 [28, 28, 1], and `label`.

    Args:
        dataset_dir: has the files as they were published, not compressed.
        usage: 'train', 'test', 'test10k' (its first 10,000), 'test50k' (the others), 'nist' or
            'all', which None means too.
        compat: whether the label is the digit alone, UInt32; otherwise it is UInt32 [8].
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or is no such file.

    Example:
        >>> import struct
        >>> folder = getfixture("tmp_path")
        >>> head = struct.pack(">4i", 2051, 1, 28, 28)
        >>> _ = (folder / "xnist-images-idx3-ubyte").write_bytes(head + bytes(784))
        >>> label = struct.pack(">3i8i", 3074, 1, 8, 5, 1, 2, 3, 4, 5, 6, 7)
        >>> _ = (folder / "xnist-labels-idx2-int").write_bytes(label)
        >>> [int(label) for _, label in ds.QMnistDataset(folder, "nist")]
        [5]
    """

    usages = ("train", "test", "test10k", "test50k", "nist", "all")

    def __init__(
        self,
        dataset_dir,
        usage=None,
        compat=True,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        if not isinstance(compat, bool):
            raise wrong(TypeError, "QMnistDataset: compat", "True or False", repr(compat))
        self.compat = compat
        common = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        super().__init__(dataset_dir, usage, *common)

    @cached_property
    def _arrays(self):
        parts = ("train", "test", "nist") if self.usage == "all" else (self.usage[:5].rstrip("15"),)
        images, labels = [], []
        for part in parts:
            stem = "xnist" if part == "nist" else f"qmnist-{part}"
            images.append(self._numbers(f"{stem}-images-idx3-ubyte", 2051, 3)[..., None])
            labels.append(self._numbers(f"{stem}-labels-idx2-int", 3074, 2).astype(np.uint32))
            if len(images[-1]) != len(labels[-1]):
                raise RuntimeError(
                    f"{self.name}: there are {len(images[-1])} images, but {len(labels[-1])} "
                    f"labels, in the files {stem}-* of {self.dataset_dir}."
                )
        kept = {"test10k": slice(10000), "test50k": slice(10000, None)}.get(self.usage, slice(None))
        told = np.concatenate(labels)[kept]
        return np.concatenate(images)[kept], told[:, 0] if self.compat else told

    def _numbers(self, name: str, magic: int, dimensions: int) -> np.ndarray:
        path = self.dataset_dir / name
        if not path.is_file():
            raise RuntimeError(f"{self.name} finds no {name} in the folder {self.dataset_dir}.")
        return numbers_of(path, magic, dimensions, "QMNIST", ">i4" if magic == 3074 else "u1")


class USPSDataset(FilesDataset, VisionBaseDataset):
    """Handwritten digits of letters: `image`, UInt8 [16, 16, 1], and `label`, UInt32.

    Args:
        dataset_dir: has the files `usps` and `usps.t`.
        usage: 'train', 'test' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a line has another form; the text names file and line.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> pixels = " ".join(f"{number}:-1.0" for number in range(1, 257))
        >>> _ = (folder / "usps.t").write_text(f"7 {pixels}\\n")
        >>> [(image.shape, int(label)) for image, label in ds.USPSDataset(folder, "test")]
        [((16, 16, 1), 6)]
    """

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "USPSDataset"
        self.dataset_dir = folder_of(dataset_dir, what)
        usages = ("train", "test", "all")
        self.usage = one_of("all" if usage is None else usage, usages, f"{what}: usage")
        names = {"train": ["usps"], "test": ["usps.t"], "all": ["usps", "usps.t"]}[self.usage]
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        super().__init__([str(self.dataset_dir / name) for name in names], *common)

    def _columns(self):
        return ["image", "label"]

    def _rows(self, path) -> Iterator[Row]:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                label, *fields = line.split() or [""]
                if not label:
                    continue
                try:
                    values = [float(field.split(":")[1]) for field in fields]
                    pixels = ((np.array(values) + 1) / 2 * 255).astype(np.uint8)
                    yield {
                        "image": pixels.reshape(16, 16, 1),
                        "label": np.array(int(label) - 1, np.uint32),
                    }
                except (ValueError, IndexError) as error:
                    place = {"dataset": self.name, "line": number, "path": path}
                    raise RuntimeError(UNREADABLE_LINE.format(**place, reason=error)) from None


class SemeionDataset(AllOf, VisionBaseDataset):
    """Handwritten digits of about eighty persons: `image`, UInt8 [16, 16], and `label`, UInt32.

    Args:
        dataset_dir: has the file `semeion.data`.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the file is missing, or a line has another form; the text names it.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> line = "1.0 " * 256 + " ".join("0001000000")
        >>> _ = (folder / "semeion.data").write_text(line)
        >>> [(image.shape, int(label)) for image, label in ds.SemeionDataset(folder)]
        [((16, 16), 3)]
    """

    def _find(self):
        for line in self._lines("semeion.data"):
            fields = line.split()
            yield fields[:256], fields[256:].index("1") if "1" in fields[256:] else -1

    def _values(self, found):
        fields, label = found
        if label < 0:
            raise ValueError("the line has no 1 among the ten numbers of its label")
        return np.array(fields, float).astype(np.uint8).reshape(16, 16), np.uint32(label)


class STL10Dataset(_ImageSource):
    """Pictures of ten classes, and many without one: `image`, UInt8 [96, 96, 3], and `label`.

    Args:
        dataset_dir: has the binary files as they were published.
        usage: 'train', 'test', 'unlabeled' (whose labels are -1), 'train+unlabeled' or 'all', which
            None means too.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or has another length.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test_X.bin").write_bytes(bytes(3 * 96 * 96))
        >>> _ = (folder / "test_y.bin").write_bytes(bytes([8]))
        >>> [(image.shape, int(label)) for image, label in ds.STL10Dataset(folder, "test")]
        [((96, 96, 3), 7)]
    """

    usages = ("train", "test", "unlabeled", "train+unlabeled", "all")

    @cached_property
    def _arrays(self):
        usage = "test+train+unlabeled" if self.usage == "all" else self.usage
        images, labels = [], []
        for part in usage.split("+"):
            pixels = self._numbers(f"{part}_X.bin", 3 * 96 * 96)
            # Column by column.
            images.append(pixels.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
            if part == "unlabeled":
                labels.append(np.full(len(images[-1]), -1, np.int32))
            else:
                labels.append(self._numbers(f"{part}_y.bin", 1).astype(np.int32) - 1)
        return np.concatenate(images), np.concatenate(labels)

    def _numbers(self, name: str, width: int) -> np.ndarray:
        path = self.dataset_dir / name
        if not path.is_file():
            raise RuntimeError(f"{self.name} finds no {name} in the folder {self.dataset_dir}.")
        content = path.read_bytes()
        if len(content) % width:
            raise RuntimeError(f"{path} has {len(content)} bytes, no multiple of {width}.")
        return np.frombuffer(content, np.uint8)


class SVHNDataset(PartsOf, VisionBaseDataset):
    """House numbers, digit by digit: `image`, UInt8 [32, 32, 3], and `label`, UInt32.

    Args:
        dataset_dir: has `train_32x32.mat`, and `test` and `extra` likewise; SciPy reads them.
        usage: 'train', 'test', 'extra' or 'all', which None means too.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing.

    Example:
        >>> from scipy.io import savemat
        >>> folder = getfixture("tmp_path")
        >>> content = {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.array([[10], [4]])}
        >>> savemat(folder / "test_32x32.mat", content)
        >>> [int(label) for _, label in ds.SVHNDataset(folder, "test", shuffle=False)]
        [0, 4]
    """

    usages = ("train", "test", "extra", "all")

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        common = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        super().__init__(dataset_dir, usage, *common)

    def _find(self):
        for part in self.usages[:3] if self.usage == "all" else (self.usage,):
            content = matlab(self._path(f"{part}_32x32.mat"))
            # The digit 0 has the label 10.
            labels = content["y"].ravel().astype(np.uint32) % 10
            yield from zip(np.moveaxis(content["X"], 3, 0), labels, strict=True)

    def _values(self, found):
        return found
