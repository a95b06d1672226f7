# SPDX-License-Identifier: Apache-2.0
"""Compiled calls with hooks: no callback in the program, no compilation for a hook, values that
come out of the executable; a second process starts from the disk cache.

Oracles: the lowered program's text, XLA's own compile events, NumPy.
"""

from __future__ import annotations

import decimal
import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base.errors import HookOrderError
from mycel.kernel.prove.reads import Reads
from mycel.kernel.prove.sources import FIELD

SCRIPT = """
import jax, numpy as np, mycel as ms
from mycel import Tensor, nn, ops
events = {"hits": 0, "misses": 0}
def heard(event, **_):
    if event.endswith("compilation_cache/cache_hits"):
        events["hits"] += 1
    if event.endswith("compilation_cache/cache_misses"):
        events["misses"] += 1
jax.monitoring.register_event_listener(heard)
net = nn.SequentialCell(nn.Dense(4, 4, "ones"), nn.Tanh(), nn.Dense(4, 2, "ones"))
seen = []
for cell in net:
    cell.register_forward_hook(lambda cell, inputs, output: seen.append(float(output.mean())))
    cell.register_backward_hook(lambda cell, i, o: seen.append(float(ops.norm(i[0]))))
step = ms.jit(ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params()))
for number in range(5):
    loss, gradients = step(Tensor(np.full((3, 4), number, np.float32)))
print(ms.debug.ledger().counts.replays, len(seen), events["hits"], events["misses"])
"""


def hooked_step():
    """A step with a looking, a modifying and a keeping hook; what they saw."""
    net = nn.SequentialCell(nn.Dense(4, 4, 0.5, 0.0), nn.ReLU(), nn.Dense(4, 2, 0.5, 0.0))
    seen: list = []
    first, middle, last = net
    first.register_forward_hook(lambda cell, i, o: seen.append(float(o.max())))
    middle.register_forward_hook(lambda cell, i, o: o * 0.5)
    last.register_backward_hook(lambda cell, arrived, left: seen.append(left[0]))
    step = ms.jit(ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params()))
    return step, seen


def test_no_callback_and_no_compilation_for_hooks():
    step, seen = hooked_step()
    for _ in range(3):
        step(Tensor(np.ones((3, 4), np.float32)))
    (memory,) = step.memories
    arrays = memory.store.inputs([Tensor(np.ones((3, 4), np.float32))])
    text = memory.executable.lower(arrays).as_text()
    assert "dot_general" in text
    assert "callback" not in text
    assert "custom_call" not in text
    before = ms.debug.ledger().counts.compilations, ms.debug.ledger().counts.segments
    for number in range(10):
        seen.clear()
        loss, _ = step(Tensor(np.full((3, 4), number, np.float32)))
        # By hand: each of four outputs of the first layer is 4 · 0.5 · number.
        assert seen[0] == 2.0 * number
        np.testing.assert_array_equal(seen[1].asnumpy(), np.full((3, 4), 1.0))
        assert float(loss) == 3 * 2 * 4 * 0.5 * (0.5 * 2.0 * number)
    # Nothing was compiled, and no segment ran: what the hooks looked at came with the results.
    assert (ms.debug.ledger().counts.compilations, ms.debug.ledger().counts.segments) == before


def test_what_hooks_keep_does_not_keep_the_others():
    """Small results come packed in one array; a kept one gets an array of its own."""
    net = nn.SequentialCell(*[nn.Dense(8, 8) for _ in range(6)])
    kept = []
    for number, cell in enumerate(net):
        if number == 3:
            cell.register_forward_hook(lambda cell, inputs, output: kept.append(output))
        else:
            cell.register_forward_hook(lambda cell, inputs, output: None)
    function = ms.jit(lambda x: net(x).sum())
    x = np.random.RandomState(0).randn(64, 8).astype(np.float32)
    calls = 40
    for number in range(calls):
        function(Tensor(x * number))
    own = [value.source for value in (tensor._value for tensor in kept) if value.array is None]
    assert len(own) > calls // 2
    sizes = [home._array.size for home in own]
    # The last few calls may still have their packs.
    assert sum(size == 64 * 8 for size in sizes) >= calls - 2 - 10
    # What was kept is right, and can be used by operators.
    *layers, _, _ = net
    for number in (5, calls - 1):
        expected = x * np.float32(number)
        for layer in layers:
            expected = expected @ layer.weight.asnumpy().T + layer.bias.asnumpy()
        np.testing.assert_allclose(kept[number].asnumpy(), expected, 1e-4, 1e-5)
        np.testing.assert_allclose((kept[number] * 2).asnumpy(), expected * 2, 1e-4, 1e-5)
        np.testing.assert_allclose(ops.relu(kept[number]).asnumpy(), expected.clip(0), 1e-4, 1e-5)


