# SPDX-License-Identifier: Apache-2.0
"""The table of public programs: where each is, how it is run, and what stands in for its data."""

from __future__ import annotations

from typing import NamedTuple

CIFAR = ("cifar10",)
IMAGENET = ("imagenet",)


class Program(NamedTuple):
    """One program and how it is run, from its own folder.

    `repository` is "owner/name" on GitHub, or a package of the index, `commit` then its version.

    `train` and `evaluate` are a script and its arguments; in them `{newest PATTERN}` is the newest
    file of that pattern. `build` leaves `net` and `inputs` (arrays), from `x` (normal values) and
    `n` (whole numbers below a bound). `data` names makers of data.py, which fill `data/<name>`.
    `files` are configurations written before the run, `copies` (target: source) are of the
    program's own; `edits` change figures in a configuration. With several `processes`, `train` is
    run by `msrun`.
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
    copies: dict[str, str] = {}
    edits: dict[str, dict[str, str]] = {}
    processes: int = 1


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


def audio(name: str, build: str, changes: dict, trained: dict, **more) -> Program:
    """An example of mindaudio; its folder is beside the package that it imports."""
    config, later = f"examples/{name}/{name}.yaml", f"examples/{name}/later.yaml"
    return Program(
        "mindspore-lab/mindaudio",
        "4c7b609f09211bf3c699b97ebbfcced022ffcdc9",
        ".",
        words(f"examples/{name}/train.py --config {config} --device_target CPU"),
        words(f"examples/{name}/eval.py --config {later} --device_target CPU"),
        build,
        copies={later: config},
        # The configuration names the file of weights: none before there is one.
        edits={config: changes, later: changes | trained},
        **more,
    )


def in_files(config: str, labels: str, shape: tuple[int, ...], *changes: str, **more) -> Program:
    """A configuration of mindocr that reads words or their direction from files."""
    places = [
        f"{part}.dataset.{key}={value}"
        for part in ("train", "eval")
        for key, value in (
            ("dataset_root", "data/words_in_files"),
            ("data_dir", "images"),
            ("label_file", labels),
        )
    ]
    return ocr(
        config, "eval.loader.batch_size=2", *changes, *places, data=("words_in_files",),
        build=f"inputs = [x{shape}]", **more,
    )  # fmt: skip


def nlp(network: str, loss: str, use: str = "", version: str = "0.2.4") -> Program:
    """A tiny network of mindnlp, and the lines of a newcomer that train it and use it."""
    newcomer = NEWCOMER if version < "0.4" else NEWCOMER_4
    build = f"import mindnlp.transformers as of\nids = n(90, 2, 12).astype(np.int64) + 3\n{network}"
    return Program(
        "mindnlp", version, ".", ("newcomer.py",), build=build if version < "0.4" else "",
        files={"newcomer.py": newcomer.format(network=network, loss=loss, use=use)},
    )  # fmt: skip


def cv(config: str, size: int, processes: int = 1, more: str = "") -> Program:
    """A configuration of mindcv on pictures of ten kinds, in batches of two."""
    options = f"-c configs/{config}.yaml --data_dir data/imagenet --batch_size 2 --num_classes 10 "
    options += f"--num_parallel_workers 1 --image_resize {size} "
    return Program(
        "mindspore-lab/mindcv",
        "51b0636da1e38a44a52edf76cf314d1c7c18883a",
        ".",
        words(
            f"train.py {options} --distribute {processes > 1} --epoch_size 1 --warmup_epochs 0 "
            f"--decay_epochs 1 --ckpt_save_dir out {more}"
        ),
        # One process evaluates the same however it was trained.
        ()
        if processes > 1
        else words(f"validate.py {options} --device_target CPU --ckpt_path {{newest *.ckpt}}"),
        f"""
