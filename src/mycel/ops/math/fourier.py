# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, of one and more dimensions, whole and of short stretches."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import as_float

_INVERSE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
# XLA transforms so many dimensions at once.
_AT_ONCE = 3


def _numbers(x):
    """x as numbers that have a transform: integers and half precision become Float32."""
    x = as_float(x)
    return x.astype(np.float32) if x.dtype.kind != "c" and x.dtype.itemsize < 4 else x


def _other(norm):
    if norm not in _INVERSE:
        raise ValueError(f"norm is 'backward', 'ortho' or 'forward', not {norm!r}.")
    return _INVERSE[norm]


def _plan(x, sizes, axes, norm):
    """The axes of a transform, and their lengths."""
    _other(norm)
    if not x.ndim:
        raise ValueError("A single number has no axis to be transformed along.")
    if axes is None:
        axes = range(-(x.ndim if sizes is None else len(sizes)), 0)
    axes = [axis_in(axis, x.ndim) for axis in ((axes,) if isinstance(axes, int) else axes)]
    if sizes is None:
        sizes = [x.shape[axis] for axis in axes]
    sizes = (sizes,) if isinstance(sizes, int) else sizes
    if len(sizes) != len(axes):
        raise ValueError(f"{len(sizes)} lengths do not fit {len(axes)} dimensions.")
    sizes = [x.shape[axis] if n == -1 else n for n, axis in zip(sizes, axes, strict=True)]
    if any(n < 1 for n in sizes):
        raise ValueError(f"There is no transform of {sizes} elements.")
    return sizes, axes


def _many(transform, x, sizes, axes, norm):
    """A transform to complex numbers over any number of axes."""
    while axes:
        x = transform(x, sizes[-_AT_ONCE:], axes[-_AT_ONCE:], norm=norm)
        sizes, axes = sizes[:-_AT_ONCE], axes[:-_AT_ONCE]
    return x


def _forward(x, sizes, axes, norm):
    return _many(jnp.fft.fftn, _numbers(x), *_plan(x, sizes, axes, norm), norm)


def _backward(x, sizes, axes, norm):
    return _many(jnp.fft.ifftn, _numbers(x), *_plan(x, sizes, axes, norm), norm)


def _forward_real(x, sizes, axes, norm):
    sizes, axes = _plan(x, sizes, axes, norm)
    x = _numbers(x)
    if x.dtype.kind == "c":
        raise TypeError(f"This transform is one of real numbers, but the type is {x.dtype}.")
    x = jnp.fft.rfft(x, sizes[-1], axes[-1], norm)
    return _many(jnp.fft.fftn, x, sizes[:-1], axes[:-1], norm)


def _backward_real(x, sizes, axes, norm):
    given = sizes is not None
    sizes, axes = _plan(x, sizes, axes, norm)
    last = sizes[-1] if given else 2 * (x.shape[axes[-1]] - 1)
    x = _many(jnp.fft.ifftn, _numbers(x), sizes[:-1], axes[:-1], norm)
    return jnp.fft.irfft(x, last, axes[-1], norm)


@op("ops.fft(input=x, n=n, dim=axis, norm=norm)")
def fft(x, *, n=None, axis=-1, norm=None):
    """The Fourier transform along an axis, complex.

    Args:
        n: the length to cut or fill up to first.
        norm: "backward" (the default), "ortho" or "forward": which of the transform and its
            inverse divides by the length; "ortho" divides both by the root.

    Raises:
        ValueError: another norm.

    Example:
        >>> print(ops.fft(Tensor([1.0, 0.0])))
        [1.+0.j 1.+0.j]
    """
    return _forward(x, None if n is None else (n,), (axis,), norm)


@op("ops.ifft(input=x, n=n, dim=axis, norm=norm)")
def ifft(x, *, n=None, axis=-1, norm=None):
    """The inverse of `ops.fft`.

    Example:
        >>> print(ops.ifft(Tensor([1.0, 1.0])))
        [1.+0.j 0.+0.j]
    """
    return _backward(x, None if n is None else (n,), (axis,), norm)


