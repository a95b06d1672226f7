# SPDX-License-Identifier: Apache-2.0
"""Layers for the optimiser THOR: they keep the second moments of their inputs and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.spell import op
from mycel.nn.cell import Cell
from mycel.nn.layers.basic import Embedding
from mycel.nn.layers.convolution import Conv2d
from mycel.nn.layers.linear import Dense, affine
from mycel.nn.layers.lookup import EmbeddingLookup


@op()
def second_moments(rows):
    """The mean of the outer products of rows: (n, size) to (size, size), in Float32.

    Example:
        >>> from mycel.nn.layers.second_order import second_moments
        >>> print(second_moments(Tensor([[1.0, 2.0], [3.0, 0.0]])))
        [[5. 1.]
         [1. 2.]]
    """
    rows = rows.astype(np.float32)
    return rows.T @ rows / np.float32(rows.shape[0])


@op()
def patch_rows(x, *, kernel, strides, dilation, padding):
    """What each place of a convolution sees, a row for each: (N, C, H, W) to (n, C · kernel).

    Args:
        padding: 'SAME', 'VALID', or (before, after) for both dimensions.

    Example:
        >>> from mycel.nn.layers.second_order import patch_rows
        >>> x = ops.arange(4).reshape(1, 1, 2, 2).astype(mycel.float32)
        >>> print(patch_rows(x, (2, 2), (1, 1), (1, 1), "VALID"))
        [[0. 1. 2. 3.]]
    """
    found = lax.conv_general_dilated_patches(
        x.astype(np.float32), kernel, strides, padding, rhs_dilation=dilation
    )
    return jnp.moveaxis(found, 1, -1).reshape(-1, found.shape[1])


@op()
def counts(ids, *, size):
    """How often each number from 0 to size - 1 is there, in Float32; others do not count.

    Example:
        >>> from mycel.nn.layers.second_order import counts
        >>> print(counts(Tensor([2, 0, 2, 7]), 3))
        [1. 0. 2.]
    """
    ids = ids.reshape(-1)
    return jnp.zeros(size, np.float32).at[jnp.where(ids < 0, size, ids)].add(1, mode="drop")


class _SecondOrder(Cell):
    """What the layers share: the matrices, and whether they are computed.

    `matrix_a` is of the inputs, `matrix_g` of the gradient of the outputs; each forward and reverse
    pass sets them anew while `thor` is True. Neither is trained.
    """

    thor = True

    def _keep(self, inputs: int | tuple[int, ...], outputs: int) -> None:
        start = np.eye(inputs, dtype=np.float32) if isinstance(inputs, int) else np.ones(inputs)
        for name, value in (("matrix_a", start), ("matrix_g", np.eye(outputs))):
            matrix = Parameter(value.astype(np.float32), name=name, requires_grad=False)
            setattr(self, name, matrix)
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def _gradient_rows(self, dout):
        """The gradient of the outputs, a row for each of them."""
        return dout.reshape(-1, dout.shape[-1])

    def save_gradient(self, dout):
        """Keep the second moments of a gradient of the outputs; the gradient goes on as it is."""
        self.matrix_g = second_moments(self._gradient_rows(dout))
        return dout


class DenseThor(_SecondOrder, Dense):
    """`Dense` for the optimiser THOR.

    Args:
        in_channels, out_channels: the last lengths of input and output.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        has_bias: whether a bias is added; True by default.
        activation: the name of an activation applied to the result; None by default.

    Raises:
        TypeError, ValueError: as `Dense`.

    Source: MindSpore's `mindspore.nn.DenseThor`, as its document describes it: the second moments
    are means over the inputs, on every device.

    Example:
        >>> layer = nn.DenseThor(2, 1, weight_init="ones")
        >>> print(layer(Tensor([[1.0, 2.0], [3.0, 0.0]])))
        [[3.]
         [3.]]
        >>> print(layer.matrix_a.asnumpy())
        [[5. 1.]
         [1. 2.]]
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        weight_init="normal",
        bias_init="zeros",
        has_bias=True,
        activation=None,
    ):
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        self._keep(in_channels, out_channels)

    def construct(self, x):
        """The outputs for inputs x."""
        if not self.thor:
            return super().construct(x)
        self.matrix_a = second_moments(x.reshape(-1, self.in_channels))
        x = self.getG(affine(x, self.weight))
        x = x if self.bias is None else x + self.bias
        return x if self.activation is None else self.activation(x)


