# SPDX-License-Identifier: Apache-2.0
"""Pipelines without chance, written once: real MindSpore's answers are kept in mindspore_2_10.json.

Each function gets a module `ds` (real or ours) and a folder with small files, and returns a
dataset, or anything that JSON can hold. `answer` looks at what comes out.
"""

from __future__ import annotations

import json
import pathlib
import struct
import types

import numpy as np

PIPELINES: dict[str, types.FunctionType] = {}


def pipeline(function):
    PIPELINES[function.__name__] = function
    return function


class Squares:
    """Random access: a Float32 pair and its number."""

    def __init__(self, count=5):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return np.array([index, index**2], np.float32), np.int32(index)


class Countdown:
    """Iterable only."""

    def __init__(self, count=4):
        self.count = count

    def __iter__(self):
        for number in range(self.count, 0, -1):
            yield (np.array(number, np.int16),)


def squares(ds, count=5, **settings):
    return ds.GeneratorDataset(Squares(count), ["pair", "number"], shuffle=False, **settings)


def numbers(ds, count=6, name="x", **settings):
    settings.setdefault("shuffle", False)
    return ds.NumpySlicesDataset(np.arange(count, dtype=np.int32), [name], **settings)


class Triples:
    """Random access: three numbers."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return tuple([np.array(index * factor, np.int32) for factor in (1, 10, 100)])


def _two(a, b, info=None):
    return (a, b)


def _one(a):
    return np.int32(a + 1)


def _both(a, b):
    return np.int32(a + 1), np.int32(b + 2)


# -- sources -----------------------------------------------------------------------------------


@pipeline
def generator_random_access(ds, folder):
    return squares(ds)


@pipeline
def generator_iterable(ds, folder):
    return ds.GeneratorDataset(Countdown(), ["n"])


@pipeline
def generator_function(ds, folder):
    def rows():
        for number in range(3):
            yield number, float(number), "text", True, b"raw", [1, 2]

    return ds.GeneratorDataset(rows, ["int", "float", "text", "bool", "raw", "list"])


@pipeline
def generator_column_types(ds, folder):
    return ds.GeneratorDataset(lambda: iter([(1.5, 2)]), ["a", "b"])


@pipeline
def generator_single_value(ds, folder):
    return ds.GeneratorDataset([np.arange(2), np.arange(3)], ["a"], shuffle=False)


@pipeline
def generator_list_of_tuples(ds, folder):
    return ds.GeneratorDataset([(1, 2), (3, 4)], column_names=["a", "b"], shuffle=False)


@pipeline
def generator_too_few_columns(ds, folder):
    return ds.GeneratorDataset(Squares(), ["only"], shuffle=False)


@pipeline
def generator_num_samples(ds, folder):
    return squares(ds, num_samples=3)


@pipeline
def generator_shard(ds, folder):
    return squares(ds, num_shards=2, shard_id=1)


@pipeline
def generator_shard_and_samples(ds, folder):
    return squares(ds, num_shards=2, shard_id=0, num_samples=2)


@pipeline
def generator_shard_of_iterable(ds, folder):
    return ds.GeneratorDataset(Countdown(), ["n"], num_shards=2, shard_id=0)


@pipeline
def generator_shard_without_id(ds, folder):
    return squares(ds, num_shards=2)


@pipeline
def generator_sampler_and_shuffle(ds, folder):
    return ds.GeneratorDataset(Squares(), ["a", "b"], shuffle=False, sampler=ds.SequentialSampler())


@pipeline
def generator_dictionary_rows(ds, folder):
    return ds.GeneratorDataset(
        [{"a": np.int32(1), "b": {"c": 2}}], column_names=["row"], shuffle=False
    )


@pipeline
def generator_duplicate_columns(ds, folder):
    return ds.GeneratorDataset(Squares(), ["a", "a"], shuffle=False)


@pipeline
def generator_without_columns(ds, folder):
    return ds.GeneratorDataset(Squares())


@pipeline
def generator_of_nothing(ds, folder):
    return ds.GeneratorDataset(None, ["a"])


@pipeline
def generator_that_raises(ds, folder):
    class Bad(Squares):
        def __getitem__(self, index):
            raise KeyError("broken row")

    return ds.GeneratorDataset(Bad(), ["a", "b"], shuffle=False)


@pipeline
def slices_of_dictionary(ds, folder):
    return ds.NumpySlicesDataset({"a": [1, 2], "b": [3.5, 4.5]}, shuffle=False)


@pipeline
def slices_of_tuple(ds, folder):
    return ds.NumpySlicesDataset(([1, 2], [[3, 4], [5, 6]]), ["a", "b"], shuffle=False)


@pipeline
def slices_without_names(ds, folder):
    return ds.NumpySlicesDataset(([1, 2], ["a", "b"]), shuffle=False)


@pipeline
def slices_of_list(ds, folder):
    return ds.NumpySlicesDataset([[1, 2], [3, 4]], shuffle=False)


@pipeline
def slices_of_different_length(ds, folder):
    return ds.NumpySlicesDataset(([1, 2], [3]), shuffle=False)


@pipeline
def padded(ds, folder):
    data = [{"a": np.array([1], np.int32)}, {"a": np.array([2], np.int32)}]
    return ds.PaddedDataset(data)


@pipeline
def padded_behind_data(ds, folder):
    real = ds.GeneratorDataset(lambda: iter([(np.array([k], np.int32),) for k in range(3)]), ["a"])
    extra = ds.PaddedDataset([{"a": np.array([90], np.int32)}, {"a": np.array([91], np.int32)}])
    return real + extra


# -- samplers ----------------------------------------------------------------------------------


@pipeline
def sampler_sequential(ds, folder):
    return numbers(ds, shuffle=None, sampler=ds.SequentialSampler(start_index=1, num_samples=3))


@pipeline
def sampler_subset(ds, folder):
    return numbers(ds, shuffle=None, sampler=ds.SubsetSampler([3, 0, 0]))


@pipeline
def sampler_subset_outside(ds, folder):
    return numbers(ds, shuffle=None, sampler=ds.SubsetSampler([3, 9]))


@pipeline
def sampler_of_indices(ds, folder):
    return numbers(ds, shuffle=None, sampler=[5, 1])


@pipeline
def sampler_distributed(ds, folder):
    return [
        rows_of(numbers(ds, 5, shuffle=None, sampler=ds.DistributedSampler(3, shard, False)))
        for shard in range(3)
    ]


@pipeline
def sampler_distributed_offset(ds, folder):
    sampler = ds.DistributedSampler(3, 0, shuffle=False, offset=1)
    return numbers(ds, 5, shuffle=None, sampler=sampler)


@pipeline
def sampler_distributed_samples(ds, folder):
    sampler = ds.DistributedSampler(2, 1, shuffle=False, num_samples=2)
    return numbers(ds, 7, shuffle=None, sampler=sampler)


@pipeline
def sampler_of_user(ds, folder):
    class Backwards(ds.Sampler):
        def __iter__(self):
            yield from range(self.dataset_size - 1, -1, -1)

    return numbers(ds, shuffle=None, sampler=Backwards())


@pipeline
def sampler_of_user_limited(ds, folder):
    class Backwards(ds.Sampler):
        def __iter__(self):
            yield from range(self.dataset_size - 1, -1, -1)

    return numbers(ds, shuffle=None, sampler=Backwards(num_samples=2))


@pipeline
def sampler_iterable(ds, folder):
    return numbers(ds, shuffle=None, sampler=ds.IterSampler([4, 2]))


@pipeline
def sampler_with_child(ds, folder):
    sampler = ds.SequentialSampler(start_index=0, num_samples=2)
    sampler.add_child(ds.SubsetSampler([4, 3, 2]))
    return numbers(ds, shuffle=None, sampler=sampler)


@pipeline
def sampler_random_wrong(ds, folder):
    return ds.RandomSampler(replacement=3)


@pipeline
def sampler_pk(ds, folder):
    return ds.ImageFolderDataset(str(folder / "images"), sampler=ds.PKSampler(1)).project("label")


# -- operations --------------------------------------------------------------------------------


@pipeline
def batch(ds, folder):
    return squares(ds).batch(2)


@pipeline
def batch_drop(ds, folder):
    return squares(ds).batch(2, drop_remainder=True)


@pipeline
def batch_larger_than_data(ds, folder):
    return squares(ds).batch(9)


@pipeline
def batch_larger_dropped(ds, folder):
    return squares(ds).batch(9, True)


@pipeline
def batch_of_function(ds, folder):
    return numbers(ds, 6).batch(lambda info: info.get_batch_num() + 1)


@pipeline
def batch_mapped_to_new_columns(ds, folder):
    def change(pair, info):
        return [value[:1] for value in pair], [value[1:] for value in pair]

    return squares(ds).batch(
        2, per_batch_map=change, input_columns=["pair"], output_columns=["first", "second"]
    )


@pipeline
def batch_of_texts(ds, folder):
    return ds.NumpySlicesDataset({"t": ["a", "bcd", "ef"]}, shuffle=False).batch(2)


@pipeline
def batch_uneven(ds, folder):
    return ds.GeneratorDataset([np.arange(2), np.arange(3)], ["a"], shuffle=False).batch(2)


@pipeline
def batch_zero(ds, folder):
    return squares(ds).batch(0)


@pipeline
def batch_not_a_number(ds, folder):
    return squares(ds).batch("2")


@pipeline
def batch_padded(ds, folder):
    data = ds.GeneratorDataset([np.arange(2), np.arange(3), np.arange(1)], ["a"], shuffle=False)
    return data.padded_batch(2, pad_info={"a": ([4], -1)})


@pipeline
def batch_padded_to_longest(ds, folder):
    data = ds.GeneratorDataset([np.arange(2), np.arange(3), np.arange(1)], ["a"], shuffle=False)
    return data.padded_batch(2, pad_info={})


@pipeline
def batch_padded_and_cut(ds, folder):
    data = ds.GeneratorDataset([np.arange(2), np.arange(3), np.arange(1)], ["a"], shuffle=False)
    data = data.map(lambda a: (a, a, a), ["a"], ["a", "b", "c"])
    return data.padded_batch(2, pad_info={"a": ([2], -1), "b": None, "c": ([], 5)})


@pipeline
def bucket(ds, folder):
    data = ds.GeneratorDataset(
        [np.arange(n, dtype=np.int32) for n in (1, 4, 2, 6, 5, 3, 2)], ["a"], shuffle=False
    )
    return data.bucket_batch_by_length(["a"], [3, 5], [2, 2, 1], pad_info={"a": ([None], 9)})


@pipeline
def map_one(ds, folder):
    return squares(ds).map(lambda pair: pair * 2, input_columns=["pair"])


@pipeline
def map_first_columns_by_default(ds, folder):
    return squares(ds).map(lambda pair: pair + 1)


@pipeline
def map_to_fewer_columns(ds, folder):
    return squares(ds, 2).map(lambda p, n: p[:1], ["pair", "number"], ["sum"])


@pipeline
def map_order_of_inputs(ds, folder):
    return squares(ds, 2).map(
        lambda n, p: (n, p), ["number", "pair"], output_columns=["number", "pair"]
    )


@pipeline
def map_to_python_values(ds, folder):
    return numbers(ds, 2).map(lambda x: (1, 2.5, "s", True), ["x"], ["i", "f", "s", "b"])


@pipeline
def map_to_list(ds, folder):
    return numbers(ds, 2).map(lambda x: [int(x), 7], ["x"])


@pipeline
def map_unknown_column(ds, folder):
    return numbers(ds, 2).map(lambda x: x, ["y"])


@pipeline
def map_wrong_count(ds, folder):
    return numbers(ds, 2).map(lambda x: (x, x), ["x"], ["a", "b", "c"])


@pipeline
def map_that_raises(ds, folder):
    def broken(x):
        raise ValueError("this is broken")

    return numbers(ds, 2).map(broken, ["x"])


@pipeline
def map_none(ds, folder):
    return numbers(ds, 2).map(lambda x: None, ["x"])


@pipeline
def map_not_callable(ds, folder):
    return numbers(ds, 2).map(3, ["x"])


@pipeline
def repeat(ds, folder):
    return numbers(ds, 3).repeat(2)


@pipeline
def repeat_of_batches(ds, folder):
    return numbers(ds, 3).batch(2).repeat(2)


@pipeline
def batch_of_repeats(ds, folder):
    return numbers(ds, 3).repeat(2).batch(2)


@pipeline
def repeat_zero(ds, folder):
    return numbers(ds).repeat(0)


@pipeline
def repeat_forever(ds, folder):
    data = numbers(ds, 2).repeat(-1)
    rows = data.create_dict_iterator(1, True)
    first = [int(next(rows)["x"]) for _ in range(5)]
    return [first, data.get_repeat_count()]


@pipeline
def skip(ds, folder):
    return numbers(ds).skip(4)


@pipeline
def skip_everything(ds, folder):
    return numbers(ds).skip(9)


@pipeline
def take(ds, folder):
    return numbers(ds).take(2)


@pipeline
def take_all(ds, folder):
    return numbers(ds).take(-1)


@pipeline
def take_too_many(ds, folder):
    return numbers(ds).take(100)


@pipeline
def take_zero(ds, folder):
    return numbers(ds).take(0)


@pipeline
def take_then_repeat(ds, folder):
    return numbers(ds).skip(1).take(2).repeat(2)


@pipeline
def filtered(ds, folder):
    return numbers(ds).filter(lambda x: x % 2 == 0, input_columns=["x"])


@pipeline
def filtered_by_wrong_type(ds, folder):
    return numbers(ds).filter(lambda x: "yes", input_columns=["x"])


@pipeline
def zipped(ds, folder):
    return ds.zip((numbers(ds, 3), numbers(ds, 5, "y")))


@pipeline
def zipped_by_method(ds, folder):
    return numbers(ds, 3).zip(numbers(ds, 5, "y"))


@pipeline
def zipped_same_names(ds, folder):
    return ds.zip((numbers(ds, 3), numbers(ds, 5)))


@pipeline
def concatenated(ds, folder):
    return numbers(ds, 2) + numbers(ds, 3)


@pipeline
def concatenated_list(ds, folder):
    return numbers(ds, 2).concat([numbers(ds, 1), numbers(ds, 2)]).batch(2)


@pipeline
def concatenated_different_names(ds, folder):
    return numbers(ds, 2) + numbers(ds, 3, "y")


@pipeline
def concatenated_with_sampler(ds, folder):
    data = numbers(ds, 3) + numbers(ds, 4)
    data.use_sampler(ds.DistributedSampler(2, 1, shuffle=False))
    return data


@pipeline
def renamed(ds, folder):
    return squares(ds, 2).rename(["pair", "number"], ["number", "n"])


@pipeline
def renamed_unknown(ds, folder):
    return squares(ds, 2).rename("nothing", "n")


@pipeline
def renamed_to_existing(ds, folder):
    return squares(ds, 2).rename("pair", "number")


@pipeline
def projected(ds, folder):
    return squares(ds, 2).project(["number", "pair"])


@pipeline
def projected_unknown(ds, folder):
    return squares(ds, 2).project(["nothing"])


@pipeline
def split_exact(ds, folder):
    return [rows_of(part) for part in numbers(ds).split([4, 2], randomize=False)]


@pipeline
def split_fractions(ds, folder):
    return [rows_of(part) for part in numbers(ds, 7).split([0.6, 0.4], randomize=False)]


@pipeline
def split_wrong_sum(ds, folder):
    return [rows_of(part) for part in numbers(ds, 7).split([4, 2], randomize=False)]


@pipeline
def split_of_pipeline(ds, folder):
    parts = numbers(ds, 6).map(lambda x: np.int32(x + 1), ["x"]).split([0.5, 0.5], randomize=False)
    return [rows_of(part) for part in parts]


@pipeline
def shuffle_of_one(ds, folder):
    return numbers(ds, 3).shuffle(1)


@pipeline
def applied(ds, folder):
    return numbers(ds, 3).apply(lambda data: data.batch(2))


# -- iterators ---------------------------------------------------------------------------------


@pipeline
def epochs_of_one_iterator(ds, folder):
    iterator = numbers(ds, 2).create_tuple_iterator(num_epochs=2, output_numpy=True)
    return [[int(row[0]) for row in iterator] for _ in range(2)]


@pipeline
def epochs_past_the_end(ds, folder):
    iterator = numbers(ds, 2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    return [[int(row[0]) for row in iterator] for _ in range(2)]


@pipeline
def chosen_columns(ds, folder):
    rows = squares(ds, 2).create_tuple_iterator(["number"], num_epochs=1, output_numpy=True)
    return [[int(value) for value in row] for row in rows]


@pipeline
def chosen_columns_unknown(ds, folder):
    rows = squares(ds, 2).create_tuple_iterator(["nothing"], num_epochs=1, output_numpy=True)
    return [[int(value) for value in row] for row in rows]


@pipeline
def iterated_directly(ds, folder):
    return [[str(value.dtype) for value in row] for row in squares(ds, 2)]


@pipeline
def kinds_in_tensors(ds, folder):
    data = ds.GeneratorDataset([(1, 2.5, "s", True)], ["i", "f", "s", "b"], shuffle=False)
    row = next(data.create_dict_iterator(num_epochs=1))
    # Texts are arrays that have `asnumpy`, as the Tensors of 2.7 have.
    kinds = {name: [kind.__name__ for kind in type(value).__mro__] for name, value in row.items()}
    return {
        name: ["ndarray" if "ndarray" in kinds[name] else kinds[name][0], str(value.dtype)]
        for name, value in row.items()
    }


@pipeline
def number_of_epochs_wrong(ds, folder):
    return list(numbers(ds, 2).create_dict_iterator(num_epochs=0))


@pipeline
def length(ds, folder):
    return len(numbers(ds, 5).batch(2))


@pipeline
def facts(ds, folder):
    data = squares(ds).batch(2).repeat(3)
    names = [type(child).__name__ for child in data.children]
    return [data.get_batch_size(), data.get_repeat_count(), data.get_dataset_size(), names]


# -- files -------------------------------------------------------------------------------------


@pipeline
def mnist(ds, folder):
    return ds.MnistDataset(str(folder / "mnist"), "train", shuffle=False)


@pipeline
def mnist_shard(ds, folder):
    return ds.MnistDataset(
        str(folder / "mnist"), usage="train", shuffle=False, num_shards=2, shard_id=1
    )


@pipeline
def mnist_all(ds, folder):
    return ds.MnistDataset(str(folder / "mnist"), shuffle=False).project("label")


@pipeline
def fashion_mnist(ds, folder):
    return ds.FashionMnistDataset(str(folder / "mnist"), "train", num_samples=2, shuffle=False)


@pipeline
def mnist_missing(ds, folder):
    return ds.MnistDataset(str(folder / "nowhere"), "train")


@pipeline
def mnist_wrong_usage(ds, folder):
    return ds.MnistDataset(str(folder / "mnist"), "validation")


@pipeline
def image_folder(ds, folder):
    return ds.ImageFolderDataset(str(folder / "images"), shuffle=False, decode=True)


@pipeline
def image_folder_bytes(ds, folder):
    return ds.ImageFolderDataset(str(folder / "images"), shuffle=False, num_samples=1)


@pipeline
def image_folder_classes(ds, folder):
    data = ds.ImageFolderDataset(
        str(folder / "images"), shuffle=False, class_indexing={"cat": 7, "dog": 3}
    )
    return [rows_of(data.project(["label"])), data.get_class_indexing(), data.num_classes()]


@pipeline
def image_folder_facts(ds, folder):
    data = ds.ImageFolderDataset(str(folder / "images"), extensions=[".png"])
    return [data.get_dataset_size(), data.num_classes(), data.get_class_indexing()]


@pipeline
def text_file(ds, folder):
    return ds.TextFileDataset([str(folder / "a.txt"), str(folder / "b.txt")], shuffle=False)


@pipeline
def text_file_shard(ds, folder):
    files = [str(folder / "a.txt"), str(folder / "b.txt")]
    return ds.TextFileDataset(files, shuffle=False, num_shards=2, shard_id=1)


@pipeline
def text_file_samples(ds, folder):
    files = [str(folder / "a.txt"), str(folder / "b.txt")]
    return ds.TextFileDataset(files, shuffle=False, num_samples=4)


@pipeline
def csv(ds, folder):
    return ds.CSVDataset(str(folder / "a.csv"), shuffle=False)


@pipeline
def csv_types(ds, folder):
    return ds.CSVDataset(
        str(folder / "b.csv"),
        column_defaults=[0, 0.0, ""],
        column_names=["i", "f", "s"],
        shuffle=False,
        field_delim=";",
    )


@pipeline
def tfrecord(ds, folder):
    return ds.TFRecordDataset(str(folder / "a.tfrecord"), shuffle=False)


@pipeline
def tfrecord_schema(ds, folder):
    schema = ds.Schema()
    schema.add_column("label", "int32", [1])
    schema.add_column("values", "float32", [3])
    schema.add_column("name", "string")
    return ds.TFRecordDataset(str(folder / "a.tfrecord"), schema, shuffle=False)


@pipeline
def tfrecord_schema_shaped(ds, folder):
    schema = ds.Schema()
    schema.add_column("values", "float32", [3, 1])
    return ds.TFRecordDataset(str(folder / "a.tfrecord"), schema, shuffle=False)


@pipeline
def tfrecord_columns(ds, folder):
    return ds.TFRecordDataset(
        str(folder / "a.tfrecord"), columns_list=["values", "label"], shuffle=False
    )


@pipeline
def tfrecord_shard(ds, folder):
    files = [str(folder / "a.tfrecord"), str(folder / "b.tfrecord")]
    return ds.TFRecordDataset(
        files, columns_list=["label"], shuffle=False, num_shards=2, shard_id=1
    )


@pipeline
def tfrecord_shard_equal(ds, folder):
    files = [str(folder / "a.tfrecord"), str(folder / "b.tfrecord")]
    return ds.TFRecordDataset(
        files, None, ["label"], shuffle=False, num_shards=2, shard_id=1, shard_equal_rows=True
    )


@pipeline
def mindrecord(ds, folder):
    return ds.MindDataset(str(folder / "a.mindrecord"), shuffle=False)


@pipeline
def mindrecord_columns(ds, folder):
    return ds.MindDataset(
        str(folder / "a.mindrecord"), columns_list=["text", "data"], shuffle=False
    )


@pipeline
def mindrecord_shard(ds, folder):
    return ds.MindDataset(
        str(folder / "a.mindrecord"), ["label"], shuffle=False, num_shards=2, shard_id=1
    )


@pipeline
def mindrecord_sampler(ds, folder):
    return ds.MindDataset(str(folder / "a.mindrecord"), ["label"], sampler=ds.SubsetSampler([3, 1]))


@pipeline
def mindrecord_padded(ds, folder):
    return ds.MindDataset(
        str(folder / "a.mindrecord"),
        ["label"],
        shuffle=False,
        num_shards=2,
        shard_id=1,
        padded_sample={"label": -1},
        num_padded=1,
    )


@pipeline
def mindrecord_many_files(ds, folder):
    return ds.MindDataset(str(folder / "many.mindrecord0"), shuffle=False)


@pipeline
def generator_rows_of_lists(ds, folder):
    return ds.GeneratorDataset([[1, 2], [3, 4]], ["a", "b"], shuffle=False)


@pipeline
def generator_list_as_one_column(ds, folder):
    return ds.GeneratorDataset([[1, 2], [3, 4]], ["a"], shuffle=False)


@pipeline
def generator_iterable_shuffled(ds, folder):
    return ds.GeneratorDataset(Countdown(), ["n"], shuffle=True)


@pipeline
def generator_iterable_samples(ds, folder):
    return ds.GeneratorDataset(Countdown(), ["n"], num_samples=2)


@pipeline
def generator_pk_sampler(ds, folder):
    return ds.GeneratorDataset(Squares(), ["a", "b"], sampler=ds.PKSampler(2))


@pipeline
def generator_batch_sampler(ds, folder):
    return ds.GeneratorDataset(Squares(), ["a", "b"], batch_sampler=[[0, 2], [3, 1, 4]])


@pipeline
def batch_mapped(ds, folder):
    def change(x, info):
        total = info.get_epoch_num() * 100 + info.get_batch_num()
        return ([np.int16(int(value) * 10 + total) for value in x],)

    return numbers(ds, 5).batch(2, per_batch_map=change, input_columns=["x"])


@pipeline
def bucket_to_boundary(ds, folder):
    data = ds.GeneratorDataset(
        [np.arange(n, dtype=np.int32) for n in (1, 4, 2, 3)], ["a"], shuffle=False
    )
    return data.bucket_batch_by_length(
        ["a"], [3, 6], [2, 2, 1], lambda a: len(a), {"a": ([None], 0)}, True, True
    )


@pipeline
def epoch_numbers_in_batches(ds, folder):
    seen = []

    def change(x, info):
        seen.append((info.get_epoch_num(), info.get_batch_num()))
        return (x,)

    data = numbers(ds, 4).batch(2, per_batch_map=change, input_columns=["x"]).repeat(2)
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        for _ in iterator:
            pass
    return sorted(seen)


@pipeline
def map_to_more_columns(ds, folder):
    return squares(ds, 2).map(lambda n: (n, np.float32(n)), ["number"], ["n", "next"])


@pipeline
def map_then_project(ds, folder):
    data = squares(ds, 2).map(lambda n: (n, np.float32(n)), ["number"], ["n", "next"])
    return data.project(["next", "pair", "n"])


@pipeline
def map_to_another_name(ds, folder):
    return squares(ds, 2).map(lambda n: n, ["number"], ["n"])


@pipeline
def map_to_other_names(ds, folder):
    return squares(ds, 2).map(lambda n, p: (n, p), ["number", "pair"], ["n", "p"])


@pipeline
def map_chain(ds, folder):
    operations = [lambda x: np.int32(x + 1), lambda x: (x, np.float32(x))]
    return numbers(ds, 3).map(operations, ["x"], ["x", "y"])


@pipeline
def map_columns_as_text(ds, folder):
    return numbers(ds, 2).map(operations=lambda x: x, input_columns="x", output_columns="y")


@pipeline
def map_to_wider_rows(ds, folder):
    return numbers(ds, 2).map(lambda x: (x, x), ["x"])


@pipeline
def skip_in_batches(ds, folder):
    return numbers(ds, 7).batch(2).skip(1).take(2)


@pipeline
def text_file_one_worker(ds, folder):
    files = [str(folder / "a.txt"), str(folder / "b.txt")]
    return ds.TextFileDataset(files, shuffle=False, num_parallel_workers=1)


@pipeline
def slices_num_samples_zero(ds, folder):
    return numbers(ds, 3, num_samples=0)


@pipeline
def slices_num_samples_negative(ds, folder):
    return numbers(ds, 3, num_samples=-1)


@pipeline
def slices_num_samples_large(ds, folder):
    return numbers(ds, 3, num_samples=9)


@pipeline
def mindrecord_integers(ds, folder):
    return ds.MindDataset(str(folder / "integers.mindrecord"), shuffle=False)


@pipeline
def mindrecord_missing(ds, folder):
    return ds.MindDataset(str(folder / "nowhere.mindrecord"))


@pipeline
def mindrecord_unknown_column(ds, folder):
    return ds.MindDataset(str(folder / "a.mindrecord"), ["nothing"])


@pipeline
def mindrecord_list_of_files(ds, folder):
    files = [str(folder / "many.mindrecord1"), str(folder / "many.mindrecord0")]
    return ds.MindDataset(files, ["label"], shuffle=False)


@pipeline
def mindrecord_samples(ds, folder):
    return ds.MindDataset(
        str(folder / "a.mindrecord"), ["label"], shuffle=False, num_samples=3
    ).batch(2)


# -- looking at them ---------------------------------------------------------------------------


def rows_of(data):
    return [
        [plain(value) for value in row]
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]


def plain(value):
    """A column of a row as JSON has it: dtype, shape, values."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    value = np.asarray(value)
    kind = value.dtype.str[1:] if value.dtype.kind in "US" else str(value.dtype)
    values = [v.decode() if isinstance(v, bytes) else v for v in value.ravel().tolist()]
    if len(values) > 40:
        values = [len(values), float(np.sum(value, dtype=np.float64))]
    return [kind, list(value.shape), values]


