# SPDX-License-Identifier: Apache-2.0
"""Operators with three parameters or more say in their docstrings what each of them is."""

from __future__ import annotations

import inspect
import operator
import re

import mycel as ms
from mycel.kernel.define.definition import Definition
from mycel.kernel.spell import Primitive
from mycel.kernel.spell.spelling import parse
from mycel.kernel.spell.write import INPLACE

SPACES = ("ops", "mint", "mint.nn.functional", "mint.linalg", "mint.special", "Tensor")
MANY = 3
ENTRY = re.compile(r"    (\*{0,2}\w+(?:, \*{0,2}\w+)*): \S")


def parameters(function) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
    return [name for name in names if name != "self"]


def operators():
    """Each public name that is called with three parameters or more, and these.

    A Primitive class is created with some of them and called with the others.
    """
    for space in SPACES:
        holder = operator.attrgetter(space)(ms)
        for name in dir(holder):
            found = getattr(holder, name, None) if not name.startswith("_") else None
            if not callable(found) or inspect.ismodule(found):
                continue
            if not inspect.isclass(found):
                taken = parameters(found)
            elif issubclass(found, Primitive) and found is not Primitive:
                taken = [*parameters(found), *parameters(found.__call__)]
            else:
                continue
            if len(taken) >= MANY:
                yield f"{space}.{name}", found, taken


def definition_of(found) -> Definition | None:
    """What a written function or class calls; those that are written out call none."""
    function = found.__init__ if inspect.isclass(found) else found
    return getattr(function, "__globals__", {}).get("definition")


def fixed_in(definition: Definition) -> set[str]:
    """The parameters that are public in no spelling."""
    spellings = [parse(text, definition.defaults) for text in definition.spellings]
    return {name for spelling in spellings for name, _ in spelling.fixed}


def explained(text: str) -> list[str]:
    """The names that stand in front of the entries of `Args:`."""
    names = []
    for line in text.partition("Args:\n")[2].splitlines():
        if line and not line.startswith(" "):
            break
        entry = ENTRY.match(line)
        names += [name.strip("* ") for name in entry[1].split(",")] if entry else []
    return names


OPERATORS = list(operators())


def test_there_are_hundreds_of_them():
    assert len(OPERATORS) > 800


def test_each_has_its_arguments_explained():
    lacking = {name for name, found, _ in OPERATORS if "Args:" not in inspect.getdoc(found)}
    assert lacking == set()


def test_each_parameter_of_a_definition_is_explained_and_no_other():
    mistaken = {}
    for name, found, _ in OPERATORS:
        definition = definition_of(found)
        if definition is None:
            continue
        own = set(inspect.signature(definition.function).parameters) - fixed_in(definition)
        names = set(explained(inspect.getdoc(found)))
        if own - names or names - own - {INPLACE}:
            mistaken[name] = own ^ names
    assert mistaken == {}
