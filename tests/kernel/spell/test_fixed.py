# SPDX-License-Identifier: Apache-2.0
"""Spellings in which parameters are fixed. Oracle: the definition, called with them."""

from __future__ import annotations

import inspect
import re

import pytest

from mycel import Tensor, ops
from mycel.kernel.define.definition import definitions
from mycel.kernel.spell import composite, namespaces, op
from mycel.kernel.spell.spelling import parse

FIXED = [
    spelling
    for definition in definitions.values()
    for text in definition.spellings
    if " with " in text and (spelling := parse(text, definition.defaults))
]


@composite(
    "ops.powers_for_tests(x, base=2) with order='up', counts=(1, 2)",
    "ops.PowersForTests(base)(x) with order='down', counts=(3,)",
)
def powers(x, base=2, order="up", counts=()):
    """x, base, order and counts, as a text.

    Example:
        >>> ops.powers_for_tests(1)
        '1 2 up (1, 2)'
    """
    return f"{x} {base} {order} {counts}"


@op("ops.shifted_for_tests(x) with by=3", "Tensor.shifted_for_tests_(x) with by=4 -> x")
def shifted(x, *, by):
    """x plus a number.

    Example:
        >>> print(ops.shifted_for_tests(Tensor([1])))
        [4]
    """
    return x + by


def test_fixed_parameters_are_handed_on_and_not_public():
    function, primitive = ops.powers_for_tests, namespaces["ops"]["PowersForTests"]
    assert function(0) == powers(0, 2, "up", (1, 2))
    assert primitive(7)(0) == powers(0, 7, "down", (3,))
    assert str(inspect.signature(function)) == "(x, base=2)"
    with pytest.raises(TypeError, match="unexpected keyword argument 'order'"):
        function(0, order="down")


def test_of_an_operator_and_with_an_arrow():
    x = Tensor([1, 2])
    assert ops.shifted_for_tests(x).tolist() == shifted(x, 3).tolist() == [4, 5]
    assert x.shifted_for_tests_() is x
    assert x.tolist() == [5, 6]


METHODS = {
    "Nearest": "'nearest'",
    "Bilinear": "'linear'",
    "Bicubic": "'cubic'",
    "Trilinear": "'trilinear'",
}


def test_what_is_fixed_is_what_the_name_says():
    assert len(FIXED) > 30
    for spelling in FIXED:
        if spelling.name in ("baddbmm", "addbmm"):
            # Those of `mint` alone want three dimensions.
            assert (spelling.namespace, spelling.fixed) == ("mint", (("three", "True"),))
            continue
        numbers = re.findall(r"([123])[dD]", spelling.name)
        methods = [method for word, method in METHODS.items() if word in spelling.name]
        # FractionalMaxPoolWithFixedKsize is the only one without either, for images.
        chosen = "mode" if spelling.name.startswith("Upsample") else "method"
        expected = (chosen, *methods) if methods else ("space", *(numbers or "2"))
        assert spelling.fixed == (expected,), spelling.name
        item = namespaces[spelling.namespace][spelling.name]
        assert expected[0] not in inspect.signature(item).parameters
