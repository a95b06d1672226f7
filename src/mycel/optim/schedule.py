# SPDX-License-Identifier: Apache-2.0
"""Learning rates over time: as Cells of the step, and as lists made beforehand."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell import op
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, positive_integer
from mycel.ops.common import quotient


class LearningRateSchedule(Cell):
    """The base of learning rates that depend on the step; your own writes `construct`.

    Source: MindSpore's `mindspore.nn.learning_rate_schedule.LearningRateSchedule`.

    Example:
        >>> class Halved(mycel.optim.LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 0.5 ** global_step.astype(mycel.float32)
        >>> print(Halved()(Tensor(2, mycel.int32)))
        0.25
    """

    def construct(self, global_step):
        """The rate at a step; every subclass writes its own.

        Raises:
            NotImplementedError: in the base.
        """
        raise NotImplementedError(f"{type(self).__name__} has no construct(self, global_step).")


def _steps(step, length, stair: bool):
    """step / length in Float32, cut to a whole number for a staircase."""
    share = quotient(step.astype(np.float32), np.float32(length))
    return jnp.floor(share) if stair else share


@op()
def exponential_rate(step, *, rate, decay, length, stair):
    """rate · decay ^ (step / length)."""
    return np.float32(rate) * jnp.power(np.float32(decay), _steps(step, length, stair))


@op()
def natural_rate(step, *, rate, decay, length, stair):
    """rate · exp(-decay · step)."""
    steps = step.astype(np.float32)
    if stair:
        steps = _steps(step, length, True) * np.float32(length)
    return np.float32(rate) * jnp.exp(np.float32(-decay) * steps)


@op()
def inverse_rate(step, *, rate, decay, length, stair):
    """rate / (1 + decay · step / length)."""
    return np.float32(rate) / (1 + np.float32(decay) * _steps(step, length, stair))


@op()
def cosine_rate(step, *, low, high, length):
    """Half a cosine wave from high to low."""
    share = jnp.minimum(_steps(step, length, False), np.float32(1))
    half = np.float32(0.5 * (high - low))
    return np.float32(low) + half * (1 + jnp.cos(np.float32(math.pi) * share))


@op()
def polynomial_rate(step, *, rate, end, length, power, again):
    """A power of the time that is left, from rate to end."""
    steps = step.astype(np.float32)
    length = np.float32(length)
    if again:
        length = length * jnp.maximum(jnp.ceil(quotient(steps, length)), np.float32(1))
    left = 1 - quotient(jnp.minimum(steps, length), length)
    return np.float32(rate - end) * jnp.power(left, np.float32(power)) + np.float32(end)


@op()
def warm_up_rate(step, *, rate, length):
    """rate · step / length, at most rate."""
    return np.float32(rate) * jnp.minimum(_steps(step, length, False), np.float32(1))


def _float(value, what: str, lowest: float | None = 0.0, above: bool = True) -> float:
    """The value, if it is a float above (or at least) `lowest`."""
    if not isinstance(value, float):
        raise wrong(TypeError, what, "a float", f"{type(value).__name__} {value!r}")
    if lowest is not None and (value <= lowest if above else value < lowest):
        expected = f"a float {'above' if above else 'of at least'} {lowest}"
        raise wrong(ValueError, what, expected, value)
    return value


def _bounds(low, high, owner: str) -> None:
    _float(low, f"{owner}: min_lr", 0.0, above=False)
    if _float(high, f"{owner}: max_lr") <= low:
        raise wrong(ValueError, f"{owner}: max_lr", f"above min_lr={low}", high)


class _Decay(LearningRateSchedule):
    """What the three decaying schedules share: rate, decay, length and stair."""

    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        name = type(self).__name__
        self.learning_rate = _float(learning_rate, f"{name}: learning_rate", 0.0, above=False)
        self.decay_rate = _float(decay_rate, f"{name}: decay_rate")
        self.decay_steps = positive_integer(decay_steps, f"{name}: decay_steps")
        self.is_stair = boolean(is_stair, f"{name}: is_stair")

    def _settings(self):
        return self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair


class ExponentialDecayLR(_Decay):
    """learning_rate · decay_rate ^ (step / decay_steps); whole powers only with `is_stair`.

    Raises:
        TypeError, ValueError: arguments of another type, or not positive.

    Source: MindSpore's `mindspore.nn.ExponentialDecayLR`.

    Example:
        >>> print(nn.ExponentialDecayLR(0.5, 0.5, 2)(Tensor(4, mycel.int32)))
        0.125
    """

    def construct(self, global_step) -> Any:
        """The rate at a step."""
        return exponential_rate(global_step, *self._settings())


class NaturalExpDecayLR(_Decay):
    """learning_rate · exp(-decay_rate · step), in stairs of decay_steps with `is_stair`.

    Source: MindSpore's `mindspore.nn.NaturalExpDecayLR`.

    Example:
        >>> print(nn.NaturalExpDecayLR(0.5, 0.9, 2)(Tensor(0, mycel.int32)))
        0.5
    """

    def construct(self, global_step) -> Any:
        """The rate at a step."""
        return natural_rate(global_step, *self._settings())


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate · step / decay_steps); whole shares only with `is_stair`.

    Source: MindSpore's `mindspore.nn.InverseDecayLR`.

    Example:
        >>> print(nn.InverseDecayLR(0.5, 1.0, 2)(Tensor(2, mycel.int32)))
        0.25
    """

    def construct(self, global_step) -> Any:
        """The rate at a step."""
        return inverse_rate(global_step, *self._settings())


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine wave from max_lr down to min_lr over decay_steps, and min_lr from there on.

    Raises:
        TypeError, ValueError: arguments of another type, or max_lr not above min_lr.

    Source: MindSpore's `mindspore.nn.CosineDecayLR`.

    Example:
        >>> print(nn.CosineDecayLR(0.0, 0.5, 4)(Tensor(0, mycel.int32)))
        0.5
    """

    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        _bounds(min_lr, max_lr, "CosineDecayLR")
        self.min_lr = min_lr
        self.max_lr = max_lr
        self.decay_steps = positive_integer(decay_steps, "CosineDecayLR: decay_steps")

    def construct(self, global_step) -> Any:
        """The rate at a step."""
        return cosine_rate(global_step, self.min_lr, self.max_lr, self.decay_steps)


class PolynomialDecayLR(LearningRateSchedule):
    """From learning_rate to end_learning_rate as a power of the share of decay_steps left.

    Args:
        update_decay_steps: start again, with longer and longer periods.

    Source: MindSpore's `mindspore.nn.PolynomialDecayLR`.

    Example:
        >>> print(nn.PolynomialDecayLR(0.5, 0.25, 4, 1.0)(Tensor(9, mycel.int32)))
        0.25
    """

    def __init__(
        self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False
    ):
        super().__init__()
        name = "PolynomialDecayLR"
        self.start_learning_rate = _float(learning_rate, f"{name}: learning_rate")
        end = f"{name}: end_learning_rate"
        self.end_learning_rate = _float(end_learning_rate, end, 0.0, above=False)
        self.decay_steps = positive_integer(decay_steps, f"{name}: decay_steps")
        self.power = _float(power, f"{name}: power")
        self.update_decay_steps = boolean(update_decay_steps, f"{name}: update_decay_steps")

    def construct(self, global_step) -> Any:
        """The rate at a step."""
        return polynomial_rate(
            global_step,
            self.start_learning_rate,
            self.end_learning_rate,
            self.decay_steps,
            self.power,
            self.update_decay_steps,
        )


class WarmUpLR(LearningRateSchedule):
    """learning_rate · step / warmup_steps, and learning_rate from there on.

    Source: MindSpore's `mindspore.nn.WarmUpLR`.

    Example:
        >>> print(nn.WarmUpLR(0.5, 4)(Tensor(2, mycel.int32)))
        0.25
    """

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.learning_rate = _float(learning_rate, "WarmUpLR: learning_rate", 0.0, above=False)
        self.warmup_steps = positive_integer(warmup_steps, "WarmUpLR: warmup_steps")

    def construct(self, global_step) -> Any:
        """The rate at a step."""
        return warm_up_rate(global_step, self.learning_rate, self.warmup_steps)


# -- lists made beforehand ---------------------------------------------------------------


def _per_epoch(total_step, step_per_epoch, decay_epoch, rate_at, owner: str) -> list[float]:
    """`rate_at(epoch)` for every step."""
    positive_integer(total_step, f"{owner}: total_step")
    positive_integer(step_per_epoch, f"{owner}: step_per_epoch")
    positive_integer(decay_epoch, f"{owner}: decay_epoch or warmup_epoch")
    return [rate_at(step // step_per_epoch) for step in range(total_step)]


def _checked(learning_rate, decay_rate, is_stair, owner: str) -> None:
    _float(learning_rate, f"{owner}: learning_rate")
    _float(decay_rate, f"{owner}: decay_rate")
    boolean(is_stair, f"{owner}: is_stair")


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate · decay_rate ^ (epoch / decay_epoch) for every step.

    Raises:
        TypeError, ValueError: arguments of another type, or not positive.

    Source: MindSpore's `mindspore.nn.exponential_decay_lr`.

    Example:
        >>> nn.exponential_decay_lr(0.5, 0.5, 4, 2, 1)
        [0.5, 0.5, 0.25, 0.25]
    """
    _checked(learning_rate, decay_rate, is_stair, "exponential_decay_lr")

    def rate_at(epoch):
        power = epoch // decay_epoch if is_stair else epoch / decay_epoch
        return learning_rate * decay_rate**power

    return _per_epoch(total_step, step_per_epoch, decay_epoch, rate_at, "exponential_decay_lr")


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate · exp(-decay_rate · epoch) for every step; stairs of decay_epoch epochs.

    Source: MindSpore's `mindspore.nn.natural_exp_decay_lr`.

    Example:
        >>> nn.natural_exp_decay_lr(0.5, 0.9, 2, 2, 1)
        [0.5, 0.5]
    """
    _checked(learning_rate, decay_rate, is_stair, "natural_exp_decay_lr")

    def rate_at(epoch):
        epochs = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return learning_rate * math.exp(-decay_rate * epochs)

    return _per_epoch(total_step, step_per_epoch, decay_epoch, rate_at, "natural_exp_decay_lr")


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate / (1 + decay_rate · epoch / decay_epoch) for every step.

    Source: MindSpore's `mindspore.nn.inverse_decay_lr`.

    Example:
        >>> nn.inverse_decay_lr(0.5, 1.0, 4, 2, 1)
        [0.5, 0.5, 0.25, 0.25]
    """
    _checked(learning_rate, decay_rate, is_stair, "inverse_decay_lr")

    def rate_at(epoch):
        share = epoch // decay_epoch if is_stair else epoch / decay_epoch
        return learning_rate / (1 + decay_rate * share)

    return _per_epoch(total_step, step_per_epoch, decay_epoch, rate_at, "inverse_decay_lr")


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Half a cosine wave from max_lr to min_lr over decay_epoch epochs, for every step.

    Source: MindSpore's `mindspore.nn.cosine_decay_lr`.

    Example:
        >>> nn.cosine_decay_lr(0.0, 0.5, 3, 1, 2)
        [0.5, 0.25, 0.0]
    """
    _bounds(min_lr, max_lr, "cosine_decay_lr")

    def rate_at(epoch):
        share = min(epoch, decay_epoch) / decay_epoch
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * share))

    return _per_epoch(total_step, step_per_epoch, decay_epoch, rate_at, "cosine_decay_lr")


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """From learning_rate to end_learning_rate as a power of the epochs left, for every step.

    Source: MindSpore's `mindspore.nn.polynomial_decay_lr`.

    Example:
        >>> nn.polynomial_decay_lr(0.5, 0.25, 3, 1, 2, 1.0)
        [0.5, 0.375, 0.25]
    """
    owner = "polynomial_decay_lr"
    _float(learning_rate, f"{owner}: learning_rate")
    _float(end_learning_rate, f"{owner}: end_learning_rate", 0.0, above=False)
    _float(power, f"{owner}: power")
    boolean(update_decay_epoch, f"{owner}: update_decay_epoch")

    def rate_at(epoch):
        length = decay_epoch
        if update_decay_epoch:
            length *= max(1, math.ceil(epoch / decay_epoch))
        left = 1 - min(epoch, length) / length
        return (learning_rate - end_learning_rate) * left**power + end_learning_rate

    return _per_epoch(total_step, step_per_epoch, decay_epoch, rate_at, owner)


def warmup_lr(
    learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int
) -> list[float]:
    """learning_rate · epoch / warmup_epoch, at most learning_rate, for every step.

    Source: MindSpore's `mindspore.nn.warmup_lr`.

    Example:
        >>> nn.warmup_lr(0.5, 4, 1, 2)
        [0.0, 0.25, 0.5, 0.5]
    """
    _float(learning_rate, "warmup_lr: learning_rate", 0.0, above=False)
    return _per_epoch(
        total_step,
        step_per_epoch,
        warmup_epoch,
        lambda epoch: learning_rate * min(epoch, warmup_epoch) / warmup_epoch,
        "warmup_lr",
    )


def piecewise_constant_lr(
    milestone: list[int] | tuple[int, ...], learning_rates: list[float] | tuple[float, ...]
) -> list[float]:
    """learning_rates[i] for every step below milestone[i].

    Raises:
        TypeError: lists of other things.
        ValueError: milestones that do not grow, or not as many of both.

    Source: MindSpore's `mindspore.nn.piecewise_constant_lr`.

    Example:
        >>> nn.piecewise_constant_lr([1, 3], [0.5, 0.25])
        [0.5, 0.25, 0.25]
    """
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (list, tuple)):
            actual = f"{type(value).__name__} {value!r}"
            raise wrong(TypeError, f"piecewise_constant_lr: {name}", "a list", actual)
    if len(milestone) != len(learning_rates):
        expected = f"as many as the {len(milestone)} milestones"
        raise wrong(ValueError, "learning_rates", expected, len(learning_rates))
    rates: list[float] = []
    for end, rate in zip(milestone, learning_rates, strict=True):
        _float(rate, "Each of learning_rates", 0.0, above=False)
        if not is_integer(end) or end <= len(rates):
            raise wrong(ValueError, "Each milestone", f"an integer above {len(rates)}", repr(end))
        rates += [rate] * (end - len(rates))
    return rates
