# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of MindSpore in both formats."""

from __future__ import annotations

import mindspore as ms

from bench import checkpoint_cells, checkpoint_files

FORMATS = checkpoint_cells.formats(ms)
VARIANTS = tuple(FORMATS)


def make(work: str, variant: str):
    """A function that saves or loads once."""
    return checkpoint_files.make(FORMATS, work, variant)


def settings() -> str:
    """What is measured with."""
    return f"mindspore {ms.__version__}"
