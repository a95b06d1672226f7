# SPDX-License-Identifier: Apache-2.0
"""Exported programs. Oracle: the network that was exported."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, run_everywhere
from mycel import Tensor, nn, ops


class Net(nn.Cell):
    """A convolution, moving statistics, dropout, and two results."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid")
        self.norm = nn.BatchNorm2d(2)
        self.drop = nn.Dropout(p=0.5)
        self.dense = nn.Dense(8, 3)

    def construct(self, x, scale):
        y = ops.relu(self.norm(self.conv(x)))
        y = self.drop(ops.flatten(y))
        return {"logits": self.dense(y) * scale, "features": (y, y.mean())}


def inputs(batch, generator=None):
    generator = generator or np.random.default_rng(batch)
    return generator.standard_normal((batch, 1, 4, 4)).astype(np.float32), np.float32([2.0])


def export(net, path, *arrays, **options):
    ms.export(net, *map(Tensor, arrays), file_name=str(path), file_format="STABLEHLO", **options)


def test_the_loaded_program_answers_as_the_network(tmp_path):
    net = Net()
    net.norm.moving_mean.set_data(Tensor([0.5, -0.5]))
    net.set_train()
    x, scale = inputs(2)
    export(net, tmp_path / "net", x, scale)
    assert net.training and net.drop.training
    assert [p.name for p in tmp_path.iterdir()] == ["net.stablehlo"]
    loaded = nn.GraphCell(ms.load(str(tmp_path / "net.stablehlo")))
    for found, exported in zip(loaded.get_parameters(), net.get_parameters(), strict=True):
        assert (found.name, found.requires_grad) == (exported.name, exported.requires_grad)
    net.set_train(False)
    expected = net(Tensor(x), Tensor(scale))
    for actual in run_everywhere(loaded, x, scale).values():
        assert_close(actual["logits"], expected["logits"].asnumpy())
        for a, e in zip(actual["features"], expected["features"], strict=True):
            assert_close(a, e.asnumpy())


def test_open_lengths(tmp_path):
    net = Net().set_train(False)
    x, scale = inputs(2)
    export(net, tmp_path / "net.stablehlo", x, scale, dynamic_axes={0: {0: "batch"}})
    loaded = nn.GraphCell(ms.load(tmp_path / "net.stablehlo"))
    for batch in (1, 5):
        x, _ = inputs(batch)
        expected = net(Tensor(x), Tensor(scale))["logits"].asnumpy()
        for actual in run_everywhere(loaded, x, scale).values():
            assert_close(actual["logits"], expected)
    export(ops.matmul, tmp_path / "product", np.ones((2, 3)), np.ones((3, 2)),
           dynamic_axes={0: [0, 1], 1: {0: "input0_axis1"}})  # fmt: skip
    product = nn.GraphCell(ms.load(tmp_path / "product.stablehlo"))
    assert product(Tensor(np.ones((4, 5))), Tensor(np.ones((5, 2)))).shape == (4, 2)
    with pytest.raises(ValueError, match="takes no inputs of these shapes"):
        product(Tensor(np.ones((4, 5))), Tensor(np.ones((6, 2))))


def test_a_network_that_met_many_lengths_is_exported_with_an_open_one(tmp_path):
    """Its operators are known with open lengths then, which a symbol is not a size of."""
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    for length in (2, 5, 7, 9, 11, 13):
        net(Tensor(np.ones((length, 3), np.float32))).asnumpy()
    x = Tensor(np.ones((4, 3), np.float32))
    export(net, tmp_path / "net.stablehlo", x, dynamic_axes={0: {0: "batch"}})
    loaded = nn.GraphCell(ms.load(tmp_path / "net.stablehlo"))
    batch = Tensor(np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32))
    np.testing.assert_allclose(loaded(batch).asnumpy(), net(batch).asnumpy(), rtol=1e-6)


def test_announced_lengths(tmp_path):
    """Oracle: the network itself; open first lengths are one, others differ."""
    net = nn.SequentialCell(nn.Dense(2, 3), nn.Tanh())
    announced = Tensor(shape=[None, -1, 2], dtype=ms.float32)
    net.set_inputs(announced)
    assert net.get_inputs() == (announced,)
    assert (announced.shape, announced.dtype, announced.ndim) == ((-1, -1, 2), ms.float32, 3)
    assert Tensor(shape=[ms.Symbol(max=8), 2], dtype=ms.int32).shape == (-1, 2)
    file = str(tmp_path / "net")
    ms.export(net, announced, file_name=file, file_format="STABLEHLO", platforms=("cpu",))
    loaded = nn.GraphCell(ms.load(tmp_path / "net.stablehlo"))
    for shape in ((1, 3, 2), (4, 1, 2)):
        x = Tensor(np.random.default_rng(0).normal(size=shape), ms.float32)
        assert_close(loaded(x), net(x).asnumpy())
    for asked in (net, Tensor.asnumpy, Tensor.flatten, lambda x: x + 1):
        with pytest.raises(ValueError, match=r"shape \(-1, -1, 2\) has no values \(at .*test_"):
            asked(announced)


