# SPDX-License-Identifier: Apache-2.0
"""1,000 programs drawn at random, with everything at once. The oracle is direct execution.

What a program is, and how to run 100,000 of them, stands in support/random_programs/play.py.
"""

from __future__ import annotations

from collections import Counter

import pytest

from mycel.kernel.prove.cases import Case
from support.by_operators import by_operators
from support.random_programs import vocabulary
from support.random_programs.plans import EVENTS, FORMS, drawn_plan
from support.random_programs.play import run_batch

PROGRAMS, BATCH = 1000, 25
# So many of a batch are compiled by XLA, as a user's program is; the others are executed operator
# by operator, which is twenty times faster.
COMPILED = 3


@pytest.mark.parametrize("start", range(0, PROGRAMS, BATCH))
def test_random_programs(start):
    middle, end = start + COMPILED, start + BATCH
    compiled, disagreements = run_batch(start, middle)
    assert not disagreements
    assert compiled["compilations"] >= 1
    with by_operators():
        counted, disagreements = run_batch(middle, end)
    assert not disagreements
    assert not counted["refused as a hazard"]
    # So that the comparison is one of replays, misses and sites that do something new.
    assert counted["replays"] >= BATCH
    assert counted["misses"] >= 1


def test_a_call_that_goes_on_numbers_its_inputs_in_another_order():
    with by_operators():
        counted, disagreements = run_batch(200037, 200038)
    assert not disagreements
    assert not counted["refused as a hazard"]
    assert counted["broken off by a site"]


def test_everything_is_drawn():
    drawn = Counter()
    for seed in range(PROGRAMS):
        plan = drawn_plan(seed)
        drawn[plan["form"]] += 1
        for cell in plan["cells"]:
            drawn.update([cell["kind"], *(step[0] for step in cell["steps"])])
        for hook in plan["hooks"]:
            drawn.update([hook["kind"], *(act[0] for act in hook["acts"])])
        for _, _, events in plan["calls"]:
            drawn.update(event[0] for event in events)
    known = [vocabulary.CELLS, vocabulary.STEPS, vocabulary.KINDS, vocabulary.ACTS, FORMS, EVENTS]
    for name in [name for names in known for name in names]:
        assert drawn[name] >= 10, name


def test_a_fault_of_the_machine_is_found(monkeypatch):
    """Changes of Cells, their hooks and attributes would not be seen by replays."""
    monkeypatch.setattr(Case, "hold", lambda case: True)
    with by_operators():
        _, disagreements = run_batch(0, BATCH)
    assert disagreements
