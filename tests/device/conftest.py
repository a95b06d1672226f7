# SPDX-License-Identifier: Apache-2.0
"""These tests are asked for: MYCEL_TEST_DEVICE=gpu, or cpu to try the tests themselves."""

from __future__ import annotations

import os

import jax
import pytest

WANTED = os.environ.get("MYCEL_TEST_DEVICE", "")
# They are no part of the suite that has to pass without an accelerator.
collect_ignore_glob = [] if WANTED else ["test_*.py"]


@pytest.fixture(scope="session")
def platform() -> str:
    """The platform of JAX that is tested.

    Raises:
        pytest.fail.Exception: this process computes elsewhere, so that nothing would be shown.
    """
    found = jax.default_backend()
    if found != WANTED.lower():
        pytest.fail(f"MYCEL_TEST_DEVICE={WANTED}, but JAX computes on the {found}.")
    return found
