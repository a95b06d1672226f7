# SPDX-License-Identifier: Apache-2.0
"""Sources that hold their rows: slices of arrays, and rows written down one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mycel.dataset.engine import worker
from mycel.dataset.engine.machinery import Row
from mycel.dataset.engine.sources import GeneratorDataset
from mycel.dataset.engine.together import Columns
from mycel.kernel.base.errors import wrong


class _Slices:
    """Row `i` of several arrays of one length."""

    def __init__(self, columns: Sequence):
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index):
        return tuple([column[index] for column in self.columns])


def _slices(column):
    """What rows are taken from: an array, or, where lengths differ, a list of arrays."""
    try:
        return np.asarray(worker.as_column(column))
    except TypeError:
        if not isinstance(column, (list, tuple)):
            raise
        return [np.asarray(worker.as_column(row)) for row in column]


class NumpySlicesDataset(GeneratorDataset):
    """Rows of arrays: the first dimension of each is the number of the row.

    Args:
        data: an array, a list, a tuple of arrays or lists, or a dictionary of such by column.
        column_names: by default `column_0` and so on, or the keys of a dictionary.
        others: as in GeneratorDataset.

    Raises:
        ValueError: the lengths of the arrays differ.

    Example:
        >>> data = ds.NumpySlicesDataset(([1, 2], [0.5, 1.5]), ["x", "y"], shuffle=False)
        >>> for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        ...     print(row["x"], row["y"])
        1 0.5
        2 1.5
    """

    def __init__(
        self,
        data,
        column_names=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        if not isinstance(data, (list, tuple, dict, np.ndarray)) or not len(data):
            expected = "an array, a list, a tuple or a dictionary, not empty"
            raise wrong(TypeError, "NumpySlicesDataset: data", expected, repr(data))
        if isinstance(data, dict):
            names, columns = list(data), list(data.values())
        elif isinstance(data, tuple):
            names, columns = None, list(data)
        else:
            names, columns = None, [data]
        arrays = [_slices(column) for column in columns]
        lengths = {len(array) for array in arrays}
        if len(lengths) > 1:
            raise wrong(ValueError, "NumpySlicesDataset: data", "of one length", sorted(lengths))
        names = column_names or names or [f"column_{number}" for number in range(len(arrays))]
        # Read from memory: threads and processes would only stand in the way.
        super().__init__(
            _Slices(arrays),
            names,
            num_samples=num_samples,
            shuffle=shuffle,
            sampler=sampler,
            num_shards=num_shards,
            shard_id=shard_id,
        )

    # Said here too, so that it and `_many` are of one class.
    def _read(self, index) -> Row:
        return super()._read(index)

    def _many(self, indices) -> Columns:
        return {
            name: _at(column, indices)
            for name, column in zip(self.column_names, self.source.columns, strict=True)
        }


def _at(column, indices) -> np.ndarray | list[str]:
    if not isinstance(column, np.ndarray) or column.dtype.kind == "S":
        raise TypeError("rows that are made one by one: of different lengths, or bytes")
    if column.dtype.kind == "U" and column.ndim == 1:
        # A single text is as long as itself, whatever the array has room for.
        return column[indices].tolist()
    return column[indices]


class PaddedDataset(GeneratorDataset):
    """Rows given as dictionaries, to fill another dataset up (`data + PaddedDataset(...)`).

    Example:
        >>> filled = ds.PaddedDataset([{"x": np.array([1])}, {"x": np.array([2])}])
        >>> len(filled)
        2
    """

    def __init__(self, padded_samples):
        if not isinstance(padded_samples, list) or not padded_samples:
            expected = "a list of dictionaries"
            raise wrong(TypeError, "PaddedDataset: padded_samples", expected, repr(padded_samples))
        names = list(padded_samples[0])
        rows = [tuple([sample[name] for name in names]) for sample in padded_samples]
        super().__init__(rows, names, shuffle=False)
        self.padded_samples = padded_samples
