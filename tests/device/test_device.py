# SPDX-License-Identifier: Apache-2.0
"""What depends on the device: lowerings that are chosen by platform, libraries of its own, memory.

Oracles: NumPy in Float64, and the other mode. A GPU multiplies Float32 with ten bits
(TensorFloat32), so what goes through products is compared within 1e-2, all else within 1e-5.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("platform")]

PRODUCTS, EXACT = {"rtol": 1e-2, "atol": 1e-2}, {"rtol": 1e-5, "atol": 1e-5}
DRAW = np.random.RandomState(0)


def drawn(*shape: int) -> np.ndarray:
    return DRAW.randn(*shape).astype(np.float32)


def in_both_modes(function, *arrays):
    """The results in PyNative, and those of Graph mode, which must agree."""
    inputs = [Tensor(array) for array in arrays]
    made, compiled = function(*inputs), ms.jit(function)(*inputs)
    as_tuple = made if isinstance(made, tuple) else (made,)
    others = compiled if isinstance(compiled, tuple) else (compiled,)
    for mine, theirs in zip(as_tuple, others, strict=True):
        np.testing.assert_allclose(mine.asnumpy(), theirs.asnumpy(), 1e-2, 1e-2)
    return tuple(value.asnumpy() for value in as_tuple)


def test_arrays_lie_on_the_device_and_are_counted(platform):
    before = ms.runtime.memory_allocated()
    x = Tensor(drawn(1000, 1000)) + 1
    x.asnumpy()
    assert {device.platform for array in jax.live_arrays() for device in array.devices()} == {
        platform
    }
    assert ms.runtime.memory_allocated() - before >= x.nbytes
    assert ms.runtime.max_memory_allocated() >= ms.runtime.memory_allocated()


def test_products_softmax_and_normalisation_with_gradients():
    x, w = drawn(64, 32), drawn(32, 48)

    def function(x, w):
        return ops.log_softmax(ops.matmul(x, w), -1)

    (made,) = in_both_modes(function, x, w)
    y = x.astype(np.float64) @ w
    shifted = y - y.max(-1, keepdims=True)
    expected = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    np.testing.assert_allclose(made, expected, **PRODUCTS)
    (gradient,) = in_both_modes(ms.grad(lambda x: ops.square(ops.matmul(x, Tensor(w))).sum()), x)
    np.testing.assert_allclose(gradient, 2 * y @ w.T.astype(np.float64), rtol=2e-2, atol=0.5)


@pytest.mark.parametrize("order", ("NCHW", "NHWC"))
def test_convolution_in_both_orders_of_channels(order):
    x, weight = drawn(2, 3, 8, 8), drawn(4, 3, 3, 3)
    patches = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (2, 3))
    expected = np.einsum("nchwij,ocij->nohw", patches, weight)
    net = nn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=False, data_format=order)
    if order == "NHWC":
        x, weight = x.transpose(0, 2, 3, 1), weight.transpose(0, 2, 3, 1)
        expected = expected.transpose(0, 2, 3, 1)
    net.weight.set_data(Tensor(weight))
    (made,) = in_both_modes(net, x)
    np.testing.assert_allclose(made, expected, **PRODUCTS)


def test_transposed_convolution_and_pooling():
    x, weight = drawn(2, 3, 4, 4), drawn(3, 2, 2, 2)
    net = nn.Conv2dTranspose(3, 2, 2, 2, pad_mode="valid")
    net.weight.set_data(Tensor(weight))
    (made,) = in_both_modes(net, x)
    blocks = np.einsum("nchw,coij->nohiwj", x.astype(np.float64), weight)
    np.testing.assert_allclose(made, blocks.reshape(2, 2, 8, 8), **PRODUCTS)
    (made,) = in_both_modes(nn.MaxPool2d(2, 2), x)
    np.testing.assert_array_equal(made, x.reshape(2, 3, 2, 2, 2, 2).max((3, 5)))


def test_lstm():
    x = drawn(3, 7, 5)
    net = nn.LSTM(5, 4, batch_first=True)
    weights = {p.name: p.asnumpy().astype(np.float64) for p in net.get_parameters()}
    given = x @ weights["weight_ih_l0"].T + weights["bias_ih_l0"] + weights["bias_hh_l0"]
    hidden, cell, expected = np.zeros((3, 4)), np.zeros((3, 4)), []
    sigmoid = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
    for step in range(7):
        gates = given[:, step] + hidden @ weights["weight_hh_l0"].T
        into, forget, new, out = np.split(gates, 4, 1)
        cell = sigmoid(forget) * cell + sigmoid(into) * np.tanh(new)
        hidden = sigmoid(out) * np.tanh(cell)
        expected.append(hidden)
    (made,) = in_both_modes(lambda x: net(x)[0], x)
    np.testing.assert_allclose(made, np.stack(expected, 1), **PRODUCTS)


def test_sorting_indices_and_sums():
    x, places = drawn(6, 100), np.array([5, 0, 5, 2], np.int32)
    made = in_both_modes(lambda x: ops.sort(x)[0], x)[0]
    np.testing.assert_array_equal(made, np.sort(x))
    np.testing.assert_allclose(
        in_both_modes(lambda x: ops.cumsum(x, 1), x)[0], x.cumsum(1), **EXACT
    )
    np.testing.assert_array_equal(in_both_modes(lambda x, i: x[i], x, places)[0], x[places])
    expected = np.zeros_like(x)
    np.add.at(expected, places, x[:4])
    sums = in_both_modes(lambda x, i: ops.unsorted_segment_sum(x[:4], i, 6), x, places)[0]
    np.testing.assert_allclose(sums, expected, **EXACT)
    changed = Tensor(x)
    changed[1:3, ::2] = 7.0
    expected = x.copy()
    expected[1:3, ::2] = 7.0
    np.testing.assert_array_equal(changed.asnumpy(), expected)


def test_linear_algebra_and_fourier_transforms():
    a = drawn(5, 5)
    positive = a @ a.T + 5 * np.eye(5, dtype=np.float32)
    (made,) = in_both_modes(ops.cholesky, positive)
    np.testing.assert_allclose(made, np.linalg.cholesky(positive.astype(np.float64)), **PRODUCTS)
    (made,) = in_both_modes(ops.inverse, positive)
    np.testing.assert_allclose(made, np.linalg.inv(positive.astype(np.float64)), **PRODUCTS)
    (made,) = in_both_modes(lambda a: ops.svd(a, compute_uv=False), a)
    np.testing.assert_allclose(made, np.linalg.svd(a, compute_uv=False), **PRODUCTS)
    (made,) = in_both_modes(lambda a: ops.fft(a).abs(), a)
    np.testing.assert_allclose(made, np.abs(np.fft.fft(a)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ("float64", "float16", "bfloat16", "int64", "bool"))
def test_element_types(dtype):
    x = np.arange(6).reshape(2, 3)
    made = Tensor(x, getattr(ms, dtype)).sum(1)
    expected = x.astype(bool).sum(1) if dtype == "bool" else x.sum(1)
    np.testing.assert_array_equal(made.astype(ms.float64).asnumpy(), expected)


def network() -> nn.Cell:
    ms.set_seed(3)
    return nn.SequentialCell(nn.Dense(8, 16), nn.LayerNorm((16,)), nn.ReLU(), nn.Dense(16, 4))


def losses(mixed: bool = False, compiled: bool = False, seen: list | None = None) -> list[float]:
    """Five steps of Adam."""
    net, draw = network(), np.random.RandomState(1)
    if seen is not None:
        net[0].register_forward_hook(lambda cell, inputs, output: seen.append(output))
    if mixed:
        net = ms.amp.auto_mixed_precision(net, "O2", ms.bfloat16)
    optimizer, criterion = nn.Adam(net.trainable_params(), 1e-2), nn.CrossEntropyLoss()
    derivative = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    run = ms.jit(step) if compiled else step
    x = Tensor(draw.randn(32, 8).astype(np.float32))
    y = Tensor(draw.randint(0, 4, 32).astype(np.int32))
    return [float(run(x, y)) for _ in range(5)]


def test_training_in_both_modes_in_mixed_precision_and_with_hooks():
    plain, seen = losses(), []
    assert plain[-1] < plain[0]
    # A GPU's products may have the ten bits of TF32, which two programs round otherwise.
    rounding = 1e-5 if ms.get_context("device_target") == "CPU" else 1e-2
    np.testing.assert_allclose(losses(compiled=True, seen=seen), plain, rtol=rounding)
    assert len(seen) == 5
    assert all(np.isfinite(value.asnumpy()).all() for value in seen)
    np.testing.assert_allclose(losses(mixed=True, compiled=True), plain, rtol=0.1)


def test_a_nan_is_found_in_a_compiled_step():
    w = Parameter(Tensor(np.ones(3, np.float32)), name="w")
    step = ms.jit(lambda x: ops.log(x * w).sum())
    good, bad = Tensor(np.ones(3, np.float32)), Tensor(np.array([1, -1, 1], np.float32))
    with ms.debug.find_nan():
        for _ in range(3):
            assert float(step(good)) == 0.0
        with pytest.raises(ms.debug.NonFiniteError, match="log"):
            float(step(bad))


def test_random_numbers_are_those_of_every_device():
    """Oracle: JAX's own generator on the CPU, which is the same arithmetic everywhere."""
    ms.set_seed(5)
    first = ops.standard_normal((4, 5)).asnumpy()
    ms.set_seed(5)
    with jax.default_device(jax.devices("cpu")[0]):
        again = ops.standard_normal((4, 5)).asnumpy()
    np.testing.assert_allclose(first, again, **EXACT)


def test_a_checkpoint_comes_back(tmp_path):
    net = network()
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(net, path)
    for parameter in net.get_parameters():
        found = ms.load_checkpoint(path)[parameter.name]
        np.testing.assert_array_equal(found.asnumpy(), parameter.asnumpy())
