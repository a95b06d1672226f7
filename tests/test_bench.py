# SPDX-License-Identifier: Apache-2.0
"""The bench: its networks compute the same in mycel and in plain JAX, files come back, and whatever
happens no process is left and the rest goes on. Nothing is timed here.

Oracles: plain JAX by hand, NumPy, checksums.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import mycel as ms
from harness import execution

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def bench():
    """The benchmarks are no installed package."""
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))
    ms.set_context(mode=ms.PYNATIVE_MODE)


def module(name: str):
    return importlib.import_module(f"bench.{name}")


SMALL = {"masked": (2, 6, 16), "wide_deep": (8, 5), "unet": (2, 3, 16, 16)}
SMALL |= {"efficientnet": (2, 3, 16, 16)}


@pytest.fixture
def small(monkeypatch):
    """The work in sizes that compile at once."""
    work = module("work")
    for name, shape in SMALL.items():
        monkeypatch.setitem(work.RECIPES, name, work.RECIPES[name]._replace(inputs=shape))
    monkeypatch.setitem(work.BLOCKS, "masked", (16, 2))
    monkeypatch.setattr(work, "WIDE_DEEP", (50, 4, (8, 1)))
    monkeypatch.setattr(work, "UNET", (4, 2))
    stages = ((1, 32, 1, 1, 3), (6, 24, 1, 2, 5))
    monkeypatch.setitem(work.INVERTED, "efficientnet", work.Inverted(stages, True))


@pytest.mark.parametrize("name", SMALL)
def test_mycel_and_plain_jax_train_alike(small, name):
    """Three losses: a wrong gradient or optimiser shows in the second and third."""
    lanes = [("in_mycel", "pynative"), ("in_jax", "idiomatic")]
    # Only this one has a program of its own: the rows alone.
    lanes += [("in_jax", "lowerings")] if name == "wide_deep" else []
    losses = []
    for framework, variant in lanes:
        once = module(framework).make(name, variant)
        losses.append([once() for _ in range(3)])
    assert losses[0][2] < losses[0][0]
    for others in losses[1:]:
        np.testing.assert_allclose(others, losses[0], rtol=1e-3)


def test_what_lies_behind_the_end_of_a_sequence_changes_nothing(small):
    """Oracle: the same network on a batch whose other elements were exchanged."""
    x, lengths, _ = module("work").batch("masked")
    net = module("in_mycel").networks.build("masked")
    made = net(ms.Tensor(x), ms.Tensor(lengths)).asnumpy()
    behind = np.arange(x.shape[1]) >= lengths[:, None]
    assert behind.any()
    changed = np.where(behind[..., None], 7.0, x).astype(np.float32)
    np.testing.assert_array_equal(net(ms.Tensor(changed), ms.Tensor(lengths)).asnumpy(), made)
    assert not made[behind].any()
    assert made[~behind].any()


def test_blocks_that_add_start_with_little():
    work = module("work")
    blocks = work.inverted_blocks("mobilenet")
    adding = {f"{block.name}.bn3" for block in blocks if block.adds}
    assert set(work._last_of_blocks("mobilenet")) == adding
    assert len(adding) == 10
    assert len(work._last_of_blocks("resnet50")) == 16


def test_a_stopped_worker_ends_with_the_run():
    frameworks, checkpoints = module("frameworks"), module("checkpoints")
    with (
        pytest.raises(KeyboardInterrupt),
        frameworks.started(["numpy"], kinds=checkpoints.KINDS) as (worker,),
    ):
        process = worker._process
        state = pathlib.Path(f"/proc/{process.pid}/stat")
        until = time.monotonic() + 30
        while state.read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < until, "it is not stopped"
        raise KeyboardInterrupt
    assert process.returncode == 0
    # One that is at work, and does not see that its input ended, is killed.
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    worker._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frameworks, "SECONDS_TO_END", 0.1)
        worker.end()
    assert worker._process.returncode == -9


def test_checkpoints_are_saved_loaded_and_compared(tmp_path, monkeypatch, capsys):
    checkpoints, files = module("checkpoints"), module("checkpoint_files")
    monkeypatch.setattr(checkpoints, "HERE", tmp_path)
    monkeypatch.setenv("BENCH_FOLDER", str(tmp_path))
    monkeypatch.setenv("BENCH_BYTES", "1000000")
    checkpoints.main(["--megabytes", "1", "--rounds", "1", "--frameworks", "numpy"])
    rows = json.loads((tmp_path / "results" / "checkpoints.json").read_text())
    assert {row["work"] for row in rows} == set(files.WORK)
    assert len(rows) == 9
    assert "numpy npz" in capsys.readouterr().out
    monkeypatch.setenv("BENCH_FOLDER", str(tmp_path))
    given = files.arrays()
    expected = np.asarray(files.Checked(lambda: given))
    for variant in ("ckpt", "safetensors"):
        for work in files.WORK:
            once = files.make(module("checkpoint_cells").formats(ms), work, variant)
            np.testing.assert_array_equal(np.asarray(once()), expected)
    given["layer3.weight"][5, 5] += 1
    assert np.asarray(files.Checked(lambda: given))[0] != expected[0]


def test_a_part_that_cannot_be_done_on_a_device_is_named_and_the_rest_goes_on(
    tmp_path, monkeypatch, capsys
):
    device = module("device")

    def broken(plan):
        raise SystemExit("torch could not be installed")

    monkeypatch.setitem(device.PARTS, "kernels", broken)
    path = tmp_path / "device.json"
    with pytest.raises(SystemExit, match="could not be done: kernels"):
        device.main(["--dry-run", "--parts", "kernels,facts", "--output", str(path)])
    report = json.loads(path.read_text())
    assert report["failed"] == {"kernels": "SystemExit: torch could not be installed"}
    assert {"device", "jax", "cores"} <= {row["work"] for row in report["rows"]}
    assert "kernels   could not be done" in capsys.readouterr().out


def test_a_process_that_ends_on_a_device_costs_its_own_work_only():
    device, begun = module("device"), []

    def start(running):
        begun.append(len(begun))
        return [begun]

    def measure(workers, work):
        if work == "hangs":
            with device.limited(0.01):
                time.sleep(5)
        if work == "ends":
            raise SystemExit("The worker of torch ended")
        if work == "differs":
            raise module("__main__").Differs("they differ")
        return [{"work": work, "what": "done"}]

    rows = device.in_processes(["a", "hangs", "ends", "differs", "b"], start, measure)
    told = [row["what"] for row in rows]
    assert told[0] == told[4] == "done"
    assert "more than 0" in told[1]
    assert "torch ended" in told[2]
    assert "they differ" in told[3]
    assert len(begun) == 3


@pytest.mark.parametrize("work", ("attention, causal", "attention, lengths", "LSTM"))
def test_operators_that_are_open_on_a_device_agree(work):
    kernels, variants = module("in_kernels_jax"), module("device_kernels").VARIANTS[work]["jax"]
    here = [variant for variant in variants if "cudnn" not in variant]
    found = [kernels.make(work, variant)() for variant in here]
    for others in found[1:]:
        np.testing.assert_allclose(others, found[0], rtol=module("device_kernels").TOLERANCE)


@pytest.mark.parametrize(
    "name", ["elements_written", "product_by_three_loops", "prefixes", "trees_trained"]
)
def test_programs_of_changing_shapes_are_those_of_compiled_operators(name):
    """Oracle: each operator compiled for its shapes."""
    programs, results = module("loop_programs"), []
    for way in ("direct", "fused"):
        with execution(way):
            results.append(programs.PROGRAMS[name](programs.Tools(ms)))
    np.testing.assert_allclose(*results, rtol=1e-4)
