# SPDX-License-Identifier: Apache-2.0
"""Loops and branches as operators: values and gradients in every execution, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import ops

X = np.array([0.5, 2.0], np.float32)


def test_while():
    """The oracle is NumPy; how often it goes round depends on values."""

    def oracle(x):
        while x.sum() < 20:
            x = x * 2
        return x

    matches(lambda x: ops.while_loop(lambda v: v.sum() < 20, lambda v: v * 2, x), oracle, X)
    matches(lambda x: ops.WhileLoop()(lambda v: v.sum() < 20, lambda v: v * 2, x), oracle, X)


def test_for():
    """The oracle is NumPy; the derivative of x·6! is 720."""

    def factorial(x):
        assert ops.ForiLoop()(1, 7, lambda i, v: v * i, 1) == 720
        return ops.fori_loop(1, 7, lambda i, v: v * i, x)

    matches(factorial, lambda x: x * 720, X)
    matches(ms.grad(factorial), lambda x: np.full_like(x, 720), X)


def test_scan():
    """Running sums and their gradients; the oracle is NumPy."""

    def sums(x):
        assert ops.Scan()(lambda c, v: (c + v, c * v), 0, (1, 2, 3)) == (6, [0, 2, 9])
        total, results = ops.scan(lambda c, v: (c + v, c + v), ops.zeros_like(x[0]), x)
        return total, ops.stack(results)

    matches(sums, lambda x: (x.sum(), x.cumsum()), X)
    matches(ms.grad(lambda x: sums(x)[1].sum()), lambda x: np.array([2, 1], np.float32), X)


def test_branches():
    """The oracle is NumPy; the branch and its gradient follow the values from call to call."""

    def branch(x):
        return ops.cond(x.sum() > 0, lambda v, k: v * k, lambda v, k: ops.square(v) - k, x, 3.0)

    for x in (X, -X, X):
        positive = x.sum() > 0
        matches(branch, lambda x: x * 3 if positive else x**2 - 3, x)  # noqa: B023
        slope = np.full_like(x, 3) if positive else 2 * x
        matches(ms.grad(lambda x: branch(x).sum()), lambda x: slope, x)  # noqa: B023
    step, signs = ms.jit(branch), (1, 1, 1, 1, -1, 1, -1, -1, -1, -1, -1)
    taken = [step(ms.Tensor(X * sign)).asnumpy()[1] for sign in signs]
    np.testing.assert_allclose(taken, [6, 6, 6, 6, 1, 6, 1, 1, 1, 1, 1])


ERRORS = {
    "ops.cond(True, abs)": (TypeError, "cond: false_fn must be a function, but nothing"),
    "ops.cond(False, abs, 3, 1)": (TypeError, "cond: false_fn must be a function, but int 3"),
    "ops.cond(True, 2, abs)": (TypeError, "cond: true_fn must be a function, but 2"),
    "ops.WhileLoop()(3, abs, 1)": (TypeError, "WhileLoop: cond_func must be a function, but int"),
    "ops.ForiLoop()(0, 3.5, max, 1)": (TypeError, "ForiLoop: upper must be an integer or a Tensor"),
    "ops.Scan()(max, 0, None)": (TypeError, "Scan: length must be an integer where xs is None"),
    "ops.Scan()(max, 0, [1, 2], 3)": (ValueError, "Scan: length must be the 2 of xs, but 3"),
    "ops.Scan()(max, 0, [1, 2])": (ValueError, "must be a pair: the next carry and a result"),
}


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    with pytest.raises(kind) as raised:
        eval(source, {"ops": ops})
    assert text in str(raised.value)
