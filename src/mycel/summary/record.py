# SPDX-License-Identifier: Apache-2.0
"""SummaryRecord: takes what summary operators name, and writes it when a step is recorded."""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import socket
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from urllib.parse import quote

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.places import user_place
from mycel.kernel.execute.sites import every_call
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.ops.summary import attach, check, detach
from mycel.summary.events import PLUGINS, EventFile
from mycel.summary.network import graph_of

CLOSED = "This SummaryRecord is closed; what {what} was given at {place} is not written."
FULL = (
    "The file of this SummaryRecord has reached max_file_size={size} bytes; from here on nothing "
    "is written to {path}."
)
BROKEN = "Nothing more is written to {path}: {error}"
NOT_FINITE = (
    "The histogram {name!r} was given NaN or infinite values; they are left out of its buckets."
)

_MODES = ("train", "eval")
# What MindSpore writes for MindInsight, in formats that TensorBoard does not read.
_MINDINSIGHT = (
    "train_lineage",
    "eval_lineage",
    "dataset_graph",
    "custom_lineage_data",
    "landscape",
)
_numbers = itertools.count()


class SummaryRecord:
    """Writes the values of summary operators to an event file that TensorBoard reads.

    While it is open it takes what `ops.ScalarSummary` and its like are called with, in every mode
    and on every thread; `record(step)` writes the last value of each name. Several may be open;
    each takes everything.

    Args:
        log_dir: the folder to write in; made if it is not there.
        file_prefix: how the name of the file begins.
        file_suffix: how it ends.
        num_process: accepted for MindSpore programs; files are written by the calling thread.
        network: a Cell whose structure is written with the first step.
        max_file_size: how many bytes the file may have; a warning tells when that is reached.
        raise_exception: whether an error of the file system is raised; otherwise it is a warning,
            and nothing more is written.
        export_options: `{"tensor_format": "npy"}` also saves the values of `ops.TensorSummary`,
            one `.npy` file each.

    Raises:
        ImportError: tensorboardX is not installed; `pip install 'mycel[summary]'`.
        TypeError, ValueError: an argument is wrong; names it.

    Source: MindSpore's `mindspore.SummaryRecord`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with mycel.SummaryRecord(folder) as record:
        ...         record.add_value("scalar", "accuracy", Tensor(0.9))
        ...         print(record.record(step=1))
        True
    """

    def __init__(
        self,
        log_dir,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Cell | None = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict | None = None,
    ):
        del num_process
        if not isinstance(log_dir, (str, os.PathLike)):
            raise errors.wrong(TypeError, "SummaryRecord: log_dir", "a folder", repr(log_dir))
        for what, text in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            _check_part(what, text)
        _check_cell("network", network)
        if not isinstance(raise_exception, bool):
            raise errors.wrong(TypeError, "raise_exception", "a bool", repr(raise_exception))
        self._most_bytes = _as_size(max_file_size)
        self._exports = _as_exports(export_options)
        self._network = network
        self._raise = raise_exception
        self._mode = "train"
        self._lock = threading.Lock()
        # By plugin and name: the last value of operators, and of add_value.
        self._emitted: dict[tuple[str, str], Tensor] = {}
        self._added: dict[tuple[str, str], Tensor | Cell] = {}
        # The plugin that each tag shows: TensorBoard has one for each.
        self._tags: dict[str, str] = {}
        self._has_graph = False
        self._writing = True
        folder = pathlib.Path(os.path.abspath(os.fspath(log_dir)))
        seconds, number = int(time.time()), next(_numbers)
        # TensorBoard looks for `tfevents` in the name.
        own = f"{seconds}.{socket.gethostname()}.{os.getpid()}.{number}"
        self._path = folder / f"{file_prefix}.out.tfevents.{own}{file_suffix}"
        self._export_folder = folder / f"export_{seconds}" / "tensor"
        self._file = EventFile(self._path, self._most_bytes)
        # Also for a record that is dropped or still open at the end of the program.
        self._closing = weakref.finalize(self, self._file.close)
        attach(self)

    def __enter__(self):
        if not self._closing.alive:
            raise ValueError(f"This SummaryRecord is closed (at {user_place(2)}); make a new one.")
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def log_dir(self) -> str:
        """The full path of the event file."""
        return str(self._path)

    def set_mode(self, mode: str) -> None:
        """In mode 'eval' what summary operators are called with is not written.

        Args:
            mode: 'train' (from the start) or 'eval'.

        Raises:
            ValueError: another mode.
        """
        if mode not in _MODES:
            expected = "'train' or 'eval'"
            raise errors.wrong(ValueError, "The mode of a SummaryRecord", expected, repr(mode))
        self._mode = mode

    def take(self, plugin: str, name: str, value: Tensor) -> None:
        """Keep what a summary operator was called with, until a step is recorded."""
        if self._mode == "train":
            with self._lock:
                self._emitted[plugin, name] = value

    @every_call
    def add_value(self, plugin: str, name: str, value) -> None:
        """Add a value that no operator of the network names; written with the next step.

        Args:
            plugin: 'scalar', 'tensor', 'histogram', 'image', or 'graph'.
            name: what TensorBoard calls it. Of several under one name the last is written.
            value: a Tensor; for 'graph' a Cell.

        Raises:
            TypeError, ValueError: the plugin cannot show this value.
        """
        if plugin == "graph":
            _check_cell("The value of add_value('graph', ...)", value, optional=False)
        elif plugin in PLUGINS:
            check(f"add_value({plugin!r}, ...)", plugin, name, value)
            value = Tensor(value)
        else:
            known = ", ".join(map(repr, [*PLUGINS, "graph"]))
            reason = "; MindInsight's own data is not written" if plugin in _MINDINSIGHT else ""
            raise errors.wrong(
                ValueError, "The plugin of add_value", f"one of {known}{reason}", repr(plugin)
            )
        if not self._closing.alive:
            warnings.warn(CLOSED.format(what="add_value", place=user_place(2)), stacklevel=3)
            return
        with self._lock:
            self._added[plugin, name] = value

    @every_call
    def record(
        self,
        step: int,
        train_network: Cell | None = None,
        plugin_filter: Callable[[str], bool] | None = None,
    ) -> bool:
        """Write the last value of each name as those of `step`, and forget them.

        Args:
            step: the number of the step.
            train_network: a Cell whose structure is written if the record was given none.
            plugin_filter: asked for each kind of value ('scalar', ...) whether to write it.

        Returns:
            Whether everything was written: False if the record is closed, or its file full or
            not writable.

        Raises:
            TypeError: the step is not an integer, or the network not a Cell.
            RuntimeError: an operator that was to compute one of the values failed.
        """
        if isinstance(step, bool) or not isinstance(step, (int, np.integer)):
            raise errors.wrong(
                TypeError, "The step of SummaryRecord.record", "an integer", f"{step!r:.60}"
            )
        _check_cell("train_network", train_network)
        if not self._closing.alive:
            warnings.warn(CLOSED.format(what="record", place=user_place(2)), stacklevel=3)
            return False
        network = train_network if self._network is None else self._network
        values = self._waiting(network)
        if plugin_filter is not None:
            values = {key: values[key] for key in values if plugin_filter(key[0])}
        events = []
        summary = self._file.event(step=int(step))
        for (plugin, name), value in values.items():
            if isinstance(value, Cell):
                events.append(self._file.event(step=int(step), graph_def=graph_of(value)))
            else:
                array = value.asnumpy()
                self._fill(summary.summary.value.add(), plugin, name, array)
                if plugin == "tensor" and self._exports:
                    self._export(name, int(step), array)
        if summary.summary.value:
            events.append(summary)
        for event in events:
            self._guarded(self._file.write, event)
        return self._writing

    def flush(self) -> None:
        """Have everything that was recorded on the disk."""
        if self._closing.alive:
            self._guarded(self._file.flush)
        else:
            warnings.warn(CLOSED.format(what="flush", place=user_place(2)), stacklevel=2)

    def close(self) -> None:
        """Close the file. What was not recorded is forgotten; closing twice does no harm."""
        detach(self)
        self._closing()
        with self._lock:
            self._emitted.clear()
            self._added.clear()

    # -- writing --------------------------------------------------------------------------

    def _waiting(self, network: Cell | None) -> dict[tuple[str, str], Tensor | Cell]:
        """What waits to be written, the operators' values first; nothing waits afterwards."""
        with self._lock:
            emitted, self._emitted = self._emitted, {}
            added, self._added = self._added, {}
        values: dict[tuple[str, str], Tensor | Cell] = {}
        if network is not None and not self._has_graph:
            self._has_graph = True
            values["graph", ""] = network
        if self._mode == "train":
            values.update(emitted)
        return values | added

    def _fill(self, value, plugin: str, name: str, array: np.ndarray) -> None:
        shown = self._tags.setdefault(name, plugin)
        value.tag = name if shown == plugin else f"{name}/{plugin}"
        PLUGINS[plugin](value, array)
        if plugin == "histogram" and value.histo.num != array.size:
            warnings.warn(NOT_FINITE.format(name=name), stacklevel=4)

    def _guarded(self, action: Callable[..., bool], *arguments) -> None:
        """Do something to the file; after the first time that fails nothing more is written."""
        if not self._writing:
            return
        try:
            done = action(*arguments)
            reason = FULL.format(size=self._most_bytes, path=self._path)
        except OSError as error:
            if self._raise:
                raise
            done, reason = False, BROKEN.format(path=self._path, error=error)
        if not done:
            self._writing = False
            warnings.warn(reason, stacklevel=4)

    def _export(self, name: str, step: int, array: np.ndarray) -> None:
        try:
            self._export_folder.mkdir(parents=True, exist_ok=True)
            np.save(self._export_folder / f"{quote(name, safe='')}_{step}.npy", array)
        except OSError as error:
            if self._raise:
                raise
            self._exports = False
            warnings.warn(BROKEN.format(path=self._export_folder, error=error), stacklevel=4)


