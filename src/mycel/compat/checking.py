# SPDX-License-Identifier: Apache-2.0
"""MindSpore's checks of arguments (`_checkparam`), which many of its programs import.

Each function hands the value back, or raises an error that names the argument, the value and the
line of the program. Numbers of relations are those of MindSpore.
"""

from __future__ import annotations

import enum
import functools
import inspect
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from mycel.kernel.base.errors import wrong


class Rel(enum.IntEnum):
    """How a value must stand to another one, or to two limits.

    Example:
        >>> from mycel.compat.checking import Rel
        >>> Rel.INC_BOTH == 10
        True
    """

    EQ = 1
    NE = 2
    LT = 3
    LE = 4
    GT = 5
    GE = 6
    INC_NEITHER = 7
    INC_LEFT = 8
    INC_RIGHT = 9
    INC_BOTH = 10
    IN = 11
    NOT_IN = 12


EQ, NE, LT, LE, GT, GE, INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = map(int, Rel)

_BINARY = {
    Rel.EQ: ("", operator.eq),
    Rel.NE: ("not ", operator.ne),
    Rel.LT: ("below ", operator.lt),
    Rel.LE: ("at most ", operator.le),
    Rel.GT: ("above ", operator.gt),
    Rel.GE: ("at least ", operator.ge),
    Rel.IN: ("one of ", lambda value, other: value in other),
    Rel.NOT_IN: ("none of ", lambda value, other: value not in other),
}
_RANGES = {
    Rel.INC_NEITHER: ("({}, {})", operator.lt, operator.lt),
    Rel.INC_LEFT: ("[{}, {})", operator.le, operator.lt),
    Rel.INC_RIGHT: ("({}, {}]", operator.lt, operator.le),
    Rel.INC_BOTH: ("[{}, {}]", operator.le, operator.le),
}


def _what(arg_name, prim_name) -> str:
    name = arg_name or "The value"
    return f"{prim_name}: {name}" if prim_name else str(name)


def _shown(value) -> str:
    return f"{type(value).__name__} {value!r:.80}"


