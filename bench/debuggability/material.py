# SPDX-License-Identifier: Apache-2.0
"""What the programs of all frameworks have in common: numbers, what NumPy makes of them, and how
time is measured. It imports NumPy alone, as every framework's environment has it.
"""

from __future__ import annotations

import contextlib
import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np


class NoWay(Exception):
    """The framework has no way to do it; the text says what was tried."""


class NotApplicable(Exception):
    """The behaviour is none of this framework's; the text says why."""


def _drawn(seed: int, *shape: int) -> np.ndarray:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


# -- three blocks tanh(x · w), the mean of the squares, its gradients ------------------------------

WIDTH, ROWS, CALLS = 8, 4, 12
WEIGHTS = [_drawn(seed, WIDTH, WIDTH) / 2 for seed in range(3)]
BATCHES = [_drawn(10 + seed, ROWS, WIDTH) for seed in range(CALLS)]
# The block with the hook, the fault or the breakpoint.
MIDDLE = 1


def outputs(x: np.ndarray, weights=WEIGHTS) -> list[np.ndarray]:
    """What each block gives."""
    found = []
    for weight in weights:
        x = np.tanh(x.astype(np.float64) @ weight)
        found.append(x)
    return found


def loss(x: np.ndarray, weights=WEIGHTS) -> float:
    """The mean of the squares of the last block's output."""
    return float(np.mean(outputs(x, weights)[-1] ** 2))


def gradients(x: np.ndarray, factor: float = 1.0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """By the weights, and by what each block gives; the one that leaves the middle block, on its
    way back, is multiplied by a factor."""
    made = outputs(x)
    arriving = 2 * made[-1] / made[-1].size
    by_weight, by_output = [], []
    for number in reversed(range(len(WEIGHTS))):
        by_output.append(arriving)
        inner = arriving * (1 - made[number] ** 2)
        given = made[number - 1] if number else x
        by_weight.append(given.T @ inner)
        arriving = inner @ WEIGHTS[number].T * (factor if number == MIDDLE else 1.0)
    return by_weight[::-1], by_output[::-1]


# -- a residual stack as wide and deep as GPT-2, and a thousand interventions ----------------------

DEPTH, TOKENS, HIDDEN = 12, 16, 768
STACK = [
    (_drawn(40 + i, HIDDEN, HIDDEN) / 32, _drawn(60 + i, HIDDEN, HIDDEN) / 32) for i in range(DEPTH)
]
PROMPT = _drawn(80, TOKENS, HIDDEN)


def interventions(rounds: int) -> list[tuple[int, int, np.ndarray, float]]:
    """Which layer, which position, which vector and how strong: added to what the layer gives.

    A thousand; forty where nothing is measured, as in the tests.
    """
    draw = np.random.RandomState(5)
    return [
        (int(draw.randint(DEPTH)), int(draw.randint(TOKENS)),
         draw.randn(HIDDEN).astype(np.float32), float(draw.rand()))
        for _ in range(1000 if rounds else 40)
    ]  # fmt: skip


def intervened(layer: int, position: int, vector: np.ndarray, strength: float) -> float:
    """The sum of what the stack gives under an intervention."""
    x = PROMPT.astype(np.float64)
    for number, (first, second) in enumerate(STACK):
        x = x + np.tanh(x @ first) @ second
        if number == layer:
            x[position] += strength * vector
    return float(x.sum())


# -- eight wide blocks, observed -------------------------------------------------------------------

OBSERVED, WIDE, WIDE_ROWS, STEPS = 8, 256, 64, 20
WIDE_WEIGHTS = [_drawn(90 + i, WIDE, WIDE) / np.float32(np.sqrt(WIDE)) for i in range(OBSERVED)]
WIDE_BATCH = _drawn(99, WIDE_ROWS, WIDE)
RATE = 0.1

# -- faults ----------------------------------------------------------------------------------------

# The value of a row at which each of the forward faults makes what is not finite; 0.5 is good.
GOOD = 0.5
FORWARD = {
    "log of 0": 0.0,
    "log of a negative number": -1.0,
    "root of a negative number": -1.0,
    "one by zero": 0.0,
    "zero by zero": 0.0,
    "overflow of exp": 1e3,
    "power of a negative number": -1.0,
    "rsqrt of 0": 0.0,
    "arc sine above 1": 2.0,
    "arc cosine above 1": 2.0,
    "log1p of minus one": -1.0,
    "atanh of 1": 1.0,
    "product": 1e30,
    "square": 1e30,
    "matrix product": 1e30,
    "difference of infinities": 1e3,
    "division by a length of 0": 0.0,
    "log of one minus sigmoid": 1e3,
    "masked row of a softmax": 2.0,
    "variance of equal numbers": 0.0,
}
REVERSE = {"root at 0": 0.0, "log behind where": 0.0}
# How many good steps there are before the bad one.
GOOD_STEPS = 3


def faulty_batch(value: float = GOOD) -> np.ndarray:
    """Rows of 0.5 and 0.25 in turns, so that no row has equal numbers; the third is the value."""
    numbers = np.tile(np.float32([GOOD, GOOD / 2]), (4, 2))
    if value != GOOD:
        numbers[2] = value
    return numbers


# A chain of twenty operators, each on a line of its own, for the search of the first that differs.
CHAIN = 20
CHAIN_INPUT = np.linspace(0.2, 1.4, 12, dtype=np.float32).reshape(3, 4)
WRONG = 1.01

# Rows of a table, and an index that is none.
TABLE = _drawn(7, 10, 4)
INSIDE, OUTSIDE = np.int32([1, 9, 3]), np.int32([1, 99, 3])

# -- measuring -------------------------------------------------------------------------------------


def ratio(plain: Callable, other: Callable, rounds: int, calls: int = 5) -> float | None:
    """Time of the other over that of the plain one: median of the rounds, in turns."""
    found = []
    if not rounds:
        return None
    for function in (plain, other):
        for _ in range(3):
            function()
    for _ in range(rounds):
        times = []
        for function in (plain, other):
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times.append(time.perf_counter() - start)
        found.append(times[1] / times[0])
    return statistics.median(found)


def bits(numbers) -> list[str]:
    """Numbers of 32 bits so that equal texts are equal bits."""
    return [np.float32(number).tobytes().hex() for number in numbers]


class Told:
    """What is written to standard error while a block runs, by libraries in C++ too, in `text`."""

    text = ""

    def __enter__(self) -> Told:
        sys.stderr.flush()
        self._file = tempfile.TemporaryFile("w+")
        self._before = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *_) -> None:
        sys.stderr.flush()
        os.dup2(self._before, 2)
        self._file.seek(0)
        self.text = self._file.read()


class Events(io.TextIOBase):
    """Standard output that keeps each line it is given, between what is appended."""

    def __init__(self):
        self.found: list[list] = []
        self._partial = ""

    def write(self, text: str) -> int:
        *lines, self._partial = (self._partial + text).split("\n")
        self.found += [["print", *map(float, line.split()[1:])] for line in lines if line]
        return len(text)

    def append(self, block: int, value) -> None:
        """Keep a value from Python."""
        self.found.append(["append", float(block), float(value)])


@contextlib.contextmanager
def printed(events: Events):
    """Standard output goes to the events."""
    with contextlib.redirect_stdout(events):
        yield events
