# SPDX-License-Identifier: Apache-2.0
"""to_float: computing in another element type, with Parameters and gradients in their own.

Recorded answers of MindSpore 2.10 are in test_cell.py (`to_float_...`). The oracle here is the
same network whose Parameters were converted, or arithmetic that is exact.
"""

from __future__ import annotations

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, Tensor, nn, ops


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Dense(width, 2 * width)
        self.norm = nn.LayerNorm((2 * width,))
        self.back = nn.Dense(2 * width, width)
        self.scale = Parameter(Tensor(np.linspace(0.5, 1.5, width), ms.float32), name="scale")
        self.shift = Tensor(np.linspace(-1, 1, width), ms.float32)

    def construct(self, x):
        return x + self.back(ops.tanh(self.norm(self.dense(x)))) * self.scale + self.shift


def network(width=8):
    ms.set_seed(5)
    return nn.SequentialCell(Block(width), Block(width))


def halved(net):
    """A copy that has its Parameters and Tensors in Float16."""
    made = copy.deepcopy(net).to(ms.float16)
    for _, cell in made.cells_and_names():
        if isinstance(cell, Block):
            cell.shift = cell.shift.astype(ms.float16)
    return made


INPUT = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)


def numpy(tree):
    return [leaf.asnumpy() for leaf in tree]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_network_computes_as_one_with_converted_parameters(mode):
    net = network()
    half = halved(net)
    net.to_float(ms.float16)
    with execution(mode):
        for _ in range(4):
            expected = half(Tensor(INPUT).astype(ms.float16))
            actual = net(Tensor(INPUT))
    assert actual.dtype is ms.float16
    assert_close(actual.asnumpy(), expected.asnumpy(), mode)
    assert {p.dtype for p in net.get_parameters()} == {ms.float32}


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_gradients_arrive_in_the_types_of_parameters(mode):
    net = network()
    half = halved(net)
    x, x_half = Tensor(INPUT), Tensor(INPUT).astype(ms.float16)
    reference = ms.grad(half, 0, half.trainable_params())
    derivative = ms.grad(net.to_float(ms.float16), 0, net.trainable_params())
    with execution(mode):
        for _ in range(4):
            expected = reference(x_half)
            by_input, by_weight = derivative(x)
    assert {g.dtype for g in (by_input, *by_weight)} == {ms.float32}
    for actual, other in zip((by_input, *by_weight), (expected[0], *expected[1]), strict=True):
        assert_close(actual.asnumpy(), other.astype(ms.float32).asnumpy(), mode, "float16")


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_second_order(mode):
    """The oracle is calculus: of w² x³, at numbers that Float16 holds."""

    class Cubic(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(1.5), name="w")

        def construct(self, x):
            return self.w * self.w * x * x * x

    net = Cubic().to_float(ms.float16)
    twice = ms.grad(ms.grad(net))
    mixed = ms.grad(ms.grad(net), None, net.w)
    with execution(mode):
        for _ in range(4):
            made = twice(Tensor(2.0)), mixed(Tensor(2.0))
    assert [m.dtype for m in made] == [ms.float32, ms.float32]
    assert [float(m) for m in made] == [1.5**2 * 6 * 2, 2 * 1.5 * 3 * 4]


def test_a_compiled_step_is_replayed_and_compiles_once():
    net = network().to_float(ms.bfloat16)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    derivative = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    x = Tensor(INPUT)
    losses = [float(step(x)) for _ in range(3)]
    counts = ms.debug.ledger().counts
    before = counts.compilations, counts.replays
    losses += [float(step(x)) for _ in range(5)]
    assert (counts.compilations, counts.replays - 5) == before
    assert losses[-1] < losses[0] / 2
    assert {p.dtype for p in net.get_parameters()} == {ms.float32}


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("optimizer", [nn.SGD, nn.Adam])
def test_a_whole_step_keeps_the_precision_of_what_is_trained(mode, optimizer):
    """A step of 2**-14 on a weight near 1: half of what Float16 can tell apart, times 16."""

    class Linear(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(1.0), name="w")

        def construct(self, x):
            return self.w * x

    net = Linear()
    step = nn.TrainOneStepCell(net, optimizer(net.trainable_params(), 2.0**-14))
    step.to_float(ms.float16)
    with execution(mode):
        for _ in range(16):
            loss = step(Tensor(1.0))
    assert loss.dtype is ms.float16
    assert float(net.w) == pytest.approx(1 - 16 * 2.0**-14, abs=1e-6)
    assert net.w.dtype is ms.float32


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_step_of_training_computes_in_its_own_types(mode):
    """A factor that Float16 cannot hold: only what the step hands on is cast."""

    class Step(nn.TrainOneStepCell):
        def __init__(self, network, optimizer):
            super().__init__(network, optimizer)
            self.factor = Parameter(Tensor(2.0**17), name="factor")

        def construct(self, *inputs):
            loss, gradients = ms.value_and_grad(self.network, None, self.weights)(*inputs)
            self.optimizer([g * self.factor / self.factor for g in gradients])
            return loss

    net = nn.Dense(1, 1, "ones", has_bias=False)
    step = Step(net, nn.SGD(net.trainable_params(), 0.25)).to_float(ms.float16)
    with execution(mode):
        for _ in range(4):
            step(Tensor([[0.5]]))
    assert float(net.weight) == 1 - 4 * 0.25 * 0.5


