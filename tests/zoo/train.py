# SPDX-License-Identifier: Apache-2.0
"""Train an architecture of mindcv on a folder of images: `mycel run train.py --data_dir FOLDER`.

Written as a user of mindcv writes it, with its `create_*` functions and callback; nothing in it
knows mycel. The folder has `train` and `val`, and in each a folder of images for every class.
"""

import argparse

import mindspore as ms
from mindcv.data import create_dataset, create_loader, create_transforms
from mindcv.loss import create_loss
from mindcv.models import create_model
from mindcv.optim import create_optimizer
from mindcv.scheduler import create_scheduler
from mindcv.utils import StateMonitor, create_trainer, set_logger, set_seed

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=0, help="0: Graph mode, 1: PyNative mode")
parser.add_argument("--dataset", default="imagenet")
parser.add_argument("--data_dir", required=True)
parser.add_argument("--model", default="mobilenet_v1_025")
parser.add_argument("--image_resize", type=int, default=32)
parser.add_argument("--epoch_size", type=int, default=4)
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--opt", default="momentum")
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--clip_grad", action="store_true")
parser.add_argument("--ema", action="store_true")
parser.add_argument("--amp_level", default="O0")
parser.add_argument("--ckpt_save_dir", default="./ckpt")
args = parser.parse_args()


def make_loader(split, training):
    dataset = create_dataset(name=args.dataset, root=args.data_dir, split=split, shuffle=training)
    transform = create_transforms(
        dataset_name=args.dataset,
        image_resize=args.image_resize,
        is_training=training,
        **({"scale": (0.6, 1.0)} if training else {}),
    )
    loader = create_loader(
        dataset=dataset,
        batch_size=args.batch_size,
        drop_remainder=training,
        is_training=training,
        num_classes=dataset.num_classes(),
        transform=transform,
    )
    return loader, dataset.num_classes()


def main():
    ms.set_context(mode=args.mode)
    set_seed(7)
    set_logger(name="mindcv", output_dir=args.ckpt_save_dir, color=False)
    train_loader, classes = make_loader("train", True)
    val_loader, _ = make_loader("val", False)
    steps = train_loader.get_dataset_size()

    network = create_model(args.model, num_classes=classes)
    loss = create_loss(name="CE", label_smoothing=0.05, aux_factor=0.1)
    rates = create_scheduler(
        steps,
        scheduler="cosine_decay",
        lr=args.lr,
        warmup_epochs=1,
        decay_epochs=args.epoch_size - 1,
        num_epochs=args.epoch_size,
    )
    optimizer = create_optimizer(
        network.trainable_params(),
        opt=args.opt,
        lr=rates,
        weight_decay=1e-4,
        weight_decay_filter="auto",
    )
    trainer = create_trainer(
        network,
        loss,
        optimizer,
        metrics={"accuracy": ms.nn.Accuracy()},
        amp_level=args.amp_level,
        amp_cast_list=None,
        loss_scale_type="fixed",
        ema=args.ema,
        clip_grad=args.clip_grad,
    )
    monitor = StateMonitor(
        trainer,
        model_name=args.model,
        model_ema=args.ema,
        dataset_sink_mode=False,
        dataset_val=val_loader,
        metric_name=["accuracy"],
        ckpt_save_dir=args.ckpt_save_dir,
        summary_dir=args.ckpt_save_dir,
        log_interval=1,
    )
    trainer.train(args.epoch_size, train_loader, callbacks=monitor, dataset_sink_mode=False)


if __name__ == "__main__":
    main()
