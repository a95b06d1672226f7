# SPDX-License-Identifier: Apache-2.0
"""MindSpore's own examples: those of the docstrings of an installed MindSpore 2.10, run here.

    python -m tests.wild.docstrings --mindspore PYTHON                  # all, in both modes
    python -m tests.wild.docstrings --mindspore PYTHON --names 'nn.*' --mode graph --tell

PYTHON is an interpreter that has MindSpore. The examples are read from it at that time and run
twice: in MindSpore itself on the CPU, which says which of them hold at all, and in mycel as `mycel
run` does. An example holds when every statement of its docstring does what is written there, as in
`doctest`; of printed floats three digits must agree. Nothing of the texts is kept:
`docstrings.json` has the names of those that hold in MindSpore (written by `--record`), and of
these the ones that do not hold here, by cause.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE / "docstring_examples.py"
RECORD = HERE / "docstrings.json"
MODES = ("pynative", "graph")
# A process that has run so many is replaced: it keeps what it compiled.
EXAMPLES_A_PROCESS = 300
# As conftest.py says: each of thousands of tiny programs runs once.
QUICK = "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1"


class Worker:
    """A process that runs examples one by one, and is replaced when one hangs or kills it."""

    def __init__(self, command: list[str], limit: float, folder: str):
        self.command, self.limit, self.folder = command, limit, folder
        self.process: subprocess.Popen | None = None
        self.done = 0

    def run(self, name: str) -> dict[str, str]:
        """The row of one example: its name, the cause of its failure ("" for none), a text."""
        if self.process is None:
            self._start()
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(f"{name}\n".encode())
        self.process.stdin.flush()
        line = self._line(self.limit)
        self.done += 1
        if not line.endswith(b"\n"):
            cause = "takes too long" if self.process.poll() is None else "ends the process"
            self.end()
            return {"name": name, "cause": cause, "text": ""}
        if self.done == EXAMPLES_A_PROCESS:
            self.end()
        return json.loads(line)

    def _start(self) -> None:
        self.done = 0
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=self.folder,
            env={**os.environ, "MYCEL_DEVICE": "CPU", "XLA_FLAGS": QUICK, "GLOG_v": "3"},
            start_new_session=True,
        )
        if self._line(300) != b"ready\n":
            self.end()
            raise RuntimeError(f"{' '.join(self.command)} does not start")

    def _line(self, seconds: float) -> bytes:
        """A line of the process; less than a line if it ends or says nothing for so long."""
        assert self.process is not None and self.process.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], seconds)[0]:
                break
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                self.process.wait()
                break
            line += piece
        return line

    def end(self) -> None:
        """End the process and all that it has started."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.__exit__(None, None, None)
            self.process = None


def run_all(command: list[str], names: Iterable[str], limit: float) -> Iterator[dict[str, str]]:
    """The row of each example."""
    # Some write files where the process was started.
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(command, limit, folder)
        try:
            for name in names:
                yield worker.run(name)
        finally:
            worker.end()


def find(mindspore: str) -> dict[str, str]:
    """The docstrings with examples of an installed MindSpore."""
    command = [mindspore, str(EXAMPLES), "find"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def under_mindspore(mindspore: str, file: str) -> list[str]:
    """The command of a process in which MindSpore runs examples, in its default mode."""
    return [mindspore, str(EXAMPLES), "run", file, "pynative"]


def under_mycel(file: str, mode: str) -> list[str]:
    """The command of a process in which mycel runs examples."""
    return [sys.executable, "-m", "mycel", "run", str(EXAMPLES), "run", file, mode]


def recorded() -> dict:
    """The record: `holds`, names by namespace; `fails`, causes by mode and name; `examples`."""
    return json.loads(RECORD.read_text("utf-8"))


def names_of(record: dict) -> list[str]:
    """The examples that hold in MindSpore."""
    return [f"{path}.{name}".lstrip(".") for path, names in record["holds"].items()
            for name in names.split()]  # fmt: skip


def package(name: str) -> str:
    """The namespace that a name is counted under: the words before its first capital or last."""
    path = name.split(".")[:-1]
    for number, word in enumerate(path):
        if word[:1].isupper():
            return ".".join(path[:number])
    return ".".join(path)


def by_package(names: Iterable[str]) -> dict[str, str]:
    """Names as the record has them."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        path = package(name)
        found[path].append(name[len(path) :].lstrip("."))
    return {path: " ".join(sorted(found[path])) for path in sorted(found)}


def table(names: list[str], failures: dict[str, dict[str, str]]) -> str:
    """How many hold by package and mode, then how often each cause stops one."""
    width = max(map(len, map(package, names)), default=0) + 2
    lines = []
    for path in [*sorted(set(map(package, names))), None]:
        chosen = [name for name in names if path is None or package(name) == path]
        cells = [f"{'all' if path is None else path or 'mindspore':{width}s}{len(chosen):6d}"]
        for mode, causes in failures.items():
            hold = len(chosen) - sum(name in causes for name in chosen)
            cells.append(f"{mode} {hold:5d} {100 * hold / max(len(chosen), 1):6.2f} %")
        lines.append("   ".join(cells))
    for mode, causes in failures.items():
        lines += [f"{mode}: {cause} ({n})" for cause, n in Counter(causes.values()).most_common()]
    return "\n".join(lines)


def main() -> None:
    """Run what was asked for, and print the table."""
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        texts = find(options.mindspore)
        chosen = [name for name in texts if fnmatchcase(name, options.names)]
        file = os.path.join(folder, "texts.json")
        Path(file).write_text(json.dumps(texts), "utf-8")
        if options.record:
            record_mindspore(options, texts, file)
        record = recorded()
        holds = set(names_of(record))
        chosen = [name for name in chosen if name in holds]
        failures = {}
        for mode in MODES if options.mode is None else (options.mode,):
            rows = run_all(under_mycel(file, mode), chosen, options.limit)
            failures[mode] = {row["name"]: row["cause"] for row in told(rows, options.tell)}
    print(table(chosen, failures))
    if options.record:
        record["fails"] = {**record["fails"], **failures}
        write(record)


def record_mindspore(options, texts: dict[str, str], file: str) -> None:
    """Write which examples hold in MindSpore."""
    rows = run_all(under_mindspore(options.mindspore, file), texts, options.limit)
    failed = {row["name"] for row in told(rows, options.tell)}
    holds = by_package(name for name in texts if name not in failed)
    write({"examples": len(texts), "holds": holds, "fails": {}})


def write(record: dict) -> None:
    """Write the record, a line for each namespace and each failure."""
    text = json.dumps(record, indent=1, sort_keys=True)
    RECORD.write_text(text + "\n", "utf-8")


def told(rows: Iterable[dict[str, str]], tell: bool) -> Iterator[dict[str, str]]:
    """The rows of failures, told if wished."""
    for row in rows:
        if row["cause"]:
            if tell:
                print(f"--- {row['name']}: {row['cause']}\n{row['text'][:1500]}", flush=True)
            yield row


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mindspore", required=True, help="a Python that has MindSpore 2.10")
    parser.add_argument("--names", default="*", help="a pattern of names below mindspore")
    parser.add_argument("--mode", choices=MODES, help="one mode; both unless told")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one example")
    parser.add_argument("--tell", action="store_true", help="print every failure and its text")
    parser.add_argument("--record", action="store_true", help="write docstrings.json anew")
    return parser.parse_args()


if __name__ == "__main__":
    main()
