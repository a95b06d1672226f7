# SPDX-License-Identifier: Apache-2.0
"""find_nan: which operator, line, Cell and step, in every mode; what is no fault; what it leaves.

Oracles: the line on which the fault was written, told by the code object of the function; the
state before the step; runs that never met the fault.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import linecache
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.stream import machine

MODES = ("pynative", "direct", "jit", "graph")
INF = float("inf")


class Broken(nn.Cell):
    """A Cell whose own reverse divides by what it is given."""

    def construct(self, x):
        return x * 2.0

    def bprop(self, x, out, dout):
        return (dout / x,)


broken = Broken()

# Each on one line: the value at which it breaks, the phase, the operator, and the fault.
FAULTS = {
    "log of 0": (0.0, "forward", "log", lambda x: ops.log(x)),
    "log of a negative number": (-1.0, "forward", "log", lambda x: ops.log(x)),
    "root of a negative number": (-1.0, "forward", "sqrt", lambda x: ops.sqrt(x)),
    "1 / 0": (0.0, "forward", "true_divide", lambda x: 1.0 / x),
    "0 / 0": (0.0, "forward", "true_divide", lambda x: x / x),
    "overflow of exp": (1e3, "forward", "exp", lambda x: ops.exp(x)),
    "power": (-1.0, "forward", "pow", lambda x: x**0.5),
    "rsqrt of 0": (0.0, "forward", "rsqrt", lambda x: ops.rsqrt(x)),
    "arcus sinus": (2.0, "forward", "asin", lambda x: ops.asin(x / 4 + 0.8)),
    "log1p of -1": (-1.0, "forward", "log1p", lambda x: ops.log1p(x)),
    "product": (1e30, "forward", "mul", lambda x: x * x),
    "matrix product": (1e30, "forward", "matmul", lambda x: ops.matmul(x, x.T)),
    "Float16": (1e6, "forward", "cast", lambda x: x.astype(ms.float16).astype(ms.float32)),
    "a row that is masked": (
        2.0,
        "forward",
        "softmax",
        lambda x: ops.softmax(ops.masked_fill(x, x > 1.9, -INF), -1),
    ),
    "root at 0": (0.0, "reverse", "sqrt", lambda x: ops.sqrt(x)),
    "power at 0": (0.0, "reverse", "pow", lambda x: x**0.5),
    "log behind where": (0.0, "reverse", "log", lambda x: ops.where(x > 0, ops.log(x), x)),
    "quotient behind where": (
        0.0,
        "reverse",
        "true_divide",
        lambda x: ops.where(x > 0, 1.0 / x, x),
    ),
    "a reverse of the user": (0.0, "reverse", "true_divide", broken),
    "arcus cosinus at 1": (1.0, "reverse", "acos", lambda x: ops.acos(x * x)),
}


class Net(nn.Cell):
    def __init__(self, fault):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones(4, np.float32)), name="weight")
        self.fault = Faulty(fault)

    def construct(self, x):
        return self.fault(x * self.weight).mean()


class Faulty(nn.Cell):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault

    def construct(self, x):
        return self.fault(x)


def step_in(mode: str, net, optimizer=None):
    """A function that trains on one batch."""
    optimizer = optimizer or nn.Momentum(net.trainable_params(), 1e-12, 0.9)
    if mode == "graph":
        ms.set_context(mode=ms.GRAPH_MODE)
        return nn.TrainOneStepCell(net, optimizer)
    ms.set_context(pynative_synchronize=mode == "direct")
    gradients = ms.value_and_grad(net, None, optimizer.parameters)

    def step(x):
        loss, grads = gradients(x)
        optimizer(grads)
        return loss

    return ms.jit(step) if mode == "jit" else step


@pytest.fixture(autouse=True)
def modes():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False, check_numerics=False)


def batch(value: float = 0.5, row: int = 2) -> Tensor:
    numbers = np.full((3, 4), 0.5, np.float32)
    numbers[row] = value
    return Tensor(numbers)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(name, mode):
    value, phase, operator, fault = FAULTS[name]
    net = Net(fault)
    step = step_in(mode, net)
    with pytest.raises(FloatingPointError) as caught, ms.debug.find_nan():
        for _ in range(5):
            step(batch())
        replays = ms.debug.ledger().counts.replays
        np.asarray(step(batch(value)))
    error = caught.value
    code = Broken.bprop.__code__ if fault is broken else fault.__code__
    first = code.co_firstlineno + (fault is broken)
    assert (error.step, error.phase) == (6, phase), str(error)
    assert error.line == (code.co_filename, first), str(error)
    assert error.operator == operator, str(error)
    if fault is not broken:
        assert error.cell.endswith(".fault"), str(error)
    assert operator in str(error) and "way to the result" in str(error)
    if mode in ("jit", "graph"):
        assert replays > 0
        assert error.element[:1] == (2,) and error.batch == 2
    np.testing.assert_array_equal(net.weight.asnumpy(), np.ones(4, np.float32))


@pytest.mark.parametrize("mode", MODES)
def test_the_state_is_that_before_the_step_and_training_goes_on(mode):
    def run(faulty: bool):
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(4, 4, weight_init="ones"), nn.Dropout(p=0.5))
        net = Net(net)
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        step = step_in(mode, net, optimizer)
        state = []
        with ms.debug.find_nan():
            for number in range(6):
                if faulty and number == 4:
                    with pytest.raises(FloatingPointError):
                        np.asarray(step(batch(INF * 0)))
                np.asarray(step(batch(0.1 * number)))
                state.append(
                    [p.asnumpy() for p in (*net.get_parameters(), *optimizer.get_parameters())]
                )
        return state

    for whole, broken_off in zip(run(False), run(True), strict=True):
        for a, b in zip(whole, broken_off, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", ("pynative", "jit", "graph"))
def test_what_comes_from_outside_is_told(mode):
    net = Net(lambda x: ops.relu(x))
    step = step_in(mode, net)
    told = pytest.raises(FloatingPointError, match="has NaN before the step begins")
    with told as caught, ms.debug.find_nan():
        for _ in range(4):
            step(batch())
        np.asarray(step(batch(float("nan"))))
    assert (caught.value.phase, caught.value.element[0]) == ("outside", 2)
    net.weight.set_data(Tensor(np.float32([1, np.nan, 1, 1])))
    told = pytest.raises(FloatingPointError, match="Parameter weight has NaN")
    with told, ms.debug.find_nan():
        np.asarray(step(batch()))


@pytest.mark.parametrize("mode", MODES)
def test_infinities_that_are_meant_are_no_fault(mode):
    class Attention(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mask = Tensor(np.triu(np.full((4, 4), -np.inf, np.float32), 1))
            self.weight = Parameter(Tensor(np.ones((4, 4), np.float32)), name="weight")

        def construct(self, x):
            scores = ops.matmul(x, self.weight)
            scores = ops.masked_fill(scores, ops.triu(ops.ones((4, 4)), 1) > 0, -INF)
            return ops.softmax(scores + self.mask, -1).sum() + ops.relu(x).mean()

    step = step_in(mode, Attention())
    with ms.debug.find_nan():
        for _ in range(6):
            assert np.isfinite(np.asarray(step(Tensor(np.ones((4, 4), np.float32)))))


# -- every way by which values are computed and looked at ---------------------------------------


class Logarithm(nn.Cell):
    def construct(self, x):
        return ops.log(x)  # here


class Recomputed(nn.Cell):
    def construct(self, x):
        return ops.sqrt(x) * 2.0  # here


class Looked(nn.Cell):
    """What it gives is chosen nowhere where it is not finite."""

    def __init__(self, hook):
        super().__init__()
        self.inner = Logarithm()
        self.inner.register_forward_hook(hook)

    def construct(self, x):
        return ops.where(x > 0.1, self.inner(x), x)


logarithm, recomputed = Logarithm(), Recomputed()
recomputed.recompute()
jitted = ms.jit(lambda x: ops.log(x))  # here
host = ops.Custom(lambda x: np.log(x - 0.25), lambda s: s, lambda d: d)  # here
held = []


@ms.every_call
def hold(value):
    held[:] = [value]


@ms.every_call
def read(value):
    return float(value.sum())


def directions(x):
    return ops.ones_like(x)


def back(x):
    result, pull = ms.vjp(lambda x: ops.sqrt(x), x)  # here
    return pull(directions(result))[0]


def changed_in_place(x):
    y = x * 1.0
    y /= x * x  # here
    return y


def written_into(x):
    y = x * 1.0
    y[0] = ops.log(x)[2]  # here
    return y


def read_and_dropped(x):
    float(ops.log(x).sum())  # here
    return x * 2.0


def kept_by_a_site(x):
    hold(ops.log(x) - ops.log(x))  # here
    return x * 2.0


def read_by_a_site(x):
    read(ops.log(x))  # here
    return x * 2.0


def looped(x):
    def body(state):
        return state[0] + 1, ops.log(state[1])  # here

    return ops.while_loop(lambda state: state[0] < 1, body, (0, x))


def sparse(x):
    values = ops.log(x)[2, :1]  # here
    return ms.COOTensor(Tensor([[0, 0]]), values, (3, 4)).to_dense()


def with_hook(x):
    def scaled(x):
        y = x * 2.0
        y.register_hook(lambda gradient: gradient / x)  # here
        return y.sum()

    return ms.grad(scaled)(x)


# By name: the operator, and a function that makes what is not finite where x is 0, on a line that
# says so.
WAYS = {
    "vmap": ("log", lambda x: ms.vmap(lambda r: ops.log(r))(x)),  # here
    "vmap, a number": ("log", lambda x: ms.vmap(lambda r: ops.log(r).sum())(x).mean()),  # here
    "vmap in vmap": ("log", lambda x: ms.vmap(ms.vmap(lambda r: ops.log(r)))(x)),  # here
    "vmap of columns": ("log", lambda x: ms.vmap(lambda r: ops.log(r), in_axes=1)(x)),  # here
    "vmap, out in columns": ("log", lambda x: ms.vmap(lambda r: ops.log(r), 0, 1)(x)),  # here
    "vmap, the same for all": (
        "log",
        lambda x: ms.vmap(lambda r, y: r + ops.log(y), (0, None))(x, x),  # here
    ),
    "vmap of a Cell": ("log", lambda x: ms.vmap(logarithm)(x)),
    "vmap of jit": ("log", lambda x: ms.vmap(jitted)(x)),
    "vmap of grad": ("sqrt", lambda x: ms.vmap(ms.grad(lambda r: ops.sqrt(r).sum()))(x)),  # here
    "grad of vmap": (
        "sqrt",
        lambda x: ms.grad(lambda x: ms.vmap(lambda r: ops.sqrt(r))(x).sum())(x),  # here
    ),
    "vmap, recomputed": (
        "sqrt",
        lambda x: ms.vmap(ms.grad(lambda r: recomputed(r).sum()))(x),
    ),
    "jacrev": ("log", lambda x: ms.jacrev(lambda x: ops.log(x))(x[2])),  # here
    "jacfwd": ("sqrt", lambda x: ms.jacfwd(lambda x: ops.sqrt(x))(x[2])),  # here
    "jvp": ("sqrt", lambda x: ms.jvp(lambda x: ops.sqrt(x), x, directions(x))[1]),  # here
    "vjp": ("sqrt", back),
    "linearize": (
        "sqrt",
        lambda x: ops.linearize(lambda x: ops.sqrt(x), x)[1](directions(x)),  # here
    ),
    "second derivative": (
        "sqrt",
        lambda x: ms.jacfwd(ms.grad(lambda x: (ops.sqrt(x) ** 3).sum()))(x[2]),  # here
    ),
    "recompute": ("sqrt", lambda x: ms.grad(lambda x: recomputed(x).sum())(x)),
    "a hook on a Tensor": ("true_divide", with_hook),
    "while_loop": ("log", looped),
    "fori_loop": ("log", lambda x: ops.fori_loop(0, 1, lambda _, x: ops.log(x), x)),  # here
    "scan": ("log", lambda x: ops.scan(lambda c, r: (c, ops.log(r)), Tensor(0.0), x)[1]),  # here
    "cond": ("log", lambda x: ops.cond(Tensor(True), lambda x: ops.log(x), directions, x)),  # here
    "jit inside": ("log", lambda x: jitted(x).sum()),
    "float": ("log", lambda x: float(ops.log(x).sum())),  # here
    "bool": ("log", lambda x: bool(ops.log(x).sum())),  # here
    "text": ("log", lambda x: str(ops.log(x))),  # here
    "tolist": ("log", lambda x: ops.log(x).tolist()),  # here
    "asnumpy": ("log", lambda x: ops.log(x).asnumpy()),  # here
    "array": ("log", lambda x: np.asarray(ops.log(x))),  # here
    "dlpack": ("log", lambda x: np.from_dlpack(ops.log(x))),  # here
    "a read that nothing uses": ("log", read_and_dropped),
    "several results": ("log", lambda x: (x, {"a": [ops.log(x)]})),  # here
    "in place": ("true_divide", changed_in_place),
    "a part": ("log", written_into),
    "assign": ("log", lambda x: ops.assign(assigned, ops.log(x))),  # here
    "random": ("true_divide", lambda x: ops.rand(3, 4) / x),  # here
    "dropout": ("log", lambda x: ops.log(ops.dropout(x, p=0.0))),  # here
    "from NumPy": ("log", lambda x: ops.log(Tensor(x.asnumpy()))),  # here
    "complex": ("true_divide", lambda x: 1 / (x + 0j)),  # here
    "sparse": ("log", sparse),
    "only a hook keeps it": ("log", Looked(lambda cell, given, made: hold(made - made))),
    "only a hook reads it": ("log", Looked(lambda cell, given, made: read(made) and None)),
    "only a site keeps it": ("log", kept_by_a_site),
    "only a site reads it": ("log", read_by_a_site),
    "a function on the host": ("custom", lambda x: host(x)),
}
assigned = Parameter(Tensor(np.ones((3, 4), np.float32)), name="halves")


class Called(nn.Cell):
    """A function as a Cell, so that Graph mode remembers it."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


