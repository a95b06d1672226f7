# SPDX-License-Identifier: Apache-2.0
"""Distributions on an interval."""

from __future__ import annotations

import math

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.nn.probability.formulas import (
    Comparable,
    drawn,
    of_parameters,
    of_two,
    of_value,
    own,
)
from mycel.nn.probability.parameters import in_range, positive
from mycel.ops.math.special import betainc
from mycel.ops.random.distributions import scaled_gamma
from mycel.ops.random.drawing import draw_uniform


class Uniform(Comparable):
    """The uniform distribution between two bounds.

    Args:
        low: the lower bound; None, the default, if each call gives it.
        high: the upper bound, above the lower one; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Uniform" by default.

    Raises:
        ValueError: low is not below high.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Uniform`.

    Example:
        >>> from mycel.nn.probability.distribution import Uniform
        >>> print(Uniform(0.0, 4.0).prob(Tensor([-1.0, 1.0])))
        [0.   0.25]
    """

    kind = "Uniform"
    low, high = own("low"), own("high")

    def __init__(self, low=None, high=None, seed=None, dtype=float32, name="Uniform"):
        super().__init__(seed, dtype, name, low=low, high=high)
        if self.low is not None and self.high is not None:
            in_range(self.high, "high", f"above low, {self.low}", lambda high: high > self.low)

    @of_parameters
    def _mean(self, low, high):
        return (low + high) / 2

    @of_parameters
    def _var(self, low, high):
        return (high - low).square() / 12

    @of_parameters
    def _entropy(self, low, high):
        return (high - low).log()

    @of_value
    def _prob(self, value, low, high):
        inside = ops.logical_and(value >= low, value <= high)
        return ops.where(inside, 1 / (high - low), 0.0)

    @of_value
    def _cdf(self, value, low, high):
        return ops.clamp((value - low) / (high - low), 0.0, 1.0)

    @of_two
    def _kl_loss(self, low, high, low_b, high_b):
        within = ops.logical_and(low_b <= low, high <= high_b)
        return ops.where(within, (high_b - low_b).log() - (high - low).log(), math.inf)

    @drawn
    def _sample(self, shape, low, high):
        part = draw_uniform(self._key(), shape + low.shape, low.dtype.name)
        return low + (high - low) * part


def log_beta(a, b):
    """The logarithm of the beta function."""
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)


class Beta(Comparable):
    """The beta distribution on the interval from 0 to 1.

    `cdf` and what follows from it have no derivatives by the concentrations.

    Args:
        concentration1: how much it leans to 1, above 0; None, the default, if each call gives it.
        concentration0: how much it leans to 0, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Beta" by default.

    Raises:
        ValueError: a concentration is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Beta`.

    Example:
        >>> from mycel.nn.probability.distribution import Beta
        >>> print(Beta([3.0], [1.0]).mean())
        [0.75]
    """

    kind = "Beta"
    concentration1, concentration0 = own("concentration1"), own("concentration0")

    def __init__(
        self, concentration1=None, concentration0=None, seed=None, dtype=float32, name="Beta"
    ):
        given = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(seed, dtype, name, **given)
        positive(self.concentration1, "concentration1")
        positive(self.concentration0, "concentration0")

    @of_parameters
    def _mean(self, a, b):
        return a / (a + b)

    @of_parameters
    def _var(self, a, b):
        return a * b / ((a + b).square() * (a + b + 1))

    @of_parameters
    def _mode(self, a, b):
        one = ops.logical_and(a > 1, b > 1)
        return ops.where(one, (a - 1) / ops.where(one, a + b - 2, 1.0), math.nan)

    @of_parameters
    def _entropy(self, a, b):
        leaning = (a - 1) * ops.digamma(a) + (b - 1) * ops.digamma(b)
        return log_beta(a, b) - leaning + (a + b - 2) * ops.digamma(a + b)

    @of_value
    def _log_prob(self, value, a, b):
        inside = ops.logical_and(value >= 0, value <= 1)
        x = ops.where(inside, value, 0.5)
        density = ops.xlogy(a - 1, x) + ops.xlogy(b - 1, 1 - x) - log_beta(a, b)
        return ops.where(inside, density, -math.inf)

    @of_value
    def _cdf(self, value, a, b):
        return betainc(a, b, ops.clamp(value, 0.0, 1.0))

    @of_value
    def _survival_function(self, value, a, b):
        return betainc(b, a, 1 - ops.clamp(value, 0.0, 1.0))

    @of_two
    def _kl_loss(self, a, b, a_b, b_b):
        more = (a_b + b_b - a - b) * ops.digamma(a + b)
        less = (a_b - a) * ops.digamma(a) + (b_b - b) * ops.digamma(b)
        return log_beta(a_b, b_b) - log_beta(a, b) - less + more

    @drawn
    def _sample(self, shape, a, b):
        one = ops.ones_like(a)
        first, second = (scaled_gamma(each, one, self._key(), shape) for each in (a, b))
        return first / (first + second)