@op("ops.fft2(input=x, s=sizes, dim=axes, norm=norm)")
def fft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The Fourier transform over two axes, complex; see `ops.fft`.

    Example:
        >>> print(ops.fft2(Tensor([[1.0, 0.0]])))
        [[1.+0.j 1.+0.j]]
    """
    return _forward(x, sizes, axes, norm)


@op("ops.ifft2(input=x, s=sizes, dim=axes, norm=norm)")
def ifft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The inverse of `ops.fft2`.

    Example:
        >>> print(ops.ifft2(Tensor([[1.0, 1.0]])))
        [[1.+0.j 0.+0.j]]
    """
    return _backward(x, sizes, axes, norm)


@op("ops.fftn(input=x, s=sizes, dim=axes, norm=norm)")
def fftn(x, *, sizes=None, axes=None, norm=None):
    """The Fourier transform over axes, all of them if none are named, complex; see `ops.fft`.

    Example:
        >>> print(ops.fftn(Tensor([[1.0, 0.0]])))
        [[1.+0.j 1.+0.j]]
    """
    return _forward(x, sizes, axes, norm)


@op("ops.ifftn(input=x, s=sizes, dim=axes, norm=norm)")
def ifftn(x, *, sizes=None, axes=None, norm=None):
    """The inverse of `ops.fftn`.

    Example:
        >>> print(ops.ifftn(Tensor([[1.0, 1.0]])))
        [[1.+0.j 0.+0.j]]
    """
    return _backward(x, sizes, axes, norm)


@op("ops.rfft(input=x, n=n, dim=axis, norm=norm)")
def rfft(x, *, n=None, axis=-1, norm=None):
    """The first half of the Fourier transform of real numbers; the other one mirrors it.

    Raises:
        TypeError: the numbers are complex.

    Example:
        >>> ops.rfft(ops.ones(4)).shape
        (3,)
    """
    return _forward_real(x, None if n is None else (n,), (axis,), norm)


@op("ops.irfft(input=x, n=n, dim=axis, norm=norm)")
def irfft(x, *, n=None, axis=-1, norm=None):
    """The inverse of `ops.rfft`; `n` is the length wanted, an even one if not given.

    Example:
        >>> print(ops.irfft(ops.rfft(Tensor([1.0, 2.0, 3.0])), n=3))
        [1. 2. 3.]
    """
    return _backward_real(x, None if n is None else (n,), (axis,), norm)


@op("ops.rfft2(input=x, s=sizes, dim=axes, norm=norm)")
def rfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """As `ops.fft2`, of real numbers: half of the last axis; the other half mirrors it.

    Example:
        >>> ops.rfft2(ops.ones((3, 4))).shape
        (3, 3)
    """
    return _forward_real(x, sizes, axes, norm)


@op("ops.irfft2(input=x, s=sizes, dim=axes, norm=norm)")
def irfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The inverse of `ops.rfft2`.

    Example:
        >>> ops.irfft2(ops.rfft2(ops.ones((3, 4)))).shape
        (3, 4)
    """
    return _backward_real(x, sizes, axes, norm)


@op("ops.rfftn(input=x, s=sizes, dim=axes, norm=norm)")
def rfftn(x, *, sizes=None, axes=None, norm=None):
    """As `ops.fftn`, of real numbers: half of the last axis; the other half mirrors it.

    Example:
        >>> ops.rfftn(ops.ones((3, 4))).shape
        (3, 3)
    """
    return _forward_real(x, sizes, axes, norm)


@op("ops.irfftn(input=x, s=sizes, dim=axes, norm=norm)")
def irfftn(x, *, sizes=None, axes=None, norm=None):
    """The inverse of `ops.rfftn`.

    Example:
        >>> ops.irfftn(ops.rfftn(ops.ones((3, 4)))).shape
        (3, 4)
    """
    return _backward_real(x, sizes, axes, norm)


@op("ops.hfft(input=x, n=n, dim=axis, norm=norm)")
def hfft(x, *, n=None, axis=-1, norm=None):
    """The real Fourier transform of a sequence whose other half is its mirror, conjugated.

    Example:
        >>> ops.hfft(ops.ones(3)).shape
        (4,)
    """
    return _mirrored(x, None if n is None else (n,), (axis,), norm)


def _mirrored(x, sizes, axes, norm):
    return _backward_real(jnp.conj(x), sizes, axes, _other(norm))


def _mirrored_back(x, sizes, axes, norm):
    return jnp.conj(_forward_real(x, sizes, axes, _other(norm)))


@op("ops.ihfft(input=x, n=n, dim=axis, norm=norm)")
def ihfft(x, *, n=None, axis=-1, norm=None):
    """The inverse of `ops.hfft`.

    Example:
        >>> ops.ihfft(ops.ones(4)).shape
        (3,)
    """
    return _mirrored_back(x, None if n is None else (n,), (axis,), norm)


@op("ops.hfft2(input=x, s=sizes, dim=axes, norm=norm)")
def hfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """As `ops.hfft`, over two axes; the last one is the half.

    Example:
        >>> ops.hfft2(ops.ones((2, 3))).shape
        (2, 4)
    """
    return _mirrored(x, sizes, axes, norm)


@op("ops.ihfft2(input=x, s=sizes, dim=axes, norm=norm)")
def ihfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The inverse of `ops.hfft2`.

    Example:
        >>> ops.ihfft2(ops.ones((2, 4))).shape
        (2, 3)
    """
    return _mirrored_back(x, sizes, axes, norm)


