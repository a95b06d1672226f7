# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint.distributed`: collective operators that write into Tensors given for it.

Of one process each hands on its own values; what needs another process says so.
"""

from __future__ import annotations

import copy

from mycel import communication, ops
from mycel.communication.comm_func import (
    P2POp,
    batch_isend_irecv,
    handle,
    irecv,
    isend,
    one_each,
    recv,
    send,
)
from mycel.communication.tcp_store import TCPStore
from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.ops.collectives import check_kind, check_tensor
from mycel.ops.processes import HCCL_WORLD_COMM_GROUP, check_group, check_rank


def _group(group) -> str:
    return check_group(HCCL_WORLD_COMM_GROUP if group is None else group)


def init_process_group(
    backend="hccl",
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
) -> None:
    """Begin to talk to other processes; with the one process there is, nothing is to be done.

    Args:
        backend: "hccl", "nccl" or "mccl".
        world_size, rank: 1 and 0, or -1 to leave them open.
        others: accepted, without effect.

    Raises:
        RuntimeError: a launcher started more than one process.
        ValueError: another number of processes.

    Source: MindSpore's `mindspore.mint.distributed.init_process_group`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.init_process_group(backend="hccl")
        >>> distributed.get_world_size()
        1
    """
    options = {
        "init_method": init_method,
        "timeout": timeout,
        "store": store,
        "group_name": group_name,
        "pg_options": pg_options,
        "device_id": device_id,
    }
    for name, value in options.items():
        if value not in (None, ""):
            log.note_once(f"init_process_group({name}={value!r}) has no effect in one process")
    if world_size not in (-1, None, 1):
        raise wrong(ValueError, "init_process_group: world_size", "1", world_size)
    if rank not in (-1, None, 0):
        raise wrong(ValueError, "init_process_group: rank", "0", rank)
    communication.init(backend)


def destroy_process_group(group=None) -> None:
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
    """Whether these functions can be used: they can, in one process.

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


def get_rank(group=None) -> int:
    """Which process of a group this is: 0.

    Source: MindSpore's `mindspore.mint.distributed.get_rank`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_rank()
        0
    """
    return communication.get_rank(_group(group))


def get_world_size(group=None) -> int:
    """How many processes a group has: 1.

    Source: MindSpore's `mindspore.mint.distributed.get_world_size`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_world_size()
        1
    """
    return communication.get_group_size(_group(group))


def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
) -> str:
    """A group of some processes: `[0]` is the only choice. Returns its name.

    Source: MindSpore's `mindspore.mint.distributed.new_group`.

    Example:
        >>> from mycel.mint import distributed
        >>> group = distributed.new_group([0])
        >>> distributed.get_world_size(group)
        1
        >>> distributed.destroy_process_group(group)
    """
    del timeout, backend, pg_options, use_local_synchronization
    number = 0
    while (name := f"{group_desc or 'group'}_{number}") in communication.processes.groups:
        number += 1
    communication.create_group(name, [0] if ranks is None else list(ranks))
    return name


def get_backend(group=None) -> str:
    """The library that MindSpore would use on this device.

    Source: MindSpore's `mindspore.mint.distributed.get_backend`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_backend() in ("hccl", "nccl", "mccl")
        True
    """
    _group(group)
    return communication.GlobalComm.BACKEND


def get_global_rank(group, group_rank) -> int:
    """The number in the world of a process of a group.

    Source: MindSpore's `mindspore.mint.distributed.get_global_rank`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_global_rank(None, 0)
        0
    """
    return communication.get_world_rank_from_group_rank(_group(group), group_rank)


def get_group_rank(group, global_rank) -> int:
    """The number in a group of a process of the world.

    Source: MindSpore's `mindspore.mint.distributed.get_group_rank`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_group_rank(None, 0)
        0
    """
    return communication.get_group_rank_from_world_rank(global_rank, _group(group))


def get_process_group_ranks(group=None) -> list[int]:
    """The numbers of the processes of a group: [0].

    Source: MindSpore's `mindspore.mint.distributed.get_process_group_ranks`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.get_process_group_ranks()
        [0]
    """
    return communication.get_process_group_ranks(_group(group))


