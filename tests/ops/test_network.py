# SPDX-License-Identifier: Apache-2.0
"""Operators of networks: activations, convolution, pooling, normalisation, dropout."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import scipy.special

import mycel as ms
from harness import EXECUTIONS, assert_close, execution, matches, run_everywhere
from mycel import Parameter, Tensor, ops
from mycel.tuning import lowering
from mycel.tuning.native import cpp
from support.recorded_operators import agrees, cases, gradients_by_differences

WITHOUT = {
    "one_minus_cosine": "not there yet",
}
# Sums of Float16 inside: only as good as that type.
COARSE = {"softmax_dtype": "float16"}
OTHER_ERROR = {"conv2d_bad_channels": ValueError, "dropout_bad_p": ValueError}


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("images", without=WITHOUT)))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded, OTHER_ERROR.get(case.name), tolerance=COARSE.get(case.name))


# -- activations ------------------------------------------------------------------------------

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "gelu": lambda x: x * scipy.special.ndtr(x),
    "silu": lambda x: x * scipy.special.expit(x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "sigmoid": scipy.special.expit,
    "tanh": np.tanh,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softmax": lambda x: scipy.special.softmax(x, -1),
    "softmin": lambda x: scipy.special.softmax(-x, -1),
    "log_softmax": lambda x: scipy.special.log_softmax(x, -1),
    "logsigmoid": scipy.special.log_expit,
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "tanhshrink": lambda x: x - np.tanh(x),
    "fast_gelu": lambda x: x * scipy.special.expit(1.702 * x),
}
SMOOTH = (
    "gelu", "silu", "mish", "sigmoid", "tanh", "softplus", "softmax", "log_softmax", "logsigmoid",
    "tanhshrink", "fast_gelu",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name, dtype):
    # Oracle: NumPy and SciPy, in Float64; the type must stay.
    x = (numbers(4, 5) * 3).astype(dtype)
    expected = ACTIVATIONS[name](x.astype(np.float64)).astype(dtype)
    matches(getattr(ops, name), lambda _: expected, x)
    slope = ms.grad(getattr(ops, name))(Tensor(x))
    assert slope.asnumpy().dtype == dtype


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivative_of_activation(name):
    # Oracle: finite differences in Float64, away from kinks; to second order where smooth.
    function = getattr(ops, name)
    x = numbers(3, 4, dtype=np.float64) * 2
    weights = Tensor(numbers(3, 4, seed=1, dtype=np.float64))

    def weighted(x):
        return function(x) * weights

    expected = gradients_by_differences(weighted, (x,))[0]
    for execution_name, actual in run_everywhere(ms.grad(weighted), x).items():
        assert_close(actual, expected, execution_name, "float32")
    if name in SMOOTH:
        second = ms.grad(lambda x: ms.grad(weighted)(x) * weights)
        expected = gradients_by_differences(lambda x: ms.grad(weighted)(x) * weights, (x,))[0]
        for execution_name, actual in run_everywhere(second, x).items():
            assert_close(actual, expected, execution_name, "float32")


def test_large_inputs_stay_finite():
    x = np.array([-1e4, -100, 100, 1e4], np.float32)
    for name in ("softmax", "log_softmax", "softplus", "logsigmoid", "gelu", "mish", "sigmoid"):
        function = getattr(ops, name)
        assert np.isfinite(function(Tensor(x)).asnumpy()).all(), name
        assert np.isfinite(ms.grad(function)(Tensor(x)).asnumpy()).all(), name


def test_integers_are_refused_where_only_real_numbers_make_sense():
    for name in ("gelu", "elu", "softplus", "softmax", "mish"):
        with pytest.raises(TypeError, match="needs real numbers"):
            getattr(ops, name)(Tensor([1, 2]))


def test_relu_in_place():
    x = Tensor([-1.0, 2.0])
    assert ops.relu(x, inplace=True) is x
    assert x.asnumpy().tolist() == [0, 2]


# -- convolution ------------------------------------------------------------------------------


def convolved(x, weight, stride, pads, dilation, groups):
    """A convolution in NumPy by its definition."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    count, _, *space = x.shape
    outputs, channels, *kernel = weight.shape
    sizes = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, s, d in zip(space, kernel, stride, dilation, strict=True)
    ]
    made = np.zeros((count, outputs, *sizes))
    for place in np.ndindex(*sizes):
        window = tuple(
            slice(p * s, p * s + (k - 1) * d + 1, d)
            for p, s, k, d in zip(place, stride, kernel, dilation, strict=True)
        )
        patch = x[(slice(None), slice(None), *window)]
        for o in range(outputs):
            first = o // (outputs // groups) * channels
            share = patch[:, first : first + channels] * weight[o]
            made[(slice(None), o, *place)] = share.reshape(count, -1).sum(1)
    return made


