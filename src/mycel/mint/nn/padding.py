# SPDX-License-Identifier: Apache-2.0
"""Layers that put zeros around their input; the others are those of `nn`."""

from __future__ import annotations

from mycel.nn.layers.padding import ConstantPad1d, ConstantPad3d


class ZeroPad1d(ConstantPad1d):
    """Zeros around the last dimension.

    Args:
        padding: an integer, or two: left, right; negative ones cut off.

    Raises:
        TypeError: not integers.
        ValueError: another count of numbers.

    Source: MindSpore's `mint.nn.ZeroPad1d`.

    Example:
        >>> print(mint.nn.ZeroPad1d((1, 0))(Tensor([[[1.0, 2.0]]])))
        [[[0. 1. 2.]]]
    """

    def __init__(self, padding):
        super().__init__(padding, 0)


class ZeroPad3d(ConstantPad3d):
    """Zeros around the last three dimensions.

    Args:
        padding: an integer, or six: left, right, top, bottom, front, back; negative ones cut off.

    Raises:
        TypeError: not integers.
        ValueError: another count of numbers.

    Source: MindSpore's `mint.nn.ZeroPad3d`.

    Example:
        >>> mint.nn.ZeroPad3d((1, 0, 0, 1, 2, 2))(ops.ones((1, 1, 2, 2, 2))).shape
        (1, 1, 6, 3, 3)
    """

    def __init__(self, padding):
        super().__init__(padding, 0)
