# SPDX-License-Identifier: Apache-2.0
"""Callback: Python that runs around the steps and epochs of a Model, and what it is given."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor

# Metrics that are better when they are smaller.
SMALLER_IS_BETTER = (
    "hausdorff_distance",
    "mae",
    "mse",
    "loss",
    "perplexity",
    "mean_surface_distance",
    "root_mean_square_distance",
    "eval_loss",
)


class Callback:
    """The base of callbacks: subclasses write the methods they need, each with a RunContext.

    `on_train_begin`, `on_train_epoch_begin`, `on_train_step_begin`, `on_train_step_end`,
    `on_train_epoch_end` and `on_train_end` run in this order; the same with `eval` in evaluation.
    Those of older programs (`begin`, `epoch_begin`, `step_begin`, …) run in both.

    Source: MindSpore's `mindspore.train.Callback`.

    Example:
        >>> class Count(ms.train.Callback):
        ...     steps = 0
        ...     def on_train_step_end(self, run_context):
        ...         self.steps = run_context.original_args().cur_step_num
        >>> net, count = nn.Dense(1, 1), Count()
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
        >>> model.train(2, [(ops.ones((1, 1)), ops.ones((1, 1)))], callbacks=[count])
        >>> count.steps
        2
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def begin(self, run_context):
        """Before the first epoch."""

    def epoch_begin(self, run_context):
        """Before each epoch."""

    def epoch_end(self, run_context):
        """Behind each epoch."""

    def step_begin(self, run_context):
        """Before each step."""

    def step_end(self, run_context):
        """Behind each step."""

    def end(self, run_context):
        """Behind the last epoch."""

    def on_train_begin(self, run_context):
        """Before the first epoch of training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context):
        """Before each epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context):
        """Behind each epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context):
        """Before each step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context):
        """Behind each step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context):
        """Behind the last epoch of training."""
        self.end(run_context)

    def on_eval_begin(self, run_context):
        """Before an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context):
        """Before the data of an evaluation."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context):
        """Behind the data of an evaluation."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context):
        """Before each step of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context):
        """Behind each step of an evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context):
        """Behind an evaluation."""
        self.end(run_context)


class CallbackManager(Callback):
    """Several callbacks as one, entered and left together.

    Args:
        callbacks: a Callback, a list of them, or None.

    Raises:
        TypeError: something else.

    Example:
        >>> from mycel.train.callbacks.base import CallbackManager
        >>> with CallbackManager([ms.train.Callback()]) as callbacks:
        ...     callbacks.on_train_begin(ms.train.RunContext({}))
    """

    def __init__(self, callbacks):
        members = [callbacks] if isinstance(callbacks, Callback) else callbacks or []
        if not isinstance(members, (list, tuple)) or not all(
            isinstance(callback, Callback) for callback in members
        ):
            raise wrong(TypeError, "callbacks", "a Callback or a list of them", repr(callbacks))
        self._callbacks = list(members)
        self._stack: ExitStack | None = None

    def __enter__(self):
        if self._stack is None:
            self._stack = ExitStack()
            entered = [(one, self._stack.enter_context(one)) for one in self._callbacks]
            # Some forget to return themselves.
            self._callbacks = [
                target if isinstance(target, Callback) else one for one, target in entered
            ]
        return self

    def __exit__(self, *error):
        return None if self._stack is None else self._stack.__exit__(*error)


def _for_all(name: str):
    def run(self, run_context):
        for callback in self._callbacks:
            getattr(callback, name)(run_context)

    run.__name__, run.__doc__ = name, f"`{name}` of each."
    return run


POINTS = ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end")
for _name in (*POINTS, *(f"on_{stage}_{point}" for stage in ("train", "eval") for point in POINTS)):
    setattr(CallbackManager, _name, _for_all(_name))


class _Missing(KeyError, AttributeError):
    """Nothing of this name is there: neither as a key nor as an attribute."""


class InternalCallbackParam(dict):
    """What callbacks are told, by key and by attribute.

    Source: MindSpore's `mindspore.train.callback.InternalCallbackParam`.

    Example:
        >>> from mycel.train.callbacks.base import InternalCallbackParam
        >>> told = InternalCallbackParam(cur_step_num=3)
        >>> told.cur_step_num, told["cur_step_num"], hasattr(told, "metrics")
        (3, 3, False)
    """

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise _Missing(key) from None

    def __setattr__(self, key, value):
        self[key] = value


class RunContext:
    """The argument of a callback: the state of the run, and a way to stop it.

    Args:
        original_args: an InternalCallbackParam or another dictionary.

    Raises:
        TypeError: the argument is not a dictionary.

    Source: MindSpore's `mindspore.train.RunContext`.

    Example:
        >>> context = ms.train.RunContext({"cur_step_num": 1})
        >>> context.request_stop()
        >>> context.get_stop_requested(), context.original_args()
        (True, {'cur_step_num': 1})
    """

    def __init__(self, original_args):
        if not isinstance(original_args, dict):
            actual = type(original_args).__name__
            raise wrong(TypeError, "RunContext: original_args", "a dictionary", actual)
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self):
        """What callbacks are told: `cur_epoch_num`, `cur_step_num`, `batch_num`, `net_outputs`,
        `network`, `train_network`, `optimizer`, `loss_fn`, and more."""
        return self._original_args

    def request_stop(self) -> None:
        """Stop after this step, or this epoch."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether some callback asked to stop."""
        return self._stop_requested


def handle_loss(loss: Any) -> Any:
    """The loss out of what a step returned: the mean of a Tensor as a number, or the first Tensor
    of a tuple.

    Source: MindSpore's `mindspore.train.callback._callback._handle_loss`.

    Example:
        >>> from mycel.train.callbacks.base import handle_loss
        >>> handle_loss(Tensor([1.0, 2.0])), handle_loss((Tensor(3.0), Tensor(False)))
        (1.5, Tensor(shape=[], dtype=Float32, value= 3))
    """
    if isinstance(loss, (tuple, list)):
        return loss[0] if loss and isinstance(loss[0], Tensor) else loss
    return float(np.mean(loss.asnumpy())) if isinstance(loss, Tensor) else loss
