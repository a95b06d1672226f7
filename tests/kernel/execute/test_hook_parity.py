# SPDX-License-Identifier: Apache-2.0
"""Hooks of every kind are the same in every execution: what is computed, seen, printed and raised.

Oracles: direct execution, for all that can be seen of a program; for direct execution itself, a
reference in NumPy. All numbers are exact, so nothing here has a tolerance. What is run is generated
by `hook_matrix`.
"""

from __future__ import annotations

import itertools
import sys
import warnings

import numpy as np
import pytest

import mycel as ms
from harness import execution
from support import hook_matrix, hook_reference
from support.hook_matrix import ACTIONS, FORMS, KINDS, MATRIX, STRUCTURES, TURNS, Case, Play

# Name: the execution of the harness, whether the step is compiled, whether each construct is.
EXECUTIONS = {
    "direct": ("direct", False, False),
    "fused": ("fused", False, False),
    "jit on the step": ("fused", True, False),
    "jit on construct": ("fused", False, True),
    "GRAPH_MODE": ("graph", False, False),
}

CASES = hook_matrix.cases()


def play(case: Case, name: str) -> tuple[list, int]:
    """What can be seen of a program in one execution, and how many calls were replayed."""
    mode, step, construct = EXECUTIONS[name]
    counts = ms.debug.ledger().counts
    before = counts.replays
    with execution(mode), warnings.catch_warnings():
        # Programs that change in every call are told so.
        warnings.filterwarnings("ignore", message=".*keeps running in PyNative.*")
        rows = Play(case, ms, step, construct).run()
    return rows, counts.replays - before


def difference(actual, expected, where: str = "") -> str | None:
    """Where two transcripts differ first."""
    if isinstance(expected, dict):
        pairs = [(f"{where} {name}", actual[name], expected[name]) for name in expected]
    elif isinstance(expected, list) and isinstance(actual, list) and len(actual) == len(expected):
        numbered = enumerate(zip(actual, expected, strict=True))
        pairs = [(f"{where} {index}", *pair) for index, pair in numbered]
    else:
        same = type(actual) is type(expected) and (
            actual.dtype == expected.dtype and np.array_equal(actual, expected)
            if isinstance(expected, np.ndarray)
            else actual == expected
        )
        return None if same else f"{where}: {actual!r} for {expected!r}"
    found = (difference(a, e, path) for path, a, e in pairs)
    return next(filter(None, found), None)


def problems(case: Case):
    """Whatever of one case is not as it should be."""
    reference = Play(case, hook_reference).run()
    direct, _ = play(case, "direct")
    path = STRUCTURES[case.structure].path
    path = path.replace("Leaf", "Own") if case.kind == "bprop" else path
    for row, other in zip(direct, reference, strict=True):
        other["notes"] = row["notes"]
        if row["raised"] and case.kind in OF_A_CELL and path not in "\n".join(row["notes"]):
            yield f"the Cell {path} is not named in {row['notes']}"
    if found := difference(direct, reference):
        yield f"direct, not as the reference, call {found}"
    for name in list(EXECUTIONS)[1:]:
        actual, replays = play(case, name)
        if found := difference(actual, direct):
            yield f"{name}, call {found}"
        if name == "jit on the step" and replays < (case.replays or 0):
            yield f"{name}: {replays} replays instead of {case.replays}"
        if name in ("jit on construct", "GRAPH_MODE") and not replays:
            yield f"{name}: no call was replayed"


GROUPS = itertools.groupby(
    sorted(CASES, key=lambda case: (case.kind, case.action)), lambda case: (case.kind, case.action)
)
OF_A_CELL = set(KINDS) - {"input", "parameter"}


@pytest.mark.parametrize(
    "cases", [pytest.param(list(cases), id="-".join(names)) for names, cases in GROUPS]
)
def test_every_execution_is_as_direct(cases):
    found = [f"{case} ({case.form}, {case.turn}): {p}" for case in cases for p in problems(case)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_matters(kind):
    """The programs notice what a hook does, also in the last call. Oracle: without the hook."""
    for action in MATRIX[1]:
        rows = [
            Play(Case(kind, action, life, "plain"), hook_reference).run()
            for life in ("before", "never")
        ]
        index = hook_matrix.TURN + 1
        assert difference(rows[0][index], rows[1][index]), action


def test_the_matrix_is_whole():
    """Each kind meets each action, life, structure, form and change, and no case is there twice."""
    kinds, actions, lives, structures = MATRIX
    assert len(set(CASES)) == len(CASES)
    assert len(CASES) >= len(kinds) * len(actions) * len(lives) * len(structures)
    met = {
        "action": ACTIONS,
        "life": list(hook_matrix.LIVES)[:-1],
        "structure": STRUCTURES,
        "form": FORMS,
        "turn": TURNS,
    }
    for dimension, names in met.items():
        pairs = {(case.kind, getattr(case, dimension)) for case in CASES}
        assert pairs >= set(itertools.product(kinds, names)), dimension


def test_most_of_it_is_replayed(capsys):
    """Each number of replays is asserted case by case; here their sum, for the reader."""
    replays = sum(case.replays or 0 for case in CASES)
    with capsys.disabled():
        print(
            f"\n{len(CASES)} cases of hooks, {len(CASES) * len(EXECUTIONS)} plays in "
            f"{len(EXECUTIONS)} executions; {replays} replays of compiled steps alone.",
            file=sys.stderr,
        )
    assert replays >= 3 * len(CASES)
