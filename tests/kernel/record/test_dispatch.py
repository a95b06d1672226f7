# SPDX-License-Identifier: Apache-2.0
"""From operands to the record. Oracle: `record` itself for the quick ways, NumPy for the numbers,
and the count of compilations for what must not be a constant.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, ops
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import apply0, apply1, apply2, applyn
from mycel.kernel.record.stream import demand, record
from mycel.kernel.record.value import value_of

X, Y, Z = (np.arange(6, dtype=np.float32).reshape(2, 3) + shift for shift in (0, 1, 2))
NOTHING = Op("seven", lambda: jnp.full((2,), 7.0))
ONE = Op("negative", jnp.negative)
TWO = Op("subtract", jnp.subtract)
THREE = Op("blend", lambda a, b, c: a * b - c)
PARTS = Op("parts", lambda a: (a[0], a[1]))
PAIR = Op("pair", lambda a, b: (a, b))
TWO_PARTS = Op("two_parts", lambda a, b: (a + b, a - b))


def recorded(op, *arrays):
    """What the record gives, without dispatch."""
    made = record(op, tuple(value_of(jnp.asarray(array)) for array in arrays))
    return [np.asarray(demand(value)) for value in (made if isinstance(made, tuple) else (made,))]


WAYS = {
    "none": (NOTHING, lambda op: apply0(op), ()),
    "one": (ONE, lambda op, a: apply1(op, a), (X,)),
    "one, two results": (PARTS, lambda op, a: apply1(op, a), (X,)),
    "two": (TWO, lambda op, a, b: apply2(op, a, b), (X, Y)),
    "two, two results": (TWO_PARTS, lambda op, a, b: apply2(op, a, b), (X, Y)),
    "one of any": (ONE, lambda op, a: applyn(op, (a,)), (X,)),
    "two of any": (TWO, lambda op, a, b: applyn(op, (a, b)), (X, Y)),
    "three": (THREE, lambda op, a, b, c: applyn(op, (a, b, c)), (X, Y, Z)),
}
KINDS = {
    "Tensors": Tensor,
    "Parameters": lambda array: Parameter(Tensor(array), name="p"),
    "arrays": lambda array: array,
    "lists": lambda array: array.tolist(),
    "results": lambda array: Tensor(array) + 0,
}


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_what_the_record_gives(way, kind, mode):
    op, call, arrays = WAYS[way]
    expected = recorded(op, *arrays)
    with execution(mode):
        function = ms.jit(lambda *operands: call(op, *operands)) if mode == "graph" else None
        for _ in range(3):
            operands = [KINDS[kind](array) for array in arrays]
            found = function(*operands) if function else call(op, *operands)
            found = found if isinstance(found, tuple) else (found,)
            assert all(type(result) is Tensor for result in found)
            for mine, theirs in zip(found, expected, strict=True):
                np.testing.assert_array_equal(mine.asnumpy(), theirs)


@pytest.mark.parametrize(
    ("number", "beside", "dtype"),
    [
        (2, np.float32, "float32"),
        (2, np.int8, "int8"),
        (2, np.bool_, "int64"),
        (2.5, np.float16, "float16"),
        (2.5, np.int32, "float32"),
        (True, np.uint8, "uint8"),
        (1j, np.float32, "complex64"),
        (1j, np.float64, "complex128"),
    ],
)
def test_a_number_takes_its_type_from_the_tensor_on_either_side(number, beside, dtype):
    tensor, expected = Tensor(np.ones(3, beside)), np.dtype(dtype).type(number)
    for found in (apply2(PAIR, tensor, number)[1], apply2(PAIR, number, tensor)[0]):
        assert found.shape == ()
        assert found.asnumpy().dtype == expected.dtype
        assert found.asnumpy() == expected


def test_a_number_that_changes_is_no_constant_of_the_program():
    x = Tensor(X)
    for number in (1.0, 2.0):
        (x * number).asnumpy()
    before = ms.debug.ledger().counts.compilations
    for number in (3.0, -4.5, 1e30):
        np.testing.assert_array_equal((x * number).asnumpy(), X * np.float32(number))
    assert ms.debug.ledger().counts.compilations == before


@pytest.mark.parametrize("call", [lambda x: ops.add(x, object()), lambda x: ops.add(object(), x)])
def test_what_is_no_number_is_told_with_the_line(call):
    with pytest.raises(TypeError) as caught:
        call(Tensor(X))
    assert "A Tensor or a number is needed, but object <object object" in str(caught.value)
    assert __file__ in str(caught.value)


@pytest.mark.parametrize("number", [1000, -1])
def test_a_number_that_the_type_cannot_hold_is_told_with_the_line(number):
    with pytest.raises(OverflowError) as caught:
        apply2(TWO, Tensor(np.ones(3, np.uint8)), number)
    assert str(caught.value).startswith(f"{number} does not fit UInt8 (at {__file__}:")


def test_an_operand_that_is_refused_leaves_no_trace():
    """The next program has only what was recorded around it."""
    x = Tensor(X)
    before = ms.debug.ledger().counts.nodes
    kept = x + 1
    for operands in ((x, object()), (x, np.ones(7, np.float32)), (object(), kept)):
        with pytest.raises((TypeError, ValueError)):
            apply2(TWO, *operands)
        with pytest.raises((TypeError, ValueError)):
            applyn(THREE, (*operands, x))
    np.testing.assert_array_equal((kept * 2).asnumpy(), (X + 1) * 2)
    assert ms.debug.ledger().counts.nodes == before + 2
