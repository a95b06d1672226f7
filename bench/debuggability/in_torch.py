# SPDX-License-Identifier: Apache-2.0
"""The fifteen programs in PyTorch: `torch.compile`, hooks of modules with guards on them, anomaly
mode, TORCH_LOGS, `torch.export`, and a second run in eager mode where the compiled one says too
little.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import traceback
import warnings

import torch
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.module_tracker import ModuleTracker

from bench.debuggability import material as given
from bench.debuggability.faults_torch import FAULTS, Chain

# As the documents advise for hooks that come and go behind the first compiled call.
torch._dynamo.config.skip_nnmodule_hook_guards = False
FILE = "faults_torch.py"


def version() -> str:
    """Of the framework."""
    return f"PyTorch {torch.__version__}"


class Block(torch.nn.Module):
    """tanh(x · w)."""

    def __init__(self, weight):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(weight))

    def forward(self, x):
        return torch.tanh(x @ self.w)


class Net(torch.nn.Module):
    """Blocks, one after the other."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = torch.nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def three() -> Net:
    """Three blocks."""
    return Net(map(Block, given.WEIGHTS))


def compiled_step(net):
    """The loss, with the gradients in the Parameters; the forward is compiled, and its reverse."""
    forward = torch.compile(lambda x: net(x).square().mean())

    def step(x):
        net.zero_grad(set_to_none=True)
        loss = forward(x)
        loss.backward()
        return loss

    return step


def compilations() -> int:
    """How many graphs were compiled so far."""
    return counters["stats"]["unique_graphs"]


BATCHES = [torch.tensor(x) for x in given.BATCHES]


def hook_added(rounds: int) -> dict:
    net, seen, now = three(), [], []
    step = compiled_step(net)

    def look(module, inputs, output):
        now.append(output.detach().mean())

    handle = None
    for call, x in enumerate(BATCHES[:9]):
        now.clear()
        if call == 3:
            handle = net.blocks[given.MIDDLE].register_forward_hook(look)
        if call == 6:
            handle.remove()
        step(x)
        seen.append([float(value) for value in now])
    other = three()
    other.blocks[given.MIDDLE].register_forward_hook(look)
    observed = compiled_step(other)
    cost = given.ratio(lambda: float(step(BATCHES[0])), lambda: float(observed(BATCHES[0])), rounds)
    note = "with skip_nnmodule_hook_guards = False; by default the hook is ignored"
    return {"seen": seen, "cost": cost, "note": note}


def gradient_hook(rounds: int) -> dict:
    net, plain = three(), compiled_step(three())
    net.blocks[given.MIDDLE].register_full_backward_hook(lambda m, into, out: (into[0] * 0.5,))
    step, found = compiled_step(net), []
    for x in BATCHES[:6]:
        step(x)
        found.append([weight.grad.tolist() for weight in net.parameters()])
    x = BATCHES[0]
    cost = given.ratio(lambda: float(plain(x)), lambda: float(step(x)), rounds)
    return {"gradients": found, "cost": cost, "note": "register_full_backward_hook"}


class Residual(torch.nn.Module):
    """x + tanh(x · a) · b."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = (
            torch.nn.Parameter(torch.tensor(value)) for value in (first, second)
        )

    def forward(self, x):
        return x + torch.tanh(x @ self.first) @ self.second


def interventions(rounds: int) -> dict:
    """What is added is a buffer of each block, so that it is an input of the program."""
    net, other = (Net(Residual(*pair) for pair in given.STACK) for _ in range(2))
    for block in net.blocks:
        block.register_buffer("added", torch.zeros(given.TOKENS, given.HIDDEN))
        block.register_forward_hook(lambda module, inputs, output: output + module.added)
    predict, plain = (torch.compile(lambda x, n=n: n(x).sum()) for n in (net, other))
    x, every = torch.tensor(given.PROMPT), given.interventions(rounds)

    @torch.no_grad()
    def intervened(layer, position, vector, strength):
        row = net.blocks[layer].added[position]
        row.copy_(torch.from_numpy(vector) * strength)
        result = float(predict(x))
        row.zero_()
        return result

    @torch.no_grad()
    def apart():
        return float(plain(x))

    intervened(*every[0])
    before = compilations()
    results = [intervened(*one) for one in every]
    recompilations = compilations() - before
    turns = itertools.cycle(every)
    cost = given.ratio(apart, lambda: intervened(*next(turns)), rounds, 20)
    note = "by hand: hooks that add a buffer, which is filled"
    return {"results": results, "recompilations": recompilations, "cost": cost, "note": note}


class Faulty(torch.nn.Module):
    """A function of x · w."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.w = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.function(x * self.w)


