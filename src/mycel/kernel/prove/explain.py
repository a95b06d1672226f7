# SPDX-License-Identifier: Apache-2.0
"""Arguments in words: what a key of arguments stands for, and how two of them differ.

A key is what `key_of` in execute/keys.py makes: for each argument an Aval (a Tensor), or its type
with its value, its parts or its identity; `(name, key)` for those given by name; behind them which
Tensors are the same one, and their hooks.
"""

from __future__ import annotations

import functools
import inspect
import operator
import reprlib
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from mycel.kernel.base.cell import CellBase
from mycel.kernel.define.aval import Aval
from mycel.kernel.prove.notes import Again

# Differences that are told; more are counted.
MOST_TOLD = 3
# Earlier calls that a call is compared with: enough for those that take turns.
MOST_COMPARED = 16

_PASS_TENSOR = "pass a Tensor"
_PAD_BATCH = "pad the last batch, or drop_remainder=True"
_PAD = "pad to a few lengths"
_ONE_RANK = "pass Tensors of one rank"
_CONVERT = "convert it to one type before the call"
_FEW_VALUES = "each value is recorded for itself: keep to a few"
_SAME_OBJECT = "pass the same object, or its data"
_SAME_PARTS = "pass containers of one structure"
_SAME_CALL = "call it with the same arguments, in one order"
_COPY = "pass copies, or one Tensor, at every call"
_ALIKE = "pass copies, or one and the same, at every call"
_HOOKS = "register hooks once, before the calls"

_missing: Any = object()

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 30


class _Difference(NamedTuple):
    what: str
    remedy: str


class _Parts(NamedTuple):
    """A key, taken apart."""

    placed: list
    named: dict[str, Any]
    alike: tuple
    hooks: tuple


def name_of(function: Callable, owner=None) -> str:
    """What a compiled function is called in messages: `step`, `Net`, `grad of forward`.

    Args:
        owner: the Cell whose call the function is, if any.
    """
    if owner is not None:
        return type(owner).__name__
    if isinstance(function, functools.partial):
        return name_of(function.func)
    inside = getattr(getattr(function, "__self__", None), "__wrapped__", None)
    if callable(inside):
        return f"grad of {name_of(inside)}"
    named = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return (named or type(function).__name__).split("<locals>.")[-1]


def argument_names(function: Callable, owner=None) -> list[str]:
    """The names of a function's arguments, without `self` of a bound method; `*names` for many.

    Args:
        owner: the Cell whose call the function is, if any: its `construct` names the arguments.
    """
    function = owner if owner is not None else function
    inside = getattr(getattr(function, "__self__", None), "__wrapped__", None)
    if callable(inside):
        function = inside  # what is differentiated names the arguments of its derivative
    if isinstance(function, CellBase):
        function = function.construct
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*"}
    apart = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    return [stars.get(one.kind, "") + one.name for one in parameters if one.kind not in apart]


def explain_keys(signature_names: list[str], before: tuple, after: tuple) -> tuple[str, str]:
    """Which arguments differ between two keys and how, and what to write instead.

    Args:
        signature_names: the names of the arguments by position; too few are made up for.
        before: the key of an earlier call; `after`: that of the present one.
    """
    old, new = _taken_apart(before), _taken_apart(after)
    differences = list(_arguments(signature_names, old, new))
    if not differences and list(old.named) != list(new.named):
        differences = [_Difference("the named arguments came in another order", _SAME_CALL)]
    if not differences and old.alike != new.alike:
        differences = [_Difference("other arguments are one and the same Tensor", _COPY)]
    if not differences and old.hooks != new.hooks:
        differences = [_Difference("the hooks on an argument are others", _HOOKS)]
    if not differences:
        return "an argument is another one", _SAME_OBJECT
    told = "; ".join(one.what for one in differences[:MOST_TOLD])
    if len(differences) > MOST_TOLD:
        told += f"; and {len(differences) - MOST_TOLD} more"
    remedies = dict.fromkeys(one.remedy for one in differences[:MOST_TOLD])
    return told, "; ".join(list(remedies)[:2])


def nearest_key(keys: Sequence[tuple], key: tuple) -> tuple | None:
    """Of the latest keys of earlier calls the one that differs least, of equals the latest.

    A function may take turns between kinds of calls: what changed is told against its own kind.
    """

    def distance(other: tuple) -> int:
        return sum(map(operator.ne, other, key)) + abs(len(other) - len(key))

    return min(keys[: -MOST_COMPARED - 1 : -1], key=distance, default=None)


