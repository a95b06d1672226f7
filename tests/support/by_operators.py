# SPDX-License-Identifier: Apache-2.0
"""Executing records operator by operator where they would be compiled.

All of mycel takes part in it, and XLA, which would need twenty times as long, does not.
"""

from __future__ import annotations

import contextlib
import functools

import jax
import numpy as np

from mycel.kernel.execute import compile as compiling
from mycel.kernel.execute.fused import run_by_operator
from mycel.kernel.execute.looks import seen_bytes


@contextlib.contextmanager
def by_operators():
    """In this block, records run operator by operator where they would be compiled."""
    executable = compiling.Executable

    class OneByOne(executable):
        """A record in the place of its executable; packs and guards are put together by NumPy."""

        __slots__ = ()

        def __init__(self, key, live, guards=(), packs=(), look_at_indices=True, checked=()):
            super().__init__(key, live, guards, packs, look_at_indices)
            # An index that a program makes itself is looked at by the operator that reads it.
            self.indices = self.indices and self.indices._replace(inside=())
            self.compiled = True
            self.function = functools.partial(_one_by_one, key, live, guards, packs)

    compiling.executables.clear()
    compiling.Executable = OneByOne
    try:
        yield
    finally:
        compiling.Executable = executable
        compiling.executables.clear()


def _one_by_one(key, live, guards, packs, *arrays):
    more = [slot for pack in packs for slot in pack] + [guard.slot for guard in guards]
    made = run_by_operator(key, (*live, *more), arrays, None)
    results, rest = made[: len(live)], map(np.asarray, made[len(live) :])
    for pack in packs:
        results.append(jax.device_put(np.concatenate([next(rest).ravel() for _ in pack])))
    if guards:
        seen = b"".join(seen_bytes(next(rest), guard.kind) for guard in guards)
        results.append(np.frombuffer(seen, np.uint8))
    return results
