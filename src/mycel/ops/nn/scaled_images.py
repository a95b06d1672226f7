# SPDX-License-Identifier: Apache-2.0
"""Images scaled and moved, through filters of several kinds."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell import composite, op


def _lanczos(radius: int) -> tuple[float, Callable]:
    return radius, lambda x: jnp.sinc(x) * jnp.sinc(x / radius)


def _keys_cubic(x):
    near, far = ((1.5 * x - 2.5) * x) * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return jnp.where(x >= 1, far, near)


def _mitchell_cubic(x):
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return jnp.where(x >= 1, far, near)


def _box(x):
    # Two that are equally far share a place, also where a last digit differs.
    return jnp.where(jnp.abs(x - 0.5) < 1e-6, 0.5, jnp.where(x < 0.5, 1.0, 0.0))


# By name: how far a filter reaches, and its weight at a distance within that.
FILTERS: dict[str, tuple[float, Callable]] = {
    "lanczos1": _lanczos(1),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": (1.5, lambda x: jnp.exp(-2 * x * x)),
    "box": (1.0, _box),
    "triangle": (1.0, lambda x: 1 - x),
    "keyscubic": (2.0, _keys_cubic),
    "mitchellcubic": (2.0, _mitchell_cubic),
}


def _weights(length, size, scale, shift, kernel, antialias):
    """What each of `size` new places takes of the `length` old ones: [size, length]."""
    radius, weight = FILTERS[kernel]
    back = 1 / scale
    middles = (np.arange(size) + np.float32(0.5)) * back - shift * back
    wider = jnp.maximum(back, 1) if antialias else jnp.ones_like(back)
    away = jnp.abs(middles[:, None] - (np.arange(length) + np.float32(0.5))) / wider
    found = jnp.where(away < radius - 1e-6, weight(away), 0).astype(np.float32)
    total = found.sum(1, keepdims=True)
    least = 1000 * np.finfo(np.float32).tiny
    found = jnp.where(jnp.abs(total) > least, found / jnp.where(total == 0, 1, total), 0)
    # What lies outside of the image has nothing.
    return jnp.where(((middles < 0) | (middles > length))[:, None], 0, found)


@op()
def through_filter(images, scale, translation, *, size, kernel, antialias):
    """Images [N, H, W, C] scaled and moved to another size, Float32; see `ScaleAndTranslate`.

    Example:
        >>> from mycel.ops.nn.scaled_images import through_filter
        >>> x = Tensor([[[[1.0], [3.0]]]])
        >>> moved = through_filter(x, ops.ones(2), Tensor([0.0, 1.0]), (1, 2), "box", True)
        >>> print(moved[0, 0, :, 0])
        [0. 1.]
    """
    images = images.astype(np.float32)
    for axis, n in enumerate(size):
        old = images.shape[axis + 1]
        rows = _weights(old, n, scale[axis], translation[axis], kernel, antialias)
        images = jnp.moveaxis(jnp.tensordot(rows, images, ((1,), (axis + 1,))), 0, axis + 1)
    return images


@composite(
    "ScaleAndTranslate(kernel_type=(kernel, 'lanczos3'), antialias=True)"
    "(images, size, scale, translation)"
)
def scale_and_translate(images, size, scale, translation, kernel="lanczos3", antialias=True):
    """Images scaled and moved, resampled by a filter.

    Args:
        images: [N, H, W, C], of numbers.
        size: two integers, the height and width of the result; a Tensor of them is read.
        scale: [2], Float32, how many times larger height and width become.
        translation: [2], Float32, how far the scaled images are moved, in places of the result.
        kernel: `kernel_type`: 'lanczos1', 'lanczos3' (the default), 'lanczos5', 'gaussian', 'box',
            'triangle', 'keyscubic' or 'mitchellcubic'.
        antialias: whether the filter is widened where images become smaller; True by default.

    Returns:
        [N, *size, C], Float32; zeros where nothing of an image comes.

    Raises:
        ValueError: the images have another number of dimensions, or the filter is unknown.

    Source: MindSpore's `ops.ScaleAndTranslate`.

    Example:
        >>> x = Tensor([[[[1.0], [3.0]]]])
        >>> moved = ops.ScaleAndTranslate("box")(x, Tensor([1, 2]), ops.ones(2), Tensor([0.0, 1.0]))
        >>> print(moved.asnumpy().ravel())
        [0. 1.]
    """
    if images.ndim != 4:
        raise wrong(ValueError, "ScaleAndTranslate: images", "of shape [N, H, W, C]", images.shape)
    if kernel not in FILTERS:
        expected = " or ".join(map(repr, FILTERS))
        raise wrong(ValueError, "ScaleAndTranslate: kernel_type", expected, repr(kernel))
    lengths = size.asnumpy() if hasattr(size, "asnumpy") else size
    height, width = (int(n) for n in lengths)
    return through_filter(
        images, scale, translation, size=(height, width), kernel=kernel, antialias=bool(antialias)
    )
