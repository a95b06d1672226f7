# SPDX-License-Identifier: Apache-2.0
"""A line through noisy points; WithLossCell and TrainOneStepCell, and one written by hand."""

import argparse

import mindspore
import mindspore.nn as nn
import mindspore.ops.operations as P
import numpy as np
from mindspore import Tensor, context
from mindspore.common.initializer import Normal
from mindspore.ops import composite as C
from mindspore.ops import functional as F

parser = argparse.ArgumentParser(description="linear regression")
parser.add_argument("--mode", type=int, default=context.PYNATIVE_MODE)
parser.add_argument("--steps", type=int, default=120)
args_opt = parser.parse_args()

context.set_context(mode=args_opt.mode, device_target="CPU")
mindspore.set_seed(3)


class LinearNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(1, 1, Normal(0.02), Normal(0.02))

    def construct(self, x):
        return self.fc(x)


class MyMAELoss(nn.LossBase):
    """Absolute differences, as a loss of one's own."""

    def __init__(self, reduction="mean"):
        super().__init__(reduction)
        self.abs = P.Abs()

    def construct(self, base, target):
        return self.get_loss(self.abs(base - target))


class MyTrainStep(nn.TrainOneStepCell):
    """A step with gradients clipped to [-1, 1]."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.grad = C.GradOperation(get_by_list=True)
        self.clip = C.HyperMap()

    def construct(self, data, label):
        weights = self.weights
        loss = self.network(data, label)
        grads = self.grad(self.network, weights)(data, label)
        grads = self.clip(F.partial(clip_by_value), grads)
        return F.depend(loss, self.optimizer(grads))


def clip_by_value(gradient):
    return C.clip_by_value(
        gradient, Tensor(-1.0, mindspore.float32), Tensor(1.0, mindspore.float32)
    )


def get_batches(num, batch_size=16, w=2.0, b=3.0):
    generator = np.random.RandomState(0)
    for _ in range(num):
        x = generator.uniform(-10.0, 10.0, (batch_size, 1))
        y = x * w + b + generator.normal(0, 0.1, (batch_size, 1))
        yield Tensor(x.astype(np.float32)), Tensor(y.astype(np.float32))


def train(name, make_step, loss, learning_rate):
    net = LinearNet()
    opt = nn.Momentum(net.trainable_params(), learning_rate=learning_rate, momentum=0.9)
    step = make_step(nn.WithLossCell(net, loss), opt)
    step.set_train()
    for index, (x, y) in enumerate(get_batches(args_opt.steps)):
        value = step(x, y)
        if index % 40 == 0:
            print("step", index, "loss is", value)
    weight, bias = net.fc.weight.asnumpy(), net.fc.bias.asnumpy()
    print(f"{name} weight: {weight[0, 0]:.4f}, {name} bias: {bias[0]:.4f}")


if __name__ == "__main__":
    milestones = [args_opt.steps // 2, args_opt.steps * 3 // 4, args_opt.steps]
    decayed = nn.piecewise_constant_lr(milestones, [0.005, 0.001, 0.0002])
    train("mse", nn.TrainOneStepCell, nn.MSELoss(), decayed)
    cosine = nn.CosineDecayLR(min_lr=0.0, max_lr=0.1, decay_steps=args_opt.steps)
    train("mae", MyTrainStep, MyMAELoss(), cosine)
