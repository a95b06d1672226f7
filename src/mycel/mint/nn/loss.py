# SPDX-License-Identifier: Apache-2.0
"""Losses as Cells, with PyTorch's arguments; what they compute is that of `nn`."""

from __future__ import annotations

from mycel.kernel.record.tensor import Tensor
from mycel.mint.nn import functional
from mycel.nn import loss, margin_loss
from mycel.nn.checks import boolean
from mycel.nn.layers.declare import twin


@twin(loss.L1Loss, functional, reduction=loss.known_reduction)
class L1Loss(loss.L1Loss): ...


@twin(loss.MSELoss, functional, reduction=loss.known_reduction)
class MSELoss(loss.MSELoss): ...


@twin(loss.SmoothL1Loss, functional, reduction=loss.known_reduction)
class SmoothL1Loss(loss.LossBase): ...


class CrossEntropyLoss(loss.CrossEntropyLoss):
    """-log of the share that softmax gives the right class: input (C,), (N, C) or (N, C, …).

    Args:
        weight: a factor for each class, (C,).
        ignore_index: targets of this number count nothing.
        reduction: 'mean', 'sum' or 'none'.
        label_smoothing: the part of each target that is spread over all classes, 0 to 1.

    Raises:
        ValueError: label_smoothing out of range, or another reduction.

    Source: MindSpore's `mint.nn.CrossEntropyLoss`.

    Example:
        >>> print(mint.nn.CrossEntropyLoss()(Tensor([[0.0, 100.0]]), Tensor([0])))
        100.0
    """

    def construct(self, input, target) -> Tensor:
        """The cross entropies, weighted and reduced."""
        return super().construct(input, target)


class NLLLoss(loss.NLLLoss):
    """The negative of the input at the right class: input (N, C) or (N, C, …), logarithms.

    Args:
        weight: a factor for each class, (C,).
        ignore_index: targets of this number count nothing.
        reduction: 'mean', 'sum' or 'none'.

    Source: MindSpore's `mint.nn.NLLLoss`.

    Example:
        >>> print(mint.nn.NLLLoss()(Tensor([[-1.0, -2.0]]), Tensor([1])))
        2.0
    """

    def construct(self, input, target) -> Tensor:
        """The negative logarithms, weighted and reduced."""
        return super().construct(input, target)


class BCELoss(loss.BCELoss):
    """-log of the probability given to the right one of two answers.

    Args:
        weight: a factor for each entry.
        reduction: 'mean', 'sum' or 'none'.

    Source: MindSpore's `mint.nn.BCELoss`.

    Example:
        >>> print(mint.nn.BCELoss()(Tensor([0.5]), Tensor([1.0])))
        0.6931472
    """

    def construct(self, input, target) -> Tensor:
        """The cross entropies, weighted and reduced."""
        return super().construct(input, target)


class BCEWithLogitsLoss(loss.LossBase):
    """The cross entropy of sigmoid(input) and the target, without losing small values.

    Args:
        weight: a factor for each entry.
        reduction: 'mean', 'sum' or 'none'.
        pos_weight: a factor for the entries in question, broadcast from the right.

    Source: MindSpore's `mint.nn.BCEWithLogitsLoss`.

    Example:
        >>> print(mint.nn.BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean", pos_weight=None):
        super().__init__(reduction)
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, input, target) -> Tensor:
        """The cross entropies, weighted and reduced."""
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, self.reduction, self.pos_weight
        )


class KLDivLoss(loss.LossBase):
    """target · (log(target) - input): how far the distribution exp(input) lies from the target.

    Args:
        reduction: 'mean', 'sum', 'batchmean' or 'none'.
        log_target: whether targets are logarithms.

    Source: MindSpore's `mint.nn.KLDivLoss`.

    Example:
        >>> print(mint.nn.KLDivLoss("sum")(Tensor([0.0]), Tensor([1.0])))
        0.0
    """

    def __init__(self, reduction="mean", log_target=False):
        super().__init__("mean" if reduction == "batchmean" else reduction)
        self.reduction = reduction
        self.log_target = boolean(log_target, "KLDivLoss.log_target")

    def construct(self, input, target) -> Tensor:
        """The divergences, reduced."""
        return functional.kl_div(input, target, self.reduction, self.log_target)


@twin(margin_loss.SoftMarginLoss, functional, reduction=loss.known_reduction)
class SoftMarginLoss(loss.LossBase): ...


class CosineEmbeddingLoss(loss.CosineEmbeddingLoss):
    """1 - cos of the angle where the target is 1, max(0, cos - margin) where it is -1.

    Source: MindSpore's `mint.nn.CosineEmbeddingLoss`.

    Example:
        >>> x = Tensor([[1.0, 0.0]])
        >>> print(mint.nn.CosineEmbeddingLoss()(x, x * 2, Tensor([1])))
        0.0
    """

    def construct(self, input1, input2, target) -> Tensor:
        """The distances of directions, reduced."""
        return functional.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)
