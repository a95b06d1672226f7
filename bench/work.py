# SPDX-License-Identifier: Apache-2.0
"""What is measured: the numbers that every framework starts from. Imports NumPy alone."""

from __future__ import annotations

import numpy as np

BATCH = 32
RATE, MOMENTUM = 0.01, 0.9
CHAIN_ROUNDS = 10  # of four operators each


def lenet_weights() -> dict[str, np.ndarray]:
    """LeNet-5 in the layouts of MindSpore and PyTorch: OIHW, and [outputs, inputs]."""
    draw = np.random.RandomState(0)
    shapes = {
        "conv1": (6, 1, 5, 5),
        "conv2": (16, 6, 5, 5),
        "fc1": (120, 400),
        "b1": (120,),
        "fc2": (84, 120),
        "b2": (84,),
        "fc3": (10, 84),
        "b3": (10,),
    }
    return {
        name: (draw.randn(*shape) * np.prod(shape[1:] or (1e4,)) ** -0.5).astype(np.float32)
        for name, shape in shapes.items()
    }


def lenet_batch() -> tuple[np.ndarray, np.ndarray]:
    """Images [32, 1, 32, 32] and labels."""
    draw = np.random.RandomState(1)
    return (
        draw.randn(BATCH, 1, 32, 32).astype(np.float32),
        draw.randint(0, 10, BATCH).astype(np.int32),
    )


def chain_inputs(side: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """The two operands of the chain of 40 element-wise operators."""
    draw = np.random.RandomState(2)
    x, y = draw.rand(side, side), draw.rand(side, side) * 0.1 + 0.95
    return x.astype(np.float32), y.astype(np.float32)


def chain(x, y, tanh):
    """40 operators: mul, add, tanh, sub, ten times."""
    for _ in range(CHAIN_ROUNDS):
        x = tanh(x * y + y) - y
    return x
