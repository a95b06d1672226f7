# SPDX-License-Identifier: Apache-2.0
"""Schedulers whose rates go up and down: cosine waves and cycles."""

from __future__ import annotations

import math
from collections.abc import Callable

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, assign
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import is_integer
from mycel.optim.group_schedulers import (
    LRScheduler,
    checked_optimizer,
    for_each_group,
    integer,
    real,
)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the rates at the start to eta_min in T_max epochs, and back.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.CosineAnnealingLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.CosineAnnealingLR(optimizer, 2)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = integer(T_max, "CosineAnnealingLR: T_max")
        self.eta_min = real(eta_min, "CosineAnnealingLR: eta_min")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        epoch = float(self.last_epoch)
        if epoch == 0:
            return self._kept()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            way = (1 - math.cos(math.pi / self.T_max)) / 2
            rows = zip(self._last_lr, self.base_lrs, strict=True)
            return [rate.value() + (base - self.eta_min) * way for rate, base in rows]
        now, before = self._height(epoch), self._height(epoch - 1)
        low = self.eta_min
        return [(rate.value() - low) * (now / before) + low for rate in self._last_lr]

    def _height(self, epoch: float) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _get_closed_form_lr(self):
        half = self._height(float(self.last_epoch)) / 2
        return [self.eta_min + (rate - self.eta_min) * half for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine wave from the rates at the start to eta_min, again and again.

    Args:
        T_0: the epochs of the first wave.
        T_mult: how many times longer each wave is than the last.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.CosineAnnealingWarmRestarts`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2)
        >>> scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0, last_epoch=-1):
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not is_integer(value) or value < 1:
                what = f"CosineAnnealingWarmRestarts: {name}"
                raise wrong(ValueError, what, "an integer above 0", repr(value))
        self.eta_min = real(eta_min, "CosineAnnealingWarmRestarts: eta_min")
        self.T_0, self.T_mult = T_0, T_mult
        self.T_i = Parameter(Tensor(T_0, float32), name="T_i")
        self.T_cur = Parameter(Tensor(last_epoch, float32), name="T_cur")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `T_cur` of a wave of `T_i` epochs."""
        half = (1 + math.cos(math.pi * float(self.T_cur) / float(self.T_i))) / 2
        return [self.eta_min + (rate - self.eta_min) * half for rate in self.base_lrs]

    def step(self, epoch=None) -> None:
        """Go one epoch further, or to this one, which may lie between two.

        Raises:
            ValueError: an epoch below 0.
        """
        if epoch is None:
            epoch = float(self.last_epoch) + 1
        epoch = float(epoch)
        if epoch < 0:
            raise wrong(ValueError, "epoch", "of at least 0", epoch)
        length, left = self.T_0, epoch
        while left >= length:
            left -= length
            length *= self.T_mult
        assign(self.T_cur, left)
        assign(self.T_i, length)
        assign(self.last_epoch, math.floor(epoch))
        for rate, value in zip(self._last_lr, self.get_lr(), strict=True):
            assign(rate, value)


class CyclicLR(LRScheduler):
    """The rates go up from base_lr to max_lr and down again, in cycles.

    Args:
        base_lr, max_lr: a number, or one for each group.
        step_size_up, step_size_down: the epochs up and down; None is as many down as up.
        mode: "triangular"; "triangular2" halves each cycle; "exp_range" shrinks by gamma.
        gamma: see "exp_range".
        scale_fn: a function in place of the mode's, of the number of the cycle, or with
            scale_mode="iterations" of the epoch.
        scale_mode: "cycle" or "iterations".

    Raises:
        ValueError: an unknown mode, or not one rate for each group.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.CyclicLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.CyclicLR(optimizer, 0.25, 0.75, 2)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn: Callable | None = None,
        scale_mode="cycle",
        last_epoch=-1,
    ):
        checked_optimizer(optimizer)
        lowest = for_each_group(base_lr, optimizer, "CyclicLR: base_lr")
        if last_epoch == -1:
            for rate, group in zip(lowest, optimizer.param_groups, strict=True):
                assign(group["lr"], rate)
        self.max_lrs = for_each_group(max_lr, optimizer, "CyclicLR: max_lr")
        up = float(step_size_up)
        self.total_step_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_up_ratio = up / self.total_step_size
        if scale_fn is None and mode not in _CYCLES:
            expected = f"one of {', '.join(map(repr, _CYCLES))}, or scale_fn given"
            raise wrong(ValueError, "CyclicLR: mode", expected, repr(mode))
        self.mode, self.gamma = mode, gamma
        self.scale_mode = scale_mode if scale_fn is not None else _CYCLES[mode][0]
        self._scale = scale_fn
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(float(rate), float32) for rate in lowest]

    def scale_fn(self, x) -> float:
        """What the height of a cycle is multiplied by."""
        if self._scale is not None:
            return self._scale(x)
        return _CYCLES[self.mode][1](self.gamma, x)

    def get_lr(self):
        """The rates at `last_epoch`."""
        epoch = float(self.last_epoch)
        cycle = math.floor(1 + epoch / self.total_step_size)
        x = 1.0 + epoch / self.total_step_size - cycle
        ratio = self.step_up_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else epoch)
        rows = zip(self.base_lrs, self.max_lrs, strict=True)
        return [base + (highest - base) * height * scale for base, highest in rows]


_CYCLES = {
    "triangular": ("cycle", lambda gamma, x: 1.0),
    "triangular2": ("cycle", lambda gamma, x: 2.0 ** (1 - x)),
    "exp_range": ("iterations", lambda gamma, x: gamma**x),
}
