# SPDX-License-Identifier: Apache-2.0
"""Programs with names that few programs use; in all else as pipelines.py, which runs them."""

from __future__ import annotations

import functools
import os
import shutil

import numpy as np

from dataset.pipelines import kind_of, numbers, pipeline, rows_of

WORDS = "deep 1 2 3\nlearning 4 5 6\nsea 7 8 9\nlearning 0 0 0\n"


def kinds(*attempts):
    """What each attempt gives; of an error its kind."""
    found = []
    for attempt in attempts:
        try:
            made = attempt()
        except Exception as error:
            made = kind_of(error)
        found.append(made)
    return found


# -- sources -----------------------------------------------------------------------------------


@pipeline
def kmnist(ds, folder):
    return ds.KMnistDataset(str(folder / "mnist"), "test", shuffle=False)


@pipeline
def kmnist_shard_of_all(ds, folder):
    data = ds.KMnistDataset(str(folder / "mnist"), shuffle=False, num_shards=3, shard_id=2)
    return data.project("label")


@pipeline
def kmnist_refused(ds, folder):
    return kinds(
        lambda: ds.KMnistDataset(str(folder / "mnist"), "valid"),
        lambda: ds.KMnistDataset(str(folder / "nowhere")),
        lambda: rows_of(ds.KMnistDataset(str(folder / "images"), "train")),
    )


def faces(folder):
    """Four images in a folder of their own; the second one is of the part `valid`."""
    made = folder / "celeba"
    if not made.exists():
        made.mkdir()
        source = sorted((folder / "images").rglob("*.png"))[0]
        for number in range(1, 5):
            shutil.copy(source, made / f"{number:06}.png")
        names = [f"{number:06}.png" for number in range(1, 5)]
        attributes = [["-1"] * 40 for _ in names]
        for number in range(4):
            attributes[number][number * 7] = attributes[number][39] = "1"
        lines = [f"{name}  {' '.join(row)}" for name, row in zip(names, attributes, strict=True)]
        head = ["4", " ".join(f"Trait_{number}" for number in range(40))]
        (made / "list_attr_celeba.txt").write_text("\n".join([*head, *lines]) + "\n")
        parts = [f"{name} {part}" for name, part in zip(names, (0, 1, 2, 0), strict=True)]
        (made / "list_eval_partition.txt").write_text("\n".join(parts) + "\n")
    return str(made)


@pipeline
def celeba(ds, folder):
    return ds.CelebADataset(faces(folder), shuffle=False)


@pipeline
def celeba_decoded_part(ds, folder):
    return ds.CelebADataset(faces(folder), shuffle=False, usage="train", decode=True)


@pipeline
def celeba_sizes(ds, folder):
    made = functools.partial(ds.CelebADataset, faces(folder))
    return [
        made(usage="valid").get_dataset_size(),
        made(usage="test").get_dataset_size(),
        made(num_samples=3).get_dataset_size(),
        made(num_shards=3, shard_id=0).get_dataset_size(),
        made(extensions=[".png"]).get_dataset_size(),
        len(rows_of(made(sampler=ds.SubsetSampler([3, 0])))),
    ]


@pipeline
def celeba_refused(ds, folder):
    return kinds(
        lambda: ds.CelebADataset(faces(folder), usage="training"),
        lambda: ds.CelebADataset(faces(folder), usage=None).get_dataset_size(),
        lambda: ds.CelebADataset(faces(folder), decode=1),
        lambda: ds.CelebADataset(faces(folder), extensions=".png"),
        lambda: ds.CelebADataset(str(folder / "nowhere")),
        lambda: rows_of(ds.CelebADataset(str(folder / "mnist"))),
        lambda: rows_of(ds.CelebADataset(faces(folder), extensions=[".jpg"])),
    )


@pipeline
def fake_images(ds, folder):
    made = functools.partial(ds.FakeImageDataset, 4, (5, 6, 3), 3, shuffle=False)
    columns = np.array([row[0] for row in rows_of_arrays(made(base_seed=1))])
    again = np.array([row[0] for row in rows_of_arrays(made(base_seed=1))])
    other = np.array([row[0] for row in rows_of_arrays(made(base_seed=2))])
    labels = [row[1] for row in rows_of_arrays(made())]
    return [
        str(columns.dtype),
        columns.shape,
        bool((columns == again).all()),
        bool((columns == other).all()),
        bool((columns[0] == columns[1]).all()),
        {str(label.dtype) for label in labels} == {"uint32"},
        all(label < 3 for label in labels),
        made(num_shards=3, shard_id=1).get_dataset_size(),
        made().get_col_names(),
        made().get_dataset_size(),
    ]


