# SPDX-License-Identifier: Apache-2.0
"""Attributes: the value of one, found the way Python finds it, with all that is looked at."""

from __future__ import annotations

import abc
import itertools
import logging
import types
from builtins import getattr, hasattr  # not what stands in for them meanwhile
from enum import Enum, EnumType
from typing import Any

from mycel.kernel.base.places import Place
from mycel.kernel.prove import kinds
from mycel.kernel.prove.bytecode import ATTRIBUTE, CONSTANT, written_out
from mycel.kernel.prove.callees import CALLED_OF_CELLS, unwrapped
from mycel.kernel.prove.kinds import is_machine, kind_of
from mycel.kernel.prove.sources import (
    ABSENT,
    COUNT,
    FIELD,
    OF_CLASS,
    PART,
    PART_OF_REFERENT,
    SLOT,
    Referent,
    Source,
    elements,
    is_array,
    is_container,
)

# What finds a field of a named tuple.
_OF_NAMED_TUPLE = type(vars(Place)["code"])
# What `super()` is of; an attribute of its own may have this name.
_OWNER_OF_SUPER = vars(super)["__self__"].__get__
_PARTS_OF_FUNCTIONS = frozenset(("__code__", "__defaults__", "__kwdefaults__"))
_OF_ENUMS = frozenset(("name", "value"))
# What an expression is worth that nobody can tell without running it.
UNSEEN: Any = type("Unseen", (), {"__repr__": lambda self: "?"})()


# What a Tensor tells of itself by its shape and element type, which are compared anyway.
_OF_AVALS = frozenset(("shape", "ndim", "size", "itemsize", "nbytes", "dtype"))

# Kinds of objects that have attributes of their own.
_HELD = frozenset((
    kinds.CELL, kinds.CONTAINER, kinds.FIXED, kinds.FUNCTION, kinds.MACHINE, kinds.MODULE,
    kinds.OBJECT, kinds.PARTIAL, kinds.TENSOR,
))  # fmt: skip


