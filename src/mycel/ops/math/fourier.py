# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms of one and more dimensions."""

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


def transformable(x):
    """x as numbers that have a transform: integers and half precision become Float32."""
    x = as_float(x)
    return x.astype(np.float32) if x.dtype.kind != "c" and x.dtype.itemsize < 4 else x


def _other(norm):
    if norm not in _INVERSE:
        raise ValueError(f"norm must be 'backward', 'ortho' or 'forward', not {norm!r}.")
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
        raise ValueError(f"A transform needs at least one element along each axis, not {sizes}.")
    return sizes, axes


def _many(transform, x, sizes, axes, norm):
    """A transform to complex numbers over any number of axes."""
    while axes:
        x = transform(x, sizes[-_AT_ONCE:], axes[-_AT_ONCE:], norm=norm)
        sizes, axes = sizes[:-_AT_ONCE], axes[:-_AT_ONCE]
    return x


def _forward(x, sizes, axes, norm):
    return _many(jnp.fft.fftn, transformable(x), *_plan(x, sizes, axes, norm), norm)


def _backward(x, sizes, axes, norm):
    return _many(jnp.fft.ifftn, transformable(x), *_plan(x, sizes, axes, norm), norm)


def _forward_real(x, sizes, axes, norm):
    sizes, axes = _plan(x, sizes, axes, norm)
    x = transformable(x)
    if x.dtype.kind == "c":
        raise TypeError(f"This transform needs real numbers, but the type is {x.dtype}.")
    x = jnp.fft.rfft(x, sizes[-1], axes[-1], norm)
    return _many(jnp.fft.fftn, x, sizes[:-1], axes[:-1], norm)


def _backward_real(x, sizes, axes, norm):
    given = sizes is not None
    sizes, axes = _plan(x, sizes, axes, norm)
    last = sizes[-1] if given else 2 * (x.shape[axes[-1]] - 1)
    x = _many(jnp.fft.ifftn, transformable(x), sizes[:-1], axes[:-1], norm)
    return jnp.fft.irfft(x, last, axes[-1], norm)


@op("ops.fft(input=x, n=n, dim=axis, norm=norm)")
def fft(x, *, n=None, axis=-1, norm=None):
    """The discrete Fourier transform along one axis, complex.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        n: the length to which `x` is cut or filled up with zeros along `axis`; None, the default,
            keeps it.
        axis: the dimension that is transformed, the last one by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Raises:
        ValueError: `norm` is unknown.

    Example:
        >>> print(ops.fft(Tensor([1.0, 0.0])))
        [1.+0.j 1.+0.j]
    """
    return _forward(x, None if n is None else (n,), (axis,), norm)


@op("ops.ifft(input=x, n=n, dim=axis, norm=norm)")
def ifft(x, *, n=None, axis=-1, norm=None):
    """The inverse of `ops.fft`, complex.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        n: the length to which `x` is cut or filled up with zeros along `axis`; None, the default,
            keeps it.
        axis: the dimension that is transformed, the last one by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> print(ops.ifft(Tensor([1.0, 1.0])))
        [1.+0.j 0.+0.j]
    """
    return _backward(x, None if n is None else (n,), (axis,), norm)


@op("ops.fft2(input=x, s=sizes, dim=axes, norm=norm)")
def fft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The discrete Fourier transform over two axes, complex.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed, the last two by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> print(ops.fft2(Tensor([[1.0, 0.0]])))
        [[1.+0.j 1.+0.j]]
    """
    return _forward(x, sizes, axes, norm)


@op("ops.ifft2(input=x, s=sizes, dim=axes, norm=norm)")
def ifft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The inverse of `ops.fft2`, complex.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed, the last two by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> print(ops.ifft2(Tensor([[1.0, 1.0]])))
        [[1.+0.j 0.+0.j]]
    """
    return _backward(x, sizes, axes, norm)