def rows_of_arrays(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


@pipeline
def fake_images_refused(ds, folder):
    return kinds(
        lambda: ds.FakeImageDataset(0).get_dataset_size(),
        lambda: ds.FakeImageDataset("2").get_dataset_size(),
        lambda: ds.FakeImageDataset(2, (4, 4)).get_dataset_size(),
        lambda: ds.FakeImageDataset(2, (4, 0, 3)).get_dataset_size(),
        lambda: ds.FakeImageDataset(2, 4).get_dataset_size(),
        lambda: ds.FakeImageDataset(2, (4, 4, 3), 0).get_dataset_size(),
        lambda: len(rows_of(ds.FakeImageDataset(2, (4, 4, 3), 2, -1))),
    )


@pipeline
def concat_dataset(ds, folder):
    return ds.ConcatDataset([numbers(ds, 2), numbers(ds, 3), numbers(ds, 1)])


@pipeline
def concat_dataset_shard(ds, folder):
    data = ds.ConcatDataset([numbers(ds, 2), numbers(ds, 3)])
    data.use_sampler(ds.DistributedSampler(2, 1, shuffle=False))
    return data


@pipeline
def concat_dataset_refused(ds, folder):
    made = lambda: ds.ConcatDataset([numbers(ds, 2), numbers(ds, 3)])  # noqa: E731
    return kinds(
        lambda: rows_of(ds.ConcatDataset([numbers(ds, 2), numbers(ds, 2, "y")])),
        lambda: made().use_sampler(3),
        lambda: made().use_sampler(ds.RandomSampler(replacement=True)),
        lambda: made().use_sampler(ds.DistributedSampler(2, 1, shuffle=True)),
    )


# -- what programs hold ------------------------------------------------------------------------


@pipeline
def subset_random_sampler(ds, folder):
    def drawn(*given, **more):
        data = numbers(ds, 6, shuffle=None, sampler=ds.SubsetRandomSampler(*given, **more))
        return sorted(int(row[0]) for row in rows_of_arrays(data)), data.get_dataset_size()

    many = [5, 0, 3, 1]
    return kinds(
        lambda: drawn(many),
        lambda: drawn([2, 2, 4]),
        lambda: drawn((5, 1), num_samples=9),
        lambda: len(drawn(many, num_samples=2)[0]),
        lambda: set(drawn(many, num_samples=2)[0]) <= set(many),
        lambda: drawn(3),
        lambda: drawn([0, 6]),
        lambda: drawn([0, -1]),
        lambda: drawn([0.5]),
    )


@pipeline
def iterators_by_their_names(ds, folder):
    data = ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)
    as_dictionary = ds.DictIterator(data, 1, True)
    as_tuple = ds.TupleIterator(data, ["y"], 1, True)
    both = ds.TupleIterator(data, num_epochs=1, output_numpy=True, do_copy=True)
    return [
        [{name: int(value) for name, value in row.items()} for row in as_dictionary],
        [[int(value) for value in row] for row in as_tuple],
        [[int(value) for value in row] for row in both],
        isinstance(data.create_dict_iterator(), ds.DictIterator),
        isinstance(data.create_tuple_iterator(), ds.TupleIterator),
        isinstance(as_tuple, ds.DictIterator),
        *kinds(
            lambda: ds.TupleIterator(data, 3),
            lambda: ds.DictIterator(data, 0),
            lambda: next(ds.DictIterator(data, 1, False, True)) is not None,
        ),
    ]


@pipeline
def batch_info(ds, folder):
    seen = []

    def look(column, info):
        seen.append((info.get_epoch_num(), info.get_batch_num()))
        return (column,)

    data = numbers(ds, 5).batch(2, per_batch_map=look, input_columns=["x"], num_parallel_workers=1)
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        list(iterator)
    return sorted(seen)


