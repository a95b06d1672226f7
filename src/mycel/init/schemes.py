# SPDX-License-Identifier: Apache-2.0
"""The formulas behind initialisers: pure functions of a NumPy generator and a shape.

NumPy fills the arrays, because XLA would compile one program for every shape of a network.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

# Below this chance of acceptance, drawing again until a normal number fits takes too long.
_LIKELY = 0.2

# The standard deviation of a normal distribution cut off at two of its own.
CUT_AT_TWO = 0.87962566103423978


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many numbers feed one output, and how many outputs one input feeds.

    Raises:
        ValueError: fewer than two dimensions.

    Example:
        >>> from mycel.init.schemes import fans
        >>> fans((8, 3, 5, 5))
        (75, 200)
    """
    if len(shape) < 2:
        raise ValueError(
            f"A shape needs two dimensions or more to have inputs and outputs, but {shape} "
            "was given. Use 'normal', 'uniform', 'zeros' or 'ones' for vectors."
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def fan_of(shape: tuple[int, ...], mode: str) -> float:
    """The number that `mode` names: 'fan_in', 'fan_out' or 'fan_avg'.

    Raises:
        ValueError: another mode, or fewer than two dimensions.

    Example:
        >>> from mycel.init.schemes import fan_of
        >>> fan_of((8, 4), "fan_avg")
        6.0
    """
    inputs, outputs = fans(shape)
    known = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
    if mode not in known:
        raise ValueError(f"mode must be 'fan_in', 'fan_out' or 'fan_avg', but {mode!r} was given.")
    return known[mode]


def gain_of(nonlinearity: str, negative_slope: float = 0.0) -> float:
    """By how much weights are enlarged to keep the variance through an activation.

    Raises:
        ValueError: an unknown activation.

    Example:
        >>> from mycel.init.schemes import gain_of
        >>> round(gain_of("relu"), 4)
        1.4142
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + negative_slope**2))
    known = {"sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2)}
    if nonlinearity not in known:
        raise ValueError(
            f"nonlinearity must be one of {[*known, 'leaky_relu']}, but {nonlinearity!r} was given."
        )
    return known[nonlinearity]


def uniform(random: Generator, shape, low: float, high: float) -> np.ndarray:
    """Numbers spread evenly from `low` to `high`.

    Example:
        >>> from mycel.init.schemes import uniform
        >>> uniform(np.random.default_rng(0), (2,), 5, 6) // 1
        array([5., 5.], dtype=float32)
    """
    numbers = random.random(shape, np.float32)
    numbers *= high - low
    numbers += low
    return numbers


def normal(random: Generator, shape, sigma: float, mean: float = 0.0) -> np.ndarray:
    """Numbers around `mean` with standard deviation `sigma`.

    Example:
        >>> from mycel.init.schemes import normal
        >>> normal(np.random.default_rng(0), (2,), 0.0, 3.0)
        array([3., 3.], dtype=float32)
    """
    numbers = random.standard_normal(shape, np.float32)
    numbers *= sigma
    numbers += mean
    return numbers


def truncated_normal(random: Generator, shape, sigma, mean, low, high) -> np.ndarray:
    """`normal`, drawn again until every number lies between `low` and `high`.

    Raises:
        ValueError: `low` is not below `high`, or `sigma` is not positive.

    Example:
        >>> from mycel.init.schemes import truncated_normal
        >>> bool((truncated_normal(np.random.default_rng(0), (99,), 1.0, 5.0, -2.0, 2.0) < 2).all())
        True
    """
    if not (low < high and sigma > 0):
        raise ValueError(
            "A truncated normal distribution needs a < b and sigma > 0, but "
            f"a={low}, b={high}, sigma={sigma} were given."
        )
    below, above = (low - mean) / sigma, (high - mean) / sigma
    if below + above < 0:
        # Mirrored, so that the likelier side is the upper one.
        return mean - _between(random, shape, -above, -below) * sigma
    return mean + _between(random, shape, below, above) * sigma


def _between(random: Generator, shape, low: float, high: float) -> np.ndarray:
    """Standard normal numbers between two bounds, by rejection from a proposal that fits them."""
    propose = _proposal(low, high)
    count = math.prod(shape)
    values, accepted = propose(random, count)
    missing = np.flatnonzero(~accepted)
    while missing.size:
        proposed, accepted = propose(random, missing.size)
        values[missing[accepted]] = proposed[accepted]
        missing = missing[~accepted]
    return values.reshape(shape)


def _proposal(low: float, high: float) -> Callable:
    chance = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2

    def plain(random, count):
        values = random.standard_normal(count, np.float32)
        return values, (values >= low) & (values <= high)

    def flat(random, count):
        values = uniform(random, count, low, high)
        return values, random.random(count) <= np.exp(-0.5 * values.astype(np.float64) ** 2)

    def tail(random, count):
        # An exponential distribution of rate `low`, cut at `high`, lies closely above the tail.
        cut = -math.expm1(-low * (high - low))
        beyond = -np.log1p(-random.random(count) * cut) / low
        return (low + beyond).astype(np.float32), random.random(count) <= np.exp(-0.5 * beyond**2)

    if chance > _LIKELY:
        return plain
    return tail if low > 0 else flat


def orthogonal(random: Generator, shape, gain: float) -> np.ndarray:
    """A matrix with orthogonal rows or columns of length `gain`; further dimensions are columns.

    Raises:
        ValueError: fewer than two dimensions.

    Example:
        >>> from mycel.init.schemes import orthogonal
        >>> made = orthogonal(np.random.default_rng(0), (2, 3), 1.0)
        >>> np.round(made @ made.T + 0.0, 4) + 0.0
        array([[1., 0.],
               [0., 1.]])
    """
    if len(shape) < 2:
        raise ValueError(f"An orthogonal Tensor needs two dimensions or more, not shape {shape}.")
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = random.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q *= np.sign(np.diag(r))
    return gain * (q.T if rows < columns else q).reshape(shape)


def sparse(random: Generator, shape, sparsity: float, sigma: float) -> np.ndarray:
    """`normal` numbers of which a share `sparsity` of every column is zero.

    Raises:
        ValueError: not two dimensions.

    Example:
        >>> from mycel.init.schemes import sparse
        >>> int((sparse(np.random.default_rng(0), (4, 1), 0.5, 1.0) == 0).sum())
        2
    """
    if len(shape) != 2:
        raise ValueError(f"A sparse Tensor needs two dimensions, not shape {shape}.")
    numbers = normal(random, shape, sigma)
    zeros = math.ceil(sparsity * shape[0])
    order = np.argsort(random.random(shape), axis=0)
    np.put_along_axis(numbers, order[:zeros], 0, axis=0)
    return numbers


def identity(shape) -> np.ndarray:
    """Ones where row and column agree.

    Raises:
        ValueError: not two dimensions.

    Example:
        >>> from mycel.init.schemes import identity
        >>> identity((1, 2))
        array([[1., 0.]], dtype=float32)
    """
    if len(shape) != 2:
        raise ValueError(f"An identity needs two dimensions, not shape {shape}.")
    return np.eye(*shape, dtype=np.float32)


def dirac(shape, groups: int) -> np.ndarray:
    """The convolution weight that hands each channel on unchanged, group by group.

    Raises:
        ValueError: not three to five dimensions, or `groups` does not divide the first.

    Example:
        >>> from mycel.init.schemes import dirac
        >>> dirac((1, 1, 3), 1)
        array([[[0., 1., 0.]]], dtype=float32)
    """
    if not 3 <= len(shape) <= 5:
        raise ValueError(f"A Dirac Tensor needs three to five dimensions, not shape {shape}.")
    if shape[0] % groups:
        raise ValueError(f"groups={groups} does not divide the first length of shape {shape}.")
    kernels = np.zeros(shape, np.float32)
    middle = tuple(length // 2 for length in shape[2:])
    each = shape[0] // groups
    for group in range(groups):
        for channel in range(min(each, shape[1])):
            kernels[(group * each + channel, channel, *middle)] = 1
    return kernels
