# SPDX-License-Identifier: Apache-2.0
"""The documents' examples are executed as they stand."""

from __future__ import annotations

import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).parent.parent / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if ">>>" in path.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page):
    results = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted > 0
    assert results.failed == 0
