# SPDX-License-Identifier: Apache-2.0
"""Hooks that count, read and change what the program reads."""

from __future__ import annotations

import functools

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, linear, program, vector


@program
def forward_hook_that_counts(jit):
    net = linear(jit)
    calls = []

    def count(cell, inputs, output):
        calls.append(type(cell).__name__)

    net.register_forward_hook(count)
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: calls


@program
def activations_collected(jit):
    net = nn.SequentialCell(linear(jit), nn.ReLU())
    features = {}

    def save(name, cell, inputs, output):
        features[name] = output

    for k, cell in enumerate(net):
        cell.register_forward_hook(functools.partial(save, str(k)))

    @jit.step
    def step(x):
        out = net(x)
        return out, features["0"]

    return (lambda i: step(batch(i))), lambda: features


@program
def hook_that_scales_by_a_config(jit):
    net = linear(jit)
    config = {"scale": 1.0}
    net.register_forward_hook(lambda cell, inputs, output: output * config["scale"])
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 5 == 4:
            config["scale"] *= 0.5
        return step(batch(i))

    return loop, lambda: config


@program
def hook_that_changes_what_the_body_reads(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner, self.hits = linear(jit), 0

        @jit.construct
        def construct(self, x):
            y = self.inner(x)
            return y * 2 if self.hits > 4 else y

    net = Net()

    def hit(cell, inputs):
        net.hits += 1

    net.inner.register_forward_pre_hook(hit)
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.hits


@program
def body_that_changes_what_the_hook_reads(jit):
    net = linear(jit)
    state = {"step": 0}

    def scale(cell, inputs, output):
        return output * state["step"]

    net.register_forward_hook(scale)

    @jit.step
    def step(x):
        state["step"] += 1
        return net(x)

    return (lambda i: step(batch(i))), lambda: state


@program
def gradient_hook_that_counts(jit):
    w = Parameter(vector(), name="w")
    seen = []
    w.register_hook(lambda grad: seen.append(grad.shape))
    grad_fn = ms.grad(lambda x: (x * w).sum(), None, [w])
    step = jit.step(lambda x: grad_fn(x))
    return (lambda i: step(batch(i))), lambda: seen


@program
def gradient_hook_with_a_limit(jit):
    class Clip:
        limit = 1.0

        def __call__(self, grad):
            return ops.clip_by_value(grad, -self.limit, self.limit)

    w, clip = Parameter(vector(), name="w"), Clip()
    w.register_hook(clip)
    grad_fn = ms.value_and_grad(lambda x: (x * w * 4).sum(), None, [w])

    @jit.step
    def step(x):
        return grad_fn(x)

    def loop(i):
        if i == 6:
            clip.limit = 2.0
        if i == 10:
            Clip.__call__ = lambda self, grad: grad * 0
        return step(batch(i))

    return loop, lambda: clip.limit


@program
def hook_that_removes_itself(jit):
    net = linear(jit)
    shapes = []

    def once(cell, inputs, output):
        shapes.append(output.shape)
        handle.remove()

    handle = net.register_forward_hook(once)
    step = jit.step(lambda x: net(x))

    def loop(i):
        nonlocal handle
        if i == 7:
            handle = net.register_forward_hook(once)
        return step(batch(i))

    return loop, lambda: shapes


@program
def hooks_for_a_while(jit):
    net = linear(jit)
    outputs = []

    class Recorder:
        def __enter__(self):
            self.handle = net.register_forward_hook(lambda c, i, o: outputs.append(o.shape))
            return self

        def __exit__(self, *error):
            self.handle.remove()

    @jit.step
    def step(x):
        return net(x)

    def loop(i):
        if i % 4 == 3:
            with Recorder():
                return step(batch(i))
        return step(batch(i))

    return loop, lambda: outputs


@program
def backward_hook_statistics(jit):
    net = linear(jit)
    statistics = {"calls": 0, "shape": None}

    def look(cell, grad_input, grad_output):
        statistics["calls"] += 1
        statistics["shape"] = grad_input[0].shape

    net.register_backward_hook(look)
    grad_fn = ms.grad(lambda x: (net(x) * net(x)).sum())

    @jit.step
    def step(x):
        return grad_fn(x)

    return (lambda i: step(batch(i))), lambda: statistics


@program
def hook_with_a_schedule(jit):
    net = linear(jit)

    class Noise:
        def __init__(self):
            self.sigma = 4.0

        def __call__(self, cell, inputs):
            self.sigma *= 0.5
            return (inputs[0] + self.sigma,)

    noise = Noise()
    net.register_forward_pre_hook(noise)
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: noise.sigma


@program
def hook_and_body_share_a_list(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner, self.trace = linear(jit), []

        @jit.construct
        def construct(self, x):
            self.trace.append("in")
            y = self.inner(x)
            self.trace.append("out")
            return y * len(self.trace)

    net = Net()
    net.inner.register_forward_hook(lambda c, i, o: net.trace.append("hook"))
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 5 == 4:
            del net.trace[:]
        return step(batch(i))

    return loop, lambda: net.trace


@program
def hook_backward_with_a_counter(jit):
    seen = []

    def look(grads):
        seen.append(len(seen))
        return tuple(g * seen[-1] for g in grads)

    hook = ops.HookBackward(look)
    grad_fn = ms.grad(lambda x: (hook(x * x)).sum())
    step = jit.step(lambda x: grad_fn(x))
    return (lambda i: step(batch(i))), lambda: seen


@program
def hook_list_iterated(jit):
    class Pipeline(nn.Cell):
        def __init__(self):
            super().__init__()
            self.hooks = []

        @jit.construct
        def construct(self, x):
            for hook in self.hooks:
                x = hook(x)
            return x + 0

    net = Pipeline()
    net.hooks.append(ops.relu)
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net.hooks.append(lambda x: x * 3)
        if i == 10:
            del net.hooks[0]
        return step(batch(i))

    return loop, lambda: len(net.hooks)


@program
def every_call_function_that_counts(jit):
    counts = {"n": 0}

    @ms.every_call
    def tick(x):
        counts["n"] += 1
        return x * 1

    @jit.step
    def step(x):
        return tick(x) + 1

    return (lambda i: step(batch(i))), lambda: counts


@program
def every_call_function_and_a_counter(jit):
    counts = {"site": 0, "body": 0}

    @ms.every_call
    def tick():
        counts["site"] += 1

    @jit.step
    def step(x):
        tick()
        counts["body"] += 1
        return x * counts["body"]

    return (lambda i: step(batch(i))), lambda: counts


@program
def hooks_write_into_parts(jit):
    net, calls = nn.ReLU(), []

    def hook(cell, inputs):
        calls.append(len(calls))
        if len(calls) % 3:
            inputs[0][0][1] = 3.0
        else:
            inputs[0][0] = -float(len(calls))

    net.register_forward_pre_hook(hook)

    @jit.step
    def step(x):
        double = x * 2
        inside = net(double[1:])
        return net(x[0:1]).sum() + x.sum(), inside.sum() * 2 + double.sum()

    def loop(i):
        x = Tensor(batch(i))
        return step(x), x

    return loop, lambda: calls
