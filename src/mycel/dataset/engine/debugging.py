# SPDX-License-Identifier: Apache-2.0
"""Debug mode: hooks that look at what the operations of `map` are given, and at what they give."""

from __future__ import annotations

import collections.abc
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from mycel.dataset import config
from mycel.kernel.base.errors import wrong

TOLD = "[Dataset debugger] Print the [{what}] of the operation [{name}]."


class DebugHook(ABC):
    """What `ds.config.set_debug_mode(True, [hook])` calls before the first operation of a `map`,
    with the columns that it is given, and behind each, with those that it gives.

    Args:
        prev_op_name: the operation; set before each call.

    Example:
        >>> class Shapes(ds.DebugHook):
        ...     def compute(self, args):
        ...         print([value.shape for value in args])
        ...         return args
        >>> ds.config.set_debug_mode(True, [Shapes()])
        >>> for row in ds.NumpySlicesDataset([[1, 2]]).map(lambda x: x[:1]):
        ...     pass
        [Dataset debugger] Print the [INPUT] of the operation [<lambda>].
        [(2,)]
        [Dataset debugger] Print the [OUTPUT] of the operation [<lambda>].
        [(1,)]
        >>> ds.config.set_debug_mode(False)
    """

    def __init__(self, prev_op_name=None):
        self.prev_op_name = prev_op_name

    @abstractmethod
    def compute(self, args):
        """Look at a tuple of columns; only within a `map` what it returns goes on."""

    def __call__(self, *args):
        """As one of the operations of a `map`."""
        return self.compute(*args)


class PrintMetaDataHook(DebugHook):
    """Prints the type and the shape of each column.

    Example:
        >>> from mycel.dataset.debug import PrintMetaDataHook
        >>> ds.config.set_debug_mode(True, [PrintMetaDataHook()])
        >>> for row in ds.NumpySlicesDataset([[1, 2]]).map(lambda x: x[:1]):
        ...     pass
        [Dataset debugger] Print the [INPUT] of the operation [<lambda>].
        Column 0. The dtype is [int64]. The shape is [(2,)].
        [Dataset debugger] Print the [OUTPUT] of the operation [<lambda>].
        Column 0. The dtype is [int64]. The shape is [(1,)].
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
        >>> for row in ds.NumpySlicesDataset([[1, 2]]).map(lambda x: x[:1]):
        ...     pass
        [Dataset debugger] Print the [INPUT] of the operation [<lambda>].
        Column 0. The data is [[1 2]].
        [Dataset debugger] Print the [OUTPUT] of the operation [<lambda>].
        Column 0. The data is [[1]].
        >>> ds.config.set_debug_mode(False)
    """

    def compute(self, args):
        for number, column in enumerate(args):
            shown = np.asarray(column) if hasattr(column, "getbands") else column
            print(f"Column {number}. The data is [{shown}].", flush=True)
        return args


def shown(operations: Sequence[Callable]) -> list[Callable]:
    """The operations of a `map`, with the hooks of debug mode around them."""
    hooks: Sequence[DebugHook] | None = config.settings.debug_hooks
    for hook in hooks or ():
        if not isinstance(hook, DebugHook):
            raise wrong(TypeError, "set_debug_mode: debug_hook_list", "DebugHooks", repr(hook))
    hooks = [PrintMetaDataHook()] if hooks is None else hooks
    return [_Shown(each, hooks, number == 0) for number, each in enumerate(operations)]


class _Shown:
    """One operation with the hooks around it; its inputs are shown where none comes before."""

    def __init__(self, operation: Callable, hooks: Sequence[DebugHook], is_first: bool):
        self._operation, self._hooks, self._is_first = operation, hooks, is_first
        self._name = getattr(operation, "__name__", type(operation).__name__)

    def __call__(self, *columns):
        if self._is_first:
            self._show("INPUT", columns)
        result = self._operation(*columns)
        self._show("OUTPUT", result if isinstance(result, tuple) else (result,))
        return result

    def _show(self, what: str, columns: tuple) -> None:
        for hook in self._hooks:
            print(TOLD.format(what=what, name=self._name), flush=True)
            hook.prev_op_name = self._name
            hook.compute(columns)
