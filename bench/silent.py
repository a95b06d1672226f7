# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.silent`: whose compiled functions are silently wrong, and how often.

Programs as users write them (silent_programs.py and its neighbours) are written once, and played
in mycel, PyTorch, JAX and MindSpore: 14 calls plain and 14 calls with the step compiled, each
system in a process of its own. The plain run is the oracle of its system. The first deviation
decides: an exception that the plain run does not raise is *raises*, another result of a call or
another Python state at the end is *silently different*. Numbers count by value, whatever type or
container has them, so that an array in the place of a Python number is no difference.

A warning is no exception; where one came with a difference, its beginning is shown. The Python
state of a program is what its `state()` shows. The plain runs of the systems are compared too:
where they differ, it was not the same program.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import logging
import math
import os
import random
import shutil
import subprocess
import sys
import types
import warnings

import numpy as np

from bench import (
    silent_arguments,
    silent_effects,
    silent_equal,
    silent_programs,
    silent_settings,
)
from bench.frameworks import HERE, python_of
from bench.silent_programs import CALLS, PROGRAMS

RELATIVE, ABSOLUTE = 1e-5, 1e-6
KINDS = SAME, RAISES, DIFFERENT = "same", "raises", "silently different"
# The environment of a system, and the backend of `torch.compile`: first the one it has by itself.
SYSTEMS = {
    "mycel": ("mycel", ""),
    "torch": ("torch", "inductor"),
    "torch-aot_eager": ("torch", "aot_eager"),
    "jax": ("jax", ""),
    "mindspore": ("mindspore-2.10.0", ""),
}
FILES = (silent_programs, silent_effects, silent_settings, silent_arguments, silent_equal)

# Quarters: sums and products of few of them are exact, whatever the order.
_DRAW = np.random.RandomState(7)
BATCHES = [(_DRAW.randint(-4, 5, (2, 3)) / 4).astype(np.float32) for _ in range(3)]
WEIGHT = (_DRAW.randint(-4, 5, (3, 3)) / 4).astype(np.float32)


# -- the systems -----------------------------------------------------------------------------------


class System:
    """One system: what it compiles with, its operators, how its arrays are read.

    Attributes:
        facade: what programs are written in; a module, as a framework's names are the names of one.
    """

    version = ""

    def __init__(self, **names):
        # MindSpore imports the modules of what it is given by their names.
        self.facade = sys.modules["facade"] = types.ModuleType("facade")
        names["batch"] = lambda i: names["array"](BATCHES[i % 3])
        vars(self.facade).update(names, BATCHES=BATCHES, WEIGHT=WEIGHT)

    def compiled(self, function, static):
        raise NotImplementedError

    def as_numpy(self, value):
        """An array of the system as one of NumPy; None if it is no array of the system."""
        raise NotImplementedError

    def begin(self) -> None:
        """Forget what was compiled, and seed."""

    def replays(self) -> int | None:
        """How many calls ran without Python, where the system counts them."""
        return None


OPERATORS = ("exp", "tanh", "sqrt", "relu", "where", "maximum")


def operators(*modules) -> dict:
    """The operators that have one name in all systems."""
    return {
        name: next(getattr(module, name) for module in modules if hasattr(module, name))
        for name in OPERATORS
    }


class MindSpore(System):
    """mycel and MindSpore, which have the same names."""

    def __init__(self, name: str):
        self.ms = ms = importlib.import_module(name)

        class Module(ms.nn.Cell):
            def construct(self, *inputs):
                return self.forward(*inputs)

            def train(self, mode=True):
                self.set_train(mode)

        names = operators(ms.ops)
        super().__init__(
            array=ms.Tensor, concat=ms.ops.concat, grad=ms.grad, Module=Module, **names
        )
        self.version = f"{name} {ms.__version__}"

    def compiled(self, function, static):
        return self.ms.jit(function)

    def as_numpy(self, value):
        return value.asnumpy() if isinstance(value, self.ms.Tensor) else None

    def begin(self):
        self.ms.set_seed(3)

    def replays(self):
        return self.ms.debug.ledger().counts.replays if hasattr(self.ms, "debug") else None


