# SPDX-License-Identifier: Apache-2.0
"""Values never change; handles are pointed at others. Oracle: NumPy arrays, copied beforehand."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, ops
from mycel.kernel.base.errors import OutOfRangeError
from mycel.kernel.base.places import NOWHERE, Place
from mycel.kernel.define.aval import aval_of
from mycel.kernel.record.value import Poison, ready, value_of

ONES = np.ones((2, 3), np.float32)


def test_a_value_that_is_there_knows_its_shape_and_type():
    array = jnp.asarray(ONES)
    for value in (value_of(array), ready(array, aval_of((2, 3), np.dtype("float32")))):
        assert value.array is array
        assert value.aval is aval_of((2, 3), np.dtype("float32"))


WRITES = {
    "set_data": lambda p: p.set_data(p * 3),
    "assign": lambda p: ops.assign(p, p * 3),
    "item": lambda p: p.__setitem__(slice(None), 3.0),
    "in place": lambda p: p.mul_(3),
}


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("write", WRITES)
def test_what_was_taken_of_a_handle_stays_when_the_handle_is_written(mode, write):
    with execution(mode):
        handle = Parameter(Tensor(ONES), name="handle")
        before, doubled, view = handle.value(), handle * 2, handle.reshape(3, 2)
        for _ in range(3):
            WRITES[write](handle)
        assert handle.asnumpy().max() in (3.0, 27.0)
        np.testing.assert_array_equal(before.asnumpy(), ONES)
        np.testing.assert_array_equal(doubled.asnumpy(), 2 * ONES)
        np.testing.assert_array_equal(view.asnumpy(), ONES.reshape(3, 2))


def test_an_array_of_numpy_is_copied_on_the_way_in_and_cannot_be_written_on_the_way_out():
    array = ONES.copy()
    tensor = Tensor(array)
    array[:] = 7
    np.testing.assert_array_equal(tensor.asnumpy(), ONES)
    seen = tensor.asnumpy()
    if seen.flags.writeable:
        seen[:] = 7
    np.testing.assert_array_equal(tensor.asnumpy(), ONES)
    np.testing.assert_array_equal((tensor + 0).asnumpy(), ONES)


# -- what a failed operator leaves --------------------------------------------------------------


def line() -> Place:
    return Place(line.__code__, 0)


def test_a_failed_operator_is_named_with_its_place():
    error = Poison("Inverse", line(), ZeroDivisionError("a zero")).error()
    assert isinstance(error, RuntimeError)
    assert str(error) == (
        f"The operator Inverse, recorded at {line()}, failed: ZeroDivisionError: a zero"
    )
    assert f"{__file__}:{line.__code__.co_firstlineno}" in str(error)


def test_what_needed_its_result_names_both():
    error = Poison("Add", NOWHERE, ValueError("no"), "Inverse", line()).error()
    assert str(error) == (
        "This value was to come from Add at an unknown place, which needs the result of Inverse "
        f"(recorded at {line()}); that one failed: ValueError: no"
    )


def test_a_wrong_index_stays_the_error_that_it_is():
    cause = OutOfRangeError("the index 7 is out of range")
    error = Poison("Gather", line(), cause).error()
    assert type(error) is OutOfRangeError
    assert error.args == cause.args
    assert error is not cause, "each read raises one of its own, with its own traceback"
    assert ms.OutOfRangeError is OutOfRangeError
