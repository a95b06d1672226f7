# SPDX-License-Identifier: Apache-2.0
"""The kinds of recurrent networks: one step of each, and its derivative.

Gates stand beside each other in the last dimension, in the order input, forget, new, output for the
LSTM and reset, update, new for the GRU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Kind(NamedTuple):
    """A kind of recurrent network.

    Attributes:
        gates: how many vectors of the hidden size the weights make.
        states: 1 (hidden) or 2 (hidden and cell).
        apart: whether the products of input and hidden state take part separately.
        step: `step(projected, recurrent, state)` gives the new state and what the reverse keeps.
        factors: `factors(kept, states before, states after)`, for all times at once, gives what
            `back` multiplies with: nothing of it depends on a cotangent.
        back: `back(cotangents of the new state, factors)` gives the slopes of the products, and
            what goes straight to the state before.
    """

    gates: int
    states: int
    apart: bool
    step: Callable
    factors: Callable
    back: Callable


def _lstm_step(projected, recurrent, state):
    kept = whole(_lstm_gates(projected + recurrent))
    entering, forgetting, new, leaving = jnp.split(kept, 4, -1)
    cell = forgetting * state[1] + entering * new
    return (leaving * jnp.tanh(cell), cell), (kept,)


def _lstm_gates(sums):
    """Sigmoids of the first two parts and the last, tanh of the third, in one loop.

    sigmoid(x) = (1 + tanh(x / 2)) / 2, of which XLA's is within 1.4e-7 (its tanh within 2.6e-7).
    """
    hidden = sums.shape[-1] // 4
    scale = np.full(4 * hidden, 0.5, sums.dtype)
    scale[2 * hidden : 3 * hidden] = 1
    return jnp.tanh(sums * scale) * scale + (1 - scale)


def _lstm_factors(kept, before, after):
    entering, forgetting, new, leaving = jnp.split(kept[0], 4, -1)
    bent = jnp.tanh(after[1])
    slopes = [
        new * entering * (1 - entering),
        before[1] * forgetting * (1 - forgetting),
        entering * (1 - new * new),
        bent * leaving * (1 - leaving),
    ]
    return jnp.concatenate(slopes, -1), leaving * (1 - bent * bent), forgetting


def _lstm_back(gradients, factors):
    slopes, toward_cell, forgetting = factors
    cell = whole(gradients[1] + gradients[0] * toward_cell)
    return jnp.concatenate([cell, cell, cell, gradients[0]], -1) * slopes, (None, cell * forgetting)


def _gru_step(projected, recurrent, state):
    gates = 2 * state[0].shape[-1]
    opened = whole(jax.nn.sigmoid(projected[..., :gates] + recurrent[..., :gates]))
    reset, update = jnp.split(opened, 2, -1)
    inner = recurrent[..., gates:]
    new = jnp.tanh(projected[..., gates:] + reset * inner)
    hidden = new + update * (state[0] - new)
    return (hidden,), (jnp.concatenate([opened, new, inner], -1),)


def _gru_factors(kept, before, after):
    del after
    reset, update, new, inner = jnp.split(kept[0], 4, -1)
    toward_new = (1 - update) * (1 - new * new)
    slopes = [
        toward_new * inner * reset * (1 - reset),
        (before[0] - new) * update * (1 - update),
        toward_new,
        toward_new * reset,
    ]
    return jnp.concatenate(slopes, -1), update


def _gru_back(gradients, factors):
    slopes, update = factors
    return jnp.concatenate([gradients[0]] * 4, -1) * slopes, (gradients[0] * update,)


def _tanh_step(projected, recurrent, state):
    del state
    return (jnp.tanh(projected + recurrent),), ()


def _relu_step(projected, recurrent, state):
    del state
    return (jax.nn.relu(projected + recurrent),), ()


def _tanh_factors(kept, before, after):
    del kept, before
    return (1 - after[0] * after[0],)


def _relu_factors(kept, before, after):
    del kept, before
    return (after[0] > 0,)


def _tanh_back(gradients, factors):
    return gradients[0] * factors[0], (None,)


def _relu_back(gradients, factors):
    return jnp.where(factors[0], gradients[0], jnp.zeros_like(gradients[0])), (None,)


def whole(array):
    """The array as a whole, not computed anew by all that reads it.

    XLA on CPU computes gates within the loops that read them, without vectors: 64 steps of an LSTM
    26 against 21 ms (docs/performance.md).
    """
    return lax.optimization_barrier(array)


KINDS = {
    "LSTM": Kind(4, 2, False, _lstm_step, _lstm_factors, _lstm_back),
    "GRU": Kind(3, 1, True, _gru_step, _gru_factors, _gru_back),
    "RNN tanh": Kind(1, 1, False, _tanh_step, _tanh_factors, _tanh_back),
    "RNN relu": Kind(1, 1, False, _relu_step, _relu_factors, _relu_back),
}


def toward_input(kind, slopes):
    """The slopes of the product with the input: of the GRU's four vectors the first three."""
    return slopes[..., : slopes.shape[-1] // 4 * 3] if kind.apart else slopes


def toward_hidden(kind, slopes):
    """The slopes of the product with the hidden state."""
    if not kind.apart:
        return slopes
    hidden = slopes.shape[-1] // 4
    return jnp.concatenate([slopes[..., : 2 * hidden], slopes[..., 3 * hidden :]], -1)
