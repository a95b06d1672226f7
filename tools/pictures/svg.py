# SPDX-License-Identifier: Apache-2.0
"""What the pictures share: a card, light or dark as the reader's screen, and its colours."""

from __future__ import annotations

from html import escape

WIDTH = 480
EDGES = ("#d9dfdd", "#35403d")
MONOSPACE = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
# Classes and their colours on light and on dark paper.
COLORS = {
    "card": ("#ffffff", "#141a19"),
    "ink": ("#1d2624", "#e4eae8"),
    "soft": ("#5b6a66", "#a3b1ad"),
    "ours": ("#0f8a7e", "#35b3a5"),
    "theirs": ("#a9b5b1", "#5d6b67"),
    "bad": ("#b3261e", "#f2938c"),
    "k": ("#a0379b", "#dd9ad9"),
    "s": ("#2f7a1f", "#9ccf87"),
    "n": ("#1f5fbf", "#8bb8f5"),
    "mark": ("#fbe3c0", "#4d3c17"),
}


def style(extra: str = "") -> str:
    """The style sheet of a picture."""
    light = "".join(f".{name}{{fill:{colors[0]}}}" for name, colors in COLORS.items())
    dark = "".join(f".{name}{{fill:{colors[1]}}}" for name, colors in COLORS.items())
    borders = [f".card,.rule{{stroke:{color}}}" for color in EDGES]
    return (
        f"<style>text{{font:15px {SANS};white-space:pre}}.mono{{font-family:{MONOSPACE}}}"
        f".small{{font-size:13px}}.bold{{font-weight:650}}{light}{borders[0]}{extra}"
        f"@media(prefers-color-scheme:dark){{{dark}{borders[1]}}}</style>"
    )


def picture(height: int, title: str, parts: list[str], extra: str = "") -> str:
    """An SVG file with a card behind everything; `title` is what is read aloud."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">\n<title>{escape(title)}</title>\n'
        f'{style(extra)}\n<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" '
        f'height="{height - 1}" rx="10"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def text(x: float, y: float, content: str, classes: str = "ink", more: str = "") -> str:
    """A line of text; `content` is plain."""
    return f'<text x="{x:g}" y="{y:g}" class="{classes}"{more}>{escape(content)}</text>'
