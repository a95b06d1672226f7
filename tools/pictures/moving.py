# SPDX-License-Identifier: Apache-2.0
"""The picture that moves: a program, what it prints in both modes, and where its NaN comes from.

Everything that looks printed is printed: program.txt is run here, line by line and compiled. What
other frameworks say was recorded by others/record.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

from pygments.lexers import PythonLexer
from pygments.token import Keyword, Name, Number, String

from tools.pictures.svg import WIDTH, picture, text

PROGRAM = Path(__file__).parent / "program.txt"
RECORDED = Path(__file__).parent / "others" / "recorded.json"
FRAMEWORKS = {
    "torch": "PyTorch {}, torch.compile, detect_anomaly",
    "jax": "JAX {}, jax.jit, debug_nans",
}
SEARCH = """\
with ms.debug.find_nan():
    step(Tensor([0., 0.]))
"""
# The search as it is run, and how much of its error there is room for.
SEARCHED = f"""
try:
{textwrap.indent(SEARCH, "    ")}
except FloatingPointError as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""
ERROR_LINES = 3
COLUMNS, LINE, TOP = 48, 20, 40
# Seconds: both modes are shown first, then the others, then the search.
SECONDS, OTHERS, FOUND = 20.0, 8.5, 13.5
KINDS = ((Keyword, "k"), (String, "s"), (Number, "s"), (Name.Class, "n"), (Name.Function, "n"))


def printed(*options: str, more: str = "") -> list[str]:
    """What the program prints, compiled as users compile; `more` is written below it."""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "train.py"
        file.write_text(PROGRAM.read_text("utf-8") + more, "utf-8")
        command = [sys.executable, str(file), *options]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.replace(f"{folder}{os.sep}", "").splitlines()


def coloured(line: str) -> str:
    """A line of Python with the classes of its colours."""
    parts = []
    for kind, word in PythonLexer(stripnl=False, ensurenl=False).get_tokens(line):
        name = next((name for token, name in KINDS if kind in token), "")
        parts.append(f'<tspan class="{name}">{escape(word)}</tspan>' if name else escape(word))
    return "".join(parts)


class Film:
    """Lines that appear at a moment and stay until another, over and over."""

    def __init__(self):
        self.parts: list[str] = []
        self.rules: dict[str, str] = {}

    def between(self, start: float, end: float) -> str:
        """The class of what is visible from one second to another."""
        name = f"t{start:g}to{end:g}".replace(".", "_")
        self.rules[name] = _appears(name, start, end)
        return name

    def line(self, x: float, y: float, content: str, classes: str, start: float, end: float):
        """Plain text."""
        self.parts.append(text(x, y, content, f"{classes} {self.between(start, end)}"))


def _appears(name: str, start: float, end: float) -> str:
    """Opacity jumps. What is there at the end is all that a reader without motion sees."""
    on, off = (100 * moment / SECONDS for moment in (start, end))
    stays = end >= SECONDS
    rest = "" if stays else f"{off:.2f}%,100%{{opacity:0}}"
    return (
        f".{name}{{opacity:{int(stays)}}}@media(prefers-reduced-motion:no-preference)"
        f"{{.{name}{{animation:{name} {SECONDS:g}s step-end infinite}}}}"
        f"@keyframes {name}{{0%{{opacity:0}}{on:.2f}%{{opacity:1}}{rest}}}"
    )


def wrapped(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, COLUMNS, subsequent_indent=indent + "  ")


def show_modes(shown: Film, top: float) -> None:
    """What is printed in PyNative mode and in Graph mode, side by side."""
    modes = (("PyNative: line by line", ()), ("Graph: compiled", ("--jit",)))
    for x, (title, options) in zip((20, WIDTH / 2 + 10), modes, strict=True):
        shown.line(x, top, title, "bold ours", 0.5, OTHERS)
        for place, line in enumerate(printed(*options), start=1):
            kind = "bad bold" if "nan" in line else "ink"
            shown.line(x, top + LINE * place, line, f"mono {kind}", 0.5 + 0.5 * place, OTHERS)


def show_others(shown: Film, top: float) -> None:
    """What other frameworks say of the same NaN."""
    shown.line(20, top, "What others say, compiled", "bold ink", OTHERS, FOUND)
    y = top
    for name, title in FRAMEWORKS.items():
        recorded = json.loads(RECORDED.read_text("utf-8"))[name]
        line = "its traceback names the line" if recorded["names_the_line"] else "no line is named"
        titled = title.format(".".join(recorded["version"].split(".")[:2]))
        said = [(part, "mono ink") for part in wrapped(recorded["error"])]
        for content, kind in [(titled, "soft"), *said, (f"({line})", "soft")]:
            y += LINE
            shown.line(20, y, content, kind, OTHERS, FOUND)


def show_search(shown: Film, top: float) -> None:
    """The search for NaN in the compiled program, and the line that it finds."""
    found = printed("--jit", more=SEARCHED)
    error = found[next(n for n, line in enumerate(found) if "Error: " in line) :]
    number = int(error[0].partition("train.py:")[2].partition(" ")[0])
    visible = shown.between(FOUND, SECONDS)
    shown.parts.insert(
        0,
        f'<rect class="mark {visible}" x="12" y="{TOP + LINE * (number - 1) - 15}" '
        f'width="{WIDTH - 24}" height="{LINE}" rx="3"/>',
    )
    shown.line(20, top, "mycel, compiled", "bold ours", FOUND, SECONDS)
    lines = [(line, "ink") for line in SEARCH.splitlines()]
    lines += [(part, "bad") for line in error[:ERROR_LINES] for part in wrapped(line)]
    for place, (line, kind) in enumerate(lines, start=1):
        shown.line(20, top + LINE * place, line, f"mono {kind}", FOUND, SECONDS)


def film() -> str:
    """The program above; below it, one after the other, what is said of it."""
    shown = Film()
    program = PROGRAM.read_text("utf-8").splitlines()
    for place, line in enumerate(program):
        y = TOP + LINE * place
        shown.parts.append(f'<text x="20" y="{y}" class="mono ink">{coloured(line)}</text>')
    shown.parts.append(text(WIDTH - 20, TOP, "train.py", "soft small", ' text-anchor="end"'))
    end = TOP + LINE * len(program)
    shown.parts.append(f'<path class="rule" d="M20 {end - 6}H{WIDTH - 20}"/>')
    top = end + 22
    show_modes(shown, top)
    show_others(shown, top)
    show_search(shown, top)
    title = (
        "A program prints the same in PyNative mode and compiled, with its hook, and makes a NaN. "
        "Then what other frameworks say of the NaN, and what mycel says: the operator, the line, "
        "the Cell and the inputs."
    )
    return picture(top + LINE * 9 + 18, title, shown.parts, "".join(shown.rules.values()))
