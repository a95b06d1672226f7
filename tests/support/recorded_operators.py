# SPDX-License-Identifier: Apache-2.0
"""Recorded cases as tests: each is evaluated in every execution and compared with MindSpore."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import mycel as ms
from fixtures import load
from fixtures.case import Array, dtype_name, evaluate, namespace
from harness import EXECUTIONS, as_numpy, as_tensors, assert_close, execution, run_everywhere


def cases(*families: str, without=()):
    """Parameters for a test: every case of the families with its recorded answer.

    Cases of layers (`nn.…`) are tested with the layers.
    """
    for family in families:
        for case, recorded in load.pairs(family):
            source = case.expression + case.program
            if case.name not in without and "nn." not in source:
                yield pytest.param(case, recorded, id=f"{family}:{case.name}")


def function_of(case):
    """The expression as a function of its Tensors."""
    arguments = ", ".join(f"x{i}" for i in range(len(case.inputs)))
    names = namespace(case, ms)
    return eval(compile(f"lambda {arguments}: {case.expression}", f"<{case.name}>", "eval"), names)


def with_gradient(case):
    """The function, and its gradients for a cotangent of ones."""
    function = function_of(case)
    positions = case.gradient[0] if len(case.gradient) == 1 else case.gradient
    gradient = ms.grad(function, positions)

    def both(*inputs):
        found = gradient(*inputs)
        return function(*inputs), found if isinstance(found, tuple) else (found,)

    return both


def compare(actual, expected, what, tolerance=None):
    """Equal structure, element types and values; `expected` is decoded from a fixture."""
    if isinstance(expected, Array):
        assert dtype_name(actual.dtype) == expected.dtype, what
        actual = actual.asnumpy() if isinstance(actual, ms.Tensor) else actual
        assert_close(actual, expected.values, what, tolerance)
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), what
        for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
            compare(a, e, f"{what}[{index}]", tolerance)
    elif isinstance(expected, np.ndarray):
        assert_close(actual, expected, what, tolerance)
    else:
        assert actual == expected, what


def agrees(case, recorded, other_error=None, gradient=True, replayed=True, tolerance=None):
    """Assert that every execution of a case gives what MindSpore recorded."""
    if recorded.error:
        with pytest.raises(other_error or getattr(builtins, recorded.error)):
            as_numpy(evaluate(case, ms))
        return
    if case.program:
        for name in EXECUTIONS:
            with execution(name):
                compare(evaluate(case, ms), recorded.output, f"{case.name} in {name}", tolerance)
        return
    expected, function = recorded.output, function_of(case)
    if gradient and recorded.gradient is not None:
        expected, function = (recorded.output, recorded.gradient), with_gradient(case)
    inputs = [np.asarray(array) for array in case.inputs]
    for name, actual in run_everywhere(function, *inputs, replayed=replayed).items():
        compare(actual, expected, f"{case.expression} in {name}", tolerance)


def gradients_by_differences(function, inputs, step=1e-5):
    """Central differences of sum(function) in Float64, one array for each input."""
    found = []
    for position, array in enumerate(inputs):
        slope = np.zeros(array.shape)
        for place in np.ndindex(*array.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in inputs]
                moved[position][place] += sign * step
                ends.append(float(function(*as_tensors(moved)).sum().asnumpy()))
            slope[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found
