# SPDX-License-Identifier: Apache-2.0
"""summary and compare: tables of Cells.

Oracles: shapes, counts and operations by hand; NumPy; differences put in by the test.
"""

from __future__ import annotations

import html.parser

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.flat = nn.Flatten()
        self.head = nn.SequentialCell(nn.Dense(6 * 24 * 24, 10), nn.ReLU())
        self.never = nn.Dense(2, 2)

    def construct(self, x):
        return self.head(self.flat(self.relu(self.relu(self.conv(x)))))


X = Tensor(np.random.RandomState(0).rand(2, 1, 28, 28).astype(np.float32))


@pytest.mark.parametrize("mode", (ms.PYNATIVE_MODE, ms.GRAPH_MODE))
def test_shapes_parameters_and_operations(mode):
    ms.set_context(mode=mode)
    try:
        found = ms.debug.summary(Net(), X)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    rows = {row.path: row for row in found.rows}
    assert list(rows) == ["", "conv", "relu", "flat", "head", "head.0", "head.1", "never"]
    assert rows["conv"].inputs == "Float32[2, 1, 28, 28]"
    assert rows["conv"].output == rows["relu"].output == "Float32[2, 6, 24, 24]"
    assert (rows["relu"].calls, rows["never"].calls, rows["never"].output) == (2, 0, "")
    products = 2 * 2 * 24 * 24 * 6 * 25
    assert products <= rows["conv"].flops <= 1.05 * products
    dense = 2 * 2 * 3456 * 10
    assert dense <= rows["head.0"].flops <= 1.05 * dense
    assert rows["head"].flops >= rows["head.0"].flops
    assert found.flops >= products + dense
    assert rows["conv"].parameters == 150
    assert found.parameters == found.trainable == 150 + 34560 + 10 + 6
    assert found.bytes == 4 * found.parameters
    text = str(found)
    assert "head" in text and f"{found.parameters:,} elements of Parameters" in text


def test_shared_and_frozen_parameters_are_counted_once():
    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(3, 3, has_bias=False)
            self.second = nn.Dense(3, 3, has_bias=False)
            self.second.weight = self.first.weight
            self.frozen = nn.Dense(3, 3, has_bias=False)
            self.frozen.weight.requires_grad = False

        def construct(self, x):
            return self.frozen(self.second(self.first(x)))

    found = ms.debug.summary(Tied(), Tensor(np.ones((2, 3), np.float32)))
    assert [(row.parameters, row.shared) for row in found.rows] == [(0, 0), (9, 0), (0, 1), (9, 0)]
    assert (found.parameters, found.trainable) == (18, 9)


def test_health_of_layers():
    net = nn.SequentialCell(
        nn.Dense(4, 8, weight_init="ones", bias_init="zeros"),
        nn.ReLU(),
        nn.Dense(8, 8, weight_init="ones"),
        nn.ReLU(),
    )
    net[2].bias.set_data(Tensor(np.full(8, -1e6, np.float32)))
    x = np.ones((2, 4), np.float32)
    rows = {row.path: row.health for row in ms.debug.summary(net, Tensor(x), watch=True).rows}
    assert rows["3"].marks == ("dead",) and rows["3"].zeros == 1.0
    assert rows["0"].mean == pytest.approx(float((x @ np.ones((4, 8))).mean()))
    assert rows["0"].gradient == 0.0 and rows["1"].gradient is None

    net = nn.SequentialCell(*[nn.Dense(4, 4, weight_init=0.002) for _ in range(6)])
    rows = {row.path: row.health for row in ms.debug.summary(net, Tensor(x), watch=True).rows}
    weights = [c.weight for c in net.cells()]
    (gradient,) = ms.grad(lambda x: net(x).mean(), None, weights[:1])(Tensor(x))
    biases = ms.grad(lambda x: net(x).mean(), None, [net[0].bias])(Tensor(x))[0]
    norm = np.sqrt((gradient.asnumpy() ** 2).sum() + (biases.asnumpy() ** 2).sum())
    assert rows["0"].gradient == pytest.approx(norm, rel=1e-4)
    assert rows["0"].marks == ("vanishing",) and rows["5"].marks == ("exploding",)

    net = nn.SequentialCell(nn.Dense(4, 4))
    net[0].bias.set_data(Tensor(np.full(4, np.nan, np.float32)))
    rows = {row.path: row.health for row in ms.debug.summary(net, Tensor(x), watch=True).rows}
    assert "not finite" in rows["0"].marks


