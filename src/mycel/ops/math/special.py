# SPDX-License-Identifier: Apache-2.0
"""Special functions: Bessel functions, incomplete gamma and beta functions, zeta."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.common import from_above, promoted

# JAX has i0, i1 and their scaled forms, with a wrong slope at 0. J and Y of orders 0 and 1 are an
# even polynomial (and a logarithm) up to this border, and a wave of slowly varying size and phase
# behind it.
_BORDER = 8.0
# The same for K: a polynomial with a logarithm, and behind it a scaled decay.
_BORDER_K = 2.0
_TERMS = 26


@functools.cache
def _parts() -> dict:
    """The smooth parts, as functions on [0, 1].

    SciPy, which comes with JAX, is imported when they are first needed: it takes long.
    """
    import scipy.special as known

    def wave(order, sine):
        """Of J and Y behind the border: what stands before a cosine, or a sine, over (8 / x)²."""

        def part(t):
            x = _BORDER / np.sqrt(t)
            phase = x - (0.25 + order / 2) * np.pi
            size = np.sqrt(np.pi * x / 2)
            first, second = known.jv(order, x), known.yv(order, x)
            if sine:
                return size * (second * np.cos(phase) - first * np.sin(phase)) * x / _BORDER
            return size * (first * np.cos(phase) + second * np.sin(phase))

        return part

    def of_root(function, border=_BORDER):
        return lambda t: function(border * np.sqrt(t))

    def y1(x):
        return (known.y1(x) - 2 / np.pi * (np.log(x) * known.j1(x) - 1 / x)) / x

    def k1(x):
        return (known.k1(x) - np.log(x / 2) * known.i1(x) - 1 / x) / x

    return {
        "j0": of_root(known.j0),
        "j1": of_root(lambda x: known.j1(x) / x),
        "y0": of_root(lambda x: known.y0(x) - 2 / np.pi * np.log(x) * known.j0(x)),
        "y1": of_root(y1),
        "k0": of_root(lambda x: known.k0(x) + np.log(x / 2) * known.i0(x), _BORDER_K),
        "k1": of_root(k1, _BORDER_K),
        "k0_decay": lambda t: known.k0e(_BORDER_K / t) * np.sqrt(_BORDER_K / t),
        "k1_decay": lambda t: known.k1e(_BORDER_K / t) * np.sqrt(_BORDER_K / t),
        "cosine_0": wave(0, False),
        "sine_0": wave(0, True),
        "cosine_1": wave(1, False),
        "sine_1": wave(1, True),
    }


@functools.cache
def _polynomial(name: str) -> np.ndarray:
    """Chebyshev coefficients over [0, 1] of a smooth part of a function, in Float64."""
    part = _parts()[name]
    return np.polynomial.chebyshev.chebinterpolate(lambda t: part((t + 1) / 2), _TERMS)


def _evaluated(name, t):
    """The polynomial at t, from 0 to 1; by Clenshaw's recurrence."""
    coefficients = _polynomial(name).astype(np.float64)
    twice = (4 * t - 2).astype(t.dtype)
    last, before = jnp.zeros_like(t), jnp.zeros_like(t)
    for coefficient in coefficients[:0:-1]:
        last, before = twice * last - before + coefficient.astype(t.dtype), last
    return twice / 2 * last - before + coefficients[0].astype(t.dtype)


def _near(name, x, border=_BORDER):
    return _evaluated(name, jnp.minimum(jnp.square(x / border), 1))


def _wave(x, order, shift):
    """J (no shift) or Y (shifted by a quarter) behind the border."""
    x = jnp.maximum(x, _BORDER)
    t = jnp.square(_BORDER / x)
    phase = x - (0.25 + order / 2) * np.pi
    along, across = _evaluated(f"cosine_{order}", t), _evaluated(f"sine_{order}", t) * _BORDER / x
    cosine, sine = jnp.cos(phase), jnp.sin(phase)
    made = along * sine + across * cosine if shift else along * cosine - across * sine
    return jnp.sqrt(2 / (np.pi * x)) * made


_i0 = jax.custom_jvp(jax.scipy.special.i0)
_i1 = jax.custom_jvp(jax.scipy.special.i1)
_i0e = jax.custom_jvp(jax.scipy.special.i0e)
_i1e = jax.custom_jvp(jax.scipy.special.i1e)


@jax.custom_jvp
def _j0(x):
    size = jnp.abs(x)
    return jnp.where(size < _BORDER, _near("j0", size), _wave(size, 0, False))


