# SPDX-License-Identifier: Apache-2.0
"""Parts of a spectrogram replaced by one value."""

from __future__ import annotations

import numpy as np

from mycel.dataset.audio.operation import (
    SPECTRUM,
    AudioTensorOperation,
    count,
    natural,
    not_negative,
    number,
)
from mycel.dataset.transforms import checks, randomness
from mycel.kernel.base.errors import wrong


class _Masking(AudioTensorOperation):
    form = SPECTRUM

    def _masked(self, array: np.ndarray, axis: int, start: int, width: int, value) -> np.ndarray:
        """A copy with so many rows (axis -2) or columns (axis -1) replaced.

        Raises:
            RuntimeError: there are not so many.
        """
        length = array.shape[axis]
        if start + width > length:
            expected = f"at least {start + width} long on the masked axis"
            raise wrong(RuntimeError, self._input, expected, f"{length}")
        made = array.copy()
        place = slice(start, start + width)
        made[(..., place, slice(None)) if axis == -2 else (..., place)] = value
        return made

    def _drawn(self, array: np.ndarray, axis: int, most: int, value: float) -> np.ndarray:
        """A copy with up to `most` rows or columns replaced, as many and where by chance."""
        length, generator = array.shape[axis], randomness.current()
        if most > length:
            expected = f"at least as long as the mask may be, {most}"
            raise wrong(RuntimeError, self._input, expected, f"{length}")
        width = int(generator.integers(most + 1))
        start = int(generator.integers(length - width + 1))
        return self._masked(array, axis, start, width, value)


def _axis(axis) -> int:
    """The axis from behind: 1 is frequency, 2 is time."""
    return checks.integer(axis, "axis", 1, 2) - 3


class MaskAlongAxis(_Masking):
    """Some frequencies, or some frames, replaced by one value.

    Args:
        mask_start: the first one.
        mask_width: how many, at least 1.
        mask_value: what replaces them.
        axis: 1 for frequencies, 2 for frames.

    Input: (..., freq, time). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or is shorter than the mask reaches.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.MaskAlongAxis(1, 2, 0.0, 2)(np.ones((2, 4)))
        array([[1., 0., 0., 1.],
               [1., 0., 0., 1.]])
    """

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int):
        self.mask_start = natural(mask_start, "mask_start")
        self.mask_width = count(mask_width, "mask_width")
        self.mask_value = number(mask_value, "mask_value")
        self.axis = _axis(axis)

    def _sound(self, array):
        return self._masked(array, self.axis, self.mask_start, self.mask_width, self.mask_value)


class MaskAlongAxisIID(_Masking):
    """Some frequencies, or some frames, chosen by chance and replaced by one value.

    Args:
        mask_param: how many at most.
        mask_value: what replaces them.
        axis: 1 for frequencies, 2 for frames.

    Input: (..., freq, time). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or is shorter than the mask may be.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> masked = audio.MaskAlongAxisIID(3, 0.0, 2)(np.ones((2, 8)))
        >>> bool((masked == 0).sum() <= 6)
        True
    """

    random = True

    def __init__(self, mask_param: int, mask_value: float, axis: int):
        self.mask_param = natural(mask_param, "mask_param")
        self.mask_value = number(mask_value, "mask_value")
        self.axis = _axis(axis)

    def _sound(self, array):
        return self._drawn(array, self.axis, self.mask_param, self.mask_value)


class _AxisMasking(_Masking):
    axis: int

    def _set(self, iid_masks, param, name: str, mask_start, mask_value) -> None:
        self.random = checks.boolean(iid_masks, "iid_masks")
        self.width = natural(param, name)
        self.mask_start = natural(mask_start, "mask_start")
        self.mask_value = not_negative(mask_value, "mask_value")

    def _sound(self, array):
        if self.random:
            return self._drawn(array, self.axis, self.width, self.mask_value)
        return self._masked(array, self.axis, self.mask_start, self.width, self.mask_value)


class FrequencyMasking(_AxisMasking):
    """Some frequencies replaced by one value.

    Args:
        iid_masks: whether how many and which ones are drawn by chance.
        freq_mask_param: how many; at most, if they are drawn.
        mask_start: the first one, if they are not drawn.
        mask_value: what replaces them, at least 0.

    Input: (..., freq, time). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or is shorter than the mask reaches.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.FrequencyMasking(freq_mask_param=1, mask_start=1)(np.ones((3, 2)))
        array([[1., 1.],
               [0., 0.],
               [1., 1.]])
    """

    axis = -2

    def __init__(
        self,
        iid_masks: bool = False,
        freq_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ):
        self._set(iid_masks, freq_mask_param, "freq_mask_param", mask_start, mask_value)


class TimeMasking(_AxisMasking):
    """Some frames replaced by one value.

    Args:
        iid_masks: whether how many and which ones are drawn by chance.
        time_mask_param: how many; at most, if they are drawn.
        mask_start: the first one, if they are not drawn.
        mask_value: what replaces them, at least 0.

    Input: (..., freq, time). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or is shorter than the mask reaches.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.TimeMasking(time_mask_param=2, mask_start=1)(np.ones((2, 4)))
        array([[1., 0., 0., 1.],
               [1., 0., 0., 1.]])
    """

    axis = -1

    def __init__(
        self,
        iid_masks: bool = False,
        time_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ):
        self._set(iid_masks, time_mask_param, "time_mask_param", mask_start, mask_value)
