# SPDX-License-Identifier: Apache-2.0
"""The table of public programs: where each is, how it is run, and what stands in for its data."""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    """One program and how it is run, from its own folder.

    `repository` is "owner/name" on GitHub, or a package of the index, `commit` then its version.

    `train` and `evaluate` are a script and its arguments; in them `{newest PATTERN}` is the newest
    file of that pattern. `build` leaves `net` and `inputs` (arrays), from `x` (normal values) and
    `n` (whole numbers below a bound). `data` names makers of data.py, which fill `data/<name>`.
    `files` are configurations written before the run; `edits` change figures in a configuration.
    """

    repository: str
    commit: str
    folder: str
    train: tuple[str, ...]
    evaluate: tuple[str, ...] = ()
    build: str = ""
    data: tuple[str, ...] = ()
    below: str = ""
    predict: tuple[str, ...] = ()
    files: dict[str, str] = {}
    edits: dict[str, dict[str, str]] = {}


def words(text: str) -> tuple[str, ...]:
    """The words of a command line; braces keep what is between them together."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if letter.isspace() and not depth:
            found.append("")
        else:
            found[-1] += letter
    return tuple(word for word in found if word)


def official(folder: str, train: str, evaluate: str = "", build: str = "", **more) -> Program:
    """A program of mindspore-ai/models."""
    return Program(
        "mindspore-ai/models",
        "eab643f51336dbf7d711f02d27e6516e5affee59",
        f"official/{folder}",
        words(train),
        words(evaluate),
        build,
        below="official",
        **more,
    )


def yolo(config: str, size: int = 64, **more) -> Program:
    """A configuration of mindyolo, in pictures of 64 by 64 and batches of two."""
    options = f"--config configs/{config}.yaml --device_target CPU --task detect --img_size {size}"
    build = f"""
from mindyolo.models import create_model
from mindyolo.utils.config import Config, load_config
cfg = Config(load_config("configs/{config}.yaml")[0])
net = create_model(cfg.network.model_name, cfg.network, num_classes=cfg.data.nc, sync_bn=False)
inputs = [x(2, 3, 64, 64)]
"""
    return Program(
        "mindspore-lab/mindyolo",
        "67288e576757aaf466f72b1786e6d72471048332",
        ".",
        words(f"train.py {options} --per_batch_size 2 --epochs 1 --ms_amp_level O0 --weight="),
        words(f"test.py {options} --per_batch_size 2 --weight {{newest *.ckpt}}"),
        build,
        ("coco",),
        edits={"configs/coco.yaml": {"./coco/": "./data/coco/"}} | more.pop("edits", {}),
        predict=words(
            f"demo/predict.py {options} --weight {{newest *.ckpt}} "
            "--image_path data/coco/val2017/000000000001.jpg"
        ),
        **more,
    )


def ocr(config: str, *changes: str, build: str = "", data: tuple[str, ...], **more) -> Program:
    """A configuration of mindocr; `changes` are what its tools take after `--opt`."""
    options = f"--config configs/{config}.yaml --opt system.distribute=False system.amp_level=O0"
    options += " train.dataset_sink_mode=False train.loader.num_workers=1 train.loader.batch_size=2"
    options += " eval.loader.num_workers=1 scheduler.num_epochs=1"
    options += " train.ckpt_save_dir=out " + " ".join(changes)
    return Program(
        "mindspore-lab/mindocr",
        "6dd7792388e25436552fada9553215453693e610",
        ".",
        words(f"tools/train.py {options}"),
        words(f"tools/eval.py {options} eval.ckpt_load_path={{newest *.ckpt}}"),
        f"""
