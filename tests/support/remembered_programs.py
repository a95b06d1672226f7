# SPDX-License-Identifier: Apache-2.0
"""Small programs that do what makes remembering a call hard.

Each returns a Program; `test_remembered` plays it in PyNative and compiled, and compares results,
state, log, printed text and exceptions call by call. The oracle is the other mode. Texts show four
digits where differently cut programs may differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops

PROGRAMS: dict[str, Callable[[], Program]] = {}


@dataclass
class Program:
    """A function, the arguments of each call, the handles it changes, and its log.

    `between(i)` runs after call i. `entry` is a one-element list through which the function calls
    itself (or an inner function), so that the compiled one is called instead; `outer` says that
    the compiled function is the inner one.
    """

    function: Callable
    calls: list[tuple]
    state: list = field(default_factory=list)
    log: list = field(default_factory=list)
    between: Callable[[int], object] = lambda index: None
    entry: list | None = None
    outer: bool = False


def program(build: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[build.__name__] = build
    return build


def row(*numbers) -> Tensor:
    return Tensor(np.array(numbers, np.float32))


def parameter(*numbers) -> Parameter:
    return Parameter(np.array(numbers, np.float32), name="p")


def scalar(number) -> Tensor:
    return Tensor(np.float32(number))


class Layer(nn.Cell):
    """tanh(x @ w + b) with weights from a seed."""

    def __init__(self, width, seed):
        super().__init__()
        draw = np.random.RandomState(seed)
        self.w = Parameter(draw.randn(width, width).astype(np.float32) / width**0.5, name="w")
        self.b = Parameter(np.zeros(width, np.float32), name="b")

    def construct(self, x):
        return ops.tanh(ops.matmul(x, self.w) + self.b)


class Net(nn.Cell):
    """Three layers; `visit` is called with each layer's output."""

    def __init__(self, width=8, visit=None):
        super().__init__()
        self.first, self.second, self.third = Layer(width, 0), Layer(width, 1), Layer(width, 2)
        self.visit = visit

    def construct(self, x):
        for index, layer in enumerate((self.first, self.second, self.third)):
            x = layer(x)
            if self.visit is not None:
                changed = self.visit(index, x)
                x = x if changed is None else changed
        return x


BATCHES = [np.random.RandomState(100 + i).randn(4, 8).astype(np.float32) for i in range(12)]


def batches(count) -> list[tuple]:
    return [(Tensor(batch),) for batch in BATCHES[:count]]


def trainer(net, rate=None):
    """A momentum step over the mean of the net's output; returns it with the state it changes."""
    weights = net.trainable_params()
    velocities = [Parameter(np.zeros(w.shape, np.float32), name="v") for w in weights]
    rate = rate if rate is not None else scalar(0.1)
    derivative = ms.value_and_grad(lambda x: (net(x) * 1.0).mean(), None, weights)

    def step(x):
        loss, gradients = derivative(x)
        for weight, velocity, gradient in zip(weights, velocities, gradients, strict=True):
            velocity.set_data(velocity * 0.9 + gradient)
            weight.set_data(weight - velocity * rate)
        return loss

    return step, weights + velocities


@program
def branch():
    w = parameter(1.0, 1.0)

    def f(x):
        total = (x * w).sum()
        if total > 2.0:
            w.set_data(w * 0.5)
            return total * 10
        w.set_data(w * 1.7)
        return total

    return Program(f, [(row(1.0, 1.0),)] * 14, [w])


@program
def while_loop():
    w = parameter(1.0)

    def f(x):
        count = 0
        while x.sum() > 1.0:
            x = x * 0.5
            count += 1
        w.set_data(w + x)
        return x * count

    sizes = (8, 4, 8, 2, 4, 8, 16, 1, 2, 16, 8, 4, 16, 2, 8)
    return Program(f, [(row(float(size)),) for size in sizes], [w])


@program
def print_inside():
    w = parameter(1.0, 2.0)

    def f(x):
        y = x * w
        print("y is", y, "and", y.sum(), sep=" | ")
        w.set_data(w + 1)
        print(f"w {w.value()} sum {w.sum():.2f} pair {(y, y)}")
        return y

    return Program(f, [(row(1.0, float(i)),) for i in range(6)], [w])


@program
def text_that_is_not_printed():
    log = []

    def f(x):
        log.append(f"{x.sum():.1f}")
        return x * 2

    return Program(f, [(row(1.0, float(i)),) for i in range(6)], [], log)


@program
def dropout():
    ms.set_seed(5)
    w = Parameter(np.arange(16, dtype=np.float32), name="w")
    state = ms.default_generator().state

    def f(x):
        for _ in range(2):
            x = ops.dropout(x * w, p=0.5, training=True)
        return x

    return Program(f, [(row(*[1.0] * 16),)] * 6, [state])


