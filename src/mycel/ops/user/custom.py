# SPDX-License-Identifier: Apache-2.0
"""Operators of the user: `custom_op` makes one of a JAX function, `Custom` is MindSpore's name.

A JAX function becomes an Op like those of the library: recorded, compiled with its neighbours and
differentiated by JAX or by a reverse of its own. A host function (`pyfunc`) is a site: Python that
runs at every call on real values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.context import context
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.places import definition_of, user_place
from mycel.kernel.define.definition import static_value
from mycel.kernel.define.op import Op
from mycel.kernel.execute.numerics import judge_host
from mycel.kernel.execute.sites import every_call
from mycel.kernel.record.stream import local, record
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.record.value import Value
from mycel.kernel.spell.primitive import Primitive
from mycel.ops.user.user_operator import (
    UserOperator,
    call_bprop,
    defined_at,
    make_callable,
    name_of,
)

NO_SUCH_TYPE = (
    "func_type={kind!r} (at {place}) is written for MindSpore's own compilers. Write the "
    "computation as a plain JAX function, arrays in and arrays out, and use @ops.custom_op or "
    "ops.Custom(function, func_type='jax')."
)
NO_REVERSE = (
    "{name} (defined at {place}) runs on the host, so its derivative is unknown. Give one: "
    "ops.Custom(..., bprop=bprop) with bprop(*inputs, out, dout), or write it as a JAX function."
)


def custom_op(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operator of a plain JAX function.

    Positional parameters are arrays, those after `*` are static: every value of a static one is
    a program of its own. The result is called with Tensors in both modes, and differentiated to
    any order by JAX, or by a reverse of its own that stands beneath it:

    - `@name.reverse` takes a JAX function `reverse(*inputs, output, cotangent, **statics)`;
    - `@name.bprop` takes a function of Tensors, `bprop(*inputs, out, dout, **statics)`.

    Both return one gradient for each input; `None` means that there is none.

    Args:
        function: arrays in, an array or a tuple of arrays out; called only to be traced.

    Raises:
        TypeError: a parameter is neither an array nor static, such as `**options`.

    Example:
        >>> import jax.numpy as jnp
        >>> @ops.custom_op
        ... def power(x, *, exponent=2):
        ...     return jnp.power(x, exponent)
        >>> print(power(Tensor([1.0, 2.0])), power(Tensor([1.0, 2.0]), exponent=3))
        [1. 4.] [1. 8.]
        >>> print(ms.grad(ms.grad(power))(Tensor(5.0)))
        2.0
        >>> @power.reverse
        ... def _(x, output, cotangent, *, exponent):
        ...     return jnp.clip(exponent * x ** (exponent - 1) * cotangent, -1, 1)
        >>> print(ms.grad(power)(Tensor(5.0)))
        1.0
    """
    definition = UserOperator(function)
    made = make_callable(definition, function)

    def reverse(derivative):
        definition.set_reverse(derivative)
        return derivative

    def bprop(derivative):
        definition.set_bprop(derivative)
        return derivative

    made.definition, made.reverse, made.bprop = definition, reverse, bprop
    return made