import yaml
from mindcv.models import create_model
cfg = yaml.safe_load(open("configs/{config}.yaml"))
net, inputs = create_model(cfg["model"], num_classes=10), [x(2, 3, {size}, {size})]
""",
        IMAGENET,
        processes=processes,
    )


def rec(folder: str, train: str, evaluate: str, build: str = "") -> Program:
    """A network of mindrec that says who clicks."""
    return Program(
        "mindspore-lab/mindrec",
        "402f157eb4782c9c5a37ce62b127b0100bafebce",
        # The package that its scripts import is beside the folder of models.
        ".",
        words(f"models/{folder}/{train}"),
        words(f"models/{folder}/{evaluate}"),
        build,
        ("click_logs",),
    )


def rl(name: str, changes: dict[str, str], episodes: int = 20) -> Program:
    """An example of mindrl that balances a pole, a few episodes long."""
    options = "--env_yaml example/env_yaml/CartPole-v0.yaml --device_target CPU"
    return Program(
        "mindspore-lab/mindrl",
        "7f55a67f90d248e8c535a2b6e61a6d68ca2c3c2d",
        ".",
        words(f"example/{name}/train.py {options} --episode {episodes}"),
        words(f"example/{name}/eval.py {options} --ckpt_path {{newest *.ckpt}}"),
        edits={f"mindspore_rl/algorithm/{name}/config.py": changes},
    )


def one(network: str, loss: str, use: str = "") -> Program:
    """A tiny network of mindone, and the lines of a newcomer that train it and use it."""
    build = f"{BEFORE_ONE}\n{network}"
    script = ONE.format(before=BEFORE_ONE, network=network, loss=loss, use=use)
    return Program(
        "mindone", "0.5.0", ".", ("newcomer.py",), build=build, files={"newcomer.py": script}
    )


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
# The same with mindnlp 0.4, whose Parameters, derivatives and optimisers are its own.
NEWCOMER_4 = """
import mindnlp.transformers as of
import mindspore as ms
import numpy as np
from mindnlp.core import optim
from mindnlp.core.autograd import value_and_grad

ids = ms.Tensor(np.random.RandomState(0).randint(3, 93, (2, 12)), ms.int64)
ms.set_seed(0)
{network}
net.train()
optimizer = optim.AdamW(net.parameters(), lr=1e-2)
weights = tuple(net.parameters())
step = value_and_grad(lambda: {loss}[0], weights, attach_grads=False)
losses = []
for _ in range(10):
    loss, gradients = step()
    for weight, gradient in zip(weights, gradients):
        weight.grad = gradient
    optimizer.step()
    losses.append(float(loss.asnumpy()))
print(losses)
assert losses[-1] < losses[0]
net.eval()
{use}
"""
# The same with a network of mindone.
BEFORE_ONE = """
import mindone.diffusers as of
import mindspore as ms
import numpy as np

ms.set_seed(0)
random = np.random.RandomState(0)
def normal(*shape):
    return ms.Tensor(random.normal(size=shape).astype(np.float32))
def whole(high, *shape):
    return ms.Tensor(random.randint(0, high, shape), ms.int64)
