# SPDX-License-Identifier: Apache-2.0
"""Gradients of several processes together, and the Parameters of one in all of them."""

from __future__ import annotations

import math
from functools import cache

import jax.numpy as jnp

from mycel import ops
from mycel.kernel.base.parallel_settings import parallel, reduces_gradients
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import apply1, applyn
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import positive_integer
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP, check_group, ranks_of
from mycel.ops.collectives.table import collective

_PACK = Op("pack", lambda *arrays: jnp.concatenate([array.ravel() for array in arrays]))


@cache
def _unpack(shapes: tuple[tuple[int, ...], ...]) -> Op:
    """The Op that takes a vector apart into arrays of these shapes."""

    def function(vector):
        parts, start = [], 0
        for shape in shapes:
            end = start + math.prod(shape)
            parts.append(vector[start:end].reshape(shape))
            start = end
        return tuple(parts)

    return Op("unpack", function)


def together(name: str, group: str, tensors, **statics) -> list[Tensor]:
    """Apply an operator among processes to many Tensors: once for each element type.

    Args:
        name: one that works on every element alike, as AllReduce and Broadcast do.
        statics: what it takes by keyword.

    Example:
        >>> from mycel.nn.reducing import together
        >>> print(together("AllReduce", "hccl_world_group", [Tensor([1.0])], op="sum")[0])
        [1.]
    """
    tensors = list(tensors)
    by_dtype: dict = {}
    for index, tensor in enumerate(tensors):
        by_dtype.setdefault(tensor.dtype, []).append(index)
    for indices in by_dtype.values():
        members = [tensors[index] for index in indices]
        vector = collective(name, group, applyn(_PACK, members), **statics)
        parts = apply1(_unpack(tuple([member.shape for member in members])), vector)
        for index, part in zip(indices, parts, strict=True):
            tensors[index] = part
    return tensors


class DistributedGradReducer(Cell):
    """Gradients of all processes together: their sum, or their mean.

    They travel as one vector for each element type. Of one process these are its own gradients;
    with `mean` they are divided by `degree`.

    Args:
        parameters: the Parameters that are trained. Gradients of those that are
            `layerwise_parallel`, of which each process has its own, stay as they are.
        mean: whether to take the mean; None asks `set_auto_parallel_context(gradients_mean=...)`.
        degree: by how much the sum is divided for the mean; None is the number of processes.
        fusion_type: accepted; gradients are fused in any case.
        group: the name of a group of processes.

    Raises:
        TypeError: `degree` is not an integer.
        ValueError: `degree` is not above 0, or there is no such group.

    Source: MindSpore's `mindspore.nn.DistributedGradReducer`.

    Example:
        >>> net = nn.Dense(2, 1)
        >>> reducer = nn.DistributedGradReducer(net.trainable_params(), True, 1)
        >>> print(reducer((Tensor([1.0, 2.0]),))[0])
        [1. 2.]
    """

    def __init__(
        self, parameters, mean=None, degree=None, fusion_type=1, group=HCCL_WORLD_COMM_GROUP
    ):
        super().__init__(auto_prefix=False)
        del fusion_type
        self._is_own = [parameter.layerwise_parallel for parameter in parameters]
        self.group = check_group(group)
        self.mean = parallel.get("gradients_mean") if mean is None else bool(mean)
        self.degree = len(ranks_of(group))
        if degree is not None:
            self.degree = positive_integer(degree, "DistributedGradReducer.degree")

    def construct(self, grads):
        """The gradients of this process, as those of all."""
        if not any(self._is_own):
            return tuple(self._reduced(grads))
        both = list(zip(self._is_own, grads, strict=True))
        reduced = iter(self._reduced([gradient for is_own, gradient in both if not is_own]))
        return tuple(gradient if is_own else next(reduced) for is_own, gradient in both)

    def _reduced(self, grads):
        if len(ranks_of(self.group)) > 1:
            grads = together("AllReduce", self.group, grads, op="sum")
        if self.degree == 1 or not self.mean:
            return grads
        return [gradient * (1.0 / self.degree) for gradient in grads]


def broadcast_parameters(parameters, group: str = HCCL_WORLD_COMM_GROUP) -> None:
    """Give all processes the values that Parameters have in the first one, but for those of which
    each has its own.

    Example:
        >>> from mycel.nn.reducing import broadcast_parameters
        >>> broadcast_parameters(nn.Dense(2, 1).get_parameters())
    """
    parameters = [parameter for parameter in parameters if not parameter.layerwise_parallel]
    if len(ranks_of(group)) > 1 and parameters:
        values = together("Broadcast", group, parameters, root=0)
        for parameter, value in zip(parameters, values, strict=True):
            ops.assign(parameter, value)


def broadcasts_parameters() -> bool:
    """Whether the first step of training is to do that."""
    return reduces_gradients() and parallel.get("parameter_broadcast")