@jax.custom_jvp
def _j1(x):
    size = jnp.abs(x)
    made = jnp.where(size < _BORDER, size * _near("j1", size), _wave(size, 1, False))
    return jnp.where(x < 0, -made, made)


@jax.custom_jvp
def _y0(x):
    near = 2 / np.pi * jnp.log(x) * _j0(x) + _near("y0", x)
    return jnp.where(x < _BORDER, near, _wave(x, 0, True))


@jax.custom_jvp
def _y1(x):
    near = 2 / np.pi * (jnp.log(x) * _j1(x) - 1 / x) + x * _near("y1", x)
    # At 0 the product is one of infinity and 0.
    near = jnp.where(x == 0, -jnp.inf, near)
    return jnp.where(x < _BORDER, near, _wave(x, 1, True))


@jax.custom_jvp
def _k0e(x):
    near = _near("k0", x, _BORDER_K) - jnp.log(x / 2) * jax.scipy.special.i0(x)
    decay = _evaluated("k0_decay", _BORDER_K / jnp.maximum(x, _BORDER_K)) / jnp.sqrt(x)
    return jnp.where(x < _BORDER_K, jnp.exp(jnp.minimum(x, _BORDER_K)) * near, decay)


@jax.custom_jvp
def _k1e(x):
    near = x * _near("k1", x, _BORDER_K) + 1 / x
    near = near + jnp.where(x == 0, 0, jnp.log(x / 2) * jax.scipy.special.i1(x))
    decay = _evaluated("k1_decay", _BORDER_K / jnp.maximum(x, _BORDER_K)) / jnp.sqrt(x)
    return jnp.where(x < _BORDER_K, jnp.exp(jnp.minimum(x, _BORDER_K)) * near, decay)


def _over(y, x, at_zero):
    """y / x, with its limit at 0."""
    zero = x == 0
    return jnp.where(zero, jnp.asarray(at_zero, x.dtype), y / jnp.where(zero, 1, x))


_i0.defjvps(lambda t, y, x: t * _i1(x))
_i1.defjvps(lambda t, y, x: t * (_i0(x) - _over(y, x, 0.5)))
_i0e.defjvps(lambda t, y, x: t * (_i1e(x) - jnp.sign(x) * y))
_i1e.defjvps(lambda t, y, x: t * (_i0e(x) - jnp.sign(x) * y - _over(y, x, 0.5)))
_j0.defjvps(lambda t, y, x: -t * _j1(x))
_j1.defjvps(lambda t, y, x: t * (_j0(x) - _over(y, x, 0.5)))
_k0 = jax.custom_jvp(lambda x: _k0e(x) * jnp.exp(-x))
_k1 = jax.custom_jvp(lambda x: _k1e(x) * jnp.exp(-x))
_k0.defjvps(lambda t, y, x: -t * _k1(x))
_k1.defjvps(lambda t, y, x: -t * (_k0(x) + y / x))
_y0.defjvps(lambda t, y, x: -t * _y1(x))
_y1.defjvps(lambda t, y, x: t * (_y0(x) - y / x))
_k0e.defjvps(lambda t, y, x: t * (y - _k1e(x)))
# One product: at 0 the difference would be one of infinities.
_k1e.defjvps(lambda t, y, x: t * (y * (1 - 1 / x) - _k0e(x)))


def _real(function, x):
    """The function of real numbers; half precision is computed in Float32.

    Raises:
        TypeError: x does not hold real numbers.
    """
    if x.dtype.kind not in "fV":
        raise TypeError(f"A Bessel function needs real numbers, but the type is {x.dtype}.")
    if x.dtype.itemsize < 4:
        return function(x.astype(np.float32)).astype(x.dtype)
    return function(x)


@op("ops.bessel_i0(x)", "ops.i0(input=x)", "BesselI0()(x)", "Tensor.i0(x)", "Tensor.bessel_i0(x)")
def bessel_i0(x):
    """The modified Bessel function of the first kind and order 0, element by element.

    Raises:
        TypeError: the numbers are not real.

    Example:
        >>> print(ops.round(ops.bessel_i0(Tensor([0.0, 1.0])), decimals=2))
        [1.   1.27]
    """
    return _real(_i0, x)


@op("ops.bessel_i0e(x)", "BesselI0e()(x)", "Tensor.bessel_i0e(x)")
def bessel_i0e(x):
    """`ops.bessel_i0` times exp(-|x|), element by element.

    Example:
        >>> print(ops.round(ops.bessel_i0e(Tensor([0.0, 1.0])), decimals=2))
        [1.   0.47]
    """
    return _real(_i0e, x)


