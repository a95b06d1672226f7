# SPDX-License-Identifier: Apache-2.0
"""What an operation on sound is: what it is given, what type comes out, and checks of arguments."""

from __future__ import annotations

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import TensorOperation
from mycel.kernel.base.errors import wrong

FLOAT_MOST = float(np.finfo(np.float32).max)
# The forms of inputs, by the number of dimensions that an operation looks at.
WAVE, CHANNELS, SPECTRUM, PAIRS, COMPLEX = (
    *("(..., time)", "(..., channel, time)", "(..., freq, time)"),
    *("(..., 2): real and imaginary parts", "(..., freq, time, 2): real and imaginary parts"),
)
_DIMENSIONS = {WAVE: 1, CHANNELS: 2, SPECTRUM: 2, PAIRS: 1, COMPLEX: 3}


class AudioTensorOperation(TensorOperation):
    """The base class of operations on sound: arrays of numbers become arrays of floats.

    Sounds are computed in float64. The result is Float64 where the input is, else Float32.

    Example:
        >>> import mycel.dataset.audio as audio
        >>> audio.Gain(20.0)(np.array([0.5, -0.25], np.float32))
        array([ 5. , -2.5], dtype=float32)
    """

    form = WAVE
    # Which types of floats stay as they are.
    kept: tuple = (np.float64,)

    def __call__(self, *columns):
        """The result for one sound or spectrogram."""
        for column in columns:
            if not isinstance(column, np.ndarray):
                expected = "a NumPy array"
                raise wrong(TypeError, self._input, expected, type(column).__name__)
        return super().__call__(*columns)

    @property
    def _input(self) -> str:
        return f"The input of {type(self).__name__}"

    def _arrays(self, array):
        self._check(array)
        kind = self._result_type(array.dtype)
        made = self._sound(array.astype(np.float64))
        if isinstance(made, tuple):
            return tuple([part.astype(kind) for part in made])
        return made.astype(kind)

    def _check(self, array: np.ndarray) -> None:
        if array.dtype.kind not in "biuf":
            raise wrong(RuntimeError, self._input, "of numbers", str(array.dtype))
        in_pairs = self.form in (PAIRS, COMPLEX)
        if array.ndim < _DIMENSIONS[self.form] or (in_pairs and array.shape[-1] != 2):
            raise wrong(RuntimeError, self._input, f"of shape {self.form}", f"{array.shape}")

    def _result_type(self, kind: np.dtype) -> np.dtype:
        return kind if kind in self.kept else np.dtype(np.float32)

    def _sound(self, array: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """The result for a Float64 array, in any type of floats."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it does to a sound.")


def number(value, name: str) -> float:
    """`value`, a number that Float32 holds."""
    return checks.number(value, name, -FLOAT_MOST, FLOAT_MOST)


def not_negative(value, name: str) -> float:
    """`value`, a number of at least 0."""
    return checks.number(value, name, 0, FLOAT_MOST)


def positive(value, name: str) -> float:
    """`value`, a number above 0."""
    return checks.number(value, name, 0, FLOAT_MOST, above=True)


def count(value, name: str) -> int:
    """`value`, an integer of at least 1."""
    return checks.integer(value, name, 1)


def natural(value, name: str) -> int:
    """`value`, an integer of at least 0."""
    return checks.integer(value, name, 0)


def rate(value, name: str = "sample_rate") -> int:
    """`value`, an integer that is not 0.

    Raises:
        TypeError: it is no integer.
        ValueError: it is 0.
    """
    if not checks.integer(value, name, -checks.INTEGER_MOST - 1):
        raise wrong(ValueError, name, "an int that is not 0", repr(value))
    return value


def quality(value, name: str = "Q") -> float:
    """`value`, a number in (0, 1]."""
    return checks.number(value, name, 0, 1, above=True)


def window_lengths(n_fft, win_length, hop_length, parts: int = 2) -> tuple[int, int, int]:
    """The lengths of a transform, of its window and of a step.

    Args:
        n_fft: the length of the transform.
        win_length: None means `n_fft`.
        hop_length: None means a part of `win_length`.
        parts: how many such parts there are.

    Raises:
        TypeError, ValueError: one is no positive integer, or the window is longer than `n_fft`.
    """
    count(n_fft, "n_fft")
    win_length = n_fft if win_length is None else count(win_length, "win_length")
    if win_length > n_fft:
        raise wrong(ValueError, "win_length", f"at most n_fft={n_fft}", repr(win_length))
    hop_length = win_length // parts if hop_length is None else hop_length
    return n_fft, win_length, count(hop_length, "hop_length")
