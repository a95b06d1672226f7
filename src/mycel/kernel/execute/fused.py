# SPDX-License-Identifier: Apache-2.0
"""The fused executor: a segment becomes one executable, found again by its structure."""

from __future__ import annotations

from logging import WARNING
from time import perf_counter

from mycel.kernel.base import backend, log
from mycel.kernel.base.context import context
from mycel.kernel.base.errors import TogetherError
from mycel.kernel.base.places import NOWHERE
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.execute.changing import (
    COMPILED_AT_ONCE,
    COMPILED_IF_DYNAMIC,
    Plan,
    as_arrays,
    families,
    run_opened,
    seconds_to_compile,
)
from mycel.kernel.execute.changing import plan as plan_of
from mycel.kernel.execute.checks import Tripped, has_wrong_index, slots_assigned, take_back
from mycel.kernel.execute.communicate import forget_repeats
from mycel.kernel.execute.compile import (
    Divided,
    Executable,
    NotFinite,
    Together,
    decode,
    executables,
)
from mycel.kernel.execute.direct import poison_of, run_operator
from mycel.kernel.execute.numerics import Examination, present_steps
from mycel.kernel.record.stream import MOST_BYTES, PADDED, Segment, demand, local, machine, place_of
from mycel.kernel.record.value import Observer, Poison


def run_segment(segment: Segment, capture: Observer | None) -> None:
    """Run a closed segment and fill in the Values that are still held.

    Where an exception from outside breaks it off, the segment stays as it was, for the Values that
    have no array yet. It may run again, also while it runs: the handler of a signal may look at
    one of its Values. So its parts are taken at once.
    """
    outputs, key, externals = segment.outputs, segment.key, segment.externals
    places, assigned = segment.places, segment.assigned
    held = [(slot, value) for slot, output in enumerate(outputs) if (value := output()) is not None]
    if capture is not None:
        capture.close(segment, held)
    wrong = None
    pending = held
    if segment.bytes > MOST_BYTES:
        # Another thread may have computed some for itself. What failed is to be told here too.
        pending = [(s, v) for s, v in held if v.array is None or v.array.__class__ is Poison]
    if pending or segment.gradients:
        noted = assigned, segment.gradients, len(pending) < len(held)
        wrong = _fill(pending, key, externals, segment.has_pending, places, *noted)
    segment.clear()
    if wrong is not None:
        raise wrong
    if machine.account.limits:
        machine.account.raise_if_over()


def _fill(
    held, key, externals, has_pending, places, assigned, gradients, is_rest
) -> Exception | None:
    """Compute what is held; the error of the first wrong index, or of what is not finite.

    Args:
        is_rest: whether it is what another thread has left, which is not compiled: it is another
            part each time.
    """
    live, key = tuple([slot for slot, _ in held]), tuple(key)
    steps = present_steps() if context.check_numerics else None
    if steps is not None:
        steps.before(key, externals)
        steps.assigned(assigned)
    executable = executables.get(key, live)
    arrays = [demand(v) for v in externals] if has_pending else [v.array for v in externals]
    machine.account.ran(executable.size)
    if machine.on_record is not None and not (steps is not None and steps.one_by_one):
        machine.on_record(executable, key, places, arrays, live)
    wrong: list = []
    one_by_one = steps is not None and steps.one_by_one
    seen = None
    how = None if one_by_one or is_rest else _how(executable, key, steps is None)
    try:
        if how is COMPILED:
            together = isinstance(executable, Together)
            results = executable(arrays, places) if together else executable(arrays)
        else:
            assert not isinstance(how, str)
            seen = None if steps is None else Examination(key, arrays, places, gradients)
            begun = perf_counter()
            results = run_by_operator(key, live, arrays, places, wrong, seen, how)
            if how is not None or executable.runs > 1:  # else operators were compiled
                executable.spent += perf_counter() - begun
    except Exception as error:
        # Not so what the program itself found, which nothing of a signal's handler raised: to look
        # at the frames of an exception makes a cycle of them in Python 3.11.
        if not isinstance(error, Tripped) and came_from_outside(error):
            raise
        if isinstance(error, TogetherError) and isinstance(executable, Divided):
            # Nothing of it can be computed: its operators would not meet the others either.
            return _poison_all(held, key, places, error)
        # Once more, one by one: what can be computed is, the rest tells what failed and where.
        seen = None if steps is None else Examination(key, arrays, places, gradients)
        try:
            results = run_by_operator(key, live, arrays, places, wrong, seen)
        finally:
            forget_repeats()
        if not (wrong or isinstance(error, Tripped) or any(isinstance(r, Poison) for r in results)):
            told = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            log.note_once(NOT_AS_ONE.format(size=executable.size, told=told), WARNING)
        if isinstance(error, NotFinite) and seen is not None and not seen.finds(live):
            assert steps is not None
            steps.differs()
    for (_, value), array in zip(held, results, strict=True):
        # Together, whatever interrupts: nothing is called in between.
        value.array = array
        value.source = None
    if wrong:
        first, poison = wrong[0]
        again = slots_assigned(assigned, first)
        results = run_by_operator(key, again, arrays, places) if again else ()
        take_back(assigned, first, dict(zip(again, results, strict=True)))
        return poison.error()
    if steps is not None and seen is not None:
        return steps.judge(seen, held, externals)
    return None