@op("ops.bessel_i1(x)", "BesselI1()(x)", "Tensor.bessel_i1(x)")
def bessel_i1(x):
    """The modified Bessel function of the first kind and order 1, element by element.

    Example:
        >>> print(ops.round(ops.bessel_i1(Tensor([0.0, 1.0])), decimals=2))
        [0.   0.57]
    """
    return _real(_i1, x)


@op("ops.bessel_i1e(x)", "BesselI1e()(x)", "Tensor.bessel_i1e(x)")
def bessel_i1e(x):
    """`ops.bessel_i1` times exp(-|x|), element by element.

    Example:
        >>> print(ops.round(ops.bessel_i1e(Tensor([0.0, 1.0])), decimals=2))
        [0.   0.21]
    """
    return _real(_i1e, x)


@op("ops.bessel_j0(x)", "BesselJ0()(x)", "Tensor.bessel_j0(x)")
def bessel_j0(x):
    """The Bessel function of the first kind and order 0, element by element.

    Example:
        >>> print(ops.bessel_j0(Tensor([0.0])))
        [1.]
    """
    return _real(_j0, x)


@op("ops.bessel_j1(x)", "BesselJ1()(x)", "Tensor.bessel_j1(x)")
def bessel_j1(x):
    """The Bessel function of the first kind and order 1, element by element.

    Example:
        >>> print(ops.bessel_j1(Tensor([0.0])))
        [0.]
    """
    return _real(_j1, x)


@op("ops.bessel_y0(x)", "BesselY0()(x)")
def bessel_y0(x):
    """The Bessel function of the second kind and order 0, element by element; NaN below 0.

    Example:
        >>> print(ops.bessel_y0(Tensor([0.0])))
        [-inf]
    """
    return _real(_y0, from_above(x))


@op("ops.bessel_y1(x)", "BesselY1()(x)")
def bessel_y1(x):
    """The Bessel function of the second kind and order 1, element by element; NaN below 0.

    Example:
        >>> print(ops.bessel_y1(Tensor([0.0])))
        [-inf]
    """
    return _real(_y1, from_above(x))


@op("ops.bessel_k0(x)", "BesselK0()(x)", "Tensor.bessel_k0(x)")
def bessel_k0(x):
    """The modified Bessel function of the second kind and order 0, element by element.

    Example:
        >>> print(ops.bessel_k0(Tensor([0.0])))
        [inf]
    """
    return _real(_k0, from_above(x))


@op("ops.bessel_k0e(x)", "BesselK0e()(x)", "Tensor.bessel_k0e(x)")
def bessel_k0e(x):
    """`ops.bessel_k0` times exp(x), element by element.

    Example:
        >>> print(ops.bessel_k0e(Tensor([0.0])))
        [inf]
    """
    return _real(_k0e, from_above(x))


@op("ops.bessel_k1(x)", "BesselK1()(x)", "Tensor.bessel_k1(x)")
def bessel_k1(x):
    """The modified Bessel function of the second kind and order 1, element by element.

    Example:
        >>> print(ops.bessel_k1(Tensor([0.0])))
        [inf]
    """
    return _real(_k1, from_above(x))


@op("ops.bessel_k1e(x)", "BesselK1e()(x)", "Tensor.bessel_k1e(x)")
def bessel_k1e(x):
    """`ops.bessel_k1` times exp(x), element by element.

    Example:
        >>> print(ops.bessel_k1e(Tensor([0.0])))
        [inf]
    """
    return _real(_k1e, from_above(x))


def _floats(x, y, what):
    x, y = promoted(x, y)
    if x.dtype.kind not in "fV":
        raise TypeError(f"{what} needs real numbers, but the types meet in {x.dtype}.")
    return x, y


@op("ops.igamma(input=a, other=x)", "Igamma()(a, x)", "Tensor.igamma(a, other=x)")
def igamma(a, x):
    """The regularized lower incomplete gamma function of `a` and x, element by element.

    Example:
        >>> print(ops.igamma(Tensor([1.0]), Tensor([0.0])))
        [0.]
    """
    return _share_below(*_floats(a, x, "igamma"))


@jax.custom_jvp
def _share_below(a, x):
    return jax.scipy.special.gammainc(a, x)


@jax.custom_jvp
def _share_above(a, x):
    return jax.scipy.special.gammaincc(a, x)


