# SPDX-License-Identifier: Apache-2.0
"""Random numbers. Each call draws a key, a recorded input, and hands it to a pure operator.

So numbers are new at every call, also of a remembered one, and `set_seed` makes them repeat.
"""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import as_dtype, float32, int32, int64
from mycel.kernel.record.generator import Generator, default_generator, get_seed
from mycel.kernel.record.stream import current_stream
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.creation import as_size
from mycel.ops.common import as_float

_seeded = threading.local()


def draw_key(seed=None, generator=None) -> Tensor:
    """A key never given before: of a generator, of a seed of the call, or of the thread.

    A seed of the call makes its numbers repeat from run to run, not from call to call.
    """
    if generator is not None:
        return generator.next_key()
    if not seed:
        return default_generator().next_key()
    if get_seed() is not None:
        return mixed_key(default_generator().next_key(), int(seed))
    return generator_of(int(seed)).next_key()


def seeded_generators() -> dict[int, Generator]:
    """The generators of this thread that stand for seeds of calls, by seed."""
    return _seeded.__dict__.setdefault("generators", {})


def generator_of(seed: int) -> Generator:
    """The generator that stands for a seed of a call."""
    made = seeded_generators()
    if seed not in made:
        # It outlives the call in which it is first used, so it is met from outside.
        made[seed] = current_stream().unobserved(Generator, seed)
    return made[seed]


def as_key(key):
    """The key of jax.random that a UInt32[2] array stands for."""
    return jax.random.wrap_key_data(key.astype(np.uint32), impl="threefry2x32")


@op()
def mixed_key(key, *, seed):
    """A key that depends on a seed as well."""
    return jax.random.key_data(jax.random.fold_in(as_key(key), np.uint32(seed & 0xFFFFFFFF)))


@op()
def draw_uniform(key, *, shape, dtype):
    """Numbers from 0 to before 1."""
    return jax.random.uniform(as_key(key), shape, np.dtype(jnp.dtype(dtype)))


@op()
def draw_normal(key, *, shape, dtype):
    """Numbers of mean 0 and standard deviation 1."""
    return jax.random.normal(as_key(key), shape, np.dtype(jnp.dtype(dtype)))


@op()
def draw_integers(low, high, key, *, shape, dtype):
    """Integers from `low` to before `high`."""
    wanted = np.dtype(jnp.dtype(dtype))
    wide = np.dtype(np.int64) if wanted.kind not in "iu" else wanted
    low, high = low.astype(wide), high.astype(wide)
    return jax.random.randint(as_key(key), shape, low, high, wide).astype(wanted)


def _real(dtype, name: str) -> str:
    found = float32 if dtype is None else as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"{name} draws real numbers, so its dtype cannot be {found}.")
    return found.name


def _whole(dtype, name: str) -> str:
    found = int64 if dtype is None else as_dtype(dtype)
    if found.is_inexact:
        raise ValueError(f"{name} draws integers, so its dtype cannot be {found}.")
    return found.name


def _one_or_size(size) -> tuple[int, ...]:
    return (1,) if size == () else as_size(size)


@composite(
    "ops.rand(*size, dtype=dtype, seed=seed)",
    "mint.rand(*size, generator=generator, dtype=dtype, device=device)",
)
def rand(size=(), dtype=None, seed=None, generator=None, device=None):
    """Random numbers from the uniform distribution on [0, 1).

    Args:
        size: the shape of the result, as loose integers or one tuple; none gives one number in a
            vector.
        dtype: a real element type; None, the default, for Float32.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        generator: the generator to draw from; None, the default, for the default one.
        device: no effect.

    Raises:
        ValueError: the dtype is not real.

    Example:
        >>> ops.rand(2, 3).shape
        (2, 3)
    """
    return draw_uniform(draw_key(seed, generator), _one_or_size(size), _real(dtype, "rand"))


@composite(
    "ops.randn(*size, dtype=dtype, seed=seed)",
    "mint.randn(*size, generator=generator, dtype=dtype, device=device)",
)
def randn(size=(), dtype=None, seed=None, generator=None, device=None):
    """Random numbers from the normal distribution of mean 0 and standard deviation 1.

    Args:
        size: the shape of the result, as loose integers or one tuple; none gives one number in a
            vector.
        dtype: a real element type; None, the default, for Float32.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        generator: the generator to draw from; None, the default, for the default one.
        device: no effect.

    Raises:
        ValueError: the dtype is not real.

    Example:
        >>> ops.randn(2, 3).shape
        (2, 3)
    """
    return draw_normal(draw_key(seed, generator), _one_or_size(size), _real(dtype, "randn"))


