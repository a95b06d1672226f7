# SPDX-License-Identifier: Apache-2.0
"""Distributions on the whole line, by where they lie and how wide they are."""

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
from mycel.ops.math.special import betainc
from mycel.ops.random.distributions import scaled_gamma
from mycel.ops.random.drawing import draw_normal, draw_uniform

UNDEFINED = "The {question} of a Cauchy distribution is not defined; its mode and entropy are."
# Uniform numbers from 0 can be 0; what takes their logarithm starts here.
LEAST = 1e-30


class Normal(Comparable):
    """The normal distribution.

    Args:
        mean: the mean; None, the default, if each call gives it.
        sd: the standard deviation, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Normal" by default.

    Raises:
        ValueError: sd is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Normal`.

    Example:
        >>> from mycel.nn.probability.distribution import Normal
        >>> d = Normal(1.0, 2.0)
        >>> print(d.cdf(Tensor(1.0)), d.kl_loss("Normal", Tensor(1.0), Tensor(2.0)))
        0.5 0.0
        >>> d.sample((3,)).shape
        (3,)
    """

    kind, shown = "Normal", {"sd": "standard deviation"}

    def __init__(self, mean=None, sd=None, seed=None, dtype=float32, name="Normal"):
        super().__init__(seed, dtype, name, mean=mean, sd=sd)
        positive(self._sd_value, "sd")

    @of_parameters
    def _mean(self, mean, sd):
        return mean

    _mode = _mean

    @of_parameters
    def _sd(self, mean, sd):
        return sd

    @of_parameters
    def _entropy(self, mean, sd):
        return 0.5 + 0.5 * math.log(2 * math.pi) + sd.log()

    @of_value
    def _log_prob(self, value, mean, sd):
        return -0.5 * ((value - mean) / sd).square() - sd.log() - 0.5 * math.log(2 * math.pi)

    @of_value
    def _cdf(self, value, mean, sd):
        return 0.5 * ops.erfc((mean - value) / (sd * math.sqrt(2)))

    @of_value
    def _survival_function(self, value, mean, sd):
        return 0.5 * ops.erfc((value - mean) / (sd * math.sqrt(2)))

    @of_two
    def _kl_loss(self, mean, sd, mean_b, sd_b):
        wider = sd.log() - sd_b.log()
        return 0.5 * ((mean - mean_b) / sd_b).square() + 0.5 * ops.expm1(2 * wider) - wider

    @drawn
    def _sample(self, shape, mean, sd):
        return mean + sd * draw_normal(self._key(), shape + mean.shape, mean.dtype.name)


class Cauchy(Comparable):
    """The Cauchy distribution, which has no mean and no variance.

    Args:
        loc: its middle; None, the default, if each call gives it.
        scale: half the width between its quartiles, above 0; None, the default, if each call
            gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Cauchy" by default.

    Raises:
        ValueError: scale is not above 0, or what is not defined is asked for.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Cauchy`.

    Example:
        >>> from mycel.nn.probability.distribution import Cauchy
        >>> print(Cauchy(0.0, 2.0).cdf(Tensor([0.0, 2.0])))
        [0.5  0.75]
    """

    kind, shown = "Cauchy", {"loc": "location"}
    loc, scale = own("loc"), own("scale")

    def __init__(self, loc=None, scale=None, seed=None, dtype=float32, name="Cauchy"):
        super().__init__(seed, dtype, name, loc=loc, scale=scale)
        positive(self.scale, "scale")

    def _mean(self, *args, **kwargs):
        raise ValueError(UNDEFINED.format(question="mean"))

    def _sd(self, *args, **kwargs):
        raise ValueError(UNDEFINED.format(question="standard deviation"))

    def _var(self, *args, **kwargs):
        raise ValueError(UNDEFINED.format(question="variance"))

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    @of_parameters
    def _entropy(self, loc, scale):
        return scale.log() + math.log(4 * math.pi)

    @of_value
    def _log_prob(self, value, loc, scale):
        return -ops.log1p(((value - loc) / scale).square()) - (math.pi * scale).log()

    @of_value
    def _cdf(self, value, loc, scale):
        return ops.atan((value - loc) / scale) / math.pi + 0.5

    @of_value
    def _log_cdf(self, value, loc, scale):
        return ops.log1p(2 * ops.atan((value - loc) / scale) / math.pi) - math.log(2)

    @of_two
    def _kl_loss(self, loc, scale, loc_b, scale_b):
        both = (scale + scale_b).square() + (loc - loc_b).square()
        return both.log() - math.log(4) - scale.log() - scale_b.log()

    @drawn
    def _sample(self, shape, loc, scale):
        part = draw_uniform(self._key(), shape + loc.shape, loc.dtype.name)
        return loc + scale * ops.tan(math.pi * (part - 0.5))


