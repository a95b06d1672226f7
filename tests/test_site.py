# SPDX-License-Identifier: Apache-2.0
"""The site: it is built strictly, shows every page, and its reference has every public name.

Oracle: the pages of docs/, and the names that the namespaces themselves list.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mycel as ms

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
HEADING = re.compile(r'<h[1-4] id="([^"]+)"')
CODE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
# Commands for a shell, and lines of a file that the page names.
OTHER_LANGUAGES = {"sh", "text"}
SAID = [
    ("ops.tanh", "ops.tanh(input)", "The hyperbolic tangent"),
    ("ops.Conv2D", "out_channel=None,", ")(x, weight)"),
    ("ops.argmax", "ops.argmax(input, dim=None, keepdim=False)", "The index of the largest"),
    ("nn.Dense", "in_channels,", "weight_init, bias_init: initialisers"),
    ("nn.Cell.set_train", "nn.Cell.set_train(mode=True)", "into training"),
    ("Tensor.sum", "Tensor.sum(", "The sum over some dimensions"),
    ("train.Model", "train.Model(", "metrics: for eval and fit: names of metrics in a set"),
    ("mycel.value_and_grad", "fn, grad_position=0,", "A function that returns what fn returns"),
    ("ops.value_and_grad", "fn, grad_position=0,", "See mycel.value_and_grad"),
]


def test_the_site(tmp_path):
    """One test, so that the site is built once: strictly, so that no link leads nowhere."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr

    for page in PAGES:
        folder = tmp_path if page.stem == "index" else tmp_path / page.stem
        check_page(page, folder / "index.html")
    check_reference(entries_of(tmp_path / "reference"))


def check_page(page: Path, shown: Path) -> None:
    """A page is there, whole, and fetches nothing from elsewhere."""
    text, source = shown.read_text("utf-8"), page.read_text("utf-8")
    assert re.search(r"^# (.+)$", source, re.M)[1] in without_markup(text)
    assert len(re.findall(r"<h2 ", text)) == len(re.findall(r"^## ", source, re.M)), page.name
    elsewhere = r'<(?:script|img|source|link rel="stylesheet")[^>]*(?:src|href)="(http[^"]+)"'
    assert re.findall(elsewhere, text) == [], page.name


def check_reference(entries: dict[str, str]) -> None:
    """Every name has an entry, with its signature and what its docstring says."""
    for namespace in ("ops", "nn", "mint", "train", "amp"):
        module = getattr(ms, namespace)
        names = [f"{namespace}.{n}" for n in module.__all__ if callable(getattr(module, n))]
        assert [name for name in names if name not in entries] == []
    for name, signature, said in SAID:
        assert signature in entries[name]
        assert said in entries[name]


def entries_of(folder: Path) -> dict[str, str]:
    """The text below each heading of the reference."""
    found = {}
    for page in sorted(folder.rglob("*.html")):
        _, *parts = HEADING.split(page.read_text("utf-8"))
        found.update(zip(parts[::2], map(without_markup, parts[1::2]), strict=True))
    return found


def without_markup(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_python_is_one_that_the_tests_execute(page):
    for language, code in CODE.findall(page.read_text("utf-8")):
        assert language in OTHER_LANGUAGES or code.startswith(">>> "), code
