# SPDX-License-Identifier: Apache-2.0
"""Programs of arrays that several processes hold together: all of them run each, in one order.

XLA does not look whether they do: processes that run different programs wait for each other for
ever, or add what does not belong together. So before each program they exchange four numbers, of
the program as it is to be compiled, of what it computes, of what was laid out since they met last
and is the same in all of them, and of the parts of batches that entered, which are the same in each
group of processes; if one differs, each of them raises and says what the others run.
`MYCEL_CHECK_COLLECTIVES=0`, in all processes, leaves the exchange out.
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


class _Unlike(NamedTuple):
    """What the comparison of processes found: which of their numbers are the same, and those of
    parts of a batch, a row for each group of processes."""

    same: np.ndarray
    parts: np.ndarray


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
    parts, grid.parts = grid.parts, []
    own = None
    if processes.checks():
        text = _digest_of(function, tuple([_layout_of(array) for array in arrays]), arrays)
        numbers = [text, *[_number(one) for one in (structure, json.dumps(entered))]]
        own = np.array([*numbers, _number(json.dumps(parts))], np.uint64)

    def call():
        if own is not None:
            (rows,) = _gathering(ranks).communicate([own])
            rows = np.asarray(rows)
            found = rows[:, -1].reshape(grid.copies, -1)
            same = np.append((rows == own).all(0)[:-1], (found == found[0]).all())
            if not same.all():
                return _Unlike(same, found)
        return jax.block_until_ready(function(*arrays))

    result = meet(ranks, words, call)
    if not isinstance(result, _Unlike):
        return result
    same_text, same_structure, same_entered, same_parts = result.same
    if same_entered and same_structure and same_parts and structure:
        raise OtherResults
    text = "" if same_entered else _other_numbers(watch, ranks, entered, words)
    if same_text and not same_parts:
        text = _unlike_part(result.parts, parts, words)
    if not text:
        others = watch.compare(ranks, words)
        text = errors.OTHER_PROGRAM.format(
            program=words, rank=world.rank, size=world.size, others=others
        )
    watch.failure = errors.TogetherError(text)
    raise watch.failure


def _unlike_part(found, parts: list[tuple[str, str]], words: Words) -> str:
    """The error of a group of processes that has other parts of a batch than the first one: `found`
    has the number of each process, a row for each group."""
    group, place = map(int, np.argwhere(found != found[0])[0])
    count, each = found.shape
    what = ", ".join(name for name, _ in parts) or "A part of a batch"
    told = {"first": place, "rank": group * each + place, "stages": count, "each": each}
    return errors.OTHER_PARTS.format(what=what, place=words.place, **told)


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
