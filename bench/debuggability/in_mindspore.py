# SPDX-License-Identifier: Apache-2.0
"""The fifteen programs in MindSpore: `jit` and graph mode on CPU; where compiled code tells too
little, a second run in PyNative mode.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import traceback

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from bench.debuggability import material as given
from bench.debuggability.faults_mindspore import FAULTS

FILE = "faults_mindspore.py"


def version() -> str:
    """Of the framework."""
    return f"MindSpore {ms.__version__}"


def identity(x):
    """The same."""
    return x


class Block(nn.Cell):
    """tanh(f(x) · w); f may be an operator with a hook."""

    def __init__(self, weight, before=identity):
        super().__init__()
        self.before = before
        self.w = Parameter(Tensor(weight), name="w")

    def construct(self, x):
        return ops.tanh(ops.matmul(self.before(x), self.w))


class Net(nn.Cell):
    """Blocks, one after the other."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.CellList(list(blocks))

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def three(before=identity) -> Net:
    """Three blocks; the one in the middle with a function of what it is given."""
    return Net(
        Block(weight, before if number == given.MIDDLE else identity)
        for number, weight in enumerate(given.WEIGHTS)
    )


def derivative_of(net):
    """The loss and the gradients of all weights."""

    def forward(x):
        return ops.square(net(x)).mean()

    return ms.value_and_grad(forward, None, net.trainable_params())


def compiled_step(net):
    """The same, compiled."""
    derivative = derivative_of(net)

    @ms.jit
    def step(x):
        return derivative(x)

    return step


def looked_at(results) -> None:
    """Wait for results."""
    results[0].asnumpy()


BATCHES = [Tensor(x) for x in given.BATCHES]
NOW: list = []


def look(cell, inputs, output):
    """Keep the mean."""
    NOW.append(output.mean())


def hook_added(rounds: int) -> dict:
    net, seen, handle = three(), [], None
    step = compiled_step(net)
    for call, x in enumerate(BATCHES[:9]):
        NOW.clear()
        if call == 3:
            handle = net.blocks[given.MIDDLE].register_forward_hook(look)
        if call == 6:
            handle.remove()
        looked_at(step(x))
        seen.append([float(value) for value in NOW])
    return {"seen": seen, "note": "register_forward_hook; its documents want it before compiling"}


def halve(gradient):
    """The half."""
    return gradient * 0.5


def gradient_hook(rounds: int) -> dict:
    plain, step = compiled_step(three()), compiled_step(three(ops.InsertGradientOf(halve)))
    found = [[g.asnumpy().tolist() for g in step(x)[1]] for x in BATCHES[:6]]
    x = BATCHES[0]
    cost = given.ratio(lambda: looked_at(plain(x)), lambda: looked_at(step(x)), rounds)
    note = "InsertGradientOf in the network; a register_backward_hook is ignored in jit"
    return {"gradients": found, "cost": cost, "note": note}


class Residual(nn.Cell):
    """x + tanh(x · a) · b + added."""

    def __init__(self, first, second, edited: bool):
        super().__init__()
        self.first = Parameter(Tensor(first), name="first")
        self.second = Parameter(Tensor(second), name="second")
        self.edited = edited
        zeros = np.zeros((given.TOKENS, given.HIDDEN), np.float32)
        self.added = Parameter(Tensor(zeros), name="added", requires_grad=False)

    def construct(self, x):
        x = x + ops.matmul(ops.tanh(ops.matmul(x, self.first)), self.second)
        if self.edited:
            x = x + self.added
        return x


