# SPDX-License-Identifier: Apache-2.0
"""Static attributes choose the Op; equal numbers of other classes choose another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mycel
from mycel.kernel.define.definition import Definition, define, definitions, static_value


def scaled(x, bias=None, *, shape, factor=1):
    return x


def test_parameters_are_read_from_the_signature():
    definition = Definition("scaled", scaled)
    assert definition.arrays == ("x", "bias")
    assert definition.optional == {"bias"}
    assert definition.statics == ("shape", "factor")
    assert definition.defaults == {"bias": None, "factor": 1}


def test_the_class_of_a_static_value_counts():
    bind = Definition("scaled", scaled).bind
    assert bind((2,), 1) is bind((2,), 1)
    assert bind([2], 1) is bind((2,), np.int64(1))
    different = [bind((2,), 1), bind((2,), 1.0), bind((2,), True), bind((2.0,), 1), bind((2, 1), 1)]
    different += [bind(((2,),), 1), bind((True,), 1), bind(((2.0,),), 1), bind((mycel.int32,), 1)]
    different += [bind(("pad",), 1), bind((mycel.float32,), 1), bind((mycel.float32, 1), 1)]
    different.append(bind((mycel.float32, (True,)), 1))
    assert len(set(different)) == len(different)


def test_equal_static_values_choose_one_op_whichever_objects_they_are():
    bind = Definition("scaled", scaled).bind
    assert bind(("".join(["p", "ad"]), (2, 3)), 1) is bind(("pad", tuple(range(2, 4))), 1)
    assert bind((np.float32(0), 1), 1) is bind((0.0, 1), 1)
    assert bind((np.int32(0), 1), 1) is bind((0, 1), 1)
    assert bind((mycel.float32, (2, 3)), 1) is bind((mycel.float32, tuple(range(2, 4))), 1)


# Equal to Python, and other numbers.
ZEROS = (0.0, -0.0, 0, False, 0j, -0j, complex(0.0, -0.0), complex(-0.0, 0.0))


@pytest.mark.parametrize("around", [lambda v: v, lambda v: (v, 1), lambda v: (mycel.int32, (v,))])
def test_the_sign_of_a_zero_counts(around):
    """Oracle: the bytes of the numbers, in NumPy."""
    bits = {(type(zero), np.array(zero).tobytes()) for zero in ZEROS}
    assert len(bits) == len(ZEROS)
    for order in (ZEROS, ZEROS[::-1]):
        bind = Definition("scaled", scaled).bind
        made = [bind(around(zero), 1) for zero in order]
        assert made == [bind(around(zero), 1) for zero in order]
        assert len(set(made)) == len(bits)
        for zero, op in zip(order, made, strict=True):
            assert repr(op.function.keywords["shape"]) == repr(around(zero))


@pytest.mark.parametrize("around", [lambda v: v, lambda v: (v, 1), lambda v: (mycel.int32, (v,))])
def test_not_a_number_is_itself_as_a_static_value(around):
    """Else every call would compile."""
    bind = Definition("scaled", scaled).bind
    plain = {bind(around(nan), 1) for nan in (float("nan"), float("nan"), np.float32("nan"))}
    plain.add(bind(around(np.float64("nan")), 1))
    assert len(plain) == 1
    half = {bind(around(complex(float("nan"), 0.0)), 1) for _ in range(3)}
    other = {bind(around(complex(float("nan"), -0.0)), 1) for _ in range(3)}
    assert (len(half), len(other), len(half | other | plain)) == (1, 1, 3)


def test_numbers_of_numpy_are_those_of_python():
    bind = Definition("scaled", scaled).bind
    assert bind(np.float32(-0.0), 1) is bind(-0.0, 1) is bind(np.float64(-0.0), 1)
    assert bind(np.float32(-0.0), 1) is not bind(np.float16(0.0), 1) is bind(0.0, 1)
    assert bind(np.bool_(False), 1) is bind(False, 1) is not bind(np.int8(0), 1)
    assert bind(np.array([-0.0]), 1) is bind([-0.0], 1) is not bind([0.0], 1)


def test_the_sign_of_a_zero_counts_in_what_is_compared_by_value():
    @dataclasses.dataclass(frozen=True)
    class Setting:
        slope: float

    bind = Definition("scaled", scaled).bind
    assert bind(Setting(0.0), 1) is bind(Setting(0.0), 1) is not bind(Setting(-0.0), 1)
    assert bind(Setting(0), 1) is not bind(Setting(False), 1)


def test_left_out_arrays_choose_another_op():
    definition = Definition("scaled", scaled)
    both = definition.bind((2,), 1, present=(True, True))
    one = definition.bind((2,), 1, present=(True, False))
    assert both is not one
    assert one.function("the array") == "the array"


def test_a_name_is_defined_once():
    name = next(iter(definitions))
    with pytest.raises(ValueError, match="is defined twice"):
        define(name, scaled)


def test_static_values_become_plain():
    assert static_value([1, (2, np.float32(0.5)), np.array([3, 4])]) == (1, (2, 0.5), (3, 4))
    with pytest.raises(TypeError, match="slice"):
        static_value(slice(1))