class Custom(Primitive):
    """An operator of the user's own, as an object.

    Args:
        func: with "pyfunc", a Python function on NumPy arrays that runs on the host at every call;
            with "jax", a plain JAX function (see `custom_op`).
        out_shape: the shape of the result, a tuple of shapes for several results, or a function
            of the input shapes that gives either; None takes what `func` returns.
        out_dtype: likewise the element types; "pyfunc" converts to them.
        func_type: "pyfunc" or "jax".
        bprop: `bprop(*inputs, out, dout)` on Tensors: one gradient for each input. Without it a
            "pyfunc" has no derivative, and JAX derives a "jax" function.
        reg_info: accepted, and without effect.

    Raises:
        NotImplementedError: `func_type` names one of MindSpore's own compilers, such as "aot".
        ValueError: the result has another shape than `out_shape`.

    Source: MindSpore's `mindspore.ops.Custom`.

    Example:
        >>> median = ops.Custom(lambda x: np.median(x, -1), lambda x: x[:-1], lambda x: x)
        >>> print(median(Tensor([[1.0, 5.0, 2.0]])))
        [2.]
        >>> double = ops.Custom(lambda x: x * 2, func_type="jax")
        >>> print(ms.grad(double)(Tensor(1.0)))
        2.0
    """

    def __init__(
        self, func, out_shape=None, out_dtype=None, func_type="pyfunc", bprop=None, reg_info=None
    ):
        super().__init__("Custom")
        if func_type in ("hybrid", "akg", "tbe", "aicpu", "aot", "julia"):
            raise NotImplementedError(NO_SUCH_TYPE.format(kind=func_type, place=user_place(2)))
        if func_type not in ("pyfunc", "jax"):
            raise errors.wrong(ValueError, "func_type", "'pyfunc' or 'jax'", repr(func_type))
        if not callable(func):
            actual = f"{type(func).__name__} {func!r:.60}"
            raise errors.wrong(TypeError, "func of Custom", "a function", actual)
        if bprop is not None and not callable(bprop):
            actual = f"{type(bprop).__name__} {bprop!r:.60}"
            raise errors.wrong(TypeError, "bprop of Custom", "a function or None", actual)
        self.func = func
        self.func_type = func_type
        self.out_shape = out_shape
        self.out_dtype = out_dtype
        self.bprop = bprop
        self.reg_info = reg_info
        self._results = Results(func, out_shape, out_dtype)
        if func_type == "jax":
            self._run = _operator_of(func, bprop)
        else:
            self._run = _on_host(func, static_value(out_shape), static_value(out_dtype), bprop)

    def __call__(self, *inputs):
        result = self._run(*inputs)
        if self.func_type == "jax":
            self._results.check(inputs, result)
        return result

    def __repr__(self):
        return f"Custom({name_of(self.func)}, func_type={self.func_type!r})"


@functools.lru_cache(maxsize=256)
def _operator_of(function, bprop) -> Callable:
    """One per function: a Custom that is made anew in each call is the same operator."""
    return make_callable(UserOperator(function, bprop), function)


class OnHost:
    """Calls a Python function on NumPy arrays: a site of the call being remembered.

    While a derivative is taken the results go through a node of their own, which stands on the
    tape for the function: its rule is the user's `bprop`.
    """

    def __init__(self, function: Callable, out_shape, out_dtype, bprop: Callable | None):
        self.function = function
        self.results = Results(function, out_shape, out_dtype)
        self.bprop = bprop
        self.name = name_of(function)
        self.site = every_call(self.run)
        self._ops: dict[tuple, Op] = {}

    def __call__(self, *inputs):
        inputs = tuple([x if isinstance(x, Tensor) else Tensor(x) for x in inputs])
        result = self.site(*inputs)
        results = result if isinstance(result, tuple) else (result,)
        if local.stream.scope.tape is None or not inputs or not results:
            return result
        op = self._passing(len(inputs), len(results), isinstance(result, tuple))
        made = record(op, tuple(map(resolve, (*inputs, *results))))
        if isinstance(made, Value):
            return new_tensor(made)
        return tuple(map(new_tensor, made))

    def run(self, *inputs):
        """Call the function now."""
        arrays = [x.asnumpy() for x in inputs]
        made = self.results.fit(inputs, self.function(*arrays))
        if context.check_numerics:
            results = made if isinstance(made, tuple) else (made,)
            judge_host(
                self.name,
                definition_of(self.function),
                arrays,
                [result.asnumpy() for result in results],
            )
        return made

    def _passing(self, inputs: int, results: int, several: bool) -> Op:
        op = self._ops.get((inputs, results, several))
        if op is None:
            function = functools.partial(_pass_on, inputs, several)
            rule = functools.partial(self._rule, inputs, several)
            op = self._ops[inputs, results, several] = Op(self.name, function, rule)
        return op

    def _rule(self, count, several, inputs, outputs, cotangents, mask):
        if self.bprop is None:
            place = defined_at(self.function)
            raise RuntimeError(NO_REVERSE.format(name=self.name, place=place))
        tensors = [new_tensor(value) for value in inputs[:count]]
        found = call_bprop(self.name, self.bprop, tensors, outputs, cotangents, not several)
        found += [None] * (len(inputs) - count)
        return [value if wanted else None for value, wanted in zip(found, mask, strict=True)]