class Attributes:
    """The half of `Reads` that looks attributes up."""

    capture: Any
    _arguments: set[int]
    sources: dict[tuple, Source]
    reached: dict[int, Any]
    flowed: dict[int, Any]
    free: dict[str, None]
    held: dict[int, Any]
    methods: dict[tuple, Any]
    place: Any
    note: Any
    reach: Any
    use: Any
    flow: Any
    content: Any
    is_outside: Any
    is_ours: Any
    refuse: Any

    def attribute(self, owner, name: str, path):
        """The value of an attribute, with all that Python looks at to find it."""
        described = type(owner)
        if described is super:
            return self._of_super(_OWNER_OF_SUPER(owner), name, path)
        kind = kind_of(owner)
        look = _ATTRIBUTES.get(kind)
        if look is not None:
            return look(self, owner, name, path)
        if described.__dictoffset__ or kinds.names_slots(described):
            return self._of_object(owner, name, path)
        value = getattr(owner, name, UNSEEN)
        if kind == kinds.GENERATOR:
            self.reach(value)  # its bit generator
        return value

    def _of_super(self, owner, name, path):
        """What `super()` finds: of which class is not told, so all that have the name are looked
        at."""
        kind = owner if issubclass(type(owner), type) else type(owner)
        for above in kind.__mro__:
            described = above.__dict__.get(name)
            if described is not None:
                self._found_in(above, name, path)
            if isinstance(described, kinds.METHODS_IN_C):
                return described.__get__(owner, type(owner))
        return UNSEEN

    def _of_opaque(self, owner, _name, path):
        if id(owner) in self.reached:
            self.refuse_opaque(owner, path)
        return UNSEEN

    def refuse_opaque(self, owner, path) -> None:
        """What nobody can look into is used."""
        self.refuse(
            f"effect: `{written_out(path)}`: the state of a {type(owner).__name__} "
            "cannot be looked into",
            "use it outside, or in a function marked @every_call",
        )

    def _of_module(self, module, name, path):
        space = kinds.fields_of(module)
        if name == "__dict__":
            return self._fields_of(module)
        value = space.get(name, ABSENT)
        if value is ABSENT:
            # Ours are filled as they are used.
            if not (self.is_ours() or is_machine(module.__name__)):
                self.note(FIELD, space, name, ABSENT, path)
                self.note(FIELD, space, "__getattr__", space.get("__getattr__", ABSENT), path)
            return _bound(class_attribute(type(module), name), module, type(module))
        if self.is_ours():
            return value
        self.note(FIELD, space, name, value, path)
        return value

    def _of_class(self, owner, name, path):
        described: Any = self._found_in(owner, name, path)
        if type(described) is staticmethod:
            return described.__func__
        if type(described) is classmethod:
            return types.MethodType(described.__func__, owner)
        if name == "__dict__":
            content = owner.__dict__
            self.reached[id(content)] = content
            self.content(content, path)
            return content
        if described is ABSENT:
            return self._special(owner, name, path)
        return UNSEEN if isinstance(described, property) else described

    def _special(self, owner, name: str, path):
        """What Python keeps of a class or function besides its fields: name, bases, defaults."""
        if name[:2] != "__" or not hasattr(owner, name):
            return UNSEEN
        value = getattr(owner, name)
        if isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType)):
            return value
        is_made_inside = isinstance(owner, types.FunctionType) and id(owner) not in self.reached
        if not (is_made_inside or is_machine(owner.__module__)):
            self.note(PART, owner, name, value, path)
            if type(value) is dict:
                self.content(value, path)
        return value

    def _of_tensor(self, tensor, name, path):
        fields = tensor.__dict__
        if name in _OF_AVALS:
            return getattr(tensor, name)
        self._found_in_tensor(type(tensor), name, path)
        if id(tensor) in self.reached:
            self.note(FIELD, fields, name, fields.get(name, ABSENT), path)
        if name in fields:
            return fields[name]
        described = getattr(type(tensor), name, UNSEEN)
        if isinstance(described, types.MemberDescriptorType):
            value = SLOT(tensor, described)
            if name[0] != "_":
                self.note(SLOT, tensor, described, value, path)
            return value
        is_part = kind_of(described) == kinds.CONTAINER and id(described) in self.reached
        return described if is_part or isinstance(described, types.FunctionType) else UNSEEN

    def _found_in_tensor(self, kind: type, name: str, path) -> None:
        """A method of Tensors, which a program may have replaced or added. Ours are noted when the
        call ends: the first use of one may write it."""
        for owner in kind.__mro__:
            ours = is_machine(owner.__module__)
            if not ours:
                self.note(OF_CLASS, owner, name, owner.__dict__.get(name, ABSENT), path)
            if name in owner.__dict__:
                if ours:
                    self.methods[owner, name] = path
                return
        self.note(OF_CLASS, kind, name, ABSENT, path)

    def _of_function(self, function, name, path):
        if kind_of(function) == kinds.METHOD:
            if name in types.MethodType.__dict__ and name != "__doc__":
                return getattr(function, name, UNSEEN)
            return self.attribute(function.__func__, name, path)
        if name not in function.__dict__ and name[:2] == "__":
            return self._special(function, name, path)
        fields = function.__dict__
        if id(function) in self.reached:
            self.note(FIELD, fields, name, fields.get(name, ABSENT), path)
        return fields.get(name, UNSEEN)

    def _of_container(self, container, name, path):
        kind = type(container)
        owner = next((above for above in kind.__mro__ if name in above.__dict__), None)
        fields = kinds.fields_of(container)
        of_kind = owner is not None and kinds.is_unchanged(owner.__module__)
        if (fields is not None and name in fields) or (
            not of_kind and (fields is not None or kinds.names_slots(kind))
        ):
            return self._of_object(container, name, path)
        described = getattr(kind, name, UNSEEN)
        if isinstance(described, (types.FunctionType, property)):
            return self._of_object(container, name, path)
        value = getattr(container, name, UNSEEN)
        if not callable(value):
            self.content(container, path)
            if kind_of(value) == kinds.CONTAINER and id(container) in self.reached:
                self.reach(value)  # the base of an array
                self.content(value, path)
        return value

    def _of_object(self, owner, name, path):
        """A field of an object or Cell, or what its class has."""
        kind = type(owner)
        if name == "__class__":
            return self.class_of(owner)
        if name == "__dict__":
            return self._fields_of(owner)
        if isinstance(owner, Enum) and name in _OF_ENUMS:
            name = f"_{name}_"  # of which they are properties
        outside = self.is_outside(owner)
        if outside:
            self.note_owner(owner)
        fields = kinds.fields_of(owner)
        described = class_attribute(kind, name)
        if not outside:
            self.asked_of_objects(kind, name)
        elif fields is None or name not in fields:
            entry = self._found_in(kind, name, path)
            if entry is ABSENT:
                self._runs_in_c(owner, self._found_in(kind, "__getattr__", path), path)
        if type(described) is _OF_NAMED_TUPLE:
            return described.__get__(owner)
        if type(described) in (types.MemberDescriptorType, types.GetSetDescriptorType):
            value = SLOT(owner, described)
            if outside:
                self.note(SLOT, owner, described, value, path)
            return UNSEEN if value is ABSENT else value
        if isinstance(described, property):
            self._runs_in_c(owner, described.fget, path)
        elif outside and kind_of(described) == kinds.OBJECT:
            self.note_bases(type(described))  # it may become a descriptor, or another kind of one
        if isinstance(described, property) or hasattr(type(described), "__set__"):
            return UNSEEN  # its Python is looked into when it runs
        if fields is not None:
            # A method, too, gives way to a field of its name.
            if outside:
                self.note(FIELD, fields, name, fields.get(name, ABSENT), path)
            if name in fields:
                return fields[name]
        return _bound(described, owner, kind)

    def class_of(self, owner):
        """The class of an object, which a program may exchange."""
        if kind_of(owner) in (kinds.OBJECT, kinds.CELL) and self.is_outside(owner):
            self.note_owner(owner)
        return type(owner)

    def _runs_in_c(self, owner, function, path) -> None:
        """What a class has for an attribute is called with the object; if it is written in C, that
        is not seen."""
        if function is ABSENT or function is None or isinstance(function, types.FunctionType):
            return
        self.reach(function)
        self.use(function, path)
        if kind_of(owner) == kinds.CONTAINER:
            self.content(owner, path)
        else:
            self.all_fields(owner, path)

    def _of_machine(self, owner, name, path):
        """What a class of the machine has is not changed; a program may add names to an object."""
        described = class_attribute(type(owner), name)
        if described is not ABSENT:
            return described if isinstance(described, types.FunctionType) else UNSEEN
        fields = kinds.fields_of(owner)
        if type(fields) is not dict or self.is_ours() or not self.is_outside(owner):
            return UNSEEN
        value = fields.get(name, ABSENT)
        self.note(FIELD, fields, name, value, path)
        return UNSEEN if value is ABSENT else value

    def called(self, cell) -> None:
        """Code of ours calls what a Cell has: its methods, which need not be functions of its
        class, and what its settings are. What those read is from outside."""
        own, read = cell._of_this_package()
        names = read.union(CALLED_OF_CELLS)
        of_programs = itertools.takewhile(lambda kind: kind is not own, type(cell).__mro__)
        for fields in (cell.__dict__, *[kind.__dict__ for kind in of_programs]):
            for name in fields.keys() & names:
                for part in unwrapped(fields[name]):
                    self.reach(part)

    def note_settings(self, cell) -> None:
        """Settings that code of ours reads, in lists and dicts, which programs change in place, and
        in classes of programs; all else is in the form of a Cell."""
        own, read = cell._of_this_package()
        fields = cell.__dict__
        for name in ("construct", "bprop") if own is not type(cell) else ():
            self.note(
                FIELD, fields, name, fields.get(name, ABSENT), f"{type(cell).__name__}.{name}"
            )
        for name, value in fields.items():
            # What an optimiser was made with is not what it computes with.
            if name in read and name[0] != "_" and name[:5] != "init_" and is_container(value):
                self.reached[id(value)] = value
                self.content(value, f"{type(cell).__name__}.{name}")
        for kind in type(cell).__mro__:
            if kind is own:
                break
            for name in kind.__dict__.keys() & read:
                self.note(OF_CLASS, kind, name, kind.__dict__[name], f"{kind.__name__}.{name}")

    def note_construct(self, kind: type) -> None:
        """What is called when a Cell is: a class of ours can be changed like any other."""
        self.note_bases(kind)  # one may be given what it has not
        for name in CALLED_OF_CELLS:
            owner = next((above for above in kind.__mro__ if name in above.__dict__), None)
            if owner is not None:
                path = f"{owner.__name__}.{name}"
                self.note(OF_CLASS, owner, name, owner.__dict__[name], path)

    def hold(self, value) -> None:
        """An object from outside may be what an attribute is asked of that cannot be seen."""
        kind = kind_of(value)
        if kind in _HELD and id(value) in self.reached:
            if kind not in (kinds.OBJECT, kinds.CELL):
                self.flow_class(type(value))
            self.held[id(value)] = value
            for name in tuple(self.free):
                if has_own(value, name):
                    self.asked(value, name)

    def note_owner(self, owner) -> None:
        """Of which class an object is, and what that is made of."""
        kind = type(owner)
        if id(owner) in self._arguments:
            self.note_bases(kind)  # of which class it is belongs to the key of the call
            return
        if isinstance(owner, logging.Logger):
            # It would note for each level, at the first message, whether it takes it.
            for level in range(0, 60, 10):
                owner.isEnabledFor(level)
        if kind_of(owner) == kinds.CELL:
            self.capture.meet(owner)
        key = (PART_OF_REFERENT, id(owner), "__class__")
        if key in self.sources or (PART, id(owner), "__class__") in self.sources:
            return
        path = f"the class of a {kind.__name__}"
        fields = kinds.fields_of(owner)
        parts = [("__class__", kind)] + ([("__dict__", fields)] if type(fields) is dict else [])
        for name, part in parts:
            try:
                reference = Referent(owner)
            except TypeError:
                self.note(PART, owner, name, part, path)
            else:
                key = (PART_OF_REFERENT, id(owner), name)
                source = Source(
                    PART_OF_REFERENT, reference, name, part, None, path, Place(*self.place)
                )
                self.sources[key] = source
        self.note_bases(kind)

    def note_bases(self, kind: type) -> None:
        """What a class is made of."""
        if not kinds.is_unchanged(kind.__module__):
            self.note(PART, kind, "__mro__", kind.__mro__, f"the bases of {kind.__name__}")
            for above in kind.__mro__:
                if not kinds.is_unchanged(above.__module__):
                    # It may be given a method that Python looks for by itself.
                    path = f"the number of names of {above.__name__}"
                    self.note(COUNT, above, None, COUNT(above, None), path)

    def flow_class(self, kind: type) -> None:
        """Objects of a class may be made inside, where they are not seen. What they have of it is
        read when an unseen object is asked for it, or when Python looks for it by itself."""
        if id(kind) in self.flowed or kinds.is_unchanged(kind.__module__):
            return
        self.flowed[id(kind)] = kind
        self.note_bases(kind)
        for above in kind.__mro__:
            if not kinds.is_unchanged(above.__module__):
                self.reached[id(above)] = above
                for name, described in tuple(above.__dict__.items()):
                    if name[:2] == "__" and isinstance(described, _CODE):
                        self._note_of_class(above, name, described)
        if type(kind) not in (type, abc.ABCMeta, EnumType):
            self.flow_class(type(kind))
        for name in tuple(self.free):
            self.asked_of_objects(kind, name)
        if isinstance(kind, EnumType):
            for member in kind:  # which a call of the class gives
                self.reach(member)
                self.flow(member)

    def asked_of_objects(self, kind: type, name: str) -> None:
        """An attribute may be asked of an object of this class."""
        for above in kind.__mro__:
            if name in above.__dict__:
                if id(above) in self.reached and not kinds.is_unchanged(above.__module__):
                    self._note_of_class(above, name, above.__dict__[name])
                return

    def _note_of_class(self, owner: type, name: str, described) -> None:
        path = f"{owner.__name__}.{name}"
        self.note(OF_CLASS, owner, name, described, path)
        self._reach_functions(described)
        self.use(described, path)

    def _reach_functions(self, described) -> None:
        """The Python of a method, however it is bound."""
        if isinstance(described, (classmethod, staticmethod)):
            described = described.__func__
        parts = (described,)
        if isinstance(described, property):
            parts = (described.fget, described.fset, described.fdel)
        for part in parts:
            if type(part) is types.FunctionType:
                self.reach(part)

    def all_fields(self, value, path) -> None:
        """All fields of an object may be read."""
        if not self.is_outside(value):
            return
        fields = kinds.fields_of(value)
        if isinstance(fields, dict):
            self.reached[id(fields)] = fields
            self.content(fields, path)
        slots = kinds.slots_of(type(value))
        if issubclass(type(value), BaseException):
            slots = (*slots, BaseException.args)
        for slot in slots:
            self.note(SLOT, value, slot, SLOT(value, slot), path)

    def everything_of(self, value, path, depth=0) -> None:
        """All that an object leads to may be read."""
        if value is UNSEEN or depth > 8:
            return self.refuse("effect: pickled what cannot be told", "pickle it outside")
        self.use(value, path)
        kind = kind_of(value)
        parts = ()
        if kind in (kinds.OBJECT, kinds.CELL):
            self.all_fields(value, path)
            slots = [SLOT(value, slot) for slot in kinds.slots_of(type(value))]
            parts = (*(kinds.fields_of(value) or {}).values(), *slots)
        elif kind == kinds.FIXED or (kind == kinds.CONTAINER and not is_array(value)):
            parts = elements(value) if kind == kinds.CONTAINER else value
        for part in parts:
            if kind_of(part) != kinds.NOTHING:
                self.everything_of(part, path, depth + 1)
        return None

    def asked(self, owner, name) -> None:
        """`getattr` or `hasattr` was called."""
        if isinstance(name, str):
            path = (ATTRIBUTE, (CONSTANT, None), name)
            self.use(self.attribute(owner, name, path), path)

    def set_field(self, owner, name: str, owner_path) -> None:
        """A field is about to be set or deleted."""
        path = (ATTRIBUTE, owner_path or (CONSTANT, None), name)
        if kind_of(owner) != kinds.TENSOR:
            self.attribute(owner, name, path)
        elif isinstance(class_attribute(type(owner), name), types.MemberDescriptorType):
            described = class_attribute(type(owner), name)
            self.note(SLOT, owner, described, SLOT(owner, described), path)
        if kind_of(owner) == kinds.FUNCTION and name in _PARTS_OF_FUNCTIONS:
            self.note(PART, owner, name, getattr(owner, name), path)
        if not self.is_outside(owner):
            return
        described = class_attribute(type(owner), name)
        setter = class_attribute(type(owner), "__setattr__")
        if isinstance(described, property):
            self._runs_in_c(owner, described.fset, path)
        if isinstance(setter, kinds.METHODS_IN_C) and setter.__objclass__ not in (object, type):
            self._runs_in_c(owner, setter, path)
        if isinstance(owner, type):
            self.note(OF_CLASS, owner, name, owner.__dict__.get(name, ABSENT), path)
        elif not hasattr(type(described), "__set__"):
            fields = kinds.fields_of(owner)
            if isinstance(fields, dict):
                self.note(FIELD, fields, name, fields.get(name, ABSENT), path)

    def _fields_of(self, owner):
        fields = kinds.fields_of(owner)
        if fields is None:
            return UNSEEN
        if self.is_outside(owner):
            self.reached[id(fields)] = fields
        return fields

    def _found_in(self, kind: type, name: str, path):
        """What a class has under a name; where it was found, and before, are sources."""
        for owner in kind.__mro__:
            described = owner.__dict__.get(name, ABSENT)
            if not kinds.is_unchanged(owner.__module__):
                self.note(OF_CLASS, owner, name, described, path)
            if described is not ABSENT:
                if is_machine(owner.__module__):
                    self.methods[owner, name] = path
                self._reach_functions(described)
                return described
        meta = type(kind)
        return ABSENT if meta is type else self._found_in(meta, name, path)