def describe_key(signature_names: list[str], key: tuple) -> str:
    """A key in words, as `x Float32[4, 8], t=1.0`; "no arguments" if it has none."""
    parts = _taken_apart(key)
    told = [
        _argument(_name_at(signature_names, position), entry)
        for position, entry in enumerate(parts.placed)
    ]
    told += [_argument(name, entry) for name, entry in parts.named.items()]
    return ", ".join(told) or "no arguments"


def _argument(name: str, entry) -> str:
    return f"{name} {entry}" if isinstance(entry, Aval) else f"{name}={_value(entry)}"


def _taken_apart(key: tuple) -> _Parts:
    placed, named, alike, hooks = [], {}, (), []
    for entry in key:
        if isinstance(entry, Aval) or _is_typed(entry):
            placed.append(entry)
        elif isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
            named[entry[0]] = entry[1]
        elif isinstance(entry, tuple) and entry and all(type(one) is int for one in entry):
            alike = entry
        else:
            hooks.append(entry)
    return _Parts(placed, named, alike, tuple(hooks))


def _is_typed(entry) -> bool:
    return isinstance(entry, tuple) and bool(entry) and isinstance(entry[0], type)


def _name_at(names: list[str], position: int) -> str:
    if position < len(names) and not names[position].startswith("*"):
        return names[position]
    if names and names[-1].startswith("*"):
        return f"{names[-1][1:]}[{position - len(names) + 1}]"
    return f"#{position + 1}"


def _arguments(names: list[str], old: _Parts, new: _Parts):
    """The differences between arguments, whichever way they were given."""
    by_name = [{}, {}]
    for mine, parts in zip(by_name, (old, new), strict=True):
        for position, entry in enumerate(parts.placed):
            mine[_name_at(names, position)] = entry
        mine.update(parts.named)
    first, second = by_name
    more, fewer = [n for n in second if n not in first], [n for n in first if n not in second]
    for missing, word in ((more, "more"), (fewer, "fewer")):
        if missing:
            count = "one argument" if len(missing) == 1 else f"{len(missing)} arguments"
            listed = ", ".join(f"`{name}`" for name in missing)
            yield _Difference(f"{count} {word} ({listed})", _SAME_CALL)
    for name in first:
        if name in second:
            yield from _differences(name, first[name], second[name])
    ways = [name for name in first if (name in old.named) != (name in new.named)]
    if first == second and ways:
        way = "by name" if ways[0] in new.named else "by position"
        yield _Difference(f"argument `{ways[0]}` was given {way}", _SAME_CALL)


# -- one argument --------------------------------------------------------------------------------


def _differences(name: str, old, new):
    """How an argument, or parts of it, changed."""
    if old is new or old == new:
        return
    if isinstance(old, Aval) and isinstance(new, Aval):
        yield _of_tensors(name, old, new)
    elif isinstance(old, Aval) or isinstance(new, Aval) or not (_is_typed(old) and _is_typed(new)):
        yield _Difference(f"`{name}` went {_kind(old)} -> {_kind(new)}", _CONVERT)
    elif Again in (old[0], new[0]):
        what = f"`{name}` is{' not' if new[0] is not Again else ''} another argument once more"
        yield _Difference(what, _ALIKE)
    elif old[0] is not new[0]:
        yield _of_types(name, old, new)
    elif _has_parts(old) and _has_parts(new):
        yield from _of_containers(name, old, new)
    elif old[0] in (int, float, complex):
        yield _Difference(f"argument `{name}` went {_value(old)} -> {_value(new)}", _PASS_TENSOR)
    elif _is_value(old):
        yield _Difference(f"argument `{name}` went {_value(old)} -> {_value(new)}", _FEW_VALUES)
    else:
        kind = old[0].__name__
        yield _Difference(f"argument `{name}` is another object ({kind})", _SAME_OBJECT)


