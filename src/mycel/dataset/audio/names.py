# SPDX-License-Identifier: Apache-2.0
"""Enumerations that operations on sound take; texts are MindSpore's."""

from __future__ import annotations

import enum


class BorderType(enum.StrEnum):
    """What stands beyond the ends of a padded sound.

    A constant, the last value (EDGE), or the values mirrored without (REFLECT) or with (SYMMETRIC)
    the last one.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.BorderType.REFLECT.value
        'reflect'
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(enum.StrEnum):
    """How the noise of `Dither` is distributed: triangular, rectangular or Gaussian.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.DensityFunction.TPDF.value
        'TPDF'
    """

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(enum.StrEnum):
    """How the loudness of `Fade` rises and falls.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.FadeShape.HALF_SINE.value
        'half_sine'
    """

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(enum.StrEnum):
    """What the number given to `Vol` is: a factor, a ratio of powers, or decibels.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.GainType.DB.value
        'db'
    """

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(enum.StrEnum):
    """How `Flanger` finds values between samples.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Interpolation.LINEAR.value
        'linear'
    """

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(enum.StrEnum):
    """Which mel scale: that of the HTK toolkit, or Slaney's, which is linear below 1,000 Hz.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.MelType.HTK.value
        'htk'
    """

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(enum.StrEnum):
    """The wave form that moves the delay of `Flanger`.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Modulation.TRIANGULAR.value
        'triangular'
    """

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(enum.StrEnum):
    """Whether the rows of a cosine transform are orthonormal.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.NormMode.ORTHO.value
        'ortho'
    """

    ORTHO = "ortho"
    NONE = "none"


class NormType(enum.StrEnum):
    """Whether each mel band is divided by its width, so that all have one area (SLANEY).

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.NormType.SLANEY.value
        'slaney'
    """

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(enum.StrEnum):
    """The window of the low-pass filter of `Resample`: a squared cosine, or Kaiser's.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.ResampleMethod.KAISER_WINDOW.value
        'kaiser_window'
    """

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(enum.StrEnum):
    """What `AmplitudeToDB` is given: powers, or magnitudes.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.ScaleType.POWER.value
        'power'
    """

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(enum.StrEnum):
    """The window that each frame of a spectrogram is multiplied by.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.WindowType.HANN.value
        'hann'
    """

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"
