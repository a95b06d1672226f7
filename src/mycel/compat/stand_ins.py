# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for names that MindSpore has and mycel lacks: their import succeeds, a use explains.

Only `from mindspore.place import name` gives a stand-in. What asks whether a name is there is told
that it is not: `hasattr`, `getattr`, `importlib.util.find_spec`, and an import in a `try` that
catches the ImportError.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from abc import ABCMeta
from collections.abc import Iterator
from importlib import abc
from types import FrameType, ModuleType

USED = "{text} Its import is fine, but here it is used."
CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
# What is between an import statement and the finder that is asked.
_IMPORTS = {"importlib._bootstrap", "_frozen_importlib"}
_BETWEEN = {"importlib", "importlib._bootstrap_external", "_frozen_importlib_external", *_IMPORTS}


class StandIn(ABCMeta):
    """The type of stand-ins. They are classes, so that programs can subclass and look for them.

    Example:
        >>> from mycel.compat.stand_ins import stand_in
        >>> Plane = stand_in("Plane", "mindspore has no 'Plane' here.")
        >>> class Jet(Plane):
        ...     engines = 2
        >>> Jet.engines, isinstance(3, Plane)
        (2, False)
        >>> Jet()
        Traceback (most recent call last):
        ...
        NotImplementedError: mindspore has no 'Plane' here. Its import is fine, but here it is used.
    """

    explanation: str

    def __call__(cls, *args, **kwargs):
        # A subclass has no explanation of its own: it is made, and decorates nothing.
        if "explanation" in vars(cls) and len(args) == 1 and _is_definition(args[0]):
            return _decorated(args[0], cls.explanation)
        raise NotImplementedError(cls.explanation)

    def __getattr__(cls, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{cls.explanation} (.{name})", name=name, obj=cls)

    def _used(cls, *operands):
        raise NotImplementedError(cls.explanation)

    # A stand-in for a constant must not pass for a true or an empty one.
    __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = __index__ = _used
    __enter__ = __add__ = __radd__ = __sub__ = __mul__ = __lt__ = __gt__ = _used


def stand_in(name: str, text: str, module: str = "mindspore") -> StandIn:
    """A class that raises when it is called, or looked into.

    Args:
        name: what it is called.
        text: what the error says before it says that the import was fine.
        module: where the program has imported it from.
    """
    space = {"explanation": USED.format(text=text), "__module__": module, "__doc__": text}
    return StandIn(name, (), space)


# Each name has one stand-in, whoever imports it.
_every: dict[str, StandIn] = {}


class Loader(abc.Loader):
    """Puts a stand-in where an import looks for a module."""

    def __init__(self, text: str):
        self.text = text

    def create_module(self, spec) -> None:
        """As for any module: what is made here is replaced at once."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the stand-in in its place."""
        path, _, name = module.__name__.rpartition(".")
        if module.__name__ not in _every:
            _every[module.__name__] = stand_in(name, self.text, path)
        sys.modules[module.__name__] = _every[module.__name__]  # type: ignore[assignment]


def made(fullname: str) -> StandIn | None:
    """The stand-in that the last import of a name was given."""
    found = sys.modules.get(fullname)
    return found if isinstance(found, StandIn) else None


def forget(fullname: str) -> None:
    """Let the next import of a name find it anew."""
    if made(fullname) is not None:
        del sys.modules[fullname]


def _is_definition(value) -> bool:
    """Whether a value is what decorators are given."""
    return isinstance(value, type) or type(value).__name__ == "function"


def _decorated(definition, explanation: str):
    """What a stand-in makes of what it decorates: something that explains when it is called."""
    if isinstance(definition, type):
        space = {"explanation": explanation, "__module__": definition.__module__}
        return StandIn(definition.__name__, (), {**space, "__doc__": definition.__doc__})

    @functools.wraps(definition)
    def explains(*args, **kwargs):
        raise NotImplementedError(explanation)

    return explains


def only_asked() -> bool:
    """Whether the import under way only asks if a name is there.

    The statement is read: it stands in a `try`, or a `suppress`, that catches the ImportError. A
    function that calls the importing one is not looked at.
    """
    frame = _asking()
    return frame is not None and frame.f_lineno in _caught_lines(frame.f_code.co_filename)


def by_find_spec() -> bool:
    """Whether `importlib.util.find_spec` asks, which wants None for what is not there."""
    frame = _asking()
    return frame is not None and frame.f_globals.get("__name__") == "importlib.util"


def _asking() -> FrameType | None:
    """The frame that imports, or looks for, what the finder is asked for."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _BETWEEN and not module.startswith("mycel.compat."):
            break
        frame = frame.f_back
    return frame


def in_an_import() -> bool:
    """Whether an import statement, the caller's caller, looks for a name before it loads it."""
    return sys._getframe(2).f_globals.get("__name__") in _IMPORTS


@functools.lru_cache(64)
def _caught_lines(file: str) -> frozenset[int]:
    """The lines of a file whose ImportError is caught where they stand."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return frozenset()
    return frozenset(_lines(tree, False))


def _lines(node: ast.AST, caught: bool) -> Iterator[int]:
    if isinstance(node, ast.stmt) and caught and not hasattr(node, "body"):
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
    for field, below in ast.iter_fields(node):
        inside = caught
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = False
        elif field == "body" and isinstance(node, ast.Try):
            inside = caught or any(_catches(handler.type) for handler in node.handlers)
        elif field == "body" and isinstance(node, ast.With):
            inside = caught or any(_suppresses(item.context_expr) for item in node.items)
        for each in below if isinstance(below, list) else ():
            if isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                yield from _lines(each, inside)


def _catches(kind: ast.expr | None) -> bool:
    return kind is None or bool(_words(kind) & CAUGHT)


def _suppresses(context: ast.expr) -> bool:
    words = _words(context)
    return "suppress" in words and bool(words & CAUGHT)


def _words(node: ast.expr) -> set[str]:
    found = (getattr(each, "id", getattr(each, "attr", None)) for each in ast.walk(node))
    return {word for word in found if word}
