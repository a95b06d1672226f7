# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in slices of several processes, each with Tensors of its own.

Oracle: the arrays, of which each process knows those of all. MYCEL_TEST_FOLDER is a folder that
they share, where the test finds what they saved.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
import re
from unittest import mock

import numpy as np

import mycel as ms
from mycel import communication, ops
from mycel.checkpoint import safetensors_format
from mycel.checkpoint.sharded import slices

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
FOLDER = pathlib.Path(os.environ["MYCEL_TEST_FOLDER"])


def raises(kind, call, text):
    try:
        call()
    except kind as error:
        assert re.search(text, str(error)), error
    else:
        raise AssertionError(f"no {kind.__name__}")


def values(rank):
    """What a process has: two that all have, and two of its own, one of another shape."""
    return {
        "shared": np.arange(12, dtype=np.float32).reshape(3, 4),
        "large": np.arange(1000, dtype=np.int64),
        "own": np.full(3, rank, np.float32),
        "uneven": np.full((2, rank + 1), rank, np.float16),
        "who": f"process {rank}",
    }


def check_what_all_have_is_written_once():
    path = FOLDER / "run.index.json"
    for _ in range(2):  # the second replaces the first
        ms.save_checkpoint(values(RANK), str(path))
    index = json.loads(path.read_text())
    assert [len(index["values"][name]["slices"]) for name in values(0)] == [1, 1, SIZE, SIZE, SIZE]
    files = sorted(path.parent.glob("run-*/*"))
    assert len(files) == SIZE, files
    written = sum(len(ms.load_checkpoint(str(file))) for file in files)
    assert written == 2 + 3 * SIZE
    loaded = ms.load_checkpoint(str(path))
    for name, value in values(RANK).items():
        np.testing.assert_array_equal(np.asarray(loaded[name]), value, name)


def check_a_full_disk_of_one_leaves_the_old_one():
    """Also that all processes are told which one failed."""
    path = FOLDER / "kept.index.json"
    ms.save_checkpoint(values(RANK), str(path))
    full = OSError(errno.ENOSPC, "No space left on device", "net")
    fails = mock.patch.object(safetensors_format, "write", side_effect=full)
    with fails if RANK == 1 else contextlib.nullcontext():
        raises(OSError, lambda: ms.save_checkpoint(values(7), str(path)), "process 1: .*No space")
    ops.Barrier()()
    assert len(list(FOLDER.glob("kept-*"))) == 1
    assert ms.load_checkpoint(str(path))["who"] == f"process {RANK}"


def check_folders_that_are_not_shared_are_told():
    path = FOLDER / "kept.index.json"
    before = path.read_text()
    own = FOLDER / str(RANK or "") / "kept.index.json"
    own.parent.mkdir(exist_ok=True)
    text = "process 0 sees no .*00001.safetensors.* in a folder that all"
    raises(OSError, lambda: ms.save_checkpoint(values(RANK), str(own)), text)
    assert path.read_text() == before


def check_a_parameter_of_each_process_alone():
    path = str(FOLDER / "layerwise.index.json")
    part = ms.Parameter(np.full(2, RANK, np.float32), name="part", layerwise_parallel=True)
    ms.save_checkpoint([part], path)
    assert ms.load_checkpoint(path)["part"].asnumpy().tolist() == [RANK, RANK]


def check_saved_by_one_device_loaded_by_several():
    path = FOLDER / f"alone_{RANK}.index.json"
    with mock.patch.object(slices, "count", lambda: 1), mock.patch.object(slices, "number", int):
        ms.save_checkpoint({"w": np.arange(6.0)}, str(path))
    assert ms.load_checkpoint(str(path))["w"].asnumpy().tolist() == [0, 1, 2, 3, 4, 5]
