# SPDX-License-Identifier: Apache-2.0
"""What random programs are made of: Cells, the steps of their construct, and the acts of hooks.

All are drawn by name; plans.py draws, play.py plays and compares.
"""

from __future__ import annotations

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base.trees import tree_leaves, tree_map

SHAPE = (2, 3)


class Drawn(Exception):
    """What a drawn step or hook raises."""


# -- steps of construct: `step(cell, t, u, number, index)`, a new Tensor or None ----------------

STEPS: dict = {}
STEP_WEIGHTS: dict = {}


def step(weight: float):
    def add(function):
        STEPS[function.__name__] = function
        STEP_WEIGHTS[function.__name__] = weight
        return function

    return add


@step(3)
def scale(cell, t, u, number, index):
    return t * cell.w


@step(2)
def bias(cell, t, u, number, index):
    return t + cell.b * number


@step(2)
def mix(cell, t, u, number, index):
    return t * u + number


@step(1)
def rotate(cell, t, u, number, index):
    return ops.concat((t[:, 1:], u[:, :1]), 1)


@step(1)
def centre(cell, t, u, number, index):
    return t - u.mean(axis=0)


@step(1)
def curve(cell, t, u, number, index):
    return ops.sin(t * 2) if number > 0.5 else ops.sigmoid(t)


@step(1)
def product(cell, t, u, number, index):
    return ops.matmul(t, u.T).sum(axis=1).reshape((2, 1)) * cell.w


@step(1)
def constant(cell, t, u, number, index):
    return t * Tensor(np.array([1.0, number, 0.5], np.float32))


@step(1)
def stopped(cell, t, u, number, index):
    return t * ops.stop_gradient(u)


@step(1)
def gated(cell, t, u, number, index):
    return t * cell.gate if cell.gate != 2.0 else u


@step(1)
def staged(cell, t, u, number, index):
    return t * 1.25 if cell.training else t


@step(3)
def branch(cell, t, u, number, index):
    return t * 2 if cell.task.over((t * u).mean(), number * 2 - 1) else t - cell.w


@step(1)
def loop(cell, t, u, number, index):
    total, trips = (t * t).sum() * 2, 0
    while trips < 4 and cell.task.over(total, 0.5 + number):
        t, total, trips = t * 0.75 + cell.b, total * 0.5, trips + 1
    return t


@step(1)
def whole(cell, t, u, number, index):
    return t * (0.5 + 0.25 * cell.task.whole(u.mean() * 2))


@step(1)
def peek(cell, t, u, number, index):
    # What the program sets between calls, a number that is exact.
    signal = cell.task.signal
    if number > 0.6:
        return t + float(signal) * 0.5
    if number > 0.3:
        return t * signal.asnumpy()
    return t if signal > 0.5 else t - u


@step(2)
def assign(cell, t, u, number, index):
    cell.w.set_data(ops.tanh(cell.w * 0.75 + t.mean() * number))


@step(1)
def assign_number(cell, t, u, number, index):
    ops.assign(cell.b, cell.b * 0.5 + number)


@step(2)
def write(cell, t, u, number, index):
    cell.w[int(number * 3)] = t.sum() * 0.25


@step(1)
def write_result(cell, t, u, number, index):
    made = t * 1
    made[:, int(number * 3)] = u[:, 0] * 0.5
    return made


@step(0.5)
def write_in_place(cell, t, u, number, index):
    # Perhaps what the Cell was given.
    u[0] = t[1] * number


@step(1)
def moving(cell, t, u, number, index):
    if cell.training:
        cell.moving.set_data(cell.moving * 0.75 + t.mean(axis=0) * 0.25)
    return t - cell.moving


@step(0.2)
def failing(cell, t, u, number, index):
    if cell.task.signal > 0.5:
        raise Drawn(f"construct of Cell {cell.index}")


@step(0.5)
def jitted(cell, t, u, number, index):
    return _compiled(t, u, 1.0 if number > 0.5 else 2.0)


