# SPDX-License-Identifier: Apache-2.0
"""From MindSpore's strategies to axes of the grid: which dimension is divided along which of them.

A strategy is a tuple with the number of parts of each dimension, or a `Layout` called with names.
Dimensions of several inputs that run along each other, as those that a product of matrices sums
over, are divided along the same axes, so that nothing has to be sent before they meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from mycel.kernel.base.division import Axes, Grid
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.parallel.layout import Layout

UNEVEN = (
    "{what} of shape {shape} cannot be divided{at}: dimension {dimension} has {length} "
    "elements, and {by} divides it into {parts} parts. The nearest lengths that can be divided so "
    "are {nearest}."
)
TOO_MANY = (
    "{what} at {place} asks for {parts} parts, but the grid has {devices} devices{stage}, of "
    "which {left} are left for it. The numbers of parts multiplied must divide {devices}."
)
# How a dimension of an input is known to those of others: the same label, the same axes.
Labels = tuple[Any, ...]


def check_even(
    what: str,
    shape: Sequence[int],
    axes: Axes,
    grid: Grid,
    by: Sequence[str] = (),
    at: str | None = None,
) -> None:
    """Raise unless every dimension can be divided so.

    Args:
        what: a name for the message.
        by: the names of the mesh axes that divide each dimension.
        at: where; by default the user's line. Data is laid out on a thread that has none.

    Raises:
        ValueError: a dimension that cannot; or more dimensions than there are.
    """
    if len(axes) > len(shape):
        raise wrong(ValueError, f"The strategy of {what}", f"for {len(shape)} dimensions", axes)
    for dimension, names in enumerate(axes):
        parts = prod(grid.lengths[name] for name in names)
        length = shape[dimension]
        if length % parts:
            below = length // parts * parts
            near = [str(n) for n in (below, below + parts) if n]
            name = f"the mesh axis {by[dimension]!r}" if by and by[dimension] else "the strategy"
            text = UNEVEN.format(
                what=what,
                shape=tuple(shape),
                at=f" at {user_place(3)}" if at is None else at,
                dimension=dimension,
                length=length,
                by=name,
                parts=parts,
                nearest=" and ".join(near),
            )
            raise ValueError(text)


def axes_of_layout(layout: Layout, grid: Grid) -> tuple[Axes, tuple[str, ...]]:
    """The axes for each dimension of a Tensor, and the names that its Layout has for them.

    Raises:
        ValueError: it was not called with names, or is a grid of another number of devices.
        NotImplementedError: its devices are others, or in another order.
    """
    if layout.tensor_map is None:
        layout.to_dict()  # raises
    if prod(layout.device_matrix) != grid.size:
        expected = f"of {grid.size} devices, as many as compute together"
        raise wrong(ValueError, "Layout: device_matrix", expected, layout.device_matrix)
    if layout.rank_list != list(range(grid.size)):
        raise NotImplementedError(
            f"Layout: rank_list={layout.rank_list} at {user_place(2)}: this version takes the "
            f"devices in their order, list(range({grid.size}))."
        )
    divided = _Assignment(grid, "A Layout")
    by_position = [divided.take(n) for n in layout.device_matrix]
    axes, names = [], []
    for part in layout.tensor_map or ():
        positions = [p for p in (part if isinstance(part, tuple) else (part,)) if p >= 0]
        found = [len(layout.alias_name) - 1 - p for p in positions]
        axes.append(tuple([axis for p in found for axis in by_position[p]]))
        names.append(", ".join(layout.alias_name[p] for p in found))
    return tuple(axes), tuple(names)


class _Assignment:
    """Gives out the axes of a grid, each once.

    Args:
        but: those that it does not give out.
    """

    def __init__(self, grid: Grid, what: str, but: Sequence[str] = ()):
        self._grid, self._what = grid, what
        self._left = [name for name in grid.lengths if name not in but]

    def has(self, parts: int) -> bool:
        """Whether there are axes left that make so many parts."""
        for name in self._left:
            length = self._grid.lengths[name]
            parts = parts // length if parts % length == 0 else parts
        return parts == 1

    def take(self, parts: int) -> tuple[str, ...]:
        """Axes that make so many parts.

        Raises:
            ValueError: there are none left.
        """
        taken, left, rest = [], self._left.copy(), parts
        for name in self._left:
            length = self._grid.lengths[name]
            if rest > 1 and rest % length == 0:
                taken.append(name)
                left.remove(name)
                rest //= length
        if rest != 1:
            remaining = prod(self._grid.lengths[name] for name in self._left)
            raise ValueError(
                TOO_MANY.format(
                    what=self._what, place=user_place(3), parts=parts, devices=self._grid.size,
                    left=remaining, stage=" in a stage" if self._grid.stage_count > 1 else "",
                )
            )  # fmt: skip
        self._left = left
        return tuple(taken)


class Strategies:
    """The axes of the inputs of one call, and of its results.

    Args:
        what: the operator or function, for messages.
        primitive: the operator; None for a Cell or function.
        at: see `check_even`.
        whole: of an input that is one process's part, what the whole is called, and its shape:
            `whole(name, shape, axes)`.
    """

    def __init__(
        self,
        grid: Grid,
        what: str,
        primitive=None,
        at: str | None = None,
        whole: Callable[[str, tuple, Axes], tuple[str, tuple]] = lambda name, shape, _: (
            name,
            shape,
        ),
    ):
        self._grid, self._what, self._primitive, self._at = grid, what, primitive, at
        self._whole = whole
        self._assignment = _Assignment(grid, f"The strategy of {what}")
        self._known: dict[Any, tuple[str, ...]] = {}

    def inputs(
        self, strategies: Sequence[Any], shapes: Sequence[tuple], names: Sequence[str] = ()
    ) -> list[Axes | None]:
        """The axes of each input; None for one that has no strategy.

        Args:
            names: what each of them is called in messages; by default by its number.
        """
        labels = _labels_of(self._primitive, shapes)
        names = names or [f"input {n} of {self._what}" for n in range(len(shapes))]
        return [
            self._axes(strategy, shape, labels[n], names[n])
            for n, (strategy, shape) in enumerate(zip(strategies, shapes, strict=True))
        ]

    def output(self, strategy: Any, shape: tuple, number: int) -> Axes | None:
        """The axes of a result."""
        labels = _labels_of_result(self._primitive, len(shape))
        return self._axes(strategy, shape, labels, f"result {number} of {self._what}")

    def _axes(self, strategy, shape, labels: Labels, what: str) -> Axes | None:
        if strategy is None:
            return None
        names: tuple[str, ...] = ()
        if isinstance(strategy, Layout):
            axes, names = axes_of_layout(strategy, self._grid)
        else:
            check_numbers(strategy, what)
            if len(strategy) != len(shape) and strategy:
                expected = f"of {len(shape)} numbers, one for each dimension"
                raise wrong(ValueError, f"The strategy of {what}", expected, strategy)
            axes = ()
            for parts, label in zip(strategy, labels, strict=False):
                axes += (self._of(parts, label, axes),)
        check_even(*self._whole(what, shape, axes), axes, self._grid, names, self._at)
        return axes

    def _of(self, parts: int, label, others: Axes) -> tuple[str, ...]:
        """The axes of a label: those that it has, or as many of them as make so many parts.

        Inputs of a function have axes of their own as far as there are any, then those that divide
        another input; `others` are those that divide the same one.
        """
        if parts == 1:
            return ()
        known = self._known.get(label, ())
        for end in range(len(known) + 1):
            if prod(self._grid.lengths[name] for name in known[:end]) == parts:
                return known[:end]
        assignment = self._assignment
        if self._primitive is None and not assignment.has(parts):
            used = [name for axes in others for name in axes]
            assignment = _Assignment(self._grid, f"The strategy of {self._what}", used)
        taken = self._known[label] = assignment.take(parts)
        return taken


def check_numbers(strategy, what: str) -> None:
    """Raise unless a strategy is a tuple of positive integers.

    Raises:
        TypeError: it is not.
    """
    numbers = isinstance(strategy, tuple) and all(type(n) is int and n > 0 for n in strategy)
    if not numbers:
        expected = "a tuple of positive integers, a Layout called with names, or None"
        raise wrong(TypeError, f"The strategy of {what}", expected, repr(strategy))


def _labels_of(primitive, shapes: Sequence[tuple]) -> list[Labels]:
    labels = None
    if primitive is not None and primitive.name in _LABELS:
        labels = _LABELS[primitive.name](primitive, [len(shape) for shape in shapes])
    elif primitive is None:  # inputs of a function: what they have in common is their first axis
        return [_leading(shape) for shape in shapes]
    return labels or [_from_the_end(len(shape)) for shape in shapes]


def _leading(shape: tuple) -> Labels:
    return ("batch", *[object() for _ in shape[1:]])


def _from_the_end(count: int) -> Labels:
    """Those of dimensions that are aligned at the last one, as where shapes are broadcast."""
    return tuple(range(-count, 0))


def _labels_of_result(primitive, count: int) -> Labels:
    if primitive is not None and primitive.name in ("MatMul", "BatchMatMul"):
        return (*range(2 - count, 0), "rows", "columns")
    return ("batch", *[object()] * (count - 1)) if primitive is None else _from_the_end(count)


def _of_product(primitive, counts: Sequence[int]) -> list[Labels] | None:
    if len(counts) != 2 or min(counts) < 2:
        return None
    first: Labels = ("rows", "inner")
    second: Labels = ("inner", "columns")
    if getattr(primitive, "transpose_a", False):
        first = first[::-1]
    if getattr(primitive, "transpose_b", False):
        second = second[::-1]
    return [(*range(2 - counts[0], 0), *first), (*range(2 - counts[1], 0), *second)]


def _of_channels(primitive, counts: Sequence[int]) -> list[Labels]:
    """Those of an input of channels, and of what has one number for each channel."""
    last = getattr(primitive, "data_format", "NCHW") == "NHWC"
    channel = counts[0] - 1 if last else 1
    return [tuple(range(counts[0])), *[(channel,)] * (len(counts) - 1)]


def _apart(primitive, counts: Sequence[int]) -> list[Labels]:
    """Those of inputs of which no two dimensions run along each other."""
    del primitive
    return [tuple((n, d) for d in range(count)) for n, count in enumerate(counts)]


def _of_codes(primitive, counts: Sequence[int]) -> list[Labels]:
    """Those of numbers that get one dimension more; what stands beside them are single numbers."""
    del primitive
    return [tuple(range(-1 - counts[0], -1)), *[()] * (len(counts) - 1)]


def as_of_inputs(primitive, in_strategy: Any, out_strategy: Any) -> tuple[Any, Any]:
    """Strategies as inputs and results have dimensions: MindSpore's `OneHot` takes that of its
    result in place of that of its first input."""
    if getattr(primitive, "name", "") != "OneHot" or not isinstance(in_strategy, tuple):
        return in_strategy, out_strategy
    first, *others = in_strategy
    return (first[:-1], *others), out_strategy or (first,)


_LABELS: dict[str, Callable[[Any, Sequence[int]], list[Labels] | None]] = {
    "MatMul": _of_product,
    "BatchMatMul": _of_product,
    "BiasAdd": _of_channels,
    "BatchNorm": _of_channels,
    "Gather": _apart,
    "GatherNd": _apart,
    "EmbeddingLookup": _apart,
    "Conv2D": _apart,
    "OneHot": _of_codes,
}
