# SPDX-License-Identifier: Apache-2.0
"""Freed memory stays with the process on Linux: a step meets no pages that the system has to zero.

Oracle: the system's own counts of page faults and of resident memory, in a fresh process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from mycel.tuning import malloc

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or malloc._glibc() is None, reason="glibc's heap is what is set"
)

# A large product, which glibc by itself maps anew each time.
STEP = """
import json, resource, statistics, sys, time

import numpy as np
import mycel as ms

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

x = ms.Tensor(np.ones((int(sys.argv[1]), 64), np.float32))

def step():
    return float(ms.ops.matmul(x, x.T).tanh()[0, 0])

for _ in range(4):
    step()
each = []
for _ in range(9):
    before = faults()
    step()
    each.append(faults() - before)
time.sleep(0.5)  # XLA's threads free what they worked in a moment after the answer
held = resident()
ms.runtime.empty_cache()
print(json.dumps([statistics.median(each), held, resident()]))
"""


LARGE, LARGER = 3500, 4500  # rows: 47 and 77 MiB, below and above what a thread's heap can hold


def measured(rows: int, **variables: str) -> list[float]:
    """Page faults of a step (the median), resident bytes before and after `empty_cache`."""
    environment = os.environ | variables
    command = [sys.executable, "-c", STEP, str(rows)]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def test_a_step_takes_no_pages_from_the_system():
    faults, _, _ = measured(LARGER, MYCEL_HEAP="one")
    assert faults < 100


def test_in_most_processes_a_step_takes_none_by_itself():
    # Which thread has which heap depends on which of them comes first.
    assert any(measured(LARGE)[0] < 100 for _ in range(4))


def test_what_is_kept_is_given_back_when_asked():
    # With one heap: glibc does not shorten the heaps of threads, of up to 64 MiB each.
    _, before, after = measured(LARGER, MYCEL_HEAP="one")
    assert before - after > 60 << 20


@pytest.mark.parametrize(
    "variables", [{"MYCEL_HEAP": "off"}, {"MALLOC_ARENA_MAX": "8"}], ids=["off", "the user's"]
)
def test_it_can_be_left_alone(variables):
    # Not by page faults: a system that prefers huge pages by itself has few of them.
    _, before, after = measured(LARGE, **variables)
    assert before - after < 10 << 20


HEAPS = """
import ctypes, os, sys

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
import mycel as ms

library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
for size in range(1, 9):  # each compiled, by threads of its own
    ms.ops.tanh(ms.ops.ones((size, 8))).asnumpy()
file = ctypes.c_void_p(library.fopen(sys.argv[1].encode(), b"w"))
library.malloc_info(0, file)
library.fclose(file)
"""


def test_with_two_cores_threads_share_two_heaps(tmp_path):
    # Oracle: glibc's own account of its heaps.
    account = tmp_path / "heaps.xml"
    environment = os.environ | {"MYCEL_CACHE": "off"}
    subprocess.run([sys.executable, "-c", HEAPS, str(account)], env=environment, check=True)
    assert account.read_text().count("<heap nr=") == 2


def test_memory_is_what_a_container_may_use(tmp_path, monkeypatch):
    # Oracle: the limit of the control group, as its file says it.
    whole = malloc._memory()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(malloc, "_LIMITS", (str(tmp_path / "nothing"), str(limit)))
    limit.write_text("max\n")
    assert malloc._memory() >= whole
    limit.write_text("1048576\n")
    assert malloc._memory() == 1 << 20
