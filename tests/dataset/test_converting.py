# SPDX-License-Identifier: Apache-2.0
"""Files of others, written again as MindRecord (mindrecord). Oracle: the arrays that were written,
by NumPy; JPEG changes them by little.
"""

from __future__ import annotations

import gzip
import os
import pickle
import struct

import numpy as np
import pytest

import mycel.dataset as ds
from mycel import mindrecord
from mycel.dataset import vision


def smooth(count: int, size: int, channels: int) -> np.ndarray:
    """Pictures without edges, which JPEG keeps to a few levels."""
    ramp = np.add.outer(np.arange(size), np.arange(size))[None, :, :, None] * 2
    return (ramp + 20 * np.arange(count)[:, None, None, None] + np.zeros(channels)).astype(np.uint8)


def rows(path, field: str = "id") -> list[dict]:
    """The rows of a record, pictures decoded, in the order of a field."""
    data = ds.MindDataset(str(path), shuffle=False)
    found = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    for row in found:
        row["data"] = vision.Decode()(row["data"]).astype(int)
    return sorted(found, key=lambda row: int(row[field]))


@pytest.mark.parametrize("kind", ["10", "100"])
def test_cifar(tmp_path, kind):
    images = smooth(5, 32, 3)
    flat = images.transpose(0, 3, 1, 2).reshape(5, -1)
    names = {
        "10": {"label": "labels"},
        "100": {"fine_label": "fine_labels", "coarse_label": "coarse_labels"},
    }
    files = {"10": ["data_batch_1", "data_batch_2", "test_batch"], "100": ["train", "test"]}[kind]
    labels = {name: [(7 * n + len(name)) % 10 for n in range(5)] for name in names[kind]}
    for file in files:
        batch = {key.encode(): labels[name] for name, key in names[kind].items()}
        (tmp_path / file).write_bytes(pickle.dumps(batch | {b"data": flat}, protocol=2))
    place = tmp_path / "out.mindrecord"
    convert = mindrecord.Cifar10ToMR if kind == "10" else mindrecord.Cifar100ToMR
    assert convert(str(tmp_path), str(place)).transform(list(labels)) is None
    times = len(files) - 1
    for path, count in ((place, times), (f"{place}_test", 1)):
        found = rows(path)
        assert [int(row["id"]) for row in found] == list(range(5 * count))
        for name, expected in labels.items():
            assert [int(row[name]) for row in found] == expected * count
        apart = np.stack([row["data"] for row in found]) - np.concatenate([images] * count)
        assert np.abs(apart).max() <= 8


def test_a_pickle_runs_nothing(tmp_path):
    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    for name in ("data_batch_1", "test_batch"):
        (tmp_path / name).write_bytes(pickle.dumps({b"data": Attack(), b"labels": []}))
    with pytest.raises(pickle.UnpicklingError, match=r"data_batch_1 refers to \w+.mkdir"):
        mindrecord.Cifar10ToMR(str(tmp_path), str(tmp_path / "a")).transform()
    assert not (tmp_path / "made").exists()
    with pytest.raises(FileNotFoundError, match="Cifar100ToMR needs train in"):
        mindrecord.Cifar100ToMR(str(tmp_path), str(tmp_path / "a"))


def test_mnist(tmp_path):
    images, labels = smooth(6, 28, 1), np.arange(6, dtype=np.uint8)
    for prefix in ("train", "t10k"):
        head = struct.pack(">4I", 2051, 6, 28, 28)
        packed = gzip.compress(head + images.tobytes())
        (tmp_path / f"{prefix}-images-idx3-ubyte.gz").write_bytes(packed)
        packed = gzip.compress(struct.pack(">2I", 2049, 6) + labels.tobytes())
        (tmp_path / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(packed)
    mindrecord.MnistToMR(str(tmp_path), str(tmp_path / "digits"), 2).transform()
    for part in ("train", "test"):
        found = rows(tmp_path / f"digits_{part}.mindrecord0", "label")
        assert [int(row["label"]) for row in found] == list(range(6))
        # A grey picture is decoded to three equal channels.
        apart = np.stack([row["data"] for row in found]) - images.astype(int)
        assert np.abs(apart).max() <= 8
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError, match="MnistToMR needs t10k-labels"):
        mindrecord.MnistToMR(str(tmp_path), str(tmp_path / "again")).transform()


def test_tables_and_folders(tmp_path):
    lines = ["name,count,share,good", "x,3,0.5,True", "", "y,4,,False"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n", "utf-8")
    mindrecord.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "a")).transform()
    first, second = mindrecord.FileReader(str(tmp_path / "a")).get_next()
    assert first == {"name": "x", "count": 3, "share": 0.5, "good": 1}
    assert np.isnan(second.pop("share")) and second == {"name": "y", "count": 4, "good": 0}
    with pytest.raises(RuntimeError, match="columns_list"):
        mindrecord.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "b"), ["lacking"]).transform()
    (tmp_path / "b.csv").write_text("a,b\n1\n", "utf-8")
    with pytest.raises(RuntimeError, match=r"b\.csv, row 2"):
        mindrecord.CsvToMR(str(tmp_path / "b.csv"), str(tmp_path / "c")).transform()

    for name in ("n1/a.jpg", "n1/b.JPEG", "n1/c.txt", "n2/d.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "map").write_text("n1 5\nn2 6\nn3 7\n", "utf-8")
    place = str(tmp_path / "pictures")
    mindrecord.ImageNetToMR(str(tmp_path / "map"), str(tmp_path), place).transform()
    found = [(row["label"], row["image"]) for row in mindrecord.FileReader(place).get_next()]
    assert sorted(found) == [(5, b"n1/a.jpg"), (5, b"n1/b.JPEG"), (6, b"n2/d.jpg")]
    (tmp_path / "map").write_text("n1\n", "utf-8")
    with pytest.raises(ValueError, match=r"map, line 1"):
        mindrecord.ImageNetToMR(str(tmp_path / "map"), str(tmp_path), place + "2").transform()
