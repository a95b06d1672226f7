# SPDX-License-Identifier: Apache-2.0
"""Dropout of `mint`, which may assign its result to its input."""

from __future__ import annotations

from mycel.kernel.spell import composite
from mycel.kernel.spell.assign import assigned
from mycel.ops.nn.dropout import dropout, dropout_channels


def _with_holes(x, dropped, p, training, inplace):
    """PyTorch's p may also be 1, which leaves nothing."""
    if not training or p == 0:
        return x
    made = x * 0 if p == 1 else dropped(x, p, True)
    return assigned(x, made) if inplace else made


@composite("mint.nn.functional.dropout(input=x, p=0.5, training=True, inplace=False)")
def mint_dropout(x, p=0.5, training=True, inplace=False):
    """Zeros with the probability p, and the rest divided by 1 - p; x itself out of training.

    Args:
        x: any shape, real.
        p: the probability that an element is dropped, from 0 to 1; 0.5 by default.
        training: whether anything is dropped; False gives `x` itself. True by default.
        inplace: assign the result to x as well.

    Raises:
        ValueError: p lies outside [0, 1].

    Example:
        >>> print(mint.nn.functional.dropout(Tensor([1.0, 2.0]), training=False))
        [1. 2.]
    """
    return _with_holes(x, dropout, p, training, inplace)


@composite("mint.nn.functional.dropout2d(input=x, p=0.5, training=True, inplace=False)")
def mint_dropout2d(x, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of images; see `mint.nn.functional.dropout`.

    Args:
        x: [N, C, H, W], real.
        p: the probability that a channel is dropped, from 0 to 1; 0.5 by default. What is kept is
            divided by 1 - p.
        training: whether anything is dropped; False gives `x` itself. True by default.
        inplace: whether the result is assigned to `x` too; False by default.

    Example:
        >>> print(mint.nn.functional.dropout2d(Tensor([[[[1.0, 2.0]]]]), 1.0))
        [[[[0. 0.]]]]
    """
    return _with_holes(x, dropout_channels, p, training, inplace)
