# SPDX-License-Identifier: Apache-2.0
"""Every test starts in PyNative mode with an empty ledger."""

from __future__ import annotations

import pytest

import mycel as ms


@pytest.fixture(autouse=True)
def fresh_ledger():
    """Counts start at nothing; whatever a test set is set back."""
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)
    ms.flush()
    ms.debug.ledger().reset()
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)
