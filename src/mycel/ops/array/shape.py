# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order: reshape, transpose, expand, squeeze, flip, roll."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import export, lax

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.spell import add_member, composite, op
from mycel.ops.array.axes import axes_in, axis_in, one_or_more


def _lengths(shape) -> tuple:
    """A shape as a tuple.

    Raises:
        TypeError: a length is not an integer.
    """
    lengths = one_or_more(shape)
    if not all(isinstance(n, int) or export.is_symbolic_dim(n) for n in lengths):
        raise TypeError(f"A shape consists of integers, but {shape!r} was given.")
    return lengths


@op(
    "ops.reshape(input=x, shape=shape)",
    "Reshape()(input=x, shape=shape)",
    "Tensor.reshape(x, *shape)",
    "mint.reshape(input=x, shape=shape)",
    rearranges=True,
)
def reshape(x, *, shape):
    """The elements of x in another shape; one length may be -1 and is worked out.

    Args:
        x: any shape.
        shape: the lengths, one after another or as one tuple.

    Raises:
        ValueError: the shape holds another number of elements.
        TypeError: the shape does not consist of integers.

    Example:
        >>> ops.reshape(Tensor([1, 2, 3, 4]), (2, -1)).shape
        (2, 2)
    """
    lengths = _lengths(shape)
    known = math.prod(n for n in lengths if n != -1)
    unknown = lengths.count(-1)
    if unknown and not known and not x.size:
        # Any number would do for nothing; MindSpore takes 0.
        known = 1
    fits = x.size == known if not unknown else known and x.size % known == 0 and unknown == 1
    if not fits:
        raise ValueError(
            f"A Tensor of shape {x.shape} has {x.size} elements and cannot take the shape "
            f"{lengths}.{_kept_rows(x, lengths)}"
        )
    return lax.reshape(x, tuple(x.size // known if n == -1 else n for n in lengths))


def _kept_rows(x, lengths) -> str:
    """What to write if the rows of a batch, say, were to become vectors."""
    if len(lengths) != 2 or x.ndim < 2 or lengths[0] not in (-1, x.shape[0]) or not x.shape[0]:
        return ""
    row = x.size // x.shape[0]
    return f" Each of its {x.shape[0]} rows has {row} elements: reshape({x.shape[0]}, {row})."


@composite(
    "Tensor.reshape_as(x, other)", "Tensor.view_as(x, other)", "ops.view_as(input=x, other=other)"
)
def reshape_as(x, other):
    """The elements of x in the shape of another Tensor.

    Example:
        >>> Tensor([1, 2]).reshape_as(Tensor([[0], [0]])).shape
        (2, 1)
    """
    return reshape(x, other.shape)


@op(
    "ops.transpose(input=x, dims=axes)",
    "ops.permute(input=x, axis=axes)",
    "Transpose()(input=x, dims=axes)",
    "TransposeView()(input=x, input_perm=axes)",
    "mint.permute(input=x, dims=axes)",
    rearranges=True,
)
def transpose(x, *, axes):
    """x with its dimensions in another order.

    Args:
        x: any shape.
        axes: the dimensions of `x` in the order wanted, a tuple of as many integers; negative ones
            count from the end, and () reverses the order.

    Raises:
        ValueError: `axes` is not a permutation of the dimensions.

    Example:
        >>> ops.transpose(Tensor([[1, 2, 3], [4, 5, 6]]), (1, 0)).shape
        (3, 2)
    """
    order = axes if axes != () else tuple(reversed(range(x.ndim)))
    order = tuple(axis_in(axis, x.ndim) for axis in one_or_more(order))
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"{axes} is not a permutation of the dimensions of a Tensor {x.shape}.")
    return lax.transpose(x, order)


@op(
    "ops.swapaxes(input=x, axis0=first, axis1=second)",
    "ops.swapdims(input=x, dim0=first, dim1=second)",
    "Tensor.swapaxes(x, axis0=first, axis1=second)",
    "Tensor.swapdims(x, dim0=first, dim1=second)",
    "mint.swapaxes(input=x, axis0=first, axis1=second)",
    "mint.transpose(input=x, dim0=first, dim1=second)",
    rearranges=True,
)
def swapaxes(x, *, first, second):
    """x with two dimensions exchanged.

    Args:
        x: any shape.
        first: one of the dimensions.
        second: the other one.

    Example:
        >>> ops.swapaxes(Tensor([[1, 2, 3]]), 0, 1).shape
        (3, 1)
    """
    order = list(range(x.ndim))
    a, b = axis_in(first, x.ndim), axis_in(second, x.ndim)
    order[a], order[b] = b, a
    return lax.transpose(x, order)


@op(
    "ops.movedim(x, source, destination)",
    "ops.moveaxis(x, source, destination)",
    "Tensor.movedim(x, source, destination)",
    "Tensor.moveaxis(x, source, destination)",
)
def movedim(x, *, source, destination):
    """x with the dimensions `source` moved to `destination`; the others keep their order.

    Args:
        x: any shape.
        source: a dimension, or several.
        destination: where each of them stands in the result.

    Example:
        >>> ops.movedim(ops.reshape(Tensor([1, 2]), (1, 2, 1)), 1, 0).shape
        (2, 1, 1)
    """
    return jnp.moveaxis(x, source, destination)


_T = "x with its dimensions reversed; MindSpore's `Tensor.T`."
add_member("T", property(lambda x: transpose(x, ()), doc=_T))
_MT = "x with its last two dimensions exchanged."
add_member("mT", property(lambda x: swapaxes(x, -1, -2), doc=_MT))


@composite("mint.t(input=x)", "Tensor.t(x)", "ops.t(input=x)")
def t(x):
    """The transpose of a matrix; vectors and numbers as they are.

    Raises:
        ValueError: more than two dimensions.

    Example:
        >>> ops.t(Tensor([[1, 2, 3]])).shape
        (3, 1)
    """
    if x.ndim > 2:
        raise ValueError(f"t() needs at most two dimensions, but a Tensor {x.shape} was given.")
    return transpose(x, ()) if x.ndim == 2 else x


@op(
    "ops.squeeze(input=x, axis=axis)",
    "Squeeze(axis=())(input=x)",
    "Tensor.squeeze(x, axis=axis)",
    "mint.squeeze(input=x, dim=axis)",
    rearranges=True,
)
def squeeze(x, *, axis=None):
    """x without its dimensions of length 1: all of them, or those of `axis`.

    A longer dimension in `axis` stays, as in MindSpore.

    Raises:
        ValueError: there is no such dimension.

    Example:
        >>> ops.squeeze(Tensor([[1], [2]])).shape
        (2,)
    """
    if axis is None or axis == ():
        axes = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        axes = tuple(a for a in axes_in(axis, x.ndim) if x.shape[a] == 1)
    return lax.squeeze(x, axes)


@op(
    "ops.unsqueeze(input=x, dim=axis)",
    "ops.expand_dims(input_x=x, axis=axis)",
    "ExpandDims()(input_x=x, axis=axis)",
    "Tensor.unsqueeze(x, dim=axis)",
    "Tensor.expand_dims(x, axis=axis)",
    "mint.unsqueeze(input=x, dim=axis)",
    rearranges=True,
)
def expand_dims(x, *, axis):
    """x with a new dimension of length 1.

    Args:
        x: any shape.
        axis: where the new dimension stands in the result, from -ndim - 1 to ndim.

    Raises:
        ValueError: `axis` lies outside -ndim-1 … ndim.

    Example:
        >>> ops.expand_dims(Tensor([1, 2]), -1).shape
        (2, 1)
    """
    axis = axis_in(axis, x.ndim + 1)
    return lax.expand_dims(x, (axis,))


@op(
    "ops.flatten(input=x, order='C', start_dim=(start, 1), end_dim=end)",
    "Flatten()(input_x=x)",
    "mint.flatten(input=x, start_dim=(start, 0), end_dim=end)",
    "mint.nn.functional.flatten(input=x, start_dim=(start, 0), end_dim=end)",
    rearranges=True,
)
def flatten(x, *, order="C", start=1, end=-1):
    """x with the dimensions `start` to `end` joined into one.

    Args:
        x: any shape; with fewer than two dimensions it becomes a vector.
        order: 'C' joins row by row; 'F' reverses the dimensions of `x` first.
        start: the first of the dimensions that are joined.
        end: the last of the dimensions that are joined.

    Raises:
        ValueError: the order is unknown, or `start` lies after `end`.

    Example:
        >>> ops.flatten(ops.reshape(Tensor([1, 2, 3, 4]), (2, 1, 2))).shape
        (2, 2)
    """
    if order not in ("C", "F"):
        raise ValueError(f"The order of flatten must be 'C' or 'F', not {order!r}.")
    if order == "F":
        x = x.T
    if x.ndim < 2:
        return lax.reshape(x, (x.size,))
    first, last = axis_in(start, x.ndim), axis_in(end, x.ndim)
    if first > last:
        raise ValueError(f"flatten starts at dimension {first}, after its end {last}.")
    joined = math.prod(x.shape[first : last + 1])
    return lax.reshape(x, (*x.shape[:first], joined, *x.shape[last + 1 :]))


@composite("Tensor.flatten(x, order=order, end_dim=end, start_dim=start)")
def flatten_method(x, order="C", end=-1, start=0):
    """The dimensions `start_dim` to `end_dim` joined into one; `x.flatten(0, -1)` names them too.

    Args:
        x: any shape.
        order: 'C' joins row by row; 'F' reverses the dimensions of `x` first; an integer is the
            first of the dimensions that are joined, in row order.
        end: the last of them.
        start: the first of them, given by name.

    Example:
        >>> Tensor([[[1, 2]], [[3, 4]]]).flatten(1, 2).shape
        (2, 2)
    """
    if isinstance(order, int):
        order, start = "C", order
    return flatten(x, order=order, start=start, end=end)


@composite("ops.ravel(input=x)", "Tensor.ravel(x)", "mint.ravel(input=x)")
def ravel(x):
    """The elements of x in one dimension.

    Example:
        >>> ops.ravel(Tensor([[1], [2]])).shape
        (2,)
    """
    return reshape(x, (-1,))


@op(
    "ops.broadcast_to(input=x, shape=shape)",
    "BroadcastTo(shape)(input=x)",
    "Tensor.broadcast_to(x, *shape)",
    "Tensor.expand(x, *shape)",
    "mint.broadcast_to(input=x, shape=shape)",
)
def broadcast_to(x, *, shape):
    """x repeated along its dimensions of length 1, and along new ones in front.

    Args:
        x: any shape.
        shape: the shape wanted; -1 keeps the length of a dimension of `x`.

    Raises:
        ValueError: x cannot take this shape.

    Example:
        >>> print(ops.broadcast_to(Tensor([1, 2]), (2, -1)))
        [[1 2]
         [1 2]]
    """
    lengths = _lengths(shape)
    new = len(lengths) - x.ndim
    kept = (*[-1] * new, *x.shape)
    if new < 0 or any(n == -1 and k == -1 for n, k in zip(lengths, kept, strict=True)):
        raise ValueError(f"A Tensor of shape {x.shape} cannot be broadcast to {lengths}.")
    full = tuple(k if n == -1 else n for n, k in zip(lengths, kept, strict=True))
    if any(k not in (-1, 1, n) for n, k in zip(full, kept, strict=True)):
        raise ValueError(f"A Tensor of shape {x.shape} cannot be broadcast to {lengths}.")
    return jnp.broadcast_to(x, full)


@composite("Tensor.expand_as(self=x, other=other)", "ops.expand_as(input=x, other=other)")
def expand_as(x, other):
    """x broadcast to the shape of another Tensor.

    Example:
        >>> Tensor([1, 2]).expand_as(Tensor([[0, 0], [0, 0]])).shape
        (2, 2)
    """
    return broadcast_to(x, other.shape)


@op(
    "ops.tile(input=x, dims=repeats)",
    "Tile()(input=x, dims=repeats)",
    "mint.tile(input=x, dims=repeats)",
)
def tile(x, *, repeats):
    """x repeated along its dimensions.

    Raises:
        ValueError: a number of repeats is negative.

    Example:
        >>> print(ops.tile(Tensor([1, 2]), (2,)))
        [1 2 1 2]
    """
    repeats = one_or_more(repeats)
    if any(n < 0 for n in repeats):
        raise ValueError(f"tile cannot repeat {repeats} times.")
    return jnp.tile(x, repeats)


@op()
def repeat_along(x, *, repeats, axis):
    """Every element of x `repeats` times along `axis`; see `repeat_interleave`.

    Example:
        >>> from mycel.ops.array.shape import repeat_along
        >>> print(repeat_along(Tensor([1, 2]), 2, 0))
        [1 1 2 2]
    """
    if axis is None:
        x, axis = x.ravel(), 0
    axis = axis_in(axis, x.ndim)
    if isinstance(repeats, tuple) and len(repeats) == 1:
        repeats = repeats[0]
    if isinstance(repeats, str):
        raise TypeError(f"repeats are integers, but {repeats!r} was given.")
    if isinstance(repeats, int):
        return jnp.repeat(x, repeats, axis)
    if len(repeats) != x.shape[axis]:
        raise ValueError(f"{len(repeats)} repeats are given for {x.shape[axis]} elements.")
    order = [i for i, n in enumerate(repeats) for _ in range(n)]
    return jnp.take(x, jnp.array(order, "int32"), axis, mode="clip")


@composite(
    "ops.repeat_interleave(input=x, repeats=repeats, axis=axis)",
    "ops.repeat_elements(x, rep=repeats, axis=0)",
    "Tensor.repeat_interleave(x, repeats, dim=axis, output_size=length)",
    "mint.repeat_interleave(input=x, repeats=repeats, dim=axis, output_size=length)",
)
def repeat_interleave(x, repeats, axis=None, length=None):
    """Every element of x several times in a row.

    Args:
        x: any shape.
        repeats: one number, or one for each element along `axis`.
        axis: the dimension along which elements are repeated; None for those of flattened `x`.
        length: what the result is expected to have along `axis`; None for no check.

    Raises:
        ValueError: the result has another length.

    Example:
        >>> print(ops.repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    repeated = repeat_along(x, repeats, axis)
    if length is not None and repeated.shape[axis or 0] != length:
        raise ValueError(
            f"output_size is {length}, but the result has {repeated.shape[axis or 0]}."
        )
    return repeated


@composite("Tensor.repeat(x, *repeats)")
def repeat(x, repeats):
    """x repeated along its dimensions; `repeats` has one number for each of them.

    Raises:
        ValueError: there are fewer numbers than dimensions.

    Example:
        >>> print(Tensor([1, 2]).repeat(2))
        [1 2 1 2]
    """
    repeats = one_or_more(repeats)
    if len(repeats) < x.ndim:
        raise ValueError(f"repeat needs {x.ndim} numbers for a Tensor {x.shape}, not {repeats}.")
    return tile(x, repeats)


@op("ops.flip(input=x, dims=axes)", "ops.reverse(x, axis=axes)", "ReverseV2(axis=axes)(input=x)",
    "mint.flip(input=x, dims=axes)", "Tensor.reverse(x, axis=axes)")  # fmt: skip
def flip(x, *, axes):
    """x in reverse order along the dimensions `axes`.

    Example:
        >>> print(ops.flip(Tensor([1, 2, 3]), (0,)))
        [3 2 1]
    """
    return lax.rev(x, axes_in(one_or_more(axes), x.ndim)) if axes != () else x


@composite("ops.fliplr(input=x)", "Tensor.fliplr(x)")
def fliplr(x):
    """x with its second dimension reversed.

    Example:
        >>> print(ops.fliplr(Tensor([[1, 2]])))
        [[2 1]]
    """
    return flip(x, (1,))


@composite("ops.flipud(input=x)", "Tensor.flipud(x)")
def flipud(x):
    """x with its first dimension reversed.

    Example:
        >>> print(ops.flipud(Tensor([1, 2])))
        [2 1]
    """
    return flip(x, (0,))


@op(
    "ops.roll(input=x, shifts=shifts, dims=axes)",
    "Roll(shifts, dims=axes)(input=x)",
    "Tensor.roll(x, shifts, dims=axes)",
    "mint.roll(input=x, shifts=shifts, dims=axes)",
)
def roll(x, *, shifts, axes=None):
    """x shifted along dimensions, what leaves at one end coming in at the other.

    Args:
        x: any shape.
        shifts: how many places elements move towards the end, one number or one for each of `axes`.
        axes: a dimension, or several; None shifts the elements of flattened `x` and keeps its
            shape.

    Example:
        >>> print(ops.roll(Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    return jnp.roll(x, shifts, axes)


@op("ops.rot90(input=x, k=turns, dims=axes)", "Tensor.rot90(x, k=turns, dims=axes)")
def rot90(x, *, turns, axes):
    """x rotated by multiples of 90 degrees in the plane of two dimensions.

    Args:
        x: two dimensions or more.
        turns: how many times; a negative number turns the other way.
        axes: the two dimensions of the plane; it is turned from the first towards the second.

    Example:
        >>> print(ops.rot90(Tensor([[1, 2]]), 1, (0, 1)))
        [[2]
         [1]]
    """
    return jnp.rot90(x, turns, axes)


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
        ValueError: `axis` and `batch` are one dimension, or the number of lengths is not that of
            the sequences.

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


@op("ops.channel_shuffle(x, groups=groups)", "ChannelShuffle(group=groups)(x)")
def channel_shuffle(x, *, groups):
    """Channels in another order: first the first one of each group, then the second of each.

    Raises:
        ValueError: the number of groups does not divide the channels.

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


@composite("ops.numel(input=x)", "Tensor.numel(x)", "Tensor.nelement(x)")
def numel(x) -> int:
    """The number of elements, a Python number.

    Example:
        >>> ops.numel(Tensor([[1, 2], [3, 4]]))
        4
    """
    return x.size


@composite("Tensor.ndimension(x)")
def ndimension(x) -> int:
    """The number of dimensions.

    Example:
        >>> Tensor([[1, 2]]).ndimension()
        2
    """
    return x.ndim
