# SPDX-License-Identifier: Apache-2.0
"""A scheduler that looks at how well training goes."""

from __future__ import annotations

import math

from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, assign
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import number
from mycel.optim.group_schedulers import checked_optimizer, for_each_group


class ReduceLROnPlateau:
    """The rates times factor, when a number has not improved for more than patience epochs.

    Args:
        optimizer: an optimiser with `param_groups`.
        mode: "min" if smaller is better, "max" if larger is.
        threshold, threshold_mode: what improves: by a share ("rel") or by as much ("abs").
        cooldown: epochs after a reduction in which nothing is counted.
        min_lr: the lowest rate, or one for each group.
        eps: a smaller change of a rate is left out.

    Raises:
        TypeError: no such optimiser.
        ValueError: a factor of 1 or more, an unknown mode, or not one min_lr for each group.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.ReduceLROnPlateau`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.ReduceLROnPlateau(
        ...     optimizer, factor=0.5, patience=0)
        >>> done = scheduler.step(0.3), scheduler.step(0.4)
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        number(factor, "ReduceLROnPlateau: factor", "below 1", lambda n: n < 1)
        self.optimizer = checked_optimizer(optimizer)
        for name, value, known in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in known:
                expected = f"{known[0]!r} or {known[1]!r}"
                raise wrong(ValueError, f"ReduceLROnPlateau: {name}", expected, repr(value))
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.min_lrs = for_each_group(min_lr, optimizer, "ReduceLROnPlateau: min_lr")
        worst = math.inf if mode == "min" else -math.inf
        name = "last_epoch_ReduceLROnPlateau"
        self.last_epoch = Parameter(Tensor(0, int32), name=name)
        self.best = Parameter(Tensor(worst, float32), name="best")
        self.cooldown_counter = Parameter(Tensor(0.0), name="cooldown_counter")
        self.wait = Parameter(Tensor(0.0), name="wait")
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics) -> bool:
        """Look at the number of this epoch; True."""
        assign(self.last_epoch, self.last_epoch + 1)
        current = float(metrics)
        if self._is_improvement(current, float(self.best)):
            assign(self.best, current)
            assign(self.wait, 0.0)
        else:
            assign(self.wait, self.wait + 1)
        if self.in_cooldown():
            assign(self.cooldown_counter, self.cooldown_counter - 1)
            assign(self.wait, 0.0)
        if self.wait > self.patience:
            self._reduce_lr()
            assign(self.cooldown_counter, float(self.cooldown))
            assign(self.wait, 0.0)
        return True

    def _reduce_lr(self) -> None:
        for rate, lowest in zip(self._last_lr, self.min_lrs, strict=True):
            before = float(rate)
            lower = max(before * self.factor, float(lowest))
            if before > lower + self.eps:
                assign(rate, lower)

    def in_cooldown(self) -> bool:
        """Whether nothing is counted at present."""
        return bool(self.cooldown_counter > 0)

    def _is_improvement(self, current: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            limit = best * (1 + sign * self.threshold)
        else:
            limit = best + sign * self.threshold
        return current > limit if self.mode == "max" else current < limit

    def get_last_lr(self) -> list[Tensor]:
        """The rates of the groups now."""
        return [rate.value() for rate in self._last_lr]
