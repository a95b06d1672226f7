# SPDX-License-Identifier: Apache-2.0
"""The log: what is said once, and at which level. Oracle: the records of Python's logging."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from mycel.compat import coverage
from mycel.kernel.base import log, variables


@pytest.fixture
def said(caplog, monkeypatch):
    """The messages and levels of a block, as of a process that has said nothing yet."""
    monkeypatch.setattr(log, "_noted", set())
    with caplog.at_level(logging.DEBUG, logger="mycel"):
        yield lambda: [(r.levelname, r.getMessage()) for r in caplog.records]


def test_a_note_is_said_once(said):
    for _ in range(3):
        log.note_once("nothing to do")
    log.note_once("something else")
    assert said() == [("INFO", "nothing to do"), ("INFO", "something else")]


def test_only_a_setting_that_asks_for_something_is_a_warning(said):
    for _ in range(2):
        log.without_effect("set_context", {"a": True, "b": False, "c": "far", "d": ""})
    assert said() == [
        ("WARNING", "set_context(a=True, c='far') has no effect here"),
        ("INFO", "set_context(b=False, d='') has no effect here"),
    ]


def test_an_older_name_is_told_its_newer_one(said):
    log.older("ops.TensorAdd", "ops.Add")
    log.older("ops.TensorAdd", "ops.Add")
    assert said() == [("WARNING", "ops.TensorAdd is an older name; write ops.Add.")]


PROGRAM = "from mycel.kernel.base.log import logger; logger.info('i'); logger.error('e')"


@pytest.mark.parametrize(
    ("level", "shown"), [("1", ["[INFO]", "[ERROR]"]), ("3", ["[ERROR]"]), ("4", [])]
)
def test_the_environment_chooses_what_is_shown(level, shown):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"GLOG_v": level, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[0] for line in done.stderr.splitlines()] == shown


def test_a_block_without_notes_leaves_none(said):
    with log.without_notes():
        log.older("ops.TensorAdd", "ops.Add")
    assert said() == []
    log.older("ops.TensorAdd", "ops.Add")
    assert said() == [("WARNING", "ops.TensorAdd is an older name; write ops.Add.")]


def test_the_list_of_names_is_no_use_of_older_ones(said):
    coverage.report()
    assert [text for level, text in said() if level == "WARNING"] == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("MYCEL_DEVICE", "XPU", "no device has this name: write CPU or GPU or TPU or Ascend, or"),
        ("MYCEL_CHECK_NUMERICS", "off", "numerics are checked: write 0 or 1, or unset it."),
        ("MYCEL_PROGRESS", "none", "progress is shown: write 0 or 1 or off or on, or unset it."),
        ("MYCEL_TRACEBACK", "long", "tracebacks are short: write full, or unset it."),
        ("MYCEL_HEAP", "two", "freed memory is kept: write one or off, or unset it."),
        ("MYCEL_NATIVE", "no", "functions in C++ are used: write off, or unset it."),
        ("MYCEL_DEVICE", "CPU", None),
        ("MYCEL_PROGRESS", "off", None),
        ("MYCEL_TRACEBACK", "", None),
    ],
)
def test_a_word_that_a_variable_does_not_know_is_told(name, value, told, said):
    variables.tell_unknown({name: value})
    text = f"{name}={value!r} means nothing here, and {told}"
    assert [m.startswith(text) for _, m in said()] == ([] if told is None else [True])
