# SPDX-License-Identifier: Apache-2.0
"""Distributions on the positive half of the line."""

from __future__ import annotations

import math

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.nn.probability.formulas import (
    Comparable,
    Formulas,
    drawn,
    of_parameters,
    of_two,
    of_value,
    own,
)
from mycel.nn.probability.parameters import positive
from mycel.ops.random.distributions import scaled_gamma
from mycel.ops.random.drawing import draw_normal, draw_uniform


class Exponential(Comparable):
    """The exponential distribution.

    Args:
        rate: the inverse of its mean, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Exponential" by default.

    Raises:
        ValueError: rate is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Exponential`.

    Example:
        >>> from mycel.nn.probability.distribution import Exponential
        >>> print(Exponential(2.0).mean(), Exponential(2.0).prob(Tensor([-1.0, 0.0])))
        0.5 [0. 2.]
    """

    kind = "Exponential"
    rate = own("rate")

    def __init__(self, rate=None, seed=None, dtype=float32, name="Exponential"):
        super().__init__(seed, dtype, name, rate=rate)
        positive(self.rate, "rate")

    @of_parameters
    def _mean(self, rate):
        return 1 / rate

    _sd = _mean

    @of_parameters
    def _mode(self, rate):
        return ops.zeros(rate.shape, self.dtype)

    @of_parameters
    def _entropy(self, rate):
        return 1 - rate.log()

    @of_value
    def _log_prob(self, value, rate):
        return ops.where(value < 0, -math.inf, rate.log() - rate * value)

    @of_value
    def _cdf(self, value, rate):
        return -ops.expm1(-rate * ops.maximum(value, 0.0))

    @of_value
    def _log_survival(self, value, rate):
        return -rate * ops.maximum(value, 0.0)

    @of_two
    def _kl_loss(self, rate, rate_b):
        return rate.log() - rate_b.log() + rate_b / rate - 1

    @drawn
    def _sample(self, shape, rate):
        return -ops.log1p(-draw_uniform(self._key(), shape + rate.shape, rate.dtype.name)) / rate


class Gamma(Comparable):
    """The gamma distribution.

    Args:
        concentration: its shape parameter, above 0; None, the default, if each call gives it.
        rate: the inverse of its scale, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Gamma" by default.

    Raises:
        ValueError: a parameter is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Gamma`.

    Example:
        >>> from mycel.nn.probability.distribution import Gamma
        >>> print(Gamma([3.0], [2.0]).mean(), Gamma([3.0], [2.0]).mode())
        [1.5] [1.]
    """

    kind = "Gamma"
    concentration, rate = own("concentration"), own("rate")

    def __init__(self, concentration=None, rate=None, seed=None, dtype=float32, name="Gamma"):
        super().__init__(seed, dtype, name, concentration=concentration, rate=rate)
        positive(self.concentration, "concentration")
        positive(self.rate, "rate")

    @of_parameters
    def _mean(self, concentration, rate):
        return concentration / rate

    @of_parameters
    def _var(self, concentration, rate):
        return concentration / rate.square()

    @of_parameters
    def _mode(self, concentration, rate):
        return ops.where(concentration > 1, (concentration - 1) / rate, math.nan)

    @of_parameters
    def _entropy(self, concentration, rate):
        spread = (1 - concentration) * ops.digamma(concentration)
        return concentration - rate.log() + ops.lgamma(concentration) + spread

    @of_value
    def _log_prob(self, value, concentration, rate):
        x = ops.where(value < 0, 1.0, value)
        density = ops.xlogy(concentration - 1, x) - rate * x
        norm = ops.lgamma(concentration) - concentration * rate.log()
        return ops.where(value < 0, -math.inf, density - norm)

    @of_value
    def _cdf(self, value, concentration, rate):
        return ops.igamma(*_alike(concentration, rate * ops.maximum(value, 0.0)))

    @of_value
    def _survival_function(self, value, concentration, rate):
        return ops.igammac(*_alike(concentration, rate * ops.maximum(value, 0.0)))

    @of_two
    def _kl_loss(self, concentration, rate, concentration_b, rate_b):
        gammas = ops.lgamma(concentration_b) - ops.lgamma(concentration)
        shapes = (concentration - concentration_b) * ops.digamma(concentration) + gammas
        rates = concentration_b * (rate / rate_b).log() + concentration * (rate_b / rate - 1)
        return shapes + rates

    @drawn
    def _sample(self, shape, concentration, rate):
        return scaled_gamma(concentration, rate, self._key(), shape)


def _alike(a, x):
    """Two Tensors of one shape."""
    return a + ops.zeros_like(x), x + ops.zeros_like(a)


class HalfNormal(Formulas):
    """The upper half of a normal distribution.

    Args:
        mean: where it begins; None, the default, if each call gives it.
        sd: the standard deviation of the whole one, above 0; None, the default, if each call
            gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "HalfNormal" by default.

    Raises:
        ValueError: sd is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.HalfNormal`.

    Example:
        >>> from mycel.nn.probability.distribution import HalfNormal
        >>> print(HalfNormal(0.0, 1.0).cdf(Tensor([-1.0, 0.0])))
        [0. 0.]
    """

    kind = "HalfNormal"

    def __init__(self, mean=None, sd=None, seed=None, dtype=float32, name="HalfNormal"):
        super().__init__(seed, dtype, name, mean=mean, sd=sd)
        positive(self._sd_value, "sd")

    @of_parameters
    def _mean(self, mean, sd):
        return mean + sd * math.sqrt(2 / math.pi)

    @of_parameters
    def _mode(self, mean, sd):
        return mean

    @of_parameters
    def _var(self, mean, sd):
        return sd.square() * (1 - 2 / math.pi)

    @of_parameters
    def _entropy(self, mean, sd):
        return 0.5 + 0.5 * math.log(math.pi / 2) + sd.log()

    @of_value
    def _log_prob(self, value, mean, sd):
        density = 0.5 * math.log(2 / math.pi) - sd.log() - 0.5 * ((value - mean) / sd).square()
        return ops.where(value < mean, -math.inf, density)

    @of_value
    def _cdf(self, value, mean, sd):
        return ops.erf(ops.maximum(value - mean, 0.0) / (sd * math.sqrt(2)))

    @of_value
    def _survival_function(self, value, mean, sd):
        return ops.erfc(ops.maximum(value - mean, 0.0) / (sd * math.sqrt(2)))

    @drawn
    def _sample(self, shape, mean, sd):
        return mean + sd * draw_normal(self._key(), shape + mean.shape, mean.dtype.name).abs()
