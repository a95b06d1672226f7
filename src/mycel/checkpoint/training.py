# SPDX-License-Identifier: Apache-2.0
"""All that a training run needs to go on as if it had not been interrupted, in one file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mycel.checkpoint import ckpt_format, safetensors_format
from mycel.checkpoint.contents import Contents
from mycel.checkpoint.files import bytes_of_file
from mycel.checkpoint.random_state import random_state, set_random_state
from mycel.checkpoint.saving import writer
from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.generator import Generator
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.cell import Cell

# Keys of the metadata: plain values, names of what is saved once though it has two, random state.
PLAIN, SAME, RANDOM = "plain", "same", "random"
OTHER_FILE = "{path} is not a file of save_training_state; load_checkpoint reads other checkpoints."
DIFFERENT = "The state in {path} does not fit {part!r}, and nothing was changed: {reason}."


def save_training_state(file_name: str | os.PathLike[str], **parts: Any) -> None:
    """Save the state of a training run: Cells, optimisers, numbers, and all random state.

    A run that loads it goes on bit for bit as the one that saved it, on the same device. A kill at
    any moment leaves the old file or the new one.

    Args:
        file_name: the file; a safetensors file with a checksum.
        parts: under names of your choice, Cells (their Parameters and buffers), Tensors,
            Parameters, Generators, and what JSON can hold (numbers, texts, None, lists, ...).

    Raises:
        TypeError: a part is none of these.
        FileNotFoundError: the folder does not exist.

    Example:
        >>> import tempfile
        >>> from mycel.checkpoint import load_training_state, save_training_state
        >>> net = nn.Dense(2, 1)
        >>> optimizer = nn.Adam(net.trainable_params())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = f"{folder}/run.safetensors"
        ...     save_training_state(file, network=net, optimizer=optimizer, epoch=3)
        ...     plain = load_training_state(file, network=net, optimizer=optimizer)
        >>> plain
        {'epoch': 3}
    """
    contents: Contents = {}
    plain, same, seen = {}, {}, {}
    for part, value in parts.items():
        if not _has_tensors(value):
            plain[part] = value
            continue
        for name, tensor in _tensors(part, value):
            if id(tensor) in seen:
                same[name] = seen[id(tensor)]
            else:
                seen[id(tensor)] = name
                contents[name] = np.asarray(tensor)
    states, told = random_state()
    metadata = {PLAIN: _json(plain), SAME: json.dumps(same), RANDOM: json.dumps(told)}
    writer.wait()
    with replaced(file_name) as partial:
        safetensors_format.write(partial, contents | states, metadata)


def load_training_state(file_name: str | os.PathLike[str], **parts: Any) -> dict[str, Any]:
    """Give Cells, optimisers and all random state what `save_training_state` saved of them.

    Everything is checked before anything is changed: each Parameter and buffer must be there, in
    its shape and element type.

    Args:
        file_name: the file.
        parts: Cells, Tensors, Parameters and Generators, under the names they were saved with.

    Returns:
        The plain values that were saved, by name.

    Raises:
        ValueError: the file does not exist, is damaged, or does not fit.

    Example:
        See `save_training_state`.
    """
    writer.wait()
    data = bytes_of_file(file_name)
    if len(data) and ckpt_format.is_whole(data) and not safetensors_format.is_whole(data):
        raise ValueError(OTHER_FILE.format(path=file_name))
    contents, metadata = safetensors_format.decode(data, file_name)
    if not metadata.keys() >= {PLAIN, SAME, RANDOM}:
        raise ValueError(OTHER_FILE.format(path=file_name))
    same = json.loads(metadata[SAME])
    loaded = []
    for part, value in parts.items():
        if not _has_tensors(value):
            expected = "a Cell, Tensor or Generator (plain values are returned)"
            raise wrong(TypeError, f"load_training_state: {part}", expected, type(value).__name__)
        members = dict(_tensors(part, value))
        saved = {n: contents[same.get(n, n)] for n in [*contents, *same] if _belongs(n, part)}
        _check(file_name, part, members, saved)
        loaded += [(tensor, saved[name]) for name, tensor in members.items()]
    for tensor, array in loaded:
        update(tensor, Tensor(array))
    set_random_state(contents, json.loads(metadata[RANDOM]))
    return json.loads(metadata[PLAIN])


def _has_tensors(value) -> bool:
    return isinstance(value, (Cell, Tensor, Generator))


def _tensors(part: str, value) -> Iterator[tuple[str, Tensor]]:
    """Every Tensor of a part, under the name of the part and its path."""
    if isinstance(value, Cell):
        for path, parameter in value.parameters_and_names():
            yield f"{part}/{path}", parameter
        for path, buffer in value.named_buffers():
            yield f"{part}/buffers/{path}", buffer
    else:
        yield part, value.state if isinstance(value, Generator) else value


def _belongs(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}/")


def _check(path, part: str, wanted: dict[str, Tensor], saved: Contents) -> None:
    """Raise unless these are the names, shapes and element types that were saved."""
    reason = None
    if wanted.keys() != saved.keys():
        missing, unknown = wanted.keys() - saved.keys(), saved.keys() - wanted.keys()
        reason = f"not in the file: {_some(missing)}; only in the file: {_some(unknown)}"
    else:
        for name, tensor in wanted.items():
            there = tensor.shape, tensor.dtype.numpy
            if there != (saved[name].shape, saved[name].dtype):
                reason = f"{name!r} was {saved[name].dtype}{list(saved[name].shape)}"
    if reason:
        raise ValueError(DIFFERENT.format(path=path, part=part, reason=reason))


def _some(names) -> str:
    names = sorted(names)
    return ", ".join([*names[:5], *(["..."] if len(names) > 5 else [])]) or "none"


def _json(plain: dict) -> str:
    for name, value in plain.items():
        try:
            json.dumps(value)
        except TypeError:
            expected = "a Cell, a Tensor, a Generator or what JSON can hold"
            raise wrong(
                TypeError, f"What is saved as {name!r}", expected, type(value).__name__
            ) from None
    return json.dumps(plain)
