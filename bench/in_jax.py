# SPDX-License-Identifier: Apache-2.0
"""The work in plain JAX, written by hand: as one would write it, and with our lowerings."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench import models, work
from mycel.kernel.base.backend import compiler_options
from mycel.kernel.define.definition import definitions

VARIANTS = ("lowerings", "idiomatic")
# Of these our lowerings take and change only the rows that a batch names, in place, which is what
# can be written by hand; idiomatic JAX has gradients as large as the tables.
TABLES = ("wide.embedding_table", "deep.embedding_table")
EPSILON = 1e-5


class Idiomatic:
    """What the networks are made of, in JAX's own words."""

    relu = staticmethod(jax.nn.relu)

    def __init__(self, training: bool):
        self.training = training

    def linear(self, x, weight, bias):
        return x @ weight.T + bias

    def gelu(self, x):
        return jax.nn.gelu(x, approximate=False)

    def cross_entropy(self, logits, labels):
        made = jax.nn.log_softmax(logits.astype(np.float32))
        return -jnp.take_along_axis(made, labels[:, None], 1).mean()

    def binary_cross_entropy(self, logits, targets):
        logits = logits.astype(np.float32)
        return (jax.nn.softplus(logits) - logits * targets).mean()

    relu6, silu = staticmethod(jax.nn.relu6), staticmethod(jax.nn.silu)
    sigmoid = staticmethod(jax.nn.sigmoid)
    constants = staticmethod(lambda *arrays: arrays)

    def embedding(self, table, words):
        return table[words]

    sparse_embedding = embedding

    def valid(self, lengths, length):
        return jnp.arange(length) < lengths[:, None]

    def segment_sum(self, x, ends, count):
        return jax.ops.segment_sum(x, ends, count)

    def attention(self, query, key, value, causal, valid=None):
        scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) / np.sqrt(
            query.shape[-1], dtype=query.dtype
        )
        if causal:
            scores = jnp.where(np.tri(scores.shape[-1], dtype=bool), scores, -jnp.inf)
        if valid is not None:
            scores = jnp.where(valid[:, None, None], scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), value)

    def concatenate(self, arrays):
        return jnp.concatenate(arrays, 1)

    def lift(self, x, weight):
        """A transposed convolution of kernels of 2 by 2 with steps of 2."""
        orders = ("NCHW", "OIHW", "NCHW")
        transposed = {"dimension_numbers": orders, "transpose_kernel": True}
        return lax.conv_transpose(x, weight, (2, 2), "VALID", **transposed)

    def layer_norm(self, x, scale, shift):
        mean = x.mean(-1, keepdims=True)
        variance = x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + EPSILON) * scale + shift

    def conv(self, x, weight, stride, pad, groups=1):
        strides, pads = (stride, stride), [(pad, pad)] * 2
        return lax.conv_general_dilated(x, weight, strides, pads, feature_group_count=groups)

    def max_pool(self, x, size, stride, pad):
        around = ((0, 0), (0, 0), (pad, pad), (pad, pad))
        window, steps = (1, 1, size, size), (1, 1, stride, stride)
        return lax.reduce_window(x, -jnp.inf, lax.max, window, steps, around)

    def batch_norm(self, x, w, name):
        scale, shift, mean, variance = self._vectors(w, name)
        if not self.training:
            return (x - mean) * lax.rsqrt(variance + EPSILON) * scale + shift
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        self._move(x, w, name, mean.reshape(-1), variance.reshape(-1))
        return (x - mean) * lax.rsqrt(variance + EPSILON) * scale + shift

    @staticmethod
    def _vectors(w, name):
        kinds = ("gamma", "beta", "moving_mean", "moving_variance")
        return [w[f"{name}.{kind}"][:, None, None] for kind in kinds]

    @staticmethod
    def _move(x, w, name, mean, variance):
        count = x.size // x.shape[1]
        seen = {"moving_mean": mean, "moving_variance": variance * (count / (count - 1))}
        for kind, new in seen.items():
            w[f"{name}.{kind}"] = 0.9 * w[f"{name}.{kind}"] + 0.1 * lax.stop_gradient(new)

    def recurrent(self, x, w, name):
        _, _, gates, directions = work.RECURRENT[name]
        suffixes = work.recurrent_suffixes(name)
        for layer in range(0, len(suffixes), directions):
            ways = [
                _scan(gates, x, w, suffix, way == 1)
                for way, suffix in enumerate(suffixes[layer : layer + directions])
            ]
            x = jnp.concatenate(ways, -1) if directions > 1 else ways[0]
        return x


