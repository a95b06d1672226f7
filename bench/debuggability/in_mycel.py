# SPDX-License-Identifier: Apache-2.0
"""The fifteen programs in mycel: `jit`, hooks of Cells, and `ms.debug`."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

import mycel as ms
from bench.debuggability import material as given
from bench.debuggability.faults_mycel import FAULTS, chain
from mycel import Parameter, Tensor, nn, ops

HERE = os.path.basename(__file__)
FILE = "faults_mycel.py"


def version() -> str:
    """Of the framework."""
    return f"mycel {ms.__version__}"


class Block(nn.Cell):
    """tanh(x · w)."""

    def __init__(self, weight: np.ndarray):
        super().__init__()
        self.w = Parameter(Tensor(weight), name="w")

    def construct(self, x):
        return ops.tanh(ops.matmul(x, self.w))


class Net(nn.Cell):
    """Blocks, one after the other."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.CellList(list(blocks))

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def three() -> Net:
    """Three blocks."""
    return Net(map(Block, given.WEIGHTS))


def compiled_step(net):
    """A compiled function that gives the loss and the gradients of all weights."""
    weights = net.trainable_params()
    return ms.jit(ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, weights))


def looked_at(results) -> None:
    """Wait for results."""
    loss = results[0] if isinstance(results, tuple) else results
    loss.asnumpy()


BATCHES = [Tensor(x) for x in given.BATCHES]


def hook_added(rounds: int) -> dict:
    net, seen, now = three(), [], []
    step = compiled_step(net)

    def look(cell, inputs, output):
        now.append(float(output.mean()))

    handle = None
    for call, x in enumerate(BATCHES[:9]):
        now.clear()
        if call == 3:
            handle = net.blocks[given.MIDDLE].register_forward_hook(look)
        if call == 6:
            handle.remove()
        step(x)
        seen.append(list(now))
    other = three()
    other.blocks[given.MIDDLE].register_forward_hook(look)
    observed = compiled_step(other)
    cost = given.ratio(
        lambda: looked_at(step(BATCHES[0])), lambda: looked_at(observed(BATCHES[0])), rounds
    )
    return {"seen": seen, "cost": cost, "note": "register_forward_hook"}


def gradient_hook(rounds: int) -> dict:
    net = three()
    plain = compiled_step(three())
    net.blocks[given.MIDDLE].register_backward_hook(lambda cell, into, out: (out[0] * 0.5,))
    step = compiled_step(net)
    found = [[g.asnumpy().tolist() for g in step(x)[1]] for x in BATCHES[:6]]
    x = BATCHES[0]
    cost = given.ratio(lambda: looked_at(plain(x)), lambda: looked_at(step(x)), rounds)
    return {"gradients": found, "cost": cost, "note": "register_backward_hook"}


class Residual(nn.Cell):
    """x + tanh(x · a) · b."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = (
            Parameter(Tensor(value), name=name)
            for value, name in ((first, "first"), (second, "second"))
        )

    def construct(self, x):
        return x + ops.matmul(ops.tanh(ops.matmul(x, self.first)), self.second)


def interventions(rounds: int) -> dict:
    net = Net(Residual(*pair) for pair in given.STACK)
    predict = ms.jit(lambda x: net(x).sum())
    plain = ms.jit(lambda x: net(x).sum())
    x, results, every = Tensor(given.PROMPT), [], given.interventions(rounds)
    for _ in range(4):
        plain(x)
    counts = ms.debug.ledger().counts
    with ms.debug.patch(net, {"blocks.*": None}) as patched:

        def intervened(layer, position, vector, strength):
            path = f"blocks.{layer}"
            patched[path] = ms.debug.Edit(vector, position, strength, add=True)
            result = float(predict(x))
            del patched[path]
            return result

        for _ in range(4):
            for layer in range(given.DEPTH):
                intervened(layer, 0, given.PROMPT[0], 1.0)
        before = counts.compilations
        results = [intervened(*one) for one in every]
        recompilations = counts.compilations - before
        turns = itertools.cycle(every)
        patched_step = lambda: intervened(*next(turns))  # noqa: E731
        cost = given.ratio(_apart(net, x), patched_step, rounds, 20)
    note = "ms.debug.patch, an Edit for each"
    return {"results": results, "recompilations": recompilations, "cost": cost, "note": note}


def _apart(net, x):
    """The plain step, by a network that is not patched."""
    other = Net(Residual(*pair) for pair in given.STACK)
    predict = ms.jit(lambda x: other(x).sum())
    return lambda: float(predict(x))


class Faulty(nn.Cell):
    """A function of x · w."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.w = Parameter(Tensor(np.ones(4, np.float32)), name="w")

    def construct(self, x):
        return self.function(x * self.w)


