# SPDX-License-Identifier: Apache-2.0
"""Layers that take sparse Tensors."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.ops.sparse.sparse_functions import sparse_tensor_dense_matmul
from mycel.ops.sparse.sparse_tensors import COOTensor


class SparseToDense(Cell):
    """A COOTensor as a Tensor, with 0 where it has no value.

    Source: MindSpore's `nn.SparseToDense`.

    Example:
        >>> x = ms.COOTensor(Tensor([[0, 1]]), Tensor([5]), (1, 2))
        >>> print(nn.SparseToDense()(x))
        [[0 5]]
    """

    def construct(self, sparse_tensor) -> Tensor:
        """The whole as a Tensor."""
        if not isinstance(sparse_tensor, COOTensor):
            actual = type(sparse_tensor).__name__
            raise wrong(TypeError, "The input of SparseToDense", "a COOTensor", actual)
        return sparse_tensor.to_dense()


class SparseTensorDenseMatmul(Cell):
    """The product of a sparse matrix and a matrix.

    Args:
        adjoint_st, adjoint_dt: exchange the dimensions of a factor first, and conjugate it.

    Source: MindSpore's `nn.SparseTensorDenseMatmul`.

    Example:
        >>> multiply = nn.SparseTensorDenseMatmul()
        >>> print(multiply(Tensor([[0, 1]]), Tensor([5.0]), (1, 2), Tensor([[1.0], [2.0]])))
        [[10.]]
    """

    def __init__(self, adjoint_st=False, adjoint_dt=False):
        super().__init__()
        self.adj_st, self.adj_dt = bool(adjoint_st), bool(adjoint_dt)

    def construct(self, indices, values, sparse_shape, dense) -> Tensor:
        """The product."""
        turn, turn_dense = self.adj_st, self.adj_dt
        return sparse_tensor_dense_matmul(
            indices, values, dense, shape=sparse_shape, turn=turn, turn_dense=turn_dense
        )