def _number(value, kind: type, arg_name, prim_name) -> None:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise wrong(
            TypeError, _what(arg_name, prim_name), f"of type {kind.__name__}", _shown(value)
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise wrong(ValueError, _what(arg_name, prim_name), "finite", _shown(value))


def _related(value, other, rel, kind: type, arg_name, prim_name):
    _number(value, kind, arg_name, prim_name)
    word, holds = _BINARY[Rel(rel)]
    if not holds(value, other):
        raise wrong(ValueError, _what(arg_name, prim_name), f"{word}{other}", _shown(value))
    return value


def check(
    arg_name, arg_value, value_name, value, rel=Rel.EQ, prim_name=None, excp_cls: type = ValueError
):
    """`arg_value`, if it stands to `value` as `rel` says.

    Raises:
        ValueError: it does not; `excp_cls` asks for another kind of error.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check("rank", 3, "limit", 4, checking.LE)
        3
    """
    word, holds = _BINARY[Rel(rel)]
    if not holds(arg_value, value):
        raise wrong(
            excp_cls, _what(arg_name, prim_name), f"{word}{value_name} {value}", _shown(arg_value)
        )
    return arg_value


def check_int(arg_value, value, rel, arg_name=None, prim_name=None):
    """`arg_value`, an int that stands to `value` as `rel` says.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_int(3, 4, checking.LT, "axis")
        3
    """
    return _related(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value, value, rel, arg_name=None, prim_name=None):
    """`arg_value`, a float that stands to `value` as `rel` says.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_float(0.5, 1.0, checking.LT, "rate")
        0.5
    """
    return _related(arg_value, value, rel, float, arg_name, prim_name)


def check_number(arg_name, arg_value, value, rel, prim_name):
    """`arg_value`, if it stands to `value` as `rel` says.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_number("n", 1, 2, checking.LT, "Net")
        1
    """
    return check(arg_name, arg_value, "", value, rel, prim_name)


def check_equal_int(arg_value, value, arg_name=None, prim_name=None):
    """`arg_value`, an int equal to `value`.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_equal_int(2, 2, "rank")
        2
    """
    return check_int(arg_value, value, Rel.EQ, arg_name, prim_name)


def check_number_range(
    arg_value, lower_limit, upper_limit, rel, value_type, arg_name=None, prim_name=None
):
    """`arg_value`, of `value_type` and between two limits.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_number_range(1, 0, 2, checking.INC_BOTH, int, "n")
        1
    """
    _number(arg_value, value_type, arg_name, prim_name)
    form, above, below = _RANGES[Rel(rel)]
    if not (above(lower_limit, arg_value) and below(arg_value, upper_limit)):
        expected = "in " + form.format(lower_limit, upper_limit)
        raise wrong(ValueError, _what(arg_name, prim_name), expected, _shown(arg_value))
    return arg_value


def check_int_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """`arg_value`, an int between two limits.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_int_range(0, 0, 3, checking.INC_LEFT, "axis")
        0
    """
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """`arg_value`, a float between two limits.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_float_range(0.5, 0.0, 1.0, checking.INC_NEITHER, "rate", "Dropout")
        0.5
    """
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check_is_number(arg_value, arg_type, arg_name=None, prim_name=None):
    """`arg_value`, a number of exactly this type.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_is_number(1.5, float, "rate")
        1.5
    """
    _number(arg_value, arg_type, arg_name, prim_name)
    return arg_value


def check_is_int(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, an int.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_is_int(3, "axis")
        3
    """
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, a float.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_is_float(3.0, "rate")
        3.0
    """
    return check_is_number(arg_value, float, arg_name, prim_name)


def _sign(kind: type, rel: Rel, words: str):
    def checked(arg_value, arg_name=None, prim_name=None):
        return _related(arg_value, kind(0), rel, kind, arg_name, prim_name)

    checked.__name__ = checked.__qualname__ = f"check_{words}_{kind.__name__}"
    checked.__doc__ = f"`arg_value`, a {kind.__name__} that is {words.replace('_', ' ')}."
    return checked


check_positive_int = _sign(int, Rel.GT, "positive")
check_non_negative_int = _sign(int, Rel.GE, "non_negative")
check_negative_int = _sign(int, Rel.LT, "negative")
check_non_positive_int = _sign(int, Rel.LE, "non_positive")
check_positive_float = _sign(float, Rel.GT, "positive")
check_non_negative_float = _sign(float, Rel.GE, "non_negative")
check_negative_float = _sign(float, Rel.LT, "negative")
check_non_positive_float = _sign(float, Rel.LE, "non_positive")


def _each(checked):
    def check_sequence(sequence, arg_name=None, prim_name=None):
        for index, value in enumerate(sequence):
            checked(value, f"{arg_name or 'The value'}[{index}]", prim_name)
        return sequence

    check_sequence.__name__ = check_sequence.__qualname__ = f"{checked.__name__}_sequence"
    check_sequence.__doc__ = f"A sequence, of whose numbers each passes `{checked.__name__}`."
    return check_sequence


check_positive_int_sequence = _each(check_positive_int)
check_non_negative_int_sequence = _each(check_non_negative_int)
check_positive_float_sequence = _each(check_positive_float)


def check_bool(arg_value, arg_name=None, prim_name=None):
    """`arg_value`, True or False.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_bool(True, "shuffle")
        True
    """
    if not isinstance(arg_value, bool):
        raise wrong(TypeError, _what(arg_name, prim_name), "a bool", _shown(arg_value))
    return arg_value


def check_string(arg_value, valid_values, arg_name=None, prim_name=None):
    """`arg_value`, one of the words allowed.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_string("mean", ["mean", "sum"], "reduction")
        'mean'
    """
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        known = ", ".join(map(repr, valid_values))
        raise wrong(ValueError, _what(arg_name, prim_name), f"one of {known}", _shown(arg_value))
    return arg_value


def _names(kinds) -> str:
    return " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)


def _tuple_of(kinds) -> tuple:
    return tuple(kinds) if isinstance(kinds, (tuple, list, set, frozenset)) else (kinds,)


def check_value_type(arg_name, arg_value, valid_types, prim_name=None):
    """`arg_value`, an object of one of these types; a bool is no number.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_value_type("size", 3, [int, tuple], "Net")
        3
    """
    kinds = _tuple_of(valid_types)
    if (isinstance(arg_value, bool) and bool not in kinds) or not isinstance(arg_value, kinds):
        raise wrong(TypeError, _what(arg_name, prim_name), _names(kinds), _shown(arg_value))
    return arg_value


def check_isinstance(arg_name, arg_value, classes):
    """`arg_value`, an object of one of these classes; otherwise a ValueError.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_isinstance("size", 3, int)
        3
    """
    if not isinstance(arg_value, classes):
        raise wrong(ValueError, arg_name, _names(_tuple_of(classes)), _shown(arg_value))
    return arg_value


def check_type_name(arg_name, arg_type, valid_types, prim_name):
    """`arg_type`, one of these types or element types.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_type_name("dtype", ms.float32, [ms.float32, ms.float16], "Net")
        mindspore.float32
    """
    kinds = _tuple_of(valid_types)
    if not any(arg_type is kind for kind in kinds):
        expected = f"one of {', '.join(map(str, kinds))}"
        raise wrong(TypeError, _what(arg_name, prim_name), expected, arg_type)
    return arg_type


def check_subclass(arg_name, type_, template_types, prim_name, addition_error_info=None):
    """Whether `type_` is one of the types, or a class below one of them; nothing is returned.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_subclass("dtype", ms.float32, [ms.float32, ms.float16], "Net")
    """
    for kind in _tuple_of(template_types):
        if type_ is kind:
            return
        if isinstance(type_, type) and isinstance(kind, type) and issubclass(type_, kind):
            return
    expected = f"one of {', '.join(map(str, _tuple_of(template_types)))}"
    if addition_error_info:
        expected += f" ({addition_error_info})"
    raise wrong(TypeError, _what(arg_name, prim_name), expected, type_)


def check_types_same_and_valid(args, valid_values, prim_name):
    """Types by argument: all the same, and one of those allowed.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_types_same_and_valid({"x": int, "y": int}, [int], "Net")
    """
    first = next(iter(args.values()))
    for name, kind in args.items():
        check_type_name(name, kind, valid_values, prim_name)
        if kind is not first:
            raise wrong(TypeError, _what(name, prim_name), f"{first}, as the others", kind)


def check_element_type_of_iterable(arg_name, arg_value, valid_types, prim_name=None):
    """Every element is of one of these types; nothing is returned.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_element_type_of_iterable("sizes", [1, 2], [int])
    """
    for element in arg_value:
        check_value_type(arg_name, element, valid_types, prim_name)


def check_element_type_of_dict(arg_name, arg_value, key_types, value_types, prim_name=None):
    """Every key and every value is of one of these types; nothing is returned.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_element_type_of_dict("sizes", {"a": 1}, [str], [int])
    """
    check_value_type(arg_name, arg_value, [dict], prim_name)
    check_element_type_of_iterable(arg_name, arg_value, key_types, prim_name)
    check_element_type_of_iterable(arg_name, arg_value.values(), value_types, prim_name)


def check_size_and_element_type_of_tuple(
    arg_name, arg_value, expect_size, expect_element_type, prim_name=None
):
    """A tuple of this many elements, all of this type; nothing is returned.

    Example:
        >>> from mycel.compat import checking
        >>> checking.check_size_and_element_type_of_tuple("pad", (1, 2), 2, int)
    """
    check_value_type(arg_name, arg_value, [tuple], prim_name)
    check_equal_int(len(arg_value), expect_size, f"{arg_name} size", prim_name)
    check_element_type_of_iterable(arg_name, arg_value, expect_element_type, prim_name)


def _matching(pattern: str, flags=0):
    def checked(target, reg=None, flag=flags, prim_name=None):
        expected = pattern if reg is None else reg
        if re.match(expected, target, flag) is None:
            raise wrong(ValueError, _what(None, prim_name), f"text like {expected}", repr(target))
        return True

    return checked


check_str_by_regular = _matching(r"^\w+[0-9a-zA-Z\_\.]*$", re.ASCII)
check_str_by_regular.__doc__ = "True for a word of letters, digits, underscores and dots."
check_file_name_by_regular = _matching(r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$")
check_file_name_by_regular.__doc__ = "True for a path of ordinary characters."


def once(m):
    """A tuple of one.

    Example:
        >>> from mycel.compat import checking
        >>> checking.once(3)
        (3,)
    """
    return _repeated(m, 1)


def twice(m):
    """A number twice, or the pair that was given.

    Example:
        >>> from mycel.compat import checking
        >>> checking.twice(3), checking.twice((1, 2))
        ((3, 3), (1, 2))
    """
    return _repeated(m, 2)


def triple(m):
    """A number three times, or the three that were given.

    Example:
        >>> from mycel.compat import checking
        >>> checking.triple(3)
        (3, 3, 3)
    """
    return _repeated(m, 3)


def _repeated(given, count: int):
    if not isinstance(given, (tuple, list)):
        return (given,) * count
    if len(given) != count:
        raise wrong(TypeError, "The value", f"a number or {count} of them", _shown(given))
    return tuple(given)


def args_type_check(*type_args: Any, **type_kwargs: Any) -> Callable[..., Any]:
    """A decorator that checks the types of a function's arguments.

    Args:
        type_args, type_kwargs: a type, or several as a tuple, for each argument that is checked.

    Raises:
        TypeError: when the function is called with an argument of another type.

    Source: MindSpore's `mindspore.context.args_type_check`.

    Example:
        >>> from mycel.compat.checking import args_type_check
        >>> @args_type_check(size=int, name=(str, type(None)))
        ... def describe(size, name=None):
        ...     return f"{name}: {size}"
        >>> describe(3)
        'None: 3'
    """

    def decorate(function):
        signature = inspect.signature(function)
        allowed = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def checked(*args, **kwargs):
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in allowed and value is not None and not isinstance(value, allowed[name]):
                    kinds = _names(_tuple_of(allowed[name]))
                    raise wrong(TypeError, f"{function.__name__}: {name}", kinds, _shown(value))
            return function(*args, **kwargs)

        return checked

    return decorate


class Validator:
    """The checks under the name they had in MindSpore 1: methods of one class.

    Example:
        >>> from mycel.compat.checking import Validator
        >>> Validator.check_positive_int(3, "size")
        3
    """


for _name, _check in list(globals().items()):
    if _name.startswith("check"):
        setattr(Validator, _name, staticmethod(_check))
for _rel in Rel:  # programs take the module for it, where there is no such class
    setattr(Validator, _rel.name, _rel.value)
