# SPDX-License-Identifier: Apache-2.0
"""The README: its tour does what it says, and its two commands are where .ci/run looks for them."""

from __future__ import annotations

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tour_does_what_it_says():
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted > 10
    assert not outcome.failed


def test_the_two_commands():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    demo, test = [line for line in lines if line.startswith("python3 -m venv ")]
    assert demo.endswith("mycel demo")
    assert test.endswith("-m pytest")