@op("ops.fftn(input=x, s=sizes, dim=axes, norm=norm)")
def fftn(x, *, sizes=None, axes=None, norm=None):
    """The discrete Fourier transform over several axes, complex.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed; None, the default, for the last ones for which
            there are `sizes`, or for all.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> print(ops.fftn(Tensor([[1.0, 0.0]])))
        [[1.+0.j 1.+0.j]]
    """
    return _forward(x, sizes, axes, norm)


@op("ops.ifftn(input=x, s=sizes, dim=axes, norm=norm)")
def ifftn(x, *, sizes=None, axes=None, norm=None):
    """The inverse of `ops.fftn`, complex.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed; None, the default, for the last ones for which
            there are `sizes`, or for all.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> print(ops.ifftn(Tensor([[1.0, 1.0]])))
        [[1.+0.j 0.+0.j]]
    """
    return _backward(x, sizes, axes, norm)


@op("ops.rfft(input=x, n=n, dim=axis, norm=norm)")
def rfft(x, *, n=None, axis=-1, norm=None):
    """The first half of the Fourier transform of real numbers along one axis; the rest mirrors it.

    Args:
        x: at least one dimension, real; integers and half precision become Float32.
        n: the length to which `x` is cut or filled up with zeros along `axis`; None, the default,
            keeps it.
        axis: the dimension that is transformed, the last one by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Raises:
        TypeError: the numbers are complex.

    Example:
        >>> ops.rfft(ops.ones(4)).shape
        (3,)
    """
    return _forward_real(x, None if n is None else (n,), (axis,), norm)


@op("ops.irfft(input=x, n=n, dim=axis, norm=norm)")
def irfft(x, *, n=None, axis=-1, norm=None):
    """The inverse of `ops.rfft`, real.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        n: the length of the result along `axis`; None, the default, for 2 · (length of `x` - 1).
        axis: the dimension that is transformed, the last one by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> print(ops.irfft(ops.rfft(Tensor([1.0, 2.0, 3.0])), n=3))
        [1. 2. 3.]
    """
    return _backward_real(x, None if n is None else (n,), (axis,), norm)


@op("ops.rfft2(input=x, s=sizes, dim=axes, norm=norm)")
def rfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The Fourier transform of real numbers over two axes; half of the last is kept.

    Args:
        x: at least one dimension, real; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed, the last two by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.rfft2(ops.ones((3, 4))).shape
        (3, 3)
    """
    return _forward_real(x, sizes, axes, norm)


@op("ops.irfft2(input=x, s=sizes, dim=axes, norm=norm)")
def irfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The inverse of `ops.rfft2`, real.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the lengths of the result along `axes`; None, the default, keeps those of `x`, but
            makes the last one 2 · (length - 1).
        axes: the dimensions that are transformed, the last two by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.irfft2(ops.rfft2(ops.ones((3, 4)))).shape
        (3, 4)
    """
    return _backward_real(x, sizes, axes, norm)


@op("ops.rfftn(input=x, s=sizes, dim=axes, norm=norm)")
def rfftn(x, *, sizes=None, axes=None, norm=None):
    """The Fourier transform of real numbers over several axes; half of the last is kept.

    Args:
        x: at least one dimension, real; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed; None, the default, for the last ones for which
            there are `sizes`, or for all.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.rfftn(ops.ones((3, 4))).shape
        (3, 3)
    """
    return _forward_real(x, sizes, axes, norm)


@op("ops.irfftn(input=x, s=sizes, dim=axes, norm=norm)")
def irfftn(x, *, sizes=None, axes=None, norm=None):
    """The inverse of `ops.rfftn`, real.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the lengths of the result along `axes`; None, the default, keeps those of `x`, but
            makes the last one 2 · (length - 1).
        axes: the dimensions that are transformed; None, the default, for the last ones for which
            there are `sizes`, or for all.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.irfftn(ops.rfftn(ops.ones((3, 4)))).shape
        (3, 4)
    """
    return _backward_real(x, sizes, axes, norm)


