# SPDX-License-Identifier: Apache-2.0
"""The ten lines that a newcomer types first, in a fresh process that has compiled nothing before.

Oracle of the numbers: the parabola's own minimum, by hand. Their cost is counted in seconds of the
processor, import and compilation included; Python's bytecode is there, as after an install. At most
two seconds, or on a slower machine twice what JAX takes there to differentiate one exponential.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

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
BY_JAX = "import jax; print(jax.jit(jax.grad(lambda x: jax.numpy.exp(x).sum()))(jax.numpy.ones(3)))"
PRINTED = """\
[2. 3. 4.]
[3.0, 3.0, 3.0, 3.0] Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)
"""


def run(program: str, folder: Path) -> tuple[subprocess.CompletedProcess, float]:
    """A process as users start it, with nothing of XLA's compiled; and its processor seconds."""
    left_out = ("XLA_FLAGS", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment["MYCEL_CACHE"] = str(folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_first_ten_lines(tmp_path):
    assert len(PROGRAM.strip().splitlines()) <= 10
    run("import mycel", tmp_path)  # writes the bytecode, where none is yet
    done, seconds = run(PROGRAM, tmp_path)
    assert done.stdout == PRINTED, done.stderr
    assert done.stderr == ""
    _, by_jax = run(BY_JAX, tmp_path)
    assert seconds < max(MOST_SECONDS, 2 * by_jax), f"{seconds:.2f} s, JAX {by_jax:.2f} s"
