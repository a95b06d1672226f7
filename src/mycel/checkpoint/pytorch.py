# SPDX-License-Identifier: Apache-2.0
"""State dictionaries of PyTorch: read from .pth files without PyTorch, and their names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mycel import nn
from mycel.checkpoint import files, safetensors_format, torch_format
from mycel.checkpoint.contents import Contents
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor

# What Parameters are called in PyTorch, for Cells in which they have other names here.
_NORMALIZED = {"gamma": "weight", "beta": "bias"}
_MOVING = {"moving_mean": "running_mean", "moving_variance": "running_var"}
NAMES = (
    ((nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm), _NORMALIZED | _MOVING),
    ((nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d), _NORMALIZED | _MOVING),
    ((nn.LayerNorm, nn.GroupNorm), _NORMALIZED),
    ((nn.Embedding,), {"embedding_table": "weight"}),
    ((nn.PReLU,), {"w": "weight"}),
)
# Cells that PyTorch has as one, with the child that has their Parameters here.
_AS_ONE = ((nn.BatchNorm3d, "bn2d"),)
MISSING = "There is no file {path}."


def load_pytorch(
    file_name: str | os.PathLike[str],
    name_map: dict[str, str | None] | Callable[[str], str | None] | nn.Cell | None = None,
) -> dict[str, Parameter]:
    """Read a state dictionary of PyTorch, for `load_param_into_net`; PyTorch is not needed.

    Nothing in the file is run: it may have tensors in dictionaries and nothing else.

    Args:
        file_name: a .pth, .pt, .bin or safetensors file.
        name_map: new names. A dictionary (names that it does not have stay), a function, or the
            Cell that they are for, whose layers know PyTorch's names of their Parameters. None in
            place of a name leaves the value out.

    Returns:
        Parameters by their new names.

    Raises:
        ValueError: the file does not exist, is damaged, or holds something other than tensors.
        TypeError: `name_map` is of another type.

    Example:
        >>> import safetensors.numpy, tempfile
        >>> from mycel.checkpoint import load_pytorch
        >>> net = nn.SequentialCell(nn.LayerNorm((2,)))
        >>> state = {"0.weight": np.ones(2, np.float32), "0.bias": np.ones(2, np.float32)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     safetensors.numpy.save_file(state, f"{folder}/model.safetensors")
        ...     loaded = load_pytorch(f"{folder}/model.safetensors", net)
        >>> ms.load_param_into_net(net, loaded)
        ([], [])
        >>> print(net[0].beta.asnumpy())
        [1. 1.]
    """
    renamed = _renamer(name_map)
    shapes = {}
    if isinstance(name_map, nn.Cell):
        shapes = {parameter.name: parameter.shape for parameter in name_map.get_parameters()}
    parameters = {}
    for name, array in read_state(file_name).items():
        new = renamed(name)
        if new in parameters:
            raise wrong(ValueError, "load_pytorch: name_map", "one name for each", f"{new!r} twice")
        if new is not None:
            parameters[new] = Parameter(_reshaped(array, shapes.get(new, array.shape)), name=new)
    return parameters


def _reshaped(array: np.ndarray, shape) -> np.ndarray:
    """An array without its lengths of 1, or with more of them: weights of Conv1d have four."""
    alike = [n for n in array.shape if n != 1] == [n for n in shape if n != 1]
    return array.reshape(shape) if alike else array


def pytorch_names(net: nn.Cell) -> dict[str, str]:
    """PyTorch's names of the Parameters of a Cell, with the names that they have here.

    They are those of a PyTorch module that is built alike, with the same attributes.

    Example:
        >>> from mycel.checkpoint import pytorch_names
        >>> pytorch_names(nn.SequentialCell(nn.BatchNorm2d(1)))["0.running_mean"]
        '0.moving_mean'
    """
    return {place: tensor.name for _, _, _, place, tensor in _own(net, "_params")}


def own_names(net: nn.Cell) -> Iterator[tuple[str, nn.Cell, str, str, Tensor]]:
    """For each Parameter and saved buffer of each Cell: the Cell's path, the Cell, the attribute,
    the name in a module of PyTorch that is built alike, and the Tensor."""
    yield from _own(net, "_params")
    for found in _own(net, "_buffers"):
        if found[2] not in found[1]._unsaved_buffers:
            yield found


def _own(net: nn.Cell, kind: str) -> Iterator[tuple[str, nn.Cell, str, str, Any]]:
    inner = {
        f"{path}.{child}".lstrip("."): path
        for path, cell in net.cells_and_names()
        for kind_of_cell, child in _AS_ONE
        if isinstance(cell, kind_of_cell)
    }
    for path, cell in net.cells_and_names():
        names = next((names for kinds, names in NAMES if isinstance(cell, kinds)), {})
        for attribute, tensor in getattr(cell, kind).items():
            if tensor is not None:
                place = f"{inner.get(path, path)}.{names.get(attribute, attribute)}"
                yield path, cell, attribute, place.lstrip("."), tensor


def _renamer(name_map) -> Callable[[str], Any]:
    if name_map is None:
        return lambda name: name
    if isinstance(name_map, nn.Cell):
        names = pytorch_names(name_map)
        # A count of batches, which nothing here has.
        return lambda name: names.get(name, None if name.endswith("num_batches_tracked") else name)
    if isinstance(name_map, dict):
        return lambda name: name_map.get(name, name)
    if callable(name_map):
        return name_map
    expected = "a dictionary, a function of a name, a Cell or None"
    raise wrong(TypeError, "load_pytorch: name_map", expected, type(name_map).__name__)


def read_state(path: str | os.PathLike[str]) -> Contents:
    """The arrays of a .pth, safetensors or .ckpt file by name; which it is, is read from it.

    Raises:
        ValueError: the file does not exist, is damaged, or holds something other than tensors.
    """
    if not os.path.isfile(path):
        raise ValueError(MISSING.format(path=path))
    with open(path, "rb") as file:
        start = file.read(9)
    # The length of a safetensors header may look like the beginning of any other file.
    if torch_format.is_whole(start) and not safetensors_format.is_whole(memoryview(start)):
        return torch_format.read(path)
    return {name: a for name, a in files.read(path).items() if not isinstance(a, str)}
