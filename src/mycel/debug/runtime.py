# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `runtime`: waiting for the device, its memory and its streams.

XLA keeps the memory of a device in a pool and orders the work itself: what MindSpore lets a
program choose there is noted once in the log.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

import jax

from mycel.debug.devices import device
from mycel.debug.host_memory import host_memory
from mycel.kernel.base import log
from mycel.kernel.base.context import set_synchronize
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.stream import flush
from mycel.tuning import malloc

_PEAK, _USED = "peak_bytes_in_use", "bytes_in_use"
_POOL, _POOL_PEAK = "pool_bytes", "peak_pool_bytes"


def synchronize() -> None:
    """Wait until everything that was asked for is computed.

    Source: MindSpore's `mindspore.runtime.synchronize`.

    Example:
        >>> ms.runtime.synchronize()
    """
    flush()
    jax.block_until_ready(jax.live_arrays())


def _stats(device_target=None) -> dict:
    flush()
    single = device(target=device_target)
    stats = single.memory_stats()
    if stats:
        return stats
    if single.platform == "cpu":
        return host_memory.stats(single)
    log.note_once("This platform does not count the memory of its device; 0 is answered")
    return {}


def _set_host_back(device_target, held: bool) -> None:
    single = device(target=device_target)
    if getattr(single, "platform", "") == "cpu":
        flush()
        host_memory.set_back(single, held)


# The peaks when they were last set back, "used" and "held": see _peak.
_set_back: dict[str, int] = {}


def _peak(stats: dict, what: str, peak: str, now: str) -> int:
    """A peak since it was set back. XLA only has the one of the process: a later and lower one
    is not seen, and what is used now is answered."""
    whole = stats.get(peak, 0)
    return stats.get(now, 0) if whole <= _set_back.get(what, -1) else whole


def memory_allocated(device_target: str | None = None) -> int:
    """Bytes that Tensors and programs use on the device; on the CPU, those of arrays.

    Source: MindSpore's `mindspore.runtime.memory_allocated`.

    Example:
        >>> ms.runtime.memory_allocated() >= 0
        True
    """
    return _stats(device_target).get(_USED, 0)


def max_memory_allocated(device_target: str | None = None) -> int:
    """The most bytes that were used at one time. On the CPU, where nobody counts, the most that is
    known: what arrays have now, or one program needs by XLA's plan of its memory; after
    `reset_max_memory_allocated`, how far the process grew.

    Source: MindSpore's `mindspore.runtime.max_memory_allocated`.

    Example:
        >>> ms.runtime.max_memory_allocated() >= ms.runtime.memory_allocated()
        True
    """
    return _peak(_stats(device_target), "used", _PEAK, _USED)


def memory_reserved(device_target: str | None = None) -> int:
    """Bytes that XLA holds of the device, used or not; on the CPU, those of the whole process.

    Source: MindSpore's `mindspore.runtime.memory_reserved`.

    Example:
        >>> ms.runtime.memory_reserved() >= 0
        True
    """
    stats = _stats(device_target)
    return stats.get(_POOL, stats.get(_USED, 0))


def max_memory_reserved(device_target: str | None = None) -> int:
    """The most bytes that XLA held of the device.

    Source: MindSpore's `mindspore.runtime.max_memory_reserved`.

    Example:
        >>> ms.runtime.max_memory_reserved() >= 0
        True
    """
    stats = _stats(device_target)
    names = (_POOL_PEAK, _POOL) if _POOL_PEAK in stats else (_PEAK, _USED)
    return _peak(stats, "held", *names)


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """Begin to look for the most bytes anew; only a higher peak than before is seen from then on.

    Source: MindSpore's `mindspore.runtime.reset_peak_memory_stats`.

    Example:
        >>> ms.runtime.reset_peak_memory_stats()
    """
    reset_max_memory_allocated(device_target)
    reset_max_memory_reserved(device_target)


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """`reset_peak_memory_stats` for the bytes used.

    Source: MindSpore's `mindspore.runtime.reset_max_memory_allocated`.

    Example:
        >>> ms.runtime.reset_max_memory_allocated()
    """
    _set_host_back(device_target, held=False)
    _set_back["used"] = _stats(device_target).get(_PEAK, 0)


