# SPDX-License-Identifier: Apache-2.0
"""Invertible maps as Cells, with the logarithms of their slopes."""

from mycel.nn.probability.bijection import Bijector
from mycel.nn.probability.maps import (
    Exp,
    GumbelCDF,
    Invert,
    PowerTransform,
    ScalarAffine,
    Softplus,
)

__all__ = [
    "Bijector",
    "Exp",
    "GumbelCDF",
    "Invert",
    "PowerTransform",
    "ScalarAffine",
    "Softplus",
]
