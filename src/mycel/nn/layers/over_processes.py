# SPDX-License-Identifier: Apache-2.0
"""Batch normalisation over the batches of several processes, each of which has its own."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.division import division
from mycel.kernel.base.dtypes import float32, float64
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import count, number
from mycel.kernel.record.tensor import Tensor
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP, groups, ranks_of


def is_apart(group: str | None) -> bool:
    """Whether there are other processes in a group with batches of their own. Where Tensors are
    whole, XLA sums over the devices that a batch is spread over."""
    return division.grid is None and len(ranks_of(group or HCCL_WORLD_COMM_GROUP)) > 1


def group_among(process_groups, what: str) -> str | None:
    """The name of the group, of several lists of process numbers, that this process is in; alone,
    if it is in none. None if there are no lists.

    Raises:
        TypeError: it is not a list of lists.
        ValueError: a number is no process, or comes twice.
    """
    if process_groups is None:
        return None
    if not all(isinstance(ranks, (list, tuple)) for ranks in (process_groups, *process_groups)):
        raise wrong(TypeError, what, "a list of lists of process numbers", process_groups)
    members = [rank for ranks in process_groups for rank in ranks]
    if len(set(members)) < len(members) or not set(members) <= set(range(count())):
        expected = f"different numbers from 0 to {count() - 1}"
        raise wrong(ValueError, what, expected, process_groups)
    own = next((tuple(ranks) for ranks in process_groups if number() in ranks), (number(),))
    name = f"batches of {', '.join(map(str, own))}"
    groups[name] = own
    return name


def batch_norm_over_processes(
    x: Tensor, weight, bias, epsilon: float, group: str | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x normalised over the batches of all processes of a group, which may be of unlike length.

    Args:
        x: [N, C, …].
        weight, bias: [C], or None.

    Returns:
        The output like x; mean, variance and unbiased variance of all batches, [C].
    """
    total = ops.AllReduce(ops.ReduceOp.SUM, group or HCCL_WORLD_COMM_GROUP)
    axes, each = (0, *range(2, x.ndim)), (-1,) + (1,) * (x.ndim - 2)
    wide = x if x.dtype is float64 else x.astype(float32)
    elements = total(Tensor(float(x.size // x.shape[1]), float32))
    mean = total(wide.sum(axes)) / elements
    centred = wide - mean.reshape(each)
    squares = total((centred * centred).sum(axes))
    variance = squares / elements
    scale = ops.rsqrt(variance + epsilon)
    if weight is not None:
        scale = scale * weight
    output = centred * scale.reshape(each)
    if bias is not None:
        output = output + bias.reshape(each)
    return output.astype(x.dtype), mean, variance, squares / ops.maximum(elements - 1, 1)
