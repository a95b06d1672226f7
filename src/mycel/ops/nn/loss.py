# SPDX-License-Identifier: Apache-2.0
"""Losses of class numbers and of probabilities."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.define.bounds import Bounds, Shares
from mycel.kernel.spell import composite, op
from mycel.ops.common import as_float, promoted, rounded_once, sum_of

CLASS = "class number"


def reduced(losses, reduction: str):
    """The mean, the sum or all of elementwise losses."""
    check_reduction(reduction)
    if reduction == "none":
        return losses
    total = sum_of(losses, dtype=losses.dtype)
    return total if reduction == "sum" else total / jnp.array(losses.size, losses.dtype)


def check_reduction(reduction: str, *more: str):
    """Refuse a word that is neither 'mean', 'sum' nor 'none', nor one of some more.

    Raises:
        ValueError: the word is unknown.
    """
    words = ("mean", "sum", "none", *more)
    if reduction not in words:
        expected = ", ".join(map(repr, words))
        raise ValueError(f"reduction must be one of {expected}, but {reduction!r} was given.")


def broadcastable(x, y, what: str):
    """Both operands in one real element type.

    Raises:
        ValueError: their shapes cannot be broadcast.
    """
    try:
        jnp.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise ValueError(f"{what}: the shapes {x.shape} and {y.shape} do not fit.") from None
    x, y = promoted(x, y)
    return as_float(x), as_float(y)


# -- classes ----------------------------------------------------------------------------------


@jax.custom_vjp
def _log_softmax(x):
    """Over dimension 1, or the only one; its reverse takes one exponential."""
    return rounded_once(jax.nn.log_softmax)(x, axis=_class_axis(x))


def _log_softmax_forward(x):
    output = _log_softmax(x)
    return output, output


def _log_softmax_backward(output, cotangent):
    total = jnp.sum(cotangent, _class_axis(output), keepdims=True)
    return (cotangent - jnp.exp(output) * total,)


_log_softmax.defvjp(_log_softmax_forward, _log_softmax_backward)


def _class_axis(x) -> int:
    return 0 if x.ndim == 1 else 1


@jax.custom_vjp
def _picked(x, classes):
    """x at the class of each place; NaN where there is no such class."""
    axis = _class_axis(x)
    picked = jnp.take_along_axis(x, jnp.expand_dims(classes, axis), axis)
    return jnp.squeeze(picked, axis)


def _picked_forward(x, classes):
    # An empty array carries the shape: the reverse needs no value of x.
    return _picked(x, classes), (classes, jnp.zeros((0, *x.shape), x.dtype))


def _picked_backward(kept, cotangent):
    classes, like = kept
    axis = 0 if like.ndim == 2 else 1
    shape = like.shape[1:]
    here = lax.broadcasted_iota(classes.dtype, shape, axis) == jnp.expand_dims(classes, axis)
    return jnp.where(here, jnp.expand_dims(cotangent, axis), jnp.zeros((), like.dtype)), None


# A comparison with the class numbers, in place of the scatter that JAX would write.
_picked.defvjp(_picked_forward, _picked_backward)


def _places(x) -> tuple[int, ...]:
    """The shape of class numbers for predictions."""
    return x.shape[:0] if x.ndim == 1 else (*x.shape[:1], *x.shape[2:])


def _check_classes(x, target, or_probabilities=False):
    if not x.ndim or target.shape != _places(x):
        more = f", probabilities the shape {x.shape}" if or_probabilities else ""
        swapped = x.dtype.kind in "iu" and target.dtype.kind not in "iu"
        raise ValueError(
            f"Class numbers for predictions of shape {x.shape} have the shape {_places(x)}{more}, "
            f"but {target.shape} was given{'; predictions come first' if swapped else ''}."
        )


def _class_weights(x, weight):
    if weight.shape != (x.shape[_class_axis(x)],):
        raise ValueError(
            f"There must be one weight for each of the {x.shape[_class_axis(x)]} classes, "
            f"but weight has the shape {weight.shape}."
        )
    return weight.astype(x.dtype)


def _negative_log(x, target, weight, ignore_index, reduction, smoothing):
    """The negative log-likelihood of class numbers under log-probabilities x."""
    check_reduction(reduction)
    _check_classes(x, target)
    target = target.astype(np.int32)
    counted = target != ignore_index
    safe = jnp.where(counted, target, 0)
    safe = jnp.where(safe < 0, safe + x.shape[_class_axis(x)], safe)
    losses = -_picked(x, safe)
    shares = jnp.ones(losses.shape, x.dtype)
    smooth = None
    if weight is not None:
        weight = _class_weights(x, weight)
        shares = weight[safe]
        losses = losses * shares
    if smoothing:
        shape = [1] * x.ndim
        shape[_class_axis(x)] = -1
        every = x if weight is None else x * weight.reshape(shape)
        smooth = -sum_of(every, _class_axis(x), dtype=x.dtype)
        part = jnp.array(smoothing / x.shape[_class_axis(x)], x.dtype)
        losses = losses * jnp.array(1 - smoothing, x.dtype) + smooth * part
    losses = jnp.where(counted, losses, jnp.zeros((), x.dtype))
    if reduction != "mean":
        return reduced(losses, reduction)
    total = sum_of(losses, dtype=x.dtype)
    return total / sum_of(jnp.where(counted, shares, 0), dtype=x.dtype)


def _class_numbers(x, target, *_, ignore_index, **__):
    """The bounds of class numbers; as in MindSpore, negative ones count from the last class."""
    if _do_not_fit(x, target):
        return []
    count = x.shape[_class_axis(x)]
    return [Bounds(1, -count, count, ignore_index, CLASS)]


def _do_not_fit(x, target) -> bool:
    """Whether the shapes are wrong, which the operator tells itself: other numbers in a wrong
    shape are not to become integers."""
    return not x.ndim or target.shape != _places(x)


def _of_classes(x, target, *_, **__):
    """The bounds of class numbers that do not count from the last class."""
    if x.ndim != 2 or _do_not_fit(x, target):
        return []
    return [Bounds(1, 0, x.shape[1], what=CLASS)]


@op(
    "ops.nll_loss(inputs=x, target=target, weight=weight, ignore_index=ignore_index,"
    " reduction='mean', label_smoothing=smoothing)",
    indices=_class_numbers,
)
def nll_loss(x, target, weight=None, *, ignore_index=-100, reduction="mean", smoothing=0.0):
    """The negative log-likelihood of class numbers.

    Args:
        x: log-probabilities, [N, C], [N, C, …] or [C].
        target: class numbers, [N], [N, …] or a number.
        weight: [C], one for each class.
        ignore_index: a class number that does not count.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.
        smoothing: `label_smoothing`, the share of a target that is spread over all classes; 0 by
            default.

    Raises:
        ValueError: the shapes do not fit together, or the reduction is unknown.

    Example:
        >>> print(ops.nll_loss(Tensor([[-1.0, -2.0]]), Tensor([1])))
        2.0
    """
    return _negative_log(x, target, weight, ignore_index, reduction, smoothing)


def _strict(x, target, *_, ignore_index, **__):
    """The bounds of class numbers of `mint`: none counts from the last class."""
    if _do_not_fit(x, target):
        return []
    return [Bounds(1, 0, x.shape[_class_axis(x)], ignore_index, CLASS)]


@op(
    "mint.nn.functional.nll_loss(input=x, target=target, weight=weight, ignore_index=ignore_index,"
    " reduction='mean')",
    indices=_strict,
)
def mint_nll_loss(x, target, weight=None, *, ignore_index=-100, reduction="mean"):
    """The negative log-likelihood of class numbers; see `ops.nll_loss`.

    Args:
        x: log-probabilities, [N, C], [N, C, ...] or [C].
        target: class numbers from 0, [N], [N, ...] or a number.
        weight: [C], a factor for each class; None, the default, for 1.
        ignore_index: a class number that does not count, -100 by default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> print(mint.nn.functional.nll_loss(Tensor([[-1.0, -2.0]]), Tensor([1])))
        2.0
    """
    return _negative_log(x, target, weight, ignore_index, reduction, 0)


def _class_numbers_if_any(x, target, *others, **statics):
    """Those of `cross_entropy`, whose target may be probabilities."""
    if target.shape == x.shape and target.dtype.kind not in "iu":
        return []
    return _class_numbers(x, target, *others, **statics)


def _strict_if_any(x, target, *others, **statics):
    """As `_class_numbers_if_any`, for `mint`."""
    return _class_numbers_if_any(x, target, *others, **statics) and _strict(x, target, **statics)


@op(
    "ops.cross_entropy(input=x, target=target, weight=weight, ignore_index=ignore_index,"
    " reduction='mean', label_smoothing=smoothing)",
    indices=_class_numbers_if_any,
)
def cross_entropy(x, target, weight=None, *, ignore_index=-100, reduction="mean", smoothing=0.0):
    """The cross entropy of predictions and classes.

    Args:
        x: predictions before softmax, [N, C], [N, C, …] or [C].
        target: integer class numbers, [N], [N, …] or a number; or probabilities of x's shape.
        weight: [C], one for each class.
        ignore_index: a class number that does not count.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.
        smoothing: the share of a target that is spread over all classes.

    Raises:
        ValueError: the shapes do not fit together, or the reduction is unknown.

    Example:
        >>> print(ops.cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1])))
        0.6931472
    """
    if not 0 <= smoothing <= 1:
        raise ValueError(f"label_smoothing must be between 0 and 1, not {smoothing}.")
    if target.shape != x.shape or target.dtype.kind in "iu":
        _check_classes(x, target, or_probabilities=True)
    logs = _log_softmax(x)
    if target.shape != x.shape or target.dtype.kind in "iu":
        return _negative_log(logs, target, weight, ignore_index, reduction, smoothing)
    return _of_probabilities(logs, target, weight, reduction, smoothing)


@op(
    "mint.nn.functional.cross_entropy(input=x, target=target, weight=weight,"
    " ignore_index=ignore_index, reduction='mean', label_smoothing=smoothing)",
    indices=_strict_if_any,
)
def mint_cross_entropy(
    x, target, weight=None, *, ignore_index=-100, reduction="mean", smoothing=0.0
):
    """The cross entropy of predictions and classes; see `ops.cross_entropy`.

    Args:
        x: predictions before softmax, [N, C], [N, C, ...] or [C].
        target: class numbers from 0, [N], [N, ...] or a number; or probabilities in the shape of
            `x`.
        weight: [C], a factor for each class; None, the default, for 1.
        ignore_index: a class number that does not count, -100 by default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.
        smoothing: the share of a target that is spread over all classes, from 0 to 1; 0 by default.

    Example:
        >>> print(mint.nn.functional.cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1])))
        0.6931472
    """
    return cross_entropy.definition.function(
        x, target, weight, ignore_index=ignore_index, reduction=reduction, smoothing=smoothing
    )


def _of_probabilities(logs, target, weight, reduction, smoothing):
    check_reduction(reduction)
    axis = _class_axis(logs)
    target = target.astype(logs.dtype)
    if smoothing:
        spread = jnp.array(smoothing / logs.shape[axis], logs.dtype)
        target = target * jnp.array(1 - smoothing, logs.dtype) + spread
    products = target * logs
    if weight is not None:
        shape = [1] * logs.ndim
        shape[axis] = -1
        products = products * _class_weights(logs, weight).reshape(shape)
    return reduced(-sum_of(products, axis, dtype=logs.dtype), reduction)


@op(
    "NLLLoss(reduction='mean', ignore_index=-100)(logits=x, labels=target, weight=weight)",
    indices=lambda x, target, weight, *, ignore_index, reduction: [
        Bounds(1, 0, x.shape[1], ignore_index, CLASS)
    ],
)
def nll_with_weight(
    x, target, weight, *, ignore_index=-100, reduction="mean"
) -> tuple[Array, Array]:
    """The negative log-likelihood of class numbers, and the sum of the weights that counted.

    Args:
        x: log-probabilities, [N, C] or [N, C, ...].
        target: class numbers from 0, [N] or [N, ...].
        weight: [C], a factor for each class.
        ignore_index: a class number that does not count, -100 by default.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Example:
        >>> x, w = Tensor([[-1.0, -2.0]]), Tensor([1.0, 3.0])
        >>> [loss.item() for loss in ops.NLLLoss()(x, Tensor([1]), w)]
        [2.0, 3.0]
    """
    loss = _negative_log(x, target, weight, ignore_index, reduction, 0)
    target = target.astype(np.int32)
    counted = target != ignore_index
    shares = jnp.where(counted, weight[jnp.where(counted, target, 0)], 0)
    return loss, sum_of(shares, dtype=weight.dtype)


@op(
    "SoftmaxCrossEntropyWithLogits()(logits=x, labels=labels)",
    "ops.softmax_cross_entropy_with_logits(logits=x, labels=labels)",
)
def softmax_cross_entropy_with_logits(x, labels) -> tuple[Array, Array]:
    """The cross entropy of each row with a row of probabilities, and its gradient.

    Args:
        x: predictions before softmax, [N, C].
        labels: probabilities, [N, C].

    Returns:
        Losses [N] and gradients [N, C].

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> loss, slope = ops.SoftmaxCrossEntropyWithLogits()(
        ...     Tensor([[0.0, 0.0]]), Tensor([[0.0, 1.0]]))
        >>> print(loss, slope)
        [0.6931472] [[ 0.5 -0.5]]
    """
    if x.ndim != 2 or x.shape != labels.shape:
        raise ValueError(f"logits and labels must be [N, C], not {x.shape} and {labels.shape}.")
    logs = _log_softmax(x)
    labels = labels.astype(x.dtype)
    return -sum_of(labels * logs, 1, dtype=x.dtype), jnp.exp(logs) - labels


@op(
    "SparseSoftmaxCrossEntropyWithLogits(is_grad=False)(logits=x, labels=labels)",
    "ops.sparse_softmax_cross_entropy_with_logits(logits=x, labels=labels, is_grad=False)",
    indices=_of_classes,
)
def sparse_softmax_cross_entropy_with_logits(x, labels, *, is_grad=False):
    """The mean cross entropy of rows and class numbers; or, if `is_grad`, its gradient.

    Args:
        x: predictions before softmax, [N, C].
        labels: class numbers, [N].
        is_grad: whether the result is the gradient of the loss by `x`; False by default.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> loss = ops.SparseSoftmaxCrossEntropyWithLogits()
        >>> print(loss(Tensor([[0.0, 0.0]]), Tensor([1])))
        0.6931472
    """
    if x.ndim != 2:
        raise ValueError(f"logits must be [N, C], not {x.shape}.")
    _check_classes(x, labels)
    logs = _log_softmax(x)
    if not is_grad:
        return _negative_log(logs, labels, None, -1, "mean", 0)
    here = lax.broadcasted_iota(np.int32, x.shape, 1) == labels.astype(np.int32)[:, None]
    return (jnp.exp(logs) - here.astype(x.dtype)) / jnp.array(x.shape[0], x.dtype)


@op()
def cross_entropies_of_classes(x, labels):
    """The cross entropy of each row and its class number; 0 where there is no such class.

    Example:
        >>> from mycel.ops.nn.loss import cross_entropies_of_classes
        >>> print(cross_entropies_of_classes(Tensor([[0.0, 0.0], [1.0, 2.0]]), Tensor([1, 7])))
        [0.6931472 0.       ]
    """
    labels = labels.astype(np.int32)
    there = (labels >= 0) & (labels < x.shape[1])
    losses = -_picked(_log_softmax(x), jnp.where(there, labels, 0))
    return jnp.where(there, losses, jnp.zeros((), x.dtype))


# -- probabilities ----------------------------------------------------------------------------


@op(
    "ops.binary_cross_entropy(logits=x, labels=target, weight=weight, reduction=reduction)",
    "BinaryCrossEntropy(reduction='mean')(input=x, target=target, weight=weight)",
    "mint.nn.functional.binary_cross_entropy(input=x, target=target, weight=weight,"
    " reduction=reduction)",
    indices=lambda *_, **__: [Shares(0, 0, 2, what="probability")],
)
def binary_cross_entropy(x, target, weight=None, *, reduction="mean"):
    """The cross entropy of probabilities and targets: -target · log(x) - (1 - target) · log(1 - x).

    Probabilities below 1e-12 count as 1e-12 in the logarithms.

    Args:
        x: probabilities, from 0 to 1.
        target: numbers from 0 to 1, in the shape of `x`.
        weight: factors of the losses, which broadcast to the shape of `x`; None, the default, for
            1.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the shapes differ, or the reduction is unknown.
        RuntimeError: a probability lies outside of 0 to 1. What comes from `sigmoid` or `softmax`
            cannot; for others that a program makes, it is waited for.

    Example:
        >>> print(ops.binary_cross_entropy(Tensor([0.5]), Tensor([1.0])))
        0.6931472
    """
    if x.shape != target.shape:
        raise ValueError(f"x {x.shape} and target {target.shape} must have one shape.")
    x, target = broadcastable(x, target, "binary_cross_entropy")
    # In half precision the least that is told from 0 would be 0 itself.
    wide = np.promote_types(x.dtype, np.float32)
    losses = _two_class_entropy(x.astype(wide), target.astype(wide)).astype(x.dtype)
    return reduced(losses if weight is None else losses * weight.astype(x.dtype), reduction)


@jax.custom_jvp
def _two_class_entropy(x, target):
    yes, no = (jnp.log(jnp.maximum(p, _LEAST)) for p in (x, 1 - x))
    return -(target * yes + (1 - target) * no)


@_two_class_entropy.defjvp
def _(primals, tangents):
    x, target = primals
    # The logarithms are cut off, but not the slope: what is wrong and sure must be able to learn.
    by_x = (x - target) / jnp.maximum(x * (1 - x), _LEAST)
    by_target = jnp.log(jnp.maximum(1 - x, _LEAST)) - jnp.log(jnp.maximum(x, _LEAST))
    return _two_class_entropy(x, target), tangents[0] * by_x + tangents[1] * by_target


_LEAST = np.float32(1e-12)


@op(
    "ops.binary_cross_entropy_with_logits(input=x, target=target, weight=weight,"
    " pos_weight=positive, reduction=reduction)",
    "BCEWithLogitsLoss(reduction='mean')(input=x, target=target, weight=weight,"
    " posWeight=positive)",
    "mint.nn.functional.binary_cross_entropy_with_logits(input=x, target=target, weight=weight,"
    " reduction=reduction, pos_weight=positive)",
)
def binary_cross_entropy_with_logits(x, target, weight=None, positive=None, *, reduction="mean"):
    """The cross entropy of sigmoid(x) and probabilities, without losing small values.

    Args:
        x: any shape; integers are taken as Float32.
        target: numbers from 0 to 1, in the shape of `x`.
        weight: factors of the losses, which broadcast to the shape of `x`; None, the default, for
            1.
        positive: factors of the losses of what is expected to be 1, which broadcast to the shape of
            `x`; None, the default, for 1.
        reduction: 'mean' (the default), 'sum' or 'none', which keeps the losses of the elements.

    Raises:
        ValueError: the shapes differ, or the reduction is unknown.

    Example:
        >>> print(ops.binary_cross_entropy_with_logits(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """
    if x.shape != target.shape:
        raise ValueError(f"x {x.shape} and target {target.shape} must have one shape.")
    x, target = broadcastable(x, target, "binary_cross_entropy_with_logits")
    yes, no = jax.nn.log_sigmoid(x), jax.nn.log_sigmoid(-x)
    hit = target if positive is None else target * positive.astype(x.dtype)
    losses = -(hit * yes + (1 - target) * no)
    return reduced(losses if weight is None else losses * weight.astype(x.dtype), reduction)


@composite("SigmoidCrossEntropyWithLogits()(logits, label)")
def sigmoid_cross_entropy_with_logits(logits, label):
    """The cross entropy of sigmoid(logits) and probabilities, element by element.

    Example:
        >>> print(ops.SigmoidCrossEntropyWithLogits()(Tensor([0.0]), Tensor([1.0])))
        [0.6931472]
    """
    return binary_cross_entropy_with_logits(logits, label, reduction="none")


@op(
    "ops.kl_div(logits=x, labels=target, reduction=reduction)",
    "KLDivLoss(reduction='mean')(logits=x, labels=target)",
    "mint.nn.functional.kl_div(input=x, target=target, reduction=reduction, log_target=log_target)",
)
def kl_div(x, target, *, reduction="mean", log_target=False):
    """The Kullback-Leibler divergence of target probabilities from log-probabilities x.

    Args:
        x: logarithms of probabilities.
        target: probabilities, or their logarithms with `log_target`; the shapes are broadcast.
        reduction: 'mean' (the default), 'sum', 'none', or 'batchmean': the sum divided by the
            length of the first dimension.
        log_target: whether the target holds logarithms; False by default.

    Raises:
        ValueError: the shapes do not fit together, or the reduction is unknown.

    Example:
        >>> print(ops.kl_div(Tensor([0.0]), Tensor([1.0])))
        0.0
    """
    check_reduction(reduction, "batchmean")
    x, target = broadcastable(x, target, "kl_div")
    if log_target:
        losses = jnp.exp(target) * (target - x)
    else:
        there = target > 0
        logs = jnp.log(jnp.where(there, target, 1))
        losses = jnp.where(there, target * (logs - x), jnp.zeros((), x.dtype))
    if reduction == "batchmean":
        return reduced(losses, "sum") / jnp.array(x.shape[0], x.dtype)
    return reduced(losses, reduction)
