# SPDX-License-Identifier: Apache-2.0
"""What saving and loading answer. Oracle: recorded answers of real MindSpore 2.10."""

from __future__ import annotations

import doctest
import json
import pathlib
import types

import numpy as np
import pytest

import mycel as ms
from fixtures.checkpoints import cases
from mycel import checkpoint
from mycel.checkpoint import serialization

ANSWERS = pathlib.Path(cases.__file__).parent / "answers.json"
RECORDED = json.loads(ANSWERS.read_text())


def test_every_case_is_recorded():
    assert list(RECORDED) == cases.CASES


@pytest.mark.parametrize("expression", cases.CASES)
def test_answer(expression, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ms, "np_of_cases", np, raising=False)
    names = cases.namespace(ms)
    ms.save_checkpoint(names["dense"](), "net.ckpt")
    assert cases.answer(expression, names) == RECORDED[expression]


PUBLIC = [*vars(checkpoint).values(), *vars(serialization).values(), ms.Generator]
DOCUMENTED = {
    item.__qualname__: item
    for item in PUBLIC
    if isinstance(item, (type, types.FunctionType))
    and ">>>" in (getattr(item, "__doc__", None) or "")
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_do_what_they_say(name):
    names = {"ms": ms, "np": np, "nn": ms.nn, "ops": ms.ops, "Tensor": ms.Tensor}
    names["Parameter"] = ms.Parameter
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(recurse=False).find(DOCUMENTED[name], name, globs=names):
        assert runner.run(test).failed == 0


def test_names_in_train_serialization():
    """Names that real programs import from there, under the names that MindSpore has for them."""
    from mycel.train import serialization

    assert serialization.load_checkpoint is ms.load_checkpoint
    assert serialization.tensor_to_ms_type["BFloat16"] is ms.bfloat16
    assert serialization.tensor_to_np_type["Float16"] is np.float16
    assert serialization.tensor_to_np_type("Int64") is np.int64
    weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
    serialization._update_param(weight, ms.Tensor([2.0]), False)
    assert weight.asnumpy().tolist() == [2.0]


def test_exec_save_writes_what_it_is_told(tmp_path):
    from mycel.train import serialization

    path = str(tmp_path / "x.ckpt")
    flat = np.arange(4, dtype=np.float32)
    serialization._exec_save(path, {"a": [[2, 2], "Float32", flat], "t": [[0], "str", "text"]})
    loaded = ms.load_checkpoint(path)
    assert loaded["a"].asnumpy().tolist() == [[0, 1], [2, 3]]
    assert loaded["t"] == "text"
