# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors, and operators of them."""

from mycel.ops.sparse.sparse_tensors import COOTensor, CSRTensor, RowTensor
