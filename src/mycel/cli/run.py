# SPDX-License-Identifier: Apache-2.0
"""`mycel run script.py`: a MindSpore program, unchanged, with `import mindspore` meaning mycel."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from types import ModuleType

from mycel.base.places import PACKAGE
from mycel.compat.alias import install_as_mindspore

TRACEBACK_VARIABLE = "MYCEL_TRACEBACK"
# Frames of the machine and of what it stands on say nothing about the user's program.
_MACHINERY = (PACKAGE, "<mycel", "<frozen ")
_JAX = (f"{os.sep}jax{os.sep}", f"{os.sep}jaxlib{os.sep}")


def add_command(commands) -> None:
    """Add `run` to the subcommands."""
    parser = commands.add_parser(
        "run",
        help="run a MindSpore program unchanged, without MindSpore",
        description="Run a Python program in which `import mindspore` means mycel. Everything "
        "after the script's name goes to the script; its exit code is kept.",
    )
    parser.add_argument("script", help="the Python file")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="handed to the script as sys.argv[1:]"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run the script; what it raises (sys.exit too) leaves this process as it leaves Python."""
    try:
        with io.open_code(options.script) as file:
            source = file.read()
    except OSError as error:
        print(f"mycel run: cannot open {options.script}: {error.strerror}", file=sys.stderr)
        return 2
    install_as_mindspore()
    # The interpreter prints what the script does not catch through this hook.
    sys.excepthook = print_exception
    run_as_main(source, options.script, options.arguments)
    return 0


def run_as_main(source: bytes, script: str, arguments: list[str]) -> None:
    """Execute `source` the way `python script arguments` would: as the module `__main__`."""
    main = ModuleType("__main__")
    main.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    sys.argv[:] = [script, *arguments]
    folder = os.path.dirname(os.path.realpath(script))
    if sys.flags.safe_path:
        sys.path.insert(0, folder)
    else:
        # The first entry is our own command's folder, or where `python -m` was started.
        sys.path[0] = folder
    exec(compile(source, script, "exec", dont_inherit=True), main.__dict__)


def print_exception(kind, error: BaseException, trace) -> None:
    """Print an exception with the user's own lines only; MYCEL_TRACEBACK=full prints all."""
    shown = traceback.TracebackException(kind, error, trace)
    if os.environ.get(TRACEBACK_VARIABLE) != "full":
        _shorten(shown)
    print("".join(shown.format()), end="", file=sys.stderr)


def _shorten(shown: traceback.TracebackException | None) -> None:
    """Leave out the machine's frames, in the causes of an exception as well."""
    if shown is None:
        return
    last = max((i for i, f in enumerate(shown.stack) if f.filename == __file__), default=-1)
    kept = [f for f in shown.stack[last + 1 :] if not _of_machinery(f.filename)]
    # None prints no header, as Python does for a program that could not be compiled.
    shown.stack = traceback.StackSummary.from_list(kept) if kept else None  # type: ignore
    _shorten(shown.__cause__)
    _shorten(shown.__context__)
    for inner in shown.exceptions or ():
        _shorten(inner)


def _of_machinery(filename: str) -> bool:
    return filename.startswith(_MACHINERY) or any(part in filename for part in _JAX)
