# SPDX-License-Identifier: Apache-2.0
"""A network of binary weights, trained through the reverse functions its layers bring along."""

import argparse

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.common.initializer import initializer


class Sign(nn.Cell):
    """-1 or 1 forward; backward the gradient passes where the input is within [-1, 1]."""

    def __init__(self):
        super().__init__()
        self.ge = ops.GreaterEqual()
        self.select = ops.Select()

    def construct(self, x):
        return self.select(self.ge(x, 0), ops.ones_like(x), -ops.ones_like(x))

    def bprop(self, x, out, dout):
        inside = ops.cast(ops.abs(x) <= 1, x.dtype)
        return (dout * inside,)


class ClippedSquare(nn.Cell):
    """The mean square of an error, whose reverse bounds what one example may ask for."""

    def construct(self, logits, target):
        error = logits - target
        return (error * error).mean(), error

    def bprop(self, logits, target, out, dout):
        _, error = out
        d_loss, _ = dout
        gradient = 2 * ops.clip_by_value(error, -1.0, 1.0) / error.size * d_loss
        return gradient, ops.zeros_like(target)


class BinaryDense(nn.Cell):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        weight = initializer("xavier_uniform", (out_channels, in_channels), ms.float32)
        self.weight = Parameter(weight, name="weight")
        self.scale = Parameter(initializer("ones", (out_channels,)), name="scale")
        self.sign = Sign()
        self.matmul = ops.MatMul(transpose_b=True)

    def construct(self, x):
        return self.matmul(x, self.sign(self.weight)) * self.scale / self.weight.shape[1] ** 0.5


class BinaryNet(nn.Cell):
    def __init__(self, hidden):
        super().__init__()
        self.first = BinaryDense(64, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.sign = Sign()
        self.second = BinaryDense(hidden, 10)

    def construct(self, x):
        return self.second(self.sign(self.norm(self.first(x))))


class LossNet(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net
        self.loss = ClippedSquare()

    def construct(self, x, target):
        loss, _ = self.loss(self.net(x), target)
        return loss


class TrainStep(nn.Cell):
    def __init__(self, network, optimizer):
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = optimizer.parameters
        self.optimizer = optimizer
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, x, target):
        loss = self.network(x, target)
        sens = ops.fill(loss.dtype, loss.shape, 1.0)
        grads = self.grad(self.network, self.weights)(x, target, sens)
        return ops.depend(loss, self.optimizer(grads))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=1)
    parser.add_argument("--data", required=True)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    ms.set_context(mode=args.mode)
    ms.set_seed(9)

    data = np.load(args.data)
    images = data["images"].reshape(-1, 64).astype(np.float32) / 8 - 1
    one_hot = 4 * np.eye(10, dtype=np.float32)[data["labels"]] - 1
    net = BinaryNet(128)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=nn.ExponentialDecayLR(0.02, 0.7, 45))
    step = TrainStep(LossNet(net), optimizer)
    step.set_train()
    order = np.random.RandomState(0)
    for epoch in range(args.epochs):
        total = 0.0
        for batch in order.permutation(1440).reshape(45, 32):
            total += step(Tensor(images[batch]), Tensor(one_hot[batch])).asnumpy()
        print(f"epoch: {epoch}, train_loss: {total / 45:.5f}")

    net.set_train(False)
    predicted = net(Tensor(images[1440:])).asnumpy().argmax(1)
    print("values of a weight:", np.unique(net.first.sign(net.first.weight).asnumpy()))
    print(f"accuracy: {(predicted == data['labels'][1440:]).mean():.4f}")
