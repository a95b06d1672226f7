# SPDX-License-Identifier: Apache-2.0
"""Operators as Cells, as older programs write them: norms, moments, triangles, dropout, ….

MindSpore has marked many of them as deprecated; here they stay what they were.
"""

from __future__ import annotations

import numpy as np

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, number, positive_integer
from mycel.nn.layers.declare import layer
from mycel.ops.math.statistics import root_of_squares


def _axes(axis, what: str):
    """Integers, one or several.

    Raises:
        TypeError: anything else.
    """
    numbers = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(map(is_integer, numbers)):
        raise wrong(TypeError, what, "an integer or several", repr(axis))
    return tuple(axis) if isinstance(axis, list) else axis


class Norm(Cell):
    """The root of the sum of squares.

    Args:
        axis: the dimensions summed over; () is all.
        keep_dims: keep them with length 1.

    Raises:
        TypeError: an axis is not an integer, or keep_dims not a bool.

    Source: MindSpore's `mindspore.nn.Norm`.

    Example:
        >>> print(nn.Norm(axis=1)(Tensor([[3.0, 4.0]])))
        [5.]
    """

    def __init__(self, axis=(), keep_dims=False):
        super().__init__()
        older("nn.Norm", "ops.norm")
        self.axis = _axes(axis, "Norm.axis")
        self.keep_dims = boolean(keep_dims, "Norm.keep_dims")

    def construct(self, x) -> Tensor:
        """The lengths."""
        return root_of_squares(ops.ReduceSum(self.keep_dims)(ops.square(x), self.axis))

    def extend_repr(self) -> str:
        """The settings."""
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class Moments(Cell):
    """Mean and variance (without Bessel's correction).

    Args:
        axis: the dimensions they are taken over; None is all.
        keep_dims: keep them with length 1; None is False.

    Raises:
        TypeError: an axis is not an integer, or keep_dims not a bool.

    Source: MindSpore's `mindspore.nn.Moments`.

    Example:
        >>> [part.item() for part in nn.Moments()(Tensor([1.0, 3.0]))]
        [2.0, 1.0]
    """

    def __init__(self, axis=None, keep_dims=None):
        super().__init__()
        older("nn.Moments", "ops.var_mean")
        self.axis = () if axis is None else _axes(axis, "Moments.axis")
        self.keep_dims = False if keep_dims is None else boolean(keep_dims, "Moments.keep_dims")

    def construct(self, x) -> tuple[Tensor, Tensor]:
        """The two; of Float16 they are computed in Float32."""
        wide = x.astype("float32") if x.dtype.name == "float16" else x
        mean = ops.ReduceMean(True)(wide, self.axis)
        away = wide - mean
        variance = ops.ReduceMean(self.keep_dims)(ops.square(away), self.axis)
        if not self.keep_dims:
            mean = mean.reshape(variance.shape)
        return mean.astype(x.dtype), variance.astype(x.dtype)


class ReduceLogSumExp(Cell):
    """log(Σ exp(x)), without losing small or large values.

    Args:
        axis: the dimensions summed over; () is all.
        keep_dims: keep them with length 1.

    Raises:
        TypeError: an axis is not an integer, or keep_dims not a bool.

    Source: MindSpore's `mindspore.nn.ReduceLogSumExp`.

    Example:
        >>> print(nn.ReduceLogSumExp(0)(Tensor([500.0, 500.0])))
        500.69315
    """

    def __init__(self, axis, keep_dims=False):
        super().__init__()
        self.axis = _axes(axis, "ReduceLogSumExp.axis")
        self.keep_dims = boolean(keep_dims, "ReduceLogSumExp.keep_dims")

    def construct(self, x) -> Tensor:
        """The logarithms."""
        axis = self.axis if self.axis != () else tuple(range(x.ndim))
        return ops.logsumexp(x, axis, self.keep_dims)


