# SPDX-License-Identifier: Apache-2.0
"""Names that MindSpore gave up or keeps only for old programs: each means what is said beside it.

`RENAMED` and `PYTHON` are one more name for something that is there; the rest has no newer twin.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from mycel.compat.types import typeof
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import older, without_effect
from mycel.kernel.differentiate.api import stop_gradient
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.spell import Primitive, namespaces
from mycel.kernel.spell.declare import Later
from mycel.nn.cell import Cell
from mycel.ops.spelled.hints import DType

# The older name, and the one to write instead.
RENAMED = {
    "FastGelu": "FastGeLU",
    "Gelu": "GeLU",
    "Pack": "Stack",
    "TensorAdd": "Add",
    "Unpack": "Unstack",
    "floordiv": "floor_div",
    "floormod": "floor_mod",
    "hyper_add": "add",
    "pows": "pow",
    "tensor_add": "add",
    "tensor_div": "div",
    "tensor_exp": "exp",
    "tensor_expm1": "expm1",
    "tensor_floordiv": "floor_div",
    "tensor_ge": "ge",
    "tensor_gt": "gt",
    "tensor_le": "le",
    "tensor_lt": "lt",
    "tensor_mod": "floor_mod",
    "tensor_mul": "mul",
    "tensor_pow": "pow",
    "tensor_slice": "slice",
    "tensor_sub": "sub",
}


def _set(sequence, index, value):
    """A copy of a tuple or list with one member replaced, or of a dictionary with one entry set.

    Args:
        sequence: a tuple, a list or a dictionary.
        index: the position of the member, or the key of the entry.
        value: the new member, or the value of the entry.
    """
    changed = dict(sequence) if isinstance(sequence, dict) else list(sequence)
    changed[index] = value
    return tuple(changed) if isinstance(sequence, tuple) else changed


def _collect(kind):
    def collected(*members):
        return kind(members)

    collected.__doc__ = f"Its arguments as a {kind.__name__}."
    return collected


def _made_dict(keys, values):
    """The dictionary of these keys and values."""
    return dict(zip(keys, values, strict=True))


def _made_range(*bounds):
    """The integers of `range(*bounds)` as a tuple."""
    return tuple(range(*bounds))


def _holds(key, dictionary):
    """Whether a dictionary has the key."""
    return key in dictionary


def _lacks(key, dictionary):
    """Whether a dictionary does not have the key."""
    return key not in dictionary


def _quotients(x, y):
    """The whole quotients of two tuples, member by member."""
    return tuple(map(operator.floordiv, x, y))


def _both(x, y):
    """Whether both are true."""
    return bool(x and y)


def _either(x, y):
    """Whether one of them is true."""
    return bool(x or y)


def _reversed(members):
    """The same tuple from its end."""
    return members[::-1]


def _of_one(function):
    def called(x):
        return function(x)

    called.__doc__ = function.__doc__
    return called


def _of_two(function):
    def called(x, y):
        return function(x, y)

    called.__doc__ = function.__doc__
    return called


# What compiled programs of MindSpore need names for is plain Python here.
PYTHON = {
    "bool_and": _both,
    "bool_eq": operator.eq,
    "bool_not": operator.not_,
    "bool_or": _either,
    "dict_getitem": operator.getitem,
    "dict_setitem": _set,
    "in_dict": _holds,
    "is_": operator.is_,
    "is_not": operator.is_not,
    "list_equal": operator.eq,
    "list_getitem": operator.getitem,
    "list_len": len,
    "list_setitem": _set,
    "make_dict": _made_dict,
    "make_list": _collect(list),
    "make_range": _made_range,
    "make_slice": slice,
    "make_tuple": _collect(tuple),
    "not_in_dict": _lacks,
    "scalar_add": _of_two(operator.add),
    "scalar_div": _of_two(operator.truediv),
    "scalar_eq": _of_two(operator.eq),
    "scalar_floordiv": _of_two(operator.floordiv),
    "scalar_ge": _of_two(operator.ge),
    "scalar_gt": _of_two(operator.gt),
    "scalar_le": _of_two(operator.le),
    "scalar_log": _of_one(math.log),
    "scalar_lt": _of_two(operator.lt),
    "scalar_max": _of_two(max),
    "scalar_min": _of_two(min),
    "scalar_mod": _of_two(operator.mod),
    "scalar_mul": _of_two(operator.mul),
    "scalar_ne": _of_two(operator.ne),
    "scalar_pow": _of_two(operator.pow),
    "scalar_sub": _of_two(operator.sub),
    "scalar_uadd": _of_one(operator.pos),
    "scalar_usub": _of_one(operator.neg),
    "shape_mul": math.prod,
    "string_concat": operator.add,
    "string_eq": operator.eq,
    "tuple_div": _quotients,
    "tuple_equal": operator.eq,
    "tuple_getitem": operator.getitem,
    "tuple_len": len,
    "tuple_reversed": _reversed,
    "tuple_setitem": _set,
}


def _renamed(name: str):
    newer = RENAMED[name]
    older(f"ops.{name}", f"ops.{newer}")
    return namespaces["ops"][newer]


def later(name: str) -> Later:
    """An older name, which is noted when it is first looked up."""
    return Later(name, functools.partial(_renamed, name))


def _answer_older_names() -> None:
    names = namespaces["ops"]
    for name in RENAMED:
        names.add(name, later(name))
    for name, function in PYTHON.items():
        names.add(name, Later(name, lambda function=function: function))


_answer_older_names()


class StopGradient(Primitive):
    """The same values, through which no gradient flows; write `ops.stop_gradient`.

    Source: MindSpore's `mindspore.ops.StopGradient`.

    Example:
        >>> print(ms.grad(lambda x: x * ops.StopGradient()(x))(Tensor(3.0)))
        3.0
    """

    def __init__(self):
        super().__init__("StopGradient")

    def __call__(self, input_x):
        return stop_gradient(input_x)


class ControlDepend(Primitive):
    """Say that `dst` comes after `src`; here everything happens in the order it is written.

    Args:
        depend_mode: accepted.

    Example:
        >>> ops.ControlDepend()(Tensor(1.0), Tensor(2.0))
    """

    def __init__(self, depend_mode: int = 0):
        super().__init__("ControlDepend")
        self.depend_mode = depend_mode

    def __call__(self, src, dst):
        """Nothing."""


control_depend = ControlDepend()


class Load(Primitive):
    """The present value of a Parameter; later changes of the Parameter do not reach it.

    Source: MindSpore's `mindspore.ops.operations.Load`.

    Example:
        >>> print(ops.Load()(Parameter(Tensor([1.0]), name="w")))
        [1.]
    """

    def __init__(self):
        super().__init__("Load")

    def __call__(self, variable, u=None):
        return new_tensor(resolve(variable))


# The element type of a Tensor, as a function.
dtype = DType()

_BY_KIND = {"b": bool, "i": int, "u": int, "f": float}


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A Python number as one of the kind of an element type: a bool, an int or a float.

    Raises:
        TypeError: not a number, or an element type of another kind.

    Source: MindSpore's `mindspore.ops.scalar_cast`, `mindspore.ops.ScalarCast`.

    Example:
        >>> ops.scalar_cast(2.7, mycel.int64)
        2
    """
    if not isinstance(input_x, (bool, int, float, np.number)):
        raise wrong(TypeError, "scalar_cast: input_x", "a number", type(input_x).__name__)
    kind = _BY_KIND.get(as_dtype(input_y).numpy.kind)
    if kind is None:
        raise wrong(TypeError, "scalar_cast: input_y", "a real element type", input_y)
    return kind(input_x)


