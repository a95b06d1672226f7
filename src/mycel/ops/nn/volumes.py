# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling in three dimensions, and the maxima of adaptive regions."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import int32
from mycel.kernel.spell import composite, op
from mycel.ops.nn.pooling import (
    adaptive_sizes,
    mean_of_windows,
    named_window,
    region_bounds,
    regions_maximum,
    window_argmax,
    window_maximum,
    windows_of,
)


@composite(
    "ops.max_pool3d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,"
    " return_indices=False)"
)
def max_pool3d(
    x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
) -> Any:
    """The maximum of every window of [N, C, D, H, W] or [C, D, H, W].

    Args:
        x: [N, C, D, H, W] or [C, D, H, W].
        kernel_size: the size of a window, one number or three for (D, H, W).
        stride: the steps from window to window, likewise; None, the default, for the size of a
            window.
        padding: the number of elements at both ends that are below all others, likewise; 0 by
            default.
        dilation: the distance between neighbouring elements of a window, likewise; 1 by default.
        ceil_mode: whether a last window may reach over the end; False by default.
        return_indices: whether the positions of the maxima are returned too, Int64, counted through
            D, H and W; False by default.

    Raises:
        ValueError: a window does not fit into x.

    Example:
        >>> print(ops.max_pool3d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), (1, 2, 2)))
        [[[[4.]]]]
    """
    *window, _ = windows_of(x, 3, kernel_size, stride, padding, dilation, ceil_mode)
    pooled = window_maximum(x, *window)
    return (pooled, window_argmax(x, *window)) if return_indices else pooled


def _mode(pad_mode, data_format):
    if data_format != "NCDHW":
        raise ValueError(f"Only the layout NCDHW is supported, not {data_format!r}.")
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    if mode not in ("valid", "same", "pad"):
        raise ValueError(f"pad_mode must be 'valid', 'same' or 'pad', not {pad_mode!r}.")
    return mode


def _five(numbers):
    """(1, 1, d, h, w) as (d, h, w): an older way to write a window."""
    return numbers[2:] if isinstance(numbers, (tuple, list)) and len(numbers) == 5 else numbers


@composite(
    "MaxPool3D(kernel_size=1, strides=1, pad_mode='VALID', pad_list=0, ceil_mode=None,"
    " data_format='NCDHW')(x)"
)
def max_pool_volume(
    x,
    kernel_size=1,
    strides=1,
    pad_mode="VALID",
    pad_list=0,
    ceil_mode=None,
    data_format="NCDHW",
):
    """The maximum of every window of [N, C, D, H, W].

    Args:
        x: [N, C, D, H, W].
        kernel_size: the size of a window, one number or three for (D, H, W); 1 by default.
        strides: the steps from window to window, likewise; 1 by default.
        pad_mode: 'valid' (no padding, the default), 'same' (as many outputs as inputs / strides,
            rounded up) or 'pad', with which alone `pad_list` and `ceil_mode` count.
        pad_list: the number of elements at both ends that are below all others: one number, three
            for (D, H, W), or six for the two ends of each; 0 by default.
        ceil_mode: whether a last window may reach over the end; None, the default, and False mean
            that it may not.
        data_format: 'NCDHW', the only one.

    Raises:
        ValueError: the mode or the layout is unknown, or a window does not fit into x.

    Example:
        >>> ops.MaxPool3D(2, 2)(ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """
    mode, kernel, stride = _mode(pad_mode, data_format), _five(kernel_size), _five(strides)
    if mode == "pad":
        return max_pool3d(x, kernel, stride, pad_list, 1, bool(ceil_mode))
    return window_maximum(x, *named_window(x, kernel, stride, mode, "NCHW"))


@composite(
    "AvgPool3D(kernel_size=1, strides=1, pad_mode='valid', pad=(padding, 0), ceil_mode=False,"
    " count_include_pad=True, divisor_override=0, data_format='NCDHW')(x)"
)
def mean_pool_volume(
    x,
    kernel_size=1,
    strides=1,
    pad_mode="valid",
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=0,
    data_format="NCDHW",
):
    """The mean of every window of [N, C, D, H, W].

    Args:
        x: [N, C, D, H, W].
        kernel_size: the size of a window, one number or three for (D, H, W); 1 by default.
        strides: the steps from window to window, likewise; 1 by default.
        pad_mode: 'valid' (no padding, the default), 'same' (as many outputs as inputs / strides,
            rounded up) or 'pad', with which alone `padding` counts.
        padding: the number of zeros at both ends: one number, three for (D, H, W), or six for the
            two ends of each; 0 by default.
        ceil_mode: whether a last window may reach over the end, as with 'same' it does; False by
            default.
        count_include_pad: whether padding counts in the mean; True by default.
        divisor_override: a number to divide by instead of the count; 0, the default, for none.
        data_format: 'NCDHW', the only one.

    Raises:
        ValueError: the mode or the layout is unknown, or a window does not fit into x.

    Example:
        >>> ops.AvgPool3D(2, 2)(ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """
    mode, kernel, stride = _mode(pad_mode, data_format), _five(kernel_size), _five(strides)
    settings = padding if mode == "pad" else 0, ceil_mode, count_include_pad, divisor_override
    return mean_of_windows(x, kernel, stride, mode, *settings, space=3)


