# SPDX-License-Identifier: Apache-2.0
"""What can be done to a dataset: methods that make another one, in MindSpore's words."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older


class Kinds(NamedTuple):
    """What the methods of a dataset make: kinds of datasets, called with the dataset first.

    They derive from Dataset, which has the methods: they stand above this file, and `mycel.dataset`
    gives them to it.
    """

    batch: Callable
    padded_batch: Callable
    bucket_batch_by_length: Callable
    map: Callable
    filter: Callable
    shuffle: Callable
    repeat: Callable
    skip: Callable
    take: Callable
    zip: Callable
    concat: Callable
    rename: Callable
    project: Callable
    split: Callable
    save: Callable
    sync_wait: Callable
    sync_update: Callable
    to_json: Callable
    device_que: Callable


def _ordered(dataset, columns, called: str):
    """The columns that MindSpore's older keyword asks for, in that order."""
    if columns is None:
        return dataset
    older(f"{called}(column_order=...)", f"{called}(...).project(...)")
    return dataset.project(columns)


class Operations:
    """The methods of a dataset that make datasets."""

    _wired: ClassVar[Kinds]
    create_tuple_iterator: Callable[..., Any]

    def batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, **kwargs):
        """Rows put together: each column gains a first dimension.

        Args:
            batch_size: how many rows; or a function of a BatchInfo that tells it for each batch.
            drop_remainder: leave out a last batch that is smaller.
            num_parallel_workers: how many work for `per_batch_map`.
            per_batch_map: called with a list of arrays for each of `input_columns`, and a
                BatchInfo; returns as many lists (or arrays) as there are `output_columns`.
            input_columns, output_columns: names; output_columns are those of the input by default.
            python_multiprocessing: run per_batch_map in worker processes.
            column_order, pad_info: older; a `project` behind it, and `padded_batch` instead of it.

        Raises:
            ValueError: `pad_info` and `per_batch_map` are both given.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).batch(2)
            >>> [row[0].asnumpy().tolist() for row in data]
            [[1, 2], [3]]
        """
        pad_info, order = kwargs.pop("pad_info", None), kwargs.pop("column_order", None)
        if pad_info is not None:
            older("Dataset.batch(pad_info=...)", "Dataset.padded_batch(pad_info=...)")
            if kwargs.get("per_batch_map") is not None:
                what = "batch: pad_info"
                raise wrong(ValueError, what, "None where there is a per_batch_map", repr(pad_info))
            made = self.padded_batch(batch_size, drop_remainder, num_parallel_workers, pad_info)
        else:
            made = self._wired.batch(
                self, batch_size, drop_remainder, num_parallel_workers, **kwargs
            )
        return _ordered(made, order, "Dataset.batch")

    def padded_batch(
        self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None
    ):
        """Rows put together after their columns were padded to one shape.

        Args:
            pad_info: by column the shape (None in it, or instead of it: that of the largest row of
                the batch) and the value to pad with. None or {} pads all columns with 0.

        Example:
            >>> data = ds.GeneratorDataset([np.arange(1), np.arange(3)], ["x"], shuffle=False)
            >>> print(next(iter(data.padded_batch(2, pad_info={"x": ([4], -1)})))[0])
            [[ 0 -1 -1 -1]
             [ 0  1  2 -1]]
        """
        return self._wired.padded_batch(
            self, batch_size, drop_remainder, num_parallel_workers, pad_info
        )

    def bucket_batch_by_length(
        self,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ):
        """Batches of rows of similar length.

        Args:
            column_names: what the length is computed of.
            bucket_boundaries: lengths at which another bucket begins.
            bucket_batch_sizes: one more than there are boundaries.
            element_length_function: called with the columns; by default the size of the first
                dimension of the only column.
            pad_info: as in `padded_batch`.
            pad_to_bucket_boundary: pad None in shapes to one below the boundary of the bucket.

        Example:
            >>> rows = [np.ones(length) for length in (1, 4, 2, 5)]
            >>> data = ds.GeneratorDataset(rows, ["x"], shuffle=False)
            >>> [row[0].shape for row in data.bucket_batch_by_length(["x"], [3], [2, 2])]
            [(2, 2), (2, 5)]
        """
        return self._wired.bucket_batch_by_length(
            self,
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def map(
        self,
        operations,
        input_columns=None,
        output_columns=None,
        num_parallel_workers=None,
        **kwargs,
    ):
        """Columns changed by one operation, or by several one after the other.

        Args:
            operations: callables on arrays, one argument for each input column.
            input_columns: by default the first columns, as many as the operation takes.
            output_columns: names of what comes out; those of the input by default.
            num_parallel_workers: how many threads or processes work at once.
            python_multiprocessing: run the operations in worker processes.
            column_order: older; a `project` behind it.
            others: `callbacks`, a DSCallback or a list of them, which makes rows one after the
                other; `cache`, `max_rowsize` and `offload` are accepted.

        Example:
            >>> data = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
            >>> data = data.map(lambda x: (x, x * 10), "x", ["x", "ten"])
            >>> [(int(x), int(ten)) for x, ten in data]
            [(1, 10), (2, 20)]
        """
        order = kwargs.pop("column_order", None)
        made = self._wired.map(
            self, operations, input_columns, output_columns, num_parallel_workers, **kwargs
        )
        return _ordered(made, order, "Dataset.map")

    def filter(self, predicate, input_columns=None, num_parallel_workers=None):
        """The rows for which a function of some columns is true.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], ["x"], shuffle=False)
            >>> [int(row[0]) for row in data.filter(lambda x: x % 2 == 0, ["x"])]
            [2, 4]
        """
        return self._wired.filter(self, predicate, input_columns, num_parallel_workers)

    def shuffle(self, buffer_size):
        """Rows in random order within windows of `buffer_size` rows.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], shuffle=False).shuffle(4)
            >>> sorted(int(row[0]) for row in data)
            [1, 2, 3, 4]
        """
        return self._wired.shuffle(self, buffer_size)

    def repeat(self, count=None):
        """All rows several times, shuffled anew each time where something shuffles below.

        Args:
            count: how often; None or -1 for ever.

        Example:
            >>> [int(row[0]) for row in ds.NumpySlicesDataset([1, 2], shuffle=False).repeat(2)]
            [1, 2, 1, 2]
        """
        return self._wired.repeat(self, count)

    def skip(self, count):
        """Without the first rows.

        Example:
            >>> [int(row[0]) for row in ds.NumpySlicesDataset([1, 2, 3], shuffle=False).skip(2)]
            [3]
        """
        return self._wired.skip(self, count)

    def take(self, count=-1):
        """The first rows; -1 takes all.

        Example:
            >>> [int(row[0]) for row in ds.NumpySlicesDataset([1, 2, 3], shuffle=False).take(2)]
            [1, 2]
        """
        return self._wired.take(self, count)

    def zip(self, datasets):
        """Rows side by side, as long as every dataset has some.

        Args:
            datasets: a dataset or a tuple of them, whose columns have other names.

        Example:
            >>> first = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
            >>> second = ds.NumpySlicesDataset({"y": [3, 4, 5]}, shuffle=False)
            >>> [(int(x), int(y)) for x, y in first.zip(second)]
            [(1, 3), (2, 4)]
        """
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        return self._wired.zip((self, *others))

    def concat(self, datasets):
        """Rows of one dataset after those of another; also written `+`.

        Example:
            >>> first = ds.NumpySlicesDataset([1], shuffle=False)
            >>> [int(row[0]) for row in first.concat([ds.NumpySlicesDataset([2])])]
            [1, 2]
        """
        if not isinstance(datasets, (list, tuple)):
            datasets = [datasets]
        return self._wired.concat([self, *datasets])

    def __add__(self, other):
        return self.concat([other])

    def rename(self, input_columns, output_columns):
        """Other names for columns.

        Example:
            >>> ds.NumpySlicesDataset({"x": [1]}).rename("x", "data").get_col_names()
            ['data']
        """
        return self._wired.rename(self, input_columns, output_columns)

    def project(self, columns):
        """Only these columns, in this order.

        Example:
            >>> ds.NumpySlicesDataset({"x": [1], "y": [2]}).project("y").get_col_names()
            ['y']
        """
        return self._wired.project(self, columns)

    def apply(self, apply_func):
        """What a function makes of the dataset.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3]).apply(lambda data: data.batch(3))
            >>> len(data)
            1
        """
        made = apply_func(self) if callable(apply_func) else None
        if not isinstance(made, Operations):
            expected = "a function that returns a dataset"
            raise wrong(TypeError, "apply: apply_func", expected, repr(apply_func))
        return made

    def flat_map(self, func):
        """The rows of the datasets that a function makes of each row.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
            >>> made = data.flat_map(lambda x: ds.NumpySlicesDataset([int(x)] * 2))
            >>> [int(row[0]) for row in made]
            [1, 1, 2, 2]
        """
        rows = self.create_tuple_iterator(num_epochs=1, output_numpy=True)
        return self._wired.concat([func(*row) for row in rows])

    def split(self, sizes, randomize=True):
        """Parts without a common row, each with a fixed choice of rows in a fixed order.

        Args:
            sizes: numbers of rows, or fractions that add up to 1.
            randomize: shuffle the rows before they are divided.

        Example:
            >>> train, test = ds.NumpySlicesDataset([1, 2, 3, 4]).split([0.75, 0.25])
            >>> len(train), len(test)
            (3, 1)
        """
        return self._wired.split(self, sizes, randomize)

    def sync_wait(self, condition_name, num_batch=1, callback=None):
        """Rows that wait until `sync_update` lets them pass.

        Args:
            condition_name: a name for `sync_update`.
            num_batch: how many batches pass without it in each epoch, and at each update.
            callback: called with the data that `sync_update` is given.

        Raises:
            RuntimeError: the name is used already.

        Example:
            >>> seen = []
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False)
            >>> data = data.sync_wait("loss", callback=seen.append)
            >>> for row in data.create_tuple_iterator(num_epochs=1):
            ...     data.sync_update("loss", data=int(row[0]) * 10)
            >>> seen
            [10, 20, 30]
        """
        return self._wired.sync_wait(self, condition_name, num_batch, callback)

    def sync_update(self, condition_name, num_batch=None, data=None):
        """Let rows pass that wait behind `sync_wait`; called on the last data set of the pipeline.

        Args:
            condition_name: the name that `sync_wait` has.
            num_batch: how many batches; None means as many as `sync_wait` says.
            data: what its callback is called with.

        Raises:
            TypeError, RuntimeError: an argument is wrong; then all rows pass.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).sync_wait("step").batch(1)
            >>> for row in data.create_tuple_iterator(num_epochs=1):
            ...     data.sync_update("step")
        """
        self._wired.sync_update(self, condition_name, num_batch, data)

    def to_json(self, filename=""):
        """The pipeline as a dictionary that JSON can hold; `ds.deserialize` makes it again.

        Python code in it (the source of a GeneratorDataset, a function given to `map`) is only
        named.

        Args:
            filename: where to write it as well.

        Example:
            >>> ds.NumpySlicesDataset([1, 2]).batch(2).to_json()["op_type"]
            'BatchDataset'
        """
        return self._wired.to_json(self, filename)

    def device_que(self, send_epoch_end=True, create_data_info_queue=False, queue_name=""):
        """The same rows, and with `send()` a data queue that gives them to `ops.GetNext`.

        Args:
            send_epoch_end, create_data_info_queue: accepted.
            queue_name: the name of the queue; by default one that no other has.

        Example:
            >>> rows = ds.NumpySlicesDataset(np.ones((4, 2), np.float32)).device_que()
            >>> rows.send()
            >>> print(ops.GetNext([ms.float32], [(2,)], 1, rows.queue_name)())
            [1. 1.]
            >>> rows.release()
        """
        return self._wired.device_que(self, send_epoch_end, create_data_info_queue, queue_name)

    def save(self, file_name, num_files=1, file_type="mindrecord"):
        """Write all rows to a MindRecord file, which MindDataset reads.

        Example:
            >>> path = str(getfixture("tmp_path") / "data.mindrecord")
            >>> ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False).save(path)
            >>> [int(row[0]) for row in ds.MindDataset(path, shuffle=False)]
            [1, 2]
        """
        if file_type != "mindrecord":
            raise wrong(ValueError, "save: file_type", "'mindrecord'", repr(file_type))
        if not isinstance(file_name, (str, pathlib.Path)):
            raise wrong(TypeError, "save: file_name", "a path", repr(file_name))
        self._wired.save(self, str(file_name), num_files)


def zip(datasets: Any) -> Any:
    """Rows of several datasets side by side, as long as all have some.

    Args:
        datasets: a tuple of datasets whose columns have different names.

    Raises:
        TypeError: the argument is not a tuple of datasets.
        ValueError: the tuple is empty.

    Example:
        >>> first = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
        >>> second = ds.NumpySlicesDataset({"y": [3, 4]}, shuffle=False)
        >>> ds.zip((first, second)).get_col_names()
        ['x', 'y']
    """
    if not isinstance(datasets, (tuple, list)):
        raise wrong(TypeError, "zip: datasets", "a tuple of datasets", repr(datasets))
    if len(datasets) < 1:
        raise wrong(ValueError, "zip: datasets", "at least one dataset", "none")
    return Operations._wired.zip(tuple(datasets))
