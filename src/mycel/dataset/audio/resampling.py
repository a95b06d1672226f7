# SPDX-License-Identifier: Apache-2.0
"""Sounds with another number of samples in a second."""

from __future__ import annotations

import math

import numpy as np

from mycel.dataset.audio.frames import extended
from mycel.dataset.audio.names import ResampleMethod
from mycel.dataset.audio.operation import AudioTensorOperation, count, number, positive
from mycel.dataset.transforms import checks

KAISER_BETA = 14.769656459379492


def resampled(
    sound: np.ndarray,
    old: float,
    new: float,
    width: int = 6,
    rolloff: float = 0.99,
    beta: float | None = None,
) -> np.ndarray:
    """A sound (..., time) at another rate.

    Args:
        old, new: samples in a second; integers count.
        width: how many zero crossings of the low-pass filter count on each side.
        rolloff: the limit of the filter, as a part of half the lower rate.
        beta: of Kaiser's window; None means a squared cosine.
    """
    old, new = int(old), int(new)
    common = math.gcd(old, new)
    old, new = old // common, new // common
    if old == new:
        return sound
    length = sound.shape[-1]
    limit = min(old, new) * rolloff
    reach = math.ceil(width * old / limit)
    # Row i: how much each sample around counts for the i-th of `new` results.
    places = np.arange(-reach, reach + old) / old - np.arange(new)[:, None] / new
    places = np.clip(places * limit, -width, width)
    if beta is None:
        window = np.cos(places * np.pi / width / 2) ** 2
    else:
        window = np.i0(beta * np.sqrt(1 - (places / width) ** 2)) / np.i0(beta)
    kernels = np.sinc(places) * window * (limit / old)
    beyond = extended(sound, reach, reach + old)
    cut = np.lib.stride_tricks.sliding_window_view(beyond, kernels.shape[1], -1)[..., ::old, :]
    made = (cut @ kernels.T).reshape(*sound.shape[:-1], -1)
    return made[..., : math.ceil(new * length / old)]


class Resample(AudioTensorOperation):
    """A sound with another number of samples in a second.

    Args:
        orig_freq, new_freq: samples in a second, before and after; fractions are dropped.
        resample_method: the window of the low-pass filter, a `ResampleMethod`.
        lowpass_filter_width: how many zero crossings of the filter count on each side.
        rolloff: the limit of the filter, as a part of half the lower rate, in (0, 1].
        beta: of Kaiser's window; None means 14.769656459379492.

    Input: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Resample(16000, 8000)(np.ones(8, np.float32)).shape
        (4,)
    """

    def __init__(
        self,
        orig_freq: float = 16000,
        new_freq: float = 16000,
        resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: int = 6,
        rolloff: float = 0.99,
        beta: float | None = None,
    ):
        self.orig_freq = positive(orig_freq, "orig_freq")
        self.new_freq = positive(new_freq, "new_freq")
        checks.enumeration(resample_method, ResampleMethod, "resample_method")
        self.lowpass_filter_width = count(lowpass_filter_width, "lowpass_filter_width")
        checks.instance(rolloff, (float, np.floating), "rolloff", "a float")
        self.rolloff = checks.within(rolloff, "rolloff", 0, 1, above=True)
        self.beta = None
        if resample_method is ResampleMethod.KAISER_WINDOW:
            self.beta = KAISER_BETA if beta is None else number(beta, "beta")

    def _sound(self, array):
        return resampled(
            array,
            self.orig_freq,
            self.new_freq,
            self.lowpass_filter_width,
            self.rolloff,
            self.beta,
        )
