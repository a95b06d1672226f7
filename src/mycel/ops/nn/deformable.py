# SPDX-License-Identifier: Apache-2.0
"""Convolution whose kernel reads at positions that are learned."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import composite, op
from mycel.ops.nn.convolution import bias_add, convolution


def _window(kernel, strides, pads, dilations, data_format):
    if data_format != "NCHW":
        raise ValueError(f"Only the layout NCHW is supported, not {data_format!r}.")
    if [len(n) for n in (kernel, strides, pads, dilations)] != [2, 4, 4, 4]:
        raise ValueError(
            f"ksize has 2 numbers, strides, pads and dilations have 4, not {kernel}, {strides}, "
            f"{pads}, {dilations}."
        )
    return strides[2:], ((pads[0], pads[1]), (pads[2], pads[3])), dilations[2:]


@op("DeformableOffsets(strides, pads, ksize=kernel, dilations=(1, 1, 1, 1), data_format='NCHW',"
    " deformable_groups=(groups, 1), modulated=True)(x=x, offsets=offsets)")  # fmt: skip
def deformable_offsets(
    x,
    offsets,
    *,
    strides,
    pads,
    kernel,
    dilations=(1, 1, 1, 1),
    data_format="NCHW",
    groups=1,
    modulated=True,
):
    """What each element of a kernel reads at each of its places, side by side.

    Args:
        x: [N, C, H, W].
        offsets: [N, 3 · groups · kernel area, rows, columns]: shifts along the width, shifts along
            the height, and factors; without `modulated` no factors.
        strides, dilations: (1, 1, height, width).
        pads: top, bottom, left, right.
        kernel: the height and width of the kernel.
        data_format: 'NCHW', the only one.
        groups: parts of the channels that have shifts of their own.
        modulated: whether the offsets hold factors too; True by default.

    Returns:
        [N, C, rows · kernel height, columns · kernel width]: a convolution with strides as long
        as its kernel follows.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> x, offsets = ops.ones((1, 1, 3, 3)), ops.ones((1, 12, 2, 2)) * 0.5
        >>> make = ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (2, 2))
        >>> make(x, offsets).shape
        (1, 1, 4, 4)
    """
    stride, pad, dilation = _window(kernel, strides, pads, dilations, data_format)
    count, channels, *lengths = x.shape
    sizes = [
        (n + sum(p) - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(lengths, pad, dilation, kernel, stride, strict=True)
    ]
    kinds = 3 if modulated else 2
    shape = (count, kinds * groups * kernel[0] * kernel[1], *sizes)
    if offsets.shape != shape or channels % groups:
        raise ValueError(
            f"Offsets for x {x.shape} are {shape} with a kernel {tuple(kernel)} and {groups} "
            f"group(s), not {offsets.shape}."
        )
    parts = offsets.reshape(count, kinds, groups, *kernel, *sizes)
    rows = _start(0, sizes, kernel, stride, pad, dilation) + parts[:, 1]
    columns = _start(1, sizes, kernel, stride, pad, dilation) + parts[:, 0]
    images = x.reshape(count, groups, channels // groups, -1)
    # [N, groups, kernel height, kernel width, rows, columns] with the channels in front.
    samples = _between(images, lengths, rows[:, :, None], columns[:, :, None])
    if modulated:
        samples = samples * parts[:, 2][:, :, None]
    samples = samples.transpose(0, 1, 2, 5, 3, 6, 4)
    return samples.reshape(count, channels, sizes[0] * kernel[0], sizes[1] * kernel[1])


def _start(axis, sizes, kernel, stride, pad, dilation):
    """Where a rigid kernel reads along one axis, as [kernel, kernel, rows, columns]."""
    first = np.arange(sizes[axis], dtype=np.float32) * stride[axis] - pad[axis][0]
    inner = np.arange(kernel[axis], dtype=np.float32) * dilation[axis]
    shape = [1, 1, 1, 1]
    places, steps = list(shape), list(shape)
    places[2 + axis], steps[axis] = -1, -1
    return inner.reshape(steps) + first.reshape(places)


def _between(images, lengths, rows, columns):
    """[N, G, C, H · W] read between pixels; a pixel outside is 0."""
    height, width = lengths
    low_row, low_column = (lax.stop_gradient(jnp.floor(p)) for p in (rows, columns))
    total = 0
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row, column = low_row + i, low_column + j
        there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        weight = (1 - abs(rows - row)) * (1 - abs(columns - column))
        at = jnp.clip(row, 0, height - 1) * width + jnp.clip(column, 0, width - 1)
        at = at.astype(np.int32).reshape(*at.shape[:3], -1)
        read = jnp.take_along_axis(images, at, 3)
        read = read.reshape(*read.shape[:3], *rows.shape[3:])
        total = total + read * jnp.where(there, weight, 0).astype(images.dtype)
    return total


@composite(
    "ops.deformable_conv2d(x, weight, offsets, kernel_size, strides, padding, bias=None,"
    " dilations=(1, 1, 1, 1), groups=1, deformable_groups=1, modulated=True)"
)
def deformable_conv2d(
    x,
    weight,
    offsets,
    kernel_size,
    strides,
    padding,
    bias=None,
    dilations=(1, 1, 1, 1),
    groups=1,
    deformable_groups=1,
    modulated=True,
):
    """A convolution whose kernel reads at shifted positions, between pixels.

    Args:
        x: [N, C, H, W].
        weight: [O, C / groups, *kernel_size].
        offsets: shifts along the width, shifts along the height, and factors; see
            `DeformableOffsets`.
        kernel_size: the height and width of the kernel.
        strides, dilations: (1, 1, height, width).
        padding: top, bottom, left, right.
        bias: [O] or None.
        groups: the number of groups of channels that are convolved separately, 1 by default.
        deformable_groups: the number of groups of channels that have shifts of their own, 1 by
            default.
        modulated: whether the offsets hold factors too; True by default.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> x, w = ops.ones((1, 1, 3, 3)), ops.ones((1, 1, 2, 2))
        >>> shifts = ops.zeros((1, 8, 2, 2), mycel.float32)
        >>> offsets = ops.cat((shifts, ops.ones((1, 4, 2, 2)) * 0.5), 1)
        >>> settings = (2, 2), (1, 1, 1, 1), (0, 0, 0, 0)
        >>> print(ops.deformable_conv2d(x, w, offsets, *settings).reshape(-1))
        [2. 2. 2. 2.]
    """
    kernel = tuple(kernel_size)
    read = deformable_offsets(
        x, offsets, strides, padding, kernel, dilations, "NCHW", deformable_groups, modulated
    )
    output = convolution(read, weight, None, None, 1, kernel, "valid", 0, 1, groups)
    return output if bias is None else bias_add(output, bias)
