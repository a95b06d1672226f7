# SPDX-License-Identifier: Apache-2.0
"""How the heavy operators are written for XLA, by platform: the one place of such choices.

XLA's CPU backend has fast matrix products and slow convolutions of few channels; on accelerators
the compiler knows best. Everything here takes NCHW and OIHW, MindSpore's layouts.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

# Up to this many input channels a convolution on CPU is quicker as patches and one product.
FEW_CHANNELS = 8


def on_cpu() -> bool:
    """Whether programs being traced will run on the CPU."""
    device = jax.config.jax_default_device
    platform = getattr(device, "platform", device) or jax.default_backend()
    return platform == "cpu"


def convolve(x, weight, stride, pads, dilation, groups):
    """The convolution of x [N, C, *space] with a weight [O, C / groups, *kernel].

    Args:
        stride, dilation: one number for each dimension of space.
        pads: (in front, behind) for each of them.
    """
    kernel = weight.shape[2:]
    if on_cpu() and groups == 1 and len(kernel) == 2:
        if kernel == (1, 1) and not any(map(any, pads)):
            return _pointwise(x[:, :, :: stride[0], :: stride[1]], weight)
        if x.shape[1] <= FEW_CHANNELS:
            return _patches_product(x, weight, stride, pads, dilation)
    return _general(x, weight, stride, pads, dilation, groups)


def _general(x, weight, stride, pads, dilation, groups):
    space = "DHW"[-len(stride) :]
    layout = ("NC" + space, "OI" + space, "NC" + space)
    return lax.conv_general_dilated(
        x,
        weight,
        stride,
        pads,
        rhs_dilation=dilation,
        dimension_numbers=layout,
        feature_group_count=groups,
    )


def _pointwise(x, weight):
    return jnp.einsum("nchw,oc->nohw", x, weight[:, :, 0, 0])


def _patches_product(x, weight, stride, pads, dilation):
    """Every patch as a column, and the weight as a matrix times all of them.

    One product for each image of the batch leaves the result in NCHW: measured faster than one
    product for all of them, which has to move the channels to the end and back.
    """
    outputs, channels, *kernel = weight.shape
    x = jnp.pad(x, ((0, 0), (0, 0), *pads))
    sizes = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(x.shape[2:], kernel, dilation, stride, strict=True)
    ]
    patches = [
        _every(x, (i * dilation[0], j * dilation[1]), sizes, stride)
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    columns = jnp.concatenate(patches, 1).reshape(x.shape[0], -1, sizes[0] * sizes[1])
    matrix = weight.transpose(0, 2, 3, 1).reshape(outputs, -1)
    every = jnp.broadcast_to(matrix, (x.shape[0], *matrix.shape))
    return jnp.matmul(every, columns).reshape(x.shape[0], outputs, *sizes)


def _every(x, starts, sizes, stride):
    ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, stride, strict=True)]
    return x[:, :, starts[0] : ends[0] : stride[0], starts[1] : ends[1] : stride[1]]
