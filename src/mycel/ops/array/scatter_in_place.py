# SPDX-License-Identifier: Apache-2.0
"""Placing elements of a Parameter by position, in place.

Each returns the new values as a Tensor. Where positions repeat, the updates follow each other.
"""

from __future__ import annotations

from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import composite
from mycel.ops.array.scatter import (
    tensor_scatter_add,
    tensor_scatter_div,
    tensor_scatter_max,
    tensor_scatter_min,
    tensor_scatter_mul,
    tensor_scatter_sub,
    tensor_scatter_update,
    with_index_added,
)


def _put(handle, made) -> Tensor:
    """Give the new value to the handle; a plain Tensor of it, which prints as its numbers."""
    update(handle, made)
    return made


def _rows(index):
    return index.expand_dims(-1)


@composite("ops.index_add(x, indices=index, y=updates, axis=axis, use_lock=True,"
           " check_index_bound=True)",
           "IndexAdd(axis, use_lock=True, check_index_bound=True)(x=x, indices=index,"
           " y=updates)",
           "ops.inplace_index_add(var=x, indices=index, updates=updates, axis=axis)",
           "InplaceIndexAdd(axis)(var=x, indices=index, updates=updates)")  # fmt: skip
def index_add(x, index, updates, axis, use_lock=True, check_index_bound=True):
    """Add updates to slices of a Parameter along `axis`, in place.

    Args:
        x: a Parameter.
        index: [M], integers from 0.
        updates: x's shape with length M along `axis`, or a number; they get the type of `x`.
        axis: the dimension in which positions are counted.
        use_lock, check_index_bound: no effect.

    Example:
        >>> p = Parameter(Tensor([1, 2]), name="p")
        >>> print(ops.index_add(p, Tensor([0]), Tensor([9]), 0))
        [10  2]
    """
    del use_lock, check_index_bound
    return _put(x, with_index_added(x, index, updates, axis))


@composite("ops.scatter_update(input_x=x, indices=index, updates=updates)",
           "ScatterUpdate(use_locking=True)(input_x=x, indices=index,"
           " updates=updates)")  # fmt: skip
def scatter_update(x, index, updates, use_locking=True):
    """Replace rows of a Parameter, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([1, 2]), name="p")
        >>> print(ops.scatter_update(p, Tensor([0]), Tensor([9])))
        [9 2]
    """
    del use_locking
    return _put(x, tensor_scatter_update(x, _rows(index), updates))


@composite("ops.scatter_add(input_x=x, indices=index, updates=updates)",
           "ScatterAdd(use_locking=False)(input_x=x, indices=index,"
           " updates=updates)")  # fmt: skip
def scatter_add(x, index, updates, use_locking=False):
    """Add to rows of a Parameter, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([1, 2]), name="p")
        >>> print(ops.scatter_add(p, Tensor([0]), Tensor([9])))
        [10  2]
    """
    del use_locking
    return _put(x, tensor_scatter_add(x, _rows(index), updates))


@composite("ops.scatter_nd_update(input_x=x, indices=index, updates=updates)",
           "ScatterNdUpdate(use_locking=True)(input_x=x, indices=index,"
           " updates=updates)")  # fmt: skip
def scatter_nd_update(x, index, updates, use_locking=True):
    """Replace the slices of a Parameter that the rows of `index` point to, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([1, 2]), name="p")
        >>> print(ops.scatter_nd_update(p, Tensor([[0]]), Tensor([9])))
        [9 2]
    """
    del use_locking
    return _put(x, tensor_scatter_update(x, index, updates))


@composite("ops.scatter_nd_add(input_x=x, indices=index, updates=updates, use_locking=False)",
           "ScatterNdAdd(use_locking=False)(input_x=x, indices=index,"
           " updates=updates)")  # fmt: skip
def scatter_nd_add(x, index, updates, use_locking=False):
    """Add to the slices of a Parameter that the rows of `index` point to, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([1, 2]), name="p")
        >>> print(ops.scatter_nd_add(p, Tensor([[0]]), Tensor([9])))
        [10  2]
    """
    del use_locking
    return _put(x, tensor_scatter_add(x, index, updates))


