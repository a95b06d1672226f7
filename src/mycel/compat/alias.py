# SPDX-License-Identifier: Apache-2.0
"""`import mindspore` means mycel: one table of paths, one finder, one lookup of names."""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import re
import sys
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType

from mycel.compat import absent, known, stand_ins
from mycel.compat.stand_ins import StandIn
from mycel.kernel.base.log import older
from mycel.kernel.spell import namespaces
from mycel.report.tracebacks import hide_from_pytest

OURS = "mycel"
THEIRS = "mindspore"
_MISSING = object()
_turn = threading.RLock()
LONGEST_WAIT = 20.0  # in seconds, for another thread that loads packages
# What `mindspore.__version__` answers in place of the version of the table.
VERSION_VARIABLE = "MYCEL_REPORTED_VERSION"
_VERSION = "__version__"
NO_VERSION = (
    "{variable}={given!r} is no version of MindSpore: give one such as {example}, or unset it."
)
# As what MindSpore's own modules import others.
_ABBREVIATIONS = {
    "mstype": "common.dtype",
    "P": "ops.operations",
    "F": "ops.functional",
    "C": "ops.composite",
}
ALREADY_IMPORTED = (
    "mindspore is already imported from {place}. Call mycel.install_as_mindspore() before the "
    "first `import mindspore`, or start the program with `mycel run`."
)


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """The table of names.toml; read when the first path is asked for."""
    read = tomllib.loads((Path(__file__).parent / "names.toml").read_text("utf-8"))
    for former, now in read["formerly"].items():
        for part in (read["names"], read["modules"]):
            below = {path: served for path, served in part.items() if _is_below(path, now)}
            part.update({former + path.removeprefix(now): below[path] for path in below})
    return read


def _is_below(path: str, parent: str) -> bool:
    return f"{path}.".startswith(f"{parent}.")


def _now(inner: str) -> str:
    """Where MindSpore has today what stands at a path of former versions."""
    for former, now in table()["formerly"].items():
        if _is_below(inner, former):
            return now + inner.removeprefix(former)
    return inner


def _is_gone(inner: str) -> bool:
    """Whether former versions of MindSpore had this name, and no later one knows its module."""
    path, _, name = inner.rpartition(".")
    return name in table()["gone"].get(path, "").split()


class Namespace(ModuleType):
    """A module path of MindSpore: its names are those of the modules that serve it."""

    def __getattr__(self, name: str):
        if name == "__all__":
            return public_names(self.__name__)
        try:
            value = find(self.__name__, name)
        except AttributeError:
            if stand_ins.in_an_import():
                # The finder is asked anew: this import may only ask whether the name is there.
                stand_ins.forget(f"{self.__name__}.{name}")
            raise
        # Kept: the next access costs what one of an ordinary module costs.
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value):
        # An import gives a stand-in to its statement; what asks here hears that nothing is there.
        if isinstance(value, StandIn) and stand_ins.made(f"{self.__name__}.{name}") is value:
            return
        # Nor does the import of a module hide the function that has its name.
        if not isinstance(value, Namespace) or self._shows_module(name):
            super().__setattr__(name, value)

    def _shows_module(self, name: str) -> bool:
        try:
            return isinstance(find(self.__name__, name), ModuleType)
        except AttributeError:
            return True

    def __dir__(self):
        return listed(self)

    def __reduce__(self):
        # As other modules: what a program sends to a worker process may speak of `mindspore`.
        return importlib.import_module, (self.__name__,)


class Published(Distribution):
    """What `importlib.metadata` answers about the package `mindspore`: programs ask it whether
    there is one, and for its version."""

    def read_text(self, filename: str) -> str | None:
        """The two files that make a package's name, version and modules known."""
        if filename == "METADATA":
            version = find(THEIRS, _VERSION)
            return f"Metadata-Version: 2.1\nName: {THEIRS}\nVersion: {version}\n"
        return f"{THEIRS}\n" if filename == "top_level.txt" else None

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        """A path beside mycel; there are no files of `mindspore`."""
        return Path(__file__).parents[2] / path


