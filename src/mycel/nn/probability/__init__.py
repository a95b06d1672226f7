# SPDX-License-Identifier: Apache-2.0
"""Distributions, and the maps between them, as Cells."""

from mycel.nn.probability import bijector, distribution

__all__ = ["bijector", "distribution"]