def all_reduce(tensor, op="sum", group=None, async_op=False):
    """Give `tensor` the reduction of the Tensors of all processes; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.all_reduce`.

    Example:
        >>> from mycel.mint import distributed
        >>> x = Tensor([1, 2])
        >>> distributed.all_reduce(x)
        >>> print(x)
        [1 2]
    """
    check_tensor(tensor, "all_reduce: tensor")
    check_kind(op)
    _group(group)
    return handle(async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Write the Tensors of all processes into those of a list; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.all_gather`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = [ops.zeros(2)]
        >>> distributed.all_gather(gathered, Tensor([1.0, 2.0]))
        >>> print(gathered[0])
        [1. 2.]
    """
    _group(group)
    (output,) = one_each(tensor_list, "all_gather: tensor_list")
    _write(output, tensor, "all_gather")
    return handle(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Write the Tensors of all processes one behind the other; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.all_gather_into_tensor`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = ops.zeros(2)
        >>> distributed.all_gather_into_tensor(gathered, Tensor([1.0, 2.0]))
        >>> print(gathered)
        [1. 2.]
    """
    _group(group)
    _write(output_tensor, input_tensor, "all_gather_into_tensor")
    return handle(async_op)


def reduce_scatter(output, input_list, op="sum", group=None, async_op=False):
    """Write this process's entry of the reduced lists into `output`; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.reduce_scatter`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.reduce_scatter(scattered, [Tensor([1.0, 2.0])])
        >>> print(scattered)
        [1. 2.]
    """
    _group(group)
    check_kind(op)
    (sent,) = one_each(input_list, "reduce_scatter: input_list")
    _write(output, sent, "reduce_scatter")
    return handle(async_op)


def reduce_scatter_tensor(output, input, op="sum", group=None, async_op=False):
    """Write this process's rows of the reduction into `output`; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.reduce_scatter_tensor`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.reduce_scatter_tensor(scattered, Tensor([1.0, 2.0]))
        >>> print(scattered)
        [1. 2.]
    """
    _group(group)
    check_kind(op)
    _write(output, input, "reduce_scatter_tensor")
    return handle(async_op)


def reduce(tensor, dst, op="sum", group=None, async_op=False):
    """Give `tensor` of the process `dst` the reduction of all; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.reduce`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.reduce(Tensor([1.0, 2.0]), dst=0)
    """
    check_rank(dst, "reduce: dst")
    return all_reduce(tensor, op, group, async_op)


def broadcast(tensor, src, group=None, async_op=False):
    """Give `tensor` the values it has in the process `src`; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.broadcast`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.broadcast(Tensor([1.0, 2.0]), src=0)
    """
    check_rank(src, "broadcast: src")
    return all_reduce(tensor, "sum", group, async_op)


def gather(tensor, gather_list, dst=0, group=None, async_op=False):
    """Write the Tensors of all processes into a list of the process `dst`.

    Source: MindSpore's `mindspore.mint.distributed.gather`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = [ops.zeros(2)]
        >>> distributed.gather(Tensor([1.0, 2.0]), gathered)
        >>> print(gathered[0])
        [1. 2.]
    """
    check_rank(dst, "gather: dst")
    return all_gather(gather_list, tensor, group, async_op)


def scatter(tensor, scatter_list, src=0, group=None, async_op=False):
    """Write this process's entry of the list of the process `src` into `tensor`.

    Source: MindSpore's `mindspore.mint.distributed.scatter`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.scatter(scattered, [Tensor([1.0, 2.0])])
        >>> print(scattered)
        [1. 2.]
    """
    check_rank(src, "scatter: src")
    return reduce_scatter(tensor, scatter_list, "sum", group, async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Each process sends a Tensor of its list to each; returns a handle or None.

    Source: MindSpore's `mindspore.mint.distributed.all_to_all`.

    Example:
        >>> from mycel.mint import distributed
        >>> received = [ops.zeros(2)]
        >>> distributed.all_to_all(received, [Tensor([1.0, 2.0])])
        >>> print(received[0])
        [1. 2.]
    """
    _group(group)
    (output,) = one_each(output_tensor_list, "all_to_all: output_tensor_list")
    (sent,) = one_each(input_tensor_list, "all_to_all: input_tensor_list")
    _write(output, sent, "all_to_all")
    return handle(async_op)


def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False
):
    """Each process sends rows of its Tensor to each; returns a handle or None.

    Args:
        output_split_sizes, input_split_sizes: how many rows come from and go to each process.

    Source: MindSpore's `mindspore.mint.distributed.all_to_all_single`.

    Example:
        >>> from mycel.mint import distributed
        >>> received = ops.zeros(2)
        >>> distributed.all_to_all_single(received, Tensor([1.0, 2.0]))
        >>> print(received)
        [1. 2.]
    """
    _group(group)
    for what, sizes in (("output", output_split_sizes), ("input", input_split_sizes)):
        if sizes and list(sizes) != [input.shape[0]]:
            name = f"all_to_all_single: {what}_split_sizes"
            raise wrong(ValueError, name, f"[{input.shape[0]}], for one process", sizes)
    _write(output, input, "all_to_all_single")
    return handle(async_op)


