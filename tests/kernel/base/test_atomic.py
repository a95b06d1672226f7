# SPDX-License-Identifier: Apache-2.0
"""A file is replaced as a whole or not at all. Oracle: what stands on the disk afterwards, also
after the process that wrote was killed.
"""

from __future__ import annotations

import os
import platform
import signal
import stat
import subprocess
import sys

import pytest

from mycel.kernel.base.atomic import replaced


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_new_file_takes_the_place_of_the_old_one_at_the_end(tmp_path):
    target = tmp_path / "weights.bin"
    target.write_bytes(b"old")
    with replaced(target) as partial:
        partial.write_bytes(b"new")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["weights.bin"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_raises_leaves_the_old_file_alone(tmp_path, error):
    target = tmp_path / "weights.bin"
    target.write_bytes(b"old")
    with pytest.raises(error), replaced(target) as partial:
        partial.write_bytes(b"half of the n")
        raise error
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["weights.bin"]


# A name with the wildcards of `glob`, which is what looks for leftovers.
KILLED = """
import os, signal, sys
from mycel.kernel.base.atomic import replaced
with replaced(sys.argv[1]) as partial:
    partial.write_bytes(b"half of the n")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_process_leaves_the_old_file_and_the_next_one_cleans_up(tmp_path):
    target = tmp_path / "weights[0]*.bin"
    target.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(target)])
    assert killed.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"old"
    (left,) = [name for name in names(tmp_path) if name != target.name]
    assert left.endswith(".part")
    # What a process writes that lives, this one for example, and what is not of this file.
    kept = [f".{target.name}.{platform.node()}-{os.getpid()}-7.part", left.replace("[0]", "0")]
    for name in kept:
        (tmp_path / name).mkdir()
    with replaced(target) as partial:
        partial.write_bytes(b"new")
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == sorted([target.name, *kept])


def test_what_an_interrupt_leaves_is_removed_by_the_next_one(tmp_path, monkeypatch):
    """Oracle: the names in the folder; the interrupt comes while the partial file is removed."""
    target = tmp_path / "weights.bin"

    def interrupted(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(target), "unlink", interrupted)
        with pytest.raises(KeyboardInterrupt), replaced(target) as partial:
            partial.with_name("more").write_bytes(b"more")
    assert [name.endswith(".part") for name in names(tmp_path)] == [True, False]
    with replaced(target) as partial, replaced(tmp_path / "other.bin"):
        partial.write_bytes(b"newer")
        assert sum(name.endswith(".part") for name in names(tmp_path)) == 2
    assert names(tmp_path) == ["other.bin", "weights.bin"]


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    target, link = tmp_path / "weights.bin", tmp_path / "latest.bin"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replaced(link) as partial:
        partial.write_bytes(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_the_file_may_be_read_by_whom_the_system_lets_read_new_files(tmp_path):
    plain, target = tmp_path / "plain.bin", tmp_path / "weights.bin"
    plain.touch()
    with replaced(target) as partial:
        partial.unlink()
        partial.touch(mode=0o600)
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_what_cannot_be_a_file_is_told_before_anything_is_written(tmp_path):
    with (
        pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"),
        replaced(tmp_path),
    ):
        raise AssertionError("the block must not run")
    with (
        pytest.raises(FileNotFoundError, match=r"there is no folder .*absent"),
        replaced(tmp_path / "absent" / "weights.bin"),
    ):
        raise AssertionError("the block must not run")
    assert names(tmp_path) == []


def test_a_name_may_be_as_long_as_the_file_system_takes(tmp_path):
    path = tmp_path / ("n" * 250 + ".ckpt")
    with replaced(path) as partial:
        partial.write_text("whole")
    assert path.read_text() == "whole"
    assert [*tmp_path.iterdir()] == [path]
