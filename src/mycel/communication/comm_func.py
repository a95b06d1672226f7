# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `communication.comm_func`: collective operators as functions with results.

They are those of the table in `ops.collective_table`. Processes are named by their numbers in the
world. With one process each hands on its own values; what needs another process says so.
"""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.ops.collectives import check_tensor, wait_for_all
from mycel.ops.processes import HCCL_WORLD_COMM_GROUP, check_group, nobody, rank_within


class CommHandle:
    """The promise of a result: it is already there.

    Example:
        >>> from mycel.communication.comm_func import CommHandle
        >>> CommHandle().wait()
    """

    def wait(self) -> None:
        """Wait until the result is there."""

    def is_completed(self) -> bool:
        """Whether the result is there."""
        return True


def handle(async_op: bool) -> CommHandle | None:
    """The handle that an asynchronous call returns; None otherwise."""
    return CommHandle() if async_op else None


def all_reduce(tensor, op="sum", group=HCCL_WORLD_COMM_GROUP, async_op=False):
    """(The reduction of the Tensors of all processes, a handle or None).

    Source: MindSpore's `mindspore.communication.comm_func.all_reduce`.

    Example:
        >>> from mycel.communication import comm_func
        >>> comm_func.all_reduce(Tensor([1, 2]))
        (Tensor(shape=[2], dtype=Int64, value= [1, 2]), None)
    """
    return ops.AllReduce(op, group)(tensor), handle(async_op)


def all_gather_into_tensor(tensor, group=HCCL_WORLD_COMM_GROUP, async_op=False):
    """(The Tensors of all processes one behind the other, a handle or None).

    Source: MindSpore's `mindspore.communication.comm_func.all_gather_into_tensor`.

    Example:
        >>> from mycel.communication import comm_func
        >>> print(comm_func.all_gather_into_tensor(Tensor([1, 2]))[0])
        [1 2]
    """
    return ops.AllGather(group)(tensor), handle(async_op)


def reduce_scatter_tensor(tensor, op="sum", group=HCCL_WORLD_COMM_GROUP, async_op=False):
    """(This process's rows of the reduction, a handle or None).

    Source: MindSpore's `mindspore.communication.comm_func.reduce_scatter_tensor`.

    Example:
        >>> from mycel.communication import comm_func
        >>> print(comm_func.reduce_scatter_tensor(Tensor([1, 2]))[0])
        [1 2]
    """
    return ops.ReduceScatter(op, group)(tensor), handle(async_op)


def reduce(tensor, dst, op="sum", group=HCCL_WORLD_COMM_GROUP) -> Tensor:
    """The reduction of the Tensors of all processes, in the process `dst`.

    Source: MindSpore's `mindspore.communication.comm_func.reduce`.

    Example:
        >>> from mycel.communication import comm_func
        >>> print(comm_func.reduce(Tensor([1, 2]), 0))
        [1 2]
    """
    return ops.Reduce(rank_within(dst, group, "dst"), op, group)(tensor)


def broadcast(tensor, src=0, group=HCCL_WORLD_COMM_GROUP) -> Tensor:
    """The Tensor of the process `src`.

    Source: MindSpore's `mindspore.communication.comm_func.broadcast`.

    Example:
        >>> from mycel.communication import comm_func
        >>> print(comm_func.broadcast(Tensor([1, 2])))
        [1 2]
    """
    check_tensor(tensor, "broadcast: tensor")
    return ops.Broadcast(rank_within(src, group, "src"), group)((tensor,))[0]


def gather_into_tensor(tensor, dst=0, group=HCCL_WORLD_COMM_GROUP) -> Tensor:
    """The Tensors of all processes one behind the other, in the process `dst`.

    Source: MindSpore's `mindspore.communication.comm_func.gather_into_tensor`.

    Example:
        >>> from mycel.communication import comm_func
        >>> print(comm_func.gather_into_tensor(Tensor([1, 2])))
        [1 2]
    """
    return ops.CollectiveGather(rank_within(dst, group, "dst"), group)(tensor)


def scatter_tensor(tensor, src=0, group=HCCL_WORLD_COMM_GROUP) -> Tensor:
    """This process's rows of the Tensor of the process `src`.

    Source: MindSpore's `mindspore.communication.comm_func.scatter_tensor`.

    Example:
        >>> from mycel.communication import comm_func
        >>> print(comm_func.scatter_tensor(Tensor([1, 2])))
        [1 2]
    """
    return ops.CollectiveScatter(rank_within(src, group, "src"), group)(tensor)


def all_to_all_with_output_shape(output_shape_list, input_tensor_list, group=None, async_op=False):
    """(One Tensor from each process, a handle or None); each process sends one to each.

    Args:
        output_shape_list: for each process the shape of what comes, or a Tensor of that shape.
        input_tensor_list: the Tensor for each process.

    Raises:
        ValueError: not one of each, or another shape than what was sent.

    Source: MindSpore's `mindspore.communication.comm_func.all_to_all_with_output_shape`.

    Example:
        >>> from mycel.communication import comm_func
        >>> comm_func.all_to_all_with_output_shape([(2,)], [Tensor([1, 2])])[0]
        (Tensor(shape=[2], dtype=Int64, value= [1, 2]),)
    """
    check_group(HCCL_WORLD_COMM_GROUP if group is None else group)
    (sent,) = one_each(input_tensor_list, "all_to_all: input_tensor_list")
    (shape,) = one_each(output_shape_list, "all_to_all: output_shape_list")
    shape = tuple(shape.shape if isinstance(shape, Tensor) else shape)
    if shape != check_tensor(sent, "all_to_all: input_tensor_list").shape:
        raise wrong(ValueError, "all_to_all: output_shape_list", f"[{sent.shape}]", shape)
    return (ops.identity(sent),), handle(async_op)


def one_each(given, what: str) -> list:
    """The one entry, for the one process there is.

    Raises:
        TypeError: not a list.
        ValueError: another number of entries.
    """
    if not isinstance(given, (list, tuple)):
        raise wrong(TypeError, what, "a list with an entry for each process", type(given).__name__)
    if len(given) != 1:
        raise wrong(ValueError, what, "a list with one entry, for one process", len(given))
    return list(given)


def barrier(group=HCCL_WORLD_COMM_GROUP) -> None:
    """Wait for all processes of a group.

    Source: MindSpore's `mindspore.communication.comm_func.barrier`.

    Example:
        >>> from mycel.communication import comm_func
        >>> comm_func.barrier()
    """
    wait_for_all(check_group(group))


def send(tensor, dst=0, group=HCCL_WORLD_COMM_GROUP, tag=0):
    """Send a Tensor to another process: there is none.

    Raises:
        RuntimeError: always.

    Source: MindSpore's `mindspore.communication.comm_func.send`, `mint.distributed.send`.
    """
    del tensor, dst, group, tag
    raise nobody("send")


def isend(tensor, dst=0, group=HCCL_WORLD_COMM_GROUP, tag=0):
    """Send a Tensor to another process without waiting: there is none.

    Raises:
        RuntimeError: always.

    Source: MindSpore's `mindspore.communication.comm_func.isend`, `mint.distributed.isend`.
    """
    del tensor, dst, group, tag
    raise nobody("isend")


def recv(tensor, src=0, group=HCCL_WORLD_COMM_GROUP, tag=0):
    """Receive a Tensor from another process: there is none.

    Raises:
        RuntimeError: always.

    Source: MindSpore's `mindspore.communication.comm_func.recv`, `mint.distributed.recv`.
    """
    del tensor, src, group, tag
    raise nobody("recv")


def irecv(tensor, src=0, group=HCCL_WORLD_COMM_GROUP, tag=0):
    """Receive a Tensor from another process without waiting: there is none.

    Raises:
        RuntimeError: always.

    Source: MindSpore's `mindspore.communication.comm_func.irecv`, `mint.distributed.irecv`.
    """
    del tensor, src, group, tag
    raise nobody("irecv")


class P2POp:
    """A Tensor to be sent or received, for `batch_isend_irecv`.

    Args:
        op: 'isend', 'irecv', or one of these functions.
        tensor: the Tensor; of what is received also its shape.
        peer: the number of the other process.
        group: the name of the group of processes; None, the default, is that of all.
        tag: no effect.
        recv_dtype: the element type of what is received, where `tensor` is a shape.

    Raises:
        ValueError: `op` is another.

    Source: MindSpore's `mindspore.communication.comm_func.P2POp`, `mint.distributed.P2POp`.

    Example:
        >>> from mycel.communication.comm_func import P2POp
        >>> P2POp("isend", Tensor([1.0]), 1).op
        'isend'
    """

    def __init__(self, op, tensor, peer, group=None, tag=0, *, recv_dtype=None):
        self.op = getattr(op, "__name__", op)
        if self.op not in ("isend", "irecv"):
            raise wrong(ValueError, "P2POp: op", "'isend' or 'irecv'", repr(op))
        self.tensor, self.peer, self.group, self.tag = tensor, peer, group, tag
        self.recv_dtype = recv_dtype


def batch_isend_irecv(p2p_op_list):
    """Send and receive several Tensors: there is no other process.

    Args:
        p2p_op_list: a list of `P2POp`.

    Raises:
        TypeError: not a list of them, or an empty one.
        RuntimeError: otherwise.

    Source: MindSpore's `mindspore.communication.comm_func.batch_isend_irecv`.
    """
    given = isinstance(p2p_op_list, list) and p2p_op_list
    if not given or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise wrong(TypeError, "batch_isend_irecv", "a list of P2POp", f"{p2p_op_list!r:.60}")
    raise nobody("batch_isend_irecv")


__all__ = [
    "P2POp",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_with_output_shape",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "gather_into_tensor",
    "irecv",
    "isend",
    "recv",
    "reduce",
    "reduce_scatter_tensor",
    "scatter_tensor",
    "send",
]
