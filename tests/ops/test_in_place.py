# SPDX-License-Identifier: Apache-2.0
"""In-place methods: as recorded in PyTorch, in every execution, in derivatives, on Parameters."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import mycel as ms
from fixtures import cases, load
from fixtures.case import Array, decode
from harness import EXECUTIONS, assert_close, execution, matches, run_everywhere
from mycel import Parameter, Tensor, ops

ANSWERS = json.loads((pathlib.Path(load.__file__).parent / "pytorch/in_place.json").read_text())
MANY = (400, 50)


def after(x, change):
    """x once it was changed; see `families.in_place`."""
    assert change(x) is x
    return x


def weighted(value):
    """The sum of all results, each with a weight of its own, as the recorder has it."""
    if isinstance(value, tuple):
        return sum(map(weighted, value), Tensor(0.0))
    weights = np.cos(np.arange(value.size)).astype(np.float32).reshape(value.shape)
    return (value * Tensor(weights)).sum()


def compare(actual, expected, what):
    if isinstance(expected, Array):
        assert_close(actual, expected.values, what)
        return
    assert len(actual) == len(expected), what
    for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
        compare(one, other, f"{what}[{index}]")


@pytest.mark.parametrize("case", cases.family("in_place"), ids=lambda case: case.name)
def test_as_in_pytorch(case):
    """The oracle is PyTorch: the Tensor after the call, and the gradients of what is in it."""
    answer = ANSWERS[case.name]
    expected = [decode(answer["output"])]
    arguments = ", ".join(f"x{i}" for i in range(len(case.inputs)))
    function = eval(f"lambda {arguments}: {case.expression}", {"after": after})

    def both(*inputs):
        if not case.gradient:
            return [function(*inputs)]
        positions = case.gradient if len(case.gradient) > 1 else case.gradient[0]
        gradients = ms.grad(lambda *xs: weighted(function(*xs)), positions)(*inputs)
        return [function(*inputs), gradients if isinstance(gradients, tuple) else (gradients,)]

    if case.gradient:
        expected.append(decode(answer["gradient"]))
    for name, actual in run_everywhere(both, *case.inputs).items():
        compare(actual, expected, f"{case.name} in {name}")


def test_outside_of_a_compiled_call():
    """The oracle is the sum: a Parameter and a Tensor are changed at every call, replayed too."""
    w, count = Parameter(Tensor([1.0, 2.0]), name="w"), Tensor([0])

    @ms.jit
    def step(x):
        w.add_(x)
        count.add_(1)
        return (w * 2).sum()

    before = ms.debug.ledger().counts.replays
    totals = [step(Tensor([1.0, -1.0])).item() for _ in range(5)]
    assert totals == [6.0] * 5
    assert w.asnumpy().tolist() == [6.0, -3.0]
    assert count.asnumpy().tolist() == [5]
    assert isinstance(w, Parameter)
    assert ms.debug.ledger().counts.replays > before


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_parameter_in_a_derivative(mode):
    """The oracle is the rule: after w ← w · x, d(w · x)/dw = x · x for the former w."""
    with execution(mode):
        w = Parameter(Tensor([2.0]), name="w")

        def loss(x):
            return (w.mul_(x) * x).sum()

        gradient = ms.grad(loss, None, [w])
        for call in range(1, 4):
            assert gradient(Tensor([3.0]))[0].asnumpy().tolist() == [9.0]
            assert w.asnumpy().tolist() == [2.0 * 3.0**call]


DRAWN = {
    # Method, lowest and highest value, mean, standard deviation (of each: its formula).
    "uniform_(2, 4)": (2, 4, 3, 2 / 12**0.5),
    "uniform_(Tensor(2.0), to=Tensor([4.0]))": (2, 4, 3, 2 / 12**0.5),
    "normal_(3, std=2)": (-15, 21, 3, 2),
    "exponential_(0.5)": (0, 60, 2, 2),
    "bernoulli_(0.25)": (0, 1, 0.25, 0.1875**0.5),
    "random_(3, 7)": (3, 6, 4.5, 1.25**0.5),
}


@pytest.mark.parametrize("call", DRAWN)
def test_drawn(call):
    """The oracle is the formula of each distribution; a seed repeats the numbers."""
    low, high, mean, deviation = DRAWN[call]

    def draw():
        x = Tensor(np.zeros(MANY, np.float32))
        made = eval(f"x.{call}", {"x": x, "Tensor": Tensor})
        assert made is x
        return x.asnumpy()

    ms.set_seed(5)
    found = draw()
    assert found.min() >= low
    assert found.max() <= high
    assert abs(found.mean() - mean) < 0.03 * max(1, deviation)
    assert abs(found.std() - deviation) < 0.03 * max(1, deviation)
    assert not np.array_equal(draw(), found)
    ms.set_seed(5)
    assert np.array_equal(draw(), found)


def test_drawn_anew_in_compiled_calls():
    """The oracle is inequality: every replay draws other numbers into the same Tensor."""
    x, whole = Tensor(np.zeros(8, np.float32)), Tensor(np.zeros(8, np.int32))
    draw = ms.jit(lambda: (x.uniform_().sum(), whole.random_(0, 1000).sum()))
    seen = [(draw()[0].item(), tuple(whole.tolist())) for _ in range(6)]
    assert len(set(seen)) == 6


def test_random_fills_the_type():
    """The oracle is the range of each type; real numbers stay exact integers."""
    for dtype, beyond in (("uint8", 255), ("float16", 2**11), ("bool", 2)):
        x = Tensor(np.zeros(2000), getattr(ms, "bool_" if dtype == "bool" else dtype)).random_()
        values = x.asnumpy().astype(np.float64)
        assert str(x.dtype).lower() == dtype
        assert 0.9 * (beyond - 1) <= values.max() < beyond
        assert (values == np.floor(values)).all()


ERRORS = {
    "Tensor([1.0]).add_(Tensor([1.0, 2.0]))": (
        ValueError,
        "add_() keeps the shape of its Tensor, (1,), but the result has (2,)",
    ),
    "Tensor([1]).mul_(1.5)": (
        TypeError,
        "mul_() keeps the type of its Tensor, Int64, but the result is Float32",
    ),
    "Tensor([1]).div_(2)": (TypeError, "write x = x.div(...)"),
    "Tensor([1]).exp_()": (TypeError, "exp_()"),
    "Tensor([1.0]).copy_(3)": (TypeError, "copy_: src"),
    "Tensor([1.0]).clamp_()": (ValueError, "clamp_: min or max"),
    "Tensor([1.0]).fill_(Tensor([1.0, 2.0]))": (ValueError, "fill_: value"),
    "Tensor([1]).uniform_()": (TypeError, "uniform_"),
    "Tensor([1.0]).fill_(1j)": (TypeError, "must be real, as the Float32 Tensor"),
    "Tensor([1.0]).copy_(Tensor([1j]))": (TypeError, "must be real"),
    "Tensor([1.0]).__setitem__(0, 1j)": (TypeError, "written into a real Tensor must be real"),
    "Tensor([1.0]).__setitem__(slice(1), [1j])": (TypeError, "written into a real Tensor"),
    "Tensor([1.0]).__setitem__(0, Tensor(1j))": (TypeError, "written into a real Tensor"),
    "Tensor([1.0]).uniform_(2, 1)": (RuntimeError, "uniform_: from_ and to"),
    "Tensor([1.0]).random_(1, 1)": (RuntimeError, "random_: from_ and to"),
    "Tensor([1.0]).random_(0.5, 3)": (TypeError, "random_: from_"),
    "Tensor([1.0]).normal_(0, -1)": (ValueError, "normal_: std"),
    "Tensor([1.0]).exponential_(0)": (ValueError, "exponential_: lambd"),
    "Tensor([1.0]).bernoulli_(2)": (ValueError, "bernoulli_: p"),
    "Tensor([1.0]).put_(Tensor([0]), Tensor([1.0, 2.0]))": (ValueError, "put_: source"),
    "Tensor([1.0]).put_(Tensor([0.0]), Tensor([1.0]))": (TypeError, "put_: index"),
    "Tensor([1.0]).index_put_(0, Tensor([1.0]))": (TypeError, "index_put: indices"),
    "Tensor([1.0]).scatter_(0, Tensor([0]))": (TypeError, "scatter_: src"),
    "Tensor([1.0]).scatter_(0, Tensor([0]), 1.0, reduce='max')": (ValueError, "scatter_: reduce"),
    "Tensor([1.0]).masked_scatter_(Tensor([1]), Tensor([1.0]))": (TypeError, "must be Bool"),
}


@pytest.mark.parametrize("call", ERRORS)
def test_errors(call):
    """PyTorch refuses the same calls; the text is ours. The Tensor keeps its values."""
    kind, text = ERRORS[call]
    source, _, method = call.partition(").")
    x = eval(source + ")", {"Tensor": Tensor})
    before = x.asnumpy()
    with pytest.raises(kind) as caught:
        eval(f"x.{method}", {"Tensor": Tensor, "x": x})
    assert text.lower() in str(caught.value).lower()
    assert np.array_equal(x.asnumpy(), before)


PARTS = {
    "a row": (lambda x: x[0].zero_(), lambda x: x[0].fill(0)),
    "rows": (lambda x: x[1:].add_(10), lambda x: np.add(x[1:], 10, out=x[1:])),
    "an element": (lambda x: x[0][1].fill_(7.0), lambda x: x[0, 1:2].fill(7)),
    "a column": (lambda x: x[:, 0].copy_(x[:, 1]), lambda x: np.copyto(x[:, 0], x[:, 1])),
    "twice": (lambda x: x[2].mul_(3).sub_(1), lambda x: np.copyto(x[2], x[2] * 3 - 1)),
    "by a function": (lambda x: ops.zero_(x[2]), lambda x: x[2].fill(0)),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_reaches_the_whole(name):
    """The oracle is NumPy, whose parts share memory as PyTorch's do."""
    change, expected = PARTS[name]

    def changed(x):
        x = x * 1
        change(x)
        return x

    def by_numpy(x):
        x = x.copy()
        expected(x)
        return x

    matches(changed, by_numpy, np.arange(9, dtype=np.float32).reshape(3, 3))


