# SPDX-License-Identifier: Apache-2.0
"""One vector slid along another; edges of several kinds around a Tensor."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, float64
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import op
from mycel.numpy.choosing import apply_along_axis
from mycel.numpy.convert import as_tensor, in_type, meeting_type
from mycel.ops.nn.padding import pad_constant

_MODES = ("full", "same", "valid")


@op()
def slid(a, v, *, mode, turned):
    """The sums of products of two vectors in every position; `turned` slides v backwards."""
    slide = jnp.convolve if turned else jnp.correlate
    return slide(a, v, mode, precision="highest")


def _vectors(a, v, mode):
    if mode not in _MODES:
        raise errors.wrong(ValueError, "mode", f"one of {', '.join(_MODES)}", repr(mode))
    a, v = as_tensor(a, "a"), as_tensor(v, "v")
    if a.ndim > 1 or v.ndim > 1 or not a.size or not v.size:
        shown = f"shapes {a.shape} and {v.shape}"
        raise errors.wrong(ValueError, "a and v", "vectors that are not empty", shown)
    return ops.reshape(a, (-1,)), ops.reshape(v, (-1,))


def convolve(a, v, mode="full"):
    """The product of two vectors as polynomials: v slides backwards along a.

    Args:
        mode: 'full' for every place where they touch, 'same' for as many as the longer has,
            'valid' for those where they overlap wholly.

    Example:
        >>> print(ms.numpy.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
        [0.  1.  2.5 4.  1.5]
    """
    a, v = _vectors(a, v, mode)
    meeting = meeting_type(a, v)
    real = meeting if meeting.is_inexact else float32
    return in_type(slid(ops.cast(a, real), ops.cast(v, real), mode, True), meeting)


def correlate(a, v, mode="valid"):
    """How much v is like a in every position; integers give Float32, Int64 Float64.

    Args:
        mode: see `convolve`.

    Example:
        >>> print(ms.numpy.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
        [3.5]
    """
    a, v = _vectors(a, v, mode)
    meeting = meeting_type(a, v)
    if not meeting.is_inexact:
        meeting = float64 if meeting.itemsize == 8 else float32
    return slid(ops.cast(a, meeting), ops.cast(v, meeting), mode, False)


# Modes of `pad` and the keywords each of them has.
_STATISTICS = ("maximum", "minimum", "mean")
_PADDINGS = ("constant", "edge", "wrap", "linear_ramp", "symmetric", "reflect", "empty",
             *_STATISTICS)  # fmt: skip


@op()
def pad_as_numpy(x, *, widths, mode, keywords):
    """x with something around it; `keywords` are pairs for `jnp.pad`."""
    if mode == "mean" and x.dtype.kind in "iu":
        # The mean of integers is cut, not rounded.
        padded = jnp.pad(x.astype(np.float64), widths, mode, **dict(keywords))
        return jnp.trunc(padded).astype(x.dtype)
    return jnp.pad(x, widths, mode, **dict(keywords)).astype(x.dtype)


def _pairs(values, ndim: int, name: str) -> tuple:
    """(in front, behind) for each dimension, from one number, one pair or all pairs."""
    if isinstance(values, Tensor):
        values = values.tolist()
    try:
        pairs = np.broadcast_to(np.array(values), (ndim, 2)).tolist()
    except ValueError:
        expected = f"a number, a pair or {ndim} pairs"
        raise errors.wrong(ValueError, name, expected, values) from None
    return tuple(map(tuple, pairs))


def pad(
    arr,
    pad_width,
    mode="constant",
    stat_length=None,
    constant_values=0,
    end_values=0,
    reflect_type="even",
    **kwargs,
):
    """A Tensor with something around it.

    Args:
        pad_width: how many elements in front and behind, in each dimension.
        mode: 'constant' (with `constant_values`), 'edge', 'reflect' and 'symmetric' (with
            `reflect_type`), 'wrap', 'linear_ramp' (with `end_values`), 'maximum', 'minimum' and
            'mean' (of the `stat_length` nearest elements), 'empty'; or a function
            `(vector, widths, axis, kwargs)` that returns the padded vector.

    Example:
        >>> print(ms.numpy.pad(Tensor([1, 2]), (1, 2), constant_values=7))
        [7 1 2 7 7]
    """
    arr = as_tensor(arr, "arr")
    if not arr.ndim:
        return arr
    widths = _pairs(pad_width, arr.ndim, "pad_width")
    if min(n for pair in widths for n in pair) < 0:
        raise errors.wrong(ValueError, "pad_width", "0 or more", pad_width)
    if callable(mode):
        return _padded_by(mode, arr, widths, kwargs)
    if mode not in _PADDINGS:
        expected = f"a function or one of {', '.join(_PADDINGS)}"
        raise errors.wrong(ValueError, "mode", expected, repr(mode))
    if mode in ("constant", "empty"):
        return _around(arr, widths, constant_values if mode == "constant" else 0)
    keywords = ()
    if mode in ("reflect", "symmetric"):
        keywords = (("reflect_type", reflect_type),)
    elif mode == "linear_ramp":
        keywords = (("end_values", _pairs(end_values, arr.ndim, "end_values")),)
    elif mode in _STATISTICS and stat_length is not None:
        keywords = (("stat_length", _pairs(stat_length, arr.ndim, "stat_length")),)
    return pad_as_numpy(arr, widths, mode, keywords)


def _around(arr, widths, values):
    """Constants around a Tensor; one number is an input of the program and may vary."""
    if isinstance(values, (bool, int, float)):
        return pad_constant(arr, values, widths)
    values = _pairs(values, arr.ndim, "constant_values")
    return pad_as_numpy(arr, widths, "constant", (("constant_values", values),))


def _padded_by(function: Callable, arr, widths, kwargs):
    padded = pad_constant(arr, 0, widths)
    for axis, pair in enumerate(widths):
        padded = apply_along_axis(function, axis, padded, pair, axis, kwargs)
    return padded
