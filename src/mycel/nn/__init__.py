# SPDX-License-Identifier: Apache-2.0
"""Networks: Cell, containers, layers and losses."""

from mycel.nn.cell import Cell

__all__ = ["Cell"]
