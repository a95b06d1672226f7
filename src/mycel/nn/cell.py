# SPDX-License-Identifier: Apache-2.0
"""Cell: a network or a part of one, with its Parameters, its children and its training state."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar
from weakref import ref

from mycel.kernel.base import errors
from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.context import GRAPH_MODE, context
from mycel.kernel.base.division import division
from mycel.kernel.base.missing import look_again
from mycel.kernel.base.places import user_place
from mycel.kernel.base.structure import structure
from mycel.kernel.base.where import tell_call
from mycel.kernel.differentiate.api import DERIVATIVES
from mycel.kernel.record.journal import Change
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.stream import current_stream, local, machine, note_changed, note_made
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.record.value import CALLED
from mycel.nn.cell_hooks import Hookable, call_with_hooks
from mycel.nn.custom_reverse import call_with_reverse, has_reverse
from mycel.nn.members import Named, named_members, never_called
from mycel.nn.precision import call_in_precision, names_used
from mycel.nn.settings import Settings
from mycel.nn.state import Stateful
from mycel.report.keywords import check_keywords, explain_keyword
from mycel.transform.recompute import call_recomputed

# Attributes that no copy has.
_OF_THIS_OBJECT = ("_state_hooks", "_handles_to_cast", "_laid_out", DERIVATIVES)
# Fields that tell nothing of how a Cell is called.
_NO_FORM = frozenset(
    (*_OF_THIS_OBJECT, "_cell_version", "_remembered_cell", "_cell_hooks", "_changed")
)
# Fields of any Cell that decide how it is called.
_SETTINGS = frozenset((
    "_auto_prefix", "_computes_in", "_gives", "_recomputed", "bprop", "construct",
    "requires_grad", "training",
))  # fmt: skip
# Stands for an attribute that is not there.
_ABSENT = object()
_PLAIN = (bool, int, float, str, type(None))
# What Parameters are called that came in a ParameterTuple and had no name, with a number behind.
_NUMBERED = "Parameter$"

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)


class _Constructs(Protocol[_P, _R]):
    def construct(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...


def _unchanged(before, value) -> bool:
    kind = value.__class__
    return before is value or (kind in _PLAIN and before.__class__ is kind and before == value)


class Cell(Settings, Stateful, Hookable, CellBase):
    """The base of every network: build it in `__init__`, compute in `construct`, call the object.

    Args:
        auto_prefix: whether the names of Parameters carry the path of attributes to them.
        flags: attributes to set from the start.

    Source: MindSpore's `mindspore.nn.Cell`.

    Example:
        >>> class Scale(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = Parameter(Tensor([2.0]), name="factor")
        ...     def construct(self, x):
        ...         return x * self.factor
        >>> print(Scale()(Tensor([1.0, 3.0])))
        [2. 6.]
    """

    # Accepted: a bprop can be debugged in any case.
    bprop_debug = False

    def __new__(cls, /, *_, **given):
        """A Cell without members yet; a keyword that `__init__` does not take is named."""
        if given:
            check_keywords(cls, given)
        return object.__new__(cls)

    def __init__(self, auto_prefix: bool = True, flags: dict | None = None):
        fields = self.__dict__
        owner = ref(self)
        fields["_cells"] = named_members(owner)
        fields["_params"] = named_members(owner)
        fields["_buffers"] = named_members(owner)
        fields["_auto_prefix"] = auto_prefix
        fields["_flags"] = {}
        fields["_cell_version"] = 0
        fields["_remembered_cell"] = None
        fields["_cell_hooks"] = None
        fields["_recomputed"] = False
        fields["training"] = False
        fields["requires_grad"] = False
        fields["cell_type"] = None
        note_made(self)
        if flags:
            self.add_flags(**flags)

    # -- calling ------------------------------------------------------------------------

    @never_called
    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What the network computes; every subclass writes its own."""
        kinds = [kind for kind in type(self).__mro__ if kind.__module__ != __name__]
        own = [name for kind in kinds for name in vars(kind) if name != "construct"]
        near = difflib.get_close_matches("construct", own, 1)
        nearest = f" Nearest: {near[0]}." if near else ""
        raise NotImplementedError(
            f"{type(self).__name__} has no construct; write def construct(self, x): ...{nearest}"
        )

    def __call__(self, *args, **kwargs):  # pyright: ignore[reportRedeclaration]
        stream = local.stream
        scope = stream.scope
        if division.enter is not None and stream.called is None:
            args, kwargs = division.enter(self, args, kwargs)
        if scope.capture is not None:
            scope.capture.event(CALLED, self)
        elif stream.called is None and scope.depth == 0 and not scope.traced:
            if context.mode == GRAPH_MODE and scope.tape is None and not scope.plain:
                return self._remembered_call()(*args, **kwargs)
            stream.boundary(self)
        # As `has_reverse` says, without a call for each Cell.
        special = self._recomputed or "bprop" in self.__dict__ or hasattr(type(self), "bprop")
        try:
            if self._cell_hooks:
                return stream.call(self, call_with_hooks, (self, stream, args, kwargs), {})
            if special or self._computes_in is not None:
                return stream.call(self, self._compute_cell, (stream, args, kwargs), {})
            return stream.call(self, self.construct, args, kwargs)
        except Exception as error:
            if isinstance(error, TypeError):
                explain_keyword(error)
            tell_call(error, (self, stream.called), args, kwargs)
            raise

    if TYPE_CHECKING:
        # A call takes and returns what `construct` takes and returns.
        def __call__(self: _Constructs[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

    def _remembered_call(self) -> Callable:
        """The call of this Cell alone, as Graph mode remembers it."""
        remembered = self._remembered_cell
        if remembered is None:
            remembered = machine.remember(MethodType(Cell.__call__, self), owner=self)
            self.__dict__["_remembered_cell"] = remembered
        return remembered

    def _compute_cell(self, stream, args, kwargs, is_cast=False):
        """Call `construct` without hooks, on inputs in the element type that was chosen."""
        if self._computes_in is not None and not is_cast:
            return call_in_precision(self, self._compute_cell, stream, args, kwargs, True)
        if stream.scope.is_taped:
            if has_reverse(self):
                return call_with_reverse(self, stream, args, kwargs)
            if self._recomputed:
                return call_recomputed(stream, self.construct, args, kwargs)
        return self.construct(*args, **kwargs)

    def run_construct(self, cast_inputs, kwargs: dict):
        """Call `construct` with its hooks."""
        return Cell.__call__(self, *cast_inputs, **kwargs)

    # -- members ------------------------------------------------------------------------

    def __getattr__(self, name: str):
        # Found nowhere: for subclasses that ask `super().__getattr__`, and calls of it by name.
        return look_again(self, name)

    def __setattr__(self, name: str, value):
        fields = self.__dict__
        if "_cells" not in fields:
            if not isinstance(value, (Cell, Parameter)):
                fields[name] = value
                return
            raise AttributeError(
                f"{type(self).__name__}.{name} was set before super().__init__() was called "
                f"(at {user_place(2)}); call super().__init__() first in __init__."
            )
        if name in fields and _unchanged(fields[name], value):
            return
        self._note_change(name, value)
        if isinstance(value, Parameter):
            self._set_parameter(name, value)
        elif isinstance(value, Cell):
            self._set_cell(name, value)
        elif fields["_params"].get(name, _ABSENT) is fields.get(name):
            self._reset_parameter(name, value)
            return
        elif name in fields["_cells"]:
            self._put_in_place_of_child(name, value)
        elif name in fields["_buffers"]:
            self._reset_member_buffer(name, value)
        elif isinstance(value, ParameterTuple):
            self._insert_tuple(value)
        if not self._set_by_descriptor(name, value):
            fields[name] = value
        self._cell_changed(f"the attribute {name!r} of {type(self).__name__} was set inside")

    def _set_by_descriptor(self, name, value) -> bool:
        described = getattr(type(self), name, None)
        if hasattr(described, "__set__") or name in ("__class__", "__dict__"):
            object.__setattr__(self, name, value)
            return True
        return False

    def _note_change(self, name: str, value) -> None:
        """Note what a site does to an attribute, with the way back."""
        journal = current_stream().scope.journal
        if journal is None or id(self) in journal.made:
            return
        fields, kinds = self.__dict__, (self._cells, self._params, self._buffers)
        before, order = fields.get(name, _ABSENT), [members.copy() for members in kinds]

        def undo():
            if before is _ABSENT:
                fields.pop(name, None)
            else:
                fields[name] = before
            for members, kept in zip(kinds, order, strict=True):
                members.put_back(kept)
            self._cell_changed(
                f"the attribute {name!r} of {type(self).__name__} was set back inside"
            )

        def redo(present):
            delattr(self, name) if value is _ABSENT else setattr(self, name, value)

        journal.changes.append(Change(("attribute", self, name, value), undo, redo))

    def __delattr__(self, name: str):
        fields = self.__dict__
        self._note_change(name, _ABSENT)
        everything = fields["_cells"], fields["_params"], fields["_buffers"]
        is_member = any(name in members for members in everything)
        for members in everything:
            members.drop(name)
        if name in fields or not is_member:  # members of a CellDict are no attributes
            object.__delattr__(self, name)
        self._cell_changed(f"the attribute {name!r} of {type(self).__name__} was deleted inside")

    def _cell_changed(
        self, what: str, remedy: str = "set it before the call, or return it"
    ) -> None:
        """Note a change of structure, so that what was remembered of this Cell is looked at."""
        note_changed(self, what, remedy)

    def _form(self, left_out=()) -> tuple:
        """What decides how this Cell is called, besides what watched code reads of it: the fields
        of our own Cells, the settings of all, and members and hooks; compared one by one.

        `left_out` has fields that hooks set, as pairs of the id of the fields and a name: those
        that our own code cannot read do not count.
        """
        fields = self.__dict__
        own, read = self._of_this_package()
        form: list = [type(self)]
        for name, value in fields.items():
            if name in _NO_FORM:
                continue
            if (id(fields), name) in left_out and not self._may_read(name):
                continue
            if name in read or name in _SETTINGS or own is type(self):
                form += (name, value)
        for members in (fields["_cells"], fields["_params"], fields["_buffers"], fields["_flags"]):
            for pair in members.items():
                form += pair
        if self._cell_hooks is not None:
            form += self._cell_hooks.listed()
        return tuple(form)

    def _may_read(self, name: str) -> bool:
        _, read = self._of_this_package()
        return name in read or name in _SETTINGS or name[0] == "_"

    def _of_this_package(self) -> tuple[type, frozenset[str]]:
        """The first class of this package that this Cell is of, and what the methods of that name:
        the attributes that code of ours may read of a Cell of a program."""
        own = next(kind for kind in type(self).__mro__ if kind.__module__.startswith("mycel."))
        return own, names_used(own)

    def _set_parameter(self, name, value):
        fields = self.__dict__
        if fields["_cells"].get(name) is not None:
            raise TypeError(
                f"{type(self).__name__}.{name} is a Cell and cannot become a Parameter "
                f"(at {user_place(3)})."
            )
        self._check_no_buffer(name)
        fields["_cells"].drop(name)
        fields["_params"].put(name, value)
        if value.is_unnamed:
            value.name = name

    def _reset_parameter(self, name, value):
        """Assigning a Tensor to a Parameter gives it that value; None empties its place."""
        parameter = self._params[name]
        if isinstance(value, (bool, int, float)) and current_stream().scope.capture is not None:
            # In MindSpore's compiled functions a number is a value too; outside it is refused.
            value = Tensor(value, parameter.dtype) if parameter is not None else value
        if isinstance(value, Tensor) and parameter is not None:
            parameter.set_data(value)
        elif value is None:
            self._params.put(name, None)
            self.__dict__[name] = None
            self._cell_changed(
                f"the Parameter {name!r} of {type(self).__name__} was removed inside"
            )
        else:
            raise errors.wrong(
                TypeError,
                f"{type(self).__name__}.{name}, a Parameter,",
                expected="given a Parameter, a Tensor or None",
                actual=f"{type(value).__name__}",
            )

    def _set_cell(self, name, value):
        self._check_no_buffer(name)
        self._params.drop(name)
        self._cells.put(name, value)
        if self._auto_prefix:
            value.update_parameters_name(name + ".")

    def _put_in_place_of_child(self, name, value):
        """Something else in the place of a child; None keeps the place free."""
        if value is None:
            self._cells.put(name, None)
        else:
            self._cells.drop(name)
            if isinstance(value, ParameterTuple):
                self._insert_tuple(value)

    def _reset_member_buffer(self, name, value):
        if value is not None and not isinstance(value, Tensor):
            raise errors.wrong(
                TypeError,
                f"{type(self).__name__}.{name}, a buffer,",
                expected="given a Tensor or None",
                actual=f"{type(value).__name__}",
            )
        self._buffers.put(name, value)

    def _check_no_buffer(self, name):
        if name in self._buffers:
            raise KeyError(
                f"{type(self).__name__}.{name} is a buffer; delete it before the name is used "
                f"otherwise (at {user_place(3)})."
            )

    def _insert_tuple(self, parameters):
        known = {id(p) for p in self._params.values()}
        for parameter in parameters:
            if id(parameter) not in known:
                if parameter.is_unnamed:
                    numbered = sum(name.startswith(_NUMBERED) for name in self._params)
                    parameter.name = f"{_NUMBERED}{numbered + 1}"
                self._params.put(parameter.name, parameter)

    def _put_member(self, members: Named, name: str, member):
        """A member was put into `_cells` or `_params` by the program itself."""
        self._note_change(name, member)
        members.put(name, member)
        self.__dict__[name] = member
        self._cell_changed(f"the member {name!r} of {type(self).__name__} was set inside")

    def _drop_member(self, members: Named, name: str):
        """A member was taken out of `_cells` or `_params` by the program itself."""
        self._note_change(name, _ABSENT)
        members.drop(name)
        self.__dict__.pop(name, None)
        self._cell_changed(f"the member {name!r} of {type(self).__name__} was deleted inside")

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def cell_id(self) -> str:
        """Name and id as older hooks were given them in place of the Cell: `Dense(1403…)`."""
        return f"{type(self).__name__}({id(self)})"

    # -- copies -------------------------------------------------------------------------

    def __deepcopy__(self, memo):
        copied = memo[id(self)] = type(self).__new__(type(self))
        copied.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        for hooks in ("_cell_hooks", "_state_hooks"):
            if getattr(self, hooks):
                copied.__dict__[hooks] = getattr(self, hooks).copy_to(copied)
        return copied

    def __getstate__(self):
        # What is remembered and the hooks belong to this object and this process.
        state = {**self.__dict__, "_remembered_cell": None, "_cell_hooks": None}
        return {name: value for name, value in state.items() if name not in _OF_THIS_OBJECT}

    def __setstate__(self, state):
        self.__dict__.update(state)
        owner = ref(self)
        for kind in ("_cells", "_params", "_buffers"):
            self.__dict__[kind] = named_members(owner, self.__dict__[kind].items())
        structure.changes += 1
