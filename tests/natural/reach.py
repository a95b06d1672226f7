# SPDX-License-Identifier: Apache-2.0
"""What a program reads by ways that its own code does not spell: C functions, text, deep chains."""

from __future__ import annotations

import bisect
import copy
import ctypes
import functools
import heapq
import inspect
import itertools
import operator
import queue
import sqlite3
import statistics
import threading
import types
import weakref
from collections import ChainMap, namedtuple

import numpy as np

from mycel import nn
from natural.common import Box, after, batch, program


@program
def getter_made_elsewhere(jit):
    gain = operator.attrgetter("gain")
    boxes = [Box(gain=1.0), Box(gain=2.0)]

    @jit.step
    def step(x):
        return x * sum(map(gain, boxes))

    def loop(i):
        after(i, 7, lambda: setattr(boxes[1], "gain", 5.0))
        return step(batch(i))

    return loop, lambda: None


@program
def smallest_by_a_getter(jit):
    runs = [Box(loss=1.0, gain=1.0), Box(loss=2.0, gain=3.0)]
    key = operator.attrgetter("loss")

    @jit.step
    def step(x):
        return x * min(runs, key=key).gain

    def loop(i):
        after(i, 5, lambda: setattr(runs[0], "loss", 4.0))
        return step(batch(i))

    return loop, lambda: None


@program
def method_caller(jit):
    call = operator.methodcaller("scaled", 2.0)

    class Scale:
        by = 1.0

        def scaled(self, x):
            return x * self.by

    scale = Scale()

    @jit.step
    def step(x):
        return x + call(scale)

    def loop(i):
        after(i, 6, lambda: setattr(scale, "by", 3.0))
        return step(batch(i))

    return loop, lambda: None


@program
def long_chain(jit):
    class Node:
        def __init__(self, value, next=None):
            self.value, self.next = value, next

    first = None
    for k in range(60):
        first = Node(0.0, first)
    last = first
    while last.next is not None:
        last = last.next

    @jit.step
    def step(x):
        node = first
        total = 0.0
        while node is not None:
            total, node = total + node.value, node.next
        return x + total

    def loop(i):
        after(i, 7, lambda: setattr(last, "value", 3.0))
        return step(batch(i))

    return loop, lambda: last.value


@program
def deeply_nested(jit):
    config = leaf = {}
    for k in range(50):
        leaf["child"] = {}
        leaf = leaf["child"]
    leaf["gain"] = 1.0

    @jit.step
    def step(x):
        found = config
        while "child" in found:
            found = found["child"]
        return x * found["gain"]

    def loop(i):
        after(i, 8, lambda: leaf.update(gain=2.0))
        return step(batch(i))

    return loop, lambda: leaf


@program
def cyclic_structure(jit):
    parent, child = Box(gain=1.0), Box(gain=2.0)
    parent.child, child.parent = child, parent

    @jit.step
    def step(x):
        return x * parent.child.parent.child.gain

    def loop(i):
        after(i, 6, lambda: setattr(child, "gain", 0.5))
        after(i, 10, lambda: setattr(child, "parent", Box(child=Box(gain=7.0))))
        return step(batch(i))

    return loop, lambda: None


@program
def copied_inside(jit):
    config = Box(gain=1.0, sizes=[1, 2])

    @jit.step
    def step(x):
        mine = copy.deepcopy(config)
        mine.sizes.append(3)
        return x * copy.copy(mine).gain + len(mine.sizes)

    def loop(i):
        after(i, 6, lambda: setattr(config, "gain", 2.0))
        after(i, 10, lambda: config.sizes.append(9))
        return step(batch(i))

    return loop, lambda: vars(config)


@program
def mean_by_the_library(jit):
    history = [1.0, 2.0]

    @jit.step
    def step(x):
        return x * statistics.mean(history) + float(np.mean(history))

    def loop(i):
        after(i, 6, lambda: history.append(6.0))
        return step(batch(i))

    return loop, lambda: history


@program
def position_by_bisection(jit):
    milestones, epoch = [3, 6], 0

    @jit.step
    def step(x):
        return x * 0.5 ** bisect.bisect_right(milestones, epoch)

    def loop(i):
        nonlocal epoch
        epoch = i
        after(i, 10, lambda: milestones.insert(0, 1))
        return step(batch(i))

    return loop, lambda: milestones


@program
def smallest_of_a_heap(jit):
    heap = [1.0, 2.0, 3.0]

    @jit.step
    def step(x):
        return x * heapq.nsmallest(1, heap)[0]

    def loop(i):
        after(i, 7, lambda: heapq.heappush(heap, 0.5))
        return step(batch(i))

    return loop, lambda: heap


@program
def iterators_over_a_list(jit):
    scales = [1.0, 2.0]

    @jit.step
    def step(x):
        for a, b in zip(scales, itertools.chain(reversed(scales), scales)):
            x = x * a + b
        return x

    def loop(i):
        after(i, 6, lambda: scales.append(0.5))
        return step(batch(i))

    return loop, lambda: scales


@program
def queue_of_commands(jit):
    commands = queue.Queue()

    @jit.step
    def step(x):
        if not commands.empty():
            x = x * commands.get()
        return x

    def loop(i):
        if i % 4 == 3:
            commands.put(float(i))
        return step(batch(i))

    return loop, lambda: commands.qsize()


@program
def stop_event(jit):
    stop = threading.Event()

    @jit.step
    def step(x):
        return None if stop.is_set() else x

    def loop(i):
        if i == 6:
            stop.set()
        if i == 10:
            stop.clear()
        return step(batch(i))

    return loop, lambda: stop.is_set()


