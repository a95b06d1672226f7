# SPDX-License-Identifier: Apache-2.0
"""A process whose children train, save after every step and are killed; run by the tests.

    python killed_training.py folder kills

Each child loads what the killed one has saved and goes on. After each kill the file is compared
with a run that nobody interrupted: its step, and the bits of all Parameters.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import signal
import sys
import time
import traceback
import zlib

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.checkpoint import load_training_state, save_training_state
from mycel.checkpoint.contents import bytes_of
from mycel.checkpoint.files import bytes_of_file
from mycel.checkpoint.safetensors_format import decode

STEPS = 200


class Line(nn.Cell):
    """Two Parameters, and numbers of the generator."""

    def __init__(self):
        super().__init__()
        self.slope = Parameter(Tensor([1.0, 2.0]), name="slope")
        self.offset = Parameter(Tensor([0.5]), name="offset")

    def construct(self, x):
        """A noisy line."""
        return ops.dropout(self.slope, 0.5) * x + self.offset


def build():
    """The network and the optimiser at the start, and the random state."""
    ms.set_context(pynative_synchronize=True)
    ms.set_seed(7)
    random.seed(7)
    net = Line()
    return net, nn.Adam(net.trainable_params(), 0.1)


def step(net, optimizer):
    """One step of training; the input is of NumPy's generator."""
    x = Tensor(np.random.randn(2).astype(np.float32))
    gradients = ms.grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(x)
    optimizer(gradients)


def fingerprint(contents) -> int:
    """A checksum of every array: Parameters, optimiser and random state."""
    return zlib.crc32(b"".join(bytes(bytes_of(contents[name])) for name in sorted(contents)))


def saved(path) -> tuple[int, int]:
    """The step of a file, and the fingerprint."""
    contents, metadata = decode(bytes_of_file(path), path)
    return json.loads(metadata["plain"])["step"], fingerprint(contents)


def uninterrupted(path: pathlib.Path) -> list[int]:
    """The fingerprint after each step of a run that nobody interrupts."""
    net, optimizer = build()
    found = []
    for number in range(STEPS):
        step(net, optimizer)
        save_training_state(path, net=net, optimizer=optimizer, step=number + 1)
        found.append(saved(path)[1])
    path.unlink()
    return found


def train(path: pathlib.Path, report: int) -> None:
    """Go on where the file is, save after every step, and report it once it is saved."""
    net, optimizer = build()
    number = 0
    if path.exists():
        number = load_training_state(path, net=net, optimizer=optimizer)["step"]
    while number < STEPS:
        step(net, optimizer)
        number += 1
        save_training_state(path, net=net, optimizer=optimizer, step=number)
        os.write(report, number.to_bytes(4, "little"))


def child(work) -> tuple[int, int]:
    """A child that does some work with the end of a pipe, and the other end."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            work(writing)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    return process, reading


def read_all(reading: int) -> bytes:
    """Everything that comes out of a pipe."""
    with os.fdopen(reading, "rb") as file:
        return file.read()


def main(folder: str, kills: int) -> None:
    """Kill children at random moments; print what was found."""
    path = pathlib.Path(folder) / "run.safetensors"
    process, reading = child(lambda w: os.write(w, json.dumps(uninterrupted(path)).encode()))
    expected = json.loads(read_all(reading))
    os.waitpid(process, 0)
    chance = random.Random(5)
    steps, began_anew = [], 0
    for _ in range(kills):
        if path.exists() and saved(path)[0] > STEPS - 20:
            path.unlink()
            began_anew += 1
        process, reading = child(lambda w: train(path, w))
        first = os.read(reading, 4)  # it has saved one step: from now on it is killed
        time.sleep(chance.random() * 0.02)
        os.kill(process, signal.SIGKILL)
        reported = first + read_all(reading)
        os.waitpid(process, 0)
        number, found = saved(path)
        last = int.from_bytes(reported[-4:], "little")
        assert last <= number <= last + 1, f"step {last} was saved, but the file has {number}"
        assert found == expected[number - 1], f"step {number} is another than without a kill"
        steps.append(number)
    left = sorted(p.name for p in path.parent.iterdir())
    print(json.dumps({"steps": steps, "began_anew": began_anew, "left": left}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
