# SPDX-License-Identifier: Apache-2.0
"""A fork of this process has its memory and not its threads: XLA would wait for them for ever.

So in a fork that was made after XLA had begun, the first use of the machine raises. What needs no
machine goes on: Python of any kind, and reading values that were there.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings

import jax
from jax.extend import backend as jax_backend

from mycel.kernel.base import backend, errors
from mycel.kernel.base.places import user_place
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.execute.compile import Executable, Together
from mycel.kernel.record.stream import Segment, Stream, local, machine


def watch_forks() -> None:
    """Look after the forks of this process, where there are forks."""
    if hasattr(os, "register_at_fork"):
        # What JAX says at every fork, of a command in a notebook too, is told where it matters.
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        os.register_at_fork(before=_settle, after_in_child=_refuse_from_now)


# What has XLA's threads, as it was before the present fork.
_clients: list = []


def _settle() -> None:
    """Let what runs come to its end: nobody would finish it in the fork."""
    if backend.has_begun():
        _clients[:] = jax_backend.backends().values()
        for array in jax.live_arrays():
            try:
                array.block_until_ready()
            except Exception as error:
                if came_from_outside(error):
                    raise
                continue  # it was deleted, or its operator failed: whoever reads it is told


def _refuse_from_now() -> None:
    """Exchange what begins work, so that nothing is asked on the way to it."""
    if not backend.has_begun():
        return
    _keep_for_ever()
    backend.begin = _refuse
    Executable.__call__ = Together.__call__ = _refuse  # type: ignore[assignment]
    machine.run_directly = machine.run_by_operator = _refuse
    machine.run_segment = _refuse_segment
    # What is pending belongs to nobody now; what follows is refused at the user's line.
    stream = local.stream
    stream.segment.stream = Stream()
    stream.go_on_with(_Refusing(stream))


def _keep_for_ever() -> None:
    """Nothing of JAX may end with the fork: pools would wait for their threads before it exits."""
    kept = [*_clients]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("jax", "jaxlib"):
            kept.append(tuple(vars(module).values()))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def _refuse(*_):
    raise RuntimeError(errors.FORKED.format(process=os.getpid(), place=user_place(2)))


def _refuse_segment(segment, _=None):
    segment.stream.go_on_with(segment)  # whoever asks again is told again
    _refuse()


class _Refusing(Segment):
    """What a fork records into: an operator is refused at its own line."""

    __slots__ = ()

    def admit(self, value) -> int:
        return _refuse()
