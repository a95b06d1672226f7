# SPDX-License-Identifier: Apache-2.0
"""Losses by margins, of sequences and of overlaps, as Cells."""

from __future__ import annotations

import math

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, number
from mycel.nn.layers.activation import get_activation
from mycel.nn.layers.declare import layer
from mycel.nn.loss import LossBase, known_reduction, tensors
from mycel.ops.math.statistics import root_of_squares


@layer(ops, "soft_margin_loss", "nn.SoftMarginLoss(reduction='mean')(logits, labels)",
    "mint.nn.SoftMarginLoss(reduction='mean')(input, target)",
    reduction=known_reduction)  # fmt: skip
class SoftMarginLoss(LossBase):
    """log(1 + exp(-label · prediction)) of each entry, reduced, for labels 1 and -1.

    Args:
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.SoftMarginLoss()(Tensor([0.0]), Tensor([1.0])))
        0.6931472
        >>> print(mint.nn.SoftMarginLoss()(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """


class MultiMarginLoss(LossBase):
    """How far each class comes within a margin of the right one: max(0, margin - x[t] + x[i])^p.

    Args:
        p: 1 or 2.
        weight: a factor for each right class, (C,); also a third argument of the call.

    Raises:
        TypeError: margin is not a number.
        ValueError: p is neither 1 nor 2, or the reduction is unknown.

    Source: MindSpore's `mindspore.nn.MultiMarginLoss`.

    Example:
        >>> print(nn.MultiMarginLoss()(Tensor([[1.0, 0.5]]), Tensor([0])))
        0.25
    """

    def __init__(self, p=1, margin=1.0, reduction="mean", weight=None):
        super().__init__(reduction)
        if p not in (1, 2):
            raise wrong(ValueError, "MultiMarginLoss.p", "1 or 2", repr(p))
        self.p = p
        self.margin = number(margin, "MultiMarginLoss.margin", "of any size", lambda _: True)
        self.weight = weight

    def construct(self, x, target, weight=None) -> Tensor:
        """The losses, weighted and reduced."""
        weight = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


@layer(ops, "multilabel_margin_loss", "nn.MultilabelMarginLoss(reduction='mean')(x, target)",
    reduction=known_reduction)  # fmt: skip
class MultilabelMarginLoss(LossBase):
    """How far other classes come within 1 of the labelled ones, over the number of classes.

    In a row of `target` the class numbers end with -1: x and target are (C,) or (N, C).

    Args:
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.MultilabelMarginLoss()(Tensor([[1.0, 0.5]]), Tensor([[0, -1]])))
        0.25
    """


@layer(ops, "multilabel_soft_margin_loss",
    "nn.MultiLabelSoftMarginLoss(weight=None, reduction='mean')(x, target)",
    reduction=known_reduction)  # fmt: skip
class MultiLabelSoftMarginLoss(LossBase):
    """The cross entropy of sigmoid(x) for each class, and its mean over the classes: x (N, C).

    Args:
        weight: a factor for each class, (C,).
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.MultiLabelSoftMarginLoss()(Tensor([[0.0]]), Tensor([[1.0]])))
        0.6931472
    """