def faulty_net(fault: str) -> Net:
    """Three blocks; the one in the middle has the fault."""
    return Net(map(Faulty, [lambda x: x * 1.0, FAULTS[fault], lambda x: x + 0.0]))


class Finite(TorchDispatchMode):
    """Raises at the first operator whose result is not finite, and says in which module."""

    def __init__(self, tracker):
        super().__init__()
        self.tracker = tracker

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        # A mask of literal infinities is meant.
        looked_at = "masked_fill" not in str(function) and torch.is_tensor(result)
        if looked_at and result.is_floating_point() and not result.isfinite().all():
            raise FloatingPointError(f"{function} in {max(self.tracker.parents, key=len)}")
        return result


def nan_in_forward(rounds: int) -> dict:
    told = []
    for fault, value in given.FORWARD.items():
        torch._dynamo.reset()
        net, text = faulty_net(fault), ""
        forward = torch.compile(lambda x, net=net: net(x).mean())
        for _ in range(given.GOOD_STEPS):
            assert forward(torch.tensor(given.faulty_batch())).isfinite()
        x = torch.tensor(given.faulty_batch(value))
        if not forward(x).isfinite():
            try:
                eager = torch.compiler.set_stance("force_eager")
                with eager, ModuleTracker() as tracker, Finite(tracker):
                    forward(x)
            except FloatingPointError:
                text = traceback.format_exc()
        told.append({"fault": fault, "text": text, "line": FAULTS[fault].__code__.co_firstlineno})
    note = "by hand: a look at the loss, then eager with a TorchDispatchMode and ModuleTracker"
    return {"told": told, "file": FILE, "note": note}


def nan_in_reverse(rounds: int) -> dict:
    told = []
    for fault, value in given.REVERSE.items():
        net, text = faulty_net(fault), ""
        forward = torch.compile(lambda x, net=net: net(x).mean())

        def step(x, net=net, forward=forward):
            net.zero_grad()
            forward(x).backward()
            return all(weight.grad.isfinite().all() for weight in net.parameters())

        for _ in range(given.GOOD_STEPS):
            assert step(torch.tensor(given.faulty_batch()))
        if not step(torch.tensor(given.faulty_batch(value))):
            text = _anomaly(lambda value=value, step=step: step(
                torch.tensor(given.faulty_batch(value))
            ))  # fmt: skip
        told.append({"fault": fault, "text": text, "line": FAULTS[fault].__code__.co_firstlineno})
    note = "detect_anomaly in a second run in eager mode; it looks for NaN, not for infinities"
    return {"told": told, "file": FILE, "note": note}


def _anomaly(run, stance: str = "force_eager") -> str:
    """What anomaly mode tells of a run; nothing if it does not raise."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with torch.compiler.set_stance(stance), torch.autograd.detect_anomaly():
                run()
        except RuntimeError:
            return "\n".join([traceback.format_exc(), *[str(one.message) for one in caught]])
    return ""


class Custom(torch.autograd.Function):
    """The identity; its reverse does not take large gradients."""

    @staticmethod
    def forward(context, x):
        return x * 1.0

    @staticmethod
    def backward(context, gradient):
        refuse(gradient)
        return gradient


def refuse(gradient) -> None:
    """Raise if it is large."""
    if gradient.abs().max() > 100:
        raise RuntimeError("raised on purpose")


class Calling(torch.nn.Module):
    """Calls a function on a line that is known."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


