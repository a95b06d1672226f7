# SPDX-License-Identifier: Apache-2.0
"""Small values that hooks look at come out of a replay side by side. Oracle: NumPy, and the same
hooks operator by operator.
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Tensor, nn

WIDTHS = (1, 3, 2)
STEPS = 5


class Scaled(nn.Cell):
    """Two results of different kinds, shapes and sizes."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    def construct(self, x):
        return x[..., : self.width] * 2, x.sum()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.parts = nn.CellList([Scaled(width) for width in WIDTHS])

    def construct(self, x):
        total = x.sum()
        for part in self.parts:
            head, whole = part(x)
            total = total + head.sum() * whole
        return total


def batch(step: int) -> np.ndarray:
    return (np.arange(6, dtype=np.float32).reshape(2, 3) + step) / 4


def expected(step: int) -> list:
    x = batch(step)
    return [part for width in WIDTHS for part in (x[..., :width] * 2, x.sum())]


def seen_by(look, mode: str) -> tuple[list, int]:
    """What a hook on each part makes of its outputs, step by step; and how many were replayed."""
    net, steps = Net(), []
    for part in net.parts:
        part.register_forward_hook(lambda cell, inputs, outputs: steps[-1].extend(look(outputs)))
    before = ms.debug.ledger().counts.replays
    with execution(mode):
        step = ms.jit(net) if mode == "graph" else net
        for number in range(STEPS):
            steps.append([])
            step(Tensor(batch(number))).asnumpy()
    return steps, ms.debug.ledger().counts.replays - before


LOOKS = {
    "arrays": lambda outputs: [value.asnumpy() for value in outputs],
    "arrays in turn": lambda outputs: [value.asnumpy() for value in outputs[::-1]][::-1],
    "results of operators": lambda outputs: [(value * 1).asnumpy() for value in outputs],
    "the Tensors, read later": lambda outputs: list(outputs),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("mode", ["direct", "graph"])
def test_hooks_see_the_values_of_their_own_call(look, mode):
    steps, replays = seen_by(LOOKS[look], mode)
    if mode == "graph":
        assert replays >= STEPS - 2
    # Looked at only now: what a later replay brings out lies elsewhere.
    for number, values in enumerate(steps):
        assert len(values) == 2 * len(WIDTHS)
        for value, array in zip(values, expected(number), strict=True):
            value = value.asnumpy() if isinstance(value, Tensor) else value
            assert (value.shape, value.dtype) == (array.shape, array.dtype)
            np.testing.assert_allclose(value, array, 1e-6)


def test_a_value_that_was_kept_is_an_input_like_any():
    (*_, last), _ = seen_by(lambda outputs: list(outputs), "graph")
    for value, array in zip(last, expected(STEPS - 1), strict=True):
        np.testing.assert_allclose((value + value).asnumpy(), 2 * array, 1e-6)
        gradient = ms.grad(lambda x: (x * x).sum())(value)
        np.testing.assert_allclose(gradient.asnumpy(), 2 * array, 1e-6)
