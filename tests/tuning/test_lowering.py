# SPDX-License-Identifier: Apache-2.0
"""How convolutions are written for the CPU: each way gives what XLA's own convolution gives.

Oracles: NumPy by the definition for the values, XLA's convolution in Float64 for the gradients,
differences for the second order.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import run_everywhere
from mycel import Tensor, ops
from mycel.tuning import lowering

# x, weight, stride, pads, dilation, groups, and the way that is taken on CPU.
CASES = {
    "pointwise": ((2, 8, 5, 5), (6, 8, 1, 1), 2, 0, 1, 1, "_pointwise"),
    "pointwise, large": ((2, 8, 16, 32), (6, 8, 1, 1), 1, 0, 1, 1, "_product_by_image"),
    "few channels": ((2, 3, 9, 8), (4, 3, 3, 3), 2, 1, 1, 1, "_patches_product"),
    "few outputs": ((2, 1, 9, 8), (6, 1, 5, 4), 1, 1, 1, 1, "_FEW_OUTPUTS"),
    "few outputs, dilation": ((2, 3, 9, 8), (4, 3, 3, 2), 1, 2, 2, 1, "_FEW_OUTPUTS"),
    "short rows": ((16, 6, 14, 13), (8, 6, 5, 4), 1, 0, 1, 1, "_ROWS_BACK"),
    "short rows, padded": ((4, 5, 7, 8), (3, 5, 5, 5), 1, 1, 1, 1, "_ROWS_BACK"),
    "few windows": ((2, 64, 4, 4), (64, 64, 3, 3), 1, 1, 1, 1, "_product_over_patches"),
    "few windows, stride": ((2, 64, 7, 6), (64, 64, 3, 3), 2, 1, 1, 1, "_product_over_patches"),
    "few windows, dilation": ((1, 64, 7, 7), (64, 64, 3, 3), 1, 2, 2, 1, "_product_over_patches"),
    "longer than the input": ((3, 8, 2, 2), (5, 8, 3, 3), 1, 1, 1, 1, "_product_over_patches"),
    "longer than the output": ((1, 8, 6, 3), (5, 8, 2, 3), 2, 1, 1, 1, "_product_over_patches"),
    "one dimension": ((1, 8, 3), (5, 8, 4), 1, 2, 1, 1, "_product_over_patches"),
    "three dimensions": ((1, 8, 2, 3, 2), (5, 8, 3, 3, 3), 1, 1, 1, 1, "_product_over_patches"),
    "by channel": ((2, 6, 8, 7), (6, 1, 3, 3), 1, 1, 1, 6, "_BY_CHANNEL"),
    "by channel, several": ((2, 6, 8, 7), (18, 1, 3, 5), 2, 2, 1, 6, "_BY_CHANNEL"),
    "by channel, stride and dilation": ((2, 6, 11, 9), (6, 1, 3, 2), 3, 1, 2, 6, "_BY_CHANNEL"),
    "by channel, stride beyond": ((2, 6, 9, 8), (6, 1, 2, 1), 3, 0, 1, 6, "_BY_CHANNEL"),
    "by channel, one dimension": ((2, 6, 9), (6, 1, 3), 1, 1, 2, 6, "_BY_CHANNEL"),
    "few groups": ((2, 8, 6, 6), (12, 4, 3, 3), 2, 1, 1, 2, "_grouped"),
    "many groups": ((2, 32, 6, 6), (32, 2, 3, 3), 1, 1, 1, 16, "_products_by_group"),
    "many groups, stride": ((2, 32, 6, 5), (64, 2, 2, 3), 2, 1, 2, 16, "_products_by_group"),
    "all else": ((2, 8, 9, 9), (6, 8, 3, 3), 1, 1, 1, 1, "_general"),
    "a large kernel": ((1, 8, 6, 6), (8, 8, 8, 8), 1, 4, 1, 1, "_general"),
}


def arguments(name):
    """Arrays, and stride, pads, dilation for each dimension, and groups."""
    shape, weight, stride, pad, dilation, groups, way = CASES[name]
    draw, space = np.random.RandomState(3), len(shape) - 2
    arrays = draw.randn(*shape), draw.randn(*weight) / np.sqrt(np.prod(weight[1:]))
    window = (stride,) * space, ((pad, pad),) * space, (dilation,) * space
    return arrays, (*window, groups), way


def by_definition(x, weight, stride, pads, dilation, groups):
    """The convolution, window by window, in NumPy."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    outputs, inputs, *kernel = weight.shape
    spans = zip(x.shape[2:], kernel, stride, dilation, strict=True)
    sizes = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in spans]
    made = np.zeros((x.shape[0], outputs, *sizes))
    for place in itertools.product(*map(range, sizes)):
        cut = tuple(
            slice(p * s, p * s + (k - 1) * d + 1, d)
            for p, s, k, d in zip(place, stride, kernel, dilation, strict=True)
        )
        window = x[(slice(None), slice(None), *cut)].reshape(x.shape[0], groups, inputs, -1)
        parts = weight.reshape(groups, outputs // groups, inputs, -1)
        made[(slice(None), slice(None), *place)] = np.einsum(
            "ngck,gock->ngo", window, parts
        ).reshape(x.shape[0], outputs)
    return made


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, monkeypatch):
    arrays, window, way = arguments(name)
    taken, forms = [], getattr(lowering, way)
    # Ways with gradients of their own are three functions, given to the one that takes them.
    several = isinstance(forms, tuple)
    own = lowering._by_forms if several else forms

    def seen(*given):
        taken.append(any(part is forms for part in given) or not several)
        return own(*given)

    monkeypatch.setattr(lowering, "_by_forms" if several else way, seen)
    made = lowering.convolve(*map(jnp.array, arrays), *window)
    assert any(taken)
    np.testing.assert_allclose(made, by_definition(*arrays, *window), 1e-10, 1e-12)
    cotangent = jnp.array(np.random.RandomState(4).randn(*made.shape))
    _, pull = jax.vjp(lambda x, w: lowering.convolve(x, w, *window), *map(jnp.array, arrays))
    found = pull(cotangent)
    # A gradient is linear in each array: <g, dx> must be what the convolution of dx gives.
    draw = np.random.RandomState(5)
    for position, gradient in enumerate(found):
        change = draw.randn(*gradient.shape)
        moved = [change if i == position else array for i, array in enumerate(arrays)]
        expected = np.sum(by_definition(*moved, *window) * np.array(cotangent))
        np.testing.assert_allclose(np.sum(np.array(gradient) * change), expected, 1e-9)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float16, np.int32])
