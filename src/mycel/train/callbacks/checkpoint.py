# SPDX-License-Identifier: Apache-2.0
"""ModelCheckpoint: saves the network while it trains, and keeps the latest files."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable

from mycel.checkpoint import save_checkpoint
from mycel.checkpoint.saving import writer
from mycel.checkpoint.sharded import slices
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import number
from mycel.kernel.record.generator import Generator
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, one_of
from mycel.train.callbacks.monitors import count, step_in_epoch
from mycel.train.callbacks.rates import Monitoring
from mycel.train.folders import make_directory

FORMATS = ("ckpt", "safetensors", slices.FORMAT)
BREAKPOINT = "_breakpoint.ckpt"
BEST = "-best"
_COUNTED = ("epoch_num", "step_num")


class CheckpointConfig:
    """When a ModelCheckpoint saves, and how many files it keeps.

    Args:
        save_checkpoint_steps: save after every so many steps.
        save_checkpoint_seconds: save after so many seconds; not if there are steps.
        keep_checkpoint_max: keep the latest so many files; 0 or None keeps as the next says.
        keep_checkpoint_per_n_minutes: keep one file for so many minutes; not if there is a max.
        integrated_save: accepted; see `save_checkpoint`.
        async_save: let a thread write the files.
        saved_network: a Cell to save in place of the one that is trained, such as the network
            without its optimiser.
        append_info: what else is saved: "epoch_num", "step_num", and a dictionary of numbers,
            texts and Tensors.
        enc_key, enc_mode: encrypt the files.
        exception_save: save once more if the training ends with an exception.
        crc_check: whether there is a checksum; None as in `save_checkpoint`.
        remove_redundancy: accepted on one device.
        format: 'ckpt', 'safetensors', or 'index.json': in slices, by all devices; see
            `save_checkpoint`. All processes need one directory then.
        kwargs: accepted; they concern parameter servers and several devices.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.CheckpointConfig`.

    Example:
        >>> config = ms.train.CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3)
        >>> config.save_checkpoint_steps, config.keep_checkpoint_max, config.format
        (100, 3, 'ckpt')
    """

    def __init__(
        self,
        save_checkpoint_steps=1,
        save_checkpoint_seconds=0,
        keep_checkpoint_max=5,
        keep_checkpoint_per_n_minutes=0,
        integrated_save=True,
        async_save=False,
        saved_network=None,
        append_info=None,
        enc_key=None,
        enc_mode="AES-GCM",
        exception_save=False,
        crc_check=None,
        remove_redundancy=False,
        format="ckpt",
        **kwargs,
    ):
        counts = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, value in counts.items():
            if value is not None:
                count(value, f"CheckpointConfig: {name}")
        if not any(counts.values()):
            expected = f"given one of {', '.join(counts)}"
            raise wrong(ValueError, "CheckpointConfig", expected, "none of them")
        if saved_network is not None and not isinstance(saved_network, Cell):
            actual = type(saved_network).__name__
            raise wrong(TypeError, "CheckpointConfig: saved_network", "a Cell or None", actual)
        self.save_checkpoint_steps = save_checkpoint_steps
        self.save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        self.keep_checkpoint_max = keep_checkpoint_max
        self.keep_checkpoint_per_n_minutes = keep_checkpoint_per_n_minutes
        if keep_checkpoint_max:
            self.keep_checkpoint_per_n_minutes = None
        elif not keep_checkpoint_per_n_minutes:
            self.keep_checkpoint_max = 1
        self.integrated_save = boolean(integrated_save, "CheckpointConfig: integrated_save")
        self.async_save = async_save
        self.saved_network = saved_network
        self.append_dict = _appended(append_info)
        self.enc_key, self.enc_mode = enc_key, enc_mode
        self.exception_save = boolean(exception_save, "CheckpointConfig: exception_save")
        if crc_check is not None:
            boolean(crc_check, "CheckpointConfig: crc_check")
        self.crc_check = crc_check
        self.remove_redundancy = boolean(remove_redundancy, "CheckpointConfig: remove_redundancy")
        self.format = one_of(format, "CheckpointConfig: format", FORMATS)
        self.map_param_inc = kwargs.get("incremental", False)
        if format != "ckpt" and (enc_key is not None or crc_check or exception_save):
            expected = "given without enc_key, crc_check and exception_save"
            raise wrong(ValueError, f"format={format!r}", expected, "one of them")
        if format == slices.FORMAT and async_save:
            raise wrong(ValueError, f"async_save with format={format!r}", "False", async_save)

    def get_checkpoint_policy(self) -> dict:
        """When files are saved and how many are kept, as a dictionary."""
        names = (
            "save_checkpoint_steps",
            "save_checkpoint_seconds",
            "keep_checkpoint_max",
            "keep_checkpoint_per_n_minutes",
            "saved_network",
        )
        return {name: getattr(self, name) for name in names}


def _appended(info) -> dict | None:
    """What is saved beside the Parameters."""
    what = "CheckpointConfig: append_info"
    if not info:
        return None
    if not isinstance(info, list):
        raise wrong(TypeError, what, "a list", repr(info))
    appended: dict = {name: 0 for name in _COUNTED if name in info}
    dictionaries = [member for member in info if isinstance(member, dict)]
    for member in info:
        if isinstance(member, str) and member not in _COUNTED:
            raise wrong(ValueError, what, f"made of {_COUNTED} and a dictionary", repr(member))
        if not isinstance(member, (str, dict)) or len(dictionaries) > 1:
            raise wrong(TypeError, what, f"made of {_COUNTED} and one dictionary", repr(info))
    for name, value in dictionaries[0].items() if dictionaries else ():
        kinds = (int, float, bool, str, Tensor, Generator)
        if not isinstance(name, str) or not isinstance(value, kinds):
            expected = "of names with numbers, texts, Tensors or Generators"
            raise wrong(TypeError, f"The dictionary of {what}", expected, f"{name!r}: {value!r}")
        appended[name] = value
    return appended


class CheckpointManager:
    """Which files of a prefix there are in a folder, and removing the oldest.

    Source: MindSpore's `mindspore.train.callback._checkpoint.CheckpointManager`.

    Example:
        >>> import pathlib, tempfile
        >>> from mycel.train.callbacks.checkpoint import CheckpointManager
        >>> manager = CheckpointManager()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pathlib.Path(folder, "net-1_2.ckpt").touch()
        ...     manager.update_ckpoint_filelist(folder, "net")
        ...     manager.remove_oldest_ckpoint_file()
        >>> manager.ckpoint_num
        0
    """

    def __init__(self, format="ckpt"):
        self._format = format
        self.ckpoint_filelist: list[str] = []

    @property
    def ckpoint_num(self) -> int:
        """How many files there are."""
        return len(self.ckpoint_filelist)

    def update_ckpoint_filelist(self, directory: str, prefix: str) -> None:
        """Look which files there are."""
        pattern = re.compile(rf"{re.escape(prefix)}-[^a-zA-Z]*\.{self._format}")
        names = [name for name in os.listdir(directory) if pattern.fullmatch(name)]
        self.ckpoint_filelist = [os.path.join(directory, name) for name in names]

    def remove_ckpoint_file(self, file_name: str) -> None:
        """Remove a file, if another process has not done so."""
        with contextlib.suppress(FileNotFoundError):
            slices.remove(file_name)
        self.ckpoint_filelist.remove(file_name)

    def remove_oldest_ckpoint_file(self) -> None:
        """Remove the oldest file."""
        self.remove_ckpoint_file(min(self.ckpoint_filelist, key=_age))

    def keep_one_ckpoint_per_minutes(self, minutes: int, cur_time: float) -> None:
        """Of the files of the last so many minutes remove all but the oldest."""
        late = [f for f in self.ckpoint_filelist if cur_time - _age(f)[0] / 1e9 < 60 * minutes]
        for file_name in sorted(late, key=_age)[1:]:
            self.remove_ckpoint_file(file_name)


def _age(path: str) -> tuple:
    """What sorts files from the oldest: their time, in nanoseconds, then the numbers in their
    names. One that another process has removed meanwhile is the oldest."""
    numbers = [int(n) for n in re.findall(r"\d+", os.path.basename(path))]
    try:
        return os.stat(path).st_mtime_ns, numbers
    except FileNotFoundError:
        return 0, numbers


class ModelCheckpoint(Monitoring):
    """Saves the network while it trains, as `<prefix>-<epoch>_<step in epoch>.ckpt`.

    If the folder has files of this prefix already, the new ones are called `<prefix>_1-…`, and so
    on. After the last step the network is saved in any case. With `save_best_only` there is one
    file, `<prefix>-best.ckpt`, of the epoch in which the monitored quantity was best.

    Args:
        prefix: how the names of the files begin; or a function of what callbacks are told that
            gives the whole name.
        directory: the folder, which is made; or such a function. None means the current one.
        config: a CheckpointConfig.
        save_best_only: save after an epoch that was better than all before, and at no other time;
            the steps, seconds and numbers of files of `config` mean nothing then.
        monitor: 'loss', 'eval_loss' or the name of a metric; the last two need `Model.fit`.
        mode: 'min', 'max', or 'auto', which knows the metrics that are better when smaller.

    Attributes:
        best: the best value so far, with `save_best_only`.

    Raises:
        ValueError: the prefix contains '/'; or `mode` is none of these.
        TypeError: `config` is not a CheckpointConfig.

    Source: MindSpore's `mindspore.train.ModelCheckpoint`, which saves no best one.

    Example:
        >>> import os, tempfile
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> data = [(ops.ones((1, 1)), ops.zeros((1, 1)))] * 2
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = ms.train.ModelCheckpoint("net", folder, ms.train.CheckpointConfig(2))
        ...     model.train(2, data, callbacks=[saved])
        ...     print(sorted(os.listdir(folder)))
        ['net-1_2.ckpt', 'net-2_2.ckpt']
    """

    def __init__(
        self,
        prefix="CKP",
        directory=None,
        config=None,
        *,
        save_best_only=False,
        monitor="eval_loss",
        mode="auto",
    ):
        super().__init__(monitor, 0, mode)
        self.save_best_only = boolean(save_best_only, "ModelCheckpoint: save_best_only")
        if not callable(prefix):
            _check_prefix(prefix)
        if config is not None and not isinstance(config, CheckpointConfig):
            actual = type(config).__name__
            raise wrong(TypeError, "ModelCheckpoint: config", "a CheckpointConfig", actual)
        self._config = config or CheckpointConfig()
        self._prefix_func: Callable | None = prefix if callable(prefix) else None
        self._directory_func: Callable | None = directory if callable(directory) else None
        self._prefix = self._given_prefix = "" if callable(prefix) else prefix
        self._directory = os.getcwd()
        if directory is not None and not callable(directory):
            self._directory = make_directory(directory)
        if not callable(directory) and not callable(prefix):
            self._prefix = unused_prefix(self._directory, prefix)
        # The config's own: what counts epochs and steps goes on with the next callback of it.
        self._append_dict = self._config.append_dict or {}
        self._begun = {name: self._append_dict.get(name, 0) for name in _COUNTED}
        self._manager = CheckpointManager(self._config.format)
        self._latest_ckpt_file_name = ""
        self._last_time = self._last_time_for_keep = time.time()
        self._last_triggered_step = 0

    @property
    def latest_ckpt_file_name(self) -> str:
        """The file that was saved last; empty before."""
        return self._latest_ckpt_file_name

    def step_end(self, run_context):
        """Save if it is time."""
        told = run_context.original_args()
        if not self.save_best_only:
            self._name(told)
            self._save(told)

    def on_train_epoch_end(self, run_context):
        """Save if the epoch was better than all before and only such are saved."""
        told = run_context.original_args()
        value = self.monitored(told) if self.save_best_only else None
        if value is None or not self.is_improvement(value, self.best):
            return
        self.best = value.item()
        self._name(told)
        writer.wait()
        self._write_to(told, BEST if self._prefix_func is None else "")

    def _name(self, told) -> None:
        """Ask functions for the prefix and the folder."""
        if self._prefix_func is not None:
            self._prefix = self._prefix_func(told)
            _check_prefix(self._prefix)
        if self._directory_func is not None:
            self._directory = make_directory(self._directory_func(told))

    def end(self, run_context):
        """Save after the last step, and wait until everything is written."""
        if not self.save_best_only:
            self._save(run_context.original_args(), always=True)
        writer.wait()

    def _is_due(self, told) -> bool:
        config = self._config
        if config.save_checkpoint_steps:
            return told.cur_step_num >= self._last_triggered_step + config.save_checkpoint_steps
        if config.save_checkpoint_seconds:
            return time.time() - self._last_time > config.save_checkpoint_seconds
        return False

    def _save(self, told, always: bool = False) -> None:
        config = self._config
        if told.cur_step_num == self._last_triggered_step:
            return
        if told.cur_step_num < self._last_triggered_step:
            self._last_triggered_step = 0  # another training, with the same callback
        timed = config.save_checkpoint_steps or config.save_checkpoint_seconds
        if not (self._is_due(told) or (always and timed)):
            return
        self._last_time = time.time()
        writer.wait()  # so that the files are there that are counted
        self._make_room()
        self._last_time_for_keep = time.time()
        self._last_triggered_step = told.cur_step_num
        given = self._prefix_func is not None
        self._write_to(told, "" if given else f"-{told.cur_epoch_num}_{step_in_epoch(told)}")

    def _write_to(self, told, ending: str) -> None:
        """Save to the file of the prefix with this ending, and say so."""
        name = f"{self._prefix}{ending}.{self._config.format}"
        path = os.path.join(self._directory, name)
        self._write(told, path, told.cur_step_num)
        self._latest_ckpt_file_name = path
        told.last_save_ckpt_step, told.latest_ckpt_file = told.cur_step_num, path

    def _write(self, told, path: str, steps: int) -> None:
        config = self._config
        for counted, value in zip(_COUNTED, (told.cur_epoch_num, steps), strict=True):
            if counted in self._append_dict:
                self._append_dict[counted] = self._begun[counted] + value
        save_checkpoint(
            config.saved_network if config.saved_network is not None else told.train_network,
            path,
            config.integrated_save,
            config.async_save,
            self._append_dict,
            config.enc_key,
            config.enc_mode,
            crc_check=config.crc_check,
            format=config.format,
        )

    def _make_room(self) -> None:
        """Remove older files, so that with the next one there are as many as wanted."""
        config, manager = self._config, self._manager
        if config.format == slices.FORMAT and number() > 0:
            return  # the first process removes what belongs to all
        manager.update_ckpoint_filelist(self._directory, self._prefix)
        minutes, now = config.keep_checkpoint_per_n_minutes, time.time()
        if config.keep_checkpoint_max:
            if manager.ckpoint_num >= config.keep_checkpoint_max:
                manager.remove_oldest_ckpoint_file()
        elif minutes and now - self._last_time_for_keep < minutes * 60:
            manager.keep_one_ckpoint_per_minutes(minutes, now)

    def _save_breakpoint(self, told) -> None:
        """Save what there is when a training ends with an exception, if that is wanted."""
        if not self._config.exception_save or "cur_epoch_num" not in told:
            return
        prefix = unused_prefix(self._directory, self._given_prefix, broken=True)
        step = step_in_epoch(told) if told.cur_step_num else 0
        name = f"{prefix}-{told.cur_epoch_num}_{step}{BREAKPOINT}"
        self._write(told, os.path.join(self._directory, name), told.cur_step_num)
        writer.wait()


def _check_prefix(prefix) -> None:
    if not isinstance(prefix, str) or "/" in prefix:
        expected = "a string without '/', or a function that gives one"
        raise wrong(ValueError, "ModelCheckpoint: prefix", expected, repr(prefix))


def unused_prefix(directory: str, prefix: str, broken: bool = False) -> str:
    """The prefix itself, or with the next number if the folder has files of it.

    Args:
        broken: look at the files that are saved after exceptions; otherwise at the others.

    Example:
        >>> import pathlib, tempfile
        >>> from mycel.train.callbacks.checkpoint import unused_prefix
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pathlib.Path(folder, "net-1_2.ckpt").touch()
        ...     print(unused_prefix(folder, "net"), unused_prefix(folder, "other"))
        net_1 other
    """
    pattern = re.compile(rf"{re.escape(prefix)}(?:[^a-zA-Z](\d+))?-.*")
    numbers = []
    for name in os.listdir(directory):
        checkpoint = name.endswith(tuple(f".{format}" for format in FORMATS))
        match = pattern.fullmatch(name)
        if checkpoint and name.endswith(BREAKPOINT) is broken and match:
            numbers.append(int(match[1]) + 1 if match[1] else 1)
    return f"{prefix}_{max(numbers)}" if numbers else prefix
