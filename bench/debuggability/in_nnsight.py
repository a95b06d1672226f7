# SPDX-License-Identifier: Apache-2.0
"""The programs in nnsight, which interleaves the body of a `trace` with a module of PyTorch.

It runs in eager mode: what is asked of a compiled step is asked of an eager one here. What is a
matter of PyTorch alone, and the same with and without nnsight, does not apply.
"""

from __future__ import annotations

import itertools
import sys
import traceback

import nnsight
import torch

from bench.debuggability import material as given

OF_PYTORCH = "it adds nothing to PyTorch for this, and nothing is compiled"


def version() -> str:
    """Of the framework."""
    return f"nnsight {nnsight.__version__}"


class Block(torch.nn.Module):
    """tanh(x · w)."""

    def __init__(self, weight):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(weight))

    def forward(self, x):
        return torch.tanh(x @ self.w)


class Residual(torch.nn.Module):
    """x + tanh(x · a) · b."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = (
            torch.nn.Parameter(torch.tensor(value)) for value in (first, second)
        )

    def forward(self, x):
        return x + torch.tanh(x @ self.first) @ self.second


class Net(torch.nn.Module):
    """Blocks, one after the other."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = torch.nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def three() -> nnsight.NNsight:
    """Three blocks."""
    return nnsight.NNsight(Net(map(Block, given.WEIGHTS)))


BATCHES = [torch.tensor(x) for x in given.BATCHES]


def hook_added(rounds: int) -> dict:
    model, seen, x = three(), [], BATCHES[0]

    def traced(x):
        with model.trace(x):
            mean = model.blocks[1].output.mean().save()
        return float(mean)

    for call, x in enumerate(BATCHES[:9]):
        if 3 <= call < 6:
            seen.append([traced(x)])
        else:
            model(x)
            seen.append([])
    cost = given.ratio(lambda: model(x), lambda: traced(x), rounds)
    return {"seen": seen, "cost": cost, "note": "eager; a trace where one looks"}


def gradient_hook(rounds: int) -> dict:
    model, found = three(), []
    plain, x = three(), BATCHES[0]

    def changed(x):
        model.zero_grad()
        with model.trace(x):
            given_to_block = model.blocks[0].output
            loss = model.output.square().mean()
            with loss.backward():
                given_to_block.grad = given_to_block.grad * 0.5

    def unchanged():
        plain.zero_grad()
        plain(x).square().mean().backward()

    for x in BATCHES[:6]:
        changed(x)
        found.append([weight.grad.tolist() for weight in model.parameters()])
    cost = given.ratio(unchanged, lambda: changed(x), rounds)
    return {"gradients": found, "cost": cost, "note": "eager; `.grad` set in a backward trace"}


def interventions(rounds: int) -> dict:
    model = nnsight.NNsight(Net(Residual(*pair) for pair in given.STACK))
    x, every = torch.tensor(given.PROMPT), given.interventions(rounds)

    def intervened(layer, position, vector, strength):
        added = torch.from_numpy(vector) * strength
        with torch.no_grad(), model.trace(x):
            model.blocks[layer].output[position] += added
            result = model.output.sum().save()
        return float(result)

    @torch.no_grad()
    def plain():
        return float(model._module(x).sum())

    results = [intervened(*one) for one in every]
    turns = itertools.cycle(every)
    cost = given.ratio(plain, lambda: intervened(*next(turns)), rounds, 20)
    note = "eager, nothing is compiled; a trace for each"
    return {"results": results, "recompilations": 0, "cost": cost, "note": note}