class Finder(MetaPathFinder, Loader):
    """Finds the module paths below one root (`mindspore`, or `mycel` for its older spellings)."""

    def __init__(self, root: str):
        self.root = root

    def find_spec(self, fullname: str, path=None, target=None) -> ModuleSpec | None:
        """The import system asks here for every module; only paths below the root are ours."""
        root, _, inner = fullname.partition(".")
        if root != self.root or inner.rpartition(".")[2].startswith("__"):
            return None
        served = table()["modules"].get(inner)
        # A path served by nothing is one that programs import, and none of whose names are here.
        if served is not None and (not served or _present(served, fullname)):
            return ModuleSpec(fullname, self, is_package=True)
        if stand_ins.by_find_spec():
            return None
        text = _absent(fullname)
        if root == THEIRS and not stand_ins.only_asked():
            if known.is_module(_now(inner)):
                return ModuleSpec(fullname, self, is_package=True)
            if known.is_name(_now(inner)) or _is_gone(inner):
                return ModuleSpec(fullname, stand_ins.Loader(text))
        raise ModuleNotFoundError(text)

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Published]:
        """`importlib.metadata` asks here for every package, or (without a name) for all."""
        asked = THEIRS if context.name is None else re.sub(r"[-_.]+", "-", context.name).lower()
        return [Published()] if asked == THEIRS == self.root else []

    def create_module(self, spec: ModuleSpec) -> Namespace:
        module = Namespace(spec.name, f"{spec.name}, served by {OURS}.")
        if spec.name == THEIRS:
            # Programs look for the folder of the installation.
            module.__file__ = str(Path(__file__).parents[1] / "__init__.py")
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: names are looked up when they are asked for."""


def find(path: str, name: str):
    """The object that `path.name` means: a renamed one, a module, or one of the serving modules.

    Raises:
        AttributeError: mycel has no such name; the text names the nearest that it has.

    Example:
        >>> from mycel.compat.alias import find
        >>> find("mindspore.common.dtype", "float32")
        mindspore.float32
    """
    root, _, below = path.partition(".")
    inner = f"{below}.{name}".lstrip(".")
    if root == THEIRS and inner in table()["values"]:
        value = table()["values"][inner]
        return reported_version(value) if name == _VERSION else value
    if name.startswith("__"):
        raise AttributeError(f"module {path!r} has no attribute {name!r}")
    renamed = table()["names"].get(inner)
    if renamed is not None:
        module, _, attribute = renamed.rpartition(".")
        value = _value(_loaded(module), attribute)
        if value is not _MISSING:
            if inner in table()["older"]:
                older(f"{path}.{name}", f"{root}.{table()['older'][inner]}")
            return value
    if inner in table()["modules"]:
        return _submodule(f"{path}.{name}")
    for module in _serving(below):
        value = _value(module, name)
        if value is not _MISSING and _offers(module, name, value):
            return value
    # A module of MindSpore's that is not here is no other one of the same name.
    if root == THEIRS and below and known.is_name(inner) and not known.is_module(inner):
        value = _brought_along(name)
        if value is not _MISSING:
            return value
    raise AttributeError(_absent(f"{path}.{name}"))


def _brought_along(name: str):
    """What a module of MindSpore has under this name because it imports it itself."""
    inner = _ABBREVIATIONS.get(name, name)
    parent, _, last = f"{THEIRS}.{inner}".rpartition(".")
    try:
        return find(parent, last)
    except AttributeError:
        return _MISSING


def reported_version(usual: str) -> str:
    """The version that programs are told: the usual one, or what the environment says. Programs
    that compare versions as texts find that '2.10.0' comes before '2.2'.

    Raises:
        ValueError: the environment has something else there.
    """
    given = os.environ.get(VERSION_VARIABLE)
    if not given:
        return usual
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?([.-]?\w+)*", given):
        words = {"variable": VERSION_VARIABLE, "given": given, "example": usual}
        raise ValueError(NO_VERSION.format(**words))
    return given


def offer(module: ModuleType, names: Mapping[str, object]) -> None:
    """Let a module have names that are defined elsewhere."""
    vars(module).update(names)
    vars(module)["__all__"] += [name for name in names if name not in vars(module)["__all__"]]


def explain(*modules: ModuleType) -> None:
    """Let real modules of ours answer older names too, and say what is nearest to unknown ones."""
    for module in modules:
        vars(module)["__getattr__"] = functools.partial(_answer, module)
        vars(module)["__dir__"] = functools.partial(listed, module)


def _answer(module: ModuleType, name: str):
    value = _value(module, name)
    return find(module.__name__, name) if value is _MISSING else value


def _value(module: ModuleType, name: str):
    """What a module has under a name, also one that is only written when it is asked for."""
    value = vars(module).get(name, _MISSING)
    names = namespaces.get(module.__name__.removeprefix(f"{OURS}."), {})
    if value is _MISSING and name in names:
        value = vars(module)[name] = names[name]
    return value


def public_names(path: str) -> list[str]:
    """What `from path import *` brings: names of our own, no modules and no helpers.

    The inner modules of `ops` and `numpy` take the place of Python's `range`, `sum`, … where they
    have these in MindSpore: `ops.operations` brings Primitives, `ops.functional` functions.
    """
    public, below = set(), path.partition(".")[2]
    for module in _serving(below):
        chosen = vars(module).get("__all__")
        public.update(_own(module) if chosen is None else chosen)
    if below.startswith(("ops.", "numpy.")):
        pythons = public.intersection(dir(builtins))
        public -= {name for name in pythons if not known.is_name(f"{below}.{name}")}
    return sorted(public)


def listed(module: ModuleType) -> list[str]:
    """What `dir` lists of a module: what it has, what it looks up when asked, and older names."""
    full = module.__name__
    below = full.partition(".")[2]
    modules = table()["modules"].items()
    present = (
        inner for inner, served in modules if inner and _present(served, f"{THEIRS}.{inner}")
    )
    paths = (*table()["names"], *table()["values"], *present)
    split = [name.rpartition(".") for name in paths]
    renamed = [name for parent, _, name in split if parent == below]
    spelled = namespaces.get(below, ())
    return sorted({*vars(module), *spelled, *public_names(full), *renamed})


def install_as_mindspore() -> None:
    """From now on `import mindspore`, and every path below it, means mycel in this process.

    Nothing is installed: a finder answers the import system from a table. Classes are the same
    objects under both names.

    Raises:
        ImportError: another mindspore has been imported already.

    Example:
        >>> import mycel as ms
        >>> ms.install_as_mindspore()
        >>> from mindspore import Tensor as TheirTensor
        >>> TheirTensor is ms.Tensor
        True
    """
    loaded = sys.modules.get(THEIRS)
    if loaded is not None and not isinstance(loaded, Namespace):
        raise ImportError(ALREADY_IMPORTED.format(place=getattr(loaded, "__file__", "elsewhere")))
    if not any(isinstance(f, Finder) and f.root == THEIRS for f in sys.meta_path):
        # First, so that this holds where a real MindSpore is installed as well.
        sys.meta_path.insert(0, Finder(THEIRS))


def install_older_paths() -> None:
    """Serve MindSpore's module paths below `mycel` where no module of ours has that path."""
    for inner in table()["modules"]:
        # A file of ours where MindSpore has a package: the finder is asked for what is below it.
        ours = sys.modules.get(f"{OURS}.{inner.rpartition('.')[0]}")
        if ours is not None and not hasattr(ours, "__path__"):
            vars(ours)["__path__"] = []
    if not any(isinstance(f, Finder) and f.root == OURS for f in sys.meta_path):
        # Last: a real module is always found before.
        sys.meta_path.append(Finder(OURS))