import yaml
from mindocr.models import build_model
cfg = yaml.safe_load(open("configs/{config}.yaml"))["model"]
cfg["backbone"]["pretrained"] = False
cfg["pretrained"] = None
net = build_model(cfg)
{build}
""",
        data,
        **more,
    )


def detection(config: str, *changes: str, sizes: dict[str, str] | None = None, **more) -> Program:
    """A configuration of mindocr that finds text, with no pretrained weights."""
    places = [
        f"{part}.dataset.{key}={value}"
        for part in ("train", "eval")
        for key, value in (
            ("dataset_root", "data/text_places"),
            ("data_dir", "images"),
            ("label_file", "labels.txt"),
        )
    ]
    return ocr(
        config, "model.backbone.pretrained=False", *changes, *places, data=("text_places",),
        build="inputs = [x(1, 3, 128, 128)]",
        edits={
            f"configs/{config}.yaml": sizes
            or {
                "crop_size: [ 640, 640 ]": "crop_size: [ 128, 128 ]",
                "target_size: [ 736, 1280 ]": "target_size: [ 128, 128 ]",
            }
        }, **more,
    )  # fmt: skip


def recognition(config: str, shape: tuple[int, ...], batch: int, **more) -> Program:
    """A configuration of mindocr that reads text, in batches of two."""
    places = [
        f"{part}.dataset.{key}={value}"
        for part in ("train", "eval")
        for key, value in (("dataset_root", "data/text_lines"), ("data_dir", part))
    ]
    places.append("eval.loader.batch_size=2")
    edits = {f"configs/{config}.yaml": {f"&batch_size {batch}": "&batch_size 2"}}
    return ocr(
        config, *more.pop("changes", ()), *places, data=("text_lines",),
        build=f"inputs = [x{shape}]", edits=edits, **more,
    )  # fmt: skip


def pose(config: str, **more) -> Program:
    """A configuration of mindpose on pictures of 64 by 96."""
    options = f"--config configs/{config}.yaml --cfg-options distribute=False amp_level=O0 "
    options += "batch_size=2 num_epochs=1 val_interval=1 num_parallel_workers=1 outdir=out "
    options += "backbone_pretrained=False warmup=0"
    return Program(
        "mindspore-lab/mindpose",
        "85b42778cd65e78f27177809e8bd493364a4e4de",
        ".",
        words(f"tools/train.py {options}"),
        words(f"tools/eval.py {options} --ckpt {{newest *.ckpt}}"),
        f"""
import yaml
from mindpose.models import create_network
cfg = yaml.safe_load(open("configs/{config}.yaml"))
net = create_network(cfg["backbone_name"], cfg["head_name"], neck_name=cfg["neck_name"],
    backbone_pretrained=False, in_channels=3, neck_out_channels=cfg["neck_out_channels"],
    num_joints=17, backbone_args=cfg["backbone_setting"], neck_args=cfg["neck_setting"],
    head_args=cfg["head_setting"])
inputs = [x(2, 3, 128, 128)]
""",
        ("coco",),
        edits={
            f"configs/{config}.yaml": {
                "data/coco/images": "data/coco/images",
                "image_size: [192, 256]": "image_size: [96, 128]",
                "heatmap_size: [48, 64]": "heatmap_size: [24, 32]",
            }
        } | more.pop("edits", {}),
        **more,
    )  # fmt: skip


def nlp(network: str, loss: str, use: str = "") -> Program:
    """A tiny network of mindnlp, and the lines of a newcomer that train it and use it."""
    build = f"import mindnlp.transformers as of\nids = n(90, 2, 12).astype(np.int64) + 3\n{network}"
    return Program(
        "mindnlp", "0.2.4", ".", ("newcomer.py",), build=build,
        files={"newcomer.py": NEWCOMER.format(network=network, loss=loss, use=use)},
    )  # fmt: skip


# What a newcomer writes with a network of mindnlp: ten steps on one batch.
NEWCOMER = """
import mindnlp.transformers as of
import mindspore as ms
import numpy as np

ids = ms.Tensor(np.random.RandomState(0).randint(3, 93, (2, 12)), ms.int64)
ms.set_seed(0)
{network}
optimizer = ms.nn.AdamWeightDecay(net.trainable_params(), 1e-2)
step = ms.value_and_grad(lambda: {loss}[0], None, optimizer.parameters)
net.set_train()
losses = []
for _ in range(10):
    loss, gradients = step()
    optimizer(gradients)
    losses.append(float(loss.asnumpy()))
