# SPDX-License-Identifier: Apache-2.0
"""What becomes of a program with a wrong index: the error, its text, and the state it leaves.

Oracle: the direct execution, which raises at the line itself, or what is said in the test.
"""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.define import bounds
from mycel.kernel.execute.compile import executables

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
HERE = __file__


def line_of(function) -> int:
    """The second line of a function of this file."""
    return function.__code__.co_firstlineno + 1


@pytest.fixture(autouse=True)
def _flushed():
    yield
    ms.set_context(check_indices=True)
    ms.flush()


# -- what is said ---------------------------------------------------------------------------------


class Inner(nn.Cell):
    def construct(self, x, index):
        return ops.gather(x, index, 0)


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x, index):
        return self.inner(x, index) * 2


@pytest.mark.parametrize("name", EXECUTIONS)
@pytest.mark.parametrize("made", [False, True])
def test_the_error_names_everything(name, made):
    net = Outer()
    place = f"{HERE}:{line_of(Inner.construct)} (in Outer.inner)"
    with execution(name):
        for index in ([0, 1], [0, 1], [3, 0], [0, 7], [0, -5]):
            index = Tensor(index) + 0 if made else Tensor(index)
            try:
                net(Tensor(TABLE), index).asnumpy()
                said = None
            except ms.OutOfRangeError as error:
                said = str(error)
        expected = f"gather at {place}: the index -5 is out of range; it must lie between -4 and 3."
        assert said == expected


TEXTS = {
    "nll_loss: the class number 4 is out of range; it must lie between -3 and 2, or be -100, which "
    "is not counted.": lambda x: ops.nll_loss(x, Tensor([0, 1, 4, 2])),
    "x[...]: the index 9 of dimension 1 is out of range; it must lie between -3 and 2.": lambda x: (
        x[:, Tensor([9])]
    ),
    "x[...] = value: the index 4 of dimension 0 is out of range; it must lie between -4 and 3.": (
        lambda x: x.__setitem__(Tensor([4]), 1.0)
    ),
    "unsorted_segment_sum: the segment number 2 is out of range; it must be 1 at most.": lambda x: (
        ops.unsorted_segment_sum(x, Tensor([0, 1, -7, 2]), 2)
    ),
    "gather: each index must be an integer, but Float32 was given. Convert it: "
    "x.astype(mycel.int32).": lambda x: ops.gather(x, Tensor([1.0]), 0),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text):
    with pytest.raises((IndexError, TypeError)) as raised:
        TEXTS[text](Tensor(TABLE))
    operator, _, rest = str(raised.value).partition(" at ")
    assert f"{operator}: {rest.partition(': ')[2]}" == text
    assert f"{HERE}:" in rest


def test_what_mindspore_would_raise_is_caught():
    # Oracle: MindSpore raises one of these, by the operator.
    for kind in (IndexError, ValueError, RuntimeError):
        with pytest.raises(kind):
            ops.gather(Tensor(TABLE), Tensor([9]), 0)


def test_an_index_that_is_there_raises_at_its_line():
    # Nothing is recorded: the next program knows nothing of it.
    ms.flush()
    with pytest.raises(ms.OutOfRangeError):
        ops.gather(Tensor(TABLE), Tensor([9]), 0)
    assert float(ops.gather(Tensor(TABLE), Tensor([3]), 0).sum()) == TABLE[3].sum()


# -- what is left ---------------------------------------------------------------------------------


def test_others_survive():
    x, index = Tensor(TABLE), Tensor([9]) + 0
    good, bad = x * 2, ops.gather(x, index, 0)
    lost, later = bad + 1, x * 3
    with pytest.raises(ms.OutOfRangeError):
        good.asnumpy()  # it runs the whole segment, and so tells of it
    np.testing.assert_array_equal(good.asnumpy(), TABLE * 2)
    np.testing.assert_array_equal(later.asnumpy(), TABLE * 3)
    for value in (bad, lost):
        for _ in range(2):
            with pytest.raises(ms.OutOfRangeError, match=r"gather at .*the index 9"):
                value.asnumpy()
    with pytest.raises(ms.OutOfRangeError):
        ops.exp(lost)


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        numbers = np.random.RandomState(0)
        table, weight = (numbers.randn(n, 4).astype(np.float32) for n in (5, 3))
        self.embed = nn.Embedding(5, 4, embedding_table=Tensor(table))
        self.layer = nn.Dense(4, 3, Tensor(weight), "zeros")

    def construct(self, ids):
        return self.layer(self.embed(ids))


