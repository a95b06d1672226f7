# SPDX-License-Identifier: Apache-2.0
"""The thirty faults of docs/errors.md: mycel says in every execution what the page shows.

Oracles: the page itself, in the repository; for the answers of the others, what they said when
`python -m tools.errors NAME PYTHON` recorded them.
"""

from __future__ import annotations

import pathlib
import sys

import pytest

import mycel as ms
from harness import EXECUTIONS, execution

sys.path.append(str(pathlib.Path(__file__).parents[1]))

from tools.errors import in_mindspore, page, record

# Here no framework raises, or MindSpore does not, and mycel takes what MindSpore takes.
ACCEPTED = {"list_for_tensor", "no_path", "checkpoint_keys"}


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_the_page_shows_what_is_said(mode):
    with execution(mode):
        assert page.page() == page.PAGE.read_text("utf-8")


def test_the_page_shows_what_is_said_in_jit():
    assert page.page(ms.jit) == page.PAGE.read_text("utf-8")


def test_there_are_thirty_and_the_others_were_asked_the_same():
    names = record.faults_of(in_mindspore)
    assert len(names) == 30
    records = page.records()
    assert set(records["MindSpore"]["faults"]) == set(records["PyTorch"]["faults"]) == set(names)
    assert set(records["JAX"]["faults"]) < set(names)


@pytest.mark.parametrize("name", record.faults_of(in_mindspore))
def test_a_message_names_the_line_and_no_insides(name):
    said = record.made(record.faults_of(in_mindspore)[name], in_mindspore.__file__)
    assert bool(said["kind"]) is (name not in ACCEPTED)
    text = said["text"] + said.get("note", "")
    habit = name == "backward"  # an attribute that is not there: Python says only which
    assert "train.py:N" in text or name in ACCEPTED or habit
    for inside in ("jax", "lax", "dot_general", "Tracer", "mycel.kernel", "_infer", "XLA"):
        assert inside not in text
