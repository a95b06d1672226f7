# SPDX-License-Identifier: Apache-2.0
"""The fifteen behaviours: their texts, and for each the one rule that judges every framework.

A program gives facts, the rule says what they lack. Expected values are NumPy's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.debuggability import material as given

# From so many rounds on, times are judged too.
TIMED = 5
OBSERVED_LIMIT, DETACHED_LIMIT, PATCHED_LIMIT = 1.5, 1.1, 1.2


def near(found, expected) -> bool:
    """Whether numbers agree to what 32 bits can hold."""
    if np.shape(found) != np.shape(expected):
        return False
    return bool(np.allclose(np.asarray(found, np.float64), expected, 1e-4, 1e-5, equal_nan=True))


def lines_named(text: str, file: str) -> list[int]:
    """The lines of a file that a text names, as Python's tracebacks or as `file:line`."""
    return [int(n) for n in re.findall(rf'{re.escape(file)}(?:", line |:)(\d+)', text)]


def hook_added(facts: dict) -> str | None:
    expected = [
        [given.outputs(x)[given.MIDDLE].mean()] if 3 <= call < 6 else []
        for call, x in enumerate(given.BATCHES[:9])
    ]
    fired = [len(seen) for seen in facts["seen"]]
    if fired != [len(seen) for seen in expected]:
        return f"it fired {fired} times in three calls without, with and without it"
    right = all(near(seen, wanted) for seen, wanted in zip(facts["seen"], expected, strict=True))
    return None if right else "it was given other values"


def gradient_changed(facts: dict) -> str | None:
    wrong = 0
    for x, found in zip(given.BATCHES[: len(facts["gradients"])], facts["gradients"], strict=True):
        expected, _ = given.gradients(x, 0.5)
        wrong += not all(near(a, b) for a, b in zip(found, expected, strict=True))
    return f"wrong gradients in {wrong} of {len(facts['gradients'])} calls" if wrong else None


def interventions(facts: dict) -> str | None:
    every = given.interventions(facts["rounds"])
    if len(facts["results"]) != len(every):
        return f"{len(facts['results'])} results"
    expected = [given.intervened(*one) for one in every[::20]]
    if not np.allclose(facts["results"][::20], expected, 1e-3, 0.1):
        return "wrong results"
    if facts["recompilations"]:
        return f"{facts['recompilations']} recompilations"
    return _slow(facts, PATCHED_LIMIT)


def _slow(facts: dict, limit: float) -> str | None:
    if facts["rounds"] < TIMED or facts["cost"] <= limit:
        return None
    return f"{facts['cost']:.2f} times the plain step; the limit is {limit}"


def nan_forward(facts: dict) -> str | None:
    told = facts["told"]
    lines = sum(one["line"] in lines_named(one["text"], facts["file"]) for one in told)
    place = re.compile(rf"blocks[._/\[' ,]*{given.MIDDLE}\b")
    cells = sum(bool(place.search(one["text"])) for one in told)
    if len(told) == lines == cells == len(given.FORWARD):
        return None
    return f"the line of {lines} and the Cell of {cells} of {len(told)} faults"


def lines_told(facts: dict) -> str | None:
    missing = [
        one["fault"] for one in facts["told"]
        if one["line"] not in lines_named(one["text"], facts["file"])
    ]  # fmt: skip
    return f"no line for: {', '.join(missing)}" if missing else None


def exception_told(facts: dict) -> str | None:
    early = [one["fault"] for one in facts["told"] if one["calls"] != given.GOOD_STEPS]
    if early:
        return f"not raised at the call at which it should be: {', '.join(early)}"
    lost = [one["fault"] for one in facts["told"] if "on purpose" not in one["text"]]
    return f"the exception was lost: {', '.join(lost)}" if lost else lines_told(facts)


def first_difference(facts: dict) -> str | None:
    told = facts["told"]
    named = sum(lines_named(one["text"], facts["file"])[:1] == [one["line"]] for one in told)
    return None if named == len(told) == given.CHAIN else f"{named} of {len(told)} named"


def stops(facts: dict) -> str | None:
    expected = [given.gradients(x)[1][given.MIDDLE] for x in given.BATCHES[: facts["calls"]]]
    if len(facts["stops"]) != facts["calls"]:
        return f"{len(facts['stops'])} stops in {facts['calls']} calls"
    right = all(near(a, b) for a, b in zip(facts["stops"], expected, strict=True))
    return None if right else "other values than those of the reverse"


def observers(facts: dict) -> str | None:
    expected = [x.mean() for x in given.outputs(given.WIDE_BATCH, given.WIDE_WEIGHTS)]
    if not near(facts["seen"], expected):
        return f"the observers saw {len(facts['seen'])} values, or wrong ones"
    if facts["observed"] != facts["plain"]:
        same = sum(a == b for a, b in zip(facts["observed"], facts["plain"], strict=True))
        return f"the same bits in {same} of {len(facts['plain'])} losses"
    return _slow(facts, OBSERVED_LIMIT)


def order(facts: dict) -> str | None:
    expected = []
    for x in given.BATCHES[: facts["calls"]]:
        for block, value in enumerate(given.outputs(x)):
            expected += [("print", block, value.mean()), ("append", block, value.mean())]
    events = facts["events"]
    if [(e[0], e[1]) for e in events] != [(e[0], e[1]) for e in expected]:
        return f"{len(events)} events of {len(expected)}, or in another order"
    right = near([e[2] for e in events], [e[2] for e in expected])
    return None if right else "other values"


def index(facts: dict) -> str | None:
    silent = [one["fault"] for one in facts["told"] if not one["text"]]
    return f"nothing raised: {', '.join(silent)}" if silent else lines_told(facts)