@program
def closure_reread():
    k = row(1.0)

    def f(x):
        return x * k

    def between(i):
        k[0] = float(i + 2)

    return Program(f, [(row(2.0),)] * 6, [k], between=between)


@program
def python_scalar_changes():
    box = [0.0]

    def f(x):
        box[0] += 1
        return x * box[0]

    return Program(f, [(row(2.0),)] * 6)


@program
def assigned_twice():
    p = parameter(1.0, 1.0)

    def f(x):
        p.set_data(p + x)
        total = p.sum()
        p.set_data(p * 2)
        kept = p * 1
        p[0] = total
        return total, kept

    return Program(f, [(row(1.0, float(i)),) for i in range(6)], [p])


@program
def shared_value():
    p, q, r = parameter(1.0, 1.0), parameter(0.0, 0.0), row(0.0, 0.0)
    q.set_data(p)
    ops.assign(r, p)

    def f(x):
        p.set_data(p + x)
        q.set_data(q * 2)
        return p + q + r

    def between(i):
        if i == 3:
            q.set_data(p)
        if i == 4:
            ops.assign(r, p)

    return Program(f, [(row(1.0, float(i)),) for i in range(8)], [p, q, r], between=between)


@program
def returned_and_assigned():
    p = parameter(1.0, 1.0)
    kept = []

    def f(x):
        y = p * x
        p.set_data(y)
        return y

    return Program(
        f,
        [(row(1.5, float(i)),) for i in range(6)],
        [p],
        between=lambda i: kept.append(p.value()),
    )


@program
def returns_old_value_and_handles():
    p, q = parameter(1.0, 1.0), row(5.0, 5.0)

    def f(x):
        old = p.value()
        p.set_data(p + x)
        return old, x, q, p

    return Program(f, [(row(1.5, float(i)),) for i in range(6)], [p])


@program
def argument_is_parameter():
    p, q = parameter(1.0), parameter(10.0)

    def f(a, x):
        a.set_data(a + x * p)
        return a * 2

    return Program(f, [((p, q)[i % 2], row(float(i))) for i in range(10)], [p, q])


@program
def argument_changed_in_place():
    inputs = [row(1.0, float(i)) for i in range(6)]

    def f(x):
        x[0] = x[1] + 1
        return x.sum()

    return Program(f, [(x,) for x in inputs], inputs)


@program
def same_argument_twice():
    xs = [row(1.0, float(i)) for i in range(6)]
    ys = [row(9.0, 9.0)] * 6

    def f(x, y):
        x[0] = 5.0
        return x + y

    return Program(f, [(xs[i], xs[i] if i % 2 else ys[i]) for i in range(6)], xs)


@program
def raises_at_first():
    p = parameter(1.0)
    log = [0]

    def f(x):
        p.set_data(p + x)
        log[0] += 1
        if log[0] == 1:
            raise KeyError("first")
        return p * 1

    return Program(f, [(row(1.0),)] * 5, [p])


@program
def raises_on_a_value():
    p = parameter(1.0)

    def f(x):
        p.set_data(p + x)
        if x.sum() > 3.0:
            raise KeyError("big")
        return p * 1

    return Program(f, [(row(float(v)),) for v in (1, 1, 1, 5, 1, 5, 1)], [p])


@program
def recursion():
    p = parameter(1.0)

    def f(x, depth):
        if depth:
            p.set_data(p + 1)
            return entry[0](x * p, depth - 1)
        return x

    entry = [f]
    return Program(f, [(row(1.0), 3)] * 5, [p], entry=entry)


@program
def called_again_from_a_site():
    p = parameter(0.0)
    log, depth = [], [0]

    @ms.every_call
    def look(x):
        if depth[0] == 0:
            depth[0] = 1
            log.append(float(entry[0](x * 2.0).sum()))
            depth[0] = 0

    def f(x):
        look(x)
        p.set_data(p + 1)
        return x * 3

    entry = [f]
    return Program(f, batches(6), [p], log, entry=entry)


@program
def float_logged():
    p = parameter(1.0)
    log = []

    def f(x):
        p.set_data(p + x)
        log.append(float(p.sum()))
        return p * 1

    return Program(f, [(row(float(v)),) for v in (1, 1, 2, 5, 1, 5)], [p], log)


@program
def float_as_a_constant():
    t, p = scalar(3.0), parameter(1.0)

    def f(x):
        p.set_data(p * float(t))
        return p + x

    def between(i):
        if i == 3:
            ops.assign(t, scalar(4.0))

    return Program(f, [(row(float(v)),) for v in (1, 1, 2, 5, 1, 5)], [p], between=between)


