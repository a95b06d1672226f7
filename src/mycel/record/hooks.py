# SPDX-License-Identifier: Apache-2.0
"""Handles of registered hooks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

_numbers = count()


class HookHandle:
    """What registering a hook returns; `remove()` takes that hook away, once or more."""

    __slots__ = ("_hooks", "number")

    def __init__(self, hooks: dict, hook: Callable):
        self._hooks = hooks
        self.number = next(_numbers)
        hooks[self.number] = hook

    def remove(self) -> None:
        """Take the hook away; other hooks and handles are untouched."""
        self._hooks.pop(self.number, None)
