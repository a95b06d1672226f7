# SPDX-License-Identifier: Apache-2.0
"""The functions in C++: compiled once on each machine, and called from XLA's programs.

A compiled program that calls them runs in this version of mycel only. What is written for other
processes is therefore traced within `portable`, where all of it is XLA's own.
"""

from __future__ import annotations

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
SOURCES = ("recurrent.cc",)
# `-march=native`: what is compiled is kept by the processor's abilities.
OPTIONS = ("-std=c++17", "-O3", "-march=native", "-fPIC", "-shared", "-w")
SECONDS = 120  # the longest that a compiler may take
HANDLERS = ("lstm_forward", "lstm_reverse", "gru_forward", "gru_reverse")

_portable = jax.make_user_context(False)
_lock = threading.Lock()


@contextlib.contextmanager
def portable() -> Iterator[None]:
    """Within this, programs are traced so that they run without this library."""
    with _portable(True):
        yield


def serves(*dtypes) -> bool:
    """Whether a program that is traced now may call these functions, for elements of these types.

    Not where there are several devices: XLA cannot divide what it does not know.
    """
    float32 = all(dtype == np.float32 for dtype in dtypes)
    return float32 and not _portable.value and on_one_cpu() and loaded()[0] is not None


def tell_if_missing() -> None:
    """A line of the ledger where XLA's own loops take the place of the library, for want of it."""
    if on_one_cpu() and loaded()[0] is None and os.environ.get(VARIABLE) != "off":
        machine.account.accepted(VARIABLE, f"XLA's own loops run, slower: {loaded()[1]}")


def call(
    name: str, plain: Callable, results: Sequence[jax.ShapeDtypeStruct], arrays: Sequence, **options
) -> Sequence[jax.Array]:
    """Call a function of the library.

    Args:
        name: one of `HANDLERS`.
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


def loaded() -> tuple[ctypes.CDLL | None, str]:
    """The library, its functions known to XLA; or None, and why there is none."""
    with _lock:  # XLA takes a name once
        return _load()


@functools.cache
def _load() -> tuple[ctypes.CDLL | None, str]:
    if os.environ.get(VARIABLE) == "off":
        return None, f"{VARIABLE}=off"
    folder = cache_folder()
    if folder is None:
        return None, "there is no folder to keep it in (MYCEL_CACHE)"
    compilers = [chosen] if (chosen := os.environ.get("CXX")) else COMPILERS
    compiler = next(filter(None, map(shutil.which, compilers)), None)
    if compiler is None:
        return None, f"there is no C++ compiler ({', '.join(compilers)})"
    path = folder / f"native-{_key(compiler)}.so"
    try:
        if not path.exists():
            _compile(compiler, path)
    except (OSError, subprocess.SubprocessError) as error:
        return None, _reason(compiler, error)
    try:
        library = ctypes.CDLL(str(path))
        handlers = {name: getattr(library, f"mycel_{name}") for name in HANDLERS}
    except (OSError, AttributeError) as error:
        with contextlib.suppress(OSError):
            path.unlink()  # the next process compiles it again
        return None, f"it could not be loaded: {error}"
    for name, handler in handlers.items():
        jax.ffi.register_ffi_target(f"mycel_{name}", jax.ffi.pycapsule(handler), platform="cpu")
    return library, ""


def _key(compiler: str) -> str:
    """What the compiled library depends on: sources, XLA's headers, compiler and processor."""
    stat = os.stat(compiler)
    parts = [
        metadata.version("jaxlib"),
        *OPTIONS,
        compiler,
        str(stat.st_mtime_ns),
        str(stat.st_size),
    ]
    parts += [source.read_text() for source in _sources()]
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


def _sources() -> list[Path]:
    return [Path(__file__).with_name(name) for name in SOURCES]


def _compile(compiler: str, path: Path) -> None:
    """Compile the library beside where it will be, and move it there as a whole."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = os.path.join(folder, path.name)
        includes = f"-I{jax.ffi.include_dir()}"
        command = [compiler, *OPTIONS, includes, *map(str, _sources()), "-o", made]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
        os.replace(made, path)


def _reason(compiler: str, error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = next((line for line in error.stderr.splitlines() if "error" in line), "")
        return f"{compiler} ended with exit code {error.returncode}{said and ': '}{said}"
    return f"{compiler} could not be run: {error}"
