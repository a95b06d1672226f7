# SPDX-License-Identifier: Apache-2.0
"""Collections of pictures in which objects are marked: boxes, regions, points, captions."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from mycel.dataset.engine.images import one_of
from mycel.dataset.published.folders import UNREADABLE_LINE, InParts, Pictures, existing_file
from mycel.kernel.base.errors import wrong

METADATA = "_meta-filename"


def _column(values, kind=np.uint32) -> np.ndarray:
    """Numbers as a matrix of one column."""
    return np.array(values, kind).reshape(-1, 1)


def _boxes(values) -> np.ndarray:
    return np.array(values, np.float32).reshape(-1, 4)


class CityscapesDataset(Pictures):
    """Streets of cities: `image`, UInt8, and `task`, another image, or a text of polygons.

    Args:
        dataset_dir: has `leftImg8bit` and `gtFine` or `gtCoarse`, each with a folder for each
            usage, and in it one for each city.
        usage: 'train', 'val', 'all', 'test' (with 'fine') or 'train_extra' (with 'coarse').
        quality_mode: 'fine' or 'coarse'.
        task: 'instance', 'semantic', 'polygon' or 'color'.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> for name in ("leftImg8bit/val/ulm/1_leftImg8bit", "gtFine/val/ulm/1_gtFine_labelIds"):
        ...     (folder / name).parent.mkdir(parents=True)
        ...     Image.new("RGB", (4, 2)).save(folder / f"{name}.png")
        >>> data = ds.CityscapesDataset(folder, "val", task="semantic", decode=True)
        >>> [(image.shape, told.shape) for image, told in data]
        [((2, 4, 3), (2, 4, 3))]
    """

    columns = ("image", "task")
    _suffixes = {
        "instance": "instanceIds.png",
        "semantic": "labelIds.png",
        "polygon": "polygons.json",
        "color": "color.png",
    }

    def __init__(
        self,
        dataset_dir,
        usage="train",
        quality_mode="fine",
        task="instance",
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "CityscapesDataset"
        self.quality_mode = one_of(quality_mode, ("fine", "coarse"), f"{what}: quality_mode")
        self.task = one_of(task, list(self._suffixes), f"{what}: task")
        extra = "test" if quality_mode == "fine" else "train_extra"
        self.usages = ("train", extra, "val", "all")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, usage, decode, *common)

    def _find(self):
        kind = f"gt{self.quality_mode.title()}"
        for part in self.usages[:3] if self.usage == "all" else (self.usage,):
            for city in self._folders("leftImg8bit", part):
                for path in sorted(city.glob("*_leftImg8bit.png")):
                    stem = path.name.removesuffix("leftImg8bit.png")
                    name = f"{stem}{kind}_{self._suffixes[self.task]}"
                    yield path, self.dataset_dir / kind / part / city.name / name

    def _values(self, found):
        path, told = found
        if self.task != "polygon":
            return self._image(path), self._image(told)
        polygons = json.loads(told.read_text("utf-8"))
        text = json.dumps(polygons, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return self._image(path), np.array(text)


# By task: the columns behind the image.
_COCO = {
    "Detection": ("bbox", "category_id", "iscrowd"),
    "Stuff": ("segmentation", "iscrowd"),
    "Keypoint": ("keypoints", "num_keypoints"),
    "Panoptic": ("bbox", "category_id", "iscrowd", "area"),
    "Captioning": ("captions",),
}


class CocoDataset(Pictures):
    """Common objects in their surroundings: `image`, UInt8, and the columns of the task.

    A row is an image that has annotations, with an element in each column for each of them.

    Args:
        dataset_dir: has the images.
        annotation_file: the JSON file with annotations.
        task: 'Detection' gives `bbox` (Float32, left, top, width, height), `category_id` and
            `iscrowd`; 'Stuff' `segmentation` (padded with -1) and `iscrowd`; 'Keypoint'
            `keypoints` and `num_keypoints`; 'Panoptic' `bbox`, `category_id`, `iscrowd` and
            `area`; 'Captioning' `captions`.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        extra_metadata: whether the name of the file, without its ending, is the column
            `_meta-filename`.
        decrypt: called with the path of each file, for its bytes.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or the file does not exist.
        RuntimeError: the file has another form, or an image cannot be read; the text names it.

    Example:
        >>> import json
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> Image.new("RGB", (4, 2)).save(folder / "1.jpg")
        >>> told = {"image_id": 1, "category_id": 3, "bbox": [0, 1, 2, 1], "iscrowd": 0}
        >>> content = {"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [told]}
        >>> content["categories"] = [{"id": 3, "name": "cat"}]
        >>> _ = (folder / "instances.json").write_text(json.dumps(content))
        >>> data = ds.CocoDataset(folder, folder / "instances.json", decode=True)
        >>> [(image.shape, boxes.shape, int(kinds)) for image, boxes, kinds, crowd in data]
        [((2, 4, 3), (1, 4), 3)]
    """

    def __init__(
        self,
        dataset_dir,
        annotation_file,
        task="Detection",
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
        extra_metadata=False,
        decrypt=None,
    ):
        task = "Detection" if task is None else task
        self.task = one_of(task, list(_COCO), "CocoDataset: task")
        self.annotation_file = existing_file(annotation_file, "CocoDataset: annotation_file")
        self.extra_metadata, self.decrypt = bool(extra_metadata), decrypt
        self.columns = ("image", *_COCO[task], *((METADATA,) if extra_metadata else ()))
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, None, decode, *common)

    def _labels(self):
        return None

    @cached_property
    def _told(self) -> dict:
        try:
            return json.loads(self.annotation_file.read_text("utf-8"))
        except ValueError as error:
            raise self._other_form(error) from None

    def _other_form(self, error) -> RuntimeError:
        return RuntimeError(f"{self.name}: {self.annotation_file} has another form: {error!r}.")

    def _find(self):
        try:
            if self.task == "Panoptic":
                for told in self._told["annotations"]:
                    yield told["file_name"], told["segments_info"]
                return
            by_image: dict = {}
            for told in self._told["annotations"]:
                by_image.setdefault(told["image_id"], []).append(told)
            for image in self._told["images"]:
                if image["id"] in by_image:
                    yield image["file_name"], by_image[image["id"]]
        except (KeyError, TypeError) as error:
            raise self._other_form(error) from None

    def _values(self, found):
        name, told = found
        path = self.dataset_dir / name
        values = [self._image(path), *(_COCO_VALUES[name](told) for name in _COCO[self.task])]
        return (*values, np.array(path.stem)) if self.extra_metadata else tuple(values)

    def get_class_indexing(self) -> dict:
        if self.task not in ("Detection", "Panoptic"):
            return {}
        flag = ("isthing",) if self.task == "Panoptic" else ()
        kinds = self._told.get("categories", ())
        return {kind["name"]: [kind["id"], *(kind[name] for name in flag)] for kind in kinds}

    get_class_indexing.__doc__ = Pictures.get_class_indexing.__doc__

    def num_classes(self) -> int:
        return len(self.get_class_indexing())

    num_classes.__doc__ = Pictures.num_classes.__doc__


def _segments(told: list[dict]) -> np.ndarray:
    """The corners of regions, or the counts of run lengths, padded with -1 to one length."""
    rows = []
    for each in told:
        region = each["segmentation"]
        parts = [region["counts"]] if isinstance(region, dict) else region
        rows.append([float(value) for part in parts for value in part])
    width = max(map(len, rows))
    return np.array([row + [-1.0] * (width - len(row)) for row in rows], np.float32)


_COCO_VALUES = {
    "bbox": lambda told: _boxes([each["bbox"] for each in told]),
    "category_id": lambda told: _column([each["category_id"] for each in told]),
    "iscrowd": lambda told: _column([each.get("iscrowd", 0) for each in told]),
    "area": lambda told: _column([each["area"] for each in told]),
    "segmentation": _segments,
    "keypoints": lambda told: np.array([each["keypoints"] for each in told], np.float32),
    "num_keypoints": lambda told: _column([each["num_keypoints"] for each in told]),
    "captions": lambda told: np.array([[each["caption"]] for each in told]),
}


_KITTI = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc")


class KITTIDataset(InParts):
    """Streets seen from a car: `image`, UInt8, and for training the objects in it.

    These are `label`, UInt32, `truncated`, `occluded`, `alpha`, `bbox` (left, top, right, bottom),
    `dimensions`, `location` and `rotation_y`, Float32 where not said otherwise.

    Args:
        dataset_dir: has `data_object_image_2` and `data_object_label_2`.
        usage: 'train', which None means too, or 'test'.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path") / "data_object_image_2" / "testing" / "image_2"
        >>> folder.mkdir(parents=True)
        >>> Image.new("RGB", (4, 2)).save(folder / "000000.png")
        >>> data = ds.KITTIDataset(getfixture("tmp_path"), "test", decode=True)
        >>> [image.shape for image, in data]
        [(2, 4, 3)]
    """

    usages = ("train", "test")
    default = "train"

    def _columns(self):
        if self.usage == "test":
            return ["image"]
        rest = ("bbox", "dimensions", "location", "rotation_y")
        return ["image", "label", "truncated", "occluded", "alpha", *rest]

    def _find(self):
        part = f"{self.usage}ing"
        for path in sorted(self._path("data_object_image_2", part, "image_2").iterdir()):
            yield (path,)

    def _labels(self):
        return None

    def _values(self, found):
        (path,) = found
        if self.usage == "test":
            return (self._image(path),)
        place = ("data_object_label_2", "training", "label_2", f"{path.stem}.txt")
        rows = [line.split() for line in self._lines(*place)]
        rows = [row for row in rows if row[0] in _KITTI]
        numbers = np.array([row[1:15] for row in rows], np.float32)
        columns = [numbers[:, slice(*ends)] for ends in ((0, 1), (2, 3), (3, 7), (7, 10))]
        truncated, alpha, boxes, sizes = columns
        labels = _column([_KITTI.index(row[0]) for row in rows])
        occluded = _column(numbers[:, 1])
        rest = (boxes, sizes, numbers[:, 10:13], numbers[:, 13:14])
        return self._image(path), labels, truncated, occluded, alpha, *rest


class VOCDataset(Pictures):
    """Photographs with objects: `image`, UInt8, and the columns of the task.

    Args:
        dataset_dir: has `JPEGImages`, `ImageSets`, and `Annotations` or `SegmentationClass`.
        task: 'Segmentation' gives `target`, an image; 'Detection' gives `bbox` (Float32, left, top,
            width, height), `label`, `difficult` and `truncate`, UInt32.
        usage: which list of `ImageSets/Segmentation` or `ImageSets/Main`.
        class_indexing: for 'Detection', the number of each class that takes part; by default all,
            in the order of their names.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        extra_metadata: whether the name of the file, without its ending, is the column
            `_meta-filename`.
        decrypt: called with the path of each file, for its bytes.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> for name in ("JPEGImages/1.jpg", "SegmentationClass/1.png"):
        ...     (folder / name).parent.mkdir()
        ...     Image.new("RGB", (4, 2)).save(folder / name)
        >>> (folder / "ImageSets" / "Segmentation").mkdir(parents=True)
        >>> _ = (folder / "ImageSets" / "Segmentation" / "train.txt").write_text("1\\n")
        >>> data = ds.VOCDataset(folder, decode=True)
        >>> [(image.shape, target.shape) for image, target in data]
        [((2, 4, 3), (2, 4, 3))]
    """

    def __init__(
        self,
        dataset_dir,
        task="Segmentation",
        usage="train",
        class_indexing=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
        extra_metadata=False,
        decrypt=None,
    ):
        what = "VOCDataset"
        self.task = one_of(task, ("Segmentation", "Detection"), f"{what}: task")
        if not isinstance(usage, str):
            raise wrong(TypeError, f"{what}: usage", "a text", repr(usage))
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise wrong(TypeError, f"{what}: class_indexing", "a dictionary", repr(class_indexing))
        if class_indexing is not None and task == "Segmentation":
            expected = "None with task='Segmentation'"
            raise wrong(ValueError, f"{what}: class_indexing", expected, repr(class_indexing))
        self.usage, self.class_indexing = usage, class_indexing
        self.extra_metadata, self.decrypt = bool(extra_metadata), decrypt
        columns: dict[str, tuple[str, ...]] = {
            "Segmentation": ("target",),
            "Detection": ("bbox", "label", "difficult", "truncate"),
        }
        self.columns = ("image", *columns[task], *((METADATA,) if extra_metadata else ()))
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, None, decode, *common)

    @cached_property
    def _listed(self) -> list[tuple[str, list[ElementTree.Element]]]:
        """The names of the list, each with the objects that are marked."""
        kind = "Main" if self.task == "Detection" else "Segmentation"
        names = [line.split()[0] for line in self._lines("ImageSets", kind, f"{self.usage}.txt")]
        if self.task == "Segmentation":
            return [(name, []) for name in names]
        return [(name, self._objects(name)) for name in names]

    def _objects(self, name: str) -> list[ElementTree.Element]:
        path = self._path("Annotations", f"{name}.xml")
        try:
            objects = ElementTree.parse(path).findall("object")
        except ElementTree.ParseError as error:
            place = {"dataset": self.name, "line": error.position[0], "path": path}
            raise RuntimeError(UNREADABLE_LINE.format(**place, reason=error)) from None
        for number, each in enumerate(objects):
            if not each.findtext("name"):
                raise RuntimeError(f"{self.name}: object {number} of {path} has no <name>.")
        return objects

    def _find(self):
        known = self.get_class_indexing()
        for name, objects in self._listed:
            objects = [each for each in objects if each.findtext("name") in known]
            if objects or self.task == "Segmentation":
                yield name, objects

    def _labels(self):
        return None

    def _values(self, found):
        name, objects = found
        image = self._image(self._path("JPEGImages", f"{name}.jpg"))
        if self.task == "Segmentation":
            values = (image, self._image(self._path("SegmentationClass", f"{name}.png")))
        else:
            values = (image, *self._marked(objects))
        return (*values, np.array(name)) if self.extra_metadata else values

    def _marked(self, objects: list[ElementTree.Element]) -> Iterator[np.ndarray]:
        corners = ("xmin", "ymin", "xmax", "ymax")
        ends = np.array(
            [[float(each.findtext(f"bndbox/{corner}") or "nan") for corner in corners]
             for each in objects]
        )  # fmt: skip
        yield _boxes(np.concatenate([ends[:, :2], ends[:, 2:] - ends[:, :2]], 1))
        numbers = self.get_class_indexing()
        yield _column([numbers[each.findtext("name")] for each in objects])
        for flag in ("difficult", "truncated"):
            yield _column([int(each.findtext(flag) or 0) for each in objects])

    def get_class_indexing(self) -> dict:
        if self.class_indexing is not None:
            return dict(self.class_indexing)
        marked = (each.findtext("name") or "" for _, objects in self._listed for each in objects)
        return {name: number for number, name in enumerate(sorted(set(marked)))}

    get_class_indexing.__doc__ = Pictures.get_class_indexing.__doc__

    def num_classes(self) -> int | None:
        return len(self.get_class_indexing()) or None

    num_classes.__doc__ = Pictures.num_classes.__doc__


# Behind the four numbers of a box, in the order of the files.
_FACES = ("blur", "expression", "illumination", "invalid", "occlusion", "pose")


class WIDERFaceDataset(InParts):
    """Faces in crowds: `image`, UInt8, and where they are marked `bbox` and what is known of them.

    `bbox` is left, top, width and height; `blur`, `expression`, `illumination`, `occlusion`, `pose`
    and `invalid` have a number for each face. All are Int32.

    Args:
        dataset_dir: has `WIDER_train`, `WIDER_val`, `WIDER_test` and `wider_face_split`.
        usage: 'train', 'test', 'valid' or 'all', which None means too: train and valid.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> image = folder / "WIDER_val" / "images" / "0--Parade" / "1.jpg"
        >>> image.parent.mkdir(parents=True), (folder / "wider_face_split").mkdir()
        (None, None)
        >>> Image.new("RGB", (4, 2)).save(image)
        >>> told = "0--Parade/1.jpg\\n1\\n0 0 2 1 0 0 0 0 1 0\\n"
        >>> _ = (folder / "wider_face_split" / "wider_face_val_bbx_gt.txt").write_text(told)
        >>> data = ds.WIDERFaceDataset(folder, "valid", decode=True)
        >>> [(image.shape, box.asnumpy().tolist()) for image, box, *_ in data]
        [((2, 4, 3), [[0, 0, 2, 1]])]
    """

    usages = ("train", "test", "valid", "all")

    def _columns(self):
        rest = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")
        return ["image"] if self.usage == "test" else ["image", "bbox", *rest]

    def _labels(self):
        return None

    def _find(self):
        if self.usage == "test":
            for line in self._lines("wider_face_split", "wider_face_test_filelist.txt"):
                yield self.dataset_dir / "WIDER_test" / "images" / line.strip(), []
            return
        parts = {"all": ("train", "val"), "valid": ("val",)}
        for part in parts.get(self.usage, (self.usage,)):
            lines = iter(self._lines("wider_face_split", f"wider_face_{part}_bbx_gt.txt"))
            for name in lines:
                # Where there is no face a line of zeros stands nevertheless.
                faces = [next(lines).split() for _ in range(max(int(next(lines)), 1))]
                yield self.dataset_dir / f"WIDER_{part}" / "images" / name.strip(), faces

    def _values(self, found):
        path, faces = found
        if self.usage == "test":
            return (self._image(path),)
        numbers = np.array(faces, np.int32)
        known: dict[str, np.ndarray] = dict(zip(_FACES, numbers[:, 4:].T, strict=True))
        return self._image(path), numbers[:, :4], *(known[name] for name in self._columns()[2:])
