# SPDX-License-Identifier: Apache-2.0
"""Hooks of Cells: where they are kept, and how a Cell with hooks is called."""

from __future__ import annotations

import operator
import warnings
from weakref import ref

from mycel.kernel.base.trees import tree_exchange, tree_leaves
from mycel.kernel.differentiate.fire import Border, Enter, Leave
from mycel.kernel.record.hooks import (
    REGISTER_ONCE,
    HookHandle,
    Hooks,
    call_hook,
    check_hook,
    describe,
)
from mycel.kernel.record.marker import mark
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import Stream, find_place
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve

# Each kind and what messages call it, in the order in which they are called.
KINDS = {
    "forward_pre": "forward pre-hook",
    "operator": "hook on operators",
    "forward": "forward hook",
    "backward_pre": "backward pre-hook",
    "backward": "backward hook",
}
# Operators call these: the call of the Cell has no regard for them, and a copy has none.
BY_OPERATORS = ("operator",)
_by_the_cell = operator.attrgetter(*[kind for kind in KINDS if kind not in BY_OPERATORS])

# A forward hook that takes keyword arguments; one that is called where `construct` raised, too.
WITH_KWARGS, ALWAYS = 1, 2


class CellHooks:
    """The hooks of one Cell by kind; forward ones with `WITH_KWARGS` and `ALWAYS`, added up,
    backward ones with whether they are in PyTorch's order of arguments; those on operators that
    the Cell runs (see operator_hooks)."""

    __slots__ = (*KINDS, "_called", "_numbers")
    forward_pre: Hooks
    operator: Hooks
    forward: Hooks
    backward_pre: Hooks
    backward: Hooks

    def __init__(self, cell):
        owner = ref(cell)

        def changed(what: str) -> None:
            cell = owner()
            if cell is not None:
                cell._cell_changed(f"{what} {type(cell).__name__}", REGISTER_ONCE)

        for kind, shown in KINDS.items():
            setattr(self, kind, Hooks(shown, owner, changed))
        # The call of the Cell in which operators were told last, and how many by name.
        self._called: tuple | None = None
        self._numbers: dict[str, int] = {}

    def number_of(self, operator: str, called: tuple) -> int:
        """Which of the operators of this name it is in a call of the Cell, from 1 on."""
        if self._called is not called:
            self._called, self._numbers = called, {}
        number = self._numbers[operator] = self._numbers.get(operator, 0) + 1
        return number

    def copy_to(self, cell) -> CellHooks:
        """The same hooks on a copy of the Cell."""
        copied = CellHooks(cell)
        for kind in KINDS:
            for hook in getattr(self, kind).values() if kind not in BY_OPERATORS else ():
                HookHandle(getattr(copied, kind), hook)
        return copied

    def listed(self) -> list:
        """All hooks with their kinds and settings, in order."""
        entries: list = []
        for kind in KINDS:
            for hook in getattr(self, kind).values():
                entries += (kind, *hook) if isinstance(hook, tuple) else (kind, hook)
        return entries

    def __bool__(self):
        return any(_by_the_cell(self))


