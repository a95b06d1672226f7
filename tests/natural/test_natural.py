# SPDX-License-Identifier: Apache-2.0
"""Programs as users write them give PyNative's answers, whatever Python does in them.

Oracle: PyNative, operator by operator. A program without effects must be replayed as well.
"""

from __future__ import annotations

import functools

import pytest

import natural
from natural.common import CALLS, PROGRAMS
from natural.runner import WAYS, first_difference, play

CASES = [
    (name, way)
    for name in PROGRAMS
    for way in WAYS
    if way != "construct" or PROGRAMS[name].has_cell
]


@functools.lru_cache(maxsize=8)
def expected_of(name: str):
    """What PyNative gives. The calls are not all an exception: that would compare nothing."""
    expected = play(PROGRAMS[name], "pynative")
    assert any(row[0][0] != "raised" for row in expected.rows), expected.rows[0]
    return expected


@pytest.mark.parametrize(("name", "way"), CASES)
def test_as_in_pynative(name, way, record_property):
    program = PROGRAMS[name]
    run = play(program, way)
    found = first_difference(run, expected_of(name), program.rounded)
    assert found is None, f"{found}\nledger: {run.ledger[-3:]}"
    record_property("natural_calls", (len(run.replayed), CALLS))
    replays, least = len(run.replayed), program.least_replays(way)
    assert replays >= least, f"{replays} for {least}: {run.ledger[-3:]}"


def test_there_are_programs_of_many_kinds():
    assert len(PROGRAMS) >= 900
    assert sum(program.effect_free for program in PROGRAMS.values()) >= 50
    assert len(natural.THEMES) >= 10
