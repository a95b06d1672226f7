# SPDX-License-Identifier: Apache-2.0
"""What initialisers written for MindSpore import beside the classes: its helper functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycel.init import schemes
from mycel.init.initializer import NAMES, Initializer, random_numbers
from mycel.kernel.base import errors

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)
_SLOPE = 0.01


def gain(nonlinearity: str, param: Any = None) -> float:
    """By how much weights are enlarged to keep the variance through an activation.

    Args:
        nonlinearity: 'relu', 'leaky_relu', 'tanh', 'sigmoid', or the name of a linear layer.
        param: the slope of 'leaky_relu' below zero; None means 0.01.

    Raises:
        ValueError: another name, or a slope that is not a number.

    Source: MindSpore's `mindspore.common.initializer._calculate_gain`.

    Example:
        >>> from mycel.compat.initializers import gain
        >>> round(gain("leaky_relu", 0.1), 4), gain("conv2d")
        (1.4072, 1)
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity != "leaky_relu":
        return schemes.gain_of(nonlinearity)
    slope = _SLOPE if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise errors.wrong(ValueError, "The slope of 'leaky_relu'", "a number", repr(param))
    return math.sqrt(2 / (1 + slope**2))


def assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Fill `arr` with a number or with another array, in place.

    Source: MindSpore's `mindspore.common.initializer._assignment`.

    Example:
        >>> from mycel.compat.initializers import assignment
        >>> assignment(np.zeros(2), 3)
        array([3., 3.])
    """
    arr[...] = num if np.isscalar(num) else np.reshape(num, arr.shape)
    return arr


def register(*aliases: str):
    """A decorator that lets `initializer(name)` find an Initializer by other names too.

    Raises:
        TypeError: not a subclass of Initializer.

    Source: MindSpore's `mindspore.common.initializer._register`.

    Example:
        >>> from mycel.compat.initializers import register
        >>> @register("sevens_example")
        ... class Sevens(mycel.init.Initializer):
        ...     def _initialize(self, arr):
        ...         arr[...] = 7
        >>> print(mycel.init.initializer("sevens_example", (2,)))
        [7. 7.]
    """

    def decorate(kind: type) -> type:
        if not (isinstance(kind, type) and issubclass(kind, Initializer)):
            raise errors.wrong(TypeError, "What is registered", "an Initializer class", repr(kind))
        for name in (kind.__name__, *aliases):
            NAMES[name.lower()] = kind
        return kind

    return decorate


def random_uniform(a: float, b: float, shape: Any) -> np.ndarray:
    """Numbers spread evenly from `a` to `b`, that `set_seed` fixes.

    Source: MindSpore's `mindspore.common.initializer._init_random_uniform`.

    Example:
        >>> from mycel.compat.initializers import random_uniform
        >>> random_uniform(5, 6, (2,)) // 1
        array([5., 5.], dtype=float32)
    """
    return schemes.uniform(random_numbers(), shape, a, b)


def random_normal(mean: float, sigma: float, shape: Any) -> np.ndarray:
    """Numbers around `mean` with standard deviation `sigma`, that `set_seed` fixes.

    Source: MindSpore's `mindspore.common.initializer._init_random_normal`.

    Example:
        >>> from mycel.compat.initializers import random_normal
        >>> random_normal(3, 0, (2,))
        array([3., 3.], dtype=float32)
    """
    return schemes.normal(random_numbers(), shape, sigma, mean)


def truncated_normal(a: float, b: float, mean: float, sigma: float, shape: Any) -> np.ndarray:
    """Normal numbers between `a` and `b`, that `set_seed` fixes.

    Source: MindSpore's `mindspore.common.initializer._init_truncated_normal`.

    Example:
        >>> from mycel.compat.initializers import truncated_normal
        >>> bool((truncated_normal(-2, 2, 0, 1, (99,)) < 2).all())
        True
    """
    return schemes.truncated_normal(random_numbers(), shape, sigma, mean, a, b)


def fill_uniform(seed: int, array: np.ndarray, a: float, b: float) -> None:
    """Fill an array with numbers spread evenly from `a` to `b`, which `seed` fixes.

    Example:
        >>> from mycel.compat.initializers import fill_uniform
        >>> array = np.zeros(2)
        >>> fill_uniform(1, array, 5, 6)
        >>> array // 1
        array([5., 5.])
    """
    array[...] = schemes.uniform(np.random.default_rng(seed), array.shape, a, b)


def fill_normal(seed: int, array: np.ndarray, mean: float, sigma: float) -> None:
    """Fill an array with normal numbers, which `seed` fixes.

    Example:
        >>> from mycel.compat.initializers import fill_normal
        >>> array = np.zeros(2)
        >>> fill_normal(1, array, 3, 0)
        >>> array
        array([3., 3.])
    """
    array[...] = schemes.normal(np.random.default_rng(seed), array.shape, sigma, mean)


def fill_truncated_normal(
    seed: int, array: np.ndarray, a: float, b: float, mean: float, sigma: float
) -> None:
    """Fill an array with normal numbers between `a` and `b`, which `seed` fixes.

    Example:
        >>> from mycel.compat.initializers import fill_truncated_normal
        >>> array = np.zeros(99)
        >>> fill_truncated_normal(1, array, -2, 2, 0, 1)
        >>> bool((array < 2).all())
        True
    """
    random = np.random.default_rng(seed)
    array[...] = schemes.truncated_normal(random, array.shape, sigma, mean, a, b)
