# SPDX-License-Identifier: Apache-2.0
"""Normalisation layers."""

from __future__ import annotations

from mycel import ops
from mycel.init import initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import op
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, number, one_of, positive_integer
from mycel.nn.layers.inside import Inside, in_parts
from mycel.nn.layers.over_processes import batch_norm_over_processes, group_among, is_apart
from mycel.ops.nn.normalization import batch_norm_inference, batch_norm_training, normalized


@op()
def moved(moving, batch, *, share, count=None):
    """The moving statistic, `share` of the way towards that of the batch.

    The variance over all data is estimated larger than that within the batch, of which it has so
    many elements, the `count`.

    Example:
        >>> from mycel.nn.layers.normalization import moved
        >>> print(moved(Tensor([0.0]), Tensor([2.0]), 0.25))
        [0.5]
    """
    correction = 1.0 if count is None else count / max(count - 1, 1)
    moved = moving * (1 - share) + batch * (share * correction)
    return moved.astype(moving.dtype)


def _parameter(name: str, start, shape, dtype, trained=True) -> Parameter:
    return Parameter(initializer(start, shape, dtype), name=name, requires_grad=trained)


def _by_steps(cell: _BatchNorm, x) -> Tensor:
    """The same as `construct`, divided as the operator of this step was told."""
    moving = cell.gamma, cell.beta, cell.moving_mean, cell.moving_variance
    name = "bn_train" if cell.takes_batch else "bn_infer"
    return in_parts(cell, name, lambda x, *_: type(cell).construct(cell, x), x, *moving)


class _BatchNorm(Cell):
    """What the batch normalisations share."""

    bn_train = Inside(lambda cell: ops.BatchNorm(True, cell.eps, cell.momentum), _by_steps)
    bn_infer = Inside(lambda cell: ops.BatchNorm(False, cell.eps), _by_steps)

    # How many dimensions the inputs may have.
    ranks: tuple[int, ...] = ()
    # Its operators take inputs of another type, and statistics must not be rounded (to_float).
    _keeps_precision = True

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        data_format="NCHW",
        dtype=float32,
    ):
        super().__init__()
        owner = type(self).__name__
        positive_integer(num_features, f"{owner}.num_features")
        number(momentum, f"{owner}.momentum", "from 0 to 1", lambda n: 0 <= n <= 1)
        if use_batch_statistics is not None:
            boolean(use_batch_statistics, f"{owner}.use_batch_statistics")
        self.format = one_of(data_format, f"{owner}.data_format", ("NCHW", "NHWC"))
        self.use_batch_statistics = use_batch_statistics
        self.num_features = num_features
        self.eps = eps
        self.beta_init = beta_init
        self.gamma_init = gamma_init
        self.moving_mean_init = moving_mean_init
        self.moving_var_init = moving_var_init
        # How far one batch moves the statistics: momentum is what stays of them.
        self.momentum = 1.0 - momentum

        shape, trained = (num_features,), bool(affine)
        self.moving_mean = _parameter("mean", moving_mean_init, shape, dtype, False)
        self.moving_variance = _parameter("variance", moving_var_init, shape, dtype, False)
        self.gamma = _parameter("gamma", gamma_init, shape, dtype, trained)
        self.beta = _parameter("beta", beta_init, shape, dtype, trained)

    def construct(self, x) -> Tensor:
        """x, normalised."""
        if x.ndim not in self.ranks:
            expected = f"of {' or '.join(map(str, self.ranks))} dimensions"
            raise wrong(
                ValueError, f"The input of {type(self).__name__}", expected, f"shape {x.shape}"
            )
        if self.format == "NHWC" and x.ndim == 4:
            return self._normalised(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)
        return self._normalised(x)

    @property
    def takes_batch(self) -> bool:
        """Whether the statistics are those of the batch."""
        by_batch = self.use_batch_statistics
        return self.training if by_batch is None else by_batch

    def _normalised(self, x):
        if not self.takes_batch:
            moments = self.moving_mean, self.moving_variance
            return batch_norm_inference(x, *moments, self.gamma, self.beta, self.eps)
        output, mean, variance = batch_norm_training(x, self.gamma, self.beta, self.eps)
        count = x.size // x.shape[1]
        self._move(self.moving_mean, mean)
        self._move(self.moving_variance, variance, count)
        return output

    def _move(self, moving, batch, count=None):
        update(moving, moved(moving, batch, self.momentum, count))

    def extend_repr(self) -> str:
        """What the layer was made with, and its Parameters."""
        return self._described(1.0 - self.momentum)

    def _described(self, momentum) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
            f"moving_variance={self.moving_variance}"
        )


