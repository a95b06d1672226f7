# SPDX-License-Identifier: Apache-2.0
"""How mycel is told which Python runs. Oracle: what `sys` says, and the results of PyNative."""

from __future__ import annotations

import gc
import importlib
import io
import subprocess
import sys
import weakref

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


class Ends:
    """Python runs `at_end` when it collects this."""

    def __init__(self, at_end):
        self.itself, self.at_end = self, at_end

    def __del__(self):
        self.at_end()


def remembered_weakly(table, key):
    key.itself = key
    table[key] = 1


ended: list = []
weak_keys: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
GARBAGE = {
    "__del__": lambda: Ends(lambda: ended.append(1)),
    "finalize": lambda: weakref.finalize(Ends(int), ended.append, 1),
    "weak key": lambda: remembered_weakly(weak_keys, Ends(int)),
    "Parameter": lambda: setattr(Ends(int), "weight", ms.Parameter(Tensor([1.0]))),
    "jit": lambda: setattr(Ends(int), "step", ms.jit(lambda x: x)),
    "log": lambda: Ends(lambda: ms.log.info("an end")),
    "print": lambda: Ends(lambda: print("an end", file=io.StringIO())),
}
MANY = tuple([(number,) for number in range(20_000)])


def replays_with(make) -> int:
    """How many of 6 calls are replayed if garbage is collected while a line of the user runs."""

    @ms.jit
    def step(x):
        rows = list(map(list, MANY))  # so many that Python collects
        return x * len(rows)

    before = gc.get_threshold()
    try:
        for number in range(6):
            gc.collect()
            gc.disable()
            make()
            gc.set_threshold(10_000, 1, 1)
            gc.enable()
            assert float(step(Tensor(float(number)))) == number * len(MANY)
    finally:
        gc.set_threshold(*before)
        gc.enable()
    return ms.debug.ledger().counts.replays


@pytest.mark.parametrize("make", GARBAGE.values(), ids=GARBAGE)
def test_what_ends_as_garbage_is_no_part_of_the_call(make):
    """Oracle: the same step without garbage, of which all calls but the first two are replayed."""
    assert replays_with(lambda: None) == 4
    assert replays_with(make) == 8


def test_operators_that_run_as_garbage_is_collected_are_no_part_of_a_program():
    """Oracle: how often Python ended such an object."""
    counter = ms.Parameter(Tensor(0.0))
    assert replays_with(lambda: Ends(lambda: ms.ops.assign_add(counter, Tensor(1.0)))) < 4
    gc.collect()
    assert float(counter) == 6.0
    assert any("garbage" in line.what for line in ms.debug.ledger().lines)


IMPORTS = {
    "relative": "from .layers import double",
    "relative_module": "from . import layers; double = layers.double",
    "relative_deeper": "from ..{package}.layers import double",
    "absolute": "from {package}.layers import double",
    "renamed": "import {package}.layers as layers; double = layers.double",
    "whole": "import {package}.layers; double = {package}.layers.double",
}


@pytest.mark.parametrize("form", IMPORTS)
def test_an_import_of_what_is_there_is_no_effect(form, tmp_path, monkeypatch):
    package = f"outer_{form}.inner"
    folder = tmp_path / f"outer_{form}" / "inner"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "layers.py").write_text("def double(x):\n    return x * 2\n")
    line = IMPORTS[form].format(package=package if ".." not in IMPORTS[form] else "inner")
    (folder / "program.py").write_text(
        f"import mycel as ms\nfrom . import layers as known\n\n"
        f"@ms.jit\ndef step(x):\n    {line}\n    return double(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    program = importlib.import_module(f"{package}.program")
    for number in range(5):
        assert program.step(Tensor([1.0 + number])).tolist() == [2.0 + 2 * number]
    assert ms.debug.ledger().counts.replays == 3
    # What the module holds is read all the same.
    program.known.double = lambda x: x * 3
    assert program.step(Tensor([1.0])).tolist() == [3.0]


def test_ipython_that_is_loaded_but_not_running_is_no_effect():
    program = """
import sys
import IPython
import mycel as ms

@ms.jit
def step(x):
    if x.sum() > 0:
        return x + 1
    return x - 1

for number in range(6):
    step(ms.Tensor([1.0 + number, 2.0 - 4 * number]))
print(sorted({line.kind for line in ms.debug.ledger().lines}))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "effect" not in ran.stdout and "read" in ran.stdout, ran.stdout + ran.stderr
