# SPDX-License-Identifier: Apache-2.0
"""Parameter: a Tensor with a name that training changes; ParameterTuple: several of them."""

from __future__ import annotations

from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import int32
from mycel.kernel.base.missing import look_again
from mycel.kernel.base.places import user_place
from mycel.kernel.base.structure import changed_everywhere
from mycel.kernel.record.marker import COPY
from mycel.kernel.record.stream import local, machine, note_changed, record, refuse
from mycel.kernel.record.tensor import Tensor, data_value, new_tensor, resolve, update
from mycel.kernel.record.value import Value

_UNNAMED = "Parameter#"
_numbers = count()
# Every Parameter there is.
_alive: WeakValueDictionary[int, Parameter] = WeakValueDictionary()


class Parameter(Tensor):
    """A Tensor that belongs to a Cell and is changed in place, by training or by assignment.

    Args:
        default_input: a Tensor, NumPy array, Python number, or what `initializer(...)` returns.
        name: its name; None takes the attribute's name when the Parameter joins a Cell.
        requires_grad: whether `trainable_params` lists it.

    Raises:
        ValueError: `name` is not a string.
        TypeError: the data is not numeric, or `requires_grad` no truth value.

    Source: MindSpore's `mindspore.Parameter`.

    Example:
        >>> import mycel as ms
        >>> ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    """

    __slots__ = ("_requires_grad", "_store", "name")

    # What has its array while it has no Value (see execute.store), or None.
    _store: Any

    def __init__(
        self,
        default_input,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ):
        del device  # It lies on the device of the context.
        if name is not None and not isinstance(name, str):
            raise errors.wrong(
                ValueError, "The name of a Parameter", expected="a string", actual=repr(name)
            )
        _check_flag(name, requires_grad)
        refuse("a Parameter was created inside", "create it before the call")
        # A bare integer is an Int32 here, though a Tensor of it is an Int64: as in MindSpore.
        number = isinstance(default_input, int) and not isinstance(default_input, bool)
        self._hooks = self._store = None
        super().__init__(default_input, int32 if number else None)
        if isinstance(default_input, Tensor):
            self._value = _apart(self)
        _join(self)
        self.name = name or f"{_UNNAMED}{next(_numbers)}"
        self._requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        self.storage_format = storage_format

    def __getattr__(self, name: str):
        # Python asks here for what is not there.
        if name == "_value" and self._store is not None:
            self._store.give(self)
            return self._value
        return look_again(self, name)  # raises as it did

    @property
    def requires_grad(self) -> bool:
        """Whether training changes it."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool):
        _check_flag(self.name, value)
        if value is not self._requires_grad:
            self._requires_grad = value
            note_changed(None, "requires_grad was set inside", "set it before the call")

    @property
    def is_unnamed(self) -> bool:
        """Whether the name was made up, so that a Cell gives it the attribute's name."""
        return self.name.startswith(_UNNAMED)

    def copy(self) -> Tensor:
        """A Tensor of the same values, through which no gradient flows.

        Example:
            >>> weight = ms.Parameter(ms.Tensor([2.0]), name="weight")
            >>> gradient = ms.grad(lambda x: (x * weight * weight.copy()).sum(), None, weight)
            >>> print(gradient(ms.Tensor([1.0])))
            [2.]
        """
        return Tensor(self)

    def _to_share(self) -> Value:
        scope = local.stream.scope
        is_noted = scope.tape is not None or scope.capture is not None
        return resolve(self.detach() if is_noted else self)

    @property
    def data(self) -> Parameter:
        """The Parameter itself, as in MindSpore; a value that is assigned is given to it."""
        return self

    @data.setter
    def data(self, value):
        self.set_data(value)

    # What MindSpore's parallel and cached training keeps, with the values it has on one device.
    # Nothing here depends on them.
    cache_enable = False
    comm_fusion = 1
    init_mode = None
    inited_param = None
    is_in_parallel = False
    is_init = False  # type: ignore[assignment]
    key = -1
    layerwise_parallel = False
    parallel_optimizer = True
    parallel_optimizer_comm_recompute = False
    requires_aggr = True
    sliced = False
    storage_format = ""
    unique = False  # type: ignore[assignment]
    _cache_shape: object = ()
    # Whether rows without a gradient were not looked up, for optimisers (see optim.fused_update).
    _has_sparse_gradient = False

    def add_pipeline_stage(self, stage: int) -> None:
        """Say that a stage of a pipeline uses this Parameter, beside those of the Cells it is in.

        It lies in the first of its stages, and is sent to the others in every step; what they give
        of its gradient is added there.

        Raises:
            TypeError: not an integer from 0.

        Source: MindSpore's `Parameter.add_pipeline_stage`.

        Example:
            >>> import mycel as ms
            >>> ms.Parameter(ms.Tensor([1.0]), name="w").add_pipeline_stage(1)
        """
        if not isinstance(stage, int) or isinstance(stage, bool) or stage < 0:
            what = f"add_pipeline_stage of Parameter {self.name!r}: stage"
            raise errors.wrong(TypeError, what, expected="an integer from 0", actual=repr(stage))
        self.__dict__.setdefault("_added_stages", []).append(stage)

    @property
    def cache_shape(self):
        """The shape of a cache, kept for the caller; empty at first."""
        return self._cache_shape or []

    @cache_shape.setter
    def cache_shape(self, shape):
        self._cache_shape = shape

    @property
    def param_info(self) -> ParameterInfo:
        """Its name and settings as an object of their own, as MindSpore keeps them.

        Example:
            >>> Parameter(Tensor(1.0), name="w").param_info.name
            'w'
        """
        return ParameterInfo(self)

    def value(self) -> Tensor:
        """A Tensor with the present value; later changes of the Parameter do not reach it."""
        return new_tensor(resolve(self))

    def init_data(self, *_, **__) -> Parameter:
        """The Parameter itself: its values are there from the start."""
        return self

    def set_data(self, data, slice_shape: bool = False) -> Parameter:
        """Replace the value, converted to the Parameter's element type.

        Raises:
            ValueError: another shape, unless `slice_shape` is True.
            TypeError: complex values for real ones.
        """
        assign(self, data, slice_shape)
        return self

    def assign_value(self, value) -> Parameter:
        """`set_data` under its other name."""
        return self.set_data(value)

    def clone(self, init="same") -> Parameter:
        """A new Parameter of the same name: `init` is 'same', an initialiser, or a number."""
        if isinstance(init, str) and init == "same":
            data = self.value()
        elif isinstance(init, (int, float)):
            data = _filled(self, init)
        else:
            data = Tensor(shape=self.shape, dtype=self.dtype, init=init)
        return Parameter(data, name=self.name, requires_grad=self._requires_grad)

    def __repr__(self):
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self._requires_grad})"
        )

    __str__ = __repr__

    def _repr_html_(self, name: str = "", *facts: str) -> str | None:
        trained = "trained" if self._requires_grad else "frozen: requires_grad=False"
        hooked = "with hooks" if self._hooks else ""
        return super()._repr_html_(name or f"Parameter {self.name}", trained, hooked, *facts)

    def __format__(self, spec):
        return super().__format__(spec) if spec else repr(self)

    def __deepcopy__(self, memodict):
        copy = Parameter.__new__(Parameter)
        copy._value = _apart(self)
        copy._hooks = copy._store = None
        copy.__dict__.update(self.__dict__)
        copy.name = self.name
        copy._requires_grad = self._requires_grad
        _join(copy)
        return copy

    def __reduce__(self):
        return _rebuilt, (self.asnumpy(), self.name, self._requires_grad, dict(self.__dict__))


