# SPDX-License-Identifier: Apache-2.0
"""compare: two networks that should be equal, Cell by Cell, and the first Cell that differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mycel.debug.capture import Captured
from mycel.kernel.base.places import user_place
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell


class Pair(NamedTuple):
    """Two Cells, or two Parameters, side by side.

    Attributes:
        first, second: their paths; empty where the other network has none.
        difference: the largest difference of their values, relative to the largest value of the
            first; infinite where shapes differ or only one has NaN, None where one is missing.
        shape: the shape of the first, or of the second.
        differs: whether that is more than the tolerance.
    """

    first: str
    second: str
    difference: float | None
    shape: tuple
    differs: bool


class Comparison:
    """What `compare` found; `print` shows a table.

    Attributes:
        cells: pairs of Cells in the order in which they were called; those without children only.
        parameters: pairs of Parameters.
        first_difference: the first pair of Cells that differs, or None.
        equal: whether nothing differs and nothing is missing.
    """

    def __init__(self, cells: list[Pair], parameters: list[Pair], tolerance: float):
        self.cells, self.parameters, self.tolerance = cells, parameters, tolerance
        self.first_difference = next((pair for pair in cells if pair.differs), None)
        self.equal = not any(pair.differs for pair in (*cells, *parameters))

    def __str__(self):
        first = self.first_difference
        if self.equal:
            lines = [f"Equal within {self.tolerance:g}: {len(self.cells)} Cells."]
        elif first is None:
            lines = ["All Cells give the same; Parameters differ:"]
        elif first.difference is None:
            path = first.first or first.second
            lines = [f"The first difference is at {path!r}, which the other network lacks:"]
        else:
            lines = [f"The first Cell that differs is {first.first!r}:"]
        width = max([len(pair.first) for pair in (*self.cells, *self.parameters)], default=0) + 2
        for title, pairs in (("Cells", self.cells), ("Parameters", self.parameters)):
            if not pairs:
                continue
            lines.append(f"{title:{width + 2}s}{'second':{width}s}  difference  shape")
            for pair in pairs:
                told = "missing" if pair.difference is None else f"{pair.difference:.2e}"
                sign = "!" if pair.differs else " "
                row = f"{sign} {pair.first:{width}s}{pair.second:{width}s}  {told:>10s}  "
                lines.append(row + str(pair.shape))
        return "\n".join(lines)

    __repr__ = __str__


def compare(
    first: Cell,
    second: Cell,
    *inputs: Any,
    tolerance: float = 1e-5,
    names: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare two networks that should give the same: a port, two checkpoints, two versions.

    Both are called with the same inputs, and the outputs of their Cells without children are
    compared in the order of the calls. Cells are paired by path where the paths are the same in
    both, else by order and shape.

    Args:
        first, second: the networks; both should be in the mode that is to be compared
            (`set_train(False)` for prediction).
        inputs: what both are called with.
        tolerance: the difference, relative to the largest value, that counts as equal. Default:
            1e-5.
        names: paths of Cells of the first network and their names in the second, where they are
            known. Default: None.

    Raises:
        TypeError: one is no Cell.

    Example:
        >>> first = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU(), nn.Dense(2, 1))
        >>> second = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU(), nn.Dense(2, 1))
        >>> ms.load_param_into_net(second, first.parameters_dict())
        ([], [])
        >>> x = Tensor([[1.0, 2.0]])
        >>> ms.debug.compare(first, second, x).equal
        True
        >>> second[2].bias.set_data(Tensor([9.0]))
        Parameter (name=2.bias, shape=(1,), dtype=Float32, requires_grad=True)
        >>> ms.debug.compare(first, second, x).first_difference.first
        '2'
    """
    for net in (first, second):
        if not isinstance(net, Cell):
            raise TypeError(
                f"compare needs two Cells, not {type(net).__name__} (at {user_place(2)})."
            )
    captured = []
    for net in (first, second):
        leaves = {
            path for path, cell in net.cells_and_names() if not any(True for _ in cell.cells())
        }
        with Captured(net, ("**",), False, True, False) as kept:
            net(*inputs)
        captured.append(
            {
                path: _array(value)
                for path, value in kept.items()
                if path.partition("#")[0] in leaves
            }
        )
    parameters = [
        {name: value.asnumpy() for name, value in net.parameters_and_names()}
        for net in (first, second)
    ]
    names = dict(names or {})
    cells = _pairs(captured[0], captured[1], names, tolerance)
    renamed = {
        name: names[cell] + name[len(cell) :]
        for name in parameters[0]
        if (cell := name.rpartition(".")[0]) in names
    }
    return Comparison(cells, _pairs(parameters[0], parameters[1], renamed, tolerance), tolerance)


def _array(value) -> np.ndarray:
    """What a Cell gave, as one array: of a tuple, its first Tensor."""
    while isinstance(value, (tuple, list)) and value:
        value = value[0]
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def _pairs(first: dict, second: dict, names: dict[str, str], tolerance: float) -> list[Pair]:
    """Both sides in order: by name, then, for what is left, by order and shape."""
    partner = {name: other for name, other in names.items() if name in first and other in second}
    taken = set(partner.values())
    for name in first:
        if name not in partner and name in second and name not in taken:
            partner[name] = name
            taken.add(name)
    left = [name for name in second if name not in taken]
    for name, value in first.items():
        if name in partner:
            continue
        alike = next((n for n in left if np.shape(second[n]) == np.shape(value)), None)
        if alike is not None:
            partner[name] = alike
            left.remove(alike)
    pairs = []
    for name, value in first.items():
        if name not in partner:
            pairs.append(Pair(name, "", None, np.shape(value), True))
            continue
        far = _difference(value, second[partner[name]])
        pairs.append(Pair(name, partner[name], far, np.shape(value), far > tolerance))
    return pairs + [Pair("", name, None, np.shape(second[name]), True) for name in left]


def _difference(a, b) -> float:
    if np.shape(a) != np.shape(b):
        return float("inf")
    if not np.size(a):
        return 0.0
    wide = [
        np.asarray(x).astype(np.complex128 if np.iscomplexobj(x) else np.float64) for x in (a, b)
    ]
    same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
    if same.all():
        return 0.0
    apart = np.abs(wide[0] - wide[1])[~same]
    if not np.isfinite(apart).all():
        return float("inf")
    finite = np.abs(wide[0][np.isfinite(wide[0])])
    return float(apart.max() / max(finite.max(initial=0.0), 1e-30))