@composite("ops.randint(low, high, size, seed=seed, dtype=dtype)")
def randint(low, high, size, seed=None, dtype=None):
    """Random integers from `low` up to, not including, `high`, all equally likely.

    Args:
        low: the least integer, a number or a Tensor of one.
        high: the integer that bounds them from above, a number or a Tensor of one.
        size: the shape of the result, a tuple.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        dtype: an integer element type; None, the default, for Int64.

    Raises:
        ValueError: `size` is not a tuple, the dtype is not whole, or `high` is not above `low`.

    Example:
        >>> ops.randint(0, 5, (2, 3)).dtype
        mindspore.int64
    """
    if not isinstance(size, (tuple, list)):
        raise ValueError(f"The size must be a tuple of integers, but {size!r} was given.")
    return _integers(low, high, size, draw_key(seed), dtype)


def _integers(low, high, size, key, dtype, may_be_real=False) -> Tensor:
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and low >= high:
        raise ValueError(f"No integer lies from {low} to before {high}.")
    # As Tensors of their own type: next to the key they would take its unsigned one.
    bounds = [n if isinstance(n, Tensor) else Tensor(n, int64) for n in (low, high)]
    known = as_dtype(dtype) if may_be_real and dtype is not None else None
    is_real = known is not None and known.is_floating
    kind = known.name if known is not None and is_real else _whole(dtype, "randint")
    return draw_integers(*bounds, key, as_size(size), kind)


@composite("mint.randint(low, high, size, generator=generator, dtype=dtype, device=device)")
def mint_randint(low, high=None, size=None, generator=None, dtype=None, device=None):
    """Random integers from `low` up to, not including, `high`, all equally likely.

    Args:
        low: the least integer; left out, it is 0: `randint(high, size)`.
        high: the integer that bounds them from above.
        size: the shape of the result, a tuple.
        generator: the generator to draw from; None, the default, for the default one.
        dtype: an integer or real element type; None, the default, for Int64.
        device: no effect.

    Example:
        >>> mint.randint(5, (2, 3)).shape
        (2, 3)
    """
    if size is None:
        low, high, size = 0, low, high
    return _integers(low, high, size, draw_key(None, generator), dtype, True)


@composite(
    "ops.rand_like(input=x, seed=seed, dtype=dtype)",
    "mint.rand_like(input=x, dtype=dtype, device=device)",
)
def rand_like(x, seed=None, dtype=None, device=None):
    """Random numbers from the uniform distribution on [0, 1), in the shape of x.

    Args:
        x: a Tensor.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        dtype: a real element type; None, the default, for that of `x`.
        device: no effect.

    Raises:
        ValueError: the element type is not real.

    Example:
        >>> ops.rand_like(Tensor([1.0, 2.0])).shape
        (2,)
    """
    return draw_uniform(draw_key(seed), x.shape, _real(dtype or x.dtype, "rand_like"))


@composite(
    "ops.randn_like(input=x, seed=seed, dtype=dtype)",
    "mint.randn_like(input=x, dtype=dtype, device=device)",
)
def randn_like(x, seed=None, dtype=None, device=None):
    """Random numbers from the normal distribution of mean 0 and deviation 1, in the shape of x.

    Args:
        x: a Tensor.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        dtype: a real element type; None, the default, for that of `x`.
        device: no effect.

    Raises:
        ValueError: the element type is not real.

    Example:
        >>> ops.randn_like(Tensor([1.0, 2.0])).shape
        (2,)
    """
    return draw_normal(draw_key(seed), x.shape, _real(dtype or x.dtype, "randn_like"))


@composite("ops.randint_like(input=x, low=low, high=high, seed=seed, dtype=dtype)")
def randint_like(x, low, high, seed=None, dtype=None):
    """Random integers from `low` up to, not including, `high`, in the shape of x.

    Args:
        x: a Tensor.
        low: the least integer.
        high: the integer that bounds them from above.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        dtype: an integer element type; None, the default, for that of `x`.

    Raises:
        ValueError: the element type is not whole.

    Example:
        >>> ops.randint_like(Tensor([1, 2]), 0, 5).shape
        (2,)
    """
    return _integers(low, high, x.shape, draw_key(seed), dtype or x.dtype)


