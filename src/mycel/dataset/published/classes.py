# SPDX-License-Identifier: Apache-2.0
"""Collections of pictures in classes."""

from __future__ import annotations

import numpy as np

from mycel.dataset.engine.images import one_of
from mycel.dataset.published.folders import (
    InFolder,
    InParts,
    Pictures,
    images_in,
    matlab,
)
from mycel.kernel.base.errors import wrong


class Caltech256Dataset(InFolder):
    """Pictures of 257 classes: `image`, UInt8, and `label`, Int32.

    Args:
        dataset_dir: has a folder for each class.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: there are no images, or one cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path") / "001.ak47"
        >>> folder.mkdir()
        >>> Image.new("RGB", (4, 2)).save(folder / "001_0001.jpg")
        >>> data = ds.Caltech256Dataset(folder.parent, decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 0)]
    """

    def _find(self):
        for label, folder in enumerate(self._folders()):
            yield from ((path, np.int32(label)) for path in images_in(folder))

    def _values(self, found):
        return self._image(found[0]), found[1]


# The folders of outlines that have other names than those of the pictures.
_OUTLINES = {
    "Faces": "Faces_2",
    "Faces_easy": "Faces_3",
    "Motorbikes": "Motorbikes_16",
    "airplanes": "Airplanes_Side_2",
}


class Caltech101Dataset(Pictures):
    """Pictures of 101 classes: `image`, UInt8, and `category`, Int64, or `annotation`, an outline.

    Args:
        dataset_dir: has `101_ObjectCategories` and `Annotations`, each with a folder for each
            class.
        target_type: 'category', which None means too, 'annotation' or 'all'; SciPy reads outlines.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: there are no images, or a file cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path") / "101_ObjectCategories" / "ant"
        >>> folder.mkdir(parents=True)
        >>> Image.new("RGB", (4, 2)).save(folder / "image_0001.jpg")
        >>> data = ds.Caltech101Dataset(getfixture("tmp_path"), decode=True)
        >>> [(image.shape, int(category)) for image, category in data]
        [((2, 4, 3), 0)]
    """

    def __init__(
        self,
        dataset_dir,
        target_type=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        known = ("category", "annotation", "all")
        kind = "category" if target_type is None else target_type
        self.target_type = one_of(kind, known, "Caltech101Dataset: target_type")
        self.columns = ("image", *(known[:2] if kind == "all" else (kind,)))
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)
        self._open_pictures(dataset_dir, None, decode, *common)

    def _find(self):
        folders = self._folders("101_ObjectCategories")
        # It has pictures of no class.
        folders = [folder for folder in folders if folder.name != "BACKGROUND_Google"]
        for label, folder in enumerate(folders):
            yield from ((path, label) for path in images_in(folder))

    def _values(self, found):
        path, label = found
        values: list = [self._image(path)]
        if self.target_type != "annotation":
            values.append(np.int64(label))
        if self.target_type != "category":
            folder = _OUTLINES.get(path.parent.name) or path.parent.name
            name = f"{path.stem.replace('image', 'annotation')}.mat"
            values.append(matlab(self._path("Annotations", folder, name))["obj_contour"])
        return tuple(values)