def test_masks_in_index_put():
    """The oracle is NumPy's `x[mask] = values`."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    mask = x % 2 == 0
    expected = x.copy()
    expected[mask] = [7, 8, 9]
    found = Tensor(x).index_put_([Tensor(mask)], Tensor(np.float32([7, 8, 9])))
    assert_close(found.asnumpy(), expected)


def test_scatter_add_by_rows():
    """The oracle is `np.add.at`: the older arguments, by position and by name."""
    x, rows = np.zeros((3, 2), np.float32), np.array([[0], [0], [2]])
    updates = np.arange(6, dtype=np.float32).reshape(3, 2)
    expected = x.copy()
    np.add.at(expected, rows[:, 0], updates)
    one = Tensor(x).scatter_add(Tensor(rows), Tensor(updates))
    other = Tensor(x).scatter_add(indices=Tensor(rows), updates=Tensor(updates))
    assert_close(one.asnumpy(), expected)
    assert_close(other.asnumpy(), expected)


def test_operators_of_assignment_make_new_tensors():
    """The oracle is MindSpore 2.10, where `x |= y` binds the name to another Tensor."""
    x = y = Tensor([True, False])
    y |= Tensor([False, True])
    assert x.asnumpy().tolist() == [True, False]
    assert y.asnumpy().tolist() == [True, True]
    number = Tensor([6])
    assert number.__iand__(3).tolist() == [2]
    assert number.__ixor__(3).tolist() == [5]
    assert number.__ilshift__(1).tolist() == [12]
    assert number.__irshift__(1).tolist() == [3]
