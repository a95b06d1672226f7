# SPDX-License-Identifier: Apache-2.0
"""What is told of a compilation that takes long. The compiler is made slow; the oracle is what a
person needs: which function, how many operators, and the line of the program."""

from __future__ import annotations

import time

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn
from mycel.kernel.execute import compile as compiling
from mycel.report import progress


@pytest.fixture
def slow(monkeypatch):
    """Compilations take 0.4 s, and are told of after 0.05."""
    compiling.executables.clear()
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    compiled = compiling._compiled

    def slowly(function):
        made = compiled(function)

        def run(*arrays):
            time.sleep(0.4)
            return made(*arrays)

        return run

    monkeypatch.setattr(compiling, "_compiled", slowly)
    yield
    compiling.executables.clear()


def test_a_function_is_named_with_its_line(slow, capfd):
    @ms.jit
    def slow_step(x):
        return (x * 2 + 1).sum()

    x = Tensor(np.ones(3, np.float32))
    assert float(slow_step(x)) == 9  # the line
    told = capfd.readouterr().err
    assert told.count("mycel: compiling") == 1
    assert "slow_step (3 operators) since 0.05 s" in told
    assert "test_progress.py" in told
    assert "`assert float(slow_step(x)) == 9  # the line`" in told or "`return (x * 2 + 1)" in told
    for _ in range(3):
        slow_step(x)
    assert "compiling" not in capfd.readouterr().err


def test_pynative_names_the_line_that_waits(slow, capfd):
    net = nn.Dense(3, 2, "ones", "zeros")
    capfd.readouterr()
    net(Tensor(np.ones((2, 3), np.float32))).asnumpy()  # here
    told = capfd.readouterr().err
    assert told.count("mycel: compiling") == 1
    assert "`net(Tensor(np.ones((2, 3), np.float32))).asnumpy()  # here`" in told
    assert "MYCEL_PROGRESS=off" in told


def test_it_can_be_switched_off(slow, capfd, monkeypatch):
    monkeypatch.setenv(progress.VARIABLE, "off")
    (Tensor(np.ones(3, np.float32)) * 5).asnumpy()
    assert capfd.readouterr().err == ""


def test_what_is_compiled_soon_is_not_told(capfd, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 30.0)
    compiling.executables.clear()
    (Tensor(np.ones(3, np.float32)) * 7).asnumpy()
    assert capfd.readouterr().err == ""


def test_a_closed_standard_error_is_no_error(slow, monkeypatch):
    class Closed:
        def write(self, text):
            raise ValueError("I/O operation on closed file")

    monkeypatch.setattr("sys.stderr", Closed())
    assert float((Tensor(np.ones(3, np.float32)) * 9).sum()) == 27
