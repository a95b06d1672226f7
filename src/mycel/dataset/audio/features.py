# SPDX-License-Identifier: Apache-2.0
"""What is computed of spectrograms: decibels, mel bands and back, differences, means."""

from __future__ import annotations

import numpy as np

from mycel.dataset.audio import banks, frames
from mycel.dataset.audio.names import (
    BorderType,
    MelType,
    NormType,
    ScaleType,
)
from mycel.dataset.audio.operation import (
    PAIRS,
    SPECTRUM,
    AudioTensorOperation,
    count,
    natural,
    not_negative,
    number,
    positive,
)
from mycel.dataset.transforms import checks, randomness
from mycel.kernel.base.errors import wrong


def decibels(
    array: np.ndarray, multiplier: float, ref_value: float, amin: float, top_db: float
) -> np.ndarray:
    """Decibels of powers (a multiplier of 10) or magnitudes (20), not below the peak by more.

    Args:
        array: (..., freq, time); the peak is that of the last three dimensions.
        ref_value: what 0 dB are.
        amin: what is lower counts as this.
        top_db: how far below the peak values may be.
    """
    made = multiplier * np.log10(np.maximum(array, amin) / max(amin, ref_value))
    peak = made.max(tuple(range(-min(3, made.ndim), 0)), keepdims=True)
    return np.maximum(made, peak - top_db)


class AmplitudeToDB(AudioTensorOperation):
    """Powers or magnitudes as decibels.

    Args:
        stype: which of the two they are, a `ScaleType`.
        ref_value: what 0 dB are.
        amin: what is lower counts as this.
        top_db: values lie at most this far below the highest one.

    Input: (..., freq, time); the highest value is that of the last three dimensions.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.AmplitudeToDB()(np.array([[1.0, 10.0, 0.0]]))
        array([[  0.,  10., -70.]])
    """

    form = SPECTRUM

    def __init__(
        self,
        stype: ScaleType = ScaleType.POWER,
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float = 80.0,
    ):
        scale = checks.enumeration(stype, ScaleType, "stype")
        self.multiplier = 10.0 if scale is ScaleType.POWER else 20.0
        self.ref_value = positive(ref_value, "ref_value")
        self.amin = positive(amin, "amin")
        self.top_db = positive(top_db, "top_db")

    def _sound(self, array):
        return decibels(array, self.multiplier, self.ref_value, self.amin, self.top_db)


class DBToAmplitude(AudioTensorOperation):
    """Decibels as powers or magnitudes.

    Args:
        ref: what 0 dB are.
        power: 1 gives powers, 0.5 magnitudes.

    Input: any shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.DBToAmplitude(1.0, 0.5)(np.array([0.0, 20.0]))
        array([ 1., 10.])
    """

    def __init__(self, ref: float, power: float):
        self.ref, self.power = number(ref, "ref"), number(power, "power")

    def _sound(self, array):
        return self.ref * 10 ** (0.1 * array * self.power)


class ComplexNorm(AudioTensorOperation):
    """Magnitudes of complex numbers, to a power.

    Args:
        power: 1 gives magnitudes, 2 powers.

    Input: (..., 2), real and imaginary parts. Output: (...).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.ComplexNorm()(np.array([[3.0, 4.0]]))
        array([5.])
    """

    form = PAIRS

    def __init__(self, power: float = 1.0):
        self.power = not_negative(power, "power")

    def _sound(self, array):
        return np.hypot(array[..., 0], array[..., 1]) ** self.power


class Angle(AudioTensorOperation):
    """The angles of complex numbers, from minus pi to pi.

    Input: (..., 2), real and imaginary parts. Output: (...).

    Raises:
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Angle()(np.array([[0.0, 4.0], [1.0, 0.0]]))
        array([1.57079633, 0.        ])
    """

    form = PAIRS

    def _sound(self, array):
        return np.arctan2(array[..., 1], array[..., 0])


class Magphase(AudioTensorOperation):
    """Magnitudes of complex numbers, to a power, and their angles: two columns.

    Args:
        power: 1 gives magnitudes, 2 powers.

    Input: (..., 2), real and imaginary parts. Output: twice (...).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Magphase()(np.array([[0.0, 4.0]]))
        (array([4.]), array([1.57079633]))
    """

    form = PAIRS

    def __init__(self, power: float = 1.0):
        self.power = not_negative(power, "power")

    def _sound(self, array):
        return ComplexNorm(self.power)._sound(array), Angle()._sound(array)


