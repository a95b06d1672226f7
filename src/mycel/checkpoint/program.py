# SPDX-License-Identifier: Apache-2.0
"""Exported programs: a network as StableHLO with its weights in one file.

The file is an archive with the program as `jax.export` writes it, the weights as safetensors, and
a description in JSON. Archives carry checksums of their members.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import jax
import numpy as np
from jax import export as jax_export

from mycel.checkpoint import safetensors_format
from mycel.checkpoint.contents import Contents, damaged
from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.base.version import __version__

PROGRAM, WEIGHTS, DESCRIPTION = "program.jax_export", "weights.safetensors", "description.json"
NOT_INSTALLED = "Exported programs need the package flatbuffers: pip install 'mycel[export]'."
MISSING = "There is no exported program {path}."
NO_PROGRAM = "{path} is not a program that mycel has exported with file_format='STABLEHLO'."


class Program:
    """An exported network as `load` returns it: its weights, and the function of them and inputs.

    Attributes:
        weights: the arrays of Parameters and buffers by path.
        description: a dictionary: the version, platforms, inputs, names of the weights.
        exported: what `jax.export` has read: its StableHLO is `exported.mlir_module()`.
        vjp_order: how often it is written so that it can be differentiated.

    Example:
        See `export`.
    """

    def __init__(
        self, exported: jax_export.Exported, weights: Contents, description: dict, order=0
    ):
        self.exported = exported
        self.weights = weights
        self.description = description
        self.vjp_order = order

    def __call__(self, weights: dict, *inputs):
        """The result for other weights of the same shapes, and inputs: arrays in, arrays out."""
        return self.exported.call(weights, *inputs)

    def __repr__(self):
        described = self.description
        inputs = ", ".join(described["inputs"])
        return f"Program({described['name']}({inputs}), {len(self.weights)} weights)"


def write(path: str | os.PathLike, program: Program) -> None:
    """Write a program to a file, which changes as a whole.

    Raises:
        ImportError: the package flatbuffers is not installed.
    """
    with replaced(path) as partial:
        weights = Path(f"{partial}.weights.part")
        try:
            safetensors_format.write(weights, program.weights, {})
            with zipfile.ZipFile(partial, "w") as archive:
                archive.writestr(PROGRAM, _serialized(program))
                archive.writestr(DESCRIPTION, json.dumps(program.description, indent=1))
                archive.write(weights, WEIGHTS)
        finally:
            weights.unlink(missing_ok=True)


def read(path: str | os.PathLike) -> Program:
    """Read a program from a file.

    Raises:
        ValueError: the file does not exist, is not an exported program, or is damaged.
        ImportError: the package flatbuffers is not installed.
    """
    if not os.path.isfile(path):
        raise ValueError(MISSING.format(path=path))
    if not zipfile.is_zipfile(path):
        raise ValueError(NO_PROGRAM.format(path=path))
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in (PROGRAM, WEIGHTS, DESCRIPTION)}
        description = json.loads(members[DESCRIPTION])
    except KeyError:
        raise ValueError(NO_PROGRAM.format(path=path)) from None
    except Exception as error:  # of a damaged archive, zipfile raises whatever it stumbles over
        if came_from_outside(error):
            raise
        raise damaged(path, f"{type(error).__name__}: {error}") from None
    arrays = safetensors_format.decode(memoryview(members[WEIGHTS]), path)[0]
    weights: Contents = {name: arrays[name] for name in description["weights"]}
    return Program(_deserialized(members[PROGRAM]), weights, description)


def describe(name: str, platforms: tuple[str, ...], inputs, weights, trainable) -> dict:
    """What a file says of its program; the order of the weights is that of the network."""
    shapes = [f"{np.dtype(leaf.dtype)}{list(leaf.shape)}" for leaf in jax.tree.leaves(inputs)]
    return {
        "name": name,
        "version": __version__,
        "platforms": list(platforms),
        "weights": list(weights),
        "trainable": list(trainable),
        "inputs": [shape.replace("'", "") for shape in shapes],
    }


def _serialized(program: Program) -> bytes:
    try:
        return bytes(program.exported.serialize(vjp_order=program.vjp_order))
    except ImportError:
        raise ImportError(NOT_INSTALLED) from None


def _deserialized(data: bytes) -> jax_export.Exported:
    try:
        return jax_export.deserialize(bytearray(data))
    except ImportError:
        raise ImportError(NOT_INSTALLED) from None
