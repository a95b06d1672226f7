# SPDX-License-Identifier: Apache-2.0
"""One definition gives function, class and method. Oracles: NumPy for what they compute, and a
plain Python function with the same parameters for how they may be called.
"""

from __future__ import annotations

import inspect
import logging
import traceback

import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import Tensor
from mycel.kernel.base import log
from mycel.kernel.define.definition import definitions
from mycel.kernel.spell import composite, declare, op, other_keywords
from mycel.kernel.spell.other_keywords import OtherKeywords
from mycel.kernel.spell.primitive import Primitive

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)


@pytest.fixture(autouse=True)
def names_of_its_own(monkeypatch):
    """What a test defines is unknown to the others: names, methods and definitions."""
    # Classes live in "ops".
    monkeypatch.setitem(declare.namespaces, "ops", declare.Names())
    spaces, known, methods = set(declare.namespaces), set(definitions), set(vars(Tensor))
    yield declare.namespaces
    for name in set(definitions) - known:
        del definitions[name]
    for name in set(vars(Tensor)) - methods:
        delattr(Tensor, name)
    for name in set(declare.namespaces) - spaces:
        del declare.namespaces[name]


def weighed_sum():
    @op(
        "here.weighed_sum",
        "here.weigh(input=x, weight=w, dim=(axis, -1))",
        "Tensor.weigh_for_tests(x, w, axis)",
        "WeighedSum(keep_dims=keepdims)(x, w, axis)",
    )
    def weighed_sum(x, w, *, axis=None, keepdims=False):
        """The sum of `x * w`."""
        return jnp.sum(x * w, axis, keepdims=keepdims)

    return weighed_sum


def expected(x, w, axis=None, keepdims=False):
    return np.sum(x * w, axis, keepdims=keepdims)


def test_every_name_computes_the_same(names_of_its_own):
    own = weighed_sum()
    here, classes = names_of_its_own["here"], names_of_its_own["ops"]
    w = X[::-1].copy()
    matches(own, expected, X, w)
    matches(
        lambda x, y: own(x, y, axis=0, keepdims=True), lambda x, y: expected(x, y, 0, True), X, w
    )
    matches(here["weighed_sum"], expected, X, w)
    matches(here["weigh"], lambda x, y: expected(x, y, -1), X, w)
    matches(
        lambda x, y: here["weigh"](input=x, weight=y, dim=0), lambda x, y: expected(x, y, 0), X, w
    )
    matches(lambda x, y: x.weigh_for_tests(y, 1), lambda x, y: expected(x, y, 1), X, w)
    matches(
        lambda x, y: classes["WeighedSum"](True)(x, y, 1),
        lambda x, y: expected(x, y, 1, True),
        X,
        w,
    )


def test_signatures_are_those_of_the_spelling(names_of_its_own):
    weighed_sum()
    here, classes = names_of_its_own["here"], names_of_its_own["ops"]

    def signature(function):
        return str(inspect.signature(function))

    assert signature(here["weighed_sum"]) == "(x, w, axis=None, keepdims=False)"
    assert signature(here["weigh"]) == "(input, weight, dim=-1)"
    assert signature(Tensor.weigh_for_tests) == "(x, w, axis=None)"
    assert signature(classes["WeighedSum"]) == "(keep_dims=False)"
    assert signature(classes["WeighedSum"]()) == "(x, w, axis=None)"


def test_a_wrong_call_is_refused_as_python_refuses_it(names_of_its_own):
    weighed_sum()
    weigh = names_of_its_own["here"]["weigh"]

    def plain(input, weight, dim=-1):
        return None

    plain.__name__ = "weigh"
    for arguments, keywords in [((), {}), ((1,), {}), ((1, 2, 3, 4), {}), ((1, 2), {"input": 3})]:
        with pytest.raises(TypeError) as theirs:
            plain(*arguments, **keywords)
        with pytest.raises(TypeError) as mine:
            weigh(*arguments, **keywords)
        said = str(theirs.value).partition("plain")[2]
        assert str(mine.value).partition("weigh")[2] == said


