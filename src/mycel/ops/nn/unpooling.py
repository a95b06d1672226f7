# SPDX-License-Identifier: Apache-2.0
"""Maxima put back at their places, pooling by norms, and pooling over windows at random places."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import int64
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import one_or_more, several
from mycel.ops.nn.pooling import window_argmax, window_maximum, window_mean, windows_of
from mycel.ops.random.drawing import draw_key, draw_uniform

# -- back to where they were -------------------------------------------------------------------


def _places(count):
    return Bounds(1, 0, count, operator="max_unpool")


@op(indices=lambda x, places, *, lengths: [_places(math.prod(lengths))])
def put_back(x, places, *, lengths):
    """Elements at places counted through the last dimensions, zeros elsewhere.

    Example:
        >>> from mycel.ops.nn.unpooling import put_back
        >>> print(put_back(Tensor([[[5.0]]]), Tensor([[[1]]]), (3,)))
        [[[0. 5. 0.]]]
    """
    front = x.shape[: x.ndim - len(lengths)]
    flat = x.reshape(math.prod(front), -1)
    at = places.reshape(flat.shape).astype(np.int64)
    flat_output = jnp.zeros((flat.shape[0], math.prod(lengths)), x.dtype)
    flat_output = flat_output.at[np.arange(flat.shape[0])[:, None], at].set(flat)
    return flat_output.reshape(*front, *lengths)


@composite(
    "ops.max_unpool1d(x, indices, kernel_size, stride=None, padding=0, output_size=None)"
    " with space=1",
    "ops.max_unpool2d(x, indices, kernel_size, stride=None, padding=0, output_size=None)"
    " with space=2",
    "ops.max_unpool3d(x, indices, kernel_size, stride=None, padding=0, output_size=None)"
    " with space=3",
    "MaxUnpool2D(ksize=kernel_size, strides=(stride, 0), pads=(padding, 0),"
    " output_shape=(output_size, ()), data_format='NCHW')(x=x, argmax=indices) with space=2",
    "MaxUnpool3D(ksize=kernel_size, strides=(stride, 0), pads=(padding, 0),"
    " output_shape=(output_size, ()), data_format='NCDHW')(x=x, argmax=indices) with space=3",
)
def max_unpool(
    x, indices, kernel_size, stride=None, padding=0, output_size=None, data_format="", space=2
):
    """Maxima put back where max pooling found them, zeros elsewhere.

    Args:
        x: [N, C, *space] or [C, *space], with as many dimensions of space as the name says.
        indices: their positions, counted through the dimensions of space, in the shape of `x`.
        kernel_size: the size of the windows of the pooling, one number or one for each dimension.
        stride: the steps of its windows, likewise; None, the default, for the size of a window.
        padding: its padding, likewise; 0 by default.
        output_size: the lengths of the result, or its whole shape, where several pool to the same;
            None, the default, for the usual ones.
        data_format: of a Primitive, the layout with the batch in front: 'NCHW' or 'NCDHW'.

    Raises:
        ValueError: the shapes do not fit together, or the layout is unknown.

    Example:
        >>> print(ops.max_unpool1d(Tensor([[5.0, 6.0]]), Tensor([[1, 2]]), 2))
        [[0. 5. 6. 0.]]
        >>> print(ops.max_unpool2d(Tensor([[[5.0]]]), Tensor([[[2]]]), 2))
        [[[0. 0.]
          [5. 0.]]]
        >>> ops.max_unpool3d(ops.ones((1, 1, 1, 1)), ops.zeros((1, 1, 1, 1), mycel.int64), 2).shape
        (1, 2, 2, 2)
    """
    if data_format:
        _check_layout(data_format, space)
    if x.ndim not in (space + 1, space + 2) or x.shape != indices.shape:
        raise ValueError(
            f"Unpooling over {space} dimensions needs [N, C, …] with a place for each element, "
            f"not {x.shape} and {indices.shape}."
        )
    kernel = several(kernel_size, space, "The kernel_size")
    stride = several(stride, space, "The stride") if _given(stride) else kernel
    padding = several(padding, space, "The padding")
    spans = zip(x.shape[-space:], kernel, stride, padding, strict=True)
    lengths = [(n - 1) * s - 2 * p + k for n, k, s, p in spans]
    return put_back(x, indices, _lengths(output_size, lengths, stride))


def _check_layout(data_format, space):
    layout = "NC" + "DHW"[-space:]
    if data_format != layout:
        raise ValueError(f"Only the layout {layout} is supported, not {data_format!r}.")


def _lengths(output_size, usual, stride) -> tuple[int, ...]:
    """The lengths that `output_size` ends with; those of the usual case if it is empty."""
    if not output_size:
        return tuple(usual)
    lengths = tuple(output_size)[-len(usual) :]
    apart = zip(lengths, usual, stride, strict=True)
    if len(lengths) != len(usual) or any(abs(n - length) > s for n, length, s in apart):
        raise ValueError(
            f"output_size {output_size} must end with lengths within a stride of {usual}."
        )
    return lengths


def _given(stride):
    return stride is not None and any(one_or_more(stride))


# -- norms -------------------------------------------------------------------------------------


@op()
def rooted(x, *, order):
    """The root of sums of powers, with their sign; see `lp_pool2d`.

    Example:
        >>> from mycel.ops.nn.unpooling import rooted
        >>> print(rooted(Tensor([9.0, -9.0]), 2.0))
        [ 3. -3.]
    """
    there = x != 0
    safe = jnp.where(there, jnp.abs(x), 1)
    return jnp.where(there, jnp.sign(x) * safe ** jnp.array(1 / order, x.dtype), 0).astype(x.dtype)


@composite(
    "ops.lp_pool1d(x, norm_type, kernel_size, stride=None, ceil_mode=False) with space=1",
    "ops.lp_pool2d(x, norm_type, kernel_size, stride=None, ceil_mode=False) with space=2",
)
def lp_pool(x, norm_type, kernel_size, stride=None, ceil_mode=False, space=2):
    """The root of the sum of powers in every window of the last one or two dimensions.

    Args:
        x: [N, C, *space] or [C, *space], with as many dimensions of space as the name says.
        norm_type: the power p, a number: (Σ x^p)^(1/p).
        kernel_size: the size of a window, one number or one for each dimension of space.
        stride: the steps from window to window, likewise; None, the default, for the size of a
            window.
        ceil_mode: whether last windows may reach over the end; False by default.

    Raises:
        TypeError: norm_type is not a number.
        ValueError: a window does not fit into x.

    Example:
        >>> print(ops.lp_pool1d(Tensor([[3.0, 4.0]]), 2, 2))
        [[5.]]
        >>> print(ops.lp_pool2d(Tensor([[[3.0, 4.0]]]), 2, (1, 2)))
        [[[5.]]]
    """
    if isinstance(norm_type, bool) or not isinstance(norm_type, (int, float)):
        raise TypeError(f"norm_type must be a number, not {norm_type!r}.")
    *window, _ = windows_of(x, space, kernel_size, stride, 0, 1, ceil_mode)
    # A window that reaches over the edge counts as if it were full of what it has.
    means = window_mean(x**norm_type, *window, None)
    return rooted(means * math.prod(window[0]), float(norm_type))


# -- windows at random places ------------------------------------------------------------------


@op()
def windows_at_random(x, samples, *, kernel, sizes):
    """The maxima of windows at places by chance, and their positions; see `fractional_max_pool2d`.

    Example:
        >>> from mycel.ops.nn.unpooling import windows_at_random
        >>> x, half = Tensor([[[1.0, 5.0, 2.0, 3.0]]]), Tensor([[[0.5]]])
        >>> print(windows_at_random(x, half, (2,), (2,))[0])
        [[[5. 3.]]]
    """
    space = len(kernel)
    front, lengths = x.shape[:-space], x.shape[-space:]
    if samples.shape != (*front, space):
        raise ValueError(f"The samples for {x.shape} are {(*front, space)}, not {samples.shape}.")
    if any(k > n or size + k - 1 > n for n, k, size in zip(lengths, kernel, sizes, strict=True)):
        raise ValueError(f"{sizes} windows of {kernel} do not fit into {lengths}.")
    samples = lax.stop_gradient(samples)
    position, part = 0, lax.stop_gradient(x)
    for axis, (n, k, size) in enumerate(zip(lengths, kernel, sizes, strict=True)):
        # In pictures the first sample is for the last dimension.
        sample = samples[..., space - 1 - axis if space == 2 else axis]
        places = _starts(sample, n, k, size)[..., None] + np.arange(k)
        places = places.reshape(*front, -1)
        shape = [1] * part.ndim
        shape[: len(front)], shape[len(front) + axis] = front, size * k
        part = jnp.take_along_axis(part, places.reshape(shape), len(front) + axis)
        position = position * n + places.reshape(shape)
    return _largest(x, part, jnp.broadcast_to(position, part.shape), kernel, sizes)


def _starts(sample, length, kernel, size):
    """Where the windows begin: about evenly, shifted by the sample."""
    last = length - kernel
    if size == 1:
        return jnp.full((*sample.shape, 1), last, np.int32)
    step = np.float32(last) / np.float32(size - 1)
    sample = sample.astype(np.float32)[..., None]
    steps = np.arange(size, dtype=np.float32)
    starts = jnp.trunc((steps + sample) * step) - jnp.trunc(sample * step)
    return jnp.where(steps == size - 1, last, starts).astype(np.int32)


def _largest(x, part, position, kernel, sizes):
    """What is largest in windows that stand side by side in `part`, and its position in x."""
    space, front = len(kernel), x.shape[: x.ndim - len(kernel)]
    split = [n for pair in zip(sizes, kernel, strict=True) for n in pair]
    first = len(front)
    outer = range(first, first + 2 * space, 2)
    order = *range(first), *outer, *[axis + 1 for axis in outer]
    part, position = (
        a.reshape(*front, *split).transpose(order).reshape(*front, *sizes, -1)
        for a in (part, position)
    )
    best = jnp.argmax(part, -1, keepdims=True)
    place = jnp.take_along_axis(position, best, -1)[..., 0].astype(np.int64)
    flat = x.reshape(*front, -1)
    largest = jnp.take_along_axis(flat, place.reshape(*front, -1), -1, mode="clip")
    return largest.reshape(place.shape), place


def _fractional(x, space, kernel_size, output_size, output_ratio, samples):
    if x.ndim not in (space + 1, space + 2):
        raise ValueError(f"Pooling over {space} dimensions needs [N, C, …], not {x.shape}.")
    if (output_size is None) == (output_ratio is None):
        raise ValueError("Either output_size or output_ratio must be given, and not both.")
    kernel = several(kernel_size, space, "The kernel_size")
    lengths = x.shape[-space:]
    if output_size is None:
        ratios = one_or_more(output_ratio)
        ratios = ratios * space if len(ratios) == 1 else ratios
        if any(not 0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"output_ratio must be between 0 and 1, not {output_ratio}.")
        sizes = tuple(int(n * ratio) for n, ratio in zip(lengths, ratios, strict=True))
    else:
        sizes = several(output_size, space, "The output_size")
    whole = x if x.ndim == space + 2 else x.expand_dims(0)
    if samples is None:
        samples = draw_uniform(draw_key(), (*whole.shape[:2], space), "float32")
    pooled = windows_at_random(whole, samples, kernel, sizes)
    return pooled if whole is x else tuple(part.squeeze(0) for part in pooled)


@composite(
    "ops.fractional_max_pool2d(input=x, kernel_size=kernel_size, output_size=None,"
    " output_ratio=None, return_indices=False, _random_samples=(samples, None)) with space=2",
    "ops.fractional_max_pool3d(input=x, kernel_size=kernel_size, output_size=None,"
    " output_ratio=None, return_indices=False, _random_samples=(samples, None)) with space=3",
)
def fractional_max_pool(
    x,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    samples=None,
    space=2,
) -> Any:
    """The maxima of windows that stand about evenly, at places by chance.

    Args:
        x: [N, C, *space] or [C, *space], with two or three dimensions of space, as the name says.
        kernel_size: the size of a window, one number or one for each dimension of space.
        output_size: the number of windows, likewise; None for that of `output_ratio`.
        output_ratio: the number of windows as a part of the lengths, between 0 and 1, one number or
            one for each dimension; None for that of `output_size`.
        return_indices: whether the positions of the maxima are returned too, Int64, counted through
            the dimensions of space; False by default.
        samples: [N, C, 2 or 3], numbers from 0 and below 1 in place of chance; None, the default,
            for chance.

    Raises:
        ValueError: both or neither of `output_size` and `output_ratio` are given, or the windows do
            not fit into x.

    Example:
        >>> ops.fractional_max_pool2d(ops.ones((1, 1, 5, 6)), 2, (3, 4)).shape
        (1, 1, 3, 4)
        >>> ops.fractional_max_pool3d(ops.ones((1, 1, 4, 5, 6)), 2, (2, 3, 4)).shape
        (1, 1, 2, 3, 4)
    """
    pooled = _fractional(x, space, kernel_size, output_size, output_ratio, samples)
    return pooled if return_indices else pooled[0]


@composite(
    "FractionalMaxPoolWithFixedKsize(ksize, output_shape, data_format='NCHW')"
    "(input_x=x, random_samples=samples) with space=2",
    "FractionalMaxPool3DWithFixedKsize(ksize, output_shape, data_format='NCDHW')"
    "(x=x, random_samples=samples) with space=3",
)
def fractional_max_pool_of_samples(
    x, samples, ksize, output_shape, data_format="NCHW", space=2
) -> tuple[Tensor, Tensor]:
    """Fractional max pooling with given random numbers, and the Int64 positions of the maxima.

    Args:
        x: [N, C, *space] or [C, *space], with two or three dimensions of space, as the name says.
        samples: [N, C, 2 or 3], numbers from 0 and below 1 that place the windows; [1, C, 2 or 3]
            for [C, *space].
        ksize: the size of a window, one number or one for each dimension of space.
        output_shape: the number of windows, likewise.
        data_format: 'NCHW' or 'NCDHW', as the name says.

    Example:
        >>> pool = ops.FractionalMaxPoolWithFixedKsize(2, (1, 1))
        >>> print(pool(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[0.5, 0.5]]]))[1])
        [[[[3]]]]
        >>> pool = ops.FractionalMaxPool3DWithFixedKsize(1, (1, 1, 1))
        >>> print(pool(ops.ones((1, 1, 1, 1, 1)), Tensor([[[0.5, 0.5, 0.5]]]))[1].shape)
        (1, 1, 1, 1, 1)
    """
    _check_layout(data_format, space)
    return _fractional(x, space, ksize, output_shape, None, samples)


# -- maxima with their positions ---------------------------------------------------------------


def _with_positions(x, space, kernel_size, stride, padding, dilation, ceil_mode, kind):
    *window, _ = windows_of(x, space, kernel_size, stride, padding, dilation, ceil_mode)
    return window_maximum(x, *window), window_argmax(x, *window).astype(kind)


@composite(
    "MaxPoolWithArgmaxV2(kernel_size, strides=(stride, None), pads=(padding, 0), dilation=(1, 1),"
    " ceil_mode=False, argmax_type=(kind, None))(x)"
)
def max_pool_with_positions(
    x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, kind=None
) -> tuple[Tensor, Tensor]:
    """The maximum of every window of [N, C, H, W], and its position, counted through H and W.

    Args:
        x: [N, C, H, W].
        kernel_size: the size of a window, one number or two for (H, W).
        stride: the steps from window to window, likewise; None, the default, for the size of a
            window.
        padding: the number of elements at both ends that are below all others, likewise; 0 by
            default.
        dilation: the distance between neighbouring elements of a window, likewise; 1 by default.
        ceil_mode: whether a last window may reach over the end; False by default.
        kind: the type of the positions; None, the default, is Int64.

    Raises:
        ValueError: a window does not fit into x.

    Example:
        >>> pooled, places = ops.MaxPoolWithArgmaxV2(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
        >>> print(pooled, places)
        [[[[4.]]]] [[[[3]]]]
    """
    window = kernel_size, stride, padding, dilation, ceil_mode
    return _with_positions(x, 2, *window, kind or int64)


@composite(
    "MaxPool3DWithArgmax(ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False,"
    " data_format='NCDHW', argmax_type=(kind, None))(x)"
)
def max_pool3d_with_positions(
    x,
    ksize,
    strides,
    pads,
    dilation=1,
    ceil_mode=False,
    data_format="NCDHW",
    kind=None,
) -> tuple[Tensor, Tensor]:
    """The maximum of every window of [N, C, D, H, W], and its position through D, H and W.

    Args:
        x: [N, C, D, H, W].
        ksize: the size of a window, one number or three for (D, H, W).
        strides: the steps from window to window, likewise.
        pads: the number of elements at both ends that are below all others, likewise.
        dilation: the distance between neighbouring elements of a window, likewise; 1 by default.
        ceil_mode: whether a last window may reach over the end; False by default.
        data_format: 'NCDHW', the only one.
        kind: the type of the positions; None, the default, is Int64.

    Raises:
        ValueError: a window does not fit into x, or the layout is unknown.

    Example:
        >>> pooled, places = ops.MaxPool3DWithArgmax(2, 1, 0)(ops.ones((1, 1, 2, 2, 2)))
        >>> print(places.reshape(-1))
        [0]
    """
    if data_format != "NCDHW":
        raise ValueError(f"Only the layout NCDHW is supported, not {data_format!r}.")
    return _with_positions(x, 3, ksize, strides, pads, dilation, ceil_mode, kind or int64)
