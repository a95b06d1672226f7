# SPDX-License-Identifier: Apache-2.0
"""What is written into a part of a Tensor reaches the whole, as in MindSpore 2.7 and 2.10."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, execution
from mycel import Parameter, Tensor

DATA = np.arange(12, dtype=np.float32).reshape(2, 3, 2)


def chained(x):
    x[0][1] = 7.0


def chained_further(x):
    x[0][1][0] = 7.0


def changed_in_a_chain(x):
    x[0][1] *= 0.5
    x[1][2] += x[0][1]


def named(x):
    row = x[0]
    row[1] = 7.0
    row[2] = row[1] * 2


def of_a_slice(x):
    part = x[:, 1:]
    part[1] = 7.0


def of_an_ellipsis(x):
    part = x[..., 0]
    part[1] = 7.0


def with_a_new_dimension(x):
    part = x[None, 0]
    part[0, 1] = 7.0


def of_a_step(x):
    part = x[:, ::2]
    part[1, 0] = 7.0


def rows_of_a_loop(x):
    for i, row in enumerate(x):
        row[i] = 7.0


def the_whole_changes_in_between(x):
    row = x[0]
    x[0, 2] = 5.0
    row[1] = 7.0


def a_part_of_a_part(x):
    row = x[0]
    last = row[1:]
    last[0] = 7.0
    row[0] = 3.0


def a_chosen_part_is_a_copy(x):
    part = x[[0, 1]]
    part[0] = 7.0


PROGRAMS = [
    chained, chained_further, changed_in_a_chain, named, of_a_slice, of_an_ellipsis,
    with_a_new_dimension, of_a_step, rows_of_a_loop, the_whole_changes_in_between,
    a_part_of_a_part, a_chosen_part_is_a_copy,
]  # fmt: skip


@pytest.mark.parametrize("way", ["direct", "fused", "graph"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_writing_into_a_part(program, way):
    # Oracle: NumPy's views.
    expected = DATA.copy()
    program(expected)
    with execution(way):
        step = ms.jit(program) if way == "graph" else program
        for _ in range(4):
            x = Tensor(DATA)
            step(x)
            assert_close(x.asnumpy(), expected, program.__name__)


@pytest.mark.parametrize("program", PROGRAMS)
def test_of_a_parameter(program):
    # Oracle: NumPy's views.
    expected = DATA.copy()
    program(expected)
    parameter = Parameter(Tensor(DATA), name="p")
    program(parameter)
    assert_close(parameter.asnumpy(), expected, program.__name__)


def test_gradients():
    # Oracle: MindSpore 2.10, as the same with `x[0, 1] = x[1, 1] * 3`.
    def by_parts(x):
        x = x * 1
        x[0][1] = x[1][1] * 3
        return (x * x).sum()

    def at_once(x):
        x = x * 1
        x[0, 1] = x[1, 1] * 3
        return (x * x).sum()

    expected = ms.grad(at_once)(Tensor(DATA)).asnumpy()
    assert expected[1, 1, 0] == 160
    for slope in (ms.grad(by_parts), ms.jit(ms.grad(by_parts))):
        for _ in range(3):
            assert_close(slope(Tensor(DATA)).asnumpy(), expected, "slope")


def test_a_part_is_passed_to_a_compiled_function():
    # Oracle: PyNative.
    def step(row):
        row[1] = 7.0
        return row

    compiled = ms.jit(step)
    for i in range(6):
        plain, other = Tensor(DATA), Tensor(DATA)
        if i < 3:
            step(copy.deepcopy(plain[0]))
            compiled(copy.deepcopy(other[0]))
        else:
            step(plain[0])
            compiled(other[0])
        assert (plain.asnumpy()[0, 1] == 7).all() == (i >= 3)
        assert_close(other.asnumpy(), plain.asnumpy(), f"call {i}")


def test_nothing_is_kept_alive():
    # Oracle: counting with weak references.
    import gc
    import weakref

    whole = Tensor(DATA)
    known, row = weakref.ref(whole), whole[0]
    del whole
    gc.collect()
    assert known() is None
    row[0] = 1.0
    assert_close(row.asnumpy()[0], np.ones(2, np.float32), "row")


def test_a_part_of_a_part_again_and_again():
    # Oracle: NumPy's views.
    x = Tensor(np.arange(400, dtype=np.float32))
    whole, expected = x, np.arange(400, dtype=np.float32)
    array = expected
    for _ in range(150):
        x, array = x[1:], array[1:]
    x[0] = array[0] = 7.0
    assert_close(x.asnumpy(), array, "part")
    assert_close(whole.asnumpy(), expected, "whole")
