# SPDX-License-Identifier: Apache-2.0
"""Looking at one line before it runs: what its names, attributes, items and calls are worth.

Nothing of the user's is run for it. What cannot be told without running it is `UNSEEN`; whatever
goes there is taken to be read as a whole.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import types
from builtins import getattr  # not what stands in for them meanwhile
from typing import Any

from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.prove import kinds
from mycel.kernel.prove.attributes import UNSEEN
from mycel.kernel.prove.bytecode import (
    ATTRIBUTE,
    CALL,
    CLOSED,
    CONSTANT,
    GLOBAL,
    IMPORTED,
    ITEM,
    LOCAL,
    MATCHED,
    OTHER,
    READ,
    STORE_ATTRIBUTE,
    STORE_CLOSED,
    STORE_GLOBAL,
    STORE_ITEM,
    SUPER,
    USE,
    summary,
)
from mycel.kernel.prove.calls import Calls, is_hashable
from mycel.kernel.prove.kinds import is_machine, kind_of
from mycel.kernel.prove.reads import Reads
from mycel.kernel.prove.sources import ABSENT, CLOSURE, FIELD, INDEX


def look_at_line(reads: Reads, frame) -> dict[int, list] | None:
    """A line is about to run: what can be looked at before it is; the rest by instruction."""
    accesses = summary(frame.f_code).lines.get(frame.f_lineno)
    if not accesses:
        return None
    reads.place = (frame.f_code, frame.f_lasti, reads.capture.stream.called)
    line = Line(reads, frame)
    later: dict[int, list] = {}
    for offset, what, *parts in accesses:
        if offset is None:
            _ACCESSES[what](line, *parts)
            if reads.effect is not None:
                return None
        else:
            later.setdefault(offset, [line]).append((what, parts))
    return later


def look_at_instruction(reads: Reads, frame, later: list) -> None:
    """An instruction is about to run that others on its line came before."""
    line, *accesses = later
    reads.place = (frame.f_code, frame.f_lasti, reads.capture.stream.called)
    line.forget_locals()
    for what, parts in accesses:
        _ACCESSES[what](line, *parts)


class Line(Calls):
    """The values of the expressions of one line, before it runs."""

    __slots__ = ("_locals", "frame", "known", "reads")

    frame: Any

    def __init__(self, reads: Reads, frame):
        self.reads = reads
        self.frame = frame
        self.known: dict[int, Any] = {}
        self._locals = None

    def value(self, expression: tuple):
        """The value of an expression; UNSEEN if it cannot be told."""
        known = self.known.get(id(expression), ABSENT)
        if known is ABSENT:
            known = self.known[id(expression)] = _VALUES[expression[0]](self, expression)
        return known

    def forget_locals(self) -> None:
        """They may have changed."""
        self._locals = None

    def local(self, expression):
        if self._locals is None:
            self._locals = self.frame.f_locals
        return self._locals.get(expression[1], UNSEEN)

    def closed(self, name: str, storing=False):
        """A variable of a closure: of functions made before the call it is a source."""
        code = self.frame.f_code
        cells = self.reads.closure(self.frame, code, name)
        for cell in cells:
            self.reads.note(CLOSURE, cell, None, CLOSURE(cell, None), name)
        if storing:
            return UNSEEN
        value = self.local((LOCAL, name))
        if value is UNSEEN and cells:  # the body of a class has no such locals
            value = CLOSURE(cells[0], None)
        return UNSEEN if value is ABSENT else value

    def name(self, expression):
        name, space = expression[1], self.frame.f_globals
        if not self.frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return self._of_namespaces(name, expression)
        value = space.get(name, ABSENT)
        if not self.reads.is_ours():
            self.reads.note(FIELD, space, name, value, expression)
        if value is not ABSENT:
            return value
        built_in = self.frame.f_builtins
        value = built_in.get(name, UNSEEN)
        if value is not UNSEEN and not self.reads.is_ours():
            self.reads.note(FIELD, built_in, name, value, expression)
        return value

    def _of_namespaces(self, name: str, expression):
        """A name in the body of a class, or in what `eval` was given, perhaps made for it."""
        for names in (self.frame.f_locals, self.frame.f_globals):
            if name in names:
                if id(names) in self.reads.reached or names.get("__name__") in sys.modules:
                    self.reads.note(FIELD, names, name, names[name], expression)
                return names[name]
        return self.frame.f_builtins.get(name, UNSEEN)

    def module(self, expression):
        _, written, is_top = expression
        name = self._name_of_module(written)
        module = sys.modules.get(name)
        if module is None:
            self.reads.refuse(f"effect: {name} was imported", "import it before the call")
            return UNSEEN
        if not self.reads.is_ours():
            self.reads.note(FIELD, sys.modules, name, module, expression)
        return sys.modules.get(name.partition(".")[0], UNSEEN) if is_top else module

    def _name_of_module(self, written: str) -> str:
        """The whole name of what an import names, which may be relative to the frame's package."""
        if written[:1] != ".":
            return written
        space = self.frame.f_globals
        package = space.get("__package__")
        if package is None:
            package = space.get("__name__", "")
            package = package if "__path__" in space else package.rpartition(".")[0]
        try:
            return importlib.util.resolve_name(written, package)
        except ImportError:  # as the import itself will say
            return written

    def attribute(self, expression):
        owner = self.value(expression[1])
        if owner is UNSEEN:
            self.reads.ask_unseen(expression[2])
            return UNSEEN
        return self.reads.attribute(owner, expression[2], expression)

    def above(self, expression):
        """`super()`, or `super(kind, owner)`, of the whole class: see Attributes._of_super."""
        code, (_, *given) = self.frame.f_code, expression
        if len(given) > 1:
            owner = self.value(given[1])
        else:
            owner = self.local((LOCAL, code.co_varnames[0])) if code.co_argcount else UNSEEN
        if owner is UNSEEN:
            return UNSEEN
        kind: Any = owner if issubclass(type(owner), type) else type(owner)
        return super(kind, owner)

    def matched(self, kind_expression, names_expression, count: int) -> None:
        """A `case Kind(first, name=second)`: attributes are asked of what is matched."""
        kind, names = self.value(kind_expression), self.value(names_expression)
        asked = [*names] if isinstance(names, tuple) else []
        asked += getattr(kind, "__match_args__", ())[:count]
        for name in asked:
            self.reads.ask_unseen(name)
        if isinstance(kind, type):
            self.reads.attribute(kind, "__match_args__", kind_expression)

    def field(self, owner_expression, name: str) -> None:
        """A field is about to be set."""
        owner = self.value(owner_expression)
        if owner is UNSEEN:
            self.reads.ask_unseen(name, sets=True)
        else:
            self.reads.set_field(owner, name, owner_expression)

    def set_global(self, name: str) -> None:
        """A global variable is about to be set."""
        self.name((GLOBAL, name))

    def item(self, container_expression, key_expression):
        """An item of a container, read or about to be set."""
        container, key = self.value(container_expression), self.value(key_expression)
        if type(container) is not dict:
            self.reads.use(key, key_expression)  # a list or an array chooses by what it holds
        if container is UNSEEN:
            return UNSEEN
        kind = kind_of(container)
        path = (ITEM, container_expression, key_expression)
        if kind == kinds.CELL:
            return self._of_cells(container, key)
        if kind == kinds.FIXED:
            return UNSEEN if _is_written_item(container) else _item_of(container, key)
        if kind == kinds.OPAQUE:
            self.reads.use(container, path)
        if kind != kinds.CONTAINER or _is_written_item(container):
            return UNSEEN
        return self._of_container(container, key, path)

    def _of_container(self, container, key, path):
        reads = self.reads
        look = FIELD if isinstance(container, dict) else INDEX
        plain = isinstance(container, dict) or (isinstance(container, list) and type(key) is int)
        if key is UNSEEN or not plain or not is_hashable(key):
            reads.content(container, path)
            return UNSEEN
        value = look(container, key)
        if id(container) in reads.reached:
            reads.note(look, container, key, value, path)
            reads.reach(value)
        return UNSEEN if value is ABSENT else value

    def _of_cells(self, container, key):
        self.reads.use(container, "a Cell")
        if isinstance(key, (int, str)) and is_machine(_owner_of_item(container)):
            try:
                return container[key]
            except Exception as error:
                if came_from_outside(error):
                    raise
                return UNSEEN
        return UNSEEN


