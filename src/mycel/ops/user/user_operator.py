# SPDX-License-Identifier: Apache-2.0
"""What a JAX function of the user needs to be an operator: its Ops, its callable, its reverses.

Whatever the user wrote is called here, so that errors name the user's lines and ill-formed results
are told as such.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import os
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.places import Place, is_ours, user_place
from mycel.kernel.base.structure import changed_everywhere
from mycel.kernel.base.written import define
from mycel.kernel.define.definition import Definition, static_value
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import apply0, apply1, apply2, applyn
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.record.value import Value
from mycel.kernel.spell.write import apply_optional
from mycel.ops.array.creation import zeros_like

ABSTRACT = (
    "{name} is traced once with abstract arrays, but it needs values at {place}. Call only JAX "
    "functions on its arrays; choose with jnp.where or jax.lax.cond; what must be a Python value "
    "is a keyword-only argument. NumPy code is ops.Custom({function}, ..., func_type='pyfunc')."
)
WRONG = "{name} must return {expected}, but it returned {actual} (defined at {place})."

NUMBERS = (bool, int, float, complex)
_TRACING = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)
_LIBRARIES = tuple(os.path.dirname(inspect.getfile(library)) + os.sep for library in (jax, np))


class UserOperator(Definition):
    """The definition of one user operator; unlike those of the library it is in no table.

    Attributes:
        bprop: an optional reverse on Tensors, `bprop(*inputs, out, dout, **statics)`.
    """

    def __init__(self, function: Callable, bprop: Callable | None = None):
        if not callable(function):
            actual = f"{type(function).__name__} {function!r:.60}"
            raise errors.wrong(TypeError, "What becomes an operator", "a function", actual)
        self.place = defined_at(function)
        name = name_of(function)
        _check_parameters(name, function)
        super().__init__(name, _traced(name, function))
        self.names = None  # it may compare lengths as it likes (see `Op.can_be_opened`)
        self.bprop = bprop

    def set_reverse(self, reverse: Callable) -> None:
        """Take a hand-written derivative in JAX, in place of any other."""
        self._begin_again()
        self.bprop = None
        super().set_reverse(_checked_reverse(f"{self.name}.reverse", reverse))

    def set_bprop(self, bprop: Callable) -> None:
        """Take a hand-written derivative on Tensors, in place of any other."""
        self._begin_again()
        self.reverse, self.bprop = None, bprop

    def _begin_again(self) -> None:
        """Forget what was made with another derivative, also in calls that are remembered."""
        if self.forget():
            changed_everywhere()

    def _bind_new(self, values, present):
        for name, value in zip(self.statics, values, strict=True):
            _check_static(self.name, name, value)
        op = super()._bind_new(values, present)
        if self.bprop is not None:
            self._give_rule(op, tuple(map(static_value, values)), present)
        return op

    def _give_rule(self, op: Op, values, present) -> None:
        statics = dict(zip(self.statics, values, strict=True))

        def rule(inputs, outputs, cotangents, mask):
            single = op.many[tuple([value.aval for value in inputs])].single
            flags = present or (True,) * len(inputs)
            given = map(new_tensor, inputs)
            full = [next(given) if there else None for there in flags]
            assert self.bprop is not None
            back = functools.partial(self.bprop, **statics) if statics else self.bprop
            found = call_bprop(self.name, back, full, outputs, cotangents, single)
            kept = [value for value, there in zip(found, flags, strict=True) if there]
            return [value if wanted else None for value, wanted in zip(kept, mask, strict=True)]

        op.rule, op.repeats = rule, False


# -- making the callable ------------------------------------------------------------------------


def name_of(function) -> str:
    """The function's name, where it can be one of an operator."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() and not keyword.iskeyword(name) else "custom"