def exception_in_hook(rounds: int) -> dict:
    told = []
    line = Calling.forward.__code__.co_firstlineno + 1
    for fault in ("a hook", "a custom reverse"):
        net = Calling(Custom.apply if fault == "a custom reverse" else torch.nn.ReLU())
        if fault == "a hook":
            net.inner.register_full_backward_hook(lambda module, into, out: refuse(out[0]))
        forward = torch.compile(lambda x, net=net: net(x).square().sum())
        calls, text = 0, ""

        def step(scale, forward=forward):
            forward(torch.full((4,), scale, requires_grad=True)).backward()

        try:
            for scale in (1.0, 2.0, 3.0, 1000.0):
                step(scale)
                calls += 1
        except RuntimeError:
            text = traceback.format_exc()
            text += _anomaly(lambda step=step: step(1000.0), "default")
        told.append({"fault": fault, "text": text, "line": line, "calls": calls})
    return {"told": told, "note": "detect_anomaly in a second run"}


class Keeping(torch.fx.Interpreter):
    """Keeps what each node gives."""

    def run_node(self, node):
        result = super().run_node(node)
        self.kept = [*getattr(self, "kept", []), (node, result)]
        return result


def first_difference(rounds: int) -> dict:
    told, first = [], Chain.forward.__code__.co_firstlineno + 2
    x = torch.tensor(given.CHAIN_INPUT)

    def kept(wrong):
        factors = [given.WRONG if number == wrong else 1.0 for number in range(given.CHAIN)]
        interpreter = Keeping(torch.export.export(Chain(factors), (x,)).module())
        interpreter.run(x)
        return interpreter.kept

    right = kept(-1)
    for wrong in range(given.CHAIN):
        text = ""
        for (node, a), (_, b) in zip(right, kept(wrong), strict=True):
            if torch.is_tensor(a) and not torch.allclose(a, b, 1e-4, 1e-6):
                text = node.meta["stack_trace"]
                break
        told.append({"fault": str(wrong), "text": text, "line": first + wrong})
    return {
        "told": told,
        "file": FILE,
        "note": "by hand: torch.export, which keeps the lines of a forward, and an fx.Interpreter",
    }


def breakpoint_in_reverse(rounds: int) -> dict:
    net, stops = three(), []

    def stop(module, into, out):
        gradient = out[0]  # noqa: F841
        breakpoint()

    def debugger():
        stops.append(sys._getframe(1).f_locals["gradient"].tolist())

    sys.breakpointhook = debugger
    net.blocks[given.MIDDLE].register_full_backward_hook(stop)
    step = compiled_step(net)
    for x in BATCHES[:5]:
        step(x)
    note = "breakpoint() in a full backward hook, which breaks the graph"
    return {"stops": stops, "calls": 5, "note": note}


def _wide(kept: list | None):
    """A training step of the wide blocks."""
    net = Net(map(Block, given.WIDE_WEIGHTS))
    if kept is not None:
        for block in net.blocks:
            block.register_forward_hook(lambda m, inputs, out: kept.append(out.detach().mean()))
    optimizer, derivative = torch.optim.SGD(net.parameters(), given.RATE), compiled_step(net)

    def step(x):
        loss = derivative(x)
        optimizer.step()
        return loss

    return step, net


def observers(rounds: int) -> dict:
    kept: list = []
    (plain, _), (observed, _) = _wide(None), _wide(kept)
    x = torch.tensor(given.WIDE_BATCH)
    without = given.bits([float(plain(x)) for _ in range(given.STEPS)])
    losses = given.bits([float(observed(x)) for _ in range(given.STEPS)])
    seen = [float(value) for value in kept[: given.OBSERVED]]

    def once():
        float(observed(x))
        kept.clear()

    cost = given.ratio(lambda: float(plain(x)), once, rounds)
    note = "register_forward_hook on each"
    return {"plain": without, "observed": losses, "seen": seen, "cost": cost, "note": note}


def order(rounds: int) -> dict:
    events, net = given.Events(), three()

    @torch.compile
    def step(x):
        for number, block in enumerate(net.blocks):
            x = block(x)
            print("print", number, float(x.mean()))
            events.append(number, x.mean())
        return x

    with given.printed(events), torch.no_grad():
        for x in BATCHES[:4]:
            step(x)
    return {"events": events.found, "calls": 4, "note": "the prints break the graph"}


INDEXED = {
    "indexing": lambda table, i: table[i],
    "embedding": lambda table, i: torch.nn.functional.embedding(i, table),
    "gather": lambda table, i: torch.gather(table, 0, i.reshape(3, 1)),
}


