# SPDX-License-Identifier: Apache-2.0
"""The processes that compute together: here always one, and the groups that consist of it."""

from __future__ import annotations

import os

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.base.version import __version__

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"

# What launchers tell each process about how many there are.
VARIABLES = ("RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "MS_WORKER_NUM", "PMI_SIZE")
MANY_PROCESSES = (
    "This program was started as one of {count} processes ({variable}={count}), but mycel "
    "{version} computes in one process (at {place}). Start it without a launcher such as mpirun "
    "or msrun, or unset {variable}; with one process every collective operator hands on its input."
)
UNKNOWN_GROUP = (
    "There is no group {group!r} of processes (at {place}). Known: {known}. "
    "Make one with create_group(name, [0])."
)
NOBODY = (
    "{what} needs another process, but mycel {version} computes in one process (at {place}). "
    "Send and receive only where get_group_size() > 1."
)

# Names of groups by what they consist of; the world has a name for each kind of device.
groups: dict[str, tuple[int, ...]] = {
    HCCL_WORLD_COMM_GROUP: (0,),
    NCCL_WORLD_COMM_GROUP: (0,),
    MCCL_WORLD_COMM_GROUP: (0,),
}


def check_alone() -> None:
    """Raise if a launcher started more than one process.

    Raises:
        RuntimeError: a launcher started more than one process.

    Example:
        >>> from mycel.ops.processes import check_alone
        >>> check_alone()
    """
    for variable in VARIABLES:
        count = os.environ.get(variable, "")
        if count.isdigit() and int(count) > 1:
            raise RuntimeError(
                MANY_PROCESSES.format(
                    count=count, variable=variable, version=__version__, place=user_place()
                )
            )


def check_group(group) -> str:
    """The name of a group, if it exists and this process is all there is.

    Raises:
        TypeError: the group is not a string.
        ValueError: there is no such group.

    Example:
        >>> from mycel.ops.processes import check_group
        >>> check_group("nccl_world_group")
        'nccl_world_group'
    """
    if not isinstance(group, str):
        raise wrong(TypeError, "group", "the name of a group", f"{type(group).__name__} {group!r}")
    if group not in groups:
        known = ", ".join(groups)
        raise ValueError(UNKNOWN_GROUP.format(group=group, place=user_place(), known=known))
    check_alone()
    return group


def check_rank(rank, what: str) -> int:
    """The number of a process, which is 0.

    Raises:
        TypeError: the rank is not an integer.
        ValueError: the rank is not 0.

    Example:
        >>> from mycel.ops.processes import check_rank
        >>> check_rank(0, "src")
        0
    """
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise wrong(TypeError, what, "a process number", f"{type(rank).__name__} {rank!r}")
    if rank != 0:
        raise wrong(ValueError, what, "0, the only process", rank)
    return rank


def nobody(what: str) -> RuntimeError:
    """The error of an operator that needs another process."""
    check_alone()
    return RuntimeError(NOBODY.format(what=what, version=__version__, place=user_place()))
