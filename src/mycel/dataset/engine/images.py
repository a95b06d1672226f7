# SPDX-License-Identifier: Apache-2.0
"""Data sets of images in their well-known files: MNIST and its likes, CIFAR, folders of images."""

from __future__ import annotations

import io
import math
import pathlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from mycel.dataset.engine.dataset import VisionBaseDataset
from mycel.dataset.engine.machinery import Row
from mycel.dataset.engine.nodes import integer
from mycel.dataset.engine.reading import reading
from mycel.dataset.engine.sources import MappableDataset
from mycel.dataset.transforms.operations import undefined
from mycel.dataset.vision.codecs import pixels_of
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside

NO_PILLOW = "Images are decoded with Pillow, which is missing: pip install 'mycel[data]'."
NO_IMAGE = "{path} cannot be decoded as an image: {reason}."
NO_FILE = "{dataset} finds no {name} in {folder}."
EXTENSIONS = (".jpg", ".jpeg", ".bmp", ".png", ".ppm", ".tif", ".tiff", ".gif", ".webp")


def folder_of(dataset_dir, what: str) -> pathlib.Path:
    """A folder that exists.

    Raises:
        TypeError: the argument is not a path.
        ValueError: the folder does not exist.
    """
    if not isinstance(dataset_dir, (str, pathlib.Path)):
        raise wrong(TypeError, f"{what}: dataset_dir", "a path", repr(dataset_dir))
    folder = pathlib.Path(dataset_dir).expanduser()
    if not folder.is_dir():
        raise wrong(ValueError, f"{what}: dataset_dir", "a folder that exists", str(folder))
    return folder


def one_of(value, known: Sequence[str], what: str) -> str:
    """One of some words."""
    if value not in known:
        raise wrong(ValueError, what, f"one of {', '.join(map(repr, known))}", repr(value))
    return value


def decoded(content: bytes, path) -> np.ndarray:
    """The pixels of an image file, [height, width, 3].

    Raises:
        ImportError: Pillow is missing.
        RuntimeError: it is not an image.
    """
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(NO_PILLOW) from None
    try:
        with Image.open(io.BytesIO(content)) as image:
            return pixels_of(image)
    except Exception as error:
        # Pillow's readers raise whatever a damaged file makes them stumble over.
        if came_from_outside(error):
            raise
        raise RuntimeError(NO_IMAGE.format(path=path, reason=error)) from None


def image_of(dataset, path: pathlib.Path) -> np.ndarray:
    """The pixels of an image file, or its bytes, as the dataset says (`decode`, `decrypt`)."""
    with reading(dataset.name, path):
        decrypt = dataset.decrypt
        content = path.read_bytes() if decrypt is None else decrypt(str(path))
    # Bytes that can be written to.
    return decoded(content, path) if dataset.decode else np.frombuffer(bytearray(content), np.uint8)


def numbers_of(path: pathlib.Path, magic: int, dimensions: int, what: str, kind="u1") -> np.ndarray:
    """The numbers of a file in the form of MNIST: a magic number, the dimensions, the numbers.

    Raises:
        RuntimeError: it is no such file.
    """
    content, start = path.read_bytes(), 4 * (1 + dimensions)
    first, *shape = np.frombuffer(content[:start].ljust(start, b"\xff"), ">i4").tolist()
    size = start + np.dtype(kind).itemsize * math.prod(shape)
    if first != magic or min(shape) < 0 or len(content) != size:
        raise RuntimeError(f"{path} is not a file of {what} with {dimensions} dimension(s).")
    return np.frombuffer(content, kind, offset=start).reshape(shape)


class _ImageSource(MappableDataset, VisionBaseDataset):
    """Images and labels in a folder."""

    usages: tuple[str, ...] = ("train", "test", "all")

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = type(self).__name__
        self.dataset_dir = folder_of(dataset_dir, what)
        self.usage = one_of("all" if usage is None else usage, self.usages, f"{what}: usage")
        super().__init__(
            num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache
        )

    def _columns(self) -> list[str]:
        return ["image", "label"]

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        """All images, and the labels."""
        raise undefined(self, "_arrays")

    def _count(self) -> int:
        return len(self._arrays[0])

    def _labels(self):
        return self._arrays[-1]

    def _read(self, index: int) -> Row:
        # A copy: operations may write into what they get.
        return {
            name: np.array(array[index])
            for name, array in zip(self._columns(), self._arrays, strict=True)
        }

    def _many(self, indices):
        return {
            name: array[indices] for name, array in zip(self._columns(), self._arrays, strict=True)
        }

    def with_sampler(self, sampler):
        made = super().with_sampler(sampler)
        made._found = {}
        return made