def look_at_all(tree) -> None:
    for leaf in tree_leaves(tree if isinstance(tree, (tuple, list, dict)) else [tree]):
        if isinstance(leaf, Tensor):
            leaf.asnumpy()


@pytest.mark.parametrize("mode", (*MODES, "armed late"))
@pytest.mark.parametrize("name", WAYS)
def test_a_fault_is_named_whatever_computes_and_looks(name, mode):
    """In jit after calls that were all right, and where it is armed after calls that were not."""
    operator, function = WAYS[name]
    ms.set_context(
        mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE,
        pynative_synchronize=mode == "direct",
    )
    if mode in ("jit", "armed late"):
        function = ms.jit(function)
    elif mode == "graph":
        function = Called(function)
    assigned.set_data(ops.ones((3, 4)))
    with np.errstate(all="ignore"):
        for _ in range(5 if mode == "armed late" else 0):
            look_at_all(function(batch(0.0)))
        assigned.set_data(ops.ones((3, 4)))
        with pytest.raises(FloatingPointError) as caught, ms.debug.find_nan():
            for _ in range(0 if mode == "armed late" else 5):
                look_at_all(function(batch()))
            look_at_all(function(batch(0.0)))
    error = caught.value
    assert error.operator == operator, str(error)
    assert "# here" in linecache.getline(*error.line), str(error)
    reverse = operator == "sqrt" or name in ("jacrev", "a hook on a Tensor")
    assert error.phase == ("reverse" if reverse else "forward"), str(error)
    if mode in ("jit", "graph"):
        assert error.step == 6, str(error)
    held.clear()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "mapped, row, text",
    (
        (lambda x: ms.vmap(lambda r: ops.log(r))(x).sum(), 2, "first at [2, 0] (row 2 of vmap)"),
        (lambda x: ms.vmap(ms.vmap(lambda r: ops.log(r)))(x).sum(), 2, "(row 2, 0 of vmap)"),
        (lambda x: ms.vmap(lambda r: ops.log(r), 1)(x).sum(), 0, "first at [0, 2] (row 0 of"),
    ),
)
def test_the_row_of_a_map_is_told(mapped, row, text, mode):
    step = step_in(mode, Net(mapped))
    with pytest.raises(FloatingPointError) as caught, ms.debug.find_nan():
        for _ in range(4):
            step(batch())
        np.asarray(step(batch(0.0)))
    assert caught.value.batch == row and text in str(caught.value)
    assert str(caught.value).startswith("step 5: log inside vmap at ")


