# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint` names: the same operators, spelled as PyTorch spells them."""

from mycel.mint import nn
from mycel.spell import answer, namespaces

answer(globals(), "mint")

__all__ = ["nn", *namespaces["mint"]]