@op("ops.hfft(input=x, n=n, dim=axis, norm=norm)")
def hfft(x, *, n=None, axis=-1, norm=None):
    """The real Fourier transform of a Hermitian signal, of which `x` is the first half.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        n: the length of the result along `axis`; None, the default, for 2 · (length of `x` - 1).
        axis: the dimension that is transformed, the last one by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

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
    """The inverse of `ops.hfft`: the first half of a Hermitian signal, complex.

    Args:
        x: at least one dimension, real; integers and half precision become Float32.
        n: the length to which `x` is cut or filled up with zeros along `axis`; None, the default,
            keeps it.
        axis: the dimension that is transformed, the last one by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.ihfft(ops.ones(4)).shape
        (3,)
    """
    return _mirrored_back(x, None if n is None else (n,), (axis,), norm)


@op("ops.hfft2(input=x, s=sizes, dim=axes, norm=norm)")
def hfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """`ops.hfft` over two axes; `x` is half of the signal along the last one.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the lengths of the result along `axes`; None, the default, keeps those of `x`, but
            makes the last one 2 · (length - 1).
        axes: the dimensions that are transformed, the last two by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.hfft2(ops.ones((2, 3))).shape
        (2, 4)
    """
    return _mirrored(x, sizes, axes, norm)


@op("ops.ihfft2(input=x, s=sizes, dim=axes, norm=norm)")
def ihfft2(x, *, sizes=None, axes=(-2, -1), norm=None):
    """The inverse of `ops.hfft2`, complex.

    Args:
        x: at least one dimension, real; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed, the last two by default.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.ihfft2(ops.ones((2, 4))).shape
        (2, 3)
    """
    return _mirrored_back(x, sizes, axes, norm)


@op("ops.hfftn(input=x, s=sizes, dim=axes, norm=norm)")
def hfftn(x, *, sizes=None, axes=None, norm=None):
    """`ops.hfft` over several axes; `x` is half of the signal along the last one.

    Args:
        x: at least one dimension, real or complex; integers and half precision become Float32.
        sizes: the lengths of the result along `axes`; None, the default, keeps those of `x`, but
            makes the last one 2 · (length - 1).
        axes: the dimensions that are transformed; None, the default, for the last ones for which
            there are `sizes`, or for all.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

    Example:
        >>> ops.hfftn(ops.ones((2, 3))).shape
        (2, 4)
    """
    return _mirrored(x, sizes, axes, norm)


@op("ops.ihfftn(input=x, s=sizes, dim=axes, norm=norm)")
def ihfftn(x, *, sizes=None, axes=None, norm=None):
    """The inverse of `ops.hfftn`, complex.

    Args:
        x: at least one dimension, real; integers and half precision become Float32.
        sizes: the length to which `x` is cut or filled up with zeros along each of `axes`; None,
            the default, keeps it, and -1 keeps a single one.
        axes: the dimensions that are transformed; None, the default, for the last ones for which
            there are `sizes`, or for all.
        norm: 'backward' (also None, the default) divides the inverse by the number of elements,
            'forward' the transform, 'ortho' both by its root.

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
    """The frequencies of the elements of `ops.fft` of n samples, in cycles per unit of time.

    Args:
        n: the number of samples.
        spacing: the time between two samples, 1 by default.
        dtype: the element type of the result; None, the default, for Float32.

    Example:
        >>> print(ops.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    kind = np.float32 if dtype is None else numpy_dtype(dtype)
    return Tensor(np.fft.fftfreq(n, float(spacing)).astype(kind))


@composite("ops.rfftfreq(n, d=spacing, dtype=dtype)")
def rfftfreq(n, spacing=1.0, dtype=None):
    """The frequencies of the elements of `ops.rfft` of n samples, in cycles per unit of time.

    Args:
        n: the number of samples.
        spacing: the time between two samples, 1 by default.
        dtype: the element type of the result; None, the default, for Float32.

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
        x: the signal, or for the inverse its transform.
        count: over how many dimensions, 1 to 3.
        inverse: whether it is the inverse.
        of_real: the signal is real.
        norm: 'backward' divides the inverse by the number of elements, 'forward' the transform,
            'ortho' both by its root.
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
