# SPDX-License-Identifier: Apache-2.0
"""Digits read by dense layers with Model.train: data set, callbacks, checkpoints and metrics."""

import argparse
import os
import tempfile

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import GeneratorDataset
from mindspore.train import (
    Accuracy,
    Callback,
    CheckpointConfig,
    LossMonitor,
    Model,
    ModelCheckpoint,
    TimeMonitor,
)


class Digits:
    """Random access to images (64,) and labels."""

    def __init__(self, path, train):
        with np.load(path) as data:
            images, labels = data["images"], data["labels"]
        part = slice(0, 1440) if train else slice(1440, None)
        self.images = images[part].reshape(-1, 64).astype(np.float32) / 16
        self.labels = labels[part].astype(np.int32)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.labels)


class EvalCallback(Callback):
    """Evaluates at the end of every epoch, and stops when it is good enough."""

    def __init__(self, model, eval_dataset, enough):
        super().__init__()
        self.model = model
        self.eval_dataset = eval_dataset
        self.enough = enough
        self.history = []

    def on_train_epoch_end(self, run_context):
        cb_params = run_context.original_args()
        result = self.model.eval(self.eval_dataset, dataset_sink_mode=False)
        self.history.append(result["accuracy"])
        print(f"epoch {cb_params.cur_epoch_num}, step {cb_params.cur_step_num}: {result}")
        if result["accuracy"] > self.enough:
            run_context.request_stop()


def create_network():
    return nn.SequentialCell(
        [
            nn.Dense(64, 48, activation="relu"),
            nn.LayerNorm((48,)),
            nn.Dropout(p=0.1),
            nn.Dense(48, 10),
        ]
    )


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=1, choices=[0, 1])
    parser.add_argument("--data_path", type=str, required=True)
    parser.add_argument("--epoch_size", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    args = parse_args()
    ms.set_context(mode=args.mode, device_target="CPU")
    ms.set_seed(1)

    train_set = GeneratorDataset(Digits(args.data_path, True), ["image", "label"], shuffle=True)
    train_set = train_set.batch(48)
    eval_set = GeneratorDataset(Digits(args.data_path, False), ["image", "label"], shuffle=False)
    eval_set = eval_set.batch(119)

    network = create_network()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    steps = train_set.get_dataset_size()
    learning_rate = nn.cosine_decay_lr(0.001, 0.3, steps * args.epoch_size, steps, args.epoch_size)
    optimizer = nn.Momentum(network.trainable_params(), learning_rate, 0.9, weight_decay=1e-4)
    model = Model(network, loss, optimizer, metrics={"accuracy": Accuracy(), "loss": nn.Loss()})

    with tempfile.TemporaryDirectory() as folder:
        config = CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=2)
        saver = ModelCheckpoint(prefix="digits", directory=folder, config=config)
        evaluation = EvalCallback(model, eval_set, enough=0.995)
        callbacks = [LossMonitor(steps), TimeMonitor(), saver, evaluation]
        model.train(args.epoch_size, train_set, callbacks=callbacks, dataset_sink_mode=False)
        saved = sorted(name for name in os.listdir(folder) if name.endswith(".ckpt"))
        print("saved:", saved)

        fresh = create_network()
        ms.load_param_into_net(fresh, ms.load_checkpoint(os.path.join(folder, saved[-1])))
        result = Model(fresh, loss, metrics={"acc", "loss"}).eval(eval_set, dataset_sink_mode=False)
    print(f"restored: acc: {result['acc']:.4f} loss: {result['loss']:.5f}")
    print(f"last: {evaluation.history[-1]:.4f}")
