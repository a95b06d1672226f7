# SPDX-License-Identifier: Apache-2.0
"""Which of MindSpore's public names there are here, by namespace; `mycel doctor --coverage`.

A name counts when it answers under the same path. That says nothing about right answers: those are
what the tests compare.
"""

from __future__ import annotations

import importlib
import operator
import textwrap
import tomllib
from pathlib import Path
from typing import NamedTuple

from mycel.compat import alias
from mycel.kernel.base.log import without_notes

WIDTH = 98
ABOUT = """\
# Names of MindSpore 2.10 in mycel

Written by `mycel doctor --coverage`. A name counts when it answers under MindSpore's path; names
that MindSpore lists but that mean nothing outside its own hardware count as lacking too.
"""


class Part(NamedTuple):
    """A namespace or class: which of MindSpore's names it has here, and which it lacks."""

    path: str
    have: list[str]
    lack: list[str]


def parts() -> list[Part]:
    """Every namespace, then every class, in the order of public_names.toml.

    Example:
        >>> from mycel.compat import coverage
        >>> found = {part.path: part for part in coverage.parts()}
        >>> "relu" in found["mindspore.ops"].have, "Tensor" in found["mindspore"].have
        (True, True)
    """
    text = (Path(__file__).parent / "public_names.toml").read_text("utf-8")
    public = tomllib.loads(text)
    counted = []
    for path, names in public["namespaces"].items():
        have = _of_namespace(path, names.split())
        counted.append(_part(path, names.split(), have))
    root = importlib.import_module(alias.OURS)
    for path, names in public["classes"].items():
        kind = operator.attrgetter(path)(root)
        counted.append(_part(path, names.split(), {n for n in names.split() if hasattr(kind, n)}))
    return counted


def _part(path: str, names: list[str], have: set[str]) -> Part:
    shown = f"{alias.THEIRS}.{path}".rstrip(".")
    return Part(shown, [n for n in names if n in have], [n for n in names if n not in have])


def _of_namespace(path: str, names: list[str]) -> set[str]:
    """Which of the names answer; most are known without being written first."""
    full = f"{alias.OURS}.{path}".rstrip(".")
    try:
        module = importlib.import_module(full)
    except ModuleNotFoundError:
        return set()
    listed = set(alias.public_names(full)) | set(vars(module))
    return {name for name in names if name in listed or hasattr(module, name)}


def report() -> str:
    """The whole as Markdown: a table, then what is lacking.

    Example:
        >>> from mycel.compat import coverage
        >>> print(coverage.report().splitlines()[0])
        # Names of MindSpore 2.10 in mycel
    """
    with without_notes():
        counted = parts()
    lines = [ABOUT, "| namespace | here | of | |", "|---|---:|---:|---:|"]
    for path, have, lack in counted:
        lines.append(_row(f"`{path}`", len(have), len(have) + len(lack)))
    have = sum(len(part.have) for part in counted)
    lines.append(_row("all", have, have + sum(len(part.lack) for part in counted)))
    lines.append("\n## What is lacking\n")
    for path, _, lack in counted:
        if lack:
            lines.append(f"`{path}`:\n")
            lines.append(textwrap.fill(", ".join(lack), WIDTH, break_on_hyphens=False) + "\n")
    return "\n".join(lines).rstrip()


def _row(name: str, have: int, every: int) -> str:
    share = 100 * have / every if every else 100.0
    return f"| {name} | {have} | {every} | {share:.0f} % |"