def test_other_types(name, dtype):
    """Short types are added up in Float32; integers stay exact. Oracle: NumPy by the definition."""
    (x, weight), window, _ = arguments(name)
    if dtype is np.int32:
        x, weight = np.round(x * 10), np.round(weight * 50)
    x, weight = x.astype(dtype), weight.astype(dtype)
    made = lowering.convolve(jnp.array(x), jnp.array(weight), *window)
    expected = by_definition(x.astype(np.float64), weight.astype(np.float64), *window)
    assert made.dtype == dtype
    np.testing.assert_allclose(made.astype(np.float64), expected, 0 if dtype is np.int32 else 2e-3,
                               0 if dtype is np.int32 else 2e-3)  # fmt: skip


@pytest.mark.parametrize("groups", [1, 2, 8])
def test_everywhere(groups):
    """In every execution, with gradients of both orders. Oracle: NumPy, differences."""
    draw = np.random.RandomState(6)
    x = draw.randn(2, 8, 3, 3).astype(np.float32)
    weight = draw.randn(8, 8 // groups, 3, 3).astype(np.float32)
    window = (1, 1), ((1, 1), (1, 1)), (1, 1)

    def convolved(x, w):
        return ops.conv2d(x, w, pad_mode="pad", padding=1, groups=groups)

    for found in run_everywhere(convolved, x, weight).values():
        np.testing.assert_allclose(found, by_definition(x, weight, *window, groups), 1e-4, 1e-5)
    slope = ms.grad(lambda x, w: ops.square(convolved(x, w)).sum())
    second = ms.grad(lambda x, w: (slope(x, w) * Tensor(x0)).sum())
    x0 = draw.randn(*x.shape).astype(np.float32)
    twice = second(Tensor(x), Tensor(weight)).asnumpy()
    # The square is quadratic: its second derivative along x0 is that of its gradient at x0.
    np.testing.assert_allclose(twice, slope(Tensor(x0), Tensor(weight)).asnumpy(), 1e-3, 1e-3)


def test_nothing_in_it():
    """No images, no windows: the shape still follows."""
    made = lowering.convolve(jnp.zeros((0, 8, 4, 4)), jnp.zeros((5, 8, 3, 3)), (1, 1),
                             ((1, 1), (1, 1)), (1, 1), 1)  # fmt: skip
    assert made.shape == (0, 5, 4, 4)


# x, kernel, stride, pads, dilation.
POOLS = {
    "overlapping": ((2, 3, 9, 8), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    "all different": ((2, 2, 9, 8), (3, 2), (1, 2), ((0, 1), (1, 0)), (2, 1)),
    "gaps": ((2, 2, 10, 9), (2, 2), (3, 3), ((0, 0), (0, 0)), (1, 1)),
    "one dimension": ((2, 3, 11), (3,), (4,), ((1, 1),), (2,)),
    "three dimensions": (
        (1, 2, 6, 7, 8),
        (2, 3, 2),
        (2, 1, 3),
        ((0, 0), (1, 1), (1, 0)),
        (1, 1, 2),
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_the_first_maximum_of_each_window_gets_its_gradient(name):
    """Oracle: window by window, in NumPy; small integers, so that many maxima are ties."""
    shape, kernel, stride, pads, dilation = POOLS[name]
    draw = np.random.RandomState(7)
    x = draw.randint(0, 4, shape).astype(np.float32)
    made = np.array(lowering.maximum_of_windows(jnp.array(x), kernel, stride, pads, dilation))
    cotangent = draw.randint(-4, 5, made.shape).astype(np.float32)
    padded = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=-np.inf)
    expected = np.zeros_like(padded)
    for place in np.ndindex(*made.shape):
        for offset in np.ndindex(*kernel):
            steps = zip(place[2:], stride, offset, dilation, strict=True)
            met = (*place[:2], *[p * s + o * d for p, s, o, d in steps])
            if padded[met] == made[place]:
                expected[met] += cotangent[place]
                break
        else:
            raise AssertionError(f"{place} is no maximum of its window")
    cut = [slice(low, low + n) for n, (low, _) in zip(shape[2:], pads, strict=True)]
    found = lowering.maximum_of_windows_reverse(
        *map(jnp.array, (x, made, cotangent)), kernel, stride, pads, dilation
    )
    np.testing.assert_array_equal(found, expected[(..., *cut)])
