# SPDX-License-Identifier: Apache-2.0
"""A profile as a trace for Perfetto, in the JSON format of Chrome's traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mycel.debug.profiling.timeline import tracks

if TYPE_CHECKING:
    from mycel.debug.profiling.result import Profile

_HOST, _DEVICE = 1, 2


def trace_of(profile: Profile) -> str:
    """The JSON of a trace: the steps and what the host did, and each operator with its Cell."""
    starts = [start for found in profile.marks.values() for start, _ in found]
    zero = min([*starts, *[span.start for span in profile.spans]], default=0.0)
    events: list[dict[str, Any]] = [_named("process_name", _HOST, 0, "host")]
    events.append(_named("process_name", _DEVICE, 0, "device"))
    for line, (kind, found) in enumerate(profile.marks.items()):
        events.append(_named("thread_name", _HOST, line, kind))
        events += [_span(kind, kind, _HOST, line, zero, start, end) for start, end in found]
    lines: dict[tuple[str, int], int] = {}
    for span, track in zip(profile.spans, tracks(profile.spans), strict=True):
        if track not in lines:
            lines[track] = len(lines)
            events.append(_named("thread_name", _DEVICE, lines[track], track[0]))
        path, operator, phase = profile.label_of(span.program, span.what)
        event = _span(operator, phase, _DEVICE, lines[track], zero, span.start, span.end)
        event["args"] = {"Cell": path, "phase": phase, "instruction": str(span.what)}
        events.append(event)
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


def _named(what: str, process: int, line: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": line, "args": {"name": name}}


def _span(name: str, kind: str, process: int, line: int, zero, start, end) -> dict[str, Any]:
    return {
        "name": name, "cat": kind, "ph": "X", "pid": process, "tid": line,
        "ts": (start - zero) / 1e3, "dur": (end - start) / 1e3,
    }  # fmt: skip