class TripletMarginLoss(LossBase):
    """max(0, distance of x to the positive - distance to the negative + margin), for rows.

    Args:
        p: of the norm of a difference, to each element of which eps is added.
        swap: take the distance from positive to negative if that is the smaller one.
        margin: also a fourth argument of the call.

    Raises:
        TypeError: p or eps are not numbers, or swap is not a bool.

    Source: MindSpore's `mindspore.nn.TripletMarginLoss`.

    Example:
        >>> x, near, far = Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]), Tensor([[0.0, 2.0]])
        >>> print(nn.TripletMarginLoss(eps=0.0)(x, near, far))
        4.0
    """

    def __init__(self, p=2, swap=False, eps=1e-06, reduction="mean", margin=1.0):
        super().__init__(reduction)
        self.p = number(p, "TripletMarginLoss.p", "above 0", lambda n: n > 0)
        self.swap = boolean(swap, "TripletMarginLoss.swap")
        self.eps = number(eps, "TripletMarginLoss.eps", "not below 0", lambda n: n >= 0)
        self.margin = number(margin, "TripletMarginLoss.margin", "of any size", lambda _: True)

    def construct(self, x, positive, negative, margin=None) -> Tensor:
        """The losses, reduced."""
        margin = self.margin if margin is None else margin
        settings = self.p, self.eps, self.swap, self.reduction
        return ops.triplet_margin_loss(x, positive, negative, margin, *settings)


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, distance to the positive - distance to the negative + margin), of any distance.

    Args:
        distance_function: two Tensors to one number for each row; None is the length of the
            difference.
        swap: take the distance from positive to negative if that is the smaller one.

    Raises:
        TypeError: swap is not a bool, or margin is not a number.

    Source: MindSpore's `mindspore.nn.TripletMarginWithDistanceLoss`.

    Example:
        >>> loss = nn.TripletMarginWithDistanceLoss(lambda a, b: ops.abs(a - b).sum(1))
        >>> print(loss(Tensor([[0.0]]), Tensor([[3.0]]), Tensor([[1.0]])))
        3.0
    """

    def __init__(self, distance_function=None, swap=False, reduction="mean", margin=1.0):
        super().__init__(reduction)
        what = "TripletMarginWithDistanceLoss"
        self.distance_function = distance_function
        self.swap = boolean(swap, f"{what}.swap")
        self.margin = number(margin, f"{what}.margin", "of any size", lambda _: True)

    def construct(self, x, positive, negative) -> Tensor:
        """The losses, reduced."""
        distance = self.distance_function or _row_distance
        away = distance(x, negative)
        if self.swap:
            away = ops.minimum(away, distance(positive, negative))
        return self.get_loss(ops.relu(distance(x, positive) - away + self.margin))


def _row_distance(a, b):
    away = a - b
    return root_of_squares((away * away).sum(1))


class GaussianNLLLoss(LossBase):
    """The negative log-likelihood of labels under normal distributions.

    Args:
        full: count the constant ½ log 2π too; eps: the least that a variance counts as.

    Raises:
        TypeError: full is not a bool, or eps not a number.
        ValueError: eps is not positive.

    Source: MindSpore's `mindspore.nn.GaussianNLLLoss`.

    Example:
        >>> print(nn.GaussianNLLLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """

    def __init__(self, *, full=False, eps=1e-06, reduction="mean"):
        super().__init__(reduction)
        self.full = boolean(full, "GaussianNLLLoss.full")
        self.eps = number(eps, "GaussianNLLLoss.eps", "above 0", lambda n: n > 0)

    def construct(self, logits, labels, var) -> Tensor:
        """The losses of means, labels and variances, reduced."""
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """logits where labels are 1, max(0, margin - logits) where they are -1.

    Source: MindSpore's `mindspore.nn.HingeEmbeddingLoss`.

    Example:
        >>> print(nn.HingeEmbeddingLoss(reduction="sum")(Tensor([0.5, 0.25]), Tensor([1, -1])))
        1.25
    """

    def __init__(self, margin=1.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = number(margin, "HingeEmbeddingLoss.margin", "of any size", lambda _: True)

    def construct(self, logits, labels) -> Tensor:
        """The losses, reduced."""
        tensors(self, logits=logits, labels=labels)
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class PoissonNLLLoss(LossBase):
    """The negative log-likelihood of counts: exp(x) - target · x.

    Args:
        log_input: x is the logarithm of the mean; otherwise x - target · log(x).
        full: add the logarithm of the factorial of the target, by Stirling, where it is above 1.
        eps: the least that x counts as in a logarithm.

    Source: MindSpore's `mindspore.nn.PoissonNLLLoss`.

    Example:
        >>> print(nn.PoissonNLLLoss()(Tensor([0.0]), Tensor([2.0])))
        1.0
    """

    def __init__(self, log_input=True, full=False, eps=1e-08, reduction="mean"):
        super().__init__(reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def construct(self, input, target) -> Tensor:
        """The losses, reduced."""
        tensors(self, input=input, target=target)
        if self.log_input:
            losses = ops.exp(input) - target * input
        else:
            losses = input - target * ops.log(input + self.eps)
        if self.full:
            count = ops.select(target > 1, target, ops.ones_like(target))
            more = count * ops.log(count) - count + 0.5 * ops.log(2 * math.pi * count)
            losses = losses + ops.select(target > 1, more, ops.zeros_like(target))
        return self.get_loss(losses)


class CTCLoss(LossBase):
    """The negative log-likelihood of labels, summed over all places at which they can stand.

    Args:
        blank: the class that stands for no label.
        reduction: 'mean' divides each loss by its number of labels first.
        zero_infinity: labels that cannot stand in so few steps count 0 instead of infinity.

    Source: MindSpore's `mindspore.nn.CTCLoss`.

    Example:
        >>> logs = ops.log_softmax(ops.zeros((1, 1, 2), mycel.float32))
        >>> print(nn.CTCLoss(1)(logs, Tensor([[0]]), Tensor([1]), Tensor([1])))
        0.6931472
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths) -> Tensor:
        """The loss of (T, N, C) log-probabilities and (N, S) class numbers, reduced.

        (T, C) with (S,) is one sequence, whose loss has no dimension; lengths may be numbers or
        tuples of them.
        """
        single = log_probs.ndim == 2
        if single:
            log_probs = log_probs.expand_dims(1)
            targets = targets.expand_dims(0) if targets.ndim == 1 else targets
        steps, labels = (
            _lengths(given, log_probs.shape[1]) for given in (input_lengths, target_lengths)
        )
        settings = self.blank, self.reduction, self.zero_infinity
        loss = ops.ctc_loss(log_probs, targets, steps, labels, *settings)[0]
        return loss.reshape(()) if single else loss


