# SPDX-License-Identifier: Apache-2.0
"""One node for a whole step: the calls of rules for all Parameters, recorded as one operator."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import to_values
from mycel.kernel.record.stream import record
from mycel.kernel.record.tensor import Tensor, rebind
from mycel.kernel.record.value import Value

# Combinations of rules beyond this many are built anew.
MOST_COMBINATIONS = 256


class Formula(NamedTuple):
    """A rule with what it takes beside Parameter, gradient, rate, decay and scale.

    Attributes:
        rule: one of `ops.update.rules`.
        states: for each state a list, one for each Parameter.
        settings: arrays behind the rate, the same for all Parameters.
        choices: its static arguments but `centralize`.
        last: a list of the state that may be left out, or None.
    """

    rule: Any
    states: tuple[Sequence[Tensor], ...] = ()
    settings: Sequence[Tensor] = ()
    choices: tuple = ()
    last: Sequence[Tensor] | None = None


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
        self._arrays: list[Tensor] = []
        self._handles: list[Tensor] = []
        self._planned: tuple = ()

    def apply(self, formula: Formula, n: int, parameter, *inputs, centralize=False) -> None:
        """Plan a formula for a Parameter.

        Args:
            n: the number of its states in their lists.
            inputs: gradient, rate, decay or None, scale or None.
        """
        gradient, rate, decay, scale = inputs
        handles = [parameter, *[state[n] for state in formula.states]]
        arrays = [*handles, gradient, rate, *formula.settings, decay, scale]
        if formula.last is not None:
            handles.append(formula.last[n])
            arrays.append(formula.last[n])
        self.add(formula.rule, handles, arrays, *formula.choices, centralize)

    def add(self, rule, handles, inputs, *statics) -> None:
        """Plan a call of a rule.

        Args:
            rule: an operator of `ops.update.rules`.
            handles: what its results are assigned to, in order.
            inputs: its arrays, all of them Tensors; None for one that is left out.
            statics: its static arguments, all of them.
        """
        definition = rule.definition
        arrays = [array for array in inputs if array is not None]
        present = tuple([array is not None for array in inputs]) if definition.optional else ()
        planned = (definition, present, statics, tuple(map(type, statics)))
        if planned != self._planned:  # else as for the Parameter before
            self._planned, self._op = planned, _op(definition, present, statics)
        self._ops.append(self._op)
        self._counts.append(len(arrays))
        self._arrays += arrays
        self._handles += handles

    def record(self) -> None:
        """Record all calls, and assign what they give."""
        if not self._ops:
            return
        op = self._ops[0]
        if len(self._ops) > 1:
            op = _combined(tuple(self._ops), tuple(self._counts))
        made = record(op, to_values(self._arrays))
        for handle, value in zip(
            self._handles, (made,) if isinstance(made, Value) else made, strict=True
        ):
            rebind(handle, value)


def _op(definition, present, statics) -> Op:
    if not present:
        return definition.bind(*statics)
    absent = len(definition.arrays) - len(present)
    return definition.bind(*statics, present=present + (False,) * absent)


@functools.lru_cache(MOST_COMBINATIONS)
def _combined(ops: tuple[Op, ...], counts: tuple[int, ...]) -> Op:
    """The operator that does all of them."""

    def run(*arrays):
        given, made = iter(arrays), []
        for op, count in zip(ops, counts, strict=True):
            result = op.function(*[next(given) for _ in range(count)])
            made += result if isinstance(result, (tuple, list)) else (result,)
        return tuple(made)

    return Op(ops[0].name, run)
