# SPDX-License-Identifier: Apache-2.0
"""Training with a scaled loss: how the scale changes, and a step that overflow leaves out.

The step is the same program whether gradients overflow or not: the optimiser runs, and each
Parameter then takes the value before or after it. No Python branch decides, so the step stays
compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.structure import structure
from mycel.kernel.differentiate.api import value_and_grad
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve, update
from mycel.kernel.spell import op
from mycel.nn.cell import Cell
from mycel.nn.wrap import TrainOneStepCell


def _is_real(array) -> bool:
    return jnp.issubdtype(array.dtype, jnp.floating)


@op()
def overflows(*arrays):
    """Whether any element of any real array is infinite or not a number.

    Example:
        >>> from mycel.nn.loss_scale import overflows
        >>> print(overflows((Tensor([1.0]), Tensor([3]))), overflows((Tensor([np.inf]),)))
        False True
    """
    overflowing = [~jnp.isfinite(array).all() for array in arrays if _is_real(array)]
    return functools.reduce(jnp.logical_or, overflowing, np.zeros((), np.bool_))


@op()
def multiplied(scale, *arrays):
    """Each array times the scale, which takes its element type first.

    Example:
        >>> from mycel.nn.loss_scale import multiplied
        >>> print(multiplied(Tensor(4.0), (Tensor([1.0, 2.0]),))[0])
        [4. 8.]
    """
    return tuple(array * scale.astype(array.dtype) for array in arrays)


@op()
def divided(scale, *arrays):
    """Each array times 1 / scale, which takes its element type first.

    Example:
        >>> from mycel.nn.loss_scale import divided
        >>> print(divided(Tensor(4.0), (Tensor([4.0, 8.0]),))[0])
        [1. 2.]
    """
    part = np.ones((), scale.dtype) / scale
    return tuple(array * part.astype(array.dtype) for array in arrays)


@op()
def chosen(condition, *arrays):
    """The first half of the arrays where the condition is true, else the second.

    Example:
        >>> from mycel.nn.loss_scale import chosen
        >>> print(chosen(Tensor(False), (Tensor([1]), Tensor([2])))[0])
        [2]
    """
    half = len(arrays) // 2
    condition = condition.reshape(())
    pairs = zip(arrays[:half], arrays[half:], strict=True)
    return tuple(jnp.where(condition, first, second) for first, second in pairs)


def change_unless(condition: Tensor, handles: list[Tensor], change: Callable):
    """What `change()` returns; what it assigned to the handles is kept where not `condition`.

    Example:
        >>> from mycel.nn.loss_scale import change_unless
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> for condition in (True, False):
        ...     done = change_unless(Tensor(condition), [w], lambda: w.set_data(w + 1))
        ...     print(w.asnumpy())
        [1.]
        [2.]
    """
    before = [resolve(handle) for handle in handles]
    result = change()
    pairs = zip(handles, before, strict=True)
    changed = [(handle, value) for handle, value in pairs if resolve(handle) is not value]
    if changed:
        kept = [new_tensor(value) for _, value in changed]
        after = [new_tensor(resolve(handle)) for handle, _ in changed]
        selected = chosen(condition, (*kept, *after))
        for (handle, _), tensor in zip(changed, selected, strict=True):
            update(handle, tensor)
    return result


class DynamicLossScaleUpdateCell(Cell):
    """How a loss scale changes: it falls with an overflow, and grows after steps without one.

    An overflow divides it by `scale_factor`, but not below 1; after `scale_window` steps in a row
    without one it is multiplied by `scale_factor`.

    Args:
        loss_scale_value: what it begins with.
        scale_factor: what it is multiplied and divided by.
        scale_window: how many steps without overflow make it grow.

    Source: MindSpore's `mindspore.nn.DynamicLossScaleUpdateCell`.

    Example:
        >>> update = nn.DynamicLossScaleUpdateCell(1024, scale_factor=2, scale_window=1000)
        >>> scale = Parameter(Tensor(1024.0), name="scale")
        >>> overflow = update(scale, Tensor(True))
        >>> print(scale.asnumpy())
        512.0
    """

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        self.scale_window = Tensor(scale_window, int32)
        self.scale_factor = Tensor(scale_factor, float32)
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, int32), name="last_overflow_iterator_step")

    def get_loss_scale(self):
        """The loss scale it begins with."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow) -> Any:
        """Change `loss_scale`, a Parameter; returns `overflow`."""
        scale, last, step = next_scale(
            loss_scale,
            overflow,
            self.cur_iter,
            self.last_overflow_iter,
            self.scale_factor,
            self.scale_window,
        )
        for parameter, value in zip(
            (loss_scale, self.last_overflow_iter, self.cur_iter), (scale, last, step), strict=True
        ):
            update(parameter, value)
        return overflow


