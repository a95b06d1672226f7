# SPDX-License-Identifier: Apache-2.0
"""load_checkpoint and load_param_into_net: Parameters from a file, and from there to a Cell."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from mycel.checkpoint import encryption, files
from mycel.checkpoint.contents import Contents
from mycel.checkpoint.saving import writer
from mycel.checkpoint.sharded.slices import FORMAT
from mycel.init.later import kept
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place, warn_at
from mycel.kernel.record.parameter import Parameter, new_parameter, own_value
from mycel.kernel.record.stream import local
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.record.value import value_of
from mycel.nn.cell import Cell

NOTHING_CHOSEN = "No Parameter of {path} is left after {what} (at {place}). The file has: {names}."
# Element types that are converted into one another, unless strict_load is set.
KINDS = (
    frozenset(("float16", "bfloat16", "float32", "float64")),
    frozenset(("int8", "int16", "int32", "int64")),
)
# An array of so many bytes waits on the host until it is used: putting it on the device takes ten
# times as long as reading it. Of a larger one there would be two copies for a while.
MOST_BYTES_KEPT = 1 << 16

_log = logging.getLogger("mycel")


def load_checkpoint(
    ckpt_file_name: str | os.PathLike[str],
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[Any] | tuple[Any, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[Any] | tuple[Any, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Read Parameters from a file: one of `save_checkpoint`, of MindSpore, or safetensors.

    Args:
        ckpt_file_name: the file, or an open binary file; its format is read from it. A name that
            ends in '.index.json' is that of a checkpoint in slices, saved by any number of devices.
        net: a Cell to load them into at once, as `load_param_into_net` does. Of an index of slices
            each device then gets what it has of a divided Parameter, and no more is read.
        strict_load: see `load_param_into_net`.
        filter_prefix: names that begin with this, or with one of these, are left out.
        dec_key, dec_mode: what it was encrypted with.
        specify_prefix: only names that begin with this, or with one of these, are taken.
        choice_func: says for each name whether it is taken; the prefixes replace it.
        crc_check: accepted; a checksum is checked wherever there is one.
        remove_redundancy: accepted; files of one device have none.
        format: 'ckpt', 'safetensors' or 'index.json'; the file decides.

    Returns:
        Parameters, and texts, by name.

    Raises:
        ValueError: the file is missing or damaged, or no Parameter is taken.
        TypeError: an argument of another type.

    Source: MindSpore's `mindspore.load_checkpoint`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(nn.Dense(2, 1), f"{folder}/net.safetensors")
        ...     loaded = ms.load_checkpoint(f"{folder}/net.safetensors", filter_prefix="w")
        >>> loaded
        {'bias': Parameter (name=bias, shape=(1,), dtype=Float32, requires_grad=True)}
    """
    if format != FORMAT:
        files.check_format(format)
    for name, flag in (("crc_check", crc_check), ("remove_redundancy", remove_redundancy)):
        if not isinstance(flag, bool):
            raise wrong(ValueError, f"load_checkpoint: {name}", "True or False", repr(flag))
    encryption.check_key(dec_key, dec_mode, "dec_key")
    if not isinstance(ckpt_file_name, (str, os.PathLike, io.BufferedIOBase, io.RawIOBase)):
        raise wrong(TypeError, "load_checkpoint: ckpt_file_name", "a string", repr(ckpt_file_name))
    taken = choice(filter_prefix, specify_prefix, choice_func)
    writer.wait()
    contents = files.read(ckpt_file_name, dec_key, dec_mode, taken, net)
    parameters = chosen(contents, taken, ckpt_file_name)
    if net is not None:
        load_param_into_net(net, parameters, strict_load, remove_redundancy)
    return parameters


def chosen(contents: Contents, taken: Callable[[str], object], path) -> dict[str, Any]:
    """Parameters, and texts, of the names that are taken.

    Raises:
        ValueError: none is.
    """
    parameters = {
        name: value if isinstance(value, str) else _parameter(name, value)
        for name, value in contents.items()
        if taken(name)
    }
    if not parameters:
        what = "filter_prefix, specify_prefix or choice_func"
        names = _some(contents)
        raise ValueError(
            NOTHING_CHOSEN.format(path=path, what=what, place=user_place(3), names=names)
        )
    return parameters


