# SPDX-License-Identifier: Apache-2.0
"""Containers keep their class and what they have besides. Oracle: PyNative, and plain Python."""

from __future__ import annotations

import collections
import copy
import dataclasses
import pickle
import time
import types

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Tensor, nn, ops
from mycel.kernel.base.trees import tree_exchange, tree_leaves, tree_map

Pair = collections.namedtuple("Pair", "left right")


class Named(Pair):
    """A constructor of its own, and attributes."""

    def __new__(cls, text):
        made = super().__new__(cls, *text.split())
        made.text = text
        return made


class Listed(list):
    def __init__(self, owner, *members):
        super().__init__(members)
        self.owner = owner


class Keyed(dict):
    def __init__(self, *, owner, **entries):
        super().__init__(entries)
        self.owner = owner


class AsAttributes(dict):
    """Keys are attributes, by the usual trick."""

    def __init__(self, **entries):
        super().__init__(entries)
        self.__dict__ = self


class Mirrored(collections.OrderedDict):
    """Keys are kept as attributes too, as the outputs of many libraries are."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.__dict__[key] = value


class Checked(tuple):
    def __new__(cls, members):
        if not all(isinstance(member, str) for member in members):
            raise TypeError("only words")
        return super().__new__(cls, members)


def mirrored():
    made = Mirrored()
    made["b"], made["a"] = "y", "x"
    return made


CONTAINERS = {
    "tuple": lambda: ("x", "y"),
    "list": lambda: ["x", "y"],
    "dict": lambda: {"b": "x", "a": "y"},
    "namedtuple": lambda: Pair("x", "y"),
    "namedtuple with a constructor": lambda: Named("x y"),
    "list with a constructor": lambda: Listed("me", "x", "y"),
    "dict with a constructor": lambda: Keyed(owner="me", b="x", a="y"),
    "keys as attributes": lambda: AsAttributes(b="x", a="y"),
    "keys kept as attributes": mirrored,
    "tuple that checks": lambda: Checked(("x", "y")),
    "defaultdict": lambda: collections.defaultdict(list, b="x", a="y"),
    "OrderedDict": lambda: collections.OrderedDict(b="x", a="y"),
    "Counter": lambda: collections.Counter(x=1, y=2),
    "empty": lambda: collections.defaultdict(int),
    "nested": lambda: [Named("x y"), {"k": collections.defaultdict(list, a=("x", Pair("y", "z")))}],
}
LEAVES = {
    "deque": lambda: collections.deque(["x"], maxlen=3),
    "dataclass": lambda: dataclasses.make_dataclass("Point", ["x"])("x"),
    "mapping": lambda: types.MappingProxyType({"x": "y"}),
    "UserDict": lambda: collections.UserDict(x="y"),
    "set": lambda: {"x"},
}


def described(tree):
    """Everything there is of a tree, to be compared."""
    more = {} if vars_of(tree) is tree else {k: described(v) for k, v in vars_of(tree).items()}
    if isinstance(tree, dict):
        parts = [(key, described(tree[key])) for key in tree]
        return type(tree), parts, more, getattr(tree, "default_factory", None)
    if isinstance(tree, (tuple, list)):
        return type(tree), [described(part) for part in tree], more
    return tree


def vars_of(tree) -> dict:
    return getattr(tree, "__dict__", {})


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_keeps_its_class_and_its_state(name):
    tree = CONTAINERS[name]()
    before = described(tree)
    made = tree_map(lambda leaf: leaf, tree)
    assert described(made) == before
    assert made is not tree
    shouted = tree_map(lambda leaf: leaf * 2, tree)
    assert tree_leaves(shouted) == [leaf * 2 for leaf in tree_leaves(tree)]
    assert type(shouted) is type(tree)
    assert described(tree) == before


@pytest.mark.parametrize("name", CONTAINERS)
def test_what_does_not_change_stays_the_same_object(name):
    tree = CONTAINERS[name]()
    assert tree_exchange(lambda leaf: leaf, tree) is tree
    if tree_leaves(tree):
        made = tree_exchange(lambda leaf: leaf * 2, tree)
        assert described(made) == described(tree_map(lambda leaf: leaf * 2, tree))
    both = [tree, "other"]
    exchanged = tree_exchange(lambda leaf: "new" if leaf == "other" else leaf, both)
    assert exchanged[0] is tree
    assert exchanged[1] == "new"
    assert both[1] == "other"


@pytest.mark.parametrize("name", LEAVES)
def test_other_objects_are_leaves(name):
    tree = LEAVES[name]()
    assert tree_map(lambda leaf: leaf, [tree])[0] is tree
    assert tree_leaves([tree]) == [tree]


def test_attributes_go_along_with_their_keys():
    made = tree_map(lambda leaf: leaf * 2, AsAttributes(a="x"))
    assert (made.a, made["a"]) == ("xx", "xx")
    made.b = "y"
    assert made["b"] == "y"
    made = tree_map(lambda leaf: leaf * 2, mirrored())
    assert (made.a, made["a"]) == ("xx", "xx")


def test_a_tuple_of_the_interpreter():
    now = time.gmtime(0)
    assert tree_map(lambda leaf: leaf + 1, now).tm_year == 1971


# -- in programs ---------------------------------------------------------------------------------


def filled(name, tensor):
    """A container whose leaves are Tensors."""
    return tree_map(lambda leaf: tensor * len(str(leaf)), CONTAINERS[name]())


def values(tree):
    return described(tree_map(lambda leaf: leaf.asnumpy().tolist(), tree))


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_go_through_programs(name, mode):
    """Returned from jitted functions, given to and returned from Cells, in gradients and in vmap.
    Oracle: the same container of NumPy arrays."""
    expected = values(
        tree_map(lambda leaf: Tensor([3.0, 6.0]) * len(str(leaf)), CONTAINERS[name]())
    )

    class Cell(nn.Cell):
        def construct(self, tree, x):
            return tree_map(lambda leaf: leaf * x, tree)

    with execution(mode):
        cell, three = Cell(), Tensor(3.0)
        returned = ms.jit(lambda x: filled(name, x * 3.0))
        for _ in range(4):
            made = returned(Tensor([1.0, 2.0]))
            assert values(made) == expected
            assert values(cell(filled(name, Tensor([1.0, 2.0])), three)) == expected
            hooked = cell.register_backward_hook(lambda cell, grad_input, grad_output: None)
            taken = ms.grad(
                lambda tree: sum([leaf.sum() * 3.0 for leaf in tree_leaves(tree)], Tensor(0.0))
            )
            given = filled(name, Tensor([1.0, 2.0]))
            if tree_leaves(given):
                gradients = taken(given)
                assert values(gradients) == values(tree_map(lambda _: Tensor([3.0, 3.0]), given))
                assert type(gradients) is type(given)
            _, aux = ms.grad(lambda x: (x.sum(), filled(name, x)), has_aux=True)(Tensor([3.0, 6.0]))
            assert values(aux[0]) == expected
            hooked.remove()
            rows = ms.vmap(lambda x: filled(name, x * 3.0))(Tensor([1.0, 2.0]))
            assert values(rows) == expected


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_container_without_tensors_is_passed_on_as_itself(mode):
    """A gradient leaves alone what it does not differentiate."""
    settings = Keyed(owner="me", rate=None)
    with execution(mode):
        for _ in range(4):
            seen = []

            def function(tree, seen=seen):
                seen.append(tree[1] is settings)
                return tree[0] * 2.0

            ms.grad(function)((Tensor([1.0]), settings))
            assert seen == [True]


def test_operators_on_containers_keep_them():
    made = ops.clamp(Pair(Tensor([-2.0, 5.0]), Tensor([1.0])), -1, 1)
    assert (type(made), made.left.asnumpy().tolist()) == (Pair, [-1.0, 1.0])
    made = ops.clip_by_value(Listed("me", Tensor([5.0])), Tensor(0.0), Tensor(1.0))
    assert (made.owner, made[0].asnumpy().tolist()) == ("me", [1.0])


# -- Tensors of a class of the user's --------------------------------------------------------------


class Measured(Tensor):
    """A Tensor with something besides."""


def measured(numbers, unit):
    made = Measured(numbers)
    made.unit = unit
    return made


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_of_a_tensor_keep_class_and_attributes(copied):
    x = measured([1.0, 2.0], "m")
    made = copied(x)
    assert (type(made), made.unit, made.asnumpy().tolist()) == (Measured, "m", [1.0, 2.0])
    made.unit = "s"
    made[0] = 5.0
    assert (x.unit, x.asnumpy().tolist()) == ("m", [1.0, 2.0])


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_derivative_gives_back_what_it_was_given(mode):
    """What goes through a function unchanged, as something besides the result, is that object."""
    x = measured([1.0, 2.0], "m")
    with execution(mode):
        for _ in range(4):
            _, (same,) = ms.grad(lambda y: ((y * 2).sum(), x), has_aux=True)(Tensor([3.0]))
            assert same is x
            np.testing.assert_array_equal((x + 1).asnumpy(), [2.0, 3.0])


def test_which_results_are_of_the_class_of_the_operand():
    """Oracle: MindSpore 2.10, tried by hand: operators give Tensors, `value()` gives itself."""
    x = measured([1.0, 2.0], "m")
    for plain in (x + 1, x.copy(), x.reshape(2, 1), x.reshape(2), x[0:1], x.squeeze(), Tensor(x)):
        assert type(plain) is Tensor
        assert not hasattr(plain, "unit")
    assert x.value() is x
    assert x.contiguous() is x
    assert type(ms.grad(lambda y: (y * y).sum())(x)) is Tensor
