# SPDX-License-Identifier: Apache-2.0
"""Data queues. Oracles: the rows themselves in their order, NumPy, CONTRACT §6 for the errors."""

from __future__ import annotations

import itertools
import threading
import traceback

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Tensor, nn, ops
from mycel.ops.data_queue import queues


@pytest.fixture(autouse=True)
def no_queues_left():
    """Also those of examples that ran before."""
    for name in queues:
        ops.feed_queue(name, None)


def row(number: int) -> np.ndarray:
    return np.full((2,), number, np.float32)


def numbered(count: int | None = None):
    return map(row, itertools.count() if count is None else range(count))


def get_next(name: str = "test"):
    return ops.GetNext([ms.float32], [(2,)], 1, name)


def counts():
    return ms.debug.ledger().counts


def reasons() -> list[str]:
    """Why calls were not replayed; a first recording is no reason."""
    lines = ms.debug.ledger().lines
    return [str(line) for line in lines if line.kind not in ("compiled", "first")]


# -- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_rows_come_in_order(mode):
    ops.feed_queue("test", numbered(4))
    take = get_next()
    with execution(mode):
        for number in range(4):
            assert_close(take().asnumpy(), row(number))


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_several_columns_of_every_kind(mode):
    ops.feed_queue("test", [(row(1), Tensor([2, 3], ms.int32)), [[4.0, 5.0], np.int32([6, 7])]])
    take = ops.GetNext((ms.float32, ms.int32), ([2], [2]), 2, "test")
    with execution(mode):
        first, second = take(), take()
    assert isinstance(first, tuple)
    assert_close([x.asnumpy() for x in first], [row(1), np.int32([2, 3])])
    assert_close([x.asnumpy() for x in second], [np.float32([4, 5]), np.int32([6, 7])])


def test_a_row_is_a_copy():
    buffer = np.zeros(2, np.float32)

    def reused():
        for number in range(3):
            buffer[:] = number
            yield buffer

    ops.feed_queue("test", reused())
    take = get_next()
    kept = [take() for _ in range(3)]
    assert [float(x[0]) for x in kept] == [0, 1, 2]


def test_nothing_is_fetched_before_it_is_asked_for():
    fetched = []

    def noted():
        for number in range(9):
            fetched.append(number)
            yield row(number)

    ops.feed_queue("test", noted())
    take = get_next()
    assert fetched == []

    @ms.jit
    def program():
        return take() * 2

    for number in range(5):
        assert_close(program().asnumpy(), 2 * row(number))
        assert fetched == list(range(number + 1))
    assert counts().replays == 3


# -- compiled calls ----------------------------------------------------------------------------


def test_a_compiled_call_takes_a_new_row_and_is_replayed():
    ops.feed_queue("test", numbered())
    take = get_next()

    @ms.jit
    def program(x):
        return take() * x

    for number in range(10):
        assert_close(program(Tensor([2.0, 3.0])).asnumpy(), row(number) * np.float32([2, 3]))
        if number == 2:
            compilations = counts().compilations
    assert counts().replays == 8
    assert counts().misses == 0
    assert counts().compilations == compilations


def test_rows_that_no_operator_uses():
    """Returned as they are, given to print, kept in a Parameter."""
    kept = ms.Parameter(np.zeros(2, np.float32), name="kept")
    ops.feed_queue("test", numbered())
    take, seen = get_next(), []
    note = ms.every_call(lambda x: seen.append(float(x[0])))

    @ms.jit
    def program():
        first, second, third = take(), take(), take()
        note(first)
        kept.set_data(second)
        return third, first

    for number in range(0, 24, 3):
        third, first = program()
        assert_close(third.asnumpy(), row(number + 2))
        assert_close(first.asnumpy(), row(number))
        assert_close(kept.asnumpy(), row(number + 1))
    assert seen == list(range(0, 24, 3))
    assert counts().replays == 6


def test_two_operators_share_a_queue_and_two_queues_do_not_mix():
    ops.feed_queue("test", numbered())
    ops.feed_queue("other", (100 * x for x in numbered()))
    first, second, other = get_next(), get_next(), get_next("other")

    @ms.jit
    def program():
        return first() + 10 * second() + other()

    for number in range(6):
        expected = row(2 * number) + 10 * row(2 * number + 1) + 100 * row(number)
        assert_close(program().asnumpy(), expected)
    assert counts().replays == 4


