# SPDX-License-Identifier: Apache-2.0
"""Normalisation over a batch, a layer or groups."""

from __future__ import annotations

from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axes_in, axis_in, one_or_more
from mycel.ops.array.shape import reshape
from mycel.ops.nn.activation import relu, relu6
from mycel.tuning import normalization
from mycel.tuning.together import continued


def _moments(x, axes):
    """Mean and variance in one pass over x, in at least Float32, dimensions kept."""
    wide = x.astype(np.promote_types(np.float32, x.dtype)) if x.dtype.itemsize < 4 else x
    mean = jnp.mean(wide, axes, keepdims=True, dtype=wide.dtype)
    centred = wide - mean
    variance = jnp.mean(centred * centred, axes, keepdims=True, dtype=wide.dtype)
    return wide, mean, variance


def _along(vector, x, axis):
    shape = [1] * x.ndim
    shape[axis] = vector.shape[0]
    return vector.reshape(shape)


@op()
def batch_norm_training(x, weight, bias, *, epsilon=1e-5, low=-np.inf, high=np.inf):
    """x normalised over all dimensions but the channels (1), scaled, shifted and clipped.

    Args:
        x: [N, C, …].
        weight, bias: [C].
        low, high: bounds of the output; above `low` and up to `high` it has a derivative.

    Returns:
        The output like x, and mean and (biased) variance of the batch, [C].

    Raises:
        ValueError: weight or bias does not fit the channels.

    Example:
        >>> from mycel.ops.nn.normalization import batch_norm_training
        >>> out, mean, variance = batch_norm_training(
        ...     Tensor([[1.0], [3.0]]), Tensor([1.0]), Tensor([0.0]))
        >>> print(mean, variance)
        [2.] [1.]
    """
    _check_channels(x, weight, bias)
    plain = partial(_plain, epsilon=epsilon, bounds=(low, high))
    if not normalization.serves(x, weight, bias):
        return plain(x, weight, bias)
    return normalization.forward(plain, (x, weight, bias), epsilon, (low, high))


@batch_norm_training.reverse
def _(x, weight, bias, outputs, cotangents, *, epsilon, low, high):
    arrays = x, weight, bias, *outputs[1:], *cotangents
    plain = partial(_plain_reverse, epsilon=epsilon, bounds=(low, high))
    if not normalization.serves(*arrays):
        return plain(*arrays)
    return normalization.reverse(plain, arrays, epsilon, (low, high))


continued(batch_norm_training, relu, normalization.serves, low=0.0)
continued(batch_norm_training, relu6, normalization.serves, low=0.0, high=6.0)


def _plain(x, weight, bias, *, epsilon, bounds):
    """A batch normalised by XLA's own code: the output, mean and variance."""
    wide, mean, variance = _moments(x, (0, *range(2, x.ndim)))
    scale = lax.rsqrt(variance + epsilon) * _along(weight.astype(wide.dtype), x, 1)
    output = (wide - mean) * scale + _along(bias.astype(wide.dtype), x, 1)
    if any(map(np.isfinite, bounds)):
        output = jnp.clip(output, *bounds)
    return output.astype(x.dtype), mean.reshape(-1), variance.reshape(-1)


