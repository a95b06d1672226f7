# SPDX-License-Identifier: Apache-2.0
"""What a call makes and returns: containers with attributes, the same one twice, states."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, deque

import numpy as np

from mycel import Tensor
from natural.common import batch, program, vector


class Output(OrderedDict):
    """As libraries of language models return: every entry is an attribute too."""

    def __init__(self, **entries):
        super().__init__(**entries)
        for name, value in entries.items():
            super().__setattr__(name, value)


class Table(dict):
    """A dictionary that takes attributes."""


class Row(list):
    """A list that takes attributes."""


@dataclasses.dataclass
class Batch:
    x: Tensor
    y: Tensor
    count: int = 0


@dataclasses.dataclass(frozen=True)
class State:
    hidden: Tensor
    step: int = 0


def seen(value):
    """What a caller sees of what was returned."""
    if isinstance(value, Output):
        return [*value.items(), value.loss, value.loss is value["loss"]]
    return value


@program
def entries_that_are_attributes(jit):
    step = jit.step(lambda x: Output(loss=x.sum(), logits=x * 2))
    return (lambda i: seen(step(batch(i)))), lambda: None


@program
def attributes_of_containers(jit):
    @jit.step
    def step(x):
        table, row = Table(loss=x.sum()), Row([x])
        table.input, table.meta, row.scale = x, {"count": 0}, x.mean()
        return table, row

    def loop(i):
        table, row = step(batch(i))
        table.meta["count"] += 1
        return table["loss"], table.input, table.meta, row[0], row.scale

    return loop, lambda: None


@program
def the_same_container_twice(jit):
    @jit.step
    def step(x):
        layers, names, last = [x * 2], {"a": x}, deque([x], 3)
        box = Batch(x, x)
        array = np.ones(2)
        return (
            layers,
            (layers, {"layers": layers}),
            [names] * 2,
            last,
            [last],
            box,
            [box],
            array,
            array,
        )

    def loop(i):
        result = step(batch(i))
        layers, (again, inside), (names, other), last, (last_again,), box, (box_again,), *arrays = (
            result
        )
        layers.append(1)
        same = (
            layers is again is inside["layers"], names is other, last is last_again,
            box is box_again, arrays[0] is arrays[1], box.x is box.y,
        )  # fmt: skip
        return same, len(again), layers[0], names, list(last)

    return loop, lambda: None


@program
def a_list_that_holds_itself_is_returned(jit):
    @jit.step
    def step(x):
        ring = [x]
        ring.append(ring)
        return ring

    def loop(i):
        ring = step(batch(i))
        return ring[0], ring[1] is ring

    return loop, lambda: None


@program
def a_batch_is_passed(jit):
    step = jit.step(lambda pair: pair.x * 2 + pair.y * pair.count)

    def loop(i):
        pair = Batch(Tensor(batch(i)), Tensor(batch(i + 1)), i // 5)
        return step(pair)

    return loop, lambda: None


@program
def a_state_goes_on(jit):
    @jit.step
    def step(state, x):
        return dataclasses.replace(state, hidden=state.hidden * 0.5 + x)

    states = [State(Tensor(vector()))]

    def loop(i):
        states.append(step(states[-1], batch(i)))
        return states[-1].hidden, type(states[-1]) is State

    return loop, lambda: len(states)


@program
def parts_are_returned(jit):
    kept = Tensor(np.ones((2, 3), np.float32))

    @jit.step
    def step(x):
        double = x * 2
        return x[0], kept[1][1:], double, double[1], (x * 3)[0]

    def loop(i):
        x = Tensor(batch(i))
        first, middle, double, second, alone = step(x)
        first[1] = 9.0
        middle[0] = float(i)
        second[0] = 7.0
        alone[0] = 5.0
        return x, double, alone

    return loop, lambda: kept


@program
def states_with_slots(jit):
    @dataclasses.dataclass(frozen=True, slots=True)
    class Slotted:
        hidden: Tensor
        name: str = "a"

    @dataclasses.dataclass(slots=True)
    class Carried:
        hidden: Tensor
        count: int = 0

    @jit.step
    def step(state, x, carried):
        carried = Carried(carried.hidden + x, carried.count)
        return dataclasses.replace(state, hidden=state.hidden * 0.5 + x), carried

    states = [(Slotted(Tensor(vector())), Carried(Tensor(vector())))]

    def loop(i):
        state, carried = states[-1]
        if i == 6:
            carried.count = 3
        states.append(step(state, batch(i), carried))
        state, carried = states[-1]
        return state.hidden, state.name, carried.hidden, carried.count, type(state) is Slotted

    return loop, lambda: len(states)