# in, out, kernel, stride, pad_mode, padding, dilation, groups, size
CONVOLUTIONS = [
    (1, 6, (5, 5), 1, "valid", 0, 1, 1, (9, 8)),
    (3, 4, (3, 3), 2, "same", 0, 1, 1, (7, 8)),
    (3, 4, (3, 2), (2, 1), "pad", (1, 2), (1, 2), 1, (8, 9)),
    (2, 4, (3, 3), 1, "pad", 1, 1, 2, (6, 6)),
    (4, 3, (1, 1), 1, "valid", 0, 1, 1, (5, 4)),
    (4, 3, (1, 1), 2, "valid", 0, 1, 1, (5, 4)),
    (4, 3, (1, 1), 2, "same", 0, 1, 1, (5, 4)),
    (2, 3, (1, 1), 1, "pad", 1, 1, 1, (3, 3)),
    (16, 8, (3, 3), 1, "same", 0, 1, 1, (6, 6)),
    (16, 16, (3, 3), 2, "pad", (1, 0), 1, 16, (6, 6)),
]


def two(numbers):
    return numbers if isinstance(numbers, tuple) else (numbers, numbers)


@pytest.mark.parametrize("row", CONVOLUTIONS)
def test_convolution(row):
    # Oracle: the definition in NumPy; its gradients by finite differences.
    channels, outputs, kernel, stride, mode, padding, dilation, groups, size = row
    x = numbers(2, channels, *size, dtype=np.float64)
    weight = numbers(outputs, channels // groups, *kernel, seed=1, dtype=np.float64)
    stride2, dilation2 = two(stride), two(dilation)
    if mode == "same":
        missing = [
            max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
            for n, s, k, d in zip(size, stride2, kernel, dilation2, strict=True)
        ]
        pads = [(m // 2, m - m // 2) for m in missing]
    else:
        pads = [(n, n) for n in two(padding)]

    def function(x, weight):
        return ops.conv2d(x, weight, None, stride, mode, padding, dilation, groups)

    expected = convolved(x, weight, stride2, pads, dilation2, groups)
    for name, actual in run_everywhere(function, x, weight).items():
        assert_close(actual, expected, name)

    def loss(x, weight):
        y = function(x, weight)
        return (y * y).sum() / 2

    # The derivative of half the sum of squares is linear in each: a few directions suffice.
    slopes = ms.grad(loss, (0, 1))(Tensor(x), Tensor(weight))
    for seed in range(3):
        for position, slope in enumerate(slopes):
            inputs = [x, weight]
            direction = numbers(*inputs[position].shape, seed=seed + 9, dtype=np.float64)
            ends = []
            for sign in (1, -1):
                moved = list(inputs)
                moved[position] = inputs[position] + sign * 1e-5 * direction
                ends.append(loss(*map(Tensor, moved)).item())
            expected = (ends[0] - ends[1]) / 2e-5
            assert_close((slope.asnumpy() * direction).sum(), np.float64(expected), "", "float32")


@pytest.mark.parametrize("channels", [1, 3, 8, 16])
def test_every_lowering_gives_the_same(channels):
    # Oracle: XLA's own convolution.
    x, weight = numbers(2, channels, 9, 8), numbers(4, channels, 3, 2, seed=1)
    arguments = (2, 1), ((1, 0), (2, 1)), (1, 2)
    expected = lowering._general(x, weight, *arguments, 1)
    for function in (lowering._patches_product,):
        assert_close(function(x, weight, *arguments), expected)
    weight = weight[:, :, :1, :1]
    expected = lowering._general(x, weight, (1, 1), ((0, 0), (0, 0)), (1, 1), 1)
    assert_close(lowering._pointwise(x, weight), expected)


def test_few_channels_need_no_convolution_of_xlas_on_cpu():
    # Counted in what XLA is given where nothing is compiled from C++, forwards and backwards; with
    # fewer outputs than a patch has elements, the gradient of the weight alone is a convolution
    # (see test_lowering).
    def text(channels, kernel):
        x, weight = numbers(2, channels, 9, 8), numbers(32, channels, *kernel, seed=1)

        def loss(x, weight):
            return lowering.convolve(x, weight, (1, 1), ((0, 0), (0, 0)), (1, 1), 1).sum()

        with cpp.portable():
            return jax.jit(jax.value_and_grad(loss, (0, 1))).lower(x, weight).as_text()

    assert "stablehlo.convolution" not in text(1, (5, 5))
    assert "stablehlo.convolution" not in text(16, (1, 1))
    assert "stablehlo.convolution" in text(16, (3, 3))


def test_gradients_where_there_is_more_padding_than_the_kernel_reaches():
    """XLA's own gradient of x read beside its input there, for one dimension of space.

    The oracle is NumPy's: what a convolution does, transposed.
    """
    x = numbers(3, 13, 35, dtype=np.float64)
    weight = numbers(25, 13, 2, seed=1, dtype=np.float64)
    slopes = numbers(3, 25, 36, seed=2, dtype=np.float64)
    expected = np.zeros((3, 13, 37))
    for k in range(2):
        expected[:, :, k : k + 36] += np.einsum("noi,oc->nci", slopes, weight[:, :, k])

    def convolved(x):
        return lowering._general(x, weight.astype(x.dtype), (1,), ((2, 0),), (1,))

    for dtype in (np.float32, np.float64):
        pull = jax.jit(lambda x, slopes: jax.vjp(convolved, x)[1](slopes)[0])
        found = pull(x.astype(dtype), slopes.astype(dtype))
        assert_close(found, expected[:, :, 2:].astype(dtype))


def test_convolutions_of_other_ranks():
    # Oracle: the definition in NumPy.
    for function, size in ((ops.conv1d, (7,)), (ops.conv3d, (4, 5, 3))):
        space = len(size)
        x = numbers(2, 3, *size)
        weight, bias = numbers(4, 3, *(2,) * space, seed=1), numbers(4, seed=2)
        ones = (1,) * space

        def call(x, weight, bias, function=function):
            return function(x, weight, bias, pad_mode="pad", padding=1)

        expected = convolved(x, weight, ones, ((1, 1),) * space, ones, 1)
        expected = expected + bias.reshape(1, 4, *ones)
        matches(call, lambda *_, e=expected: e.astype(np.float32), x, weight, bias)


def test_mint_convolution_and_primitive():
    x, weight = Tensor(numbers(2, 3, 6, 6)), Tensor(numbers(4, 3, 3, 3, seed=1))
    from_ops = ops.conv2d(x, weight, pad_mode="pad", padding=1).asnumpy()
    functional = ms.kernel.spell.namespaces["mint.nn.functional"]
    # Not bit by bit: the first call of a shape may be NumPy's, the next are compiled.
    assert_close(functional["conv2d"](x, weight, padding=1).asnumpy(), from_ops)
    layer = ops.Conv2D(4, 3, pad_mode="pad", pad=(1, 1, 1, 1))
    assert_close(layer(x, weight).asnumpy(), from_ops)


CONVOLUTION_ERRORS = {
    "x has 3 channels, but the weight of shape (4, 2, 3, 3) expects 2": {"weight": (4, 2, 3, 3)},
    "must have as many dimensions": {"weight": (4, 3, 3)},
    "needs pad_mode='pad'": {"padding": 1},
    "pad_mode must be 'valid', 'same' or 'pad'": {"pad_mode": "full"},
    "does not fit into an x (2, 3, 6, 6)": {"weight": (4, 3, 7, 7)},
    "The stride must be positive": {"stride": 0},
}


@pytest.mark.parametrize("text", CONVOLUTION_ERRORS)
def test_wrong_convolutions(text):
    given = dict(CONVOLUTION_ERRORS[text])
    weight = Tensor(numbers(*given.pop("weight", (4, 3, 3, 3))))
    with pytest.raises(ValueError) as caught:
        ops.conv2d(Tensor(numbers(2, 3, 6, 6)), weight, **given)
    assert text in str(caught.value)
    assert __file__ in str(caught.value)


# -- pooling ----------------------------------------------------------------------------------


def pooled(x, kernel, stride, pads, reduce, filler):
    """Pooling in NumPy by its definition."""
    x = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=filler)
    sizes = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], kernel, stride, strict=True)]
    made = np.zeros((*x.shape[:2], *sizes), x.dtype)
    for i, j in np.ndindex(*sizes):
        rows = slice(i * stride[0], i * stride[0] + kernel[0])
        columns = slice(j * stride[1], j * stride[1] + kernel[1])
        made[:, :, i, j] = reduce(x[:, :, rows, columns], (2, 3))
    return made


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "size"),
    [((2, 2), (2, 2), (0, 0), (6, 8)), ((2, 2), (2, 2), (0, 0), (7, 9)),
     ((3, 3), (1, 1), (1, 1), (5, 6)), ((3, 2), (2, 1), (1, 0), (7, 6)),
     ((7, 7), (7, 7), (0, 0), (14, 14)), ((1, 1), (2, 2), (0, 0), (4, 4))],
)  # fmt: skip
def test_pooling(kernel, stride, padding, size):
    # Oracle: the definition in NumPy; gradients by finite differences.
    x = numbers(2, 3, *size)
    pads = [(n, n) for n in padding]
    matches(
        lambda x: ops.max_pool2d(x, kernel, stride, padding),
        lambda x: pooled(x, kernel, stride, pads, np.max, -np.inf),
        x,
    )
    matches(
        lambda x: ops.avg_pool2d(x, kernel, stride, padding),
        lambda x: pooled(x, kernel, stride, pads, np.mean, 0),
        x,
    )
    x = numbers(1, 1, *size, dtype=np.float64)
    for pool in (ops.max_pool2d, ops.avg_pool2d):

        def squared(x, pool=pool):
            y = pool(x, kernel, stride, padding)
            return y * y

        expected = gradients_by_differences(squared, (x,))[0]
        for name, actual in run_everywhere(ms.grad(squared), x).items():
            assert_close(actual, expected, name, "float32")


