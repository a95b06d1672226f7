# SPDX-License-Identifier: Apache-2.0
"""Tensor: a handle on a Value. Assigning points the handle elsewhere; a Value never changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.cell import of_base
from mycel.kernel.base.context import context, get_context
from mycel.kernel.base.division import division
from mycel.kernel.base.dtypes import DType, as_dtype, float32
from mycel.kernel.base.operators import OF_NUMPY, REFLECTED
from mycel.kernel.base.places import user_place
from mycel.kernel.base.structure import changed_everywhere, structure
from mycel.kernel.define.aval import aval_of
from mycel.kernel.record.data import to_array
from mycel.kernel.record.hooks import REGISTER_ONCE, HookHandle, Hooks, check_hook
from mycel.kernel.record.stream import demand, local, machine, note_changed, seen
from mycel.kernel.record.value import HOOKS, Observer, Value

if TYPE_CHECKING:
    # Methods that are written when they are first asked for.
    from mycel.signatures.tensor import TensorMethods
else:
    TensorMethods = object


class StandIn:
    """What is more than a Tensor; operators that are given it take its `operand`."""

    __slots__ = ()

    @property
    def operand(self) -> Tensor:
        """The Tensor that it stands for."""
        raise of_base(self)


class Tensor(TensorMethods):
    """An array of one element type; the result of every operator.

    Args:
        input_data: a number, nested lists of numbers, a NumPy array or another Tensor. NumPy
            arrays keep their type; Python ints give Int64, floats Float32, bools Bool.
        dtype: the element type wanted; the data is converted.
        shape, init: instead of data, a shape and an initialiser that fills it. A shape with None
            or -1 in it only announces an input: for `Cell.set_inputs` and `export`.

    Raises:
        TypeError: the data is not numeric, or was not given.

    Source: MindSpore's `mindspore.Tensor`.

    Example:
        >>> import mycel as ms
        >>> ms.Tensor([1, 2, 3])
        Tensor(shape=[3], dtype=Int64, value= [1, 2, 3])
        >>> print(ms.Tensor([[1.0, 2.0]]) * 2)
        [[2. 4.]]
    """

    __slots__ = ("__dict__", "__weakref__", "_hooks", "_taken", "_value")

    _value: Value
    # Of a part, taken by square brackets: references to the whole and to the Value that it had, the
    # index between them, and the same of the whole: (whole, index, value, above).
    _taken: tuple
    # NumPy leaves `array * tensor` to the Tensor.
    __array_priority__ = 1000

    def __init__(
        self,
        input_data=None,
        dtype=None,
        shape=None,
        init: Any = None,
        const_arg=False,
        device=None,
    ):
        # const_arg is MindSpore's hint to its compiler; every input is shared by structure here.
        if const_arg:
            self.__dict__["_const_arg"] = True
        del device  # It lies on the device of the context.
        element_type = None if dtype is None else as_dtype(dtype)
        if init is None and input_data is None and shape is not None:
            if any(length == -1 for length in _as_shape(shape)):
                self.__class__ = OpenTensor  # type: ignore[assignment]
                self.__dict__["_announced"] = (_as_shape(shape), element_type or float32)
                return
            init = "zeros"
        if init is not None:
            filled = init if hasattr(init, "fill") else machine.initializer(init)
            self._init = filled
            input_data = filled.fill(_as_shape(shape), element_type or float32)
        elif input_data is None:
            raise errors.wrong(
                TypeError,
                "The data of a Tensor",
                expected="a number, a nested list, a NumPy array or a Tensor",
                actual="None",
            )
        if isinstance(input_data, StandIn):
            input_data = input_data.operand
        if isinstance(input_data, Tensor):
            if element_type is not None and element_type is not input_data.dtype:
                input_data = input_data.astype(element_type)
            self._value = input_data._to_share()
            return
        self._value = data_value(input_data, element_type)

    def _to_share(self) -> Value:
        """The Value of another Tensor that is made of this one."""
        return resolve(self)

    # -- what is known without running ---------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self._value.aval.shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._value.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._value.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self._value.aval.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._value.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._value.aval.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next in each dimension, in C order."""
        strides, step = [], self.itemsize
        for length in reversed(self.shape):
            strides.append(step)
            step *= length
        return tuple(reversed(strides))

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    def __len__(self):
        if not self.shape:
            raise errors.wrong(TypeError, "What has a length", "a Tensor with dimensions", "none")
        return self.shape[0]

    # -- looking at values: each of these is a guard in a remembered call -------------------

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """A NumPy copy of the values, which may be written to; waits until they are there."""
        return np.array(look(self, "array"))

    numpy = asnumpy

    def __array_ufunc__(self, function, method, *inputs, **settings):
        """Operators of NumPy's arrays, and its functions for them, give Tensors; other functions
        of NumPy give arrays."""
        name = OF_NUMPY.get(function.__name__) if method == "__call__" else None
        if name is not None and not settings:
            left, right = inputs
            if isinstance(left, Tensor):
                return getattr(left, name)(right)
            return getattr(right, REFLECTED.get(name, name))(left)
        arrays = [np.asarray(x) if isinstance(x, Tensor) else x for x in inputs]
        return getattr(function, method)(*arrays, **settings)

    def __array__(self, dtype=None, copy=None):
        array = look(self, "array")
        return np.array(array, dtype) if copy or dtype is not None else array

    def __dlpack__(self, **options):
        return self._handed_out().__dlpack__(**options)

    def __dlpack_device__(self):
        return self._handed_out().__dlpack_device__()

    def _handed_out(self):
        """The array, for a library that shares its memory."""
        if local.stream.scope.capture is not None or context.check_numerics:
            look(self, "array")  # a call being remembered notes that Python saw it
        return demand(resolve(self))

    def item(self, *index):
        """One element as a Python number."""
        return look(self, "array").item(*index) if index else self._number("array").item()

    def tolist(self):
        """The values as nested Python lists."""
        return look(self, "array").tolist()

    def __bool__(self):
        if self.size != 1:
            raise ValueError(errors.BOOL_OF_MANY.format(shape=self.shape, place=user_place(2)))
        return bool(look(self, "bool"))

    def __int__(self):
        return int(self._number("int").item())

    def __index__(self):
        if self.dtype.is_inexact:
            raise TypeError(f"Only an integer Tensor is an index, not {self.dtype}.")
        return int(self._number("int").item())

    def __float__(self):
        return float(self._number("float").item())

    def __complex__(self):
        return complex(self._number("float").item())

    def _number(self, kind):
        if self.size != 1:
            words = {"kind": kind.replace("array", "number"), "shape": self.shape}
            raise ValueError(errors.NUMBER_OF_MANY.format(**words, place=user_place(3)))
        return look(self, kind)

    def __repr__(self):
        if not hasattr(self, "_value"):
            return f"<{type(self).__name__} whose creation failed>"
        text = machine.report.tensor_repr
        return text(look(self, "text", text), self.dtype)

    def __str__(self):
        text = machine.report.tensor_str
        return text(look(self, "text", text))

    def _repr_html_(self, name: str = "Tensor", *facts: str) -> str | None:
        """What a notebook shows: a name with facts, and what the values are, which are read."""
        text = partial(machine.report.tensor_html, dtype=self.dtype, name=name, facts=facts)
        return text(look(self, "text", text))

    def __format__(self, spec):
        def formatted(array):
            return format(array.item(), spec) if spec else machine.report.tensor_str(array)

        return formatted(look(self, "text", formatted))

    def __iter__(self):
        if not self.shape:
            raise TypeError(errors.ITERATE_SCALAR.format(place=user_place(2)))
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, element):
        numbers = (Tensor, bool, int, float, complex, np.generic)
        equal: Any = isinstance(element, numbers) and self == element
        return bool(equal is not False and equal.any())

    # -- what MindSpore keeps beside the values --------------------------------------------

    # The initialiser that filled it, what `set_init_flag` and `set_const_arg` were told.
    _init = None
    _init_flag = _const_arg = False
    # What programs note on Parameters of their own; nothing here reads it.
    init_flag = False
    # The Tensor that this one is the `data` of.
    _of: Tensor | None = None

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
        """A Tensor of the values of a NumPy array, as `mycel.from_numpy` makes it.

        Example:
            >>> print(Tensor.from_numpy(np.array([1.5])).dtype)
            Float64
        """
        return from_numpy(array)

    @property
    def data(self) -> Tensor:
        """The values without their history: no gradient flows through them.

        What is written into it, or assigned to it, is written into this Tensor.

        Example:
            >>> x = Tensor([1.0, 2.0])
            >>> x.data[0] = 5.0
            >>> print(x, ms.grad(lambda x: (x * x.data).sum())(x))
            [5. 2.] [5. 2.]
        """
        detached = self.detach()
        detached._of = self
        return detached

    @data.setter
    def data(self, value):
        update(self, value if isinstance(value, Tensor) else Tensor(value))

    def value(self) -> Tensor:
        """The Tensor itself.

        Example:
            >>> x = Tensor(1.0)
            >>> x.value() is x
            True
        """
        return self

    @property
    def device(self) -> str:
        """Where it lies: the device of the context."""
        return str(get_context("device_target"))

    @property
    def init(self):
        """The initialiser it was filled by, if it was made by one; else None."""
        return self._init

    @property
    def param_info(self):
        """What a Parameter has beside its values; None for others, unless a program has set it."""
        return vars(self).get("param_info")

    @param_info.setter
    def param_info(self, value) -> None:
        vars(self)["param_info"] = value

    def set_dtype(self, dtype) -> DType:
        """Convert the values in place; the element type is returned.

        Example:
            >>> x = Tensor([1.5])
            >>> x.set_dtype(ms.int32), x
            (mindspore.int32, Tensor(shape=[1], dtype=Int32, value= [1]))
        """
        element_type = as_dtype(dtype)
        if element_type is not self.dtype:
            rebind(self, resolve(self.astype(element_type)))
            changed_everywhere()  # what is remembered has the former type
        return element_type

    # -- hooks --------------------------------------------------------------------------

    def register_hook(self, hook) -> HookHandle:
        """Call `hook(gradient)` when the gradient of this Tensor is known.

        A Tensor that is returned replaces the gradient. On a result within a derivative the hook
        lasts as long as the derivative; on an input or Parameter, until it is removed.

        Example:
            >>> x = Tensor(3.0)
            >>> handle = x.register_hook(lambda gradient: gradient * 2)
            >>> print(ms.grad(lambda x: x * x)(x))
            12.0
        """
        check_hook(hook)
        open_hooks = local.stream.scope.hooks
        if open_hooks is not None and type(self) is Tensor:
            return HookHandle(hooks_of_value(resolve(self)), hook)
        capture = local.stream.scope.capture
        if capture is not None:
            capture.event(HOOKS, self)
        if getattr(self, "_hooks", None) is None:
            reference, name = ref(self), getattr(self, "name", None)
            kind = "hook on a Tensor" if name is None else f"hook on the Parameter {name!r}"
            self._hooks = Hooks(kind, reference, partial(_hooks_changed, reference))
        return HookHandle(self._hooks, hook)

    # -- copying ------------------------------------------------------------------------

    def __deepcopy__(self, memodict):
        # `copy.deepcopy` notes the copy itself; programs that call this hand over anything.
        copy = new_tensor(self._value, self.__class__)
        copy.__dict__.update(self.__dict__)
        copy.__dict__.pop("_of", None)
        return copy

    def __reduce__(self):
        return _rebuilt, (self.__class__, np.array(look(self, "array")), dict(self.__dict__))

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]


