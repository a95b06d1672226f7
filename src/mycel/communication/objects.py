# SPDX-License-Identifier: Apache-2.0
"""Objects of Python that processes give each other, by pickling."""

from __future__ import annotations

from typing import Any

from mycel import communication
from mycel.communication.comm_func import one_each, peer
from mycel.communication.mail import collect_object, post_object, share
from mycel.kernel.base.errors import wrong
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    check_group,
    rank_within,
    ranks_of_own,
)


def _named(group) -> str:
    return check_group(HCCL_WORLD_COMM_GROUP if group is None else group)


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """Put the objects of all processes into a list.

    Args:
        object_list: what is written into, a place for each process.
        obj: what this process has.
        group: the name of a group of processes; None, the default, is that of all.

    Source: MindSpore's `mindspore.mint.distributed.all_gather_object`.

    Example:
        >>> from mycel.mint import distributed
        >>> found = [None]
        >>> distributed.all_gather_object(found, {"loss": 1.5})
        >>> found
        [{'loss': 1.5}]
    """
    group = _named(group)
    one_each(object_list, "all_gather_object: object_list", group)
    object_list[:] = share(obj, ranks_of_own(group, "all_gather_object"), group)


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Put the objects of all processes into a list of the process `dst`.

    Args:
        obj: what this process has.
        object_gather_list: what is written into, a place for each process; None elsewhere.
        dst: the number in the world of the process that gets it, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.

    Source: MindSpore's `mindspore.mint.distributed.gather_object`.

    Example:
        >>> from mycel.mint import distributed
        >>> found = [None]
        >>> distributed.gather_object("here", found)
        >>> found
        ['here']
    """
    group = _named(group)
    root = rank_within(dst, group, "gather_object: dst")
    found = share(obj, ranks_of_own(group, "gather_object"), group)
    if communication.get_rank(group) == root:
        one_each(object_gather_list, "gather_object: object_gather_list", group)
        assert object_gather_list is not None
        object_gather_list[:] = found


def broadcast_object_list(
    object_list: list[Any], src: int = 0, group: str | None = None, device: str | None = None
) -> None:
    """Give a list the objects it has in the process `src`.

    Args:
        object_list: what is sent, and what is written into.
        src: the number in the world of the process that sends, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.
        device: accepted, without effect.

    Source: MindSpore's `mindspore.mint.distributed.broadcast_object_list`.

    Example:
        >>> from mycel.mint import distributed
        >>> distributed.broadcast_object_list(["here"])
    """
    del device
    group = _named(group)
    root = rank_within(src, group, "broadcast_object_list: src")
    _check_list(object_list, "broadcast_object_list")
    if communication.get_group_size(group) > 1:
        mine = communication.get_rank(group) == root
        sent = share(object_list if mine else None, ranks_of_own(group, "broadcast"), group)
        object_list[:] = sent[root]


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None,
    src: int = 0,
    group: str | None = None,
) -> None:
    """Put this process's object of the list of the process `src` into a list.

    Args:
        scatter_object_output_list: a list whose first entry is written.
        scatter_object_input_list: an object for each process; None elsewhere.
        src: the number in the world of the process that sends, 0 by default.
        group: the name of a group of processes; None, the default, is that of all.

    Source: MindSpore's `mindspore.mint.distributed.scatter_object_list`.

    Example:
        >>> from mycel.mint import distributed
        >>> found = [None]
        >>> distributed.scatter_object_list(found, ["here"])
        >>> found
        ['here']
    """
    group = _named(group)
    root = rank_within(src, group, "scatter_object_list: src")
    own = communication.get_rank(group)
    sent = None
    if own == root:
        sent = one_each(scatter_object_input_list, "scatter_object_list: input", group)
    come = share(sent, ranks_of_own(group, "scatter_object_list"), group)[root]
    scatter_object_output_list[0] = come[own]


def send_object_list(
    object_list: list[Any], dst: int, group: str | None = None, device: str | None = None
) -> None:
    """Send the objects of a list to another process, which asks by `recv_object_list`.

    Args:
        object_list: what is sent, by pickling.
        dst: the number in the world of the other process.
        device: accepted, without effect.

    Raises:
        TypeError: no list.
        RuntimeError: there is no other process.
        ValueError: `dst` is this one, or not in the group.

    Source: MindSpore's `mindspore.mint.distributed.send_object_list`.
    """
    del device
    group = _named(group)
    _check_list(object_list, "send_object_list")
    post_object(object_list, peer(dst, group, "send_object_list"), group)


def recv_object_list(
    object_list: list[Any], src: int = 0, group: str | None = None, device: str | None = None
) -> int:
    """Put the objects that another process sends into a list of as many; returns 0.

    Args:
        object_list: what is written into.
        src: the number in the world of the other process, 0 by default.
        device: accepted, without effect.

    Raises:
        TypeError: no list.
        RuntimeError: there is no other process, or nothing came in time.
        ValueError: `src` is this one, or not in the group; or another number of objects came.

    Source: MindSpore's `mindspore.mint.distributed.recv_object_list`.
    """
    del device
    group = _named(group)
    _check_list(object_list, "recv_object_list")
    come = collect_object(peer(src, group, "recv_object_list"), group)
    if len(come) != len(object_list):
        expected = f"{len(come)} places, for what process {src} sent"
        raise wrong(ValueError, "recv_object_list: object_list", expected, len(object_list))
    object_list[:] = come
    return 0


def _check_list(given, what: str) -> None:
    if not isinstance(given, list):
        raise wrong(TypeError, f"{what}: object_list", "a list", type(given).__name__)


__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]