def answer(name: str, ds, folder: pathlib.Path):
    """What a pipeline gives; of an error its kind."""
    try:
        made = PIPELINES[name](ds, folder)
    except Exception as error:
        return {"refused": kind_of(error)}
    if not hasattr(made, "create_dict_iterator"):
        return {"value": json.loads(json.dumps(made, default=str))}
    try:
        found = {
            "columns": list(made.get_col_names()),
            "rows": rows_of(made),
            "size": made.get_dataset_size(),
            "types": [str(np.dtype(kind)) if kind is not str else "str" for kind in types_of(made)],
            "shapes": made.output_shapes(),
            "repeat": made.get_repeat_count(),
            "batch": made.get_batch_size(),
        }
    except Exception as error:
        return {"failed": kind_of(error)}
    return json.loads(json.dumps(found))


def types_of(made):
    return [np.dtype("U") if str(kind).startswith("<U") else kind for kind in made.output_types()]


def kind_of(error: Exception) -> str:
    return next(
        kind.__name__
        for kind in (TypeError, ValueError, KeyError, StopIteration, RuntimeError, Exception)
        if isinstance(error, kind)
    )


# -- small files -------------------------------------------------------------------------------


def write_files(folder: pathlib.Path) -> None:
    """Everything the pipelines read but what only MindSpore can write."""
    rng = np.random.default_rng(3)
    _write_mnist(folder / "mnist", rng)
    _write_cifar(folder, rng)
    (folder / "a.txt").write_text("one\ntwo\n\nthree\n")
    (folder / "b.txt").write_text("vier\nfünf")
    (folder / "a.csv").write_text('x,y\n1,a\n2,"b,c"\n')
    (folder / "b.csv").write_text("1;2.5;x\n3;4;y\n")


