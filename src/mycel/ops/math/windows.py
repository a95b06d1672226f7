# SPDX-License-Identifier: Apache-2.0
"""Windows: weights for a stretch of a signal, small at its ends."""

from __future__ import annotations

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, float64, numpy_dtype
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite


def _window(shape, length, periodic, dtype):
    """`shape(length)` as a Tensor; a periodic window is the longer one by 1 without its last."""
    if isinstance(length, Tensor):
        length = int(length)
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)):
        raise errors.wrong(TypeError, "window_length", "an integer", repr(length))
    if length < 0:
        raise errors.wrong(ValueError, "window_length", "at least 0", str(length))
    kind = numpy_dtype(dtype)
    if kind.kind not in "fV":
        raise errors.wrong(TypeError, "The dtype of a window", "a real one", str(dtype))
    if length < 2:
        return Tensor(np.ones(length, kind))
    made = shape(length + 1)[:-1] if periodic else shape(length)
    return Tensor(made.astype(kind))


@composite(
    "ops.bartlett_window(window_length=length, periodic=periodic, dtype=dtype)",
    "BartlettWindow(periodic=periodic, dtype=dtype)(window_length=length)",
)
def bartlett_window(length, periodic=True, dtype=None):
    """A window that rises and falls along straight lines.

    Args:
        length: how many weights; a number or a Tensor of one.
        periodic: whether the window is one period of a periodic one, the default; False makes it
            symmetric.
        dtype: a real element type; None, the default, for Float32.

    Raises:
        TypeError: the length is not an integer, or the type is not a real one.
        ValueError: the length is negative.

    Example:
        >>> print(ops.bartlett_window(4))
        [0.  0.5 1.  0.5]
    """
    return _window(np.bartlett, length, periodic, dtype or float32)


@composite(
    "ops.blackman_window(window_length=length, periodic=periodic, dtype=dtype)",
    "BlackmanWindow(periodic=periodic, dtype=dtype)(window_length=length)",
)
def blackman_window(length, periodic=True, dtype=None):
    """The window 0.42 - 0.5 cos(t) + 0.08 cos(2t), for t from 0 to 2π.

    Args:
        length: how many weights; a number or a Tensor of one.
        periodic: whether the window is one period of a periodic one, the default; False makes it
            symmetric.
        dtype: a real element type; None, the default, for Float32.

    Example:
        >>> ops.blackman_window(4).shape
        (4,)
    """
    return _window(np.blackman, length, periodic, dtype or float32)


@composite(
    "ops.hamming_window(window_length=length, periodic=periodic, alpha=alpha, beta=beta,"
    " dtype=dtype)",
    "HammingWindow(periodic=periodic, alpha=alpha, beta=beta, dtype=dtype)(length)",
)
def hamming_window(length, periodic=True, alpha=0.54, beta=0.46, dtype=None):
    """The window alpha - beta cos(t), for t from 0 to 2π.

    Args:
        length: how many weights; a number or a Tensor of one.
        periodic: whether the window is one period of a periodic one, the default; False makes it
            symmetric.
        alpha: the mean weight, 0.54 by default.
        beta: the factor of the cosine, 0.46 by default.
        dtype: a real element type; None, the default, for Float32.

    Example:
        >>> print(ops.hamming_window(4, True, 0.5, 0.5))
        [0.  0.5 1.  0.5]
    """

    def shape(count):
        return alpha - beta * np.cos(2 * np.pi * np.arange(count) / (count - 1))

    return _window(shape, length, periodic, dtype or float32)


@composite("ops.hann_window(window_length=length, periodic=periodic, dtype=dtype)")
def hann_window(length, periodic=True, dtype=None):
    """The window 0.5 - 0.5 cos(t), for t from 0 to 2π.

    Args:
        length: how many weights; a number or a Tensor of one.
        periodic: whether the window is one period of a periodic one, the default; False makes it
            symmetric.
        dtype: a real element type; None, the default, for Float64.

    Example:
        >>> print(ops.hann_window(4))
        [0.  0.5 1.  0.5]
    """
    return _window(np.hanning, length, periodic, dtype or float64)


@composite("ops.kaiser_window(window_length=length, periodic=periodic, beta=beta, dtype=dtype)")
def kaiser_window(length, periodic=True, beta=12.0, dtype=None):
    """A window made with the Bessel function i0, Float64; see `ops.bartlett_window`.

    Args:
        length: how many weights; a number or a Tensor of one.
        periodic: whether the window is one period of a periodic one, the default; False makes it
            symmetric.
        beta: how narrow the window is, 12 by default.
        dtype: a real element type; None, the default, for Float64.

    Example:
        >>> print(ops.kaiser_window(2, beta=0.0))
        [1. 1.]
    """
    return _window(lambda count: np.kaiser(count, beta), length, periodic, dtype or float64)
