# SPDX-License-Identifier: Apache-2.0
"""Single operators whose lowering is open on a device: sizes, inputs, and who can do them how.

Each is run forward and backward. Imports NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench import work

# On a CPU they are only tried.
TINY = work.DEVICE == "cpu"


class Sizes(NamedTuple):
    """Attention [batch, length, heads, size]; LSTM batch, length, width, layers; images."""

    attention: tuple[int, int, int, int]
    lstm: tuple[int, int, int, int]
    images: tuple[int, int, int, int]


SIZES = Sizes((2, 16, 2, 8), (2, 5, 8, 2), (2, 8, 6, 6)) if TINY else Sizes(
    (8, 2048, 16, 64), (64, 128, 512, 2), (64, 128, 56, 56)
)  # fmt: skip
# Of each operator the variants of each worker, and whether it computes in BFloat16.
VARIANTS: dict[str, dict[str, tuple[str, ...]]] = {
    "attention, causal": {
        "jax": ("by hand", "dot_product xla", "dot_product cudnn", "mycel flash_attention_score"),
        "torch": ("scaled_dot_product",),
    },
    "attention, lengths": {
        "jax": ("by hand", "dot_product xla", "dot_product cudnn", "mycel flash_attention_score"),
        "torch": ("scaled_dot_product",),
    },
    "LSTM": {"jax": ("by hand", "cudnn", "mycel nn.LSTM"), "torch": ("nn.LSTM",)},
    "convolution, float32": {
        "jax": ("NCHW", "NHWC", "mycel NCHW", "mycel NHWC"),
        "torch": ("NCHW", "NHWC"),
    },
    "convolution, bfloat16": {
        "jax": ("NCHW", "NHWC", "mycel NCHW", "mycel NHWC"),
        "torch": ("NCHW", "NHWC"),
    },
}
# Products of Float32 are computed with ten bits on a device, and BFloat16 has eight.
TOLERANCE = 0.05


def attention() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Query, key and value, [batch, length, heads, size], and how long each sequence is."""
    draw = np.random.RandomState(0)
    shape = SIZES.attention
    query, key, value = draw.randn(3, *shape).astype(np.float32)
    return query, key, value, draw.randint(1, shape[1] + 1, shape[0]).astype(np.int32)


def lstm() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """An input, [batch, length, width], and weights by PyTorch's names."""
    draw = np.random.RandomState(0)
    batch, length, width, layers = SIZES.lstm
    x = draw.randn(batch, length, width).astype(np.float32)
    weights = {}
    for layer in range(layers):
        for name, shape in (("weight", (4 * width, width)), ("bias", (4 * width,))):
            for kind in ("ih", "hh"):
                made = draw.uniform(-1, 1, shape) / width**0.5
                weights[f"{name}_{kind}_l{layer}"] = made.astype(np.float32)
    return x, weights


def images() -> tuple[np.ndarray, np.ndarray]:
    """Images and kernels of 3 by 3: [N, C, H, W] and [C, C, 3, 3]."""
    draw = np.random.RandomState(0)
    x = draw.randn(*SIZES.images).astype(np.float32)
    channels = SIZES.images[1]
    return x, (draw.randn(channels, channels, 3, 3) / (9 * channels) ** 0.5).astype(np.float32)
