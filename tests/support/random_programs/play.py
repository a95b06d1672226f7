# SPDX-License-Identifier: Apache-2.0
"""Programs drawn at random from a seed, and a player that runs each in every execution.

A program is a small network of nested Cells (plain, sequential, called twice, with a `bprop`,
recomputed, several outputs), operators, branches and loops on values, assignments, hooks of every
kind whose behaviour changes with the number of their call, and changes between the calls of a
training step. It is drawn whole as plain data, a *plan*, before anything runs. The oracle is
direct execution: results, gradients, Parameters, attributes, logs of hooks, printed text and
exceptions of every call must be the same in fused and in compiled execution.

What is excluded by construction: a decision whose value lies so near its threshold that rounding
could turn it (such a plan is drawn again), and the two documented hazards, Python side effects of a
compiled body and Python state that begins to matter later. Where the second one is met all the same
(what a hook kept is replaced by a later hook of the same call), a compiled program may end with
HookOrderError, and is counted.

The opt-in run prints progress, what it counted and every disagreement with its seed, and exits with
1 if there is one:

    cd tests && python -m support.random_programs.play --from 0 --to 100000 --jobs 2

Where records would be compiled, that run executes them operator by operator: all of mycel takes
part, and XLA, which would need twenty times as long, does not. `--compile` compiles them as users
do, and so do some of the programs that pytest runs. `--reduce SEED` prints the smallest part of a
plan that still disagrees.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import contextlib
import copy
import functools
import gc
import io
import itertools
import json
import re
import subprocess
import sys
import time
import warnings

import numpy as np

import mycel as ms
from harness import as_numpy, execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base.errors import HookOrderError
from mycel.kernel.base.trees import tree_leaves
from support.by_operators import by_operators
from support.random_programs.plans import drawn_plan
from support.random_programs.vocabulary import CELLS, SHAPE, Drawn, Hook, Part

EXECUTIONS = ("direct", "fused", "compiled")
# How near to its edge a decision may be taken.
MARGIN = 1e-3


# -- playing ----------------------------------------------------------------------------------


class Task:
    """A plan made real: its network, Parameters, hooks, and what is compared of it."""

    def __init__(self, plan: dict, direct: bool):
        self.plan, self.direct = plan, direct
        self.margin = 1.0
        self.within_a_hook = False
        self.log: list = []
        self.kept: list = []
        self.cells: dict = {}
        self.handles: dict = {}
        self.hooks = [Hook(self, index) for index in range(len(plan["hooks"]))]
        numbers = np.random.RandomState(plan["seed"] % 1000)
        # Quarters: what Python reads of them is exact.
        self.inputs = [
            Tensor((numbers.randint(-4, 5, SHAPE) / 4).astype(np.float32)) for _ in range(3)
        ]
        self.signal = Parameter(Tensor(0.0), name="signal", requires_grad=False)
        self.net = self.cell(0)
        self.side = nn.Dense(3, 3, weight_init="ones", bias_init="zeros")
        self.parameters = list(self.net.get_parameters())
        self.parts = [cell for _, cell in self.net.cells_and_names()]
        self.weights = tuple(p for p in self.parameters if p.requires_grad)
        self.criterion = Criterion(self)
        self.derivative = self.derivative_by(self.weights)
        self.optimizer = nn.Momentum(self.weights, 0.1, 0.5) if self.weights else None
        self.trainer = Trainer(self)

    # -- what steps, hooks and events ask for

    def cell(self, index: int):
        if index not in self.cells:
            self.cells[index] = CELLS[self.plan["cells"][index]["kind"]](self, index)
        return self.cells[index]

    def part(self, index: int):
        return self.parts[index % len(self.parts)]

    def parameter(self, index: int):
        floats = [
            p
            for p in self.parameters
            # A variance below zero would have no root.
            if p.dtype is ms.float32 and not p.name.endswith("moving_variance")
        ]
        return floats[index % len(floats)] if floats else self.side.weight

    def hook(self, index: int):
        hook = self.hooks[index]
        form = hook.plan["form"]
        if form == "lambda":
            return lambda *args: hook(*args)
        if form == "partial":
            return functools.partial(Hook.method, hook)
        return hook.method if form == "method" else hook

    def note(self, hook, *what) -> None:
        self.log.append((hook.index, *what))

    def over(self, value, threshold: float) -> bool:
        """A decision on a value."""
        if self.direct:
            self.margin = min(self.margin, abs(float(value) - threshold))
        return bool(value > threshold)

    def whole(self, value) -> int:
        """A number that Python reads of a value."""
        if self.direct:
            self.margin = min(self.margin, abs(float(value) - round(float(value))))
        return int(value)

    def register(self, index: int) -> None:
        plan = self.plan["hooks"][index]
        place, number = plan["on"]
        if place == "cell":
            method = getattr(self.part(number), f"register_{plan['kind']}_hook")
            options = {"with_kwargs": True} if plan["keyword"] else {}
            handle = method(self.hook(index), **options)
        else:
            target = self.parameter(number) if place == "parameter" else self.inputs[number % 3]
            handle = target.register_hook(self.hook(index))
        self.handles.setdefault(index, []).append(handle)

    def remove(self, index: int) -> None:
        for handle in self.handles.get(index, ()):
            handle.remove()

    def happen(self, what: str, value) -> None:
        """An event between two calls."""
        if what == "register":
            self.register(value)
        elif what == "remove":
            known = sorted(self.handles)
            if known:
                self.remove(known[value % len(known)])
        elif what == "train":
            self.net.set_train(value)
        elif what == "gate":
            self.part(value).gate = (0.5, 1.0, 1.5, 2.0)[value % 4]
        elif what == "assign":
            p = self.parameter(value)
            p.set_data(p * 0.5 + 0.25)
        elif what == "swap":
            self.swap(value)
        elif what == "signal":
            self.signal.set_data(Tensor(0.75 if value else 0.25))
        elif what == "freeze":
            p = self.parameter(value)
            p.requires_grad = not p.requires_grad

    def is_crowded(self, cell) -> bool:
        """Whether a Cell and those in it have many hooks."""
        return sum(_hook_count(member) for _, member in cell.cells_and_names()) > 12

    def swap(self, index: int) -> None:
        """Exchange two children of a Cell."""
        part = self.part(index)
        if isinstance(part, Part):
            part.swap()

    # -- the training step

    def loss(self, x, y):
        output = self.net(x)
        total = sum((leaf * (y + 1)).mean() for leaf in tree_leaves(output))
        if self.kept:
            total = total + self.kept[-1].mean() * 0.5
        return total

    def loss_and_others(self, x, y):
        total = self.loss(x, y)
        return total, total * 2, self.parameter(0).value()

    def derivative_by(self, weights):
        position, by = self.plan["position"], weights if self.plan["by_weights"] else None
        if position is None and not weights:
            position = 0
        form = self.plan["form"]
        if form in ("operation", "with sensitivity"):
            options = {"get_all": position is not None, "get_by_list": by is not None}
            options["sens_param"] = form == "with sensitivity"
            return ops.GradOperation(**options)(self.criterion, by)
        if form == "with others":
            return ms.value_and_grad(self.loss_and_others, position, by, has_aux=True)
        return ms.value_and_grad(self.loss, position, by)

    def evaluation(self, x, y):
        return self.net(x), self.parameter(1) * 2

    def step(self, x, y, times: int = 1):
        form = self.plan["form"]
        if form == "forward":
            return self.net(x)
        if form == "second":
            return ms.grad(lambda x: ms.grad(self.loss)(x, y).sum())(x)
        if form == "trainer":
            return self.trainer(x, y)
        weights, derivative = self.weights, self.derivative
        if form == "each call":
            weights = tuple(p for p in self.parameters if p.requires_grad)
            derivative = self.derivative_by(weights)
        given = (x, y, self.signal) if form == "with sensitivity" else (x, y)
        found = derivative(*given)
        if self.plan["by_weights"] and weights:
            gradients = found if isinstance(derivative.function, Criterion) else found[1]
            self.update(weights, gradients if self.plan["position"] is None else gradients[1])
        return found if times == 1 else (found, x * times)

    def update(self, weights, gradients):
        how = self.plan["update"]
        for weight, gradient in zip(weights, gradients, strict=True):
            if how == "set_data":
                weight.set_data(weight * 0.9 - 0.1 * gradient)
            elif how == "assign":
                ops.assign(weight, weight * 0.9 - gradient * 0.1)
            elif how == "guarded" and self.over(gradient.sum() * 8, 0.5):
                weight.set_data(weight - gradient * 0.1)

    def state(self) -> list:
        """What of the Cells and hooks is compared."""
        cells = [(c.training, getattr(c, "gate", None), _hook_count(c)) for c in self.parts]
        return [
            *cells,
            [hook.count for hook in self.hooks],
            [p.requires_grad for p in self.parameters],
        ]


def _hook_count(cell) -> int:
    hooks = cell._cell_hooks
    kinds = ("forward_pre", "forward", "backward_pre", "backward")
    return sum(len(getattr(hooks, kind)) for kind in kinds) if hooks else 0


class Criterion(nn.Cell):
    def __init__(self, task: Task):
        super().__init__()
        self.task, self.net = task, task.net

    def construct(self, x, y):
        return self.task.loss(x, y)


class Trainer(nn.Cell):
    """A step in a Cell, with an optimiser."""

    def __init__(self, task: Task):
        super().__init__()
        self.task, self.net, self.optimizer = task, task.net, task.optimizer
        self.derivative = ms.value_and_grad(task.loss, None, task.weights)

    def construct(self, x, y):
        if self.optimizer is None:
            return self.task.loss(x, y)
        value, gradients = self.derivative(x, y)
        self.optimizer(gradients)
        return value, gradients


def play(plan: dict, name: str) -> tuple[list, float]:
    """What every call of a program left, and how near to its edge a decision was taken."""
    ms.set_seed(plan["seed"])
    compiled = name == "compiled"
    mode = "direct" if name == "direct" else "fused"
    if compiled and plan["compiled"] == "graph":
        mode = "graph"
    rows = []
    with execution(mode), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        task = Task(plan, name == "direct")
        step, evaluation = task.step, task.evaluation
        if compiled and plan["compiled"] == "jit":
            step, evaluation = ms.jit(step), ms.jit(evaluation)
        ways = {
            "step": step,
            "step with a number": functools.partial(step, times=2),
            "evaluation": evaluation,
        }
        for what, value in plan["start"]:
            task.happen(what, value)
        for index, how, events in plan["calls"]:
            task.log, task.kept[:] = [], []
            for what, value in events:
                task.happen(what, value)
            text = io.StringIO()
            x, y = task.inputs[index], task.inputs[index - 1]
            with contextlib.redirect_stdout(text):
                try:
                    result = as_numpy(ways[how](x, y))
                except Exception as error:
                    result = type(error).__name__, str(error)
            rows.append(
                {
                    "result": result,
                    "parameters": as_numpy((task.parameters, task.inputs)),
                    "log": task.log,
                    "text": text.getvalue(),
                    "state": task.state(),
                }
            )
    return rows, task.margin


# -- comparing --------------------------------------------------------------------------------

_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]\d+)?")


def difference(mine, theirs) -> str:
    """Where two trees of numbers and texts differ; nothing if they agree up to rounding."""
    if isinstance(theirs, (tuple, list)):
        if type(mine) is not type(theirs) or len(mine) != len(theirs):
            return f"{mine!r:.200} for {theirs!r:.200}"
        found = ((i, difference(a, b)) for i, (a, b) in enumerate(zip(mine, theirs, strict=True)))
        return next((f"[{index}] {text}" for index, text in found if text), "")
    if isinstance(theirs, (np.ndarray, float)):
        if not isinstance(mine, (np.ndarray, float)) or np.shape(mine) != np.shape(theirs):
            return f"{mine!r:.200} for {theirs!r:.200}"
        if isinstance(mine, np.ndarray) and mine.tobytes() == np.asarray(theirs).tobytes():
            return "" if np.isfinite(theirs).all() else f"not finite: {theirs!r:.200}"
        if not np.isfinite(theirs).all():
            return f"not finite: {theirs!r:.200}"
        close = np.allclose(mine, theirs, rtol=1e-4, atol=2e-5)
        return "" if close else f"{mine!r:.200} for {theirs!r:.200}"
    if isinstance(theirs, str):
        if not isinstance(mine, str):
            return f"{mine!r:.200} for {theirs!r:.200}"
        words = [_NUMBER.sub("#", text).replace(" ", "") for text in (mine, theirs)]
        numbers = [[float(n) for n in _NUMBER.findall(text)] for text in (mine, theirs)]
        close = words[0] == words[1] and np.allclose(*numbers, rtol=1e-4, atol=2e-3)
        return "" if close else f"{mine!r:.200} for {theirs!r:.200}"
    return "" if mine == theirs else f"{mine!r:.200} for {theirs!r:.200}"


def disagreement(plan: dict, expected: list) -> tuple[str, int]:
    """What fused or compiled execution does otherwise, if they disagree; and how many of them ended
    with the error that says that a program meets a hazard."""
    refused = 0
    for name in EXECUTIONS[1:]:
        actual, _ = play(plan, name)
        for call, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
            if name == "compiled" and _kind_of_error(mine) == HookOrderError.__name__:
                refused += 1
                break
            for what in theirs:
                text = difference(mine[what], theirs[what])
                if text:
                    return f"{name}, call {call}, {what}: {text}", refused
    return "", refused


def _kind_of_error(row: dict) -> str:
    """The class of the exception that a call raised; empty if it raised none."""
    result = row["result"]
    return result[0] if isinstance(result, tuple) and isinstance(result[0], str) else ""


def checked(seed: int) -> tuple[dict, list, tuple[str, int]]:
    """The plan of a seed, its rows in direct execution, and where another one disagrees."""
    for attempt in itertools.count():
        plan = drawn_plan(seed, attempt)
        expected, margin = play(plan, "direct")
        if margin > MARGIN:
            return plan, expected, disagreement(plan, expected)
    raise AssertionError


def reduced(plan: dict) -> dict:
    """The smallest part of a plan found that still disagrees."""
    found = True
    while found:
        found = False
        for smaller in _smaller(plan):
            with contextlib.suppress(Exception):
                expected, margin = play(smaller, "direct")
                if margin > MARGIN and disagreement(smaller, expected)[0]:
                    plan, found = smaller, True
                    break
    return plan


def _smaller(plan: dict):
    """The plan with one part less."""
    lists = [("start",), ("calls",)]
    lists += [("calls", index, 2) for index in range(len(plan["calls"]))]
    lists += [
        ("cells", i, part) for i in range(len(plan["cells"])) for part in ("steps", "children")
    ]
    lists += [("hooks", i, "acts") for i in range(len(plan["hooks"]))]
    for path in lists:
        length = len(functools.reduce(lambda tree, key: tree[key], path, plan))
        for index in reversed(range(length)):
            made = copy.deepcopy(plan)
            del functools.reduce(lambda tree, key: tree[key], path, made)[index]
            yield made
    simple = {"form": "function", "update": "none", "compiled": "jit", "position": 0}
    simple["by_weights"] = False
    places = [((), simple)]
    places += [(("cells", i), {"kind": "plain"}) for i in range(len(plan["cells"]))]
    places += [(("hooks", i), {"form": "object"}) for i in range(len(plan["hooks"]))]
    for path, values in places:
        for key, value in values.items():
            made = copy.deepcopy(plan)
            part = functools.reduce(lambda tree, key: tree[key], path, made)
            if part[key] != value:
                part[key] = value
                yield made


# -- running many -----------------------------------------------------------------------------


def run_batch(start: int, end: int) -> tuple[dict, list]:
    """Check the programs of these seeds: what was counted, and `[seed, text]` of disagreements.

    A call raises what was drawn or nothing: another exception is a fault of the machine or of the
    drawing, and is listed as well.
    """
    counted = collections.Counter()
    found = []
    ledger = ms.debug.ledger()
    for seed in range(start, end):
        ledger.reset()
        try:
            _, rows, (text, refused) = checked(seed)
        except Exception as error:
            rows, text, refused = [], f"could not be played: {error!r:.300}", 0
        counted.update(programs=1, calls=len(rows))
        counted["refused as a hazard"] += refused
        for row in rows:
            kind = _kind_of_error(row)
            if kind:
                counted["raised"] += 1
                if kind != Drawn.__name__:
                    text = text or f"every execution raised {row['result']}"
        counts = ledger.counts
        counted.update(replays=counts.replays, misses=counts.misses)
        counted.update(compilations=counts.compilations)
        counted["broken off by a site"] += sum(
            line.count for line in ledger.lines if "did something new" in line.what
        )
        if text:
            found.append([seed, text])
            print(f"seed {seed}: {text}", file=sys.stderr, flush=True)
    return dict(counted), found


def run_batches(options) -> int:
    """Batches in processes of their own, so that nothing piles up."""
    begun = time.time()
    counted, found = collections.Counter(), []

    def batch(start):
        end = min(start + options.batch, options.end)
        command = [
            sys.executable,
            "-m",
            "support.random_programs.play",
            "--from",
            str(start),
            "--to",
            str(end),
            "--single",
        ]
        command += ["--compile"] * options.compile
        ran = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if ran.returncode:
            return {}, [[start, f"the process of this batch ended with {ran.returncode}"]]
        return json.loads(ran.stdout.splitlines()[-1])

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        starts = range(options.start, options.end, options.batch)
        for part in concurrent.futures.as_completed([pool.submit(batch, s) for s in starts]):
            counts, more = part.result()
            counted.update(counts)
            found += more
            print(
                f"{time.time() - begun:.0f} s: {dict(counted)}, {len(found)} disagree", flush=True
            )
    for seed, text in sorted(found):
        print(f"seed {seed}: {text}")
    return 1 if found else 0


def run_reduced(seed: int) -> int:
    """Print the smallest part of a plan that disagrees, and how."""
    plan, _, (text, _) = checked(seed)
    print(text or "They agree.")
    if text:
        plan = reduced(plan)
        print(json.dumps(plan))
        print(disagreement(plan, play(plan, "direct")[0])[0])
    return 1 if text else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare random programs in every execution.")
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first seed")
    parser.add_argument("--to", dest="end", type=int, default=1000, help="the seed behind the last")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--batch", type=int, default=1000, help="programs of one process")
    parser.add_argument("--compile", action="store_true", help="compile with XLA, as users do")
    parser.add_argument("--reduce", type=int, default=None, metavar="SEED")
    parser.add_argument("--single", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.single and options.reduce is None:
        return run_batches(options)
    # What is there already stays: the collector need not look at it again and again.
    gc.freeze()
    with contextlib.nullcontext() if options.compile else by_operators():
        if options.reduce is not None:
            return run_reduced(options.reduce)
        print(json.dumps(run_batch(options.start, options.end)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
