# SPDX-License-Identifier: Apache-2.0
"""Writing what was communicated into Tensors that are given for it."""

from __future__ import annotations

from collections.abc import Sequence

from mycel import ops
from mycel.communication.comm_func import (
    CommHandle,
    P2POp,
    all_to_all_v_c,
    checked_list,
    exchange_split,
    handle,
    isend,
    one_each,
    peer,
    receive_into,
)
from mycel.communication.outputs import write
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    check_group,
    rank_within,
    ranks_of,
    ranks_of_own,
    world,
)
from mycel.ops.collectives.primitives import check_kind, check_tensor
from mycel.ops.collectives.uneven import (
    exchange,
    gather_rows,
    lengths_of,
    reduce_scatter_rows,
)


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Give `tensor` what another process sent; returns the number of that process.

    Args:
        tensor: what is written into.
        src: the number in the world of the other process, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.
        tag: what `send` was given too, 0 by default.

    Raises:
        RuntimeError: there is no other process, or nothing came in time.
        ValueError: another shape or type came.

    Source: MindSpore's `mindspore.mint.distributed.recv`.
    """
    group = check_group(HCCL_WORLD_COMM_GROUP if group is None else group)
    receive_into(check_tensor(tensor, "recv: tensor"), peer(src, group, "recv"), group, tag).wait()
    return src


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """As `recv`, without waiting: the handle's `wait` gives `tensor` its values.

    Args:
        tensor: what is written into.
        src: the number in the world of the other process, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.
        tag: what `send` was given too, 0 by default.

    Raises:
        RuntimeError: there is no other process.

    Source: MindSpore's `mindspore.mint.distributed.irecv`.
    """
    group = check_group(HCCL_WORLD_COMM_GROUP if group is None else group)
    return receive_into(
        check_tensor(tensor, "irecv: tensor"), peer(src, group, "irecv"), group, tag
    )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[CommHandle]:
    """Send several Tensors, and give others what is received.

    Args:
        p2p_op_list: a list of `P2POp`.

    Returns:
        A handle for each of them; what is received has come when this returns.

    Raises:
        TypeError: not a list of them, or an empty one; or the Tensor to write is none.
        RuntimeError: there is no other process, or nothing came in time.

    Source: MindSpore's `mindspore.mint.distributed.batch_isend_irecv`.
    """
    handles = {}
    for send_them in (True, False):
        for index, each in enumerate(checked_list(p2p_op_list)):
            if (each.op == "isend") is send_them:
                run = isend if send_them else irecv
                handles[index] = run(each.tensor, each.peer, each.group, each.tag)
    for index in range(len(handles)):
        handles[index].wait()
    return [handles[index] for index in range(len(handles))]


def _named(group) -> str:
    return check_group(HCCL_WORLD_COMM_GROUP if group is None else group)


def _sizes(given, rows: int, what: str, group: str) -> tuple[int, ...]:
    """How many rows each process has; by default as many each."""
    count = len(ranks_of(group))
    if not given and rows % count:
        raise wrong(ValueError, what, f"given, as {count} processes cannot divide", f"{rows} rows")
    return lengths_of(given or [rows // count] * count, what, count, rows)


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: str | None = None,
    async_op: bool = False,
):
    """Each process sends a Tensor of its list to each; returns a handle or None.

    The Tensors may be of any shapes.

    Args:
        output_tensor_list: what is written into, a Tensor for what comes from each process.
        input_tensor_list: what goes to each process.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Raises:
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.mint.distributed.all_to_all`.

    Example:
        >>> from mycel.mint import distributed
        >>> received = [ops.zeros(2)]
        >>> distributed.all_to_all(received, [Tensor([1.0, 2.0])])
        >>> print(received[0])
        [1. 2.]
    """
    group = _named(group)
    outputs = one_each(output_tensor_list, "all_to_all: output_tensor_list", group)
    sent = one_each(input_tensor_list, "all_to_all: input_tensor_list", group)
    for tensor in (*outputs, *sent):
        check_tensor(tensor, "all_to_all")
    come = exchange(sent, [output.shape for output in outputs], group, "all_to_all")
    for output, part in zip(outputs, come, strict=True):
        write(output, part, "all_to_all")
    return handle(async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
):
    """Each process sends rows of its Tensor to each; returns a handle or None.

    Args:
        output_split_sizes, input_split_sizes: how many rows come from and go to each process; None,
            the default, for as many each.

    Raises:
        ValueError: the rows are not as many as the Tensor has.
        RuntimeError: one process does not expect what another sends; raised in all of them.

    Source: MindSpore's `mindspore.mint.distributed.all_to_all_single`.

    Example:
        >>> from mycel.mint import distributed
        >>> received = ops.zeros(2)
        >>> distributed.all_to_all_single(received, Tensor([1.0, 2.0]))
        >>> print(received)
        [1. 2.]
    """
    shape = check_tensor(output, "all_to_all_single: output").shape
    come = exchange_split(
        input, shape, output_split_sizes, input_split_sizes, _named(group), "all_to_all_single"
    )
    write(output, come, "all_to_all_single")
    return handle(async_op)


def all_gather_into_tensor_uneven(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
):
    """Write the rows of all processes, which have different numbers of them, one behind the other.

    Args:
        output_split_sizes: how many rows each process has; None, the default, for as many each.

    Returns:
        A handle or None.

    Raises:
        ValueError: `input` or `output` has other rows than these sizes say.

    Source: MindSpore's `mindspore.mint.distributed.all_gather_into_tensor_uneven`.

    Example:
        >>> from mycel.mint import distributed
        >>> gathered = ops.zeros((2, 1))
        >>> distributed.all_gather_into_tensor_uneven(gathered, Tensor([[1.0], [2.0]]), [2])
        >>> print(gathered.reshape(-1))
        [1. 2.]
    """
    told, group = "all_gather_into_tensor_uneven", _named(group)
    rows = _rows(output, f"{told}: output")
    _rows(input, f"{told}: input")
    sizes = _sizes(output_split_sizes, rows, f"{told}: output_split_sizes", group)
    write(output, gather_rows(input, sizes, group, told), told)
    return handle(async_op)


def reduce_scatter_tensor_uneven(
    output: Tensor,
    input: Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
):
    """Write this process's rows of the reduction, of which each gets another number.

    Args:
        input_split_sizes: how many rows each process gets; None, the default, for as many each.
        op: 'sum', 'avg', 'max' or 'min'; 'sum' by default.

    Returns:
        A handle or None.

    Raises:
        ValueError: `input` or `output` has other rows than these sizes say.

    Source: MindSpore's `mindspore.mint.distributed.reduce_scatter_tensor_uneven`.

    Example:
        >>> from mycel.mint import distributed
        >>> scattered = ops.zeros(2)
        >>> distributed.reduce_scatter_tensor_uneven(scattered, Tensor([1.0, 2.0]), [2])
        >>> print(scattered)
        [1. 2.]
    """
    told, group, op = "reduce_scatter_tensor_uneven", _named(group), check_kind(op)
    rows = _rows(input, f"{told}: input")
    sizes = _sizes(input_split_sizes, rows, f"{told}: input_split_sizes", group)
    own = sizes[ranks_of_own(group, told).index(world.rank)]
    if _rows(output, f"{told}: output") != own:
        expected = f"of {own} rows, as the sizes {list(sizes)} say of this process"
        raise wrong(ValueError, f"{told}: output", expected, f"{output.shape[0]} rows")
    write(output, reduce_scatter_rows(input, sizes, op, group, told), told)
    return handle(async_op)


def _rows(tensor, what: str) -> int:
    shape = check_tensor(tensor, what).shape
    if not shape:
        raise wrong(ValueError, what, "of 1 dimension or more", "a number")
    return shape[0]


def gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
):
    """Write the Tensors of all processes one behind the other in the process `dst`.

    Args:
        output_tensor: what is written into.
        input_tensor: what this process has.
        dst: the number in the world of the process that gets it, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Returns:
        A handle or None.

    Source: MindSpore's `mindspore.ops.communication.gather_into_tensor`.

    Example:
        >>> from mycel.communication.writing import gather_into_tensor
        >>> gathered = ops.zeros(2)
        >>> gather_into_tensor(gathered, Tensor([1.0, 2.0]))
        >>> print(gathered)
        [1. 2.]
    """
    group = _named(group)
    root = rank_within(dst, group, "gather_into_tensor: dst")
    gathered = ops.AllGather(group)(check_tensor(input_tensor, "gather_into_tensor: input_tensor"))
    if ranks_of(group)[root] == world.rank:
        write(output_tensor, gathered, "gather_into_tensor")
    return handle(async_op)


def scatter_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
):
    """Write this process's rows of the Tensor of the process `src`; returns a handle or None.

    What `input_tensor` is in the others does not count.

    Args:
        output_tensor: what is written into.
        input_tensor: what process `src` divides.
        src: the number in the world of the process that sends, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.
        async_op: whether a handle is returned, False by default; what comes is there in any case.

    Source: MindSpore's `mindspore.ops.communication.scatter_tensor`.

    Example:
        >>> from mycel.communication.writing import scatter_tensor
        >>> scattered = ops.zeros(2)
        >>> scatter_tensor(scattered, Tensor([1.0, 2.0]))
        >>> print(scattered)
        [1. 2.]
    """
    group = _named(group)
    root = rank_within(src, group, "scatter_tensor: src")
    count, rows = len(ranks_of(group)), _rows(output_tensor, "scatter_tensor: output_tensor")
    if ranks_of(group)[root] != world.rank:
        shape = (count * rows, *output_tensor.shape[1:])
        input_tensor = ops.zeros(shape, output_tensor.dtype)
    come = ops.CollectiveScatter(root, group)(input_tensor)
    write(output_tensor, come, "scatter_tensor")
    return handle(async_op)


__all__ = [
    "all_gather_into_tensor_uneven",
    "all_to_all",
    "all_to_all_single",
    "all_to_all_v_c",
    "batch_isend_irecv",
    "gather_into_tensor",
    "irecv",
    "recv",
    "reduce_scatter_tensor_uneven",
    "scatter_tensor",
]
