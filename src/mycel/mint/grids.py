# SPDX-License-Identifier: Apache-2.0
"""Functions of `mint` that take any number of Tensors."""

from mycel import ops
from mycel.kernel.record.tensor import Tensor


def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Every vector along a dimension of its own: the coordinates of a grid.

    Args:
        tensors: vectors, or one tuple or list of them.
        indexing: 'ij' (None means it) puts the first vector along the first dimension, 'xy' along
            the second.

    Source: MindSpore's `mint.meshgrid`.

    Example:
        >>> print(mint.meshgrid(Tensor([1, 2]), Tensor([3, 4]))[0])
        [[1 1]
         [2 2]]
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    return ops.meshgrid(*tensors, indexing=indexing or "ij")
