# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `communication.comm_func`: collective operators as functions with results.

They are those of the table in `ops.collectives.table`. Processes are named by their numbers in the
world. With one process each hands on its own values; what needs another process says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mycel import ops
from mycel.communication.mail import claim, collect, post
from mycel.communication.outputs import write
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.assign import assigned
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    check_group,
    nobody,
    rank_within,
    ranks_of,
    ranks_of_own,
    world,
)
from mycel.ops.collectives.primitives import check_tensor, wait_for_all
from mycel.ops.collectives.uneven import (
    exchange,
    exchange_as_known,
    exchange_rows,
    lengths_of,
)
from mycel.ops.collectives.uneven_primitives import matrix_of


class CommHandle:
    """The promise of a result.

    Args:
        finish: what gives the result; by default it is already there.

    Example:
        >>> from mycel.communication.comm_func import CommHandle
        >>> CommHandle().wait()
    """

    def __init__(self, finish: Callable[[], object] | None = None):
        self._finish = finish

    def wait(self) -> None:
        """Wait until the result is there."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()

    def is_completed(self) -> bool:
        """Whether the result is there."""
        return self._finish is None


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
        ValueError: not one of each.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.communication.comm_func.all_to_all_with_output_shape`.

    Example:
        >>> from mycel.communication import comm_func
        >>> comm_func.all_to_all_with_output_shape([(2,)], [Tensor([1, 2])])[0]
        (Tensor(shape=[2], dtype=Int64, value= [1, 2]),)
    """
    group = HCCL_WORLD_COMM_GROUP if group is None else group
    told = "all_to_all_with_output_shape"
    sent = one_each(input_tensor_list, f"{told}: input_tensor_list", group)
    for tensor in sent:
        check_tensor(tensor, f"{told}: input_tensor_list")
    shapes = [
        tuple(shape.shape if isinstance(shape, Tensor) else shape)
        for shape in one_each(output_shape_list, f"{told}: output_shape_list", group)
    ]
    return tuple(exchange(sent, shapes, group, told)), handle(async_op)


def all_to_all_single_with_output_shape(
    output_shape,
    tensor,
    output_split_sizes=None,
    input_split_sizes=None,
    group=None,
    async_op=False,
):
    """(The rows that come from all processes, a handle or None); each sends rows to each.

    Args:
        output_shape: the shape of what comes, or a Tensor of that shape.
        tensor: whose rows are sent.
        output_split_sizes, input_split_sizes: how many rows come from and go to each process; None,
            the default, for as many each.

    Raises:
        ValueError: the rows are not as many as the Tensor, or the shape, has.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.communication.comm_func.all_to_all_single_with_output_shape`.

    Example:
        >>> from mycel.communication import comm_func
        >>> come, _ = comm_func.all_to_all_single_with_output_shape((2,), Tensor([1, 2]))
        >>> print(come)
        [1 2]
    """
    shape = tuple(output_shape.shape if isinstance(output_shape, Tensor) else output_shape)
    group = HCCL_WORLD_COMM_GROUP if group is None else group
    told = "all_to_all_single_with_output_shape"
    come = exchange_split(tensor, shape, output_split_sizes, input_split_sizes, group, told)
    return come, handle(async_op)