def _of_tensors(name: str, old: Aval, new: Aval) -> _Difference:
    if old.shape == new.shape:
        return _Difference(f"`{name}` went {old.dtype} -> {new.dtype}", _CONVERT)
    first, second = (old.shape, new.shape) if old.dtype == new.dtype else (old, new)
    what = f"`{name}` went {first} -> {second}"
    if len(old.shape) != len(new.shape):
        return _Difference(what, _ONE_RANK)
    return _Difference(what, _PAD_BATCH if old.shape[1:] == new.shape[1:] else _PAD)


def _of_types(name: str, old: tuple, new: tuple) -> _Difference:
    if _is_value(old) and _is_value(new):
        numbers = {old[0], new[0]} <= {int, float, complex}
        remedy = _PASS_TENSOR if numbers else _FEW_VALUES
        return _Difference(f"argument `{name}` went {_value(old)} -> {_value(new)}", remedy)
    return _Difference(f"`{name}` went {_kind(old)} -> {_kind(new)}", _CONVERT)


def _of_containers(name: str, old: tuple, new: tuple):
    kind, mine, others = old[0], old[1], new[1]
    if not issubclass(kind, (list, tuple)):
        is_dict = issubclass(kind, dict)
        first, second = dict(mine), dict(others)
        if list(first) != list(second):
            told = f"{_short.repr(list(first))} -> {_short.repr(list(second))}"
            names = "keys" if is_dict else "fields"
            yield _Difference(f"the {names} of `{name}` went {told}", _SAME_PARTS)
            return
        for key, entry in first.items():
            part = f"{name}[{_short.repr(key)}]" if is_dict else f"{name}.{key}"
            yield from _differences(part, entry, second[key])
        return
    if len(mine) != len(others):
        what = f"`{name}` went {_many(len(mine))} -> {_many(len(others))}"
        yield _Difference(what, _SAME_PARTS)
        return
    fields = getattr(kind, "_fields", ())
    for place, (field, a, b) in enumerate(zip_longest(fields[: len(mine)], mine, others)):
        yield from _differences(f"{name}[{place}]" if field is None else f"{name}.{field}", a, b)


def _many(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"


def _has_parts(entry: tuple) -> bool:
    """Whether an entry is a container, or an object that holds Tensors, with the keys of its
    parts."""
    if len(entry) != 2 or not isinstance(entry[1], tuple):
        return False
    kind, parts = entry
    if issubclass(kind, (list, tuple)):
        return all(isinstance(part, Aval) or _is_typed(part) for part in parts)
    named = all(isinstance(part, tuple) and len(part) == 2 for part in parts)
    return named and (issubclass(kind, dict) or all(type(name) is str for name, _ in parts))


def _is_value(entry: tuple) -> bool:
    """Whether an entry has the value itself, and not an identity."""
    return entry[0] is type(None) or (len(entry) > 1 and type(entry[1]) is entry[0])


def _kind(entry) -> str:
    """What an argument is, without its value."""
    if isinstance(entry, Aval):
        return "Tensor"
    if _is_typed(entry):
        return "None" if entry[0] is type(None) else entry[0].__name__
    return "something else"


def _value(entry) -> str:
    """What an argument is, with its value if the key has it."""
    if isinstance(entry, Aval):
        return str(entry)
    if not _is_typed(entry):
        return "..."
    if entry[0] is Again:
        return "<as before>"
    if _is_value(entry):
        return _short.repr(entry[1]) if len(entry) > 1 else "None"
    if _has_parts(entry):
        return f"<{entry[0].__name__} of {len(entry[1])}>"
    return f"<{entry[0].__name__}>"


# -- what a function remembers -------------------------------------------------------------------


def describe_remembered(name: str, place, memories: list[tuple[str, str]]) -> str:
    """What a compiled function remembers, as its `repr` says it.

    Args:
        name: the function; `place`: where it is defined.
        memories: for each key of arguments its description and its state, as "replayed 3 times".
    """
    if not memories:
        return f"<jit {name} ({place}): nothing is remembered yet>"
    count = "1 memory" if len(memories) == 1 else f"{len(memories)} memories"
    shown = memories[-MOST_MEMORIES:]
    width = min(40, max(len(key) for key, _ in shown))
    told = [f"<jit {name} ({place}): {count}"]
    if len(memories) > len(shown):
        told.append(f"  ... {len(memories) - len(shown)} older ones")
    told += [f"  {key.ljust(width)}  {state}" for key, state in shown]
    return "\n".join(told) + ">"


# Memories that are described, the latest.
MOST_MEMORIES = 8
