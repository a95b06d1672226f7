# SPDX-License-Identifier: Apache-2.0
"""Operators among three processes. Oracles are named in `ranks_collectives`."""

from __future__ import annotations

import pytest

from support import together

MODULE = "ranks_collectives"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return together.run_checks(MODULE, 3, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_in_every_process(ranks, name):
    together.assert_all_found(ranks, name)


def test_processes_end_well(ranks):
    assert [rank.code for rank in ranks] == [0, 0, 0]