def _submodule(path: str) -> ModuleType:
    try:
        return _loaded(path)
    except ModuleNotFoundError as error:
        raise AttributeError(str(error)) from None


def _present(served: str, asked: str) -> bool:
    """Whether one of the serving modules exists; the asked path itself does not count."""
    return any(name != asked and exists(name) for name in served.split())


def exists(name: str) -> bool:
    """Whether there is a real module of this name; our own finders are not asked."""
    if name in sys.modules:
        return not isinstance(sys.modules[name], Namespace)
    parent = name.rpartition(".")[0]
    if not parent:
        return PathFinder.find_spec(name) is not None
    places = getattr(_imported(parent), "__path__", ()) if exists(parent) else ()
    return bool(places) and PathFinder.find_spec(name, places) is not None


def _serving(inner: str) -> Iterator[ModuleType]:
    for name in table()["modules"].get(inner, "").split():
        if exists(name):
            yield _loaded(name)


def _imported(name: str) -> ModuleType:
    """A module. One thread after the other loads packages of ours: where two come to one of them
    from two sides, Python gives a module that is not yet whole."""
    # A thread that waits here while the other one waits for a module of its own goes on after this.
    is_held = _turn.acquire(timeout=LONGEST_WAIT)
    try:
        return importlib.import_module(name)
    finally:
        if is_held:
            _turn.release()


