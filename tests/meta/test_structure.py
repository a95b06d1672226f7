# SPDX-License-Identifier: Apache-2.0
"""The shape of the code base itself: arrows between layers, length of files, documentation."""

from __future__ import annotations

import ast
import doctest
import inspect
import operator
import pathlib
import subprocess

import numpy as np
import pytest

import mycel as ms

SOURCE = pathlib.Path(ms.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 600
MOST_BYTES = 200_000

# Layers from the lowest to the highest; members of one row do not import each other.
LAYERS = [
    {"kernel.base"},
    {"kernel.define"},
    {"kernel.record"},
    {"kernel.prove"},
    {"kernel.execute", "kernel.differentiate", "kernel.spell"},
    {"transform", "tuning", "report"},
    {"ops"},
    {"init", "mindrecord"},
    {"nn"},
    {"optim", "amp", "communication", "dataset", "summary", "checkpoint"},
    {"parallel"},
    {"train", "mint", "numpy", "scipy"},
    {"debug"},
    {"compat"},
    {"cli"},
]
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}


def layer_of(path: pathlib.Path) -> str:
    return room_of(path.relative_to(SOURCE).with_suffix("").parts)


def room_of(parts: tuple[str, ...]) -> str:
    """The layer that a module path below mycel belongs to; the kernel is several."""
    return ".".join(parts[:2]) if parts[0] == "kernel" else parts[0]


def imported_layers(path: pathlib.Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "mycel":
                names = [f"mycel.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = tuple(name.split("."))
            if parts[0] == "mycel" and len(parts) > 1:
                found.add(room_of(parts[1:]))
    return found


def test_repository_holds_no_packages_and_no_large_files():
    root = pathlib.Path(__file__).parents[2]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout of the repository")
    tracked = [root / name for name in listed.stdout.split("\0") if name]
    large = [path for path in tracked if path.exists() and path.stat().st_size > MOST_BYTES]
    assert not large, f"what is not written here does not belong here: {large}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_arrows_point_down(path):
    layer = layer_of(path)
    if layer not in RANK:
        return  # the package root puts the layers together
    for other in imported_layers(path) & RANK.keys():
        lower = RANK[other] < RANK[layer]
        assert other == layer or lower, f"{path.name} ({layer}) imports {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short_and_signed(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[0] == "# SPDX-License-Identifier: Apache-2.0"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_import_of_ourselves_inside_a_function(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for inner in ast.walk(node):
                if isinstance(inner, ast.ImportFrom) and inner.module:
                    assert not inner.module.startswith("mycel"), f"{node.name} imports ourselves"


def public_objects():
    for namespace in (
        *("", "ops", "nn", "debug", "mint", "mint.nn.functional"),
        *("train", "amp", "checkpoint", "communication", "parallel"),
    ):
        module = operator.attrgetter(namespace)(ms) if namespace else ms
        for name in dir(module):
            item = getattr(module, name)
            if name.startswith("_") or inspect.ismodule(item) or not callable(item):
                continue
            if not getattr(item, "__module__", "").startswith("mycel"):
                continue
            yield pytest.param(item, id=f"{namespace or 'mycel'}.{name}")


@pytest.mark.parametrize("item", list(public_objects()))
def test_public_names_are_documented(item):
    assert (item.__doc__ or "").strip(), "no docstring"


def documented():
    """Every distinct docstring with an example, once."""
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=True)
    seen = set()
    for parameter in public_objects():
        for found in [
            parameter.values[0],
            *(
                [m for n, m in vars(parameter.values[0]).items() if not n.startswith("_")]
                if inspect.isclass(parameter.values[0])
                else []
            ),
        ]:
            doc = getattr(found, "__doc__", None)
            if not isinstance(doc, str) or ">>>" not in doc or doc in seen:
                continue
            seen.add(doc)
            named = getattr(found, "fget", found)  # a property has the name of its function
            name = getattr(named, "__qualname__", str(named))
            for test in finder.find(found, name, globs={}) or _parsed(doc, name):
                yield pytest.param(test, id=name)


def _parsed(doc, name):
    return [doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)]


@pytest.mark.parametrize("test", list(documented()))
def test_examples_do_what_they_say(test):
    test.globs.update(
        mycel=ms,
        ms=ms,
        ops=ms.ops,
        nn=ms.nn,
        Tensor=ms.Tensor,
        Parameter=ms.Parameter,
        np=np,
        mint=ms.mint,
    )
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(test).failed == 0
