# SPDX-License-Identifier: Apache-2.0
"""Settings of `mycel.dataset`: seeds, workers, how far ahead data is read.

Settings that speak to parts that do not exist here (autotuning, NUMA binding, a watchdog of C++
threads) are kept, so that they can be read again, and noted once in the log.
"""

from __future__ import annotations

import enum
import json
import os
import pathlib
import random

import numpy as np

from mycel.dataset.transforms import randomness
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import note_once
from mycel.kernel.record import generator

__all__ = ["ErrorSamplesMode", "load"]

NO_EFFECT = "mycel.dataset.config.{name} has no effect: {reason}"
DEFAULT_SEED = 5489


class ErrorSamplesMode(enum.IntEnum):
    """What happens to a sample whose operation raises.

    Example:
        >>> ds.config.ErrorSamplesMode.SKIP.name
        'SKIP'
    """

    RETURN = 0
    REPLACE = 1
    SKIP = 2


class _Settings:
    """What is set now."""

    def __init__(self):
        self.seed = None
        self.num_parallel_workers = 8
        self.prefetch_size = 16
        self.ahead = 2
        self.worker_timeout = 300
        self.callback_timeout = 60
        self.debug_mode = False
        self.debug_hooks: list | None = None
        self.error_samples_mode = ErrorSamplesMode.RETURN
        self.do_copy = False
        self.parallel_convert = False
        self.start_method = "spawn"
        self.kept: dict[str, object] = {}

    # Kept once, where operations that are called directly draw from it.
    @property
    def seed(self) -> int | None:
        """The seed of `set_seed`, if there is one."""
        return randomness.seed_chosen()

    @seed.setter
    def seed(self, seed: int | None) -> None:
        randomness.seed(seed)


settings = _Settings()


def _integer(value, what: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(TypeError, what, "an integer", repr(value))
    if value < least:
        raise wrong(ValueError, what, f"at least {least}", value)
    return value


def _boolean(value, what: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(TypeError, what, "True or False", repr(value))
    return value


def set_seed(seed: int) -> None:
    """Choose the seed of every shuffle, sampler and random operation.

    Each iterator made from now on starts from it, so that two iterators over one dataset give the
    same rows; the second epoch of one iterator is shuffled anew. The generators of `random` and
    `numpy.random` are seeded too, for functions that use them.

    Example:
        >>> ds.config.set_seed(3)
        >>> ds.config.get_seed()
        3
    """
    settings.seed = _integer(seed, "set_seed: seed", 0)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))


def get_seed() -> int:
    """The seed; 5489 where none was chosen, and then every iterator differs.

    Example:
        >>> isinstance(ds.config.get_seed(), int)
        True
    """
    chosen = chosen_seed()
    return DEFAULT_SEED if chosen is None else chosen


def chosen_seed() -> int | None:
    """The seed of `ds.config.set_seed`, else that of `ms.set_seed`, else None."""
    return generator.get_seed() if settings.seed is None else settings.seed


def set_num_parallel_workers(num) -> None:
    """How many workers an operation has that does not say it itself.

    Example:
        >>> ds.config.set_num_parallel_workers(8)
    """
    settings.num_parallel_workers = _integer(num, "set_num_parallel_workers: num")


def get_num_parallel_workers() -> int:
    """How many workers an operation has that does not say it itself.

    Example:
        >>> ds.config.get_num_parallel_workers()
        8
    """
    return settings.num_parallel_workers


def set_prefetch_size(size) -> None:
    """How many rows (batches, behind a `batch`) wait on the device before they are asked for.

    Until it is called two of them wait.

    Example:
        >>> ds.config.set_prefetch_size(16)
        >>> ds.config.get_prefetch_size()
        16
    """
    settings.prefetch_size = settings.ahead = _integer(size, "set_prefetch_size: size")


def get_prefetch_size() -> int:
    """What `set_prefetch_size` was called with, else MindSpore's 16.

    Example:
        >>> ds.config.get_prefetch_size()
        16
    """
    return settings.prefetch_size


def set_multiprocessing_timeout_interval(interval) -> None:
    """How many seconds a worker process may take for one row before it counts as hanging.

    Example:
        >>> ds.config.set_multiprocessing_timeout_interval(300)
    """
    settings.worker_timeout = _integer(interval, "set_multiprocessing_timeout_interval: interval")


def get_multiprocessing_timeout_interval() -> int:
    """How many seconds a worker process may take for one row.

    Example:
        >>> ds.config.get_multiprocessing_timeout_interval()
        300
    """
    return settings.worker_timeout


def set_callback_timeout(timeout) -> None:
    """How many seconds `sync_wait` waits for its `sync_update`.

    Example:
        >>> ds.config.set_callback_timeout(60)
    """
    settings.callback_timeout = _integer(timeout, "set_callback_timeout: timeout")


def get_callback_timeout() -> int:
    """How many seconds `sync_wait` waits for its `sync_update`.

    Example:
        >>> ds.config.get_callback_timeout()
        60
    """
    return settings.callback_timeout


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: list | None = None) -> None:
    """Make every row when it is asked for, in the calling thread, so that a debugger stops in it.

    Args:
        debug_hook_list: `DebugHook`s, called around the operations of each `map`. Default: one
            that prints the type and the shape of each column.

    Example:
        >>> ds.config.set_debug_mode(False)
    """
    settings.debug_mode = _boolean(debug_mode_flag, "set_debug_mode: debug_mode_flag")
    if debug_hook_list is not None and not isinstance(debug_hook_list, list):
        raise wrong(TypeError, "set_debug_mode: debug_hook_list", "a list", repr(debug_hook_list))
    settings.debug_hooks = debug_hook_list


