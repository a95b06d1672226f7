# SPDX-License-Identifier: Apache-2.0
"""Mixed precision and loss scales as MindSpore 2.10 answered."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from fixtures.case import evaluate
from harness import EXECUTIONS, assert_close, execution
from support import recorded_cells as recorded


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("amp", "(?!level_)"), ids=recorded.case_name
)
def test_recorded(case, answer):
    recorded.check(case, answer)


def is_half(array) -> bool:
    return bool((array == array.astype(np.float16)).all())


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("amp", "level_"), ids=recorded.case_name
)
def test_recorded_levels(case, answer):
    """Each output was computed in the precision that MindSpore chose; half has few digits."""
    for mode in EXECUTIONS:
        with execution(mode):
            found, *rest = evaluate(case, ms)
        arrays = [one.asnumpy() for one in found]
        wanted = [one.values for one in answer.output[0]]
        assert [is_half(array) for array in arrays] == [is_half(array) for array in wanted]
        full = case.name == "level_o0"
        assert_close(arrays, wanted, f"{case.name}, {mode}", "float32" if full else "bfloat16")
        recorded.same(tuple(rest), answer.output[1:], f"{case.name}, {mode}")