class ParameterInfo:
    """Name and settings of a Parameter, read from it and written to it.

    Example:
        >>> w = Parameter(Tensor(1.0), name="w")
        >>> w.param_info.requires_grad = False
        >>> w.requires_grad
        False
    """

    __slots__ = ("obj",)

    def __init__(self, parameter: Parameter):
        object.__setattr__(self, "obj", parameter)

    def __getattr__(self, name: str):
        return getattr(self.obj, name)

    def __setattr__(self, name: str, value):
        setattr(self.obj, name, value)


def _check_flag(name, value) -> None:
    if not isinstance(value, bool):
        raise errors.wrong(
            TypeError,
            f"requires_grad of Parameter {name!r}",
            expected="True or False",
            actual=repr(value),
        )


def _rebuilt(array, name, requires_grad, attributes):
    parameter = Parameter(array, name, requires_grad)
    parameter.__dict__.update(attributes)
    return parameter


def new_parameter(value: Value, name: str) -> Parameter:
    """A Parameter on a Value that nothing else has, outside of a call that is remembered."""
    parameter = Parameter.__new__(Parameter)
    parameter._hooks = parameter._store = None
    parameter._value = value
    parameter.name = name
    parameter._requires_grad = True
    _join(parameter)
    return parameter


def _filled(like: Tensor, number) -> Tensor:
    filled = new_tensor(data_value(like.dtype.numpy.type(number), like.dtype))
    return filled.broadcast_to(like.shape)