def test_a_value_is_looked_at_by_another_thread():
    def look(pending):
        with pytest.raises(FloatingPointError, match="log at "):
            pending.asnumpy()

    told = pytest.raises(FloatingPointError, match="log at ")
    with concurrent.futures.ThreadPoolExecutor(1) as pool, told, ms.debug.find_nan():
        pending = ops.log(batch(-1.0))
        pool.submit(look, pending).result()
        pending.asnumpy()  # its own thread is told as well


def test_an_infinity_that_another_call_made_is_traced_to_it():
    total = ms.jit(lambda x: x.sum())
    with ms.debug.find_nan():
        for _ in range(4):
            total(batch())
        made = ops.log(batch(0.0))
        ms.flush()
        with pytest.raises(FloatingPointError) as caught:
            total(made)
    assert caught.value.operator == "log"


def test_what_an_error_left_can_be_looked_at_afterwards():
    with pytest.raises(ZeroDivisionError), ms.debug.find_nan():
        kept = ops.log(batch(-1.0))
        ms.flush()
        1 / 0  # noqa: B018
    assert np.isnan(kept.asnumpy()).any()
    assert np.isnan((kept + 1).asnumpy()).any()


def test_blocks_of_several_threads_do_not_end_each_other():
    inside, ended = threading.Event(), threading.Event()

    def other():
        with ms.debug.find_nan():
            inside.set()
            ended.wait(60)
            with pytest.raises(FloatingPointError):
                float(ops.log(batch(0.0)).sum())
        return ms.get_context("check_numerics")

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with ms.debug.find_nan():
            result = pool.submit(other)
            assert inside.wait(60)
        ended.set()
        assert result.result() is False


