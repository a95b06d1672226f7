# SPDX-License-Identifier: Apache-2.0
"""Every test starts in PyNative mode with an empty ledger."""

from __future__ import annotations

import os

import jax
import pytest

# The tests compile thousands of tiny programs, each of them once: XLA is told to take less trouble,
# which is four times as fast. `XLA_FLAGS= python -m pytest` compiles as users do; so do the tests
# that count what XLA makes. A flag that another version of XLA does not know would end the process.
if jax.__version_info__[:2] == (0, 10):
    quick = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    os.environ.setdefault("XLA_FLAGS", quick)

import mycel as ms


@pytest.fixture(autouse=True)
def fresh_ledger():
    """Counts start at nothing; whatever a test set is set back."""
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)
    ms.flush()
    ms.debug.ledger().reset()
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)