def test_a_name_is_written_when_it_is_first_asked_for(names_of_its_own, monkeypatch):
    written = []
    write = declare.write_function
    monkeypatch.setattr(
        declare, "write_function", lambda *a, **k: written.append(a[1].name) or write(*a, **k)
    )
    weighed_sum()
    here = names_of_its_own["here"]
    assert written == ["weighed_sum"], "only what the decorator gives back"
    assert list(here) == ["weighed_sum", "weigh"]
    assert len(here) == 2
    assert "weigh" in here
    assert written == ["weighed_sum"], "to list names writes none"
    assert here["weigh"] is here["weigh"]
    assert Tensor.weigh_for_tests is Tensor.weigh_for_tests
    assert written == ["weighed_sum", "weigh", "weigh_for_tests"]


def test_a_name_or_a_definition_is_there_once(names_of_its_own):
    weighed_sum()
    with pytest.raises(ValueError, match="is defined twice"):
        weighed_sum()

    def another(x):
        return x

    with pytest.raises(ValueError, match="weigh is spelled twice"):
        op("here.weigh")(another)


def test_a_spelling_that_leaves_out_an_array_is_refused(names_of_its_own):
    @op("here.half(x)")
    def half(x, w):
        return x * w

    with pytest.raises(ValueError, match="A spelling of 'half' leaves out 'w'"):
        names_of_its_own["here"]["half"]


def test_arrays_that_may_be_left_out(names_of_its_own):
    @op("here.affine_for_tests")
    def affine_for_tests(x, scale=None, shift=None):
        scaled = x if scale is None else x * scale
        return scaled if shift is None else scaled + shift

    own = names_of_its_own["here"]["affine_for_tests"]
    row = X[0]
    matches(own, lambda x: x, X)
    matches(own, lambda x, s: x * s, X, row)
    matches(own, lambda x, s, t: x * s + t, X, row, row)
    matches(lambda x, t: own(x, shift=t), lambda x, t: x + t, X, row)


def test_any_number_of_arrays(names_of_its_own):
    @op("here.total(*arrays)", "here.scaled_total(*arrays, by=factor)")
    def total(*arrays, factor=1):
        return sum(arrays) * factor

    here = names_of_its_own["here"]
    matches(here["total"], lambda a, b, c: a + b + c, X, X, X)
    matches(lambda a, b: here["scaled_total"](a, b, by=3), lambda a, b: 3 * (a + b), X, X)


def test_loose_numbers_and_one_tuple_are_the_same(names_of_its_own):
    @op("here.shaped(x, *shape)")
    def shaped(x, *, shape):
        return jnp.reshape(x, shape)

    own = names_of_its_own["here"]["shaped"]
    for shape in ((3, 2), ((3, 2),), ([3, 2],)):
        matches(lambda x, s=shape: own(x, *s), lambda x: x.reshape(3, 2), X)
    assert own(Tensor(X), 6).shape == own(Tensor(X), (6,)).shape == (6,)


def test_in_place_the_first_array_has_the_result_too(names_of_its_own):
    @op("here.threshold_for_tests(x, level, inplace=False)")
    def threshold_for_tests(x, *, level):
        return jnp.where(x > level, x, 0)

    own = names_of_its_own["here"]["threshold_for_tests"]
    x = Tensor(X)
    assert own(x, 3).asnumpy().tolist() == np.where(X > 3, X, 0).tolist()
    assert x.asnumpy().tolist() == X.tolist()
    assert own(x, 3, inplace=True) is x
    assert x.asnumpy().tolist() == np.where(X > 3, X, 0).tolist()


def test_a_composite_is_a_plain_function(names_of_its_own):
    @composite("here.mean_and_spread(input=x, dim=axis)", "MeanAndSpread(axis)(x)")
    def mean_and_spread(x, axis=None):
        """Two results."""
        mean = x.mean(axis)
        return mean, ((x - mean) ** 2).mean(axis)

    assert mean_and_spread.definition.composite
    function, created = names_of_its_own["here"]["mean_and_spread"], names_of_its_own["ops"]
    matches(function, lambda x: (x.mean(), x.var()), X)
    matches(lambda x: function(input=x, dim=0), lambda x: (x.mean(0), x.var(0)), X)
    matches(lambda x: created["MeanAndSpread"](0)(x), lambda x: (x.mean(0), x.var(0)), X)


