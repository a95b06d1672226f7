# SPDX-License-Identifier: Apache-2.0
"""Nested tuples, lists and dicts: the only containers that carry Tensors through the machine."""

from __future__ import annotations

from collections.abc import Callable


def tree_map(function: Callable, tree):
    """A copy of `tree` with `function` applied to every leaf; named tuples keep their class."""
    if tree.__class__ is tuple:
        return tuple([tree_map(function, branch) for branch in tree])
    if tree.__class__ is list:
        return [tree_map(function, branch) for branch in tree]
    if isinstance(tree, dict):
        return tree.__class__((key, tree_map(function, tree[key])) for key in tree)
    if isinstance(tree, tuple):
        made = [tree_map(function, branch) for branch in tree]
        return tree.__class__(*made) if hasattr(tree, "_fields") else tree.__class__(made)
    if isinstance(tree, list):
        return tree.__class__([tree_map(function, branch) for branch in tree])
    return function(tree)


def tree_leaves(tree, found: list | None = None) -> list:
    """The leaves of `tree` from left to right."""
    if found is None:
        found = []
    if isinstance(tree, (tuple, list)):
        for branch in tree:
            tree_leaves(branch, found)
    elif isinstance(tree, dict):
        for key in tree:
            tree_leaves(tree[key], found)
    else:
        found.append(tree)
    return found
