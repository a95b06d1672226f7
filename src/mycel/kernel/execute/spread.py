# SPDX-License-Identifier: Apache-2.0
"""Programs of arrays that several processes hold together: all of them run each, in one order.

XLA does not look whether they do: processes that run different programs wait for each other for
ever, or add what does not belong together. So before each program they exchange three numbers, of
the program as it is to be compiled, of what it computes, and of what was laid out since they met
last and is the same in all of them; if one differs, each of them raises and says what the others
run. `MYCEL_CHECK_COLLECTIVES=0`, in all processes, leaves the exchange out.
"""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax

from mycel.kernel.base import errors, processes
from mycel.kernel.base.division import division
from mycel.kernel.base.places import Place, user_place
from mycel.kernel.base.processes import AXIS, world
from mycel.kernel.define.collective import Collective
from mycel.kernel.execute.communicate import meet
from mycel.kernel.execute.nodes import Node

# Programs of whose text the digest is kept.
MOST_KNOWN = 4096
# So many inputs of a program are told in messages.
MOST_NAMED = 8


class OtherResults(Exception):
    """The processes compute the same, and keep other results of it."""


class Words(NamedTuple):
    """What this process runs, for messages."""

    name: str
    inputs: tuple[str, ...]
    place: Place

    def __str__(self):
        more = (
            [f"and {len(self.inputs) - MOST_NAMED} more"] if len(self.inputs) > MOST_NAMED else []
        )
        return f"{self.name}({', '.join([*self.inputs[:MOST_NAMED], *more])}) at {self.place}"


class InAll:
    """A compiled function that all processes call.

    Args:
        function: as `jax.jit` gives it.
        told: words for it.
        structure: a digest of what it computes, whichever of its results come out.
    """

    __slots__ = ("function", "lower", "structure", "told")

    def __init__(self, function: Any, told: str, structure: str):
        self.function, self.told, self.structure = function, told, structure
        self.lower = function.lower

    def __call__(self, *arrays):
        return run_in_all(self.function, arrays, self.told, self.structure)


def run_in_all(function: Any, arrays, told: str | None, structure: str = "") -> Any:
    """What a compiled function gives that all processes call now.

    Raises:
        OtherResults: the others compute the same, and keep other results.
        TogetherError: they run another program, have other numbers where all have to have the same,
            have ended, or did not come in time.
    """
    grid, watch = division.grid, world.watch
    assert grid is not None and watch is not None
    ranks = tuple(range(world.size))
    inputs = tuple([f"{array.dtype}{list(array.shape)}" for array in arrays])
    name = told or "a program"
    if grid.copies > 1:
        name += f" with pipeline_stages={grid.copies}"
    words = Words(name, inputs, user_place(2))
    entered, grid.entered = grid.entered, []
    own = None
    if processes.checks():
        text = _digest_of(function, tuple([_layout_of(array) for array in arrays]), arrays)
        own = np.array([text, _number(structure), _number(json.dumps(entered))], np.uint64)

    def call():
        if own is not None:
            (rows,) = _gathering(ranks).communicate([own])
            same = (np.asarray(rows) == own).all(0)
            if not same.all():
                return same
        return jax.block_until_ready(function(*arrays))

    result = meet(ranks, words, call)
    if not isinstance(result, np.ndarray):
        return result
    _, same_structure, same_entered = result
    if same_entered and same_structure and structure:
        raise OtherResults
    text = "" if same_entered else _other_numbers(watch, ranks, entered, words)
    if not text:
        others = watch.compare(ranks, words)
        text = errors.OTHER_PROGRAM.format(
            program=words, rank=world.rank, size=world.size, others=others
        )
    watch.failure = errors.TogetherError(text)
    raise watch.failure


def check_copies(array, copies: int, what: str) -> None:
    """Raise unless every group of processes has the same parts of a batch.

    Args:
        array: the part of this process.
        copies: how many groups there are.
        what: words for the array.

    Raises:
        TogetherError: this process or another one has other numbers than the first group.
    """
    if not processes.checks():
        return
    watch, ranks, each = world.watch, tuple(range(world.size)), world.size // copies
    assert watch is not None
    numbers = np.ascontiguousarray(array)
    text = f"{numbers.dtype}{list(numbers.shape)}{hashlib.sha256(numbers.tobytes()).hexdigest()}"
    words = Words(
        f"the comparison of {what}", (f"{array.dtype}{list(array.shape)}",), user_place(2)
    )
    own = np.array([_number(text)], np.uint64)
    (rows,) = meet(ranks, words, lambda: _gathering(ranks).communicate([own]))
    parts = np.asarray(rows).reshape(copies, each)
    unlike = np.argwhere(parts != parts[0])
    if len(unlike):
        group, place = map(int, unlike[0])
        told = {"first": place, "rank": group * each + place, "stages": copies, "each": each}
        text = errors.OTHER_PARTS.format(what=what, place=words.place, **told)
        watch.failure = errors.TogetherError(text)
        raise watch.failure


def _layout_of(array) -> tuple:
    return array.shape, str(array.dtype), getattr(array, "sharding", None)


_texts: dict[tuple, int] = {}


def _digest_of(function: Any, layouts: tuple, arrays) -> int:
    """Of the text that XLA is given to compile: the same only if what is sent is the same."""
    key = function, layouts
    known = _texts.get(key)
    if known is None:
        if len(_texts) > MOST_KNOWN:
            _texts.clear()
        known = _texts[key] = _number(function.lower(*arrays).as_text())
    return known


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@functools.cache
def _gathering(ranks: tuple[int, ...]) -> Collective:
    return Collective("the comparison of programs", lambda x: (lax.all_gather(x, AXIS),), ranks)


def _other_numbers(watch, ranks, entered: list[tuple[str, str]], words: Words) -> str:
    """The error of what is not the same in all processes; empty if other things were laid out."""
    found = watch.tell_all(ranks, json.dumps(entered), "entered")
    told = [json.loads(found[rank]) for rank in ranks if rank in found]
    lists = [[name for name, _ in one] for one in told]
    if any(names != lists[0] for names in lists):
        return ""
    for position, (name, digest) in enumerate(entered):
        if any(one[position][1] != digest for one in told):
            return errors.OTHER_NUMBERS.format(what=name, rank=world.rank, place=words.place)
    return ""


def in_words(nodes: list[Node]) -> str:
    """A program in words."""
    names = [node.signature.op.name for node in nodes]
    some = names if len(names) < 4 else [names[0], names[1], "…", names[-1]]
    return f"a program of {len(names)} operators [{', '.join(some)}]"


def what_is_computed(nodes: list[Node], guards) -> str:
    """What a program computes, as it is told in every process."""
    known = [
        (node.signature.op.name, [str(aval.struct) for aval in node.signature.outputs], node.inputs)
        for node in nodes
    ]
    return f"{known} {guards}"
