# SPDX-License-Identifier: Apache-2.0
"""Functions of which some arguments have another keyword too; the package root gives the table.

The other keywords stand behind the function's own parameters; a function without any has no check
for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older


class OtherKeywords(NamedTuple):
    """Those of one function.

    `words` maps each to the function's own; one that is older is noted in the log. What is in
    `changed` turns the value of the other keyword into that of the own one, in place among all.
    `answered` makes the older answer of the newer one; `difference` tells the log how they differ.
    """

    words: Mapping[str, str]
    are_older: bool
    changed: Mapping[str, Callable[[dict], None]]
    answered: Callable | None = None
    difference: str = ""


# By the name of the function, as "ops.split"; filled before any function is written.
other_keywords: dict[str, OtherKeywords] = {}


class _Absent:
    """Stands for an argument that was not given."""

    def __repr__(self):
        return "absent"


ABSENT = _Absent()


def call_renamed(function: Callable, name: str, own: dict, other: dict):
    """Call a function, some arguments of which were given by their other keywords.

    Raises:
        TypeError: an argument is missing, or was given twice.
    """
    words, are_older, changed, answered, difference = other_keywords[name]
    passed = {word: value for word, value in other.items() if value is not ABSENT}
    for word, value in passed.items():
        if are_older:
            older(f"{name}({word}=...)", f"{name}({words[word]}=...){difference}")
        own[words[word]] = value
    for word, value in own.items():
        if value is ABSENT:
            raise wrong(TypeError, f"{name}: {word}", "given", "nothing")
    for word in passed.keys() & changed.keys():
        changed[word](own)
    answer = function(**own)
    return answered(answer) if answered and passed else answer
