# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions, against MindSpore's answers and the definition in NumPy."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from mycel.ops.nn import transposed
from mycel.ops.nn.transposed import transposed_convolution
from support.recorded_operators import agrees, cases, gradients_by_differences


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("transposed")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def spread(x, weight, stride, cuts, dilation, groups):
    """The definition: every element of x adds a multiple of its kernels to the result."""
    lengths, kernel = x.shape[2:], weight.shape[2:]
    spans = list(zip(lengths, kernel, stride, dilation, strict=True))
    # What a negative cut asks for lies in the margin.
    margin = 8
    full = [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in spans]
    inputs, outputs = x.shape[1] // groups, weight.shape[1]
    made = np.zeros((x.shape[0], outputs * groups, *[n + margin for n in full]))
    for group in range(groups):
        of_x = slice(group * inputs, (group + 1) * inputs)
        of_made = slice(group * outputs, (group + 1) * outputs)
        for place in np.ndindex(*lengths):
            for element in np.ndindex(*kernel):
                parts = zip(place, element, stride, dilation, strict=True)
                target = tuple(p * s + e * d for p, e, s, d in parts)
                share = x[(slice(None), of_x, *place)] @ weight[(of_x, slice(None), *element)]
                made[(slice(None), of_made, *target)] += share
    kept = [slice(front, n - behind) for n, (front, behind) in zip(full, cuts, strict=True)]
    return made[(slice(None), slice(None), *kept)].astype(x.dtype)