@ms.jit
def _compiled(t, u, number):
    return t * number - u


@step(0.5)
def count(cell, t, u, number, index):
    # A guard that fails in every fourth call.
    cell.turns.set_data(cell.turns + 1)
    return t * 0.5 if cell.turns % 4 == 0 else t


@step(1)
def show(cell, t, u, number, index):
    print(f"{t.sum():.3f} and", u.shape, "high" if number > 0.5 else cell.b.value())


@step(0.5)
def named(cell, t, u, number, index):
    # Names of Parameters change where children are exchanged.
    names = [parameter.name for parameter in cell.get_parameters()]
    return t * (1 + sum(map(ord, "".join(names[:1]))) % 5 * 0.1)


@step(2)
def hooked(cell, t, u, number, index):
    made = t * 1.5
    handle = made.register_hook(cell.task.hook(index))
    if number > 0.8:
        # The hook stays with the value that was there.
        made[0] = u[0]
    elif number > 0.6:
        made.register_hook(cell.task.hook(index))
    elif number > 0.4:
        made.register_hook(cell.task.hook(index))
        handle.remove()
    return made * u


@step(1)
def point(cell, t, u, number, index):
    if number > 0.5:
        return ops.HookBackward(cell.task.hook(index))(t)
    first, second = ops.HookBackward(cell.task.hook(index))(t, u)
    return first * 0.5 + second


@step(1)
def inserted(cell, t, u, number, index):
    return ops.InsertGradientOf(cell.task.hook(index))(t)


@step(2)
def watched(cell, t, u, number, index):
    found = ms.every_call(cell.task.hook(index))(t)
    return t * 0.5 if found is None else found


@step(1)
def derived(cell, t, u, number, index):
    return ms.grad(lambda y: (ops.tanh(y * cell.w) * u).sum())(t) * number


@step(1)
def derived_by_parameter(cell, t, u, number, index):
    value, gradient = ms.value_and_grad(lambda y: (y * cell.w).mean(), None, cell.w)(t)
    return t * value + gradient


@step(5)
def child(cell, t, u, number, index):
    part = cell.child(index)
    if part is None:
        return t
    if isinstance(part, Part) and part.plan["keyword"]:
        return joined(part(t, y=u))
    return joined(part(t))


@step(1)
def twice(cell, t, u, number, index):
    part = cell.child(index)
    return t if part is None else joined(part(joined(part(t))))


@step(0.5)
def child_derived(cell, t, u, number, index):
    part = cell.child(index)
    return t if part is None else ms.grad(lambda y: joined(part(y)))(t)


@step(0.1)
def registering(cell, t, u, number, index):
    cell.task.register(index)


@step(0.1)
def kept_on_the_cell(cell, t, u, number, index):
    cell.last = t


def joined(output):
    return output if isinstance(output, Tensor) else output[0] + output[1] * 0.5


# -- Cells -----------------------------------------------------------------------------------


class Part(nn.Cell):
    """A Cell that runs the steps of its plan."""

    def __init__(self, task, index: int):
        super().__init__()
        self.task, self.index, self.gate = task, index, 1.0
        self.plan = task.plan["cells"][index]
        numbers = np.random.RandomState(task.plan["seed"] % 1000 + index)

        def drawn(*shape):
            return Tensor(numbers.uniform(-0.8, 0.8, shape).astype(np.float32))

        self.w = Parameter(drawn(3))
        self.b = Parameter(drawn())
        self.moving = Parameter(drawn(3), requires_grad=False)
        self.turns = Parameter(Tensor(0, ms.int32), requires_grad=False)
        for place, number in enumerate(self.plan["children"]):
            setattr(self, f"part{place}", task.cell(number))

    def child(self, index: int):
        children = len(self.plan["children"])
        return getattr(self, f"part{index % children}") if children else None

    def swap(self) -> None:
        """Exchange the first two children."""
        if len(self.plan["children"]) > 1:
            self.part0, self.part1 = self.part1, self.part0

    def construct(self, x, y=None):
        pool = [x] if y is None else [x, y]
        for name, first, second, number, index in self.plan["steps"]:
            t, u = pool[int(first * len(pool))], pool[int(second * len(pool))]
            made = STEPS[name](self, t, u, number, index)
            if made is not None:
                pool.append(ops.tanh(made))
        return self.result(pool)

    def result(self, pool):
        return pool[-1]


