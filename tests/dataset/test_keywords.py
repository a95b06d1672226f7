# SPDX-License-Identifier: Apache-2.0
"""Keywords that real programs pass to what is in `mindspore.dataset`, and older ones.

`fixtures/dataset_keywords.txt` has all that 15,000 files pass to names that are here.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import pathlib

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from fixtures import load
from mycel.kernel.base import log

LISTED = pathlib.Path(load.__file__).parent / "dataset_keywords.txt"
# What MindSpore refuses too: slips of the pen, and words of PyTorch.
REFUSED = {
    "dataset.GeneratorDataset": {"olumn_names", "batch_size", "num_workers", "drop_last"},
    "dataset.vision.Normalize": {"meant", "inplace"},
    "dataset.vision.Pad": {"fill"},
    "dataset.vision.RandomErasing": {"p"},
    "dataset.vision.py_transforms.RandomHorizontalFlip": {"p"},
}
# Methods, whose keywords the list does not have: those of MindSpore 1.0 to 2.10.
METHODS = {
    "map": "operations input_columns output_columns column_order num_parallel_workers "
    "python_multiprocessing cache callbacks max_rowsize offload",
    "batch": "batch_size drop_remainder num_parallel_workers per_batch_map input_columns "
    "output_columns column_order pad_info python_multiprocessing max_rowsize",
}


def found_at(path: str):
    found, at = ms, "mycel"
    for part in path.split("."):
        at = f"{at}.{part}"
        found = getattr(found, part, None) or importlib.import_module(at)
    return found


def test_keywords_of_real_programs():
    """The oracle is what programs pass; `REFUSED` holds exactly those that are not taken."""
    refused, count = {}, 0
    for line in LISTED.read_text().splitlines():
        path, words = line.split(": ")
        parameters = inspect.signature(found_at(path)).parameters
        count += 1
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            continue
        lacking = {word for word in words.split() if word not in parameters}
        if lacking:
            refused[path] = lacking
    assert refused == REFUSED
    assert count > 100


def squares():
    return ds.NumpySlicesDataset({"a": np.arange(4), "b": np.arange(4) ** 2}, shuffle=False)


def ragged():
    return ds.GeneratorDataset([np.arange(2), np.arange(3)], ["a"], shuffle=False)


def both(a):
    return a, -a


def both_of_a_batch(a, info):
    return np.stack(a), -np.stack(a)


# Older calls, the same in today's words, and the note.
OLDER = {
    "map in another order": (
        lambda: squares().map(both, ["a"], ["a", "c"], column_order=["c", "a"]),
        lambda: squares().map(both, ["a"], ["a", "c"]).project(["c", "a"]),
        "Dataset.map(column_order=...) is an older name; write Dataset.map(...).project(...).",
    ),
    "batch in another order": (
        lambda: squares().batch(
            2, per_batch_map=both_of_a_batch, input_columns=["a"], output_columns=["a", "c"],
            column_order=["b", "c"],
        ),
        lambda: squares().map(both, ["a"], ["a", "c"]).batch(2).project(["b", "c"]),
        "Dataset.batch(column_order=...) is an older name; write Dataset.batch(...).project(...).",
    ),
    "batch with padding": (
        lambda: ragged().batch(2, pad_info={"a": ([4], 7)}),
        lambda: ragged().padded_batch(2, pad_info={"a": ([4], 7)}),
        "Dataset.batch(pad_info=...) is an older name; write Dataset.padded_batch(pad_info=...).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OLDER)
def test_older_keywords(name, caplog, monkeypatch):
    """The oracle is the same pipeline in the words of MindSpore 2.10."""
    monkeypatch.setattr(log, "_noted", set())
    caplog.set_level(logging.WARNING, "mycel")
    older, newer, note = OLDER[name]
    rows = [
        [{key: column.tolist() for key, column in row.items()} for row in each]
        for each in (
            older().create_dict_iterator(1, True),
            newer().create_dict_iterator(1, True),
        )
    ]
    assert rows[0] == rows[1]
    assert [list(row) for row in rows[0]] == [list(row) for row in rows[1]]
    assert [record.getMessage() for record in caplog.records] == [note]


@pytest.mark.parametrize("method", METHODS)
def test_keywords_of_methods(method):
    """The oracle is MindSpore's list; another keyword is named in the error."""
    given = {
        "operations": both, "input_columns": ["a"], "output_columns": ["a", "c"],
        "column_order": ["a", "c", "b"], "num_parallel_workers": 1, "batch_size": 2,
        "python_multiprocessing": False, "cache": None, "callbacks": None, "max_rowsize": 8,
        "offload": False, "drop_remainder": True, "per_batch_map": both_of_a_batch,
        "pad_info": None,
    }  # fmt: skip
    made = getattr(squares(), method)(**{word: given[word] for word in METHODS[method].split()})
    assert next(made.create_dict_iterator(1, True))["c"].tolist() in (0, [0, -1])
    with pytest.raises(TypeError, match="workers"):
        getattr(squares(), method)(2 if method == "batch" else both, workers=1)


def test_rows_by_their_number():
    """Oracle: MindSpore 2.10 for what is right; what is wrong is told."""
    rows = [(np.array(1), np.array(2)), (np.array(3), np.array(4))]
    data = ds.GeneratorDataset(rows, ["a", "b"], shuffle=False)
    assert data[1] is rows[1] and ds.NumpySlicesDataset(([1, 2], [3, 4]))[1] == (2, 4)
    with pytest.raises(IndexError, match="from 0 to 1, but 2"):
        data[2]
    for wrong, index in (
        (data, "a"),
        (ds.GeneratorDataset(lambda: iter(rows), ["a", "b"]), 0),
        (ds.GeneratorDataset(rows, ["a", "b"], num_shards=2, shard_id=0), 0),
    ):
        with pytest.raises(TypeError, match="must be"):
            wrong[index]


def test_columns_that_nobody_pads_must_be_equal():
    """Oracle: MindSpore raises too. They were None."""
    data = ds.GeneratorDataset(
        lambda: ((np.arange(n), np.arange(2 * n)) for n in (1, 2)), ["v", "w"]
    )
    for padded in (
        data.padded_batch(2, pad_info={"v": ([None], 0)}),
        data.bucket_batch_by_length(["v"], [5], [2, 2], pad_info={"v": ([None], 0)}),
    ):
        with pytest.raises(RuntimeError, match="'w'"):
            list(padded)


def test_padding_of_what_a_function_made():
    with pytest.raises(ValueError, match="pad_info"):
        squares().batch(2, per_batch_map=both_of_a_batch, pad_info={})
