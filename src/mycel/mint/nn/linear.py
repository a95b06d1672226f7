# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers, tables, dropout and changes of shape, as PyTorch calls them."""

from __future__ import annotations

from mycel.init import Normal, initializer
from mycel.kernel.base.dtypes import as_dtype, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.mint.nn import functional
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, number, positive_integer
from mycel.nn.layers import resizing
from mycel.nn.layers.declare import Declared, layer, twin
from mycel.nn.layers.linear import affine, weight_and_bias


class Linear(Cell):
    """x · weightᵀ + bias: inputs (…, in_features) to outputs (…, out_features).

    Weight and bias start evenly spread within ±1/√in_features unless initialisers are given.

    Args:
        in_features, out_features: the last lengths of input and output.
        bias: whether a bias is added.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: a size is not an integer, or `bias` not a bool.
        ValueError: a size is not positive, or a given Tensor has another shape.

    Source: MindSpore's `mint.nn.Linear`.

    Example:
        >>> layer = mint.nn.Linear(3, 2, weight_init="ones", bias_init="zeros")
        >>> print(layer(Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def __init__(
        self, in_features, out_features, bias=True, weight_init=None, bias_init=None, dtype=None
    ):
        super().__init__()
        self.in_features = positive_integer(in_features, "Linear.in_features")
        self.out_features = positive_integer(out_features, "Linear.out_features")
        self.has_bias = boolean(bias, "Linear.bias")
        self.weight, self.bias = weight_and_bias(
            (out_features, in_features),
            in_features,
            weight_init,
            bias_init,
            bias,
            dtype or float32,
        )

    def construct(self, input) -> Tensor:
        """The outputs for the inputs."""
        return affine(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        """The sizes, and whether there is a bias."""
        shown = f"input_features={self.in_features}, output_features={self.out_features}"
        return f"{shown}, has_bias={self.has_bias}" if self.has_bias else shown


class Embedding(Cell):
    """A row of a trained table for each number: (…) to (…, embedding_dim).

    Args:
        num_embeddings, embedding_dim: rows and columns of the table.
        padding_idx: the number of a row that starts as zeros and gets no gradient.
        max_norm: rows that are looked up and longer are shortened to it, in the table.
        norm_type: the order of the length that `max_norm` limits.
        scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
        sparse: accepted; gradients are never sparse here.
        _weight: the first values of the table; otherwise it is drawn from the normal
            distribution.
        _freeze: keep the table out of training.
        dtype: the element type of the table; None is Float32.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, a padding_idx out of range, or a `_weight` of
            another shape.

    Source: MindSpore's `mint.nn.Embedding`.

    Example:
        >>> layer = mint.nn.Embedding(3, 2, _weight=Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
        >>> print(layer(Tensor([2, 0])))
        [[4. 5.]
         [0. 1.]]
    """

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        dtype=None,
    ):
        super().__init__()
        self.sparse = boolean(sparse, "Embedding.sparse")
        self.num_embeddings = positive_integer(num_embeddings, "Embedding.num_embeddings")
        self.embedding_dim = positive_integer(embedding_dim, "Embedding.embedding_dim")
        self.dtype = as_dtype(float32 if dtype is None else dtype)
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = boolean(scale_grad_by_freq, "Embedding.scale_grad_by_freq")
        if padding_idx is not None:
            self._check_padding(padding_idx)
        table = self._table() if _weight is None else _weight
        if table.shape != (num_embeddings, embedding_dim):
            expected = f"of shape {(num_embeddings, embedding_dim)}"
            raise wrong(ValueError, "Embedding._weight", expected, f"shape {table.shape}")
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def _check_padding(self, padding) -> None:
        rows = self.num_embeddings
        if not is_integer(padding):
            actual = f"{type(padding).__name__} {padding!r}"
            raise wrong(TypeError, "Embedding.padding_idx", "an integer", actual)
        if not -rows <= padding < rows:
            raise wrong(ValueError, "Embedding.padding_idx", f"from {-rows} to {rows - 1}", padding)

    def _table(self):
        drawn = initializer(Normal(1.0), (self.num_embeddings, self.embedding_dim), self.dtype)
        if self.padding_idx is None:
            return drawn
        values = drawn.asnumpy()
        values[self.padding_idx] = 0
        return Tensor(values)

    def construct(self, input) -> Tensor:
        """The rows of the numbers."""
        limits = self.max_norm, self.norm_type, self.scale_grad_by_freq
        return functional.embedding(input, self.weight, self.padding_idx, *limits)

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"padding_idx={self.padding_idx}, max_norm={self.max_norm}, "
            f"norm_type={self.norm_type}, scale_grad_by_freq={self.scale_grad_by_freq}, "
            f"dtype={self.dtype}"
        )


class _Dropout(Cell):
    """What the dropouts share."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        owner = type(self).__name__
        self.p = number(p, f"{owner}.p", "from 0 to 1", lambda n: 0 <= n <= 1)
        self.inplace = boolean(inplace, f"{owner}.inplace")

    def extend_repr(self) -> str:
        """The share."""
        return f"p={self.p}"


class Dropout(_Dropout):
    """In training, put a random share p of x to 0 and enlarge the rest; in prediction x as it is.

    Args:
        p: the share, from 0 to 1.
        inplace: assign the result to the input as well.

    Raises:
        TypeError: an argument of another type.
        ValueError: p out of range.

    Source: MindSpore's `mint.nn.Dropout`.

    Example:
        >>> print(mint.nn.Dropout(0.5)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def construct(self, x) -> Tensor:
        """x, in training with holes."""
        return functional.dropout(x, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """In training, put a random share p of whole channels of (N, C, H, W) to 0; see Dropout.

    Source: MindSpore's `mint.nn.Dropout2d`.

    Example:
        >>> print(mint.nn.Dropout2d(1.0).set_train()(Tensor([[[[1.0, 2.0]]]])))
        [[[[0. 0.]]]]
    """

    def construct(self, x) -> Tensor:
        """x, in training with empty channels."""
        return functional.dropout2d(x, self.p, self.training, self.inplace)


@layer(
    functional,
    "fold",
    "mint.nn.Fold(output_size, kernel_size, dilation=1, padding=0, stride=1)(input)",
)
class Fold(Cell):
    """Columns (N, C · kernel, windows) summed back into images: the reverse of `Unfold`.

    Args:
        output_size: the lengths of the images, an integer or two.
        kernel_size, dilation, padding, stride: the windows, an integer or two.

    Example:
        >>> print(mint.nn.Fold((2, 3), 2)(ops.ones((1, 4, 2)))[0, 0])
        [[1. 2. 1.]
         [1. 2. 1.]]
    """


@layer(functional, "unfold", "mint.nn.Unfold(kernel_size, dilation=1, padding=0, stride=1)(input)")
class Unfold(Cell):
    """Every window of images (N, C, H, W) as a column: (N, C · kernel, windows).

    Args:
        kernel_size, dilation, padding, stride: the windows, an integer or two.

    Example:
        >>> mint.nn.Unfold(2)(ops.ones((1, 1, 3, 3), mycel.float32)).shape
        (1, 4, 4)
    """


@twin(resizing.Upsample, functional)
class Upsample(Declared): ...


class UpsamplingNearest2d(Upsample):
    """Images (N, C, H, W) with other lengths, each pixel the nearest one.

    Args:
        size, scale_factor: see Upsample.

    Source: MindSpore's `mint.nn.UpsamplingNearest2d`.

    Example:
        >>> print(mint.nn.UpsamplingNearest2d(scale_factor=2)(Tensor([[[[5.0]]]])))
        [[[[5. 5.]
           [5. 5.]]]]
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Images (N, C, H, W) with other lengths, the corners in their place, lines between pixels.

    Args:
        size, scale_factor: see Upsample.

    Source: MindSpore's `mint.nn.UpsamplingBilinear2d`.

    Example:
        >>> print(mint.nn.UpsamplingBilinear2d((1, 3))(Tensor([[[[1.0, 3.0]]]])))
        [[[[1. 2. 3.]]]]
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)
