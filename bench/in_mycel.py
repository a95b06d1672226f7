# SPDX-License-Identifier: Apache-2.0
"""The work in mycel: PyNative direct, PyNative fused, and Graph."""

from __future__ import annotations

import jax

import mycel as ms
from bench import cells

VARIANTS = ("direct", "pynative", "graph")

networks = cells.Networks(ms)


def _mode(variant: str) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=variant == "direct")


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result."""
    _mode(variant)
    call = cells.make(ms, networks, name, variant == "graph")

    def once():
        _mode(variant)
        return call()

    return once


def compilations() -> int:
    """How many programs were compiled so far: none in a steady loop."""
    return ms.debug.ledger().counts.compilations


def device_memory(what: str) -> int | None:
    """Bytes of arrays and programs on the device: now, or the most so far; None on a CPU."""
    ms.runtime.synchronize()
    stats = jax.devices()[0].memory_stats() or {}
    return stats.get({"reset": "bytes_in_use", "peak": "peak_bytes_in_use"}[what])


def settings() -> str:
    """What is measured with."""
    # As in a program, mycel says how memory is kept before JAX begins: else each step of a large
    # network is given new pages.
    ms.get_context("device_target")
    return f"mycel {ms.__version__}, jax {jax.__version__} on {jax.devices()[0].device_kind}"