@op()
def regions_argmax(x, *, sizes):
    """The position of each region's first maximum, counted through the pooled dimensions, Int64.

    Example:
        >>> from mycel.ops.nn.volumes import regions_argmax
        >>> print(regions_argmax(Tensor([1.0, 3.0, 2.0]), (2,)))
        [1 1]
    """
    space, front = len(sizes), x.ndim - len(sizes)
    lengths = x.shape[front:]
    members = [_members(n, size) for n, size in zip(lengths, sizes, strict=True)]
    places = np.arange(math.prod(lengths)).reshape(lengths)
    for i in reversed(range(space)):
        x = jnp.take(x, members[i], front + i)
        places = places.take(members[i], i)
    # [..., size, members, size, members, …]: the members of a region last.
    outer = [front + 2 * i for i in range(space)]
    x = x.transpose(*range(front), *outer, *[i + 1 for i in outer])
    x = x.reshape(*x.shape[: front + space], -1)
    places = places.transpose(*range(0, 2 * space, 2), *range(1, 2 * space, 2))
    places = jnp.broadcast_to(jnp.array(places.reshape(*sizes, -1), np.int64), x.shape)
    return jnp.take_along_axis(places, x.argmax(-1, keepdims=True), -1)[..., 0]


def _members(length, size):
    """For each region the positions in it; the last is repeated where others are longer."""
    bounds = region_bounds(length, size)
    most = max(end - start for start, end in bounds)
    return np.array([[min(start + i, end - 1) for i in range(most)] for start, end in bounds])


def _adaptive_maximum(x, output_size, space, positions=False):
    if x.ndim not in (space + 1, space + 2):
        raise ValueError(f"Pooling over {space} dimensions needs [N, C, …], not {x.shape}.")
    sizes, lengths = adaptive_sizes(x, output_size, space)
    if any(n % size for n, size in zip(lengths, sizes, strict=True)):
        pooled = regions_maximum(x, sizes)
    else:
        kernel = tuple(n // size for n, size in zip(lengths, sizes, strict=True))
        pooled = window_maximum(x, kernel, kernel, ((0, 0),) * space, (1,) * space)
    return (pooled, regions_argmax(x, sizes)) if positions else pooled


@composite("ops.adaptive_max_pool1d(input=x, output_size=output_size)")
def adaptive_max_pool1d(x, output_size):
    """The maximum of `output_size` regions that cover the last dimension.

    Example:
        >>> print(ops.adaptive_max_pool1d(Tensor([[[1.0, 3.0]]]), 1))
        [[[3.]]]
    """
    return _adaptive_maximum(x, output_size, 1)


@composite(
    "mint.nn.functional.adaptive_max_pool1d(input=x, output_size=output_size, return_indices=False)"
)
def mint_adaptive_max_pool1d(x, output_size, return_indices=False) -> Any:
    """The maxima of regions that cover the last dimension, on request with their positions.

    Args:
        x: [N, C, L] or [C, L].
        output_size: the number of regions.
        return_indices: whether the positions of the maxima are given too, Int64; False by default.

    Example:
        >>> print(mint.nn.functional.adaptive_max_pool1d(Tensor([[[1.0, 3.0]]]), 1, True)[1])
        [[[1]]]
    """
    return _adaptive_maximum(x, output_size, 1, return_indices)


@composite("AdaptiveMaxPool2D(output_size)(input=x)")
def adaptive_max_pool_image(x, output_size) -> Any:
    """The maximum of regions that cover H and W, and its positions, counted through H and W.

    Example:
        >>> pooled, places = ops.AdaptiveMaxPool2D(1)(Tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        >>> print(pooled, places)
        [[[4.]]] [[[3]]]
    """
    return _adaptive_maximum(x, output_size, 2, True)


@composite("AdaptiveMaxPool3D()(x, output_size)")
def adaptive_max_pool_volume(x, output_size) -> Any:
    """The maximum of regions that cover D, H and W, and its positions; see `adaptive_max_pool3d`.

    Args:
        x: [N, C, D, H, W] or [C, D, H, W].
        output_size: the number of regions, three numbers or a Tensor of them, which is read.

    Example:
        >>> x, size = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([1, 1, 1])
        >>> print(*ops.AdaptiveMaxPool3D()(x, size))
        [[[[4.]]]] [[[[3]]]]
    """
    if hasattr(output_size, "asnumpy"):
        output_size = tuple(output_size.asnumpy().tolist())
    return adaptive_max_pool3d(x, output_size, True)


@composite("ops.adaptive_max_pool3d(input=x, output_size=output_size, return_indices=False)")
def adaptive_max_pool3d(x, output_size, return_indices=False) -> Any:
    """The maximum of regions that cover D, H and W, `output_size` of them; None keeps a length.

    Args:
        x: [N, C, D, H, W] or [C, D, H, W].
        output_size: the number of regions, one number or three for (D, H, W); None keeps a length.
        return_indices: whether the positions of the maxima are returned too, Int32, counted through
            D, H and W; False by default.

    Example:
        >>> print(ops.adaptive_max_pool3d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[4.]]]]
    """
    if not return_indices:
        return _adaptive_maximum(x, output_size, 3)
    pooled, places = _adaptive_maximum(x, output_size, 3, True)
    return pooled, places.astype(int32)
