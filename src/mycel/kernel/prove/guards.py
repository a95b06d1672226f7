# SPDX-License-Identifier: Apache-2.0
"""Guards: the comparison of sources with the present, written out as one function."""

from __future__ import annotations

import operator
from collections.abc import Callable
from keyword import iskeyword
from types import FunctionType
from typing import Any

import numpy as np

from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.base.written import define
from mycel.kernel.prove.sources import (
    ABSENT,
    CLOSURE,
    CONTENT,
    COUNT,
    FIELD,
    METHOD,
    OF_CLASS,
    PART,
    PART_OF_REFERENT,
    PLAIN,
    STATE,
    VARIABLE,
    Referent,
    Snapshot,
    Source,
    first_change,
    same_plain,
)

# Of a container with more containers in it, as a replay buffer, the text would take seconds.
_MOST_WRITTEN = 32


class Guards:
    """What must be as it was for a call to be replayed.

    The comparison is written out as one function when it is first needed: most sources are known
    by identity, at some 30 ns each.

    Attributes:
        hold: tells whether all is as it was.
    """

    def __init__(self, sources: list[Source]):
        self.sources = sources
        self.hold: Callable[[], bool] = self._write_and_hold

    def _write_and_hold(self) -> bool:
        self.hold = _written(self.sources)
        return self.hold()

    def with_others(self, others: list[Source]) -> Guards:
        """Guards for the same places, with what there is to be in `others`."""
        if not others:
            return self
        known = {other.identity(): other for other in others}
        return Guards([known.get(source.identity(), source) for source in self.sources])

    def references(self) -> list[Referent]:
        """What sources hold of objects that they do not keep alive."""
        ends = [end for source in self.sources for end in (source.holder, source.value)]
        return [end for end in ends if type(end) is Referent]

    def missed(self) -> Source | None:
        """The first source that is another now."""
        return first_change(self.sources)


def _can_be_written(name) -> bool:
    """Whether `holder.name` in a text asks for this very name."""
    return name.isascii() and name.isidentifier() and not iskeyword(name)


class _Writer:
    """Writes the function that compares sources.

    Attributes:
        names: what the text refers to.
        lines: its lines.
        referred: the object that is the variable `o` of the text, where it has come to.
    """

    def __init__(self):
        self.names: dict[str, Any] = {
            "ABSENT": ABSENT, "same": same_plain, "is_": operator.is_, "dict_get": dict.get,
            "from_outside": came_from_outside,
        }  # fmt: skip
        self.lines: list[str] = []
        self.referred: Referent | None = None

    def name(self, value) -> str:
        """A name for an object in the text."""
        name = f"n{len(self.names)}"
        self.names[name] = value
        return name

    def require(self, condition: str) -> None:
        """A condition without which nothing holds."""
        self.lines.append(f"if not ({condition}): return False")

    def source(self, source: Source) -> None:
        """One source is compared."""
        value = source.value
        if source.snapshot is not None:
            container = value if source.look is CONTENT else None
            return self.content(self._now(source), source.snapshot, container)
        if type(value) is Referent:
            return self.require(f"{self._now(source)} is {self.name(value)}()")
        of_dict = source.look is FIELD and type(source.holder) is dict
        if value is ABSENT and (of_dict or source.look is OF_CLASS):
            return self.absent(source)
        compared = isinstance(value, (*PLAIN, tuple, frozenset, np.generic, METHOD, slice, range))
        if source.look is COUNT:
            # The proxy shows the class as it is at any time.
            return self.require(f"len({self.name(source.holder.__dict__)}) == {value}")
        before = self.name(value)
        if compared and not (value is None or value is True or value is False):
            self.lines.append(f"x = {self._now(source)}")
            return self.require(f"x is {before} or same(x, {before})")
        return self.require(f"{self._now(source)} is {before}")

    def absent(self, source: Source) -> None:
        """A name that is nowhere still is."""
        held = source.holder.__dict__ if source.look is OF_CLASS else source.holder
        self.require(f"{self.name(source.name)} not in {self.name(held)}")

    def content(self, now: str, snapshot: Snapshot, container) -> None:
        """A container has the content it had: of plain ones the elements are compared at once."""
        whole = self.name(snapshot.holds)
        is_plain = snapshot.kind in (list, dict) and type(container) is snapshot.kind
        if not is_plain or len(snapshot.nested) > _MOST_WRITTEN:
            return self.require(f"{whole}({now})")
        items, half = snapshot.items, snapshot.kind is dict
        quick = [f"len({now}) == {len(items) // (2 if half else 1)}"]
        if items:
            keys = items[::2] if half else items
            quick.append(f"all(map(is_, {now}, {self.name(keys)}))")
        if items and half:
            quick.append(f"all(map(is_, {now}.values(), {self.name(items[1::2])}))")
        self.require(f"{' and '.join(quick)} or {whole}({now})")
        for position, nested in snapshot.nested:
            part = items[position]
            self.content(self.name(part), nested, part)
        return None

    def _now(self, source: Source) -> str:
        """How the present value of a source is asked for."""
        look, holder, name = source.look, source.holder, source.name
        kinds = type(holder), type(source.value)
        if look is OF_CLASS and kinds == (type, FunctionType) and _can_be_written(name):
            # Python remembers what a class has: that takes half as long as to ask its dict.
            return f"{self.name(holder)}.{name}"
        if look in (FIELD, OF_CLASS) and source.value is not ABSENT and type(name) is str:
            # Where it is no more, that is an exception, and as good.
            held = holder.__dict__ if look is OF_CLASS else holder
            if look is OF_CLASS or type(holder) is dict:
                return f"{self.name(held)}[{name!r}]"
        if look is FIELD and type(holder) is dict:
            return f"{self.name(holder.get)}({self.name(name)}, ABSENT)"
        if look is CONTENT:
            return self.name(holder)
        if look is FIELD:
            return f"dict_get({self.name(holder)}, {self.name(name)}, ABSENT)"
        if look is CLOSURE and source.value is not ABSENT:
            return f"{self.name(holder)}.cell_contents"
        if look is PART:
            return f"{self.name(holder)}.{name}"
        if look is PART_OF_REFERENT:
            return f"{self._referred(holder)}.{name}"
        if look is VARIABLE:
            return f"{self.name(holder.get)}(ABSENT)"
        if look is STATE:
            return f"{self.name(name)}({self.name(holder)})"
        return f"{self.name(look)}({self.name(holder)}, {self.name(name)})"

    def _referred(self, reference: Referent) -> str:
        """The object of a reference; its class and its fields are asked for one after the other."""
        if self.referred is None or self.referred() is not reference():
            self.lines.append(f"o = {self.name(reference)}()")
            self.referred = reference
        return "o"


def _written(sources: list[Source]) -> Callable[[], bool]:
    writer = _Writer()
    for source in sources:
        writer.source(source)
    body = "".join(f"        {line}\n" for line in writer.lines)
    text = (
        f"def check():\n    try:\n{body}        return True\n"
        "    except Exception as error:\n"
        "        if from_outside(error): raise\n"
        "        return False\n"
    )
    return define(text, writer.names, "guards", shown=False)["check"]
