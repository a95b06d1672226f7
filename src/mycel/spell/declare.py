# SPDX-License-Identifier: Apache-2.0
"""`@op` and `@composite`: one definition gives function, Primitive class and methods."""

from __future__ import annotations

from collections.abc import Callable

from mycel.define.definition import Definition, define
from mycel.record.tensor import Tensor
from mycel.spell.primitive import Primitive
from mycel.spell.spelling import REQUIRED, Argument, Spelling, parse
from mycel.spell.write import write_function, write_primitive

# Public names by namespace ("ops", "mint", "mint.nn.functional", …): the packages read them.
namespaces: dict[str, dict[str, object]] = {"ops": {}}


def op(*spellings: str, rule=None, fallible: bool = False) -> Callable:
    """Declare an operation: a pure function on arrays, and the names it is known by.

    Positional parameters are arrays, keyword-only ones static. See `spell.spelling` for how a
    spelling is written. The result is callable with the definition's own parameters; its
    `.reverse` takes a hand-written derivative directly beneath the definition.

    Example:
        >>> from mycel.spell import op
        >>> @op("ops.twice_example")
        ... def twice_example(x):
        ...     return x + x
        >>> import mycel as ms
        >>> print(twice_example(ms.Tensor([1, 2])))
        [2 4]
    """

    def declare(function: Callable) -> Callable:
        definition = define(function.__name__, function, rule, fallible)
        own = _own_arguments(definition)
        made = write_function(definition, definition.name, own, composite=False)

        def reverse(derivative):
            definition.set_reverse(derivative)
            return derivative

        made.definition, made.reverse = definition, reverse  # type: ignore[attr-defined]
        _spell_all(definition, spellings, own, composite=False)
        return made

    return declare


def composite(*spellings: str) -> Callable:
    """Declare a plain function over operators, and the names it is known by."""

    def declare(function: Callable) -> Callable:
        definition = define(function.__name__, function)
        definition.composite = True
        own = _own_arguments(definition)
        _spell_all(definition, spellings, own, composite=True)
        function.definition = definition  # type: ignore[attr-defined]
        return function

    return declare


def _own_arguments(definition: Definition) -> list[Argument]:
    names = list(definition.arrays)
    if definition.variadic:
        names.append(definition.variadic)
    names += definition.statics
    return [Argument(n, n, definition.defaults.get(n, REQUIRED)) for n in names]


def _spell_all(definition, spellings, own, composite):
    for text in spellings:
        spelling = parse(text, definition.defaults)
        if spelling.created is None:
            made = write_function(definition, spelling.name, spelling.called or own, composite)
        else:
            made = _primitive(definition, spelling, own, composite)
        _publish(spelling, made)
        definition.names.append(f"{spelling.namespace}.{spelling.name}")


def _primitive(definition, spelling: Spelling, own, composite):
    created = spelling.created or []
    taken = {argument.inner for argument in created}
    called = spelling.called
    if called is None:
        arrays = (*definition.arrays, definition.variadic)
        called = [a for a in own if a.inner in arrays and a.inner not in taken]
    return write_primitive(definition, spelling.name, created, called, Primitive, composite)


def _publish(spelling: Spelling, made) -> None:
    if spelling.namespace == "Tensor":
        # A keyword-only name such as `__eq__` replaces object's; identity hashing stays.
        setattr(Tensor, spelling.name, made)
        return
    made.__module__ = f"mycel.{spelling.namespace}"
    names = namespaces.setdefault(spelling.namespace, {})
    if spelling.name in names:
        raise ValueError(f"{spelling.namespace}.{spelling.name} is spelled twice.")
    names[spelling.name] = made
