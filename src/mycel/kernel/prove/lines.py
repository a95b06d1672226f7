# SPDX-License-Identifier: Apache-2.0
"""Looking at one line before it runs: what its names, attributes, items and calls are worth.

Nothing of the user's is run for it. What cannot be told without running it is `UNSEEN`; whatever
goes there is taken to be read as a whole.
"""

from __future__ import annotations

import abc
import copy
import functools
import importlib.util
import inspect
import operator
import re
import string
import sys
import types
from builtins import getattr, hasattr  # not what stands in for them meanwhile
from typing import Any

import numpy as np

from mycel.kernel.base.places import PACKAGE
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
from mycel.kernel.prove.kinds import effect_of, is_machine, is_watched, kind_of
from mycel.kernel.prove.reads import Reads
from mycel.kernel.prove.sources import ABSENT, CLOSURE, FIELD, INDEX, STATE, VARIABLE


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


class Line:
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
        if expression[1][0] == SUPER:
            return self._of_super(expression)
        if owner is UNSEEN:
            self.reads.ask_unseen(expression[2])
            return UNSEEN
        return self.reads.attribute(owner, expression[2], expression)

    def _of_super(self, expression):
        code = self.frame.f_code
        if code.co_argcount:
            owner = self.local((LOCAL, code.co_varnames[0]))
            kind = owner if isinstance(owner, type) else type(owner)
            for above in kind.__mro__:
                if expression[2] in above.__dict__:
                    self.reads._found_in(above, expression[2], expression)
        return UNSEEN

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
            self.reads.ask_unseen(name)
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
            return _item_of(container, key)
        if kind == kinds.OPAQUE:
            self.reads.use(container, path)
        if kind != kinds.CONTAINER or _is_written_item(container):
            return UNSEEN
        return self._of_container(container, key, path)

    def _of_container(self, container, key, path):
        reads = self.reads
        look = FIELD if isinstance(container, dict) else INDEX
        plain = isinstance(container, dict) or (isinstance(container, list) and type(key) is int)
        if key is UNSEEN or not plain or not _is_hashable(key):
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

    # -- calls ----------------------------------------------------------------------------

    def call(self, expression):
        """What is called, on what: its result if it is known without running it."""
        function = self.value(expression[1])
        arguments = [self.value(part) for part in expression[2]]
        return self._call(function, arguments, expression)

    def _call(self, function, arguments, expression):
        if function is UNSEEN:
            called = expression[1]
            if called[0] == ATTRIBUTE and called[2] in kinds.WRITES_FILES:
                self.reads.refuse(f"effect: {called[2]}()", "write it outside")
            for value, part in zip(arguments, expression[2], strict=False):
                self._to_unknown(value, part)
            return UNSEEN
        kind = kind_of(function)
        reads = self.reads
        if kind != kinds.BUILTIN:
            reads.use(function, expression)
        if kind == kinds.CELL:
            return self._flow_all(arguments, expression)
        owner = kinds.generator_of(function)
        if owner is not None:
            reads.drawn(owner)
        if kind == kinds.METHOD:
            code = getattr(function.__func__, "__code__", None)
            if code is not None and _is_foreign(code.co_filename):
                self._to_unknown(function.__self__, expression)
            return self._call(function.__func__, arguments, expression)
        if kind == kinds.PARTIAL:
            return self._call(function.func, arguments, expression)
        special = _OF_KINDS.get(kind)
        if special is not None:
            return special(self, function, arguments, expression)
        if kind == kinds.FUNCTION and is_watched(function.__code__.co_filename):
            for value in arguments:
                self._to_python(value)
            return UNSEEN
        if kind == kinds.MACHINE and not reads.may_be_made_inside(function):
            reads.reach(function)
        if kind == kinds.CLASS and hasattr(function, "__del__"):
            reads.refuse(
                f"effect: {function.__name__}.__del__ runs when its object ends",
                "close it yourself",
            )
        if kind == kinds.OBJECT or (kind == kinds.CLASS and _is_built_in_python(function)):
            for value in arguments:
                self._to_python(value)
            return UNSEEN
        return self._call_unwatched(function, arguments, expression)

    def _of_a_memo(self, memo, arguments, expression):
        self.reads.reach(memo)
        known = id(memo) in self.reads.counted
        if (
            known
            and UNSEEN not in arguments
            and not expression[3]
            and all(map(_is_hashable, arguments))
        ):
            self.reads.repeats.append((memo, tuple(arguments)))
        return UNSEEN

    def _of_a_reference(self, reference, arguments, expression):
        value = reference()
        self.reads.note(STATE, reference, _called, value, expression)
        return UNSEEN if value is None else value

    def _to_python(self, value) -> None:
        if value is not UNSEEN and kind_of(value) == kinds.FUNCTION:
            self.reads.register(value)

    def _to_unknown(self, value, path) -> None:
        self.reads.use(value, path)
        if value is not UNSEEN and kind_of(value) == kinds.OBJECT:
            self.reads.all_fields(value, path)

    def _call_unwatched(self, function, arguments, expression):
        """Functions in C, classes built in, and the machine."""
        reads = self.reads
        if function is isinstance or function is issubclass:
            self._of_a_class_check(arguments)
        if function is type and len(arguments) == 1:
            value = arguments[0]
            return UNSEEN if value is UNSEEN else type(value)
        owner = getattr(function, "__self__", None)
        if kind_of(function) == kinds.BUILTIN and owner is not None:
            special = _OF_OWNERS.get(kind_of(owner))
            if special is not None:
                return special(self, function, owner, arguments, expression)
        if isinstance(function, operator.attrgetter):
            for name in kinds.names_of(function):
                reads.ask_unseen(name)
        if function is operator.attrgetter:
            self._getter(arguments)
        if kinds.is_decimal(function):
            reads.decimals()
        if kinds.is_of_numpy(function):
            reads.numpy_settings()
        if _tells_settings(function) and UNSEEN not in arguments:
            ask = functools.partial(_ask, function)
            reads.note(STATE, tuple(arguments), ask, ask(arguments), expression)
        if function is importlib.import_module:
            return self._imported(arguments)
        if type(owner) is str and getattr(function, "__name__", "") in ("format", "format_map"):
            self._formatted(owner)
        if _is_unbound(function) and arguments and arguments[0] is not UNSEEN:
            special = _OF_OWNERS.get(kind_of(arguments[0]))
            if special is not None:
                special(self, function, arguments[0], arguments[1:], expression)
        effect = None if self._is_copying(function) else _effect(function, arguments)
        if effect is not None:
            reads.refuse(
                f"effect: {effect}", "call it outside, or in a function marked @every_call"
            )
        return self._flow_all(arguments, expression)

    def _flow_all(self, arguments, expression):
        for value, part in zip(arguments, expression[2], strict=False):
            self.reads.use(value, part)
        return UNSEEN

    def _is_copying(self, function) -> bool:
        """Whether `copy` asks which objects it has met, which nobody else sees."""
        return function is id and self.frame.f_code.co_filename == copy.__file__

    def _of_a_class_check(self, arguments) -> None:
        """What decides depends on the class of the object and the bases of both, and more where
        abstract classes are asked."""
        classes = arguments[-1] if arguments else UNSEEN
        for kind in classes if isinstance(classes, tuple) else (classes,):
            if not isinstance(kind, type):
                continue
            if getattr(kind, "_is_protocol", False):
                self.reads.refuse("effect: an object is checked for a Protocol", "check it outside")
            if isinstance(kind, abc.ABCMeta):
                token = kinds.abstract_registrations
                self.reads.note(STATE, token, token, token(None), "the classes registered for ABCs")
        for value in arguments[:1]:
            if (
                value is not UNSEEN
                and kind_of(value) == kinds.OBJECT
                and self.reads.is_outside(value)
            ):
                self.reads.note_owner(value)

    def _imported(self, arguments):
        name = arguments[0] if arguments else UNSEEN
        if not isinstance(name, str) or name not in sys.modules:
            self.reads.refuse("effect: a module was imported by name", "import it before the call")
            return UNSEEN
        self.reads.note(FIELD, sys.modules, name, sys.modules[name], f"sys.modules[{name!r}]")
        return sys.modules[name]

    def _getter(self, arguments) -> None:
        for path in arguments:
            if isinstance(path, str):
                for name in path.split("."):
                    self.reads.ask_unseen(name)
            else:
                self.reads.refuse("effect: attributes are asked by computed names", "")

    def _formatted(self, text: str) -> None:
        """`format` asks for the attributes that a text names."""
        for _, field, *_ in string.Formatter().parse(text):
            for name in re.findall(r"\.(\w+)", field or ""):
                self.reads.ask_unseen(name)

    def _of_a_container(self, function, container, arguments, expression):
        owner = expression[1][1] if expression[1][0] == ATTRIBUTE else expression
        for value, part in zip(arguments, expression[2], strict=False):
            self.reads.use(value, part)
        if function.__name__ == "get" and isinstance(container, dict) and arguments:
            return self._of_container(container, arguments[0], owner)
        self.reads.content(container, owner)
        if function.__name__ in kinds.WRITES_FILES and isinstance(container, np.ndarray):
            self.reads.refuse(f"effect: ndarray.{function.__name__}()", "write it outside")
        return UNSEEN

    def _of_a_generator(self, function, generator, arguments, expression):
        # What it draws is told by its state, which the next call must find as it was.
        self.reads.drawn(generator)
        if function.__name__ == "spawn":
            self.reads.refuse("effect: Generator.spawn()", "make the generators outside")
        return self._flow_all(arguments, expression)

    def _of_an_object(self, function, owner, arguments, expression):
        defined = next((k for k in type(owner).__mro__ if function.__name__ in k.__dict__), object)
        if kind_of_class(defined) == kinds.OPAQUE and self.reads.is_outside(owner):
            self.reads.refuse(
                f"effect: {defined.__name__}.{function.__name__}()",
                "call it outside, or in a function marked @every_call",
            )
        if function.__name__ not in _QUIET_METHODS:
            self.reads.all_fields(owner, expression)
        for value, part in zip(arguments, expression[2], strict=False):
            self._to_unknown(value, part)
        return UNSEEN

    def _of_a_variable(self, function, variable, arguments, expression):
        self.reads.note(VARIABLE, variable, None, VARIABLE(variable, None), expression)
        return self._flow_all(arguments, expression)