class ScalarCast(Primitive):
    """`scalar_cast` as an object.

    Source: MindSpore's `mindspore.ops.ScalarCast`.

    Example:
        >>> ops.ScalarCast()(3, mycel.float32)
        3.0
    """

    def __init__(self):
        super().__init__("ScalarCast")

    def __call__(self, input_x, input_y):
        return scalar_cast(input_x, input_y)


def scalar_to_array(input_x: Any) -> Tensor:
    """A number as a Tensor without dimensions; write `ops.scalar_to_tensor`.

    Raises:
        TypeError: not a number.

    Source: MindSpore's `mindspore.ops.scalar_to_array`, `mindspore.ops.ScalarToArray`.

    Example:
        >>> print(ops.scalar_to_array(2.5))
        2.5
    """
    if not isinstance(input_x, (bool, int, float, np.number)):
        raise wrong(TypeError, "scalar_to_array: input_x", "a number", type(input_x).__name__)
    return Tensor(input_x)


class ScalarToArray(Primitive):
    """`scalar_to_array` as an object; write `ops.ScalarToTensor`.

    Source: MindSpore's `mindspore.ops.ScalarToArray`.

    Example:
        >>> print(ops.ScalarToArray()(2))
        2
    """

    def __init__(self):
        super().__init__("ScalarToArray")

    def __call__(self, input_x):
        return scalar_to_array(input_x)


