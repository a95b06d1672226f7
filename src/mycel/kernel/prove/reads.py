# SPDX-License-Identifier: Apache-2.0
"""Reads: the Python state that a call reads and changes, found while it is being recorded.

Before a line of user code runs, what it touches (see prove.bytecode) is looked up the way Python
will look it up, without running anything, and kept as sources. Only what was there before the call
counts: objects are known to be from outside when they come out of a source, an argument or a
Parameter's Cell. What cannot be looked into is an effect: such a call is not replayed.
"""

from __future__ import annotations

import gc
import operator
import random
import types
from builtins import getattr  # not what stands in for them meanwhile
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.kernel.base.places import PACKAGE, Place
from mycel.kernel.prove import kinds
from mycel.kernel.prove.attributes import UNSEEN, Attributes, has_own, not_kept_alive
from mycel.kernel.prove.bytecode import summary, written_out
from mycel.kernel.prove.callees import by_first_argument, by_name, runs_code_when_asked
from mycel.kernel.prove.kinds import is_watched, kind_of
from mycel.kernel.prove.memos import kept_by, memo_state
from mycel.kernel.prove.notes import Slot
from mycel.kernel.prove.sources import (
    CLOSURE,
    CONTENT,
    FIELD,
    OF_CLASS,
    PART,
    SLOT,
    STATE,
    Left,
    Snapshot,
    Source,
    TooLarge,
    changes,
    elements,
    first_change,
    is_array,
    is_container,
    parts_of,
)
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor


class Effect(tuple):
    """What a call did besides giving a result: in words, where, and what to write instead."""

    __slots__ = ()

    def __new__(cls, what: str, remedy: str, place: Place | None):
        return tuple.__new__(cls, (what, remedy, place))


