# SPDX-License-Identifier: Apache-2.0
"""The functions in C++: compiled once on each machine, and called from XLA's programs.

Each source is a library of its own, compiled when one of its functions is first needed.

A compiled program that calls them runs in this version of mycel only. What is written for other
processes is therefore traced within `portable`, where all of it is XLA's own.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

import jax
import numpy as np

from mycel.kernel.base.backend import cache_folder, on_one_cpu
from mycel.kernel.record.stream import machine

# "off" compiles nothing, and leaves everything to XLA.
VARIABLE = "MYCEL_NATIVE"
COMPILERS = ("c++", "g++", "clang++")
# `-march=native`: what is compiled is kept by the processor's abilities.
OPTIONS = ("-std=c++17", "-O3", "-march=native", "-fPIC", "-shared", "-w")
SECONDS = 120  # the longest that a compiler may take
LONGEST_WAIT = 10.0  # in seconds, for what runs when the process ends
SHARED = ("common.h", "products.h", "windows.h")
# What the source of each library defines.
LIBRARIES = {
    "recurrent": ("lstm_forward", "lstm_reverse", "gru_forward", "gru_reverse"),
    "convolution": (
        "convolution_forward",
        "convolution_gradient_of_x",
        "convolution_gradient_of_weight",
    ),
    "direct": (
        "direct_forward",
        "direct_gradient_of_x",
        "direct_gradient_of_weight",
    ),
    "depthwise": (
        "depthwise_forward",
        "depthwise_gradient_of_x",
        "depthwise_gradient_of_weight",
    ),
    "normalization": ("batch_norm_forward", "batch_norm_reverse"),
}

_portable = jax.make_user_context(False)
_lock = threading.Lock()


@contextlib.contextmanager
def portable() -> Iterator[None]:
    """Within this, programs are traced so that they run without this library."""
    with _portable(True):
        yield


def serves(library: str, *arrays) -> bool:
    """Whether a program that is traced now may call a library's functions, for these arrays.

    Not where there are several devices: XLA cannot divide what it does not know. Where the library
    is missing, a line of the ledger tells.
    """
    if _portable.value or not on_one_cpu():
        return False
    if any(array.dtype != np.float32 or 0 in array.shape for array in arrays):
        return False
    # Open lengths are no integers.
    if not all(isinstance(length, int) for array in arrays for length in array.shape):
        return False
    found, why = loaded(library)
    if found is None and os.environ.get(VARIABLE) != "off":
        machine.account.accepted(VARIABLE, f"XLA's own code runs, slower: {why}")
    return found is not None


def call(
    name: str, plain: Callable, results: Sequence[jax.ShapeDtypeStruct], arrays: Sequence, **options
) -> Sequence[jax.Array]:
    """Call a function of the library.

    Args:
        name: one that a library of `LIBRARIES` defines.
        plain: the same in JAX, `plain(*arrays)`: its derivatives are those of the call.
        results: shapes and types of what comes back.
        arrays: the inputs.
        options: attributes of the call.
    """
    native = jax.ffi.ffi_call(f"mycel_{name}", tuple(results), vmap_method="sequential")

    @jax.custom_jvp
    def called(*arrays):
        return native(*arrays, **options)

    @called.defjvp
    def _(arrays, tangents):
        return jax.jvp(plain, arrays, tangents)

    return called(*arrays)


def loaded(library: str) -> tuple[ctypes.CDLL | None, str]:
    """One of `LIBRARIES`, its functions known to XLA; or None, and why there is none."""
    with _lock:  # XLA takes a name once
        return _load(library)


@functools.cache
def _load(name: str) -> tuple[ctypes.CDLL | None, str]:
    if os.environ.get(VARIABLE) == "off":
        return None, f"{VARIABLE}=off"
    folder = cache_folder()
    if folder is None:
        return None, "there is no folder to keep it in (MYCEL_CACHE)"
    compilers = [chosen] if (chosen := os.environ.get("CXX")) else COMPILERS
    compiler = next(filter(None, map(shutil.which, compilers)), None)
    if compiler is None:
        return None, f"there is no C++ compiler ({', '.join(compilers)})"
    source = Path(__file__).with_name(f"{name}.cc")
    path = folder / f"native-{name}-{_key(compiler, source)}.so"
    try:
        if not path.exists():
            _compile(compiler, source, path)
    except (OSError, subprocess.SubprocessError) as error:
        return None, _reason(compiler, error)
    try:
        library = ctypes.CDLL(str(path))
        handlers = {target: getattr(library, f"mycel_{target}") for target in LIBRARIES[name]}
        running = library.mycel_running
    except (OSError, AttributeError) as error:
        with contextlib.suppress(OSError):
            path.unlink()  # the next process compiles it again
        return None, f"it could not be loaded: {error}"
    running.restype = ctypes.c_int64
    atexit.register(_wait, running)
    for target, handler in handlers.items():
        jax.ffi.register_ffi_target(f"mycel_{target}", jax.ffi.pycapsule(handler), platform="cpu")
    return library, ""


def _wait(running: Callable[[], int]) -> None:
    """At the end of the process, let calls come to their ends: they call XLA, which is taken apart
    then."""
    latest = time.monotonic() + LONGEST_WAIT
    while running() and time.monotonic() < latest:
        time.sleep(0.001)


def _key(compiler: str, source: Path) -> str:
    """What a compiled library depends on: its source, XLA's headers, compiler and processor."""
    stat = os.stat(compiler)
    parts = [
        metadata.version("jaxlib"),
        *OPTIONS,
        compiler,
        str(stat.st_mtime_ns),
        str(stat.st_size),
    ]
    parts += [file.read_text() for file in (source, *map(source.with_name, SHARED))]
    return hashlib.sha256("\0".join([*parts, _processor()]).encode()).hexdigest()[:24]


def _processor() -> str:
    """The processor's abilities: folders of users lie on many machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = ("flags", "Features", "model name")
    known = dict.fromkeys(line for line in lines if line.startswith(named))
    return "\n".join([platform.machine(), platform.processor(), *known])


def _compile(compiler: str, source: Path, path: Path) -> None:
    """Compile a library beside where it will be, and move it there as a whole."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = os.path.join(folder, path.name)
        includes = f"-I{jax.ffi.include_dir()}"
        command = [compiler, *OPTIONS, includes, str(source), "-o", made]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
        os.replace(made, path)


def _reason(compiler: str, error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = next((line for line in error.stderr.splitlines() if "error" in line), "")
        return f"{compiler} ended with exit code {error.returncode}{said and ': '}{said}"
    return f"{compiler} could not be run: {error}"
