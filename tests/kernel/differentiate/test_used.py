# SPDX-License-Identifier: Apache-2.0
"""`get_by_list` without weights. Oracle: recorded MindSpore answers (its PyNative mode)."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import mycel as ms
from fixtures.case import Array, decode, encode, evaluate, structure
from fixtures.load import pairs
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, Tensor, nn, ops

OTHERWISE = {"recomputed": "MindSpore adds a zero for what the recomputed Cell does not use"}
RECORDED = [
    pytest.param(case, answer, id=case.name)
    for case, answer in pairs("weights_used")
    if case.name not in OTHERWISE
]


def arrays(tree) -> list[np.ndarray]:
    if isinstance(tree, Array):
        return [tree.values]
    return [array for branch in tree for array in arrays(branch)]


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(("case", "answer"), RECORDED)
def test_recorded(case, answer, mode):
    with execution(mode):
        result = encode(evaluate(case, ms))
    assert structure(result) == answer.structure
    for mine, theirs in zip(arrays(decode(result)), arrays(answer.output), strict=True):
        # What cancels to zero is rounded as the largest element is.
        scale = np.maximum(1, np.abs(theirs).max(initial=0)).astype(theirs.dtype)
        assert_close(mine / scale, theirs / scale, case.name)


def everywhere(function, *inputs):
    """What a function gives in each execution, called often enough to be replayed."""
    found = {}
    for name in EXECUTIONS:
        with execution(name):
            for _ in range(4):
                made = function(*inputs)
            found[name] = [gradient.asnumpy().tolist() for gradient in made]
    return found


def scalar(name: str, value: float, **options) -> Parameter:
    return Parameter(Tensor([value]), name=name, **options)


TAKEN = ops.GradOperation(get_by_list=True)
X = Tensor([11.0])


def test_unused_and_frozen_parameters_are_left_out():
    """Oracle: by hand, d(x · used) = x."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.unused, self.used = scalar("unused", 3.0), scalar("used", 2.0)
            self.frozen = scalar("frozen", 5.0, requires_grad=False)

        def construct(self, x):
            return x * self.used * self.frozen

    assert set(map(str, everywhere(TAKEN(Net()), X).values())) == {"[[55.0]]"}


def test_a_recomputed_cell_uses_its_parameters_once():
    """Oracle: the same Cell without it."""

    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.v = scalar("w", 2.0), scalar("v", 3.0)

        def construct(self, x):
            return x * self.v * self.w

    inner = Inner()
    plain = everywhere(TAKEN(lambda x: inner(x) * 2), X)
    inner.recompute()
    assert everywhere(TAKEN(lambda x: inner(x) * 2), X) == plain


def test_the_gradient_is_that_by_the_value_before_an_assignment():
    """Oracle: the same derivative with the weights given."""
    a, b, c = scalar("a", 2.0), scalar("b", 3.0), scalar("c", 5.0)

    def later(x):
        y = x * c
        c.set_data(Tensor([7.0]))
        return y * c * a

    def through(x):
        ops.assign(c, x * b)
        return x * c * a

    for function, weights in ((later, (c, a)), (through, (b, a))):
        found = []
        for taken in (TAKEN(function), TAKEN(function, weights)):
            for name in EXECUTIONS:
                with execution(name):
                    for _ in range(4):
                        c.set_data(Tensor([5.0]))
                        found.append([g.asnumpy().tolist() for g in taken(X)])
        assert found[1:] == found[:-1], found


def test_what_is_used_may_change_from_call_to_call():
    """Oracle: by hand."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.which = scalar("p", 2.0), scalar("q", 3.0), 0

        def construct(self, x):
            return x * (self.second if self.which else self.first) * (x if self.which else 1.0)

    for name in EXECUTIONS:
        net = Net()
        taken = TAKEN(net)
        with execution(name):
            for which in (0, 0, 0, 0, 1, 1, 1, 0, 1):
                net.which = which
                assert [g.asnumpy().tolist() for g in taken(X)] == [[121.0 if which else 11.0]]


def test_a_parameter_that_is_made_inside_and_let_go():
    """Oracle: by hand; it is there as long as its gradient is asked for."""
    assert set(map(str, everywhere(TAKEN(lambda x: x * scalar("made", 2.0)), X).values())) == {
        "[[11.0]]"
    }


def test_hooks_on_the_parameters_used_are_called():
    w = scalar("w", 2.0)
    w.register_hook(lambda gradient: gradient * 10)
    assert set(map(str, everywhere(TAKEN(lambda x: x * w), X).values())) == {"[[110.0]]"}


# -- a Parameter has its gradient for itself ------------------------------------------------------


def from_one_tensor():
    data = Tensor([2.0])
    return Parameter(data, name="p"), Parameter(data, name="q")


def cloned():
    p = scalar("p", 2.0)
    return p, p.clone()


def copied():
    p = scalar("p", 2.0)
    return p, copy.deepcopy(p)


def copied_shallow():
    p = scalar("p", 2.0)
    return p, copy.copy(p)


def set_to():
    p, q = scalar("p", 2.0), scalar("q", 5.0)
    q.set_data(p)
    return p, q


def set_to_pending():
    p, q = scalar("p", 1.0), scalar("q", 5.0)
    p.set_data(p * 2.0)
    q.set_data(p)
    return p, q


def assigned():
    p, q, data = scalar("p", 3.0), scalar("q", 5.0), Tensor([2.0])
    ops.assign(p, data)
    ops.assign(q, data)
    return p, q


def loaded():
    cells = nn.Dense(1, 1, has_bias=False), nn.Dense(1, 1, has_bias=False)
    cells[0].weight.set_data(Tensor([[2.0]]))
    cells[1].load_state_dict(cells[0].state_dict())
    return cells[0].weight, cells[1].weight


def loaded_from_another():
    cells = nn.Dense(1, 1, has_bias=False), nn.Dense(1, 1, has_bias=False)
    cells[0].weight.set_data(Tensor([[2.0]]))
    ms.load_param_into_net(cells[1], cells[0].parameters_dict())
    return cells[0].weight, cells[1].weight


SHARED = (from_one_tensor, cloned, copied, copied_shallow, set_to, set_to_pending, assigned,
          loaded, loaded_from_another)  # fmt: skip


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("make", SHARED)
def test_parameters_of_one_value_have_a_gradient_each(make, mode):
    """Oracle: d(3 p q) by p is 3 q = 6; a target network has the weights of the other one."""
    with execution(mode):
        p, q = make()
        for _ in range(4):
            found = ms.grad(lambda x: (x * p * q).sum(), None, (p,))(Tensor([3.0]))
            both = ms.grad(lambda x: (x * p * q).sum(), None, (p, q))(Tensor([3.0]))
            assert [g.asnumpy().item() for g in (*found, *both)] == [6.0, 6.0, 6.0]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_target_network_in_a_remembered_step(mode):
    """Oracle: NumPy, one step after another."""
    with execution(mode):
        online, target = scalar("online", 2.0), scalar("target", 0.0)

        @ms.jit
        def step(x):
            target.set_data(online)
            (gradient,) = ms.grad(lambda x: (x * online - target).sum(), None, (online,))(x)
            online.set_data(online - 0.125 * gradient)
            return gradient

        value = 2.0
        for _ in range(6):
            assert step(Tensor([3.0])).asnumpy().tolist() == [3.0]
            assert target.asnumpy().tolist() == [value]
            value -= 0.375
            assert online.asnumpy().tolist() == [value]