class Reads(Attributes):
    """What one recorded call reads of Python's state.

    Attributes:
        sources: what the next call must find as it was, in the order of reading.
        checks: what only tells whether the call changed something: its arguments, generators of
            random numbers.
        effect: the first effect that was seen, or None.
    """

    def __init__(self, capture, function: Callable, tensors: list, containers: list):
        self.capture = capture
        self.sources: dict[tuple, Source] = {}
        self.checks: dict[tuple, Source] = {}
        self.effect: Effect | None = None
        self.place: Any = (None, 0, None)
        # Objects from outside by id, and those among them that came to code by ways unseen.
        self.reached: dict[int, Any] = {}
        self.flowed: dict[int, Any] = {}
        # Attributes that code asked of objects unseen.
        self.free: dict[str, None] = {}
        self.functions: dict[int, list] = {}
        # Calls of functions with a memory of results, which a replay makes again: they count them.
        self.repeats: list[tuple] = []
        self.counted: dict[int, tuple] = {}
        # The code objects that hold others, by the id of the inner one.
        self._inside: dict[int, Any] = {}
        # Methods of our own Tensors that were asked for, with what the program calls them.
        self.methods: dict[tuple, Any] = {}
        # What sites left, by place, with the last that was seen; and all of it.
        self.set_by_sites: set[tuple] = set()
        # What is from outside and has attributes.
        self.held: dict[int, Any] = {}
        self.left: dict[tuple, Left] = {}
        self.all_left: list[Left] = []
        # Behind each site: the sources that were not as the call had found them.
        self.changed_behind: list[list[Source]] = []
        self._entered: set[int] = set()
        # What was passed, and where it keeps its fields: the key of the call tells how it was.
        self._arguments = {id(container) for container in containers}
        for tensor in tensors:
            self.reach(tensor)
            self._arguments.add(id(tensor.__dict__))
        for container in containers:
            self._check_argument(container)
        self._check_generator(random._inst)
        self._check_generator(np.random.mtrand._rand)
        self.reach(function)

    def _check_argument(self, container) -> None:
        self.reached[id(container)] = container
        for look, holder, name, value in _held_by(container):
            try:
                snapshot = Snapshot(value, self.reach) if look is CONTENT else None
            except TooLarge:
                return self.refuse("an argument is too large to be compared", "pass a Tensor")
            self._arguments.add(id(holder))
            self.note(look, holder, name, value, "an argument", snapshot)
        return None

    def _check_generator(self, generator) -> None:
        self.reached[id(generator)] = generator
        self._arguments.add(id(generator))
        self.note(STATE, generator, kinds.state_of, kinds.state_of(generator), "random numbers")

    def drawn(self, generator) -> None:
        """A generator of random numbers is used: the next call must find it as it was."""
        for key in [key for key in self.checks.copy() if key[1] == id(generator)]:
            self.sources[key] = self.checks[key]

    def forget(self) -> None:
        """Let go of all but the sources."""
        self.reached, self.flowed, self.functions, self.held = {}, {}, {}, {}

    # -- the end ------------------------------------------------------------------------------

    def found_effect(self, site_changes: set) -> Effect | None:
        """What the call changed, if it did; `site_changes` has the fields that sites set."""
        if self.effect is not None:
            return self.effect
        self.set_by_sites = {(FIELD, *key) for key in site_changes}
        self._count_memos()
        sources = (
            *self.behind_sites(), *self._left_now(), *self.checks.values(), *self._last_changed(),
        )  # fmt: skip
        changed = self.effect or first_change(sources)
        if changed is None:
            changed = first_change(left.source for left in self.all_left)
            if changed is not None:
                # A call that went on behind a replay of these sites would find it so.
                what = f"`{written_out(changed.path)}` was read, and changed by a later hook"
                return Effect(what, "let the hooks keep it in different places", changed.place)
            self._note_how_cells_are_called()
            return self.effect
        return changed if isinstance(changed, Effect) else self._effect_of(changed)

    def _note_how_cells_are_called(self) -> None:
        """What the next call must find of classes and optimisers, whatever code of ours read it."""
        for kind in {type(cell): None for cell in self.capture.cells.values()}:
            self.note_construct(kind)
        for (owner, name), path in self.methods.items():
            self.note(OF_CLASS, owner, name, owner.__dict__.get(name), path)
        for cell in self.capture.cells.values():
            self.note_settings(cell)

    def _count_memos(self) -> None:
        """A memory of results counts how often it is asked: a replay must ask it as often."""
        for memo, before in self.counted.values():
            asked = sum(known is memo for known, _ in self.repeats)
            if memo.cache_info().hits - before != asked:
                name = getattr(memo, "__name__", "a cache")
                self.refuse(
                    f"effect: `{name}` counts how often it is asked", "call it outside the function"
                )

    def before_site(self, site_changes: set) -> None:
        """A site is about to run: what the call changed by now, and may set back, it would see."""
        if self.effect is not None:
            return
        known = {source.identity(): source for source in self._last_changed()}
        expected = [known.get(key, source) for key, source in self._not_set(site_changes).items()]
        changed = first_change((*expected, *self._left_now(), *self.checks.copy().values()))
        if changed is not None:
            self.effect = self._effect_of(changed)

    def behind_site(self, site_changes: set) -> None:
        """A site has run. What it changed must stay so to the next one or the end, since a replay
        changes nothing in between; and be so in a replay, as code behind it may read it."""
        sources = changes(self._not_set(site_changes).values())
        try:
            self.changed_behind.append([source.as_it_is() for source in sources])
        except TooLarge:
            self.refuse("what a hook changes is too large to be compared", "keep it elsewhere")
        checks = self.checks.copy().values()
        arguments = [check for check in checks if check.look in (CONTENT, SLOT)]
        changed = first_change(arguments) if self.effect is None else None
        if changed is not None:
            self.effect = self._effect_of(changed)

    def _last_changed(self) -> list[Source]:
        """What the last site changed."""
        return self.changed_behind[-1] if self.changed_behind else []

    def behind_sites(self) -> list[Source]:
        """The sources that sites do not set."""
        return [source for key, source in self.sources.items() if key not in self.set_by_sites]

    def _not_set(self, site_changes: set) -> dict[tuple, Source]:
        """The sources that no site has set so far."""
        return {
            key: source
            # A copy: what ends meanwhile may run Python, which is watched as well.
            for key, source in self.sources.copy().items()
            if key[0] is not FIELD or key[1:] not in site_changes
        }

    def _left_now(self) -> list[Source]:
        """What was left and no site has run since."""
        sites = len(self.capture.sites)
        return [left.source for left in self.left.copy().values() if left.after == sites]

    def _effect_of(self, changed: Source) -> Effect:
        is_drawn = changed.name is kinds.state_of
        what = "random numbers were drawn" if is_drawn else changed.change()
        remedy = "keep it in a Parameter, change it outside, or in a function marked @every_call"
        return Effect(f"effect: {what}", remedy, changed.place)

    def refuse(self, what: str, remedy: str) -> None:
        """The call did, or may have done, what cannot be compared."""
        if self.effect is None:
            self.effect = Effect(what, remedy, Place(*self.place))

    # -- events -------------------------------------------------------------------------------

    def enter(self, frame) -> None:
        """Code begins to run."""
        code = frame.f_code
        known = id(code)
        if known in self._entered:
            return
        self._entered.add(known)
        for inner in summary(code).inner:
            self._inside[id(inner)] = code
        self.place = (code, frame.f_lasti, self.capture.stream.called)
        if code.co_name[:2] == "__" and code.co_argcount:
            self._note_special(frame.f_locals.get(code.co_varnames[0]), code.co_name)
        for function in self.functions_of(frame):
            self._note_function(function)

    def _note_special(self, owner, name: str) -> None:
        """A method that Python looked for by itself, in the class of its first argument."""
        if kind_of(owner) in (kinds.OBJECT, kinds.CELL, kinds.CONTAINER) and self.is_outside(owner):
            self._found_in(type(owner), name, name)

    def _note_function(self, function) -> None:
        """What a function from outside is besides its closure."""
        name = function.__name__
        if function.__code__.co_filename.startswith(PACKAGE):
            return
        self.note(PART, function, "__code__", function.__code__, f"{name}.__code__")
        if function.__defaults__:
            self.note(PART, function, "__defaults__", function.__defaults__, f"{name}.__defaults__")
        if function.__kwdefaults__:
            whole = f"{name}.__kwdefaults__"
            self.note(PART, function, "__kwdefaults__", function.__kwdefaults__, whole)
            self.content(function.__kwdefaults__, whole)

    def functions_of(self, frame) -> list:
        """The functions from outside that have the code of a frame."""
        code = frame.f_code
        functions = self.functions.get(id(code))
        if functions is None and id(code) not in self._inside and code.co_name != "<module>":
            functions = [f for f in by_first_argument(frame) if f.__code__ is code]
            functions = functions or [f for f in by_name(frame) if f.__code__ is code]
            if not functions:
                # A walk over everything there is.
                functions = [f for f in gc.get_referrers(code) if type(f) is types.FunctionType]
            self.functions[id(code)] = functions
        return functions or []

    def closure(self, frame, code, name: str) -> list:
        """The cells from outside that a free variable of a code may be."""
        if name not in code.co_freevars:
            return []
        index = code.co_freevars.index(name)
        functions = (
            self.functions_of(frame) if code is frame.f_code else self.functions.get(id(code), ())
        )
        cells = [function.__closure__[index] for function in functions]
        around = self._inside.get(id(code))
        if around is not None:
            cells += self.closure(frame, around, name)
        return cells

    # -- what was met -------------------------------------------------------------------------

    def note(self, look, holder, name, value, path, snapshot=None) -> None:
        """Keep a source, as it is before the line runs."""
        key = (look, id(holder), name)
        kept = self.checks if id(holder) in self._arguments else self.sources
        is_set = look is FIELD and (id(holder), name) in self.capture.site_changes
        if (key in kept and not is_set) or id(value) in kinds.STAND_INS:
            return
        sites = len(self.capture.sites)
        if sites and key in self.left and self.left[key].after == sites:
            return
        self.reach(value)
        held = not_kept_alive(value)
        source = Source(look, holder, name, held, snapshot, path, Place(*self.place))
        parts = [self._left_part(part) for part in parts_of(value, snapshot)] if sites else []
        if is_set or any(part.__class__ is Slot for part in parts):
            self.left[key] = Left(source, parts, sites)
            self.all_left.append(self.left[key])
        else:
            kept[key] = source

    def _left_part(self, part):
        """A part of what sites left: a Slot for a Tensor that the call made."""
        if isinstance(part, Tensor) and self.capture.made_inside(part):
            return Slot(self.capture.number_of(part._value))
        return part

    def reach(self, value) -> None:
        """An object is from outside."""
        kind = kind_of(value)
        if kind == kinds.NOTHING or id(value) in self.reached:
            return
        self.reached[id(value)] = value
        if kind != kinds.MODULE:
            self.hold(value)
        further = _REACHED.get(kind)
        if further is not None:
            further(self, value)

    def _reach_parts(self, parts) -> None:
        for part in elements(parts):
            self.reach(part)

    def _reach_iterator(self, iterator) -> None:
        self.refuse(
            f"effect: a {type(iterator).__name__} from outside goes on", "ask it before the call"
        )

    def _reach_partial(self, partial) -> None:
        state = kinds.state_of_partial
        self.note(STATE, partial, state, state(partial), "a partial")
        self._reach_parts((partial.func, partial.args, partial.keywords))
        self.content(partial.keywords, "the keywords of a partial")

    def _reach_lock(self, lock) -> None:
        state = kinds.state_of_lock
        self.note(STATE, lock, state, state(lock), "a lock")

    def _reach_memo(self, memo) -> None:
        if (memo.__module__ or "").startswith(("mycel.", "typing")):
            return  # nobody asks these how often they were asked
        try:
            self.note(memo_state, memo, None, memo_state(memo), memo.__name__)
        except TooLarge:
            name = memo.__name__
            self.refuse(f"the cache of `{name}` is too large to be compared", "call it outside")
        self.counted[id(memo)] = (memo, memo.cache_info().hits)
        self.reach(memo.__wrapped__)
        for result in kept_by(memo):
            self.reach(result)
            self.use(result, memo.__name__)

    def numpy_settings(self) -> None:
        """NumPy is used: what comes out depends on its settings."""
        look = kinds.numpy_settings
        self.note(STATE, look, look, look(None), "the settings of NumPy")

    def decimals(self, _=None) -> None:
        """Decimal numbers are used: what comes out depends on their context."""
        look = kinds.decimal_context
        self.note(STATE, look, look, look(None), "the context of decimal numbers")

    def _reach_cell(self, cell) -> None:
        """Its settings and members may be read without a call of it, by code that is not watched:
        by a method of its class that has another name."""
        self.capture.meet(cell)
        # Not by a method, which the program may have written over.
        fields = cell.__dict__
        members = [*fields["_params"].values(), *fields["_buffers"].values()]
        self._reach_parts([*members, *fields["_cells"].values()])

    def _reach_function(self, function) -> None:
        code = function.__code__
        self.functions.setdefault(id(code), []).append(function)
        if not is_watched(code.co_filename):
            # A wrapper of the machine has the user's function in its closure.
            for cell in function.__closure__ or ():
                inner = CLOSURE(cell, None)
                if callable(inner):
                    self.reach(inner)

    def _reach_machine(self, value) -> None:
        fields = getattr(value, "__dict__", {})
        settable = kinds.has(type(value), "fields_are_settings")
        for name, part in tuple(fields.items()):
            if settable and name[0] != "_":
                self.reached[id(fields)] = fields
                self.note(FIELD, fields, name, part, f"{type(value).__name__}.{name}")
            if name == "weights" or callable(part):
                self.reach(part)
                if is_container(part):
                    self.content(part, name)
        if kinds.has(type(value), "add_prim_attr"):
            self.reached[id(fields)] = fields
            self.content(fields, value.name)

    def is_outside(self, value) -> bool:
        """Whether an object was there before the call."""
        if id(value) in self.reached:
            return True
        if kind_of(value) in (kinds.NOTHING, kinds.FIXED):
            return True  # an enum, or plain data of a class that has fields
        if kind_of(value) != kinds.CELL or id(value) in self.capture.made_cells:
            return False
        if "_cells" in kinds.fields_of(value):  # else it is being made
            self.reached[id(value)] = value
        return id(value) in self.reached

    def content(self, container, path) -> None:
        """The whole content of a container is read, or may be."""
        if id(container) not in self.reached:
            return self._use_inside(container)
        key = (CONTENT, id(container), None)
        if key in self.sources or key in self.checks:
            return None
        try:
            snapshot = Snapshot(container, self.flow)
            if is_array(container):
                self.numpy_settings()
            elif isinstance(container, defaultdict):
                factory = container.default_factory
                self.note(PART, container, "default_factory", factory, path)
                self.use(factory, path)
        except TooLarge:
            return self.refuse(
                f"`{written_out(path)}` is too large to be compared",
                "pass it as a Tensor, or read it outside",
            )
        return self.note(CONTENT, container, None, container, path, snapshot)

    def length(self, container, path) -> None:
        """The length of a container is read, and nothing else of it."""
        if id(container) in self.reached:
            self.note(STATE, container, len, len(container), path)

    def _use_inside(self, container, depth=0) -> None:
        """A container made inside may have others in it."""
        if depth > 3 or kind_of(container) != kinds.CONTAINER or is_array(container):
            return
        if len(container) > 1024:
            return
        for part in elements(container):
            self.use(part, "an element", depth + 1)

    def use(self, value, path, depth=0) -> None:
        """A value goes where it cannot be followed: as an operand, into a container, out."""
        if value is UNSEEN:
            return
        kind = kind_of(value)
        if kind == kinds.CONTAINER:
            if id(value) in self.reached:
                self.content(value, path)
            else:
                self._use_inside(value, depth)
        elif kind == kinds.FIXED:
            if depth < 4:
                for part in elements(value):
                    self.use(part, path, depth + 1)
        elif kind in (kinds.OBJECT, kinds.CELL):
            if self.is_outside(value):
                self.flow(value)
                if kind == kinds.CELL:
                    self.capture.meet(value)
        elif kind == kinds.FUNCTION:
            self.register(value)
        elif kind == kinds.CLASS:
            self.flow_class(value)
        elif kind == kinds.OPAQUE and id(value) in self.reached:
            self.refuse_opaque(value, path)
        elif kind == kinds.BUILTIN and depth < 4:
            if kinds.field_by_name(value) is not None:
                self.refuse("effect: attributes are asked by computed names", "write the names")
            self.use(kinds.bound_to(value), path, depth + 1)
        elif type(value) is operator.attrgetter:
            for name in kinds.names_of(value):
                self.ask_unseen(name)
        elif kind == kinds.MODULE:
            self.hold(value)
        elif isinstance(value, Parameter) and id(value) in self.reached:
            self.attribute(value, "name", path)  # which its text has

    def register(self, function) -> None:
        """A function may be called; one whose code was defined in the call may be made inside."""
        if id(function.__code__) not in self._inside:
            self.reach(function)

    def has_made(self, function) -> bool:
        """Whether the call made a function."""
        return id(function.__code__) in self._inside and id(function) not in self.reached

    def may_be_made_inside(self, machine) -> bool:
        """Whether one of our own objects is of a function whose code was defined in the call, and
        was not read from outside. What that function reads is seen when it runs."""
        function = getattr(machine, "__dict__", {}).get("function")
        if type(function) is not types.FunctionType or id(machine) in self.reached:
            return False
        return id(function.__code__) in self._inside

    def flow(self, value) -> None:
        """An object from outside goes where it cannot be followed."""
        self.reach(value)
        kind = kind_of(value)
        if kind not in (kinds.OBJECT, kinds.CELL) or id(value) in self.flowed:
            return
        self.flowed[id(value)] = value
        if kind == kinds.OBJECT and kinds.has(type(value), "fields_are_settings"):
            self._reach_machine(value)
        # Of which class a Cell is belongs to its form.
        if kind != kinds.CELL and not runs_code_when_asked(type(value)):
            self.note_owner(value)
            self.flow_class(type(value))
        for name in tuple(self.free):
            self.asked(value, name)
        if issubclass(type(value), kinds.LOOKED_AT_IN_C):
            self.all_fields(value, f"a {type(value).__name__}")

    def ask_unseen(self, name: str, sets=False) -> None:
        """An attribute is asked of an object that cannot be seen: it may be any that flowed, or any
        from outside that has it, or a Cell or Tensor that is given it."""
        if (name not in self.free or sets) and not self.is_ours():
            self.free[name] = None
            for value in tuple(self.held.values()):
                if has_own(value, name) or (sets and kind_of(value) in (kinds.CELL, kinds.TENSOR)):
                    self.asked(value, name)
            for value in tuple(self.flowed.values()):
                if isinstance(value, type):
                    self.asked_of_objects(value, name)
                else:
                    self.asked(value, name)

    def is_ours(self) -> bool:
        """Whether the line belongs to this package: its names are not changed by programs."""
        code = self.place[0]
        return code is not None and code.co_filename.startswith(PACKAGE)


