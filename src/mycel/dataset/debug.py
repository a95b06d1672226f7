# SPDX-License-Identifier: Apache-2.0
"""Hooks for `config.set_debug_mode`: the base of yours, and two that print."""

from __future__ import annotations

import collections.abc

import numpy as np

from mycel.dataset.engine.debugging import DebugHook

__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]


class PrintMetaDataHook(DebugHook):
    """Prints the type and the shape of each column.

    Example:
        >>> from mycel.dataset.debug import PrintMetaDataHook
        >>> ds.config.set_debug_mode(True, [PrintMetaDataHook()])
        >>> for row in ds.NumpySlicesDataset([[1, 2]]):
        ...     pass
        Column 0. The dtype is [int64]. The shape is [(2,)].
        >>> ds.config.set_debug_mode(False)
    """

    def compute(self, args):
        for number, column in enumerate(args):
            print(f"Column {number}. {self._told(column)}", flush=True)
        return args

    def _told(self, column) -> str:
        if isinstance(column, np.ndarray):
            return f"The dtype is [{column.dtype}]. The shape is [{column.shape}]."
        kind = f"The type is [{type(column)}]."
        if hasattr(column, "getbands"):
            return f"{kind} The shape is [{column.size}]."
        sized = isinstance(column, collections.abc.Sized)
        return f"{kind} The size is [{len(column)}]." if sized else kind


class PrintDataHook(DebugHook):
    """Prints each column.

    Example:
        >>> from mycel.dataset.debug import PrintDataHook
        >>> ds.config.set_debug_mode(True, [PrintDataHook()])
        >>> for row in ds.NumpySlicesDataset([[1, 2]]):
        ...     pass
        Column 0. The data is [[1 2]].
        >>> ds.config.set_debug_mode(False)
    """

    def compute(self, args):
        for number, column in enumerate(args):
            shown = np.asarray(column) if hasattr(column, "getbands") else column
            print(f"Column {number}. The data is [{shown}].", flush=True)
        return args
