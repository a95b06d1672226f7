# SPDX-License-Identifier: Apache-2.0
"""Schedulers: they change the rates of an optimiser's groups at each call of `step`.

They belong outside of compiled steps: a scheduler reads its count, and a rate that changed is an
input of the step, which compiles nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, assign
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import is_integer, number
from mycel.optim.param_groups.optimizer import Optimizer


def checked_optimizer(optimizer) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        expected = "an optimiser with param_groups"
        raise wrong(TypeError, "The optimiser of a scheduler", expected, type(optimizer).__name__)
    return optimizer


def integer(value, what: str) -> int:
    if not is_integer(value):
        raise wrong(TypeError, what, "an integer", f"{type(value).__name__} {value!r:.40}")
    return value


def real(value, what: str) -> float:
    return number(value, what, "", lambda n: True)


def _factor(value, what: str, lowest_too: bool) -> float:
    fits = (lambda n: 0 <= n <= 1) if lowest_too else (lambda n: 0 < n <= 1)
    return number(value, what, "from 0 to 1" if lowest_too else "above 0, up to 1", fits)


def for_each_group(value, optimizer: Optimizer, what: str) -> list:
    """One value for each group: those of a list, or one for all."""
    count = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise wrong(ValueError, what, f"one for each of {count} groups", len(value))
        return list(value)
    return [value] * count


class LRScheduler:
    """The base of schedulers; your own writes `get_lr`, the rates at `last_epoch`.

    Args:
        optimizer: an optimiser with `param_groups`.
        last_epoch: the number of the last call of `step`; -1 begins.

    Raises:
        TypeError: no such optimiser, or `last_epoch` not an integer.
        ValueError: `last_epoch` is below -1.
        KeyError: it is not -1, and a group has no 'initial_lr'.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.LRScheduler`.

    Example:
        >>> from mycel.optim import experimental
        >>> class Halved(experimental.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [rate * 0.5 ** self.last_epoch for rate in self.base_lrs]
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = Halved(optimizer)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, last_epoch=-1):
        checked_optimizer(optimizer)
        if integer(last_epoch, "last_epoch") < -1:
            raise wrong(ValueError, "last_epoch", "of at least -1", last_epoch)
        for n, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"].value())
            elif "initial_lr" not in group:
                raise KeyError(f"Group {n} has no 'initial_lr' to go on from.")
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        name = f"last_epoch_{type(self).__name__}"
        self.last_epoch = Parameter(Tensor(last_epoch, float32), name=name)
        self.step()

    def get_lr(self):
        """The rates at `last_epoch`; every scheduler writes its own.

        Raises:
            NotImplementedError: in the base.
        """
        raise NotImplementedError(f"{type(self).__name__} has no get_lr(self).")

    def get_last_lr(self) -> list[Tensor]:
        """The rates of the groups now."""
        return [rate.value() for rate in self._last_lr]

    def step(self, epoch=None) -> bool:
        """Go one epoch further, or to this one; True."""
        if epoch is None:
            assign(self.last_epoch, self.last_epoch + 1)
            values = self.get_lr()
        else:
            assign(self.last_epoch, epoch)
            values = getattr(self, "_get_closed_form_lr", self.get_lr)()
        for rate, value in zip(self._last_lr, values, strict=True):
            assign(rate, value)
        return True

    def _kept(self) -> list[Tensor]:
        return self.get_last_lr()

    def _scaled(self, factor) -> list[Tensor]:
        return [rate.value() * factor for rate in self._last_lr]


class StepLR(LRScheduler):
    """The rates times gamma, every step_size epochs.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.StepLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.StepLR(optimizer, 1, 0.5)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = integer(step_size, "StepLR: step_size")
        if not isinstance(gamma, float):
            raise wrong(TypeError, "StepLR: gamma", "a float", type(gamma).__name__)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._kept()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self):
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [rate * factor for rate in self.base_lrs]


class LinearLR(LRScheduler):
    """The rates times a factor that goes from start_factor to end_factor in total_iters epochs.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.LinearLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> print(experimental.lr_scheduler.LinearLR(optimizer, 0.5).get_last_lr()[0])
        0.5
    """

    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        self.start_factor = _factor(start_factor, "LinearLR: start_factor", False)
        self.end_factor = _factor(end_factor, "LinearLR: end_factor", True)
        self.total_iters = integer(total_iters, "LinearLR: total_iters")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self._kept()
        growth = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * growth
        return self._scaled(1.0 + growth / before)

    def _get_closed_form_lr(self):
        share = min(self.total_iters, float(self.last_epoch)) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * share
        return [rate * factor for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rates times factor, until total_iters epochs have gone.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.ConstantLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> print(experimental.lr_scheduler.ConstantLR(optimizer, 0.5).get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        self.factor = _factor(factor, "ConstantLR: factor", True)
        self.total_iters = integer(total_iters, "ConstantLR: total_iters")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._kept()
        return [rate.value() / self.factor for rate in self._last_lr]

    def _get_closed_form_lr(self):
        factor = 1.0 if self.last_epoch >= self.total_iters else self.factor
        return [rate * factor for rate in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rates times gamma, every epoch.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.ExponentialLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.ExponentialLR(optimizer, 0.5)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, gamma, last_epoch=-1):
        if not isinstance(gamma, float):
            raise wrong(TypeError, "ExponentialLR: gamma", "a float", type(gamma).__name__)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        return self._kept() if self.last_epoch == 0 else self._scaled(self.gamma)

    def _get_closed_form_lr(self):
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The rates fall to 0 in total_iters epochs, as a power of the share that is left.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.PolynomialLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.PolynomialLR(optimizer, 2)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        if not isinstance(power, float):
            raise wrong(TypeError, "PolynomialLR: power", "a float", type(power).__name__)
        self.power = number(power, "PolynomialLR: power", "of at least 0", lambda n: n >= 0)
        self.total_iters = integer(total_iters, "PolynomialLR: total_iters")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self._kept()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / before) ** self.power)

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, float(self.last_epoch)) / self.total_iters
        return [rate * left**self.power for rate in self.base_lrs]


class LambdaLR(LRScheduler):
    """The rates at the start, times what a function of the epoch returns.

    Args:
        lr_lambda: the function, or one for each group.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.LambdaLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5 ** epoch)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        checked_optimizer(optimizer)
        self.lr_lambdas = for_each_group(lr_lambda, optimizer, "LambdaLR: lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        rows = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [rate * factor(self.last_epoch.value()) for factor, rate in rows]


class MultiplicativeLR(LRScheduler):
    """The rates of the last epoch, times what a function of the epoch returns.

    Args:
        lr_lambda: the function, or one for each group.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.MultiplicativeLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        checked_optimizer(optimizer)
        self.lr_lambdas = for_each_group(lr_lambda, optimizer, "MultiplicativeLR: lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        if self.last_epoch <= 0:
            return self._kept()
        rows = zip(self.lr_lambdas, self._last_lr, strict=True)
        return [rate.value() * factor(self.last_epoch.value()) for factor, rate in rows]


class MultiStepLR(LRScheduler):
    """The rates times gamma, at each of the milestones.

    Args:
        milestones: a list of epochs.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.MultiStepLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> scheduler = experimental.lr_scheduler.MultiStepLR(optimizer, [1, 5], 0.5)
        >>> done = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        if not isinstance(milestones, list):
            expected = "a list of integers"
            raise wrong(TypeError, "MultiStepLR: milestones", expected, type(milestones).__name__)
        for milestone in milestones:
            integer(milestone, "Each of the milestones of MultiStepLR")
        self.milestones = Counter(milestones)
        self.gamma = real(gamma, "MultiStepLR: gamma")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates at `last_epoch`."""
        times = self.milestones[int(self.last_epoch)]
        return self._scaled(self.gamma**times) if times else self._kept()

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), int(self.last_epoch))
        return [rate * self.gamma**passed for rate in self.base_lrs]


class SequentialLR:
    """Several schedulers of one optimiser, each until the next milestone.

    Args:
        optimizer: the optimiser of all of them.
        schedulers: a list of schedulers.
        milestones: the epochs at which the next one begins, one fewer than schedulers.

    Raises:
        ValueError: schedulers of another optimiser, or not one milestone fewer.

    Source: MindSpore's `mindspore.experimental.optim.lr_scheduler.SequentialLR`.

    Example:
        >>> from mycel.optim import experimental
        >>> optimizer = experimental.SGD([Parameter(Tensor(1.0), name="w")], 1.0)
        >>> first = experimental.lr_scheduler.ConstantLR(optimizer, 0.5)
        >>> second = experimental.lr_scheduler.ExponentialLR(optimizer, 0.5)
        >>> scheduler = experimental.lr_scheduler.SequentialLR(optimizer, [first, second], [1])
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if any(scheduler.optimizer is not optimizer for scheduler in schedulers):
            expected = "all of the optimiser that is given"
            raise wrong(ValueError, "SequentialLR: schedulers", expected, "one of another")
        if len(milestones) != len(schedulers) - 1:
            expected = f"{len(schedulers) - 1}, one fewer than schedulers"
            raise wrong(ValueError, "SequentialLR: milestones", expected, len(milestones))
        self.optimizer = optimizer
        self._schedulers = schedulers
        self.milestones = milestones
        self.last_epoch = Parameter(Tensor(last_epoch + 1, float32), name="last_epoch_SequentialLR")
        for group in optimizer.param_groups:
            assign(group["lr"], group["initial_lr"])
        for scheduler in schedulers:
            assign(scheduler.last_epoch, scheduler.last_epoch - 1)
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    def step(self) -> None:
        """Go one epoch further."""
        assign(self.last_epoch, self.last_epoch + 1)
        epoch = int(self.last_epoch)
        chosen = bisect_right(self.milestones, epoch)
        scheduler = self._schedulers[chosen]
        if chosen > 0 and self.milestones[chosen - 1] == epoch:
            scheduler.step(0)
        else:
            scheduler.step()

    def get_last_lr(self) -> list[Tensor]:
        """The rates of the groups now."""
        return [rate.value() for rate in self._last_lr]
