# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.device`: all that is to be measured on a machine with a GPU, in one command.

The device part of the tests, the networks of the bench in Float32 and mixed precision beside
`torch.compile` and plain JAX on the same card, the peaks of their memory, cuDNN's attention and
LSTM, channels first and last, hooks and `find_nan`. What cannot be installed or run is named, and
the rest goes on. One table is printed as it grows, and bench/results/device.json holds it after
every part. `--dry-run` does all of it on the CPU, in tiny sizes.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from bench import device_kernels
from bench.__main__ import BEST, Differs, measured
from bench.frameworks import HERE, KINDS, Failed, Kind, Worker, started
from bench.memory import peak

ROOT = HERE.parent
# How far results may differ: TensorFloat32 has ten bits, BFloat16 eight.
TOLERANCES = {False: 2e-2, True: 1e-1}
BASES = (BEST, "jax lowerings")
# In mixed precision and in Float32: PyTorch tries what is thought to be fastest.
TORCH = ("eager", "compiled", "compiled channels last")
MEMORY = (("jax", "lowerings"), ("mycel", "graph"), ("mycel", "pynative"), ("torch", "eager"))


class Plan(NamedTuple):
    """What is run, and how long it may take."""

    device: str
    networks: tuple[str, ...]
    heavy: tuple[str, ...]
    frameworks: tuple[str, ...]
    rounds: int
    ordinary: tuple[str, ...]
    hooks: tuple[str, ...]
    numerics: tuple[str, ...]
    seconds: float

    @property
    def environment(self) -> dict[str, str]:
        """What processes are told besides."""
        before = [path for path in [os.environ.get("PYTHONPATH")] if path]
        told = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), *before])}
        told |= {"MYCEL_TEST_DEVICE": self.device, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        told |= {"JAX_PLATFORMS": "cpu"} if self.device == "cpu" else {}
        return os.environ | told


ON_DEVICE = Plan(
    device="gpu",
    networks=(
        "lenet", "mlp", "transformer", "masked", "bert", "gpt2", "lstm", "wide_deep", "resnet18",
        "resnet50", "unet",
    ),
    heavy=("bert", "gpt2", "resnet50"),
    frameworks=("mycel", "jax", "torch"),
    rounds=5,
    ordinary=("tests/nn", "tests/amp"),
    hooks=("--rounds", "9"),
    numerics=("lenet", "bert", "resnet18", "--rounds", "9"),
    seconds=200,
)  # fmt: skip
DRY = Plan(
    device="cpu",
    networks=("lenet",),
    heavy=("lenet",),
    frameworks=("mycel", "jax"),
    rounds=1,
    ordinary=(),
    hooks=("--rounds", "1", "--calls", "2"),
    numerics=("lenet", "--rounds", "1"),
    seconds=300,
)


def kinds_of(plan: Plan) -> dict[str, Kind]:
    """As for the bench; but a PyTorch that is here already, made for this device, is taken."""
    here = importlib.util.find_spec("torch") is not None
    return KINDS | {"torch": Kind("torch") if here else KINDS["torch"]}


def facts(plan: Plan) -> list[dict]:
    """The card, its driver, and the versions of what it is measured with."""
    device = jax.devices()[0]
    told: dict[str, Any] = {"device": f"{device.device_kind} ({device.platform})"}
    for name in ("jax", "jaxlib", "torch", "triton", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            told[name] = importlib.metadata.version(name)
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    with contextlib.suppress(OSError):
        told["nvidia-smi"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    told["cores"] = os.cpu_count()
    return [{"work": label, "what": str(value)} for label, value in told.items()]


def tests(plan: Plan) -> list[dict]:
    """The tests that are marked for devices, and some of the others as they run on this one."""
    marked = ["-n", "0", "-m", "device", "tests/device"]
    rows = _tested(plan, "marked 'device'", marked)
    if plan.ordinary:
        rows += _tested(plan, "others", ["-n", "4", *plan.ordinary])
    return rows


def _tested(plan: Plan, label: str, arguments: list[str]) -> list[dict]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    lines = _lines(plan, command, codes=(0, 1))
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    rows = [{"work": label, "what": lines[-1]}]
    return rows + [{"work": label, "what": line[:300]} for line in failed[:40]]


def _lines(plan: Plan, command: list[str], codes: tuple[int, ...] = (0,)) -> list[str]:
    """What a process prints.

    Raises:
        Failed: it ends otherwise, or takes too long.
    """
    settings = {"env": plan.environment, "cwd": ROOT, "capture_output": True, "text": True}
    try:
        ended = subprocess.run(command, timeout=plan.seconds, **settings)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(command[1:])}: more than {plan.seconds:.0f} s") from error
    lines = [line for line in ended.stdout.splitlines() if line.strip()]
    if ended.returncode not in codes or not lines:
        raise Failed(f"{' '.join(command[1:])}: {(ended.stderr or ended.stdout)[-600:]}")
    return lines


def _workers(plan: Plan, kinds: dict[str, Kind], running, mixed: bool = False) -> list[Worker]:
    """Those that can be started; the others are named."""
    workers = []
    for name in plan.frameworks:
        settings = {"kinds": kinds, "device": plan.device, "mixed": mixed}
        try:
            workers += running.enter_context(started([name], **settings))
        except (SystemExit, OSError, Failed) as error:
            print(f"  {name} is left out: {error}", flush=True)
    return workers


def in_processes(works, start: Callable, measure: Callable) -> list[dict]:
    """The rows of all works; after one at which a process ended or hung, new ones are started.

    Args:
        start: the workers; is given what ends them.
        measure: the rows of one piece of work, of the workers and its name.
    """
    rows, left = [], list(works)
    while left:
        with contextlib.ExitStack() as running:
            workers = start(running)
            while workers and left:
                work = left.pop(0)
                try:
                    rows += measure(workers, work)
                except Differs as error:
                    rows.append({"work": work, "what": f"not timed: {error}"})
                except (Failed, OSError, SystemExit) as error:
                    rows.append({"work": work, "what": f"not timed: {error or type(error)}"})
                    break
            if not workers:
                raise Failed("no framework could be started")
    return rows


def networks(plan: Plan, mixed: bool) -> list[dict]:
    """Steps of training, as in `python -m bench`."""

    def start(running) -> list[Worker]:
        workers = _workers(plan, kinds_of(plan), running, mixed)
        for worker in workers:
            if worker.name == "torch":
                worker.variants = list(TORCH)
            print(f"  {worker.name}: {worker.settings}", flush=True)
        return workers

    def measure(workers: list[Worker], work: str) -> list[dict]:
        with limited(plan.seconds):
            found = measured(workers, work, plan.rounds, TOLERANCES[mixed])
        return [_row_of(row) for row in found]

    return in_processes(plan.networks, start, measure)


def _row_of(row: dict) -> dict:
    ratios = {f"/ {base}": row[base] for base in BASES if base in row}
    return {key: row[key] for key in ("work", "what", "milliseconds")} | ratios


def memory(plan: Plan) -> list[dict]:
    """The peak of the memory of a step; XLA also counts what it tries while it compiles."""
    rows = []
    for work in plan.heavy:
        for framework, variant in MEMORY:
            if framework not in plan.frameworks:
                continue
            label = f"{framework} {variant}"
            settings = {"kinds": kinds_of(plan), "device": plan.device}
            try:
                with limited(plan.seconds):
                    found = peak(framework, variant, work, **settings)
            except (SystemExit, OSError, Failed) as error:
                rows.append({"work": work, "what": f"{label} cannot: {error}"})
                continue
            rows.append({"work": work, "what": label, "MiB": found / 2**20})
    return rows


def kernels(plan: Plan) -> list[dict]:
    """Operators whose lowering is open: cuDNN's attention and LSTM, the order of channels."""
    own = kinds_of(plan)["torch"]
    kinds = {"jax": Kind("kernels_jax"), "torch": own._replace(module="kernels_torch")}
    only = plan._replace(frameworks=tuple(name for name in plan.frameworks if name in kinds))

    def measure(workers: list[Worker], work: str) -> list[dict]:
        variants = device_kernels.VARIANTS[work]
        lanes = [(worker, v) for worker in workers for v in variants.get(worker.name, ())]
        with limited(plan.seconds):
            return _in_turns(work, lanes, plan.rounds)

    start = functools.partial(_workers, only, kinds)
    return in_processes(device_kernels.VARIANTS, start, measure)


def _in_turns(work: str, lanes: list[tuple[Worker, str]], rounds: int) -> list[dict]:
    """Median times, after results were compared; what cannot or differs is named."""
    rows, times, first = [], {}, None
    for worker, variant in lanes:
        label = f"{worker.name} {variant}"
        try:
            found = np.array(worker.run(work, variant, 3, 60)["results"][-1])
        except Failed as failed:
            rows.append({"work": work, "what": f"{label} cannot: {str(failed)[:200]}"})
            continue
        first = found if first is None else first
        if not np.allclose(found, first, device_kernels.TOLERANCE):
            rows.append({"work": work, "what": f"{label} differs: {found}, not {first}"})
            continue
        times[worker, variant] = []
    for _ in range(rounds):
        for (worker, variant), medians in times.items():
            medians.append(np.median(worker.run(work, variant, 20, 0.5, 1)["seconds"]))
    for (worker, variant), medians in times.items():
        middle = float(np.median(medians)) * 1e3
        rows.append({"work": work, "what": f"{worker.name} {variant}", "milliseconds": middle})
    return rows


def told_by(module: str, arguments: str) -> Callable[[Plan], list[dict]]:
    """A part that is another of the bench's commands: its lines."""

    def part(plan: Plan) -> list[dict]:
        command = [sys.executable, "-m", f"bench.{module}", *getattr(plan, arguments)]
        return [{"work": module, "what": line} for line in _lines(plan, command)]

    return part


PARTS: dict[str, Callable[[Plan], list[dict]]] = {
    "facts": facts,
    "tests": tests,
    "float32": lambda plan: networks(plan, mixed=False),
    "bfloat16": lambda plan: networks(plan, mixed=True),
    "kernels": kernels,
    "memory": memory,
    "hooks": told_by("hooks", "hooks"),
    "find_nan": told_by("numerics", "numerics"),
}


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimeoutError where something takes longer."""

    def late(number, frame):
        raise TimeoutError(f"more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def line_of(part: str, row: dict) -> str:
    """A line of the table."""
    time_ = f"{row['milliseconds']:10.3f} ms" if "milliseconds" in row else ""
    size = f"{row['MiB']:10.1f} MiB" if "MiB" in row else ""
    ratios = [f"{key} {row[key][1]:.2f}" for key in row if key.startswith("/")]
    return f"{part:9s} {row['work']:22s} {row['what']:34s} {time_}{size}  {'  '.join(ratios)}"


def run(plan: Plan, parts: list[str], path: pathlib.Path, end: float) -> dict:
    """All parts, one after the other; the file is written after each of them.

    Args:
        end: when, by `time.monotonic`, no further part is begun.
    """
    report: dict[str, Any] = {"plan": plan._asdict(), "rows": [], "failed": {}, "seconds": {}}
    for name in parts:
        start = time.monotonic()
        if start > end:
            report["failed"][name] = "no time was left"
        else:
            try:
                rows = [{"part": name, **row} for row in PARTS[name](plan)]
            except (Exception, SystemExit) as error:
                rows, report["failed"][name] = [], f"{type(error).__name__}: {error}"
            for row in rows:
                print(line_of(name, row), flush=True)
            report["rows"] += rows
            report["seconds"][name] = time.monotonic() - start
        if name in report["failed"]:
            print(f"{name:9s} could not be done: {report['failed'][name]}", flush=True)
        path.write_text(json.dumps(report, indent=1))
    return report


def main(arguments: list[str] | None = None) -> None:
    """Run all parts.

    Raises:
        SystemExit: JAX sees no device but the CPU, or a part could not be done.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.device", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="on the CPU, in tiny sizes")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--networks", help="some of the networks, by comma")
    parser.add_argument("--frameworks", help="some of mycel, jax, torch, by comma")
    parser.add_argument("--minutes", type=float, default=30, help="no part begins after these")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results" / "device.json")
    options = parser.parse_args(arguments)
    # This process only asks what there is; its children need the memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    plan, parts = DRY if options.dry_run else ON_DEVICE, options.parts.split(",")
    for field in ("networks", "frameworks"):
        if chosen := getattr(options, field):
            plan = plan._replace(**{field: tuple(chosen.split(","))})
    if unknown := sorted({*parts} - PARTS.keys()):
        parser.error(f"unknown: {', '.join(unknown)}; there is {', '.join(PARTS)}")
    if not options.dry_run and jax.default_backend() == "cpu":
        raise SystemExit(
            "JAX sees no device but the CPU: `pip install 'mycel[cuda]'` where there is a GPU; "
            "`--dry-run` goes through everything on the CPU."
        )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    report = run(plan, parts, options.output, time.monotonic() + 60 * options.minutes)
    print(f"written to {options.output}")
    if report["failed"]:
        raise SystemExit(f"could not be done: {', '.join(report['failed'])}")


if __name__ == "__main__":
    main()
