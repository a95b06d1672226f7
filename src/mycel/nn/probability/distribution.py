# SPDX-License-Identifier: Apache-2.0
"""Distributions as Cells: probabilities, moments, entropies, divergences and samples."""

from mycel.nn.probability.base import Distribution
from mycel.nn.probability.discrete import Bernoulli, Categorical, Geometric, Poisson
from mycel.nn.probability.interval import Beta, Uniform
from mycel.nn.probability.line import Cauchy, Laplace, Logistic, Normal, StudentT
from mycel.nn.probability.positive import Exponential, Gamma, HalfNormal
from mycel.nn.probability.transformed import (
    Gumbel,
    LogNormal,
    TransformedDistribution,
)

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "Distribution",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Normal",
    "Poisson",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
]
