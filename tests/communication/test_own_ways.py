# SPDX-License-Identifier: Apache-2.0
"""Two processes, each in its own way. Oracles are named in `ranks_own_ways`."""

from __future__ import annotations

import pytest

from support import together

MODULE = "ranks_own_ways"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return together.run_checks(MODULE, 2, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_in_every_process(ranks, name):
    together.assert_all_found(ranks, name)


def test_who_is_left_is_told(tmp_path):
    # Oracle: what is promised: the operator, both its lines, and no waiting for the timeout.
    command = [str(together.HERE / "rank_that_ends.py")]
    first, second = together.ended(together.start(command, 2, tmp_path), tmp_path)
    assert second.code == -9
    assert first.code == 3, first.text
    told = first.text[first.text.index("TOLD") :].split(" ", 2)
    assert float(told[1]) < together.PATIENCE / 2
    line = together.line_of("rank_that_ends.py", "the line that is named")
    assert "AllReduce(max)" in told[2] and f"rank_that_ends.py:{line}" in told[2]
    assert "process 0 of 2" in told[2]
    assert "Before it, this process called: AllReduce(sum)" in told[2]


def test_processes_that_are_forked_end_and_are_no_ranks(tmp_path):
    command = [str(together.HERE / "rank_that_forks.py")]
    first, second = together.ended(together.start(command, 2, tmp_path), tmp_path)
    assert (first.code, second.code) == (0, 0), second.text
    assert "ENDED 3" in second.text and "SUM [2. 4.]" in first.text and "SUM [2. 4.]" in second.text
