# SPDX-License-Identifier: Apache-2.0
"""Transfer learning: a network trained on digits 0-7 is saved, loaded, frozen and given a head."""

import argparse
import os
import tempfile

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, load_checkpoint, load_param_into_net, save_checkpoint
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model
from mindspore.train.callback import LossMonitor


class Backbone(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, pad_mode="same", weight_init="XavierUniform")
        self.bn1 = nn.BatchNorm2d(8, momentum=0.8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, pad_mode="same", weight_init="XavierUniform")
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        return self.flatten(self.relu(self.conv2(x)))


class Classifier(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Dense(64, num_classes)

    def construct(self, x):
        return self.head(self.backbone(x))


def get_data(path):
    with np.load(path) as data:
        return data["images"].astype(np.float32)[:, None] / 16, data["labels"].astype(np.int32)


def evaluate(net, images, labels):
    net.set_train(False)
    return float((net(Tensor(images)).asnumpy().argmax(1) == labels).mean())


def pretrain(images, labels, path):
    net = Classifier(8)
    data = NumpySlicesDataset((images, labels), ["image", "label"]).batch(32, True)
    opt = nn.Adam(net.trainable_params(), learning_rate=0.01)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    Model(net, loss, opt).train(2, data, callbacks=LossMonitor(32), dataset_sink_mode=False)
    save_checkpoint(net, path, append_dict={"classes": 8})
    return net


def finetune(images, labels, path, epochs):
    net = Classifier(2)
    param_dict = load_checkpoint(path)
    print("classes:", param_dict.pop("classes"))
    for name in list(param_dict):
        if name.startswith("head."):
            del param_dict[name]
    missing, unused = load_param_into_net(net, param_dict)
    print("not loaded:", sorted(missing), "unused:", sorted(unused))
    for param in net.backbone.get_parameters():
        param.requires_grad = False
    print("trained:", [param.name for param in net.trainable_params()])

    opt = nn.SGD(net.trainable_params(), learning_rate=0.02, momentum=0.9)
    with_loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(True, reduction="mean"))
    step = nn.TrainOneStepCell(with_loss, opt)
    step.set_train()
    net.backbone.set_train(False)
    data = NumpySlicesDataset({"image": images, "label": labels}, shuffle=True)
    for row in data.batch(16, drop_remainder=True).repeat(epochs).create_dict_iterator():
        loss = step(row["image"], row["label"])
    print("loss:", loss)
    return net


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=1)
    parser.add_argument("--data_dir", required=True)
    args = parser.parse_args()
    ms.set_context(mode=args.mode, device_target="CPU")
    ms.set_seed(17)

    images, labels = get_data(os.path.join(args.data_dir, "digits.npz"))
    known = labels < 8
    first, second = slice(0, 1100), slice(1100, None)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pretrained.ckpt")
        old = pretrain(images[known][first], labels[known][first], path)
        accuracy = evaluate(old, images[known][second], labels[known][second])
        print(f"pretrained accuracy: {accuracy:.4f}")
        few = slice(0, 48)
        new_images, new_labels = images[~known], labels[~known] - 8
        net = finetune(new_images[few], new_labels[few], path, 20)

    unchanged = [
        np.array_equal(a.asnumpy(), b.asnumpy())
        for a, b in zip(old.backbone.get_parameters(), net.backbone.get_parameters(), strict=True)
    ]
    print("backbone unchanged:", all(unchanged), len(unchanged))
    print(f"transfer accuracy: {evaluate(net, new_images[48:], new_labels[48:]):.4f}")


if __name__ == "__main__":
    main()