def test_a_second_process_starts_from_the_disk_cache(tmp_path):
    script = tmp_path / "step.py"
    script.write_text(SCRIPT, "utf-8")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    outcomes = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        outcomes.append([int(word) for word in done.stdout.split()])
    (replays, seen, _, first_misses), (again, seen_again, hits, misses) = outcomes
    assert replays == again >= 3
    assert seen == seen_again == 5 * 6
    assert first_misses > 0
    assert hits >= first_misses
    assert misses == 0


def _changed_by_a_hook(compiled, change, factor, at=4):
    """A hook of the backward pass changes, in this call, what the body has read before it, and does
    something new: the gradients, with that of the next call."""
    turn = [0]
    net = nn.SequentialCell(nn.Dense(1, 1, 3.0, 0.0))

    def replace(cell, arrived, left):
        turn[0] += 1
        if turn[0] == at:
            change()
        return (left[0] * 2,) if turn[0] == at else None

    net.register_backward_hook(replace)
    step = compiled(ms.grad(lambda x: (net(x) * factor()).sum()))
    for _ in range(at + 1):
        yield float(step(Tensor([[2.0]])))


def test_a_body_goes_on_with_what_it_has_read_before_a_hook_changed_it():
    """Oracle: direct execution."""

    def play(compiled):
        settings = {"factor": 2.0}
        change = functools.partial(settings.update, factor=5.0)
        return [*_changed_by_a_hook(compiled, change, lambda: settings["factor"])]

    with execution("direct"):
        expected = play(lambda function: function)
    assert play(ms.jit) == expected == [6.0, 6.0, 6.0, 12.0, 15.0]
    assert ms.debug.ledger().counts.replays


def test_a_body_goes_on_behind_hooks_that_made_data():
    """A hook puts data in the place of a gradient; one behind it does something new. Oracle: direct
    execution."""

    def play(compiled):
        net = nn.SequentialCell(nn.Dense(2, 2, 0.5, 0.0), nn.Tanh(), nn.Dense(2, 1, 3.0, 0.0))
        turn = [0]

        def replace(cell, arrived, left):
            turn[0] += 1
            return (left[0] * 2,) if turn[0] == 5 else None

        scale = Parameter(Tensor([2.0]), name="scale")
        net[2].register_backward_pre_hook(lambda cell, arrived: (Tensor([[5.0]]),))
        net[2].register_backward_hook(replace)
        net[0].register_backward_hook(lambda cell, arrived, left: (left[0] + scale,))
        step = compiled(ms.grad(lambda x: net(x * scale).sum()))
        return [step(Tensor([[2.0, 1.0]])).asnumpy().tolist() for _ in range(6)]

    with execution("direct"):
        expected = play(lambda function: function)
    np.testing.assert_allclose(play(ms.jit), expected, 1e-6)
    assert expected[4] != expected[5]
    assert ms.debug.ledger().counts.replays


def test_a_hook_that_exchanges_layers_whose_names_the_body_reads():
    """The exchange gives their Parameters other names. Oracle: direct execution."""

    class Halved(nn.Cell):
        def __init__(self, seen):
            super().__init__()
            self.seen, self.weight = seen, Parameter(Tensor([0.3]))

        def construct(self, x):
            ms.every_call(self.seen)(x)
            return x * 0.5

    class Network(nn.Cell):
        def __init__(self):
            super().__init__()
            self.turns = []
            self.first = Halved(self.seen)
            self.second = nn.Dense(2, 2, 1.0, 0.0)

        def seen(self, x):
            self.turns.append(x)
            if len(self.turns) == 9:
                self.first, self.second = self.second, self.first

        def construct(self, x):
            return self.second(self.first(self.first(x)))

    def play(compiled):
        net = Network()
        step = compiled(lambda x: (net(x).sum(), [p.name for p in net.get_parameters()]))
        return [(float(y), names) for y, names in [step(Tensor([[1.0, 2.0]])) for _ in range(7)]]

    with execution("direct"):
        expected = play(lambda function: function)
    assert play(ms.jit) == expected
    assert ms.debug.ledger().counts.replays