def faulty_step(fault: str, differentiated: bool):
    """A compiled step through three blocks; the one in the middle has the fault."""
    functions = [lambda x: x * 1.0, FAULTS[fault], lambda x: x + 0.0]
    net = Net(map(Faulty, functions))

    def forward(x):
        return net(x).mean()

    if not differentiated:
        return ms.jit(forward)
    optimizer = nn.SGD(net.trainable_params(), 1e-6)
    derivative = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    return step


def _found(faults: dict, differentiated: bool) -> list[dict]:
    """What find_nan tells of each fault."""
    told = []
    for fault, value in faults.items():
        step = faulty_step(fault, differentiated)
        text = ""
        try:
            with ms.debug.find_nan():
                for _ in range(given.GOOD_STEPS):
                    looked_at(step(Tensor(given.faulty_batch())))
                looked_at(step(Tensor(given.faulty_batch(value))))
        except FloatingPointError as error:
            text = str(error)
        line = FAULTS[fault].__code__.co_firstlineno
        told.append({"fault": fault, "text": text, "line": line})
    return told


def _armed_cost(rounds: int) -> float:
    step, x = compiled_step(Net(map(Block, given.WIDE_WEIGHTS))), Tensor(given.WIDE_BATCH)

    def armed():
        with ms.debug.find_nan():
            looked_at(step(x))

    return given.ratio(lambda: looked_at(step(x)), armed, rounds)


def nan_in_forward(rounds: int) -> dict:
    told = _found(given.FORWARD, False)
    return {"told": told, "cost": _armed_cost(rounds), "file": FILE, "note": "ms.debug.find_nan()"}


def nan_in_reverse(rounds: int) -> dict:
    told = _found(given.REVERSE, True)
    return {"told": told, "cost": _armed_cost(rounds), "file": FILE, "note": "ms.debug.find_nan()"}


class Custom(nn.Cell):
    """The identity; its reverse does not take large gradients."""

    def construct(self, x):
        return x * 1.0

    def bprop(self, x, out, dout):
        refuse(dout)
        return (dout,)


def refuse(gradient) -> None:
    """Raise if it is large."""
    if float(ops.abs(gradient).max()) > 100:
        raise RuntimeError("raised on purpose")


