# SPDX-License-Identifier: Apache-2.0
"""The signatures of functions that are written as such: those of `mycel.numpy`."""

from __future__ import annotations

import importlib
import inspect

from tools.stubs.functions import RESULT_IMPORTS, import_kinds, lead, result_of, stub
from tools.stubs.kinds import kind_of_setting, written_parameters

# The file below mycel/signatures for each package of functions.
FUNCTION_FILES = {"mycel.numpy": "numpy"}
# By name, where NumPy's functions take more than layers do; a fill may be a list of pairs.
_NAMED = {
    "TensorLike": "a a1 a2 ar1 ar2 arr array ary b element fp input v values x x1 x2 xp y",
    "Any": "axes bins constant_values default end_values fill_value mode n repeats where",
}
_OF_NUMPY = {name: kind for kind, names in _NAMED.items() for name in names.split()}
_KINDS = [
    "Axes",
    "Bool",
    "DTypeLike",
    "Float",
    "Int",
    "Scalar",
    "Sizes",
    "Str",
    "TensorLike",
]


def plain_functions(path: str) -> dict[str, object]:
    """The public functions of a package by name."""
    module = importlib.import_module(path)
    public = [name for name in dir(module) if not name.startswith("_")]
    return {n: v for n in public if inspect.isfunction(v := getattr(module, n))}


def function_signatures(path: str) -> tuple[str, str]:
    """The text of the stub of a package's functions, and of the file that leads to them."""
    lines, sources = [], {}
    for name, function in sorted(plain_functions(path).items()):
        parameters = written_parameters(inspect.signature(function).parameters.values(), _kind)
        lines.append(f"def {name}({parameters}) -> {result_of(function)}: ...")
        sources.setdefault(function.__module__, set()).add((function.__name__, name))
    imports = RESULT_IMPORTS + import_kinds(_KINDS)
    return (
        stub(f"The signatures of {path}", imports, "\n".join(lines)),
        lead(f"Where the functions of {path} are", sources),
    )


def _kind(one: inspect.Parameter) -> str:
    known = _OF_NUMPY.get(one.name)
    if known is None:
        return kind_of_setting(one.name, one.default)
    return f"_{known} | None" if one.default is None else f"_{known}"
