# SPDX-License-Identifier: Apache-2.0
"""A fork after the first operator says what to do, and never hangs. Oracle: NumPy, exit codes."""

from __future__ import annotations

import textwrap

import pytest

from support import prepared

# What a fork prints, and how it ends; the parent computes behind it.
FRAME = """
import os, sys, time
import numpy as np
import mycel as ms
from mycel import Parameter, Tensor, nn, ops

{before}

def child():
{child}

number = os.fork()
if number == 0:
    try:
        child()
    except RuntimeError as error:
        print("RuntimeError:", error, flush=True)
        os._exit(3)
    {leave}
_, status = os.waitpid(number, 0)
print("exit", os.waitstatus_to_exitcode(status))
{after}
"""
AFTER = "assert (Tensor([1.0, 2.0]) * 4).asnumpy().tolist() == [4.0, 8.0]"
BEGUN = """
x = Tensor([1.0, 2.0])
(x * 2).asnumpy()
net = nn.Dense(2, 2)
step = ms.jit(lambda x: x * 3 + 1)
for _ in range(4):
    step(x).asnumpy()
pending = x * 5
"""


def run(program: str) -> str:
    # A fork that hangs is ended with its parent, and fails here.
    done = prepared.run(["-c", program], timeout=60, session=True)
    return done.stdout + done.stderr


def fork(child: str, before: str = BEGUN, leave: str = "os._exit(0)", after: str = AFTER) -> str:
    body = textwrap.indent(textwrap.dedent(child).strip(), "    ")
    return run(FRAME.format(before=before, child=body, leave=leave, after=after))


USES = {
    "an operator": "x + 1",
    "a first operator": "x.sinh()",
    "a Tensor": "Tensor([1.0])",
    "a replay": "step(x).asnumpy()",
    "a Cell": "net(Tensor(np.ones((1, 2), np.float32)))",
    "a Cell on what is there": "net(x.reshape(1, 2)).asnumpy()",
    "a derivative": "ms.grad(lambda x: x * x)(x)",
    "random numbers": "ops.standard_normal((2,)).asnumpy()",
    "a value that is pending": "pending.asnumpy()",
    "an operator on a pending value": "(pending + 1).asnumpy()",
    "operator by operator": "ms.set_context(pynative_synchronize=True)\nx + 1",
    "Graph mode": "ms.set_context(mode=ms.GRAPH_MODE)\nnet(x.reshape(1, 2)).asnumpy()",
    "a thread": "from concurrent.futures import ThreadPoolExecutor\n"
    "ThreadPoolExecutor(1).submit(lambda: (x + 1).asnumpy()).result()",
    "once more": "try:\n    pending.asnumpy()\nexcept RuntimeError:\n    pending.asnumpy()",
}


@pytest.mark.parametrize("use", USES)
def test_the_machine_in_a_fork_is_an_error_that_says_what_to_do(use):
    text = fork(USES[use])
    assert "RuntimeError: The machine was used at <string>:" in text
    assert "get_context('spawn')" in text
    assert "exit 3" in text
    assert "Traceback" not in text


def test_a_fork_reads_values_that_were_there():
    child = """
    print(x.asnumpy(), net.bias.asnumpy() * 0 + 1, large.asnumpy()[0, 0])
    print(float(x.asnumpy().sum()), x.shape, x.dtype, repr(x))
    """
    # Still running when the fork is made.
    late = BEGUN + "large = ops.matmul(ops.ones((1500, 1500)), ops.ones((1500, 1500)))\nms.flush()"
    text = fork(child, late)
    assert "[1. 2.] [1. 1.] 1500.0" in text
    assert "3.0 (2,) Float32 Tensor(shape=[2], dtype=Float32" in text
    assert "exit 0" in text
    assert "Warning" not in text  # as JAX gives at every fork


def test_a_fork_before_the_first_tensor_computes():
    text = fork("print((Tensor([1.0, 2.0]) * 3).asnumpy())", before="")
    assert "[3. 6.]" in text
    assert "exit 0" in text


def test_a_fork_of_a_fork_is_told_too():
    child = """
    number = os.fork()
    if number == 0:
        try:
            Tensor([1.0])
        except RuntimeError as error:
            os._exit(5)
    print("inner", os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)
    """
    text = fork(child)
    assert "inner 5" in text
    assert "exit 0" in text


def test_a_fork_ends_as_programs_do():
    text = fork("print(sum(range(4)), flush=True)", leave="sys.exit(7)")
    assert "6" in text
    assert "exit 7" in text


def test_a_fork_that_is_told_and_does_not_listen_ends_with_a_traceback():
    child = """
    try:
        x + 1
    except RuntimeError as error:
        raise ValueError("not caught") from error
    """
    text = fork(child)
    assert "ValueError: not caught" in text
    assert "exit 1" in text


POOLS = """
import multiprocessing, warnings
warnings.simplefilter("ignore")
import mycel as ms
from mycel import Tensor

x = Tensor([1.0, 2.0])
(x * 2).asnumpy()

def plain(n):
    return n * n + float(x.asnumpy().sum())

def machine(n):
    return (x * n).asnumpy()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        print(pool.map(plain, range(3)))
        try:
            pool.map(machine, range(3))
        except RuntimeError as error:
            print("told:", error)
    process = context.Process(target=machine, args=(1,))
    process.start()
    process.join(60)
    print("process", process.exitcode)
    print((x * 4).asnumpy())
"""


def test_workers_of_multiprocessing():
    text = run(POOLS)
    assert "[3.0, 4.0, 7.0]" in text
    assert "told: The machine was used at <string>:14, but this process" in text
    assert "process 1" in text
    assert text.count("get_context('spawn')") == 2  # to the parent, and in the worker's traceback
    assert "[4. 8.]" in text
