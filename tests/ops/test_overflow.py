# SPDX-License-Identifier: Apache-2.0
"""The overflow status. Oracle: NumPy's isfinite on the gradients."""

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.record.stream import machine


class Step(nn.Cell):
    """A step with loss scaling, in the way of older programs for Ascend."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([1.0, 2.0]), name="weight")
        self.alloc = ops.NPUAllocFloatStatus()
        self.clear = ops.NPUClearFloatStatus()
        self.get = ops.NPUGetFloatStatus()
        self.total = ops.ReduceSum(keep_dims=False)

    def construct(self, x):
        status = self.alloc()
        self.clear(status)
        gradient = ms.grad(lambda x: (self.weight / x).sum(), None, self.weight)(x)
        self.get(status)
        overflow = self.total(status, (0,)) >= 1
        self.weight.set_data(ops.select(overflow, self.weight, self.weight - gradient))
        return overflow


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_step_that_overflows_is_left_out(name):
    with execution(name):
        step, weight = Step(), np.array([1.0, 2.0], np.float32)
        for divisor in (2.0, 4.0, 0.0, 2.0, 2.0, 0.0, 4.0):
            with np.errstate(divide="ignore"):
                gradient = np.full(2, np.float32(1) / np.float32(divisor))
            overflow = bool(step(Tensor(divisor)))
            assert overflow == (not np.isfinite(gradient).all())
            if not overflow:
                weight = weight - gradient
            np.testing.assert_allclose(step.weight.asnumpy(), weight)
        if name == "graph":
            assert ms.debug.ledger().counts.replays >= 4


def test_nothing_is_watched_behind_the_question():
    """A gradient that fails later reaches only those who ask for it."""
    status = ops.NPUAllocFloatStatus()()
    ops.NPUClearFloatStatus()(status)
    ms.grad(lambda x: x * x)(Tensor(2.0))
    ops.NPUGetFloatStatus()(status)
    assert machine.on_gradients is None
    assert float(status.sum()) == 0


def test_a_status_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"of shape \(8,\)"):
        ops.NPUClearFloatStatus()(Tensor([1.0]))
    with pytest.raises(TypeError, match="NPUAllocFloatStatus gave"):
        ops.NPUGetFloatStatus()(3)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_the_divisor_of_the_smallest_number(dtype):
    # Oracle: NumPy, and Python's whole numbers. It was looked for without end.
    least = np.iinfo(dtype).min
    x, y = np.array([least, least, 0, -8, 12], dtype), np.array([6, 0, 5, -12, 18], dtype)
    assert ops.gcd(Tensor(x), Tensor(y)).asnumpy().tolist() == np.gcd(x, y).tolist()
    assert ops.lcm(Tensor(x[2:]), Tensor(y[2:])).asnumpy().tolist() == [0, 24, 36]