def index_out_of_range(rounds: int) -> dict:
    told, table = [], torch.tensor(given.TABLE)
    inside, outside = (torch.tensor(i).long() for i in (given.INSIDE, given.OUTSIDE))
    for fault, function in INDEXED.items():
        step = torch.compile(lambda table, i, function=function: function(table, i).sum())
        text = ""
        for _ in range(given.GOOD_STEPS):
            float(step(table, inside))
        try:
            float(step(table, outside))
        except (IndexError, RuntimeError, AssertionError) as error:
            text = str(error)
            try:
                with torch.compiler.set_stance("force_eager"):
                    step(table, outside)
            except (IndexError, RuntimeError):
                text += traceback.format_exc()
        told.append({"fault": fault, "text": text, "line": function.__code__.co_firstlineno})
    return {"told": told, "note": "the compiled call raises; the line is by a run in eager mode"}


def recompilation_cause(rounds: int) -> dict:
    scaled = torch.compile(lambda x, factor: x * factor)
    torch._logging.set_logs(recompiles=True)
    scaled(torch.ones(4, 2), 2.0)
    told = {}
    changes = {
        "shape": (torch.ones(5, 2), 2.0),
        "type": (torch.ones(4, 2, dtype=torch.float16), 2.0),
        "argument": (torch.ones(4, 2), 3.0),
    }
    for name, (x, factor) in changes.items():
        with given.Told() as written:
            scaled(x, factor)
        told[name] = written.text
    return {"told": told, "note": "TORCH_LOGS=recompiles"}


class Counting:
    """A step with Python state."""

    def __init__(self):
        self.net = three()
        self.steps, self.history = 0, []
        self.step = torch.compile(self.run)

    def run(self, x):
        self.steps += 1
        loss = self.net(x).square().mean()
        self.history.append(loss)
        return loss


def python_state(rounds: int) -> dict:
    counting = Counting()
    before = compilations()
    for x in BATCHES[:6]:
        counting.step(x)
    history = [float(loss) for loss in counting.history]
    note = f"side effects are traced; {compilations() - before} compilations"
    return {"steps": counting.steps, "history": history, "calls": 6, "note": note}


REPLAY = """
import sys, torch
program = torch.export.load(sys.argv[1])
args, _ = program.example_inputs
for value in program.module()(*args):
    print(*value.tolist())
"""


def replay_elsewhere(rounds: int) -> dict:
    def step(w, x):
        def forward(w):
            rows = torch.log(x * w).sum(1)
            return rows.sum(), rows

        gradient, rows = torch.func.grad(forward, has_aux=True)(w)
        return rows, w - given.RATE * gradient

    compiled, w = torch.compile(step), torch.ones(4)
    for value in (given.GOOD,) * given.GOOD_STEPS + (-1.0,):
        x = torch.tensor(given.faulty_batch(value))
        rows, _ = compiled(w, x)
        if rows.isfinite().all():
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "step.pt2")
            program = torch.export.export(make_fx(step)(w, x), (w, x))
            torch.export.save(program, path)
            replay = [sys.executable, "-c", REPLAY, path]
            told = subprocess.run(replay, capture_output=True, text=True, check=True).stdout
    found, weight = ([float(n) for n in line.split()] for line in told.splitlines())
    note = "by hand: make_fx of a step in torch.func, torch.export.save"
    return {"rows": found, "weight": weight, "note": note}


def detaching(rounds: int) -> dict:
    net, kept = Net(map(Block, given.WIDE_WEIGHTS)), []
    step, x = compiled_step(net), torch.tensor(given.WIDE_BATCH)
    plain = compiled_step(Net(map(Block, given.WIDE_WEIGHTS)))
    before = [float(step(x)) for _ in range(5)][-1]
    handles = [
        block.register_forward_hook(lambda m, inputs, out: kept.append(out.detach().mean()))
        for block in net.blocks
    ]
    for _ in range(5):
        step(x)
    for handle in handles:
        handle.remove()
    compiled = compilations()
    after = [float(step(x)) for _ in range(5)][-1]
    compiled = compilations() - compiled
    cost = given.ratio(lambda: float(plain(x)), lambda: float(step(x)), rounds)
    return {
        "before": given.bits([before]), "after": given.bits([after]),
        "compilations": compiled, "cost": cost, "seen": len(kept),
        "note": "handle.remove()",
    }  # fmt: skip
