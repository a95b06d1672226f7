# SPDX-License-Identifier: Apache-2.0
"""Whole arrays divided among several devices: the grid of them, and who decides.

XLA's partitioner divides every program whose inputs are divided. Here is only what the machine
needs for that: which devices there are, and what is asked where arrays enter. The package
`parallel` fills it in; without it nothing is divided, and the machine asks nothing.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any
from weakref import ref

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

# The axes along which each dimension of an array is divided; a dimension that is whole has none.
Axes = tuple[tuple[str, ...], ...]
# An axis of length 1: the axes behind it divide an array where it is kept, not where it is used.
KEPT = "kept"
# The axis along which nothing is divided.
COPIES = "copies"


class Grid:
    """Some devices, as a grid whose axes have prime lengths; with several processes, as many of
    each, and the first axes tell processes apart.

    Every division is one of these axes, or several: so all of them belong to one mesh.

    Args:
        devices: those of the first process, then those of the second, and so on.
        processes: how many processes they belong to.
        meet: with several processes, runs a program of all of them, `meet(function, arrays, told,
            structure)`: it is called with the same programs in the same order in each.
        copies: in how many groups of as many processes everything is computed; nothing is divided
            between them.

    Attributes:
        devices: all of them; of a pipeline, those of all stages.
        stages: of a pipeline, the grid of each stage (see `base.stages`).
        size: how many devices divide the work.
        lengths: by the name of each axis along which they do.
        whole: how an array lies that every device has whole.
        entered: what was laid out since processes last met, which all of them have to have: words
            for it, and a digest of its elements.
        parts: the same of parts of batches, which every group of processes has to have.
    """

    __slots__ = (
        "_known", "_shared_by", "_used", "copies", "devices", "entered", "lengths", "meet", "mesh",
        "parts", "size", "waits", "whole",
    )  # fmt: skip

    stages: tuple[Grid, ...] = ()

    def __init__(
        self,
        devices: Sequence[Any],
        processes: int = 1,
        meet: Callable | None = None,
        copies: int = 1,
    ):
        self.size, self.meet, self.copies = len(devices) // copies, meet, copies
        self.devices = tuple(devices)
        first = _primes_of(processes // copies) if processes > copies else []
        primes = [*first, *_primes_of(len(devices) // processes)]
        self.lengths = {f"axis{number}": prime for number, prime in enumerate(primes)}
        self._shared_by = frozenset([*self.lengths][: len(first)])
        self.entered: list[tuple[str, str]] = []
        self.parts: list[tuple[str, str]] = []
        shape = [copies, *primes, 1]
        self.mesh = Mesh(np.array(devices).reshape(shape), (COPIES, *self.lengths, KEPT))
        self._known: dict[Axes, NamedSharding] = {}
        self._used: dict[Any, NamedSharding | None] = {}
        self.whole = self.sharding(())
        # On the CPU the devices are threads, of which each waits for the others in every
        # communication: two programs at a time would wait for each other for ever.
        self.waits = devices[0].platform == "cpu" and len(devices) > 1

    @property
    def stage_count(self) -> int:
        """How many stages a pipeline has; of several processes each computes all of them."""
        return len(self.stages) or self.copies

    def sharding(self, axes: Axes) -> NamedSharding:
        """How an array lies whose dimensions are divided along these axes."""
        while axes and not axes[-1]:
            axes = axes[:-1]
        known = self._known.get(axes)
        if known is None:
            spec = PartitionSpec(*[part or None for part in axes])
            known = self._known[axes] = NamedSharding(self.mesh, spec)
        return known

    def used(self, sharding: Any) -> NamedSharding | None:
        """How an array lies where it is used, if it is kept otherwise."""
        try:
            return self._used[sharding]
        except KeyError:
            axes = [_names(part) for part in getattr(sharding, "spec", ())]
            found = None
            if any(KEPT in names for names in axes):
                found = self.sharding(
                    tuple([names[: (*names, KEPT).index(KEPT)] for names in axes])
                )
            self._used[sharding] = found
            return found

    def has(self, array) -> bool:
        """Whether an array lies on these devices."""
        return getattr(getattr(array, "sharding", None), "mesh", None) is self.mesh

    def run(self, function: Callable, *arrays, told: Any = None) -> Any:
        """Call a compiled function on arrays of these devices; see `waits`.

        Args:
            told: words for it, should several processes not meet in it.
        """
        if self.meet is not None:
            return self.meet(function, arrays, told)
        if not self.waits:
            return function(*arrays)
        with _alone:
            return jax.block_until_ready(function(*arrays))

    def put(self, array, sharding: NamedSharding | None = None, told: str = "a Tensor"):
        """An array laid out so; by default whole on every device.

        Args:
            told: words for it, should it not be the same in all processes.
        """
        sharding = sharding or self.whole
        if self.meet is None:
            return self.run(jax.device_put, array, sharding)
        if _spans(array) and self.has(array):
            return laid_out(array, sharding, self)
        numbers = fetched(array)
        if told == "a Tensor" and (numbers.dtype, numbers.shape) == (np.uint32, (3,)):
            told = "what random numbers are drawn from, a Tensor"
        self.entered.append((f"{told} of {numbers.dtype} {numbers.shape}", _digest_of(numbers)))
        return self.make(numbers.shape, sharding, numbers.__getitem__)

    def make(self, shape: tuple[int, ...], sharding: NamedSharding, part: Callable):
        """An array of which `part` gives what lies at an index; nothing is sent."""
        if self.meet is not None:
            return jax.make_array_from_callback(shape, sharding, part)
        return self.run(jax.make_array_from_callback, shape, sharding, part)

    def shape_of_all(self, part: Sequence[int], axes: Axes) -> tuple[int, ...]:
        """The shape of an array of which each process has a part."""
        parts = [
            prod(self.lengths[name] for name in one if name in self._shared_by) for one in axes
        ]
        return tuple([n * m for n, m in zip(part, [*parts, *[1] * len(part)], strict=False)])

    def share(self, part, axes: Axes, told: str):
        """An array of which each process has a part: nothing is sent.

        Args:
            told: words for it, should groups of processes not have the same parts.
        """
        if self.copies > 1:
            self.parts.append((told, _digest_of(np.asarray(part))))
        shape = self.shape_of_all(part.shape, axes)
        return jax.make_array_from_process_local_data(self.sharding(axes), np.asarray(part), shape)

    def lifted(self, array):
        """An array that lies elsewhere, whole on every device: the same one at each call."""
        if self.has(array):
            return array
        if not isinstance(array, jax.Array):
            return array if self.meet is None else self.put(array)
        name = id(array), self.mesh
        known = _lifted.get(name)
        if known is not None and known[0]() is array and self.has(known[1]):
            return known[1]
        there = self.put(array)
        _lifted[name] = ref(array, lambda _: _lifted.pop(name, None)), there
        return there


def _digest_of(numbers: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(numbers).tobytes(), digest_size=8).hexdigest()


def _names(part: Any) -> tuple[str, ...]:
    """The axes of one dimension in a specification of jax."""
    return part if isinstance(part, tuple) else () if part is None else (part,)


def axes_of(sharding: NamedSharding) -> Axes:
    """Along which axes the dimensions of an array are divided."""
    return tuple([
        tuple([name for name in _names(part) if name != KEPT]) for part in sharding.spec
    ])  # fmt: skip


def _spans(array) -> bool:
    """Whether an array lies on devices of several processes."""
    return isinstance(array, jax.Array) and not array.is_fully_addressable


@cache
def _to(sharding: NamedSharding) -> Callable:
    return jax.jit(lambda array: array, out_shardings=sharding)


def laid_out(array, sharding: NamedSharding, grid: Grid, told: str = "another layout"):
    """An array of several processes, laid out otherwise: all of them call it."""
    return grid.run(_to(sharding), array, told=told)


def fetched(array) -> np.ndarray:
    """An array as NumPy has it. One whose parts lie in several processes is gathered, so all of
    them call it; what every device has whole is there."""
    grid = division.grid
    if grid is not None and grid.meet is not None and _spans(array):
        if not array.is_fully_replicated:
            whole = NamedSharding(array.sharding.mesh, PartitionSpec())
            array = laid_out(array, whole, grid, "a look at a Tensor")
        array = array.addressable_data(0)
    return np.asarray(array)


def own_of(array):
    """The same array on a device of this process alone, if it spans several.

    Raises:
        NotImplementedError: its parts lie in several processes.
    """
    if not _spans(array):
        return array
    if not array.is_fully_replicated:
        raise NotImplementedError(
            DIVIDED_BETWEEN.format(shape=array.shape, parts=tell_parts(parts_of(array)))
        )
    return array.addressable_data(0)


DIVIDED_BETWEEN = (
    "An operator among processes (ops.AllReduce and the like) is given a Tensor of shape {shape} "
    "that lies {parts} on several processes. In 'semi_auto_parallel' a Tensor is whole, and what "
    "has to be sent follows from how it is divided: leave the operator out."
)
_alone = threading.RLock()
_lifted: dict[tuple[int, Mesh], tuple[ref, Any]] = {}


def parts_of(array) -> tuple[int, ...]:
    """Into how many parts each dimension of an array is divided."""
    sharding = getattr(array, "sharding", None)
    if not isinstance(sharding, NamedSharding):
        return (1,) * array.ndim
    own = sharding.shard_shape(array.shape)
    return tuple([n // part if part else 1 for n, part in zip(array.shape, own, strict=True)])


def tell_parts(parts: tuple[int, ...]) -> str:
    """The same in words, as `in 4 x 1 parts`.

    Example:
        >>> from mycel.kernel.base.division import tell_parts
        >>> tell_parts((4, 1)), tell_parts((1, 1))
        ('in 4 x 1 parts', 'whole')
    """
    return f"in {' x '.join(map(str, parts))} parts" if max(parts, default=1) > 1 else "whole"


def _primes_of(number: int) -> list[int]:
    primes, factor = [], 2
    while number > 1:
        while number % factor == 0:
            primes.append(factor)
            number //= factor
        factor += 1
    return primes or [1]


class Division:
    """What is divided now. All are None while nothing is.

    Attributes:
        grid: the devices; it stays when the mode is left, for arrays that lie there.
        assign: asked for the Value that a handle is given, `assign(handle, value)`.
        enter: told of the call of a Cell that no other one calls; the inputs it has from there on,
            `enter(cell, args, kwargs)`.
        take: the same of a compiled function and of a derivative, `take(args, kwargs)`.
        gradient: asked for the gradient that an optimiser takes, `gradient(parameter, gradient)`.
        batch: asked for the array of a column of data that enters, `batch(array, column)`.
        call: calls what was given strategies, `call(function, args, in_strategy, out_strategy,
            primitive)`; the last one only for an operator.
        stage: gives the inputs of a Cell of a stage of a pipeline, on its devices,
            `stage(number, args, kwargs)`; None without a pipeline, as the two below.
        micro: gives a part of a batch, known as that from there on, `micro(number, x)`.
        stage_of: tells in which stage a handle lies.
    """

    __slots__ = (
        "assign", "batch", "call", "enter", "gradient", "grid", "micro", "stage", "stage_of",
        "take",
    )  # fmt: skip

    def __init__(self):
        self.grid: Grid | None = None
        self.assign: Callable[[Any, Any], Any] | None = None
        self.enter: Callable[[Any, tuple, dict], tuple[tuple, dict]] | None = None
        self.take: Callable[[tuple, dict], tuple[tuple, dict]] | None = None
        self.gradient: Callable[[Any, Any], Any] | None = None
        self.batch: Callable[[Any, int], Any] | None = None
        self.call: Callable[..., Any] | None = None
        self.stage: Callable[[int, tuple, dict], tuple[tuple, dict]] | None = None
        self.micro: Callable[[int, Any], Any] | None = None
        self.stage_of: Callable[[Any], int | None] | None = None

    @property
    def stage_count(self) -> int:
        """How many stages a pipeline has; 1 without one."""
        return 1 if self.enter is None or self.grid is None else self.grid.stage_count


division = Division()
