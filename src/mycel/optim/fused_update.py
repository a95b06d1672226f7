# SPDX-License-Identifier: Apache-2.0
"""One node for a whole step: the calls of rules for all Parameters, recorded as one operator."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from mycel.kernel.base.division import division
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import to_values
from mycel.kernel.record.stream import record
from mycel.kernel.record.tensor import Tensor, rebind
from mycel.kernel.record.value import Value
from mycel.ops.update.rule import prepared

# Combinations of rules beyond this many are built anew.
MOST_COMBINATIONS = 256
# What rows without a gradient are spared; see Formula.
DECAY, UPDATE = "decay", "update"


class Formula(NamedTuple):
    """A rule with what it takes beside Parameter, gradient, rate, decay and scale.

    Attributes:
        rule: one of `ops.update.rules`.
        states: for each state a list, one for each Parameter.
        settings: arrays behind the rate, the same for all Parameters.
        choices: its static arguments but `centralize`.
        last: a list of the state that may be left out, or None.
        spared: in a table with sparse gradients, what a row whose gradient is zero is spared:
            DECAY, its weight decay, or UPDATE, all of it; None if nothing.
    """

    rule: Any
    states: tuple[Sequence[Tensor], ...] = ()
    settings: Sequence[Tensor] = ()
    choices: tuple = ()
    last: Sequence[Tensor] | None = None
    spared: str | None = None


class FusedUpdate:
    """Collects what a step does to each Parameter; `record` records it as one node.

    A node for each of some hundred Parameters would cost more than the step itself.

    Example:
        >>> from mycel.ops.update import rules
        >>> from mycel.optim.fused_update import FusedUpdate
        >>> w, v = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([3.0]), name="v")
        >>> step, gradient, rate = FusedUpdate(), Tensor([2.0]), Tensor(0.25)
        >>> for parameter in (w, v):
        ...     step.add(rules.descend, [parameter], (parameter, gradient, rate), False)
        >>> step.record()
        >>> print(w.asnumpy(), v.asnumpy())
        [0.5] [2.5]
    """

    def __init__(self):
        self._ops: list[Op] = []
        self._counts: list[int] = []
        self._assigned: list[int] = []
        self._arrays: list[Tensor] = []
        self._handles: list[Tensor] = []

    def apply(self, formula: Formula, rows: Iterable[tuple]) -> None:
        """Plan a formula for some Parameters.

        Args:
            rows: for each: Parameter, gradient, rate, decay or None, scale or None, and whether its
                gradient is centred; in the order of the states.
        """
        states, settings, last = formula.states, formula.settings, formula.last
        ops: dict[tuple[bool, bool, bool, bool], Op] = {}
        for n, (parameter, gradient, rate, decay, scale, centralize) in enumerate(rows):
            by_rows = formula.spared is not None and parameter._has_sparse_gradient
            kind = decay is not None, scale is not None, centralize, by_rows
            op = ops.get(kind)
            if op is None:
                op = ops[kind] = _op_of(formula, *kind)
            handles = [parameter, *[state[n] for state in states]]
            arrays = [*handles, gradient, rate, *settings]
            if decay is not None:
                arrays.append(decay)
            if scale is not None:
                arrays.append(scale)
            if last is not None:
                handles.append(last[n])
                arrays.append(last[n])
            self._add(op, handles, arrays)

    def add(self, rule, handles, inputs, *statics) -> None:
        """Plan a call of a rule.

        Args:
            rule: an operator of `ops.update.rules`.
            handles: what its results are assigned to, in order.
            inputs: its arrays, all of them Tensors; None for one that is left out.
            statics: its static arguments, all of them.
        """
        arrays = [array for array in inputs if array is not None]
        present = tuple([array is not None for array in inputs])
        self._add(_op(rule.definition, present, statics), handles, arrays)

    def _add(self, op: Op, handles, arrays) -> None:
        self._ops.append(op)
        self._counts.append(len(arrays))
        self._assigned.append(len(handles))
        self._arrays += arrays
        self._handles += handles

    def record(self) -> None:
        """Record all calls, and assign what they give; in a pipeline, a node for each stage."""
        if not self._ops:
            return
        if division.stage_of is not None:
            for update in self._by_stage():
                update._record()
        else:
            self._record()

    def _by_stage(self) -> list[FusedUpdate]:
        """The same calls, those for Parameters of each stage of a pipeline by themselves."""
        assert division.stage_of is not None
        updates: dict[int | None, FusedUpdate] = {}
        arrays, handles = iter(self._arrays), iter(self._handles)
        for op, count, assigned in zip(self._ops, self._counts, self._assigned, strict=True):
            given = [next(arrays) for _ in range(count)]
            own = [next(handles) for _ in range(assigned)]
            update = updates.setdefault(division.stage_of(own[0]), FusedUpdate())
            update._add(op, own, given)
        return [*updates.values()]

    def _record(self) -> None:
        op = self._ops[0]
        if len(self._ops) > 1:
            op = _combined(tuple(self._ops), tuple(self._counts))
        results = record(op, to_values(self._arrays))
        for handle, value in zip(
            self._handles, (results,) if isinstance(results, Value) else results, strict=True
        ):
            if division.assign is not None:
                value = division.assign(handle, value)
            rebind(handle, value)


def _op_of(formula: Formula, decayed: bool, scaled: bool, centralize: bool, by_rows: bool) -> Op:
    """The operator of a formula, with decay and scale or without, over all rows or by rows."""
    count = 3 + len(formula.states) + len(formula.settings)
    last = () if formula.last is None else (True,)
    definition, statics = formula.rule.definition, (*formula.choices, centralize)
    if not by_rows:
        return _op(definition, (True,) * count + (decayed, scaled) + last, statics)
    op = _op(definition, (True,) * count + (False, scaled) + last, statics)
    decay = count if decayed else None
    return _by_rows(op, 1 + len(formula.states), decay, formula.spared == UPDATE)


@functools.lru_cache(MOST_COMBINATIONS)
def _by_rows(op: Op, states: int, decay: int | None, kept: bool) -> Op:
    """An operator of a formula without decay, for a table in which a row whose gradient is zero
    was not looked up.

    Args:
        states: how many arrays are before the gradient, the Parameter first.
        decay: the place of the weight decay among the arrays, if there is one.
        kept: whether such a row stays as it is, in the states too.
    """

    def run(*arrays):
        parameter, gradient = arrays[0], arrays[states]
        named = (gradient != 0).any(tuple(range(1, gradient.ndim)), keepdims=True)
        operands = list(arrays)
        if decay is not None:
            decayed = prepared(gradient, parameter, operands.pop(decay), None, False)
            operands[states] = jnp.where(named, decayed, gradient).astype(gradient.dtype)
        results = op.function(*operands)
        if not kept:
            return results
        pairs = zip(results, arrays[:states], strict=True)
        return tuple(jnp.where(named, new, old) for new, old in pairs)

    return Op(op.name, run)


def _op(definition, present, statics) -> Op:
    absent = len(definition.arrays) - len(present)
    return definition.bind(*statics, present=present + (False,) * absent)


@functools.lru_cache(MOST_COMBINATIONS)
def _combined(ops: tuple[Op, ...], counts: tuple[int, ...]) -> Op:
    """The operator that does all of them."""

    def run(*arrays):
        operands, results = iter(arrays), []
        for op, count in zip(ops, counts, strict=True):
            result = op.function(*[next(operands) for _ in range(count)])
            results += result if isinstance(result, (tuple, list)) else (result,)
        return tuple(results)

    return Op(ops[0].name, run)
