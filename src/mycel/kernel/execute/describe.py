# SPDX-License-Identifier: Apache-2.0
"""What is said about values that are not finite: which operator made them, of what, and how they
reached the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mycel.kernel.base.errors import NonFiniteError
from mycel.kernel.base.places import Place, path_of
from mycel.kernel.define.aval import aval_of
from mycel.kernel.record.value import Poison

if TYPE_CHECKING:
    from mycel.kernel.execute.numerics import Examination, Origin

# So many operators of a way are named: the first ones and the last.
MOST_NAMED = 6
_PUT_BACK = "Parameters, optimizer states and the random state are what they were before this step."
# What to write instead, by the operator.
_REMEDIES = {
    "log": "log(x) needs x > 0: use log(x + eps), or log_softmax for probabilities",
    "log_softmax": "a row of its input is -inf throughout, or has infinities: mask with a large "
    "negative number",
    "softmax": "a row of its input is -inf throughout, or has infinities: mask with a large "
    "negative number",
    "sqrt": "the derivative of sqrt(x) at 0 is infinite: use sqrt(x + eps)",
    "norm": "the derivative of a norm at 0 is not defined: add eps below the root",
    "div": "a divisor is 0: add eps to it, or choose another one where it is 0 (before dividing: "
    "what `where` does not choose still has a derivative)",
    "exp": "exp(x) overflows: subtract the largest x first, or use softmax or logsumexp",
    "pow": "a power of 0 or of a negative number is not defined here, or its derivative is not",
    "cast": "the number is too large for its new type: scale it, or use bfloat16",
}
_ALIKE = {
    "log2": "log", "log10": "log", "log1p": "log", "rsqrt": "div", "reciprocal": "div",
    "true_divide": "div", "divide": "div", "real_div": "div", "expm1": "exp", "astype": "cast",
    "square_root": "sqrt", "power": "pow",
}  # fmt: skip


class Name(NamedTuple):
    """The name of an Op, taken apart.

    Attributes:
        operator: the operator that it is made of.
        maps: how often `vmap` is around it; `rows`: how many of its first axes are rows of that.
        reverse: whether it is a reverse.
    """

    operator: str
    maps: int
    rows: int
    reverse: bool


def name_of(op: str) -> Name:
    """Take apart the name of an Op, as `vmap(log')`."""
    maps, rows, reverse = 0, 0, False
    while True:
        if op.endswith("'"):
            op, reverse = op[:-1], True
        elif op.startswith("vmap(") and op.endswith(")"):
            op, maps, rows = op[5:-1], maps + 1, rows + (not reverse)
        else:
            return Name(op, maps, rows, reverse)


def describe_array(array) -> str:
    """Type, shape, range, and how much of it is not finite."""
    if array.__class__ is Poison:
        return "the result of an operator that failed"
    numbers = np.asarray(array)
    name = str(aval_of(numbers.shape, numbers.dtype))
    real = numbers.dtype.kind in "iuf" or "float" in numbers.dtype.name
    if not numbers.size or not real:
        return name
    wide = numbers.astype(np.float64)
    finite = np.isfinite(wide)
    counts = [
        f"{int(np.sum(test))} {word}"
        for word, test in (
            ("NaN", np.isnan(wide)),
            ("inf", wide == np.inf),
            ("-inf", wide == -np.inf),
        )
        if test.any()
    ]
    text = name
    if finite.any():
        low, high = wide[finite].min(), wide[finite].max()
        text += f" = {low:.6g}" if numbers.size == 1 else f" from {low:.6g} to {high:.6g}"
    if counts:
        text += f", {' and '.join(counts)} of {numbers.size}"
    return text


def describe_origin(
    step: int, seen: Examination, origin: Origin, path: list[int], names: dict[int, str]
) -> NonFiniteError:
    """The error for values that an operator made."""
    place, phase = seen.place(origin.index), seen.phase(origin.index)
    name = name_of(origin.operator)
    rows = list(origin.element[: name.rows])
    batch = rows[0] if rows else _batch_element(origin, seen.first_lengths(names))
    made = "NaN" if origin.state & 2 else "an infinity"
    lines = [
        f"step {step}: {_called(name, phase)} at {place} makes {made}"
        f"{'' if _has_infinite_input(origin) else ' from finite values'}.",
    ]
    node = seen.nodes[origin.index]
    for number, (slot, text) in enumerate(zip(node.inputs, origin.inputs, strict=True)):
        known = names.get(-1 - slot, "") if slot < 0 else ""
        lines.append(f"  input {number}: {known + ': ' if known else ''}{text}")
    where = f", first at {list(origin.element)}" if origin.element else ""
    if rows:
        where += f" (row {', '.join(map(str, rows))} of vmap)"
    elif batch is not None:
        where += f" (batch element {batch})"
    lines.append(f"  output: {origin.output}{where}")
    lines.append(f"  way to the result: {_way(seen, path)}")
    remedy = _REMEDIES.get(_ALIKE.get(name.operator, name.operator))
    if remedy:
        lines.append(f"  {remedy}.")
    lines.append(_PUT_BACK)
    text, cell = "\n".join(lines), path_of(place.called)
    return NonFiniteError(text, step, name.operator, phase, place, cell, origin.element, batch)


def describe_host(
    step: int, operator: str, place: Place, cell: str, inputs, outputs, number: int
) -> NonFiniteError:
    """The error for NaN that a function on the host made, defined at a place."""
    numbers = np.asarray(outputs[number])
    element = tuple(map(int, np.unravel_index(int(np.argmax(np.isnan(numbers))), numbers.shape)))
    lines = [
        f"step {step}: {operator}, defined at {place}, makes NaN on the host.",
        *[f"  input {n}: {describe_array(array)}" for n, array in enumerate(inputs)],
        f"  output: {describe_array(numbers)}, first at {list(element)}",
        _PUT_BACK,
    ]
    return NonFiniteError("\n".join(lines), step, operator, "forward", place, cell, element, None)


def describe_outside(
    step: int, seen: Examination, path: list[int], names: dict[int, str]
) -> NonFiniteError:
    """The error for NaN that came into the step from outside."""
    position = -1 - path[0]
    name = names.get(position, "a value from outside")
    numbers = np.asarray(seen.arrays[position])
    element = tuple(map(int, np.unravel_index(int(np.argmax(np.isnan(numbers))), numbers.shape)))
    index = seen.node_of(path[1]) if len(path) > 1 else None
    place = seen.place(index) if index is not None else Place(None, 0)
    lines = [
        f"step {step}: {name} has NaN before the step begins: {describe_array(numbers)}, first at "
        f"{list(element)}. It is first used at {place}.",
        f"  way to the result: {_way(seen, path)}",
        _PUT_BACK,
    ]
    cell = path_of(place.called)
    text = "\n".join(lines)
    return NonFiniteError(text, step, "", "outside", place, cell, element, None)


def describe_suspicion(step: int) -> str:
    """The warning where compiled and one by one operators give different things."""
    return (
        f"step {step}: the compiled program made values that are not finite, but its operators one "
        "by one do not. The step goes on with the values of the operators one by one."
    )


def _called(name: Name, phase: str) -> str:
    operator = name.operator + (" inside vmap" if name.maps else "")
    if name.reverse:
        return f"the derivative of {operator}, whose forward is"
    return operator if phase == "forward" else f"{operator} (in the {phase})"


def _has_infinite_input(origin: Origin) -> bool:
    return any("inf" in text for text in origin.inputs)


def _way(seen: Examination, path: list[int]) -> str:
    words: list[str] = []
    for slot in path:
        if slot < 0:
            continue
        index = seen.node_of(slot)
        place = seen.place(index)
        line = f" ({place.file.rsplit('/', 1)[-1]}:{place.line})" if place.code else ""
        word = f"{seen.nodes[index].signature.op.name}{line}"
        if not words or words[-1] != word:
            words.append(word)
    if len(words) > MOST_NAMED:
        half = MOST_NAMED // 2
        words = [*words[:half], f"… {len(words) - 2 * half} more …", *words[-half:]]
    return " -> ".join(words)


def _batch_element(origin: Origin, lengths: list[int]) -> int | None:
    """The index along the first axis, if that is as long as the one of what the step was given."""
    shape = origin.output.partition("[")[2].partition("]")[0].split(", ")
    if not origin.element or not shape[0].isdigit():
        return None
    return origin.element[0] if int(shape[0]) > 1 and int(shape[0]) in lengths else None
