# SPDX-License-Identifier: Apache-2.0
"""PyTorch's .pth files, read and written without PyTorch; nothing in a file is run.

A file is an archive: a pickle of dictionaries in which tensors name their storages, and a member
for each storage. Before PyTorch 1.6 it was a row of pickles and the storages behind them.
"""

from __future__ import annotations

import collections
import io
import math
import os
import pickle
import pickletools
import zipfile
from typing import Any

import ml_dtypes
import numpy as np

from mycel.checkpoint.contents import Contents, bytes_of, damaged
from mycel.kernel.base.signals import came_from_outside

# What the storages of a .pth file are called, and their element types.
STORAGES = {
    "DoubleStorage": np.float64, "FloatStorage": np.float32, "HalfStorage": np.float16,
    "BFloat16Storage": ml_dtypes.bfloat16, "BoolStorage": np.bool_, "ByteStorage": np.uint8,
    "CharStorage": np.int8, "ShortStorage": np.int16, "IntStorage": np.int32,
    "LongStorage": np.int64, "ComplexFloatStorage": np.complex64,
    "ComplexDoubleStorage": np.complex128,
}  # fmt: skip
STORAGE_OF_TYPE = {np.dtype(kind): name for name, kind in STORAGES.items()}
# Under which of these names programs save a state dictionary beside other things.
STATES = ("state_dict", "model_state_dict", "model")
ORDERS = {b"little": "<", b"big": ">"}
# Files before PyTorch 1.6 begin with this number, pickled.
_OLDER = 0x1950A86A20F9469CFC6C
# A tensor may repeat what its storage has, so that a small file stands for any number of elements.
MOST_REPEATED = 1 << 24
NO_STATE = (
    "{path} has no state dictionary but {actual}. Save one in PyTorch: "
    "torch.save(model.state_dict(), path)."
)
FORBIDDEN = (
    "{path} was not loaded: it has {name}, which is not a tensor, and loading it could run code of "
    "whoever wrote the file. Save the state dictionary alone: torch.save(model.state_dict(), path)."
)
NOT_WRITABLE = "{name!r} has the type {dtype}, which .pth files do not have."


class Refused(ValueError):
    """A file that is whole, and is not what is read here."""


# -- reading -------------------------------------------------------------------------------------


def is_whole(start: bytes) -> bool:
    """Whether the first bytes could be those of a .pth file."""
    return start[:2] == b"PK" or start[:1] == b"\x80"


def read(path: str | os.PathLike[str]) -> Contents:
    """The tensors of a state dictionary by name.

    Raises:
        ValueError: the file is damaged, or holds something other than tensors.
    """
    with open(path, "rb") as file:
        start = file.read(2)
    try:
        state = _archive(path) if start == b"PK" else _older(path)
    except Refused:
        raise
    except Exception as error:
        if came_from_outside(error):
            raise
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise damaged(path, f"{kind}{error}") from None
    inner = [state[key] for key in STATES if isinstance(state, dict) and key in state]
    if inner and isinstance(inner[0], dict):
        state = inner[0]
    arrays = isinstance(state, dict) and {
        name: value for name, value in state.items() if isinstance(value, np.ndarray)
    }
    if not arrays:
        raise Refused(NO_STATE.format(path=path, actual=type(state).__name__))
    if not all(isinstance(name, str) for name in arrays):
        raise Refused(NO_STATE.format(path=path, actual="tensors without names"))
    return arrays


def _archive(path):
    """The object in an archive: a pickle, and a member for each storage."""
    with zipfile.ZipFile(path) as archive:
        pickled = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickled) != 1:
            raise Refused(NO_STATE.format(path=path, actual="an archive of something else"))
        folder = pickled[0].removesuffix("data.pkl")
        order = "<"
        if f"{folder}byteorder" in archive.namelist():
            order = ORDERS[_member(archive, f"{folder}byteorder")]
        known: dict[str, np.ndarray] = {}

        def storage(kind, key, size):
            if key not in known:
                data = _member(archive, f"{folder}data/{key}")
                known[key] = np.frombuffer(data, _ordered(kind, order))
                if known[key].size != size:
                    raise ValueError(f"the storage {key!r} has another size")
            return known[key]

        return _Reader(io.BytesIO(_member(archive, pickled[0])), path, storage).load()


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """What an archive has under a name. PyTorch compresses nothing; what is compressed could become
    larger than any memory."""
    if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name!r} in it is compressed")
    return archive.read(name)


