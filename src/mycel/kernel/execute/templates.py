# SPDX-License-Identifier: Apache-2.0
"""Templates: what a call returns, or gives to a site, with Tensors and other objects of the call
replaced by what a replay puts there.

What was there before the call stays the very object it is. Containers and plain objects that the
call made are made anew at every replay.
"""

from __future__ import annotations

import types
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import ref

import numpy as np

from mycel.kernel.base.trees import rebuilt, tree_leaves, tree_map
from mycel.kernel.base.written import define
from mycel.kernel.prove import kinds
from mycel.kernel.prove.kinds import kind_of
from mycel.kernel.prove.notes import Argument, Held, Slot, same
from mycel.kernel.prove.sources import ABSENT, SLOT, elements, is_array
from mycel.kernel.record.tensor import Tensor, is_part, new_tensor, wholes_of

# Kinds of objects that are what they are, whoever made them.
_THEMSELVES = frozenset((
    kinds.NOTHING, kinds.FUNCTION, kinds.METHOD, kinds.BUILTIN, kinds.CLASS, kinds.MODULE,
    kinds.CELL, kinds.PARTIAL, kinds.MEMO, kinds.VARIABLE, kinds.REFERENCE, kinds.MACHINE,
))  # fmt: skip
# What makes objects that have nothing but their fields.
_PLAINLY_MADE = (object.__new__, types.SimpleNamespace.__new__)


class Kept:
    """An object from outside: itself, at every call."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Kept) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]

    def build(self, results, leaf):
        return self.value


class Passed(Kept):
    """A container or object that was passed: which of those of the present call."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Passed) and other.value == self.value

    def build(self, results, leaf):
        return results.containers[self.value]


class Copied(Kept):
    """An array or a container without Tensors that the call made: a copy at every call."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Copied) and same(self.value, other.value)

    def build(self, results, leaf):
        return self.value.copy()


class Rebuilt(Kept):
    """An object that the call made: its class, and `value`, its fields as templates."""

    __slots__ = ("kind",)

    def __init__(self, kind: type, value):
        super().__init__(value)
        self.kind = kind

    def __eq__(self, other):
        return (
            isinstance(other, Rebuilt) and other.kind is self.kind and same(self.value, other.value)
        )

    def build(self, results, leaf):
        built = self.kind.__new__(self.kind)  # type: ignore[call-overload]
        values = tree_map(leaf, self.value)
        for slot in kinds.slots_of(self.kind):
            if slot.__name__ in values:
                slot.__set__(built, values.pop(slot.__name__))
        if values:
            kinds.fields_of(built).update(values)
        return built


class Shared(Kept):
    """A container or object that stands in a template more than once, as this very object: made
    once at every call."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Shared) and same(self.value, other.value)

    def build(self, results, leaf):
        built = results.made_once.get(id(self))
        if built is None:
            built = results.made_once[id(self)] = tree_map(leaf, self.value)
        return built


class Part(Kept):
    """A Tensor that was taken by square brackets from one that the program has: what is written
    into it reaches that. `value` has its template and those of the Tensors above it, None for one
    that nobody has; `indices` say what of each of them it is."""

    __slots__ = ("indices",)

    def __init__(self, value: tuple, indices: list):
        super().__init__(value)
        self.indices = indices

    def __eq__(self, other):
        return (
            isinstance(other, Part)
            and same(self.value, other.value)
            and self.indices == other.indices
        )

    def build(self, results, leaf):
        part, *wholes = [None if each is None else leaf(each) for each in self.value]
        taken: tuple | None = None
        for whole, index in zip(reversed(wholes), reversed(self.indices), strict=True):
            # Of what it was taken is not known: it is taken anew before it is written to.
            taken = (_nobody if whole is None else ref(whole), index, _nobody, taken)
        assert part is not None
        part._taken = taken
        return part


def _nobody() -> None:
    """Stands for a reference to what is no more."""


def leaves(template) -> list:
    """The leaves of a template, those in objects too."""
    listed = []
    for leaf in tree_leaves(template):
        listed += leaves(leaf.value) if isinstance(leaf, (Rebuilt, Shared, Part)) else [leaf]
    return listed


