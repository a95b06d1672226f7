# SPDX-License-Identifier: Apache-2.0
"""Parts of a Tensor put elsewhere: blocks as batches, patches, reversed beginnings, rows."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.array.selection import gather
from mycel.ops.nn.convolution import same_or_given
from mycel.ops.nn.patches import fold, patches
from mycel.ops.nn.pooling import unfold
from mycel.ops.nn.resizing import resized

# -- blocks ------------------------------------------------------------------------------------


def _pairs(values, count, what):
    pairs = tuple(tuple(pair) for pair in values)
    if len(pairs) != count or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(f"{what} are {count} pairs, not negative, but {values} was given.")
    return pairs


def _block_lengths(block, x, wanted=None):
    block = (block,) * wanted if isinstance(block, int) else tuple(block)
    if len(block) >= x.ndim or not block or min(block) < 1:
        raise ValueError(f"Blocks of {block} do not fit a Tensor of shape {x.shape}.")
    return block


@op("ops.space_to_batch_nd(input_x=x, block_size=block, paddings=paddings)",
    "SpaceToBatchND(block_shape=block, paddings=paddings)(input_x=x)")  # fmt: skip
def space_to_batch(x, *, block, paddings):
    """The elements of blocks as pictures of their own: [N, …, *lengths] to [N · block, …, smaller].

    Args:
        x: [N, ..., *lengths].
        block: the lengths of a block in the last dimensions; one number for the last two.
        paddings: for each of these dimensions, how many zeros stand in front of it and behind it.

    Raises:
        ValueError: lengths that the block does not divide.

    Example:
        >>> x = ops.arange(4).reshape(1, 1, 2, 2)
        >>> print(ops.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]).reshape(-1))
        [0 1 2 3]
    """
    block = _block_lengths(block, x, 2)
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
    made = parts.transpose(*inner, 0, *range(1, first), *outer)
    return made.reshape(-1, *front, *[n // b for n, b in zip(lengths, block, strict=True)])


@op("ops.batch_to_space_nd(input_x=x, block_shape=block, crops=crops)",
    "BatchToSpaceND(block_shape=block, crops=crops)(input_x=x)")  # fmt: skip
def batch_to_space(x, *, block, crops):
    """Pictures as the elements of blocks of larger ones: what `space_to_batch_nd` undoes.

    Args:
        x: [N * block, ..., *lengths].
        block: the lengths of a block in the last dimensions; one number for the last two.
        crops: for each of these dimensions, how much is cut off in front and behind.

    Raises:
        ValueError: a number of pictures that the block does not divide.

    Example:
        >>> x = ops.arange(4).reshape(4, 1, 1, 1)
        >>> print(ops.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]).reshape(-1))
        [0 1 2 3]
    """
    block = _block_lengths(block, x, 2)
    space, area = len(block), math.prod(block)
    cuts = _pairs(crops, space, "crops")
    if x.shape[0] % area:
        raise ValueError(f"{x.shape[0]} pictures do not fill blocks of {block}.")
    front, lengths = x.shape[1 : x.ndim - space], x.shape[x.ndim - space :]
    parts = x.reshape(*block, x.shape[0] // area, *front, *lengths)
    first = space + 1 + len(front)
    order = [axis for i in range(space) for axis in (first + i, i)]
    made = parts.transpose(*range(space, first), *order)
    longer = [n * b for n, b in zip(lengths, block, strict=True)]
    made = made.reshape(-1, *front, *longer)
    kept = [slice(a, n - b) for n, (a, b) in zip(longer, cuts, strict=True)]
    if any(part.stop <= part.start for part in kept):
        raise ValueError(f"crops {crops} leave nothing of the lengths {longer}.")
    return made[(..., *kept)]


def _block_of_pictures(x, size, name):
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise ValueError(f"The block_size of {name} is an integer from 2, not {size!r}.")
    if x.ndim != 4:
        raise ValueError(f"{name} needs [N, C, H, W], not {x.shape}.")
    return (size, size)


@composite("SpaceToBatch(block_size, paddings)(input_x=x)")
def space_to_batch_of_pictures(x, block_size, paddings):
    """`space_to_batch_nd` with square blocks of pictures.

    Args:
        x: [N, C, H, W].
        block_size: the length of a block, from 2.
        paddings: for H and for W, how many zeros stand in front of it and behind it.

    Example:
        >>> x = ops.arange(4).reshape(1, 1, 2, 2)
        >>> ops.SpaceToBatch(2, [[0, 0], [0, 0]])(x).shape
        (4, 1, 1, 1)
    """
    return space_to_batch(x, _block_of_pictures(x, block_size, "SpaceToBatch"), paddings)


@composite("BatchToSpace(block_size, crops)(input_x=x)")
def batch_to_space_of_pictures(x, block_size, crops):
    """`batch_to_space_nd` with square blocks of pictures.

    Args:
        x: [N * block_size**2, C, H, W].
        block_size: the length of a block, from 2.
        crops: for H and for W, how much is cut off in front and behind.

    Example:
        >>> x = ops.arange(4).reshape(4, 1, 1, 1)
        >>> ops.BatchToSpace(2, [[0, 0], [0, 0]])(x).shape
        (1, 1, 2, 2)
    """
    return batch_to_space(x, _block_of_pictures(x, block_size, "BatchToSpace"), crops)


# -- patches -----------------------------------------------------------------------------------


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
        ValueError: numbers of another form, or another padding.

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
        raise ValueError(f"No patches of {x.shape} with the padding {padding!r}.")
    pads = same_or_given(mode, 0, x.shape[2:], *window)
    return patches(x, window[0], window[1], pads, window[2])


@composite("Im2Col(ksizes, strides=1, dilations=1, pads=0)(x)")
def image_to_columns(x, ksizes, strides=1, dilations=1, pads=0):
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
def columns_to_image(x, size, kernel_size, dilation=1, padding=0, stride=1):
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
        ValueError: columns that do not fit.

    Example:
        >>> print(ops.Col2Im(2)(ops.ones((1, 1, 4, 2)), (2, 3))[0, 0])
        [[1. 2. 1.]
         [1. 2. 1.]]
    """
    if x.ndim != 4:
        raise ValueError(f"Columns of pictures are [N, C, kernel, windows], not {x.shape}.")
    flat = x.reshape(x.shape[0], -1, x.shape[3])
    return fold(flat, size, kernel_size, dilation, padding, stride)


