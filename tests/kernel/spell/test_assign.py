# SPDX-License-Identifier: Apache-2.0
"""Spellings with an arrow: the result is assigned to the array that it names. Oracle: the method
without the underscore, and the Tensor that was there before."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Tensor, mint
from mycel.kernel.define.definition import definitions
from mycel.kernel.spell import composite
from mycel.kernel.spell.spelling import parse

ARROWS = [
    (definition, parse(text, definition.defaults))
    for definition in definitions.values()
    for text in definition.spellings
    if "->" in text
]
# Beside x, for those that take more; the Tensor has two rows.
ARGUMENTS = {
    "add_ sub_ mul_ div_ floor_divide_ remainder_": (2.5,),
    "addmm_": (Tensor(np.eye(2, dtype=np.float32)), Tensor(np.ones((2, 2), np.float32))),
    "addr_": (Tensor([1.0, 2.0]), Tensor([3.0, 4.0])),
    "masked_fill_": (Tensor([True, False]), 9.0),
    "masked_scatter_": (Tensor([True, False]), Tensor([7.0, 8.0])),
    "fill_diagonal_": (5.0,),
    "index_add_ index_copy_": (0, Tensor([1]), Tensor([[6.0, 7.0]])),
    "index_fill_": (1, Tensor([0]), 3.0),
    "index_put_": ([Tensor([0]), Tensor([1])], Tensor([4.0])),
}
GIVEN = {name: given for names, given in ARGUMENTS.items() for name in names.split()}
VALUES = np.float32([[0.25, -0.5], [0.75, 0.5]])


def plain(spelling, x, given):
    """The same by a function that assigns nothing."""
    name = spelling.name.removesuffix("_")
    if name == "index_copy":
        axis, index, source = given
        return ms.ops.inplace_update(x, source, index) if axis == 0 else None
    found = getattr(x, name, None) or getattr(mint, name).__get__(x)
    return found(*given)


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(
    "spelling", [one for _, one in ARROWS], ids=lambda one: f"{one.namespace}.{one.name}"
)
def test_the_tensor_has_what_the_method_without_the_underscore_gives(spelling, mode):
    given = GIVEN.get(spelling.name, ())
    with execution(mode):
        expected = plain(spelling, Tensor(VALUES), given).asnumpy()
        x = Tensor(VALUES)
        if spelling.namespace == "Tensor":
            made = getattr(x, spelling.name)(*given)
        else:
            space = {"mint": mint, "ops": ms.ops}.get(spelling.namespace, mint.nn.functional)
            made = getattr(space, spelling.name)(x, *given)
        assert made is x
        np.testing.assert_array_equal(x.asnumpy(), expected)


def test_all_arrows_are_tried():
    assert len(ARROWS) > 20
    names = {spelling.name for _, spelling in ARROWS}
    assert names > GIVEN.keys()
    assert all(spelling.target == definition.arrays[0] for definition, spelling in ARROWS)


@composite("Tensor.scaled_for_tests(x, by=factor)", "Tensor.scaled_for_tests_(x, by=factor) -> x")
def scaled_for_tests(x, factor=2):
    """x times a factor.

    Example:
        >>> print(Tensor([1]).scaled_for_tests())
        [2]
    """
    return x * factor


def test_what_a_spelling_with_an_arrow_makes():
    method = Tensor.scaled_for_tests_
    assert str(inspect.signature(method)) == "(x, by=2)"
    assert "assigned to `x`, which is returned" in method.__doc__
    assert "assigned" not in Tensor.scaled_for_tests.__doc__
    x = Tensor([1, 2])
    assert x.scaled_for_tests_(by=3) is x
    assert x.tolist() == [3, 6]
    with pytest.raises(TypeError, match=r"^scaled_for_tests_\(\) keeps the type") as caught:
        x.scaled_for_tests_(0.5)
    assert __file__ in str(caught.value)
    with pytest.raises(ValueError, match=r"Write x = x\.scaled_for_tests\(\.\.\.\)\."):
        x.scaled_for_tests_(Tensor([[1], [2]]))
    assert x.tolist() == [3, 6]


def test_functions_of_mint_keep_the_type_too():
    for function in (mint.nn.functional.sigmoid_, lambda x: mint.addr_(x, x[0] * 0.5, x[0])):
        with pytest.raises(TypeError, match="keeps the type of its Tensor, Int64"):
            function(Tensor([[1, 2], [3, 4]]))