# -- checking arguments -----------------------------------------------------------------------


def _check_part(what: str, text) -> None:
    """A part of a file name."""
    if not isinstance(text, str):
        raise errors.wrong(TypeError, what, "a string", repr(text))
    if not re.fullmatch(r"[\w.\-]*", text):
        raise errors.wrong(
            ValueError, what, "made of letters, digits, '_', '-' and '.'", repr(text)
        )


def _check_cell(what: str, network, optional: bool = True) -> None:
    if not (isinstance(network, Cell) or (optional and network is None)):
        expected = "a Cell or None" if optional else "a Cell"
        raise errors.wrong(TypeError, what, expected, f"{network!r:.60}")


def _as_size(most_bytes) -> int | None:
    if most_bytes is None:
        return None
    if isinstance(most_bytes, bool) or not isinstance(most_bytes, int):
        raise errors.wrong(
            TypeError, "max_file_size", "a number of bytes or None", repr(most_bytes)
        )
    if most_bytes < 0:
        warnings.warn(f"max_file_size={most_bytes} is negative; it has no effect.", stacklevel=3)
        return None
    return most_bytes


def _as_exports(options) -> bool:
    """Whether tensors are saved as `.npy` files."""
    if options is None:
        return False
    if not isinstance(options, dict):
        raise errors.wrong(TypeError, "export_options", "a dict or None", repr(options))
    for key, kind in options.items():
        if key != "tensor_format" or kind not in ("npy", None):
            raise errors.wrong(
                ValueError, "export_options", "{'tensor_format': 'npy'}", f"{options!r:.60}"
            )
    return options.get("tensor_format") == "npy"