def nan_in_forward(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


def nan_in_reverse(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


class Calling(torch.nn.Module):
    """Calls a module on a line that is known."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.ReLU()

    def forward(self, x):
        return self.inner(x)


def refuse(gradient) -> None:
    """Raise if it is large."""
    if gradient.abs().max() > 100:
        raise RuntimeError("raised on purpose")


def exception_in_hook(rounds: int) -> dict:
    model, calls, text = nnsight.NNsight(Calling()), 0, ""
    line = Calling.forward.__code__.co_firstlineno + 1

    def step(scale):
        with model.trace(torch.full((4,), scale, requires_grad=True)):
            output = model.inner.output
            loss = model.output.square().sum()
            with loss.backward():
                refuse(output.grad)

    try:
        for scale in (1.0, 2.0, 3.0, 1000.0):
            step(scale)
            calls += 1
    except Exception:
        text = traceback.format_exc()
    told = [{"fault": "a hook", "text": text, "line": line, "calls": calls}]
    return {"told": told, "note": "eager; its custom reverses are PyTorch's"}


def first_difference(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


def breakpoint_in_reverse(rounds: int) -> dict:
    model, stops = three(), []

    def debugger():
        stops.append(sys._getframe(1).f_locals["gradient"].tolist())

    sys.breakpointhook = debugger
    for x in BATCHES[:5]:
        with model.trace(x):
            output = model.blocks[1].output
            loss = model.output.square().mean()
            with loss.backward():
                gradient = output.grad  # noqa: F841
                breakpoint()
    return {"stops": stops, "calls": 5, "note": "eager; breakpoint() in a backward trace"}


def _wide():
    """A training step of the wide blocks, and one in which they are observed."""
    model = nnsight.NNsight(Net(map(Block, given.WIDE_WEIGHTS)))
    optimizer, x = torch.optim.SGD(model.parameters(), given.RATE), torch.tensor(given.WIDE_BATCH)

    def plain():
        optimizer.zero_grad()
        loss = model._module(x).square().mean()
        loss.backward()
        optimizer.step()
        return float(loss)

    def observed():
        optimizer.zero_grad()
        with model.trace(x):
            kept = nnsight.save([block.output.detach().mean() for block in model.blocks])
            loss = model.output.square().mean().save()
        loss.backward()
        optimizer.step()
        return float(loss), [float(mean) for mean in kept]

    return plain, observed


def observers(rounds: int) -> dict:
    (plain, _), (_, observed) = _wide(), _wide()
    without = given.bits([plain() for _ in range(given.STEPS)])
    found = [observed() for _ in range(given.STEPS)]
    losses = given.bits([loss for loss, _ in found])
    cost = given.ratio(plain, observed, rounds)
    note = "eager; a trace that saves"
    return {
        "plain": without, "observed": losses, "seen": found[0][1], "cost": cost, "note": note
    }  # fmt: skip


def order(rounds: int) -> dict:
    model, events = three(), given.Events()
    with given.printed(events):
        for x in BATCHES[:4]:
            with model.trace(x):
                for number in range(3):
                    mean = float(model.blocks[number].output.mean())
                    print("print", number, mean)
                    events.append(number, mean)
    return {"events": events.found, "calls": 4, "note": "eager; in the body of a trace"}


def index_out_of_range(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


def recompilation_cause(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


def python_state(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


def replay_elsewhere(rounds: int) -> dict:
    raise given.NotApplicable(OF_PYTORCH)


def detaching(rounds: int) -> dict:
    module = Net(map(Block, given.WIDE_WEIGHTS))
    model, x = nnsight.NNsight(module), torch.tensor(given.WIDE_BATCH)
    before = [float(module(x).square().mean()) for _ in range(5)][-1]
    kept = []
    for _ in range(5):
        with model.trace(x):
            means = nnsight.save([block.output.detach().mean() for block in model.blocks])
        kept += means
    after = [float(module(x).square().mean()) for _ in range(5)][-1]
    untraced = Net(map(Block, given.WIDE_WEIGHTS))
    cost = given.ratio(lambda: float(untraced(x).sum()), lambda: float(module(x).sum()), rounds)
    return {
        "before": given.bits([before]), "after": given.bits([after]),
        "compilations": 0, "cost": cost, "seen": len(kept),
        "note": "eager; the module that was wrapped",
    }  # fmt: skip
