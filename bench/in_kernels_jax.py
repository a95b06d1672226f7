# SPDX-License-Identifier: Apache-2.0
"""The operators of `device_kernels` in plain JAX, in what JAX has of cuDNN, and in mycel."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import rnn

import mycel as ms
from bench import device_kernels
from mycel import Tensor, nn, ops

VARIANTS = tuple(
    dict.fromkeys(v for found in device_kernels.VARIANTS.values() for v in found["jax"])
)


def settings() -> str:
    """What is measured with."""
    return f"jax {jax.__version__}, mycel {ms.__version__} on {jax.devices()[0].device_kind}"


def make(work: str, variant: str) -> Callable[[], list[float]]:
    """A function that runs an operator forward and backward: mean square, and of the gradients."""
    name, _, detail = work.partition(", ")
    if variant.startswith("mycel"):
        return IN_MYCEL[name](detail, variant)
    function, arrays = BY_HAND[name](detail, variant)

    def loss(*arrays):
        return jnp.square(function(*arrays).astype(np.float32)).mean()

    @jax.jit
    def both(*arrays):
        value, gradients = jax.value_and_grad(loss, tuple(range(len(arrays))))(*arrays)
        return value, jnp.square(gradients[0].astype(np.float32)).sum()

    return lambda: [float(number) for number in both(*arrays)]


def _attention(detail: str, variant: str):
    *arrays, lengths = device_kernels.attention()
    arrays = [jnp.array(array, jnp.bfloat16) for array in arrays]
    causal = detail == "causal"
    ends = None if causal else jnp.array(lengths)

    def by_hand(query, key, value):
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key).astype(np.float32)
        length = scores.shape[-1]
        seen = jnp.arange(length) < (
            jnp.arange(1, length + 1)[:, None] if causal else ends[:, None, None, None]
        )
        scores = jnp.where(seen, scores / np.float32(query.shape[-1] ** 0.5), -jnp.inf)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(value.dtype), value)

    if variant == "by hand":
        return by_hand, arrays
    kind = variant.rpartition(" ")[2]
    chosen = {"is_causal": causal, "key_value_seq_lengths": ends, "implementation": kind}

    def dot_product(query, key, value):
        return jax.nn.dot_product_attention(query, key, value, **chosen)

    return dot_product, arrays


def _lstm(detail: str, variant: str):
    x, weights = device_kernels.lstm()
    batch, length, width, layers = device_kernels.SIZES.lstm
    zeros = jnp.zeros((layers, batch, width), np.float32)

    def by_hand(x, w):
        for layer in range(layers):
            hidden_weight = w[f"weight_hh_l{layer}"]

            def step(state, now, weight=hidden_weight):
                hidden, cell = state
                into, forget, new, out = jnp.split(now + hidden @ weight.T, 4, 1)
                cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(into) * jnp.tanh(new)
                hidden = jax.nn.sigmoid(out) * jnp.tanh(cell)
                return (hidden, cell), hidden

            bias = w[f"bias_ih_l{layer}"] + w[f"bias_hh_l{layer}"]
            given = x.swapaxes(0, 1) @ w[f"weight_ih_l{layer}"].T + bias
            x = lax.scan(step, (zeros[0], zeros[0]), given)[1].swapaxes(0, 1)
        return x

    def cudnn(x, flat):
        ends = jnp.full(batch, length, np.int32)
        return rnn.lstm(x, zeros, zeros, flat, ends, width, width, layers, 0.0, False)[0]

    x = jnp.array(x)
    if variant == "by hand":
        return by_hand, [x, {label: jnp.array(array) for label, array in weights.items()}]
    order = sorted(weights, key=lambda label: (label.startswith("bias"), label[-1], "hh" in label))
    return cudnn, [x, jnp.concatenate([jnp.array(weights[label]).reshape(-1) for label in order])]


def _convolution(detail: str, variant: str):
    x, weight = device_kernels.images()
    orders = ("NCHW", "OIHW", "NCHW")
    if variant == "NHWC":
        orders = ("NHWC", "HWIO", "NHWC")
        x, weight = x.transpose(0, 2, 3, 1), weight.transpose(2, 3, 1, 0)

    def convolution(x, weight):
        pads = [(1, 1), (1, 1)]
        return lax.conv_general_dilated(x, weight, (1, 1), pads, dimension_numbers=orders)

    return convolution, [jnp.array(array, detail) for array in (x, weight)]


def _derived(function, *arrays) -> Callable[[], list[float]]:
    """The same in mycel, compiled."""

    def loss(*arrays):
        return ops.square(function(*arrays).astype(ms.float32)).mean()

    positions = tuple(range(len(arrays)))
    derivative = ms.value_and_grad(loss, positions)

    def both(*arrays):
        value, gradients = derivative(*arrays)
        first = gradients[0] if isinstance(gradients, tuple) else gradients
        return value, ops.square(first.astype(ms.float32)).sum()

    run = ms.jit(both)
    return lambda: [float(number) for number in run(*arrays)]


def _attention_in_mycel(detail: str, variant: str):
    *arrays, lengths = device_kernels.attention()
    query, key, value = (Tensor(array, ms.bfloat16) for array in arrays)
    _, length, heads, size = query.shape
    layout = {"scalar_value": size**-0.5, "input_layout": "BSND"}
    later = ~np.tri(length, dtype=bool)
    behind = np.broadcast_to(np.arange(length) >= lengths[:, None], (length, len(lengths), length))
    hidden = later if detail == "causal" else behind.swapaxes(0, 1)[:, None]
    layout |= {"attn_mask": Tensor(hidden), "sparse_mode": 2 if detail == "causal" else 0}

    def attention(query, key, value):
        return ops.flash_attention_score(query, key, value, heads, **layout)

    return _derived(attention, query, key, value)


def _lstm_in_mycel(detail: str, variant: str):
    x, weights = device_kernels.lstm()
    _, _, width, layers = device_kernels.SIZES.lstm
    net = nn.LSTM(width, width, layers, batch_first=True)
    for parameter in net.get_parameters():
        parameter.set_data(Tensor(weights[parameter.name]))
    trained = net.trainable_params()
    derivative = ms.value_and_grad(lambda x: ops.square(net(x)[0]).mean(), 0, trained)

    def both(x):
        value, (first, _) = derivative(x)
        return value, ops.square(first).sum()

    run, x = ms.jit(both), Tensor(x)
    return lambda: [float(number) for number in run(x)]


def _convolution_in_mycel(detail: str, variant: str):
    x, weight = device_kernels.images()
    kind, order = getattr(ms, detail), variant.rpartition(" ")[2]
    if order == "NHWC":
        x, weight = x.transpose(0, 2, 3, 1), weight.transpose(0, 2, 3, 1)
    channels = device_kernels.SIZES.images[1]
    pad = {"pad_mode": "pad", "padding": 1, "data_format": order, "dtype": kind}
    net = nn.Conv2d(channels, channels, 3, has_bias=False, **pad)
    net.weight.set_data(Tensor(weight, kind))
    derivative = ms.value_and_grad(
        lambda x: ops.square(net(x).astype(ms.float32)).mean(), 0, net.trainable_params()
    )

    def both(x):
        value, (first, _) = derivative(x)
        return value, ops.square(first.astype(ms.float32)).sum()

    run, x = ms.jit(both), Tensor(x, kind)
    return lambda: [float(number) for number in run(x)]


BY_HAND = {"attention": _attention, "LSTM": _lstm, "convolution": _convolution}
IN_MYCEL = {
    "attention": _attention_in_mycel,
    "LSTM": _lstm_in_mycel,
    "convolution": _convolution_in_mycel,
}
