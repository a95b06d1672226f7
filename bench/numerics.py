# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.numerics`: what a compiled step costs while NaN is looked for, and to find one.

Rounds with `find_nan` and without take turns on one compiled step; each line is the median of the
rounds' ratios, with quartiles. Then one batch has a NaN: how long until the error, in steps, beside
one run of the step operator by operator (`pynative_synchronize`).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mycel as ms
from bench import cells
from bench.work import WORK

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


if __name__ == "__main__":
    main()
