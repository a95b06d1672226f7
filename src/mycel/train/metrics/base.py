# SPDX-License-Identifier: Apache-2.0
"""Metric: a figure about the outputs of a network, collected batch by batch."""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.missing import tell_nearest
from mycel.kernel.record.tensor import Tensor

EVAL_TYPES = ("classification", "multilabel")
NO_DATA = "{name}.eval: there is no data yet; call update first."
SCORES = (
    "of shape (N, C, …), a score for each of C classes (for one score a sample, as of a sigmoid: "
    "ops.stack((1 - p, p), 1))"
)


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let an `update` take its inputs in the order of `set_indexes`.

    Source: MindSpore's `mindspore.train.rearrange_inputs`.

    Example:
        >>> class Difference(ms.train.Metric):
        ...     def clear(self):
        ...         self.value = 0.0
        ...     @ms.train.rearrange_inputs
        ...     def update(self, *inputs):
        ...         self.value = float(inputs[0] - inputs[1])
        ...     def eval(self):
        ...         return self.value
        >>> Difference().set_indexes([1, 0])(Tensor(1.0), Tensor(3.0))
        2.0
    """

    @functools.wraps(func)
    def wrapper(self, *inputs):
        chosen = self.indexes
        return func(self, *([inputs[i] for i in chosen] if chosen else inputs))

    return wrapper


@tell_nearest
class Metric(metaclass=ABCMeta):
    """The base of metrics: subclasses write `clear`, `update` and `eval`.

    Source: MindSpore's `mindspore.train.Metric`.

    Example:
        >>> class Count(ms.train.Metric):
        ...     def clear(self):
        ...         self.count = 0
        ...     def update(self, *inputs):
        ...         self.count += len(self._convert_data(inputs[0]))
        ...     def eval(self):
        ...         return self.count
        >>> Count()(Tensor([1.0, 2.0]))
        2
    """

    def __init__(self):
        self._indexes = None

    def _convert_data(self, data) -> np.ndarray[Any, Any]:
        """A Tensor, a list or an array as an array.

        Raises:
            TypeError: something else.
        """
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, list):
            return np.array(data)
        if isinstance(data, np.ndarray):
            return data
        what = f"What {type(self).__name__} is given"
        raise wrong(TypeError, what, "a Tensor, a list or a NumPy array", type(data).__name__)

    def _pair(self, inputs) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Prediction and truth as arrays."""
        self._check_count(inputs, 2, "prediction and truth")
        return self._convert_data(inputs[0]), self._convert_data(inputs[1])

    def _check_count(self, inputs, expected: int, what: str) -> None:
        if len(inputs) != expected:
            name = f"{type(self).__name__}.update"
            raise wrong(ValueError, name, f"given {expected} inputs ({what})", len(inputs))

    def _check_begun(self, begun) -> None:
        if not begun:
            raise RuntimeError(NO_DATA.format(name=type(self).__name__))

    @property
    def indexes(self):
        """Which inputs `update` takes, in which order; None takes all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes):
        """Choose which inputs `update` takes, in which order.

        Raises:
            ValueError: the indexes are not a list of integers.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise wrong(ValueError, "set_indexes", "given a list of integers", repr(indexes))
        self._indexes = indexes
        return self

    def __call__(self, *inputs) -> Any:
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self):
        """Forget what was collected."""

    @abstractmethod
    def eval(self) -> Any:
        """The figure for what was collected."""

    @abstractmethod
    def update(self, *inputs):
        """Collect a batch."""


class EvaluationBase(Metric):
    """The base of metrics of classes.

    Args:
        eval_type: 'classification' (a score for each class, and the number of the class), or
            'multilabel' (0 and 1 for each class).

    Raises:
        TypeError: `eval_type` is unknown.

    Example:
        >>> ms.train.Accuracy("regression")
        Traceback (most recent call last):
        TypeError: Accuracy: eval_type must be 'classification' or 'multilabel', but...
    """

    def __init__(self, eval_type):
        super().__init__()
        if eval_type not in EVAL_TYPES:
            what = f"{type(self).__name__}: eval_type"
            raise wrong(TypeError, what, " or ".join(map(repr, EVAL_TYPES)), repr(eval_type))
        self._type = eval_type
        self._class_num = 0

    def _classes(self, inputs) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Checked prediction and truth; one-hot truth as the numbers of classes."""
        y_pred, y = self._pair(inputs)
        if self._type == "classification" and y_pred.ndim == y.ndim and is_onehot(y):
            y = y.argmax(axis=1)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        self._check_class_count(y_pred)
        return y_pred, y

    def _check_class_count(self, y_pred) -> None:
        if self._class_num == 0:
            self._class_num = y_pred.shape[1]
        elif y_pred.shape[1] != self._class_num:
            what = f"The prediction given to {type(self).__name__}"
            expected = f"of {self._class_num} classes, as before"
            raise wrong(ValueError, what, expected, f"one of {y_pred.shape[1]}")

    def _check_shape(self, y_pred, y) -> None:
        what = f"The shape of the truth given to {type(self).__name__}"
        expected = y_pred.shape
        if self._type == "classification":
            if y_pred.ndim < 2:
                what = f"The prediction given to {type(self).__name__}"
                raise wrong(ValueError, what, SCORES, f"of shape {y_pred.shape}")
            expected = y_pred.shape[:1] + y_pred.shape[2:]
        if y.shape != expected:
            raise wrong(ValueError, what, f"{expected} for a prediction of {y_pred.shape}", y.shape)

    def _check_value(self, y_pred, y) -> None:
        if self._type == "multilabel":
            for array in (y_pred, y):
                if not ((array == 0) | (array == 1)).all():
                    what = f"What {type(self).__name__} is given for 'multilabel'"
                    raise wrong(ValueError, what, "0 or 1", "another number")


def is_onehot(data: np.ndarray[Any, Any]) -> bool:
    """Whether each row is 0 but for one 1.

    Example:
        >>> from mycel.train.metrics.base import is_onehot
        >>> is_onehot(np.eye(3)), is_onehot(np.ones((2, 2)))
        (True, False)
    """
    if data.ndim < 2 or not ((data == 0) | (data == 1)).all():
        return False
    return bool((data.sum(axis=1) == 1).all())


def as_onehot(numbers: np.ndarray[Any, Any], classes: int) -> np.ndarray[Any, Any]:
    """Numbers of classes as rows with one 1.

    Example:
        >>> from mycel.train.metrics.base import as_onehot
        >>> print(as_onehot(np.array([1, 0]), 2))
        [[0. 1.]
         [1. 0.]]
    """
    return np.eye(classes)[numbers.reshape(-1)]
