# SPDX-License-Identifier: Apache-2.0
"""The members of a Cell by name, and walking the tree of Cells: each Cell and Parameter once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from weakref import ref

from mycel.kernel.base import errors
from mycel.kernel.base.places import user_place
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.shown import cell_html

# Attributes with the sizes of a layer, for messages: what is taken and given, and others. The first
# row counts of which a Cell has all.
_SIZES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("in1_channels", "out_channels"), ("in2_channels",)),
    (("in_channels", "out_channels"), ("kernel_size",)),
    (("in_channels", "out_channels"), ()),
    (("in_features", "out_features"), ()),
    (("input_size", "hidden_size"), ()),
    (("vocab_size", "embedding_size"), ()),
    (("num_embeddings", "embedding_dim"), ()),
    (("num_channels",), ("num_groups",)),
    (("num_features",), ()),
    (("normalized_shape",), ()),
    (("embed_dim",), ("num_heads",)),
    (("d_model",), ("nhead",)),
    ((), ("kernel_size",)),
)


class Named(OrderedDict):
    """Members of one kind by name, in the order of definition.

    What a program puts here (`net._cells["head"] = other`) becomes the attribute too.
    """

    __slots__ = ("_owner",)

    # A weak reference: Parameters must not wait for the garbage collector.
    _owner: ref

    def put(self, name: str, member) -> None:
        """Keep a member without telling its Cell, which knows."""
        super().__setitem__(name, member)

    def drop(self, name: str) -> None:
        """Forget a member without telling its Cell."""
        if name in self:
            super().__delitem__(name)

    def put_back(self, members) -> None:
        """Have exactly these members without telling the Cell.

        Each of them is there all the while: an exception may come from outside.
        """
        for name, member in members.items():
            self.put(name, member)
            super().move_to_end(name)
        for name in [name for name in self if name not in members]:
            self.drop(name)

    def move_to_end(self, name, last: bool = True) -> None:
        """Let a member be the last, or the first, in the order."""
        super().move_to_end(name, last)
        owner = self._owner()
        if owner is not None:
            owner._cell_changed(f"the members of a {type(owner).__name__} were reordered inside")

    def __setitem__(self, name, member):
        owner = self._owner()
        if owner is None:
            self.put(name, member)
        else:
            owner._put_member(self, name, member)

    def __delitem__(self, name):
        self[name]
        owner = self._owner()
        if owner is None:
            self.drop(name)
        else:
            owner._drop_member(self, name)

    def pop(self, name, *default):
        """Remove a member and return it; the default if there is none."""
        if name not in self and default:
            return default[0]
        member = self[name]
        del self[name]
        return member

    def popitem(self, last: bool = True):
        """Remove the last (or first) member and return its name and itself."""
        name = next(reversed(self) if last else iter(self))
        return name, self.pop(name)

    def clear(self):
        """Remove every member."""
        for name in list(self):
            del self[name]

    def copy(self):
        """The same members in a dictionary that belongs to no Cell."""
        return OrderedDict(self)

    def __reduce__(self):
        return OrderedDict, (list(self.items()),)


def named_members(owner: ref, members: Iterable[tuple] = ()) -> Named:
    """A dictionary of members of the Cell that is referred to."""
    named = Named.__new__(Named)
    named._owner = owner
    for name, member in members:
        named.put(name, member)
    return named


class Members:
    """The children, Parameters and buffers of a Cell, and those of its children."""

    _cells: Named
    _params: Named
    _buffers: Named
    _auto_prefix: bool

    # -- adding ---------------------------------------------------------------------------

    def insert_child_to_cell(self, child_name: str, child_cell) -> None:
        """Add a child under a name, or exchange the one of that name.

        Its Parameters keep their names, unless others have them: then all are named by their paths.

        Args:
            child_name: the attribute it becomes.
            child_cell: a Cell, or None.

        Raises:
            KeyError: another attribute has the name, or it is empty or has a dot.
            TypeError: the name is not a string, or the child not a Cell.

        Source: MindSpore's `Cell.insert_child_to_cell`.

        Example:
            >>> net = nn.SequentialCell()
            >>> net.insert_child_to_cell("act", nn.ReLU())
            >>> net
            SequentialCell(
              (act): ReLU()
            )
        """
        if not isinstance(child_cell, Members) and child_cell is not None:
            raise errors.wrong(
                TypeError, "A child", "a Cell or None", f"{type(child_cell).__name__}"
            )
        self._check_member_name(child_name, "child", self._cells)
        self._cells[child_name] = child_cell
        self.check_names_and_refresh_name()

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Add a Parameter under a name, or exchange the one of that name.

        Args:
            param_name: the attribute it becomes, and its own name if it has none.
            param: a Parameter, or None.
            check_name_contain_dot: whether a dot in the name is an error.

        Raises:
            KeyError: another attribute has the name, or it is empty or has a dot.
            TypeError: the name is not a string, or it is not a Parameter.

        Source: MindSpore's `Cell.insert_param_to_cell`.

        Example:
            >>> net = nn.Cell()
            >>> net.insert_param_to_cell("bias", Parameter(Tensor([1.0])))
            >>> net.bias
            Parameter (name=bias, shape=(1,), dtype=Float32, requires_grad=True)
        """
        if not isinstance(param, Parameter) and param is not None:
            actual = type(param).__name__
            raise errors.wrong(TypeError, f"The Parameter {param_name!r}", "a Parameter", actual)
        self._check_member_name(param_name, "Parameter", self._params, check_name_contain_dot)
        if param is not None and param.is_unnamed:
            param.name = param_name
        self._params[param_name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a Tensor that belongs to the state of the Cell but is not trained.

        Args:
            name: the attribute it becomes.
            tensor: the Tensor, or None for a place that is kept free.
            persistent: whether `state_dict` has it.

        Raises:
            KeyError: another attribute has the name, or it is empty or has a dot.
            TypeError: the name is not a string, or it is not a Tensor.

        Source: MindSpore's `Cell.register_buffer`.

        Example:
            >>> net = nn.Cell()
            >>> net.register_buffer("seen", Tensor([0]))
            >>> print(net.seen, list(net.state_dict()))
            [0] ['seen']
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            actual = f"{type(tensor).__name__} {tensor!r:.60}"
            raise errors.wrong(TypeError, f"The buffer {name!r}", "a Tensor or None", actual)
        self._check_member_name(name, "buffer", self._buffers)
        unsaved = self._unsaved_buffers - {name}
        self.__dict__["_unsaved_buffers"] = unsaved if persistent else unsaved | {name}
        self._buffers[name] = tensor

    # The buffers that are not saved.
    _unsaved_buffers: frozenset[str] = frozenset()

    def _check_member_name(self, name, kind: str, members: Named, dots: bool = True) -> None:
        if not isinstance(name, str):
            actual = f"{type(name).__name__} {name!r:.40}"
            raise errors.wrong(TypeError, f"The name of a {kind}", "a string", actual)
        if not name or (dots and "." in name):
            raise KeyError(f"The name {name!r} of a {kind} is empty or has a dot.")
        if name not in members and hasattr(self, name):
            raise KeyError(
                f"The name {name!r} of a {kind} is already an attribute of {type(self).__name__}."
            )

    # -- Parameters -------------------------------------------------------------------------

    def parameters_and_names(
        self, name_prefix: str = "", expand: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Pairs of dotted name and Parameter, each Parameter once, in the order of definition.

        Args:
            name_prefix: put before the names.
            expand: whether those of the children are listed too.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(1, 1), nn.ReLU())
            >>> [name for name, _ in net.parameters_and_names("net")]
            ['net.0.weight', 'net.0.bias']
        """
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
        parameters: OrderedDict[str, Parameter] = OrderedDict()
        for parameter in self.get_parameters(expand=recurse):
            if parameter.name in parameters:
                raise duplicate_name(self, parameter.name, user_place(2))
            parameters[parameter.name] = parameter
        return parameters

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict | None:
        """The Parameters that every device has, by name: those not `layerwise_parallel`; None
        for none."""
        parameters = OrderedDict(
            (parameter.name, parameter)
            for parameter in self.get_parameters(expand=recurse)
            if not parameter.layerwise_parallel
        )
        return parameters or None

    def check_names(self) -> None:
        """Raise if two Parameters have the same name.

        Raises:
            ValueError: two Parameters have the same name, which the text gives.
        """
        seen = set()
        for parameter in self.get_parameters():
            if parameter.name in seen:
                raise duplicate_name(self, parameter.name, user_place(2))
            seen.add(parameter.name)

    def check_names_and_refresh_name(self) -> None:
        """Give all Parameters the names of their paths if two have the same name."""
        names = [parameter.name for parameter in self.get_parameters()]
        if len(set(names)) < len(names):
            self.update_parameters_name()

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name the Parameters by their paths from this Cell, with `prefix` before them.

        Args:
            prefix: put before the paths as it is, so it usually ends in a dot.
            recurse: whether those of the children are renamed too.

        Raises:
            TypeError: the prefix is not a string.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(1, 1))
            >>> net.update_parameters_name("old.")
            >>> [p.name for p in net.get_parameters()]
            ['old.0.weight', 'old.0.bias']
        """
        if not isinstance(prefix, str):
            raise errors.wrong(TypeError, "The prefix", expected="a string", actual=repr(prefix))
        for name, parameter in self.parameters_and_names(expand=recurse):
            parameter.name = prefix + name

    # -- buffers ----------------------------------------------------------------------------

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Pairs of dotted name and buffer.

        Args:
            prefix: put before the names.
            recurse: whether those of the children are listed too.
            remove_duplicate: whether a Tensor that is two buffers is listed once.

        Example:
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net[0].register_buffer("seen", Tensor([0]))
            >>> [name for name, _ in net.named_buffers()]
            ['0.seen']
        """
        seen: set[int] = set()
        for path, owner in cells_and_names(self, prefix) if recurse else [(prefix, self)]:
            for name, buffer in owner._buffers.items():
                if buffer is not None and id(buffer) not in seen:
                    if remove_duplicate:
                        seen.add(id(buffer))
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers; a generator."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_buffer(self, target: str) -> Tensor | None:
        """The buffer of this dotted name.

        Raises:
            AttributeError: there is no member of this name.

        Example:
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net[0].register_buffer("seen", Tensor([0]))
            >>> print(net.get_buffer("0.seen"))
            [0]
        """
        path, _, name = target.rpartition(".")
        owner = self.get_sub_cell(path)
        if name not in owner._buffers:
            known = ", ".join(owner._buffers) or "none"
            raise AttributeError(f"{type(owner).__name__} has no buffer {name!r}; it has {known}.")
        return owner._buffers[name]

    # -- children ---------------------------------------------------------------------------

    def cells(self):
        """The direct children, each once."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict:
        """The direct children by name, each once."""
        first = {id(cell): name for name, cell in reversed(self._cells.items()) if cell is not None}
        return OrderedDict(
            (name, cell) for name, cell in self._cells.items() if first.get(id(cell)) == name
        )

    def cells_and_names(self, cells=None, name_prefix: str = "") -> Iterator[tuple]:
        """Pairs of dotted name and Cell, this one first, each Cell once.

        Args:
            cells: Cells to leave out.
            name_prefix: put before the names.

        Example:
            >>> net = nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh()))
            >>> [name for name, _ in net.cells_and_names()]
            ['', '0', '1', '1.0']
        """
        return cells_and_names(self, name_prefix, set(map(id, cells or ())))

    def get_sub_cell(self, target: str):
        """The Cell of this dotted name; this Cell for an empty one.

        Raises:
            AttributeError: there is no member of this name.

        Example:
            >>> net = nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh()))
            >>> net.get_sub_cell("1.0")
            Tanh()
        """
        cell = self
        for name in target.split(".") if target else ():
            inner = getattr(cell, name, None)
            if not isinstance(inner, Members):
                known = ", ".join(cell.name_cells()) or "none"
                raise AttributeError(
                    f"{type(cell).__name__} has no child {name!r} (of {target!r}); it has {known}."
                )
            cell = inner
        return cell

    def apply(self, fn: Callable):
        """Call `fn` on every child, deepest first, then on this Cell, which is returned.

        Example:
            >>> seen = []
            >>> net = nn.SequentialCell(nn.ReLU(), nn.Tanh())
            >>> same = net.apply(lambda cell: seen.append(type(cell).__name__))
            >>> seen
            ['ReLU', 'Tanh', 'SequentialCell']
        """
        for child in self.cells():
            child.apply(fn)
        fn(self)
        return self

    @property
    def param_prefix(self) -> str:
        """The path of this Cell in the one whose `update_cell_prefix` was called last."""
        return self.__dict__.get("_param_prefix", "")

    def update_cell_prefix(self) -> None:
        """Let every Cell of this tree know its path, as `param_prefix`."""
        for path, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = path

    # -- showing ----------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """What stands between the brackets of `repr`; subclasses say it."""
        return ""

    def _in_short(self) -> str:
        fields, kind = self.__dict__, type(self).__name__
        for ways, others in _SIZES:
            if all(isinstance(fields.get(name), (int, tuple)) for name in ways + others):
                way = " → ".join(str(fields[name]) for name in ways)
                more = [f"{name}={fields[name]}" for name in others]
                return f"{kind}({', '.join([way] * bool(way) + more)})"
        return kind

    def __repr__(self):
        extra = self.extend_repr()
        own = extra.split("\n") if extra else []
        children = [f"({name}): {child!r}" for name, child in self._cells.items()]
        lines = own + [line for child in children for line in child.split("\n")]
        if not children and len(own) < 2:
            return f"{type(self).__name__}({extra})"
        return "\n".join([f"{type(self).__name__}(", *("  " + line for line in lines), ")"])

    def _repr_html_(self) -> str:
        """What a notebook shows: the tree of Cells, which folds."""
        return cell_html(self)


def never_called(construct: Callable) -> Callable:
    """Mark a `construct` that only tells that there is none."""
    construct.never_called = True
    return construct


def is_called(cell) -> bool:
    """Whether a Cell is called itself; its parent uses the members of one that is not."""
    return not hasattr(type(cell).construct, "never_called")


def cells_and_names(cell, prefix: str = "", seen: set | None = None) -> Iterator[tuple]:
    """Pairs of dotted name and Cell, parents before children, each Cell once."""
    seen = set() if seen is None else seen
    if id(cell) in seen:
        return
    seen.add(id(cell))
    yield prefix, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from cells_and_names(child, f"{prefix}.{name}" if prefix else name, seen)


def parameters_and_names(cell, prefix: str, expand: bool) -> Iterator[tuple[str, Parameter]]:
    """Pairs of dotted name and Parameter, each Parameter once."""
    seen: set[int] = set()
    for path, owner in cells_and_names(cell, prefix) if expand else [(prefix, cell)]:
        for name, parameter in owner._params.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield (f"{path}.{name}" if path else name), parameter


def duplicate_name(cell, name: str, place) -> ValueError:
    """The error for two Parameters of one name."""
    return ValueError(
        errors.DUPLICATE_PARAMETER.format(owner=type(cell).__name__, name=name, place=place)
    )