class Sum(nn.Cell):
    """The sum of what a network gives."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return self.net(x).sum()


def interventions(rounds: int) -> dict:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net(Residual(*pair, True) for pair in given.STACK)
    predict = Sum(net)
    plain = Sum(Net(Residual(*pair, False) for pair in given.STACK))
    x, every = Tensor(given.PROMPT), given.interventions(rounds)
    zeros = Tensor(np.zeros((given.TOKENS, given.HIDDEN), np.float32))

    def intervened(layer, position, vector, strength):
        added = np.zeros(zeros.shape, np.float32)
        added[position] = vector * strength
        net.blocks[layer].added.set_data(Tensor(added))
        result = float(predict(x))
        net.blocks[layer].added.set_data(zeros)
        return result

    intervened(*every[0])
    before = len(predict.compile_cache)
    results = [intervened(*one) for one in every]
    recompilations = len(predict.compile_cache) - before
    turns = itertools.cycle(every)
    cost = given.ratio(lambda: float(plain(x)), lambda: intervened(*next(turns)), rounds, 20)
    note = "by hand: a Parameter that each block adds, which is set"
    return {"results": results, "recompilations": recompilations, "cost": cost, "note": note}


def line_of(function) -> int:
    """The line below its head."""
    return function.__code__.co_firstlineno + 1


class Faulty(nn.Cell):
    """A function of x · w."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.w = Parameter(Tensor(np.ones(4, np.float32)), name="w")

    def construct(self, x):
        return self.function(x * self.w)


def times_one(x):
    return x * 1.0


def plus_zero(x):
    return x + 0.0


def _hooked(net, kind: str) -> None:
    """Hooks that raise at the first Cell that gives, or sends back, what is not finite."""
    for path, cell in net.cells_and_names():

        def check(cell, given_to_it, given_by_it, path=path):
            value = given_by_it[0] if isinstance(given_by_it, tuple) else given_by_it
            if not np.isfinite(value.asnumpy()).all():
                raise FloatingPointError(f"in {path}")

        getattr(cell, f"register_{kind}_hook")(check)


def _found(faults: dict, kind: str) -> list[dict]:
    told = []
    for fault, value in faults.items():
        net = Net(map(Faulty, [times_one, FAULTS[fault], plus_zero]))
        step, text = compiled_step(net), ""
        for _ in range(given.GOOD_STEPS):
            looked_at(step(Tensor(given.faulty_batch())))
        loss, gradients = step(Tensor(given.faulty_batch(value)))
        if not all(np.isfinite(one.asnumpy()).all() for one in (loss, *gradients)):
            _hooked(net, kind)
            try:
                derivative_of(net)(Tensor(given.faulty_batch(value)))
            except Exception:
                text = traceback.format_exc()
        told.append({"fault": fault, "text": text, "line": line_of(FAULTS[fault])})
    return told


def nan_in_forward(rounds: int) -> dict:
    note = "by hand: a look at the results, then PyNative with hooks; dump is not for CPU"
    return {"told": _found(given.FORWARD, "forward"), "file": FILE, "note": note}


def nan_in_reverse(rounds: int) -> dict:
    note = "by hand: a look at the results, then PyNative with hooks; dump is not for CPU"
    return {"told": _found(given.REVERSE, "backward"), "file": FILE, "note": note}


def refuse(gradient):
    """Raise if it is large."""
    if gradient.max() > 100:
        raise RuntimeError("raised on purpose")
    return gradient


class Custom(nn.Cell):
    """The identity; its reverse does not take large gradients."""

    def construct(self, x):
        return x * 1.0

    def bprop(self, x, out, dout):
        return (refuse(dout),)


