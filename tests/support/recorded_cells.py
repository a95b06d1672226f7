# SPDX-License-Identifier: Apache-2.0
"""Recorded programs of Cells as tests: state, names, text and errors, in every execution."""

from __future__ import annotations

import re

import numpy as np

import mycel as ms
from fixtures.case import ADDRESS, Array, Case, differentiate, dtype_name, evaluate, is_tensor
from fixtures.load import Recorded, pairs
from harness import EXECUTIONS, TOLERANCE, execution


def named(family: str, *patterns: str, without: tuple[str, ...] = ()) -> list:
    """The recorded cases of a family whose names match a pattern, except those listed."""
    wanted = re.compile("|".join(patterns) if patterns else "")
    return [
        pair for pair in pairs(family) if wanted.match(pair[0].name) and pair[0].name not in without
    ]


def case_name(value) -> str:
    """What pytest calls a case."""
    return value.name if isinstance(value, Case) else ""


def same(actual, expected, what: str) -> None:
    """Equal structure, element types and shapes, and values within the tolerance of the type."""
    if isinstance(expected, Array):
        assert is_tensor(actual), f"{what}: {actual!r} is no Tensor"
        assert dtype_name(actual.dtype) == expected.dtype, f"{what}: {actual.dtype}"
        close(actual.asnumpy(), expected.values, expected.dtype, what)
    elif isinstance(expected, np.ndarray):
        close(np.asarray(actual), expected, expected.dtype.name, what)
    elif isinstance(expected, dict):
        assert list(map(str, actual)) == list(expected), f"{what}: {list(actual)}"
        for key, value in actual.items():
            same(value, expected[str(key)], f"{what}[{key!r}]")
    elif isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected), f"{what}: {type(actual).__name__}"
        assert len(actual) == len(expected), f"{what}: {len(actual)} for {len(expected)} results"
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            same(one, other, f"{what}[{index}]")
    elif isinstance(expected, float) and not isinstance(actual, bool):
        assert abs(actual - expected) <= 1e-12 * max(1, abs(expected)), f"{what}: {actual}"
    else:
        text = ADDRESS.sub(r"<\1>", str(actual)) if isinstance(expected, str) else actual
        assert text == expected, f"{what}: {text!r} for {expected!r}"


def close(actual, expected, dtype: str, what: str) -> None:
    """Equal shapes, and values within the tolerance of the type."""
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape} for {expected.shape}"
    relative, absolute = TOLERANCE.get(dtype, (0, 0))
    np.testing.assert_allclose(
        actual.astype(np.float64),
        expected.astype(np.float64),
        relative,
        absolute,
        err_msg=what,
    )


def check(case: Case, answer: Recorded, modes: tuple[str, ...] = EXECUTIONS) -> None:
    """Our value (or error) and gradients of a recorded case are MindSpore's, in each execution."""
    for mode in modes:
        with execution(mode):
            if answer.error:
                check_error(case, answer.error)
                continue
            same(evaluate(case, ms), answer.output, f"{case.name}, {mode}")
            if answer.gradient is not None:
                gradients = differentiate(case, ms)
                same(gradients, answer.gradient, f"gradient of {case.name}, {mode}")


def check_error(case: Case, kind: str) -> None:
    """The case raises an error of the recorded kind, or one of its kinds."""
    try:
        value = evaluate(case, ms)
    except Exception as error:
        kinds = [parent.__name__ for parent in type(error).__mro__]
        assert kind in kinds, f"{case.name} raised {type(error).__name__}: {error}"
        return
    raise AssertionError(f"{case.name} gave {value!r} and raised no {kind}")
