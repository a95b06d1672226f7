# SPDX-License-Identifier: Apache-2.0
"""The work in plain JAX, written by hand: with our lowerings, and as one would write it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench import work
from mycel.ops.lowering import convolve
from mycel.ops.pooling import window_maximum

VARIANTS = ("lowerings", "idiomatic")


def _convolve_lax(x, weight):
    return lax.conv(x, weight, (1, 1), "VALID")


def _pool_lax(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def _convolve_ours(x, weight):
    return convolve(x, weight, (1, 1), ((0, 0), (0, 0)), (1, 1), 1)


# The pure function that mycel traces, with its derivative.
_POOL = window_maximum.definition.bind((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)).function


def _pool_ours(x):
    return _POOL(x)


def lenet(variant: str):
    """One jitted training step with Momentum."""
    conv, pool = (
        (_convolve_ours, _pool_ours) if variant == "lowerings" else (_convolve_lax, _pool_lax)
    )

    def loss_of(w, x, y):
        h = pool(jax.nn.relu(conv(x, w["conv1"])))
        h = pool(jax.nn.relu(conv(h, w["conv2"]))).reshape(x.shape[0], -1)
        h = jax.nn.relu(h @ w["fc1"].T + w["b1"])
        h = jax.nn.relu(h @ w["fc2"].T + w["b2"])
        logits = jax.nn.log_softmax(h @ w["fc3"].T + w["b3"])
        return -jnp.take_along_axis(logits, y[:, None], 1).mean()

    @jax.jit
    def step(w, v, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(w, x, y)
        v = {name: work.MOMENTUM * v[name] + gradients[name] for name in w}
        return {name: w[name] - work.RATE * v[name] for name in w}, v, loss

    weights = {name: jnp.array(array) for name, array in work.lenet_weights().items()}
    state = [weights, jax.tree.map(jnp.zeros_like, weights)]
    x, y = map(jnp.array, work.lenet_batch())

    def once():
        state[0], state[1], loss = step(*state, x, y)
        return float(loss)

    return once


def chain_forward(variant: str):
    """40 operators on 4 x 4, jitted as one."""
    x, y = map(jnp.array, work.chain_inputs())
    run = jax.jit(lambda x, y: work.chain(x, y, jnp.tanh))
    return lambda: np.array(run(x, y))


def chain_both(variant: str):
    """40 operators on 4 x 4, forward and backward, jitted as one."""
    x, y = map(jnp.array, work.chain_inputs())
    run = jax.jit(jax.grad(lambda x, y: work.chain(x, y, jnp.tanh).sum()))
    return lambda: np.array(run(x, y))


def settings() -> str:
    """What is measured with."""
    return f"jax {jax.__version__}"
