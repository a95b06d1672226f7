# SPDX-License-Identifier: Apache-2.0
"""Value: one immutable result, pending or there. Poison: what a failed operator leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.places import Place
from mycel.kernel.base.where import tell_place
from mycel.kernel.define.aval import Aval, aval_of


class Shown(NamedTuple):
    """A value that Python made text of: which, and how it is done again; the number of the read,
    and where."""

    text: str
    handle: Any
    again: Callable
    read: int
    place: Place


# The kinds of events that an observer is told of: a Cell is called, and made; the hooks of a Tensor
# are asked for; a Cell, the hooks of a Tensor or anything else changed that programs are made of;
# an operator among processes is about to be recorded.
CALLED, MADE, HOOKS, CHANGED = "called", "made", "hooks", "changed"
COMMUNICATES = "communicates"


class Observer(Protocol):
    """What watches the record while a call is remembered, or while a site runs on a replay.

    The record tells it what crosses the border of the call: handles from outside, data made
    inside, assignments, and what Python reads.
    """

    # Texts of values that Python asked for, to be found again in what is printed; None: not noted.
    formatted: list[Shown] | None

    def lift(self, value: Value, handle=None) -> Value:
        """The Value to use for what no operator of the call makes: that of a handle from outside,
        or, without a handle, data made inside."""
        ...

    def write(self, handle) -> None:
        """A handle is about to be given another Value."""

    def read(self, handle, value: Value, kind: str, text) -> np.ndarray:
        """A value as Python sees it, or as much of it as `kind` says."""
        ...

    def close(self, segment, held) -> None:
        """A segment is about to run; these of its Values are still held."""

    def site(
        self, function: Callable, args: tuple, kwargs: dict | None = None, label: Any = None
    ) -> Any:
        """Call Python that runs at every call; `label` says what it is, for messages."""

    def event(
        self,
        kind: str,
        subject: Any = None,
        what: str = "",
        remedy: str = "",
        place: Place | None = None,
    ) -> bool:
        """Something happens, here or at a place, to a Cell, to a Tensor, or, without a subject, to
        what a replay could not do; whether it ends with the call: a Tensor's change does, and an
        operator among processes that does not run here."""
        ...


class Source(Protocol):
    """What a pending Value waits for: the record it is in, a pack of results, numbers to be drawn.

    Attributes:
        apart: whether it runs no record, so that operators take its Values while they are pending.
    """

    apart: bool

    def produce(self, value: Value) -> None:
        """Give a Value its array."""

    def view(self, value: Value) -> np.ndarray:
        """A Value as Python sees it, without an array on the device where that can be."""
        ...


class Value:
    """An immutable result of the record (SSA).

    Attributes:
        array: the array, a Poison, or None while pending.
        aval: its shape and element type.
        source, slot: what gives it its array, while pending, and which of its results it is.
        capture, number: the remembered call that knows it, and its number there.
    """

    __slots__ = ("__weakref__", "array", "aval", "capture", "number", "slot", "source")

    array: Any
    aval: Aval
    source: Source | None
    capture: Observer | None

    def __init__(self, array, aval: Aval):
        self.array = array
        self.aval = aval
        self.source = None
        self.slot = 0
        self.capture = None
        self.number = 0


def value_of(array) -> Value:
    """A Value that is already there."""
    return Value(array, aval_of(array.shape, array.dtype))


_new_value = Value.__new__


def ready(array, aval: Aval) -> Value:
    """A Value that is already there, of a known aval: the quick way."""
    value = _new_value(Value)
    value.array = array
    value.aval = aval
    value.source = None
    value.capture = None
    return value


class Poison:
    """Stands in for the result of an operator that failed; reading it raises."""

    __slots__ = ("cause", "culprit", "inputs", "operator", "place", "where")

    def __init__(
        self,
        operator: str,
        place: Place,
        cause: BaseException,
        culprit: str | None = None,
        where: Place | None = None,
        inputs: str = "",
    ):
        self.inputs = inputs
        self.operator = operator
        self.place = place
        self.cause = cause
        self.culprit = culprit or operator
        self.where = where or place

    def error(self) -> RuntimeError:
        """A new one for each reading: raising changes it."""
        error = self._error()
        tell_place(error, self.where)
        return error

    def _error(self) -> RuntimeError:
        if isinstance(self.cause, (errors.OutOfRangeError, errors.TogetherError)):
            return type(self.cause)(*self.cause.args)
        reason = f"{type(self.cause).__name__}: {self.cause}"
        if self.culprit == self.operator and self.where == self.place:
            text = errors.OPERATOR_FAILED.format(
                operator=self.operator, place=self.place, reason=reason
            )
            if self.inputs:
                text += errors.ITS_INPUTS.format(inputs=self.inputs)
        else:
            text = errors.OPERATOR_LOST.format(
                operator=self.operator,
                place=self.place,
                culprit=self.culprit,
                culprit_place=self.where,
                reason=reason,
            )
        return RuntimeError(text)
