# SPDX-License-Identifier: Apache-2.0
"""Filters of second order, designed by frequency, gain and quality, and filters by coefficients."""

from __future__ import annotations

import math

import numpy as np

from mycel.dataset.audio.operation import AudioTensorOperation, number, quality, rate
from mycel.dataset.transforms import checks
from mycel.kernel.base.errors import wrong


def recursive(b, a, sound: np.ndarray) -> np.ndarray:
    """The sound after a recursive filter along its last axis.

    Args:
        b, a: what inputs and outputs count for, the newest first.
        sound: Float64, (..., time).
    """
    from scipy.signal import lfilter

    return np.asarray(lfilter(b, a, sound))


def _check_coefficients(a_coeffs, b_coeffs) -> tuple[list, list]:
    for name, values in (("a_coeffs", a_coeffs), ("b_coeffs", b_coeffs)):
        for index, value in enumerate(checks.sequence(values, name)):
            number(value, f"{name}[{index}]")
    if len(a_coeffs) != len(b_coeffs):
        expected = f"of the length of a_coeffs, {len(a_coeffs)}"
        raise wrong(ValueError, "b_coeffs", expected, f"{len(b_coeffs)}")
    return list(a_coeffs), list(b_coeffs)


class LFilter(AudioTensorOperation):
    """A recursive filter given by its coefficients.

    Args:
        a_coeffs: what earlier outputs count for, the newest first.
        b_coeffs: what inputs count for, the newest first; as many.
        clamp: whether the result is cut off at -1 and 1.

    Input: (..., time), of floats.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.LFilter([1.0, -0.5], [1.0, 0.0], clamp=False)(np.array([1.0, 0.0, 0.0]))
        array([1.  , 0.5 , 0.25])
    """

    kept = (np.float64, np.float16)

    def __init__(self, a_coeffs, b_coeffs, clamp: bool = True):
        self.a_coeffs, self.b_coeffs = _check_coefficients(a_coeffs, b_coeffs)
        self.clamp = checks.boolean(clamp, "clamp")

    def _sound(self, array):
        made = recursive(self.b_coeffs, self.a_coeffs, array)
        return np.clip(made, -1, 1) if self.clamp else made


class Filtfilt(LFilter):
    """A recursive filter forward and then backward, which shifts no phase.

    Args:
        a_coeffs: what earlier outputs count for, the newest first.
        b_coeffs: what inputs count for, the newest first; as many.
        clamp: whether the result is cut off at -1 and 1.

    Input: (..., time), of floats.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Filtfilt([1.0, 0.0], [0.5, 0.5])(np.array([0.0, 1.0, 0.0]))
        array([0.25, 0.5 , 0.25])
    """

    def _sound(self, array):
        forward = recursive(self.b_coeffs, self.a_coeffs, array)
        made = recursive(self.b_coeffs, self.a_coeffs, forward[..., ::-1])[..., ::-1]
        return np.clip(made, -1, 1) if self.clamp else made


class Biquad(AudioTensorOperation):
    """A filter of second order given by its coefficients; the result is cut off at -1 and 1.

    Args:
        b0, b1, b2: what the input, and those one and two steps before, count for.
        a0: what the output counts for, not 0.
        a1, a2: what the outputs one and two steps before count for.

    Input: (..., time), of floats.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Biquad(0.5, 0.25, 0.0, 1.0, 0.0, 0.0)(np.array([1.0, 0.0, 0.0]))
        array([0.5 , 0.25, 0.  ])
    """

    kept = (np.float64, np.float16)

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float):
        self.b = [number(b0, "b0"), number(b1, "b1"), number(b2, "b2")]
        if not number(a0, "a0"):
            raise wrong(ValueError, "a0", "not 0", repr(a0))
        self.a = [a0, number(a1, "a1"), number(a2, "a2")]

    def _sound(self, array):
        return np.clip(recursive(self.b, self.a, array), -1, 1)


class _Designed(AudioTensorOperation):
    """A filter of second order whose coefficients follow from a frequency."""

    kept = (np.float64, np.float16)

    def _design(self, sample_rate, frequency, name: str, q=None) -> tuple[float, float]:
        """The cosine at the frequency, and half the sine by the quality."""
        self.sample_rate = rate(sample_rate)
        angle = 2 * math.pi * number(frequency, name) / sample_rate
        return math.cos(angle), math.sin(angle) / 2 / (1 if q is None else quality(q))

    def _sound(self, array):
        return np.clip(recursive(self.b, self.a, array), -1, 1)

    b: list[float]
    a: list[float]


