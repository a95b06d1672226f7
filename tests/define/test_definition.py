# SPDX-License-Identifier: Apache-2.0
"""Static attributes choose the Op; equal numbers of other classes choose another."""

from __future__ import annotations

import numpy as np
import pytest

import mycel
from mycel.define.definition import Definition, define, definitions, static_value


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
