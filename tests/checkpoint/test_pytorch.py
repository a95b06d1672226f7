# SPDX-License-Identifier: Apache-2.0
"""State dictionaries of PyTorch. Oracle: what PyTorch has put into them, and its results."""

from __future__ import annotations

import json
import pathlib
import pickle
import struct
import zipfile

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import nn
from mycel.checkpoint import load_pytorch, pytorch_names

RECORDED = pathlib.Path(__file__).parent.parent / "fixtures" / "checkpoints"
TOLD = json.loads((RECORDED / "pytorch.json").read_text())


@pytest.mark.parametrize("name", ["tensors.pth", "older.pth"])
def test_tensors(name):
    loaded = load_pytorch(RECORDED / name)
    assert loaded.keys() == TOLD["tensors"].keys()
    for key, (kind, values) in TOLD["tensors"].items():
        assert f"torch.{loaded[key].dtype.name}" == kind
        np.testing.assert_array_equal(loaded[key].asnumpy().reshape(-1), np.ravel(values))
    assert loaded["view"].shape == (2, 2)
    assert loaded["empty"].shape == (0, 2)
    assert loaded["number"].shape == ()


class Net(nn.Cell):
    """The network of the recording."""

    def __init__(self):
        super().__init__()
        self.first = nn.SequentialCell(
            nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True),
            nn.BatchNorm2d(2),
            nn.Flatten(),
            nn.LayerNorm((8,)),
            nn.Dense(8, 3),
            nn.Conv1d(1, 2, 2, pad_mode="valid", has_bias=True),
        )

    def construct(self, x):
        for layer in self.first[:5]:
            x = layer(x)
        return self.first[5](x.expand_dims(1))


def test_a_network_answers_as_in_pytorch():
    net = Net()
    loaded = load_pytorch(RECORDED / "network.pth", net.first)
    assert ms.load_param_into_net(net, loaded) == ([], [])
    matches(net, lambda x: np.float32(TOLD["y"]), np.float32(TOLD["x"]))


def test_name_maps():
    path = RECORDED / "network.pth"
    assert "1.num_batches_tracked" in load_pytorch(path)
    mapped = load_pytorch(path, {"4.weight": "head", "1.num_batches_tracked": None})
    assert "head" in mapped and "4.bias" in mapped and "1.num_batches_tracked" not in mapped
    heads = load_pytorch(path, lambda name: f"net.{name}" if name[0] == "4" else None)
    assert list(heads) == ["net.4.weight", "net.4.bias"]
    with pytest.raises(ValueError, match="one name for each"):
        load_pytorch(path, lambda name: "same")
    with pytest.raises(TypeError, match="name_map"):
        load_pytorch(path, 3)


def test_names_of_layers():
    net = nn.SequentialCell(nn.BatchNorm3d(1), nn.Embedding(2, 3), nn.PReLU(), nn.LSTM(1, 1))
    names = pytorch_names(net)
    assert names["0.running_var"] == "0.bn2d.moving_variance"
    assert names["1.weight"] == "1.embedding_table"
    assert names["2.weight"] == "2.w"
    assert names["3.weight_hh_l0"] == "3.weight_hh_l0"


def test_safetensors(tmp_path):
    ms.save_checkpoint({"a.weight": ms.Tensor([1.0])}, str(tmp_path / "model.safetensors"))
    loaded = load_pytorch(tmp_path / "model.safetensors", {"a.weight": "b"})
    assert loaded["b"].asnumpy().tolist() == [1.0]


class Harmful:
    def __reduce__(self):
        return (print, ("this ran",))


def test_nothing_in_a_file_is_run(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"torch.nn.modules.linear.Linear, which is not a tensor"):
        load_pytorch(RECORDED / "whole.pth")
    (tmp_path / "bad.pth").write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(ValueError, match=r"builtins.print, which is not a tensor"):
        load_pytorch(tmp_path / "bad.pth")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["network.pth", "older.pth"])
def test_cut_off_anywhere(name, tmp_path):
    whole = (RECORDED / name).read_bytes()
    for size in range(3, len(whole), 101):
        (tmp_path / "cut.pth").write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"damaged|no state dictionary"):
            load_pytorch(tmp_path / "cut.pth")
    with pytest.raises(ValueError, match="There is no file"):
        load_pytorch(tmp_path / "none.pth")


def changed(name, path, **members):
    """An archive with other members."""
    with zipfile.ZipFile(RECORDED / name) as whole, zipfile.ZipFile(path, "w") as other:
        for item in whole.infolist():
            of = item.filename.rpartition("/")[2].removesuffix(".pkl")
            other.writestr(item.filename, members.get(of, whole.read(item)))


def test_bytes_in_an_unknown_order_are_not_taken_for_numbers(tmp_path):
    path = tmp_path / "net.pth"
    changed("network.pth", path, byteorder=b"little")
    assert load_pytorch(path).keys() == load_pytorch(RECORDED / "network.pth").keys()
    changed("network.pth", path, byteorder=b"")
    with pytest.raises(ValueError, match="damaged"):
        load_pytorch(path)


def test_a_pickle_that_asks_for_much_memory_is_refused(tmp_path):
    path = tmp_path / "net.pth"
    changed("network.pth", path, data=b"\x80\x02Nr" + struct.pack("<I", 1 << 28) + b".")
    with pytest.raises(ValueError, match="remembers something as number 268435456"):
        load_pytorch(path)