def _lengths(lengths, count):
    """One length for each sequence."""
    if isinstance(lengths, Tensor):
        return lengths.reshape(-1) if lengths.ndim else ops.broadcast_to(lengths, (count,))
    return Tensor([lengths] * count if isinstance(lengths, int) else list(lengths))


class DiceLoss(LossBase):
    """1 - 2 · shared / (both together): how little two maps of probabilities overlap.

    Args:
        smooth: added to what is divided by, so that it is not 0.

    Raises:
        TypeError: smooth is not a number.
        ValueError: smooth is not positive, or the shapes differ.

    Source: MindSpore's `mindspore.nn.DiceLoss`.

    Example:
        >>> print(nn.DiceLoss(1.0)(Tensor([[1.0, 0.0]]), Tensor([[1.0, 1.0]])))
        0.5
    """

    def __init__(self, smooth=1e-5):
        super().__init__()
        self.smooth = number(smooth, "DiceLoss.smooth", "above 0", lambda n: n > 0)

    def construct(self, logits, label) -> Tensor:
        """One number for all elements together."""
        tensors(self, logits=logits, label=label)
        if logits.shape != label.shape:
            actual = f"shape {label.shape}"
            raise wrong(ValueError, "DiceLoss: label", f"of shape {logits.shape}", actual)
        both = (logits * logits).sum() + (label * label).sum() + self.smooth
        return 1 - 2 * (logits * label).sum() / both


