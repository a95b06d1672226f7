# SPDX-License-Identifier: Apache-2.0
"""Special functions, matrices and derivatives as Cells, as older programs write them."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.layers.declare import layer
from mycel.transform.jacobian import jvp, vjp


@layer(ops, "lgamma", "nn.LGamma(x)")
class LGamma(Cell):
    """log |Γ(x)|.

    Example:
        >>> round(nn.LGamma()(Tensor(5.0)).item(), 3)
        3.178
    """


@layer(ops, "digamma", "nn.DiGamma(x)")
class DiGamma(Cell):
    """The derivative of log Γ(x).

    Example:
        >>> round(nn.DiGamma()(Tensor(1.0)).item(), 3)
        -0.577
    """


@layer(ops, "igamma", "nn.IGamma(a, x)")
class IGamma(Cell):
    """The lower incomplete gamma function of a and x, over Γ(a).

    Example:
        >>> print(nn.IGamma()(Tensor([1.0]), Tensor([0.0])))
        [0.]
    """


class LBeta(Cell):
    """log B(x, y): log Γ(x) + log Γ(y) - log Γ(x + y).

    Source: MindSpore's `mindspore.nn.LBeta`.

    Example:
        >>> round(nn.LBeta()(Tensor(2.0), Tensor(1.0)).item(), 3)
        -0.693
    """

    def construct(self, x, y) -> Tensor:
        """The logarithms."""
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


@layer(ops, "det", "nn.MatDet(a)")
class MatDet(Cell):
    """The determinants of square matrices (…, n, n).

    Example:
        >>> print(nn.MatDet()(Tensor([[2.0, 0.0], [0.0, 3.0]])))
        6.0
    """


@layer(ops, "inverse", "nn.MatInverse(a)")
class MatInverse(Cell):
    """The inverses of square matrices (…, n, n).

    Example:
        >>> print(nn.MatInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """


class MatrixDiag(Cell):
    """Matrices with the last dimension of x as diagonal: (…, n) to (…, n, n).

    Source: MindSpore's `mindspore.nn.MatrixDiag`.

    Example:
        >>> print(nn.MatrixDiag()(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """

    def construct(self, input_x) -> Tensor:
        """The matrices."""
        if not input_x.ndim:
            raise wrong(ValueError, "The input of MatrixDiag", "a vector or more", "a number")
        return ops.diag_embed(input_x)


class MatrixDiagPart(Cell):
    """The diagonals of matrices: (…, n, m) to (…, the lesser of both).

    Source: MindSpore's `mindspore.nn.MatrixDiagPart`.

    Example:
        >>> print(nn.MatrixDiagPart()(Tensor([[1, 2, 3], [4, 5, 6]])))
        [1 5]
    """

    def construct(self, input_x) -> Tensor:
        """The diagonals."""
        return ops.diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """Matrices (…, n, m) with other diagonals.

    Raises:
        ValueError: the diagonals have another shape.

    Source: MindSpore's `mindspore.nn.MatrixSetDiag`.

    Example:
        >>> print(nn.MatrixSetDiag()(Tensor([[1, 2], [3, 4]]), Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """

    def construct(self, input_x, diagonal) -> Tensor:
        """The matrices with `diagonal` (…, the lesser of n and m) in them."""
        rows, columns = input_x.shape[-2:]
        shape = (*input_x.shape[:-2], min(rows, columns))
        if diagonal.shape != shape:
            actual = f"shape {diagonal.shape}"
            raise wrong(ValueError, "MatrixSetDiag: diagonal", f"of shape {shape}", actual)
        here = ops.arange(rows).reshape(-1, 1) == ops.arange(columns)
        along = diagonal.expand_dims(-2 if rows >= columns else -1)
        return ops.where(here, along.astype(input_x.dtype), input_x)


class Jvp(Cell):
    """A network and the product of its Jacobian with a direction.

    Args:
        fn: a Cell or a function.

    Source: MindSpore's `mindspore.nn.Jvp`.

    Example:
        >>> made = nn.Jvp(lambda x: x**3)(Tensor(2.0), Tensor(1.0))
        >>> [part.item() for part in made]
        [8.0, 12.0]
    """

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args) -> tuple[Tensor, Tensor]:
        """The output for all arguments but the last, and its change along the last."""
        *inputs, direction = args
        return jvp(self.fn, _one_or_all(inputs), direction)


class Vjp(Cell):
    """A network and the product of a direction with its Jacobian.

    Args:
        fn: a Cell or a function.

    Source: MindSpore's `mindspore.nn.Vjp`.

    Example:
        >>> made = nn.Vjp(lambda x: x**3)(Tensor(2.0), Tensor(1.0))
        >>> [part.item() for part in made]
        [8.0, 12.0]
    """

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """The output for all arguments but the last, and its pull-back of the last."""
        *inputs, direction = args
        output, pull = vjp(self.fn, *inputs)
        gradients = pull(*direction) if isinstance(direction, tuple) else pull(direction)
        return output, _one_or_all(gradients) if isinstance(gradients, (tuple, list)) else gradients


def _one_or_all(values):
    return values[0] if len(values) == 1 else tuple(values)