class TupleToArray(Primitive):
    """A tuple of numbers as a Tensor: Int32 for integers, Float32 for reals.

    Raises:
        TypeError: not a tuple, or not of integers or floats alone.
        ValueError: an empty tuple.

    Source: MindSpore's `mindspore.ops.TupleToArray`.

    Example:
        >>> ops.TupleToArray()((1, 2))
        Tensor(shape=[2], dtype=Int32, value= [1, 2])
    """

    def __init__(self):
        super().__init__("TupleToArray")

    def __call__(self, input_x):
        if not isinstance(input_x, tuple):
            raise wrong(TypeError, "TupleToArray: input_x", "a tuple", type(input_x).__name__)
        if not input_x:
            raise wrong(ValueError, "TupleToArray: input_x", "of at least one number", "()")
        kinds = {type(number) for number in input_x}
        if kinds not in ({int}, {float}):
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise wrong(TypeError, "TupleToArray: input_x", "of integers or of floats", names)
        return Tensor(np.array(input_x, np.int32 if kinds == {int} else np.float32))


class _Registry:
    """Python functions for Primitives, by name."""

    def __init__(self):
        self._found = {}

    def register(self, name: str):
        """A decorator that keeps a function under a name."""

        def registered(function):
            self._found[name] = function
            return function

        return registered

    def get(self, name: str):
        """What is kept under a name; None for nothing."""
        return self._found.get(name)


vm_impl_registry = _Registry()


def get_vm_impl_fn(prim: Any) -> Any:
    """The Python function that was registered for a Primitive with `vm_impl_registry`, or None.

    Args:
        prim: a Primitive, or its name.

    Source: MindSpore's `mindspore.ops.get_vm_impl_fn`.

    Example:
        >>> @ops.vm_impl_registry.register("Twice")
        ... def twice(prim):
        ...     return lambda x: 2 * x
        >>> ops.get_vm_impl_fn("Twice")(3)
        6
    """
    made = vm_impl_registry.get(prim if isinstance(prim, str) else prim.name)
    return None if made is None else made(prim)


def set_comm_ops_inplace(is_enable: bool, func_list: Any = None) -> None:
    """Whether collective operators write into their arguments in MindSpore; no effect here.

    Args:
        is_enable: whether they do.
        func_list: which; None, the default, for all.

    Source: MindSpore's `mindspore.ops.communication.set_comm_ops_inplace`.

    Example:
        >>> ops.set_comm_ops_inplace(True)
    """
    without_effect("set_comm_ops_inplace", {"is_enable": is_enable, "func_list": func_list})


class _Morphed(Cell):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def construct(self, *inputs):
        return self._function(*inputs)


class _MorphedWithReverse(_Morphed):
    def __init__(self, function, reverse):
        super().__init__(function)
        self._reverse = reverse

    def bprop(self, *given):
        return self._reverse(*given)


class Morph(Primitive):
    """A function of operators as one Primitive.

    Args:
        fn: the function.
        infer_shape, infer_dtype: not called: shapes and types are those of the result.
        bprop_fn: its own reverse, `bprop_fn(*inputs, out, dout)`, a tuple with a gradient for each
            input; None, the default, differentiates `fn`.

    Source: MindSpore's `mindspore.ops.Morph`.

    Example:
        >>> twice = ops.Morph(lambda x: x * 2, None, None)
        >>> print(twice(Tensor([1.0])), ms.grad(twice)(Tensor([1.0])))
        [2.] [2.]
    """

    def __init__(self, fn, infer_shape, infer_dtype, bprop_fn=None):
        del infer_shape, infer_dtype
        super().__init__("Morph")
        self._cell = _Morphed(fn) if bprop_fn is None else _MorphedWithReverse(fn, bprop_fn)

    def __call__(self, *args):
        return self._cell(*args)


# What the package root puts into `ops`.
PUBLIC = {
    "Morph": Morph,
    "get_vm_impl_fn": get_vm_impl_fn,
    "set_comm_ops_inplace": set_comm_ops_inplace,
    "vm_impl_registry": vm_impl_registry,
    "ControlDepend": ControlDepend,
    "Load": Load,
    "ScalarCast": ScalarCast,
    "ScalarToArray": ScalarToArray,
    "StopGradient": StopGradient,
    "TupleToArray": TupleToArray,
    "control_depend": control_depend,
    "dtype": dtype,
    "scalar_cast": scalar_cast,
    "scalar_to_array": scalar_to_array,
    "typeof": typeof,
}
