# SPDX-License-Identifier: Apache-2.0
"""The faults of material.py in JAX, each on a line of its own; a chain of operators."""

import jax
import jax.numpy as jnp

INF = float("inf")

FAULTS = {
    "log of 0": lambda x: jnp.log(x),
    "log of a negative number": lambda x: jnp.log(x),
    "root of a negative number": lambda x: jnp.sqrt(x),
    "one by zero": lambda x: 1.0 / x,
    "zero by zero": lambda x: x / x,
    "overflow of exp": lambda x: jnp.exp(x),
    "power of a negative number": lambda x: x**0.5,
    "rsqrt of 0": lambda x: jax.lax.rsqrt(x),
    "arc sine above 1": lambda x: jnp.asin(x),
    "arc cosine above 1": lambda x: jnp.acos(x),
    "log1p of minus one": lambda x: jnp.log1p(x),
    "atanh of 1": lambda x: jnp.atanh(x),
    "product": lambda x: x * (x * 1e10),
    "square": lambda x: jnp.square(x),
    "matrix product": lambda x: jnp.matmul(x, x.T),
    "difference of infinities": lambda x: jnp.exp(x) - jnp.exp(x + 1),
    "division by a length of 0": lambda x: x / jnp.sqrt((x * x).sum(1, keepdims=True)),
    "log of one minus sigmoid": lambda x: jnp.log(1 - jax.nn.sigmoid(x)),
    "masked row of a softmax": lambda x: jax.nn.softmax(jnp.where(x > 1.9, -INF, x), -1),
    "variance of equal numbers": lambda x: x / jnp.var(x, 1, keepdims=True),
    "root at 0": lambda x: jnp.sqrt(x),
    "log behind where": lambda x: jnp.where(x > 0, jnp.log(x), x),
}


def chain(x, c):
    """Twenty operators."""
    x = jnp.tanh(x) * c[0]
    x = jnp.exp(x) * c[1]
    x = jnp.sqrt(x) * c[2]
    x = jnp.log1p(x) * c[3]
    x = jax.nn.sigmoid(x) * c[4]
    x = jnp.square(x) * c[5]
    x = jnp.sin(x) * c[6]
    x = jnp.cos(x) * c[7]
    x = jax.nn.relu(x) * c[8]
    x = jax.lax.rsqrt(x) * c[9]
    x = jax.nn.gelu(x) * c[10]
    x = jnp.atan(x) * c[11]
    x = jnp.abs(x) * c[12]
    x = jnp.exp(x) * c[13]
    x = jnp.log(x) * c[14]
    x = jax.nn.softplus(x) * c[15]
    x = jnp.sinh(x) * c[16]
    x = jnp.asinh(x) * c[17]
    x = jnp.expm1(x) * c[18]
    return jnp.tanh(x) * c[19]
