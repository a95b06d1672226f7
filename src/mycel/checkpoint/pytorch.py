# SPDX-License-Identifier: Apache-2.0
"""State dictionaries of PyTorch: read from .pth files without PyTorch, and their names."""

from __future__ import annotations

import collections
import io
import os
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from mycel import nn
from mycel.checkpoint import files
from mycel.checkpoint.contents import damaged
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.record.parameter import Parameter

# What the storages of a .pth file are called, and their element types.
STORAGES = {
    "DoubleStorage": np.float64, "FloatStorage": np.float32, "HalfStorage": np.float16,
    "BFloat16Storage": ml_dtypes.bfloat16, "BoolStorage": np.bool_, "ByteStorage": np.uint8,
    "CharStorage": np.int8, "ShortStorage": np.int16, "IntStorage": np.int32,
    "LongStorage": np.int64, "ComplexFloatStorage": np.complex64,
    "ComplexDoubleStorage": np.complex128,
}  # fmt: skip
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
# Files before PyTorch 1.6 begin with this number, pickled.
_OLDER = 0x1950A86A20F9469CFC6C
NO_STATE = (
    "{path} has no state dictionary but {actual}. Save one in PyTorch: "
    "torch.save(model.state_dict(), path)."
)
FORBIDDEN = (
    "{path} was not loaded: it has {name}, which is not a tensor, and loading it could run code of "
    "whoever wrote the file. Save the state dictionary alone: torch.save(model.state_dict(), path)."
)
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
    if not os.path.isfile(file_name):
        raise ValueError(MISSING.format(path=file_name))
    parameters = {}
    for name, array in _state(file_name).items():
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
    mapping = {}
    inner = {
        f"{path}.{child}".lstrip("."): path
        for path, cell in net.cells_and_names()
        for kind, child in _AS_ONE
        if isinstance(cell, kind)
    }
    for path, cell in net.cells_and_names():
        path = inner.get(path, path)
        names = next((names for kinds, names in NAMES if isinstance(cell, kinds)), {})
        for attribute, parameter in cell._params.items():
            if parameter is not None:
                theirs = names.get(attribute, attribute)
                mapping[f"{path}.{theirs}" if path else theirs] = parameter.name
    return mapping


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


def _state(path) -> dict[str, np.ndarray]:
    with open(path, "rb") as file:
        start = file.read(2)
    if start[:1] == b"\x80":
        read = _older
    elif start == b"PK":
        read = _archive
    else:
        return {n: a for n, a in files.read(path).items() if not isinstance(a, str)}
    try:
        state = read(path)
    except ValueError:
        raise
    except Exception as error:
        if came_from_outside(error):
            raise
        raise damaged(path, f"{type(error).__name__}: {error}") from None
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    arrays = isinstance(state, dict) and {
        name: value for name, value in state.items() if isinstance(value, np.ndarray)
    }
    if not arrays:
        raise ValueError(NO_STATE.format(path=path, actual=type(state).__name__))
    return arrays


def _archive(path):
    """The object in an archive: a pickle, and a member for each storage."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise damaged(path, str(error)) from None
    with archive:
        pickled = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickled) != 1:
            raise ValueError(NO_STATE.format(path=path, actual="an archive of something else"))
        folder = pickled[0].removesuffix("data.pkl")
        order = "<"
        if f"{folder}byteorder" in archive.namelist():
            order = "<" if archive.read(f"{folder}byteorder") == b"little" else ">"
        known: dict[str, np.ndarray] = {}

        def storage(kind, key):
            if key not in known:
                data = archive.read(f"{folder}data/{key}")
                known[key] = np.frombuffer(data, _ordered(kind, order))
            return known[key]

        return _Reader(io.BytesIO(archive.read(pickled[0])), path, storage).load()


def _older(path):
    """The object in a file before PyTorch 1.6: pickles, then the storages one after the other."""
    with open(path, "rb") as file:
        if _Reader(file, path, None).load() != _OLDER:
            raise ValueError(NO_STATE.format(path=path, actual="something else"))
        for _ in range(2):  # the version of the format, and of the machine
            _Reader(file, path, None).load()
        kinds: dict[str, np.dtype] = {}
        sizes: dict[str, int] = {}

        def storage(kind, key, size):
            kinds[key], sizes[key] = np.dtype(kind), size
            return key

        reader = _Reader(file, path, storage, later=True)
        state = reader.load()
        arrays = {}
        for key in _Reader(file, path, None).load():
            count = int.from_bytes(file.read(8), "little")
            data = file.read(count * kinds[key].itemsize)
            if count != sizes[key] or len(data) != count * kinds[key].itemsize:
                raise damaged(path, "it ends too early")
            arrays[key] = np.frombuffer(data, kinds[key])
        return _filled(state, arrays)


class _Later:
    """A tensor whose storage has not been read yet."""

    def __init__(self, key, offset, shape, strides):
        self.key = key
        self.place = (offset, shape, strides)


def _filled(tree, arrays):
    if isinstance(tree, _Later):
        return _tensor(arrays[tree.key], *tree.place)
    if isinstance(tree, dict):
        return {key: _filled(value, arrays) for key, value in tree.items()}
    return tree


def _ordered(kind, order: str) -> np.dtype:
    kind = np.dtype(kind)
    return kind if order == "<" or kind.itemsize == 1 else kind.newbyteorder(">")


class _Reader(pickle.Unpickler):
    """Reads pickles of tensors in dictionaries; any other class is refused before it is made."""

    def __init__(self, file, path, storage, later: bool = False):
        super().__init__(file, encoding="utf-8")
        self._path = path
        self._storage = storage
        self._later = later
        self._makers = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): self._tensor,
            ("torch._utils", "_rebuild_tensor"): self._tensor,
            ("torch._utils", "_rebuild_parameter"): lambda data, *_: data,
            ("torch.serialization", "_get_layout"): str,
            ("torch", "Size"): tuple,
        }

    def find_class(self, module, name):
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        if (module, name) in self._makers:
            return self._makers[module, name]
        raise ValueError(FORBIDDEN.format(path=self._path, name=f"{module}.{name}"))

    def persistent_load(self, pid):
        """A storage: ('storage', its type, its key, where it was, its size, ...)."""
        _, kind, key, _, size, *_ = pid
        return self._storage(kind, key, size) if self._later else self._storage(kind, key)

    def _tensor(self, storage, offset, shape, strides, *_):
        if self._later:
            return _Later(storage, offset, shape, strides)
        return _tensor(storage, offset, shape, strides)


def _tensor(storage: np.ndarray, offset: int, shape, strides) -> np.ndarray:
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if 0 in shape:
        return np.zeros(shape, storage.dtype)
    if offset < 0 or min(strides, default=0) < 0 or last >= storage.size:
        raise ValueError(f"A tensor of shape {tuple(shape)} lies outside of its storage.")
    inside = storage[offset:]
    steps = [stride * storage.itemsize for stride in strides]
    view = np.lib.stride_tricks.as_strided(inside, tuple(shape), steps, writeable=False)
    return np.array(view, storage.dtype.newbyteorder("="))
