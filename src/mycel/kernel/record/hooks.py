# SPDX-License-Identifier: Apache-2.0
"""Hooks: where they are registered, their handles, and how each is called."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from itertools import count

from mycel.kernel.base import where
from mycel.kernel.base.context import context
from mycel.kernel.base.places import user_place
from mycel.kernel.record.journal import Change
from mycel.kernel.record.stream import local
from mycel.kernel.record.value import Value

# Hooks of one code in one registry after which we say that they pile up.
MANY = 32

# The remedy for one that is registered in a call that shall be remembered.
REGISTER_ONCE = "register it before the call, and once"

_numbers = count()


class Hooks(dict):
    """The hooks of one kind on one owner, by number in the order of registration.

    Args:
        kind: what they are called, for messages: "forward hook".
        owner: what they belong to, in the form the emission of a site knows: a function that
            gives the Cell or Tensor, or the Value itself.
        changed: told what happened whenever one is added or removed.
    """

    __slots__ = ("changed", "kind", "owner")

    def __init__(self, kind: str, owner, changed: Callable[[str], None] | None = None):
        super().__init__()
        self.kind = kind
        self.owner = owner
        self.changed = changed

    def put(self, number: int, hook) -> None:
        """Register a hook under its number, which is its place in the order."""
        self[number] = hook
        for later in sorted(known for known in self if known > number):
            # At once: nothing is called in between, so no exception comes from outside.
            kept = self[later]
            del self[later]
            self[later] = kept
        self._note(
            "registered", hook, lambda: self.drop(number), lambda kept: kept.put(number, hook)
        )

    def drop(self, number: int) -> None:
        """Take a hook away, if it is there."""
        hook = self.pop(number, None)
        if hook is not None:
            self._note(
                "removed", hook, lambda: self.put(number, hook), lambda kept: kept.drop(number)
            )

    def _note(self, done: str, hook, undo, redo) -> None:
        journal = local.stream.scope.journal
        if journal is not None:
            owner = self.owner() if callable(self.owner) else self.owner
            what = ("hook", done, self.kind, owner, hook)
            journal.changes.append(Change(what, undo, lambda present: redo(self._now(present))))
        if self.changed is not None:
            self.changed(f"a {self.kind} was {done} inside")
        if done == "registered" and len(self) % MANY == 0:
            self._warn_of_many(hook)

    def _now(self, present: Callable) -> Hooks:
        """These hooks in a call that goes on: those on a Value move to the one in its place."""
        open_hooks = local.stream.scope.hooks
        if not isinstance(self.owner, Value) or open_hooks is None:
            return self
        self.owner = present(self.owner)
        return open_hooks.setdefault(id(self.owner), (self.owner, self))[1]

    def _warn_of_many(self, hook) -> None:
        code = _code(hook)
        alike = sum(_code(other) is code for other in self.values())
        if code is not None and alike >= MANY:
            warnings.warn(
                f"{alike} {self.kind}s {describe(hook)} are registered on one object (the last at "
                f"{user_place(4)}): registering inside construct adds one at every call. Register "
                "it once, or remove() the handle.",
                stacklevel=5,
            )


def _code(hook):
    function = hook[0] if isinstance(hook, tuple) else hook
    return getattr(getattr(function, "__func__", function), "__code__", None)


def describe(hook) -> str:
    """A hook's name for messages."""
    function = hook[0] if isinstance(hook, tuple) else hook
    return getattr(function, "__qualname__", type(function).__name__).split("<locals>.")[-1]


class HookHandle:
    """What registering a hook returns; `remove()` takes that hook away, once or more.

    Used in `with`, it removes the hook at the end of the block.
    """

    __slots__ = ("_hooks", "number")

    def __init__(self, hooks: Hooks, hook, first: bool = False):
        self._hooks = hooks
        number = next(_numbers)
        self.number = -1 - number if first else number
        hooks.put(self.number, hook)

    def remove(self) -> None:
        """Take the hook away; other hooks and handles are untouched."""
        self._hooks.drop(self.number)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_) -> None:
        self.remove()


class _Within(threading.local):
    """Whether a thread is in a hook, noted while operators are watched: its own are none."""

    hook = False


_within = _Within()


def is_in_hook() -> bool:
    """Whether the calling thread is in a hook that was called while operators are watched."""
    return _within.hook


def call_hook(kind: str, hook: Callable, args: tuple, called: tuple | None = None):
    """Call a hook: a site of the call being remembered, else at once.

    Args:
        called: the Cell it belongs to, as links (see places.path_of).
    """
    if not context.watching or _within.hook:
        return _call_hook(kind, hook, args, called)
    try:
        _within.hook = True
        return _call_hook(kind, hook, args, called)
    finally:
        _within.hook = False


def _call_hook(kind: str, hook: Callable, args: tuple, called: tuple | None):
    capture = local.stream.scope.capture
    label = (kind, hook, called)
    if capture is not None:
        return capture.site(hook, args, None, label)
    return call_labelled(hook, args, {}, label)


def call_labelled(function: Callable, args: tuple, kwargs: dict, label: tuple | None):
    """Call a function; an error says in which hook of which Cell it was raised."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        tell_hook(error, label)
        raise


def tell_hook(error: Exception, label: tuple | None) -> None:
    """Add to an error in which hook of which Cell it was raised."""
    if label is not None:
        kind, hook, called = label
        where.tell_hook(error, f"{kind} {describe(hook)}", called)


def check_hook(hook) -> None:
    """Raise unless it can be called."""
    if not callable(hook):
        raise TypeError(
            f"A hook must be callable, but {type(hook).__name__} {hook!r:.60} was given "
            f"at {user_place(3)}."
        )
