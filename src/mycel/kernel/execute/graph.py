# SPDX-License-Identifier: Apache-2.0
"""Remembered functions: `jit`. A call is replayed after calls in a row recorded the same thing."""

from __future__ import annotations

import copy
import functools
import gc
import sys
import types
from collections import OrderedDict
from collections.abc import Callable
from operator import attrgetter
from threading import RLock
from time import perf_counter
from typing import Any, TypeVar, overload

import numpy as np

from mycel.kernel.base import backend, errors, log
from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.context import context
from mycel.kernel.base.division import division
from mycel.kernel.base.places import definition_of
from mycel.kernel.base.structure import structure
from mycel.kernel.execute.capture import Capture
from mycel.kernel.execute.changing import COMPILED_IF_DYNAMIC, seconds_to_compile, without_shapes
from mycel.kernel.execute.communicate import forget_repeats
from mycel.kernel.execute.compile import decode
from mycel.kernel.execute.keys import key_of
from mycel.kernel.execute.numerics import begin_step
from mycel.kernel.execute.replay import TRIPPED, Arguments, Difference, Memory, replay
from mycel.kernel.prove.explain import (
    argument_names,
    describe_key,
    describe_remembered,
    explain_keys,
    name_of,
    nearest_key,
)
from mycel.kernel.prove.notes import hooks_of
from mycel.kernel.prove.python_watch import DEBUGGED, is_debugged, watch_over
from mycel.kernel.prove.reads import Reads
from mycel.kernel.prove.sources import put_back
from mycel.kernel.record.stream import OPEN, PADDED, Stream, demand, local, machine
from mycel.kernel.record.tensor import OpenTensor, Tensor

# Agreeing calls needed before a replay; a miss doubles them, up to the most.
AGREEING = 2
MOST_AGREEING = 64
# Keys of arguments per function; the longest unused is forgotten.
MOST_KEYS = 64
# Of those that wait for an equal call, the oldest are forgotten if they hold more data than this
# many bytes, but for the latest few: data that is another at each call is not kept for long.
MOST_WAITING_BYTES = 16 << 20
FEW_WAITING = 4
# Ways that calls with one key went, each with the states in which they did.
MOST_WAYS = 8
# Of calls that differ by shapes so many are compiled when they are replayed first; others once they
# have taken about as long as compiling them takes. Until then they run unrecorded.
SHAPES_AT_ONCE = 4
WAITS = "a program for these shapes is compiled once calls have taken as long as compiling takes"
# After so many recordings in vain a function rests: calls run unrecorded, each time for twice as
# many of them.
PATIENCE = 4
LONGEST_REST = 256
# So many in vain one after another, whatever their arguments, as where one of them is another at
# each call: then the function rests, but for arguments that come again.
MOST_IN_VAIN = 16

# What `dynamic` of `jit` says of lengths.
_LENGTHS: dict[int | str, int] = {0: 0, 1: OPEN, "padded": PADDED}

BREAKPOINT = "a breakpoint was reached"


class Way:
    """What is remembered for one key of arguments.

    Attributes:
        memories: the ways that calls went, the latest first; `nbytes`, what the data takes that
            was made or passed in the latest call.
        vain: recordings since the last replay; `refused` those in a row that cannot be replayed,
            and `waits` those that could, but whose program is not worth compiling yet.
        spent: for how many seconds calls ran that were not replayed, the first one apart.
        rest: how many calls go unrecorded.
        reason: why the last call was not replayed.
    """

    __slots__ = ("memories", "nbytes", "reason", "refused", "rest", "spent", "vain", "waits")

    def __init__(self):
        self.memories: list[Memory] = []
        self.nbytes = 0
        self.vain = self.refused = self.rest = self.waits = 0
        self.spent = 0.0
        self.reason: Difference | None = None

    def recorded(self, patience: int) -> None:
        """One more recording; after too many the calls rest."""
        self.vain += 1
        in_vain = max(self.vain - patience, self.refused - PATIENCE)
        if in_vain >= 0:
            self.rest = min(PATIENCE << min(in_vain, 16), LONGEST_REST)

    def told(self) -> str:
        """What is remembered, in words."""
        if self.refused and self.reason is not None:
            return f"runs in PyNative: {self.reason.what}"
        ready = [memory for memory in self.memories if memory.ready]
        if not ready:
            return WAITS if self.waits else "waits for an equal call"
        cases = sum(len(memory.cases) for memory in ready)
        return "is replayed" + (f", in {cases} states of Python" if cases > 1 else "")

    def forget(self) -> None:
        """Let go of the data in it at once, not when Python collects garbage."""
        for memory in self.memories:
            if not memory.ready:
                memory.cases = []

    def replayed(self) -> None:
        """It was worth it."""
        self.vain = self.refused = self.rest = self.waits = 0