def test_an_operator_made_in_the_call():
    ops.feed_queue("test", numbered())
    compiled = ms.jit(lambda: get_next()() + 1)
    for number in range(6):
        assert_close(compiled().asnumpy(), row(number) + 1)
    assert counts().replays == 4


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_training_reads_its_data(mode):
    """Oracle: the same steps in NumPy."""
    generator = np.random.default_rng(0)
    samples = [
        (
            generator.normal(size=(4, 3)).astype(np.float32),
            generator.normal(size=4).astype(np.float32),
        )
        for _ in range(8)
    ]

    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.get_next = ops.GetNext([ms.float32, ms.float32], [(4, 3), (4,)], 2, "test")
            self.weight = ms.Parameter(np.zeros(3, np.float32), name="weight")

        def construct(self):
            x, y = self.get_next()
            return ((x * self.weight).sum(-1) - y).square().mean()

    ops.feed_queue("test", iter(samples))
    loss = Loss()
    step = ms.value_and_grad(loss, None, loss.trainable_params())
    weight = np.zeros(3, np.float32)
    with execution(mode):
        for x, y in samples:
            value, (gradient,) = step()
            error = x @ weight - y
            assert_close(value.asnumpy(), np.mean(error**2, dtype=np.float32))
            expected = (2 * error @ x / 4).astype(np.float32)
            np.testing.assert_allclose(gradient.asnumpy(), expected, 1e-4, 1e-6)
            weight = weight - np.float32(0.1) * expected
            loss.weight.set_data(Tensor(weight))
    assert counts().replays == (6 if mode == "graph" else 0)


def test_feeding_again_keeps_what_is_compiled():
    take = get_next()
    compiled = ms.jit(lambda: take() + 1)
    for epoch in range(3):
        ops.feed_queue("test", [row(10 * epoch + number) for number in range(4)])
        for number in range(4):
            assert_close(compiled().asnumpy(), row(10 * epoch + number) + 1)
    assert counts().replays == 10


def test_lengths_that_vary():
    rows = [np.arange(length, dtype=np.float32) for length in (3, 3, 3, 5, 3, 5, 5, 5, 5, 5, 5, 5)]
    ops.feed_queue("test", rows)
    take = ops.GetNext([ms.float32], [(-1,)], 1, "test")
    compiled = ms.jit(lambda: take().sum())
    for expected in rows:
        assert float(compiled()) == expected.sum()
    assert counts().replays > 0
    assert counts().misses > 0


# -- nothing is lost or taken twice ------------------------------------------------------------


def test_a_guard_that_fails_loses_no_row():
    ops.feed_queue("test", numbered())
    take = get_next()

    @ms.jit
    def program():
        x = take()
        if x.sum() % 7 > 5:
            return x * 100
        return x + 1

    for number in range(30):
        x = row(number)
        assert_close(program().asnumpy(), x * 100 if x.sum() % 7 > 5 else x + 1)
    assert counts().misses > 0
    assert counts().replays > 0


def test_a_site_that_changes_its_mind_loses_no_row():
    ops.feed_queue("test", numbered())
    take, number = get_next(), [0]

    @ms.every_call
    def sometimes(x):
        number[0] += 1
        return x * 2 if number[0] % 5 == 0 else None

    @ms.jit
    def program():
        x = take()
        changed = sometimes(x)
        return take() + (x if changed is None else changed)

    for index in range(20):
        x, y = row(2 * index), row(2 * index + 1)
        assert_close(program().asnumpy(), y + (2 * x if index % 5 == 4 else x))
    assert counts().misses > 0
    assert counts().replays > 0


def test_a_site_that_takes_rows_of_its_own_now_and_then():
    """The program was prepared for the row that the site took: it runs again on the next."""
    ops.feed_queue("test", numbered())
    take, seen, call = get_next(), [], [0]

    @ms.every_call
    def look():
        if call[0] % 8 == 5:
            seen.append(float(take().asnumpy()[0]))

    @ms.jit
    def program():
        look()
        return take() + 1

    taken = itertools.count()
    for call[0] in range(20):
        if call[0] % 8 == 5:
            own = next(taken)
        assert_close(program().asnumpy(), row(next(taken)) + 1)
        if call[0] % 8 == 5:
            assert seen[-1] == own
    assert counts().misses == 2
    assert counts().replays > 5


