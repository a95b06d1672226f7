# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint` names: the same operators, spelled as PyTorch spells them."""

from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import answer, namespaces
from mycel.mint import linalg, nn, optim, special
from mycel.mint.grids import meshgrid
from mycel.mint.nn import functional

answer(globals(), "mint")

__all__ = [
    "Tensor",
    "functional",
    "linalg",
    "meshgrid",
    "nn",
    "optim",
    "special",
    *namespaces["mint"],
]
