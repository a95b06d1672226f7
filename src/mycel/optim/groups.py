# SPDX-License-Identifier: Apache-2.0
"""What an optimiser is given, read: Parameters, groups of them, rates and weight decays."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from mycel.kernel.base import errors
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.record.parameter import Parameter

# What other libraries call them.
WORDS = {"learning_rate": "lr", "parameters": "params", "l2": "weight_decay"}
KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")
_MISSING = object()


class Member(NamedTuple):
    """One Parameter with the settings of its group; None where it has the optimiser's own."""

    parameter: Parameter
    group: int
    rate: object
    weight_decay: object
    centralize: bool


def members_of(parameters) -> tuple[list[Member], bool]:
    """The Parameters in the order of updates, and whether they came in groups.

    Raises:
        TypeError: not Parameters, and not dictionaries of the known keys' types.
        ValueError: none at all, one twice, or two of the same name.
        KeyError: a group with an unknown key.
    """
    listed = _listed(parameters, "The parameters of an optimiser")
    if all(isinstance(part, dict) for part in listed):
        members = _ordered(_grouped(listed), listed)
        grouped = True
    elif all(isinstance(part, Parameter) for part in listed):
        members = [Member(part, 0, None, None, False) for part in listed]
        grouped = False
    else:
        odd = next(p for p in listed if not isinstance(p, (Parameter, dict)) or p is not listed[0])
        expected = "Parameters, or groups as dictionaries, not both"
        raise wrong(TypeError, "All parameters of an optimiser", expected, type(odd).__name__)
    _check_names(members)
    return members, grouped


AT_LEAST_ONE = "a list with at least one Parameter"
EMPTY = (
    "an empty one (Cells in a plain list or dict are no part of a network, but those in a CellList "
    "or CellDict are)"
)


def _listed(parameters, what: str) -> list:
    if isinstance(parameters, (str, dict, Parameter)) or not isinstance(parameters, Iterable):
        actual = f"{type(parameters).__name__} {parameters!r:.60}"
        raise wrong(TypeError, what, "a list of Parameters", actual)
    listed = list(parameters)
    if not listed:
        raise wrong(ValueError, what, AT_LEAST_ONE, EMPTY)
    return listed


def _grouped(groups: list[dict]) -> list[Member]:
    members = []
    for number, group in enumerate(groups):
        unknown = [key for key in group if key not in KEYS]
        if unknown:
            first = str(unknown[0])
            near = difflib.get_close_matches(WORDS.get(first, first), KEYS, 1, 0.5)
            nearest = near[0] if near else "none"
            raise KeyError(
                f"A group of parameters has the keys {KEYS}, not {unknown}; nearest: {nearest}."
            )
        if "order_params" in group:
            continue
        for parameter in _listed(group.get("params"), "The 'params' of a group"):
            if not isinstance(parameter, Parameter):
                actual = type(parameter).__name__
                raise wrong(TypeError, "Each of the 'params' of a group", "a Parameter", actual)
            members.append(_member(parameter, number, group))
    return members


def _member(parameter, number, group) -> Member:
    centralize = group.get("grad_centralization", False)
    if not isinstance(centralize, bool):
        actual = repr(centralize)
        raise wrong(TypeError, "The 'grad_centralization' of a group", "True or False", actual)
    return Member(parameter, number, group.get("lr"), group.get("weight_decay"), centralize)


def _ordered(members: list[Member], groups: list[dict]) -> list[Member]:
    order = next((group for group in groups if "order_params" in group), None)
    if order is None:
        return members
    if len(order) > 1:
        raise wrong(ValueError, "A group with 'order_params'", "without other keys", list(order))
    ordered = _listed(order["order_params"], "The 'order_params' of a group")
    by_identity = {id(member.parameter): member for member in members}
    if sorted(map(id, ordered)) != sorted(by_identity):
        expected = f"the {len(members)} Parameters of the groups, each once"
        raise wrong(ValueError, "order_params", expected, f"{len(ordered)} others")
    return [by_identity[id(parameter)] for parameter in ordered]


def _check_names(members: list[Member]) -> None:
    seen: dict[str, Parameter] = {}
    for member in members:
        name = member.parameter.name
        if name in seen:
            raise ValueError(
                errors.DUPLICATE_PARAMETER.format(
                    owner="The parameters of the optimiser", name=name, place=user_place()
                )
            )
        seen[name] = member.parameter