def tensor(
    input_data: Any = None,
    dtype: Any = None,
    shape: Any = None,
    init: Any = None,
    const_arg: bool = False,
    device: Any = None,
) -> Tensor:
    """A new Tensor; what `Tensor(...)` makes.

    Args:
        device: accepted; a Tensor lies on the device of the context.
        others: see Tensor.

    Source: MindSpore's `mindspore.tensor`.

    Example:
        >>> ms.tensor([1, 2], ms.float32)
        Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])
    """
    return Tensor(input_data, dtype, shape, init, const_arg, device)


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """A Tensor of the values of a NumPy array: a copy, which later changes of it do not reach.

    Raises:
        TypeError: not a NumPy array.

    Source: MindSpore's `mindspore.from_numpy`, which shares the memory.

    Example:
        >>> print(ms.from_numpy(np.array([1.5])).dtype)
        Float64
    """
    if not isinstance(array, np.ndarray):
        raise errors.wrong(TypeError, "from_numpy: array", "a NumPy array", type(array).__name__)
    return Tensor(array)


def _rebuilt(kind, array, attributes):
    tensor = new_tensor(data_value(array, None), kind)
    tensor.__dict__.update(attributes)
    return tensor


_new_handle = Tensor.__new__


def new_tensor(value: Value, kind=Tensor) -> Tensor:
    """A handle on a Value."""
    tensor = _new_handle(kind)
    tensor._value = value
    return tensor


