# SPDX-License-Identifier: Apache-2.0
"""Spectrograms, sounds of spectrograms, and spectrograms played faster."""

from __future__ import annotations

import math

import numpy as np

from mycel.dataset.audio import frames
from mycel.dataset.audio.frames import Frames
from mycel.dataset.audio.names import BorderType, WindowType
from mycel.dataset.audio.operation import (
    COMPLEX,
    SPECTRUM,
    AudioTensorOperation,
    count,
    natural,
    not_negative,
    positive,
    window_lengths,
)
from mycel.dataset.audio.resampling import resampled
from mycel.dataset.transforms import checks, randomness
from mycel.kernel.base.errors import wrong


class Spectrogram(AudioTensorOperation):
    """How loud each frequency is in each frame of a sound.

    Args:
        n_fft: length of the Fourier transform; there are `n_fft // 2 + 1` frequencies.
        win_length: length of the window; None means `n_fft`.
        hop_length: samples from frame to frame; None means `win_length // 2`.
        pad: how many zeros are put before and behind the sound.
        window: a `WindowType`.
        power: 1 gives magnitudes, 2 powers, 0 complex numbers in pairs, (..., freq, time, 2).
        normalized: whether values are divided by the norm of the window.
        center: whether the middle of the first frame is the first sample.
        pad_mode: what stands beyond the ends then, a `BorderType`.
        onesided: whether only the frequencies up to half the sample rate come out.

    Input: (..., time). Output: (..., freq, time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.sin(np.pi / 2 * np.arange(16, dtype=np.float32))
        >>> audio.Spectrogram(8)(sound).shape
        (5, 5)
    """

    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ):
        lengths = window_lengths(n_fft, win_length, hop_length)
        self.pad = natural(pad, "pad")
        self.power = not_negative(power, "power")
        self.normalized = checks.boolean(normalized, "normalized")
        self.frames = Frames.of(
            lengths,
            checks.enumeration(window, WindowType, "window"),
            checks.boolean(center, "center"),
            checks.enumeration(pad_mode, BorderType, "pad_mode"),
            checks.boolean(onesided, "onesided"),
        )

    def _sound(self, array):
        array = frames.padded(array, self.pad, BorderType.CONSTANT, self._input)
        made = self.frames.spectrum(array, self._input)
        if self.normalized:
            made = made / np.linalg.norm(self.frames.window)
        return np.abs(made) ** self.power if self.power else frames.as_pairs(made)


class InverseSpectrogram(AudioTensorOperation):
    """The sound of a spectrogram of complex numbers.

    Args:
        length: how long it is; None keeps all.
        n_fft: length of the Fourier transform.
        win_length: length of the window; None means `n_fft`.
        hop_length: samples from frame to frame; None means `win_length // 2`.
        pad: how many samples at each end are dropped.
        window: a `WindowType`.
        normalized: whether the spectrogram was divided by the norm of the window.
        center: whether the middle of the first frame is the first sample.
        pad_mode: what stood beyond the ends, a `BorderType`; the sound does not depend on it.
        onesided: whether the spectrogram has only the frequencies up to half the sample rate.

    Input: (..., freq, time, 2). Output: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or another number of frequencies.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.sin(np.arange(16, dtype=np.float32))
        >>> pairs = audio.Spectrogram(8, power=0.0)(sound)
        >>> np.allclose(audio.InverseSpectrogram(16, 8)(pairs), sound, atol=1e-6)
        True
    """

    form = COMPLEX

    def __init__(
        self,
        length: int | None = None,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ):
        self.length = None if length is None else natural(length, "length")
        lengths = window_lengths(n_fft, win_length, hop_length)
        self.pad = natural(pad, "pad")
        self.normalized = checks.boolean(normalized, "normalized")
        self.frames = Frames.of(
            lengths,
            checks.enumeration(window, WindowType, "window"),
            checks.boolean(center, "center"),
            checks.enumeration(pad_mode, BorderType, "pad_mode"),
            checks.boolean(onesided, "onesided"),
        )

    def _result_type(self, kind):
        # MindSpore's answers with a pad are Float32, whatever the input is.
        return np.dtype(np.float32) if self.pad else super()._result_type(kind)

    def _sound(self, array):
        spectrum = frames.from_pairs(array)
        _check_bins(spectrum, self.frames.bins, self._input)
        if self.normalized:
            spectrum = spectrum * np.linalg.norm(self.frames.window)
        length = None if self.length is None else self.length + 2 * self.pad
        made = self.frames.sound(spectrum, length)
        return made[..., self.pad : -self.pad] if self.pad else made


