# SPDX-License-Identifier: Apache-2.0
"""Padding: constants, mirrors, edges or wrapping around."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell import composite, op

_MODES = {"reflect": "reflect", "symmetric": "symmetric", "replicate": "edge", "circular": "wrap"}


@op()
def pad_constant(x, value, *, widths):
    """x with `value` around it; a negative width cuts off.

    Args:
        widths: (before, after) for each dimension.

    Example:
        >>> from mycel.ops.nn.padding import pad_constant
        >>> print(pad_constant(Tensor([1]), 7, ((1, 1),)))
        [7 1 7]
    """
    _check(x, widths)
    if any(n + low + high < 0 for n, (low, high) in zip(x.shape, widths, strict=True)):
        raise ValueError(f"The padding {widths} leaves nothing of a Tensor {x.shape}.")
    return lax.pad(x, value.astype(x.dtype), [(low, high, 0) for low, high in widths])


@op()
def pad_from_inside(x, *, widths, mode):
    """x with its own elements around it: 'reflect', 'symmetric', 'replicate' or 'circular'.

    Example:
        >>> from mycel.ops.nn.padding import pad_from_inside
        >>> print(pad_from_inside(Tensor([1, 2, 3]), ((1, 1),), "reflect"))
        [2 1 2 3 2]
    """
    _check(x, widths)
    if min(n for pair in widths for n in pair) < 0:
        raise ValueError(f"Padding of mode {mode!r} must not be negative, as in {widths}.")
    room = {"reflect": -1, "symmetric": 0, "circular": 0}.get(mode)
    for n, pair in zip(x.shape, widths, strict=True):
        if room is not None and max(pair) > n + room:
            raise ValueError(f"Padding {pair} of mode {mode!r} is too wide for a length {n}.")
    return jnp.pad(x, widths, _MODES[mode])


def _check(x, widths):
    if len(widths) != x.ndim:
        raise ValueError(f"Padding for {len(widths)} dimensions does not fit a Tensor {x.shape}.")


def _from_last(x, padding):
    """Pairs for each dimension, from numbers that begin with the last dimension."""
    if not isinstance(padding, (tuple, list)):
        padding = padding.asnumpy().tolist() if hasattr(padding, "asnumpy") else (padding,) * 2
    if padding and all(isinstance(pair, (tuple, list)) for pair in padding):
        return tuple((int(before), int(behind)) for before, behind in padding)
    if len(padding) % 2 or len(padding) > 2 * x.ndim:
        raise ValueError(
            f"Padding needs two numbers for each dimension, at most {2 * x.ndim}, not {padding}."
        )
    padding = tuple(int(n) for n in padding)
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    return ((0, 0),) * (x.ndim - len(pairs)) + tuple(reversed(pairs))


@composite(
    "ops.pad(input_x=x, padding=padding, mode='constant', value=None)",
    "mint.nn.functional.pad(input=x, pad=padding, mode='constant', value=None)",
    "PadV3(mode='constant', paddings_contiguous=(contiguous, True))"
    "(x=x, paddings=padding, constant_value=(value, None))",
)
def pad(x, padding, mode="constant", value=None, contiguous=True):
    """x, padded at the ends of its dimensions.

    Args:
        x: any shape.
        padding: two numbers (before, after) for the last dimension, two for the one before, …; or,
            as in older MindSpore, a pair for each dimension from the first on.
        mode: 'constant' (`value`, or 0), 'reflect' (the edge once), 'replicate' (the edge again and
            again) or 'circular' (from the other end).
        value: the number that is added with 'constant'; None, the default, for 0.
        contiguous: of `ops.PadV3`, as `paddings_contiguous`: False if all the numbers for in front
            come before all those for after.

    Raises:
        ValueError: the mode is unknown, or the padding does not fit x.

    Example:
        >>> print(ops.pad(Tensor([1, 2]), (1, 0)))
        [0 1 2]
    """
    if not contiguous:
        padding = padding.tolist() if hasattr(padding, "tolist") else list(padding)
        half = len(padding) // 2
        padding = [n for pair in zip(padding[:half], padding[half:], strict=True) for n in pair]
    widths = _from_last(x, padding)
    if mode == "constant":
        return pad_constant(x, 0 if value is None else value, widths)
    if mode not in ("reflect", "replicate", "circular"):
        raise ValueError(
            f"mode must be one of 'constant', 'reflect', 'replicate', 'circular', not {mode!r}."
        )
    if value is not None:
        raise ValueError(f"A value is only used by mode 'constant', not by {mode!r}.")
    return pad_from_inside(x, widths, mode)


@composite("Pad(paddings)(input_x=x)")
def pad_pairs(x, paddings):
    """x with zeros around it; `paddings` has (before, after) for each dimension.

    Example:
        >>> print(ops.Pad(((1, 0),))(Tensor([1, 2])))
        [0 1 2]
    """
    return pad_constant(x, 0, tuple(tuple(pair) for pair in paddings))


@composite(
    "MirrorPad(mode='REFLECT')(input_x=x, paddings=paddings)",
    "ops.mirror_pad(input_x=x, paddings=paddings, mode=mode)",
)
def mirror_pad(x, paddings, mode="REFLECT"):
    """x with its mirror image around it.

    Args:
        x: any shape.
        paddings: for each dimension a pair of how many elements are added before and after, as
            tuples or as a Tensor, which is read.
        mode: 'REFLECT', the default, does not repeat the element at the edge; 'SYMMETRIC' does.

    Raises:
        ValueError: the mode is unknown, or the padding does not fit x.

    Example:
        >>> print(ops.MirrorPad("SYMMETRIC")(Tensor([1, 2]), ((1, 1),)))
        [1 1 2 2]
    """
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"mode must be 'REFLECT' or 'SYMMETRIC', not {mode!r}.")
    pairs = paddings.asnumpy().tolist() if hasattr(paddings, "asnumpy") else paddings
    return pad_from_inside(x, tuple(tuple(pair) for pair in pairs), mode.lower())


@composite("ops.padding(x, pad_dim_size=8)", "Padding(pad_dim_size=8)(x)")
def padded_tail(x, pad_dim_size=8):
    """x with zeros after the one element of its last dimension, up to `pad_dim_size`.

    Raises:
        ValueError: the last dimension has another length than 1, or `pad_dim_size` is below 1.

    Example:
        >>> print(ops.padding(Tensor([[8.0], [10.0]]), 3))
        [[ 8.  0.  0.]
         [10.  0.  0.]]
    """
    if pad_dim_size < 1:
        raise wrong(ValueError, "padding: pad_dim_size", "at least 1", pad_dim_size)
    if x.ndim < 2 or x.shape[-1] != 1:
        expected = "of at least two dimensions, the last of length 1"
        raise wrong(ValueError, "padding: x", expected, f"shape {x.shape}")
    return pad_constant(x, 0, ((0, 0),) * (x.ndim - 1) + ((0, pad_dim_size - 1),))
