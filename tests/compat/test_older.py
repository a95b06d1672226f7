# SPDX-License-Identifier: Apache-2.0
"""What programs tell MindSpore's compiler and ask of its inside.

Oracles: MindSpore 2.10's answers where they are written here, NumPy, and the log.
"""

from __future__ import annotations

import doctest
import logging

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import nn, ops
from mycel.compat import alias, older, types
from mycel.compat import initializers as initial
from mycel.debug import devices, profiler, runtime
from mycel.init import later
from mycel.kernel.base import backend
from mycel.kernel.base import context as settings
from mycel.transform import no_grad

X = np.array([1.0, 2.0], np.float32)


def test_no_gradient_flows_through_a_block():
    """Oracle: mathematics, where the block is a constant."""

    def function(x):
        with ms._no_grad():
            scale = x * x
        return (x * scale + ops.exp(scale) * 0).sum()

    def gradient(x):
        return ms.grad(function)(x)

    matches(gradient, lambda x: x * x, X)


def test_no_gradient_flows_through_a_function_and_one_inside_it_is_taken():
    @ms._no_grad()
    def slope(x):
        return ms.grad(lambda x: (x**3).sum())(x)

    def gradient(x):
        return ms.grad(lambda x: (x * slope(x)).sum())(x)

    matches(gradient, lambda x: 3 * x * x, X)


def test_no_gradient_in_a_recomputed_cell_with_hooks():
    class Net(nn.Cell):
        def construct(self, x):
            with ms._no_grad():
                scale = x * x
            return x * scale

    net = Net()
    net.recompute()
    seen = []
    net.register_backward_hook(lambda cell, grad_input, grad_output: seen.append(grad_output))

    def gradient(x):
        return ms.grad(net)(x)

    matches(gradient, lambda x: x * x, X)
    assert len(seen) >= 3


def test_recompute_calls_a_cell_whose_record_is_made_again():
    """Oracle: mathematics; a Python number is no input of the derivative."""

    class Net(nn.Cell):
        def construct(self, x, factor=2.0):
            return ops.sin(x) * factor

    net = Net()

    def gradient(x):
        return ms.grad(lambda x: ms.recompute(net, x, factor=3.0).sum())(x)

    matches(gradient, lambda x: 3 * np.cos(x), X)
    with pytest.raises(TypeError, match="block must be a Cell"):
        ms.recompute(ops.sin, ms.Tensor(X))


def test_an_error_in_a_block_ends_it():
    def function(x):
        try:
            with ms._no_grad():
                raise KeyError
        except KeyError:
            return x * x

    assert ms.grad(function)(ms.Tensor(3.0)).asnumpy() == 6


@pytest.fixture
def notes(caplog):
    """The records of the log, from level info on."""
    caplog.set_level(logging.INFO, "mycel")
    return lambda: list(caplog.records)


def test_options_without_effect_are_noted_once(notes):
    for _ in range(2):
        ms.set_context(enable_graph_kernel=True, graph_kernel_flags="--noted")
        ms.jit(lambda x: x, jit_level="O0", backend="noted", hash_args=1)
        ms.JitConfig(infer_boost="on", backend="noted")
        ms.set_context(enable_hccl=False)
    noted = notes()
    found = [record.getMessage() for record in noted if "noted" in record.getMessage()]
    assert found == [
        "set_context(enable_graph_kernel=True, graph_kernel_flags='--noted') has no effect here",
        "jit(jit_level='O0', backend='noted', hash_args=1) has no effect here",
        "JitConfig(infer_boost='on', backend='noted') has no effect here",
    ]
    # What asks for something is seen without any setting of the log.
    assert {record.levelno for record in noted if "noted" in record.getMessage()} == {30}
    assert [(r.levelno, r.getMessage()) for r in noted if "hccl" in r.getMessage()] == [
        (20, "set_context(enable_hccl=False) has no effect here")
    ]


def test_programs_are_saved(tmp_path):
    @ms.jit
    def double(x):
        return ops.tanh(x) * 2

    ms.set_context(save_graphs=2, save_graphs_path=str(tmp_path / "graphs"))
    try:
        for _ in range(3):
            double(ms.Tensor(X)).asnumpy()
    finally:
        ms.set_context(save_graphs=False, save_graphs_path=".")
    saved = {file.suffix: file for file in (tmp_path / "graphs").iterdir() if "double" in file.name}
    assert "stablehlo.tanh" in saved[".mlir"].read_text()
    assert "HloModule" in saved[".hlo"].read_text()


def test_settings_with_an_effect(tmp_path):
    import sys

    before, folder = sys.getrecursionlimit(), backend.cache_folder()
    try:
        ms.set_context(max_call_depth=before + 500, deterministic="ON")
        assert sys.getrecursionlimit() == before + 500
        assert ms.get_context("deterministic") == "ON"
        assert (ops.sin(ms.Tensor(X)) * 3).asnumpy().shape == (2,)
        ms.set_context(compile_cache_path=str(tmp_path))
        (ops.cos(ms.Tensor(X)) * 7 - 3).asnumpy()
        assert list(tmp_path.iterdir())
    finally:
        sys.setrecursionlimit(before)
        ms.set_deterministic(False)
        if folder is not None:
            backend.keep_programs_in(str(folder))


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ({"deterministic": "yes"}, ValueError),
        ({"max_call_depth": 0}, ValueError),
        ({"save_graphs": 5}, ValueError),
        ({"max_call_dept": 1000}, ValueError),
    ],
)
def test_wrong_settings(setting, kind):
    with pytest.raises(kind, match=next(iter(setting))[:14]):
        ms.set_context(**setting)


