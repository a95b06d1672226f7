# SPDX-License-Identifier: Apache-2.0
"""Strategies of operators inside layers, and optimisers that are divided, on eight devices.

Oracle: the same program on one device; the number of collectives is that of the compiled program.
"""

from __future__ import annotations

import numpy as np

import mycel as ms
from harness import execution
from mycel import nn, ops
from support.devices_checks import (
    MODES,
    SEMI_AUTO,
    MeanOfSquares,
    batches,
    begin,
    counted,
    init,
    losses,
    make_step,
    parts_of,
)


class Inside(nn.Cell):
    """A transformer block in MindSpore's style: strategies are said of operators inside layers."""

    def __init__(self, dp=2, mp=4, divided=True):
        super().__init__()
        self.words = nn.Embedding(32, 16, embedding_table=ms.Tensor(init(32, 16)))
        self.norm, self.drop = nn.LayerNorm((16,)), nn.Dropout(p=0.25)
        self.up = nn.Dense(16, 64, "he_normal", activation="gelu")
        self.down = nn.Dense(64, 16, "he_normal")
        self.softmax, self.tanh = nn.Softmax(), nn.Tanh()
        if divided:
            self.words.gather.shard(((mp, 1), (dp,)))
            self.words.expand.shard(((dp, 1),))
            self.norm.layer_norm.shard(((dp, 1, 1), (1,), (1,)))
            self.drop.dropout.shard(((dp, 1, 1),))
            self.up.matmul.shard(((dp, 1), (mp, 1)))
            self.up.bias_add.shard(((dp, mp), (mp,)))
            self.up.activation.gelu.shard(((dp, mp),))
            self.down.matmul.shard(((dp, mp), (1, mp)), ((dp, 1),))
            self.down.bias_add.shard(((dp, 1), (1,)))
            self.softmax.softmax.shard(((dp, 1, 1),))
            self.tanh.tanh.shard(((dp, 1, 1),))

    def construct(self, ids):
        x = self.drop(self.norm(self.words(ids)))
        return self.tanh(x + self.down(self.up(x))) * self.softmax(x)


class Images(nn.Cell):
    """The same of images."""

    def __init__(self, dp=2, mp=4, divided=True):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, has_bias=True, weight_init="he_normal")
        self.last = nn.Conv2d(8, 8, 3, weight_init="he_normal", data_format="NHWC")
        self.bn, self.relu = nn.BatchNorm2d(8), nn.ReLU()
        self.pool, self.mean = nn.MaxPool2d(2, 2), nn.AvgPool2d(2, 2)
        self.prelu = nn.PReLU()
        if divided:
            self.conv.conv2d.shard(((dp, 1, 1, 1), (mp, 1, 1, 1)))
            self.conv.bias_add.shard(((dp, mp, 1, 1), (mp,)))
            self.bn.bn_train.shard(((dp, mp, 1, 1), (mp,), (mp,), (mp,), (mp,)))
            self.bn.bn_infer.shard(((dp, mp, 1, 1),))
            self.relu.relu.shard(((dp, mp, 1, 1),))
            self.pool.max_pool.shard(((dp, mp, 1, 1),))
            self.mean.avg_pool.shard(((dp, mp, 1, 1),))
            self.last.conv2d.shard(((dp, 1, 1, 1), (mp, 1, 1, 1)))
            self.prelu.prelu.shard(((dp, 1, 1, 1), (1,)))

    def construct(self, x):
        x = self.mean(self.pool(self.relu(self.bn(self.conv(x)))))
        return self.prelu(self.last(x.transpose(0, 2, 3, 1)))


def inside_results(kind, x, divided, mode):
    with execution(mode):
        ms.set_seed(11)
        net = kind(divided=divided).set_train()
        weights = ms.ParameterTuple(net.trainable_params())
        loss = ms.value_and_grad(lambda x: (net(x) ** 2).sum(), None, weights)
        found = []
        for _ in range(3):
            value, gradients = loss(ms.Tensor(x))
            found += [value.asnumpy(), *[one.asnumpy() for one in gradients]]
        moved = [p.asnumpy() for p in net.get_parameters() if not p.requires_grad]
        return net, [*found, *moved]


