# SPDX-License-Identifier: Apache-2.0
"""Rearranging pixels: between channels and space, and patches as columns and back."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import several
from mycel.ops.nn.convolution import same_or_given
from mycel.ops.nn.pooling import unfold
from mycel.tuning import lowering


@op(
    "ops.pixel_shuffle(input=x, upscale_factor=factor)",
    "mint.nn.functional.pixel_shuffle(input=x, upscale_factor=factor)",
)
def pixel_shuffle(x, *, factor):
    """[…, C · factor², H, W] as […, C, H · factor, W · factor]: channels become pixels.

    Raises:
        ValueError: x has too few dimensions, or factor² does not divide the channels.

    Example:
        >>> print(ops.pixel_shuffle(ops.arange(4).reshape(1, 4, 1, 1), 2))
        [[[[0 1]
           [2 3]]]]
    """
    if x.ndim < 3 or factor < 1 or x.shape[-3] % factor**2:
        raise ValueError(f"{x.shape} has no channels that {factor}² divides.")
    *front, channels, height, width = x.shape
    parts = x.reshape(-1, channels // factor**2, factor, factor, height, width)
    output = parts.transpose(0, 1, 4, 2, 5, 3)
    return output.reshape(*front, channels // factor**2, height * factor, width * factor)


@op("ops.pixel_unshuffle(input=x, downscale_factor=factor)")
def pixel_unshuffle(x, *, factor):
    """[…, C, H · factor, W · factor] as […, C · factor², H, W]: pixels become channels.

    Raises:
        ValueError: x has too few dimensions, or the factor does not divide the lengths.

    Example:
        >>> print(ops.pixel_unshuffle(ops.arange(4).reshape(1, 1, 2, 2), 2).reshape(-1))
        [0 1 2 3]
    """
    if x.ndim < 3 or factor < 1 or x.shape[-1] % factor or x.shape[-2] % factor:
        raise ValueError(f"{x.shape} has no height and width that {factor} divides.")
    *front, channels, height, width = x.shape
    parts = x.reshape(-1, channels, height // factor, factor, width // factor, factor)
    output = parts.transpose(0, 1, 3, 5, 2, 4)
    return output.reshape(*front, channels * factor**2, height // factor, width // factor)


@op("DepthToSpace(block_size)(x)")
def depth_to_space(x, *, block_size):
    """[N, C · block², H, W] as [N, C, H · block, W · block]; the block is the outer part of depth.

    Raises:
        ValueError: x does not have four dimensions, or block² does not divide the channels.

    Example:
        >>> print(ops.DepthToSpace(2)(ops.arange(4).reshape(1, 4, 1, 1)))
        [[[[0 1]
           [2 3]]]]
    """
    if x.ndim != 4 or block_size < 1 or x.shape[1] % block_size**2:
        raise ValueError(f"{x.shape} has no channels that {block_size}² divides.")
    n, channels, height, width = x.shape
    parts = x.reshape(n, block_size, block_size, channels // block_size**2, height, width)
    output = parts.transpose(0, 3, 4, 1, 5, 2)
    return output.reshape(n, channels // block_size**2, height * block_size, width * block_size)


@op("SpaceToDepth(block_size)(x)")
def space_to_depth(x, *, block_size):
    """[N, C, H · block, W · block] as [N, C · block², H, W]; the block is the outer part of depth.

    Raises:
        ValueError: x does not have four dimensions, or the block does not divide the lengths.

    Example:
        >>> print(ops.SpaceToDepth(2)(ops.arange(4).reshape(1, 1, 2, 2)).reshape(-1))
        [0 1 2 3]
    """
    if x.ndim != 4 or block_size < 1 or x.shape[2] % block_size or x.shape[3] % block_size:
        raise ValueError(f"{x.shape} has no height and width that {block_size} divides.")
    n, channels, height, width = x.shape
    rows, columns = height // block_size, width // block_size
    parts = x.reshape(n, channels, rows, block_size, columns, block_size)
    output = parts.transpose(0, 3, 5, 1, 2, 4)
    return output.reshape(n, channels * block_size**2, rows, columns)


@op()
def folded_columns(x, *, lengths, kernel, stride, pads, dilation):
    """Every column back to its window of [N, C, *lengths], summed where windows overlap.

    Example:
        >>> from mycel.ops.nn.patches import folded_columns
        >>> x, window = ops.ones((1, 4, 1)), ((2, 2), (1, 1), ((0, 0), (0, 0)), (1, 1))
        >>> print(folded_columns(x, (2, 2), *window)[0, 0])
        [[1. 1.]
         [1. 1.]]
    """
    spans = zip(lengths, kernel, stride, pads, dilation, strict=True)
    counts = [(n + sum(pad) - (k - 1) * d - 1) // s + 1 for n, k, s, pad, d in spans]
    elements = math.prod(kernel)
    if x.ndim != 3 or x.shape[1] % elements or x.shape[2] != math.prod(counts):
        raise ValueError(
            f"Windows of {kernel} over {lengths} are columns [N, C · {elements}, "
            f"{math.prod(counts)}], not {x.shape}."
        )
    channels = x.shape[1] // elements
    parts = x.reshape(x.shape[0], channels, elements, *counts)
    whole = jax.ShapeDtypeStruct((x.shape[0], channels, *lengths), x.dtype)

    def taken(image):
        return lowering.elements_of_windows(image, kernel, stride, pads, dilation, 0)

    return jax.linear_transpose(taken, whole)([parts[:, :, i] for i in range(elements)])[0]


@composite(
    "ops.fold(input=x, output_size=output_size, kernel_size=kernel_size, dilation=1, padding=0,"
    " stride=1)",
    "mint.nn.functional.fold(input=x, output_size=output_size, kernel_size=kernel_size,"
    " dilation=1, padding=0, stride=1)",
    "Tensor.fold(x, output_size=output_size, kernel_size=kernel_size, dilation=1, padding=0,"
    " stride=1)",
)
def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns [N, C · kernel, windows], as `unfold` gives them, summed back into [N, C, H, W].

    Args:
        x: [N, C · kernel, windows].
        output_size: (H, W), numbers or a Tensor, which is read.
        kernel_size: the size of a window, one number or two for (H, W).
        dilation: the distance between neighbouring elements of a window, one number or two; 1 by
            default.
        padding: the number of zeros on both sides, one number or two for (H, W), or four for (top,
            bottom, left, right); 0 by default.
        stride: the steps from window to window, one number or two for (H, W); 1 by default.

    Raises:
        ValueError: the columns do not fit the image.

    Example:
        >>> print(ops.fold(ops.ones((1, 4, 2)), (2, 3), 2)[0, 0])
        [[1. 2. 1.]
         [1. 2. 1.]]
    """
    size = output_size.asnumpy().tolist() if hasattr(output_size, "asnumpy") else output_size
    size = several(size, 2, "output_size")
    kernel = several(kernel_size, 2, "The kernel_size")
    stride, dilation = several(stride, 2, "The stride"), several(dilation, 2, "The dilation")
    pads = same_or_given("pad", padding, size, kernel, stride, dilation)
    return folded_columns(x, size, kernel, stride, pads, dilation)


