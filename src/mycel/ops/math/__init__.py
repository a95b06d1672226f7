# SPDX-License-Identifier: Apache-2.0
"""Operators of mathematics: element by element, over axes, of matrices."""
