# SPDX-License-Identifier: Apache-2.0
"""Cell.recompute: less memory, and nothing else changes. The oracle is the same Cell without it;
for memory, XLA's own figure of the compiled program.
"""

from __future__ import annotations

import copy

import jax
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.execute import compile as compiling

MIB = 1 << 20


class Block(nn.Cell):
    """A wide layer between two narrow ones: much to keep, little to hand on."""

    def __init__(self, width):
        super().__init__()
        self.up, self.act, self.down = (
            nn.Dense(width, 4 * width),
            nn.GELU(),
            nn.Dense(4 * width, width),
        )

    def construct(self, x):
        return x + self.down(self.act(self.up(x)))


class Deep(nn.Cell):
    def __init__(self, depth, width, block=Block):
        super().__init__()
        self.blocks = nn.CellList([block(width) for _ in range(depth)])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return (x * x).mean()


@pytest.fixture
def programs(monkeypatch):
    """Every executable that runs, with the shapes it runs on."""
    seen = []
    call = compiling.Executable.__call__

    def noted(executable, arrays):
        seen.append((executable, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]))
        return call(executable, arrays)

    monkeypatch.setattr(compiling.Executable, "__call__", noted)
    return seen


def temporary(programs) -> float:
    """What the largest of the programs needs beside its inputs and outputs, in MiB, says XLA."""
    executable, shapes = max(programs, key=lambda program: program[0].size)
    return executable.lower(shapes).compile().memory_analysis().temp_size_in_bytes / MIB


@pytest.mark.parametrize("compiled", [False, True])
def test_less_memory_by_the_figure_of_xla(compiled, programs):
    depth, width, batch = 12, 64, 1024
    figures, gradients = [], []
    for wanted in (False, True):
        ms.set_seed(3)
        net = Deep(depth, width)
        if wanted:
            for block in net.blocks:
                block.recompute()
        derivative = ms.grad(net, None, net.trainable_params())
        step = ms.jit(derivative) if compiled else derivative
        x = Tensor(np.random.default_rng(0).normal(size=(batch, width)).astype(np.float32))
        programs.clear()
        for _ in range(4):
            made = step(x)
            gradients.append(made[0].asnumpy())
        figures.append(temporary(programs))
    kept = batch * 4 * width * 4 / MIB  # one wide Tensor
    without, with_recompute = figures
    assert without > 2 * depth * kept, "the example is to keep two wide Tensors for each block"
    assert with_recompute < without / 3
    assert with_recompute < (depth / 4 + 8) * kept, "the narrow Tensors, and one block at a time"
    assert_close(gradients[-1], gradients[0], "gradients")


# -- results are the same ----------------------------------------------------------------------


class Rich(nn.Cell):
    """Random numbers, statistics, state, several inputs and outputs, a number among them."""

    def __init__(self, width):
        super().__init__()
        # Without a bias: batch statistics take it away, so that its gradient is noise around zero.
        self.dense, self.norm = nn.Dense(width, width, has_bias=False), nn.BatchNorm1d(width)
        self.drop = nn.Dropout(p=0.5)
        self.calls = Parameter(Tensor(0.0), name="calls", requires_grad=False)

    def construct(self, x, pair, *, factor=1.0):
        y, scale = pair
        self.calls += 1
        z = self.drop(ops.relu(self.norm(self.dense(x)))) * scale
        return z + y * factor, {"mean": z.mean(), "count": 3, "same": x}


class RichNet(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = Rich(width), Rich(width)

    def construct(self, x):
        a, more = self.first(x, (x * 2, 1.5), factor=0.5)
        b, last = self.second(a, (more["same"], 0.5))
        return (a * b).sum() + more["mean"] * more["count"] + last["mean"]


def trained(make, mode, steps=4):
    """Gradients, losses and Parameters of a few steps of training."""
    ms.set_seed(11)
    net = make().set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    derivative = ms.value_and_grad(net, 0, net.trainable_params())
    x = Tensor(np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32))
    found = []
    with execution(mode):
        for _ in range(steps):
            loss, (by_input, by_weight) = derivative(x)
            optimizer(by_weight)
            found += [loss.asnumpy(), by_input.asnumpy(), *(g.asnumpy() for g in by_weight)]
    return found + [p.asnumpy() for p in net.get_parameters()]