def test_generators_and_coroutines_are_checked_to_their_end():
    @ms.debug.find_nan
    def numbers():
        yield 1
        yield float(ops.log(batch(0.0)).sum())

    @ms.debug.find_nan()
    async def number():
        return float(ops.log(batch(0.0)).sum())

    given = numbers()
    assert next(given) == 1
    with pytest.raises(FloatingPointError):
        next(given)
    with pytest.raises(FloatingPointError):
        asyncio.run(number())
    assert not ms.get_context("check_numerics")


@pytest.mark.parametrize("mode", MODES)
def test_literal_infinities_may_be_looked_at(mode):
    """Also by a hook of a compiled call, which goes on as it is."""
    seen = []

    class Masked(nn.Cell):
        def construct(self, x):
            return ops.masked_fill(x, x > 0.6, -INF)

    net = nn.SequentialCell(Masked(), nn.Softmax())
    net[0].register_forward_hook(lambda cell, given, made: seen.append(float(made.min())))
    function = ms.jit(lambda x: net(x)) if mode == "jit" else net
    if mode == "graph":
        ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_context(pynative_synchronize=mode == "direct")
    numbers = np.float32([[0.5, 0.7]])
    with ms.debug.find_nan():
        for _ in range(6):
            np.testing.assert_array_equal(function(Tensor(numbers)).asnumpy(), [[1.0, 0.0]])
            assert np.isinf(net[0](Tensor(numbers)).asnumpy()[0, 1])
    assert seen == [-INF] * 12