def _loaded(name: str) -> ModuleType:
    """A module; packages of ours that are loaded late explain the names they do not have."""
    known_before = len(sys.modules)
    module = _imported(name)
    if len(sys.modules) > known_before:
        # Those too that it has imported itself.
        for inner in table()["modules"]:
            _explain_late(sys.modules.get(f"{OURS}.{inner}"))
        hide_from_pytest()
    _explain_late(module)
    return module


def _explain_late(module: ModuleType | None) -> None:
    if module is None or isinstance(module, (Namespace, StandIn)):
        return
    is_ours = module.__name__.startswith(OURS) and hasattr(module, "__path__")
    if is_ours and "__getattr__" not in vars(module):
        explain(module)


def _internal(name: str, value) -> bool:
    """Private names, and modules that a serving module merely imported."""
    return name.startswith("_") or isinstance(value, ModuleType)


def _offers(module: ModuleType, name: str, value) -> bool:
    """Whether a name is a module's own, or listed by it, or at least one of ours."""
    origin, listed = getattr(value, "__module__", None), vars(module).get("__all__")
    if _internal(name, value) and name not in (listed or ()):
        return False
    # An operator's name may mean a function of Python's own.
    if name in namespaces.get(module.__name__.removeprefix(f"{OURS}."), ()):
        return True
    if listed is not None:
        return name in listed or origin is None or f"{origin}.".startswith(f"{module.__name__}.")
    ours = OURS if module.__name__.startswith(OURS) else module.__name__
    return origin is None or origin.startswith(ours)


def _own(module: ModuleType) -> Iterable[str]:
    """What a module without `__all__` offers: a package all of ours, a file what it defines."""
    ours = OURS if hasattr(module, "__path__") else module.__name__
    for name, value in vars(module).items():
        origin = getattr(value, "__module__", None)
        if not _internal(name, value) and (origin is None or origin.startswith(ours)):
            yield name


# Tools ask modules for the same marks of theirs again and again.
@functools.lru_cache(maxsize=256)
def _absent(fullname: str) -> str:
    """The text about a path or name that is not there."""
    path, _, name = fullname.rpartition(".")
    modules = table()["modules"]
    root, _, inner = fullname.partition(".")
    instead = table()["instead"].get(inner)
    if instead is not None:
        return absent.absent_name(path, name, (), [f"{OURS}.{instead}"])
    parent = inner.rpartition(".")[0]
    if inner in modules or not (parent in modules or known.is_module(_now(parent))):
        return absent.absent_module(fullname, (f"{root}.{m}" for m in _available(fullname)))
    elsewhere = [
        f"{OURS}.{space}{'.' if space else ''}{name}"
        for space in ("", "ops", "nn")
        if name in public_names(f"{OURS}.{space}".rstrip("."))
    ]
    below = inner.rpartition(".")[0]
    paths = [m.rpartition(".") for m in _available(fullname)]
    names = [*public_names(path), *(last for parent, _, last in paths if parent == below)]
    return absent.absent_name(path, name, names, elsewhere)


def _available(but: str) -> Iterator[str]:
    return (m for m, served in table()["modules"].items() if m and _present(served, but))
