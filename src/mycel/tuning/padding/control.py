# SPDX-License-Identifier: Apache-2.0
"""Rules of random bits, branches and loops."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.tuning.padding.core import (
    Computation,
    Refused,
    Value,
    axis_of,
    decayed,
    is_number,
    joined,
    one_range,
    rule_for,
)


@rule_for("random_bits")
def _bits(padding: Computation, equation, key: Value):
    aval = equation.invars[0].aval
    shape, width = equation.params["shape"], equation.params["bit_width"]
    partitionable = getattr(jax.config, "jax_threefry_partitionable", False)
    if aval.shape or "fry" not in str(aval.dtype) or width not in (32, 64) or not partitionable:
        raise Refused("random_bits")
    # An element's bits are those of its number among those that count.
    number = jnp.zeros((), np.uint64)
    room = padding.shape(shape)
    for axis, length in enumerate(shape):
        size = jnp.asarray(padding.size(length), np.uint64)
        number = number * size + lax.broadcasted_iota(np.uint64, room, axis)
    high = (number >> np.uint64(32)).astype(np.uint32).ravel()
    low = number.astype(np.uint32).ravel()
    from jax.extend import random  # it takes 15 ms, and few programs need it

    pair = jax.random.key_data(key.array)
    made = random.threefry_2x32(pair, jnp.concatenate([high, low]))
    first, second = jnp.split(made, 2)
    if width == 64:
        made = first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)
    else:
        made = first ^ second
    return Value(made.reshape(room), tuple(map(axis_of, shape)))


@rule_for("cond")
def _cond(padding: Computation, equation, which: Value, *values: Value):
    made: list = []

    def branch(closed, *arrays):
        given = [value._replace(array=a) for value, a in zip(values, arrays, strict=True)]
        results = padding.run(closed.jaxpr, closed.consts, given)
        made.append([result.axes for result in results])
        return [result.array for result in results]

    branches = [functools.partial(branch, closed) for closed in equation.params["branches"]]
    arrays = lax.switch(which.array, branches, *[value.array for value in values])
    axes = [
        joined("cond", [Value(None, known[number]) for known in made])
        for number in range(len(arrays))
    ]
    return [Value(array, known) for array, known in zip(arrays, axes, strict=True)]


def _counts(equation) -> tuple[int, int]:
    """How many inputs of a scan are the same at each time, and how many are carried on."""
    parameters = equation.params
    if "num_consts" in parameters:
        return parameters["num_consts"], parameters["num_carry"]
    # From JAX 0.12 on.
    consts, carried, _ = parameters["ft_in"].update(equation.invars).unpack()
    return len(list(consts)), len(list(carried))


@rule_for("scan")
def _scan(padding: Computation, equation, *values: Value):
    parameters = equation.params
    consts, carried = _counts(equation)
    closed, length = parameters["jaxpr"], parameters["length"]
    backwards = parameters["reverse"]
    values = tuple([v._replace(axes=tuple(map(decayed, v.axes))) for v in values])
    fixed, start, rows = (
        values[:consts], values[consts : consts + carried], values[consts + carried :]
    )  # fmt: skip
    times = () if is_number(length) else axis_of(length)
    for row in rows:
        if times and one_range("scan", row.axes[0]) != length:
            raise Refused("scan (its length)")
    made: dict = {}

    def turn(state, given):
        number, arrays = given
        inside = [v._replace(array=a, zero=False) for v, a in zip(start, state, strict=True)]
        inside += [Value(a, v.axes[1:]) for v, a in zip(rows, arrays, strict=True)]
        results = padding.run(closed.jaxpr, closed.consts, [*fixed, *inside])
        after = [result.array for result in results[:carried]]
        for result, value in zip(results[:carried], start, strict=True):
            if tuple(map(decayed, result.axes)) != value.axes:
                raise Refused("scan (a length that changes)")
        made["rest"] = [tuple(map(decayed, result.axes)) for result in results[carried:]]
        if times:
            goes_on = number < padding.size(length)
            pairs = zip(after, state, strict=True)
            after = [jnp.where(goes_on, new, old) for new, old in pairs]
        return after, [result.array for result in results[carried:]]

    count = padding.room(length)
    given = jnp.arange(count, dtype=np.int32), [row.array for row in rows]
    state = [value.array for value in start]
    after, out = lax.scan(turn, state, given, count, reverse=backwards)
    first = times or axis_of(count)
    return [
        *[Value(array, value.axes) for array, value in zip(after, start, strict=True)],
        *[Value(a, (first, *axes)) for a, axes in zip(out, made["rest"], strict=True)],
    ]