class Counter(nn.Cell):
    """State that half precision could not hold: 2048 + 0.25 is 2048 in Float16."""

    def __init__(self):
        super().__init__()
        self.seen = Parameter(Tensor(2048.0), name="seen", requires_grad=False)

    def construct(self, x):
        self.seen.set_data(self.seen + 0.25)
        return x * 2


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_state_of_a_child_in_full_precision(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.counter = Counter()

        def construct(self, x):
            return self.counter(x), self.counter.seen * 1

    net = Net().to_float(ms.float16)
    net.counter.to_float(ms.float32)
    with execution(mode):
        for _ in range(5):
            result, seen = net(Tensor(1.5))
    assert (result.dtype, float(result)) == (ms.float32, 3.0)
    assert (net.counter.seen.dtype, float(net.counter.seen)) == (ms.float32, 2049.25)
    # The parent names the Parameter of its child, so it sees it in its own type: 2049.25 rounded.
    assert (seen.dtype, float(seen)) == (ms.float16, 2050.0)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_state_in_half_precision_is_cast_back(mode):
    net = Counter().to_float(ms.float16)
    net.seen.set_data(Tensor(100.0))
    with execution(mode):
        for _ in range(5):
            net(Tensor(1.0))
    assert (net.seen.dtype, float(net.seen)) == (ms.float32, 101.25)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_moving_statistics_are_not_rounded(mode):
    """The oracle is NumPy in Float64: statistics of inputs that were rounded to Float16."""
    x = np.random.default_rng(1).normal(3.3, 0.7, size=(16, 4)).astype(np.float32)
    net = nn.SequentialCell(nn.BatchNorm1d(4)).to_float(ms.float16).set_train()
    mean, variance, rounded = np.zeros(4), np.ones(4), x.astype(np.float16).astype(np.float64)
    with execution(mode):
        for _ in range(6):
            out = net(Tensor(x))
            mean = 0.9 * mean + 0.1 * rounded.mean(0)
            variance = 0.9 * variance + 0.1 * rounded.var(0, ddof=1)
    assert out.dtype is ms.float16
    np.testing.assert_allclose(net[0].moving_mean.asnumpy(), mean, 1e-6)
    np.testing.assert_allclose(net[0].moving_variance.asnumpy(), variance, 1e-5)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_an_error_inside_leaves_what_was_assigned_and_nothing_cast(mode):
    class Failing(nn.Cell):
        def __init__(self):
            super().__init__()
            self.seen = Parameter(Tensor(1.0), name="seen")
            self.other = Parameter(Tensor(1.0001), name="other")

        def construct(self, x):
            self.seen.set_data(self.seen + 1)
            raise ValueError("inside")

    net, x = Failing().to_float(ms.float16), Tensor(1.0001)
    with execution(mode), pytest.raises(ValueError, match="inside"):
        net(x)
    assert [float(net.seen), float(net.other), float(x)] == [2.0, *[float(np.float32(1.0001))] * 2]
    assert {t.dtype for t in (net.seen, net.other, x)} == {ms.float32}


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_inputs_changed_in_place_and_returned(mode):
    class Change(nn.Cell):
        def construct(self, x, log):
            x[0] = 5.0
            log.append(x)
            return x

    net, x, log = Change().to_float(ms.float16), Tensor([1.0, 2.0001]), []
    with execution(mode):
        made = net(x, log)
    assert (made.dtype, made.asnumpy().tolist()) == (ms.float16, [5.0, 2.0])
    assert (x.dtype, x.asnumpy().tolist()) == (ms.float32, [5.0, 2.0])
    assert len(log) == 1


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_parameters_used_without_calling_their_cell(mode):
    """Of a child (tied weights), of a list, of Cells that are never called."""

    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([[2.0]]), name="w")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(3, 2, embedding_table="ones")
            self.holders = nn.CellList([Holder()])
            self.pair = ms.ParameterTuple([Parameter(Tensor([3.0]), name="p")])

        def construct(self, ids):
            x = self.embedding(ids) * self.pair[0]
            x = ops.matmul(x, self.embedding.embedding_table.T)
            return ops.matmul(x.reshape(-1, 1), self.holders[0].w)

    net = Net().to_float(ms.float16)
    with execution(mode):
        for _ in range(4):
            made = net(Tensor([1]))
    assert (made.dtype, made.asnumpy().tolist()) == (ms.float16, [[12.0]] * 3)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_derivative_taken_inside(mode):
    """A Cell that returns gradients of another one: they have the types of the Parameters."""

    class Gradients(nn.Cell):
        def __init__(self, network):
            super().__init__(auto_prefix=False)
            self.network = network
            self.weights = ms.ParameterTuple(network.trainable_params())

        def construct(self, x):
            return ms.grad(self.network, None, self.weights)(x)

    net = nn.Dense(2, 1, "ones", "zeros")
    taken = Gradients(net).to_float(ms.float16)
    with execution(mode):
        for _ in range(4):
            by_weight, by_bias = taken(Tensor([[1.0, 2.0]]))
    assert (by_weight.dtype, by_weight.asnumpy().tolist()) == (ms.float32, [[1.0, 2.0]])
    assert (by_bias.dtype, by_bias.asnumpy().tolist()) == (ms.float32, [1.0])


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_hooks_are_outside(mode):
    net, log = nn.Dense(2, 1, "ones", "zeros").to_float(ms.float16), []

    def note(kind):
        return lambda cell, *given: log.append((kind, [g[0].dtype for g in given[:2]]))

    net.register_forward_pre_hook(note("pre"))
    net.register_forward_hook(lambda cell, inputs, out: log.append(("out", [out.dtype])))
    net.register_backward_hook(note("back"))
    net.weight.register_hook(lambda gradient: log.append(("weight", [gradient.dtype])))
    derivative = ms.grad(net, 0, net.trainable_params())
    with execution(mode):
        for _ in range(4):
            derivative(Tensor([[1.0, 2.0]]))
    wide, half = ms.float32, ms.float16
    each = [("pre", [wide]), ("out", [half]), ("back", [half, wide]), ("weight", [wide])]
    assert sorted(log, key=str) == sorted(each * 4, key=str)
    if mode == "graph":
        assert ms.debug.ledger().counts.replays > 0


