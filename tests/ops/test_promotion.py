# SPDX-License-Identifier: Apache-2.0
"""The element type of every operator's result, for every pair of operands.

Oracle: the recorded table of MindSpore 2.10, 33 spellings by 520 pairs of operands.
"""

from __future__ import annotations

import functools

import pytest

import mycel as ms
from fixtures import load, promotion
from fixtures.case import dtype_name
from mycel import ops

# MindSpore refuses with a TypeError what mycel computes: the symbol or the function of the same
# meaning accepts it there too, or Python's reflected symbol is missing there.
ANSWERED = {
    "sub": "True - boolean Tensor; the other way round is accepted",
    "and": "a number on the left of `&`",
    "ops.add": "two booleans; `+` accepts them",
    "ops.Add": "two booleans; `+` accepts them",
    "ops.sub": "two booleans; `-` accepts them",
    "ops.RealDiv": "two booleans; `/` accepts them",
    "ops.remainder": "a boolean on the left",
    "ops.fmod": "a boolean on the left",
    "ops.equal": "a number on the left; `==` accepts it",
    "ops.less": "a number on the left; `<` accepts it",
    "ops.logical_and": "a number that is no boolean",
}
# Functions in which MindSpore lets a number next to a Tensor without dimensions keep its own
# type, where the symbols (`*`, `/`) let it take the Tensor's. Here function and symbol agree.
NUMBER_BESIDE_SCALAR = {"ops.mul", "ops.Mul", "ops.div", "ops.Div", "ops.fmod"}
# Types that are recorded from the text of an error about a missing kernel, and contradict those
# of Float16 and Float32 in the same place.
UNSETTLED = {
    ("ops.fmod", "0d:float16", "bfloat16"),
    ("ops.fmod", "0d:float32", "bfloat16"),
    ("ops.fmod", "0d:float64", "bfloat16"),
}


@functools.cache
def operand(name: str):
    return promotion.operand(name, ms)


def result(function, left: str, right: str) -> str:
    """The element type of the result, or the class of the error."""
    try:
        return dtype_name(function(operand(left), operand(right)).dtype)
    except TypeError:
        return "TypeError"


def departs(name: str, left: str, right: str) -> bool:
    numbers = promotion.PYTHON
    beside = (left in numbers and right.startswith("0d:")) or (
        right in numbers and left.startswith("0d:")
    )
    return (name in NUMBER_BESIDE_SCALAR and beside) or (name, left, right) in UNSETTLED


@pytest.mark.parametrize("name", promotion.OPERATORS)
def test_result_type(name):
    function = eval(f"lambda x, y: {promotion.OPERATORS[name]}", {"ms": ms, "ops": ops})
    wrong = {}
    for (left, right), expected in load.promotion_table(name).items():
        actual = result(function, left, right)
        allowed = expected == "TypeError" and name in ANSWERED
        if actual != expected and not allowed and not departs(name, left, right):
            wrong[left, right] = f"{actual} instead of {expected}"
    assert not wrong


def test_function_and_symbol_agree_beside_a_scalar():
    """What the departure above means: the number takes the type of the Tensor."""
    half = ms.Tensor(1, ms.float16)
    assert ops.mul(half, 3.5).dtype is (half * 3.5).dtype is ms.float16
    assert ops.div(half, 3.5).dtype is (half / 3.5).dtype is ms.float16


@pytest.mark.parametrize("name", ["float32", "float16", "bool"])
def test_bits_of_real_numbers_are_refused(name):
    bits = ms.Tensor([1, 2], ms.int32)
    if name == "bool":
        assert (bits & ms.Tensor([True, False])).dtype is ms.int32
        return
    with pytest.raises(TypeError, match="Bits are those of integers and booleans"):
        bits & ms.Tensor([1, 2], getattr(ms, name))