@pytest.mark.parametrize("mode", ("pynative", "jit"))
def test_an_overflow_that_is_handled_is_no_fault(mode):
    """A loss scaler skips the steps that overflow; without it the Parameters would get NaN."""
    net = Net(lambda x: x.astype(ms.float16) * 100.0)
    optimizer = nn.Momentum(net.trainable_params(), 1e-3, 0.9)
    scaler = ms.amp.DynamicLossScaler(2.0**20, 2, 100)

    def forward(x):
        return scaler.scale(net(x).astype(ms.float32))

    gradients = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x):
        _, grads = gradients(x)
        finite = ms.amp.all_finite(grads)
        if finite:
            optimizer(scaler.unscale(grads))
        scaler.adjust(finite)
        return finite

    step = ms.jit(step) if mode == "jit" else step
    with ms.debug.find_nan():
        told = [bool(step(batch())) for _ in range(24)]
    assert not told[0] and told[-1]
    assert np.isfinite(net.weight.asnumpy()).all()


def test_model_train_names_the_step():
    class Data:
        def __init__(self):
            self.rows = [np.full(4, -1.0 if i == 20 else 0.5, np.float32) for i in range(32)]

        def __getitem__(self, index):
            return self.rows[index], np.float32(0)

        def __len__(self):
            return len(self.rows)

    class Loss(nn.Cell):
        def construct(self, logits, label):
            return logits.mean() + label.mean()

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode, check_numerics=True)
        net = nn.SequentialCell(nn.Dense(4, 4, weight_init="ones"), Faulty(lambda x: ops.log(x)))
        model = ms.Model(net, Loss(), nn.SGD(net.trainable_params(), 1e-4))
        data = ms.dataset.GeneratorDataset(Data(), ["x", "y"], shuffle=False).batch(4)
        with pytest.raises(FloatingPointError) as caught:
            model.train(1, data, dataset_sink_mode=False)
        assert caught.value.step == 6 and caught.value.operator == "log"
        ms.set_context(check_numerics=False)


