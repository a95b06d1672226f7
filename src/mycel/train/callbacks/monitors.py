# SPDX-License-Identifier: Apache-2.0
"""Callbacks that tell how a training goes: its loss, its time, its history."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, is_integer, positive_integer
from mycel.train.callbacks.base import POINTS, Callback, handle_loss

NOT_FINITE = (
    "In epoch {epoch}, step {step} the loss is {loss}; training stops here. mycel.debug helps to "
    "find the operator; a smaller learning rate or a loss scale may be the remedy."
)


def count(value, what: str) -> int:
    """The value, if it is an integer of at least 0.

    Raises:
        TypeError: not an integer.
        ValueError: the number is negative.
    """
    if not is_integer(value):
        raise wrong(TypeError, what, "an integer of at least 0", repr(value))
    if value < 0:
        raise wrong(ValueError, what, "an integer of at least 0", value)
    return value


def step_in_epoch(told) -> int:
    """The number of the present step within its epoch, from 1."""
    return int((told.cur_step_num - 1) % told.batch_num + 1)


class LossMonitor(Callback):
    """Prints the loss, and stops a training whose loss is infinite or not a number.

    In `Model.fit` it also prints the metrics of each evaluation.

    Args:
        per_print_times: after how many steps a line is printed; 0 prints none.

    Raises:
        TypeError, ValueError: the number is not an integer, or is negative.

    Source: MindSpore's `mindspore.train.LossMonitor`.

    Example:
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> data = [(ops.ones((1, 1)), ops.zeros((1, 1)))] * 2
        >>> model.train(1, data, callbacks=ms.train.LossMonitor())
        epoch: 1 step: 1, loss is 1.0
        epoch: 1 step: 2, loss is 0.0
    """

    def __init__(self, per_print_times=1):
        super().__init__()
        self._per_print_times = count(per_print_times, "LossMonitor: per_print_times")
        self._last_print_time = 0

    def step_end(self, run_context):
        """Print the loss if it is time.

        Raises:
            ValueError: the loss is infinite or not a number.
        """
        told = run_context.original_args()
        epoch, step = told.get("cur_epoch_num", 1), step_in_epoch(told)
        loss = handle_loss(told.net_outputs)
        if isinstance(loss, float) and not np.isfinite(loss):
            raise ValueError(NOT_FINITE.format(epoch=epoch, step=step, loss=loss))
        if not self._per_print_times:
            return
        if told.cur_step_num <= self._last_print_time:
            # A new training, with the same monitor.
            behind = self._last_print_time - told.cur_step_num
            self._last_print_time -= (behind // self._per_print_times + 1) * self._per_print_times
        if told.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = told.cur_step_num
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context):
        """Print the metrics of the evaluation after this epoch, if there was one."""
        told = run_context.original_args()
        metrics = told.get("metrics")
        if metrics:
            print(f"Eval result: epoch {told.cur_epoch_num}, metrics: {metrics}")


class TimeMonitor(Callback):
    """Prints how long an epoch took, and each of its steps on average, in milliseconds.

    Args:
        data_size: how many steps an epoch has; only needed where the dataset does not tell.
        data_time: also print how long a step waited for its data.

    Raises:
        TypeError: `data_time` is not a bool.

    Source: MindSpore's `mindspore.train.TimeMonitor`.

    Example:
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> data = [(ops.ones((1, 1)), ops.zeros((1, 1)))]
        >>> model.train(1, data, callbacks=ms.train.TimeMonitor())
        Train epoch time: ... ms, per step time: ... ms
    """

    def __init__(self, data_size=None, data_time=False):
        super().__init__()
        self.data_size = data_size
        self.data_time = boolean(data_time, "TimeMonitor: data_time")
        self.epoch_time = time.time()
        self.data_time_start = 0.0
        self.data_time_sum = 0.0

    def epoch_begin(self, run_context):
        """The clock starts."""
        self.epoch_time = self.data_time_start = time.time()
        self.data_time_sum = 0.0

    def on_train_step_begin(self, run_context):
        """The data of a step is there."""
        self.data_time_sum += time.time() - self.data_time_start

    def on_train_step_end(self, run_context):
        """A step waits for data."""
        self.data_time_start = time.time()

    def epoch_end(self, run_context):
        """Print how long the epoch took, once everything in it is computed."""
        told = run_context.original_args()
        _wait_for(told.get("net_outputs"))
        milliseconds = (time.time() - self.epoch_time) * 1000
        steps = told.get("batch_num")
        if not (is_integer(steps) and steps > 0):
            steps = self.data_size
        steps = positive_integer(steps, "TimeMonitor: data_size")
        mode = told.get("mode", "").title()
        line = (
            f"{mode} epoch time: {milliseconds:5.3f} ms, "
            f"per step time: {milliseconds / steps:5.3f} ms"
        )
        if self.data_time:
            line += f" (data time: {self.data_time_sum * 1000 / steps:5.3f} ms)"
        print(line, flush=True)


def _wait_for(outputs) -> None:
    """Return when what the last step computed is there."""
    for leaf in tree_leaves(outputs):
        if isinstance(leaf, Tensor):
            leaf.asnumpy()
            return


class History(Callback):
    """Keeps the outputs of the network and the metrics of each epoch in a dictionary.

    Attributes:
        epoch: `{"epoch": [1, 2, ...]}`.
        history: by name (`net_output`, and each metric) a list with one value for each epoch.

    Source: MindSpore's `mindspore.train.History`.

    Example:
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> history = ms.train.History()
        >>> model.train(2, [(ops.ones((1, 1)), ops.zeros((1, 1)))], callbacks=history)
        >>> print(history.epoch, [float(loss) for loss in history.history["net_output"]])
        {'epoch': [1, 2]} [1.0, 0.0]
    """

    def __init__(self):
        super().__init__()
        self.history: dict[str, list] = {}
        self.epoch: Any = None

    def begin(self, run_context):
        """Begin a new list of epochs."""
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context):
        """Keep what this epoch gave."""
        told = run_context.original_args()
        self.epoch["epoch"].append(told.get("cur_epoch_num", 1))
        output = told.net_outputs
        if isinstance(output, (tuple, list)) and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = np.mean(output.asnumpy())
        for name, value in {"net_output": output, **(told.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """A callback made of functions; each is called with a RunContext.

    Args:
        on_train_begin, …: what to call there, or None.

    Source: MindSpore's `mindspore.train.LambdaCallback`.

    Example:
        >>> from mycel.train import LambdaCallback
        >>> callback = LambdaCallback(on_train_end=lambda run_context: print("done"))
        >>> callback.on_train_end(ms.train.RunContext({}))
        done
    """

    def __init__(
        self,
        on_train_epoch_begin=None,
        on_train_epoch_end=None,
        on_train_step_begin=None,
        on_train_step_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_eval_epoch_begin=None,
        on_eval_epoch_end=None,
        on_eval_step_begin=None,
        on_eval_step_end=None,
        on_eval_begin=None,
        on_eval_end=None,
    ):
        super().__init__()
        functions = dict(locals())
        for name in [f"on_{stage}_{point}" for stage in ("train", "eval") for point in POINTS]:
            setattr(self, name, functions[name] or _do_nothing)


def _do_nothing(run_context) -> None:
    """The function of a LambdaCallback that was given none."""
