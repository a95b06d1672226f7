# SPDX-License-Identifier: Apache-2.0
"""Random keys: a seed and a count. Oracles: JAX's own `fold_in` for the keys, Python's and NumPy's
generators for what `set_seed` promises, and PyNative for remembered calls.
"""

from __future__ import annotations

import random
import threading

import jax
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Tensor, ops
from mycel.kernel.record.generator import Generator, default_generator, get_seed, restore_seed


@pytest.fixture(autouse=True)
def set_back():
    """The seed of the process and the generator of this thread are as they were."""
    seed, state = get_seed(), default_generator().get_state()
    yield
    restore_seed(seed)
    default_generator().set_state(state)


def keys_of(seed: int, count: int) -> list:
    words = np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    return [jax.random.key_data(jax.random.fold_in(key, n)).tolist() for n in range(count)]


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("seed", [0, 7, 2**32 + 5, 2**63 - 1])
def test_the_keys_are_those_of_jax(seed, mode):
    with execution(mode):
        generator = Generator(seed)
        found = [generator.next_key().asnumpy().tolist() for _ in range(5)]
    assert found == keys_of(seed, 5)
    assert len({tuple(key) for key in found}) == 5
    assert generator.initial_seed() == seed


def test_a_replay_draws_on():
    generator = Generator(7)
    step = ms.jit(lambda x: (generator.next_key(), x + 1))
    before = ms.debug.ledger().counts.replays
    found = [step(Tensor([1.0]))[0].asnumpy().tolist() for _ in range(6)]
    assert ms.debug.ledger().counts.replays >= before + 3
    assert found == keys_of(7, 6)


def test_it_goes_on_from_a_state():
    generator = Generator(7)
    generator.next_key()
    state = generator.get_state()
    assert (state.dtype, state.shape) == (ms.uint8, (16,))
    assert state.asnumpy().view(np.int64).tolist() == [7, 1]
    first = generator.next_key().asnumpy().tolist()
    generator.next_key()
    generator.set_state(state)
    assert generator.next_key().asnumpy().tolist() == first
    other = Generator(0)
    other.set_state(state)
    assert other.next_key().asnumpy().tolist() == first == keys_of(7, 2)[1]


@pytest.mark.parametrize(
    "state",
    [None, np.zeros(16, np.uint8), Tensor(np.zeros(16, np.int8)), Tensor(np.zeros(8, np.uint8))],
)
def test_what_is_no_state_is_refused(state):
    generator = Generator(7)
    with pytest.raises(RuntimeError, match=r"The state of a Generator must be what get_state"):
        generator.set_state(state)
    assert generator.get_state().asnumpy().view(np.int64).tolist() == [7, 0]


def test_starting_again():
    generator = Generator(7)
    generator.next_key()
    assert generator.manual_seed(np.int64(9)) is generator
    assert generator.next_key().asnumpy().tolist() == keys_of(9, 1)[0]
    chosen = generator.seed()
    assert generator.next_key().asnumpy().tolist() == keys_of(chosen, 1)[0]


@pytest.mark.parametrize("seed", [1.5, "7", True, None])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(TypeError, match="an integer"):
        Generator(7).manual_seed(seed)
    with pytest.raises(TypeError, match="A seed must be an integer"):
        ms.set_seed(seed)


def test_a_seed_is_not_negative():
    for start in (ms.set_seed, Generator):
        with pytest.raises(ValueError, match="A seed must be not negative, but -1 was given at"):
            start(-1)


def test_set_seed_seeds_python_and_numpy_too():
    ms.set_seed(2**32 + 5)
    assert random.random() == random.Random(2**32 + 5).random()
    assert np.random.rand() == np.random.RandomState(5).rand()
    assert ms.get_seed() == 2**32 + 5
    assert default_generator().next_key().asnumpy().tolist() == keys_of(2**32 + 5, 1)[0]


def test_each_thread_draws_from_its_own():
    def drawn():
        return ops.rand(2).asnumpy().tolist()

    def run():
        ms.set_seed(3)
        mine, theirs = [drawn()], []
        for _ in range(2):
            thread = threading.Thread(target=lambda: theirs.extend(drawn() for _ in range(2)))
            thread.start()
            thread.join()
        return [*mine, drawn()], theirs

    mine, theirs = run()
    ms.set_seed(3)
    assert mine == [drawn(), drawn()], "no other thread draws for this one"
    assert len({*map(tuple, mine + theirs)}) == 6, "each draws numbers of its own"
    assert run() == (mine, theirs), "the seed says which"