class Calling(nn.Cell):
    """Calls a Cell on a line that is known."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


def exception_in_hook(rounds: int) -> dict:
    told = []
    line = Calling.construct.__code__.co_firstlineno + 1
    for fault in ("a hook", "a custom reverse"):
        net = Calling(Custom() if fault == "a custom reverse" else nn.ReLU())
        if fault == "a hook":
            net.inner.register_backward_hook(lambda cell, into, out: refuse(into[0]))
        step = ms.jit(ms.grad(lambda x, net=net: ops.square(net(x)).sum()))
        calls, text = 0, ""
        try:
            for scale in (1.0, 2.0, 3.0, 1000.0):
                step(Tensor(np.full(4, scale, np.float32))).asnumpy()
                calls += 1
        except RuntimeError as error:
            text = "\n".join([str(error), *error.__notes__])
        told.append({"fault": fault, "text": text, "line": line, "calls": calls})
    return {"told": told, "note": "notes of the exception"}


def _recorded_chain(wrong: int, folder: str) -> str:
    constants = [given.WRONG if number == wrong else 1.0 for number in range(given.CHAIN)]
    step = ms.jit(lambda x: chain(x, constants))
    with ms.debug.record_steps(1, os.path.join(folder, str(wrong))) as recorded:
        for _ in range(3):
            step(Tensor(given.CHAIN_INPUT))
        return recorded.write()[0]


def first_difference(rounds: int) -> dict:
    from mycel.cli.main import main as command

    told, first = [], chain.__code__.co_firstlineno + 2
    with tempfile.TemporaryDirectory() as folder:
        right = _recorded_chain(-1, folder)
        for wrong in range(given.CHAIN):
            output = given.io.StringIO()
            with contextlib.redirect_stdout(output):
                command(["replay", right, "--against", _recorded_chain(wrong, folder)])
            told.append({"fault": str(wrong), "text": output.getvalue(), "line": first + wrong})
    step = ms.jit(lambda x: chain(x, [1.0] * given.CHAIN))
    x = Tensor(given.CHAIN_INPUT)

    def recorded():
        with ms.debug.record_steps(1):
            step(x).asnumpy()

    cost = given.ratio(lambda: step(x).asnumpy(), recorded, rounds, 20)
    note = "record_steps, `mycel replay a --against b`; the cost is that of recording"
    return {"told": told, "cost": cost, "file": FILE, "note": note}


def breakpoint_in_reverse(rounds: int) -> dict:
    net, stops = three(), []

    def stop(cell, into, out):
        gradient = into[0]  # noqa: F841
        breakpoint()

    def debugger():
        stops.append(sys._getframe(1).f_locals["gradient"].asnumpy().tolist())

    net.blocks[given.MIDDLE].register_backward_hook(stop)
    step = compiled_step(net)
    hook, sys.breakpointhook = sys.breakpointhook, debugger
    try:
        replays = ms.debug.ledger().counts.replays
        for x in BATCHES[:5]:
            step(x)
        replays = ms.debug.ledger().counts.replays - replays
    finally:
        sys.breakpointhook = hook
    note = f"breakpoint() in a backward hook; {replays} of 5 calls replayed"
    return {"stops": stops, "calls": 5, "note": note}


def _wide(hooked: list | None):
    """A compiled training step of the wide blocks, and its first values of observers."""
    net = Net(map(Block, given.WIDE_WEIGHTS))
    handles = []
    if hooked is not None:
        handles = [
            block.register_forward_hook(lambda cell, inputs, out: hooked.append(out.mean()))
            for block in net.blocks
        ]
    optimizer = nn.SGD(net.trainable_params(), given.RATE)
    derivative = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    return step, handles


def observers(rounds: int) -> dict:
    kept: list = []
    (plain, _), (observed, _) = _wide(None), _wide(kept)
    x = Tensor(given.WIDE_BATCH)
    without = given.bits([float(plain(x)) for _ in range(given.STEPS)])
    losses = given.bits([float(observed(x)) for _ in range(given.STEPS)])
    seen = [float(value) for value in kept[: given.OBSERVED]]

    def once():
        looked_at(observed(x))
        kept.clear()

    cost = given.ratio(lambda: looked_at(plain(x)), once, rounds)
    note = "register_forward_hook on each"
    return {"plain": without, "observed": losses, "seen": seen, "cost": cost, "note": note}


def order(rounds: int) -> dict:
    events, net = given.Events(), three()
    append = ms.every_call(lambda number, value: events.append(number, value))

    @ms.jit
    def step(x):
        for number, block in enumerate(net.blocks):
            x = block(x)
            print("print", number, x.mean())
            append(number, x.mean())
        return x

    with given.printed(events):
        for x in BATCHES[:4]:
            step(x)
    note = "print in the step; append in an `every_call`"
    return {"events": events.found, "calls": 4, "note": note}


INDEXED = {
    "indexing": lambda table, i: table[i],
    "embedding": lambda table, i: ops.embedding(i, table),
    "gather": lambda table, i: ops.gather_elements(table, 0, i.reshape(3, 1)),
}


def index_out_of_range(rounds: int) -> dict:
    told = []
    for fault, function in INDEXED.items():
        step = ms.jit(lambda table, i, function=function: function(table, i).sum())
        text = ""
        for _ in range(given.GOOD_STEPS):
            looked_at(step(Tensor(given.TABLE), Tensor(given.INSIDE)))
        try:
            looked_at(step(Tensor(given.TABLE), Tensor(given.OUTSIDE)))
        except IndexError as error:
            text = f"{error} {' '.join(getattr(error, '__notes__', ()))}"
        told.append({"fault": fault, "text": text, "line": function.__code__.co_firstlineno})
    return {"told": told, "note": "IndexError; check_indices is on by default"}


def recompilation_cause(rounds: int) -> dict:
    scaled = ms.jit(lambda x, factor: x * factor)
    ledger = ms.debug.ledger()
    for _ in range(4):
        scaled(Tensor(np.ones((4, 2), np.float32)), 2.0)
    told = {}
    changes = {
        "shape": (np.ones((5, 2), np.float32), 2.0),
        "type": (np.ones((4, 2), np.float16), 2.0),
        "argument": (np.ones((4, 2), np.float32), 3.0),
    }
    for name, (x, factor) in changes.items():
        ledger.reset()
        for _ in range(4):
            scaled(Tensor(x), factor)
        told[name] = "; ".join(line.what for line in ledger.lines)
    return {"told": told, "note": "ms.debug.ledger()"}


class Counting:
    """A step with Python state."""

    def __init__(self):
        self.net = three()
        self.steps, self.history = 0, []
        self.step = ms.jit(self.run)

    def run(self, x):
        self.steps += 1
        loss = ops.square(self.net(x)).mean()
        self.history.append(loss)
        return loss


def python_state(rounds: int) -> dict:
    counting = Counting()
    for x in BATCHES[:6]:
        counting.step(x)
    history = [float(loss) for loss in counting.history]
    note = "runs uncompiled, which the ledger says"
    return {"steps": counting.steps, "history": history, "calls": 6, "note": note}


REPLAY = """
import sys, numpy as np
from mycel.debug.replaying import RecordedStep
step = RecordedStep(sys.argv[1])
for record, made in zip(step.records, step.run("graph")):
    for slot in record.live:
        print(*np.asarray(made[slot]).ravel())
