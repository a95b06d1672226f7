# SPDX-License-Identifier: Apache-2.0
"""The program of the picture in JAX, compiled, with its search for NaN."""

import jax
import jax.numpy as jnp


def unit(x):
    return x / jnp.sqrt((x * x).sum())


step = jax.jit(lambda x: jnp.abs(unit(jax.nn.relu(x)) - 1).sum())
with jax.debug_nans(True):
    step(jnp.array([0.0, 0.0]))