class Range(Cell):
    """The numbers from `start` to below `limit`, by steps of `delta`.

    Args:
        start: alone it is the limit, and 0 is the start.

    Raises:
        ValueError: delta is 0.

    Source: MindSpore's `mindspore.nn.Range`.

    Example:
        >>> print(nn.Range(1, 8, 2)())
        [1 3 5 7]
    """

    def __init__(self, start, limit=None, delta=1):
        super().__init__()
        older("nn.Range", "ops.range")
        if delta == 0:
            raise wrong(ValueError, "Range.delta", "a number other than 0", delta)
        start, limit = (0, start) if limit is None else (start, limit)
        whole = all(isinstance(number, (int, np.integer)) for number in (start, limit, delta))
        numbers = np.arange(start, limit, delta)
        self.result_tensor = Tensor(numbers.astype(np.int32 if whole else np.float32))

    def construct(self) -> Tensor:
        """The numbers: Int32, or Float32 if one of the three is a float."""
        return self.result_tensor


class Tril(Cell):
    """What lies on and below a diagonal of the last two dimensions, zeros above it.

    Source: MindSpore's `mindspore.nn.Tril`.

    Example:
        >>> print(nn.Tril()(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """

    def __init__(self):
        super().__init__()
        older("nn.Tril", "ops.tril")

    def construct(self, x, k=0) -> Tensor:
        """The lower triangle; k counts diagonals upwards from the main one."""
        return ops.tril(x, k)


class Triu(Cell):
    """What lies on and above a diagonal of the last two dimensions, zeros below it.

    Source: MindSpore's `mindspore.nn.Triu`.

    Example:
        >>> print(nn.Triu()(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """

    def __init__(self):
        super().__init__()
        older("nn.Triu", "ops.triu")

    def construct(self, x, k=0) -> Tensor:
        """The upper triangle; k counts diagonals upwards from the main one."""
        return ops.triu(x, k)


def shortened(x, clip_norm, axis):
    """x · clip_norm / the greater of its length over `axis` and clip_norm; of halves in Float32."""
    wide = x.astype("float32") if x.dtype.name in ("float16", "bfloat16") else x
    length = root_of_squares(ops.ReduceSum(True)(ops.square(wide), axis))
    if isinstance(clip_norm, Tensor):
        clip_norm = clip_norm.astype(wide.dtype)
    shorter = wide * clip_norm / ops.maximum(length, clip_norm)
    return shorter.reshape(x.shape)


class ClipByNorm(Cell):
    """x shortened to a length, if it is longer.

    Args:
        axis: the dimensions that the length is taken over; None is all.

    Raises:
        TypeError: an axis is not an integer.

    Source: MindSpore's `mindspore.nn.ClipByNorm`.

    Example:
        >>> print(nn.ClipByNorm()(Tensor([3.0, 4.0]), Tensor(1.0)))
        [0.6 0.8]
    """

    def __init__(self, axis=None):
        super().__init__()
        older("nn.ClipByNorm", "ops.clip_by_norm")
        self.axis = () if axis is None else _axes(axis, "ClipByNorm.axis")

    def construct(self, x, clip_norm) -> Tensor:
        """x · clip_norm / the greater of its length and clip_norm; of halves in Float32."""
        return shortened(x, clip_norm, self.axis)


class L1Regularizer(Cell):
    """The sum of |weights|, times a factor.

    Args:
        scale: the factor, above 0.

    Raises:
        TypeError: an argument is not a number.
        ValueError: the number is not positive, or is infinite.

    Source: MindSpore's `mindspore.nn.L1Regularizer`.

    Example:
        >>> print(nn.L1Regularizer(0.5)(Tensor([1.0, -3.0])))
        2.0
    """

    def __init__(self, scale):
        super().__init__()
        older("nn.L1Regularizer", "ops.abs(weights).sum() * scale")
        self.scale = number(scale, "L1Regularizer.scale", "above 0", lambda n: 0 < n < np.inf)

    def construct(self, weights) -> Tensor:
        """One number."""
        return ops.abs(weights).sum() * self.scale


