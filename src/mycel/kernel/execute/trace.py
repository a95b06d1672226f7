# SPDX-License-Identifier: Apache-2.0
"""Trace: what crosses the border of a call that is observed, by numbers.

Values made inside are known by numbers from 0 upwards in the order of recording, what comes from
outside by numbers from -1 downwards: arguments, other handles, and data made inside. Capture notes
a call so that it can be replayed; Watch compares what a site does on a replay with what was noted.
"""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.cell import of_base
from mycel.kernel.prove.notes import Argument, Constant, Held
from mycel.kernel.record.hooks import call_labelled
from mycel.kernel.record.stream import Stream, demand
from mycel.kernel.record.tensor import Tensor, made_within
from mycel.kernel.record.value import CHANGED, Observer, Shown, Value


class Trace(Observer):
    """What observes a call.

    Attributes:
        inputs: what comes from outside, by number.
        outside: what each handle that lives longer than the call is to it, by the handle's id.
    """

    formatted: list[Shown] | None = None

    def __init__(self, stream: Stream):
        self.stream = stream
        self.inputs: list = []
        self.outside: dict[int, Held | Argument] = {}

    def number_of(self, value: Value) -> int | None:
        """The number of a Value; None for one from nowhere."""
        raise of_base(self)

    def describe(self, value: Value):
        """What a Value is to the call: an inner number, or the input it came from."""
        number = self.number_of(value)
        if number is None:
            return Constant(demand(value))
        return number if number >= 0 else self.inputs[-1 - number]

    def new_input(self, what) -> int:
        """The number of something more from outside."""
        self.inputs.append(what)
        return -len(self.inputs)

    def know(self, value: Value, what) -> Value:
        """A Value, which is what comes from outside as this."""
        value.capture = self
        value.number = self.new_input(what)
        return value

    def made_inside(self, handle: Tensor) -> bool:
        """Whether a handle was made in the call."""
        return made_within(handle, self) and id(handle) not in self.outside

    # -- what the record tells an observer ---------------------------------------------------

    def write(self, handle: Tensor) -> None:
        """A handle is about to be given another Value."""
        if not self.made_inside(handle):
            self.outside.setdefault(id(handle), Held(handle))

    def site(self, function, args: tuple, kwargs: dict | None = None, label=None) -> Any:
        """A site within a site is a part of it."""
        return call_labelled(function, args, kwargs or {}, label)

    def event(self, kind: str, subject: Any = None, what="", remedy="", place=None) -> bool:
        """What happens to Tensors made inside ends with the call; all else belongs to the site."""
        return kind is CHANGED and isinstance(subject, Tensor) and self.made_inside(subject)

    def forget(self) -> None:
        """Drop everything: Values that live on still point here."""
        self.__dict__.clear()