"""
ONE = """
{before}
{network}
optimizer = ms.nn.AdamWeightDecay(net.trainable_params(), 1e-3)
step = ms.value_and_grad(lambda: {loss}, None, optimizer.parameters)
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
# Tiny networks of mindnlp: their lines, the loss, and what is done with them after training.
LANGUAGE = {
    "bart": (
        "net = of.BartForConditionalGeneration(of.BartConfig(vocab_size=100, d_model=32, "
        "encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_ffn_dim=64, "
        "decoder_attention_heads=2, encoder_ffn_dim=64, max_position_embeddings=64))\n"
        "inputs = [ids]",
        "net(input_ids=ids, labels=ids)",
        "print(net.generate(ids, max_length=8, do_sample=False, num_beams=1))",
    ),
    "opt": (
        "net = of.OPTForCausalLM(of.OPTConfig(vocab_size=100, hidden_size=32, ffn_dim=64, "
        "num_hidden_layers=2, num_attention_heads=2, word_embed_proj_dim=32, "
        "max_position_embeddings=64))\ninputs = [ids]",
        "net(input_ids=ids, labels=ids)",
        "print(net.generate(ids, max_length=16, do_sample=False))",
    ),
    "roberta": (
        "net = of.RobertaForSequenceClassification(of.RobertaConfig(vocab_size=100, "
        "hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))\n"
        "inputs = [ids]",
        "net(ids, labels=ms.Tensor([0, 1]))",
    ),
    "bert": (
        "net = of.BertForSequenceClassification(of.BertConfig(vocab_size=100, hidden_size=32, "
        "num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))\ninputs = [ids]",
        "net(ids, labels=ms.Tensor([0, 1]))",
    ),
    "gpt2": (
        "net = of.GPT2LMHeadModel(of.GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=2, "
        "n_positions=64))\ninputs = [ids]",
        "net(ids, labels=ids)",
        "print(net.generate(ids, max_length=16, do_sample=False, pad_token_id=0))",
    ),
    "t5": (
        "net = of.T5ForConditionalGeneration(of.T5Config(vocab_size=100, d_model=32, d_kv=16, "
        "d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0))\n"
        "inputs = [ids, None, ids]",
        "net(input_ids=ids, labels=ids)",
        "print(net.generate(ids, max_length=8, do_sample=False))",
    ),
    "llama": (
        "net = of.LlamaForCausalLM(of.LlamaConfig(vocab_size=100, hidden_size=32, "
        "intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))\ninputs = [ids]",
        "net(input_ids=ids, labels=ids)",
        "print(net.generate(ids, max_length=16, do_sample=False, pad_token_id=0))",
    ),
}
YOLO = (
    "yolov3/yolov3", "yolov4/yolov4", "yolov5/yolov5n", "yolov7/yolov7-tiny", "yolov8/yolov8n",
    "yolov9/yolov9-t", "yolov10/yolov10n", "yolov11/yolov11-n", "yolox/yolox-nano",
)  # fmt: skip
# A BERT of two layers.
BERT = {
    "base_batch_size: 256": "base_batch_size: 2",
    "vocab_size: 21128": "vocab_size: 1000",
    "hidden_size: 768": "hidden_size: 32",
    "num_hidden_layers: 12": "num_hidden_layers: 2",
    "num_attention_heads: 12": "num_attention_heads: 2",
    "intermediate_size: 3072": "intermediate_size: 64",
}
WIDER_FACE = {
    "'warmup_epoch': 5": "'warmup_epoch': 0",
    "'val_origin_size': False": "'val_origin_size': True",
}
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
    # Its weights to begin with are on a server.
    "mindocr/abinet": recognition(
        "rec/abinet/abinet_resnet45_en", (2, 3, 32, 128), 96, changes=("model.pretrained=null",)
    ),
    "mindocr/dbnet_r50": detection("det/dbnet/db_r50_icdar15"),
    "mindocr/east_mobile": detection(
        "det/east/east_mobilenetv3_icdar15",
        sizes={"target_size: [720, 1280]": "target_size: [128, 128]"},
    ),
    "mindocr/crnn_icdar15": in_files(
        "rec/crnn/crnn_icdar15",
        "said.txt",
        (2, 3, 32, 100),
        "model.pretrained=null",
        edits={"configs/rec/crnn/crnn_icdar15.yaml": {"&batch_size 16": "&batch_size 2"}},
    ),
    "mindocr/direction": in_files(
        "cls/mobilenetv3/cls_mv3",
        "turned.txt",
        (2, 3, 48, 192),
        "model.backbone.pretrained=False",
        "scheduler.warmup_epochs=0",
        "scheduler.decay_epochs=1",
    ),
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
    "models/yolov3": official(
        "cv/YOLOv3",
        "train.py --device_target CPU --data_dir data/coco2014 --per_batch_size 2 --max_epoch 1 "
        "--is_distributed 0 --pretrained_backbone= --training_shape 64 --T_max 1 "
        "--lr_scheduler cosine_annealing --log_interval 1",
        "eval.py --device_target CPU --data_dir data/coco2014 --per_batch_size 2 "
        "--is_distributed 0 --testing_shape 64 --eval_ignore_threshold 0.0 "
        "--pretrained {newest *.ckpt}",
        "from src.yolo import YOLOV3DarkNet53\n"
        "net, inputs = YOLOV3DarkNet53(is_training=True), [x(2, 3, 64, 64)]",
        data=("coco2014",),
    ),
    "models/yolov4": official(
        "cv/YOLOv4",
        "train.py --config_path cpu_default_config.yaml --device_target CPU --data_dir data/coco "
        "--per_batch_size 2 --max_epoch 1 --warmup_epochs 0 --t_max 1 --log_interval 1",
        # The configuration for CPUs lacks what this script reads.
        "eval.py --device_target CPU --data_dir data/coco --is_distributed 0 "
        "--per_batch_size 2 --eval_ignore_threshold 0.0 --pretrained {newest *.ckpt}",
        "from src.yolo import YOLOV4CspDarkNet53\n"
        "net, inputs = YOLOV4CspDarkNet53(), [x(2, 3, 64, 64), np.array([64, 64], np.float32)]",
        data=("coco",),
        edits={
            "cpu_default_config.yaml": {
                "multi_scale: [[416, 416],": "multi_scale: [[64, 64],",
                "              [448, 448],\n              [480, 480],\n": "",
                "              [512, 512],\n              [544, 544],\n": "",
                "              [576, 576],\n              [608, 608],\n": "",
                "              [640, 640],\n              [672, 672],\n": "",
                "              [704, 704],\n              [736, 736]\n": "",
            },
            "default_config.yaml": {"test_img_shape: [608, 608]": "test_img_shape: [64, 64]"},
        },
    ),
    "models/efficientnet_b1": official(
        "cv/Efficientnet/efficientnet-b1",
        "train.py --device_target GPU --data_path data/imagenet/train --batchsize 2 --end_epoch 1 "
        "--total_epoch 1 --train_path out",
        "eval.py --device_target GPU --data_path data/imagenet/val "
        "--checkpoint_path {newest *.ckpt}",
        "from src.models.effnet import EfficientNet\n"
        "net, inputs = EfficientNet(1.0, 1.1, 0.2, 0.2, num_classes=10), [x(2, 3, 64, 64)]",
        data=IMAGENET,
        edits={
            "src/config.py": {
                '"num_classes": 1000': '"num_classes": 10',
                '"warmup_epochs": 2': '"warmup_epochs": 0',
                '"batchsize": 128': '"batchsize": 2',
                "(240, 240)": "(64, 64)",
            }
        },
    ),
    "models/pointnet": official(
        "cv/PointNet",
        "train.py --device_target CPU --batchSize 2 --nepoch 1 --data_url data/shapes "
        "--train_url out",
        "eval.py --device_target CPU --batchSize 2 --data_path data/shapes "
        "--model_path {newest *.ckpt}",
        "from src.network import PointNetDenseCls\n"
        "net, inputs = PointNetDenseCls(k=4), [x(2, 3, 2500)]",
        data=("shapes",),
    ),
    "models/crnn": official(
        "cv/CRNN",
        "train.py --device_target CPU --model_version V2 --train_dataset synth --batch_size 2 "
        "--train_dataset_path data/word_pictures --epoch_size 1 --save_checkpoint_steps 5 "
        "--output_dir out",
        "eval.py --device_target CPU --model_version V2 --eval_dataset synth "
        "--eval_dataset_path data/word_pictures --checkpoint_path {newest *.ckpt}",
        "from src.crnn import crnn\nfrom src.model_utils.config import config\n"
        "config.batch_size = 2\nnet, inputs = crnn(config, True), [x(2, 3, 32, 100)]",
        data=("word_pictures",),
    ),
    "models/melgan": official(
        "audio/MELGAN",
        "train.py --data_path data/voices/train/ --batch_size 2 --epoch_size 1 --save_steps 2 "
        "--device_id 0",
        "eval.py --eval_data_path data/voices/val/ --device_id 0 --output_path out/ "
        "--eval_model_path {newest *.ckpt}",
        "from src.model import Generator\nnet, inputs = Generator(0.2), [x(1, 80, 32)]",
        data=("voices",),
    ),
    "mindpose/simple_baseline": pose("simple_baseline/resnet50_ascend"),
    "mindpose/hrnet": pose("hrnet/hrnet_w32_ascend"),
    "mindpose/udp": pose("udp/resnet50_udp_ascend"),
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
        # After ten steps no box is sure of anything, and the script fails where it finds none.
        edits={
            "default_config.yaml": {
                "test_img_shape: [640, 640]": "test_img_shape: [64, 64]",
                "test_ignore_threshold: 0.001": "test_ignore_threshold: 0.0",
                "multi_label: True": "multi_label: False",
            }
        },
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
    "models/deeplabv3": official(
        "cv/DeepLabv3",
        "train.py --device_target CPU --data_file data/segments/train.mindrecord --batch_size 2 "
        "--crop_size 65 --train_epochs 1 --train_dir out --save_steps 2",
        "eval.py --device_target CPU --data_root data/segments --data_lst data/segments/val.txt "
        "--batch_size 2 --crop_size 65 --ckpt_path {newest *.ckpt}",
        "from src.nets import net_factory\n"
        "net = net_factory.nets_map['deeplab_v3_s16']('train', 21, 16, False)\n"
        "inputs = [x(2, 3, 65, 65)]",
        data=("segments",),
    ),
    "models/retinaface": official(
        "cv/RetinaFace_ResNet50",
        "train.py",
        "eval.py",
        "from src.network import RetinaFace, resnet50\n"
        "net, inputs = RetinaFace('train', resnet50(1001)), [x(2, 3, 160, 160)]",
        data=("wider_face",),
        edits={
            "src/config.py": WIDER_FACE
            | {
                "'batch_size': 8": "'batch_size': 2",
                "'num_workers': 4": "'num_workers': 1",
                "'num_anchor': 29126": "'num_anchor': 1050",
                "'image_size': 840": "'image_size': 160",
                "'epoch': 100": "'epoch': 1",
                "'save_checkpoint_steps': 2000": "'save_checkpoint_steps': 2",
                "'pretrain': True": "'pretrain': False",
                "./checkpoint/ckpt_0/RetinaFace-100_536.ckpt": "./checkpoint/RetinaFace-1_6.ckpt",
                "./data/widerface/": "./data/wider_face/",
                "./data/ground_truth/": "./data/wider_face/ground_truth/",
            }
        },
    ),
    "mindaudio/deepspeech2": audio(
        "deepspeech2",
        "import yaml\nfrom easydict import EasyDict\n"
        "from mindaudio.models.deepspeech2 import DeepSpeechModel\n"
        "cfg = EasyDict(yaml.safe_load(open('examples/deepspeech2/deepspeech2.yaml')))\n"
        "net = DeepSpeechModel(2, cfg.labels, 32, 2, cfg.SpectConfig, 'LSTM', True)\n"
        "inputs = [x(2, 1, 161, 100), np.array([100, 80], np.float32)]",
        {
            "epochs: 70": "epochs: 1",
            "batch_size: 64": "batch_size: 2",
            "batch_size: 128": "batch_size: 2",
            "./train/libri_train_manifest.json": "data/speech/train.json",
            "./eval/libri_test_clean_manifest.json": "data/speech/test.json",
            "hidden_size: 1024": "hidden_size: 32",
            "hidden_layers: 5": "hidden_layers: 2",
        },
        {"Pretrained_model: ''": "Pretrained_model: checkpoint/DeepSpeech-1_5.ckpt"},
        data=("speech",),
    ),
    **{f"mindnlp/{name}": nlp(*lines) for name, lines in LANGUAGE.items()},
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
PROGRAMS |= {
    "mindcv/mobilenet_v3_small": cv("mobilenetv3/mobilenet_v3_small_ascend", 64),
    "mindcv/mobilenet_v3_small by 2": cv(
        "mobilenetv3/mobilenet_v3_small_ascend",
        64,
        2,
        "--val_while_train True --val_interval 1 --amp_level O0",
    ),
    "mindrec/deep_and_cross": rec(
        "deep_and_cross",
        "train.py --device_target GPU --data_path data/click_logs --batch_size 2000 --epochs 1 "
        "--vocab_size 1000 --emb_dim 4 --deep_layer_dim 32 32 --ckpt_path out",
        "eval.py --device_target GPU --data_path data/click_logs --batch_size 2000 "
        "--vocab_size 1000 --emb_dim 4 --deep_layer_dim 32 32 --ckpt_path {newest *.ckpt}",
    ),
    "mindrec/wide_deep": rec(
        "wide_deep",
        # Its train.py names a variable that it does not have.
        "train_and_eval.py --device_target GPU --data_path data/click_logs --batch_size 2000 "
        "--epochs 1 --vocab_size 1000 --emb_dim 4 --ckpt_path out",
        "eval.py --device_target GPU --data_path data/click_logs --batch_size 2000 "
        "--vocab_size 1000 --emb_dim 4 --ckpt_path {newest *.ckpt}",
    ),
    "mindcv/regnet": cv("regnet/regnet_x_200mf_ascend", 64),
    **{
        f"mindrl/{name}": rl(name, {'"save_per_episode": 50': '"save_per_episode": 10'})
        for name in ("dqn", "c51", "double_dqn")
    },
    "mindrl/ac": rl("ac", {}),
    "mindone/unet2d": one(
        "net = of.UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, "
        "block_out_channels=(32, 32), down_block_types=('DownBlock2D', 'AttnDownBlock2D'), "
        "up_block_types=('AttnUpBlock2D', 'UpBlock2D'))\n"
        "scheduler = of.DDPMScheduler(num_train_timesteps=100)\n"
        "clean, noise, times = normal(2, 3, 16, 16), normal(2, 3, 16, 16), whole(100, 2)\n"
        "noisy = scheduler.add_noise(clean, noise, times)\ninputs = [noisy, times]",
        "ms.ops.mse_loss(net(noisy, times)[0], noise)",
        "print(of.DDPMPipeline(net, scheduler)(num_inference_steps=3, output_type='np')[0].shape)",
    ),
    "mindone/dit": one(
        "net = of.DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=16, "
        "in_channels=4, out_channels=4, num_layers=2, sample_size=8, patch_size=2, "
        "num_embeds_ada_norm=1000)\n"
        "clean, noise, times = normal(2, 4, 8, 8), normal(2, 4, 8, 8), whole(100, 2)\n"
        "kinds = whole(10, 2)\ninputs = [clean, times, kinds]",
        "ms.ops.mse_loss(net(clean, times, kinds)[0], noise)",
        "vae = of.AutoencoderKL(latent_channels=4, block_out_channels=(32,))\n"
        "pipe = of.DiTPipeline(net, vae, of.DDIMScheduler(num_train_timesteps=100))\n"
        "print(pipe([1, 2], num_inference_steps=2, output_type='np')[0].shape)",
    ),
    "mindone/stable_diffusion": one(
        "net = of.UNet2DConditionModel(sample_size=8, in_channels=4, out_channels=4, "
        "layers_per_block=1, block_out_channels=(32, 64), cross_attention_dim=32, "
        "down_block_types=('DownBlock2D', 'CrossAttnDownBlock2D'), "
        "up_block_types=('CrossAttnUpBlock2D', 'UpBlock2D'), attention_head_dim=8)\n"
        "import mindone.transformers as words_of\nfrom transformers import CLIPTextConfig\n"
        "said = words_of.CLIPTextModel(CLIPTextConfig(hidden_size=32, intermediate_size=37, "
        "num_attention_heads=4, num_hidden_layers=2, vocab_size=100))\n"
        "clean, noise, times = normal(2, 4, 8, 8), normal(2, 4, 8, 8), whole(100, 2)\n"
        "meaning = said(whole(90, 2, 77))[0]\ninputs = [clean, times, meaning]",
        "ms.ops.mse_loss(net(clean, times, meaning)[0], noise)",
        "vae = of.AutoencoderKL(latent_channels=4, block_out_channels=(32, 64), "
        "down_block_types=('DownEncoderBlock2D',) * 2, up_block_types=('UpDecoderBlock2D',) * 2)\n"
        "scheduler = of.DDIMScheduler(beta_start=0.00085, beta_end=0.012, clip_sample=False)\n"
        "parts = vae, said, None, net, scheduler, None, None, None, False\n"
        "pipe = of.StableDiffusionPipeline(*parts)\n"
        "print(pipe(prompt_embeds=meaning, negative_prompt_embeds=meaning * 0, "
        "num_inference_steps=2, output_type='np')[0].shape)",
    ),
    "mindone/sd3": one(
        "net = of.SD3Transformer2DModel(sample_size=8, patch_size=2, in_channels=4, num_layers=2, "
        "attention_head_dim=8, num_attention_heads=2, caption_projection_dim=16, "
        "joint_attention_dim=32, pooled_projection_dim=64, out_channels=4, pos_embed_max_size=8)\n"
        "clean, noise, times = normal(2, 4, 8, 8), normal(2, 4, 8, 8), whole(100, 2)\n"
        "meaning, pooled = normal(2, 12, 32), normal(2, 64)\n"
        "inputs = [clean, meaning, pooled, times]",
        "ms.ops.mse_loss(net(clean, meaning, pooled, times)[0], noise)",
    ),
    "mindone/bert": one(
        "import mindone.transformers as words_of\nfrom transformers import BertConfig\n"
        "net = words_of.BertForSequenceClassification(BertConfig(vocab_size=100, hidden_size=32, "
        "num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))\n"
        "ids, kinds = whole(90, 2, 12), ms.Tensor([0, 1])\ninputs = [ids]",
        "net(ids, labels=kinds)[0]",
    ),
}
# The same networks in later versions of mindnlp.
PROGRAMS |= {
    f"mindnlp-{version[:3]}/{name}": nlp(*LANGUAGE[name], version=version)
    for version in ("0.3.1", "0.4.1")
    for name in ("bert", "gpt2", "t5", "llama")
}
PROGRAMS["mindnlp-0.4/vit"] = nlp(
    "net = of.ViTForImageClassification(of.ViTConfig(hidden_size=32, num_hidden_layers=2, "
    "num_attention_heads=2, intermediate_size=64, image_size=32, patch_size=8))\n"
    "pictures = ms.Tensor(np.random.RandomState(0).normal(size=(2, 3, 32, 32)), ms.float32)",
    "net(pictures, labels=ms.Tensor([0, 1]))",
    version="0.4.1",
)


