# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint` names: the same operators, spelled as PyTorch spells them."""

from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import answer as _answer
from mycel.kernel.spell import namespaces as _namespaces
from mycel.mint import distributed, linalg, nn, optim, special
from mycel.mint.grids import meshgrid
from mycel.mint.nn import functional

_answer(globals(), "mint")

__all__ = [
    "Tensor",
    "distributed",
    "functional",
    "linalg",
    "meshgrid",
    "nn",
    "optim",
    "special",
]
__all__ += [*_namespaces["mint"]]
