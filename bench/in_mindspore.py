# SPDX-License-Identifier: Apache-2.0
"""The work in MindSpore itself, on the CPU."""

from __future__ import annotations

import mindspore as ms

from bench import cells

VARIANTS = ("pynative", "graph")

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
networks = cells.Networks(ms)


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result."""
    return cells.make(ms, networks, name, variant == "graph")


def settings() -> str:
    """What is measured with."""
    return f"mindspore {ms.__version__}"
