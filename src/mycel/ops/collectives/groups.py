# SPDX-License-Identifier: Apache-2.0
"""The groups of processes that compute together, by their names."""

from __future__ import annotations

from mycel.kernel.base import backend
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.base.processes import VARIABLES, asked, check_joined, world
from mycel.kernel.base.version import __version__

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
# The world has a name for each kind of device.
WORLDS = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)

UNKNOWN_GROUP = (
    "There is no group {group!r} of processes (at {place}). Known: {known}. "
    "Make one with create_group(name, [0])."
)
NOBODY = (
    "{what} needs another process, but mycel {version} computes in one process (at {place}). "
    "Send and receive only where get_group_size() > 1."
)
OUTSIDE = (
    "Process {rank} is not in the group {group!r} of {ranks}, so it cannot take part in {what} "
    "(at {place}). Call it where get_rank() is one of those."
)

# The groups that were created, by their names.
groups: dict[str, tuple[int, ...]] = {}


def meet() -> None:
    """Meet the other processes, if a launcher started some.

    Raises:
        RuntimeError: it did not say where they meet, or they did not come.

    Example:
        >>> from mycel.ops.collectives.groups import meet
        >>> meet()
    """
    if asked() is not None:
        backend.begin()
    check_joined()


def check_group(group) -> str:
    """The name of a group, if it exists.

    Raises:
        TypeError: the group is not a string.
        ValueError: there is no such group.
        RuntimeError: a launcher started several processes that cannot meet.

    Example:
        >>> from mycel.ops.collectives.groups import check_group
        >>> check_group("nccl_world_group")
        'nccl_world_group'
    """
    if not isinstance(group, str):
        raise wrong(TypeError, "group", "the name of a group", f"{type(group).__name__} {group!r}")
    if group not in WORLDS and group not in groups:
        known = ", ".join((*WORLDS, *groups))
        raise ValueError(UNKNOWN_GROUP.format(group=group, place=user_place(), known=known))
    meet()
    return group


def ranks_of(group) -> tuple[int, ...]:
    """The processes of a group, by their numbers in the world.

    Raises:
        As `check_group`.

    Example:
        >>> from mycel.ops.collectives.groups import ranks_of
        >>> ranks_of("nccl_world_group")
        (0,)
    """
    return groups.get(check_group(group)) or tuple(range(world.size))


def ranks_of_own(group, what: str) -> tuple[int, ...]:
    """The processes of a group of which this is one.

    Raises:
        RuntimeError: it is not.

    Example:
        >>> from mycel.ops.collectives.groups import ranks_of_own
        >>> ranks_of_own("nccl_world_group", "AllReduce")
        (0,)
    """
    ranks = ranks_of(group)
    if world.rank not in ranks:
        text = OUTSIDE.format(
            rank=world.rank, group=group, ranks=list(ranks), what=what, place=user_place()
        )
        raise RuntimeError(text)
    return ranks


def check_rank(rank, what: str, count: int | None = None) -> int:
    """The number of a process.

    Args:
        count: of how many, by default of all.

    Raises:
        TypeError: the rank is not an integer.
        ValueError: there is no such process.

    Example:
        >>> from mycel.ops.collectives.groups import check_rank
        >>> check_rank(0, "src")
        0
    """
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise wrong(TypeError, what, "a process number", f"{type(rank).__name__} {rank!r}")
    count = world.size if count is None else count
    if not 0 <= rank < count:
        expected = "0, the only process" if count == 1 else f"from 0 to {count - 1}"
        raise wrong(ValueError, what, expected, rank)
    return rank


def rank_within(rank, group, what: str) -> int:
    """The number within a group of a process of the world.

    Raises:
        TypeError: the rank is not an integer.
        ValueError: the process is not in the group.

    Example:
        >>> from mycel.ops.collectives.groups import rank_within
        >>> rank_within(0, "nccl_world_group", "src")
        0
    """
    ranks = ranks_of(group)
    if check_rank(rank, what) not in ranks:
        raise wrong(ValueError, what, f"one of {list(ranks)}, those of the group", rank)
    return ranks.index(rank)


def nobody(what: str) -> RuntimeError:
    """The error of an operator that needs another process."""
    meet()
    return RuntimeError(NOBODY.format(what=what, version=__version__, place=user_place()))


__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "VARIABLES",
    "WORLDS",
    "check_group",
    "check_rank",
    "groups",
    "meet",
    "nobody",
    "rank_within",
    "ranks_of",
    "ranks_of_own",
    "world",
]