def test_a_reverse_stands_beneath_its_definition(names_of_its_own):
    @op("here.floor_for_tests")
    def floor_for_tests(x):
        return jnp.floor(x)

    @floor_for_tests.reverse
    def floor_reverse(x, output, cotangent):
        return 7 * cotangent

    for function in (floor_for_tests, names_of_its_own["here"]["floor_for_tests"]):
        matches(ms.grad(lambda x, f=function: f(x).sum()), lambda x: np.full_like(x, 7), X)


def test_attributes_of_a_class_are_those_it_was_created_with(names_of_its_own):
    weighed_sum()
    created = names_of_its_own["ops"]["WeighedSum"](keep_dims=True)
    assert isinstance(created, Primitive)
    assert (created.name, created.keep_dims) == ("WeighedSum", True)
    assert repr(created) == "WeighedSum(keep_dims=True)"
    created.keep_dims = False
    assert created(Tensor(X), Tensor(X), 0).shape == (3,)


def test_a_traceback_shows_the_generated_line(names_of_its_own):
    @op("here.fails(x)")
    def fails(x):
        raise ValueError("no shape will do")

    with pytest.raises(ValueError, match="no shape will do") as caught:
        names_of_its_own["here"]["fails"](Tensor(X))
    lines = [frame.line for frame in traceback.extract_tb(caught.tb) if "<mycel" in frame.filename]
    assert lines and all(lines)


# -- other keywords -----------------------------------------------------------------------------


@pytest.fixture
def renamed(names_of_its_own, monkeypatch):
    """A function that takes `dim` for `axis`, and `ndim`, counted from the end, for `axis` too."""

    @op("here.added(x, axis=-1)")
    def added(x, *, axis):
        return jnp.sum(x, axis)

    def from_the_end(own):
        own["axis"] = -own["axis"]

    words = OtherKeywords({"dim": "axis", "last": "axis"}, True, {"last": from_the_end})
    monkeypatch.setitem(other_keywords.other_keywords, "here.added", words)
    monkeypatch.setattr(log, "_noted", set())
    return names_of_its_own["here"]["added"]


def test_another_keyword_stands_for_the_own_one(renamed, caplog):
    with caplog.at_level(logging.WARNING, logger="mycel"):
        matches(lambda x: renamed(x, axis=0), lambda x: x.sum(0), X)
        matches(lambda x: renamed(x), lambda x: x.sum(-1), X)
    assert not caplog.records
    with caplog.at_level(logging.WARNING, logger="mycel"):
        matches(lambda x: renamed(x, dim=0), lambda x: x.sum(0), X)
    assert [record.getMessage() for record in caplog.records] == [
        "here.added(dim=...) is an older name; write here.added(axis=...)."
    ]


def test_its_value_may_mean_something_else(renamed):
    matches(lambda x: renamed(x, last=1), lambda x: x.sum(-1), X)
    matches(lambda x: renamed(x, last=2), lambda x: x.sum(-2), X)


def test_an_argument_is_missing_whichever_way_it_is_called(renamed):
    with pytest.raises(TypeError):
        renamed()
    with pytest.raises(TypeError):
        renamed(axis=0)


# -- a module that answers ----------------------------------------------------------------------


def test_a_module_answers_and_lists_the_names_of_its_namespace(names_of_its_own):
    weighed_sum()
    module = {"__name__": "here", "own": 1}
    declare.answer(module, "here")
    assert module["__dir__"]() == sorted([*module, "weighed_sum", "weigh"])
    found = module["__getattr__"]("weigh")
    assert found is names_of_its_own["here"]["weigh"] is module["weigh"]
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'weight'"):
        module["__getattr__"]("weight")
