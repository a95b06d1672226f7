# SPDX-License-Identifier: Apache-2.0
"""The pipelines of `python -m bench.data` run by mycel."""

from __future__ import annotations

from collections.abc import Callable

import mycel as framework
import mycel.dataset as ds
from bench import data_pipelines
from mycel.dataset import text, transforms, vision
from mycel.dataset.vision import opencv

VARIANTS = ("2 workers",)


def settings() -> str:
    """What is measured."""
    library = opencv._library()
    beside = f" with OpenCV {library.__version__}" if library else ""
    return f"mycel {framework.__version__}{beside}"


def make(work: str, variant: str) -> Callable[[], list[float]]:
    """A function that goes through one epoch."""
    del variant
    return data_pipelines.make(work, ds, vision, text, transforms, framework)
