# SPDX-License-Identifier: Apache-2.0
"""`@op` and `@composite`: one definition gives function, Primitive class and methods."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Protocol, TypeVar

from mycel.kernel.base.missing import NEAREST, near
from mycel.kernel.define.definition import Definition, define
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.other_keywords import other_keywords
from mycel.kernel.spell.primitive import Primitive
from mycel.kernel.spell.spelling import REQUIRED, Argument, Spelling, parse, where
from mycel.kernel.spell.write import write_function, write_primitive, write_renaming

Function = TypeVar("Function", bound=Callable)


class Later:
    """A name that is written when it is first asked for; on Tensor it stands as a descriptor.

    Writing all of them would take most of the time of the import.
    """

    __slots__ = ("_write", "name")

    def __init__(self, name: str, write: Callable):
        self.name = name
        self._write = write

    def write(self):
        return self._write()

    def __get__(self, instance, owner=None):
        method = vars(Tensor)[self.name]
        if method is self:
            method = self.write()
            setattr(Tensor, self.name, method)
        return method if instance is None else method.__get__(instance, owner)


class Names(Mapping):
    """The public names of a namespace, each written when it is first looked at."""

    def __init__(self):
        self._known: dict[str, object] = {}
        self._lock = threading.RLock()

    def add(self, name: str, later: Later) -> None:
        """Register a name.

        Raises:
            ValueError: it is there already.
        """
        if name in self._known:
            raise ValueError(f"{name} is spelled twice.")
        self._known[name] = later

    def __getitem__(self, name):
        known = self._known[name]
        if known.__class__ is Later:
            with self._lock:
                known = self._known[name]
                if isinstance(known, Later):
                    known = self._known[name] = known.write()
        return known

    def __contains__(self, name):
        return name in self._known

    def __iter__(self):
        return iter(self._known)

    def __len__(self):
        return len(self._known)


# Public names by namespace ("ops", "mint", "mint.nn.functional", …): the packages answer them.
namespaces: dict[str, Names] = {"ops": Names()}


def answer(module: dict, namespace: str) -> None:
    """Let a module answer and list the names of a namespace; kept in the module once found."""

    def look_up(name: str):
        if name not in namespaces[namespace]:
            nearest = near(name, [*module, *namespaces[namespace]])
            told = NEAREST.format(names=", ".join(nearest)) if nearest else ""
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}{told}")
        written = module[name] = namespaces[namespace][name]
        return written

    for name, member in module.items():
        # A file of the package may be called as an operator is.
        if isinstance(member, ModuleType) and name in namespaces[namespace]:
            module[name] = namespaces[namespace][name]
    module["__getattr__"] = look_up
    module["__dir__"] = lambda: sorted({*module, *namespaces[namespace]})


class Operation(Protocol):
    """What `@op` gives: callable with the definition's own parameters."""

    definition: Definition

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the operator."""
        ...

    def reverse(self, derivative: Callable) -> Callable:
        """Take a hand-written derivative."""
        ...


def op(
    *spellings: str,
    rule=None,
    fallible: bool = False,
    windows: bool = False,
    indices: Callable | None = None,
    rearranges: bool = False,
    gives_shares: bool = False,
) -> Callable[[Callable], Operation]:
    """Declare an operation: a pure function on arrays, and the names it is known by.

    Positional parameters are arrays, keyword-only ones static. See `spell.spelling` for how a
    spelling is written. The result is callable with the definition's own parameters; its
    `.reverse` takes a hand-written derivative directly beneath the definition. For `rule`,
    `fallible`, `rearranges` and `gives_shares` see `define.op.Op`, for `windows` and `indices`
    `define.definition.Definition`.

    Example:
        >>> from mycel.kernel.spell import op
        >>> @op("ops.twice_example")
        ... def twice_example(x):
        ...     return x + x
        >>> import mycel as ms
        >>> print(twice_example(ms.Tensor([1, 2])))
        [2 4]
    """

    def declare(function: Callable) -> Operation:
        definition = define(function.__name__, function, rule, fallible)
        definition.windows, definition.rearranges = windows, rearranges
        definition.gives_shares = gives_shares
        definition.indices = indices
        own = own_arguments(definition)
        spelling = Spelling("", definition.name, own, None)
        made: Any = write_function(definition, spelling, own, composite=False)

        def reverse(derivative):
            definition.set_reverse(derivative)
            return derivative

        made.definition, made.reverse = definition, reverse
        _spell_all(definition, spellings, own, composite=False)
        return made

    return declare


def composite(*spellings: str) -> Callable[[Function], Function]:
    """Declare a plain function over operators, and the names it is known by."""

    def declare(function: Function) -> Function:
        definition = define(function.__name__, function)
        definition.composite = True
        own = own_arguments(definition)
        _spell_all(definition, spellings, own, composite=True)
        function.definition = definition
        return function

    return declare


def add_member(name: str, member: object) -> None:
    """Give Tensor a member that no spelling writes: a property, or a method of its own.

    Example:
        >>> from mycel.kernel.spell import add_member
        >>> add_member("count_example", property(lambda self: self.size))
        >>> import mycel as ms
        >>> ms.Tensor([1, 2]).count_example
        2
        >>> del ms.Tensor.count_example
    """
    setattr(Tensor, name, member)


def own_arguments(definition: Definition) -> list[Argument]:
    names = list(definition.arrays)
    if definition.variadic:
        names.append(definition.variadic)
    names += definition.statics
    return [Argument(n, n, definition.defaults.get(n, REQUIRED)) for n in names]


def _spell_all(definition, spellings, own, composite):
    definition.spellings = spellings
    for text in spellings:
        namespace, name = where(text)
        write = functools.partial(_written, definition, text, own, composite)
        if namespace == "Tensor":
            # A keyword-only name such as `__eq__` replaces object's; identity hashing stays.
            setattr(Tensor, name, Later(name, write))
        else:
            namespaces.setdefault(namespace, Names()).add(name, Later(name, write))
        definition.names.append(f"{namespace}.{name}")


def _written(definition, text, own, composite):
    spelling = parse(text, definition.defaults)
    others = other_keywords.get(f"{spelling.namespace}.{spelling.name}")
    called = called_arguments(definition, spelling, own)
    if others is not None:
        written = write_renaming(definition, spelling, called, composite, others.words)
    elif spelling.created is None:
        written = write_function(definition, spelling, called, composite)
    else:
        written = write_primitive(definition, spelling, called, Primitive, composite)
    if spelling.namespace != "Tensor":
        written.__module__ = f"mycel.{spelling.namespace}"
    return written


def called_arguments(definition, spelling: Spelling, own: list[Argument]) -> list[Argument]:
    """What a call takes; that of a Primitive takes the arrays that are not given at creation."""
    if spelling.created is None:
        return spelling.called or own
    if spelling.called is not None:
        return spelling.called
    taken = {argument.inner for argument in spelling.created}
    arrays = (*definition.arrays, definition.variadic)
    return [a for a in own if a.inner in arrays and a.inner not in taken]
