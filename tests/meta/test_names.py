# SPDX-License-Identifier: Apache-2.0
"""Every public name beside the operators is in a test."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re

import pytest

from mycel.compat import alias

FOLDER = pathlib.Path(__file__).parents[1]
SPACES = (
    *("amp", "checkpoint", "common", "communication", "context", "debug", "mindrecord"),
    *("parallel", "runtime", "summary", "train"),
)
WORD = re.compile(r"[A-Za-z_]\w*")
# These list names without calling them.
LISTS = ("signatures.py", "mint_names.py")


@pytest.fixture(scope="module")
def words():
    files = [path for path in FOLDER.rglob("*.py") if path.name not in LISTS]
    return {word for path in files for word in WORD.findall(path.read_text())}


def public(path):
    """What a module shows, and what `from module import *` brings."""
    module = importlib.import_module(path)
    shown = {*alias.public_names(path), *getattr(module, "__all__", dir(module))}
    names = [name for name in shown if not name.startswith("_")]
    return {name for name in names if not inspect.ismodule(getattr(module, name, None))}


@pytest.mark.parametrize("path", ["mycel", *(f"mycel.{space}" for space in SPACES)])
def test_every_public_name_is_in_a_test(path, words):
    # A coarse check, as for operators in tests/ops: the name stands in the source of a test.
    names = public(path)
    assert names
    assert sorted(names - words) == []
