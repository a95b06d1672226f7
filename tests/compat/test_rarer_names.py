# SPDX-License-Identifier: Apache-2.0
"""Devices, settings and looks at the machine that few programs ask for."""

from __future__ import annotations

import gc
import logging
import sys
import weakref

import jax
import numpy as np
import pytest

import mycel as ms
from mycel import mindrecord
from mycel.debug import runtime
from mycel.kernel.base import backend
from mycel.kernel.base.context import context

MIB = 2**20


@pytest.fixture
def restored():
    """Settings and limits are as they were behind the test."""
    names = ("device_target", "device_id", "max_call_depth", "direct")
    before = {name: getattr(context, name) for name in names}
    device, depth = jax.config.jax_default_device, sys.getrecursionlimit()
    yield
    for name, value in before.items():
        setattr(context, name, value)
    jax.config.update("jax_default_device", device)
    sys.setrecursionlimit(depth)


def test_the_device(restored, monkeypatch):
    # Oracle: MindSpore 2.10 answers and raises the same; without a number it is the first device.
    monkeypatch.delenv(backend.DEVICE_VARIABLE, raising=False)
    ms.set_device("CPU")
    assert ms.get_current_device() == ("CPU", 0)
    assert (ms.get_context("device_target"), ms.get_context("device_id")) == ("CPU", 0)
    for given, kind in (
        (("NPU",), ValueError),
        (("CPU", "0"), TypeError),
        (("CPU", -1), ValueError),
        (("TPU", 4096), ValueError),
    ):
        with pytest.raises(kind):
            ms.set_device(*given)
        # What could not be set has not been set.
        assert ms.get_current_device() == ("CPU", 0)
    ms.set_device("CPU", 3)  # a machine has one, whatever its number
    assert ms.get_current_device() == ("CPU", 3)
    ms.set_device("CPU")
    assert ms.get_current_device() == ("CPU", 0)


def test_how_deep_functions_call_each_other(restored):
    # Oracle: Python, which otherwise raises RecursionError; MindSpore 2.10 raises the same errors.
    def down(count):
        return count and down(count - 1)

    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        down(limit)
    ms.set_recursion_limit(limit + 1000)
    assert down(limit) == 0
    assert ms.get_context("max_call_depth") == limit + 1000
    for wrong, kind in ((0, ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(kind, match="an integer"):
            ms.set_recursion_limit(wrong)


def test_operators_by_themselves(restored):
    # Oracle: counting. What is recorded together is one segment; by themselves there is none.
    def segments():
        before = ms.debug.ledger().counts.segments
        x = ms.Tensor(np.ones(3, np.float32))
        assert ((x + 1) * 3 - 2).asnumpy().tolist() == [4, 4, 4]
        return ms.debug.ledger().counts.segments - before

    assert segments() == 1
    ms.runtime.launch_blocking()
    assert ms.get_context("pynative_synchronize") is True
    assert segments() == 0


@pytest.mark.parametrize("free", [ms.ms_memory_recycle, runtime.empty_cache])
def test_what_nobody_uses_is_freed(free):
    # Oracle: Python: an object that holds itself lives until somebody collects.
    class Holder:
        pass

    gc.disable()
    try:
        holder = Holder()
        holder.itself, alive = holder, weakref.ref(holder)
        del holder
        assert alive() is not None
        free()
        assert alive() is None
    finally:
        gc.enable()


def test_a_check_of_the_installation(capsys, monkeypatch):
    # Oracle: MindSpore 2.10 prints its version, that the result is correct, and the platform.
    ms.run_check()
    printed = capsys.readouterr().out
    assert ms.__version__ in printed
    assert "correctly" in printed
    assert ms.get_context("device_target") in printed
    monkeypatch.setattr("mycel.ops.matmul", lambda x, y: ms.Tensor([[12.0]]))
    with pytest.raises(RuntimeError, match="multiplies wrongly"):
        ms.run_check()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ms.set_offload_context({"offload_path": "./rarer"}), "set_offload_context"),
        (lambda: runtime.set_memory(max_size="31GB"), "31GB"),
        (lambda: runtime.dispatch_threads_num(31), "dispatch_threads_num(31)"),
        (lambda: runtime.set_kernel_launch_group(31, 7), "set_kernel_launch_group(31, 7)"),
        (lambda: runtime.set_kernel_launch_capture(True), "set_kernel_launch_capture(True)"),
    ],
)
def test_settings_without_effect_are_said_once(call, text, caplog):
    # Oracle: the log.
    caplog.set_level(logging.INFO, "mycel")
    call()
    call()
    assert [text in message for message in caplog.messages] == [True]


def test_one_queue_of_work():
    # Oracle: the documented rule: XLA orders the work, so that every Stream is the same.
    assert runtime.default_stream() == runtime.communication_stream() == runtime.Stream()
    assert runtime.set_cur_stream(runtime.Stream()) is None
    with pytest.raises(TypeError, match="a Stream"):
        runtime.set_cur_stream(3)


