# SPDX-License-Identifier: Apache-2.0
"""Records with operators among processes: local programs, and what is communicated between them.

Each such operator is a program of its own, the same in every process, as XLA's distributed programs
have to be. What stands between two of them is one local program, which may be another in another
process: there the record may have been cut elsewhere, and hooks may watch other values. Guards are
looked at before anything is communicated that they decide about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mycel.kernel.execute.checks import Tripped
from mycel.kernel.execute.communicate import Done, communicate
from mycel.kernel.record.stream import place_of


class Differs(Tripped):
    """A value that Python read is another than it was.

    Attributes:
        number: which of the guards.
    """

    def __init__(self, number: int):
        super().__init__()
        self.number = number


class Piece(NamedTuple):
    """A local program, and the operator among processes behind it.

    Attributes:
        function: the program; None if it has nothing to compute.
        given, made: the slots of its inputs and outputs.
        guards: the numbers of the guards whose bytes are its last output.
        node, index: the operator, and its number in the record; None at the end of it.
    """

    function: Callable | None
    given: tuple[int, ...]
    made: tuple[int, ...]
    guards: tuple[int, ...]
    node: Any
    index: int


class Joined:
    """The function of a record with operators among processes.

    Args:
        nodes: those of `execute.compile.decode`.
        guards: what Python read; see `execute.compile.Guard`.
        rest: the slots that the end of the program needs besides its own nodes and guards.
        local: makes a local program, `local(nodes, live, guards, given)`.
        end: makes the end of the program, `end(nodes, guards, given)`.

    Attributes:
        pieces: what runs in front of the end.
        guards: the numbers of the guards whose bytes the end has among its outputs.
    """

    def __init__(self, nodes, guards, rest, local: Callable, end: Callable):
        cuts = [index for index, node in enumerate(nodes) if node.signature.op.collective]
        self.pieces: list[Piece] = []
        left = dict(enumerate(guards))
        # By piece: the slots that something behind it needs.
        needed, behind = {*rest, *[guard.slot for guard in guards]}, []
        for start, end_of in reversed([*zip([-1, *cuts], [*cuts, len(nodes)], strict=True)]):
            behind.append(set(needed))
            needed.update(*[node.inputs for node in nodes[start + 1 : end_of + 1]])
        start = 0
        for cut in cuts:
            part, node = nodes[start:cut], nodes[cut]
            seen = tuple([number for number, guard in left.items() if guard.slot < node.first])
            looked_at = tuple([left.pop(number) for number in seen])
            wanted = behind.pop().union(node.inputs)
            made = tuple([slot for slot in _slots(part) if slot in wanted])
            given = _inputs(part, [guard.slot for guard in looked_at])
            function = local(part, made, looked_at, given) if made or seen else None
            self.pieces.append(Piece(function, given, made, seen, node, cut))
            start = cut + 1
        part = nodes[start:]
        self.guards = tuple(left)
        given = _inputs(part, [*rest, *[guard.slot for guard in left.values()]])
        self._end = end(part, tuple(left.values()), given), given

    def __call__(
        self, arrays: Sequence, places, expected: Sequence[bytes], done: list[Done]
    ) -> list:
        """What the program gives; `done` gets what was communicated.

        Args:
            places: where the nodes were recorded; empty if nobody knows.
            expected: the bytes of what Python read, by the numbers of guards.

        Raises:
            Differs: Python read something else.
            RuntimeError: another process ended, or did not come in time.
        """
        by_slot = {-1 - position: array for position, array in enumerate(arrays)}
        for piece in self.pieces:
            if piece.function is not None:
                results = piece.function(*[by_slot[slot] for slot in piece.given])
                if piece.guards:
                    compare(results.pop(), piece.guards, expected)
                by_slot.update(zip(piece.made, results, strict=True))
            node = piece.node
            inputs = [by_slot[slot] for slot in node.inputs]
            place = (place_of(places, piece.index),) if places else ()
            done.append(communicate(node.signature, inputs, *place))
            by_slot.update(enumerate(done[-1].results or (), node.first))
        function, given = self._end
        return function(*[by_slot[slot] for slot in given])


def _slots(nodes) -> list[int]:
    """The slots that nodes fill."""
    return [n.first + offset for n in nodes for offset in range(len(n.signature.outputs))]


def _inputs(nodes, more) -> tuple[int, ...]:
    """The slots that nodes are given from elsewhere, and those of `more` that they do not fill."""
    made = set(_slots(nodes))
    asked = dict.fromkeys([slot for node in nodes for slot in node.inputs] + list(more))
    return tuple([slot for slot in asked if slot not in made])


def compare(bits, numbers, expected: Sequence[bytes]) -> None:
    """Look at what Python read.

    Raises:
        Differs: it is another value.
    """
    seen, position = np.asarray(bits).tobytes(), 0
    for number in numbers:
        end = position + len(expected[number])
        if seen[position:end] != expected[number]:
            raise Differs(number)
        position = end