class Hookable:
    """Registering hooks on a Cell. Each call returns a handle of its own, whose `remove()` takes
    that hook away. A hook sees real values at every call, also in compiled code, and may be
    registered and removed at any time; see docs/hooks.md.

    A deep copy of a Cell has the same hooks; a pickle has none.
    """

    _cell_hooks: CellHooks | None

    def register_forward_pre_hook(
        self, hook_fn, with_kwargs: bool = False, *, prepend: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, inputs)` before `construct`; `inputs` is a tuple.

        What it returns, a tuple or a single value, replaces the inputs; its operators take part in
        the gradient, and data made anew cuts the gradient off. With `with_kwargs` it is
        `hook_fn(cell, inputs, kwargs)`, and returns None or `(inputs, kwargs)`. With `prepend` it
        is called before those that are registered already.

        Raises:
            TypeError: the hook cannot be called.

        Source: MindSpore's `Cell.register_forward_pre_hook`.

        Example:
            >>> net = nn.ReLU()
            >>> handle = net.register_forward_pre_hook(lambda cell, inputs: inputs[0] * 2)
            >>> print(net(Tensor([1.0, -1.0])))
            [2. 0.]
            >>> handle.remove()
            >>> print(net(Tensor([1.0, -1.0])))
            [1. 0.]
        """
        return self._register_hook("forward_pre", hook_fn, bool(with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook_fn,
        with_kwargs: bool = False,
        *,
        prepend: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call `hook_fn(cell, inputs, output)` after `construct`.

        `output` is what `construct` returned; what the hook returns replaces it. With `with_kwargs`
        it is `hook_fn(cell, inputs, kwargs, output)`. With `prepend` it is called before those that
        are registered already. With `always_call` it is called where `construct` or another hook
        raised, too, with None for an output that is not there; what it raises itself then is a
        warning.

        Raises:
            TypeError: the hook cannot be called.

        Source: MindSpore's `Cell.register_forward_hook`.

        Example:
            >>> seen = []
            >>> net = nn.ReLU()
            >>> handle = net.register_forward_hook(lambda cell, inputs, output: seen.append(output))
            >>> result = net(Tensor([1.0, -1.0]))
            >>> print(seen[0])
            [1. 0.]
        """
        flags = WITH_KWARGS * bool(with_kwargs) + ALWAYS * bool(always_call)
        return self._register_hook("forward", hook_fn, flags, prepend)

    def register_backward_pre_hook(self, hook_fn) -> HookHandle:
        """Call `hook_fn(cell, grad)` when the gradients of the outputs are known.

        `grad` is a tuple with one entry per Tensor that `construct` returned, None for one that
        nothing depends on. A tuple that is returned replaces it.

        Raises:
            TypeError: the hook cannot be called, or returns something other than gradients.

        Source: MindSpore's `Cell.register_backward_pre_hook`.

        Example:
            >>> net = nn.ReLU()
            >>> handle = net.register_backward_pre_hook(lambda cell, grad: (grad[0] * 10,))
            >>> print(ms.grad(net)(Tensor([1.0, -1.0])))
            [10.  0.]
        """
        return self._register_hook("backward_pre", hook_fn, False)

    def register_backward_hook(self, hook_fn) -> HookHandle:
        """Call `hook_fn(cell, grad_input, grad_output)` when the reverse has passed the Cell.

        `grad_input` has the gradients that arrived at the Tensors `construct` returned, and
        `grad_output` those that leave towards the Tensors it was given by position, both as
        tuples; None stands where there is no gradient. A tuple that is returned replaces the
        gradients that leave. Only `construct` is between the two, not what forward hooks add.

        Raises:
            TypeError: the hook cannot be called, or returns something other than gradients.

        Source: MindSpore's `Cell.register_backward_hook`, with the arguments as its documents
        say; MindSpore 2.10 has exchanged them.

        Example:
            >>> net = nn.Dense(1, 1, weight_init=3.0)
            >>> def show(cell, grad_input, grad_output):
            ...     print(grad_input[0], grad_output[0])
            >>> handle = net.register_backward_hook(show)
            >>> gradient = ms.grad(net)(Tensor([[2.0]]))
            [[1.]] [[3.]]
        """
        return self._register_hook("backward", hook_fn, False)

    def register_full_backward_hook(self, hook_fn) -> HookHandle:
        """`register_backward_hook` with PyTorch's order: `hook_fn(cell, grad_wrt_inputs,
        grad_wrt_outputs)`.

        Raises:
            TypeError: the hook cannot be called, or returns something other than gradients.

        Example:
            >>> net = nn.Dense(1, 1, weight_init=3.0)
            >>> def show(cell, grad_wrt_inputs, grad_wrt_outputs):
            ...     print(grad_wrt_inputs[0], grad_wrt_outputs[0])
            >>> handle = net.register_full_backward_hook(show)
            >>> gradient = ms.grad(net)(Tensor([[2.0]]))
            [[3.]] [[1.]]
        """
        return self._register_hook("backward", hook_fn, True)

    def _register_hook(self, kind: str, hook, flags: int, first: bool = False) -> HookHandle:
        check_hook(hook)
        if self._cell_hooks is None:
            self.__dict__["_cell_hooks"] = CellHooks(self)
        return HookHandle(getattr(self._cell_hooks, kind), (hook, flags), first)


def call_with_hooks(cell, stream: Stream, args: tuple, kwargs: dict):
    """Call a Cell with its hooks around it, each of them a site."""
    hooks: CellHooks = cell._cell_hooks
    called, left, output = stream.called, None, None
    try:
        for hook, with_kwargs in list(hooks.forward_pre.values()):
            args, kwargs = _before(cell, hook, with_kwargs, args, kwargs, called)
        inner, border = args, None
        if (hooks.backward or hooks.backward_pre) and stream.scope.is_taped:
            border = Border(cell, hooks.backward_pre, hooks.backward, called)
            inner = _marked(stream, Enter(border), args)
        output = cell._compute_cell(stream, inner, kwargs)
        if border is not None:
            output = _marked(stream, Leave(border), output)
        left = list(hooks.forward.values())[::-1]
        while left:
            hook, flags = left.pop()
            named = (kwargs,) if flags & WITH_KWARGS else ()
            returned = call_hook(hooks.forward.kind, hook, (cell, args, *named, output), called)
            if returned is not None:
                output = returned
    except Exception:
        for hook, flags in hooks.forward.values() if left is None else left[::-1]:
            if flags & ALWAYS:
                _call_always(cell, hook, flags, args, kwargs, output, called)
        raise
    return output


def _call_always(cell, hook, flags, args, kwargs, output, called) -> None:
    """Call a forward hook behind an exception; one of its own is told."""
    kind = cell._cell_hooks.forward.kind
    named = (kwargs,) if flags & WITH_KWARGS else ()
    try:
        call_hook(kind, hook, (cell, args, *named, output), called)
    except Exception as error:
        what = f"The {kind} {describe(hook)} with always_call=True raised {type(error).__name__}"
        warnings.warn(f"{what} behind another exception: {error}", stacklevel=2)


def _before(cell, hook, with_kwargs, args, kwargs, called):
    """The arguments after one forward pre-hook."""
    kind = cell._cell_hooks.forward_pre.kind
    returned = call_hook(kind, hook, (cell, args, kwargs) if with_kwargs else (cell, args), called)
    if returned is None:
        return args, kwargs
    if not with_kwargs:
        return returned if isinstance(returned, tuple) else (returned,), kwargs
    if not (
        isinstance(returned, tuple)
        and len(returned) == 2
        and isinstance(returned[0], tuple)
        and isinstance(returned[1], dict)
    ):
        raise TypeError(
            f"A {kind} of {type(cell).__name__} registered with_kwargs=True must return None or "
            f"(inputs, keyword inputs), a tuple and a dict, but it returned {returned!r:.80}."
        )
    return returned


def _marked(stream: Stream, marker, tree):
    """The same Tensors behind a marker; Parameters, which may be assigned to, stay themselves."""
    tensors = [leaf for leaf in tree_leaves(tree) if _is_passed(leaf)]
    passed = iter(mark(stream, marker, tuple(map(resolve, tensors)), find_place(2)))
    return tree_exchange(lambda leaf: new_tensor(next(passed)) if _is_passed(leaf) else leaf, tree)


def _is_passed(leaf) -> bool:
    return isinstance(leaf, Tensor) and not isinstance(leaf, Parameter)
