# SPDX-License-Identifier: Apache-2.0
"""The operators that say where an array lies: how it is divided among devices, on those of which
stage of a pipeline, and to which part of a batch it belongs. They change no value."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding

from mycel.kernel.base import errors
from mycel.kernel.base.division import Axes, Grid
from mycel.kernel.base.places import user_place
from mycel.kernel.define.op import Op


class Constraint(Op):
    """The same array, divided so. Its derivative divides the cotangent in the same way.

    Args:
        grid, axes: the devices, and how it lies on them.
        stage: of a pipeline, the stage on whose devices; None leaves it where it is.

    Attributes:
        sharding: how the result lies.
        axes, stage: as given.
    """

    __slots__ = ("axes", "sharding", "stage")

    def __init__(self, grid: Grid, axes: Axes, stage: int | None = None):
        self.axes, self.stage = axes, stage
        self.sharding: NamedSharding = grid.sharding(axes)
        super().__init__("shard", self.on(grid))

    def on(self, grid: Grid) -> Callable:
        """Its array function on the devices of a grid with the same axes."""
        return partial(_divided, sharding=grid.sharding(self.axes))

    def reverse(self, mask: tuple[bool, ...], present: tuple[bool, ...]) -> Op:
        """The Op of the gradient, which lies as the result does."""
        backward = self._reverses.get((mask, present))
        if backward is None:
            backward = self._reverses[(mask, present)] = _OfCotangent(self)
        return backward

    def batched(self, mask: tuple[bool, ...]) -> Op:
        """None: a strategy has no part for the dimension that vmap adds.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(errors.DIVIDED_IN_VMAP.format(place=user_place(2)))


class _OfCotangent(Constraint):
    """The reverse: `(input, cotangent)` to the cotangent, divided so; and the reverses of that,
    each with one more cotangent.

    Args:
        forward: what it is the reverse of.
        mask: of a reverse of a reverse, for which inputs a gradient is asked.
    """

    __slots__ = ("_mask",)

    def __init__(self, forward: Constraint, mask: tuple[bool, ...] = (True,)):
        self.axes, self.stage, self.sharding = forward.axes, forward.stage, forward.sharding
        # Nothing depends on any input but the last.
        self._mask = mask
        Op.__init__(self, forward.name + "'", self._with(self.sharding))

    def on(self, grid: Grid) -> Callable:
        """Its array function on the devices of a grid with the same axes."""
        return self._with(grid.sharding(self.axes))

    def _with(self, sharding: NamedSharding) -> Callable:
        return partial(_of_cotangent, sharding=sharding, mask=self._mask)

    def reverse(self, mask: tuple[bool, ...], present: tuple[bool, ...]) -> Op:
        """The Op of the gradient, which lies as the result does."""
        backward = self._reverses.get((mask, present))
        if backward is None:
            backward = self._reverses[(mask, present)] = _OfCotangent(self, mask)
        return backward


def _divided(array, *, sharding):
    return lax.with_sharding_constraint(array, sharding)


def _of_cotangent(*arrays, sharding, mask):
    *others, last = mask
    gradients = [jnp.zeros_like(a) for a, asked in zip(arrays, others, strict=False) if asked]
    if last:
        gradients.append(lax.with_sharding_constraint(arrays[-1], sharding))
    return gradients[0] if len(gradients) == 1 else tuple(gradients)


@cache
def constraint(grid: Grid, axes: Axes, stage: int | None = None) -> Constraint:
    """The operator for a division."""
    return Constraint(grid, axes, stage)


class Entered(Op):
    """The same array, on the devices of a stage. Its derivative takes the cotangent back to where
    the array came from.

    Attributes:
        stage: the number of the stage.
    """

    __slots__ = ("stage",)

    def __init__(self, stage: int):
        super().__init__("enter_stage", _same)
        self.stage = stage


class Micro(Op):
    """The same array, known as a part of a batch from here on.

    Attributes:
        number: which part.
    """

    __slots__ = ("number",)

    def __init__(self, number: int):
        super().__init__("micro_batch", _same)
        self.number = number


def _same(array):
    return array


entered, micro = cache(Entered), cache(Micro)