class Torch(System):
    """PyTorch with the guards of Dynamo."""

    def __init__(self, backend: str):
        self.torch = torch = importlib.import_module("torch")
        self.backend = backend
        names = operators(torch)
        super().__init__(
            array=torch.tensor,
            concat=torch.cat,
            grad=torch.func.grad,
            Module=torch.nn.Module,
            **names,
        )
        self.version = f'torch {torch.__version__}, backend="{backend}"'

    def compiled(self, function, static):
        return self.torch.compile(function, backend=self.backend)

    def as_numpy(self, value):
        return value.detach().numpy() if isinstance(value, self.torch.Tensor) else None

    def begin(self):
        self.torch.compiler.reset()
        self.torch.manual_seed(3)


class Jax(System):
    """JAX, whose users name the arguments that are no arrays."""

    def __init__(self):
        self.jax = jax = importlib.import_module("jax")
        numpy = importlib.import_module("jax.numpy")

        class Module:
            training = True

            def __call__(self, *inputs):
                return self.forward(*inputs)  # type: ignore[attr-defined]

            def train(self, mode=True):
                self.training = mode

        names = operators(numpy, jax.nn)
        super().__init__(
            array=numpy.array, concat=numpy.concatenate, grad=jax.grad, Module=Module, **names
        )
        self.version = f"jax {jax.__version__}"

    def compiled(self, function, static):
        return self.jax.jit(function, static_argnames=static)

    def as_numpy(self, value):
        return np.asarray(value) if isinstance(value, self.jax.Array) else None

    def begin(self):
        self.jax.clear_caches()


def system_of(name: str) -> System:
    """The system of a name of SYSTEMS."""
    environment, backend = SYSTEMS[name]
    if environment == "torch":
        return Torch(backend)
    return Jax() if name == "jax" else MindSpore(name)


# -- playing ---------------------------------------------------------------------------------------


def play(system: System, name: str, compiled: bool) -> list:
    """Pictures of the results of all calls, and of the state at the end."""
    random.seed(3)
    np.random.seed(3)
    system.begin()

    def jit(function, static=()):
        return system.compiled(function, static) if compiled else function

    vars(system.facade)["jit"] = jit
    loop, state = PROGRAMS[name](system.facade)
    return [*(outcome(system, loop, i) for i in range(CALLS)), outcome(system, state)]


def outcome(system: System, function, *args) -> dict:
    """What a call returns or raises."""
    try:
        return {"value": picture(system, function(*args))}
    except Exception as error:
        text = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {text[:160]}"}


