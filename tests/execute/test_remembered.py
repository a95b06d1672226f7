# SPDX-License-Identifier: Apache-2.0
"""A compiled function gives what PyNative gives, call by call. Oracle: the other mode."""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import programs
import pytest
from harness import as_numpy, execution

import mycel as ms


def play(build, mode: str):
    """One row per call: result or exception, state, log and printed text."""
    task = build()
    function, compiled = task.function, None
    if mode == "jit":
        if task.entry is not None:
            task.entry[0] = compiled = ms.jit(task.entry[0])
        if not task.outer:
            own = task.entry is not None and compiled.function is function
            function = compiled = compiled if own else ms.jit(function)
    rows = []
    printed = io.StringIO()
    with execution("direct" if mode == "direct" else "fused"):
        for index, arguments in enumerate(task.calls):
            try:
                with contextlib.redirect_stdout(printed):
                    result = as_numpy(function(*arguments))
            except (KeyError, ValueError) as error:
                result = f"{type(error).__name__}: {error}"
            rows.append((result, as_numpy(task.state), as_numpy(list(task.log)), printed.getvalue()))
            task.between(index)
    return rows


def equal(a, b) -> bool:
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.shape == b.shape
            and a.dtype == b.dtype
            and bool(np.allclose(a, b, 1e-5, 1e-6))
        )
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return abs(a - b) <= 1e-5 * max(1.0, abs(a))
    return a == b


@pytest.mark.parametrize("mode", ["fused", "jit"])
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_every_call_is_as_in_direct(name, mode):
    build = programs.PROGRAMS[name]
    expected = play(build, "direct")
    with warnings.catch_warnings():
        # Some of these programs never repeat, and are told so once.
        warnings.filterwarnings("ignore", message=".*keeps running in PyNative.*")
        actual = play(build, mode)
    parts = ("result", "state", "log", "printed text")
    for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
        for part, mine, theirs in zip(parts, a, e, strict=True):
            assert equal(mine, theirs), f"{part} of call {index}: {mine} for {theirs}"


# Programs that settle, and how many of their calls are replayed.
REPLAYED = {
    "print_inside": 4,
    "dropout": 4,
    "closure_reread": 4,
    "assigned_twice": 4,
    "returned_and_assigned": 4,
    "returns_old_value_and_handles": 4,
    "argument_is_parameter": 6,
    "argument_changed_in_place": 4,
    "iteration": 4,
    "recursion": 3,
    "hook_made_in_the_function": 4,
    "hook_that_changes_the_gradient": 4,
    "site_appends": 4,
    "site_appends_something_derived": 4,
    "site_looks": 4,
    "site_changes_and_prints": 4,
    "site_uses_fresh_data": 4,
    "state_seen_by_sites": 4,
    "derivative_of_a_compiled_function": 3,
    "containers": 3,
}


@pytest.mark.parametrize("name", REPLAYED)
def test_what_repeats_is_replayed(name):
    play(programs.PROGRAMS[name], "jit")
    assert ms.debug.ledger().counts.replays == REPLAYED[name]
    assert ms.debug.ledger().counts.misses == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kept_outside", "kept outside"),
        ("parameter_made_inside", "a Parameter was created inside"),
        ("cell_attribute_set_inside", "the attribute 'attention' of Net was set inside"),
        ("python_scalar_changes", "a number or data made inside"),
        ("float_logged", "what was read of a Tensor (bits)"),
        ("site_changes_its_mind", "did something new"),
    ],
)
def test_the_ledger_says_why_not(name, reason):
    play(programs.PROGRAMS[name], "jit")
    lines = [str(line) for line in ms.debug.ledger().lines]
    assert any(reason in line for line in lines), lines


def test_a_function_that_keeps_missing_warns_once_with_its_line():
    box = [0.0]

    @ms.jit
    def counting(x):
        box[0] += 1
        return x * box[0]

    with pytest.warns(UserWarning, match=r"counting is compiled but keeps running") as caught:
        for _ in range(40):
            counting(ms.Tensor(1.0))
    assert len(caught) == 1
    assert "test_remembered.py:" in str(caught[0].message)
