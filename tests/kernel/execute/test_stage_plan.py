# SPDX-License-Identifier: Apache-2.0
"""The order of the programs of a pipeline. Oracle: the schedules as they are published: GPipe runs
all forwards, then all reverses; 1F1B as many forwards as stages follow, then one of each in turn.
"""

from __future__ import annotations

import pytest

from mycel.kernel.execute.stage_plan import FORWARD, REVERSE, Part, Placed, order


def parts_of(stages, count, chained):
    """A network of equal stages; each reverse waits for that of the part behind it if `chained`, as
    where gradients are added from the last part on."""
    made = {}
    for micro in reversed(range(count)):
        for stage in range(stages):
            made["F", micro, stage] = one = Part(Placed(stage, FORWARD, micro))
            one.needs = {made["F", micro, stage - 1]} if stage else set()
        for stage in reversed(range(stages)):
            made["B", micro, stage] = one = Part(Placed(stage, REVERSE, micro))
            one.needs = {made["F", micro, stage]}
            if stage < stages - 1:
                one.needs.add(made["B", micro, stage + 1])
            if chained and micro < count - 1:
                one.needs.add(made["B", micro + 1, stage])
    return [*made.values()]


def published(stages, count, scheduler, stage, numbers):
    """The order of one stage, from its own number of forwards at the beginning."""
    forwards, reverses = [[f"{kind}{n}" for n in numbers] for kind in "FB"]
    if scheduler == "gpipe":
        return forwards + reverses
    ahead = min(stages - stage, count)
    found = forwards[:ahead]
    for place in range(count):
        found += [reverses[place], *forwards[ahead + place : ahead + place + 1]]
    return found


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("scheduler", ["1f1b", "gpipe"])
def test_the_order_of_equal_stages(scheduler, chained):
    for stages in range(1, 6):
        for count in range(stages, 9):
            turns = order(parts_of(stages, count, chained), stages, scheduler)
            numbers = range(count)[::-1] if chained else range(count)
            ran = [(turn.part.placed.stage, turn.part.name) for turn in turns]
            for stage in range(stages):
                own = [name for where, name in ran if where == stage]
                told = stages, count, own
                assert own == published(stages, count, scheduler, stage, numbers), told
            # As many turns as the schedule needs: the pipe is filled and emptied once.
            assert turns[-1].number + 1 == 2 * (count + stages - 1), (stages, count)


def test_what_waits_otherwise_runs_all_the_same():
    """Forwards that wait for those in front of them, and reverses that wait for those behind."""
    parts = parts_of(2, 4, chained=True)
    by_name = {(part.name, part.placed.stage): part for part in parts}
    for stage in range(2):
        for micro in range(1, 4):
            by_name[f"F{micro}", stage].needs.add(by_name[f"F{micro - 1}", stage])
    ran = [turn.part for turn in order(parts, 2, "1f1b")]
    assert len(ran) == len(parts) == 16
    for place, part in enumerate(ran):
        assert part.needs <= {*ran[:place]}
