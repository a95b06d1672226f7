# SPDX-License-Identifier: Apache-2.0
"""Processes that give each other different amounts. Oracles are named in `ranks_uneven`."""

from __future__ import annotations

import pytest

from support import together

MODULE = "ranks_uneven"


@pytest.fixture(scope="module", params=[2, 3])
def ranks(request, tmp_path_factory):
    return together.run_checks(MODULE, request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_in_every_process(ranks, name):
    together.assert_all_found(ranks, name)


def test_processes_end_well(ranks):
    assert {rank.code for rank in ranks} == {0}
