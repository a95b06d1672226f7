# SPDX-License-Identifier: Apache-2.0
"""Recording without running, running what somebody waits for. Oracles: NumPy, and functions of the
host that note when XLA runs them.
"""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Tensor, nn
from mycel.kernel.define.op import Op
from mycel.kernel.record import stream as streams
from mycel.kernel.record.stream import demand, flush, record
from mycel.kernel.record.value import value_of

A, B = np.arange(6.0).reshape(2, 3), np.full((3,), 2.0)
ADD, MULTIPLY = Op("add", jnp.add), Op("multiply", jnp.multiply)
SPLIT = Op("split", lambda a: (a[:1], a[1:]))

ran: list[str] = []


def noting(name: str) -> Op:
    """An identity that notes when it runs."""

    def note(x):
        ran.append(name)
        return np.asarray(x)

    def call(x):
        return jax.pure_callback(note, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    return Op(f"noting_{name}", call)


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


def counts():
    counted = ms.debug.ledger().counts
    return counted.segments, counted.nodes


def given(*arrays):
    return tuple(value_of(jnp.asarray(array)) for array in arrays)


def test_nothing_runs_until_a_value_is_demanded():
    a, b = given(A, B)
    added = record(ADD, (a, b))
    result = record(MULTIPLY, (added, b))
    assert result.array is added.array is None
    assert (result.aval.shape, result.aval.numpy) == (A.shape, A.dtype)
    assert counts() == (0, 0)
    np.testing.assert_array_equal(demand(result), (A + B) * B)
    assert counts() == (1, 2)
    # The other one came out of the same program.
    assert added.array is not None
    np.testing.assert_array_equal(demand(added), A + B)
    assert counts() == (1, 2)


def test_what_nobody_holds_is_never_computed():
    (a,) = given(A)
    kept, dropped = record(noting("kept"), (a,)), record(noting("dropped"), (a,))
    del dropped
    flush()
    jax.block_until_ready(kept.array)
    assert ran == ["kept"]


def test_what_is_only_passed_on_is_computed_and_not_kept():
    (a,) = given(A)
    result = record(ADD, (record(noting("inner"), (a,)), a))
    np.testing.assert_array_equal(demand(result), A + A)
    assert ran == ["inner"]


def test_flush_runs_all_and_a_second_one_nothing():
    values = [record(ADD, given(A, B)) for _ in range(3)]
    flush()
    assert all(value.array is not None for value in values)
    assert counts() == (1, 3)
    flush()
    assert counts() == (1, 3)


def test_several_results():
    head, tail = record(SPLIT, given(A))
    assert (head.array, tail.array) == (None, None)
    np.testing.assert_array_equal(demand(tail), A[1:])
    np.testing.assert_array_equal(demand(head), A[:1])


def test_inputs_that_do_not_fit_leave_no_trace():
    a, b = given(A, B)
    added = record(ADD, (a, b))
    with pytest.raises(ValueError, match=r"add\(Float64\[2, 3\], Float64\[4\]\)"):
        record(ADD, (added, *given(np.zeros(4))))
    result = record(MULTIPLY, (added, b))
    np.testing.assert_array_equal(demand(result), (A + B) * B)
    assert counts() == (1, 2)


def test_directly_every_operator_runs_at_once():
    a, b = given(A, B)
    with execution("direct"):
        value = record(ADD, (a, b))
        assert value.array is not None
        head, tail = record(SPLIT, (value,))
        assert head.array is not None
    np.testing.assert_array_equal(np.concatenate([head.array, tail.array]), A + B)


def test_a_value_that_is_there_may_go_into_any_record():
    """The results of one record are inputs of the next."""
    a, b = given(A, B)
    first = record(ADD, (a, b))
    demand(first)
    again = record(ADD, (first, record(MULTIPLY, (first, b))))
    np.testing.assert_array_equal(demand(again), (A + B) + (A + B) * B)
    assert counts() == (2, 3)


def test_a_record_that_grows_for_ever_is_cut(monkeypatch):
    monkeypatch.setattr(streams, "MOST_OUTPUTS", 5)
    value, one = given(A, np.float64(1))
    held = []
    for _ in range(20):
        value = record(ADD, (value, one))
        held.append(value)
    segments, nodes = counts()
    assert segments >= 2
    assert nodes > 0
    np.testing.assert_array_equal(demand(value), A + 20)
    assert counts()[1] == 20
    np.testing.assert_array_equal(demand(held[3]), A + 4)


def test_a_record_that_brings_in_much_is_cut(monkeypatch):
    monkeypatch.setattr(streams, "MOST_BYTES", 4 * A.nbytes)
    value = record(ADD, given(A, A))
    for _ in range(5):
        value = record(ADD, (value, *given(A)))
    assert counts()[0] >= 1
    np.testing.assert_array_equal(demand(value), 7 * A)


def test_each_thread_has_a_record_of_its_own():
    a, b = given(A, B)
    mine, others = record(ADD, (a, b)), []

    def work():
        others.append(record(MULTIPLY, (a, b)))
        others.append(demand(record(ADD, (a, a))))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert mine.array is None, "the other thread ran only what it recorded"
    np.testing.assert_array_equal(others[1], A + A)
    np.testing.assert_array_equal(demand(others[0]), A * B)
    np.testing.assert_array_equal(demand(mine), A + B)


def test_a_value_of_another_thread_is_an_input_like_any():
    pending = []
    thread = threading.Thread(target=lambda: pending.append(record(ADD, given(A, B))))
    thread.start()
    thread.join()
    assert pending[0].array is None
    result = record(MULTIPLY, (pending[0], *given(B)))
    np.testing.assert_array_equal(demand(result), (A + B) * B)


# -- where programs are cut ---------------------------------------------------------------------


class Layer(nn.Cell):
    def construct(self, x):
        return x * 2


def test_a_cell_that_comes_round_again_begins_a_new_program():
    first, second = Layer(), Layer()
    x = Tensor(A)
    before = counts()[0]
    kept = [first(x), second(x)]
    assert counts()[0] == before, "two Cells, one program"
    kept.append(first(x))
    assert counts()[0] == before + 1
    flush()
    assert counts()[0] == before + 2
    for result in kept:
        np.testing.assert_array_equal(result.asnumpy(), 2 * A)


def test_an_outermost_derivative_begins_a_new_program():
    x = Tensor(A)
    kept = x + 1
    before = counts()[0]
    gradient = ms.grad(lambda y: (y * y).sum())(x)
    assert counts()[0] == before + 1, "what was recorded before it ran"
    np.testing.assert_array_equal(gradient.asnumpy(), 2 * A)
    np.testing.assert_array_equal(kept.asnumpy(), A + 1)