def _parameter(name: str, array: np.ndarray | jax.Array) -> Parameter:
    if not isinstance(array, np.ndarray):
        return new_parameter(value_of(array), name)  # it lies where it belongs
    if array.nbytes > MOST_BYTES_KEPT or local.stream.scope.capture is not None:
        return Parameter(array, name=name)
    # The file may change: a copy, also of what waits for its use.
    return new_parameter(kept(np.array(array)), name)


class Loading:
    """A file being read; `result()` waits for it and gives what `load_checkpoint` would."""

    def __init__(self, *args, **kwargs):
        self._pool = ThreadPoolExecutor(1, "mycel-checkpoint")
        self._future = self._pool.submit(load_checkpoint, *args, **kwargs)
        self._pool.shutdown(wait=False)

    def result(self) -> dict:
        """The Parameters by name.

        Raises:
            ValueError: as `load_checkpoint`.
        """
        return self._future.result()


def load_checkpoint_async(
    ckpt_file_name: str | os.PathLike[str],
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[Any] | tuple[Any, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[Any] | tuple[Any, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> Loading:
    """Read a checkpoint in a thread; `result()` of what is returned waits for it.

    Args:
        See `load_checkpoint`.

    Source: MindSpore's `mindspore.load_checkpoint_async`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(nn.Dense(2, 1), f"{folder}/net.ckpt")
        ...     loaded = ms.load_checkpoint_async(f"{folder}/net.ckpt").result()
        >>> list(loaded)
        ['weight', 'bias']
    """
    return Loading(
        ckpt_file_name,
        net,
        strict_load,
        filter_prefix,
        dec_key,
        dec_mode,
        specify_prefix,
        choice_func,
    )


def load_param_into_net(
    net: Cell,
    parameter_dict: dict[str, Any],
    strict_load: bool = False,
    remove_redundancy: bool = False,
) -> tuple[list[str], list[str]]:
    """Give the Parameters of a Cell the values that a dictionary has under their names.

    Everything is checked before anything is changed. Where names are missing and `strict_load` is
    not set, a value is taken whose name ends with that of the Parameter, as when the network was
    part of a larger one.

    Args:
        parameter_dict: Parameters by name, as `load_checkpoint` returns them.
        strict_load: neither convert element types nor take names that only end alike.
        remove_redundancy: accepted; files of one device have none.

    Returns:
        The names of Parameters that got no value, and of values that no Parameter has taken under
        its own name.

    Raises:
        TypeError: `net` is not a Cell, or `parameter_dict` is not a dictionary of Parameters.
        RuntimeError: a value has another shape, or an element type that is not converted.

    Source: MindSpore's `mindspore.load_param_into_net`.

    Example:
        >>> net = nn.Dense(2, 1)
        >>> ms.load_param_into_net(net, {"bias": Parameter(Tensor([3.0])), "b": Parameter(1.0)})
        (['weight'], ['b'])
        >>> print(net.bias.asnumpy())
        [3.]
    """
    _check_arguments(net, parameter_dict, strict_load, remove_redundancy)
    parameters = {parameter.name: parameter for parameter in net.get_parameters()}
    values = {name: value for name, value in parameter_dict.items() if not isinstance(value, str)}
    taken = {name: name for name in parameters if name in values}
    missing = [name for name in parameters if name not in taken]
    unknown = [name for name in parameter_dict if name not in taken]
    if missing and not strict_load:
        taken |= _alike(missing, values)
        missing = [name for name in missing if name not in taken]
    loaded = [
        (parameters[name], fitting(parameters[name], values[key], strict_load))
        for name, key in taken.items()
    ]
    for parameter, value in loaded:
        update(parameter, own_value(value))
    if missing:
        _log.warning(
            "%d of %d Parameters of %s were not loaded: %s. The checkpoint has also: %s",
            len(missing), len(parameters), type(net).__name__, _some(missing), _some(unknown),
        )  # fmt: skip
    return missing, unknown


def fitting(parameter: Parameter, value: Tensor, strict: bool = False) -> Tensor:
    """The value in the element type of a Parameter.

    Raises:
        RuntimeError: it has another shape, or a type that is not converted.
    """
    what = f"The value for Parameter {parameter.name!r}"
    if value.shape != parameter.shape and (parameter.shape, value.shape) != ((), (1,)):
        raise wrong(RuntimeError, what, f"of shape {parameter.shape}", f"shape {value.shape}")
    if value.shape != parameter.shape:
        value = value.reshape(())
    if value.dtype is parameter.dtype:
        return value
    names = {value.dtype.name, parameter.dtype.name}
    if strict or not any(names <= kind for kind in KINDS):
        remedy = " (strict_load=False converts it)" if strict else ""
        expected = f"of type {parameter.dtype}{remedy}"
        raise wrong(RuntimeError, what, expected, f"type {value.dtype}")
    converted = value.astype(parameter.dtype)
    lost = _count_of_lost(np.asarray(value), np.asarray(converted))
    if lost:
        text = f"{what}: {lost} of {value.size} numbers of type {value.dtype} do not fit"
        warn_at(f"{text} {parameter.dtype}.", user_place())
    return converted


def _count_of_lost(given: np.ndarray, converted: np.ndarray) -> int:
    """How many numbers became another one: an integer, or infinite."""
    if given.dtype.kind in "iu":
        return int((converted.astype(given.dtype) != given).sum())
    return int((np.isfinite(given) & ~np.isfinite(converted)).sum())


def _alike(missing: list[str], parameter_dict: dict) -> dict[str, str]:
    """For names that are missing, keys that end with them; the same prefix if that can be."""
    keys: dict[str, str] = {}
    prefix = None
    for name in missing:
        key = None if prefix is None else prefix + name
        if key not in parameter_dict:
            key = next((key for key in parameter_dict if key.endswith(name)), None)
        if key is not None:
            keys[name] = key
            prefix = key.removesuffix(name) if prefix is None else prefix
    return keys


def choice(filter_prefix, specify_prefix, choice_func) -> Callable[[str], object]:
    """What says for each name whether it is taken.

    Raises:
        TypeError, ValueError: a prefix is no text, or empty; what chooses is no function.
    """
    left_out, taken = _prefixes(filter_prefix), _prefixes(specify_prefix)
    if left_out is None and taken is None:
        if choice_func is not None and not callable(choice_func):
            expected = "a function of a name"
            raise wrong(ValueError, "load_checkpoint: choice_func", expected, repr(choice_func))
        return choice_func or (lambda name: True)
    return lambda name: (
        (taken is None or name.startswith(taken))
        and not (left_out is not None and name.startswith(left_out))
    )


def _prefixes(given) -> tuple[str, ...] | None:
    if given is None:
        return None
    what = "load_checkpoint: specify_prefix or filter_prefix"
    if not isinstance(given, (str, list, tuple)):
        raise wrong(TypeError, what, "a string or a list of strings", type(given).__name__)
    prefixes = (given,) if isinstance(given, str) else tuple(given)
    if not prefixes:
        raise wrong(ValueError, what, "a string or a list of one or more", repr(given))
    for prefix in prefixes:
        if not isinstance(prefix, str):
            raise wrong(TypeError, what, "a string or a list of strings", repr(prefix))
        if not prefix:
            raise wrong(ValueError, what, "without an empty string", repr(given))
    return prefixes


def _check_arguments(net, parameter_dict, strict_load, remove_redundancy) -> None:
    what = "load_param_into_net"
    if not isinstance(net, Cell):
        raise wrong(TypeError, f"{what}: net", "a Cell", type(net).__name__)
    if not isinstance(parameter_dict, dict):
        actual = type(parameter_dict).__name__
        raise wrong(TypeError, f"{what}: parameter_dict", "a dictionary of Parameters", actual)
    for name, flag in (("strict_load", strict_load), ("remove_redundancy", remove_redundancy)):
        if not isinstance(flag, bool):
            kind = TypeError if name == "strict_load" else ValueError
            raise wrong(kind, f"{what}: {name}", "True or False", repr(flag))
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Parameter, str)):
            actual = f"{type(value).__name__} under {name!r}"
            remedy = "Parameters by name (make one of a Tensor: Parameter(tensor, name=...))"
            raise wrong(TypeError, f"{what}: parameter_dict", f"a dictionary of {remedy}", actual)


def _some(names: Iterable[str], most: int = 10) -> str:
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) + more) or "none"