def assign(target: Tensor, data, slice_shape: bool = False) -> None:
    """Give `target` another value of its own element type (and shape)."""
    if not isinstance(target, Tensor):
        raise errors.wrong(
            TypeError,
            "What is assigned to",
            expected="a Parameter or a Tensor",
            actual=type(target).__name__,
        )
    source = data if isinstance(data, Tensor) else Tensor(data)
    if source.shape != target.shape and slice_shape:
        changed_everywhere()  # what is remembered has the former shape
    if source.shape != target.shape and not slice_shape:
        name = f"Parameter {target.name!r}" if isinstance(target, Parameter) else "The Tensor"
        raise ValueError(
            errors.ASSIGN_SHAPE.format(
                target=name,
                expected=target.shape,
                actual=source.shape,
                place=user_place(2),
                remedy=", or pass slice_shape=True" if isinstance(target, Parameter) else "",
            )
        )
    if source.dtype is not target.dtype:
        if source.dtype.name.startswith("complex") and not target.dtype.name.startswith("complex"):
            raise TypeError(
                errors.ASSIGN_DTYPE.format(
                    target=f"Parameter {target.name!r}"
                    if isinstance(target, Parameter)
                    else "The Tensor",
                    expected=target.dtype,
                    actual=source.dtype,
                    place=user_place(2),
                    name=target.dtype.name,
                )
            )
        source = source.astype(target.dtype)
    value = own_value(source) if isinstance(target, Parameter) else resolve(source)
    update(target, value)


def own_value(source: Tensor) -> Value:
    """The Value of a Tensor for a Parameter, which has it for itself: if two Parameters shared one,
    the gradient of each would have the other's part, in a copied Cell or a network that is set to
    the weights of another."""
    value = resolve(source)
    stream = local.stream
    if value.source is stream.segment and not isinstance(source, Parameter):
        return value  # a result that was just made
    return _of_its_own(value)


def _apart(source: Tensor) -> Value:
    """The Value for a Parameter that is made of a Tensor: no gradient goes back to that."""
    stream = local.stream
    return stream.within(stream.scope.but(tape=None), _of_its_own, resolve(source))


def _of_its_own(value: Value) -> Value:
    return _another(value) or _copied(value)


def _another(value: Value) -> Value | None:
    """Another Value of the same array, also of one that is still to be drawn or cut out, where
    nothing is being noted."""
    scope = local.stream.scope
    if scope.capture is not None or scope.tape is not None:
        return None
    another = Value(value.array, value.aval)
    if value.array is None:
        if value.source is None or not value.source.apart:
            return None
        another.source, another.slot = value.source, value.slot
    return another


def _copied(value: Value) -> Value:
    copy = record(COPY, (value,))
    assert isinstance(copy, Value)
    return copy


def _join(parameter: Parameter) -> None:
    """Count a Parameter that was made among those there are."""
    _alive[id(parameter)] = parameter
    replaced = local.stream.scope.replaced
    if replaced is not None:
        replaced.append((parameter, parameter._value))  # keeps it until it is asked for


def parameters_alive() -> list[tuple[Parameter, Value]]:
    """Every Parameter and its Value; not those whose values lie in a store, which nothing has used
    since they went there."""
    alive = []
    for known in _alive.valuerefs():
        parameter = known()
        try:
            if parameter is not None:
                alive.append((parameter, _value_of(parameter)))
        except AttributeError:
            continue
    return alive


# Without what a Parameter does for a value that is not there.
_value_of: Any = Tensor._value.__get__  # type: ignore[attr-defined]


class ParameterTuple(tuple):
    """A tuple of Parameters with names of their own.

    Raises:
        TypeError: a member is not a Parameter.
        ValueError: two of them have the same name.

    Source: MindSpore's `mindspore.ParameterTuple`.

    Example:
        >>> import mycel as ms
        >>> pair = ms.ParameterTuple((ms.Parameter(1.0, name="x"), ms.Parameter(2.0, name="y")))
        >>> [p.name for p in pair.clone("copy")]
        ['copy.x', 'copy.y']
    """

    __slots__ = ()

    def __new__(cls, parameters=()):
        members = tuple(parameters)
        for member in members:
            if not isinstance(member, Parameter):
                raise errors.wrong(
                    TypeError,
                    "A member of a ParameterTuple",
                    expected="a Parameter",
                    actual=type(member).__name__,
                )
        names = [member.name for member in members]
        for name in names:
            if names.count(name) > 1 and len({id(m) for m in members if m.name == name}) > 1:
                raise ValueError(
                    errors.DUPLICATE_PARAMETER.format(
                        owner="ParameterTuple", name=name, place=user_place(2)
                    )
                )
        return super().__new__(cls, members)

    def _repr_html_(self) -> str:
        return machine.report.parameters_html(self)

    def clone(self, prefix: str, init="same") -> ParameterTuple:
        """New Parameters named `prefix.name`, filled by `init` (see `Parameter.clone`).

        Raises:
            TypeError: the prefix is not a string.
        """
        if not isinstance(prefix, str):
            raise errors.wrong(TypeError, "The prefix", expected="a string", actual=repr(prefix))
        cloned = []
        for parameter in self:
            clone = parameter.clone(init)
            clone.name = f"{prefix}.{parameter.name}"
            cloned.append(clone)
        return ParameterTuple(cloned)
