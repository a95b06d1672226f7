# SPDX-License-Identifier: Apache-2.0
"""Arguments in words. Oracle: the sentence a user should read; the keys are those of `jit`."""

from __future__ import annotations

import dataclasses
import functools
from collections import namedtuple

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn
from mycel.kernel.prove.explain import (
    argument_names,
    describe_key,
    describe_remembered,
    explain_keys,
    name_of,
    nearest_key,
)

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass(slots=True)
class Batch:
    x: Tensor
    count: int = 0


class Config:
    def scale(self):
        return 1.0


def key(*args, **kwargs):
    """The key under which a compiled function remembers this call."""
    remembered = ms.jit(lambda *args, **kwargs: None)
    remembered(*args, **kwargs)
    (found,) = remembered.ways
    return found


def ones(*shape, dtype=ms.float32):
    return Tensor(np.ones(shape), dtype)


def told(names, before, after):
    return explain_keys(names, before, after)


@pytest.mark.parametrize(
    ("before", "after", "what", "remedy"),
    [
        ((1.0,), (2.0,), "argument `x` went 1.0 -> 2.0", "pass a Tensor"),
        ((1,), (2.5,), "argument `x` went 1 -> 2.5", "pass a Tensor"),
        (("a",), ("b",), "argument `x` went 'a' -> 'b'", "keep to a few"),
        ((True,), (False,), "argument `x` went True -> False", "keep to a few"),
        ((None,), (1.0,), "argument `x` went None -> 1.0", "keep to a few"),
        ((ones(4, 8),), (ones(5, 8),), "`x` went (4, 8) -> (5, 8)", "drop_remainder=True"),
        ((ones(4, 8),), (ones(4, 9),), "`x` went (4, 8) -> (4, 9)", "a few lengths"),
        ((ones(4, 8),), (ones(4),), "`x` went (4, 8) -> (4,)", "one rank"),
        ((ones(2),), (ones(2, dtype=ms.float16),), "`x` went Float32 -> Float16", "convert"),
        (
            (ones(2),),
            (ones(3, dtype=ms.float16),),
            "`x` went Float32[2] -> Float16[3]",
            "drop_remainder=True",
        ),
        ((ones(2),), (1.0,), "`x` went Tensor -> float", "convert"),
        ((Config(),), (Config(),), "argument `x` is another object (Config)", "same object"),
        (([ones(2), 1.0],), ([ones(2), 2.0],), "argument `x[1]` went 1.0 -> 2.0", "a Tensor"),
        (([1.0],), ([1.0, 1.0],), "`x` went 1 element -> 2 elements", "one structure"),
        (([1.0],), ((1.0,),), "`x` went list -> tuple", "convert"),
        (({"a": 1.0},), ({"a": 2.0},), "argument `x['a']` went 1.0 -> 2.0", "pass a Tensor"),
        (({"a": 1},), ({"b": 1},), "the keys of `x` went ['a'] -> ['b']", "one structure"),
        ((Pair(1.0, 2.0),), (Pair(1.0, 3.0),), "argument `x.right` went 2.0 -> 3.0", "a Tensor"),
        (
            (Batch(ones(2), 1),),
            (Batch(ones(2), 2),),
            "argument `x.count` went 1 -> 2",
            "pass a Tensor",
        ),
        ((Batch(ones(2, 3)),), (Batch(ones(2)),), "`x.x` went (2, 3) -> (2,)", "one rank"),
        ((1.0,), (1.0, 2.0), "one argument more (`y`)", "same arguments"),
        ((1.0, 2.0, 3.0), (1.0,), "2 arguments fewer (`y`, `more[0]`)", "same arguments"),
        ((1.0, 2.0), (2.0, 3.0), "argument `x` went 1.0 -> 2.0; argument `y` went", "a Tensor"),
    ],
)
def test_what_changed_in_words(before, after, what, remedy):
    found, instead = told(["x", "y", "*more"], key(*before), key(*after))
    assert found.startswith(what)
    assert remedy in instead
    assert found == what or ";" in what


def test_named_arguments_and_their_way():
    names = ["x", "t"]
    assert told(names, key(1.0, t=1.0), key(1.0, t=2.0))[0] == "argument `t` went 1.0 -> 2.0"
    assert told(names, key(1.0, t=1.0), key(1.0, 2.0))[0] == "argument `t` went 1.0 -> 2.0"
    assert told(names, key(1.0, t=1.0), key(1.0, 1.0))[0] == "argument `t` was given by position"
    assert told(names, key(1.0, 1.0), key(1.0, t=1.0))[0] == "argument `t` was given by name"
    what, _ = told(names, key(a=1.0, b=2.0), key(b=2.0, a=1.0))
    assert what == "the named arguments came in another order"


