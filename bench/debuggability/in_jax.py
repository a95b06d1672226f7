# SPDX-License-Identifier: Apache-2.0
"""The fifteen programs in JAX with Flax: `nnx.jit`, `nnx.capture`, callbacks and prints of
`jax.debug`, `jax_debug_nans`, checkify. Modules of nnx have no hooks; where one is needed, the
module is exchanged for one that calls it, which nnx allows at any time.
"""

from __future__ import annotations

import ast
import io
import itertools
import os
import subprocess
import sys
import tempfile
import traceback

import flax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.experimental import checkify

from bench.debuggability import material as given
from bench.debuggability.faults_jax import FAULTS, chain

_compiled: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, *_, **__: _compiled.append(event) if "backend_compile" in event else None
)
FILE = "faults_jax.py"


def version() -> str:
    """Of the framework."""
    return f"JAX {jax.__version__}, Flax {flax.__version__}"


class Block(nnx.Module):
    """tanh(x · w)."""

    def __init__(self, weight):
        self.w = nnx.Param(jnp.asarray(weight))

    def __call__(self, x):
        return jnp.tanh(x @ self.w[...])


class Net(nnx.Module):
    """Blocks, one after the other."""

    def __init__(self, blocks):
        self.blocks = nnx.List(blocks)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Behind(nnx.Module):
    """A module, and a function of what it gives."""

    def __init__(self, inner, function):
        self.inner, self.function = inner, function

    def __call__(self, x):
        return self.function(self.inner(x))


class Before(nnx.Module):
    """A function of what a module is given, and the module."""

    def __init__(self, inner, function):
        self.inner, self.function = inner, function

    def __call__(self, x):
        return self.inner(self.function(x))


def three() -> Net:
    """Three blocks."""
    return Net(map(Block, given.WEIGHTS))


@nnx.jit
def derivative(net, x):
    """The loss and the gradients of all weights."""
    return nnx.value_and_grad(lambda net: jnp.square(net(x)).mean())(net)


BATCHES = [jnp.asarray(x) for x in given.BATCHES]


def hook_added(rounds: int) -> dict:
    net, seen, now = three(), [], []

    def look(x):
        jax.debug.callback(lambda mean: now.append(float(mean)), x.mean())
        return x

    block = net.blocks[given.MIDDLE]
    for call, x in enumerate(BATCHES[:9]):
        now.clear()
        if call == 3:
            net.blocks[given.MIDDLE] = Behind(block, look)
        if call == 6:
            net.blocks[given.MIDDLE] = block
        derivative(net, x)
        jax.effects_barrier()
        seen.append(list(now))
    plain, x = three(), BATCHES[0]
    net.blocks[given.MIDDLE] = Behind(block, look)
    cost = given.ratio(
        lambda: float(derivative(plain, x)[0]), lambda: float(derivative(net, x)[0]), rounds
    )
    note = "by hand: the block exchanged for one with jax.debug.callback"
    return {"seen": seen, "cost": cost, "note": note}


@jax.custom_vjp
def halved(x):
    """The identity; the gradient is halved."""
    return x


halved.defvjp(lambda x: (x, None), lambda _, gradient: (gradient * 0.5,))


def gradient_hook(rounds: int) -> dict:
    net, plain, x = three(), three(), BATCHES[0]
    net.blocks[given.MIDDLE] = Before(net.blocks[given.MIDDLE], halved)
    found = [
        [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(derivative(net, x)[1])]
        for x in BATCHES[:6]
    ]
    cost = given.ratio(
        lambda: float(derivative(plain, x)[0]), lambda: float(derivative(net, x)[0]), rounds
    )
    note = "by hand: the block exchanged for one with a custom_vjp"
    return {"gradients": found, "cost": cost, "note": note}


class Residual(nnx.Module):
    """x + tanh(x · a) · b."""

    def __init__(self, first, second):
        self.first, self.second = nnx.Param(jnp.asarray(first)), nnx.Param(jnp.asarray(second))

    def __call__(self, x):
        return x + jnp.tanh(x @ self.first[...]) @ self.second[...]


