# SPDX-License-Identifier: Apache-2.0
"""The one table of operators among processes: what each computes, and how it is spelled.

Every function sees the array of its own process. `AXIS` names the processes of the group; JAX
differentiates through it, as if what is differentiated were the sum of what all of them return.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import AXIS
from mycel.kernel.define.collective import Collective
from mycel.kernel.record.dispatch import applyn
from mycel.ops.array.copying import identity
from mycel.ops.collectives.groups import ranks_of_own


def _all_reduce(x, *, op):
    if op == "prod":
        return jnp.prod(lax.all_gather(x, AXIS), axis=0).astype(x.dtype)
    if op in ("max", "min"):
        return _extreme(x, op)
    total = lax.psum(x, AXIS)
    return total if op == "sum" else _divided(total, x.dtype)


def _divided(total, dtype):
    """A sum as the mean; of integers, rounded towards zero."""
    return lax.div(total, jnp.asarray(lax.axis_size(AXIS), total.dtype)).astype(dtype)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _extreme(x, op):
    """NaN where one has NaN: on a CPU the exchange itself takes the other one's number."""
    extreme, worst = (lax.pmax, -jnp.inf) if op == "max" else (lax.pmin, jnp.inf)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return extreme(x, AXIS)
    is_nan = jnp.isnan(x)
    marks = jnp.where(is_nan, -worst, worst).astype(x.dtype)
    found, marks = extreme(jnp.stack([jnp.where(is_nan, worst, x), marks]), AXIS)
    return jnp.where(marks == -worst, jnp.nan, found)


def _extreme_forward(x, op):
    found = _extreme(x, op)
    return found, (x, found)


def _extreme_reverse(op, kept, cotangent):
    """As in MindSpore: whoever has the extreme gets the whole gradient."""
    del op
    x, found = kept
    return (jnp.where(x == found, lax.psum(cotangent, AXIS), 0).astype(x.dtype),)


_extreme.defvjp(_extreme_forward, _extreme_reverse)


def _all_gather(x):
    if 0 in x.shape:  # XLA refuses to divide nothing
        return jnp.zeros((x.shape[0] * lax.axis_size(AXIS), *x.shape[1:]), x.dtype)
    return lax.all_gather(x, AXIS, tiled=True)


def _reduce_scatter(x, *, op):
    if 0 in x.shape:
        return jnp.zeros((x.shape[0] // lax.axis_size(AXIS), *x.shape[1:]), x.dtype)
    if op in ("sum", "avg"):
        total = lax.psum_scatter(x, AXIS, tiled=True)
        return total if op == "sum" else _divided(total, x.dtype)
    parts = x.reshape(lax.axis_size(AXIS), -1, *x.shape[1:])
    reduce = {"max": jnp.max, "min": jnp.min, "prod": jnp.prod}[op]
    return reduce(lax.all_to_all(parts, AXIS, 0, 0), axis=0).astype(x.dtype)


def _reduce(x, *, op, root):
    return _only(_all_reduce(x, op=op), root)


def _only(x, root):
    """The array in one process, zeros in the others."""
    return jnp.where(lax.axis_index(AXIS) == root, x, jnp.zeros((), x.dtype))


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _sent_by(x, root):
    """The bits of one process in all: a sum of integers, since a sum of numbers loses -0.0."""
    if x.dtype == bool:
        return lax.psum(_only(x, root).astype("uint8"), AXIS).astype(bool)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return lax.complex(_sent_by(x.real, root), _sent_by(x.imag, root))
    kind = f"uint{8 * x.dtype.itemsize}"
    bits = lax.psum(_only(lax.bitcast_convert_type(x, kind), root), AXIS)
    return lax.bitcast_convert_type(bits, x.dtype)


def _sent_by_reverse(root, _, cotangent):
    return (_only(lax.psum(cotangent, AXIS), root),)


_sent_by.defvjp(lambda x, root: (_sent_by(x, root), None), _sent_by_reverse)


def _broadcast(x, *, root):
    return _sent_by(x, root)


def _all_to_all(x, *, split, concat):
    return lax.all_to_all(x, AXIS, split, concat, tiled=True)


def _gather(x, *, root):
    return _only(_all_gather(x), root)


def _scatter(x, *, root):
    parts = x.reshape(lax.axis_size(AXIS), -1, *x.shape[1:])
    return lax.all_to_all(parts, AXIS, 0, 0)[root]


class Row(NamedTuple):
    """One operator among processes.

    Attributes:
        function: the array function of each process.
        function_name, mint_names: its names in `comm_func` and in `mint.distributed`; the primitive
            of `ops` has the name of the row.
    """

    function: Callable
    function_name: str
    mint_names: tuple[str, ...]


TABLE = {
    "AllReduce": Row(_all_reduce, "all_reduce", ("all_reduce",)),
    "AllGather": Row(
        _all_gather, "all_gather_into_tensor", ("all_gather_into_tensor", "all_gather")
    ),
    "ReduceScatter": Row(
        _reduce_scatter, "reduce_scatter_tensor", ("reduce_scatter_tensor", "reduce_scatter")
    ),
    "Reduce": Row(_reduce, "reduce", ("reduce",)),
    "Broadcast": Row(_broadcast, "broadcast", ("broadcast",)),
    "AlltoAll": Row(
        _all_to_all, "all_to_all_with_output_shape", ("all_to_all_single", "all_to_all")
    ),
    "CollectiveGather": Row(_gather, "gather_into_tensor", ("gather",)),
    "CollectiveScatter": Row(_scatter, "scatter_tensor", ("scatter",)),
}


def collective(name: str, group: str, x, told: str = "", **statics) -> Any:
    """Apply the operator of a row; with one process, the same values in a Tensor of their own.

    Args:
        group: the name of a group of processes, of which this is one.
        told: what it is called in messages; by default by its name.
        statics: what the row's function takes by keyword.

    Example:
        >>> from mycel.ops.collectives.table import collective
        >>> print(collective("AllReduce", "hccl_world_group", Tensor([1.0, 2.0]), op="sum"))
        [1. 2.]
    """
    ranks = ranks_of_own(group, name)
    if len(ranks) == 1:
        return identity(x)
    if statics.get("op") in ("max", "min") and x.dtype.name.startswith("complex"):
        raise wrong(TypeError, f"{told or name}({statics['op']})", "real numbers", str(x.dtype))
    return applyn(_op(name, ranks, tuple(statics.items()), told), (x,))


@cache
def _op(name: str, ranks: tuple[int, ...], statics: tuple, told: str) -> Collective:
    given = ", ".join(f"{value}" if key == "op" else f"{key}={value}" for key, value in statics)
    function = partial(TABLE[name].function, **dict(statics))
    return Collective(told or (f"{name}({given})" if given else name), function, ranks)
