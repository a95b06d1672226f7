# SPDX-License-Identifier: Apache-2.0
"""LeNet-5, with its gradients and optimiser called one after the other, as in the documents."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import ParameterTuple, Tensor, context, set_seed
from mindspore.common.initializer import TruncatedNormal
from mindspore.nn import Dense, Momentum, SoftmaxCrossEntropyWithLogits, WithLossCell

context.set_context(mode=context.PYNATIVE_MODE, device_target="GPU")
set_seed(1)
BATCH = 32


def convolution(inputs, outputs):
    weights = TruncatedNormal(0.02)
    return nn.Conv2d(
        inputs, outputs, kernel_size=5, weight_init=weights, has_bias=False, pad_mode="valid"
    )


def dense(inputs, outputs):
    return Dense(inputs, outputs, TruncatedNormal(0.02), TruncatedNormal(0.02))


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = convolution(1, 6), convolution(6, 16)
        self.fc1, self.fc2, self.fc3 = dense(400, 120), dense(120, 84), dense(84, 10)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.reshape = ops.Reshape()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.reshape(x, (BATCH, -1))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Gradients(nn.Cell):
    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ParameterTuple(filter(lambda p: p.requires_grad, network.get_parameters()))

    def construct(self, images, labels):
        return ops.GradOperation(get_by_list=True)(self.network, self.weights)(images, labels)


net = LeNet5()
optimizer = Momentum(filter(lambda p: p.requires_grad, net.get_parameters()), 0.1, 0.9)
criterion = SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
gradients = Gradients(WithLossCell(net, criterion))
gradients.set_train()

images = Tensor(np.full([BATCH, 1, 32, 32], 0.01, np.float32))
labels = Tensor(np.ones([BATCH], np.int32))
for _ in range(8):
    loss = criterion(net(images), labels)
    optimizer(gradients(images, labels))
    print(loss.asnumpy())