class Pair(Part):
    def result(self, pool):
        return pool[-1], pool[len(pool) // 2] * 0.5


class Reversed(Part):
    """A Cell with a derivative of its own."""

    def bprop(self, x, out, dout):
        return (dout * 0.75 + ops.cos(x) * 0.1 * out,)


class Internal(Part):
    """The same, with a gradient for a Parameter."""

    def __init__(self, task, index):
        super().__init__(task, index)
        self.internal_params = [self.w]

    def bprop(self, *args):
        x, out, dout = args
        return (dout * self.w,), {self.w: (dout * x * out).sum(axis=0)}


class Jitted(Part):
    construct = ms.jit(Part.construct)


def _dense(task, index):
    numbers = np.random.RandomState(task.plan["seed"] % 1000 + index)
    weight = Tensor(numbers.uniform(-0.8, 0.8, (3, 3)).astype(np.float32))
    return nn.Dense(3, 3, weight_init=weight, bias_init="zeros")


def _recomputed(task, index):
    made = Part(task, index)
    if hasattr(made, "recompute"):
        made.recompute()
    else:
        made.__dict__["_recomputed"] = True
    return made


def _sequential(task, index):
    return nn.SequentialCell([task.cell(n) for n in task.plan["cells"][index]["children"]])


CELLS = {
    "plain": Part,
    "pair": Pair,
    "reversed": Reversed,
    "internal": Internal,
    "jitted": Jitted,
    "recomputed": _recomputed,
    "sequential": _sequential,
    "dense": _dense,
    "norm": lambda task, index: nn.BatchNorm1d(3, eps=0.1),
    "dropout": lambda task, index: nn.Dropout(p=0.5),
}
LEAVES = ("dense", "norm", "dropout")


# -- hooks ------------------------------------------------------------------------------------


def _seen(kind: str, args: tuple):
    """Of what a hook is given, what it may replace."""
    if kind in ("tensor", "every"):
        return args[0]
    if kind == "point":
        return args[0]
    if kind == "forward":
        return args[-1]
    return args[2] if kind == "backward" else args[1]


class Hook:
    """A hook whose acts depend on how often it was called."""

    def __init__(self, task, index: int):
        self.task, self.index, self.count = task, index, 0
        self.plan = task.plan["hooks"][index]

    def __call__(self, *args):
        self.count += 1
        kind = self.plan["kind"]
        seen = _seen(kind, args)
        first = next((leaf for leaf in tree_leaves(seen) if isinstance(leaf, Tensor)), None)
        change = None
        for what, when, turn, number, index in self.plan["acts"]:
            if first is not None and DUE[when](self.count, turn):
                found = ACTS[what](self, first, number, index)
                change = change or found
        if change is None:
            return None
        made = tree_map(lambda leaf: change(leaf) if isinstance(leaf, Tensor) else leaf, seen)
        if self.plan["keyword"] and kind == "forward_pre":
            return made, args[2]
        return made

    def method(self, *args):
        return self(*args)


DUE = {
    "always": lambda count, turn: True,
    "from": lambda count, turn: count >= turn,
    "until": lambda count, turn: count < turn,
    "at": lambda count, turn: count == turn,
    "each": lambda count, turn: count % (2 + turn % 4) == 0,
}

ACTS: dict = {}
ACT_WEIGHTS: dict = {}
ACT_KINDS: dict = {}
ACT_TIMES: dict = {}

FORWARD = ("forward_pre", "forward")
CELL_REVERSE = ("backward_pre", "backward", "full_backward")
REVERSE = (*CELL_REVERSE, "tensor", "point")
KINDS = (*FORWARD, *REVERSE, "every")


def act(weight: float, kinds=KINDS, times=("always", "always", "from", "until", "at", "each")):
    """An act of a hook: it may return what is done to each Tensor that is replaced."""

    def add(function):
        name = function.__name__.strip("_")
        ACTS[name] = function
        ACT_WEIGHTS[name], ACT_KINDS[name], ACT_TIMES[name] = weight, kinds, times
        return function

    return add


@act(2)
def observe(hook, first, number, index):
    hook.task.note(hook, hook.count, first.shape)


@act(4)
def note_sum(hook, first, number, index):
    hook.task.note(hook, float(first.sum()))


@act(2)
def note_array(hook, first, number, index):
    hook.task.note(hook, first.asnumpy())


@act(1)
def note_parameter(hook, first, number, index):
    hook.task.note(hook, hook.task.parameter(index).asnumpy())


@act(1)
def note_derivative(hook, first, number, index):
    p = hook.task.parameter(index)
    hook.task.note(hook, ms.grad(lambda y: (ops.tanh(y) * p.sum()).sum())(first).asnumpy())


@act(2)
def printed(hook, first, number, index):
    if number > 0.5:
        print(hook.index, f"{first.mean():.3f}")
    else:
        print(hook.index, first)


@act(5)
def scaled(hook, first, number, index):
    return lambda leaf: leaf * (0.5 + number)


@act(1)
def replaced(hook, first, number, index):
    return lambda leaf: Tensor(np.full(leaf.shape, number, np.float32))


@act(2)
def with_parameter(hook, first, number, index):
    p = hook.task.parameter(index)
    return lambda leaf: leaf * p.mean()


@act(1, REVERSE)
def clipped(hook, first, number, index):
    norm = (first * first).sum() * 4
    return (lambda leaf: leaf * 0.5) if hook.task.over(norm, number) else None


@act(0.5, CELL_REVERSE)
def cut(hook, first, number, index):
    return lambda leaf: None


@act(2)
def assigned(hook, first, number, index):
    p = hook.task.parameter(index)
    p.set_data(ops.tanh(p * 0.75 + first.mean() * number))


@act(1)
def written(hook, first, number, index):
    p = hook.task.parameter(index)
    if p.shape:
        p[0] = first.mean() * 0.5
    else:
        p.set_data(p * 0.5)


@act(1.5, times=("at", "at", "each", "from"))
def steered(hook, first, number, index):
    hook.task.part(index).gate = (0.5, 1.0, 1.5, 2.0)[int(number * 4)]


@act(0.5, times=("at",))
def swapped(hook, first, number, index):
    hook.task.swap(index)


@act(0.5, times=("at",))
def trained(hook, first, number, index):
    hook.task.net.set_train(number > 0.5)


@act(1.5, times=("at",))
def removed(hook, first, number, index):
    hook.task.remove(hook.index if number > 0.3 else index)


@act(1.5, times=("at",))
def registered(hook, first, number, index):
    hook.task.register(index)


@act(1.5, ("forward_pre", "forward"), times=("always",))
def kept(hook, first, number, index):
    hook.task.kept.append(first)


@act(1, ("forward_pre", "forward", "every"))
def followed(hook, first, number, index):
    first.register_hook(hook.task.hook(index))


@act(1, times=("at",))
def raised(hook, first, number, index):
    raise Drawn(f"hook {hook.index} in its call {hook.count}")


@act(1)
def consulted(hook, first, number, index):
    if first.shape != SHAPE:
        return None
    return lambda leaf: leaf + hook.task.side(leaf) * 0.1


@act(0.5)
def called(hook, first, number, index):
    """The hook calls a Cell, which may have hooks; not one that has ever more of them."""
    task = hook.task
    part = task.part(index)
    if first.shape != SHAPE or task.within_a_hook or task.is_crowded(part):
        return None
    task.within_a_hook = True
    try:
        made = joined(part(first))
    finally:
        task.within_a_hook = False
    return lambda leaf: leaf + made * 0.25
