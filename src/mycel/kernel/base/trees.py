# SPDX-License-Identifier: Apache-2.0
"""Nested tuples, lists and dicts: the only containers that carry Tensors through the machine.

Those of a class of the user's keep it, and what they have besides: a default factory, attributes.
Whatever else there is (a deque, a dataclass, a mapping that is no dict) is a leaf, and untouched.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any


def tree_map(function: Callable, tree) -> Any:
    """A copy of `tree` with `function` applied to every leaf."""
    if tree.__class__ is tuple:
        return tuple([tree_map(function, branch) for branch in tree])
    if tree.__class__ is list:
        return [tree_map(function, branch) for branch in tree]
    if tree.__class__ is dict:
        return {key: tree_map(function, tree[key]) for key in tree}
    if isinstance(tree, (tuple, list, dict)):
        return rebuilt(tree, [tree_map(function, branch) for branch in _branches(tree)])
    return function(tree)


def tree_exchange(function: Callable, tree) -> Any:
    """`tree_map` that leaves alone what does not change: a container is copied only if `function`
    gives another object for a leaf in it."""
    if not isinstance(tree, (tuple, list, dict)):
        return function(tree)
    branches = _branches(tree)
    replaced = [tree_exchange(function, branch) for branch in branches]
    if all(new is old for new, old in zip(replaced, branches, strict=True)):
        return tree
    return rebuilt(tree, replaced)


def tree_leaves(tree, leaves: list | None = None) -> list:
    """The leaves of `tree` from left to right."""
    if leaves is None:
        leaves = []
    if isinstance(tree, (tuple, list)):
        for branch in tree:
            tree_leaves(branch, leaves)
    elif isinstance(tree, dict):
        for key in tree:
            tree_leaves(tree[key], leaves)
    else:
        leaves.append(tree)
    return leaves


def rebuilt(tree, branches: list):
    """A container like `tree` with other branches, whatever its constructor asks for."""
    kind = tree.__class__
    if kind is tuple or kind is list:
        return kind(branches)
    if isinstance(tree, dict):
        if kind is dict:
            return dict(zip(tree, branches, strict=True))
        container = copy.copy(tree)
        for key, branch in zip(tree, branches, strict=True):
            dict.__setitem__(container, key, branch)
    elif isinstance(tree, list):
        container = copy.copy(tree)
        list.__setitem__(container, slice(None), branches)
    else:
        container = _rebuilt_tuple(tree, branches)
    attributes = getattr(tree, "__dict__", None)
    if attributes:
        exchanged = zip(map(id, _branches(tree)), branches, strict=True)
        _exchange_attributes(tree, container, attributes, dict(exchanged))
    return container


def _branches(tree) -> list:
    return [tree[key] for key in tree] if isinstance(tree, dict) else list(tree)


def _rebuilt_tuple(tree: tuple, branches: list):
    try:
        return tuple.__new__(tree.__class__, branches)
    except TypeError:  # those of the interpreter, such as time.struct_time
        return tree.__class__(branches)


def _exchange_attributes(tree, container, attributes: dict, exchanged: dict) -> None:
    """Attributes are kept; those that are a branch, as in a dict with the keys as attributes, are
    exchanged with it."""
    if attributes is tree:
        container.__dict__ = container
        return
    for name, value in attributes.items():
        container.__dict__[name] = exchanged.get(id(value), value)