class Laplace(Formulas):
    """The Laplace distribution: exponential to both sides of its mean.

    Args:
        mean: the mean; None, the default, if each call gives it.
        sd: the scale, above 0, of which the standard deviation is √2 times; None, the default, if
            each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Laplace" by default.

    Raises:
        ValueError: sd is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Laplace`.

    Example:
        >>> from mycel.nn.probability.distribution import Laplace
        >>> print(Laplace(0.0, 1.0).prob(Tensor([0.0])))
        [0.5]
    """

    kind = "Laplace"

    def __init__(self, mean=None, sd=None, seed=None, dtype=float32, name="Laplace"):
        super().__init__(seed, dtype, name, mean=mean, sd=sd)
        positive(self._sd_value, "sd")

    @of_parameters
    def _mean(self, mean, sd):
        return mean

    _mode = _mean

    @of_parameters
    def _var(self, mean, sd):
        return 2 * sd.square()

    @of_parameters
    def _entropy(self, mean, sd):
        return 1 + (2 * sd).log()

    @of_value
    def _log_prob(self, value, mean, sd):
        return -((value - mean) / sd).abs() - (2 * sd).log()

    @of_value
    def _cdf(self, value, mean, sd):
        z = (value - mean) / sd
        tail = 0.5 * ops.exp(-z.abs())
        return ops.where(z < 0, tail, 1 - tail)

    @drawn
    def _sample(self, shape, mean, sd):
        part = draw_uniform(self._key(), shape + mean.shape, mean.dtype.name) - 0.5
        return mean - sd * part.sign() * ops.log1p(-2 * part.abs())


class Logistic(Formulas):
    """The logistic distribution, whose cumulative function is the sigmoid.

    Args:
        loc: its mean; None, the default, if each call gives it.
        scale: how wide it is, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Logistic" by default.

    Raises:
        ValueError: scale is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.Logistic`.

    Example:
        >>> from mycel.nn.probability.distribution import Logistic
        >>> print(Logistic(1.0, 2.0).survival_function(Tensor([1.0])))
        [0.5]
    """

    kind, shown = "Logistic", {"loc": "location"}
    loc, scale = own("loc"), own("scale")

    def __init__(self, loc=None, scale=None, seed=None, dtype=float32, name="Logistic"):
        super().__init__(seed, dtype, name, loc=loc, scale=scale)
        positive(self.scale, "scale")

    @of_parameters
    def _mean(self, loc, scale):
        return loc

    _mode = _mean

    @of_parameters
    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(3))

    @of_parameters
    def _entropy(self, loc, scale):
        return scale.log() + 2

    @of_value
    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return ops.logsigmoid(z) + ops.logsigmoid(-z) - scale.log()

    @of_value
    def _cdf(self, value, loc, scale):
        return ops.sigmoid((value - loc) / scale)

    @of_value
    def _log_cdf(self, value, loc, scale):
        return ops.logsigmoid((value - loc) / scale)

    @of_value
    def _survival_function(self, value, loc, scale):
        return ops.sigmoid((loc - value) / scale)

    @of_value
    def _log_survival(self, value, loc, scale):
        return ops.logsigmoid((loc - value) / scale)

    @drawn
    def _sample(self, shape, loc, scale):
        part = draw_uniform(self._key(), shape + loc.shape, loc.dtype.name)
        return loc + scale * (ops.maximum(part, LEAST).log() - ops.log1p(-part))


def _lower_tail(z, df):
    """How likely a number of Student's distribution lies below z."""
    tail = 0.5 * betainc(df / 2, ops.full_like(df, 0.5), df / (df + z.square()))
    return ops.where(z < 0, tail, 1 - tail)


class StudentT(Formulas):
    """Student's t distribution, with a middle and a scale.

    `cdf` and what follows from it have no derivative by the degrees of freedom.

    Args:
        df: the degrees of freedom, above 0; None, the default, if each call gives them.
        mean: its middle; None, the default, if each call gives it.
        sd: the scale, above 0; None, the default, if each call gives it.
        seed: see `Distribution`; None by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "StudentT" by default.

    Raises:
        ValueError: df or sd is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.StudentT`.

    Example:
        >>> from mycel.nn.probability.distribution import StudentT
        >>> print(StudentT(3.0, 0.0, 1.0).var())
        3.0
    """

    kind = "StudentT"

    def __init__(self, df=None, mean=None, sd=None, seed=None, dtype=float32, name="StudentT"):
        super().__init__(seed, dtype, name, df=df, mean=mean, sd=sd)
        positive(self._df_value, "df")
        positive(self._sd_value, "sd")

    @of_parameters
    def _mode(self, df, mean, sd):
        return mean

    @of_parameters
    def _mean(self, df, mean, sd):
        return ops.where(df > 1, mean, math.nan)

    @of_parameters
    def _var(self, df, mean, sd):
        finite = sd.square() * df / ops.where(df > 2, df - 2, 1.0)
        return ops.where(df > 2, finite, ops.where(df > 1, math.inf, math.nan))

    @of_value
    def _log_prob(self, value, df, mean, sd):
        z = (value - mean) / sd
        norm = ops.lgamma(df / 2) - ops.lgamma((df + 1) / 2) + 0.5 * (math.pi * df).log()
        return -0.5 * (df + 1) * ops.log1p(z.square() / df) - norm - sd.log()

    @of_value
    def _cdf(self, value, df, mean, sd):
        return _lower_tail((value - mean) / sd, df)

    @of_value
    def _survival_function(self, value, df, mean, sd):
        return _lower_tail((mean - value) / sd, df)

    @drawn
    def _sample(self, shape, df, mean, sd):
        normal = draw_normal(self._key(), shape + df.shape, df.dtype.name)
        half = df / 2
        chi = scaled_gamma(half, half, self._key(), shape)
        return mean + sd * normal / chi.sqrt()
