# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in slices. Oracles are in `slices_checks`, `ranks_slices`, and with each test."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mycel as ms
from mycel import nn
from mycel.checkpoint.sharded import slices
from support import together

ONE_PROCESS, TWO_PROCESSES = "slices_checks", "ranks_slices"
SCRIPT = pathlib.Path(__file__).parents[1] / "killed_saving.py"


@pytest.fixture(scope="module")
def eight_devices(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    return together.run_checks(ONE_PROCESS, 1, folder, JAX_NUM_CPU_DEVICES="8")


@pytest.mark.parametrize("name", together.names_of(ONE_PROCESS))
def test_on_eight_devices(eight_devices, name):
    together.assert_all_found(eight_devices, name)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def two_processes(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    return together.run_checks(TWO_PROCESSES, 2, folder, MYCEL_TEST_FOLDER=str(shared))


@pytest.mark.parametrize("name", together.names_of(TWO_PROCESSES))
def test_in_two_processes(two_processes, name):
    together.assert_all_found(two_processes, name)


def test_saved_by_two_processes_loaded_by_one(two_processes, shared, caplog):
    """Oracle: what `ranks_slices` saved."""
    loaded = ms.load_checkpoint(str(shared / "run.index.json"))
    assert loaded["who"] == "process 0" and loaded["own"].asnumpy().tolist() == [0, 0, 0]
    assert loaded["large"].asnumpy().tolist() == list(range(1000))
    assert "saved by 2 processes, and there is 1 now" in caplog.text
    assert "process 0 takes those of process 0 (own, uneven, who)" in caplog.text
    with pytest.raises(ValueError, match=r"Each of 2 processes has saved a 'part' of its own"):
        ms.load_checkpoint(str(shared / "layerwise.index.json"))


def saved(folder, **values):
    path = folder / "net.index.json"
    ms.save_checkpoint(values or {"w": np.arange(12.0).reshape(3, 4)}, str(path))
    return path


def slice_of(path):
    (file,) = path.parent.glob("net-*/*")
    return file


def test_what_is_not_whole_is_told(tmp_path):
    """Oracle: the texts, which name the file and the Parameter."""
    path = saved(tmp_path)
    file, content = slice_of(path), slice_of(path).read_bytes()
    index = path.read_text()
    load = lambda: ms.load_checkpoint(str(path))  # noqa: E731 - said once
    file.write_bytes(content[:-5])
    with pytest.raises(ValueError, match=rf"{file} is damaged: it has .*slice of 'w'"):
        load()
    file.write_bytes(content[:-1] + b"x")
    with pytest.raises(ValueError, match=rf"{file} is damaged: the checksum of 'w'"):
        load()
    file.unlink()
    with pytest.raises(ValueError, match=rf"{file} is not there, .*'w'.* names 1 files"):
        load()
    # An index with the slices of another save.
    shutil.copytree(file.parent, tmp_path / "kept")
    saved(tmp_path)
    other = slice_of(path)
    path.write_text(index)
    shutil.copytree(other.parent, file.parent, dirs_exist_ok=True)
    with pytest.raises(ValueError, match=rf"{file}.* 'w', belongs to another save than {path}"):
        load()
    # Slices of another shape and type, under the same ID.
    for value, told in (
        (np.zeros((4, 3)), r"F64\[4, 3\]"),
        (np.zeros((3, 4), np.int8), r"I8\[3, 4\]"),
    ):
        slices.safetensors_format.write(file, {"w": value}, {"save": json.loads(index)["save"]})
        changed = json.loads(index)
        changed["files"] = [file.stat().st_size]
        changed["check"] = slices.check_of(changed)
        path.write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=rf"{file} is damaged: 'w' is {told} there"):
            load()
    path.unlink()
    with pytest.raises(ValueError, match=f"no index {path}"):
        load()
    path.write_text('{"metadata": {}, "weight_map": {}}')
    with pytest.raises(ValueError, match="load_weights"):
        load()


def test_every_change_of_an_index_is_told(tmp_path):
    """Oracle: the values, or a ValueError that names the file."""
    path = saved(tmp_path, w=np.arange(6, dtype=np.float32), text="of some length")
    good, drawn = path.read_bytes(), random.Random(1)
    for _ in range(150):
        content = bytearray(good)
        for _ in range(drawn.randint(1, 3)):
            content[drawn.randrange(len(content))] = drawn.randrange(256)
        content = bytes(content[: drawn.choice([len(content), drawn.randrange(len(content))])])
        path.write_bytes(content)
        try:
            found = ms.load_checkpoint(str(path))
        except ValueError as error:
            assert path.name in str(error)
        else:
            assert json.loads(content) == json.loads(good)
            assert found["w"].asnumpy().tolist() == list(range(6))


def test_a_network_of_another_shape(tmp_path):
    path = saved(tmp_path, weight=np.zeros((3, 2), np.float32))
    net = nn.Dense(3, 2)
    before = net.weight.asnumpy()
    with pytest.raises(RuntimeError, match=rf"'weight' in {path}.*\(2, 3\).*\(3, 2\)"):
        ms.load_checkpoint(str(path), net)
    np.testing.assert_array_equal(net.weight.asnumpy(), before)


def test_what_slices_do_not_have_is_refused(tmp_path):
    path = str(tmp_path / "net.index.json")
    for settings in ({"async_save": True}, {"enc_key": b"0" * 16}):
        with pytest.raises(ValueError, match="for a checkpoint in slices"):
            ms.save_checkpoint(nn.Dense(2, 1), path, **settings)
    with pytest.raises(TypeError, match="'w' has the type complex128"):
        ms.save_checkpoint({"w": np.ones(2, complex)}, path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        ms.save_checkpoint(nn.Dense(2, 1), str(tmp_path / "nowhere" / "net.index.json"))
    assert os.listdir(tmp_path) == []


def test_other_checkpoints_beside_it_stay(tmp_path):
    """Oracle: the names of what is there."""
    for name in ("net", "net-1", "net-2", "net"):
        ms.save_checkpoint(nn.Dense(2, 1), str(tmp_path / name), format="index.json")
    (tmp_path / "net-0123").mkdir()
    broken = tmp_path / "net-0123456789abcdef"
    broken.mkdir()
    ms.save_checkpoint(nn.Dense(2, 1), str(tmp_path / "net"), format="index.json")
    assert not broken.exists() and len(os.listdir(tmp_path)) == 7
    for name in ("net", "net-1", "net-2"):
        ms.load_checkpoint(str(tmp_path / f"{name}.index.json"))
    slices.remove(tmp_path / "net.index.json")
    assert len(os.listdir(tmp_path)) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_at_every_step_of_a_save(tmp_path):
    """Oracle: the old values or the new ones, all of them."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Killed before each call of the system: first the old ones, from some call on the new.
    assert [state for state, _ in itertools.groupby(found["states"])] == ["old", "new"]
    assert len(found["states"]) > 30 and found["left"] == 2
