# SPDX-License-Identifier: Apache-2.0
"""Starting a few processes that compute together, as a launcher does, and what each found.

A module of checks has functions named `check_…`; every process calls all of them in the order of
the file, so that their operators among processes meet. What a check raises is kept, and the next
one runs.
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import traceback
from typing import NamedTuple

import mycel
from support import prepared

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "scale.md"
# Seconds that a process waits for others: a program that hangs fails, and soon.
PATIENCE = 150
# Seconds after which processes are killed. What is asked for by a variable takes longer.
LONGEST = 4 * PATIENCE


class Rank(NamedTuple):
    """What one process left: how it ended, what it wrote, and what each check raised, or ''."""

    code: int | None
    text: str
    found: dict[str, str]


def environment(rank: int, count: int, port: int, **more: str) -> dict[str, str]:
    """What a launcher tells a process."""
    told = {
        "RANK_ID": rank,
        "RANK_SIZE": count,
        "DEVICE_ID": rank,
        "MS_WORKER_NUM": count,
        "MS_NODE_ID": rank,
        "MS_ROLE": "MS_WORKER",
        "MS_SCHED_HOST": "127.0.0.1",
        "MS_SCHED_PORT": port,
        "MYCEL_COORDINATOR": f"127.0.0.1:{port}",
        "MYCEL_TIMEOUT": PATIENCE,
    }
    source = pathlib.Path(mycel.__file__).parent.parent
    paths = os.pathsep.join(map(str, (source, HERE.parent, HERE)))
    return {**os.environ, **{k: str(v) for k, v in told.items()}, "PYTHONPATH": paths, **more}


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start(command: list[str], count: int, folder: pathlib.Path, **more: str) -> list:
    """Start `count` processes of one command; each writes to a file of its own."""
    port = free_port()
    processes = []
    for rank in range(count):
        with open(folder / f"rank_{rank}.txt", "w") as out:
            processes.append(
                prepared.start(
                    command, env=environment(rank, count, port, **more), stdout=out, stderr=out
                )
            )
    return processes


def ended(processes: list, folder: pathlib.Path, seconds: float = LONGEST) -> list[Rank]:
    """Wait for all of them; those that are late are killed."""
    ranks = []
    for rank, process in enumerate(processes):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            process.kill()
            process.wait()
        text = (folder / f"rank_{rank}.txt").read_text(errors="replace")
        found = folder / f"found_{rank}.json"
        ranks.append(Rank(code, text, json.loads(found.read_text()) if found.exists() else {}))
    return ranks


def run_checks(modules: str, count: int, folder: pathlib.Path, **more: str) -> list[Rank]:
    """Run all checks of a module, or of several with commas between, in so many processes."""
    command = [str(HERE / "together.py"), modules, str(folder)]
    asked = any(name in os.environ for name in ("MYCEL_HOOKS", "MYCEL_MATRIX"))
    return ended(start(command, count, folder, **more), folder, (12 if asked else 1) * LONGEST)


def names_of(modules: str) -> list[str]:
    """The names of the checks of modules, without importing them."""
    texts = [(HERE / f"{module}.py").read_text() for module in modules.split(",")]
    lines = "\n".join(texts).splitlines()
    return [line[4 : line.index("(")] for line in lines if line.startswith("def check_")]


def line_of(name: str, text: str) -> int:
    """The number of the line of a module that has a text."""
    lines = (HERE / name).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def assert_all_found(ranks: list[Rank], name: str) -> None:
    """Assert that a check ran, and raised nothing, in every process."""
    for number, rank in enumerate(ranks):
        said = rank.found.get(name, f"it did not run; the process ended with {rank.code}")
        assert not said, f"process {number}, {name}: {said}\n{rank.text[-3000:]}"


def run_example(name: str, folder: pathlib.Path) -> tuple[str, str]:
    """What an example of docs/scale.md prints, started as it says there, and what it says there."""
    text = PAGE.read_text()
    program = rf"```text\n(# {re.escape(name)}\n.*?)```.*?```text\n(.*?)```"
    ((written, expected),) = re.findall(program, text, re.DOTALL)
    (command,) = re.findall(rf"^mycel (launch .* {re.escape(name)})$", text, re.MULTILINE)
    (folder / name).write_text(written)
    source = str(pathlib.Path(mycel.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "mycel", *command.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "XLA_FLAGS": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.sub(r"(?m)^\[0\] ?", "", done.stdout), expected


def _main(modules: str, folder: str) -> None:
    found = {}
    path = pathlib.Path(folder) / f"found_{os.environ['RANK_ID']}.json"
    for module in modules.split(","):
        checks = importlib.import_module(module)
        for name in names_of(module):
            try:
                getattr(checks, name)()
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
            path.write_text(json.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])
