# SPDX-License-Identifier: Apache-2.0
"""Loss scale managers: how a Model scales its loss, as MindSpore's programs choose it."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import is_number, number, positive_integer
from mycel.nn.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

# After so many overflows in a row nothing but an error helps.
MOST_OVERFLOWS = 1000
KEEPS_OVERFLOWING = (
    "The loss scale has overflowed {count} times in a row, although it is {scale}: the gradients "
    "are infinite or no number whatever it is. Look for the operator with mycel.debug, or train "
    "with a smaller learning rate."
)


class LossScaleManager:
    """The base of loss scale managers; a Model asks them what to do.

    Source: MindSpore's `mindspore.amp.LossScaleManager`.

    Example:
        >>> class Constant(ms.amp.LossScaleManager):
        ...     def get_loss_scale(self):
        ...         return 128.0
        >>> Constant().get_loss_scale()
        128.0
    """

    def get_loss_scale(self):
        """The loss scale."""

    def update_loss_scale(self, overflow):
        """Take note of whether a step overflowed."""

    def get_update_cell(self):
        """The Cell that changes the scale in a step, or None."""


class FixedLossScaleManager(LossScaleManager):
    """A loss scale that stays what it is.

    Args:
        loss_scale: what the loss is multiplied by, at least 1.
        drop_overflow_update: whether a step whose gradients overflow is left out. If not, the
            optimiser must be given the same `loss_scale`, by which it divides.

    Raises:
        ValueError: a scale below 1.

    Source: MindSpore's `mindspore.amp.FixedLossScaleManager`.

    Example:
        >>> manager = ms.amp.FixedLossScaleManager(1024.0, drop_overflow_update=False)
        >>> manager.get_loss_scale(), manager.get_update_cell()
        (1024.0, None)
    """

    def __init__(self, loss_scale=128.0, drop_overflow_update=True):
        what = "FixedLossScaleManager: loss_scale"
        self._loss_scale = number(loss_scale, what, "of at least 1", lambda n: n >= 1)
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self):
        """The loss scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether a step that overflows is left out."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow):
        """Nothing: the scale is fixed."""

    def get_update_cell(self):
        """A FixedLossScaleUpdateCell if steps may be left out, else None."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that falls with every overflow and grows after steps without one.

    Args:
        init_loss_scale: what it begins with, at least 1.
        scale_factor: what it is multiplied and divided by, above 0.
        scale_window: how many steps without overflow make it grow.

    Raises:
        TypeError, ValueError: one of them is out of range.

    Source: MindSpore's `mindspore.amp.DynamicLossScaleManager`.

    Example:
        >>> manager = ms.amp.DynamicLossScaleManager(init_loss_scale=1024, scale_window=2)
        >>> manager.update_loss_scale(True)
        >>> manager.get_loss_scale()
        512.0
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor=2, scale_window=2000):
        name = type(self).__name__
        self.loss_scale = number(
            init_loss_scale, f"{name}: init_loss_scale", "of at least 1", lambda n: n >= 1
        )
        self.scale_window = positive_integer(scale_window, f"{name}: scale_window")
        self.scale_factor = number(
            scale_factor, f"{name}: scale_factor", "above 0", lambda n: n > 0
        )
        self.increase_ratio = self.scale_factor
        self.decrease_ratio = 1 / self.scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = MOST_OVERFLOWS
        self.bad_step = 0

    def get_loss_scale(self):
        """The loss scale as `update_loss_scale` left it."""
        return self.loss_scale

    def update_loss_scale(self, overflow):
        """Take note of whether a step overflowed.

        Raises:
            RuntimeError: more than 1000 overflows in a row.
        """
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(KEEPS_OVERFLOWING.format(count=self.bad_step, scale=self.loss_scale))
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """True: a step that overflows is left out."""
        return True

    def get_update_cell(self):
        """A DynamicLossScaleUpdateCell with these settings."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)


def initial_scale(value, what: str) -> float:
    """The value, if it is a number of at least 1.

    Raises:
        TypeError: not a number.
        ValueError: below 1.
    """
    if not is_number(value):
        raise wrong(TypeError, what, "a number of at least 1", f"{type(value).__name__} {value!r}")
    return number(value, what, "of at least 1", lambda n: n >= 1)
