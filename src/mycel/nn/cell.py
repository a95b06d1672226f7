# SPDX-License-Identifier: Apache-2.0
"""Cell: a network or a part of one, with its Parameters, its children and its training state."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator

from mycel.base import errors
from mycel.base.context import GRAPH_MODE, context
from mycel.base.places import user_place
from mycel.base.structure import structure
from mycel.differentiate.recompute import call_recomputed
from mycel.nn.cell_hooks import Hookable, call_with_hooks
from mycel.nn.custom_reverse import call_with_reverse
from mycel.nn.members import (
    Members,
    cells_and_names,
    duplicate_name,
    parameters_and_names,
)
from mycel.record.journal import Change
from mycel.record.parameter import Parameter, ParameterTuple
from mycel.record.stream import current_stream
from mycel.record.tensor import Tensor

# Given by the package root: makes a function that is remembered in Graph mode.
given: dict[str, Callable] = {}

# Stands for an attribute that is not there.
_ABSENT = object()
_PLAIN = (bool, int, float, str, type(None))


def _unchanged(before, value) -> bool:
    kind = value.__class__
    return before is value or (kind in _PLAIN and before.__class__ is kind and before == value)


class Cell(Members, Hookable):
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

    # Whether the outermost call of this Cell begins a new segment when a derivative was recorded
    # before it; an optimiser continues the step instead.
    _begins_segment = True
    # Accepted: a bprop can be debugged in any case.
    bprop_debug = False

    def __init__(self, auto_prefix: bool = True, flags: dict | None = None):
        fields = self.__dict__
        fields["_cells"] = OrderedDict()
        fields["_params"] = OrderedDict()
        fields["_auto_prefix"] = auto_prefix
        fields["_prefix"] = ""
        fields["_flags"] = {}
        fields["_version"] = 0
        fields["_remembered"] = None
        fields["_cell_hooks"] = None
        fields["_recomputed"] = False
        fields["training"] = False
        fields["requires_grad"] = False
        fields["cell_type"] = None
        structure.changes += 1
        stream = current_stream()
        if stream.capture is not None:
            stream.capture.made_cell(self)
            if stream.journal is not None:
                stream.journal.made[id(self)] = self
        if flags:
            self.add_flags(**flags)

    # -- calling ------------------------------------------------------------------------

    def construct(self, *args, **kwargs):
        """What the network computes; every subclass writes its own."""
        raise NotImplementedError(
            f"{type(self).__name__} has no construct; write def construct(self, x): ..."
        )

    def __call__(self, *args, **kwargs):
        stream = current_stream()
        if stream.called is None and stream.depth == 0 and stream.capture is None:
            if context.mode == GRAPH_MODE and stream.tape is None:
                remembered = self._remembered
                if remembered is None:
                    remembered = given["remember"](self._run, owner=self)
                    self.__dict__["_remembered"] = remembered
                return remembered(*args, **kwargs)
            stream.boundary(self)
        return self._run(*args, **kwargs)

    def _run(self, *args, **kwargs):
        stream = current_stream()
        if stream.capture is not None:
            stream.capture.met(self)
        around = stream.called
        stream.called = (self, around)
        try:
            if self._cell_hooks:
                return call_with_hooks(self, stream, args, kwargs)
            return self._compute(stream, args, kwargs)
        finally:
            stream.called = around

    def _compute(self, stream, args, kwargs):
        """Call `construct` by itself, without hooks."""
        if stream.depth and stream.tape is not None:
            if hasattr(self, "bprop"):
                return call_with_reverse(self, stream, args, kwargs)
            if self._recomputed:
                return call_recomputed(stream, self.construct, args, kwargs)
        return self.construct(*args, **kwargs)

    # -- members ------------------------------------------------------------------------

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
        elif name in fields["_params"]:
            self._reset_parameter(name, value)
            return
        else:
            fields["_cells"].pop(name, None)
            if isinstance(value, ParameterTuple):
                self._insert_tuple(value)
        if not self._set_by_descriptor(name, value):
            fields[name] = value
        self._changed(f"the attribute {name!r} of {type(self).__name__} was set inside")

    def _set_by_descriptor(self, name, value) -> bool:
        described = getattr(type(self), name, None)
        if hasattr(described, "__set__"):
            object.__setattr__(self, name, value)
            return True
        return False

    def _note_change(self, name: str, value) -> None:
        """Note what a site does to an attribute, with the way back."""
        journal = current_stream().journal
        if journal is None or id(self) in journal.made:
            return
        places = (self.__dict__, self._cells, self._params)
        before = [place.get(name, _ABSENT) for place in places]

        def undo():
            for place, member in zip(places, before, strict=True):
                if member is _ABSENT:
                    place.pop(name, None)
                else:
                    place[name] = member
            self._changed(f"the attribute {name!r} of {type(self).__name__} was set back inside")

        def redo(present):
            delattr(self, name) if value is _ABSENT else setattr(self, name, value)

        journal.changes.append(Change(("attribute", self, name, value), undo, redo))

    def __delattr__(self, name: str):
        fields = self.__dict__
        self._note_change(name, _ABSENT)
        fields["_cells"].pop(name, None)
        fields["_params"].pop(name, None)
        object.__delattr__(self, name)
        self._changed(f"the attribute {name!r} of {type(self).__name__} was deleted inside")

    def _changed(self, what: str) -> None:
        """Note a change of structure, so that what was remembered of this Cell is looked at."""
        self.__dict__["_version"] += 1
        structure.changes += 1
        capture = current_stream().capture
        if capture is not None:
            capture.changed_cell(self, what)

    def _set_parameter(self, name, value):
        fields = self.__dict__
        if name in fields["_cells"]:
            raise TypeError(
                f"{type(self).__name__}.{name} is a Cell and cannot become a Parameter "
                f"(at {user_place(3)})."
            )
        fields["_params"][name] = value
        if value.is_unnamed:
            value.name = name

    def _reset_parameter(self, name, value):
        """Assigning a Tensor to a Parameter gives it that value; None takes it away."""
        parameter = self._params[name]
        if isinstance(value, Tensor) and parameter is not None:
            parameter.set_data(value)
        elif value is None:
            self._params.pop(name)
            self.__dict__[name] = None
            self._changed(f"the Parameter {name!r} of {type(self).__name__} was removed inside")
        else:
            raise errors.wrong(
                TypeError,
                f"{type(self).__name__}.{name}, a Parameter,",
                expected="given a Parameter, a Tensor or None",
                actual=f"{type(value).__name__}",
            )

    def _set_cell(self, name, value):
        self._params.pop(name, None)
        self._cells[name] = value
        if self._auto_prefix:
            value.update_parameters_name(name + ".")

    def _insert_tuple(self, parameters):
        known = {id(p) for p in self._params.values()}
        for parameter in parameters:
            if id(parameter) not in known:
                self._params[parameter.name] = parameter

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Add a child under a name.

        Raises:
            KeyError: the name is taken or not valid.
            TypeError: the child is no Cell.
        """
        if not isinstance(child_cell, Cell):
            raise errors.wrong(
                TypeError, "A child", expected="a Cell", actual=type(child_cell).__name__
            )
        if not child_name or "." in child_name or child_name in self._cells:
            raise KeyError(f"The child name {child_name!r} is taken, empty or has a dot.")
        setattr(self, child_name, child_cell)

    def insert_param_to_cell(
        self, param_name: str, param: Parameter, check_name_contain_dot: bool = True
    ) -> None:
        """Add a Parameter under a name.

        Raises:
            KeyError: the name is taken or has a dot.
            TypeError: it is no Parameter.
        """
        if not isinstance(param, Parameter):
            raise errors.wrong(
                TypeError,
                f"The Parameter {param_name!r}",
                expected="a Parameter",
                actual=type(param).__name__,
            )
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"The Parameter name {param_name!r} must not have a dot.")
        if hasattr(self, param_name) and param_name not in self._params:
            raise KeyError(f"The name {param_name!r} is already an attribute.")
        setattr(self, param_name, param)

    # -- walking ------------------------------------------------------------------------

    def parameters_and_names(
        self, name_prefix: str = "", expand: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Pairs of dotted name and Parameter, each Parameter once, in the order of definition."""
        return parameters_and_names(self, name_prefix, expand)

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """All Parameters; a generator."""
        for _, parameter in self.parameters_and_names(expand=expand):
            yield parameter

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The Parameters that require a gradient."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The Parameters that require none."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Parameters by their own names.

        Raises:
            ValueError: two Parameters have the same name.
        """
        found: OrderedDict[str, Parameter] = OrderedDict()
        for parameter in self.get_parameters(expand=recurse):
            if parameter.name in found:
                raise duplicate_name(self, parameter.name, user_place(2))
            found[parameter.name] = parameter
        return found

    def check_names(self) -> None:
        """Raise if two Parameters have the same name.

        Raises:
            ValueError: names the Parameter.
        """
        seen = set()
        for parameter in self.get_parameters():
            if parameter.name in seen:
                raise duplicate_name(self, parameter.name, user_place(2))
            seen.add(parameter.name)

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Put `prefix` before the dotted names of all Parameters."""
        for name, parameter in self.parameters_and_names(expand=recurse):
            if prefix:
                parameter.name = prefix + name

    def cells(self) -> Iterator[Cell]:
        """The direct children."""
        return iter(self._cells.values())

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The direct children by name."""
        return OrderedDict(self._cells)

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """Pairs of dotted name and Cell, this one first."""
        return cells_and_names(self, name_prefix)

    def apply(self, fn: Callable[[Cell], object]) -> Cell:
        """Call `fn` on every child, deepest first, then on this Cell."""
        for child in self.cells():
            child.apply(fn)
        fn(self)
        return self

    # -- state --------------------------------------------------------------------------

    @property
    def phase(self) -> str:
        """'train' or 'predict'."""
        return "train" if self.training else "predict"

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def cell_id(self) -> str:
        """Name and id as older hooks were given them in place of the Cell: `Dense(1403…)`."""
        return f"{type(self).__name__}({id(self)})"

    @property
    def param_prefix(self) -> str:
        """The path of attributes to this Cell, as its Parameters carry it."""
        return next((p.name.rpartition(".")[0] for p in self._params.values() if "." in p.name), "")

    def set_train(self, mode: bool = True) -> Cell:
        """Put this Cell and its children into training (or prediction) state."""
        for _, cell in self.cells_and_names():
            cell.training = bool(mode)
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Note that gradients will be asked for; nothing depends on it here."""
        self.requires_grad = requires_grad
        return self

    def add_flags(self, **flags) -> Cell:
        """Set attributes and keep them as flags."""
        for name, value in flags.items():
            self._flags[name] = value
            setattr(self, name, value)
        return self

    def add_flags_recursive(self, **flags) -> Cell:
        """`add_flags` on this Cell and all its children."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict:
        """The flags set with `add_flags`."""
        return dict(self._flags)

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict:
        """Accepted and harmless: the values of Parameters are there from the start."""
        del auto_parallel_mode
        return {parameter: parameter for parameter in self.get_parameters()}

    def compile(self, *args, **kwargs) -> None:
        """Accepted and harmless: what repeats is compiled by itself."""

    # -- showing ------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """What stands between the brackets of `repr`; subclasses say it."""
        return ""

    def __repr__(self):
        children = [f"({name}): {child!r}" for name, child in self._cells.items()]
        head = f"{type(self).__name__}("
        if not children:
            return f"{head}{self.extend_repr()})"
        lines = [line for child in children for line in child.split("\n")]
        first = [self.extend_repr()] if self.extend_repr() else []
        return "\n".join([head, *("  " + line for line in first + lines), ")"])

    def __deepcopy__(self, memo):
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        if self._cell_hooks:
            made.__dict__["_cell_hooks"] = self._cell_hooks.copy_to(made)
        return made

    def __getstate__(self):
        # What is remembered and the hooks belong to this object and this process.
        return {**self.__dict__, "_remembered": None, "_cell_hooks": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        structure.changes += 1
