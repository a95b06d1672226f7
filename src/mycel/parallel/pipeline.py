# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline: which Cells and Parameters belong to which, and what enters them.

A Cell with a `pipeline_stage` takes its inputs to the devices of that stage, where its Parameters
lie. Everything else follows its inputs (see `execute.staged`).
"""

from __future__ import annotations

from typing import Any

from mycel.kernel.base import processes
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel
from mycel.kernel.base.places import user_place
from mycel.kernel.base.trees import tree_exchange
from mycel.kernel.define.constraint import entered, micro
from mycel.kernel.record.dispatch import apply1
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import local
from mycel.kernel.record.tensor import Tensor
from mycel.report.ledger import ledger

SCHEDULERS = ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
# Those that are done here; the others run as the first.
DONE = SCHEDULERS[:2]
NOT_DIVISIBLE = (
    "pipeline_stages={stages} at {place} cannot be had of {devices} devices: each stage gets as "
    "many of them. Set device_num, or start as many devices as a multiple of {stages}; on a "
    "laptop, `mycel launch -n 1 --devices-per-process {stages} --here train.py`."
)
NOT_BETWEEN_PROCESSES = (
    "pipeline_stages={stages} at {place}: each stage gets as many of the {processes} processes. "
    "Start a multiple of {stages} of them, or one that has all devices: `mycel launch -n 1 "
    "--devices-per-process {devices}`."
)
IN_ALL_PROCESSES = (
    "every process computes all stages, with the same numbers, and has the Parameters of all of "
    "them; `mycel launch -n 1 --devices-per-process {devices}` has each stage on devices of its own"
)
OUT_OF_RANGE = (
    "{cell} has pipeline_stage={stage}, but there are {count} stages: pipeline_stage is from 0 to "
    "{last}, or pipeline_stages more (at {place})."
)
# So many Parameters are named in a line of the ledger.
MOST_NAMED = 4


def check_stages(devices: int) -> int:
    """How many stages so many devices are divided into.

    Raises:
        ValueError: they cannot be.
    """
    stages = parallel.get("pipeline_stages")
    if stages == 1:
        return 1
    place, size = user_place(4), processes.count()
    if size % stages and size > 1:
        raise ValueError(
            NOT_BETWEEN_PROCESSES.format(
                stages=stages, place=place, processes=size, devices=-(-devices // stages) * stages
            )
        )
    if devices % stages:
        raise ValueError(NOT_DIVISIBLE.format(stages=stages, place=place, devices=devices))
    if size > 1:
        what = f"pipeline_stages={stages} among {size} processes"
        ledger.accepted(what, IN_ALL_PROCESSES.format(devices=devices))
    else:
        _tell_settings()
    return stages


def _tell_settings() -> None:
    config = parallel.get("pipeline_config")
    if config.get("pipeline_scheduler", "1f1b") not in DONE:
        ledger.accepted(f"pipeline_scheduler={config['pipeline_scheduler']!r}", "runs as '1f1b'")
    if config.get("pipeline_interleave"):
        ledger.accepted("pipeline_interleave=True", "each stage is one part of the network")
    if parallel.get("pipeline_result_broadcast"):
        told = "a process has the results of all stages in any case"
        ledger.accepted("pipeline_result_broadcast=True", told)


def check_config(config: Any, what: str) -> None:
    """Raise unless these are settings of a pipeline.

    Raises:
        TypeError: not a dictionary, or a value of another type.
        ValueError: no such setting, or no such scheduler.
    """
    if not isinstance(config, dict):
        raise wrong(TypeError, what, "a dictionary", repr(config))
    names = "pipeline_interleave", "pipeline_scheduler"
    for name in config.keys() - {*names}:
        raise wrong(ValueError, f"A setting of {what}", f"one of {', '.join(names)}", repr(name))
    if not isinstance(config.get(names[0], False), bool):
        raise wrong(TypeError, f"{what}: {names[0]}", "True or False", repr(config[names[0]]))
    if config.get(names[1], DONE[0]) not in SCHEDULERS:
        expected = f"one of {', '.join(SCHEDULERS)}"
        raise wrong(ValueError, f"{what}: {names[1]}", expected, repr(config[names[1]]))


def scheduler() -> str:
    """The order in which parts of a batch go through stages, '1f1b' or 'gpipe'."""
    chosen = parallel.get("pipeline_config").get("pipeline_scheduler", DONE[0])
    return chosen if chosen in DONE else DONE[0]


# -- Parameters ------------------------------------------------------------------------------------


def stage_of(handle: Tensor) -> int | None:
    """The stage where a Parameter lies: the first of those it belongs to; None without any. What an
    optimiser keeps of it lies with it."""
    fields = getattr(handle, "__dict__", {})
    while "_lies_as" in fields:
        fields = fields["_lies_as"].__dict__
    return min((*fields.get("_stages", ()), *fields.get("_added_stages", ())), default=None)


def find_stages(cell, count: int) -> None:
    """Note of each Parameter below a Cell to which stages it belongs, where they lie apart.

    Raises:
        ValueError: a Cell has a stage that there is not.
    """
    found: dict[int, tuple[Parameter, set[int]]] = {}
    without: dict[str, Parameter] = {}
    seen: set[tuple[int, int | None]] = set()
    waiting: list[tuple[Any, str, int | None]] = [(cell, "", None)]
    for one, path, around in waiting:
        stage = one.__dict__.get("_pipeline_stage", around)
        if (id(one), stage) in seen:
            continue
        seen.add((id(one), stage))
        fields = one.__dict__
        if isinstance(fields.get("parameters"), tuple) and hasattr(one, "learning_rate"):
            continue  # an optimiser: what it keeps lies with its Parameters
        if stage is None:
            own = [p for p in fields["_params"].values() if p is not None and p.requires_grad]
            without |= {parameter.name: parameter for parameter in own}
        else:
            if stage >= count:
                named = f"{type(one).__name__} {path!r}" if path else type(one).__name__
                raise ValueError(
                    OUT_OF_RANGE.format(
                        cell=named, stage=stage, count=count, last=count - 1, place=user_place(4)
                    )
                )
            for parameter in fields["_params"].values():
                if parameter is not None and division.stage is not None:
                    found.setdefault(id(parameter), (parameter, set()))[1].add(stage)
        for name, child in one.name_cells().items():
            waiting.append((child, f"{path}.{name}" if path else name, stage))
    for parameter, stages in found.values():
        parameter.__dict__["_stages"] = tuple(sorted(stages))
        if len(stages) > 1:
            told = f"it lies in stage {min(stages)}, and is sent to the others in every step"
            ledger.accepted(f"Parameter {parameter.name!r} of stages {sorted(stages)}", told)
    if division.stage is not None:
        _tell_those_without([name for name, one in without.items() if stage_of(one) is None])


def _tell_those_without(without: list[str]) -> None:
    """A line of the ledger for Parameters that nothing gives a stage."""
    if not without:
        return
    names = ", ".join(without[:MOST_NAMED])
    more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
    ledger.accepted(
        f"pipeline_stages={parallel.get('pipeline_stages')}",
        f"no Cell around {names}{more} has a pipeline_stage: they lie in stage 0",
    )


# -- what enters -----------------------------------------------------------------------------------


def enter_stage(number: int, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The inputs of a Cell of a stage, on its devices."""
    if local.stream.scope.traced:
        return args, kwargs
    count = len(division.grid.stages) if division.grid is not None else 1
    if not 0 <= number < count:
        raise ValueError(
            OUT_OF_RANGE.format(
                cell="An operator", stage=number, count=count, last=count - 1, place=user_place(3)
            )
        )
    op = entered(number)

    def take(x):
        moves = isinstance(x, Tensor) and not isinstance(x, Parameter)
        return apply1(op, x) if moves else x

    return tree_exchange(take, args), tree_exchange(take, kwargs)


def mark_part(number: int, x: Tensor) -> Tensor:
    """A part of a batch, known as that from here on."""
    part = x if local.stream.scope.traced else apply1(micro(number), x)
    assert isinstance(part, Tensor)
    return part


def check_parts(parts: int) -> None:
    """Raise unless there are as many parts of a batch as stages.

    Raises:
        ValueError: there are fewer.
    """
    count = division.stage_count
    if parts < count:
        expected = f"at least {count}, as many as pipeline_stages"
        raise wrong(ValueError, "PipelineCell: micro_size", expected, parts)
