# SPDX-License-Identifier: Apache-2.0
"""A sample of drawn programs gives PyNative's answers; see generator.py for the run of 100,000."""

from __future__ import annotations

from collections import Counter

import pytest

from natural import generator
from natural.pieces import HOLDERS, USES
from natural.runner import Jit
from support.by_operators import by_operators

SEEDS, BATCH = 80, 10
# Batches that are compiled by XLA, as a user's program is; the others run operator by operator.
COMPILED = 1
# Seeds of the run of 100,000 that once differed.
FOUND = (3272, 3570, 4828, 11180, 11859, 12385, 12975, 14881, 15872, 17142, 31003, 81143, 87646)


def _check(found: dict, record_property) -> None:
    record_property("natural_calls", (found["replayed"], found["calls"]))
    for part in ("different", "lost"):
        for seed, what in found[part].items():
            source = generator.source_of(generator.drawn_plan(seed))
            raise AssertionError(f"{part}: seed {seed}: {what}\n{source}")


@pytest.mark.parametrize("start", range(0, SEEDS, BATCH))
def test_drawn_programs(start, record_property):
    if start < COMPILED * BATCH:
        _check(generator.run_seeds(start, start + BATCH), record_property)
        return
    with by_operators():
        _check(generator.run_seeds(start, start + BATCH), record_property)


@pytest.mark.parametrize("seed", FOUND)
def test_drawn_programs_that_once_differed(seed, record_property):
    with by_operators():
        _check(generator.run_seeds(seed, seed + 1), record_property)


def test_everything_is_drawn():
    drawn = Counter()
    for seed in range(1000):
        plan = generator.drawn_plan(seed)
        text = generator.source_of(plan)
        compile(text, f"seed {seed}", "exec")
        drawn.update(kind for kind, _ in plan["holders"].values())
        drawn.update(item["unit"] for item in plan["items"])
        drawn.update(["asks for replays"] if generator.least_replays(plan) else [])
    for name in [*HOLDERS, *generator.UNITS, "loop", "asks for replays"]:
        assert drawn[name] >= 20, name
    assert len(USES) >= 20


def test_a_step_that_is_frozen_is_found(monkeypatch):
    """A machine that repeats its first answers is told from one that is right."""

    def frozen(jit, function):
        if jit.way not in ("step", "script"):
            return function
        answers: dict = {}

        def step(x, flag, *others):
            key = (tuple(x.asnumpy().ravel().tolist()), flag)
            if key not in answers:
                answers[key] = function(x, flag, *others)
            return answers[key]

        return step

    monkeypatch.setattr(Jit, "step", frozen)
    with by_operators():
        found = generator.run_seeds(0, 20)
    assert len(found["different"]) >= 8
    assert all(set(ways) >= {"step"} for ways in found["different"].values())


def test_a_program_that_differs_is_reduced(monkeypatch):
    plan = generator.drawn_plan(2)
    kept = plan["items"][-1]["text"]

    def differs(smaller):
        texts = [item["text"] for item in smaller["items"]]
        return {"different": {"step": "found"} if kept in texts else {}}

    monkeypatch.setattr(generator, "run_plan", differs)
    assert [item["text"] for item in generator.reduced(plan)["items"]] == [kept]
