# SPDX-License-Identifier: Apache-2.0
"""Errors say what happened, where in the user's code, and what to write instead; tested by text."""

from __future__ import annotations

import inspect
import re

import jax
import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.spell import op


def here(offset: int = 0) -> str:
    """The place of the caller's line, as errors write it."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno + offset}"


def message_of(kind, function) -> str:
    with pytest.raises(kind) as caught:
        function()
    return str(caught.value)


def _divide_on_the_host(x):
    if (np.asarray(x) == 0).any():
        raise ZeroDivisionError("a zero on the host")
    return np.asarray(1 / np.asarray(x), np.float32)


@op("ops.host_reciprocal_for_tests", fallible=True)
def host_reciprocal_for_tests(x):
    """1 / x computed by Python on the host; raises for zeros."""
    return jax.pure_callback(_divide_on_the_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@pytest.mark.parametrize("mode", ["direct", "fused", "graph"])
def test_shape_mismatch(mode):
    with execution(mode):
        x, y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 4), np.float32))
        text = message_of(ValueError, lambda: x + y)
        place = here(-1)
    assert text.startswith(f"add(Float32[2, 3], Float32[2, 4]) at {place}: ")
    assert "(2, 3), (2, 4)" in text


def test_shape_mismatch_leaves_no_trace():
    x, y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 4), np.float32))
    z = x * 2
    with pytest.raises(ValueError, match="add"):
        x + y
    np.testing.assert_array_equal((z + 1).asnumpy(), np.full((2, 3), 3))


def test_dtype_mismatch():
    x = Tensor(np.ones(3, np.float32))
    text = message_of(TypeError, lambda: ops.bitwise_and(x, x))
    place = here(-1)
    assert text.startswith(f"bitwise_and(Float32[3], Float32[3]) at {place}: ")


def test_unknown_device(monkeypatch):
    text = message_of(ValueError, lambda: ms.set_context(device_target="Ascend"))
    place = here(-1)
    assert text == (
        f"device_target='Ascend' is not available at {place}; this machine has "
        f"{', '.join(ms.kernel.base.backend.available_targets())}. Set the environment variable "
        "MYCEL_DEVICE to run the script unchanged on one of these."
    )
    monkeypatch.setenv("MYCEL_DEVICE", "cpu")
    text = message_of(ValueError, lambda: ms.set_context(device_target="CPU"))
    assert text.startswith("MYCEL_DEVICE=cpu is not available at ")
    text = message_of(ValueError, lambda: ms.set_context(device_target="Toaster"))
    assert "must be one of CPU, GPU, TPU, Ascend" in text


def test_duplicate_parameter_name():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.0]), name="weight")
            self.b = Parameter(Tensor([1.0]), name="weight")

    net = Twice()
    text = message_of(ValueError, lambda: nn.Momentum(net.trainable_params(), 0.1, 0.9))
    place = here(-1)
    assert "the name 'weight' is already used by another Parameter" in text
    assert place in text
    assert "the name 'weight'" in message_of(ValueError, net.check_names)


def test_budget_of_the_ledger():
    x = Tensor(np.ones(3, np.float32))
    with ms.debug.budget(compilations=1):
        (x * 3 - 1).asnumpy()
        text = message_of(ms.BudgetError, lambda: (x * 3 - 1 + x + x + x).asnumpy())
        place = here(-1)
    assert text == (
        f"The budget of 1 compilations is used up: number 2 is the compilation of a segment at "
        f"{place}. mycel.debug.ledger() lists them all with their reasons."
    )


@pytest.mark.parametrize("mode", ["direct", "fused", "graph"])
def test_assigning_a_wrong_shape(mode):
    p = Parameter(np.ones(3, np.float32), name="w")
    with execution(mode):
        text = message_of(ValueError, lambda: p.set_data(Tensor([1.0, 2.0])))
        place = here(-1)
    assert text == (
        f"Parameter 'w' has shape (3,), but a value of shape (2,) was assigned at {place}. "
        "Assign a value of the same shape, or pass slice_shape=True."
    )


def test_truth_of_many():
    text = message_of(ValueError, lambda: bool(Tensor([1.0, 2.0])))
    assert text == f"The truth of a Tensor of shape (2,) is ambiguous (at {here(-1)}); " + (
        "use .any() or .all()."
    )


def test_unknown_setting():
    text = message_of(ValueError, lambda: ms.set_context(devic_target="CPU"))
    assert "set_context has no setting 'devic_target'" in text
    assert "Nearest: device_target" in text


def test_a_failing_operator_in_a_fused_segment():
    x = Tensor(np.array([1.0, 0.0], np.float32))
    good = x + 1
    bad = host_reciprocal_for_tests(x)
    place = here(-1)
    lost = bad * 2
    lost_place = here(-1)
    late = good * 3
    np.testing.assert_array_equal(late.asnumpy(), [6.0, 3.0])
    np.testing.assert_array_equal(good.asnumpy(), [2.0, 1.0])
    text = message_of(RuntimeError, bad.asnumpy)
    assert f"The operator host_reciprocal_for_tests, recorded at {place}, failed: " in text
    assert "a zero on the host" in text
    text = message_of(RuntimeError, lost.asnumpy)
    assert text.startswith(f"This value was to come from mul at {lost_place}")
    assert f"host_reciprocal_for_tests (recorded at {place})" in text
    # What is recorded on a lost value is told at once.
    assert "host_reciprocal_for_tests" in message_of(RuntimeError, lambda: lost + 1)
    np.testing.assert_array_equal((good + 1).asnumpy(), [3.0, 2.0])


def test_a_failing_operator_runs_to_its_end_in_direct():
    with execution("direct"):
        x = Tensor(np.array([1.0, 0.0], np.float32))
        text = message_of(RuntimeError, lambda: host_reciprocal_for_tests(x))
        place = here(-1)
    assert re.match(f"The operator host_reciprocal_for_tests, recorded at {place}, failed", text)


def test_a_failing_operator_in_a_compiled_function():
    @ms.jit
    def f(x):
        return host_reciprocal_for_tests(x) + 1

    place = here(-2)
    for _ in range(4):
        np.testing.assert_array_equal(f(Tensor([2.0])).asnumpy(), [1.5])
    lost = f(Tensor([0.0]))
    text = message_of(RuntimeError, lost.asnumpy)
    assert f"host_reciprocal_for_tests (recorded at {place})" in text
    np.testing.assert_array_equal(f(Tensor([4.0])).asnumpy(), [1.25])


def test_interrupting_a_compilation_loses_nothing(monkeypatch):
    from mycel.kernel.execute import compile as compiling

    x = Tensor(np.ones(3, np.float32)) * 7 - 5

    def interrupted(self, arrays):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(compiling.Executable, "__call__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            x.asnumpy()
    assert x.asnumpy().tolist() == [2.0, 2.0, 2.0]
