# SPDX-License-Identifier: Apache-2.0
"""The examples of MindSpore's docstrings: found in an installed MindSpore, and run one by one.

The child processes of `python -m tests.wild.docstrings`; the same text runs in MindSpore itself
and, by `mycel run`, here.

    python tests/wild/docstring_examples.py find                 # in MindSpore
    python tests/wild/docstring_examples.py run FILE MODE        # in either
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import json
import linecache
import math
import os
import re
import sys
import tempfile
import tomllib
import traceback
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

PUBLIC_NAMES = Path(__file__).parents[2] / "src" / "mycel" / "compat" / "public_names.toml"
PROMPT = ">>>"
ANNOUNCED = re.compile(r"^(\s*)Traceback \((most recent call last|innermost last)\):")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?|\bnan\b|[-+]?\binf\b")
# Documents print some digits of a float32, and some results are those of float16.
RELATIVE, ABSOLUTE = 2e-3, 1e-5
# Where a class is defined says nothing about what it does.
MODULE = re.compile(r"(?<=<class ')[\w.]*\.(?=\w+'>)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# What docstrings take for granted: modules, and a network and a data set that they speak of.
GIVEN = """
import numpy as np
import mindspore
import mindspore as ms
from mindspore import Tensor, nn, ops

class LeNet5(nn.Cell):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten())
        self.classifier = nn.SequentialCell(
            nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, classes))

    def construct(self, x):
        return self.classifier(self.features(x))

def create_dataset(*given):
    images = np.random.default_rng(0).normal(size=(64, 1, 32, 32)).astype(np.float32)
    labels = np.arange(64, dtype=np.int32) % 10
    columns = {"image": images, "label": labels}
    return mindspore.dataset.NumpySlicesDataset(columns, shuffle=False).batch(32)
"""


def find() -> dict[str, str]:
    """The docstrings with examples of every public name: path below `mindspore` to text.

    A text that stands at several names is listed once, under the first of them. Of classes that are
    public, so are those that they are derived from, where these stand beside them.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    for path, names in tomllib.loads(PUBLIC_NAMES.read_text("utf-8"))["namespaces"].items():
        module = importlib.import_module(f"mindspore.{path}".rstrip("."))
        values = {name: getattr(module, name, None) for name in names.split()}
        bases = [base for value in values.values() for base in getattr(value, "__mro__", ())]
        values |= {b.__name__: b for b in bases if vars(module).get(b.__name__) is b}
        for name, value in values.items():
            for inner, text in _texts(value):
                if PROMPT in text and text not in seen:
                    seen.add(text)
                    found[f"{path}.{name}{inner}".lstrip(".")] = text
    return found


def _texts(value) -> Iterator[tuple[str, str]]:
    """The docstring of an object of MindSpore's, and those of a class's members."""
    if not isinstance(value, (type, types.ModuleType)) and not callable(value):
        return
    if isinstance(vars(value).get("__doc__") if isinstance(value, type) else value.__doc__, str):
        yield "", value.__doc__
    for name, member in vars(value).items() if isinstance(value, type) else ():
        text = getattr(getattr(member, "__func__", member), "__doc__", None)
        if not name.startswith("_") and isinstance(text, str) and not inspect.isclass(member):
            yield f".{name}", text


class Failure(Exception):
    """An example that does not do what its docstring says: the kind of cause, and the text."""


def run(name: str, text: str) -> None:
    """Execute the statements of a docstring in a namespace of their own.

    Raises:
        Failure: one of them raised, or printed something else.
    """
    try:
        statements = doctest.DocTestParser().get_examples(text, name)
    except ValueError as error:
        raise Failure("cannot be read", str(error)) from None
    names: dict[str, object] = {"__name__": "__main__"}
    _remember("<doctest>", GIVEN)
    exec(compile(GIVEN, "<doctest>", "exec"), names)
    try:
        for number, statement in enumerate(statements):
            if not statement.options.get(doctest.SKIP):
                _run_statement(f"<doctest {name}[{number}]>", statement, names)
    finally:
        # Functions hold their names, and those them: sockets would be open until the collector ran.
        names.clear()


def _run_statement(file: str, statement: doctest.Example, names: dict[str, object]) -> None:
    _remember(file, statement.source)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            sys.displayhook = sys.__displayhook__
            exec(compile(statement.source, file, "single", dont_inherit=True), names)
            sys.stdout.flush()
    except (Exception, SystemExit) as error:
        if statement.exc_msg is None or type(error).__name__ not in statement.exc_msg:
            cause, where = type(error).__name__, statement.source.strip().splitlines()[0]
            told = "".join(traceback.format_exception_only(error)).strip()
            raise Failure(f"raises {cause}", f"{where}\n{told}") from error
        return
    if statement.want and not agrees(statement.want, printed.getvalue()):
        shown = f"{statement.source}expected {statement.want}got {printed.getvalue()}"
        raise Failure("prints something else", shown)


def _remember(file: str, source: str) -> None:
    """Keep a text of a program: MindSpore reads what it compiles once more."""
    linecache.cache[file] = len(source), None, source.splitlines(True), file


def agrees(wanted: str, got: str) -> bool:
    """Whether a text is the wanted one but for spaces, modules and the last digits of numbers."""
    wanted, got = (MODULE.sub("", text) for text in (wanted, got))
    if doctest.OutputChecker().check_output(wanted, got, FLAGS):
        return True
    if _skeleton(wanted) != _skeleton(got):
        return False
    pairs = zip(NUMBER.findall(wanted), NUMBER.findall(got), strict=True)
    return all(_near(complex(a), complex(b)) for a, b in pairs)


def _skeleton(text: str) -> str:
    return re.sub(r"\s", "", NUMBER.sub("#", text))


def _near(a: complex, b: complex) -> bool:
    parts = (a.real, b.real), (a.imag, b.imag)
    return all(
        math.isclose(x, y, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (x != x and y != y)
        for x, y in parts
    )


def serve(texts: dict[str, str], mode: str) -> None:
    """Run the examples whose names come in, one a line; a line of JSON goes out for each."""
    # What an example prints beside Python's own output is nobody's.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    warnings.simplefilter("ignore")
    import mindspore  # type: ignore[import-not-found]

    answers.write("ready\n")
    for line in sys.stdin:
        name = line.strip()
        _begin_anew(mindspore, mode)
        row = {"name": name, "cause": "", "text": ""}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            try:
                run(name, texts[name])
            except Failure as failure:
                row["cause"], row["text"] = failure.args
        answers.write(json.dumps(row) + "\n")


def _begin_anew(mindspore, mode: str) -> None:
    """What an example has set is set back."""
    modes = {"pynative": mindspore.PYNATIVE_MODE, "graph": mindspore.GRAPH_MODE}
    mindspore.set_context(mode=modes[mode], device_target="CPU")
    mindspore.context.reset_auto_parallel_context()
    linecache.clearcache()


def main() -> None:
    """Find the examples, or run those that are asked for."""
    if sys.argv[1] == "find":
        print(json.dumps(find()))
    else:
        serve(json.loads(Path(sys.argv[2]).read_text("utf-8")), sys.argv[3])


if __name__ == "__main__":
    main()
