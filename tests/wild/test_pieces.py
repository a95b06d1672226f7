# SPDX-License-Identifier: Apache-2.0
"""Pieces of programs from elsewhere answer what MindSpore 2.10 answered, in both modes."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import pickle
import types

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from harness import EXECUTIONS, execution, matches
from mycel.compat.absent import reason
from mycel.compat.log import LogActionOnce

HERE = pathlib.Path(__file__).parent
ANSWERS = {
    name: answer
    for version in ("2_10", "2_7")
    for name, answer in json.loads((HERE / f"mindspore_{version}.json").read_text("utf-8")).items()
}
_spec = importlib.util.spec_from_file_location("wild_pieces", HERE / "pieces.py")
pieces = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pieces)
GROUPS = [*pieces.PIECES.values(), pieces.FORMER]
CASES = {name: source for group in GROUPS for name, source in group.items()}


@pytest.fixture(autouse=True)
def as_mindspore():
    ms.install_as_mindspore()


def test_every_piece_has_an_answer():
    assert set(ANSWERS) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_piece(name):
    for mode in EXECUTIONS:
        with execution(mode):
            assert json.loads(json.dumps(pieces.answer_of(CASES[name]))) == ANSWERS[name], mode


def test_a_dictionary_with_none_is_not_put_together():
    """Oracle: the text, which names column, type and remedy."""
    data = ds.GeneratorDataset([({"a": None},)], ["x"]).batch(1)
    with pytest.raises(RuntimeError, match=r"column 'x' hold a value of type NoneType.* in a map"):
        next(data.create_tuple_iterator(num_epochs=1))


def test_log_action_once_tells_once():
    """Oracle: the decorator's name; a list keeps what is told."""
    told = []
    log = types.SimpleNamespace(info=lambda *words: told.append(words))
    action = LogActionOnce(log, "test_log_action_once_tells_once")(lambda: len(told))
    assert (action(), action()) == (1, 1)


def test_a_pair_of_extremes_is_its_values_too():
    """Oracle: NumPy; in MindSpore this works in one of the modes each."""

    def both(x):
        pair = x.max(2)
        least, place = x.min(2)
        return (
            pair + least, pair - x.min(2), 1 - pair, -pair, pair[..., None], pair[0], pair.shape,
            place, pair.astype(ms.int32), ms.ops.stack((least, pair.values)),
        )  # fmt: skip

    def oracle(x):
        top, least = x.max(2), x.min(2)
        return (
            top + least, top - least, 1 - top, -top, top[..., None], top, top.shape,
            x.argmin(2), top.astype(np.int32), np.stack((least, top)),
        )  # fmt: skip

    matches(both, oracle, np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32))


def test_a_pair_of_extremes_is_a_tuple_among_tuples():
    """Oracle: Python's tuples."""
    pair = ms.Tensor([[1, 5], [4, 3]]).max(1)
    assert pair + (3,) == (*pair, 3) and pair[:1] == (pair[0],) and hash(pair) == hash(tuple(pair))
    assert pair == (pair[0], pair[1])
    assert type(pickle.loads(pickle.dumps(pair))) is type(pair)
    assert not hasattr(pair, "__array_interface__") and pair.indices.asnumpy().tolist() == [1, 0]


def test_rows_are_the_callers_own():
    """Oracle: the source, which nobody has written to. In MindSpore writing to a row changes it."""
    arrays = np.zeros((2, 2))
    for data in (
        ds.NumpySlicesDataset(arrays, ["x"], shuffle=False),
        ds.GeneratorDataset([(row,) for row in arrays], ["x"], shuffle=False),
        ds.GeneratorDataset(lambda: ((row,) for row in arrays), ["x"]),
        ds.NumpySlicesDataset([0, 1], ["x"], shuffle=False).map(lambda n: arrays[int(n)]),
        ds.NumpySlicesDataset([0], ["x"]).batch(1, per_batch_map=lambda n, info: (arrays,)),
    ):
        for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
            row["x"] += 1
        assert not arrays.any()


def test_a_random_sampler_behind_a_concatenation():
    """Oracle: the set of the rows; 1 of 20! orders is the one they are written in."""
    both = [ds.NumpySlicesDataset(np.arange(n, n + 10), ["x"], shuffle=False) for n in (0, 10)]
    data = both[0] + both[1]
    data.use_sampler(ds.RandomSampler())
    epochs = [[int(x) for (x,) in data.create_tuple_iterator(num_epochs=1)] for _ in range(2)]
    assert data.get_dataset_size() == 20
    for epoch in epochs:
        assert sorted(epoch) == list(range(20)) != epoch


def test_mindspore_is_denied_no_name_that_it_has():
    """Oracle: the names that MindSpore 2.10 and 2.7 have, in mindspore_names.txt.gz."""
    names = "dataset.dataloader", "dataset.debug", "graph", "mint.item", "mint.distributed.TCPStore"
    for name in names:
        assert reason(name) == "MindSpore has it, but does not list it among its public names."
    assert reason("ops.Sum") == "MindSpore 2.10 has no such name either."
