# SPDX-License-Identifier: Apache-2.0
"""Damaged files: a clear error, or what was written, and nothing else.

Oracle: what was written before the damage. The damage is drawn with fixed seeds.
"""

from __future__ import annotations

import json
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import mindrecord, nn

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
    '{"w": {"dtype": null, "shape": [1], "data_offsets": [0, 4]}}',
    '{"\\ud800": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}',
    '{"w": {"dtype": "U8", "shape": [3], "data_offsets": [1, 4]}}',
    '{"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "w": 3}',
    '{"v": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},'
    ' "w": {"dtype": "U8", "shape": [2], "data_offsets": [2, 4]}}',
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


def _write_record(path: str) -> None:
    writer = mindrecord.FileWriter(path)
    writer.add_schema(
        {
            "label": {"type": "int32"}, "score": {"type": "float64"}, "text": {"type": "string"},
            "data": {"type": "bytes"}, "ids": {"type": "int64", "shape": [-1]},
            "grid": {"type": "float32", "shape": [2, -1]},
        }
    )  # fmt: skip
    random = np.random.default_rng(3)
    rows = [
        {
            "label": number, "score": number / 3, "text": "word" * number, "data": bytes(number),
            "ids": random.integers(-(10**9), 10**9, number), "grid": np.ones((2, 2), np.float32),
        }
        for number in range(4)
    ]  # fmt: skip
    writer.write_raw_data(rows)
    writer.commit()


@pytest.mark.parametrize("which", ["", ".db"])
def test_a_mindrecord_with_changed_bytes_is_a_clear_error_or_read(which, tmp_path):
    """Bytes changed at random where there are any, 300 times; nothing but our own error comes."""
    path = str(tmp_path / "x.mindrecord")
    _write_record(path)
    whole = pathlib.Path(path + which).read_bytes()
    places = np.flatnonzero(np.frombuffer(whole, np.uint8))
    random, told = np.random.default_rng(2), 0
    for _ in range(300):
        data = bytearray(whole)
        for place in random.choice(places, random.integers(1, 4)):
            data[place] ^= int(random.integers(1, 256))
        pathlib.Path(path + which).write_bytes(data)
        try:
            rows = list(ds.MindDataset(path).create_dict_iterator(num_epochs=1, output_numpy=True))
        except RuntimeError as error:
            assert "x.mindrecord" in str(error)
            told += 1
        else:
            # Values have no checksum in this format.
            assert all(len(row) == 6 for row in rows)
    assert told > 50


@pytest.mark.parametrize("size", [0, 4, 100, 16384, -1])
def test_a_mindrecord_that_is_cut_off(size, tmp_path):
    """Oracle: the text, which names the file and, where the header is whole, the row."""
    path = str(tmp_path / "x.mindrecord")
    _write_record(path)
    whole = pathlib.Path(path).read_bytes()
    used = len(whole.rstrip(b"\0"))
    pathlib.Path(path).write_bytes(whole[: used - 1 if size < 0 else size])
    with pytest.raises(RuntimeError, match=r"x\.mindrecord"):
        list(mindrecord.FileReader(path).get_next())


def test_a_csv_file_with_a_header_where_names_are_given(tmp_path):
    """Oracle: the text, which names file, line, column and remedy."""
    path = tmp_path / "x.csv"
    for lines, text in (
        ("a,b\n1,2\n", r"line 1 of .*x\.csv.*leave column_names out"),
        ("1,2\n3,?\n", r"line 2 of .*x\.csv has '\?' in column 'v', which is no int32\.\n"),
    ):
        path.write_text(lines)
        data = ds.CSVDataset(str(path), column_names=["u", "v"], column_defaults=[0, 0])
        with pytest.raises(RuntimeError, match=text):
            list(data.create_tuple_iterator(num_epochs=1))
