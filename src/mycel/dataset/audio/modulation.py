# SPDX-License-Identifier: Apache-2.0
"""Sounds mixed with themselves a moment before, where the delay swings."""

from __future__ import annotations

import numpy as np

from mycel.dataset.audio.names import Interpolation, Modulation
from mycel.dataset.audio.operation import CHANNELS, AudioTensorOperation, rate
from mycel.dataset.transforms import checks


def swing(shape: Modulation, length: int, low: float, high: float, phase: float) -> np.ndarray:
    """One period of a wave between two values.

    Args:
        phase: where it begins, as a part of the period.
    """
    places = (np.arange(length) + int(phase * length + 0.5)) % length
    if shape is Modulation.SINUSOIDAL:
        heights = (np.sin(2 * np.pi * places / length) + 1) / 2
    else:
        # From the middle up, down and up again, as a sine goes.
        heights = 2 * places / length
        quarter = 4 * places // length
        heights = np.select(
            [quarter == 0, quarter == 3], [heights + 0.5, heights - 1.5], 1.5 - heights
        )
    return low + heights * (high - low)


class Phaser(AudioTensorOperation):
    """A phasing effect: the sound and its own echo, whose delay swings, in and out of step.

    Args:
        sample_rate: samples in a second.
        gain_in: how much of the sound goes in, from 0 to 1.
        gain_out: how much comes out, from 0 to 1e9.
        delay_ms: the longest delay in milliseconds, from 0 to 5.
        decay: how much of the echo comes back, from 0 to 0.99.
        mod_speed: how often the delay swings in a second, from 0.1 to 2.
        sinusoidal: whether it swings as a sine, not as a triangle.

    Input: (..., time). The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Phaser(8000)(np.ones(30, np.float32))[[0, 29]].round(3)
        array([0.296, 0.493], dtype=float32)
    """

    def __init__(
        self,
        sample_rate: int,
        gain_in: float = 0.4,
        gain_out: float = 0.74,
        delay_ms: float = 3.0,
        decay: float = 0.4,
        mod_speed: float = 0.5,
        sinusoidal: bool = True,
    ):
        self.sample_rate = checks.integer(sample_rate, "sample_rate", -checks.INTEGER_MOST - 1)
        self.gain_in = checks.number(gain_in, "gain_in", 0, 1)
        self.gain_out = checks.number(gain_out, "gain_out", 0, 1e9)
        self.delay_ms = checks.number(delay_ms, "delay_ms", 0, 5.0)
        self.decay = checks.number(decay, "decay", 0, 0.99)
        self.mod_speed = checks.number(mod_speed, "mod_speed", 0.1, 2)
        round_ = checks.boolean(sinusoidal, "sinusoidal")
        self.shape = Modulation.SINUSOIDAL if round_ else Modulation.TRIANGULAR

    def _sound(self, array):
        most = int(self.delay_ms / 1000 * self.sample_rate + 0.5)
        period = int(self.sample_rate / self.mod_speed + 0.5)
        delays = (swing(self.shape, period, 1, most, 0.25) + 0.5).astype(int)
        echo = np.zeros((*array.shape[:-1], most))
        made = array * self.gain_in
        for time in range(array.shape[-1]):
            made[..., time] += echo[..., (time + delays[time % period]) % most]
            echo[..., (time + 1) % most] = made[..., time] * self.decay
        return np.clip(made * self.gain_out, -1, 1)


class Flanger(AudioTensorOperation):
    """A flanging effect: the sound and itself a moment before, whose delay swings.

    Args:
        sample_rate: samples in a second, not 0.
        delay: the shortest delay in milliseconds, from 0 to 30.
        depth: how far it swings, in milliseconds, from 0 to 10.
        regen: how much of the delayed sound comes back, in per cent, from -95 to 95.
        width: how much of the delayed sound is added, in per cent, from 0 to 100.
        speed: how often the delay swings in a second, from 0.1 to 10.
        phase: how far channels swing apart, in per cent of a period, from 0 to 100.
        modulation: how it swings, a `Modulation`.
        interpolation: how values between samples are found, an `Interpolation`.

    Input: (..., channel, time). The result is cut off at -1 and 1.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, or is not of numbers.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Flanger(8000)(np.ones((1, 30), np.float32))[0, [0, 29]].round(3)
        array([1., 1.], dtype=float32)
    """

    form = CHANNELS

    def __init__(
        self,
        sample_rate: int,
        delay: float = 0.0,
        depth: float = 2.0,
        regen: float = 0.0,
        width: float = 71.0,
        speed: float = 0.5,
        phase: float = 25.0,
        modulation: Modulation = Modulation.SINUSOIDAL,
        interpolation: Interpolation = Interpolation.LINEAR,
    ):
        self.sample_rate = rate(sample_rate)
        self.delay = checks.number(delay, "delay", 0, 30)
        self.depth = checks.number(depth, "depth", 0, 10)
        self.regen = checks.number(regen, "regen", -95, 95)
        self.width = checks.number(width, "width", 0, 100)
        self.speed = checks.number(speed, "speed", 0.1, 10)
        self.phase = checks.number(phase, "phase", 0, 100)
        self.modulation = checks.enumeration(modulation, Modulation, "modulation")
        self.interpolation = checks.enumeration(interpolation, Interpolation, "interpolation")

    def _sound(self, array):
        channels, length = array.shape[-2:]
        most = int((self.delay + self.depth) / 1000 * self.sample_rate + 0.5)
        least = int(self.delay / 1000 * self.sample_rate + 0.5)
        period = int(self.sample_rate / self.speed)
        delays = swing(self.modulation, period, least, most, 0.75)
        # How far ahead each channel is, in samples of the swing.
        ahead = (np.arange(channels) * period * self.phase / 100 + 0.5).astype(int)
        delays = delays[(np.arange(length)[:, None] + ahead) % period]
        delayed = self._delayed(array, delays, most + 2)
        back, added = self.regen / 100, self.width / 100
        made = array / (1 + added) + delayed * added / (1 + added) * (1 - abs(back))
        return np.clip(made, -1, 1)

    def _delayed(self, sound: np.ndarray, delays: np.ndarray, size: int) -> np.ndarray:
        """What was heard before, by channel; part of it comes back into the sound.

        Args:
            sound: (..., channel, time).
            delays: in samples, (time, channel).
            size: of the memory, in samples.
        """
        memory = np.zeros((*sound.shape[:-1], size))
        made, last = np.zeros_like(sound), np.zeros(sound.shape[:-1])
        channel = np.arange(sound.shape[-2])
        whole = np.floor(delays).astype(int)
        parts, steps = delays - whole, (0, 1, 2)
        for time in range(sound.shape[-1]):
            place = -time % size
            memory[..., place] = sound[..., time] + last * self.regen / 100
            near, next_, far = (
                memory[..., channel, (place + whole[time] + s) % size] for s in steps
            )
            part = parts[time]
            if self.interpolation is Interpolation.LINEAR:
                last = near + (next_ - near) * part
            else:
                # The parabola through the three.
                slope, bend = next_ - near, (far - near) / 2 - (next_ - near)
                last = near + part * (slope + bend * (part - 1))
            made[..., time] = last
        return made