@composite("mint.randint_like(input=x, low=low, high=high, dtype=dtype, device=device)")
def mint_randint_like(x, low, high=None, dtype=None, device=None):
    """Random integers from `low` up to, not including, `high`, in the shape of x.

    Args:
        x: a Tensor.
        low: the least integer; left out, it is 0: `randint_like(x, high)`.
        high: the integer that bounds them from above.
        dtype: an integer or real element type; None, the default, for that of `x`.
        device: no effect.

    Example:
        >>> mint.randint_like(Tensor([1, 2]), 5).shape
        (2,)
    """
    if high is None:
        low, high = 0, low
    return _integers(low, high, x.shape, draw_key(), dtype or x.dtype, True)


def as_tensor(value, dtype) -> Tensor:
    """A number as a Tensor of this type; a Tensor as it is."""
    return value if isinstance(value, Tensor) else Tensor(value, dtype)


@op()
def scaled_uniform(low, high, key, *, shape, dtype):
    """Numbers from `low` to before `high`; the bounds may vary from element to element."""
    full = np.broadcast_shapes(shape, low.shape, high.shape)
    wanted = np.dtype(jnp.dtype(dtype))
    if wanted.kind in "iu":
        return jax.random.randint(as_key(key), full, low, high, wanted)
    return low + (high - low) * jax.random.uniform(as_key(key), full, wanted)


@composite("ops.uniform(shape, minval=low, maxval=high, seed=seed, dtype=dtype)")
def uniform(shape, low, high, seed=None, dtype=float32):
    """Numbers from `minval` to before `maxval`, equally likely; Float32 or Int32.

    Args:
        shape: the shape of the result, which is broadcast with those of the bounds.
        low: the lower bound, a number or a Tensor.
        high: the upper bound, which is not reached, a number or a Tensor.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        dtype: Float32, the default, or Int32: the type of the result and of the bounds.

    Raises:
        TypeError: a bound is of another element type.

    Example:
        >>> ops.uniform((2, 3), Tensor(1.0), Tensor(2.0)).shape
        (2, 3)
    """
    wanted = as_dtype(dtype)
    bounds = [as_tensor(n, wanted) for n in (low, high)]
    for bound in bounds:
        if bound.dtype is not wanted:
            raise TypeError(f"The bounds must be {wanted} as the result, but one is {bound.dtype}.")
    return scaled_uniform(*bounds, draw_key(seed), as_size(shape), wanted.name)


@op()
def scaled_normal(mean, deviation, key, *, shape):
    """Normally distributed numbers; mean and deviation may vary from element to element."""
    mean, deviation = as_float(mean), as_float(deviation)
    full = np.broadcast_shapes(shape, mean.shape, deviation.shape)
    return mean + deviation * jax.random.normal(as_key(key), full, mean.dtype)


@composite("ops.normal(shape, mean, stddev=deviation, seed=seed)")
def normal(shape, mean, deviation, seed=None):
    """Normally distributed numbers; Float32.

    Args:
        shape: the shape of the result, which is broadcast with those of `mean` and `deviation`.
        mean: the mean, a number or a Tensor.
        deviation: the standard deviation, a number or a Tensor.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.

    Example:
        >>> ops.normal((2, 3), 1.0, 0.1).shape
        (2, 3)
    """
    given = [as_tensor(n, float32) for n in (mean, deviation)]
    return scaled_normal(*given, draw_key(seed), as_size(shape))


@composite("mint.normal(mean=mean, std=deviation, size=size, generator=generator)")
def mint_normal(mean=0.0, deviation=1.0, size=None, generator=None):
    """Normally distributed random numbers.

    Args:
        mean: the mean, a number or a Tensor; 0 by default.
        deviation: the standard deviation, a number or a Tensor; 1 by default.
        size: the shape of the result, which is broadcast with those of `mean` and `deviation`;
            None, the default, for theirs alone.
        generator: the generator to draw from; None, the default, for the default one.

    Example:
        >>> mint.normal(0.0, 1.0, (2, 3)).shape
        (2, 3)
    """
    given = [as_tensor(n, float32) for n in (mean, deviation)]
    shape = () if size is None else as_size(size)
    return scaled_normal(*given, draw_key(None, generator), shape)