class Calling(nn.Cell):
    """Calls a Cell on a line that is known."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


def refusing(inner):
    """A compiled derivative of a function that calls a Cell or an operator."""
    net = Calling(inner)

    def forward(x):
        return ops.square(net(x)).sum()

    gradient = ms.grad(forward)

    @ms.jit
    def step(x):
        return gradient(x)

    return step


def exception_in_hook(rounds: int) -> dict:
    told = []
    line = line_of(Calling.construct)
    for fault, inner in (("a hook", ops.InsertGradientOf(refuse)), ("a custom reverse", Custom())):
        step, calls, text = refusing(inner), 0, ""
        try:
            for scale in (1.0, 2.0, 3.0, 1000.0):
                step(Tensor(np.full(4, scale, np.float32))).asnumpy()
                calls += 1
        except Exception:
            text = traceback.format_exc()
        told.append({"fault": fault, "text": text, "line": line, "calls": calls})
    return {"told": told, "note": "`raise` in InsertGradientOf and in a bprop"}


def first_difference(rounds: int) -> dict:
    raise given.NoWay("dump is not for CPU, and hooks see Cells, not operators")


def stopping(gradient):
    """Stops in the debugger."""
    breakpoint()
    return gradient


def breakpoint_in_reverse(rounds: int) -> dict:
    stops: list = []

    def debugger():
        gradient = sys._getframe(1).f_locals.get("gradient")
        stops.append(None if gradient is None else gradient.asnumpy().tolist())

    sys.breakpointhook = debugger
    step = compiled_step(three(ops.InsertGradientOf(stopping)))
    for x in BATCHES[:5]:
        looked_at(step(x))
    return {"stops": stops, "calls": 5, "note": "breakpoint() in InsertGradientOf"}


class Observed(nn.Cell):
    """A block that assigns the mean of what it gives to a Parameter."""

    def __init__(self, weight):
        super().__init__()
        self.inner = Block(weight)
        self.mean = Parameter(Tensor(np.float32(0)), name="mean", requires_grad=False)

    def construct(self, x):
        x = self.inner(x)
        ops.assign(self.mean, x.mean())
        return x


def _wide(block):
    """A compiled training step of the wide blocks."""
    net = Net(map(block, given.WIDE_WEIGHTS))
    derivative = derivative_of(net)
    optimizer = nn.SGD(net.trainable_params(), given.RATE)

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    return step, net


def observers(rounds: int) -> dict:
    (plain, _), (observed, net) = _wide(Block), _wide(Observed)
    x = Tensor(given.WIDE_BATCH)
    without = given.bits([float(plain(x)) for _ in range(given.STEPS)])
    losses, seen = [], []
    for _ in range(given.STEPS):
        losses.append(float(observed(x)))
        seen.append([float(block.mean) for block in net.blocks])
    cost = given.ratio(lambda: float(plain(x)), lambda: float(observed(x)), rounds)
    note = "by hand: blocks that assign to a Parameter; what hooks append in jit is lost"
    return {
        "plain": without, "observed": given.bits(losses), "seen": seen[0], "cost": cost,
        "note": note,
    }  # fmt: skip


APPENDED: list = []


def order(rounds: int) -> dict:
    net = three()

    @ms.jit
    def step(x):
        for number, block in enumerate(net.blocks):
            x = block(x)
            print("print", number, x.mean())
            APPENDED.append(x.mean())
        return x

    with tempfile.TemporaryFile("w+") as file:
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        for x in BATCHES[:4]:
            step(x).asnumpy()
        os.dup2(before, 1)
        file.seek(0)
        words = [word for word in file.read().split() if word != "print"]
    events = [
        ["print", float(n), float(v)] for n, v in zip(words[::2], words[1::2], strict=False)
    ]  # fmt: skip
    appended = [["append", -1.0, float(value)] for value in APPENDED]
    note = f"{len(events)} prints, {len(appended)} appends; a list outside is constant in jit"
    return {"events": events + appended, "calls": 4, "note": note}


def indexing(table, i):
    return table[i]


def embedding(table, i):
    return ops.gather(table, i, 0)


def gather(table, i):
    return ops.gather_elements(table, 0, i.reshape(3, 1))


def index_out_of_range(rounds: int) -> dict:
    told, table = [], Tensor(given.TABLE)
    inside, outside = Tensor(given.INSIDE), Tensor(given.OUTSIDE)
    ms.set_context(pynative_synchronize=True)
    for function in (indexing, embedding, gather):
        step, text = ms.jit(function), ""
        for _ in range(given.GOOD_STEPS):
            step(table, inside).asnumpy()
        try:
            step(table, outside).asnumpy()
        except Exception as error:
            text = str(error)
            try:
                function(table, outside).asnumpy()
            except Exception:
                text += traceback.format_exc()
        told.append({"fault": function.__name__, "text": text, "line": line_of(function)})
    note = "the compiled call raises; the line is by a run in PyNative mode, synchronous"
    return {"told": told, "note": note}


def recompilation_cause(rounds: int) -> dict:
    @ms.jit
    def scaled(x, factor):
        return x * factor

    scaled(Tensor(np.ones((4, 2), np.float32)), 2.0)
    told = {}
    changes = {
        "shape": (np.ones((5, 2), np.float32), 2.0),
        "type": (np.ones((4, 2), np.float16), 2.0),
        "argument": (np.ones((4, 2), np.float32), 3.0),
    }
    for name, (x, factor) in changes.items():
        with given.Told() as written:
            scaled(Tensor(x), factor)
        told[name] = written.text
    return {"told": told, "note": "nothing is written; the log says only that it compiled"}


class Counting(nn.Cell):
    """A step with Python state."""

    def __init__(self):
        super().__init__()
        self.net = three()
        self.steps, self.history = 0, []

    @ms.jit
    def construct(self, x):
        self.steps += 1
        loss = ops.square(self.net(x)).mean()
        self.history.append(loss)
        return loss


def python_state(rounds: int) -> dict:
    counting = Counting()
    for x in BATCHES[:6]:
        counting(x)
    history = [float(loss) for loss in counting.history]
    return {"steps": int(counting.steps), "history": history, "calls": 6, "note": "silently"}


class Rows(nn.Cell):
    """The sums of the rows of log(x · w)."""

    def construct(self, w, x):
        return ops.log(x * w).sum(1)


class Updated(nn.Cell):
    """The rows, and the weights after a step."""

    def __init__(self):
        super().__init__()
        self.rows = Rows()
        self.gradient = ops.GradOperation()

    def construct(self, w, x):
        return self.rows(w, x), w - given.RATE * self.gradient(self.rows)(w, x)


REPLAY = """
import sys, mindspore as ms, numpy as np
net = ms.nn.GraphCell(ms.load(sys.argv[1] + ".mindir"))
inputs = np.load(sys.argv[1] + ".npz")
for value in net(ms.Tensor(inputs["w"]), ms.Tensor(inputs["x"])):
    print(*value.asnumpy().tolist())
