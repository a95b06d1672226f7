# SPDX-License-Identifier: Apache-2.0
"""Functions of `mint` that may assign their result to their input."""

from __future__ import annotations

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import bool_
from mycel.kernel.base.places import user_place
from mycel.kernel.record.tensor import give_value, resolve
from mycel.kernel.spell import composite
from mycel.ops.math.linear import addr
from mycel.ops.nn.activation import relu, sigmoid
from mycel.ops.nn.dropout import dropout, dropout2d


def _rank(dtype) -> int:
    """Bool, integers, real numbers, complex ones: each holds what those before it hold."""
    if dtype.is_inexact:
        return 2 if dtype.is_floating else 3
    return 0 if dtype is bool_ else 1


def assigned(x, made, plain: str = ""):
    """x, which has the values `made` from now on.

    Args:
        plain: the name of the method that gives them instead; without it they are converted to
            the element type of x, whatever they are.

    Raises:
        ValueError: values of another shape.
        TypeError: real numbers for integers, or complex ones for real ones.
    """
    if made.shape != x.shape:
        text = errors.IN_PLACE_SHAPE.format(
            before=x.shape, after=made.shape, name=plain, place=user_place(3)
        )
        raise ValueError(text)
    if made.dtype is not x.dtype:
        if plain and _rank(made.dtype) > _rank(x.dtype):
            text = errors.IN_PLACE_KIND.format(
                before=x.dtype, after=made.dtype, name=plain, place=user_place(3)
            )
            raise TypeError(text)
        made = made.astype(x.dtype)
    give_value(x, resolve(made))
    return x


def _given(x, made, inplace):
    return assigned(x, made) if inplace else made


@composite("mint.nn.functional.relu_(input=x)")
def relu_in_place(x):
    """`relu`, assigned to x.

    Example:
        >>> x = Tensor([-1.0, 2.0])
        >>> print(mint.nn.functional.relu_(x) is x, x)
        True [0. 2.]
    """
    return assigned(x, relu(x))


@composite("mint.nn.functional.sigmoid_(input=x)")
def sigmoid_in_place(x):
    """`sigmoid`, assigned to x.

    Example:
        >>> print(mint.nn.functional.sigmoid_(Tensor([0.0])))
        [0.5]
    """
    return assigned(x, sigmoid(x))


def _with_holes(x, dropped, p, training, inplace):
    """PyTorch's p may also be 1, which leaves nothing."""
    if not training or p == 0:
        return x
    return _given(x, x * 0 if p == 1 else dropped(x, p, True), inplace)


@composite("mint.nn.functional.dropout(input=x, p=0.5, training=True, inplace=False)")
def mint_dropout(x, p=0.5, training=True, inplace=False):
    """Zeros with the probability p, and the rest divided by 1 - p; x itself out of training.

    Args:
        inplace: assign the result to x as well.

    Raises:
        ValueError: p lies outside [0, 1].

    Example:
        >>> print(mint.nn.functional.dropout(Tensor([1.0, 2.0]), training=False))
        [1. 2.]
    """
    return _with_holes(x, dropout, p, training, inplace)


@composite("mint.nn.functional.dropout2d(input=x, p=0.5, training=True, inplace=False)")
def mint_dropout2d(x, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of images; see `mint.nn.functional.dropout`.

    Args:
        x: [N, C, H, W], real.
        p: the probability that a channel is dropped, from 0 to 1; 0.5 by default. What is kept is
            divided by 1 - p.
        training: whether anything is dropped; False gives `x` itself. True by default.
        inplace: whether the result is assigned to `x` too; False by default.

    Example:
        >>> print(mint.nn.functional.dropout2d(Tensor([[[[1.0, 2.0]]]]), 1.0))
        [[[[0. 0.]]]]
    """
    return _with_holes(x, dropout2d, p, training, inplace)


@composite("mint.addr_(input=x, vec1=a, vec2=b, beta=beta, alpha=alpha)")
def addr_in_place(x, a, b, beta=1, alpha=1):
    """beta · x + alpha · outer(a, b), assigned to x.

    Args:
        x: [N, M].
        a: [N].
        b: [M].
        beta: the factor of `x`, a number; 1 by default.
        alpha: the factor of the product, a number; 1 by default.

    Example:
        >>> print(mint.addr_(Tensor([[1.0]]), Tensor([2.0]), Tensor([3.0])))
        [[7.]]
    """
    return assigned(x, addr(x, a, b, beta, alpha))