@op()
def next_scale(scale, overflow, step, last, factor, window):
    """The scale after a step, the last step that changed it, and the number of the next.

    Example:
        >>> from mycel.nn.loss_scale import next_scale
        >>> step, last = Tensor(5, ms.int32), Tensor(3, ms.int32)
        >>> for value in next_scale(Tensor(8.0), Tensor(False), step, last, 2.0, Tensor(2)):
        ...     print(value)
        16.0
        5
        6
    """
    overflow = overflow.astype(jnp.bool_).reshape(())
    factor = factor.astype(scale.dtype)
    one = np.ones((), scale.dtype)
    grows = window.astype(step.dtype) <= step - last
    smaller = jnp.maximum(scale * (one / factor), one)
    changed = jnp.where(overflow, smaller, jnp.where(grows, scale * factor, scale))
    return changed, jnp.where(overflow | grows, step, last), step + np.ones((), step.dtype)


class FixedLossScaleUpdateCell(Cell):
    """A loss scale that stays what it is; overflow only leaves out a step.

    Source: MindSpore's `mindspore.nn.FixedLossScaleUpdateCell`.

    Example:
        >>> nn.FixedLossScaleUpdateCell(1024).get_loss_scale()
        1024
    """

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        """The loss scale."""
        return self.loss_scale_value

    def construct(self, _, overflow):
        """`overflow` as it is."""
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One step of training with a scaled loss: inputs to (loss, overflow, loss scale).

    The gradients of the loss times the scale are divided by the scale again. If one of them is
    infinite or not a number, the optimiser's Parameters and the weights stay what they were. The
    scale that is returned is the one after the step, as in MindSpore.

    Args:
        network: a Cell that returns a loss.
        optimizer: what changes its Parameters.
        scale_sense: a Cell that changes the scale, such as a DynamicLossScaleUpdateCell; or a
            Tensor of shape () or (1,), which `set_sense_scale` changes.

    Raises:
        TypeError: `scale_sense` is neither a Cell nor a Tensor.
        ValueError: the shape of the Tensor is neither () nor (1,).

    Source: MindSpore's `mindspore.nn.TrainOneStepWithLossScaleCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> step = nn.TrainOneStepWithLossScaleCell(
        ...     nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1),
        ...     nn.DynamicLossScaleUpdateCell(1024, 2, 1000))
        >>> for result in step(Tensor([[1.0, 2.0]]), Tensor([[5.0]])):
        ...     print(result)
        4.0
        False
        1024.0
        >>> loss, overflow, scale = step(Tensor([[1.0, np.inf]]), Tensor([[5.0]]))
        >>> print(overflow, scale, net.weight.asnumpy())
        True 512.0 [[1.4 1.8]]
    """

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer, sens=None)
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            scale_sense = Tensor(scale_sense.get_loss_scale(), float32)
        what = "TrainOneStepWithLossScaleCell: scale_sense"
        if not isinstance(scale_sense, Tensor):
            actual = f"{type(scale_sense).__name__} {scale_sense!r:.40}"
            raise wrong(TypeError, what, "a Cell or a Tensor", actual)
        if scale_sense.shape not in ((), (1,)):
            raise wrong(ValueError, what, "of shape () or (1,)", f"shape {scale_sense.shape}")
        self.scale_sense = Parameter(scale_sense, name="scale_sense")
        # What subclasses with a construct of their own find here.
        self.base = Tensor(1, float32)
        self.base0 = Tensor(0, int32)
        self.cast = ops.Cast()
        self.hyper_map = ops.HyperMap()
        self.reduce_sum = ops.ReduceSum(keep_dims=False)
        self.less_equal = ops.LessEqual()
        self.logic_not, self.equal = ops.LogicalNot(), ops.Equal()
        self.reduce_all, self.allreduce = ops.ReduceAll(keep_dims=False), ops.AllReduce()
        self.is_distributed, self.gpu_target = self.reducer_flag, False
        self.ascend_910a_target = self.ascend_910b_target = False
        self._changed = (-1, [])

    def construct(self, *inputs) -> Any:
        """(the loss before the step, whether it was left out, the loss scale)."""
        if self._to_broadcast:
            self.broadcast()
        loss, gradients = self._scaled_loss_and_gradients(inputs)
        gradients = self.grad_reducer(divided(self.scale_sense, gradients))
        status, gradients = self.start_overflow_check(loss, gradients)
        condition = self.get_overflow_status(status, gradients)
        overflow = self.process_loss_scale(condition)
        if isinstance(overflow, Tensor):
            change_unless(overflow, self._what_a_step_changes(), lambda: self.optimizer(gradients))
        elif not overflow:
            self.optimizer(gradients)
        return loss, condition, self.scale_sense.value()

    def _scaled_loss_and_gradients(self, inputs):
        def scaled(*arguments):
            loss = self.network(*arguments)
            return loss * self.scale_sense.astype(loss.dtype), loss

        (_, loss), gradients = value_and_grad(scaled, None, self.weights, has_aux=True)(*inputs)
        return loss, gradients

    def _what_a_step_changes(self) -> list[Tensor]:
        if self._changed[0] != structure.changes:
            changing = {id(p): p for p in (*self.optimizer.get_parameters(), *self.weights)}
            self.__dict__["_changed"] = (structure.changes, list(changing.values()))
        return self._changed[1]

    def set_sense_scale(self, sens) -> None:
        """Set the loss scale.

        Raises:
            TypeError: not a Tensor.

        Example:
            >>> net = nn.Dense(2, 1)
            >>> step = nn.TrainOneStepWithLossScaleCell(
            ...     nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()),
            ...     Tensor(1.0))
            >>> step.set_sense_scale(Tensor(8.0))
            >>> print(step.scale_sense.asnumpy())
            8.0
        """
        if not isinstance(sens, Tensor):
            raise wrong(TypeError, "set_sense_scale: sens", "a Tensor", type(sens).__name__)
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond, compute_input):
        """(a status for `get_overflow_status`, `compute_input`): nothing is to be cleared here."""
        return Tensor(np.zeros(8, np.int32)), compute_input

    def get_overflow_status(self, status, compute_output) -> Tensor:
        """Whether one of the gradients is infinite or not a number.

        Args:
            status: what `start_overflow_check` gave; nothing depends on it.
            compute_output: the gradients.
        """
        return overflows(compute_output)

    def process_loss_scale(self, overflow):
        """Let the Cell that was given change the loss scale; returns `overflow`."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


