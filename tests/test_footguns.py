# SPDX-License-Identifier: Apache-2.0
"""Known surprises, pinned: where we depart from MindSpore or from plain Python, and how."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops


def test_a_slice_is_a_copy():
    """MindSpore 2.10 gives views that share storage both ways. Values never change here."""
    x = Tensor([1.0, 2.0, 3.0])
    part = x[1:]
    part[0] = 9.0
    assert x.asnumpy().tolist() == [1.0, 2.0, 3.0]
    x[2] = 7.0
    assert part.asnumpy().tolist() == [9.0, 3.0]


def test_asnumpy_is_a_copy():
    """MindSpore shares memory with the array; a change of it does not reach the Tensor here."""
    x = Tensor([1.0, 2.0])
    array = x.asnumpy()
    array[0] = 5.0
    assert x.asnumpy().tolist() == [1.0, 2.0]


def test_set_data_refuses_another_shape():
    """MindSpore 2.10 accepts it; CONTRACT makes it an error unless slice_shape is given."""
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    with pytest.raises(ValueError, match="slice_shape=True"):
        p.set_data(Tensor([1.0]))
    p.set_data(Tensor([1.0]), slice_shape=True)
    assert p.shape == (1,)


def test_a_real_number_that_became_an_integer_passes_no_gradient():
    """MindSpore sends the gradient through the cast as if it were the identity."""
    gradient = ms.grad(lambda x: x.astype(ms.int32).astype(ms.float32) * 3.0)(Tensor([1.5]))
    assert gradient.asnumpy().tolist() == [0.0]


def test_get_by_list_without_weights_takes_all_trainable_parameters():
    """MindSpore takes those that the function happens to use."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.used = Parameter(Tensor([2.0]), name="used")
            self.unused = Parameter(Tensor([3.0]), name="unused")

        def construct(self, x):
            return x * self.used

    gradients = ops.GradOperation(get_by_list=True)(Net())(Tensor([5.0]))
    assert [g.asnumpy().tolist() for g in gradients] == [[5.0], [0.0]]


def test_a_fresh_cell_is_in_prediction():
    """MindSpore 2.10 says phase 'train' beside training == False; CONTRACT settles 'predict'."""
    cell = nn.ReLU()
    assert (cell.training, cell.phase) == (False, "predict")


def test_python_side_effects_run_only_while_recording():
    """Counters, logging and the like inside a compiled function: mark them @every_call."""
    plain, marked = [], []
    note = ms.every_call(lambda: marked.append(1))

    @ms.jit
    def f(x):
        plain.append(1)
        note()
        return x * 2

    for _ in range(6):
        f(Tensor([1.0]))
    assert (len(plain), len(marked)) == (2, 6)


def test_python_state_that_begins_to_matter_later_is_not_seen():
    """The one silent difference: Python does not run on a replay, so it cannot change its mind."""
    calls = [0]

    @ms.jit
    def f(x):
        calls[0] += 1
        return x * 10 if calls[0] >= 4 else x

    assert [float(f(Tensor(1.0))) for _ in range(6)] == [1.0] * 6


def test_differently_cut_programs_may_differ_in_the_last_bit():
    """A read in the middle makes two executables of one; XLA then rounds differently."""
    x = np.random.RandomState(0).randn(64).astype(np.float32)

    def f(x, look):
        y = ops.exp(x) * 0.1 + x
        if look:
            y.asnumpy()
        return (y / (1.0 + ops.exp(-y))).sum()

    whole, cut = (float(f(Tensor(x), look)) for look in (False, True))
    assert whole == pytest.approx(cut, rel=2e-6)
