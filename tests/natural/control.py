# SPDX-License-Identifier: Apache-2.0
"""Loops, recursion, exceptions, context managers, closures: how a program goes its way."""

from __future__ import annotations

import contextlib
import heapq

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, program, vector, weight


@program
def raised_by_a_state(jit):
    class Guarded(nn.Cell):
        def __init__(self):
            super().__init__()
            self.budget = 4

        @jit.construct
        def construct(self, x):
            if self.budget == 0:
                raise RuntimeError("no budget left")
            self.budget -= 1
            return x * self.budget

    net = Guarded()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 8:
            net.budget = 2
        return step(batch(i))

    return loop, lambda: net.budget


@program
def raised_by_a_flag_from_outside(jit):
    healthy = True

    @jit.step
    def step(x):
        if not healthy:
            raise ConnectionError("the worker is gone")
        return ops.relu(x)

    def loop(i):
        nonlocal healthy
        healthy = i not in (6, 7, 12)
        return step(batch(i))

    return loop, lambda: healthy


@program
def caught_inside(jit):
    table, errors = {0: 1.0, 1: 2.0}, []

    @jit.step
    def step(x, key):
        try:
            scale = table[key]
        except KeyError as error:
            errors.append(str(error))
            scale = 0.5
        else:
            x = x + 1
        finally:
            errors[:] = errors[-2:]
        return x * scale

    def loop(i):
        if i == 9:
            table[2] = 4.0
        return step(batch(i), i % 3)

    return loop, lambda: errors


@program
def raised_after_a_change(jit):
    w = Parameter(vector(), name="w")
    count = 0

    @jit.step
    def step(x, bad):
        nonlocal count
        count += 1
        w.set_data(w * 0.5)
        if bad:
            raise ArithmeticError(f"bad batch {count}")
        return x * w

    return (lambda i: step(batch(i), i % 4 == 3)), lambda: (count, w)


@program
def own_exception_with_data(jit):
    class Skip(Exception):
        def __init__(self, reason):
            super().__init__(f"skipped: {reason}")
            self.reason = reason

    skipped = []

    def check(k):
        if k % 3 == 2:
            raise Skip(k)

    @jit.step
    def step(x, k):
        try:
            check(k)
        except Skip as skip:
            skipped.append(skip.reason)
            return None
        return x * k

    return (lambda i: step(batch(i), i % 6)), lambda: skipped


@program
def asserted_shapes(jit):
    expected = (2, 3)

    @jit.step
    def step(x):
        assert x.shape == expected, f"expected {expected}, got {x.shape}"
        return x.sum()

    def loop(i):
        nonlocal expected
        expected = (2, 3) if i < 6 else (1, 3)
        return step(batch(i) if i < 9 else batch(i)[:1])

    return loop, lambda: expected


@program
def context_manager_that_counts(jit):
    class Timer:
        depth = entered = 0

        def __enter__(self):
            self.entered += 1
            self.depth += 1
            return self

        def __exit__(self, *error):
            self.depth -= 1
            return False

    timer = Timer()

    @jit.step
    def step(x):
        with timer as t, timer:
            return x * t.entered + t.depth

    return (lambda i: step(batch(i))), lambda: vars(timer)


@program
def temporary_setting(jit):
    settings = {"scale": 1.0}

    @contextlib.contextmanager
    def override(**values):
        before = dict(settings)
        settings.update(values)
        try:
            yield
        finally:
            settings.clear()
            settings.update(before)

    def scaled(x):
        return x * settings["scale"]

    @jit.step
    def step(x):
        with override(scale=4.0):
            inner = scaled(x)
        return inner, scaled(x)

    def loop(i):
        if i == 7:
            settings["scale"] = 2.0
        return step(batch(i))

    return loop, lambda: settings


@program
def context_around_the_step(jit):
    enabled = False

    @contextlib.contextmanager
    def autocast():
        nonlocal enabled
        enabled = True
        yield
        enabled = False

    @jit.step
    def step(x):
        return x.astype(ms.float16) if enabled else x

    def loop(i):
        if i % 5 < 2:
            return step(batch(i))
        with autocast():
            return step(batch(i))

    return loop, lambda: enabled


@program
def suppressed(jit):
    scales = [1.0, 2.0]

    @jit.step
    def step(x, k):
        with contextlib.suppress(IndexError):
            x = x * scales[k]
        return x

    def loop(i):
        if i == 8:
            scales.append(3.0)
        return step(batch(i), i % 4)

    return loop, lambda: scales


