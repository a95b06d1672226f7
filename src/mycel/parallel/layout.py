# SPDX-License-Identifier: Apache-2.0
"""Layout: devices in a grid whose axes have names, and which of them divides what."""

from __future__ import annotations

from math import prod

from mycel.kernel.base.errors import wrong

# What a Layout calls a dimension that is not divided, and an axis that divides work in time.
WHOLE = "None"
INTERLEAVED = "interleaved_parallel"


class Layout:
    """Devices in a grid whose axes have names; called with names, which axis divides what.

    Args:
        device_matrix: how many devices lie along each axis.
        alias_name: the names of the axes.
        rank_list: which devices; all by default.

    Raises:
        TypeError, ValueError: other than that.

    Source: MindSpore's `mindspore.Layout`.

    Example:
        >>> layout = ms.Layout((1, 1), ("dp", "mp"))
        >>> layout("dp", "None").to_dict()["tensor_map"]
        (1, -1)
        >>> layout("dp", "None")
        Layout((1, 1), ('dp', 'mp'))('dp', 'None')
    """

    def __init__(self, device_matrix, alias_name, rank_list=None):
        for what, given in (("device_matrix", device_matrix), ("alias_name", alias_name)):
            if not isinstance(given, tuple):
                raise wrong(TypeError, f"Layout: {what}", "a tuple", repr(given))
        _check_all(device_matrix, int, "Layout: device_matrix")
        _check_all(alias_name, str, "Layout: alias_name")
        if len(device_matrix) != len(alias_name) or len(set(alias_name)) != len(alias_name):
            raise wrong(ValueError, "Layout: alias_name", "a name of its own per axis", alias_name)
        if WHOLE in alias_name or INTERLEAVED in alias_name[:-1]:
            expected = f"without {WHOLE!r}, and with {INTERLEAVED!r} last if at all"
            raise wrong(ValueError, "Layout: alias_name", expected, alias_name)
        if rank_list is None:
            rank_list = list(range(prod(device_matrix)))
        if not isinstance(rank_list, list):
            raise wrong(TypeError, "Layout: rank_list", "a list", repr(rank_list))
        _check_all(rank_list, int, "Layout: rank_list")
        if len(rank_list) != prod(device_matrix):
            expected = f"a list of {prod(device_matrix)}, as many as the grid has devices"
            raise wrong(ValueError, "Layout: rank_list", expected, rank_list)
        self.device_matrix = device_matrix
        self.alias_name = alias_name
        self.rank_list = rank_list
        self.tensor_map: tuple | None = None

    def __repr__(self):
        text = f"Layout({self.device_matrix}, {self.alias_name}"
        if self.rank_list != list(range(len(self.rank_list))):
            text += f", {self.rank_list}"
        if self.tensor_map is None:
            return f"{text})"
        return f"{text})({', '.join(repr(self._name(axis)) for axis in self.tensor_map)})"

    def __call__(self, *tensor_map) -> Layout:
        """The layout of a Tensor: for each dimension the axis that divides it, or "None".

        Raises:
            ValueError: no such axis, or one that divides two dimensions.
        """
        named = [
            name
            for axis in tensor_map
            for name in (axis if isinstance(axis, tuple) else (axis,))
            if name != WHOLE
        ]
        if len(set(named)) != len(named):
            raise wrong(ValueError, "Each axis of a Layout", "used once", tensor_map)
        placed = Layout(self.device_matrix, self.alias_name, self.rank_list)
        placed.tensor_map = tuple(self._axis(axis) for axis in tensor_map)
        return placed

    def _axis(self, name):
        if isinstance(name, tuple):
            return tuple(self._axis(part) for part in name)
        if name == WHOLE:
            return -1
        if name not in self.alias_name:
            known = ", ".join([*self.alias_name, WHOLE])
            raise wrong(ValueError, "An axis of this Layout", f"one of {known}", repr(name))
        return len(self.alias_name) - 1 - self.alias_name.index(name)

    def _name(self, axis):
        if isinstance(axis, tuple):
            return tuple(self._name(part) for part in axis)
        return WHOLE if axis == -1 else self.alias_name[-1 - axis]

    def to_dict(self) -> dict:
        """The layout as MindSpore writes it: axes are counted from the last.

        Raises:
            ValueError: it was not called with names.
        """
        if self.tensor_map is None:
            expected = "called with an axis, or 'None', for each dimension of a Tensor"
            raise wrong(ValueError, "A Layout", expected, "no call")
        return {
            "device_matrix": self.device_matrix,
            "tensor_map": self.tensor_map,
            "interleaved_parallel": INTERLEAVED in self.alias_name,
            "alias_name": self.alias_name,
            "rank_list": self.rank_list,
        }


def _check_all(given, kind: type, what: str) -> None:
    if not all(type(part) is kind for part in given):
        raise wrong(TypeError, what, f"all {kind.__name__}", repr(given))
