# SPDX-License-Identifier: Apache-2.0
"""Files by hand: bytes as they are, which is what the disk can do, NumPy's, and safetensors."""

from __future__ import annotations

import numpy as np
import safetensors
import safetensors.numpy

from bench import checkpoint_files
from bench.checkpoint_files import Format


def _same(arrays):
    return arrays


def _write(path, arrays) -> None:
    with open(path, "wb") as file:
        for array in arrays.values():
            file.write(array)


def _read(path):
    """Each array from its place; their shapes are known."""
    found = {label: np.empty_like(array) for label, array in known().items()}
    with open(path, "rb") as file:
        for array in found.values():
            file.readinto(array)  # type: ignore[arg-type]
    return found


_known: dict[str, np.ndarray] = {}


def known() -> dict[str, np.ndarray]:
    """The arrays, made once."""
    _known.update({} if _known else checkpoint_files.arrays())
    return _known


def _load_npz(path):
    with np.load(path) as file:
        return {label: file[label] for label in file.files}


FORMATS = {
    "plain bytes": Format(".bin", _same, _write, _read),
    "npz": Format(".npz", _same, lambda path, arrays: np.savez(path, **arrays), _load_npz),
    "safetensors": Format(
        ".safetensors",
        _same,
        lambda path, arrays: safetensors.numpy.save_file(arrays, path),
        safetensors.numpy.load_file,
    ),
}
VARIANTS = tuple(FORMATS)


def make(work: str, variant: str):
    """A function that saves or loads once."""
    return checkpoint_files.make(FORMATS, work, variant)


def settings() -> str:
    """What is measured with."""
    return f"NumPy {np.__version__}, safetensors {safetensors.__version__}"
