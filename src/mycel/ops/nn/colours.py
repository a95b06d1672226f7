# SPDX-License-Identifier: Apache-2.0
"""Colours as hue, saturation and value: conversions, and images with one of them changed.

The last dimension holds red, green and blue, or hue, saturation and value, where hue goes once
around the circle from 0 to 1.
"""

from __future__ import annotations

import jax.numpy as jnp

from mycel.kernel.spell import op


def _parts(x, ranks, what):
    if x.ndim not in ranks or x.shape[-1] != 3:
        raise ValueError(f"{what} needs images whose last dimension is 3, not {x.shape}.")
    return x[..., 0], x[..., 1], x[..., 2]


def _to_hue(red, green, blue):
    top = jnp.maximum(jnp.maximum(red, green), blue)
    spread = top - jnp.minimum(jnp.minimum(red, green), blue)
    # Grey has no hue, and black no saturation: both are 0, without a quotient that is not finite.
    over = jnp.where(spread == 0, 1, spread)
    turned = jnp.where(
        top == red,
        (green - blue) / over % 6,
        jnp.where(top == green, (blue - red) / over + 2, (red - green) / over + 4),
    )
    hue = jnp.where(spread == 0, 0, turned / 6)
    return hue, jnp.where(top == 0, 0, spread / jnp.where(top == 0, 1, top)), top


def _from_hue(hue, saturation, value):
    def part(offset):
        place = (offset + hue * 6) % 6
        rise = jnp.clip(jnp.minimum(place, 4 - place), 0, 1)
        return value - value * saturation * rise

    return jnp.stack((part(5), part(3), part(1)), -1)


@op("RGBToHSV()(images=x)")
def hue_of(x):
    """Red, green and blue as hue, saturation and value.

    Args:
        x: [N, H, W, 3], from 0 to 1.

    Raises:
        ValueError: x has another shape.

    Example:
        >>> print(ops.RGBToHSV()(Tensor([[[[0.5, 0.25, 0.25]]]])))
        [[[[0.  0.5 0.5]]]]
    """
    return jnp.stack(_to_hue(*_parts(x, (4,), "RGBToHSV")), -1)


@op("HSVToRGB()(x)")
def colour_of(x):
    """Hue, saturation and value as red, green and blue.

    Args:
        x: [N, H, W, 3], from 0 to 1.

    Raises:
        ValueError: x has another shape.

    Example:
        >>> print(ops.HSVToRGB()(Tensor([[[[0.5, 0.5, 0.5]]]])))
        [[[[0.25 0.5  0.5 ]]]]
    """
    return _from_hue(*_parts(x, (4,), "HSVToRGB"))


@op("AdjustHue()(image=x, delta=delta)")
def turned_hue(x, delta):
    """Images with another hue.

    Args:
        x: [..., H, W, 3]: red, green and blue.
        delta: how far the hue is turned, a number or a Tensor of one; 1 is once around.

    Raises:
        ValueError: x has another shape.

    Example:
        >>> print(ops.AdjustHue()(Tensor([[[1.0, 2.0, 3.0]]]), Tensor(0.5)).asnumpy().round(4))
        [[[3. 2. 1.]]]
    """
    hue, saturation, value = _to_hue(*_parts(x, range(3, 9), "AdjustHue"))
    return _from_hue((hue + delta.astype(x.dtype)) % 1, saturation, value)


@op("AdjustSaturation()(image=x, scale=scale)")
def scaled_saturation(x, scale):
    """Images with another saturation.

    Args:
        x: [..., H, W, 3]: red, green and blue.
        scale: what the saturation is multiplied by, a number or a Tensor of one; the product is at
            most 1.

    Raises:
        ValueError: x has another shape.

    Example:
        >>> print(ops.AdjustSaturation()(Tensor([[[1.0, 2.0, 4.0]]]), Tensor(0.0)))
        [[[4. 4. 4.]]]
    """
    hue, saturation, value = _to_hue(*_parts(x, range(3, 9), "AdjustSaturation"))
    return _from_hue(hue, jnp.clip(saturation * scale.astype(x.dtype), 0, 1), value)