class MnistDataset(_ImageSource):
    """Handwritten digits: `image`, UInt8 [28, 28, 1], and `label`, UInt32.

    Args:
        dataset_dir: has the four files as they were published, not compressed.
        usage: 'train', 'test' or 'all', which None means too: what there is of the two.
        others: as in GeneratorDataset.

    Raises:
        ValueError: the folder does not exist.
        RuntimeError: a file is missing or is not an MNIST file.

    Example:
        >>> import struct
        >>> folder = getfixture("tmp_path")
        >>> header = struct.pack(">4i", 2051, 2, 28, 28)
        >>> _ = (folder / "train-images-idx3-ubyte").write_bytes(header + bytes(2 * 784))
        >>> header = struct.pack(">2i", 2049, 2)
        >>> _ = (folder / "train-labels-idx1-ubyte").write_bytes(header + bytes([7, 2]))
        >>> data = ds.MnistDataset(folder, usage="train", shuffle=False)
        >>> [(image.shape, int(label)) for image, label in data]
        [((28, 28, 1), 7), ((28, 28, 1), 2)]
    """

    # In the order in which MindSpore reads them.
    files = {"test": ("t10k",), "train": ("train",), "all": ("t10k", "train")}

    @cached_property
    def _arrays(self):
        images, labels = [], []
        for kind in self._kinds():
            images.append(self._idx(f"{kind}-images-idx3-ubyte", 2051, 3)[..., None])
            labels.append(self._idx(f"{kind}-labels-idx1-ubyte", 2049, 1).astype(np.uint32))
            if len(images[-1]) != len(labels[-1]):
                raise RuntimeError(
                    f"{self.name}: there are {len(images[-1])} images, but {len(labels[-1])} "
                    f"labels, in the files {kind}-* of {self.dataset_dir}."
                )
        return np.concatenate(images), np.concatenate(labels)

    def _kinds(self) -> list[str]:
        """The pairs of files to read; of several, those of which at least one file is there."""
        kinds = list(self.files[self.usage])
        names = {k: (f"{k}-images-idx3-ubyte", f"{k}-labels-idx1-ubyte") for k in kinds}
        return [k for k in kinds if any(map(self._path, names[k]))] or kinds

    def _path(self, name: str) -> pathlib.Path | None:
        """Where a file is; some copies have a dot in its name where others have a dash."""
        paths = self.dataset_dir / name, self.dataset_dir / name.replace("-idx", ".idx")
        return next((path for path in paths if path.is_file()), None)

    def _idx(self, name: str, magic: int, dimensions: int) -> np.ndarray:
        path = self._path(name)
        if path is None:
            raise RuntimeError(
                NO_FILE.format(dataset=self.name, name=name, folder=self.dataset_dir)
            )
        return numbers_of(path, magic, dimensions, "MNIST")


class FashionMnistDataset(MnistDataset):
    """Pictures of clothes in the files and with the columns of MnistDataset.

    Example:
        >>> issubclass(ds.FashionMnistDataset, ds.MnistDataset)
        True
    """


class KMnistDataset(MnistDataset):
    """Handwritten Japanese letters in the files and with the columns of MnistDataset.

    Example:
        >>> issubclass(ds.KMnistDataset, ds.MnistDataset)
        True
    """