class Added(nnx.Module):
    """What a module gives, and something added to it."""

    def __init__(self, inner):
        self.inner = inner
        self.added = nnx.Variable(jnp.zeros((given.TOKENS, given.HIDDEN)))

    def __call__(self, x):
        return self.inner(x) + self.added[...]


def interventions(rounds: int) -> dict:
    plain, net = (Net(Residual(*pair) for pair in given.STACK) for _ in range(2))
    for number in range(given.DEPTH):
        net.blocks[number] = Added(net.blocks[number])
    predict, every = nnx.jit(lambda net, x: net(x).sum()), given.interventions(rounds)
    x, zeros = jnp.asarray(given.PROMPT), jnp.zeros((given.TOKENS, given.HIDDEN))

    def intervened(layer, position, vector, strength):
        added = np.zeros(zeros.shape, np.float32)
        added[position] = vector * strength
        net.blocks[layer].added[...] = jnp.asarray(added)
        result = float(predict(net, x))
        net.blocks[layer].added[...] = zeros
        return result

    intervened(*every[0])
    _compiled.clear()
    results = [intervened(*one) for one in every]
    recompilations = len(_compiled)
    turns = itertools.cycle(every)
    cost = given.ratio(
        lambda: float(predict(plain, x)), lambda: intervened(*next(turns)), rounds, 20
    )
    note = "by hand: blocks exchanged for ones that add a Variable, which is filled"
    return {"results": results, "recompilations": recompilations, "cost": cost, "note": note}


class Faulty(nnx.Module):
    """A function of x · w."""

    def __init__(self, function):
        self.function = function
        self.w = nnx.Param(jnp.ones(4))

    def __call__(self, x):
        return self.function(x * self.w[...])


def _first_module(net, x) -> str:
    """The path of the first block whose output is not finite, by nnx.capture."""
    captured = nnx.capture(net, nnx.Intermediate, method_outputs=nnx.Intermediate)
    _, kept = captured(x)
    bad = [
        path for path, value in nnx.to_flat_state(kept)
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(value))
        and path[0] == "blocks"
    ]  # fmt: skip
    return ".".join(map(str, min(bad))) if bad else ""


def _debugged(faults: dict, step) -> list[dict]:
    """What jax_debug_nans and jax_debug_infs tell, and the module by a second run."""
    told = []
    for fault, value in faults.items():
        net = Net(map(Faulty, [lambda x: x * 1.0, FAULTS[fault], lambda x: x + 0.0]))
        text, bad = "", jnp.asarray(given.faulty_batch(value))
        with jax.debug_nans(True), jax.debug_infs(True):
            for _ in range(given.GOOD_STEPS):
                step(net, given.faulty_batch())
            try:
                step(net, bad)
            except FloatingPointError:
                text = traceback.format_exc()
        if text:
            text += _first_module(net, bad)
        told.append({"fault": fault, "text": text, "line": FAULTS[fault].__code__.co_firstlineno})
    return told


def _armed_cost(rounds: int) -> float:
    net, x = Net(map(Block, given.WIDE_WEIGHTS)), jnp.asarray(given.WIDE_BATCH)

    def armed():
        with jax.debug_nans(True), jax.debug_infs(True):
            float(derivative(net, x)[0])

    return given.ratio(lambda: float(derivative(net, x)[0]), armed, rounds)


def nan_in_forward(rounds: int) -> dict:
    told = _debugged(given.FORWARD, nnx.jit(lambda net, x: net(x).mean()))
    note = "jax_debug_nans, jax_debug_infs; the module by nnx.capture in a second run"
    return {"told": told, "cost": _armed_cost(rounds), "file": FILE, "note": note}


def nan_in_reverse(rounds: int) -> dict:
    step = nnx.jit(lambda net, x: nnx.value_and_grad(lambda net: net(x).mean())(net))
    note = "jax_debug_nans, jax_debug_infs"
    told = _debugged(given.REVERSE, step)
    return {"told": told, "cost": _armed_cost(rounds), "file": FILE, "note": note}