class UnreadGradients:
    """A Parameter whose derivative is NaN where x is 0 and infinite elsewhere; nothing reads it."""

    def __init__(self, mode: str):
        self.weight = Parameter(Tensor(np.array([0.0, 1.0], np.float32)), name="weight")
        derivative = ms.value_and_grad(self.loss, None, [self.weight])
        self.step = ms.jit(lambda x: derivative(x)) if mode == "jit" else derivative

    def loss(self, x):
        return (ops.sqrt(self.weight) * x).sum()


READERS = {
    "nothing is read": lambda step, x: step(x) and None,
    "the loss is read": lambda step, x: float(step(x)[0]),
    "they are kept": lambda step, x: step(x),
    "they are kept until the loss was read": lambda step, x: [float(r[0]) for r in [step(x)]],
}


@pytest.mark.parametrize("mode", ("pynative", "jit"))
def test_gradients_of_rows_that_nobody_reads_are_told(mode):
    """Oracle: the derivative of sqrt at 0 is infinite, and times 0 it is NaN."""
    derivative = ms.vmap(ms.grad(lambda x: ops.where(x > 0, ops.sqrt(x), x * 0).sum()))
    step = ms.jit(derivative) if mode == "jit" else derivative
    with pytest.raises(ms.debug.NonFiniteError, match="sqrt"), ms.debug.find_nan():
        for number in (2.0, 3.0, 4.0, 0.0, 5.0):
            step(Tensor([[1.0], [number]]))
    with ms.debug.find_nan():
        step(Tensor([[1.0], [2.0]]))


