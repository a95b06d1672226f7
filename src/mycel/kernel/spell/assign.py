# SPDX-License-Identifier: Apache-2.0
"""Assigning a result to the Tensor that it was made of: what `x.exp_()` does."""

from __future__ import annotations

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import bool_
from mycel.kernel.base.places import user_place
from mycel.kernel.record.tensor import is_part, update


def _rank(dtype) -> int:
    """Bool, integers, real numbers, complex ones: each holds what those before it hold."""
    if dtype.is_inexact:
        return 2 if dtype.is_floating else 3
    return 0 if dtype is bool_ else 1


def assigned(x, values, plain: str = ""):
    """x, which has these values from now on.

    Args:
        plain: the name of the method that gives them instead; without it they are converted to
            the element type of x, whatever they are.

    Raises:
        ValueError: values of another shape.
        TypeError: real numbers for integers, or complex ones for real ones.
    """
    if values.shape != x.shape:
        text = errors.IN_PLACE_SHAPE.format(
            before=x.shape, after=values.shape, name=plain, place=user_place(3)
        )
        raise ValueError(text)
    if values.dtype is not x.dtype:
        if plain and _rank(values.dtype) > _rank(x.dtype):
            text = errors.IN_PLACE_KIND.format(
                before=x.dtype, after=values.dtype, name=plain, place=user_place(3)
            )
            raise TypeError(text)
        values = values.astype(x.dtype)
    if is_part(x):
        x[...] = values  # which reaches what it was taken from, too
    else:
        update(x, values)
    return x
