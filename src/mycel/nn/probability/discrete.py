# SPDX-License-Identifier: Apache-2.0
"""Distributions of integers."""

from __future__ import annotations

import math

from mycel import ops
from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.base.errors import wrong
from mycel.nn.probability.formulas import (
    Comparable,
    Formulas,
    drawn,
    of_parameters,
    of_two,
    of_value,
    own,
)
from mycel.nn.probability.parameters import INTEGER, REAL, in_range, positive, probability
from mycel.ops.random.choices import draw_choices
from mycel.ops.random.distributions import draw_poisson
from mycel.ops.random.drawing import draw_uniform

# How far the probabilities of all categories may lie from 1 together.
SUM_TOLERANCE = 2e-6


class Bernoulli(Comparable):
    """The distribution of 1, with a probability, and 0.

    Args:
        probs: the probability of 1, between 0 and 1; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: the element type of samples, integer or real; Int32 by default.
        name: what errors call it; "Bernoulli" by default.

    Raises:
        ValueError: probs is not between 0 and 1.

    Source: MindSpore's `mindspore.nn.probability.distribution.Bernoulli`.

    Example:
        >>> from mycel.nn.probability.distribution import Bernoulli
        >>> print(Bernoulli(0.25).prob(Tensor([0, 1])))
        [0.75 0.25]
    """

    kind, types = "Bernoulli", INTEGER + REAL
    probs = own("probs")

    def __init__(self, probs=None, seed=None, dtype=int32, name="Bernoulli"):
        super().__init__(seed, dtype, name, probs=probs)
        probability(self.probs, "probs")

    @of_parameters
    def _mean(self, probs):
        return probs

    @of_parameters
    def _mode(self, probs):
        return ops.cast(probs > 0.5, self.dtype)

    @of_parameters
    def _var(self, probs):
        return probs * (1 - probs)

    @of_parameters
    def _entropy(self, probs):
        return -ops.xlogy(probs, probs) - ops.xlogy(1 - probs, 1 - probs)

    @of_value
    def _log_prob(self, value, probs):
        return ops.xlogy(value, probs) + ops.xlogy(1 - value, 1 - probs)

    @of_value
    def _cdf(self, value, probs):
        return ops.where(value < 0, 0.0, ops.where(value < 1, 1 - probs, 1.0))

    @of_two
    def _kl_loss(self, probs, probs_b):
        ones = ops.xlogy(probs, probs / probs_b)
        return ones + ops.xlogy(1 - probs, (1 - probs) / (1 - probs_b))

    @drawn
    def _sample(self, shape, probs):
        return draw_uniform(self._key(), shape + probs.shape, probs.dtype.name) < probs


class Geometric(Comparable):
    """The number of failures before the first success.

    Args:
        probs: the probability of a success, between 0 and 1; None, the default, if each call
            gives it.
        seed: see `Distribution`; None by default.
        dtype: the element type of samples, integer or real; Int32 by default.
        name: what errors call it; "Geometric" by default.

    Raises:
        ValueError: probs is not between 0 and 1.

    Source: MindSpore's `mindspore.nn.probability.distribution.Geometric`.

    Example:
        >>> from mycel.nn.probability.distribution import Geometric
        >>> print(Geometric(0.5).prob(Tensor([0, 1, 2])))
        [0.5   0.25  0.125]
    """

    kind, types = "Geometric", INTEGER + REAL
    probs = own("probs")

    def __init__(self, probs=None, seed=None, dtype=int32, name="Geometric"):
        super().__init__(seed, dtype, name, probs=probs)
        probability(self.probs, "probs")

    @of_parameters
    def _mean(self, probs):
        return (1 - probs) / probs

    @of_parameters
    def _mode(self, probs):
        return ops.zeros(probs.shape, self.dtype)

    @of_parameters
    def _var(self, probs):
        return (1 - probs) / probs.square()

    @of_parameters
    def _entropy(self, probs):
        return -(ops.xlogy(1 - probs, 1 - probs) + ops.xlogy(probs, probs)) / probs

    @of_value
    def _log_prob(self, value, probs):
        count = ops.floor(value)
        return ops.where(count < 0, -math.inf, count * ops.log1p(-probs) + probs.log())

    @of_value
    def _cdf(self, value, probs):
        return -ops.expm1(ops.maximum(ops.floor(value) + 1, 0.0) * ops.log1p(-probs))

    @of_value
    def _log_survival(self, value, probs):
        return ops.maximum(ops.floor(value) + 1, 0.0) * ops.log1p(-probs)

    @of_two
    def _kl_loss(self, probs, probs_b):
        failures = (1 - probs) / probs * ((1 - probs) / (1 - probs_b)).log()
        return (probs / probs_b).log() + failures

    @drawn
    def _sample(self, shape, probs):
        part = draw_uniform(self._key(), shape + probs.shape, probs.dtype.name)
        return ops.floor(ops.log1p(-part) / ops.log1p(-probs))


