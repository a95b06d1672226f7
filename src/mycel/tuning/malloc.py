# SPDX-License-Identifier: Apache-2.0
"""What the C library does with freed memory: keep it for the next step, as MindSpore's pool does.

glibc hands every block of more than 32 MiB back to the system when it is freed. XLA frees what a
program works in after each run, and the next run is given pages that the system zeroes one by one:
a tenth to a fifth of the processor time of a large step (measured, see docs/performance.md).
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from pathlib import Path

# "off" changes nothing; "one" gives all threads one heap. The heaps of threads hold blocks up to
# 64 MiB, and larger ones are mapped each time; with one heap they are kept, but all threads wait
# for one lock, which costs small steps 3 % and compilation a quarter.
HEAP_VARIABLE = "MYCEL_HEAP"
# With so few cores two heaps do: compilation takes as long as with more, and in most processes
# programs run on the thread that has the first, where blocks of any size are kept.
_FEW_CORES = 2

# From <malloc.h> of Linux.
_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8
_MOST = 2**31 - 1  # mallopt takes an int
_LARGER_THAN_PYTHONS_OWN = 4096  # Python keeps a store of its own for blocks of up to 512 bytes
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@functools.cache
def keep_freed_memory() -> int:
    """Let freed memory stay with this process from now on; how many bytes at most.

    Done before the first array is made; a process that only imports the library stays as it is.

    0, and nothing is changed, where the C library is not glibc, with MYCEL_HEAP=off, and where the
    environment says already how memory is to be had (`MALLOC_...`, `GLIBC_TUNABLES`).
    """
    library = _glibc()
    if library is None or _is_chosen_by_user():
        return 0
    kept = min(_MOST, _memory() // 4)
    library.mallopt(_TRIM_THRESHOLD, kept)
    library.mallopt(_MMAP_MAX, 0)
    if os.environ.get(HEAP_VARIABLE) == "one":
        library.mallopt(_ARENA_MAX, 1)
    elif len(os.sched_getaffinity(0)) <= _FEW_CORES:
        _have_two_heaps(library)
    return kept


def _have_two_heaps(library) -> None:
    """Limit the heaps to two, and let XLA's first worker meet the first of them.

    glibc gives new threads a heap that nobody uses, or else the heaps in turn. Two threads at once
    make the second heap and take one turn; when they end, nobody uses it: of XLA's three threads
    that come next, two get the second heap, and the third, which runs programs, the first. Where
    other threads came before, it may be the other way around, as with more heaps always.
    """
    library.mallopt(_ARENA_MAX, 2)
    both = threading.Barrier(2)

    def take_a_heap():
        block = bytearray(_LARGER_THAN_PYTHONS_OWN)
        both.wait()
        del block

    threads = [threading.Thread(target=take_a_heap) for _ in range(both.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def give_back() -> None:
    """Return the freed memory that was kept to the system."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def _glibc():
    version = "CS_GNU_LIBC_VERSION"
    if version not in getattr(os, "confstr_names", ()) or not os.confstr(version):
        return None
    return ctypes.CDLL(None)


def _is_chosen_by_user() -> bool:
    return (
        os.environ.get(HEAP_VARIABLE) == "off"
        or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
        or any(name.startswith("MALLOC_") for name in os.environ)
    )


def _memory() -> int:
    """Bytes of memory that this process may use."""
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in _LIMITS:
        try:
            most = min(most, int(Path(limit).read_text()))
        except (OSError, ValueError):  # another version of control groups, or "max"
            continue
    return most
