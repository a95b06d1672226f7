# SPDX-License-Identifier: Apache-2.0
"""Docstrings as HTML: plain text with `code`, sections, and examples as sessions of Python."""

from __future__ import annotations

import functools
import html
import re
import textwrap

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer, PythonLexer

SECTION = re.compile(r"^(Args|Args of the call|Attributes|Returns|Raises|Example):$", re.M)
INDENTED = re.compile(r"((?:[ ].*\n?|\n)*)((?:.|\n)*)")
ARGUMENT = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*): (.*)$", re.S)
CODE = re.compile(r"(`[^`\n]+`)")
# What examples may use without importing it.
MODULES = {
    "np": "import numpy as np",
    "ms": "import mycel as ms",
    "ds": "import mycel.dataset as ds",
}
PUBLIC = ("Parameter", "Tensor", "mint", "nn", "ops")
FORMATTER = HtmlFormatter(nowrap=True)
LEXERS = {"python": PythonLexer(), "pycon": PythonConsoleLexer()}


def code_block(code: str, language: str) -> str:
    """Coloured code, marked up as in the pages that are written in Markdown."""
    coloured = highlight(code, LEXERS[language], FORMATTER)
    return f'<div class="codehilite"><pre><code>{coloured}</code></pre></div>'


def inline(text: str) -> str:
    """Plain text, in which only `code` is marked up."""
    parts = CODE.split(text)
    return "".join(
        f"<code>{html.escape(part[1:-1], quote=False)}</code>"
        if part[:1] == "`"
        else html.escape(part, quote=False)
        for part in parts
    )


def described(body: str) -> str:
    """The lines of `Args:` and `Raises:` as a list."""
    lines = []
    for part in re.split(r"\n(?! )", body):
        words = " ".join(part.split())
        found = ARGUMENT.match(words)
        if found:
            named = ", ".join(f"<code>{name}</code>" for name in found[1].split(", "))
            lines.append(f"<li>{named}: {inline(found[2])}</li>")
        else:
            lines.append(f"<li>{inline(words)}</li>")
    return f"<ul>{''.join(lines)}</ul>"


def free_text(text: str) -> str:
    """Paragraphs and lists; indented ones and examples are shown as they stand."""
    written = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith((" ", ">>>")):
            written.append(code_block(textwrap.dedent(paragraph), "pycon"))
        elif re.search(r"^- ", paragraph, re.M):
            before, *points = re.split(r"^- ", paragraph, flags=re.M)
            lines = "".join(f"<li>{inline(point)}</li>" for point in points)
            written.append(f"<p>{inline(before)}</p><ul>{lines}</ul>")
        elif paragraph.strip():
            written.append(f"<p>{inline(paragraph)}</p>")
    return "\n".join(written)


def with_imports(session: str) -> str:
    """An example as it can be run: it begins with what it needs to import."""
    used = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", session))
    lines = [f">>> {line}" for name, line in MODULES.items() if name in used]
    names = [name for name in PUBLIC if name in used]
    if names:
        lines.append(f">>> from mycel import {', '.join(names)}")
    return "\n".join([*(line for line in lines if line not in session), session])


@functools.cache
def to_html(doc: str) -> str:
    """A docstring with its sections."""
    first, *rest = SECTION.split(doc)
    written = [free_text(first)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        inner, outer = INDENTED.match(body.lstrip("\n")).groups()
        inner = textwrap.dedent(inner).strip("\n")
        written.append(f"<h2>{title}</h2>")
        if title == "Example":
            written.append(code_block(with_imports(inner), "pycon"))
        elif title == "Returns":
            written.append(f"<p>{inline(' '.join(inner.split()))}</p>")
        else:
            written.append(described(inner))
        written.append(free_text(outer))
    return "\n".join(part for part in written if part)