def _item_of(container, key):
    try:
        known = isinstance(container, tuple) and isinstance(key, int)
        return tuple.__getitem__(container, key) if known else UNSEEN
    except IndexError:
        return UNSEEN


def _is_written_item(container) -> bool:
    """Whether a subclass has a `__getitem__` of its own, whose Python is looked into."""
    kind = type(container)
    return isinstance(getattr(kind, "__getitem__", None), types.FunctionType)


def _owner_of_item(container) -> str:
    for owner in type(container).__mro__:
        if "__getitem__" in owner.__dict__:
            return owner.__module__
    return ""


_VALUES = {
    LOCAL: Line.local,
    CLOSED: lambda line, expression: line.closed(expression[1]),
    GLOBAL: Line.name,
    CONSTANT: lambda line, expression: expression[1].value,
    ATTRIBUTE: Line.attribute,
    ITEM: lambda line, expression: line.item(expression[1], expression[2]),
    CALL: Line.call,
    SUPER: Line.above,
    IMPORTED: Line.module,
    OTHER: lambda line, expression: UNSEEN,
}

_ACCESSES = {
    READ: Line.value,
    USE: lambda line, expression: line.reads.use(line.value(expression), expression),
    STORE_ATTRIBUTE: Line.field,
    STORE_ITEM: Line.item,
    STORE_GLOBAL: Line.set_global,
    MATCHED: Line.matched,
    STORE_CLOSED: lambda line, name: line.closed(name, storing=True),
}
