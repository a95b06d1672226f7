# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network reads digits; the functional style: value_and_grad and a loop."""

import argparse

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.dataset import transforms


class Network(nn.Cell):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 8, 3, pad_mode="pad", padding=1, weight_init="HeUniform"),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=2),
        )
        self.flatten = nn.Flatten()
        self.dropout = nn.Dropout(p=0.1)
        self.classifier = nn.Dense(8 * 4 * 4, num_classes)

    def construct(self, x):
        x = self.flatten(self.features(x))
        return self.classifier(self.dropout(x))


def create_dataset(images, labels, batch_size, shuffle):
    dataset = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=shuffle)
    dataset = dataset.map(lambda x: (x / 16.0).astype(np.float32)[None], input_columns="image")
    dataset = dataset.map(transforms.TypeCast(ms.int32), input_columns="label")
    return dataset.batch(batch_size, drop_remainder=True)


def train_loop(model, dataset, loss_fn, optimizer):
    def forward_fn(data, label):
        logits = model(data)
        return loss_fn(logits, label), logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    def train_step(data, label):
        (loss, _), grads = grad_fn(data, label)
        optimizer(grads)
        return loss

    size = dataset.get_dataset_size()
    model.set_train()
    for batch, (data, label) in enumerate(dataset.create_tuple_iterator()):
        loss = train_step(data, label)
        if batch % 20 == 0:
            print(f"loss: {loss.asnumpy():>7f}  [{batch:>3d}/{size:>3d}]")


def test_loop(model, dataset, loss_fn):
    model.set_train(False)
    total, test_loss, correct = 0, 0, 0
    for data, label in dataset.create_tuple_iterator():
        pred = model(data)
        total += len(data)
        test_loss += loss_fn(pred, label).asnumpy()
        correct += (pred.argmax(1) == label).asnumpy().sum()
    test_loss /= dataset.get_dataset_size()
    print(f"Test: accuracy: {correct / total:.4f}, avg_loss: {test_loss:.6f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=ms.PYNATIVE_MODE)
    parser.add_argument("--data_path", type=str, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    ms.set_context(mode=args.mode, device_target="CPU")
    ms.set_seed(42)

    with np.load(args.data_path) as data:
        images, labels = data["images"], data["labels"]
    train_set = create_dataset(images[:1440], labels[:1440], 32, shuffle=True)
    test_set = create_dataset(images[1440:], labels[1440:], 51, shuffle=False)

    model = Network()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(model.trainable_params(), learning_rate=1e-2)
    for epoch in range(args.epochs):
        print(f"Epoch {epoch + 1}\n-------------------------------")
        train_loop(model, train_set, loss_fn, optimizer)
        test_loop(model, test_set, loss_fn)
    print("parameters:", sum(ops.size(p) for p in model.trainable_params()))


if __name__ == "__main__":
    main()