def gan(name: str) -> Program:
    """A GAN on digits, a script and its networks in one file."""
    return Program(
        "mindspore-courses/MindSpore-GAN",
        "ebb7be730885221b90653f4bf6b3397168c3ac6a",
        f"implementations/{name}",
        words(f"{name}.py --n_epochs 1 --batch_size 32"),
        data=("digits",),
        edits={f"{name}.py": {"../../data/MNIST": "data/digits"}},
    )


def agent(name: str, epochs: str) -> Program:
    """An agent of DRL-MindSpore that learns in a stand-in of gym."""
    return Program(
        "chenoly/DRL-MindSpore",
        "7797dfd62cbe252daac4ab3a28a09eba272ad665",
        name,
        ("Main.py",),
        files={"gym.py": GYM, "checkpoints/here": ""},
        edits={"Main.py": {epochs: epochs.split("=")[0] + f"={300 if name == 'DQN' else 3}"}},
    )


# What an agent asks of gym: a point that it pushes towards the middle, for fifty steps.
GYM = """
from types import SimpleNamespace as Named
import numpy as np

class Push:
    action_space = Named(n=3, shape=(2,), high=np.ones(2, np.float32))
    observation_space = Named(shape=(2,))

    def reset(self):
        self.state, self.steps = np.random.uniform(-1, 1, 2).astype(np.float32), 0
        return self.state

    def step(self, action):
        push = action - 1 if np.ndim(action) == 0 else np.asarray(action)
        self.state = np.clip(self.state + 0.1 * push, -2, 2).astype(np.float32)
        self.steps += 1
        return self.state, -float((self.state ** 2).sum()), self.steps >= 50, {}

    def render(self):
        pass

def make(name):
    return Push()
"""
# Nobody here had seen these before they were run.
PROGRAMS |= {
    **{
        f"gan/{name}": gan(name)
        for name in (
            "aae",
            "acgan",
            "began",
            "bgan",
            "cgan",
            "cluster_gan",
            "dcgan",
            "dragan",
            "ebgan",
            "infogan",
            "lsgan",
            "sgan",
            "softmax_gan",
        )
    },
    "drl/dqn": agent("DQN", "epoch=102400"),
    "drl/ddpg": agent("DDPG", "epoch=10000"),
    "nanogpt/train": Program(
        "jerry-njucs/nanoGPT_MindSpore",
        "126429e4ab864ea8d8e8da779391f588618b504d",
        ".",
        words("train.py --data_path data/tokens --sink_size 2"),
        data=("tokens",),
        edits={
            "src/model.py": {
                "block_size: int = 1024": "block_size: int = 64",
                "n_layer: int = 12": "n_layer: int = 2",
                "n_head: int = 12": "n_head: int = 2",
                "n_embd: int = 768": "n_embd: int = 32",
            }
        },
    ),
    **{
        f"nsfnets/{case}": Program(
            "lixingit/NSFnets-MindSpore-Learn",
            "82f9c58c26e0a802363e326cbcb3dc90eab1f79d",
            ".",
            (f"test/test_{case}.py",),
        )
        for case in ("case1_kovasznay", "case2_cylinder")
    },
}