def picture(system: System, value):
    """A copy of a tree, of numbers, texts, lists and dicts, that JSON can hold."""
    array = system.as_numpy(value)
    value = value if array is None else array
    if isinstance(value, (np.ndarray, np.generic)):
        return {"shape": list(value.shape), "of": value.tolist()} if value.ndim else value.item()
    if isinstance(value, dict):
        return {repr(key): picture(system, value[key]) for key in sorted(value, key=repr)}
    if isinstance(value, (list, tuple, collections.deque)):
        return [picture(system, part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return type(value).__name__


def alike(actual, expected) -> bool:
    """Whether two pictures show the same."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return actual.keys() == expected.keys() and all(
            alike(actual[key], expected[key]) for key in expected
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(actual) == len(expected) and all(map(alike, actual, expected))
    numbers = (bool, int, float)
    if isinstance(expected, numbers) and isinstance(actual, numbers):
        if math.isnan(expected) or math.isnan(actual):
            return math.isnan(expected) and math.isnan(actual)
        return math.isclose(actual, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(actual) is type(expected) and actual == expected


def verdict(compiled: list, plain: list) -> tuple[str, str]:
    """The class of a program, and where its first deviation lies."""
    for index, (actual, expected) in enumerate(zip(compiled, plain, strict=True)):
        where = f"call {index}" if index < CALLS else "the state at the end"
        if "error" in actual:
            if "error" in expected:
                continue
            return RAISES, f"{where}: {actual['error']}"
        if "error" in expected or not alike(actual["value"], expected["value"]):
            said = [json.dumps(side.get("value", side))[:80] for side in (actual, expected)]
            return DIFFERENT, f"{where}: {said[0]} for {said[1]}"
    return SAME, ""


def work(name: str, programs: list[str]) -> None:
    """Play programs in this process; write one line of JSON for each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints does not mix with the answers
    logging.disable(logging.CRITICAL)
    system = system_of(name)
    print(json.dumps({"version": system.version}), file=answers, flush=True)
    for program in programs:
        plain = play(system, program, compiled=False)
        before = system.replays()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            compiled = play(system, program, compiled=True)
        after = system.replays()
        kind, where = verdict(compiled, plain)
        if kind == DIFFERENT and warned:
            where += f" (warned: {' '.join(str(warned[0].message).split())[:80]})"
        row = {"program": program, "verdict": kind, "where": where, "plain": plain}
        if after is not None and before is not None:
            row["replays"] = after - before
        print(json.dumps(row), file=answers, flush=True)


# -- all of them -----------------------------------------------------------------------------------


def run(name: str, programs: list[str]) -> tuple[str, dict[str, dict]]:
    """The version of a system, and a row for each program.

    A program that ends the process is one that raises; the others go on in a new one.

    Raises:
        SystemExit: the system cannot be installed, or does not start.
    """
    environment, backend = SYSTEMS[name]
    if backend == "inductor" and not shutil.which("c++"):
        raise SystemExit("it needs a C++ compiler.")
    python = python_of(environment)
    version, rows, left = "", {}, list(programs)
    while left:
        process = subprocess.Popen(
            [python, "-m", "bench.silent", "--work", name, *left],
            cwd=HERE.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        hello = process.stdout.readline()
        if not hello:
            raise SystemExit("it does not start.")
        version = json.loads(hello)["version"]
        for line in process.stdout:
            row = json.loads(line)
            rows[row["program"]] = row
        process.wait()
        left = [program for program in left if program not in rows]
        if left:
            rows[left.pop(0)] = {"verdict": RAISES, "where": "the process ended", "plain": None}
    return version, rows


def told(version: str, rows: dict[str, dict]) -> None:
    """Print what a system got wrong, by the file that the programs are in."""
    print(f"\n{version}")
    for kind in (DIFFERENT, RAISES):
        for module in FILES:
            of_module = [name for name in rows if PROGRAMS[name].__module__ == module.__name__]
            found = [name for name in of_module if rows[name]["verdict"] == kind]
            if found:
                print(f"  {kind}, of {len(of_module)} in {module.__name__.split('.')[-1]}:")
            for name in found:
                print(f"    {name}: {rows[name]['where']}")


def unlike(found: dict[str, tuple[str, dict]]) -> None:
    """Say in which programs the plain runs of two systems differ."""
    first, *others = found
    for name in others:
        mine, theirs = found[first][1], found[name][1]
        apart = [
            program
            for program in mine
            if mine[program]["plain"]
            and theirs[program]["plain"]
            and not all(map(same_call, mine[program]["plain"], theirs[program]["plain"]))
        ]
        if apart:
            print(f"Plain runs of {first} and {name} differ in {', '.join(apart)}")


def same_call(a: dict, b: dict) -> bool:
    """Whether two calls returned the same, or raised both."""
    return a.keys() == b.keys() and ("error" in a or alike(a["value"], b["value"]))


def main() -> None:
    """Play all programs in all systems, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.silent", description=__doc__)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=PROGRAMS)
    options = parser.parse_args()
    found = {}
    for name in options.systems:
        try:
            found[name] = run(name, options.programs)
        except SystemExit as error:
            print(f"{name} is left out: {error}")
    for version, rows in found.values():
        told(version, rows)
    number = f"{len(options.programs)} programs, {CALLS} calls each"
    print(f"\n{number:44s}" + "".join(f"{kind:>20s}" for kind in KINDS))
    for version, rows in found.values():
        counts = collections.Counter(row["verdict"] for row in rows.values())
        print(f"{version:44s}" + "".join(f"{counts[kind]:20d}" for kind in KINDS))
        replays = [row["replays"] for row in rows.values() if "replays" in row]
        if replays:
            text = f"{sum(replays)} of {CALLS * len(rows)} calls replayed"
            print(f"  {text}, in {sum(map(bool, replays))} programs")
    unlike(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3:])
    else:
        main()
