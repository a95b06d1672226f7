# SPDX-License-Identifier: Apache-2.0
"""Sources: the Python state that a call has read, as it was; effects and guards come from them.

A source is one piece of it: a name of a module, a variable of a closure, a field, an item, the
content of a container. If it is another after the call, the call has an effect; if it is another
before the next call, that call may go another way.
"""

from __future__ import annotations

import operator
import types
import weakref
from array import array
from builtins import hasattr  # not what stands in for it meanwhile
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from typing import Any, NamedTuple

import numpy as np

from mycel.kernel.base.places import Place
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.prove.bytecode import written_out

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
METHOD = types.MethodType
_SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_ADD_ALL: Any = (deque.extend, set.update)


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
    if issubclass(kind, np.generic):
        return now.dtype == before.dtype and now.tobytes() == before.tobytes()
    if issubclass(kind, (tuple, frozenset)):
        return _same_fixed(now, before)
    if kind is METHOD:
        return now.__self__ is before.__self__ and now.__func__ is before.__func__
    return False


def _same_fixed(now, before) -> bool:
    if len(now) != len(before):
        return False
    if isinstance(now, frozenset):
        # The order in which a program meets them depends on how they were put in.
        return now == before and all(map(same_plain, now, before))
    return all(map(same_plain, now, before))


# -- contents -------------------------------------------------------------------------------


class Snapshot:
    """The content of a container as it was.

    Attributes:
        items: its elements in order (keys and values of a dict in turn), or its bytes.
        nested: for elements that are containers themselves, or tuples that hold some, their
            snapshots by position.
    """

    __slots__ = ("extra", "items", "kind", "nested")

    def __init__(
        self,
        value,
        met: Callable[[Any], None] | None = None,
        above: tuple = (),
        known: dict[int, Snapshot] | None = None,
    ):
        self.kind = type(value)
        self.nested: list[tuple[int, Snapshot]] = []
        self.extra: Any = None
        if isinstance(value, (np.ndarray, bytearray, memoryview, array)):
            self.items: Any = _bytes_of(value)
            self.extra = _layout(value)
            if self.items is not None:
                return
        self.items = elements(value)
        if len(self.items) > MOST_ELEMENTS or len(above) > MOST_DEPTH:
            raise TooLarge
        # What is nested in several places is looked at once.
        known = {} if known is None else known
        for position, part in enumerate(self.items):
            kind = type(part)
            if kind in _PLAIN:
                continue
            if met is not None:
                met(part)
            if not (is_container(part) or issubclass(kind, tuple)):
                continue
            if any(part is outer for outer in above):
                continue
            snapshot = known.get(id(part))
            if snapshot is None:
                snapshot = known[id(part)] = Snapshot(part, met, (*above, value), known)
            if snapshot.nested or is_container(part):
                self.nested.append((position, snapshot))

    def holds(self, value, seen: set[int] | None = None) -> bool:
        """Whether the container still has this content.

        Args:
            seen: the ids of nested snapshots that were looked at already.
        """
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
        seen = set() if seen is None else seen
        for position, snapshot in self.nested:
            if id(snapshot) not in seen:
                seen.add(id(snapshot))
                if not snapshot.holds(now[position], seen):
                    return False
        return True

    def put_back(self, value) -> None:
        """Give the container this content again.

        Raises:
            TypeError: It is of a kind that cannot be given content.
        """
        if isinstance(value, bytearray):
            value[:] = self.items
        elif isinstance(value, array):
            value[:] = type(value)(value.typecode, self.items)
        elif self.extra is not None and _layout(value) != self.extra:
            raise TypeError
        elif isinstance(value, np.ndarray) and self.items.__class__ is bytes:
            value[...] = np.frombuffer(self.items, value.dtype).reshape(value.shape)
        elif isinstance(value, np.ndarray):
            value[...] = np.fromiter(self.items, object, len(self.items)).reshape(value.shape)
        elif self.items.__class__ is bytes:
            memoryview(value).cast("B")[:] = self.items
        elif isinstance(value, dict):
            kind: Any = OrderedDict if isinstance(value, OrderedDict) else dict
            kind.clear(value)
            for key, item in zip(self.items[::2], self.items[1::2], strict=True):
                kind.__setitem__(value, key, item)
        elif isinstance(value, list):
            list.__setitem__(value, slice(None), self.items)
        elif isinstance(value, (set, deque)):
            value.clear()
            _ADD_ALL[isinstance(value, set)](value, self.items)
        elif not isinstance(value, tuple):
            raise TypeError
        for position, nested in self.nested:
            if not nested.holds(self.items[position]):
                nested.put_back(self.items[position])

    def difference(self, value) -> str:
        """What is another now, in a few words."""
        now = elements(value) if self.items.__class__ is not bytes else ()
        if self.items.__class__ is bytes or type(value) is not self.kind:
            return "was written to"
        if len(now) != len(self.items):
            half = 2 if isinstance(value, dict) else 1
            return f"went from {len(self.items) // half} to {len(now) // half} elements"
        return "was changed"


def is_long(value) -> bool:
    """Whether a container holds so much, as a replay buffer does, that where its length is read the
    rest of it is not compared."""
    return type(value) in (list, dict, set, deque) and len(value) > 1024


def is_array(value) -> bool:
    """Whether what it holds is numbers in memory."""
    return issubclass(type(value), (np.ndarray, bytearray, memoryview, array))


def is_container(value) -> bool:
    """Whether content is compared: what can be changed in place and has elements."""
    return issubclass(type(value), (list, dict, set, deque, np.ndarray, bytearray, array, *VIEWS))


