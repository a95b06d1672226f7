# SPDX-License-Identifier: Apache-2.0
"""Operators among processes: MindSpore's primitives of the table in `ops.collectives.table`."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP, check_group, check_rank, ranks_of
from mycel.ops.collectives.table import collective


class ReduceOp:
    """How values of several processes become one.

    Source: MindSpore's `mindspore.ops.ReduceOp`.

    Example:
        >>> ops.ReduceOp.SUM
        'sum'
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


KINDS = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD, ReduceOp.AVG)


def check_kind(op) -> str:
    """The word for a reduction, if it is one.

    Raises:
        TypeError: `op` is not a string.
        ValueError: `op` is not a word of `ReduceOp`.
    """
    if not isinstance(op, str):
        raise wrong(TypeError, "op", "a word of ops.ReduceOp", f"{type(op).__name__} {op!r}")
    if op not in KINDS:
        raise wrong(ValueError, "op", f"one of {', '.join(KINDS)}", repr(op))
    return op


def check_tensor(x, what: str) -> Tensor:
    """The Tensor, if it is one.

    Raises:
        TypeError: x is not a Tensor.
    """
    if not isinstance(x, Tensor):
        raise wrong(TypeError, what, "a Tensor", type(x).__name__)
    return x


def wait_for_all(group, name: str = "Barrier") -> None:
    """Wait until every process of a group is here.

    Args:
        name: what it is called in messages.
    """
    if len(ranks_of(group)) > 1:
        collective("AllReduce", group, Tensor(0), told=name, op="sum")


class GroupPrimitive(Primitive):
    """What operators among a group of processes share.

    Attributes:
        rank_size: how many processes the group has.
    """

    def __init__(self, group):
        super().__init__(type(self).__name__)
        self.group = check_group(group)
        self.rank_size = len(ranks_of(group))


class _Collective(GroupPrimitive):
    """What operators on one Tensor and a group share."""

    def _statics(self) -> dict:
        """What the function of the table takes by keyword."""
        return {}

    def __call__(self, input_x):
        x = check_tensor(input_x, f"{self.name}: input_x")
        return collective(self.name, self.group, x, **self._statics())


class _First(_Collective):
    """What operators along the first dimension share."""

    divides = False

    def __call__(self, input_x):
        shape = check_tensor(input_x, f"{self.name}: input_x").shape
        if not shape:
            raise wrong(ValueError, f"{self.name}: input_x", "of 1 dimension or more", "a number")
        if self.divides and shape[0] % self.rank_size:
            expected = f"of rows that {self.rank_size} processes can divide among them"
            raise wrong(ValueError, f"{self.name}: input_x", expected, f"{shape[0]} rows")
        return super().__call__(input_x)