# Answers of MindSpore 2.10 where nothing was set.
def test_answers_of_settings(monkeypatch):
    monkeypatch.setattr(ms.kernel.base.context.context, "accepted", {})
    answers = {
        "deterministic": "OFF", "save_graphs": 0, "save_graphs_path": ".", "jit_syntax_level": 2,
        "exec_order": "bfs", "op_timeout": 900, "enable_graph_kernel": False, "jit_level": "",
        "graph_kernel_flags": "", "enable_reduce_precision": True,
        "reserve_class_name_in_scope": True,
    }  # fmt: skip
    assert {name: ms.get_context(name) for name in answers} == answers
    answers = {
        "device_num": 1, "global_rank": 0, "parallel_mode": "stand_alone", "full_batch": False,
        "gradients_mean": False, "pipeline_stages": 1, "search_mode": "recursive_programming",
        "dataset_strategy": "data_parallel", "parameter_broadcast": False,
    }  # fmt: skip
    assert {name: ms.get_auto_parallel_context(name) for name in answers} == answers


# Recorded from MindSpore 2.10.
def test_element_types():
    assert ms.dtype_to_nptype(ms.float32) is np.float32
    assert [ms.dtype_to_pytype(t) for t in (ms.float32, ms.int8, ms.bool_)] == [float, int, bool]
    found = [ms.pytype_to_dtype(t) for t in (int, float, bool, complex, np.int32, np.float16)]
    assert found == [ms.int64, ms.float64, ms.bool_, ms.complex128, ms.int32, ms.float16]
    found = [ms.get_py_obj_dtype(v) for v in (1, 1.0, True, np.float16(1))]
    assert found == [ms.int64, ms.float64, ms.bool_, ms.float16]
    with pytest.raises(NotImplementedError):
        ms.pytype_to_dtype(ms.Tensor)
    assert isinstance(ms.float16, types.Float) and not isinstance(ms.bfloat16, types.Float)
    assert [ms.QuantDtype.INT4.value(), ms.QuantDtype.UINT16.value()] == [3, 115]


def test_parameters_are_drawn_when_they_are_looked_at():
    ms.set_seed(3)
    with nn.no_init_parameters():
        net = nn.SequentialCell(nn.Dense(3, 2), nn.Dense(2, 1, "ones"))
        weight = net[0].weight
        assert isinstance(weight._value.source, later.Undrawn)
        copied = ms.Parameter(weight.value(), name="copied")
    assert (weight.shape, weight.dtype) == ((2, 3), ms.float32)
    loaded = net[1].bias
    loaded.set_data(ms.Tensor([5.0]))
    result = net(ops.ones((1, 3))).asnumpy()
    inner = np.ones((1, 3)) @ weight.asnumpy().T + net[0].bias.asnumpy()
    np.testing.assert_allclose(result, inner.sum(keepdims=True).reshape(1, 1) + 5, rtol=1e-5)
    assert weight.asnumpy().std() > 0
    assert copied.asnumpy().tolist() == weight.asnumpy().tolist()
    assert not isinstance(nn.Dense(3, 2).weight._value.source, later.Undrawn)


# Recorded from MindSpore 2.10.
def test_helpers_of_initialisers():
    assert initial.gain("leaky_relu", 0.1) == pytest.approx(1.4071950894605838)
    assert initial.gain("leaky_relu") == pytest.approx(1.4141428569978354)
    assert [initial.gain("conv2d"), initial.gain("sigmoid")] == [1, 1]
    array = np.zeros((2, 2), np.float32)
    assert initial.assignment(array, np.ones(4)).tolist() == [[1, 1], [1, 1]]


def test_a_schedule_of_traces(tmp_path):
    ready = []
    chosen = profiler.schedule(wait=1, active=1, repeat=2)
    with ms.Profiler(
        output_path=str(tmp_path), schedule=chosen, start_profile=False,
        on_trace_ready=lambda p: ready.append(p.steps),
    ) as traced:  # fmt: skip
        for _ in range(5):
            (ms.Tensor(X) + 1).asnumpy()
            traced.step()
    assert ready == [2, 4]
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_streams_and_events():
    start, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    start.record()
    with runtime.StreamCtx(runtime.Stream()):
        y = ms.Tensor(X) * 2
    end.record()
    assert start.elapsed_time(end) > 0
    assert y.asnumpy().tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        runtime.Event().elapsed_time(end)
    with pytest.raises(ValueError, match="'0-3'"):
        ms.set_cpu_affinity(True, ["all"])


def test_a_program_is_called_to_be_checked():
    with pytest.raises(ValueError):
        older.graph_executor.compile(nn.Dense(2, 1), ops.ones((3, 5)))


MODULES = [older, types, runtime, devices, profiler, no_grad, later, initial, settings]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_examples(module):
    names = {"np": np, "nn": nn, "ops": ops, "ms": ms, "mycel": ms, "Tensor": ms.Tensor}
    outcome = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted
    assert not outcome.failed


def test_levels_of_half_precision():
    """Oracle: what MindSpore 2.7 prints of its own."""
    level = older.AmpLevel
    found = {name: int(each) for name, each in level.__members__.items()}
    assert found == {"AmpO0": 0, "AmpO1": 1, "AmpO2": 2, "AmpO3": 3, "AmpAuto": 4}
    assert (repr(level.AmpO3), str(level.AmpO3)) == ("<AmpLevel.AmpO3: 3>", "AmpLevel.AmpO3")
    assert alias.find("mindspore._c_expression.amp", "AmpLevel") is level
