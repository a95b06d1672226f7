# SPDX-License-Identifier: Apache-2.0
"""The ten lines that a newcomer types first, in a fresh process that has compiled nothing before.

Oracle of the numbers: the parabola's own minimum, by hand. Their cost is counted in seconds of the
processor, import and compilation included: what else the machine does is no part of it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

MOST_SECONDS = 2.0

PROGRAM = """
import mycel as ms
from mycel import Parameter, Tensor, ops
x = Tensor([1.0, 2.0, 3.0])
print(ops.exp(x - x) + x)
w = Parameter(Tensor([0.0]), name="w")
gradient = ms.grad(lambda: ((w - 3) ** 2).sum(), None, [w])
@ms.jit
def step():
    return ops.assign(w, w - 0.5 * gradient()[0])
print([step().asnumpy().item() for _ in range(4)], w)
"""
PRINTED = """\
[2. 3. 4.]
[3.0, 3.0, 3.0, 3.0] Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)
"""


def seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_first_ten_lines(tmp_path):
    assert len(PROGRAM.strip().splitlines()) <= 10
    # As users compile; nothing that was compiled before is found.
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    environment["MYCEL_CACHE"] = str(tmp_path / "cache")
    before = seconds_of_children()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    seconds = seconds_of_children() - before
    assert done.stdout == PRINTED, done.stderr
    assert done.stderr == ""
    assert seconds < MOST_SECONDS, f"{seconds:.2f} s"