class Conv2dThor(_SecondOrder, Conv2d):
    """`Conv2d` for the optimiser THOR.

    Args:
        in_channels, out_channels: the channels of input and output.
        kernel_size, stride, dilation: an integer, or two for height and width.
        pad_mode, padding: as in `Conv2d`; 'same' and 0 by default.
        group: must be 1.
        has_bias: whether a bias is added; False by default.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.

    Raises:
        TypeError, ValueError: as `Conv2d`, or the channels are in groups.

    Source: MindSpore's `mindspore.nn.Conv2dThor`.

    Example:
        >>> layer = nn.Conv2dThor(1, 2, 2, pad_mode="valid", weight_init="ones")
        >>> print(layer(ops.ones((1, 1, 3, 3), mycel.float32)).shape)
        (1, 2, 2, 2)
        >>> print(layer.matrix_a.shape, layer.matrix_g.shape, layer.a_normalizer.asnumpy())
        (4, 4) (2, 2) [4.]
    """

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        dilation=1, group=1, has_bias=False, weight_init="normal", bias_init="zeros",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group,
            has_bias, weight_init, bias_init,
        )  # fmt: skip
        if group != 1:
            raise ValueError(f"Conv2dThor: group must be 1, but {group} was given.")
        self._keep(in_channels * int(np.prod(self.kernel_size)), out_channels)
        for name in ("a_normalizer", "g_normalizer"):
            setattr(self, name, Parameter(np.ones(1, np.float32), name=name, requires_grad=False))

    def construct(self, x):
        """The outputs for images x."""
        if not self.thor:
            return super().construct(x)
        sides = {"same": "SAME", "valid": "VALID"}.get(self.pad_mode) or self._pairs()
        rows = patch_rows(x, self.kernel_size, self.stride, self.dilation, sides)
        self.matrix_a = second_moments(rows)
        y = self.getG(self.conv2d(x, self.weight))
        places = ops.ones(1, float32) * (y.shape[2] * y.shape[3])
        self.a_normalizer = self.g_normalizer = places
        return y if self.bias is None else self.bias_add(y, self.bias)

    def _pairs(self) -> tuple[tuple[int, int], tuple[int, int]]:
        top, bottom, left, right = np.broadcast_to(self.padding, 4).tolist()
        return (top, bottom), (left, right)

    def _gradient_rows(self, dout):
        return dout.transpose(0, 2, 3, 1).reshape(-1, self.out_channels)


class LookedUp(_SecondOrder):
    """The part of `matrix_a` that tables share: how often each row was looked up."""

    embedding_table: Parameter

    def construct(self, ids):
        """The rows of the numbers `ids`."""
        rows = super().construct(ids)
        if not self.thor:
            return rows
        self.matrix_a = counts(ids, self.embedding_table.shape[0])
        return self.getG(rows)


class EmbeddingThor(LookedUp, Embedding):
    """`Embedding` for the optimiser THOR.

    Args:
        vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx: as in
            `Embedding`.

    Raises:
        TypeError, ValueError: as `Embedding`.

    Source: MindSpore's `mindspore.nn.EmbeddingThor`.

    Example:
        >>> layer = nn.EmbeddingThor(3, 2, embedding_table="ones")
        >>> print(layer(Tensor([2, 0, 2], mycel.int32)).shape, layer.matrix_a.asnumpy())
        (3, 2) [1. 0. 2.]
    """

    def __init__(
        self,
        vocab_size,
        embedding_size,
        use_one_hot=False,
        embedding_table="normal",
        dtype=float32,
        padding_idx=None,
    ):
        super().__init__(
            vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx
        )
        self._keep((vocab_size,), embedding_size)


