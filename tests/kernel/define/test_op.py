# SPDX-License-Identifier: Apache-2.0
"""Ops: signatures, reverses and rows. Oracles: NumPy, `jax.grad` of the function itself, and finite
differences for derivatives of derivatives.
"""

from __future__ import annotations

import gc
import itertools
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.bounds import counted
from mycel.kernel.define.op import Op, nothing_flows, signatures

DRAW = np.random.default_rng(11)
A, B, C = DRAW.normal(size=(2, 3)), DRAW.normal(size=(3,)), DRAW.normal(size=(2, 3))


def blended(a, b, c):
    return jnp.sin(a) * b + a * c


def parted(a, b):
    """Two results, one of them of integers."""
    return a * b, jnp.argmax(a, -1), a.sum()


def avals(*arrays):
    return tuple(aval_of(array.shape, array.dtype) for array in arrays)


# -- signatures ---------------------------------------------------------------------------------


def test_the_results_are_inferred_and_never_computed():
    def counts_its_runs(a, b):
        assert isinstance(a, jax.core.Tracer)
        return a + b

    signature = Op("add", counts_its_runs).signature(avals(A, B))
    assert signature.outputs == avals(A + B)
    assert signature.single
    assert signature.arity == 2
    assert signatures[signature.id] is signature


def test_a_signature_is_found_again_by_how_many_inputs_it_has():
    op = Op("add", lambda *arrays: sum(arrays))
    one, two, three = (op.signature(given) for given in (avals(A), avals(A, B), avals(A, B, C)))
    assert op.one == {one.inputs[0]: one}
    assert op.two == {two.inputs[0]: {two.inputs[1]: two}}
    assert op.many == {s.inputs: s for s in (one, two, three)}
    assert [op.signature(s.inputs) for s in (one, two, three)] == [one, two, three]
    assert len({one.id, two.id, three.id}) == 3


def test_several_results():
    signature = Op("parted", parted).signature(avals(A, B))
    assert not signature.single
    assert signature.outputs == avals(A * B, np.argmax(A, -1), A.sum())
    assert signature.aval is signature.outputs[0]


def test_an_operator_that_points_is_not_found_the_quick_way():
    op = Op("take", lambda a, i: a[i])
    op.bounds = lambda avals: (counted(1, avals[0].shape[0]),)
    signature = op.signature(avals(B, np.array(1)))
    assert signature.bounds == (counted(1, 3),)
    assert (op.one, op.two) == ({}, {})
    assert op.signature(signature.inputs) is signature
    with pytest.raises(TypeError, match="must be an integer"):
        op.signature(avals(B, B))


def test_inputs_that_do_not_fit_are_told_with_the_line():
    op = Op("add", lambda a, b: a + b)
    with pytest.raises(ValueError) as caught:
        op.signature(avals(A, np.zeros(4)))
    text = str(caught.value)
    assert text.startswith("add(Float64[2, 3], Float64[4]) at ")
    assert __file__ in text
    assert op.many == {}, "a failure leaves no trace"


def test_signatures_with_open_lengths_are_forgotten_and_made_again(monkeypatch):
    """Oracle: the shapes of NumPy's results, and the numbers that they had."""
    monkeypatch.setattr("mycel.kernel.define.op.MOST_OPENED", 4)
    op = Op("scaled", lambda a, b: a * b)
    op.names = ["scaled"]  # as a definition has them: NumPy may run it

    def of(length):
        return op.signature((aval_of((length, 50), A.dtype), aval_of((50,), A.dtype)))

    before, numbers = of(3), {}
    op.open(before, of(4))
    for length in range(5, 40):
        signature = of(length)
        assert signature.opened is not None
        numbers[length] = signature.id
    del before, signature
    assert len(op.many) <= 4 and sum(map(len, op.two.values())) <= 4
    gone = weakref.ref(aval_of((5, 50), A.dtype))
    gc.collect()
    assert gone() is None, "nothing keeps the aval of what was forgotten"
    for length in (39, 5, 20, 5):
        known = signatures[numbers[length]]
        assert [aval.shape for aval in known.inputs] == [(length, 50), (50,)]
        assert known.outputs == (aval_of((length, 50), A.dtype),)
        assert (known.op, known.id, known.single) == (op, numbers[length], True)
        assert of(length).id == numbers[length], "a record of it is the same"
        assert of(length) is signatures[numbers[length]]
    assert len(op.many) <= 4
    assert len(signatures) == max(numbers.values()) + 1


# -- reverses -----------------------------------------------------------------------------------


