# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `communication`: which of how many processes this is, and groups of them."""

from __future__ import annotations

import os

from mycel.kernel.base import log
from mycel.kernel.base.backend import default_target
from mycel.kernel.base.context import get_context
from mycel.kernel.base.errors import wrong
from mycel.ops.collectives import groups
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    MCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
    check_group,
    check_rank,
    meet,
    rank_within,
    ranks_of,
    ranks_of_own,
    world,
)

_BACKENDS = {
    "hccl": HCCL_WORLD_COMM_GROUP,
    "nccl": NCCL_WORLD_COMM_GROUP,
    "mccl": MCCL_WORLD_COMM_GROUP,
}
_BY_TARGET = {"CPU": "mccl", "GPU": "nccl"}


class GlobalComm:
    """What `init` set up: the words of MindSpore for the world and how it is reached.

    Example:
        >>> from mycel.communication import GlobalComm
        >>> GlobalComm.WORLD_COMM_GROUP in ("hccl_world_group", "mccl_world_group")
        True
    """

    BACKEND: str = "hccl"
    WORLD_COMM_GROUP: str = HCCL_WORLD_COMM_GROUP
    INITED: bool = False
    CHECK_ENVS = True


def init(backend_name=None) -> None:
    """Meet the other processes that `mycel launch` or `msrun` started; with one, nothing is done.

    Args:
        backend_name: "hccl", "nccl" or "mccl"; by default the one MindSpore has for the device. XLA
            talks to the other processes by its own means, whatever the name.

    Raises:
        RuntimeError: the others did not come, or nothing tells where they meet.
        ValueError: another name.

    Source: MindSpore's `mindspore.communication.init`.

    Example:
        >>> from mycel import communication
        >>> communication.init()
        >>> communication.get_rank(), communication.get_group_size()
        (0, 1)
    """
    if backend_name is None:
        target = get_context("device_target") or default_target()
        backend_name = _BY_TARGET.get(target, "hccl")
    if backend_name not in _BACKENDS:
        known = ", ".join(_BACKENDS)
        raise wrong(ValueError, "init: backend_name", f"one of {known}", repr(backend_name))
    meet()
    if world.size == 1:
        log.note_once("communication: one process; collective operators hand on their inputs")
    GlobalComm.BACKEND = backend_name
    GlobalComm.WORLD_COMM_GROUP = _BACKENDS[backend_name]
    GlobalComm.INITED = True


def release() -> None:
    """End what `init` began; created groups are forgotten.

    Source: MindSpore's `mindspore.communication.release`.

    Example:
        >>> from mycel import communication
        >>> communication.release()
        >>> communication.is_initialized()
        False
    """
    GlobalComm.INITED = False
    groups.groups.clear()


def is_initialized() -> bool:
    """Whether `init` was called.

    Example:
        >>> from mycel import communication
        >>> communication.init()
        >>> communication.is_initialized()
        True
    """
    return GlobalComm.INITED


def get_rank(group=HCCL_WORLD_COMM_GROUP) -> int:
    """Which process of a group this is, from 0.

    Raises:
        RuntimeError: this process is not in the group, or nothing tells where processes meet.
        ValueError: no such group.

    Source: MindSpore's `mindspore.communication.get_rank`.

    Example:
        >>> from mycel import communication
        >>> communication.get_rank()
        0
    """
    return ranks_of_own(group, "get_rank").index(world.rank)


def get_group_size(group=HCCL_WORLD_COMM_GROUP) -> int:
    """How many processes a group has.

    Raises:
        RuntimeError: nothing tells where the processes meet that a launcher started.
        ValueError: no such group.

    Source: MindSpore's `mindspore.communication.get_group_size`.

    Example:
        >>> from mycel import communication
        >>> communication.get_group_size()
        1
    """
    return len(ranks_of(group))


def get_local_rank(group=HCCL_WORLD_COMM_GROUP) -> int:
    """Which process of a group on this machine this is, from 0.

    The launcher says how many processes run on a machine (MS_LOCAL_WORKER_NUM or LOCAL_WORLD_SIZE);
    without it, all do.

    Source: MindSpore's `mindspore.communication.get_local_rank`.

    Example:
        >>> from mycel import communication
        >>> communication.get_local_rank()
        0
    """
    own = ranks_of_own(group, "get_local_rank")
    return _of_this_machine(own).index(world.rank)


