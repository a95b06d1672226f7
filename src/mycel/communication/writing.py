# SPDX-License-Identifier: Apache-2.0
"""Writing what was communicated into Tensors that are given for it."""

from __future__ import annotations

from mycel.communication.comm_func import (
    CommHandle,
    checked_list,
    isend,
    peer,
    receive_into,
)
from mycel.kernel.base.errors import wrong
from mycel.kernel.spell.assign import assigned
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP, check_group
from mycel.ops.collectives.primitives import check_tensor


def alike(output, given, what: str) -> None:
    """Raise unless a Tensor can be written what another one is."""
    check_tensor(output, f"{what}: the Tensor to write")
    check_tensor(given, f"{what}: the Tensor to send")
    if output.shape != given.shape or output.dtype != given.dtype:
        expected = f"{given.dtype}{list(given.shape)}, as what is sent"
        actual = f"{output.dtype}{list(output.shape)}"
        raise wrong(ValueError, f"{what}: the Tensor to write", expected, actual)


def write_all(outputs, parts, what: str) -> None:
    """Give Tensors the rows of one."""
    for output, part in zip(outputs, parts, strict=True):
        write(output, part, what)


def write(output, given, what: str) -> None:
    """Give a Tensor that is to be written into the values of another one of the same shape."""
    alike(output, given, what)
    assigned(output, given)


def recv(tensor, src=0, group=None, tag=0) -> int:
    """Give `tensor` what another process sent; returns the number of that process.

    Raises:
        RuntimeError: there is no other process, or nothing came in time.
        ValueError: another shape or type came.

    Source: MindSpore's `mindspore.mint.distributed.recv`.
    """
    group = check_group(HCCL_WORLD_COMM_GROUP if group is None else group)
    receive_into(check_tensor(tensor, "recv: tensor"), peer(src, group, "recv"), group, tag).wait()
    return src


def irecv(tensor, src=0, group=None, tag=0) -> CommHandle:
    """As `recv`, without waiting: the handle's `wait` gives `tensor` its values.

    Raises:
        RuntimeError: there is no other process.

    Source: MindSpore's `mindspore.mint.distributed.irecv`.
    """
    group = check_group(HCCL_WORLD_COMM_GROUP if group is None else group)
    return receive_into(
        check_tensor(tensor, "irecv: tensor"), peer(src, group, "irecv"), group, tag
    )


def batch_isend_irecv(p2p_op_list) -> list[CommHandle]:
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
