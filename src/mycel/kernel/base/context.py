# SPDX-License-Identifier: Apache-2.0
"""What `set_context` sets: the mode, the device, and how operators are run."""

from __future__ import annotations

import difflib
import operator
import os
import sys
from collections.abc import Callable
from typing import Any

from mycel.kernel.base import backend, errors, log
from mycel.kernel.base.places import user_place
from mycel.kernel.base.structure import changed_everywhere

# Set to 1 in the environment it checks numerics from the start.
NUMERICS_VARIABLE = "MYCEL_CHECK_NUMERICS"
GRAPH_MODE = 0
PYNATIVE_MODE = 1


# Settings that mean nothing here and what `get_context` answers for them; the package root gives
# them. They are accepted, and noted once in the log.
without_effect: dict[str, object] = {}


class Context:
    """The settings of this process; read by the machine as plain attributes."""

    __slots__ = (
        "accepted",
        "apart",
        "armed",
        "before_device_change",
        "check_indices",
        "check_numerics",
        "counts_steps",
        "device_id",
        "device_target",
        "direct",
        "max_call_depth",
        "mode",
        "recording",
        "save_graphs",
        "save_graphs_path",
        "synchronize",
        "watching",
    )

    def __init__(self):
        self.mode = PYNATIVE_MODE
        self.device_target = ""
        self.device_id = 0
        # MindSpore's pynative_synchronize; `direct`: every operator is run by itself to its end,
        # unless numerics are checked, which looks at records. `watching`: how many want to be told
        # of operators (see nn.operator_hooks). `apart`: operators do not take the quick way, for
        # one of these.
        self.synchronize = self.direct = self.apart = False
        self.watching = 0
        # Whether wrong positions and class numbers are errors (see define.bounds).
        self.check_indices = True
        # Whether the first operator that makes NaN or an infinity is looked for (see
        # execute.numerics).
        self.check_numerics = os.environ.get(NUMERICS_VARIABLE, "0") not in ("", "0")
        # How often that began: steps are counted from there.
        self.armed = 0
        # How many want steps to be recorded, and whether steps are counted: for one or the other.
        self.recording = 0
        self.counts_steps = self.check_numerics
        self.max_call_depth = 1000
        # 0: compiled programs are not saved; 1: as recorded; 2 and more: also as XLA made them.
        self.save_graphs = 0
        self.save_graphs_path = "."
        self.accepted: dict = {}
        self.before_device_change: Callable[[], None] = lambda: None


context = Context()


def set_context(**settings: Any) -> None:
    """Set how programs run; MindSpore's `mindspore.set_context`.

    Args:
        mode: `PYNATIVE_MODE` (1, the default: operators run as they are called) or
            `GRAPH_MODE` (0: the outermost call of a Cell is remembered and compiled).
        device_target: "CPU", "GPU", "TPU" or "Ascend"; MYCEL_DEVICE overrides it.
        device_id: which device of that target.
        pynative_synchronize: run every operator by itself to its end.
        deterministic: "ON" lets programs compiled from now on give the same bits at each run;
            only on GPU is there a difference, and it costs time.
        save_graphs: 1 writes the text of each program that is compiled from now on into a file of
            the folder `save_graphs_path`; 2, 3 or True also what XLA made of it.
        check_indices: False lets operators run on positions and class numbers that are not there:
            their results are then not defined, as in XLA.
        check_numerics: True ends a step that makes NaN or infinities with an error that names the
            operator: see `mycel.debug.find_nan`.
        compile_cache_path: the folder in which compiled programs are kept between runs.
        max_call_depth: how deeply functions may call each other; Python's own limit is raised to
            it where it is lower.
        others: settings of MindSpore that mean nothing on XLA are noted once in the log.

    Raises:
        ValueError: a value that is not allowed, or a device this machine does not have.

    Example:
        >>> import mycel as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
        >>> ms.get_context("mode") == ms.PYNATIVE_MODE
        True
    """
    for name in settings:
        if name not in _SETTERS and name not in without_effect:
            near = difflib.get_close_matches(name, [*_SETTERS, *without_effect], 1)
            raise ValueError(
                errors.UNKNOWN_CONTEXT.format(
                    name=name,
                    place=user_place(2),
                    nearest=near[0] if near else "none",
                    known=", ".join(_SETTERS),
                )
            )
    before: list[tuple[str, Any]] = []
    try:
        for name, value in settings.items():
            if name in _SETTERS:
                kept = getattr(context, _FIELDS[name]) if name in _FIELDS else _kept(name)
                _SETTERS[name](value)
                before.append((name, kept))
    except BaseException:
        for name, kept in reversed(before):
            _put_back(name, kept)
        raise
    if not settings.keys() <= _SETTERS.keys():
        ignored = {name: value for name, value in settings.items() if name not in _SETTERS}
        context.accepted.update(ignored)
        log.without_effect("set_context", ignored)


def _kept(name: str) -> Any:
    """What puts a setting back as it is now."""
    if name == "device_target":
        return context.device_target, backend.chosen_device()
    if name == "compile_cache_path":
        return context.accepted.get(name), backend.folder_of_programs()
    return get_context(name)


def _put_back(name: str, kept: Any) -> None:
    if name == "device_target":
        context.device_target, device = kept
        backend.choose_device(device)
    elif name == "compile_cache_path":
        accepted, folder = kept
        context.accepted.pop(name)
        if accepted is not None:
            context.accepted[name] = accepted
        backend.keep_programs_in(folder)
    else:
        _SETTERS[name](kept)


