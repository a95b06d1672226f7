# SPDX-License-Identifier: Apache-2.0
"""mindcv from the package index, unmodified: a few architectures, and a training program.

Oracles: names and outputs recorded from real MindSpore 2.7.0 (`under_mindspore.py`), with weights
that both draw from the names of parameters; images that are easy to tell apart; the other mode.
All 275 architectures are checked by `check_zoo.py`, which is not run with the other tests.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# Imported in processes of its own only, where `mindspore` is mycel.
if importlib.util.find_spec("mindcv") is None:
    pytest.skip("mindcv is not installed: pip install '.[test]'", allow_module_level=True)

HERE = Path(__file__).parent
COLOURS = {"blue": (40, 60, 200), "green": (60, 180, 50), "red": (200, 40, 60)}


def run(*command, cwd=None) -> subprocess.CompletedProcess:
    """A process of its own, because mindcv imports `mindspore`."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "MYCEL_DEVICE": "CPU"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def test_outputs_and_names_are_those_of_mindspore():
    recorded = json.loads((HERE / "names.json").read_text())
    outputs = json.loads((HERE / "outputs.json").read_text())
    rows = [json.loads(row) for row in run(HERE / "under_mycel.py", "tiny").stdout.splitlines()]
    assert [row["name"] for row in rows] == list(outputs)
    for row in rows:
        assert row["digest"] == recorded[row["name"]]["digest"]
        expected = np.array(outputs[row["name"]])
        for mode in ("pynative", "graph"):
            far = np.abs(np.array(row[mode]) - expected).max() / np.abs(expected).max()
            assert far < 1e-5, (row["name"], mode, far)


@pytest.fixture(scope="module")
def image_folder(tmp_path_factory):
    """Noisy images of three colours, as `train` and `val`, a folder for each class."""
    image = pytest.importorskip("PIL.Image")
    root = tmp_path_factory.mktemp("images")
    draw = np.random.default_rng(3)
    for split, count in (("train", 16), ("val", 8)):
        for name, colour in COLOURS.items():
            folder = root / split / name
            folder.mkdir(parents=True)
            for number in range(count):
                noisy = np.array(colour) + draw.normal(0, 60, (32, 32, 3))
                pixels = np.clip(noisy, 0, 255).astype(np.uint8)
                image.fromarray(pixels).save(folder / f"{number}.png")
    return root


def test_the_training_program_learns_in_both_modes(image_folder, tmp_path):
    results = {}
    for mode in (1, 0):
        done = run(
            *("-m", "mycel", "run", HERE / "train.py", "--mode", mode, "--dataset", "imagenet"),
            *("--data_dir", image_folder, "--model", "mobilenet_v1_025", "--epoch_size", 20),
            *("--lr", 0.02, "--ckpt_save_dir", tmp_path / f"mode{mode}"),
            cwd=tmp_path,
        )
        log = (tmp_path / f"mode{mode}" / "result.log").read_text()
        rows = re.findall(r"^\d+\s+([\d.]+)\s+([\d.]+)%", log, re.MULTILINE)
        losses, accuracies = zip(*(map(float, row) for row in rows), strict=True)
        assert len(losses) == 20
        assert losses[0] > 0.9
        assert min(losses) < 0.4
        assert accuracies[0] < 60
        assert max(accuracies) > 90
        # The first two steps; batches of eight are then too few to average rounding out.
        told = re.findall(
            r"Epoch: \[1/20\], batch: \[[12]/6\], loss: ([\d.]+)", done.stdout + done.stderr
        )
        assert len(told) == 2, done.stdout + done.stderr
        results[mode] = list(map(float, told))
    assert results[1] == pytest.approx(results[0], rel=1e-5)