def test_the_first_maximum_gets_the_gradient():
    # Oracle: MindSpore 2.10.
    x = Tensor(np.zeros((1, 1, 4, 4), np.float32))
    tiled = ms.grad(ops.MaxPool(2, 2))(x).asnumpy()[0, 0]
    assert tiled.tolist() == [[1, 0, 1, 0], [0] * 4, [1, 0, 1, 0], [0] * 4]
    overlapping = ms.grad(lambda x: ops.max_pool2d(x, 3, 1))(x).asnumpy()[0, 0]
    assert overlapping.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0] * 4, [0] * 4]


def test_second_derivative_of_pooling():
    # Oracle: by hand; pooling is linear where the maxima stay.
    x = numbers(1, 2, 4, 4)

    def function(x):
        y = ops.MaxPool(2, 2)(x)
        return y * y * y

    second = ms.grad(lambda x: ms.grad(function)(x))

    def oracle(x):
        top = pooled(x, (2, 2), (2, 2), [(0, 0)] * 2, np.max, 0).repeat(2, 2).repeat(2, 3)
        return np.where(x == top, 6 * x, 0).astype(np.float32)

    matches(second, oracle, x)


def test_adaptive_pooling():
    # Oracle: means and maxima of the regions in NumPy.
    x = numbers(2, 3, 7, 8)

    def regions(reduce, rows, columns):
        def cut(n, count, i):
            return slice(i * n // count, -(-(i + 1) * n // count))

        return lambda x: np.array([
            [reduce(x[:, :, cut(7, rows, i), cut(8, columns, j)], (2, 3)) for j in range(columns)]
            for i in range(rows)
        ]).transpose(2, 3, 0, 1)  # fmt: skip

    matches(lambda x: ops.adaptive_avg_pool2d(x, (3, 5)), regions(np.mean, 3, 5), x)
    matches(lambda x: ops.adaptive_avg_pool2d(x, (7, 2)), regions(np.mean, 7, 2), x)
    matches(lambda x: ops.adaptive_avg_pool2d(x, (None, 4)), regions(np.mean, 7, 4), x)
    matches(lambda x: ops.adaptive_max_pool2d(x, (3, 5)), regions(np.max, 3, 5), x)
    matches(lambda x: ops.adaptive_max_pool2d(x, 1), regions(np.max, 1, 1), x)


# -- normalisation ----------------------------------------------------------------------------


def normalised(x, axes, epsilon=1e-5):
    wide = x.astype(np.float64)
    mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    return (wide - mean) / np.sqrt(variance + epsilon)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_batch_norm(dtype):
    # Oracle: NumPy; moving statistics as MindSpore 2.10 has them (unbiased variance).
    x = (numbers(4, 3, 5, 5) * 2 + 1).astype(dtype)
    weight, bias = numbers(3, seed=1), numbers(3, seed=2)
    shape = (1, 3, 1, 1)
    expected = normalised(x, (0, 2, 3)) * weight.reshape(shape) + bias.reshape(shape)
    for name in EXECUTIONS:
        with execution(name):
            mean = Parameter(Tensor(np.zeros(3, np.float32)), name="mean")
            variance = Parameter(Tensor(np.ones(3, np.float32)), name="variance")
            made = ops.batch_norm(
                Tensor(x), mean, variance, Tensor(weight), Tensor(bias), True, 0.3
            )
            assert_close(made.asnumpy(), expected.astype(dtype), name)
            wide = x.astype(np.float64)
            moved = (0.3 * wide.mean((0, 2, 3))).astype(np.float32)
            assert_close(mean.asnumpy(), moved, name)
            moved = 0.7 + 0.3 * wide.var((0, 2, 3), ddof=1)
            assert_close(variance.asnumpy(), moved.astype(np.float32), name)
            still = ops.batch_norm(Tensor(x), mean, variance, Tensor(weight), Tensor(bias))
            scale = weight / np.sqrt(variance.asnumpy().astype(np.float64) + 1e-5)
            by_hand = (wide - mean.asnumpy().reshape(shape)) * scale.reshape(shape)
            assert_close(still.asnumpy(), (by_hand + bias.reshape(shape)).astype(dtype), name)


NORMALISATIONS = {
    "batch": (
        lambda x, w, b: ops.batch_norm(x, None, None, w[0], b[0], True),
        (0, 2, 3), (4, 3, 3, 2), (1, 3),
    ),
    "batch_statistics": (
        lambda x, w, b: (lambda out: out[0] * out[1].sum() + out[2].sum())(
            ops.normalization.batch_norm_training(x, w[0], b[0])
        ),
        None, (4, 3, 3, 2), (1, 3),
    ),
    "layer": (lambda x, w, b: ops.layer_norm(x, (3, 4), w, b), (1, 2), (2, 3, 4), (3, 4)),
    "layer_statistics": (
        lambda x, w, b: (lambda out: out[0] * out[1] + out[2])(ops.LayerNorm(1, 1)(x, w, b)),
        None, (2, 3, 4), (3, 4),
    ),
    "group": (
        lambda x, w, b: ops.group_norm(x, 2, w[0], b[0]), None, (2, 4, 3, 2), (1, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_derivatives_of_normalisation(name):
    # Oracle: finite differences in Float64, to second order.
    function, axes, shape, parameters = NORMALISATIONS[name]
    inputs = (
        numbers(*shape, dtype=np.float64), numbers(*parameters, seed=1, dtype=np.float64),
        numbers(*parameters, seed=2, dtype=np.float64),
    )  # fmt: skip
    weights = Tensor(numbers(*shape, seed=3, dtype=np.float64))
    if axes is not None:
        one, zero = np.ones(parameters), np.zeros(parameters)
        expected = normalised(inputs[0], axes)
        matches(lambda x: function(x, Tensor(one), Tensor(zero)), lambda _: expected, inputs[0])

    def weighted(*inputs):
        y = function(*inputs)
        return y * y * weights

    gradient = ms.grad(weighted, (0, 1, 2))
    expected = gradients_by_differences(weighted, inputs)
    for execution_name, actual in run_everywhere(gradient, *inputs).items():
        assert_close(list(actual), expected, execution_name, "float32")

    def slope(*inputs):
        return (ms.grad(weighted)(*inputs) * weights).sum()

    expected = gradients_by_differences(slope, inputs)
    second = ms.grad(slope, (0, 1, 2))
    for execution_name, actual in run_everywhere(second, *inputs).items():
        scale = max(np.abs(e).max() for e in expected)
        scaled = [a / scale for a in actual], [e / scale for e in expected]
        assert_close(*scaled, execution_name, "float32")


def test_group_norm_and_rms_norm():
    # Oracle: NumPy.
    x, weight = numbers(2, 6, 4), numbers(6, seed=1)
    grouped = normalised(x.reshape(2, 3, 2, 4), (2, 3)).reshape(x.shape)
    matches(
        lambda x, w: ops.group_norm(x, 3, w),
        lambda *_: (grouped * weight[:, None]).astype(np.float32),
        x,
        weight,
    )
    inverse = 1 / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-6)
    expected = (x * inverse).astype(np.float32), inverse.astype(np.float32)
    matches(lambda x, w: ops.rms_norm(x, w), lambda *_: expected, x, np.ones(4, np.float32))


# -- dropout ----------------------------------------------------------------------------------


def test_dropout_keeps_the_mean_and_repeats_with_the_seed():
    x = Tensor(np.ones((200, 200), np.float32))
    for name in EXECUTIONS:
        with execution(name):
            ms.set_seed(5)
            first, second = ops.dropout(x, 0.3).asnumpy(), ops.dropout(x, 0.3).asnumpy()
            ms.set_seed(5)
            again = ops.dropout(x, 0.3).asnumpy()
        np.testing.assert_array_equal(first, again)
        assert (first != second).any()
        assert set(np.unique(first)) == {np.float32(0), np.float32(1 / 0.7)}
        assert abs((first == 0).mean() - 0.3) < 0.01


def test_dropout_draws_anew_in_a_compiled_function():
    step = ms.jit(lambda x: ops.dropout(x, 0.5))
    ms.set_seed(3)
    found = [step(Tensor(np.ones(64, np.float32))).asnumpy() for _ in range(6)]
    ms.set_seed(3)
    plain = [ops.dropout(Tensor(np.ones(64, np.float32))).asnumpy() for _ in range(6)]
    np.testing.assert_array_equal(found, plain)
    assert len({f.tobytes() for f in found}) == 6


def test_gradient_of_dropout_is_its_mask():
    x = Tensor(numbers(50))
    mask = ops.Dropout(0.8)(x)[1]
    assert set(np.unique(mask.asnumpy())) <= {0, 1}
    ms.set_seed(1)
    slope = ms.grad(lambda x: ops.dropout(x, 0.2))(x).asnumpy()
    ms.set_seed(1)
    kept = ops.dropout(ops.ones_like(x), 0.2).asnumpy()
    np.testing.assert_array_equal(slope, kept)


def test_changing_the_probability_compiles_nothing():
    x = Tensor(numbers(50))
    for p in (0.1, 0.2):
        ops.dropout(x, p).asnumpy()
    before = ms.debug.ledger().counts.compilations
    for p in (0.3, 0.4, 0.5):
        ops.dropout(x, p).asnumpy()
    assert ms.debug.ledger().counts.compilations == before


def test_dropout_of_channels_and_without_training():
    x = Tensor(np.ones((6, 8, 3, 3), np.float32))
    sums = ops.dropout2d(x, 0.5).asnumpy().sum((2, 3))
    assert set(np.unique(sums)) == {0, 18}
    assert ops.dropout(x, training=False) is x
    made, mask = ops.Dropout2D(0.5)(x)
    np.testing.assert_array_equal(made.asnumpy() != 0, mask.asnumpy())
    with pytest.raises(ValueError, match=r"in \[0, 1\), but 1.5"):
        ops.dropout(x, 1.5)


def test_a_derivative_of_a_step_compiles_once():
    # Convolution, pooling, normalisation, dropout and loss in one segment per step.
    weight = Parameter(Tensor(numbers(4, 1, 3, 3)), name="w")
    ones, zeros = Tensor(np.ones(4, np.float32)), Tensor(np.zeros(4, np.float32))

    def loss(x, y):
        z = ops.relu(ops.conv2d(x, weight, pad_mode="same"))
        z = ops.batch_norm(z, None, None, ones, zeros, True)
        z = ops.MaxPool(2, 2)(ops.dropout(z, 0.3))
        return ops.cross_entropy(ops.flatten(z), y)

    step = ms.value_and_grad(loss, None, [weight])
    before = None
    for i in range(6):
        value, slopes = step(Tensor(numbers(2, 1, 8, 8, seed=i)), Tensor([i, 1]))
        weight.set_data(weight - slopes[0] * 0.1)
        value.asnumpy()
        if i == 2:
            before = ms.debug.ledger().counts.compilations
    assert ms.debug.ledger().counts.compilations == before