def barrier(group=None, async_op=False, device_ids=None):
    """Wait for all processes of a group: there is one.

    Source: MindSpore's `mindspore.mint.distributed.barrier`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.barrier()
    """
    del device_ids
    _group(group)
    return handle(async_op)


def all_gather_object(object_list, obj, group=None) -> None:
    """Put the objects of all processes into a list.

    Source: MindSpore's `mindspore.mint.distributed.all_gather_object`.

    Example:
        >>> from mycel.mint import distributed
        >>> found = [None]
        >>> distributed.all_gather_object(found, {"loss": 1.5})
        >>> found
        [{'loss': 1.5}]
    """
    _group(group)
    one_each(object_list, "all_gather_object: object_list")
    object_list[0] = copy.deepcopy(obj)


def gather_object(obj, object_gather_list=None, dst=0, group=None) -> None:
    """Put the objects of all processes into a list of the process `dst`.

    Source: MindSpore's `mindspore.mint.distributed.gather_object`.

    Example:
        >>> from mycel.mint import distributed
        >>> found = [None]
        >>> distributed.gather_object("here", found)
        >>> found
        ['here']
    """
    check_rank(dst, "gather_object: dst")
    all_gather_object(object_gather_list, obj, group)


def broadcast_object_list(object_list, src=0, group=None, device=None) -> None:
    """Give a list the objects it has in the process `src`.

    Source: MindSpore's `mindspore.mint.distributed.broadcast_object_list`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.broadcast_object_list(["here"])
    """
    del device
    check_rank(src, "broadcast_object_list: src")
    if not isinstance(object_list, list):
        kind = type(object_list).__name__
        raise wrong(TypeError, "broadcast_object_list: object_list", "a list", kind)
    _group(group)


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list, src=0, group=None
) -> None:
    """Put this process's object of the list of the process `src` into a list.

    Source: MindSpore's `mindspore.mint.distributed.scatter_object_list`.

    Example:
        >>> from mycel.mint import distributed
        >>> found = [None]
        >>> distributed.scatter_object_list(found, ["here"])
        >>> found
        ['here']
    """
    check_rank(src, "scatter_object_list: src")
    (sent,) = one_each(scatter_object_input_list, "scatter_object_list: input")
    all_gather_object(scatter_object_output_list, sent, group)


def _write(output, given, what: str) -> None:
    """Give a Tensor that is to be written into the values of another one of the same shape."""
    check_tensor(output, f"{what}: the Tensor to write")
    check_tensor(given, f"{what}: the Tensor to send")
    if output.shape != given.shape or output.dtype != given.dtype:
        expected = f"{given.dtype}{list(given.shape)}, as what is sent"
        actual = f"{output.dtype}{list(output.shape)}"
        raise wrong(ValueError, f"{what}: the Tensor to write", expected, actual)
    ops.assign(output, given)


__all__ = [
    "P2POp",
    "TCPStore",
    "all_gather",
    "all_gather_into_tensor",
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
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
]