def get_debug_mode() -> bool:
    """Whether rows are made in the calling thread.

    Example:
        >>> ds.config.get_debug_mode()
        False
    """
    return settings.debug_mode


def set_error_samples_mode(error_samples_mode) -> None:
    """What happens to a sample for which the operation of a `map` raises.

    RETURN raises, SKIP leaves the sample out, REPLACE gives the one before it once more.

    Example:
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        expected = "an ErrorSamplesMode"
        raise wrong(TypeError, "set_error_samples_mode", expected, repr(error_samples_mode))
    settings.error_samples_mode = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """What happens to a sample for which the operation of a `map` raises.

    Example:
        >>> ds.config.get_error_samples_mode().name
        'RETURN'
    """
    return settings.error_samples_mode


def set_iterator_mode(do_copy=False, parallel_convert=False) -> None:
    """Accepted: Tensors have memory of their own in any case, and are made ahead in a thread.

    Example:
        >>> ds.config.set_iterator_mode(do_copy=True)
        >>> ds.config.get_iterator_mode()
        {'do_copy': True, 'parallel_convert': False}
        >>> ds.config.set_iterator_mode(False)
    """
    settings.do_copy = _boolean(do_copy, "set_iterator_mode: do_copy")
    settings.parallel_convert = _boolean(parallel_convert, "set_iterator_mode: parallel_convert")


def get_iterator_mode() -> dict:
    """What `set_iterator_mode` was called with.

    Example:
        >>> sorted(ds.config.get_iterator_mode())
        ['do_copy', 'parallel_convert']
    """
    return {"do_copy": settings.do_copy, "parallel_convert": settings.parallel_convert}


def set_multiprocessing_start_method(start_method="fork") -> None:
    """Accepted: a worker always starts as a new Python that imports nothing of the program.

    Example:
        >>> ds.config.set_multiprocessing_start_method("spawn")
    """
    if start_method not in ("fork", "spawn"):
        raise wrong(ValueError, "start_method", "'fork' or 'spawn'", repr(start_method))
    settings.start_method = start_method
    _note("set_multiprocessing_start_method", "workers are new processes, never forks")


def get_multiprocessing_start_method() -> str:
    """What `set_multiprocessing_start_method` was called with.

    Example:
        >>> ds.config.get_multiprocessing_start_method() in ("fork", "spawn")
        True
    """
    return settings.start_method


def load(file) -> None:
    """Settings from a JSON file: `numParallelWorkers`, `seed`, `prefetchSize` and so on.

    Raises:
        RuntimeError: the file cannot be read.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "config.json").write_text('{"seed": 5}')
        >>> ds.config.load(str(folder / "config.json"))
        >>> ds.config.get_seed()
        5
    """
    try:
        read = json.loads(pathlib.Path(file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeError(f"ds.config.load: {file} cannot be read: {error}") from error
    known = {
        "numParallelWorkers": set_num_parallel_workers,
        "seed": set_seed,
        "prefetchSize": set_prefetch_size,
        "callbackTimeout": set_callback_timeout,
    }
    for name, value in read.items():
        if name in known:
            known[name](value)
        else:
            _note(f"load ({name})", "there is nothing it could set")


def workers_of(num_parallel_workers) -> int:
    """The workers an operation was given, or the default."""
    return num_parallel_workers or settings.num_parallel_workers


def limit_of_workers() -> int:
    """More workers than this only stand in each other's way."""
    return max(os.cpu_count() or 1, 2)


def _note(name: str, reason: str) -> None:
    note_once(NO_EFFECT.format(name=name, reason=reason))


def _kept(name: str, default, reason: str, example, least: int | None = None):
    """A pair of functions for a setting without effect."""

    def setter(value, *further, **settings_too):
        del further, settings_too
        checked = _boolean(value, name) if least is None else _integer(value, name, least)
        settings.kept[name] = checked
        _note(f"set_{name}", reason)

    def getter():
        return settings.kept.get(name, default)

    setter.__name__ = setter.__qualname__ = f"set_{name}"
    getter.__name__ = getter.__qualname__ = f"get_{name}"
    setter.__doc__ = f"""Accepted without effect: {reason}.

    Example:
        >>> ds.config.set_{name}({example})
    """
    getter.__doc__ = f"""What `set_{name}` was called with, else {default}.

    Example:
        >>> ds.config.get_{name}() in ({default}, {example})
        True
    """
    globals()[setter.__name__], globals()[getter.__name__] = setter, getter


_kept("numa_enable", False, "the operating system places threads", False)
_kept("auto_num_workers", False, "workers are what the program says", False)
_kept("enable_shared_mem", True, "rows travel to and from workers through pipes", False)
_kept("enable_autotune", False, "nothing is tuned while it runs", False)
_kept("autotune_interval", 0, "nothing is tuned while it runs", 0, 0)
_kept("auto_offload", False, "operations run where the program puts them", False)
_kept("enable_watchdog", True, "a time limit guards every worker process", False)
_kept("fast_recovery", True, "a saved state is found without reading again where it can", True)
_kept("monitor_sampling_interval", 1000, "nothing is monitored", 1000, 1)


def set_sending_batches(batch_num) -> None:
    """Accepted without effect: batches are not sent to a device in bulk.

    Example:
        >>> ds.config.set_sending_batches(0)
    """
    _integer(batch_num, "set_sending_batches: batch_num", 0)
    _note("set_sending_batches", "batches are not sent in bulk")


__all__ += [name for name in sorted(globals()) if name.startswith(("set_", "get_"))]
