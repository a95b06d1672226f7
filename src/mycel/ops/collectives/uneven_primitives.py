# SPDX-License-Identifier: Apache-2.0
"""MindSpore's primitives among processes that give each other different amounts."""

from __future__ import annotations

import math

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import world
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.ops.array.creation import zeros
from mycel.ops.array.joining import concat
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    check_group,
    check_rank,
    ranks_of,
    ranks_of_own,
)
from mycel.ops.collectives.primitives import GroupPrimitive, ReduceOp, check_kind, check_tensor
from mycel.ops.collectives.uneven import (
    exchange_as_known,
    exchange_rows,
    flat,
    gather_rows,
    lengths_of,
    parts_of,
    reduce_scatter_rows,
)

# Where NeighborExchangeV2 looks for the process of each of its 8 numbers: (up or down, left or
# right), clockwise from above.
_WAYS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


class _Uneven(GroupPrimitive):
    """What these share: a group, and a Tensor of one dimension."""

    def _flat(self, input_x) -> Tensor:
        x = check_tensor(input_x, f"{self.name}: input_x")
        if x.ndim != 1:
            expected = "of one dimension, as reshape(-1) makes it"
            raise wrong(ValueError, f"{self.name}: input_x", expected, f"of shape {x.shape}")
        return x

    def _lengths(self, given, what: str, total: int | None = None) -> tuple[int, ...]:
        return lengths_of(given, f"{self.name}: {what}", self.rank_size, total)


def _block(size, name: str) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise wrong(ValueError, f"{name}: block_size", "a positive integer", repr(size))
    return size


class AlltoAllV(_Uneven):
    """Each process sends so many elements of its Tensor to each; what comes is joined.

    Its gradient goes back the same way, as AlltoAllV with both lists exchanged.

    Args:
        group: the name of a group of processes; with one, the Tensor is handed on.
        block_size: of how many elements what is counted in the call consists, 1 by default.

    Raises:
        ValueError: the Tensor has another number of elements than are sent, or several dimensions.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.ops.AlltoAllV`.

    Example:
        >>> print(ops.AlltoAllV()(Tensor([1.0, 2.0]), [2], [2]))
        [1. 2.]
    """

    def __init__(self, group=HCCL_WORLD_COMM_GROUP, block_size=1):
        super().__init__(group)
        self.block_size = _block(block_size, self.name)

    def __call__(self, input_x, send_numel_list, recv_numel_list):
        x, block = self._flat(input_x), self.block_size
        sends = [length * block for length in self._lengths(send_numel_list, "send_numel_list")]
        receives = [length * block for length in self._lengths(recv_numel_list, "recv_numel_list")]
        if sum(sends) != x.shape[0]:
            expected = f"{sum(sends)} elements, as send_numel_list and block_size say"
            raise wrong(ValueError, f"{self.name}: input_x", expected, x.shape[0])
        return exchange_rows(x, sends, receives, self.group, self.name)


class AlltoAllVC(_Uneven):
    """As AlltoAllV, where every process is told how much each sends to each.

    Args:
        group: the name of a group of processes; with one, the Tensor is handed on.
        block_size: of how many elements what is counted in the call consists, 1 by default.
        transpose: whether the numbers say from whom to whom backwards, False by default.

    Raises:
        ValueError: the Tensor has another number of elements than are sent, or several dimensions.

    Source: MindSpore's `mindspore.ops.AlltoAllVC`.

    Example:
        >>> print(ops.AlltoAllVC()(Tensor([1.0, 2.0]), [[2]]))
        [1. 2.]
    """

    def __init__(self, group=HCCL_WORLD_COMM_GROUP, block_size=1, transpose=False):
        super().__init__(group)
        self.block_size = _block(block_size, self.name)
        self.transpose = transpose

    def __call__(self, input_x, send_count_matrix):
        x = self._flat(input_x)
        matrix = matrix_of(send_count_matrix, f"{self.name}: send_count_matrix", self.rank_size)
        matrix = self.block_size * (matrix.T if self.transpose else matrix)
        sent = matrix[ranks_of_own(self.group, self.name).index(world.rank)].sum()
        if sent != x.shape[0]:
            expected = f"{sent} elements, as send_count_matrix and block_size say"
            raise wrong(ValueError, f"{self.name}: input_x", expected, x.shape[0])
        return exchange_as_known(x, matrix, self.group, self.name)


def matrix_of(given, what: str, count: int) -> np.ndarray:
    """How much each of `count` processes sends to each, from a list, nested or not, or a Tensor.

    Raises:
        As `lengths_of`.

    Example:
        >>> from mycel.ops.collectives.uneven_primitives import matrix_of
        >>> matrix_of([0, 3, 3, 0], "send_count_matrix", 2).tolist()
        [[0, 3], [3, 0]]
    """
    if isinstance(given, (list, tuple)) and given and isinstance(given[0], (list, tuple)):
        given = [number for row in given for number in row]
    return np.array(lengths_of(given, what, count * count), np.int64).reshape(count, count)


