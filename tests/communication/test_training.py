# SPDX-License-Identifier: Apache-2.0
"""Training in two processes. Oracles are named in `ranks_training`."""

from __future__ import annotations

import pytest

from support import together

MODULE = "ranks_training"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return together.run_checks(MODULE, 2, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_in_every_process(ranks, name):
    together.assert_all_found(ranks, name)
