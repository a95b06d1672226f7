# SPDX-License-Identifier: Apache-2.0
"""Special functions, matrices and derivatives as Cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import mycel as ms
from check_cell import check_cell
from harness import assert_close, run_everywhere
from mycel import Tensor, mint, nn

RANDOM = np.random.default_rng(9)
POSITIVE = RANDOM.uniform(0.5, 3, (2, 3))
OTHERS = RANDOM.uniform(0.5, 3, (2, 3))
SQUARE = RANDOM.normal(size=(2, 3, 3)) + 2 * np.eye(3)
WIDE = RANDOM.normal(size=(2, 3, 4))


def with_diagonal(x, diagonal):
    made = x.copy()
    places = np.arange(diagonal.shape[-1])
    made[..., places, places] = diagonal
    return made


LAYERS = {
    "LGamma": (nn.LGamma, (POSITIVE,), special.gammaln),
    "DiGamma": (nn.DiGamma, (POSITIVE,), special.digamma),
    "LBeta": (nn.LBeta, (POSITIVE, OTHERS), special.betaln),
    "IGamma": (nn.IGamma, (POSITIVE, OTHERS), special.gammainc),
    "MatDet": (nn.MatDet, (SQUARE,), np.linalg.det),
    "MatInverse": (nn.MatInverse, (SQUARE,), np.linalg.inv),
    "MatrixDiag": (
        nn.MatrixDiag, (POSITIVE,), lambda x: np.stack([np.diag(row) for row in x]),
    ),
    "MatrixDiagPart": (nn.MatrixDiagPart, (WIDE,), lambda x: np.diagonal(x, 0, 1, 2)),
    "MatrixSetDiag": (nn.MatrixSetDiag, (WIDE, POSITIVE), with_diagonal),
    "MatrixSetDiag of high ones": (
        nn.MatrixSetDiag, (WIDE.transpose(0, 2, 1).copy(), POSITIVE), with_diagonal,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    """The oracles are NumPy and SciPy."""
    make, inputs, oracle = LAYERS[name]
    check_cell(make, *inputs, names={}, oracle=lambda _, *xs: oracle(*xs))


class Two(nn.Cell):
    def construct(self, a, b):
        return a * b, a + b


def test_products_with_jacobians():
    """The oracle is the derivative by hand, as MindSpore gives it."""
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    along, back = nn.Jvp(Two()), nn.Vjp(Two())
    outputs = (a * b, a + b)
    for name, actual in run_everywhere(lambda a, b: along(a, b, (a, b)), a, b).items():
        assert_close(actual, (outputs, (2 * a * b, a + b)), name)
    for name, actual in run_everywhere(lambda a, b: back(a, b, (a, b)), a, b).items():
        assert_close(actual, (outputs, (b * a + b, a * a + b)), name)
    square = nn.Jvp(lambda x: x * x)
    assert_close([part.asnumpy() for part in square(Tensor(a), Tensor(b))], [a * a, 2 * a * b])


def test_names_of_mint():
    """The oracle is mint's class: `nn` has it under a name of its own."""
    assert nn.Linear is mint.nn.Linear
    assert nn.EmbeddingExt is mint.nn.Embedding
    assert nn.AvgPool1dExt is mint.nn.AvgPool1d


def test_errors():
    with pytest.raises(ValueError, match=r"MatrixSetDiag: diagonal must be of shape \(2, 3\)"):
        nn.MatrixSetDiag()(Tensor(WIDE), ms.ops.ones((2, 4)))
    with pytest.raises(ValueError, match="input of MatrixDiag must be a vector or more"):
        nn.MatrixDiag()(Tensor(1.0))
