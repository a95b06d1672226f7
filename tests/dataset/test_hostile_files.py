# SPDX-License-Identifier: Apache-2.0
"""Damaged files. Oracle: a reader gives rows, or one RuntimeError that names the file."""

from __future__ import annotations

import gzip
import os
import shutil
import struct

import numpy as np
import pytest

import mycel.dataset as ds
from mycel import mindrecord
from mycel.dataset import vision
from mycel.dataset.engine import tfrecord

COUNT = 3


def digits(folder):
    head = struct.pack(">4i", 2051, COUNT, 28, 28)
    (folder / "t10k-images-idx3-ubyte").write_bytes(head + bytes(COUNT * 784))
    (folder / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, COUNT) + bytes(COUNT))
    return lambda: ds.MnistDataset(folder, "test", shuffle=False).batch(2)


def more_digits(folder):
    head = struct.pack(">4i", 2051, 1, 28, 28)
    (folder / "xnist-images-idx3-ubyte").write_bytes(head + bytes(784))
    label = struct.pack(">3i8i", 3074, 1, 8, 5, 1, 2, 3, 4, 5, 6, 7)
    (folder / "xnist-labels-idx2-int").write_bytes(label)
    return lambda: ds.QMnistDataset(folder, "nist")


def pictures(folder):
    (folder / "test_batch.bin").write_bytes(bytes(2 * 3073))
    return lambda: ds.Cifar10Dataset(folder, "test")


def table(folder):
    (folder / "a.csv").write_text('x,y,t\n1,2.5,a\n2,3.5,"b c"\n3,,c\n')
    path, defaults = str(folder / "a.csv"), [0, 0.0, ""]
    return lambda: ds.CSVDataset(path, column_defaults=defaults, shuffle=False).batch(2)


def lines(folder):
    (folder / "a.txt").write_text("one é\ntwo\n\nthree\n")
    return lambda: ds.TextFileDataset(str(folder / "a.txt"))


def examples(folder):
    record = tfrecord.pack_example({"x": np.arange(3, dtype=np.float32), "n": 1, "b": b"abc"})
    (folder / "a.tfrecord").write_bytes(tfrecord.pack_record(record) * COUNT)
    return lambda: ds.TFRecordDataset(str(folder / "a.tfrecord"), shuffle=False)


def compressed_examples(folder):
    examples(folder)
    path = folder / "a.tfrecord"
    path.write_bytes(gzip.compress(path.read_bytes()))
    return lambda: ds.TFRecordDataset(str(path), compression_type="GZIP", shuffle=False)


def record(folder):
    writer = mindrecord.FileWriter(str(folder / "a"))
    kinds = {"x": {"type": "float32", "shape": [-1]}, "n": {"type": "int32"}}
    writer.add_schema(kinds | {"t": {"type": "string"}})
    rows = [{"x": np.arange(3, dtype=np.float32), "n": n, "t": "abc"} for n in range(COUNT)]
    writer.write_raw_data(rows)
    writer.commit()
    return lambda: ds.MindDataset(str(folder / "a"), shuffle=False).batch(2)


def images(folder):
    (folder / "c").mkdir()
    for kind in ("png", "jpg"):
        write = {"png": vision.write_png, "jpg": vision.write_jpeg}[kind]
        write(str(folder / "c" / f"a.{kind}"), np.zeros((9, 8, 3), np.uint8))
    return lambda: ds.ImageFolderDataset(folder, decode=True)


def letters(folder):
    pixels = " ".join(f"{number}:-1.0" for number in range(1, 257))
    (folder / "usps.t").write_text(f"7 {pixels}\n")
    return lambda: ds.USPSDataset(folder, "test")


def written_digits(folder):
    line = "1.0 " * 256 + " ".join("0001000000")
    (folder / "semeion.data").write_text(f"{line}\n")
    return lambda: ds.SemeionDataset(folder)


READERS = [digits, more_digits, pictures, table, lines, examples, compressed_examples, record]
READERS += [images, letters, written_digits]


