# SPDX-License-Identifier: Apache-2.0
"""Operators among processes: each is one small program that all processes of a group run.

Its array function sees the array of its own process and names the others by the axis `AXIS`, as
within `jax.shard_map`; so JAX differentiates and maps it as any other. The arrays of the processes
go in and come out as one that claims to be the same everywhere, which it is not: each process has
the array of its own. This claim never leaves `Collective.communicate`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from mycel.kernel.base import processes
from mycel.kernel.define.op import Op, nothing_flows, reverse_function

_SAME = PartitionSpec()


class Mismatch(Exception):
    """The processes of a group called operators that do not fit together; why, if that is known."""


class Collective(Op):
    """An Op that processes compute together. It runs at once when it is recorded, for others wait.

    Attributes:
        spread: the array function, of this process's arrays, over the axis `processes.AXIS`.
        ranks: the processes that take part, in their order within the group.
    """

    __slots__ = ("_program", "ranks", "spread")

    collective = True

    def __init__(self, name: str, spread: Callable, ranks: tuple[int, ...]):
        super().__init__(name, partial(_spread_over, spread, ranks), fallible=True)
        self.spread, self.ranks = spread, ranks
        self._program: Callable | None = None

    def communicate(self, arrays) -> list:
        """The results for this process, once they are there.

        Raises:
            Mismatch: another process called another operator, or with other shapes or types.
        """
        mesh = processes.mesh_of(self.ranks)
        own = mesh.devices[self.ranks.index(processes.world.rank)]
        same = NamedSharding(mesh, _SAME)
        lifted = []
        for array in arrays:
            here = jax.device_put(array, own)
            lifted.append(jax.make_array_from_single_device_arrays(here.shape, same, [here]))
        if self._program is None:
            spread = (
                partial(_if_all_call, self.name, self.spread) if processes.checks() else self.spread
            )
            self._program = jax.jit(partial(_spread_over, spread, self.ranks))
        results = jax.block_until_ready(self._program(*lifted))
        if processes.checks():
            same, results = results
            if not same.addressable_shards[0].data:
                raise Mismatch
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [result.addressable_shards[0].data for result in results]

    def reverse(self, mask: tuple[bool, ...], present: tuple[bool, ...]) -> Op:
        """The Op of the gradients: processes compute it together as well."""
        backward = self._reverses.get((mask, present))
        if backward is None:
            spread = reverse_function(self.spread, mask, present)
            backward = Collective(self.name + "'", spread, self.ranks)
            self._reverses[(mask, present)] = backward
        return backward

    def batched(self, mask: tuple[bool, ...]) -> Op:
        """The Op over one more leading axis."""
        batched = self._batched.get(mask)
        if batched is None:
            spread = jax.vmap(self.spread, tuple([0 if mapped else None for mapped in mask]))
            batched = Collective(f"vmap({self.name})", spread, self.ranks)
            if self.rule is nothing_flows:
                batched.rule = nothing_flows
            self._batched[mask] = batched
        return batched


def _spread_over(spread: Callable, ranks: tuple[int, ...], *arrays):
    mesh = processes.mesh_of(ranks)
    together = jax.shard_map(spread, mesh=mesh, in_specs=_SAME, out_specs=_SAME, check_vma=False)
    return together(*arrays)


def _if_all_call(name: str, spread: Callable, *arrays):
    """(Whether all processes are here with this operator and the like of these arrays, the results
    or, if they are not, zeros)."""
    told = f"{name} {[(str(array.dtype), array.shape) for array in arrays]}"
    digest = hashlib.blake2b(told.encode(), digest_size=8).digest()
    mark = jnp.asarray(np.frombuffer(digest, np.uint64)[0])
    same = jnp.all(lax.all_gather(mark, processes.AXIS) == mark)
    like = jax.eval_shape(spread, *arrays)

    def nothing(*arrays):
        return jax.tree.map(lambda one: jnp.zeros(one.shape, one.dtype), like)

    return same, lax.cond(same, spread, nothing, *arrays)
