# SPDX-License-Identifier: Apache-2.0
"""The memory of the CPU, which XLA does not count: by the arrays that are alive, by XLA's plans of
programs, and by the pages of the process."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import jax

from mycel.tuning import malloc

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# Sets the peak of the pages back, on Linux (see proc(5)).
_PEAK_OF_PAGES = "5"


class HostMemory:
    """Counts in the names that XLA has for other devices.

    `bytes_in_use` is what arrays have, exactly. No one watches each allocation, so that
    `peak_bytes_in_use` is the best that is known: what arrays have, or one program needs by XLA's
    plan, whichever is most; once it was set back, how far the pages of the process grew.
    `pool_bytes` and `peak_pool_bytes` are those pages: Python and the libraries too.
    """

    def __init__(self):
        # Bytes of arrays and of pages when the peak was set back; None before.
        self._begun: tuple[int, int] | None = None
        self._earlier_peak = 0

    def stats(self, device) -> dict[str, int]:
        """What is known now.

        Args:
            device: the CPU, as JAX has it.
        """
        used = _bytes_of_arrays(device)
        pages, most = _pages()
        if self._begun is None:
            peak = max(used, _largest_program(device))
        else:
            peak = max(used, self._begun[0] + max(0, most - self._begun[1]))
        pages, most = pages or used, max(most, self._earlier_peak, used)
        return {
            "bytes_in_use": used, "peak_bytes_in_use": peak,
            "pool_bytes": pages, "peak_pool_bytes": max(most, pages),
        }  # fmt: skip

    def set_back(self, device, held: bool) -> None:
        """Begin anew to look for the most bytes.

        Args:
            device: the CPU, as JAX has it.
            held: whether that is meant of the pages too.
        """
        # What was freed and kept would hide how much is needed from here on.
        malloc.give_back()
        self._earlier_peak = 0 if held else max(self._earlier_peak, _pages()[1])
        with contextlib.suppress(OSError):
            _CLEAR.write_text(_PEAK_OF_PAGES)
        self._begun = _bytes_of_arrays(device), _pages()[1]


def _bytes_of_arrays(device) -> int:
    """Of all arrays on a device, those that share their memory once."""
    sizes: dict[int, int] = {}
    for array in jax.live_arrays(device.platform):
        try:
            sizes[array.unsafe_buffer_pointer()] = array.nbytes
        except (RuntimeError, ValueError):  # on several devices, or just deleted
            sizes[id(array)] = 0 if array.is_deleted() else array.nbytes
    return sum(sizes.values())


def _largest_program(device) -> int:
    """The most bytes that a program which is compiled needs, by XLA's plan of its memory."""
    most = 0
    for executable in device.client.live_executables():
        plan = executable.get_compiled_memory_stats()
        whole = plan.argument_size_in_bytes + plan.output_size_in_bytes + plan.temp_size_in_bytes
        most = max(most, whole - plan.alias_size_in_bytes)
    return most


def _pages() -> tuple[int, int]:
    """The bytes of pages that the process has in memory, and the most it had; 0 where the system
    does not tell."""
    try:
        text = _STATUS.read_text()
    except OSError:
        return 0, 0
    found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", text, re.MULTILINE))
    return int(found.get("VmRSS", 0)) << 10, int(found.get("VmHWM", 0)) << 10


host_memory = HostMemory()
