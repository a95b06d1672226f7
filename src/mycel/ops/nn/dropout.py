# SPDX-License-Identifier: Apache-2.0
"""Dropout: random zeros, the rest scaled so that the mean stays."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.record.generator import default_generator
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.creation import zeros_like
from mycel.ops.random.drawing import as_key, draw_key


@op()
def drop(x, key, keep, *, alike=0):
    """x with each element kept with the probability `keep`, and what was kept.

    Args:
        key: UInt32[2]; keep: 0-d, so that changing it compiles nothing.
        alike: how many of the last dimensions are kept or dropped as one.

    Returns:
        The output and a mask, Bool, of the same shape.

    Example:
        >>> from mycel.ops.nn.dropout import drop
        >>> key = Tensor(np.array([0, 1], np.uint32))
        >>> print(drop(Tensor([1.0, 2.0]), key, 1.0)[0])
        [1. 2.]
    """
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        raise TypeError(f"dropout needs real numbers, not {x.dtype}.")
    drawn = x.shape[: x.ndim - alike] + (1,) * alike
    bits = jax.random.bits(jax.random.wrap_key_data(key, impl="threefry2x32"), drawn, np.uint32)
    keep = keep.astype(np.float64)
    # Whole numbers below keep · 2³²; at 1 every number is.
    kept = bits.astype(np.float64) < keep * 2.0**32
    kept = jnp.broadcast_to(kept, x.shape)
    return jnp.where(kept, x * (1 / keep).astype(x.dtype), jnp.zeros((), x.dtype)), kept


def _key(seed):
    if seed is None:
        return default_generator().next_key()
    return Tensor(np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32))


def _checked(p):
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"The probability of dropout must be a number, not {p!r}.")
    if not 0 <= p < 1:
        raise ValueError(f"The probability of dropout must be in [0, 1), but {p} was given.")
    return p


def _dropped(x, p, training, alike=0, seed=None):
    _checked(p)
    if not training or p == 0:
        return x
    return drop(x, _key(seed), 1.0 - p, alike)[0]


@composite(
    "ops.dropout(input=x, p=0.5, training=True, seed=None)",
)
def dropout(x, p=0.5, training=True, seed=None):
    """Dropout: zeros with the probability p, the rest divided by 1 - p; x itself out of training.

    Args:
        x: any shape, real or complex.
        p: the probability that an element is dropped, from 0 and below 1; 0.5 by default.
        training: whether anything is dropped; False gives `x` itself. True by default.
        seed: an integer on which alone the mask depends; None, the default, draws a new mask in
            each call from the default generator.

    Raises:
        ValueError: p lies outside [0, 1).
        TypeError: x does not hold real numbers.

    Example:
        >>> print(ops.dropout(Tensor([1.0, 2.0]), training=False))
        [1. 2.]
    """
    return _dropped(x, p, training, 0, seed)


@composite(
    "ops.dropout1d(input=x, p=0.5, training=True) with space=1",
    "ops.dropout2d(input=x, p=0.5, training=True) with space=2",
    "ops.dropout3d(input=x, p=0.5, training=True) with space=3",
)
def dropout_channels(x, p=0.5, training=True, space=2):
    """Dropout of whole channels of sequences, images or volumes; see `ops.dropout`.

    Args:
        x: [N, C, *space], real, with one, two or three dimensions of space; of one also [C, L].
        p: the probability that a channel is dropped, from 0 to 1; 0.5 by default. What is kept is
            divided by 1 - p.
        training: whether anything is dropped; False gives `x` itself. True by default.

    Example:
        >>> print(ops.dropout1d(Tensor([[1.0, 2.0]]), training=False))
        [[1. 2.]]
        >>> print(ops.dropout2d(Tensor([[[[1.0, 2.0]]]]), training=False))
        [[[[1. 2.]]]]
        >>> print(ops.dropout3d(Tensor([[[[[1.0]]]]]), training=False))
        [[[[[1.]]]]]
    """
    if p == 1 and not isinstance(p, bool):
        return zeros_like(x) if training else x
    return _dropped(x, p, training, space)


def _with_mask(x, keep_prob, alike):
    if isinstance(keep_prob, bool) or not isinstance(keep_prob, (int, float)):
        raise TypeError(f"keep_prob must be a number, not {keep_prob!r}.")
    if not 0 < keep_prob <= 1:
        raise ValueError(f"keep_prob must be in (0, 1], but {keep_prob} was given.")
    return drop(x, default_generator().next_key(), float(keep_prob), alike)


@composite("Dropout(keep_prob=0.5, Seed0=0, Seed1=0)(x)")
def dropout_with_mask(x, keep_prob=0.5, Seed0=0, Seed1=0) -> tuple[Tensor, Tensor]:
    """Dropout by the probability of keeping an element, and the mask, 1 where it was kept.

    Args:
        x: any shape, real.
        keep_prob: the probability that an element is kept, 0.5 by default; what is kept is divided
            by it.
        Seed0, Seed1: two integers on which alone the mask depends; 0 and 0, the default, draw a new
            mask in each call from the default generator.

    Example:
        >>> [part.asnumpy().tolist() for part in ops.Dropout(1.0)(Tensor([2.0]))]
        [[2.0], [1.0]]
    """
    seed = None if not Seed0 and not Seed1 else (Seed0 << 32) + Seed1
    if seed is None:
        output, kept = _with_mask(x, keep_prob, 0)
    else:
        output, kept = drop(x, _key(seed), float(keep_prob))
    return output, kept.astype(x.dtype)


@composite("Dropout2D(keep_prob=0.5)(x) with space=2", "Dropout3D(keep_prob=0.5)(x) with space=3")
def dropout_channels_with_mask(x, keep_prob=0.5, space=2) -> tuple[Tensor, Tensor]:
    """Dropout of whole channels of images or volumes, and the mask, Bool.

    Args:
        x: [N, C, H, W] or [N, C, D, H, W], as the name says; real.
        keep_prob: the probability that a channel is kept, 0.5 by default; what is kept is divided
            by it.

    Example:
        >>> ops.Dropout2D(1.0)(Tensor([[[[2.0]]]]))[1].shape
        (1, 1, 1, 1)
        >>> ops.Dropout3D(1.0)(Tensor([[[[[2.0]]]]]))[1].shape
        (1, 1, 1, 1, 1)
    """
    return _with_mask(x, keep_prob, space)


# -- masks as bits -----------------------------------------------------------------------------

# A mask is kept as bits, in bytes, in portions of 128.
PORTION = 128


@op()
def packed_mask(key, keep, *, count):
    """`count` random bits, each 1 with the probability `keep`; see `dropout_gen_mask`.

    Example:
        >>> from mycel.ops.nn.dropout import packed_mask
        >>> packed_mask(Tensor(np.array([0, 1], np.uint32)), 0.5, 3).shape
        (16,)
    """
    whole = -(-count // PORTION) * PORTION
    bits = jax.random.bits(as_key(key), (whole,), np.uint32).astype(np.float64)
    return jnp.packbits(bits < keep.astype(np.float64) * 2.0**32, bitorder="little")


@composite("DropoutGenMask(Seed0=(seed, 0), Seed1=(seed2, 0))(shape=shape, keep_prob=keep)")
def dropout_gen_mask(shape, keep, seed=0, seed2=0):
    """A mask for `DropoutDoMask`: a bit for each element of a shape, in UInt8.

    Args:
        shape: the shape, a tuple of integers.
        keep: the probability of a 1, a number or a Tensor.
        seed, seed2: two integers; the first that is not 0 begins a sequence of masks that is the
            same in each run. 0 and 0, the default, draw from the default generator.

    Example:
        >>> ops.DropoutGenMask(1, 2)((4, 50), 0.5).shape
        (32,)
    """
    shape = tuple(shape)
    return packed_mask(draw_key(seed or seed2), keep, math.prod(shape))


@op("DropoutDoMask()(input_x=x, mask=mask, keep_prob=keep)")
def dropout_do_mask(x, mask, keep):
    """x / keep where the mask of `DropoutGenMask` has a 1, and 0 elsewhere.

    Args:
        x: any shape.
        mask: [bytes], UInt8: one bit for each element of `x` in C order, the lowest of a byte
            first.
        keep: the probability with which elements were kept, a number.

    Raises:
        ValueError: the mask has another size.

    Example:
        >>> mask = ops.DropoutGenMask()((2,), 1.0)
        >>> print(ops.DropoutDoMask()(Tensor([1.0, 2.0]), mask, 1.0))
        [1. 2.]
    """
    if mask.ndim != 1 or mask.size * 8 < x.size:
        raise ValueError(f"A mask {mask.shape} of bytes has no bit for each element of {x.shape}.")
    kept = jnp.unpackbits(mask, bitorder="little")[: x.size].reshape(x.shape)
    return jnp.where(kept == 1, x / keep.astype(x.dtype), jnp.zeros((), x.dtype))
