# SPDX-License-Identifier: Apache-2.0
"""Tensor methods that MindSpore calls with either of two lists of parameters.

One list is NumPy's or MindSpore's own, the other PyTorch's: `x.gather(indices, axis)` and
`x.gather(dim, index)`. Where the lists differ in words only, `compat.keywords` has them.
"""

from __future__ import annotations

from typing import TypeGuard

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import DType, bool_, numpy_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import add_member, composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.array.casting import astype
from mycel.ops.array.copying import identity
from mycel.ops.array.diagonals import diag
from mycel.ops.array.scatter import scatter_elements, with_index_added
from mycel.ops.array.selection import gather, gather_elements, nearest
from mycel.ops.array.shape import flip, reshape, swapaxes, tile, transpose
from mycel.ops.math.comparison import where
from mycel.ops.math.reduction import first_given
from mycel.ops.spelled.mint_variants import select_slice

DEVICES = ("cpu", "gpu", "tpu", "ascend")
# The words for what is done where an element stands already, and ours.
REDUCTIONS = {"none": "none", "add": "add", "multiply": "mul"}


def _is_dimension(value) -> TypeGuard[int | Tensor]:
    return isinstance(value, int) or (isinstance(value, Tensor) and not value.ndim)


@composite("Tensor.gather(x, dim=None, index=None, batch_dims=0, input_indices=None, axis=None)")
def gather_method(x, dim=None, index=None, batch_dims=0, input_indices=None, axis=None):
    """`x.gather(indices, axis)` as `ops.gather`, `x.gather(dim, index)` as `ops.gather_elements`.

    Args:
        x: any shape.
        dim: the indices, as first argument of `x.gather(indices, axis)`; or a dimension.
        index: the axis of those indices; or, after a dimension, integers with as many dimensions
            as `x`.
        batch_dims: how many leading dimensions `x` and the indices have in common; 0 by default.
        input_indices: another name for the indices.
        axis: the dimension in which the indices count, by keyword.

    Example:
        >>> print(Tensor([5, 6, 7]).gather(Tensor([2, 0]), 0))
        [7 5]
        >>> print(Tensor([5, 6, 7]).gather(dim=0, index=Tensor([2, 0])))
        [7 5]
    """
    if input_indices is None and axis is None and _is_dimension(dim) and not _is_dimension(index):
        return gather_elements(x, index, int(dim))
    places = first_given(input_indices, dim)
    along = first_given(axis, index)
    if along is None:
        raise wrong(TypeError, "gather", "called with an axis", "without one")
    return gather(x, places, int(along), batch_dims)


@composite(
    "Tensor.index_add(x, dim=None, index=None, source=None, alpha=1, indices=None, y=None,"
    " axis=None, use_lock=True, check_index_bound=True)"
)
def index_add_method(
    x,
    dim=None,
    index=None,
    source=None,
    alpha=1,
    indices=None,
    y=None,
    axis=None,
    use_lock=True,
    check_index_bound=True,
):
    """x with slices added along a dimension: `(dim, index, source)`, or `(indices, y, axis)`.

    Args:
        x: any shape.
        dim: the dimension in which positions are counted.
        index: [M], integers from 0: the positions.
        source: x's shape with length M along the dimension.
        alpha: the factor of `source`, a number; 1 by default.
        indices: the positions, by keyword.
        y: another name for `source`.
        axis: another name for `dim`.
        use_lock, check_index_bound: no effect.

    Example:
        >>> print(Tensor([1, 2]).index_add(0, Tensor([0]), Tensor([9])))
        [10  2]
    """
    del use_lock, check_index_bound
    if isinstance(dim, Tensor):
        dim, index, source = source, dim, index
    places, updates = first_given(indices, index), first_given(y, source)
    return with_index_added(x, places, updates, first_given(axis, dim), alpha)


