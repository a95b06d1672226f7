# SPDX-License-Identifier: Apache-2.0
"""Tensor methods that write to chosen places of their Tensor, and their twins without underscore.

Negative positions count from the end.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import counted
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.kernel.spell.assign import assigned
from mycel.ops.array.scatter import positions_along, tensor_scatter_add
from mycel.ops.array.scatter import scatter_elements as scattered
from mycel.ops.array.selection import positions_in
from mycel.ops.common import as_wide

# Positions become integers again because the machine differentiates integer inputs as reals.


# -- by a mask ------------------------------------------------------------------------------------


@op(
    "MaskedScatter()(input=x, mask=mask, source=source)",
    "Tensor.masked_scatter(x, mask, source=source)",
    "Tensor.masked_scatter_(x, mask, source=source) -> x",
)
def masked_scatter(x, mask, source):
    """x with the elements of `source`, one after the other, where the mask is set.

    Args:
        x: any shape.
        mask: Bool, of a shape that broadcasts to that of `x`.
        source: at least as many elements as the mask has places; the last one is repeated if not.

    Raises:
        TypeError: the mask is not Bool, or `source` has another type than x.

    Example:
        >>> x, mask = Tensor([1, 2, 3]), Tensor([True, False, True])
        >>> print(x.masked_scatter(mask, Tensor([8, 9])))
        [8 2 9]
        >>> print(x.masked_scatter_(mask, Tensor([8, 9])))
        [8 2 9]
    """
    # The machine hands a differentiated Bool in as Float64.
    if mask.dtype not in (np.bool_, np.float64):
        raise TypeError(f"A mask must be Bool, not {mask.dtype}.")
    if source.dtype != x.dtype:
        raise TypeError(f"The source has the type {source.dtype}, x {x.dtype}.")
    mask = jnp.broadcast_to(mask.astype(bool), x.shape)
    if not source.size or not x.size:
        return x
    turn = jnp.cumsum(mask.reshape(-1), dtype=np.int64).reshape(x.shape) - 1
    return jnp.where(mask, source.reshape(-1).at[turn].get(mode="clip"), x)


# -- by positions along a dimension ---------------------------------------------------------------


@op("Tensor.index_copy_(x, dim=axis, index=index, source=source) -> x", indices=positions_in)
def index_copy(x, index, source, *, axis):
    """x with its slices along `dim` at the positions of a vector replaced.

    Args:
        x: any shape.
        index: [M], integers: the positions.
        source: x's shape with length M along `axis`.
        axis: the dimension in which positions are counted.

    Raises:
        ValueError: the source has another shape than the slices.

    Example:
        >>> from mycel.ops.spelled.in_place_places import index_copy
        >>> print(index_copy(Tensor([1, 2]), Tensor([0]), Tensor([9]), 0))
        [9 2]
        >>> print(Tensor([1, 2]).index_copy_(0, Tensor([0]), Tensor([9])))
        [9 2]
    """
    place, source = positions_along(x, index, source, axis)
    return place.set(source, mode="drop")


# -- by positions of single elements --------------------------------------------------------------


def _bounds(x, values, *positions, accumulate):
    lengths = zip(positions, x.shape, strict=False)
    return [counted(i, length, operator="index_put") for i, (_, length) in enumerate(lengths, 2)]


@op(indices=_bounds)
def written_at(x, values, *positions, accumulate):
    """x with `values` where arrays of positions meet; see `index_put`.

    Example:
        >>> from mycel.ops.spelled.in_place_places import written_at
        >>> print(written_at(Tensor([5, 6]), Tensor([7]), [Tensor([1])], False))
        [5 7]
    """
    places = tuple(index.astype(np.int64) for index in positions)
    values = values.astype(x.dtype)
    if accumulate:
        return as_wide(x).at[places].add(as_wide(values), mode="drop").astype(x.dtype)
    return x.at[places].set(values, mode="drop")


def _positions(indices) -> list:
    """Vectors of positions; a mask is read, and stands for one of each of its dimensions."""
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, Tensor) for i in indices):
        expected, actual = "a tuple or list of Tensors", f"{indices!r:.60}"
        raise wrong(TypeError, "index_put: indices", expected, actual)
    found = []
    for index in indices:
        if index.dtype.name in ("bool", "uint8"):
            found += [Tensor(part) for part in np.nonzero(index.asnumpy())]
        else:
            found.append(index)
    return found


@composite(
    "IndexPut(accumulate=0)(x1=x, x2=values, indices=indices)",
    "Tensor.index_put",
    "Tensor.index_put_(x, indices, values, accumulate=accumulate) -> x",
)
def index_put(x, indices, values, accumulate=False):
    """x with `values` where positions meet, as `x[indices] = values` writes them.

    Args:
        x: any shape.
        indices: a tuple or list of Tensors: integers, or masks, which are read.
        values: a Tensor that broadcasts to the shape of the chosen elements.
        accumulate: whether the values are added to what is there instead of replacing it; False by
            default.

    Raises:
        TypeError: an index is neither integers nor a mask.

    Example:
        >>> print(Tensor([1, 2]).index_put([Tensor([0, 0])], Tensor([4, 5]), accumulate=True))
        [10  2]
        >>> print(Tensor([1, 2]).index_put_([Tensor([0])], Tensor([4])))
        [4 2]
    """
    return written_at(x, values, _positions(indices), bool(accumulate))


@composite("Tensor.put_", "ops.put_(input=x, index=index, source=source, accumulate=accumulate)")
def put_(x, index, source, accumulate=False):
    """The elements of `source` at positions that count the elements of x in C order.

    Args:
        x: any shape.
        index: integers of any shape; negative ones count from the end.
        source: as many elements as `index` has, in any shape.
        accumulate: whether the elements are added to what is there instead of replacing it; False
            by default.

    Raises:
        ValueError: the number of elements is not that of `index`.
        TypeError: the index does not hold integers.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).put_(Tensor([3]), Tensor([9])))
        [[1 2]
         [3 9]]
    """
    if index.dtype.is_inexact:
        raise wrong(TypeError, "put_: index", "integers", index.dtype)
    if index.size != source.size:
        expected = f"{index.size} elements, as the index has"
        raise wrong(ValueError, "put_: source", expected, source.size)
    places, values = [index.reshape(-1)], source.reshape(-1)
    return assigned(x, written_at(x.reshape(-1), values, places, accumulate).reshape(x.shape))


def _scattered(x, dim, index, source, reduction):
    if isinstance(source, Tensor) and source.ndim and source.shape != index.shape:
        # Of a larger source, the part that the index covers.
        source = source[tuple(slice(length) for length in index.shape)]
    return scattered(x, index, source, dim, reduction)


_REDUCTIONS = {None: "none", "add": "add", "multiply": "mul"}


@composite("Tensor.scatter_")
def scatter_(x, dim, index, src=None, value=None, reduce=None):
    """The elements of `src` at the places of `index`, each with its position along `dim` replaced.

    Args:
        x: any shape.
        dim: the dimension in which positions are counted.
        index: integers, as many dimensions as `x` and none longer except `dim`.
        src, value: a Tensor at least as large as `index`, or a number.
        reduce: None replaces, 'add' adds, 'multiply' multiplies.

    Raises:
        ValueError: `reduce` is unknown, or the shapes do not fit together.
        TypeError: neither `src` nor `value` is given.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).scatter_(1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[1 8]
         [9 4]]
    """
    source = value if src is None else src
    if source is None:
        raise wrong(TypeError, "scatter_: src", "a Tensor or a number", "None")
    if reduce not in _REDUCTIONS:
        raise wrong(ValueError, "scatter_: reduce", "None, 'add' or 'multiply'", repr(reduce))
    return assigned(x, _scattered(x, dim, index, source, _REDUCTIONS[reduce]))


@composite("Tensor.scatter_add")
def scatter_add_of(x, dim=None, index=None, src=None, indices=None, updates=None):
    """x with the elements of `src` added at the places of `index`; see `scatter_`.

    Args:
        x: any shape.
        dim: the dimension in which positions are counted.
        index: integers, as many dimensions as `x` and none longer except `dim`.
        src: what is added, a Tensor of at least the shape of `index`.
        indices: in place of these three, rows of positions; also as the first argument.
        updates: what is added to the slices to which `indices` points, as in
            `ops.tensor_scatter_add`; also as the second argument.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> print(Tensor([1, 2]).scatter_add(0, Tensor([0]), Tensor([9])))
        [10  2]
    """
    if isinstance(dim, Tensor):
        dim, indices, updates = None, dim, index if updates is None else updates
    if dim is None:
        return tensor_scatter_add(x, indices, updates)
    return _scattered(x, dim, index, src, "add")


@composite("Tensor.scatter_add_")
def scatter_add_(x, dim, index, src):
    """The elements of `src` added at the places of `index`, assigned to x; see `scatter_`.

    Args:
        x: any shape.
        dim: the dimension in which positions are counted.
        index: integers, as many dimensions as `x` and none longer except `dim`.
        src: what is added, a Tensor of at least the shape of `index`.

    Example:
        >>> print(Tensor([1, 2]).scatter_add_(0, Tensor([0]), Tensor([9])))
        [10  2]
    """
    return assigned(x, _scattered(x, dim, index, src, "add"))
