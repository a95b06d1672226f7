# SPDX-License-Identifier: Apache-2.0
"""Parameters between the replays of a call: whoever looks at them, assigns or keeps them, finds
what PyNative would have. Oracle: the same steps in PyNative, or arithmetic that is plain to see.
"""

from __future__ import annotations

import copy
import gc
import pickle
import random
import signal
import threading
from weakref import ref

import jax
import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.execute.store import FEW

ONE = Tensor(np.ones(2, np.float32))


class Counting(nn.Cell):
    """A call adds its argument to each of some Parameters and returns the first one's double."""

    def __init__(self, count: int):
        super().__init__()
        self.parts = ms.ParameterTuple(
            Parameter(np.full(2, 10.0 * n, np.float32), name=f"p{n}") for n in range(count)
        )

    def construct(self, x):
        for part in self.parts:
            ops.assign_add(part, x)
        return self.parts[0] * 2

    def steps(self) -> list[float]:
        """How often each Parameter was added one to."""
        return [float(p.asnumpy()[0]) - 10.0 * n for n, p in enumerate(self.parts)]


def counting(count: int, calls: int = 3):
    """Such a Cell and its compiled call, replayed already."""
    net = Counting(count)
    step = ms.jit(net)
    for _ in range(calls):
        step(ONE)
    assert is_stored(net.parts[0])
    return net, step


def is_stored(parameter: Parameter) -> bool:
    """Whether it has no Value of its own."""
    return parameter._store is not None


@pytest.mark.parametrize("looked_at", [1, FEW, FEW + 1, 20])
def test_those_looked_at_between_replays_are_as_they_should_be(looked_at):
    net, step = counting(20)
    for call in range(4, 8):
        assert step(ONE).asnumpy()[0] == 2.0 * call
        for number, part in enumerate(net.parts[:looked_at]):
            assert part.asnumpy()[0] == 10.0 * number + call
    assert net.steps() == [7] * 20


@pytest.mark.parametrize("assigned", [1, FEW, FEW + 1, 20])
def test_what_is_assigned_between_replays_is_taken(assigned):
    net, step = counting(20)
    for part in net.parts[:assigned]:
        part.set_data(Tensor(np.full(2, -1.0, np.float32)))
    compilations = ms.debug.ledger().counts.compilations
    assert step(ONE).asnumpy()[0] == 0.0
    assert ms.debug.ledger().counts.compilations == compilations
    expected = [0.0] * assigned + [10.0 * n + 4 for n in range(assigned, 20)]
    assert [part.asnumpy()[0] for part in net.parts] == expected


def test_an_alias_keeps_what_it_had():
    net, step = counting(3)
    before, shown = net.parts[1].value(), net.parts[1].asnumpy()
    step(ONE)
    assert before.asnumpy()[0] == shown[0] == 13.0
    assert net.parts[1].asnumpy()[0] == 14.0


def test_two_functions_take_the_same_parameters_in_turns():
    net, step = counting(12)

    @ms.jit
    def halve(x):
        for part in net.parts:
            part.set_data(part * x)

    plain = Counting(12)
    for _ in range(3):
        plain(ONE)
    half = Tensor(0.5)
    for call in range(20):
        if call % 3:
            step(ONE)
            plain(ONE)
        else:
            halve(half)
            for part in plain.parts:
                part.set_data(part * half)
    assert ms.debug.ledger().counts.replays > 10
    for one, other in zip(net.parts, plain.parts, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_where_all_are_looked_at_each_time_nothing_is_kept_for_a_while():
    """How long: 1, 2, 4 replays and so on; where nobody looks, all are kept again at once."""
    net, step = counting(12)
    kept = []
    for call in range(4, 24):
        assert net.steps() == [call - 1] * 12
        step(ONE)
        kept.append(is_stored(net.parts[3]))
    rests = "".join("01"[k] for k in kept).split("1")
    assert [len(rest) for rest in rests] == [1, 2, 4, 8, 1]
    for _ in range(20):
        step(ONE)
    assert all(map(is_stored, net.parts))
    assert net.steps() == [43] * 12


def test_nothing_old_is_kept():
    """Both functions have a place for every Parameter; only one of them holds its array."""
    net, step = counting(12)
    other = ms.jit(lambda x: step.function(x))
    for _ in range(4):
        other(ONE)
    step(ONE)
    gc.collect()
    arrays = len(jax.live_arrays())
    for _ in range(3):
        other(ONE)
        step(ONE)
    gc.collect()
    assert len(jax.live_arrays()) <= arrays
    assert net.steps() == [3 + 4 + 1 + 6] * 12


def test_a_function_that_is_forgotten_gives_all_back():
    net, step = counting(12)
    last = net.parts[11]
    last_array = ref(step.memories[0].store._arrays[10])
    del step
    gc.collect()
    assert not is_stored(last)
    assert last_array() is not None
    del net
    gc.collect()
    assert last_array() is None, "one Parameter keeps the arrays of others"
    assert last.asnumpy()[0] == 113.0


def test_copies_and_attributes():
    net, step = counting(2)
    assert copy.deepcopy(net.parts[0]).asnumpy()[0] == 3.0
    step(ONE)
    assert pickle.loads(pickle.dumps(net.parts[0])).asnumpy()[0] == 4.0
    step(ONE)
    assert net.parts[1].shape == (2,)
    step(ONE)
    assert copy.copy(net.parts[1]).asnumpy()[0] == 16.0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        net.parts[0].nothing  # noqa: B018


def test_hooks_see_parameters_as_they_are_at_that_point():
    net, seen = Counting(12), []
    inner = nn.ReLU()
    inner.register_forward_hook(lambda cell, given, made: seen.append(net.steps()))

    @ms.jit
    def step(x):
        made = net(x)
        made = inner(made)
        net.parts[0].set_data(net.parts[0] + 1)
        return made

    for _ in range(6):
        step(ONE)
    assert seen == [[2 * call - 1] + [call] * 11 for call in range(1, 7)]
    assert ms.debug.ledger().counts.replays


def test_a_signal_handler_may_look_at_any_moment():
    """As one that saves a checkpoint when the machine is about to stop."""
    net, step = counting(30)
    chance, wrong, looks = random.Random(0), [], []

    def look(*_):
        seen = [
            float(p.asnumpy()[0]) - 10.0 * int(p.name[1:])
            for p in chance.sample(parts, chance.choice((1, 5, 30)))
        ]
        looks.append(len(seen))
        # While one step assigns, some may have it behind them and some before them.
        if max(seen) - min(seen) > 1:
            wrong.append(seen)

    parts, calls = list(net.parts), 3
    before = signal.signal(signal.SIGALRM, look)
    try:
        for _ in range(300):
            signal.setitimer(signal.ITIMER_REAL, chance.random() * 4e-4 + 1e-6)
            for _ in range(4):
                step(ONE)
                calls += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert looks
    assert not wrong
    assert net.steps() == [calls] * 30


def test_threads_may_look_at_any_moment():
    net, step = counting(30)
    done, seen = threading.Event(), ([], [])

    def look(found):
        while not done.is_set():
            found.append(net.steps())

    threads = [threading.Thread(target=look, args=(found,)) for found in seen]
    for thread in threads:
        thread.start()
    for _ in range(300):
        step(ONE)
    done.set()
    for thread in threads:
        thread.join()
    assert net.steps() == [303] * 30
    for found in seen:
        # No Parameter ever goes back.
        assert (np.diff(found, axis=0) >= 0).all()
        assert found[-1][0] > found[0][0]
