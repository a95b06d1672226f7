# SPDX-License-Identifier: Apache-2.0
"""Rules of what reads across axes: sums, extremes, orders, products and windows."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.tuning.padding.core import (
    Computation,
    Refused,
    Value,
    axis_of,
    common,
    decayed,
    greatest_of,
    is_number,
    is_open_axis,
    joined,
    least_of,
    one_range,
    rule_for,
    with_axis,
    without,
)

_NEUTRAL: dict[str, Callable] = {
    "reduce_sum": lambda kind: 0,
    "reduce_prod": lambda kind: 1,
    "reduce_max": least_of,
    "reduce_min": greatest_of,
    "reduce_and": lambda kind: True if kind == np.bool_ else -1,
    "reduce_or": lambda kind: False,
    "reduce_xor": lambda kind: 0,
    "argmax": least_of,
    "argmin": greatest_of,
    "cumsum": lambda kind: 0,
    "cumprod": lambda kind: 1,
    "cummax": least_of,
    "cummin": greatest_of,
    "cumlogsumexp": lambda kind: -np.inf,
}


@rule_for(*[name for name in _NEUTRAL if name.startswith("reduce")])
def _reduction(padding: Computation, equation, value: Value):
    name, gone = equation.primitive.name, equation.params["axes"]
    neutral = _NEUTRAL[name](value.array.dtype)
    array = padding.filled(value, neutral, [n for n in gone if is_open_axis(value.axes[n])])
    axes = tuple([axis for number, axis in enumerate(value.axes) if number not in gone])
    made = equation.primitive.bind(array, **equation.params)
    return Value(made, axes, value.zero and name == "reduce_sum")


@rule_for("argmax", "argmin")
def _place_of_extreme(padding: Computation, equation, value: Value):
    (gone,) = equation.params["axes"]
    neutral = _NEUTRAL[equation.primitive.name](value.array.dtype)
    array = padding.filled(value, neutral, [gone])
    place = equation.primitive.bind(array, **equation.params)
    factors = decayed(value.axes[gone])
    if len(factors) > 1:
        # The place among the elements that count, which are in the same order.
        rest, place, step = place, jnp.zeros_like(place), 1
        for factor in reversed(factors):
            room = jnp.asarray(padding.room(factor), place.dtype)
            place = place + lax.rem(rest, room) * jnp.asarray(step, place.dtype)
            rest, step = lax.div(rest, room), step * padding.size(factor)
    return Value(place, without(value.axes, gone))


@rule_for("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _running(padding: Computation, equation, value: Value):
    name, along = equation.primitive.name, equation.params["axis"]
    if is_open_axis(value.axes[along]):
        one_range(name, value.axes[along])
    array = value.array
    if equation.params["reverse"]:
        array = padding.filled(value, _NEUTRAL[name](array.dtype), [along])
    axes = [decayed(a) if n == along else a for n, a in enumerate(value.axes)]
    return Value(equation.primitive.bind(array, **equation.params), tuple(axes))


@rule_for("sort")
def _sort(padding: Computation, equation, *values: Value):
    along, keys = equation.params["dimension"], equation.params["num_keys"]
    axes = joined("sort", values)
    arrays = [value.array for value in values]
    if is_open_axis(axes[along]):
        one_range("sort", axes[along])
        shape = [1] * len(axes)
        shape[along] = -1
        outside = ~padding.counts(axes[along]).reshape(shape)
        arrays.insert(0, jnp.broadcast_to(outside, arrays[0].shape).astype(np.int8))
        keys += 1
    stable = equation.params["is_stable"]
    made = lax.sort(arrays, dimension=along, is_stable=stable, num_keys=keys)
    return [Value(array, axes) for array in made[len(arrays) - len(values) :]]


@rule_for("top_k")
def _top(padding: Computation, equation, value: Value):
    axis = value.axes[-1]
    array, count = value.array, equation.params["k"]
    if not is_number(count):
        raise Refused("top_k (an open number of them)")
    if is_open_axis(axis):
        one_range("top_k", axis)
        array = padding.filled(value, least_of(array.dtype), [array.ndim - 1])
    made = equation.primitive.bind(array, **equation.params)
    axes = (*value.axes[:-1], axis_of(count))
    return [Value(part, axes) for part in made]


@rule_for("dot_general")
def _product(padding: Computation, equation, left: Value, right: Value):
    (sums_left, sums_right), (batch_left, batch_right) = equation.params["dimension_numbers"]
    arrays = [left.array, right.array]
    for one, other in zip(sums_left, sums_right, strict=True):
        axis = common("dot_general", left.axes[one], right.axes[other])
        if is_open_axis(axis):
            arrays[0] = padding.filled(with_axis(left, one, axis, arrays[0]), 0, [one])
            arrays[1] = padding.filled(with_axis(right, other, axis, arrays[1]), 0, [other])
    batch = [
        common("dot_general", left.axes[m], right.axes[n])
        for m, n in zip(batch_left, batch_right, strict=True)
    ]
    free = [
        axis
        for value, used in ((left, (*sums_left, *batch_left)), (right, (*sums_right, *batch_right)))
        for number, axis in enumerate(value.axes)
        if number not in used
    ]
    return Value(equation.primitive.bind(*arrays, **equation.params), (*batch, *free))


@rule_for("conv_general_dilated")
def _convolution(padding: Computation, equation, x: Value, weight: Value):
    parameters = equation.params
    numbers = parameters["dimension_numbers"]
    batch, channels, *places = numbers.lhs_spec
    outputs, inputs, *window = numbers.rhs_spec
    groups = parameters["feature_group_count"], parameters["batch_group_count"]
    name = equation.primitive.name
    across = x.axes[channels], weight.axes[outputs], weight.axes[inputs]
    if groups != (1, 1) and (any(map(is_open_axis, across)) or groups[1] != 1):
        raise Refused(f"{name} (groups of an open length)")
    if groups == (1, 1):
        axis = common(name, x.axes[channels], weight.axes[inputs])
        x, weight = with_axis(x, channels, axis), with_axis(weight, inputs, axis)
    ends = []
    for (low, high), mine, theirs in zip(parameters["padding"], places, window, strict=True):
        one_range(name, x.axes[mine])
        one_range(name, weight.axes[theirs])
        if not is_number(low):
            raise Refused(f"{name} (padded by an open length)")
        # It may be negative.
        ends.append((low, padding.room(high)))
    shape = equation.outvars[0].aval.shape
    axes: list = list(map(axis_of, shape))
    axes[numbers.out_spec[0]], axes[numbers.out_spec[1]] = x.axes[batch], weight.axes[outputs]
    # What is summed over is zero where it does not count, on both sides.
    summed = [n for n in (channels, *places) if is_open_axis(x.axes[n])]
    array = padding.filled(x, 0, summed)
    kernel = padding.filled(
        weight, 0, [n for n in (inputs, *window) if is_open_axis(weight.axes[n])]
    )
    return Value(
        equation.primitive.bind(array, kernel, **{**parameters, "padding": tuple(ends)}),
        tuple(axes),
    )


@rule_for(
    "reduce_window", "reduce_window_sum", "reduce_window_max", "reduce_window_min",
    "select_and_scatter_add", "select_and_gather_add",
)  # fmt: skip
def _windows(padding: Computation, equation, *values: Value):
    parameters = equation.params
    name = equation.primitive.name
    axes = list(values[0].axes)
    shape = equation.outvars[0].aval.shape
    for value in values:
        for number, axis in enumerate(value.axes):
            if not is_open_axis(axis):
                continue
            plain = parameters["window_dimensions"][number] == 1
            plain = plain and parameters["window_strides"][number] == 1
            plain = plain and tuple(parameters["padding"][number]) == (0, 0)
            if not plain or axis != axes[number]:
                raise Refused(f"{name} (windows over an open length)")
    axes = [a if is_open_axis(a) else axis_of(n) for a, n in zip(axes, shape, strict=True)]
    made = equation.primitive.bind(*[value.array for value in values], **parameters)
    several = equation.primitive.multiple_results
    return [Value(array, tuple(axes)) for array in (made if several else [made])]