@jax.custom_vjp
def called_back(x):
    """The identity; a callback does not take large gradients."""
    return x * 1.0


@jax.custom_vjp
def checked(x):
    """The identity; checkify does not take large gradients."""
    return x * 1.0


def refuse(gradient) -> None:
    """Raise if it is large."""
    if np.abs(gradient).max() > 100:
        raise RuntimeError("raised on purpose")


def _called_back(_, gradient):
    jax.debug.callback(refuse, gradient)
    return (gradient,)


def _checked(_, gradient):
    checkify.check(jnp.abs(gradient).max() <= 100, "raised on purpose")
    return (gradient,)


called_back.defvjp(lambda x: (x * 1.0, None), _called_back)
checked.defvjp(lambda x: (x * 1.0, None), _checked)


class Calling(nnx.Module):
    """Calls a function on a line that is known."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x):
        return self.inner(x)


def exception_in_hook(rounds: int) -> dict:
    told = []
    line = Calling.__call__.__code__.co_firstlineno + 1
    for fault, inner in (("a hook", called_back), ("a custom reverse", checked)):
        net, calls, text = Calling(inner), 0, ""

        def gradient(x, net=net):
            return jax.grad(lambda x: jnp.square(net(x)).sum())(x)

        step = nnx.jit(checkify.checkify(gradient) if inner is checked else gradient)
        try:
            for scale in (1.0, 2.0, 3.0, 1000.0):
                found = step(jnp.full(4, scale))
                if inner is checked:
                    found[0].throw()
                jax.block_until_ready(found)
                jax.effects_barrier()
                calls += 1
        except Exception:
            text = traceback.format_exc()
        told.append({"fault": fault, "text": text, "line": line, "calls": calls})
    note = "a callback that raises, checkify.check in a custom_vjp"
    return {"told": told, "note": note}


def _interpreted(wrong: int) -> list:
    """Each equation with its results, by an interpreter as the documents show how to write one."""
    c = [given.WRONG if number == wrong else 1.0 for number in range(given.CHAIN)]
    closed = jax.make_jaxpr(lambda x: chain(x, c))(given.CHAIN_INPUT)
    values = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    values[closed.jaxpr.invars[0]] = jnp.asarray(given.CHAIN_INPUT)
    made = []
    for equation in closed.jaxpr.eqns:
        inputs = [v.val if hasattr(v, "val") else values[v] for v in equation.invars]
        parameters = equation.primitive.get_bind_params(equation.params)
        results = equation.primitive.bind(*inputs, **parameters)
        results = results if equation.primitive.multiple_results else [results]
        values.update(zip(equation.outvars, results, strict=True))
        made.append((equation, results))
    return made


def first_difference(rounds: int) -> dict:
    told, first, right = [], chain.__code__.co_firstlineno + 2, _interpreted(-1)
    for wrong in range(given.CHAIN):
        text = ""
        for (equation, a), (_, b) in zip(right, _interpreted(wrong), strict=True):
            if not np.allclose(a[0], b[0], 1e-4, 1e-6):
                frames = equation.source_info.traceback.frames
                text = "\n".join(f"{frame.file_name}:{frame.line_num}" for frame in frames)
                break
        told.append({"fault": str(wrong), "text": text, "line": first + wrong})
    note = "by hand: an interpreter of jaxprs that compares"
    return {"told": told, "file": FILE, "note": note}


def breakpoint_in_reverse(rounds: int) -> dict:
    keys, shown = io.StringIO("p gradient.tolist()\nc\n" * 5), io.StringIO()

    @jax.custom_vjp
    def stopping(x):
        return x

    def backward(_, gradient):
        jax.debug.breakpoint(stdin=keys, stdout=shown, backend="cli")
        return (gradient,)

    stopping.defvjp(lambda x: (x, None), backward)
    net = three()
    net.blocks[given.MIDDLE] = Behind(net.blocks[given.MIDDLE], stopping)
    for x in BATCHES[:5]:
        jax.block_until_ready(derivative(net, x))
        jax.effects_barrier()
    stops = [
        ast.literal_eval(line[line.index("[[") :])
        for line in shown.getvalue().splitlines() if "[[" in line
    ]  # fmt: skip
    note = "jax.debug.breakpoint in a custom_vjp: a debugger of its own, without pdb's steps"
    return {"stops": stops, "calls": 5, "note": note}


class Observed(nnx.Module):
    """A module that keeps the mean of what it gives."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x):
        x = self.inner(x)
        self.sow(nnx.Intermediate, "mean", x.mean())
        return x