def data_value(data, dtype: DType | None) -> Value:
    """The Value of data made in Python: a copy, so that later changes of an array do not reach."""
    array = to_array(data, dtype)
    value = Value(array, aval_of(array.shape, array.dtype))
    capture = local.stream.scope.capture
    if capture is not None:
        return capture.lift(value)
    return value


def _as_shape(shape) -> tuple[int, ...]:
    lengths = () if shape is None else (shape,) if isinstance(shape, int) else shape
    # What is no number (None, a Symbol) stands for a length that is not known.
    return tuple(int(n) if hasattr(n, "__int__") else -1 for n in lengths)


class OpenTensor(Tensor):
    """A Tensor whose shape is not all known: it announces an input, and has no values.

    Raises:
        ValueError: its values are asked for.

    Example:
        >>> announced = ms.Tensor(shape=[None, 3], dtype=ms.float32)
        >>> announced.shape, announced.dtype
        ((-1, 3), mindspore.float32)
    """

    __slots__ = ()

    @property
    def _value(self):
        raise ValueError(errors.OPEN_TENSOR.format(shape=self.shape, place=user_place(2)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.__dict__["_announced"][0]

    @property
    def dtype(self) -> DType:
        return self.__dict__["_announced"][1]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value= )"

    __str__ = __repr__

    def _repr_html_(self, name: str = "", *facts: str) -> None:
        """Nothing: it has no values."""


def resolve(handle: Tensor) -> Value:
    """The Value of a handle, noted by the call being remembered if it comes from outside."""
    value = handle._value
    stream = local.stream
    capture = stream.scope.capture
    if capture is not None and value.source is not stream.segment and value.capture is not capture:
        value = capture.lift(value, handle)
        if stream.scope.replaced is not None:
            stream.scope.replaced.append((handle, value))
    return value


def is_part(handle: Tensor) -> bool:
    """Whether somebody has what a Tensor was taken from by square brackets."""
    return next(wholes_of(handle), None) is not None


def wholes_of(handle: Tensor) -> Iterator[Tensor]:
    """What a Tensor was taken from by square brackets, and what that was, as far as it is there."""
    taken = getattr(handle, "_taken", None)
    while taken is not None:
        whole, _, _, taken = taken
        if whole() is not None:
            yield whole()


def made_within(handle: Tensor, observer: Observer) -> bool:
    """Whether the Value of a handle was made in the call that is observed."""
    value = handle._value
    return value.source is local.stream.segment or value.capture is observer


def rebind(handle: Tensor, value: Value) -> None:
    """Point a handle at another Value, and note it: every in-place change goes through here."""
    stream, before = local.stream, handle._value
    scope = stream.scope
    if scope.capture is not None or scope.journal is not None:
        stream.note_assigned(handle, before)
    segment = stream.segment
    if segment.outputs:
        had = before.slot if before.source is segment else before
        segment.assigned.append((ref(handle), had, len(segment.outputs)))
    if scope.replaced is not None:
        scope.replaced.append((handle, before))
    if before.aval is not value.aval:
        structure.changes += 1
    handle._value = value


def point(handle: Tensor, value: Value) -> None:
    """Let a handle show a Value, unseen by what watches the record."""
    if handle._value is not value:  # looking at it takes it out of a store
        handle._value = value


def update(handle: Tensor, result: Tensor | Value) -> None:
    """Give a handle another value, as a program does: what is written into `x.data` reaches x.

    This is the one way for operators, Cells and optimisers; `assign` checks what users give first.
    """
    if isinstance(result, Value):
        value = result
    else:
        value = result._value if local.stream.scope.capture is None else resolve(result)
    if division.assign is not None:
        value = division.assign(handle, value)
    rebind(handle, value)
    if handle._of is not None:
        rebind(handle._of, value)


def hooks_of_value(value: Value) -> Hooks:
    """The hooks on a result within the derivative that is open."""
    open_hooks = local.stream.scope.hooks
    assert open_hooks is not None
    known = open_hooks.get(id(value))
    if known is None:
        known = open_hooks[id(value)] = (value, Hooks("hook on a Tensor", value))
    return known[1]


def _hooks_changed(owner: Callable, what: str) -> None:
    """A hook was registered on a Tensor or removed from it."""
    handle = owner()
    if handle is not None:
        note_changed(handle, what, REGISTER_ONCE)


def look(handle: Tensor, kind: str, text=None) -> np.ndarray[Any, Any]:
    """The one place where Python sees values; `kind` says how much of them it saw."""
    value = resolve(handle)
    capture = local.stream.scope.capture
    return seen(value) if capture is None else capture.read(handle, value, kind, text)
