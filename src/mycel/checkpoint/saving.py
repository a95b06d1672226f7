# SPDX-License-Identifier: Apache-2.0
"""save_checkpoint: Parameters of a Cell, a list or a dictionary to a file."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from mycel.checkpoint import encryption, files
from mycel.checkpoint.contents import Contents
from mycel.checkpoint.sharded import slices
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.generator import Generator, default_generator
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.report.ledger import ledger

# Keywords of MindSpore for several devices and parameter servers: nothing to do for them here.
_ACCEPTED = {"incremental", "remove_redundancy", "global_step_num"}
_NUMBERS = {bool: np.bool_, int: np.int64, float: np.float32}
NO_SLICES = "False for a checkpoint in slices"
WHOLE = "accepted: this file has whole Parameters; format='index.json' is what writes slices"
NOT_WRITTEN = "The checkpoint {path}, saved with async_save, could not be written: {reason}"

_log = logging.getLogger("mycel")


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool | None = None,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Save Parameters by their names to a file; a kill leaves the old file or the new one.

    Args:
        save_obj: a Cell, whose Parameters are saved; a list of Parameters or of dictionaries
            `{"name": ..., "data": ...}`; or a dictionary of Parameters, Tensors, numbers, texts.
        ckpt_file_name: the file. One that ends in '.safetensors' or '.index.json' is of that
            format; the ending of the format is added to other names that lack it.
        integrated_save: accepted; what is divided among devices is saved in slices by the format
            'index.json', and whole by the others.
        async_save: True, 'thread' or 'process' let a thread write, with the present values.
        append_dict: more to save: numbers, texts, Tensors, Generators.
        enc_key, enc_mode: encrypt with this key, in 'AES-GCM', 'AES-CBC' or 'SM4-CBC'.
        choice_func: says for each name of `save_obj` whether it is saved.
        crc_check: whether a .ckpt file ends with a checksum, which MindSpore reads too; None, the
            default, adds one unless the file is encrypted. Safetensors files always have one.
        format: 'ckpt', byte for byte as MindSpore writes it; 'safetensors'; or 'index.json': every
            device writes its slices, and an index says where they lie. Of several processes, all
            call this, with one path; it is neither encrypted nor written by a thread.

    Raises:
        TypeError: an argument is of another type, or cannot be held in a file.
        ValueError: the format or the mode is unknown, the key has another length, or the format has
            no such thing.
        FileNotFoundError: the folder does not exist.
        IsADirectoryError: the name is that of a folder.
        OSError: the disk is full, or may not be written to; the old file is still there.

    Source: MindSpore's `mindspore.save_checkpoint`.

    Example:
        >>> import tempfile
        >>> net = nn.Dense(2, 1, "ones")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(net, f"{folder}/net.ckpt", append_dict={"epoch": 3})
        ...     loaded = ms.load_checkpoint(f"{folder}/net.ckpt")
        >>> list(loaded), loaded["epoch"].asnumpy().item()
        (['weight', 'bias', 'epoch'], 3)
    """
    _check_flags(integrated_save, async_save, crc_check, kwargs)
    path, format = _file_name(ckpt_file_name, format)
    _check_key(enc_key, enc_mode, crc_check, format)
    if crc_check is None:
        crc_check = enc_key is None
    if not integrated_save and format != slices.FORMAT and division.enter is not None:
        ledger.accepted("save_checkpoint(integrated_save=False)", WHOLE)
    value = _as_it_lies if format == slices.FORMAT else _present if async_save else _value
    contents = {
        name: value(name, data)
        for name, data in _named(save_obj)
        if choice_func is None or choice_func(name)
    }
    contents.update(_appended(append_dict, value))
    writer.wait()  # so that files change in the order of the calls
    if format == slices.FORMAT:
        if async_save:
            raise wrong(ValueError, "save_checkpoint: async_save", NO_SLICES, repr(async_save))
        slices.write(path, contents)
        return
    options = (format, crc_check, enc_key, enc_mode)
    if async_save:
        writer.start(path, contents, options)
    else:
        files.write(path, contents, *options)


def async_ckpt_thread_status() -> bool:
    """Whether a checkpoint saved with `async_save` is still being written.

    Source: MindSpore's `mindspore.async_ckpt_thread_status`.

    Example:
        >>> ms.async_ckpt_thread_status()
        False
    """
    return writer.is_busy()