def defined_at(function) -> str:
    """File and line of the function, for messages."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(function)


def _check_parameters(name: str, function) -> None:
    optional = ""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        where = f"{name} (defined at {defined_at(function)}): the parameter {parameter.name!r}"
        if parameter.kind is parameter.VAR_KEYWORD:
            raise TypeError(f"{where} takes any keyword; name the static arguments after a `*`.")
        if parameter.kind is parameter.VAR_POSITIONAL and optional:
            raise TypeError(f"{where} takes any number, but {optional!r} before it has a default.")
        if parameter.default is parameter.empty:
            continue
        optional = parameter.name
        if parameter.default is not None and not isinstance(parameter.default, NUMBERS):
            raise TypeError(
                f"{where} has the default {parameter.default!r:.60}, but positional parameters "
                "are arrays; put static ones after a `*`."
            )


def _check_static(operator: str, name: str, value) -> None:
    try:
        hash(static_value(value))
    except TypeError:
        raise TypeError(
            f"The static argument {name!r} of {operator} cannot be {type(value).__name__} "
            f"{value!r:.60} (at {user_place(2)}): a number, a string or a tuple is compared by "
            "value. Pass arrays by position."
        ) from None


def make_callable(definition: UserOperator, function) -> Callable:
    """A function with the parameters of the user's own; a call costs one frame (as spell.write).

    What it refers to has names with a prefix, since its parameters may have any other.
    """
    used = {"apply0": apply0, "apply1": apply1, "apply2": apply2, "applyn": applyn}
    used |= {"optional": apply_optional, "bind": definition.bind, "definition": definition}
    names = {f"_mycel_{name}": item for name, item in used.items()}
    listed, starred = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            listed.append("*")
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        text = f"*{parameter.name}" if parameter.name == definition.variadic else parameter.name
        if parameter.default is not parameter.empty:
            names[f"_mycel_default_{parameter.name}"] = parameter.default
            text += f"=_mycel_default_{parameter.name}"
        listed.append(text)
    statics = ", ".join(definition.statics)
    arrays = "".join(f"{name}, " for name in definition.arrays)
    op = f"_mycel_bind({statics})"
    if definition.optional:
        call = f"_mycel_optional(_mycel_definition, ({arrays}), ({statics}{',' * bool(statics)}))"
    elif definition.variadic or len(definition.arrays) > 2:
        rest = f"*{definition.variadic}, " if definition.variadic else ""
        call = f"_mycel_applyn({op}, ({arrays}{rest}))"
    else:
        call = f"_mycel_apply{len(definition.arrays)}({op}, {arrays})"
    source = f"def {definition.name}({', '.join(listed)}):\n    return {call}\n"
    title = f"user operator {definition.name} of {definition.place}"
    written = define(source, names, title)[definition.name]
    return functools.update_wrapper(written, function, updated=())


# -- calling what the user wrote ------------------------------------------------------------------


def _traced(name: str, function: Callable) -> Callable:
    """The function as an Op calls it: its errors name the user's line, its result is checked."""

    @functools.wraps(function)
    def traced(*arrays, **statics):
        return _checked_result(name, function, _call(name, function, arrays, statics))

    return traced


