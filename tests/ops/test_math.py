# SPDX-License-Identifier: Apache-2.0
"""Mathematical operators against what MindSpore 2.10 answered, in every execution.

Oracle: the recorded fixtures, values and gradients. Where mycel departs from them on purpose the
case stands in a table below with its reason, and other tests say what mycel does instead.
"""

from __future__ import annotations

import pytest

from support import recorded_operators

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


def ours(family):
    """Every case with its recorded answer, except those that stand in FAULTS or ELSEWHERE."""
    for parameter in recorded_operators.cases(family, without=FAULTS):
        if not parameter.values[0].expression.startswith(ELSEWHERE):
            yield parameter


@pytest.mark.parametrize(("case", "answer"), [p for family in FAMILIES for p in ours(family)])
def test_as_recorded(case, answer):
    if case.name in ANSWERED:
        assert answer.error, "MindSpore answers this now"
        return
    computes = bool(case.inputs) and not isinstance(answer.output, bool)
    recorded_operators.agrees(case, answer, OTHER_ERROR.get(case.name), replayed=computes)
