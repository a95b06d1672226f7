# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `scipy`: linear algebra and minimisation with SciPy's names."""

from mycel.scipy import linalg, optimize

__all__ = ["linalg", "optimize"]
