# SPDX-License-Identifier: Apache-2.0
"""Random numbers: a key and a counter in a Parameter, advanced by recorded operators.

Each thread has its own generator, so threads that train side by side do not disturb each other's
numbers; `set_seed` speaks for the calling thread and for threads that draw for the first time.
"""

from __future__ import annotations

import secrets

import jax
import jax.numpy as jnp
import numpy as np

from mycel.define.op import Op, nothing_flows
from mycel.record.dispatch import new_tensor
from mycel.record.parameter import Parameter
from mycel.record.stream import current_stream, record
from mycel.record.tensor import Tensor, data_value, rebind, resolve


def _next_key(state):
    key = jax.random.wrap_key_data(state[:2], impl="threefry2x32")
    fresh = jax.random.key_data(jax.random.fold_in(key, state[2]))
    return fresh, state.at[2].add(jnp.uint32(1))


NEXT_KEY = Op("next_key", _next_key, rule=nothing_flows)


class Generator:
    """A source of random keys.

    Example:
        >>> import mycel as ms
        >>> generator = ms.Generator(seed=3)
        >>> generator.next_key().shape
        (2,)
    """

    def __init__(self, seed: int | None = None):
        self.state = Parameter(_state_of(seed), name="generator.state", requires_grad=False)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`."""
        rebind(self.state, data_value(_state_of(seed), None))
        return self

    def next_key(self) -> Tensor:
        """A key never given before, UInt32[2]; recorded, so remembered calls draw anew."""
        made = record(NEXT_KEY, (resolve(self.state),))
        assert isinstance(made, tuple)
        rebind(self.state, made[1])
        return new_tensor(made[0])


def _state_of(seed: int | None) -> np.ndarray:
    number = secrets.randbits(63) if seed is None else int(seed)
    if number < 0:
        raise ValueError(f"A seed must not be negative, but {number} was given.")
    return np.array([number >> 32 & 0xFFFFFFFF, number & 0xFFFFFFFF, 0], np.uint32)


class _Seed:
    __slots__ = ("number",)

    def __init__(self):
        self.number: int | None = None


_seed = _Seed()


def set_seed(seed: int) -> None:
    """Fix initialisers, dropout and random operators from here on; MindSpore's `set_seed`.

    NumPy's global generator is seeded as well, as in MindSpore.

    Raises:
        ValueError: a negative seed.
        TypeError: no integer.

    Example:
        >>> import mycel as ms
        >>> ms.set_seed(1); a = ms.ops.rand(2); ms.set_seed(1); b = ms.ops.rand(2)
        >>> bool((a == b).all())
        True
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"A seed must be an integer, but {seed!r} was given.")
    seed = int(seed)
    default_generator().manual_seed(seed)
    np.random.seed(seed % (1 << 32))
    _seed.number = seed


def get_seed() -> int | None:
    """The seed last given to `set_seed`, or None."""
    return _seed.number


def default_generator() -> Generator:
    """The generator of the calling thread."""
    stream = current_stream()
    if stream.generator is None:
        # Lifted when a remembered call meets it, like any handle from outside.
        capture, stream.capture = stream.capture, None
        stream.generator = Generator(_seed.number)
        stream.capture = capture
    return stream.generator
