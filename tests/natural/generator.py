# SPDX-License-Identifier: Apache-2.0
"""Programs like those of this folder, drawn from a seed: holders of state × reads × changes ×
places × conditions. A program is source text; the oracle is PyNative, as for the others.

The opt-in run prints every seed that differs and exits with 1 if there is one; a program is printed
by `--show SEED`, and reduced to the smallest part that still differs by `--reduce SEED`:

    cd tests && python -m natural.generator --from 0 --to 100000 --jobs 2

It executes records operator by operator where they would be compiled (see support/by_operators.py);
`--compile` compiles them as users do.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import contextlib
import contextvars
import copy
import dataclasses
import functools
import gc
import itertools
import json
import linecache
import operator
import os
import random
import re
import subprocess
import sys
import textwrap
import types
import warnings

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import CALLS, RECORDINGS, Natural, batch, log, weight
from natural.pieces import HOLDERS, INSIDE, LASTING_USES, OUTSIDE, PREAMBLE, USES, VALUES
from natural.runner import WAYS, first_difference, play
from support.by_operators import by_operators

NAMES = {
    **{module.__name__: module for module in (collections, contextvars, dataclasses, functools)},
    **{module.__name__: module for module in (itertools, operator, os, random, types, nn, ops)},
    **{"np": np, "ms": ms, "nn": nn, "ops": ops, "Parameter": Parameter, "Tensor": Tensor},
    **{"batch": batch, "weight": weight, "log": log, "__name__": "natural.generated"},
}

# Functions in which the statements of a program stand, besides `step` and the loop.
UNITS = ("step", "helper", "construct", "child", "hook", "site", "loss", "objective")
FIRST_LINES = {
    "step": "@jit.step\ndef step(x, flag{arguments}):\n    y = x",
    "helper": "def helper(y):",
    "construct": "@jit.construct\ndef construct(self, y):",
    "child": "@jit.construct\ndef construct(self, y):",
    "hook": "def hook(cell, inputs, y):",
    "site": "@ms.every_call\ndef site(y):",
    "loss": "def loss(y):",
    "objective": "def objective(y):",
}
LAST_LINES = {
    "construct": "return ops.matmul(self.child(y), self.w) * 0.5",
    "loss": "return (y * y).sum() * 0.125",
    "objective": "return net(y).mean()",
}
CALLING = {
    "helper": "y = helper(y)",
    "construct": "y = net(y)",
    "child": "y = net(y)",
    "hook": "y = net(y)",
    "site": "y = site(y)",
    "loss": "y = y + gradient(y)",
    "objective": (
        "value, gradients = training(y)\n"
        "net.w.set_data(net.w - gradients[0] * 0.125)\n"
        "y = y * 0.5 + value"
    ),
}
# What cannot share a line with another statement.
COMPOUND = r"(if|for|while|try|match|with|def|class)\b|@|.*\n"
# How the step is made, and called by the loop.
FORMS = {
    "function": "",
    "method": "class Trainer:\n{body}\n\nstep = Trainer().step",
    "object": "class Step:\n{body}\n\nstep = jit.step(Step())",
    "partial": "{body}\n\nstep = jit.step(functools.partial(step))",
    "twice": "",
}


# -- drawing ----------------------------------------------------------------------------------


def drawn_plan(seed: int) -> dict:
    """A program as plain data: holders by name, and items (statements and where they stand)."""
    draw = random.Random(f"natural {seed}")
    kinds = draw.sample(list(HOLDERS), draw.choice((1, 2, 2, 3, 4)))
    quiet = draw.random() < 0.35
    if quiet:
        kinds = [kind for kind in kinds if not HOLDERS[kind].lasting] or ["dict"]
    holders = {f"h{k}": [kind, draw.choice(VALUES)] for k, kind in enumerate(kinds)}
    units = ["step", *draw.sample(UNITS[1:], draw.choice((0, 1, 1, 2, 3)))]
    items = []
    for _ in range(draw.choice((2, 3, 3, 4, 5, 6))):
        items.append(_drawn_use(draw, holders, units, quiet))
    for _ in range(draw.choice((0, 1, 1, 2, 2, 3))):
        items.append(_drawn_change(draw, holders, units, quiet))
    for name, (kind, _) in holders.items():
        if HOLDERS[kind].noise and draw.random() < 0.5:
            text = draw.choice(HOLDERS[kind].noise).replace("{h}", name)
            items.append({"unit": "loop", "text": text, "binds": [], "once": None})
    draw.shuffle(items)
    for unit in units[1:]:
        for _ in range(draw.choice((1, 1, 2))):
            place = draw.randrange(len(items) + 1)
            items.insert(place, {"unit": "step", "text": CALLING[unit], "binds": []})
    flag = draw.choice(("True", "True", "i % 2 == 0", "i < 7"))
    for item in items:
        item["joined"] = draw.random() < 0.3
    plan = {"seed": seed, "holders": holders, "items": items, "flag": flag, "quiet": quiet}
    plan["form"] = draw.choice(("function", *FORMS))
    plan["hooked"] = draw.choice(("net", "net.child"))
    return plan


def _expression(draw, holders: dict, unit: str) -> str:
    name, (kind, _) = draw.choice(list(holders.items()))
    text = draw.choice(HOLDERS[kind].reads)
    text = text.replace("{h}", name).replace("{v}", draw.choice(VALUES))
    return text.replace("net.", "self.") if unit == "construct" else text


def _drawn_use(draw, holders, units, quiet) -> dict:
    unit = draw.choice(units)
    while True:
        kind = draw.choice(list(USES))
        if not (quiet and kind in LASTING_USES):
            break
    text = USES[kind].replace("{r}", _expression(draw, holders, unit))
    return {"unit": unit, "text": text, "binds": [], "lasting": kind in LASTING_USES}


def _drawn_change(draw, holders, units, quiet) -> dict:
    name, (kind, _) = draw.choice(list(holders.items()))
    holder = HOLDERS[kind]
    inside = not quiet and draw.random() < 0.6
    unit = draw.choice(units) if inside else "loop"
    text = draw.choice([c for c in holder.changes if inside or "y." not in c])
    text = text.replace("{h}", name).replace("{v}", draw.choice(VALUES))
    condition = draw.choice(INSIDE if inside else OUTSIDE)
    if "flag" in condition and unit != "step":
        condition = "True"
    once = condition == "i == {k}"
    condition = condition.replace("{k}", str(draw.randrange(3, 12)))
    condition = condition.replace("{r}", _expression(draw, holders, unit))
    if condition != "True":
        text = f"if {condition}:\n" + textwrap.indent(text, "    ")
    if unit == "construct":
        text = text.replace("net.", "self.") if draw.random() < 0.5 else text
    binds = [name] if holder.rebinds else []
    return {"unit": unit, "text": text, "binds": binds, "lasting": inside, "once": once}


# -- source text ------------------------------------------------------------------------------


def source_of(plan: dict) -> str:
    """The text of a plan: what no item mentions is left out."""
    items = plan["items"]
    text = "\n".join(item["text"] for item in items)
    called = [unit for unit in UNITS[1:] if re.search(rf"\b{_called(unit)}\(", text)]
    used = {
        name: (kind, value)
        for name, (kind, value) in plan["holders"].items()
        if re.search(rf"\b{name}", text) or HOLDERS[kind].inside
    }
    inside = [(name, kind, value) for name, (kind, value) in used.items() if HOLDERS[kind].inside]
    arguments = [name for name, (kind, _) in used.items() if HOLDERS[kind].argument]
    parts = [_filled(HOLDERS[kind].declare, name, value) for name, (kind, value) in used.items()]
    parts.append("notes = []")
    if inside or re.search(r"\bnet\b|\btraining\(", text) or "self." in text:
        parts.append(_network(items, inside))
        if any(item["unit"] == "hook" for item in items):
            hooked = f"{plan['hooked']}.register_forward_hook(hook)"
            parts.append(f"{_unit('hook', items)}\n\n{hooked}")
    for unit in ("helper", "site", "loss", "objective"):
        parts += [_unit(unit, items)] if unit in called else []
    parts += ["gradient = ms.grad(loss)"] if "loss" in called else []
    if "objective" in called:
        parts.append("training = ms.value_and_grad(objective, None, [net.w])")
    parts += [_step(plan, arguments), _loop(plan, arguments)]
    shown = [_filled(HOLDERS[kind].show, name, value) for name, (kind, value) in used.items()]
    parts.append(f"return loop, lambda: ({', '.join([*shown, 'notes'])},)")
    body = "\n\n".join(part for part in parts if part)
    classes = [text for name, text in PREAMBLE.items() if f"{name}(" in body]
    body = "\n\n".join([*classes, body])
    return "def generated(jit):\n" + textwrap.indent(body, "    ") + "\n"


def _called(unit: str) -> str:
    names = {"loss": "gradient", "objective": "training"}
    return "net" if unit in ("construct", "child", "hook") else names.get(unit, unit)


def _filled(text: str, name: str, value: str) -> str:
    return text.replace("{h}", name).replace("{v}", value)


def _network(items, inside) -> str:
    child = textwrap.indent(_unit("child", items), "    ")
    child = f"class Child(nn.Cell):\n{child}" if "child" in {i["unit"] for i in items} else ""
    lines = ["super().__init__()", 'self.w = Parameter(weight(), name="w")']
    lines.append("self.child = Child()" if child else "self.child = nn.ReLU()")
    lines += [_filled(HOLDERS[kind].inside, name, value) for name, kind, value in inside]
    start = "def __init__(self):\n" + textwrap.indent("\n".join(lines), "    ")
    body = textwrap.indent(start + "\n\n" + _unit("construct", items), "    ")
    return f"{child}\n\nclass Net(nn.Cell):\n{body}\n\nnet = Net()".strip()


def _step(plan: dict, arguments: list) -> str:
    text, form = _unit("step", plan["items"], arguments), plan["form"]
    if form == "method":
        text = text.replace("step(x", "step(self, x")
    if form == "object":
        text = text.replace("@jit.step\ndef step(x", "def __call__(self, x")
    if form == "partial":
        text = text.replace("@jit.step\n", "")
    if form in ("method", "object"):
        text = textwrap.indent(text, "    ")
    return FORMS[form].replace("{body}", text) or text


def _unit(unit: str, items, arguments=()) -> str:
    mine = [item for item in items if item["unit"] == unit]
    binds = sorted({name for item in mine for name in item["binds"]} - set(arguments))
    lines = [f"nonlocal {', '.join(binds)}"] if binds else []
    lines += _on_lines(mine)
    lines.append(LAST_LINES.get(unit, "return y"))
    first = FIRST_LINES[unit].replace("{arguments}", "".join(f", {name}" for name in arguments))
    return first + "\n" + textwrap.indent("\n".join(lines), "    ")


def _on_lines(items: list) -> list:
    """The statements of items; simple ones that are joined stand on one line."""
    lines: list[str] = []
    for item in items:
        simple = [re.match(COMPOUND, text) is None for text in (*lines[-1:], item["text"])]
        if item.get("joined") and simple == [True, True]:
            lines[-1] += "; " + item["text"]
        else:
            lines.append(item["text"])
    return lines


def _loop(plan, arguments) -> str:
    mine = [item for item in plan["items"] if item["unit"] == "loop"]
    binds = sorted({name for item in mine for name in item["binds"]})
    lines = [f"nonlocal {', '.join(binds)}"] if binds else []
    lines += [item["text"] for item in mine]
    given = ", ".join(["batch(i)", plan["flag"], *arguments])
    call = f"step({given})"
    lines.append(f"return {call}, {call}" if plan["form"] == "twice" else f"return {call}")
    return "def loop(i):\n" + textwrap.indent("\n".join(lines), "    ")


def least_replays(plan: dict) -> int:
    """How many calls must be replayed: all but the recordings of each state it goes through."""
    if not plan["quiet"]:
        return 0
    changes = [item["once"] for item in plan["items"] if item.get("once") is not None]
    sites = {item["unit"] for item in plan["items"]} & {"hook", "site"}
    if not all(changes) or changes and sites:
        return 0  # a site that does something new is found out in the middle of a replay
    keys = 1 if plan["flag"] == "True" else 2
    return max(0, CALLS - RECORDINGS * keys * (1 + len(changes)))


def natural_of(plan: dict) -> Natural:
    """The program of a plan; its source is known to `inspect`."""
    text, file = source_of(plan), f"natural_{plan['seed']}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = dict(NAMES)
    exec(compile(text, file, "exec", dont_inherit=True), namespace)
    return Natural(namespace["generated"], least_replays(plan))


# -- running ----------------------------------------------------------------------------------


def run_plan(plan: dict) -> dict:
    """What differs, by way; and the counts of calls, replays and lost replays."""
    natural = natural_of(plan)
    found: dict = {"different": {}, "lost": {}, "calls": 0, "replayed": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = play(natural, "pynative")
        for way in WAYS:
            if way == "construct" and not natural.has_cell:
                continue
            run = play(natural, way)
            difference = first_difference(run, expected, rounded=True)
            if difference:
                found["different"][way] = difference
            elif len(run.replayed) < _least(natural, way):
                found["lost"][way] = [len(run.replayed), natural.replays, run.ledger[-2:]]
            found["calls"] += CALLS
            found["replayed"] += len(run.replayed)
    linecache.cache.pop(f"natural_{plan['seed']}.py", None)
    return found


def _least(natural: Natural, way: str) -> int:
    """How many calls must be replayed: where the network is not called, only the step is."""
    body = natural.body
    called = (
        way in ("step", "script") or "= net(" in body or "gradient(" in body or "training(" in body
    )
    return natural.least_replays(way) if called else 0


def run_seeds(start: int, end: int) -> dict:
    """Seeds that differ or lose replays, with what was found, and counts."""
    total: dict = {"different": {}, "lost": {}, "calls": 0, "replayed": 0}
    gc.collect()
    gc.freeze()  # Collections need not look at all that was imported, at 0.1 s each.
    for seed in range(start, end):
        found = run_plan(drawn_plan(seed))
        for part in ("different", "lost"):
            if found[part]:
                total[part][seed] = found[part]
        for part in ("calls", "replayed"):
            total[part] += found[part]
        if seed % 50 == 0:
            gc.collect()
    return total


def reduced(plan: dict, part: str = "different") -> dict:
    """The smallest part of a plan that still differs (or loses replays)."""
    while True:
        for index in range(len(plan["items"])):
            smaller = copy.deepcopy(plan)
            del smaller["items"][index]
            if run_plan(smaller)[part]:
                plan = smaller
                break
        else:
            return plan


def _in_batches(options) -> int:
    """Each batch in a process of its own; prints what was found."""
    own = [sys.executable, "-m", "natural.generator", "--in-process"]
    own += ["--compile"] if options.compile else []

    def run(start: int):
        end = min(start + options.batch, options.end)
        command = [*own, "--from", str(start), "--to", str(end)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return start, {"different": {start: done.stderr[-2000:]}, "lost": {}}
        return start, json.loads(done.stdout.splitlines()[-1])

    starts = range(options.start, options.end, options.batch)
    different = lost = calls = replayed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for start, found in pool.map(run, starts):
            for part in ("different", "lost"):
                for seed, what in found[part].items():
                    print(f"{part}: seed {seed}: {what}", flush=True)
            different, lost = different + len(found["different"]), lost + len(found["lost"])
            calls, replayed = calls + found.get("calls", 0), replayed + found.get("replayed", 0)
            print(f"to {start + options.batch}: {different} different, {lost} lost", flush=True)
    print(f"{different} different, {lost} lost replays; {replayed} of {calls} calls replayed")
    return 1 if different or lost else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--to", dest="end", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--reduce", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.show is not None:
        print(source_of(drawn_plan(options.show)))
        return 0
    if not options.in_process and options.reduce is None:
        return _in_batches(options)
    with contextlib.nullcontext() if options.compile else by_operators():
        if options.reduce is None:
            print(json.dumps(run_seeds(options.start, options.end)))
            return 0
        plan = drawn_plan(options.reduce)
        part = "different" if run_plan(plan)["different"] else "lost"
        plan = reduced(plan, part) if run_plan(plan)[part] else plan
        print(source_of(plan), run_plan(plan), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