def test_the_page_is_a_tree_that_folds():
    class Depth(html.parser.HTMLParser):
        open, most, texts = 0, 0, ""

        def handle_starttag(self, tag, attrs):
            if tag == "details":
                self.open += 1
                self.most = max(self.most, self.open)

        def handle_endtag(self, tag):
            self.open -= tag == "details"

        def handle_data(self, data):
            self.texts += data

    page = Depth()
    page.feed(ms.debug.summary(Net(), X)._repr_html_())
    assert (page.open, page.most) == (0, 2)
    assert "never" in page.texts and "FLOPs a call" in page.texts


def test_a_summary_leaves_the_network_as_it_was():
    net = Net()
    step = ms.jit(lambda x: net(x))
    for _ in range(4):
        before = step(X).asnumpy()
    ms.debug.summary(net, X, watch=True)
    np.testing.assert_array_equal(step(X).asnumpy(), before)
    with pytest.raises(TypeError, match="A Cell is needed"):
        ms.debug.summary(ops.relu, X)


# -- compare ------------------------------------------------------------------------------------


def test_two_that_are_equal_and_the_first_that_differs():
    first, second = Net(), Net()
    ms.load_param_into_net(second, first.parameters_dict())
    found = ms.debug.compare(first, second, X)
    assert found.equal and found.first_difference is None
    assert str(found).startswith("Equal within 1e-05: 6 Cells.")
    second.head[0].bias.set_data(second.head[0].bias + 0.5)
    found = ms.debug.compare(first, second, X)
    assert not found.equal and found.first_difference.first == "head.0"
    assert [pair.first for pair in found.parameters if pair.differs] == ["head.0.bias"]
    out = [net.head[0](net.flat(net.relu(net.conv(X)))).asnumpy() for net in (first, second)]
    expected = np.abs(out[0] - out[1]).max() / np.abs(out[0]).max()
    assert found.first_difference.difference == pytest.approx(expected, rel=1e-5)
    assert "The first Cell that differs is 'head.0'" in str(found)


def test_cells_of_other_names_are_paired_by_order_and_shape():
    class Other(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(1, 6, 5, pad_mode="valid")
            self.act = nn.ReLU()
            self.flatten = nn.Flatten()
            self.classifier = nn.Dense(6 * 24 * 24, 10)
            self.last = nn.ReLU()

        def construct(self, x):
            x = self.act(self.act(self.stem(x)))
            return self.last(self.classifier(self.flatten(x)))

    first, second = Net(), Other()
    for a, b in ((first.conv, second.stem), (first.head[0], second.classifier)):
        for mine, theirs in zip(a.get_parameters(), b.get_parameters(), strict=True):
            theirs.set_data(mine)
    found = ms.debug.compare(first, second, X)
    assert [(pair.first, pair.second) for pair in found.cells] == [
        ("conv", "stem"),
        ("relu", "act"),
        ("relu#2", "act#2"),
        ("flat", "flatten"),
        ("head.0", "classifier"),
        ("head.1", "last"),
    ]
    assert not any(pair.differs for pair in found.cells)
    missing = [pair.first for pair in found.parameters if pair.difference is None]
    assert missing == ["never.weight", "never.bias"]
    named = ms.debug.compare(first, second, X, names={"conv": "stem"})
    assert named.parameters[0].second == "stem.weight"


def test_what_cannot_be_compared_is_told():
    with pytest.raises(TypeError, match="two Cells, not function"):
        ms.debug.compare(Net(), lambda x: x, X)