class BatchNorm1d(_BatchNorm):
    """Normalise each of C features over the batch: (N, C) or (N, C, L).

    In training the batch's own mean and variance are used, and the moving ones follow them; in
    prediction the moving ones are used and left alone.

    Args:
        num_features: C.
        eps: added to the variance.
        momentum: how much of the moving statistics stays at each batch.
        affine: whether gamma and beta are trained.
        gamma_init, beta_init, moving_mean_init, moving_var_init: initialisers, their names,
            numbers or Tensors.
        use_batch_statistics: True for the batch's own always, False for the moving ones always,
            None to follow the training state.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size is not positive, momentum is out of range, or the input has another
            shape.

    Source: MindSpore's `mindspore.nn.BatchNorm1d`.

    Example:
        >>> layer = nn.BatchNorm1d(1).set_train()
        >>> print(layer(Tensor([[1.0], [3.0]])).asnumpy().round(3).ravel())
        [-1.  1.]
        >>> print(layer.moving_mean.asnumpy())
        [0.2]
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalise each of C channels over batch, H and W: (N, C, H, W); see BatchNorm1d.

    Source: MindSpore's `mindspore.nn.BatchNorm2d`.

    Example:
        >>> layer = nn.BatchNorm2d(1).set_train()
        >>> print(layer(Tensor([[[[1.0, 3.0]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (4,)


class BatchNorm3d(Cell):
    """Normalise each of C channels over batch, D, H and W: (N, C, D, H, W); see BatchNorm1d.

    Source: MindSpore's `mindspore.nn.BatchNorm3d`.

    Example:
        >>> layer = nn.BatchNorm3d(1).set_train()
        >>> print(layer(Tensor([[[[[1.0, 3.0]]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    def __init__(
        self, num_features, eps=1e-05, momentum=0.9, affine=True, gamma_init="ones",
        beta_init="zeros", moving_mean_init="zeros", moving_var_init="ones",
        use_batch_statistics=None, dtype=float32,
    ):  # fmt: skip
        super().__init__()
        starts = gamma_init, beta_init, moving_mean_init, moving_var_init
        settings = num_features, eps, momentum, affine, *starts, use_batch_statistics
        self.bn2d = BatchNorm2d(*settings, dtype=dtype)

    def construct(self, input_x) -> Tensor:
        """The input, normalised."""
        shape = input_x.shape
        if len(shape) != 5:
            raise wrong(ValueError, "The input of BatchNorm3d", "(N, C, D, H, W)", shape)
        flat = input_x.reshape((*shape[:3], shape[3] * shape[4]))
        return self.bn2d(flat).reshape(shape)


class LayerNorm(Cell):
    """Normalise each entry over its last dimensions, then scale by gamma and shift by beta.

    Args:
        normalized_shape: the shape of gamma and beta.
        begin_norm_axis, begin_params_axis: the first dimension to normalise over, and the first
            that gamma and beta have.
        gamma_init, beta_init: initialisers, their names, numbers or Tensors.
        epsilon: added to the variance.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: `normalized_shape` is not a tuple or list.

    Source: MindSpore's `mindspore.nn.LayerNorm`.

    Example:
        >>> print(nn.LayerNorm((2,))(Tensor([[1.0, 3.0]])).asnumpy().round(3))
        [[-1.  1.]]
    """

    def __init__(
        self,
        normalized_shape,
        begin_norm_axis=-1,
        begin_params_axis=-1,
        gamma_init="ones",
        beta_init="zeros",
        epsilon=1e-07,
        dtype=float32,
    ):
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            actual = f"{type(normalized_shape).__name__} {normalized_shape!r}"
            raise wrong(TypeError, "LayerNorm.normalized_shape", "a tuple or a list", actual)
        self.normalized_shape = normalized_shape
        self.begin_norm_axis = begin_norm_axis
        self.begin_params_axis = begin_params_axis
        self.epsilon = epsilon
        self.gamma = _parameter("gamma", gamma_init, normalized_shape, dtype)
        self.beta = _parameter("beta", beta_init, normalized_shape, dtype)
        self.layer_norm = ops.LayerNorm(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x) -> Tensor:
        """The input, normalised."""
        output, _, _ = self.layer_norm(input_x, self.gamma, self.beta)
        return output

    def extend_repr(self) -> str:
        """What the layer was made with, and its Parameters, as MindSpore writes them."""
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    """Normalise groups of channels of each entry: (N, C, H, W).

    Args:
        num_groups, num_channels: channels fall into groups of equal size.
        eps: added to the variance.
        affine: whether gamma and beta are trained.
        gamma_init, beta_init: initialisers, their names, numbers or Tensors.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument is of another type.
        ValueError: `num_groups` does not divide `num_channels`.

    Source: MindSpore's `mindspore.nn.GroupNorm`.

    Example:
        >>> print(nn.GroupNorm(1, 2)(Tensor([[[[1.0]], [[3.0]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    def __init__(
        self,
        num_groups,
        num_channels,
        eps=1e-05,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        dtype=float32,
    ):
        super().__init__()
        self.num_groups = positive_integer(num_groups, "GroupNorm.num_groups")
        self.num_channels = positive_integer(num_channels, "GroupNorm.num_channels")
        if num_channels % num_groups:
            expected = f"a multiple of num_groups={num_groups}"
            raise wrong(ValueError, "GroupNorm.num_channels", expected, num_channels)
        self.eps = eps
        self.affine = boolean(affine, "GroupNorm.affine")
        self.gamma = _parameter("gamma", gamma_init, (num_channels,), dtype, affine)
        self.beta = _parameter("beta", beta_init, (num_channels,), dtype, affine)

    def construct(self, x) -> Tensor:
        """x, normalised."""
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        """The numbers of groups and channels."""
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all devices together; on one device, that of BatchNorm2d.

    Where each process has a batch of its own, they add up their statistics at each call in
    training, and so all of them call the layer; where Tensors are whole, XLA does it.

    Args:
        process_groups: lists of process numbers, of which each adds up by itself; None for one of
            all.
        others: see BatchNorm1d.

    Raises:
        TypeError: `process_groups` is not a list of lists.
        ValueError: a number in `process_groups` is no process, or comes twice.

    Source: MindSpore's `mindspore.nn.SyncBatchNorm`.

    Example:
        >>> layer = nn.SyncBatchNorm(1).set_train()
        >>> print(layer(Tensor([[[[1.0, 3.0]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (2, 4)

    def __init__(
        self, num_features, eps=1e-05, momentum=0.9, affine=True, gamma_init="ones",
        beta_init="zeros", moving_mean_init="zeros", moving_var_init="ones",
        use_batch_statistics=None, process_groups=None, dtype=float32,
    ):  # fmt: skip
        starts = gamma_init, beta_init, moving_mean_init, moving_var_init
        settings = num_features, eps, momentum, affine, *starts, use_batch_statistics
        super().__init__(*settings, dtype=dtype)
        self.process_groups = process_groups
        self._group = group_among(process_groups, "SyncBatchNorm.process_groups")

    def _normalised(self, x):
        if not (self.takes_batch and is_apart(self._group)):
            return super()._normalised(x)
        output, mean, _, variance = batch_norm_over_processes(
            x, self.gamma, self.beta, self.eps, self._group
        )
        self._move(self.moving_mean, mean)
        self._move(self.moving_variance, variance)
        return output


class _InstanceNorm(_BatchNorm):
    """What the instance normalisations share."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        dtype=float32,
    ):
        owner = type(self).__name__
        boolean(affine, f"{owner}.affine")
        if not isinstance(eps, float):
            raise wrong(TypeError, f"{owner}.eps", "a float", f"{type(eps).__name__} {eps!r}")
        number(momentum, f"{owner}.momentum", "from 0 to 1", lambda n: 0 <= n <= 1)
        super().__init__(
            num_features, eps, 1 - momentum, affine, gamma_init, beta_init, dtype=dtype
        )
        self.momentum = momentum

    def _normalised(self, x):
        if x.shape[1] != self.num_features:
            owner, expected = type(self).__name__, f"of {self.num_features} channels"
            raise wrong(ValueError, f"The input of {owner}", expected, f"shape {x.shape}")
        space = tuple(range(2, x.ndim))
        each = (self.num_features,) + (1,) * len(space)
        gamma, beta = self.gamma.reshape(each), self.beta.reshape(each)
        output, mean, variance = normalized(x, gamma, beta, space, self.eps)
        if self.training:
            count = x.size // (x.shape[0] * x.shape[1])
            over = (0, *space)
            self._move(self.moving_mean, mean.mean(over))
            self._move(self.moving_variance, variance.mean(over), count)
        return output

    def extend_repr(self) -> str:
        """What the layer was made with, and its Parameters."""
        return self._described(self.momentum)


class InstanceNorm1d(_InstanceNorm):
    """Normalise each channel of each entry by itself: (N, C, L).

    The moving mean and variance follow those of the entries in training; they are kept for
    programs that look at them, and are not used.

    Args:
        num_features: C.
        eps: added to the variance.
        momentum: how far each batch moves the moving statistics.
        affine: whether gamma and beta are trained.
        gamma_init, beta_init: initialisers, their names, numbers or Tensors.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the input has another shape.

    Source: MindSpore's `mindspore.nn.InstanceNorm1d`, which has no CPU kernel; Ulyanov et al.,
    "Instance Normalization: The Missing Ingredient for Fast Stylization", 2016.

    Example:
        >>> print(nn.InstanceNorm1d(1)(Tensor([[[1.0, 3.0]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Normalise each channel of each entry by itself: (N, C, H, W); see InstanceNorm1d.

    Source: MindSpore's `mindspore.nn.InstanceNorm2d`.

    Example:
        >>> print(nn.InstanceNorm2d(1)(Tensor([[[[1.0, 3.0]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (4,)


class InstanceNorm3d(_InstanceNorm):
    """Normalise each channel of each entry by itself: (N, C, D, H, W); see InstanceNorm1d.

    Source: MindSpore's `mindspore.nn.InstanceNorm3d`.

    Example:
        >>> print(nn.InstanceNorm3d(1)(Tensor([[[[[1.0, 3.0]]]]])).asnumpy().round(3).ravel())
        [-1.  1.]
    """

    ranks = (5,)
