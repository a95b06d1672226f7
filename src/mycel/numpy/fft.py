# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mindspore.numpy.fft`: Fourier transforms under NumPy's names.

`n` and `s` are lengths to cut or fill up to first; `norm` is "backward" (the default), "ortho" or
"forward": which of a transform and its inverse divides by the length.
"""

from __future__ import annotations

from mycel import ops
from mycel.numpy.convert import as_tensor


def fft(a, n=None, axis=-1, norm=None):
    """The Fourier transform, along one axis.

    Example:
        >>> print(ms.numpy.fft.fft(Tensor([1.0, 0.0])))
        [1.+0.j 1.+0.j]
    """
    return ops.fft(as_tensor(a, "a"), n, axis, norm)


def ifft(a, n=None, axis=-1, norm=None):
    """The inverse Fourier transform, along one axis.

    Example:
        >>> print(ms.numpy.fft.ifft(Tensor([2.0, 0.0])))
        [1.+0.j 1.+0.j]
    """
    return ops.ifft(as_tensor(a, "a"), n, axis, norm)


def rfft(a, n=None, axis=-1, norm=None):
    """The Fourier transform of real numbers: half of it, the rest is its mirror, along one axis.

    Example:
        >>> print(ms.numpy.fft.rfft(Tensor([1.0, 0.0])))
        [1.+0.j 1.+0.j]
    """
    return ops.rfft(as_tensor(a, "a"), n, axis, norm)


def irfft(a, n=None, axis=-1, norm=None):
    """The real numbers whose half transform this is, along one axis.

    Example:
        >>> print(ms.numpy.fft.irfft(Tensor([1.0, 1.0])))
        [1. 0.]
    """
    return ops.irfft(as_tensor(a, "a"), n, axis, norm)


def hfft(a, n=None, axis=-1, norm=None):
    """The Fourier transform of half a signal that is its own mirror: real numbers, along one axis.

    Example:
        >>> print(ms.numpy.fft.hfft(Tensor([1.0, 0.0])))
        [1. 1.]
    """
    return ops.hfft(as_tensor(a, "a"), n, axis, norm)


def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of `hfft`: half a signal that is its own mirror, along one axis.

    Example:
        >>> print(ms.numpy.fft.ihfft(Tensor([2.0, 0.0])))
        [1.-0.j 1.-0.j]
    """
    return ops.ihfft(as_tensor(a, "a"), n, axis, norm)


def fft2(a, s=None, axes=(-2, -1), norm=None):
    """`fft` along two axes.

    Example:
        >>> ms.numpy.fft.fft2(ms.numpy.ones((2, 4))).shape
        (2, 4)
    """
    return ops.fft2(as_tensor(a, "a"), s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None):
    """`ifft` along two axes.

    Example:
        >>> ms.numpy.fft.ifft2(ms.numpy.ones((2, 4))).shape
        (2, 4)
    """
    return ops.ifft2(as_tensor(a, "a"), s, axes, norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None):
    """`rfft` along two axes.

    Example:
        >>> ms.numpy.fft.rfft2(ms.numpy.ones((2, 4))).shape
        (2, 3)
    """
    return ops.rfft2(as_tensor(a, "a"), s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None):
    """`irfft` along two axes.

    Example:
        >>> ms.numpy.fft.irfft2(ms.numpy.ones((2, 4))).shape
        (2, 6)
    """
    return ops.irfft2(as_tensor(a, "a"), s, axes, norm)


def hfft2(a, s=None, axes=(-2, -1), norm=None):
    """`hfft` along two axes.

    Example:
        >>> ms.numpy.fft.hfft2(ms.numpy.ones((2, 4))).shape
        (2, 6)
    """
    return ops.hfft2(as_tensor(a, "a"), s, axes, norm)


def ihfft2(a, s=None, axes=(-2, -1), norm=None):
    """`ihfft` along two axes.

    Example:
        >>> ms.numpy.fft.ihfft2(ms.numpy.ones((2, 4))).shape
        (2, 3)
    """
    return ops.ihfft2(as_tensor(a, "a"), s, axes, norm)


def fftn(a, s=None, axes=None, norm=None):
    """`fft` along several axes, all by default.

    Example:
        >>> ms.numpy.fft.fftn(ms.numpy.ones((2, 4))).shape
        (2, 4)
    """
    return ops.fftn(as_tensor(a, "a"), s, axes, norm)


def ifftn(a, s=None, axes=None, norm=None):
    """`ifft` along several axes, all by default.

    Example:
        >>> ms.numpy.fft.ifftn(ms.numpy.ones((2, 4))).shape
        (2, 4)
    """
    return ops.ifftn(as_tensor(a, "a"), s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None):
    """`rfft` along several axes, all by default.

    Example:
        >>> ms.numpy.fft.rfftn(ms.numpy.ones((2, 4))).shape
        (2, 3)
    """
    return ops.rfftn(as_tensor(a, "a"), s, axes, norm)


def irfftn(a, s=None, axes=None, norm=None):
    """`irfft` along several axes, all by default.

    Example:
        >>> ms.numpy.fft.irfftn(ms.numpy.ones((2, 4))).shape
        (2, 6)
    """
    return ops.irfftn(as_tensor(a, "a"), s, axes, norm)


def hfftn(a, s=None, axes=None, norm=None):
    """`hfft` along several axes, all by default.

    Example:
        >>> ms.numpy.fft.hfftn(ms.numpy.ones((2, 4))).shape
        (2, 6)
    """
    return ops.hfftn(as_tensor(a, "a"), s, axes, norm)


def ihfftn(a, s=None, axes=None, norm=None):
    """`ihfft` along several axes, all by default.

    Example:
        >>> ms.numpy.fft.ihfftn(ms.numpy.ones((2, 4))).shape
        (2, 3)
    """
    return ops.ihfftn(as_tensor(a, "a"), s, axes, norm)


def fftshift(x, axes=None):
    """What `fft` gives with the frequency 0 in the middle.

    Example:
        >>> print(ms.numpy.fft.fftshift(Tensor([0, 1, 2])))
        [2 0 1]
    """
    return ops.fftshift(as_tensor(x, "x"), axes)


def ifftshift(x, axes=None):
    """The inverse of `fftshift`.

    Example:
        >>> print(ms.numpy.fft.ifftshift(Tensor([0, 1, 2])))
        [1 2 0]
    """
    return ops.ifftshift(as_tensor(x, "x"), axes)


def fftfreq(n, d=1.0, dtype=None):
    """The frequencies of what `fft` gives, for n numbers that are d apart.

    Example:
        >>> print(ms.numpy.fft.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    return ops.fftfreq(n, d, dtype)


def rfftfreq(n, d=1.0, dtype=None):
    """The frequencies of what `rfft` gives, for n numbers that are d apart.

    Example:
        >>> print(ms.numpy.fft.rfftfreq(4))
        [0.   0.25 0.5 ]
    """
    return ops.rfftfreq(n, d, dtype)
