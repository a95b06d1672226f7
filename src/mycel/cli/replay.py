# SPDX-License-Identifier: Apache-2.0
"""`mycel replay step.mycel`: a step that `record_steps` wrote, run again without its program."""

from __future__ import annotations

import argparse
import pdb
import re
import sys
import time

import jax

from mycel.debug.paths import expression_of
from mycel.debug.replaying import MODES, RecordedStep
from mycel.kernel.execute.describe import describe_array

TOLERANCE = 1e-4


def add_command(commands) -> None:
    """Add `replay` to the subcommands."""
    parser = commands.add_parser(
        "replay",
        help="run a recorded step again, without its program and data",
        description="Run a step that ms.debug.record_steps wrote. The exit code is 1 where "
        "something was found: a value that is not finite, or a difference.",
    )
    parser.add_argument("step", help="the file, step_N.mycel")
    parser.add_argument("--mode", choices=MODES, default="direct", help="how it runs")
    parser.add_argument("--find-nan", action="store_true", help="name the first operator with NaN")
    parser.add_argument(
        "--breakpoint", metavar="PATH", help="stop in the debugger before the first operator of a "
        "Cell, by its path, as Net.blocks.*.att"
    )  # fmt: skip
    parser.add_argument("--dtype", choices=("float64",), help="compare with this precision")
    parser.add_argument(
        "--against", metavar="OTHER", help="another recorded step, or a mode, to be compared with"
    )
    parser.add_argument(
        "--tolerance", type=float, help=f"of a comparison; {TOLERANCE:g} by default"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run the step as the options say."""
    try:
        _check(options)
        step = RecordedStep(options.step)
        if options.find_nan:
            return _say(step.find_nan(), "No operator makes what is not finite from finite values.")
        if options.dtype or options.against:
            return _compare(step, options)
        return _run(step, options)
    except (OSError, ValueError) as error:
        print(f"mycel replay: {error}", file=sys.stderr)
        return 2


def _check(options: argparse.Namespace) -> None:
    """Raise where one option leaves another without effect."""
    compares = options.dtype or options.against
    several = [
        name
        for name, given in (
            ("--find-nan", options.find_nan),
            ("--breakpoint", options.breakpoint),
            ("--dtype", options.dtype),
            ("--against", options.against),
        )
        if given
    ]
    if len(several) > 1:
        raise ValueError(f"{' and '.join(several)} are things of their own: give one of them.")
    if options.tolerance is not None and not compares:
        raise ValueError("--tolerance is that of a comparison: give --dtype or --against too.")
    if options.mode != "direct" and (options.find_nan or options.breakpoint or options.dtype):
        raise ValueError(f"{several[0]} looks at operators one by one: it needs --mode direct.")


def _compare(step: RecordedStep, options: argparse.Namespace) -> int:
    mode, other = options.mode, step
    if options.dtype:
        other = RecordedStep(options.step, options.dtype)
    elif options.against in MODES:
        mode = options.against
    else:
        other = RecordedStep(options.against)
    tolerance = TOLERANCE if options.tolerance is None else options.tolerance
    found = step.first_difference(other, (options.mode, mode), tolerance)
    return _say(found, f"All operators agree within {tolerance:g}.")


def _say(found, otherwise: str) -> int:
    print(otherwise if found is None else found)
    return int(found is not None)


def _run(step: RecordedStep, options: argparse.Namespace) -> int:
    before = None
    if options.breakpoint:
        expression = expression_of(options.breakpoint)
        cells = dict.fromkeys(node.cell for record in step.records for node in record.nodes)
        if not any(map(expression.fullmatch, cells)):
            known = ", ".join(filter(None, cells)) or "none"
            raise ValueError(f"no Cell is {options.breakpoint!r}; the step has {known}.")
        before = _stopper(expression)
    start = time.perf_counter()
    results = jax.block_until_ready(step.run(options.mode, before))
    seconds = time.perf_counter() - start
    count = sum(len(record.nodes) for record in step.records)
    print(f"step {step.number}: {count} operators, {options.mode}, {seconds:.3f} s")
    for record, made in zip(step.records, results, strict=True):
        for slot in record.live:
            value = made[slot] if slot >= 0 else record.inputs[-1 - slot]
            print(f"  {describe_array(value)}")
    return 0


def _stopper(expression: re.Pattern[str]):
    stopped = False

    def before(node, inputs) -> None:
        nonlocal stopped
        if not stopped and expression.fullmatch(node.cell):
            stopped = True
            print(f"before {node}: `node`, `inputs`")
            pdb.Pdb().set_trace()

    return before
