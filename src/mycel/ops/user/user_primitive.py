# SPDX-License-Identifier: Apache-2.0
"""Primitives that programs write themselves: attributes kept from `__init__`, and host functions.

Those of MindSpore are names for kernels of its own backends; here one computes with what it has:
`vm_impl`, or an operator in its place.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.spell import Primitive
from mycel.ops.user.custom import Custom

NO_KERNEL = (
    "{name} at {place} names a kernel of MindSpore's backends, and has no vm_impl(self, *inputs) "
    "that computes it here. Write one with operators, or write the computation as a JAX function "
    "and use @ops.custom_op."
)


def prim_attr_register(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the arguments of a Primitive's `__init__` as its attributes; a decorator for it.

    Source: MindSpore's `mindspore.ops.prim_attr_register`.

    Example:
        >>> class Shift(ops.PrimitiveWithInfer):
        ...     @ops.prim_attr_register
        ...     def __init__(self, offset=1):
        ...         pass
        ...     def vm_impl(self, x):
        ...         return x + self.offset
        >>> print(Shift(2)(Tensor([1.0])), Shift(2).attrs)
        [3.] {'offset': 2}
    """
    return _registered(fn, Primitive.add_prim_attr)


def prim_arg_register(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the arguments of a Primitive's `__init__`, but not as attributes of the operator.

    Source: MindSpore's `mindspore.ops.prim_arg_register`.

    Example:
        >>> class Shift(ops.PrimitiveWithInfer):
        ...     @ops.prim_arg_register
        ...     def __init__(self, offset=1):
        ...         pass
        >>> Shift(2).offset, Shift(2).attrs
        (2, {})
    """
    return _registered(fn, lambda *_: None)


def _registered(fn, keep):
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def registered(self, *args, **kwargs):
        # The base first: what follows adds to its attributes.
        Primitive.__init__(self, type(self).__name__)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        self.init_attrs = given
        for name, value in given.items():
            keep(self, name, value)
            setattr(self, name, value)
        return fn(self, *args, **kwargs)

    return registered


class PrimitiveWithInfer(Primitive):
    """The base of a program's own Primitives; `vm_impl(self, *inputs)` computes what they are.

    `infer_shape`, `infer_dtype` and `__infer__` are not called: shapes are those of the result.

    Raises:
        NotImplementedError: the Primitive is called and has no `vm_impl`.

    Source: MindSpore's `mindspore.ops.PrimitiveWithInfer`.

    Example:
        >>> class Twice(ops.PrimitiveWithInfer):
        ...     def vm_impl(self, x):
        ...         return x * 2
        >>> print(Twice("Twice")(Tensor([1.0])))
        [2.]
    """

    def __call__(self, *inputs):
        compute = getattr(self, "vm_impl", None)
        if compute is None:
            raise NotImplementedError(NO_KERNEL.format(name=self.name, place=user_place()))
        return compute(*inputs)


class PrimitiveWithCheck(PrimitiveWithInfer):
    """As PrimitiveWithInfer; `check_shape`, `check_dtype` and `__check__` are not called.

    Source: MindSpore's `mindspore.ops.PrimitiveWithCheck`.

    Example:
        >>> class Negative(ops.PrimitiveWithCheck):
        ...     def vm_impl(self, x):
        ...         return -x
        >>> print(Negative("Negative")(Tensor([1.0])))
        [-1.]
    """


class PyFunc(Primitive):
    """A Python function on NumPy arrays, called on the host at every run; see Custom.

    Args:
        fn: takes and returns NumPy arrays; what is declared with the shape () it gets as a number.
        in_types, in_shapes: lists with the element type and the shape of each argument. The
            function gets an argument in that shape; -1 is any length.
        out_types, out_shapes: lists with the element type and the shape of each result.
        stateful: accepted; the function is called every time.

    Returns:
        A tuple, one Tensor for each of out_types.

    Raises:
        ValueError: the function returns another number of results, or one of another shape; or it
            is called with other arguments than declared, or with an argument of another size.
        TypeError: an argument has another element type than declared.

    Source: MindSpore's `mindspore.ops.PyFunc`.

    Example:
        >>> twice = ops.PyFunc(lambda x: x * 2, [ms.float32], [(2,)], [ms.float32], [(2,)])
        >>> print(twice(Tensor([1.0, 2.0]))[0])
        [2. 4.]
    """

    def __init__(self, fn, in_types, in_shapes, out_types, out_shapes, stateful=True):
        super().__init__("PyFunc")
        if not callable(fn):
            raise wrong(TypeError, "PyFunc: fn", "a function", f"{type(fn).__name__} {fn!r:.60}")
        self.fn = fn
        self.in_types, self.in_shapes = tuple(in_types), tuple(map(tuple, in_shapes))
        self.out_types, self.out_shapes = tuple(out_types), tuple(map(tuple, out_shapes))
        self.stateful = stateful

        @functools.wraps(fn)
        def listed(*arrays):
            made = fn(*self._declared(arrays))
            return tuple(made) if isinstance(made, (tuple, list)) else (made,)

        self._run = Custom(listed, self.out_shapes, self.out_types)

    def __call__(self, *inputs):
        declared = len(self.in_types), len(self.in_shapes)
        if declared != (len(inputs),) * 2:
            expected = f"{declared[0]} (in_types) and {declared[1]} (in_shapes)"
            raise wrong(ValueError, "PyFunc: the number of arguments", expected, str(len(inputs)))
        return self._run(*inputs)

    def _declared(self, arrays):
        """The arguments in the shapes that were declared for them."""
        made = []
        for array, kind, shape in zip(arrays, self.in_types, self.in_shapes, strict=True):
            if as_dtype(array.dtype) != as_dtype(kind):
                expected, actual = f"{as_dtype(kind)}, as declared", f"{as_dtype(array.dtype)}"
                raise wrong(TypeError, "PyFunc: the type of an argument", expected, actual)
            if not _fits(array.size, shape):
                expected = f"that of {shape}, as declared"
                raise wrong(ValueError, "PyFunc: the size of an argument", expected, array.shape)
            made.append(array.reshape(shape) if shape else array.item())
        return made


def _fits(size: int, shape: tuple[int, ...]) -> bool:
    """Whether so many elements make this shape, in which one length may be -1."""
    known = math.prod(length for length in shape if length >= 0)
    return size % known == 0 if -1 in shape and known else size == known
