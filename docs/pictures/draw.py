# SPDX-License-Identifier: Apache-2.0
"""`python docs/pictures/draw.py`: the pictures of the documents that show data.

gradient_norms.svg: the norm of the gradient that arrives at each of twelve layers, measured with
backward hooks before the first step on handwritten digits.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.cli.digits import load_digits

LAYERS, IMAGES = 12, 256
# What is drawn: activation, distribution of the weights, colour.
NETWORKS = {
    "ReLU, He": (nn.ReLU, "HeNormal", "#3b73b9"),
    "ReLU, Xavier": (nn.ReLU, "XavierUniform", "#2a7f3f"),
    "Sigmoid, Xavier": (nn.Sigmoid, "XavierUniform", "#c2691c"),
}
# Text stays text, and the same numbers give the same file.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "mycel", "font.family": "sans-serif"}


def gradient_norms(activation, weights: str) -> list[float]:
    """The norms at the layers, the first layer first."""
    ms.set_seed(1)
    blocks = [
        nn.SequentialCell(nn.Dense(64, 64, weight_init=weights, bias_init="zeros"), activation())
        for _ in range(LAYERS)
    ]
    head = nn.Dense(64, 10, weight_init=weights, bias_init="zeros")
    net = nn.SequentialCell(*blocks, head)
    found: list[float] = []
    for block in blocks:
        block.register_backward_hook(lambda cell, i, o: found.append(float(ops.norm(i[0]))))
    digits = load_digits(8)
    images = Tensor(digits.train_images[:IMAGES].reshape(IMAGES, 64))
    labels = Tensor(digits.train_labels[:IMAGES])
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    ms.grad(lambda x: loss(net(x), labels), None, net.trainable_params())(images)
    return found[::-1]


def draw_gradient_norms(path: Path) -> None:
    """Draw them into an SVG file."""
    figure = Figure(figsize=(9, 3.8), layout="constrained", facecolor="#fffdf9")
    axes = figure.subplots()
    axes.set_facecolor("#fffdf9")
    layers = range(1, LAYERS + 1)
    for name, (activation, weights, color) in NETWORKS.items():
        norms = gradient_norms(activation, weights)
        axes.semilogy(layers, norms, "o-", color=color, linewidth=1.8, markersize=4)
        axes.annotate(
            name,
            (1, norms[0]),
            xytext=(-10, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=color,
        )
    axes.set_xlim(-1.6, LAYERS + 0.4)
    axes.set_ylim(1e-9, 1)
    axes.set_xticks(layers)
    axes.set_xlabel("layer: the reverse goes from right to left")
    axes.set_ylabel("norm of the gradient")
    axes.grid(True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    draw_gradient_norms(folder / "gradient_norms.svg")
