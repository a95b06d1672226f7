# SPDX-License-Identifier: Apache-2.0
"""Collections of pictures with a text, a name or another picture."""

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
    Pictures,
    Published,
    existing_file,
    images_in,
    matlab,
)
from mycel.kernel.base.errors import wrong


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
