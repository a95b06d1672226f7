# SPDX-License-Identifier: Apache-2.0
"""Metrics of likeness: of rows, of masks, of texts."""

from __future__ import annotations

from collections import Counter

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import boolean, is_integer, one_of
from mycel.train.metrics.base import Metric, rearrange_inputs


class CosineSimilarity(Metric):
    """How alike the rows of a matrix are, each with each.

    Args:
        similarity: 'cosine' or 'dot'.
        reduction: 'none', 'sum' or 'mean' of each row.
        zero_diagonal: whether a row's likeness with itself is 0.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.CosineSimilarity`.

    Example:
        >>> print(ms.train.CosineSimilarity()(Tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])))
        [[0. 1. 0.]
         [1. 0. 0.]
         [0. 0. 0.]]
    """

    def __init__(self, similarity="cosine", reduction="none", zero_diagonal=True):
        super().__init__()
        name = type(self).__name__
        self.similarity = one_of(similarity, f"{name}: similarity", ("dot", "cosine"))
        self.reduction = one_of(reduction, f"{name}: reduction", ("none", "sum", "mean"))
        self.zero_diagonal = boolean(zero_diagonal, f"{name}: zero_diagonal")
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self.sqr_mtx_res = np.zeros((0, 0))
        self._is_update = False

    @rearrange_inputs
    def update(self, inputs):
        """Take a matrix; what was there goes."""
        rows = self._convert_data(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.sqr_mtx_res = rows @ rows.T
        self._is_update = True

    def eval(self):
        """The matrix, or one number for each row.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._is_update)
        similarity = self.sqr_mtx_res.copy()
        if self.zero_diagonal:
            np.fill_diagonal(similarity, 0)
        if self.reduction == "none":
            return similarity
        return similarity.mean(axis=-1) if self.reduction == "mean" else similarity.sum(axis=-1)


class Dice(Metric):
    """The Dice coefficient of masks: 2 · common / (own + own), over the samples.

    Args:
        smooth: added to what is divided by; above 0.

    Raises:
        ValueError: not above 0.

    Source: MindSpore's `mindspore.train.Dice`.

    Example:
        >>> print(round(ms.train.Dice()(Tensor([[1, 0], [1, 1]]), Tensor([[1, 0], [0, 1]])), 4))
        0.4
    """

    def __init__(self, smooth=1e-5):
        super().__init__()
        if not isinstance(smooth, float) or smooth <= 0:
            kind = ValueError if isinstance(smooth, float) else TypeError
            raise wrong(kind, "Dice: smooth", "a float above 0", repr(smooth))
        self.smooth = smooth
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._dice_coeff_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect prediction and truth of the same shape.

        Raises:
            ValueError: there are not two inputs, or their shapes do not fit together.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.shape != y.shape:
            expected = f"of the shape {y.shape} of the truth"
            raise wrong(ValueError, "The prediction of Dice", expected, y_pred.shape)
        flat, truth = y_pred.flatten(), y.flatten()
        own = float(flat @ flat + truth @ truth)
        self._dice_coeff_sum += 2 * float(flat @ truth) / (own + self.smooth)
        self._samples_num += y.shape[0]

    def eval(self):
        """The sum of the coefficients of the batches, divided by the number of rows.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._samples_num)
        return self._dice_coeff_sum / float(self._samples_num)


class BleuScore(Metric):
    """How much of a translation is in its references: n-grams in common, by their mean.

    Args:
        n_gram: the longest n-gram, 1 to 4.
        smooth: whether 1 is added to the counts.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.BleuScore`.

    Example:
        >>> translation = [["the", "cat", "is", "on", "the", "mat"]]
        >>> references = [[["there", "is", "a", "cat", "on", "the", "mat"]]]
        >>> print(round(float(ms.train.BleuScore(n_gram=2)(translation, references)), 3))
        0.489
    """

    def __init__(self, n_gram=4, smooth=False):
        super().__init__()
        if not is_integer(n_gram):
            raise wrong(TypeError, "BleuScore: n_gram", "an integer from 1 to 4", repr(n_gram))
        if not 1 <= n_gram <= 4:
            raise wrong(ValueError, "BleuScore: n_gram", "an integer from 1 to 4", n_gram)
        self.n_gram = n_gram
        self.smooth = boolean(smooth, "BleuScore: smooth")
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._numerator = np.zeros(self.n_gram)
        self._denominator = np.zeros(self.n_gram)
        self._length = self._reference_length = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        """Collect translations, and for each a list of references; all are lists of words.

        Raises:
            ValueError: there are not two inputs, or their lengths differ.
        """
        self._check_count(inputs, 2, "translations and references")
        translations, references = inputs
        if len(translations) != len(references):
            expected = f"{len(translations)}, one for each translation"
            raise wrong(ValueError, "The references of BleuScore", expected, len(references))
        for translation, known in zip(translations, references, strict=True):
            self._length += len(translation)
            lengths = [len(reference) for reference in known]
            self._reference_length += min(lengths, key=lambda n: abs(len(translation) - n))
            most: Counter = Counter()
            for reference in known:
                most |= self._grams(reference)
            grams = self._grams(translation)
            for gram, number in grams.items():
                self._denominator[len(gram) - 1] += number
                self._numerator[len(gram) - 1] += min(number, most[gram])
        self._is_update = True

    def _grams(self, words) -> Counter:
        lengths = range(1, self.n_gram + 1)
        return Counter(tuple(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1))

    def eval(self) -> np.ndarray:
        """The score.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._is_update)
        if self._numerator.min() == 0.0:
            return np.array(0.0)
        more = float(self.smooth)
        precision = (self._numerator + more) / (self._denominator + more)
        mean = np.exp(np.log(precision).sum() / self.n_gram)
        if self._length > self._reference_length:
            return np.array(mean)
        return np.exp(1 - self._reference_length / self._length) * mean
