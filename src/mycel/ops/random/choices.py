# SPDX-License-Identifier: Apache-2.0
"""Random choices: indices and categories drawn by weight, permutations, rows in random order."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import as_dtype, int32, int64
from mycel.kernel.define.definition import static_value
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.array.creation import as_size
from mycel.ops.common import as_float
from mycel.ops.random.drawing import as_key, draw_key


@op()
def draw_choices(weights, key, *, count, replacement, dtype):
    """Indices drawn by weight from each row."""
    logits = jnp.log(as_float(weights))
    if replacement:
        drawn = jax.random.categorical(as_key(key), logits, -1, (count, *logits.shape[:-1]))
        drawn = jnp.moveaxis(drawn, 0, -1)
    else:
        # The largest of weights disturbed by Gumbel noise are a draw without replacement.
        noisy = logits + jax.random.gumbel(as_key(key), logits.shape, logits.dtype)
        drawn = jax.lax.top_k(noisy, count)[1]
    return drawn.astype(np.dtype(jnp.dtype(dtype)))


@composite(
    "ops.multinomial(input=x, num_samples=count, replacement=replacement, seed=seed)",
    "Tensor.multinomial(x, num_samples=count, replacement=replacement, seed=seed)",
    "Multinomial(seed=(seed, 0), seed2=(seed2, 0), dtype=dtype)(x, num_samples=count)",
    "ops.multinomial_with_replacement(x, seed=seed, offset=seed2, numsamples=count,"
    " replacement=False, dtype='int64')",
    "MultinomialWithReplacement(numsamples=count, replacement=False, dtype='int64')"
    "(x, seed=seed, offset=seed2)",
)
def multinomial(x, count, replacement=True, seed=None, seed2=0, dtype=int32):
    """Indices drawn from each row of x, whose elements are the weights; Int32.

    Args:
        x: [N] or [M, N], numbers from 0.
        count: how many indices are drawn from each row.
        replacement: whether an index may be drawn again; True by default.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is None or 0, and without either the default generator is drawn from. Of
            `multinomial_with_replacement` both may be Tensors, which are read.
        dtype: the integer type of the result, Int32 by default.

    Returns:
        (num_samples) or (rows, num_samples).

    Raises:
        ValueError: more indices are drawn without replacement than there are.

    Example:
        >>> print(ops.multinomial(Tensor([0.0, 1.0]), 3))
        [1 1 1]
    """
    if not replacement and count > x.shape[-1]:
        raise ValueError(f"{count} cannot be drawn without replacement from {x.shape[-1]}.")
    seed, seed2 = (int(n) if isinstance(n, Tensor) else n for n in (seed, seed2))
    key = draw_key(seed or seed2)
    return draw_choices(x, key, static_value(count), bool(replacement), as_dtype(dtype).name)


@composite(
    "mint.multinomial(input=x, num_samples=count, replacement=replacement, generator=generator)"
)
def mint_multinomial(x, count, replacement=False, generator=None):
    """Indices drawn from each row of x, whose elements are the weights; Int64.

    Args:
        x: [N] or [M, N], numbers from 0.
        count: how many indices are drawn from each row.
        replacement: whether an index may be drawn again; False by default.
        generator: the generator to draw from; None, the default, for the default one.

    Raises:
        ValueError: more indices are drawn without replacement than there are.

    Example:
        >>> print(mint.multinomial(Tensor([0.0, 1.0]), 1))
        [1]
    """
    if not replacement and count > x.shape[-1]:
        raise ValueError(f"{count} cannot be drawn without replacement from {x.shape[-1]}.")
    return draw_choices(x, draw_key(None, generator), count, bool(replacement), "int64")


@composite(
    "ops.random_categorical(logits, num_sample=count, seed=seed, dtype=dtype)",
    "RandomCategorical(dtype=dtype)(logits, num_sample=count, seed=(seed, 0))",
    "Tensor.random_categorical(logits, num_sample=count, seed=seed, dtype=dtype)",
)
def random_categorical(logits, count, seed=0, dtype=int64):
    """Indices drawn from each row of logarithms of weights: [M, count] from [M, N].

    Args:
        logits: [M, N], real.
        count: how many indices are drawn from each row.
        seed: an integer that makes the numbers repeat from run to run; 0 draws from the default
            generator.
        dtype: the integer type of the result, Int64 by default.

    Example:
        >>> ops.random_categorical(Tensor([[1.0, 2.0]]), 3).shape
        (1, 3)
    """
    key = draw_key(static_value(seed))
    return draw_categories(logits, key, static_value(count), as_dtype(dtype).name)


@op()
def draw_categories(logits, key, *, count, dtype):
    """Indices drawn from each row by the logarithm of its weight."""
    drawn = jax.random.categorical(as_key(key), as_float(logits), -1, (count, logits.shape[0]))
    return drawn.T.astype(np.dtype(jnp.dtype(dtype)))


@op()
def draw_order(key, *, length, dtype):
    """The numbers from 0 to before `length` in random order."""
    return jax.random.permutation(as_key(key), length).astype(np.dtype(jnp.dtype(dtype)))


@composite(
    "ops.randperm(n, seed=(seed, 0), offset=offset, dtype=dtype)",
    "RandpermV2(seed=(seed, 0), offset=offset, dtype=dtype)(n)",
    "mint.randperm(n, generator=generator, dtype=dtype)",
)
def randperm(n, seed=0, offset=0, dtype=int64, generator=None):
    """The integers from 0 to n - 1 in random order.

    Args:
        n: how many.
        seed: an integer that makes the order repeat from run to run; 0 draws from the default
            generator.
        offset: no effect.
        dtype: the element type of the result, Int64 by default.
        generator: the generator to draw from; None, the default, for the default one.

    Example:
        >>> sorted(ops.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    (length,) = as_size(n)
    return draw_order(draw_key(seed, generator), length, as_dtype(dtype).name)


@op()
def shuffled(x, key):
    """The rows of x in random order."""
    return jax.random.permutation(as_key(key), x)


@composite("ops.shuffle(x, seed=seed)", "RandomShuffle(seed=(seed, 0), seed2=(seed2, 0))(x)")
def shuffle(x, seed=None, seed2=0):
    """The rows of x in random order.

    Args:
        x: any shape with at least one dimension.
        seed, seed2: an integer that makes the order repeat from run to run; the second counts if
            the first is None or 0, and without either the default generator is drawn from.

    Example:
        >>> sorted(ops.shuffle(Tensor([3, 1, 2])).tolist())
        [1, 2, 3]
    """
    return shuffled(x, draw_key(seed or seed2))


@op()
def gumbel_softmax_sample(x, key, tau, *, hard, axis):
    """One category drawn by logits, softened; see `gumbel_softmax`.

    Example:
        >>> from mycel.ops.random.choices import gumbel_softmax_sample
        >>> key = Tensor(np.array([0, 1], np.uint32))
        >>> print(gumbel_softmax_sample(Tensor([0.0, 99.0]), key, 1.0, True, -1))
        [0. 1.]
    """
    if x.dtype.kind != "f":
        raise TypeError(f"gumbel_softmax needs real numbers, not {x.dtype}.")
    axis = axis_in(axis, x.ndim)
    noise = jax.random.gumbel(as_key(key), x.shape, np.promote_types(x.dtype, np.float32))
    soft = jax.nn.softmax((x + noise.astype(x.dtype)) / tau.astype(x.dtype), axis)
    if not hard:
        return soft
    place = jnp.argmax(soft, axis, keepdims=True)
    chosen = (lax.broadcasted_iota(place.dtype, x.shape, axis) == place).astype(x.dtype)
    return lax.stop_gradient(chosen - soft) + soft


@composite("ops.gumbel_softmax(logits=x, tau=1.0, hard=False, dim=-1)")
def gumbel_softmax(x, tau=1.0, hard=False, dim=-1):
    """A Gumbel-softmax sample: a category drawn by logits along a dimension, with a derivative.

    Args:
        x: any shape, real.
        tau: the temperature; the smaller, the nearer to one category.
        hard: give ones and zeros, with the derivative of the soft choice.
        dim: the dimension of the categories, the last one by default.

    Raises:
        TypeError: the logits are not real.
        ValueError: tau is not positive.

    Example:
        >>> print(ops.gumbel_softmax(Tensor([0.0, 99.0]), hard=True))
        [0. 1.]
    """
    if tau <= 0:
        raise ValueError(f"The tau of gumbel_softmax must be positive, but {tau} was given.")
    return gumbel_softmax_sample(x, draw_key(), float(tau), bool(hard), dim)
