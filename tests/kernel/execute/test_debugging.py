# SPDX-License-Identifier: Apache-2.0
"""Debugging: the debugger stops with real values, errors name the forward line and the Cell.

Oracles: the values by hand, the text of errors, and the other modes.
"""

from __future__ import annotations

import inspect
import io
import os
import pdb
import subprocess
import sys
import traceback

import jax
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, nn
from mycel.kernel.spell import op

CALLS = 5


def line_of(function, text: str) -> str:
    """The place of the line of a function that holds a text, as errors write it."""
    lines, first = inspect.getsourcelines(function)
    number = next(number for number, line in enumerate(lines) if text in line)
    return f"{inspect.getsourcefile(function)}:{first + number}"


@pytest.fixture
def debugger(monkeypatch, capsys):
    """Types commands into every debugger that opens; returns what it printed since."""

    def typed(*commands: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*commands, "continue", ""] * 50)))
        monkeypatch.setenv("PYTHONBREAKPOINT", "pdb.set_trace")
        # pytest exchanges both for its own.
        monkeypatch.setattr("sys.breakpointhook", lambda: plain_pdb().set_trace(caller()))
        monkeypatch.setattr(pdb, "set_trace", lambda: plain_pdb().set_trace(caller()))
        capsys.readouterr()

    def caller():
        return inspect.currentframe().f_back.f_back

    def plain_pdb():
        return pdb.Pdb(nosigint=True, readrc=False)

    return typed


class Inner(nn.Cell):
    """3x, where the debugger may be opened."""

    def __init__(self, stop):
        super().__init__()
        self.w = Parameter(Tensor([3.0]), name="w")
        self.stop = stop

    def construct(self, x):
        y = x * self.w
        if self.stop == "construct":
            pdb.set_trace()
        return y


class Own(nn.Cell):
    """2x with a reverse of its own."""

    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        gradient = dout * 2
        pdb.set_trace()
        return (gradient,)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_debugger_in_construct(mode, debugger, capsys):
    net = Inner("construct")
    debugger("p y")
    with execution(mode):
        if mode == "graph":
            with pytest.warns(UserWarning, match="Inner has a breakpoint .* runs in PyNative"):
                net(Tensor([1.0]))
        for number in range(CALLS):
            assert float(net(Tensor([float(number)]))) == 3.0 * number
    text = capsys.readouterr().out
    for number in range(CALLS):
        assert repr(Tensor([3.0 * number])) in text


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_debugger_in_hooks(mode, debugger, capsys):
    net = Inner("")
    seen = []

    def behind(cell, inputs, output):
        seen.append(1)
        pdb.set_trace()

    def reverse(cell, grad_input, grad_output):
        seen.append(2)
        breakpoint()

    net.register_forward_hook(behind)
    net.register_backward_hook(reverse)
    debugger("args")
    derivative = ms.grad(net)
    with execution(mode):
        for number in range(CALLS):
            assert float(derivative(Tensor([float(number)]))) == 3.0
    assert seen == [1, 2] * CALLS
    text = capsys.readouterr().out
    for number in range(CALLS):
        assert f"output = {Tensor([3.0 * number])!r}" in text
    assert text.count(f"grad_output = ({Tensor([3.0])!r},)") == CALLS
    if mode == "graph":
        # A hook runs at every call, so the debugger does not keep the call from being replayed.
        assert ms.debug.ledger().counts.replays > 0


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_debugger_in_bprop(mode, debugger, capsys):
    derivative = ms.grad(lambda x: Own()(x) * 5)
    debugger("p gradient")
    with execution(mode):
        if mode == "graph":
            with pytest.warns(UserWarning, match="has a breakpoint"):
                derivative(Tensor([1.0]))
        for number in range(CALLS):
            assert float(derivative(Tensor([float(number)]))) == 10.0
    assert capsys.readouterr().out.count(repr(Tensor([10.0]))) >= CALLS


