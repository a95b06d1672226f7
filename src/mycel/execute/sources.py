# SPDX-License-Identifier: Apache-2.0
"""Sources: the Python state that a call has read, as it was; effects and guards come from them.

A source is one place: a name of a module, a variable of a closure, a field, an item, the content of
a container. If it is another after the call, the call has an effect; if it is another before the
next call, that call may go another way.
"""

from __future__ import annotations

import operator
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from mycel.base.places import Place
from mycel.execute.bytecode import written_out

# A program may put another in its place.
_sorted = sorted
# Larger arrays and containers are not compared: what reads them stays in PyNative.
MOST_BYTES = 64 << 20
MOST_ELEMENTS = 1 << 16
MOST_DEPTH = 64


class _Absent:
    def __repr__(self):
        return "nothing"


ABSENT: Any = _Absent()

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_PLAIN = frozenset(PLAIN)
_EXACT = frozenset((bool, int, str, bytes, type(None), type(Ellipsis)))
_METHOD = types.MethodType


# Views of dicts, whose content is that of the dict.
VIEWS = (
    types.MappingProxyType,
    *map(type, ({}.keys(), {}.values(), {}.items())),
    *map(type, (OrderedDict().keys(), OrderedDict().values(), OrderedDict().items())),
)


class TooLarge(Exception):
    """What would have to be compared is larger than is worth it."""


def same_plain(now, before) -> bool:
    """Whether two values are the same to a program: type and value, 0.0 not -0.0, nan itself."""
    if now is before:
        return True
    kind = type(now)
    if kind is not type(before):
        return False
    if kind in _EXACT:
        return now == before
    if kind is float or kind is complex:
        return repr(now) == repr(before)
    if isinstance(now, np.generic):
        return now.dtype == before.dtype and now.tobytes() == before.tobytes()
    if isinstance(now, (tuple, frozenset)):
        return _same_fixed(now, before)
    if kind is _METHOD:
        return now.__self__ is before.__self__ and now.__func__ is before.__func__
    return False


def _same_fixed(now, before) -> bool:
    if len(now) != len(before):
        return False
    if isinstance(now, frozenset):
        return now == before and sorted(map(repr, now)) == sorted(map(repr, before))
    return all(map(same_plain, now, before))


# -- contents -------------------------------------------------------------------------------


class Snapshot:
    """The content of a container as it was.

    Attributes:
        items: its elements in order (keys and values of a dict in turn), or its bytes.
        nested: for elements that are containers themselves, their snapshots by position.
    """

    __slots__ = ("extra", "items", "kind", "nested")

    def __init__(self, value, met: Callable[[Any], None] | None = None, above: tuple = ()):
        self.kind = type(value)
        self.nested: list[tuple[int, Snapshot]] = []
        self.extra: Any = None
        if isinstance(value, (np.ndarray, bytearray, memoryview)) or hasattr(value, "typecode"):
            self.items: Any = _bytes_of(value)
            self.extra = _layout(value)
            if self.items is not None:
                return
        self.items = elements(value)
        if len(self.items) > MOST_ELEMENTS or len(above) > MOST_DEPTH:
            raise TooLarge
        for position, part in enumerate(self.items):
            kind = type(part)
            if kind in _PLAIN:
                continue
            if met is not None:
                met(part)
            if is_container(part) and not any(part is outer for outer in above):
                self.nested.append((position, Snapshot(part, met, (*above, value))))

    def holds(self, value) -> bool:
        """Whether the container still has this content."""
        if type(value) is not self.kind:
            return False
        if self.extra is not None:
            if _layout(value) != self.extra:
                return False
            if self.items.__class__ is bytes:
                return _bytes_of(value) == self.items
        now = elements(value)
        if len(now) != len(self.items):
            return False
        if not all(map(operator.is_, now, self.items)) and not all(
            map(same_plain, now, self.items)
        ):
            return False
        return all(snapshot.holds(now[position]) for position, snapshot in self.nested)

    def difference(self, value) -> str:
        """What is another now, in a few words."""
        now = elements(value) if self.items.__class__ is not bytes else ()
        if self.items.__class__ is bytes or type(value) is not self.kind:
            return "was written to"
        if len(now) != len(self.items):
            half = 2 if isinstance(value, dict) else 1
            return f"went from {len(self.items) // half} to {len(now) // half} elements"
        return "was changed"


def is_container(value) -> bool:
    """Whether content is compared: what can be changed in place and has elements."""
    return isinstance(value, (list, dict, set, deque, np.ndarray, bytearray, *VIEWS)) or (
        hasattr(value, "typecode") and hasattr(value, "itemsize")
    )


def elements(value) -> list:
    """What a container holds, in order."""
    if isinstance(value, types.MappingProxyType):
        return elements(dict(value))
    if isinstance(value, dict):
        found: list = []
        # An OrderedDict has an order of its own.
        for pair in (
            OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value)
        ):
            found += pair
        return found
    if isinstance(value, (set, frozenset)):
        return _sorted(value, key=_by_type_and_text)
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    return list(value)


def _by_type_and_text(element) -> tuple[str, str]:
    plain = element.__class__ in _PLAIN or isinstance(element, tuple)
    return type(element).__name__, repr(element) if plain else str(id(element))


def _bytes_of(value) -> bytes | None:
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return None
    if (
        memoryview(value).nbytes > MOST_BYTES
        if not isinstance(value, np.ndarray)
        else (value.nbytes > MOST_BYTES)
    ):
        raise TooLarge
    return value.tobytes() if hasattr(value, "tobytes") else bytes(value)


def _layout(value) -> tuple:
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape)
    return (getattr(value, "typecode", None), len(value))


# -- sources --------------------------------------------------------------------------------


