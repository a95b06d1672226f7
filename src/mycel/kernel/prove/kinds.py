# SPDX-License-Identifier: Apache-2.0
"""What a file, an object or a function is to the watch over Python (see prove.reads).

Python code is either looked into or belongs to the machine. Functions written in C cannot be looked
into: those listed here depend on nothing but what they are given; all others are effects.
"""

from __future__ import annotations

import abc
import ast
import decimal
import functools
import operator
import pickle
import random
import struct
import threading
import types
import warnings
import weakref
from _random import Random as Twister
from array import array
from builtins import delattr, getattr, hasattr, setattr  # not what stands in for them meanwhile
from collections import deque
from contextvars import ContextVar
from enum import Enum
from typing import Any

import numpy as np

from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.places import PACKAGE
from mycel.kernel.prove.sources import PLAIN, VIEWS
from mycel.kernel.record.tensor import Tensor

# -- files ----------------------------------------------------------------------------------

# Of our own code, what keeps Python state as a user's code does.
_STATEFUL = (
    "amp/", "checkpoint/", "communication/", "dataset/", "experimental/", "optim/lr_scheduler",
    "optim/group_schedulers", "optim/plateau_scheduler", "optim/wave_schedulers", "parallel/",
    "summary/", "train/",
)  # fmt: skip
_MACHINES = ("jax", "jaxlib", "numpy", "ml_dtypes", "scipy", "opt_einsum", "rich", "safetensors")
_PURE_FILES = (
    "re/", "enum.py", "abc.py", "typing.py", "types.py", "importlib/", "numbers.py", "keyword.py",
    "warnings.py", "pdb.py", "bdb.py", "cmd.py",
)  # fmt: skip
_WITH_STATE = ("os", "_collections_abc", "posixpath", "genericpath", "ntpath", "codecs")
# Ours, and called where the module `traceback` calls its own.
_IN_LIBRARY = "report/tracebacks.py"
# Parts of Python's library that keep or read state, and come with the interpreter.
_FROZEN = frozenset(f"<frozen {name}>" for name in _WITH_STATE)
_LIBRARY = functools.__file__.removesuffix("functools.py")
# Whether code of a file is looked into line by line: not; as the user's own; where such code calls
# it, as Python's library; where that or we call it, as packages from elsewhere.
NOT, USERS, LIBRARYS, PACKAGES = range(4)
_files: dict[str, int] = {}


def is_watched(filename: str) -> int:
    """Whether code of this file is looked into line by line, as one of the four above."""
    known = _files.get(filename)
    if known is None:
        known = _files[filename] = _is_watched(filename)
    return known


def _is_watched(filename: str) -> int:
    if filename.startswith(PACKAGE):
        part = filename[len(PACKAGE) :].replace("\\", "/")
        if part == _IN_LIBRARY:
            return LIBRARYS
        return USERS if part.startswith(_STATEFUL) else NOT
    if filename in _FROZEN:
        return LIBRARYS
    if filename.startswith(("<mycel", "<frozen", "<__array_function__")):
        return NOT
    path = filename.replace("\\", "/")
    if "site-packages/" in path:
        return NOT if path.split("site-packages/")[-1].split("/")[0] in _MACHINES else PACKAGES
    if filename.startswith(_LIBRARY):
        return NOT if path[len(_LIBRARY) :].startswith(_PURE_FILES) else LIBRARYS
    return USERS


@functools.lru_cache(4096)
def _top(module: str | None) -> str:
    return (module or "").split(".")[0]


@functools.lru_cache(4096)
def is_machine(module: str | None) -> bool:
    """Whether what a module defines belongs to the machine."""
    name = module or ""
    if _top(name) == "mycel":
        return not (name.replace(".", "/")[len("mycel/") :] + "/").startswith(_STATEFUL)
    return _top(name) in _MACHINES or _top(name) == "mindspore"


# What stands for Python's own functions while a call is recorded, by id.
STAND_INS: dict[int, object] = {}


