# SPDX-License-Identifier: Apache-2.0
"""Model, callbacks and metrics as MindSpore 2.10 answered: order, printed lines, files, figures."""

from __future__ import annotations

import pytest

from support import recorded_cells as recorded

PLAIN = "metric|auc|checkpoint_config|checkpoint_prefix|run_|stopping|plateau|monitor_negative"


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("train", f"(?!{PLAIN})"), ids=recorded.case_name
)
def test_recorded_training(case, answer):
    recorded.check(case, answer)


@pytest.mark.parametrize(("case", "answer"), recorded.named("train", PLAIN), ids=recorded.case_name)
def test_recorded_metrics(case, answer):
    """What Python and NumPy compute is the same in every mode: one is enough."""
    recorded.check(case, answer, ("fused",))
