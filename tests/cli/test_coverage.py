# SPDX-License-Identifier: Apache-2.0
"""`mycel doctor --coverage` and docs/coverage.md. Oracle: the names, asked one by one."""

from __future__ import annotations

import operator
from pathlib import Path

import pytest

import mycel as ms
from mycel.cli import main
from mycel.compat import absent, alias, coverage

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


@pytest.mark.parametrize("kind", absent.MEMBERS)
def test_every_member_that_is_lacking_says_why(kind):
    """The oracle is the list of MindSpore's members: each is here, or its absence is explained."""
    (part,) = [p for p in coverage.parts() if p.path.rpartition(".")[2] == kind]
    explained = {n: why for why, names in absent.MEMBERS[kind].items() for n in names.split()}
    assert set(part.lack) == set(explained)
    owner = operator.attrgetter(part.path.partition(".")[2])(ms)
    for name, why in explained.items():
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        version = ms.__version__
        assert str(caught.value) == f"{kind} has no {name!r} in mycel {version}. {why}"
        assert (caught.value.name, caught.value.obj) == (name, None)


def test_a_member_that_is_lacking_may_be_assigned():
    x = ms.Tensor([1.0])
    assert not hasattr(x, "storage")
    x.storage = 3
    assert x.storage == 3
