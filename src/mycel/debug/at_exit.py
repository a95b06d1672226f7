# SPDX-License-Identifier: Apache-2.0
"""MYCEL_LEDGER: the ledger is written to this file when the process ends."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from pathlib import Path

from mycel.report.ledger import ledger

VARIABLE = "MYCEL_LEDGER"
# Set for the processes that this one starts: the file is its own, theirs stand beside it.
OWNER_VARIABLE = "MYCEL_LEDGER_OWNER"


def register() -> None:
    """Have the ledger written at the end, if the environment asks for it."""
    report = os.environ.get(VARIABLE)
    if not report:
        return
    process = os.getpid()
    # Where the process is now: a program may go elsewhere.
    path = Path(report).expanduser().absolute()
    owner = os.environ.setdefault(OWNER_VARIABLE, str(process))
    is_owner = owner == str(process)
    if not is_owner:
        path = path.with_name(f"{path.stem}-{process}{path.suffix}")
    atexit.register(_write, path, process, is_owner)


def _write(path: Path, process: int, is_owner: bool) -> None:
    # A fork has the counts of its parent. A worker that prepares data has nothing to tell.
    counts = ledger.counts
    if os.getpid() != process or not (is_owner or counts.segments or counts.captures):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ledger.write(path)
    except Exception as error:
        # What the program itself ended with is what its user must see.
        with contextlib.suppress(Exception):
            print(f"{VARIABLE}={path} could not be written: {error}", file=sys.stderr)
