# SPDX-License-Identifier: Apache-2.0
"""What mkdocs calls while it builds the site: see `hooks` in mkdocs.yml.

The pages of docs/ and of families of names are mkdocs' own. Those of single names are thousands:
they go through the same template without mkdocs' bookkeeping, and so do those of source files.
"""

from __future__ import annotations

import html
import json
import logging
import re
from pathlib import Path
from types import SimpleNamespace

from mkdocs.structure.files import File
from notebooks import to_notebook, to_page
from reference import PACKAGE, SOURCES, UP, Reference, source_of

FAMILIES = "reference"
TUTORIALS = "tutorials"
TABLE = re.compile(r"<table>.*?</table>", re.S)
HEAD = re.compile(r"<th[^>]*>(.*?)</th>", re.S)
FIRST_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.S)
# A name and the link around it; one word alone, such as `load`, may be anything.
NAMED = re.compile(
    r"(<a [^>]*>)?<code>(?:(?:mycel|ms)\.([\w.]+)|(\w+\.[\w.]+))(?:\([^<]*\))?</code>"
)
SECTION = re.compile(r'<h([1-3]) id="([^"]*)">(.*?)</h\1>', re.S)
# Long lists of names and numbers: their headings are found, not their words.
LISTS = ("coverage.md", "zoo.md")


class Site:
    """What is known of the site while it is built."""

    reference: Reference
    addresses: dict[str, str]  # of names, without `mycel.` in front
    nav: object
    template: object
    searched: list[list]


def on_files(files, config):
    """Add the pages of families, and those of notebooks that have been run."""
    logging.getLogger("mycel").setLevel(logging.ERROR)  # older names say what they are called now
    Site.reference = Reference()
    Site.addresses = {
        entry.path.removeprefix("mycel."): entry.address for entry in Site.reference.names
    }
    Site.searched = []
    for page, text in Site.reference.family_pages().items():
        files.append(File.generated(config, f"{FAMILIES}/{page}.md", content=text))
    for path in sorted(Path(config.docs_dir, TUTORIALS).glob("*.ipynb")):
        text = to_page(path.read_text("utf-8"))
        files.append(File.generated(config, f"{TUTORIALS}/{path.stem}.md", content=text))
    return files


def on_nav(nav, config, files):
    Site.nav = nav


def on_env(env, config, files):
    Site.template = env.get_template("main.html")


def on_page_markdown(markdown, page, config, files):
    """Examples are sessions of the interpreter, and are coloured as such."""
    if page.file.src_uri.startswith(TUTORIALS):
        page.notebook = page.file.src_uri.replace(".md", ".ipynb")  # lies there as it is
    elif ">>> " in markdown and not page.file.src_uri.startswith(FAMILIES):
        page.notebook = page.file.dest_uri.replace("index.html", f"{page.file.name}.ipynb")
        target = Path(config.site_dir) / page.notebook
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(to_notebook(markdown), "utf-8")
    return re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.M)


def on_page_content(content, page, config, files):
    """Names link to their pages, cells of tables know their columns, and search finds sections."""
    up = "../" * page.url.count("/") or "./"
    is_family = page.file.src_uri.startswith(FAMILIES)
    if not is_family:
        Site.searched += sections(content, page)
    elif page.file.name != "index":
        page.above = [("API reference", f"{FAMILIES}/")]
    return TABLE.sub(label_cells, content if is_family else link_names(content, up))


def sections(content: str, page) -> list[list]:
    """Titles, addresses and texts of a page, for the search."""
    _, *parts = SECTION.split(content)
    found = []
    for level, anchor, title, text in zip(*[iter(parts)] * 4, strict=True):
        said = "" if page.file.src_uri in LISTS else plain(text)
        name = plain(title).removesuffix("¶").strip()
        where = name if level == "1" else f"{name} · {page.title}"
        found.append([where, page.url + ("" if level == "1" else f"#{anchor}"), said, 0])
    return found


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def link_names(content: str, up: str) -> str:
    """`ops.tanh` in the text of a page becomes a link, unless it is in one."""

    def link(found: re.Match) -> str:
        address = Site.addresses.get(found[2] or found[3])
        return found[0] if found[1] or not address else f'<a href="{up}{address}/">{found[0]}</a>'

    return NAMED.sub(link, content)


def label_cells(table: re.Match) -> str:
    """On a phone a row is a list, in which each cell says what its column is called."""
    titles = [html.escape(plain(title)) for title in HEAD.findall(table[0])]
    rows, above = re.split(r"(?=<tr>)", table[0]), ""
    for place, row in enumerate(rows):
        first = FIRST_CELL.search(row)
        if first and not first[1]:  # it goes on with the subject of the row above
            row = row.replace("></td>", f'><span class="again">{above}</span></td>', 1)
        above = first[1] if first and first[1] else above
        columns = iter(titles)
        rows[place] = re.sub(r"<td", lambda _, c=columns: f'<td data-label="{next(c, "")}"', row)
    return "".join(rows)


def on_post_build(config):
    """Write the pages of names and of the source, and what the search looks through."""
    folder = Path(config.site_dir)
    files = set()
    for entry in Site.reference.names:
        family = Site.reference.titles[entry.page]
        write(
            folder / entry.address,
            config,
            title=entry.path,
            above=[("API reference", f"{FAMILIES}/"), (family, f"{FAMILIES}/{entry.page}/")],
            content=link_names(Site.reference.name_page(entry), UP),
        )
        found = source_of(entry.item)
        files |= {found[0]} if found else set()
    for file in sorted(files):
        write(folder / SOURCES / file, config, title=file, above=[], content=source_page(file))
    names = [
        [entry.path, f"{entry.address}/", entry.summary.replace("`", ""), 1]
        for entry in Site.reference.names
    ]
    listed = json.dumps(names + Site.searched, ensure_ascii=False, separators=(",", ":"))
    (folder / "search.js").write_text(f"window.searchEntries = {listed};\n", "utf-8")


def write(folder: Path, config, **page) -> None:
    """A page through the template."""
    folder.mkdir(parents=True, exist_ok=True)
    up = "/".join([".."] * len(folder.relative_to(config.site_dir).parts))
    shown = Site.template.render(
        page=SimpleNamespace(**page), nav=Site.nav, config=config, base_url=up
    )
    (folder / "index.html").write_text(shown, "utf-8")


def source_page(file: str) -> str:
    """A file of the package, with an anchor for every line."""
    lines = html.escape((PACKAGE / file).read_text("utf-8"), quote=False).splitlines()
    shown = "".join(f'<code id="L{n}">{line}</code>' for n, line in enumerate(lines, start=1))
    return f'<h1>mycel/{file}</h1><div class="source"><pre>{shown}</pre></div>'
