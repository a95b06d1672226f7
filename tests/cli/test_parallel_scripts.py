# SPDX-License-Identifier: Apache-2.0
"""Whole programs for several processes, as users write them, by two under `mycel launch`.

Oracle: the same program by one process on the whole batch: it prints the same figures.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from mycel.cli.main import main
from support import prepared

SCRIPTS = Path(__file__).parents[1] / "scripts"
GRAPH, PYNATIVE = "0", "1"
NUMBER = r"(-?\d+(?:\.\d+)?)"
# What each prints, besides the sum of the weights.
FIGURES = {
    "parallel_functional": ("loss:",),
    "parallel_loss_scale": ("skipped:", "scale:"),
    "parallel_mint": ("loss:",),
    "parallel_model_train": ("accuracy:",),
    "parallel_tensors": ("loss:",),
}


def figures(text: str, name: str) -> list[float]:
    """The numbers behind the words of a program, in their order."""
    return [
        float(found)
        for words in (*FIGURES[name], "sum of weights:")
        for found in re.findall(f"{words} {NUMBER}", text)
    ]


def run(*command: str) -> str:
    done = prepared.run(["-m", "mycel", *command], env={**os.environ, "MYCEL_DEVICE": "CPU"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", FIGURES)
def test_two_processes_print_what_one_does(name, tmp_path, capsys):
    script = str(SCRIPTS / f"{name}.py")
    wanted = figures(run("run", script), name)
    assert len(wanted) >= 2
    for mode in (GRAPH, PYNATIVE):
        logs = ["--log-dir", str(tmp_path)]
        command = ["launch", "-n", "2", "--here", *logs, "--show", "-1"]
        with prepared.launching_forks():
            code = main([*command, script, "--distribute", "--mode", mode])
        assert code == 0, capsys.readouterr().out
        texts = [(tmp_path / f"worker_{rank}.log").read_text() for rank in range(2)]
        np.testing.assert_allclose(figures(texts[0], name), wanted, 1e-3, 1e-3)
        # Some figures are printed by the first process only; the weights are those of all.
        assert figures(texts[1], name)[-1] == pytest.approx(wanted[-1], 1e-3)
