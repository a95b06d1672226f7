# SPDX-License-Identifier: Apache-2.0
"""One program of one framework, in a process of its own: its facts, as a line of JSON.

`python -m bench.debuggability.worker MODULE BEHAVIOUR ROUNDS`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

from bench.debuggability.material import NotApplicable, NoWay


def main() -> None:
    """Run the program, and answer."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints does not mix with the answer
    name, behaviour, rounds = sys.argv[1:]
    module = importlib.import_module(f"bench.debuggability.in_{name}")
    answer: dict = {"version": module.version()}
    try:
        answer |= {"cost": None, "note": "", "rounds": int(rounds), "file": f"in_{name}.py"}
        answer |= getattr(module, behaviour)(int(rounds))
    except (NoWay, NotApplicable) as told:
        answer[type(told).__name__] = str(told)
    except Exception as error:
        text = " ".join(str(error).split())
        answer["error"] = f"{type(error).__name__}: {text}"[:400]
    print(json.dumps(answer), file=answers, flush=True)
    answers.close()
    sys.stderr.flush()
    os._exit(0)  # threads of a framework that do not end are no failure of the behaviour


if __name__ == "__main__":
    main()