_OF_KINDS = {kinds.MEMO: Line._of_a_memo, kinds.REFERENCE: Line._of_a_reference}
_QUIET_METHODS = frozenset(("__init__", "__new__", "__init_subclass__", "__class_getitem__"))
_OF_OWNERS = {
    kinds.CONTAINER: Line._of_a_container,
    kinds.GENERATOR: Line._of_a_generator,
    kinds.OBJECT: Line._of_an_object,
    kinds.VARIABLE: Line._of_a_variable,
}


# Of this package, what tells settings that a program can change.
_SETTINGS = frozenset(("get_context", "get_seed"))


def _tells_settings(function) -> bool:
    name, module = getattr(function, "__name__", None), getattr(function, "__module__", None)
    return name in _SETTINGS and is_machine(module) and not kinds.is_of_numpy(function)


def _is_foreign(filename: str) -> bool:
    """Whether code of this file is neither looked into nor ours: of Python's library, of NumPy."""
    return not is_watched(filename) and not filename.startswith((PACKAGE, "<mycel"))


def _ask(function, arguments):
    return function(*arguments)


def _called(reference, *_):
    return reference()


def _effect(function, arguments) -> str | None:
    """The effect of a call that is not looked into."""
    name = getattr(function, "__name__", type(function).__name__)
    if not arguments and name in ("default_rng", "RandomState", "Random", "SystemRandom"):
        return f"{name}() without a seed"
    if kinds.looks_outside(function):
        return f"{name}()"
    return effect_of(function) if kind_of(function) == kinds.BUILTIN else None