print(losses)
assert losses[-1] < losses[0]
net.set_train(False)
{use}
"""
YOLO = (
    "yolov3/yolov3", "yolov4/yolov4", "yolov5/yolov5n", "yolov7/yolov7-tiny", "yolov8/yolov8n",
    "yolov9/yolov9-t", "yolov10/yolov10n", "yolov11/yolov11-n", "yolox/yolox-nano",
)  # fmt: skip
# A BERT of two layers.
BERT = {
    "batch_size: 32": "batch_size: 2",
    "vocab_size: 21128": "vocab_size: 1000",
    "hidden_size: 768": "hidden_size: 32",
    "num_hidden_layers: 12": "num_hidden_layers: 2",
    "num_attention_heads: 12": "num_attention_heads: 2",
    "intermediate_size: 3072": "intermediate_size: 64",
}
CIFAR = ("cifar10",)
IMAGENET = ("imagenet",)
PROGRAMS = {
    **{f"mindyolo/{config.split('/')[1]}": yolo(config) for config in YOLO},
    # Its head wants the best 300 of all places.
    "mindyolo/yolov10n": yolo("yolov10/yolov10n", 160),
    # Its loss is made for pictures of 416.
    "mindyolo/yolox-nano": yolo(
        "yolox/yolox-nano",
        416,
        edits={
            "configs/yolox/hyp.scratch.yaml": {
                "warmup_epochs: 5": "warmup_epochs: 0",
                "cooldown_epochs: 15": "cooldown_epochs: 0",
            }
        },
    ),
    "mindocr/dbnet": detection("det/dbnet/db_r18_icdar15"),
    "mindocr/dbnet_mobile": detection("det/dbnet/db_mobilenetv3_icdar15"),
    "mindocr/dbnetpp": detection(
        "det/dbnet/dbpp_r50_icdar15",
        "model.pretrained=null",
        sizes={"[ 640, 640 ]": "[ 128, 128 ]", "[ 1152, 2048]": "[ 128, 128 ]"},
    ),
    "mindocr/east": detection(
        "det/east/east_r50_icdar15", sizes={"target_size: [720, 1280]": "target_size: [128, 128]"}
    ),
    "mindocr/psenet": detection("det/psenet/pse_mv3_icdar15", sizes={"[ 640,640 ]": "[ 128,128 ]"}),
    "mindocr/crnn": recognition("rec/crnn/crnn_resnet34", (2, 3, 32, 100), 64),
    "mindocr/crnn_vgg7": recognition("rec/crnn/crnn_vgg7", (2, 3, 32, 100), 16),
    "mindocr/svtr": recognition("rec/svtr/svtr_tiny", (2, 3, 64, 256), 512),
    "mindocr/rare": recognition("rec/rare/rare_resnet34", (2, 3, 32, 100), 512),
    "mindocr/master": recognition("rec/master/master_resnet31", (2, 3, 48, 160), 512),
    "mindocr/robustscanner": recognition(
        "rec/robustscanner/robustscanner_resnet31", (2, 3, 48, 160), 64
    ),
    "mindocr/visionlan": recognition("rec/visionlan/visionlan_resnet45_LF_1", (2, 3, 64, 256), 192),
    "mindocr/abinet": recognition("rec/abinet/abinet_resnet45_en", (2, 3, 32, 128), 96),
    "models/resnet18": official(
        "cv/ResNet",
        "train.py --config_path config/resnet18_cifar10_config.yaml --device_target CPU "
        "--data_path data/cifar10/cifar-10-batches-bin --batch_size 2 --epoch_size 1 "
        "--warmup_epochs 0 --train_image_size 64 --output_dir out --save_checkpoint_epochs 1",
        "eval.py --config_path config/resnet18_cifar10_config.yaml --device_target CPU "
        "--data_path data/cifar10/cifar-10-verify-bin --batch_size 2 --eval_image_size 64 "
        "--checkpoint_file_path {newest *.ckpt}",
        "from src.resnet import resnet18\nnet, inputs = resnet18(10), [x(2, 3, 64, 64)]",
        data=CIFAR,
    ),
    "models/resnet50": official(
        "cv/ResNet",
        "train.py --config_path config/resnet50_imagenet2012_config.yaml --device_target CPU "
        "--data_path data/imagenet/train --batch_size 2 --epoch_size 1 --warmup_epochs 0 "
        "--train_image_size 64 --output_dir out --save_checkpoint_epochs 1 --class_num 10",
        "eval.py --config_path config/resnet50_imagenet2012_config.yaml --device_target CPU "
        "--data_path data/imagenet/val --batch_size 2 --eval_image_size 64 --class_num 10 "
        "--checkpoint_file_path {newest *.ckpt}",
        "from src.resnet import resnet50\nnet, inputs = resnet50(10), [x(2, 3, 64, 64)]",
        data=IMAGENET,
    ),
    "models/efficientnet_b0": official(
        "cv/Efficientnet/efficientnet-b0",
        "train.py --config_path efficientnet_b0_cifar10_config.yaml --platform CPU "
        "--data_path data/cifar10/cifar-10-batches-bin --batch_size 2 --epochs 1 --workers 1 "
        "--resize_value 64",
        "eval.py --config_path efficientnet_b0_cifar10_config.yaml --platform CPU "
        "--data_path data/cifar10/cifar-10-verify-bin --batch_size 2 --workers 1 "
        "--resize_value 64 --checkpoint {newest *.ckpt}",
        "from src.config import config\nfrom src.efficientnet import efficientnet_b0\n"
        "net = efficientnet_b0(num_classes=10, cfg=config, drop_rate=0.2, drop_connect_rate=0.2,"
        " global_pool='avg', bn_tf=False)\ninputs = [x(2, 3, 64, 64)]",
        data=CIFAR,
    ),
    "models/inceptionv3": official(
        "cv/Inception/inceptionv3",
        "train.py --config_path default_config_cpu.yaml --dataset_path data/cifar10 "
        "--batch_size 2 --epoch_size 1 --work_nums 1 --ckpt_path out",
        "eval.py --config_path default_config_cpu.yaml --dataset_path data/cifar10 "
        "--batch_size 2 --work_nums 1 --checkpoint {newest *.ckpt}",
        "from src.inception_v3 import InceptionV3\n"
        "net, inputs = InceptionV3(num_classes=10), [x(2, 3, 299, 299)]",
        data=CIFAR,
    ),
    "models/inceptionv4": official(
        "cv/Inception/inceptionv4",
        "train.py --platform CPU --ds_type cifar10 --dataset_path data/cifar10 --batch_size 2 "
        "--epoch_size 1 --work_nums 1 --num_classes 10 --ds_sink_mode False "
        "--save_checkpoint_epochs 1",
        "eval.py --platform CPU --ds_type cifar10 --dataset_path data/cifar10 --batch_size 2 "
        "--work_nums 1 --num_classes 10 --ds_sink_mode False --checkpoint_path {newest *.ckpt}",
        "from src.inceptionv4 import Inceptionv4\n"
        "net, inputs = Inceptionv4(classes=10), [x(2, 3, 299, 299)]",
        data=CIFAR,
    ),
    "models/xception": official(
        "cv/Inception/xception",
        "train.py --device_target GPU --train_data_dir data/imagenet/train --is_fp32 True",
        "eval.py --device_target GPU --test_data_dir data/imagenet/val "
        "--checkpoint_path {newest *.ckpt}",
        "from src.Xception import xception\nnet, inputs = xception(10), [x(2, 3, 299, 299)]",
        data=IMAGENET,
        edits={
            "default_config.yaml": {
                "batch_size: 64": "batch_size: 4",
                "epoch_size: 250": "epoch_size: 1",
                "class_num: 1000": "class_num: 10",
                "warmup_epochs: 1": "warmup_epochs: 0",
            }
        },
    ),
    "models/mobilenetv1": official(
        "cv/MobileNet/mobilenetv1",
        "train.py --device_target CPU --dataset_path data/cifar10/cifar-10-batches-bin "
        "--batch_size 2 --epoch_size 1 --warmup_epochs 0 --save_checkpoint_epochs 1",
        "eval.py --device_target CPU --dataset_path data/cifar10/cifar-10-verify-bin "
        "--batch_size 2 --checkpoint_path {newest *.ckpt}",
        "from src.mobilenet_v1 import mobilenet_v1\n"
        "net, inputs = mobilenet_v1(class_num=10), [x(2, 3, 64, 64)]",
        data=CIFAR,
    ),
    "models/mobilenetv2": official(
        "cv/MobileNet/mobilenetv2",
        "train.py --platform CPU --config_path default_config_cpu.yaml "
        "--dataset_path data/imagenet --batch_size 2 --epoch_size 1 --num_workers 1 "
        "--image_height 64 --image_width 64 --num_classes 10",
        "eval.py --platform CPU --config_path default_config_cpu.yaml "
        "--dataset_path data/imagenet --batch_size 2 --num_workers 1 --image_height 64 "
        "--image_width 64 --num_classes 10 --pretrain_ckpt {newest *.ckpt}",
        "from src.model_utils.config import config\nfrom src.models import define_net\n"
        "config.num_classes = 10\nnet, inputs = define_net(config, True)[2], [x(2, 3, 64, 64)]",
        data=IMAGENET,
    ),
    "models/mobilenetv3": official(
        "cv/MobileNet/mobilenetv3",
        "train.py --device_target CPU --dataset_path data/cifar10/cifar-10-batches-bin",
        "eval.py --device_target CPU --dataset_path data/cifar10/cifar-10-verify-bin "
        "--checkpoint_path {newest *.ckpt}",
        "from src.mobilenetV3 import mobilenet_v3_large\n"
        "net, inputs = mobilenet_v3_large(num_classes=10), [x(2, 3, 64, 64)]",
        data=CIFAR,
        edits={
            "src/config.py": {
                '"batch_size": 32': '"batch_size": 2',
                '"epoch_size": 120': '"epoch_size": 1',
                '"warmup_epochs": 5': '"warmup_epochs": 0',
            }
        },
    ),
    "models/shufflenetv1": official(
        "cv/ShuffleNet/shufflenetv1",
        "train.py --device_target CPU --train_dataset_path data/imagenet/train --batch_size 2 "
        "--epoch_size 1 --num_classes 10 --amp_level O0 --model_size 0.5x",
        "eval.py --device_target CPU --eval_dataset_path data/imagenet/val --batch_size 2 "
        "--num_classes 10 --model_size 0.5x --ckpt_path {newest *.ckpt}",
        "from src.shufflenetv1 import ShuffleNetV1\n"
        "net, inputs = ShuffleNetV1(model_size='0.5x', n_class=10), [x(2, 3, 224, 224)]",
        data=IMAGENET,
    ),
    "models/shufflenetv2": official(
        "cv/ShuffleNet/shufflenetv2",
        "train.py --platform GPU --dataset_path data/imagenet --overwrite_config True "
        "--epoch_size 1 --num_classes 10 --train_batch_size 2 --use_pynative_mode True",
        "eval.py --platform GPU --dataset_path data/imagenet --checkpoint {newest *.ckpt}",
        "from src.shufflenetv2 import ShuffleNetV2\n"
        "net, inputs = ShuffleNetV2(n_class=10), [x(2, 3, 224, 224)]",
        data=IMAGENET,
        edits={
            "src/config.py": {
                "'num_classes': 1000": "'num_classes': 10",
                "'val_batch_size': 128": "'val_batch_size': 2",
                "'work_nums': 8": "'work_nums': 1",
            }
        },
    ),
    "models/vgg16": official(
        "cv/VGG/vgg16",
        "train.py --config_path cifar10_config.yaml --device_target GPU --data_dir data/cifar10 "
        "--batch_size 2 --max_epoch 1 --warmup_epochs 0 --ckpt_interval 1 --lr_max 0.001 "
        "--output_path out",
        "eval.py --config_path cifar10_config.yaml --device_target GPU --data_dir data/cifar10 "
        "--batch_size 2 --pre_trained {newest *.ckpt} --output_path out",
        "from model_utils.moxing_adapter import config\nfrom src.vgg import vgg16\n"
        "net, inputs = vgg16(10, config), [x(2, 3, 224, 224)]",
        data=CIFAR,
    ),
    "models/vgg19": official(
        "cv/VGG/vgg19",
        "train.py --config_path cifar10_config.yaml --device_target GPU --data_dir data/cifar10 "
        "--batch_size 2 --max_epoch 1 --warmup_epochs 0 --ckpt_interval 1 --lr_max 0.001 "
        "--output_path out",
        "eval.py --config_path cifar10_config.yaml --device_target GPU --data_dir data/cifar10 "
        "--batch_size 2 --pre_trained {newest *.ckpt} --output_path out",
        "from model_utils.moxing_adapter import config\nfrom src.vgg import vgg19\n"
        "config.image_size = [224, 224]\nnet, inputs = vgg19(10, config), [x(2, 3, 224, 224)]",
        data=CIFAR,
    ),
    "models/vit": official(
        "cv/VIT",
        "train.py --config_path config/vit_patch32_imagenet2012_config_standalone.yml "
        "--dataset_path data/imagenet/train --eval_path data/imagenet/val --batch_size 2 "
        "--eval_batch_size 2 --max_epoch 1 --warmup_epochs 0 --class_num 1001 "
        "--train_num_workers 1 --eval_num_workers 1 --save_checkpoint_epochs 1 --mixup 0.2",
        "eval.py --config_path config/vit_eval.yml --eval_path data/imagenet/val "
        "--eval_batch_size 2 --class_num 1001 --eval_num_workers 1 --pretrained {newest *.ckpt}",
        "from src.model_utils.config import config\nfrom src.vit import get_network\n"
        "net, inputs = get_network(config.backbone, config), [x(2, 3, 224, 224)]",
        data=IMAGENET,
    ),
    "models/swin": official(
        "cv/SwinTransformer",
        "train.py --swin_config=src/configs/swin_tiny_patch4_window7_224.yaml "
        "--data_url=data/imagenet --device_target=GPU --epochs=1 --batch-size=2 "
        "--num_parallel_workers=1 --num_classes=10",
        "eval.py --swin_config=src/configs/swin_tiny_patch4_window7_224.yaml "
        "--data_url=data/imagenet --device_target=GPU --pretrained={newest *.ckpt}",
        "from src.args import args\nfrom src.tools.get_misc import get_model\n"
        "net, inputs = get_model(args), [x(2, 3, 224, 224)]",
        data=IMAGENET,
        edits={
            "src/configs/swin_tiny_patch4_window7_224.yaml": {
                "warmup_length: 20": "warmup_length: 0",
                "depths: [ 2, 2, 6, 2 ]": "depths: [ 1, 1, 1, 1 ]",
                "batch_size: 128": "batch_size: 2",
                "num_classes: 1000": "num_classes: 10",
                "epochs: 300": "epochs: 1",
                "num_parallel_workers: 16": "num_parallel_workers: 1",
                "device_target: Ascend": "device_target: GPU",
            }
        },
    ),
    "models/wgan": official(
        "cv/WGAN",
        "train.py --device_target CPU --dataset cifar10 --batchSize 2 --imageSize 64 --niter 1 "
        "--dataroot data/cifar10/cifar-10-batches-bin --workers 1 --ngf 8 --ndf 8",
        "eval.py --device_target CPU --config samples/generator_config.json --nimages 1 "
        "--ckpt_file {newest netG*.ckpt} --output_dir samples",
        "from src.dcgan_model import DcganG\n"
        "net, inputs = DcganG(64, 100, 3, 8, 0), [x(2, 100, 1, 1)]",
        data=CIFAR,
    ),
    "models/cyclegan": official(
        "cv/CycleGAN",
        "train.py --platform CPU --model ResNet --image_size 64 --max_epoch 1 --n_epochs 1 "
        "--dataroot data/pairs --ngf 8 --ndf 8 --gl_num 2 --save_checkpoint_epochs 1 "
        "--print_iter 1 --outputs_dir out",
        "eval.py --platform CPU --model ResNet --image_size 64 --dataroot data/pairs --ngf 8 "
        "--gl_num 2 --outputs_dir out --G_A_ckpt {newest G_A*.ckpt} --G_B_ckpt {newest G_B*.ckpt}",
        "from src.utils.args import get_args\nfrom src.models.cycle_gan import get_generator\n"
        "net, inputs = get_generator(get_args('train')), [x(1, 3, 64, 64)]",
        data=("pairs",),
    ),
    "models/edsr": official(
        "cv/EDSR",
        "train.py --config_path DIV2K_config.yaml --device_target CPU --data_path data/div2k "
        "--batch_size 2 --patch_size 64 --epoch_size 1 --scale 2 --n_feats 8 --n_resblocks 2 "
        "--save_epoch_frq 1 --amp_level O0 --dataset_sink_mode False",
        "eval.py --config_path DIV2K_config.yaml --device_target CPU --data_path data/div2k "
        "--scale 2 --n_feats 8 --n_resblocks 2 --pre_trained {newest *.ckpt}",
        "from model_utils.config import config\nfrom src.utils import init_net\n"
        "net, inputs = init_net(config), [x(2, 3, 32, 32)]",
        data=("div2k",),
        edits={"DIV2K_config.yaml": {"milestones: [4000]": "milestones: [1]"}},
    ),
    "models/unet_simple": official(
        "cv/Unet",
        "train.py --config_path unet_nested_cell_config.yaml --device_target CPU "
        "--model_name unet_simple --data_path data/masks --batch_size 2 --epochs 1 --repeat 1 "
        "--output_path out --run_eval False",
        "eval.py --config_path unet_nested_cell_config.yaml --device_target CPU "
        "--model_name unet_simple --data_path data/masks --checkpoint_file_path {newest *.ckpt}",
        "from src.unet_nested import UNet\nnet, inputs = UNet(in_channel=3), [x(2, 3, 96, 96)]",
        data=("masks",),
        edits={"unet_nested_cell_config.yaml": {"image_size: [96, 96]": "image_size: [64, 64]"}},
    ),
    "models/ssd300": official(
        "cv/SSD",
        "train.py --device_target CPU --data_path data --coco_root coco --batch_size 2 "
        "--epoch_size 1 --warmup_epochs 0 --output_path out --save_checkpoint_epochs 1",
        "eval.py --device_target CPU --data_path data --coco_root coco "
        "--checkpoint_file_path {newest *.ckpt}",
        "from src.model_utils.config import config\nfrom src.ssd import SSD300, ssd_mobilenet_v2\n"
        "net, inputs = SSD300(ssd_mobilenet_v2(), config), [x(2, 3, 300, 300)]",
        data=("coco",),
    ),
    "models/deepfm": official(
        "recommend/DeepFM",
        "train.py --device_target CPU --dataset_path data/click_logs --batch_size 2000 "
        "--train_epochs 1 --data_vocab_size 1000 --data_emb_dim 4 --ckpt_path out",
        "eval.py --device_target CPU --dataset_path data/click_logs --batch_size 2000 "
        "--data_vocab_size 1000 --data_emb_dim 4 --checkpoint_path {newest *.ckpt}",
        "from src.deepfm import DeepFMModel\nfrom src.model_utils.config import config\n"
        "config.convert_dtype, config.batch_size = False, 2000\n"
        "net, inputs = DeepFMModel(config), [n(1000, 2000, 39), x(2000, 39)]",
        data=("click_logs",),
    ),
    "models/wide_and_deep": official(
        "recommend/Wide_and_Deep",
        "train_and_eval.py --device_target CPU --data_path data/click_logs --batch_size 2000 "
        "--eval_batch_size 2000 --epochs 1 --vocab_size 1000 --emb_dim 4",
        "eval.py --device_target CPU --data_path data/click_logs --batch_size 2000 "
        "--vocab_size 1000 --emb_dim 4 --ckpt_path {newest *.ckpt}",
        "from src.wide_and_deep import WideDeepModel\nfrom src.model_utils.config import config\n"
        "config.convert_dtype, config.batch_size = False, 2000\n"
        "net, inputs = WideDeepModel(config), [n(1000, 2000, 39), x(2000, 39)]",
        data=("click_logs",),
    ),
    "models/lstm": official(
        "nlp/LSTM",
        "train.py --device_target CPU --preprocess_path data/reviews --batch_size 2 "
        "--num_epochs 1 --num_hiddens 16 --ckpt_path out",
        "eval.py --device_target CPU --preprocess_path data/reviews --batch_size 2 "
        "--num_hiddens 16 --ckpt_file {newest *.ckpt}",
        "from src.lstm import SentimentNet\n"
        "net = SentimentNet(60, 300, 16, 2, True, 2, ms.Tensor(x(60, 300)), 2)\n"
        "inputs = [n(60, 2, 500)]",
        data=("reviews",),
    ),
    "models/bert_pretrain": official(
        "nlp/Bert",
        "run_pretrain.py --config_path ../../pretrain_config.yaml --device_target GPU "
        "--epoch_size 1 "
        "--data_dir data/masked_language --enable_lossscale true --save_checkpoint_steps 5 "
        "--save_checkpoint_path out",
        "pretrain_eval.py --config_path ../../pretrain_config.yaml --device_target GPU "
        "--eval_data_dir data/masked_language --eval_ckpt {newest *.ckpt}",
        "from src.model_utils.config import bert_net_cfg\nfrom src import BertNetworkWithLoss\n"
        "bert_net_cfg.compute_type = ms.float32\nnet = BertNetworkWithLoss(bert_net_cfg, False)\n"
        "inputs = [n(1000, 2, 128), n(2, 2, 128) * 0 + 1, n(2, 2, 128), n(2, 2, 1), n(128, 2, 20),"
        " n(1000, 2, 20), abs(x(2, 20))]",
        data=("masked_language",),
        edits={"pretrain_config.yaml": BERT},
    ),
    "models/transformer": official(
        "nlp/Transformer",
        "train.py --device_target GPU --data_path data/translation/train --batch_size 2 "
        "--epoch_size 1 --vocab_size 500 --hidden_size 32 --num_hidden_layers 2 "
        "--num_attention_heads 2 --intermediate_size 64 --save_checkpoint_path out",
        "eval.py --device_target GPU --data_file data/translation/test --vocab_size 500 "
        "--hidden_size 32 --num_hidden_layers 2 --num_attention_heads 2 "
        "--intermediate_size 64 --model_file {newest *.ckpt}",
        data=("translation",),
    ),
    "mindpose/simple_baseline": pose("simple_baseline/resnet50_ascend"),
    "mindpose/hrnet": pose("hrnet/hrnet_w32_ascend"),
    "mindpose/udp": pose("udp/hrnet_w32_udp_ascend"),
    "models/yolov5": official(
        "cv/YOLOv5",
        "train.py --device_target CPU --data_dir data/coco --per_batch_size 2 --max_epoch 1 "
        "--warmup_epochs 0 --T_max 1 --run_eval False --output_dir out --bind_cpu False "
        "--log_interval 1",
        "eval.py --device_target CPU --data_dir data/coco --per_batch_size 2 "
        "--pretrained {newest *.ckpt}",
        "from model_utils.config import config\nfrom src.yolo import YOLOV5\n"
        "net = YOLOV5(is_training=True, version=0)\n"
        "inputs = [x(2, 12, 32, 32), np.array([64, 64], np.int32)]",
        data=("coco",),
        edits={"default_config.yaml": {"test_img_shape: [640, 640]": "test_img_shape: [64, 64]"}},
    ),
    "models/pointnet2": official(
        "cv/PointNet2",
        "train.py --platform GPU --batch_size 2 --epoch 1 --data_path data/modelnet "
        "--num_point 64 --save_dir out --loss_per_epoch 1",
        "eval.py --platform GPU --batch_size 2 --data_path data/modelnet --num_point 64 "
        "--pretrained_ckpt {newest *.ckpt}",
        "from src.pointnet2 import PointNet2\nnet, inputs = PointNet2(40), [x(2, 64, 3)]",
        data=("modelnet",),
    ),
    "mindnlp/bert": nlp(
        "net = of.BertForSequenceClassification(of.BertConfig(vocab_size=100, hidden_size=32, "
        "num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))\ninputs = [ids]",
        "net(ids, labels=ms.Tensor([0, 1]))",
    ),
    "mindnlp/gpt2": nlp(
        "net = of.GPT2LMHeadModel(of.GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=2, "
        "n_positions=64))\ninputs = [ids]",
        "net(ids, labels=ids)",
        "print(net.generate(ids, max_length=16, do_sample=False, pad_token_id=0))",
    ),
    "mindnlp/t5": nlp(
        "net = of.T5ForConditionalGeneration(of.T5Config(vocab_size=100, d_model=32, d_kv=16, "
        "d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0))\n"
        "inputs = [ids, None, ids]",
        "net(input_ids=ids, labels=ids)",
        "print(net.generate(ids, max_length=8, do_sample=False))",
    ),
    "mindnlp/llama": nlp(
        "net = of.LlamaForCausalLM(of.LlamaConfig(vocab_size=100, hidden_size=32, "
        "intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))\ninputs = [ids]",
        "net(input_ids=ids, labels=ids)",
        "print(net.generate(ids, max_length=16, do_sample=False, pad_token_id=0))",
    ),
    "models/gpt": official(
        "nlp/GPT",
        "train.py --data_path data/words --epoch_size 1 --sink_size 5 --model_parallel_num 1",
        build="from src.gpt import GPT\nfrom src.utils import GPTConfig\n"
        "net = GPT(GPTConfig(2, 32, 50257, 32, 2, 2))\n"
        "inputs = [n(500, 2, 32), n(1, 2, 32).astype(np.float32) + 1]",
        data=("words",),
        edits={
            "train.py": {
                "batch_size=4": "batch_size=2",
                "seq_length=1024": "seq_length=32",
                "embedding_size=1024": "embedding_size=32",
                "num_layers=24": "num_layers=2",
                "num_heads=16": "num_heads=2",
            }
        },
    ),
}
