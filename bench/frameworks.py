# SPDX-License-Identifier: Apache-2.0
"""Each framework in a process and, if it is not ours, in a virtual environment of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
# What is given to a worker that has nothing more to do, before it is killed.
SECONDS_TO_END = 10


class Kind(NamedTuple):
    """The worker module of a framework, and what its environment has; nothing: ours is used."""

    module: str
    packages: tuple[str, ...] = ()


KINDS = {
    "mycel": Kind("mycel"),
    "jax": Kind("jax"),
    "torch": Kind("torch", ("torch==2.13.0", "numpy")),
    "onnx": Kind("onnx", ("torch==2.13.0", "onnx==1.19.1", "onnxruntime==1.23.2", "numpy")),
    "mindspore-2.7.0": Kind("mindspore", ("mindspore==2.7.0", "numpy<2")),
    "mindspore-2.10.0": Kind("mindspore", ("mindspore==2.10.0", "numpy<2")),
}


def python_of(name: str, kinds: dict[str, Kind] = KINDS) -> str:
    """The Python of a framework; its environment, under bench/.venvs, is made if it is not there.

    Raises:
        SystemExit: its packages cannot be installed.
    """
    packages = kinds[name].packages
    if not packages:
        return sys.executable
    folder = HERE / ".venvs" / f"{name}.{kinds[name].module}"
    python = folder / "bin" / "python"
    done, asked = folder / "installed", " ".join(packages)
    if not done.exists() or done.read_text() != asked:
        print(f"Installing {', '.join(packages)} in {folder}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "-q", *packages]
        if subprocess.run(install, check=False).returncode:
            raise SystemExit(f"{name} could not be installed; leave it out with --frameworks.")
        done.write_text(asked)
    return str(python)


class Failed(Exception):
    """What a framework said when it could not do a piece of work."""


class Worker:
    """A process of one framework (see worker.py).

    It is stopped while it is not asked: threads of MindSpore and OpenMP that spin while they wait
    would slow the others down.

    Args:
        name: of the framework.
        tree: the tree whose mycel runs (see versions.py); by default the installed one.
        kinds: what each name means.
        device: "cpu" or "gpu".
        mixed: whether networks compute in BFloat16, with weights in Float32.
        python: the interpreter, of an environment of its own; by default that of the framework.
    """

    def __init__(
        self,
        name: str,
        tree: pathlib.Path | None = None,
        kinds: dict[str, Kind] = KINDS,
        device: str = "cpu",
        mixed: bool = False,
        python: str | None = None,
    ):
        self.name = name
        settings = {"BENCH_DEVICE": device, "BENCH_TYPE": "bfloat16" if mixed else "float32"}
        # The frameworks share the memory of a device; XLA would take most of it.
        settings |= {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        if device == "cpu":
            settings["JAX_PLATFORMS"] = "cpu"
        if tree is not None:
            settings["PYTHONPATH"] = str(tree / "src")
        self._process = subprocess.Popen(
            [python or python_of(name, kinds), "-m", "bench.worker", kinds[name].module],
            cwd=HERE.parent,
            env=os.environ | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if name.startswith("mindspore") else None,
            text=True,
        )
        hello = self._answer()
        self.variants, self.settings = hello["variants"], hello["settings"]
        self._process.send_signal(signal.SIGSTOP)

    def run(self, work: str, variant: str, calls: int, seconds: float, untimed: int = 0) -> dict:
        """So many calls of one piece of work, or as many as begin within some seconds, after some
        that are not timed."""
        request = {"calls": calls, "seconds": seconds, "untimed": untimed}
        return self._ask(work=work, variant=variant, **request)

    def memory(self, what: str) -> int:
        """Bytes of memory: at a "reset", which forgets the peak, or the "peak" since then."""
        return self._ask(memory=what)["bytes"]

    def end(self) -> None:
        """End the process, also one that still works."""
        self._process.send_signal(signal.SIGCONT)
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _ask(self, **request) -> dict:
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        found = self._answer()
        self._process.send_signal(signal.SIGSTOP)
        if "error" in found:
            raise Failed(found["error"])
        return found

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"The worker of {self.name} ended; its error is above.")
        return json.loads(line)


@contextlib.contextmanager
def started(names: Iterable[str], **settings) -> Iterator[list[Worker]]:
    """A worker of each framework; whatever happens, none is left behind, stopped for ever."""
    with contextlib.ExitStack() as running:
        workers = []
        for name in names:
            workers.append(Worker(name, **settings))
            running.callback(workers[-1].end)
        yield workers