@composite(
    "ops.standard_normal(shape, seed=seed)",
    "StandardNormal(seed=(seed, 0), seed2=(seed2, 0))(shape)",
)
def standard_normal(shape, seed=None, seed2=0):
    """Normally distributed random numbers of mean 0 and standard deviation 1; Float32.

    Args:
        shape: the shape of the result, integers or a Tensor of them, which is read.
        seed: an integer that makes the numbers repeat from run to run; None, the default, or 0
            draws from the default generator.
        seed2: a second seed, which counts if `seed` is None or 0.

    Example:
        >>> ops.standard_normal((2, 3)).shape
        (2, 3)
    """
    return draw_normal(draw_key(seed or seed2), as_size(shape), "float32")


@composite("UniformReal(seed=(seed, 0), seed2=(seed2, 0))(shape)")
def uniform_real(shape, seed=0, seed2=0):
    """Random numbers from the uniform distribution on [0, 1); Float32.

    Args:
        shape: the shape of the result, integers or a Tensor of them, which is read.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is 0, and 0 for both draws from the default generator.

    Example:
        >>> ops.UniformReal()((2, 3)).shape
        (2, 3)
    """
    return draw_uniform(draw_key(seed or seed2), as_size(shape), "float32")


@composite("UniformInt(seed=(seed, 0), seed2=(seed2, 0))(shape, minval=low, maxval=high)")
def uniform_int(shape, low, high, seed=0, seed2=0):
    """Random integers from `low` up to, not including, `high`, all equally likely; Int32.

    Args:
        shape: the shape of the result, integers or a Tensor of them, which is read.
        low: the least integer, a number or a Tensor of one.
        high: the integer that bounds them from above, a number or a Tensor of one.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is 0, and 0 for both draws from the default generator.

    Example:
        >>> ops.UniformInt()((2, 3), 0, 5).dtype
        mindspore.int32
    """
    return _integers(low, high, shape, draw_key(seed or seed2), int32)


@op()
def draw_truncated_normal(key, *, shape, dtype):
    """Numbers of a standard normal distribution without those beyond 2."""
    return jax.random.truncated_normal(as_key(key), -2, 2, shape, np.dtype(jnp.dtype(dtype)))


@composite("TruncatedNormal(dtype=dtype, seed=(seed, 0), seed2=(seed2, 0))(shape)")
def truncated_normal(shape, dtype=float32, seed=0, seed2=0):
    """Random numbers of the standard normal distribution, cut off at -2 and 2.

    Args:
        shape: the shape of the result, integers or a Tensor of them, which is read.
        dtype: a real element type, Float32 by default.
        seed, seed2: an integer that makes the numbers repeat from run to run; the second counts if
            the first is 0, and 0 for both draws from the default generator.

    Example:
        >>> ops.TruncatedNormal()((2, 3)).shape
        (2, 3)
    """
    name = _real(dtype, "TruncatedNormal")
    return draw_truncated_normal(draw_key(seed or seed2), as_size(shape), name)


@op()
def draw_bernoulli(probability, key, *, shape, dtype):
    """1 with a probability, else 0."""
    full = np.broadcast_shapes(shape, probability.shape)
    made = jax.random.uniform(as_key(key), full, np.float32) < probability
    return made.astype(np.dtype(jnp.dtype(dtype)))


@composite(
    "ops.bernoulli(input=x, p=p, seed=seed)", "Bernoulli(seed=(seed, -1), offset=offset)(x, p)"
)
def bernoulli(x, p=0.5, seed=None, offset=0):
    """1 with the probability p, else 0, in the shape and element type of x.

    Args:
        x: a Tensor.
        p: the probability of 1, a number or a Tensor that broadcasts to the shape of `x`; 0.5 by
            default.
        seed: an integer that makes the numbers repeat from run to run; None, 0 or -1 draws from the
            default generator.
        offset: no effect.

    Example:
        >>> ops.bernoulli(Tensor([1.0, 2.0]), 0.5).shape
        (2,)
    """
    key = draw_key(seed if seed != -1 else None)
    return draw_bernoulli(as_tensor(p, float32), key, x.shape, x.dtype.name)


@composite(
    "mint.bernoulli(input=x, generator=generator)", "Tensor.bernoulli(x, generator=generator)"
)
def mint_bernoulli(x, generator=None):
    """1 with the probability that x holds, else 0.

    Example:
        >>> print(mint.bernoulli(Tensor([0.0, 1.0])))
        [0. 1.]
    """
    return draw_bernoulli(x, draw_key(None, generator), x.shape, x.dtype.name)
