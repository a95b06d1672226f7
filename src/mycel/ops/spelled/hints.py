# SPDX-License-Identifier: Apache-2.0
"""What MindSpore programs tell its compiler, and ask of values: hints that need nothing here.

A compiled call is a PyNative call that is remembered, so order, constants and mutability are those
of Python.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.execute.sites import every_call
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.ops.sparse.sparse_tensors import Sparse


def constexpr(
    fn: Any = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """Mark a function that MindSpore's compiler calls with constants; here a function as it is.

    Args:
        fn: the function; may be left out to give options.
        get_instance: False gives a class whose objects are called, as MindSpore does.
        name, reuse_result, check: accepted.

    Source: MindSpore's `mindspore.constexpr`, `mindspore.ops.constexpr`.

    Example:
        >>> @ops.constexpr
        ... def halves(shape):
        ...     return tuple(n // 2 for n in shape)
        >>> halves((4, 6))
        (2, 3)
    """
    del name, reuse_result, check
    if fn is None:
        return functools.partial(constexpr, get_instance=get_instance)
    if not callable(fn):
        raise wrong(TypeError, "What constexpr marks", "a function", type(fn).__name__)
    if get_instance:
        return fn
    return type(fn.__name__, (), {"__call__": staticmethod(fn), "__doc__": fn.__doc__})


def jit_class(cls: type) -> type:
    """Mark a class that compiled code may use; here every class is one.

    Raises:
        TypeError: not a class.

    Source: MindSpore's `mindspore.jit_class`.

    Example:
        >>> @ms.jit_class
        ... class Scale:
        ...     factor = 2
        >>> Scale().factor
        2
    """
    if not isinstance(cls, type):
        raise wrong(TypeError, "What jit_class marks", "a class", f"{cls!r:.60}")
    return cls


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """The same data; MindSpore's compiler would else take it for constants.

    Here Tensors are never constants, and a number that changes recompiles nothing while it is only
    computed with.

    Args:
        input_data: Tensors and numbers, and tuples, lists and dictionaries of them.
        dynamic_len: whether the length may change; only for tuples and lists.

    Raises:
        TypeError: the data is of another type, or `dynamic_len` is given for something that is not
            a tuple or list.

    Source: MindSpore's `mindspore.mutable`.

    Example:
        >>> ms.mutable((1, 2.0))
        (1, 2.0)
    """
    _check_mutable(input_data)
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        kind = type(input_data).__name__
        raise wrong(TypeError, "mutable(dynamic_len=True)", "a tuple or list", kind)
    return input_data


def _check_mutable(data) -> None:
    if isinstance(data, (tuple, list)):
        for part in data:
            _check_mutable(part)
    elif isinstance(data, dict):
        _check_mutable(list(data.values()))
    elif not isinstance(data, (bool, int, float, Tensor)):
        expected = "Tensors and numbers, and tuples, lists and dictionaries of them"
        raise wrong(TypeError, "The data given to mutable", expected, type(data).__name__)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a Tensor.

    Source: MindSpore's `mindspore.is_tensor`, `mindspore.ops.is_tensor`.

    Example:
        >>> ops.is_tensor(Tensor(1.0)), ops.is_tensor(1.0)
        (True, False)
    """
    return isinstance(obj, Tensor)


def tuple_to_array(input_x: Any) -> Tensor:
    """A tuple or range of numbers as a Tensor: Int32 for integers, Float32 if one of them is real.

    Raises:
        TypeError: the input is not a tuple or range of numbers.

    Source: MindSpore's `mindspore.ops.tuple_to_array`.

    Example:
        >>> print(ops.tuple_to_array((1, 2, 3)))
        [1 2 3]
    """
    if not isinstance(input_x, (tuple, range)):
        actual = type(input_x).__name__
        raise wrong(TypeError, "tuple_to_array: input_x", "a tuple or range", actual)
    kinds = {type(number) for number in input_x}
    if not kinds <= {int, float}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise wrong(TypeError, "tuple_to_array: input_x", "of integers and floats", names)
    return Tensor(np.array(input_x, np.float32 if float in kinds else np.int32))


class Depend(Primitive):
    """`value`, computed after `expr`: operators run in the order in which they are written anyway.

    Source: MindSpore's `mindspore.ops.Depend`, `mindspore.ops.depend`.

    Example:
        >>> print(ops.depend(Tensor(1.0), Tensor(2.0)))
        1.0
    """

    def __init__(self):
        super().__init__("Depend")

    def __call__(self, value, expr):
        return value


depend = Depend()


class DType(Primitive):
    """The element type of a Tensor, or of the values of a sparse one.

    Source: MindSpore's `mindspore.ops.DType`.

    Example:
        >>> ops.DType()(Tensor(1.0))
        mindspore.float32
    """

    def __init__(self):
        super().__init__("DType")

    def __call__(self, x):
        if not isinstance(x, (Tensor, Sparse)):
            raise wrong(TypeError, "DType: x", "a Tensor", type(x).__name__)
        return x.dtype


class Print(Primitive):
    """Print each input on a line of its own, at every call, also in compiled code.

    Source: MindSpore's `mindspore.ops.Print`, `mindspore.ops.print_`.

    Example:
        >>> ops.Print()("the sum", Tensor([1, 2]))
        the sum
        Tensor(shape=[2], dtype=Int64, value= [1, 2])
    """

    def __init__(self):
        super().__init__("Print")

    def __call__(self, *input_x):
        _print_lines(*input_x)


@every_call
def _print_lines(*inputs) -> None:
    for line in inputs:
        # A Parameter shows its value, without its name.
        print(repr(Tensor(line)) if isinstance(line, Tensor) else line)


print_ = Print()
