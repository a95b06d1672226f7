# SPDX-License-Identifier: Apache-2.0
"""Cells made of Cells: one after the other, as a list, as a dictionary."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from mycel.kernel.base.errors import wrong
from mycel.nn.cell import Cell
from mycel.nn.checks import is_integer
from mycel.nn.members import Named, never_called


class _Container(Cell):
    """What the containers share: children by key, kept in `_cells` alone."""

    def __getattr__(self, name: str):
        cells = self.__dict__.get("_cells", ())
        if name in cells:
            return cells[name]
        return super().__getattr__(name)

    def __len__(self):
        return len(self._cells)

    def _path(self) -> tuple[str, int]:
        """What the names of Parameters carry before the keys, and the position of the keys in them.

        'body.' and 1 in a net's `body`. It is read off the names of the first two Cells that have
        any, as MindSpore does, because names in checkpoints depend on it: a key that comes twice in
        the first name counts where it comes last, unless the second has its key where it came
        first. So a Cell appended behind a lone '0.layers.0.weight' is called '0.layers.1…'.
        """
        named = (
            (key, next(cell.parameters_and_names(), None)) for key, cell in self._cells.items()
        )
        firsts = [(key, first[1].name.split(".")) for key, first in named if first is not None]
        path, position = "", 0
        if not firsts:
            return path, position
        key, parts = firsts[0]
        for n, part in enumerate(parts):
            if part == key:
                path, position = "".join(f"{before}." for before in parts[:n]), n
                if len(firsts) > 1 and firsts[1][1][n : n + 1] == [firsts[1][0]]:
                    break
        return path, position

    def _take(self, key: str, cell, path: str | None = None) -> None:
        """Put a child under a key, or in place of the one that is there."""
        if not isinstance(cell, Cell):
            raise wrong(
                TypeError, f"Each member of a {type(self).__name__}", "a Cell", _shown(cell)
            )
        if self._auto_prefix:
            cell.update_parameters_name(f"{self._path()[0] if path is None else path}{key}.")
        self.__dict__.pop(key, None)
        self._cells.put(key, cell)
        self._cell_changed(f"a member of a {type(self).__name__} was set inside")

    def _drop(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self._cells.drop(key)
            self.__dict__.pop(key, None)
        self._cell_changed(f"a member of a {type(self).__name__} was deleted inside")

    def _put_member(self, members: Named, name: str, member) -> None:
        super()._put_member(members, name, member)
        if members is self._cells:
            del self.__dict__[name]

    def _keys(self, index):
        """The key at an index, or the list of keys of a slice."""
        return list(self._cells)[index] if isinstance(index, slice) else self._key(index)

    def _key(self, index) -> str:
        """The key at an index."""
        keys = list(self._cells)
        if not is_integer(index):
            kind = type(self).__name__
            raise wrong(TypeError, f"An index of a {kind}", "an integer or slice", _shown(index))
        if not -len(keys) <= index < len(keys):
            expected = f"from {-len(keys)} to {len(keys) - 1}"
            raise wrong(IndexError, f"An index of this {type(self).__name__}", expected, index)
        return keys[index]

    def _part(self, kind: type[_Container], keys, new_keys=None) -> _Container:
        """Some of the children in a container of their own, under other keys if these are given;
        no Parameter is renamed."""
        container = kind()
        for key, new in zip(keys, new_keys or keys, strict=True):
            container._cells.put(new, self._cells[key])
        container.__dict__["training"] = self.training
        return container

    def _place(self, named: Iterable[tuple[str, Cell]]) -> None:
        """Have exactly these children, in this order; names change their keys and nothing else."""
        path, position = self._path()
        named = list(named)
        before = {id(cell): key for key, cell in self._cells.items()}
        self._drop(self._cells)
        for key, cell in named:
            if not isinstance(cell, Cell) or id(cell) not in before:
                self._take(key, cell, path)
                continue
            if self._auto_prefix and before[id(cell)] != key:
                names = {
                    parameter: parameter.name.split(".") for parameter in cell.get_parameters()
                }
                if all(
                    parts[position : position + 1] == [before[id(cell)]] for parts in names.values()
                ):
                    for parameter, parts in names.items():
                        parameter.name = ".".join([f"{path}{key}", *parts[position + 1 :]])
                else:
                    cell.update_parameters_name(f"{path}{key}.")
            self._cells.put(key, cell)
        self._cell_changed(f"the members of a {type(self).__name__} were set inside")


def _shown(value) -> str:
    return f"{type(value).__name__} {value!r:.60}"


class SequentialCell(_Container):
    """Cells called one after the other, each with the result of the one before.

    Args:
        args: the Cells, one list of them, or one OrderedDict of them by name.

    Raises:
        TypeError: a member is not a Cell.
        IndexError: an index is out of range.

    Source: MindSpore's `mindspore.nn.SequentialCell`.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 3, "ones", "zeros"), nn.ReLU())
        >>> print(net(Tensor([[1.0, 2.0]])))
        [[3. 3. 3.]]
    """

    def __init__(self, *args):
        super().__init__()
        cells = args[0] if len(args) == 1 and not isinstance(args[0], Cell) else args
        if isinstance(cells, OrderedDict):
            named = cells.items()
        elif isinstance(cells, (list, tuple)) and (cells is args or isinstance(cells, list)):
            named = [(str(number), cell) for number, cell in enumerate(cells)]
        else:
            raise wrong(
                TypeError,
                "What a SequentialCell is made of",
                "Cells, a list of them or an OrderedDict of them",
                _shown(cells),
            )
        for name, cell in named:
            self._take(name, cell, "")

    @property
    def cell_list(self) -> list[Cell]:
        """The Cells in order. A list of as many may be set, as programs do that exchange some."""
        return list(self._cells.values())

    @cell_list.setter
    def cell_list(self, cells) -> None:
        names, cells = list(self._cells), list(cells)
        if len(names) != len(cells) or not all(isinstance(cell, Cell) for cell in cells):
            expected = f"{len(names)} Cells, one for each (append and insert add others)"
            raise wrong(ValueError, "SequentialCell: cell_list", expected, _shown(cells))
        for name, cell in zip(names, cells, strict=True):
            if self._cells[name] is not cell:
                setattr(self, name, cell)

    def construct(self, input_data) -> Any:
        """The result of the last Cell."""
        # Those that are there now: a hook may change an attribute meanwhile.
        for cell in tuple(self._cells.values()):
            input_data = cell(input_data)
        return input_data

    def __getitem__(self, index):
        keys = self._keys(index)
        return self._part(SequentialCell, keys) if isinstance(keys, list) else self._cells[keys]

    def __setitem__(self, index, cell):
        self._take(self._key(index), cell)

    def __delitem__(self, index):
        keys = self._keys(index)
        self._drop(keys if isinstance(keys, list) else [keys])
        self._number_again()

    def __iter__(self) -> Iterator[Cell]:
        return iter(tuple(self._cells.values()))

    def append(self, cell: Cell) -> None:
        """Add a Cell at the end.

        Raises:
            TypeError: the argument is not a Cell.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(2, 3))
            >>> net.append(nn.Dense(3, 1))
            >>> [p.name for p in net.trainable_params()]
            ['0.weight', '0.bias', '1.weight', '1.bias']
        """
        self._take(str(len(self)), cell)

    def insert(self, index: int, cell: Cell) -> None:
        """Add a Cell before the one at `index`; MindSpore's CellList has it, here both do.

        Raises:
            TypeError: the member is not a Cell, or the index not an integer.
            IndexError: the index is out of range.

        Example:
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net.insert(0, nn.Tanh())
            >>> [type(cell).__name__ for cell in net]
            ['Tanh', 'ReLU']
        """
        _insert(self, index, cell)

    def _number_again(self) -> None:
        """Numbers follow the order again after a deletion; names stay."""
        self._place(
            (str(number) if key.isdecimal() else key, cell)
            for number, (key, cell) in enumerate(self._cells.items())
        )


def _insert(container, index, cell) -> None:
    cells = list(container._cells.values())
    if not is_integer(index):
        raise wrong(TypeError, "An index to insert at", "an integer", _shown(index))
    if not -len(cells) <= index <= len(cells):
        raise wrong(
            IndexError, "An index to insert at", f"from {-len(cells)} to {len(cells)}", index
        )
    cells.insert(index, cell)
    container._place((str(number), cell) for number, cell in enumerate(cells))


class CellList(_Container):
    """A list of Cells whose Parameters belong to the network; it is not called itself.

    Args:
        args: one list of Cells, or none.
        auto_prefix: whether the names of Parameters carry the number of their Cell.

    Raises:
        TypeError: the argument is not a list of Cells.
        IndexError: an index is out of range.

    Source: MindSpore's `mindspore.nn.CellList`.

    Example:
        >>> layers = nn.CellList([nn.Dense(2, 2), nn.ReLU()])
        >>> layers.append(nn.Dense(2, 1))
        >>> len(layers), [p.name for p in layers.trainable_params()]
        (3, ['0.weight', '0.bias', '2.weight', '2.bias'])
    """

    # Mapped by `vmap`, each row has a member of its own.
    is_ensemble = True

    def __init__(self, *args, auto_prefix: bool = True):
        super().__init__(auto_prefix)
        if args:
            self.extend(args[0] if len(args) == 1 else list(args))

    def __getitem__(self, index):
        keys = self._keys(index)
        if isinstance(keys, list):
            return self._part(CellList, keys, [str(number) for number in range(len(keys))])
        return self._cells[keys]

    def __setitem__(self, index, cell):
        self._take(self._key(index), cell)

    def __delitem__(self, index):
        keys = self._keys(index)
        self._drop(keys if isinstance(keys, list) else [keys])
        self._place((str(number), cell) for number, cell in enumerate(self))

    def __iter__(self) -> Iterator[Cell]:
        return iter(tuple(self._cells.values()))

    def append(self, cell: Cell) -> None:
        """Add a Cell at the end.

        Raises:
            TypeError: the argument is not a Cell.
        """
        self._take(str(len(self)), cell)

    def __iadd__(self, cells) -> CellList:
        return self.extend(cells)

    def extend(self, cells) -> CellList:
        """Add several Cells at the end; returns this list.

        Raises:
            TypeError: the argument is not a list of Cells.

        Example:
            >>> len(nn.CellList().extend([nn.ReLU(), nn.Tanh()]))
            2
        """
        if not isinstance(cells, (list, tuple, CellList)):
            raise wrong(TypeError, "What a CellList is extended by", "a list", _shown(cells))
        path = self._path()[0]
        for cell in cells:
            self._take(str(len(self)), cell, path)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Add a Cell before the one at `index`; those behind it are numbered again.

        Raises:
            TypeError: the member is not a Cell, or the index not an integer.
            IndexError: the index is out of range.

        Example:
            >>> layers = nn.CellList([nn.Dense(2, 2)])
            >>> layers.insert(0, nn.ReLU())
            >>> layers[1].weight.name
            '1.weight'
        """
        _insert(self, index, cell)

    @never_called
    def construct(self, *inputs):
        """Nothing: a list does not say in which order its Cells are called.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "A CellList is not called; call its members, or use a SequentialCell."
        )


class CellDict(_Container):
    """A dictionary of Cells whose Parameters belong to the network; it is not called itself.

    Args:
        args: one dictionary, CellDict, or list of pairs; or none.

    Raises:
        TypeError: a key is not a string, or a member not a Cell.
        KeyError: a key is empty, has a dot, or is a method of the dictionary.

    Source: MindSpore's `mindspore.nn.CellDict`.

    Example:
        >>> choices = nn.CellDict({"relu": nn.ReLU(), "dense": nn.Dense(2, 1)})
        >>> list(choices.keys()), [p.name for p in choices.trainable_params()]
        (['relu', 'dense'], ['dense.weight', 'dense.bias'])
    """

    def __init__(self, *args, auto_prefix: bool = True):
        super().__init__(auto_prefix)
        if args:
            self.update(args[0])

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell):
        if not isinstance(key, str):
            raise wrong(TypeError, "A key of a CellDict", "a string", _shown(key))
        if not key or "." in key or hasattr(CellDict, key):
            raise KeyError(f"The key {key!r} is empty, has a dot, or is a method of CellDict.")
        self._take(key, cell)

    def __delitem__(self, key: str):
        self._cells[key]
        self._drop([key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key) -> bool:
        return key in self._cells

    def clear(self) -> None:
        """Remove all Cells."""
        self._drop(self._cells)

    def pop(self, key: str) -> Cell:
        """Remove a Cell and return it.

        Raises:
            KeyError: there is no such key.
        """
        cell = self._cells[key]
        self._drop([key])
        return cell

    def keys(self):
        """The keys, in the order of insertion."""
        return self._cells.keys()

    def values(self):
        """The Cells, in the order of insertion."""
        return self._cells.values()

    def items(self):
        """Pairs of key and Cell."""
        return self._cells.items()

    def update(self, cells) -> None:
        """Add or replace Cells from a dictionary, a CellDict, or a list of pairs.

        Raises:
            TypeError: the argument is none of these, a key is not a string, or a member is not a
                Cell.
        """
        if hasattr(cells, "items"):
            cells = list(cells.items())
        if not isinstance(cells, (list, tuple)):
            expected = "a dictionary or a list of pairs"
            raise wrong(TypeError, "What a CellDict is updated by", expected, _shown(cells))
        for pair in cells:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise wrong(TypeError, "Each entry", "a pair of key and Cell", _shown(pair))
            self[pair[0]] = pair[1]

    @never_called
    def construct(self, *inputs):
        """Nothing: a dictionary does not say in which order its Cells are called.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("A CellDict is not called; call its members by their keys.")
