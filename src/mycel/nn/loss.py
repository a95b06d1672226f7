# SPDX-License-Identifier: Apache-2.0
"""Losses as Cells: how far predictions lie from labels, as one number or one for each entry."""

from __future__ import annotations

from functools import partial
from typing import Any

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, number, one_of
from mycel.nn.layers.declare import layer
from mycel.nn.layers.inside import Beside, Inside, in_parts
from mycel.ops.math.statistics import root_of_squares
from mycel.ops.nn.loss import cross_entropies_of_classes

REDUCTIONS = ("mean", "sum", "none")


def tensors(owner: Cell, **inputs) -> None:
    """Raise unless every argument is a Tensor.

    Raises:
        TypeError: an argument is not a Tensor; the text names the loss and the argument.
    """
    for name, value in inputs.items():
        if not isinstance(value, Tensor):
            what = f"{type(owner).__name__}: {name}"
            raise wrong(TypeError, what, "a Tensor", f"{type(value).__name__} {value!r:.40}")


def known_reduction(value, what: str) -> str:
    """'mean', 'sum' or 'none'.

    Raises:
        ValueError: another word.
    """
    return one_of(value, what, REDUCTIONS)


def _class_number(value, what: str) -> int:
    if not is_integer(value):
        raise wrong(TypeError, what, "an integer", f"{type(value).__name__} {value!r}")
    return value


