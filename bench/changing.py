# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.changing`: training steps whose batch length is another at each call.

An MLP 64-128-128-10 with Adam, in PyNative, in `@jit`, and padded: processor time of a step with a
new length, of one with a length that comes back, what was compiled, and the memory that is added.
`--torch` times the same in PyTorch eager. `--memory` makes 10,000 calls: with fresh lengths, with
fresh NumPy batches of 5 MB, with fresh numbers and with fresh functions as arguments.
"""

from __future__ import annotations

import argparse
import gc
import os
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np

from bench.frameworks import python_of

FIRST, NEW = 30, 200
CALLS = 10_000
# By name, what is asked of `jit`.
LANES: dict[str, dict | None] = {
    "PyNative": None,
    "@jit": {},
    "@jit(dynamic='padded')": {"dynamic": "padded"},
}
TORCH = """
import time, numpy as np, torch
f = torch.nn
net = f.Sequential(f.Linear(64, 128), f.ReLU(), f.Linear(128, 128), f.ReLU(), f.Linear(128, 10))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
chance, times = np.random.default_rng(0), []
for length in range({first}, {first} + {new}):
    x = torch.from_numpy(chance.standard_normal((length, 64)).astype("f"))
    y = torch.from_numpy(chance.integers(0, 10, length))
    start = time.process_time()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    loss.item()
    times.append(1e3 * (time.process_time() - start))
print(*np.percentile(times, [25, 50, 75]).round(2))
"""


def resident() -> float:
    """The memory of this process in MB."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def training(jit: dict | None, width: int = 64, hidden: int = 128):
    """A step, as a function of the batch length that returns its processor time in ms."""
    import mycel as ms  # not for PyTorch's lane, nor before memory is counted
    from mycel import Tensor, nn

    layers = [nn.Dense(width, hidden), nn.ReLU(), nn.Dense(hidden, hidden), nn.ReLU()]
    net = nn.SequentialCell(*layers, nn.Dense(hidden, 10))
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    derivative = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    call = step if jit is None else ms.jit(step, **jit)
    chance = np.random.default_rng(0)

    def run(length: int) -> float:
        x = chance.standard_normal((length, width)).astype(np.float32)
        y = chance.integers(0, 10, length).astype(np.int32)
        start = time.process_time()
        float(call(Tensor(x), Tensor(y)))
        return 1e3 * (time.process_time() - start)

    return run


def times(name: str) -> None:
    from mycel.debug import ledger

    run = training(LANES[name])
    for length in (20, 20, 20, 21, 22, 23):
        run(length)
    before, compiled = resident(), ledger().counts.compilations
    new = [run(length) for length in range(FIRST, FIRST + NEW)]
    told = f"{np.percentile(new, [25, 50, 75]).round(2)} ms, {resident() - before:.0f} MB"
    print(f"{name}: a new length {told}, {ledger().counts.compilations - compiled} compilations")
    for _ in range(4):
        run(FIRST)
    back = [run(FIRST) for _ in range(50)]
    print(f"{name}: one that came back {np.percentile(back, [25, 50, 75]).round(2)} ms", flush=True)


def memory() -> None:
    import mycel as ms
    from mycel import Tensor, nn

    warnings.simplefilter("ignore")
    run = training(None, 8, 16)
    net = nn.Dense(64, 8)
    batch = np.random.default_rng(0).standard_normal((20480, 64)).astype(np.float32)
    small = Tensor(batch[:8])

    @ms.jit
    def of_data(x):
        return net(Tensor(x)).sum()

    @ms.jit
    def of_number(x, number):
        return (net(x) * number).sum()

    @ms.jit
    def of_function(x, function):
        return function(net(x)).sum()

    def fresh(number: int):
        batch[0, 0] = number
        return batch.copy()

    calls = {
        "fresh lengths": lambda number: run(2 + number),
        "fresh batches of 5 MB": lambda number: float(of_data(fresh(number))),
        "fresh numbers": lambda number: float(of_number(small, number + 0.5)),
        "fresh functions": lambda number: float(of_function(small, lambda y: y * 2)),
    }
    for name, call in calls.items():
        for number in range(20):
            call(number)
        gc.collect()
        before = resident()
        for number in range(20, CALLS):
            call(number)
        gc.collect()
        added = resident() - before
        # The C library is told to keep what is freed; this gives it back, which leaves what lives.
        ms.runtime.empty_cache()
        rest = f"{resident() - before:+.0f} MB once freed memory is given back"
        print(f"{CALLS} calls with {name}: {added:+.0f} MB, {rest}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--torch", action="store_true", help="also PyTorch, in an environment")
    parser.add_argument("--memory", action="store_true", help="the memory of 10,000 calls")
    parser.add_argument("--lane", choices=LANES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch:
        code = TORCH.format(first=FIRST, new=NEW)
        run = subprocess.run([python_of("torch"), "-c", code], capture_output=True, check=True)
        print(f"PyTorch: a new length [{run.stdout.decode().strip()}] ms")
    if options.memory:
        memory()
    elif options.lane:
        times(options.lane)
    else:
        # Each in a process of its own: lengths that the other had would come back, and be compiled.
        for lane in LANES:
            subprocess.run([sys.executable, "-m", "bench.changing", "--lane", lane], check=True)


if __name__ == "__main__":
    sys.exit(main())
