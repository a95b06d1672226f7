# SPDX-License-Identifier: Apache-2.0
"""How loud each sample is: gains, fades, limits, distortion, mu-law, and noise under the steps."""

from __future__ import annotations

import math

import numpy as np

from mycel.dataset.audio.biquads import recursive
from mycel.dataset.audio.names import DensityFunction, FadeShape, GainType
from mycel.dataset.audio.operation import (
    AudioTensorOperation,
    count,
    natural,
    not_negative,
    number,
    positive,
)
from mycel.dataset.transforms import checks, randomness
from mycel.kernel.base.errors import wrong


class Gain(AudioTensorOperation):
    """Louder or softer by so many decibels.

    Args:
        gain_db: by how much.

    Input: (..., time).

    Raises:
        TypeError, ValueError: the argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Gain(20.0)(np.array([0.5, -0.25]))
        array([ 5. , -2.5])
    """

    def __init__(self, gain_db: float = 1.0):
        self.gain_db = number(gain_db, "gain_db")

    def _sound(self, array):
        return array * 10 ** (self.gain_db / 20)


class Vol(AudioTensorOperation):
    """Louder or softer, and cut off at -1 and 1.

    Args:
        gain: by how much.
        gain_type: whether that is a factor, a ratio of powers, or decibels, a `GainType`.

    Input: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Vol(3.0)(np.array([0.25, -0.5]))
        array([ 0.75, -1.  ])
    """

    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE):
        kind = checks.enumeration(gain_type, GainType, "gain_type")
        if kind is GainType.AMPLITUDE:
            self.factor = not_negative(gain, "gain")
        elif kind is GainType.POWER:
            self.factor = math.sqrt(positive(gain, "gain"))
        else:
            self.factor = 10 ** (number(gain, "gain") / 20)

    def _sound(self, array):
        return np.clip(array * self.factor, -1, 1)


# How loud it is at a place from 0 to 1 on the way up, and on the way down.
_UP = {
    FadeShape.LINEAR: lambda x: x,
    FadeShape.EXPONENTIAL: lambda x: 2 ** (x - 1) * x,
    FadeShape.LOGARITHMIC: lambda x: np.log10(0.1 + x) + 1,
    FadeShape.QUARTER_SINE: lambda x: np.sin(x * np.pi / 2),
    FadeShape.HALF_SINE: lambda x: np.sin(x * np.pi - np.pi / 2) / 2 + 0.5,
}
_DOWN = {
    FadeShape.LINEAR: lambda x: 1 - x,
    FadeShape.EXPONENTIAL: lambda x: 2**-x * (1 - x),
    FadeShape.LOGARITHMIC: lambda x: np.log10(1.1 - x) + 1,
    FadeShape.QUARTER_SINE: lambda x: np.sin(x * np.pi / 2 + np.pi / 2),
    FadeShape.HALF_SINE: lambda x: np.sin(x * np.pi + np.pi / 2) / 2 + 0.5,
}


class Fade(AudioTensorOperation):
    """Softer at the beginning and at the end.

    Args:
        fade_in_len: on how many samples loudness rises.
        fade_out_len: on how many samples it falls.
        fade_shape: how, a `FadeShape`.

    Input: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input is shorter than a length, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Fade(3, 2)(np.ones(6))
        array([0. , 0.5, 1. , 1. , 1. , 0. ])
    """

    def __init__(
        self,
        fade_in_len: int = 0,
        fade_out_len: int = 0,
        fade_shape: FadeShape = FadeShape.LINEAR,
    ):
        self.fade_in_len = natural(fade_in_len, "fade_in_len")
        self.fade_out_len = natural(fade_out_len, "fade_out_len")
        self.fade_shape = checks.enumeration(fade_shape, FadeShape, "fade_shape")

    def _sound(self, array):
        length = array.shape[-1]
        for name in ("fade_in_len", "fade_out_len"):
            if getattr(self, name) > length:
                expected = f"at least as long as {name}={getattr(self, name)}"
                raise wrong(RuntimeError, self._input, expected, f"{length}")
        loudness = np.ones(length)
        rising = np.linspace(0, 1, self.fade_in_len)
        loudness[: self.fade_in_len] = _UP[self.fade_shape](rising)
        falling = np.linspace(0, 1, self.fade_out_len)
        loudness[length - self.fade_out_len :] *= _DOWN[self.fade_shape](falling)
        return array * loudness


class Contrast(AudioTensorOperation):
    """Sounds louder by sines of the values, as compression does.

    Args:
        enhancement_amount: from 0, which still changes the sound, to 100.

    Input: (..., time).

    Raises:
        TypeError, ValueError: the argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Contrast()(np.array([0.0, 0.5, 1.0])).round(3)
        array([0.   , 0.707, 1.   ])
    """

    def __init__(self, enhancement_amount: float = 75.0):
        self.enhancement_amount = checks.number(enhancement_amount, "enhancement_amount", 0, 100)

    def _sound(self, array):
        angle = array * np.pi / 2
        return np.sin(angle + self.enhancement_amount / 750 * np.sin(4 * angle))


