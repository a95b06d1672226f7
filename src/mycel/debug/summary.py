# SPDX-License-Identifier: Apache-2.0
"""summary: the tree of Cells with shapes, Parameters, operations and bytes, and how layers fare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mycel.debug.capture import Captured
from mycel.debug.costs import cost_of, short
from mycel.kernel.base.places import user_place
from mycel.kernel.base.where import described
from mycel.kernel.differentiate.api import value_and_grad
from mycel.kernel.record.stream import current_stream
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.report import html

# A layer is marked where this share of what it gives is 0, and where its gradient is so much larger
# or smaller than the middle of all layers.
DEAD = 0.99
EXPLODING, VANISHING = 1e4, 1e-4


class Health(NamedTuple):
    """How one layer fares.

    Attributes:
        mean, spread: of what it gives; `zeros`: the share of zeros.
        gradient: the norm of the gradients of its own Parameters; None if it has none.
        ratio: that norm times the learning rate, over the norm of the Parameters.
        marks: "dead", "exploding", "vanishing", "not finite".
    """

    mean: float
    spread: float
    zeros: float
    gradient: float | None
    ratio: float | None
    marks: tuple[str, ...]


class Row(NamedTuple):
    """One Cell.

    Attributes:
        path, kind: its path and its class.
        inputs, output: shapes and types; empty for a Cell that was not called.
        calls: how often it was called.
        parameters: how many elements its own Parameters have; those shared with a Cell above in the
            table count there.
        shared: how many of its own Parameters are shared.
        trainable: how many of the elements are trained.
        flops, bytes: floating-point operations of a call, with those of its children; and the
            bytes that its operators read and write.
        health: how it fares, where that was asked for.
    """

    path: str
    kind: str
    inputs: str
    output: str
    calls: int
    parameters: int
    shared: int
    trainable: int
    flops: float
    bytes: float
    health: Health | None


class Summary:
    """The rows of a network; `print` shows a table, a notebook a tree that folds.

    Attributes:
        rows: one for each Cell, in the order of the network.
        parameters, trainable: elements of all Parameters, each once.
        bytes: of all Parameters.
        flops: of one call.
    """

    def __init__(self, rows: list[Row], size: int):
        self.rows, self.bytes = rows, size
        self.parameters = sum(row.parameters for row in rows)
        self.trainable = sum(row.trainable for row in rows)
        self.flops = rows[0].flops

    def _lines(self) -> list[list[str]]:
        lines = []
        for row in self.rows:
            name = "  " * _depth(row.path) + (row.path.rpartition(".")[2] or row.kind)
            count = f"{row.parameters:,}" if row.parameters else "-"
            cells = [name, row.kind, row.inputs, row.output, count + " shared" * bool(row.shared)]
            cells.append(short(row.flops) if row.flops else "-")
            health = row.health
            if health is not None:
                cells += [f"{health.mean:.2g}", f"{health.spread:.2g}", f"{health.zeros:.0%}"]
                cells += ["-" if x is None else f"{x:.1e}" for x in (health.gradient, health.ratio)]
                cells.append(" ".join(health.marks))
            lines.append(cells)
        return lines

    def _heads(self) -> list[str]:
        heads = ["Cell", "class", "input", "output", "Parameters", "FLOPs"]
        watched = ["mean", "spread", "zeros", "gradient", "update", ""]
        return heads + watched * any(row.health is not None for row in self.rows)

    def __str__(self):
        table = [self._heads(), *self._lines()]
        table = [row + [""] * (len(table[0]) - len(row)) for row in table]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if index < 4 else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join([*lines, self._total()])

    __repr__ = __str__

    def _total(self) -> str:
        return (
            f"{self.parameters:,} elements of Parameters ({short(self.bytes)}B), "
            f"{self.trainable:,} of them trained; {short(self.flops)} FLOPs a call"
        )

    def _repr_html_(self) -> str:
        entries = []
        heads = ["", *self._heads()[2:]]
        for row, (name, *cells) in zip(self.rows, self._lines(), strict=True):
            told = [
                f"{head} {cell}".strip()
                for head, cell in zip(heads, cells, strict=False)
                if cell not in ("", "-")
            ]
            marks = " ".join(row.health.marks) if row.health is not None else ""
            line = html.heading(name.strip(), *told[: len(told) - bool(marks)])
            entries.append(html.Entry(_depth(row.path), f"{line} <b>{marks}</b>"))
        return html.box(html.tree(entries), html.line(self._total()))


def _depth(path: str) -> int:
    return path.count(".") + bool(path)


def summary(
    net: Cell,
    *inputs: Any,
    watch: bool = False,
    loss: Callable[..., Tensor] | None = None,
    learning_rate: float = 1.0,
) -> Summary:
    """The tree of Cells of a network: shapes, Parameters, operations and bytes.

    The network is called once, in PyNative; its Parameters and its random state stay as they are
    only as far as a call leaves them (a BatchNorm in training moves its averages).

    Args:
        net: the network.
        inputs: what it is called with.
        watch: also show for each layer the mean and spread of what it gives, the share of zeros,
            the norm of the gradient and what an update by it would change, and mark dead,
            exploding and vanishing layers. Default: False.
        loss: what the gradients are of: a function of what the network gives. Default: its mean.
        learning_rate: for the size of updates. Default: 1.0.

    Raises:
        TypeError: no Cell, or no input.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
        >>> found = ms.debug.summary(net, Tensor(np.ones((3, 4), np.float32)))
        >>> found.parameters, [row.output for row in found.rows]
        (58, ['Float32[3, 2]', 'Float32[3, 8]', 'Float32[3, 8]', 'Float32[3, 2]'])
    """
    if not isinstance(net, Cell):
        raise TypeError(f"A Cell is needed, not {type(net).__name__} (at {user_place(2)}).")
    stream, nodes = current_stream(), []
    with Captured(net, ("**",), True, True, False) as kept:
        stream.within(stream.scope.but(tape=nodes, plain=True), net, *inputs)
        inner, given = dict(kept), dict(kept.inputs)
    costs = _costs(net, nodes)
    healths = _watch(net, inputs, inner, loss, learning_rate) if watch else {}
    rows, seen = [], set()
    for path, cell in net.cells_and_names():
        own = list(cell.get_parameters(expand=False))
        new = [parameter for parameter in own if id(parameter) not in seen]
        seen.update(map(id, own))
        flops, size = costs.get(path, (0.0, 0.0))
        rows.append(
            Row(
                path,
                type(cell).__name__,
                described(given[path]) if path in given else "",
                described(inner[path]) if path in inner else "",
                sum(name == path or name.startswith(path + "#") for name in inner),
                sum(parameter.size for parameter in new),
                len(own) - len(new),
                sum(parameter.size for parameter in new if parameter.requires_grad),
                flops,
                size,
                healths.get(path),
            )
        )
    return Summary(rows, sum(p.size * p.itemsize for p in net.get_parameters()))


def _costs(net: Cell, nodes) -> dict[str, tuple[float, float]]:
    """Operations and bytes of each Cell with its children, by path."""
    paths = {id(cell): path for path, cell in net.cells_and_names()}
    costs: dict[str, tuple[float, float]] = {}
    for op, values, _, place in nodes:
        flops, size = cost_of(op, tuple([value.aval for value in values]))
        path = next((paths[id(cell)] for cell in _called(place[2]) if id(cell) in paths), "")
        parts = path.split(".") if path else []
        for depth in range(len(parts) + 1):
            above = ".".join(parts[:depth])
            before = costs.get(above, (0.0, 0.0))
            costs[above] = before[0] + flops, before[1] + size
    return costs


def _called(link):
    while link is not None:
        cell, link = link
        yield cell


def _watch(net: Cell, inputs, outputs, loss, learning_rate: float) -> dict[str, Health]:
    """How each layer fares: what it gave, and the gradients of its Parameters."""
    weights = net.trainable_params()
    stream = current_stream()

    def result(*arguments):
        output = net(*arguments)
        if loss is not None:
            return loss(output)
        while isinstance(output, (tuple, list)):
            output = output[0]
        return output.mean()

    gradients: dict[int, np.ndarray] = {}
    if weights:
        derivative = value_and_grad(result, None, weights)
        _, found = stream.within(stream.scope.but(plain=True), derivative, *inputs)
        gradients = {
            id(weight): g.asnumpy().astype(np.float64)
            for weight, g in zip(weights, found, strict=True)
        }
    norms, ratios = {}, {}
    for path, cell in net.cells_and_names():
        own = [p for p in cell.get_parameters(expand=False) if id(p) in gradients]
        if own:
            norm = np.sqrt(sum(float((gradients[id(p)] ** 2).sum()) for p in own))
            size = np.sqrt(sum(float((p.asnumpy().astype(np.float64) ** 2).sum()) for p in own))
            norms[path] = float(norm)
            ratios[path] = float(learning_rate * norm / size) if size else None
    middle = float(np.median([n for n in norms.values() if np.isfinite(n)] or [0.0]))
    healths = {}
    for path, _ in net.cells_and_names():
        value = outputs.get(path)
        if isinstance(value, Tensor) and value.size:
            numbers = value.asnumpy().astype(np.float64)
            zeros, norm = float(np.mean(numbers == 0)), norms.get(path)
            marks = _marks(numbers, zeros, norm, middle)
            mean, spread = float(numbers.mean()), float(numbers.std())
            healths[path] = Health(mean, spread, zeros, norm, ratios.get(path), marks)
    return healths


def _marks(numbers, zeros: float, norm: float | None, middle: float) -> tuple[str, ...]:
    marks = []
    if not np.isfinite(numbers).all() or (norm is not None and not np.isfinite(norm)):
        marks.append("not finite")
    if zeros >= DEAD:
        marks.append("dead")
    if norm is not None and middle > 0:
        if norm > EXPLODING * middle:
            marks.append("exploding")
        elif norm < VANISHING * middle:
            marks.append("vanishing")
    return tuple(marks)
