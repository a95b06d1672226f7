# SPDX-License-Identifier: Apache-2.0
"""Exceptions of hooks and of what runs at every call, which the program catches."""

from __future__ import annotations

import contextlib
import io

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, linear, program, vector


class Stop(Exception):
    """What a hook raises to end a call early."""


def raising(calls: list, when, what=Stop):
    """A hook that raises at some of its calls."""

    def hook(*_):
        calls.append(len(calls))
        if when(len(calls)):
            raise what(f"call {len(calls)}")

    return hook


@program
def a_hook_stops_the_call_early(jit):
    net, calls = nn.SequentialCell(linear(jit), nn.ReLU()), []
    net[0].register_forward_hook(raising(calls, lambda n: n % 4 == 0))
    updates = Parameter(vector(), name="updates")

    @jit.step
    def step(x):
        updates.add_(1.0)
        try:
            return net(x)
        except Stop as stop:
            return x * 0 - len(str(stop))
        finally:
            updates.sub_(0.5)

    return (lambda i: step(batch(i))), lambda: (updates, calls)


@program
def a_hook_stops_where_its_output_is_small(jit):
    net, calls = nn.SequentialCell(nn.ReLU(), nn.Tanh()), []

    def hook(cell, inputs, output):
        calls.append(float(output.sum()))
        if calls[-1] < 1.0:
            raise Stop

    net[0].register_forward_hook(hook)

    @jit.step
    def step(x):
        with contextlib.suppress(Stop):
            return net(x)
        return x

    return (lambda i: step(batch(i))), lambda: len(calls)


@program
def another_exception_is_raised_from_it(jit):
    calls = []
    note = ms.every_call(raising(calls, lambda n: n in (5, 9), KeyError))
    level = Parameter(Tensor(1.0), name="level")

    @jit.step
    def step(x):
        level.add_(1.0)
        try:
            note(x.sum())
        except KeyError as error:
            raise RuntimeError("the note failed") from error
        level.mul_(0.5)
        return x * level

    return (lambda i: step(batch(i))), lambda: (level, calls)


@program
def it_is_tried_again(jit):
    net, calls = linear(jit), []
    net.register_forward_pre_hook(raising(calls, lambda n: n % 5 == 0))

    @jit.step
    def step(x):
        for _ in range(3):
            try:
                return net(x)
            except Stop:
                x = x * 2
        return x

    return (lambda i: step(batch(i))), lambda: calls


@program
def a_hook_of_a_gradient_raises(jit):
    net, calls = linear(jit), []
    net.weight.register_hook(raising(calls, lambda n: n in (4, 9)))
    grad = ms.value_and_grad(lambda x: ops.abs(net(x)).sum(), None, net.trainable_params())

    @jit.step
    def step(x):
        try:
            loss, (slope, *_) = grad(x)
        except Stop:
            return x.sum(), net.weight * 0
        return loss, slope

    return (lambda i: step(batch(i))), lambda: calls


@program
def it_is_not_caught(jit):
    calls = []
    note = ms.every_call(raising(calls, lambda n: n in (4, 8)))
    level = Parameter(Tensor(1.0), name="level")

    @jit.step
    def step(x):
        level.add_(1.0)
        note(x.sum())
        level.add_(1.0)
        return x * level

    return (lambda i: step(batch(i))), lambda: (level, calls)


@program
def what_is_printed_to_raises(jit):
    class Full(io.StringIO):
        lines = 0

        def write(self, text):
            Full.lines += 1
            if Full.lines % 7 == 0:
                raise OSError("full")
            return len(text)

    file = Full()

    @jit.step
    def step(x):
        try:
            print(x.sum(), file=file)
        except OSError:
            return x * 0
        return x * 2

    return (lambda i: step(batch(i))), lambda: Full.lines
