# SPDX-License-Identifier: Apache-2.0
"""The folders of tests/ are those of src/mycel/. Oracle: the two trees; tests/README.md says why
where they differ.
"""

from __future__ import annotations

import pathlib

import pytest

import mycel as ms

SOURCE = pathlib.Path(ms.__file__).parent
TESTS = pathlib.Path(__file__).parents[1]

# Folders here that have another name there, or stand for the whole.
NAMED_APART = {"numpy_api": "numpy", "scipy_api": "scipy"}
OF_THE_WHOLE = {"device", "fixtures", "meta", "natural", "scripts", "support", "wild", "zoo"}
# Folders there, and the test that stands in another folder here.
TESTED_IN = {
    "mindrecord": "dataset/test_files.py",
}
# Texts of signatures, which are written by tools.stubs.
GENERATED = {"signatures"}


def folders(root: pathlib.Path) -> set[str]:
    """The folders with Python in them, and those of the kernel as `kernel/base`."""
    parents = [root, root / "kernel"]
    found = [path for parent in parents for path in parent.iterdir() if path.is_dir()]
    return {str(path.relative_to(root)) for path in found if any(path.rglob("*.py"))}


@pytest.mark.parametrize("name", sorted(folders(TESTS) - OF_THE_WHOLE))
def test_a_folder_of_tests_is_of_a_folder_of_the_source(name):
    assert (SOURCE / NAMED_APART.get(name, name)).is_dir()


@pytest.mark.parametrize("name", sorted(folders(SOURCE) - GENERATED))
def test_a_folder_of_the_source_has_tests(name):
    here = {NAMED_APART.get(folder, folder): folder for folder in folders(TESTS)}
    if name in TESTED_IN:
        assert name not in here, "it has a folder of its own by now"
        assert name in (TESTS / TESTED_IN[name]).read_text()
        return
    assert name in here
    assert any((TESTS / here[name]).rglob("test_*.py"))


def test_the_root_holds_tests_and_what_every_test_calls():
    helpers = {path.name for path in TESTS.glob("*.py") if not path.name.startswith("test_")}
    assert helpers == {"conftest.py", "harness.py", "check_cell.py"}


def test_every_exception_is_told_in_the_readme():
    text = (TESTS / "README.md").read_text()
    for name in {*NAMED_APART, *OF_THE_WHOLE, *TESTED_IN}:
        assert f"`{name}/`" in text, name
