# SPDX-License-Identifier: Apache-2.0
"""Every `raise` in the package says something to the user: what is wrong, in plain words, with
what was given. Oracle: the rules below, on the text of the sources; what a name such as `MISSING`
stands for is read from the module that defines it.
"""

from __future__ import annotations

import ast
import importlib
import pathlib
import re
from typing import NamedTuple

import pytest

import mycel as ms

SOURCE = pathlib.Path(ms.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# The classes that reach users: Python's, and those that the documentation names.
PUBLIC = {
    *("ValueError", "TypeError", "RuntimeError", "NotImplementedError", "AttributeError"),
    *("ImportError", "ModuleNotFoundError", "KeyError", "IndexError", "OSError", "OverflowError"),
    *("FileNotFoundError", "IsADirectoryError", "AssertionError", "argparse.ArgumentTypeError"),
    *("OutOfRangeError", "NoIntegersError", "HookOrderError", "BudgetError", "NonFiniteError"),
    "TogetherError",
    *("MRMOpenError", "MRMInvalidSchemaError", "MRMGetMetaError", "MRMDefineIndexError"),
}
# Those that are caught within the package or leave it as something else, by what they say.
INNER = {
    *("Elsewhere", "Tripped", "NotFinite", "TooLarge", "StopIteration", "Refused", "NeedsValues"),
    *("_NoProgram", "_Missing", "Differs", "LookupError", "Unknown", "NotPadded"),
    *("Deadlock", "Mismatch", "TimeoutError", "SystemExit", "MissingAttribute"),
}
# In these the class is an argument of the function around the `raise`.
CHOSEN = {"kind", "excp_cls", "TypeError if original.__class__ is list else IndexError"}
# Functions that make the error. `wrong` says "{what} must be {expected}, but {actual} was given at
# {place}", so its first two texts must be there; the others are short and seen in their module.
WRONG = {"wrong", "errors.wrong"}
# Raised without a text because the next line catches it: the function, and who catches it.
WITHOUT_TEXT = {
    "kernel/prove/sources.py": "what asks for the attributes, items or keys of a source",
}

# Two texts are joined, which are made and tested in their module.
JOINED = {"{}. {}", "{} (.{})", "patch at {} (at {}): {} {}. {}"}
# A text has words beside what is filled in, and none of these that users do not know.
LETTERS = 12
PRIVATE = re.compile(
    r"(?<![\w.`'\"{}])_[a-z]\w*|\bmycel\.kernel\b|\bavals?\b|\bjaxprs?\b|\b[Tt]racers?\b|\blax\b"
)
# Methods that the user is to write, by the names that MindSpore gives them.
TO_WRITE = {"_execute_py", "_initialize"}


class Raised(NamedTuple):
    """One `raise`.

    Attributes:
        where: the file and line.
        function: the function around it, as an element of the tree.
        kind: the class, or what makes the error.
        texts: the constant words of what it is given; None for what is made elsewhere.
        is_wrong: whether `wrong` makes it.
    """

    where: str
    function: ast.AST | None
    kind: str
    texts: list[str | None]
    is_wrong: bool


def words_of(node: ast.AST, names: dict) -> str | None:
    """The constant words of a text; None if it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        return "".join(map(str, parts))
    if isinstance(node, ast.BinOp):
        known = [words_of(side, names) for side in (node.left, node.right)]
        return " ".join(filter(None, known)) or None
    if isinstance(node, ast.Call):
        function = node.func
        formats = isinstance(function, ast.Attribute) and function.attr == "format"
        return words_of(function.value, names) if formats else None  # type: ignore
    if isinstance(node, ast.IfExp):
        return words_of(node.body, names)
    value = names.get(ast.unparse(node))
    return value if isinstance(value, str) else None


def names_in(path: pathlib.Path) -> dict[str, object]:
    """The texts that a module knows by name, also those of a module it names, as `errors.WRONG`."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(p for p in parts if p != "__init__"))
    known = {name: value for name, value in vars(module).items() if isinstance(value, str)}
    for owner, inner in vars(module).items():
        if getattr(inner, "__name__", "").startswith("mycel") and hasattr(inner, "__file__"):
            known |= {f"{owner}.{n}": v for n, v in vars(inner).items() if isinstance(v, str)}
    return known


def parents_of(tree: ast.AST):
    """Every `raise` with the function around it."""

    def walk(node, function):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Raise):
                yield child, function
            inner = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from walk(child, child if inner else function)

    yield from walk(tree, None)


