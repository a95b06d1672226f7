# SPDX-License-Identifier: Apache-2.0
"""Mel spectrograms and cepstral coefficients of sounds."""

from __future__ import annotations

import numpy as np

from mycel.dataset.audio import banks
from mycel.dataset.audio.features import decibels, gathered, upper_end
from mycel.dataset.audio.names import (
    BorderType,
    MelType,
    NormMode,
    NormType,
    WindowType,
)
from mycel.dataset.audio.operation import (
    AudioTensorOperation,
    count,
    natural,
    not_negative,
    positive,
)
from mycel.dataset.audio.spectra import Spectrogram
from mycel.dataset.transforms import checks
from mycel.kernel.base.errors import wrong


class MelSpectrogram(AudioTensorOperation):
    """How loud each mel band is in each frame of a sound.

    Args:
        sample_rate: samples in a second.
        n_fft: length of the Fourier transform.
        win_length: length of the window; None means `n_fft`.
        hop_length: samples from frame to frame; None means `win_length // 2`.
        f_min, f_max: where the first band begins and the last one ends, in Hz; None means half the
            sample rate.
        pad: how many zeros are put before and behind the sound.
        n_mels: how many bands.
        window: a `WindowType`.
        power: 1 gives magnitudes, 2 powers.
        normalized: whether values are divided by the norm of the window.
        center: whether the middle of the first frame is the first sample.
        pad_mode: what stands beyond the ends then, a `BorderType`.
        onesided: must be True: bands lie between 0 and half the sample rate.
        norm: whether all bands have one area, a `NormType`.
        mel_scale: which mel scale, a `MelType`.

    Input: (..., time). Output: (..., n_mels, frames).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.sin(np.arange(64, dtype=np.float32))
        >>> audio.MelSpectrogram(8000, 16, n_mels=4)(sound).shape
        (4, 9)
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: float = 0.0,
        f_max: float | None = None,
        pad: int = 0,
        n_mels: int = 128,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
        norm: NormType = NormType.NONE,
        mel_scale: MelType = MelType.HTK,
    ):
        count(sample_rate, "sample_rate")
        checks.instance(f_min, (float, np.floating), "f_min", "a float")
        f_max = upper_end(f_min, f_max, sample_rate)
        count(n_mels, "n_mels")
        checks.enumeration(norm, NormType, "norm")
        checks.enumeration(mel_scale, MelType, "mel_scale")
        positive(power, "power")
        self.spectrogram = Spectrogram(
            *(n_fft, win_length, hop_length, pad, window, power, normalized, center),
            *(pad_mode, onesided),
        )
        bins = self.spectrogram.frames.bins
        self.bands = banks.mel_bands(bins, f_min, f_max, n_mels, sample_rate, norm, mel_scale)

    def _sound(self, array):
        return gathered(self.bands, self.spectrogram._sound(array), self._input)


def _cepstrum(bands: np.ndarray, logarithm: bool, cosines: np.ndarray) -> np.ndarray:
    """Cosine coefficients of the logarithms of bands (..., bands, time)."""
    loud = np.log(bands + 1e-6) if logarithm else decibels(bands, 10.0, 1.0, 1e-10, 80.0)
    return cosines.T @ loud


def _second_type(dct_type) -> None:
    if dct_type != 2:
        raise wrong(ValueError, "dct_type", "2", repr(dct_type))


class MFCC(AudioTensorOperation):
    """Mel-frequency cepstral coefficients: cosine coefficients of the loudness of mel bands.

    Args:
        sample_rate: samples in a second.
        n_mfcc: how many coefficients.
        dct_type: 2.
        norm: whether coefficients are orthonormal, a `NormMode`.
        log_mels: whether loudness is the natural logarithm, not decibels.
        melkwargs: arguments for `MelSpectrogram`, by name; those not given have its defaults.

    Input: (..., time). Output: (..., n_mfcc, frames).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.sin(np.arange(64, dtype=np.float32))
        >>> audio.MFCC(8000, 3, melkwargs={"n_fft": 16, "n_mels": 4})(sound).shape
        (3, 9)
    """

    kept = ()

    def __init__(
        self,
        sample_rate: int = 16000,
        n_mfcc: int = 40,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_mels: bool = False,
        melkwargs: dict | None = None,
    ):
        natural(sample_rate, "sample_rate")
        natural(n_mfcc, "n_mfcc")
        _second_type(dct_type)
        checks.enumeration(norm, NormMode, "norm")
        self.log_mels = checks.boolean(log_mels, "log_mels")
        checks.instance(melkwargs or {}, dict, "melkwargs", "a dict")
        self.mels = MelSpectrogram(sample_rate, **(melkwargs or {}))
        n_mels = self.mels.bands.shape[1]
        if n_mels < n_mfcc:
            raise wrong(ValueError, "n_mels", f"at least n_mfcc={n_mfcc}", repr(n_mels))
        self.cosines = banks.cosines(n_mfcc, n_mels, norm)

    def _sound(self, array):
        return _cepstrum(self.mels._sound(array), self.log_mels, self.cosines)


class LFCC(AudioTensorOperation):
    """Linear-frequency cepstral coefficients: cosine coefficients of the loudness of equal bands.

    Args:
        sample_rate: samples in a second.
        n_filter: how many bands.
        n_lfcc: how many coefficients.
        f_min, f_max: where the first band begins and the last one ends, in Hz; None means half the
            sample rate.
        dct_type: 2.
        norm: whether coefficients are orthonormal, a `NormMode`.
        log_lf: whether loudness is the natural logarithm, not decibels.
        speckwargs: arguments for `Spectrogram`, by name; those not given have its defaults.

    Input: (..., time). Output: (..., n_lfcc, frames).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> sound = np.sin(np.arange(64, dtype=np.float32))
        >>> audio.LFCC(8000, 4, 3, speckwargs={"n_fft": 16})(sound).shape
        (3, 9)
    """

    kept = ()

    def __init__(
        self,
        sample_rate: int = 16000,
        n_filter: int = 128,
        n_lfcc: int = 40,
        f_min: float = 0.0,
        f_max: float | None = None,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_lf: bool = False,
        speckwargs: dict | None = None,
    ):
        natural(sample_rate, "sample_rate")
        count(n_filter, "n_filter")
        count(n_lfcc, "n_lfcc")
        not_negative(f_min, "f_min")
        f_max = upper_end(f_min, f_max, sample_rate)
        _second_type(dct_type)
        checks.enumeration(norm, NormMode, "norm")
        self.log_lf = checks.boolean(log_lf, "log_lf")
        checks.instance(speckwargs or {}, dict, "speckwargs", "a dict")
        self.spectrogram = Spectrogram(**(speckwargs or {}))
        n_fft = self.spectrogram.frames.n_fft
        if n_fft < n_lfcc:
            raise wrong(ValueError, "n_fft", f"at least n_lfcc={n_lfcc}", repr(n_fft))
        bins = self.spectrogram.frames.bins
        self.bands = banks.linear_bands(bins, f_min, f_max, n_filter, sample_rate)
        self.cosines = banks.cosines(n_lfcc, n_filter, norm)

    def _sound(self, array):
        bands = gathered(self.bands, self.spectrogram._sound(array), self._input)
        return _cepstrum(bands, self.log_lf, self.cosines)
