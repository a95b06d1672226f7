# SPDX-License-Identifier: Apache-2.0
"""The command `mycel`: its subcommands, and what `--help` says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mycel.cli import demo, doctor, launch, replay, run
from mycel.kernel.base.version import __version__

ABOUT = """\
mycel is MindSpore's programming model on XLA: networks are Cells, and the same code runs in
PyNative mode (operators run as they are called) and in Graph mode (what repeats is compiled).

  mycel demo                        train LeNet-5 on real handwritten digits in both modes
  mycel run script.py [arguments]   run a MindSpore program unchanged, without MindSpore
  mycel launch -n 8 script.py       run it as eight processes that compute together
  mycel replay step.mycel           run a recorded step again, and find where it goes wrong
  mycel doctor                      show versions, devices, folders and the mode
"""
VARIABLES = """\
environment:
  MYCEL_CHECK_NUMERICS
                    1 ends a step that makes NaN, and names the operator
  MYCEL_DEVICE      CPU, GPU or TPU: used instead of the device a program asks for
  MYCEL_CACHE       folder of compiled programs that later runs reuse; "off" keeps none
  MYCEL_HEAP        "one" keeps large freed blocks for the next step too, "off" none (Linux)
  MYCEL_NATIVE      "off" compiles no C++: LSTM, GRU and convolutions are then XLA's own
  MYCEL_LEDGER      file (.html, .txt, .json) for a report of what was compiled and not replayed
  MYCEL_PROGRESS    "0" shows no progress bars, and no line for each epoch in logs
  MYCEL_REPORTED_VERSION
                    what mindspore.__version__ says: programs compare it as text
  MYCEL_TRACEBACK   "full" shows mycel's own lines in tracebacks
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit code of the process.

    Args:
        argv: the arguments after the command's name; by default those of the process.

    Example:
        >>> from mycel.cli.main import main
        >>> main(["doctor"]) # doctest: +ELLIPSIS
        mycel ...
        0
    """
    options = make_parser().parse_args(argv)
    return options.execute(options)


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command; each subcommand adds its own options."""
    parser = argparse.ArgumentParser(
        prog="mycel",
        description=ABOUT,
        epilog=VARIABLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mycel {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (demo, run, launch, replay, doctor):
        module.add_command(commands)
    return parser