def recomputed(make, *paths):
    def made():
        net = make()
        for path in paths:
            net.get_sub_cell(path).recompute()
        return net

    return made


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(
    "paths", [("first", "second"), ("", "first", "second.dense")], ids=["beside", "within"]
)
def test_training_is_the_same(paths, mode):
    """With dropout and batch statistics: random numbers are drawn once, statistics move once."""
    expected = trained(lambda: RichNet(4), mode)
    actual = trained(recomputed(lambda: RichNet(4), *paths), mode)
    for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
        assert_close(one, other, f"{paths}, {number}")
    assert actual[-1].shape == expected[-1].shape


def test_a_compiled_step_is_replayed():
    net = recomputed(lambda: RichNet(4), "first", "second")().set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    derivative = ms.value_and_grad(net, None, net.trainable_params())

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    x = Tensor(np.ones((6, 4), np.float32))
    for _ in range(3):
        step(x)
    counts = ms.debug.ledger().counts
    before = counts.compilations, counts.replays
    for _ in range(4):
        step(x)
    assert (counts.compilations, counts.replays - 4) == before
    assert float(net.first.calls) == 7


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_higher_orders(mode):
    """The oracle is calculus: of tanh(w x)², and of x⁴."""

    class Squared(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(0.75, ms.float64), name="w")

        def construct(self, x):
            return ops.tanh(self.w * x) ** 2

    net = Squared()
    net.recompute()
    x, w = 0.5, 0.75
    t = np.tanh(w * x)
    u = 1 - t * t
    expected = 2 * t * u * w, w * w * (2 * u * u - 4 * t * t * u)
    mixed = 2 * t * u + 2 * w * x * (u * u - 2 * t * t * u)
    by_x = ms.grad(net)
    with execution(mode):
        for _ in range(4):
            given = Tensor(x, ms.float64)
            made = by_x(given), ms.grad(by_x)(given), ms.grad(by_x, None, net.w)(given)
    np.testing.assert_allclose([float(m) for m in made], [*expected, mixed], 1e-12)

    class Fourth(nn.Cell):
        def construct(self, x):
            return x * x * x * x

    fourth = Fourth()
    fourth.recompute()
    third = ms.grad(ms.grad(ms.grad(fourth)))
    with execution(mode):
        for _ in range(4):
            made = third(Tensor(3.0))
    assert float(made) == 72.0


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_hooks_inside_run_once(mode):
    def run(wanted):
        ms.set_seed(4)
        net, log = Deep(2, 3), []
        for number, block in enumerate(net.blocks):
            if wanted:
                block.recompute()
            block.register_forward_hook(lambda c, i, o, n=number: log.append(("out", n)))
            block.register_backward_hook(lambda c, i, o, n=number: log.append(("back", n, i, o)))
            block.act.register_forward_pre_hook(lambda c, i, n=number: log.append(("act", n)))
            block.act.register_backward_hook(
                lambda c, i, o, n=number: log.append(("act back", n, i, (o[0] * 2,))) or (o[0] * 2,)
            )
            block.up.weight.register_hook(lambda g, n=number: log.append(("weight", n, (g,))))
        derivative = ms.grad(net, 0, net.trainable_params())
        x = Tensor(np.random.default_rng(2).normal(size=(2, 3)).astype(np.float32))
        with execution(mode):
            for _ in range(4):
                by_input, by_weight = derivative(x)
        # Values become NumPy when all is over.
        names = [entry[:2] for entry in log]
        values = [t.asnumpy() for entry in log for group in entry[2:] for t in group]
        return names, [*values, by_input.asnumpy(), *(g.asnumpy() for g in by_weight)]

    (names, expected), (again, actual) = run(False), run(True)
    assert again == names
    assert len(names) == 4 * 2 * 5
    for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
        assert_close(one, other, f"{mode}, {number}")


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_reverse_of_its_own_inside(mode):
    class Clipped(nn.Cell):
        def construct(self, x):
            return x * 3

        def bprop(self, x, out, dout):
            return (ops.clamp(dout * x, -1.0, 1.0),)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Clipped()

        def construct(self, x):
            return ops.exp(self.inner(ops.sin(x)))

    def gradient(wanted):
        net = Net()
        if wanted:
            net.recompute()
        with execution(mode):
            for _ in range(4):
                made = ms.grad(net)(Tensor([0.1, -0.2, 1.5]))
        return made.asnumpy()

    assert_close(gradient(True), gradient(False), mode)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_in_another_element_type(mode):
    def gradients(wanted):
        ms.set_seed(6)
        net = Deep(2, 4).to_float(ms.float16)
        for block in net.blocks if wanted else ():
            block.recompute()
        x = Tensor(np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32))
        with execution(mode):
            for _ in range(4):
                made = ms.grad(net, None, net.trainable_params())(x)
        return made

    for one, other in zip(gradients(True), gradients(False), strict=True):
        assert one.dtype is other.dtype is ms.float32
        assert_close(one.asnumpy(), other.asnumpy(), mode, "float16")