def _poison_all(held, key, places, error: TogetherError) -> None:
    """Let whoever looks at what is held be told why it was not computed."""
    nodes = decode(key)
    made_by = {
        node.first + offset: number
        for number, node in enumerate(nodes)
        for offset in range(len(node.signature.outputs))
    }
    for slot, value in held:
        number = made_by[slot]
        value.array = poison_of(nodes[number].signature, place_of(places, number), error)
        value.source = None


NOT_AS_ONE = (
    "mycel: a program of {size} operators could not be compiled or run as one ({told}); its "
    "operators ran one by one, which is slower. The results are right."
)
COMPILED = "compiled"
# A record of so many operators, each kind of them so often on average, is a loop of Python's, as
# over the elements of a Tensor.
LOOP_SIZE, LOOP_TURNS = 256, 32


def _how(executable: Executable, key, may_be_opened: bool) -> str | Plan | None:
    """How a record runs: `COMPILED`; operator by operator, those without being compiled whose
    shapes changed; or, where that is None, operator by operator."""
    if executable.compiled:
        return COMPILED
    new, dynamic = executable.runs == 1, local.stream.dynamic
    if new:
        # Or another structure of operators that were compiled, or soon are.
        executable.waits = _is_loop(executable) or (
            not dynamic and executables.family_count(key) > COMPILED_AT_ONCE
        )
    if executable.waits and (new or _is_to_wait(executable)):
        return None
    family = families.of(key)
    if dynamic:
        family.at_once = COMPILED_IF_DYNAMIC
    if new:
        family.see(key)
    if new and dynamic == PADDED and families.padding(key).pad(executable):
        return COMPILED
    if family.count <= family.at_once:
        return COMPILED
    how = None
    may_be_opened = may_be_opened and not isinstance(executable, Together)
    waits = executable.spent < family.patience(executable.size)
    if waits and may_be_opened and backend.on_one_cpu():
        how = plan_of(family.other_than(key), key)
        if how.changed and not how.refused:
            machine.account.changes(executable.size, "")
            return how
    if how is not None and how.changed:
        machine.account.changes(executable.size, how.refused)
    executables.keep_few(family, executable)
    return COMPILED


def _is_to_wait(executable: Executable) -> bool:
    """Whether its runs have taken less than to compile it takes: nothing that several processes do
    together, for which each has its own clock."""
    short = executable.spent < seconds_to_compile(executable.size)
    return short and executable.on_one_device


def _is_loop(executable: Executable) -> bool:
    """Whether a record is long, and the same few operators over and over."""
    if executable.size < LOOP_SIZE:
        return False
    kinds = {node.signature.id for node in executable.parts[0]}
    return executable.size >= LOOP_TURNS * len(kinds)


def run_by_operator(
    key,
    live,
    arrays,
    places,
    wrong: list | None = None,
    seen: Examination | None = None,
    plan: Plan | None = None,
) -> list:
    """Run a record operator by operator, without what nobody needs, freeing as it goes.

    An operator that fails poisons its outputs and what depends on them; the rest survives.

    Args:
        wrong: gets the first node that had a wrong index: the slot of its first output, and what
            poisons that.
        seen: looks at what each operator is given and gives.
        plan: what of it runs without being compiled.
    """
    nodes = decode(key)
    needed, last_use = set(live), {}
    kept = []
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        outputs = range(node.first, node.first + len(node.signature.outputs))
        looked_at = wrong is not None and node.signature.bounds
        fails = node.signature.op.fallible or looked_at or seen is not None
        if fails or any(slot in needed for slot in outputs):
            kept.append(index)
            for slot in node.inputs:
                if slot >= 0 and slot not in needed:
                    needed.add(slot)
                    last_use.setdefault(index, []).append(slot)
    by_slot: dict = {}
    for index in reversed(kept):
        node = nodes[index]
        inputs = [by_slot[s] if s >= 0 else arrays[-1 - s] for s in node.inputs]
        place = place_of(places, index) if places else NOWHERE
        results = _run_or_poison(node.signature, inputs, place, plan)
        for offset, result in enumerate(results):
            by_slot[node.first + offset] = result
        if wrong is not None and not wrong and has_wrong_index(results[0]):
            wrong.append((node.first, results[0]))
        if seen is not None:
            seen.run(index, node, inputs, results)
            for slot in range(node.first, node.first + len(results)):
                if slot not in needed:
                    del by_slot[slot]
        for slot in last_use.get(index, ()):
            del by_slot[slot]
    if seen is not None:
        seen.end()
    results = [by_slot[slot] if slot >= 0 else arrays[-1 - slot] for slot in live]
    return results if plan is None else as_arrays(results)


def run_for_another(key, live: tuple[int], arrays, places) -> list:
    """Run what one Value of another thread's record needs.

    Raises:
        NonFiniteError: it is not finite, and numerics are checked.
    """
    if not context.check_numerics:
        return run_by_operator(key, live, arrays, places)
    seen = Examination(key, arrays, places)
    results = run_by_operator(key, live, arrays, places, seen=seen)
    present_steps().judge_copy(seen, live[0], results[0].size == 1)
    return results


def _run_or_poison(signature, inputs, place, plan: Plan | None = None):
    for value in inputs:
        if value.__class__ is Poison:
            lost = poison_of(signature, place, value.cause, (value.culprit, value.where))
            return [lost] * len(signature.outputs)
    try:
        results = None if plan is None else run_opened(plan, signature, inputs, place)
        return run_operator(signature, inputs, place) if results is None else results
    except RuntimeError as error:
        if came_from_outside(error):
            raise
        cause = error.__cause__ or error
        return [poison_of(signature, place, cause)] * len(signature.outputs)
