# SPDX-License-Identifier: Apache-2.0
"""The second of two processes ends without a word; what the first is told."""

from __future__ import annotations

import os
import signal
import time

import mycel as ms
from mycel import communication, ops

communication.init()
x = ms.Tensor([1.0, 2.0])
print(ops.AllReduce()(x), flush=True)
if communication.get_rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
start = time.monotonic()
try:
    ops.AllReduce("max")(x)  # the line that is named
except RuntimeError as error:
    print("TOLD", f"{time.monotonic() - start:.1f}", error, flush=True)
    os._exit(3)
