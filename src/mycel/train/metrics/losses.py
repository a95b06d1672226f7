# SPDX-License-Identifier: Apache-2.0
"""Metrics of errors: the loss itself, mean errors, perplexity."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import is_integer
from mycel.train.metrics.base import Metric, rearrange_inputs


class Loss(Metric):
    """The mean of the loss over all batches.

    Source: MindSpore's `mindspore.train.Loss`.

    Example:
        >>> loss = ms.train.Loss()
        >>> loss.update(Tensor(1.0)), loss.update(Tensor(2.0))
        (None, None)
        >>> print(loss.eval())
        1.5
    """

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._sum_loss = 0.0
        self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect a loss: a Tensor of no or one dimension.

        Raises:
            ValueError: there are several inputs, or the loss has more dimensions.
        """
        self._check_count(inputs, 1, "the loss")
        loss = np.atleast_1d(self._convert_data(inputs[0]))
        if loss.ndim != 1:
            raise wrong(ValueError, "The loss", "of no or one dimension", f"shape {loss.shape}")
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self):
        """The mean.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._total_num)
        return self._sum_loss / self._total_num


class _MeanError(Metric):
    """The sum of some error of each element, divided by the number of rows."""

    _errors: Callable

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._error_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect prediction and truth.

        Raises:
            ValueError: there are not two inputs, or their sizes differ.
        """
        y_pred, y = self._pair(inputs)
        self._error_sum += float(self._errors(y.reshape(y_pred.shape) - y_pred).sum())
        self._samples_num += y.shape[0]

    def eval(self):
        """The sum of the errors divided by the number of rows.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._samples_num)
        return self._error_sum / self._samples_num


class MAE(_MeanError):
    """The sum of the absolute errors, divided by the number of rows.

    Source: MindSpore's `mindspore.train.MAE`.

    Example:
        >>> print(ms.train.MAE()(Tensor([1.0, 2.0]), Tensor([1.0, 5.0])))
        1.5
    """

    _errors = staticmethod(np.abs)


class MSE(_MeanError):
    """The sum of the squared errors, divided by the number of rows.

    Source: MindSpore's `mindspore.train.MSE`.

    Example:
        >>> print(ms.train.MSE()(Tensor([1.0, 2.0]), Tensor([1.0, 5.0])))
        4.5
    """

    _errors = staticmethod(np.square)


class Perplexity(Metric):
    """The exponential of the mean of -log p, where p is what the true words were given.

    Args:
        ignore_label: a word that does not count; None counts all.

    Raises:
        TypeError: not an integer.

    Source: MindSpore's `mindspore.train.Perplexity`.

    Example:
        >>> words = Tensor([[0.25, 0.75], [0.5, 0.5]])
        >>> print(round(ms.train.Perplexity()(words, Tensor([0, 1])), 6))
        2.828427
    """

    def __init__(self, ignore_label=None):
        super().__init__()
        if ignore_label is not None and not is_integer(ignore_label):
            what = "Perplexity: ignore_label"
            raise wrong(TypeError, what, "an integer or None", repr(ignore_label))
        self.ignore_label = ignore_label
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._sum_metric = 0.0
        self._num_inst = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect probabilities of shape (words, vocabulary), and the true words.

        Raises:
            ValueError: there are not two inputs.
            RuntimeError: the number of words differs.
        """
        probabilities, words = self._pair(inputs)
        words = words.reshape(-1)
        probabilities = probabilities.reshape(-1, probabilities.shape[-1])
        if words.size != len(probabilities):
            expected = f"one for each row of a prediction of shape {probabilities.shape}"
            raise wrong(RuntimeError, "The labels of Perplexity", expected, words.size)
        chances = probabilities[np.arange(words.size), words.astype(int)]
        counts = words != self.ignore_label if self.ignore_label is not None else words == words
        self._sum_metric -= np.log(np.maximum(1e-10, chances[counts])).sum()
        self._num_inst += int(counts.sum())

    def eval(self) -> float:
        """The perplexity.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._num_inst)
        return math.exp(self._sum_metric / self._num_inst)
