# SPDX-License-Identifier: Apache-2.0
"""Run public MindSpore programs as shipped and report how far each comes, and what stopped it.

python -m tests.wild.run [NAMES] [--stage STAGE] [--mindspore PYTHON] [--limit SECONDS]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from . import data, sources
from .programs import PROGRAMS, Program

HERE = pathlib.Path(__file__).parent
STAGES = ("imports", "builds", "forward", "steps", "trains", "evaluates", "predicts")
RUNS = sources.CACHE / "runs"
ERROR = re.compile(r"^(\w+(\.\w+)*(Error|Exception|Exit|Interrupt|Warning)\b.*)$", re.MULTILINE)


def main() -> None:
    """Run what was asked for and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of programs' names; default, all")
    parser.add_argument("--stage", nargs="*", choices=STAGES, default=STAGES)
    parser.add_argument("--mindspore", help="a Python that has MindSpore 2.7, the oracle")
    theirs = "run the programs' scripts in MindSpore's Python instead, and keep no result"
    parser.add_argument("--theirs", action="store_true", help=theirs)
    parser.add_argument("--limit", type=int, default=900, help="seconds for one stage")
    options = parser.parse_args()
    for name, program in PROGRAMS.items():
        if not options.names or any(name.startswith(start) for start in options.names):
            report(name, program, options)


def report(name: str, program: Program, options) -> None:
    """Bring one program through the stages; what it did stays in the cache as JSON."""
    place = RUNS / name
    place.mkdir(parents=True, exist_ok=True)
    kept = place / "report.json"
    found = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    try:
        prepare(program, place)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"{name:36} cannot be set up: {error}", flush=True)
        return
    for stage in options.stage:
        found[stage] = answer = one_stage(name, program, stage, place, options)
        if not options.theirs:
            kept.write_text(json.dumps(found, indent=1), "utf-8")
        state = "ok" if answer["ok"] else answer["cause"]
        print(f"{name:36} {stage:10} {answer['seconds']:6.1f} s  {state}", flush=True)


def prepare(program: Program, place: pathlib.Path) -> None:
    """The program's sources, its stand-in data and its configuration, in a folder to run in."""
    if "/" in program.repository:
        source = sources.repository(program.repository, program.commit, program.below)
    else:
        source = sources.package(program.repository, program.commit)
    folder = place / "program"
    sources.fresh(source / program.folder, folder)
    for maker in program.data:
        target = folder / "data" / maker
        getattr(data, maker)(target)
    for path, text in program.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    for target, origin in program.copies.items():
        (folder / target).write_bytes((folder / origin).read_bytes())
    for path, changes in program.edits.items():
        text = (folder / path).read_text("utf-8")
        for old, new in changes.items():
            if old not in text:
                raise ValueError(f"{path} has no {old!r}")
            text = text.replace(old, new)
        (folder / path).write_text(text, "utf-8")


def expanded(words, folder: pathlib.Path) -> list[str]:
    """The words of a command, with the newest file where they ask for one."""

    def newest(match: re.Match) -> str:
        files = [path for path in folder.rglob(match[1]) if path.parent.name != "oracle"]
        files.sort(key=lambda path: path.stat().st_mtime)
        return str(files[-1].relative_to(folder)) if files else f"no-{match[1]}"

    return [re.sub(r"\{newest (.+?)\}", newest, word) for word in words]


def one_stage(name: str, program: Program, stage: str, place: pathlib.Path, options) -> dict:
    """One stage in a process: whether it ended well, how long it took and why it did not."""
    folder = place / "program"
    commands = {
        "trains": program.train,
        "evaluates": program.evaluate,
        "predicts": program.predict,
    }
    if stage in commands:
        words = commands[stage]
        if not words:
            return {"ok": None, "seconds": 0.0, "cause": "-"}
        words = expanded(words, folder)
        if options.theirs:
            return process(
                words, folder, place / f"{stage}-mindspore.log", options, options.mindspore
            )
        words = [*launcher(program.processes if stage == "trains" else 1), *words]
        return process(words, folder, place / f"{stage}.log", options)
    if stage in ("builds", "forward", "steps") and not program.build:
        return {"ok": None, "seconds": 0.0, "cause": "-"}
    words = [str(HERE / "probe.py"), name, stage, str(place / "oracle")]
    kept = place / "oracle" / {"forward": "forward.npz", "steps": "steps.json"}.get(stage, ".")
    if stage in ("forward", "steps") and not kept.exists():
        if not options.mindspore:
            return {"ok": False, "seconds": 0.0, "cause": "no answer of MindSpore: --mindspore"}
        log = place / f"{stage}-mindspore.log"
        there = process([*words, "--mindspore"], folder, log, options, options.mindspore)
        if not there["ok"]:
            return {**there, "cause": f"MindSpore itself: {there['cause']}"}
    return process(words, folder, place / f"{stage}.log", options)


def launcher(processes: int) -> list[str]:
    """What runs a script in so many processes."""
    if processes == 1:
        return ["-m", "mycel", "run"]
    count = f"--worker_num={processes}", f"--local_worker_num={processes}"
    return ["-m", "mycel", "msrun", *count, "--join=True", "--log_dir=logs"]


def process(words, folder: pathlib.Path, log: pathlib.Path, options, python=None) -> dict:
    """Run Python with a time limit; its output goes into `log`."""
    begun = time.monotonic()
    environment = dict(os.environ)
    here = python is None
    path = environment.get("PYTHONPATH" if here else "MYCEL_WILD_MINDSPORE_PATH", "")
    # What the shell scripts beside the programs set before they call them.
    environment |= {"DEVICE_ID": "0", "RANK_SIZE": "1"}
    # The program's folder as if it were installed: scripts below it import its package.
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE / "older_numpy"), str(folder), path])
    if here:
        environment["MYCEL_DEVICE"] = "CPU"
    with log.open("w") as output:
        command = [python or sys.executable, *words]
        try:
            code = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=options.limit,
            ).returncode
        except subprocess.TimeoutExpired:
            code = "time"
    seconds = round(time.monotonic() - begun, 1)
    text = log.read_text("utf-8", "replace")
    answer = {"ok": code == 0, "seconds": seconds, "cause": ""}
    apart = re.search(r"^apart: (\S+)", text, re.MULTILINE)
    if apart:
        answer["apart"] = float(apart[1])
    if code == "time":
        answer["cause"] = f"longer than {options.limit} s"
    elif code:
        answer["cause"] = cause(text) or f"exit code {code}"
    return answer


def cause(text: str) -> str:
    """The last exception that a log names."""
    found = ERROR.findall(text)
    return found[-1][0][:300] if found else ""


if __name__ == "__main__":
    main()
