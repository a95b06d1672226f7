# SPDX-License-Identifier: Apache-2.0
"""Order: sort, topk, unique, searchsorted, bincount."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import integers
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import as_vector, axis_in


def _order(x, axis, descending):
    return jnp.argsort(x, axis, stable=True, descending=descending).astype(np.int32)


@op(
    "ops.sort(input_x=x, axis=-1, descending=False)",
    "Sort(axis=-1, descending=False)(x)",
    "Tensor.sort(x, axis=-1, descending=False, stable=(steady, False))",
)
def sort(x, *, axis=-1, descending=False, steady=True) -> tuple[Array, Array]:
    """x in order along `axis`, and where each element was, Int32; equal ones keep their order.

    Args:
        x: any shape.
        axis: the dimension in which elements are ordered.
        descending: whether the largest come first.
        steady: no effect; the order of equal elements is always kept.

    Example:
        >>> print(ops.sort(Tensor([3, 1, 2]))[1])
        [1 2 0]
    """
    del steady
    if not x.ndim:
        return x, jnp.zeros((), np.int32)
    axis = axis_in(axis, x.ndim)
    order = _order(x, axis, descending)
    return jnp.take_along_axis(x, order, axis), order


@op(
    "ops.argsort(input=x, axis=-1, descending=False)",
    "Tensor.argsort(x, axis=-1, descending=False, stable=(steady, False))",
)
def argsort(x, *, axis=-1, descending=False, steady=True):
    """Where the elements of x in order are, along `axis`, Int32; equal ones keep their order.

    Args:
        x: any shape.
        axis: the dimension in which elements are ordered.
        descending: whether the largest come first.
        steady: no effect; the order of equal elements is always kept.

    Example:
        >>> print(ops.argsort(Tensor([3, 1, 2])))
        [1 2 0]
    """
    del steady
    return _order(as_vector(x), axis_in(axis, x.ndim), descending).reshape(x.shape)


@composite("ops.msort(input=x)", "Tensor.msort(x)")
def msort(x):
    """x in order along its first dimension.

    Example:
        >>> print(ops.msort(Tensor([3, 1, 2])))
        [1 2 3]
    """
    return sort(x, 0)[0]


@op(
    "ops.topk(input=x, k=k, dim=axis, largest=True, sorted=True)",
    "ops.top_k(input_x=x, k=k, sorted=True)",
    "Tensor.top_k(x, k, sorted=True)",
    "TopK(sorted=True)(input_x=x, k=k)",
    "Tensor.topk(x, k, dim=axis, largest=True, sorted=True)",
)
def topk(x, *, k, axis=None, largest=True, sorted=True) -> tuple[Array, Array]:
    """The k largest elements along a dimension, in order, and where they were, Int32.

    Args:
        x: any shape.
        k: how many elements, from 0 to the length of `axis`.
        axis: a dimension; None for the last one.
        largest: False takes the smallest.
        sorted: no effect; the elements always come in order.

    Raises:
        ValueError: k is larger than the dimension.

    Example:
        >>> print(ops.topk(Tensor([3, 1, 2]), 2)[0])
        [3 2]
    """
    del sorted  # MindSpore promises no order where it is False.
    shape, axis = x.shape, axis_in(-1 if axis is None else axis, x.ndim)
    x = as_vector(x)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(
            f"k must be from 0 to {x.shape[axis]}, the length of axis {axis}, not {k}."
        )
    if largest and axis == x.ndim - 1:
        values, order = lax.top_k(x, k)
        order = order.astype(np.int32)
    else:
        order = lax.slice_in_dim(_order(x, axis, largest), 0, k, axis=axis)
        values = jnp.take_along_axis(x, order, axis)
    # A number itself is its largest.
    return (values, order) if shape or k != 1 else (values.reshape(()), order.reshape(()))


@composite("ops.unique(input=x)", "Unique()(x)")
def unique(x) -> tuple[Tensor, Tensor]:
    """The different elements of a vector in the order they come, and which of them each is.

    The values are read. Places are Int32, or Int64 beside Int64.

    Example:
        >>> print(*ops.unique(Tensor([3, 1, 3])))
        [3 1] [0 1 0]
    """
    values = x.asnumpy().reshape(-1)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    places = rank[inverse].astype(np.int64 if values.dtype == np.int64 else np.int32)
    return x.reshape(-1)[np.sort(first)], Tensor(places.reshape(x.shape))


@composite(
    "mint.unique(input=x, sorted=True, return_inverse=(inverse, False),"
    " return_counts=(counts, False), dim=(axis, None))",
    "Tensor.unique(x, sorted=True, return_inverse=(inverse, False),"
    " return_counts=(counts, False), dim=(axis, None))",
)
def unique_sorted(x, sorted=True, inverse=False, counts=False, axis=None):
    """The different elements in order; and on demand which each is, and how often it comes.

    The values are read.

    Args:
        x: any shape.
        sorted: no effect; the result is always in order.
        inverse: whether to return also where each element of `x` stands in the result, Int64.
        counts: whether to return also how often each comes, Int64.
        axis: the dimension whose slices are compared as wholes; None compares single elements.

    Example:
        >>> print(mint.unique(Tensor([3, 1, 3])))
        [1 3]
    """
    del sorted
    parts = np.unique(x.asnumpy(), False, True, True, axis)
    extra = zip(parts[1:], (inverse, counts), strict=True)
    asked_for = [parts[0], *[part for part, asked in extra if asked]]
    results = tuple(Tensor(np.asarray(part)) for part in asked_for)
    return results[0] if len(results) == 1 else results


@composite(
    "UniqueConsecutive(return_inverse=(inverse, False), return_counts=(counts, False),"
    " dim=(axis, None))(input=x)",
    "ops.unique_consecutive(input=x, return_inverse=(inverse, False),"
    " return_counts=(counts, False), dim=(axis, None))",
    "Tensor.unique_consecutive(x, return_inverse=(inverse, False),"
    " return_counts=(counts, False), dim=(axis, None))",
    "mint.unique_consecutive(input=x, return_inverse=(inverse, False),"
    " return_counts=(counts, False), dim=(axis, None))",
)
def unique_consecutive(x, inverse=False, counts=False, axis=None):
    """x without repetitions of neighbours; the values are read.

    Args:
        x: any shape.
        inverse: whether to return also where each element of `x` stands in the result, Int64.
        counts: whether to return also how many neighbours each stands for, Int64.
        axis: the dimension whose slices are compared as wholes; None compares the elements of
            flattened `x`.

    Example:
        >>> print(ops.unique_consecutive(Tensor([1, 1, 2, 1])))
        [1 2 1]
    """
    values = x.asnumpy() if axis is not None else x.asnumpy().reshape(-1)
    axis_ = 0 if axis is None else axis_in(axis, values.ndim)
    rows = np.moveaxis(values, axis_, 0)
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
    starts = np.flatnonzero(new)
    kept = np.take(values, starts, axis_)
    place = np.cumsum(new) - 1
    place = place.reshape(x.shape) if axis is None else place
    count = np.diff(np.append(starts, len(rows)))
    extra = [Tensor(part) for part, asked in ((place, inverse), (count, counts)) if asked]
    return (Tensor(kept), *extra) if extra else Tensor(kept)


@op()
def places_in_order(ordered, values, *, side, narrow):
    """Where values belong in ordered rows; see `searchsorted`.

    Example:
        >>> from mycel.ops.array.ordering import places_in_order
        >>> print(places_in_order(Tensor([1, 3]), Tensor([2]), "left", False))
        [1]
    """
    dtype = np.int32 if narrow else np.int64
    if ordered.ndim == 1:
        return jnp.searchsorted(ordered, values, side).astype(dtype)
    rows = ordered.reshape(-1, ordered.shape[-1])
    sought = values.reshape(-1, values.shape[-1])
    before = jnp.less if side == "left" else jnp.less_equal
    return before(rows[:, None, :], sought[:, :, None]).sum(-1, dtype=dtype).reshape(values.shape)


@composite(
    "ops.searchsorted(sorted_sequence=ordered, values=values, out_int32=(narrow, False),"
    " right=False, side=None, sorter=None)",
    "mint.searchsorted(sorted_sequence=ordered, values=values, out_int32=(narrow, False),"
    " right=False, side=None, sorter=None)",
)
def searchsorted(ordered, values, narrow=False, right=False, side=None, sorter=None):
    """Where values can be inserted into sorted rows so that these stay sorted.

    Args:
        ordered: [..., N], each row in ascending order.
        values: [..., M] with the leading dimensions of `ordered`; any shape, or a number, if that
            has one dimension.
        narrow: whether the result is Int32 instead of Int64.
        right: whether to insert after equal elements instead of before; ignored if `side` is
            given.
        side: 'left' (before equal elements) or 'right' (after); None leaves it to `right`.
        sorter: integers of the shape of `ordered`: positions that bring its rows into order; None
            if they are in order.

    Example:
        >>> print(ops.searchsorted(Tensor([1, 3]), Tensor([0, 2, 4])))
        [0 1 2]
    """
    if side not in (None, "left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}.")
    if sorter is not None:
        ordered = ordered.gather_elements(-1, sorter)
    if not isinstance(values, Tensor):
        values = Tensor(values)
    return places_in_order(ordered, values, side or ("right" if right else "left"), narrow)


@composite("Tensor.searchsorted(x, v, side='left', sorter=None)")
def searchsorted_method(x, v, side="left", sorter=None):
    """Where values can be inserted into x so that it stays sorted, Int32; see `ops.searchsorted`.

    Args:
        x: [..., N], each row in ascending order.
        v: [..., M] with the leading dimensions of `x`; any shape, or a number, if `x` has one
            dimension.
        side: 'left' (before equal elements) or 'right' (after).
        sorter: integers of x's shape: positions that bring its rows into order; None if they are in
            order.

    Example:
        >>> print(Tensor([1, 3]).searchsorted(Tensor([2])))
        [1]
    """
    return searchsorted(x, v, narrow=True, side=side, sorter=sorter)


@composite(
    "ops.bincount(input=x, weights=None, minlength=0)",
    "Tensor.bincount(x, weights=None, minlength=0)",
)
def bincount(x, weights=None, minlength=0):
    """How often each number from 0 on comes, or the sum of its weights; the values are read.

    Counts are Float32, as MindSpore gives them.

    Args:
        x: [N], integers from 0; of real numbers the fraction is cut off, and negative ones are
            left out.
        weights: [N], what each element counts; None for 1 each.
        minlength: the least length of the result, filled up with zeros.

    Example:
        >>> print(ops.bincount(Tensor([0, 2, 2])))
        [1. 0. 2.]
    """
    if x.dtype.is_floating:
        numbers = x.asnumpy().astype(np.float64)
        there = numbers > -1
        x = Tensor(numbers[there].astype(np.int64))
        weights = None if weights is None else Tensor(weights.asnumpy()[there])
    return Tensor(_counted(x, weights, minlength, "bincount").astype(np.float32))


@composite("mint.bincount(input=x, weights=None, minlength=0)")
def mint_bincount(x, weights=None, minlength=0):
    """As `ops.bincount`, but counts are Int64; sums of weights are Float32 or else Float64.

    Args:
        x: [N], integers from 0.
        weights: [N], what each element counts; None for 1 each.
        minlength: the least length of the result, filled up with zeros.

    Example:
        >>> print(ms.mint.bincount(Tensor([0, 2, 2])))
        [1 0 2]
    """
    counts = _counted(x, weights, minlength, "mint.bincount")
    narrow = weights is not None and weights.dtype == float32
    return Tensor(counts.astype(np.float32) if narrow else counts)


def _counted(x, weights, minlength, name):
    numbers = x.asnumpy()
    if numbers.dtype.kind not in "biu":
        raise wrong(TypeError, f"{name}: input", "of integers", str(x.dtype))
    if numbers.min(initial=0) < 0:
        raise wrong(ValueError, f"{name}: input", "of numbers from 0 on", numbers.min())
    # NumPy takes no UInt64 for positions.
    numbers = numbers.astype(np.int64)
    return np.bincount(numbers, None if weights is None else weights.asnumpy(), minlength)


@op("ops.intopk(x1=x, x2=target, k=k)", "InTopK(k)(x1=x, x2=target)",
    indices=lambda x, target, *, k: [integers(1, what="class number")])  # fmt: skip
def in_top_k(x, target, *, k):
    """Whether the class `target` is among the k largest of each row.

    Args:
        x: [N, C], scores of classes.
        target: [N], integers: a class for each row. One that does not exist gives False.
        k: how many of the largest scores count.

    Example:
        >>> print(ops.intopk(Tensor([[0.1, 0.9]]), Tensor([1]), 1))
        [ True]
    """
    target = target.astype(np.int64)[:, None]
    chosen = jnp.take_along_axis(x, target, 1, mode="clip")
    there = (target[:, 0] >= 0) & (target[:, 0] < x.shape[1])
    return there & ((x > chosen).sum(1, dtype=np.int64) < k)