@functools.lru_cache(4096)
def is_unchanged(module: str | None) -> bool:
    """Whether nobody changes the classes of a module, or nobody can."""
    return _top(module) in ("builtins", "mycel", "mindspore", "collections", "abc", *_MACHINES)


# -- objects --------------------------------------------------------------------------------

(
    NOTHING, FIXED, CONTAINER, FUNCTION, METHOD, BUILTIN, CLASS, MODULE, CELL, TENSOR, OBJECT,
    GENERATOR, ITERATOR, PARTIAL, MEMO, VARIABLE, REFERENCE, DECIMAL, LOCK, MACHINE,
    OPAQUE,
) = range(21)  # fmt: skip

RANDOM_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)
_PURE_TYPES = (
    *PLAIN, range, slice, np.generic, np.dtype, np.ufunc, property, staticmethod, classmethod,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.CodeType, types.GenericAlias,
    Enum,
)  # fmt: skip
_PURE_MODULES = frozenset((
    "datetime", "decimal", "_decimal", "fractions", "re", "_sre", "pathlib", "uuid", "ipaddress",
    "string", "_thread", "typing", "abc", "_abc", "functools", "operator", "types", "zoneinfo",
    "_collections", "_json",
))  # fmt: skip
_MEMO = type(functools.lru_cache(maxsize=1)(lambda: None))
_THREAD_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_BUILTINS = (
    types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, np.ufunc,
)  # fmt: skip
_THREAD_LOCAL = type(threading.local())
_kinds: dict[type, int] = {}


def kind_of(value) -> int:
    """Which of the kinds above an object is."""
    kind = type(value)
    known = _kinds.get(kind)
    if known is None:
        known = _kinds[kind] = _kind_of(kind)
    return known


METHODS_IN_C = (types.MethodDescriptorType, types.WrapperDescriptorType)
# Classes in C whose instances keep what they are in fields.
_KEEP_FIELDS = (object, types.SimpleNamespace, _THREAD_LOCAL, ast.AST)
# The first that fits.
_KINDS = (
    (Tensor, TENSOR),
    ((tuple, frozenset), FIXED),
    (types.FunctionType, FUNCTION),
    (types.MethodType, METHOD),
    (_BUILTINS, BUILTIN),
    (type, CLASS),
    (types.ModuleType, MODULE),
    (RANDOM_GENERATORS, GENERATOR),
    (functools.partial, PARTIAL),
    (_MEMO, MEMO),
    (ContextVar, VARIABLE),
    (weakref.ref, REFERENCE),
    (decimal.Decimal, DECIMAL),
    (types.CellType, OBJECT),
    (_THREAD_LOCKS, LOCK),
    ((list, dict, set, deque, np.ndarray, bytearray, memoryview, array, *VIEWS), CONTAINER),
    (_PURE_TYPES, NOTHING),
)


def _kind_of(kind: type) -> int:
    if _is_of_numpy_and_holds(kind):
        return OPAQUE
    if kind is object:
        return NOTHING  # stands for something
    if issubclass(kind, decimal.Context):
        return OPAQUE
    if issubclass(kind, Enum) and _members_hold(kind):
        return OBJECT
    for types_of, known in _KINDS:
        if issubclass(kind, types_of):
            return known
    if issubclass(kind, CellBase):
        return CELL
    if is_machine(kind.__module__):
        return MACHINE
    if has(kind, "__next__") and not _is_written_in_python(kind):
        return ITERATOR
    if _has_state_in_c(kind):
        return OPAQUE
    if _is_written_in_python(kind):
        return OBJECT
    return NOTHING if _top(kind.__module__) in _PURE_MODULES else OPAQUE


# What every member of an Enum has.
_OF_MEMBERS = frozenset(("_value_", "_name_", "__objclass__", "_sort_order_"))


def _members_hold(kind: type[Enum]) -> bool:
    """Whether members of an Enum hold more than a name and a number or text."""
    return any(
        not isinstance(member.value, PLAIN) or not _OF_MEMBERS.issuperset(member.__dict__)
        for member in kind
    )