def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """`reset_peak_memory_stats` for the bytes held.

    Source: MindSpore's `mindspore.runtime.reset_max_memory_reserved`.

    Example:
        >>> ms.runtime.reset_max_memory_reserved()
    """
    _set_host_back(device_target, held=True)
    stats = _stats(device_target)
    _set_back["held"] = stats.get(_POOL_PEAK, stats.get(_PEAK, 0))


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """Bytes by MindSpore's names, and below "xla" all that XLA counts.

    Source: MindSpore's `mindspore.runtime.memory_stats`.

    Example:
        >>> ms.runtime.memory_stats()["total_allocated_memory"] >= 0
        True
    """
    reserved, used = memory_reserved(device_target), memory_allocated(device_target)
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": used,
        "total_idle_memory": max(0, reserved - used),
        "total_eager_free_memory": 0,
        "max_reserved_memory": max_memory_reserved(device_target),
        "max_allocated_memory": max_memory_allocated(device_target),
        "xla": _stats(device_target),
    }


def memory_summary(device_target: str | None = None) -> str:
    """The same as a table.

    Source: MindSpore's `mindspore.runtime.memory_summary`.

    Example:
        >>> print(ms.runtime.memory_summary().splitlines()[0])
        memory of the device       MiB
    """
    stats = memory_stats(device_target)
    lines = ["memory of the device       MiB"]
    for name, value in stats.items():
        if name != "xla":
            lines.append(f"{name:<24} {value / 2**20:5.1f}")
    return "\n".join(lines)


def empty_cache() -> None:
    """Free what nobody uses any more, and give the memory on the CPU that was kept for later steps
    back to the system (see `MYCEL_HEAP` in `mycel --help`). XLA's pool of a GPU stays, and the ends
    of heaps that threads have for themselves, of up to 64 MiB each.

    Source: MindSpore's `mindspore.runtime.empty_cache`.

    Example:
        >>> ms.runtime.empty_cache()
    """
    flush()
    gc.collect()
    malloc.give_back()


class Event:
    """A moment in the work of the device.

    Args:
        enable_timing: whether `elapsed_time` will be asked; then `record` waits for the work.
        blocking: accepted.

    Source: MindSpore's `mindspore.runtime.Event`.

    Example:
        >>> start, end = ms.runtime.Event(enable_timing=True), ms.runtime.Event(enable_timing=True)
        >>> start.record()
        >>> end.record()
        >>> start.elapsed_time(end) >= 0
        True
    """

    def __init__(self, enable_timing=False, blocking=False):
        del blocking
        self.enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream=None) -> None:
        """Note the moment."""
        del stream
        if self.enable_timing:
            synchronize()
        else:
            flush()
        self._time = time.perf_counter()

    def wait(self, stream=None) -> None:
        """Let later work wait for it: work is done in the order in which it depends."""

    def synchronize(self) -> None:
        """Wait for it."""
        synchronize()

    def query(self) -> bool:
        """Whether the work before it is done; waits for it."""
        synchronize()
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds until another event.

        Raises:
            RuntimeError: one of them was not recorded, or without `enable_timing=True`.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("Both events need Event(enable_timing=True) for elapsed_time.")
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events need record() before elapsed_time.")
        return 1000 * (end_event._time - self._time)


class Stream:
    """A queue of work. XLA orders the work by what depends on what: there is one queue.

    Source: MindSpore's `mindspore.runtime.Stream`.

    Example:
        >>> ms.runtime.Stream() == ms.runtime.current_stream()
        True
    """

    def __init__(self, priority=0, **kwargs):
        del kwargs
        if priority:
            log.note_once(f"Stream(priority={priority}) has no effect: XLA orders the work")

    def synchronize(self) -> None:
        """Wait for the work."""
        synchronize()

    def query(self) -> bool:
        """Whether the work is done; waits for it."""
        synchronize()
        return True

    def record_event(self, event: Event | None = None) -> Event:
        """Note this moment in an event."""
        event = Event() if event is None else event
        event.record()
        return event

    def wait_event(self, event: Event) -> None:
        """Work waits for what it depends on, always."""

    def wait_stream(self, stream: Stream) -> None:
        """Work waits for what it depends on, always."""

    def __eq__(self, other):
        return isinstance(other, Stream)

    def __hash__(self):
        return hash(Stream)