@op()
def patches(x, *, kernel, stride, pads, dilation):
    """Every window of [N, C, H, W] as a pixel with kernel · C channels, channels innermost.

    Example:
        >>> from mycel.ops.nn.patches import patches
        >>> x = ops.arange(4).reshape(1, 1, 2, 2)
        >>> print(patches(x, (2, 2), (1, 1), ((0, 0), (0, 0)), (1, 1)).reshape(-1))
        [0 1 2 3]
    """
    return jnp.concatenate(lowering.elements_of_windows(x, kernel, stride, pads, dilation, 0), 1)


@composite("ExtractImagePatches(ksizes, strides, rates, padding='valid')(input_x=x)")
def extract_image_patches(x, ksizes, strides, rates, padding="valid"):
    """Every window of x as a pixel with kernel · C channels, channels innermost.

    Args:
        x: [N, C, H, W].
        ksizes: the size of a window, (1, 1, rows, columns).
        strides: the steps from window to window, (1, 1, rows, columns).
        rates: the distances of neighbours inside a window, (1, 1, rows, columns).
        padding: 'valid' (none) or 'same' (as many windows as pixels / `strides`).

    Raises:
        ValueError: the numbers do not have the form (1, 1, rows, columns), or the padding is
            unknown.

    Example:
        >>> ones = (1, 1, 1, 1)
        >>> take = ops.ExtractImagePatches((1, 1, 2, 2), ones, ones)
        >>> print(take(ops.arange(4).reshape(1, 1, 2, 2)).reshape(-1))
        [0 1 2 3]
    """
    window = []
    for numbers, name in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")):
        if len(numbers) != 4 or tuple(numbers[:2]) != (1, 1) or min(numbers) < 1:
            raise ValueError(f"{name} of patches are (1, 1, rows, columns), not {numbers}.")
        window.append(tuple(numbers[2:]))
    mode = padding.lower() if isinstance(padding, str) else padding
    if mode not in ("valid", "same") or x.ndim != 4:
        raise ValueError(
            f"Patches need [N, C, H, W] and the padding 'valid' or 'same', not {x.shape} and "
            f"{padding!r}."
        )
    pads = same_or_given(mode, 0, x.shape[2:], *window)
    return patches(x, window[0], window[1], pads, window[2])


