# SPDX-License-Identifier: Apache-2.0
"""Results: the Values of one replay, made from what its program gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mycel.kernel.execute.sites import Watch
from mycel.kernel.execute.templates import Kept
from mycel.kernel.prove.notes import Argument, Constant, Held, Slot
from mycel.kernel.record.packed import Packed
from mycel.kernel.record.stream import demand
from mycel.kernel.record.tensor import Tensor, new_tensor, point
from mycel.kernel.record.value import Value, ready, value_of

if TYPE_CHECKING:
    from mycel.kernel.execute.replay import Arguments, Memory


class Results:
    """The Values of one replay by number, each made once."""

    def __init__(self, memory: Memory, arguments: Arguments, results, watch: Watch | None):
        self.memory = memory
        self.tensors = arguments.tensors
        self.containers = arguments.containers
        # Handles that stand in one template more than once.
        self._shared: dict[Slot, Tensor] = {}
        # Containers and objects that do, by the ids of their templates.
        self.made_once: dict[int, Any] = {}
        self.results = results
        self.watch = watch
        # By their positions among the outputs.
        self.by_position: list[Value | None] = [None] * len(memory.numbers)
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

    def output(self, position: int) -> Value:
        value = self.by_position[position]
        if value is None:
            aval = self.memory.avals[position]
            if position < self.memory.alone:
                value = ready(self.results[position], aval)
            else:
                value = ready(None, aval)
                value.source, value.slot = self.homes[self.memory.home_of[position]], position
            value.capture, value.number = self.watch, self.memory.numbers[position]
            self.by_position[position] = value
        return value

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

    def for_site(self, leaf):
        """What stands for a leaf of what a site is given."""
        if not isinstance(leaf, (Slot, Held, Argument)):
            return leaf.build(self, self.for_site) if isinstance(leaf, Kept) else leaf
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