def _older(path):
    """The object in a file before PyTorch 1.6: pickles, then the storages one after the other."""
    with open(path, "rb") as file:
        if _Reader(file, path, None).load() != _OLDER:
            raise Refused(NO_STATE.format(path=path, actual="something else"))
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
            left = os.path.getsize(path) - file.tell()
            if count != sizes[key] or count * kinds[key].itemsize > left:
                raise ValueError("it ends too early")
            data = file.read(count * kinds[key].itemsize)
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


def _check_memory(file) -> None:
    """Raise where the pickle that begins here remembers something under a larger number than it
    could have: for that number the unpickler would take memory."""
    start = file.tell()
    for opcode, number, place in pickletools.genops(file):
        if opcode.name.endswith("PUT") and (number or 0) > (place or 0):
            raise ValueError(f"its pickle remembers something as number {number}")
    file.seek(start)


class _Reader(pickle.Unpickler):
    """Reads pickles of tensors in dictionaries; any other class is refused before it is made."""

    def __init__(self, file, path, storage, later: bool = False):
        _check_memory(file)
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
        raise Refused(FORBIDDEN.format(path=self._path, name=f"{module}.{name}"))

    def persistent_load(self, pid):
        """A storage: ('storage', its type, its key, where it was, its size, ...)."""
        _, kind, key, _, size, *_ = pid
        if not isinstance(kind, type) or np.dtype(kind) not in STORAGE_OF_TYPE:
            raise ValueError(f"{kind!r} is no type of a storage")
        return self._storage(kind, key, size)

    def _tensor(self, storage, offset, shape, strides, *_):
        if self._later:
            return _Later(storage, offset, shape, strides)
        return _tensor(storage, offset, shape, strides)


def _tensor(storage: np.ndarray, offset: int, shape, strides) -> np.ndarray:
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if 0 in shape:
        return np.zeros(shape, storage.dtype)
    if offset < 0 or min(strides, default=0) < 0 or last >= storage.size:
        raise ValueError(f"a tensor of shape {tuple(shape)} lies outside of its storage")
    if math.prod(shape) > max(storage.size, MOST_REPEATED):
        raise ValueError(f"a tensor of shape {tuple(shape)} repeats a storage of {storage.size}")
    inside = storage[offset:]
    steps = [stride * storage.itemsize for stride in strides]
    view = np.lib.stride_tricks.as_strided(inside, tuple(shape), steps, writeable=False)
    return np.array(view, storage.dtype.newbyteorder("="))


# -- writing -------------------------------------------------------------------------------------


def write(path: str | os.PathLike[str], arrays: Contents) -> None:
    """Write a state dictionary that `torch.load` reads, also with `weights_only=True`.

    Raises:
        TypeError: .pth files do not have the element type.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        _put(archive, "data.pkl", _pickled(arrays))
        _put(archive, "byteorder", b"little")
        for key, array in enumerate(arrays.values()):
            _put(archive, f"data/{key}", bytes_of(array))
        _put(archive, "version", b"3\n")


def _put(archive: zipfile.ZipFile, name: str, data) -> None:
    # The same bytes at any time: without a date.
    archive.writestr(zipfile.ZipInfo(f"archive/{name}"), data)


_EMPTY_ORDERED = b"ccollections\nOrderedDict\n)R"


def _pickled(arrays: Contents) -> bytes:
    """The pickle of a dictionary of tensors, with PyTorch's names and without its classes."""
    made = bytearray(pickle.PROTO + b"\x02" + _EMPTY_ORDERED + pickle.MARK)
    for key, (name, array) in enumerate(arrays.items()):
        if array.dtype not in STORAGE_OF_TYPE:
            raise TypeError(NOT_WRITABLE.format(name=name, dtype=array.dtype))
        strides = tuple(math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim))
        storage = f"ctorch\n{STORAGE_OF_TYPE[array.dtype]}\n".encode()
        made += _plain(name) + b"ctorch._utils\n_rebuild_tensor_v2\n" + pickle.MARK
        made += pickle.MARK + _plain("storage") + storage + _plain(str(key)) + _plain("cpu")
        made += _plain(array.size) + pickle.TUPLE + pickle.BINPERSID
        made += _plain(0) + _plain(array.shape) + _plain(strides) + pickle.NEWFALSE
        made += _EMPTY_ORDERED + pickle.TUPLE + pickle.REDUCE
    return bytes(made + pickle.SETITEMS + pickle.STOP)


def _plain(value: Any) -> bytes:
    """The pickle of a text, a number or a tuple, without its beginning and end."""
    return pickle.dumps(value, 2)[2:-1]
