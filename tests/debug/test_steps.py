# SPDX-License-Identifier: Apache-2.0
"""record_steps and `mycel replay`: steps that run again elsewhere, and where they go wrong.

Oracles: what the step itself gave; faults put in by the test; NumPy in Float64.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.cli.main import main
from mycel.debug.replaying import RecordedStep
from mycel.kernel.define.op import Op
from support import prepared

MODES = ("pynative", "jit", "graph")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Dense(4, 8)
        self.norm = nn.LayerNorm((8,))
        self.drop = nn.Dropout(p=0.2)
        self.out = nn.Dense(8, 3)

    def construct(self, x):
        x = ops.gelu(self.norm(self.embed(x)))
        scores = ops.softmax(ops.matmul(x, x.T) / 8**0.5, -1)
        return self.out(self.drop(ops.matmul(scores, x)) + ops.tanh(x))


def trained(mode: str, net):
    """A step on one batch, and what it changes."""
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_fn(net(x), y)

    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    derivative = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    return ms.jit(step) if mode == "jit" else step


@pytest.fixture(autouse=True)
def modes():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def batch(seed: int):
    numbers = np.random.RandomState(seed)
    return Tensor(numbers.rand(5, 4).astype(np.float32)), Tensor(numbers.randint(0, 3, 5), ms.int32)


@pytest.mark.parametrize("mode", MODES)
def test_a_step_runs_again_with_the_same_results(mode, tmp_path):
    ms.set_seed(2)
    net = Net()
    step = trained(mode, net)
    with ms.debug.record_steps(2, tmp_path) as recorded:
        for seed in range(5):
            loss = step(*batch(seed))
        paths = recorded.write()
        assert float(loss) > 0
    assert [os.path.basename(path) for path in paths] == ["step_4.mycel", "step_5.mycel"]
    found = RecordedStep(paths[-1])
    assert found.number == 5
    expected = [loss.asnumpy(), *[p.asnumpy() for p in net.get_parameters()]]
    for way in ("direct", "graph", "pynative"):
        results = [
            np.asarray(made[slot] if slot >= 0 else record.inputs[-1 - slot])
            for record, made in zip(found.records, found.run(way), strict=True)
            for slot in record.live
        ]
        for value in expected:
            near = [np.allclose(r, value, 1e-5, 1e-6) for r in results if r.shape == value.shape]
            assert any(near)
    cells = {node.cell.rpartition("Net")[2] for record in found.records for node in record.nodes}
    assert {".embed", ".norm", ".out"} <= cells
    assert any(node.reverse for record in found.records for node in record.nodes)
    assert any(node.file == __file__ for record in found.records for node in record.nodes)


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_nothing_is_recorded_outside_and_failing_steps_are_written(kind, tmp_path):
    step = ms.jit(lambda x: ops.log(x).sum())
    for number in (1.0, 2.0, 3.0):
        step(Tensor([number]))
    with pytest.raises(kind), ms.debug.record_steps(folder=tmp_path) as recorded:
        for number in (1.0, 2.0, 3.0, 4.0, 5.0):
            step(Tensor([number]))
        raise kind
    assert [os.path.basename(path) for path in recorded.written] == [
        "step_3.mycel",
        "step_4.mycel",
        "step_5.mycel",
    ]
    assert RecordedStep(recorded.written[0]).records[0].inputs[0] == 3.0
    step(Tensor([6.0]))
    assert len(recorded._steps) == 3 and recorded._steps[-1][0] == 5
    with pytest.raises(ValueError, match="number of steps from 1 on"):
        ms.debug.record_steps(0)


@pytest.mark.parametrize("mode", ("pynative", "jit"))
def test_a_step_with_nan_is_written_and_found_elsewhere(mode, tmp_path):
    def function(x):
        return ops.log(ops.relu(x)).sum()

    step = ms.jit(function) if mode == "jit" else lambda x: float(function(x))
    caught = pytest.raises(FloatingPointError)
    with caught, ms.debug.record_steps(1, tmp_path) as recorded, ms.debug.find_nan():
        for number in (1.0, 2.0, 3.0, -1.0):
            step(Tensor([number]))
    (path,) = recorded.written
    told = RecordedStep(path).find_nan()
    assert told is not None and "log at" in told and "makes what is not finite" in told
    program = ["-m", "mycel", "replay", path]
    done = prepared.run([*program, "--find-nan"])
    assert done.returncode == 1 and "log at" in done.stdout, done.stderr
    done = prepared.run(program)
    assert done.returncode == 0 and "operators, direct" in done.stdout, done.stderr


def recorded_step(tmp_path) -> str:
    ms.set_seed(2)
    step = trained("jit", Net())
    with ms.debug.record_steps(1, tmp_path) as recorded:
        for seed in range(4):
            step(*batch(seed))
        return recorded.write()[0]


def wrong(op: Op) -> Op:
    """The same operator with an error of a hundredth in its first output."""

    def function(*arrays):
        results = op.function(*arrays)
        if isinstance(results, (tuple, list)):
            return (results[0] * 1.01 + 0.01, *results[1:])
        return results * 1.01 + 0.01

    return Op(op.name, function)


def test_the_operator_with_a_fault_is_named_twenty_times_of_twenty(tmp_path):
    path = recorded_step(tmp_path)
    clean, other = RecordedStep(path), RecordedStep(path)
    (record,) = other.records
    values = clean.run()[0]
    assert clean.first_difference(other) is None
    assert clean.first_difference(clean, ("direct", "graph")) is None
    assert clean.first_difference(RecordedStep(path, "float64")) is None
    positions, slot = [], 0
    for index, node in enumerate(record.nodes):
        if jnp.issubdtype(values[slot].dtype, jnp.floating) and np.any(values[slot]):
            positions.append(index)
        result = node.op.signature(
            tuple(
                [
                    ms.kernel.define.aval.aval_of(np.shape(a), a.dtype)
                    for a in (values[s] if s >= 0 else record.inputs[-1 - s] for s in node.inputs)
                ]
            )
        )
        slot += len(result.outputs)
    chosen = [positions[i] for i in np.linspace(0, len(positions) - 1, 20).astype(int)]
    assert len(set(chosen)) == 20
    named = 0
    for index in chosen:
        node = record.nodes[index]
        record.nodes[index] = node._replace(op=wrong(node.op))
        found = clean.first_difference(other)
        named += found is not None and found.node is clean.records[0].nodes[index]
        record.nodes[index] = node
    assert named == 20


def test_precision_and_what_was_given_are_told_apart(tmp_path):
    @ms.jit
    def step(x):
        return ((x + 1.0) - x).sum()

    paths = []
    for number in (1e8, 2e8):
        with ms.debug.record_steps(1, tmp_path / str(number)) as recorded:
            for _ in range(4):
                step(Tensor([number]))
            paths += recorded.write()
    found = RecordedStep(paths[0]).first_difference(RecordedStep(paths[0], "float64"))
    assert found is not None and found.node.operator == "sub"
    found = RecordedStep(paths[0]).first_difference(RecordedStep(paths[1]))
    assert found is not None and "given other values" in str(found)


def test_random_numbers_are_those_of_the_step_in_float64_too(tmp_path):
    """Oracle: the recorded step itself, which draws in float32."""
    drop = nn.Dropout(p=0.5)
    drop.set_train()

    @ms.jit
    def step(x):
        chosen = ops.multinomial(ops.softmax(x), 2).astype(ms.float32)
        noise = ops.standard_normal((4, 3)) + ops.rand(4, 3) + ops.gamma((4, 3), x.abs(), x.abs())
        return (drop(x) + noise).sum() + chosen.sum() + ops.randperm(5).sum()

    with ms.debug.record_steps(1, tmp_path) as recorded:
        for _ in range(4):
            step(Tensor(np.linspace(0.5, 2, 12, dtype=np.float32).reshape(4, 3)))
        (path,) = recorded.write()
    alone, wide = RecordedStep(path), RecordedStep(path, "float64")
    drawn = [node.operator for record in alone.records for node in record.nodes]
    assert {"draw_choices", "draw_normal"} <= set(drawn), drawn
    assert alone.first_difference(wide) is None
    assert alone.first_difference(alone, ("direct", "graph")) is None


@pytest.mark.parametrize("kind", (nn.LSTM, nn.GRU, nn.GRUCell))
def test_all_of_a_recurrent_step_runs_in_float64(kind, tmp_path):
    """Oracle: the values in float32; what is kept as StableHLO, or names its type, fits in."""
    net = kind(4, 3)

    @ms.jit
    def step(x):
        made = net(x, ops.zeros((6, 3), ms.float32)) if kind is nn.GRUCell else net(x)[0]
        return (made + ops.zeros(made.shape, ms.float32)).sum()

    x = np.linspace(-1, 1, 24, dtype=np.float32)
    with ms.debug.record_steps(1, tmp_path) as recorded:
        for _ in range(4):
            step(Tensor(x.reshape((6, 4) if kind is nn.GRUCell else (2, 3, 4))))
        (path,) = recorded.write()
    wide = RecordedStep(path, "float64")
    assert RecordedStep(path).first_difference(wide) is None
    reals = [a for a in wide.run()[0] if np.asarray(a).dtype.kind == "f"]
    assert reals and all(np.asarray(a).dtype == np.float64 for a in reals)


def test_a_breakpoint_stops_in_the_cell(tmp_path):
    path = recorded_step(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "mycel", "replay", path, "--breakpoint", "**.norm"],
        input="p node.cell\np len(inputs)\nc\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "norm'" in done.stdout and "operators, direct" in done.stdout


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--breakpoint", "**.nope"], r"no Cell is '\*\*.nope'; the step has .*norm"),
        (["--find-nan", "--against", "graph"], "--find-nan and --against are things of their own"),
        (["--mode", "graph", "--dtype", "float64"], "--dtype looks at operators one by one"),
        (["--mode", "graph", "--find-nan"], "--find-nan looks at operators one by one"),
        (["--tolerance", "1"], "--tolerance is that of a comparison"),
    ],
)
def test_no_option_is_without_effect(options, text, tmp_path, capsys):
    assert main(["replay", recorded_step(tmp_path), *options]) == 2
    assert re.search(text, capsys.readouterr().err)


def test_files_that_are_none_are_told(tmp_path):
    path = recorded_step(tmp_path)
    with open(path, "rb") as file:
        data = file.read()
    numbers = np.random.RandomState(0)
    hostile = [b"", b"no", data[:100], data[: len(data) // 2]]
    for _ in range(30):
        changed = bytearray(data)
        for position in numbers.randint(0, min(len(data), 3000), 5):
            changed[position] = numbers.randint(256)
        hostile.append(bytes(changed))
    broken = tmp_path / "broken.mycel"
    for content in hostile:
        broken.write_bytes(content)
        try:
            RecordedStep(broken)
        except ValueError as error:
            assert "broken.mycel" in str(error)
    with pytest.raises(OSError):
        RecordedStep(tmp_path / "absent.mycel")
    ms.save_checkpoint(Net(), str(tmp_path / "net.safetensors"), format="safetensors")
    with pytest.raises(ValueError, match="no recorded step"):
        RecordedStep(tmp_path / "net.safetensors")


def test_a_folder_is_no_step(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder: name one of its step_N.mycel"):
        RecordedStep(tmp_path)