@op("ops.hfftn(input=x, s=sizes, dim=axes, norm=norm)")
def hfftn(x, *, sizes=None, axes=None, norm=None):
    """As `ops.hfft`, over axes; the last one is the half.

    Example:
        >>> ops.hfftn(ops.ones((2, 3))).shape
        (2, 4)
    """
    return _mirrored(x, sizes, axes, norm)


@op("ops.ihfftn(input=x, s=sizes, dim=axes, norm=norm)")
def ihfftn(x, *, sizes=None, axes=None, norm=None):
    """The inverse of `ops.hfftn`.

    Example:
        >>> ops.ihfftn(ops.ones((2, 4))).shape
        (2, 3)
    """
    return _mirrored_back(x, sizes, axes, norm)


@op("ops.fftshift(input=x, dim=axes)")
def fftshift(x, *, axes=None):
    """x rolled by half along axes, all if none are named: frequency 0 comes into the middle.

    Example:
        >>> print(ops.fftshift(Tensor([0, 1, -2, -1])))
        [-2 -1  0  1]
    """
    return jnp.fft.fftshift(x, axes)


@op("ops.ifftshift(input=x, dim=axes)")
def ifftshift(x, *, axes=None):
    """The inverse of `ops.fftshift`.

    Example:
        >>> print(ops.ifftshift(Tensor([-2, -1, 0, 1])))
        [ 0  1 -2 -1]
    """
    return jnp.fft.ifftshift(x, axes)