class Device:
    """A device that counts what it is told to."""

    def __init__(self, **stats):
        self.stats = stats

    def memory_stats(self):
        return self.stats


@pytest.mark.parametrize("has_pool", [True, False])
def test_memory_of_a_device(has_pool, monkeypatch):
    # Oracle: the numbers the device counts. A peak that was set back is only seen when exceeded.
    made = Device(bytes_in_use=2 * MIB, peak_bytes_in_use=5 * MIB)
    if has_pool:
        made.stats.update(pool_bytes=8 * MIB, peak_pool_bytes=9 * MIB)
    monkeypatch.setattr(runtime, "device", lambda target=None: made)
    monkeypatch.setattr(runtime, "_set_back", {})
    reserved, most = (8, 9) if has_pool else (2, 5)
    stats = runtime.memory_stats()
    assert runtime.memory_allocated() == stats["total_allocated_memory"] == 2 * MIB
    assert runtime.memory_reserved() == stats["total_reserved_memory"] == reserved * MIB
    assert stats["total_idle_memory"] == (reserved - 2) * MIB
    assert runtime.max_memory_reserved() == stats["max_reserved_memory"] == most * MIB
    assert runtime.max_memory_allocated() == stats["max_allocated_memory"] == 5 * MIB
    assert stats["xla"] == made.stats
    lines = runtime.memory_summary().splitlines()
    assert ["max_allocated_memory", "5.0"] in [line.split() for line in lines]
    runtime.reset_max_memory_reserved()
    assert runtime.max_memory_reserved() == reserved * MIB
    assert runtime.max_memory_allocated() == 5 * MIB
    runtime.reset_max_memory_allocated()
    assert runtime.max_memory_allocated() == 2 * MIB
    made.stats.update(bytes_in_use=7 * MIB, peak_bytes_in_use=7 * MIB)
    assert runtime.max_memory_allocated() == 7 * MIB
    runtime.reset_peak_memory_stats()
    made.stats.update(bytes_in_use=MIB)
    assert runtime.max_memory_allocated() == MIB


def test_a_function_written_into_its_caller():
    # Oracle: MindSpore 2.10: a decorator of `__init__` that changes no answer.
    class Net(ms.nn.Cell):
        @ms.lazy_inline
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def construct(self, x):
            return x * self.factor

    assert Net(3.0)(ms.Tensor([1.0, 2.0])).asnumpy().tolist() == [3, 6]


def test_words_of_the_compiler():
    # Oracle: MindSpore 2.10.
    assert (ms.STRICT, ms.COMPATIBLE, ms.LAX) == (0, 1, 2)


def test_a_ledger_of_ones_own():
    # Oracle: what it was told. The one of the process is of the same kind and hears nothing of it.
    before = ms.debug.ledger().counts.compilations
    found = ms.debug.Ledger()
    with found.working_on("my_step"):
        found.compiled(3, 0.5)
    found.ran(3)
    assert (found.counts.compilations, found.counts.segments, found.counts.nodes) == (1, 1, 3)
    assert [(line.name, line.what) for line in found.lines] == [("my_step", "3 operators")]
    found.reset()
    assert (found.counts.compilations, len(found.lines)) == (0, 0)
    assert isinstance(ms.debug.ledger(), ms.debug.Ledger)
    assert ms.debug.ledger().counts.compilations == before


def test_words_of_mindrecord(tmp_path):
    # Oracle: MindSpore 2.10 for the words; its older versions for what the methods answer.
    assert mindrecord.SUCCESS == 0
    assert mindrecord.FAILED == 1
    assert str(mindrecord.SUCCESS) == "MSRStatus.SUCCESS"
    assert bool(mindrecord.SUCCESS) is True
    writer = mindrecord.FileWriter(str(tmp_path / "a.mindrecord"))
    writer.add_schema({"label": {"type": "int32"}})
    assert writer.add_index(["label"]) is mindrecord.SUCCESS
    assert writer.write_raw_data([{"label": 1}]) is mindrecord.SUCCESS
    assert writer.commit() is mindrecord.SUCCESS


def test_only_public_names_are_shown():
    # Oracle: MindSpore 2.10 shows none of them.
    inner = {
        "ALIASES",
        "ALL",
        "TYPE_CHECKING",
        "WITHOUT_EFFECT",
        "without_effect",
        "settings",
        "Context",
        "annotations",
    }
    inner |= {"as_dtype", "backend", "ml_dtypes", "np", "numpy_dtype"}
    for shown in (dir(ms), dir(ms.common), ms.common.__all__, dir(ms.context), dir(ms.dtype)):
        assert inner.isdisjoint(shown)
        assert shown
    assert ms.common.dtype.float32 is ms.float32