def check_operators_inside_layers():
    ids = np.random.default_rng(4).integers(0, 32, (8, 6)).astype(np.int32)
    for kind, x in ((Inside, ids), (Images, init(8, 3, 8, 8))):
        for mode in MODES:
            begin()
            _, expected = inside_results(kind, x, False, mode)
            begin(**SEMI_AUTO, full_batch=True)
            net, found = inside_results(kind, x, True, mode)
            for got, want in zip(found, expected, strict=True):
                np.testing.assert_allclose(got, want, 2e-4, 1e-4 + 1e-5 * abs(want).max())
            parts = parts_of(ms.debug.layouts(net))
            if kind is Inside:
                assert parts["words.embedding_table"] == (4, 1), parts
                assert parts["up.weight"] == (4, 1) and parts["up.bias"] == (4,), parts
                assert parts["down.weight"] == (1, 4), parts
            else:
                assert parts["conv.weight"] == (4, 1, 1, 1) and parts["conv.bias"] == (4,), parts
                assert parts["bn.gamma"] == parts["bn.moving_mean"] == (4,), parts
                assert parts["last.weight"] == (4, 1, 1, 1), parts


def check_codes_are_divided_as_their_results():
    """MindSpore's OneHot takes the strategy of its result."""
    ids = np.arange(16, dtype=np.int32) % 4
    begin(**SEMI_AUTO, full_batch=True)
    codes = ops.OneHot().shard(((2, 4), (), ()))
    found = codes(ms.Tensor(ids), 4, ms.Tensor(1.0), ms.Tensor(0.0))
    np.testing.assert_array_equal(found.asnumpy(), np.eye(4, dtype=np.float32)[ids])
    assert found._value.array.sharding.shard_shape((16, 4)) == (8, 1)


def check_dense_layers_are_divided_as_megatron():
    """One reduction, as of products without layers."""
    begin(**SEMI_AUTO, full_batch=True)
    up, down = nn.Dense(16, 64, has_bias=False), nn.Dense(64, 16, has_bias=False)
    up.matmul.shard(((1, 1), (8, 1)))
    down.matmul.shard(((1, 8), (1, 8)), ((1, 1),))
    found = ms.debug.collectives(lambda x: down(ops.relu(up(x))))(ms.Tensor(init(16, 16)))
    assert found.counts == {"all-reduce": 1}, found


def check_tensors_tell_their_layout():
    begin(**SEMI_AUTO, full_batch=True)
    layout = ms.Layout((2, 4), ("dp", "mp"))
    x = ops.ReLU().shard((layout("mp", "dp"),))(ms.Tensor(init(8, 4)))
    assert x.layout.device_matrix == (2, 2, 2) and x.layout.tensor_map == ((1, 0), 2), (
        x.layout.to_dict()
    )
    again = ops.ReLU().shard((x.layout,))(ms.Tensor(init(8, 4)))
    assert again._value.array is None or again.layout.to_dict() == x.layout.to_dict()
    assert ms.Tensor(init(8)).layout is None


class Even(nn.Cell):
    """Layers whose Parameters eight devices divide."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(8, 32, weight_init="he_normal"), nn.ReLU(),
            nn.Dense(32, 16, weight_init="he_normal"), nn.ReLU(), nn.Dense(16, 8),
        )  # fmt: skip

    def construct(self, x):
        return self.layers(x)


def check_levels_of_divided_optimisers():
    """Level 1 divides what optimisers keep, 2 also gradients, 3 also Parameters."""
    alone = losses("BERT block", "graph", nn.Adam)
    for level in ("level2", "level3"):
        config = {"parallel_optimizer_threshold": 0, "optimizer_level": level}
        settings = {"enable_parallel_optimizer": True, "parallel_optimizer_config": config}
        for mode in MODES if level == "level3" else ("fused",):
            found = losses("BERT block", mode, nn.Adam, **SEMI_AUTO, **settings)
            np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=f"{level}, {mode}")
        found = counted(Even, (8,), MeanOfSquares(), **settings)
        # Three weights and three biases are kept in parts: gathered behind the update, or, of
        # level 3, where they are used.
        assert found.counts == {"all-reduce": 1, "all-gather": 6}, found
        phases = {line.phase for line in found.lines if line.kind == "all-gather"}
        assert phases == ({"update"} if level == "level2" else {"forward"}), found
        begin(**SEMI_AUTO, **settings)
        with execution("graph"):
            _, step = make_step(Even, 0.05)
            for x, y in batches((8,), 3):
                step(ms.Tensor(x), ms.Tensor(y % 8)).asnumpy()
        parts = parts_of(ms.debug.layouts(step))
        assert parts["moments.layers.0.weight"] == (8, 1), parts
        assert parts["layers.0.weight"] == ((8, 1) if level == "level3" else (1, 1)), parts