def _scan(gates: int, x, w, suffix: str, reverse: bool):
    """One layer in one direction: the hidden states of all steps."""
    weight_ih, weight_hh = w[f"rnn.weight_ih{suffix}"], w[f"rnn.weight_hh{suffix}"]
    bias_ih, bias_hh = w[f"rnn.bias_ih{suffix}"], w[f"rnn.bias_hh{suffix}"]

    def lstm(state, now):
        hidden, cell = state
        into, forget, new, out = jnp.split(now + hidden @ weight_hh.T, 4, 1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(into) * jnp.tanh(new)
        hidden = jax.nn.sigmoid(out) * jnp.tanh(cell)
        return (hidden, cell), hidden

    def gru(state, now):
        (hidden,) = state
        reset, keep, new = jnp.split(now, 3, 1)
        reset_h, keep_h, new_h = jnp.split(hidden @ weight_hh.T + bias_hh, 3, 1)
        keep = jax.nn.sigmoid(keep + keep_h)
        new = jnp.tanh(new + jax.nn.sigmoid(reset + reset_h) * new_h)
        hidden = (1 - keep) * new + keep * hidden
        return (hidden,), hidden

    given = x.swapaxes(0, 1) @ weight_ih.T + (bias_ih + bias_hh if gates == 4 else bias_ih)
    zeros = jnp.zeros((x.shape[0], weight_hh.shape[1]), x.dtype)
    step, start = (lstm, (zeros, zeros)) if gates == 4 else (gru, (zeros,))
    return lax.scan(step, start, given, reverse=reverse)[1].swapaxes(0, 1)


def _pure(name: str, **static):
    """The pure function, with its derivative, that mycel traces for an operator."""
    definition = definitions[name]
    assert static.keys() <= set(definition.statics), static.keys()
    values = definition.defaults | static
    return definition.bind(*[values[label] for label in definition.statics]).function


class Lowerings(Idiomatic):
    """The same with the functions that mycel gives to XLA."""

    def conv(self, x, weight, stride, pad, groups=1):
        settings = {"stride": stride, "pad_mode": "pad", "padding": pad}
        return _pure("convolution", **settings, groups=groups)(x, weight)

    def lift(self, x, weight):
        window = {"stride": (2, 2), "cuts": ((0, 0), (0, 0)), "dilation": (1, 1)}
        return _pure("transposed_convolution", groups=1, **window)(x, weight)

    def max_pool(self, x, size, stride, pad):
        window = {"kernel": (size, size), "stride": (stride, stride), "dilation": (1, 1)}
        return _pure("window_maximum", pads=((pad, pad),) * 2, **window)(x)

    def layer_norm(self, x, scale, shift):
        return _pure("normalized", axes=(-1,), epsilon=EPSILON)(x, scale, shift)[0]

    def batch_norm(self, x, w, name):
        scale, shift = w[f"{name}.gamma"], w[f"{name}.beta"]
        if not self.training:
            mean, variance = w[f"{name}.moving_mean"], w[f"{name}.moving_variance"]
            infer = _pure("batch_norm_inference", epsilon=EPSILON)
            return infer(x, mean, variance, scale, shift)
        made, mean, variance = _pure("batch_norm_training", epsilon=EPSILON)(x, scale, shift)
        self._move(x, w, name, mean, variance)
        return made


PRIMITIVES = {"idiomatic": Idiomatic, "lowerings": Lowerings}


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result."""
    if name.startswith("chain"):
        return _chain(*name.split("_")[1:])
    inference = name.endswith("_inference")
    name = name.removesuffix("_inference")
    f = PRIMITIVES[variant](not inference)
    w = {label: jnp.array(array) for label, array in work.weights(name).items()}
    *inputs, target = map(jnp.array, work.batch(name))
    # How XLA compiles is part of the lowerings.
    options = compiler_options() if variant == "lowerings" else None
    moving = {label: w.pop(label) for label in list(w) if models.is_statistic(label)}
    if inference:
        run = jax.jit(
            lambda w, *inputs: models.output(name, f, _mixed(w) | moving, *inputs),
            compiler_options=options,
        )
        return lambda: np.asarray(run(w, *inputs))

    def loss_of(w, moving, *batch):
        everything, (*inputs, target) = _mixed(w) | moving, batch
        loss = models.loss(name, f, everything, *_mixed(inputs), target)
        return loss, {label: everything[label] for label in moving}

    differentiated = jax.value_and_grad(loss_of, has_aux=True)
    recipe = work.RECIPES[name]
    change = functools.partial(_momentum if recipe.optimizer == "momentum" else _adam, recipe.rate)
    by_rows = recipe.optimizer == "lazy adam" and variant == "lowerings"

    def step(w, moving, state, *batch):
        (loss, moving), gradients = differentiated(w, moving, *batch)
        w, state = change(w, gradients, state)
        return w, moving, state, loss

    if by_rows:
        run = jax.jit(_by_rows(step), compiler_options=options, donate_argnums=(0, 2))
    else:
        run = jax.jit(step, compiler_options=options)
    zeros = jax.tree.map(jnp.zeros_like, w)
    state = zeros
    if recipe.optimizer != "momentum":
        state = (zeros, jax.tree.map(jnp.zeros_like, w), jnp.zeros((), np.float32))
    held = [w, moving, state]

    def once():
        *held[:], loss = run(*held, *inputs, target)
        return float(loss)

    return once


def _mixed(arrays):
    """Arrays of Float32 in low precision, if that is asked for; the weights themselves stay."""
    if not work.MIXED:
        return arrays
    lowered = lambda a: a.astype(jnp.bfloat16) if a.dtype == np.float32 else a  # noqa: E731
    return jax.tree.map(lowered, arrays)


def _by_rows(step):
    """The step on the rows of tables that the batch names, which alone are read and changed."""

    def of_rows(w, moving, state, rows, *others):
        first, second, count = state
        count_of_rows = w[TABLES[0]].shape[0]
        # As many places as there may be; what is left over lies behind the table.
        named, places = jnp.unique(
            rows, return_inverse=True, size=rows.size, fill_value=count_of_rows
        )

        def taken(arrays):
            return arrays | {label: arrays[label][named] for label in TABLES}

        def returned(arrays, changed):
            tables = {label: arrays[label].at[named].set(changed[label]) for label in TABLES}
            return changed | tables

        given = (taken(first), taken(second), count)
        changed, moving, state, loss = step(
            taken(w), moving, given, places.reshape(rows.shape), *others
        )
        moments = returned(first, state[0]), returned(second, state[1])
        return returned(w, changed), moving, (*moments, state[2]), loss

    return of_rows


def _momentum(rate, w, gradients, state):
    state = {label: work.MOMENTUM * state[label] + gradients[label] for label in w}
    return {label: w[label] - rate * state[label] for label in w}, state


def _adam(rate, w, gradients, state):
    first, second, count = state
    count = count + 1
    step = rate * jnp.sqrt(1 - np.float32(0.999) ** count) / (1 - np.float32(0.9) ** count)
    first = {label: 0.9 * first[label] + 0.1 * g for label, g in gradients.items()}
    second = {label: 0.999 * second[label] + 0.001 * g * g for label, g in gradients.items()}
    w = {
        label: w[label] - step * first[label] / (jnp.sqrt(second[label]) + np.float32(1e-8))
        for label in w
    }
    return w, (first, second, count)


def _chain(function, size, what):
    x, y = map(jnp.array, work.chain_inputs(size))
    function = {"tanh": jnp.tanh, "relu": jax.nn.relu}[function]
    if what == "forward":
        run = jax.jit(lambda x, y: work.chain(x, y, function))
    else:
        run = jax.jit(jax.grad(lambda x, y: work.chain(x, y, function).sum()))
    return lambda: np.asarray(run(x, y))


def device_memory(what: str) -> int | None:
    """Bytes of arrays and programs on the device: now, or the most so far; None on a CPU."""
    stats = jax.devices()[0].memory_stats() or {}
    return stats.get({"reset": "bytes_in_use", "peak": "peak_bytes_in_use"}[what])


def settings() -> str:
    """What is measured with."""
    return f"jax {jax.__version__} on {jax.devices()[0].device_kind}"
