# SPDX-License-Identifier: Apache-2.0
"""Distributions of what a bijector makes of another distribution's values."""

from __future__ import annotations

import math

import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.nn.probability.base import Distribution
from mycel.nn.probability.bijection import Bijector
from mycel.nn.probability.formulas import (
    Comparable,
    drawn,
    of_parameters,
    of_two,
    of_value,
    own,
)
from mycel.nn.probability.interval import Uniform
from mycel.nn.probability.line import LEAST, Normal
from mycel.nn.probability.maps import Exp, GumbelCDF, Invert
from mycel.nn.probability.parameters import known_type, positive

NOT_LINEAR = "{name}: the mean is only known where the bijector is linear; take that of samples."


class TransformedDistribution(Distribution):
    """The distribution of `bijector.forward(x)`, where x has another distribution.

    Args:
        bijector: the map, a Bijector.
        distribution: the Distribution of x, of real numbers; its parameters may be given in calls.
        seed: see `Distribution`; samples are drawn by the distribution of x, with its own seed.
        name: what errors call it; "transformed_distribution" by default.

    Raises:
        TypeError: the first is not a Bijector, or the second not a Distribution of real numbers.
        ValueError: the mean is asked for and the bijector is not linear.

    Source: MindSpore's `mindspore.nn.probability.distribution.TransformedDistribution`.

    Example:
        >>> from mycel.nn.probability import bijector, distribution
        >>> made = distribution.TransformedDistribution(
        ...     bijector.ScalarAffine(2.0, 1.0), distribution.Normal(0.0, 1.0)
        ... )
        >>> print(made.mean(), made.cdf(Tensor(1.0)))
        1.0 0.5
    """

    def __init__(self, bijector, distribution, seed=None, name="transformed_distribution"):
        given = {"bijector": bijector, "distribution": distribution}
        for key, kind in (("bijector", Bijector), ("distribution", Distribution)):
            if not isinstance(given[key], kind):
                expected = f"a {kind.__name__}"
                raise wrong(TypeError, f"{name}: {key}", expected, type(given[key]).__name__)
        known_type(distribution.dtype, name)
        Distribution.__init__(self, seed, distribution.dtype, name, given | {"seed": seed})
        self._bijector, self._distribution = bijector, distribution
        self.parameter_type = distribution.parameter_type
        self.default_parameters = distribution.default_parameters
        self.parameter_names = distribution.parameter_names
        self._batch_shape = distribution.batch_shape
        self._is_scalar_batch = distribution.is_scalar_batch and bijector.is_scalar_batch
        shapes = distribution.batch_shape, bijector.batch_shape
        self._broadcast_shape = None if None in shapes else np.broadcast_shapes(*shapes)

    @property
    def bijector(self):
        """The map."""
        return self._bijector

    @property
    def distribution(self):
        """The distribution of what is mapped."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the map is linear, so that means are mapped too."""
        return self._bijector.is_constant_jacobian

    def _cdf(self, value, *args, **kwargs):
        below = self._distribution.cdf(self._bijector.inverse(value), *args, **kwargs)
        falls = self._bijector.falls()
        return below if falls is None else ops.where(falls, 1 - below, below)

    def _log_prob(self, value, *args, **kwargs):
        inverse = self._bijector.inverse(value)
        density = self._distribution.log_prob(inverse, *args, **kwargs)
        # What is impossible stays so, whatever the map does there.
        whole = density + self._bijector.inverse_log_jacobian(value)
        return ops.where(density == -math.inf, density, whole)

    def _mean(self, *args, **kwargs):
        if not self.is_linear_transformation:
            raise ValueError(NOT_LINEAR.format(name=self.name))
        return self._bijector.forward(self._distribution.mean(*args, **kwargs))

    def _sample(self, *args, **kwargs):
        return self._bijector.forward(self._distribution.sample(*args, **kwargs))


Bijector.transforms = TransformedDistribution


class _Known(TransformedDistribution, Comparable):
    """A transformed distribution with parameters of its own, and formulas for them."""

    def __init__(self, bijector, distribution, seed, name, **parameters):
        TransformedDistribution.__init__(self, bijector, distribution, seed, name)
        self._given.update(parameters, param_dict=parameters)
        self._reset_parameters()
        self._keep(parameters)