_stream = Stream()


@contextlib.contextmanager
def StreamCtx(ctx_stream: Any) -> Iterator[None]:
    """Do the work of a block in a queue of its own: in the one there is.

    Source: MindSpore's `mindspore.runtime.StreamCtx`.

    Example:
        >>> with ms.runtime.StreamCtx(ms.runtime.Stream()):
        ...     print(Tensor([1.0]) + 1)
        [2.]
    """
    if ctx_stream is not None and not isinstance(ctx_stream, Stream):
        raise wrong(TypeError, "StreamCtx: ctx_stream", "a Stream", type(ctx_stream).__name__)
    yield


def current_stream() -> Stream:
    """The queue of work.

    Source: MindSpore's `mindspore.runtime.current_stream`.

    Example:
        >>> ms.runtime.current_stream().synchronize()
    """
    return _stream


default_stream = current_stream
communication_stream = current_stream


def set_cur_stream(stream: Stream) -> None:
    """Choose the queue of work: there is one.

    Source: MindSpore's `mindspore.runtime.set_cur_stream`.

    Example:
        >>> ms.runtime.set_cur_stream(ms.runtime.Stream())
    """
    if not isinstance(stream, Stream):
        raise wrong(TypeError, "set_cur_stream: stream", "a Stream", type(stream).__name__)


def set_memory(
    init_size="2GB",
    increase_size="2GB",
    max_size="1024GB",
    optimize_level="O0",
    huge_page_reserve_size="0GB",
) -> None:
    """How MindSpore's pool grows; XLA has its own, chosen before the start by its variables.

    Source: MindSpore's `mindspore.runtime.set_memory`.

    Example:
        >>> ms.runtime.set_memory(max_size="30GB")
    """
    del init_size, increase_size, optimize_level, huge_page_reserve_size
    log.note_once(
        f"set_memory(max_size={max_size!r}) has no effect here; XLA reads "
        "XLA_PYTHON_CLIENT_MEM_FRACTION and XLA_PYTHON_CLIENT_PREALLOCATE when it starts"
    )


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: Any = None,
    module_to_cpu_dict: dict[str, Any] | None = None,
    bind_file: str | None = None,
) -> None:
    """On which processors this process computes.

    Args:
        enable_affinity: False lets it compute on all.
        affinity_cpu_list: processors such as `["0-3", "8"]`; without them none are chosen.
        module_to_cpu_dict, bind_file: noted, without effect.

    Raises:
        TypeError: `enable_affinity` is neither True nor False.
        ValueError: text that is no range of processors.

    Source: MindSpore's `mindspore.runtime.set_cpu_affinity`.

    Example:
        >>> ms.runtime.set_cpu_affinity(False)
    """
    if not isinstance(enable_affinity, bool):
        raise wrong(TypeError, "set_cpu_affinity", "True or False", repr(enable_affinity))
    for name, given in (("module_to_cpu_dict", module_to_cpu_dict), ("bind_file", bind_file)):
        if given is not None:
            log.note_once(f"set_cpu_affinity({name}=...) has no effect here")
    if not hasattr(os, "sched_setaffinity"):
        log.note_once("set_cpu_affinity has no effect on this system")
    elif not enable_affinity:
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    elif affinity_cpu_list:
        if isinstance(affinity_cpu_list, dict):
            affinity_cpu_list = next(iter(affinity_cpu_list.values()))
        os.sched_setaffinity(0, _processors(affinity_cpu_list))


def _processors(ranges: Iterable[str]) -> set[int]:
    processors: set[int] = set()
    for text in ranges:
        first, _, last = str(text).partition("-")
        if not (first.isdigit() and (last or first).isdigit()):
            raise wrong(ValueError, "A range of processors", "such as '0-3'", repr(text))
        processors.update(range(int(first), int(last or first) + 1))
    return processors