class Templates:
    """Makes the templates of one call.

    Args:
        leaf_of: what a Tensor is to the call.
        passed: the containers and objects that were passed, by id, with their numbers.
        outside: whether an object was there before the call.
        refuse: told why a template cannot be made.
        made_inside: whether the call made a function that is another one at the next call.
        parts: whether Tensors taken from others stay parts of them.
    """

    def __init__(
        self,
        leaf_of: Callable[[Tensor], Any],
        passed: dict[int, int],
        outside: Callable[[object], bool],
        refuse: Callable[[str, str], None],
        made_inside: Callable[[types.FunctionType], bool],
        parts: bool,
    ):
        self._leaf_of = leaf_of
        self._passed = passed
        self._outside = outside
        self._refuse = refuse
        self._made_inside = made_inside
        # What stands in a template more than once, by id: a number for each, and its template.
        self._twice: dict[int, int] = {}
        self._shared: dict[int, Shared] = {}
        # Tensors that were taken from others, where that matters.
        self._parts: list[Tensor] | None = [] if parts else None

    def of(self, tree):
        """The template of a tree."""
        met: Counter = Counter()
        self._count(tree, met)
        for part in self._parts or ():
            for whole in wholes_of(part):
                if id(whole) in met:
                    met[id(whole)] += 1  # stands for what the part is of, too
        twice = [known for known, times in met.items() if times > 1]
        self._twice = dict(zip(twice, range(len(twice)), strict=True))
        return self._of(tree, ())

    def _count(self, tree, met: Counter) -> None:
        """Count how often what the call made stands in a tree."""
        kind = kind_of(tree)
        if kind in _THEMSELVES:
            return
        met[id(tree)] += 1
        if kind == kinds.TENSOR:
            if self._parts is not None and is_part(tree):
                self._parts.append(tree)
            return
        # What a tuple holds stands here twice if it does.
        if met[id(tree)] > (2 if kind == kinds.FIXED else 1):
            return
        if kind != kinds.FIXED and (id(tree) in self._passed or self._outside(tree)):
            return
        if kind in (kinds.FIXED, kinds.CONTAINER) and not is_array(tree):
            for part in elements(tree):
                self._count(part, met)
        if kind in (kinds.OBJECT, kinds.CONTAINER):
            for part in _attributes_of(tree).values():
                self._count(part, met)

    def _of(self, tree, above: tuple):
        if isinstance(tree, Tensor):
            return self._tensor(tree)
        kind = kind_of(tree)
        if kind == kinds.FIXED:
            return self._fixed(tree, above)
        if kind == kinds.FUNCTION and self._made_inside(tree):
            return self._no("a function made inside")
        if kind in _THEMSELVES:
            return tree
        if id(tree) in self._passed:
            return Passed(self._passed[id(tree)])
        if self._outside(tree):
            return Kept(tree)
        if any(tree is outer for outer in above):
            return self._no("an object that holds itself")
        known = id(tree)
        if known in self._shared:
            return self._shared[known]
        made = self._made(tree, kind, (*above, tree))
        if known in self._twice:
            made = self._shared[known] = Shared(made)
        return made

    def _made(self, tree, kind: int, above: tuple):
        """The template of a container or object that the call made."""
        if kind == kinds.CONTAINER:
            return self._container(tree, above)
        if kind == kinds.OBJECT and _can_be_rebuilt(tree):
            return Rebuilt(type(tree), self._attributes(tree, above))
        return self._no(f"a {type(tree).__name__} made inside")

    def _attributes(self, tree, above: tuple) -> dict:
        return {name: self._of(part, above) for name, part in _attributes_of(tree).items()}

    def _tensor(self, tensor):
        leaf = self._leaf_of(tensor)
        if leaf.__class__ is Slot:
            if type(tensor) is not Tensor or tensor.__dict__:
                self._no(f"a {type(tensor).__name__} with attributes of its own")
            if id(tensor) in self._twice:
                leaf = replace(leaf, handle=self._twice[id(tensor)])
            if self._parts and is_part(tensor):
                return self._part(tensor, leaf)
        return leaf

    def _part(self, tensor, leaf):
        wholes, indices, taken = [], [], tensor._taken
        while taken is not None:
            whole, index, _, taken = taken
            wholes.append(self._of_part(whole()))
            indices.append(index)
        return Part((leaf, *wholes), indices) if any(w is not None for w in wholes) else leaf

    def _of_part(self, whole):
        """The template of what a part is of; None if that ends with the call."""
        if whole is None:
            return None
        leaf = self._leaf_of(whole)
        if leaf.__class__ is not Slot:
            return leaf
        number = self._twice.get(id(whole))
        return None if number is None else replace(leaf, handle=number)

    def _fixed(self, tree, above):
        if isinstance(tree, frozenset) or not tree:
            return tree
        parts = [self._of(part, above) for part in tree]
        if all(part is before for part, before in zip(parts, tree, strict=True)):
            return tree
        return rebuilt(tree, parts)

    def _container(self, tree, above):
        if isinstance(tree, (np.ndarray, set, bytearray)):
            if _attributes_of(tree):
                return self._no(f"a {type(tree).__name__} with attributes")
            return Copied(tree.copy())
        if isinstance(tree, (list, dict)):
            parts = [self._of(part, above) for part in _parts_of(tree)]
            if type(tree) is list or type(tree) is dict:
                return rebuilt(tree, parts)
            return Remade(tree, parts, self._attributes(tree, above))
        if type(tree) is deque:
            return Remade(tree, [self._of(part, above) for part in tree], {})
        return self._no(f"a {type(tree).__name__} made inside")

    def _no(self, what: str):
        self._refuse(f"{what} is returned", "return Tensors, in tuples, lists and dicts")


