# SPDX-License-Identifier: Apache-2.0
"""What is measured: sizes, and the numbers that every framework starts from. Imports NumPy alone.

Weights have the names and layouts that MindSpore gives them: OIHW, and [outputs, inputs].
"""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple

import numpy as np

# Where the frameworks compute, and whether in mixed precision (see frameworks.py).
DEVICE = os.environ.get("BENCH_DEVICE", "cpu")
MIXED = os.environ.get("BENCH_TYPE") == "bfloat16"

MOMENTUM = 0.9
CHAIN_ROUNDS = 10  # of four operators each
CLASSES = 10


class Piece(NamedTuple):
    """A piece of work: most calls in a round, and how far two frameworks may differ relatively.

    The first losses (or elements) are compared. A deep network in training spreads the rounding of
    its first step, and frameworks add Adam's epsilon in two different places.
    """

    calls: int
    tolerance: float


WORK = {
    **{
        f"chain_{function}_{size}_{what}": Piece(200 if size == "4x4" else 10, 2e-4)
        for function in ("tanh", "relu")
        for size in ("4x4", "1M")
        for what in ("forward", "both")
    },
    "lenet": Piece(30, 2e-4),
    "mlp": Piece(30, 2e-4),
    "transformer": Piece(10, 1e-3),
    "masked": Piece(10, 1e-3),
    "bert": Piece(2, 1e-3),
    "gpt2": Piece(2, 1e-3),
    "lstm": Piece(5, 1e-3),
    "gru": Piece(5, 1e-3),
    "classifier": Piece(5, 1e-3),
    "graph_network": Piece(5, 1e-3),
    "wide_deep": Piece(3, 1e-3),
    "unet": Piece(2, 2e-3),
    "resnet18": Piece(3, 2e-3),
    "resnet50": Piece(2, 2e-3),
    "mobilenet": Piece(3, 2e-3),
    "efficientnet": Piece(2, 2e-3),
    "bert_inference": Piece(5, 2e-4),
    "resnet50_inference": Piece(3, 2e-4),
    "mobilenet_inference": Piece(10, 2e-4),
    "efficientnet_inference": Piece(5, 2e-4),
    "unet_inference": Piece(3, 2e-4),
}


class Recipe(NamedTuple):
    """How a network is trained: optimiser, learning rate, shapes of its input."""

    optimizer: str
    rate: float
    inputs: tuple[int, ...]


RECIPES = {
    "lenet": Recipe("momentum", 0.01, (32, 1, 32, 32)),
    "mlp": Recipe("momentum", 0.01, (128, 512)),
    "transformer": Recipe("adam", 1e-3, (8, 128, 256)),
    "masked": Recipe("adam", 1e-3, (8, 128, 256)),
    "bert": Recipe("adam", 1e-4, (8, 128, 768)),
    "gpt2": Recipe("adam", 1e-4, (2, 256)),
    "lstm": Recipe("adam", 1e-3, (32, 64, 256)),
    "gru": Recipe("adam", 1e-3, (32, 64, 256)),
    "classifier": Recipe("adam", 1e-3, (32, 64)),
    "graph_network": Recipe("adam", 1e-3, (3000, 64)),
    "wide_deep": Recipe("lazy adam", 1e-3, (1024, 39)),
    "unet": Recipe("momentum", 1e-3, (2, 3, 128, 128)),
    "resnet18": Recipe("momentum", 1e-3, (8, 3, 64, 64)),
    "resnet50": Recipe("momentum", 1e-3, (4, 3, 128, 128)),
    "mobilenet": Recipe("momentum", 1e-3, (8, 3, 128, 128)),
    "efficientnet": Recipe("momentum", 1e-3, (8, 3, 128, 128)),
}
# Width and heads of the encoder blocks.
BLOCKS = {"transformer": (256, 4), "masked": (256, 4), "bert": (768, 12)}
# Recurrent networks: layers, width, gates, directions.
RECURRENT = {"lstm": (2, 256, 4, 1), "gru": (2, 256, 3, 1), "classifier": (1, 128, 4, 2)}
# Vocabulary, width, heads, layers and length of the stack of GPT-2's blocks.
GPT2 = (50257, 768, 12, 4, 256)
# Words and their width in the classifier of texts.
WORDS = (5000, 128)
GRAPH_WIDTH, GRAPH_LAYERS, GRAPH_EDGES, GRAPH_SHARE = 128, 3, 30000, 0.1
# Blocks in each stage, and whether they are bottlenecks.
RESNETS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True)}
# Rows of both tables, width of the deep one, and widths of the layers behind it.
WIDE_DEEP = (1_000_000, 16, (512, 256, 128, 1))
# Channels of the first level, and how many levels there are.
UNET = (32, 5)