def _check_bins(spectrum: np.ndarray, bins: int, what: str) -> None:
    if spectrum.shape[-2] != bins:
        expected = f"of {bins} frequencies"
        raise wrong(RuntimeError, what, expected, f"{spectrum.shape[-2]}")


class GriffinLim(AudioTensorOperation):
    """A sound whose spectrogram is near to a given one; phases are found by iteration.

    Args:
        n_fft: length of the Fourier transform.
        n_iter: how often phases are made better.
        win_length: length of the window; None means `n_fft`.
        hop_length: samples from frame to frame; None means `win_length // 2`.
        window_type: a `WindowType`.
        power: of which power of magnitudes the spectrogram is.
        momentum: how far a change of phases goes on: by momentum / (1 + 2 momentum), as in
            MindSpore. 0 is the original method.
        length: how long the sound is; None keeps all.
        rand_init: whether phases begin at random, not at 0.

    Input: (..., freq, time). Output: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or another number of frequencies.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> loudness = audio.Spectrogram(8)(np.sin(np.arange(16, dtype=np.float32)))
        >>> audio.GriffinLim(8, length=16)(loudness).shape
        (16,)
    """

    form = SPECTRUM

    def __init__(
        self,
        n_fft: int = 400,
        n_iter: int = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: float = 2.0,
        momentum: float = 0.99,
        length: int | None = None,
        rand_init: bool = True,
    ):
        self.n_iter = count(n_iter, "n_iter")
        # As in MindSpore, 0 stands for a length that is not given.
        lengths = window_lengths(n_fft, win_length or None, hop_length or None)
        self.power = positive(power, "power")
        self.momentum = not_negative(momentum, "momentum")
        self.length = None if length is None else natural(length, "length")
        self.random = checks.boolean(rand_init, "rand_init")
        kind = checks.enumeration(window_type, WindowType, "window_type")
        self.frames = Frames.of(lengths, kind)

    def _sound(self, array):
        _check_bins(array, self.frames.bins, self._input)
        magnitudes = array ** (1 / self.power)
        # A length with another number of frames counts at the end only.
        length, frames_ = self.length, array.shape[-1]
        if length is None or 1 + length // self.frames.hop_length != frames_:
            length = None
        angles = np.ones(magnitudes.shape, complex)
        if self.random:
            parts = randomness.current().random((2, *magnitudes.shape))
            angles = parts[0] + 1j * parts[1]
        before, carried = np.zeros_like(angles), self.momentum / (1 + 2 * self.momentum)
        for _ in range(self.n_iter):
            sound = self.frames.sound(magnitudes * angles, length)
            found = self.frames.spectrum(sound, self._input)
            angles = found - carried * before
            angles = angles / (np.abs(angles) + 1e-16)
            before = found
        return self.frames.sound(magnitudes * angles, self.length)