@pytest.mark.filterwarnings("ignore:.*keeps running in PyNative")
@pytest.mark.parametrize("seed", range(8))
def test_any_program_takes_the_rows_in_order(seed):
    """Oracle: the same program, operator by operator."""

    def play(mode):
        dice = np.random.default_rng(seed)
        plan = dice.integers(0, 4, 5)
        ops.feed_queue("test", numbered())
        take, seen, call = get_next(), [], [0]

        @ms.every_call
        def look():
            # Some sites take rows of their own, and some only in some calls.
            if plan[0] == 1 or (plan[0] == 2 and call[0] % 6 == 5):
                seen.append(float(take().asnumpy()[0]))

        @ms.every_call
        def add(x):
            return x + take() if plan[1] == 1 and call[0] % 4 == 3 else x * 1

        def program(x):
            total = x
            for kind in plan:
                if kind == 0:
                    total = total * 0.5 + take()
                elif kind == 1:
                    look()
                elif kind == 2:
                    total = add(total)
                elif take().sum() % 20 > 16:
                    total = total + 3 * take()
            return total + take()

        compiled = program if mode == "direct" else ms.jit(program)
        with execution("direct" if mode == "direct" else "fused"):
            for call[0] in range(16):
                seen.append(compiled(Tensor([1.0, 2.0])).asnumpy().tolist())
        return seen

    assert play("jit") == play("direct")


def test_threads_share_a_queue():
    """Every row goes to one call of one thread, and the call's result belongs to its row."""
    ops.feed_queue("test", numbered(200))
    found, problems = [], []

    def work():
        take = get_next()
        compiled = ms.jit(lambda: take() * 3)
        try:
            found.extend([float(compiled()[1]) / 3 for _ in range(50)])
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert sorted(found) == list(range(200))


def test_an_iterator_may_use_operators_and_random_numbers():
    weight = ms.Parameter(np.float32([3.0, 3.0]), name="weight")
    drawn = []

    def rows():
        while True:
            noise = ops.rand(2)
            drawn.append((noise * 2 + weight).asnumpy())
            yield noise * 2 + weight

    ms.set_seed(1)
    ops.feed_queue("test", rows())
    take = get_next()
    compiled = ms.jit(lambda: take() + weight)
    for index in range(6):
        assert_close(compiled().asnumpy(), drawn[index] + 3)
    assert len({tuple(x) for x in drawn}) == 6
    assert counts().replays == 4


# -- errors ------------------------------------------------------------------------------------


class Net(nn.Cell):
    """The example of "Debugging in PyNative Mode"."""

    def __init__(self):
        super().__init__()
        self.get_next = ops.GetNext([ms.float32], [(1, 1)], 1, "test")

    def construct(self, x1):
        x = self.get_next()
        x = x + x1
        return x  # noqa: RET504 - as in the document


LINE = Net.construct.__code__.co_firstlineno + 1


def fails(function, error) -> str:
    """The error's text, once its call stack is seen to reach down to the `construct` line."""
    with pytest.raises(error) as caught:
        function()
    stack = traceback.extract_tb(caught.value.__traceback__)
    assert any((frame.filename, frame.lineno) == (__file__, LINE) for frame in stack)
    assert "x = self.get_next()" in [frame.line for frame in stack]
    return str(caught.value)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_no_such_queue(mode):
    net, x = Net(), Tensor([[1.0]])
    text = (
        f"GetNext at {__file__}:{LINE}: there is no data queue 'test'{{}}. Feed it before the call:"
        " ops.feed_queue('test', rows), where rows is any iterable of arrays or tuples of arrays."
    )
    with execution(mode):
        assert fails(lambda: net(x), RuntimeError) == text.format("")
        ops.feed_queue("other", [])
        assert fails(lambda: net(x), RuntimeError) == text.format(" (there are: 'other')")
        # It works once it is fed, and fails again when the queue is taken away.
        ops.feed_queue("test", itertools.repeat(np.float32([[2]])))
        for _ in range(5):
            assert net(x).asnumpy().tolist() == [[3.0]]
        ops.feed_queue("test", None)
        assert fails(lambda: net(x), RuntimeError) == text.format(" (there are: 'other')")


def test_no_such_queue_in_a_jit_construct():
    class Compiled(Net):
        construct = ms.jit(Net.construct)

    assert "there is no data queue 'test'" in fails(
        lambda: Compiled()(Tensor([[1.0]])), RuntimeError
    )


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_end(mode):
    net, x = Net(), Tensor([[1.0]])
    ops.feed_queue("test", [np.float32([[number]]) for number in range(5)])
    with execution(mode):
        for number in range(5):
            assert net(x).asnumpy().tolist() == [[number + 1]]
        for _ in range(2):
            assert fails(lambda: net(x), RuntimeError) == (
                f"GetNext at {__file__}:{LINE}: the data queue 'test' has no row left after 5. "
                "Feed it again with ops.feed_queue('test', rows); itertools.cycle(rows) never ends."
            )
    assert counts().replays == (3 if mode == "graph" else 0)


