# SPDX-License-Identifier: Apache-2.0
"""What a program tells besides its results: what Python read, and whether all is finite."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

# Arrays of so many elements are looked at together (see `have_finite_sums`).
MOST_TOGETHER = 1 << 16


class Guard(NamedTuple):
    """A value that Python read: its slot, and how it is looked at ('bool', 'int' or 'bits')."""

    slot: int
    kind: str


class Checked(NamedTuple):
    """The slots of what is to be finite: what comes out alone, and what comes out with others or,
    as gradients that nobody reads, not at all."""

    alone: tuple[int, ...]
    others: tuple[int, ...]


def are_finite(arrays):
    """Whether every element of the arrays is finite."""
    return jnp.all(jnp.stack([jnp.array(True), *[jnp.isfinite(a).all() for a in arrays]]))


def have_finite_sums(arrays):
    """Whether sums of the arrays are finite: not where an element is not, and nearly always where
    all are. It takes a third of the time of asking each element."""
    sums, small = [jnp.array(True)], []
    for array in arrays:
        wide = array.astype(jnp.promote_types(array.dtype, np.float32))
        if array.size <= MOST_TOGETHER and wide.dtype == np.float32:
            small.append(wide.ravel())
        else:
            sums.append(jnp.isfinite(jnp.sum(wide)))
    if small:
        sums.append(jnp.isfinite(jnp.sum(jnp.concatenate(small))))
    return jnp.all(jnp.stack(sums))


def seen_bits(array, kind: str):
    """The bytes of what Python saw of an array, as one vector; the NumPy twin is `seen_bytes`."""
    if kind == "bool":
        array = array.astype(bool)
    elif kind == "int":
        array = array.astype("int64")
    if array.dtype == bool:
        return array.astype("uint8").ravel()
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        array = jnp.stack([array.real, array.imag], -1)
    return jax.lax.bitcast_convert_type(array, "uint8").ravel()


def seen_bytes(array, kind: str) -> bytes:
    """What Python saw of an array, as bytes."""
    if kind == "bool":
        array = array.astype(bool)
    elif kind == "int":
        array = array.astype("int64")
    return array.tobytes()
