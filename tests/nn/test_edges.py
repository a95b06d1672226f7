# SPDX-License-Identifier: Apache-2.0
"""Layers given nothing, one number, NaN and infinities, or made wrongly; in every execution.

Oracle: MindSpore 2.10; where it is wrong or refuses, NumPy and SciPy, as in `edge_oracles`.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import mycel as ms
from fixtures import edge_oracles
from fixtures.case import evaluate
from harness import EXECUTIONS, TOLERANCE, execution
from support import recorded_cells as recorded

INSTEAD = edge_oracles.by_row(edge_oracles.INSTEAD["edges_layers"])
REFUSED = edge_oracles.by_row(edge_oracles.REFUSED["edges_layers"])
OF_LAYERS = [pair for pair in recorded.named("edges_layers") if "nn." in pair[0].expression]


@pytest.mark.parametrize(("case", "answer"), OF_LAYERS, ids=recorded.case_name)
def test_as_recorded(case, answer):
    if case.name in REFUSED:
        with pytest.raises(REFUSED[case.name]):
            evaluate(case, ms)
    elif case.name not in INSTEAD:
        recorded.check(case, answer, ("fused",) if answer.error else EXECUTIONS)
    else:
        names = {"np": np, "special": special}
        names |= {f"x{i}": array for i, array in enumerate(case.inputs)}
        with np.errstate(all="ignore"):
            expected = np.asarray(eval(INSTEAD[case.name], names))
        for mode in EXECUTIONS:
            with execution(mode):
                actual = evaluate(case, ms).asnumpy()
            assert actual.shape == expected.shape, mode
            np.testing.assert_allclose(actual, expected, *TOLERANCE["float32"], err_msg=mode)