@pytest.mark.parametrize("mode", (*MODES, "armed late"))
@pytest.mark.parametrize("x, makes", ((0.0, "NaN"), (1.0, "an infinity")))
@pytest.mark.parametrize("reader", READERS)
def test_gradients_that_nobody_reads_are_told(reader, x, makes, mode):
    """Oracle: the derivative of sqrt at 0 is infinite, and times 0 it is NaN (NumPy says so)."""
    with np.errstate(all="ignore"):
        by_hand = np.float32(x) * 0.5 / np.sqrt(np.float32(0))
    assert np.isnan(by_hand) == (makes == "NaN") and not np.isfinite(by_hand)
    late = mode == "armed late"
    net = UnreadGradients("jit" if late else mode)
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_context(pynative_synchronize=mode == "direct")
    given = Tensor(np.array([x, 1.0], np.float32))
    for _ in range(4 if late else 0):
        READERS[reader](net.step, given)
    told = pytest.raises(ms.debug.NonFiniteError, match=f"makes {makes}")
    with told as caught, ms.debug.find_nan():
        READERS[reader](net.step, given)
    assert (caught.value.operator, caught.value.phase) == ("sqrt", "reverse")
    assert caught.value.line[1] == UnreadGradients.loss.__code__.co_firstlineno + 1
    with ms.debug.find_nan():  # and where they are finite, nothing is
        net.weight.set_data(Tensor(np.array([4.0, 1.0], np.float32)))
        for _ in range(4):
            READERS[reader](net.step, given)


@pytest.mark.parametrize("mode", MODES)
def test_infinite_gradients_may_be_tested_in_a_later_step(mode):
    """Gradients of several steps are added up, and the sum is tested."""
    net = UnreadGradients(mode)
    given = Tensor(np.array([1.0, 1.0], np.float32))
    with ms.debug.find_nan():
        several = [net.step(given)[1][0] for _ in range(3)]
        total = several[0] + several[1] + several[2]
        assert not bool(ops.isfinite(total).all())
    with pytest.raises(ms.debug.NonFiniteError, match="infinity"), ms.debug.find_nan():
        several = [net.step(given)[1][0] for _ in range(3)]


class Blind(nn.Cell):
    """A reverse of its own that does not look at what arrives."""

    def construct(self, x):
        return x * 1.0

    def bprop(self, x, out, dout):
        return (ops.ones_like(x),)


def hooked(x):
    x = x * 1.0
    x.register_hook(lambda gradient: Tensor(np.ones(2, np.float32)))
    return x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "taken_by", (Blind(), hooked, ops.HookBackward(lambda g: ops.ones_like(g[0])))
)
def test_what_a_hook_or_a_reverse_takes_the_place_of_is_no_fault(taken_by, mode):
    derivative = ms.grad(lambda x: ops.sqrt(taken_by(x)).sum())
    given = Tensor(np.array([0.0, 1.0], np.float32))
    with ms.debug.find_nan():
        for _ in range(4):
            found = (ms.jit(derivative) if mode == "jit" else derivative)(given)
    np.testing.assert_array_equal(found.asnumpy(), [1.0, 1.0])


def test_a_step_that_reads_its_gradients_looks_at_nothing_more():
    """What `find_nan` costs is what is looked at: here the results, and no gradient."""
    step = step_in("jit", Net(lambda x: ops.log(x)))
    seen = []
    machine.on_record = lambda executable, *rest: seen.append(executable)
    try:
        with ms.debug.find_nan():
            for _ in range(4):
                np.asarray(step(batch()))
    finally:
        machine.on_record = None
    checked = [executable.checked for executable in seen]
    assert None not in checked and not any(found.others for found in checked)