class Gumbel(_Known):
    """The Gumbel distribution of largest values.

    Args:
        loc: its mode.
        scale: how wide it is, above 0.
        seed: see `Distribution`; 0 by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "Gumbel" by default.

    Raises:
        ValueError: scale is not above 0.
        TypeError: dtype is not real.

    Source: MindSpore's `mindspore.nn.probability.distribution.Gumbel`.

    Example:
        >>> from mycel.nn.probability.distribution import Gumbel
        >>> print(Gumbel(1.0, 2.0).mode())
        1.0
    """

    kind = "Gumbel"
    loc, scale = own("loc"), own("scale")

    def __init__(self, loc, scale, seed=0, dtype=float32, name="Gumbel"):
        dtype = known_type(dtype, "Gumbel")
        uniform = Uniform(0.0, 1.0, seed, dtype)
        bijector = Invert(GumbelCDF(loc, scale))
        super().__init__(bijector, uniform, seed, name, loc=loc, scale=scale)

    @of_parameters
    def _mean(self, loc, scale):
        return loc + scale * np.euler_gamma

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    @of_parameters
    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(6))

    @of_parameters
    def _entropy(self, loc, scale):
        return 1 + scale.log() + np.euler_gamma

    @of_value
    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return -z - ops.exp(-z) - scale.log()

    @of_value
    def _cdf(self, value, loc, scale):
        return ops.exp(-ops.exp((loc - value) / scale))

    @of_value
    def _log_cdf(self, value, loc, scale):
        return -ops.exp((loc - value) / scale)

    @of_two
    def _kl_loss(self, loc, scale, loc_b, scale_b):
        ratio = scale / scale_b
        shift = (loc - loc_b) / scale_b
        overlap = ops.expm1(ops.lgamma(ratio + 1) - shift)
        return (scale_b / scale).log() + np.euler_gamma * (ratio - 1) + shift + overlap

    @drawn
    def _sample(self, shape, loc, scale):
        part = self.distribution.sample(shape + loc.shape)
        return loc - scale * (-ops.maximum(part, LEAST).log()).log()


class LogNormal(_Known):
    """The distribution of what has a normally distributed logarithm.

    Args:
        loc: the mean of the logarithm; None, the default, if each call gives it.
        scale: the standard deviation of the logarithm, above 0; None, the default, if each call
            gives it.
        seed: see `Distribution`; 0 by default.
        dtype: a real element type of samples and values; Float32 by default.
        name: what errors call it; "LogNormal" by default.

    Raises:
        ValueError: scale is not above 0.
        TypeError: dtype is not real, or the parameters differ in type.

    Source: MindSpore's `mindspore.nn.probability.distribution.LogNormal`.

    Example:
        >>> from mycel.nn.probability.distribution import LogNormal
        >>> print(LogNormal(0.0, 1.0).cdf(Tensor([-1.0, 1.0])))
        [0.  0.5]
    """

    kind = "LogNormal"
    loc, scale = own("loc"), own("scale")

    def __init__(self, loc=None, scale=None, seed=0, dtype=float32, name="LogNormal"):
        normal = Normal(loc, scale, seed, dtype)
        super().__init__(Exp(), normal, seed, name, loc=loc, scale=scale)
        positive(self.scale, "scale")

    @of_parameters
    def _mean(self, loc, scale):
        return ops.exp(loc + 0.5 * scale.square())

    @of_parameters
    def _mode(self, loc, scale):
        return ops.exp(loc - scale.square())

    @of_parameters
    def _var(self, loc, scale):
        return ops.expm1(scale.square()) * ops.exp(2 * loc + scale.square())

    @of_parameters
    def _entropy(self, loc, scale):
        return loc + 0.5 + scale.log() + 0.5 * math.log(2 * math.pi)

    @of_value
    def _log_prob(self, value, loc, scale):
        log = ops.where(value > 0, value, 1.0).log()
        density = self.distribution.log_prob(log, loc, scale) - log
        return ops.where(value > 0, density, -math.inf)

    @of_value
    def _cdf(self, value, loc, scale):
        log = ops.where(value > 0, value, 1.0).log()
        return ops.where(value > 0, self.distribution.cdf(log, loc, scale), 0.0)

    @of_two
    def _kl_loss(self, loc, scale, loc_b, scale_b):
        return self.distribution.kl_loss("Normal", loc_b, scale_b, loc, scale)

    @drawn
    def _sample(self, shape, loc, scale):
        return ops.exp(self.distribution.sample(shape, loc, scale))