# -- lines, sequences and rows -----------------------------------------------------------------

LINES_UP = {"align_corners": "corners", "half_pixel": "halves", "asymmetric": "edges"}


@composite("ResizeLinear1D(coordinate_transformation_mode='align_corners')(x, size)")
def resize_linear(x, size, coordinate_transformation_mode="align_corners"):
    """Lines with another length, read between their elements.

    Args:
        x: [N, C, L].
        size: the new length, a number, a tuple of one or a Tensor, which is read.
        coordinate_transformation_mode: what corresponds: 'align_corners' (first and last elements),
            'half_pixel' (the middles of elements) or 'asymmetric' (first elements).

    Raises:
        ValueError: an unknown mode, or not three dimensions.

    Example:
        >>> print(ops.ResizeLinear1D()(Tensor([[[1.0, 3.0]]]), (3,)))
        [[[1. 2. 3.]]]
    """
    mode = coordinate_transformation_mode
    if mode not in LINES_UP or x.ndim != 3:
        raise ValueError(
            f"ResizeLinear1D needs [N, C, L] and one of {list(LINES_UP)}, not {x.shape}, {mode!r}."
        )
    size = size.asnumpy().tolist() if hasattr(size, "asnumpy") else size
    size = (size,) if isinstance(size, int) else tuple(size)
    return resized(x, size, "linear", LINES_UP[mode], (None,))


@op("ops.reverse_sequence(x, seq_lengths=lengths, seq_dim=axis, batch_dim=(batch, 0))",
    "ReverseSequence(seq_dim=axis, batch_dim=(batch, 0))(x, seq_lengths=lengths)",
    "Tensor.reverse_sequence(x, seq_lengths=lengths, seq_dim=(axis, 0),"
    " batch_dim=(batch, 0))",
    indices=lambda x, lengths, *, axis, batch: [
        Bounds(1, 0, x.shape[axis] + 1, what="length")
    ])  # fmt: skip
def reverse_sequence(x, lengths, *, axis, batch=0):
    """The beginning of each sequence backwards, the rest as it is.

    Args:
        x: two dimensions or more.
        lengths: how many elements of each sequence are turned round, [N] integers from 0.
        axis: the dimension of the steps.
        batch: the dimension of the sequences, of length N.

    Raises:
        TypeError: lengths are not integers.
        ValueError: one dimension for both, or another number of lengths.

    Example:
        >>> print(ops.reverse_sequence(Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([2, 3]), 1))
        [[2 1 3]
         [6 5 4]]
    """
    axis, batch = axis_in(axis, x.ndim), axis_in(batch, x.ndim)
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"Lengths of sequences are integers, not {lengths.dtype}.")
    if axis == batch or lengths.shape != (x.shape[batch],):
        raise ValueError(
            f"There must be one length for each of the {x.shape[batch]} sequences along a "
            f"dimension other than {axis}, but the lengths have the shape {lengths.shape}."
        )
    steps = np.arange(x.shape[axis])
    turned = lengths.astype(np.int64)[:, None] - 1 - steps
    places = jnp.where(turned >= 0, turned, steps)
    shape = [1] * x.ndim
    shape[batch], shape[axis] = places.shape
    places = (places if batch < axis else places.T).reshape(shape)
    return jnp.take_along_axis(x, places, axis, mode="clip")