def _by_order(a, x):
    """The derivative of the share below x by a; at both ends the share is the same for all a."""
    a, x = jnp.broadcast_arrays(a, x)
    return jnp.where((x == 0) | (x == jnp.inf), 0, lax.igamma_grad_a(a, x))


def _density(a, x):
    """The derivative by x."""
    logarithm = jax.scipy.special.xlogy(a - 1, x) - x - lax.lgamma(a)
    logarithm = jnp.where(x == jnp.inf, -jnp.inf, jnp.where(x < 0, jnp.nan, logarithm))
    return jnp.exp(logarithm)


_share_below.defjvps(lambda t, y, a, x: t * _by_order(a, x), lambda t, y, a, x: t * _density(a, x))
_share_above.defjvps(
    lambda t, y, a, x: -t * _by_order(a, x), lambda t, y, a, x: -t * _density(a, x)
)


@op("ops.igammac(input=a, other=x)", "Igammac()(a, x)", "Tensor.igammac(a, other=x)")
def igammac(a, x):
    """The regularized upper incomplete gamma function of `a` and x, element by element.

    Example:
        >>> print(ops.igammac(Tensor([1.0]), Tensor([0.0])))
        [1.]
    """
    return _share_above(*_floats(a, x, "igammac"))


@op("ops.mvlgamma(input=x, p=p)", "Mvlgamma(p=p)(x)", "Tensor.mvlgamma(x, p)")
def mvlgamma(x, *, p):
    """The logarithm of the gamma function of p dimensions; x is above (p - 1) / 2.

    Example:
        >>> print(ops.round(ops.mvlgamma(Tensor([3.0]), 1), decimals=2))
        [0.69]
    """
    if x.dtype.kind not in "fV":
        raise TypeError(f"mvlgamma needs real numbers, but the type is {x.dtype}.")
    return jax.scipy.special.multigammaln(x, p)


@op("Polygamma()(a=n, x=x)")
def polygamma_primitive(n, x):
    """The n-th derivative of `ops.digamma`, element by element; n is a Tensor of whole numbers.

    Example:
        >>> print(ops.round(ops.Polygamma()(Tensor(1), Tensor([1.0])), decimals=2))
        [1.64]
    """
    if x.dtype.kind not in "fV":
        raise TypeError(f"polygamma needs real numbers, but the type is {x.dtype}.")
    return _polygamma(n, x)


@jax.custom_jvp
def _polygamma(n, x):
    pole = jnp.where(n % 2 == 1, jnp.inf, -jnp.inf).astype(x.dtype)
    return jnp.where(
        (n > 0) & (x <= 0) & (x == jnp.floor(x)), pole, jax.scipy.special.polygamma(n, x)
    )


_polygamma.defjvps(None, lambda t, y, n, x: t * _polygamma(n + 1, x))


@composite("ops.polygamma(n, input=x)", "Tensor.polygamma(x, n)")
def polygamma(n, x):
    """The n-th derivative of `ops.digamma`, element by element.

    Example:
        >>> print(ops.round(ops.polygamma(Tensor(1), Tensor([1.0])), decimals=2))
        [1.64]
    """
    return polygamma_primitive(n, x)


@op("ops.zeta(input=x, other=q)", "Zeta()(x, q)")
def zeta(x, q):
    """The sum of 1 / (q + k)ˣ over all k from 0 on, element by element; nothing flows to x.

    Example:
        >>> print(ops.round(ops.zeta(Tensor([2.0]), Tensor([1.0])), decimals=2))
        [1.64]
    """
    x, q = _floats(x, q, "zeta")
    return jax.scipy.special.zeta(lax.stop_gradient(x), q)


@op("Betainc()(a, b, x)")
def betainc(a, b, x):
    """The regularized incomplete beta function; it has no gradient by a and b.

    Args:
        a: real numbers above 0.
        b: real numbers above 0; the shapes are broadcast.
        x: real numbers from 0 to 1: the upper bound of the integral.

    Example:
        >>> one = Tensor([1.0])
        >>> print(ops.round(ops.Betainc()(one, one, Tensor([0.25])), decimals=2))
        [0.25]
    """
    return jax.scipy.special.betainc(lax.stop_gradient(a), lax.stop_gradient(b), x)


@composite("ops.eps(x)", "Eps()(x)")
def eps(x):
    """The distance from 1 to the next number of x's type, with the shape of x.

    Example:
        >>> print(ops.eps(Tensor([1.0])))
        [1.1920929e-07]
    """
    kind = numpy_dtype(x.dtype)
    return Tensor(np.full(x.shape, jnp.finfo(kind).eps, kind))
