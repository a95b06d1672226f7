# SPDX-License-Identifier: Apache-2.0
"""Interrupting trainings at any moment, and telling afterwards whether anything was lost.

A trial puts a training into a known state, lets it run some steps, and interrupts it: by a real
signal after a random time, or at the n-th moment at which CPython lets the handlers of signals run.
What it finds then is compared with the same training that nobody interrupted.
"""

from __future__ import annotations

import builtins
import dis
import os
import pathlib
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from types import CodeType

import numpy as np

import mycel as ms
from harness import execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base import signals
from mycel.kernel.record.scope import OUTSIDE, Scope
from mycel.kernel.record.stream import local

SOURCE = str(pathlib.Path(ms.__file__).parent) + os.sep
# Steps of a trial until it is interrupted, and after.
STEPS, AFTER = 3, 2
# How far a state may lie from one of the oracle: steps are a thousand times as far apart.
CLOSE = 2e-4
# What stands in for these while a call is recorded.
_BUILTINS = {name: getattr(builtins, name) for name in ("print", "getattr", "setattr", "vars")}


class TimeLimit(Exception):
    """What the handler of an alarm raises."""


class LostTime(RuntimeError):
    """The same, of a class that failing operators raise too."""


KINDS = (KeyboardInterrupt, TimeLimit, LostTime)


