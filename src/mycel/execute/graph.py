# SPDX-License-Identifier: Apache-2.0
"""Remembered functions: `jit`. A call is replayed after calls in a row recorded the same thing."""

from __future__ import annotations

import functools
import gc
import sys
import types
from collections import OrderedDict
from collections.abc import Callable

from mycel.base import log
from mycel.base.keywords import explain_keyword
from mycel.base.places import Place
from mycel.base.structure import structure
from mycel.execute.capture import Capture
from mycel.execute.ledger import ledger
from mycel.execute.notes import hooks_of
from mycel.execute.printing import BREAKPOINT, watch_python
from mycel.execute.replay import Memory, Outcome, replay
from mycel.record.parameter import Parameter
from mycel.record.stream import Stream, demand, local
from mycel.record.tensor import Tensor

# Agreeing calls needed before a replay; a miss doubles them, up to the most.
AGREEING = 2
MOST_AGREEING = 64
# Memories per function, one for each key of arguments; the longest unused is forgotten.
MOST_MEMORIES = 64
# Recorded calls without a replay after which a function is reported once.
PATIENCE = 16

_SIMPLE = (bool, int, float, complex, str, bytes, type(None))


class Remembered:
    """A function whose repeated calls are replayed as one executable.

    Attributes:
        function: what is remembered; calling it directly runs it in PyNative.
        owner: the Cell it belongs to, if any, for messages.
    """

    def __init__(self, function: Callable, owner=None):
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.owner = owner
        self.memories: OrderedDict[tuple, Memory] = OrderedDict()
        self.agreeing = AGREEING
        self.fruitless = 0
        self.collected = False
        self.stopped = False
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if owner is not None:
            code = type(owner).construct.__code__ if _is_python(type(owner).construct) else code
        self.name = type(owner).__name__ if owner is not None else _name_of(function)
        self.place = Place(code, 0) if code is not None else Place(None, 0)

    def __reduce__(self):
        # What is remembered belongs to this process.
        return Remembered, (self.function, self.owner)

    def __get__(self, instance, kind=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        stream = local.stream
        if stream.capture is not None or stream.depth:
            return self.function(*args, **kwargs)  # inside another, it is just a function
        tensors: list[Tensor] = []
        held: list = []
        key = tuple([_key_of(argument, tensors, held) for argument in args])
        if kwargs:
            key += tuple([(name, _key_of(kwargs[name], tensors, held)) for name in kwargs])
        if len(tensors) > 1:
            key += (_pattern(tensors),)
        if structure.tensor_hooks:
            key += tuple(map(hooks_of, tensors))
        memory = self.memories.get(key)
        again = check = None
        if memory is not None and memory.ready and not _is_debugged() and memory.is_current():
            outcome = replay(stream, memory, tensors)
            if outcome.done:
                if self.agreeing > AGREEING:
                    self.agreeing -= 1
                self.fruitless = 0
                return outcome.result
            again, check = outcome.again, memory.check_way
            self._missed(memory, outcome)
        return self._record(stream, args, kwargs, tensors, held, key, again, check)

    # -- recording --------------------------------------------------------------------------

    def _record(self, stream: Stream, args, kwargs, tensors, held, key, again, check):
        stream.flush()
        for tensor in tensors:
            demand(tensor._value)
        capture = Capture(stream, again, check)
        with ledger.working_on(self.name):
            try:
                proxies = capture.proxies(tensors)
                proxied = [_exchange(argument, proxies) for argument in args]
                named = {name: _exchange(kwargs[name], proxies) for name in kwargs}
                for cell in _cells_near(self.function, held):
                    capture.met(cell)
                stream.capture = capture
                watch_python(True)
                try:
                    output = self.function(*proxied, **named)
                except TypeError as error:
                    explain_keyword(error)
                    raise
                finally:
                    watch_python(False)
                    capture.copy_back()
                del proxied, named, proxies
                capture.formatted = None
                template = capture.template(output)
                bindings = capture.bindings()
                stream.flush()
            except BaseException:
                stream.capture = None
                capture.forget()
                raise
            finally:
                # What it holds is not kept by the program.
                while again:
                    again.pop().watch.forget()
            stream.capture = None
        ledger.counts.captures += 1
        if _is_debugged():
            capture.refuse("a debugger is attached", "remove it")
        result = capture.results(output)
        del output
        self._remember(capture, template, bindings, key, held)
        capture.forget()
        return result

    def _remember(self, capture: Capture, template, bindings, key, held) -> None:
        made = Memory(self.name, capture, template, bindings, held)
        kept = 0 if capture.refused else capture.kept(made.needed)
        if kept and not self.collected:
            # Only once: what a cycle keeps is told from what the program keeps.
            self.collected = True
            gc.collect()
            kept = capture.kept(made.needed)
        if kept:
            capture.refuse(
                f"{kept} Tensor{'s' if kept > 1 else ''} made inside were kept outside",
                "return them, or keep them in a hook or a function marked @every_call",
            )
        if capture.refused:
            what, remedy, place, cell = capture.refused
            ledger.note("not remembered", f"{self.name}: {what}", place, cell, remedy)
            if what == BREAKPOINT and not self.stopped:
                self.stopped = True
                ledger.warn_stopped(self.name, place)
            self.memories.pop(key, None)
            self._fruitless(what, place)
            return
        before = self.memories.pop(key, None)
        differs = None if before is None else before.difference(made)
        if before is not None and differs is None:
            made.seen = before.seen + 1
        elif differs is not None:
            what, place, cell, remedy = differs
            place = place or self.place
            ledger.note("differs", f"{self.name}: {what}", place, cell, remedy)
            self._fruitless(what, place)
        made.ready = made.seen >= self.agreeing
        self.memories[key] = made
        if len(self.memories) > MOST_MEMORIES:
            self.memories.popitem(last=False)

    def _missed(self, memory: Memory, outcome: Outcome) -> None:
        memory.ready = False
        memory.seen = 0
        self.agreeing = min(self.agreeing * 2, MOST_AGREEING)
        ledger.counts.misses += 1
        what, place, cell, remedy = outcome.missed
        ledger.note("missed", f"{self.name}: {what}", place or self.place, cell, remedy)

    def _fruitless(self, what, place) -> None:
        self.fruitless += 1
        if self.fruitless == PATIENCE:
            ledger.warn_missing(self.name, what, place)


def _cells_near(function, arguments):
    """The Cells among the arguments, and those that a function knows by a name: it may read an
    attribute of them without a call."""
    inner = getattr(function, "__func__", function)
    known = [getattr(function, "__self__", None), *arguments]
    for cell in getattr(inner, "__closure__", None) or ():
        try:
            known.append(cell.cell_contents)
        except ValueError:  # an empty cell: the function refers to itself
            continue
    code = getattr(inner, "__code__", None)
    if code is not None:
        known += [inner.__globals__.get(name) for name in code.co_names]
    return [found for found in known if hasattr(type(found), "cells_and_names")]


def _name_of(function) -> str:
    return getattr(function, "__qualname__", type(function).__name__).split("<locals>.")[-1]


def _is_python(function) -> bool:
    return hasattr(function, "__code__")


def _is_debugged() -> bool:
    return sys.gettrace() is not None


def _key_of(argument, tensors: list, held: list):
    """What of an argument chooses the memory: avals of Tensors, values of numbers, identities."""
    kind = argument.__class__
    if kind is Tensor:
        tensors.append(argument)
        return argument._value.aval
    if kind in _SIMPLE:
        return (kind, argument)
    if isinstance(argument, (tuple, list)):
        return (kind, tuple([_key_of(part, tensors, held) for part in argument]))
    if isinstance(argument, dict):
        return (kind, tuple([(k, _key_of(argument[k], tensors, held)) for k in argument]))
    if isinstance(argument, Tensor) and not isinstance(argument, Parameter):
        tensors.append(argument)
        return argument._value.aval
    # Held by the memory, so that the id is not used again.
    held.append(argument)
    return (kind, id(argument))


def _pattern(tensors: list) -> tuple:
    """Which arguments are the same Tensor."""
    first: dict[int, int] = {}
    return tuple([first.setdefault(id(tensor), index) for index, tensor in enumerate(tensors)])


def _exchange(argument, proxies: dict):
    kind = argument.__class__
    if isinstance(argument, Tensor):
        return proxies.get(id(argument), argument)
    if kind in _SIMPLE or not isinstance(argument, (tuple, list, dict)):
        return argument
    from_tree = functools.partial(_exchange, proxies=proxies)
    if isinstance(argument, dict):
        return kind((k, from_tree(argument[k])) for k in argument)
    made = [from_tree(part) for part in argument]
    return kind(*made) if hasattr(argument, "_fields") else kind(made)


def jit(function: Callable | None = None, **options):
    """Compile what repeats: a function, a Cell's `construct`, or any method.

    The first calls run in PyNative and are noted; when two in a row did the same, the next one is
    replayed as one XLA program. Whatever Python reads of a Tensor (`if loss > 1`, `float(x)`) is
    checked at each replay; if it differs, the call runs in PyNative. Results are always those of
    PyNative. Hooks, `print` and functions marked `@every_call` run at every call.

    Args:
        function: what to compile; may be left out to give options: `@jit(jit_level="O1")`.
        options: MindSpore's own (jit_level, capture_mode, fullgraph, …); each is noted once in the
            log, since there is one way to compile here.

    Source: MindSpore's `mindspore.jit` (and its older name `ms_function`).

    Example:
        >>> @mycel.jit
        ... def double(x):
        ...     return x * 2
        >>> print(double(Tensor([1.0, 2.0])))
        [2. 4.]
    """
    function = options.pop("fn", function)  # its name in MindSpore 2.0
    log.without_effect("jit", options)
    if function is None:
        return jit
    if isinstance(function, Remembered):
        return function
    if not callable(function):
        raise TypeError(f"jit needs a function or a Cell, not {type(function).__name__}.")
    if hasattr(function, "construct"):
        # As in MindSpore: jit(cell) remembers the calls of that Cell.
        return Remembered(function.__call__, owner=function)
    return Remembered(function)
