# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mindspore.numpy.fft`: Fourier transforms under NumPy's names.

`n` and `s` are lengths to cut or fill up to first; `norm` is "backward" (the default), "ortho" or
"forward": which of a transform and its inverse divides by the length.
"""

from __future__ import annotations

from mycel import ops
from mycel.numpy.declare import unary

# fmt: off
fft = unary("numpy.fft.fft(a, n=None, axis=-1, norm=None)", ops.fft,
    "The Fourier transform, along one axis.", "fft(Tensor([1.0, 0.0]))", "[1.+0.j 1.+0.j]")
ifft = unary("numpy.fft.ifft(a, n=None, axis=-1, norm=None)", ops.ifft,
    "The inverse Fourier transform, along one axis.", "ifft(Tensor([2.0, 0.0]))", "[1.+0.j 1.+0.j]")
rfft = unary("numpy.fft.rfft(a, n=None, axis=-1, norm=None)", ops.rfft,
    "The Fourier transform of real numbers: half of it, the rest is its mirror, along one axis.",
    "rfft(Tensor([1.0, 0.0]))", "[1.+0.j 1.+0.j]")
irfft = unary("numpy.fft.irfft(a, n=None, axis=-1, norm=None)", ops.irfft,
    "The real numbers whose half transform this is, along one axis.",
    "irfft(Tensor([1.0, 1.0]))", "[1. 0.]")
hfft = unary("numpy.fft.hfft(a, n=None, axis=-1, norm=None)", ops.hfft,
    "The Fourier transform of half a signal that is its own mirror: real numbers, along one axis.",
    "hfft(Tensor([1.0, 0.0]))", "[1. 1.]")
ihfft = unary("numpy.fft.ihfft(a, n=None, axis=-1, norm=None)", ops.ihfft,
    "The inverse of `hfft`: half a signal that is its own mirror, along one axis.",
    "ihfft(Tensor([2.0, 0.0]))", "[1.-0.j 1.-0.j]")
fft2 = unary("numpy.fft.fft2(a, s=None, axes=(-2, -1), norm=None)", ops.fft2,
    "`fft` along two axes.", "fft2(ms.numpy.ones((2, 4))).shape", "(2, 4)")
ifft2 = unary("numpy.fft.ifft2(a, s=None, axes=(-2, -1), norm=None)", ops.ifft2,
    "`ifft` along two axes.", "ifft2(ms.numpy.ones((2, 4))).shape", "(2, 4)")
rfft2 = unary("numpy.fft.rfft2(a, s=None, axes=(-2, -1), norm=None)", ops.rfft2,
    "`rfft` along two axes.", "rfft2(ms.numpy.ones((2, 4))).shape", "(2, 3)")
irfft2 = unary("numpy.fft.irfft2(a, s=None, axes=(-2, -1), norm=None)", ops.irfft2,
    "`irfft` along two axes.", "irfft2(ms.numpy.ones((2, 4))).shape", "(2, 6)")
hfft2 = unary("numpy.fft.hfft2(a, s=None, axes=(-2, -1), norm=None)", ops.hfft2,
    "`hfft` along two axes.", "hfft2(ms.numpy.ones((2, 4))).shape", "(2, 6)")
ihfft2 = unary("numpy.fft.ihfft2(a, s=None, axes=(-2, -1), norm=None)", ops.ihfft2,
    "`ihfft` along two axes.", "ihfft2(ms.numpy.ones((2, 4))).shape", "(2, 3)")
fftn = unary("numpy.fft.fftn(a, s=None, axes=None, norm=None)", ops.fftn,
    "`fft` along several axes, all by default.", "fftn(ms.numpy.ones((2, 4))).shape", "(2, 4)")
ifftn = unary("numpy.fft.ifftn(a, s=None, axes=None, norm=None)", ops.ifftn,
    "`ifft` along several axes, all by default.", "ifftn(ms.numpy.ones((2, 4))).shape", "(2, 4)")
rfftn = unary("numpy.fft.rfftn(a, s=None, axes=None, norm=None)", ops.rfftn,
    "`rfft` along several axes, all by default.", "rfftn(ms.numpy.ones((2, 4))).shape", "(2, 3)")
irfftn = unary("numpy.fft.irfftn(a, s=None, axes=None, norm=None)", ops.irfftn,
    "`irfft` along several axes, all by default.", "irfftn(ms.numpy.ones((2, 4))).shape", "(2, 6)")
hfftn = unary("numpy.fft.hfftn(a, s=None, axes=None, norm=None)", ops.hfftn,
    "`hfft` along several axes, all by default.", "hfftn(ms.numpy.ones((2, 4))).shape", "(2, 6)")
ihfftn = unary("numpy.fft.ihfftn(a, s=None, axes=None, norm=None)", ops.ihfftn,
    "`ihfft` along several axes, all by default.", "ihfftn(ms.numpy.ones((2, 4))).shape", "(2, 3)")
fftshift = unary("numpy.fft.fftshift(x, axes=None)", ops.fftshift,
    "What `fft` gives with the frequency 0 in the middle.",
    "fftshift(Tensor([0, 1, 2]))", "[2 0 1]")
ifftshift = unary("numpy.fft.ifftshift(x, axes=None)", ops.ifftshift, "The inverse of `fftshift`.",
    "ifftshift(Tensor([0, 1, 2]))", "[1 2 0]")
# fmt: on


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