# Objects of NumPy and SciPy that hold nothing of a program's.
_HOLD_NOTHING = frozenset((
    "_ArrayFunctionDispatcher", "finfo", "iinfo", "IndexExpression", "RClass", "CClass",
    "AxisConcatenator", "nd_grid", "MGridClass", "OGridClass", "PytestTester",
))  # fmt: skip


def _is_of_numpy_and_holds(kind: type) -> bool:
    """Whether instances of a class of NumPy or SciPy have state of which NumPy alone knows: masked
    and mapped arrays, polynomials, sparse matrices, bit generators."""
    if issubclass(kind, np.ndarray):
        return kind is not np.ndarray
    if issubclass(kind, np.void):
        return True  # a view of an array
    if _top(kind.__module__) not in ("numpy", "scipy") or issubclass(kind, type):
        return False
    if issubclass(kind, (*_PURE_TYPES, *RANDOM_GENERATORS)) or kind.__name__ in _HOLD_NOTHING:
        return False
    # The distributions, not those that were given their numbers.
    return "_ctor_param" not in dir(kind) and not kind.__name__.endswith("_gen")


def _has_state_in_c(kind: type) -> bool:
    """Whether a class written in C, of which we do not know that it keeps nothing or keeps it in
    fields, is above one that is written in Python, or is one of `ctypes`."""
    for owner in kind.__mro__:
        if owner.__module__ == "_ctypes":
            return True
        if issubclass(owner, BaseException) or owner in _KEEP_FIELDS:
            continue
        if _top(owner.__module__) in _PURE_MODULES:
            continue
        for part in owner.__dict__.values():
            if isinstance(part, METHODS_IN_C) and part.__objclass__ is owner:
                return True
    return False


def _is_written_in_python(kind: type) -> bool:
    """Whether instances keep what they are in fields that can be looked at."""
    if issubclass(kind, (types.SimpleNamespace, _THREAD_LOCAL, BaseException)):
        return True
    for owner in kind.__mro__:
        names = owner.__dict__
        if owner.__flags__ >> 9 & 1 and "__doc__" in names and "__weakref__" in names:
            return True
        if any(isinstance(p, types.FunctionType) or n == "__slots__" for n, p in names.items()):
            return True
    return False


# What C compares and writes out by all its fields.
LOOKED_AT_IN_C = (types.SimpleNamespace, BaseException)


def has(kind: type, name: str) -> bool:
    """Whether a class, or one above it, has a name; its metaclass is not asked."""
    return any(name in owner.__dict__ for owner in kind.__mro__)


def fields_of(value) -> Any:
    """The fields of an object, without asking it; None where it has none."""
    if issubclass(type(value), _THREAD_LOCAL):
        return value.__dict__  # those of this thread
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


@functools.lru_cache(4096)
def names_slots(kind: type) -> bool:
    """Whether a class of a program, or one above it, says what slots it has, perhaps none."""
    return any(
        "__slots__" in owner.__dict__ and not is_unchanged(owner.__module__)
        for owner in kind.__mro__
    )


@functools.lru_cache(4096)
def slots_of(kind: type) -> tuple:
    """What a class keeps in slots of its own, or of a class of a program above it."""
    return tuple(
        [
            part
            for owner in kind.__mro__
            if not is_machine(owner.__module__)
            for part in owner.__dict__.values()
            if type(part) is types.MemberDescriptorType
            and part.__objclass__ is owner
            and owner.__flags__ >> 9 & 1
        ]
    )


# -- functions written in C ---------------------------------------------------------------------