class Inverted(NamedTuple):
    """MobileNetV2's kind of networks.

    Stages hold how much their blocks widen, their channels, count, first stride and kernel;
    squeezed blocks weigh their channels by what they are on average.
    """

    stages: tuple[tuple[int, int, int, int, int], ...]
    squeezed: bool


INVERTED = {
    "mobilenet": Inverted(
        (
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3),
            (6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3),
        ),
        False,
    ),
    # EfficientNet-B0, without what it drops by chance.
    "efficientnet": Inverted(
        (
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
        ),
        True,
    ),
}  # fmt: skip
# Networks whose target is an array of the shape of their output.
REGRESSIONS = (*BLOCKS, "lstm", "gru", "graph_network")


def batch(name: str) -> tuple[np.ndarray, ...]:
    """Inputs and, last, their target: classes, or an array of the shape of the output."""
    draw = np.random.RandomState(1)
    shape = RECIPES[name].inputs
    if name in ("gpt2", "classifier"):
        words = GPT2[0] if name == "gpt2" else WORDS[0]
        classes, count = (words, np.prod(shape)) if name == "gpt2" else (CLASSES, shape[0])
        texts = draw.randint(0, words, shape).astype(np.int32)
        return texts, draw.randint(0, classes, count).astype(np.int32)
    if name == "wide_deep":
        # As in what such networks learn from, some rows are met often and most hardly ever.
        rows = (WIDE_DEEP[0] * draw.rand(*shape) ** 3).astype(np.int32)
        clicked = (draw.rand(shape[0], 1) < 0.25).astype(np.float32)
        return rows, draw.rand(*shape).astype(np.float32), clicked
    x = draw.randn(*shape).astype(np.float32)
    if name in REGRESSIONS:
        width = (GRAPH_WIDTH,) if name == "graph_network" else shape[-1:]
        target = draw.randn(*shape[:-1], *width).astype(np.float32)
        if name != "masked":
            return x, target
        lengths = draw.randint(shape[1] // 8, shape[1] + 1, shape[0]).astype(np.int32)
        return x, lengths, target * (np.arange(shape[1]) < lengths[:, None])[..., None]
    if name == "unet":
        return x, draw.randint(0, CLASSES, shape[0] * shape[2] * shape[3]).astype(np.int32)
    return x, draw.randint(0, CLASSES, shape[0]).astype(np.int32)


def edges() -> tuple[np.ndarray, np.ndarray]:
    """The graph of the graph network: where each edge begins, and where it ends."""
    nodes = RECIPES["graph_network"].inputs[0]
    begins, ends = np.random.RandomState(3).randint(0, nodes, (2, GRAPH_EDGES)).astype(np.int32)
    return begins, ends


def chain_inputs(size: str) -> tuple[np.ndarray, np.ndarray]:
    """The two operands of the chain of 40 element-wise operators."""
    draw = np.random.RandomState(2)
    side = {"4x4": 4, "1M": 1000}[size]
    x, y = draw.rand(side, side), draw.rand(side, side) * 0.1 + 0.95
    return x.astype(np.float32), y.astype(np.float32)


def chain(x, y, function):
    """40 operators: mul, add, tanh or relu, sub, ten times."""
    for _ in range(CHAIN_ROUNDS):
        x = function(x * y + y) - y
    return x


def weights(name: str) -> dict[str, np.ndarray]:
    """All Parameters of a network, by name."""
    draw = np.random.RandomState(0)
    made = {label: _drawn(draw, label, shape) for label, shape in _shapes(name).items()}
    # A residual network whose blocks add as much as they are given spreads rounding so much that
    # gradients in Float32 have no digit in common; as in practice, blocks add little.
    little = {f"{label}.gamma" for label in _last_of_blocks(name)}
    return {label: array * 0.1 if label in little else array for label, array in made.items()}


def _last_of_blocks(name: str) -> list[str]:
    """The normalisations whose results are added to what the block was given."""
    if name in RESNETS:
        stages, bottleneck = RESNETS[name]
        last = "bn3" if bottleneck else "bn2"
        return [f"{block[0]}.{last}" for block in resnet_blocks(stages, bottleneck)]
    if name in INVERTED:
        return [f"{block.name}.bn3" for block in inverted_blocks(name) if block.adds]
    return []


def _drawn(draw, label: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = label.rsplit(".", 1)[-1]
    if kind in ("gamma", "moving_variance"):
        return np.ones(shape, np.float32)
    if kind in ("beta", "moving_mean"):
        return np.zeros(shape, np.float32)
    fan_in = np.prod(shape[1:]) if len(shape) > 1 else 1e4
    return (draw.randn(*shape) * (1.5 / fan_in) ** 0.5).astype(np.float32)


def _shapes(name: str) -> dict[str, tuple[int, ...]]:
    if name == "lenet":
        return {
            "conv1.weight": (6, 1, 5, 5),
            "conv2.weight": (16, 6, 5, 5),
            **_dense("fc1", 400, 120),
            **_dense("fc2", 120, 84),
            **_dense("fc3", 84, CLASSES),
        }
    if name == "mlp":
        return {
            key: shape
            for n in range(4)
            for key, shape in _dense(f"fc{n + 1}", 512, 512 if n < 3 else CLASSES).items()
        }
    if name in BLOCKS:
        return _block_shapes("", BLOCKS[name][0])
    if name == "gpt2":
        words, width, _, layers, length = GPT2
        shapes = {"words": (words, width), "positions": (length, width)}
        for layer in range(layers):
            shapes |= _block_shapes(f"blocks.{layer}.", width)
        return shapes | _scaled("norm", width)
    if name == "classifier":
        width = RECURRENT[name][1]
        shapes = {"words": WORDS, **_recurrent_shapes(name, WORDS[1])}
        return shapes | _dense("fc", 2 * width, CLASSES)
    if name in RECURRENT:
        return _recurrent_shapes(name, RECIPES[name].inputs[-1])
    if name == "graph_network":
        widths = [RECIPES[name].inputs[-1], *[GRAPH_WIDTH] * GRAPH_LAYERS]
        shapes = {}
        for layer, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
            shapes |= _dense(f"own.{layer}", inputs, outputs)
            shapes |= _dense(f"near.{layer}", inputs, outputs)
        return shapes
    if name == "wide_deep":
        return _wide_deep_shapes()
    if name == "unet":
        return _unet_shapes()
    if name in INVERTED:
        return _inverted_shapes(name)
    return _resnet_shapes(*RESNETS[name])


def _block_shapes(at: str, width: int):
    return {
        **_dense(f"{at}query", width, width),
        **_dense(f"{at}key", width, width),
        **_dense(f"{at}value", width, width),
        **_dense(f"{at}project", width, width),
        **_scaled(f"{at}norm1", width),
        **_dense(f"{at}up", width, 4 * width),
        **_dense(f"{at}down", 4 * width, width),
        **_scaled(f"{at}norm2", width),
    }


def recurrent_suffixes(name: str) -> list[str]:
    """What the names of a recurrent network's weights end in, of every layer and direction."""
    layers, _, _, directions = RECURRENT[name]
    return [f"_l{layer}{'_reverse' * way}" for layer in range(layers) for way in range(directions)]


def _recurrent_shapes(name: str, inputs: int):
    _, width, gates, directions = RECURRENT[name]
    shapes = {}
    for suffix in recurrent_suffixes(name):
        given = inputs if suffix.startswith("_l0") else directions * width
        shapes[f"rnn.weight_ih{suffix}"] = (gates * width, given)
        shapes[f"rnn.weight_hh{suffix}"] = (gates * width, width)
        shapes[f"rnn.bias_ih{suffix}"] = shapes[f"rnn.bias_hh{suffix}"] = (gates * width,)
    return shapes


class InvertedBlock(NamedTuple):
    """One block of MobileNetV2's kind: channels that come in, inside and out; `squeeze`, if not 0,
    is how many the weights of the channels are computed by."""

    name: str
    channels: int
    inside: int
    out: int
    stride: int
    kernel: int
    squeeze: int

    @property
    def adds(self) -> bool:
        """Whether the result is added to what comes in."""
        return self.stride == 1 and self.channels == self.out


def inverted_blocks(name: str) -> list[InvertedBlock]:
    """All blocks of a network."""
    found, channels = [], 32
    for widens, out, count, first, kernel in INVERTED[name].stages:
        for block in range(count):
            stride, squeeze = 1 if block else first, channels // 4 * INVERTED[name].squeezed
            sizes = (channels, channels * widens, out, stride, kernel, squeeze)
            found.append(InvertedBlock(f"blocks.{len(found)}", *sizes))
            channels = out
    return found


def _inverted_shapes(name: str):
    shapes = {"first.weight": (32, 3, 3, 3), **_statistics("bn_first", 32)}
    for at, channels, inside, out, _, kernel, squeeze in inverted_blocks(name):
        if inside != channels:
            shapes[f"{at}.widen.weight"] = (inside, channels, 1, 1)
            shapes |= _statistics(f"{at}.bn1", inside)
        shapes[f"{at}.depth.weight"] = (inside, 1, kernel, kernel)
        shapes |= _statistics(f"{at}.bn2", inside)
        if squeeze:
            shapes |= _dense(f"{at}.squeeze", inside, squeeze)
            shapes |= _dense(f"{at}.excite", squeeze, inside)
        shapes[f"{at}.narrow.weight"] = (out, inside, 1, 1)
        shapes |= _statistics(f"{at}.bn3", out)
    shapes["last.weight"] = (1280, INVERTED[name].stages[-1][1], 1, 1)
    return shapes | _statistics("bn_last", 1280) | _dense("fc", 1280, CLASSES)


def unet_stages() -> list[tuple[str, int, int]]:
    """Of every pair of convolutions: name, channels that come in, channels out."""
    first, levels = UNET
    widths = [first * 2**level for level in range(levels)]
    down = [(f"down.{n}", *pair) for n, pair in enumerate(itertools.pairwise([3, *widths]))]
    # What comes up has half of the channels, and beside it stands what went down.
    return down + [(f"up.{n}", 2 * width, width) for n, width in enumerate(widths[-2::-1])]


def _unet_shapes():
    shapes = {}
    for at, channels, width in unet_stages():
        if at.startswith("up"):
            shapes[f"{at}.lift.weight"] = (channels, width, 2, 2)
        for n, given in enumerate((channels, width), 1):
            shapes[f"{at}.conv{n}.weight"] = (width, given, 3, 3)
            shapes |= _statistics(f"{at}.bn{n}", width)
    return shapes | {"last.weight": (CLASSES, UNET[0], 1, 1)}


def _wide_deep_shapes():
    rows, width, layers = WIDE_DEEP
    shapes = {"wide.embedding_table": (rows, 1), "deep.embedding_table": (rows, width)}
    fields = RECIPES["wide_deep"].inputs[1]
    for n, pair in enumerate(itertools.pairwise((fields * width, *layers))):
        shapes |= _dense(f"layers.{n}", *pair)
    return shapes


def resnet_blocks(stages, bottleneck: bool) -> list[tuple[str, int, int, int]]:
    """Of every block: name, channels that come in, width, stride."""
    found, channels = [], 64
    for stage, count in enumerate(stages):
        width = 64 * 2**stage
        for block in range(count):
            stride = 2 if stage and not block else 1
            found.append((f"layer{stage + 1}.{block}", channels, width, stride))
            channels = width * (4 if bottleneck else 1)
    return found


def _resnet_shapes(stages, bottleneck: bool):
    shapes = {"conv1.weight": (64, 3, 7, 7), **_statistics("bn1", 64)}
    channels = 64
    for name, channels, width, stride in resnet_blocks(stages, bottleneck):
        out = width * (4 if bottleneck else 1)
        kernels = [(width, channels, 1), (width, width, 3), (out, width, 1)]
        if not bottleneck:
            kernels = [(width, channels, 3), (width, width, 3)]
        for n, (o, i, k) in enumerate(kernels, 1):
            shapes[f"{name}.conv{n}.weight"] = (o, i, k, k)
            shapes |= _statistics(f"{name}.bn{n}", o)
        if stride != 1 or channels != out:
            shapes[f"{name}.shortcut.weight"] = (out, channels, 1, 1)
            shapes |= _statistics(f"{name}.bn_shortcut", out)
        channels = out
    return shapes | _dense("fc", channels, CLASSES)


def _dense(name, inputs, outputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _scaled(name, width):
    return {f"{name}.gamma": (width,), f"{name}.beta": (width,)}


def _statistics(name, width):
    moving = {f"{name}.moving_mean": (width,), f"{name}.moving_variance": (width,)}
    return _scaled(name, width) | moving
