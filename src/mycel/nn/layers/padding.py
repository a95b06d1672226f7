# SPDX-License-Identifier: Apache-2.0
"""Layers that put something around their input."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import is_integer, is_number
from mycel.ops.nn.padding import pad_constant, pad_from_inside


class _Padding(Cell):
    """What they share: `space` dimensions from the last, two numbers for each."""

    space = 1
    least: int | None = 0

    def __init__(self, padding):
        super().__init__()
        what, count = f"{type(self).__name__}.padding", 2 * self.space
        numbers = (padding,) * count if is_integer(padding) else padding
        expected = f"an integer or {count} of them"
        if not isinstance(numbers, (tuple, list)) or not all(map(is_integer, numbers)):
            raise wrong(TypeError, what, expected, f"{type(padding).__name__} {padding!r}")
        if len(numbers) != count:
            raise wrong(ValueError, what, expected, padding)
        if self.least is not None and min(numbers) < self.least:
            raise wrong(ValueError, what, f"{expected}, not negative", padding)
        self.padding = padding
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        self.widths = tuple(reversed(pairs))

    def _all_widths(self, x):
        if x.ndim < self.space:
            what = f"The input of {type(self).__name__}"
            expected = f"of {self.space} or more dimensions"
            raise wrong(ValueError, what, expected, f"shape {x.shape}")
        return ((0, 0),) * (x.ndim - self.space) + self.widths


class _FromInside(_Padding):
    mode = "reflect"

    def construct(self, x) -> Tensor:
        """x with its own elements around it."""
        if x.ndim not in (self.space + 1, self.space + 2):
            what = f"The input of {type(self).__name__}"
            expected = f"of {self.space + 1} or {self.space + 2} dimensions"
            raise wrong(ValueError, what, expected, f"shape {x.shape}")
        return pad_from_inside(x, self._all_widths(x), self.mode)


class _Constant(_Padding):
    least = None

    def __init__(self, padding, value):
        super().__init__(padding)
        if not is_number(value):
            what = f"{type(self).__name__}.value"
            raise wrong(TypeError, what, "a number", f"{type(value).__name__} {value!r}")
        self.value = value

    def construct(self, x) -> Tensor:
        """x with the value around it."""
        return pad_constant(x, self.value, self._all_widths(x))


class ConstantPad1d(_Constant):
    """A number around the last dimension.

    Args:
        padding: an integer, or two: left, right; negative ones cut off.
        value: the number.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ConstantPad1d`.

    Example:
        >>> print(nn.ConstantPad1d((1, 0), 7.0)(Tensor([[[1.0, 2.0]]])))
        [[[7. 1. 2.]]]
    """


class ConstantPad2d(_Constant):
    """A number around the last two dimensions.

    Args:
        padding: an integer, or four: left, right, top, bottom; negative ones cut off.
        value: the number.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ConstantPad2d`.

    Example:
        >>> print(nn.ConstantPad2d((1, 0, 0, 1), 7.0)(Tensor([[[[1.0]]]])))
        [[[[7. 1.]
           [7. 7.]]]]
    """

    space = 2


class ConstantPad3d(_Constant):
    """A number around the last three dimensions.

    Args:
        padding: an integer, or six: left, right, top, bottom, front, back; negative ones cut off.
        value: the number.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ConstantPad3d`.

    Example:
        >>> nn.ConstantPad3d((1, 0, 0, 1, 2, 2), 7.0)(ops.ones((1, 1, 2, 2, 2))).shape
        (1, 1, 6, 3, 3)
    """

    space = 3


class ZeroPad2d(_Constant):
    """Zeros around the last two dimensions.

    Args:
        padding: an integer, or four: left, right, top, bottom; negative ones cut off.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ZeroPad2d`.

    Example:
        >>> print(nn.ZeroPad2d((1, 0, 0, 1))(Tensor([[[[1.0]]]])))
        [[[[0. 1.]
           [0. 0.]]]]
    """

    space = 2

    def __init__(self, padding):
        super().__init__(padding, 0)


class ReflectionPad1d(_FromInside):
    """The mirror image around L, without the edge: (N, C, L) or (C, L).

    Args:
        padding: an integer, or two: left, right; shorter than L.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a padding is negative or too wide, or the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ReflectionPad1d`.

    Example:
        >>> print(nn.ReflectionPad1d((1, 2))(Tensor([[[1.0, 2.0, 3.0]]])))
        [[[2. 1. 2. 3. 2. 1.]]]
    """


class ReflectionPad2d(_FromInside):
    """The mirror image around H and W, without the edge: (N, C, H, W) or (C, H, W).

    Args:
        padding: an integer, or four: left, right, top, bottom; shorter than the lengths.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a padding is negative or too wide, or the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ReflectionPad2d`.

    Example:
        >>> print(nn.ReflectionPad2d((1, 0, 0, 1))(Tensor([[[1.0, 2.0], [3.0, 4.0]]])))
        [[[2. 1. 2.]
          [4. 3. 4.]
          [2. 1. 2.]]]
    """

    space = 2


class ReflectionPad3d(_FromInside):
    """The mirror image around D, H and W, without the edge: (N, C, D, H, W) or (C, D, H, W).

    Args:
        padding: an integer, or six: left, right, top, bottom, front, back.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a padding is negative or too wide, or the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ReflectionPad3d`.

    Example:
        >>> nn.ReflectionPad3d(1)(ops.ones((1, 1, 2, 2, 2))).shape
        (1, 1, 4, 4, 4)
    """

    space = 3


class ReplicationPad1d(_FromInside):
    """The edge again and again around L: (N, C, L) or (C, L).

    Args:
        padding: an integer, or two: left, right.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a padding is negative, or the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ReplicationPad1d`.

    Example:
        >>> print(nn.ReplicationPad1d((1, 2))(Tensor([[[1.0, 2.0]]])))
        [[[1. 1. 2. 2. 2.]]]
    """

    mode = "replicate"


class ReplicationPad2d(_FromInside):
    """The edge again and again around H and W: (N, C, H, W) or (C, H, W).

    Args:
        padding: an integer, or four: left, right, top, bottom.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a padding is negative, or the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ReplicationPad2d`.

    Example:
        >>> print(nn.ReplicationPad2d((1, 0, 0, 1))(Tensor([[[1.0, 2.0]]])))
        [[[1. 1. 2.]
          [1. 1. 2.]]]
    """

    space = 2
    mode = "replicate"


class ReplicationPad3d(_FromInside):
    """The edge again and again around D, H and W: (N, C, D, H, W) or (C, D, H, W).

    Args:
        padding: an integer, or six: left, right, top, bottom, front, back.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a padding is negative, or the number of paddings does not fit.

    Source: MindSpore's `mindspore.nn.ReplicationPad3d`.

    Example:
        >>> nn.ReplicationPad3d(1)(ops.ones((1, 1, 2, 2, 2))).shape
        (1, 1, 4, 4, 4)
    """

    space = 3
    mode = "replicate"