class AllReduce(_Collective):
    """The sum (maximum, product, …) of the Tensors of all processes of a group, in each of them.

    Args:
        op: a word of `ops.ReduceOp`.
        group: the name of a group of processes; with one, the Tensor is handed on.

    Raises:
        TypeError: `op` or `group` is not a string, or the input not a Tensor.
        ValueError: an unknown reduction or group.

    Source: MindSpore's `mindspore.ops.AllReduce`.

    Example:
        >>> print(ops.AllReduce(ops.ReduceOp.SUM)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, op=ReduceOp.SUM, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        self.op = check_kind(op)

    def _statics(self):
        return {"op": self.op}


class AllGather(_First):
    """The Tensors of all processes, joined along the first dimension, in each of them.

    Source: MindSpore's `mindspore.ops.AllGather`.

    Example:
        >>> print(ops.AllGather()(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)


class ReduceScatter(_First):
    """The Tensors of all processes, reduced and divided among them along the first dimension.

    Args:
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; with one, the Tensor is handed on.

    Source: MindSpore's `mindspore.ops.ReduceScatter`.

    Example:
        >>> print(ops.ReduceScatter(ops.ReduceOp.SUM)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    divides = True

    def __init__(self, op=ReduceOp.SUM, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        self.op = check_kind(op)

    def _statics(self):
        return {"op": self.op}


class Reduce(_Collective):
    """The Tensors of all processes, reduced in the process `dest_rank`.

    Args:
        dest_rank: the number of the process that gets the result.
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; with one, the Tensor is handed on.

    Source: MindSpore's `mindspore.ops.Reduce`.

    Example:
        >>> print(ops.Reduce(dest_rank=0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, dest_rank, op=ReduceOp.SUM, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        self.dest_rank = check_rank(dest_rank, "dest_rank", self.rank_size)
        self.op = check_kind(op)

    def _statics(self):
        return {"op": self.op, "root": self.dest_rank}


class Broadcast(Primitive):
    """The Tensors of the process `root_rank`, in all processes of a group: a tuple of them.

    Args:
        root_rank: the number of the process whose Tensors are sent.
        group: the name of a group of processes; with one, the Tensors are handed on.

    Source: MindSpore's `mindspore.ops.Broadcast`.

    Example:
        >>> print(ops.Broadcast(0)((Tensor([1, 2]),)))
        (Tensor(shape=[2], dtype=Int64, value= [1, 2]),)
    """

    def __init__(self, root_rank, group=HCCL_WORLD_COMM_GROUP):
        super().__init__("Broadcast")
        self.group = check_group(group)
        self.root_rank = check_rank(root_rank, "root_rank", len(ranks_of(group)))

    def __call__(self, input_x):
        if not isinstance(input_x, (tuple, list)):
            raise wrong(TypeError, "Broadcast: input_x", "a tuple", type(input_x).__name__)
        for x in input_x:
            check_tensor(x, "Broadcast: input_x")
        return tuple(collective(self.name, self.group, x, root=self.root_rank) for x in input_x)


class AlltoAll(_Collective):
    """Each process sends a part of its Tensor to each: split along one dimension, joined along one.

    Args:
        split_count: into how many parts; the size of the group.
        split_dim, concat_dim: the dimension that is split, and the one the parts are joined along.

    Raises:
        ValueError: `split_count` is another number, or the Tensor has no such dimension, or one
            that the processes cannot divide.

    Source: MindSpore's `mindspore.ops.AlltoAll`.

    Example:
        >>> all_to_all = ops.AlltoAll(split_count=1, split_dim=-2, concat_dim=-1)
        >>> print(all_to_all(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, split_count, split_dim, concat_dim, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        if split_count != self.rank_size:
            expected = f"{self.rank_size}, the size of the group"
            raise wrong(ValueError, "AlltoAll: split_count", expected, split_count)
        self.split_count = split_count
        self.split_dim = split_dim
        self.concat_dim = concat_dim

    def __call__(self, input_x):
        ndim = check_tensor(input_x, "AlltoAll: input_x").ndim
        for what, dimension in (("split_dim", self.split_dim), ("concat_dim", self.concat_dim)):
            if not -ndim <= dimension < ndim:
                expected = f"a dimension of {input_x.shape}"
                raise wrong(ValueError, f"AlltoAll: {what}", expected, dimension)
        if input_x.shape[self.split_dim] % self.rank_size:
            expected = f"a dimension that {self.rank_size} processes can divide"
            raise wrong(ValueError, "AlltoAll: split_dim", expected, input_x.shape[self.split_dim])
        split, concat = self.split_dim % ndim, self.concat_dim % ndim
        return collective(self.name, self.group, input_x, split=split, concat=concat)


class Barrier(Primitive):
    """Wait for all processes of a group.

    Source: MindSpore's `mindspore.ops.Barrier`.

    Example:
        >>> ops.Barrier()()
    """

    def __init__(self, group=HCCL_WORLD_COMM_GROUP):
        super().__init__("Barrier")
        self.group = check_group(group)

    def __call__(self):
        wait_for_all(self.group)


class CollectiveScatter(_First):
    """The rows of the Tensor of the process `src_rank`, divided among the processes of a group.

    Args:
        src_rank: the number of the process whose Tensor is divided, 0 by default.
        group: the name of a group of processes; with one, the Tensor is handed on.

    Source: MindSpore's `mindspore.ops.CollectiveScatter`.

    Example:
        >>> print(ops.CollectiveScatter(src_rank=0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    divides = True

    def __init__(self, src_rank=0, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        self.src_rank = check_rank(src_rank, "src_rank", self.rank_size)

    def _statics(self):
        return {"root": self.src_rank}


class CollectiveGather(_First):
    """The Tensors of all processes, joined along the first dimension in the process `dest_rank`.

    Args:
        dest_rank: the number of the process that gets the result.
        group: the name of a group of processes; with one, the Tensor is handed on.

    Source: MindSpore's `mindspore.ops.CollectiveGather`.

    Example:
        >>> print(ops.CollectiveGather(dest_rank=0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, dest_rank, group=HCCL_WORLD_COMM_GROUP):
        super().__init__(group)
        self.dest_rank = check_rank(dest_rank, "dest_rank", self.rank_size)

    def _statics(self):
        return {"root": self.dest_rank}


__all__ = [
    "AllGather",
    "AllReduce",
    "AlltoAll",
    "Barrier",
    "Broadcast",
    "CollectiveGather",
    "CollectiveScatter",
    "Reduce",
    "ReduceOp",
    "ReduceScatter",
]
