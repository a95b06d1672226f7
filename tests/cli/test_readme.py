# SPDX-License-Identifier: Apache-2.0
"""The README: its tour does what it says, and its two commands are where .ci/run looks for them."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

from mycel.kernel.execute.compile import executables

ROOT = Path(__file__).parents[2]


def test_the_tour_does_what_it_says():
    executables.clear()  # its ledger counts what a new process compiles
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted > 10
    assert not outcome.failed


def test_the_two_commands():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    demo, test = [line for line in lines if line.startswith("python3 -m venv ")]
    assert demo.endswith("mycel demo")
    assert test.endswith("-m pytest")


def test_the_first_program_runs_as_it_is_copied():
    text = (ROOT / "README.md").read_text("utf-8")
    (command,) = re.findall(r"^```sh\n(\S+python - <<'END'\n.*?)^```", text, re.M | re.S)
    command = command.replace(".venv/bin/python", sys.executable, 1)
    printed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    lines = printed.stdout.splitlines()
    # A hook and a gradient for each of five calls, the first two of which are recorded.
    assert [line.split(":")[0] for line in lines[:10]] == ["hook", "gradient"] * 5
    assert "3 calls replayed, 0 run in PyNative, 2 first recordings" in lines[10]
