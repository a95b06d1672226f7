# SPDX-License-Identifier: Apache-2.0
"""Collections of pictures with a class, a text or another picture."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from urllib.parse import urlparse

import numpy as np

from mycel.dataset.engine.dataset import VisionBaseDataset
from mycel.dataset.engine.images import decoded, one_of
from mycel.dataset.published.folders import (
    UNREADABLE_LINE,
    InFolder,
    InParts,
    Pictures,
    Published,
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
        values = [self._image(path)]
        if self.target_type != "annotation":
            values.append(np.int64(label))
        if self.target_type != "category":
            folder = _OUTLINES.get(path.parent.name, path.parent.name)
            name = f"{path.stem.replace('image', 'annotation')}.mat"
            values.append(matlab(self._path("Annotations", folder, name))["obj_contour"])
        return tuple(values)


class DIV2KDataset(Pictures):
    """Pictures in high and low resolution: `hr_image` and `lr_image`, UInt8.

    Args:
        dataset_dir: has `DIV2K_train_HR`, `DIV2K_train_LR_bicubic` and so on.
        usage: 'train', 'valid' or 'all'.
        downgrade: how they lost resolution: 'bicubic', 'unknown', 'mild', 'difficult' or 'wild'.
        scale: how much of it: 2, 3, 4, or with 'bicubic' 8; only 4 with the last three.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: there are no images, or one cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> for name, width in (("HR/1.png", 8), ("LR_bicubic/X2/1x2.png", 4)):
        ...     path = folder / f"DIV2K_train_{name}"
        ...     path.parent.mkdir(parents=True)
        ...     Image.new("RGB", (width, width)).save(path)
        >>> [(high.shape, low.shape) for high, low in ds.DIV2KDataset(folder, decode=True)]
        [((8, 8, 3), (4, 4, 3))]
    """

    columns = ("hr_image", "lr_image")
    usages = ("train", "valid", "all")

    def __init__(
        self,
        dataset_dir,
        usage="train",
        downgrade="bicubic",
        scale=2,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "DIV2KDataset"
        scales = {"bicubic": (2, 3, 4, 8), "unknown": (2, 3, 4)}
        scales |= dict.fromkeys(("mild", "difficult", "wild"), (4,))
        self.downgrade = one_of(downgrade, list(scales), f"{what}: downgrade")
        if scale not in scales[downgrade]:
            expected = f"one of {', '.join(map(str, scales[downgrade]))} with {downgrade!r}"
            raise wrong(ValueError, f"{what}: scale", expected, repr(scale))
        self.scale = scale
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        for part in ("train", "valid") if self.usage == "all" else (self.usage,):
            low, ending = f"DIV2K_{part}_LR_{self.downgrade}", ""
            if self.scale == 8:
                low = f"DIV2K_{part}_LR_x8"
            elif self.downgrade in ("bicubic", "unknown"):
                low += f"/X{self.scale}"
            else:
                ending = self.downgrade[0]
            for path in images_in(self._path(f"DIV2K_{part}_HR")):
                name = f"{path.stem}x{self.scale}{ending}{path.suffix}"
                yield path, self.dataset_dir / low / name

    def _values(self, found):
        return tuple(map(self._image, found))


class FlickrDataset(Pictures):
    """Pictures with five captions: `image`, UInt8, and `annotation`, an array of texts.

    Args:
        dataset_dir: has the images.
        annotation_file: has lines of a name, `#`, a number, a tab and a caption.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or the file does not exist.
        RuntimeError: a line has another form, or an image cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> Image.new("RGB", (4, 2)).save(folder / "a.jpg")
        >>> _ = (folder / "captions").write_text("a.jpg#0\\tA dog.\\na.jpg#1\\tA brown dog.\\n")
        >>> data = ds.FlickrDataset(folder, folder / "captions", decode=True)
        >>> [(image.shape, captions.tolist()) for image, captions in data]
        [((2, 4, 3), ['A dog.', 'A brown dog.'])]
    """

    columns = ("image", "annotation")

    def __init__(
        self,
        dataset_dir,
        annotation_file,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        self.annotation_file = existing_file(annotation_file, "FlickrDataset: annotation_file")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, None, decode, *common)

    def _find(self):
        captions: dict[str, list[str]] = {}
        with self.annotation_file.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                name, tab, caption = line.rstrip("\n").partition("\t")
                if not tab or "#" not in name:
                    place = {"dataset": self.name, "line": number, "path": self.annotation_file}
                    reason = "it is no name, #, number, tab and caption"
                    raise RuntimeError(UNREADABLE_LINE.format(**place, reason=reason))
                captions.setdefault(name.rpartition("#")[0], []).append(caption)
        yield from sorted(captions.items())

    def _values(self, found):
        name, captions = found
        return self._image(self.dataset_dir / name), np.array(captions)


def existing_file(path, what: str) -> pathlib.Path:
    """A file that exists.

    Raises:
        TypeError: the argument is not a path.
        ValueError: the file does not exist.
    """
    if not isinstance(path, (str, pathlib.Path)):
        raise wrong(TypeError, what, "a path", repr(path))
    if not pathlib.Path(path).is_file():
        raise wrong(ValueError, what, "a file that exists", str(path))
    return pathlib.Path(path)


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


class PhotoTourDataset(Published, VisionBaseDataset):
    """Patches of photographs of buildings: `image`, UInt8 [64, 64, 1], or pairs of them.

    Args:
        dataset_dir: has a folder for each building.
        name: 'notredame', 'yosemite', 'liberty', or one of them with '_harris'.
        usage: 'train', which None means too, gives `image`; 'test' gives `image1`, `image2` and
            `matches`, UInt32, which is 1 where both show the same point.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path") / "liberty"
        >>> folder.mkdir()
        >>> Image.new("L", (1024, 1024)).save(folder / "patches0000.bmp")
        >>> _ = (folder / "info.txt").write_text("0 0\\n0 0\\n")
        >>> [image.shape for image, in ds.PhotoTourDataset(folder.parent, "liberty")]
        [(64, 64, 1), (64, 64, 1)]
    """

    usages = ("train", "test")
    default = "train"

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
        known = [f"{place}{end}" for place in ("notredame", "yosemite", "liberty") for end in _ENDS]
        self.part = one_of(name, known, "PhotoTourDataset: name")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, usage, *common)
        self.columns = ("image",) if self.usage == "train" else ("image1", "image2", "matches")
        self._pages: dict[int, np.ndarray] = {}

    def _find(self):
        if self.usage == "train":
            yield from ((number,) for number in range(len(self._lines(self.part, "info.txt"))))
            return
        for line in self._lines(self.part, "m50_100000_100000_0.txt"):
            first, point, _, second, other, *_ = line.split()
            yield int(first), int(second), point == other

    def _values(self, found):
        patches = tuple(map(self._patch, found[:2]))
        return patches if self.usage == "train" else (*patches, np.uint32(found[2]))

    def _patch(self, number: int) -> np.ndarray:
        """A page has 16 rows of 16 patches."""
        page, place = divmod(number, 256)
        if page not in self._pages:
            path = self._path(self.part, f"patches{page:04}.bmp")
            self._pages[page] = decoded(path.read_bytes(), path)[..., :1]
        row, column = (64 * part for part in divmod(place, 16))
        return self._pages[page][row : row + 64, column : column + 64]


_ENDS = ("", "_harris")


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


class SBUDataset(InFolder):
    """Photographs with a caption: `image`, UInt8, and `caption`, a text.

    Args:
        dataset_dir: has `SBU_captioned_photo_dataset_captions.txt`, the same with `urls`, and the
            folder `sbu_images`; captions whose image is not there are left out.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> (folder / "sbu_images").mkdir()
        >>> Image.new("RGB", (4, 2)).save(folder / "sbu_images" / "m_1_a.jpg")
        >>> stem = "SBU_captioned_photo_dataset"
        >>> _ = (folder / f"{stem}_captions.txt").write_text("A dog.\\n")
        >>> _ = (folder / f"{stem}_urls.txt").write_text("http://static.flickr.com/1/a.jpg\\n")
        >>> [(image.shape, str(text)) for image, text in ds.SBUDataset(folder, decode=True)]
        [((2, 4, 3), 'A dog.')]
    """

    columns = ("image", "caption")

    def _find(self):
        stem = "SBU_captioned_photo_dataset"
        captions = self._path(f"{stem}_captions.txt").read_text("utf-8").splitlines()
        urls = self._path(f"{stem}_urls.txt").read_text("utf-8").splitlines()
        if len(captions) != len(urls):
            raise RuntimeError(
                f"{self.name}: there are {len(captions)} captions, but {len(urls)} addresses, in "
                f"{self.dataset_dir}."
            )
        folder = self._path("sbu_images")
        for caption, url in zip(captions, urls, strict=True):
            path = folder / f"m{urlparse(url).path.replace('/', '_')}"
            if path.is_file():
                yield path, caption

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


class LFWDataset(Pictures):
    """Faces of known persons: `image` and `label`, or pairs `image1`, `image2` and `label`.

    Args:
        dataset_dir: has folders of persons in `lfw`, `lfw_funneled` or `lfw-deepfunneled`, and the
            lists `lfw-names.txt`, `peopleDevTrain.txt`, `pairsDevTrain.txt` and so on.
        task: 'people', which None means too: the label is the number of the person; or 'pairs': it
            is 1 where both are the same person. UInt32.
        usage: '10fold', 'train', 'test' or 'all', which None means too: the last two.
        image_set: 'original', 'funneled', which None means too, or 'deepfunneled'.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> (folder / "lfw_funneled" / "Ann").mkdir(parents=True)
        >>> Image.new("RGB", (4, 2)).save(folder / "lfw_funneled" / "Ann" / "Ann_0001.jpg")
        >>> _ = (folder / "lfw-names.txt").write_text("Ann\\t1\\n")
        >>> _ = (folder / "peopleDevTest.txt").write_text("1\\nAnn\\t1\\n")
        >>> data = ds.LFWDataset(folder, usage="test", decode=True)
        >>> [(image.shape, int(label)) for image, label in data]
        [((2, 4, 3), 0)]
    """

    usages = ("10fold", "train", "test", "all")

    def __init__(
        self,
        dataset_dir,
        task=None,
        usage=None,
        image_set=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "LFWDataset"
        self.task = one_of(task or "people", ("people", "pairs"), f"{what}: task")
        folders = {"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": _DEEP}
        image_set = image_set or "funneled"
        self.folder = folders[one_of(image_set, list(folders), f"{what}: image_set")]
        if self.task == "pairs":
            self.columns = ("image1", "image2", "label")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        parts = {"10fold": ("",), "all": ("DevTrain", "DevTest")}
        parts = parts.get(self.usage, (f"Dev{self.usage.title()}",))
        lines = [line.split() for part in parts for line in self._lines(f"{self.task}{part}.txt")]
        yield from self._people(lines) if self.task == "people" else self._pairs(lines)

    def _people(self, lines: list[list[str]]) -> Iterator[tuple]:
        numbers = {line.split()[0]: n for n, line in enumerate(self._lines("lfw-names.txt"))}
        for person, count in (line for line in lines if len(line) == 2):
            for number in range(1, int(count) + 1):
                yield self._face(person, number), np.uint32(numbers[person])

    def _pairs(self, lines: list[list[str]]) -> Iterator[tuple]:
        for line in lines:
            if len(line) == 3:
                person, *numbers = line
                yield *(self._face(person, number) for number in numbers), np.uint32(1)
            elif len(line) == 4:
                first, number, second, other = line
                yield self._face(first, number), self._face(second, other), np.uint32(0)

    def _face(self, person: str, number) -> pathlib.Path:
        return self.dataset_dir / self.folder / person / f"{person}_{int(number):04}.jpg"

    def _values(self, found):
        return *map(self._image, found[:-1]), found[-1]


_DEEP = "lfw-deepfunneled"


class SBDataset(Pictures):
    """Photographs with the boundaries or the regions of objects: `image`, UInt8, and `task`.

    Args:
        dataset_dir: has `img`, `cls`, and lists of names, `train.txt` and so on; SciPy reads `cls`.
        task: 'Boundaries', [20, height, width], or 'Segmentation', [height, width].
        usage: 'train', 'val', 'train_noval' or 'all', which means the first two.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> from scipy.io import savemat
        >>> folder = getfixture("tmp_path")
        >>> (folder / "img").mkdir(), (folder / "cls").mkdir()
        (None, None)
        >>> Image.new("RGB", (4, 2)).save(folder / "img" / "1.jpg")
        >>> savemat(folder / "cls" / "1.mat", {"GTcls": {"Segmentation": np.ones((2, 4))}})
        >>> _ = (folder / "val.txt").write_text("1\\n")
        >>> data = ds.SBDataset(folder, "Segmentation", "val", decode=True)
        >>> [(image.shape, region.shape) for image, region in data]
        [((2, 4, 3), (2, 4))]
    """

    columns = ("image", "task")
    usages = ("train", "val", "train_noval", "all")

    def __init__(
        self,
        dataset_dir,
        task="Boundaries",
        usage="all",
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        decode=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        self.task = one_of(task, ("Boundaries", "Segmentation"), "SBDataset: task")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        for part in ("train", "val") if self.usage == "all" else (self.usage,):
            yield from (line.strip() for line in self._lines(f"{part}.txt"))

    def _values(self, found):
        told = matlab(self._path("cls", f"{found}.mat"))["GTcls"][0][self.task][0]
        if self.task == "Boundaries":
            told = np.stack([sparse.toarray() for sparse in told.ravel()])
        return self._image(self._path("img", f"{found}.jpg")), told
