# SPDX-License-Identifier: Apache-2.0
"""First and second derivatives of the smooth operators. Oracle: finite differences in Float64."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Tensor, ops

ANY = np.array([-1.3, -0.4, 0.3, 1.7])
POSITIVE = np.array([0.3, 0.9, 1.6, 2.4])
INSIDE = np.array([-0.7, -0.2, 0.4, 0.8])
ABOVE_ONE = np.array([1.2, 1.7, 2.5, 3.1])

ONE = {
    "neg": ANY, "square": ANY, "exp": ANY, "exp2": ANY, "expm1": ANY, "log": POSITIVE,
    "log2": POSITIVE, "log10": POSITIVE, "log1p": POSITIVE, "sqrt": POSITIVE, "rsqrt": POSITIVE,
    "reciprocal": POSITIVE, "sin": ANY, "cos": ANY, "tan": INSIDE, "asin": INSIDE, "acos": INSIDE,
    "atan": ANY, "sinh": ANY, "cosh": ANY, "asinh": ANY, "acosh": ABOVE_ONE, "atanh": INSIDE,
    "erf": ANY, "erfc": ANY, "erfinv": INSIDE, "lgamma": POSITIVE, "digamma": POSITIVE,
    "logit": POSITIVE / 3, "sinc": POSITIVE, "abs": POSITIVE, "deg2rad": ANY, "rad2deg": ANY,
}  # fmt: skip
OTHER = np.array([0.8, -1.1, 0.6, 1.4])
TWO = {
    "add": (ANY, OTHER), "sub": (ANY, OTHER), "mul": (ANY, OTHER), "div": (ANY, OTHER),
    "pow": (POSITIVE, OTHER), "atan2": (ANY, OTHER), "hypot": (ANY, OTHER),
    "logaddexp": (ANY, OTHER), "logaddexp2": (ANY, OTHER), "xlogy": (ANY, POSITIVE),
    "maximum": (ANY, OTHER), "minimum": (ANY, OTHER), "fmod": (ANY, OTHER * 7),
}  # fmt: skip
EXPRESSIONS = {
    "x ** 3": lambda x: x**3,
    "x ** -2": lambda x: x**-2,
    "x ** 2.5": lambda x: x**2.5,
    "2 ** x": lambda x: 2**x,
    "mean": lambda x: ops.mean(ops.square(x)) * x,
    "prod": lambda x: ops.prod(x) * x,
    "var": lambda x: ops.var(x) * x,
    "norm": lambda x: ops.norm(x) * x,
    "logsumexp": lambda x: ops.logsumexp(x, 0) * x,
    "cumsum": lambda x: ops.cumsum(x * x, 0) * x,
    "cumprod": lambda x: ops.cumprod(x, 0) * x,
    "matmul": lambda x: ops.matmul(ops.outer(x, x), x),
    "lerp": lambda x: ops.lerp(x, x * x, x),
    "addcdiv": lambda x: ops.addcdiv(x, x * x, x + 1, 0.5),
    "clamp": lambda x: ops.clamp(x * x, 0.5, 4.0) * x,
    "where": lambda x: ops.where(x > 1, x * x * x, x * x),
    "amax": lambda x: ops.amax(x, 0) * x,
    "max": lambda x: ops.max(x, 0)[0] * x,
    "median": lambda x: ops.median(x, 0)[0] * x,
    "cast": lambda x: (x * x).astype(ms.float64) * x,
}


def differences(function, x, step=1e-5):
    """Central differences of the sum of the results, element by element of x."""
    found = np.zeros_like(x)
    for i in range(x.size):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        found[i] = (function(ahead) - function(behind)).sum() / (2 * step)
    return found


def check(function, x, how):
    """The first derivative against the values, the second against the first."""
    weights = Tensor(np.linspace(0.5, 1.5, x.size))
    first = ms.grad(lambda t: function(t) * weights)
    second = ms.grad(lambda t: first(t) * weights)
    with execution(how):
        values = {
            name: f(Tensor(x)).asnumpy() for name, f in (("first", first), ("second", second))
        }

    def weighted(f):
        return lambda array: f(Tensor(array)).asnumpy() * weights.asnumpy()

    np.testing.assert_allclose(values["first"], differences(weighted(function), x), 2e-7, 1e-8)
    np.testing.assert_allclose(values["second"], differences(weighted(first), x), 2e-6, 1e-7)


@pytest.mark.parametrize("how", ["direct", "fused"])
@pytest.mark.parametrize("name", ONE)
def test_one_operand(name, how):
    check(getattr(ops, name), ONE[name], how)


@pytest.mark.parametrize("how", ["direct", "fused"])
@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("name", TWO)
def test_two_operands(name, position, how):
    fixed = Tensor(TWO[name][1 - position])
    function = getattr(ops, name)
    if position == 0:
        check(lambda t: function(t, fixed), TWO[name][0], how)
    else:
        check(lambda t: function(fixed, t), TWO[name][1], how)


@pytest.mark.parametrize("how", ["direct", "fused"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name, how):
    check(EXPRESSIONS[name], POSITIVE, how)
