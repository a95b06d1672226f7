# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.figures`: the figures of the code base that reviews ask for.

Lines count everything in a file. `frames` are the functions of ours that one call runs, and `files`
the files they stand in, counted by a profile function behind a few calls that warm up.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.kernel.base.log import without_notes
from mycel.kernel.record import value

SOURCE = Path(ms.__file__).parent
KERNEL, RECORD = SOURCE / "kernel", SOURCE / "kernel" / "record"
STREAM_SLOTS = re.compile(r"\b(?:stream|current_stream\(\)|local\.stream)\.\w+ = ")
VALUES = re.compile(r"\._value = ")
GIVEN = re.compile(r"^given\b.*[:=]", re.MULTILINE)
WARM = 6


def lines_of(files: list[Path]) -> int:
    """How many lines files have."""
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def matches(pattern: re.Pattern, files: list[Path]) -> int:
    """How often a pattern stands in files."""
    return sum(len(pattern.findall(file.read_text("utf-8"))) for file in files)


def classes_of(files: list[Path]) -> int:
    """How many classes files define."""
    return sum(
        isinstance(node, ast.ClassDef)
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
    )


def without_arguments() -> list[str]:
    """Operators with three parameters or more whose docstrings have no `Args:`."""
    found = []
    with without_notes():
        operators = {name: getattr(ops, name) for name in dir(ops)}
    for name, operator in operators.items():
        if name.startswith("_") or not inspect.isfunction(operator):
            continue
        if len(inspect.signature(operator).parameters) >= 3 and "Args:" not in (
            inspect.getdoc(operator) or ""
        ):
            found.append(name)
    return found


def frames(call: Callable) -> tuple[int, int]:
    """How many functions of ours one call runs, and in how many files they stand."""
    files: list[str] = []

    def note(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith((str(SOURCE), "<mycel")):
            files.append(name)

    for _ in range(WARM):
        call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files), len({name for name in files if not name.startswith("<")})


def walks() -> Iterator[tuple[str, tuple[int, int]]]:
    """The calls whose functions are counted: an operator, and steps of a small network."""
    x = Tensor(np.ones((4, 8), np.float32))
    net = nn.SequentialCell(nn.Dense(8, 8), nn.ReLU(), nn.Dense(8, 1))
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    derivative = ms.value_and_grad(lambda x: net(x).mean(), None, optimizer.parameters)

    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    yield "relu", frames(lambda: ops.relu(x))
    ms.flush()
    compiled = ms.jit(step)
    yield "replayed step", frames(lambda: compiled(x))
    yield "PyNative step", frames(lambda: step(x).asnumpy())
    handle = net.register_backward_hook(lambda cell, grad_input, grad_output: None)
    yield "derivative with a backward hook", frames(lambda: derivative(x)[0].asnumpy())
    handle.remove()


def figures() -> Iterator[tuple[str, object]]:
    """Names and figures."""
    tree = sorted(SOURCE.rglob("*.py"))
    kernel = [file for file in tree if KERNEL in file.parents]
    outside = [file for file in tree if RECORD not in file.parents]
    observer = [n for n, m in vars(value.Observer).items() if inspect.isfunction(m) and n[0] != "_"]
    yield "lines of src/mycel", lines_of(tree)
    yield "kernel: lines", lines_of(kernel)
    yield "kernel: files", len(kernel)
    yield "kernel: classes", classes_of(kernel)
    for room in sorted(
        {file.relative_to(KERNEL).parts[0] for file in kernel if file.parent != KERNEL}
    ):
        inside = [file for file in kernel if KERNEL / room in file.parents]
        yield f"kernel/{room}: lines, files", (lines_of(inside), len(inside))
    yield "methods of Observer", len(observer)
    yield "slots of a stream assigned outside kernel/record", matches(STREAM_SLOTS, outside)
    yield "`._value =` outside kernel/record", matches(VALUES, outside)
    yield "registries called `given`", matches(GIVEN, tree)
    yield "files at the root of ops", len(list((SOURCE / "ops").glob("*.py")))
    yield "operators without Args", len(without_arguments())
    for name, counted in walks():
        yield f"{name}: frames, files", counted


if __name__ == "__main__":
    for name, figure in figures():
        print(f"{name:52} {figure}")
