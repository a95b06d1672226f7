# SPDX-License-Identifier: Apache-2.0
"""Places lie in the user's code. Oracle: the line numbers of this file."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import inspect
import statistics
import threading

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.kernel.base.places import Place, definition_of, is_ours, is_theirs, user_place
from mycel.kernel.record.stream import find_place

CALLS = 3


def line_of(function, words: str) -> str:
    """The place of the first line of a function that has these words."""
    lines, first = inspect.getsourcelines(function)
    (number, *_) = [number for number, line in enumerate(lines, first) if words in line]
    return f"{__file__}:{number}"


def places() -> set[str]:
    """Where the ledger says that calls were not replayed, and where things were compiled."""
    return {line.place for line in ms.debug.ledger().lines}


def test_files_are_told_apart():
    assert is_theirs(__file__)
    assert is_theirs(pytest.__file__), "what is installed may call us, as its user's code"
    assert is_theirs("<stdin>")
    assert is_ours(ms.__file__)
    assert not is_theirs(ms.__file__)
    for library in (contextlib, threading, concurrent.futures):
        assert not is_theirs(library.__file__)
        assert not is_ours(library.__file__)
    assert not is_theirs("<frozen runpy>")


def test_a_place_points_past_pythons_library():
    @contextlib.contextmanager
    def managed():
        yield str(user_place())

    with managed() as inside:
        pass
    assert inside == line_of(managed.__wrapped__, "user_place()")

    # The library itself calls us: what it was called by is meant.
    wrong = functools.singledispatch(ops.add)
    with pytest.raises(ValueError, match="Float32") as caught:
        wrong(Tensor(np.ones(2, np.float32)), Tensor(np.ones(3, np.float32)))
    where = line_of(test_a_place_points_past_pythons_library, "wrong(Tensor")
    assert f"at {where}: " in str(caught.value)


def test_recorded_operators_are_placed_past_pythons_library():
    through_the_library = functools.singledispatch(find_place)
    place = Place(*through_the_library(1))
    assert str(place) == line_of(
        test_recorded_operators_are_placed_past_pythons_library, "through_the_library(1)"
    )


def test_a_thread_that_runs_us_alone_has_a_place_all_the_same():
    compiled = ms.jit(lambda x, t: x * t)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for number in range(CALLS):
            pool.submit(compiled, Tensor([1.0]), float(number)).result()
    line = next(line for line in ms.debug.ledger().lines if line.kind == "argument")
    where = line_of(test_a_thread_that_runs_us_alone_has_a_place_all_the_same, "lambda x, t")
    assert line.place == where
    assert not any("unknown" in place for place in places())


def decorated(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


class Caller:
    def __call__(self, x, t):
        return x * t


class Net(nn.Cell):
    def construct(self, x, t):
        return x * t

    @ms.jit
    @decorated
    def method(self, x, t):
        return x * t


def chosen(by):
    return decorated if by() else None


@ms.jit
@chosen(
    lambda: True,
)
def function(x, t):
    return x * t


def test_definitions():
    """The line of `def`, below the decorators; what wraps a function stands for it."""
    text = inspect.getsource(inspect.getmodule(Net)).splitlines()

    def below(words, offset=1):
        return f"{__file__}:{text.index(words) + 1 + offset}"

    for found, where in [
        (function, below("def function(x, t):", 0)),
        (Net.method, below("    @decorated", 1)),
        (Net().method, below("    @decorated", 1)),
        (Net(), below("class Net(nn.Cell):")),
        (ms.jit(Net()).function, below("class Net(nn.Cell):")),
        (Caller(), below("class Caller:")),
        (functools.partial(Caller(), 1), below("class Caller:")),
        (ms.grad(Caller()), below("class Caller:")),
        (ms.grad(Net()).run, below("class Net(nn.Cell):")),
    ]:
        assert str(definition_of(found)) == where
    assert definition_of(min, nn.Dense(1, 1), None, 3).code is None
    assert str(definition_of(min, function)) == below("def function(x, t):", 0)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: ms.jit(function.function),
        lambda: Net().method,
        lambda: ms.jit(Net()),
        lambda: ms.jit(functools.partial(Caller())),
        lambda: ms.jit(Caller()),
        lambda: ms.jit(ms.grad(Caller())),
        lambda: ms.jit(nn.Dropout(p=0.5)),
        lambda: ms.jit(ops.clip_by_value),
        lambda: ms.jit(ms.grad(ops.mul)),
    ],
)
def test_every_place_in_the_ledger_is_of_this_file(make, graph):
    """Whatever is compiled, ours or the user's, its lines point here."""
    if graph:
        ms.set_context(mode=ms.GRAPH_MODE)
    compiled = make()
    for number in range(CALLS):
        x = Tensor(np.ones(2 + number, np.float32))
        compiled(x) if "Dropout" in repr(compiled) else compiled(x, 1.0 + number)
    ms.flush()
    assert any(line.kind == "argument" for line in ms.debug.ledger().lines)
    assert {place.rpartition(":")[0] for place in places()} == {__file__}


@pytest.mark.parametrize("make", [lambda: nn.Dense(3, 1), lambda: ms.grad(nn.Dense(3, 1))])
def test_our_own_layers_in_graph_mode_are_placed_where_they_are_called(make):
    ms.set_context(mode=ms.GRAPH_MODE)
    net = make()
    for number in range(CALLS):
        net(Tensor(np.ones((1 + number, 3), np.float32)))
    where = line_of(
        test_our_own_layers_in_graph_mode_are_placed_where_they_are_called, "net(Tensor"
    )
    assert {line.place for line in ms.debug.ledger().lines if line.kind == "argument"} == {where}


READS = {
    "bool": lambda x: bool(x.sum() > 0),
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "item": lambda x: x.sum().item(),
    "asnumpy": lambda x: x.asnumpy().sum(),
    "tolist": lambda x: x.tolist(),
    "str": lambda x: len(str(x)),
    "repr": lambda x: len(repr(x)),
    "format": lambda x: len(f"{x.sum():.3f}"),
    "numpy": lambda x: np.asarray(x).sum(),
    "iteration": lambda x: [float(part) for part in x],
    "contains": lambda x: 5.0 in x.asnumpy(),
    "max": lambda x: max(x.tolist()),
    "sorted": lambda x: sorted(x, key=float),
    "equal": lambda x: bool((x >= 2.0).all()),
    "index": lambda x: [1] * int(x.sum()),
    "mean": lambda x: statistics.fmean(x.tolist()),
}


@pytest.mark.filterwarnings("ignore:.*keeps running in PyNative")
@pytest.mark.parametrize("name", READS)
def test_a_read_is_placed_at_its_line(name):
    read = READS[name]

    @ms.jit
    def program(x):
        read(x * 2)
        return x + 1

    for number in range(6):
        program(Tensor([1.0 + number, 2.0 - number * 2]))
    lines = [line for line in ms.debug.ledger().lines if line.kind == "read"]
    where = line_of(test_a_read_is_placed_at_its_line, "program(Tensor")
    own = f"{__file__}:{read.__code__.co_firstlineno}"
    assert lines
    for line in lines:
        assert line.place == own, f"{line.place} for {own}, called at {where}"