class LRN(Cell):
    """x over (bias + alpha · the sum of squares of the channels around) to the power beta.

    Args:
        depth_radius: how many channels on each side count.

    Source: MindSpore's `mindspore.nn.LRN`.

    Example:
        >>> print(nn.LRN(1, 3.0)(ops.ones((1, 1, 1, 1))))
        [[[[0.5]]]]
    """

    def __init__(
        self, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"
    ):
        super().__init__()
        older("nn.LRN", "ops.lrn")
        self.settings = depth_radius, bias, alpha, beta, norm_region

    def construct(self, input_x) -> Tensor:
        """(N, C, H, W), normalised across its channels."""
        return ops.lrn(input_x, *self.settings)


class Roll(Cell):
    """Elements shifted along dimensions; what leaves at one end comes back at the other.

    Args:
        shift: by how many places; axis: along which dimension; one of each, or several.

    Raises:
        TypeError: an argument does not consist of integers.
        ValueError: the numbers of shifts and of dimensions differ.

    Source: MindSpore's `mindspore.nn.Roll`.

    Example:
        >>> print(nn.Roll(1, 0)(Tensor([1, 2, 3])))
        [3 1 2]
    """

    def __init__(self, shift, axis):
        super().__init__()
        older("nn.Roll", "ops.roll")
        self.shift, self.axis = _axes(shift, "Roll.shift"), _axes(axis, "Roll.axis")
        counts = [
            1 if is_integer(argument) else len(argument) for argument in (self.shift, self.axis)
        ]
        if counts[0] != counts[1]:
            raise wrong(ValueError, "Roll.axis", f"{counts[0]} dimensions", axis)

    def construct(self, input_x) -> Tensor:
        """The shifted elements."""
        return ops.roll(input_x, self.shift, self.axis)


@layer(ops, "channel_shuffle", "nn.ChannelShuffle(groups)(x)", groups=positive_integer)
class ChannelShuffle(Cell):
    """Channels dealt out: first those that begin a group, then the second of each, and so on.

    Args:
        groups: into how many the channels are divided.

    Raises:
        TypeError: the argument is not an integer.
        ValueError: the number is not positive.

    Example:
        >>> print(nn.ChannelShuffle(2)(ops.arange(4).reshape(1, 4, 1, 1)).reshape(-1))
        [0 2 1 3]
    """


class _DropoutOfChannels(Cell):
    """What the dropouts of whole channels share."""

    def __init__(self, p=0.5):
        super().__init__()
        what = f"{type(self).__name__}.p"
        self.p = number(p, what, "from 0 to 1", lambda n: 0 <= n <= 1)

    def extend_repr(self) -> str:
        """The share."""
        return f"p={self.p}"

    def _dropped(self, x, drop):
        if not self.training or self.p == 0:
            return x
        return ops.zeros_like(x) if self.p == 1 else drop(x, self.p, True)


class Dropout1d(_DropoutOfChannels):
    """In training, put a random share of whole channels of (N, C, L) or (C, L) to 0.

    Args:
        p: the share, from 0 to 1.

    Raises:
        ValueError: a number is out of range.

    Source: MindSpore's `mindspore.nn.Dropout1d`.

    Example:
        >>> nn.Dropout1d()(ops.ones((1, 2, 2))).shape
        (1, 2, 2)
    """

    def construct(self, x) -> Tensor:
        """x, in training with empty channels."""
        return self._dropped(x, ops.dropout1d)


class Dropout3d(_DropoutOfChannels):
    """In training, put a random share of whole channels of (N, C, D, H, W) to 0.

    Args:
        p: the share, from 0 to 1.

    Raises:
        ValueError: a number is out of range.

    Source: MindSpore's `mindspore.nn.Dropout3d`.

    Example:
        >>> nn.Dropout3d()(ops.ones((1, 2, 2, 2, 2))).shape
        (1, 2, 2, 2, 2)
    """

    def construct(self, x) -> Tensor:
        """x, in training with empty channels."""
        return self._dropped(x, ops.dropout3d)
