# SPDX-License-Identifier: Apache-2.0
"""The documents: examples are executed as they stand, links lead somewhere, and the pictures are
drawn again. Oracle of the drawn numbers: the slope of a sigmoid is at most 1/4, and the table of
measurements in performance.md.
"""

from __future__ import annotations

import doctest
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEXTS = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [path for path in TEXTS[1:] if ">>>" in path.read_text()]
LINK = re.compile(r"\]\(([^)\s#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page):
    results = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted > 0
    assert results.failed == 0


def links(page: pathlib.Path) -> list[pathlib.Path]:
    """What a page links to within the repository; test_site.py follows links to the reference."""
    found = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    pages = [page.parent / link for link in found if not link.startswith("reference/")]
    # The pages of notebooks are made of them.
    return [p.with_suffix(".ipynb") if p.parent.name == "tutorials" else p for p in pages]


def test_where_md_quotes_what_is_there():
    quoted = re.findall(r"^(kinds|sources)\.py +(.*)$", (DOCS / "where.md").read_text(), re.M)
    assert len(quoted) == 4
    for name, line in quoted:
        source = (ROOT / "src/mycel/kernel/prove" / f"{name}.py").read_text()
        assert line in map(str.strip, source.splitlines())


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links(page):
    assert [str(target) for target in links(page) if not target.exists()] == []


def test_every_picture_is_shown_and_well_formed():
    pictures = sorted((DOCS / "pictures").glob("*.svg"))
    shown = {target.resolve() for page in TEXTS for target in links(page)}
    assert pictures
    for picture in pictures:
        assert picture.resolve() in shown
        assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_picture_of_gradient_norms_is_drawn_again(tmp_path):
    described = importlib.util.spec_from_file_location("draw", DOCS / "pictures" / "draw.py")
    draw = importlib.util.module_from_spec(described)
    described.loader.exec_module(draw)
    sigmoid = draw.gradient_norms(*draw.NETWORKS["Sigmoid, Xavier"][:2])
    assert len(sigmoid) == draw.LAYERS
    assert sigmoid[0] / sigmoid[-1] < 4.0 ** -(draw.LAYERS - 2)
    relu = draw.gradient_norms(*draw.NETWORKS["ReLU, He"][:2])
    assert max(relu) / min(relu) < 2
    draw.draw_gradient_norms(tmp_path / "drawn.svg")
    text = (tmp_path / "drawn.svg").read_text()
    assert all(name in text for name in draw.NETWORKS)


def test_the_charts_show_what_was_measured():
    """The table of performance.md, its chart, and what the front page says of its three."""
    folder, page = ROOT / "tools" / "pictures", (DOCS / "performance.md").read_text("utf-8")
    rows = page.partition("<!-- as far as here -->")[0].splitlines()
    table = {row.split("|")[1].strip(): row for row in rows if row.startswith("| ")}
    measured = json.loads((folder / "measured.json").read_text("utf-8"))
    assert measured
    for row in measured:
        if row["lane"] == "graph":
            low, middle, high = (f"{value:.2f}" for value in row["ratio"])
            assert f"{middle} [{low}, {high}]" in table[row["title"]].replace("*", "")
    for work in json.loads((folder / "benchmarks.json").read_text("utf-8"))["works"]:
        ratio = next(numbers[0] for name, *numbers in work["lanes"] if name == "mycel, Graph")
        for front in (ROOT / "README.md", DOCS / "index.md"):
            shown = next(
                line
                for line in front.read_text().splitlines()
                if f"bench_{work['file']}.svg" in line
            )
            assert f" {ratio:.2f} times" in shown


def test_the_pictures_of_the_front_page_are_drawn_again(tmp_path):
    """The moving one runs its program in both modes: what it shows is what is printed today."""
    command = [sys.executable, "-m", "tools.pictures", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    drawn = {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()}
    assert "modes.svg" in drawn
    for name, text in drawn.items():
        assert text == (DOCS / "pictures" / name).read_text("utf-8"), (
            "run `python -m tools.pictures`"
        )