def _amplitude(gain, name: str = "gain") -> float:
    """The square root of the factor that so many decibels are."""
    return 10 ** (number(gain, name) / 40)


class AllpassBiquad(_Designed):
    """A filter that lets all frequencies pass and shifts their phases.

    Args:
        sample_rate: samples in a second, not 0.
        central_freq: where phases are turned by half a circle, in Hz.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.AllpassBiquad(8000, 1000.0)(np.array([1.0, 0.0])).round(3)
        array([ 0.333, -0.629])
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        cosine, alpha = self._design(sample_rate, central_freq, "central_freq", Q)
        self.a = [1 + alpha, -2 * cosine, 1 - alpha]
        self.b = self.a[::-1]


class BandBiquad(_Designed):
    """A resonance at a frequency; beside it the loudness falls off with the logarithm.

    Args:
        sample_rate: samples in a second, not 0.
        central_freq: the middle of the band, in Hz.
        Q: quality, in (0, 1].
        noise: whether the sound has no pitch, as drums have none.

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.BandBiquad(8000, 1000.0)(np.array([1.0, 0.0])).round(3)
        array([0.531, 0.372])
    """

    def __init__(
        self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False
    ):
        cosine, _ = self._design(sample_rate, central_freq, "central_freq", Q)
        # A pole at this distance from the origin has the width of the band.
        a2 = math.exp(-2 * math.pi * central_freq / Q / sample_rate)
        a1 = -4 * a2 / (1 + a2) * cosine
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if checks.boolean(noise, "noise"):
            b0 = math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2))
        self.a, self.b = [1.0, a1, a2], [b0, 0.0, 0.0]


class BandpassBiquad(_Designed):
    """A Butterworth filter that lets a band of frequencies pass.

    Args:
        sample_rate: samples in a second, not 0.
        central_freq: the middle of the band, in Hz.
        Q: quality, in (0, 1].
        const_skirt_gain: whether the gain in the middle is Q, and not 1.

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.BandpassBiquad(8000, 1000.0)(np.array([1.0, 0.0])).round(3)
        array([0.333, 0.314])
    """

    def __init__(
        self,
        sample_rate: int,
        central_freq: float,
        Q: float = 0.707,
        const_skirt_gain: bool = False,
    ):
        cosine, alpha = self._design(sample_rate, central_freq, "central_freq", Q)
        peak = alpha * Q if checks.boolean(const_skirt_gain, "const_skirt_gain") else alpha
        self.b, self.a = [peak, 0.0, -peak], [1 + alpha, -2 * cosine, 1 - alpha]


class BandrejectBiquad(_Designed):
    """A Butterworth filter that takes a band of frequencies out.

    Args:
        sample_rate: samples in a second, not 0.
        central_freq: the middle of the band, in Hz.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.BandrejectBiquad(8000, 1000.0)(np.array([1.0, 0.0])).round(3)
        array([ 0.667, -0.314])
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        cosine, alpha = self._design(sample_rate, central_freq, "central_freq", Q)
        self.b, self.a = [1.0, -2 * cosine, 1.0], [1 + alpha, -2 * cosine, 1 - alpha]


def _shelf(cosine: float, alpha: float, amplitude: float, side: int) -> tuple[list, list]:
    """Coefficients of a shelf: `side` is 1 where low frequencies are changed, else -1."""
    more, less = amplitude + 1, amplitude - 1
    root = 2 * math.sqrt(amplitude) * alpha
    b = [
        amplitude * (more - side * less * cosine + root),
        side * 2 * amplitude * (less - side * more * cosine),
        amplitude * (more - side * less * cosine - root),
    ]
    a = [
        more + side * less * cosine + root,
        side * -2 * (less + side * more * cosine),
        more + side * less * cosine - root,
    ]
    return b, a


class BassBiquad(_Designed):
    """Low frequencies louder or softer.

    Args:
        sample_rate: samples in a second, not 0.
        gain: by how much, in dB.
        central_freq: the middle of the slope, in Hz.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.BassBiquad(8000, -6.0)(np.array([0.5, 0.5])).round(3)
        array([0.49 , 0.472])
    """

    def __init__(
        self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707
    ):
        cosine, alpha = self._design(sample_rate, central_freq, "central_freq", Q)
        self.b, self.a = _shelf(cosine, alpha, _amplitude(gain), 1)