class Net(nn.Cell):
    """Small, with moving statistics, a convolution and a buffer that it assigns."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid", weight_init="ones")
        self.norm = nn.BatchNorm2d(2)
        self.flat = nn.Flatten()
        self.dense = nn.Dense(8, 3)
        self.seen = Parameter(Tensor(np.zeros(1, np.float32)), name="seen", requires_grad=False)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        ops.assign(self.seen, self.seen + x.mean())
        return self.dense(self.flat(x))


class Training:
    """A network and its optimiser, by name of the way in which its steps are run.

    Args:
        way: "fused", "direct", "jit", "graph" or "model".
        hooks: whether hooks of all kinds look and take part; "changing" if one of them does
            something else in the second step, so that a replay is broken off there.
        optimizer: "Momentum" or "Adam".
    """

    def __init__(self, way: str, hooks: bool | str = False, optimizer: str = "Momentum"):
        self.way, self.hooks, self.changes = way, hooks, False
        self.mode = way if way in ("fused", "direct") else "fused" if way == "jit" else "graph"
        ms.set_seed(3)
        self.net = net = Net().set_train()
        rate = 0.5 if optimizer == "Momentum" else 0.05
        weights = net.trainable_params()
        extra = (0.9,) if optimizer == "Momentum" else ()
        self.optimizer = getattr(nn, optimizer)(weights, rate, *extra)
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        draw = np.random.default_rng(5)
        count = STEPS + AFTER + 1
        self.data = [
            (draw.normal(size=(4, 1, 4, 4)).astype(np.float32), np.arange(4, dtype=np.int32) % 3)
            for _ in range(count)
        ]
        if hooks:
            self._hook()
        self.step = self._step()
        self.start = self.states()

    def _hook(self) -> None:
        net, self.looks = self.net, []
        if self.hooks == "changing":
            net.norm.register_forward_hook(lambda c, x, y: y * 1.0 if self.changes else None)
        net.conv.register_forward_hook(lambda c, x, y: self.looks.append(float(y.mean())))
        net.dense.register_forward_pre_hook(lambda c, x: x[0] * 1.0)
        net.dense.register_backward_hook(lambda c, g, h: (h[0] * 1.0,))
        net.dense.weight.register_hook(lambda g: g * 1.0)

    def _step(self) -> Callable:
        net, optimizer, loss = self.net, self.optimizer, self.loss
        with_loss = nn.WithLossCell(net, loss)
        if self.way in ("graph", "model"):
            return nn.TrainOneStepCell(with_loss, optimizer)
        gradients = ms.value_and_grad(with_loss, None, optimizer.parameters)

        def step(x, y):
            value, found = gradients(x, y)
            optimizer(found)
            return value

        return ms.jit(step) if self.way == "jit" else step

    def run(self, first: int, steps: int, done: list) -> None:
        """Run steps; `done` gets the number of each."""
        if self.way == "model":
            model = ms.Model(self.step)
            model.train(1, self.data[first : first + steps], dataset_sink_mode=False)
            return
        for number in range(first, first + steps):
            x, y = self.data[number]
            self.changes = number == 1
            self.step(Tensor(x), Tensor(y))
            done.append(number)

    def members(self) -> dict[str, Tensor]:
        """Everything that training changes."""
        found = {f"net.{p.name}": p for p in self.net.get_parameters()}
        found.update({f"optimizer.{p.name}": p for p in self.optimizer.get_parameters()})
        return found

    def states(self) -> dict[str, np.ndarray]:
        return {name: member.asnumpy() for name, member in self.members().items()}

    def put(self, states: dict[str, np.ndarray]) -> None:
        """Start from these states."""
        for name, member in self.members().items():
            member.set_data(Tensor(states[name]))


class Oracle:
    """The states of a training that is not interrupted, operator by operator."""

    def __init__(self, hooks: bool | str, optimizer: str):
        with execution("direct"):
            self.training = Training("direct", hooks, optimizer)
            self.states = [self.training.start]
            for number in range(STEPS + AFTER + 1):
                self.training.run(number, 1, [])
                self.states.append(self.training.states())

    def after(self, states, first: int) -> dict[str, np.ndarray]:
        """What comes of these states in the steps after an interruption."""
        with execution("direct"):
            self.training.put(states)
            self.training.run(first, AFTER, [])
            return self.training.states()

    def moment(self, states) -> int | None:
        """The step in which a training was, if each state is that before or after it."""
        for k in range(len(self.states) - 1):
            before, after = self.states[k], self.states[k + 1]
            if all(close(v, before[n]) or close(v, after[n]) for n, v in states.items()):
                return k
        return None


def close(a, b) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, CLOSE, CLOSE))


def left_open() -> list[str]:
    """What an interruption left of a state that was meant for a while."""
    found, stream = [], local.stream
    for name, function in _BUILTINS.items():
        if getattr(builtins, name) is not function:
            found.append(f"{name} is left patched")
            setattr(builtins, name, function)
    if stream.scope is not OUTSIDE or stream.called is not None:
        fields = {name: getattr(stream.scope, name) for name in Scope.__slots__}
        found.append(f"the stream is left in {fields}, called {stream.called}")
        stream.scope, stream.called = OUTSIDE, None
    return found


def problems(training: Training, oracle: Oracle) -> list[str]:
    """What is wrong with a training that was interrupted."""
    found = left_open()
    states = {}
    for name, member in training.members().items():
        try:
            states[name] = member.asnumpy()
        except Exception as error:
            found.append(f"{name} is unreadable: {error!r:.90}")
    if len(states) < len(training.members()):
        return found
    k = oracle.moment(states)
    if k is None:
        wrong = [n for n, v in states.items() if not any(close(v, s[n]) for s in oracle.states)]
        return [*found, f"no moment of the training: {wrong or 'a mixture of steps'}"]
    found += _not_saved(training, states)
    if k >= STEPS:
        return found
    expected = oracle.after(states, k + 1)
    with execution(training.mode):
        training.run(k + 1, AFTER, [])
        after = training.states()
    found += [f"goes on wrongly: {n}" for n, v in after.items() if not close(v, expected[n])]
    return found


def _not_saved(training: Training, states) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.ckpt")
        ms.save_checkpoint(training.net, path)
        loaded = ms.load_checkpoint(path)
    kept = {f"net.{name}": tensor.asnumpy() for name, tensor in loaded.items()}
    return [f"saved wrongly: {n}" for n, v in kept.items() if not np.array_equal(v, states[n])]


class Interruption:
    """An exception that arrives from outside: how often it was raised, and how often it came."""

    def __init__(self, kind: type[BaseException], then: Callable | None = None):
        self.kind, self.then = kind, then
        self.raised = self.caught = 0
        self.others: list[str] = []

    def handler(self, number, frame) -> None:
        if self.then is not None:
            self.then()
            return
        self.raised += 1
        raise self.kind("from outside")

    def around(self, run: Callable[[], None]) -> None:
        """Run something that it interrupts."""
        try:
            run()
            end = time.perf_counter() + 1
            while self.raised and time.perf_counter() < end:
                time.sleep(0.001)  # it may come late, but it has to come
        except self.kind as error:
            if "from outside" in str(error):
                self.caught += 1
            else:
                self.others.append(f"changed: {error!r:.90}")
        except Exception as error:
            self.others.append(f"another error: {error!r:.90}")

    def problems(self) -> list[str]:
        lost = self.raised - self.caught
        return self.others + ([f"{lost} of {self.raised} exceptions swallowed"] if lost else [])


def interrupted_by_signal(run: Callable[[], None], delay: float, kind) -> Interruption:
    """Run something with an alarm after some seconds."""
    interruption = Interruption(kind)
    before = signal.signal(signal.SIGALRM, interruption.handler)

    def timed():
        signal.setitimer(signal.ITIMER_REAL, delay)
        run()
        signal.setitimer(signal.ITIMER_REAL, 0)

    try:
        interruption.around(timed)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return interruption


_CALLS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW")
_moments: dict[CodeType, frozenset[int]] = {}


def moments_of(code: CodeType) -> frozenset[int]:
    """The instructions of a function before which handlers of signals may run, besides its start:
    jumps backwards, and those behind a call. An exception is raised at the call; so one behind
    which other handlers of exceptions begin or end is none of them."""
    found = _moments.get(code)
    if found is None:
        tables = [
            (entry.start, entry.end, entry.target)
            for entry in getattr(dis.Bytecode(code), "exception_entries", ())
        ]

        def target(offset):
            return next((t for start, end, t in tables if start <= offset < end), None)

        offsets, call = set(), None
        for instruction in dis.get_instructions(code):
            offset = instruction.offset
            behind = call is not None and target(call) == target(offset)
            if behind or "JUMP_BACKWARD" in instruction.opname:
                offsets.add(offset)
            call = offset if instruction.opname in _CALLS else None
        found = _moments[code] = frozenset(offsets)
    return found


class AtMoment:
    """Raises at the n-th moment of our own code at which a handler might; counts all of them.

    Only functions of the package are looked at, or only those of the files named `within`. With
    `then` its handler calls that, and raises nothing.
    """

    def __init__(self, number: int, kind, then: Callable | None = None, within: str = ""):
        self.interruption = Interruption(kind, then)
        self.within = within
        self.left, self.count = number, 0
        self.where = ""

    def run(self, run: Callable[[], None]) -> Interruption:
        def traced():
            sys.settrace(self._enter)
            try:
                run()
            finally:
                sys.settrace(None)

        # Where it is looked for what is raised by handlers, this one is known.
        before = signal.signal(signal.SIGUSR1, self.interruption.handler)
        try:
            self.interruption.around(traced)
        finally:
            signal.signal(signal.SIGUSR1, before)
        return self.interruption

    def _enter(self, frame, event, argument):
        code = frame.f_code
        file = code.co_filename
        if not (file.startswith(SOURCE) and file.endswith(self.within)):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._moment(frame)
        return self._inside

    def _inside(self, frame, event, argument):
        if event == "opcode" and frame.f_lasti in moments_of(frame.f_code):
            self._moment(frame)
        return self._inside

    def _moment(self, frame) -> None:
        if signals._held.waiting:
            return  # no handler runs now
        self.count += 1
        self.left -= 1
        if self.left == 0:
            code = frame.f_code
            self.where = f"{code.co_filename[len(SOURCE) :]}:{frame.f_lineno} {code.co_qualname}"
            self.interruption.handler(0, frame)


def trial(training: Training, oracle: Oracle, interrupt: Callable) -> list[str]:
    """Start anew, run, interrupt, look."""
    with execution(training.mode):
        training.put(training.start)
        interruption = interrupt(lambda: training.run(0, STEPS, []))
        found = interruption.problems()
        # Outside of `except`, as a program that goes on.
    return found + problems(training, oracle)
