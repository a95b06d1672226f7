# SPDX-License-Identifier: Apache-2.0
"""The public names of packages, and of MindSpore's module paths, as lines that import them."""

from __future__ import annotations

import functools
import importlib
import inspect
import keyword
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

from mycel.compat import alias
from mycel.kernel.spell.declare import namespaces
from tools.stubs.classes import CLASS_FILES, typed_classes
from tools.stubs.functions import FILES, HEAD, spelled
from tools.stubs.kinds import written_parameters
from tools.stubs.plain import FUNCTION_FILES, plain_functions

# Packages whose names are looked up or written when they are asked for.
PACKAGES = (
    "mycel",
    "mycel.ops",
    "mycel.nn",
    "mycel.mint",
    "mycel.mint.linalg",
    "mycel.mint.special",
    "mycel.mint.nn",
    "mycel.mint.nn.functional",
    "mycel.numpy",
    "mycel.optim.experimental",
    "mycel.dataset",
    "mycel.checkpoint",
)
# What declarations need that stand in no other file.
_USED = (
    "from typing import Any as _Any",
    "from mycel.kernel.spell.primitive import Primitive as _Primitive",
)
_OURS, _THEIRS = alias.OURS, alias.THEIRS


def load_everything() -> None:
    """Import each of our modules that serves a path, so that what there is depends on nothing."""
    served = {name for names in alias.table()["modules"].values() for name in names.split()}
    for name in sorted(served):
        if name.startswith(_OURS) and alias.exists(name):
            importlib.import_module(name)


def package_stub(path: str) -> str:
    """The stub of one of our packages: what is spelled there, and where the rest comes from."""
    module = importlib.import_module(path)
    namespace = path.partition(".")[2]
    signed = signed_names(namespace)
    lines = []
    if signed:
        lines.append(f"from mycel.signatures.{FILES[namespace]} import *")
    names = set(public_members(module))
    typed = typed_classes(path) if path in CLASS_FILES else {}
    lines += [f"from mycel.signatures.{CLASS_FILES[path]} import {n} as {n}" for n in typed]
    plain = plain_functions(path) if path in FUNCTION_FILES else {}
    if plain:
        lines.append(f"from mycel.signatures.{FUNCTION_FILES[path]} import *")
    lines += _imports(path, sorted(names - signed - set(typed) - set(plain)))
    lines += [line for line in _USED if any(line.split()[-1] in one for one in lines)]
    text = "\n".join(sorted(lines, key=_imports_first))
    return f"{HEAD.format(what=f'The names of {path}')}\n{text}\n"


@functools.cache
def signed_names(namespace: str) -> frozenset[str]:
    """The names whose signatures are written from spellings."""
    return frozenset(one.name for _, one in spelled() if one.namespace == namespace)


def _imports_first(line: str) -> tuple[bool, str]:
    return not line.startswith(("from ", "import ")), line


def public_members(module: ModuleType) -> list[str]:
    """What `dir` lists of a module; of the files below it those that are paths of MindSpore's."""
    paths = alias.table()["modules"]
    return [
        name
        for name in dir(module)
        if not name.startswith("_") or name == "__version__"
        if not isinstance(value := getattr(module, name), ModuleType)
        or hasattr(value, "__path__")
        or isinstance(value, alias.Namespace)
        or f"{module.__name__}.{name}".partition(".")[2] in paths
        or name in getattr(module, "__all__", ())
    ]


def _imports(path: str, names: Iterable[str]) -> Iterator[str]:
    module = importlib.import_module(path)
    for name in names:
        if keyword.iskeyword(name):
            continue
        value = getattr(module, name)
        inner = f"{path}.{name}".partition(".")[2]
        own = alias.table()["names"].get(inner, name).rpartition(".")[2]
        origin = _origin(path, own, value)
        if origin is None or origin[1].startswith("_"):
            yield _declaration(name, value)
        else:
            yield from _again(*origin, name)


def _declaration(name: str, value) -> str:
    """A line for what stands nowhere under a public name."""
    if inspect.isclass(value):
        return f"class {name}(_Primitive): ..."
    if inspect.isfunction(value):
        parameters = inspect.signature(value).parameters.values()
        return f"def {name}({written_parameters(parameters, lambda _: '_Any')}) -> _Any: ..."
    return f"{name}: {type(value).__name__}"


def _again(module: str, own: str, name: str) -> Iterator[str]:
    """Lines that offer a name of a module; in a stub an import under another name is private."""
    # MindSpore's private names, which some programs import, may be served by ours, and need not
    # tell their types.
    private = "  # pyright: ignore" if name.startswith("_") or own.startswith("_") else ""
    if own == name:
        yield f"from {module} import {own} as {own}{private}"
    else:
        line = f"from {module} import {own} as _{name}" if own else f"import {module} as _{name}"
        yield line + private
        yield f"{name} = _{name}{private}"


def _origin(path: str, name: str, value) -> tuple[str, str] | None:
    """Module and name from which a value comes; None for a value that stands nowhere else."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        if isinstance(value, alias.Namespace):
            parent = parent.replace(_OURS, _THEIRS, 1)
        return (parent, last) if parent else (value.__name__, "")
    home = getattr(value, "__module__", None)
    if (inspect.isclass(value) or inspect.isroutine(value)) and isinstance(home, str):
        own = value.__name__
        namespace = home.partition(".")[2]
        if own in signed_names(namespace) and namespaces[namespace][own] is value:
            return f"mycel.signatures.{FILES[namespace]}", own
        if vars(sys.modules.get(home, value)).get(own) is value and home != path:
            return home, own
    for module in (type(value).__module__, *_candidates()):
        for other in (name, getattr(value, "__name__", name)):
            if module != path and vars(sys.modules[module]).get(other) is value:
                return module, other
    return None


def mindspore_stubs() -> dict[str, str]:
    """The stubs of MindSpore's module paths: the text of each by its path below `mindspore`."""
    modules = alias.table()["modules"]
    found: dict[str, list[str]] = {}
    for path, served in modules.items():
        # The first that has a name serves it, and the last import of a name holds.
        served_by = [name for name in served.split() if alias.exists(name)]
        found[path] = [f"from {name} import *" for name in reversed(served_by)]
    for path in sorted(modules):
        parent, _, name = path.rpartition(".")
        if path and parent in found:
            found[parent] += _again(f"{_THEIRS}.{parent}".rstrip("."), name, name)
    for path, origin in alias.table()["names"].items():
        parent, _, name = path.rpartition(".")
        module, _, own = origin.rpartition(".")
        if parent in found:
            found[parent] += _again(module, own, name)
    for path in alias.table()["values"]:
        parent, _, name = path.rpartition(".")
        found[parent].append(f"{name}: str")
    return {
        path: HEAD.format(what=f"What {f'{_THEIRS}.{path}'.rstrip('.')} means here")
        + "".join(f"\n{line}" for line in ("", *lines))
        + "\n"
        for path, lines in found.items()
    }


def _candidates() -> list[str]:
    """Modules in which a value may be defined: the kernel's, then the deepest first."""
    ours = [m for m in sys.modules if m.startswith(f"{_OURS}.") and "mycel.compat.names" not in m]
    return sorted(ours, key=lambda m: (not m.startswith("mycel.kernel."), -m.count("."), m))
