# SPDX-License-Identifier: Apache-2.0
"""Hooks on the operators that a Cell runs itself: each is a site, told of what an operator gave."""

from __future__ import annotations

from typing import Any, Protocol

from mycel.kernel.base.context import watch_operators as count_watching
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import wrap
from mycel.kernel.record.hooks import HookHandle, call_hook, is_in_hook
from mycel.kernel.record.stream import local
from mycel.kernel.record.tensor import resolve
from mycel.nn.cell import Cell


class OperatorHook(Protocol):
    """A hook on the operators of a Cell: called with the Cell, the operator's name, which of that
    name it is in this call of the Cell, and what it gave; what is returned replaces that."""

    def wants(self, name: str, number: int) -> bool:
        """Whether it is to be called for this operator."""
        ...

    def __call__(self, cell: Cell, name: str, number: int, output: Any) -> Any: ...


class OperatorHandle:
    """What watching returns; `remove()` ends it."""

    def __init__(self, handle: HookHandle):
        self._handle: HookHandle | None = handle
        count_watching(1)

    def remove(self) -> None:
        """Take the hook away, once or more."""
        handle, self._handle = self._handle, None
        if handle is not None:
            count_watching(-1)
            handle.remove()


def watch_operators(cell: Cell, hook: OperatorHook) -> OperatorHandle:
    """Call a hook for operators that a Cell runs in its own `construct`."""
    return OperatorHandle(cell._register_hook("operator", hook, False))


def call_operator_hooks(op: Op, made):
    """An operator was recorded: what takes the place of the Values that it made."""
    stream = local.stream
    called, scope = stream.called, stream.scope
    if called is None or is_in_hook():
        return made
    hooks = called[0]._cell_hooks  # type: ignore[attr-defined]
    if hooks is None or not hooks.operator:
        return made
    if scope.reversing is not None and scope.reversing.at is not None:
        return made  # of the rule of a reverse
    name = op.public
    number = hooks.number_of(name, called)
    for hook, _ in list(hooks.operator.values()):
        if hook.wants(name, number):
            given = (called[0], name, number, wrap(made))
            returned = call_hook(hooks.operator.kind, hook, given, called)
            if returned is not None:
                several = isinstance(returned, tuple)
                made = tuple(map(resolve, returned)) if several else resolve(returned)
    return made
