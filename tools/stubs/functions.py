# SPDX-License-Identifier: Apache-2.0
"""The signatures of what is spelled: functions, Primitive classes and methods of Tensors."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator

from mycel.kernel.define.definition import Definition, definitions
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.declare import called_arguments, own_arguments
from mycel.kernel.spell.other_keywords import other_keywords
from mycel.kernel.spell.spelling import Argument, Spelling, parse
from tools.stubs.kinds import default_of, kind_of

# The file below mycel/signatures for each namespace.
FILES = {
    "ops": "ops",
    "mint": "mint",
    "mint.linalg": "mint_linalg",
    "mint.special": "mint_special",
    "mint.nn.functional": "mint_functional",
    "Tensor": "tensor",
}
_KINDS = [
    "Any",
    "Bool",
    "Bytes",
    "DTypeLike",
    "Float",
    "Int",
    "Random",
    "Scalar",
    "Sizes",
    "Axes",
    "Str",
    "TensorLike",
]
HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""{what}; written by `python -m tools.stubs`, which see."""
'''
RESULT_IMPORTS = """
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from mycel.kernel.base.dtypes import DType as _DType
from mycel.kernel.record.tensor import Tensor as _Tensor
from mycel.kernel.spell.primitive import Primitive as _Primitive
from mycel.ops.sparse.sparse_tensors import COOTensor as _COOTensor
from mycel.ops.sparse.sparse_tensors import CSRTensor as _CSRTensor
from mycel.ops.sparse.sparse_tensors import RowTensor as _RowTensor
from mycel.parallel.layout import Layout as _Layout
"""
# What the results of definitions are called in stubs: arrays are Tensors to the caller.
_RESULTS = {
    "jnp.ndarray": "_Tensor",
    "np.ndarray": "_np.ndarray[_Any, _Any]",
    "Array": "_Tensor",
    "Tensor": "_Tensor",
    "COOTensor": "_COOTensor",
    "CSRTensor": "_CSRTensor",
    "RowTensor": "_RowTensor",
    "Layout": "_Layout",
    "DType": "_DType",
    "Any": "_Any",
    "bool": "_Bool",
    "int": "_Int",
    "float": "_Float",
    "str": "_Str",
    "bytes": "_Bytes",
}
_RESULT = rf"\b({'|'.join(map(re.escape, _RESULTS))})\b"
_COMPARED = ("__eq__", "__ne__")


def spelled() -> Iterator[tuple[Definition, Spelling]]:
    """Every name of every definition."""
    for definition in definitions.values():
        for text in definition.spellings:
            yield definition, parse(text, definition.defaults)


def array_names() -> frozenset[str]:
    """Public names under which operators take arrays, and never anything else."""
    arrays, others = set(), set()
    for definition, spelling in spelled():
        if definition.composite:
            continue
        own = own_arguments(definition)
        for argument in (*(spelling.created or ()), *called_arguments(definition, spelling, own)):
            is_array = argument.inner in definition.arrays or argument.inner == definition.variadic
            (arrays if is_array else others).add(argument.public)
    return frozenset(arrays - others)


def result_of(function) -> str:
    """The type of a result, as a function says it; a Tensor if it says nothing."""
    written = inspect.unwrap(function).__annotations__.get("return", "Tensor")
    written = written.replace("np.ndarray[Any, Any]", "np.ndarray")  # it gets them below
    return re.sub(_RESULT, lambda found: _RESULTS[found[0]], written)


def signatures(namespace: str) -> tuple[str, str]:
    """The text of the stub of a namespace, and of the file that leads to its definitions."""
    arrays = array_names()
    lines, sources = [], {}
    for definition, spelling in sorted(spelled(), key=lambda one: one[1].name):
        if spelling.namespace != namespace:
            continue
        name = spelling.name
        if keyword.iskeyword(name):
            continue  # nobody can write it
        own = own_arguments(definition)
        called = called_arguments(definition, spelling, own)
        result = result_of(definition.function)
        if namespace == "Tensor":
            lines.append(_method(definition, name, called, arrays, result))
        elif spelling.created is None:
            place = f"{namespace}.{name}"
            lines.append(
                f"def {name}({_parameters(definition, called, arrays, place)}) -> {result}: ..."
            )
        else:
            lines.append(_primitive(definition, spelling, called, arrays, result))
        function = inspect.unwrap(definition.function)
        module = function.__module__
        if getattr(sys.modules[module], function.__name__, None) is not None:
            sources.setdefault(module, set()).add((function.__name__, name))
    what = f"The signatures of {namespace if namespace == 'Tensor' else f'mycel.{namespace}'}"
    imports = RESULT_IMPORTS + import_kinds(_KINDS)
    if namespace == "Tensor":
        lines += _set_on_tensor()
    body = "\n".join(lines)
    if namespace == "Tensor":
        body = "class TensorMethods:\n" + "\n".join(f"    {line}" for line in body.split("\n"))
    return stub(what, imports, body), lead(f"Where the definitions of {namespace} are", sources)


def stub(what: str, imports: str, body: str) -> str:
    """A stub with those of the imports, one on each line, that its body uses."""
    used = [
        line
        for line in imports.split("\n")
        if not line or re.search(rf"\b{line.rpartition(' ')[2]}\b", body)
    ]
    return HEAD.format(what=what) + "\n".join(used) + "\n" + body + "\n"


def lead(what: str, sources) -> str:
    """A file that leads from names to where they are defined: own and public names by module."""
    lines = []
    for module in sorted(sources):
        names = ", ".join(
            own if own == name else f"{own} as {name}" for own, name in sorted(sources[module])
        )
        text = textwrap.fill(names, 100, initial_indent="    ", subsequent_indent="    ")
        lines.append(f"from {module} import (\n{text},\n)")
    return HEAD.format(what=what) + "\n" + "\n".join(lines) + "\n"


def import_kinds(kinds: Iterable[str]) -> str:
    """Lines that import types under the names that the signatures have for them."""
    return "".join(f"from mycel.signatures.kinds import {kind} as _{kind}\n" for kind in kinds)


def _parameters(definition, arguments: list[Argument], arrays, place: str = "") -> str:
    written, optional = [], False
    others = other_keywords.get(place)
    renamed = others.words if others is not None else {}
    for argument in arguments:
        kind = kind_of(argument, definition, arrays)
        if argument.spread:
            written.append(f"*{argument.public}: {kind}")
            continue
        default = default_of(argument, optional or argument.public in renamed.values())
        optional = optional or bool(default)
        written.append(f"{argument.public}: {kind}{default}")
    if renamed:
        written.append("*")
        own = {argument.public: argument for argument in arguments}
        for word, meant in renamed.items():
            kind = (
                "_Any"
                if others and word in others.changed
                else kind_of(own[meant], definition, arrays)
            )
            written.append(f"{word}: {kind} = ...")
    return ", ".join(written)


def _method(definition, name, called: list[Argument], arrays, result: str) -> str:
    rest = _parameters(definition, called[1:], arrays, f"Tensor.{name}")
    ignored = ""
    if name in _COMPARED:
        rest, ignored = (
            f"{called[1].public}: object",
            "  # pyright: ignore[reportIncompatibleMethodOverride]",
        )
    parameters = f"self, {rest}" if rest else "self"
    # An editor that follows a method ends here, and shows this.
    function = inspect.unwrap(definition.function)
    fact = inspect.getdoc(function).partition("\n")[0].rstrip(".")
    source = f"{function.__module__}.{function.__name__}"
    text = f'    """{fact}; `{source}`."""'
    return f"def {name}({parameters}) -> {result}:{ignored}\n{text}\n    ..."


def _set_on_tensor() -> Iterator[str]:
    """What modules of operators set on the class Tensor themselves."""
    source = ast.parse(inspect.getsource(Tensor)).body[0]
    own = {node.name for node in ast.walk(source) if isinstance(node, ast.FunctionDef)}
    own |= {spelling.name for _, spelling in spelled() if spelling.namespace == "Tensor"}
    own.add("__getattr__")  # It tells what is absent; a type checker would take any name for there.
    for name, value in sorted(vars(Tensor).items()):
        if name in own:
            continue
        if isinstance(value, staticmethod):
            yield f"@staticmethod\ndef {name}(*args: _Any) -> {result_of(value.__func__)}: ..."
        elif isinstance(value, property):
            yield f"@property\ndef {name}(self) -> {result_of(value.fget)}: ..."
        elif inspect.isfunction(value):
            parameters = inspect.signature(value).parameters.values()
            stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
            written = ["self"]
            for one in list(parameters)[1:]:
                if one.kind is one.KEYWORD_ONLY and not any(w.startswith("*") for w in written):
                    written.append("*")
                default = "" if one.default is one.empty else " = ..."
                written.append(f"{stars.get(one.kind, '')}{one.name}: _Any{default}")
            yield f"def {name}({', '.join(written)}) -> {result_of(value)}: ..."


def _primitive(definition, spelling: Spelling, called, arrays, result: str) -> str:
    created = spelling.created or []
    lines = [f"class {spelling.name}(_Primitive):"]
    lines += [f"    {a.public}: {kind_of(a, definition, arrays)}" for a in created]
    given = _parameters(definition, created, arrays)
    taken = _parameters(definition, called, arrays)
    lines.append(f"    def __init__(self{', ' + given if given else ''}) -> None: ...")
    lines.append(f"    def __call__(self{', ' + taken if taken else ''}) -> {result}: ...")
    return "\n".join(lines)