class Writer:
    """Writes files in a thread, one after the other; failures reach the next caller, or the log."""

    def __init__(self):
        self._begin()
        # A process that is forked has none of our threads: what they write is not its own.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._started: list[tuple[str, Future]] = []

    def start(self, path: str, contents: Contents, options: tuple) -> None:
        """Write a file soon."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "mycel-checkpoint")
                atexit.register(self._tell)
            self._started.append((path, self._pool.submit(files.write, path, contents, *options)))

    def is_busy(self) -> bool:
        """Whether something is not yet written."""
        with self._lock:
            return any(not future.done() for _, future in self._started)

    def wait(self) -> None:
        """Wait until everything is written.

        Raises:
            OSError: something could not be written.
        """
        while True:
            with self._lock:
                if not self._started:
                    return
                first = path, future = self._started[0]
            error = future.exception()  # whoever is interrupted here has still to wait for it
            with self._lock:
                is_ours = first in self._started
                if is_ours:
                    self._started.remove(first)
            if is_ours and error is not None:
                raise OSError(NOT_WRITTEN.format(path=path, reason=error)) from error

    def _tell(self) -> None:
        try:
            self.wait()
        except OSError as error:
            _log.error("%s", error)


writer = Writer()


def _check_flags(integrated_save, async_save, crc_check, others) -> None:
    for name, value in (("integrated_save", integrated_save), ("crc_check", crc_check)):
        if not isinstance(value, bool) and not (name == "crc_check" and value is None):
            raise wrong(TypeError, f"save_checkpoint: {name}", "True or False", repr(value))
    if not isinstance(async_save, (bool, str)):
        expected = "True, False, 'thread' or 'process'"
        raise wrong(TypeError, "save_checkpoint: async_save", expected, repr(async_save))
    if isinstance(async_save, str) and async_save not in ("thread", "process"):
        raise wrong(
            ValueError, "save_checkpoint: async_save", "'thread' or 'process'", repr(async_save)
        )
    unknown = sorted(others.keys() - _ACCEPTED)
    if unknown:
        warnings.warn(f"save_checkpoint has no argument {', '.join(unknown)}.", stacklevel=3)


def _check_key(key, mode, checksum, format) -> None:
    encryption.check_key(key, mode, "enc_key")
    if format == slices.FORMAT:
        files.check_no_key(key, "save_checkpoint: enc_key")
    if key is not None and format != "ckpt":
        raise wrong(ValueError, "save_checkpoint: enc_key", "None for safetensors files", "a key")
    if key is not None and checksum:
        expected = "without crc_check (an encrypted file checks itself)"
        raise wrong(ValueError, "save_checkpoint: enc_key", expected, "both")


def _file_name(name, format) -> tuple[str, str]:
    """The file and its format."""
    if format != slices.FORMAT:
        files.check_format(format)
    if not isinstance(name, (str, os.PathLike)):
        raise wrong(TypeError, "save_checkpoint: ckpt_file_name", "a string", repr(name))
    path = os.fspath(name)
    if path.endswith(".safetensors"):
        return path, "safetensors"
    if slices.is_index(path):
        return path, slices.FORMAT
    if not os.path.basename(path):
        raise wrong(
            IsADirectoryError, "save_checkpoint: ckpt_file_name", "the name of a file", repr(path)
        )
    return path if path.endswith(f".{format}") else f"{path}.{format}", format


def _named(save_obj) -> Iterator[tuple[str, object]]:
    """Names and what is saved under them."""
    if isinstance(save_obj, Cell):
        yield from _of_cell(save_obj)
    elif isinstance(save_obj, dict):
        for name, data in save_obj.items():
            yield _checked_name(name), data
    elif isinstance(save_obj, list):
        for item in save_obj:
            yield _of_item(item)
    else:
        expected = "a Cell, a list or a dictionary"
        raise wrong(TypeError, "save_checkpoint: save_obj", expected, f"{type(save_obj).__name__}")


def _of_cell(cell: Cell) -> Iterator[tuple[str, object]]:
    seen = set()
    for parameter in cell.get_parameters():
        if parameter.name in seen:
            warnings.warn(
                f"{type(cell).__name__} has several Parameters named {parameter.name!r}; the last "
                "one is saved. Give them names of their own, or save cell.state_dict().",
                stacklevel=5,
            )
        seen.add(parameter.name)
        yield parameter.name, parameter


def _of_item(item) -> tuple[str, object]:
    if isinstance(item, dict):
        if not item.keys() >= {"name", "data"}:
            expected = "have the keys 'name' and 'data'"
            raise TypeError(f"save_checkpoint: a dictionary in save_obj must {expected}: {item!r}.")
        return _checked_name(item["name"]), item["data"]
    if isinstance(item, Parameter):
        return item.name, item
    expected = "a Parameter or {'name': ..., 'data': ...}"
    raise wrong(
        TypeError, "save_checkpoint: an item of save_obj", expected, f"{type(item).__name__}"
    )


def _checked_name(name) -> str:
    if not isinstance(name, str):
        raise wrong(TypeError, "save_checkpoint: a name", "a string", repr(name))
    return name


def _appended(append_dict, value) -> Iterator[tuple[str, Any]]:
    if append_dict is not None and not isinstance(append_dict, dict):
        actual = type(append_dict).__name__
        raise wrong(TypeError, "save_checkpoint: append_dict", "a dictionary", actual)
    for name, data in (append_dict or {}).items():
        yield _checked_name(name), value(name, data)


def _as_it_lies(name: str, data) -> Tensor | np.ndarray | str:
    """What a checkpoint in slices is given for a value: a Tensor, of which it asks each part."""
    return data if isinstance(data, Tensor) else _value(name, data)


def _present(name: str, data) -> np.ndarray | str:
    """What a thread writes for a value, whatever the program does with it meanwhile."""
    return data.copy() if isinstance(data, np.ndarray) else _value(name, data)


def _value(name: str, data) -> np.ndarray | str:
    """What a file holds for a value: an array or a text."""
    if data is default_generator:
        data = data()
    if isinstance(data, Generator):
        data = data.get_state()
    if isinstance(data, Tensor):
        return np.asarray(data)
    if isinstance(data, (str, np.ndarray)):
        return data
    if isinstance(data, np.generic):
        return np.asarray(data)
    if type(data) not in _NUMBERS:
        expected = "a Parameter, Tensor, array, number, text or Generator"
        raise wrong(TypeError, f"What is saved as {name!r}", expected, f"{type(data).__name__}")
    return np.asarray(data, _NUMBERS[type(data)])
