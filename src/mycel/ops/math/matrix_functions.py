# SPDX-License-Identifier: Apache-2.0
"""Functions of square matrices as a whole."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell import op

# Roots that are taken before a matrix is near to the identity, steps for each of them, and nodes of
# the quadrature of ∫ (X - 1) / (1 + t (X - 1)) dt, which is the logarithm then.
ROOTS, STEPS, NODES = 10, 30, 12


def _root(x):
    """The principal square root, by the product form of Denman and Beavers' iteration."""
    unit = jnp.eye(x.shape[-1], dtype=x.dtype)

    def step(_, pair):
        root, rest = pair
        inverse = jnp.linalg.inv(rest)
        return root @ (unit + inverse) / 2, (unit + (rest + inverse) / 2) / 2

    return lax.fori_loop(0, STEPS, step, (x, x))[0]


@op("MatrixLogarithm()(x)")
def matrix_logarithm(x):
    """The principal logarithm of square matrices: `y` with exp(y) = x.

    Args:
        x: [*, M, M], Complex64 or Complex128; no eigenvalue is 0 or a negative real number.

    Returns:
        The logarithms, of the shape and type of `x`.

    Raises:
        TypeError: the element type is not complex.
        ValueError: the matrices are not square.

    Source: MindSpore's `ops.MatrixLogarithm`.

    Example:
        >>> x = Tensor([[1.0, 0.0], [0.0, np.e]]).astype(mycel.complex64)
        >>> print(abs(ops.MatrixLogarithm()(x).asnumpy()).round(4))
        [[0. 0.]
         [0. 1.]]
    """
    if not jnp.issubdtype(x.dtype, np.complexfloating):
        raise wrong(TypeError, "MatrixLogarithm: x", "Complex64 or Complex128", str(x.dtype))
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise wrong(ValueError, "MatrixLogarithm: x", "of shape [*, M, M]", f"{x.shape}")
    near = x.astype(np.complex128)
    for _ in range(ROOTS):
        near = _root(near)
    unit = jnp.eye(x.shape[-1], dtype=near.dtype)
    places, weights = np.polynomial.legendre.leggauss(NODES)
    rest = near - unit
    found = jnp.zeros_like(rest)
    for place, weight in zip((places + 1) / 2, weights / 2, strict=True):
        found = found + weight * jnp.linalg.solve(unit + place * rest, rest)
    return (found * 2.0**ROOTS).astype(x.dtype)
