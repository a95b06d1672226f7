# SPDX-License-Identifier: Apache-2.0
"""Rules of what gives elements another place, or repeats them."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.tuning.padding.core import (
    Computation,
    Refused,
    Same,
    Value,
    axis_of,
    decayed,
    fixed_value,
    is_number,
    is_one,
    is_open_axis,
    joined,
    length_of,
    one_range,
    rule_for,
    without,
)


@rule_for("dim_as_value")
def _length(padding: Computation, equation):
    size = padding.size(equation.params["dim"])
    return fixed_value(jnp.asarray(size, equation.outvars[0].aval.dtype))


@rule_for("broadcast_in_dim")
def _broadcast(padding: Computation, equation, value: Value, *_):
    shape, places = equation.params["shape"], equation.params["broadcast_dimensions"]
    axes: list = [axis_of(n) if is_number(n) else Same(n) for n in shape]
    for number, place in enumerate(places):
        if value.axes[number] or is_number(shape[place]):
            axes[place] = value.axes[number] or axes[place]
    room = padding.shape(shape)
    array = lax.broadcast_in_dim(value.array, room, places)
    kept = {place for place, axis in zip(places, value.axes, strict=True) if is_open_axis(axis)}
    grows = any(is_open_axis(axis) and place not in kept for place, axis in enumerate(axes))
    return Value(array, tuple(axes), value.zero and not grows)


@rule_for("iota")
def _iota(padding: Computation, equation, *_):
    parameters = equation.params
    shape, along = parameters["shape"], parameters["dimension"]
    axes = [axis_of(n) if is_number(n) else Same(n) for n in shape]
    axes[along] = axis_of(shape[along])
    array = lax.broadcasted_iota(parameters["dtype"], padding.shape(shape), along)
    return Value(array, tuple(axes))


def quotient(whole, part):
    """A length divided by another; None if that is not a length."""
    try:
        if is_number(whole) and not is_number(part):
            return None
        found = whole // part
        return found if found * part == whole else None
    except Exception:  # whatever JAX says of symbols that it cannot compare
        return None


@rule_for("reshape")
def _reshape(padding: Computation, equation, value: Value, *_):
    new = equation.params["new_sizes"]
    if equation.params.get("dimensions") is not None or any(is_number(n) and not n for n in new):
        raise Refused("reshape")
    factors = [f for axis in value.axes for f in ([axis] if isinstance(axis, Same) else axis)]
    factors = list(_together(factors))[::-1]
    axes = []
    for length in new:
        axis: list = []
        rest = length
        while not is_one(rest):
            if not factors:
                raise Refused(f"reshape (to {tuple(new)})")
            factor = factors.pop()
            if isinstance(factor, Same):
                left = quotient(factor.length, rest)
                if left is not None:
                    # Along it all elements are equal: it may be divided at will.
                    factors += [] if is_one(left) else [left if is_number(left) else Same(left)]
                    axis.append(rest if axis or is_number(rest) else Same(rest))
                    break
                factor = factor.length
            after = quotient(rest, factor)
            if after is not None:
                axis.append(factor)
                rest = after
                continue
            left = quotient(factor, rest)
            if left is None or not (is_number(left) and (axis == [] or is_number(factor))):
                after = _number_in_common(factor, rest)
                if after is None:
                    raise Refused(f"reshape (to {tuple(new)})")
                common, left = after
                axis.append(common)
                factors.append(left)
                rest = quotient(rest, common)
                continue
            axis.append(rest)
            factors.append(left)
            rest = 1
        axes.append(axis[0] if axis and isinstance(axis[0], Same) else axis_of(*axis))
    if not all(map(is_one, factors)):
        raise Refused(f"reshape (to {tuple(new)})")
    return Value(value.array.reshape(padding.shape(new)), tuple(axes), value.zero)


def _together(factors):
    """Factors, neighbours that are numbers multiplied."""
    product = 1
    for factor in factors:
        if is_number(factor):
            product *= factor
            continue
        if product != 1:
            yield product
        product = 1
        yield factor
    if product != 1:
        yield product


def _number_in_common(factor, rest):
    """A number that leads both of two lengths, and what the first has besides; None if none."""
    if not is_number(factor):
        return None
    for common in range(factor, 1, -1):
        if factor % common == 0 and quotient(rest, common) is not None:
            return common, factor // common
    return None


@rule_for("transpose")
def _transpose(padding: Computation, equation, value: Value):
    order = equation.params["permutation"]
    axes = tuple([value.axes[number] for number in order])
    return Value(lax.transpose(value.array, order), axes, value.zero)


@rule_for("squeeze")
def _squeeze(padding: Computation, equation, value: Value):
    gone = equation.params["dimensions"]
    axes = tuple([axis for number, axis in enumerate(value.axes) if number not in gone])
    return Value(lax.squeeze(value.array, gone), axes, value.zero)


@rule_for("optimization_barrier")
def _barrier(padding: Computation, equation, *values: Value):
    arrays = lax.optimization_barrier([value.array for value in values])
    return [value._replace(array=array) for value, array in zip(values, arrays, strict=True)]


@rule_for("slice")
def _slice(padding: Computation, equation, value: Value):
    parameters = equation.params
    starts, limits = parameters["start_indices"], parameters["limit_indices"]
    strides = parameters["strides"] or (1,) * len(starts)
    axes: list = []
    room_of_limits = []
    shape = equation.outvars[0].aval.shape
    moved: dict[int, tuple] = {}
    whole = True
    for number, axis in enumerate(value.axes):
        start, limit, length = starts[number], limits[number], shape[number]
        if not is_open_axis(axis):
            if not (is_number(start) and is_number(limit)):
                raise Refused("slice (of an open length)")
            axes.append(axis_of(length))
        elif start == 0 and strides[number] == 1 and length == length_of(axis):
            axes.append(axis)
        else:
            one_range("slice", axis)
            axes.append(axis_of(length))
            whole = False
            if not is_number(start):
                if strides[number] != 1:
                    raise Refused("slice (from an open length, in steps)")
                moved[number] = start, length
                start, limit = 0, length_of(axis)
        room_of_limits.append((padding.room(start), padding.room(limit)))
    from_, to = zip(*room_of_limits, strict=True)
    array = lax.slice(value.array, from_, to, strides)
    for number, (start, length) in moved.items():
        # The room behind it, as it may be longer than what is left.
        room = padding.room(length)
        longer = [(0, room if n == number else 0, 0) for n in range(array.ndim)]
        array = lax.pad(array, jnp.zeros((), array.dtype), longer)
        array = lax.dynamic_slice_in_dim(array, padding.size(start), room, number)
    return Value(array, tuple(axes), value.zero and whole)


@rule_for("tile")
def _tile(padding: Computation, equation, value: Value):
    times = equation.params["reps"]
    if not all(map(is_number, times)):
        raise Refused("tile (an open number of times)")
    axes = [axis_of(n, *decayed(a)) for n, a in zip(times, value.axes, strict=True)]
    return Value(equation.primitive.bind(value.array, **equation.params), tuple(axes), value.zero)


@rule_for("bitcast_convert_type")
def _same_bits(padding: Computation, equation, value: Value):
    made = equation.primitive.bind(value.array, **equation.params)
    if np.ndim(made) != np.ndim(value.array):
        raise Refused("bitcast_convert_type (to another number of elements)")
    return Value(made, value.axes, value.zero)


@rule_for("concatenate")
def _concatenate(padding: Computation, equation, *values: Value):
    along = equation.params["dimension"]
    others = [value._replace(axes=without(value.axes, along)) for value in values]
    axes = list(joined("concatenate", others))
    axes.insert(along, None)
    total = equation.outvars[0].aval.shape[along]
    if not any(is_open_axis(value.axes[along]) for value in values):
        axes[along] = axis_of(total)
        array = lax.concatenate([value.array for value in values], along)
        return Value(array, tuple(axes), all(value.zero for value in values))
    for value in values:
        one_range("concatenate", value.axes[along])
    axes[along] = axis_of(total)
    # Each begins where what counts of the one before it ends.
    room = list(np.shape(values[0].array))
    room[along] = padding.room(total)
    array, begin = jnp.zeros(room, values[0].array.dtype), np.int32(0)
    for value in values:
        array = lax.dynamic_update_slice_in_dim(array, value.array, begin, along)
        begin = begin + padding.size(length_of(value.axes[along]))
    return Value(array, tuple(axes))


@rule_for("stack")
def _stack(padding: Computation, equation, *values: Value):
    axes = list(joined("stack", values))
    axes.insert(equation.params["axis"], axis_of(len(values)))
    made = equation.primitive.bind(*[value.array for value in values], **equation.params)
    return Value(made, tuple(axes))


@rule_for("unstack")
def _unstack(padding: Computation, equation, value: Value):
    along = equation.params["axis"]
    if is_open_axis(value.axes[along]):
        raise Refused("unstack (along an open length)")
    parts = equation.primitive.bind(value.array, **equation.params)
    return [Value(part, without(value.axes, along), value.zero) for part in parts]


@rule_for("split")
def _split(padding: Computation, equation, value: Value):
    along, lengths_taken = equation.params["axis"], equation.params["sizes"]
    results, begin = [], 0
    if is_open_axis(value.axes[along]):
        one_range("split", value.axes[along])
    for length in lengths_taken:
        axes = (*value.axes[:along], axis_of(length), *value.axes[along + 1 :])
        part = lax.dynamic_slice_in_dim(value.array, begin, padding.room(length), along)
        results.append(Value(part, axes))
        begin = begin + padding.size(length)
    return results


@rule_for("pad")
def _pad(padding: Computation, equation, value: Value, fill: Value):
    config = equation.params["padding_config"]
    shape = equation.outvars[0].aval.shape
    axes, room = [], []
    array = value.array
    for number, (axis, (low, high, inside)) in enumerate(zip(value.axes, config, strict=True)):
        if (low, high, inside) == (0, 0, 0):
            axes.append(axis)
        elif not is_open_axis(axis):
            if not all(map(is_number, (low, high, inside))):
                raise Refused("pad (to an open length)")
            axes.append(axis_of(shape[number]))
        else:
            one_range("pad", axis)
            if inside or not is_number(low) or not is_number(high):
                raise Refused("pad (within an open length)")
            axes.append(axis_of(shape[number]))
            array = padding.filled(Value(array, value.axes), fill.array, [number])
        room.append((low, high, inside))
    array = lax.pad(array, fill.array, room)
    return Value(array, tuple(axes))


@rule_for("rev")
def _reversed(padding: Computation, equation, value: Value):
    array = lax.rev(value.array, equation.params["dimensions"])
    for number in equation.params["dimensions"]:
        axis = value.axes[number]
        if is_open_axis(axis):
            size = padding.size(one_range("rev", axis))
            array = jnp.roll(array, size - array.shape[number], number)
    return Value(array, value.axes, value.zero)
