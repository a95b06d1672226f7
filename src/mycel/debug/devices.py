# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `hal`: which devices there are, and what is known of them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import jax

from mycel.kernel.base import backend, log
from mycel.kernel.base.context import context, get_context
from mycel.kernel.base.errors import wrong


def device(device_id: int | None = None, target: str | None = None):
    """A device of JAX: the one that computes, or one that is named."""
    target = target or get_context("device_target")
    index = context.device_id if device_id is None else device_id
    known = devices(target)
    if not 0 <= index < len(known):
        raise wrong(ValueError, "device_id", f"below {len(known)}, the {target}s here", index)
    return known[index]


def devices(target: str | None) -> list:
    target = target or get_context("device_target")
    if target not in backend.PLATFORMS:
        known = ", ".join(backend.PLATFORMS)
        raise wrong(ValueError, "device_target", f"one of {known}", repr(target))
    for platform in backend.PLATFORMS[target]:
        with contextlib.suppress(RuntimeError):
            return jax.local_devices(backend=platform)
    return []


@dataclass(frozen=True)
class DeviceProperties:
    """What is known of a device.

    Example:
        >>> ms.hal.get_device_properties(0, "CPU").name
        'cpu'
    """

    name: str
    total_memory: int
    free_memory: int


def device_count(device_target=None) -> int:
    """How many devices of a target there are.

    Source: MindSpore's `mindspore.hal.device_count`.

    Example:
        >>> ms.hal.device_count("CPU")
        1
    """
    return len(devices(device_target))


def is_available(device_target: str) -> bool:
    """Whether there is a device of a target.

    Source: MindSpore's `mindspore.hal.is_available`.

    Example:
        >>> ms.hal.is_available("CPU")
        True
    """
    return bool(devices(device_target))


def is_initialized(device_target: str) -> bool:
    """Whether a target can be computed on: XLA starts it when it is asked for.

    Source: MindSpore's `mindspore.hal.is_initialized`.

    Example:
        >>> ms.hal.is_initialized("CPU")
        True
    """
    return is_available(device_target)


def get_device_name(device_id, device_target=None) -> str:
    """The name of a device.

    Source: MindSpore's `mindspore.hal.get_device_name`.

    Example:
        >>> ms.hal.get_device_name(0, "CPU")
        'cpu'
    """
    return device(device_id, device_target).device_kind


def get_device_properties(device_id, device_target=None) -> DeviceProperties:
    """Name and memory of a device; 0 bytes where it does not count.

    Source: MindSpore's `mindspore.hal.get_device_properties`.

    Example:
        >>> ms.hal.get_device_properties(0, "CPU").total_memory >= 0
        True
    """
    single = device(device_id, device_target)
    stats = single.memory_stats() or {}
    total = stats.get("bytes_limit", 0)
    return DeviceProperties(single.device_kind, total, total - stats.get("bytes_in_use", 0))


def get_device_capability(device_id, device_target=None):
    """(major, minor) of an NVIDIA GPU; None of other devices.

    Source: MindSpore's `mindspore.hal.get_device_capability`.

    Example:
        >>> ms.hal.get_device_capability(0, "CPU")
    """
    capability = getattr(device(device_id, device_target), "compute_capability", None)
    return None if capability is None else tuple(int(part) for part in str(capability).split("."))


def get_arch_list(device_target=None):
    """For which GPUs programs are made in advance: none, XLA compiles for the one it finds.

    Source: MindSpore's `mindspore.hal.get_arch_list`.

    Example:
        >>> ms.hal.get_arch_list("CPU")
    """
    devices(device_target)


def sdc_detect_start() -> None:
    """Begin to look for wrong results of Ascend hardware; no effect here.

    Source: MindSpore's `mindspore.utils.sdc_detect_start`.

    Example:
        >>> from mycel.debug.devices import sdc_detect_start
        >>> sdc_detect_start()
    """
    log.note_once("sdc_detect_start looks at Ascend hardware; it has no effect here")


def sdc_detect_stop() -> None:
    """Look no longer for wrong results of Ascend hardware; no effect here.

    Source: MindSpore's `mindspore.utils.sdc_detect_stop`.

    Example:
        >>> from mycel.debug.devices import sdc_detect_stop
        >>> sdc_detect_stop()
    """


def get_sdc_detect_result() -> bool:
    """Whether Ascend hardware was found to give wrong results: nobody looks, so False.

    Source: MindSpore's `mindspore.utils.get_sdc_detect_result`.

    Example:
        >>> from mycel.debug.devices import get_sdc_detect_result
        >>> get_sdc_detect_result()
        False
    """
    return False


__all__ = [
    "device_count",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
]