def raises(path: pathlib.Path):
    """Every `raise` of a file that makes an exception there, or names the class of one."""
    names = None
    for node, function in parents_of(ast.parse(path.read_text("utf-8"))):
        made = node.exc
        where = f"{path.relative_to(SOURCE)}:{node.lineno}"
        if isinstance(made, ast.Call):
            names = names_in(path) if names is None else names
            kind, given = ast.unparse(made.func), made.args
            is_wrong = kind in WRONG
            if is_wrong:
                keywords = {k.arg: k.value for k in made.keywords}
                kind = ast.unparse(made.args[0])
                given = [
                    made.args[i] if i < len(made.args) else keywords[name]
                    for i, name in ((1, "what"), (2, "expected"))
                ]
            yield Raised(where, function, kind, [words_of(g, names) for g in given], is_wrong)
        elif made is not None and (ast.unparse(made) in PUBLIC | INNER):
            yield Raised(where, function, ast.unparse(made), [], False)


def letters(text: str) -> int:
    return sum(character.isalpha() for character in text)


EVERY = [path for path in FILES if "children" not in path.parts and path.name != "__main__.py"]


@pytest.mark.parametrize("path", EVERY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_raise_says_what_is_wrong(path):
    for raised in raises(path):
        assert not faults_of(raised), (raised.where, faults_of(raised))


def faults_of(raised: Raised) -> list[str]:
    """What is wrong with a `raise`."""
    is_class = raised.kind in PUBLIC | CHOSEN
    made_elsewhere = not is_class and raised.kind not in INNER and not raised.is_wrong
    if raised.kind in INNER or made_elsewhere:
        return (
            []
            if raised.kind in INNER or raised.kind.lstrip("_")[0].islower()
            else ["an unknown class"]
        )
    if not raised.texts:
        file = raised.where.partition(":")[0]
        name = getattr(raised.function, "name", "")
        excused = {file, f"{file}:{name}"} & set(WITHOUT_TEXT)
        return [] if excused else ["no text"]
    faults = []
    known = [text for text in raised.texts if text is not None]
    if raised.is_wrong and "" in known:
        faults.append("nothing is named, or nothing is expected")
    elif not raised.is_wrong and raised.texts[0] is not None and letters(known[0]) < LETTERS:
        if known[0] in JOINED:
            return []
        faults.append("too few words")
    inside = set(PRIVATE.findall(" ".join(known))) - TO_WRITE
    return faults + [f"a name from inside: {name}" for name in sorted(inside)]


@pytest.mark.parametrize(
    "program",
    [
        "raise ValueError",
        "raise ValueError('')",
        "raise ValueError(f'{x}')",
        "raise TypeError('the aval of x is wrong, give another')",
        "raise TypeError('_check found what it did not want')",
        "raise wrong(ValueError, '', 'a number', x)",
        "raise Strange('a class that no list has, with a text')",
    ],
)
def test_the_rules_can_fail(program, tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(f"def function(x):\n    print(x)\n    print(x)\n    {program}\n")
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    monkeypatch.setattr(f"{__name__}.names_in", lambda path: {})
    (raised,) = raises(path)
    assert faults_of(raised)


def test_the_excused_are_there():
    found = {raised.where.partition(":")[0] for path in EVERY for raised in raises(path)}
    assert {name.partition(":")[0] for name in WITHOUT_TEXT} <= found