def _write_mnist(folder, rng):
    folder.mkdir()
    for kind, count in (("train", 5), ("t10k", 3)):
        images = rng.integers(0, 255, (count, 28, 28), np.uint8)
        labels = np.arange(count, dtype=np.uint8)
        (folder / f"{kind}-images-idx3-ubyte").write_bytes(
            struct.pack(">4i", 2051, count, 28, 28) + images.tobytes()
        )
        (folder / f"{kind}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2i", 2049, count) + labels.tobytes()
        )


def _write_cifar(folder, rng):
    (folder / "cifar10").mkdir()
    for number in range(1, 6):
        rows = rng.integers(0, 10, (2, 1 + 3072), np.uint8)
        (folder / "cifar10" / f"data_batch_{number}.bin").write_bytes(rows.tobytes())
    rows = rng.integers(0, 10, (2, 1 + 3072), np.uint8)
    (folder / "cifar10" / "test_batch.bin").write_bytes(rows.tobytes())
    (folder / "cifar100").mkdir()
    for name in ("train", "test"):
        rows = rng.integers(0, 20, (3, 2 + 3072), np.uint8)
        (folder / "cifar100" / f"{name}.bin").write_bytes(rows.tobytes())


# -- names of columns --------------------------------------------------------------------------


def _renaming(name, function, inputs, outputs):
    def made(ds, folder):
        data = ds.GeneratorDataset(Triples(), ["a", "b", "c"], shuffle=False)
        if function is _two:
            settings = {"input_columns": inputs, "output_columns": outputs}
            data = data.batch(2, per_batch_map=function, **settings)
        else:
            data = data.map(function, inputs, outputs)
        return [data.get_col_names(), rows_of(data)]

    made.__name__ = f"columns_{name}"
    pipeline(made)