@composite(
    "ScatterSub(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_sub(x, index, updates, use_locking=False):
    """Subtract from rows of a Parameter, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.ScatterSub()(p, Tensor([0]), Tensor([3])))
        [5 2]
    """
    del use_locking
    return _put(x, tensor_scatter_sub(x, _rows(index), updates))


@composite(
    "ops.scatter_nd_sub(input_x=x, indices=index, updates=updates, use_locking=False)",
    "ScatterNdSub(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_nd_sub(x, index, updates, use_locking=False):
    """Subtract from the slices of a Parameter that the rows of `index` point to, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_nd_sub(p, Tensor([[0]]), Tensor([3])))
        [5 2]
    """
    del use_locking
    return _put(x, tensor_scatter_sub(x, index, updates))


@composite(
    "ops.scatter_mul(input_x=x, indices=index, updates=updates)",
    "ScatterMul(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_mul(x, index, updates, use_locking=False):
    """Multiply rows of a Parameter, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_mul(p, Tensor([0]), Tensor([3])))
        [24  2]
    """
    del use_locking
    return _put(x, tensor_scatter_mul(x, _rows(index), updates))


@composite(
    "ops.scatter_nd_mul(input_x=x, indices=index, updates=updates, use_locking=False)",
    "ScatterNdMul(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_nd_mul(x, index, updates, use_locking=False):
    """Multiply the slices of a Parameter that the rows of `index` point to, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_nd_mul(p, Tensor([[0]]), Tensor([3])))
        [24  2]
    """
    del use_locking
    return _put(x, tensor_scatter_mul(x, index, updates))


@composite(
    "ops.scatter_div(input_x=x, indices=index, updates=updates)",
    "ScatterDiv(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_div(x, index, updates, use_locking=False):
    """Divide rows of a Parameter, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_div(p, Tensor([0]), Tensor([2])))
        [4 2]
    """
    del use_locking
    return _put(x, tensor_scatter_div(x, _rows(index), updates))


@composite(
    "ops.scatter_nd_div(input_x=x, indices=index, updates=updates, use_locking=False)",
    "ScatterNdDiv(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_nd_div(x, index, updates, use_locking=False):
    """Divide the slices of a Parameter that the rows of `index` point to, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_nd_div(p, Tensor([[0]]), Tensor([2])))
        [4 2]
    """
    del use_locking
    return _put(x, tensor_scatter_div(x, index, updates))


@composite(
    "ops.scatter_max(input_x=x, indices=index, updates=updates)",
    "ScatterMax(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_max(x, index, updates, use_locking=False):
    """Replace elements in rows of a Parameter by larger ones, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_max(p, Tensor([0]), Tensor([9])))
        [9 2]
    """
    del use_locking
    return _put(x, tensor_scatter_max(x, _rows(index), updates))


@composite(
    "ops.scatter_nd_max(input_x=x, indices=index, updates=updates, use_locking=False)",
    "ScatterNdMax(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_nd_max(x, index, updates, use_locking=False):
    """Replace elements in slices of a Parameter by larger ones, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_nd_max(p, Tensor([[0]]), Tensor([9])))
        [9 2]
    """
    del use_locking
    return _put(x, tensor_scatter_max(x, index, updates))


@composite(
    "ops.scatter_min(input_x=x, indices=index, updates=updates)",
    "ScatterMin(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_min(x, index, updates, use_locking=False):
    """Replace elements in rows of a Parameter by smaller ones, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_min(p, Tensor([0]), Tensor([3])))
        [3 2]
    """
    del use_locking
    return _put(x, tensor_scatter_min(x, _rows(index), updates))


@composite(
    "ops.scatter_nd_min(input_x=x, indices=index, updates=updates, use_locking=False)",
    "ScatterNdMin(use_locking=False)(input_x=x, indices=index, updates=updates)",
)
def scatter_nd_min(x, index, updates, use_locking=False):
    """Replace elements in slices of a Parameter by smaller ones, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.scatter_nd_min(p, Tensor([[0]]), Tensor([3])))
        [3 2]
    """
    del use_locking
    return _put(x, tensor_scatter_min(x, index, updates))
