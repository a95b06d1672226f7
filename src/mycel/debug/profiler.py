# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `Profiler`, over `mycel.debug.profile`: a trace that TensorBoard and Perfetto show,
and tables by Cell and operator."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import jax

from mycel.debug.profiling.result import Profile
from mycel.debug.profiling.session import RUNS_ALREADY, Profiled, is_running
from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place


class ProfilerLevel(enum.Enum):
    """How much MindSpore collects; here there is one level.

    Example:
        >>> from mycel.debug.profiler import ProfilerLevel
        >>> ProfilerLevel.Level0.value
        'Level0'
    """

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(enum.Enum):
    """What MindSpore looks at; here it is always the host and the device.

    Example:
        >>> from mycel.debug.profiler import ProfilerActivity
        >>> ProfilerActivity.CPU.value
        'CPU'
    """

    CPU = "CPU"
    GPU = "GPU"
    NPU = "NPU"


class AicoreMetrics(enum.Enum):
    """Counters of Ascend hardware; without effect here.

    Example:
        >>> from mycel.debug.profiler import AicoreMetrics
        >>> AicoreMetrics.AiCoreNone.value
        'None'
    """

    AiCoreNone = "None"
    ArithmeticUtilization = "ArithmeticUtilization"
    L2Cache = "L2Cache"
    Memory = "Memory"
    MemoryAccess = "MemoryAccess"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    PipeUtilization = "PipeUtilization"
    ResourceConflictRatio = "ResourceConflictRatio"


class ExportType(enum.Enum):
    """MindSpore's file formats; here it is that of JAX.

    Example:
        >>> from mycel.debug.profiler import ExportType
        >>> ExportType.Text.value
        'text'
    """

    Text = "text"
    Db = "db"


@dataclass
class ExperimentalConfig:
    """More of what MindSpore collects; kept, without effect.

    Example:
        >>> from mycel.debug.profiler import ExperimentalConfig
        >>> ExperimentalConfig().mstx
        False
    """

    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    l2_cache: bool = False
    mstx: bool = False
    data_simplification: bool = True
    export_type: list | None = None
    mstx_domain_include: list | None = None
    mstx_domain_exclude: list | None = None
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list | None = None


@dataclass(frozen=True, kw_only=True)
class schedule:
    """Which steps are traced: after `skip_first`, again and again `wait`, `warmup`, `active`.

    Args:
        wait, warmup: steps that are not traced.
        active: steps that are; at least 1.
        repeat: how many times; 0 means for ever.
        skip_first: steps before all this.

    Source: MindSpore's `mindspore.profiler.schedule`.

    Example:
        >>> from mycel.debug.profiler import schedule
        >>> [schedule(wait=1, active=2, repeat=1)(step) for step in range(5)]
        [False, True, True, False, False]
    """

    wait: int
    active: int
    warmup: int = 0
    repeat: int = 0
    skip_first: int = 0

    def __post_init__(self):
        for name, least in {
            "wait": 0,
            "active": 1,
            "warmup": 0,
            "repeat": 0,
            "skip_first": 0,
        }.items():
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                expected = f"an integer of {least} or more"
                raise wrong(ValueError, f"schedule: {name}", expected, repr(value))

    def __call__(self, step: int) -> bool:
        """Whether a step is traced."""
        cycle = self.wait + self.warmup + self.active
        round_number, place = divmod(step - self.skip_first, cycle)
        if step < self.skip_first or (self.repeat and round_number >= self.repeat):
            return False
        return place >= self.wait + self.warmup

    def to_dict(self) -> dict:
        """The numbers by name."""
        return dict(vars(self))


@dataclass
class tensorboard_trace_handler:
    """Where traces go: a folder that TensorBoard reads.

    Source: MindSpore's `mindspore.profiler.tensorboard_trace_handler`.

    Example:
        >>> from mycel.debug.profiler import tensorboard_trace_handler
        >>> tensorboard_trace_handler("./traces").dir_name
        './traces'
    """

    dir_name: str | None = None
    worker_name: str | None = None
    analyse_flag: bool = True
    async_mode: bool = False

    def __call__(self, profiler=None) -> None:
        """A trace is there: JAX has written it, and the tables are written beside it."""
        if self.analyse_flag and isinstance(profiler, Profiler):
            profiler.analyse()


