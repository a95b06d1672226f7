# SPDX-License-Identifier: Apache-2.0
"""Rules of what reads and writes at places that are computed."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
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
    least_of,
    length_of,
    one_range,
    rule_for,
    with_axis,
)


@rule_for("dynamic_slice")
def _dynamic_slice(padding: Computation, equation, value: Value, *starts: Value):
    lengths_taken = equation.params["slice_sizes"]
    arrays, axes = [], []
    for number, (axis, start) in enumerate(zip(value.axes, starts, strict=True)):
        length, begin = lengths_taken[number], start.array
        if not is_open_axis(axis):
            if not is_number(length):
                raise Refused("dynamic_slice (of an open length)")
            axes.append(axis_of(length))
        elif length == length_of(axis):
            axes.append(axis)
            begin = jnp.zeros_like(begin)
        else:
            whole = one_range("dynamic_slice", axis)
            axes.append(axis_of(length))
            most = jnp.asarray(padding.size(whole) - padding.size(length), begin.dtype)
            begin = jnp.clip(begin, 0, most)
        arrays.append(begin)
    # Not `lax.dynamic_slice`, which takes negative places from the end; that was done before.
    sizes = padding.shape(lengths_taken)
    made = equation.primitive.bind(value.array, *arrays, slice_sizes=sizes)
    return Value(made, tuple(axes))


@rule_for("dynamic_update_slice")
def _dynamic_update(padding: Computation, equation, value: Value, update: Value, *starts: Value):
    lengths_taken = equation.invars[1].aval.shape
    arrays, axes, parts = [], [], []
    for number, (axis, start) in enumerate(zip(value.axes, starts, strict=True)):
        length, begin, mine = lengths_taken[number], start.array, update.axes[number]
        if is_open_axis(axis) and length == length_of(axis):
            axis, begin = common("dynamic_update_slice", axis, mine), jnp.zeros_like(begin)
        elif is_open_axis(axis):
            whole = one_range("dynamic_update_slice", axis)
            one_range("dynamic_update_slice", mine)
            axis = axis_of(whole)
            most = jnp.asarray(padding.size(whole) - padding.size(length), begin.dtype)
            begin = jnp.clip(begin, 0, most)
            if is_open_axis(mine):
                parts.append(number)
        elif is_open_axis(mine):
            raise Refused("dynamic_update_slice (of an open length)")
        arrays.append(begin)
        axes.append(decayed(axis))
    array, new = value.array, update.array
    if not parts:
        return Value(equation.primitive.bind(array, new, *arrays), tuple(axes))
    # What lies behind the length of the update may not be written: it is put in a longer array, of
    # which only that is taken which counts.
    longer = [(0, new.shape[n] if n in parts else 0, 0) for n in range(array.ndim)]
    written = lax.pad(array, jnp.zeros((), array.dtype), longer)
    written = equation.primitive.bind(written, new, *arrays)
    written = lax.slice(written, (0,) * array.ndim, array.shape)
    for number in parts:
        place = lax.broadcasted_iota(arrays[number].dtype, array.shape, number) - arrays[number]
        size = jnp.asarray(padding.size(lengths_taken[number]), place.dtype)
        written = jnp.where((place >= 0) & (place < size), written, array)
    return Value(written, tuple(axes))


_MODES = lax.GatherScatterMode


def _clipped(padding: Computation, name: str, indices, axes_of, mapped, taken, mode):
    """Indices that do behind the true end of an axis what they do behind the end of an array."""
    for column, number in enumerate(mapped):
        axis = axes_of[number]
        if not is_open_axis(axis):
            continue
        size = padding.size(one_range(name, axis))
        last = jnp.asarray(size - padding.size(taken[number]), indices.dtype)
        here = indices[..., column]
        if mode == _MODES.CLIP:
            here = jnp.clip(here, 0, last)
        elif mode == _MODES.FILL_OR_DROP:
            if padding.room(length_of(axis)) >= jnp.iinfo(indices.dtype).max:
                raise Refused(f"{name} (indices of {indices.dtype})")
            here = jnp.where(here > last, jnp.iinfo(indices.dtype).max, here)
        elif mode != _MODES.PROMISE_IN_BOUNDS:
            raise Refused(f"{name} ({mode})")
        indices = indices.at[..., column].set(here)
    return indices


@rule_for("gather")
def _gather(padding: Computation, equation, value: Value, indices: Value):
    parameters = dict(equation.params)
    numbers, taken = parameters["dimension_numbers"], parameters["slice_sizes"]
    gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    pairs = zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    place_axes = list(indices.axes[:-1])
    for mine, theirs in pairs:
        place_axes[theirs] = common("gather", value.axes[mine], indices.axes[theirs])
    kept = []
    for number, axis in enumerate(value.axes):
        if number in gone:
            continue
        length = taken[number]
        if not is_open_axis(axis) and not is_number(length):
            raise Refused("gather (of an open length)")
        if not is_open_axis(axis) or (not is_number(length) and length == length_of(axis)):
            kept.append(axis if is_open_axis(axis) else axis_of(length))
        else:
            one_range("gather", axis)
            kept.append(axis_of(length))
    mapped = numbers.start_index_map
    if is_open_axis(indices.axes[-1]):
        raise Refused("gather (an open number of indices for an element)")
    mode = _MODES.from_any(parameters["mode"])
    rest = "gather", indices.array, value.axes, mapped, taken, mode
    parameters["slice_sizes"] = padding.shape(taken)
    # What lies behind the lengths may point anywhere: nothing promises that it is sorted.
    if indices.is_open:
        parameters.update(indices_are_sorted=False, unique_indices=False)
        if mode == _MODES.PROMISE_IN_BOUNDS:
            parameters["mode"] = _MODES.CLIP
    array = equation.primitive.bind(value.array, _clipped(padding, *rest), **parameters)
    offsets, rest_axes = iter(kept), iter(place_axes)
    count = len(equation.outvars[0].aval.shape)
    axes = [next(offsets if n in numbers.offset_dims else rest_axes) for n in range(count)]
    return Value(array, tuple(axes))


# What changes nothing where it is put.
_NOTHING: dict[str, Callable] = {
    "scatter-add": lambda kind: 0,
    "scatter-mul": lambda kind: 1,
    "scatter-max": least_of,
    "scatter-min": greatest_of,
}


@rule_for("scatter", *_NOTHING)
def _scatter(padding: Computation, equation, value: Value, indices: Value, updates: Value):
    parameters = dict(equation.params)
    name, numbers = equation.primitive.name, parameters["dimension_numbers"]
    mapped = numbers.scatter_dims_to_operand_dims
    gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    mode = _MODES.from_any(parameters["mode"])
    windows = iter(numbers.update_window_dims)
    taken = [1 if n in gone else None for n in range(len(value.axes))]
    shape = equation.invars[2].aval.shape
    axes = list(value.axes)
    for number in range(len(value.axes)):
        if number in gone:
            continue
        window = next(windows)
        length = taken[number] = shape[window]
        if not is_open_axis(axes[number]):
            if is_open_axis(updates.axes[window]):
                raise Refused(f"{name} (of an open length)")
            continue
        if length == length_of(axes[number]):
            axes[number] = common(name, axes[number], updates.axes[window])
        elif name == "scatter" and is_open_axis(updates.axes[window]):
            raise Refused("scatter (to a part of an open length)")
        else:
            one_range(name, axes[number])
    places = [n for n in range(len(updates.axes)) if n not in numbers.update_window_dims]
    for place, number in zip(places, range(len(indices.axes) - 1), strict=True):
        axis = common(name, updates.axes[place], indices.axes[number])
        if is_open_axis(axis) and name == "scatter":
            raise Refused("scatter (an open number of elements)")
        updates = with_axis(updates, place, axis)
    for mine, theirs in zip(
        numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True
    ):
        axes[mine] = common(name, axes[mine], indices.axes[theirs])
    axes = list(map(decayed, axes))
    rest = name, indices.array, tuple(axes), mapped, taken, mode
    if indices.is_open:
        parameters.update(indices_are_sorted=False, unique_indices=False)
        if mode == _MODES.PROMISE_IN_BOUNDS:
            parameters["mode"] = _MODES.CLIP
    put = updates.array
    if name in _NOTHING:
        put = padding.filled(updates, _NOTHING[name](put.dtype))
    array = equation.primitive.bind(value.array, _clipped(padding, *rest), put, **parameters)
    return Value(array, tuple(axes))