class DCShift(AudioTensorOperation):
    """All values moved by a constant, and kept from -1 to 1.

    Args:
        shift: by how much, from -2 to 2.
        limiter_gain: how much of what lies beyond the limit, 1 - |shift| + limiter_gain, is
            kept; None limits nothing.

    Input: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.DCShift(0.5, 0.02)(np.array([-0.75, 0.25, 0.75])).round(3)
        array([-0.25,  0.75,  0.52])
    """

    def __init__(self, shift: float, limiter_gain: float | None = None):
        self.shift = checks.number(shift, "shift", -2.0, 2.0)
        self.limiter_gain = limiter_gain
        if limiter_gain is not None:
            number(limiter_gain, "limiter_gain")

    def _sound(self, array):
        moved = np.clip(array + self.shift, -1, 1)
        if self.limiter_gain is None:
            return moved
        limit = 1 - (abs(self.shift) - self.limiter_gain)
        # Towards the side to which values are moved.
        side = 1 if self.shift > 0 else -1
        over = side * array > limit
        beyond = (array - side * limit) * self.limiter_gain / (1 - limit or 1)
        limited = side * np.minimum(side * (beyond + side * limit + self.shift), limit)
        return np.where(over, limited, moved)


class Overdrive(AudioTensorOperation):
    """Distorted as an amplifier does that is driven too hard.

    Args:
        gain: how hard, in dB, from 0 to 100.
        color: how much of the even harmonics, from 0 to 100.

    Input: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Overdrive(10.0)(np.array([0.0, 0.25])).round(3)
        array([0.075, 0.616])
    """

    def __init__(self, gain: float = 20.0, color: float = 20.0):
        self.gain = checks.number(gain, "gain", 0, 100)
        self.color = checks.number(color, "color", 0, 100)

    def _sound(self, array):
        driven = np.clip(array * 10 ** (self.gain / 20) + self.color / 200, -1, 1)
        driven = driven - driven**3 / 3
        # Takes the constant part out.
        driven = recursive([1.0, -1.0], [1.0, -0.995], driven)
        return np.clip(0.5 * array + 0.75 * driven, -1, 1)


class Dither(AudioTensorOperation):
    """Rounded to steps of 16 bits, with noise that hides the steps.

    Args:
        density_function: how the noise is distributed, a `DensityFunction`.
        noise_shaping: whether each error is added to the next value.

    Input: (..., time).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> made = audio.Dither()(np.full(8, 0.3))
        >>> bool((abs(made - 0.3) < 2 / 2**15).all())
        True
    """

    def __init__(
        self,
        density_function: DensityFunction = DensityFunction.TPDF,
        noise_shaping: bool = False,
    ):
        self.density_function = checks.enumeration(
            density_function, DensityFunction, "density_function"
        )
        self.noise_shaping = checks.boolean(noise_shaping, "noise_shaping")
        self.random = True

    def _sound(self, array):
        generator = randomness.current()
        shape = array.shape
        noises = {
            DensityFunction.TPDF: lambda: generator.triangular(-1, 0, 1, shape),
            DensityFunction.RPDF: lambda: generator.uniform(-0.5, 0.5, shape),
            DensityFunction.GPDF: lambda: generator.normal(0, 0.5, shape),
        }
        exact = array * (2**15 - 1)
        made = np.round(exact + noises[self.density_function]()) / 2**15
        if self.noise_shaping:
            errors = made - array
            made[..., 1:] += errors[..., :-1]
        return made


class MuLawEncoding(AudioTensorOperation):
    """Values from -1 to 1 as codes that are finer for soft sounds, Int32.

    Args:
        quantization_channels: how many codes there are.

    Input: (..., time).

    Raises:
        TypeError, ValueError: the argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.MuLawEncoding()(np.array([-1.0, 0.0, 0.1]))
        array([  0, 128, 203], dtype=int32)
    """

    def __init__(self, quantization_channels: int = 256):
        self.quantization_channels = count(quantization_channels, "quantization_channels")

    def _result_type(self, kind):
        return np.dtype(np.int32)

    def _sound(self, array):
        most = self.quantization_channels - 1
        bent = np.sign(array) * np.log1p(most * np.abs(array)) / np.log1p(most)
        return np.trunc((bent + 1) / 2 * most + 0.5)


class MuLawDecoding(AudioTensorOperation):
    """The values that codes of `MuLawEncoding` stand for.

    Args:
        quantization_channels: how many codes there are.

    Input: (..., time).

    Raises:
        TypeError, ValueError: the argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.MuLawDecoding()(np.array([0, 203])).round(3)
        array([-1.   ,  0.101], dtype=float32)
    """

    def __init__(self, quantization_channels: int = 256):
        self.quantization_channels = count(quantization_channels, "quantization_channels")

    def _sound(self, array):
        most = self.quantization_channels - 1
        bent = array / most * 2 - 1
        return np.sign(bent) * np.expm1(np.abs(bent) * np.log1p(most)) / most
