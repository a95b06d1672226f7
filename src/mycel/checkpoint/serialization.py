# SPDX-License-Identifier: Apache-2.0
"""What programs take from `mindspore.train.serialization` beside its public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.checkpoint import encryption, files
from mycel.checkpoint.ckpt_format import TEXT, TYPE_OF_NAME
from mycel.checkpoint.loading import fitting
from mycel.kernel.base.dtypes import ALL, as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, own_value
from mycel.kernel.record.tensor import Tensor, update


class NumpyTypes(dict):
    """NumPy's types by the names in .ckpt files; a function too, as in newer MindSpore.

    Example:
        >>> from mycel.checkpoint.serialization import tensor_to_np_type
        >>> tensor_to_np_type["Float32"] is tensor_to_np_type("Float32")
        True
    """

    def __call__(self, tensor_type_str: str):
        return self[tensor_type_str]


# Element types by their names in .ckpt files.
tensor_to_ms_type = {str(dtype): dtype for dtype in ALL}
tensor_to_np_type = NumpyTypes({name: kind.type for name, kind in TYPE_OF_NAME.items()})
tensor_to_np_type[TEXT] = "U"


def update_param(param: Parameter, new_param: Tensor, strict_load: bool = False) -> None:
    """Give a Parameter a value of its shape; MindSpore's `_update_param`.

    Raises:
        TypeError: not a Tensor.
        RuntimeError: a value has another shape, or an element type that is not converted.

    Example:
        >>> from mycel.checkpoint.serialization import update_param
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> update_param(weight, Tensor([2.0]))
        >>> print(weight.asnumpy())
        [2.]
    """
    if not isinstance(new_param, Tensor):
        actual = type(new_param).__name__
        raise wrong(TypeError, f"The value for Parameter {param.name!r}", "a Tensor", actual)
    update(param, own_value(fitting(param, new_param, strict_load)))


def exec_save(
    ckpt_file_name: str,
    data_list: dict[str, list[Any]],
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    map_param_inc: bool = False,
    crc_check: bool | None = None,
    format: str = "ckpt",
    remove_redundancy: Any = None,
) -> None:
    """Write named lists of lengths, type and values to a file; MindSpore's `_exec_save`.

    Args:
        ckpt_file_name: the file, as it is.
        data_list: for each name the lengths, the name of the type as in .ckpt files, and the
            values: an array of any shape, a Tensor, or bytes.
        map_param_inc, remove_redundancy: accepted.
        others: see `save_checkpoint`.

    Example:
        >>> import tempfile
        >>> from mycel.checkpoint.serialization import exec_save
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exec_save(f"{folder}/a.ckpt", {"a": [[2], "Float32", np.ones(2, np.float32)]})
        ...     print(ms.load_checkpoint(f"{folder}/a.ckpt")["a"].asnumpy())
        [1. 1.]
    """
    del map_param_inc, remove_redundancy
    files.check_format(format)
    encryption.check_key(enc_key, enc_mode, "enc_key")
    contents = {name: _array(name, *described[:3]) for name, described in data_list.items()}
    checksum = enc_key is None if crc_check is None else crc_check
    files.write(ckpt_file_name, contents, format, checksum, enc_key, enc_mode)


def _array(name: str, lengths, kind: str, values) -> np.ndarray | str:
    if kind == TEXT:
        return str(values if isinstance(values, str) else np.asarray(values).item())
    if isinstance(values, (bytes, bytearray, memoryview)):
        return np.frombuffer(values, TYPE_OF_NAME[kind]).reshape(lengths)
    array = np.asarray(values)
    if str(as_dtype(array.dtype)) != kind:
        raise wrong(TypeError, f"The values of {name!r}", f"of type {kind}", f"{array.dtype}")
    return array.reshape(tuple(lengths))