class Training:
    """A step of training with a counter, on numbers and labels that it changes first."""

    def __init__(self, change, compiled: bool):
        self.net = Classifier()
        optimizer = nn.Adam(self.net.trainable_params(), 0.1)
        derivative = ms.value_and_grad(
            lambda ids, labels: ops.cross_entropy(self.net(ids), labels), None, optimizer.parameters
        )
        self.before = Parameter(Tensor(0.0), name="before")
        self.behind = Parameter(Tensor(0.0), name="behind")
        self.members = [*self.net.get_parameters(), *optimizer.get_parameters()]

        def step(ids, labels):
            ops.assign_add(self.before, Tensor(1.0))
            loss, gradients = derivative(change(ids), change(labels))
            optimizer(gradients)
            ops.assign_add(self.behind, Tensor(1.0))
            return loss

        self.step = ms.jit(step) if compiled else step

    def state(self) -> list:
        """All that a step changes."""
        return [float(self.before), float(self.behind), *[p.asnumpy() for p in self.members]]


CHANGES = {
    "given": lambda index: index,
    "reshaped": lambda index: index.reshape(2, 2).reshape(-1).astype(ms.int32),
    "made": lambda index: index * 1,
    "cut": lambda index: ops.concat((index, index))[:4],
}
GOOD = np.array([0, 4, 1, 2]), np.array([2, 0, 1, 1])
WRONG = {
    "label": (GOOD[0], np.array([2, 0, 3, 1])),
    "number": (np.array([0, 4, 5, 2]), GOOD[1]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("wrong", WRONG)
def test_nothing_is_trained_by_a_wrong_index(change, wrong):
    # Oracle: the direct execution, where the step ends at the wrong line.
    states = {}
    for name in EXECUTIONS:
        with execution("direct" if name == "direct" else "fused"):
            training = Training(CHANGES[change], name == "graph")
            counts = ms.debug.ledger().counts
            states[name] = []
            for numbers in (GOOD, GOOD, GOOD, WRONG[wrong], GOOD, WRONG[wrong], GOOD):
                before = counts.replays
                try:
                    training.step(*map(Tensor, numbers)).asnumpy()
                    assert numbers is GOOD
                except ms.OutOfRangeError:
                    assert numbers is not GOOD
                states[name].append(training.state())
            if name == "graph":
                assert counts.replays == before + 1
    for name in ("fused", "graph"):
        for mine, direct in zip(states[name], states["direct"], strict=True):
            assert mine[:2] == direct[:2], name
            for a, b in zip(mine[2:], direct[2:], strict=True):
                np.testing.assert_allclose(a, b, 1e-5, 1e-6, err_msg=name)


def test_handles_go_back_to_what_they_had_at_the_wrong_line():
    # Oracle: the direct execution.
    def run():
        p, q = (Parameter(Tensor([1.0, 2.0]), name=name) for name in "pq")
        t = Tensor([1.0, 2.0])
        p.set_data(p * 2)
        t[0] = 5.0
        p.set_data(p + 1)
        lost = ops.gather(p, Tensor([7]) * 1, 0)
        p.set_data(p * 100)
        q.set_data(lost[0] + q)
        p.set_data(p + 1000)
        t[1] = 6.0
        ms.flush()
        return p, q, t

    found = []
    for name in ("direct", "fused"):
        with execution(name):
            handles = []
            try:
                frame = run
                handles = frame()
            except ms.OutOfRangeError as error:
                trace = error.__traceback__
                while trace.tb_frame.f_code is not run.__code__:
                    trace = trace.tb_next
                handles = [trace.tb_frame.f_locals[name] for name in "pqt"]
            found.append([handle.asnumpy().tolist() for handle in handles])
    assert found[0] == found[1] == [[3.0, 5.0], [1.0, 2.0], [5.0, 2.0]]


def test_a_replay_with_a_wrong_index_leaves_hooks_to_pynative():
    # Oracle: PyNative: the hook in front of the wrong line runs, the one behind does not.
    net, seen = Outer(), []
    net.inner.register_forward_pre_hook(lambda cell, inputs: seen.append("before"))
    net.inner.register_forward_hook(lambda cell, inputs, output: seen.append("behind"))
    compiled = ms.jit(lambda x, index: net(x, index * 1))
    for _ in range(4):
        compiled(Tensor(TABLE), Tensor([1])).asnumpy()
    assert ms.debug.ledger().counts.replays
    seen.clear()
    with execution("direct"), pytest.raises(ms.OutOfRangeError):
        net(Tensor(TABLE), Tensor([8]) * 1)
    direct, seen[:] = seen[:], []
    with pytest.raises(ms.OutOfRangeError):
        compiled(Tensor(TABLE), Tensor([8])).asnumpy()
    assert seen[: len(direct)] == direct == ["before"]


# -- where else indices are -----------------------------------------------------------------------


def rows(x, index):
    return ops.gather(x, index, 0)


TRANSFORMS = {
    "grad": lambda: ms.grad(lambda x, i: rows(x, i).sum()),
    "second": lambda: ms.grad(lambda x, i: ms.grad(lambda x: (rows(x, i) ** 3).sum())(x).sum()),
    "vjp": lambda: lambda x, i: ms.vjp(lambda x: rows(x, i), x)[0],
    "jvp": lambda: lambda x, i: ms.jvp(lambda x: rows(x, i), x, x)[1],
    "jacrev": lambda: ms.jacrev(rows),
    "jacfwd": lambda: ms.jacfwd(rows),
    "vmap": lambda: lambda x, i: ms.vmap(rows, (None, 0))(x, i.reshape(-1, 1)),
    "vmap of both": lambda: lambda x, i: ms.vmap(rows)(ops.stack((x, x)), ops.stack((i, i))),
    "grad of vmap": lambda: ms.grad(lambda x, i: ms.vmap(lambda n: x[n] * 2)(i).sum()),
    "while_loop": lambda: (
        lambda x, i: ops.while_loop(
            lambda state: state.sum() < 100, lambda state: ops.tile(rows(state, i) * 2, (2, 1)), x
        )
    ),
    "scan": lambda: (
        lambda x, i: ops.Scan()(lambda carried, n: (carried + x[n], carried), x[0], i, i.shape[0])[
            0
        ]
    ),
}


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("name", EXECUTIONS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms(transform, name, made):
    # Oracle: the same transform of an index that is right does not raise.
    function = TRANSFORMS[transform]()
    called = (lambda x, i: function(x, i * 1)) if made else function
    if name == "graph":
        called = ms.jit(called)
    with execution("fused" if name == "graph" else name):
        x = Tensor(TABLE + 1)
        for _ in range(3):
            ms.Tensor(called(x, Tensor([1, 3]))).asnumpy()
        with pytest.raises(ms.OutOfRangeError, match=r"the index 4( of dimension 0)? is out"):
            ms.Tensor(called(x, Tensor([1, 4]))).asnumpy()


def test_recompute():
    net = Outer()
    net.inner.recompute()
    gradient = ms.grad(lambda x, index: net(x, index).sum())
    gradient(Tensor(TABLE), Tensor([1, 3])).asnumpy()
    for index in (Tensor([1, 4]), Tensor([1, 4]) * 1):
        with pytest.raises(ms.OutOfRangeError, match=r"in Outer.inner"):
            gradient(Tensor(TABLE), index).asnumpy()


def test_a_value_asked_for_by_another_thread():
    found = []
    value = ops.gather(Tensor(TABLE), Tensor([4]) * 1, 0)

    def look():
        try:
            value.asnumpy()
        except ms.OutOfRangeError as error:
            found.append(str(error))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert len(found) == 1
    with pytest.raises(ms.OutOfRangeError):
        ms.flush()


def test_types_that_cannot_hold_an_index():
    # 200 is a row of the table, but as Int8 it is -56, which scatter_nd takes for no place.
    made = ops.scatter_nd(Tensor([[200]]).astype(ms.int8), Tensor([1.0]), (300,))
    with pytest.raises(ms.OutOfRangeError, match="the index -56 is out of range"):
        made.asnumpy()


# -- what it costs --------------------------------------------------------------------------------


def test_it_can_be_switched_off():
    # Oracle: XLA, which takes the last one, and drops what is written outside.
    x = Tensor(TABLE)
    for name in EXECUTIONS:
        compiled = ms.jit(lambda index: ops.gather(x, index, 0).sum())
        for function in (compiled, lambda index: ops.gather(x, index * 1, 0).sum()):
            with execution("fused" if name == "graph" else name):
                for _ in range(3):
                    float(function(Tensor([3])))
                ms.set_context(check_indices=False)
                assert ms.get_context("check_indices") is False
                for _ in range(4):
                    assert float(function(Tensor([9]))) == TABLE[3].sum()
                ms.set_context(check_indices=True)
                with pytest.raises(ms.OutOfRangeError):
                    float(function(Tensor([9])))
    with pytest.raises(TypeError, match="check_indices must be True or False"):
        ms.set_context(check_indices=1)


@pytest.mark.parametrize("change", CHANGES)
def test_programs_are_as_many_as_without(change):
    counts = ms.debug.ledger().counts
    found = []
    for checked in (True, False):
        ms.set_context(check_indices=checked)
        executables.clear()
        before = counts.compilations, counts.segments, counts.replays, counts.captures
        for compiled in (False, True):
            training = Training(CHANGES[change], compiled)
            for _ in range(6):
                training.step(*map(Tensor, GOOD)).asnumpy()
        after = counts.compilations, counts.segments, counts.replays, counts.captures
        found.append([b - a for a, b in zip(before, after, strict=True)])
    assert found[0] == found[1]
    assert found[0][0] > 0


@pytest.mark.parametrize("change", CHANGES)
def test_only_what_the_program_makes_is_waited_for(change):
    # An index from outside is looked at before: the program gives what it gives without.
    training = Training(CHANGES[change], True)
    for _ in range(4):
        training.step(*map(Tensor, GOOD)).asnumpy()
    (memory,) = training.step.memories
    indices = memory.executable.indices
    made = change in ("made", "cut")
    assert (len(indices.outside), len(indices.inside)) == ((0, 2) if made else (2, 0))


def test_what_is_known_of_arrays_is_forgotten_with_them():
    gc.collect()
    before = len(bounds._extents)
    indices = [Tensor([number]) for number in range(4)]
    for index in indices:
        ops.gather(Tensor(TABLE), index, 0).asnumpy()
    assert len(bounds._extents) == before + 4
    del indices, index
    ms.flush()
    gc.collect()
    assert len(bounds._extents) == before


def test_wrong_indices_name_what_was_called():
    """Oracle: the public names, as they are written here."""
    x, rows = Tensor(np.ones((3, 2), np.float32)), Tensor(np.ones((2, 2), np.float32))
    places, classes = Tensor(np.array([0, 9], np.int32)), Tensor(np.array([0, 1, 9]), ms.int64)
    calls = {
        "cross_entropy": lambda: ms.mint.nn.functional.cross_entropy(x, classes),
        "nll_loss": lambda: ms.mint.nn.functional.nll_loss(x, classes),
        "UnravelIndex": lambda: ops.UnravelIndex()(Tensor([9]), Tensor([3, 2])),
        "index_copy_": lambda: x.copy().index_copy_(0, places, rows),
        "gather": lambda: ops.gather(x, places, 0),
    }
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        for name, call in calls.items():
            with pytest.raises(IndexError, match=f"^{name} at "):
                call().asnumpy()