def elements(value) -> list:
    """What a container holds, in order."""
    if isinstance(value, types.MappingProxyType):
        return elements(dict(value))
    if isinstance(value, dict):
        parts: list = []
        # An OrderedDict has an order of its own.
        for pair in (
            OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value)
        ):
            parts += pair
        return parts
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    for kind in _SEQUENCES:
        if isinstance(value, kind):
            return [*kind.__iter__(value)]  # not what a subclass has for it
    return list(value)


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
        return (value.dtype, value.shape, value.flags.writeable)
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
        return list.__getitem__(sequence, index)
    except IndexError:
        return ABSENT


def _in_dict(holder, key):
    return dict.get(holder, key, ABSENT)


def _context_variable(variable, _):
    return variable.get(ABSENT)


def _in_class(owner, name):
    # The proxy is made anew each time it is asked for.
    return owner.__dict__.get(name, ABSENT)


def _count_of_names(owner, _):
    return len(owner.__dict__)


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
VARIABLE = _context_variable
COUNT = _count_of_names
PART = _part
PART_OF_REFERENT = _part_of_referent


def _put_item(holder, name, value):
    if value is not ABSENT:
        dict.__setitem__(holder, name, value)
    else:
        dict.pop(holder, name, None)


def _put_variable(cell, _, value):
    if value is not ABSENT:
        cell.cell_contents = value
    else:
        del cell.cell_contents


def _put_slot(owner, descriptor, value):
    if value is not ABSENT:
        descriptor.__set__(owner, value)
    else:
        descriptor.__delete__(owner)


def _put_element(sequence, index, value):
    list.__setitem__(sequence, index, value)


def _put_of_class(owner, name, value):
    if value is not ABSENT:
        type.__setattr__(owner, name, value)
    else:
        type.__delattr__(owner, name)


def _put_context_variable(variable, _, value):
    # One that was not set has its default again.
    variable.set(Context().run(variable.get) if value is ABSENT else value)


def _put_part(holder, name, value):
    setattr(holder, name, value)


def _put_part_of_referent(reference, name, value):
    setattr(reference(), name, value)


# How a source is given what it had, by how it is looked at; who has other looks adds to it.
PUT: dict[Callable, Callable] = {
    FIELD: _put_item,
    CLOSURE: _put_variable,
    SLOT: _put_slot,
    INDEX: _put_element,
    OF_CLASS: _put_of_class,
    VARIABLE: _put_context_variable,
    PART: _put_part,
    PART_OF_REFERENT: _put_part_of_referent,
}


class Referent(weakref.ref):
    """Stands for an object that a source must not keep alive."""

    __slots__ = ()


class Source(NamedTuple):
    """One piece of Python state, and what was there when the call came to it.

    `path` is what the program calls it and `place` the line that came to it.
    """

    look: Callable
    holder: Any
    name: Any
    value: Any
    snapshot: Snapshot | None
    path: Any
    place: Place | None

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

    def identity(self) -> tuple:
        """What tells it from other sources."""
        return self.look, id(self.holder), self.name

    def as_it_is(self) -> Source:
        """The same source with what is there at present."""
        now = self.now()
        return self._replace(value=now, snapshot=self.snapshot and Snapshot(now))

    def put_back(self) -> None:
        """Put there again what was there.

        Raises:
            TypeError: It is one that cannot be written to.
        """
        value = self.value() if type(self.value) is Referent else self.value
        put = PUT.get(self.look)
        if self.snapshot is not None:
            self.snapshot.put_back(self.now())
        elif put is None:
            raise TypeError
        else:
            put(self.holder, self.name, value)

    def change(self) -> str:
        """How it differs, in words."""
        now = self.now()
        if self.snapshot is not None:
            return f"`{written_out(self.path)}` {self.snapshot.difference(now)}"
        if type(self.value) is Referent:
            return f"`{written_out(self.path)}` {went(self.value(), now)}"
        return f"`{written_out(self.path)}` {went(self.value, now)}"


class Left(NamedTuple):
    """A place that the call came to behind sites, which left Tensors of the call there or set it.

    `parts` has what was found (see `parts_of`), with a Slot for each of these Tensors; `after`
    tells how many sites had run.
    """

    source: Source
    parts: list
    after: int

    def now(self) -> list:
        """The parts that are there at present."""
        return parts_of(self.source.now(), self.source.snapshot)


def parts_of(value, snapshot: Snapshot | None) -> list:
    """What a place holds, flat: itself, the elements of a tuple, or of what is read as a whole."""
    if snapshot is not None:
        return [] if snapshot.nested else elements(value)
    return [*value] if type(value) is tuple else [value]


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
    return next(changes(sources), None)


def changes(sources: Iterable[Source]) -> Iterator[Source]:
    """The sources that are not as they were."""
    for source in sources:
        try:
            same = source.is_same()
        except Exception as error:
            if came_from_outside(error):
                raise
            same = False
        if not same:
            yield source


def put_back(sources: Iterable[Source]) -> Source | None:
    """Make sources as they were; gives one that cannot be."""
    # Contents last: they have an order, which keys that are put back do not.
    changed = sorted(changes(sources), key=_has_content)
    failed = []
    for source in changed:
        try:
            source.put_back()
        except Exception as error:
            if came_from_outside(error):
                raise
            failed.append(source)
    return first_change(failed)


def _has_content(source: Source) -> bool:
    return source.snapshot is not None
