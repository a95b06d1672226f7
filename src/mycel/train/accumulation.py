# SPDX-License-Identifier: Apache-2.0
"""Gradients of several steps together: the memory of a small batch, the update of a large one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.kernel.base.dtypes import int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.structure import structure
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import op
from mycel.nn.cell import Cell
from mycel.nn.checks import positive_integer
from mycel.nn.loss_scale import change_unless


@op()
def accumulated(steps, *arrays):
    """The first half of the arrays, plus the second divided by a number of steps.

    Example:
        >>> from mycel.train.accumulation import accumulated
        >>> print(accumulated(4, (Tensor([1.0]), Tensor([8.0])))[0])
        [3.]
    """
    half = len(arrays) // 2
    pairs = zip(arrays[:half], arrays[half:], strict=True)
    return tuple(kept + (new / steps.astype(new.dtype)).astype(kept.dtype) for kept, new in pairs)


@op()
def cleared(begins, *arrays):
    """Zeros in place of the arrays where the condition is true.

    Example:
        >>> from mycel.train.accumulation import cleared
        >>> print(cleared(Tensor(True), (Tensor([1.0]),))[0])
        [0.]
    """
    keep = ~begins.reshape(())
    return tuple(array * keep.astype(array.dtype) for array in arrays)


class GradientAccumulation(Cell):
    """Gathers the gradients of several steps, and lets the optimiser take their mean.

    The step is the same program whether the optimiser's turn has come or not: what it changes is
    kept only where it has. So it stays compiled.

    Args:
        max_accumulation_step: how many steps are gathered.
        optimizer: what changes the Parameters.

    Raises:
        TypeError, ValueError: the number of steps is not a positive integer, or `optimizer` is not
            an optimiser.

    Source: MindSpore's `mindspore.boost.GradientAccumulation`.

    Example:
        >>> from mycel.train.accumulation import GradientAccumulation
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> gather = GradientAccumulation(2, nn.SGD([w], 0.5))
        >>> for gradient in (1.0, 3.0):
        ...     loss = gather(Tensor(0.0), (Tensor([gradient]),))
        ...     print(w.asnumpy())
        [1.]
        [0.]
    """

    _begins_segment = False

    def __init__(self, max_accumulation_step, optimizer):
        super().__init__(auto_prefix=False)
        what = "GradientAccumulation: max_accumulation_step"
        self._max_accumulation_step = positive_integer(max_accumulation_step, what)
        if not isinstance(optimizer, Cell) or not hasattr(optimizer, "parameters"):
            actual = type(optimizer).__name__
            raise wrong(TypeError, "GradientAccumulation: optimizer", "an optimiser", actual)
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, int32), name="accumulation_step")
        self._changed = (-1, [])

    def construct(self, loss, grads):
        """The loss as it is."""
        kept = self._grad_accumulation
        sums = accumulated(self._max_accumulation_step, (*kept, *grads))
        step = self._accumulation_step + 1
        waits = step < self._max_accumulation_step
        change_unless(waits, self._what_a_step_changes(), lambda: self.optimizer(sums))
        for parameter, value in zip(kept, cleared(~waits, sums), strict=True):
            update(parameter, value)
        (step,) = cleared(~waits, (step,))
        update(self._accumulation_step, step)
        return loss

    def _what_a_step_changes(self) -> list[Tensor]:
        if self._changed[0] != structure.changes:
            changing = {id(p): p for p in (*self.optimizer.get_parameters(), *self.weights)}
            self.__dict__["_changed"] = (structure.changes, list(changing.values()))
        return self._changed[1]


def gradient_accumulation_op(accumulation_step, cumulative_grad, grad):
    """Add a gradient, divided by a number of steps, to what was gathered, in place.

    Source: MindSpore's `mindspore.boost.grad_accumulation.gradient_accumulation_op`.

    Example:
        >>> from mycel.train.accumulation import gradient_accumulation_op
        >>> kept = Parameter(Tensor([1.0]), name="kept")
        >>> print(gradient_accumulation_op(4, kept, Tensor([8.0])).asnumpy())
        [3.]
    """
    (total,) = accumulated(accumulation_step, (cumulative_grad, grad))
    update(cumulative_grad, total)
    return cumulative_grad


def gradient_clear_op(cumulative_grad):
    """Set what was gathered to zero, in place.

    Source: MindSpore's `mindspore.boost.grad_accumulation.gradient_clear_op`.

    Example:
        >>> from mycel.train.accumulation import gradient_clear_op
        >>> kept = Parameter(Tensor([1.0]), name="kept")
        >>> print(gradient_clear_op(kept).asnumpy())
        [0.]
    """
    zeros = np.zeros(cumulative_grad.shape, cumulative_grad.dtype.numpy)
    update(cumulative_grad, Tensor(zeros))
    return cumulative_grad


class ParameterUpdate(Cell):
    """Gives a Parameter the value it is called with, and returns that.

    Args:
        param: the Parameter.

    Raises:
        TypeError: the argument is not a Parameter.

    Source: MindSpore's `mindspore.nn.ParameterUpdate`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> print(nn.ParameterUpdate(w)(Tensor([3.0])), w.asnumpy())
        [3.] [3.]
    """

    def __init__(self, param):
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            what = "ParameterUpdate: param"
            raise wrong(TypeError, what, "a Parameter", type(param).__name__)
        self._param = param

    def construct(self, x) -> Any:
        """Assign; the value."""
        self._param.set_data(x)
        return x
