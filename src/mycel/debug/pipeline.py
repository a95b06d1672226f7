# SPDX-License-Identifier: Apache-2.0
"""In which order the stages of a pipeline run what parts of a batch."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from mycel.debug.collectives import call_and_note
from mycel.kernel.execute.compile import Staged


class Ran(NamedTuple):
    """One program of a stage.

    Attributes:
        turn: when, from 0: programs of one turn do not wait for each other.
        stage: where.
        name: what: `F2` is the forward of the third part of a batch, `B2` its reverse, `F` and `U`
            what belongs to no part in front of a reverse and behind it.
        operators: how many it has.
        received: how many bytes it was given that another stage has made.
    """

    turn: int
    stage: int
    name: str
    operators: int
    received: int


class Pipeline:
    """The programs of one call; `print` draws a row for each stage and a column for each turn.

    Attributes:
        lines: a `Ran` for each program, in the order in which they were started.
        stages: how many stages there are.
        result: what the call gave.
    """

    def __init__(self, lines: list[Ran], stages: int, result: Any):
        self.lines, self.stages, self.result = lines, stages, result

    def of_stage(self, stage: int) -> list[str]:
        """What a stage runs for parts of a batch, in order.

        Example:
            >>> from mycel.debug.pipeline import Pipeline, Ran
            >>> lines = [Ran(0, 0, "F", 1, 0), Ran(1, 0, "F0", 3, 0), Ran(2, 1, "F0", 3, 64)]
            >>> Pipeline(lines, 2, None).of_stage(1)
            ['F0']
        """
        return [line.name for line in self.lines if line.stage == stage and len(line.name) > 1]

    def _rows(self) -> list[list[str]]:
        rows: list[list[str]] = [["turn"], *[[f"stage {n}"] for n in range(self.stages)]]
        for turn in dict.fromkeys(line.turn for line in self.lines):
            rows[0].append(str(turn))
            for stage in range(self.stages):
                ran = [n.name for n in self.lines if (n.turn, n.stage) == (turn, stage)]
                rows[1 + stage].append(" ".join(ran))
        return rows

    def __str__(self):
        if not self.lines:
            return "no programs of stages"
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        drawn = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        sent = sum(line.received for line in self.lines)
        return "\n".join([*drawn, f"{len(self.lines)} programs, {sent:,} bytes between stages"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        ]
        return "<table>" + "".join(rows) + "</table>"


def pipeline(step: Callable) -> Callable[..., Pipeline]:
    """In which order the stages of a pipeline run one call of a function or Cell.

    The call is a real one: a step of training trains.

    Returns:
        A function of the inputs, which calls `step` and gives a `Pipeline`.

    Raises:
        TypeError: `step` cannot be called.

    Example:
        >>> import mycel as ms
        >>> print(ms.debug.pipeline(nn.ReLU())(Tensor([1.0])))
        no programs of stages
    """
    if not callable(step):
        raise TypeError(f"pipeline takes a function or a Cell, not {type(step).__name__}.")

    def run(*inputs: Any, **keywords: Any) -> Pipeline:
        result, met = call_and_note(step, inputs, keywords)
        lines: list[Ran] = []
        stages = first = 0
        for executable, _, _, arrays, _ in met:
            if not isinstance(executable, Staged) or not executable.is_divided(arrays):
                continue
            schedule = executable.schedule(arrays)
            stages = schedule.stages
            lines += [
                Ran(first + step.turn.number, step.stage, step.turn.part.name, *counts)
                for step, counts in zip(schedule.steps, schedule.counts(), strict=True)
                if step.turn is not None
            ]
            first = lines[-1].turn + 1 if lines else 0
        return Pipeline(lines, stages, result)

    return run