# Lengths of x, kernel, stride, cuts, dilation, groups.
CASES = {
    "line": ((5,), (3,), (2,), ((1, 0),), (1,), 1),
    "image": ((4, 5), (3, 2), (2, 1), ((1, 1), (0, 1)), (1, 1), 1),
    "groups": ((3, 4), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 2),
    "depth by depth": ((3, 4), (2, 2), (1, 2), ((0, 0), (0, 0)), (1, 1), 4),
    "dilation": ((3, 4), (2, 3), (3, 2), ((1, 2), (0, 1)), (2, 2), 2),
    "longer": ((3, 4), (2, 2), (3, 3), ((0, -1), (0, -2)), (1, 1), 1),
    "cut beyond the kernel": ((6, 5), (2, 2), (1, 1), ((2, 2), (3, 0)), (1, 1), 1),
    "side by side": ((3, 4), (2, 3), (2, 3), ((0, 0), (0, 0)), (1, 1), 1),
    "side by side in groups": ((3, 4), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1), 2),
    "volume": ((2, 3, 2), (2, 1, 3), (2, 2, 1), ((0, 1), (0, 0), (1, 1)), (1, 1, 1), 2),
    "volume side by side": ((2, 1, 3), (2, 2, 2), (2, 2, 2), ((0, 0),) * 3, (1, 1, 1), 1),
    # XLA's CPU compiler ends the process for these, unless x is lengthened.
    "shorter than the kernel": ((4, 2), (2, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 1),
    "one column": ((4, 1), (2, 2), (2, 2), ((1, 1), (0, 0)), (1, 1), 1),
    "short volume": ((3, 2, 4), (2, 3, 2), (2, 2, 2), ((1, 1),) * 3, (1, 1, 1), 1),
    "one wide kernel": ((4, 3), (4, 4), (3, 2), ((1, -1), (3, 3)), (1, 1), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_definition(name):
    # Oracle: the definition in NumPy; gradients by finite differences.
    lengths, kernel, *settings = CASES[name]
    groups = settings[-1]
    x = numbers(2, 4, *lengths)
    weight = numbers(4, 4 // groups, *kernel, seed=1)
    matches(
        lambda x, w: transposed_convolution(x, w, *settings),
        lambda x, w: spread(x, w, *settings),
        x,
        weight,
    )
    inputs = numbers(1, 4, *lengths, dtype=np.float64), weight[:, :1].astype(np.float64)

    def squared(x, weight):
        made = transposed_convolution(x, weight, *settings)
        return made * made

    expected = gradients_by_differences(squared, inputs)
    for execution, actual in run_everywhere(ms.grad(squared, (0, 1)), *inputs).items():
        assert_close(list(actual), expected, execution, "float32")


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_element_types_stay(dtype):
    # Oracle: the definition in NumPy.
    x, weight = numbers(1, 2, 3, 4).astype(dtype), numbers(2, 3, 3, 3, seed=1).astype(dtype)
    expected = spread(x.astype(np.float64), weight.astype(np.float64), (2, 2), ((1, 1),) * 2,
                      (1, 1), 1)  # fmt: skip
    matches(
        lambda x, w: ops.conv_transpose2d(x, w, stride=2, padding=1),
        lambda *_: expected.astype(dtype),
        x,
        weight,
    )


def test_lowering_is_one_convolution(monkeypatch):
    """Oracle: counting; the derivative is two more convolutions, one by x and one by weight."""
    settings = {"stride": (2, 2), "cuts": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 2}
    x, weight = numbers(1, 4, 5, 5), numbers(4, 3, 3, 3)

    def function(x, weight):
        return transposed_convolution.definition.function(x, weight, **settings)

    def derivative(x, weight):
        made, pull = jax.vjp(function, x, weight)
        return pull(made)

    for called, count in ((function, 1), (derivative, 3)):
        written = str(jax.make_jaxpr(called)(x, weight))
        assert written.count("conv_general_dilated[") == count
        assert "scatter" not in written
    beside = settings | {"cuts": ((0, 0), (0, 0)), "groups": 1}
    weight = numbers(4, 3, 2, 2)

    def written(x, weight):
        return transposed_convolution.definition.function(x, weight, **beside)

    monkeypatch.setattr(transposed, "on_cpu", lambda: True)
    assert "conv_general_dilated" not in str(jax.make_jaxpr(written)(x, weight))
    product = written(x, weight)
    monkeypatch.setattr(transposed, "on_cpu", lambda: False)
    text = str(jax.make_jaxpr(lambda x, w: written(x, w))(x, weight))
    assert text.count("conv_general_dilated[") == 1
    np.testing.assert_allclose(written(x, weight), product, 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("size", "settings"),
    [((7, 9), {"pad_mode": "same", "stride": 2}),
     ((7, 9), {"pad_mode": "valid", "stride": (1, 1, 2, 1)}),
     ((8, 6), {"pad_mode": "pad", "pad": (1, 0, 2, 1), "dilation": 2}),
     ((6, 6), {"group": 2})],
)  # fmt: skip
def test_derivative_of_a_convolution(size, settings):
    # Oracle: the derivative of Conv2D.
    x, weight = numbers(2, 4, *size), numbers(6, 4 // settings.get("group", 1), 3, 3, seed=1)
    named = dict(settings)
    if isinstance(named.get("stride"), tuple):
        named["stride"] = named["stride"][2:]
    forward = ops.Conv2D(6, 3, **named)
    output = numbers(*forward(Tensor(x), Tensor(weight)).shape, seed=2)

    def scalar(x, weight, output):
        return (forward(x, weight) * output).sum()

    expected = ms.grad(scalar)(Tensor(x), Tensor(weight), Tensor(output)).asnumpy()
    for kind in (ops.Conv2DTranspose, ops.Conv2DBackpropInput):
        backward = kind(6, 3, **settings)
        matches(lambda y, w, b=backward: b(y, w, x.shape), lambda *_: expected, output, weight)


def test_depthwise_convolution():
    # Oracle: a convolution in groups.
    x, weight = numbers(1, 3, 5, 4), numbers(2, 3, 3, 2, seed=1)
    grouped = weight.swapaxes(0, 1).reshape(6, 1, 3, 2)
    expected = ops.conv2d(Tensor(x), Tensor(grouped), groups=3, stride=2).asnumpy()
    layer = ops.DepthwiseConv2dNative(2, (3, 2), stride=(1, 1, 2, 2))
    matches(lambda x, w: layer(x, w), lambda *_: expected, x, weight)


def test_mint_and_bias():
    # Oracle: the definition in NumPy.
    x, weight, bias = numbers(1, 2, 3, 3), numbers(2, 3, 3, 3, seed=1), numbers(3, seed=2)
    made = spread(x, weight, (2, 2), ((1, 0), (1, 0)), (1, 1), 1) + bias.reshape(1, 3, 1, 1)
    for function in (ops.conv_transpose2d, ms.mint.nn.functional.conv_transpose2d):
        matches(
            lambda x, w, b, f=function: f(x, w, b, 2, 1, output_padding=1),
            lambda *_: made,
            x,
            weight,
            bias,
        )


ERRORS = {
    "x has 2 channels, but the weight of shape (3, 4, 3, 3) expects 3": {"weight": (3, 4, 3, 3)},
    "must have as many dimensions": {"weight": (2, 4, 3)},
    "2 channels do not divide into 3 groups": {"groups": 3},
    "must be positive": {"stride": 0},
    "output_padding (2, 2) must be below": {"output_padding": 2, "stride": 2},
    "Padding takes away all that x": {"padding": 9},
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text):
    given = dict(ERRORS[text])
    weight = Tensor(numbers(*given.pop("weight", (2, 4, 3, 3))))
    with pytest.raises(ValueError) as caught:
        ops.conv_transpose2d(Tensor(numbers(1, 2, 5, 5)), weight, **given)
    assert text in str(caught.value)


def test_errors_of_primitives():
    y, weight = Tensor(numbers(1, 3, 4, 5)), Tensor(numbers(3, 2, 3, 3))
    with pytest.raises(ValueError, match=r"gives \(1, 3, 5, 5\), not \(1, 3, 4, 5\)"):
        ops.Conv2DTranspose(3, 3)(y, weight, (1, 2, 7, 7))
    with pytest.raises(ValueError, match="kernel_size is"):
        ops.Conv2DTranspose(3, 2)(y, weight, (1, 2, 6, 7))
    with pytest.raises(ValueError, match="out_channel is 2"):
        ops.Conv2DTranspose(2, 3)(y, weight, (1, 2, 6, 7))
    with pytest.raises(ValueError, match="in_channel is 2"):
        ops.Conv3DTranspose(2, 1, 2)(Tensor(numbers(1, 3, 2, 2, 2)), Tensor(numbers(3, 1, 2, 2, 2)))
    with pytest.raises(ValueError, match="with 2 kernels for each"):
        ops.DepthwiseConv2dNative(2, 3)(y, weight)
