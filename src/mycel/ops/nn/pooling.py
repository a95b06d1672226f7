# SPDX-License-Identifier: Apache-2.0
"""Pooling: the maximum or the mean of windows."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.define.definition import interned
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import Sizes, one_or_more, several
from mycel.ops.common import rounded_once
from mycel.ops.nn.convolution import same_or_given
from mycel.tuning import lowering

# Windows lie over the last len(kernel) dimensions; pads are pairs (before, after).


@op(windows=True)
def window_maximum(x, *, kernel, stride, pads, dilation):
    """The maximum of every window; the gradient goes to the first maximum, as in MindSpore.

    Example:
        >>> from mycel.ops.nn.pooling import window_maximum
        >>> print(window_maximum(Tensor([1.0, 3.0, 2.0, 0.0]), (2,), (2,), ((0, 0),), (1,)))
        [3. 2.]
    """
    return lowering.maximum_of_windows(x, kernel, stride, pads, dilation)


@window_maximum.reverse
def _(x, output, cotangent, *, kernel, stride, pads, dilation):
    return lowering.maximum_of_windows_reverse(x, output, cotangent, kernel, stride, pads, dilation)


@op()
def window_argmax(x, *, kernel, stride, pads, dilation):
    """The position of every window's first maximum, counted through the pooled dimensions.

    Example:
        >>> from mycel.ops.nn.pooling import window_argmax
        >>> print(window_argmax(Tensor([1.0, 3.0, 2.0, 0.0]), (2,), (2,), ((0, 0),), (1,)))
        [1 2]
    """
    front = x.ndim - len(kernel)
    space = x.shape[front:]
    positions = lax.iota(np.int64, math.prod(space)).reshape(space)
    positions = jnp.broadcast_to(positions, x.shape)
    lowest = lowering.lowest(x.dtype)
    values = lowering.elements_of_windows(x, kernel, stride, pads, dilation, lowest)
    places = lowering.elements_of_windows(positions, kernel, stride, pads, dilation, -1)
    best, place = values[0], places[0]
    for value, other in zip(values[1:], places[1:], strict=True):
        # A position in the padding never wins, not even over another one.
        better = (value > best) | ((place < 0) & (other >= 0))
        best, place = jnp.where(better, value, best), jnp.where(better, other, place)
    return place


@op()
@rounded_once
def window_mean(x, *, kernel, stride, pads, dilation, divisor):
    """The mean of every window; `divisor` is the number of elements, or None to count them
    without the padding, or pairs of padding that count.

    Example:
        >>> from mycel.ops.nn.pooling import window_mean
        >>> print(window_mean(Tensor([1.0, 3.0, 2.0, 0.0]), (2,), (2,), ((0, 0),), (1,), 2))
        [2. 1.]
    """
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        raise TypeError(f"The mean of a window needs real numbers, but its input is {x.dtype}.")
    total = lowering.sum_of_windows(x, kernel, stride, pads, dilation)
    if isinstance(divisor, int):
        return total * jnp.array(1 / divisor, x.dtype)
    counted = _counted(x.shape, kernel, stride, pads, divisor)
    if np.all(counted == counted.flat[0]):
        counted = counted.flat[0]
    return total * jnp.array(1 / counted, x.dtype)


def _counted(shape, kernel, stride, pads, counting):
    """How many elements of each window count: those of x, and of the padding in `counting`."""
    lengths = shape[len(shape) - len(kernel) :]
    counting = counting or ((0, 0),) * len(kernel)
    counts = []
    for n, k, s, pad, counted in zip(lengths, kernel, stride, pads, counting, strict=True):
        there = np.zeros(n + sum(pad))
        there[pad[0] - counted[0] : pad[0] + n + counted[1]] = 1
        starts = range(0, n + sum(pad) - k + 1, s)
        counts.append(np.array([there[a : a + k].sum() for a in starts]))
    return np.maximum(functools.reduce(np.multiply.outer, counts), 1)


def windows_of(x, space, kernel, stride, padding, dilation, ceil_mode):
    """Checked static attributes of a window over the last `space` dimensions."""
    kernel = several(kernel, space, "The kernel_size")
    stride = kernel if stride is None else several(stride, space, "The stride")
    dilation = several(dilation, space, "The dilation")
    if min(*kernel, *stride, *dilation, 1) < 1:
        raise ValueError(f"kernel_size {kernel} and stride {stride} must be positive.")
    if x.ndim not in (space + 1, space + 2):
        raise ValueError(f"Pooling over {space} dimensions needs [N, C, …], not {x.shape}.")
    given = same_or_given("pad", padding, (0,) * space, kernel, stride, dilation)
    lengths = x.shape[x.ndim - space :]
    pads = []
    for n, k, s, d, pad in zip(lengths, kernel, stride, dilation, given, strict=True):
        span = n + sum(pad) - (k - 1) * d - 1
        if span < 0:
            raise ValueError(f"A window of {kernel} does not fit into a Tensor {x.shape}.")
        more = -span % s if ceil_mode else 0
        # The last window starts inside x or its padding in front, not behind.
        if more and (span + more) >= n + pad[0]:
            more = 0
        pads.append((pad[0], pad[1] + more))
    return kernel, stride, tuple(pads), dilation, given


def _half_at_most(pads, kernel):
    """A window that lies in the padding alone has no maximum and no mean."""
    if any(2 * max(pad) > k for pad, k in zip(pads, kernel, strict=True)):
        raise ValueError(f"padding {pads} is more than half of the kernel_size {kernel}.")


@composite(
    "ops.max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, return_indices=False,"
    " ceil_mode=False)",
    "mint.nn.functional.max_pool2d(input=x, kernel_size=kernel_size, stride=None, padding=0,"
    " dilation=1, ceil_mode=False, return_indices=False)",
)
def max_pool2d(
    x,
    kernel_size,
    stride=None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    return_indices=False,
    ceil_mode=False,
) -> Any:
    """The maximum of every window of [N, C, H, W] or [C, H, W].

    Args:
        x: [N, C, H, W] or [C, H, W].
        kernel_size: the size of a window, one number or two for (H, W).
        stride: the steps from window to window, likewise; None, the default, for the size of a
            window.
        padding: the number of elements at both ends that are below all others, likewise, at most
            half a window; 0 by default.
        dilation: the distance between neighbouring elements of a window, likewise; 1 by default.
        return_indices: whether the positions of the maxima are returned too, Int64, counted through
            H and W; False by default.
        ceil_mode: whether a last window may reach over the end; False by default.

    Raises:
        ValueError: a window does not fit into x.

    Example:
        >>> print(ops.max_pool2d(Tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2))
        [[[4.]]]
    """
    *window, given = windows_of(x, 2, kernel_size, stride, padding, dilation, ceil_mode)
    _half_at_most(given, window[0])
    pooled = window_maximum(x, *window)
    return (pooled, window_argmax(x, *window)) if return_indices else pooled


def named_window(x, kernel_size, strides, pad_mode, data_format):
    """The sizes of windows over x, their strides, paddings and dilations."""
    window = x.shape, kernel_size, strides, pad_mode, data_format
    # Equal numbers of other types, within tuples too, are not the same to `_named_window`.
    plain = kernel_size.__class__ is strides.__class__ is int and pad_mode.__class__ is str
    return (_remembered_window if plain else _named_window)(*window)


def _named_window(shape, kernel_size, strides, pad_mode, data_format):
    if data_format != "NCHW":
        raise ValueError(f"Only the layout NCHW is supported, not {data_format!r}.")
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    if mode not in ("valid", "same"):
        raise ValueError(f"pad_mode must be 'valid' or 'same', not {pad_mode!r}.")
    space = len(shape) - 2
    if space < 1:
        raise ValueError(f"Pooling needs [N, C, …], not {shape}.")
    kernel = several(_without_batch(kernel_size), space, "The kernel_size")
    stride = several(_without_batch(strides), space, "strides")
    if min(*kernel, *stride, 1) < 1:
        raise ValueError(f"kernel_size {kernel} and strides {stride} must be positive.")
    pads = same_or_given(mode, 0, shape[2:], kernel, stride, (1,) * space)
    if any(n + sum(p) < k for n, p, k in zip(shape[2:], pads, kernel, strict=True)):
        raise ValueError(f"A window of {kernel} does not fit into a Tensor {shape}.")
    return tuple(map(interned, (kernel, stride, pads, (1,) * space)))


_remembered_window = functools.lru_cache(1024)(_named_window)


def _without_batch(numbers):
    """(1, 1, h, w) as (h, w): an older way to write a window."""
    return numbers[2:] if isinstance(numbers, (tuple, list)) and len(numbers) == 4 else numbers


@composite(
    "MaxPool(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)",
)
def max_pool(x, kernel_size: Sizes = 1, strides: Sizes = 1, pad_mode="valid", data_format="NCHW"):
    """The maximum of every window.

    Args:
        x: [N, C, *space].
        kernel_size: the size of a window, one number or one for each dimension of space; 1 by
            default.
        strides: the steps from window to window, one number or one for each dimension; 1 by
            default.
        pad_mode: 'valid', the default, for windows inside of `x`; 'same' for as many as inputs /
            strides, rounded up.
        data_format: 'NCHW', the only one.

    Raises:
        ValueError: the mode or the layout is unknown, or a window does not fit into x.

    Example:
        >>> ops.MaxPool(2, 2)(ops.ones((1, 1, 4, 4), mycel.float32)).shape
        (1, 1, 2, 2)
    """
    return window_maximum(x, *named_window(x, kernel_size, strides, pad_mode, data_format))


@composite(
    "MaxPoolWithArgmax(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)",
)
def max_pool_with_argmax(
    x, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"
) -> tuple[Tensor, Tensor]:
    """The maximum of every window, and its position, counted through C, H and W; Int32.

    Args:
        x: [N, C, H, W].
        kernel_size: the size of a window, one number or two for (H, W); 1 by default.
        strides: the steps from window to window, one number or two for (H, W); 1 by default.
        pad_mode: 'valid', the default, for windows inside of `x`; 'same' for as many as inputs /
            strides, rounded up.
        data_format: 'NCHW', the only one.

    Example:
        >>> print(ops.MaxPoolWithArgmax(2, 2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))[1])
        [[[[3]]]]
    """
    window = named_window(x, kernel_size, strides, pad_mode, data_format)
    return window_maximum(x, *window), _through_channels(window_argmax(x, *window), x.shape)


@op()
def _through_channels(places, *, shape):
    channel = np.arange(shape[1]) * math.prod(shape[2:])
    return (places + channel.reshape(-1, *[1] * (len(shape) - 2))).astype(np.int32)


@composite("AvgPool(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)")
def mean_pool(x, kernel_size: Sizes = 1, strides: Sizes = 1, pad_mode="valid", data_format="NCHW"):
    """The mean of every window; padding does not count.

    Args:
        x: [N, C, *space].
        kernel_size: the size of a window, one number or one for each dimension of space; 1 by
            default.
        strides: the steps from window to window, one number or one for each dimension; 1 by
            default.
        pad_mode: 'valid', the default, for windows inside of `x`; 'same' for as many as inputs /
            strides, rounded up.
        data_format: 'NCHW', the only one.

    Raises:
        ValueError: the mode or the layout is unknown, or a window does not fit into x.

    Example:
        >>> ops.AvgPool(2, 2)(ops.ones((1, 1, 4, 4), mycel.float32)).shape
        (1, 1, 2, 2)
    """
    window = named_window(x, kernel_size, strides, pad_mode, data_format)
    return window_mean(x, *window, None)


@composite(
    "ops.avg_pool1d(input_x=x, kernel_size=1, stride=1, padding=0, ceil_mode=False,"
    " count_include_pad=True) with space=1",
    "ops.avg_pool2d(input_x=x, kernel_size=1, stride=1, padding=0, ceil_mode=False,"
    " count_include_pad=True, divisor_override=0) with space=2",
    "ops.avg_pool3d(input_x=x, kernel_size=1, stride=1, padding=0, ceil_mode=False,"
    " count_include_pad=True, divisor_override=0) with space=3",
    "mint.nn.functional.avg_pool1d(input=x, kernel_size=kernel_size, stride=None, padding=0,"
    " ceil_mode=False, count_include_pad=True) with space=1",
    "mint.nn.functional.avg_pool2d(input=x, kernel_size=kernel_size, stride=None, padding=0,"
    " ceil_mode=False, count_include_pad=True, divisor_override=None) with space=2",
    "mint.nn.functional.avg_pool3d(input=x, kernel_size=kernel_size, stride=None, padding=0,"
    " ceil_mode=False, count_include_pad=True, divisor_override=None) with space=3",
)
def avg_pool(
    x,
    kernel_size: Sizes = 1,
    stride: Sizes | None = 1,
    padding: Sizes = 0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=0,
    space=2,
):
    """The mean of every window of the last one, two or three dimensions, as the name says.

    Args:
        x: [N, C, *space] or [C, *space].
        kernel_size: the size of a window, one number for all dimensions of space or one for each.
        stride: the steps from window to window, likewise; None for the size of a window.
        padding: the number of zeros at both ends, likewise, at most half a window; 0 by default.
        ceil_mode: whether a last window may reach over the end; False by default.
        count_include_pad: whether padding counts in the mean; True by default.
        divisor_override: a number to divide by instead of the count; 0, the default, or None for
            none.

    Raises:
        ValueError: a window does not fit into x.

    Example:
        >>> print(ops.avg_pool1d(Tensor([[1.0, 3.0]]), 2))
        [[2.]]
        >>> print(ops.avg_pool2d(Tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2))
        [[[2.5]]]
        >>> print(ops.avg_pool3d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), (1, 2, 2)))
        [[[[2.5]]]]
    """
    *window, given = windows_of(x, space, kernel_size, stride, padding, 1, ceil_mode)
    _half_at_most(given, window[0])
    counting = given if count_include_pad else None
    return window_mean(x, *window, int(divisor_override) if divisor_override else counting)


def mean_of_windows(
    x, kernel, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override, space
):
    """The mean of every window, where padding counts, of 'same' too, unless it is left out."""
    if pad_mode != "same":
        settings = padding, ceil_mode, count_include_pad, divisor_override
        return avg_pool(x, kernel, stride, *settings, space=space)
    window = named_window(x, kernel, stride, pad_mode, "NCHW")
    counting = window[2] if count_include_pad else None
    return window_mean(x, *window, int(divisor_override) if divisor_override else counting)


def adaptive_sizes(x, output_size, space):
    sizes = one_or_more(output_size)
    sizes = sizes * space if len(sizes) == 1 else sizes
    if len(sizes) != space:
        raise ValueError(f"output_size must be one number or {space}, not {output_size}.")
    if x.ndim not in (space + 1, space + 2):
        raise ValueError(f"Pooling over {space} dimensions needs [N, C, …], not {x.shape}.")
    lengths = x.shape[x.ndim - space :]
    return tuple(n if w is None else w for n, w in zip(lengths, sizes, strict=True)), lengths


@op()
def regions_mean(x, *, sizes):
    """The mean of `sizes` regions that cover the last dimensions, of unequal lengths.

    Example:
        >>> from mycel.ops.nn.pooling import regions_mean
        >>> print(regions_mean(Tensor([1.0, 2.0, 3.0]), (2,)))
        [1.5 2.5]
    """
    axis = x.ndim - len(sizes)
    for size in sizes:
        length = x.shape[axis]
        shares = np.zeros((length, size))
        for i, (start, end) in enumerate(region_bounds(length, size)):
            shares[start:end, i] = 1 / (end - start)
        x = jnp.moveaxis(jnp.tensordot(x, jnp.array(shares, x.dtype), ((axis,), (0,))), -1, axis)
        axis += 1
    return x


def region_bounds(length, size):
    return [(i * length // size, -(-(i + 1) * length // size)) for i in range(size)]


@composite(
    "ops.adaptive_avg_pool1d(input=x, output_size=output_size) with space=1",
    "ops.adaptive_avg_pool2d(input=x, output_size=output_size) with space=2",
    "ops.adaptive_avg_pool3d(input=x, output_size=output_size) with space=3",
    "AdaptiveAvgPool2D(output_size)(x) with space=2",
    "AdaptiveAvgPool3D(output_size)(x) with space=3",
    "mint.nn.functional.adaptive_avg_pool1d(input=x, output_size=output_size) with space=1",
    "mint.nn.functional.adaptive_avg_pool2d(input=x, output_size=output_size) with space=2",
    "mint.nn.functional.adaptive_avg_pool3d(input=x, output_size=output_size) with space=3",
)
def adaptive_avg_pool(x, output_size, space):
    """The mean of regions that cover the last one, two or three dimensions, as the name says.

    Args:
        x: [N, C, *space] or [C, *space].
        output_size: the number of regions, one number for all dimensions of space or one for each;
            None keeps a length.

    Raises:
        ValueError: x or `output_size` has another number of dimensions.

    Example:
        >>> print(ops.adaptive_avg_pool1d(Tensor([[[1.0, 3.0]]]), 1))
        [[[2.]]]
        >>> print(ops.adaptive_avg_pool2d(Tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1))
        [[[2.5]]]
        >>> print(ops.adaptive_avg_pool3d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[2.5]]]]
    """
    sizes, lengths = adaptive_sizes(x, output_size, space)
    if any(n % s for n, s in zip(lengths, sizes, strict=True)):
        return regions_mean(x, sizes)
    kernel = tuple(n // s for n, s in zip(lengths, sizes, strict=True))
    return window_mean(x, kernel, kernel, ((0, 0),) * space, (1,) * space, math.prod(kernel))


@op()
def regions_maximum(x, *, sizes):
    """The maximum of `sizes` regions that cover the last dimensions.

    Example:
        >>> from mycel.ops.nn.pooling import regions_maximum
        >>> print(regions_maximum(Tensor([1.0, 2.0, 3.0]), (2,)))
        [2. 3.]
    """
    axis = x.ndim - len(sizes)
    for size in sizes:
        parts = [
            jnp.max(lax.slice_in_dim(x, start, end, axis=axis), axis, keepdims=True)
            for start, end in region_bounds(x.shape[axis], size)
        ]
        x = jnp.concatenate(parts, axis)
        axis += 1
    return x


def adaptive_max_pool2d(x, output_size):
    """The maximum of regions that cover H and W, `output_size` of them; None keeps a length."""
    sizes, lengths = adaptive_sizes(x, output_size, 2)
    if any(n % s for n, s in zip(lengths, sizes, strict=True)):
        return regions_maximum(x, sizes)
    kernel = tuple(n // s for n, s in zip(lengths, sizes, strict=True))
    return window_maximum(x, kernel, kernel, ((0, 0), (0, 0)), (1, 1))


@op()
def windows(x, *, kernel, stride, pads, dilation):
    """Every window of [N, C, H, W] as a column: [N, C · kernel, windows]; see `unfold`.

    Example:
        >>> from mycel.ops.nn.pooling import windows
        >>> x = ops.ones((1, 1, 2, 2), mycel.float32)
        >>> windows(x, (2, 2), (1, 1), ((0, 0), (0, 0)), (1, 1)).shape
        (1, 4, 1)
    """
    parts = lowering.elements_of_windows(x, kernel, stride, pads, dilation, 0)
    columns = jnp.stack(parts, 2)
    return columns.reshape(*x.shape[:1], x.shape[1] * len(parts), math.prod(columns.shape[3:]))


@composite(
    "ops.unfold(input=x, kernel_size=kernel_size, dilation=1, padding=0, stride=1)",
    "mint.nn.functional.unfold(input=x, kernel_size=kernel_size, dilation=1, padding=0, stride=1)",
    "Tensor.unfold(x, kernel_size, dilation=1, padding=0, stride=1)",
)
def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    """Every window of images as a column: [N, C · kernel, windows].

    Args:
        x: [N, C, H, W].
        kernel_size: the size of a window, one number or two for (H, W).
        dilation: the distance between neighbouring elements of a window, one number or two; 1 by
            default.
        padding: the number of zeros on both sides, one number or two for (H, W), or four for (top,
            bottom, left, right); 0 by default.
        stride: the steps from window to window, one number or two for (H, W); 1 by default.

    Raises:
        ValueError: a window does not fit into x.

    Example:
        >>> ops.unfold(ops.ones((1, 1, 3, 3), mycel.float32), 2).shape
        (1, 4, 4)
    """
    *window, _ = windows_of(x, 2, kernel_size, stride, padding, dilation, False)
    return windows(x, *window)