def get_context(attr_key: str) -> Any:
    """The value of one setting; MindSpore's `mindspore.get_context`.

    Raises:
        ValueError: no such setting.
    """
    name = attr_key
    if name == "device_target":
        return context.device_target or backend.default_target()
    if name in _FIELDS:
        return getattr(context, _FIELDS[name])
    if name == "deterministic":
        return "ON" if backend.is_deterministic() else "OFF"
    if name == "compile_cache_path":
        return context.accepted.get(name, "")
    if name in without_effect:
        return context.accepted.get(name, without_effect[name])
    near = difflib.get_close_matches(name, [*_SETTERS, *without_effect], 1)
    hint = f"; nearest: {near[0]}" if near else ""
    raise ValueError(f"get_context has no setting {name!r}{hint}; it knows {', '.join(_SETTERS)}.")


def _set_mode(value) -> None:
    if value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise errors.wrong(
            ValueError,
            "The mode",
            expected="mycel.GRAPH_MODE (0) or mycel.PYNATIVE_MODE (1)",
            actual=repr(value),
        )
    context.mode = value


def set_target(value) -> None:
    value = "Ascend" if value == "Davinci" else value  # the name of its processor
    if value not in backend.PLATFORMS:
        raise ValueError(
            errors.UNKNOWN_TARGET.format(
                known=", ".join(backend.PLATFORMS), target=value, place=user_place(3)
            )
        )
    chosen = os.environ.get(backend.DEVICE_VARIABLE)
    target = chosen or value
    context.before_device_change()
    if not backend.use_target(target, context.device_id):
        raise ValueError(
            errors.UNKNOWN_DEVICE.format(
                what=f"{backend.DEVICE_VARIABLE}={target}"
                if chosen
                else f"device_target={value!r}",
                number=f" with device_id={context.device_id}" if context.device_id else "",
                available=", ".join(backend.available_targets()),
                variable=backend.DEVICE_VARIABLE,
                place=user_place(3),
            )
        )
    context.device_target = target


def _set_device_id(value) -> None:
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.wrong(TypeError, "device_id", "an integer", repr(value)) from None
    if number < 0:
        raise errors.wrong(ValueError, "device_id", "a number from 0 on", repr(value))
    before, context.device_id = context.device_id, number
    try:
        if context.device_target:
            set_target(context.device_target)
    except ValueError:
        context.device_id = before
        raise


def set_synchronize(value) -> None:
    context.before_device_change()
    context.synchronize = bool(value)
    run_directly(context.synchronize and not context.check_numerics)


def run_directly(value: bool) -> None:
    """Whether every operator is run by itself to its end."""
    context.direct = value
    context.apart = value or context.watching > 0


def watch_operators(more: int) -> None:
    """So many more want to be told of operators that Cells run."""
    context.watching += more
    context.apart = context.direct or context.watching > 0


def set_determinism(value) -> None:
    if value not in ("ON", "OFF"):
        raise errors.wrong(ValueError, "deterministic", "'ON' or 'OFF'", repr(value))
    context.before_device_change()
    backend.be_deterministic(value == "ON")


def _set_check_indices(value) -> None:
    if not isinstance(value, bool):
        raise errors.wrong(TypeError, "check_indices", "True or False", repr(value))
    if value is not context.check_indices:
        context.before_device_change()
        context.check_indices = value
        changed_everywhere()


def set_check_numerics(value) -> None:
    if not isinstance(value, bool):
        raise errors.wrong(TypeError, "check_numerics", "True or False", repr(value))
    context.before_device_change()
    context.armed += value and not context.check_numerics
    context.check_numerics = value
    count_steps(0)
    run_directly(context.synchronize and not value)


def count_steps(more: int) -> None:
    """So many more want steps to be recorded (see mycel.debug.record_steps)."""
    context.armed += more > 0 and not context.counts_steps
    context.recording += more
    context.counts_steps = context.check_numerics or context.recording > 0


def _set_save_graphs(value) -> None:
    if not isinstance(value, int) or not 0 <= value <= 3:
        raise errors.wrong(ValueError, "save_graphs", "True, False or 0 to 3", repr(value))
    context.before_device_change()
    context.save_graphs = 3 if value is True else int(value)


def _set_save_graphs_path(value) -> None:
    if not isinstance(value, (str, os.PathLike)):
        raise errors.wrong(TypeError, "save_graphs_path", "a folder", repr(value))
    context.save_graphs_path = os.fspath(value)


def _set_cache_path(value) -> None:
    if not isinstance(value, (str, os.PathLike)):
        raise errors.wrong(TypeError, "compile_cache_path", "a folder", repr(value))
    context.accepted["compile_cache_path"] = value
    backend.keep_programs_in(os.fspath(value))


def set_call_depth(value) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise errors.wrong(TypeError, "max_call_depth", "an integer", repr(value))
    if value < 1:
        raise errors.wrong(ValueError, "max_call_depth", "an integer above 0", repr(value))
    context.max_call_depth = value
    sys.setrecursionlimit(max(value, sys.getrecursionlimit()))


_SETTERS = {
    "mode": _set_mode,
    "device_target": set_target,
    "device_id": _set_device_id,
    "pynative_synchronize": set_synchronize,
    "deterministic": set_determinism,
    "check_indices": _set_check_indices,
    "check_numerics": set_check_numerics,
    "save_graphs": _set_save_graphs,
    "save_graphs_path": _set_save_graphs_path,
    "compile_cache_path": _set_cache_path,
    "max_call_depth": set_call_depth,
}
# Where settings are kept that are put back by being set again.
_FIELDS = {
    "mode": "mode",
    "device_id": "device_id",
    "pynative_synchronize": "synchronize",
    "check_indices": "check_indices",
    "check_numerics": "check_numerics",
    "save_graphs": "save_graphs",
    "save_graphs_path": "save_graphs_path",
    "max_call_depth": "max_call_depth",
}

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "get_context",
    "set_context",
]
