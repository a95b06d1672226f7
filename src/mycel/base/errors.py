# SPDX-License-Identifier: Apache-2.0
"""What we say when something goes wrong: what happened, where, and what to write instead."""

from __future__ import annotations

from mycel.base.places import user_place

OPERATOR_INPUT = "{operator}({inputs}) at {place}: {reason}"
OPERATOR_FAILED = "The operator {operator}, recorded at {place}, failed: {reason}"
OPERATOR_LOST = (
    "This value was to come from {operator} at {place}, which needs the result of "
    "{culprit} (recorded at {culprit_place}); that one failed: {reason}"
)
UNKNOWN_DEVICE = (
    "device_target={target!r} is not available at {place}; this machine has {available}. "
    "Set the environment variable {variable} to run the script unchanged on one of these."
)
UNKNOWN_TARGET = "device_target must be one of {known}, but {target!r} was given at {place}."
UNKNOWN_CONTEXT = (
    "set_context has no setting {name!r} (at {place}). Nearest: {nearest}. "
    "Settings with an effect: {known}."
)
WRONG_VALUE = "{what} must be {expected}, but {actual} was given at {place}."
ASSIGN_SHAPE = (
    "{target} has shape {expected}, but a value of shape {actual} was assigned at {place}. "
    "Assign a value of the same shape{remedy}."
)
ASSIGN_DTYPE = (
    "{target} has dtype {expected}, which cannot hold {actual} without loss (assigned at {place})."
    " Cast the value first: value.astype(mycel.{name})."
)
BOOL_OF_MANY = (
    "The truth of a Tensor of shape {shape} is ambiguous (at {place}); use .any() or .all()."
)
NUMBER_OF_MANY = "Only a Tensor with one element is a {kind}, not shape {shape} (at {place})."
ITERATE_SCALAR = "A Tensor without dimensions cannot be iterated (at {place})."
BUDGET = (
    "The budget of {limit} {what} is used up: number {count} is {label} at {place}. "
    "mycel.debug.ledger() lists them all with their reasons."
)
IN_PLACE_SHAPE = (
    "{name}_() keeps the shape of its Tensor, {before}, but the result has {after} (at {place}). "
    "Write x = x.{name}(...)."
)
IN_PLACE_KIND = (
    "{name}_() keeps the type of its Tensor, {before}, but the result is {after} (at {place}). "
    "Convert the Tensor first, or write x = x.{name}(...)."
)
UNKNOWN_KEYWORD = (
    "{name}() has no keyword {keyword!r} (at {place}); it takes {known}; nearest: {nearest}."
)
OPEN_TENSOR = (
    "A Tensor of shape {shape} has no values (at {place}): a length that is None or -1 announces "
    "an input, for Cell.set_inputs and export. Give all lengths, or data."
)
DUPLICATE_PARAMETER = (
    "{owner}: the name {name!r} is already used by another Parameter of this Cell (at {place}). "
    "Give each Parameter its own name: Parameter(..., name='...')."
)


GOES_ANOTHER_WAY = (
    "{name} goes another way to its hook {site} (at {place}) than when it was remembered, after "
    "hooks of this call have run on what was remembered. It reads Python state that such a hook "
    "has changed. Keep that state under a name of its own, in a Parameter or in an attribute of "
    "a Cell."
)


class HookOrderError(RuntimeError):
    """A remembered function read Python state that its own hooks change later in the call."""


class BudgetError(RuntimeError):
    """A budget set with `mycel.debug.budget` was used up."""


def wrong(kind: type, what: str, expected: str, actual) -> Exception:
    """An error of this kind for a bad argument, with the user's line."""
    return kind(
        WRONG_VALUE.format(what=what, expected=expected, actual=actual, place=user_place(2))
    )


def describe_inputs(avals) -> str:
    """`Float32[3, 4], Int32[]` for error texts."""
    return ", ".join(str(aval) for aval in avals)
