# SPDX-License-Identifier: Apache-2.0
"""Unpooling, pooling by norms, and pooling over windows at random places."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, nn, ops
from support.recorded_operators import agrees, cases, gradients_by_differences


def numbers(*shape, seed=0, dtype=np.float64):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("unpooling")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def test_maxima_return_to_their_places():
    # Oracle: NumPy; what pooling found is there, and zeros elsewhere.
    x = numbers(2, 3, 4, 6)

    def there_and_back(x):
        pooled, places = ops.max_pool2d(x, 2, 2, return_indices=True)
        return ops.max_unpool2d(pooled, places, 2)

    def oracle(x):
        largest = x.reshape(2, 3, 2, 2, 3, 2).max((3, 5), keepdims=True)
        return np.where(x.reshape(2, 3, 2, 2, 3, 2) == largest, largest, 0).reshape(x.shape)

    matches(there_and_back, oracle, x)
    expected = gradients_by_differences(there_and_back, (x,))[0]
    for name, actual in run_everywhere(ms.grad(there_and_back), x).items():
        assert_close(actual, expected, name, "float32")


@pytest.mark.parametrize("order", [1, 2, 3])
def test_norms_of_windows(order):
    # Oracle: NumPy; an odd root keeps the sign of the sum.
    x = numbers(2, 3, 4, 6)

    def pooled(x):
        return ops.lp_pool2d(x, order, (2, 3))

    def oracle(x):
        sums = (x**order).reshape(2, 3, 2, 2, 2, 3).sum((3, 5))
        return np.sign(sums) * abs(sums) ** (1 / order)

    matches(pooled, oracle, x)
    slopes = gradients_by_differences(pooled, (x[:1, :1],))[0]
    for name, actual in run_everywhere(ms.grad(pooled), x[:1, :1]).items():
        assert_close(actual, slopes, name, "float32")


def test_random_windows():
    # Oracle: NumPy reads the maxima at the positions; each window starts where chance allows it.
    ms.set_seed(2)
    x = numbers(2, 3, 7, 9)
    layer = nn.FractionalMaxPool2d((2, 3), (4, 5), return_indices=True)
    for pooled, places in run_everywhere(lambda x: layer(x), x).values():
        assert pooled.shape == places.shape == (2, 3, 4, 5)
        found = np.take_along_axis(x.reshape(2, 3, -1), places.reshape(2, 3, -1), 2)
        np.testing.assert_array_equal(found.reshape(pooled.shape), pooled)
        rows, columns = places // 9, places % 9
        assert (rows[:, :, -1] >= 5).all()
        assert (columns[..., 0] <= 2).all()
        assert (np.diff(rows, axis=2) >= -1).all()
    drawn = {layer(Tensor(x))[0].asnumpy().tobytes() for _ in range(5)}
    assert len(drawn) > 1


def test_gradient_of_random_windows():
    # Oracle: finite differences, the same places.
    x, samples = numbers(1, 2, 4, 5, 4), Tensor(np.full((1, 2, 3), 0.4, np.float32))

    def pooled(x):
        return ops.fractional_max_pool3d(x, 2, (2, 3, 2), _random_samples=samples)

    expected = gradients_by_differences(pooled, (x,))[0]
    for name, actual in run_everywhere(ms.grad(pooled), x).items():
        assert_close(actual, expected, name, "float32")


def test_errors():
    x = Tensor(numbers(1, 2, 5, 6))
    with pytest.raises(ValueError, match="Either output_size or output_ratio must be given"):
        ops.fractional_max_pool2d(x, 2)
    with pytest.raises(ValueError, match="do not fit into"):
        ops.fractional_max_pool2d(x, 4, (4, 4))
    with pytest.raises(ValueError, match="with a place for each element"):
        ops.max_unpool2d(x, Tensor([1]), 2)
    with pytest.raises(TypeError, match="norm_type must be a number, not 'a'"):
        ops.lp_pool2d(x, "a", 2)