@program
def table_of_a_database(jit):
    database = sqlite3.connect(":memory:")
    jit.undo(database.close)
    database.execute("create table settings (name text, value real)")
    database.execute("insert into settings values ('gain', 1.0)")

    @jit.step
    def step(x):
        (value,) = database.execute("select value from settings").fetchone()
        return x * value

    def loop(i):
        if i == 7:
            database.execute("update settings set value = 2.5")
        return step(batch(i))

    return loop, lambda: None


@program
def number_of_c(jit):
    gain = ctypes.c_double(1.0)

    @jit.step
    def step(x):
        return x * gain.value

    def loop(i):
        if i == 6:
            gain.value = 2.0
        return step(batch(i))

    return loop, lambda: gain.value


@program
def read_only_view_of_a_dict(jit):
    values = {"gain": 1.0}
    view = types.MappingProxyType(values)

    @jit.step
    def step(x):
        return x * view["gain"]

    def loop(i):
        after(i, 6, lambda: values.update(gain=3.0))
        return step(batch(i))

    return loop, lambda: None


@program
def weak_proxy(jit):
    class Owner:
        gain = 1.0

    owner = Owner()
    proxy = weakref.proxy(owner)

    @jit.step
    def step(x):
        return x * proxy.gain

    def loop(i):
        after(i, 7, lambda: setattr(owner, "gain", 2.0))
        return step(batch(i))

    return loop, lambda: None


@program
def views_of_dicts(jit):
    scales = {"a": 1.0}
    values, keys = scales.values(), scales.keys()

    @jit.step
    def step(x):
        return x * sum(values) + len(keys)

    def loop(i):
        after(i, 5, lambda: scales.update(b=2.0))
        after(i, 9, lambda: scales.update(a=0.0))
        return step(batch(i))

    return loop, lambda: scales


@program
def array_over_bytes(jit):
    memory = bytearray(8)
    numbers = np.frombuffer(memory, np.float32)

    @jit.step
    def step(x):
        return x + float(numbers[1])

    def loop(i):
        if i == 7:
            memory[4:8] = np.float32(2.0).tobytes()
        return step(batch(i))

    return loop, lambda: bytes(memory)


@program
def caller_inspected(jit):
    def caller_gain():
        return inspect.currentframe().f_back.f_locals["gain"]

    options = [1.0]

    @jit.step
    def step(x):
        gain = options[0]
        return x * caller_gain() if gain else x

    def loop(i):
        if i == 6:
            options[0] = 2.0
        return step(batch(i))

    return loop, lambda: None


@program
def locals_and_vars(jit):
    config = Box(a=1.0, b=2.0)

    @jit.step
    def step(x):
        scale = sum(vars(config).values())
        return x * locals()["scale"]

    def loop(i):
        after(i, 7, lambda: setattr(config, "c", 3.0))
        return step(batch(i))

    return loop, lambda: vars(config)


@program
def listed_attributes(jit):
    class Stages:
        stage_a = 1.0

    @jit.step
    def step(x):
        for name in dir(Stages):
            if name.startswith("stage_"):
                x = x * 2 + getattr(Stages, name)
        return x

    def loop(i):
        after(i, 6, lambda: setattr(Stages, "stage_b", 2.0))
        return step(batch(i))

    return loop, lambda: None


@program
def compared_by_a_function(jit):
    order = {"a": 1, "b": 2}
    names = [("a", 2.0), ("b", 3.0)]
    key = functools.cmp_to_key(lambda p, q: order[p[0]] - order[q[0]])

    @jit.step
    def step(x):
        for _, scale in sorted(names, key=key):
            x = x * scale + 1
        return x

    def loop(i):
        after(i, 7, lambda: order.update(a=5))
        return step(batch(i))

    return loop, lambda: order


@program
def found_in_layers_of_dicts(jit):
    user, base = {}, {"model": Box(gain=1.0)}
    settings = ChainMap(user, base)

    @jit.step
    def step(x):
        return x * settings["model"].gain

    def loop(i):
        after(i, 5, lambda: setattr(base["model"], "gain", 2.0))
        after(i, 9, lambda: user.update(model=Box(gain=3.0)))
        return step(batch(i))

    return loop, lambda: None


@program
def tuple_that_holds_a_list(jit):
    Pair = namedtuple("Pair", "name values")
    pair = Pair("a", [1.0])

    @jit.step
    def step(x):
        return x * sum(pair.values)

    def loop(i):
        after(i, 7, lambda: pair.values.append(2.0))
        return step(batch(i))

    return loop, lambda: pair


@program
def partial_over_an_object(jit):
    class Scale:
        by = 1.0

        def apply(self, x):
            return x * self.by

    scale = Scale()
    apply = functools.partial(scale.apply)

    @jit.step
    def step(x):
        return functools.reduce(lambda value, f: f(value), [apply, apply], x)

    def loop(i):
        after(i, 6, lambda: setattr(scale, "by", 0.5))
        return step(batch(i))

    return loop, lambda: None


@program
def cell_inside_a_partial(jit):
    class Scale(nn.Cell):
        def __init__(self):
            super().__init__()
            self.options = {"by": 1.0}

        @jit.construct
        def construct(self, x, shift=0.0):
            return x * self.options["by"] + shift

    net = Scale()
    apply = functools.partial(net, shift=1.0)
    step = jit.step(lambda x: apply(x))

    def loop(i):
        after(i, 6, lambda: net.options.update(by=2.0))
        return step(batch(i))

    return loop, lambda: net.options
