# SPDX-License-Identifier: Apache-2.0
"""Complex numbers: made of two real ones, and taken apart."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from mycel.kernel.spell import add_member, op
from mycel.ops.common import as_float


@op("Complex()(real=x, imag=y)")
def complex_primitive(x, y):
    """Complex numbers of their real and their imaginary parts.

    Raises:
        TypeError: the parts are not both Float32 or both Float64.

    Example:
        >>> print(ops.Complex()(Tensor([1.0]), Tensor([2.0])))
        [1.+2.j]
    """
    _parts(x, y, "Complex")
    return lax.complex(x, y)


def _parts(x, y, what):
    if x.dtype != y.dtype or x.dtype.name not in ("float32", "float64"):
        raise TypeError(
            f"{what} needs two Tensors of Float32, or of Float64, not {x.dtype} and {y.dtype}."
        )


@op("ops.polar(abs=x, angle=y)", "Polar()(abs=x, angle=y)", "mint.polar(abs=x, angle=y)")
def polar(x, y):
    """Complex numbers of their sizes and their angles.

    Raises:
        TypeError: these are not both Float32 or both Float64.

    Example:
        >>> print(ops.polar(Tensor([2.0]), Tensor([0.0])))
        [2.+0.j]
    """
    _parts(x, y, "polar")
    x, y = jnp.broadcast_arrays(x, y)
    return lax.complex(x * jnp.cos(y), x * jnp.sin(y))


@op("ops.real(input=x)", "Real()(input=x)", "Tensor.real(x)", "mint.real(input=x)")
def real(x):
    """The real part, element by element.

    Example:
        >>> print(ops.real(Tensor(np.array([1 + 2j], np.complex64))))
        [1.]
    """
    return jnp.real(x)


@op("ops.imag(input=x)", "Imag()(input=x)", "Tensor.imag(x)", "mint.imag(input=x)")
def imag(x):
    """The imaginary part, element by element; 0 for real numbers.

    Example:
        >>> print(ops.imag(Tensor(np.array([1 + 2j], np.complex64))))
        [2.]
    """
    return jnp.imag(x)


@op("ops.conj(input=x)", "Conj()(input=x)", "Tensor.conj(x)")
def conj(x):
    """The imaginary part with the other sign, element by element.

    Example:
        >>> print(ops.conj(Tensor(np.array([1 + 2j], np.complex64))))
        [1.-2.j]
    """
    return jnp.conj(x)


@op("ops.angle(input=x)", "Angle()(input=x)", "Tensor.angle(x)")
def angle(x):
    """The angle of each number, seen from 0; pi for negative numbers.

    Example:
        >>> print(ops.angle(Tensor(np.array([2j, -1], np.complex64))))
        [1.5707964 3.1415927]
    """
    return jnp.angle(as_float(x))


@op("ComplexAbs()(x)")
def complex_abs(x):
    """The size of complex numbers, element by element.

    Raises:
        TypeError: the numbers are not complex.

    Example:
        >>> print(ops.ComplexAbs()(Tensor(np.array([3 + 4j], np.complex64))))
        [5.]
    """
    return jnp.abs(_complex(x, "ComplexAbs"))


def _complex(x, what):
    if x.dtype.kind != "c":
        raise TypeError(f"{what} needs complex numbers, but the type is {x.dtype}.")
    return x


@op("ops.view_as_real(input=x)")
def view_as_real(x):
    """The real and the imaginary part of each number, in a new last dimension.

    Raises:
        TypeError: the numbers are not complex.

    Example:
        >>> print(ops.view_as_real(Tensor(np.array([1 + 2j], np.complex64))))
        [[1. 2.]]
    """
    _complex(x, "view_as_real")
    return jnp.stack([jnp.real(x), jnp.imag(x)], -1)


def _turned(x):
    return conj(x.swapaxes(-1, -2))


def _turned_matrix(x):
    if x.ndim != 2:
        raise ValueError(f"Tensor.H needs a matrix, but the shape is {x.shape}; use mH.")
    return _turned(x)


# Properties have no spelling; `T` and `mT` are with the shapes.
_H = "A matrix with its dimensions exchanged, and conjugated."
add_member("H", property(_turned_matrix, doc=_H))
_MH = "x with its last two dimensions exchanged, and conjugated."
add_member("mH", property(_turned, doc=_MH))