class Remembered:
    """A function whose repeated calls are replayed as one executable.

    Attributes:
        function: what is remembered; calling it directly runs it in PyNative.
        owner: the Cell it belongs to, if any.
        dynamic: what is said of its lengths: 0, or see `record.stream.Stream`.
        ways: what is remembered, by the key of the arguments.
    """

    def __init__(self, function: Callable, owner=None, dynamic: int = 0):
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.owner = owner
        self.dynamic = dynamic
        self.ways: OrderedDict[tuple, Way] = OrderedDict()
        # By what they compute, without shapes: the records for which programs are compiled.
        self.compiled: dict[tuple, set[tuple]] = {}
        # Held by a thread while it replays what assigns: none of two steps is lost.
        self.turn = RLock()
        self.agreeing = AGREEING
        self.replays = 0
        # Recordings since the last replay, whatever the key.
        self.vain = self.rest = 0
        self.collected = False
        self.stopped = False
        self.name = name_of(function, owner)
        self.place = definition_of(owner, function)

    def __getattr__(self, name):
        # Code, defaults, and what a program keeps on a function.
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __reduce__(self):
        # What is remembered belongs to this process. As a function, it is known by its name.
        path = getattr(self, "__qualname__", "")
        module = sys.modules.get(getattr(self, "__module__", ""))
        try:
            named = attrgetter(path)(module) is self
        except AttributeError:
            named = False
        return path if named else (Remembered, (self.function, self.owner, self.dynamic))

    def __deepcopy__(self, memo):
        if isinstance(self.function, types.FunctionType):
            return self  # as a function is its own copy
        parts = copy.deepcopy((self.function, self.owner), memo)
        return Remembered(*parts, self.dynamic)

    def __get__(self, instance, kind=None):
        return self if instance is None else types.MethodType(self, instance)

    @property
    def memories(self) -> list[Memory]:
        """All that is remembered, the latest of each key first."""
        return [memory for way in self.ways.values() for memory in way.memories]

    def __call__(self, *args, **kwargs):
        stream = local.stream
        scope = stream.scope
        if scope.capture is not None or scope.depth or scope.plain:
            return self.function(*args, **kwargs)  # inside another, it is just a function
        if division.take is not None:
            args, kwargs = division.take(args, kwargs)
        if context.counts_steps:
            begin_step(stream, id(self))
        tensors: list[Tensor] = []
        arguments = Arguments(tensors, [], [], {})
        key = tuple([key_of(argument, arguments) for argument in args])
        if kwargs:
            key += tuple([(name, key_of(kwargs[name], arguments)) for name in kwargs])
        if len(tensors) > 1:
            key += (_pattern(tensors),)
        if structure.tensor_hooks:
            key += tuple(map(hooks_of, tensors))
        way = self.ways.get(key)
        again = check = None
        dropped = False
        begun, debugged, fresh = perf_counter(), is_debugged(), way is None
        if way is None:
            way = self._new_way(key)
        elif not debugged:
            for memory in way.memories:
                if memory.ready and memory.holds(tensors, arguments.containers):
                    if memory.takes_turns:
                        with self.turn:
                            result = replay(stream, memory, arguments)
                    else:
                        result = replay(stream, memory, arguments)
                    if result.__class__ is not Difference:
                        self._replayed(way, memory)
                        return result
                    again, check, dropped = result.again, memory.check_way, True
                    if result.is_raised():
                        way.reason = result._replace(again=None)
                    elif result is not TRIPPED:
                        self._missed(way, memory, result)
                    break
            else:
                self._tell_apart(way, arguments)
        lengths = PADDED if _announces_lengths(self.owner) else self.dynamic
        outer = stream.announce(lengths)
        try:
            if debugged:
                way.reason = Difference(DEBUGGED, self.place, "", "remove it")
                result = self._run_plain(stream, args, kwargs)
            elif again is None and (way.rest or (fresh and self.rest)):
                result = self._rested(stream, way, args, kwargs)
            else:
                result = self._record(stream, args, kwargs, arguments, key, way, again, check)
            if stream.dynamic:
                stream.flush()
        finally:
            stream.announce(outer)
            if dropped:
                forget_repeats()
        seconds = perf_counter() - begun
        way.spent += 0.0 if fresh else seconds
        self._tell(way, seconds, lengths == PADDED)
        return result

    def _new_way(self, key) -> Way:
        near = nearest_key(list(self.ways), key) if self.ways else None
        way = self.ways[key] = Way()
        if near is not None:
            what, remedy = explain_keys(self.names, near, key)
            way.reason = Difference(what, self.place, "", remedy, "argument")
        if len(self.ways) > MOST_KEYS:
            self.ways.popitem(last=False)[1].forget()
        return way

    def _tell_apart(self, way: Way, arguments: Arguments) -> None:
        """Why none of what is remembered fits the present state."""
        if way.reason is None and way.memories and way.memories[0].ready:
            way.reason = way.memories[0].missed(arguments.tensors, arguments.containers)

    def _replayed(self, way: Way, memory: Memory) -> None:
        self.replays += 1
        self.vain = self.rest = 0
        if way.vain:
            way.replayed()
        if self.agreeing > AGREEING:
            self.agreeing -= 1
        if way.memories[0] is not memory:
            # A list of its own: another thread may put the same one in front.
            way.memories = [memory, *[other for other in way.memories if other is not memory]]
        for memo, asked in memory.repeats:
            memo(*asked)  # it counts how often it is asked

    def _rested(self, stream: Stream, way: Way, args, kwargs):
        """A call in PyNative, unrecorded: recordings were in vain."""
        if way.rest:
            way.rest -= 1
        else:
            self.rest -= 1
        return self._run_plain(stream, args, kwargs)

    def _run_plain(self, stream: Stream, args, kwargs):
        """A call in PyNative that nothing looks at."""
        return stream.within(stream.scope.but(plain=True), self.function, *args, **kwargs)

    # -- recording --------------------------------------------------------------------------

    def _record(
        self, stream: Stream, args, kwargs, arguments: Arguments, key, way: Way, again, check
    ):
        stream.flush()
        for tensor in arguments.tensors:
            demand(tensor._value)
        capture, unfinished = Capture(stream, again, check), stream.unfinished
        watched = not is_debugged()
        reads = Reads(capture, self.function, arguments.tensors, arguments.containers)
        watch = watch_over(reads)
        with machine.account.working_on(self.name):
            try:
                capture.take(arguments.tensors, arguments.containers)
                for argument in arguments.held:
                    reads.reach(argument)
                capture.python = reads if watched else None
                scope = stream.scope.but(capture=capture)
                noted = stream.within(scope, self._observed, capture, watch, args, kwargs)
                output, template, bindings = noted
            except BaseException:
                if again and capture.repeated < len(again):
                    put_back(again[-1].state)
                capture.forget()
                raise
            finally:
                watch.stop()  # again: it may have come where these were ended before
                machine.report.watch_printing(False)
                # What it holds is not kept by the program.
                while again:
                    again.pop().watch.forget()
        if stream.unfinished != unfinished:
            capture.refuse(
                "an exception was caught that broke off a hook, or came from outside",
                "let it leave the function",
            )
        machine.account.counts.captures += 1
        if watched:
            effect = reads.found_effect(capture.site_changes)
            reads.forget()
            if effect is not None:
                what, remedy, place = effect
                capture.refuse(what, remedy, place)
        else:
            capture.refuse(DEBUGGED, "remove it")
        self._remember(capture, template, bindings, key, way, arguments)
        capture.forget()
        return output

    def _observed(self, capture: Capture, watch, args, kwargs) -> tuple:
        """Call the function while it is observed; its output, and the notes of that."""
        machine.report.watch_printing(True)
        try:
            if capture.python is not None:
                watch.start()
            output = self.function(*args, **kwargs)
        except TypeError as error:
            machine.report.explain_keyword(error)
            raise
        finally:
            watch.stop()
            machine.report.watch_printing(False)
        capture.formatted = None
        template, bindings = capture.template(output, parts=True), capture.bindings()
        capture.stream.flush()
        return output, template, bindings

    def _remember(self, capture: Capture, template, bindings, key, way: Way, arguments) -> None:
        memory = None
        if not capture.refused:
            memory = self._memory(capture, template, bindings, arguments)
        if key not in self.ways:
            self.ways[key] = way
        if memory is None:
            assert capture.refused is not None
            what, remedy, place, cell = capture.refused
            way.refused += 1
            kind = "other" if what in (BREAKPOINT, DEBUGGED) else "effect"
            way.reason = Difference(what, place, cell, remedy, kind)
            if what == BREAKPOINT and not self.stopped:
                self.stopped = True
                machine.account.warn_stopped(self.name, place, self)
        else:
            way.refused = 0
            self._settle(way, memory)
            way.nbytes = memory.data_bytes + sum(
                part.nbytes for part in arguments.containers if isinstance(part, np.ndarray)
            )
            self._forget_data(way)
        way.recorded(PATIENCE + self.agreeing)
        self.vain += 1
        if self.vain > MOST_IN_VAIN:
            self.rest = min(PATIENCE << min(self.vain - MOST_IN_VAIN, 16), LONGEST_REST)

    def _forget_data(self, latest: Way) -> None:
        """Forget the oldest of what waits for an equal call, if it holds much data."""
        waiting = [
            (key, way)
            for key, way in list(self.ways.items())
            if way is not latest and way.nbytes and not any(m.ready for m in way.memories)
        ]
        held = sum(way.nbytes for _, way in waiting)
        for key, way in waiting[: 1 - FEW_WAITING]:
            if held <= MOST_WAITING_BYTES:
                return
            held -= way.nbytes
            self.ways.pop(key, way).forget()

    def _memory(self, capture: Capture, template, bindings, arguments) -> Memory | None:
        """What is remembered of a call; refused, and None, if a replay would leave a Tensor stale
        that the call put somewhere."""
        memory = Memory(self.name, capture, template, bindings, arguments)
        kept = capture.kept(memory.needed)
        if kept and not self.collected:
            # Only once: what a cycle keeps is told from what the program keeps.
            self.collected = True
            gc.collect()
            kept = capture.kept(memory.needed)
        if kept:
            capture.refuse(
                f"{kept} Tensor{'s' if kept > 1 else ''} made inside were kept outside",
                "return them, or keep them in a hook or a function marked @every_call",
            )
        return None if kept else memory

    def _settle(self, way: Way, new: Memory) -> None:
        """Put a recording beside the others: it went as one of them did, as none did in this
        state, or another way in the same state."""
        alike = [memory for memory in way.memories if memory.difference(new) is None]
        if alike:
            new.took(alike[0])
        else:
            for memory in way.memories:
                differs = memory.difference(new)
                if differs is not None and memory.is_case_now():
                    way.reason = way.reason or differs
                    alike.append(memory)
        new.ready = new.seen >= self.agreeing and self._pays(way, new)
        rest = [memory for memory in way.memories if all(memory is not other for other in alike)]
        way.memories = [new, *rest[: MOST_WAYS - 1]]

    def _pays(self, way: Way, memory: Memory) -> bool:
        """Whether to compile it is worth it by now."""
        if memory.padded or not backend.on_one_cpu():
            return True
        if len(self.compiled) > MOST_KEYS:
            self.compiled.clear()
        compiled = self.compiled.setdefault(without_shapes(memory.key), set())
        at_once = COMPILED_IF_DYNAMIC if self.dynamic else SHAPES_AT_ONCE
        is_new = memory.key not in compiled and len(compiled) >= at_once
        if is_new and way.spent < seconds_to_compile(len(decode(memory.key))):
            way.rest = min(PATIENCE << min(way.waits, 16), LONGEST_REST)
            way.waits += 1
            way.reason = Difference(WAITS, self.place, kind="first")
            return False
        compiled.add(memory.key)
        return True

    def _missed(self, way: Way, memory: Memory, difference: Difference) -> None:
        memory.ready = False
        memory.seen = 0
        self.agreeing = min(self.agreeing * 2, MOST_AGREEING)
        machine.account.counts.misses += 1
        way.reason = difference._replace(again=None)

    def _tell(self, way: Way, seconds: float, padded: bool) -> None:
        """Say in the ledger why this call was not replayed."""
        kind, what, place, cell, remedy = "first", "it was recorded", self.place, "", ""
        if way.reason is not None:
            what, place, cell, remedy, kind, _ = way.reason
            if padded and kind == "argument":
                kind, remedy = "first", ""  # new lengths run by programs that are there
        told = (self.name, kind, what, place or self.place, cell, remedy, seconds)
        if not way.rest:
            way.reason = None
        machine.account.unreplayed(*told, replays=self.replays, who=self)

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the arguments, for messages."""
        return argument_names(self.function, self.owner)

    def __repr__(self):
        told = [(describe_key(self.names, key), way.told()) for key, way in self.ways.items()]
        return describe_remembered(self.name, self.place, told)


def _announces_lengths(owner) -> bool:
    """Whether `Cell.set_inputs` said that lengths of this Cell's inputs are open."""
    announced = owner.__dict__.get("_announced_inputs", ()) if owner is not None else ()
    return _has_open(announced)