# -- what it is called on ----------------------------------------------------------------------


def test_of_a_list_it_is_every_member(programs):
    """A list is not called itself; the figures are those of its members one by one."""
    figures = []
    for number in range(3):
        ms.set_seed(3)
        net = Deep(6, 32)
        if number == 1:
            for block in net.blocks:
                block.recompute()
        elif number == 2:
            net.blocks.recompute()
        x = Tensor(np.ones((512, 32), np.float32))
        programs.clear()
        ms.grad(net, None, net.trainable_params())(x)[0].asnumpy()
        figures.append(temporary(programs))
    assert figures[2] == figures[1] < figures[0]
    assert net.blocks.get_flags() == {"output_recompute": False}


@pytest.mark.parametrize("mode", ["fused", "graph"])
def test_called_between_calls(mode, programs):
    """What was remembered without it is not used with it, and results stay."""
    ms.set_seed(7)
    blocks = Deep(6, 32).blocks

    def loss(x):
        for block in blocks:
            x = block(x)
        return (x * x).mean()

    x = Tensor(np.random.default_rng(5).normal(size=(512, 32)).astype(np.float32))
    derivative, made, figures = ms.grad(loss, None, blocks.trainable_params()), [], []
    with execution(mode):
        for wanted in (False, True):
            if wanted:
                blocks.recompute()
            programs.clear()
            for _ in range(4):
                gradient = derivative(x)[0].asnumpy()
            made.append(gradient)
            figures.append(temporary(programs))
    assert_close(made[1], made[0], mode)
    assert figures[1] < figures[0]


def test_copies_recompute_too(programs):
    net = Deep(6, 32)
    plain = copy.deepcopy(net)
    net.blocks.recompute()
    figures = []
    for one in (plain, net, copy.deepcopy(net)):
        programs.clear()
        x = Tensor(np.ones((512, 32), np.float32))
        ms.grad(one, None, one.trainable_params())(x)[0].asnumpy()
        figures.append(temporary(programs))
    assert figures[2] == figures[1] < figures[0]


def test_without_a_derivative_nothing_is_kept_anyway():
    """A call outside a derivative is not recorded twice: the count of operators is the oracle."""
    net = Deep(2, 3)
    x = Tensor(np.ones((2, 3), np.float32))
    counts, nodes = ms.debug.ledger().counts, []
    for wanted in (False, True):
        if wanted:
            net.blocks.recompute()
        before = counts.nodes
        net(x).asnumpy()
        nodes.append(counts.nodes - before)
    assert nodes[0] == nodes[1]


def test_what_python_would_have_to_do_twice_is_refused():
    net = nn.Dense(1, 1)
    with pytest.raises(ValueError, match="Python does not run a second time") as caught:
        net.recompute(use_reentrant=False, context_fn=lambda: None)
    assert "test_recompute.py" in str(caught.value)
    net.recompute(context_fn=lambda: None)  # as in MindSpore, ignored with use_reentrant