class Cifar10Dataset(_ImageSource):
    """Small pictures of ten classes: `image`, UInt8 [32, 32, 3], and `label`, UInt32.

    Args:
        dataset_dir: has files of the binary version: of those that are asked for, at least one.
        usage: 'train', 'test' or 'all', which None means too.
        others: as in GeneratorDataset.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test_batch.bin").write_bytes(bytes([3]) + bytes(3072))
        >>> data = ds.Cifar10Dataset(folder, usage="test")
        >>> [(image.shape, int(label)) for image, label in data]
        [((32, 32, 3), 3)]
    """

    files = {
        "train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
        "test": ("test_batch.bin",),
    }
    labels = 1

    @cached_property
    def _arrays(self):
        kinds = ("train", "test") if self.usage == "all" else (self.usage,)
        paths = [self.dataset_dir / name for kind in kinds for name in self.files[kind]]
        there = [path for path in paths if path.is_file()]
        if not there:
            name, folder = paths[0].name, self.dataset_dir
            raise RuntimeError(NO_FILE.format(dataset=self.name, name=name, folder=folder))
        rows = np.concatenate([self._rows(path) for path in there])
        images = rows[:, self.labels :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return images, *[rows[:, number].astype(np.uint32) for number in range(self.labels)]

    def _rows(self, path: pathlib.Path) -> np.ndarray:
        content, width = path.read_bytes(), self.labels + 3072
        if len(content) % width:
            raise RuntimeError(f"{path} has {len(content)} bytes, no multiple of {width}.")
        return np.frombuffer(content, np.uint8).reshape(-1, width)


class Cifar100Dataset(Cifar10Dataset):
    """Small pictures of a hundred classes: `image`, `coarse_label` and `fine_label`, both UInt32.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test.bin").write_bytes(bytes([3, 51]) + bytes(3072))
        >>> data = ds.Cifar100Dataset(folder, usage="test")
        >>> [(image.shape, int(coarse), int(fine)) for image, coarse, fine in data]
        [((32, 32, 3), 3, 51)]
    """

    files = {"train": ("train.bin",), "test": ("test.bin",)}
    labels = 2

    def _columns(self) -> list[str]:
        return ["image", "coarse_label", "fine_label"]


class ImageFolderDataset(MappableDataset, VisionBaseDataset):
    """Images in folders, one for each class: `image`, UInt8, and `label`, Int32.

    Args:
        dataset_dir: has a folder for each class.
        extensions: which files; those of images by default.
        class_indexing: the number of each class that takes part; by default all, in the order of
            their names.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        decrypt: called with the path of each file, for its bytes.
        others: as in GeneratorDataset.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> (folder / "cat").mkdir(), (folder / "dog").mkdir()
        (None, None)
        >>> Image.new("RGB", (4, 2)).save(folder / "dog" / "a.png")
        >>> data = ds.ImageFolderDataset(folder, decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 1)]
    """

    def __init__(
        self,
        dataset_dir,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        extensions=None,
        class_indexing=None,
        decode=False,
        num_shards=None,
        shard_id=None,
        cache=None,
        decrypt=None,
    ):
        what = "ImageFolderDataset"
        self.dataset_dir = folder_of(dataset_dir, what)
        if not isinstance(decode, bool):
            raise wrong(TypeError, f"{what}: decode", "True or False", repr(decode))
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise wrong(TypeError, f"{what}: class_indexing", "a dictionary", repr(class_indexing))
        if extensions is not None and not isinstance(extensions, (list, tuple)):
            raise wrong(TypeError, f"{what}: extensions", "a list", repr(extensions))
        self.extensions = tuple(extensions) if extensions else EXTENSIONS
        self.class_indexing = class_indexing
        self.decode, self.decrypt = decode, decrypt
        super().__init__(
            num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache
        )

    def _columns(self) -> list[str]:
        return ["image", "label"]

    @cached_property
    def _paths(self) -> list[tuple[pathlib.Path, int]]:
        """Files with the numbers of their classes."""
        found = []
        for name, number in self.get_class_indexing().items():
            files = sorted((self.dataset_dir / name).rglob("*"))
            found += [(p, number) for p in files if p.suffix.lower() in self.extensions]
        if not found:
            raise RuntimeError(
                NO_FILE.format(dataset=self.name, name="images", folder=self.dataset_dir)
            )
        return found

    def _count(self) -> int:
        return len(self._paths)

    def _labels(self):
        return [number for _, number in self._paths]

    def get_class_indexing(self) -> dict:
        if self.class_indexing is not None:
            return dict(self.class_indexing)
        folders = sorted(path.name for path in self.dataset_dir.iterdir() if path.is_dir())
        return {name: number for number, name in enumerate(folders)}

    get_class_indexing.__doc__ = VisionBaseDataset.get_class_indexing.__doc__

    def num_classes(self) -> int:
        return len(self.get_class_indexing())

    num_classes.__doc__ = VisionBaseDataset.num_classes.__doc__

    def _read(self, index: int) -> Row:
        path, number = self._paths[index]
        return {"image": image_of(self, path), "label": np.array(number, np.int32)}


class CelebADataset(MappableDataset, VisionBaseDataset):
    """Faces: `image`, UInt8, and `attr`, UInt32 [40], which is 1 where an attribute is there.

    Args:
        dataset_dir: has `list_attr_celeba.txt`, the images (also in folders below it), and for
            parts of it `list_eval_partition.txt`.
        usage: 'train', 'valid', 'test' or 'all', which None means too.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        decrypt: called with the path of each file, for its bytes.
        others: as in GeneratorDataset.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> Image.new("RGB", (4, 2)).save(folder / "1.jpg")
        >>> _ = (folder / "list_attr_celeba.txt").write_text("1\\nBald Smiling\\n1.jpg -1 1\\n")
        >>> data = ds.CelebADataset(folder, decode=True)
        >>> [(image.shape, attr.asnumpy().tolist()) for image, attr in data]
        [((2, 4, 3), [0, 1])]
    """

    def __init__(
        self,
        dataset_dir,
        num_parallel_workers=None,
        shuffle=None,
        usage="all",
        sampler=None,
        decode=False,
        extensions=None,
        num_samples=None,
        num_shards=None,
        shard_id=None,
        cache=None,
        decrypt=None,
    ):
        what = "CelebADataset"
        self.dataset_dir = folder_of(dataset_dir, what)
        usages = ("all", "train", "valid", "test")
        self.usage = one_of("all" if usage is None else usage, usages, f"{what}: usage")
        if not isinstance(decode, bool):
            raise wrong(TypeError, f"{what}: decode", "True or False", repr(decode))
        if extensions is not None and not isinstance(extensions, (list, tuple)):
            raise wrong(TypeError, f"{what}: extensions", "a list", repr(extensions))
        self.decode, self.decrypt = decode, decrypt
        self.extensions = tuple(extensions) if extensions else EXTENSIONS
        super().__init__(
            num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache
        )

    def _columns(self) -> list[str]:
        return ["image", "attr"]

    @cached_property
    def _lines(self) -> list[tuple[str, np.ndarray]]:
        lines = self._text("list_attr_celeba.txt")[2:]
        wanted = None
        if self.usage != "all":
            part = ("train", "valid", "test").index(self.usage)
            parts = [line.split() for line in self._text("list_eval_partition.txt")]
            wanted = {name for name, number in parts if int(number) == part}
        rows = [(line.split()[0], line.split()[1:]) for line in lines if line.strip()]
        found = [
            (name, (np.array(values, np.int32) > 0).astype(np.uint32))
            for name, values in rows
            if (wanted is None or name in wanted)
            and pathlib.Path(name).suffix.lower() in self.extensions
        ]
        if not found:
            raise RuntimeError(
                NO_FILE.format(dataset=self.name, name="images", folder=self.dataset_dir)
            )
        return found

    def _text(self, name: str) -> list[str]:
        path = self.dataset_dir / name
        if not path.is_file():
            raise RuntimeError(
                NO_FILE.format(dataset=self.name, name=name, folder=self.dataset_dir)
            )
        with reading(self.name, path):
            return path.read_text("utf-8").splitlines()

    @cached_property
    def _files(self) -> dict[str, pathlib.Path]:
        """Where each image is; archives differ in the folders that they make."""
        return {path.name: path for path in self.dataset_dir.rglob("*") if path.is_file()}

    def _count(self) -> int:
        return len(self._lines)

    def _read(self, index: int) -> Row:
        name, attributes = self._lines[index]
        path = self._files.get(name, self.dataset_dir / name)
        return {"image": image_of(self, path), "attr": attributes.copy()}


class FakeImageDataset(MappableDataset, VisionBaseDataset):
    """Images of random pixels, to try a program: `image`, UInt8, and `label`, UInt32.

    Args:
        num_images: how many there are.
        image_size: (height, width, channels).
        num_classes: labels are below it.
        base_seed: the same one gives the same images.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> data = ds.FakeImageDataset(num_images=2, image_size=(4, 4, 3), num_classes=3)
        >>> [image.shape for image, label in data]
        [(4, 4, 3), (4, 4, 3)]
    """

    def __init__(
        self,
        num_images=1000,
        image_size=(224, 224, 3),
        num_classes=10,
        base_seed=0,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "FakeImageDataset"
        self.num_images = integer(num_images, f"{what}: num_images", 1)
        if not isinstance(image_size, (list, tuple)):
            raise wrong(TypeError, f"{what}: image_size", "a list", repr(image_size))
        if len(image_size) != 3:
            expected = "(height, width, channels)"
            raise wrong(ValueError, f"{what}: image_size", expected, repr(image_size))
        self.image_size = tuple(integer(side, f"{what}: image_size", 1) for side in image_size)
        self._classes = integer(num_classes, f"{what}: num_classes", 1)
        self.base_seed = integer(base_seed, f"{what}: base_seed", -(2**31))
        super().__init__(
            num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache
        )

    def _columns(self) -> list[str]:
        return ["image", "label"]

    def _count(self) -> int:
        return self.num_images

    def _read(self, index: int) -> Row:
        random = np.random.default_rng([self.base_seed % 2**32, int(index)])
        return {
            "image": random.integers(0, 256, self.image_size, np.uint8),
            "label": np.array(random.integers(self._classes), np.uint32),
        }
