# SPDX-License-Identifier: Apache-2.0
"""A layer of which each process has some columns: forward gathers, backward scatters."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import create_group, get_group_size, get_rank, init

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=ms.GRAPH_MODE)
parser.add_argument("--distribute", action="store_true")
args = parser.parse_args()

ms.set_context(mode=args.mode)
rank, size = 0, 1
if args.distribute:
    init()
    rank, size = get_rank(), get_group_size()
    create_group("columns", list(range(size)))


class ColumnParallel(nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.weight = Parameter(Tensor(np.split(weight, size)[rank]), name="columns")
        self.gather = ops.AllGather(group="columns") if size > 1 else ops.identity

    def construct(self, x):
        columns = ops.matmul(self.weight, x.T)
        return ops.relu(self.gather(columns).T)


numbers = np.random.default_rng(1)
net = ColumnParallel(numbers.normal(size=(6, 4)).astype(np.float32))
head = nn.Dense(6, 1, weight_init="ones", bias_init="zeros")
weights = [net.weight, *head.trainable_params()]
optimizer = nn.SGD(weights, 0.01)


def forward(x, y):
    # Each process computes the same loss: the gradient is that of their sum.
    return ((head(net(x)) - y) ** 2).mean() / size


grad_fn = ms.value_and_grad(forward, None, weights)
reduce = ops.AllReduce(group="columns") if size > 1 else ops.identity


@ms.jit
def step(x, y):
    loss, (own, *shared) = grad_fn(x, y)
    optimizer((own, *[reduce(grad) for grad in shared]))
    return reduce(loss)


for number in range(50):
    x = numbers.normal(size=(16, 4)).astype(np.float32)
    y = np.abs(x).sum(1, keepdims=True)
    loss = step(Tensor(x), Tensor(y))
    if number % 16 == 0:
        print(f"step {number} loss: {loss.asnumpy():.4f}")
total = reduce(net.weight.abs().sum()) + head.weight.abs().sum()
print("sum of weights:", round(float(total), 3))
