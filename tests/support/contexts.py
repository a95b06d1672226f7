# SPDX-License-Identifier: Apache-2.0
"""Programs that are lowered one after another share what JAX makes anew for each: MLIR's context.

To make one, with all its dialects, and to take it down is a sixth of the processor time that JAX
and XLA spend on a tiny program. What a program is does not depend on it.
"""

from __future__ import annotations

import threading

import jax
from jax._src.interpreters import mlir

# A context keeps every type and constant that it has seen: after so many programs comes a new one.
PROGRAMS = 64

_make = mlir.make_ir_context
_own = threading.local()


def share_contexts() -> None:
    """From now on, with the version of JAX for which it was tried."""
    if jax.__version_info__[:2] == (0, 10):
        # As a function of JAX's: what a program's own Python changes is watched (prove.lines).
        _shared.__code__ = _shared.__code__.replace(co_filename=mlir.__file__)
        mlir.make_ir_context = _shared


def _shared():
    """The context of this thread."""
    left = getattr(_own, "left", 0)
    if not left:
        _own.context, left = _make(), PROGRAMS
    _own.left = left - 1
    return _own.context