class ComputeDeltas(AudioTensorOperation):
    """How fast each coefficient changes: the slope of a line through the frames around.

    Args:
        win_length: how many frames count, at least 3; an even one counts as one less.
        pad_mode: what stands beyond the ends, a `BorderType`.

    Input: (..., freq, time). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.ComputeDeltas(3)(np.array([[0.0, 1.0, 2.0, 3.0]]))
        array([[0.5, 1. , 1. , 0.5]])
    """

    form = SPECTRUM

    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE):
        self.win_length = checks.integer(win_length, "win_length", 3)
        self.pad_mode = checks.enumeration(pad_mode, BorderType, "pad_mode")

    def _sound(self, array):
        reach = (self.win_length - 1) // 2
        weights = np.arange(-reach, reach + 1)
        beyond = frames.padded(array, reach, self.pad_mode, self._input)
        around = np.lib.stride_tricks.sliding_window_view(beyond, len(weights), -1)
        return around @ weights / (weights**2).sum()


class SlidingWindowCmn(AudioTensorOperation):
    """Coefficients less their mean over the frames around, and divided by their deviation.

    Args:
        cmn_window: how many frames count.
        min_cmn_window: how many count at the beginning, where the window ends at the frame.
        center: whether the frame is in the middle of the window, not at its end.
        norm_vars: whether values are divided by their deviation.

    Input: (..., time, coefficients). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.SlidingWindowCmn(2, 1)(np.array([[1.0], [3.0], [8.0]])).ravel()
        array([0., 1., 4.])
    """

    form = SPECTRUM

    def __init__(
        self,
        cmn_window: int = 600,
        min_cmn_window: int = 100,
        center: bool = False,
        norm_vars: bool = False,
    ):
        self.cmn_window = natural(cmn_window, "cmn_window")
        self.min_cmn_window = natural(min_cmn_window, "min_cmn_window")
        self.center = checks.boolean(center, "center")
        self.norm_vars = checks.boolean(norm_vars, "norm_vars")

    def _sound(self, array):
        made = np.empty_like(array)
        for frame in range(array.shape[-2]):
            part = array[..., slice(*self._around(frame, array.shape[-2])), :]
            own = array[..., frame, :] - part.mean(-2)
            if self.norm_vars:
                # One frame alone has no deviation; its difference is 0.
                own = own / part.std(-2) if part.shape[-2] > 1 else np.zeros_like(own)
            made[..., frame, :] = own
        return made

    def _around(self, frame: int, frames_: int) -> tuple[int, int]:
        """The first frame that counts, and the one behind the last."""
        if self.center:
            start = frame - self.cmn_window // 2
            end = start + self.cmn_window
        else:
            start, end = frame - self.cmn_window, frame + 1
        if start < 0:
            end, start = end - start, 0
        if not self.center and end > frame:
            end = max(frame + 1, self.min_cmn_window)
        if end > frames_:
            start, end = max(start - (end - frames_), 0), frames_
        return start, end


class MelScale(AudioTensorOperation):
    """A spectrogram with its frequencies gathered into mel bands.

    Args:
        n_mels: how many bands.
        sample_rate: samples in a second.
        f_min, f_max: where the first band begins and the last one ends, in Hz; None means half the
            sample rate.
        n_stft: how many frequencies the spectrogram has.
        norm: whether all bands have one area, a `NormType`.
        mel_type: which mel scale, a `MelType`.

    Input: (..., n_stft, time). Output: (..., n_mels, time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or another number of frequencies.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.MelScale(n_mels=4, n_stft=9)(np.ones((9, 2), np.float32)).shape
        (4, 2)
    """

    form = SPECTRUM

    def __init__(
        self,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        n_stft: int = 201,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ):
        count(n_mels, "n_mels")
        count(sample_rate, "sample_rate")
        number(f_min, "f_min")
        f_max = upper_end(f_min, f_max, sample_rate, strictly=True)
        count(n_stft, "n_stft")
        checks.enumeration(norm, NormType, "norm")
        checks.enumeration(mel_type, MelType, "mel_type")
        self.bands = banks.mel_bands(n_stft, f_min, f_max, n_mels, sample_rate, norm, mel_type)

    def _sound(self, array):
        return gathered(self.bands, array, self._input)


