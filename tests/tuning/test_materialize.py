# SPDX-License-Identifier: Apache-2.0
"""Large arrays that are read through windows and once more are written down once.

Oracles: direct execution, which knows nothing of it, and NumPy.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import assert_close, run_everywhere
from mycel import Tensor, ops
from mycel.kernel.base import backend
from mycel.kernel.execute.compile import executables
from mycel.tuning import materialize

SHAPE = (2, 4, 8, 8)


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    """The bound would ask for a MiB; what is compiled otherwise is forgotten on both sides."""
    monkeypatch.setattr(materialize, "LARGE", 1)
    executables.clear()
    yield
    executables.clear()


@pytest.fixture
def shapes(monkeypatch):
    """The shapes that are written down, from now on."""
    seen = []

    def spy(array):
        seen.append(array.shape)
        return materialize.materialize(array)

    monkeypatch.setattr(backend.tuning, "materialize", spy)
    return seen


def chain(x, weight):
    """Sums of residuals, each read by a convolution, a maximum of windows and the next sum."""
    for _ in range(3):
        x = ops.relu(x + ops.conv2d(x, weight, pad_mode="same"))
        x = x + ops.max_pool2d(x, 3, stride=1, padding=1)
    return x


def test_values_and_gradients_are_those_of_direct_execution(shapes):
    draw = np.random.RandomState(2)
    x = draw.randn(*SHAPE).astype(np.float32)
    weight = draw.randn(4, 4, 3, 3).astype(np.float32) / 6
    found = run_everywhere(ms.value_and_grad(lambda *xs: chain(*xs).sum(), (0, 1)), x, weight)
    assert shapes
    for name in ("fused", "graph"):
        assert_close(found[name], found["direct"], name)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_infinity_at_the_first_place(number, shapes):
    """The loop that never runs asks whether the first number is beyond infinity."""
    x = np.ones(SHAPE, np.float32)
    x[0, 0, 0, 0] = number
    made = Tensor(x) * 2
    found = ops.conv2d(made, ops.ones((4, 4, 1, 1), ms.float32)) + made
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found.asnumpy(), (2 * x).sum(1, keepdims=True) + 2 * x)
    assert shapes == [SHAPE]


def test_what_is_written(shapes):
    """A convolution reads once, so that what made its input may join it; its reverse twice."""
    x, weight = ops.ones(SHAPE, ms.float32), ops.ones((4, 4, 3, 3), ms.float32)

    def convolved(x):
        return ops.conv2d(x + 1, weight)

    convolved(x).asnumpy()
    assert not shapes
    ms.grad(lambda x: ops.tanh(convolved(x)).sum())(x).asnumpy()
    # The input, and the cotangent behind the tanh.
    assert sorted(shapes) == [(2, 4, 6, 6), SHAPE]


def test_small_arrays_and_whole_numbers_stay(monkeypatch, shapes):
    array = jnp.ones(SHAPE, "float32")
    assert materialize.materialize(array) is not array
    assert materialize.materialize(whole := array.astype("int32")) is whole
    assert materialize.materialize(nothing := array[:, :0]) is nothing
    monkeypatch.setattr(materialize, "LARGE", array.size + 1)
    x, weight = ops.ones(SHAPE, ms.float32), ops.ones((4, 4, 3, 3), ms.float32)
    ms.grad(lambda x: ops.tanh(ops.conv2d(x + 1, weight)).sum())(x).asnumpy()
    assert not shapes
