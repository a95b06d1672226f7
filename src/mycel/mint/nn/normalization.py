# SPDX-License-Identifier: Apache-2.0
"""Normalisation layers, as PyTorch calls them."""

from __future__ import annotations

from mycel.init import initializer
from mycel.kernel.base.dtypes import as_dtype, float32, int64
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, update
from mycel.mint.nn import functional
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, positive_integer
from mycel.nn.layers.over_processes import batch_norm_over_processes, is_apart


def _parameter(name: str, start: str, shape, dtype, trained=True) -> Parameter:
    return Parameter(initializer(start, shape, dtype), name=name, requires_grad=trained)


class _BatchNorm(Cell):
    """What the batch normalisations share."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        dtype=None,
    ):
        super().__init__()
        owner = type(self).__name__
        self.num_features = positive_integer(num_features, f"{owner}.num_features")
        self.eps = eps
        self.momentum = momentum
        self.affine = boolean(affine, f"{owner}.affine")
        self.track_running_stats = boolean(track_running_stats, f"{owner}.track_running_stats")
        self.dtype = as_dtype(dtype or float32)
        each = (num_features,), self.dtype
        self.weight = _parameter("weight", "ones", *each) if affine else None
        self.bias = _parameter("bias", "zeros", *each) if affine else None
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = _parameter("running_mean", "zeros", *each, False)
            self.running_var = _parameter("running_var", "ones", *each, False)
            tracked = _parameter("num_batches_tracked", "zeros", (), int64, False)
            self.num_batches_tracked = tracked

    def _check(self, x):
        if x.ndim not in self.ranks:
            expected = f"of {' or '.join(map(str, self.ranks))} dimensions"
            what = f"The input of {type(self).__name__}"
            raise wrong(ValueError, what, expected, f"shape {x.shape}")

    def construct(self, input) -> Tensor:
        """The input, normalised."""
        self._check(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            tracked = self.num_batches_tracked
            assert tracked is not None
            batches = tracked + 1
            update(tracked, batches)
            if self.momentum is None:
                # The plain mean of all batches so far.
                share = 1 / batches.astype(self.dtype)
        return self._normalised(input, self.training or self.running_mean is None, share)

    def _normalised(self, x, by_batch, share) -> Tensor:
        vectors = self.running_mean, self.running_var, self.weight, self.bias
        return functional.batch_norm(x, *vectors, by_batch, share, self.eps)

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Normalise each of C features over the batch: (N, C) or (N, C, L).

    In training the batch's own mean and variance are used, and the running ones follow them; in
    prediction the running ones are used and left alone, if there are any.

    Args:
        num_features: C.
        eps: added to the variance.
        momentum: how far each batch moves the running statistics; None for the mean of all.
        affine: whether there are a trained weight and bias.
        track_running_stats: whether there are running statistics.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, or another input shape.

    Source: MindSpore's `mint.nn.BatchNorm1d`.

    Example:
        >>> layer = mint.nn.BatchNorm1d(1).set_train()
        >>> print(layer(Tensor([[1.0], [3.0]])).asnumpy().round(3).ravel())
        [-1.  1.]
        >>> print(layer.running_mean.asnumpy(), layer.num_batches_tracked.asnumpy())
        [0.2] 1
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalise each of C channels over batch, H and W: (N, C, H, W); see BatchNorm1d.

    Source: MindSpore's `mint.nn.BatchNorm2d`.

    Example:
        >>> layer = mint.nn.BatchNorm2d(1).set_train()
        >>> print(layer(Tensor([[[[1.0, 3.0]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalise each of C channels over batch, D, H and W: (N, C, D, H, W); see BatchNorm1d.

    Source: MindSpore's `mint.nn.BatchNorm3d`.

    Example:
        >>> layer = mint.nn.BatchNorm3d(1).set_train()
        >>> print(layer(Tensor([[[[[1.0, 3.0]]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all devices together, of two to five dimensions; see BatchNorm1d.

    Where each process has a batch of its own, they add up their statistics at each call in
    training, and so all of them call the layer; where Tensors are whole, XLA does it.

    Args:
        process_group: the name of the group of processes that add up; None for all.
        others: see BatchNorm1d.

    Source: MindSpore's `mint.nn.SyncBatchNorm`.

    Example:
        >>> layer = mint.nn.SyncBatchNorm(1).set_train()
        >>> print(layer(Tensor([[1.0], [3.0]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        dtype=None,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group

    def _normalised(self, x, by_batch, share) -> Tensor:
        if not (by_batch and is_apart(self.process_group)):
            return super()._normalised(x, by_batch, share)
        output, mean, _, variance = batch_norm_over_processes(
            x, self.weight, self.bias, self.eps, self.process_group
        )
        for running, batch in ((self.running_mean, mean), (self.running_var, variance)):
            if running is not None and self.training:
                update(running, (running * (1 - share) + batch * share).astype(running.dtype))
        return output


class LayerNorm(Cell):
    """Normalise each entry over its last dimensions, then scale by weight and shift by bias.

    Args:
        normalized_shape: the lengths of these dimensions, an integer or several.
        eps: added to the variance.
        elementwise_affine: whether there is a weight.
        bias: whether there is a bias too.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: `normalized_shape` is not an integer, tuple or list.

    Source: MindSpore's `mint.nn.LayerNorm`.

    Example:
        >>> print(mint.nn.LayerNorm(2)(Tensor([[1.0, 3.0]])).asnumpy().round(3))
        [[-1.  1.]]
    """

    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if is_integer(normalized_shape) else normalized_shape
        if not isinstance(shape, (tuple, list)):
            actual = f"{type(shape).__name__} {shape!r}"
            raise wrong(TypeError, "LayerNorm.normalized_shape", "integers", actual)
        self.normalized_shape = tuple(shape)
        self.eps = eps
        self.elementwise_affine = boolean(elementwise_affine, "LayerNorm.elementwise_affine")
        each = self.normalized_shape, dtype or float32
        self.weight = _parameter("weight", "ones", *each) if elementwise_affine else None
        has_bias = elementwise_affine and boolean(bias, "LayerNorm.bias")
        self.bias = _parameter("bias", "zeros", *each) if has_bias else None

    def construct(self, input) -> Tensor:
        """The input, normalised."""
        shape = self.normalized_shape
        return functional.layer_norm(input, shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"normalized_shape={self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Cell):
    """Normalise groups of channels of each entry: (N, C, …).

    Args:
        num_groups, num_channels: channels fall into groups of equal size.
        eps: added to the variance.
        affine: whether weight and bias are trained; they are there in any case.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: an argument of another type.
        ValueError: `num_groups` does not divide `num_channels`.

    Source: MindSpore's `mint.nn.GroupNorm`.

    Example:
        >>> print(mint.nn.GroupNorm(1, 2)(Tensor([[1.0, 3.0]])).asnumpy().round(3))
        [[-1.  1.]]
    """

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, dtype=None):
        super().__init__()
        self.num_groups = positive_integer(num_groups, "GroupNorm.num_groups")
        self.num_channels = positive_integer(num_channels, "GroupNorm.num_channels")
        if num_channels % num_groups:
            expected = f"a multiple of num_groups={num_groups}"
            raise wrong(ValueError, "GroupNorm.num_channels", expected, num_channels)
        self.eps = eps
        self.affine = boolean(affine, "GroupNorm.affine")
        each = (num_channels,), dtype or float32
        self.weight = _parameter("weight", "ones", *each, affine)
        self.bias = _parameter("bias", "zeros", *each, affine)

    def construct(self, input) -> Tensor:
        """The input, normalised."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}"
        )
