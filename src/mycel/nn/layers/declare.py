# SPDX-License-Identifier: Apache-2.0
"""`@layer`: a Cell that calls one operator, and its twin in `mint.nn`, from one declaration.

As for operators, a spelling says how the layer is made and called. Its methods are generated, so
that signatures are right, a call costs one frame, and settings are read where they are used.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mycel.kernel.base.written import define
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.spelling import REQUIRED, Argument, Spelling, parse
from mycel.nn.cell import Cell

if TYPE_CHECKING:

    class Declared(Cell):
        """A Cell with the `__init__` that its declaration writes: for those that create one."""

        def __init__(self, *settings: object, **named: object) -> None: ...

else:
    Declared = Cell

Kind = TypeVar("Kind", bound=type[Cell])
Check = Callable[[object, str], object]
_NAMESPACE = re.compile(r"\b(mint\.nn|nn)\.")


class Declaration(NamedTuple):
    """What `layer` was given, and the class that it stands above."""

    kind: type[Cell]
    operator: str
    spellings: tuple[str, ...]
    text: str


# By the class that a declaration made: that of `nn`, or its twin.
declarations: dict[type, Declaration] = {}


def layer(
    operators: ModuleType,
    operator: str,
    *spellings: str,
    shows: bool = False,
    accepts: Callable[..., None] | None = None,
    **checks: Check,
) -> Callable[[Kind], Kind]:
    """Declare a Cell that hands its inputs and its settings to one operator.

    Args:
        operators: the module of the operator: `ops`, or `mint.nn.functional`.
        operator: its name there. It is called with the inputs and then the settings, in the order
            in which they are spelled.
        spellings: how the layer is made and called, `"nn.ELU(alpha=1.0)(x)"`: that of the class
            below, then that of its `twin`. `"nn.LGamma(x)"` is made as its base is.
        shows: whether the settings are shown where the Cell is printed.
        accepts: `accepts(cell, x=x)` raises for inputs that it does not take.
        checks: by setting, `check(value, "ELU.alpha")`, which gives what is kept, or raises.

    The docstring tells of all spellings: each class keeps the Args that it takes and the examples
    that show it, and is told where its name comes from.

    Raises:
        ValueError: a spelling of another class, or a check of a setting that it does not have.

    Example:
        >>> from mycel.nn.layers.declare import layer
        >>> @layer(ops, "leaky_relu", "nn.Leaky(alpha=0.5)(x)")
        ... class Leaky(nn.Cell):
        ...     '''x where it is positive, alpha · x elsewhere.'''
        >>> print(Leaky()(Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def declare(kind: Kind) -> Kind:
        text = inspect.cleandoc(kind.__doc__ or "")
        declarations[kind] = Declaration(kind, operator, spellings, text)
        names = {"operators": operators, "checks": checks, "accepts": accepts}
        return _write(kind, parse(spellings[0], {}), shows, names)

    return declare


def twin(
    declared: type[Cell], operators: ModuleType, *, shows: bool = False, **checks: Check
) -> Callable[[Kind], Kind]:
    """Make the class below as the second spelling of a declaration says.

    Args:
        declared: the class above which the declaration stands.
        operators: the module that has its operator under the same name.
        shows, checks: as for `layer`.
    """

    def declare(kind: Kind) -> Kind:
        declaration = declarations[kind] = declarations[declared]
        names = {"operators": operators, "checks": checks, "accepts": None}
        return _write(kind, parse(declaration.spellings[1], {}), shows, names)

    return declare


def _write(kind: Kind, spelling: Spelling, shows: bool, names: dict[str, Any]) -> Kind:
    """Give a class its methods, which see these names, and its documentation."""
    declaration = declarations[kind]
    if spelling.name != kind.__name__:
        raise ValueError(f"The spelling of {spelling.name} stands above {kind.__name__}.")
    source = _source(declaration, spelling, shows, names)
    names |= {"__name__": kind.__module__, "kind": kind, "Any": Any, "Tensor": Tensor}
    methods = define(source, names, f"{spelling.namespace}.{spelling.name}")
    for name, method in methods.items():
        method.__qualname__ = f"{kind.__qualname__}.{name}"
        setattr(kind, name, method)
    kind.__doc__ = documentation(declaration.text, spelling)
    kind.construct.__doc__ = kind.__doc__.partition("\n\n")[0]
    return kind


def _source(declaration: Declaration, spelling: Spelling, shows: bool, names: dict) -> str:
    """The methods of a class as text."""
    settings = [one.public for one in spelling.created or ()]
    inputs = [one.public for one in spelling.called or ()]
    unknown = names["checks"].keys() - set(settings)
    if unknown:
        raise ValueError(f"{spelling.name} has no setting {sorted(unknown)} that could be checked.")
    lines = [f"# declared by {declaration.kind.__module__}.{declaration.kind.__qualname__}"]
    if spelling.created is not None:
        lines.append(f"def __init__({_parameters(spelling.created)}):")
        lines.append("    super(kind, self).__init__()")
        lines += [f"    self.{name} = {_checked(name, names['checks'])}" for name in settings]
    result = "Any" if "return_indices" in settings else "Tensor"
    arguments = ", ".join([*inputs, *(f"self.{name}" for name in settings)])
    lines.append(f"def construct({_parameters(spelling.called or [])}) -> {result}:")
    if names["accepts"] is not None:
        lines.append(f"    accepts(self, {', '.join(f'{name}={name}' for name in inputs)})")
    lines.append(f"    return operators.{declaration.operator}({arguments})")
    if shows:
        shown = ", ".join(f"{name}={{self.{name}}}" for name in settings)
        lines += ["def extend_repr(self) -> str:", f"    return f'{shown}'"]
    return "\n".join([*lines, ""])


def _parameters(arguments: list[Argument]) -> str:
    written = [
        one.public if one.default is REQUIRED else f"{one.public}={one.default!r}"
        for one in arguments
    ]
    return ", ".join(["self", *written])


def _checked(setting: str, checks: dict[str, Check]) -> str:
    if setting not in checks:
        return setting
    return f"checks[{setting!r}]({setting}, f'{{type(self).__name__}}.{setting}')"


def documentation(text: str, spelling: Spelling) -> str:
    """A declaration's docstring as the class of one spelling has it."""
    body, _, examples = text.partition("\n\nExample:\n")
    paragraphs = body.split("\n\n")
    if spelling.created is not None:
        taken = {setting.public for setting in spelling.created}
        paragraphs = [_own_args(p, taken) if p.startswith("Args:") else p for p in paragraphs]
    theirs = "mindspore.nn" if spelling.namespace == "nn" else spelling.namespace
    paragraphs.append(f"Source: MindSpore's `{theirs}.{spelling.name}`.")
    paragraphs.append("".join(["Example:\n", *_own_examples(examples, spelling.namespace)]))
    return "\n\n".join(filter(None, paragraphs))


def _own_args(paragraph: str, settings: set[str]) -> str:
    """The entries about these settings; nothing if there is none."""
    head, *entries = re.split(r"\n(?=    \S)", paragraph)
    kept = [one for one in entries if settings & {*one.partition(":")[0].strip().split(", ")}]
    return "\n".join([head, *kept]) if kept else ""


def _own_examples(text: str, namespace: str) -> Iterator[str]:
    """The statements that name this namespace, or none, with what they print."""
    for statement in re.findall(r"    >>> .*\n(?:(?!    >>> ).*\n)*", f"{text}\n"):
        named = _NAMESPACE.findall(statement)
        if namespace in named or not named:
            yield statement
