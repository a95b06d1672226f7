# SPDX-License-Identifier: Apache-2.0
"""Pictures that a file lists, and random rows."""

from __future__ import annotations

import json
import pathlib
from functools import cached_property

import numpy as np

from mycel.dataset.engine.dataset import VisionBaseDataset
from mycel.dataset.engine.images import one_of
from mycel.dataset.engine.nodes import integer
from mycel.dataset.engine.schema import Schema
from mycel.dataset.engine.sources import MappableDataset
from mycel.dataset.published.folders import UNREADABLE_LINE, Pictures, existing_file
from mycel.kernel.base.errors import wrong


class ManifestDataset(Pictures):
    """Pictures that a file lists, one JSON object in each line: `image`, UInt8, and `label`, Int32.

    Args:
        dataset_file: the list: each line has `source`, `usage` and `annotation`, a list of objects
            with a `name`.
        usage: 'train', 'eval' or 'inference'.
        class_indexing: the number of each class that takes part; by default all, in the order of
            their names.
        decode: pixels [height, width, 3]; otherwise the bytes of the file.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or the file does not exist.
        RuntimeError: a line has another form, or an image cannot be read; the text names it.

    Example:
        >>> import json
        >>> from PIL import Image
        >>> folder = getfixture("tmp_path")
        >>> Image.new("RGB", (4, 2)).save(folder / "1.jpg")
        >>> line = {"source": str(folder / "1.jpg"), "usage": "train"}
        >>> line = json.dumps({**line, "annotation": [{"name": "cat"}]})
        >>> _ = (folder / "list.manifest").write_text(line)
        >>> data = ds.ManifestDataset(folder / "list.manifest", decode=True)
        >>> [(image.shape, int(label)) for image, label in data], data.get_class_indexing()
        ([((2, 4, 3), 0)], {'cat': 0})
    """

    usages = ("train", "eval", "inference")

    def __init__(
        self,
        dataset_file,
        usage="train",
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        class_indexing=None,
        decode=False,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "ManifestDataset"
        self.dataset_file = existing_file(dataset_file, f"{what}: dataset_file")
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise wrong(TypeError, f"{what}: class_indexing", "a dictionary", repr(class_indexing))
        self.class_indexing = class_indexing
        usage = "train" if usage is None else usage
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(self.dataset_file.parent, usage, decode, *common)

    @cached_property
    def _listed(self) -> list[tuple[str, list[str]]]:
        """The image and the classes of each line of this usage."""
        found = []
        with self.dataset_file.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    told = json.loads(line)
                    if told["usage"] == self.usage:
                        names = [each["name"] for each in told.get("annotation", ())]
                        found.append((told["source"], names))
                except (ValueError, KeyError, TypeError) as error:
                    place = {"dataset": self.name, "line": number, "path": self.dataset_file}
                    raise RuntimeError(UNREADABLE_LINE.format(**place, reason=error)) from None
        return found

    def _find(self):
        numbers = self.get_class_indexing()
        for source, names in self._listed:
            labels = [numbers[name] for name in names if name in numbers]
            if labels:
                path = pathlib.Path(source.removeprefix("file://"))
                yield path, labels[0] if len(labels) == 1 else labels

    def _values(self, found):
        path, label = found
        return self._image(path), np.array(label, np.int32)

    def get_class_indexing(self) -> dict:
        if self.class_indexing:
            return dict(self.class_indexing)
        names = sorted({name for _, names in self._listed for name in names})
        return {name: number for number, name in enumerate(names)}

    get_class_indexing.__doc__ = Pictures.get_class_indexing.__doc__

    def num_classes(self) -> int:
        return len(self.get_class_indexing())

    num_classes.__doc__ = Pictures.num_classes.__doc__


class RandomDataset(MappableDataset, VisionBaseDataset):
    """Rows of random numbers, to try a program.

    Args:
        total_rows: how many; None takes the number of the schema, or 100.
        schema: a Schema, or the path of one: names, element types and shapes of the columns.
        columns_list: which columns; None takes all.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or there is no schema.

    Example:
        >>> schema = ds.Schema()
        >>> schema.add_column("x", ms.uint8, [2, 3])
        >>> data = ds.RandomDataset(2, schema)
        >>> [(x.shape, str(x.dtype)) for x, in data]
        [((2, 3), 'UInt8'), ((2, 3), 'UInt8')]
    """

    def __init__(
        self,
        total_rows=None,
        schema=None,
        columns_list=None,
        num_samples=None,
        num_parallel_workers=None,
        cache=None,
        shuffle=None,
        num_shards=None,
        shard_id=None,
    ):
        what = "RandomDataset"
        if schema is None:
            raise wrong(ValueError, f"{what}: schema", "a Schema, or the path of one", None)
        self.schema = schema if isinstance(schema, Schema) else Schema(schema)
        if total_rows is not None:
            integer(total_rows, f"{what}: total_rows", 0)
        self.total_rows = total_rows or getattr(self.schema, "num_rows", None) or 100
        known = self.schema.names()
        self.columns_list = [
            one_of(name, known, f"{what}: columns_list") for name in columns_list or known
        ]
        # As in MindSpore, rows that are random in any case are not shuffled.
        common = (num_parallel_workers, None, num_samples, False if shuffle is None else shuffle)
        super().__init__(*common, num_shards, shard_id, cache)

    def _columns(self):
        return list(self.columns_list)

    def _count(self):
        return self.total_rows

    def _read(self, index):
        random = np.random.default_rng(int(index))
        return {name: self._drawn(name, random) for name in self.columns_list}

    def _drawn(self, name: str, random: np.random.Generator) -> np.ndarray:
        kind, shape = self.schema.type_of(name), self.schema.shape_of(name) or ()
        shape = [1 if length < 0 else length for length in shape]
        size = int(np.prod(shape)) * kind.itemsize
        if kind.kind == "f":
            return random.random(shape).astype(kind)
        if kind.kind == "b":
            return random.integers(0, 2, shape).astype(bool)
        if kind.kind in "US":
            return np.full(shape, "text")
        return np.frombuffer(random.bytes(size), kind).reshape(shape).copy()
