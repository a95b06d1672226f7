# SPDX-License-Identifier: Apache-2.0
"""Functions of functions: chosen by the types of the inputs, applied to each member, completed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.kernel.base.dtypes import DType
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive

NO_MATCH = (
    "{name} is written for {known}, but it was called with ({given}) at {place}. Register a "
    "function for these: @{name}.register({wanted})."
)

# What the type names of `register` mean. Those of sparse containers match classes of that name.
_KINDS: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "Number": (bool, int, float, complex, np.number),
    "Bool": (bool,),
    "Int": (int, np.signedinteger),
    "UInt": (np.unsignedinteger,),
    "Float": (float, np.floating),
    "Complex": (complex, np.complexfloating),
    "String": (str,),
    "Tuple": (tuple,),
    "List": (list,),
    "Dictionary": (dict,),
    "Slice": (slice,),
    "Ellipsis": (type(...),),
    "None": (type(None),),
    "Type": (DType,),
    "Undetermined": (),
}
_NAMED = ("RowTensor", "MapTensor", "COOTensor", "CSRTensor", "SparseTensor")
_SIZED = ("Int", "UInt", "Float", "Complex", "BFloat")


def _is_a(value, wanted: str) -> bool:
    """Whether a value is of the type that a name of `register` means."""
    if wanted == "Function":
        return callable(value) and not isinstance(value, (Tensor, type))
    if wanted in _NAMED:
        return type(value).__name__ == wanted
    if wanted.startswith("Tensor["):
        return isinstance(value, Tensor) and str(value.dtype).lower() == wanted[7:-1].lower()
    kinds = _KINDS[wanted.rstrip("0123456789")]
    # True is an integer only to Python.
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)


def _type_name(wanted) -> str:
    """The name of a type as `register` takes it: a word, an element type or a Python type."""
    if isinstance(wanted, type):
        by_class = {kind: name for name, kinds in _KINDS.items() for kind in kinds[:1]}
        wanted = by_class.get(wanted, wanted.__name__)
    name = str(wanted).rpartition(".")[2] if isinstance(wanted, DType) else wanted
    if isinstance(name, str):
        name = name[:1].upper() + name[1:]
        plain = name.rstrip("0123456789")
        sized = plain != name and plain in _SIZED
        if sized or name in _KINDS or name in (*_NAMED, "Function") or name.startswith("Tensor["):
            return name
    known = ", ".join((*_KINDS, *_NAMED, "Function"))
    raise wrong(RuntimeError, "A type name of register", f"one of {known}", repr(wanted))


class MultitypeFuncGraph:
    """One name for several functions: a call goes to the first whose types fit the inputs.

    A function that is registered alone is called with any inputs.

    Args:
        name: what it is called in messages.
        read_value: accepted; functions get Parameters as they are.

    Source: MindSpore's `mindspore.ops.MultitypeFuncGraph`.

    Example:
        >>> scale = ops.MultitypeFuncGraph("scale")
        >>> @scale.register("Tensor", "Number")
        ... def scale_tensor(x, factor):
        ...     return x * factor
        >>> @scale.register("None", "Number")
        ... def scale_nothing(x, factor):
        ...     return None
        >>> print(scale(Tensor([1.0, 2.0]), 3), scale(None, 3))
        [3. 6.] None
    """

    def __init__(self, name: str, read_value: bool = False):
        self.name = self.__name__ = name
        self.read_value = read_value
        self.entries: list[tuple[tuple[str, ...], Callable]] = []

    def register(self, *type_names) -> Callable:
        """Give the function for inputs of these types, as a decorator.

        Args:
            type_names: "Tensor", "Number", "Bool", "String", "Tuple", "List", "Function", "None"
                and their like, one for each input; element types such as `mycel.float32` as well.

        Raises:
            RuntimeError: an unknown type name.
        """
        wanted = tuple(map(_type_name, type_names))

        def remember(function: Callable) -> Callable:
            self.entries.append((wanted, function))
            return function

        return remember

    def __call__(self, *inputs):
        if len(self.entries) == 1:
            # As in MindSpore: a function that stands alone takes whatever it can compute with.
            return self.entries[0][1](*inputs)
        for wanted, function in self.entries:
            if len(wanted) == len(inputs) and all(map(_is_a, inputs, wanted)):
                return function(*inputs)
        given = [type(value).__name__ for value in inputs]
        known = " and ".join(f"({', '.join(names)})" for names, _ in self.entries)
        names = ", ".join(repr(_closest(value)) for value in inputs)
        raise ValueError(
            NO_MATCH.format(
                name=self.name,
                known=known or "no types at all",
                given=", ".join(given),
                place=user_place(),
                wanted=names,
            )
        )


def _closest(value) -> str:
    return next((name for name in (*_KINDS, "Function") if _is_a(value, name)), "Undetermined")


def _function_of(function, what: str) -> Callable:
    if not callable(function):
        raise wrong(TypeError, what, "a function", f"{type(function).__name__} {function!r:.60}")
    return function


class Map:
    """Apply a function to the members of tuples or lists, one level deep.

    Args:
        ops: the function; None takes it as the first input of the call.
        reverse: begin with the last members; results are in order in any case.

    Raises:
        TypeError: what is mapped is not a function, or there is nothing to map it over.
        ValueError: the tuples have different lengths.

    Source: MindSpore's `mindspore.ops.Map`.

    Example:
        >>> ops.Map()(lambda x, y: x + y, (1, 2), (3, 4))
        (4, 6)
    """

    _deep = False

    def __init__(self, ops: Callable | None = None, reverse: bool = False):
        if ops is not None:
            _function_of(ops, f"{type(self).__name__}: ops")
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *inputs):
        function = self.ops
        if function is None:
            function = _function_of(inputs[0] if inputs else None, f"{type(self).__name__}: ops")
            inputs = inputs[1:]
        if not inputs:
            name = type(self).__name__
            raise wrong(TypeError, f"What {name} goes over", "at least one tuple", "nothing")
        return self._mapped(function, inputs)

    def _mapped(self, function, inputs):
        if not isinstance(inputs[0], (tuple, list)):
            if self._deep:
                return function(*inputs)
            inputs = (tuple(inputs[0]), *inputs[1:])
        rows = list(zip(*self._members(inputs), strict=True))
        if self.reverse:
            rows.reverse()
        if self._deep:
            made = [self._mapped(function, row) for row in rows]
        else:
            made = [function(*row) for row in rows]
        return tuple(made[::-1] if self.reverse else made)

    def _members(self, inputs):
        """The members of each input; a Tensor is taken apart along its first dimension."""
        count, name = len(inputs[0]), type(self).__name__
        for members in inputs:
            if not isinstance(members, (tuple, list, Tensor)):
                expected = "tuples or lists; give the function fixed arguments with ops.partial"
                raise wrong(TypeError, f"The inputs of {name}", expected, type(members).__name__)
            if len(members) != count:
                expected = f"of one length: {count} as the first"
                raise wrong(ValueError, f"The inputs of {name}", expected, len(members))
            yield members


class HyperMap(Map):
    """Apply a function to the members of nested tuples or lists: tuples of the results.

    Args:
        ops: the function, often a MultitypeFuncGraph; None takes it as the first input of the call.
        reverse: begin with the last members; results are in order in any case.

    Raises:
        TypeError: what is mapped is not a function, or there is nothing to map it over.
        ValueError: the tuples have different lengths.

    Source: MindSpore's `mindspore.ops.HyperMap`.

    Example:
        >>> ops.HyperMap()(lambda x: x * x, ((1, 2), 3))
        ((1, 4), 9)
        >>> def scaled(factor, gradient):
        ...     return gradient * factor
        >>> print(ops.HyperMap()(ops.partial(scaled, 2), (Tensor(1.0), Tensor(2.0)))[1])
        4.0
    """

    _deep = True


class Partial(Primitive):
    """A function with its first arguments fixed.

    Raises:
        TypeError: the first input is not a function.

    Source: MindSpore's `mindspore.ops.Partial`, `mindspore.ops.partial`.

    Example:
        >>> ops.partial(max, 3)(1, 2)
        3
    """

    def __init__(self):
        super().__init__("Partial")

    def __call__(self, *args, **kwargs):
        function = _function_of(args[0] if args else None, "The first input of partial")
        return functools.partial(function, *args[1:], **kwargs)


partial = Partial()


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Keep flags with a function or Cell, as MindSpore's compiler reads them; also a decorator.

    Source: MindSpore's `mindspore.ops.add_flags`.

    Example:
        >>> @ops.add_flags(has_effect=True)
        ... def note(x):
        ...     return x
        >>> note(3)
        3
    """
    if fn is None:
        return functools.partial(add_flags, **flags)
    if hasattr(fn, "get_flags"):
        fn.add_flags(**flags)
    else:
        known = getattr(fn, "_func_graph_flags", {})
        fn._func_graph_flags = {**known, **flags}
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """`add_flags` with the flag `core`; of older MindSpore versions, and without effect here.

    Example:
        >>> @ops.core
        ... def twice(x):
        ...     return 2 * x
        >>> twice(3)
        6
    """
    return add_flags(fn, core=True, **flags)