def test_looking_at_a_value_tells_and_so_does_the_end_of_the_block():
    @ms.jit
    def predict(x):
        return ops.log(x)

    with ms.debug.find_nan():
        for _ in range(4):
            predict(batch())
        value = predict(batch(-1.0))
        with pytest.raises(FloatingPointError, match="log"):
            value.asnumpy()
        with pytest.raises(FloatingPointError, match="log"):
            print(value + 1)
        del value
    with pytest.raises(FloatingPointError, match="log"), ms.debug.find_nan():
        kept = predict(batch(-1.0))
    assert np.isnan(kept.asnumpy()).any()  # what there is can be looked at afterwards


def test_the_origin_is_known_where_an_operator_goes_on_with_an_infinity():
    x = batch(0.0)
    with pytest.raises(FloatingPointError) as caught, ms.debug.find_nan():
        y = ops.log(x)
        ms.flush()
        z = y - y
        np.asarray(z)
    assert caught.value.operator == "log"


def test_an_armed_step_compiles_once_and_nothing_when_not_armed():
    net = Net(lambda x: ops.relu(x) * 3.25 + 1.5)  # as no other test has it
    step = step_in("jit", net)
    counts = ms.debug.ledger().counts
    for _ in range(5):
        step(batch())
    np.asarray(step(batch()))
    before = counts.compilations
    with ms.debug.find_nan():
        for _ in range(5):
            step(batch())
    assert counts.compilations == before + 1
    replays = counts.replays
    for _ in range(3):
        step(batch())
        with ms.debug.find_nan():
            step(batch())
    assert counts.compilations == before + 1
    assert counts.replays == replays + 6


def test_hooks_see_what_they_are_given_and_fire_once():
    net = Net(lambda x: ops.sqrt(x))
    told = []
    net.fault.register_forward_hook(lambda cell, args, out: told.append(float(out.sum())))
    step = step_in("jit", net)
    with pytest.raises(FloatingPointError) as caught, ms.debug.find_nan():
        for _ in range(5):
            step(batch())
        step(batch(0.0))
    assert caught.value.operator == "sqrt" and caught.value.phase == "reverse"
    assert len(told) == 6


def test_as_a_decorator():
    @ms.debug.find_nan
    def named(x):
        return float(ops.log(x).sum())

    @ms.debug.find_nan()
    def called(x):
        return float(ops.log(x).sum())

    for function in (named, called):
        assert np.isfinite(function(batch()))
        with pytest.raises(FloatingPointError):
            function(batch(0.0))
        assert not ms.get_context("check_numerics")


@pytest.mark.parametrize("variable", ("MYCEL_CHECK_NUMERICS", "JAX_DEBUG_NANS"))
def test_the_environment_arms_it(variable):
    program = textwrap.dedent("""
        import mycel as ms
        from mycel import Tensor, ops
        assert ms.get_context("check_numerics")
        f = ms.jit(lambda x: ops.log(x).sum())
        for x in (1.0, 1.0, 1.0, 1.0, -1.0):
            f(Tensor([x]))
    """)
    environment = {**os.environ, variable: "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "NonFiniteError: step 5: log at " in done.stderr


def test_a_wrong_setting_is_told():
    with pytest.raises(TypeError, match="check_numerics must be True or False"):
        ms.set_context(check_numerics=1)


def test_a_search_that_begins_inside_of_what_is_compiled():
    """It is not replayed, so that each call is searched."""

    @ms.jit
    def logarithm(x):
        with ms.debug.find_nan():
            return ops.log(x)

    for number in range(8):
        if number == 6:
            with pytest.raises(ms.debug.NonFiniteError):
                logarithm(Tensor([-1.0]))
        else:
            logarithm(Tensor([1.0]))
    assert any("find_nan" in str(line) for line in ms.debug.ledger().lines)
