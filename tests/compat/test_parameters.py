# SPDX-License-Identifier: Apache-2.0
"""Every public callable takes MindSpore's parameters, by name and in order. Oracle: the signatures
of MindSpore 2.10; more keywords may stand behind them."""

from __future__ import annotations

import inspect
import operator

import pytest

import mycel as ms
from fixtures.load import rows
from fixtures.signatures import names

RECORDED = rows("parameters")

# Where ours are others, and why.
OTHERS = {
    "ops.dtype": "an object, as ops.DType()",
    "ops.DynamicShape": "an older name of TensorShape, which gives Int64 only",
    "Tensor.expand": "loose numbers, which nobody can name",
    "Tensor.sum_to_size": "loose numbers, which nobody can name",
    "Tensor.from_numpy": "a static method: it has no Tensor to leave out",
    "Tensor.init_data": "of a Parameter, whose values are there: it takes anything",
    "Tensor.flip": "loose numbers first, as PyTorch has them; `dims` by name",
    "ops.floordiv": "the very object of ops.floor_div",
    "ops.tensor_floordiv": "the very object of ops.floor_div",
    "ops.tensor_div": "the very object of ops.div",
    "ops.tensor_slice": "the very object of ops.slice",
    "ops.shape_mul": "math.prod",
    "mint.nn.SELU": "MindSpore shows the parameters of Cell; no program gives them",
    "mint.nn.Mish": "MindSpore shows the parameters of Cell; no program gives them",
    "mint.randint": "MindSpore hides the first three in *size",
    "mint.randint_like": "MindSpore hides the first three in *size",
}


def found(name: str):
    try:
        item = operator.attrgetter(name)(ms)
    except AttributeError:
        return None
    return item if callable(item) else None


def space_of(name: str) -> str:
    return name.removesuffix(".__call__").rpartition(".")[0]


PRESENT = [name for name in RECORDED if found(name) is not None]


def test_most_of_them_are_here():
    assert len(PRESENT) > 2350


@pytest.mark.parametrize("space", sorted({space_of(name) for name in PRESENT}))
def test_parameters_are_those_of_mindspore(space):
    wrong = {}
    for name in PRESENT:
        mine = names(found(name))
        if space_of(name) != space or name in OTHERS or mine is None:
            continue
        if isinstance(RECORDED[name], list):
            taken = inspect.signature(found(name)).parameters.values()
            words = {p.name for p in taken if p.kind is not p.VAR_POSITIONAL}
            lacking = set(" ".join(RECORDED[name]).split()) - words
            if lacking:
                wrong[name] = f"{mine} lacks {lacking}"
            continue
        if space == "Tensor" and "self" not in inspect.signature(found(name)).parameters:
            mine = mine.partition(" ")[2]  # Its first parameter is the Tensor under another name.
        expected = RECORDED[name].split()
        if mine.split()[: len(expected)] != expected:
            wrong[name] = f"{mine} for {RECORDED[name]}"
    assert wrong == {}