@composite("Tensor.scatter(x, axis=axis, index=index, src=src, reduce='none')")
def scatter_method(x, axis, index, src, reduce="none"):
    """x with `src` at the places of `index`, each with its position along `axis` replaced.

    Args:
        x: any shape.
        axis: the dimension in which positions are counted.
        index: integers, as many dimensions as `x` and none longer except `axis`; negative ones
            count from the end.
        src: a Tensor of the shape of index, or a number.
        reduce: "none" replaces what stands there, "add" adds to it, "multiply" multiplies it.

    Raises:
        ValueError: `reduce` is unknown, or the shapes do not fit together.

    Example:
        >>> print(Tensor([1, 2]).scatter(0, Tensor([1]), Tensor([7]), reduce="add"))
        [1 9]
    """
    if reduce not in REDUCTIONS:
        raise wrong(ValueError, "scatter: reduce", "'none', 'add' or 'multiply'", repr(reduce))
    return scatter_elements(x, index, src, axis, REDUCTIONS[reduce])


@composite("Tensor.take(x, indices, axis=None, mode='clip')")
def take_method(x, indices, axis=None, mode="clip"):
    """The elements of x, counted through all dimensions, or its slices along `axis`.

    Args:
        x: any shape.
        indices: integers of any shape.
        axis: the dimension in which positions are counted; None, the default, counts through all
            elements in C order.
        mode: "clip" takes the nearest one for a position that is not there, "wrap" counts on from
            the other end.

    Raises:
        ValueError: the mode is unknown; "raise" is not supported, as positions are not read.

    Example:
        >>> print(Tensor([5, 6, 7]).take(Tensor([4]), mode="wrap"))
        [6]
    """
    if mode not in ("clip", "wrap"):
        raise wrong(ValueError, "take: mode", "'clip' or 'wrap'", repr(mode))
    if mode == "wrap":
        indices = indices % (x.size if axis is None else x.shape[axis])
    return nearest(x, indices, axis)


@composite("Tensor.select(x, dim=None, index=None, condition=None, y=None)")
def select_method(x, dim=None, index=None, condition=None, y=None):
    """`x.select(dim, index)` as `mint.select`, `x.select(condition, y)` as `ops.where`.

    Args:
        x: any shape.
        dim: a dimension; or the condition.
        index: the position along it, an integer; or `y`, after a condition.
        condition: a Bool Tensor.
        y: what stands where the condition is False, a Tensor or a number; `x` stands where it is
            True.

    Raises:
        ValueError: the position is out of range.
        TypeError: the arguments are neither two integers nor a Bool Tensor and a value.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).select(1, 0))
        [1 3]
        >>> print(Tensor([1, 2]).select(Tensor([True, False]), 9))
        [1 9]
    """
    if isinstance(dim, Tensor) and dim.dtype is bool_:
        condition, y, dim, index = dim, first_given(index, y), None, None
    if isinstance(condition, Tensor) and isinstance(y, (int, float, Tensor)):
        return where(x, y, condition)
    if not (_is_dimension(dim) and _is_dimension(index)):
        expected = "called with (dim, index), or with (condition, y)"
        given = (first_given(condition, dim), first_given(y, index))
        raise wrong(TypeError, "select", expected, f"{given!r:.60}")
    return select_slice(x, int(dim), int(index))


@composite("Tensor.diag(x, diagonal=0)")
def diag_method(x, diagonal=0):
    """As `ops.diag`.

    Raises:
        ValueError: the diagonal is not the main one; `mint.diag` gives the others.

    Example:
        >>> print(Tensor([1, 2]).diag())
        [[1 0]
         [0 2]]
    """
    if diagonal:
        expected = "0; write mint.diag(x, diagonal) for others"
        raise wrong(ValueError, "Tensor.diag: diagonal", expected, diagonal)
    return diag(x)


