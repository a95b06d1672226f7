# SPDX-License-Identifier: Apache-2.0
"""Damaged files: a clear error, or what was written, and nothing else.

Oracle: what was written before the damage. The damage is drawn with fixed seeds.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

import mycel as ms
from mycel import nn

MALFORMED = (
    "[]",
    "[" * 100_000,
    '{"__metadata__": []}',
    '{"__metadata__": {"crc_num": 3}}',
    '{"__metadata__": {"crc_num": "x"}}',
    '{"__metadata__": "text"}',
    '{"w": 3}',
    '{"w": {"dtype": "F32", "shape": [1e400], "data_offsets": [0, 4]}}',
    '{"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, Infinity]}}',
    '{"w": {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]}}',
    '{"w": {"dtype": "F32", "shape": [0, 1000000000000000000000], "data_offsets": [0, 0]}}',
    '{"w": {"dtype": "F32", "shape": 1, "data_offsets": [0, 4]}}',
    '{"w": {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]}}',
    json.dumps({"w": {"dtype": "F32", "shape": [1] * 70, "data_offsets": [0, 4]}}),
)


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_a_malformed_safetensors_header_is_one_clear_error(number, tmp_path):
    header = MALFORMED[number].encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    with pytest.raises(ValueError, match=r"The file .*x\.safetensors is damaged"):
        ms.load_checkpoint(str(path))


@pytest.mark.parametrize("ending", ["ckpt", "safetensors"])
def test_a_checkpoint_with_changed_bytes_is_never_loaded_as_another(ending, tmp_path):
    """1 to 4 bytes changed at random, 400 times."""
    net, same = nn.Dense(3, 4), 0
    wanted = {p.name: p.asnumpy().tolist() for p in net.get_parameters()}
    ms.save_checkpoint(net, str(tmp_path / f"net.{ending}"))
    whole = (tmp_path / f"net.{ending}").read_bytes()
    random = np.random.default_rng(1)
    for _ in range(400):
        data = bytearray(whole)
        for place in random.integers(0, len(whole), random.integers(1, 5)):
            data[place] ^= int(random.integers(1, 256))
        if bytes(data) == whole:
            continue
        (tmp_path / "changed").write_bytes(data)
        try:
            loaded = ms.load_checkpoint(str(tmp_path / "changed"))
        except ValueError as error:
            assert "changed" in str(error)
            continue
        found = {name: value.asnumpy().tolist() for name, value in loaded.items()}
        assert found == wanted
        same += 1
    # A byte of the name of a checksum decides nothing.
    assert same < 40


FULL = """
import resource, signal, sys
import numpy as np
import mycel as ms
path = sys.argv[1]
values = ms.Tensor(np.ones(100_000, np.float32))
ms.save_checkpoint({"x": ms.Tensor([3.0])}, path)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    ms.save_checkpoint({"x": values}, path)
except OSError as error:
    print(error.errno, ms.load_checkpoint(path)["x"].asnumpy())
"""


@pytest.mark.parametrize("ending", ["ckpt", "safetensors"])
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to set")
def test_a_full_disk_is_an_os_error_and_the_old_file_stays(ending, tmp_path):
    """Oracle: the number of the system's error."""
    command = [sys.executable, "-c", FULL, str(tmp_path / f"x.{ending}")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["27", "[3.]"]
    assert os.listdir(tmp_path) == [f"x.{ending}"]
