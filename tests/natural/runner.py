# SPDX-License-Identifier: Apache-2.0
"""Runs a program in one way, and says where two runs differ.

The oracle is PyNative, operator by operator. What is compared, call by call: result or exception,
the state that the program shows, printed and logged text, warnings.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import dataclasses
import enum
import inspect
import io
import logging
import os
import random
import re
import sys
import textwrap
import types
import warnings

import numpy as np

import mycel as ms
from harness import execution
from mycel import Parameter, Tensor
from natural.common import CALLS, Natural

# "script" is the body of the program as a module: its closures are globals there.
WAYS = ("step", "construct", "graph", "script")
RELATIVE, ABSOLUTE = 1e-5, 1e-6
# What mycel itself says about a function that keeps running in PyNative is no part of a program.
OURS = ("PyNative", "mycel", "hooks on")


class Jit:
    """What a program decorates with: `ms.jit` or nothing, by the way it is run."""

    def __init__(self, way: str):
        self.way = way
        self._undo = contextlib.ExitStack()

    def step(self, function):
        return ms.jit(function) if self.way in ("step", "script") else function

    def construct(self, function):
        return ms.jit(function) if self.way == "construct" else function

    def undo(self, function, *args) -> None:
        """Call this when the program has ended: it changed what others use as well."""
        self._undo.callback(function, *args)

    def close(self) -> None:
        self._undo.close()


@dataclasses.dataclass
class Run:
    """One row per call, and the indices of the calls that were replayed."""

    rows: list = dataclasses.field(default_factory=list)
    replayed: list = dataclasses.field(default_factory=list)
    ledger: list = dataclasses.field(default_factory=list)


def play(natural: Natural, way: str) -> Run:
    """Run a program: "pynative", or one of WAYS."""
    run = Run()
    jit = Jit(way)
    with _surroundings() as seen, execution("direct" if way == "pynative" else _mode(way)):
        build = as_script(natural.build) if way == "script" else natural.build
        try:
            loop, state = build(jit)
            counts = ms.debug.ledger().counts
            for index in range(CALLS):
                before = counts.replays
                result = _outcome(loop, index)
                if counts.replays > before:
                    run.replayed.append(index)
                run.rows.append((result, _outcome(state), seen.text(), seen.warned()))
            run.ledger = [str(line) for line in ms.debug.ledger().lines]
        finally:
            jit.close()
    return run


def _outcome(function, *args):
    """What a function returns or raises, as a picture."""
    try:
        return picture(function(*args))
    except Exception as error:
        return ("raised", type(error).__name__, str(error))


def _mode(way: str) -> str:
    return "graph" if way == "graph" else "fused"


class Seen:
    """What a program writes to the outside, call by call."""

    def __init__(self, stream: io.StringIO, warned: list):
        self.stream, self.warnings = stream, warned

    def text(self) -> str:
        """Since the last call; how long an epoch took is no part of what a program does."""
        text = self.stream.getvalue()
        self.stream.seek(0)
        self.stream.truncate()
        return re.sub(r"(\(\d+ steps, )\d+\.\d s\)", r"\1… s)", text)

    def warned(self) -> list[str]:
        texts = [f"{w.category.__name__}: {w.message}" for w in self.warnings]
        self.warnings.clear()
        return [text for text in texts if not any(word in text for word in OURS)]


@contextlib.contextmanager
def _surroundings():
    """Everything that a program could leave behind starts alike, and is set back."""
    random.seed(3)
    np.random.seed(3)
    ms.set_seed(3)
    ms.debug.ledger().reset()
    environment, path = dict(os.environ), list(sys.path)
    stream = io.StringIO()
    logger = logging.getLogger("natural")
    handler = logging.StreamHandler(stream)
    logger.handlers, logger.propagate, logger.disabled = [handler], False, False
    logger.setLevel(logging.INFO)
    try:
        with (
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(stream),
            contextlib.redirect_stderr(stream),
        ):
            warnings.simplefilter("always")
            yield Seen(stream, warned)
    finally:
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path


# -- comparing --------------------------------------------------------------------------------

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def picture(value, above: tuple = ()):
    """A copy of a tree in which nothing can change any more: kinds, and what is inside."""
    kind = type(value).__name__
    if isinstance(value, enum.Enum):
        return (kind, value.name)
    if isinstance(value, _PLAIN):
        return (kind, value)
    if id(value) in above:
        return (kind, "itself")
    above = (*above, id(value))
    if isinstance(value, Tensor):
        if isinstance(value, Parameter):
            kind = f"{kind} {value.name} {value.requires_grad}"
        return (kind, str(value.dtype), np.array(value.asnumpy()))
    if isinstance(value, np.ndarray):
        return (kind, str(value.dtype), value.copy())
    if isinstance(value, dict):
        pairs = [(picture(k, above), picture(v, above)) for k, v in value.items()]
        return (kind, *pairs)
    if isinstance(value, (set, frozenset)):
        return (kind, *sorted(repr(part) for part in value))
    if isinstance(value, (list, tuple, collections.deque)):
        return (kind, *(picture(part, above) for part in value))
    if dataclasses.is_dataclass(value) or isinstance(value, types.SimpleNamespace):
        return (kind, picture(dict(vars(value)), above))
    return (kind,)


def difference(actual, expected, exact: bool, path: str = "") -> str | None:
    """Where two pictures differ; None if nowhere."""
    if isinstance(expected, tuple) and isinstance(actual, tuple):
        if len(actual) != len(expected):
            return f"{path}: {_short(actual)} for {_short(expected)}"
        for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
            found = difference(a, e, exact, f"{path}.{index}")
            if found:
                return found
        return None
    if _equal(actual, expected, exact):
        return None
    return f"{path}: {_short(actual)} for {_short(expected)}"


def _equal(actual, expected, exact: bool) -> bool:
    if isinstance(expected, np.ndarray):
        if not isinstance(actual, np.ndarray) or actual.shape != expected.shape:
            return False
        if expected.dtype.kind not in "fc" or actual.dtype != expected.dtype:
            return actual.tolist() == expected.tolist()
        return np.allclose(actual, expected, RELATIVE, ABSOLUTE, equal_nan=True)
    if isinstance(expected, (float, np.floating)) and isinstance(actual, (float, np.floating)):
        if exact or not np.isfinite(expected):
            return repr(actual) == repr(expected)
        return bool(abs(actual - expected) <= ABSOLUTE + RELATIVE * abs(expected))
    return type(actual) is type(expected) and actual == expected


def _short(value) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 200 else text[:200] + "…"


PARTS = ("result", "state", "text", "warnings")


def first_difference(actual: Run, expected: Run, rounded: bool) -> str | None:
    """The first part of the first call in which two runs differ; None if nowhere."""
    for index, (a, e) in enumerate(zip(actual.rows, expected.rows, strict=True)):
        for part, mine, theirs in zip(PARTS, a, e, strict=True):
            exact = part != "result" and not (part == "state" and rounded)
            found = difference(mine, theirs, exact)
            if found:
                how = "replayed" if index in actual.replayed else "not replayed"
                return f"{part} of call {index} ({how}){found}"
    return None


# -- the same program as a script ----------------------------------------------------------------


class _Unfold(ast.NodeTransformer):
    """`nonlocal` names of the outermost function are globals of a script."""

    def __init__(self, names: set[str]):
        self.names = names

    def visit_Nonlocal(self, node):
        ours = [name for name in node.names if name in self.names]
        others = [name for name in node.names if name not in self.names]
        found = [ast.Global(ours)] if ours else []
        found += [ast.Nonlocal(others)] if others else []
        return [ast.copy_location(part, node) for part in found]


def as_script(build):
    """A builder whose body runs as a module's does: what was a closure is a global there."""
    lines, first = inspect.getsourcelines(build)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    (function,) = tree.body
    names = set(build.__code__.co_varnames) | set(build.__code__.co_cellvars)
    body = _Unfold(names).visit(function).body
    end = body[-1]
    assert isinstance(end, ast.Return), f"{build.__name__} must end with `return loop, state`"
    body[-1] = ast.copy_location(ast.Assign([ast.Name("_program", ast.Store())], end.value), end)
    module = ast.fix_missing_locations(ast.Module(body, type_ignores=[]))
    code = compile(module, build.__code__.co_filename, "exec", dont_inherit=True)

    def script(jit):
        namespace = {**build.__globals__, "jit": jit}
        exec(code, namespace)
        return namespace["_program"]

    return script
