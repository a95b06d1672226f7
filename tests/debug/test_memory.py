# SPDX-License-Identifier: Apache-2.0
"""The memory of the CPU.

Oracles: sizes by hand; XLA's plan of the memory of a program; what the system tells of the process.
"""

from __future__ import annotations

import gc
import resource

import numpy as np

import mycel as ms
from mycel import Tensor, ops

MIB = 1 << 20


def test_arrays_are_counted_each_once():
    gc.collect()
    before = ms.runtime.memory_allocated("CPU")
    kept = Tensor(np.zeros(8 * MIB, np.float32)) + 1
    same = Tensor(kept)
    used = ms.runtime.memory_allocated("CPU") - before
    # The NumPy array was the input of an operator, and is gone.
    assert 32 * MIB <= used <= 33 * MIB
    del kept, same
    assert ms.runtime.memory_allocated("CPU") - before < MIB


def test_pages_of_the_process():
    stats = ms.runtime.memory_stats("CPU")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert 0 <= stats["total_allocated_memory"] < stats["total_reserved_memory"]
    assert stats["total_reserved_memory"] <= stats["max_reserved_memory"] <= most + MIB
    assert stats["max_reserved_memory"] >= 100 * MIB  # Python, NumPy and XLA
    rows = dict(line.split() for line in ms.runtime.memory_summary("CPU").splitlines()[1:])
    assert float(rows["max_reserved_memory"]) >= 100


def test_the_peak_of_a_step_is_seen_after_it_was_set_back():
    @ms.jit
    def step(x):
        # Each row times all rows: 128 MiB that nobody keeps, and that a product needs as a whole.
        rows = ops.exp(x.reshape((-1, 1)) * x.reshape((1, -1)))
        return ops.matmul(rows, rows[:, :2]).sum()

    x = Tensor(np.random.RandomState(0).rand(5792).astype(np.float32))
    for _ in range(4):
        step(x).asnumpy()
    ms.runtime.reset_peak_memory_stats("CPU")
    quiet = ms.runtime.max_memory_allocated("CPU") - ms.runtime.memory_allocated("CPU")
    assert 0 <= quiet < 32 * MIB
    step(x).asnumpy()
    peak = ms.runtime.max_memory_allocated("CPU")
    # What a program works in is freed when it has run.
    assert peak - ms.runtime.memory_allocated("CPU") >= 100 * MIB
    ms.runtime.reset_max_memory_allocated("CPU")
    again = ms.runtime.max_memory_allocated("CPU") - ms.runtime.memory_allocated("CPU")
    assert 0 <= again < 32 * MIB
