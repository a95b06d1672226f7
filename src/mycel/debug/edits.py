# SPDX-License-Identifier: Apache-2.0
"""Edits: what takes the place of what a Cell or an operator gives, as data of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import bool_
from mycel.kernel.base.places import user_place
from mycel.kernel.record.data import without_tensors
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.transform.vmap import outside_of_rows

# An edit has states for so many shapes; the longest unused is forgotten.
MOST_STATES = 32
_WRITE = (
    "Write a number, an array or a Tensor (as large as what is given, or broadcast to it), "
    "(index, value) for a part, debug.Edit(value, at, strength), a function of what is given, or "
    "None for no edit."
)


class Edit(NamedTuple):
    """What takes the place of a part of what a Cell or an operator gives.

    Attributes:
        value: a number, an array or a Tensor, as large as the part or broadcast to it.
        at: the index of the part, as of NumPy; None for all of it.
        strength: how much of the value: 1 replaces the part, 0 leaves it as it is.
        add: whether the value, times its strength, is added to the part instead.
        output: which one, where a Cell gives a tuple or a list.
    """

    value: Any = 0.0
    at: Any = None
    strength: float = 1.0
    add: bool = False
    output: int = 0


def edit_of(path: str, edit) -> Edit | Callable | None:
    """An edit as it was written, checked as far as it can be before anything runs.

    Raises:
        TypeError: it is neither a value nor a function.
        ValueError: a number of it cannot be.
    """
    if edit is None or (callable(edit) and not isinstance(edit, (type, Tensor))):
        return edit
    if isinstance(edit, tuple) and not isinstance(edit, Edit) and len(edit) == 2:
        edit = Edit(edit[1], edit[0])
    elif not isinstance(edit, Edit):
        edit = Edit(edit)
    if not isinstance(edit.value, Tensor):
        edit = edit._replace(value=_numbers_of(path, edit.value))
    strength = edit.strength
    if isinstance(strength, (Tensor, np.ndarray, np.generic)) and strength.shape == ():
        strength = strength.item()
    if isinstance(strength, bool) or not isinstance(strength, (int, float)):
        raise TypeError(_wrong(path, "strength", "a number", edit.strength))
    if not np.isfinite(strength):
        raise ValueError(_wrong(path, "strength", "finite", edit.strength))
    if not isinstance(edit.add, (bool, np.bool_)):
        raise TypeError(_wrong(path, "add", "True or False", edit.add))
    if isinstance(edit.output, bool) or not isinstance(edit.output, int):
        raise TypeError(_wrong(path, "output", "the position of an output", edit.output))
    return edit._replace(strength=float(strength), add=bool(edit.add))


def _numbers_of(path: str, value) -> np.ndarray:
    """What is no Tensor as an array of numbers."""
    reason = "is no value"
    if not isinstance(value, (str, bytes, dict, set, frozenset, type)):
        try:
            numbers = np.asarray(without_tensors(value))
        except (ValueError, TypeError) as error:
            reason = f"is no array of numbers ({error})"
        else:
            if numbers.dtype.kind in "biufc" or "float" in numbers.dtype.name:
                return numbers
    written = f"{type(value).__name__} {value!r:.60}"
    raise TypeError(f"patch at {path!r} (at {user_place(4)}): {written} {reason}. {_WRITE}")


def _wrong(path: str, field: str, expected: str, actual) -> str:
    return (
        f"patch at {path!r} (at {user_place(4)}): {field} of an Edit must be {expected}, not "
        f"{type(actual).__name__} {actual!r:.60}."
    )


class State:
    """The data of an edit for outputs of one shape and element type.

    Attributes:
        value, chosen, kept, strength: Parameters: what is put in, where, how much of what there
            was is kept, and how much of the value is taken.
    """

    def __init__(self, path: str, part: Tensor):
        name = f"patch.{path or 'net'}"
        self.path, self.shape, self.dtype = path, part.shape, part.dtype

        def parameter(shape, dtype, what: str, learns=False):
            return Parameter(ops.zeros(shape, dtype), f"{name}.{what}", requires_grad=learns)

        self.value = parameter(part.shape, part.dtype, "value", True)
        self.chosen = parameter(part.shape, bool_, "chosen")
        self.kept = parameter((), part.dtype, "kept")
        self.strength = parameter((), part.dtype, "strength")

    def edited(self, part: Tensor) -> Tensor:
        """What takes the place of what is given."""
        # Not a product alone: what is not finite, times 0, is NaN.
        rest = ops.where(self.kept != 0, part * self.kept, ops.zeros_like(part))
        return ops.where(self.chosen, rest + self.value * self.strength, part)

    def prepared(self, edit: Edit | None) -> list[tuple[Parameter, Tensor]]:
        """What the Parameters have to be given for an edit; nothing is changed.

        Raises:
            IndexError: there is no such part.
            TypeError: the value is of a kind that the elements are not.
            ValueError: the value does not fit the part, or is too large for the elements.
        """
        if edit is None:
            return [(self.chosen, Tensor(np.zeros(self.shape, bool)))]
        chosen, value = np.zeros(self.shape, bool), edit.value
        at = ... if edit.at is None else _index_of(edit.at)
        try:
            chosen[at] = True
        except (IndexError, TypeError, ValueError) as error:
            raise IndexError(
                f"There is no part {edit.at!r} of {self._given()}: {error}. {_WRITE}"
            ) from None
        if isinstance(value, Tensor) and edit.at is None and value.shape == self.shape:
            self._check_kind(value.dtype.numpy, value)
            filled = value.astype(self.dtype)
        else:
            filled = Tensor(self._filled(at, edit, chosen[at].shape), self.dtype)
        kept = 1.0 if edit.add else 1.0 - edit.strength
        return [
            (self.value, filled),
            (self.chosen, Tensor(chosen)),
            (self.kept, Tensor(kept).astype(self.dtype)),
            (self.strength, Tensor(edit.strength).astype(self.dtype)),
        ]

    def _filled(self, at, edit: Edit, shape: tuple) -> np.ndarray:
        value = edit.value.asnumpy() if isinstance(edit.value, Tensor) else edit.value
        self._check_kind(value.dtype, value)
        with np.errstate(over="ignore", invalid="ignore"):
            small = value.astype(self.dtype.numpy)
        if value.dtype != small.dtype and not self._holds(value, small):
            raise ValueError(f"The value is too large for {self._given()}.")
        numbers = np.zeros(self.shape, self.dtype.numpy)
        try:
            numbers[at] = small
        except ValueError:
            where = "" if edit.at is None else f"the part at {edit.at!r} of "
            raise ValueError(
                f"The value of shape {value.shape} does not fit {shape}, the shape of {where}"
                f"{self._given()}. {_WRITE}"
            ) from None
        return numbers

    def _holds(self, value: np.ndarray, small: np.ndarray) -> bool:
        """Whether none of the numbers became too large for its new type."""
        if _kind_of(small.dtype) <= _INTEGER:
            return bool((small == value).all())
        return bool((np.isfinite(small) == np.isfinite(value)).all())

    def _check_kind(self, dtype: np.dtype, value) -> None:
        """Raise if numbers are of a wider kind than the elements, and not whole ones by chance."""
        if _kind_of(dtype) > _kind_of(self.dtype.numpy):
            # Whole numbers may be written as real ones.
            whole = _kind_of(dtype) == 2 and (np.rint(value := np.asarray(value)) == value).all()
            if not whole or _kind_of(self.dtype.numpy) != _INTEGER:
                raise TypeError(f"A value of {dtype} cannot stand in {self._given()}.")

    def _given(self) -> str:
        return f"what {self.path!r} gives, {self.dtype}{list(self.shape)}"


_INTEGER = 1


def _kind_of(dtype: np.dtype) -> int:
    """How much numbers of a type can be: truth, whole, real or complex."""
    if dtype.kind in "biu":
        return 0 if dtype.kind == "b" else _INTEGER
    return 3 if dtype.kind == "c" else 2 if "float" in dtype.name else _INTEGER


def _index_of(at):
    """An index as of NumPy: Tensors in it as arrays."""
    if isinstance(at, tuple):
        return tuple(map(_index_of, at))
    return at.asnumpy() if isinstance(at, Tensor) else at


class Site:
    """One Cell, or its operators of one name, that can be patched: its edit, and the states of
    that, by shape and element type."""

    def __init__(self, path: str, edit):
        self.path = path
        self.edit = edit
        # Whether the Cell was called.
        self.met = False
        self.states: dict[tuple, State] = {}

    def set(self, edit) -> None:
        """Exchange the edit; if it does not fit, the one that was there stays.

        Raises:
            IndexError, TypeError, ValueError: as `State.prepared`.
        """
        data, states = [], dict(self.states)
        if states and not callable(edit):
            data += states.popitem()[1].prepared(edit)
            # The latest must fit; the others belong to outputs that may not come again.
            for key, state in states.items():
                try:
                    data += state.prepared(edit)
                except (IndexError, TypeError, ValueError):
                    del self.states[key]
        for parameter, value in data:
            parameter.set_data(value)
        self.edit = edit

    def changed(self, output):
        """What takes the place of an output, or None.

        Raises:
            IndexError, TypeError, ValueError: the edit does not fit what is given.
        """
        edit = self.edit
        if callable(edit):
            return self._called(edit, output)
        if isinstance(output, Tensor):
            self._check_output(edit, 1)
            return self._state(output, edit).edited(output)
        number = 0 if edit is None else edit.output
        if not isinstance(output, (tuple, list)) or not output:
            raise TypeError(self._no_tensor(output))
        self._check_output(edit, len(output))
        if not isinstance(output[number], Tensor):
            raise TypeError(self._no_tensor(output[number]))
        parts = list(output)
        parts[number] = self._state(parts[number], edit).edited(parts[number])
        return parts if isinstance(output, list) else tuple(parts)

    def _check_output(self, edit, outputs: int) -> None:
        if edit is not None and not 0 <= edit.output < outputs:
            raise IndexError(f"{self.path!r} gives {outputs} outputs: there is no {edit.output}.")

    def _no_tensor(self, output) -> str:
        kind = type(output).__name__
        return f"{self.path!r} gives {kind}, of which only a function can be the edit."

    def _called(self, function: Callable, output):
        changed = function(output)
        if changed is None or type(changed) is type(output):
            return changed
        if isinstance(changed, Tensor) and isinstance(output, Tensor):
            return changed
        raise TypeError(
            f"The function that patches {self.path!r} must return {type(output).__name__}, as is "
            f"given there, or None for no change, not {type(changed).__name__} {changed!r:.60}."
        )

    def _state(self, part: Tensor, edit: Edit | None) -> State:
        key = part.shape, part.dtype
        state = self.states.get(key)
        if state is None:
            with outside_of_rows():
                state = State(self.path, part)
                for parameter, value in state.prepared(edit):
                    parameter.set_data(value)
            if len(self.states) >= MOST_STATES:
                del self.states[next(iter(self.states))]
            self.states[key] = state
        elif len(self.states) > 1:  # the latest is the last
            self.states[key] = self.states.pop(key)
        return state

    def hook(self, cell: Cell, args, output):
        """The forward hook of a Cell."""
        self.met = True
        return self.changed(output)
