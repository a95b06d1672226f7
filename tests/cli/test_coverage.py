# SPDX-License-Identifier: Apache-2.0
"""`mycel doctor --coverage` and docs/coverage.md. Oracle: the names, asked one by one."""

from __future__ import annotations

from pathlib import Path

from mycel.cli import main
from mycel.compat import alias, coverage

DOCUMENT = Path(__file__).parents[2] / "docs" / "coverage.md"


def test_the_document_is_what_the_command_prints(capsys):
    assert main.main(["doctor", "--coverage"]) == 0
    printed = capsys.readouterr().out
    assert DOCUMENT.read_text("utf-8") == printed, (
        "write it anew: mycel doctor --coverage > docs/coverage.md"
    )


def test_names_that_are_here_answer_and_others_do_not():
    parts = {part.path: part for part in coverage.parts()}
    for path in ("mindspore", "mindspore.communication", "mindspore.common.initializer"):
        part = parts[path]
        ours = path.replace("mindspore", "mycel", 1)
        for name in part.have:
            alias.find(ours, name)
        for name in part.lack:
            try:
                alias.find(ours, name)
            except AttributeError:
                continue
            raise AssertionError(f"{path}.{name} answers")
    assert {"relu", "ReLU", "GradOperation"} <= set(parts["mindspore.ops"].have)
    assert not set(parts["mindspore.rewrite"].have)
