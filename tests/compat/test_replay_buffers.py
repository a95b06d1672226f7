# SPDX-License-Identifier: Apache-2.0
"""Replay buffers. Oracle: what MindSpore 2.7 printed for one row after another; NumPy for many rows
at once, which MindSpore 2.7 loses where they go past the end of the buffer."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, ops
from mycel.compat.internals import DiscountedReturn

SHAPES, TYPES = [(2,), (1,)], [ms.float32, ms.int32]
# MindSpore 2.7, capacity 4: the second part, the count and the head after each of six rows.
ROW_BY_ROW = [
    ([1, 0, 0, 0], 1, 0),
    ([1, 2, 0, 0], 2, 0),
    ([1, 2, 3, 0], 3, 0),
    ([1, 2, 3, 4], 4, 0),
    ([5, 2, 3, 4], 4, 1),
    ([5, 6, 3, 4], 4, 2),
]


class Buffer:
    """A buffer of four rows and its operators."""

    def __init__(self):
        pairs = zip(SHAPES, TYPES, strict=True)
        self.data = [
            Parameter(Tensor(np.zeros((4, *shape)), kind), name=f"part{n}")
            for n, (shape, kind) in enumerate(pairs)
        ]
        self.count = Parameter(Tensor(0, ms.int32), name="count")
        self.head = Parameter(Tensor(0, ms.int32), name="head")
        self.append = ops.BufferAppend(4, SHAPES, TYPES)
        self.get = ops.BufferGetItem(4, SHAPES, TYPES)

    def put(self, *numbers):
        numbers = np.array(numbers)
        rows = numbers if len(numbers) > 1 else numbers[0]
        pair = np.stack([rows, rows], -1), rows[..., None]
        given = [Tensor(part, kind) for part, kind in zip(pair, TYPES, strict=True)]
        return self.insert(*given)

    def insert(self, *parts):
        return self.append(self.data, parts, self.count, self.head)

    def state(self):
        numbers = self.data[1].asnumpy().ravel().tolist()
        assert self.data[0].asnumpy().tolist() == [[n, n] for n in numbers]
        return numbers, int(self.count), int(self.head)

    def item(self, index):
        pair, number = self.get(self.data, self.count, self.head, index)
        return *pair.asnumpy().tolist(), *number.asnumpy().tolist()


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_oldest_row_goes_first(mode):
    buffer = Buffer()
    with execution(mode):
        for number, expected in enumerate(ROW_BY_ROW, 1):
            assert int(buffer.put(number)) == 0
            assert buffer.state() == expected
        # MindSpore 2.7: rows 0, 3 and -1, and 1 as a Tensor.
        indices = 0, 3, -1, Tensor(1)
        assert [buffer.item(index)[0] for index in indices] == [3, 6, 6, 4]
        assert buffer.item(-4) == (3.0, 3.0, 3)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_many_rows_at_once_are_as_many_alone(mode):
    with execution(mode):
        at_once, alone = Buffer(), Buffer()
        for numbers in ((1, 2, 3), (4, 5, 6), (7, 8, 9, 10), (11, 12)):
            at_once.put(*numbers)
            for number in numbers:
                alone.put(number)
            assert at_once.state() == alone.state()


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("mode", EXECUTIONS)
def test_samples_are_rows_that_were_put_in(mode, unique):
    sample = ops.BufferSample(4, 2, SHAPES, TYPES, unique=unique)
    buffer, counted = Buffer(), {2: 0, 3: 0, 4: 0}
    draw = ms.jit(lambda: sample(buffer.data, buffer.count, buffer.head))
    with execution(mode):
        ms.set_seed(0)
        for number in (2, 3, 4):
            buffer.put(number)
        for _ in range(60):
            pair, number = draw()
            assert np.array_equal(pair.asnumpy(), np.repeat(number.asnumpy(), 2, 1))
            drawn = number.asnumpy().ravel().tolist()
            assert len(set(drawn)) == 2 or not unique
            for each in drawn:
                counted[each] += 1
    # Of 120 each has a third; five standard deviations are 26.
    assert all(14 < each < 66 for each in counted.values()), counted


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_rows_that_are_not_there(mode):
    buffer = Buffer()
    sample = ops.BufferSample(4, 2, SHAPES, TYPES)
    with execution(mode):
        with pytest.raises(ValueError, match="2 rows are wanted of a buffer that holds 0"):
            sample(buffer.data, buffer.count, buffer.head)[0].asnumpy()
        buffer.put(1)
        for index in (1, -2):
            with pytest.raises(IndexError, match=f"index {index} is out of range"):
                buffer.item(index)


def test_what_was_not_declared():
    buffer = Buffer()
    part = Tensor([1.0, 1.0])
    with pytest.raises(TypeError, match="the types of exp"):
        buffer.insert(part, Tensor([1.0]))
    with pytest.raises(ValueError, match="the shapes of exp"):
        buffer.insert(part, Tensor([1, 2], ms.int32))
    with pytest.raises(ValueError, match="the shapes of exp"):
        buffer.put(1, 2, 3, 4, 5)
    with pytest.raises(ValueError, match="the buffer"):
        ops.BufferGetItem(3, SHAPES, TYPES)(buffer.data, buffer.count, buffer.head, 0)
    for make in (
        lambda: ops.BufferAppend(0, SHAPES, TYPES),
        lambda: ops.BufferAppend(4, SHAPES, TYPES[:1]),
        lambda: ops.BufferSample(4, 5, SHAPES, TYPES),
    ):
        with pytest.raises(ValueError):
            make()


def test_where_programs_look_for_them(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    ms.install_as_mindspore()
    for path in ("mindspore.ops.operations", "mindspore.ops.operations.rl_ops"):
        module = importlib.import_module(path)
        assert module.BufferAppend is ops.BufferAppend
        assert module.BufferGetItem is ops.BufferGetItem and module.BufferSample is ops.BufferSample


def test_discounted_returns():
    """Oracle: the sum by NumPy, one row of one episode after another. MindSpore 2.7 has no such
    operator on a CPU."""
    random = np.random.RandomState(0)
    reward, last = random.normal(size=(5, 3, 2)), random.normal(size=(3, 2))
    done = random.uniform(size=(5, 3)) < 0.4
    expected, value = np.zeros_like(reward), last
    for step in range(4, -1, -1):
        value = reward[step] + np.where(done[step], 0, 0.9)[:, None] * value
        expected[step] = value
    given = Tensor(reward, ms.float32), Tensor(done), Tensor(last, ms.float32)
    returns = DiscountedReturn(0.9)
    for run in (returns, ms.jit(lambda *inputs: returns(*inputs))):
        np.testing.assert_allclose(run(*given).asnumpy(), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="gamma must be above 0"):
        DiscountedReturn(0.0)
