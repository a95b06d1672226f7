# SPDX-License-Identifier: Apache-2.0
"""`mycel.numpy` against MindSpore 2.10, in every execution."""

from __future__ import annotations

import pytest

import mycel.numpy  # `ms.numpy` in the cases  # noqa: F401
from support.recorded_operators import agrees, cases


@pytest.mark.parametrize(("case", "recorded"), list(cases("numpy_api")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)
