# SPDX-License-Identifier: Apache-2.0
"""Data parallelism written out: gradients by `value_and_grad`, reduced and clipped by hand."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=ms.GRAPH_MODE)
parser.add_argument("--distribute", action="store_true")
args = parser.parse_args()

ms.set_context(mode=args.mode)
rank, size = 0, 1
if args.distribute:
    init("nccl")
    rank, size = get_rank(), get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(3)

net = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 1))
optimizer = nn.Adam(net.trainable_params(), 0.02)
grad_reducer = nn.DistributedGradReducer(optimizer.parameters) if size > 1 else ops.identity
all_reduce = ops.AllReduce(ops.ReduceOp.SUM)
loss_fn = nn.MSELoss()


def forward_fn(data, label):
    return loss_fn(net(data), label)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


@ms.jit
def train_step(data, label):
    loss, grads = grad_fn(data, label)
    grads = grad_reducer(grads)
    grads = ops.clip_by_global_norm(grads, 1.0)
    optimizer(grads)
    return all_reduce(loss) / size if size > 1 else loss


numbers = np.random.default_rng(5)
for step in range(60):
    x = numbers.normal(size=(8, 3)).astype(np.float32)
    y = (x[:, :1] - 0.5 * x[:, 1:2] ** 2).astype(np.float32)
    loss = train_step(ms.Tensor(np.split(x, size)[rank]), ms.Tensor(np.split(y, size)[rank]))
    if step % 20 == 0 or step == 59:
        print(f"step {step} loss: {loss.asnumpy():.4f}")
print("sum of weights:", round(float(sum(p.abs().sum() for p in net.trainable_params())), 3))
