# SPDX-License-Identifier: Apache-2.0
"""bench.debuggability: every framework has every program, and mycel's pass.

Oracles: the rules of the benchmark, whose expected values are NumPy's; facts that are wrong on
purpose, which every rule has to refuse. Nothing is timed here.
"""

from __future__ import annotations

import ast
import copy
import importlib
import pathlib
import sys

import numpy as np
import pytest

import mycel as ms

ROOT = pathlib.Path(__file__).parents[2]
BENCH = ROOT / "bench" / "debuggability"
FRAMEWORKS = ("mycel", "torch", "jax", "nnsight", "mindspore")
NAMES = (
    "hook_added",
    "gradient_hook",
    "interventions",
    "nan_in_forward",
    "nan_in_reverse",
    "exception_in_hook",
    "first_difference",
    "breakpoint_in_reverse",
    "observers",
    "order",
    "index_out_of_range",
    "recompilation_cause",
    "python_state",
    "replay_elsewhere",
    "detaching",
)


@pytest.fixture(scope="module", autouse=True)
def bench():
    """The benchmarks are no installed package."""
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))
    ms.set_context(mode=ms.PYNATIVE_MODE)


def module(name: str):
    return importlib.import_module(f"bench.debuggability.{name}")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_framework_has_all_programs(framework):
    tree = ast.parse((BENCH / f"in_{framework}.py").read_text("utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(NAMES) <= defined
    assert tuple(module("behaviours").BEHAVIOURS) == NAMES
    assert tuple(module("__main__").KINDS) == FRAMEWORKS


@pytest.mark.parametrize("name", ("mycel", "torch", "jax", "mindspore"))
def test_every_framework_has_all_faults(name):
    text = (BENCH / f"faults_{name}.py").read_text("utf-8")
    given = module("material")
    for fault in (*given.FORWARD, *given.REVERSE):
        assert text.count(f'"{fault}": lambda') + text.count(f"def {fault.replace(' ', '_')}(") == 1


@pytest.mark.parametrize("name", NAMES)
def test_mycel_passes(name):
    facts = {"cost": None, "rounds": 0, "file": "in_mycel.py"}
    facts |= getattr(module("in_mycel"), name)(0)
    judge = module("behaviours").BEHAVIOURS[name].judge
    assert judge(facts) is None
    for spoilt in spoilt_facts(facts):
        assert judge(spoilt) is not None, spoilt


def spoilt_facts(facts: dict):
    """The facts with one of them wrong, for each that is measured."""
    for key, value in facts.items():
        if key in ("cost", "rounds", "file", "note", "calls", "line"):
            continue
        spoilt = copy.deepcopy(facts)
        if key == "told" and isinstance(value, dict):
            spoilt[key][next(iter(value))] = ""
        elif key == "told":
            spoilt[key][-1]["text"] = ""
        elif isinstance(value, int):
            spoilt[key] = value + 1
        elif isinstance(value[0], str):
            spoilt[key] = ["00000000", *value[1:]]
        elif isinstance(value[0], float):
            spoilt[key] = [*value[1:], np.pi]
        else:
            spoilt[key] = value[1:]
        yield spoilt


def test_times_are_judged_where_they_are_measured():
    behaviours = module("behaviours")
    facts = {"seen": 40, "compilations": 0, "before": ["00"], "after": ["00"], "rounds": 15}
    judge = behaviours.BEHAVIOURS["detaching"].judge
    assert judge(facts | {"cost": 1.05}) is None
    assert "1.30 times" in judge(facts | {"cost": 1.3})
    assert judge(facts | {"cost": 1.3, "rounds": 1}) is None


def test_verdicts_and_the_table():
    main = module("__main__")
    rows = [main.verdict(name, {"version": "Peer 1", "NotApplicable": "none"}) for name in NAMES]
    rows[1] = main.verdict(NAMES[1], {"version": "Peer 1", "NoWay": "a and b were tried"})
    rows[2] = main.verdict(NAMES[2], {"version": "Peer 1", "error": "no answer within 9 s"})
    assert [row["result"] for row in rows[:3]] == ["does not apply", "fail", "fail"]
    table = main.table({"peer": rows})
    assert "| | Peer 1 |" in table and "interventions, recompilations | **fail** |" in table
    assert "| passed of 15 | 0 |" in table
    details = main.details({"peer": rows})
    assert "no way found: a and b were tried" in details and "no answer within 9 s" in details
    assert all(behaviour.rule in details for behaviour in main.BEHAVIOURS.values())
    assert main.clean("at /home/me/a.py: x | y") == "at a.py: x \\| y"


def test_a_crash_is_a_failure_with_its_reason(monkeypatch):
    main = module("__main__")
    row = main.run("mycel", "no_such_program", sys.executable, 0, 60)
    assert row["result"] == "fail" and "no_such_program" in row["reason"]
    row = main.run("mycel", "hook_added", sys.executable, 0, 0.01)
    assert row["reason"] == "no answer within 0.01 s"
