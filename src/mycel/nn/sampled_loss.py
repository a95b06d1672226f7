# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of a few drawn classes instead of all."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, positive_integer
from mycel.nn.loss import LossBase, tensors

# Makes the share of a class vanish.
_NEVER = -3.4e38


class SampledSoftmaxLoss(LossBase):
    """The cross entropy of the right classes and of a few others that are drawn.

    Each logit is corrected by the logarithm of how often its class is expected among the drawn.

    Args:
        num_sampled: how many classes are drawn, each at most once and all alike.
        num_classes: how many there are; num_true: right ones of each row.
        sampled_values: what was drawn elsewhere: the classes (S,), how often each right class is
            expected (N, num_true), how often each drawn one is (S,).
        remove_accidental_hits: classes drawn here that are right for a row do not count in it;
            those of sampled_values all do.
        seed: makes the draw repeat from run to run.

    Raises:
        TypeError: a number is not an integer, or `sampled_values` is not a tuple.
        ValueError: more classes are drawn than there are, or the reduction is unknown.

    Source: MindSpore's `mindspore.nn.SampledSoftmaxLoss`.

    Example:
        >>> loss = nn.SampledSoftmaxLoss(num_sampled=2, num_classes=2)
        >>> weights, biases = ops.zeros((2, 3), mycel.float32), ops.zeros((2,), mycel.float32)
        >>> print(loss(weights, biases, Tensor([[0]]), ops.ones((1, 3))))
        [0.6931472]
    """

    def __init__(
        self,
        num_sampled,
        num_classes,
        num_true=1,
        sampled_values=None,
        remove_accidental_hits=True,
        seed=0,
        reduction="none",
    ):
        super().__init__(reduction)
        name = "SampledSoftmaxLoss"
        self.num_classes = positive_integer(num_classes, f"{name}.num_classes")
        self.num_sampled = positive_integer(num_sampled, f"{name}.num_sampled")
        self.num_true = positive_integer(num_true, f"{name}.num_true")
        if max(num_sampled, num_true) > num_classes:
            expected = f"at most num_classes={num_classes}"
            actual = max(num_sampled, num_true)
            raise wrong(ValueError, f"{name}.num_sampled and num_true", expected, actual)
        if sampled_values is not None:
            if not isinstance(sampled_values, (tuple, list)):
                raise wrong(TypeError, f"{name}.sampled_values", "a tuple", repr(sampled_values))
            if len(sampled_values) != 3:
                raise wrong(ValueError, f"{name}.sampled_values", "3 Tensors", len(sampled_values))
        self.sampled_values = sampled_values
        self.remove_accidental_hits = boolean(
            remove_accidental_hits, f"{name}.remove_accidental_hits"
        )
        self.seed = seed

    def construct(self, weights, biases, labels, logits) -> Tensor:
        """The losses of (C, D) weights, (C,) biases, (N, num_true) labels and (N, D) inputs."""
        tensors(self, weights=weights, biases=biases, labels=labels, logits=logits)
        labels = labels.reshape(-1, self.num_true)
        drawn, true_count, drawn_count = self._drawn(logits.dtype)
        true = (ops.gather(weights, labels, 0) * logits.expand_dims(1)).sum(2)
        true = true + ops.gather(biases, labels, 0) - ops.log(true_count)
        others = ops.matmul(logits, ops.gather(weights, drawn, 0).T)
        others = others + ops.gather(biases, drawn, 0) - ops.log(drawn_count)
        if self.remove_accidental_hits and self.sampled_values is None:
            hits = (labels.expand_dims(2) == drawn.reshape(1, 1, -1)).any(1)
            others = ops.masked_fill(others, hits, _NEVER)
        logs = ops.log_softmax(ops.cat((true, others), 1), 1)
        return self.get_loss(-logs[:, : self.num_true].mean(1))

    def _drawn(self, dtype):
        """Classes, and the expected counts of the right and of the drawn ones."""
        if self.sampled_values is not None:
            return self.sampled_values
        order = ops.argsort(ops.rand(self.num_classes, seed=self.seed or None))
        share = ops.full((1,), self.num_sampled / self.num_classes, dtype=dtype)
        return order[: self.num_sampled], share, share