class MultiClassDiceLoss(LossBase):
    """The mean of DiceLoss over the classes, dimension 1.

    Args:
        weights: a row of factors for each class, (C, …).
        ignore_indiex: the number of a class that does not count.
        activation: of the logits: a name, a Cell, or None.

    Raises:
        TypeError: the weights are not a Tensor, or `ignore_indiex` is not an integer.
        ValueError: the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.MultiClassDiceLoss`.

    Example:
        >>> loss = nn.MultiClassDiceLoss(activation="relu")
        >>> print(loss(Tensor([[1.0, 0.0]]), Tensor([[1.0, 1.0]])))
        0.50000...
    """

    def __init__(self, weights=None, ignore_indiex=None, activation="softmax"):
        super().__init__()
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        if weights is not None and (not isinstance(weights, Tensor) or weights.ndim != 2):
            actual = getattr(weights, "shape", type(weights).__name__)
            raise wrong(TypeError, "MultiClassDiceLoss.weights", "a Tensor (C, …)", actual)
        self.weights = weights
        self.ignore_indiex = ignore_indiex
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, logits, label) -> Tensor:
        """The losses of the classes, weighted, over their number."""
        tensors(self, logits=logits, label=label)
        classes = label.shape[1]
        if logits.shape != label.shape:
            actual = f"shape {label.shape}"
            raise wrong(ValueError, "MultiClassDiceLoss: label", f"of shape {logits.shape}", actual)
        if self.weights is not None and self.weights.shape[0] != classes:
            expected = f"of {classes} rows, one for each class"
            actual = f"shape {self.weights.shape}"
            raise wrong(ValueError, "MultiClassDiceLoss.weights", expected, actual)
        if self.activation is not None:
            logits = self.activation(logits)
        total = 0
        for place in range(classes):
            if place == self.ignore_indiex:
                continue
            loss = self.binarydiceloss(logits[:, place], label[:, place])
            total = total + (loss if self.weights is None else loss * self.weights[place])
        return total / classes


class FocalLoss(LossBase):
    """-(1 - p)^gamma · log p for the share p that softmax gives the right class.

    Args:
        weight: a factor for each class, (C,).
        gamma: the larger, the less count what is nearly right.

    Raises:
        TypeError: gamma is not a float, or weight not a Tensor.
        ValueError: the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.FocalLoss`.

    Example:
        >>> print(nn.FocalLoss(gamma=1.0)(Tensor([[0.0, 0.0]]), Tensor([[1]])))
        0.3465736
    """

    def __init__(self, weight=None, gamma=2.0, reduction="mean"):
        super().__init__(reduction)
        if not isinstance(gamma, float):
            actual = f"{type(gamma).__name__} {gamma!r}"
            raise wrong(TypeError, "FocalLoss.gamma", "a float", actual)
        if weight is not None and not isinstance(weight, Tensor):
            raise wrong(TypeError, "FocalLoss.weight", "a Tensor (C,)", repr(weight))
        self.gamma = gamma
        self.weight = weight

    def construct(self, logits, labels) -> Tensor:
        """The losses of (N, C, …) logits, reduced.

        Labels are class numbers (N, 1, …), and each of N has the mean of its places as its loss; or
        factors (N, C, …) for all classes.
        """
        tensors(self, logits=logits, labels=labels)
        self._check(logits, labels)
        logits = logits.reshape(*logits.shape[:2], -1)
        labels = labels.reshape(*labels.shape[:2], -1)
        logs = ops.log_softmax(logits, 1)
        if labels.shape[1] == 1 and logits.shape[1] != 1:
            return self.get_loss(self._of_classes(logs, labels))
        factors = labels.astype(logs.dtype)
        if self.weight is not None:
            factors = factors * self.weight.astype(logs.dtype).reshape(1, -1, 1)
        losses = -((1 - ops.exp(logs)) ** self.gamma) * logs * factors
        return self.get_loss(losses.mean(-1))

    def _of_classes(self, logs, labels):
        numbers = labels.astype("int32")
        picked = ops.gather_elements(logs, 1, numbers).reshape(logs.shape[0], -1)
        losses = -((1 - ops.exp(picked)) ** self.gamma) * picked
        if self.weight is not None:
            factors = ops.gather(self.weight, numbers.reshape(logs.shape[0], -1), 0)
            losses = losses * factors.astype(logs.dtype)
        return losses.mean(-1)

    def _check(self, logits, labels):
        what = "FocalLoss: labels"
        alike = logits.ndim == labels.ndim and logits.shape[2:] == labels.shape[2:]
        if not alike or logits.ndim not in (2, 3, 4):
            expected = f"(N, 1, …) or (N, C, …) beside logits of shape {logits.shape}"
            raise wrong(ValueError, what, expected, f"shape {labels.shape}")
        if labels.shape[1] not in (1, logits.shape[1]):
            expected = f"of 1 or {logits.shape[1]} channels"
            raise wrong(ValueError, what, expected, f"shape {labels.shape}")
