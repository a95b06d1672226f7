# SPDX-License-Identifier: Apache-2.0
"""Random numbers: a key and a counter in a Parameter, advanced by recorded operators.

Each thread has its own generator, so threads that train side by side do not disturb each other's
numbers; `set_seed` speaks for the calling thread and for threads that draw for the first time.
These draw other numbers than it, each its own: by the order in which they begin to draw.
"""

from __future__ import annotations

import random
import secrets
from itertools import count

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.define.op import Op, nothing_flows
from mycel.kernel.record.dispatch import new_tensor
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import current_stream, record
from mycel.kernel.record.tensor import Tensor, data_value, resolve, update


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

    def __init__(self, seed: int | None = None, thread: int = 0):
        state = _state_of(seed, thread)
        self.state = Parameter(state, name="generator.state", requires_grad=False)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`.

        Raises:
            TypeError: not an integer.
        """
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise wrong(TypeError, "manual_seed: seed", "an integer", repr(seed))
        self._start(int(seed), 0)
        return self

    def seed(self) -> int:
        """Start again from a number that nobody chose, which is returned.

        Example:
            >>> generator = ms.Generator()
            >>> generator.seed() == generator.initial_seed()
            True
        """
        number = secrets.randbits(32)
        self._start(number, 0)
        return number

    def initial_seed(self) -> int:
        """The seed it was started from.

        Example:
            >>> ms.Generator().manual_seed(13).initial_seed()
            13
        """
        return int(self._bytes().view(np.int64)[0])

    def get_state(self) -> Tensor:
        """The seed and how many keys were drawn, as UInt8[16] (two Int64, as MindSpore has it).

        Example:
            >>> print(ms.Generator().manual_seed(5).get_state())
            [5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
        """
        return Tensor(self._bytes())

    def set_state(self, state: Tensor) -> None:
        """Go on from where `get_state` was called.

        Raises:
            RuntimeError: not what `get_state` returns.

        Example:
            >>> generator = ms.Generator().manual_seed(5)
            >>> state = generator.get_state()
            >>> first = generator.next_key()
            >>> generator.set_state(state)
            >>> bool((generator.next_key() == first).all())
            True
        """
        array = state.asnumpy() if isinstance(state, Tensor) else None
        if array is None or array.dtype != np.uint8 or array.shape != (_STATE_BYTES,):
            expected = "what get_state returns, a UInt8 Tensor of shape (16,)"
            actual = f"{type(state).__name__} {state!r:.60}"
            raise wrong(RuntimeError, "The state of a Generator", expected, actual)
        self._start(*map(int, array.view(np.int64)))

    def _start(self, seed: int, drawn: int) -> None:
        words = [seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF, drawn & 0xFFFFFFFF]
        update(self.state, data_value(np.array(words, np.uint32), None))

    def _bytes(self) -> np.ndarray:
        high, low, drawn = self.state.asnumpy()
        return np.array([low, high, drawn, 0], np.uint32).view(np.uint8)

    def next_key(self) -> Tensor:
        """A key never given before, UInt32[2]; recorded, so remembered calls draw anew."""
        outputs = record(NEXT_KEY, (resolve(self.state),))
        assert isinstance(outputs, tuple)
        update(self.state, outputs[1])
        return new_tensor(outputs[0])


_STATE_BYTES = 16


def _state_of(seed: int | None, thread: int) -> np.ndarray:
    """How a generator begins; of several threads that begin from one seed, each otherwise."""
    number = secrets.randbits(63) if seed is None else int(seed)
    if number < 0:
        raise wrong(ValueError, "A seed", "not negative", number)
    words = number >> 32 & 0xFFFFFFFF, number & 0xFFFFFFFF
    if thread:
        words = np.random.SeedSequence(words, spawn_key=(thread,)).generate_state(2)
    return np.array([*words, 0], np.uint32)


class _Seed:
    """What `set_seed` was given last, and the numbers of the threads that begin to draw from it."""

    __slots__ = ("number", "threads")

    def __init__(self):
        self.number: int | None = None
        self.threads = count(1)


_seed = _Seed()


def set_seed(seed: int) -> None:
    """Fix initialisers, dropout and random operators from here on; MindSpore's `set_seed`.

    The global generators of Python and NumPy are seeded as well, as in MindSpore.

    Raises:
        ValueError: a negative seed.
        TypeError: not an integer.

    Example:
        >>> import mycel as ms
        >>> ms.set_seed(1); a = ms.ops.rand(2); ms.set_seed(1); b = ms.ops.rand(2)
        >>> bool((a == b).all())
        True
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise wrong(TypeError, "A seed", "an integer", repr(seed))
    seed = int(seed)
    if seed < 0:
        raise wrong(ValueError, "A seed", "not negative", seed)
    default_generator().manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    _seed.number, _seed.threads = seed, count(1)


def get_seed() -> int | None:
    """The seed last given to `set_seed`, or None."""
    return _seed.number


def restore_seed(seed: int | None) -> None:
    """Let `get_seed` answer this; nothing is started again."""
    _seed.number = seed


def default_generator() -> Generator:
    """The generator of the calling thread."""
    stream = current_stream()
    if stream.generator is None:
        stream.generator = stream.unobserved(Generator, _seed.number, next(_seed.threads))
    return stream.generator


def draw_from(generator) -> None:
    """Let random operators of the calling thread draw from this."""
    current_stream().generator = generator


def manual_seed(seed: int) -> Generator:
    """Start the generator of the calling thread again from `seed`; it is returned.

    `set_seed` does more: NumPy's generator and operators with seeds of their own follow it too.

    Raises:
        TypeError: not an integer.

    Source: MindSpore's `mindspore.manual_seed`.

    Example:
        >>> generator = ms.manual_seed(13)
        >>> ms.initial_seed()
        13
    """
    return default_generator().manual_seed(seed)


def seed() -> int:
    """Start the generator of the calling thread from a number that nobody chose; returned.

    Source: MindSpore's `mindspore.seed`.

    Example:
        >>> ms.seed() == ms.initial_seed()
        True
    """
    return default_generator().seed()


# `mindspore.common.seed` was a module of these two before there was a function of this name.
vars(seed).update(set_seed=set_seed, get_seed=get_seed)


def initial_seed() -> int:
    """The seed from which the generator of the calling thread was started.

    Source: MindSpore's `mindspore.initial_seed`.

    Example:
        >>> generator = ms.manual_seed(14)
        >>> ms.initial_seed()
        14
    """
    return default_generator().initial_seed()


def get_rng_state() -> Tensor:
    """The state of the generator of the calling thread, UInt8[16].

    Source: MindSpore's `mindspore.get_rng_state`.

    Example:
        >>> state = ms.get_rng_state()
        >>> drawn = ops.rand(2)
        >>> ms.set_rng_state(state)
        >>> bool((ops.rand(2) == drawn).all())
        True
    """
    return default_generator().get_state()


def set_rng_state(state: Tensor) -> None:
    """Let the generator of the calling thread go on from a state of `get_rng_state`.

    Raises:
        RuntimeError: not such a state.

    Source: MindSpore's `mindspore.set_rng_state`.

    Example:
        >>> ms.set_rng_state(ms.manual_seed(5).get_state())
        >>> ms.initial_seed()
        5
    """
    default_generator().set_state(state)