class Poisson(Formulas):
    """The Poisson distribution of counts.

    Args:
        rate: its mean, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: the element type of samples, real or integer; Float32 by default.
        name: what errors call it; "Poisson" by default.

    Raises:
        ValueError: rate is not above 0.

    Source: MindSpore's `mindspore.nn.probability.distribution.Poisson`.

    Example:
        >>> from mycel.nn.probability.distribution import Poisson
        >>> print(Poisson([2.5]).mode(), Poisson([2.5]).var())
        [2.] [2.5]
    """

    kind, types = "Poisson", INTEGER + REAL
    rate = own("rate")

    def __init__(self, rate=None, seed=None, dtype=float32, name="Poisson"):
        super().__init__(seed, dtype, name, rate=rate)
        positive(self.rate, "rate")

    @of_parameters
    def _mean(self, rate):
        return rate

    _var = _mean

    @of_parameters
    def _mode(self, rate):
        return ops.floor(rate)

    @of_value
    def _log_prob(self, value, rate):
        count = ops.maximum(value, 0.0)
        density = count * rate.log() - ops.lgamma(count + 1) - rate
        return ops.where(value < 0, -math.inf, density)

    @of_value
    def _cdf(self, value, rate):
        count = ops.maximum(ops.floor(value), 0.0) + ops.zeros_like(rate)
        below = ops.igammac(count + 1, rate + ops.zeros_like(count))
        return ops.where(value < 0, 0.0, below)

    @drawn
    def _sample(self, shape, rate):
        return draw_poisson(rate, self._key(), shape, "float32")


class Categorical(Comparable):
    """The distribution of the numbers of categories, from 0.

    Args:
        probs: the probabilities, (…, categories), each between 0 and 1, which sum to 1; None, the
            default, if each call gives them.
        seed: see `Distribution`; None by default.
        dtype: the element type of samples, integer or real; Int32 by default.
        name: what errors call it; "Categorical" by default.

    Raises:
        ValueError: probs has no dimensions, is not between 0 and 1, or does not sum to 1.

    Source: MindSpore's `mindspore.nn.probability.distribution.Categorical`.

    Example:
        >>> from mycel.nn.probability.distribution import Categorical
        >>> print(Categorical([0.25, 0.75]).prob(Tensor([1, 0])))
        [0.75 0.25]
    """

    kind, types = "Categorical", INTEGER + REAL
    probs = own("probs")

    def __init__(self, probs=None, seed=None, dtype=int32, name="Categorical"):
        super().__init__(seed, dtype, name, probs=probs)
        if self.probs is None:
            return
        if not self.probs.shape:
            raise wrong(ValueError, "probs", "at least one-dimensional", self.probs)
        probability(self.probs, "probs")
        even = "such that the categories sum to 1"
        in_range(self.probs, "probs", even, lambda p: (p.sum(-1) - 1).abs() < SUM_TOLERANCE)
        self._broadcast_shape = self.probs.shape[:-1]
        self._is_scalar_batch = not self._broadcast_shape

    @of_parameters
    def _mean(self, probs):
        return (probs * _numbers(probs)).sum(-1, keepdims=True)

    @of_parameters
    def _mode(self, probs):
        return ops.cast(probs.argmax(-1), self.dtype)

    @of_parameters
    def _var(self, probs):
        numbers = _numbers(probs)
        mean = (probs * numbers).sum(-1, keepdims=True)
        return (probs * (numbers - mean).square()).sum(-1, keepdims=True)

    @of_parameters
    def _entropy(self, probs):
        return -ops.xlogy(probs, probs).sum(-1).squeeze()

    @of_value
    def _log_prob(self, value, probs):
        return _picked(probs.log(), value, math.nan)

    @of_value
    def _cdf(self, value, probs):
        last = float(probs.shape[-1] - 1)
        below = _picked(probs.cumsum(-1), ops.minimum(value, last), math.nan)
        return ops.where(ops.trunc(value) < 0, 0.0, below)

    @of_two
    def _kl_loss(self, probs, probs_b):
        # Both sum to 1 here, so that derivatives do not lead away from where they do.
        ours, theirs = (each / each.sum(-1, keepdims=True) for each in (probs, probs_b))
        return (ops.xlogy(ours, ours) - ops.xlogy(ours, theirs)).sum(-1).squeeze()

    @drawn
    def _sample(self, shape, probs):
        count = math.prod(shape)
        numbers = draw_choices(probs, self._key(), count, True, "int32")
        return ops.movedim(numbers, -1, 0).reshape(shape + probs.shape[:-1])


def _numbers(probs):
    return ops.arange(probs.shape[-1]).astype(probs.dtype)


def _picked(table, value, otherwise: float):
    """The entry of the last dimension that each value names; `otherwise` where there is none."""
    number = ops.trunc(value)
    chosen = ops.expand_dims(number, -1) == _numbers(table)
    found = ops.where(chosen, table, 0.0).sum(-1)
    inside = ops.logical_and(number >= 0, number < table.shape[-1])
    return ops.where(inside, found, otherwise)
