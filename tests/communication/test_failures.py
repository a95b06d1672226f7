# SPDX-License-Identifier: Apache-2.0
"""Processes of which one does something else. Oracle: `docs/scale.md`, what is promised.

Each of the cases of `rank_that_fails` needs processes of its own: after a failure they do not meet.
"""

from __future__ import annotations

import pytest

import mycel as ms
from support import together

PROGRAM = "rank_that_fails.py"


def run(case: str, folder, **more: str) -> list[together.Rank]:
    command = [str(together.HERE / PROGRAM), case, str(folder)]
    return together.ended(together.start(command, 2, folder, **more), folder)


def place(text: str) -> str:
    return f"{PROGRAM}:{together.line_of(PROGRAM, text)}"


def assert_told(rank: together.Rank, *texts: str) -> None:
    """Assert that a process was told these, gave no number, and could save what it had."""
    found = rank.found
    assert found, rank.text
    for text in texts:
        assert text in found["told"], (text, found["told"])
    assert found["result"] == ""
    assert found["sum"] == found["wanted"]
    assert "cannot be called" in found["again"] and "start all of them again" in found["again"]


MISMATCHES = {
    "order": ("AllReduce(sum)(Float32[4])", "AllGather(Float32[4])"),
    "compiled": ("AllReduce(sum)(Float32[4])", "AllGather(Float32[4])"),
    "shape": ("AllReduce(sum)(Float32[4])", "AllReduce(sum)(Float32[5])"),
    "shape_of_rows": ("ReduceScatter(sum)(Float32[4])", "ReduceScatter(sum)(Float32[6])"),
    "dtype": ("AllReduce(sum)(Float32[4])", "AllReduce(sum)(Int32[4])"),
    "reduction": ("AllReduce(sum)(Float32[4])", "AllReduce(max)(Float32[4])"),
    "batches": ("the end of the epoch(Int64[])", "AllReduce(sum)(Float32[3])"),
    "sizes": ("AllGatherV([4, 4])(Float32[4])", "AllGatherV([5, 4])(Float32[5])"),
    "lengths_dtype": (
        "the lengths of AlltoAllV(Float32[*])(Int64[2, 2])",
        "the lengths of AlltoAllV(Int32[*])(Int64[2, 2])",
    ),
    "root": ("Broadcast(root=0)(Float32[4])", "Broadcast(root=1)(Float32[4])"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_operators_that_do_not_match_name_both_lines(case, tmp_path):
    ranks = run(case, tmp_path)
    words = [
        f"process {rank} calls {text} among [0, 1] at "
        for rank, text in enumerate(MISMATCHES[case])
    ]
    for rank in ranks:
        assert rank.code == 1, rank.text
        assert_told(rank, *words)
        assert rank.found["seconds"] < together.PATIENCE / 4
    if case in ("order", "compiled"):
        for rank in ranks:
            assert_told(rank, *[f"{place(f'order: process {k}')} (in Net.head)" for k in (0, 1)])


# What each process is told where one sends what another does not expect, before anything moves.
SURPRISES = {
    "lengths": "process 0 sends 3 to process 1, which expects 2. What one process sends",
    "lengths_of_lists": "process 1 sends 2 to process 1, which expects 3. What one process sends",
}


@pytest.mark.parametrize("case", SURPRISES)
def test_what_is_sent_and_not_expected_is_told_to_all(case, tmp_path):
    for number, rank in enumerate(run(case, tmp_path)):
        assert rank.code == 1, rank.text
        assert_told(rank, SURPRISES[case], f"in process {number} of 2: ")
        assert_told(rank, "process 0 calls the lengths of", "process 1 calls the lengths of")
        assert rank.found["seconds"] < together.PATIENCE / 4
        if case == "lengths":
            assert_told(rank, place("# lengths"))


def test_a_program_that_only_one_differentiates(tmp_path):
    ranks = run("gradient", tmp_path)
    for rank in ranks:
        assert_told(rank, "process 0 calls AllReduce(sum)", "process 1 calls AllGather")


def test_groups_that_differ_are_found_while_they_wait(tmp_path):
    ranks = run("group", tmp_path)
    for rank in ranks:
        assert_told(rank, "among [0, 1] at", "among [1, 0] at")
        assert rank.found["seconds"] < together.PATIENCE / 4
    # The other one finds it too, or that this one has failed by then.
    assert any("wait for each other" in rank.found["told"] for rank in ranks)


def test_who_stalls_is_named_with_its_line(tmp_path):
    first, second = run("stall", tmp_path, MYCEL_TIMEOUT="5")
    last = "process 1 is at {}, in no operator among processes; the last it called was {}"
    stalls = last.format(f"{together.HERE}/{place('stall: process 1')}", "AllReduce(sum)")
    assert_told(first, "did not come within 5 seconds (MYCEL_TIMEOUT)", stalls)
    assert 5 <= first.found["seconds"] < 12
    # What it then calls is what the other had called: it gets the right sum, and can save.
    assert second.found["result"] == "[2. 2. 2. 2.]"
    assert second.found["sum"] == second.found["wanted"]


@pytest.mark.parametrize(
    ("case", "code", "text"),
    [
        ("end", 0, "process 1 has ended, at the end of its program or by sys.exit; the last it"),
        ("error", 1, "process 1 has ended, by ZeroDivisionError: division by zero"),
        ("kill", -9, "process 1 does not answer"),
    ],
)
def test_who_has_ended_is_not_waited_for(case, code, text, tmp_path):
    first, second = run(case, tmp_path)
    assert_told(first, text, "the last it called" if case != "kill" else "process 0 has failed")
    assert first.found["seconds"] < together.PATIENCE / 4
    # In the case of the end it waits for the first, which keeps the values, and may be ended by it.
    assert case == "end" or second.code == code


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ((), "at the end of its program or by sys.exit"),
        (("-m", "mycel", "run"), "with exit code 1: nothing to read"),
    ],
)
def test_exit_codes_are_the_programs_own(command, told, tmp_path):
    """Oracle: Python, which ends with 1 for a text."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, mycel as ms\nfrom mycel import communication, ops\n"
        "communication.init()\nops.AllReduce()(ops.ones(2))\n"
        "if communication.get_rank(): sys.exit('nothing to read')\n"
        "try: ops.AllReduce()(ops.ones(2))\n"
        "except RuntimeError as error: print(error)\n"
        "sys.exit(5)\n"
    )
    processes = together.start([*command, str(program)], 2, tmp_path)
    first, second = together.ended(processes, tmp_path)
    assert (first.code, second.code) == (5, 1), (first.text, second.text)
    assert f"process 1 has ended, {told}" in " ".join(first.text.split()), first.text
    assert "nothing to read" in second.text


def test_a_training_saves_by_itself_when_another_process_is_killed(tmp_path):
    """Oracle: the weights that the network has then."""
    first, second = run("training", tmp_path)
    assert_told(first, "process 0 has failed in AllReduce(sum)", "process 1 does not answer")
    assert second.code == -9
    (kept,) = (tmp_path / "kept_0").glob("*.ckpt")
    assert float(ms.load_checkpoint(str(kept))["weight"].sum()) == first.found["wanted"]


def test_all_save_when_one_is_asked_to_end(tmp_path):
    """Oracle: both have the weights of one step, the next or the one behind it."""
    first, second = run("asked_to_end", tmp_path)
    assert first.code == second.code == 0, (first.text, second.text)
    assert first.found["result"] == second.found["result"] != "", first.text
    assert first.found["result"].startswith(("(3,", "(4,")), first.found
    # Where one of the files is lost, they would train on with other weights.
    (tmp_path / "asked/rank_0/Net_train.ckpt").unlink()
    for rank in run("asked_to_end", tmp_path):
        assert rank.code == 1 and "others have not" in rank.found["told"], rank.text