def _cell_contents(cell, _):
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def _slot(owner, descriptor):
    try:
        return descriptor.__get__(owner)
    except AttributeError:
        return ABSENT


def _index(sequence, index):
    try:
        return sequence[index]
    except IndexError:
        return ABSENT


def _in_dict(holder, key):
    return dict.get(holder, key, ABSENT)


def _in_class(owner, name):
    # The proxy is made anew each time it is asked for.
    return owner.__dict__.get(name, ABSENT)


def _itself(holder, _):
    return holder


def _state(holder, get):
    return get(holder)


def _part(holder, name):
    return getattr(holder, name)


def _part_of_referent(reference, name):
    return getattr(reference(), name)


# How a source is looked at; the second argument is its name.
FIELD = ITEM_OF_DICT = _in_dict
CLOSURE = _cell_contents
SLOT = _slot
INDEX = _index
OF_CLASS = _in_class
CONTENT = _itself
STATE = _state
PART = _part
PART_OF_REFERENT = _part_of_referent


class Referent(weakref.ref):
    """Stands for an object that a source must not keep alive."""

    __slots__ = ()


class Source(NamedTuple):
    """One place of Python state, and what was there when the call came to it.

    `path` is what the program calls it and `place` the line that came to it.
    """

    look: Callable
    holder: Any
    name: Any
    value: Any
    snapshot: Snapshot | None
    path: Any
    place: Place

    def now(self):
        """What is there at present."""
        return self.look(self.holder, self.name)

    def is_same(self) -> bool:
        """Whether it is as it was."""
        now = self.now()
        if self.snapshot is not None:
            return self.snapshot.holds(now)
        value = self.value() if type(self.value) is Referent else self.value
        return now is value or same_plain(now, value)

    def change(self) -> str:
        """How it differs, in words."""
        now = self.now()
        if self.snapshot is not None:
            return f"`{written_out(self.path)}` {self.snapshot.difference(now)}"
        if type(self.value) is Referent:
            return f"`{written_out(self.path)}` {went(self.value(), now)}"
        return f"`{written_out(self.path)}` {went(self.value, now)}"


def went(before, now) -> str:
    """'went 1.0 -> 2.0', or what else can be said."""
    if before is ABSENT:
        return "was set"
    if now is ABSENT:
        return "was deleted"
    if type(before) in _PLAIN and type(now) in _PLAIN:
        return f"went {before!r:.40} -> {now!r:.40}"
    return "is another object"


def first_change(sources: Iterable[Source]) -> Source | None:
    """The first source that is not as it was."""
    for source in sources:
        try:
            if not source.is_same():
                return source
        except Exception:
            return source
    return None


# -- guards ---------------------------------------------------------------------------------


class Guards:
    """What must be as it was for a call to be replayed.

    The comparison is written out as one function when it is first needed: most sources are known
    by identity, at some 30 ns each.
    """

    def __init__(self, sources: list[Source]):
        self.sources = sources
        self._check: Callable[[], bool] | None = None

    def hold(self) -> bool:
        """Whether all is as it was."""
        if self._check is None:
            self._check = _written(self.sources) if self.sources else _true
        try:
            return self._check()
        except Exception:
            return False

    def same_as(self, other: Guards) -> bool:
        """Whether two recordings read the same state."""
        if len(self.sources) != len(other.sources):
            return False
        return all(map(_same_source, self.sources, other.sources))

    def missed(self) -> Source | None:
        """The first source that is another now."""
        return first_change(self.sources)


def _same_source(a: Source, b: Source) -> bool:
    return (
        a.look is b.look
        and a.holder is b.holder
        and same_plain(a.name, b.name)
        and (a.snapshot is None) == (b.snapshot is None)
        and same_plain(a.value, b.value)
        and a.snapshot is None
    )


def _true() -> bool:
    return True


def _written(sources: list[Source]) -> Callable[[], bool]:
    names: dict[str, Any] = {"A": ABSENT, "same": same_plain, "dict_get": dict.get}
    lines = []
    for i, (look, holder, name, value, snapshot, _, _) in enumerate(sources):
        names[f"h{i}"], names[f"n{i}"], names[f"v{i}"] = holder, name, value
        if snapshot is not None:
            names[f"s{i}"], names[f"l{i}"] = snapshot.holds, look
            lines.append(f"if not s{i}(l{i}(h{i}, n{i})): return False")
            continue
        if look is FIELD and type(holder) is dict:
            names[f"h{i}"] = holder.get
            now = f"h{i}(n{i}, A)"
        elif look is FIELD:
            now = f"dict_get(h{i}, n{i}, A)"
        elif look is CLOSURE and value is not ABSENT:
            now = f"h{i}.cell_contents"
        elif look is PART:
            now = f"h{i}.{name}"
        elif look is PART_OF_REFERENT:
            now = f"h{i}().{name}"
        elif look is OF_CLASS:
            # The proxy shows the class as it is at any time.
            names[f"h{i}"] = holder.__dict__.get
            now = f"h{i}(n{i}, A)"
        else:
            names[f"l{i}"] = look
            now = f"l{i}(h{i}, n{i})"
        if type(value) is Referent:
            lines.append(f"if {now} is not v{i}(): return False")
            continue
        compared = isinstance(value, (*PLAIN, tuple, frozenset, np.generic, _METHOD, slice, range))
        if compared and not (value is None or value is True or value is False):
            lines.append(f"x = {now}")
            lines.append(f"if x is not v{i} and not same(x, v{i}): return False")
        else:
            lines.append(f"if {now} is not v{i}: return False")
    text = "def check():\n    " + "\n    ".join(lines) + "\n    return True\n"
    exec(compile(text, "<mycel guards>", "exec"), names)
    return names["check"]
