# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint.distributed`: collective operators that write into Tensors given for it.

They are those of the table in `ops.collectives.table`. With one process each hands on its own
values; what needs another process says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mycel import communication, ops
from mycel.communication.comm_func import P2POp, handle, isend, one_each, send
from mycel.communication.objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from mycel.communication.outputs import alike, write, write_all
from mycel.communication.tcp_store import TCPStore
from mycel.communication.writing import (
    all_gather_into_tensor_uneven,
    all_to_all,
    all_to_all_single,
    batch_isend_irecv,
    irecv,
    recv,
    reduce_scatter_tensor_uneven,
)
from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import count, number
from mycel.kernel.record.tensor import Tensor
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    check_group,
    groups,
    meet,
    rank_within,
)
from mycel.ops.collectives.primitives import check_kind, check_tensor, wait_for_all
from mycel.ops.collectives.table import collective
from mycel.ops.collectives.uneven import flat, gather_rows, parts_of, reduce_scatter_rows


def _group(group) -> str:
    return check_group(HCCL_WORLD_COMM_GROUP if group is None else group)


def init_process_group(
    backend: str | None = "hccl",
    init_method: Any = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Meet the other processes that a launcher started; with one process, nothing is to be done.

    Args:
        backend: "hccl", "nccl" or "mccl".
        world_size, rank: what the launcher said, or -1 to leave them open.
        others: accepted, without effect.

    Raises:
        RuntimeError: the others did not come, or nothing tells where they meet.
        ValueError: another number of processes.

    Source: MindSpore's `mindspore.mint.distributed.init_process_group`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.init_process_group(backend="hccl")
        >>> distributed.get_world_size()
        1
    """
    options = {"init_method": init_method, "timeout": timeout, "store": store}
    options |= {"group_name": group_name, "pg_options": pg_options, "device_id": device_id}
    for name, value in options.items():
        if value not in (None, ""):
            log.note_once(f"init_process_group({name}={value!r}) has no effect")
    for what, given, right in (("world_size", world_size, count()), ("rank", rank, number())):
        if given not in (-1, None, right):
            raise wrong(ValueError, f"init_process_group: {what}", str(right), given)
    communication.init(backend)


def destroy_process_group(group: str | None = None) -> None:
    """Forget a group; by default, end what `init_process_group` began.

    Source: MindSpore's `mindspore.mint.distributed.destroy_process_group`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.destroy_process_group()
        >>> distributed.is_initialized()
        False
    """
    if group is None or group == communication.GlobalComm.WORLD_COMM_GROUP:
        communication.release()
    else:
        communication.destroy_group(group)


def is_available() -> bool:
    """Whether these functions can be used: they can.

    Source: MindSpore's `mindspore.mint.distributed.is_available`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.is_available()
        True
    """
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called.

    Source: MindSpore's `mindspore.mint.distributed.is_initialized`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.init_process_group()
        >>> distributed.is_initialized()
        True
    """
    return communication.is_initialized()


def get_rank(group: str | None = None) -> int:
    """Which process of a group this is, from 0.

    Source: MindSpore's `mindspore.mint.distributed.get_rank`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_rank()
        0
    """
    return communication.get_rank(_group(group))


def get_world_size(group: str | None = None) -> int:
    """How many processes a group has.

    Source: MindSpore's `mindspore.mint.distributed.get_world_size`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_world_size()
        1
    """
    return communication.get_group_size(_group(group))


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """A group of some processes, by default of all. Returns its name.

    Args:
        ranks: the numbers in the world of its processes; None, the default, for all.
        group_desc: how its name begins.
        others: accepted, without effect.

    Source: MindSpore's `mindspore.mint.distributed.new_group`.

    Example:
        >>> from mycel.mint import distributed
        >>> group = distributed.new_group([0])
        >>> distributed.get_world_size(group)
        1
        >>> distributed.destroy_process_group(group)
    """
    del timeout, backend, pg_options, use_local_synchronization
    index = 0
    while (name := f"{group_desc or 'group'}_{index}") in groups:
        index += 1
    meet()
    communication.create_group(name, list(range(count()) if ranks is None else ranks))
    return name


def get_backend(group: str | None = None) -> str:
    """The library that MindSpore would use on this device.

    Source: MindSpore's `mindspore.mint.distributed.get_backend`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_backend() in ("hccl", "nccl", "mccl")
        True
    """
    _group(group)
    return communication.GlobalComm.BACKEND


def get_global_rank(group: str | None, group_rank: int) -> int:
    """The number in the world of a process of a group.

    Source: MindSpore's `mindspore.mint.distributed.get_global_rank`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_global_rank(None, 0)
        0
    """
    return communication.get_world_rank_from_group_rank(_group(group), group_rank)


def get_group_rank(group: str | None, global_rank: int) -> int:
    """The number in a group of a process of the world.

    Source: MindSpore's `mindspore.mint.distributed.get_group_rank`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_group_rank(None, 0)
        0
    """
    return communication.get_group_rank_from_world_rank(global_rank, _group(group))


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The numbers in the world of the processes of a group.

    Source: MindSpore's `mindspore.mint.distributed.get_process_group_ranks`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_process_group_ranks()
        [0]
    """
    return communication.get_process_group_ranks(_group(group))


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False):
    """Give `tensor` the reduction of the Tensors of all processes; returns a handle or None.

    Args:
        tensor: what this process has, and what is written into.
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.all_reduce`.

    Example:
        >>> from mycel.mint import distributed
        >>> x = Tensor([1, 2])
        >>> distributed.all_reduce(x)
        >>> print(x)
        [1 2]
    """
    check_tensor(tensor, "all_reduce: tensor")
    write(tensor, ops.AllReduce(check_kind(op), _group(group))(tensor), "all_reduce")
    return handle(async_op)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False
):
    """Write the Tensors of all processes into those of a list; returns a handle or None.

    Their shapes may differ, if the list has them.

    Args:
        tensor_list: what is written into, a Tensor for each process.
        tensor: what this process has.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.all_gather`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = [ops.zeros(2)]
        >>> distributed.all_gather(gathered, Tensor([1.0, 2.0]))
        >>> print(gathered[0])
        [1. 2.]
    """
    group = _group(group)
    outputs = one_each(tensor_list, "all_gather: tensor_list", group)
    alike(outputs[communication.get_rank(group)], tensor, "all_gather")
    shapes = [check_tensor(each, "all_gather: tensor_list").shape for each in outputs]
    if len(set(shapes)) == 1:
        parts = collective("AllGather", group, tensor.reshape(1, *tensor.shape))
    else:
        lengths = [math.prod(shape) for shape in shapes]
        parts = parts_of(gather_rows(tensor.reshape(-1), lengths, group, "all_gather"), shapes)
    write_all(outputs, parts, "all_gather")
    return handle(async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
):
    """Write the Tensors of all processes one behind the other; returns a handle or None.

    Args:
        output_tensor: what is written into.
        input_tensor: what this process has.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.all_gather_into_tensor`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = ops.zeros(2)
        >>> distributed.all_gather_into_tensor(gathered, Tensor([1.0, 2.0]))
        >>> print(gathered)
        [1. 2.]
    """
    gathered = ops.AllGather(_group(group))(input_tensor)
    write(output_tensor, gathered, "all_gather_into_tensor")
    return handle(async_op)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
):
    """Write this process's entry of the reduced lists into `output`; returns a handle or None.

    The entries of a list may have different shapes, the same ones in all processes.

    Args:
        output: what is written into.
        input_list: what this process has for each.
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.reduce_scatter`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.reduce_scatter(scattered, [Tensor([1.0, 2.0])])
        >>> print(scattered)
        [1. 2.]
    """
    group = _group(group)
    sent = one_each(input_list, "reduce_scatter: input_list", group)
    shapes = [check_tensor(each, "reduce_scatter: input_list").shape for each in sent]
    alike(output, sent[communication.get_rank(group)], "reduce_scatter")
    told, lengths = "reduce_scatter", [math.prod(shape) for shape in shapes]
    if len(set(lengths)) == 1:
        come = ops.ReduceScatter(check_kind(op), group)(flat(sent, told))
    else:
        come = reduce_scatter_rows(flat(sent, told), lengths, check_kind(op), group, told)
    write(output, come.reshape(output.shape), "reduce_scatter")
    return handle(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
):
    """Write this process's rows of the reduction into `output`; returns a handle or None.

    Args:
        output: what is written into.
        input: what this process has.
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.reduce_scatter_tensor`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.reduce_scatter_tensor(scattered, Tensor([1.0, 2.0]))
        >>> print(scattered)
        [1. 2.]
    """
    come = ops.ReduceScatter(check_kind(op), _group(group))(input)
    write(output, come, "reduce_scatter_tensor")
    return handle(async_op)


def reduce(
    tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
):
    """Give `tensor` of the process `dst` the reduction of all; returns a handle or None.

    Args:
        tensor: what this process has, and what is written into.
        dst: the number in the world of the process that gets it.
        op: a word of `ops.ReduceOp`, 'sum' by default.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.reduce`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.reduce(Tensor([1.0, 2.0]), dst=0)
    """
    check_tensor(tensor, "reduce: tensor")
    group = _group(group)
    root = rank_within(dst, group, "reduce: dst")
    result = ops.AllReduce(check_kind(op), group)(tensor)
    if communication.get_rank(group) == root:
        write(tensor, result, "reduce")
    return handle(async_op)


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False):
    """Give `tensor` the values it has in the process `src`; returns a handle or None.

    Args:
        tensor: what process `src` has, and what is written into in the others.
        src: the number in the world of the process that sends.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.mint.distributed.broadcast`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.broadcast(Tensor([1.0, 2.0]), src=0)
    """
    check_tensor(tensor, "broadcast: tensor")
    group = _group(group)
    sent = ops.Broadcast(rank_within(src, group, "broadcast: src"), group)((tensor,))[0]
    write(tensor, sent, "broadcast")
    return handle(async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None,
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
):
    """Write the Tensors of all processes into a list of the process `dst`.

    Source: MindSpore's `mindspore.mint.distributed.gather`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = [ops.zeros(2)]
        >>> distributed.gather(Tensor([1.0, 2.0]), gathered)
        >>> print(gathered[0])
        [1. 2.]
    """
    group = _group(group)
    root = rank_within(dst, group, "gather: dst")
    check_tensor(tensor, "gather: tensor")
    parts = collective("AllGather", group, tensor.reshape(1, *tensor.shape))
    if communication.get_rank(group) == root:
        write_all(one_each(gather_list, "gather: gather_list", group), parts, "gather")
    return handle(async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
):
    """Write this process's entry of the list of the process `src` into `tensor`.

    Source: MindSpore's `mindspore.mint.distributed.scatter`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.scatter(scattered, [Tensor([1.0, 2.0])])
        >>> print(scattered)
        [1. 2.]
    """
    group = _group(group)
    root = rank_within(src, group, "scatter: src")
    check_tensor(tensor, "scatter: tensor")
    count = communication.get_group_size(group)
    if communication.get_rank(group) == root:
        sent = ops.stack(one_each(scatter_list, "scatter: scatter_list", group))
    else:
        sent = ops.zeros((count, *tensor.shape), tensor.dtype)
    come = ops.CollectiveScatter(root, group)(sent)
    write(tensor, come.reshape(come.shape[1:]), "scatter")
    return handle(async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None):
    """Wait for all processes of a group.

    Args:
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.
        device_ids: accepted, without effect.

    Source: MindSpore's `mindspore.mint.distributed.barrier`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.barrier()
    """
    del device_ids
    wait_for_all(_group(group))
    return handle(async_op)


__all__ = [
    "P2POp",
    "TCPStore",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_into_tensor_uneven",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_uneven",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]