class SpectralCentroid(AudioTensorOperation):
    """The mean frequency of each frame, weighted by how loud each frequency is.

    Args:
        sample_rate: samples in a second.
        n_fft: length of the Fourier transform.
        win_length: length of the window; None means `n_fft`.
        hop_length: samples from frame to frame; None means `win_length // 2`.
        pad: how many zeros are put before and behind the sound.
        window: a `WindowType`.

    Input: (..., time). Output: (..., 1, frames), in Hz.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.cos(np.pi / 2 * np.arange(32, dtype=np.float32))
        >>> audio.SpectralCentroid(8000, 8)(sound).round()[0, 2:5]
        array([2000., 2000., 2000.], dtype=float32)
    """

    def __init__(
        self,
        sample_rate: int,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ):
        self.sample_rate = natural(sample_rate, "sample_rate")
        self.spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, 1.0)

    def _sound(self, array):
        loud = self.spectrogram._sound(array)
        frequencies = np.linspace(0, self.sample_rate // 2, loud.shape[-2])[:, None]
        return (frequencies * loud).sum(-2, keepdims=True) / loud.sum(-2, keepdims=True)


class PhaseVocoder(AudioTensorOperation):
    """A spectrogram of complex numbers played faster, with the same pitch.

    Args:
        rate: how much faster.
        phase_advance: how far the phase of each frequency turns from frame to frame, [freq, 1].

    Input: (..., freq, time, 2). Output: the same with another time.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or another number of frequencies.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> pairs = np.ones((3, 8, 2), np.float32)
        >>> audio.PhaseVocoder(2.0, np.zeros((3, 1), np.float32))(pairs).shape
        (3, 4, 2)
    """

    form = COMPLEX

    def __init__(self, rate: float, phase_advance: np.ndarray):
        self.rate = positive(rate, "rate")
        self.phase_advance = checks.instance(
            phase_advance, np.ndarray, "phase_advance", "a NumPy array"
        )
        if phase_advance.ndim != 2 or phase_advance.shape[1] != 1:
            expected = "of shape (freq, 1)"
            raise wrong(RuntimeError, "phase_advance", expected, f"{phase_advance.shape}")

    def _sound(self, array):
        if self.rate == 1:
            return array
        spectrum = frames.from_pairs(array)
        _check_bins(spectrum, len(self.phase_advance), self._input)
        return frames.as_pairs(frames.stretched(spectrum, self.rate, self.phase_advance))


class TimeStretch(AudioTensorOperation):
    """A spectrogram of complex numbers played faster, with the same pitch.

    Args:
        hop_length: samples from frame to frame; None means `n_freq - 1`.
        n_freq: how many frequencies the spectrogram has.
        fixed_rate: how much faster; None changes nothing.

    Input: (..., freq, time, 2). Output: the same with another time; without a rate, or with 1.0,
    (batch, freq, time, 2), as in MindSpore.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form, or another number of frequencies.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.TimeStretch(4, 3, 2.0)(np.ones((3, 8, 2), np.float32)).shape
        (3, 4, 2)
    """

    form = COMPLEX

    def __init__(
        self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None
    ):
        self.n_freq = count(n_freq, "n_freq")
        self.hop_length = n_freq - 1 if hop_length is None else count(hop_length, "hop_length")
        self.fixed_rate = None if fixed_rate is None else positive(fixed_rate, "fixed_rate")

    def _sound(self, array):
        if self.fixed_rate is None or self.fixed_rate == 1:
            return array.reshape(-1, *array.shape[-3:])
        advance = np.linspace(0, math.pi * self.hop_length, self.n_freq)[:, None]
        return PhaseVocoder(self.fixed_rate, advance)._sound(array)


class PitchShift(AudioTensorOperation):
    """A sound with a higher or lower pitch, as long as before.

    Args:
        sample_rate: samples in a second.
        n_steps: by how many steps it is higher.
        bins_per_octave: how many steps an octave has, not 0.
        n_fft: length of the Fourier transform.
        win_length: length of the window; None means `n_fft`.
        hop_length: samples from frame to frame; None means `win_length // 4`.
        window: a `WindowType`.

    Input: (..., time). Output: of the same shape.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.sin(np.arange(64, dtype=np.float32))
        >>> audio.PitchShift(8000, 4, n_fft=16)(sound).shape
        (64,)
    """

    def __init__(
        self,
        sample_rate: int,
        n_steps: int,
        bins_per_octave: int = 12,
        n_fft: int = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ):
        self.sample_rate = natural(sample_rate, "sample_rate")
        self.n_steps = checks.integer(n_steps, "n_steps", -checks.INTEGER_MOST - 1)
        if not checks.integer(bins_per_octave, "bins_per_octave", -checks.INTEGER_MOST - 1):
            raise wrong(ValueError, "bins_per_octave", "an int that is not 0", "0")
        self.bins_per_octave = bins_per_octave
        lengths = window_lengths(n_fft, win_length, hop_length, 4)
        self.frames = Frames.of(lengths, checks.enumeration(window, WindowType, "window"))

    def _sound(self, array):
        length = array.shape[-1]
        faster = 2 ** (-self.n_steps / self.bins_per_octave)
        spectrum = self.frames.spectrum(array, self._input)
        advance = np.linspace(0, np.pi * self.frames.hop_length, self.frames.bins)[:, None]
        spectrum = frames.stretched(spectrum, faster, advance)
        made = self.frames.sound(spectrum, round(length / faster))
        made = resampled(made, int(self.sample_rate / faster), self.sample_rate)[..., :length]
        missing = length - made.shape[-1]
        return frames.extended(made, 0, missing)
