# SPDX-License-Identifier: Apache-2.0
"""Every kind of hook doing everything, at every time, in every structure: programs made by rule.

A Case names a program; a Play runs it call by call and tells all that can be seen of it. The
programs use names that mycel and `hook_reference` share. All numbers are small multiples of powers
of two, so that float32 is exact in whatever order it computes: two plays are equal, or something is
wrong.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from zlib import crc32

import numpy as np

CALLS = 7
# What changes during a step does so in this call; what raises does so in the next one.
TURN = 3
INPUT = np.array([1.0, -0.5, 1.5, 0.5], np.float32)


@dataclass(frozen=True)
class Case:
    """One program; which names there are is said by the tables below."""

    kind: str
    action: str
    life: str
    structure: str

    def __str__(self):
        return f"{self.kind}-{self.action}-{self.life}-{self.structure}"

    @property
    def form(self) -> str:
        """What sort of Python the hook is."""
        pure = self.action in PURE and self.life != "changed"
        return self._one_of(list(FORMS) if pure else list(FORMS)[:-1])

    @property
    def replays(self) -> int | None:
        """How many calls of a compiled step are replayed; None if it depends on which Tensor the
        last call saw."""
        if self.action == "carry":
            return None
        raises = self.action == "raise" and self.life in ("before", "late", "readded")
        return LIVES[self.life][1] - raises

    @property
    def turn(self) -> str | None:
        """What changes during a step."""
        return self._one_of(list(TURNS)) if self.life == "changed" else None

    def placed(self) -> Case:
        """The same in a structure that takes turns with this one."""
        structures = TURNING.get(self.structure, [self.structure])
        return replace(self, structure=self._one_of(structures))

    def _one_of(self, choices: list):
        """One for each case, spread over all cases."""
        return choices[crc32(f"{self} {choices}".encode()) % len(choices)]


# -- the networks -----------------------------------------------------------------------------


def vocabulary(ms, compiled: bool) -> SimpleNamespace:
    """The Cells of the programs, made anew; with a compiled `construct`, if so asked."""
    jit = ms.jit if compiled else lambda function: function

    class Leaf(ms.nn.Cell):
        """x * w * factor + shift; `gates` stand inside, `forked` gives x * w as well."""

        def __init__(self, numbers, forked=False):
            super().__init__()
            self.w = ms.Parameter(np.array(numbers, np.float32), name="w")
            self.factor = 1.0
            self.gates = ()
            self.forked = forked

        @jit
        def construct(self, x, shift=None):
            z = x * self.w
            for gate in self.gates:
                z = gate(z)
            y = z if self.factor == 1.0 else z * self.factor
            y = y if shift is None else y + shift
            return (y, (z,)) if self.forked else y

    class Own(Leaf):
        """The same with a reverse of its own, in which `acts` are called."""

        def __init__(self, numbers, forked=False):
            super().__init__(numbers, forked)
            self.internal_params = [self.w]
            self.acts = ()

        def bprop(self, x, *rest):
            *shifts, _, arriving = rest
            arriving, second = (arriving[0], arriving[1][0]) if self.forked else (arriving, None)
            inner = arriving if self.factor == 1.0 else arriving * self.factor
            inner = inner if second is None else inner + second
            gradients = (inner * self.w, *[arriving for _ in shifts])
            for act in self.acts:
                changed = act(self, gradients)
                gradients = gradients if changed is None else changed
            return gradients, {self.w: inner * x}

    class Around(ms.nn.Cell):
        """Twice what its Cells make, one after the other; their inputs may be given by name."""

        def __init__(self, *cells, named=False):
            super().__init__()
            self.cells_inside = ms.nn.CellList(cells)
            self.named = named

        @jit
        def construct(self, x, shift):
            for cell in self.cells_inside:
                x = call(cell, x, shift, self.named)
            return x * 2.0

    return SimpleNamespace(Leaf=Leaf, Own=Own, Around=Around)


def call(cell, x, shift, named):
    """Call a Cell with its second input by position or by name."""
    return cell(x, shift=shift) if named else cell(x, shift)


@dataclass(frozen=True)
class Structure:
    """How the hooked Cell stands in a network: `build(play)` gives the function and the Cell.

    `path` is what an error in a hook calls it; `forked` says it has several outputs.
    """

    build: Callable
    path: str = "Leaf"
    forked: bool = False


def chain(*names):
    """The Cells of these names, one after the other."""

    def build(play):
        def network(x, shift):
            for name in names:
                x = play.call(getattr(play, name), x, shift)
            return x

        return network, play.first

    return build


def around(depth, hooked, recomputed=None):
    """A Cell around a Cell; the hooked one and the recomputed one counted from outside."""

    def build(play):
        cells = [play.first]
        while len(cells) <= depth:
            cells.insert(0, play.cells.Around(cells[0], named=play.named))
        if recomputed is not None:
            cells[recomputed].recompute()
        return (lambda x, shift: play.call(cells[0], x, shift)), cells[hooked]

    return build


def forked(use):
    """A Cell with several outputs, of which the second may be left unused."""

    def build(play):
        def network(x, shift):
            y, (z,) = play.call(play.first, x, shift)
            y, _ = play.call(play.second, y + z if use else y, shift)
            return y

        return network, play.first

    return build


def sequential(whole):
    """A SequentialCell: the hooked one is the whole, or the first in it."""

    def build(play):
        net = play.ms.nn.SequentialCell(play.first, play.second)
        return (lambda x, shift: net(x) + shift), net if whole else play.first

    return build


def listed(play):
    net = play.cells.Around(play.first, play.second, play.first, named=play.named)
    return (lambda x, shift: play.call(net, x, shift)), play.first


STRUCTURES = {
    "plain": Structure(chain("first", "second")),
    "nested": Structure(around(2, hooked=2), "Around.cells_inside.0.cells_inside.0"),
    "shared": Structure(chain("first", "first", "second")),
    "recompute": Structure(around(1, hooked=1, recomputed=1), "Around.cells_inside.0"),
    "outermost": Structure(around(2, hooked=0), "Around"),
    "recompute_around": Structure(
        around(2, hooked=2, recomputed=1), "Around.cells_inside.0.cells_inside.0"
    ),
    # Beside the matrix:
    "outputs": Structure(forked(True), forked=True),
    "unused_output": Structure(forked(False), forked=True),
    "sequential": Structure(sequential(False)),
    "container": Structure(sequential(True)),
    "listed": Structure(listed),
}


# -- what a hook does -------------------------------------------------------------------------
# Each is given what it sees, and returns what to do to the values it may replace, or None.


def double(t):
    return t * 2.0


def observe(play, label, seen):
    play.log.append([(t.shape, str(t.dtype)) for t in seen if t is not None])


def modify(play, label, seen):
    return double


def cut(play, label, seen):
    return lambda t: play.ms.Tensor(np.full(t.shape, 0.5, np.float32))


def append(play, label, seen):
    there = [t for t in seen if t is not None]
    play.kept += [*there, *map(double, there)]


def show(play, label, seen):
    there = [t for t in seen if t is not None]
    print(label, *there, sep=" | ")
    print(f"{label} sums up to {there[0].sum():.2f}")


def asnumpy(play, label, seen):
    play.log.append([None if t is None else t.asnumpy().tolist() for t in seen])


def fail(play, label, seen):
    if play.index == TURN + 1:
        raise ValueError(f"{label} fails in call {play.index}")


def kwargs(play, label, seen):
    play.log.append([t is not None for t in seen])
    return double if play.case.kind in WITH_KWARGS else None


def assign(play, label, seen):
    """A Parameter follows what is seen, and is read at once."""
    play.statistic.set_data(play.statistic + next(t for t in seen if t is not None))
    play.log.append(play.statistic.asnumpy().tolist())


def weigh(play, label, seen):
    """A Parameter takes part."""
    return lambda t: t * play.second.w


def carry(play, label, seen):
    """What one hook saw is used by the next one, also in the next call."""
    before, play.carried = play.carried, next(t for t in seen if t is not None)
    return None if before is None else lambda t: t + play.ms.ops.sign(before)


ACTIONS = {
    "observe": observe,
    "modify": modify,
    "cut": cut,
    "append": append,
    "print": show,
    "asnumpy": asnumpy,
    "raise": fail,
    "kwargs": kwargs,
    # Beside the matrix:
    "assign": assign,
    "weigh": weigh,
    "carry": carry,
}
# Those without an effect on Python, which may be compiled themselves.
PURE = ("modify", "cut", "print")


# -- kinds: how a hook is attached, what it sees, and what it may replace --------------------------


@dataclass(frozen=True)
class Kind:
    """`attach(play, cell, hook)` returns what takes the hook away; `seen` and `replaced` pick of
    the arguments of a hook what it looks at, and what it may return others for."""

    attach: Callable
    seen: Callable
    replaced: Callable


def registered(name):
    def attach(play, cell, hook):
        options = {"with_kwargs": True} if play.named and "forward" in name else {}
        return getattr(cell, name)(hook, **options).remove

    return attach


def member(name, made):
    """A hook that is called inside construct or bprop: one more in an attribute of the Cell."""

    def attach(play, cell, hook):
        present = made(play, hook)
        owner = cell if hasattr(cell, name) else play.first
        setattr(owner, name, (*getattr(owner, name), present))
        return lambda: setattr(
            owner, name, tuple([m for m in getattr(owner, name) if m is not present])
        )

    return attach


def watching(play, hook):
    return lambda z: (z.register_hook(hook), z)[1]


def on_handle(pick):
    return lambda play, cell, hook: pick(play, cell).register_hook(hook).remove


def in_bprop(play, hook):
    """Python in a bprop is compiled like any other, so what has effects is marked."""
    return hook if play.case.form == "jitted" else play.ms.every_call(hook)


def argument(*numbers):
    """These arguments of a hook: one by itself, or several as a tuple."""
    return lambda args: args[numbers[0]] if len(numbers) == 1 else tuple([args[n] for n in numbers])


def everything(args):
    return args[1:]


KINDS = {
    "forward_pre": Kind(registered("register_forward_pre_hook"), everything, argument(1)),
    "forward": Kind(registered("register_forward_hook"), everything, argument(-1)),
    "backward_pre": Kind(registered("register_backward_pre_hook"), everything, argument(1)),
    "backward": Kind(registered("register_backward_hook"), everything, argument(2)),
    "full_backward": Kind(registered("register_full_backward_hook"), everything, argument(1)),
    "tensor": Kind(member("gates", watching), argument(0), argument(0)),
    "input": Kind(on_handle(lambda play, cell: play.x), argument(0), argument(0)),
    "parameter": Kind(
        on_handle(lambda play, cell: getattr(cell, "w", play.first.w)), argument(0), argument(0)
    ),
    "hook_backward": Kind(
        member("gates", lambda play, hook: play.ms.ops.HookBackward(hook)), argument(0), argument(0)
    ),
    "bprop": Kind(member("acts", in_bprop), everything, argument(1)),
}
WITH_KWARGS = {"forward_pre": argument(1, 2), "forward": argument(-1)}


def mapped(change, tree):
    """A tree of Tensors after a change of each; None stays."""
    if isinstance(tree, tuple):
        return tuple([mapped(change, part) for part in tree])
    if isinstance(tree, dict):
        return {name: mapped(change, part) for name, part in tree.items()}
    return None if tree is None else change(tree)


def leaves(tree) -> list:
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, tuple) else None
    return [tree] if parts is None else [leaf for part in parts for leaf in leaves(part)]


# -- forms: what sort of Python a hook is --------------------------------------------------------


class Caller:
    """An object with a method, and one that can be called itself."""

    def __init__(self, ms, hook):
        self.hook = hook

    def method(self, *args):
        return self.hook(*args)

    __call__ = method


FORMS = {
    "function": lambda ms, hook: hook,
    "lambda": lambda ms, hook: lambda *args: hook(*args),
    "method": lambda ms, hook: Caller(ms, hook).method,
    "partial": lambda ms, hook: functools.partial(lambda f, *args: f(*args), hook),
    "object": Caller,
    "jitted": lambda ms, hook: ms.jit(hook),
}


# -- lives: when a hook is there -----------------------------------------------------------------

# After which call (-1 is before the first) what happens, and how many calls of a compiled step are
# replayed: all but the first two, and two after each change.
LIVES = {
    "before": ({-1: "attach"}, 5),
    "late": ({0: "attach"}, 4),
    "removed": ({-1: "attach", TURN: "detach"}, 3),
    "readded": ({-1: "attach", TURN - 1: "detach", TURN: "attach"}, 2),
    "changed": ({-1: "attach"}, 1),
    # Beside the matrix:
    "several": ({-1: "attach_three"}, 5),
    "everywhere": ({-1: "attach_everywhere"}, 5),
    "inside": ({}, 0),
    "never": ({}, 5),
}


def turn_action(play):
    play.action = cut if play.action in (modify, kwargs) else modify


def turn_attribute(play):
    play.first.factor = 4.0


# What a hook does once, in the middle of a step.
TURNS = {
    "removes itself": lambda play: play.detach(),
    "registers another": lambda play: play.attach(play.second, "another"),
    "returns another": turn_action,
    "sets an attribute": turn_attribute,
}


# -- playing -------------------------------------------------------------------------------------


class Play:
    """One program in one vocabulary (mycel or the reference), from a fresh state."""

    def __init__(self, case: Case, ms, compiled_step=False, compiled_construct=False):
        self.case = case
        self.ms = ms
        self.kind = KINDS[case.kind]
        self.action = ACTIONS[case.action]
        self.named = case.action == "kwargs"
        self.log: list = []
        self.kept: list = []
        self.detaching: list = []
        self.index, self.turned, self.carried = 0, False, None
        structure = STRUCTURES[case.structure]
        self.cells = vocabulary(ms, compiled_construct)
        leaf = self.cells.Own if case.kind == "bprop" else self.cells.Leaf
        self.first = leaf([1.0, 0.5, -1.5, 2.0], structure.forked)
        self.second = leaf([0.5, -1.0, 2.0, 1.5], structure.forked)
        self.statistic = ms.Parameter(np.ones(4, np.float32), name="statistic")
        self.weights = [self.first.w, self.second.w]
        self.x, self.shift = ms.Tensor(INPUT), ms.Tensor(INPUT[::-1])
        self.net, self.target = structure.build(self)
        step = self.written_step()
        self.step = ms.jit(step) if compiled_step else step

    def written_step(self):
        derivative = self.ms.value_and_grad(lambda x, s: self.net(x, s), (0, 1), self.weights)

        def step(x, shift):
            if self.case.life == "inside":
                self.attach_lambda()
            value, (by_input, by_weight) = derivative(x, shift)
            if self.case.life == "inside":
                self.detach()
            for weight, gradient in zip(self.weights, by_weight, strict=True):
                weight.set_data(weight + self.ms.ops.sign(gradient))
            return value, by_input, by_weight, self.net(x, shift)

        return step

    def call(self, cell, x, shift):
        return call(cell, x, shift, self.named)

    # -- hooks --------------------------------------------------------------------------------

    def hook(self, label: str, form: str):
        """A hook of the kind and form of this case that does its action."""
        replaced = WITH_KWARGS.get(self.case.kind) if self.named else None
        replaced = replaced or self.kind.replaced

        def acting(*args):
            change = self.action(self, label, leaves(self.kind.seen(args)))
            return None if change is None else mapped(change, replaced(args))

        def hook(*args):
            self.log.append(label)
            if self.case.turn and self.index == TURN and not self.turned:
                self.turned = True
                TURNS[self.case.turn](self)
            return acting(*args)

        return FORMS[form](self.ms, acting if form == "jitted" else hook)

    def attach(self, cell=None, label="hook", hook=None):
        hook = hook or self.hook(label, self.case.form)
        self.detaching.append(self.kind.attach(self, cell or self.target, hook))

    def attach_three(self):
        for form in ("function", "lambda", "object"):
            self.attach(label=form, hook=self.hook(form, form))

    def attach_everywhere(self):
        hook = self.hook("shared", self.case.form)
        for cell in (self.target, self.second):
            self.attach(cell, hook=hook)

    def attach_lambda(self):
        hook = self.hook("inside", "function")
        self.attach(hook=lambda *args: hook(*args))

    def detach(self):
        self.detaching.pop()()

    # -- calls --------------------------------------------------------------------------------

    def run(self) -> list[dict]:
        """What can be seen of each call."""
        self.happens(-1)
        return [self.row(index) for index in range(CALLS)]

    def happens(self, index):
        if name := LIVES[self.case.life][0].get(index):
            getattr(self, name)()

    def row(self, index: int) -> dict:
        self.index = index
        self.ms.ops.assign(self.x, self.ms.Tensor(INPUT + np.float32(index % 3)))
        text, result, raised, notes = io.StringIO(), None, None, []
        with contextlib.redirect_stdout(text):
            try:
                result = self.step(self.x, self.shift)
            except ValueError as error:
                raised, notes = str(error), getattr(error, "__notes__", [])
        seen = {
            "result": in_numpy(result),
            "raised": raised,
            "notes": notes,
            "state": in_numpy([*self.weights, self.statistic, self.x]),
            "log": list(self.log),
            "kept": in_numpy(self.kept),
            "printed": text.getvalue(),
        }
        self.log.clear()
        self.kept.clear()
        self.happens(index)
        return seen


def in_numpy(tree):
    if isinstance(tree, (tuple, list)):
        return [in_numpy(part) for part in tree]
    return tree.asnumpy().copy() if hasattr(tree, "asnumpy") else tree


# -- the matrix ----------------------------------------------------------------------------------

# The first names of each table are the matrix.
MATRIX = (list(KINDS), list(ACTIONS)[:8], list(LIVES)[:5], list(STRUCTURES)[:4])
# Structures that take turns with one of the matrix.
TURNING = {
    "nested": ["nested", "outermost"],
    "recompute": ["recompute", "recompute_around"],
}
BESIDE = (
    (list(KINDS), list(ACTIONS)[8:], ["before"], ["plain", "shared"]),
    (list(KINDS), ["modify", "print", "append"], list(LIVES)[5:8], ["plain"]),
    (list(KINDS), ["modify", "print"], ["before"], list(STRUCTURES)[6:]),
)


def cases() -> list[Case]:
    """All cases: the matrix, and what is beside it."""
    parts = (MATRIX, *BESIDE)
    return [Case(*names).placed() for part in parts for names in itertools.product(*part)]
