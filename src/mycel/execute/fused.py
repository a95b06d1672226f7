# SPDX-License-Identifier: Apache-2.0
"""The fused executor: a segment becomes one executable, found again by its structure."""

from __future__ import annotations

from mycel.base.places import NOWHERE
from mycel.define.op import signatures
from mycel.execute.compile import Executable, decode, executables
from mycel.execute.direct import run_operator
from mycel.execute.ledger import ledger
from mycel.record.packed import Packed
from mycel.record.stream import Segment, demand, place_of
from mycel.record.value import Poison, Value

# New structures of one set of operations that are compiled at once; later ones run operator by
# operator until they are seen again, so that a program whose shapes keep changing does not
# compile for ever.
COMPILED_AT_ONCE = 2


def run_segment(segment: Segment) -> None:
    """Run a closed segment and fill in the Values that are still held."""
    held = [
        (slot, value)
        for slot, output in enumerate(segment.outputs)
        if (value := output()) is not None
    ]
    capture = segment.stream.capture
    if capture is not None:
        capture.close(segment, held)
    try:
        if held:
            _fill(segment, held)
    finally:
        for _, value in held:
            value.segment = None
        segment.clear()
    if ledger.limits:
        ledger.raise_if_over()


def _fill(segment, held):
    live = tuple([slot for slot, _ in held])
    key = tuple(segment.key)
    executable = executables.get(key, live)
    arrays = _arrays(segment)
    ledger.ran(executable.size)
    try:
        if _compile_now(executable, key):
            results = executable(arrays)
        else:
            results = run_by_operator(key, live, arrays, segment.places)
    except Exception:
        # Once more, one by one: what can be computed is, the rest tells what failed and where.
        results = run_by_operator(key, live, arrays, segment.places)
    except BaseException as interruption:
        place = segment.place(0)
        for _, value in held:
            value.array = Poison("the segment", place, interruption)
        raise
    for (_, value), array in zip(held, results, strict=True):
        value.array = array


def _arrays(segment: Segment) -> list:
    if segment.has_packed:
        return [demand(value) for value in segment.externals]
    return [value.array for value in segment.externals]


def _compile_now(executable: Executable, key) -> bool:
    if executable.compiled or executable.runs > 1:
        return True
    return executables.family_count(key) <= COMPILED_AT_ONCE


def run_by_operator(key, live, arrays, places) -> list:
    """Run a record operator by operator, without what nobody needs, freeing as it goes.

    An operator that fails poisons its outputs and what depends on them; the rest survives.
    """
    nodes = decode(key)
    needed, last_use = set(live), {}
    kept = []
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        outputs = range(node.first, node.first + len(node.signature.outputs))
        if node.signature.op.fallible or any(slot in needed for slot in outputs):
            kept.append(index)
            for slot in node.inputs:
                if slot >= 0 and slot not in needed:
                    needed.add(slot)
                    last_use.setdefault(index, []).append(slot)
    made: dict = {}
    for index in reversed(kept):
        node = nodes[index]
        inputs = [made[s] if s >= 0 else arrays[-1 - s] for s in node.inputs]
        place = place_of(places, index) if places else NOWHERE
        for offset, result in enumerate(_run_or_poison(node.signature, inputs, place)):
            made[node.first + offset] = result
        for slot in last_use.get(index, ()):
            del made[slot]
    return [made[slot] if slot >= 0 else arrays[-1 - slot] for slot in live]


def _run_or_poison(signature, inputs, place):
    for given in inputs:
        if given.__class__ is Poison:
            lost = Poison(signature.op.name, place, given.cause, given.culprit, given.where)
            return [lost] * len(signature.outputs)
    try:
        return run_operator(signature, inputs, place)
    except RuntimeError as error:
        cause = error.__cause__ or error
        return [Poison(signature.op.name, place, cause)] * len(signature.outputs)


def run_for_another(value: Value) -> None:
    """Compute a Value that is pending elsewhere: packed with others, or on another thread, from a
    copy of that thread's record.

    The record is only ever appended to, and cleared only after every Value has its array: if the
    copy does not reach the Value, its array is there.
    """
    segment = value.segment
    if segment is None:
        return
    if isinstance(segment, Packed):
        value.array, value.segment = segment.take(value.slot), None
        return
    places, externals, key = segment.places[:], segment.externals[:], segment.key[:]
    end = position = first = 0
    while position < len(key) and first <= value.slot:
        signature = signatures[key[position]]
        first += len(signature.outputs)
        position += 1 + signature.arity
        end += 1
    if first <= value.slot:
        return
    arrays = [demand(external) for external in externals]
    live = (value.slot,)
    value.array = run_by_operator(key[:position], live, arrays, places[: 3 * end])[0]
