# SPDX-License-Identifier: Apache-2.0
"""Mathematical operators against what MindSpore 2.10 answered, in every execution.

Oracle: the recorded fixtures, values and gradients. Where mycel departs from them on purpose the
case stands in a table below with its reason, and other tests say what mycel does instead.
"""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import mycel as ms
from fixtures import load
from fixtures.case import Array, dtype_name, namespace
from harness import as_tensors, assert_close, run_everywhere

FAMILIES = ("elementwise", "reductions", "linear", "creation")

# mycel answers where MindSpore raises.
ANSWERED = {
    "shift_left": "`<<` moves bits; MindSpore has no such symbol",
    "shift_right": "`>>` moves bits; MindSpore has no such symbol",
    "ops.ones((2,), 'float32')": "an element type may be named by a string everywhere",
    "x0.new_full((2,), 4)": "MindSpore has it on Ascend only",
}
# The same mistake, reported by another class of error.
OTHER_ERROR = {
    "sum_axis_repeated": ValueError,
    "matmul_bad_shape": ValueError,
}
# Values that MindSpore's CPU kernels get wrong.
FAULTS = {
    "special_div_zero": "NaN / 0 is NaN, not minus infinity",
    "sum_empty": "the sum of nothing is 0, not what lay in memory",
}
# Other modules of MindSpore, made with operators that are tested here.
ELSEWHERE = ("ms.numpy", "ops.tri(", "ops.tuple_to_array", "ms.ops.Tensor")


def cases():
    """Every case with its recorded answer, except those that stand in FAULTS."""
    for family in FAMILIES:
        for case, recorded in load.pairs(family):
            if case.name not in FAULTS and not case.expression.startswith(ELSEWHERE):
                yield pytest.param(case, recorded, id=f"{family}:{case.name}")


def function_of(case):
    """The expression as a function of its Tensors."""
    arguments = ", ".join(f"x{i}" for i in range(len(case.inputs)))
    names = namespace(case, ms)
    return eval(compile(f"lambda {arguments}: {case.expression}", f"<{case.name}>", "eval"), names)


def with_gradient(case):
    """The function, and its gradients for a cotangent of ones."""
    function = function_of(case)
    positions = case.gradient[0] if len(case.gradient) == 1 else case.gradient
    gradient = ms.grad(function, positions)

    def both(*inputs):
        found = gradient(*inputs)
        return function(*inputs), found if isinstance(found, tuple) else (found,)

    return both


def compare(actual, expected, what):
    """Equal structure, element types and values; `expected` is decoded from a fixture."""
    if isinstance(expected, Array):
        assert dtype_name(actual.dtype) == expected.dtype, what
        assert_close(actual, expected.values, what)
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), what
        for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
            compare(a, e, f"{what}[{index}]")
    else:
        assert actual == expected, what


@pytest.mark.parametrize(("case", "recorded"), list(cases()))
def test_as_recorded(case, recorded):
    if recorded.error:
        if case.name not in ANSWERED:
            kind = OTHER_ERROR.get(case.name) or getattr(builtins, recorded.error)
            with pytest.raises(kind):
                function_of(case)(*as_tensors(case.inputs))
        return
    expected = recorded.output
    function = function_of(case)
    if recorded.gradient is not None:
        expected, function = (recorded.output, recorded.gradient), with_gradient(case)
    computes = case.inputs and not isinstance(recorded.output, bool)
    inputs = map(np.asarray, case.inputs)
    for execution, actual in run_everywhere(function, *inputs, replayed=computes).items():
        compare(actual, expected, f"{case.expression} in {execution}")