class Remade(Rebuilt):
    """A list, dict or deque of another class that the call made: `value` has the templates of its
    parts and attributes, `like` is one like it without them."""

    __slots__ = ("like",)

    def __init__(self, tree, parts: list, attributes: dict):
        super().__init__(type(tree), (parts, attributes))
        if isinstance(tree, deque):
            self.like: Any = deque(maxlen=tree.maxlen)
            return
        self.like = rebuilt(tree, [None] * len(parts))
        if attributes:
            kinds.fields_of(self.like).clear()

    def __eq__(self, other):
        return Rebuilt.__eq__(self, other) and repr(self.like) == repr(other.like)

    def build(self, results, leaf):
        parts, attributes = tree_map(leaf, self.value)
        if self.kind is deque:
            return deque(parts, self.like.maxlen)
        built = rebuilt(self.like, parts)
        if attributes:
            kinds.fields_of(built).update(attributes)
        return built


def _attributes_of(value) -> dict:
    """The fields of an object, but for those that are its content, and what is in its slots."""
    fields = kinds.fields_of(value)
    fields = {} if fields is None or fields is value else fields
    slots = kinds.slots_of(type(value))
    if not slots:
        return fields
    held = {slot.__name__: SLOT(value, slot) for slot in slots}
    return {**fields, **{name: part for name, part in held.items() if part is not ABSENT}}


def _parts_of(container: list | dict) -> list:
    """The elements of a list, or the values of a dict."""
    return elements(container)[1::2] if isinstance(container, dict) else elements(container)


def _can_be_rebuilt(value) -> bool:
    kind = type(value)
    keeps = isinstance(kinds.fields_of(value), dict) or bool(kinds.slots_of(kind))
    return keeps and kind.__new__ in _PLAINLY_MADE and not isinstance(value, BaseException)


def carries_tensors(value) -> bool:
    """Whether an object is there to hold Tensors together: a batch, a state. Its fields are then
    what matters, not which object it is."""
    if kind_of(value) != kinds.OBJECT or not _can_be_rebuilt(value):
        return False
    return any(type(part) is Tensor for part in _attributes_of(value).values())


def builder(template, order: dict[int, int], other: str = "for_site"):
    """A function that builds what a site is given, or the result, written out once: outputs get
    new handles, and the method `other` of the results makes the other leaves."""
    parts: list = []

    def written(tree) -> str:
        if tree.__class__ is tuple:
            return f"({''.join(written(part) + ', ' for part in tree)})"
        if tree.__class__ is list:
            return f"[{', '.join(map(written, tree))}]"
        if tree.__class__ is dict and all(isinstance(key, str) for key in tree):
            return f"{{{', '.join(f'{key!r}: {written(tree[key])}' for key in tree)}}}"
        if tree.__class__ is Slot and tree.number >= 0 and tree.handle is None:
            return f"new(output({order[tree.number]}))"
        parts.append(tree)
        which = f"l[{len(parts) - 1}]"
        if isinstance(tree, (tuple, list, dict)):
            return f"tree_map(other, {which})"
        return f"other({which})" if isinstance(tree, (Slot, Held, Argument, Kept)) else which

    source = (
        f"def build(results):\n    output, other = results.output, results.{other}\n"
        f"    return {written(template)}\n"
    )
    names = {"l": parts, "new": new_tensor, "tree_map": tree_map}
    return define(source, names, "site", shown=False)["build"]


def of_inputs(template, inputs: list):
    """A template with what the inputs are: a call that goes on numbers them in another order."""

    def known(leaf):
        if isinstance(leaf, Slot) and leaf.number < 0:
            return inputs[-1 - leaf.number]
        return leaf

    return tree_map(known, template)


def bound_to(bindings: list[tuple], inputs: list) -> list[tuple]:
    """Bindings with what the inputs are."""
    return [(target, n if n >= 0 else inputs[-1 - n]) for target, n in bindings]