class LossBase(Cell):
    """The base of losses: your own computes one number for each entry and hands it to `get_loss`.

    Args:
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: the reduction is unknown.

    Source: MindSpore's `mindspore.nn.LossBase`.

    Example:
        >>> class Distance(nn.LossBase):
        ...     def construct(self, logits, labels):
        ...         return self.get_loss(ops.abs(logits - labels))
        >>> print(Distance("sum")(Tensor([1.0, 2.0]), Tensor([3.0, 3.0])))
        3.0
    """

    reduce_mean = Beside(lambda cell: ops.ReduceMean())
    reduce_sum = Beside(lambda cell: ops.ReduceSum())
    mul = Beside(lambda cell: ops.Mul())
    cast = Beside(lambda cell: ops.Cast())
    average = Beside(lambda cell: cell.reduction == "mean")
    reduce = Beside(lambda cell: cell.reduction != "none")

    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = known_reduction(reduction, f"{type(self).__name__}.reduction")

    def get_axis(self, x) -> tuple[int, ...]:
        """All dimensions of x."""
        return tuple(range(x.ndim))

    def get_loss(self, x, weights=1.0):
        """x, weighted and reduced.

        Example:
            >>> print(nn.LossBase("mean").get_loss(Tensor([1.0, 3.0]), 2.0))
            4.0
        """
        if not (isinstance(weights, float) and weights == 1.0):
            x = x * weights
        if self.reduction == "mean":
            return x.mean()
        return x.sum() if self.reduction == "sum" else x

    def construct(self, logits, labels) -> Any:
        """The loss; every subclass writes its own.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no construct(self, logits, labels).")


@layer(ops, "l1_loss", "nn.L1Loss(reduction='mean')(logits, labels)",
    "mint.nn.L1Loss(reduction='mean')(input, target)",
    accepts=tensors, reduction=known_reduction)  # fmt: skip
class L1Loss(LossBase):
    """|prediction - label| of each entry, reduced; both of one shape.

    Args:
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        1.0
        >>> print(mint.nn.L1Loss()(Tensor([1.0, 2.0]), Tensor([3.0, 2.0])))
        1.0
    """


class MAELoss(LossBase):
    """|logits - labels|, under the other name of L1Loss.

    Source: MindSpore's `mindspore.nn.MAELoss`.

    Example:
        >>> print(nn.MAELoss("sum")(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, logits, label) -> Tensor:
        """The distances, reduced."""
        tensors(self, logits=logits, label=label)
        return self.get_loss(ops.abs(logits - label))


@layer(ops, "mse_loss", "nn.MSELoss(reduction='mean')(logits, labels)",
    "mint.nn.MSELoss(reduction='mean')(input, target)",
    accepts=tensors, reduction=known_reduction)  # fmt: skip
class MSELoss(LossBase):
    """(prediction - label)² of each entry, reduced; both of one shape.

    Args:
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        2.0
        >>> print(mint.nn.MSELoss()(Tensor([1.0, 2.0]), Tensor([3.0, 2.0])))
        2.0
    """


class RMSELoss(LossBase):
    """√ of the mean of (logits - labels)².

    Source: MindSpore's `mindspore.nn.RMSELoss`.

    Example:
        >>> print(nn.RMSELoss()(Tensor([1.0, 2.0]), Tensor([4.0, 5.0])))
        3.0
    """

    def __init__(self):
        super().__init__()
        self.MSELoss = MSELoss()

    def construct(self, logits, label) -> Tensor:
        """The root of the mean square."""
        return root_of_squares(self.MSELoss(logits, label))


@layer(ops, "huber_loss", "nn.HuberLoss(reduction='mean', delta=1.0)(logits, labels)",
    accepts=tensors, reduction=known_reduction)  # fmt: skip
class HuberLoss(LossBase):
    """½·d² for distances d up to delta, delta·(d - ½·delta) beyond, reduced.

    Args:
        reduction: 'mean', 'sum' or 'none'.
        delta: where the parabola ends, above 0.

    Example:
        >>> print(nn.HuberLoss()(Tensor([1.0]), Tensor([4.0])))
        2.5
    """


@layer(ops, "smooth_l1_loss", "nn.SmoothL1Loss(beta=1.0, reduction='none')(logits, labels)",
    "mint.nn.SmoothL1Loss(reduction='mean', beta=1.0)(input, target)",
    accepts=tensors, reduction=known_reduction)  # fmt: skip
class SmoothL1Loss(LossBase):
    """½·d²/beta for distances d below beta, d - ½·beta beyond, reduced.

    Args:
        beta: where the parabola ends.
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.SmoothL1Loss()(Tensor([1.0, 2.0]), Tensor([4.0, 3.0])))
        [2.5 0.5]
        >>> print(mint.nn.SmoothL1Loss("none")(Tensor([1.0, 2.0]), Tensor([4.0, 3.0])))
        [2.5 0.5]
    """


def _by_steps(cell: SoftmaxCrossEntropyWithLogits, logits, labels) -> Tensor:
    """The same as `construct`, divided as the operator of this step was told."""
    whole = partial(type(cell).construct, cell)
    if not cell.sparse:
        return in_parts(cell, "softmax_cross_entropy", whole, logits, labels)
    if cell.reduction == "mean":
        return in_parts(cell, "sparse_softmax_cross_entropy", whole, logits, labels)
    return in_parts(cell, "softmax_cross_entropy", lambda x: whole(x, labels), logits)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """-log of the share that softmax gives the right class: logits (N, C).

    Args:
        sparse: labels are class numbers (N,); otherwise probabilities (N, C). A number that no
            class has is an error for the mean, and counts 0 for the other reductions.
        reduction: 'none' gives one number for each of N.
        is_grad: accepted; of older MindSpore, which wanted to be told of derivatives.

    Raises:
        TypeError: `sparse` is not a bool, or sparse labels are not integers.
        ValueError: the reduction is unknown, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.SoftmaxCrossEntropyWithLogits`.

    Example:
        >>> loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        >>> print(loss(Tensor([[0.0, 100.0]]), Tensor([0], mycel.int32)))
        100.0
    """

    softmax_cross_entropy = Inside(lambda cell: ops.SoftmaxCrossEntropyWithLogits(), _by_steps)
    sparse_softmax_cross_entropy = Inside(
        lambda cell: ops.SparseSoftmaxCrossEntropyWithLogits(), _by_steps
    )
    # Labels are not written out here; programs divide it.
    one_hot = Inside(lambda cell: ops.OneHot(), _by_steps)
    on_value = Beside(lambda cell: Tensor(1.0))
    off_value = Beside(lambda cell: Tensor(0.0))

    def __init__(self, sparse=False, reduction="none", is_grad=None):
        super().__init__(reduction)
        if is_grad is not None:
            name = "nn.SoftmaxCrossEntropyWithLogits"
            older(f"{name}(is_grad=...)", f"{name}(sparse=...), which has derivatives in any case")
        self.sparse = boolean(sparse, "SoftmaxCrossEntropyWithLogits.sparse")

    def construct(self, logits, labels) -> Tensor:
        """The cross entropies, reduced."""
        tensors(self, logits=logits, labels=labels)
        self._check(logits, labels)
        if not self.sparse:
            return ops.cross_entropy(logits, labels, reduction=self.reduction)
        if self.reduction == "mean":
            return ops.sparse_softmax_cross_entropy_with_logits(logits, labels)
        losses = cross_entropies_of_classes(logits, labels)
        return losses if self.reduction == "none" else losses.sum()

    def _check(self, logits, labels):
        what = "SoftmaxCrossEntropyWithLogits: labels"
        shape = logits.shape[:-1] if self.sparse else logits.shape
        if logits.ndim != 2 or labels.shape != shape:
            expected = f"of shape {shape} beside logits of shape {logits.shape}"
            if logits.ndim != 2:
                expected = "beside logits of two dimensions, (N, C)"
            raise wrong(ValueError, what, expected, f"shape {labels.shape}")
        if labels.dtype.is_inexact is self.sparse:
            expected = "class numbers of type Int32 or Int64" if self.sparse else "probabilities"
            raise wrong(TypeError, what, expected, f"{labels.dtype}")


class CrossEntropyLoss(LossBase):
    """-log of the share that softmax gives the right class: logits (C,), (N, C) or (N, C, …).

    Args:
        weight: a factor for each class, (C,).
        ignore_index: labels of this number count nothing.
        label_smoothing: the part of each label that is spread over all classes, 0 to 1.

    Raises:
        ValueError: `label_smoothing` is out of range, or the reduction is unknown.

    Source: MindSpore's `mindspore.nn.CrossEntropyLoss`.

    Example:
        >>> print(nn.CrossEntropyLoss()(Tensor([[0.0, 100.0]]), Tensor([0], mycel.int32)))
        100.0
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        name = "CrossEntropyLoss.label_smoothing"
        self.weight = weight
        self.ignore_index = _class_number(ignore_index, "CrossEntropyLoss.ignore_index")
        self.label_smoothing = number(label_smoothing, name, "from 0 to 1", lambda n: 0 <= n <= 1)

    def construct(self, logits, labels) -> Tensor:
        """The cross entropies, weighted and reduced."""
        tensors(self, logits=logits, labels=labels)
        return ops.cross_entropy(
            logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


@layer(ops, "nll_loss",
    "nn.NLLLoss(weight=None, ignore_index=-100, reduction='mean')(logits, labels)",
    accepts=tensors, ignore_index=_class_number, reduction=known_reduction)  # fmt: skip
class NLLLoss(LossBase):
    """-logits of the right class, for logits that are log-probabilities (N, C) or (N, C, …).

    Args:
        weight: a factor for each class, (C,).
        ignore_index: labels of this number count nothing.
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.NLLLoss()(Tensor([[-3.0, -0.5]]), Tensor([0], mycel.int32)))
        3.0
    """


@layer(ops, "binary_cross_entropy", "nn.BCELoss(weight=None, reduction='mean')(logits, labels)",
    accepts=tensors, reduction=known_reduction)  # fmt: skip
class BCELoss(LossBase):
    """Cross entropy of probabilities, each with a label from 0 to 1.

    Args:
        weight: a factor for each entry, of a shape that broadcasts.
        reduction: 'mean', 'sum' or 'none'.

    Example:
        >>> print(nn.BCELoss()(Tensor([0.5]), Tensor([1.0])))
        0.6931472
    """


class BCEWithLogitsLoss(LossBase):
    """Cross entropy of sigmoid(logits), each with a label from 0 to 1.

    Args:
        weight: a factor for each entry, of a shape that broadcasts.
        pos_weight: a factor for what a label near 1 contributes.

    Source: MindSpore's `mindspore.nn.BCEWithLogitsLoss`.

    Example:
        >>> print(nn.BCEWithLogitsLoss()(Tensor([-50.0]), Tensor([1.0])))
        50.0
    """

    def __init__(self, reduction="mean", weight=None, pos_weight=None):
        super().__init__(reduction)
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, logits, labels) -> Tensor:
        """The cross entropies, weighted and reduced."""
        tensors(self, logits=logits, labels=labels)
        return ops.binary_cross_entropy_with_logits(
            logits, labels, self.weight, self.pos_weight, self.reduction
        )


class KLDivLoss(LossBase):
    """labels · (log(labels) - logits), for logits that are log-probabilities.

    Args:
        reduction: 'mean', 'batchmean' (sum over the first dimension's length), 'sum' or 'none'.

    Source: MindSpore's `mindspore.nn.KLDivLoss`.

    Example:
        >>> print(nn.KLDivLoss("sum")(Tensor([0.0]), Tensor([1.0])))
        0.0
    """

    def __init__(self, reduction="mean"):
        super().__init__("none")
        known = (*REDUCTIONS, "batchmean")
        self.reduction = one_of(reduction, "KLDivLoss.reduction", known)

    def construct(self, logits, labels) -> Tensor:
        """The divergences, reduced."""
        tensors(self, logits=logits, labels=labels)
        return ops.kl_div(logits, labels, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target · (input1 - input2) + margin): the first should be larger where target is 1.

    Source: MindSpore's `mindspore.nn.MarginRankingLoss`.

    Example:
        >>> print(nn.MarginRankingLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1, input2, target) -> Tensor:
        """What is missing to the right order, reduced."""
        tensors(self, input1=input1, input2=input2, target=target)
        return self.get_loss(ops.relu(self.margin - target * (input1 - input2)))


class CosineEmbeddingLoss(LossBase):
    """1 - cos of the angle where target is 1, max(0, cos - margin) where it is -1.

    Source: MindSpore's `mindspore.nn.CosineEmbeddingLoss`.

    Example:
        >>> x = Tensor([[1.0, 0.0]])
        >>> print(nn.CosineEmbeddingLoss()(x, x * 2, Tensor([1], mycel.int32)))
        0.0
    """

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = number(margin, "CosineEmbeddingLoss.margin", "from -1 to 1", _unit)

    def construct(self, logits_x1, logits_x2, labels) -> Tensor:
        """The distances of directions, reduced."""
        tensors(self, logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        settings = self.margin, self.reduction
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, *settings)


def _unit(value) -> bool:
    return -1 <= value <= 1