@program
def branch_on_a_float():
    p = parameter(1.0)

    def f(x):
        p.set_data(p * 0.5)
        return p * 1 if float(p.sum()) > 0.1 else p * 2

    return Program(f, [(row(1.0),)] * 8, [p])


@program
def integer_as_a_shape():
    masks = [row(1.0, 0.0, 1.0, 0.0), row(1.0, 1.0, 1.0, 0.0)]

    def f(x):
        return x[: int(x.sum())] * 2

    return Program(f, [(masks[i // 3 % 2],) for i in range(14)])


@program
def iteration():
    def f(x):
        total = x[0] * 0
        for part in x:
            total = total + part * len(x)
        a, b = x
        return total + a - b

    return Program(f, [(row(1.0, float(i)),) for i in range(6)])


@program
def kept_outside():
    box = [None]
    log = []

    def f(x):
        box[0] = x * 2
        return x + 1

    def between(i):
        log.append(float(box[0].asnumpy()[0]))

    return Program(f, [(row(float(i)),) for i in range(6)], [], log, between=between)


@program
def parameter_made_inside():
    made = {}

    def f(x):
        if "p" not in made:
            made["p"] = parameter(0.0)
        made["p"].set_data(made["p"] + x)
        return made["p"] * 1

    return Program(f, [(row(float(i)),) for i in range(6)])


@program
def cell_attribute_changes():
    net = Net()
    net.factor = 1.0

    def f(x):
        return net(x) * net.factor

    def between(i):
        if i == 3:
            net.factor = 5.0

    return Program(f, batches(8), between=between)


@program
def cell_attribute_set_inside():
    net = Net()

    def f(x):
        net.attention = net(x)
        return net.attention * 2

    log = []
    return Program(f, batches(6), [], log, between=lambda i: log.append(net.attention.asnumpy()))


@program
def derivative_inside():
    p = parameter(2.0)

    def inner(x):
        return (x * x * p).sum()

    def f(x):
        return ms.grad(lambda x: entry[0](x))(x)

    entry = [inner]
    return Program(f, [(row(float(i)),) for i in range(5)], [p], entry=entry, outer=True)


@program
def derivative_of_a_compiled_function():
    p = parameter(2.0)

    def f(x):
        return ms.grad(lambda y: (y * y * p).sum())(x)

    return Program(f, [(row(float(i)),) for i in range(5)], [p])


@program
def nested():
    p = parameter(2.0)

    def inner(x):
        p.set_data(p + 1)
        print("in", p.value())
        return x * p if x.sum() > 2.0 else x - p

    def f(x):
        y = entry[0](x) + entry[0](x * 2)
        print("out", y)
        return y

    entry = [inner]
    return Program(f, [(row(float(i // 4)),) for i in range(12)], [p], entry=entry)


@program
def state_seen_by_sites():
    running, log = parameter(0.0), []

    @ms.every_call
    def track(x):
        running.set_data(running * 0.9 + x.mean())

    @ms.every_call
    def note(_):
        log.append(float(running.asnumpy()[0]))

    def visit(index, x):
        (track, note, track)[index](x)

    step, state = trainer(Net(visit=visit))
    return Program(step, batches(6), [*state, running], log)


@program
def hook_made_in_the_function():
    w, log = parameter(1.0, 2.0), []

    def loss(x):
        y = x * w
        y.register_hook(lambda gradient: log.append(gradient.asnumpy().sum()))
        return (y * y).sum()

    def f(x):
        gradient = ms.grad(loss, None, w)(x)
        w.set_data(w - gradient * 0.01)
        return gradient

    return Program(f, [(row(1.0, float(i)),) for i in range(6)], [w], log)


@program
def hook_that_holds_an_inner_tensor():
    w, log = parameter(1.0, 2.0), []

    def loss(x):
        y = x * w
        z = y * 2
        y.register_hook(lambda gradient: log.append((gradient * z).asnumpy().sum()))
        return (y * y).sum()

    def f(x):
        gradient = ms.grad(loss, None, w)(x)
        w.set_data(w - gradient * 0.01)
        return gradient

    return Program(f, [(row(1.0, float(i)),) for i in range(6)], [w], log)


@program
def hook_that_changes_the_gradient():
    w, log = parameter(1.0, 2.0), []

    def halve(gradient):
        log.append(gradient.asnumpy().copy())
        return gradient * 0.5

    def loss(x):
        y = x * w
        y.register_hook(halve)
        return (y * y).sum()

    def f(x):
        gradient = ms.grad(loss, None, w)(x)
        w.set_data(w - gradient * 0.01)
        return gradient

    return Program(f, [(row(1.0, float(i)),) for i in range(6)], [w], log)


@program
def read_of_a_constant():
    mask = row(1.0, 0.0, 1.0)

    def f(x):
        return x * float(mask.asnumpy().sum()) + np.asarray(mask)[2].item()

    def between(i):
        if i == 4:
            mask[:] = 3.0

    return Program(f, [(row(1.0, float(i), 0.0),) for i in range(8)], [mask], between=between)


@program
def read_of_an_argument():
    def f(x, n):
        for _ in range(n):
            x = x * 2
        return x

    counts = (2, 2, 2, 2, 3, 3, 3, 2, 2, 3, 2, 3)
    return Program(
        f, [(row(1.0, float(i)), Tensor(np.int32(count))) for i, count in enumerate(counts)]
    )


@program
def rarely_taken_branch():
    w = parameter(1.0, 1.0)

    def f(x):
        gradient = x * w
        if not gradient.sum() > 100.0:
            w.set_data(w - gradient * 0.01)
        return gradient * 1

    inputs = [(row(1.0, float(i) if i != 12 else 1e3),) for i in range(20)]
    return Program(f, inputs, [w])


@program
def read_before_the_assignment():
    p = parameter(1.0)

    def f(x):
        again = p * 2 if p.sum() > 2.5 else p * 3
        p.set_data(p + x)
        return again

    return Program(f, [(row(0.4),)] * 10, [p])


@program
def containers():
    def f(pair, *, options):
        a, b = pair
        return {"sum": a + b * options["scale"], "both": [a, (b, None, 3)]}

    calls = [((row(1.0), row(float(i))),) for i in range(5)]
    return Program(lambda pair: f(pair, options={"scale": 2.0}), calls)


# -- sites: what hooks and every_call functions may do -----------------------------------------


def visiting(action, count=6, extra_state=(), log=None, **options):
    """A training step whose middle layer's output is shown to `action` at every call."""
    look = ms.every_call(action)
    step, state = trainer(Net(visit=lambda index, x: look(x) if index == 1 else None), **options)
    return Program(step, batches(count), [*state, *extra_state], log if log is not None else [])


@program
def site_appends():
    log = []
    return visiting(lambda x: log.append(x), log=log)


@program
def site_appends_something_derived():
    log = []
    return visiting(lambda x: log.append((x * x).sum()), log=log)


@program
def site_looks():
    log = []
    return visiting(lambda x: log.append(float(x.asnumpy().mean())), log=log)


@program
def site_changes_and_prints():
    def act(x):
        print(f"mean {x.mean():.4f}")
        return x * 0.9

    return visiting(act)


@program
def site_changes_its_mind():
    log = []

    def act(x):
        log.append(float(x.sum()))
        return x * 0.0 if len(log) in (5, 9) else None

    return visiting(act, 11, log=log)


@program
def site_assigns_sometimes():
    rate, log = parameter(0.1), []

    def act(x):
        scratch = Tensor(np.zeros(2, np.float32))
        scratch[0] = 1.0
        log.append(float(x.max()))
        if len(log) == 5:
            rate.set_data(rate * 0.1)

    return visiting(act, 9, [rate], log, rate=rate)


@program
def site_raises_at_the_fifth():
    log = []

    def act(x):
        log.append(float(x.sum()))
        if len(log) == 5:
            raise ValueError("fifth")

    return visiting(act, 8, log=log)


@program
def site_raises_after_assignments():
    running, log = parameter(0.0), []

    def act(x):
        running.set_data(running * 0.9 + x.mean())
        log.append(1)
        print(f"running {running.value().sum():.4f}")
        if len(log) == 5:
            raise ValueError("fifth")

    return visiting(act, 8, [running], log)


@program
def site_uses_fresh_data():
    def act(x):
        return Tensor(np.full(x.shape, 0.25, np.float32)) + x * 0.5

    return visiting(act)


@program
def several_sites_one_new():
    log = []

    @ms.every_call
    def first(x):
        print(f"first {x.sum():.4f}")

    @ms.every_call
    def second(x):
        log.append(float(x.sum()))
        return x * 0.5 if len(log) == 6 else None

    @ms.every_call
    def third(x):
        print(f"third {x.sum():.4f}")

    step, state = trainer(Net(visit=lambda index, x: (first, second, third)[index](x)))
    return Program(step, batches(9), state, log)


@program
def statistics_that_steer():
    seen = {}

    @ms.every_call
    def look(x):
        seen["largest"] = float(abs(x.asnumpy()).max())

    net = Net(visit=lambda index, x: look(x) if index == 0 else None)

    def f(x):
        y = net(x)
        return y / seen["largest"]

    return Program(f, batches(6))
