# SPDX-License-Identifier: Apache-2.0
"""One framework in a process of its own: reads what to run from its input, answers with times."""

from __future__ import annotations

import importlib
import json
import sys
import time

import numpy as np


def main() -> None:
    """Serve requests `{"work", "variant", "calls"}` until the input ends."""
    module = importlib.import_module(f"bench.in_{sys.argv[1]}")
    made: dict = {}
    print(json.dumps({"variants": module.VARIANTS, "settings": module.settings()}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        key = (request["work"], request["variant"])
        if key not in made:
            made[key] = getattr(module, request["work"])(request["variant"])
        once, seconds, results = made[key], [], []
        for _ in range(request["calls"]):
            start = time.perf_counter()
            result = once()
            seconds.append(time.perf_counter() - start)
            results.append(np.asarray(result, np.float64).ravel()[:4].tolist())
        print(json.dumps({"seconds": seconds, "results": results}), flush=True)


if __name__ == "__main__":
    main()
