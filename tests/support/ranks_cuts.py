# SPDX-License-Identifier: Apache-2.0
"""Programs drawn at random that two processes cut at different places: by looks, prints, hooks and
`flush`, which each process draws for itself. What they exchange is the same, in the same order.

Oracles: NumPy, which computes all processes at once, for values; for gradients, direct execution
without a cut. `MYCEL_CUTS=1000` says how many programs; every one is called several times, in
every form of `FORMS`, so that replays meet what is new.
"""

from __future__ import annotations

import contextlib
import io
import os

import numpy as np

import mycel as ms
from harness import execution
from mycel import communication, nn, ops
from mycel.kernel.execute import compile as compiling
from support.by_operators import by_operators

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
PROGRAMS = int(os.environ.get("MYCEL_CUTS", "30"))
# One of so many is compiled by XLA, as a user's program is.
COMPILED, LENGTH = 20, 4
# Which inputs each call is given: a replay that read values holds for the same ones only.
CALLS = (0, 0, 0, 0, 1)
FORMS = ("plain", "jit", "cell", "compiled cell")
LOOKS, OTHERS = ("number", "array", "branch", "nothing", "nothing"), ("print", "flush", "hook")


# -- what a program is made of: for mycel, and for the arrays of all processes in NumPy -----------


def _over_all(function):
    return lambda xs: [function(np.stack(xs))] * SIZE


EXCHANGES = {
    "sum": (ops.AllReduce(), _over_all(lambda x: x.sum(0))),
    "max": (ops.AllReduce("max"), _over_all(lambda x: x.max(0))),
    "gather": (
        lambda x: ops.AllGather()(x).reshape((SIZE, LENGTH)).sum(0),
        _over_all(lambda x: x.sum(0)),
    ),
    "scatter": (
        lambda x: ops.concat([ops.ReduceScatter()(x)] * SIZE),
        lambda xs: [np.tile(part, SIZE) for part in np.split(np.sum(xs, 0), SIZE)],
    ),
    "first": (lambda x: ops.Broadcast(0)((x,))[0], lambda xs: [xs[0]] * SIZE),
}
STEPS = {
    "half": (lambda x: x * 0.5, lambda x: x * np.float32(0.5)),
    "sine": (ops.sin, np.sin),
    "turned": (lambda x: ops.flip(x, (0,)), lambda x: x[::-1]),
    "less": (lambda x: x - x.mean(), lambda x: x - x.mean()),
}
PAIRS = {"added": (ops.add, np.add), "multiplied": (ops.mul, np.multiply)}


def drawn_program(seed):
    """Steps as (kind, name, the numbers of what they take); the same in all processes."""
    drawn = np.random.RandomState(seed)
    count, steps = 3, []
    for _ in range(drawn.randint(5, 12)):
        kind = drawn.choice(["exchange", "step", "pair"], p=[0.4, 0.3, 0.3])
        table = {"exchange": EXCHANGES, "step": STEPS, "pair": PAIRS}[kind]
        taken = drawn.randint(max(0, count - 3), count, 2 if kind == "pair" else 1)
        steps.append((str(kind), str(drawn.choice(list(table))), tuple(map(int, taken))))
        count += 1
    return steps


def by_numpy(steps, columns):
    """The last value, in every process: `columns` are the inputs of each."""
    known = [list(xs) for xs in zip(*columns, strict=True)]
    for kind, name, taken in steps:
        if kind == "exchange":
            known.append(EXCHANGES[name][1](known[taken[0]]))
        elif kind == "step":
            known.append([STEPS[name][1](x) for x in known[taken[0]]])
        else:
            known.append(
                [PAIRS[name][1](a, b) for a, b in zip(*[known[n] for n in taken], strict=True)]
            )
    return known[-1]


class Cuts:
    """What this process does behind each step; drawn before the program runs, for Python whose
    state cannot be looked into is not replayed. In some programs it is drawn anew for each call."""

    def __init__(self, seed, count):
        self.drawn, self.count = np.random.RandomState(seed * SIZE + RANK), count
        self.changes = self.drawn.rand() < 0.2
        # A call with a hook or a print in front of an exchange is not replayed, one that looks is.
        self.kinds = LOOKS if self.drawn.rand() < 0.6 else (*LOOKS, *OTHERS)
        self.plan, self.made = (), 0

    def begin(self):
        if self.changes or not self.plan:
            self.plan = tuple(map(str, self.drawn.choice(self.kinds, self.count)))
        self.made += sum(how != "nothing" for how in self.plan)


