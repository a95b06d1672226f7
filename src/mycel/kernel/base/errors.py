# SPDX-License-Identifier: Apache-2.0
"""What we say when something goes wrong: what happened, where, and what to write instead."""

from __future__ import annotations

from mycel.kernel.base.places import user_place
from mycel.kernel.base.where import tell_place

OPERATOR_INPUT = "{operator}({inputs}) at {place}: {reason}"
OPERATOR_FAILED = "The operator {operator}, recorded at {place}, failed: {reason}"
ITS_INPUTS = " (its inputs: {inputs})"
OPERATOR_LOST = (
    "This value was to come from {operator} at {place}, which needs the result of "
    "{culprit} (recorded at {culprit_place}); that one failed: {reason}"
)
NOT_JOINED = (
    "Process {rank} of {size} did not meet the others at {address}: {reason}. Is each of them "
    "started, with the same address and number? MYCEL_TIMEOUT says how many seconds to wait."
)
MANY_PROCESSES = (
    "This program was started as one of {count} processes ({variable}={count}), but nothing tells "
    "where they meet (at {place}). Start them with `mycel launch` or `msrun` of mycel {version}, "
    "or unset {variable}; with one process every collective operator hands on its "
    "input."
)
BECAUSE_OF_ANOTHER = "Another process may have ended"
NOT_FINITE_OF_ANOTHER = "what this process gave is finite: another one gave what is not"
NOT_TOGETHER = (
    "{operator} failed in process {rank} of {size}: {reason}. " + BECAUSE_OF_ANOTHER + ", may "
    "be late by more than {seconds} seconds (MYCEL_TIMEOUT), or may have called another operator. "
    "Before it, this process called: {before}.{others}"
)
MISMATCH = (
    "{operator} in process {rank} of {size} meets another operator. The processes of a group must "
    "call the same operators in the same order, with the same shapes and element types:{others}"
)
SURPRISE = (
    "{operator} in process {rank} of {size}: {reason}. What one process sends to another must be "
    "as long as what that one expects of it:{others}"
)
# What processes call that have had all batches of an epoch.
END_OF_EPOCH = "the end of the epoch"
ALONE_AT_ITS_END = (
    "\nOne is at the end of its epoch and the others are not: it has fewer batches (give every "
    "process as many, as num_shards and drop_remainder do), or a callback stopped it alone."
)
OTHER_PROGRAM = (
    "{program} in process {rank} of {size} meets another program. Where whole Tensors are divided "
    "among processes, all of them compute the same, and look at values at the same places; only "
    "what every device has whole, as a loss that was computed, may be looked at by one alone. They "
    "run:{others}"
)
OTHER_NUMBERS = (
    "{what} is not the same in process {rank} as in others (at {place}). Where whole Tensors are "
    "divided among processes, each process makes the same ones: call set_seed with the same number "
    "in all of them before Parameters are made; and what is a part of a batch goes through the "
    "inputs of the outermost Cell, compiled function or derivative, with full_batch=False."
)
OTHER_PARTS = (
    "{what} of process {rank} is not that of process {first} (at {place}). With "
    "pipeline_stages={stages}, batches are divided among the processes of a stage (here {each}), "
    "and those of the next stage have the same parts again: give every process the same batches if "
    "there is one in each stage, else shard data by get_rank() % {each}, with the same seed."
)
BROKEN_OFF = "{operator} was broken off by {error}"
NEVER_TOGETHER = "the processes wait for each other, or for one that has ended"
TOO_LATE = "the others did not come within {seconds} seconds (MYCEL_TIMEOUT)"
FAILED_BEFORE = (
    "{operator} cannot be called in process {rank}: after a failure processes do not meet any more "
    "(save what is needed, and start all of them again). What failed: {failure}"
)
CHECKED_OTHERWISE = (
    "MYCEL_CHECK_COLLECTIVES is not the same in all processes: process {rank} has {own}, process "
    "0 has {first}. Set it where they are launched."
)
REPEATED_OTHERWISE = (
    "A call ran a second time (at {place}) and called {now} where it had called {was} with the "
    "other processes. Which operators among processes are called must not depend on anything that "
    "changes within the call."
)
COLLECTIVE_IN_HOOK = (
    "A hook called {operator} in a call that is replayed, where it had not before. Call operators "
    "among processes outside of hooks, or in PyNative mode."
)
COLLECTIVE_IN_TRACE = (
    "{operator} at {place} is in a function that becomes part of another program (an export); "
    "operators among processes cannot be in one."
)
DIVIDED_IN_VMAP = (
    "Inside vmap (at {place}) an operator or Cell has a strategy of shard(), which has no part for "
    "the dimension that vmap adds. Divide what the mapped function is given and gives, outside of "
    "vmap, with ms.shard(vmap(f), in_strategy=...)."
)
FORKED = (
    "The machine was used at {place}, but this process ({process}) is a fork of one that had used "
    "it: the threads of XLA are not in a fork, and an operator would wait for them for ever. Start "
    "processes with multiprocessing.get_context('spawn') (or 'forkserver'), or fork before the "
    "first Tensor is made. A fork can read values that were there: x.asnumpy()."
)
UNKNOWN_DEVICE = (
    "{what}{number} is not available at {place}; this machine has {available}. "
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
NUMBER_OF_MANY = (
    "Only a Tensor with one element is one {kind}, not shape {shape} (at {place}); choose an "
    "element, as by x[0], or write tolist() or asnumpy()."
)
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
NOT_CALLED = (
    "What grad and value_and_grad return is a function (at {place}): call it with the inputs, as "
    "in loss, gradients = value_and_grad(forward, None, parameters)(x)."
)
GRADIENTS_OFF = (
    "What is differentiated at {place} has switched gradients off and not on again: call "
    "set_enable_grad(True) behind it, or write `with mycel.no_grad():`."
)
DUPLICATE_PARAMETER = (
    "{owner}: the name {name!r} is already used by another Parameter of this Cell (at {place}). "
    "Give each Parameter its own name: Parameter(..., name='...')."
)

WRONG_INDEX = "{operator} at {place}: the {what} {value}{where} is out of range; {allowed}."
ALLOWED = "it must lie between {low} and {most}"
ALLOWED_BELOW = "it must be {most} at most"
ALLOWED_BESIDES = ", or be {ignored}, which is not counted"
NOTHING_ALLOWED = "there is nothing to point to"
LEAST = -(1 << 63)
NO_INTEGERS = (
    "{operator} at {place}: each {what} must be an integer, but {actual} was given. "
    "Convert it: x.astype(mycel.int32)."
)
GOES_ANOTHER_WAY = (
    "{name} goes another way to its hook {site} (at {place}) than when it was remembered, after "
    "hooks of this call have run on what was remembered. It reads Python state that such a hook "
    "has changed. Keep that state under a name of its own, in a Parameter or in an attribute of "
    "a Cell."
)


class TogetherError(RuntimeError):
    """An operator among processes failed; where each of them is stands in its text."""


class OutOfRangeError(IndexError, ValueError, RuntimeError):
    """A position, class number or the like that is not there.

    MindSpore raises one of these three kinds, by the operator; programs may catch any of them.

    Example:
        >>> try:
        ...     ops.gather(Tensor([5, 6]), Tensor([2]), 0)
        ... except mycel.OutOfRangeError as error:
        ...     print(str(error).partition(": ")[2])
        the index 2 is out of range; it must lie between -2 and 1.
    """

    __module__ = "mycel"


class NoIntegersError(TypeError, ValueError):
    """Real numbers where positions or class numbers are wanted; MindSpore raises one of the two."""

    __module__ = "mycel"


class HookOrderError(RuntimeError):
    """A remembered function read Python state that its own hooks changed later in the call, and
    that cannot be set back for the function to go on from there."""

    __module__ = "mycel"


class NonFiniteError(FloatingPointError):
    """An operator made NaN or an infinity, while numerics are checked (`mycel.debug.find_nan`).

    Attributes:
        step: which step it was, from 1 on, since numerics are checked.
        operator: its name; empty for what came into the step from outside.
        phase: "forward", "reverse", "update" (what follows the reverse) or "outside".
        line: the file and line of the forward.
        cell: the path of the Cell that was called, as `Net.head`.
        element: the index of the first element that is not finite.
        batch: which element of the batch that is, or None.
    """

    __module__ = "mycel.debug"

    def __init__(self, text, step, operator, phase, place, cell, element, batch):
        super().__init__(text)
        self.step, self.operator, self.phase = step, operator, phase
        self.line = (place.file, place.line) if place.code else ("", 0)
        self.cell, self.element, self.batch = cell, element, batch


class BudgetError(RuntimeError):
    """A budget set with `mycel.debug.budget` was used up."""

    __module__ = "mycel"


# A Tensor of more elements is not written out in a message.
MOST_SHOWN = 8


def wrong(kind: type, what: str, expected: str, actual) -> Exception:
    """An error of this kind for a bad argument, with the user's line."""
    if hasattr(actual, "asnumpy") and actual.size > MOST_SHOWN:
        actual = f"a Tensor of shape {actual.shape}"
    return kind(
        WRONG_VALUE.format(what=what, expected=expected, actual=actual, place=user_place(2))
    )


def out_of_range(
    operator: str,
    place,
    what: str,
    where: str,
    ignored: int | None,
    offence: tuple[float, int, int],
) -> OutOfRangeError:
    """The error for a number that is not from one to below another: `offence` has all three."""
    value, low, high = offence
    allowed = NOTHING_ALLOWED
    if low < high:
        text = ALLOWED_BELOW if low == LEAST else ALLOWED
        allowed = text.format(low=low, most=high - 1)
        if ignored is not None:
            allowed += ALLOWED_BESIDES.format(ignored=ignored)
    error = OutOfRangeError(
        WRONG_INDEX.format(
            operator=operator, place=place, what=what, value=value, where=where, allowed=allowed
        )
    )
    tell_place(error, place)
    return error


def no_integers(operator: str, what: str, actual: str) -> NoIntegersError:
    """The error for other numbers in the place of integers."""
    return NoIntegersError(
        NO_INTEGERS.format(operator=operator, place=user_place(3), what=what, actual=actual)
    )


def describe_inputs(avals) -> str:
    """`Float32[3, 4], Int32[]` for error texts."""
    return ", ".join(str(aval) for aval in avals)