def test_the_end_where_no_operator_uses_the_row():
    ops.feed_queue("test", numbered(4))
    take = get_next()
    compiled = ms.jit(lambda: take())
    for number in range(4):
        assert_close(compiled().asnumpy(), row(number))
    with pytest.raises(RuntimeError, match="has no row left after 4"):
        compiled()

    ops.feed_queue("test", numbered(4))
    compiled = ms.jit(lambda: int(take()[0]) * 0 + 1)
    for _ in range(4):
        assert compiled() == 1
    with pytest.raises(RuntimeError, match="has no row left after 4"):
        compiled()


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_an_iterator_that_raises(mode):
    def rows():
        yield from (np.float32([[number]]) for number in range(4))
        raise KeyError("the file is gone")

    ops.feed_queue("test", rows())
    net, x = Net(), Tensor([[1.0]])
    with execution(mode):
        for _ in range(4):
            net(x)
        assert fails(lambda: net(x), KeyError) == "'the file is gone'"
        assert "no row left after 4" in fails(lambda: net(x), RuntimeError)


WRONG = {
    "dtype": (
        np.float64([[1]]),
        TypeError,
        "column 0 of a row of the data queue 'test' is Float64[1, 1], but Float32[1, 1] was "
        "declared. Convert it in the iterator: .astype(np.float32).",
    ),
    "shape": (
        np.float32([1]),
        ValueError,
        "column 0 of a row of the data queue 'test' is Float32[1], but Float32[1, 1] was "
        "declared. Declare -1 for a length that varies.",
    ),
    "columns": (
        (np.float32([[1]]), np.float32([[1]])),
        ValueError,
        "a row of the data queue 'test' has 2 columns, but 1 were declared (output_num).",
    ),
    "dict": (
        {"data": np.float32([[1]])},
        TypeError,
        "A row of a data queue must be a tuple, not a dict: tuple(row.values()).",
    ),
}


@pytest.mark.parametrize("good", [0, 4])
@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("case", WRONG)
def test_a_row_that_is_not_as_declared(case, mode, good):
    bad, error, text = WRONG[case]
    ops.feed_queue("test", [np.float32([[2]])] * good + [bad, np.float32([[5]])])
    net, x = Net(), Tensor([[1.0]])
    with execution(mode):
        for _ in range(good):
            assert net(x).asnumpy().tolist() == [[3.0]]
        found = fails(lambda: net(x), error)
        assert found.removeprefix(f"GetNext at {__file__}:{LINE}: ") == text
        # The bad row is taken; the next one is good.
        assert net(x).asnumpy().tolist() == [[6.0]]


def test_feeding_inside_a_compiled_call_is_not_remembered():
    take = get_next()

    @ms.jit
    def program():
        ops.feed_queue("test", numbered(2))
        return take() + take()

    for _ in range(4):
        assert_close(program().asnumpy(), row(1))
    assert counts().replays == 0
    (reason,) = set(reasons())
    assert "the data queue 'test' was fed inside" in reason
    assert reason.endswith("-> feed it before the call")


def test_arguments():
    with pytest.raises(TypeError, match=r"types of GetNext must be a list or a tuple, but .*float"):
        ops.GetNext(ms.float32, [(1,)], 1, "test")
    with pytest.raises(TypeError, match=r"output_num of GetNext must be an integer, but 1.0 was"):
        ops.GetNext([ms.float32], [(1,)], 1.0, "test")
    with pytest.raises(
        ValueError, match=r"3 for 1 types and 1 shapes was given at .*data_queue.py"
    ):
        ops.GetNext([ms.float32], [(1,)], 3, "test")
    with pytest.raises(TypeError, match=r"The name of a data queue must be a string, but 3 was"):
        ops.feed_queue(3, [])
    with pytest.raises(TypeError, match=r"The rows of a data queue must be an iterable or None"):
        ops.feed_queue("test", 3)
    assert repr(get_next()) == (
        "GetNext(types=[mindspore.float32], shapes=[(2,)], output_num=1, shared_name='test')"
    )
