# SPDX-License-Identifier: Apache-2.0
"""Where reverse hooks fire: on a Value, at a point of the tape, at the borders of a Cell.

A Cell with backward hooks has two markers on the tape. The one behind it fires the backward-pre
hooks on what arrives at its outputs; the one before it fires the backward hooks, when the gradients
of all inputs are known, and also if there are none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from mycel.kernel.base.places import definition_of, path_of
from mycel.kernel.base.where import is_told, tell_returned
from mycel.kernel.record.hooks import Hooks, call_hook, describe
from mycel.kernel.record.marker import Marker, mark
from mycel.kernel.record.stream import current_stream, find_place
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.record.value import Value


def fire_hooks(hooks: dict, value: Value, gradient: Value | None) -> Value | None:
    """The gradient after the hooks registered for `value`, each of them a site."""
    if gradient is None or id(value) not in hooks:
        return gradient
    registered = hooks[id(value)][1]
    for hook in list(registered.values()):
        changed = call_hook(registered.kind, hook, (new_tensor(gradient),))
        if changed is not None:
            with _told(registered.kind, hook, None):
                gradient = _fitting(changed, value, f"The {registered.kind} {describe(hook)}")
    return gradient


class GradientPoint(Marker):
    """A point where a function is given the gradients that pass, as a tuple: `ops.HookBackward`.

    Args:
        function: given the gradients, it may return others.
        kind: what the function is called, for messages.
        called: the Cell it is in, as links (see places.path_of).
        alone: whether it is given one gradient by itself instead of a tuple.
    """

    pairwise = True

    def __init__(self, function: Callable, kind: str, called: tuple | None, alone: bool = False):
        super().__init__()
        self.name = kind
        self._function = function
        self._called = called
        self._alone = alone

    def rule(self, inputs, outputs, cotangents, mask):
        """What the function makes of the gradients."""
        gradients = _handles(cotangents)
        passed = gradients if self._alone else (gradients,)
        returned = call_hook(self.name, self._function, passed, self._called)
        if returned is None:
            return cotangents
        what = f"The {self.name} {describe(self._function)}"
        with _told(self.name, self._function, self._called):
            return _replaced(cotangents, returned, outputs, what)

    def renewed(self, present):
        """It holds no Values."""
        return GradientPoint(self._function, self.name, self._called, self._alone)

    def described(self, name):
        """The function alone tells one from another."""
        return (type(self), self._function)


def watch_gradients(
    tensors: tuple[Tensor, ...], function: Callable, kind: str, alone: bool = False
) -> tuple[Tensor, ...]:
    """The same Tensors, whose gradients pass the function (see GradientPoint); as they are where
    none is taken."""
    stream = current_stream()
    if not stream.scope.is_taped:
        return tensors
    point = GradientPoint(function, kind, stream.called, alone)
    marked = mark(stream, point, tuple(map(resolve, tensors)), find_place(2))
    return tuple(map(new_tensor, marked))


class Border:
    """One call of a Cell with backward hooks.

    Attributes:
        arrived: the gradients of the outputs, between the two markers; else None.
    """

    __slots__ = ("after", "arrived", "before", "called", "cell")

    def __init__(self, cell, before: Hooks, after: Hooks, called: tuple | None):
        self.cell = cell
        # "Before" and "after" in the order of the reverse.
        self.before = before
        self.after = after
        self.called = called
        self.arrived: tuple | None = None

    def fire_before(self, outputs, cotangents):
        """The gradients of the outputs after the backward-pre hooks."""
        for hook, _ in list(self.before.values()):
            args = (self.cell, _handles(cotangents))
            returned = call_hook(self.before.kind, hook, args, self.called)
            if returned is not None:
                what = self._what(self.before, hook)
                with _told(self.before.kind, hook, self.called):
                    cotangents = _replaced(cotangents, returned, outputs, what)
        self.arrived = _handles(cotangents)
        return cotangents

    def fire_after(self, inputs, cotangents):
        """The gradients of the inputs after the backward hooks."""
        arrived, self.arrived = self.arrived, None
        for hook, full in list(self.after.values()):
            leaving = _handles(cotangents)
            pair = (leaving, arrived) if full else (arrived, leaving)
            returned = call_hook(self.after.kind, hook, (self.cell, *pair), self.called)
            if returned is not None:
                what = self._what(self.after, hook)
                with _told(self.after.kind, hook, self.called):
                    cotangents = _replaced(cotangents, returned, inputs, what)
        return cotangents

    def _what(self, hooks, hook) -> str:
        return f"The {hooks.kind} {describe(hook)} of {path_of(self.called)}"


class _BorderMarker(Marker):
    pairwise = True

    def __init__(self, border: Border):
        super().__init__()
        self.border = border
        self.name = type(border.cell).__name__

    def renewed(self, present):
        """Both markers of a call keep their border; they hold no Values."""
        return type(self)(self.border)

    def described(self, name):
        """The Cell tells one from another."""
        return (type(self), self.border.cell)


class Leave(_BorderMarker):
    """Behind a Cell: the first that the reverse meets."""

    def rule(self, inputs, outputs, cotangents, mask):
        """Fire the backward-pre hooks."""
        return self.border.fire_before(outputs, cotangents)


class Enter(_BorderMarker):
    """Before a Cell: the last that the reverse meets."""

    @property
    def eager(self) -> bool:
        """A gradient arrived at the Cell, so its hooks fire, whatever becomes of it inside."""
        return self.border.arrived is not None

    def rule(self, inputs, outputs, cotangents, mask):
        """Fire the backward hooks, unless no gradient arrived."""
        if self.border.arrived is None:
            return cotangents
        return self.border.fire_after(inputs, cotangents)


@contextlib.contextmanager
def _told(kind: str, hook: Callable, called: tuple | None) -> Iterator[None]:
    """An error about what a hook returned says which hook of which Cell it was, and where it is."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if not is_told(error):
            tell_returned(error, f"{kind} {describe(hook)}", called, definition_of(hook))
        raise


def _handles(cotangents) -> tuple:
    return tuple([None if cotangent is None else new_tensor(cotangent) for cotangent in cotangents])


def _replaced(cotangents, returned, like, what: str) -> list[Value | None]:
    """The gradients after a hook that returned others."""
    if isinstance(returned, Tensor):
        returned = (returned,)
    if not isinstance(returned, (tuple, list)) or len(returned) != len(cotangents):
        actual = (
            f"a {type(returned).__name__} of {len(returned)}"
            if isinstance(returned, (tuple, list))
            else type(returned).__name__
        )
        raise TypeError(
            f"{what} must return None or a tuple of {len(cotangents)} gradients, "
            f"but it returned {actual}."
        )
    return [
        None if gradient is None else _fitting(gradient, value, what)
        for gradient, value in zip(returned, like, strict=True)
    ]


def _fitting(gradient, like: Value, what: str) -> Value:
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"{what} must return Tensors or None as gradients, but it returned "
            f"{type(gradient).__name__}."
        )
    value = resolve(gradient)
    if value.aval is not like.aval:
        raise ValueError(
            f"{what} must return a gradient of shape {like.aval.shape} and type "
            f"{like.aval.dtype}, but it returned one of shape {gradient.shape} and type "
            f"{gradient.dtype}."
        )
    return value