class TrebleBiquad(_Designed):
    """High frequencies louder or softer.

    Args:
        sample_rate: samples in a second, not 0.
        gain: by how much, in dB.
        central_freq: the middle of the slope, in Hz.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.TrebleBiquad(8000, -6.0)(np.array([0.5, 0.5])).round(3)
        array([0.416, 0.544])
    """

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707):
        cosine, alpha = self._design(sample_rate, central_freq, "central_freq", Q)
        self.b, self.a = _shelf(cosine, alpha, _amplitude(gain), -1)


# By sample rate: the middle of the slope in Hz, its steepness, and the gain in dB.
_DEEMPHASIS = {44100: (5283, 0.4845, -9.477), 48000: (5356, 0.479, -9.62)}


class DeemphBiquad(_Designed):
    """High frequencies softer, as players of compact discs make those recorded with emphasis.

    Args:
        sample_rate: 44100 or 48000 samples in a second.

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.DeemphBiquad(44100)(np.array([0.5, 0.5])).round(3)
        array([0.23 , 0.331])
    """

    def __init__(self, sample_rate: int):
        self.sample_rate = _one_of(sample_rate, _DEEMPHASIS)
        middle, slope, gain = _DEEMPHASIS[sample_rate]
        amplitude = _amplitude(gain)
        cosine, alpha = self._design(sample_rate, middle, "frequency")
        alpha *= math.sqrt((amplitude + 1 / amplitude) * (1 / slope - 1) + 2)
        self.b, self.a = _shelf(cosine, alpha, amplitude, -1)


def _one_of(sample_rate, known) -> int:
    if checks.integer(sample_rate, "sample_rate") not in known:
        expected = f"one of {', '.join(map(str, known))}"
        raise wrong(ValueError, "sample_rate", expected, repr(sample_rate))
    return sample_rate


class EqualizerBiquad(_Designed):
    """Frequencies around one louder or softer.

    Args:
        sample_rate: samples in a second, not 0.
        center_freq: the middle of the band, in Hz.
        gain: by how much, in dB.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.EqualizerBiquad(8000, 1000.0, -6.0)(np.array([0.5, 0.5])).round(3)
        array([0.397, 0.311])
    """

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707):
        cosine, alpha = self._design(sample_rate, center_freq, "center_freq", Q)
        more, less = alpha * _amplitude(gain), alpha / _amplitude(gain)
        self.b, self.a = [1 + more, -2 * cosine, 1 - more], [1 + less, -2 * cosine, 1 - less]


class HighpassBiquad(_Designed):
    """A filter that lets frequencies above one pass.

    Args:
        sample_rate: samples in a second, not 0.
        cutoff_freq: in Hz.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.HighpassBiquad(8000, 1000.0)(np.array([1.0, 0.0])).round(3)
        array([ 0.569, -0.602])
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        cosine, alpha = self._design(sample_rate, cutoff_freq, "cutoff_freq", Q)
        half = (1 + cosine) / 2
        self.b, self.a = [half, -2 * half, half], [1 + alpha, -2 * cosine, 1 - alpha]


class LowpassBiquad(_Designed):
    """A filter that lets frequencies below one pass.

    Args:
        sample_rate: samples in a second, not 0.
        cutoff_freq: in Hz.
        Q: quality, in (0, 1].

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.LowpassBiquad(8000, 1000.0)(np.array([1.0, 0.0])).round(3)
        array([0.098, 0.287])
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        cosine, alpha = self._design(sample_rate, cutoff_freq, "cutoff_freq", Q)
        half = (1 - cosine) / 2
        self.b, self.a = [half, 2 * half, half], [1 + alpha, -2 * cosine, 1 - alpha]


# By sample rate: the zeros and the poles of the standard curve.
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


class RiaaBiquad(_Designed):
    """The equalisation of vinyl records when they are played; 1,000 Hz keep their loudness.

    Args:
        sample_rate: 44100, 48000, 88200 or 96000 samples in a second.

    Input: (..., time), of floats. The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.RiaaBiquad(44100)(np.array([0.5, 0.5])).round(3)
        array([0.119, 0.236])
    """

    def __init__(self, sample_rate: int):
        self.sample_rate = _one_of(sample_rate, _RIAA)
        b, self.a = (np.poly(roots).tolist() for roots in _RIAA[sample_rate])
        unit = np.exp(-2j * np.pi * 1000 / sample_rate * np.arange(3))
        gain = abs(np.dot(self.a, unit)) / abs(np.dot(b, unit))
        self.b = [gain * part for part in b]
