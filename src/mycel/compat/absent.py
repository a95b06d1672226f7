# SPDX-License-Identifier: Apache-2.0
"""What we say about a name that is not there: the nearest thing that is, and why."""

from __future__ import annotations

import difflib
import functools
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from mycel.base.version import __version__

ABSENT = "{path} has no {name!r} in mycel {version}{nearest}"
UNKNOWN_MODULE = "There is no module {path} in mycel {version}{nearest}"
# Paths below `mindspore`, and why nothing is there; the first pattern that fits counts.
WHY = {
    "nn.probability*": "Distributions and Bayesian layers are no part of mycel.",
    "dataset.audio*": "Operations on sound are no part of mycel.",
    "dataset.*Dataset": "Of the data sets with a format of their own, only some are here.",
    "rewrite*": "A network is an object of Python here; change its Cells instead.",
    "boost*": "What it speeds up in MindSpore is compiled here anyway.",
    "nn.*[tT]hor": "Second-order optimisers are no part of mycel.",
    "*[Qq]uant*": "Quantised arithmetic is no part of mycel.",
    "*qint4*": "Quantised arithmetic is no part of mycel.",
    "*[Mm]oe*": "It is made for the kernels of Ascend hardware.",
    "*PagedAttention*": "It is made for the kernels of Ascend hardware.",
    "*ReshapeAndCache": "It is made for the kernels of Ascend hardware.",
    "*GroupedMatmul*": "It is made for the kernels of Ascend hardware.",
    "*KVCache": "It is made for the kernels of Ascend hardware.",
    "ops.*RegOp": "It registers kernels of MindSpore's own; XLA has no use for them.",
    "ops.CustomOpBuilder": "It builds kernels of MindSpore's own; ops.Custom takes functions.",
    "ops.Pu[sl][hl]": "There is no parameter server here.",
    "*strateg*": "There are no parallel strategies to save or load here.",
    "*transform_checkpoint*": "A checkpoint holds a whole network here.",
}


def absent_name(path: str, name: str, names: Iterable[str], elsewhere: Iterable[str]) -> str:
    """The text for an attribute that `path` does not have.

    Args:
        path: the module that was asked, as the program spells it.
        name: the attribute that is missing.
        names: what the module does have.
        elsewhere: full paths where the very name does exist.

    Example:
        >>> from mycel.compat.absent import absent_name
        >>> text = absent_name("mindspore.nn", "Conv2D", ["Conv1d", "Conv2d"], [])
        >>> print(text.split("; ")[1])
        nearest: mindspore.nn.Conv2d. MindSpore 2.10 has no such name either.
    """
    found = list(elsewhere) or [f"{path}.{n}" for n in _near(name, names)]
    text = ABSENT.format(path=path, name=name, version=__version__, nearest=_nearest(found))
    return _because(text, f"{path}.{name}")


def absent_module(path: str, known: Iterable[str]) -> str:
    """The text for a module path that nothing here serves."""
    found = _near(path, known)
    text = UNKNOWN_MODULE.format(path=path, version=__version__, nearest=_nearest(found))
    return _because(text, path)


def _because(text: str, fullname: str) -> str:
    return f"{text}. {reason(fullname.partition('.')[2])}"


def reason(inner: str) -> str:
    """Why a name below `mindspore` is not here.

    Example:
        >>> from mycel.compat.absent import reason
        >>> reason("ops.Sum")
        'MindSpore 2.10 has no such name either.'
    """
    for pattern, why in WHY.items():
        if fnmatchcase(inner, pattern):
            return why
    path, _, name = inner.rpartition(".")
    public = _public().get(path)
    if public is None:
        return "It is no public name of MindSpore 2.10."
    if name in public:
        return "It is not written yet."
    return "MindSpore 2.10 has no such name either."


@functools.cache
def _public() -> dict[str, set[str]]:
    """The public names of MindSpore 2.10 by namespace."""
    text = (Path(__file__).parent / "public_names.toml").read_text("utf-8")
    return {path: set(names.split()) for path, names in tomllib.loads(text)["namespaces"].items()}


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Names that differ by case only come first, then those spelled alike."""
    names = [n for n in names if not n.startswith("_")]
    same = [n for n in names if n.lower() == name.lower()]
    return same or difflib.get_close_matches(name, names, 3, 0.6)


def _nearest(found: list[str]) -> str:
    return f"; nearest: {', '.join(found)}" if found else ""
