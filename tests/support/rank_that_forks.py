# SPDX-License-Identifier: Apache-2.0
"""Two processes, of which one forks others: these end, and are no processes that compute."""

from __future__ import annotations

import multiprocessing
import os
import sys

import mycel as ms
from mycel import communication, ops

communication.init()
x = ms.Tensor([1.0, 2.0])
print(ops.AllReduce()(x), flush=True)
if communication.get_rank() == 1:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, 2]) == [1, 2]
    child = os.fork()
    if not child:
        sys.exit(3)
    print("ENDED", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
print("SUM", ops.AllReduce()(x), flush=True)
