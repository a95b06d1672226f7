# SPDX-License-Identifier: Apache-2.0
"""Mixed precision in data parallelism: a loss scale that halves where one process overflows."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Tensor, context, nn
from mindspore.communication.management import get_group_size, get_rank, init
from mindspore.context import ParallelMode

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=context.GRAPH_MODE)
parser.add_argument("--distribute", action="store_true")
args = parser.parse_args()

context.set_context(mode=args.mode, device_target="CPU")
rank, size = 0, 1
if args.distribute:
    init()
    rank, size = get_rank(), get_group_size()
    context.set_auto_parallel_context(
        device_num=size, parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True
    )
ms.set_seed(2)

net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
loss_net = nn.WithLossCell(net, nn.MSELoss())
manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**10, scale_factor=2, scale_window=5)
optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
train_net = nn.TrainOneStepWithLossScaleCell(loss_net, optimizer, scale_sense=manager)
train_net.set_train()

numbers = np.random.default_rng(4)
skipped = 0
for step in range(24):
    x = numbers.normal(size=(8, 4)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    if step in (3, 9):
        x[-1, 0] = np.inf  # in the part of the last process
    loss, overflow, scale = train_net(
        Tensor(np.split(x, size)[rank]), Tensor(np.split(y, size)[rank])
    )
    skipped += bool(overflow.asnumpy())
print("skipped:", skipped, "scale:", float(scale.asnumpy()))
print("sum of weights:", round(float(sum(p.abs().sum() for p in net.trainable_params())), 3))
