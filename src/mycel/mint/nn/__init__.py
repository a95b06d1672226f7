# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint.nn`: its functions, under `functional`."""

from mycel.mint.nn import functional

__all__ = ["functional"]