def damaged(content, draw):
    """The bytes cut off, turned, overwritten with large numbers, or with some put in between."""
    made = bytearray(content)
    place, kind = int(draw.integers(len(made))), draw.integers(7)
    if kind == 0:
        return made[:place]
    if kind == 1:
        return made[: draw.integers(30)]
    if kind == 2:
        made[place] ^= 1 << int(draw.integers(8))
    elif kind == 3:
        made[draw.integers(min(len(made), 40))] = int(draw.integers(256))
    elif kind == 4:
        made[place : place + 8] = b"\xff" * 8
    elif kind == 5:
        start = int(draw.integers(min(len(made), 60)))
        made[start : start + 4] = b"\x7f\xff\xff\xff"
    else:
        made[place:place] = draw.bytes(3)
    return made


@pytest.mark.parametrize("reader", READERS, ids=lambda one: one.__name__)
@pytest.mark.filterwarnings("ignore:.*(encountered in cast|Corrupt EXIF)")
def test_damaged_files_are_read_or_named(reader, tmp_path):
    draw, data = np.random.default_rng(1), reader(tmp_path)
    assert sum(1 for _ in data())
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    failures = 0
    for number in range(36):
        path = files[number % len(files)]
        content = path.read_bytes()
        path.write_bytes(b"" if number < len(files) else damaged(content, draw))
        try:
            list(data().create_tuple_iterator(num_epochs=1, output_numpy=True))
        except RuntimeError as error:
            assert str(tmp_path) in str(error)
            failures += 1
        path.write_bytes(content)
    assert failures


@pytest.mark.parametrize(
    ("content", "keywords", "message"),
    [
        (b"a,b\n1,2\n\xff,3\n", {}, "line 3 of .*a.csv cannot be read: UnicodeDecodeError"),
        (b"a,a\n1,2\n", {}, "a.csv has a name twice"),
        (
            b"a,b\n1,99999999999\n",
            {"column_defaults": [0, 0]},
            "line 2 of .*a.csv has '999",
        ),
        (b"a,b\n1,2\n", {"column_defaults": [0]}, "2 values, one for each column of .*a.csv"),
        (b"a\n" + b"x" * 200_000, {}, "a.csv cannot be read: Error: field larger"),
    ],
)
@pytest.mark.parametrize("size", [None, 2])
def test_tables(content, keywords, message, size, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(RuntimeError, match=message):
        data = ds.CSVDataset(str(tmp_path / "a.csv"), shuffle=False, **keywords)
        list(data if size is None else data.batch(size))


def test_names_of_columns_differ(tmp_path):
    """Oracle: MindSpore 2.10, which refuses them too."""
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match="each once"):
        ds.CSVDataset(str(tmp_path / "a.csv"), column_names=["a", "a"])


def test_other_things_than_files_in_folders(tmp_path):
    data = images(tmp_path)
    assert len(list(data())) == 2
    os.symlink(tmp_path, tmp_path / "c" / "around")
    name = os.fsencode(tmp_path / "c") + b"/\xff.png"
    shutil.copy(tmp_path / "c" / "a.png", name)
    assert len(list(data())) == 3
    links = {"self.png": "self.png", "nowhere.png": "/nowhere"}
    for link, target in links.items():
        os.symlink(target, tmp_path / "c" / link)
        with pytest.raises(RuntimeError, match=f"{link} cannot be read"):
            list(data())
        os.remove(tmp_path / "c" / link)
    (tmp_path / "c" / "folder.png").mkdir()
    with pytest.raises(RuntimeError, match=r"folder.png cannot be read"):
        list(data())


def test_lines_by_number(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\n\xff\n")
    reader = ds.LineReader(str(tmp_path / "a.txt"))
    with pytest.raises(RuntimeError, match=r"line 2 of .*a.txt cannot be read"):
        reader.readline(2)
    reader.close()


def test_schemas(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(RuntimeError, match=r"a.json cannot be read: JSONDecodeError"):
        ds.Schema(str(tmp_path / "a.json"))
