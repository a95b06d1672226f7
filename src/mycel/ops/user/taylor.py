# SPDX-License-Identifier: Apache-2.0
"""Derivatives of higher order along a path of the inputs: `jet` and `derivative`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycel.kernel.base.dtypes import float32, float64, int32, int64
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.ops.array.joining import stack
from mycel.transform.jacobian import jvp

KINDS = (int32, int64, float32, float64)


def jet(fn: Callable[..., Any], primals: Any, series: Any) -> tuple[Any, Any]:
    """The result of `fn`, and its derivatives of every order where the inputs follow a path.

    The path has the given values and derivatives at its begin. With 1 as the first derivative of
    an input and 0 as the others, the results are the derivatives of `fn` by that input.

    Args:
        fn: a function or Cell of Tensors; it returns a Tensor or a tuple of them.
        primals: the input, or a tuple of inputs, Int32, Int64, Float32 or Float64; integers become
            Float32.
        series: for each input its derivatives of the orders 1 to n, [n, *shape], or of order 1
            alone, [*shape].

    Returns:
        `(results, derivatives)`: [*shape] and [n, *shape], or two lists of them for several
        outputs.

    Raises:
        TypeError: a Tensor beside a tuple, or another element type.
        ValueError: shapes or numbers of orders that differ.

    Source: MindSpore's `mindspore.ops.jet`.

    Example:
        >>> x, path = Tensor([2.0]), Tensor([[1.0], [0.0], [0.0]])
        >>> print(*ops.jet(lambda x: x * x * x, x, path))
        [8.] [[12.]
         [12.]
         [ 6.]]
    """
    if isinstance(primals, Tensor) and isinstance(series, Tensor):
        inputs, paths = (primals,), (series,)
    elif isinstance(primals, tuple) and isinstance(series, tuple):
        inputs, paths = primals, series
    else:
        expected = "both Tensors or both tuples"
        actual = f"{type(primals).__name__} and {type(series).__name__}"
        raise wrong(TypeError, "jet: primals and series", expected, actual)
    if len(inputs) != len(paths):
        raise wrong(ValueError, "jet: series", f"{len(inputs)} as primals", len(paths))
    checked = [_path(x, along) for x, along in zip(inputs, paths, strict=True)]
    if len({len(along) for _, along in checked}) > 1:
        lengths = ", ".join(str(len(along)) for _, along in checked)
        raise wrong(ValueError, "jet: series", "of one number of orders", lengths)
    rows = _derivatives(fn, checked)
    if len(rows[0]) == 1:
        return rows[0][0], stack([row[0] for row in rows[1:]])
    columns = list(zip(*rows, strict=True))
    return [column[0] for column in columns], [stack(column[1:]) for column in columns]


def derivative(fn: Callable[..., Any], primals: Any, order: int) -> tuple[Any, Any]:
    """The result of `fn`, and its derivative of an order by all elements of its inputs together.

    Args:
        fn: a function or Cell of Tensors; it returns a Tensor or a tuple of them.
        primals: the input, or a tuple of inputs, Int32, Int64, Float32 or Float64; integers become
            Float32.
        order: how often it is differentiated, from 1.

    Returns:
        `(results, derivatives)`, each of the shape of the output, or two lists of them.

    Raises:
        TypeError: `order` is no integer, or another element type.
        ValueError: `order` is below 1.

    Source: MindSpore's `mindspore.ops.derivative`.

    Example:
        >>> print(*ops.derivative(lambda x: x * x * x, Tensor([2.0]), 2))
        [8.] [12.]
    """
    if not isinstance(order, int) or isinstance(order, bool):
        raise wrong(TypeError, "derivative: order", "an integer", type(order).__name__)
    if order < 1:
        raise wrong(ValueError, "derivative: order", "at least 1", order)
    inputs = primals if isinstance(primals, tuple) else (primals,)
    paths = []
    for x in inputs:
        x = _real(x)
        paths.append((x, [x * 0 + 1, *[x * 0] * (order - 1)]))
    rows = _derivatives(fn, paths)
    first, last = rows[0], rows[-1]
    return (first[0], last[0]) if len(first) == 1 else (list(first), list(last))


def _real(x) -> Any:
    if not isinstance(x, Tensor) or x.dtype not in KINDS:
        expected = "a Tensor of Int32, Int64, Float32 or Float64"
        raise wrong(TypeError, "What is differentiated", expected, getattr(x, "dtype", type(x)))
    return x.astype(float32) if x.dtype in (int32, int64) else x


def _path(x, along) -> tuple[Any, list]:
    """An input, and its derivatives by order."""
    start = _real(x)
    if not isinstance(along, Tensor) or along.dtype is not x.dtype:
        expected, actual = f"of the type {x.dtype}", getattr(along, "dtype", type(along))
        raise wrong(TypeError, "jet: series", expected, actual)
    rows: Any = _real(along)
    if rows.shape == x.shape:
        rows = rows.reshape((1, *x.shape))
    if rows.shape[1:] != x.shape:
        raise wrong(ValueError, "jet: series", f"of the shape [n, *{x.shape}]", along.shape)
    return start, list(rows)


def _derivatives(fn, paths: list[tuple[Any, list]]) -> list[tuple]:
    """The outputs and their derivatives by order; each a tuple by output."""

    def outputs(time):
        result = fn(*[_at(time, start, along) for start, along in paths])
        return (result if isinstance(result, (tuple, list)) else (result,),)

    known: Callable = outputs
    for _ in paths[0][1]:
        known = _one_order_more(known)
    kind = float64 if any(x.dtype is float64 for x, _ in paths) else float32
    return list(known(Tensor(0.0, kind)))


def _one_order_more(known: Callable) -> Callable:
    """Of a function that returns derivatives by order: one that returns the next as well."""

    def longer(time):
        rows, changes = jvp(known, time, Tensor(1.0, time.dtype))
        return (*rows, changes[-1])

    return longer


def _at(time, start, along):
    """The polynomial that has these derivatives at time 0."""
    total = along[-1] * 0
    for order in range(len(along), 0, -1):
        total = (along[order - 1] + total) * (time / order).astype(start.dtype)
    return start + total
