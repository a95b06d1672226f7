# SPDX-License-Identifier: Apache-2.0
"""`mycel run script.py`: a MindSpore program, unchanged, with `import mindspore` meaning mycel."""

from __future__ import annotations

import argparse
import importlib.util
import io
import multiprocessing
import os
import sys
from types import ModuleType

from mycel.compat.alias import install_as_mindspore
from mycel.kernel.base.places import TRACEBACK
from mycel.kernel.base.processes import world

# Where other processes find what they import, and the folder with what `mindspore` means there.
PATH_VARIABLE = "PYTHONPATH"
CHILDREN = os.path.join(os.path.dirname(__file__), "children")
# What printed exceptions before the program began.
_print_short = sys.excepthook


def add_command(commands) -> None:
    """Add `run` to the subcommands."""
    parser = commands.add_parser(
        "run",
        help="run a MindSpore program unchanged, without MindSpore",
        description="Run a Python program in which `import mindspore` means mycel. Everything "
        "after the script's name goes to the script; its exit code is kept.",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="the program is a module, package.module"
    )
    parser.add_argument("script", help="the Python file; with -m the name of a module")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="handed to the script as sys.argv[1:]"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run the program; what it raises (sys.exit too) leaves this process as it leaves Python."""
    begin = _module if options.module else _script
    sys.argv[:] = [options.script, *options.arguments]
    try:
        code, names = begin(options.script)
    except OSError as error:
        print(f"mycel run: cannot open {options.script}: {error.strerror}", file=sys.stderr)
        return 2
    except _NoProgram as error:
        print(f"mycel run: {error}", file=sys.stderr)
        return 2
    main = ModuleType("__main__")
    main.__dict__.update(names, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    try:
        exec(code(), main.__dict__)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            world.ended = ended.code or 0
        else:
            world.ended, world.words = 1, str(ended.code)
        raise
    world.ended = 0
    return 0


class _NoProgram(Exception):
    """A module that cannot be run."""


def _script(path: str):
    """The code of a file, when it is asked for, and what `python file` sets in `__main__`."""
    with io.open_code(path) as file:
        source = file.read()
    _as_mindspore()
    _search_first(os.path.dirname(os.path.realpath(path)))
    return lambda: compile(source, path, "exec", dont_inherit=True), {"__file__": path}


def _module(name: str):
    """The code of a module, and what `python -m name` sets in `__main__`."""
    _as_mindspore()
    _search_first(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        raise _NoProgram(str(error)) from None
    if spec is None:
        raise _NoProgram(f"there is no module {name} that can be run in {os.getcwd()}")
    origin, loader = spec.origin or name, spec.loader
    sys.argv[0] = origin
    names = {"__file__": origin, "__package__": spec.parent, "__spec__": spec}
    return lambda: loader.get_code(spec.name), {**names, "__loader__": loader}  # type: ignore


def _as_mindspore() -> None:
    install_as_mindspore()
    _let_children_import_mindspore()
    # The interpreter prints what the program does not catch through this hook.
    global _print_short
    sys.excepthook, _print_short = print_exception, sys.excepthook


def children_path() -> dict[str, str]:
    """The variable by which a Python that is started finds mycel as `mindspore`."""
    known = os.environ.get(PATH_VARIABLE)
    return {PATH_VARIABLE: f"{CHILDREN}{os.pathsep}{known}" if known else CHILDREN}


def _let_children_import_mindspore() -> None:
    """From now on `import mindspore` means mycel in every Python that this process starts, too."""
    os.environ.update(children_path())
    # What `multiprocessing` spawns takes over this path; its first entry is the program's.
    sys.path.insert(1, CHILDREN)
    # The server would import the program, and be forked with JAX's threads.
    multiprocessing.set_forkserver_preload([])


def _search_first(folder: str) -> None:
    """Let modules be found beside the program, as Python does."""
    if sys.flags.safe_path:
        sys.path.insert(0, folder)
    else:
        # The first entry is our own command's folder, or where `python -m` was started.
        sys.path[0] = folder


def print_exception(kind, error: BaseException, trace) -> None:
    """Print an exception of the program without the frames that have started it."""
    frame = trace
    while frame is not None and os.environ.get(TRACEBACK) != "full":
        if frame.tb_frame.f_code.co_filename == __file__:
            error.__traceback__ = frame.tb_next
        frame = frame.tb_next
    _print_short(kind, error, error.__traceback__)
