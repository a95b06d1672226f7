# SPDX-License-Identifier: Apache-2.0
"""Training steps do not grow heavier unseen: counts against recorded ones (see step_counts.py).

Oracle: the counts of the day they were recorded. XLA's own memory figure and the spelling of
operations belong to a version of JAX; with another one only the heavy operations are compared.
"""

import json

import jax
import pytest

from support.step_counts import KEPT, WORK, counted_apart

RECORDED = json.loads(KEPT.read_text())
HEAVY = ("dot_general", "convolution", "reduce", "reduce_window", "scatter", "gather")


@pytest.mark.parametrize("work", WORK)
def test_a_step_is_no_heavier(work):
    found, kept = counted_apart(work), RECORDED[work]
    assert found["segments"] == 1
    assert found["compilations"] == found["compilations of the replayed step"] == 0
    assert found["objects that stay"] <= 0
    for what in ("python calls", "python calls of the replayed step"):
        assert found[what] <= kept[what], what
    operations, expected = found["operations"], kept["operations"]
    for name in HEAVY:
        assert operations.get(name, 0) <= expected.get(name, 0), name
    if jax.__version__ == RECORDED["jax"]:
        assert operations == expected
        assert found["temporary bytes"] <= kept["temporary bytes"]