def _is_unbound(function) -> bool:
    """Whether it is a method in C that is given its object, as `object.__getattribute__`."""
    return isinstance(function, (types.WrapperDescriptorType, types.MethodDescriptorType))


def _is_hashable(key) -> bool:
    if isinstance(key, tuple):
        return all(map(_is_hashable, key)) and _hashes(key)
    # One of the program's own is not called.
    return type(key).__hash__ is not None and not isinstance(type(key).__hash__, types.FunctionType)


def _hashes(key) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _item_of(container, key):
    try:
        return container[key] if isinstance(key, int) else UNSEEN
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


def _is_built_in_python(kind: type) -> bool:
    """Whether making an instance runs Python that is looked into."""
    if type(kind) is not type and not is_machine(type(kind).__module__):
        return True
    for name in ("__new__", "__init__"):
        for owner in kind.__mro__:
            described = owner.__dict__.get(name)
            if described is not None:
                inner = getattr(described, "__func__", described)
                if isinstance(inner, types.FunctionType) and is_watched(inner.__code__.co_filename):
                    return True
                break
    return not is_machine(kind.__module__) and kind_of_class(kind) == kinds.OBJECT


def kind_of_class(kind: type) -> int:
    return kinds._kind_of(kind)


_VALUES = {
    LOCAL: Line.local,
    CLOSED: lambda line, expression: line.closed(expression[1]),
    GLOBAL: Line.name,
    CONSTANT: lambda line, expression: expression[1].value,
    ATTRIBUTE: Line.attribute,
    ITEM: lambda line, expression: line.item(expression[1], expression[2]),
    CALL: Line.call,
    SUPER: lambda line, expression: UNSEEN,
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
