# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels as batches, and back."""

from __future__ import annotations

import math

import jax.numpy as jnp

from mycel.kernel.spell import composite, op


def _pairs(values, count, what):
    pairs = tuple(tuple(pair) for pair in values)
    if len(pairs) != count or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(f"{what} are {count} pairs, not negative, but {values} was given.")
    return pairs


def _block_lengths(block, x):
    block = (block,) * 2 if isinstance(block, int) else tuple(block)
    if len(block) >= x.ndim or not block or min(block) < 1:
        raise ValueError(f"Blocks of {block} do not fit a Tensor of shape {x.shape}.")
    return block


@op("ops.space_to_batch_nd(input_x=x, block_size=block, paddings=paddings)",
    "SpaceToBatchND(block_shape=block, paddings=paddings)(input_x=x)")  # fmt: skip
def space_to_batch_nd(x, *, block, paddings):
    """The elements of blocks as images of their own: [N, …, *lengths] to [N · block, …, smaller].

    Args:
        x: [N, ..., *lengths].
        block: the lengths of a block in the last dimensions; one number for the last two.
        paddings: for each of these dimensions, how many zeros stand before and after it.

    Raises:
        ValueError: the block does not divide the lengths.

    Example:
        >>> x = ops.arange(4).reshape(1, 1, 2, 2)
        >>> print(ops.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]).reshape(-1))
        [0 1 2 3]
    """
    block = _block_lengths(block, x)
    space = len(block)
    pads = _pairs(paddings, space, "paddings")
    front = x.shape[1 : x.ndim - space]
    x = jnp.pad(x, ((0, 0),) * (x.ndim - space) + pads)
    lengths = x.shape[x.ndim - space :]
    if any(n % b for n, b in zip(lengths, block, strict=True)):
        raise ValueError(f"Blocks of {block} do not divide the padded lengths {lengths}.")
    split = [part for n, b in zip(lengths, block, strict=True) for part in (n // b, b)]
    parts = x.reshape(x.shape[0], *front, *split)
    first = 1 + len(front)
    inner, outer = range(first + 1, parts.ndim, 2), range(first, parts.ndim, 2)
    blocks = parts.transpose(*inner, 0, *range(1, first), *outer)
    return blocks.reshape(-1, *front, *[n // b for n, b in zip(lengths, block, strict=True)])


@op("ops.batch_to_space_nd(input_x=x, block_shape=block, crops=crops)",
    "BatchToSpaceND(block_shape=block, crops=crops)(input_x=x)")  # fmt: skip
def batch_to_space_nd(x, *, block, crops):
    """Images as the elements of blocks of larger ones: the inverse of `space_to_batch_nd`.

    Args:
        x: [N * block, ..., *lengths].
        block: the lengths of a block in the last dimensions; one number for the last two.
        crops: for each of these dimensions, how much is cut off at its start and end.

    Raises:
        ValueError: the block does not divide the number of images.

    Example:
        >>> x = ops.arange(4).reshape(4, 1, 1, 1)
        >>> print(ops.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]).reshape(-1))
        [0 1 2 3]
    """
    block = _block_lengths(block, x)
    space, area = len(block), math.prod(block)
    cuts = _pairs(crops, space, "crops")
    if x.shape[0] % area:
        raise ValueError(f"{x.shape[0]} images do not fill blocks of {block}.")
    front, lengths = x.shape[1 : x.ndim - space], x.shape[x.ndim - space :]
    parts = x.reshape(*block, x.shape[0] // area, *front, *lengths)
    first = space + 1 + len(front)
    order = [axis for i in range(space) for axis in (first + i, i)]
    whole = parts.transpose(*range(space, first), *order)
    longer = [n * b for n, b in zip(lengths, block, strict=True)]
    whole = whole.reshape(-1, *front, *longer)
    kept = [slice(a, n - b) for n, (a, b) in zip(longer, cuts, strict=True)]
    if any(part.stop <= part.start for part in kept):
        raise ValueError(f"crops {crops} leave nothing of the lengths {longer}.")
    return whole[(..., *kept)]


def _block_of_images(x, size, name):
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise ValueError(f"The block_size of {name} is an integer from 2, not {size!r}.")
    if x.ndim != 4:
        raise ValueError(f"{name} needs [N, C, H, W], not {x.shape}.")
    return (size, size)


@composite("SpaceToBatch(block_size, paddings)(input_x=x)")
def space_to_batch(x, block_size, paddings):
    """`space_to_batch_nd` with square blocks of images.

    Args:
        x: [N, C, H, W].
        block_size: the length of a block, from 2.
        paddings: for H and for W, how many zeros stand before and after it.

    Example:
        >>> x = ops.arange(4).reshape(1, 1, 2, 2)
        >>> ops.SpaceToBatch(2, [[0, 0], [0, 0]])(x).shape
        (4, 1, 1, 1)
    """
    return space_to_batch_nd(x, _block_of_images(x, block_size, "SpaceToBatch"), paddings)


@composite("BatchToSpace(block_size, crops)(input_x=x)")
def batch_to_space(x, block_size, crops):
    """`batch_to_space_nd` with square blocks of images.

    Args:
        x: [N * block_size**2, C, H, W].
        block_size: the length of a block, from 2.
        crops: for H and for W, how much is cut off at its start and end.

    Example:
        >>> x = ops.arange(4).reshape(4, 1, 1, 1)
        >>> ops.BatchToSpace(2, [[0, 0], [0, 0]])(x).shape
        (1, 1, 2, 2)
    """
    return batch_to_space_nd(x, _block_of_images(x, block_size, "BatchToSpace"), crops)