@pipeline
def debug_hook_has_to_compute(ds, folder):
    class Idle(ds.DebugHook):
        pass

    return kinds(ds.DebugHook, Idle)


# -- images with boxes -------------------------------------------------------------------------


def with_boxes(ds, operation, *boxes):
    def rows():
        image = np.full((6, 5, 3), 90, np.uint8)
        yield image, np.array(boxes, np.float32)

    data = ds.GeneratorDataset(rows, ["image", "box"])
    return data.map(operation, ["image", "box"])


@pipeline
def random_resize_with_boxes(ds, folder):
    return with_boxes(ds, ds.vision.RandomResizeWithBBox((12, 15)), [1, 2, 3, 4], [0, 0, 5, 6])


@pipeline
def random_resize_with_boxes_by_the_shorter_side(ds, folder):
    return with_boxes(ds, ds.vision.RandomResizeWithBBox(10), [1, 2, 3, 4, 7])


@pipeline
def random_resized_crop_with_boxes(ds, folder):
    crop = ds.vision.RandomResizedCropWithBBox((12, 10), (1.0, 1.0), (5 / 6, 5 / 6))
    return with_boxes(ds, crop, [1, 2, 3, 4], [0, 0, 5, 6])


@pipeline
def random_resized_crop_with_boxes_of_the_middle(ds, folder):
    # No such rectangle fits, so that the middle is taken.
    crop = ds.vision.RandomResizedCropWithBBox(
        4, (1.0, 1.0), (4.0, 4.0), ds.vision.Inter.NEAREST, max_attempts=1
    )
    return with_boxes(ds, crop, [1, 1, 3, 4])


@pipeline
def boxes_refused(ds, folder):
    resize, crop = ds.vision.RandomResizeWithBBox, ds.vision.RandomResizedCropWithBBox
    return kinds(
        lambda: resize(0),
        lambda: resize((3, 3, 3)),
        lambda: resize("3"),
        lambda: crop(0),
        lambda: crop(3, (1.0, 0.5)),
        lambda: crop(3, ratio=(0.0, 0.0)),
        lambda: crop(3, interpolation=2),
        lambda: crop(3, max_attempts=0),
        lambda: rows_of(with_boxes(ds, resize(4), [1, 1, 9, 9])),
        lambda: rows_of(with_boxes(ds, crop(4), [-1, 1, 2, 2])),
    )


@pipeline
def write_file(ds, folder):
    path = str(folder / "written.bin")

    def written(data):
        ds.vision.write_file(path, data)
        return list((folder / "written.bin").read_bytes())

    found = kinds(
        lambda: written(np.array([3, 0, 255], np.uint8)),
        lambda: written(np.array([7], np.uint8)),
        lambda: written(np.array([], np.uint8)),
        lambda: written(np.array([1], np.int32)),
        lambda: written(np.zeros((2, 2), np.uint8)),
        lambda: written([1, 2]),
        lambda: ds.vision.write_file(3, np.array([7], np.uint8)),
        lambda: ds.vision.write_file(str(folder / "no" / "a"), np.array([7], np.uint8)),
    )
    os.remove(path)
    return found


# -- texts -------------------------------------------------------------------------------------


def vectors_of(ds, folder, kind, name, content, max_vectors=None):
    path = folder / name
    path.write_text(content)
    try:
        return getattr(ds.text, kind).from_file(str(path), max_vectors=max_vectors)
    finally:
        path.unlink()


def looked_up(ds, vectors, *words, **more):
    return [list(map(float, ds.text.ToVectors(vectors, **more)(word))) for word in words]


@pipeline
def vectors(ds, folder):
    made = vectors_of(ds, folder, "Vectors", "vectors.txt", WORDS)
    headed = vectors_of(ds, folder, "Vectors", "headed.txt", f"4 3\n{WORDS}")
    two = vectors_of(ds, folder, "Vectors", "two.txt", WORDS, 2)
    all_of_them = vectors_of(ds, folder, "Vectors", "all.txt", WORDS, 0)
    return [
        looked_up(ds, made, "deep", "learning", "Sea", "none"),
        looked_up(ds, made, "Sea", "SEA", "None", unk_init=[9, 9, 9], lower_case_backup=True),
        looked_up(ds, headed, "deep", "4"),
        looked_up(ds, two, "learning", "sea"),
        looked_up(ds, all_of_them, "sea"),
        np.asarray(ds.text.ToVectors(made)(["deep", "none"])).tolist(),
    ]


