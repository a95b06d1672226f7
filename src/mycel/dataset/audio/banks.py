# SPDX-License-Identifier: Apache-2.0
"""Matrices that gather frequencies into bands, and the cosine transform of bands."""

from __future__ import annotations

import numpy as np

from mycel.dataset.audio.names import MelType, NormMode, NormType
from mycel.dataset.audio.operation import count, natural, not_negative, positive
from mycel.dataset.transforms import checks
from mycel.kernel.base.errors import wrong

# Slaney's scale: linear up to 1,000 Hz, which are 15 mels; then 27 mels for a factor of 6.4.
_HERTZ_EACH, _BORDER, _BORDER_MELS, _STEP = 200 / 3, 1000.0, 15.0, np.log(6.4) / 27


def mels_of(hertz, scale: MelType):
    """Frequencies on the mel scale."""
    if scale is MelType.HTK:
        return 2595 * np.log10(1 + np.asarray(hertz) / 700)
    above = _BORDER_MELS + np.log(np.maximum(hertz, _BORDER) / _BORDER) / _STEP
    return np.where(np.less(hertz, _BORDER), np.asarray(hertz) / _HERTZ_EACH, above)


def hertz_of(mels, scale: MelType):
    """Frequencies of places on the mel scale."""
    mels = np.asarray(mels)
    if scale is MelType.HTK:
        return 700 * (10 ** (mels / 2595) - 1)
    above = _BORDER * np.exp(_STEP * (mels - _BORDER_MELS))
    return np.where(mels < _BORDER_MELS, mels * _HERTZ_EACH, above)


def triangles(n_freqs: int, points: np.ndarray, sample_rate: int) -> np.ndarray:
    """How much of each frequency is in each band, (n_freqs, bands).

    Args:
        points: where a band begins, the one before it has its peak, and the one before that ends.
    """
    frequencies = np.linspace(0, sample_rate // 2, n_freqs)
    away = points - frequencies[:, None]
    widths = np.diff(points)
    rising, falling = -away[:, :-2] / widths[:-1], away[:, 2:] / widths[1:]
    # Adding 0 makes a negative zero a positive one.
    return np.maximum(0, np.minimum(rising, falling)) + 0.0


def mel_bands(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type) -> np.ndarray:
    """See melscale_fbanks; Float64, without arguments to check."""
    ends = mels_of(np.array([f_min, f_max], float), mel_type)
    points = hertz_of(np.linspace(ends[0], ends[1], n_mels + 2), mel_type)
    made = triangles(n_freqs, points, sample_rate)
    return made * 2 / (points[2:] - points[:-2]) if norm is NormType.SLANEY else made


def linear_bands(n_freqs, f_min, f_max, n_filter, sample_rate) -> np.ndarray:
    """See linear_fbanks; Float64, without arguments to check."""
    return triangles(n_freqs, np.linspace(f_min, f_max, n_filter + 2), sample_rate)


def cosines(n_mfcc: int, n_mels: int, norm: NormMode) -> np.ndarray:
    """See create_dct; Float64, without arguments to check."""
    angles = np.pi / n_mels * np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc))
    made = np.cos(angles) * (2 if norm is NormMode.NONE else np.sqrt(2 / n_mels))
    if norm is NormMode.ORTHO:
        made[:, 0] /= np.sqrt(2)
    return made


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """The matrix of a cosine transform (of the second type), Float32 [n_mels, n_mfcc].

    Args:
        n_mfcc: how many coefficients are kept.
        n_mels: of how many values.
        norm: whether coefficients are orthonormal, a `NormMode`.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.create_dct(2, 3)
        array([[ 2.0000000e+00,  1.7320508e+00],
               [ 2.0000000e+00,  1.2246469e-16],
               [ 2.0000000e+00, -1.7320508e+00]], dtype=float32)
    """
    count(n_mfcc, "n_mfcc")
    count(n_mels, "n_mels")
    return cosines(n_mfcc, n_mels, checks.enumeration(norm, NormMode, "norm")).astype(np.float32)


def _check_band(n_freqs, f_min, f_max, bands: tuple, sample_rate) -> None:
    natural(n_freqs, "n_freqs")
    not_negative(f_min, "f_min")
    if f_min > positive(f_max, "f_max"):
        raise wrong(ValueError, "f_max", f"at least f_min={f_min}", repr(f_max))
    count(*bands)
    count(sample_rate, "sample_rate")


def linear_fbanks(
    n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int
) -> np.ndarray:
    """Bands of equal width, each a triangle, Float32 [n_freqs, n_filter].

    Args:
        n_freqs: how many frequencies there are from 0 to half the sample rate.
        f_min, f_max: where the first band begins and the last one ends, in Hz.
        n_filter: how many bands.
        sample_rate: samples in a second.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.linear_fbanks(5, 0.0, 4000.0, 3, 8000)[:, 1]
        array([0., 0., 1., 0., 0.], dtype=float32)
    """
    _check_band(n_freqs, f_min, f_max, (n_filter, "n_filter"), sample_rate)
    return linear_bands(n_freqs, f_min, f_max, n_filter, sample_rate).astype(np.float32)


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> np.ndarray:
    """Bands of equal width on the mel scale, each a triangle, Float32 [n_freqs, n_mels].

    Args:
        n_freqs: how many frequencies there are from 0 to half the sample rate.
        f_min, f_max: where the first band begins and the last one ends, in Hz.
        n_mels: how many bands.
        sample_rate: samples in a second.
        norm: whether all bands have one area, a `NormType`.
        mel_type: which mel scale, a `MelType`.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.melscale_fbanks(5, 0.0, 4000.0, 2, 8000).round(2)[:, 0]
        array([0.  , 0.68, 0.  , 0.  , 0.  ], dtype=float32)
    """
    _check_band(n_freqs, f_min, f_max, (n_mels, "n_mels"), sample_rate)
    checks.enumeration(norm, NormType, "norm")
    checks.enumeration(mel_type, MelType, "mel_type")
    made = mel_bands(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type)
    return made.astype(np.float32)
