# SPDX-License-Identifier: Apache-2.0
"""Rarer distributions: Laplace, gamma, Poisson, Cauchy; and Tensors drawn like another."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import as_dtype, float32, int32, int64
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.creation import as_size
from mycel.ops.common import as_float
from mycel.ops.random.drawing import as_key, as_tensor, draw_key, draw_normal, draw_uniform
from mycel.ops.spelled.in_place_methods import check_order, check_real, drawn_in


@op()
def scaled_laplace(mean, scale, key, *, shape):
    """Numbers of a Laplace distribution; mean and scale may vary from element to element."""
    full = np.broadcast_shapes(shape, mean.shape, scale.shape)
    return mean + scale * jax.random.laplace(as_key(key), full, mean.dtype)


@composite("ops.laplace(shape, mean, lambda_param=scale, seed=seed)")
def laplace(shape, mean, scale, seed=None):
    """Numbers of a Laplace distribution.

    Args:
        shape: the shape of the result, which is broadcast with those of `mean` and `scale`.
        mean: the mean, a number or a Tensor.
        scale: the scale, a positive number or a Tensor of such.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.

    Example:
        >>> ops.laplace((2, 3), Tensor(0.0), Tensor(1.0)).shape
        (2, 3)
    """
    given = [as_tensor(n, float32) for n in (mean, scale)]
    return scaled_laplace(*given, draw_key(seed), as_size(shape))


@composite(
    "ops.standard_laplace(shape, seed=seed)",
    "StandardLaplace(seed=(seed, 0), seed2=(seed2, 0))(shape)",
)
def standard_laplace(shape, seed=None, seed2=0):
    """Numbers of a Laplace distribution of mean 0 and scale 1.

    Args:
        shape: the shape of the result, integers or a Tensor of them, which is read.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        seed2: a second seed, which counts if `seed` is None or 0.

    Example:
        >>> ops.standard_laplace((2, 3)).shape
        (2, 3)
    """
    return laplace(shape, 0.0, 1.0, seed or seed2)


@op()
def scaled_gamma(alpha, beta, key, *, shape):
    """Numbers of a gamma distribution for each pair of parameters."""
    full = (*shape, *np.broadcast_shapes(alpha.shape, beta.shape))
    return jax.random.gamma(as_key(key), alpha, full, alpha.dtype) / beta


@composite(
    "ops.gamma(shape, alpha, beta, seed=seed)",
    "Gamma(seed=(seed, 0), seed2=(seed2, 0))(shape, alpha, beta)",
)
def gamma(shape, alpha, beta, seed=None, seed2=0):
    """Numbers of a gamma distribution, `shape` of them for each pair of parameters.

    Args:
        shape: what stands in front of the shape of the parameters in the result.
        alpha: the shape parameter, a positive number or a Tensor of such.
        beta: the inverse of the scale, a positive number or a Tensor of such; the shapes are
            broadcast.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        seed2: a second seed, which counts if `seed` is None or 0.

    Example:
        >>> ops.gamma((2,), Tensor([1.0, 2.0]), Tensor([1.0])).shape
        (2, 2)
    """
    given = [as_tensor(n, float32) for n in (alpha, beta)]
    return scaled_gamma(*given, draw_key(seed or seed2), as_size(shape))


@composite(
    "ops.random_gamma(shape, alpha, seed=seed)",
    "RandomGamma(seed=(seed, 0), seed2=(seed2, 0))(shape, alpha)",
)
def random_gamma(shape, alpha, seed=None, seed2=0):
    """Numbers of a gamma distribution of scale 1, `shape` of them for each parameter.

    Args:
        shape: what stands in front of the shape of `alpha` in the result.
        alpha: the shape parameter, positive, a Tensor, whose element type the result has.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is None or 0, and without either the default generator is drawn from.

    Example:
        >>> ops.random_gamma((2,), Tensor([1.0, 2.0])).shape
        (2, 2)
    """
    one = Tensor(1.0, alpha.dtype)
    return scaled_gamma(alpha, one, draw_key(seed or seed2), as_size(shape))


@op()
def draw_poisson(rate, key, *, shape, dtype):
    """Counts of a Poisson distribution for each rate."""
    drawn = jax.random.poisson(as_key(key), as_float(rate), (*shape, *rate.shape), np.int32)
    return drawn.astype(np.dtype(jnp.dtype(dtype)))


@composite("ops.random_poisson(shape, rate, seed=seed, dtype=dtype)")
def random_poisson(shape, rate, seed=None, dtype=float32):
    """Counts of a Poisson distribution, `shape` of them for each rate.

    Args:
        shape: what stands in front of the shape of `rate` in the result.
        rate: the mean of the distribution, a number or a Tensor.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        dtype: the element type of the result, Float32 by default.

    Example:
        >>> ops.random_poisson((2,), Tensor([1.0, 2.0])).shape
        (2, 2)
    """
    key = draw_key(seed)
    return draw_poisson(as_tensor(rate, float32), key, as_size(shape), as_dtype(dtype).name)


@composite("RandomPoisson(seed=(seed, 0), seed2=(seed2, 0), dtype=dtype)(shape, rate)")
def random_poisson_primitive(shape, rate, seed=0, seed2=0, dtype=int64):
    """Counts of a Poisson distribution, `shape` of them for each rate; Int64.

    Args:
        shape: what stands in front of the shape of `rate` in the result.
        rate: the mean of the distribution, a number or a Tensor.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is 0, and 0 for both draws from the default generator.
        dtype: the element type of the result, Int64 by default.

    Example:
        >>> ops.RandomPoisson()((2,), Tensor([1.0, 2.0])).shape
        (2, 2)
    """
    return random_poisson(shape, rate, seed or seed2, dtype)


@composite("Poisson(seed=(seed, 0), seed2=(seed2, 0))(shape, mean=rate)")
def poisson(shape, rate, seed=0, seed2=0):
    """Counts of a Poisson distribution, `shape` of them for each mean; Int32.

    Args:
        shape: what stands in front of the shape of `rate` in the result.
        rate: the mean of the distribution, a number or a Tensor.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is 0, and 0 for both draws from the default generator.

    Example:
        >>> ops.Poisson()((2,), Tensor([1.0, 2.0])).dtype
        mindspore.int32
    """
    return random_poisson(shape, rate, seed or seed2, int32)


@composite("Randperm(max_length, pad, dtype)(n)")
def randperm_primitive(n, max_length=1, pad=-1, dtype=int32):
    """The numbers from 0 to before n in random order, filled up with `pad`.

    Args:
        n: how many numbers: a Tensor of one integer, of which the shape does not depend.
        max_length: how many elements the result has.
        pad: what stands behind the numbers.
        dtype: an integer type.

    Raises:
        ValueError: `max_length` is below 1, or `n` has more than one element.

    Example:
        >>> made = ops.Randperm(max_length=4, pad=-1)(Tensor([2], ms.int32)).tolist()
        >>> sorted(made[:2]), made[2:]
        ([0, 1], [-1, -1])
    """
    if max_length < 1:
        raise wrong(ValueError, "Randperm: max_length", "at least 1", max_length)
    n = n if isinstance(n, Tensor) else Tensor(n)
    if n.size != 1:
        raise wrong(ValueError, "Randperm: n", "a Tensor of one integer", f"shape {n.shape}")
    return order_of(draw_key(), n, max_length, pad, as_dtype(dtype).name)


@op()
def order_of(key, n, *, length, pad, dtype):
    """The first n numbers in the order of random ones, then `pad`."""
    places = jnp.arange(length)
    inside = places < n.reshape(())
    drawn = jax.random.uniform(as_key(key), (length,))
    order = jnp.argsort(jnp.where(inside, drawn, 2.0))
    return jnp.where(inside, order, pad).astype(dtype)


# -- of the shape and type of a Tensor -------------------------------------------------------------


@op()
def draw_cauchy(key, *, shape, dtype):
    """Numbers of a Cauchy distribution of median 0 and scale 1."""
    return jax.random.cauchy(as_key(key), shape, np.dtype(jnp.dtype(dtype)))


@composite("Tensor.cauchy(x, median=0.0, sigma=1.0)")
def cauchy(x, median=0.0, sigma=1.0):
    """A new Tensor like x with numbers of a Cauchy distribution; x itself is left alone.

    Args:
        x: a Tensor, whose shape and element type the result has.
        median: half of the numbers lie below it.
        sigma: half of them lie nearer to the median than this.

    Raises:
        TypeError: x holds integers.

    Example:
        >>> Tensor([1.0, 2.0]).cauchy(5.0).shape
        (2,)
    """
    check_real(x, "cauchy")
    drawn = draw_cauchy(draw_key(), x.shape, drawn_in(x))
    return (drawn * sigma + median).astype(x.dtype)


@composite("Tensor.log_normal(x, mean=1.0, std=2.0)")
def log_normal(x, mean=1.0, std=2.0):
    """A new Tensor like x with numbers whose logarithms are normal; x itself is left alone.

    Args:
        x: a Tensor, whose shape and element type the result has.
        mean, std: of the logarithms.

    Raises:
        TypeError: x holds integers.
        ValueError: std is negative.

    Example:
        >>> print(Tensor([1.0, 2.0]).log_normal(0.0, 0.0))
        [1. 1.]
    """
    check_real(x, "log_normal")
    if std < 0:
        raise wrong(ValueError, "log_normal: std", "not negative", std)
    drawn = draw_normal(draw_key(), x.shape, drawn_in(x))
    return (drawn * std + mean).exp().astype(x.dtype)


@composite("Tensor.uniform(x, from_=0.0, to=1.0, generator=None)")
def uniform_like(x, from_=0.0, to=1.0, generator=None):
    """A new Tensor like x with numbers from `from_` to before `to`; x itself is left alone.

    Args:
        x: a Tensor, whose shape and element type the result has.
        from_: the lower bound, 0 by default.
        to: the upper bound, which is not reached; 1 by default.
        generator: where the randomness comes from; None is the generator of the thread.

    Raises:
        TypeError: x holds integers.
        RuntimeError: from_ lies above to.

    Example:
        >>> x = Tensor([1.0, 2.0]).uniform(5, 6)
        >>> bool((x >= 5).all() and (x <= 6).all())
        True
    """
    check_real(x, "uniform")
    check_order(from_, to, "uniform", lambda low, high: low > high)
    drawn = draw_uniform(draw_key(None, generator), x.shape, drawn_in(x))
    return (drawn * (to - from_) + from_).astype(x.dtype)