def reverse_of(op: Op, mask, present, *arrays):
    found = op.reverse(mask, present).function(*map(jnp.asarray, arrays))
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("mask", [m for m in itertools.product((True, False), repeat=3) if any(m)])
def test_the_gradients_of_the_inputs_that_are_asked_for(mask):
    given = reverse_of(Op("blended", blended), mask, (True,), A, B, C, C)
    positions = [i for i, wanted in enumerate(mask) if wanted]
    expected = jax.grad(lambda *x: (blended(*x) * C).sum(), positions)(A, B, C)
    assert len(given) == len(positions)
    for mine, theirs in zip(given, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-12)


def test_a_reverse_is_made_once_and_is_an_op_of_its_own():
    op = Op("blended", blended, fallible=True)
    op.reads = 2
    first = op.reverse((True, False, True), (True,))
    assert first is op.reverse((True, False, True), (True,)) is not op.reverse((True,) * 3, (True,))
    assert (first.name, first.fallible, first.reads) == ("blended'", True, 4)


def test_results_without_a_cotangent_give_nothing():
    op = Op("parted", parted)
    (first,) = reverse_of(op, (True, False), (True, False, False), A, B, C)
    np.testing.assert_allclose(first, C * B, 1e-12)
    (last,) = reverse_of(op, (True, False), (False, False, True), A, B, np.array(2.0))
    np.testing.assert_allclose(last, np.full(A.shape, 2.0), 1e-12)
    (both,) = reverse_of(op, (True, False), (True, False, True), A, B, C, np.array(2.0))
    np.testing.assert_allclose(both, first + last, 1e-12)


def test_integers_have_gradients_of_integers():
    """As the contract says: `mul` at (1, 2) of Int32 has (2, 1) of Int32."""
    one, two = np.int32(1), np.int32(2)
    op = Op("mul", lambda x, y: x * y)
    found = reverse_of(op, (True, True), (True,), one, two, one)
    assert [(int(g), g.dtype) for g in found] == [(2, np.int32), (1, np.int32)]


def test_nothing_flows_to_an_index():
    op = Op("take", lambda a, i: a[i])
    array, index = reverse_of(op, (True, True), (True,), B, np.array([0, 2, 2]), np.ones(3))
    np.testing.assert_array_equal(array, [1, 0, 2])
    np.testing.assert_array_equal(index, [0, 0, 0])
    assert index.dtype == np.int64


def test_a_reverse_of_a_reverse_is_the_second_derivative():
    """Oracle: central differences of the first."""
    op = Op("cube", lambda x: jnp.sin(x) * x)
    first, one = op.reverse((True,), (True,)), np.ones_like(B)
    (second,) = reverse_of(first, (True, False), (True,), B, one, one)
    step = 1e-5
    above, below = (first.function(jnp.asarray(B + s), jnp.asarray(one)) for s in (step, -step))
    np.testing.assert_allclose(second, (above - below) / (2 * step), 1e-6)


def test_an_exchanged_function_is_what_is_compiled():
    op = Op("add", lambda a: a + 1)
    assert op.jitted(B).tolist() == (B + 1).tolist()
    op.set_function(lambda a: a - 1)
    assert op.jitted(B).tolist() == (B - 1).tolist()


# -- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [(True, True), (True, False), (False, True)])
def test_rows_are_computed_one_by_one(mask):
    op = Op("rolled", lambda a, b: jnp.roll(a, 1) - b * b)
    rows = op.batched(mask)
    given = [DRAW.normal(size=(4, 3) if mapped else (3,)) for mapped in mask]
    found = rows.function(*given)
    for row in range(4):
        alone = [a[row] if mapped else a for a, mapped in zip(given, mask, strict=True)]
        np.testing.assert_allclose(found[row], op.function(*alone), 1e-12)
    assert rows is op.batched(mask)
    assert rows.name == "vmap(rolled)"


def test_rows_keep_what_is_known_of_the_operator():
    op = Op("take", lambda a, i: a[i], rule=nothing_flows, fallible=True)
    op.reads, op.rearranges = 1, True
    op.bounds = lambda avals: (counted(1, avals[0].shape[0]),)
    rows = op.batched((True, True))
    assert (rows.fallible, rows.reads, rows.rearranges) == (True, 1, True)
    assert rows.rule is nothing_flows
    # The limits are those of a row: 3, not the number of rows.
    assert rows.bounds(avals(np.zeros((7, 3)), np.zeros(7, int))) == (counted(1, 3),)
    assert nothing_flows((), (), (), (True, False)) == [None, None]
    other = Op("other", lambda a: a, rule=lambda *_: [])
    assert other.batched((True,)).rule is None, "a rule of records knows nothing of rows"
