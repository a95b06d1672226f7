# SPDX-License-Identifier: Apache-2.0
"""Pooling: the maximum or the mean of windows."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.ops.axes import one_or_more, several
from mycel.ops.convolution import same_or_given
from mycel.spell import composite, op

# A window is static: (kernel, stride, pads, dilation), each with an entry for every dimension of
# space, pads as (front, behind). Space is what follows the last len(kernel) dimensions.


def _windows(x, window, filler):
    """Every element of every window: [k1 · k2, …, *sizes], so that reducing is elementwise."""
    kernel, stride, pads, dilation = window
    front = x.ndim - len(kernel)
    x = lax.pad(
        x,
        jnp.array(filler, x.dtype),
        [(0, 0, 0)] * front + [(low, high, 0) for low, high in pads],
    )
    sizes = _sizes(x.shape[front:], kernel, stride, dilation)
    return [_every(x, offset, sizes, window, front) for offset in np.ndindex(*kernel)]


def _every(x, offset, sizes, window, front):
    _, stride, _, dilation = window
    starts = [o * d for o, d in zip(offset, dilation, strict=True)]
    ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, stride, strict=True)]
    whole = x.shape[:front]
    return lax.slice(x, (0,) * front + tuple(starts), (*whole, *ends), (1,) * front + tuple(stride))


def _sizes(lengths, kernel, stride, dilation):
    spans = zip(lengths, kernel, stride, dilation, strict=True)
    return [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in spans]