def _plain_reverse(
    x, weight, bias, mean, variance, cotangent, of_mean, of_variance, *, epsilon, bounds
):
    """The gradients of x, weight and bias."""
    axes = (0, *range(2, x.ndim))
    wide = x.astype(mean.dtype)
    cotangent = cotangent.astype(mean.dtype)
    count = jnp.array(x.size // x.shape[1], mean.dtype)
    centred = wide - _along(mean, x, 1)
    inverse = lax.rsqrt(variance + epsilon)
    factor = weight.astype(mean.dtype) * inverse
    if any(map(np.isfinite, bounds)):
        output = centred * _along(factor, x, 1) + _along(bias.astype(mean.dtype), x, 1)
        inside = (output > bounds[0]) & (output <= bounds[1])
        cotangent = jnp.where(inside, cotangent, jnp.zeros((), cotangent.dtype))
    # Two sums in one pass over x and the cotangent; the rest is one elementwise pass.
    shift = jnp.sum(cotangent, axes, dtype=mean.dtype)
    slope = jnp.sum(cotangent * centred, axes, dtype=mean.dtype)
    toward = (2 * of_variance - factor * inverse * inverse * slope) / count
    level = (of_mean - factor * shift) / count
    gradient = (
        cotangent * _along(factor, x, 1) + centred * _along(toward, x, 1) + _along(level, x, 1)
    )
    return (
        gradient.astype(x.dtype),
        (slope * inverse).astype(weight.dtype),
        shift.astype(weight.dtype),
    )


@op()
def batch_norm_inference(x, mean, variance, weight, bias, *, epsilon=1e-5):
    """x normalised with given statistics of each channel, scaled and shifted.

    Args:
        x: [N, C, …]; the others [C].

    Raises:
        ValueError: a statistic, weight or bias does not fit the channels.

    Example:
        >>> from mycel.ops.nn.normalization import batch_norm_inference
        >>> one, zero = Tensor([1.0]), Tensor([0.0])
        >>> print(batch_norm_inference(Tensor([[1.0]]), zero, one, one, one, 0.0))
        [[2.]]
    """
    _check_channels(x, mean, variance, weight, bias)
    wide = np.promote_types(np.float32, mean.dtype)
    # One number per channel, in Float64: the rsqrt of Float32 is not rounded correctly on CPU.
    inverse = lax.rsqrt(variance.astype(np.float64) + epsilon).astype(wide)
    scale = weight.astype(wide) * inverse
    shift = bias.astype(wide) - mean.astype(wide) * scale
    return (x * _along(scale, x, 1) + _along(shift, x, 1)).astype(x.dtype)


def _check_channels(x, *vectors):
    if x.ndim < 2:
        raise ValueError(f"Batch normalisation needs [N, C, …], not {x.shape}.")
    for vector in vectors:
        if vector.shape != (x.shape[1],):
            raise ValueError(
                f"{vector.shape} does not fit the {x.shape[1]} channels of a Tensor {x.shape}."
            )


def _moved(handle, batch, momentum):
    """Point a moving statistic at its value after a batch."""
    kept = handle * (1 - momentum) + batch * momentum
    update(handle, kept.astype(handle.dtype))


def _train(x, running_mean, running_var, weight, bias, momentum, epsilon):
    output, mean, variance = batch_norm_training(x, weight, bias, epsilon)
    count = x.size // x.shape[1]
    if running_mean is not None:
        _moved(running_mean, mean, momentum)
    if running_var is not None:
        # The moving variance is an unbiased estimate, the one that normalises is not.
        _moved(running_var, variance * (count / max(count - 1, 1)), momentum)
    return output, mean, variance


@composite(
    "ops.batch_norm(input_x=x, running_mean=running_mean, running_var=running_var, weight=weight,"
    " bias=bias, training=False, momentum=0.1, eps=(epsilon, 1e-5))",
    "mint.nn.functional.batch_norm(input=x, running_mean=running_mean, running_var=running_var,"
    " weight=weight, bias=bias, training=False, momentum=0.1, eps=(epsilon, 1e-5))",
)
def batch_norm(
    x,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    epsilon=1e-5,
):
    """x normalised over all dimensions but the channels.

    In training the statistics are those of the batch, and the moving ones are updated:
    `(1 - momentum) · moving + momentum · batch`.

    Args:
        x: [N, C, ...].
        running_mean: [C], the moving mean, which is updated in training; in `mint` None for the
            statistics of the batch.
        running_var: [C], the moving variance, which is updated in training; in `mint` None for the
            statistics of the batch.
        weight: [C], the factors of the normalised channels; None for 1.
        bias: [C], what is added to them; None for 0.
        training: whether the statistics of the batch are used and the moving ones are updated;
            False by default.
        momentum: the share of the batch in the new moving statistics, 0.1 by default.
        epsilon: what is added to the variance, 1e-5 by default.

    Raises:
        ValueError: a vector does not fit the channels.

    Example:
        >>> one, zero = Tensor([1.0]), Tensor([0.0])
        >>> print(ops.batch_norm(Tensor([[1.0], [3.0]]), zero, one, one, zero, True).round(3))
        [[-1.]
         [ 1.]]
    """
    weight = Tensor(np.ones(x.shape[1], np.float32)) if weight is None else weight
    bias = Tensor(np.zeros(x.shape[1], np.float32)) if bias is None else bias
    if training or running_mean is None:
        return _train(x, running_mean, running_var, weight, bias, momentum, epsilon)[0]
    return batch_norm_inference(x, running_mean, running_var, weight, bias, epsilon)


@composite(
    "BatchNorm(is_training=(training, False), epsilon=1e-5, momentum=0.1, data_format='NCHW')"
    "(input_x=x, scale=weight, bias=bias, mean=mean, variance=variance)"
)
def batch_norm_with_statistics(
    x, weight, bias, mean, variance, training=False, epsilon=1e-5, momentum=0.1, data_format="NCHW"
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """`ops.batch_norm`, and the statistics it used, twice, as MindSpore's operator gives them.

    Args:
        x: [N, C, ...].
        weight: [C], the factors of the normalised channels.
        bias: [C], added to them.
        mean: [C], the moving mean; in training a Parameter or Tensor that is updated.
        variance: [C], the moving variance; in training a Parameter or Tensor that is updated.
        training: `is_training`: whether the statistics of the batch are used and the moving ones
            are updated; False, the default, uses the moving ones.
        epsilon: what is added to the variance, 1e-5 by default.
        momentum: the share of the batch in the new moving statistics, 0.1 by default.
        data_format: 'NCHW', the only one.

    Returns:
        The output, mean, variance, mean, variance.

    Example:
        >>> one, zero = Tensor([1.0]), Tensor([0.0])
        >>> len(ops.BatchNorm()(Tensor([[1.0]]), one, zero, zero, one))
        5
    """
    if data_format != "NCHW":
        raise ValueError(f"Only the layout NCHW is supported, not {data_format!r}.")
    if training:
        output, mean, variance = _train(x, mean, variance, weight, bias, momentum, epsilon)
    else:
        output = batch_norm_inference(x, mean, variance, weight, bias, epsilon)
        mean, variance = mean * 1, variance * 1
    return output, mean, variance, mean, variance


@op()
def normalized(x, weight=None, bias=None, *, axes, epsilon):
    """x normalised over `axes`, scaled and shifted, with mean and variance (dimensions kept).

    `weight` and `bias` are broadcast from the right.

    Example:
        >>> from mycel.ops.nn.normalization import normalized
        >>> out, mean, variance = normalized(Tensor([[1.0, 3.0]]), None, None, (1,), 0.0)
        >>> print(out, mean, variance)
        [[-1.  1.]] [[2.]] [[1.]]
    """
    axes = axes_in(axes, x.ndim)
    wide, mean, variance = _moments(x, axes)
    output = (wide - mean) * lax.rsqrt(variance + epsilon)
    if weight is not None:
        output = output * weight.astype(wide.dtype)
    if bias is not None:
        output = output + bias.astype(wide.dtype)
    return output.astype(x.dtype), mean, variance


@normalized.reverse
def _(x, weight, bias, outputs, cotangents, *, axes, epsilon):
    _, mean, variance = outputs
    axes = axes_in(axes, x.ndim)
    given, given_mean, given_variance = (c.astype(mean.dtype) for c in cotangents)
    inverse = lax.rsqrt(variance + epsilon)
    centred = x.astype(mean.dtype) - mean
    count = jnp.array(x.size // mean.size, mean.dtype)
    scaled = given if weight is None else given * weight.astype(mean.dtype)
    shift = jnp.sum(scaled, axes, keepdims=True, dtype=mean.dtype)
    slope = jnp.sum(scaled * centred, axes, keepdims=True, dtype=mean.dtype)
    toward = (2 * given_variance - inverse**3 * slope) / count
    level = (given_mean - inverse * shift) / count
    gradient = (scaled * inverse + centred * toward + level).astype(x.dtype)
    return gradient, _folded(given * centred * inverse, weight), _folded(given, bias)


def _folded(gradient, like):
    """The gradient of a vector that was broadcast from the right."""
    if like is None:
        return None
    new = tuple(range(gradient.ndim - like.ndim))
    stretched = tuple(
        i + len(new)
        for i, n in enumerate(like.shape)
        if n == 1 and gradient.shape[i + len(new)] != 1
    )
    folded = jnp.sum(gradient, new + stretched, dtype=gradient.dtype)
    return folded.reshape(like.shape).astype(like.dtype)


@composite(
    "ops.layer_norm(input=x, normalized_shape=shape, weight=weight, bias=bias,"
    " eps=(epsilon, 1e-5))",
    "mint.nn.functional.layer_norm(input=x, normalized_shape=shape, weight=weight, bias=bias,"
    " eps=(epsilon, 1e-5))",
)
def layer_norm(x, shape, weight=None, bias=None, epsilon=1e-5):
    """x normalised over its last dimensions, scaled and shifted.

    Args:
        x: at least as many dimensions as `shape`.
        shape: the lengths of the last dimensions, over which `x` is normalised.
        weight: the factors of the normalised elements, of this shape; None, the default, for 1.
        bias: what is added to them, of this shape; None, the default, for 0.
        epsilon: what is added to the variance, 1e-5 by default.

    Raises:
        ValueError: the last dimensions of x are not `shape`, or weight or bias has another shape.

    Example:
        >>> print(ops.layer_norm(Tensor([[1.0, 3.0]]), (2,)).round(3))
        [[-1.  1.]]
    """
    shape = one_or_more(shape)
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ValueError(f"A Tensor of shape {x.shape} does not end in {shape}.")
    for vector in (weight, bias):
        if vector is not None and vector.shape != shape:
            raise ValueError(f"weight and bias must have the shape {shape}, not {vector.shape}.")
    return normalized(x, weight, bias, tuple(range(-len(shape), 0)), epsilon)[0]


@composite(
    "LayerNorm(begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7)"
    "(input_x=x, gamma=weight, beta=bias)"
)
def layer_norm_with_statistics(
    x, weight, bias, begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7
) -> tuple[Tensor, Tensor, Tensor]:
    """`ops.layer_norm` from a dimension on, and the mean and variance, with their dimensions kept.

    Args:
        x: two dimensions or more.
        weight: the factors of the normalised elements, of the shape x.shape[begin_params_axis:].
        bias: what is added to them, of the same shape.
        begin_norm_axis: the first of the dimensions that are normalised, 1 by default.
        begin_params_axis: the first of the dimensions of `weight` and `bias`, 1 by default.
        epsilon: what is added to the variance, 1e-7 by default.

    Example:
        >>> one, zero = Tensor([1.0, 1.0]), Tensor([0.0, 0.0])
        >>> out, mean, variance = ops.LayerNorm()(Tensor([[1.0, 3.0]]), one, zero)
        >>> print(mean, variance)
        [[2.]] [[1.]]
    """
    ndim = x.ndim
    for axis in (begin_norm_axis, begin_params_axis):
        if not -ndim <= axis < ndim:
            axis_in(axis, ndim)  # raises
    first, behind = begin_norm_axis % ndim, x.shape[begin_params_axis % ndim :]
    if weight.shape != behind or bias.shape != behind:
        raise ValueError(
            f"gamma and beta must have the shape {behind}, not {weight.shape} and {bias.shape}."
        )
    return normalized(x, weight, bias, tuple(range(first, ndim)), epsilon)


@composite(
    "ops.group_norm(input=x, num_groups=groups, weight=weight, bias=bias, eps=(epsilon, 1e-5))",
    "mint.nn.functional.group_norm(input=x, num_groups=groups, weight=weight, bias=bias,"
    " eps=(epsilon, 1e-5))",
)
def group_norm(x, groups, weight=None, bias=None, epsilon=1e-5):
    """x normalised within groups of channels, scaled and shifted for each channel.

    Args:
        x: [N, C, …].
        groups: the number of groups, which divides the channels.
        weight, bias: [C]; None, the default, for 1 and 0.
        epsilon: what is added to the variance, 1e-5 by default.

    Raises:
        ValueError: the channels do not divide into the groups.

    Example:
        >>> print(ops.group_norm(Tensor([[1.0, 3.0]]), 1).round(3))
        [[-1.  1.]]
    """
    channels = x.shape[1]
    if groups < 1 or channels % groups:
        raise ValueError(f"{channels} channels do not divide into {groups} groups.")
    grouped = reshape(x, (x.shape[0], groups, channels // groups, *x.shape[2:]))
    shape = (groups, channels // groups) + (1,) * (x.ndim - 2)
    weight = None if weight is None else reshape(weight, shape)
    bias = None if bias is None else reshape(bias, shape)
    axes = tuple(range(2, grouped.ndim))
    return reshape(normalized(grouped, weight, bias, axes, epsilon)[0], x.shape)


@op("ops.rms_norm(x, gamma=weight, epsilon=1e-6)", "RmsNorm(epsilon=1e-6)(x, gamma=weight)")
def rms_norm(x, weight, *, epsilon=1e-6) -> tuple[Array, Array]:
    """x divided by its root mean square over the dimensions of the weight, and the root's inverse.

    Args:
        x: any shape.
        weight: the factors of the normalised elements, of the shape of x's last dimensions.
        epsilon: what is added to the mean square, 1e-6 by default.

    Returns:
        The output, and 1 / root of the mean square.

    Example:
        >>> print(ops.rms_norm(Tensor([3.0, 3.0]), Tensor([1.0, 1.0]))[0])
        [0.99999994 0.99999994]
    """
    axes = tuple(range(x.ndim - weight.ndim, x.ndim))
    wide = x.astype(np.promote_types(np.float32, x.dtype)) if x.dtype.itemsize < 4 else x
    inverse = lax.rsqrt(jnp.mean(wide * wide, axes, keepdims=True, dtype=wide.dtype) + epsilon)
    return (wide * inverse).astype(x.dtype) * weight, inverse


@op("ops.lrn(x, depth_radius=radius, bias=bias, alpha=alpha, beta=beta,"
    " norm_region='ACROSS_CHANNELS')",
    "LRN(depth_radius=radius, bias=bias, alpha=alpha, beta=beta,"
    " norm_region='ACROSS_CHANNELS')(x)",
)  # fmt: skip
def lrn(x, *, radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
    """x over (bias + alpha · the sum of squares of the channels around) to the power beta.

    Args:
        x: [N, C, H, W].
        radius: how many channels on each side count.
        bias: what is added to `alpha` times the sum.
        alpha: the factor of the sum of squares.
        beta: the exponent.
        norm_region: 'ACROSS_CHANNELS', the only one.

    Raises:
        ValueError: x does not have four dimensions, or the region is unknown.

    Example:
        >>> print(ops.lrn(ops.ones((1, 2, 1, 1)), 1, 2.0).reshape(-1))
        [0.5 0.5]
    """
    if x.ndim != 4 or norm_region != "ACROSS_CHANNELS":
        raise ValueError(
            f"lrn works across the channels of [N, C, H, W], not over {norm_region!r} of {x.shape}."
        )
    squares = jnp.pad(x * x, ((0, 0), (radius, radius), (0, 0), (0, 0)))
    around = sum(squares[:, i : i + x.shape[1]] for i in range(2 * radius + 1))
    scale = jnp.array(bias, x.dtype) + jnp.array(alpha, x.dtype) * around
    return x * scale ** jnp.array(-beta, x.dtype)