class EmbeddingLookupThor(LookedUp, EmbeddingLookup):
    """`EmbeddingLookup` for the optimiser THOR.

    Args:
        vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse,
            vocab_cache_size: as in `EmbeddingLookup`.

    Raises:
        TypeError, ValueError: as `EmbeddingLookup`.

    Source: MindSpore's `mindspore.nn.EmbeddingLookupThor`.

    Example:
        >>> layer = nn.EmbeddingLookupThor(3, 2)
        >>> print(layer(Tensor([2, 0, 2], mycel.int32)).shape, layer.matrix_a.asnumpy())
        (3, 2) [1. 0. 2.]
    """

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
        vocab_cache_size=0,
    ):
        super().__init__(
            vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm,
            sparse, vocab_cache_size=vocab_cache_size,
        )  # fmt: skip
        self._keep((vocab_size,), embedding_size)


def _of_dense(layer: Dense) -> Cell:
    made = DenseThor(layer.in_channels, layer.out_channels, "zeros", "zeros", layer.has_bias)
    made.weight, made.bias, made.activation = layer.weight, layer.bias, layer.activation
    made.activation_flag = layer.activation_flag
    return made


def _of_conv2d(layer: Conv2d) -> Cell | None:
    if layer.group != 1 or layer.data_format != "NCHW":
        return None
    made = Conv2dThor(
        layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride, layer.pad_mode,
        layer.padding, layer.dilation, 1, layer.has_bias, "zeros",
    )  # fmt: skip
    made.weight, made.bias = layer.weight, layer.bias
    return made


def _of_embedding(layer: Embedding) -> Cell:
    sizes = layer.vocab_size, layer.embedding_size
    made = EmbeddingThor(*sizes, layer.use_one_hot, "zeros", layer.dtype)
    made.embedding_table = layer.embedding_table
    return made


def _of_lookup(layer: EmbeddingLookup) -> Cell:
    made = EmbeddingLookupThor(layer.vocab_size, layer.embedding_size, "zeros")
    made.__dict__.update({k: v for k, v in vars(layer).items() if k not in vars(made)})
    made.embedding_table = layer.embedding_table
    return made


# Classes that derive from these may compute something else, and stay.
_CONVERTED = {
    Dense: _of_dense,
    Conv2d: _of_conv2d,
    Embedding: _of_embedding,
    EmbeddingLookup: _of_lookup,
}


def to_second_order(net: Cell) -> Cell:
    """Put layers for THOR in the places of those of a network; Parameters stay the same objects.

    Convolutions in groups, layers that are not trained, and classes that are derived from
    `Dense`, `Conv2d`, `Embedding` and `EmbeddingLookup` stay as they are.

    Example:
        >>> from mycel.nn.layers.second_order import to_second_order
        >>> net = to_second_order(nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()))
        >>> [type(cell).__name__ for cell in net], [p.name for p in net.trainable_params()]
        (['DenseThor', 'ReLU'], ['0.weight', '0.bias'])
    """
    for name, child in list(net.name_cells().items()):
        made = _converted(child)
        if made is not None:
            net._cells[name] = made
        elif not isinstance(child, _SecondOrder):
            to_second_order(child)
    return net


def _converted(layer: Cell) -> Cell | None:
    make = _CONVERTED.get(type(layer))
    name = "weight" if isinstance(layer, (Dense, Conv2d)) else "embedding_table"
    table: Any = getattr(layer, name, None)
    if make is None or not table.requires_grad:
        return None
    made = make(layer)
    if made is not None:
        prefix = table.name.rpartition(".")[0]
        own = {id(table), id(getattr(made, "bias", None))}
        for parameter in made.get_parameters():
            if prefix and id(parameter) not in own:
                parameter.name = f"{prefix}.{parameter.name}"
        made.set_train(layer.training)
        made.add_flags(**layer.get_flags())
    return made
