# SPDX-License-Identifier: Apache-2.0
"""Two processes with four devices each. Oracles are named in `spread_checks`."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from mycel.kernel.base.watch import Watch, Where, knot_of
from support import together

MODULE, FAILS = "spread_checks", "rank_that_fails.py"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spread")
    return together.run_checks(MODULE, 2, folder, JAX_NUM_CPU_DEVICES="4")


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_in_every_process(ranks, name):
    together.assert_all_found(ranks, name)


def test_processes_end_well(ranks):
    assert [rank.code for rank in ranks] == [0, 0]


def failing(case, folder):
    command = [str(together.HERE / FAILS), case, str(folder)]
    started = together.start(command, 2, folder, JAX_NUM_CPU_DEVICES="2")
    return together.ended(started, folder)


# What every process is told: oracle is `docs/scale.md`, what is promised.
MISMATCHES = {
    "batches_whole": ("process 0 calls the end of the epoch", "fewer batches", "# batches_whole"),
    "program": ("process 0 calls", "process 1 calls", "[relu, mul", "[relu, add", "# program"),
    "numbers": ("Parameter 'weight' of float32 (1, 2)", "set_seed", "# numbers"),
    "stages": ("input 0 of process 1", "pipeline_stages=2", "get_rank() % 1", "# stages"),
    "seeds": ("generator.state", "set_seed", "# seeds"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_processes_that_compute_otherwise_are_told(case, tmp_path):
    *texts, line = MISMATCHES[case]
    place = f"{FAILS}:{together.line_of(FAILS, line)}"
    for rank in failing(case, tmp_path):
        found = rank.found
        assert rank.code == 1 and found["result"] == "", (found, rank.text)
        for text in (*texts, place):
            assert text in found["told"], (text, found["told"])
        assert "cannot be called" in found["again"]
        assert float(found["seconds"]) < together.PATIENCE / 4


def test_who_is_killed_is_told(tmp_path):
    """Where Tensors are whole, as where each process has its own."""
    first, second = failing("kill_whole", tmp_path)
    told, place = first.found["told"], f"{FAILS}:{together.line_of(FAILS, '# kill_whole')}"
    assert "process 1 does not answer" in told and place in told, (told, first.text)
    assert second.code == -9 and "cannot be called" in first.found["again"], second.text
    assert float(first.found["seconds"]) < together.PATIENCE / 4
    assert first.found["sum"] == first.found["wanted"]  # it could save what it had


def test_who_looks_alone_at_what_is_divided_is_told(tmp_path):
    first, second = failing("look", tmp_path)
    place = f"{FAILS}:{together.line_of(FAILS, '# look')}"
    told = first.found["told"]
    assert first.code == 1 and "a look at a Tensor(float32[8, 2])" in told, (told, first.text)
    assert place in told and "process 1 has ended" in told, told
    assert second.code == 0 and second.found["result"] == "None", second.text


def test_those_that_are_long_in_one_operator_do_not_wait_for_each_other(monkeypatch):
    """What others say arrives as JSON. Oracle: both wait in the first among the same processes."""
    monkeypatch.setattr("mycel.kernel.base.watch._begin", lambda name, target: None)
    told = []
    for rank in range(2):
        watch = Watch(rank, SimpleNamespace(), 1.0)

        def poll(watch=watch, rank=rank):
            told.append((rank, watch.where()))
            return True

        watch.wait_for((0, 1), "a long program", poll)
    (_, own), (_, other) = told
    assert knot_of(0, {0: own, 1: Where(*json.loads(json.dumps(other)))}) is None
