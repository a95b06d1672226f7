# SPDX-License-Identifier: Apache-2.0
"""Bring the sources of a program into a cache outside the tree, from GitHub or from a mirror."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

# Where a repository is: a pattern of {owner} and {name}.
ORIGIN = os.environ.get("MYCEL_WILD_ORIGIN", "https://github.com/{owner}/{name}")
CACHE = pathlib.Path(
    os.environ.get("MYCEL_WILD_CACHE", pathlib.Path.home() / ".cache" / "mycel-wild")
)
# What programs run from; pictures, fonts and models of a repository are left behind.
LARGEST = 4_000_000


def repository(name: str, commit: str, below: str = "") -> pathlib.Path:
    """The files of `name` ("owner/name") at `commit`, in the cache.

    Args:
        name: the repository's owner and name on GitHub.
        commit: the commit, in full.
        below: the folder of the repository that is wanted; default, all of it.
    """
    owner, short = name.split("/")
    target = CACHE / "sources" / f"{short}-{commit[:10]}"
    done = target / f".complete-{below.replace('/', '-') or 'all'}"
    if done.exists():
        return target
    bare = _bare(owner, short, commit)
    _write_tree(bare, commit, below, target)
    done.touch()
    return target


def package(name: str, version: str) -> pathlib.Path:
    """The files of a wheel from the package index, unpacked in the cache."""
    target = CACHE / "sources" / f"{name}-{version}"
    done = target / ".complete"
    if done.exists():
        return target
    wheels = CACHE / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels]
    subprocess.run([*command, f"{name}=={version}"], check=True)
    for wheel in wheels.glob(f"{name}-{version}-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    done.touch()
    return target


def _bare(owner: str, short: str, commit: str) -> pathlib.Path:
    """A git directory that has `commit`: the origin itself where that is a folder here."""
    origin = ORIGIN.format(owner=owner, name=short)
    if pathlib.Path(origin).is_dir():
        return pathlib.Path(origin)
    bare = CACHE / "git" / f"{owner}+{short}"
    if not bare.exists():
        bare.mkdir(parents=True)
        _git(bare, "init", "--quiet", "--bare")
    _git(bare, "fetch", "--quiet", "--depth", "1", origin, commit)
    return bare


def _git(bare: pathlib.Path, *arguments: str) -> bytes:
    command = ["git", f"--git-dir={bare}", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def _write_tree(bare: pathlib.Path, commit: str, below: str, target: pathlib.Path) -> None:
    """Write every file of the commit that is there and not too large."""
    listing = _git(bare, "ls-tree", "-r", "-z", commit, *([below] if below else []))
    entries = [entry.split("\t", 1) for entry in listing.decode().split("\0") if entry]
    files = [(meta.split(), path) for meta, path in entries]
    reader = subprocess.Popen(
        ["git", f"--git-dir={bare}", "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert reader.stdin is not None and reader.stdout is not None
    for (mode, kind, name), path in files:
        if kind != "blob" or mode == "120000":
            continue
        reader.stdin.write(f"{name}\n".encode())
        reader.stdin.flush()
        answer = reader.stdout.readline().split()
        if answer[-1] == b"missing":
            continue
        body = reader.stdout.read(int(answer[2]))
        reader.stdout.read(1)
        if len(body) <= LARGEST:
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
    reader.stdin.close()
    reader.wait()


def fresh(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """A copy of a program's folder to run in, so that what it writes stays out of the cache."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target)
    return target
