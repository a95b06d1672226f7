# SPDX-License-Identifier: Apache-2.0
"""patch: interventions as data. What changes from call to call is an input of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mycel import ops
from mycel.debug.paths import cells_at
from mycel.kernel.base.dtypes import bool_
from mycel.kernel.base.places import user_place
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell


class Edit(NamedTuple):
    """What takes the place of a part of what a Cell gives.

    Attributes:
        value: a number, an array or a Tensor, as large as the part or broadcast to it.
        at: the index of the part, as of NumPy; None for all of it.
        strength: how much of the value: 1 replaces the part, 0 leaves it as it is.
        add: whether the value, times its strength, is added to the part instead.
        output: which one, where a Cell gives a tuple.
    """

    value: Any = 0.0
    at: Any = None
    strength: float = 1.0
    add: bool = False
    output: int = 0


class _Site:
    """One Cell that can be patched: the state of its edit, as Parameters that its program reads."""

    def __init__(self, path: str):
        self.path = path
        self.edit: Edit | Callable | None = None
        self.value: Parameter | None = None

    def set(self, edit) -> None:
        """Exchange the edit."""
        self.edit = edit
        if self.value is not None and not callable(edit):
            self._write()

    def hook(self, cell, args, output):
        """The hook: what the Cell gives instead."""
        if callable(self.edit):
            return self.edit(output)
        number = self.edit.output if isinstance(self.edit, Edit) else 0
        several = isinstance(output, tuple)
        part = output[number] if several else output
        if self.value is None or self.value.shape != part.shape or self.value.dtype != part.dtype:
            self._make(part)
        assert self.value is not None
        edited = ops.where(self.chosen, part * self.kept + self.value * self.strength, part)
        if not several:
            return edited
        return (*output[:number], edited, *output[number + 1 :])

    def _make(self, part: Tensor) -> None:
        """Make the state for what a Cell gives."""
        name = f"patch.{self.path or 'net'}"
        dtype = part.dtype

        def parameter(shape, dtype, what: str, learns=False):
            return Parameter(ops.zeros(shape, dtype), f"{name}.{what}", requires_grad=learns)

        self.value = parameter(part.shape, dtype, "value", True)
        self.chosen = parameter(part.shape, bool_, "chosen")
        self.kept = parameter((), dtype, "kept")
        self.strength = parameter((), dtype, "strength")
        self._write()

    def _write(self) -> None:
        edit, value = self.edit, self.value
        assert value is not None
        if edit is None:
            self.chosen.set_data(Tensor(np.zeros(value.shape, bool)))
            return
        assert isinstance(edit, Edit)
        at = ... if edit.at is None else edit.at
        chosen = np.zeros(value.shape, bool)
        chosen[at] = True
        given = edit.value
        if isinstance(given, Tensor) and edit.at is None and given.shape == value.shape:
            value.set_data(given.astype(value.dtype))
        else:
            numbers = np.zeros(value.shape, np.float32)
            if isinstance(given, Tensor):
                given = given.asnumpy()
            try:
                numbers[at] = given
            except ValueError:
                raise ValueError(
                    f"The value of shape {np.shape(given)} does not fit {chosen[at].shape}, "
                    f"the part at {edit.at!r} of what {self.path!r} gives, of shape {value.shape}."
                ) from None
            value.set_data(Tensor(numbers).astype(value.dtype))
        self.chosen.set_data(Tensor(chosen))
        self.kept.set_data(Tensor(1.0 if edit.add else 1.0 - edit.strength).astype(value.dtype))
        self.strength.set_data(Tensor(float(edit.strength)).astype(value.dtype))


class Patched:
    """The Cells that are patched, by path: `patched[path] = …` exchanges an edit, `del` ends it.

    A path that begins patched as a pattern can be edited later without another compilation.
    """

    def __init__(self, net: Cell, edits: Mapping[str, Any]):
        self._cells: dict[str, Cell] = {}
        self._sites: dict[str, _Site] = {}
        self._handles: list = []
        for pattern, edit in edits.items():
            for path, cell in cells_at(net, (pattern,)).items():
                self._cells[path] = cell
                self._sites[path] = _Site(path)
                self._sites[path].edit = _edit_of(edit)

    def __enter__(self) -> Patched:
        for path, cell in self._cells.items():
            self._handles.append(cell.register_forward_hook(self._sites[path].hook))
        return self

    def __exit__(self, *_) -> None:
        while self._handles:
            self._handles.pop().remove()

    def __setitem__(self, path: str, edit) -> None:
        self._site(path).set(_edit_of(edit))

    def __delitem__(self, path: str) -> None:
        self._site(path).set(None)

    def __getitem__(self, path: str):
        return self._site(path).edit

    def __iter__(self):
        return iter(self._sites)

    def __len__(self) -> int:
        return len(self._sites)

    def clear(self) -> None:
        """End all edits; the Cells stay prepared for others."""
        for site in self._sites.values():
            site.set(None)

    @property
    def values(self) -> ParameterTuple:
        """The values of all edits, for derivatives by them; they are there after the first call."""
        return ParameterTuple([s.value for s in self._sites.values() if s.value is not None])

    def _site(self, path: str) -> _Site:
        if path not in self._sites:
            raise KeyError(
                f"{path!r} is not patched here (at {user_place(3)}): name it where the block "
                f"begins, also with None. Patched are {', '.join(map(repr, self._sites))}."
            )
        return self._sites[path]


def _edit_of(edit):
    if edit is None or isinstance(edit, Edit) or callable(edit):
        return edit
    if isinstance(edit, tuple) and len(edit) == 2:
        return Edit(edit[1], edit[0])
    return Edit(edit)


def patch(net: Cell, edits: Mapping[str, Any]) -> Patched:
    """Change what Cells give, while a block runs: ablate, replace, steer, swap between two runs.

    In a compiled function an edit is data: which Cell, which part, which value and how strong it is
    may be other ones at every call, and nothing is compiled again.

    Args:
        net: the network.
        edits: by the paths of Cells (patterns as of `capture`): a number, array or Tensor that
            takes the place of what the Cell gives; `(index, value)` for a part of it; an `Edit`
            for one with a strength, or that is added; a function of what the Cell gives; or None,
            for a Cell to be edited later.

    Returns:
        A context manager that gives the edits by path: `patched[path] = …` exchanges one and
        `del patched[path]` ends it. `patched.values` are the values as Parameters, to differentiate
        by.

    Raises:
        ValueError: no Cell has such a path, or a value does not fit.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1))
        >>> x = Tensor([[1.0, 2.0]])
        >>> with ms.debug.patch(net, {"1": 0.0}) as patched:  # ablated
        ...     bias = net(x)
        ...     patched["1"] = (np.s_[:, 0], 2.0)  # the first unit of the layer is 2
        ...     first = net(x)
        ...     del patched["1"]
        ...     same = net(x)
        >>> bool((bias == net[2].bias).all()), bool((same == net(x)).all())
        (True, True)
    """
    if not isinstance(edits, Mapping):
        raise TypeError(
            f"patch takes a dict by path, as {{'blocks.3': 0.0}}, not {type(edits).__name__} "
            f"(at {user_place(2)})."
        )
    return Patched(net, edits)