class AllGatherV(_Uneven):
    """The Tensors of all processes, of different lengths, one behind the other, in each of them.

    Its gradient is that of ReduceScatterV.

    Args:
        group: the name of a group of processes; with one, the Tensor is handed on.

    Raises:
        ValueError: the Tensor has another length than the sizes say of this process, or several
            dimensions.

    Source: MindSpore's `mindspore.ops.AllGatherV`.

    Example:
        >>> print(ops.AllGatherV()(Tensor([1.0, 2.0]), [2]))
        [1. 2.]
    """

    def __init__(self, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)

    def __call__(self, input_x, output_split_sizes):
        lengths = self._lengths(output_split_sizes, "output_split_sizes")
        return gather_rows(self._flat(input_x), lengths, self.group, self.name)


class ReduceScatterV(_Uneven):
    """The Tensors of all processes, reduced, of which each process gets another number of elements.

    Args:
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; with one, the Tensor is handed on.

    Raises:
        ValueError: the sizes do not make the length of the Tensor, or it has several dimensions.

    Source: MindSpore's `mindspore.ops.ReduceScatterV`.

    Example:
        >>> print(ops.ReduceScatterV(ops.ReduceOp.SUM)(Tensor([1.0, 2.0]), [2]))
        [1. 2.]
    """

    def __init__(self, op=ReduceOp.SUM, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        self.op = check_kind(op)

    def __call__(self, input_x, input_split_sizes):
        lengths = self._lengths(input_split_sizes, "input_split_sizes")
        return reduce_scatter_rows(self._flat(input_x), lengths, self.op, self.group, self.name)


class _Neighbours(Primitive):
    """What both exchanges with neighbours share."""

    def __init__(self, group, send_rank_ids, recv_rank_ids, none: bool):
        super().__init__(type(self).__name__)
        self.group = check_group(group)
        self.send_rank_ids = self._ranks(send_rank_ids, "send_rank_ids", none)
        self.recv_rank_ids = self._ranks(recv_rank_ids, "recv_rank_ids", none)

    def _ranks(self, ranks, what: str, none: bool) -> list[int]:
        """Numbers of processes within the group; -1 for none, if that is allowed."""
        what = f"{self.name}: {what}"
        if not isinstance(ranks, (list, tuple)):
            raise wrong(TypeError, what, "a list of process numbers", type(ranks).__name__)
        count, real = len(ranks_of(self.group)), [rank for rank in ranks if rank != -1 or not none]
        for rank in real:
            check_rank(rank, what, count)
        if len(set(real)) < len(real):
            raise wrong(ValueError, what, "different numbers", list(ranks))
        return list(ranks)

    def _passed(self, sent: dict[int, Tensor], shapes: dict[int, tuple], dtype) -> dict:
        """What comes from each process, for what goes to each."""
        count = len(ranks_of(self.group))
        sends = [math.prod(sent[rank].shape) if rank in sent else 0 for rank in range(count)]
        wanted = [shapes.get(rank, (0,)) for rank in range(count)]
        goes = [sent[rank] for rank in sorted(sent)] or [zeros((0,), dtype)]
        receives = [math.prod(shape) for shape in wanted]
        come = exchange_rows(flat(goes, self.name), sends, receives, self.group, self.name)
        return dict(enumerate(parts_of(come, wanted)))


class NeighborExchange(_Neighbours):
    """Send a Tensor to each of some processes, and get one from each of some.

    All processes of the group call it, also those without neighbours.

    Args:
        send_rank_ids, recv_rank_ids: the numbers of the processes within the group.
        recv_shapes, send_shapes: the shape of each Tensor that comes, and that is sent.
        recv_type: the element type of all of them.
        group: the name of a group of processes.

    Raises:
        TypeError: no lists, or no Tensors of this type.
        ValueError: a process that is not there or is named twice, or another number of Tensors or
            another shape.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.ops.NeighborExchange`.

    Example:
        >>> import mycel
        >>> pass_on = ops.NeighborExchange([0], [0], ([2],), ([2],), mycel.float32)
        >>> print(pass_on((Tensor([1.0, 2.0]),))[0])
        [1. 2.]
    """

    def __init__(
        self,
        send_rank_ids,
        recv_rank_ids,
        recv_shapes,
        send_shapes,
        recv_type,
        group=HCCL_WORLD_COMM_GROUP,
    ):
        super().__init__(group, send_rank_ids, recv_rank_ids, False)
        self.recv_shapes, self.send_shapes, self.recv_type = recv_shapes, send_shapes, recv_type
        for what, shapes, ranks in (
            ("send_shapes", send_shapes, self.send_rank_ids),
            ("recv_shapes", recv_shapes, self.recv_rank_ids),
        ):
            if not isinstance(shapes, (list, tuple)) or len(shapes) != len(ranks):
                expected = f"{len(ranks)} shapes, one for each process"
                raise wrong(ValueError, f"{self.name}: {what}", expected, shapes)

    def __call__(self, tensor):
        if not isinstance(tensor, (list, tuple)):
            raise wrong(TypeError, f"{self.name}: tensor", "a tuple", type(tensor).__name__)
        found = [list(check_tensor(x, f"{self.name}: tensor").shape) for x in tensor]
        if found != [list(shape) for shape in self.send_shapes]:
            raise wrong(ValueError, f"{self.name}: tensor", f"of {self.send_shapes}", found)
        for x in tensor:
            if x.dtype != self.recv_type:
                raise wrong(TypeError, f"{self.name}: tensor", f"of {self.recv_type}", x.dtype)
        sent = dict(zip(self.send_rank_ids, tensor, strict=True))
        shapes = dict(zip(self.recv_rank_ids, map(tuple, self.recv_shapes), strict=True))
        come = self._passed(sent, shapes, self.recv_type)
        return tuple(come[rank] for rank in self.recv_rank_ids)


class NeighborExchangeV2(_Neighbours):
    """Give the edges of an image to the processes around, and get theirs around one's own.

    All processes of the group call it. Where there is no neighbour to receive from, zeros come.

    Args:
        send_rank_ids, recv_rank_ids: the numbers within the group of the 8 processes around,
            clockwise from the one above; -1 for none.
        send_lens, recv_lens: how many rows or columns are sent, and come, above, below, left and
            right.
        data_format: "NCHW".
        group: the name of a group of processes.

    Raises:
        TypeError: no lists.
        ValueError: not 8 processes or not 4 lengths, a process that is not there or is named twice,
            another format, or an image that is too small.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.ops.NeighborExchangeV2`.

    Example:
        >>> nobody = [-1] * 8
        >>> pass_on = ops.NeighborExchangeV2(nobody, [0, 0, 0, 0], nobody, [0, 0, 1, 0], "NCHW")
        >>> print(pass_on(ops.ones((1, 1, 2, 2))))
        [[[[0. 1. 1.]
           [0. 1. 1.]]]]
    """

    def __init__(
        self,
        send_rank_ids,
        send_lens,
        recv_rank_ids,
        recv_lens,
        data_format,
        group=HCCL_WORLD_COMM_GROUP,
    ):
        super().__init__(group, send_rank_ids, recv_rank_ids, True)
        for what, ranks in (("send_rank_ids", send_rank_ids), ("recv_rank_ids", recv_rank_ids)):
            if len(ranks) != len(_WAYS):
                raise wrong(ValueError, f"{self.name}: {what}", "8 numbers", list(ranks))
        self.send_lens = list(lengths_of(send_lens, f"{self.name}: send_lens", 4))
        self.recv_lens = list(lengths_of(recv_lens, f"{self.name}: recv_lens", 4))
        if data_format != "NCHW":
            raise wrong(ValueError, f"{self.name}: data_format", "'NCHW'", repr(data_format))
        self.data_format = data_format

    def __call__(self, tensor):
        x = check_tensor(tensor, f"{self.name}: tensor")
        fits = x.ndim == 4
        if not fits or max(self.send_lens[:2]) > x.shape[2] or max(self.send_lens[2:]) > x.shape[3]:
            expected = f"of 4 dimensions, with edges of {self.send_lens}"
            raise wrong(ValueError, f"{self.name}: tensor", expected, f"of shape {x.shape}")
        sent, shapes = {}, {}
        for way, to, source in zip(_WAYS, self.send_rank_ids, self.recv_rank_ids, strict=True):
            if to != -1:
                sent[to] = _edge(x, way, self.send_lens)
            if source != -1:
                shapes[source] = self._shape(x, way)
        come = self._passed(sent, shapes, x.dtype)
        around = {
            way: zeros(self._shape(x, way), x.dtype) if source == -1 else come[source]
            for way, source in zip(_WAYS, self.recv_rank_ids, strict=True)
        }
        around[0, 0] = x
        rows = [concat([around[row, column] for column in (-1, 0, 1)], 3) for row in (-1, 0, 1)]
        return concat(rows, 2)

    def _shape(self, x, way: tuple[int, int]) -> tuple[int, ...]:
        """Of what comes from one way."""
        above, below, left, right = self.recv_lens
        height = {-1: above, 0: x.shape[2], 1: below}[way[0]]
        return (*x.shape[:2], height, {-1: left, 0: x.shape[3], 1: right}[way[1]])


def _edge(x, way: tuple[int, int], lengths: list[int]):
    """What lies at the edge of an image that a way leads over."""
    above, below, left, right = lengths
    height, width = x.shape[2:]
    rows = {-1: slice(0, above), 0: slice(0, height), 1: slice(height - below, height)}
    columns = {-1: slice(0, left), 0: slice(0, width), 1: slice(width - right, width)}
    return x[:, :, rows[way[0]], columns[way[1]]]


__all__ = [
    "AllGatherV",
    "AlltoAllV",
    "AlltoAllVC",
    "NeighborExchange",
    "NeighborExchangeV2",
    "ReduceScatterV",
    "matrix_of",
]