@pytest.mark.parametrize("read", [False, True])
def test_a_hook_counts_on_its_cell(read):
    """What nothing in the call reads may be another each time. Oracle: direct execution."""

    class Network(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2, 1.0, 0.0)
            self.count, self.mean = 0, None
            self.dense.register_forward_hook(self.seen)

        def seen(self, cell, inputs, output):
            self.count += 1
            self.mean = float(output.mean())

        def construct(self, x):
            y = self.dense(x)
            return y * self.count if read else y

    def play(compiled):
        net = Network()
        function = compiled(lambda x: net(x))
        results = (float(function(Tensor([[1.0, n]])).sum()) for n in range(6))
        return [(result, net.count, net.mean) for result in results]

    with execution("direct"):
        expected = play(lambda function: function)
    assert play(ms.jit) == expected
    assert ms.debug.ledger().counts.replays == (0 if read else 4)


def test_what_cannot_be_set_back_for_the_body_is_an_error():
    """A hook changes how precisely decimal numbers are computed, which the body has used. Oracle:
    direct execution, for what comes before."""
    context = decimal.getcontext()
    change = functools.partial(setattr, context, "prec", context.prec + 1)
    gradients = _changed_by_a_hook(ms.jit, change, lambda: float(decimal.Decimal("2.0")))
    assert [next(gradients) for _ in range(3)] == [6.0] * 3
    assert ms.debug.ledger().counts.replays
    with pytest.raises(HookOrderError, match=r"to its hook .*replace \(at .*test_hooks_comp"):
        next(gradients)


def test_a_cache_that_a_hook_adds_to_gives_the_body_what_it_gave():
    """Oracle: direct execution."""

    def play(compiled):
        @functools.lru_cache
        def factor(at):
            return float(at)

        return [*_changed_by_a_hook(compiled, lambda: factor(3), lambda: factor(2), at=6)]

    with execution("direct"):
        expected = play(lambda function: function)
    assert play(ms.jit) == expected == [6.0] * 5 + [12.0, 6.0]
    assert ms.debug.ledger().counts.replays


def test_a_body_that_reads_what_hooks_change_runs_in_pynative():
    """A hook of the backward pass appends to the list whose end the body reads. Oracle: direct
    execution."""

    def play(compiled):
        kept, turn = [], [0]
        net = nn.SequentialCell(nn.Dense(1, 1, 3.0, 0.0))

        def replace(cell, arrived, left):
            turn[0] += 1
            kept.append(left[0] * 10)
            return None if turn[0] < 4 else (left[0] * 2,)

        net[0].register_forward_pre_hook(lambda cell, inputs: kept.append(inputs[0]))
        net.register_backward_hook(replace)
        step = compiled(ms.grad(lambda x: (net(x) * kept[-1]).sum()))
        return [float(step(Tensor([[2.0]]))) for _ in range(6)]

    assert play(ms.jit) == play(lambda function: function)


def test_a_body_that_goes_the_same_way_goes_on():
    """The same, with what the hooks keep under other names. Oracle: the chain rule."""
    kept, turn = {}, [0]
    net = nn.SequentialCell(nn.Dense(1, 1, 3.0, 0.0))

    def replace(cell, arrived, left):
        turn[0] += 1
        kept["left"] = left[0] * 10
        return None if turn[0] < 4 else (left[0] * 2,)

    net[0].register_forward_pre_hook(lambda cell, inputs: kept.update(inputs=inputs[0]))
    net.register_backward_hook(replace)
    step = ms.jit(ms.grad(lambda x: (net(x) * kept["inputs"]).sum()))
    found = [float(step(Tensor([[2.0]]))) for _ in range(6)]
    # d(3x · kept)/dx = 6x: what was kept is x behind the border of the Cell, so that both parts
    # leave through it and are doubled later.
    assert found == [12.0] * 3 + [24.0] * 3


