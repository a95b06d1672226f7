# SPDX-License-Identifier: Apache-2.0
"""A training whose processes are killed and started again. Oracle: the one that nobody breaks.

Three kills here; `MYCEL_KILLS=20 python -m pytest tests/communication/test_restarts.py` takes more.
"""

from __future__ import annotations

import os
import random

import numpy as np

from mycel.cli.main import main
from support import prepared, together

KILLS = int(os.environ.get("MYCEL_KILLS", "3"))
PROGRAM = str(together.HERE / "rank_that_is_killed.py")
STEPS = 24


def train(folder, kills=()) -> int:
    folder.mkdir()
    command = ["launch", "-n", "2", "--here", "--restarts", str(len(kills))]
    command += ["--log-dir", str(folder), "--show", "-1", PROGRAM, str(folder)]
    with prepared.launching_forks():
        return main([*command, *[f"{rank}:{step}" for rank, step in kills]])


def test_weights_are_those_of_a_training_that_nobody_broke(tmp_path, capsys):
    draw = random.Random(KILLS)
    # Later and later, so that each attempt finds what the one before saved, and some before that.
    steps = sorted(draw.sample(range(1, STEPS + 1), min(KILLS, STEPS)))
    kills = [(draw.randrange(2), step) for step in steps]
    assert train(tmp_path / "whole") == 0
    assert train(tmp_path / "broken", kills) == 0
    told = capsys.readouterr().out
    assert told.count("by SIGKILL") == len(kills), told
    for rank in range(2):
        whole, broken = (
            np.load(tmp_path / name / f"end_{rank}.npz") for name in ("whole", "broken")
        )
        assert len(whole.files) == 4
        for name in whole.files:
            np.testing.assert_array_equal(broken[name], whole[name], err_msg=name)