class NoCuts:
    def __init__(self, count):
        self.plan = ("nothing",) * count


def cut(x, how):
    """One cut, behind the step that made x."""
    if how == "number":
        float(x.sum())
    elif how == "array":
        x.asnumpy()
    elif how == "branch" and bool((x > 1e6).any()):
        raise AssertionError("it does not grow so much")
    elif how == "print":
        print(x)
    elif how == "flush":
        ms.flush()
    elif how == "hook":
        x.register_hook(seen)


def seen(gradient):
    """A hook."""


def made(steps, cuts, form, weight):
    """The program as a function of its inputs: the sum of its last value, and that value."""
    known_by_kind = {"exchange": EXCHANGES, "step": STEPS, "pair": PAIRS}
    functions = [known_by_kind[kind][name][0] for kind, name, _ in steps]
    numbers = [taken for *_, taken in steps]

    def run(a, b):
        known = [a, b, weight * 1.0]
        for function, taken, how in zip(functions, numbers, cuts.plan, strict=True):
            known.append(function(*[known[n] for n in taken]))
            cut(known[-1], how)
        return known[-1].sum() + 0 * weight.sum(), known[-1]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def construct(self, a, b):
            return run(a, b)

    function = Net() if form.endswith("cell") else run
    derivative = ms.value_and_grad(function, (0, 1), [weight], has_aux=True)
    return ms.jit(derivative) if form in ("jit", "compiled cell") else derivative


def inputs_of(seed, call):
    """Those of all processes."""
    drawn = np.random.RandomState(seed * 100 + call)
    return [(drawn.randint(-4, 5, (2, LENGTH)) / 4).astype(np.float32) for _ in range(SIZE)]


def weight_of(seed):
    """The same in all processes."""
    numbers = np.random.RandomState(seed).randint(1, 5, LENGTH) / 4
    return ms.Parameter(numbers.astype(np.float32), name="weight")


def flat(gradients):
    by_inputs, by_weights = gradients
    return [g.asnumpy() for g in (*by_inputs, *by_weights)]


def run_program(seed):
    """Raises if a value or gradient differs; gives how many cuts this process made."""
    steps, form = drawn_program(seed), FORMS[seed % len(FORMS)]
    cuts, weight = Cuts(seed, len(steps)), weight_of(seed)
    function = made(steps, cuts, form, weight)
    oracle = made(steps, NoCuts(len(steps)), "plain", weight)
    known: dict = {}
    for call in CALLS:
        columns = inputs_of(seed, call)
        own = [ms.Tensor(x) for x in columns[RANK]]
        cuts.begin()
        with contextlib.redirect_stdout(io.StringIO()):
            (_, value), gradients = function(*own)
        value, gradients = value.asnumpy(), flat(gradients)
        expected = by_numpy(steps, [(*xs, weight.asnumpy()) for xs in columns])[RANK]
        message = f"program {seed} on inputs {call} as {form}: {steps}"
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5, err_msg=message)
        if call not in known:
            with execution("direct"):
                known[call] = flat(oracle(*own)[1])
        others = known[call]
        for one, other in zip(gradients, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=message)
    return cuts.made


@contextlib.contextmanager
def not_compiled():
    """In this block, records run operator by operator where they would be compiled, those between
    two exchanges too: all of mycel takes part, and XLA, which would need most of the time, does
    not."""
    before = compiling._compiled
    with by_operators():
        compiling._compiled = lambda function, **layouts: function
        try:
            yield
        finally:
            compiling._compiled = before


def check_cuts_at_different_places_change_nothing():
    counts = ms.debug.ledger().counts
    before, cuts = counts.replays, 0
    for seed in range(PROGRAMS):
        with contextlib.nullcontext() if seed % COMPILED == 0 else not_compiled():
            cuts += run_program(seed)
    replays = ms.debug.ledger().counts.replays - before
    print(f"{PROGRAMS} programs, {cuts} cuts drawn, {replays} replays", flush=True)
    # So that the comparison is one of replays too.
    assert cuts >= 10 * PROGRAMS and replays >= PROGRAMS // 4, (cuts, replays)
    ms.flush()