@pipeline
def vectors_in_a_pipeline(ds, folder):
    made = vectors_of(ds, folder, "Vectors", "vectors.txt", WORDS)
    data = ds.NumpySlicesDataset(["deep", "sea", "none"], ["x"], shuffle=False)
    return data.map(ds.text.ToVectors(made, [1, 1, 1]))


@pipeline
def vectors_refused(ds, folder):
    made = functools.partial(vectors_of, ds, folder, "Vectors", "vectors.txt")
    return kinds(
        lambda: looked_up(ds, made("deep 1 2\nsea 1\n"), "deep"),
        lambda: looked_up(ds, made("deep\n"), "deep"),
        lambda: looked_up(ds, made(""), "deep"),
        lambda: looked_up(ds, made("deep  1 2\n"), "deep"),
        lambda: looked_up(ds, made("deep 1\tsea 2\n"), "deep"),
        lambda: made(WORDS, -1) and None,
        lambda: made(WORDS, 1.5) and None,
        lambda: ds.text.Vectors.from_file(str(folder / "nowhere.txt")) and None,
        lambda: ds.text.Vectors.from_file(3) and None,
        lambda: ds.text.ToVectors(3) and None,
        lambda: ds.text.ToVectors(made(WORDS), 3) and None,
        lambda: ds.text.ToVectors(made(WORDS), None, 1) and None,
        lambda: ds.text.ToVectors(made(WORDS))(3),
        lambda: looked_up(ds, made(WORDS), "deep", unk_init=(1, 2, 3)),
    )


@pipeline
def glove(ds, folder):
    made = functools.partial(vectors_of, ds, folder, "GloVe")
    return kinds(
        lambda: looked_up(ds, made("glove.6B.3d.txt", WORDS), "deep", "learning", "none"),
        lambda: looked_up(ds, made("glove.6B.3d.txt", WORDS, 1), "deep", "learning"),
        lambda: looked_up(ds, made("glove.6B.test.txt", WORDS), "deep"),
        lambda: looked_up(ds, made("glove.6B.3d.txt", f"4 3\n{WORDS}"), "deep"),
    )


@pipeline
def fast_text(ds, folder):
    made = functools.partial(vectors_of, ds, folder, "FastText")
    return kinds(
        lambda: looked_up(ds, made("fast.vec", f"4 3\n{WORDS}"), "deep", "learning", "none"),
        lambda: looked_up(ds, made("fast.vec", f"4 3\n{WORDS}", 2), "learning", "sea"),
        lambda: looked_up(ds, made("fast.vec", WORDS), "deep"),
    )


RUNS = "2gram-#BEGIN#a 1 2\n2gram-ab 3 4\n3gram-#BEGIN#ab 5 0\n2gram-b#END# 7 8\n4gram-abcd 9 9\n"


@pipeline
def char_n_gram(ds, folder):
    made = vectors_of(ds, folder, "CharNGram", "charngram.txt", RUNS)
    limited = functools.partial(vectors_of, ds, folder, "CharNGram", "charngram.txt", RUNS, 2)
    words = "ab", "a", "abcd", "zz", "xab"
    return [
        looked_up(ds, made, *words),
        looked_up(ds, made, "AB", "zz", unk_init=[6, 6], lower_case_backup=True),
        looked_up(ds, limited(), "ab", "b"),
    ]


@pipeline
def numbers_of_texts(ds, folder):
    names = "JiebaMode SentencePieceModel SPieceTokenizerOutType SPieceTokenizerLoadType"
    found = [getattr(ds.text, name).__members__ for name in names.split()]
    return [{name: int(member) for name, member in members.items()} for members in found]


@pipeline
def pieces_refused(ds, folder):
    text = ds.text
    missing = str(folder / "missing.model")
    return kinds(
        lambda: text.SentencePieceTokenizer(missing, 1),
        lambda: text.SentencePieceTokenizer(3, text.SPieceTokenizerOutType.INT),
    )
