# SPDX-License-Identifier: Apache-2.0
"""Where a network looks: how its answer changes when a part of the image is covered."""

from __future__ import annotations

import itertools

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import is_integer
from mycel.train.metrics.base import Metric, rearrange_inputs


class OcclusionSensitivity(Metric):
    """How much the score of a class falls when the surroundings of each element are covered.

    Args:
        pad_val: what the covered part is filled with.
        margin: how far around an element is covered.
        n_batch: how many covered images the network is given at once.
        b_box: the first and last element of each dimension that is looked at; None looks at all,
            -1 means the border.

    Raises:
        TypeError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.OcclusionSensitivity`.

    Example:
        >>> network = nn.Dense(3, 1, Tensor([[1.0, 2.0, 3.0]]), has_bias=False)
        >>> metric = ms.train.OcclusionSensitivity(margin=1, n_batch=2)
        >>> metric.update(network, Tensor([[1.0, 1.0, 1.0]]), Tensor([0]))
        >>> print(metric.eval())
        [1. 3. 5.]
    """

    def __init__(self, pad_val=0.0, margin=2, n_batch=128, b_box=None):
        super().__init__()
        name = type(self).__name__
        if not isinstance(pad_val, float):
            raise wrong(TypeError, f"{name}: pad_val", "a float", repr(pad_val))
        if not is_integer(margin):
            raise wrong(TypeError, f"{name}: margin", "an integer", repr(margin))
        if not is_integer(n_batch):
            raise wrong(TypeError, f"{name}: n_batch", "an integer", repr(n_batch))
        if b_box is not None and not isinstance(b_box, list):
            raise wrong(TypeError, f"{name}: b_box", "a list or None", repr(b_box))
        self.pad_val, self.margin, self.n_batch, self.b_box = pad_val, margin, n_batch, b_box
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._baseline = 0.0
        self._scores = np.zeros(0)
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        """Take a network, an image of shape (1, ...) and the number of a class.

        Raises:
            ValueError: there are not three inputs, or the box does not fit.
            TypeError: the argument is not a Cell.
            RuntimeError: there are several images or labels.
        """
        self._check_count(inputs, 3, "a network, an image and a label")
        network, image = inputs[0], self._convert_data(inputs[1])
        if not isinstance(network, Cell):
            what = f"What {type(self).__name__} looks into"
            raise wrong(TypeError, what, "a Cell", type(network).__name__)
        label = np.atleast_1d(inputs[2] if is_integer(inputs[2]) else self._convert_data(inputs[2]))
        if image.shape[0] != 1 or label.size != 1:
            actual = f"{image.shape[0]} and {label.size}"
            raise wrong(RuntimeError, "Images and labels", "one of each", actual)
        number = int(label.reshape(-1)[0])
        box = self._box(image.shape[1:])
        self._baseline = network(Tensor(image)).asnumpy()[0, number]
        scores = []
        covered = (self._covered(image, place) for place in itertools.product(*box))
        while batch := list(itertools.islice(covered, self.n_batch)):
            scores.append(network(Tensor(np.concatenate(batch))).asnumpy()[:, number])
        self._scores = np.concatenate(scores).reshape([len(axis) for axis in box])
        self._is_update = True

    def _box(self, shape) -> list[range]:
        """Which elements of each dimension are looked at."""
        bounds = self.b_box or [0, -1] * len(shape)
        if len(bounds) != 2 * len(shape):
            expected = f"{2 * len(shape)} numbers for {len(shape)} dimensions"
            raise wrong(ValueError, "OcclusionSensitivity: b_box", expected, len(bounds))
        ranges = []
        for length, low, high in zip(shape, bounds[::2], bounds[1::2], strict=True):
            low, high = max(low, 0), length - 1 if high < 0 else high
            if high >= length or low > high:
                expected = f"rising, and below {length}"
                raise wrong(ValueError, "OcclusionSensitivity: b_box", expected, (low, high))
            ranges.append(range(low, high + 1))
        return ranges

    def _covered(self, image, place) -> np.ndarray:
        covered = image.copy()
        around = [slice(max(0, at - self.margin), at + self.margin) for at in place]
        covered[(slice(None), *around)] = self.pad_val
        return covered

    def eval(self) -> np.ndarray:
        """By how much the score fell, for each element.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._is_update)
        return self._baseline - np.squeeze(self._scores)
