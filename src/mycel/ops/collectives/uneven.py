# SPDX-License-Identifier: Apache-2.0
"""Operators among processes that give each other different numbers of rows.

XLA exchanges parts of one length only. So all are filled with zeros up to the longest, and cut
where they come. Where each process knows what it sends and gets alone, all tell the others that
first: so each finds the longest, and all raise where one sends what another does not expect. What
is composed here has the derivatives of what it is composed of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import AXIS, world
from mycel.kernel.define.collective import Collective, Mismatch
from mycel.kernel.record.dispatch import apply1
from mycel.kernel.record.tensor import Tensor
from mycel.ops.array.copying import identity
from mycel.ops.array.creation import zeros
from mycel.ops.array.joining import concat, split, stack
from mycel.ops.collectives.groups import ranks_of_own
from mycel.ops.collectives.table import collective

_SURPRISE = "process {src} sends {sent} to process {dst}, which expects {expected}"


def lengths_of(given, what: str, count: int, total: int | None = None) -> tuple[int, ...]:
    """How much goes to, or comes from, each of `count` processes.

    Args:
        given: a list, a tuple or a Tensor of integers.
        total: what they make together; None, the default, for anything.

    Raises:
        TypeError: no list of integers.
        ValueError: another number of them, one below 0, or another sum.

    Example:
        >>> from mycel.ops.collectives.uneven import lengths_of
        >>> lengths_of(Tensor([2, 3]), "send_numel_list", 2, total=5)
        (2, 3)
    """
    if isinstance(given, Tensor):
        given = given.asnumpy().reshape(-1).tolist()
    if not isinstance(given, (list, tuple)):
        raise wrong(TypeError, what, "a list with a number for each process", type(given).__name__)
    lengths = tuple(
        int(length.asnumpy()) if isinstance(length, Tensor) else length for length in given
    )
    for length in lengths:
        if isinstance(length, bool) or not isinstance(length, (int, np.integer)):
            raise wrong(TypeError, what, "a list of integers", f"{given!r:.60}")
    if len(lengths) != count or min(lengths) < 0 or total not in (None, sum(lengths)):
        expected = "one number" if count == 1 else f"{count} numbers"
        expected += ", none below 0" if total is None else f", with {total} together"
        raise wrong(ValueError, what, expected, list(lengths))
    return tuple(map(int, lengths))


class _Lengths(Collective):
    """Gives every process what each sends to each, if that is what the others expect."""

    __slots__ = ()

    def communicate(self, arrays) -> list:
        """As any other; raises in all of them where one sends what another does not expect.

        Raises:
            Mismatch: so it is, or another process called another operator.
        """
        results = super().communicate(arrays)
        sent, expected = np.moveaxis(np.asarray(results[0]), 1, 0)
        for src, dst in np.argwhere(sent != expected.T).tolist():
            told = {"src": self.ranks[src], "sent": sent[src, dst]}
            told |= {"dst": self.ranks[dst], "expected": expected[dst, src]}
            raise Mismatch(_SURPRISE.format(**told))
        return results


@cache
def _tell_lengths(told: str, ranks: tuple[int, ...]) -> _Lengths:
    return _Lengths(told, lambda lengths: lax.all_gather(lengths, AXIS), ranks)


def exchange_rows(
    x: Tensor, sends: Sequence[int], receives: Sequence[int], group: str, told: str
) -> Tensor:
    """The rows that the processes of a group send to this one, which sends the rows of x.

    Args:
        sends, receives: how many rows go to, and come from, each process of the group.
        told: what it is called in messages.

    Raises:
        ValueError: with one process, it does not expect what it sends.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Example:
        >>> from mycel.ops.collectives.uneven import exchange_rows
        >>> print(exchange_rows(Tensor([1, 2]), [2], [2], "hccl_world_group", "AlltoAllV"))
        [1 2]
    """
    ranks = ranks_of_own(group, told)
    if len(ranks) == 1:
        if sends != receives:
            expected = f"{list(sends)}, what the one process sends"
            raise wrong(ValueError, f"{told}: what is received", expected, list(receives))
        return identity(x)
    row = ", ".join(["*", *map(str, x.shape[1:])])
    name = f"the lengths of {told}({x.dtype}[{row}])"
    lengths = Tensor(np.array([sends, receives], np.int64))
    every: Any = apply1(_tell_lengths(name, ranks), lengths)
    return _exchanged(x, sends, receives, int(every.asnumpy().max()), group, told)


def exchange_as_known(x: Tensor, matrix: np.ndarray, group: str, told: str) -> Tensor:
    """As `exchange_rows`, where every process knows what each sends to each.

    Example:
        >>> import numpy as np
        >>> from mycel.ops.collectives.uneven import exchange_as_known
        >>> matrix = np.array([[2]])
        >>> print(exchange_as_known(Tensor([1, 2]), matrix, "hccl_world_group", "AlltoAllVC"))
        [1 2]
    """
    own = ranks_of_own(group, told).index(world.rank)
    sends, receives = matrix[own].tolist(), matrix[:, own].tolist()
    return _exchanged(x, sends, receives, int(matrix.max()), group, f"{told}({matrix.tolist()})")


def _exchanged(x, sends, receives, longest: int, group: str, told: str) -> Tensor:
    if not longest:
        return identity(x)
    longest = _with_room(longest)
    rows = stack(_filled_parts(x, sends, longest))
    come = collective("AlltoAll", group, rows, told=told, split=0, concat=0)
    return concat([come[source, :length] for source, length in enumerate(receives)])


def _with_room(length: int) -> int:
    """A length that is one of few, so that few programs are compiled: an eighth longer at most."""
    step = 1 << max(length.bit_length() - 4, 0)
    return -(-length // step) * step


def _filled_parts(x, lengths: Sequence[int], longest: int) -> list[Tensor]:
    """The parts of an array, of so many rows each, with rows of zeros behind them."""
    parts = split(x, list(lengths)) if len(lengths) > 1 else [x]
    return [
        concat([part, zeros((longest - length, *x.shape[1:]), x.dtype)])
        if length < longest
        else part
        for part, length in zip(parts, lengths, strict=True)
    ]


def gather_rows(x: Tensor, lengths: Sequence[int], group: str, told: str) -> Tensor:
    """The rows of all processes, which have so many each, one behind the other.

    Raises:
        ValueError: this process has another number of rows.

    Example:
        >>> from mycel.ops.collectives.uneven import gather_rows
        >>> print(gather_rows(Tensor([1, 2]), [2], "hccl_world_group", "AllGatherV"))
        [1 2]
    """
    own = lengths[ranks_of_own(group, told).index(world.rank)]
    if x.shape[0] != own:
        expected = f"of {own} rows, as the sizes {list(lengths)} say of this process"
        raise wrong(ValueError, f"{told}: the Tensor to send", expected, f"{x.shape[0]} rows")
    longest = max(lengths)
    if not longest:
        return identity(x)
    (filled,) = _filled_parts(x, [own], longest)
    come = collective("AllGather", group, filled, told=f"{told}({list(lengths)})")
    if min(lengths) == longest:
        return come
    begins = [source * longest for source in range(len(lengths))]
    parts = [come[begin : begin + length] for begin, length in zip(begins, lengths, strict=True)]
    return concat(parts)


def reduce_scatter_rows(x: Tensor, lengths: Sequence[int], op: str, group: str, told: str):
    """This process's rows of the reduction, of which each process gets so many.

    Raises:
        ValueError: x has another number of rows.

    Example:
        >>> from mycel.ops.collectives.uneven import reduce_scatter_rows
        >>> group = "hccl_world_group"
        >>> print(reduce_scatter_rows(Tensor([1, 2]), [2], "sum", group, "ReduceScatterV"))
        [1 2]
    """
    own = lengths[ranks_of_own(group, told).index(world.rank)]
    longest = max(lengths)
    if x.shape[0] != sum(lengths):
        expected = f"of {sum(lengths)} rows, as the sizes {list(lengths)} say"
        raise wrong(ValueError, f"{told}: the Tensor to reduce", expected, f"{x.shape[0]} rows")
    if not longest:
        return identity(x)
    filled = concat(_filled_parts(x, lengths, longest))
    name = f"{told}({op}, {list(lengths)})"
    return collective("ReduceScatter", group, filled, told=name, op=op)[:own]


def exchange(sent: list, shapes: list[tuple[int, ...]], group: str, told: str) -> list[Tensor]:
    """One Tensor from each process of a group, for one to each; shapes may differ.

    Raises:
        TypeError: the Tensors have different element types.
        As `exchange_rows`.

    Example:
        >>> from mycel.ops.collectives.uneven import exchange
        >>> exchange([Tensor([1, 2])], [(2, 1)], "hccl_world_group", "all_to_all")
        [Tensor(shape=[2, 1], dtype=Int64, value=
        [[1],
         [2]])]
    """
    sends = [math.prod(tensor.shape) for tensor in sent]
    receives = [math.prod(shape) for shape in shapes]
    come = exchange_rows(flat(sent, told), sends, receives, group, told)
    return parts_of(come, shapes)


def flat(tensors: Sequence[Tensor], told: str) -> Tensor:
    """The elements of Tensors of one type, one behind the other.

    Raises:
        TypeError: they have different element types.

    Example:
        >>> from mycel.ops.collectives.uneven import flat
        >>> print(flat([Tensor([[1], [2]]), Tensor(3)], "all_to_all"))
        [1 2 3]
    """
    for tensor in tensors:
        if tensor.dtype != tensors[0].dtype:
            expected = f"of one element type, {tensors[0].dtype}"
            raise wrong(TypeError, f"{told}: the Tensors to send", expected, f"also {tensor.dtype}")
    return concat([tensor.reshape(-1) for tensor in tensors])


def parts_of(x: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """The elements of a Tensor, as Tensors of these shapes.

    Example:
        >>> from mycel.ops.collectives.uneven import parts_of
        >>> [part.shape for part in parts_of(Tensor([1, 2, 3]), [(2, 1), ()])]
        [(2, 1), ()]
    """
    lengths = [math.prod(shape) for shape in shapes]
    parts = split(x, lengths) if len(lengths) > 1 else [x]
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


__all__ = [
    "exchange",
    "exchange_as_known",
    "exchange_rows",
    "flat",
    "gather_rows",
    "lengths_of",
    "parts_of",
    "reduce_scatter_rows",
]