"""


def replay_elsewhere(rounds: int) -> dict:
    w = Parameter(Tensor(np.ones(4, np.float32)), name="w")
    optimizer = nn.SGD([w], given.RATE)

    def forward(x):
        rows = ops.log(x * w).sum(1)
        return rows.sum(), rows

    derivative = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    @ms.jit
    def step(x):
        (_, rows), gradients = derivative(x)
        optimizer(gradients)
        return rows

    def one(value):
        w.set_data(Tensor(np.ones(4, np.float32)))
        return step(Tensor(given.faulty_batch(value))).asnumpy()

    with tempfile.TemporaryDirectory() as folder:
        caught = contextlib.suppress(FloatingPointError)
        with caught, ms.debug.record_steps(1, folder) as recorded, ms.debug.find_nan():
            for value in (given.GOOD,) * 4 + (-1.0,):
                one(value)
        replay = [sys.executable, "-c", REPLAY, recorded.written[0]]
        told = subprocess.run(replay, capture_output=True, text=True, check=True).stdout
    numbers = [[float(one) for one in line.split()] for line in told.splitlines()]
    nan = [line for line in numbers if np.isnan(line).any()]
    rest = [line for line in numbers if len(line) == 4 and not np.isnan(line).any()]
    note = "record_steps and find_nan; `mycel replay` in another process"
    return {"rows": nan[0], "weight": rest[0], "note": note}


def detaching(rounds: int) -> dict:
    net, kept = Net(map(Block, given.WIDE_WEIGHTS)), []
    step, x = compiled_step(net), Tensor(given.WIDE_BATCH)
    plain, counts = compiled_step(Net(map(Block, given.WIDE_WEIGHTS))), ms.debug.ledger().counts
    before = [float(step(x)[0]) for _ in range(5)][-1]
    handles = [
        block.register_forward_hook(lambda cell, inputs, out: kept.append(out.mean()))
        for block in net.blocks
    ]
    for _ in range(5):
        step(x)
    for handle in handles:
        handle.remove()
    compilations = counts.compilations
    after = [float(step(x)[0]) for _ in range(5)][-1]
    compilations = counts.compilations - compilations
    cost = given.ratio(lambda: looked_at(plain(x)), lambda: looked_at(step(x)), rounds)
    return {
        "before": given.bits([before]), "after": given.bits([after]),
        "compilations": compilations, "cost": cost, "seen": len(kept),
        "note": "handle.remove()",
    }  # fmt: skip