def dispatch_threads_num(threads_num: int) -> None:
    """How many threads hand out work: XLA decides.

    Source: MindSpore's `mindspore.runtime.dispatch_threads_num`.

    Example:
        >>> ms.runtime.dispatch_threads_num(2)
    """
    log.note_once(f"dispatch_threads_num({threads_num!r}) has no effect here")


def set_kernel_launch_group(thread_num=2, kernel_group_num=8) -> None:
    """How kernels are launched in groups: XLA decides.

    Source: MindSpore's `mindspore.runtime.set_kernel_launch_group`.

    Example:
        >>> ms.runtime.set_kernel_launch_group()
    """
    log.note_once(f"set_kernel_launch_group({thread_num}, {kernel_group_num}) has no effect here")


def set_kernel_launch_capture(
    enable_capture_graph: bool, op_capture_skip: list[str] | None = None
) -> None:
    """Whether launches are captured: XLA decides.

    Source: MindSpore's `mindspore.runtime.set_kernel_launch_capture`.

    Example:
        >>> ms.runtime.set_kernel_launch_capture(False)
    """
    del op_capture_skip
    log.note_once(f"set_kernel_launch_capture({enable_capture_graph!r}) has no effect here")


def launch_blocking() -> None:
    """Run every operator by itself to its end.

    Source: MindSpore's `mindspore.runtime.launch_blocking`.

    Example:
        >>> ms.runtime.launch_blocking()
        >>> ms.get_context("pynative_synchronize")
        True
        >>> ms.set_context(pynative_synchronize=False)
    """
    set_synchronize(True)


# Cores of Ascend hardware: there are none that could be given to a device or a stream.
_NO_CORES = {"cube_core_num": 0, "vector_core_num": 0}


def set_device_limit(device: int, cube_num: int = -1, vector_num: int = -1) -> None:
    """How many cores of Ascend hardware a device may use; no effect here.

    Args:
        device: its number.
        cube_num, vector_num: how many; -1, the default, for all.

    Source: MindSpore's `mindspore.runtime.set_device_limit`.

    Example:
        >>> ms.runtime.set_device_limit(0)
    """
    _limit("set_device_limit", device=device, cube_num=cube_num, vector_num=vector_num)


def get_device_limit(device: int) -> dict[str, int]:
    """How many cores of Ascend hardware a device may use: there are none.

    Source: MindSpore's `mindspore.runtime.get_device_limit`.

    Example:
        >>> ms.runtime.get_device_limit(0)
        {'cube_core_num': 0, 'vector_core_num': 0}
    """
    del device
    return dict(_NO_CORES)


def set_stream_limit(stream: Stream, cube_num: int = -1, vector_num: int = -1) -> None:
    """How many cores of Ascend hardware a stream may use; no effect here.

    Args:
        stream: the stream.
        cube_num, vector_num: how many; -1, the default, for all.

    Source: MindSpore's `mindspore.runtime.set_stream_limit`.

    Example:
        >>> ms.runtime.set_stream_limit(ms.runtime.Stream())
    """
    _limit("set_stream_limit", cube_num=cube_num, vector_num=vector_num)


def get_stream_limit(stream: Stream) -> dict[str, int]:
    """How many cores of Ascend hardware a stream may use: there are none.

    Source: MindSpore's `mindspore.runtime.get_stream_limit`.

    Example:
        >>> ms.runtime.get_stream_limit(ms.runtime.Stream())
        {'cube_core_num': 0, 'vector_core_num': 0}
    """
    return get_device_limit(0)


def reset_stream_limit(stream: Stream) -> None:
    """Let a stream use all cores of Ascend hardware; no effect here.

    Source: MindSpore's `mindspore.runtime.reset_stream_limit`.

    Example:
        >>> ms.runtime.reset_stream_limit(ms.runtime.Stream())
    """


def _limit(called: str, **settings) -> None:
    log.without_effect(called, {k: n for k, n in settings.items() if n > 0})


__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "dispatch_threads_num",
    "empty_cache",
    "get_device_limit",
    "get_stream_limit",
    "launch_blocking",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "reset_stream_limit",
    "set_cpu_affinity",
    "set_cur_stream",
    "set_device_limit",
    "set_kernel_launch_capture",
    "set_kernel_launch_group",
    "set_memory",
    "set_stream_limit",
    "synchronize",
]