@nnx.jit
def trained(net, optimizer, x):
    """A step of training."""
    loss, gradients = nnx.value_and_grad(lambda net: jnp.square(net(x)).mean())(net)
    optimizer.update(net, gradients)
    return loss


@nnx.jit
def trained_and_observed(net, optimizer, x):
    """The same, with what the modules keep."""

    def forward(net):
        output, kept = nnx.capture(net, nnx.Intermediate)(x)
        return jnp.square(output).mean(), kept

    (loss, kept), gradients = nnx.value_and_grad(forward, has_aux=True)(net)
    optimizer.update(net, gradients)
    return loss, kept


def observers(rounds: int) -> dict:
    plain, net = (Net(map(Block, given.WIDE_WEIGHTS)) for _ in range(2))
    for number in range(given.OBSERVED):
        net.blocks[number] = Observed(net.blocks[number])
    first, second = (nnx.Optimizer(n, optax.sgd(given.RATE), wrt=nnx.Param) for n in (plain, net))
    x = jnp.asarray(given.WIDE_BATCH)
    without = given.bits([float(trained(plain, first, x)) for _ in range(given.STEPS)])
    found = [trained_and_observed(net, second, x) for _ in range(given.STEPS)]
    seen = [float(mean) for mean in jax.tree.leaves(found[0][1])]
    cost = given.ratio(
        lambda: float(trained(plain, first, x)),
        lambda: float(trained_and_observed(net, second, x)[0]),
        rounds,
    )
    losses = given.bits([float(loss) for loss, _ in found])
    note = "by hand: sow in blocks that were exchanged, nnx.capture in another step"
    return {"plain": without, "observed": losses, "seen": seen, "cost": cost, "note": note}


def order(rounds: int) -> dict:
    events, net = given.Events(), three()

    @nnx.jit
    def step(net, x):
        for number, block in enumerate(net.blocks):
            x = block(x)
            jax.debug.print("print {} {}", number, x.mean(), ordered=True)
            jax.debug.callback(events.append, number, x.mean(), ordered=True)
        return x

    with given.printed(events):
        for x in BATCHES[:4]:
            step(net, x)
            jax.effects_barrier()
    note = "jax.debug.print and jax.debug.callback, ordered=True"
    return {"events": events.found, "calls": 4, "note": note}


INDEXED = {
    "indexing": lambda table, i: table[i],
    "embedding": lambda table, i: jnp.take(table, i, axis=0),
    "gather": lambda table, i: jnp.take_along_axis(table, i.reshape(3, 1), 0),
}


def index_out_of_range(rounds: int) -> dict:
    told, table = [], jnp.asarray(given.TABLE)
    for fault, function in INDEXED.items():
        step = nnx.jit(checkify.checkify(
            lambda table, i, function=function: function(table, i).sum(), checkify.index_checks
        ))  # fmt: skip
        text = ""
        for _ in range(given.GOOD_STEPS):
            step(table, given.INSIDE)[0].throw()
        try:
            step(table, given.OUTSIDE)[0].throw()
        except Exception:
            text = traceback.format_exc()
        told.append({"fault": fault, "text": text, "line": function.__code__.co_firstlineno})
    note = "checkify.index_checks; without it an index is clamped"
    return {"told": told, "note": note}