@composite("Im2Col(ksizes, strides=1, dilations=1, pads=0)(x)")
def im2col(x, ksizes, strides=1, dilations=1, pads=0):
    """Every window of x as a column: [N, C, kernel, windows].

    Args:
        x: [N, C, H, W].
        ksizes: the size of a window, one number or two for (H, W).
        strides: the steps from window to window, one number or two for (H, W).
        dilations: the distances of neighbours inside a window, one number or two for (H, W).
        pads: zeros on each side of H and W: one number, two for (H, W), or four for
            (top, bottom, left, right).

    Example:
        >>> ops.Im2Col(2)(ops.ones((1, 1, 3, 3))).shape
        (1, 1, 4, 4)
    """
    columns = unfold(x, ksizes, dilations, pads, strides)
    return columns.reshape(x.shape[0], x.shape[1], -1, columns.shape[2])


@composite(
    "ops.col2im(input_x=x, output_size=size, kernel_size=kernel_size, dilation=dilation,"
    " padding_value=padding, stride=stride)",
    "Col2Im(kernel_size, dilation=1, padding=0, stride=1)(x=x, output_size=size)",
    "Tensor.col2im(x, output_size=size, kernel_size=kernel_size, dilation=dilation,"
    " padding_value=padding, stride=stride)",
)
def col2im(x, size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns, as `Im2Col` gives them, summed back into [N, C, H, W].

    Args:
        x: [N, C, kernel, windows].
        size: (H, W), numbers or a Tensor, which is read.
        kernel_size: the size of a window, one number or two for (H, W).
        dilation: the distances of neighbours inside a window, one number or two for (H, W).
        padding: zeros on each side of H and W: one number, two for (H, W), or four for
            (top, bottom, left, right).
        stride: the steps from window to window, one number or two for (H, W).

    Raises:
        ValueError: the columns do not fit the image.

    Example:
        >>> print(ops.Col2Im(2)(ops.ones((1, 1, 4, 2)), (2, 3))[0, 0])
        [[1. 2. 1.]
         [1. 2. 1.]]
    """
    if x.ndim != 4:
        raise ValueError(f"Columns of images must be [N, C, kernel, windows], not {x.shape}.")
    flat = x.reshape(x.shape[0], -1, x.shape[3])
    return fold(flat, size, kernel_size, dilation, padding, stride)
