# SPDX-License-Identifier: Apache-2.0
"""The style of PyTorch: `mint.distributed`, parameters sent by the first, gradients reduced."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import mint, nn
from mindspore.mint import distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=ms.PYNATIVE_MODE)
parser.add_argument("--distribute", action="store_true")
args = parser.parse_args()

ms.set_context(mode=args.mode)
rank, size = 0, 1
if args.distribute:
    dist.init_process_group()
    rank, size = dist.get_rank(), dist.get_world_size()
ms.set_seed(6 + rank)

net = nn.SequentialCell(mint.nn.Linear(4, 6), mint.nn.ReLU(), mint.nn.Linear(6, 3))
if size > 1:
    for parameter in net.trainable_params():
        dist.broadcast(parameter, src=0)
optimizer = mint.optim.AdamW(net.trainable_params(), lr=0.02)
criterion = nn.CrossEntropyLoss()
grad_fn = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)

numbers = np.random.default_rng(8)
for step in range(40):
    x = numbers.normal(size=(12, 4)).astype(np.float32)
    y = x[:, :3].argmax(1).astype(np.int32)
    loss, grads = grad_fn(ms.Tensor(np.split(x, size)[rank]), ms.Tensor(np.split(y, size)[rank]))
    if size > 1:
        for grad in (*grads, loss):
            dist.all_reduce(grad)
        grads, loss = [grad / size for grad in grads], loss / size
    optimizer(grads)
    if rank == 0 and step % 13 == 0:
        print(f"step {step} loss: {float(loss):.4f}")
if size > 1:
    dist.barrier()
    collected = [None] * size
    dist.all_gather_object(collected, rank)
    assert collected == list(range(size))
print("sum of weights:", round(float(sum(p.abs().sum() for p in net.trainable_params())), 3))
