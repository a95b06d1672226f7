# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint.nn.functional`: network operators, spelled as PyTorch spells them."""

import mycel.ops  # noqa: F401 - defines what is spelled here
from mycel.kernel.spell import answer as _answer
from mycel.kernel.spell import namespaces as _namespaces

_answer(globals(), "mint.nn.functional")

__all__ = []
__all__ += [*_namespaces["mint.nn.functional"]]
