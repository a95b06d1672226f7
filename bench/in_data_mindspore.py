# SPDX-License-Identifier: Apache-2.0
"""The pipelines of `python -m bench.data` run by MindSpore's own engine in C++."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as framework
import mindspore.dataset as ds
from mindspore.dataset import text, transforms, vision

from bench import data_pipelines

VARIANTS = ("2 workers",)


def settings() -> str:
    """What is measured."""
    return f"MindSpore {framework.__version__}"


def make(work: str, variant: str) -> Callable[[], list[float]]:
    """A function that goes through one epoch."""
    del variant
    return data_pipelines.make(work, ds, vision, text, transforms, framework)
