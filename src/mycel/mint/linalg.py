# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint.linalg`: norms, inverses and decompositions of matrices."""

import mycel.ops  # noqa: F401 - defines what is spelled here
from mycel.kernel.spell import answer as _answer
from mycel.kernel.spell import namespaces as _namespaces

_answer(globals(), "mint.linalg")

__all__ = []
__all__ += [*_namespaces["mint.linalg"]]