class Profiler:
    """Trace what the host and the device do, into files that TensorBoard and Perfetto show.

    `analyse` writes what `mycel.debug.profile` finds beside them: `profile.html`, `trace.json` and
    `operators.csv`.

    Args:
        output_path: the folder for the files.
        start_profile: whether to begin at once.
        schedule: which steps are traced; `step()` tells where one ends.
        on_trace_ready: called with this object when a trace is there; a
            `tensorboard_trace_handler(folder)` names the folder.
        others: MindSpore's; noted once in the log.

    Attributes:
        result: what `mycel.debug.profile` tells, of the last trace; None before its end.

    Source: MindSpore's `mindspore.Profiler`.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with ms.Profiler(output_path=folder, start_profile=False):
        ...         print(Tensor([1.0]) + 1)
        ...     os.listdir(folder)
        [2.]
        ['plugins']
    """

    def __init__(self, **kwargs):
        self.on_trace_ready: Callable | None = kwargs.pop("on_trace_ready", None)
        chosen = getattr(self.on_trace_ready, "dir_name", None)
        given = kwargs.pop("output_path", None)
        if given is not None and not isinstance(given, (str, os.PathLike)):
            raise wrong(TypeError, "Profiler: output_path", "a folder", repr(given))
        self.output_path = os.fspath(given or chosen or "./data")
        self.schedule: Callable | None = kwargs.pop("schedule", None)
        start = kwargs.pop("start_profile", True)
        for name, value in kwargs.items():
            log.note_once(f"Profiler({name}={value!r:.60}) has no effect here")
        self.is_running = False
        self.steps = 0
        self.result: Profile | None = None
        self._block: Profiled | None = None
        self._traced = 0
        if start:
            self.start()

    def start(self) -> None:
        """Begin, or with a schedule, begin to count steps."""
        if self.schedule is None or self.schedule(self.steps):
            self._begin()

    def stop(self) -> None:
        """End; the files are there then."""
        if self._block is None:
            return
        block, self._block = self._block, None
        self.is_running = False
        block.count = self._traced or None
        block.__exit__(None, None, None)
        self.result = block.result
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """A step ends: the schedule says whether the next one is traced."""
        self.steps += 1
        self._traced += self.is_running
        if self.schedule is None:
            return
        if self.schedule(self.steps):
            self._begin()
        else:
            self.stop()

    def _begin(self) -> None:
        if self._block is None:
            if is_running():
                # As in MindSpore, where the program goes on.
                log.logger.error(RUNS_ALREADY.format(place=user_place()))
                return
            block = Profiled("xla", self.output_path)
            block.__enter__()
            self._block, self._traced, self.is_running = block, 0, True

    def analyse(self, *args, **kwargs) -> None:
        """End, write the tables beside the trace, and say in the log where the files are.

        Args:
            args, kwargs: MindSpore's; no effect.
        """
        del args, kwargs
        self.stop()
        if self.result is not None:
            self.result.html(os.path.join(self.output_path, "profile.html"))
            self.result.trace(os.path.join(self.output_path, "trace.json"))
            self.result.csv(os.path.join(self.output_path, "operators.csv"))
        self.offline_analyse(self.output_path)

    def add_metadata(self, key: str, value: str) -> None:
        """Keep a note beside the trace, in `metadata.json`."""
        for what, given in (("key", key), ("value", value)):
            if not isinstance(given, str):
                raise wrong(TypeError, f"add_metadata: {what}", "text", repr(given))
        self._keep(key, value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Keep what a text of JSON says beside the trace, in `metadata.json`.

        Raises:
            TypeError: `key` or `value` is no text.
            ValueError: `value` is no JSON.
        """
        for what, given in (("key", key), ("value", value)):
            if not isinstance(given, str):
                raise wrong(TypeError, f"add_metadata_json: {what}", "text", repr(given))
        self._keep(key, json.loads(value))

    @classmethod
    def offline_analyse(
        cls, path: str, pretty=False, step_list=None, data_simplification=True
    ) -> None:
        """Say in the log how the traces of a folder are shown: they need no analysis.

        Args:
            path: the folder of the traces.
            pretty, step_list, data_simplification: no effect.
        """
        del pretty, step_list, data_simplification
        log.logger.info("The trace is in %s: tensorboard --logdir %s", path, path)

    def _keep(self, key: str, value) -> None:
        folder = Path(self.output_path)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "metadata.json"
        notes = json.loads(file.read_text("utf-8")) if file.exists() else {}
        file.write_text(json.dumps({**notes, key: value}, indent=2), "utf-8")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()


class profile(Profiler):
    """The same under its newer name, with `start_profile` and the steps of a schedule.

    Source: MindSpore's `mindspore.profiler.profile`.

    Example:
        >>> import os, tempfile
        >>> from mycel.debug.profiler import profile, tensorboard_trace_handler
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     handler = tensorboard_trace_handler(folder)
        ...     with profile(on_trace_ready=handler, start_profile=False) as traced:
        ...         traced.step()
        ...     sorted(os.listdir(folder))
        ['operators.csv', 'plugins', 'profile.html', 'trace.json']
    """


@dataclass
class _Marks:
    open: dict = field(default_factory=dict)
    count: int = 0


_marks = _Marks()


_steps: list = []


def step_begins() -> None:
    """Name what follows as a step of a trace; MindSpore's `_framework_profiler_step_start`.

    Example:
        >>> from mycel.debug import profiler
        >>> profiler.step_begins()
        >>> profiler.step_ends()
    """
    _marks.count += 1
    step = jax.profiler.StepTraceAnnotation("step", step_num=_marks.count)
    step.__enter__()
    _steps.append(step)


def step_ends() -> None:
    """End what was named as a step; MindSpore's `_framework_profiler_step_end`."""
    if _steps:
        _steps.pop().__exit__(None, None, None)


class mstx:
    """Names in a trace: for a moment, or from a start to an end.

    Source: MindSpore's `mindspore.profiler.mstx`.

    Example:
        >>> from mycel.debug.profiler import mstx
        >>> number = mstx.range_start("forward")
        >>> mstx.range_end(number)
    """

    @staticmethod
    def mark(message: str, stream=None, domain: str = "default") -> None:
        """Name a moment."""
        del stream, domain
        with jax.profiler.TraceAnnotation(message):
            pass

    @staticmethod
    def range_start(message: str, stream=None, domain: str = "default") -> int:
        """Name what follows; the number ends it."""
        del stream, domain
        annotation = jax.profiler.TraceAnnotation(message)
        annotation.__enter__()
        _marks.count += 1
        _marks.open[_marks.count] = annotation
        return _marks.count

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """End what was named."""
        del domain
        annotation = _marks.open.pop(range_id, None)
        if annotation is not None:
            annotation.__exit__(None, None, None)


__all__ = [
    "AicoreMetrics",
    "ExportType",
    "Profiler",
    "ProfilerActivity",
    "ProfilerLevel",
    "mstx",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
]
