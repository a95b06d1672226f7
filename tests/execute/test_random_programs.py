# SPDX-License-Identifier: Apache-2.0
"""Programs drawn at random, with everything at once: branches, assignments, sites, derivatives.

Each is played call by call in direct, fused and compiled execution; results, state, log and printed
text must be equal. The oracle is direct execution.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import warnings

import numpy as np
import pytest

import mycel as ms
from harness import as_numpy, execution
from mycel import Parameter, Tensor, ops

CALLS = 18
STEPS = 7


class Drawn:
    """A program made of drawn steps over a pool of Tensors and three Parameters."""

    def __init__(self, seed: int):
        draw = random.Random(seed)
        self.steps = [(draw.choice(KINDS), draw.random(), draw.random()) for _ in range(STEPS)]
        numbers = np.random.RandomState(seed)
        self.parameters = [
            Parameter(numbers.randn(4).astype(np.float32), name=f"p{i}") for i in range(3)
        ]
        self.inputs = [Tensor(numbers.randn(4).astype(np.float32)) for _ in range(CALLS)]
        self.turns = [draw.random() < 0.15 for _ in range(CALLS)]
        self.log: list = []
        self.visits = 0

    def body(self, x):
        pool = [x]
        for kind, first, second in self.steps:
            made = getattr(self, kind)(
                pool[int(first * len(pool))], self.parameters[int(second * 3)], second
            )
            if made is not None:
                pool.append(ops.tanh(made))
        return pool[-1], pool[len(pool) // 2]

    # -- steps ----------------------------------------------------------------------------

    def combine(self, t, p, number):
        return t * p + number

    def shift(self, t, p, number):
        return ops.concat((t[1:], t[:1])) - p.mean()

    def assign(self, t, p, number):
        p.set_data(ops.tanh(p * 0.5 + t * number))

    def write(self, t, p, number):
        p[int(number * 4)] = t.sum() * 0.1

    def branch(self, t, p, number):
        return t * 2 if (t * p).sum() > number * 2 - 1 else t - 1

    def repeat(self, t, p, number):
        for _ in range(int(number * 3)):
            t = t * 0.9 + 0.05
        return t

    def look(self, t, p, number):
        return t * (1.0 if int(p.value().max() * 2) else 0.5)

    def show(self, t, p, number):
        print(f"{t.sum():.3f} and", t.shape, "p" if number > 0.5 else "q")

    def site_observes(self, t, p, number):
        _observe(self, t)

    def site_changes(self, t, p, number):
        return _change(self, t, number)

    def site_assigns(self, t, p, number):
        _assign(self, p, t)

    def derivative(self, t, p, number):
        return ms.grad(lambda y: (y * y * p).sum() * number)(t)

    def derivative_of_parameter(self, t, p, number):
        loss, gradient = ms.value_and_grad(lambda y: ops.tanh(y * p).sum(), None, p)(t)
        p.set_data(p - 0.1 * gradient)
        return loss + t

    def hooked(self, t, p, number):
        def loss(y):
            z = y * p
            z.register_hook(self.halve)
            return (z * z).sum()

        return ms.grad(loss)(t)

    def halve(self, gradient):
        self.log.append(round(float(gradient.sum()), 3))
        return gradient * 0.5


@ms.every_call
def _observe(task, t):
    task.visits += 1
    task.log.append(round(float(t.sum()), 3))


@ms.every_call
def _change(task, t, number):
    task.visits += 1
    if task.visits % 7 == 3:
        return t * 0.25
    return t * 0.5 if number > 0.5 else None


@ms.every_call
def _assign(task, p, t):
    task.visits += 1
    if task.visits % 5:
        p.set_data(p * 0.9 + t.mean() * 0.1)


KINDS = [name for name in vars(Drawn) if not name.startswith("_") and name not in ("body", "halve")]


def play(seed: int, mode: str) -> list:
    task = Drawn(seed)
    run = ms.jit(task.body) if mode == "jit" else task.body
    rows, printed = [], io.StringIO()
    with execution("direct" if mode == "direct" else "fused"):
        for x, turn in zip(task.inputs, task.turns, strict=True):
            if turn:
                task.parameters[0].set_data(task.parameters[1] * 0.5)
            with contextlib.redirect_stdout(printed):
                result = as_numpy(run(x))
            rows.append((result, as_numpy(task.parameters), list(task.log), printed.getvalue()))
    return rows


@pytest.mark.parametrize("mode", ["fused", "jit"])
@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed, mode):
    expected = play(seed, "direct")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*keeps running in PyNative.*")
        actual = play(seed, mode)
    for call, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        for what, a, e in zip(("results", "parameters"), mine[:2], theirs[:2], strict=True):
            for one, other in zip(a, e, strict=True):
                np.testing.assert_allclose(one, other, 1e-4, 1e-5, err_msg=f"{what}, call {call}")
        np.testing.assert_allclose(mine[2], theirs[2], atol=2e-3, err_msg=f"log, call {call}")
        assert_same_text(mine[3], theirs[3], f"printed text, call {call}")


def assert_same_text(mine: str, theirs: str, what: str) -> None:
    """The same words, and numbers up to their last digit."""
    numbers = [[float(n) for n in re.findall(r"-?\d+\.\d+", text)] for text in (mine, theirs)]
    words = [re.sub(r"-?\d+\.\d+", "#", text) for text in (mine, theirs)]
    assert words[0] == words[1], what
    np.testing.assert_allclose(*numbers, atol=2e-3, err_msg=what)


def test_many_of_them_are_replayed():
    """So that the comparison above is one of replays, misses and sites that do something new."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*keeps running in PyNative.*")
        for seed in range(40):
            play(seed, "jit")
    counts = ms.debug.ledger().counts
    assert counts.replays >= 100
    assert counts.misses >= 20
