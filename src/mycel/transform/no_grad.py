# SPDX-License-Identifier: Apache-2.0
"""Operators through which no gradient flows, whatever is being differentiated around them."""

from __future__ import annotations

import contextlib

from mycel.kernel.record.marker import Marker
from mycel.kernel.record.stream import current_stream, find_place


class _Untaped(Marker):
    """What a tape that must suffice to record everything again holds of such a block."""

    name = "no_grad"

    def rule(self, inputs, outputs, cotangents, mask):
        """No gradient arrives, and none leaves."""
        return []

    def renewed(self, present):
        """The same for other Values."""
        return _Untaped()

    def described(self, name):
        """There is one of its kind."""
        return ()


class no_grad(contextlib.ContextDecorator):
    """A block, or with `@` a function, in which results are constants for every derivative.

    Source: MindSpore's `mindspore._no_grad`.

    Example:
        >>> def f(x):
        ...     with ms._no_grad():
        ...         scale = x * 2
        ...     return x * scale
        >>> print(ms.grad(f)(Tensor(3.0)))
        6.0
    """

    def __init__(self):
        self._before: list = []

    def _recreate_cm(self):
        return type(self)()

    def __enter__(self):
        stream = current_stream()
        scope = stream.scope
        tape = [] if scope.tape is not None and scope.complete else None
        self._before.append(stream.exchange(scope.but(tape=tape)))
        return self

    def __exit__(self, kind, error, trace):
        stream = current_stream()
        before = self._before.pop()
        inner = stream.exchange(before).tape
        if inner and before.tape is not None:
            block = _Untaped()
            block.inner = inner
            before.tape.append((block, (), (), find_place(2)))
        return False


__all__ = ["no_grad"]
