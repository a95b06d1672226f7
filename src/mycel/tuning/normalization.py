# SPDX-License-Identifier: Apache-2.0
"""Normalisation over a batch by the functions in C++."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import jax
import numpy as np

from mycel.tuning.native import cpp

# Rows of fewer places are summed across their channels, as XLA does.
FEW_PLACES = 4


def serves(x, *vectors) -> bool:
    """Whether a batch [N, C, …] is normalised in C++."""
    if not cpp.serves("normalization", x, *vectors):
        return False
    return math.prod(x.shape[2:]) >= FEW_PLACES


def forward(plain: Callable, arrays: Sequence, epsilon: float, bounds: tuple[float, float]):
    """The output, mean and variance.

    Args:
        plain: the same in JAX, `plain(*arrays)`.
        arrays: x, weight and bias.
        bounds: the least and the largest number of the output.
    """
    return _called("batch_norm_forward", plain, arrays, epsilon, bounds)


def reverse(plain: Callable, arrays: Sequence, epsilon: float, bounds: tuple[float, float]):
    """The gradients of x, weight and bias.

    Args:
        arrays: x, weight, bias, mean, variance, and the gradients of the three results.
    """
    return _called("batch_norm_reverse", plain, arrays, epsilon, bounds)


def _called(name, plain, arrays, epsilon, bounds):
    like_x, like_weight = [jax.ShapeDtypeStruct(array.shape, np.float32) for array in arrays[:2]]
    low, high = map(np.float32, bounds)
    results = [like_x, like_weight, like_weight]
    options = {"epsilon": np.float32(epsilon), "low": low, "high": high}
    return tuple(cpp.call(name, plain, results, arrays, **options))
