# SPDX-License-Identifier: Apache-2.0
"""Calls that are about to be made: on what they depend, and what they change, by what is called."""

from __future__ import annotations

import abc
import copy
import functools
import importlib
import operator
import re
import reprlib
import string
import sys
import types
from builtins import getattr, vars  # not what stands in for them meanwhile
from typing import Any

import numpy as np

from mycel.kernel.base.places import PACKAGE
from mycel.kernel.prove import kinds
from mycel.kernel.prove.attributes import UNSEEN, class_attribute
from mycel.kernel.prove.bytecode import ATTRIBUTE, CALL, STARRED
from mycel.kernel.prove.callees import unwrapped
from mycel.kernel.prove.kinds import effect_of, is_machine, is_watched, kind_of
from mycel.kernel.prove.sources import ABSENT, FIELD, SLOT, STATE, VARIABLE, is_long


class Calls:
    """The half of a `Line` that looks at calls."""

    reads: Any
    frame: Any
    value: Any
    _of_container: Any

    __slots__ = ()

    def call(self, expression):
        """What is called, on what: its result if it is known without running it."""
        function = self.value(expression[1])
        arguments = [self.value(part) for part in expression[2]]
        if expression[3] == STARRED:
            arguments, expression = self._spread(arguments[-1], expression)
        return self._call(function, arguments, expression)

    def _spread(self, given, expression):
        """The arguments behind a star, as far as they can be told."""
        arguments = [*given] if type(given) in (tuple, list) else [UNSEEN]
        parts = (expression[2][-1],) * len(arguments)
        return arguments, (CALL, expression[1], parts, STARRED)

    def _call_with(self, function, first: tuple, arguments, expression):
        """What calls a function with arguments of its own before those of the call."""
        parts = (*[expression[1]] * len(first), *expression[2])
        whole = (CALL, expression[1], parts, expression[3])
        return self._call(function, [*first, *arguments], whole)

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
        if kind in (kinds.CELL, kinds.OBJECT):
            for part in unwrapped(class_attribute(type(function), "__call__")):
                reads.reach(part)
        if kind == kinds.CELL:
            return self._flow_all(arguments, expression)
        owner = kinds.generator_of(function)
        if owner is not None:
            reads.drawn(owner)
        if kind == kinds.METHOD:
            code = getattr(function.__func__, "__code__", None)
            if code is not None and _is_foreign(code.co_filename):
                self._to_unknown(function.__self__, expression)
            if code is None:
                return self._call_with(
                    function.__func__, (function.__self__,), arguments, expression
                )
            return self._call(function.__func__, arguments, expression)
        if kind == kinds.PARTIAL:
            for value in function.keywords.values():
                reads.use(value, expression)
            return self._call_with(function.func, function.args, arguments, expression)
        special = _OF_KINDS.get(kind)
        if special is not None:
            return special(self, function, arguments, expression)
        if kind == kinds.FUNCTION and is_watched(function.__code__.co_filename):
            for value in arguments:
                self._to_python(value)
            return UNSEEN
        if kind == kinds.MACHINE and not reads.may_be_made_inside(function):
            reads.reach(function)
        if kind == kinds.CLASS and kinds.has(function, "__del__"):
            reads.refuse(
                f"effect: {function.__name__}.__del__ runs when its object ends",
                "close it yourself",
            )
        if kind == kinds.OBJECT or (kind == kinds.CLASS and _is_built_in_python(function)):
            for value in arguments:
                self._to_python(value)
                self.reads.hold(value)
            return UNSEEN
        return self._call_unwatched(function, arguments, expression)

    def _of_a_memo(self, memo, arguments, expression):
        self.reads.reach(memo)
        known = id(memo) in self.reads.counted
        if (
            known
            and UNSEEN not in arguments
            and not expression[3]
            and all(map(is_hashable, arguments))
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
            return UNSEEN if value is UNSEEN else reads.class_of(value)
        if function is len and len(arguments) == 1 and is_long(arguments[0]):
            reads.length(arguments[0], expression)
            return UNSEEN
        owner = kinds.bound_to(function)
        by_name = kinds.field_by_name(function)
        if by_name is not None:
            if owner is None:
                owner, *arguments = arguments or [UNSEEN]
            return self._of_a_field(by_name, owner, arguments, expression)
        if function is vars:
            for value in arguments[:1]:
                reads.all_fields(value, expression)
        if owner is not None:
            if function.__name__ in _OF_DESCRIPTORS and arguments:
                return self._of_a_descriptor(owner, arguments, expression)
            if function.__name__ == "__call__":
                return self._call(owner, arguments, expression)
            special = _OF_OWNERS.get(kind_of(owner))
            if special is not None:
                return special(self, function, owner, arguments, expression)
        if isinstance(function, (operator.attrgetter, operator.methodcaller)):
            for name in kinds.names_of(function):
                reads.ask_unseen(name)
        if function is operator.attrgetter:
            self._getter(arguments)
        if kinds.is_decimal(function):
            reads.decimals()
        if kinds.tells_thread(function):
            look = kinds.thread
            reads.note(STATE, look, look, look(None), "the thread that calls")
        if kinds.is_of_numpy(function):
            reads.numpy_settings()
        if _tells_settings(function) and UNSEEN not in arguments:
            ask = functools.partial(_ask, function)
            reads.note(STATE, tuple(arguments), ask, ask(arguments), expression)
        if kinds.sets_warnings(function):
            look = kinds.warning_filters
            reads.note(STATE, look, look, look(None), "the filters of warnings")
        if function is importlib.import_module:
            return self._imported(arguments)
        if type(owner) is str and getattr(function, "__name__", "") in ("format", "format_map"):
            self._formatted(owner)
        if _is_unbound(function) and arguments and arguments[0] is not UNSEEN:
            special = _OF_OWNERS.get(kind_of(arguments[0]))
            if special is not None:
                special(self, function, arguments[0], arguments[1:], expression)
        if kinds.is_pickling(function):
            for value, part in zip(arguments, expression[2], strict=False):
                reads.everything_of(value, part)
        effect = None if self._is_asked_for_cycles(function) else _effect(function, arguments)
        if effect is not None:
            reads.refuse(
                f"effect: {effect}", "call it outside, or in a function marked @every_call"
            )
        return self._flow_all(arguments, expression)

    def _flow_all(self, arguments, expression):
        for value, part in zip(arguments, expression[2], strict=False):
            self.reads.use(value, part)
        return UNSEEN

    def _is_asked_for_cycles(self, function) -> bool:
        """Whether Python's library asks which objects it has met, which nobody else sees."""
        code = self.frame.f_code
        return function is id and code.co_filename in (copy.__file__, reprlib.__file__)

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

    def _of_a_field(self, sets: bool, owner, arguments, expression):
        """A field is read or set by its name."""
        reads, name = self.reads, arguments[0] if arguments else UNSEEN
        for value, part in zip(arguments[1:], expression[2][1:], strict=False):
            reads.use(value, part)
        if not isinstance(name, str):
            if owner is UNSEEN or kind_of(owner) not in (kinds.OBJECT, kinds.CELL):
                reads.refuse("effect: attributes are asked by computed names", "write the names")
            reads.all_fields(owner, expression)
        elif owner is UNSEEN:
            reads.ask_unseen(name)
        elif sets:
            reads.set_field(owner, name, None)
        else:
            reads.asked(owner, name)
        return UNSEEN

    def _of_a_descriptor(self, descriptor, arguments, expression):
        """What a class has for a field is asked for it, or to set it."""
        owner = arguments[0]
        if owner is not UNSEEN and self.reads.is_outside(owner):
            if type(descriptor) in (types.MemberDescriptorType, types.GetSetDescriptorType):
                self.reads.note(SLOT, owner, descriptor, SLOT(owner, descriptor), expression)
            self.reads.all_fields(owner, expression)
        return self._flow_all(arguments, expression)

    def _of_an_opaque_object(self, function, owner, arguments, expression):
        if id(owner) in self.reads.reached:
            self.reads.refuse_opaque(owner, expression)
        return self._flow_all(arguments, expression)

    def _of_a_variable(self, function, variable, arguments, expression):
        value = VARIABLE(variable, None)
        self.reads.note(VARIABLE, variable, None, value, expression)
        self._flow_all(arguments, expression)
        return UNSEEN if value is ABSENT or function.__name__ != "get" else value


_OF_KINDS = {kinds.MEMO: Calls._of_a_memo, kinds.REFERENCE: Calls._of_a_reference}
_QUIET_METHODS = frozenset(("__init__", "__new__", "__init_subclass__", "__class_getitem__"))
_OF_DESCRIPTORS = frozenset(("__get__", "__set__", "__delete__"))
_OF_OWNERS = {
    kinds.CELL: Calls._of_an_object,
    kinds.CONTAINER: Calls._of_a_container,
    kinds.GENERATOR: Calls._of_a_generator,
    kinds.OBJECT: Calls._of_an_object,
    kinds.OPAQUE: Calls._of_an_opaque_object,
    kinds.VARIABLE: Calls._of_a_variable,
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
    if function is np.datetime64 and arguments[:1] in (["now"], ["today"]):
        return "the clock was asked"
    return effect_of(function) if kind_of(function) == kinds.BUILTIN else None


def _is_unbound(function) -> bool:
    """Whether it is a method in C that is given its object, as `object.__getattribute__`."""
    return isinstance(function, (types.WrapperDescriptorType, types.MethodDescriptorType))


def is_hashable(key) -> bool:
    if isinstance(key, tuple):
        return all(map(is_hashable, key)) and _hashes(key)
    # One of the program's own is not called.
    return type(key).__hash__ is not None and not isinstance(type(key).__hash__, types.FunctionType)


def _hashes(key) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


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
