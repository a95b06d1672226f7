# SPDX-License-Identifier: Apache-2.0
"""Tensor methods that assign to their Tensor and are no operators: `x.fill_(1)` and its like.

`x.exp_()` and its like, which assign the result of an operator, are spelled beside it. The ones
that write to chosen places are in `in_place_places.py`. The shape and the element type stay.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.dtypes import float32, float64
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.data import check_fits
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite
from mycel.kernel.spell.assign import assigned
from mycel.ops.random.drawing import (
    as_tensor,
    draw_bernoulli,
    draw_integers,
    draw_key,
    draw_normal,
    draw_uniform,
)

# -- values given ---------------------------------------------------------------------------------


@composite("Tensor.clamp_", "ops.clamp_(input=x, min=min, max=max)")
def clamp_(x, min=None, max=None):
    """x within two bounds, assigned to x.

    Args:
        x: any shape.
        min: the minimum, a number or a Tensor; None, the default, for no minimum.
        max: the maximum, a number or a Tensor; None, the default, for no maximum.

    Raises:
        ValueError: neither bound is given.

    Example:
        >>> print(Tensor([-1.0, 5.0]).clamp_(0, 2))
        [0. 2.]
    """
    if min is None and max is None:
        raise wrong(ValueError, "clamp_: min or max", "a number or a Tensor", "None for both")
    return assigned(x, x.clamp(min, max), "clamp")


def filled(x, value):
    """A number, or a Tensor that can be stretched to it, in the shape and type of x."""
    if not isinstance(value, Tensor):
        value = Tensor(value)
    if value.dtype.is_inexact and not (value.dtype.is_floating or x.dtype.numpy.kind == "c"):
        expected = f"real, as the {x.dtype} Tensor that it is written into"
        raise wrong(TypeError, "The value", expected, value.dtype)
    value = value if value.dtype is x.dtype else value.astype(x.dtype)
    return value if value.shape == x.shape else value.broadcast_to(x.shape)


@composite("Tensor.fill_")
def fill_(x, value):
    """One number everywhere: a Python number, or a Tensor with one element.

    Raises:
        ValueError: the Tensor has several elements.

    Example:
        >>> print(Tensor([1.0, 2.0]).fill_(7))
        [7. 7.]
    """
    if isinstance(value, Tensor) and value.ndim:
        raise wrong(ValueError, "fill_: value", "a Tensor without dimensions", value.shape)
    if isinstance(value, int):
        check_fits(value, x.dtype)
    return assigned(x, filled(x, value))


@composite("Tensor.zero_", "ops.zero_(input=x)")
def zero_(x):
    """Zeros everywhere.

    Example:
        >>> print(Tensor([1.0, 2.0]).zero_())
        [0. 0.]
    """
    return assigned(x, filled(x, False))


@composite("Tensor.copy_")
def copy_(x, src, non_blocking=False):
    """The values of another Tensor, stretched to the shape and converted to the type of x.

    Args:
        x: any shape.
        src: a Tensor that broadcasts to the shape of `x`.
        non_blocking: no effect.

    Raises:
        TypeError: the argument is not a Tensor.
        ValueError: the shape does not broadcast to that of x.

    Example:
        >>> print(Tensor([[1.0, 2.0]]).copy_(Tensor([3, 4])))
        [[3. 4.]]
    """
    del non_blocking
    if not isinstance(src, Tensor):
        raise wrong(TypeError, "copy_: src", "a Tensor", type(src).__name__)
    return assigned(x, filled(x, src))


# -- random values --------------------------------------------------------------------------------


def check_real(x, name: str) -> None:
    """Random real numbers go into a Tensor of them."""
    if not x.dtype.is_floating:
        raise wrong(TypeError, name, "called on a Tensor of real numbers", x.dtype)


def _bound(value, name: str):
    """A number, or the only element of a Tensor."""
    if not isinstance(value, Tensor):
        return value
    if value.size != 1:
        raise wrong(ValueError, name, "a number or a Tensor with one element", value.shape)
    return value.reshape(())


def check_order(low, high, what: str, is_wrong) -> None:
    """Bounds that Python knows; those of Tensors are not read."""
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        return
    if is_wrong(low, high):
        raise wrong(RuntimeError, f"{what}: from_ and to", "in this order", f"{low} and {high}")


def drawn_in(x) -> str:
    """The element type that numbers for a Tensor are drawn in."""
    return (float64 if x.dtype is float64 else float32).name


@composite("Tensor.uniform_", "ops.uniform_(input=x, from_=from_, to=to, generator=generator)")
def uniform_(x, from_=0, to=1, generator=None):
    """Numbers from `from_` to before `to`, equally likely.

    Args:
        x: any shape, real.
        from_, to: numbers, or Tensors with one element.
        generator: the generator to draw from; None, the default, for the default one.

    Raises:
        TypeError: x has integers.
        RuntimeError: from_ lies above to.

    Example:
        >>> x = Tensor([1.0, 2.0]).uniform_(5, 6)
        >>> bool((x >= 5).all() and (x <= 6).all())
        True
    """
    check_real(x, "uniform_")
    low, high = _bound(from_, "uniform_: from_"), _bound(to, "uniform_: to")
    check_order(low, high, "uniform_", lambda low, high: low > high)
    drawn = draw_uniform(draw_key(None, generator), x.shape, drawn_in(x))
    return assigned(x, (drawn * (high - low) + low).astype(x.dtype))


@composite("Tensor.normal_", "ops.normal_(input=x, mean=mean, std=std, generator=generator)")
def normal_(x, mean=0, std=1, generator=None):
    """Normally distributed numbers.

    Args:
        x: any shape, real.
        mean: the mean, a number or a Tensor of one; 0 by default.
        std: the standard deviation, a number or a Tensor of one; 1 by default.
        generator: the generator to draw from; None, the default, for the default one.

    Raises:
        TypeError: x has integers.
        ValueError: std is negative.

    Example:
        >>> print(Tensor([1.0, 2.0]).normal_(3, 0))
        [3. 3.]
    """
    check_real(x, "normal_")
    mean, std = _bound(mean, "normal_: mean"), _bound(std, "normal_: std")
    if not isinstance(std, Tensor) and std < 0:
        raise wrong(ValueError, "normal_: std", "not negative", std)
    drawn = draw_normal(draw_key(None, generator), x.shape, drawn_in(x))
    return assigned(x, (drawn * std + mean).astype(x.dtype))


@composite("Tensor.exponential_", "ops.exponential_(input=x, lambd=lambd, generator=generator)")
def exponential_(x, lambd=1, generator=None):
    """Numbers of the density lambd · exp(-lambd · number).

    Args:
        x: any shape, real.
        lambd: the rate, a positive number; 1 by default.
        generator: the generator to draw from; None, the default, for the default one.

    Raises:
        TypeError: x has integers.
        ValueError: lambd is not positive.

    Example:
        >>> bool((Tensor([1.0, 2.0]).exponential_() >= 0).all())
        True
    """
    check_real(x, "exponential_")
    if not lambd > 0:
        raise wrong(ValueError, "exponential_: lambd", "positive", lambd)
    drawn = draw_uniform(draw_key(None, generator), x.shape, drawn_in(x))
    return assigned(x, ((1 - drawn).log() * (-1 / lambd)).astype(x.dtype))


@composite("Tensor.bernoulli_", "ops.bernoulli_(input=x, p=p, generator=generator)")
def bernoulli_(x, p=0.5, generator=None):
    """1 with the probability p, else 0.

    Args:
        x: any shape.
        p: the probability of 1, a number or a Tensor that broadcasts to the shape of `x`; 0.5 by
            default.
        generator: the generator to draw from; None, the default, for the default one.

    Raises:
        ValueError: p lies outside [0, 1].

    Example:
        >>> print(Tensor([5.0, 5.0]).bernoulli_(Tensor([0.0, 1.0])))
        [0. 1.]
    """
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise wrong(ValueError, "bernoulli_: p", "a probability", p)
    key = draw_key(None, generator)
    return assigned(x, draw_bernoulli(as_tensor(p, float32), key, x.shape, x.dtype.name))


def _beyond(dtype) -> int:
    """The number that no integer drawn for a type reaches: all below it are exact."""
    if dtype.is_floating:
        return 2 ** (jnp.finfo(dtype.numpy).nmant + 1)
    return 2 if dtype.numpy == np.bool_ else np.iinfo(dtype.numpy).max


@composite("Tensor.random_", "ops.random_(input=x, from_=from_, to=to, generator=generator)")
def random_(x, from_=0, to=None, generator=None):
    """Integers from `from_` to before `to`, equally likely.

    Args:
        x: any shape.
        from_, to: integers, or Tensors with one element; without `to`, up to the largest of the
            element type, or up to where real numbers stop being exact.
        generator: the generator to draw from; None, the default, for the default one.

    Raises:
        TypeError: a bound is not an integer.
        RuntimeError: from_ does not lie below to.

    Example:
        >>> print(Tensor([1.0, 2.0]).random_(4, 5))
        [4. 4.]
    """
    low, high = _bound(from_, "random_: from_"), _bound(to, "random_: to")
    high = _beyond(x.dtype) if high is None else high
    for name, bound in (("from_", low), ("to", high)):
        if isinstance(bound, float) and not math.isclose(bound, int(bound)):
            raise wrong(TypeError, f"random_: {name}", "an integer", bound)
    check_order(low, high, "random_", lambda low, high: low >= high)
    bounds = [n if isinstance(n, Tensor) else Tensor(np.int64(n)) for n in (low, high)]
    return assigned(x, draw_integers(*bounds, draw_key(None, generator), x.shape, x.dtype.name))
