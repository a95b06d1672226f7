# SPDX-License-Identifier: Apache-2.0
"""Short-time Fourier transforms of Float64 arrays and back: the formulas, without arguments to
check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mycel.dataset.audio.names import BorderType, WindowType
from mycel.kernel.base.errors import wrong

KAISER_BETA = 12.0


def window_of(kind: WindowType, length: int) -> np.ndarray:
    """A window of this length that continues periodically."""
    if length == 1:
        return np.ones(1)
    shapes = {
        WindowType.BARTLETT: np.bartlett,
        WindowType.BLACKMAN: np.blackman,
        WindowType.HAMMING: np.hamming,
        WindowType.HANN: np.hanning,
        WindowType.KAISER: lambda size: np.kaiser(size, KAISER_BETA),
    }
    return shapes[kind](length + 1)[:-1]


class Frames(NamedTuple):
    """How a sound is cut into frames.

    Args:
        n_fft: how long a frame is.
        hop_length: how far frames are apart.
        window: n_fft factors of a frame.
        center: whether the middle of the first frame is the first sample.
        pad_mode: what stands beyond the ends then.
        onesided: whether only frequencies from zero to half the sample rate are kept.
    """

    n_fft: int
    hop_length: int
    window: np.ndarray
    center: bool = True
    pad_mode: BorderType = BorderType.REFLECT
    onesided: bool = True

    @classmethod
    def of(cls, lengths: tuple[int, int, int], kind: WindowType, *others) -> Frames:
        """With a window of a kind in the middle of the frame; `lengths` as window_lengths gives."""
        n_fft, win_length, hop_length = lengths
        before = (n_fft - win_length) // 2
        window = np.zeros(n_fft)
        window[before : before + win_length] = window_of(kind, win_length)
        return cls(n_fft, hop_length, window, *others)

    @property
    def bins(self) -> int:
        """How many frequencies there are."""
        return self.n_fft // 2 + 1 if self.onesided else self.n_fft

    def spectrum(self, sound: np.ndarray, what: str) -> np.ndarray:
        """Complex numbers (..., freq, time) of a sound (..., time).

        Raises:
            RuntimeError: the sound is too short.
        """
        if self.center:
            sound = padded(sound, self.n_fft // 2, self.pad_mode, what)
        if sound.shape[-1] < self.n_fft:
            expected = f"at least n_fft={self.n_fft} samples long"
            raise wrong(RuntimeError, what, expected, f"{sound.shape[-1]}")
        cut = np.lib.stride_tricks.sliding_window_view(sound, self.n_fft, -1)
        cut = cut[..., :: self.hop_length, :] * self.window
        made = np.fft.rfft(cut) if self.onesided else np.fft.fft(cut)
        return np.swapaxes(made, -1, -2)

    def sound(self, spectrum: np.ndarray, length: int | None) -> np.ndarray:
        """The sound (..., time) that the spectrum (..., freq, time) is nearest to.

        Args:
            spectrum: complex.
            length: what is longer is cut off, what is shorter filled with zeros; None keeps all.
        """
        parts = np.swapaxes(spectrum, -1, -2)
        if self.onesided:
            parts = np.fft.irfft(parts, self.n_fft)
        else:
            parts = np.fft.ifft(parts).real
        parts = parts * self.window
        number = parts.shape[-2]
        total = self.n_fft + self.hop_length * (number - 1)
        made, weight = np.zeros((*parts.shape[:-2], total)), np.zeros(total)
        for index in range(number):
            place = slice(index * self.hop_length, index * self.hop_length + self.n_fft)
            made[..., place] += parts[..., index, :]
            weight[place] += self.window**2
        start = self.n_fft // 2 if self.center else 0
        end = total - start if length is None else min(start + length, total)
        made, weight = made[..., start:end], weight[start:end]
        made = made / np.where(np.abs(weight) > 1e-11, weight, 1)
        missing = 0 if length is None else length - made.shape[-1]
        return extended(made, 0, missing) if missing else made


_MODES = {
    BorderType.CONSTANT: "constant",
    BorderType.EDGE: "edge",
    BorderType.REFLECT: "reflect",
    BorderType.SYMMETRIC: "symmetric",
}


def padded(sound: np.ndarray, width: int, mode: BorderType, what: str) -> np.ndarray:
    """The sound with so many samples more at both ends of its last axis.

    Raises:
        RuntimeError: it is empty.
    """
    if not sound.shape[-1]:
        raise wrong(RuntimeError, what, "at least one sample long", "empty")
    widths = [(0, 0)] * (sound.ndim - 1) + [(width, width)]
    return np.pad(sound, widths, _MODES[mode])  # type: ignore[call-overload]


def stretched(spectrum: np.ndarray, rate: float, advance: np.ndarray) -> np.ndarray:
    """Complex frames (..., freq, time) played faster by a rate without another pitch.

    Args:
        advance: how far the phase of each frequency turns from frame to frame, (freq, 1).
    """
    times = np.arange(0, spectrum.shape[-1], rate)
    before = times.astype(int)
    beyond = extended(spectrum, 0, 2)
    first, second = beyond[..., before], beyond[..., before + 1]
    turned = np.angle(second) - np.angle(first) - advance
    turned += advance - 2 * np.pi * np.round(turned / (2 * np.pi))
    phases = np.concatenate([np.angle(spectrum[..., :1]), turned[..., :-1]], -1).cumsum(-1)
    share = times - before
    return (share * np.abs(second) + (1 - share) * np.abs(first)) * np.exp(1j * phases)


def extended(array: np.ndarray, before: int, behind: int) -> np.ndarray:
    """Zeros before and behind along the last axis."""
    return np.pad(array, np.array([(0, 0)] * (array.ndim - 1) + [(before, behind)]))


def as_pairs(spectrum: np.ndarray) -> np.ndarray:
    """Complex numbers as a last axis of real and imaginary parts."""
    return np.stack([np.real(spectrum), np.imag(spectrum)], -1)


def from_pairs(pairs: np.ndarray) -> np.ndarray:
    """Complex numbers of a last axis of real and imaginary parts."""
    return pairs[..., 0] + 1j * pairs[..., 1]