def test_a_reverse_of_its_own():
    """It is given what `construct` was given; gradients of internal Parameters are converted."""
    seen = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")
            self.internal_params = [self.w]

        def construct(self, x):
            return self.w * x

        def bprop(self, *args):
            seen.append([a.dtype for a in args])
            return (self.w * args[-1],), {self.w: args[0] * args[-1] * 10}

    net = Net().to_float(ms.float16)
    derivative = ms.grad(lambda x: net(x) * 3.0, 0, net.trainable_params())
    for mode in EXECUTIONS:
        with execution(mode):
            gx, (gw,) = derivative(Tensor([5.0]))
        assert (gx.dtype, gx.asnumpy().tolist()) == (ms.float32, [6.0])
        assert (gw.dtype, gw.asnumpy().tolist()) == (ms.float32, [150.0])
    assert seen[0] == [ms.float16] * 3


@pytest.mark.parametrize("what", ["made inside", "an argument", "a Parameter"])
def test_a_compiled_method_inside(what):
    """A method that gives a child of another type its argument, or names a Parameter of it, cannot
    be replayed, and says so; otherwise it is."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(1.0001), name="w")
            self.inner = Counter().to_float(ms.float32)

        @ms.jit
        def scaled(self, x):
            return self.inner(x if what == "an argument" else x * 1.0) * self.w

        def construct(self, x):
            return self.scaled(x)

    class Named(Net):
        @ms.jit
        def scaled(self, x):
            return self.inner(x * 1.0) * self.w + 0 * self.inner.seen

    net = Named() if what == "a Parameter" else Net()
    net.to_float(ms.float16)
    net.inner.to_float(ms.float32)
    before = float(net.w)
    for call in range(1, 7):
        made = net(Tensor(1.5))
        assert (made.dtype, float(made)) == (ms.float32, 3.0)
        assert (net.w.dtype, float(net.w)) == (ms.float32, before)
        assert float(net.inner.seen) == 2048 + call * 0.25
    ledger = ms.debug.ledger()
    assert (ledger.counts.replays > 0) == (what == "made inside")
    told = [line for line in ledger.lines if "give its children one type" in line.remedy]
    assert bool(told) == (what != "made inside")


@pytest.mark.parametrize("compiled", [False, True])
def test_a_hook_that_calls_such_a_cell_and_changes_its_mind(compiled):
    """On replay the fifth call is broken off: state and log are those of plain Python."""
    state, log = Counter().to_float(ms.float16), []
    total = Parameter(Tensor(0.0), name="total")

    @ms.every_call
    def visit(x):
        total.set_data(total + state.seen)
        log.append(float(state(x)))
        return x * 2 if len(log) == 5 else None

    def function(x):
        changed = visit(x)
        return (x if changed is None else changed) + 1

    run = ms.jit(function) if compiled else function
    made = []
    for number in range(8):
        state.seen.set_data(Tensor(2048.25))
        made.append(float(run(Tensor(float(number)))))
    assert made == [n * (2.0 if n == 4 else 1.0) + 1 for n in range(8)]
    assert log == [2.0 * n for n in range(8)]
    # 2048.25 is 2048 in Float16, and so is what is assigned inside.
    assert (state.seen.dtype, float(state.seen)) == (ms.float32, 2048.0)
    assert float(total) == 8 * 2048.25


def test_threads_that_call_one_cell():
    net = network().to_float(ms.float16)
    expected = net(Tensor(INPUT)).asnumpy()
    before = numpy(net.get_parameters())
    good = []
    # Time for another thread to come in between.
    net[-1].dense.register_forward_hook(lambda *_: time.sleep(0.001))

    def work():
        for _ in range(10):
            made = net(Tensor(INPUT))
            good.append(made.dtype is ms.float16 and abs(made.asnumpy() - expected).max() < 0.01)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert good == [True] * 30
    for parameter, value in zip(net.get_parameters(), before, strict=True):
        assert parameter.dtype is ms.float32
        np.testing.assert_array_equal(parameter.asnumpy(), value)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_keep_the_type(copied):
    net = network().to_float(ms.float16)
    expected = net(Tensor(INPUT))
    made = copied(net)
    again = made(Tensor(INPUT))
    assert again.dtype is ms.float16
    assert_close(again.asnumpy(), expected.asnumpy(), "copy")
    made[0].scale.set_data(made[0].scale * 0)
    assert_close(net(Tensor(INPUT)).asnumpy(), expected.asnumpy(), "original")


def test_a_type_chosen_later_is_seen_by_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, seen = nn.Dense(2, 1, "ones", "zeros"), []
    for kind in (None, ms.float16, ms.bfloat16, ms.float32):
        if kind is not None:
            net.to_float(kind)
        for _ in range(4):
            made = net(Tensor([[1.0, 2.0]]))
            seen.append((made.dtype, float(made)))
    kinds = (ms.float32, ms.float16, ms.bfloat16, ms.float32)
    assert seen == [(kind, 3.0) for kind in kinds for _ in range(4)]


def test_recursion_and_the_same_tensor_twice():
    class Again(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(2.0), name="w")

        def construct(self, x, y, depth):
            return self(x * self.w, y, depth - 1) if depth else x + y

    net, x = Again().to_float(ms.float16), Tensor(1.0001)
    for mode in EXECUTIONS:
        with execution(mode):
            made = net(x, x, 3)
        assert (made.dtype, float(made)) == (ms.float16, 9.0)
        assert (net.w.dtype, x.dtype, float(x)) == (
            ms.float32,
            ms.float32,
            float(np.float32(1.0001)),
        )


def test_the_children_of_an_optimiser_are_left_out():
    """Rates that Float16 rounds to nothing."""
    net = nn.Dense(1, 1, "ones", has_bias=False)
    optimizer = nn.SGD(net.trainable_params(), [1e-9, 1e-10]).to_float(ms.float16)
    assert optimizer.get_flags()["fp16"] is True
    assert optimizer.get_lr().dtype is ms.float32
    assert float(optimizer.get_lr()) == pytest.approx(1e-9)
