# SPDX-License-Identifier: Apache-2.0
"""What layers, losses and optimisers are made with, where their source leaves types open.

A type checker takes `stride=1` for an integer and nothing else. So a class stands in the stub as a
subclass of itself whose parameters have types; all else is read in the source.
"""

from __future__ import annotations

import importlib
import inspect

from mycel.kernel.spell.primitive import Primitive
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
    """The public classes of a package whose parameters a type checker would take for too little."""
    module = importlib.import_module(path)
    found = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if not inspect.isclass(value) or issubclass(value, (Primitive, BaseException)):
            continue
        parameters = _parameters(value)
        if _has_bias(parameters) or any(_is_open(one) for one in parameters):
            found[name] = value
    return found


def class_signatures(path: str) -> tuple[str, str]:
    """The text of the stub of a package's classes, and of the file that leads to them."""
    lines, imports, sources = [], [], {}
    for name, value in sorted(typed_classes(path).items()):
        imports.append(f"from {value.__module__} import {value.__name__} as _{name}")
        sources.setdefault(value.__module__, set()).add((value.__name__, name))
        lines.append(f"class {name}(_{name}):")
        if _has_bias(_parameters(value)):
            lines.append("    bias: _Parameter")  # for those who asked for one
        lines.append(
            f"    def __init__(self, {written_parameters(_parameters(value), _kind)}) -> None: ..."
        )
    imports.append("from mycel.kernel.record.parameter import Parameter as _Parameter")
    text = "\nfrom typing import Any as _Any\n\n" + "\n".join(sorted(imports)) + "\n"
    what = f"What the classes of {path} are made with"
    body = "\n".join(lines)
    return (
        stub(what, text + import_kinds(_KINDS), body),
        lead(f"Where the classes of {path} are", sources),
    )


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
    known = _KNOWN.get(str(one.annotation))
    return known or kind_of_setting(one.name, one.default)
