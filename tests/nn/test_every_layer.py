# SPDX-License-Identifier: Apache-2.0
"""Every public layer goes through `check_cell`, and its Parameters are called as in MindSpore.

The layers are found by looking: one that is added and has no case, or no row among the recorded
names, fails here.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import json
import pathlib

import numpy as np
import pytest

import mycel as ms
from check_cell import check_cell
from fixtures.case import Array, decode
from fixtures.families.every_layer import IN_PYTORCH, TEXTS
from fixtures.families.torch_layers import CASES as IN_TORCH
from fixtures.load import FOLDER, rows
from mycel import mint, nn

NAMES = rows("every_layer")
ANSWERS = json.loads((FOLDER.parent / "pytorch" / "torch_layers.json").read_text())
TESTS = pathlib.Path(__file__).parents[1]

BASE = "made to be derived from"
HOLDS = "holds Cells and computes nothing"
TRAINS = "changes what it is called with; tests/amp/test_steps.py"
PART = "part of the case of nn.Transformer"
THOR = "of the optimiser THOR, for Ascend in MindSpore; tests/optim/test_second_order.py"
OF_THOR = ("Conv2dThor", "DenseThor", "EmbeddingThor", "EmbeddingLookupThor")
# The public Cells without a case, and why.
WITHOUT = {
    "nn.Cell": BASE,
    "nn.LossBase": BASE,
    "nn.CellList": HOLDS,
    **{f"nn.{name}": THOR for name in OF_THOR},
    "nn.CellDict": HOLDS,
    "nn.TransformerEncoder": PART,
    "nn.TransformerDecoder": PART,
    "nn.TransformerDecoderLayer": PART,
    "nn.TrainOneStepCell": TRAINS,
    "nn.TrainOneStepWithLossScaleCell": TRAINS,
    "nn.DynamicLossScaleUpdateCell": TRAINS,
    "nn.FixedLossScaleUpdateCell": TRAINS,
}
# Not in MindSpore 2.10 under this name, so that there is nothing to record.
OLDER = {
    "nn.FlashAttention": "of MindFormers",
    "nn.ResizeBilinear": "of MindSpore 1",
    **{f"nn.{name}": THOR for name in OF_THOR},
}


def public_layers() -> dict:
    """Every Cell that stands in `nn` and `mint.nn`, but optimisers, by its first name.

    Those that tables answer, under names of MindSpore's (`nn.AvgPool1dExt`), stand elsewhere too.
    """
    found = {}
    for space, owner in (("nn", nn), ("mint.nn", mint.nn)):
        for name, item in sorted(vars(owner).items()):
            if inspect.isclass(item) and issubclass(item, nn.Cell):
                found.setdefault(item, f"{space}.{name}")
    return {
        name: item for item, name in found.items() if not item.__module__.startswith("mycel.optim")
    }


LAYERS = public_layers()


def made(text: str):
    net = nn.Dense(3, 2)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    names = {"nn": nn, "mint": mint, "double": ms.float64, "net": net, "optimizer": optimizer}
    return eval(text, names)


# MindSpore's Jvp keeps its function within another Cell.
OTHER_NAMES = ("nn.Jvp",)


def test_parameters_are_called_as_in_mindspore():
    wrong = {}
    for name, text in TEXTS.items():
        if name in OTHER_NAMES:
            continue
        actual = [(p.name, p.shape, p.requires_grad) for p in made(text).get_parameters()]
        if actual != decode(NAMES[name]["output"]):
            wrong[name] = actual, decode(NAMES[name]["output"])
    assert wrong == {}


def test_the_names_of_every_layer_are_recorded():
    assert set(LAYERS) - set(TEXTS) - {"nn.Cell", "nn.LossBase"} == set(OLDER)


def filled(text: str):
    """The layer, each trained Parameter with numbers of its own; see `families.torch_layers`."""
    net = made(text)
    for number, parameter in enumerate(net.trainable_params()):
        values = np.sin(np.arange(parameter.size) * 1.1 + number) * 0.7
        parameter.set_dtype(ms.float64)
        parameter.set_data(ms.Tensor(values.reshape(parameter.shape)))
    return net


def arrays(answer):
    return answer.values if isinstance(answer, Array) else tuple(map(arrays, answer))


@pytest.mark.parametrize("case", IN_TORCH, ids=lambda case: case.name)
def test_as_in_pytorch(case):
    """What PyTorch gave; what is not trained are the statistics that a call in training moves."""
    expected = arrays(decode(ANSWERS[case.name]["output"]))
    parameters = decode(NAMES[case.name]["output"])
    check_cell(
        lambda: filled(case.name + IN_PYTORCH[case.name][0]),
        *case.inputs,
        names={name: shape for name, shape, _ in parameters},
        oracle=lambda values, *inputs: expected,
        moved=tuple(name for name, _, trained in parameters if not trained),
    )


# -- that nothing is left out ------------------------------------------------------------------


def reaches(function, module, seen) -> bool:
    """Whether a function of a test module calls `check_cell`, itself or through another one."""
    if not inspect.isfunction(function) or function in seen:
        return False
    seen.add(function)
    names = set(function.__code__.co_names)
    others = [vars(module)[name] for name in names if name in vars(module)]
    return "check_cell" in names or any(reaches(other, module, seen) for other in others)


def loaded(path):
    """A test module under a name of its own, so that the one of the run stays as it is."""
    spec = importlib.util.spec_from_file_location(f"seen_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls_of(test):
    """The arguments of a test, for each of its cases."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    tables = []
    for mark in marks:
        words = mark.args[0] if isinstance(mark.args[0], str) else ",".join(mark.args[0])
        words = [word.strip() for word in words.split(",")]
        rows_of = [getattr(row, "values", row) for row in mark.args[1]]
        table = [
            dict(zip(words, (row,) if len(words) == 1 else row, strict=True)) for row in rows_of
        ]
        tables.append(table)
    for parts in itertools.product(*tables):
        yield {key: value for part in parts for key, value in part.items()}


def checked_layers(monkeypatch) -> set:
    """The layers that `check_cell` is called with, in all tests; nothing is computed."""
    found = set()

    def note(make, *inputs, **settings):
        cell = make()
        # A Cell of the tests stands for the layers that it hands its inputs to.
        own = type(cell) not in LAYERS.values()
        found.update([type(child) for child in cell.cells()] if own else [type(cell)])

    for path in sorted(TESTS.rglob("test_*.py")):
        if "from check_cell import" not in path.read_text():
            continue
        module = loaded(path)
        monkeypatch.setattr(module, "check_cell", note)
        for name, test in list(vars(module).items()):
            if name.startswith("test_") and reaches(test, module, set()):
                for arguments in calls_of(test):
                    test(**arguments)
    return found


def test_every_layer_has_a_case(monkeypatch):
    found = checked_layers(monkeypatch)
    lacking = {name for name, item in LAYERS.items() if item not in found}
    assert lacking == set(WITHOUT)


def test_every_layer_names_its_keywords():
    """The oracle is the text: the class, the line, and that nothing is taken in silence.

    Identity takes any argument, as in `mint` and in PyTorch.
    """
    assert nn.Identity(nearly=1)(3) == 3
    for name, kind in LAYERS.items():
        if kind is nn.Identity:
            continue
        with pytest.raises(TypeError) as caught:
            kind(nearly=1)
        assert str(caught.value).startswith(
            f"{kind.__name__}() has no keyword 'nearly' (at {__file__}"
        ), name
