# SPDX-License-Identifier: Apache-2.0
"""Tables of vectors that are looked up by number, also several fields at once."""

from __future__ import annotations

from mycel import ops
from mycel.init import initializer
from mycel.kernel.base.dtypes import as_dtype, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import note_once
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, number, one_of, positive_integer
from mycel.nn.layers.operators import shortened

OPERATORS = ("SUM", "MAX", "MEAN")


class EmbeddingLookup(Cell):
    """A row of a trained table for each number: (…) to (…, embedding_size).

    A number that no row has gives zeros.

    Args:
        vocab_size, embedding_size: rows and columns of the table.
        param_init: an initialiser, its name, a number or a Tensor.
        target: 'CPU' or 'DEVICE'; accepted, the table lies where the program runs.
        slice_mode, manual_shapes: accepted; how MindSpore spreads the table over devices.
        max_norm: shorten each row that is looked up to this length.
        sparse: LazyAdam, FTRL and ProximalAdagrad leave the rows alone whose gradient is zero, and
            Adam does not let them decay; must be True with the target 'CPU'.
        dtype: the element type of the table.
        vocab_cache_size: accepted; of older MindSpore, for a table on a server.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size is not positive, or the target is unknown.

    Source: MindSpore's `mindspore.nn.EmbeddingLookup`.

    Example:
        >>> layer = nn.EmbeddingLookup(2, 2, Tensor([[0.0, 1.0], [2.0, 3.0]]))
        >>> print(layer(Tensor([1, 7], mycel.int32)))
        [[2. 3.]
         [0. 0.]]
    """

    # What `slice_mode` is chosen from.
    BATCH_SLICE = "batch_slice"
    FIELD_SLICE = "field_slice"
    TABLE_ROW_SLICE = "table_row_slice"
    TABLE_COLUMN_SLICE = "table_column_slice"

    def __init__(
        self,
        vocab_size,
        embedding_size,
        param_init="normal",
        target="CPU",
        slice_mode="batch_slice",
        manual_shapes=None,
        max_norm=None,
        sparse=True,
        dtype=float32,
        vocab_cache_size=0,
    ):
        super().__init__()
        if vocab_cache_size:
            note_once("EmbeddingLookup.vocab_cache_size has no effect: the table is in one place.")
        name = type(self).__name__
        self.vocab_size = positive_integer(vocab_size, f"{name}.vocab_size")
        self.embedding_size = positive_integer(embedding_size, f"{name}.embedding_size")
        self.target = one_of(target, f"{name}.target", ("CPU", "DEVICE"))
        self.sparse = boolean(sparse, f"{name}.sparse")
        if target == "CPU" and not sparse:
            raise wrong(ValueError, f"{name}.sparse", "True with target='CPU'", sparse)
        self.slice_mode = slice_mode
        self.manual_shapes = manual_shapes
        self.max_norm = max_norm
        if max_norm is not None:
            self.max_norm = number(max_norm, f"{name}.max_norm", "above 0", lambda n: n > 0)
        table = initializer(param_init, (vocab_size, embedding_size), as_dtype(dtype))
        self.embedding_table = Parameter(table, name="embedding_table")
        self.embedding_table._has_sparse_gradient = self.sparse

    def construct(self, indices) -> Tensor:
        """The rows."""
        rows = ops.EmbeddingLookup()(self.embedding_table, indices, 0)
        if self.max_norm is None:
            return rows
        return shortened(rows, self.max_norm, tuple(range(indices.ndim, rows.ndim)))


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """Rows of a trained table, weighted and put together by field: (B, field_size, embedding_size).

    Args:
        vocab_size, embedding_size: rows and columns of the table.
        field_size: how many fields the result has.
        operator: how the rows of a field are put together: 'SUM', 'MEAN' (over the sum of the
            sizes of the weights) or 'MAX'.
        others: of `EmbeddingLookup`; feature_num_list is accepted.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size is not positive, or the operator is unknown.

    Source: MindSpore's `mindspore.nn.MultiFieldEmbeddingLookup`.

    Example:
        >>> table = Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
        >>> layer = nn.MultiFieldEmbeddingLookup(3, 2, 2, table)
        >>> numbers, weights = Tensor([[0, 1, 2]], mycel.int32), Tensor([[1.0, 1.0, 0.5]])
        >>> print(layer(numbers, weights, Tensor([[0, 0, 1]], mycel.int32)))
        [[[2.  4. ]
          [2.  2.5]]]
    """

    def __init__(
        self,
        vocab_size,
        embedding_size,
        field_size,
        param_init="normal",
        target="CPU",
        slice_mode="batch_slice",
        feature_num_list=None,
        max_norm=None,
        sparse=True,
        operator="SUM",
        dtype=float32,
    ):
        super().__init__(
            vocab_size,
            embedding_size,
            param_init,
            target,
            slice_mode,
            feature_num_list,
            max_norm,
            sparse,
            dtype,
        )
        self.field_size = positive_integer(field_size, "MultiFieldEmbeddingLookup.field_size")
        self.operator = one_of(operator, "MultiFieldEmbeddingLookup.operator", OPERATORS)

    def construct(self, input_indices, input_values, field_ids) -> Tensor:
        """The fields of (B, L) numbers, their weights, and which field each belongs to."""
        shape = input_indices.shape
        if len(shape) != 2 or {input_values.shape, field_ids.shape} != {shape}:
            actual = f"{shape}, {input_values.shape}, {field_ids.shape}"
            expected = "of one shape (B, L)"
            raise wrong(ValueError, "The inputs of MultiFieldEmbeddingLookup", expected, actual)
        rows = super().construct(input_indices)
        weights = input_values.astype(rows.dtype)
        # [B, fields, L]: which numbers belong to a field.
        places = ops.arange(self.field_size).reshape(1, -1, 1)
        members = (field_ids.expand_dims(1) == places).astype(rows.dtype)
        weighted = rows * weights.expand_dims(2)
        if self.operator == "MAX":
            return self._largest(weighted, members, weights)
        total = ops.matmul(members, weighted)
        if self.operator == "SUM":
            return total
        whole = ops.matmul(members, ops.abs(weights).expand_dims(2))
        empty = whole == 0
        return total / ops.select(empty, ops.ones_like(whole), whole)

    def _largest(self, weighted, members, weights):
        least = ops.full_like(weighted, -1e38).expand_dims(1)
        here = members.expand_dims(3) > 0
        largest = ops.amax(ops.where(here, weighted.expand_dims(1), least), 2)
        whole = ops.matmul(members, ops.abs(weights).expand_dims(2))
        return ops.where(whole > 0, largest, ops.zeros_like(largest))