def test_a_breakpoint_in_a_compiled_function(debugger, capsys):
    @ms.jit
    def double(x):
        y = x * 2
        breakpoint()
        return y

    debugger("p y")
    place = line_of(double.function, "breakpoint()")
    with pytest.warns(UserWarning) as caught:
        for number in range(CALLS):
            assert float(double(Tensor(float(number)))) == 2.0 * number
    assert [str(one.message) for one in caught] == [
        f"double has a breakpoint (at {place}): while it is there, every call runs in PyNative, so "
        "that it is reached with real values."
    ]
    assert ms.debug.ledger().counts.replays == 0
    text = capsys.readouterr().out
    for number in range(CALLS):
        assert repr(Tensor(2.0 * number)) in text


@pytest.mark.parametrize("commands", [("args",), ("next", "next", "next", "next")])
def test_what_runs_behind_a_breakpoint_in_a_hook_is_watched_still(debugger, capsys, commands):
    """A debugger takes Python's trace function away. Oracle: the function itself."""
    settings = {"scale": 2.0}

    @ms.every_call
    def stop(x):
        breakpoint()

    @ms.jit
    def scaled(x):
        y = x * 3
        stop(y)
        return y * settings["scale"] + (1 if settings["scale"] > 4 else 0)

    debugger(*commands)
    for number in range(3 * CALLS):
        settings["scale"] = float(1 + number // CALLS * 4)
        assert float(scaled(Tensor(1.0))) == float(scaled.function(Tensor(1.0)))
    text = capsys.readouterr().out
    assert text.count("(Pdb)") >= 6 * CALLS
    assert "unknown debugging event" not in text


SCRIPT = """
import sys
import numpy as np
import mycel as ms
from mycel import Tensor, nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, 2, "ones", "zeros")
        self.stop = self.wrong = False

    def construct(self, x):
        y = self.layer(x)
        if self.stop:
            breakpoint()
        z = y.sum()
        if self.wrong:
            raise ValueError("for the debugger")
        return z * 10

net = Net()
derivative = ms.value_and_grad(net, None, net.trainable_params())
run = {
    "pynative": net, "jit": ms.jit(net), "gradient": lambda x: derivative(x)[0],
    "compiled gradient": ms.jit(lambda x: derivative(x)[0]), "graph": net,
}[sys.argv[1]]
if sys.argv[1] == "graph":
    ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.ones((2, 3), np.float32))
for number in range(5):
    assert float(run(x * number)) == 120 * number
net.stop = True
for number in range(3):
    print("result", float(run(x * number)))
net.stop = False
for number in range(5):
    assert float(run(x * number)) == 120 * number
net.wrong = True
run(x)
"""
MODES = ("pynative", "jit", "graph", "gradient", "compiled gradient")


@pytest.mark.parametrize("mode", MODES)
def test_a_person_at_the_debugger(mode, tmp_path):
    """`p`, `n`, `u` at a breakpoint that comes when the function has been replayed for long, and
    `w`, `p` behind an exception (`python -m pdb` goes there by itself, as `%debug` does)."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    typed = ["p y", "p y.asnumpy().sum()", "p x.shape", "n", "n", "p z", "up", "p type(args)", "c"]
    told = _typed_into([str(script), mode], typed * 3)
    for number in range(3):
        assert repr(Tensor([[3.0 * number] * 2] * 2)) in told
        assert repr(Tensor(12.0 * number)).split("=")[-1] in told
        assert f"result {120.0 * number}" in told
    assert told.count("(2, 3)") == 3 and told.count("<class 'tuple'>") == 3
    assert "unknown debugging event" not in told and "NameError" not in told
    assert told.count("has a breakpoint") == (mode not in ("pynative", "gradient"))

    typed = ["c", *["c"] * 3, "w", "p y.asnumpy().tolist()", "p x", "p float(z)", "q", "q"]
    told = _typed_into(["-m", "pdb", str(script), mode], typed)
    assert "construct()" in told and "ValueError: for the debugger" in told
    assert str([[3.0] * 2] * 2) in told and "12.0" in told
    assert repr(Tensor(np.ones((2, 3), np.float32))) in told


def _typed_into(arguments: list[str], typed: list[str]) -> str:
    """What a Python prints, on both streams, while lines are typed into it."""
    ran = subprocess.run(
        [sys.executable, *arguments],
        input="\n".join([*typed, ""]),
        env=os.environ | {"PYTHONBREAKPOINT": "pdb.set_trace", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return ran.stdout + ran.stderr


# -- errors in the reverse --------------------------------------------------------------------


def _twice_on_the_host(x, cotangent):
    if (np.asarray(x) == 0).any():
        raise ZeroDivisionError("a zero on the host")
    return np.asarray(2 * np.asarray(cotangent), np.float32)


@op("ops.doubled_for_tests", fallible=True)
def doubled_for_tests(x):
    """2x, whose reverse is computed on the host and fails for zeros."""
    return x * 2


@doubled_for_tests.reverse
def _(x, output, cotangent):
    return jax.pure_callback(
        _twice_on_the_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, cotangent
    )


class Doubled(nn.Cell):
    """The operator whose reverse fails for zeros."""

    def construct(self, x):
        return doubled_for_tests(x)


class Untrue(nn.Cell):
    """Its bprop raises or returns what it should not."""

    def __init__(self, wrong):
        super().__init__()
        self.wrong = wrong

    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        if self.wrong is ValueError:
            raise ValueError("by the bprop")
        return self.wrong


class Outer(nn.Cell):
    """A Cell around one that fails."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x + 1) * 3


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_an_operator_that_fails_in_the_reverse(mode):
    derivative = ms.grad(Outer(Doubled()))
    place = line_of(Doubled.construct, "doubled_for_tests(x)")
    with execution(mode):
        for _ in range(CALLS):
            assert float(derivative(Tensor([1.0]))) == 6.0
        with pytest.raises(RuntimeError) as caught:
            float(derivative(Tensor([-1.0])))
    text = str(caught.value)
    assert f"doubled_for_tests', recorded at {place} (in Outer.inner), failed: " in text or (
        f"doubled_for_tests' (recorded at {place} (in Outer.inner))" in text
    )
    assert "a zero on the host" in text


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (ValueError, "by the bprop"),
        ((1, 2, 3), "Untrue.bprop must return a tuple of 1 gradients, .* a tuple of 3"),
        (("gradient",), r"a gradient of shape \(1,\) and type Float32, but it returned str"),
        ((Tensor([1.0, 2.0]),), r"of shape \(1,\) .* one of shape \(2,\)"),
    ],
)
def test_a_bprop_that_fails(mode, wrong, text):
    derivative = ms.grad(Outer(Untrue(wrong)))
    place = line_of(Outer.construct, "self.inner(x + 1)")
    with execution(mode), pytest.raises(ValueError, match=text) as caught:
        derivative(Tensor([1.0]))
    written = "".join(traceback.format_exception_only(caught.value))
    assert f"In the reverse of Untrue.bprop, called at {place} (in Outer.inner)." in written


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_reverse_that_cannot_be_recorded(mode):
    """A user's operator that JAX cannot differentiate."""

    class Odd(nn.Cell):
        def construct(self, x):
            return undifferentiable_for_tests(x)

    place = line_of(Odd.construct, "undifferentiable_for_tests(x)")
    with execution(mode), pytest.raises(ValueError, match="while_loop") as caught:
        ms.grad(Outer(Odd()))(Tensor([1.0]))
    written = "".join(traceback.format_exception_only(caught.value))
    assert f"In the reverse of undifferentiable_for_tests, called at {place} (in Outer.inner)." in (
        written
    )


@op("ops.undifferentiable_for_tests")
def undifferentiable_for_tests(x):
    """2x by a loop that JAX cannot reverse."""
    return jax.lax.while_loop(lambda v: v[0] < 1, lambda v: (v[0] + 1, v[1] * 2), (0, x))[1]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_failing_operator_names_its_cell(mode):
    class Product(nn.Cell):
        def construct(self, x):
            return x @ Tensor(np.ones((5, 5), np.float32))

    with execution(mode), pytest.raises(ValueError, match="matmul") as caught:
        Outer(Product())(Tensor(np.ones((2, 3), np.float32)))
    assert line_of(Product.construct, "x @") in str(caught.value)


def test_every_call_marks_functions():
    with pytest.raises(TypeError, match=r"^every_call must be given a function, but 3 was given"):
        ms.every_call(3)
