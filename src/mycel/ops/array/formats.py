# SPDX-License-Identifier: Apache-2.0
"""Dimensions of images in another order: their numbers, and what belongs to each."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.spell import op

ORDERS = ("NHWC", "NCHW")


def _places(source, target) -> list[int]:
    """Where each dimension of the target stands in the source."""
    for name, order in (("src_format", source), ("dst_format", target)):
        if order not in ORDERS:
            raise ValueError(f"{name} must be 'NHWC' or 'NCHW', not {order!r}.")
    return [source.index(letter) for letter in target]


@op("DataFormatDimMap(src_format=(source, 'NHWC'), dst_format=(target, 'NCHW'))(input_x=x)")
def mapped_dimensions(x, *, source="NHWC", target="NCHW"):
    """Where in one order of an image's dimensions the dimensions of another order stand.

    Args:
        x: integers from -4 to 3, any shape: numbers of dimensions in the order `target`; negative
            ones count from the end.
        source: the order in which their places are wanted, 'NHWC' by default, or 'NCHW'.
        target: the order that they are counted in, 'NCHW' by default, or 'NHWC'.

    Raises:
        ValueError: an order is unknown.

    Example:
        >>> print(ops.DataFormatDimMap()(Tensor([0, 1, 2, 3])))
        [0 3 1 2]
    """
    places = jnp.array(_places(source, target), x.dtype)
    return places[x.astype(np.int64) % 4]


@op("DataFormatVecPermute(src_format=(source, 'NHWC'), dst_format=(target, 'NCHW'))(input_x=x)")
def permuted_dimensions(x, *, source="NHWC", target="NCHW"):
    """A row for each dimension of an image, in another order of the dimensions.

    Args:
        x: [4] or [4, 2].
        source: the order that the rows have, 'NHWC' by default, or 'NCHW'.
        target: the order in which they are wanted, 'NCHW' by default, or 'NHWC'.

    Raises:
        ValueError: an order is unknown, or x has another shape.

    Example:
        >>> print(ops.DataFormatVecPermute()(Tensor([5, 6, 7, 8])))
        [5 8 6 7]
    """
    if x.shape not in ((4,), (4, 2)):
        raise ValueError(f"A row for each of 4 dimensions is needed, not {x.shape}.")
    return x[np.array(_places(source, target))]
