# SPDX-License-Identifier: Apache-2.0
"""Store: where Parameters' arrays are between two replays of a call that assigns them.

To point hundreds of Parameters at new Values at every step would cost more than all else that
Python does in it. So their new arrays stay together as they came, and go into the next replay as
they are. A Parameter whose array is here has no Value; whoever looks at it gets one made
(`Parameter.__getattr__`), and the next replay asks the Parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter
from threading import RLock
from typing import Any

from mycel.kernel.base.structure import structure
from mycel.kernel.define.aval import Aval
from mycel.kernel.execute.nodes import decode
from mycel.kernel.prove.notes import Held
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import demand
from mycel.kernel.record.tensor import Tensor, point
from mycel.kernel.record.value import Value, ready

# When more Parameters than this were looked at since the last replay, all get their Values.
FEW = 8
# Where that happens between all replays, nothing is kept for so many of them.
LONGEST_REST = 64

# One for all stores: a Parameter can go from one to another.
_lock = RLock()
_array = attrgetter("array")


class Entering:
    """What enters the program of a call that is remembered.

    Attributes:
        avals: what is known of each input, in their order.
    """

    def __init__(self, used: list, key: tuple):
        self._used, self._key = used, key

    @cached_property
    def avals(self) -> list[Aval]:
        found: dict[int, Aval] = {}
        for node in decode(self._key):
            found.update(zip(node.inputs, node.signature.inputs, strict=True))
        return [found[-1 - position] for position in range(len(self._used))]

    def count_of_changes(self) -> int:
        """The count of changes; none that can come if the inputs have other avals by now, as
        where the call itself gave a Parameter another shape."""
        for what, aval in zip(self._used, self.avals, strict=True):
            if isinstance(what, Held) and what.handle._value.aval is not aval:
                return -1
        return structure.changes


class Store:
    """The inputs of a remembered call, with the arrays of the Parameters that it assigns.

    The lock keeps threads apart, but not a signal's handler or Ctrl-C: what they may meet is only
    that a Parameter is told to be out whose array is still here.

    Args:
        holders: by input: the Tensor that has it, or the index of an argument.
        assigned: the inputs that are Parameters to be kept here, each with the position of
            its new array among the results.
        avals: of the results.
    """

    def __init__(self, holders: Sequence[Tensor | int], assigned: dict[int, int], avals):
        self._handles: list[Any] = [holders[position] for position in assigned]
        self._avals: list[Aval] = [avals[index] for index in assigned.values()]
        self._indices = {id(handle): index for index, handle in enumerate(self._handles)}
        self._arrays: list = [None] * len(self._handles)
        # Indices of the Parameters that have their Values themselves: a set in order.
        self._out = dict.fromkeys(range(len(self._handles)))
        # For how many replays nothing is kept, and for how many it was the last time.
        self._rest = self._last_rest = 0
        self._was_kept = False
        rest = [position for position in range(len(holders)) if position not in assigned]
        held = {position: h for position in rest if isinstance(h := holders[position], Tensor)}
        passed = {position: h for position in rest if isinstance(h := holders[position], int)}
        self._held, self._passed = [*held.values()], [*passed.values()]
        positions = [*assigned, *held, *passed]
        self._in_order = _picker([positions.index(position) for position in range(len(positions))])
        self._assigned = _picker([*assigned.values()])

    def inputs(self, tensors: list[Tensor]) -> tuple:
        """The arrays of all inputs, computed where they are pending: packed, on another thread, or
        where a run was broken off."""
        others = [handle._value.array for handle in self._held]
        others += [tensors[index]._value.array for index in self._passed]
        may_be_pending = others
        if not self._out:
            arrays = self._arrays
        else:
            if len(self._out) == len(self._handles):
                arrays = [handle._value.array for handle in self._handles]
            else:
                arrays = self._present(_array)
            may_be_pending = [*arrays, *others]
        for array in may_be_pending:
            if array is None:  # which JAX would take for an argument that was left out
                return self._demanded(tensors)
        return self._in_order((*arrays, *others))

    def _demanded(self, tensors: list[Tensor]) -> tuple:
        others = [*self._held, *[tensors[index] for index in self._passed]]
        return self._in_order((*self._present(demand), *[demand(h._value) for h in others]))

    def _present(self, array_of: Callable[[Value], Any]) -> list:
        """The arrays of the Parameters, with those that are out."""
        with _lock:
            out = [(index, self._handles[index]._value) for index in tuple(self._out)]
            arrays = self._arrays.copy()
        for index, value in out:
            arrays[index] = array_of(value)
        return arrays

    def keep(self, results: Sequence) -> None:
        """Take the results of a replay for the Parameters."""
        arrays = self._assigned(results)
        with _lock:
            if not self._out:
                self._last_rest = 0
            elif self._rests():
                for handle, array, aval in zip(self._handles, arrays, self._avals, strict=True):
                    value = ready(array, aval)
                    if handle._store is None:
                        handle._value = value
                    else:
                        point(handle, value)
                return
            self._arrays = list(arrays)
            while self._out:
                for index in tuple(self._out):
                    handle = self._handles[index]
                    if handle._value is not None:  # in no store, by now
                        # From here on nothing comes in between: Python calls nothing.
                        self._arrays[index] = arrays[index]
                        handle._store = self
                        del handle._value
                        del self._out[index]

    def _rests(self) -> bool:
        """Whether to keep nothing now: most Parameters were looked at since the last replay, as
        where another compiled call takes them in between. Each time, for twice as many replays."""
        if not self._rest and self._was_kept:
            if len(self._out) > FEW:
                self._rest = self._last_rest = min(2 * self._last_rest or 1, LONGEST_REST)
            else:
                self._last_rest = 0
        self._was_kept = not self._rest
        self._rest -= not self._was_kept
        return not self._was_kept

    def give(self, handle: Parameter) -> None:
        """Let a Parameter have its Value itself."""
        with _lock:
            if len(self._out) > FEW:
                self.give_all()
            else:
                self._give(self._indices[id(handle)])

    def give_all(self) -> None:
        """Let all Parameters have their Values themselves."""
        with _lock:
            for index in range(len(self._handles)):
                self._give(index)

    def _give(self, index: int) -> None:
        handle = self._handles[index]
        if handle._store is self:
            self._out[index] = None
            value = ready(self._arrays[index], self._avals[index])
            # From here on nothing comes in between.
            handle._value, handle._store = value, None
            self._arrays[index] = None


def _picker(positions: list[int]) -> Callable[[Sequence], tuple]:
    """A function that picks the items at these positions."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda items: tuple([items[position] for position in positions])
