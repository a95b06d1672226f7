# SPDX-License-Identifier: Apache-2.0
"""A learning rate that is far too large; a hook stops the program at the first bad gradient."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class DivergedError(Exception):
    pass


def check(gradient):
    size = float(np.abs(gradient.asnumpy()).max())
    if size > 1e6:
        raise DivergedError(f"gradient of size {size:.1e}")


def train(net, optimizer, loss_fn, steps):
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    x = Tensor(np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4))
    y = x.sum(1, keepdims=True)
    for step in range(steps):
        loss, grads = grad_fn(x, y)
        optimizer(grads)
        print("step", step, f"loss: {loss.asnumpy():.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=1)
    ms.set_context(mode=parser.parse_args().mode)
    net = nn.Dense(4, 1, weight_init="zeros", bias_init="zeros")
    net.weight.register_hook(check)
    train(net, nn.SGD(net.trainable_params(), learning_rate=4.0), nn.MSELoss(), 100)
