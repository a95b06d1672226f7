# SPDX-License-Identifier: Apache-2.0
"""What pending Values wait for: each source gives the array, and Python's view, of its Values.

The oracle is NumPy: the numbers that went into a record, a pack or a drawing.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

from mycel import Parameter, Tensor, ops
from mycel.init.later import undrawn
from mycel.kernel.base.dtypes import float32
from mycel.kernel.define.aval import aval_of
from mycel.kernel.record.packed import Packed
from mycel.kernel.record.stream import Segment, current_stream, demand, flush
from mycel.kernel.record.tensor import new_tensor
from mycel.kernel.record.value import Value

NUMBERS = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)


def recorded() -> Value:
    return (Tensor(NUMBERS / 2) * 2.0)._value


def packed() -> Value:
    others = np.arange(3, dtype=np.float32)
    pack = Packed(np.concatenate([others, NUMBERS.ravel()]), {7: (3, 7, NUMBERS.shape)})
    value = Value(None, aval_of(NUMBERS.shape, NUMBERS.dtype))
    value.source, value.slot = pack, 7
    return value


def drawn() -> Value:
    return undrawn(lambda: NUMBERS.copy(), NUMBERS.shape, float32)._value


SOURCES = pytest.mark.parametrize("make", [recorded, packed, drawn])


@SOURCES
def test_a_pending_value_is_produced_by_its_source(make):
    value = make()
    assert value.array is None
    value.source.produce(value)
    assert value.source is None
    np.testing.assert_array_equal(np.asarray(value.array), NUMBERS)


@SOURCES
def test_demand_asks_the_source(make):
    value = make()
    np.testing.assert_array_equal(np.asarray(demand(value)), NUMBERS)


@SOURCES
def test_python_sees_the_numbers(make):
    value = make()
    np.testing.assert_array_equal(value.source.view(value), NUMBERS)
    np.testing.assert_array_equal(new_tensor(make()).asnumpy(), NUMBERS)


@pytest.mark.parametrize("make", [packed, drawn])
def test_what_needs_no_record_stays_pending_when_it_is_looked_at_or_used(make):
    value = make()
    handle = new_tensor(value)
    handle.asnumpy()
    assert value.array is None
    doubled = handle * 2.0
    assert value.array is None and current_stream().segment.has_pending
    np.testing.assert_array_equal(doubled.asnumpy(), NUMBERS * 2)


@SOURCES
def test_a_parameter_made_of_it_has_the_numbers(make):
    handle = new_tensor(make())
    parameter = Parameter(handle, name="p")
    parameter += 1.0
    np.testing.assert_array_equal(handle.asnumpy(), NUMBERS)
    np.testing.assert_array_equal(parameter.asnumpy(), NUMBERS + 1)


@SOURCES
def test_another_thread_may_ask(make):
    value, seen = make(), []
    thread = threading.Thread(target=lambda: seen.append(np.asarray(demand(value))))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(seen[0], NUMBERS)
    # Nothing of the record of this thread has run for it.
    assert make is not recorded or value.source is current_stream().segment


@SOURCES
def test_another_thread_may_compute_with_it(make):
    value, seen = make(), []
    thread = threading.Thread(target=lambda: seen.append((new_tensor(value) + 1.0).asnumpy()))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(seen[0], NUMBERS + 1)


def test_a_value_of_a_pack_that_lives_on_keeps_nothing_else():
    value = packed()
    pack = value.source
    alone = pack.alone(value)
    np.testing.assert_array_equal(alone.view(value), NUMBERS)
    assert alone._array.size == NUMBERS.size < pack._array.size


def test_numbers_are_drawn_once():
    draws = []

    def draw():
        draws.append(1)
        return NUMBERS.copy()

    parameter = Parameter(undrawn(draw, NUMBERS.shape, float32), name="p")
    assert not draws
    for _ in range(2):
        np.testing.assert_array_equal(parameter.asnumpy(), NUMBERS)
    np.testing.assert_array_equal((parameter * 2.0).asnumpy(), NUMBERS * 2)
    assert len(draws) == 1


def test_a_record_that_ran_has_no_value_more_to_give():
    value = recorded()
    segment = value.source
    assert isinstance(segment, Segment)
    demand(value)
    lost = Value(None, value.aval)
    lost.source, lost.slot = segment, 0
    with pytest.raises(RuntimeError, match="A value was lost"):
        demand(lost)


def test_an_operator_that_fails_poisons_what_is_asked_of_another_thread():
    index = ops.arange(3) + 5
    wrong, seen = ops.gather(Tensor(NUMBERS), index, 0), []

    def ask():
        try:
            demand(wrong._value)
        except Exception as error:
            seen.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert isinstance(seen[0], IndexError), seen
    with pytest.raises(IndexError):
        wrong.asnumpy()
    with pytest.raises(IndexError):
        flush()  # this thread, when it runs its record
