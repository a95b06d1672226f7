# SPDX-License-Identifier: Apache-2.0
"""Gradients of complex numbers: where a real result grows, as MindSpore's are."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Tensor, ops

Z = np.array([1 + 2j, -0.5 + 0.3j])
W = np.array([0.3 - 1j, 2 + 1j])
X = np.array([0.7, -1.2])

OF_COMPLEX = {
    "squares": lambda z, w: (ops.real(z) ** 2 + ops.imag(z) ** 2).sum(),
    "imag": lambda z, w: ops.imag(z).sum(),
    "abs": lambda z, w: ops.abs(z).sum(),
    "angle": lambda z, w: ops.angle(z).sum(),
    "mul": lambda z, w: ops.real(z * w).sum(),
    "square": lambda z, w: ops.imag(z * z).sum(),
    "div": lambda z, w: ops.real(w / z).sum(),
    "exp": lambda z, w: ops.imag(ops.exp(z)).sum(),
    "sqrt": lambda z, w: ops.real(ops.sqrt(z)).sum(),
    "log": lambda z, w: ops.imag(ops.log(z)).sum(),
    "tanh": lambda z, w: ops.real(ops.tanh(z)).sum(),
    "conj": lambda z, w: ops.real(ops.conj(z) * w).sum(),
    "matmul": lambda z, w: ops.imag(ops.matmul(z.reshape(1, 2), w.reshape(2, 1))).sum(),
    "view_as_real": lambda z, w: (ops.view_as_real(z) ** 2).sum(),
    "fft": lambda z, w: ops.abs(ops.fft(z)).sum(),
    "ifft": lambda z, w: ops.imag(ops.ifft(z) * w).sum(),
    "irfft": lambda z, w: (ops.irfft(z) ** 2).sum(),
}
OF_REAL = {
    "complex": lambda x, w: ops.real(ops.Complex()(x, x * 2) * w).sum(),
    "mul": lambda x, w: ops.imag(x * w).sum(),
    "rfft": lambda x, w: (ops.abs(ops.rfft(x)) ** 2).sum(),
    "polar": lambda x, w: ops.imag(ops.polar(ops.abs(x), x) * w).sum(),
}


def by_differences(function, point: np.ndarray, step=1e-6) -> np.ndarray:
    """The slope in each real direction, and beside it in each imaginary one."""
    slopes = np.zeros_like(point)
    for direction in (1, 1j) if np.iscomplexobj(point) else (1,):
        for i in range(point.size):
            moved = np.zeros_like(point)
            moved[i] = direction * step
            slopes[i] += direction * (function(point + moved) - function(point - moved)) / 2 / step
    return slopes


@pytest.mark.parametrize("way", ["direct", "fused", "graph"])
@pytest.mark.parametrize("name", OF_COMPLEX)
def test_of_a_complex_number(name, way):
    # Oracle: finite differences. MindSpore 2.10 gives the same where it has a derivative.
    function, w = OF_COMPLEX[name], Tensor(W)
    expected = by_differences(lambda z: float(function(Tensor(z), w)), Z)
    with execution(way):
        slope = ms.jit(ms.grad(function)) if way == "graph" else ms.grad(function)
        for _ in range(3):
            np.testing.assert_allclose(slope(Tensor(Z), w).asnumpy(), expected, 1e-5, 1e-6)


@pytest.mark.parametrize("name", OF_REAL)
def test_through_complex_numbers(name):
    # Oracle: finite differences.
    function, w = OF_REAL[name], Tensor(W)
    expected = by_differences(lambda x: float(function(Tensor(x), w)), X)
    np.testing.assert_allclose(ms.grad(function)(Tensor(X), w).asnumpy(), expected, 1e-5, 1e-6)


def test_descent_reaches_the_least():
    # Oracle: the least of |z - w|² is at w.
    z, w = Tensor(Z), Tensor(W)
    slope = ms.grad(lambda z: (ops.abs(z - w) ** 2).sum())
    for _ in range(60):
        z = z - slope(z) * 0.2
    np.testing.assert_allclose(z.asnumpy(), W, 1e-6, 1e-6)
