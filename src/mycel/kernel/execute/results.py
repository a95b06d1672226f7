# SPDX-License-Identifier: Apache-2.0
"""Results: the Values of one replay, made from what its program gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mycel.kernel.execute.sites import Watch
from mycel.kernel.execute.templates import Kept
from mycel.kernel.prove.notes import Argument, Constant, Held, Slot
from mycel.kernel.record.packed import Packed
from mycel.kernel.record.stream import demand
from mycel.kernel.record.tensor import Tensor, new_tensor, point
from mycel.kernel.record.value import Value, ready, value_of

if TYPE_CHECKING:
    from mycel.kernel.execute.replay import Given, Memory


class Results:
    """The Values of one replay by number, each made once."""

    def __init__(self, memory: Memory, given: Given, results, watch: Watch | None):
        self.memory = memory
        self.tensors = given.tensors
        self.containers = given.containers
        # Handles that stand in one template more than once.
        self._shared: dict[Slot, Tensor] = {}
        self.results = results
        self.watch = watch
        # By their places among the outputs.
        self.made: list[Value | None] = [None] * len(memory.numbers)
        self.homes = [
            Packed(array, parts)
            for array, parts in zip(results[memory.alone :], memory.packs, strict=True)
        ]
        # Values of inputs as they are before the call assigns anything.
        self.inputs = {number: self._input(what) for number, what in memory.needed_inputs}

    def _input(self, what) -> Value:
        if isinstance(what, Constant):
            return value_of(what.array)
        handle = what.handle if isinstance(what, Held) else self.tensors[what.index]
        return handle._value

    def output(self, place: int) -> Value:
        found = self.made[place]
        if found is None:
            aval = self.memory.avals[place]
            if place < self.memory.alone:
                found = ready(self.results[place], aval)
            else:
                found = ready(None, aval)
                found.source, found.slot = self.homes[self.memory.home_of[place]], place
            found.capture, found.number = self.watch, self.memory.numbers[place]
            self.made[place] = found
        return found

    def value(self, number: int) -> Value:
        return self.inputs[number] if number < 0 else self.output(self.memory.order[number])

    def leaf(self, leaf):
        if isinstance(leaf, Slot):
            if leaf.handle is None:
                return new_tensor(self.value(leaf.number))
            if leaf not in self._shared:
                self._shared[leaf] = new_tensor(self.value(leaf.number))
            return self._shared[leaf]
        if isinstance(leaf, Held):
            return leaf.handle
        if isinstance(leaf, Argument):
            return self.tensors[leaf.index]
        return leaf.build(self, self.leaf) if isinstance(leaf, Kept) else leaf

    def given(self, leaf):
        """What stands for a leaf of what a site is given."""
        if not isinstance(leaf, (Slot, Held, Argument)):
            return leaf.build(self, self.given) if isinstance(leaf, Kept) else leaf
        watch = self.watch
        assert watch is not None
        if not isinstance(leaf, Slot):
            handle = self.leaf(leaf)
            watch.meet(handle, leaf)
            return handle
        value = self.value(leaf.number)
        if leaf.number < 0:
            value = Value(demand(value), value.aval)
            watch.know(value, self.memory.inputs[-1 - leaf.number])
        return new_tensor(value)

    def bind(self, bindings, before: dict) -> None:
        """Let handles show these values, remembering what they showed before the call."""
        for target, number in bindings:
            handle = self.leaf(target)
            before.setdefault(id(handle), (handle, handle._value))
            point(handle, self.value(number))
            if self.watch is not None:
                bound = number if number >= 0 else self.memory.inputs[-1 - number]
                self.watch.bound[id(handle)] = bound
                self.watch.met_here.append((handle._value, handle))