"""


def replay_elsewhere(rounds: int) -> dict:
    ms.set_context(mode=ms.GRAPH_MODE)
    step, w = Updated(), np.ones(4, np.float32)
    for value in (given.GOOD,) * given.GOOD_STEPS + (-1.0,):
        x = given.faulty_batch(value)
        if np.isfinite(step(Tensor(w), Tensor(x))[0].asnumpy()).all():
            continue
        path = os.path.join(tempfile.mkdtemp(dir=os.getcwd()), "step")
        ms.export(step, Tensor(w), Tensor(x), file_name=path, file_format="MINDIR")
        np.savez(path + ".npz", w=w, x=x)
        replay = [sys.executable, "-c", REPLAY, path]
        told = subprocess.run(replay, capture_output=True, text=True, check=True).stdout
    rows, weight = ([float(n) for n in line.split()] for line in told.splitlines()[-2:])
    note = "by hand: ms.export of a step without Parameters, numpy.savez"
    return {"rows": rows, "weight": weight, "note": note}


def detaching(rounds: int) -> dict:
    net = Net(map(Block, given.WIDE_WEIGHTS))
    step, x = compiled_step(net), Tensor(given.WIDE_BATCH)
    before = [float(step(x)[0]) for _ in range(5)][-1]
    NOW.clear()
    handles = [block.register_forward_hook(look) for block in net.blocks]
    for _ in range(5):
        looked_at(step(x))
    for handle in handles:
        handle.remove()
    after = [float(step(x)[0]) for _ in range(5)][-1]
    return {
        "before": given.bits([before]), "after": given.bits([after]), "compilations": 0,
        "seen": len(NOW), "note": "register_forward_hook behind the first compiled call",
    }  # fmt: skip
