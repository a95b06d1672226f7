# SPDX-License-Identifier: Apache-2.0
"""What layers, losses and optimisers are made with, where their source leaves types open.

A type checker takes `stride=1` for an integer and nothing else. So a class stands in the stub as a
subclass of itself whose parameters have types; all else is read in the source. Of a class that
`@layer` declares, the call is written as well, and the name leads to the declaration.
"""

from __future__ import annotations

import importlib
import inspect

from mycel.kernel.spell.primitive import Primitive
from mycel.nn.cell import Cell
from mycel.nn.layers.declare import declarations
from tools.stubs.functions import import_kinds, lead, stub
from tools.stubs.kinds import kind_of_setting, written_parameters

# The file below mycel/signatures for each package of classes.
CLASS_FILES = {
    "mycel.nn": "nn",
    "mycel.mint.nn": "mint_nn",
    "mycel.optim.experimental": "optim",
}
_KINDS = [
    "Activation",
    "Axes",
    "Bool",
    "DTypeLike",
    "Float",
    "Initial",
    "Int",
    "Random",
    "Rate",
    "Scalar",
    "Sizes",
    "Str",
]
_KNOWN = {"bool": "_Bool", "int": "_Int", "float": "_Scalar", "str": "_Str"}


def typed_classes(path: str) -> dict[str, type]:
    """The public classes of a package of which a type checker would read too little."""
    module = importlib.import_module(path)
    found = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if not inspect.isclass(value) or issubclass(value, (Primitive, BaseException)):
            continue
        parameters = _parameters(value)
        is_open = _has_bias(parameters) or any(_is_open(one) for one in parameters)
        if is_open or value in declarations:
            found[name] = value
    return found


def class_signatures(path: str) -> tuple[str, str]:
    """The text of the stub of a package's classes, and of the file that leads to them."""
    lines, imports, sources = [], [], {}
    for name, value in sorted(typed_classes(path).items()):
        imports.append(f"from {value.__module__} import {value.__name__} as _{name}")
        origin = declarations[value].kind if value in declarations else value
        sources.setdefault(origin.__module__, set()).add((origin.__name__, name))
        lines.append(f"class {name}(_{name}):")
        if _has_bias(_parameters(value)):
            lines.append("    bias: _Parameter")  # for those who asked for one
        if "__init__" in vars(value) or value not in declarations:
            taken = written_parameters(_parameters(value), _kind)
            lines.append(f"    def __init__({_with_self(taken)}) -> None: ...")
        if value in declarations:
            lines.append(_call(value))
    imports.append("from mycel.kernel.record.parameter import Parameter as _Parameter")
    imports.append("from mycel.kernel.record.tensor import Tensor as _Tensor")
    text = "\nfrom typing import Any as _Any\n\n" + "\n".join(sorted(imports)) + "\n"
    what = f"What the classes of {path} are made with"
    body = "\n".join(lines)
    return (
        stub(what, text + import_kinds(_KINDS), body),
        lead(f"Where the classes of {path} are", sources),
    )


def _call(value: type[Cell]) -> str:
    """The line of `construct` of a declared class; it may call its inputs otherwise than bases."""
    called = inspect.signature(value.construct)
    taken = written_parameters([*called.parameters.values()][1:], lambda _: "_Any")
    line = f"    def construct({_with_self(taken)}) -> _{called.return_annotation}: ..."
    bases = value.__mro__[1 : value.__mro__.index(Cell)]
    others = [inspect.signature(base.construct) for base in bases if "construct" in vars(base)]
    if all(list(other.parameters) == list(called.parameters) for other in others):
        return line
    return f"{line}  # pyright: ignore[reportIncompatibleMethodOverride]"


def _with_self(parameters: str) -> str:
    return f"self, {parameters}" if parameters else "self"


def _parameters(value: type) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(value).parameters.values())
    except ValueError:
        return []


def _has_bias(parameters: list[inspect.Parameter]) -> bool:
    return any(one.name in ("bias", "has_bias") for one in parameters)


def _is_open(one: inspect.Parameter) -> bool:
    narrow = isinstance(one.default, (int, float, str, tuple)) and one.default is not one.empty
    return one.annotation is one.empty and narrow and not isinstance(one.default, bool)


def _kind(one: inspect.Parameter) -> str:
    if one.name == "output_size":
        return "_Sizes | None"  # None keeps a length, also where a size must be given
    known = _KNOWN.get(str(one.annotation))
    return known or kind_of_setting(one.name, one.default)
