# SPDX-License-Identifier: Apache-2.0
"""How mycel is told which Python runs. Oracle: what `sys` says, and the results of PyNative."""

from __future__ import annotations

import sys

import pytest

import mycel as ms
from mycel import Tensor

# Calls that a debugger keeps from being replayed.
pytestmark = pytest.mark.filterwarnings("ignore:.* keeps running in PyNative")
HAS_MONITORING = sys.version_info >= (3, 12)


def test_a_trace_function_is_there_only_where_python_has_nothing_better():
    found = []
    look = ms.every_call(lambda: found.append(sys.gettrace() is not None))

    @ms.jit
    def step(x):
        look()
        return x * 2

    step(Tensor([1.0]))
    assert found == [not HAS_MONITORING]
    assert sys.gettrace() is None


def test_nothing_is_told_between_recordings():
    @ms.jit
    def step(x):
        return [y * 2 for y in x]

    for _ in range(3):
        step([Tensor([1.0])])
    if HAS_MONITORING:
        tools = [number for number in range(6) if sys.monitoring.get_tool(number) == "mycel"]
        assert len(tools) == 1
        assert sys.monitoring.get_events(tools[0]) == 0
        assert sys.monitoring.get_local_events(tools[0], step.function.__code__) == 0
    assert sys.gettrace() is None
    assert ms.debug.ledger().counts.replays == 1


def test_calls_run_in_pynative_while_a_debugger_is_attached():
    lines = []

    def look(frame, event, argument):
        if frame.f_code is step.function.__code__ and event == "line":
            lines.append(frame.f_lineno)
        return look

    @ms.jit
    def step(x):
        y = x * 2
        return y + 1

    before = sys.gettrace()
    sys.settrace(look)
    try:
        results = [float(step(Tensor(float(number)))) for number in range(6)]
        assert sys.gettrace() is look
    finally:
        sys.settrace(before)
    assert results == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
    assert len(lines) == 12
    counts = ms.debug.ledger().counts
    assert counts.replays == 0
    assert any("debugger" in line.what for line in ms.debug.ledger().lines)
    for number in range(4):
        assert float(step(Tensor(float(number)))) == 2 * number + 1
    assert counts.replays > 0