def gradient_overflow(grad: Any) -> Tensor:
    """1 in Float32 if a gradient is infinite or not a number anywhere, else 0; of shape (1,).

    Source: MindSpore's `mindspore.nn.wrap.loss_scale._grad_overflow`.

    Example:
        >>> from mycel.nn.loss_scale import gradient_overflow
        >>> print(gradient_overflow(Tensor([1.0, np.nan])))
        [1.]
    """
    return overflows((grad,)).astype(float32).reshape((1,))


def grad_scale(scale, grad, accu_grad):
    """What was accumulated, divided by the scale; the accumulated is zero afterwards.

    Source: MindSpore's `mindspore.nn.wrap.loss_scale.grad_scale`.

    Example:
        >>> from mycel.nn.loss_scale import grad_scale
        >>> kept = Parameter(Tensor([8.0]), name="kept")
        >>> print(grad_scale(Tensor(4.0), Tensor([1.0]), kept), kept.asnumpy())
        [2.] [0.]
    """
    (scaled,) = divided(scale, (accu_grad,))
    ops.assign(accu_grad, ops.zeros_like(accu_grad))
    return scaled


def shard_grad_scale(scale, grad, accu_grad):
    """The gradient divided by the scale; the accumulated is zero afterwards.

    Source: MindSpore's `mindspore.nn.wrap.loss_scale.shard_grad_scale`.

    Example:
        >>> from mycel.nn.loss_scale import shard_grad_scale
        >>> kept = Parameter(Tensor([8.0]), name="kept")
        >>> print(shard_grad_scale(Tensor(4.0), Tensor([1.0]), kept), kept.asnumpy())
        [0.25] [0.]
    """
    (scaled,) = divided(scale, (grad,))
    ops.assign(accu_grad, ops.zeros_like(accu_grad))
    return scaled
