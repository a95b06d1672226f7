# SPDX-License-Identifier: Apache-2.0
"""Data parallelism by `Model.train`: each process reads its part, the first one evaluates."""

import argparse

import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import numpy as np
from mindspore.communication import get_group_size, get_rank, init
from mindspore.train import LossMonitor, Model

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=ms.GRAPH_MODE)
parser.add_argument("--distribute", action="store_true")
args = parser.parse_args()

ms.set_context(mode=args.mode, device_target="CPU")
rank_id, group_size = 0, 1
if args.distribute:
    init()
    rank_id, group_size = get_rank(), get_group_size()
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(
        device_num=group_size,
        parallel_mode=ms.ParallelMode.DATA_PARALLEL,
        gradients_mean=True,
        parameter_broadcast=True,
    )
ms.set_seed(1)

numbers = np.random.default_rng(0)
points = numbers.normal(size=(64, 4)).astype(np.float32)
labels = (points[:, :2].sum(1) > points[:, 2:].sum(1)).astype(np.int32)


def create_dataset(shards, shard):
    data = ds.NumpySlicesDataset(
        (points, labels), ["data", "label"], shuffle=False, num_shards=shards, shard_id=shard
    )
    return data.batch(16 // shards, drop_remainder=True)


network = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 2))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.2, momentum=0.9)
model = Model(network, loss, optimizer, metrics={"accuracy"})
model.train(
    10, create_dataset(group_size, rank_id), callbacks=[LossMonitor(4)], dataset_sink_mode=False
)
if rank_id == 0:
    print(
        "accuracy:", round(model.eval(create_dataset(1, 0), dataset_sink_mode=False)["accuracy"], 4)
    )
print("sum of weights:", round(float(sum(p.abs().sum() for p in network.trainable_params())), 3))
