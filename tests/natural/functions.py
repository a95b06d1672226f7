# SPDX-License-Identifier: Apache-2.0
"""Closures, partials, decorators, dispatch: functions that carry state."""

from __future__ import annotations

import functools
import operator

from mycel import ops
from natural.common import batch, program


@program
def closures_made_in_a_loop(jit):
    stages = []
    for k in range(3):
        stages.append(lambda x: x * (k + 1))

    @jit.step
    def step(x):
        for stage in stages:
            x = stage(x)
        return x

    def loop(i):
        nonlocal k
        if i == 6:
            k = 0
        return step(batch(i))

    return loop, lambda: k


@program
def closures_with_a_default(jit):
    stages = [lambda x, k=k: x * k for k in (1, 2)]

    @jit.step
    def step(x):
        for stage in stages:
            x = stage(x)
        return x

    def loop(i):
        if i == 7:
            stages[:] = [lambda x, k=k: x + k for k in range(3)]
        return step(batch(i))

    return loop, lambda: len(stages)


@program
def closure_that_counts(jit):
    def make_counter():
        count = 0

        def counter():
            nonlocal count
            count += 1
            return count

        return counter

    tick = make_counter()

    @jit.step
    def step(x):
        return x * tick()

    return (lambda i: step(batch(i))), lambda: None


@program
def closure_with_two_faces(jit):
    def accumulator(start):
        total = start

        def add(n):
            nonlocal total
            total += n

        def get():
            return total

        return add, get

    add, get = accumulator(1.0)

    @jit.step
    def step(x):
        return x * get()

    def loop(i):
        if i % 4 == 3:
            add(0.5)
        return step(batch(i))

    return loop, lambda: get()


@program
def partial_with_new_keywords(jit):
    def scale(x, by, shift=0.0):
        return x * by + shift

    current = functools.partial(scale, by=2.0)

    @jit.step
    def step(x):
        return current(x)

    def loop(i):
        nonlocal current
        if i == 5:
            current.keywords["by"] = 3.0
        if i == 9:
            current = functools.partial(current, shift=1.0)
        return step(batch(i))

    return loop, lambda: current.keywords


@program
def reduced_functions(jit):
    pipeline = [ops.relu, functools.partial(operator.mul, 2.0)]

    @jit.step
    def step(x):
        return functools.reduce(lambda value, f: f(value), pipeline, x)

    def loop(i):
        if i == 8:
            pipeline.insert(0, operator.neg)
        return step(batch(i))

    return loop, lambda: len(pipeline)


@program
def single_dispatch(jit):
    @functools.singledispatch
    def encode(value):
        return 1.0

    @encode.register
    def _(value: int):
        return float(value)

    @jit.step
    def step(x, value):
        return x * encode(value)

    def loop(i):
        if i == 7:
            encode.register(str, lambda value: float(len(value)))
        return step(batch(i), ("abc", 2)[i % 2])

    return loop, lambda: len(encode.registry)


@program
def wrapped_with_retries(jit):
    failures = [False, True] * 3

    def retry(times):
        def wrap(function):
            @functools.wraps(function)
            def again(*args):
                for attempt in range(times):
                    try:
                        return function(*args) + attempt
                    except OSError:
                        continue
                return None

            return again

        return wrap

    @jit.step
    @retry(2)
    def step(x):
        if failures and failures.pop(0):
            raise OSError("try again")
        return x

    return (lambda i: step(batch(i))), lambda: failures


@program
def counted_by_a_decorator(jit):
    def counted(function):
        @functools.wraps(function)
        def wrapper(*args):
            wrapper.calls += 1
            return function(*args)

        wrapper.calls = 0
        return wrapper

    @counted
    def relu(x):
        return ops.relu(x)

    @jit.step
    def step(x):
        return relu(relu(x)) * relu.calls

    return (lambda i: step(batch(i))), lambda: relu.calls


@program
def fields_of_a_function(jit):
    def scale(x):
        return x * scale.factor

    scale.factor = 1.0
    step = jit.step(scale)

    def loop(i):
        if i in (4, 8):
            scale.factor *= 0.5
        return step(batch(i))

    return loop, lambda: scale.factor


@program
def sorted_by_a_key(jit):
    jobs = [("b", 2.0), ("a", 1.0), ("c", 3.0)]
    key = operator.itemgetter(0)

    @jit.step
    def step(x):
        for _, factor in sorted(jobs, key=key):
            x = x * factor + 1
        return x

    def loop(i):
        nonlocal key
        if i == 6:
            key = operator.itemgetter(1)
        if i == 10:
            jobs.append(("0", 0.5))
        return step(batch(i))

    return loop, lambda: jobs


@program
def attribute_by_a_getter(jit):
    class Box:
        inner = None

    box = Box()
    box.inner = Box()
    box.inner.gain = 1.0
    gain = operator.attrgetter("inner.gain")

    @jit.step
    def step(x):
        return x * gain(box)

    def loop(i):
        if i == 7:
            box.inner.gain = 2.0
        return step(batch(i))

    return loop, lambda: box.inner.gain


@program
def names_in_globals(jit):
    globals()["NATURAL_GAIN"] = 1.0
    jit.undo(globals().pop, "NATURAL_GAIN")

    @jit.step
    def step(x):
        return x * globals()["NATURAL_GAIN"]

    def loop(i):
        if i % 5 == 4:
            globals()["NATURAL_GAIN"] += 1
        return step(batch(i))

    return loop, lambda: globals()["NATURAL_GAIN"]
