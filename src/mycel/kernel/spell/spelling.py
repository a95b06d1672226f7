# SPDX-License-Identifier: Apache-2.0
"""Reading the spellings of a definition: `ops.sum(input=x, dim=axis)` and its like.

A spelling is written as a call. Each argument says how a public parameter maps to one of the
definition's own: `axis` keeps the name, `dim=axis` renames it, `axis=-1` gives it another
default, `dim=(axis, -1)` does both, and `*shape` takes loose numbers or one tuple. A name that
starts with a capital and has no dot is a Primitive class: `ReduceSum(keep_dims=keepdims)(x, axis)`.
Behind `with` stand the parameters that are not public, for a definition that has several names of
different meaning: `ops.conv1d(input=x, weight=weight) with space=1`. An arrow names the array that
is assigned the result and returned: `Tensor.exp_(x) -> x`.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

REQUIRED = object()


class Argument(NamedTuple):
    """One public parameter: its name, the definition's parameter it fills, its default."""

    public: str
    inner: str
    default: object
    spread: bool = False


class Spelling(NamedTuple):
    """Where a name lives and what it takes.

    `created` is None unless it is a Primitive class; `fixed` has literals by the definition's
    parameters; `target` is that which is assigned the result, "" for none.
    """

    namespace: str
    name: str
    called: list[Argument] | None
    created: list[Argument] | None
    fixed: tuple[tuple[str, str], ...] = ()
    target: str = ""


def where(text: str) -> tuple[str, str]:
    """Namespace and name of a spelling, without reading its arguments."""
    namespace, _, name = text.partition("(")[0].strip().rpartition(".")
    if not namespace:
        if not name[:1].isupper():
            raise ValueError(f"The spelling {text!r} names no namespace.")
        namespace = "ops"
    return namespace, name


def parse(text: str, defaults: dict[str, object]) -> Spelling:
    """Read one spelling; `defaults` are the definition's own."""
    text, _, target = text.partition(" -> ")
    text, _, fixed = text.partition(" with ")
    node = ast.parse(text, mode="eval").body
    called = created = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
        called = _arguments(node, defaults)
        node = node.func
        created = _arguments(node, defaults)
        node = node.func
    elif isinstance(node, ast.Call):
        arguments = _arguments(node, defaults)
        node = node.func
        if isinstance(node, ast.Name) and node.id[0].isupper():
            created = arguments
        else:
            called = arguments
    if isinstance(node, ast.Name):
        created = created or []
    return Spelling(*where(text), called, created, _fixed(fixed), target)


def _fixed(text: str) -> tuple[tuple[str, str], ...]:
    """`space=1, mode='same'` as pairs of a name and a literal."""
    if not text:
        return ()
    call = ast.parse(f"fixed({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return tuple((str(k.arg), repr(ast.literal_eval(k.value))) for k in call.keywords)


def _arguments(call: ast.Call, defaults) -> list[Argument]:
    arguments = []
    for part in call.args:
        if isinstance(part, ast.Starred):
            assert isinstance(part.value, ast.Name)
            arguments.append(Argument(part.value.id, part.value.id, (), spread=True))
        else:
            assert isinstance(part, ast.Name)
            arguments.append(Argument(part.id, part.id, defaults.get(part.id, REQUIRED)))
    for keyword in call.keywords:
        public, value = keyword.arg, keyword.value
        assert public is not None
        if isinstance(value, ast.Name):
            arguments.append(Argument(public, value.id, defaults.get(value.id, REQUIRED)))
        elif isinstance(value, ast.Tuple) and value.elts and isinstance(value.elts[0], ast.Name):
            default = ast.literal_eval(value.elts[1])
            arguments.append(Argument(public, value.elts[0].id, default))
        else:
            arguments.append(Argument(public, public, ast.literal_eval(value)))
    return arguments
