# SPDX-License-Identifier: Apache-2.0
"""Combinations, permutations, indices of cells, and differences of sets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import int32, numpy_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.ordering import unique


@op("ops.combinations(input=x, r=count, with_replacement=again)")
def combinations(x, *, count=2, again=False):
    """All combinations of `count` elements of a vector, as rows in order.

    Args:
        x: [N].
        count: how many elements are chosen, from 0.
        again: whether an element may be chosen more than once.

    Raises:
        ValueError: x is not a vector, or `count` is negative.

    Example:
        >>> print(ops.combinations(Tensor([1, 2, 3])))
        [[1 2]
         [1 3]
         [2 3]]
    """
    if x.ndim != 1 or count < 0:
        raise ValueError(
            f"combinations needs a vector and a count from 0, not {x.shape} and {count}."
        )
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    chosen = list(choose(range(x.shape[0]), count))
    return x[np.array(chosen, np.int32).reshape(len(chosen), count)]


@op()
def cartesian_rows(*vectors):
    """All choices of one element of each vector; see `cartesian_prod`."""
    return jnp.stack([part.reshape(-1) for part in jnp.meshgrid(*vectors, indexing="ij")], -1)


@composite("ops.cartesian_prod(*inputs)")
def cartesian_prod(inputs):
    """All choices of one element of each vector, as rows in order.

    Example:
        >>> print(ops.cartesian_prod(Tensor([1, 2]), Tensor([5])))
        [[1 5]
         [2 5]]
    """
    factors = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    return cartesian_rows(tuple(factors))


@op(indices=lambda x, *, shape: [Bounds(0, 0, math.prod(shape))])
def unravelled_indices(x, *, shape):
    """The indices in a shape for places in the flattened form; see `unravel_index`.

    Example:
        >>> from mycel.ops.array.combinatorics import unravelled_indices
        >>> print(unravelled_indices(Tensor([3]), (2, 3)))
        [[1]
         [0]]
    """
    rest, rows = x, []
    for n in reversed(shape):
        rows.append(rest % n)
        rest = rest // n
    return jnp.stack(rows[::-1]).astype(x.dtype)


@composite("UnravelIndex()(indices=x, dims=shape)")
def unravel_index(x, shape):
    """The indices in a Tensor of some shape for places in its flattened form, one row for each.

    Example:
        >>> print(ops.UnravelIndex()(Tensor([3, 5]), Tensor([2, 3])))
        [[1 1]
         [0 2]]
    """
    return unravelled_indices(x, tuple(shape.tolist() if isinstance(shape, Tensor) else shape))


@composite(
    "ops.unique_with_pad(x, pad_num=filler)",
    "UniqueWithPad()(x, pad_num=filler)",
    "Tensor.unique_with_pad(x, pad_num=filler)",
)
def unique_with_pad(x, filler) -> tuple[Tensor, Tensor]:
    """As `ops.unique`, filled up to the length of x; the values are read.

    Example:
        >>> print(*ops.unique_with_pad(Tensor([3, 1, 3]), 9))
        [3 1 9] [0 1 0]
    """
    values, places = unique(x)
    filled = np.full(x.size, int(filler), numpy_dtype(x.dtype))
    filled[: values.size] = values.asnumpy()
    return Tensor(filled), places


@composite("ListDiff(out_idx=dtype)(x, y)")
def list_diff(x, y, dtype=int32) -> tuple[Tensor, Tensor]:
    """The elements of x that are not in y, and their places; the values are read.

    Args:
        x: [N].
        y: any shape, of the type of `x`.
        dtype: the element type of the places.

    Example:
        >>> print(*ops.ListDiff()(Tensor([1, 2, 3]), Tensor([2])))
        [1 3] [0 2]
    """
    values = x.asnumpy()
    kept = np.flatnonzero(~np.isin(values, y.asnumpy()))
    return Tensor(values[kept]), Tensor(kept.astype(numpy_dtype(dtype)))


@composite("InvertPermutation()(x)")
def invert_permutation(x) -> Any:
    """The places at which 0, 1, 2 … are, of a tuple of numbers.

    Raises:
        TypeError: the numbers are not integers.
        ValueError: they are not 0, 1, 2 …, each once.

    Example:
        >>> ops.InvertPermutation()((2, 0, 1))
        (1, 2, 0)
    """
    numbers = x.tolist() if isinstance(x, Tensor) else list(x)
    if not all(isinstance(n, (int, np.integer)) for n in numbers):
        raise wrong(TypeError, "InvertPermutation: the input", "of integers", numbers)
    if sorted(numbers) != list(range(len(numbers))):
        raise ValueError(f"0 to {len(numbers) - 1}, each once, are needed, not {numbers}.")
    return tuple(int(n) for n in np.argsort(numbers))


@composite("RaggedRange(Tsplits=dtype)(starts, limits, deltas)")
def ragged_range(starts, limits, deltas, dtype=int32) -> tuple[Tensor, Tensor]:
    """Concatenated sequences of numbers, and where each begins; the values are read.

    Args:
        starts: the first number of each sequence, [N] or one for all.
        limits: where each sequence stops, itself not in it, [N] or one for all.
        deltas: the distance of neighbours in each sequence, not 0, [N] or one for all.
        dtype: the element type of the positions at which sequences begin.

    Example:
        >>> print(*ops.RaggedRange(ms.int32)(Tensor([0, 5]), Tensor([2, 8]), Tensor([1, 2])))
        [0 2 4] [0 1 5 7]
    """
    bounds = [np.atleast_1d(part.asnumpy()) for part in (starts, limits, deltas)]
    rows = []
    for start, limit, step in zip(*np.broadcast_arrays(*bounds), strict=True):
        count = max(0, math.ceil((limit - start) / step))
        rows.append(start + step * np.arange(count))
    splits = np.cumsum([0, *map(len, rows)])
    values = np.concatenate(rows) if rows else np.zeros(0)
    return Tensor(splits.astype(numpy_dtype(dtype))), Tensor(values.astype(bounds[0].dtype))