@program
def while_on_a_python_state(jit):
    queue = [3, 1, 2]

    @jit.step
    def step(x):
        turns = 0
        while queue and turns < 2:
            x = x + heapq.heappop(queue)
            turns += 1
        return x, turns

    def loop(i):
        if i % 3 == 2:
            heapq.heappush(queue, i)
        return step(batch(i))

    return loop, lambda: queue


@program
def recursion_over_a_tree(jit):
    tree = {"v": 1.0, "children": [{"v": 2.0, "children": []}]}

    def total(node, x):
        y = x * node["v"]
        for child in node["children"]:
            y = y + total(child, x)
        return y

    step = jit.step(lambda x: total(tree, x))

    def loop(i):
        if i == 5:
            tree["children"][0]["children"].append({"v": 3.0, "children": []})
        if i == 10:
            tree["children"][0]["v"] = 0.0
        return step(batch(i))

    return loop, lambda: tree


@program
def recursion_with_a_depth(jit):
    deepest = 0

    @jit.step
    def step(x, depth=0):
        nonlocal deepest
        deepest = max(deepest, depth)
        return x if depth == limit else step(x * 2, depth + 1)

    limit = 1

    def loop(i):
        nonlocal limit
        limit = 1 + i // 5
        return step(batch(i))

    return loop, lambda: deepest


@program
def walrus_and_comprehensions(jit):
    limits = {"low": 1, "high": 3}

    @jit.step
    def step(x):
        if (n := limits["high"] - limits["low"]) > 1:
            x = x * n
        return sum(x[:, k] for k in range(limits["low"], limits["high"]) if k % 2 or n > 1)

    def loop(i):
        limits["low"] = 2 if i % 6 > 3 else 1
        return step(batch(i))

    return loop, lambda: limits


@program
def matched_messages(jit):
    log = []

    def apply(x, message):
        match message:
            case {"op": "scale", "by": (int() | float()) as by}:
                return x * by
            case ["shift", *rest] if rest:
                return x + sum(rest)
            case str(name):
                log.append(name)
                return x
            case _:
                raise TypeError(f"unknown message {message!r}")

    messages = [{"op": "scale", "by": 2}, ["shift", 1, 2], "noop", 7]

    @jit.step
    def step(x, k):
        return apply(x, messages[k])

    def loop(i):
        if i == 8:
            messages[0]["by"] = 3
        return step(batch(i), i % 4)

    return loop, lambda: log


@program
def early_return(jit):
    done = {"warm": 0}

    @jit.step
    def step(x):
        done["warm"] += 1
        if done["warm"] <= 3:
            return x
        if done["warm"] <= 6:
            return x * 2, "middle"
        return None

    return (lambda i: step(batch(i))), lambda: done


@program
def computed_attribute_names(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for k in range(2):
                setattr(self, f"w{k}", Parameter(weight(k + 1.0), name=f"w{k}"))
            self.depth, self.scale0, self.scale1 = 2, 1.0, 1.0

        @jit.construct
        def construct(self, x):
            for k in range(self.depth):
                x = ops.matmul(x, getattr(self, f"w{k}")) * getattr(self, "scale" + str(k))
            return x

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net.scale1 = 0.5
        if i == 9:
            net.depth = 1
        return step(batch(i))

    return loop, lambda: net.depth


@effect_free
def comprehensions_without_effect(jit):
    nets = [linear(jit, float(k)) for k in range(3)]

    @jit.step
    def step(x):
        outs = {k: net(x) for k, net in enumerate(nets)}
        best = max(outs, key=lambda k: k % 2)
        return outs[best], [outs[k] for k in sorted(outs, reverse=True)], *outs.values()

    return (lambda i: step(batch(i))), lambda: len(nets)


@effect_free
def local_exceptions_and_contexts(jit):
    @contextlib.contextmanager
    def scope(names):
        names.append("in")
        yield names
        names.append("out")

    net = linear(jit)

    @jit.step
    def step(x):
        names = []
        with scope(names):
            try:
                {}["missing"]
            except KeyError:
                x = net(x)
        return x * len(names)

    return (lambda i: step(batch(i))), lambda: None


@program
def flag_by_a_tensor_outside(jit):
    on = Parameter(Tensor(True), name="on", requires_grad=False)

    @jit.step
    def step(x):
        return x * 2 if on else x

    def loop(i):
        on.set_data(Tensor(i % 5 < 3))
        return step(batch(i))

    return loop, lambda: on
