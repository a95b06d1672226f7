# SPDX-License-Identifier: Apache-2.0
"""`mycel doctor`: what this installation consists of, for bug reports and for newcomers."""

from __future__ import annotations

import argparse
import os
import platform
from importlib import metadata
from pathlib import Path

import jax

import mycel as ms
from mycel.compat import coverage
from mycel.kernel.base import backend
from mycel.tuning import malloc
from mycel.tuning.native import cpp

PACKAGES = ("jax", "jaxlib", "numpy", "ml_dtypes", "rich", "safetensors", "matplotlib")
MODES = {ms.GRAPH_MODE: "GRAPH_MODE", ms.PYNATIVE_MODE: "PYNATIVE_MODE"}


def add_command(commands) -> None:
    """Add `doctor` to the subcommands."""
    parser = commands.add_parser(
        "doctor",
        help="show versions, devices, folders and the mode",
        description="Show what mycel runs on here. Paste it into a bug report.",
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="show instead which of MindSpore's public names there are here",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the report; always succeeds."""
    if options.coverage:
        print(coverage.report())
        return 0
    for name, value in report().items():
        print(f"{name:<12} {value}")
    return 0


def report() -> dict[str, str]:
    """Every line of the report, by its name."""
    lines = {"mycel": ms.__version__, "Python": f"{platform.python_version()} ({_machine()})"}
    lines |= {name: _version(name) for name in PACKAGES}
    lines["targets"] = ", ".join(backend.available_targets())
    lines["devices"] = ", ".join(f"{d} ({d.device_kind})" for d in jax.devices())
    lines["default"] = f"{ms.get_context('device_target')}{_overridden()}"
    lines["mode"] = MODES[ms.get_context("mode")]
    lines["cache"] = _cache()
    lines["freed memory"] = _freed_memory()
    lines["native code"] = _native_code()
    return lines


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed" + (" (extra mycel[demo])" if name == "matplotlib" else "")


def _overridden() -> str:
    target = os.environ.get(backend.DEVICE_VARIABLE)
    return f", but {backend.DEVICE_VARIABLE}={target} decides what programs get" if target else ""


def _freed_memory() -> str:
    kept = malloc.keep_freed_memory()
    return f"kept for the next step, up to {kept / 2**30:.1f} GiB" if kept else "given back"


def _native_code() -> str:
    missing = {name: why for name in cpp.LIBRARIES if (why := cpp.loaded(name)[1])}
    if missing:
        return "; ".join(f"none for {name} layers: {why}" for name, why in missing.items())
    return "LSTM, GRU and convolutions on a CPU"


def _cache() -> str:
    folder = backend.cache_folder()
    if folder is None:
        return f"off ({backend.CACHE_VARIABLE}=off, or its folder cannot be written)"
    sizes = [f.stat().st_size for f in Path(folder).rglob("*") if f.is_file()]
    return f"{folder} ({len(sizes)} files, {sum(sizes) / 2**20:.1f} MiB)"