def upper_end(f_min: float, f_max: float | None, sample_rate: int, strictly: bool = False) -> float:
    """Where the last band ends.

    Raises:
        ValueError: it ends before the first one begins.
    """
    if f_max is None:
        if f_min >= sample_rate // 2:
            expected = f"below sample_rate // 2 = {sample_rate // 2}"
            raise wrong(ValueError, "f_min", expected, repr(f_min))
        return sample_rate // 2
    positive(f_max, "f_max")
    if f_min > f_max or (strictly and f_min == f_max):
        expected = f"{'above' if strictly else 'at least'} f_min={f_min}"
        raise wrong(ValueError, "f_max", expected, repr(f_max))
    return f_max


def gathered(bands: np.ndarray, array: np.ndarray, what: str) -> np.ndarray:
    """Bands of a spectrogram (..., freq, time)."""
    if array.shape[-2] != len(bands):
        expected = f"of {len(bands)} frequencies"
        raise wrong(RuntimeError, what, expected, f"{array.shape[-2]}")
    return bands.T @ array


class InverseMelScale(AudioTensorOperation):
    """A spectrogram whose mel bands are the given ones, found by gradient descent.

    Args:
        n_stft: how many frequencies the spectrogram has.
        n_mels: how many bands.
        sample_rate: samples in a second.
        f_min, f_max: where the first band begins and the last one ends, in Hz; None means half the
            sample rate.
        max_iter: how many steps at most.
        tolerance_loss: the loss at which it ends.
        tolerance_change: the change of the loss at which it ends.
        sgdargs: `sgd_lr`, the learning rate, and `sgd_momentum`; 0.1 and 0.9 by default.
        norm: whether all bands have one area, a `NormType`.
        mel_type: which mel scale, a `MelType`.

    Input: (..., n_mels, time). Output: (..., n_stft, time); as in MindSpore, (1, n_stft, time) for
    one of (n_mels, time). It begins at random values.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or another number of bands.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> bands = audio.MelScale(2, 8000, n_stft=5)(np.ones((5, 1), np.float32))
        >>> back = audio.InverseMelScale(5, 2, 8000)(bands)
        >>> np.allclose(audio.MelScale(2, 8000, n_stft=5)(back), bands, atol=0.05)
        True
    """

    form = SPECTRUM
    random = True

    def __init__(
        self,
        n_stft: int,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        max_iter: int = 100000,
        tolerance_loss: float = 1e-5,
        tolerance_change: float = 1e-8,
        sgdargs: dict | None = None,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ):
        # Its bands, and its checks of what they depend on.
        self.scale = MelScale(n_mels, sample_rate, f_min, f_max, n_stft, norm, mel_type)
        self.max_iter = count(max_iter, "max_iter")
        self.tolerance_loss = positive(tolerance_loss, "tolerance_loss")
        self.tolerance_change = positive(tolerance_change, "tolerance_change")
        if sgdargs is None:
            sgdargs = {"sgd_lr": 0.1, "sgd_momentum": 0.9}
        checks.instance(sgdargs, dict, "sgdargs", "a dict with 'sgd_lr' and 'sgd_momentum'")
        self.rate = not_negative(sgdargs["sgd_lr"], "sgd_lr")
        self.momentum = not_negative(sgdargs["sgd_momentum"], "sgd_momentum")

    def _sound(self, array):
        bands = self.scale.bands
        if array.shape[-2] != bands.shape[1]:
            expected = f"of {bands.shape[1]} mel bands"
            raise wrong(RuntimeError, self._input, expected, f"{array.shape[-2]}")
        wanted = array.reshape(-1, *array.shape[-2:])
        made = randomness.current().random((len(wanted), len(bands), array.shape[-1]))
        velocity, loss = np.zeros_like(made), np.inf
        rows = len(wanted) * array.shape[-1]
        for _ in range(self.max_iter):
            difference = wanted - bands.T @ made
            found = (difference**2).sum() / rows
            velocity = self.momentum * velocity - 2 / rows * (bands @ difference)
            made = np.maximum(made - self.rate * velocity, 0)
            if found < self.tolerance_loss or abs(loss - found) < self.tolerance_change:
                break
            loss = found
        return made.reshape(*(array.shape[:-2] or (1,)), len(bands), array.shape[-1])