def _holds_shapes(shape) -> bool:
    return isinstance(shape, (tuple, list)) and any(isinstance(n, (tuple, list)) for n in shape)


def _pass_on(count, several, *arrays):
    return arrays[count:] if several else arrays[count]


class Results:
    """What a function was declared to return."""

    def __init__(self, function, shape, dtype):
        self.function = function
        self.shape = shape
        self.dtype = dtype

    def fit(self, inputs, result):
        """What a host function returned, as Tensors of the declared types."""
        several, results, shapes, dtypes = self._match(inputs, result)
        made = []
        for position, array in enumerate(results):
            dtype = dtypes[position]
            if dtype is not None:
                array = np.asarray(array)
                if not np.can_cast(array.dtype, dtype.numpy, "same_kind"):
                    raise self._other(TypeError, position, dtype, array.dtype)
            made.append(Tensor(array, dtype))
            self._check_shape(position, made[-1].shape, shapes[position])
        return tuple(made) if several else made[0]

    def check(self, inputs, result) -> None:
        """Raise if these Tensors are something else than was declared."""
        if self.shape is None and self.dtype is None:
            return
        inputs = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
        _, results, shapes, dtypes = self._match(inputs, result)
        for position, array in enumerate(results):
            self._check_shape(position, array.shape, shapes[position])
            if dtypes[position] not in (None, array.dtype):
                raise self._other(TypeError, position, dtypes[position], array.dtype)

    def _match(self, inputs, result) -> tuple[bool, tuple, list, list]:
        """Whether there are several results, all of them, and their declared shapes and types."""
        shape, dtype = self._declared(inputs)
        listed = isinstance(dtype, (tuple, list))
        several = listed or _holds_shapes(shape)
        free = shape is None and dtype is None
        # Where one array is declared, a list is one.
        sequences = (tuple, list) if several or free else tuple
        alone = result is not None and not isinstance(result, sequences)
        results = (result,) if alone else () if result is None else tuple(result)
        if free:
            return not alone, results, [None] * len(results), [None] * len(results)
        count = len(dtype if listed else shape or ()) if several else 1
        if len(results) != count or alone is several:
            actual = (
                "an array" if alone else "None" if result is None else f"a tuple of {len(results)}"
            )
            raise self._other(ValueError, None, f"{count} result{'s' * (count != 1)}", actual)
        shapes = list(shape or [None] * count) if several else [shape]
        if len(shapes) != count:
            actual = f"shapes for {len(shapes)}"
            raise self._other(ValueError, None, f"types of {count} results", actual)
        dtypes = list(dtype) if listed else [dtype] * count
        return several, results, shapes, [None if d is None else as_dtype(d) for d in dtypes]

    def _declared(self, inputs) -> tuple:
        shape, dtype = self.shape, self.dtype
        if callable(shape):
            shape = shape(*[x.shape for x in inputs])
        if callable(dtype) and not isinstance(dtype, type):
            dtype = dtype(*[x.dtype for x in inputs])
        return shape, dtype

    def _check_shape(self, position, actual, wanted) -> None:
        if wanted is None:
            return
        if len(wanted) != len(actual) or any(
            w not in (-1, n) for w, n in zip(wanted, actual, strict=True)
        ):
            expected = f"shape {tuple(wanted)}"
            raise self._other(ValueError, position, expected, f"shape {actual}")

    def _other(self, kind, position, expected, actual) -> Exception:
        which = "" if position is None else f" as result {position}"
        return kind(
            f"{name_of(self.function)} was declared to return {expected}{which}, but it returned "
            f"{actual} (defined at {defined_at(self.function)})."
        )


_on_host = functools.lru_cache(maxsize=256)(OnHost)