def test_which_arguments_are_one_tensor_and_their_hooks():
    one, two = ones(2), ones(2)
    assert "the same Tensor" in told(["x", "y"], key(one, one), key(one, two))[0]
    before = key(one)
    handle = one.register_hook(lambda gradient: None)
    assert "hooks" in told(["x"], before, key(one))[0]
    handle.remove()


def test_many_changes_are_counted_and_names_are_made_up():
    what, remedy = told([], key(1.0, 2.0, 3.0, 4.0, 5.0), key(2.0, 3.0, 4.0, 5.0, 6.0))
    assert what.startswith("argument `#1` went 1.0 -> 2.0; argument `#2` went 2.0 -> 3.0")
    assert what.endswith("; and 2 more")
    assert remedy == "pass a Tensor"


def test_long_values_are_cut():
    what, _ = told(["x"], key("a" * 500), key("b" * 500))
    assert len(what) < 100


def test_keys_of_a_kind_that_is_not_known_are_told_in_general():
    # Whatever a key may hold one day: an explanation must not be an error.
    odd = [(object(),), ((),), ((1, "a"),), (None,), (frozenset([1]),), ((float, b"\0"),)]
    for before in odd:
        for after in [*odd, key(1.0), key(ones(2))]:
            what, remedy = told(["x"], before, after)
            assert what
            assert remedy
            assert describe_key(["x"], after)


def test_the_nearest_call_is_what_is_compared():
    keys = [key(ones(4), 1.0), key(ones(2), 1.0, 3.0), key(ones(3), 5.0)]
    assert nearest_key(keys, key(ones(4), 2.0)) is keys[0]
    assert nearest_key(keys, key(ones(2), 1.0, 4.0)) is keys[1]
    assert nearest_key(keys, key(ones(7), 7.0)) is keys[2], "of equals the latest"
    assert nearest_key([], keys[0]) is None


def test_keys_in_words():
    config = Config()
    found = describe_key(["x", "t"], key(ones(4, 8), 1.0, config, [1, 2], mode="train"))
    assert found == "x Float32[4, 8], t=1.0, #3=<Config>, #4=<list of 2>, mode='train'"
    assert describe_key(["x"], key()) == "no arguments"


def test_names_of_arguments():
    class Net(nn.Cell):
        def construct(self, images, *, scale=1.0):
            return images * scale

        @ms.jit
        def other(self, labels):
            return labels

    def plain(x, y, *rest, flag=False, **more):
        return x

    net = Net()
    assert argument_names(plain) == ["x", "y", "*rest"]
    assert argument_names(functools.partial(plain, 1)) == ["y", "*rest"]
    assert argument_names(net.__call__, net) == ["images"]
    assert argument_names(net.other) == ["labels"]
    assert argument_names(Net.other.function) == ["self", "labels"]
    assert argument_names(ms.grad(net).run) == ["images"]
    assert argument_names(ms.grad(plain).run) == ["x", "y", "*rest"]
    assert argument_names(min) in ([], ["*args"])


def test_names_of_functions():
    def step(x):
        return x

    net = nn.Dense(1, 1)
    assert name_of(step) == "step"
    assert name_of(Config.scale) == "Config.scale"
    assert name_of(net.__call__, net) == name_of(net) == "Dense"
    assert name_of(functools.partial(step)) == "step"
    assert name_of(ms.grad(step).run) == "grad of step"
    assert name_of(ms.value_and_grad(net).run) == "grad of Dense"


def test_what_a_function_remembers():
    assert describe_remembered("step", "a.py:3", []) == (
        "<jit step (a.py:3): nothing is remembered yet>"
    )
    text = describe_remembered(
        "step", "a.py:3", [("x Float32[2]", "replayed 3 times"), ("t=1", "")]
    )
    assert text.splitlines()[:2] == [
        "<jit step (a.py:3): 2 memories",
        "  x Float32[2]  replayed 3 times",
    ]
    many = describe_remembered("step", "a.py:3", [(f"t={n}", "waits") for n in range(64)])
    assert len(many.splitlines()) == 10
    assert "56 older ones" in many
    assert "t=63" in many


def test_repr_of_a_compiled_function():
    @ms.jit
    def double(x):
        return x * 2

    assert repr(double).startswith("<jit double (")
    assert "nothing is remembered yet" in repr(double)
    for _ in range(4):
        double(ones(3))
    assert "x Float32[3]" in repr(double)