@op("Tensor.trace(x, offset=offset, axis1=first, axis2=second, dtype=dtype)")
def trace_method(x, *, offset=0, first=0, second=1, dtype=None):
    """The sums of diagonals; of integers Int64, unless another `dtype` is given.

    Args:
        x: two dimensions or more.
        offset: how far above the main diagonal the chosen one lies; below for a negative number. 0
            by default.
        first: the dimension of the rows, 0 by default.
        second: the dimension of the columns, 1 by default.
        dtype: the element type of the result; None, the default, for Int64 of integers.

    Raises:
        ValueError: fewer than two dimensions.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).trace(1))
        2
    """
    if x.ndim < 2:
        raise ValueError(f"trace needs two dimensions or more, not {x.shape}.")
    wanted = np.dtype(np.int64) if x.dtype.kind in "iu" else x.dtype
    if dtype is not None:
        wanted = numpy_dtype(dtype)
    found = jnp.diagonal(x, offset, axis_in(first, x.ndim), axis_in(second, x.ndim))
    return jnp.any(found, -1) if wanted.kind == "b" else jnp.sum(found, -1, dtype=wanted)


@composite("Tensor.flip(x, *axes, dims=None)")
def flip_method(x, axes, dims=None):
    """x with the order of its elements reversed along some dimensions.

    Args:
        x: any shape.
        axes: the dimensions, as loose integers or one tuple.
        dims: the dimensions, by keyword.

    Example:
        >>> print(Tensor([1, 2, 3]).flip(dims=(0,)))
        [3 2 1]
    """
    return flip(x, first_given(dims, axes))


@composite("Tensor.tile(x, *repeats, dims=None, reps=None)")
def tile_method(x, repeats, dims=None, reps=None):
    """x repeated along its dimensions.

    Args:
        x: any shape.
        repeats: how often along each dimension, as loose integers or one tuple; dimensions that are
            not named, the first ones, are not repeated.
        dims: the repeats, by keyword.
        reps: the repeats, by keyword.

    Example:
        >>> print(Tensor([1, 2]).tile(reps=(2,)))
        [1 2 1 2]
    """
    return tile(x, first_given(dims, reps, repeats))


@composite("Tensor.permute(x, *axes, dims=None, axis=None)")
def permute_method(x, axes, dims=None, axis=None):
    """x with its dimensions in another order.

    Args:
        x: any shape.
        axes: the dimensions of `x` in the order wanted, as loose integers or one tuple.
        dims: the order, by keyword.
        axis: the order, by keyword.

    Example:
        >>> Tensor([[1, 2, 3]]).permute(1, 0).shape
        (3, 1)
    """
    return transpose(x, first_given(dims, axis, axes))


def transpose_method(self, *given, dim0=None, dim1=None, axes=None):
    """x with its dimensions in the given order; without any, or for None, reversed.

    Two numbers that are not in a tuple, or `dim0` and `dim1`, name a pair of dimensions to
    exchange, as in MindSpore.

    Args:
        given: the dimensions in the order wanted, one tuple or loose integers; two loose ones are
            exchanged.
        dim0, dim1: two dimensions to exchange, by keyword.
        axes: the order, by keyword; None, the default, reverses the dimensions.

    Source: MindSpore's `Tensor.transpose`.

    Example:
        >>> Tensor([[1, 2, 3], [4, 5, 6]]).transpose(0, 1).shape
        (3, 2)
    """
    if dim0 is not None:
        given = (dim0, dim1)
    elif len(given) == 1 and dim1 is not None:
        given = (*given, dim1)
    if len(given) == 2 and isinstance(given[0], int):
        return swapaxes(self, *given)
    order = axes if not given else given[0] if len(given) == 1 else given
    return transpose(self, () if order is None else order)


add_member("transpose", transpose_method)


@op()
def reinterpreted(x, *, dtype):
    """The bytes of x as numbers of another type; the last dimension grows or shrinks."""
    wanted = numpy_dtype(dtype)
    if x.dtype.kind == "b":
        x = x.astype(np.uint8)
    if wanted.kind == "b":
        return x.view(np.uint8).astype(bool)
    return x.view(wanted)


