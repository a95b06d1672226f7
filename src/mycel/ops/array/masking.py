# SPDX-License-Identifier: Apache-2.0
"""Elements by a condition: masked_fill, masked_select, nonzero, one_hot."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.record.dispatch import number_value, wrap
from mycel.kernel.record.stream import record
from mycel.kernel.record.tensor import Tensor, resolve
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in


@op(
    "ops.masked_fill(input_x=x, mask=mask, value=value)",
    "MaskedFill()(input_x=x, mask=mask, value=value)",
    "Tensor.masked_fill(x, mask, value)",
    "Tensor.masked_fill_(x, mask, value) -> x",
)
def masked_fill(x, mask, value):
    """x with `value` where the mask is set.

    Args:
        x: broadcasts with `mask`.
        mask: Bool, broadcasts with `x`.
        value: a number or a Tensor that broadcasts with `x`; it gets the type of `x`.

    Raises:
        TypeError: the mask is not Bool.

    Example:
        >>> print(ops.masked_fill(Tensor([1, 2]), Tensor([True, False]), 9))
        [9 2]
        >>> print(Tensor([1.0, 2.0]).masked_fill_(Tensor([True, False]), 9.0))
        [9. 2.]
    """
    # The machine hands a differentiated Bool in as Float64.
    if mask.dtype not in (np.bool_, np.float64):
        raise TypeError(f"A mask must be Bool, not {mask.dtype}.")
    return jnp.where(mask.astype(bool), value.astype(x.dtype), x)


@composite(
    "ops.masked_select(input=x, mask=mask)",
    "MaskedSelect()(input=x, mask=mask)",
    "Tensor.masked_select(x, mask)",
    "mint.masked_select(input=x, mask=mask)",
)
def masked_select(x, mask):
    """The elements of x where the mask is set, as a vector; the mask is read.

    Example:
        >>> print(ops.masked_select(Tensor([1, 2]), Tensor([True, False])))
        [1]
    """
    shape = np.broadcast_shapes(x.shape, mask.shape)
    whole = x if x.shape == shape else x.broadcast_to(shape)
    return whole[np.broadcast_to(mask.asnumpy().astype(bool), shape)]


@composite(
    "ops.nonzero(input=x, as_tuple=False)",
    "NonZero()(input=x)",
    "Tensor.nonzero(x, as_tuple=False)",
    "mint.nonzero(input=x, as_tuple=False)",
)
def nonzero(x, as_tuple=False):
    """The positions of the elements that are not zero, Int64: rows, or a vector for each dimension.

    The values are read.

    Example:
        >>> print(ops.nonzero(Tensor([0, 5])))
        [[1]]
    """
    values = x.asnumpy()
    if as_tuple:
        return tuple(Tensor(part) for part in np.nonzero(np.atleast_1d(values)))
    return Tensor(np.argwhere(values))


@composite("ops.argwhere(input=x)", "Tensor.argwhere(x)")
def argwhere(x):
    """The positions of the elements that are not zero, as rows of Int64; the values are read.

    Example:
        >>> print(ops.argwhere(Tensor([0, 5])))
        [[1]]
    """
    return nonzero(x)


@op()
def one_hot_values(index, on, off, *, depth, axis):
    """`on` where a new dimension of length `depth` has the number of `index`; see `one_hot`.

    Example:
        >>> from mycel.ops.array.masking import one_hot_values
        >>> print(one_hot_values(Tensor([1]), Tensor(1), Tensor(0), 2, -1))
        [[0 1]]
    """
    axis = axis_in(axis, index.ndim + 1)
    index = jnp.expand_dims(index.astype(np.int64), axis)
    shape = (*index.shape[:axis], depth, *index.shape[axis + 1 :])
    return jnp.where(lax.broadcasted_iota(np.int64, shape, axis) == index, on, off.astype(on.dtype))


def _alone(number):
    """A number in the type it has by itself, whatever the Tensors beside it."""
    return resolve(number) if isinstance(number, Tensor) else number_value(number, None)


@composite(
    "ops.one_hot(indices=index, depth=depth, on_value=(on, 1), off_value=(off, 0), axis=-1)",
    "OneHot(axis=-1)(indices=index, depth=depth, on_value=on, off_value=off)",
)
def one_hot(index, depth, on=1, off=0, axis=-1):
    """One-hot vectors: `on` at the position that each element of `index` names, `off` elsewhere.

    Args:
        index: integers of any shape.
        depth: the length of the new dimension; a number outside of it gives `off` only. A Tensor is
            read.
        on: a number or a Tensor; the result has its type, Int64 for a Python int.
        off: a number or a Tensor; it gets the type of `on`.
        axis: where the new dimension stands; -1 for last.

    Raises:
        TypeError: the index does not hold integers.
        ValueError: depth is negative.

    Example:
        >>> print(ops.one_hot(Tensor([1, 0]), 2))
        [[0 1]
         [1 0]]
    """
    if index.dtype.is_inexact:
        raise TypeError(f"one_hot needs integers, but its input is {index.dtype}.")
    if int(depth) < 0:
        raise ValueError(f"The depth of one_hot must not be negative, but {depth} was given.")
    bound = one_hot_values.definition.bind(int(depth), axis)
    return wrap(record(bound, (resolve(index), _alone(on), _alone(off))))


@composite("mint.nn.functional.one_hot(tensor=index, num_classes=classes)")
def mint_one_hot(index, classes=-1):
    """`one_hot` with ones and zeros in Int64; -1 classes are counted, which reads the values.

    Example:
        >>> print(mint.nn.functional.one_hot(Tensor([1, 0])))
        [[0 1]
         [1 0]]
    """
    depth = int(index.asnumpy().max()) + 1 if classes == -1 else classes
    return one_hot(index, depth)


@composite("ops.sequence_mask(lengths=lengths, maxlen=longest)")
def sequence_mask(lengths, longest=None):
    """True in front of each length, along a new last dimension.

    Args:
        lengths: integers of any shape.
        longest: the length of the new dimension; None for the greatest of `lengths`, which is read.

    Example:
        >>> print(ops.sequence_mask(Tensor([1, 2]), 2))
        [[ True False]
         [ True  True]]
    """
    return mask_below(lengths, int(lengths.asnumpy().max()) if longest is None else longest)


@op()
def mask_below(lengths, *, longest):
    """As `ops.sequence_mask`, along a dimension of a length that is known.

    Example:
        >>> from mycel.ops.array.masking import mask_below
        >>> print(mask_below(Tensor([1]), 2))
        [[ True False]]
    """
    shape = (*lengths.shape, longest)
    return lax.broadcasted_iota(np.int64, shape, len(shape) - 1) < lengths[..., None]