@op("EmbeddingLookup()(input_params=x, input_indices=index, offset=offset)")
def embedding_lookup(x, index, *, offset):
    """Rows of a table of which only a part is here.

    Args:
        x: the rows that are here, [R, D] or [R].
        index: integers of any shape: numbers of rows in the whole table; what is not here gives
            zeros.
        offset: the number of the first row of `x` in the whole table.

    Raises:
        TypeError: the numbers are not integers.
        ValueError: a table of more than two dimensions.

    Example:
        >>> print(ops.EmbeddingLookup()(Tensor([[1.0], [2.0]]), Tensor([4, 9]), 3))
        [[2.]
         [0.]]
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"The table of EmbeddingLookup has one or two dimensions, not {x.shape}.")
    if index.dtype.kind not in "iu":
        raise TypeError(f"Rows are looked up by integers, not by {index.dtype}.")
    place = index.astype(np.int64) - offset
    there = (place >= 0) & (place < x.shape[0])
    found = x[jnp.where(there, place, 0)]
    shape = (*there.shape, *[1] * (x.ndim - 1))
    return jnp.where(there.reshape(shape), found, jnp.zeros((), x.dtype))


@composite("SparseGatherV2()(input_params=x, input_indices=index, axis=axis)")
def sparse_gather(x, index, axis):
    """`ops.gather` under an older name.

    Args:
        x: any shape.
        index: integers of any shape, which takes the place of the dimension `axis`; negative ones
            count from the end.
        axis: the dimension in which positions are counted.

    Example:
        >>> print(ops.SparseGatherV2()(Tensor([5, 6, 7]), Tensor([2, 0]), 0))
        [7 5]
    """
    return gather(x, index, axis)


@op("ops.channel_shuffle(x, groups=groups)", "ChannelShuffle(group=groups)(x)")
def channel_shuffle(x, *, groups):
    """Channels, dimension 1, dealt out: first those that begin a group, then the second of each.

    Raises:
        ValueError: channels that the groups do not divide.

    Example:
        >>> print(ops.channel_shuffle(ops.arange(4).reshape(1, 4, 1), 2).reshape(-1))
        [0 2 1 3]
    """
    if isinstance(groups, bool) or not isinstance(groups, int):
        raise TypeError(f"groups must be an integer, not {groups!r}.")
    if x.ndim < 3 or groups < 1 or x.shape[1] % groups:
        raise ValueError(f"{groups} groups do not divide the channels of {x.shape}.")
    parts = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    return parts.swapaxes(1, 2).reshape(x.shape)


# -- neighbours --------------------------------------------------------------------------------


@op("ops.lrn(x, depth_radius=radius, bias=bias, alpha=alpha, beta=beta,"
    " norm_region='ACROSS_CHANNELS')",
    "LRN(depth_radius=radius, bias=bias, alpha=alpha, beta=beta,"
    " norm_region='ACROSS_CHANNELS')(x)",
)  # fmt: skip
def local_response(x, *, radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
    """x over (bias + alpha · the sum of squares of the channels around) to the power beta.

    Args:
        x: [N, C, H, W].
        radius: how many channels on each side count.
        bias: what is added to `alpha` times the sum.
        alpha: the factor of the sum of squares.
        beta: the exponent.
        norm_region: 'ACROSS_CHANNELS', the only one.

    Raises:
        ValueError: another number of dimensions, or another region.

    Example:
        >>> print(ops.lrn(ops.ones((1, 2, 1, 1)), 1, 2.0).reshape(-1))
        [0.5 0.5]
    """
    if x.ndim != 4 or norm_region != "ACROSS_CHANNELS":
        raise ValueError(
            f"lrn works across the channels of [N, C, H, W], not over {norm_region!r} of {x.shape}."
        )
    squares = jnp.pad(x * x, ((0, 0), (radius, radius), (0, 0), (0, 0)))
    around = sum(squares[:, i : i + x.shape[1]] for i in range(2 * radius + 1))
    scale = jnp.array(bias, x.dtype) + jnp.array(alpha, x.dtype) * around
    return x * scale ** jnp.array(-beta, x.dtype)
