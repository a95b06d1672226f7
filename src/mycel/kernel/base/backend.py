# SPDX-License-Identifier: Apache-2.0
"""All contact with JAX's configuration: 64-bit types, the disk cache of compilations, devices."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache

from mycel.kernel.base import processes

DEVICE_VARIABLE = "MYCEL_DEVICE"
CACHE_VARIABLE = "MYCEL_CACHE"

# MindSpore's words for devices, and the JAX platforms that can serve them.
PLATFORMS = {"CPU": ("cpu",), "GPU": ("gpu", "cuda", "rocm"), "TPU": ("tpu",), "Ascend": ("npu",)}


_begun = False


def has_begun() -> bool:
    """Whether XLA may have started its threads, which a fork of this process would lack."""
    return _begun


def _note_begin() -> None:
    global _begun
    if not _begun:
        processes.join()  # once XLA has begun it is too late
        _begun = True
        tuning.prepare()


# Called where arrays are made. A fork exchanges it for what raises.
begin: Callable[[], None] = _note_begin


def configure() -> None:
    """Set JAX up once, before the first array is made."""
    # int64 and float64 are MindSpore's defaults, and the per-call switch loses precision silently.
    jax.config.update("jax_enable_x64", True)
    folder = cache_folder()
    if folder is not None and folder_of_programs() is None:
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def cache_folder() -> Path | None:
    """Where compiled programs are kept between runs; MYCEL_CACHE=off keeps none."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen == "off":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(chosen or os.path.join(home, "mycel", "xla"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def folder_of_programs() -> str | None:
    """Where compiled programs are kept now."""
    return getattr(jax.config, "jax_compilation_cache_dir", None)


def keep_programs_in(folder: str | None) -> None:
    """Keep compiled programs in another folder from now on."""
    jax.config.update("jax_compilation_cache_dir", folder)
    # What it opened before is closed; the next compilation opens the new one.
    compilation_cache.reset_cache()


class Tuning:
    """What is chosen by platform; the package root fills it in, and nothing is tuned without."""

    __slots__ = (
        "accepts",
        "by_numpy",
        "compiler_options",
        "materialize",
        "open_lengths",
        "padding",
        "prepare",
        "to_arrays",
        "to_materialize",
        "together",
    )

    def __init__(self):
        # What is done to this process before XLA starts its threads.
        self.prepare: Callable[[], object] = lambda: None
        # Options of XLA's compiler for the platform that programs run on now.
        self.compiler_options: Callable[[], dict[str, bool | str]] = dict
        # Whether the compiler knows options, given as pairs of names and values.
        self.accepts: Callable[[tuple], bool] = lambda options: True
        # The slots of a program whose arrays are to be materialized, and what does that.
        self.to_materialize: Callable[[list], Container[int]] = lambda nodes: ()
        self.materialize: Callable = lambda array: array
        # By slot, what is in it in place of what its own node gives, because several nodes are
        # computed together; for nodes, and the slots that are asked for (see tuning.together).
        self.together: Callable[[list, Container[int]], dict] = lambda nodes, live: {}
        # Lengths with symbols, and a function traced with them, as functions of the sizes of the
        # symbols; and what makes arrays of the results. None if shapes that change are compiled.
        self.open_lengths: Callable | None = None
        self.by_numpy: Callable = lambda jaxpr, names: None
        self.to_arrays: Callable[[list], list] = list
        # What has a traced function `written` for longer arrays, an array `lengthened`, and a
        # result `cut` to what counts (see tuning.padding). None if nothing is padded.
        self.padding: Any = None


tuning = Tuning()

# How XLA compiles from now on, beyond its defaults.
_options: dict[str, bool] = {}
_DETERMINISTIC = "xla_gpu_deterministic_ops"


def be_deterministic(on: bool) -> None:
    """Whether programs compiled from now on give the same bits at each run."""
    _options.clear()
    if on:
        _options[_DETERMINISTIC] = True


def is_deterministic() -> bool:
    """Whether programs are to give the same bits at each run."""
    return bool(_options)


def compiler_options() -> dict[str, bool | str] | None:
    """The options for a program that is compiled now: `jax.jit(..., compiler_options=...)`.

    Raises:
        NotImplementedError: one that was asked for is unknown to this version of XLA.
    """
    if _options and not tuning.accepts(tuple(_options.items())):
        names = ", ".join(_options)
        raise NotImplementedError(
            f"deterministic='ON': this version of XLA has no option {names}. Set it to 'OFF', or "
            "install another version of jaxlib."
        )
    return {**_options, **tuning.compiler_options()} or None


def on_cpu() -> bool:
    """Whether programs that are compiled or traced now will run on the CPU."""
    _note_begin()
    device = getattr(jax.config, "jax_default_device", None)
    platform = getattr(device, "platform", device) or jax.default_backend()
    return platform == "cpu"


def on_one_cpu() -> bool:
    """Whether programs run on the CPU, and there is no other device that arrays may lie on."""
    return on_cpu() and jax.device_count() == 1


def available_targets() -> list[str]:
    """The device targets of this machine, in MindSpore's words."""
    return [name for name, platforms in PLATFORMS.items() if _first_device(platforms) is not None]


def _first_device(platforms):
    _note_begin()
    for platform in platforms:
        try:
            return jax.local_devices(backend=platform)[0]
        except RuntimeError:
            continue
    return None


def default_target() -> str:
    """The target that JAX would use by itself."""
    _note_begin()
    platform = jax.default_backend()
    return next((name for name, known in PLATFORMS.items() if platform in known), "CPU")


def chosen_device() -> Any:
    """The device that was chosen; None for JAX's own choice."""
    return getattr(jax.config, "jax_default_device", None)


def choose_device(device: Any) -> None:
    """Make this the device."""
    jax.config.update("jax_default_device", device)


def use_target(target: str, index: int = 0) -> bool:
    """Make `target` the default device; False where the machine has none."""
    _note_begin()
    if processes.is_own_device(index):
        index = 0
    for platform in PLATFORMS.get(target, ()):
        try:
            devices = jax.local_devices(backend=platform)
        except RuntimeError:
            continue
        if target == "CPU" and index >= len(devices):
            index = 0  # of what a machine has one of, MindSpore takes any number
        if 0 <= index < len(devices):
            choose_device(devices[index])
            return True
    return False
