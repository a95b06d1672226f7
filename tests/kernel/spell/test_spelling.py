# SPDX-License-Identifier: Apache-2.0
"""Reading spellings. Oracle: the rules in the docstring of `spell.spelling`, one by one, and
Python's own grammar for what is no call.
"""

from __future__ import annotations

import pytest

from mycel.kernel.spell.spelling import REQUIRED, Argument, parse, where

DEFAULTS = {"axis": None, "keepdims": False, "eps": 1e-5}


@pytest.mark.parametrize(
    ("text", "namespace", "name"),
    [
        ("ops.sum", "ops", "sum"),
        ("ops.sum(input=x)", "ops", "sum"),
        ("Tensor.sum(axis)", "Tensor", "sum"),
        ("mint.nn.functional.relu(input=x)", "mint.nn.functional", "relu"),
        ("ReLU()", "ops", "ReLU"),
        ("ReduceSum(keep_dims=keepdims)(x, axis)", "ops", "ReduceSum"),
        ("ops.f(a=0.5)", "ops", "f"),
    ],
)
def test_where_a_name_lives(text, namespace, name):
    assert where(text) == (namespace, name)
    spelling = parse(text, DEFAULTS)
    assert (spelling.namespace, spelling.name) == (namespace, name)


@pytest.mark.parametrize("text", ["sum(x)", "sum", "_Hidden()"])
def test_a_function_needs_a_namespace(text):
    with pytest.raises(ValueError, match="names no namespace"):
        where(text)


@pytest.mark.parametrize(
    ("argument", "read"),
    [
        ("x", Argument("x", "x", REQUIRED)),
        ("axis", Argument("axis", "axis", None)),
        ("input=x", Argument("input", "x", REQUIRED)),
        ("dim=axis", Argument("dim", "axis", None)),
        ("axis=-1", Argument("axis", "axis", -1)),
        ("axis=(0, 1)", Argument("axis", "axis", (0, 1))),
        ("axis=()", Argument("axis", "axis", ())),
        ("mode='sum'", Argument("mode", "mode", "sum")),
        ("dim=(axis, -1)", Argument("dim", "axis", -1)),
        ("dim=(axis, (0, 1))", Argument("dim", "axis", (0, 1))),
        ("epsilon=eps", Argument("epsilon", "eps", 1e-5)),
        ("*shape", Argument("shape", "shape", (), spread=True)),
    ],
)
def test_an_argument_keeps_renames_or_gives_another_default(argument, read):
    assert parse(f"ops.f({argument})", DEFAULTS).called == [read]
    # What a class takes at creation is read alike.
    assert parse(f"F({argument})", DEFAULTS).created == [read]


def test_a_name_without_a_call_takes_the_parameters_of_the_definition():
    assert parse("ops.f", DEFAULTS).called is None
    assert parse("ops.f()", DEFAULTS).called == []


def test_a_class_takes_arguments_twice():
    axis, x = Argument("axis", "axis", None), Argument("x", "x", REQUIRED)
    assert parse("F", {}).created == []
    plain = parse("F(axis)", DEFAULTS)
    assert (plain.created, plain.called) == ([axis], None)
    both = parse("F(axis)(x)", DEFAULTS)
    assert (both.created, both.called) == ([axis], [x])
    function = parse("ops.f(x)", DEFAULTS)
    assert (function.created, function.called) == (None, [x])


def test_the_order_of_arguments_stays():
    called = parse("ops.f(b, a, axis, d=c, *rest)", DEFAULTS).called
    # As Python's grammar has it, what is starred stands among the positional ones.
    assert [argument.public for argument in called] == ["b", "a", "axis", "rest", "d"]


@pytest.mark.parametrize("text", ["ops.f(", "ops.f(x=y=z)", "ops.f(axis=print())", "ops.f(1 2)"])
def test_what_is_no_call_with_names_and_literals_is_refused(text):
    with pytest.raises((SyntaxError, ValueError)):
        parse(text, DEFAULTS)
