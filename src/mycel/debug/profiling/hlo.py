# SPDX-License-Identifier: Apache-2.0
"""What a compiled program consists of, read from XLA's own description of it.

XLA gives its programs and its plan of their memory as messages of protocol buffers. Only the fields
that are used here are read, by their numbers in XLA's `hlo.proto`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from mycel.checkpoint import protobuf

# Instructions that compute nothing, or nothing of their own.
_FREE = frozenset(
    ("parameter", "constant", "broadcast", "reshape", "bitcast", "tuple", "get-tuple-element")
    + ("iota", "after-all")
)
# Functions for which a processor takes many operations.
_TRANSCENDENTAL = frozenset(
    ("exponential", "exponential-minus-one", "log", "log-plus-one", "tanh", "sine", "cosine", "tan")
    + ("logistic", "power", "rsqrt", "sqrt", "cbrt", "erf", "atan2")
)
OPERATIONS_OF_TRANSCENDENTAL = 10
# So many operations take about as long as one byte that is read or written.
OPERATIONS_OF_BYTE = 4
# The bytes of an element by XLA's number of its type; of all others, 1.
_BYTES = {3: 2, 4: 4, 5: 8, 7: 2, 8: 4, 9: 8, 10: 2, 11: 4, 12: 8, 15: 8, 16: 2, 18: 16}
_CALLS = ("fusion", "call", "while", "conditional")
# The part of an instruction's number that is its own in its computation.
_LOCAL = (1 << 32) - 1
# What they give is, at least in part, what they take.
_PASSING = ("bitcast", "tuple", "get-tuple-element", "while", "conditional", "call")


def fields(message: bytes) -> dict[int, list]:
    """The fields of a message by number: integers, or bytes for what is longer.

    Example:
        >>> from mycel.debug.profiling.hlo import fields
        >>> fields(bytes([8, 150, 1, 18, 2, 104, 105]))
        {1: [150], 2: [b'hi']}
    """
    found: dict[int, list] = {}
    for number, value in protobuf.fields(message):
        found.setdefault(number, []).append(value)
    return found


def integers(values: list) -> list[int]:
    """The integers of a repeated field, packed or not."""
    return [number for value in values for number in protobuf.integers(value)]


def _text(known: dict[int, list], number: int) -> str:
    return known[number][0].decode("utf-8", "replace") if number in known else ""


class Instruction(NamedTuple):
    """One instruction of a compiled program.

    Attributes:
        number: unique in the program; `operands`: the numbers of what it takes.
        name, opcode: as in XLA's text of the program.
        scope: the name under which it was recorded: `jit(run)/Net.a/forward/n3:matmul/dot_general`.
        shape, itemsize: of its result; of the first one where it has several.
        called: the numbers of the computations it calls.
        known: its further fields by number.
    """

    number: int
    name: str
    opcode: str
    scope: str
    shape: tuple[int, ...]
    itemsize: int
    operands: tuple[int, ...]
    called: tuple[int, ...]
    known: dict[int, list]

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


def size_of(instruction: Instruction) -> tuple[int, int]:
    """How many arrays an instruction gives, and how many bytes they have together."""
    shape = fields(instruction.known[3][0]) if 3 in instruction.known else {}
    parts = [fields(part) for part in shape.get(4, [])] or [shape]
    sizes = [
        math.prod(integers(part.get(3, []))) * _BYTES.get(part.get(2, [0])[0], 1) for part in parts
    ]
    return len(sizes), sum(sizes)


def _instruction(message: bytes) -> Instruction:
    known = fields(message)
    shape = fields(known[3][0]) if 3 in known else {}
    if 4 in shape:
        shape = fields(shape[4][0])
    return Instruction(
        known.get(35, [0])[0],
        _text(known, 1),
        _text(known, 2),
        _text(fields(known[7][0]), 2) if 7 in known else "",
        tuple(integers(shape.get(3, []))),
        _BYTES.get(shape.get(2, [0])[0], 1),
        tuple(integers(known.get(36, []))),
        tuple(integers(known.get(38, []))),
        known,
    )


class Module:
    """A compiled program.

    Attributes:
        instructions: by number; `by_name`: by name; `computations`: their instructions, by number.
    """

    def __init__(self, message: bytes):
        self.computations: dict[int, list[Instruction]] = {}
        for computation in fields(message).get(3, []):
            known = fields(computation)
            inside = [_instruction(one) for one in known.get(2, [])]
            self.computations[known.get(5, [0])[0]] = inside
        known = fields(message)
        self._sort(known)
        self.entry: int = known.get(6, [0])[0]
        every = [one for inside in self.computations.values() for one in inside]
        self.instructions = {one.number: one for one in every}
        self.by_name = {one.name: one for one in every}
        self.root = self._root_of(message)
        self._last: dict[int, int] = {}

    def _sort(self, known: dict[int, list]) -> None:
        """Put the instructions of each computation in the order in which they run."""
        for entry in fields(known[7][0]).get(1, []) if 7 in known else ():
            pair = fields(entry)
            sequence = integers(fields(pair[2][0]).get(1, []))
            place = {number: position for position, number in enumerate(sequence)}
            inside = self.computations.get(pair.get(1, [0])[0], [])
            inside.sort(key=lambda one: place.get(one.number, place.get(one.number & _LOCAL, 0)))

    def _root_of(self, message: bytes) -> int:
        """The number of the instruction whose value the program gives back."""
        for computation in fields(message).get(3, []):
            known = fields(computation)
            if known.get(5, [0])[0] == self.entry:
                return known.get(6, [0])[0]
        return 0

    @cached_property
    def users(self) -> dict[int, list[Instruction]]:
        """Who takes what each instruction gives."""
        users: dict[int, list[Instruction]] = {}
        for one in self.instructions.values():
            for number in one.operands:
                users.setdefault(number, []).append(one)
        return users

    @cached_property
    def order(self) -> dict[int, int]:
        """When each instruction runs: its position in the program, or that of what calls it."""
        order: dict[int, int] = {}

        def walk(computation: int, fixed: int | None) -> None:
            for position, one in enumerate(self.computations.get(computation, [])):
                order[one.number] = position if fixed is None else fixed
                if one.opcode != "fusion":
                    for number in one.called:
                        walk(number, order[one.number])

        walk(self.entry, None)
        return order

    def last_use(self, number: int) -> int:
        """The position of the last instruction that takes what one gives, itself or as a part of
        something else; the end of the program for what it gives back."""
        last = self._last.get(number)
        if last is None:
            last = self._last[number] = self.order.get(number, 0)
            for user in self.users.get(number, []):
                at = self.order.get(user.number, last)
                passes = user.opcode in _PASSING
                last = max(last, self.last_use(user.number) if passes else at)
            if number == self.root:
                last = len(self.computations[self.entry])
            self._last[number] = last
        return last

    def inside(self, instruction: Instruction) -> Iterator[Instruction]:
        """The instruction itself, or, where it is a fusion or a call, those in it."""
        if instruction.opcode not in _CALLS:
            yield instruction
            return
        for number in instruction.called:
            for one in self.computations.get(number, []):
                yield from self.inside(one)

    def weights(self, instruction: Instruction) -> list[tuple[Instruction, float]]:
        """The instructions of a fusion or a call, each with about how much of its time it takes:
        its operations, and what it reads of the inputs or writes of the result of the fusion."""
        weights = {one.number: self.operations(one) for one in self.inside(instruction)}
        for one in self.inside(instruction) if instruction.opcode == "fusion" else ():
            if one.opcode == "parameter":
                readers = self._next(one, lambda i: self.users.get(i.number, []))
                self._add_traffic(weights, one, readers)
        if instruction.opcode == "fusion":
            inner = self.computations.get(instruction.called[0], [])[-1:]
            for root in inner:
                writers = self._next(root, self._operands_of, True)
                self._add_traffic(weights, root, writers)
        return [(self.instructions[number], weight) for number, weight in weights.items()]

    def _add_traffic(self, weights: dict[int, float], moved: Instruction, by: Instruction | None):
        if by is not None and by.number in weights:
            weights[by.number] += OPERATIONS_OF_BYTE * moved.elements * moved.itemsize

    def _operands_of(self, one: Instruction) -> list[Instruction]:
        return [self.instructions[n] for n in one.operands if n in self.instructions]

    def _next(self, start: Instruction, following, itself=False) -> Instruction | None:
        """The nearest instruction that computes something."""
        found = [start] if itself else list(following(start))
        for one in found:
            if one.opcode not in _FREE:
                return one
            if len(found) > 64:
                break
            found += following(one)
        return None

    def operations(self, instruction: Instruction) -> float:
        """About how many operations an instruction takes: those of products of matrices and of
        convolutions; the elements read by a reduction, and made by all else."""
        opcode = instruction.opcode
        if opcode in _FREE:
            return 0.0
        operands = [self.instructions.get(number) for number in instruction.operands]
        if opcode == "dot" and operands[0] is not None:
            numbers = fields(instruction.known.get(30, [b""])[0])
            inner = [operands[0].shape[axis] for axis in integers(numbers.get(1, []))]
            return 2.0 * instruction.elements * math.prod(inner)
        if opcode == "convolution" and len(operands) > 1 and operands[1] is not None:
            numbers = fields(instruction.known.get(16, [b""])[0])
            channels = operands[1].shape[numbers.get(4, [0])[0]]
            return 2.0 * instruction.elements * operands[1].elements / max(1, channels)
        if opcode in ("reduce", "reduce-window") and operands[0] is not None:
            return float(max(operands[0].elements, instruction.elements))
        factor = OPERATIONS_OF_TRANSCENDENTAL if opcode in _TRANSCENDENTAL else 1
        return float(factor * instruction.elements)


class Buffer(NamedTuple):
    """A part of the memory of a program.

    Attributes:
        instruction: the number of the one that makes it; `size`: its bytes.
        place: where it is: the number of an allocation, and the bytes before it there.
    """

    instruction: int
    size: int
    place: tuple[int, int]


class Assignment:
    """XLA's plan of the memory of a program.

    Attributes:
        buffers: those that are no arguments, by number.
        arguments: the bytes of what comes from outside, by its number.
        results, temporary, constants: bytes of what leaves the program, of what it needs in
            between (different buffers may have the same place there), and of its constants.
    """

    def __init__(self, message: bytes):
        known = fields(message)
        every: dict[int, tuple[int, int]] = {}
        for one in known.get(1, []):
            buffer = fields(one)
            defined = fields(buffer.get(3, [b""])[0])
            number = buffer.get(1, [0])[0]
            every[number] = (defined.get(4, [0])[0], buffer.get(2, [0])[0])
        self.buffers: dict[int, Buffer] = {}
        self.arguments: dict[int, int] = {}
        self.results = self.temporary = self.constants = 0
        for one in known.get(3, []):
            allocation = fields(one)
            size = allocation.get(2, [0])[0]
            if allocation.get(5, [0])[0]:
                self.arguments[allocation.get(6, [0])[0]] = size
                continue
            if allocation.get(12, [0])[0] or allocation.get(3, [0])[0]:
                self.constants += size
                continue
            for one in map(fields, allocation.get(9, [])):
                number, offset = one.get(1, [0])[0], one.get(2, [0])[0]
                place = allocation.get(1, [0])[0], offset
                self.buffers[number] = Buffer(*every[number], place)
            if allocation.get(7, [0])[0]:
                self.results += size
            else:
                self.temporary += size


def alive_at_peak(module: Module, assignment: Assignment) -> list[Buffer]:
    """The buffers that are alive, in the order in which XLA runs the instructions, when most bytes
    of them are: each from the instruction that makes it to the last one that takes it. Of those
    that share one place, as what goes round in a loop does, only one is counted."""
    changes: dict[int, list[tuple[bool, Buffer]]] = {}
    for buffer in assignment.buffers.values():
        start = module.order.get(buffer.instruction)
        if start is not None:
            changes.setdefault(start, []).append((True, buffer))
            changes.setdefault(module.last_use(buffer.instruction) + 1, []).append((False, buffer))
    alive: dict[tuple[int, int], list[Buffer]] = {}
    now = most = 0
    best: list[Buffer] = []
    for position in sorted(changes):
        for begins, buffer in sorted(changes[position], key=lambda change: change[0]):
            there = alive.setdefault(buffer.place, [])
            now -= max((other.size for other in there), default=0)
            (there.append if begins else there.remove)(buffer)
            now += max((other.size for other in there), default=0)
        if now > most:
            most = now
            best = [max(there, key=lambda b: b.size) for there in alive.values() if there]
    return best