def test_derivatives_and_other_weights(tmp_path):
    net = nn.Dense(2, 1, "ones", "zeros")
    x = np.float32([[1.0, 2.0]])
    export(net, tmp_path / "plain", x, platforms=("cpu",))
    export(net, tmp_path / "derived", x, vjp_order=1, platforms=["cpu"])
    loaded = nn.GraphCell(
        ms.load(tmp_path / "derived.stablehlo"),
        {"weight": Tensor([[3.0, 4.0]]), "other": Tensor(1.0)},
    )

    def squared(x):
        return (loaded(x) ** 2).sum()

    for weight, bias in run_everywhere(
        ms.grad(squared, None, loaded.trainable_params()), x
    ).values():
        assert weight.tolist() == [[22.0, 44.0]]
        assert bias.tolist() == [22.0]
    plain = nn.GraphCell(ms.load(tmp_path / "plain.stablehlo"))
    with pytest.raises(NotImplementedError, match="export it with vjp_order=1"):
        ms.grad(plain)(Tensor(x))


class Decides(nn.Cell):
    def construct(self, x):
        return x if x.sum() > 0 else -x


class Measures(nn.Cell):
    def construct(self, x):
        return ops.zeros((3, max(4, x.shape[0])))


@pytest.mark.parametrize(
    ("net", "options", "kind", "text"),
    [
        (nn.ReLU(), {"file_format": "MINDIR"}, NotImplementedError, "file_format='STABLEHLO'"),
        (nn.ReLU(), {"file_format": "AIR"}, NotImplementedError, "save_checkpoint"),
        (nn.ReLU(), {"file_format": "ONNX"}, NotImplementedError, "pure_function"),
        (nn.ReLU(), {"file_format": "PDF"}, ValueError, "'STABLEHLO'"),
        (3, {}, TypeError, "a Cell or a function"),
        (nn.ReLU(), {"file_name": 3}, TypeError, "file_name"),
        (nn.ReLU(), {"opset_version": 11}, TypeError, "opset_version"),
        (nn.ReLU(), {"dynamic_axes": {0: {3: "batch"}}}, ValueError, "axes below 2"),
        (nn.ReLU(), {"dynamic_axes": {3: {0: "batch"}}}, ValueError, "about inputs below 1"),
        (nn.Dense(2, 1), {}, ValueError, rf"at {__file__}:\d+: the last length of the inputs"),
        (Decides(), {}, TypeError, "reads the value of a Tensor"),
        (Decides(), {"dynamic_axes": True}, TypeError, "reads the value of a Tensor"),
        (Measures(), {"dynamic_axes": True}, NotImplementedError, "open length"),
    ],
)
def test_what_cannot_be_exported(net, options, kind, text, tmp_path):
    given = {"file_name": str(tmp_path / "x"), "file_format": "STABLEHLO", **options}
    with pytest.raises(kind, match=text):
        ms.export(net, Tensor(np.ones((2, 3), np.float32)), **given)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_loaded(tmp_path):
    path = tmp_path / "net.stablehlo"
    export(nn.ReLU(), path, np.ones(2, np.float32))
    whole = path.read_bytes()
    path.write_bytes(whole[:-50])
    with pytest.raises(ValueError, match="not a program that mycel"):
        ms.load(path)
    changed = bytearray(whole)
    changed[200] ^= 1
    path.write_bytes(changed)
    with pytest.raises(ValueError, match="damaged"):
        ms.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", b"")
    with pytest.raises(ValueError, match="not a program that mycel"):
        ms.load(path)
    with pytest.raises(ValueError, match="There is no exported program"):
        ms.load(tmp_path / "none.stablehlo")
    with pytest.raises(NotImplementedError, match="load_checkpoint"):
        ms.load("net.mindir")
    with pytest.raises(TypeError, match=r"what mycel\.load returns"):
        nn.GraphCell(3)


def test_inputs_of_another_count(tmp_path):
    export(nn.ReLU(), tmp_path / "net", np.ones(2, np.float32))
    net = nn.GraphCell(ms.load(tmp_path / "net.stablehlo"))
    with pytest.raises(TypeError, match=r"ReLU takes 1 Tensors \(float32\[2\]\), but 2 were given"):
        net(Tensor([1.0, 2.0]), Tensor(1.0))