def exchange_split(tensor, shape, output_sizes, input_sizes, group: str, told: str) -> Tensor:
    """What the processes of a group send to this one, in one shape; rows are counted.

    Args:
        output_sizes, input_sizes: how many rows come from and go to each process; as many each, if
            they are empty or None.

    Raises:
        As `lengths_of` and `exchange_rows`.
    """
    count = len(ranks_of(group))
    numbers = []
    for what, given, whole in (
        ("output_split_sizes", output_sizes, shape),
        ("input_split_sizes", input_sizes, check_tensor(tensor, f"{told}: input").shape),
    ):
        if not whole:
            raise wrong(ValueError, f"{told}: {what}", "of 1 dimension or more", "a number")
        if not given and whole[0] % count:
            expected = f"given, as {count} processes cannot divide"
            raise wrong(ValueError, f"{told}: {what}", expected, f"{whole[0]} rows")
        asked = given or [whole[0] // count] * count
        rows = lengths_of(asked, f"{told}: {what}", count, whole[0])
        numbers.append([length * math.prod(whole[1:]) for length in rows])
    receives, sends = numbers
    return exchange_rows(tensor.reshape(-1), sends, receives, group, told).reshape(shape)


def all_to_all_v_c(
    output: Tensor,
    input: Tensor,
    send_count_matrix: Any,
    group: str | None = None,
    async_op: bool = False,
):
    """Write into `output` the rows that all processes send to this one; returns a handle or None.

    Args:
        send_count_matrix: how many rows each process sends to each: a list, row by row.

    Raises:
        ValueError: `input` or `output` has other rows than it says.

    Source: MindSpore's `mindspore.communication.comm_func.all_to_all_v_c`,
        `mindspore.ops.communication.all_to_all_v_c`.

    Example:
        >>> from mycel.communication import comm_func
        >>> received = ops.zeros(2)
        >>> comm_func.all_to_all_v_c(received, Tensor([1.0, 2.0]), [2])
        >>> print(received)
        [1. 2.]
    """
    told = "all_to_all_v_c"
    group = HCCL_WORLD_COMM_GROUP if group is None else group
    matrix = matrix_of(send_count_matrix, f"{told}: send_count_matrix", len(ranks_of(group)))
    sent = matrix[ranks_of_own(group, told).index(world.rank)].sum()
    rows = check_tensor(input, f"{told}: input").shape[:1]
    if rows != (sent,):
        expected = f"of {sent} rows, as send_count_matrix says"
        raise wrong(ValueError, f"{told}: input", expected, f"of shape {input.shape}")
    write(output, exchange_as_known(input, matrix, group, told), told)
    return handle(async_op)


def one_each(given, what: str, group: str = HCCL_WORLD_COMM_GROUP) -> list:
    """The entries of a list, one for each process of a group.

    Raises:
        TypeError: not a list.
        ValueError: another number of entries.
    """
    count = len(ranks_of(group))
    if not isinstance(given, (list, tuple)):
        raise wrong(TypeError, what, "a list with an entry for each process", type(given).__name__)
    if len(given) != count:
        each = "one entry, for one process" if count == 1 else f"{count} entries, as processes"
        raise wrong(ValueError, what, f"a list with {each}", len(given))
    return list(given)


def barrier(group=HCCL_WORLD_COMM_GROUP) -> None:
    """Wait for all processes of a group.

    Source: MindSpore's `mindspore.communication.comm_func.barrier`.

    Example:
        >>> from mycel.communication import comm_func
        >>> comm_func.barrier()
    """
    wait_for_all(check_group(group))


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a Tensor to another process, which receives it when it asks.

    Args:
        tensor: what is sent.
        dst: the number in the world of the other process.
        tag: what `recv` must be given too.

    Raises:
        RuntimeError: there is no other process.

    Source: MindSpore's `mindspore.communication.comm_func.send`, `mint.distributed.send`.
    """
    group = HCCL_WORLD_COMM_GROUP if group is None else group
    post(check_tensor(tensor, "send: tensor"), peer(dst, group, "send"), group, tag)


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """As `send`; returns a handle.

    Args:
        tensor: what is sent.
        dst: the number in the world of the other process, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.
        tag: what `recv` must be given too, 0 by default.

    Raises:
        RuntimeError: there is no other process.

    Source: MindSpore's `mindspore.communication.comm_func.isend`, `mint.distributed.isend`.
    """
    group = HCCL_WORLD_COMM_GROUP if group is None else group
    post(check_tensor(tensor, "isend: tensor"), peer(dst, group, "isend"), group, tag)
    return CommHandle()


def recv(tensor, src=0, group=HCCL_WORLD_COMM_GROUP, tag=0) -> Tensor:
    """The Tensor that another process sent, of the shape and type of `tensor`.

    Args:
        tensor: what it looks like; its values stay.
        src: the number in the world of the other process.
        tag: what `send` was given too.

    Raises:
        RuntimeError: there is no other process, or nothing came in time.
        ValueError: another shape or type came.

    Source: MindSpore's `mindspore.communication.comm_func.recv`.
    """
    src = peer(src, group, "recv")
    return collect(check_tensor(tensor, "recv: tensor"), src, group, tag, claim(src, group, tag))


def irecv(tensor, src=0, group=HCCL_WORLD_COMM_GROUP, tag=0):
    """(What is received, a handle): as `recv`, without waiting. `wait` gives it its values.

    Raises:
        RuntimeError: there is no other process.

    Source: MindSpore's `mindspore.communication.comm_func.irecv`.
    """
    received = ops.zeros_like(check_tensor(tensor, "irecv: tensor"))
    return received, receive_into(received, peer(src, group, "irecv"), group, tag)


def receive_into(tensor: Tensor, src: int, group: str, tag: int) -> CommHandle:
    """A handle that gives a Tensor what a process sends."""
    number = claim(src, group, tag)  # now: what is asked for first is what was sent first
    return CommHandle(lambda: assigned(tensor, collect(tensor, src, group, tag, number)))


def peer(rank, group, what: str) -> int:
    """The number of another process of a group.

    Raises:
        RuntimeError: there is none.
        ValueError: it is this one, or not in the group.
    """
    if len(ranks_of_own(group, what)) == 1:
        raise nobody(what)
    rank_within(rank, group, what)
    if rank == world.rank:
        raise wrong(ValueError, what, "the number of another process", rank)
    return rank


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


def checked_list(p2p_op_list) -> list[P2POp]:
    """What is sent and received.

    Raises:
        TypeError: not a list, or an empty one.
    """
    given = isinstance(p2p_op_list, list) and p2p_op_list
    if not given or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise wrong(TypeError, "batch_isend_irecv", "a list of P2POp", f"{p2p_op_list!r:.60}")
    return p2p_op_list


def batch_isend_irecv(p2p_op_list):
    """Send and receive several Tensors.

    Args:
        p2p_op_list: a list of `P2POp`.

    Returns:
        What was received, in the order of the list.

    Raises:
        TypeError: not a list of them, or an empty one.
        RuntimeError: there is no other process, or nothing came in time.

    Source: MindSpore's `mindspore.communication.comm_func.batch_isend_irecv`.
    """
    come = []
    for each in sorted(checked_list(p2p_op_list), key=lambda each: each.op != "isend"):
        group = HCCL_WORLD_COMM_GROUP if each.group is None else each.group
        tensor = each.tensor
        if each.op == "isend":
            isend(tensor, each.peer, group, each.tag)
            continue
        if not isinstance(tensor, Tensor):
            tensor = ops.zeros(tensor, each.recv_dtype)
        come.append(recv(tensor, each.peer, group, each.tag))
    return tuple(come)


__all__ = [
    "P2POp",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single_with_output_shape",
    "all_to_all_v_c",
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
