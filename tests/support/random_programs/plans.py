# SPDX-License-Identifier: Apache-2.0
"""Drawing the plan of a random program: plain data that says all of it; see play.py."""

from __future__ import annotations

import random

from support.random_programs.vocabulary import (
    ACT_KINDS,
    ACT_TIMES,
    ACT_WEIGHTS,
    CELL_REVERSE,
    FORWARD,
    LEAVES,
    STEP_WEIGHTS,
)

CALLS = 10
FORMS = {
    "function": 4,
    "each call": 2,
    "operation": 2,
    "with sensitivity": 1,
    "with others": 1,
    "trainer": 2,
    "forward": 1,
    "second": 1,
}
EVENTS = {"register": 4, "remove": 3, "train": 1, "gate": 2, "assign": 2, "freeze": 1, "swap": 1}


def _weighted(draw: random.Random, weights: dict):
    return draw.choices(list(weights), list(weights.values()))[0]


def drawn_plan(seed: int, attempt: int = 0) -> dict:
    """The plan of a seed; of the next attempt if a decision was taken too near to its edge."""
    draw = random.Random(f"{seed} {attempt}")
    plan: dict = {"seed": seed, "cells": [], "hooks": [], "start": [], "calls": []}
    _draw_cell(draw, plan, 0)
    for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 4))):
        plan["start"].append(["register", _draw_hook(draw, plan)])
    if draw.random() < 0.7:
        plan["start"].append(["train", True])
    for _ in range(CALLS):
        signal = draw.random() < 0.2
        how = draw.choices(("step", "step with a number", "evaluation"), (18, 1, 1))[0]
        plan["calls"].append([draw.randrange(3), how, [["signal", signal]]])
    for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
        draw.choice(plan["calls"][1:])[2].append(_draw_event(draw, plan))
    plan["form"] = _weighted(draw, FORMS)
    plan["position"] = draw.choice((0, 0, None, (0, 1)))
    plan["by_weights"] = plan["position"] is None or draw.random() < 0.8
    plan["update"] = draw.choice(("set_data", "assign", "guarded", "none"))
    plan["compiled"] = draw.choice(("jit", "jit", "graph"))
    return plan


def _draw_cell(draw, plan, depth: int, chained: bool = False) -> int:
    kinds = {"plain": 5, "pair": 1, "reversed": 1, "internal": 1, "recomputed": 1, "jitted": 0.5}
    if depth:
        kinds |= {"dense": 1, "norm": 0.5, "dropout": 0.3}
    if depth < 2:
        kinds["sequential"] = 1
    if chained:
        del kinds["pair"]
    kind = _weighted(draw, kinds)
    index = len(plan["cells"])
    made = {"kind": kind, "children": [], "steps": [], "keyword": False}
    plan["cells"].append(made)
    if kind in LEAVES:
        made["done"] = True
        return index
    few = (2, 2, 3) if kind == "sequential" else (0, 0, 1) if depth else (1, 1, 2, 3)
    if depth < 2:
        for _ in range(draw.choice(few)):
            made["children"].append(_draw_child(draw, plan, depth, kind == "sequential"))
    made["done"] = True
    if kind == "sequential":
        return index
    made["keyword"] = kind in ("plain", "pair", "recomputed") and draw.random() < 0.3
    steps = [_weighted(draw, STEP_WEIGHTS) for _ in range(draw.choice((1, 2, 3)))]
    for place in range(len(made["children"])):
        steps.insert(draw.randrange(len(steps) + 1), ("child", place))
    for name in steps:
        index_of = draw.randrange(8)
        if isinstance(name, tuple):
            name, index_of = name
        kind_of_hook = {"hooked": "tensor", "inserted": "tensor"}.get(name)
        kind_of_hook = {"point": "point", "watched": "every"}.get(name, kind_of_hook)
        if kind_of_hook or name == "registering":
            index_of = _draw_hook(draw, plan, kind_of_hook)
        number = draw.randrange(100) / 100
        made["steps"].append([name, draw.random(), draw.random(), number, index_of])
    return index


def _draw_child(draw, plan, depth: int, chained: bool) -> int:
    """A new Cell, or one that has a place elsewhere."""
    finished = [
        index
        for index, cell in enumerate(plan["cells"])
        if cell.get("done") and not (chained and cell["kind"] == "pair")
    ]
    if finished and draw.random() < 0.15:
        return draw.choice(finished)
    return _draw_cell(draw, plan, depth + 1, chained)


def _draw_hook(draw, plan, kind: str | None = None) -> int:
    """A hook by its number; one without a kind gets something to be registered on."""
    index = len(plan["hooks"])
    made: dict = {"on": None}
    plan["hooks"].append(made)
    if kind is None:
        place = _weighted(draw, {"cell": 6, "parameter": 1, "input": 1})
        kind = draw.choice((*FORWARD, *CELL_REVERSE)) if place == "cell" else "tensor"
        made["on"] = [place, draw.randrange(8)]
    made["kind"] = kind
    made["form"] = draw.choice(("object", "lambda", "method", "partial"))
    made["keyword"] = kind in FORWARD and draw.random() < 0.2
    made["acts"] = [_draw_act(draw, plan, kind) for _ in range(draw.choice((1, 1, 1, 2, 2)))]
    return index


def _draw_act(draw, plan, kind: str) -> list:
    known = {n: w for n, w in ACT_WEIGHTS.items() if kind in ACT_KINDS[n]}
    if len(plan["hooks"]) > 12:
        known = {"observe": 1, "scaled": 1}
    name = _weighted(draw, known)
    index = draw.randrange(8)
    if name == "registered":
        index = _draw_hook(draw, plan)
    elif name == "followed":
        index = _draw_hook(draw, plan, "tensor")
    when = draw.choice(ACT_TIMES[name])
    return [name, when, draw.randrange(2, 14), draw.randrange(100) / 100, index]


def _draw_event(draw, plan) -> list:
    what = _weighted(draw, EVENTS)
    if what == "register":
        return [what, _draw_hook(draw, plan)]
    if what == "train":
        return [what, draw.random() < 0.5]
    return [what, draw.randrange(8)]