def _of_this_machine(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Those of these processes that run on this machine: launchers number them in a row."""
    told = os.environ.get("MS_LOCAL_WORKER_NUM") or os.environ.get("LOCAL_WORLD_SIZE") or ""
    count = int(told) if told.isdigit() and int(told) else world.size
    return tuple(rank for rank in ranks if rank // count == world.rank // count)


def get_local_rank_size(group=HCCL_WORLD_COMM_GROUP) -> int:
    """How many processes of a group run on this machine.

    Source: MindSpore's `mindspore.communication.get_local_rank_size`.

    Example:
        >>> from mycel import communication
        >>> communication.get_local_rank_size()
        1
    """
    return len(_of_this_machine(ranks_of(group)))


def create_group(group, rank_ids, options=None) -> None:
    """Give a name to some of the processes. Every process calls it, with the same list.

    Args:
        group: the new name.
        rank_ids: a list of process numbers; their order is that of the group.
        options: accepted, without effect.

    Raises:
        TypeError: no name, or no list of numbers.
        ValueError: a process that does not exist, or a name that is taken.

    Source: MindSpore's `mindspore.communication.create_group`.

    Example:
        >>> from mycel import communication
        >>> communication.create_group("pair", [0])
        >>> communication.get_group_size("pair")
        1
        >>> communication.destroy_group("pair")
    """
    if options is not None:
        log.note_once(f"create_group(options={options!r}) has no effect")
    if not isinstance(group, str):
        raise wrong(TypeError, "create_group: group", "a name", type(group).__name__)
    if group in groups.groups or group in _BACKENDS.values():
        raise wrong(ValueError, "create_group: group", "a new name", repr(group))
    if not isinstance(rank_ids, (list, tuple)):
        raise wrong(TypeError, "create_group: rank_ids", "a list", type(rank_ids).__name__)
    meet()
    ranks = tuple(rank_ids)
    if not ranks or len(set(ranks)) < len(ranks) or not set(ranks) <= set(range(world.size)):
        others = f"different numbers from 0 to {world.size - 1}"
        expected = "[0], the only process" if world.size == 1 else others
        raise wrong(ValueError, "create_group: rank_ids", expected, rank_ids)
    groups.groups[group] = ranks


def destroy_group(group) -> None:
    """Forget a group that was created.

    Raises:
        ValueError: no such group, or the world.

    Source: MindSpore's `mindspore.communication.destroy_group`.

    Example:
        >>> from mycel import communication
        >>> communication.create_group("some", [0])
        >>> communication.destroy_group("some")
    """
    if group in _BACKENDS.values():
        raise wrong(ValueError, "destroy_group: group", "a group that was created", repr(group))
    del groups.groups[check_group(group)]


def get_world_rank_from_group_rank(group, group_rank_id) -> int:
    """The number in the world of a process of a group.

    Source: MindSpore's `mindspore.communication.get_world_rank_from_group_rank`.

    Example:
        >>> from mycel import communication
        >>> communication.get_world_rank_from_group_rank("hccl_world_group", 0)
        0
    """
    ranks = ranks_of(group)
    return ranks[check_rank(group_rank_id, "group_rank_id", len(ranks))]


def get_group_rank_from_world_rank(world_rank_id, group) -> int:
    """The number in a group of a process of the world.

    Source: MindSpore's `mindspore.communication.get_group_rank_from_world_rank`.

    Example:
        >>> from mycel import communication
        >>> communication.get_group_rank_from_world_rank(0, "hccl_world_group")
        0
    """
    return rank_within(world_rank_id, group, "world_rank_id")


def get_process_group_ranks(group=HCCL_WORLD_COMM_GROUP) -> list[int]:
    """The numbers in the world of the processes of a group.

    Source: MindSpore's `mindspore.communication.get_process_group_ranks`.

    Example:
        >>> from mycel import communication
        >>> communication.get_process_group_ranks()
        [0]
    """
    return list(ranks_of(group))


def get_comm_name(group=HCCL_WORLD_COMM_GROUP) -> str:
    """The name of a group as the library beneath knows it: the name itself.

    Source: MindSpore's `mindspore.communication.get_comm_name`.

    Example:
        >>> from mycel import communication
        >>> communication.get_comm_name()
        'hccl_world_group'
    """
    return check_group(group)


__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "create_group",
    "destroy_group",
    "get_comm_name",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]
