# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.numerics`: what a compiled step costs while NaN is looked for, and to find one.

Rounds with `find_nan` and without take turns on one compiled step; each line is the median of the
rounds' ratios, with quartiles. Then one row of a batch is so large that the step overflows: how
long until the error, beside two steps and one run of the step operator by operator
(`pynative_synchronize`), within which it is to be found.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mycel as ms
from bench import cells
from bench.work import WORK, batch

NETWORKS = ("lenet", "bert", "resnet18")


def seconds(call, calls: int) -> float:
    """The median time of some calls, behind one that is not timed."""
    call()
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        np.asarray(call())
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def until_found(networks, work: str, rounds: int) -> tuple[float, float, float, str]:
    """The seconds of a step, of one operator by operator, and until a fault is told; and where."""
    plain = cells.training(ms, networks, work)
    step = ms.jit(plain)
    x, target = batch(work)
    broken = x.copy()
    broken[1] = np.finfo(np.float32).max
    x, broken, target = ms.Tensor(x), ms.Tensor(broken), ms.Tensor(target)
    ms.set_context(pynative_synchronize=True)
    directly = seconds(lambda: plain(x, target), 3)
    ms.set_context(pynative_synchronize=False)
    found, steps, told = [], [], ""
    # The first error compiles each operator by itself, and is not timed.
    for number in range(rounds + 1):
        with ms.debug.find_nan():
            for _ in range(4):
                np.asarray(step(x, target))
            steps.append(seconds(lambda: step(x, target), 3))
            start = time.perf_counter()
            try:
                np.asarray(step(broken, target))
            except ms.debug.NonFiniteError as error:
                told = f"{error.operator} in {error.cell}, row {error.batch}"
            found += [time.perf_counter() - start] if number else []
        assert told, "nothing was told"
    return float(np.median(steps)), directly, float(np.median(found)), told


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.numerics", description=__doc__)
    parser.add_argument("work", nargs="*", default=NETWORKS, help=f"of {', '.join(WORK)}")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    networks = cells.Networks(ms)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for work in options.work:
        call = cells.make(ms, networks, work, True)
        for armed in (False, True) * 2:
            ms.set_context(check_numerics=armed)
            for _ in range(4):
                call()
        calls = max(3, min(WORK[work].calls, int(0.4 / seconds(call, 3))))
        compiled = ms.debug.ledger().counts.compilations
        ratios, plain = [], []
        for _ in range(options.rounds):
            ms.set_context(check_numerics=False)
            plain.append(seconds(call, calls))
            ms.set_context(check_numerics=True)
            ratios.append(seconds(call, calls) / plain[-1])
        ms.set_context(check_numerics=False)
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        compiled = ms.debug.ledger().counts.compilations - compiled
        print(
            f"{work:10s} {np.median(plain) * 1e3:9.3f} ms  with find_nan / without "
            f"{middle:.3f} [{low:.3f}, {high:.3f}]  compiled meanwhile: {compiled}",
            flush=True,
        )
        step, directly, found, told = until_found(networks, work, min(options.rounds, 5))
        print(
            f"{work:10s} found in {found * 1e3:.1f} ms: {told}; two steps and one operator by "
            f"operator take {(2 * step + directly) * 1e3:.1f} ms (ratio "
            f"{found / (2 * step + directly):.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
