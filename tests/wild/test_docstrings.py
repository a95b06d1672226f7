# SPDX-License-Identifier: Apache-2.0
"""MindSpore's own examples: what is counted, and by what; the examples themselves are opt-in.

    MYCEL_MINDSPORE=/path/to/python python -m pytest tests/wild/test_docstrings.py

with a Python that has MindSpore 2.10 runs a sample of them. `docstrings.json` says which hold in
MindSpore and, of those, which do not hold here.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from pathlib import Path

import pytest

import mycel as ms

HERE = Path(__file__).parent


def _beside(name: str):
    spec = importlib.util.spec_from_file_location(f"wild_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


examples, docstrings = map(_beside, ("docstring_examples", "docstrings"))
MINDSPORE = os.environ.get("MYCEL_MINDSPORE")
EVERY = 40


@pytest.mark.parametrize(
    ("wanted", "got", "same"),
    [
        ("[1. 2.]\n", "[1. 2.]\n", True),
        ("[ 1.   2. ]\n", "[1. 2.]\n", True),
        ("[[1 2]\n [3 4]]\n", "[[1 2] [3 4]]\n", True),
        ("[1. 2.]\n", "[1. 2. 3.]\n", False),
        ("[1. 2.]\n", "[1. 3.]\n", False),
        ("0.33333334\n", "0.3333333\n", True),
        ("0.333\n", "0.335\n", False),
        ("[nan inf]\n", "[nan inf]\n", True),
        ("[nan 1.]\n", "[2. 1.]\n", False),
        ("(Float32, [2])\n", "(Float16, [2])\n", False),
        ("<class 'mindspore.common.tensor.Tensor'>\n", "<class 'ours.Tensor'>\n", True),
        ("<class 'mindspore.common.tensor.Tensor'>\n", "<class 'ours.Number'>\n", False),
        ("one ... three\n", "one two three\n", True),
        ("(1+2j)\n", "(1+3j)\n", False),
    ],
)
def test_what_counts_as_the_same(wanted, got, same):
    """Oracle: the three digits that the module promises."""
    assert examples.agrees(wanted, got) is same


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (">>> print(ops.relu(Tensor([-1.0, 2.0])))\n[0. 2.]\n", None),
        (">>> print(ops.relu(Tensor([-1.0, 2.0])))\n[1. 2.]\n", "prints something else"),
        (">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: by zero\n", None),
        (">>> ops.no_such_name\n", "raises AttributeError"),
        (">>> raise SystemExit\n", "raises SystemExit"),
        (">>>print(1)\n1\n", "cannot be read"),
        (">>> print(LeNet5()(next(create_dataset().create_tuple_iterator())[0]).shape)\n(32, 10)\n",
         None),
    ],
)  # fmt: skip
def test_an_example(text, cause):
    """Oracle: Python's doctest, by hand."""
    ms.install_as_mindspore()
    if cause is None:
        examples.run("example", text)
    else:
        with pytest.raises(examples.Failure) as raised:
            examples.run("example", text)
        assert raised.value.args[0] == cause


def test_one_that_hangs_or_ends_the_process_does_not_stop_the_others(tmp_path):
    """Oracle: what the examples are written to do."""
    texts = {
        "good": ">>> print(nn.ReLU()(Tensor([-1.0, 2.0])))\n[0. 2.]\n",
        "hangs": ">>> import time\n>>> time.sleep(1000)\n",
        "ends": ">>> import os\n>>> os._exit(3)\n",
        "bad": ">>> print(Tensor([1.0]) + 1)\n[3.]\n",
    }
    file = tmp_path / "texts.json"
    file.write_text(json.dumps(texts))
    names = ["hangs", "good", "ends", "bad"]
    rows = docstrings.run_all(docstrings.under_mycel(str(file), "graph"), names, 15)
    assert {row["name"]: row["cause"] for row in rows} == {
        "hangs": "takes too long",
        "good": "",
        "ends": "ends the process",
        "bad": "prints something else",
    }


def test_the_table():
    """Oracle: counted by hand."""
    names = ["nn.ReLU", "nn.Cell.to_float", "ops.relu", "Tensor.abs"]
    assert docstrings.package("mint.nn.functional.relu") == "mint.nn.functional"
    assert docstrings.by_package(names) == {
        "": "Tensor.abs", "nn": "Cell.to_float ReLU", "ops": "relu",
    }  # fmt: skip
    lines = docstrings.table(names, {"graph": {"nn.ReLU": "takes too long"}}).splitlines()
    assert [line.split() for line in lines] == [
        ["mindspore", "1", "graph", "1", "100.00", "%"],
        ["nn", "2", "graph", "1", "50.00", "%"],
        ["ops", "1", "graph", "1", "100.00", "%"],
        ["all", "4", "graph", "3", "75.00", "%"],
        ["graph:", "takes", "too", "long", "(1)"],
    ]


# Their examples hold without them; this list may only shrink.
NOT_THERE = {
    "SummaryRecord.count", "dataset.Dataset.input_indexs", "flops_collection",
    "ops.J", "ops.Primitive.check_elim", "ops.coalesce", "profiler.DynamicProfilerMonitor",
}  # fmt: skip


def test_names_whose_examples_hold_are_there():
    """Oracle: the record of MindSpore 2.10; an example that fails here may lack its name."""
    ms.install_as_mindspore()
    record = docstrings.recorded()
    failing = set().union(*record["fails"].values())
    names = [name for name in docstrings.names_of(record) if name not in failing]
    assert {name for name in names if not _is_there(name)} <= NOT_THERE


def _is_there(name: str) -> bool:
    found, path = importlib.import_module("mindspore"), "mindspore"
    for word in name.split("."):
        path = f"{path}.{word}"
        try:
            found = getattr(found, word)
        except AttributeError:
            try:
                found = importlib.import_module(path)
            except ImportError:
                return False
    return True


def test_the_record_says_what_holds():
    """Oracle: the share that the issue of these examples asks for."""
    record = docstrings.recorded()
    names = docstrings.names_of(record)
    assert 1900 < len(names) < record["examples"]
    assert set(record["fails"]) == set(docstrings.MODES)
    for failing in record["fails"].values():
        assert set(failing) <= set(names)


@pytest.mark.skipif(MINDSPORE is None, reason="opt in with MYCEL_MINDSPORE=PYTHON")
@pytest.mark.parametrize("mode", docstrings.MODES)
def test_a_sample(mode, tmp_path):
    """Oracle: the docstrings of an installed MindSpore."""
    record = docstrings.recorded()
    chosen = [n for n in docstrings.names_of(record) if n not in record["fails"][mode]][::EVERY]
    file = tmp_path / "texts.json"
    file.write_text(json.dumps(docstrings.find(MINDSPORE)))
    rows = docstrings.run_all(docstrings.under_mycel(str(file), mode), chosen, 120)
    assert [row for row in rows if row["cause"]] == []
