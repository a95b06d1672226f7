# SPDX-License-Identifier: Apache-2.0
"""One framework in a process of its own: reads what to run from its input, answers with times."""

from __future__ import annotations

import contextlib
import glob
import importlib
import json
import os
import pathlib
import sys
import time

import numpy as np


def main() -> None:
    """Serve requests until the input ends.

    `{"work", "variant", "calls", "seconds", "untimed"}`: after some calls that are not timed, at
    most so many, none begun after so many seconds; answered with the times, the first elements of
    the results, the processor time of all calls and, for mycel, how many programs were compiled.
    `{"memory": "reset"}` and `{"memory": "peak"}` begin and end a measurement of memory: of the
    device, where that has its own.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints does not mix with the answers
    module = importlib.import_module(f"bench.in_{sys.argv[1]}")
    compilations = getattr(module, "compilations", int)
    made: dict = {}

    def answer(content) -> None:
        print(json.dumps(content), file=answers, flush=True)

    answer({"variants": module.VARIANTS, "settings": module.settings()})
    for line in sys.stdin:
        request = json.loads(line)
        if "memory" in request:
            of_device = getattr(module, "device_memory", lambda what: None)(request["memory"])
            answer({"bytes": memory(request["memory"]) if of_device is None else of_device})
            continue
        key = (request["work"], request["variant"])
        try:
            if key not in made:
                made[key] = module.make(*key)
            before = compilations()
            for _ in range(request["untimed"]):
                made[key]()
            start = processor()
            seconds, results = calls(made[key], request["calls"], request["seconds"])
            used = processor() - start
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})
            continue
        compiled = compilations() - before
        answer(
            {"seconds": seconds, "results": results, "compilations": compiled, "processor": used}
        )


def calls(once, most: int, limit: float) -> tuple[list[float], list]:
    """Seconds of each call, and the first elements of each result."""
    seconds, results = [], []
    begin = time.perf_counter()
    while len(seconds) < most and (not seconds or time.perf_counter() - begin < limit):
        start = time.perf_counter()
        result = once()
        seconds.append(time.perf_counter() - start)
        results.append(np.asarray(result, np.float64).ravel()[:4].tolist())
    return seconds, results


def processor() -> float:
    """Seconds of processor time of this process and of those that it has started."""
    ticks = 0
    for task in glob.glob("/proc/self/task/*/children"):
        # What has ended in the meantime is not there any more.
        with contextlib.suppress(OSError):
            for child in pathlib.Path(task).read_text().split():
                fields = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
    ended = os.times()
    return time.process_time() + ended[2] + ended[3] + ticks / os.sysconf("SC_CLK_TCK")


def memory(what: str) -> int:
    """Bytes of this process: now, and forget the peak; or the peak since then."""
    if what == "reset":
        with open("/proc/self/clear_refs", "w") as control:
            control.write("5")
    label = {"reset": "VmRSS:", "peak": "VmHWM:"}[what]
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(label))


if __name__ == "__main__":
    main()
