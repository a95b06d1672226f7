# SPDX-License-Identifier: Apache-2.0
"""A process whose children save a checkpoint in slices, each killed one call of the system later.

    python killed_saving.py folder

After each kill the checkpoint is read: it has the old values or the new ones. Slices of three
devices are written, by one process.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys
import traceback

import numpy as np

import mycel as ms
from mycel.checkpoint.sharded import slices

# What Python tells of before it asks the system.
WATCHED = (
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.listdir",
    "os.scandir", "shutil.rmtree",
)  # fmt: skip


def values(number):
    """Three arrays and a text that tell which save they are of."""
    return {**{name: np.full(50, number) for name in "abc"}, "text": f"save {number}"}


def saving(path: str, number: int, end: int) -> int | None:
    """Save in a child that is killed before its call number `end`; its exit code."""
    process = os.fork()
    if process == 0:
        made = 0

        def watch(event, _):
            nonlocal made
            if event in WATCHED:
                made += 1
                if made > end:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            ms.save_checkpoint(values(number), path)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitpid(process, 0)[1]
    return os.waitstatus_to_exitcode(status)


def main(folder: str) -> None:
    """Kill children later and later; print what was found after each."""
    slices._devices = lambda: 3
    path = str(pathlib.Path(folder) / "net.index.json")
    assert saving(path, 0, 10**9) == 0
    states, number, code = [], 0, None
    while code != 0:
        code = saving(path, number + 1, len(states))
        assert code in (0, -signal.SIGKILL), code
        loaded = ms.load_checkpoint(path)
        found = int(loaded["a"].asnumpy()[0])
        for name, value in values(found).items():
            np.testing.assert_array_equal(np.asarray(loaded[name]), value, name)
        assert found in (number, number + 1), (found, number)
        states.append("old" if found == number else "new")
        number = found
    left = len(os.listdir(folder))
    print(json.dumps({"states": states, "left": left}))


if __name__ == "__main__":
    main(sys.argv[1])
