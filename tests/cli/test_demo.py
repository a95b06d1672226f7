# SPDX-License-Identifier: Apache-2.0
"""The demo: what one short run writes and prints, and the digits it learns from."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from cli.test_run import mycel_run
from mycel.cli import demo
from mycel.cli.digits import Digits, load_digits
from mycel.cli.main import main

SHAPES = {
    "conv1.weight": (6, 1, 5, 5),
    "conv2.weight": (16, 6, 5, 5),
    "fc1.weight": (120, 400),
    "fc2.weight": (84, 120),
    "fc3.weight": (10, 84),
    "fc1.bias": (120,),
    "fc2.bias": (84,),
    "fc3.bias": (10,),
}


def test_the_digits_are_all_there():
    """Oracle: the published counts of the set, 1,797 images and 174 to 183 of each digit."""
    digits = load_digits()
    labels = np.concatenate([digits.train_labels, digits.test_labels])
    counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(labels).tolist() == counts
    for images in (digits.train_images, digits.test_images):
        assert images.dtype == np.float32
        assert images.shape[1:] == (1, 32, 32)
        assert images.min() == 0
        assert 0.9 < images.max() <= 1
    # The bilinear enlargement keeps the mean brightness, up to the borders.
    np.testing.assert_allclose(digits.train_images.mean(), 0.305, atol=0.01)


def test_one_epoch_in_both_modes(tmp_path):
    """Through the command, as a user would. Oracle of each mode: the losses of the other."""
    done = mycel_run(
        "--epochs", "1", "--out", str(tmp_path), command=("-m", "mycel", "demo"), COLUMNS="100"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / demo.PICTURE).read_bytes().startswith(b"\x89PNG")
    weights = load_file(tmp_path / demo.WEIGHTS)
    assert {name: weights[name].shape for name in SHAPES} == SHAPES
    # Others may read them, as any other file.
    modes = {(tmp_path / name).stat().st_mode for name in (demo.WEIGHTS, demo.PICTURE)}
    assert len(modes) == 1
    assert all(np.isfinite(array).all() for array in weights.values())
    difference = re.search(r"losses of the two modes: (\S+)", done.stdout)
    assert difference
    assert float(difference[1]) < 1e-4
    for mode in ("PyNative", "Graph"):
        row = re.search(
            rf"{mode} +│ +([\d.]+)% │ +\d+ │ +[\d.]+ s │ +[\d.]+ ms │ +[\d,]+ │", done.stdout
        )
        assert row, done.stdout
        assert float(row[1]) > 50


@pytest.fixture
def short(monkeypatch):
    """Training on few digits, for tests of what is around it."""
    few = Digits(*(part[:64] for part in load_digits()))
    monkeypatch.setattr(demo, "load_digits", lambda: few)


def test_one_mode_without_matplotlib_still_trains(short, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code = main(["demo", "--epochs", "1", "--mode", "graph", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert code == 0
    assert "No picture was drawn: matplotlib.figure is missing" in printed
    assert "mycel[demo]" in printed
    assert [f.name for f in tmp_path.iterdir()] == [demo.WEIGHTS]


def test_the_same_seed_gives_the_same_weights(short, tmp_path):
    for folder in ("a", "b"):
        arguments = ["--epochs", "1", "--mode", "pynative", "--out", str(tmp_path / folder)]
        main(["demo", *arguments])
    first, second = (load_file(tmp_path / folder / demo.WEIGHTS) for folder in ("a", "b"))
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


def test_an_unknown_device_is_told_in_a_line(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MYCEL_DEVICE", raising=False)
    assert main(["demo", "--device", "abacus", "--out", str(tmp_path)]) == 2
    assert "device_target must be one of CPU" in capsys.readouterr().out


def test_a_batch_larger_than_the_data_is_all_of_it(short, tmp_path):
    assert main(["demo", "--epochs", "2", "--batch", "4000", "--out", str(tmp_path)]) == 0