@composite("ops.fftfreq(n, d=spacing, dtype=dtype)")
def fftfreq(n, spacing=1.0, dtype=None):
    """The frequencies of what `ops.fft` of n samples gives, Float32 unless `dtype` says otherwise.

    Args:
        spacing: the time between samples.

    Example:
        >>> print(ops.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    kind = np.float32 if dtype is None else numpy_dtype(dtype)
    return Tensor(np.fft.fftfreq(n, float(spacing)).astype(kind))


@composite("ops.rfftfreq(n, d=spacing, dtype=dtype)")
def rfftfreq(n, spacing=1.0, dtype=None):
    """The frequencies of what `ops.rfft` of n samples gives; see `ops.fftfreq`.

    Example:
        >>> print(ops.rfftfreq(4))
        [0.   0.25 0.5 ]
    """
    kind = np.float32 if dtype is None else numpy_dtype(dtype)
    return Tensor(np.fft.rfftfreq(n, float(spacing)).astype(kind))


@op(
    "FFTWithSize(signal_ndim=count, inverse=inverse, real=of_real, norm=norm, onesided=half,"
    " signal_sizes=sizes)(x)"
)
def fft_with_size(x, *, count, inverse, of_real, norm="backward", half=True, sizes=()):
    """The Fourier transform over the last dimensions, or its inverse.

    Args:
        count: over how many dimensions, 1 to 3.
        of_real: the signal is real.
        half: of the transform of a real signal only half of the last dimension is there.
        sizes: the lengths of the real signal that the inverse gives; an even last one if empty.

    Raises:
        ValueError: `sizes` do not belong to a transform of this shape.

    Example:
        >>> print(ops.FFTWithSize(1, False, False)(Tensor(np.array([1, 0], np.complex64))))
        [1.+0.j 1.+0.j]
    """
    if not 1 <= count <= min(3, x.ndim):
        raise ValueError(f"{count} dimensions cannot be transformed in a Tensor {x.shape}.")
    axes = tuple(range(-count, 0))
    if not of_real:
        return (_backward if inverse else _forward)(x, None, axes, norm)
    if not inverse:
        return (_forward_real if half else _forward)(x, None, axes, norm)
    if not half:
        return jnp.real(_backward(x, None, axes, norm))
    if sizes and (len(sizes) != count or sizes[-1] // 2 + 1 != x.shape[-1]):
        raise ValueError(f"A signal of {sizes} has no transform whose half is {x.shape}.")
    return _backward_real(x, sizes or None, axes, norm)


@op("STFT(n_fft=size, hop_length=hop, win_length=length, normalized=normalized, onesided=half,"
    " return_complex=as_complex)(x, window)")  # fmt: skip
def short_transforms(x, window, *, size, hop, length, normalized, half, as_complex):
    """Fourier transforms of stretches of a signal; see `ops.stft`.

    Example:
        >>> short = ops.STFT(4, 4, 4, False, True, True)
        >>> short(ops.ones((2, 8)), ops.ones(4)).shape
        (2, 3, 2)
    """
    if not 0 < length <= size or not 0 < size <= x.shape[-1] or window.shape != (length,):
        raise ValueError(
            f"Stretches of {size}, and a window {window.shape} of length {length}, do not fit a "
            f"signal {x.shape}."
        )
    before = (size - length) // 2
    window = jnp.pad(window, (before, size - length - before))
    starts = np.arange(0, x.shape[-1] - size + 1, hop)
    stretches = _numbers(x)[..., starts[:, None] + np.arange(size)] * window
    norm = "ortho" if normalized else "backward"
    if half:
        made = jnp.fft.rfft(stretches, norm=norm)
    else:
        made = jnp.fft.fft(stretches, norm=norm)
    made = jnp.swapaxes(made, -1, -2)
    return made if as_complex else jnp.stack([jnp.real(made), jnp.imag(made)], -1)


@op()
def widened(x, *, count, mode):
    """A signal with so many more samples at both ends; see `stft`."""
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(count, count)], mode)


_PADDINGS = {"REFLECT": "reflect", "SYMMETRIC": "symmetric", "CONSTANT": "constant"}


@composite(
    "ops.stft(x, n_fft=size, hop_length=hop, win_length=length, window=window, center=center,"
    " pad_mode=mode, normalized=normalized, onesided=half, return_complex=as_complex)"
)
def stft(
    x,
    size,
    hop=None,
    length=None,
    window=None,
    center=True,
    mode="REFLECT",
    normalized=False,
    half=None,
    as_complex=None,
):
    """Fourier transforms of stretches of a signal (length) or of several (batch, length).

    Args:
        size: the length of a stretch; `hop` (a quarter of it) leads to the next one.
        window: what a stretch is multiplied with, of `length` (`size`) numbers; ones if None.
        center: the signal is first continued by half a stretch at both ends, as `mode` says.
        normalized: divide by the root of `size`.
        half: leave out the mirrored half; the default for real signals.
        as_complex: complex results; otherwise, as for real signals by default, the real and the
            imaginary part in a new last dimension.

    Raises:
        ValueError: lengths that do not fit, or another mode.

    Example:
        >>> ops.stft(ops.ones(8), 4).shape
        (3, 9, 2)
    """
    length = size if length is None else length
    window = Tensor(np.ones(length, np.float32)) if window is None else window
    real = not (x.dtype.name.startswith("complex") or window.dtype.name.startswith("complex"))
    if center:
        if x.ndim not in (1, 2) or mode.upper() not in _PADDINGS:
            raise ValueError(
                f"A signal of 1 or 2 dimensions and one of {', '.join(_PADDINGS)} are needed, "
                f"not {x.shape} and {mode!r}."
            )
        x = widened(x, size // 2, _PADDINGS[mode.upper()])
    return short_transforms(
        x,
        window,
        size,
        size // 4 if hop is None else hop,
        length,
        normalized,
        real if half is None else half,
        (not real) if as_complex is None else as_complex,
    )