# What runs code when an object of its class is used.
_CODE = (types.FunctionType, classmethod, staticmethod, property)


def _of_partial(reads, partial, name, path):
    if name in ("func", "args", "keywords"):
        return getattr(partial, name)
    return reads._of_object(partial, name, path)


def _bound(described, owner, kind):
    if described is ABSENT:
        return UNSEEN
    if type(described) is types.FunctionType:
        return types.MethodType(described, owner)
    if type(described) is staticmethod:
        return described.__func__
    if type(described) is classmethod:
        return types.MethodType(described.__func__, kind)
    if isinstance(described, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return described.__get__(owner, kind)
    return UNSEEN if hasattr(type(described), "__get__") else described


def has_own(value, name: str) -> bool:
    """Whether an object has an attribute of its own, or by a class of the program."""
    fields = kinds.fields_of(value)
    if fields is not None and name in fields:
        return True
    owner = next((above for above in type(value).__mro__ if name in above.__dict__), None)
    if owner is None:
        return False
    is_slot = isinstance(owner.__dict__[name], types.MemberDescriptorType)
    return is_slot or not kinds.is_unchanged(owner.__module__)


def class_attribute(kind: type, name: str):
    for owner in kind.__mro__:
        if name in owner.__dict__:
            return owner.__dict__[name]
    return ABSENT


_ATTRIBUTES = {
    kinds.MODULE: Attributes._of_module,
    kinds.CLASS: Attributes._of_class,
    kinds.TENSOR: Attributes._of_tensor,
    kinds.FUNCTION: Attributes._of_function,
    kinds.METHOD: Attributes._of_function,
    kinds.CONTAINER: Attributes._of_container,
    kinds.PARTIAL: _of_partial,
    kinds.OBJECT: Attributes._of_object,
    kinds.CELL: Attributes._of_object,
    kinds.MACHINE: Attributes._of_machine,
    kinds.OPAQUE: Attributes._of_opaque,
}


def not_kept_alive(value):
    """What a source holds of an object: a program may wait for the end of one."""
    if kind_of(value) == kinds.OBJECT:
        try:
            return Referent(value)
        except TypeError:
            return value
    return value
