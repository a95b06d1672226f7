# SPDX-License-Identifier: Apache-2.0
"""Where somebody speaks, and how high."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mycel.dataset.audio.frames import extended, window_of
from mycel.dataset.audio.names import WindowType
from mycel.dataset.audio.operation import (
    AudioTensorOperation,
    count,
    not_negative,
    number,
    positive,
    rate,
)
from mycel.kernel.base.errors import wrong

_TINY = 1e-9
# Of two peaks the earlier one counts if it is nearly as high.
_NEARLY = 0.99


class DetectPitchFrequency(AudioTensorOperation):
    """How high a voice is in each frame: the shift at which a sound is most like itself.

    Args:
        sample_rate: samples in a second, not 0.
        frame_time: how long a frame is, in seconds.
        win_length: of how many frames the median is taken.
        freq_low, freq_high: the lowest and the highest frequency looked for, in Hz.

    Input: (..., time). Output: (..., frames), in Hz.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or is too short.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> tone = np.sin(2 * np.pi * 200 * np.arange(1600, dtype=np.float32) / 8000)
        >>> float(audio.DetectPitchFrequency(8000, win_length=5)(tone)[2])
        200.0
    """

    kept = ()

    def __init__(
        self,
        sample_rate: int,
        frame_time: float = 0.01,
        win_length: int = 30,
        freq_low: int | float = 85,
        freq_high: int | float = 3400,
    ):
        self.sample_rate = rate(sample_rate)
        self.frame_time = positive(frame_time, "frame_time")
        self.win_length = count(win_length, "win_length")
        self.freq_low = positive(freq_low, "freq_low")
        self.freq_high = positive(freq_high, "freq_high")

    def _sound(self, array):
        likeness = self._likeness(array)
        least = math.ceil(self.sample_rate / self.freq_high)
        early = likeness[..., least : likeness.shape[-1] // 2]
        later = likeness[..., least:]
        if not early.shape[-1]:
            raise wrong(RuntimeError, "freq_high", "far above freq_low", repr(self.freq_high))
        best = np.where(early.max(-1) > _NEARLY * later.max(-1), early.argmax(-1), later.argmax(-1))
        shifts = self._smooth(best + least + 1)
        return self.sample_rate / (_TINY + shifts)

    def _likeness(self, sound: np.ndarray) -> np.ndarray:
        """How like each frame is to what comes so many samples later, (..., frames, shifts)."""
        shifts = math.ceil(self.sample_rate / self.freq_low)
        size = math.ceil(self.sample_rate * self.frame_time)
        number_ = math.ceil(sound.shape[-1] / size)
        missing = shifts + number_ * size - sound.shape[-1]
        sound = extended(sound, 0, missing)
        cut = np.lib.stride_tricks.sliding_window_view(sound, size, -1)
        frames = cut[..., : number_ * size : size, :]
        found = []
        for shift in range(1, shifts + 1):
            other = cut[..., shift : shift + number_ * size : size, :]
            norms = [(_TINY + np.linalg.norm(part, axis=-1)) ** 2 for part in (frames, other)]
            found.append((frames * other).sum(-1) / norms[0] / norms[1])
        return np.stack(found, -1)

    def _smooth(self, shifts: np.ndarray) -> np.ndarray:
        """The median of the shifts of the frames around; of two in the middle the lower one."""
        before = (self.win_length - 1) // 2
        if shifts.shape[-1] < max(before + 1, self.win_length - before):
            expected = f"long enough for win_length={self.win_length} frames"
            raise wrong(RuntimeError, self._input, expected, f"{shifts.shape[-1]} frames")
        first = np.repeat(shifts[..., :1], before, -1)
        beyond = np.concatenate([first, shifts], -1)
        cut = np.lib.stride_tricks.sliding_window_view(beyond, self.win_length, -1)
        return np.sort(cut, -1)[..., (self.win_length - 1) // 2]


class Vad(AudioTensorOperation):
    """A sound from where somebody begins to speak; silence before it is cut off.

    Args:
        sample_rate: samples in a second.
        trigger_level: the level from which a measurement counts as speech.
        trigger_time: over how many seconds measurements are averaged.
        search_time: how many seconds before are searched for softer speech.
        allowed_gap: how many seconds of silence may lie between such parts.
        pre_trigger_time: how many seconds are kept before the first part.
        boot_time: over how many seconds the noise is first estimated.
        noise_up_time, noise_down_time: how fast that estimate rises and falls, in seconds.
        noise_reduction_amount: how much of the noise is taken away before measuring.
        measure_freq: how many measurements in a second.
        measure_duration: how long each is, in seconds; None means twice the time between them.
        measure_smooth_time: over how many seconds spectra are averaged.
        hp_filter_freq, lp_filter_freq: frequencies that count, in Hz.
        hp_lifter_freq, lp_lifter_freq: the pitches that count, in Hz.

    Input: (..., time). Output: (..., time), shorter; empty where nobody speaks.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has no dimension, is not of numbers, or no pitch is left to count.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Vad(8000)(np.zeros(4000, np.float32)).shape
        (0,)
    """

    def __init__(
        self,
        sample_rate: int,
        trigger_level: float = 7.0,
        trigger_time: float = 0.25,
        search_time: float = 1.0,
        allowed_gap: float = 0.25,
        pre_trigger_time: float = 0.0,
        boot_time: float = 0.35,
        noise_up_time: float = 0.1,
        noise_down_time: float = 0.01,
        noise_reduction_amount: float = 1.35,
        measure_freq: float = 20.0,
        measure_duration: float | None = None,
        measure_smooth_time: float = 0.4,
        hp_filter_freq: float = 50.0,
        lp_filter_freq: float = 6000.0,
        hp_lifter_freq: float = 150.0,
        lp_lifter_freq: float = 2000.0,
    ):
        self.sample_rate = count(sample_rate, "sample_rate")
        self.trigger_level = number(trigger_level, "trigger_level")
        self.trigger_time = not_negative(trigger_time, "trigger_time")
        self.search_time = not_negative(search_time, "search_time")
        self.allowed_gap = not_negative(allowed_gap, "allowed_gap")
        self.pre_trigger_time = not_negative(pre_trigger_time, "pre_trigger_time")
        self.boot_time = not_negative(boot_time, "boot_time")
        self.noise_up_time = not_negative(noise_up_time, "noise_up_time")
        self.noise_down_time = not_negative(noise_down_time, "noise_down_time")
        if noise_up_time < noise_down_time:
            expected = f"at least noise_down_time={noise_down_time}"
            raise wrong(ValueError, "noise_up_time", expected, repr(noise_up_time))
        self.noise_reduction_amount = not_negative(noise_reduction_amount, "noise_reduction_amount")
        self.measure_freq = positive(measure_freq, "measure_freq")
        if measure_duration:
            not_negative(measure_duration, "measure_duration")
        self.measure_duration = measure_duration or 2 / measure_freq
        self.measure_smooth_time = not_negative(measure_smooth_time, "measure_smooth_time")
        self.hp_filter_freq = positive(hp_filter_freq, "hp_filter_freq")
        self.lp_filter_freq = positive(lp_filter_freq, "lp_filter_freq")
        self.hp_lifter_freq = positive(hp_lifter_freq, "hp_lifter_freq")
        self.lp_lifter_freq = positive(lp_lifter_freq, "lp_lifter_freq")

    def _sound(self, array):
        sound = array.reshape(-1, array.shape[-1])
        length = int(self.sample_rate * self.measure_duration + 0.5)
        period = int(self.sample_rate / self.measure_freq + 0.5)
        searched = math.ceil(self.search_time * self.measure_freq)
        kept = int(self.pre_trigger_time * self.sample_rate + 0.5)
        before = kept + searched * period + length
        sound = extended(sound, before, 0)
        history: list[np.ndarray] = []
        mean, keep = np.zeros(len(sound)), self._memory(self.trigger_time)
        for position, levels in self._levels(sound, length, period):
            history.append(levels)
            mean = mean * keep + levels * (1 - keep)
            if (mean >= self.trigger_level).any():
                back = self._steps_back(history, mean, searched)
                start = position - before + (searched - back) * period
                made = sound[:, max(start, before) :]
                return made.reshape(*array.shape[:-1], made.shape[-1])
        return array[..., :0]

    def _memory(self, seconds: float) -> float:
        """How much of an average stays from one measurement to the next."""
        return math.exp(-1 / (seconds * self.measure_freq)) if seconds else 0.0

    def _levels(
        self, sound: np.ndarray, length: int, period: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The places of measurements (where they end), and the level of each channel there."""
        size = 16
        while size < length:
            size *= 2
        low = max(int(self.hp_filter_freq / self.sample_rate * size + 0.5), 1)
        high = min(int(self.lp_filter_freq / self.sample_rate * size + 0.5), size // 2)
        first = math.ceil(self.sample_rate / 2 / self.lp_lifter_freq)
        last = min(math.floor(self.sample_rate / 2 / self.hp_lifter_freq), size // 4)
        if last <= first or high <= low:
            raise wrong(RuntimeError, "Vad", "given frequencies below sample_rate / 2", "others")
        window = window_of(WindowType.HANN, length) * 2 / math.sqrt(length)
        lifter = window_of(WindowType.HANN, high - low) * 2 / math.sqrt(high - low)
        smooth, rise, fall = map(
            self._memory, (self.measure_smooth_time, self.noise_up_time, self.noise_down_time)
        )
        spectrum = noise = np.zeros((len(sound), high - low))
        boots = int(self.boot_time * self.measure_freq - 0.5)
        for index, end in enumerate(range(length, sound.shape[-1], period)):
            booting = index <= boots
            loud = np.abs(np.fft.rfft(sound[:, end - length : end] * window, size))[:, low:high]
            keep = index / (index + 1) if booting else smooth
            spectrum = spectrum * keep + loud * (1 - keep)
            power = spectrum**2
            kept = 0 if booting else np.where(power > noise, rise, fall)
            noise = noise * kept + power * (1 - kept)
            clean = np.sqrt(np.maximum(0, power - self.noise_reduction_amount * noise))
            buffer = np.zeros((len(sound), size // 2))
            buffer[:, low:high] = clean * lifter
            cepstrum = np.abs(np.fft.rfft(buffer))[:, first:last] ** 2
            with np.errstate(divide="ignore"):
                yield end, np.maximum(0, 21 + np.log(cepstrum.mean(-1)))

    def _steps_back(self, history: list, mean: np.ndarray, searched: int) -> int:
        """How many measurements before this one speech began, over all channels."""
        gap = int(self.allowed_gap * self.measure_freq + 0.5)
        levels = np.zeros((searched, len(mean)))
        recent = np.array(history[: -searched - 1 : -1])
        levels[: len(recent)] = recent
        most = 0
        # Channels without speech of their own do not count.
        for channel in levels.T[mean >= self.trigger_level]:
            spoken = silent = searched
            for back, level in enumerate(channel):
                if level >= self.trigger_level and back <= spoken + gap:
                    spoken = silent = back
                elif level == 0 and spoken >= silent:
                    silent = back
            most = max(most, min(searched - 1, silent))
        return min(most, searched)