@composite("Tensor.view(x, *given, shape=None, dtype=None)")
def view(x, given, shape=None, dtype=None):
    """The elements of x in another shape, or its bytes read as another element type.

    Args:
        x: any shape.
        given: the shape, as loose integers or one tuple; one length may be -1 and is worked out. Or
            an element type.
        shape: the shape, by keyword.
        dtype: an element type, by keyword: the bytes of the last dimension are read as numbers of
            that type.

    Raises:
        ValueError: the shape holds another number of elements, or the bytes of a row do not fill
            whole elements.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).view(4).shape
        (4,)
        >>> print(Tensor([1.0]).view(mycel.int32))
        [1065353216]
    """
    if isinstance(given, DType):
        dtype = given
    if dtype is None:
        return reshape(x, first_given(shape, given))
    old, new = x.dtype.itemsize, numpy_dtype(dtype).itemsize
    if old != new and (not x.ndim or x.shape[-1] * old % new):
        text = f"a last length that is a multiple of {max(1, new // old)} for {dtype}"
        raise wrong(ValueError, "view: x", text, f"shape {x.shape} of {x.dtype}")
    return reinterpreted(x, dtype)


def to(self, *given, device=None, dtype=None, other=None, non_blocking=False, copy=False):
    """x in another element type, or in that of another Tensor.

    Args:
        given: a device, an element type, `non_blocking` and `copy`, in this order; the device
            may be left out, and a Tensor may stand for both.
        device: "CPU", "GPU", "TPU" or "Ascend"; a Tensor lies on the device of the context.
        non_blocking: accepted; every operator is.
        copy: also an equal type gives a new Tensor.

    Raises:
        TypeError: `dtype` is not an element type.
        ValueError: the device is not the one in use.

    Source: MindSpore's `Tensor.to`.

    Example:
        >>> Tensor([1.5]).to(mycel.float16).dtype
        mindspore.float16
        >>> Tensor([1.5]).to("CPU", mycel.float16).dtype
        mindspore.float16
    """
    rest = list(given)
    if rest and (_is_device(rest[0]) or (rest[0] is None and len(rest) > 1)):
        device = rest.pop(0)
    if device is not None:
        _check_device(device, "to: device")
    wanted = first_given(other, rest[0] if rest else None, dtype)
    copy = rest[2] if len(rest) > 2 else copy
    wanted = wanted.dtype if isinstance(wanted, Tensor) else wanted
    return self if wanted is None else astype(self, wanted, copy)


def _is_device(value) -> bool:
    return isinstance(value, str) and value.lower() in DEVICES


def _check_device(device, what: str) -> None:
    if not _is_device(device):
        raise wrong(ValueError, what, "'CPU', 'GPU', 'TPU' or 'Ascend'", repr(device))


add_member("to", to)


@composite("Tensor.to_")
def to_(x, device=None, non_blocking=False):
    """The Tensor itself: it lies on the device of the context.

    Args:
        x: any shape.
        device: "CPU", "GPU", "TPU" or "Ascend".
        non_blocking: accepted; every operator is.

    Raises:
        ValueError: the device is missing, or not that of the context.

    Example:
        >>> x = Tensor([1.5])
        >>> x.to_("CPU") is x
        True
    """
    del non_blocking
    _check_device(device, "to_: device")
    return x


@composite("Tensor.move_to")
def move_to(x, to, blocking=True):
    """The same values in a Tensor of their own, which lies on the device of the context too.

    Args:
        x: any shape.
        to: "CPU", "GPU", "TPU" or "Ascend".
        blocking: accepted; no operator is.

    Raises:
        ValueError: the device is not that of the context.

    Example:
        >>> print(Tensor([1.5]).move_to("CPU"))
        [1.5]
    """
    del blocking
    _check_device(to, "move_to: to")
    return identity(x)
