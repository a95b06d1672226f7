# SPDX-License-Identifier: Apache-2.0
"""A Cell's own reverse. Oracles: CONTRACT §3, recorded MindSpore answers, NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from fixtures.case import evaluate
from fixtures.load import pairs
from harness import EXECUTIONS, assert_close, execution, run_everywhere
from mycel import Parameter, Tensor, nn, ops

RECORDED = [
    pytest.param(case, answer, id=case.name)
    for case, answer in pairs("gradients")
    if case.name.startswith("bprop") and not answer.error
]


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(("case", "answer"), RECORDED)
def test_recorded(case, answer, mode):
    with execution(mode):
        found = evaluate(case, ms)
    found = found if isinstance(found, tuple) else (found,)
    expected = answer.output if type(answer.output) is tuple else (answer.output,)
    for mine, theirs in zip(found, expected, strict=True):
        assert_close(mine.asnumpy(), theirs.values, case.name)


class Product(nn.Cell):
    def construct(self, x, y):
        z = x * y
        return z * y

    def bprop(self, x, y, out, dout):
        return x + y, x * y


def test_contract_figures():
    derivative = ops.GradOperation(get_all=True)(Product())
    for found in run_everywhere(
        derivative, np.array(1, np.float32), np.array(2, np.float32)
    ).values():
        assert [float(g) for g in found] == [3.0, 2.0]


def test_a_reverse_may_be_given_to_a_class_or_a_cell_later():
    class Half(nn.Cell):
        def construct(self, x):
            return x / 2

    first, second = Half(), Half()
    x = np.array(4.0, np.float32)

    def gradient_of(net):
        return [float(g) for g in run_everywhere(ms.grad(net), x).values()]

    modes = len(EXECUTIONS)
    assert gradient_of(first) == [0.5] * modes
    assert not first.has_bprop
    second.bprop = lambda x, out, dout: (3 * dout,)
    assert gradient_of(second) == [3.0] * modes
    assert gradient_of(first) == [0.5] * modes
    Half.bprop = lambda self, x, out, dout: (5 * dout,)
    assert gradient_of(Half()) == [5.0] * modes
    assert Half().has_bprop


def test_internal_parameters():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="weight")
            self.internal_params = [self.w]

        def construct(self, x):
            return self.w * x

        def bprop(self, *args):
            return (self.w * args[-1],), {self.w: args[0] * args[-1] * 10}

    net = Net()
    derivative = ms.grad(lambda x: net(x) * 3.0, 0, net.trainable_params())
    for gx, (gw,) in run_everywhere(derivative, np.float32([5.0])).values():
        assert (gx.tolist(), gw.tolist()) == ([6.0], [150.0])


def test_several_outputs_and_a_dropout_with_its_mask():
    class Masked(nn.Cell):
        def construct(self, x):
            mask = x > 0
            return x * mask * 2, mask

        def bprop(self, x, out, dout):
            _, mask = out
            dy, _ = dout
            return (mask.astype(x.dtype) * dy * 2,)

    net = Masked()
    derivative = ms.grad(lambda x: net(x)[0] * 3.0)
    for found in run_everywhere(derivative, np.float32([1.0, -1.0])).values():
        assert found.tolist() == [6.0, 0.0]


def test_second_order_through_the_code_of_bprop():
    class Square(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (x * x * x * dout,)  # not the derivative, so that it shows

    second = ms.grad(ms.grad(Square()))
    for found in run_everywhere(second, np.array(2.0, np.float32)).values():
        assert float(found) == 12.0


def test_it_is_not_called_without_a_derivative():
    class Refusing(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            raise AssertionError("no derivative is taken")

    assert float(Refusing()(Tensor(2.0))) == 4.0


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (
            lambda d: (d, d),
            "Odd.bprop must return a tuple of 1 gradients, one per input, but it returned a tuple "
            "of 2.",
        ),
        (
            lambda d: (Tensor([1.0]),),
            "Odd.bprop must return a gradient of shape (2,) and type Float32, but it returned one "
            "of shape (1,).",
        ),
        (
            lambda d: None,
            "Odd.bprop must return its gradient, or (None,) for none; is a `return` missing?, but "
            "it returned NoneType None.",
        ),
    ],
)
def test_ill_formed_results_name_the_cell(returned, text):
    class Odd(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return returned(dout)

    with pytest.raises(ValueError) as caught:
        ms.grad(Odd())(Tensor([1.0, 2.0]))
    assert str(caught.value) == text
