# SPDX-License-Identifier: Apache-2.0
"""What is said about values that are not finite: which operator made them, of what, and how they
reached the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.division import fetched
from mycel.kernel.base.errors import NonFiniteError
from mycel.kernel.base.places import Place, path_of
from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.names import Name, name_of
from mycel.kernel.record.value import Poison

if TYPE_CHECKING:
    from mycel.kernel.execute.numerics import Examination, Origin

# So many operators of a way are named: the first ones and the last.
MOST_NAMED = 6
_PUT_BACK = "Parameters, optimizer states and the random state are what they were before this step."
# What an operator among processes gave.
_OF_OTHERS = (
    f"{errors.NOT_FINITE_OF_ANOTHER}, and its own error names the operator that made it, or the "
    "values are too large together"
)
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
    "pow": "a power of 0 or of a negative number is not defined here, or its derivative is not; "
    "one of a large number overflows",
    "cast": "the number is too large for its new type: scale it, or use bfloat16",
}
_ALIKE = {
    "log2": "log", "log10": "log", "log1p": "log", "rsqrt": "div", "reciprocal": "div",
    "true_divide": "div", "divide": "div", "real_div": "div", "expm1": "exp", "astype": "cast",
    "square_root": "sqrt", "power": "pow",
}  # fmt: skip


def describe_array(array) -> str:
    """Type, shape, range, and how much of it is not finite."""
    if array.__class__ is Poison:
        return "the result of an operator that failed"
    numbers = fetched(array)
    name = str(aval_of(numbers.shape, numbers.dtype))
    real = numbers.dtype.kind in "iuf" or "float" in numbers.dtype.name
    if not numbers.size or not real:
        return name
    if numbers.dtype.isbuiltin != 1:  # a type of ml_dtypes
        numbers = numbers.astype(np.float32)
    finite = np.isfinite(numbers)
    whole = finite.all()
    counts = [
        f"{count} {word}"
        for word, found in (("NaN", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf))
        if not whole and (count := np.count_nonzero(found(numbers)))
    ]
    text = name
    if whole or finite.any():
        seen = numbers if whole else numbers[finite]
        low, high = float(seen.min()), float(seen.max())
        text += f" = {low:.6g}" if numbers.size == 1 else f" from {low:.6g} to {high:.6g}"
    if counts:
        text += f", {' and '.join(counts)} of {numbers.size}"
    return text


def describe_origin(
    step: int, seen: Examination, origin: Origin, path: list[int], names: dict[int, str]
) -> NonFiniteError:
    """The error for values that an operator made."""
    place, phase = seen.place(origin.index), seen.phase(origin.index)
    name = name_of(origin.operator)._replace(operator=origin.public)
    output = fetched(origin.output)
    element = _first(~np.isfinite(output))
    rows = list(element[: name.rows])
    lengths = seen.first_lengths(names)
    batch = rows[0] if rows else _batch_element(element, output.shape, lengths)
    made = "NaN" if origin.state & 2 else "an infinity"
    lines = [
        f"step {step}: {_called(name, phase)} at {place} makes {made}"
        f"{' from finite values' if origin.of_finite else ''}.",
    ]
    node = seen.nodes[origin.index]
    for number, (slot, array) in enumerate(zip(node.inputs, origin.inputs, strict=True)):
        known = names.get(-1 - slot, "") if slot < 0 else ""
        lines.append(f"  input {number}: {known + ': ' if known else ''}{describe_array(array)}")
    where = f", first at {list(element)}" if element else ""
    if rows:
        where += f" (row {', '.join(map(str, rows))} of vmap)"
    elif batch is not None:
        where += f" (batch element {batch})"
    lines.append(f"  output: {describe_array(output)}{where}")
    lines.append(f"  way to the result: {_way(seen, path)}")
    remedy = _REMEDIES.get(_ALIKE.get(name.operator, name.operator))
    if node.signature.op.collective:
        remedy = _OF_OTHERS
    if remedy:
        lines.append(f"  {remedy}.")
    lines.append(_PUT_BACK)
    text, cell = "\n".join(lines), path_of(place.called)
    return NonFiniteError(text, step, name.operator, phase, place, cell, element, batch)


def describe_host(
    step: int, operator: str, place: Place, cell: str, inputs, outputs, number: int
) -> NonFiniteError:
    """The error for NaN that a function on the host made, defined at a place."""
    numbers = fetched(outputs[number])
    element = _first(np.isnan(numbers))
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
    numbers = fetched(seen.arrays[position])
    element = _first(np.isnan(numbers))
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


def _first(test: np.ndarray) -> tuple[int, ...]:
    """The index of the first element that is True."""
    return tuple([int(i) for i in np.unravel_index(int(np.argmax(test)), test.shape)])


def _way(seen: Examination, path: list[int]) -> str:
    words: list[str] = []
    for slot in path:
        if slot < 0:
            continue
        index = seen.node_of(slot)
        place = seen.place(index)
        line = f" ({place.file.rsplit('/', 1)[-1]}:{place.line})" if place.code else ""
        op = seen.nodes[index].signature.op
        word = f"{op.called('')}{line}"
        if not words or words[-1] != word:
            words.append(word)
    if len(words) > MOST_NAMED:
        half = MOST_NAMED // 2
        words = [*words[:half], f"… {len(words) - 2 * half} more …", *words[-half:]]
    return " -> ".join(words)


def _batch_element(element: tuple[int, ...], shape: tuple[int, ...], lengths) -> int | None:
    """The index along the first axis, if that is as long as the one of what the step was given."""
    return element[0] if element and shape[0] > 1 and shape[0] in lengths else None