def test_data_that_a_hook_makes_stays_data_when_the_call_goes_on():
    """A hook cuts off with fresh data, a later one does something new: the call goes on with that
    data, and is remembered as it is. Oracle: the chain rule."""
    turn = [0]
    net = nn.SequentialCell(nn.Dense(1, 1, 3.0, 0.0), nn.Dense(1, 1, 5.0, 0.0))

    def scale(cell, inputs, output):
        turn[0] += 1
        return None if turn[0] < 4 else output * 2

    net[0].register_forward_hook(lambda cell, inputs, output: output + Tensor([[0.5]]))
    net[1].register_forward_hook(scale)
    step = ms.jit(ms.value_and_grad(lambda x: net(x).sum()))
    found = [[float(part) for part in step(Tensor([[2.0]]))] for _ in range(8)]
    assert found == [[32.5, 15.0]] * 3 + [[65.0, 30.0]] * 5
    # Two agreed before the hook changed its mind, and again before it is replayed once more.
    assert ms.debug.ledger().counts.replays >= 2


def test_a_hook_on_what_the_body_assigned_leaves_it_connected():
    """A function of every call registers a hook on a Parameter that the body has assigned within
    the derivative; the call goes on in PyNative. Oracle: the chain rule."""
    w, turn = Parameter(Tensor([2.0, 3.0]), name="w"), [0]

    @ms.every_call
    def register(x):
        turn[0] += 1
        if turn[0] == 4:
            w.register_hook(lambda gradient: None)

    def loss(x):
        w[1] = x * 5
        register(x)
        return (w * x).sum()

    step = ms.jit(ms.grad(loss))
    # d(2x + 5x · x)/dx
    found = [float(step(Tensor(number))) for number in (1.0, 2.0, 3.0, 4.0, 5.0)]
    assert found == [12.0, 22.0, 32.0, 42.0, 52.0]


@pytest.mark.parametrize("compiled", [False, True])
def test_what_a_hook_keeps_of_parameters_stays_as_it_was(compiled):
    # Parameters take their new arrays in place, except where a hook has their Values too.
    net = nn.Dense(2, 2, "ones", "zeros")
    kept: list = []

    def keep(cell, inputs, output):
        kept.append((cell.weight.value(), Tensor(cell.bias), cell.weight * 1))

    def assign(cell, inputs, output):
        cell.bias.set_data(cell.bias + 10)

    net.register_forward_hook(keep)

    def body(x):
        net.weight.set_data(net.weight + 1)
        loss = net(x).sum()
        net.bias.set_data(net.bias + 2)
        return loss, net.bias

    step = ms.jit(body) if compiled else body
    x = Tensor(np.ones((1, 2), np.float32))
    losses = [float(step(x)[0]) for _ in range(6)]
    handle = net.register_forward_hook(assign)
    losses += [float(step(x)[0]) for _ in range(6)]
    handle.remove()
    losses += [float(step(x)[0]) for _ in range(6)]
    weights = np.arange(2, 20)
    biases = np.cumsum([0] + 6 * [2] + 6 * [12] + 5 * [2])
    # Written without mycel: both outputs are 2 w + b.
    np.testing.assert_array_equal(losses, 4 * weights + 2 * biases)
    for (weight, bias, copy), w, b in zip(kept, weights, biases, strict=True):
        np.testing.assert_array_equal(weight.asnumpy(), np.full((2, 2), w))
        np.testing.assert_array_equal(copy.asnumpy(), np.full((2, 2), w))
        np.testing.assert_array_equal(bias.asnumpy(), np.full(2, b))
    assert float(net.bias[0]) == biases[-1] + 2
    if compiled:
        assert ms.debug.ledger().counts.replays >= 9


def test_sources_may_be_added_while_they_are_gone_through():
    """What a collection of garbage calls is Python that is watched, and it may come at any moment:
    here, when it is asked whether a site has set a field."""
    reads = Reads.__new__(Reads)
    reads.sources = {(FIELD, number, "name"): number for number in range(3)}

    class Collecting(set):
        def __contains__(self, key):
            reads.sources[FIELD, len(reads.sources), "name"] = 0
            return False

    assert [*reads._not_set(Collecting()).values()] == [0, 1, 2]
    assert len(reads.sources) == 6