_PURE_FUNCTIONS_OF = frozenset((
    "builtins", "math", "cmath", "_operator", "operator", "itertools", "_functools", "functools",
    "_collections", "collections", "_heapq", "_bisect", "_struct", "_json", "_sre", "_string",
    "unicodedata", "zlib", "binascii", "_hashlib", "_sha1", "_sha2", "_md5", "_blake2", "_weakref",
    "_abc", "_codecs", "array", "_decimal", "_statistics", "numpy", "_contextvars",
    "_typing", "_thread", "_pickle", "_copy", "_types",
))  # fmt: skip
_IMPURE_BUILTINS = frozenset((
    "input", "open", "exec", "globals", "id", "dir", "__import__",
))  # fmt: skip
_CLOCKS = frozenset(("now", "today", "utcnow"))
# Methods of classes that tell what the interpreter knows.
_OF_CLASSES = frozenset(("__subclasses__",))
# What lives outside the process's view in modules that are otherwise pure.
_IMPURE_THERE = frozenset(("start_new_thread", "start_new", "_exit", "copy_context"))
_STILL = frozenset((
    ("sys", "getsizeof"), ("sys", "intern"), ("sys", "exc_info"), ("posix", "fspath"),
    ("_thread", "get_ident"), ("_thread", "allocate_lock"),
))  # fmt: skip


def effect_of(function) -> str | None:
    """What a function written in C does besides giving a result; None for nothing."""
    name = getattr(function, "__name__", type(function).__name__)
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        return None
    if owner is None or type(owner) is types.ModuleType:
        module = getattr(function, "__module__", None) or getattr(owner, "__name__", None)
        if module is None and hasattr(function, "__objclass__"):
            module = function.__objclass__.__module__
        if (module, name) in _STILL:
            return None
        if module == "builtins" and name == "print":
            return "print() under another name"
        if module == "builtins":
            return f"{name}()" if name in _IMPURE_BUILTINS else None
        top = _top(module)
        if name in _IMPURE_THERE or not (top in _PURE_FUNCTIONS_OF or is_machine(module)):
            return f"{module}.{name}()"
        return None
    if isinstance(owner, type):
        return f"{owner.__name__}.{name}()" if name in _CLOCKS or name in _OF_CLASSES else None
    return None


# Of NumPy and SciPy, what reads or writes files.
WRITES_FILES = frozenset(("tofile", "dump"))
_FILES_OF_NUMPY = frozenset((
    "load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt", "fromfile",
    "fromregex", "memmap", "open_memmap", "DataSource", "NpzFile",
))  # fmt: skip
# What looks into objects without asking them.
_INSPECTING = frozenset((
    ("inspect", "getmembers"), ("inspect", "getmembers_static"), ("inspect", "getattr_static"),
    ("inspect", "getclosurevars"), ("inspect", "get_annotations"), ("typing", "get_type_hints"),
    ("inspect", "signature"), ("inspect", "getfullargspec"), ("inspect", "getsource"),
    ("linecache", "getline"), ("importlib", "reload"),
    ("importlib", "invalidate_caches"), ("traceback", "format_exc"), ("traceback", "format_stack"),
    ("traceback", "extract_stack"), ("codecs", "lookup"), ("codecs", "getincrementaldecoder"),
))  # fmt: skip
# What we use ourselves to write to the console and to files.
_TELL_THE_OUTSIDE = frozenset(("rich", "safetensors"))
_CALLBACKS_OF_JAX = frozenset(("debug_print", "debug_callback", "io_callback", "pure_callback"))


def looks_outside(function) -> bool:
    """Whether a function or class that is not looked into reads or changes what nobody can see
    from its arguments: files, the console, what the interpreter knows of objects."""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    top = _top(module)
    if (module, name) in _INSPECTING:
        return True
    if top == "numpy":
        return name in _FILES_OF_NUMPY
    if top in _TELL_THE_OUTSIDE or module == "jax._src.config":
        return True
    return module.startswith("scipy.io") or (top == "jax" and name in _CALLBACKS_OF_JAX)


def is_of_numpy(function) -> bool:
    """Whether a function or class is one of NumPy."""
    return isinstance(function, np.ufunc) or _top(getattr(function, "__module__", None)) == "numpy"


