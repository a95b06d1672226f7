# SPDX-License-Identifier: Apache-2.0
"""find_nan: which operator, line, Cell and step, in every mode; what is no fault; what it leaves.

Oracles: the line on which the fault was written, told by the code object of the function; the
state before the step; runs that never met the fault.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops

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
    "Float16": (1e6, "forward", "convert", lambda x: x.astype(ms.float16).astype(ms.float32)),
    "a row that is masked": (
        2.0, "forward", "softmax", lambda x: ops.softmax(ops.masked_fill(x, x > 1.9, -INF), -1),
    ),
    "root at 0": (0.0, "reverse", "sqrt", lambda x: ops.sqrt(x)),
    "power at 0": (0.0, "reverse", "pow", lambda x: x**0.5),
    "log behind where": (0.0, "reverse", "log", lambda x: ops.where(x > 0, ops.log(x), x)),
    "quotient behind where": (
        0.0, "reverse", "true_divide", lambda x: ops.where(x > 0, 1.0 / x, x),
    ),
    "a reverse of the user": (0.0, "reverse", "true_divide", broken),
    "arcus cosinus at 1": (1.0, "reverse", "acos", lambda x: ops.acos(x * x)),
}  # fmt: skip


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
