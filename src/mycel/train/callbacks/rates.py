# SPDX-License-Identifier: Apache-2.0
"""Callbacks that follow a quantity: they change the learning rate, or stop the training."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel import ops
from mycel.kernel.base import processes
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.checks import boolean, is_number, one_of
from mycel.parallel.context import is_in_data_parallel_mode
from mycel.train.callbacks.base import SMALLER_IS_BETTER, Callback, handle_loss
from mycel.train.callbacks.monitors import count

NOT_THERE = "{name} follows {monitor!r}, which is not there; there is {known}."
FIXED_RATE = "a fixed learning rate, the same for all Parameters,"


def number_of(value, what: str) -> float:
    """The value, if it is a number.

    Raises:
        TypeError: the value is not a number.
    """
    if not is_number(value):
        raise wrong(TypeError, what, "a number", f"{type(value).__name__} {value!r}")
    return value


def _rate_of(optimizer, name: str) -> Parameter:
    rate = getattr(optimizer, "learning_rate", None)
    if not isinstance(rate, Parameter):
        actual = "one that changes by itself, or one for each group"
        raise wrong(ValueError, f"The optimiser for {name}", FIXED_RATE, actual)
    return rate


class LearningRateScheduler(Callback):
    """Sets the learning rate after each step.

    Args:
        learning_rate_function: called with the rate and the number of the step, gives the next.

    Source: MindSpore's `mindspore.train.LearningRateScheduler`.

    Example:
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> optimizer = nn.SGD(net.trainable_params(), 0.5)
        >>> model = ms.Model(net, nn.MSELoss(), optimizer)
        >>> halved = ms.train.LearningRateScheduler(lambda rate, step: rate / 2)
        >>> model.train(2, [(ops.ones((1, 1)), ops.zeros((1, 1)))], callbacks=halved)
        >>> print(optimizer.learning_rate.asnumpy())
        0.125
    """

    def __init__(self, learning_rate_function):
        super().__init__()
        if not callable(learning_rate_function):
            what = "LearningRateScheduler: learning_rate_function"
            raise wrong(TypeError, what, "a function", repr(learning_rate_function))
        self.learning_rate_function: Callable[..., Any] = learning_rate_function

    def step_end(self, run_context):
        """Set the rate of the next step."""
        told = run_context.original_args()
        rate = _rate_of(told.optimizer, type(self).__name__)
        # The shortest number that is this rate in Float32: 0.1, not 0.10000000149.
        present = float(str(rate.asnumpy()))
        following = self.learning_rate_function(present, told.cur_step_num)
        if not isinstance(following, (Tensor, np.number)) and not is_number(following):
            what = "What the function of LearningRateScheduler returns"
            raise wrong(TypeError, what, "a number, the next rate", repr(following))
        if not math.isclose(present, following, rel_tol=1e-10):
            ops.assign(rate, Tensor(following, float32))


class Monitoring(Callback):
    """What the callbacks share that follow a quantity: its present value, and whether it is better.

    Args:
        monitor: 'loss', 'eval_loss' or the name of a metric; the last two need `Model.fit`.
        min_delta: what counts as better.
        mode: 'min', 'max', or 'auto', which knows the metrics that are better when smaller.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Example:
        >>> from mycel.train.callbacks.rates import Monitoring
        >>> Monitoring("eval_loss", 0, "auto").is_improvement(0.1, 0.2)
        True
    """

    def __init__(self, monitor, min_delta, mode):
        super().__init__()
        name = type(self).__name__
        if not isinstance(monitor, str):
            raise wrong(TypeError, f"{name}: monitor", "a string", repr(monitor))
        self.monitor = monitor
        self.min_delta = abs(number_of(min_delta, f"{name}: min_delta"))
        self.mode = one_of(mode, f"{name}: mode", ("auto", "min", "max"))
        self.best = self._worst()

    def _falls(self) -> bool:
        return self.mode == "min" or (self.mode == "auto" and self.monitor in SMALLER_IS_BETTER)

    def _worst(self) -> float:
        return np.inf if self._falls() else -np.inf

    def is_improvement(self, value, best) -> bool:
        """Whether a value is better than another by more than `min_delta`."""
        if self._falls():
            return bool(value < best - self.min_delta)
        return bool(value > best + self.min_delta)

    def monitored(self, told) -> np.ndarray | None:
        """The present value; None, and a warning, if it is not there."""
        results = told.get("eval_results", {})
        if self.monitor == "loss":
            value = handle_loss(told.get("net_outputs"))
        else:
            value = results.get(self.monitor)
        if value is None:
            known = ", ".join(map(repr, ["loss", *results]))
            name = type(self).__name__
            text = NOT_THERE.format(name=name, monitor=self.monitor, known=known)
            warnings.warn(text, stacklevel=2)
            return None
        value = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if value.shape != ():
            what = f"What {type(self).__name__} follows"
            raise wrong(ValueError, what, "a single number", f"an array of shape {value.shape}")
        return value


class _Waiting(Monitoring):
    """What the callbacks share that wait for a quantity to get better.

    In data_parallel mode they follow the mean over the processes, so that all decide the same.
    """

    def __init__(self, monitor, min_delta, patience, verbose, mode):
        super().__init__(monitor, min_delta, mode)
        name = type(self).__name__
        self.patience = count(patience, f"{name}: patience")
        self.verbose = boolean(verbose, f"{name}: verbose")
        self.wait = 0

    def monitored(self, told) -> np.ndarray | None:
        """The present value, or the mean of those of the processes; None, and a warning, if it is
        not there."""
        value = super().monitored(told)
        if value is None or processes.count() == 1 or not is_in_data_parallel_mode():
            return value
        total = ops.AllReduce(ops.ReduceOp.SUM)(Tensor(value.astype(np.float32)))
        return total.asnumpy() / processes.count()


class EarlyStopping(_Waiting):
    """Stops a training whose monitored quantity does not get better any more.

    Args:
        monitor: 'loss', 'eval_loss' or the name of a metric; the last two need `Model.fit`.
        min_delta: what counts as better.
        patience: how many epochs may pass without.
        verbose: print when it stops.
        mode: 'min', 'max', or 'auto', which knows the metrics that are better when smaller.
        baseline: the quantity must also be better than this.
        restore_best_weights: give the network the weights of the best epoch when it stops.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.EarlyStopping`.

    Example:
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.0))
        >>> stop = ms.train.EarlyStopping("loss", patience=2, verbose=True)
        >>> model.train(9, [(ops.ones((1, 1)), ops.zeros((1, 1)))], callbacks=stop)
        Epoch 00003: early stopping
    """

    def __init__(
        self,
        monitor="eval_loss",
        min_delta=0,
        patience=0,
        verbose=False,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
    ):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        self.baseline = None if baseline is None else number_of(baseline, "EarlyStopping: baseline")
        self.restore_best_weights = boolean(
            restore_best_weights, "EarlyStopping: restore_best_weights"
        )
        self.stopped_epoch = 0
        self.best_weights_param_dict: dict | None = None

    def on_train_begin(self, run_context):
        """Begin anew."""
        self.wait = self.stopped_epoch = 0
        self.best = self._worst()
        self.best_weights_param_dict = None

    def on_train_epoch_end(self, run_context):
        """Look at the quantity, and ask to stop if it waits too long."""
        told = run_context.original_args()
        value = self.monitored(told)
        if value is None:
            return
        better = self.is_improvement(value, self.best)
        if self.restore_best_weights and (better or self.best_weights_param_dict is None):
            self.best_weights_param_dict = {
                name: parameter.value()
                for name, parameter in told.train_network.parameters_dict().items()
            }
        self.wait += 1
        if better:
            self.best = value
            if self.baseline is None or self.is_improvement(value, self.baseline):
                self.wait = 0
        if self.wait >= self.patience:
            self.stopped_epoch = told.cur_epoch_num
            run_context.request_stop()
            self._restore(told.train_network)

    def _restore(self, network) -> None:
        kept = self.best_weights_param_dict
        if not self.restore_best_weights or kept is None:
            return
        if self.verbose:
            print("Restoring model weights from the end of the best epoch.")
        for name, parameter in network.parameters_dict().items():
            update(parameter, kept[name])

    def on_train_end(self, run_context):
        """Tell that it stopped."""
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")


class ReduceLROnPlateau(_Waiting):
    """Makes the learning rate smaller when the monitored quantity does not get better any more.

    Args:
        monitor: 'loss', 'eval_loss' or the name of a metric; the last two need `Model.fit`.
        factor: what the rate is multiplied by, between 0 and 1.
        patience: how many epochs may pass without getting better.
        verbose: print each new rate.
        mode: 'min', 'max', or 'auto', which knows the metrics that are better when smaller.
        min_delta: what counts as better.
        cooldown: how many epochs pass after a change before it counts again.
        min_lr: the rate never gets smaller than this.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.ReduceLROnPlateau`.

    Example:
        >>> net = nn.Dense(1, 1, "zeros", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.5))
        >>> plateau = ms.train.ReduceLROnPlateau("loss", factor=0.5, patience=1, verbose=True)
        >>> model.train(2, [(ops.zeros((1, 1)), ops.zeros((1, 1)))], callbacks=plateau)
        Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.25.
    """

    def __init__(
        self,
        monitor="eval_loss",
        factor=0.1,
        patience=10,
        verbose=False,
        mode="auto",
        min_delta=1e-4,
        cooldown=0,
        min_lr=0,
    ):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        name = type(self).__name__
        if not isinstance(factor, float) or not 0 < factor < 1:
            kind = ValueError if is_number(factor) else TypeError
            raise wrong(kind, f"{name}: factor", "a float between 0 and 1", repr(factor))
        self.factor = factor
        self.cooldown = count(cooldown, f"{name}: cooldown")
        self.min_lr = number_of(min_lr, f"{name}: min_lr")
        self.cooldown_counter = 0

    def on_train_begin(self, run_context):
        """Begin anew."""
        self.cooldown_counter = self.wait = 0
        self.best = self._worst()

    def on_train_epoch_end(self, run_context):
        """Look at the quantity, and change the rate if it waits too long.

        Raises:
            ValueError: the optimiser's rate changes by itself, or differs among groups.
        """
        told = run_context.original_args()
        rate = _rate_of(told.optimizer, type(self).__name__)
        value = self.monitored(told)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(value, self.best):
            self.best = value
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(rate, told.cur_epoch_num)
                self.cooldown_counter = self.cooldown
                self.wait = 0

    def _reduce(self, rate: Parameter, epoch: int) -> None:
        present = rate.asnumpy()
        if not present > np.float32(self.min_lr):
            return
        reduced = max(present * np.float32(self.factor), np.float32(self.min_lr))
        ops.assign(rate, Tensor(reduced, float32))
        if self.verbose:
            print(f"Epoch {epoch:05d}: ReduceLROnPlateau reducing learning rate to {reduced!s}.")