def numpy_settings(_) -> str:
    """What NumPy does on errors, and how it writes arrays."""
    return f"{np.geterr()} {np.get_printoptions()}"


def is_decimal(function) -> bool:
    """Whether a function or class is one of the module decimal."""
    return _top(getattr(function, "__module__", None)) in ("decimal", "_decimal")


def generator_of(function):
    """The generator of random numbers that a function draws from or seeds, if it does."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, RANDOM_GENERATORS):
        return owner
    is_global = (getattr(function, "__module__", None) or "").startswith("numpy.random")
    return np.random.mtrand._rand if is_global and not isinstance(function, type) else None


# Whether what reads or sets a field by its name sets it.
_BY_NAME = {getattr: False, hasattr: False, setattr: True, delattr: True}
_METHODS_BY_NAME = {"__getattribute__": False, "__setattr__": True, "__delattr__": True}


def field_by_name(function) -> bool | None:
    """Whether a function in C sets, or just reads, a field by its name; None for any other."""
    if type(function) is types.BuiltinFunctionType:
        return _BY_NAME.get(function) if bound_to(function) is None else None
    if type(function) in (types.WrapperDescriptorType, types.MethodWrapperType):
        return _METHODS_BY_NAME.get(function.__name__)
    return None


def bound_to(function):
    """The object whose method a function in C is."""
    owner = getattr(function, "__self__", None)
    if type(owner) is types.ModuleType and type(function) is types.BuiltinFunctionType:
        return None
    return owner


_FILTERING = frozenset(("simplefilter", "filterwarnings", "resetwarnings"))


def sets_warnings(function) -> bool:
    """Whether a function changes which warnings are shown."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
    return module == "warnings" and name in _FILTERING


def warning_filters(_) -> str:
    """Which warnings are shown, comparable."""
    return repr(warnings.filters)


def is_pickling(function) -> bool:
    """Whether a function reads all that an object leads to."""
    return function is pickle.dumps or function is pickle.dump


def names_of(getter) -> list[str]:
    """The attributes that an `attrgetter` or a `methodcaller` asks for."""
    made, given = getter.__reduce__()
    if isinstance(getter, operator.methodcaller):
        given = getattr(made, "args", given)[:1]  # with keywords it is made by a partial
    return [name for path in given for name in path.split(".")]


def tells_thread(function) -> bool:
    """Whether a function tells which thread calls it."""
    return function is threading.get_ident or function is threading.get_native_id


def thread(_) -> int:
    """The thread that calls, comparable."""
    return threading.get_ident()


def state_of_lock(lock) -> str:
    """Whether it is held, how often and by whom."""
    return repr(lock)


def state_of_partial(partial) -> tuple:
    """What it calls with what."""
    return (partial.func, partial.args, *partial.keywords, *partial.keywords.values())


def abstract_registrations(_) -> object:
    """A count of the classes that were registered for abstract ones."""
    return abc.get_cache_token()


def decimal_context(_) -> str:
    """The context of decimal numbers, comparable."""
    return repr(decimal.getcontext())


def state_of(generator):
    """The state of a generator of random numbers, comparable."""
    if type(generator) is random.Random:
        numbers = _TWISTER.pack(*Twister.getstate(generator))
        return numbers, generator.__dict__.get("gauss_next")
    if isinstance(generator, random.Random):
        try:
            return repr(generator.getstate())
        except NotImplementedError:  # the system's
            return None
    if isinstance(generator, np.random.Generator):
        return _comparable(generator.bit_generator.state)
    return _comparable(generator.get_state(legacy=False))


def _comparable(state):
    """Dicts and arrays as what is compared by value; how arrays are written is a setting."""
    if isinstance(state, dict):
        return tuple([(name, _comparable(part)) for name, part in state.items()])
    return state.tobytes() if isinstance(state, np.ndarray) else state


# The state of a Mersenne twister: numbers and a position among them.
_TWISTER = struct.Struct("625I")