class Flowers102Dataset(Pictures):
    """Pictures of 102 kinds of flowers: `image`, UInt8, and `label`, UInt32.

    Args:
        dataset_dir: has `imagelabels.mat`, `setid.mat`, and the folders `jpg` and `segmim`; SciPy
            reads the first two.
        task: 'Classification', or 'Segmentation', which adds the column `segmentation`.
        usage: 'train', 'valid', 'test' or 'all'.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> from scipy.io import savemat
        >>> folder = getfixture("tmp_path")
        >>> savemat(folder / "imagelabels.mat", {"labels": np.array([[77]])})
        >>> savemat(folder / "setid.mat", {"trnid": [[1]], "valid": [[1]], "tstid": [[1]]})
        >>> (folder / "jpg").mkdir()
        >>> Image.new("RGB", (4, 2)).save(folder / "jpg" / "image_00001.jpg")
        >>> data = ds.Flowers102Dataset(folder, usage="test", decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 76)]
    """

    usages = ("train", "valid", "test", "all")

    def __init__(
        self,
        dataset_dir,
        task="Classification",
        usage="all",
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        known = ("Classification", "Segmentation")
        task = known[0] if task is None else task
        self.task = one_of(task, known, "Flowers102Dataset: task")
        if task == "Segmentation":
            self.columns = ("image", "segmentation", "label")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        labels = matlab(self._path("imagelabels.mat"))["labels"].ravel()
        parts = matlab(self._path("setid.mat"))
        names = {"train": "trnid", "test": "tstid", "valid": "valid"}
        for part in names if self.usage == "all" else (self.usage,):
            for number in parts[names[part]].ravel().tolist():
                yield number, np.uint32(labels[number - 1] - 1)

    def _values(self, found):
        number, label = found
        values = [self._image(self._path("jpg", f"image_{number:05}.jpg"))]
        if self.task == "Segmentation":
            values.append(self._image(self._path("segmim", f"segmim_{number:05}.jpg")))
        return *values, label


class Food101Dataset(InParts):
    """Pictures of 101 dishes: `image`, UInt8, and `label`, the name of the dish.

    Args:
        dataset_dir: has `images`, and `meta` with `train.txt` and `test.txt`.
        usage: 'train', 'test' or 'all', which None means too.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> (folder / "images" / "sushi").mkdir(parents=True), (folder / "meta").mkdir()
        (None, None)
        >>> Image.new("RGB", (4, 2)).save(folder / "images" / "sushi" / "1.jpg")
        >>> _ = (folder / "meta" / "test.txt").write_text("sushi/1\\n")
        >>> data = ds.Food101Dataset(folder, "test", decode=True)
        >>> [(image.shape, str(label)) for image, label in data]
        [((2, 4, 3), 'sushi')]
    """

    usages = ("train", "test", "all")

    def _find(self):
        for part in ("train", "test") if self.usage == "all" else (self.usage,):
            for line in self._lines("meta", f"{part}.txt"):
                yield self.dataset_dir / "images" / f"{line}.jpg", line.partition("/")[0]

    def _values(self, found):
        return self._image(found[0]), found[1]


class LSUNDataset(Pictures):
    """Pictures of rooms and places: `image`, UInt8, and `label`, UInt32, the number of the folder.

    Args:
        dataset_dir: has the folders `bedroom_train`, `bedroom_val` and so on, and `test`.
        usage: 'train', 'valid', 'test' or 'all', which None means too: train and valid.
        classes: a class or a list of classes; None takes all.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a folder is missing, or an image cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path") / "tower_val"
        >>> folder.mkdir()
        >>> Image.new("RGB", (4, 2)).save(folder / "1.jpg")
        >>> data = ds.LSUNDataset(folder.parent, "valid", ["tower"], decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 0)]
    """

    usages = ("train", "test", "valid", "all")
    classes_known = (
        *("bedroom", "bridge", "church_outdoor", "classroom", "conference_room"),
        *("dining_room", "kitchen", "living_room", "restaurant", "tower"),
    )

    def __init__(
        self,
        dataset_dir,
        usage=None,
        classes=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "LSUNDataset: classes"
        wanted = [classes] if isinstance(classes, str) else classes
        if wanted is not None and not isinstance(wanted, list):
            raise wrong(TypeError, what, "a list of classes", repr(classes))
        self.classes = [one_of(name, self.classes_known, what) for name in wanted or ()]
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        wanted = self.classes or self.classes_known
        endings = {"train": ("train",), "valid": ("val",), "test": ()}
        parts = endings.get(self.usage, ("train", "val"))
        names = [f"{name}_{part}" for name in sorted(wanted) for part in parts]
        if self.classes:
            names = [self._path(name).name for name in names]
        if self.usage == "test":
            names = ["test"]
        folders = [self.dataset_dir / name for name in names if (self.dataset_dir / name).is_dir()]
        for label, folder in enumerate(folders):
            yield from ((path, np.uint32(label)) for path in images_in(folder))

    def _values(self, found):
        return self._image(found[0]), found[1]


class OmniglotDataset(Pictures):
    """Handwritten letters of many alphabets: `image`, UInt8, and `label`, Int32.

    Args:
        dataset_dir: has `images_background` and `images_evaluation`, each with a folder for each
            letter, alphabet by alphabet.
        background: which of the two: the first, which None means too, or the second.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a folder is missing, or an image cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> for letter in ("character01", "character02"):
        ...     path = folder / "images_background" / "Greek" / letter / "1.png"
        ...     path.parent.mkdir(parents=True)
        ...     Image.new("RGB", (4, 2)).save(path)
        >>> [int(label) for _, label in ds.OmniglotDataset(folder, shuffle=False)]
        [0, 1]
    """

    def __init__(
        self,
        dataset_dir,
        background=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        if background is not None and not isinstance(background, bool):
            what = "OmniglotDataset: background"
            raise wrong(TypeError, what, "True or False", repr(background))
        self.background = background is not False
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, None, decode, *common)

    def _find(self):
        part = "images_background" if self.background else "images_evaluation"
        letters = {path.parent for path in self._path(part).rglob("*") if path.is_file()}
        for label, folder in enumerate(sorted(letters)):
            yield from ((path, np.int32(label)) for path in images_in(folder))

    def _values(self, found):
        return self._image(found[0]), found[1]


class Places365Dataset(Pictures):
    """Pictures of 365 kinds of places: `image`, UInt8, and `label`, UInt32.

    Args:
        dataset_dir: has `places365_train_standard.txt` and its likes, and folders with the images.
        usage: 'train-standard', which None means too, 'train-challenge' or 'val'.
        small: whether to take the images of 256 by 256 pixels.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> (folder / "val_256").mkdir()
        >>> Image.new("RGB", (4, 2)).save(folder / "val_256" / "1.jpg")
        >>> _ = (folder / "places365_val.txt").write_text("1.jpg 165\\n")
        >>> data = ds.Places365Dataset(folder, "val", decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 165)]
    """

    usages = ("train-standard", "train-challenge", "val")
    default = "train-standard"

    def __init__(
        self,
        dataset_dir,
        usage=None,
        small=True,
        decode=False,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        if not isinstance(small, bool):
            raise wrong(TypeError, "Places365Dataset: small", "True or False", repr(small))
        self.small = small
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        size = "256" if self.small else "large"
        part = self.usage.removeprefix("train-")
        folder = f"val_{size}" if part == "val" else f"data_{size}_{part}"
        for line in self._lines(f"places365_{self.usage.replace('-', '_')}.txt"):
            name, label = line.split()
            yield self.dataset_dir / folder / name.lstrip("/"), np.uint32(label)

    def _values(self, found):
        return self._image(found[0]), found[1]


class RenderedSST2Dataset(InParts):
    """Pictures of sentences, good or bad: `image`, UInt8, and `label`, UInt32, 1 for good ones.

    Args:
        dataset_dir: has `train`, `valid` and `test`, each with `negative` and `positive`.
        usage: 'train', 'val', 'test' or 'all', which None means too.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a folder is missing, or an image cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> for name in ("negative", "positive"):
        ...     (folder / "valid" / name).mkdir(parents=True)
        ...     Image.new("RGB", (4, 2)).save(folder / "valid" / name / "1.png")
        >>> data = ds.RenderedSST2Dataset(folder, "val", shuffle=False)
        >>> [int(label) for _, label in data]
        [0, 1]
    """

    usages = ("train", "val", "test", "all")

    def _find(self):
        parts = {"all": ("test", "train", "valid"), "val": ("valid",)}
        for part in parts.get(self.usage, (self.usage,)):
            for label, kind in enumerate(("negative", "positive")):
                folder = self._path(part, kind)
                yield from ((path, np.uint32(label)) for path in images_in(folder))

    def _values(self, found):
        return self._image(found[0]), found[1]


class SUN397Dataset(InFolder):
    """Pictures of 397 kinds of scenes: `image`, UInt8, and `label`, UInt32.

    Args:
        dataset_dir: has `ClassName.txt`, whose lines are folders.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a folder is missing, or an image cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> (folder / "a" / "abbey").mkdir(parents=True)
        >>> Image.new("RGB", (4, 2)).save(folder / "a" / "abbey" / "sun_1.jpg")
        >>> _ = (folder / "ClassName.txt").write_text("/a/abbey\\n")
        >>> data = ds.SUN397Dataset(folder, decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 0)]
    """

    def _find(self):
        for label, line in enumerate(self._lines("ClassName.txt")):
            folder = self._path(*line.strip("/").split("/"))
            yield from ((path, np.uint32(label)) for path in images_in(folder))

    def _values(self, found):
        return self._image(found[0]), found[1]
