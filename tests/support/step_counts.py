# SPDX-License-Identifier: Apache-2.0
"""What three training steps are made of, counted: LeNet-5, ResNet-18 and an encoder block.

What is recorded lies in fixtures/programs.json, made by `python tests/support/step_counts.py`; a
change that makes a step heavier changes it, with a reason in the commit. Only counts: no clock is
read.
"""

from __future__ import annotations

import collections
import gc
import json
import os
import pathlib
import re
import subprocess
import sys

import jax

# The bench lies beside the tests.
sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

import mycel as ms
from bench import in_mycel
from mycel.kernel.execute.compile import decode, executables

WORK = ("lenet", "resnet18", "transformer")
KEPT = pathlib.Path(__file__).parents[1] / "fixtures" / "programs.json"
SETTLED = 4
_OPERATION = re.compile(r"= \"?(?:stablehlo|chlo|mhlo)\.(\w+)")


class Recorder:
    """Notes the executables that are asked for, with the records they are of."""

    def __init__(self):
        self.used: list[tuple] = []

    def __enter__(self):
        self._get = executables.get
        executables.get = self._note
        return self

    def __exit__(self, *_):
        del executables.get

    def _note(self, *place):
        found = self._get(*place)
        self.used.append((place[0], found))
        return found


def python_calls(function) -> int:
    """How many functions of Python are called."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def counted(work: str) -> dict:
    """The counts of one training step in PyNative, when it has settled, and of a replayed one."""
    executables.clear()
    counts = ms.debug.ledger().counts
    step = in_mycel.make(work, "pynative")
    for _ in range(SETTLED):
        step()
    before = counts.segments, counts.compilations
    with Recorder() as recorder:
        step()
    ((key, executable),) = recorder.used
    found = {
        "segments": counts.segments - before[0],
        "compilations": counts.compilations - before[1],
        "python calls": python_calls(step),
        "objects that stay": objects_that_stay(step),
    }
    graph = in_mycel.make(work, "graph")
    for _ in range(SETTLED):
        graph()
    found["compilations of the replayed step"] = counts.compilations - before[1]
    found["python calls of the replayed step"] = python_calls(graph)
    return found | program(key, executable)


def objects_that_stay(step) -> int:
    """By how many objects the process has grown after ten steps without the collector."""
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(10):
            step()
        return len(gc.get_objects()) - before
    finally:
        gc.enable()


def program(key, executable) -> dict:
    """Operations that XLA is given, by name, and the memory it takes for what lies between."""
    inputs: dict[int, jax.ShapeDtypeStruct] = {}
    for node in decode(key):
        for slot, aval in zip(node.inputs, node.signature.inputs, strict=True):
            inputs[slot] = aval.struct
    outside = sorted((slot for slot in inputs if slot < 0), reverse=True)
    lowered = executable.lower([inputs[slot] for slot in outside])
    names = collections.Counter(_OPERATION.findall(lowered.as_text()))
    return {
        "operations": dict(sorted(names.items())),
        "temporary bytes": lowered.compile().memory_analysis().temp_size_in_bytes,
    }


def counted_apart(work: str) -> dict:
    """The counts in a fresh process, where nothing else has been done."""
    command = [sys.executable, __file__, work]
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(answer.stdout)


def main() -> None:
    """Record the counts; of one piece of work, print them."""
    if sys.argv[1:]:
        print(json.dumps(counted(sys.argv[1])))
        return
    kept = {"jax": jax.__version__, **{work: counted_apart(work) for work in WORK}}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    for work in WORK:
        print(work, {k: v for k, v in kept[work].items() if k != "operations"})


if __name__ == "__main__":
    main()
