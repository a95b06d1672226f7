# SPDX-License-Identifier: Apache-2.0
"""Two spirals told apart in float16, with a loss scale that shrinks when gradients overflow."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.amp import DynamicLossScaler, all_finite, auto_mixed_precision
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import LossMonitor


def two_spirals(number, seed):
    generator = np.random.default_rng(seed)
    label = generator.integers(0, 2, number)
    angle = generator.uniform(0.5, 4.5, number)
    side = 1 - 2 * label
    points = np.stack([side * angle * np.cos(angle), side * angle * np.sin(angle)], 1) / 4.5
    noisy = points + generator.normal(0, 0.02, points.shape)
    return noisy.astype(np.float32), label.astype(np.int32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense1 = nn.Dense(2, 32)
        self.norm = nn.LayerNorm((32,))
        self.dense2 = nn.Dense(32, 32)
        self.dense3 = nn.Dense(32, 2)

    def construct(self, x):
        x = ops.tanh(self.norm(self.dense1(x)))
        x = ops.tanh(self.dense2(x))
        return self.dense3(x)


def train_functional(args):
    net = auto_mixed_precision(Net(), amp_level="O2", dtype=ms.float16)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
    loss_scaler = DynamicLossScaler(scale_value=2**24, scale_factor=2, scale_window=30)

    def forward_fn(data, label):
        logits = net(data)
        loss_value = loss_fn(logits.astype(ms.float32), label)
        return loss_scaler.scale(loss_value), logits

    grad_fn = ms.value_and_grad(forward_fn, None, net.trainable_params(), has_aux=True)

    @ms.jit
    def train_step(data, label):
        (loss_value, logits), grads = grad_fn(data, label)
        loss_value = loss_scaler.unscale(loss_value)
        is_finite = all_finite(grads)
        if is_finite:
            grads = loss_scaler.unscale(grads)
            optimizer(grads)
        loss_scaler.adjust(is_finite)
        return loss_value, is_finite, logits

    skipped = 0
    data, label = two_spirals(256, 1)
    for step in range(args.steps):
        loss, is_finite, logits = train_step(Tensor(data), Tensor(label))
        skipped += not bool(is_finite)
        if step % 20 == 0:
            print(
                f"step {step} loss: {loss} scale {loss_scaler.scale_value.asnumpy()} {logits.dtype}"
            )
    print("skipped:", skipped, "scale:", float(loss_scaler.scale_value))
    print("dtypes:", sorted({str(p.dtype) for p in net.trainable_params()}))
    evaluate("functional", net)


def train_with_model(args):
    net = Net()
    net.to_float(ms.float16)
    net.norm.to_float(ms.float32)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    manager = ms.FixedLossScaleManager(1024.0, drop_overflow_update=False)
    optimizer = nn.Momentum(
        net.trainable_params(), learning_rate=0.2, momentum=0.9, loss_scale=1024.0
    )
    train_set = NumpySlicesDataset(two_spirals(256, 1), ["data", "label"], shuffle=False)
    train_set = train_set.batch(256).repeat(args.steps)
    model = ms.Model(net, loss_fn, optimizer, amp_level="O0", loss_scale_manager=manager)
    model.train(1, train_set, callbacks=[LossMonitor(20)], dataset_sink_mode=False)
    evaluate("model", net)


def evaluate(name, net):
    net.set_train(False)
    data, label = two_spirals(256, 2)
    accuracy = (net(Tensor(data)).argmax(axis=1).asnumpy() == label).mean()
    print(f"{name} accuracy: {accuracy:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=1)
    parser.add_argument("--steps", type=int, default=80)
    arguments = parser.parse_args()
    ms.set_context(mode=arguments.mode)
    ms.set_seed(2024)
    train_functional(arguments)
    train_with_model(arguments)