# What a text about a recompilation has to contain: what changed, and from what or to what.
CAUSES = {
    "shape": (r"\bx\b", r"\b[45]\b"),
    "type": (r"\bx\b", r"(?i)float16|\bf16|half"),
    "argument": (r"\bfactor\b", r"\b[23](\.0)?\b"),
}


def cause(facts: dict) -> str | None:
    lacking = [
        name for name, needed in CAUSES.items()
        if not all(re.search(one, facts["told"][name]) for one in needed)
    ]  # fmt: skip
    return f"not named: {', '.join(lacking)}" if lacking else None


def python_state(facts: dict) -> str | None:
    calls = facts["calls"]
    if facts["steps"] != calls:
        return f"the counter is {facts['steps']} after {calls} calls"
    expected = [given.loss(x) for x in given.BATCHES[:calls]]
    return None if near(facts["history"], expected) else f"the list has {facts['history'][:8]}"


def replayed(facts: dict) -> str | None:
    with np.errstate(invalid="ignore"):
        rows = np.log(given.faulty_batch(-1.0)).sum(1)
    weight = 1 - given.RATE * np.full(4, 4.0)  # the derivative of log(x · w) by w is 1 / w
    if near(facts["rows"], rows) and near(facts["weight"], weight):
        return None
    return f"the other process gave {facts['rows']} and {facts['weight']}"


def detached(facts: dict) -> str | None:
    if facts["seen"] != 5 * given.OBSERVED:
        return f"the observers saw {facts['seen']} of {5 * given.OBSERVED} values"
    if facts["compilations"]:
        return f"{facts['compilations']} compilations after detaching"
    if facts["after"] != facts["before"]:
        return "other bits"
    return _slow(facts, DETACHED_LIMIT)


class Behaviour(NamedTuple):
    """A behaviour.

    Attributes:
        text: as in the table; `rule`: when it is passed, in words.
        judge: what facts lack to pass, in words; None: they pass.
    """

    text: str
    rule: str
    judge: Callable[[dict], str | None]


BEHAVIOURS = {
    "hook_added": Behaviour(
        "hook added after compiling fires, a removed one does not",
        "Three compiled calls without it, three with it, three behind it, each with other numbers: "
        "it fires once in each of the middle three and is given that call's values.",
        hook_added,
    ),
    "gradient_hook": Behaviour(
        "hook changes a gradient in a compiled step",
        "What a function of the user halves on its way back through a block is halved in the "
        "gradients of all weights before it, in each of six compiled calls.",
        gradient_changed,
    ),
    "interventions": Behaviour(
        "1,000 interventions, recompilations",
        "A thousand interventions of other layers, positions, vectors and strengths: every 20th "
        "result is right, nothing is compiled behind the first, and each takes at most "
        f"{PATCHED_LIMIT} times the plain step.",
        interventions,
    ),
    "nan_in_forward": Behaviour(
        "NaN in the compiled forward names Cell and line (20 sites)",
        "For each of twenty faults, behind three good compiled steps, what is told names the line "
        "of the operator and which of three equal blocks it is in.",
        nan_forward,
    ),
    "nan_in_reverse": Behaviour(
        "NaN born only in the compiled reverse names the forward line",
        "The root at 0 and the logarithm behind `where`: what is told names their line.",
        lines_told,
    ),
    "exception_in_hook": Behaviour(
        "exception in a hook or a custom reverse names the forward call",
        "At the fourth call of the compiled step a hook, or a reverse written by the user, raises "
        "because of the values it is given: the exception arrives, with the line of the forward.",
        exception_told,
    ),
    "first_difference": Behaviour(
        "first diverging operator, 20 faults",
        "Two versions of a compiled function of twenty lines, one operator of which gives 1 % "
        "more, for each of the twenty: the first line that is named is that of this operator.",
        first_difference,
    ),
    "breakpoint_in_reverse": Behaviour(
        "breakpoint in the reverse of a compiled step",
        "In each of five calls of the compiled step a debugger stops in the reverse, and shows the "
        "numbers of the gradient that arrives there.",
        stops,
    ),
    "observers": Behaviour(
        "8 observers: time and loss bits unchanged",
        "Eight observers keep the mean of what their blocks give: right means, the bits of twenty "
        f"losses as without them, at most {OBSERVED_LIMIT} times the plain step.",
        observers,
    ),
    "order": Behaviour(
        "order of prints and appends",
        "Each of three blocks prints and appends; in four calls of the compiled step both happen "
        "in the order of the program, with the values of the call.",
        order,
    ),
    "index_out_of_range": Behaviour(
        "out-of-range index raises with its line",
        "Behind three good compiled calls, an index of 99 into ten rows raises, by indexing, in an "
        "embedding and in a gather, and the line is named.",
        index,
    ),
    "recompilation_cause": Behaviour(
        "cause of a recompilation named",
        "Another shape, another type, another Python argument: the name of the argument and what "
        "it was or became are told.",
        cause,
    ),
    "python_state": Behaviour(
        "Python counter and list in the compiled step right",
        "Six calls of a compiled step that says `self.steps += 1` and appends its loss to a list: "
        "both are as without compiling.",
        python_state,
    ),
    "replay_elsewhere": Behaviour(
        "failing step saved and replayed elsewhere",
        "A compiled training step that gives NaN in one row is written to a file; another process, "
        "without the program, gives the same rows and the same new weights.",
        replayed,
    ),
    "detaching": Behaviour(
        "detaching leaves the same executable, time and bits",
        "The step before eight observers of five calls and behind them: nothing is compiled for "
        f"it, the same bits, at most {DETACHED_LIMIT} times its time.",
        detached,
    ),
}