_renaming("one_over_another", _one, ["a"], ["b"])
_renaming("one_over_the_first", _one, ["c"], ["a"])
_renaming("exchanged", _both, ["a", "b"], ["b", "a"])
_renaming("exchanged_apart", _both, ["c", "a"], ["a", "c"])
_renaming("of_batches_exchanged", _two, ["a", "b"], ["b", "a"])


@pipeline
def samplers_added(ds, folder):
    found = []
    for first, second in (
        (lambda: ds.SequentialSampler(2, 3), lambda: ds.SubsetSampler([0, 2])),
        (lambda: ds.SubsetSampler([5, 3, 1]), lambda: ds.SubsetSampler([1])),
        (lambda: ds.SequentialSampler(1), lambda: ds.DistributedSampler(2, 1, False)),
    ):
        data = numbers(ds, 8)
        data.use_sampler(first())
        data.add_sampler(second())
        found.append(rows_of(data))
    return found


@pipeline
def schema_parsed_twice(ds, folder):
    schema = ds.Schema()
    schema.add_column("x", "int32", [2])
    before = json.loads(schema.to_json())
    schema.parse_columns([{"name": "z", "type": "int8", "shape": [3]}])
    return [before, json.loads(schema.to_json())]


@pipeline
def to_the_boundary_without_pad_info(ds, folder):
    data = ds.GeneratorDataset(Lengths(), ["v"], shuffle=False)
    settings = {"pad_to_bucket_boundary": True}
    return data.bucket_batch_by_length(["v"], [5, 10], [2, 2, 2], **settings)


class Lengths:
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return np.arange(index + 1, dtype=np.int32)


@pipeline
def generator_batches_collated(ds, folder):
    def collate(pairs, numbers):
        return np.stack(pairs[::-1]), np.stack(numbers) * 10

    sampler = [[0, 2], [3, 1, 4]]
    return ds.GeneratorDataset(Squares(), ["a", "b"], batch_sampler=sampler, collate_fn=collate)


@pipeline
def bucket_to_boundary_with_a_whole_shape(ds, folder):
    rows = [(np.arange(n, dtype=np.int32), np.full((n, 4), n, np.int32)) for n in (1, 4, 2, 3)]
    data = ds.GeneratorDataset(rows, ["a", "b"], shuffle=False)
    pads = {"a": ([None], 9), "b": (None, 0)}
    return data.bucket_batch_by_length(["a"], [3, 6], [2, 2, 1], len, pads, True, True)
