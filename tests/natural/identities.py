# SPDX-License-Identifier: Apache-2.0
"""Programs that ask of arguments which they are and what they have besides their parts, and of sets
and slots what a comparison of values does not tell."""

from __future__ import annotations

import collections

import numpy as np

import mycel as ms
from mycel import Tensor
from natural.common import batch, program


@program
def two_lists_or_one_twice(jit):
    step = jit.step(lambda x, a, b: x * 2 if a is b else x * 3)

    def loop(i):
        one = [1, 2]
        return step(batch(0), one, one if i % 3 == 2 else [1, 2])

    return loop, lambda: None


@program
def one_list_in_two_dicts(jit):
    step = jit.step(lambda x, a, b: x * 2 if a["k"] is b["k"] else x * 3)

    def loop(i):
        one = [1]
        return step(batch(0), {"k": one}, {"k": one if i % 3 == 2 else [1]})

    return loop, lambda: None


@program
def list_that_the_function_knows(jit):
    known = [1]
    step = jit.step(lambda x, a: x * 2 if a is known else x * 3)
    return (lambda i: step(batch(0), known if i % 3 == 2 else [1])), lambda: None


@program
def array_that_is_passed_or_another(jit):
    known = np.ones(3)
    step = jit.step(lambda x, a: x * 2 if a is known else x * 3)
    return (lambda i: step(batch(0), known if i % 3 != 2 else np.ones(3))), lambda: None


@program
def array_in_the_other_order(jit):
    step = jit.step(lambda x, a: x * float(a.ravel("K")[1]))

    def loop(i):
        table = np.arange(6.0).reshape(2, 3)
        return step(batch(0), np.asfortranarray(table) if i % 3 == 2 else table)

    return loop, lambda: None


@program
def array_that_cannot_be_written(jit):
    step = jit.step(lambda x, a: x * 2 if a.flags.writeable else x)

    def loop(i):
        table = np.arange(3.0)
        table.flags.writeable = i % 3 != 2
        return step(batch(0), table)

    return loop, lambda: None


@program
def days_or_hours(jit):
    step = jit.step(lambda x, span: x * float(span / np.timedelta64(1, "h")))
    units = ("h", "h", "D")
    return (lambda i: step(batch(0), np.timedelta64(5, units[i % 3]))), lambda: None


@program
def containers_with_fields(jit):
    kinds = [type(base.__name__, (base,), {}) for base in (list, tuple, dict, set)]
    step = jit.step(lambda x, part: x * part.mode)

    def loop(i):
        part = kinds[i // 3 % 4]([("a", 1)])
        part.mode = 2.0 if i % 3 != 2 else 5.0
        return step(batch(0), part)

    return loop, lambda: None


@program
def queue_and_default_of_an_argument(jit):
    step = jit.step(lambda x, queue, table: x * queue.maxlen + table.default_factory())
    factories = (int, lambda: 1)

    def loop(i):
        queue = collections.deque([1], maxlen=2 if i % 3 != 2 else 3)
        return step(batch(0), queue, collections.defaultdict(factories[i // 3 % 2], a=1))

    return loop, lambda: None


@program
def tensor_with_a_slot(jit):
    class Scaled(Tensor):
        __slots__ = ("gain",)

    step = jit.step(lambda x: x * x.gain)

    def loop(i):
        x = Scaled(np.ones(3, np.float32))
        x.gain = 2.0 if i % 3 != 2 else 5.0
        return step(x)

    return loop, lambda: None


@program
def list_that_holds_itself(jit):
    step = jit.step(lambda x, loop: x * len(loop[0][0]))

    def loop(i):
        ring = [1]
        ring[0] = ring
        return step(batch(i), ring)

    return loop, lambda: None


@program
def tree_with_ways_up(jit):
    class Node:
        def __init__(self, value, above=None):
            self.value, self.above, self.below = value, above, []
            if above is not None:
                above.below.append(self)

    step = jit.step(lambda root: root.value + root.below[0].value * 2)

    def loop(i):
        root = Node(batch(i))
        Node(batch(i + 1), root)
        return step(root)

    return loop, lambda: None


@program
def order_of_a_set(jit):
    known, fixed = set(), {"numbers": frozenset()}

    @jit.step
    def step(x, passed):
        for number in (*known, *fixed["numbers"], *passed):
            x = x * 2 + number
        return x

    def loop(i):
        # They fall into one place: the first keeps it.
        orders = [(0, 8), (8, 0)]
        known.clear()
        for number in orders[i > 4]:
            known.add(number)
        fixed["numbers"] = frozenset(orders[i > 7])
        return step(batch(0), set(orders[i > 10]))

    return loop, lambda: None


@program
def slots_by_other_ways(jit):
    class Settings:
        __slots__ = ("gain", "last")

    settings = Settings()
    settings.gain, settings.last = 2.0, 0

    @jit.step
    def step(x):
        return x * object.__getattribute__(settings, "gain")

    @jit.step
    def write(x):
        object.__setattr__(settings, "last", 9)
        return x * 2

    def loop(i):
        settings.gain, settings.last = 2.0 + i // 4, 0
        return step(batch(0)), write(batch(0)), settings.last

    return loop, lambda: None


@program
def names_given_to_objects_of_the_machine(jit):
    derivative = ms.grad(lambda x: (x * x).sum())

    @jit.step
    def step(x):
        return x * getattr(derivative, "gain", 1.0)

    def loop(i):
        if i > 3:
            derivative.gain = 2.0 + i // 8
        return step(batch(0))

    return loop, lambda: None


@program
def derivatives_made_inside(jit):
    settings, kept = {"gain": 1.0}, {}

    @jit.step
    def closed(x, y):
        gain = settings["gain"]
        along = ms.grad(lambda s: (s * s * y * gain).sum())
        return along(x)

    @jit.step
    def of_the_call_before(x, y):
        def inner(s):
            return (s * s * y).sum()

        before, kept["derivative"] = kept.get("derivative"), ms.grad(inner)
        along = kept["derivative"]
        return along(x) if before is None else along(x) + 10 * before(x)

    @jit.step
    def through_others(x, y):
        def of(factor):
            return ms.value_and_grad(lambda s: (s * s * y * factor).sum())

        both = [of(2), of(settings["gain"])]
        return [one(x) for one in both]

    def loop(i):
        settings["gain"] = 1.0 + i // 5
        x, y = batch(i), batch(i + 1)
        return closed(x, y), of_the_call_before(x, y), through_others(x, y)

    return loop, lambda: None


@program
def a_tensor_that_refers_to_itself(jit):
    @jit.step
    def step(x, y):
        return x * (2 if x.other is y else 3)

    def loop(i):
        x, y = batch(i), batch(i + 1)
        x.other, y.other = (x if i % 4 == 1 else y), x
        return step(x, y)

    return loop, lambda: None