def _call(name, function, arrays, statics):
    try:
        return function(*arrays, **statics)
    except _TRACING as error:
        place, _ = _place_in(error, function)
        text = ABSTRACT.format(name=name, place=place, function=name_of(function))
        raise TypeError(text) from None
    except (TypeError, ValueError, IndexError, NotImplementedError) as error:
        place, raised_by_user = _place_in(error, function)
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        kinds = (IndexError, NotImplementedError, ValueError, TypeError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        if not raised_by_user and ("shape" in reason or "dimension" in reason):
            kind = ValueError  # as for the operators of the library
        raise kind(f"{reason} (in the operator {name} at {place})") from None
    except Exception as error:
        error.add_note(f"While {name}, a user operator, was traced with abstract arrays.")
        raise


def _place_in(error: BaseException, function) -> tuple[str, bool]:
    """The innermost line of user code that an error passed through, and whether it began there."""
    found, innermost, trace = defined_at(function), False, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        innermost = not is_ours(code.co_filename) and not code.co_filename.startswith(_LIBRARIES)
        if innermost:
            found = str(Place(code, trace.tb_lasti))
        trace = trace.tb_next
    return found, innermost


def _checked_result(name, function, result):
    several = isinstance(result, (tuple, list))
    parts = tuple(result) if several else (result,)
    made = [
        jnp.asarray(part, as_dtype(type(part)).numpy) if isinstance(part, NUMBERS) else part
        for part in parts
    ]
    if not made or not all(hasattr(part, "shape") and hasattr(part, "dtype") for part in made):
        kinds = ", ".join(type(part).__name__ for part in parts)
        actual, place = f"({kinds})" if several else kinds, defined_at(function)
        expected = "an array or a tuple of arrays"
        raise TypeError(WRONG.format(name=name, expected=expected, actual=actual, place=place))
    return tuple(made) if several else made[0]


def _checked_reverse(name: str, reverse: Callable) -> Callable:
    place = defined_at(reverse)

    def checked(*arguments, **statics):
        inputs = arguments[:-2]
        returned = _call(name, reverse, arguments, statics)
        gradients = _gradients(name, returned, len(inputs), place)
        return tuple(
            [
                _fitting_array(name, position, gradient, x, place)
                for position, (gradient, x) in enumerate(zip(gradients, inputs, strict=True))
            ]
        )

    return checked


def _fitting_array(name, position, gradient, x, place):
    # JAX wants None for inputs that carry no gradient: those left out, integers.
    if x is None or not jnp.issubdtype(x.dtype, jnp.inexact):
        return None
    if gradient is None:
        return jnp.zeros(x.shape, x.dtype)
    if isinstance(gradient, NUMBERS):
        gradient = jnp.asarray(gradient, x.dtype)
    _check_gradient(name, position, gradient, x, place)
    return gradient.astype(x.dtype)


def _gradients(name, returned, count: int, place) -> Sequence:
    gradients = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
    if len(gradients) != count:
        expected = f"{count} gradient{'s' * (count != 1)}, one for each input"
        raise ValueError(
            WRONG.format(name=name, expected=expected, actual=len(gradients), place=place)
        )
    return gradients


def _check_gradient(name, position, gradient, x, place) -> None:
    """Shapes must be equal; the element type may be one that converts without loss."""
    if not hasattr(gradient, "shape") or not hasattr(gradient, "dtype"):
        kind, actual = TypeError, f"{type(gradient).__name__} {gradient!r:.60}"
    elif tuple(gradient.shape) != tuple(x.shape):
        kind, actual = ValueError, _shown(gradient)
    elif not np.can_cast(as_dtype(gradient.dtype).numpy, as_dtype(x.dtype).numpy):
        kind, actual = TypeError, _shown(gradient)
    else:
        return
    expected = f"a gradient {_shown(x)} for input {position}"
    raise kind(WRONG.format(name=name, expected=expected, actual=actual, place=place))


def _shown(array) -> str:
    return f"{as_dtype(array.dtype)}{list(array.shape)}"


def call_bprop(name, bprop, inputs, outputs, cotangents, single) -> list[Value | None]:
    """Call a reverse on Tensors; the Value of one gradient for each input."""
    name, place = f"{name}.bprop", defined_at(getattr(bprop, "func", bprop))
    out = tuple(map(new_tensor, outputs))
    dout = tuple(
        [
            zeros_like(output) if cotangent is None else new_tensor(cotangent)
            for output, cotangent in zip(out, cotangents, strict=True)
        ]
    )
    returned = bprop(*inputs, out[0] if single else out, dout[0] if single else dout)
    gradients = _gradients(name, returned, len(inputs), place)
    return [
        _fitting_value(name, position, gradient, x, place)
        for position, (gradient, x) in enumerate(zip(gradients, inputs, strict=True))
    ]


def _fitting_value(name, position, gradient, x, place) -> Value | None:
    if x is None or gradient is None:
        return None
    if isinstance(gradient, (*NUMBERS, np.ndarray, np.generic)):
        gradient = Tensor(gradient, x.dtype)
    _check_gradient(name, position, gradient, x, place)
    return resolve(gradient if gradient.dtype is x.dtype else gradient.astype(x.dtype))
