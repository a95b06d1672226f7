# SPDX-License-Identifier: Apache-2.0
"""Sums, products and extremes of the slices of a Tensor that have the same number."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.spell import composite, op
from mycel.ops.array.scatter import segment_numbers
from mycel.ops.common import as_wide, quotient


def _multiplied(left, right):
    """Two neighbouring stretches as one: a stretch that begins a segment forgets what was."""
    (begins, before), (begins_too, value) = left, right
    return begins | begins_too, jnp.where(begins_too, value, before * value)


@op(
    "ops.unsorted_segment_prod(x, segment_ids=index, num_segments=count)",
    "UnsortedSegmentProd()(x, segment_ids=index, num_segments=count)",
    "Tensor.unsorted_segment_prod(x, segment_ids=index, num_segments=count)",
    indices=segment_numbers,
)
def unsorted_segment_prod(x, index, *, count):
    """The product of the slices of x that have the same number; 1 for none.

    Args:
        x: any shape.
        index: the number of the segment of each slice, integers of the shape of x's leading
            dimensions; a negative one belongs to none.
        count: the number of segments.

    Raises:
        ValueError: the shape of `index` does not fit that of x.

    Example:
        >>> print(ops.unsorted_segment_prod(Tensor([2, 3, 4]), Tensor([0, 0, 1]), 2))
        [6 4]
    """
    if x.shape[: index.ndim] != index.shape:
        raise ValueError(f"Segment numbers {index.shape} do not fit a Tensor {x.shape}.")
    rest = x.shape[index.ndim :]
    slices, numbers = x.reshape(-1, *rest), index.reshape(-1).astype(np.int64)
    if not numbers.size:
        return jnp.ones((count, *rest), x.dtype)
    order = jnp.argsort(numbers)
    numbers = numbers[order]
    begins = jnp.concatenate([jnp.ones(1, bool), numbers[1:] != numbers[:-1]])
    begins = begins.reshape(-1, *[1] * len(rest))
    # Neighbours are multiplied in a tree: unlike that of a scatter, this has all derivatives.
    made = jax.lax.associative_scan(_multiplied, (begins, slices[order]))[1]
    wanted = jnp.arange(count)
    ends = jnp.searchsorted(numbers, wanted, "right") - 1
    there = numbers[jnp.maximum(ends, 0)] == wanted
    there = (there & (ends >= 0)).reshape(-1, *[1] * len(rest))
    return jnp.where(there, made[jnp.maximum(ends, 0)], jnp.ones((), x.dtype))


def _in_order(x, index, *, count, **_):
    return [Bounds(1, 0, count, what="segment number")]


@op(indices=_in_order)
def segment_extremes(x, index, *, count, largest):
    """The largest or the smallest of the slices of x that have the same number; 0 for none."""
    find = jax.ops.segment_max if largest else jax.ops.segment_min
    made = find(x, index, count)
    there = jnp.zeros(count, bool).at[index].set(True).reshape(-1, *[1] * (x.ndim - 1))
    return jnp.where(there, made, jnp.zeros((), x.dtype))


@op(indices=_in_order)
def segment_sums(x, index, *, count):
    """The sums of the slices of x that have the same number."""
    return jax.ops.segment_sum(as_wide(x), index, count).astype(x.dtype)


@op(indices=_in_order)
def segment_means(x, index, *, count):
    """The means of the slices of x that have the same number; 0 for none."""
    sums = jax.ops.segment_sum(as_wide(x), index, count)
    counts = jnp.maximum(jnp.zeros(count, np.int64).at[index].add(1), 1)
    counts = counts.astype(sums.dtype).reshape(-1, *[1] * (x.ndim - 1))
    return quotient(sums, counts).astype(x.dtype) if x.dtype.kind in "fcV" else sums // counts


@op(indices=_in_order)
def segment_products(x, index, *, count):
    """The product of the slices of x that have the same number; 1 for none."""
    return unsorted_segment_prod.definition.function(x, index, count=count)


def _count(index):
    """How many segments there are: numbers are in order, so the last one tells."""
    if index.dtype.numpy.kind not in "iu":
        raise wrong(TypeError, "segment_ids", "of integers", index.dtype)
    return max(0, int(index[-1]) + 1) if index.size else 0


@composite("SegmentMax()(input_x=x, segment_ids=index)")
def segment_max(x, index):
    """The largest of the slices of x that have the same number; 0 for none.

    Args:
        index: a number for each slice, in order; the last one is read.

    Example:
        >>> print(ops.SegmentMax()(Tensor([1, 5, 2]), Tensor([0, 0, 1])))
        [5 2]
    """
    return segment_extremes(x, index, _count(index), True)


@composite("SegmentMin()(input_x=x, segment_ids=index)")
def segment_min(x, index):
    """The smallest of the slices of x that have the same number; 0 for none.

    Example:
        >>> print(ops.SegmentMin()(Tensor([1, 5, 2]), Tensor([0, 0, 1])))
        [1 2]
    """
    return segment_extremes(x, index, _count(index), False)


@composite("SegmentSum()(input_x=x, segment_ids=index)")
def segment_sum(x, index):
    """The sum of the slices of x that have the same number; 0 for none.

    Example:
        >>> print(ops.SegmentSum()(Tensor([1, 5, 2]), Tensor([0, 0, 1])))
        [6 2]
    """
    return segment_sums(x, index, _count(index))


@composite("SegmentMean()(input_x=x, segment_ids=index)")
def segment_mean(x, index):
    """The mean of the slices of x that have the same number; 0 for none.

    Example:
        >>> print(ops.SegmentMean()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
        [3. 2.]
    """
    return segment_means(x, index, _count(index))


@composite("SegmentProd()(input_x=x, segment_ids=index)")
def segment_prod(x, index):
    """The product of the slices of x that have the same number; 1 for none.

    Example:
        >>> print(ops.SegmentProd()(Tensor([1, 5, 2]), Tensor([0, 0, 1])))
        [5 2]
    """
    return segment_products(x, index, _count(index))


@composite("ops.sparse_segment_mean(x, indices=rows, segment_ids=index)",
           "SparseSegmentMean()(x, indices=rows, segment_ids=index)")  # fmt: skip
def sparse_segment_mean(x, rows, index):
    """The means of chosen slices of x, one mean for each segment.

    Args:
        x: at least one dimension.
        rows: [M] integers: the positions of the chosen slices in the first dimension of `x`.
        index: [M] integers from 0 in ascending order: the segment to which each of them belongs.

    Example:
        >>> x = Tensor([1.0, 5.0, 2.0])
        >>> print(ops.sparse_segment_mean(x, Tensor([0, 2]), Tensor([0, 0])))
        [1.5]
    """
    return segment_mean(x.gather_nd(rows.expand_dims(-1)), index)
