# SPDX-License-Identifier: Apache-2.0
"""What we say about a name that is not there: the nearest thing that is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from mycel.base.version import __version__

ABSENT = "{path} has no {name!r} in mycel {version}{nearest}"
UNKNOWN_MODULE = "There is no module {path} in mycel {version}{nearest}"


def absent_name(path: str, name: str, names: Iterable[str], elsewhere: Iterable[str]) -> str:
    """The text for an attribute that `path` does not have.

    Args:
        path: the module that was asked, as the program spells it.
        name: the attribute that is missing.
        names: what the module does have.
        elsewhere: full paths where the very name does exist.

    Example:
        >>> from mycel.compat.absent import absent_name
        >>> print(absent_name("nn", "Conv2D", ["Conv1d", "Conv2d"], []).split("; ")[1])
        nearest: nn.Conv2d
    """
    found = list(elsewhere) or [f"{path}.{n}" for n in _near(name, names)]
    return ABSENT.format(path=path, name=name, version=__version__, nearest=_nearest(found))


def absent_module(path: str, known: Iterable[str]) -> str:
    """The text for a module path that nothing here serves."""
    found = _near(path, known)
    return UNKNOWN_MODULE.format(path=path, version=__version__, nearest=_nearest(found))


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Names that differ by case only come first, then those spelled alike."""
    names = [n for n in names if not n.startswith("_")]
    same = [n for n in names if n.lower() == name.lower()]
    return same or difflib.get_close_matches(name, names, 3, 0.6)


def _nearest(found: list[str]) -> str:
    return f"; nearest: {', '.join(found)}" if found else ""
