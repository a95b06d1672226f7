# SPDX-License-Identifier: Apache-2.0
"""What is measured: sizes, and the numbers that every framework starts from. Imports NumPy alone.

Weights have the names and layouts that MindSpore gives them: OIHW, and [outputs, inputs].
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

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
    "bert": Piece(2, 1e-3),
    "gpt2": Piece(2, 1e-3),
    "lstm": Piece(5, 1e-3),
    "gru": Piece(5, 1e-3),
    "classifier": Piece(5, 1e-3),
    "graph_network": Piece(5, 1e-3),
    "resnet18": Piece(3, 2e-3),
    "resnet50": Piece(2, 2e-3),
    "mobilenet": Piece(3, 2e-3),
    "bert_inference": Piece(5, 2e-4),
    "resnet50_inference": Piece(3, 2e-4),
    "mobilenet_inference": Piece(10, 2e-4),
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
    "bert": Recipe("adam", 1e-4, (8, 128, 768)),
    "gpt2": Recipe("adam", 1e-4, (2, 256)),
    "lstm": Recipe("adam", 1e-3, (32, 64, 256)),
    "gru": Recipe("adam", 1e-3, (32, 64, 256)),
    "classifier": Recipe("adam", 1e-3, (32, 64)),
    "graph_network": Recipe("adam", 1e-3, (3000, 64)),
    "resnet18": Recipe("momentum", 1e-3, (8, 3, 64, 64)),
    "resnet50": Recipe("momentum", 1e-3, (4, 3, 128, 128)),
    "mobilenet": Recipe("momentum", 1e-3, (8, 3, 128, 128)),
}
# Width and heads of the encoder blocks.
BLOCKS = {"transformer": (256, 4), "bert": (768, 12)}
# Recurrent networks: layers, width, gates, directions.
RECURRENT = {"lstm": (2, 256, 4, 1), "gru": (2, 256, 3, 1), "classifier": (1, 128, 4, 2)}
# Vocabulary, width, heads, layers and length of the stack of GPT-2's blocks.
GPT2 = (50257, 768, 12, 4, 256)
# Words and their width in the classifier of texts.
WORDS = (5000, 128)
GRAPH_WIDTH, GRAPH_LAYERS, GRAPH_EDGES, GRAPH_SHARE = 128, 3, 30000, 0.1
# Blocks in each stage, and whether they are bottlenecks.
RESNETS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True)}
# MobileNetV2: of every stage how much its blocks widen, their channels, count and first stride.
MOBILENET = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip
# Networks whose target is an array of the shape of their output.
REGRESSIONS = (*BLOCKS, "lstm", "gru", "graph_network")


def batch(name: str) -> tuple[np.ndarray, np.ndarray]:
    """An input and its target: classes, or an array of the shape of the output."""
    draw = np.random.RandomState(1)
    shape = RECIPES[name].inputs
    if name in ("gpt2", "classifier"):
        words = GPT2[0] if name == "gpt2" else WORDS[0]
        classes, count = (words, np.prod(shape)) if name == "gpt2" else (CLASSES, shape[0])
        texts = draw.randint(0, words, shape).astype(np.int32)
        return texts, draw.randint(0, classes, count).astype(np.int32)
    x = draw.randn(*shape).astype(np.float32)
    if name in REGRESSIONS:
        width = (GRAPH_WIDTH,) if name == "graph_network" else shape[-1:]
        return x, draw.randn(*shape[:-1], *width).astype(np.float32)
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
    if name in RESNETS:
        # A residual network whose blocks add as much as they are given spreads rounding so much
        # that gradients in Float32 have no digit in common; as in practice, blocks add little.
        last = "bn3.gamma" if RESNETS[name][1] else "bn2.gamma"
        made |= {label: array * 0.1 for label, array in made.items() if label.endswith(last)}
    return made


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
    if name == "mobilenet":
        return _mobilenet_shapes()
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


def mobilenet_blocks() -> list[tuple[str, int, int, int, int]]:
    """Of every block: name, channels that come in, channels inside, channels out, stride."""
    blocks, channels = [], 32
    for widens, out, count, first in MOBILENET:
        for block in range(count):
            at, stride = f"blocks.{len(blocks)}", 1 if block else first
            blocks.append((at, channels, channels * widens, out, stride))
            channels = out
    return blocks


def _mobilenet_shapes():
    shapes = {"first.weight": (32, 3, 3, 3), **_statistics("bn_first", 32)}
    for at, channels, inside, out, _ in mobilenet_blocks():
        if inside != channels:
            shapes[f"{at}.widen.weight"] = (inside, channels, 1, 1)
            shapes |= _statistics(f"{at}.bn1", inside)
        shapes[f"{at}.depth.weight"] = (inside, 1, 3, 3)
        shapes |= _statistics(f"{at}.bn2", inside)
        shapes[f"{at}.narrow.weight"] = (out, inside, 1, 1)
        shapes |= _statistics(f"{at}.bn3", out)
    shapes["last.weight"] = (1280, MOBILENET[-1][1], 1, 1)
    return shapes | _statistics("bn_last", 1280) | _dense("fc", 1280, CLASSES)


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