def _held_by(argument):
    """How and where to look at what an argument holds, and what is there."""
    fields = argument if is_container(argument) else kinds.fields_of(argument)
    if fields is not None:
        yield CONTENT, fields, None, fields
    for slot in () if fields is argument else kinds.slots_of(type(argument)):
        yield SLOT, argument, slot, SLOT(argument, slot)


def contents_of(arguments: list) -> list[Source]:
    """What the arguments of a call hold."""
    return [
        Source(*held, Snapshot(held[-1]) if held[0] is CONTENT else None, "an argument", None)
        for argument in arguments
        for held in _held_by(argument)
    ]


_REACHED = {
    kinds.FIXED: Reads._reach_parts,
    kinds.CLASS: Reads.flow_class,
    kinds.FUNCTION: Reads._reach_function,
    kinds.METHOD: lambda reads, method: reads._reach_parts((method.__func__, method.__self__)),
    kinds.BUILTIN: lambda reads, function: reads.reach(kinds.bound_to(function)),
    kinds.GENERATOR: Reads._check_generator,
    kinds.ITERATOR: Reads._reach_iterator,
    kinds.PARTIAL: Reads._reach_partial,
    kinds.LOCK: Reads._reach_lock,
    kinds.MEMO: Reads._reach_memo,
    kinds.DECIMAL: Reads.decimals,
    kinds.MACHINE: Reads._reach_machine,
    kinds.CELL: Reads._reach_cell,
}