def recompilation_cause(rounds: int) -> dict:
    scaled = nnx.jit(lambda x, factor: x * factor, static_argnames=("factor",))
    scaled(np.ones((4, 2), np.float32), factor=2.0)
    told = {}
    changes = {
        "shape": (np.ones((5, 2), np.float32), 2.0),
        "type": (np.ones((4, 2), np.float16), 2.0),
        "argument": (np.ones((4, 2), np.float32), 3.0),
    }
    jax.config.update("jax_explain_cache_misses", True)
    for name, (x, factor) in changes.items():
        with given.Told() as written:
            scaled(x, factor=factor)
        told[name] = written.text
    return {"told": told, "note": "jax_explain_cache_misses"}


class Counting(nnx.Module):
    """A step with Python state."""

    def __init__(self):
        self.net, self.steps = three(), 0


HISTORY: list = []


@nnx.jit
def counted(counting, x):
    """Plain Python in a compiled step."""
    counting.steps += 1
    loss = jnp.square(counting.net(x)).mean()
    HISTORY.append(loss)
    return loss


def python_state(rounds: int) -> dict:
    counting = Counting()
    for x in BATCHES[:6]:
        counted(counting, x)
    history = [
        float("nan") if isinstance(loss, jax.core.Tracer) else float(loss) for loss in HISTORY
    ]
    note = "the list has tracers; jax.debug.callback(append, loss) is the way, ordered=True"
    return {"steps": counting.steps, "history": history, "calls": 6, "note": note}


REPLAY = """
import sys, jax, numpy as np
with open(sys.argv[1] + ".bin", "rb") as file:
    program = jax.export.deserialize(bytearray(file.read()))
inputs = np.load(sys.argv[1] + ".npz")
for value in program.call(inputs["w"], inputs["x"]):
    print(*value.tolist())
"""


def replay_elsewhere(rounds: int) -> dict:
    @jax.jit
    def step(w, x):
        def forward(w):
            rows = jnp.log(x * w).sum(1)
            return rows.sum(), rows

        gradient, rows = jax.grad(forward, has_aux=True)(w)
        return rows, w - given.RATE * gradient

    w = np.ones(4, np.float32)
    for value in (given.GOOD,) * given.GOOD_STEPS + (-1.0,):
        x = given.faulty_batch(value)
        if np.isfinite(step(w, x)[0]).all():
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "step")
            with open(path + ".bin", "wb") as file:
                file.write(jax.export.export(step)(w, x).serialize())
            np.savez(path + ".npz", w=w, x=x)
            replay = [sys.executable, "-c", REPLAY, path]
            told = subprocess.run(replay, capture_output=True, text=True, check=True).stdout
    rows, weight = ([float(n) for n in line.split()] for line in told.splitlines())
    note = "by hand: jax.export of a step without modules, numpy.savez"
    return {"rows": rows, "weight": weight, "note": note}


def detaching(rounds: int) -> dict:
    plain, net = (Net(map(Block, given.WIDE_WEIGHTS)) for _ in range(2))
    x, blocks = jnp.asarray(given.WIDE_BATCH), list(net.blocks)
    before = [float(derivative(net, x)[0]) for _ in range(5)][-1]
    kept: list[float] = []

    def look(x):
        jax.debug.callback(lambda mean: kept.append(float(mean)), x.mean())
        return x

    for number, block in enumerate(blocks):
        net.blocks[number] = Behind(block, look)
    for _ in range(5):
        derivative(net, x)
    jax.effects_barrier()
    for number, block in enumerate(blocks):
        net.blocks[number] = block
    _compiled.clear()
    after = [float(derivative(net, x)[0]) for _ in range(5)][-1]
    compilations = len(_compiled)
    cost = given.ratio(
        lambda: float(derivative(plain, x)[0]), lambda: float(derivative(net, x)[0]), rounds
    )
    return {
        "before": given.bits([before]), "after": given.bits([after]),
        "compilations": compilations, "cost": cost, "seen": len(kept),
        "note": "the blocks exchanged back",
    }  # fmt: skip
