# SPDX-License-Identifier: Apache-2.0
"""An exception says in which Cell it was raised. Oracles: the structure of the networks here, the
lines of this file, and that every execution says the same."""

from __future__ import annotations

import os
import pickle
import sys

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Tensor, nn, ops
from mycel.kernel.base.where import is_told

X = np.ones((2, 3), np.float32)


class Inner(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x, scale=1):
        return self.function(x * scale)


class Outer(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.blocks = nn.CellList([nn.ReLU(), inner])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def notes_of(net, *inputs, kind=Exception, **keywords) -> list[str]:
    with pytest.raises(kind) as caught:
        net(*inputs, **keywords)
    return getattr(caught.value, "__notes__", [])


def raised_here(x):
    raise KeyError("mine")


LINE = raised_here.__code__.co_firstlineno + 1


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_innermost_cell_and_the_user_s_line(mode):
    with execution(mode):
        notes = notes_of(Outer(Inner(raised_here)), Tensor(X), kind=KeyError)
    where = f"Outer.blocks.1, Inner, at {__file__}:{LINE}"
    assert notes == [f"In {where}, called with Float32[2, 3]."]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_line_that_the_message_has_is_not_said_twice(mode):
    with execution(mode):
        notes = notes_of(Outer(nn.Dense(4, 5)), Tensor(X), kind=ValueError)
    assert notes == ["In Outer.blocks.1, Dense(4 → 5), called with Float32[2, 3]."]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_derivative_says_the_same(mode):
    net = Outer(nn.Dense(4, 5))
    with execution(mode):
        derivative = ms.value_and_grad(net, None, net.trainable_params())
        notes = notes_of(derivative, Tensor(X), kind=ValueError)
    assert notes == ["In Outer.blocks.1, Dense(4 → 5), called with Float32[2, 3]."]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_call_that_was_remembered_says_the_same(mode):
    """A condition on values goes the other way in the fifth call."""

    def function(x):
        return raised_here(x) if (x > 4).any() else x * 2

    net = Outer(Inner(function))
    with execution(mode):
        for number in range(4):
            net(Tensor(X * number)).asnumpy()
        notes = notes_of(net, Tensor(X * 5), kind=KeyError)
    assert notes[0].startswith(f"In Outer.blocks.1, Inner, at {__file__}:{LINE}, called with")


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_what_fails_later_names_the_cell_of_the_forward(mode):
    """The index is wrong in a value that is computed: it is read outside the Cells."""
    net = Outer(Inner(lambda x: ops.gather(x, (x.sum() * 100).astype(ms.int32), 0)))
    with execution(mode), pytest.raises(ms.OutOfRangeError) as caught:
        net(Tensor(X)).asnumpy()
    assert caught.value.__notes__[0].startswith("In Outer.blocks.1, Inner")


def test_what_was_given_is_in_short():
    given = Inner(lambda x: undefined)  # noqa: F821
    long = "a" * 100
    notes = notes_of(given, Tensor(X), scale=2)
    assert notes[0].endswith("called with Float32[2, 3], scale=2.")
    cell = nn.SequentialCell(nn.ReLU())
    for value, words in {
        None: "called with None.",
        (None, 1): "called with (None, 1).",
        long: f"called with '{'a' * 39}....",
        object: "called with type.",
    }.items():
        assert notes_of(cell, value)[-1].endswith(words)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (nn.Dense(13, 12), "Dense(13 → 12)"),
        (nn.Conv2d(3, 16, 3), "Conv2d(3 → 16, kernel_size=(3, 3))"),
        (nn.Embedding(100, 8), "Embedding(100 → 8)"),
        (nn.BiDense(2, 3, 4), "BiDense(2 → 4, in2_channels=3)"),
        (nn.BatchNorm2d(4), "BatchNorm2d(4)"),
        (nn.LayerNorm((4,)), "LayerNorm((4,))"),
        (nn.MaxPool2d(2), "MaxPool2d(kernel_size=2)"),
        (nn.GroupNorm(2, 4), "GroupNorm(4, num_groups=2)"),
        (nn.ReLU(), "ReLU"),
        (ms.mint.nn.Linear(3, 4), "Linear(3 → 4)"),
    ],
)
def test_layers_tell_their_sizes(layer, words):
    assert layer._in_short() == words


def test_a_network_without_an_end_is_told_where_the_stack_has_room():
    class Endless(nn.Cell):
        def construct(self, x):
            return self(x)

    notes = notes_of(Endless(), Tensor(X), kind=RecursionError)
    assert len(notes) == 1
    assert len(notes[0]) < 300


def test_a_note_goes_with_the_exception_to_another_process():
    with pytest.raises(KeyError) as caught:
        Outer(Inner(raised_here))(Tensor(X))
    there = pickle.loads(pickle.dumps(caught.value))
    assert is_told(there)


def test_nothing_is_called_without_an_exception():
    """Oracle: Python's own profile of a call that succeeds."""
    called = set()
    net = Outer(nn.Dense(3, 3))
    net(Tensor(X))
    sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_filename))
    try:
        net(Tensor(X))
    finally:
        sys.setprofile(None)
    assert not {"where.py", "reasons.py", "tracebacks.py"} & set(map(os.path.basename, called))
    assert "cell.py" in set(map(os.path.basename, called))
