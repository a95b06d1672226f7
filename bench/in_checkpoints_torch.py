# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own files, and safetensors read by it."""

from __future__ import annotations

import safetensors.torch
import torch

from bench import checkpoint_files
from bench.checkpoint_files import Format


def _tensors(arrays):
    return {label: torch.from_numpy(array) for label, array in arrays.items()}


FORMATS = {
    "pt": Format(".pt", _tensors, lambda path, given: torch.save(given, path), torch.load),
    "safetensors": Format(
        ".safetensors",
        _tensors,
        lambda path, given: safetensors.torch.save_file(given, path),
        safetensors.torch.load_file,
    ),
}
VARIANTS = tuple(FORMATS)


def make(work: str, variant: str):
    """A function that saves or loads once."""
    return checkpoint_files.make(FORMATS, work, variant)


def settings() -> str:
    """What is measured with."""
    return f"torch {torch.__version__}, safetensors {safetensors.__version__}"