def _has_open(announced) -> bool:
    if isinstance(announced, (tuple, list)):
        return any(map(_has_open, announced))
    return isinstance(announced, OpenTensor)


def _pattern(tensors: list) -> tuple:
    """Which arguments are the same Tensor."""
    first: dict[int, int] = {}
    return tuple([first.setdefault(id(tensor), index) for index, tensor in enumerate(tensors)])


_Function = TypeVar("_Function", bound=Callable[..., Any])


@overload
def jit(function: _Function, *, dynamic: int | str = 0, **options: Any) -> _Function: ...


@overload
def jit(
    function: None = None, *, dynamic: int | str = 0, **options: Any
) -> Callable[[_Function], _Function]: ...


def jit(function: Any = None, *, dynamic: int | str = 0, **options: Any) -> Any:
    """Compile what repeats: a function, a Cell's `construct`, or any method.

    The first calls run in PyNative and are noted; when two in a row did the same, the next one is
    replayed as one XLA program. Whatever Python reads of a Tensor (`if loss > 1`, `float(x)`) is
    checked at each replay; if it differs, the call runs in PyNative. Results are always those of
    PyNative. Hooks, `print` and functions marked `@every_call` run at every call.

    Args:
        function: what to compile; may be left out to give options: `@jit(dynamic=1)`.
        dynamic: 1 if lengths of its inputs change from call to call. Then only the first shape is
            compiled at once; others run operator by operator, without being compiled, until they
            come back. With 0 that is so from the third shape on. "padded": inputs are lengthened to
            the next of a few lengths (8, 10, 12, 14, 16, 20, 24, …: at most a quarter more), each
            of which is compiled once, and what lies behind the true lengths is masked, where that
            provably changes no result; else it is as with 1, and the ledger says why. Results are
            those of the others, within rounding.
        options: MindSpore's own (jit_level, capture_mode, fullgraph, …); each is noted once in the
            log, since there is one way to compile here.

    Raises:
        TypeError: the function cannot be called, or `dynamic` is neither an integer nor a string.
        ValueError: `dynamic` is neither 0, nor 1, nor "padded".

    Source: MindSpore's `mindspore.jit` (and its older name `ms_function`).

    Example:
        >>> @mycel.jit
        ... def double(x):
        ...     return x * 2
        >>> print(double(Tensor([1.0, 2.0])))
        [2. 4.]
    """
    function = options.pop("fn", function)  # its name in MindSpore 2.0
    if isinstance(dynamic, bool) or not isinstance(dynamic, (int, str)):
        raise errors.wrong(TypeError, "jit: dynamic", '0, 1 or "padded"', repr(dynamic))
    if dynamic not in _LENGTHS:
        raise errors.wrong(ValueError, "jit: dynamic", '0, 1 or "padded"', repr(dynamic))
    log.without_effect("jit", options)
    if function is None:
        return functools.partial(jit, dynamic=dynamic) if dynamic else jit
    lengths = _LENGTHS[dynamic]
    if isinstance(function, Remembered):
        function.dynamic = max(function.dynamic, lengths)
        return function
    if not callable(function):
        what = "What jit is given"
        raise errors.wrong(TypeError, what, "a function or a Cell", type(function).__name__)
    if isinstance(function, CellBase):
        # As in MindSpore: jit(cell) remembers the calls of that Cell.
        return Remembered(function.__call__, function, lengths)
    return Remembered(function, dynamic=lengths)
