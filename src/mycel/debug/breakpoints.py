# SPDX-License-Identifier: Apache-2.0
"""`breakpoint()` in a notebook.

A kernel loads debugpy, which makes `breakpoint()` its own, and ignores it while no debugger is
attached. Here it stops in IPython's debugger then, below the cell.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from mycel.kernel.base.places import shell


def stop_in_notebooks() -> None:
    """Let `breakpoint()` stop in the kernel that this runs in, if it is in one."""
    theirs = sys.breakpointhook
    if getattr(shell(), "kernel", None) is None or not _is_of_debugpy(theirs):
        return

    def stop(*args, **kwargs):
        if sys.modules["debugpy"].is_client_connected():
            return theirs(*args, **kwargs)
        debugger: Any = sys.modules["IPython.core.debugger"]  # there in any kernel
        collects = gc.isenabled()

        class Debugger(debugger.Pdb):
            def interaction(self, *args, **kwargs):
                if collects:
                    gc.enable()
                return super().interaction(*args, **kwargs)

        # It stops at the next line of whatever runs: not in what is told of garbage.
        gc.disable()
        return Debugger().set_trace(sys._getframe(1))

    sys.breakpointhook = sys.__breakpointhook__ if "PYTHONBREAKPOINT" in os.environ else stop


def _is_of_debugpy(hook) -> bool:
    return (getattr(hook, "__module__", None) or "").startswith("debugpy")
