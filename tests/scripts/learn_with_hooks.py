# SPDX-License-Identifier: Apache-2.0
"""A deep chain of layers, watched and steered by hooks while it learns."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Dense(width, width)
        self.act = nn.Tanh()

    def construct(self, x):
        return x + self.act(self.dense(x))


class Net(nn.Cell):
    def __init__(self, width=12, depth=3):
        super().__init__()
        self.stem = nn.Dense(6, width)
        self.blocks = nn.CellList([Block(width) for _ in range(depth)])
        self.head = nn.Dense(width, 1)

    def construct(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Watcher:
    """Keeps the size of the gradients that arrive at a Cell, and of what the Cell gave."""

    def __init__(self, name, cell):
        self.name = name
        self.norms, self.outputs = [], []
        self.handles = [
            cell.register_forward_hook(self.forward),
            cell.register_backward_hook(self.backward),
        ]

    def forward(self, cell, inputs, output):
        self.outputs.append(float(ops.abs(output).mean().asnumpy()))

    def backward(self, cell, grad_input, grad_output):
        self.norms.append(float(np.linalg.norm(grad_output[0].asnumpy())))

    def remove(self):
        for handle in self.handles:
            handle.remove()


def standardize(cell, inputs):
    (x,) = inputs
    return ((x - 50.0) / 2.0,)


def clip(grad):
    return ops.clip_by_value(grad, -0.05, 0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=1)
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args()
    ms.set_context(mode=args.mode)
    ms.set_seed(10)

    generator = np.random.default_rng(4)
    z = generator.standard_normal((256, 6))
    y = np.sin(2 * z[:, :1]) + z[:, 1:2] * (z[:, 2:3] > 0)
    x, y = Tensor(50 + 2 * z, ms.float32), Tensor(y, ms.float32)

    net = Net()
    net.stem.register_forward_pre_hook(standardize)
    for parameter in net.head.trainable_params():
        parameter.register_hook(clip)
    watchers = [Watcher(f"block{i}", block) for i, block in enumerate(net.blocks)]
    optimizer = nn.RMSProp(net.trainable_params(), learning_rate=0.005)
    loss_fn = nn.HuberLoss(delta=1.0)

    def forward(data, target):
        return loss_fn(net(data), target)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    largest = 0.0
    net.set_train()
    for step in range(args.steps):
        loss, grads = grad_fn(x, y)
        largest = max(largest, float(ops.abs(grads[-2]).max().asnumpy()))
        optimizer(grads)
        if step % 30 == 0:
            print(f"step {step}: loss: {loss.asnumpy():.5f}")
        if step == args.steps // 2:
            for watcher in watchers:
                watcher.remove()

    for watcher in watchers:
        calls = len(watcher.outputs), len(watcher.norms)
        print(watcher.name, "calls:", calls, f"first: {watcher.norms[0]:.5f}")
        assert calls == (args.steps // 2 + 1,) * 2
        assert min(watcher.norms) > 0
    print(f"largest gradient of the head: {largest:.4f}")
    print(f"last loss: {loss.asnumpy():.5f}")


if __name__ == "__main__":
    main()
